import { GEO, RDF, XSD } from '../../../rdf/vocab.ts'
import { type Arena, compareBytes } from '../bytes.ts'
import { Texts } from '../dictionary-texts.ts'
import { type DictionaryPart, type OwnForms, TRIPLE_TERM } from '../format.ts'
import {
  dayForm,
  isExact,
  momentForm,
  momentOfLexical,
  numberForm,
  numberOfLexical,
  numericKind,
  pointOf,
} from '../lexical.ts'
import { sortedNumbers } from '../sort-numbers.ts'
import { indexWords } from '../words.ts'
import type { ByteTable } from './byte-table.ts'
import {
  BACKSLASH_BYTE,
  compareDecimals,
  compareTexts,
  finite,
  type LiteralEnding,
  LONG,
  sameNumber,
  withoutEscapes,
} from './literal-text.ts'
import { plainPoint } from './plain-forms.ts'
import type { SectionSink } from './section-writer.ts'
import { sortPieces } from './sort-bytes.ts'

type Family = 'boolean' | 'number' | 'moment' | 'day' | 'text' | 'point' | 'other'

/** The order of the parts of a dictionary, which is that of results; resources come before them. */
const FAMILIES: readonly Family[] = ['number', 'boolean', 'day', 'moment', 'text', 'point', 'other']

/**
 * Makes the literal parts of a dictionary from distinct literals, each taken into a table as the number of its ending and
 * its text with the escapes of N-Triples.
 *
 * Their `first` is the code of the first literal; the words of texts are stored where they are searched.
 */
export class DictionaryBuilder {
  private readonly table: ByteTable
  private readonly endings: readonly LiteralEnding[]
  private readonly sink: SectionSink
  private readonly codes: Uint32Array
  private readonly parts: DictionaryPart[] = []
  private next: number
  private readonly isSearched: boolean
  /** Texts with escapes, without them. */
  private readonly plain: Arena
  private readonly starts: Uint32Array | Float64Array
  private readonly ends: Uint32Array | Float64Array
  private readonly endingOf: Uint32Array
  /** Values of numbers, moments and booleans, where there are any. */
  private values = new Float64Array(0)

  constructor(
    table: ByteTable,
    endings: readonly LiteralEnding[],
    sink: SectionSink,
    { first, isSearched }: { readonly first: number; readonly isSearched: boolean },
  ) {
    this.isSearched = isSearched
    this.table = table
    this.endings = endings
    this.sink = sink
    this.next = first
    const { size } = table
    this.codes = new Uint32Array(size)
    this.plain = table.arena
    // Texts without their escapes are behind those with them.
    const isShort = 2 * table.arena.length <= 0xffff_ffff
    this.starts = isShort ? new Uint32Array(size) : new Float64Array(size)
    this.ends = isShort ? new Uint32Array(size) : new Float64Array(size)
    this.endingOf = new Uint32Array(size)
    for (let index = 0; index < size; index++) this.readKey(index)
  }

  build(): { readonly parts: readonly DictionaryPart[]; readonly codes: Uint32Array } {
    const { size } = this.table
    const families = new Uint8Array(size)
    const counts = FAMILIES.map(() => 0)
    for (let index = 0; index < size; index++) {
      const family = FAMILIES.indexOf(this.familyOf(index))
      families[index] = family
      counts[family] = (counts[family] as number) + 1
    }
    for (const [number, family] of FAMILIES.entries()) {
      const members = new Uint32Array(counts[number] as number)
      if (members.length === 0) continue
      for (let [index, at] = [0, 0]; at < members.length; index++)
        if (families[index] === number) members[at++] = index
      switch (family) {
        case 'boolean':
          this.addBooleans(members)
          break
        case 'number':
        case 'moment':
        case 'day':
          this.addValues(members, family)
          break
        case 'text':
          this.addTexts(members)
          break
        case 'point':
          this.addPoints(members)
          break
        case 'other':
          this.addOthers(members)
          break
        default:
          family satisfies never
      }
    }
    return { parts: this.parts, codes: this.codes }
  }

