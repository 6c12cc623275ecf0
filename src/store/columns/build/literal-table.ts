import { GEO, RDF, XSD } from '../../../rdf/vocab.ts'
import { Arena, type ByteTable, NumberReader } from '../bytes.ts'
import { Texts } from '../dictionary-texts.ts'
import { TRIPLE_TERM } from '../file-layout.ts'
import { isExact, momentOfLexical, numberOfLiteral, numericKind, pointOf } from '../lexical.ts'
import { sortPieces } from '../sorting.ts'

/** The part of a literal after its text in N-Triples: a datatype, or a language. */
export interface LiteralEnding {
  readonly datatype: string
  readonly language: string
}

/** Placeholder for the datatype of a triple term, whose text is stored as written. */
export const TRIPLE_ENDING: LiteralEnding = { datatype: TRIPLE_TERM, language: '' }

/** Parses the part of a literal after its closing quote. */
export function literalEnding(text: string): LiteralEnding {
  if (text === '') return { datatype: XSD.string, language: '' }
  if (text.startsWith('@')) {
    const language = text.slice(1)
    return { datatype: language.includes('--') ? RDF.dirLangString : RDF.langString, language }
  }
  return { datatype: text.slice(3, -1), language: '' }
}

const BACKSLASH_BYTE = 0x5c

/** JSON cannot represent infinite numbers; as bounds the largest finite ones are equivalent. */
export function finite(value: number): number {
  if (Number.isNaN(value)) return Number.MAX_VALUE
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value))
}

export function sameNumber(left: number, right: number): boolean {
  return left === right || (Number.isNaN(left) && Number.isNaN(right))
}

function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}

/** Compares the values of the forms of integers and decimals; other forms, whose doubles are exact, compare as equal. */
function compareDecimals(left: string, right: string): number {
  const [a, b] = [scaled(left), scaled(right)]
  if (a === null || b === null) return 0
  const places = Math.max(a.places, b.places)
  const [first, second] = [a, b].map(({ digits, places: own }) => digits * 10n ** BigInt(places - own)) as [
    bigint,
    bigint,
  ]
  return first < second ? -1 : first > second ? 1 : 0
}

function scaled(form: string): { readonly digits: bigint; readonly places: number } | null {
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(form)
  if (parts === null || form.length > 4096) return null
  const fraction = (parts[3] ?? '').replace(/0+$/, '')
  const digits = BigInt(`${parts[2]}${fraction}` || '0')
  return { digits: parts[1] === '-' ? -digits : digits, places: fraction.length }
}

const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([\s\S]))/g
const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['t', '\t'],
  ['b', '\b'],
  ['n', '\n'],
  ['r', '\r'],
  ['f', '\f'],
])

function withoutEscapes(text: string): string {
  return text.replace(ESCAPE, (_, short?: string, long?: string, character = '') => {
    const digits = short ?? long
    if (digits !== undefined) return String.fromCodePoint(Number.parseInt(digits, 16))
    return CHARACTERS.get(character) ?? character
  })
}

export type LiteralKind = 'boolean' | 'number' | 'moment' | 'day' | 'text' | 'point' | 'other'

/** Distinct literals of a table: their unescaped texts, datatypes, languages and values, and their sort order. */
export class LiteralTable {
  readonly size: number
  /** The number of the ending of each literal. */
  readonly endingOf: Uint32Array
  /** Values of numbers, moments and booleans, if there are any. */
  values = new Float64Array(0)
  private readonly table: ByteTable
  private readonly endings: readonly LiteralEnding[]
  /** Unescaped texts of those with escapes. */
  private readonly plain: Arena
  private readonly starts: Uint32Array | Float64Array
  private readonly ends: Uint32Array | Float64Array

  constructor(table: ByteTable, endings: readonly LiteralEnding[]) {
    this.table = table
    this.endings = endings
    const { size } = table
    this.size = size
    this.plain = table.arena
    // Unescaped texts are stored after the escaped ones.
    const isShort = 2 * table.arena.length <= 0xffff_ffff
    this.starts = isShort ? new Uint32Array(size) : new Float64Array(size)
    this.ends = isShort ? new Uint32Array(size) : new Float64Array(size)
    this.endingOf = new Uint32Array(size)
    for (let index = 0; index < size; index++) this.readKey(index)
  }

  text(index: number): string {
    return this.plain.bytes.toString('utf8', this.starts[index], this.ends[index])
  }

  ending(index: number): LiteralEnding {
    return this.endings[this.endingOf[index] as number] as LiteralEnding
  }

