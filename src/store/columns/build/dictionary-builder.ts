import type { ByteTable } from '../bytes.ts'
import type { DictionaryPart, OwnForms } from '../file-layout.ts'
import { dayForm, momentForm, numberForm } from '../lexical.ts'
import { placesByNumber, sortedNumbers } from '../sorting.ts'
import { indexWords } from '../words.ts'
import { finite, type LiteralEnding, type LiteralKind, LiteralTable, sameNumber } from './literal-table.ts'
import type { SectionSink } from './section-writer.ts'

/** The order of the parts of a dictionary, which is the sort order of results; resources precede them. */
const KINDS: readonly LiteralKind[] = ['number', 'boolean', 'day', 'moment', 'text', 'point', 'other']

/**
 * Builds the literal parts of a dictionary from distinct literals, each interned in a table as the number of its ending and its
 * text with N-Triples escapes.
 *
 * Their `first` is the code of the first literal; the words of texts are stored where they are searched.
 */
export class DictionaryBuilder {
  private readonly literals: LiteralTable
  private readonly sink: SectionSink
  private readonly codes: Uint32Array
  private readonly parts: DictionaryPart[] = []
  private next: number
  private readonly isSearched: boolean

  constructor(
    table: ByteTable,
    endings: readonly LiteralEnding[],
    sink: SectionSink,
    { first, isSearched }: { readonly first: number; readonly isSearched: boolean },
  ) {
    this.isSearched = isSearched
    this.sink = sink
    this.next = first
    this.literals = new LiteralTable(table, endings)
    this.codes = new Uint32Array(table.size)
  }

  build(): { readonly parts: readonly DictionaryPart[]; readonly codes: Uint32Array } {
    const { size } = this.literals
    const kinds = new Uint32Array(size)
    for (let index = 0; index < size; index++) kinds[index] = KINDS.indexOf(this.literals.kindAt(index))
    const { starts, places } = placesByNumber(kinds, KINDS.length)
    for (const [number, kind] of KINDS.entries()) {
      const members = places.subarray(starts[number], starts[number + 1])
      if (members.length === 0) continue
      switch (kind) {
        case 'boolean':
          this.addBooleans(members)
          break
        case 'number':
        case 'moment':
        case 'day':
          this.addValues(members, kind)
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
          kind satisfies never
      }
    }
    return { parts: this.parts, codes: this.codes }
  }

  private addBooleans(members: Uint32Array): void {
    const order = members.sort(
      (a, b) =>
        (this.literals.values[a] as number) - (this.literals.values[b] as number) ||
        Buffer.compare(this.literals.bytes(a), this.literals.bytes(b)),
    )
    this.number(order)
    const values = Uint8Array.from(order, index => this.literals.values[index] as number)
    const forms = this.ownForms(order, index => (this.literals.values[index] === 1 ? 'true' : 'false'))
    this.parts.push({ kind: 'boolean', count: order.length, values: this.sink.add(values), forms })
  }

  private addValues(members: Uint32Array, kind: 'number' | 'moment' | 'day'): void {
    const numbers = new Float64Array(members.length)
    for (let at = 0; at < members.length; at++)
      numbers[at] = this.literals.values[members[at] as number] as number
    const places = sortedNumbers(numbers)
    const order = new Uint32Array(members.length)
    for (let at = 0; at < order.length; at++) order[at] = members[places[at] as number] as number
    const exact = kind !== 'number' || this.literals.areExact(order)
    this.literals.sortTies(
      order,
      (a, b) => sameNumber(this.literals.values[a] as number, this.literals.values[b] as number),
      exact,
    )
    this.number(order)
    const values = new Float64Array(order.length)
    for (let at = 0; at < order.length; at++) values[at] = this.literals.values[order[at] as number] as number
    const { datatypes, types } = this.datatypesOf(order)
    const forms = this.ownForms(order, index => {
      const value = this.literals.values[index] as number
      if (kind === 'number') return numberForm(value)
      return kind === 'day' ? dayForm(Math.floor(value / 86_400)) : momentForm(value, 'Z')
    })
    this.parts.push({
      kind: kind === 'number' ? 'number' : 'moment',
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

  private addTexts(members: Uint32Array): void {
    this.literals.sortTexts(members)
    const languageOf = (index: number) => this.literals.ending(index).language
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
    const texts = this.literals.textsOf(members)
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
    this.literals.sortTexts(members)
    this.number(members)
    const longitudes = new Float64Array(members.length)
    const latitudes = new Float64Array(members.length)
    for (let at = 0; at < members.length; at++) {
      const [longitude, latitude] = this.literals.pointAt(members[at] as number) ?? [0, 0]
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
    this.literals.sortTexts(members)
    this.number(members)
    this.parts.push({
      kind: 'other',
      count: members.length,
      ...this.addBytes(members),
      ...this.datatypesOf(members),
    })
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
      const ending = this.literals.endingOf[order[at] as number] as number
      let type = known.get(ending)
      if (type === undefined) {
        type = datatypes.push(this.literals.ending(order[at] as number).datatype) - 1
        known.set(ending, type)
      }
      types[at] = Math.min(type, 255)
    }
    if (datatypes.length > 255) return { datatypes, types: this.sink.add(this.wideTypes(order, known)) }
    return { datatypes, types: datatypes.length === 1 ? null : this.sink.add(types) }
  }

  /** Types take four bytes where one byte cannot represent them all. */
  private wideTypes(order: Uint32Array, known: ReadonlyMap<number, number>): Uint32Array {
    return order.map(index => known.get(this.literals.endingOf[index] as number) ?? 0)
  }

  private addBytes(order: Uint32Array) {
    const { offsets, bytes } = this.literals.textsOf(order)
    return { offsets: this.sink.add(offsets), bytes: this.sink.add(bytes) }
  }

  private ownForms(order: Uint32Array, formOf: (index: number) => string): OwnForms | null {
    const places: number[] = []
    for (let at = 0; at < order.length; at++) {
      const index = order[at] as number
      if (this.literals.text(index) !== formOf(index)) places.push(at)
    }
    if (places.length === 0) return null
    const own = Uint32Array.from(places, at => order[at] as number)
    return { places: this.sink.add(Uint32Array.from(places)), ...this.addBytes(own) }
  }
}
