import { USAGE_FIELDS } from '../../catalog/catalog-dataset.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Metas } from '../../model/metadata.ts'
import type { ParameterName } from './parameters.ts'

/** The statistics of an unused dataset (REST 7.5). */
const UNCOUNTED: Metas[string] = {
  download_count: 0,
  api_call_count: 0,
  attachment_download_count: 0,
  reuse_count: 0,
  feedback_count: 0,
  popularity_score: 0,
}

/** Prefix of the names of usage statistics. */
export const USAGE_NAME = /\bexplore[.*]/

/** Parameters that may name fields. */
export const NAMING_PARAMETERS = [
  'select',
  'where',
  'qv1',
  'group_by',
  'order_by',
  'sort',
  'refine',
  'exclude',
  'facet',
] as const satisfies readonly ParameterName[]
export const USAGE_NAMES: ReadonlySet<string> = new Set(USAGE_FIELDS.map(({ name }) => name))

/** True for a query with the name of a usage statistic in any clause; a false positive only costs time. */
export function namesUsage(query: QueryParameters): boolean {
  for (const name of NAMING_PARAMETERS) {
    const value = query[name]
    if (value !== undefined && USAGE_NAME.test(String(value))) return true
  }
  return false
}

export function uncounted(): Metas[string] {
  return UNCOUNTED
}
