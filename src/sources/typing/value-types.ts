import { integerValue } from '../../model/exact-json.ts'
import { FIELD_TYPES, type FieldType } from '../../model/field.ts'
import { isGeometryLike, toGeoPoint, toGeoShape } from '../../model/geometry.ts'
import { coordinatePair } from './coordinates.ts'
import { filledWidth, type GridCell, type GridRow, isFilled } from './grid-cells.ts'
import { writtenNumber } from './number-format.ts'
import { dateConverter, datetimeConverter } from './temporal.ts'
import { meansNothing } from './words.ts'

/** Sets of field types, a bit each in the order of FIELD_TYPES. */
export const ALL_TYPES = (1 << FIELD_TYPES.length) - 1

/** The set of text alone, which fits every value. */
export const TEXT = setOf('text')

const INT = setOf('int', 'double', 'text')
const DOUBLE = setOf('double', 'text')
const BOOLEAN = setOf('boolean', 'text')
const DATE = setOf('date', 'datetime', 'text')
const DATETIME = setOf('datetime', 'text')
const POINT = setOf('geo_point_2d', 'geo_shape', 'text')
const POSITION = setOf('geo_point_2d', 'text')
const SHAPE = setOf('geo_shape', 'text')
const GEO = POINT & ~TEXT

/** The sets of numeric types, without text. */
export const INT_TYPES = INT & ~TEXT

