import { numberText } from '../../../../model/number.ts'
import { XSD } from '../../../../rdf/vocab.ts'
import { dayForm, momentForm } from '../../lexical.ts'
import {
  DECIMAL_PLACES,
  decimalForm,
  floor,
  fromInteger,
  parseDecimal,
  placesOfForm,
  truncate,
} from './decimal.ts'
import type { DurationValue, MomentValue, NumberValue } from './value.ts'

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
export function secondsOfValue(value: MomentValue | DurationValue): Seconds {
  const { seconds, term } = value
  if (value.type === 'duration') return value.exact ?? seconds
  const digits = /\.(\d+)/.exec(term.value)?.[1]
  if (digits === undefined) return seconds
  const whole = Math.round(seconds - Number(`0.${digits}`))
  return fromInteger(BigInt(whole)) + parseDecimal(`0.${digits}`)
}

export function addedSeconds(left: Seconds, right: Seconds): Seconds {
  if (typeof left === 'number' && typeof right === 'number') {
    const near = left + right
    if (Number.isSafeInteger(near) || !Number.isFinite(near)) return near
  }
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
