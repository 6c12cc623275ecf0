import type { QueryParameters } from '../../http/query-string.ts'
import type { DatasetStatistics, FieldStatistics } from '../../model/dataset.ts'
import { type Field, isGeo, isNumeric, isQuantity, isTemporal } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { MAX_RANGE_WIDTH } from '../../query/resolve/groups.ts'

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
  const { aggregate, of } = readAggregate(query.y, fields.filter(isQuantity))
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

/** Calendar periods of a time axis. */
export const PERIODS = ['year', 'quarter', 'month', 'week', 'day', 'hour'] as const
export type Period = (typeof PERIODS)[number]

/** Recurring parts of dates: the same month of all years. */
export const PARTS = ['month_of_year', 'hour_of_day'] as const
export type AxisPart = (typeof PARTS)[number]

/** The expression that a chart groups by. */
export type Axis =
  | { readonly type: 'value'; readonly field: Field }
  | { readonly type: 'ranges'; readonly field: Field }
  | { readonly type: 'period'; readonly field: Field; readonly period: Period }
  | { readonly type: 'part'; readonly field: Field; readonly part: AxisPart }

/** Maximum distinct values of a number that are not grouped into ranges. */
const MAX_NUMBERS = 100
/** Number of values of a field that suit a default chart. */
const CHARTED_VALUES = { least: 2, most: 60 } as const
const MAX_SERIES = 1000
/** Maximum span of numbers that are grouped into ranges: there are at most 25 of them. */
const MAX_SPAN = 25 * MAX_RANGE_WIDTH
const DAY = 86_400_000

/** The text of an axis in addresses: `region`, `ranges(area)`, `year(date)`. */
export function axisText(axis: Axis): string {
  return axis.type === 'value' ? axis.field.name : `${unitOf(axis)}(${axis.field.name})`
}

/** What the groups of an axis are, unless they are values. */
export function unitOf(axis: Exclude<Axis, { type: 'value' }>): Period | AxisPart | 'ranges' {
  return axis.type === 'ranges' ? axis.type : axis.type === 'period' ? axis.period : axis.part
}

/** All axes that the fields of a dataset offer, in the order of the fields. */
export function axesOf(fields: readonly Field[], statistics: DatasetStatistics): readonly Axis[] {
  return fields.flatMap(field => axesOfField(field, lookup(statistics.fields, field.name)))
}

function axesOfField(field: Field, known: FieldStatistics | undefined): readonly Axis[] {
  const distinct = known?.distinct ?? Number.POSITIVE_INFINITY
  const value = { type: 'value', field } as const
  if (isGeo(field.type) || distinct === 0) return []
  if (isTemporal(field.type)) {
    const periods = field.type === 'date' ? PERIODS.filter(period => period !== 'hour') : PERIODS
    const parts = field.type === 'date' ? PARTS.filter(part => part !== 'hour_of_day') : PARTS
    return [
      ...periods.map(period => ({ type: 'period', field, period }) as const),
      ...parts.map(part => ({ type: 'part', field, part }) as const),
    ]
  }
  if (field.annotations.id !== undefined) return []
  if (!isNumeric(field.type)) return [value]
  const ranges = { type: 'ranges', field } as const
  const isTooWide = Number(known?.max) - Number(known?.min) > MAX_SPAN
  return [...(isTooWide ? [] : [ranges]), ...(distinct <= MAX_NUMBERS ? [value] : [])]
}

/** Fields whose values can be the series of a chart: those with few values. */
export function seriesFields(
  fields: readonly Field[],
  { fields: known }: DatasetStatistics,
): readonly Field[] {
  return fields.filter(({ name, type, annotations }) => {
    const distinct = lookup(known, name)?.distinct ?? Number.POSITIVE_INFINITY
    return (
      (type === 'text' || type === 'boolean') &&
      annotations.id === undefined &&
      distinct > 1 &&
      distinct <= MAX_SERIES
    )
  })
}

/** The default axis of a chart; null if no field has groups. */
export function firstAxis(fields: readonly Field[], statistics: DatasetStatistics): Axis | null {
  const axes = axesOf(fields, statistics)
  const few = axes.filter(axis => {
    const distinct = lookup(statistics.fields, axis.field.name)?.distinct ?? Number.POSITIVE_INFINITY
    return axis.type === 'value' && distinct >= CHARTED_VALUES.least && distinct <= CHARTED_VALUES.most
  })
  const values = axes.filter(({ type }) => type === 'value')
  const isFacet = ({ field }: Axis) => field.annotations.facet !== undefined
  const dated = axes.find(({ type }) => type === 'period')
  const period = dated === undefined ? undefined : defaultPeriod(dated.field, statistics)
  return (
    few.find(isFacet) ??
    values.find(isFacet) ??
    axes.find(
      axis => axis.type === 'period' && axis.field.name === dated?.field.name && axis.period === period,
    ) ??
    few[0] ??
    axes.find(({ type }) => type === 'ranges') ??
    axes[0] ??
    null
  )
}

function defaultPeriod({ name, type }: Field, { fields }: DatasetStatistics): Period {
  const { min, max } = lookup(fields, name) ?? {}
  const days = (Date.parse(String(max)) - Date.parse(String(min))) / DAY
  if (!(days >= 0) || days > 366 * 6) return 'year'
  if (days > 180) return 'month'
  return days > 3 || type === 'date' ? 'day' : 'hour'
}