  private readKey(index: number): void {
    const { bytes } = this.plain
    let at = this.table.startOf(index)
    let ending = 0
    for (let unit = 1; ; unit *= 128) {
      const byte = bytes[at++] as number
      ending += (byte & 127) * unit
      if (byte < 128) break
    }
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

  private text(index: number): string {
    return this.plain.bytes.toString('utf8', this.starts[index], this.ends[index])
  }

  private ending(index: number): LiteralEnding {
    return this.endings[this.endingOf[index] as number] as LiteralEnding
  }

  /** Finds the family of a literal and keeps its value, if it has one. */
  private familyOf(index: number): Family {
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
        return this.readPoint(index) === null ? 'other' : 'point'
      default: {
        const kind = numericKind(datatype)
        const value = kind === null ? null : numberOfLexical(this.text(index), kind)
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

  private readPoint(index: number): readonly [longitude: number, latitude: number] | null {
    const [start, end] = [this.starts[index] as number, this.ends[index] as number]
    return plainPoint(this.plain.bytes, start, end) ?? pointOf(this.text(index))
  }

  private addBooleans(members: Uint32Array): void {
    const order = members.sort(
      (a, b) =>
        (this.values[a] as number) - (this.values[b] as number) ||
        Buffer.compare(this.bytes(a), this.bytes(b)),
    )
    this.number(order)
    const values = Uint8Array.from(order, index => this.values[index] as number)
    const forms = this.ownForms(order, index => (this.values[index] === 1 ? 'true' : 'false'))
    this.parts.push({ kind: 'boolean', count: order.length, values: this.sink.add(values), forms })
  }

  private addValues(members: Uint32Array, family: 'number' | 'moment' | 'day'): void {
    const numbers = new Float64Array(members.length)
    for (let at = 0; at < members.length; at++) numbers[at] = this.values[members[at] as number] as number
    const places = sortedNumbers(numbers)
    const order = new Uint32Array(members.length)
    for (let at = 0; at < order.length; at++) order[at] = members[places[at] as number] as number
    const exact = family !== 'number' || this.areExact(order)
    this.sortTies(order, (a, b) => sameNumber(this.values[a] as number, this.values[b] as number), exact)
    this.number(order)
    const values = new Float64Array(order.length)
    for (let at = 0; at < order.length; at++) values[at] = this.values[order[at] as number] as number
    const { datatypes, types } = this.datatypesOf(order)
    const forms = this.ownForms(order, index => {
      const value = this.values[index] as number
      if (family === 'number') return numberForm(value)
      return family === 'day' ? dayForm(Math.floor(value / 86_400)) : momentForm(value, 'Z')
    })
    this.parts.push({
      kind: family === 'number' ? 'number' : 'moment',
      count: order.length,
      values: this.sink.add(values),
      datatypes,
      types,
      forms,
      exact,
      min: finite(values[0] as number),
      max: finite(values[values.length - 1] as number),
    })
  }

  private areExact(order: Uint32Array): boolean {
    for (const index of order) {
      const kind = numericKind(this.ending(index).datatype)
      if (kind === 'double' || kind === 'float') continue
      const value = this.values[index] as number
      if (kind === 'integer' ? !Number.isSafeInteger(value) : !isExact(this.text(index), value, 'decimal'))
        return false
    }
    return true
  }

  private addTexts(members: Uint32Array): void {
    this.sortTexts(members)
    const languageOf = (index: number) => this.ending(index).language
    this.number(members)
    const languages: string[] = []
    let tags = new Uint32Array(0)
    for (let at = 0; at < members.length; at++) {
      const language = languageOf(members[at] as number)
      if (language === '') continue
      if (tags.length === 0) tags = new Uint32Array(members.length)
      const known = languages.indexOf(language)
      tags[at] = known < 0 ? languages.push(language) : known + 1
    }
    const texts = this.textsOf(members)
    this.parts.push({
      kind: 'text',
      count: members.length,
      offsets: this.sink.add(texts.offsets),
      bytes: this.sink.add(texts.bytes),
      languages,
      tags: languages.length === 0 ? null : this.sink.add(tags),
      words: this.isSearched ? indexWords(texts).map(buffer => this.sink.add(new Uint8Array(buffer))) : null,
    })
  }

  private addPoints(members: Uint32Array): void {
    this.sortTexts(members)
    this.number(members)
    const longitudes = new Float64Array(members.length)
    const latitudes = new Float64Array(members.length)
    for (let at = 0; at < members.length; at++) {
      const [longitude, latitude] = this.readPoint(members[at] as number) ?? [0, 0]
      longitudes[at] = longitude
      latitudes[at] = latitude
    }
    this.parts.push({
      kind: 'point',
      count: members.length,
      longitudes: this.sink.add(longitudes),
      latitudes: this.sink.add(latitudes),
    })
  }

  private addOthers(members: Uint32Array): void {
    this.sortTexts(members)
    this.number(members)
    this.parts.push({
      kind: 'other',
      count: members.length,
      ...this.addBytes(members),
      ...this.datatypesOf(members),
    })
  }

  private bytes(index: number): Buffer {
    return this.plain.bytes.subarray(this.starts[index], this.ends[index])
  }

  private isSameText(left: number, right: number): boolean {
    const { bytes } = this.plain
    const [start, end] = [this.starts[left] as number, this.ends[left] as number]
    const [otherStart, otherEnd] = [this.starts[right] as number, this.ends[right] as number]
    return compareBytes(bytes, start, end, bytes, otherStart, otherEnd) === 0
  }

  private sortTexts(members: Uint32Array): void {
    sortPieces(members, {
      bytes: this.plain.bytes,
      startOf: index => this.starts[index] as number,
      endOf: index => this.ends[index] as number,
    })
    // With one ending all texts are different.
    const ending = this.endingOf[members[0] as number]
    if (members.some(index => this.endingOf[index] !== ending))
      this.sortTies(members, (a, b) => this.isSameText(a, b), true)
  }

  /**
   * Orders what is the same for the sort so far: by datatype, language and form; where doubles are not exact, by the exact
   * value before.
   */
  private sortTies(order: Uint32Array, same: (left: number, right: number) => boolean, exact: boolean): void {
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

  private number(order: Uint32Array): void {
    for (let at = 0; at < order.length; at++) this.codes[order[at] as number] = this.next + at
    this.next += order.length
  }

  private datatypesOf(order: Uint32Array) {
    const datatypes: string[] = []
    const types = new Uint8Array(order.length)
    const known = new Map<number, number>()
    for (let at = 0; at < order.length; at++) {
      const ending = this.endingOf[order[at] as number] as number
      let type = known.get(ending)
      if (type === undefined) {
        type = datatypes.push(this.ending(order[at] as number).datatype) - 1
        known.set(ending, type)
      }
      types[at] = Math.min(type, 255)
    }
    if (datatypes.length > 255) return { datatypes, types: this.sink.add(this.wideTypes(order, known)) }
    return { datatypes, types: datatypes.length === 1 ? null : this.sink.add(types) }
  }

  /** Types of four bytes where there are more than one byte can tell. */
  private wideTypes(order: Uint32Array, known: ReadonlyMap<number, number>): Uint32Array {
    return order.map(index => known.get(this.endingOf[index] as number) ?? 0)
  }

  private addBytes(order: Uint32Array) {
    const { offsets, bytes } = this.textsOf(order)
    return { offsets: this.sink.add(offsets), bytes: this.sink.add(bytes) }
  }

  private textsOf(order: Uint32Array): Texts {
    let length = 0
    for (const index of order) length += (this.ends[index] as number) - (this.starts[index] as number)
    const { bytes } = this.plain
    const text = Buffer.allocUnsafeSlow(length)
    const offsets = new Uint32Array(order.length + 1)
    let at = 0
    for (let place = 0; place < order.length; place++) {
      const index = order[place] as number
      const [start, end] = [this.starts[index] as number, this.ends[index] as number]
      if (end - start > LONG) text.set(bytes.subarray(start, end), at)
      else for (let from = start; from < end; from++) text[at + from - start] = bytes[from] as number
      at += end - start
      offsets[place + 1] = at
    }
    return new Texts(text, offsets)
  }

  private ownForms(order: Uint32Array, formOf: (index: number) => string): OwnForms | null {
    const places: number[] = []
    for (let at = 0; at < order.length; at++) {
      const index = order[at] as number
      if (this.text(index) !== formOf(index)) places.push(at)
    }
    if (places.length === 0) return null
    const own = Uint32Array.from(places, at => order[at] as number)
    return { places: this.sink.add(Uint32Array.from(places)), ...this.addBytes(own) }
  }
}
