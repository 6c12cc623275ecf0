import { parseTerm } from '../../rdf/ntriples-reader.ts'
import type { Literal, Term, TripleTerm } from '../../rdf/term.ts'
import { GEO, RDF, XSD } from '../../rdf/vocab.ts'
import { compareBytes } from './bytes.ts'
import { type DictionaryHeader, type DictionaryPart, type OwnForms, TRIPLE_TERM } from './format.ts'
import {
  dayForm,
  momentForm,
  momentOfLexical,
  numberForm,
  numberOfLexical,
  numericKind,
  pointForm,
  pointOf,
} from './lexical.ts'
import type { Resources } from './resources.ts'
import type { SectionSource } from './sections.ts'

/** A part of a dictionary that can be read. Places in it count from 0. */
interface PartBase {
  /** Code of its first term. */
  readonly first: number
  readonly count: number
}

export interface ResourcePart extends PartBase {
  readonly kind: 'resource'
  /** Numbers of resources, rising. */
  readonly ids: Uint32Array
}

export interface ValuePart extends PartBase {
  readonly kind: 'number' | 'moment'
  readonly values: Float64Array
  readonly datatypes: readonly string[]
  readonly types: Uint8Array | Uint32Array | null
  readonly forms: Forms | null
  readonly exact: boolean
}

export interface BooleanPart extends PartBase {
  readonly kind: 'boolean'
  readonly values: Uint8Array
  readonly forms: Forms | null
}

export interface TextPart extends PartBase {
  readonly kind: 'text'
  readonly texts: Texts
  readonly languages: readonly string[]
  readonly tags: Uint32Array | null
  /** The sections of its words, where the file has them. */
  readonly words: (() => readonly SharedArrayBuffer[]) | null
}

export interface PointPart extends PartBase {
  readonly kind: 'point'
  readonly longitudes: Float64Array
  readonly latitudes: Float64Array
}

export interface OtherPart extends PartBase {
  readonly kind: 'other'
  readonly texts: Texts
  readonly datatypes: readonly string[]
  readonly types: Uint8Array | Uint32Array | null
}

export type DictionarySection = ResourcePart | ValuePart | BooleanPart | TextPart | PointPart | OtherPart

/** Some texts, one after another. */
export function textsOf(count: number, get: (place: number) => string): Texts {
  const offsets = new Uint32Array(count + 1)
  let bytes = Buffer.allocUnsafe(16 * count + 64)
  let length = 0
  for (let place = 0; place < count; place++) {
    const text = get(place)
    if (bytes.length < length + 3 * text.length) {
      const larger = Buffer.allocUnsafe(2 * (length + 3 * text.length))
      bytes.copy(larger, 0, 0, length)
      bytes = larger
    }
    length += bytes.write(text, length)
    offsets[place + 1] = length
  }
  return new Texts(bytes.subarray(0, length), offsets)
}

/** Texts one after another. */
export class Texts {
  readonly bytes: Buffer
  readonly offsets: Uint32Array

  constructor(bytes: Buffer, offsets: Uint32Array) {
    this.bytes = bytes
    this.offsets = offsets
  }

  get count(): number {
    return this.offsets.length - 1
  }

  get(place: number): string {
    return this.bytes.toString('utf8', this.offsets[place], this.offsets[place + 1])
  }

  compare(place: number, text: Uint8Array): number {
    const { bytes, offsets } = this
    return compareBytes(bytes, offsets[place] as number, offsets[place + 1] as number, text, 0, text.length)
  }

  /** Places of the texts from the first that is not before a text to the first that is behind it. */
  range(text: Uint8Array): readonly [from: number, to: number] {
    const from = this.lowerBound(text, 0)
    let to = from
    while (to < this.offsets.length - 1 && this.compare(to, text) === 0) to++
    return [from, to]
  }