const INT_TEXT = /^-?(?:0|[1-9]\d{0,14})$/
const DECIMAL_TEXT = /^-?(?:0|[1-9]\d{0,14})?(?:\.\d*(?:e[+-]?\d+)?|e[+-]\d+)?$/i
const DATE_TEXT = /^\d{4}[-/]\d\d[-/]\d\d$/
const DATETIME_TEXT = /^\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:/i
const PAIR_TEXT = /^-?\d+(\.\d+)?\s*,\s*-?\d+(\.\d+)?$/
const SHAPE_TEXT =
  /^(?:\{[\s\S]*"type"|(?:SRID=\d+;\s*)?(?:MULTI)?(?:POINT|LINESTRING|POLYGON|GEOMETRYCOLLECTION)[ZM\s(])/i
/** Well-known binary in hexadecimal digits, as PostGIS writes it: the order of bytes, then one of seven kinds with its flags. */
const BINARY_SHAPE = /^0(?:10[1-7]0000[02468ace]0|0[02468ace]000000[1-7])(?:[0-9a-f]{2}){4,}$/i
const POSITION_TEXT =
  /^\{\s*"(?:lat|lon|lng|latitude|longitude)"\s*:[^{}[\],]{1,40},\s*"(?:lat|lon|lng|latitude|longitude)"\s*:[^{}[\],]{1,40}\}$/
const POINT_NAME =
  /(?:^|[^a-z])(?:geo|geom|point|coords?|coordinates?|location|position|lat_?lo?ng?)(?![a-z])/i

const toDate = dateConverter(undefined, 'UTC')
const toDatetime = datetimeConverter(undefined, 'UTC')

/** The possible types of a value. */
interface ValueTypes {
  /** The set of types that fit it. */
  readonly types: number
  /** True if it is certainly a position; false for `1,5`, which may also be a decimal number. */
  readonly isPosition: boolean
}

/**
 * The types that a value fits for inference, which is stricter than conversion.
 *
 * @param required relevant types: others need not be checked
 * @param suggestsPoint whether `lat,lon` text may be a position according to the name of the column
 */
export function typesOf(value: unknown, required: number, suggestsPoint: boolean): ValueTypes {
  switch (typeof value) {
    case 'boolean':
      return plain(BOOLEAN)
    case 'number':
      return plain(Number.isSafeInteger(value) ? INT : DOUBLE)
    case 'bigint':
      return plain(integerValue(value) === undefined ? DOUBLE : INT)
    case 'string':
      return typesOfText(value.trim(), required, suggestsPoint)
    case 'object':
      return value instanceof Date ? plain(DATETIME) : typesOfGeometry(value)
    default:
      return plain(TEXT)
  }
}

/** True for an integer with more digits than the numeric field types can represent. */
export function isBeyondNumbers(value: unknown): boolean {
  return typeof value === 'bigint' && integerValue(value) === undefined && BigInt(Number(value)) !== value
}

/** True for an object with its own members, which only text can represent completely. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date)
    return false
  const object = value as Readonly<Record<string, unknown>>
  return !isGeometryLike(object) && !isPositionLike(object) && !isFeatureLike(object)
}

/** True for an array that a multivalued text can represent. */
export function isListOfScalars(values: readonly unknown[]): boolean {
  return values.every(value => typeof value !== 'object' || value === null)
}

/** True for a text that is written as a geometry, whether it is a valid one or not. */
export function isGeometryText(text: string): boolean {
  return SHAPE_TEXT.test(text) || BINARY_SHAPE.test(text)
}

/** True for the name of a column that may contain positions: geo, point, coordinates, location … as a separate word. */
export function nameSuggestsPoint(name: string): boolean {
  return POINT_NAME.test(name.replace(/([a-z])([A-Z])/g, '$1_$2'))
}

function typesOfText(text: string, required: number, suggestsPoint: boolean): ValueTypes {
  if (text === '') return plain(ALL_TYPES)
  if (required & INT & ~TEXT) {
    if (INT_TEXT.test(text)) return plain(INT)
    if (DECIMAL_TEXT.test(text) && /\d/.test(text) && Number.isFinite(Number(text))) return plain(DOUBLE)
  }
  if (required & BOOLEAN & ~TEXT && /^(?:true|false)$/i.test(text)) return plain(BOOLEAN)
  if (required & DATE & ~TEXT) {
    if (DATE_TEXT.test(text)) return plain(isValue(toDate(text)) ? DATE : TEXT)
    if (DATETIME_TEXT.test(text)) return plain(isValue(toDatetime(text)) ? DATETIME : TEXT)
  }
  if (required & GEO) {
    const pair = suggestsPoint ? PAIR_TEXT.exec(text) : null
    if (pair !== null && isValue(toGeoPoint(text)))
      return { types: POSITION, isPosition: pair[1] !== undefined && pair[2] !== undefined }
    if (isGeometryText(text)) return typesOfGeometry(text)
    if (POSITION_TEXT.test(text) && isValue(toGeoPoint(text))) return { types: POSITION, isPosition: true }
  }
  return plain(TEXT)
}

function typesOfGeometry(value: unknown): ValueTypes {
  const isPosition = isValue(toGeoPoint(value))
  const shape = toGeoShape(value)
  // A geometry without positions is no value, and fits points as well as shapes (RFC 7946, section 3.1).
  if (shape === null) return plain(POINT)
  const isShape = isValue(shape)
  return { types: isPosition && isShape ? POINT : isPosition ? POSITION : isShape ? SHAPE : TEXT, isPosition }
}

/** True for a GeoJSON feature, as in exported shapes. */
function isFeatureLike({ type, geometry }: Readonly<Record<string, unknown>>): boolean {
  const shape = geometry as Readonly<Record<string, unknown>> | null | undefined
  return type === 'Feature' && typeof shape === 'object' && shape !== null && isGeometryLike(shape)
}

function isPositionLike(object: Readonly<Record<string, unknown>>): boolean {
  const names = Object.keys(object)
  return names.length === 2 && names.every(name => /^(?:lat|lon|lng|latitude|longitude)$/.test(name))
    ? isValue(toGeoPoint(object))
    : false
}

function isValue(value: unknown): boolean {
  return value !== null && value !== undefined
}

function plain(types: number): ValueTypes {
  return { types, isPosition: false }
}

function setOf(...types: readonly FieldType[]): number {
  return types.reduce((set, type) => set | (1 << FIELD_TYPES.indexOf(type)), 0)
}

/** True for a cell with a number, day, position or the like. */
export function isTyped(cell: GridCell | undefined): boolean {
  if (typeof cell !== 'string') return cell !== null && cell !== undefined
  const text = cell.trim()
  if (text === '' || /^(?:true|false)$/i.test(text)) return false
  if (/^\{|^(?:MULTI)?(?:POINT|POLYGON|LINESTRING)\s*\(/i.test(text)) return true
  if (/^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ]|$)/.test(text)) return true
  if (/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text)) return true
  if (/^https?:\/\/\S+$/i.test(text) || /^[^@\s]+@[^@\s]+\.[a-z]{2,}$/i.test(text)) return true
  const { types } = typesOf(text, 0xffff, false)
  return (
    types !== typesOf('x', 0xffff, false).types ||
    writtenNumber(text) !== undefined ||
    coordinatePair(text) !== undefined
  )
}

/** Columns in which nearly all values have a type. */
export function typedColumns(rows: readonly GridRow[]): readonly number[] {
  const width = Math.max(0, ...rows.map(({ cells }) => cells.length))
  return Array.from({ length: width }, (_, at) => at).filter(at => {
    const values = rows.map(({ cells }) => cells[at]).filter(isFilled) as GridCell[]
    return values.length >= rows.length / 2 && values.filter(isTyped).length >= values.length * 0.9
  })
}

/** True for a text that is no typed value, and no word for a missing value. */
export function isWord(cell: GridCell | undefined): boolean {
  return typeof cell === 'string' && isFilled(cell) && !isTyped(cell) && !meansNothing(cell.trim())
}

/** The most frequent number of columns of a row. */
export function defaultWidth(rows: readonly GridRow[]): number {
  const counts = new Map<number, number>()
  for (const { cells } of rows) {
    const width = filledWidth(cells)
    counts.set(width, (counts.get(width) ?? 0) + 1)
  }
  let best = 1
  for (const [width, count] of counts) {
    const known = counts.get(best) ?? 0
    if (count > known || (count === known && width > best)) best = width
  }
  return best
}
