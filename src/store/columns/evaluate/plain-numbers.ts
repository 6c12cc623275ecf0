import type { Term } from '../../../rdf/term.ts'
import { XSD } from '../../../rdf/vocab.ts'
import { grown } from '../bytes.ts'
import type { TermBytes } from '../dictionary-texts.ts'
import { PairMap } from './pair-map.ts'
import { numberFormOf, type TermValue } from './value.ts'
import { numberOfKind } from './vector.ts'

type Kind = 'integer' | 'double'

/** A number whose term is in canonical form: a double, or an integer within ±2^53. */
interface PlainNumber {
  readonly kind: Kind
  readonly value: number
}

/** The number of a term; null for a term of another kind, or in another form. */
export function plainNumberOf(term: Term): PlainNumber | null {
  if (term.type !== 'literal') return null
  const { datatype, value: text } = term
  if (datatype === XSD.integer) {
    const value = Number(text)
    return Number.isSafeInteger(value) && String(value) === text ? { kind: 'integer', value } : null
  }
  if (datatype !== XSD.double) return null
  const value = text === 'INF' ? Infinity : text === '-INF' ? -Infinity : Number(text)
  return numberFormOf({ type: 'number', kind: 'double', value }) === text ? { kind: 'double', value } : null
}

/** Digits of an integer that is certainly within ±2^53. */
const SAFE_DIGITS = 15

/** The integer of a canonical form; null for another form, and for more than fifteen digits. */
export function plainIntegerOf({ bytes, from, to }: TermBytes): number | null {
  const isNegative = bytes[from] === MINUS
  const first = isNegative ? from + 1 : from
  const isLong = to - first > SAFE_DIGITS
  if (isLong || first >= to || (bytes[first] === ZERO && (isNegative || to - first > 1))) return null
  let value = 0
  for (let at = first; at < to; at++) {
    const digit = (bytes[at] as number) - ZERO
    if (digit < 0 || digit > 9) return null
    value = 10 * value + digit
  }
  return isNegative ? -value : value
}

const MINUS = 0x2d
const ZERO = 0x30

const bits = new Float64Array(1)
const words = new Uint32Array(bits.buffer)

/** Maps plain numbers to numbers of terms, in typed arrays. */
export class PlainNumbers {
  private readonly allocate: (bytes: number) => void
  private readonly maps: Readonly<Record<Kind, PairMap>>
  /** By term number: the kind of number, 0 for none, and the number. */
  private kinds = new Uint8Array(0)
  private values = new Float64Array(0)

  /** @param allocate counts allocated bytes; negative when they are released */
  constructor(allocate: (bytes: number) => void) {
    this.allocate = allocate
    this.maps = { integer: new PairMap(allocate), double: new PairMap(allocate) }
  }

  /** The term number of a number; a new number gets `next`. */
  number(kind: Kind, value: number, next: number): number {
    write(kind, value)
    const id = this.maps[kind].add(words[0] as number, words[1] as number, next)
    if (id === next) this.add(kind, value, next)
    return id
  }

  /** The term number of a number; 0 for none. */
  find(kind: Kind, value: number): number {
    write(kind, value)
    return Math.max(0, this.maps[kind].get(words[0] as number, words[1] as number))
  }

  /** The number of a term number; undefined where the term is not a plain number. */
  value(id: number): TermValue | undefined {
    const kind = this.kinds[id]
    if (kind === undefined || kind === 0) return undefined
    return numberOfKind(kind === 1 ? 'integer' : 'double', this.values[id] as number)
  }

  private add(kind: Kind, value: number, id: number): void {
    if (id >= this.kinds.length) {
      const before = this.kinds.length
      this.kinds = grown(this.kinds, Math.max(64, id + 1))
      this.values = grown(this.values, this.kinds.length)
      this.allocate(9 * (this.kinds.length - before))
    }
    this.kinds[id] = kind === 'integer' ? 1 : 2
    this.values[id] = value
  }
}

/** Writes a number as two words: all NaN are equal, and the integer zero has no sign. */
function write(kind: Kind, value: number): void {
  bits[0] = Number.isNaN(value) ? Number.NaN : kind === 'integer' ? value + 0 : value
}
