import { memoised } from '../../../../model/memoised.ts'
import { parseTerm } from '../../../../rdf/ntriples-reader.ts'
import type { Term } from '../../../../rdf/term.ts'
import { XSD } from '../../../../rdf/vocab.ts'
import { ByteTable, grown } from '../../bytes.ts'
import type { TermBytes } from '../../dictionary-texts.ts'
import { TRIPLE_TERM } from '../../file-layout.ts'
import { PairMap } from './pair-map.ts'
import { numberFormOf, type TermValue } from './value.ts'
import { numberOfKind } from './vector.ts'

/** The properties of a term apart from its text. */
interface TextKind extends Pick<TermBytes, 'type' | 'datatype' | 'language'> {
  /** The same for kinds in which terms with equal texts are the same term: their language tags differ in case only. */
  readonly identity: number
}

/** Kinds by datatype and language, numbered in order of first occurrence. */
class TextKinds {
  readonly all: TextKind[] = [
    { type: 'iri', datatype: '', language: '', identity: 0 },
    { type: 'blank', datatype: '', language: '', identity: 1 },
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

  /** The number of a term; -1 where it is missing. */
  find(term: Term): number {
    this.readTerm(term)
    return this.table.find(this.scratch, 0, this.length)
  }

  /** Returns the location of the text of a term; false for a triple. */
  bytes(number: number, found: TermBytes): boolean {
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

  private intern(): number {
    const before = this.table.size
    const number = this.table.intern(this.scratch, 0, this.length)
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
