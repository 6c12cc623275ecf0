import { XSD } from '../../../../rdf/vocab.ts'
import { dayForm, momentOfLexical } from '../../lexical.ts'
import * as decimals from '../vectors/decimal.ts'
import {
  addedSeconds,
  exactOf,
  formOfMoment,
  negatedSeconds,
  type Seconds,
  scaledOf,
  scaleOf,
  secondsOfValue,
  splitSeconds,
} from '../vectors/exact.ts'
import { commonNumericKind } from '../vectors/term-order.ts'
import {
  bigInteger,
  type DurationValue,
  decimal,
  double,
  float,
  integerTerm,
  literalOf,
  type MomentValue,
  type NumberValue,
  shortDecimal,
  type TermValue,
  termValue,
} from '../vectors/value.ts'

export type ArithmeticFunctionName = '+' | '-' | '*' | '/'

/** Adds, subtracts, multiplies or divides; null is an error. */
export function arithmeticFunction(
  operator: ArithmeticFunctionName,
  left: TermValue,
  right: TermValue,
): TermValue | null {
  if (left.type === 'number' && right.type === 'number') return numeric(operator, left, right)
  if (left.type === 'moment' && right.type === 'moment' && operator === '-') return between(left, right)
  if (left.type === 'moment' && right.type === 'duration' && (operator === '+' || operator === '-'))
    return shifted(left, right, operator === '+' ? 1 : -1)
  if (left.type === 'duration' && right.type === 'moment' && operator === '+') return shifted(right, left, 1)
  if (left.type === 'duration' && right.type === 'duration') return durations(operator, left, right)
  return null
}

function numeric(operator: ArithmeticFunctionName, left: NumberValue, right: NumberValue): TermValue | null {
  const kind = commonNumericKind(left.kind, right.kind)
  switch (kind) {
    case 'double':
      return double(ON_DOUBLES[operator](left.value, right.value))
    case 'float':
      return float(ON_DOUBLES[operator](Math.fround(left.value), Math.fround(right.value)))
    case 'integer':
      if (operator !== '/') return onIntegers(operator, left, right)
      return quotient(left, right)
    case 'decimal':
      return onDecimals(operator, left, right)
  }
}

const ON_DOUBLES: Readonly<Record<ArithmeticFunctionName, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
}

function onIntegers(operator: '+' | '-' | '*', left: NumberValue, right: NumberValue): TermValue | null {
  const near = ON_DOUBLES[operator](left.value, right.value)
  if (left.exact === undefined && right.exact === undefined && Number.isSafeInteger(near))
    return integerTerm(near + 0)
  const [a, b] = [exactOf(left), exactOf(right)]
  const exact = operator === '+' ? a + b : operator === '-' ? a - b : a * b
  return decimals.boundedDecimal(exact) === null ? null : bigInteger(exact)
}

/** The quotient of two integers, a decimal. */
function quotient(left: NumberValue, right: NumberValue): TermValue | null {
  const isSafe = left.exact === undefined && right.exact === undefined
  if (isSafe && right.value !== 0 && left.value % right.value === 0)
    return shortDecimal(left.value / right.value + 0)
  const exact = decimals.divide(exactOf(left), exactOf(right))
  return exact === null ? null : decimal(exact)
}

function onDecimals(
  operator: ArithmeticFunctionName,
  left: NumberValue,
  right: NumberValue,
): TermValue | null {
  const [own, other] = [scaleOf(left), scaleOf(right)]
  const places = Math.max(own, other)
  const [a, b] = [scaledOf(left, places), scaledOf(right, places)]
  switch (operator) {
    case '+':
      return boundedDecimal(a + b, places)
    case '-':
      return boundedDecimal(a - b, places)
    case '*':
      return product(a * b, places)
    case '/': {
      const fine = places === decimals.DECIMAL_PLACES ? places : Math.min(places + 18, decimals.MAX_PLACES)
      const exact = decimals.divide(a, b, fine)
      return exact === null ? null : decimal(exact, fine)
    }
  }
}

/** A product of two decimals: exact, in the places of its factors where these are enough. */
function product(exact: bigint, places: number): TermValue | null {
  const one = decimals.fromInteger(1n, places)
  const isFine = exact % one !== 0n
  const all = isFine ? Math.min(2 * places, decimals.MAX_PLACES) : places
  return boundedDecimal(exact / 10n ** BigInt(2 * places - all), all)
}

function boundedDecimal(value: bigint, places: number): TermValue | null {
  const exact = decimals.boundedDecimal(value, places)
  return exact === null ? null : decimal(exact, places)
}

/** The negation of a number or duration. */
export function negatedValue(value: TermValue): TermValue | null {
  if (value.type === 'duration')
    return durationOf(-value.months, negatedSeconds(secondsOfValue(value)), value.datatype)
  if (value.type !== 'number') return null
  switch (value.kind) {
    case 'double':
      return double(-value.value)
    case 'float':
      return float(-value.value)
    case 'integer':
      return bigInteger(-exactOf(value))
    case 'decimal':
      return decimal(-scaledOf(value, scaleOf(value)), scaleOf(value))
  }
}

const SUBTRACTED: ReadonlySet<string> = new Set([XSD.dateTime, XSD.dateTimeStamp, XSD.date, XSD.time])

