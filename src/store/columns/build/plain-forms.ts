import { daysOf, daysSinceEpoch } from '../../../model/time.ts'

/**
 * Values of lexical forms that are parsed from bytes, without a string: the plain forms of nearly all values. Other forms are NaN
 * or null here, and parsed by lexical.ts; the form that a value is written in (`numberForm`, `dayForm`, `momentForm`,
 * `pointForm`) is always the one that it was parsed from.
 */

const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
/** Decimal digits that a double always represents, so that parsing and writing them round-trips. */
const SAFE_DIGITS = 15
const POWERS = Float64Array.from({ length: SAFE_DIGITS + 1 }, (_, at) => 10 ** at)

/**
 * The number of digits with at most one point, without unnecessary zeros: the form in which it is written. NaN for any other
 * form.
 */
export function plainNumber(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start] === MINUS
  const first = isNegative ? start + 1 : start
  if (end === first || end - first > SAFE_DIGITS + 1) return Number.NaN
  let value = 0
  let point = -1
  for (let at = first; at < end; at++) {
    const byte = bytes[at] as number
    if (byte >= ZERO && byte <= NINE) value = 10 * value + (byte - ZERO)
    else if (byte === POINT && point < 0) point = at
    else return Number.NaN
  }
  if (point < 0) {
    if (end - first > SAFE_DIGITS || (bytes[first] === ZERO && (end - first > 1 || isNegative)))
      return Number.NaN
    return isNegative ? -value : value
  }
  const hasNeedless = bytes[end - 1] === ZERO || (bytes[first] === ZERO && point !== first + 1)
  if (point === first || point === end - 1 || hasNeedless) return Number.NaN
  // Both are exact, so their quotient is the double nearest to the decimal.
  const number = value / (POWERS[end - 1 - point] as number)
  return isNegative ? -number : number
}

const POINT_HEAD = Buffer.from('POINT(')
const SPACE = 0x20
const CLOSE = 0x29

/** Longitude and latitude of `POINT(lon lat)`. */
export function plainPoint(
  bytes: Uint8Array,
  start: number,
  end: number,
): readonly [longitude: number, latitude: number] | null {
  for (let at = 0; at < POINT_HEAD.length; at++) if (bytes[start + at] !== POINT_HEAD[at]) return null
  const first = start + POINT_HEAD.length
  let space = first
  while (space < end && bytes[space] !== SPACE) space++
  if (bytes[end - 1] !== CLOSE || space >= end - 1) return null
  const longitude = plainNumber(bytes, first, space)
  const latitude = plainNumber(bytes, space + 1, end - 1)
  return Number.isNaN(longitude) || Number.isNaN(latitude) ? null : [longitude, latitude]
}

const FRACTION_AT = 'YYYY-MM-DDTHH:MM:SS'.length
const MAX_FRACTION = 6
/** Range in seconds within which a double distinguishes microseconds. */
const MICROSECONDS_WITHIN = 2 ** 32

/** Seconds since 1970-01-01T00:00:00Z of a moment in UTC. */
export function plainMoment(bytes: Uint8Array, start: number, end: number): number {
  const isPlain =
    end - start > FRACTION_AT &&
    end - start <= FRACTION_AT + 2 + MAX_FRACTION &&
    bytes[start + 10] === 0x54 &&
    bytes[start + 13] === 0x3a &&
    bytes[start + 16] === 0x3a &&
    bytes[end - 1] === 0x5a
  if (!isPlain) return Number.NaN
  const hours = twoDigits(bytes, start + 11)
  const minutes = twoDigits(bytes, start + 14)
  const seconds = twoDigits(bytes, start + 17)
  if (!(hours < 24 && minutes < 60 && seconds < 60)) return Number.NaN
  const whole = 86_400 * plainDay(bytes, start) + 3600 * hours + 60 * minutes + seconds
  const decimals = end - start - FRACTION_AT - 2
  if (decimals < 0) return whole
  if (bytes[start + FRACTION_AT] !== POINT || decimals === 0 || bytes[end - 2] === ZERO) return Number.NaN
  let fraction = 0
  for (let at = start + FRACTION_AT + 1; at < end - 1; at++) {
    const digit = (bytes[at] as number) - ZERO
    if (digit < 0 || digit > 9) return Number.NaN
    fraction = 10 * fraction + digit
  }
  return Math.abs(whole) < MICROSECONDS_WITHIN ? whole + fraction / (POWERS[decimals] as number) : Number.NaN
}

/** Days since 1970-01-01 of `YYYY-MM-DD`, from the year 1000 on. */
export function plainDay(bytes: Uint8Array, start: number): number {
  if (bytes[start + 4] !== MINUS || bytes[start + 7] !== MINUS || bytes[start] === ZERO) return Number.NaN
  const year = 100 * twoDigits(bytes, start) + twoDigits(bytes, start + 2)
  const month = twoDigits(bytes, start + 5)
  const day = twoDigits(bytes, start + 8)
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month)
  return isDay ? daysSinceEpoch(year, month, day) : Number.NaN
}

/** NaN unless both bytes are digits. */
function twoDigits(bytes: Uint8Array, at: number): number {
  const [tens, ones] = [(bytes[at] as number) - ZERO, (bytes[at + 1] as number) - ZERO]
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? 10 * tens + ones : Number.NaN
}
