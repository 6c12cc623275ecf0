import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import { lookup } from '../../model/lookup.ts'

const rows = (standard: number, maximum: number, description: string) => ({
  description,
  schema: { type: 'integer', minimum: 0, maximum, default: standard },
})

/** Schemas of the query parameters, by path. */
export const QUERIES = {
  '/datasets': {
    limit: rows(20, 100, 'Datasets of the answer'),
    offset: rows(0, 1_000_000, 'Datasets before the first of the answer'),
  },
  '/datasets/{dataset}/preview': { limit: rows(10, 100, 'Records of the answer') },
} as const

/** Reads the parameters of a path. Faults: BadRequest. */
export function readRows<Path extends keyof typeof QUERIES>(
  query: Readonly<Record<string, string | undefined>>,
  path: Path,
): Readonly<Record<keyof (typeof QUERIES)[Path], number>> {
  const read = Object.entries(QUERIES[path]).map(([name, { schema }]) => [
    name,
    numberOf(lookup(query, name), schema),
  ])
  return Object.fromEntries(read)
}

function numberOf(
  text: string | undefined,
  { default: standard, maximum }: { readonly default: number; readonly maximum: number },
): number {
  if (text === undefined || text === '') return standard
  if (/^\d{1,7}$/.test(text) && Number(text) <= maximum) return Number(text)
  throw new Fault(BAD_REQUEST, {
    reason: `${JSON.stringify(text.slice(0, 40))} was found where a number from 0 to ${maximum} is expected.`,
  })
}
