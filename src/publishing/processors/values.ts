import { converterOf, toText } from '../../sources/typing/convert.ts'

/** A plain value as expressions compare it: absent values are null, moments are texts in UTC. */
export type Plain = string | number | bigint | boolean | object | null

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

const toMoment = converterOf('datetime', undefined, 'UTC', true)

/** A value of a row: null if it is absent or empty. */
export function plainOf(raw: unknown): Plain {
  return raw === undefined || raw === '' ? null : (raw as Plain)
}

/** The number that a value is, or that a text represents with a decimal point; null for anything else. */
export function valueNumber(value: Plain): number | null {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'string') return null
  const text = value.trim()
  return DECIMAL.test(text) ? Number(text) : null
}

/** The text of a value; null if it has none. */
export function processorText(value: Plain): string | null {
  return toText(value) ?? null
}

/** The moment of a text in ISO 8601, as `YYYY-MM-DDTHH:MM:SSZ`; null for anything else. */
export function valueMoment(value: Plain): string | null {
  const moment = toMoment(value)
  return typeof moment === 'string' ? moment : null
}

/**
 * Compares two values: as numbers if one is a number, or if both represent one; as booleans if one is one; else as texts. Null if
 * they cannot be compared.
 *
 * @param isEquality texts are then equal only if they are identical
 */
export function comparedValues(left: Plain, right: Plain, isEquality: boolean): number | null {
  if (left === null || right === null) return null
  if (typeof left === 'boolean' || typeof right === 'boolean') {
    const [a, b] = [String(left).toLowerCase(), String(right).toLowerCase()]
    return isEquality ? Number(a !== b) : null
  }
  if (typeof left === 'bigint' && typeof right === 'bigint') return left < right ? -1 : Number(left > right)
  const isText = typeof left === 'string' && typeof right === 'string'
  if (!isText || !isEquality) {
    const [a, b] = [valueNumber(left), valueNumber(right)]
    if (a !== null && b !== null) return a - b
    if (!isText) return isEquality ? Number(processorText(left) !== processorText(right)) : null
  }
  return left < right ? -1 : Number(left > right)
}