  /** Place of the first text that is not before another. */
  lowerBound(text: Uint8Array, from: number): number {
    let [low, high] = [from, this.offsets.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.compare(middle, text) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Lexical forms that are not those of their values. */
class Forms {
  private readonly places: Uint32Array
  private readonly texts: Texts

  constructor({ places, offsets, bytes }: OwnForms, source: SectionSource) {
    this.places = new Uint32Array(source.get(places))
    this.texts = new Texts(Buffer.from(source.get(bytes)), new Uint32Array(source.get(offsets)))
  }

  get(place: number): string | null {
    const { places } = this
    let [low, high] = [0, places.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((places[middle] as number) < place) low = middle + 1
      else high = middle
    }
    return places[low] === place ? this.texts.get(low) : null
  }
}

/** The distinct values of one column or several: terms with codes from 1 in their order. */
export class Dictionary {
  readonly count: number
  readonly header: DictionaryHeader
  private readonly source: SectionSource
  private readonly resources: Resources
  private opened: readonly DictionarySection[] | null = null

  constructor(header: DictionaryHeader, source: SectionSource, resources: Resources) {
    this.count = header.count
    this.header = header
    this.source = source
    this.resources = resources
  }

  get parts(): readonly DictionarySection[] {
    if (this.opened === null) {
      let first = 1
      this.opened = this.header.parts.map(part => {
        const made = openPart(part, first, this.source)
        first += part.count
        return made
      })
    }
    return this.opened
  }

  /** The part of a code. */
  partOf(code: number): DictionarySection {
    const { parts } = this
    let number = 0
    while (number + 1 < parts.length && (parts[number + 1] as DictionarySection).first <= code) number++
    return parts[number] as DictionarySection
  }

  /** The one part of a dictionary that has no other; null where it has several. */
  onlyPart(): DictionarySection | null {
    return this.header.parts.length === 1 ? (this.parts[0] ?? null) : null
  }

  term(code: number): Term {
    const part = this.partOf(code)
    const place = code - part.first
    switch (part.kind) {
      case 'resource':
        return this.resources.term(part.ids[place] as number)
      case 'text': {
        const tag = part.tags === null ? 0 : (part.tags[place] as number)
        if (tag === 0)
          return { type: 'literal', value: part.texts.get(place), datatype: XSD.string, language: '' }
        const language = part.languages[tag - 1] as string
        const datatype = language.includes('--') ? RDF.dirLangString : RDF.langString
        return { type: 'literal', value: part.texts.get(place), datatype, language }
      }
      default: {
        const [value, datatype] = [this.form(code), datatypeOf(part, place)]
        return datatype === TRIPLE_TERM
          ? parseTerm(value)
          : { type: 'literal', value, datatype, language: '' }
      }
    }
  }

  /** The lexical form of a literal. */
  form(code: number): string {
    const part = this.partOf(code)
    const place = code - part.first
    switch (part.kind) {
      case 'resource':
        return this.resources.text(part.ids[place] as number)
      case 'text':
      case 'other':
        return part.texts.get(place)
      case 'boolean':
        return part.forms?.get(place) ?? (part.values[place] === 1 ? 'true' : 'false')
      case 'number':
        return part.forms?.get(place) ?? numberForm(part.values[place] as number)
      case 'moment': {
        const own = part.forms?.get(place) ?? null
        if (own !== null) return own
        const value = part.values[place] as number
        return datatypeOf(part, place) === XSD.date
          ? dayForm(Math.floor(value / 86_400))
          : momentForm(value, 'Z')
      }
      case 'point':
        return pointForm(part.longitudes[place] as number, part.latitudes[place] as number)
      default:
        return part satisfies never
    }
  }

  /** The code of a term; 0 where it is none of them. */
  find(term: Term): number {
    if (term.type === 'iri' || term.type === 'blank') return this.findResource(this.resources.findTerm(term))
    const literal = term.type === 'literal' ? term : tripleLiteral(term)
    for (const part of this.parts) {
      const place = findIn(part, literal, place => this.form(part.first + place))
      if (place >= 0) return part.first + place
    }
    return 0
  }

  /** The code of a resource of the graph by its number. */
  findResource(resource: number): number {
    if (resource === 0) return 0
    for (const part of this.parts) {
      if (part.kind !== 'resource') continue
      const place = lowerBound(part.ids, resource)
      if (part.ids[place] === resource) return part.first + place
    }
    return 0
  }
}

/** The form in which a triple term stands among the literals. */
function tripleLiteral({ value }: TripleTerm): Literal {
  return { type: 'literal', value, datatype: TRIPLE_TERM, language: '' }
}

/** Place of the first number that is not below another, in rising numbers. */
export function lowerBound(numbers: Uint32Array | Float64Array, value: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] as number) < value) low = middle + 1
    else high = middle
  }
  return low
}

/** The datatype of a literal that is no text; {@link TRIPLE_TERM} for a triple term. */
export function datatypeOf(part: Exclude<DictionarySection, ResourcePart | TextPart>, place: number): string {
  switch (part.kind) {
    case 'boolean':
      return XSD.boolean
    case 'point':
      return GEO.wktLiteral
    default:
      return part.datatypes[part.types === null ? 0 : (part.types[place] as number)] as string
  }
}

