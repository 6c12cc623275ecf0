import { numberText } from '../../../model/number.ts'
import { XSD } from '../../../rdf/vocab.ts'
import { dayForm, momentForm } from '../lexical.ts'
import type { DurationValue, MomentValue, NumberValue } from './value.ts'

/** xsd:decimal as an integer multiple of 10^-18, the usual precision of SPARQL engines; of a finer unit where a decimal needs it. */
export const DECIMAL_PLACES = 18
const ONE = 10n ** BigInt(DECIMAL_PLACES)

/** The number 1 in units of some number of decimal places. */
function oneOf(places: number): bigint {
  return places === DECIMAL_PLACES ? ONE : 10n ** BigInt(places)
}

/** Maximum number of decimal places; more are truncated. */
export const MAX_PLACES = 400

/** The decimal places in whose units the form of a decimal is exact, at least 18. */
export function placesOfForm(form: string): number {
  const point = form.length > DECIMAL_PLACES ? form.indexOf('.') : -1
  return point < 0 ? DECIMAL_PLACES : Math.min(MAX_PLACES, Math.max(DECIMAL_PLACES, form.length - point - 1))
}

/** Maximum number of digits before the decimal point, so that the size of numbers is limited; beyond it a decimal is an error. */
const MAX_DIGITS = 400
const MAX = 10n ** BigInt(MAX_DIGITS)
const LIMIT = MAX * ONE

/** The value of the form of a decimal or an integer; decimal places beyond the given ones are truncated. */
export function parseDecimal(form: string, places = DECIMAL_PLACES): bigint {
  const isNegative = form.startsWith('-')
  const digits = form.replace(/^[+-]/, '')
  const point = digits.indexOf('.')
  const whole = point < 0 ? digits : digits.slice(0, point)
  const fraction = point < 0 ? '' : digits.slice(point + 1, point + 1 + places)
  const value = BigInt(whole === '' ? '0' : whole) * oneOf(places) + BigInt(fraction.padEnd(places, '0'))
  return isNegative ? -value : value
}

