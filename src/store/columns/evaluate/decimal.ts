/** xsd:decimal as an integer multiple of 10^-18, the usual precision of SPARQL engines. */
export const DECIMAL_PLACES = 18
const ONE = 10n ** BigInt(DECIMAL_PLACES)

/** Maximum number of digits before the decimal point, so that the size of numbers is limited; beyond it a decimal is an error. */
const MAX_DIGITS = 400
const MAX = 10n ** BigInt(MAX_DIGITS)

/** The exact value of the form of a decimal or an integer; decimal places beyond the 18th are truncated. */
export function parseDecimal(form: string): bigint {
  const isNegative = form.startsWith('-')
  const digits = form.replace(/^[+-]/, '')
  const point = digits.indexOf('.')
  const whole = point < 0 ? digits : digits.slice(0, point)
  const fraction = point < 0 ? '' : digits.slice(point + 1, point + 1 + DECIMAL_PLACES)
  const value = BigInt(whole === '' ? '0' : whole) * ONE + BigInt(fraction.padEnd(DECIMAL_PLACES, '0'))
  return isNegative ? -value : value
}

/** The canonical form: without a decimal point if it is whole, without trailing zeros. */
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

/** A quotient of integers, truncated like {@link divide}. */
export function divideIntegers(left: bigint, right: bigint): bigint | null {
  return right === 0n ? null : boundedDecimal((left * ONE) / right)
}

/** Truncated towards zero at the 18th decimal place; null for a divisor of zero. */
export function divide(left: bigint, right: bigint): bigint | null {
  return right === 0n ? null : boundedDecimal((left * ONE) / right)
}

export function boundedDecimal(value: bigint): bigint | null {
  return value < MAX * ONE && value > -MAX * ONE ? value : null
}

/** The greatest whole number that is not above a value. */
export function floor(value: bigint): bigint {
  const rest = value % ONE
  return rest === 0n ? value : value - rest - (rest < 0n ? ONE : 0n)
}

/** The nearest whole number; of two equally near ones the one nearer to positive infinity (XPath functions, fn:round). */
export function round(value: bigint): bigint {
  return floor(value + ONE / 2n)
}

/** The whole part. */
export function truncate(value: bigint): bigint {
  return value / ONE
}
