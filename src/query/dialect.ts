/**
 * What differs between the generations of the API for the same query: which groups there are and how their keys are written
 * (ODSQL 9). The language itself is one.
 */
export interface Dialect {
  readonly name: 'search-v2' | 'explore-v2.0' | 'explore-v2.1'
  /** Records without a value form a group whose key is null. */
  readonly nullGroups: boolean
  /** Dates as keys are ISO 8601 texts, ranges are written `[10, 20[` (`[10, 19]` of whole numbers); otherwise milliseconds and `10-20`. */
  readonly isoKeys: boolean
  /** `year(date)` and its like are numbers; otherwise texts. */
  readonly numericParts: boolean
  /** A date may be compared with a bare year or `2013/02/11`. */
  readonly bareDates: boolean
  /** Syntax errors have an error code of their own. */
  readonly syntaxErrors: boolean
  /** All groups are returned at once unless a limit is given, and their number is not reported. */
  readonly allGroups: boolean
}

export const SEARCH_V2: Dialect = {
  name: 'search-v2',
  nullGroups: false,
  isoKeys: false,
  numericParts: false,
  bareDates: true,
  syntaxErrors: false,
  allGroups: false,
}

export const EXPLORE_V20: Dialect = { ...SEARCH_V2, name: 'explore-v2.0' }

export const EXPLORE_V21: Dialect = {
  name: 'explore-v2.1',
  nullGroups: true,
  isoKeys: true,
  numericParts: true,
  bareDates: false,
  syntaxErrors: true,
  allGroups: true,
}
