import { parseSelect } from '../../language/odsql/parse.ts'
import type { Dialect } from '../../query/dialect.ts'

/** Parts of a dataset that are not queried from the store; the last exists only in the latest generation. */
const SHOWN = ['fields', 'attachments', 'data_visible', 'visibility', 'alternative_exports'] as const
export type ShownPart = (typeof SHOWN)[number]

/**
 * The parts that a generation has (REST 2.13).
 */
const PARTS: Readonly<Record<Dialect['name'], readonly ShownPart[]>> = {
  'search-v2': SHOWN.filter(part => part !== 'alternative_exports'),
  'explore-v2.0': SHOWN.filter(part => part !== 'alternative_exports' && part !== 'visibility'),
  'explore-v2.1': SHOWN,
}

/** True if a generation describes datasets with a part. */
export function hasPart({ name }: Dialect, part: ShownPart): boolean {
  return PARTS[name].includes(part)
}

/**
 * Parts a select clause of the catalog: the items for the store, and the parts of a dataset that are added to its answer.
 * `select=dataset_id, fields` is an example of the live documents.
 */
export function splitSelect(
  select: string | undefined,
  dialect: Dialect,
): {
  readonly requested: string | undefined
  readonly shown: readonly ShownPart[]
} {
  const parts = PARTS[dialect.name]
  const mentions = select !== undefined && parts.some(name => select.includes(name))
  if (!mentions) return { requested: select, shown: [] }
  const shown: ShownPart[] = []
  const requested: string[] = []
  for (const { expression, label, span } of parseSelect(select)) {
    const name = expression?.type === 'field' && label === null ? expression.name : ''
    const part = parts.find(known => known === name)
    if (part === undefined) requested.push(select.slice(span.from, span.to))
    else shown.push(part)
  }
  return { requested: requested.length === 0 ? undefined : requested.join(', '), shown }
}
