import { exactJson, integerValue } from '../../model/exact-json.ts'
import type { FieldType } from '../../model/field.ts'
import { toGeoPoint, toGeoShape } from '../../model/geometry.ts'
import { numberText } from '../../model/number.ts'
import type { Value } from '../../model/value.ts'
import { misconfigured } from '../source.ts'
import { type CoordinateOrder, coordinateConverter } from './coordinates.ts'
import { numberFormat, numberReader } from './number-format.ts'
import { dateConverter, datetimeConverter } from './temporal.ts'

/**
 * Converts a value of a source to the canonical value of the field's type: null for absent or empty, undefined if it does not fit
 * the type.
 */
export type Converter = (raw: unknown) => Value | undefined

const INTEGER = /^[+-]?\d+(?:\.0*)?$/
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
const LONE_SURROGATE = /\p{Surrogate}/u
const LONE_SURROGATES = /\p{Surrogate}/gu

const TRUE = ['true', 'yes', '1', 't', 'y']
const FALSE = ['false', 'no', '0', 'f', 'n']

/**
 * The converter of a type. Empty text is null for every type; for all but text, surrounding blanks are ignored.
 *
 * @param format decimal sign or example of a number, the two words of a boolean (`Oui/Non`), pattern of a date or datetime, order
 * of the coordinates of a point
 * @param zone IANA time zone of times without offset
 * @param isCoarse a date may be a year or a month alone
 */
export function converterOf(
  type: FieldType,
  format: string | undefined,
  zone: string,
  isCoarse = false,
): Converter {
  switch (type) {
    case 'text':
      return withoutFormat(type, format, toText)
    case 'int':
      return format === undefined ? toInt : formattedInt(format)
    case 'double':
      return doubleConverter(format)
    case 'boolean':
      return format === undefined ? toBoolean : booleanConverter(format)
    case 'date':
      return dateConverter(format, zone, isCoarse)
    case 'datetime':
      return datetimeConverter(format, zone, isCoarse)
    case 'geo_point_2d':
      return nullIfEmpty(format === undefined ? toGeoPoint : pointConverter(format))
    case 'geo_shape':
      return withoutFormat(type, format, toGeoShape)
  }
}

/**
 * Converts to a list of texts: elements of an array, or parts of a text between separators, trimmed. Empty ones and later
 * duplicates are dropped; an empty list is null.
 */
export function textsConverter(separator: string | undefined): Converter {
  return raw => {
    const elements = Array.isArray(raw)
      ? (raw as readonly unknown[])
      : typeof raw === 'string' && separator !== undefined
        ? raw.split(separator).map(part => part.trim())
        : [raw]
    const texts = new Set<string>()
    for (const element of elements) {
      const text = toText(element)
      if (text === undefined) return undefined
      if (text !== null) texts.add(text)
    }
    return texts.size === 0 ? null : [...texts]
  }
}

/** Text unchanged, numbers and booleans in their natural form, arrays and objects as JSON. */
export function toText(raw: unknown): string | null | undefined {
  switch (typeof raw) {
    case 'string':
      if (raw === '') return null
      return LONE_SURROGATE.test(raw) ? raw.replace(LONE_SURROGATES, '\ufffd') : raw
    case 'number':
      return Number.isFinite(raw) ? numberText(raw) : undefined
    case 'boolean':
    case 'bigint':
      return String(raw)
    case 'object':
      return raw === null ? null : raw instanceof Date ? isoText(raw) : jsonText(raw)
    case 'undefined':
      return null
    default:
      return undefined
  }
}

function toInt(raw: unknown): number | bigint | null | undefined {
  if (raw === null || raw === undefined) return null
  if (typeof raw === 'bigint') return integerValue(raw)
  if (typeof raw === 'number') return Number.isSafeInteger(raw) ? raw + 0 : undefined
  if (typeof raw !== 'string') return undefined
  const text = raw.trim()
  if (text === '') return null
  if (!INTEGER.test(text)) return undefined
  const value = Number(text)
  // Long JavaScript numbers are rounded, but their digits are not.
  return Number.isSafeInteger(value) ? value + 0 : integerValue(BigInt(text.replace(/^\+|\..*$/g, '')))
}

function formattedInt(format: string): Converter {
  const read = numberReader(numberFormat(format, 'int'))
  return raw => {
    if (typeof raw !== 'string') return toInt(raw)
    if (raw.trim() === '') return null
    const plain = read(raw)
    return plain === undefined ? undefined : toInt(plain)
  }
}

function doubleConverter(format: string | undefined): Converter {
  const read = format === undefined ? null : numberReader(numberFormat(format, 'double'))
  return raw => {
    if (raw === null || raw === undefined) return null
    if (typeof raw === 'number') return Number.isFinite(raw) ? raw + 0 : undefined
    if (typeof raw === 'bigint') return Number(raw)
    if (typeof raw !== 'string') return undefined
    const text = raw.trim()
    if (text === '') return null
    const plain = read === null ? text : (read(text) ?? '')
    if (!DECIMAL.test(plain)) return undefined
    const value = Number(plain)
    return Number.isFinite(value) ? value + 0 : undefined
  }
}

/** A boolean with custom words: `Oui/Non`, the one for true first; case-insensitive. */
function booleanConverter(format: string): Converter {
  const [yes, no, ...more] = format.split('/').map(word => word.trim().toLowerCase())
  if (yes === undefined || no === undefined || yes === '' || no === '' || yes === no || more.length > 0)
    throw misconfigured(
      `The format of a boolean is two words, not ${JSON.stringify(format)}.`,
      "format: 'Oui/Non', the word for true first",
      'format',
    )
  return raw => {
    if (raw === null || raw === undefined || typeof raw === 'boolean') return raw ?? null
    if (typeof raw !== 'string' && typeof raw !== 'number') return undefined
    const word = String(raw).trim().toLowerCase()
    return word === '' ? null : word === yes ? true : word === no ? false : undefined
  }
}

function pointConverter(format: string): Converter {
  const order = format.replace(/\s/g, '').toLowerCase()
  if (order === 'lat,lon' || order === 'lon,lat') return coordinateConverter(order as CoordinateOrder)
  throw misconfigured(
    `The format of a geo_point_2d is the order of its coordinates, not ${JSON.stringify(format)}.`,
    "format: 'lat,lon' or 'lon,lat'",
    'format',
  )
}

/** A converter of positions for which geometries of any kind without positions are null. */
function nullIfEmpty(convert: Converter): Converter {
  return raw => {
    const point = convert(raw)
    return point === undefined && toGeoShape(raw) === null ? null : point
  }
}

function toBoolean(raw: unknown): boolean | null | undefined {
  if (raw === null || raw === undefined || typeof raw === 'boolean') return raw ?? null
  if (typeof raw !== 'string' && typeof raw !== 'number') return undefined
  const word = String(raw).trim().toLowerCase()
  if (word === '') return null
  return TRUE.includes(word) ? true : FALSE.includes(word) ? false : undefined
}

function isoText(date: Date): string | undefined {
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/** Undefined for what JSON cannot represent: cycles, functions, infinite nesting. */
function jsonText(value: object): string | undefined {
  try {
    return toText(exactJson(value)) ?? undefined
  } catch {
    return undefined
  }
}

function withoutFormat(type: FieldType, format: string | undefined, converter: Converter): Converter {
  if (format === undefined) return converter
  throw misconfigured(`A field of type ${type} has no format.`, undefined, 'format')
}
