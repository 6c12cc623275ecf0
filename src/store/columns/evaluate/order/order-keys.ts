import type { AlgebraExpression, OrderCondition } from '../../../../sparql/algebra.ts'
import type { TextPart } from '../../dictionary-parts.ts'
import { firstWhere } from '../../dictionary-texts.ts'
import { isText } from '../expressions/text-prefixes.ts'
import { allRows, type Batch, deferredSource } from '../vectors/batch.ts'
import { onlyPartOf } from '../vectors/domain.ts'
import { countPlaces } from '../vectors/lanes.ts'
import type { PoolDomain } from '../vectors/pool-domain.ts'
import { rowsWithBit } from '../vectors/row-filters.ts'
import { scratchFloat64, scratchUint32 } from '../vectors/scratch.ts'

/** A key of an order, and the position of solutions without a value of it. */
export interface SortKey extends OrderCondition {
  /** True where unbound sorts above all values, false where it sorts below them, as in the recommendation. */
  readonly isAbsentHighest: boolean
}

/**
 * The keys of an order (SPARQL 1.1 Query, section 15.1). A key that only tests whether a variable is bound is merged with a
 * following key of the variable itself: it only determines where solutions without a value sort.
 */
export function sortKeys(conditions: readonly OrderCondition[]): readonly SortKey[] {
  const keys: SortKey[] = []
  for (let at = 0; at < conditions.length; at++) {
    const condition = conditions[at] as OrderCondition
    const next = conditions[at + 1]
    const tested = testedForAbsence(condition)
    const isOfNext =
      tested !== null && next?.expression.type === 'variable' && next.expression.name === tested.variable
    if (isOfNext) at += 1
    keys.push(
      isOfNext
        ? { ...next, isAbsentHighest: tested.isAbsentLast !== next.descending }
        : { ...condition, isAbsentHighest: false },
    )
  }
  return keys
}

/** The variable of a key `BOUND(?x)` or `!BOUND(?x)`, and whether it sorts solutions without a value last; null for other keys. */
function testedForAbsence({
  expression,
  descending,
}: OrderCondition): { readonly variable: string; readonly isAbsentLast: boolean } | null {
  const isNegated = expression.type === 'not'
  const test: AlgebraExpression = isNegated ? expression.operand : expression
  if (test.type !== 'builtin' || test.name !== 'BOUND') return null
  const [operand] = test.arguments
  return operand?.type === 'variable'
    ? { variable: operand.name, isAbsentLast: isNegated !== descending }
    : null
}

/** All terms of a query are only sorted where the requested rows are more than one in this many of the rows. */
const FEW_OF = 16
const MAX_FIRST = 4096

/** True where comparing rows with the last requested one is the faster way to find the first rows of an order. */
export function areFewOf(requested: number, size: number): boolean {
  return requested <= MAX_FIRST && FEW_OF * requested < size
}

type TermKey = Pick<SortKey, 'descending' | 'isAbsentHighest'>

/** Compares computed terms, by their numbers, in the order of results. */
function termOrder(pool: PoolDomain, { descending, isAbsentHighest }: TermKey) {
  const sign = descending ? -1 : 1
  const absent = isAbsentHighest ? sign : -sign
  return (left: number, right: number): number =>
    left === 0 || right === 0
      ? absent * (Number(left === 0) - Number(right === 0))
      : sign * pool.compare(left, right)
}

/** The rows, ascending, whose terms are among those of the first rows of an order, including all that equal the last of them. */
export function firstRows(ids: Uint32Array, pool: PoolDomain, key: TermKey, requested: number): Uint32Array {
  const compare = termOrder(pool, key)
  const counts = new Uint32Array(pool.size + 1)
  countPlaces(counts, ids)
  /** Sorted terms, as few as cover the requested rows. */
  const first: number[] = []
  let rows = 0
  for (let id = 0; id < counts.length; id++) {
    const own = counts[id] as number
    if (own === 0) continue
    const last = first[first.length - 1]
    if (last !== undefined && rows >= requested && compare(id, last) >= 0) continue
    // After those that are equal to it.
    first.splice(
      firstWhere(0, first.length, at => compare(id, first[at] as number) < 0),
      0,
      id,
    )
    rows += own
    for (
      let end = first.length - 1;
      end > 0 && rows - (counts[first[end] as number] as number) >= requested;
      end--
    )
      rows -= counts[first.pop() as number] as number
  }
  const last = first[first.length - 1]
  const isFirst = new Uint8Array(counts.length)
  for (let id = 0; id < counts.length; id++)
    if (counts[id] !== 0 && last !== undefined && compare(id, last) <= 0) isFirst[id] = 1
  return rowsWithBit(ids, isFirst, 1, allRows(ids.length))
}

