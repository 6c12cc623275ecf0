import { numberText } from '../../../model/number.ts'
import { DECIMAL_PLACES, fromInteger, parseDecimal, placesOfForm } from './decimal.ts'
import type { NumberValue } from './value.ts'

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
