import { memoised } from '../../../../model/memoised.ts'
import { parseTerm } from '../../../../rdf/ntriples-reader.ts'
import type { Term } from '../../../../rdf/term.ts'
import { XSD } from '../../../../rdf/vocab.ts'
import { ByteTable, grown } from '../../bytes.ts'
import type { TermBytes } from '../../dictionary-texts.ts'
import { TRIPLE_TERM } from '../../file-layout.ts'
import { numberFormOf, type TermValue, termOf } from './value.ts'
import { numberOfKind } from './vector.ts'

/** The properties of a term apart from its text. */
interface TextKind extends Pick<TermBytes, 'type' | 'datatype' | 'language'> {
  /** The same for kinds in which terms with equal texts are the same term: their language tags differ in case only. */
  readonly identity: number
}

/** The kinds of plain numbers, whose texts are their eight bytes. */
const [INTEGER, DOUBLE] = [2, 3]

/** Kinds by datatype and language, numbered in order of first occurrence. */
class TextKinds {
  readonly all: TextKind[] = [
    { type: 'iri', datatype: '', language: '', identity: 0 },
    { type: 'blank', datatype: '', language: '', identity: 1 },
    { type: 'literal', datatype: XSD.integer, language: '', identity: INTEGER },
    { type: 'literal', datatype: XSD.double, language: '', identity: DOUBLE },
  ]
  private readonly literals = new Map<string, Map<string, number>>()
  private readonly identities = new Map<string, number>()
  private last = 0

  /** The number of a kind. */
  numberOf({ type, datatype, language }: Pick<TermBytes, 'type' | 'datatype' | 'language'>): number {
    if (type !== 'literal') return type === 'iri' ? 0 : 1
    const last = this.all[this.last] as TextKind
    if (last.type === type && last.datatype === datatype && last.language === language) return this.last
    const languages = memoised(this.literals, datatype, () => new Map<string, number>())
    this.last = memoised(languages, language, () => {
      const name = language === '' ? `^${datatype}` : `@${language.toLowerCase()}`
      const identity = memoised(this.identities, name, () => this.all.length)
      return this.all.push({ type, datatype, language, identity }) - 1
    })
    return this.last
  }
}

/** Bytes before the text of a term in the table: the number of its kind. */
const KIND_BYTES = 4

/** The kind and the value of the current number. */
const NUMBER_BYTES = Buffer.alloc(KIND_BYTES + 8)
const NUMBER = new DataView(NUMBER_BYTES.buffer, NUMBER_BYTES.byteOffset)

/** Longer texts are encoded by the platform's encoder. */
const SHORT_TEXT = 48

/**
 * Distinct terms by their texts, numbered 0, 1, 2 … in order of first occurrence. They are stored as bytes, outside of the
 * JavaScript heap: an object for each would cost ten times as much memory, and garbage collection.
 */
export class TermTexts {
  private readonly table = new ByteTable(1024, 32)
  private readonly kinds = new TextKinds()
  /** Kind numbers of terms as they were written. */
  private written = new Uint32Array(32)
  /** The kind and the text of the current term. */
  private scratch = Buffer.allocUnsafeSlow(256)
  private length = 0
  private kind = 0

  /** Adds a term whose text is located elsewhere. */
  add(found: TermBytes): number {
    this.begin(this.kinds.numberOf(found), found.to - found.from)
    const { scratch } = this
    let at = this.length
    for (let from = found.from; from < found.to; from++) scratch[at++] = found.bytes[from] as number
    this.length = at
    return this.intern()
  }

  addTerm(term: Term): number {
    this.readTerm(term)
    return this.intern()
  }

  addNumber(kind: PlainNumber['kind'], value: number): number {
    this.readNumber(kind, value)
    return this.intern(NUMBER_BYTES, NUMBER_BYTES.length)
  }

  /** The number of a term; -1 where it is missing. */
  find(term: Term): number {
    const number = plainNumberOf(term)
    if (number === null) {
      this.readTerm(term)
      return this.table.find(this.scratch, 0, this.length)
    }
    this.readNumber(number.kind, number.value)
    return this.table.find(NUMBER_BYTES, 0, NUMBER_BYTES.length)
  }

