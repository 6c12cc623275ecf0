import { wholeNumber } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'

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

/** Reads the parameters of a path. Faults: InvalidRESTParameterError. */
export function readRows<Path extends keyof typeof QUERIES>(
  query: QueryParameters,
  path: Path,
): Readonly<Record<keyof (typeof QUERIES)[Path], number>> {
  const read = Object.entries(QUERIES[path]).map(([name, { schema }]) => [
    name,
    wholeNumber(query, name, schema.default, schema.minimum, schema.maximum),
  ])
  return Object.fromEntries(read)
}
