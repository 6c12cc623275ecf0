import type { Expression } from '../../sparql/algebra.ts'
import { binary, call, conditional, integer, literal } from '../../sparql/build.ts'
import type { FormatPart } from '../date-pattern.ts'
import { type Scalar, scalarType } from '../plan.ts'
import { quotient, remainder } from './arithmetic.ts'
import type { Body } from './body.ts'
import { dayOfWeek, dayOfYear, isoWeek } from './calendar.ts'
import { byOffset, type Clock, clockOf } from './clock.ts'
import type { OffsetStep } from './zone.ts'

type Format = Extract<Scalar, { type: 'dateFormat' }>
type Symbol = Extract<FormatPart, { type: 'symbol' }>

/** Most digits that a number is padded to. */
const MOST_DIGITS = 20

/**
 * A date as text by a pattern (query API, "Date pattern symbols"; the number of letters chooses the form as in
 * Joda-Time: four letters of a text are its long form, letters of a number its least digits).
 */
export function dateFormat(format: Format, body: Body, value: Expression): Expression {
  const moment = body.let(value, 'moment')
  const clock = clockOf(format.operand, moment, body)
  const pieces = format.parts.map(part =>
    part.type === 'text' ? literal(part.text) : symbol(part, format, { moment, clock }, body),
  )
  // What has no part of the date in it is still null where there is no date.
  const isAnchored = format.parts.some(part => part.type === 'symbol' && 'YyMd'.includes(part.letter))
  if (isAnchored) return call('CONCAT', ...pieces)
  const anchor = call('SUBSTR', call('STR', moment), integer(1), integer(0))
  return call('CONCAT', anchor, ...pieces)
}

interface Times {
  readonly moment: Expression
  readonly clock: Clock
}

function symbol(part: Symbol, format: Format, { moment, clock }: Times, body: Body): Expression {
  const { letter, count } = part
  const isDay = scalarType(format.operand) === 'date'
  switch (letter) {
    case 'G':
      return literal(eraName(format.language, count))
    case 'C':
      return padded(quotient(clock.year(), 100), count, body)
    case 'Y':
    case 'y':
      return yearText(clock.year(), count, body)
    case 'x':
      return yearText(isoWeek(clock, body).year, count, body)
    case 'w':
      return padded(isoWeek(clock, body).week, count, body)
    case 'e':
      return padded(dayOfWeek(clock, body), count, body)
    case 'E':
      return choice(dayOfWeek(clock, body), weekdayNames(format.language, count))
    case 'D':
      return padded(dayOfYear(clock, body), count, body)
    case 'M':
      return count < 3
        ? padded(clock.month(), count, body)
        : choice(clock.month(), monthNames(format.language, count))
    case 'd':
      return padded(clock.day(), count, body)
    case 'a': {
      const [morning, afternoon] = halfDayNames(format.language)
      return conditional(binary('<', clock.hour(), integer(12)), literal(morning), literal(afternoon))
    }
    case 'K':
      return padded(remainder(clock.hour(), 12), count, body)
    case 'h':
      return padded(
        binary('+', remainder(binary('+', clock.hour(), integer(11)), 12), integer(1)),
        count,
        body,
      )
    case 'H':
      return padded(clock.hour(), count, body)
    case 'k':
      return padded(
        conditional(binary('=', clock.hour(), integer(0)), integer(24), clock.hour()),
        count,
        body,
      )
    case 'm':
      return padded(clock.minute(), count, body)
    case 's':
      return padded(clock.second(), count, body)
    case 'S':
      return isDay ? literal('0'.repeat(Math.min(count, MOST_DIGITS))) : fraction(clock, count)
    case 'z':
      return isDay
        ? literal('UTC')
        : byOffset(format.operand, moment, body, step => literal(zoneName(step, count, format, body)))
    case 'Z': {
      if (count > 2) return literal(isDay ? 'UTC' : body.scope.timezone)
      if (isDay) return literal(offsetText(0, count))
      return byOffset(format.operand, moment, body, ({ offset }) => literal(offsetText(offset, count)))
    }
    default:
      throw new Error(`no text for the symbol ${letter}`)
  }
}

