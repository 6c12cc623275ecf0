/** One metadata value, as in dataset.yaml and the APIs. */
export type MetaValue =
  | string
  | number
  | boolean
  | readonly string[]
  | { readonly [key: string]: unknown }
  | null

/** Metadata by template (`default`, `dcat` …) and name. */
export type Metas = Readonly<Record<string, Readonly<Record<string, MetaValue>>>>

/** A value that is a text; null for others. */
export function textValue(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** The title of a dataset, or its id. */
export function titleOf({ id, metas }: { readonly id: string; readonly metas: Metas }): string {
  return textValue(metas.default?.title) ?? id
}

/** The beginning of a text of another program: at most `max` code units, and no halves of surrogate pairs. */
export function textStart(text: string, max: number): string {
  return text
    .slice(0, max)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed()
}
