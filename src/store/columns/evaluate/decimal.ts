/** xsd:decimal as an integer number of 10^-18, which is what SPARQL engines commonly keep. */
export const DECIMAL_PLACES = 18
const ONE = 10n ** BigInt(DECIMAL_PLACES)

/** Digits before the point beyond which a decimal is an error, so that the size of numbers is limited. */
const MAX_DIGITS = 400
const MAX = 10n ** BigInt(MAX_DIGITS)

/** The exact value of the form of a decimal or an integer; decimals beyond the 18th are cut. */
export function parseDecimal(form: string): bigint {
  const isNegative = form.startsWith('-')
  const digits = form.replace(/^[+-]/, '')
  const point = digits.indexOf('.')
  const whole = point < 0 ? digits : digits.slice(0, point)
  const fraction = point < 0 ? '' : digits.slice(point + 1, point + 1 + DECIMAL_PLACES)
  const value = BigInt(whole === '' ? '0' : whole) * ONE + BigInt(fraction.padEnd(DECIMAL_PLACES, '0'))
  return isNegative ? -value : value
}

/** The canonical form: without a point where it is whole, without trailing zeros. */
export function decimalForm(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(DECIMAL_PLACES + 1, '0')
  const point = digits.length - DECIMAL_PLACES
  let end = digits.length
  while (end > point && digits.charCodeAt(end - 1) === 48) end -= 1
  const text =
    end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`
  return value < 0n ? `-${text}` : text
}

export function fromInteger(value: bigint): bigint {
  return value * ONE
}

export function toDouble(value: bigint): number {
  return Number(decimalForm(value))
}

export function multiply(left: bigint, right: bigint): bigint | null {
  return boundedDecimal((left * right) / ONE)
}

/** A quotient of integers, cut like {@link divide}. */
export function divideIntegers(left: bigint, right: bigint): bigint | null {
  return right === 0n ? null : boundedDecimal((left * ONE) / right)
}

/** Cut towards zero at the 18th place; null for a divisor of zero. */
export function divide(left: bigint, right: bigint): bigint | null {
  return right === 0n ? null : boundedDecimal((left * ONE) / right)
}

export function boundedDecimal(value: bigint): bigint | null {
  return value < MAX * ONE && value > -MAX * ONE ? value : null
}

/** The whole number at or below. */
export function floor(value: bigint): bigint {
  const rest = value % ONE
  return rest === 0n ? value : value - rest - (rest < 0n ? ONE : 0n)
}

/** The nearest whole number; of two the one nearer to positive infinity (XPath functions, fn:round). */
export function round(value: bigint): bigint {
  return floor(value + ONE / 2n)
}

/** The whole part. */
export function truncate(value: bigint): bigint {
  return value / ONE
}