/** The canonical form: without a decimal point if it is whole, without trailing zeros. */
export function decimalForm(value: bigint, places = DECIMAL_PLACES): string {
  const digits = String(value < 0n ? -value : value).padStart(places + 1, '0')
  const point = digits.length - places
  let end = digits.length
  while (end > point && digits.charCodeAt(end - 1) === 48) end -= 1
  const text =
    end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`
  return value < 0n ? `-${text}` : text
}

export function fromInteger(value: bigint, places = DECIMAL_PLACES): bigint {
  return value * oneOf(places)
}

export function toDouble(value: bigint, places = DECIMAL_PLACES): number {
  return Number(decimalForm(value, places))
}

/** A quotient of integers, truncated like {@link divide}. */
export function divideIntegers(left: bigint, right: bigint): bigint | null {
  return right === 0n ? null : boundedDecimal((left * ONE) / right)
}

/** Truncated towards zero at the last decimal place; null for a divisor of zero. */
export function divide(left: bigint, right: bigint, places = DECIMAL_PLACES): bigint | null {
  return right === 0n ? null : boundedDecimal((left * oneOf(places)) / right, places)
}

export function boundedDecimal(value: bigint, places = DECIMAL_PLACES): bigint | null {
  const limit = places === DECIMAL_PLACES ? LIMIT : MAX * oneOf(places)
  return value < limit && value > -limit ? value : null
}

/** The greatest whole number that is not above a value. */
export function floor(value: bigint, places = DECIMAL_PLACES): bigint {
  const one = oneOf(places)
  const rest = value % one
  return rest === 0n ? value : value - rest - (rest < 0n ? one : 0n)
}

/** The nearest whole number; of two equally near ones the one nearer to positive infinity (XPath functions, fn:round). */
export function round(value: bigint, places = DECIMAL_PLACES): bigint {
  return floor(value + oneOf(places) / 2n, places)
}

/** The whole part. */
export function truncate(value: bigint, places = DECIMAL_PLACES): bigint {
  return value / oneOf(places)
}

/** In units of 10^-18. */
const MILLIONTH = 10n ** 12n

/** The exact value of an integer. */
export function exactOf({ value, exact }: NumberValue): bigint {
  return exact ?? BigInt(value)
}

/** The decimal places in whose units a decimal or an integer is exact, at least 18. */
export function scaleOf({ kind, value, exact, places, term }: NumberValue): number {
  if (kind !== 'decimal') return DECIMAL_PLACES
  if (exact !== undefined) return places ?? DECIMAL_PLACES
  if (term !== undefined) return placesOfForm(term.value)
  // A decimal of at most 15 digits.
  return value === 0 || Math.abs(value) >= 1e-3 ? DECIMAL_PLACES : placesOfForm(numberText(value))
}

/** The value of an integer or decimal in units of 10^-18, or of other decimal places, which are not fewer than its own. */
export function scaledOf(number: NumberValue, places = DECIMAL_PLACES): bigint {
  const { kind, value, exact, term } = number
  if (kind !== 'decimal') return fromInteger(exactOf(number), places)
  if (exact !== undefined) {
    const added = places - scaleOf(number)
    return added === 0 ? exact : exact * 10n ** BigInt(added)
  }
  // A decimal of few digits usually has at most six decimal places.
  const millionths = term === undefined && places === DECIMAL_PLACES ? Math.round(value * 1e6) : Number.NaN
  if (Math.abs(millionths) <= 2 ** 51 && millionths / 1e6 === value) return BigInt(millionths) * MILLIONTH
  return parseDecimal(term?.value ?? numberText(value), places)
}

/** A double holds the whole seconds of a moment, but few digits of their fraction, which are read from the literal. */

/** Seconds that are whole, or in units of 10^-18. */
export type Seconds = number | bigint

/** The seconds of a moment or duration: a number where they are whole. */
export function secondsOfValue({ type, seconds, term }: MomentValue | DurationValue): Seconds {
  const digits = /\.(\d+)/.exec(term.value)?.[1]
  if (digits === undefined) return seconds
  const sign = type === 'duration' && term.value.startsWith('-') ? -1 : 1
  const whole = Math.round(seconds - sign * Number(`0.${digits}`))
  return fromInteger(BigInt(whole)) + BigInt(sign) * parseDecimal(`0.${digits}`)
}

export function addedSeconds(left: Seconds, right: Seconds): Seconds {
  if (typeof left === 'number' && typeof right === 'number') return left + right
  return scaled(left) + scaled(right)
}

export function negatedSeconds(seconds: Seconds): Seconds {
  return typeof seconds === 'number' ? 0 - seconds : -seconds
}

/** The whole seconds that are not above some seconds, and the rest as digits with a decimal point, or nothing. */
export function splitSeconds(seconds: Seconds): { readonly whole: number; readonly fraction: string } {
  if (typeof seconds === 'number') return { whole: seconds, fraction: '' }
  const whole = floor(seconds)
  return { whole: Number(truncate(whole)), fraction: decimalForm(seconds - whole).slice(1) }
}

/** The order of two moments as a number: their difference, where it is that of doubles. */
export function secondsBetween(left: MomentValue, right: MomentValue): number {
  const near = left.seconds - right.seconds
  if (Math.abs(near) >= 1 || (!left.term.value.includes('.') && !right.term.value.includes('.'))) return near
  const [a, b] = [scaled(secondsOfValue(left)), scaled(secondsOfValue(right))]
  return a < b ? -1 : a > b ? 1 : 0
}

function scaled(seconds: Seconds): bigint {
  return typeof seconds === 'bigint' ? seconds : fromInteger(BigInt(seconds))
}

/** The canonical form of a moment, a day or a time of day at some local seconds. @param offset minutes east of UTC; null for none */
export function formOfMoment(local: Seconds, offset: number | null, datatype: string): string {
  const { whole, fraction } = splitSeconds(local)
  const zone = offset === null ? '' : zoneForm(offset)
  if (datatype === XSD.date) return dayForm(Math.floor(whole / 86_400)) + zone
  const form = momentForm(whole, fraction + zone)
  return datatype === XSD.time ? form.slice(form.indexOf('T') + 1) : form
}

/** `Z`, or hours and minutes with a sign. */
export function zoneForm(minutes: number): string {
  if (minutes === 0) return 'Z'
  const magnitude = Math.abs(minutes)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(magnitude / 60))}:${two(magnitude % 60)}`
}
