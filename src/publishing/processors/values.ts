import { converterOf, toText } from '../../sources/convert.ts'

/** A plain value as an expression compares it: absent values are null, moments are texts in UTC. */
export type Plain = string | number | bigint | boolean | object | null

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

const toMoment = converterOf('datetime', undefined, 'UTC', true)

/** A value of a row: what is absent or empty is null. */
export function plainOf(raw: unknown): Plain {
  return raw === undefined || raw === '' ? null : (raw as Plain)
}

/** The number that a value is, or that a text writes with a decimal point; null for anything else. */
export function valueNumber(value: Plain): number | null {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'string') return null
  const text = value.trim()
  return DECIMAL.test(text) ? Number(text) : null
}

/** The text of a value; null where it has none. */
export function processorText(value: Plain): string | null {
  return toText(value) ?? null
}

/** The moment that a text of ISO 8601 denotes, `YYYY-MM-DDTHH:MM:SSZ`; null for anything else. */
export function valueMoment(value: Plain): string | null {
  const moment = toMoment(value)
  return typeof moment === 'string' ? moment : null
}

/**
 * Compares two values: as numbers where one is a number, or where both write one; as truth values where one is one; else as
 * texts. Null where they cannot be compared.
 *
 * @param isEquality texts are then equal only where they are the same
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
