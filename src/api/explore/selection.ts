import { parseSelect } from '../../language/odsql/parse.ts'

/** Parts of a dataset that are shown and not asked of the store. */
const SHOWN = ['fields', 'attachments', 'visibility', 'alternative_exports', 'data_visible'] as const
export type ShownPart = (typeof SHOWN)[number]

/**
 * Parts a select clause of the catalog: what the store answers, and the parts of a dataset that are only shown.
 * `select=dataset_id, fields` is an example of the live documents.
 */
export function splitSelect(select: string | undefined): {
  readonly asked: string | undefined
  readonly shown: readonly ShownPart[]
} {
  const mentions = select !== undefined && SHOWN.some(name => select.includes(name))
  if (!mentions) return { asked: select, shown: [] }
  const shown: ShownPart[] = []
  const asked: string[] = []
  for (const { expression, label, span } of parseSelect(select)) {
    const name = expression?.type === 'field' && label === null ? expression.name : ''
    const part = SHOWN.find(known => known === name)
    if (part === undefined) asked.push(select.slice(span.from, span.to))
    else shown.push(part)
  }
  return { asked: asked.length === 0 ? undefined : asked.join(', '), shown }
}
