import { memoised } from '../../../../model/memoised.ts'
import type { Term } from '../../../../rdf/term.ts'
import { XSD } from '../../../../rdf/vocab.ts'
import { TermBytes } from '../../dictionary-texts.ts'
import { COMPARED_BETWEEN_CHECKS, type Domain, ranksOf } from './domain.ts'
import { plainNumberOf, TermTexts } from './pool-terms.ts'
import { scratchUint32 } from './scratch.ts'
import { compareForOrder } from './term-order.ts'
import { type TermValue, termOf, termValue } from './value.ts'
import { gathered, type NumberLookup, type NumberVector, numberOfKind } from './vector.ts'

/** With at least this many times as many rows as numbers in a table, all numbers of the table are interned. */
const TABLE_PART = 2

/** Overhead in bytes of a term in a pool, in addition to its text: slots in tables that are half full. */
const BYTES_A_TERM = 96

/** Bytes of the cached value of a term, in addition to its text. */
const BYTES_A_VALUE = 264

/** Terms that a query computes or names, numbered in order of first occurrence. Terms are created on demand. */
export class PoolDomain implements Domain {
  private readonly values: (TermValue | undefined)[] = []
  private readonly texts = new TermTexts()
  private readonly ofNumbers = new Map<NumberVector['kind'], Map<number, number>>()
  /** Term numbers of small whole numbers, by kind. */
  private readonly ofWhole = new Map<NumberVector['kind'], Uint32Array>()
  /** Term numbers of the numbers of tables, by index; 0 for none. */
  private readonly ofTables = new WeakMap<Float64Array, Uint32Array>()
  private readonly allocate: (bytes: number) => void
  private readonly check: () => void
  private cachedRanks: Uint32Array | null = null
  private compared = 0

  /**
   * @param allocate counts the bytes of interned terms
   * @param check called while many terms are compared; may throw
   */
  constructor(allocate: (bytes: number) => void = () => undefined, check: () => void = () => undefined) {
    this.allocate = allocate
    this.check = check
  }

  get size(): number {
    return this.values.length
  }

  /** Interns the term of a computed value. */
  internValue(value: TermValue): number {
    if (value.type === 'number' && value.term === undefined && value.exact === undefined)
      return this.internNumber(value.kind, value.value)
    return this.intern(termOf(value), value.type === 'number' ? value : undefined)
  }

  /** Interns a term, with its value if that is known. */
  intern(term: Term, value?: TermValue): number {
    const number = plainNumberOf(term)
    return number === null
      ? this.numberOfText(this.texts.addTerm(term), value)
      : this.numberOfText(this.texts.addNumber(number.kind, number.value))
  }

  /** Interns a term of another domain: for most terms its bytes are enough. */
  internOf(domain: Domain, id: number): number {
    if (domain === this) return id
    if (domain.bytes?.(id, FOUND) !== true) return this.intern(domain.term(id))
    const { type, datatype } = FOUND
    const mayBePlain = type === 'literal' && (datatype === XSD.integer || datatype === XSD.double)
    return mayBePlain ? this.intern(domain.term(id)) : this.numberOfText(this.texts.add(FOUND))
  }

  /** The term number of a text: one more. */
  private numberOfText(text: number, value?: TermValue): number {
    if (text === this.size) {
      const length = this.texts.lengthOf(text)
      this.allocate(BYTES_A_TERM + 2 * length + (value === undefined ? 0 : BYTES_A_VALUE + 2 * length))
      this.values.push(value)
    }
    return text + 1
  }

  /** Interns the numbers of a vector; 0 where there is none. Terms of numbers that were interned before are not created again. */
  internNumbers(vector: NumberVector, size: number): Uint32Array {
    const { lookup } = vector
    if (lookup !== undefined && TABLE_PART * lookup.table.length <= size)
      return this.internLookup(vector.kind, lookup)
    const ids = scratchUint32(size)
    const { kind, values, bound } = vector
    const few = areSmall(vector, size) ? memoised(this.ofWhole, kind, () => new Uint32Array(MAX - MIN)) : null
    for (let row = 0; row < size; row++) {
      row = few === null ? row : lookUpSmall(vector, few, ids, row)
      if (row === size) break
      if (bound !== null && bound[row] !== 1) {
        ids[row] = 0
        continue
      }
      const value = values[row] as number
      const id = this.internNumber(kind, value)
      if (few !== null) few[value - MIN] = id
      ids[row] = id
    }
    return ids
  }

  /** Interns a number. */
  private internNumber(kind: NumberVector['kind'], value: number): number {
    if (kind === 'double' || (kind === 'integer' && Number.isSafeInteger(value)))
      return this.numberOfText(this.texts.addNumber(kind, value))
    // Zeros of both signs are one key of a map, but two terms of floats.
    if (value === 0 && kind === 'float') return this.internTermOf(numberOfKind(kind, value))
    const known = memoised(this.ofNumbers, kind, () => new Map<number, number>())
    return memoised(known, value, () => this.internTermOf(numberOfKind(kind, value)))
  }

  private internTermOf(value: TermValue): number {
    return this.intern(termOf(value), value)
  }

  /** Interns numbers that rows look up in a table: all numbers of the table, once. */
  private internLookup(kind: NumberVector['kind'], { table, ids }: NumberLookup): Uint32Array {
    const numbers = memoised(this.ofTables, table, () =>
      Uint32Array.from(table, value => (Number.isNaN(value) ? 0 : this.internNumber(kind, value))),
    )
    return gathered(numbers, ids)
  }

  term(id: number): Term {
    return this.texts.term(id - 1)
  }

  bytes(id: number, found: TermBytes): boolean {
    return this.texts.bytes(id - 1, found)
  }

  value(id: number): TermValue {
    const known = this.values[id - 1]
    if (known !== undefined) return known
    const plain = this.texts.plainNumber(id - 1)
    if (plain === null) this.allocate(BYTES_A_VALUE + 2 * this.texts.lengthOf(id - 1))
    const value = plain ?? termValue(this.term(id))
    this.values[id - 1] = value
    return value
  }

  find(term: Term): number {
    return this.texts.find(term) + 1
  }

  ranks(): Uint32Array {
    if (this.cachedRanks?.length !== this.size + 1) this.cachedRanks = ranksOf(this, this.check)
    return this.cachedRanks
  }

  /** Compares two terms in the order of results. */
  compare(left: number, right: number): number {
    if (++this.compared % COMPARED_BETWEEN_CHECKS === 0) this.check()
    return compareForOrder(this.value(left), this.value(right))
  }
}

/** Range of small whole numbers, which are looked up in an array. */
const [MIN, MAX] = [-4096, 12_288]

/** True where all values are small whole numbers, except -0. */
function areSmall({ values, bound }: NumberVector, size: number): boolean {
  for (let row = 0; row < size; row++) {
    const value = values[row] as number
    const isSmall = value >= MIN && value < MAX && Object.is(value, value | 0)
    if (!isSmall && (bound === null || bound[row] === 1)) return false
  }
  return true
}

/** Assigns known term numbers to rows of small numbers; returns the first row whose number has none. */
function lookUpSmall(
  { values, bound }: NumberVector,
  known: Uint32Array,
  ids: Uint32Array,
  from: number,
): number {
  for (let row = from; row < ids.length; row++) {
    if (bound !== null && bound[row] !== 1) {
      ids[row] = 0
      continue
    }
    const id = known[(values[row] as number) - MIN] as number
    if (id === 0) return row
    ids[row] = id
  }
  return ids.length
}

/** Buffer for the location of a term's text. */
const FOUND = new TermBytes()
