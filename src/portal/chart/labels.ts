import { type Field, isNumberedName } from '../../model/field.ts'
import { shownDigits } from '../../model/number.ts'
import type { PageContext } from '../../site/page-context.ts'
import type { Axis, AxisPart, Period } from './axes.ts'
import type { ChartAggregate } from './request.ts'

/** The label of an axis. */
export function axisLabel({ t }: PageContext, axis: Axis): string {
  const field = axis.field.label
  switch (axis.type) {
    case 'value':
      return field
    case 'ranges':
      return t('{field}, in ranges', { field })
    case 'period':
      return PERIOD_LABELS[axis.period](t, field)
    case 'part':
      return PART_LABELS[axis.part](t, field)
    default:
      return axis satisfies never
  }
}

type Label = (t: PageContext['t'], field: string) => string

const PERIOD_LABELS: Readonly<Record<Period, Label>> = {
  year: (t, field) => t('{field}, by year', { field }),
  quarter: (t, field) => t('{field}, by quarter', { field }),
  month: (t, field) => t('{field}, by month', { field }),
  week: (t, field) => t('{field}, by week', { field }),
  day: (t, field) => t('{field}, by day', { field }),
  hour: (t, field) => t('{field}, by hour', { field }),
}

const PART_LABELS: Readonly<Record<AxisPart, Label>> = {
  month_of_year: (t, field) => t('{field}, by month of the year', { field }),
  hour_of_day: (t, field) => t('{field}, by hour of the day', { field }),
}

/** The label of the values of a chart. */
export function aggregateLabel({ t }: PageContext, aggregate: ChartAggregate, of: Field | null): string {
  const field = of?.label ?? ''
  switch (aggregate) {
    case 'count':
      return t('Number of records')
    case 'sum':
      return t('Sum of {field}', { field })
    case 'avg':
      return t('Average of {field}', { field })
    case 'median':
      return t('Median of {field}', { field })
    case 'min':
      return t('Smallest {field}', { field })
    case 'max':
      return t('Largest {field}', { field })
    default:
      return aggregate satisfies never
  }
}

/** The label of a group by a value of a field. */
export function valueLabel({ t, number }: PageContext, value: unknown, field: Field): string {
  if (value === null || value === undefined) return t('no value')
  if (typeof value === 'boolean') return value ? t('yes') : t('no')
  if (typeof value !== 'number') return String(value)
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
    default:
      return period satisfies never
  }
}

/** The label of a part of dates with a given number. */
export function partLabel({ language }: PageContext, value: number, part: AxisPart): string {
  const options: Intl.DateTimeFormatOptions = part === 'month_of_year' ? { month: 'short' } : HOUR
  const moment = part === 'month_of_year' ? Date.UTC(2000, value - 1, 1) : Date.UTC(2000, 0, 1, value)
  return new Intl.DateTimeFormat(language, { ...options, hourCycle: 'h23', timeZone: 'UTC' }).format(moment)
}
