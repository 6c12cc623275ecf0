import { type Field, isNumberedName } from '../../model/field.ts'
import { shownDigits } from '../../model/number.ts'
import { messageKey, type PageContext } from '../../site/page-context.ts'
import { type Axis, type AxisPart, type ChartAggregate, type Period, unitOf } from './request.ts'

/** The label of an axis. */
export function axisLabel({ t }: PageContext, axis: Axis): string {
  const field = axis.field.label
  return axis.type === 'value' ? field : t(AXIS_LABELS[unitOf(axis)], { field })
}

const AXIS_LABELS: Readonly<Record<ReturnType<typeof unitOf>, string>> = {
  ranges: messageKey('{field}, in ranges'),
  year: messageKey('{field}, by year'),
  quarter: messageKey('{field}, by quarter'),
  month: messageKey('{field}, by month'),
  week: messageKey('{field}, by week'),
  day: messageKey('{field}, by day'),
  hour: messageKey('{field}, by hour'),
  month_of_year: messageKey('{field}, by month of the year'),
  hour_of_day: messageKey('{field}, by hour of the day'),
}

/** The label of the values of a chart. */
export function aggregateLabel({ t }: PageContext, aggregate: ChartAggregate, of: Field | null): string {
  return t(AGGREGATE_LABELS[aggregate], { field: of?.label ?? '' })
}

const AGGREGATE_LABELS: Readonly<Record<ChartAggregate, string>> = {
  count: messageKey('Number of records'),
  sum: messageKey('Sum of {field}'),
  avg: messageKey('Average of {field}'),
  median: messageKey('Median of {field}'),
  min: messageKey('Smallest {field}'),
  max: messageKey('Largest {field}'),
}

/** The label of a group by a value of a field. */
export function valueLabel({ t, number }: PageContext, value: unknown, field: Field): string {
  if (value === null || value === undefined) return t('no value')
  if (typeof value === 'boolean') return value ? t('yes') : t('no')
  if (typeof value !== 'number' && typeof value !== 'bigint') return String(value)
  return isNumberedName(field) ? String(value) : number(value, shownDigits(value, 6))
}

const HOUR = { hour: '2-digit', minute: '2-digit' } as const

/** The label of a calendar period with a given start. */
export function periodLabel({ language, t }: PageContext, from: number, period: Period): string {
  const write = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' }).format(from)
  const day = { year: 'numeric', month: 'short', day: 'numeric' } as const
  switch (period) {
    case 'year':
      return write({ year: 'numeric' })
    case 'quarter':
      return t('quarter {n} of {year}', {
        n: Math.floor(new Date(from).getUTCMonth() / 3) + 1,
        year: write({ year: 'numeric' }),
      })
    case 'month':
      return write({ year: 'numeric', month: 'short' })
    case 'week':
      return t('week of {day}', { day: write(day) })
    case 'day':
      return write(day)
    case 'hour':
      return write({ ...day, ...HOUR })
  }
}

/** The label of a part of dates with a given number. */
export function partLabel({ language }: PageContext, value: number, part: AxisPart): string {
  const options: Intl.DateTimeFormatOptions = part === 'month_of_year' ? { month: 'short' } : HOUR
  const moment = part === 'month_of_year' ? Date.UTC(2000, value - 1, 1) : Date.UTC(2000, 0, 1, value)
  return new Intl.DateTimeFormat(language, { ...options, hourCycle: 'h23', timeZone: 'UTC' }).format(moment)
}
