import { type FormatPart, formatMoment, localMoment } from '../../model/date-format.ts'
import { dateBounds, parseDate } from '../../query/date-literals.ts'
import { type Plain, valueMoment } from './values.ts'

/** Compares values with a date literal, which denotes its whole period; null for a text that is no date. */
export function compareMoment(
  operator: '=' | '!=' | '<' | '<=' | '>' | '>=',
  text: string,
): ((value: Plain) => boolean) | null {
  const constant = parseDate(text)
  if (constant === null) return null
  const { start, end } = dateBounds(constant, 'datetime', 'UTC')
  const first = secondsOf(start)
  const after = end === null ? null : secondsOf(end)
  const isWithin = (at: number) => (after === null ? at === first : at >= first && at < after)
  return value => {
    const moment = valueMoment(value)
    if (moment === null) return false
    const at = secondsOf(moment)
    switch (operator) {
      case '=':
        return isWithin(at)
      case '!=':
        return !isWithin(at)
      case '<':
        return at < first
      case '<=':
        return at <= first
      case '>':
        return at > first
      case '>=':
        return at >= first
      default:
        return operator satisfies never
    }
  }
}

/** A part of the date in a value, in UTC; null if the value is no date. */
export function partOf(value: Plain, part: string): number | null {
  const moment = valueMoment(value)
  if (moment === null) return null
  const local = localOf(moment)
  switch (part) {
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
    case 'minute':
    case 'second':
      return local[part]
    default:
      return Math.floor(Number(`0.${local.fraction === '' ? '0' : local.fraction}`) * 1000)
  }
}

/** Formats the date in a value by a pattern; null if the value is no date. */
export function formatted(value: Plain, parts: readonly FormatPart[]): string | null {
  const moment = valueMoment(value)
  return moment === null ? null : formatMoment(localOf(moment), parts, 'en', 'UTC')
}

function localOf(moment: string) {
  const fraction = /\.(\d+)Z$/.exec(moment)?.[1] ?? ''
  return localMoment(Math.floor(secondsOf(moment)), 'UTC', fraction)
}

/** Seconds since 1970 of a moment in canonical form, to the millisecond. */
function secondsOf(moment: string): number {
  return Date.parse(moment.replace(/(\.\d{3})\d+Z$/, '$1Z')) / 1000
}