/** The place of a literal in a part; -1 where it has none. */
function findIn(part: DictionarySection, term: Literal, formOf: (place: number) => string): number {
  const { value, datatype, language } = term
  switch (part.kind) {
    case 'resource':
      return -1
    case 'text': {
      if (datatype !== XSD.string && language === '') return -1
      const bytes = Buffer.from(value)
      for (let place = part.texts.lowerBound(bytes, 0); place < part.count; place++) {
        if (part.texts.compare(place, bytes) !== 0) return -1
        const tag = part.tags === null ? 0 : (part.tags[place] as number)
        if ((tag === 0 ? '' : part.languages[tag - 1]) === language) return place
      }
      return -1
    }
    case 'other': {
      if (!part.datatypes.includes(datatype)) return -1
      const bytes = Buffer.from(value)
      for (let place = part.texts.lowerBound(bytes, 0); place < part.count; place++) {
        if (part.texts.compare(place, bytes) !== 0) return -1
        if (datatypeOf(part, place) === datatype) return place
      }
      return -1
    }
    case 'boolean':
      if (datatype !== XSD.boolean) return -1
      for (let place = 0; place < part.count; place++) if (formOf(place) === value) return place
      return -1
    case 'point': {
      const point = datatype === GEO.wktLiteral ? pointOf(value) : null
      return point === null ? -1 : findPoint(part, value)
    }
    case 'number':
    case 'moment': {
      if (!part.datatypes.includes(datatype)) return -1
      const kind = numericKind(datatype)
      const number =
        kind === null
          ? (momentOfLexical(value, datatype === XSD.date)?.seconds ?? null)
          : numberOfLexical(value, kind)
      if (number === null) return -1
      for (let place = valueBound(part.values, number); place < part.count; place++) {
        const own = part.values[place] as number
        if (own !== number && !(Number.isNaN(own) && Number.isNaN(number))) return -1
        if (datatypeOf(part, place) === datatype && formOf(place) === value) return place
      }
      return -1
    }
    default:
      return part satisfies never
  }
}

/** Place of the first value that is not below a number; NaN is above all others. */
export function valueBound(values: Float64Array, number: number): number {
  let [low, high] = [0, values.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const value = values[middle] as number
    if (value < number || (Number.isNaN(number) && !Number.isNaN(value))) low = middle + 1
    else high = middle
  }
  return low
}

function wordsOf(sections: readonly number[], source: SectionSource): () => readonly SharedArrayBuffer[] {
  return () => sections.map(section => source.get(section))
}

function findPoint({ longitudes, latitudes, count }: PointPart, form: string): number {
  const bytes = Buffer.from(form)
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >> 1
    const own = Buffer.from(pointForm(longitudes[middle] as number, latitudes[middle] as number))
    const order = Buffer.compare(own, bytes)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle
  }
  return -1
}

function openPart(header: DictionaryPart, first: number, source: SectionSource): DictionarySection {
  const { count } = header
  const texts = (part: { readonly bytes: number; readonly offsets: number }) =>
    new Texts(Buffer.from(source.get(part.bytes)), new Uint32Array(source.get(part.offsets)))
  const types = (number: number | null) => {
    if (number === null) return null
    const bytes = source.get(number)
    return bytes.byteLength === count ? new Uint8Array(bytes) : new Uint32Array(bytes)
  }
  switch (header.kind) {
    case 'resource':
      return { kind: 'resource', first, count, ids: new Uint32Array(source.get(header.ids)) }
    case 'boolean':
      return {
        kind: 'boolean',
        first,
        count,
        values: new Uint8Array(source.get(header.values)),
        forms: header.forms === null ? null : new Forms(header.forms, source),
      }
    case 'number':
    case 'moment':
      return {
        kind: header.kind,
        first,
        count,
        values: new Float64Array(source.get(header.values)),
        datatypes: header.datatypes,
        types: types(header.types),
        forms: header.forms === null ? null : new Forms(header.forms, source),
        exact: header.exact,
      }
    case 'text':
      return {
        kind: 'text',
        first,
        count,
        texts: texts(header),
        languages: header.languages,
        tags: header.tags === null ? null : new Uint32Array(source.get(header.tags)),
        words: header.words === null ? null : wordsOf(header.words, source),
      }
    case 'point':
      return {
        kind: 'point',
        first,
        count,
        longitudes: new Float64Array(source.get(header.longitudes)),
        latitudes: new Float64Array(source.get(header.latitudes)),
      }
    case 'other':
      return {
        kind: 'other',
        first,
        count,
        texts: texts(header),
        datatypes: header.datatypes,
        types: types(header.types),
      }
    default:
      return header satisfies never
  }
}
