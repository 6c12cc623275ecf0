import type { Literal } from '../../rdf/term.ts'
import { GEO, XSD } from '../../rdf/vocab.ts'
import type { DictionarySection, PointPart } from './dictionary-parts.ts'
import { datatypeOf } from './dictionary-parts.ts'
import { momentOfLexical, numberOfLexical, numericKind, pointForm, pointOf } from './lexical.ts'

/** The place of a literal in a part; -1 where it has none. */
export function findIn(part: DictionarySection, term: Literal, formOf: (place: number) => string): number {
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