/** Ranks of the terms of some rows, equal for terms that are equal in the order; unbound values have the lowest or the highest rank. */
export function ranksOfRows(ids: Uint32Array, pool: PoolDomain, { isAbsentHighest }: TermKey): Float64Array {
  const compare = termOrder(pool, { descending: false, isAbsentHighest })
  const distinct = [...new Set(ids)].sort(compare)
  const ranks = new Map<number, number>()
  let rank = 0
  for (let at = 0; at < distinct.length; at++) {
    if (at > 0 && compare(distinct[at - 1] as number, distinct[at] as number) !== 0) rank += 1
    ranks.set(distinct[at] as number, rank)
  }
  return Float64Array.from(ids, id => ranks.get(id) as number)
}

/** Bytes of a text that fit into a number. */
const BYTES = 6

/** Texts unchanged, or in upper or lower case. */
interface CaseMapping {
  readonly map: (text: string) => string
  /** The first and the last ASCII letter that it changes, and the difference of their codes. */
  readonly first: number
  readonly last: number
  readonly shift: number
}

const MAPPINGS: ReadonlyMap<string, CaseMapping> = new Map([
  ['LCASE', { map: text => text.toLowerCase(), first: 0x41, last: 0x5a, shift: 32 }],
  ['UCASE', { map: text => text.toUpperCase(), first: 0x61, last: 0x7a, shift: -32 }],
  ['STR', { map: text => text, first: 0, last: 0, shift: 0 }],
])

/**
 * For `LCASE(?text)`, `UCASE(?text)` and `STR(?text)` of a column of texts: numbers by row in the order of the texts, equal for
 * texts with equal beginnings, negative where the key descends. They separate the first rows of an order from others before any
 * string is created. Null for other keys.
 */
export function textNumbers(key: SortKey, batch: Batch): Float64Array | null {
  const { expression, input } = deferredSource(key.expression, batch)
  const mapping = expression.type === 'builtin' ? MAPPINGS.get(expression.name) : undefined
  if (expression.type !== 'builtin' || mapping === undefined) return null
  const [operand] = expression.arguments
  const variable = operand?.type === 'builtin' ? operand.arguments[0] : operand
  if (operand === undefined || !isText(operand) || variable?.type !== 'variable') return null
  const vector = input.get(variable.name)
  const part = vector?.type === 'ids' ? onlyPartOf(vector.domain) : null
  if (vector?.type !== 'ids' || part?.kind !== 'text') return null
  const sign = key.descending ? -1 : 1
  const absent = key.isAbsentHighest ? Number.POSITIVE_INFINITY : -1
  const numbers = scratchFloat64(vector.ids.length)
  for (let row = 0; row < numbers.length; row++) {
    const id = vector.ids[row] as number
    numbers[row] = sign * (id === 0 ? absent : beginning(part, id - part.first, mapping))
  }
  return numbers
}

/** The first bytes of a text of a part, after case mapping, as a number. */
function beginning({ texts }: TextPart, place: number, { map, first, last, shift }: CaseMapping): number {
  const { bytes, offsets } = texts
  const [from, to] = [offsets[place] as number, offsets[place + 1] as number]
  let number = 0
  for (let at = 0; at < BYTES; at++) {
    const byte = from + at < to ? (bytes[from + at] as number) : 0
    if (byte >= 0x80) return beginningOf(map(texts.get(place)))
    number = 256 * number + (byte >= first && byte <= last ? byte + shift : byte)
  }
  return number
}

function beginningOf(text: string): number {
  const bytes = Buffer.from(text.slice(0, BYTES + 1))
  let number = 0
  for (let at = 0; at < BYTES; at++) number = 256 * number + (bytes[at] ?? 0)
  return number
}

/** Number of values that are sampled to estimate the values at some places of an order. */
const SAMPLE = 1024

/**
 * The rows whose numbers are between two bounds that a sample estimates for some places of their order, and the number of rows
 * before them. Null where the estimate was wrong, or most rows remain though their numbers differ.
 */
export function valuesAround(
  numbers: Float64Array,
  from: number,
  to: number,
): { readonly rows: Uint32Array; readonly before: number; readonly areEqual: boolean } | null {
  const { length } = numbers
  const size = Math.min(SAMPLE, length >>> 2)
  const sample = new Float64Array(size)
  const step = length / size
  for (let at = 0; at < size; at++) sample[at] = numbers[Math.floor(at * step)] as number
  sample.sort()
  const [start, end] = [(from / length) * size, (to / length) * size]
  const [under, over] = [
    Math.floor(start - 3 * Math.sqrt(start) - 2),
    Math.ceil(end + 3 * Math.sqrt(end) + 2),
  ]
  const low = under < 0 ? Number.NEGATIVE_INFINITY : (sample[under] as number)
  const high = over >= size ? Number.POSITIVE_INFINITY : (sample[over] as number)
  const rows = scratchUint32(length)
  let [count, before] = [0, 0]
  for (let row = 0; row < length; row++) {
    const number = numbers[row] as number
    rows[count] = row
    before += number < low ? 1 : 0
    count += number >= low && number <= high ? 1 : 0
  }
  const areEqual = low === high
  if (before > from || before + count < to || (count > length / 2 && !areEqual)) return null
  return { rows: rows.subarray(0, count), before, areEqual }
}
