import type { QueryParameters } from '../../http/query-string.ts'
import type { DatasetStatistics } from '../../model/dataset.ts'
import type { Field } from '../../model/field.ts'
import { type Axis, axesOf, axisText, firstAxis, measuredFields, seriesFields } from './axes.ts'

export const FIGURES = ['count', 'sum', 'avg', 'median', 'min', 'max'] as const
export type ChartFigure = (typeof FIGURES)[number]

export const KINDS = ['bar', 'column', 'line', 'area'] as const
export type ChartKind = (typeof KINDS)[number]

/** Groups by their figures, the largest first or the smallest, or by what they are of. */
export const SORTS = ['largest', 'smallest', 'axis'] as const
export type Sort = (typeof SORTS)[number]

export const TOPS = [10, 20, 50, 100] as const

/** Parameters of a chart in the address of its page. */
export const CHART_PARAMETERS = ['x', 'y', 'series', 'kind', 'sort', 'top'] as const

/** A chart that somebody asks for. */
export interface ChartRequest {
  readonly axis: Axis
  readonly figure: ChartFigure
  /** What the figure is made of; null counts records. */
  readonly of: Field | null
  readonly series: Field | null
  readonly kind: ChartKind
  readonly sort: Sort
  /** Groups of values that are shown; time and ranges are shown whole. */
  readonly top: number
}

/**
 * Reads the chart of an address. What an address does not say, or says wrongly, is chosen to suit; null where the records
 * have nothing to be grouped by.
 */
export function readChart(
  query: QueryParameters,
  fields: readonly Field[],
  statistics: DatasetStatistics,
): ChartRequest | null {
  const axes = axesOf(fields, statistics)
  const axis = axes.find(each => axisText(each) === query.x) ?? firstAxis(fields, statistics)
  if (axis === null) return null
  const { figure, of } = readFigure(query.y, measuredFields(fields))
  const series =
    seriesFields(fields, statistics).find(({ name }) => name === query.series && name !== axis.field.name) ??
    null
  const top = TOPS.find(each => String(each) === query.top) ?? 20
  const sort = oneOf(SORTS, query.sort) ?? defaultSort(axis)
  const kind = oneOf(KINDS, query.kind) ?? defaultKind(axis)
  return { axis, figure, of, series, kind, sort, top }
}

/** A figure as addresses have it: `count`, `sum(population)`. */
export function figureText(figure: ChartFigure, of: Field | null): string {
  return of === null ? figure : `${figure}(${of.name})`
}

function readFigure(given: unknown, measured: readonly Field[]): Pick<ChartRequest, 'figure' | 'of'> {
  const [, name, argument] = /^(\w+)\((\w+)\)$/.exec(String(given)) ?? []
  const figure = oneOf(FIGURES, name)
  const of = measured.find(field => field.name === argument)
  if (figure === undefined || figure === 'count' || of === undefined) return { figure: 'count', of: null }
  return { figure, of }
}

/** True for groups that stand on a scale and have neighbours. */
export function isContinuous({ type }: Axis): boolean {
  return type === 'ranges' || type === 'period'
}

/** True where the figures of parts can be put together to that of the whole. */
export function isAdditive({ figure }: Pick<ChartRequest, 'figure'>): boolean {
  return figure === 'count' || figure === 'sum'
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
