import { memoised } from '../../../../model/memoised.ts'
import { isExact, numericKind } from '../../lexical.ts'
import { type Domain, onlyPartOf } from './domain.ts'
import { scratchFloat64, scratchUint8 } from './scratch.ts'
import { NUMBER_TYPES, numberFormOf, type TermValue } from './value.ts'
import { type NumberVector, numbersLike } from './vector.ts'

/** Decimals of more digits than this are not uniquely identified by a double. */
const MAX_DIGITS = 15
const LARGEST = 10 ** MAX_DIGITS

/** Up to this value the error of a scaled double is less than half of 1. */
const EXACT = 2 ** 51

/**
 * Decimals of at most 15 digits as integers scaled by their decimal places: exact operations on these are exact for the decimals,
 * and a decimal is identified by the nearest double (XML Schema 1.1, part 2, section 3.3.3).
 *
 * @param make creates the array: results that outlive a query must not use its scratch memory
 * @returns null for a vector whose numbers have more digits
 */
export function scaledValues(
  { values }: Pick<NumberVector, 'values'>,
  places: number,
  make: (length: number) => Float64Array = scratchFloat64,
): Float64Array | null {
  const factor = 10 ** places
  const scaled = make(values.length)
  for (let at = 0; at < values.length; at++) {
    const value = Math.round((values[at] as number) * factor) + 0
    if (Math.abs(value) > EXACT) return null
    scaled[at] = value
  }
  return scaled
}

/** Number of decimal places of the decimals nearest to some doubles; null where these have more than 15 digits. */
export function fractionDigits(values: Float64Array): number | null {
  let [places, factor] = [0, 1]
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number
    if (Number.isNaN(value)) continue
    if (Math.abs(value) >= LARGEST) return null
    while (Math.round(value * factor) / factor !== value) {
      places += 1
      factor = 10 ** places
      if (places > MAX_DIGITS || Math.abs(value * factor) >= LARGEST) return null
    }
  }
  return places
}

/** The sum, difference or product of integers and decimals; null where a result has more than 15 digits. */
export function computedDecimals(
  operator: '+' | '-' | '*',
  left: NumberVector,
  right: NumberVector,
  bound: Uint8Array | null,
): NumberVector | null {
  const [own, other] = [left.places ?? 0, right.places ?? 0]
  const places = operator === '*' ? own + other : Math.max(own, other)
  if (places > MAX_DIGITS) return null
  const a = scaledValues(left, operator === '*' ? own : places)
  const b = a === null ? null : scaledValues(right, operator === '*' ? other : places)
  if (a === null || b === null) return null
  COMPUTE[operator](a, b, a)
  const factor = 10 ** places
  for (let at = 0; at < a.length; at++) {
    const value = a[at] as number
    if (!(Math.abs(value) < LARGEST) && (bound === null || bound[at] === 1)) return null
    a[at] = value / factor + 0
  }
  return { type: 'numbers', kind: 'decimal', values: a, bound, places }
}

// One loop per function: the JIT compiler does not optimize functions with many.
export const COMPUTE = {
  '+': (a: Float64Array, b: Float64Array, values: Float64Array): void => {
    for (let at = 0; at < values.length; at++) values[at] = (a[at] as number) + (b[at] as number)
  },
  '-': (a: Float64Array, b: Float64Array, values: Float64Array): void => {
    for (let at = 0; at < values.length; at++) values[at] = (a[at] as number) - (b[at] as number)
  },
  '*': (a: Float64Array, b: Float64Array, values: Float64Array): void => {
    for (let at = 0; at < values.length; at++) values[at] = (a[at] as number) * (b[at] as number)
  },
  '/': (a: Float64Array, b: Float64Array, values: Float64Array): void => {
    for (let at = 0; at < values.length; at++) values[at] = (a[at] as number) / (b[at] as number)
  },
} as const

/** The functions that round numbers to integers. */
export const ROUNDINGS = {
  ABS: Math.abs,
  CEIL: Math.ceil,
  FLOOR: Math.floor,
  ROUND: Math.round,
} as const

/** Rounds numbers, preserving their kind; integers and decimals have no negative zero. */
export function rounded(name: keyof typeof ROUNDINGS, operand: NumberVector): NumberVector {
  const { kind } = operand
  const round = ROUNDINGS[name]
  const values = scratchFloat64(operand.values.length)
  if (kind === 'double')
    for (let at = 0; at < values.length; at++) values[at] = round(operand.values[at] as number)
  else for (let at = 0; at < values.length; at++) values[at] = round(operand.values[at] as number) + 0
  const found = numbersLike(operand, values, operand.bound)
  return kind === 'decimal' && name !== 'ABS' ? { ...found, places: 0 } : found
}

/**
 * Rounded quotients of integers and decimals, which are decimals; null where a divisor is zero, for doubles, and for numbers that
 * are too large.
 */
export function wholeQuotients(
  name: 'CEIL' | 'FLOOR' | 'ROUND' | 'TRUNCATE',
  left: NumberVector,
  right: NumberVector,
  bound: Uint8Array | null,
): NumberVector | null {
  if (left.kind === 'double' || right.kind === 'double') return null
  const places = Math.max(left.places ?? 0, right.places ?? 0)
  const a = scaledValues(left, places)
  const b = a === null ? null : scaledValues(right, places)
  if (a === null || b === null) return null
  for (let at = 0; at < a.length; at++) {
    const [own, divisor] = [a[at] as number, b[at] as number]
    if (divisor === 0 && (bound === null || bound[at] === 1)) return null
    const [x, y] = divisor < 0 ? [-own, -divisor] : [own, divisor]
    const isDown = name === 'FLOOR' || (name === 'TRUNCATE' && x > 0)
    const value = isDown ? floorOf(x, y) : name === 'ROUND' ? floorOf(2 * x + y, 2 * y) : -floorOf(-x, y)
    a[at] = value + 0
  }
  return { type: 'numbers', kind: 'decimal', values: a, bound, places: 0 }
}

