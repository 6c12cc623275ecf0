import { languageDatatype } from '../../rdf/ntriples.ts'
import { parseTerm } from '../../rdf/ntriples-reader.ts'
import type { Literal, Term, TripleTerm } from '../../rdf/term.ts'
import { GEO, XSD } from '../../rdf/vocab.ts'
import {
  type DictionarySection,
  datatypeOf,
  openPart,
  type PointPart,
  type TextPart,
  type ValuePart,
} from './dictionary-parts.ts'
import { firstWhere, lowerBound, type TermBytes } from './dictionary-texts.ts'
import { type DictionaryHeader, TRIPLE_TERM } from './file-layout.ts'
import {
  dayForm,
  momentForm,
  momentOfLexical,
  numberForm,
  numberOfLiteral,
  numericKind,
  pointForm,
  pointOf,
} from './lexical.ts'
import type { Resources } from './resources.ts'
import type { SectionSource } from './sections.ts'

/** The distinct values of one or more columns: terms with codes from 1 in sort order. */
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
        const opened = openPart(part, first, this.source)
        first += part.count
        return opened
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

  /** The single part of a dictionary; null where it has several. */
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
        const language = languageAt(part, place)
        const datatype = language === '' ? XSD.string : languageDatatype(language)
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

  /** Returns the location of the text of a term; false where it is not stored verbatim. */
  bytes(code: number, found: TermBytes): boolean {
    const part = this.partOf(code)
    const place = code - part.first
    if (part.kind === 'resource') {
      this.resources.bytes(part.ids[place] as number, found)
      return true
    }
    if (part.kind === 'number') return part.forms === null && wholeNumber(part, place, found)
    if (part.kind !== 'text' && part.kind !== 'other') return false
    found.type = 'literal'
    found.language = ''
    if (part.kind === 'other') {
      found.datatype = datatypeOf(part, place)
      if (found.datatype === TRIPLE_TERM) return false
    } else {
      found.language = languageAt(part, place)
      found.datatype = found.language === '' ? XSD.string : languageDatatype(found.language)
    }
    part.texts.find(place, found)
    return true
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
    }
  }

  /** The code of a term; 0 where the dictionary lacks it. */
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

/** The language of a text; empty for none. */
function languageAt({ tags, languages }: TextPart, place: number): string {
  const tag = tags === null ? 0 : (tags[place] as number)
  return tag === 0 ? '' : (languages[tag - 1] as string)
}

/** The literal that represents a triple term in a dictionary. */
function tripleLiteral({ value }: TripleTerm): Literal {
  return { type: 'literal', value, datatype: TRIPLE_TERM, language: '' }
}

/** The index of a literal in a part; -1 where the part lacks it. */
export function findIn(part: DictionarySection, term: Literal, formOf: (place: number) => string): number {
  const { value, datatype, language } = term
  switch (part.kind) {
    case 'resource':
      return -1
    case 'text':
    case 'other': {
      if (
        part.kind === 'text' ? datatype !== XSD.string && language === '' : !part.datatypes.includes(datatype)
      )
        return -1
      const bytes = Buffer.from(value)
      for (let place = part.texts.lowerBound(bytes, 0); place < part.count; place++) {
        if (part.texts.compare(place, bytes) !== 0) return -1
        if (
          part.kind === 'text' ? languageAt(part, place) === language : datatypeOf(part, place) === datatype
        )
          return place
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
          : numberOfLiteral(value, datatype)
      if (number === null) return -1
      for (let place = valueBound(part.values, number); place < part.count; place++) {
        const own = part.values[place] as number
        if (own !== number && !(Number.isNaN(own) && Number.isNaN(number))) return -1
        if (datatypeOf(part, place) === datatype && formOf(place) === value) return place
      }
      return -1
    }
  }
}

/** Index of the first value that is not below a number; NaN is above all others. */
export function valueBound(values: Float64Array, number: number): number {
  return Number.isNaN(number)
    ? firstWhere(0, values.length, at => Number.isNaN(values[at]))
    : firstWhere(0, values.length, at => !((values[at] as number) < number))
}

function findPoint({ longitudes, latitudes, count }: PointPart, form: string): number {
  const bytes = Buffer.from(form)
  const formAt = (place: number) => pointForm(longitudes[place] as number, latitudes[place] as number)
  const place = firstWhere(0, count, at => Buffer.compare(Buffer.from(formAt(at)), bytes) >= 0)
  return place < count && formAt(place) === form ? place : -1
}

/** Digits of the numbers whose texts are computed from their values. */
const DIGITS = Buffer.alloc(17)

/** Writes the digits of an integer in canonical form; false for another number. */
function wholeNumber(part: ValuePart, place: number, found: TermBytes): boolean {
  const value = part.values[place] as number
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) return false
  found.type = 'literal'
  found.language = ''
  found.datatype = datatypeOf(part, place)
  found.bytes = DIGITS
  found.from = 0
  found.to = DIGITS.write(String(value), 'latin1')
  return true
}