/** A number with zeros before it up to so many digits. */
function padded(number: Expression, count: number, body: Body): Expression {
  if (number.type === 'literal') return literal(number.value.padStart(Math.min(count, MOST_DIGITS), '0'))
  if (count < 2) return call('STR', number)
  return paddedText(body.let(number, 'number'), Math.min(count, MOST_DIGITS))
}

/** From few digits to many: `IF(n < 10, "00" n, IF(n < 100, "0" n, n))`; no part of a date has more than five. */
function paddedText(value: Expression, count: number): Expression {
  const text = call('STR', value)
  let result: Expression = count > 5 ? call('CONCAT', literal('0'.repeat(count - 5)), text) : text
  for (let digits = Math.min(count - 1, 4); digits >= 1; digits--)
    result = conditional(
      binary('<', value, integer(10 ** digits)),
      call('CONCAT', literal('0'.repeat(count - digits)), text),
      result,
    )
  return result
}

/** Two letters are the last two digits of the year. */
function yearText(year: Expression, count: number, body: Body): Expression {
  return count === 2 ? padded(remainder(year, 100), 2, body) : padded(year, count, body)
}

/** Digits of the fraction of a second, cut and not rounded. */
function fraction(clock: Clock, count: number): Expression {
  const digits = call('STRAFTER', call('STR', clock.seconds()), literal('.'))
  const filled = call('CONCAT', digits, literal('0'.repeat(Math.min(count, MOST_DIGITS))))
  return call('SUBSTR', filled, integer(1), integer(Math.min(count, MOST_DIGITS)))
}

/** One of several texts by a number from 1. */
function choice(number: Expression, texts: readonly string[]): Expression {
  const pick = (low: number, high: number): Expression => {
    if (low === high) return literal(texts[low - 1] ?? '')
    const middle = Math.floor((low + high + 1) / 2)
    return conditional(binary('<', number, integer(middle)), pick(low, middle - 1), pick(middle, high))
  }
  return pick(1, texts.length)
}

function monthNames(language: string, count: number): readonly string[] {
  return Array.from({ length: 12 }, (_, index) =>
    partText(language, new Date(Date.UTC(2024, index, 15)), { month: count > 3 ? 'long' : 'short' }, 'month'),
  )
}

/** Monday first. */
function weekdayNames(language: string, count: number): readonly string[] {
  return Array.from({ length: 7 }, (_, index) =>
    partText(
      language,
      new Date(Date.UTC(2024, 0, index + 1)),
      { weekday: count > 3 ? 'long' : 'short' },
      'weekday',
    ),
  )
}

function halfDayNames(language: string): readonly [string, string] {
  const name = (hour: number) =>
    partText(language, new Date(Date.UTC(2024, 0, 1, hour)), { hour: 'numeric', hour12: true }, 'dayPeriod')
  return [name(1), name(13)]
}

function eraName(language: string, count: number): string {
  return partText(language, new Date(Date.UTC(2024, 0, 1)), { era: count > 3 ? 'long' : 'short' }, 'era')
}

function zoneName({ from }: OffsetStep, count: number, format: Format, body: Body): string {
  const timeZoneName = count > 3 ? 'long' : 'short'
  const moment = new Date(Number.isFinite(from) ? from : 0)
  return partText(format.language, moment, { timeZoneName }, 'timeZoneName', body.scope.timezone)
}

function partText(
  language: string,
  moment: Date,
  options: Intl.DateTimeFormatOptions,
  type: Intl.DateTimeFormatPartTypes,
  timeZone = 'UTC',
): string {
  const parts = new Intl.DateTimeFormat(language, { ...options, timeZone }).formatToParts(moment)
  return parts.find(part => part.type === type)?.value ?? ''
}

/** `+0200`, or `+02:00` with two letters. */
function offsetText(offset: number, count: number): string {
  const minutes = Math.round(Math.abs(offset) / 60_000)
  const two = (value: number) => String(value).padStart(2, '0')
  const colon = count === 1 ? '' : ':'
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${colon}${two(minutes % 60)}`
}