  /** Determines the kind of a literal and stores its value, if it has one. */
  kindAt(index: number): LiteralKind {
    const { datatype } = this.ending(index)
    switch (datatype) {
      case XSD.string:
      case RDF.langString:
      case RDF.dirLangString:
        return 'text'
      case XSD.boolean: {
        const form = this.text(index)
        if (!/^(?:true|false|0|1)$/.test(form)) return 'other'
        this.keepValue(index, form === 'true' || form === '1' ? 1 : 0)
        return 'boolean'
      }
      case XSD.dateTime:
      case XSD.date: {
        const moment = momentOfLexical(this.text(index), datatype === XSD.date)
        if (moment === null) return 'other'
        this.keepValue(index, moment.seconds)
        return datatype === XSD.date ? 'day' : 'moment'
      }
      case GEO.wktLiteral:
        return this.pointAt(index) === null ? 'other' : 'point'
      default: {
        const value = numericKind(datatype) === null ? null : numberOfLiteral(this.text(index), datatype)
        if (value === null) return 'other'
        this.keepValue(index, value)
        return 'number'
      }
    }
  }

  private keepValue(index: number, value: number): void {
    if (this.values.length === 0) this.values = new Float64Array(this.table.size)
    this.values[index] = value
  }

  pointAt(index: number): readonly [longitude: number, latitude: number] | null {
    return pointOf(this.text(index))
  }

  areExact(order: Uint32Array): boolean {
    for (const index of order) {
      const kind = numericKind(this.ending(index).datatype)
      if (kind === 'double' || kind === 'float') continue
      const value = this.values[index] as number
      if (kind === 'integer' ? !Number.isSafeInteger(value) : !isExact(this.text(index), value, 'decimal'))
        return false
    }
    return true
  }

  bytes(index: number): Buffer {
    return this.plain.bytes.subarray(this.starts[index], this.ends[index])
  }

  sortTexts(members: Uint32Array): void {
    sortPieces(members, {
      bytes: this.plain.bytes,
      startOf: index => this.starts[index] as number,
      endOf: index => this.ends[index] as number,
    })
    // With only one ending all texts are distinct.
    const ending = this.endingOf[members[0] as number]
    if (members.some(index => this.endingOf[index] !== ending))
      this.sortTies(members, (a, b) => this.bytes(a).equals(this.bytes(b)), true)
  }

  /** Sorts ties of the previous sort: by language, datatype and form; where doubles are inexact, first by the exact value. */
  sortTies(order: Uint32Array, same: (left: number, right: number) => boolean, exact: boolean): void {
    for (let from = 0; from < order.length; ) {
      let to = from + 1
      while (to < order.length && same(order[from] as number, order[to] as number)) to++
      if (to - from > 1) {
        const tied = [...order.subarray(from, to)].sort((a, b) => {
          const [left, right] = [this.ending(a), this.ending(b)]
          return (
            (exact ? 0 : compareDecimals(this.text(a), this.text(b))) ||
            compareTexts(left.language, right.language) ||
            compareTexts(left.datatype, right.datatype) ||
            Buffer.compare(this.bytes(a), this.bytes(b))
          )
        })
        order.set(tied, from)
      }
      from = to
    }
  }

  textsOf(order: Uint32Array): Texts {
    let length = 0
    for (const index of order) length += (this.ends[index] as number) - (this.starts[index] as number)
    const texts = new Arena(length)
    const offsets = new Uint32Array(order.length + 1)
    for (let place = 0; place < order.length; place++) {
      const index = order[place] as number
      texts.add(this.plain.bytes, this.starts[index] as number, this.ends[index] as number)
      offsets[place + 1] = texts.length
    }
    return new Texts(texts.bytes, offsets)
  }

  private readKey(index: number): void {
    const { bytes } = this.plain
    const reader = new NumberReader(bytes, this.table.startOf(index))
    const ending = reader.next()
    const { at } = reader
    const end = this.table.endOf(index)
    this.endingOf[index] = ending
    // The literals of a triple term keep their escapes.
    let backslash = this.ending(index).datatype === TRIPLE_TERM ? end : at
    while (backslash < end && bytes[backslash] !== BACKSLASH_BYTE) backslash++
    if (backslash < end) {
      const text = Buffer.from(withoutEscapes(bytes.toString('utf8', at, end)))
      const start = this.plain.length
      this.plain.add(text, 0, text.length)
      this.starts[index] = start
      this.ends[index] = start + text.length
    } else {
      this.starts[index] = at
      this.ends[index] = end
    }
  }
}