  /** The value of a plain number; null for other terms. */
  plainNumber(number: number): TermValue | null {
    const kind = this.written[number]
    if (kind !== INTEGER && kind !== DOUBLE) return null
    const value = this.table.arena.bytes.readDoubleLE(this.table.startOf(number) + KIND_BYTES)
    return numberOfKind(kind === INTEGER ? 'integer' : 'double', value)
  }

  /** Returns the location of the text of a term; false for a triple, and for a plain number. */
  bytes(number: number, found: TermBytes): boolean {
    if (this.plainNumber(number) !== null) return false
    const { type, datatype, language } = this.kindOf(number)
    found.type = type
    found.datatype = datatype
    found.language = language
    found.bytes = this.table.arena.bytes
    found.from = this.table.startOf(number) + KIND_BYTES
    found.to = this.table.endOf(number)
    return datatype !== TRIPLE_TERM
  }

  term(number: number): Term {
    const plain = this.plainNumber(number)
    if (plain !== null) return termOf(plain)
    const { type, datatype, language } = this.kindOf(number)
    const { table } = this
    const value = table.arena.bytes.toString('utf8', table.startOf(number) + KIND_BYTES, table.endOf(number))
    if (type !== 'literal') return { type, value }
    return datatype === TRIPLE_TERM ? parseTerm(value) : { type, value, datatype, language }
  }

  /** Bytes of the text of a term. */
  lengthOf(number: number): number {
    return this.table.endOf(number) - this.table.startOf(number) - KIND_BYTES
  }

  private kindOf(number: number): TextKind {
    return this.kinds.all[this.written[number] as number] as TextKind
  }

  private intern(bytes = this.scratch, end = this.length): number {
    const before = this.table.size
    const number = this.table.intern(bytes, 0, end)
    if (number < before) return number
    this.written = grown(this.written, number + 1)
    this.written[number] = this.kind
    return number
  }

  private readTerm(term: Term): void {
    const { value } = term
    this.begin(this.kinds.numberOf(kindOfTerm(term)), 3 * value.length)
    let { scratch, length } = this
    if (value.length > SHORT_TEXT) {
      this.length += scratch.write(value, length)
      return
    }
    for (let at = 0; at < value.length; at++) {
      const code = value.charCodeAt(at)
      if (code > 127) {
        this.length += scratch.write(value, this.length)
        return
      }
      scratch[length++] = code
    }
    this.length = length
  }

  /** All NaN are equal, and the integer zero has no sign. */
  private readNumber(kind: PlainNumber['kind'], value: number): void {
    this.kind = kind === 'integer' ? INTEGER : DOUBLE
    NUMBER.setUint8(0, this.kind)
    NUMBER.setFloat64(
      KIND_BYTES,
      Number.isNaN(value) ? Number.NaN : kind === 'integer' ? value + 0 : value,
      true,
    )
  }

  /** Writes a kind, and makes room for the bytes of a text. */
  private begin(kind: number, bytes: number): void {
    if (bytes + KIND_BYTES > this.scratch.length)
      this.scratch = Buffer.allocUnsafeSlow(2 * (bytes + KIND_BYTES))
    const { identity } = this.kinds.all[kind] as TextKind
    const { scratch } = this
    scratch[0] = identity & 255
    scratch[1] = (identity >>> 8) & 255
    scratch[2] = (identity >>> 16) & 255
    scratch[3] = identity >>> 24
    this.kind = kind
    this.length = KIND_BYTES
  }
}

function kindOfTerm(term: Term): Pick<TermBytes, 'type' | 'datatype' | 'language'> {
  if (term.type === 'literal') return term
  return term.type === 'triple' ? TRIPLE : term.type === 'iri' ? IRI : BLANK
}

const IRI = { type: 'iri', datatype: '', language: '' } as const
const BLANK = { type: 'blank', datatype: '', language: '' } as const
const TRIPLE = { type: 'literal', datatype: TRIPLE_TERM, language: '' } as const

/** A number whose term is in canonical form: a double, or an integer within ±2^53. */
interface PlainNumber {
  readonly kind: 'integer' | 'double'
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
