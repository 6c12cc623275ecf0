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
