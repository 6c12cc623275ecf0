import type { Field } from '../../model/field.ts'
import { LEAST_RANGE_WIDTH } from '../../query/resolve/groups.ts'
import { fieldName, odsqlText } from '../selection.ts'
import { type Axis, type ChartRequest, isContinuous, unitOf } from './request.ts'

/** A grouped query in ODSQL, and the names of its columns. */
export interface ChartClauses {
  readonly select: string
  readonly groupBy: string
  readonly orderBy: string
  readonly limit: number
  /** Conditions in addition to those of the selection. */
  readonly where: readonly string[]
  readonly keys: { readonly x: string; readonly series: string | null; readonly value: string }
}

/** Maximum number of groups of periods or ranges that are queried, of series, and characters of a condition of ODSQL. */
const MAX_CHART_GROUPS = 2000
export const MAX_SERIES = 6
const MAX_CONDITION = 20_000

/** The query of a chart. */
export function chartClauses(request: ChartRequest, width: number): ChartClauses {
  const { axis, aggregate, of, series, sort, top } = request
  const x = aliasOf(axis)
  const divided = series === null ? null : unusedName(series.name, [x])
  const value = unusedName(of === null ? 'number' : `${aggregate}_${of.name}`, [x, divided])
  const keys = { x, series: divided, value }
  const whole = isContinuous(axis)
  const byAxis = whole || sort === 'axis'
  return {
    select: `${of === null ? 'count(*)' : `${aggregate}(${fieldName(of.name)})`} as ${keys.value}`,
    groupBy: [
      `${groupText(axis, width)} as ${fieldName(x)}`.replace(/^(\w+) as \1$/, '$1'),
      ...(series === null || divided === null
        ? []
        : [`${fieldName(series.name)} as ${fieldName(divided)}`.replace(/^(\w+) as \1$/, '$1')]),
    ].join(', '),
    orderBy: byAxis ? fieldName(x) : `${keys.value} ${sort === 'smallest' ? 'asc' : 'desc'}`,
    limit: series !== null ? MAX_CHART_GROUPS * MAX_SERIES : whole || byAxis ? MAX_CHART_GROUPS : top,
    where: [],
    keys,
  }
}

/** The query of the groups and series that a chart shows: the others, of which there can be any number, would fill its limit. */
export function shownClauses(
  clauses: ChartClauses,
  { axis, series }: ChartRequest,
  groups: readonly unknown[],
  names: readonly unknown[],
): ChartClauses {
  const shown = [
    ...(series === null ? [] : [oneOf(series, names)]),
    ...(axis.type === 'value' ? [oneOf(axis.field, groups)] : []),
  ]
  return { ...clauses, where: shown.filter(({ length }) => length > 0 && length <= MAX_CONDITION) }
}

function oneOf(field: Field, values: readonly unknown[]): string {
  const name = fieldName(field.name)
  const literals = values.flatMap(value =>
    value === null || value === undefined || typeof value === 'boolean'
      ? []
      : [typeof value === 'string' ? odsqlText(value) : String(value)],
  )
  return [
    ...(literals.length === 0 ? [] : [`${name} in (${literals.join(', ')})`]),
    ...values.flatMap(value =>
      typeof value === 'boolean' ? [`${name} is ${value}`] : value === null ? [`${name} is null`] : [],
    ),
  ].join(' or ')
}

function unusedName(name: string, used: readonly (string | null)[]): string {
  return used.includes(name) ? unusedName(`${name}_`, used) : name
}

function groupText(axis: Axis, width: number): string {
  const name = fieldName(axis.field.name)
  switch (axis.type) {
    case 'value':
      return name
    case 'ranges':
      return `range(${name}, ${width})`
    case 'period':
      return axis.period === 'year' ? `year(${name})` : `range(${name}, 1 ${axis.period})`
    case 'part':
      return axis.part === 'hour_of_day' ? `hour(${name})` : `month(${name})`
  }
}

function aliasOf(axis: Axis): string {
  const { name } = axis.field
  if (axis.type === 'value') return name
  return axis.type === 'ranges' ? `${name}_range` : `${name}_${unitOf(axis)}`
}

/**
 * A width that divides a span into about twenty ranges with round bounds.
 *
 * @param isWhole true for integers
 */
export function roundWidth(low: number, high: number, isWhole: boolean): number {
  const span = high - low
  if (!(span > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(span / 20))
  const factor = [1, 2, 5, 10].find(each => span / (each * power) <= 25) ?? 10
  return Math.max(isWhole ? 1 : LEAST_RANGE_WIDTH, Number((factor * power).toPrecision(3)))
}