/** The largest integer that is not larger than a quotient. @param divisor above zero */
function floorOf(dividend: number, divisor: number): number {
  const rest = dividend % divisor
  return (dividend - rest) / divisor - (rest < 0 ? 1 : 0) + 0
}

/** Numbers by the numbers of the terms of a domain; NaN for other terms. */
export interface NumberTable {
  readonly kind: 'integer' | 'decimal' | 'double'
  readonly values: Float64Array
  /** Of decimals: maximum number of decimal places. */
  readonly places?: number
}

/** The numbers of a column. */
interface ColumnNumbers extends NumberTable {
  /** The largest magnitude. */
  readonly largest: number
  /** True where the terms are in canonical form. */
  readonly isCanonical: boolean
}

const COLUMNS = new WeakMap<Domain, ColumnNumbers | null>()

/** The numbers of a column with only integers within ±2^53, only decimals of at most 15 digits or only doubles; null for any other. */
export function columnNumbers(domain: Domain): ColumnNumbers | null {
  return memoised(COLUMNS, domain, () => {
    const part = onlyPartOf(domain)
    if (part?.kind !== 'number' || !part.exact || part.datatypes.length !== 1) return null
    const kind = numericKind(part.datatypes[0] as string)
    if (kind === null || kind === 'float' || part.datatypes[0] !== NUMBER_TYPES[kind]) return null
    const places = kind === 'decimal' ? fractionDigits(part.values) : 0
    if (places === null) return null
    const values = new Float64Array(part.count + 1)
    values[0] = Number.NaN
    values.set(part.values, 1)
    const largest = Math.max(Math.abs(values[1] as number), Math.abs(values.at(-1) as number))
    return {
      kind,
      values,
      largest,
      isCanonical: part.forms === null,
      ...(kind === 'decimal' ? { places } : {}),
    }
  })
}

/** Numbers of which NaN is none. */
export function presentNumbers(kind: NumberTable['kind'], values: Float64Array): NumberVector {
  return { type: 'numbers', kind, values, bound: hasNaN(values) ? boundOf(values) : null }
}

/** One number for all rows; null for values that the kernels do not support. */
export function constantNumbers(value: TermValue, size: number): NumberVector | null {
  if (value.type !== 'number' || value.exact !== undefined || Number.isNaN(value.value)) return null
  const { kind } = value
  const values = scratchFloat64(size).fill(value.value)
  switch (kind) {
    case 'integer':
    case 'double':
      return { type: 'numbers', kind, values, bound: null }
    case 'decimal': {
      const places = isExact(value.term?.value ?? '', value.value, kind)
        ? fractionDigits(values.subarray(0, 1))
        : null
      return places === null ? null : { type: 'numbers', kind, values, bound: null, places }
    }
    case 'float':
      return null
  }
}

/** The numbers of a table for some rows, read on first use. */
export function lookedUp(table: NumberTable, ids: Uint32Array): NumberVector {
  const { kind, places } = table
  let read: Pick<NumberVector, 'values' | 'bound'> | null = null
  const all = () => {
    read ??= valuesAt(table.values, ids)
    return read
  }
  return {
    type: 'numbers',
    kind,
    ...(places === undefined ? {} : { places }),
    lookup: { table: table.values, ids, at: some => lookedUp(table, some) },
    get values() {
      return all().values
    },
    get bound() {
      return all().bound
    },
  }
}

function valuesAt(table: Float64Array, ids: Uint32Array): Pick<NumberVector, 'values' | 'bound'> {
  const values = scratchFloat64(ids.length)
  let isWhole = true
  for (let at = 0; at < ids.length; at++) {
    const value = table[ids[at] as number] as number
    values[at] = value
    if (Number.isNaN(value)) isWhole = false
  }
  return { values, bound: isWhole ? null : boundOf(values) }
}

export function hasNaN(values: Float64Array): boolean {
  for (let at = 0; at < values.length; at++) if (Number.isNaN(values[at] as number)) return true
  return false
}

export function boundOf(values: Float64Array): Uint8Array {
  const bound = scratchUint8(values.length)
  for (let at = 0; at < values.length; at++) bound[at] = Number.isNaN(values[at]) ? 0 : 1
  return bound
}

/** The rows in which both sides have a value; null for all. */
export function eitherBound(left: NumberVector, right: NumberVector): Uint8Array | null {
  const [a, b] = [left.bound, right.bound]
  if (a === null || b === null) return a ?? b
  const bound = scratchUint8(a.length)
  for (let at = 0; at < bound.length; at++) bound[at] = (a[at] as number) & (b[at] as number)
  return bound
}

/** True for a computed number, or one whose term is in canonical form. */
export function isCanonical(number: TermValue): boolean {
  if (number.type !== 'number') return false
  const { kind, value, term } = number
  if (term === undefined) return true
  return (
    term.datatype === NUMBER_TYPES[kind] &&
    term.value === numberFormOf(number) &&
    isExact(term.value, value, kind)
  )
}
