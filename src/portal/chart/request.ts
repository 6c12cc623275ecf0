import type { QueryParameters } from '../../http/query-string.ts'
import type { DatasetStatistics } from '../../model/dataset.ts'
import type { Field } from '../../model/field.ts'
import { type Axis, axesOf, axisText, firstAxis, measuredFields, seriesFields } from './axes.ts'

export const AGGREGATES = ['count', 'sum', 'avg', 'median', 'min', 'max'] as const
export type ChartAggregate = (typeof AGGREGATES)[number]

export const KINDS = ['bar', 'column', 'line', 'area'] as const
export type ChartKind = (typeof KINDS)[number]

/** Orders of groups: by value, descending or ascending, or by key. */
export const SORTS = ['largest', 'smallest', 'axis'] as const
export type Sort = (typeof SORTS)[number]

export const TOPS = [10, 20, 50, 100] as const

/** Parameters of a chart in the address of its page. */
export const CHART_PARAMETERS = ['x', 'y', 'series', 'kind', 'sort', 'top'] as const

/** A requested chart. */
export interface ChartRequest {
  readonly axis: Axis
  readonly aggregate: ChartAggregate
  /** The aggregated field; null counts records. */
  readonly of: Field | null
  readonly series: Field | null
  readonly kind: ChartKind
  readonly sort: Sort
  /** Maximum groups that are shown; periods, parts of dates and ranges are all shown. */
  readonly top: number
}

/**
 * Reads the chart of an address. Missing and invalid parameters get suitable defaults; null if the records have nothing
 * to be grouped by.
 */
export function readChart(
  query: QueryParameters,
  fields: readonly Field[],
  statistics: DatasetStatistics,
): ChartRequest | null {
  const axes = axesOf(fields, statistics)
  const axis = axes.find(each => axisText(each) === query.x) ?? firstAxis(fields, statistics)
  if (axis === null) return null
  const { aggregate, of } = readAggregate(query.y, measuredFields(fields))
  const series =
    seriesFields(fields, statistics).find(({ name }) => name === query.series && name !== axis.field.name) ??
    null
  const top = axis.type === 'part' ? 50 : (TOPS.find(each => String(each) === query.top) ?? 20)
  const sort = oneOf(SORTS, query.sort) ?? defaultSort(axis)
  const kind = oneOf(KINDS, query.kind) ?? defaultKind(axis)
  return { axis, aggregate, of, series, kind, sort, top }
}

/** An aggregate as in addresses: `count`, `sum(population)`. */
export function aggregateText(aggregate: ChartAggregate, of: Field | null): string {
  return of === null ? aggregate : `${aggregate}(${of.name})`
}

function readAggregate(given: unknown, measured: readonly Field[]): Pick<ChartRequest, 'aggregate' | 'of'> {
  const [, name, argument] = /^(\w+)\((\w+)\)$/.exec(String(given)) ?? []
  const aggregate = oneOf(AGGREGATES, name)
  const of = measured.find(field => field.name === argument)
  if (aggregate === undefined || aggregate === 'count' || of === undefined)
    return { aggregate: 'count', of: null }
  return { aggregate, of }
}

/** True for groups on a continuous scale. */
export function isContinuous({ type }: Axis): boolean {
  return type === 'ranges' || type === 'period'
}

/** True if the values of parts add up to that of the whole. */
export function isAdditive({ aggregate }: Pick<ChartRequest, 'aggregate'>): boolean {
  return aggregate === 'count' || aggregate === 'sum'
}

function defaultSort(axis: Axis): Sort {
  return axis.type === 'part' || (axis.type === 'value' && axis.field.type === 'int') ? 'axis' : 'largest'
}

function defaultKind(axis: Axis): ChartKind {
  if (axis.type === 'period') return axis.period === 'year' || axis.period === 'quarter' ? 'column' : 'line'
  return axis.type === 'value' && axis.field.type !== 'int' ? 'bar' : 'column'
}

function oneOf<Name extends string>(names: readonly Name[], given: unknown): Name | undefined {
  return names.find(name => name === given)
}
