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