/** The duration between two moments, days or times of one datatype. */
function between(left: MomentValue, right: MomentValue): TermValue | null {
  if (!SUBTRACTED.has(left.datatype)) return null
  if (left.datatype !== right.datatype || (left.offset === null) !== (right.offset === null)) return null
  const seconds = addedSeconds(secondsOfValue(left), negatedSeconds(secondsOfValue(right)))
  return durationOf(0, seconds, XSD.dayTimeDuration)
}

/** A moment plus or minus a duration: months first, then days and seconds (XML Schema 1.1, section E.3.3). */
function shifted(moment: MomentValue, duration: DurationValue, sign: 1 | -1): TermValue | null {
  if (moment.datatype === XSD.time) return shiftedTime(moment, duration, sign)
  const isDate = moment.datatype === XSD.date
  if (!isDate && moment.datatype !== XSD.dateTime && moment.datatype !== XSD.dateTimeStamp) return null
  const { whole: local, fraction } = splitSeconds(localSeconds(moment))
  const months = sign * duration.months
  const day = Math.floor(local / 86_400)
  const rest = local - day * 86_400
  const [, year, month, date] = /^(-?\d+)-(\d\d)-(\d\d)$/.exec(dayForm(day)) ?? []
  const whole = Number(year) * 12 + Number(month) - 1 + months
  const [newYear, newMonth] = [Math.floor(whole / 12), whole - 12 * Math.floor(whole / 12) + 1]
  const form = (at: number) =>
    `${newYear < 0 ? '-' : ''}${String(Math.abs(newYear)).padStart(4, '0')}-${String(newMonth).padStart(2, '0')}-${String(at).padStart(2, '0')}`
  let start: number | null = null
  for (let at = Number(date); at > 27 && start === null; at--)
    start = momentOfLexical(form(at), true)?.seconds ?? null
  start ??= momentOfLexical(form(Number(date)), true)?.seconds ?? null
  if (start === null) return null
  const shift = secondsOfValue(duration)
  const begun =
    fraction === ''
      ? start + rest
      : decimals.fromInteger(BigInt(start + rest)) + decimals.parseDecimal(fraction)
  return momentValue(
    addedSeconds(begun, sign === 1 ? shift : negatedSeconds(shift)),
    moment.offset,
    moment.datatype,
  )
}

/** A time plus or minus days and seconds, within the day (XPath and XQuery Functions 3.1, section 9.7.13). */
function shiftedTime(time: MomentValue, duration: DurationValue, sign: 1 | -1): TermValue | null {
  if (duration.months !== 0 || duration.datatype === XSD.yearMonthDuration) return null
  const shift = secondsOfValue(duration)
  const local = addedSeconds(localSeconds(time), sign === 1 ? shift : negatedSeconds(shift))
  return momentValue(local, time.offset, XSD.time)
}

/** A moment from its local time. */
export function momentValue(local: Seconds, offset: number | null, datatype: string): TermValue {
  return termValue(literalOf(formOfMoment(local, offset, datatype), datatype))
}

/** The local time of a moment. */
export function localSeconds(moment: MomentValue): Seconds {
  return addedSeconds(secondsOfValue(moment), 60 * (moment.offset ?? 0))
}

function durations(
  operator: ArithmeticFunctionName,
  left: DurationValue,
  right: DurationValue,
): TermValue | null {
  if (operator !== '+' && operator !== '-') return null
  const sign = operator === '+' ? 1 : -1
  const datatype = left.datatype === right.datatype ? left.datatype : XSD.duration
  const months = left.months + sign * right.months
  const shift = secondsOfValue(right)
  const seconds = addedSeconds(secondsOfValue(left), sign === 1 ? shift : negatedSeconds(shift))
  // No duration has months and seconds of different signs (XML Schema 1.1, part 2, section 3.3.6.1).
  if ((months < 0 && seconds > 0) || (months > 0 && seconds < 0)) return null
  return durationOf(months, seconds, datatype)
}

/** A duration in its canonical form. */
export function durationOf(months: number, seconds: Seconds, datatype: string): TermValue {
  const isNegative = months < 0 || seconds < 0
  const allMonths = Math.abs(months)
  const { whole: allSeconds, fraction } = splitSeconds(seconds < 0 ? negatedSeconds(seconds) : seconds)
  const [years, days] = [Math.floor(allMonths / 12), Math.floor(allSeconds / 86_400)]
  const some = (value: number, unit: string) => (value === 0 ? '' : `${value}${unit}`)
  const date = some(years, 'Y') + some(allMonths % 12, 'M') + some(days, 'D')
  const second = `${allSeconds % 60}${fraction}`
  const time =
    some(Math.floor(allSeconds / 3600) % 24, 'H') +
    some(Math.floor(allSeconds / 60) % 60, 'M') +
    (second === '0' ? '' : `${second}S`)
  const empty = datatype === XSD.yearMonthDuration ? 'P0M' : 'PT0S'
  const form = date === '' && time === '' ? empty : `P${date}${time === '' ? '' : `T${time}`}`
  return termValue(literalOf(`${isNegative ? '-' : ''}${form}`, datatype))
}
