import type { Field, FieldType } from '../model/field.ts'
import { numberText } from '../model/number.ts'
import type { Geometry, GeoPoint, Value } from '../model/value.ts'
import { wktText } from '../model/wkt.ts'
import { escapeText, literalEnd } from '../rdf/ntriples.ts'
import { GEO, XSD } from '../rdf/vocab.ts'

/** A column that a mapping may refer to: a field of a dataset, or a column whose values each have their own type. */
export interface MappingColumn extends Pick<Field, 'name' | 'multivalued'> {
  /** `any` for JSON values: text, numbers and booleans, arrays for several. */
  readonly type: FieldType | 'any'
}

/** One present value: an element of a multivalued field. */
export type ScalarColumn = Exclude<NonNullable<Value>, readonly string[]>

/** How a mapping reads a column. */
export interface ColumnReader {
  /** Index in the values of a record. */
  readonly index: number
  /** True if a record may have several values. */
  readonly several: boolean
  /** The text of a value in templates, and in literals with a datatype; null for a value without text. */
  readonly text: (value: ScalarColumn) => string | null
  /** The literal of a value by its own type, in N-Triples; null for a value without literal. */
  readonly literal: (value: ScalarColumn) => string | null
  /** Escaped lexical form and suffix of the literals of a column with one type; null for `any`. */
  readonly natural: { readonly text: (value: ScalarColumn) => string; readonly end: string } | null
}

/** Name of the reference to the id of the record, in datasets without a field of that name. */
export const RECORD_ID = 'recordid'

/** Finds the reader of a column by name; null if there is no such column. */
export function columnReader(columns: readonly MappingColumn[], name: string): ColumnReader | null {
  const index = columns.findIndex(column => column.name === name)
  const column = columns[index]
  if (column === undefined) return null
  const { type } = column
  if (type === 'any') return { index, several: true, text: anyText, literal: anyLiteral, natural: null }
  const natural = { text: naturalText(type), end: naturalEnd(type) }
  return {
    index,
    several: column.multivalued,
    text: plainText(type),
    literal: value => `"${natural.text(value)}${natural.end}`,
    natural,
  }
}

/** Writes the lexical form of one value of a field type; geometry becomes WKT, lon before lat. */
function plainText(type: FieldType): (value: ScalarColumn) => string {
  switch (type) {
    case 'text':
    case 'date':
    case 'datetime':
    case 'boolean':
      return String
    case 'int':
    case 'double':
      return value => numberText(value as number | bigint)
    case 'geo_point_2d':
      return value => `POINT(${numberText((value as GeoPoint).lon)} ${numberText((value as GeoPoint).lat)})`
    case 'geo_shape':
      return value => wktText(value as Geometry)
  }
}

function anyText(value: ScalarColumn | bigint): string | null {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  return typeof value === 'number' ? jsonNumber(value) : null
}

/** Numbers without a fraction are integers, others are doubles (RML-IO registry, "JSON": natural datatypes). */
function anyLiteral(value: ScalarColumn | bigint): string | null {
  if (typeof value === 'string') return `"${escapeText(value)}"`
  if (typeof value === 'boolean') return `"${value}"^^<${XSD.boolean}>`
  if (typeof value === 'bigint') return `"${value}"^^<${XSD.integer}>`
  if (typeof value !== 'number') return null
  return Number.isInteger(value)
    ? `"${jsonNumber(value)}"^^<${XSD.integer}>`
    : `"${scientific(value)}"^^<${XSD.double}>`
}

/** The canonical form of a double: `1.5E0` (XML Schema Part 2, section 3.2.5.2). */
function scientific(value: number): string {
  const text = value.toExponential()
  const end = text.indexOf('e')
  const exponent = text.slice(text[end + 1] === '+' ? end + 2 : end + 1)
  return `${text.slice(0, end)}${text.lastIndexOf('.', end) < 0 ? '.0' : ''}E${exponent}`
}

function jsonNumber(value: number): string {
  return numberText(Object.is(value, -0) ? 0 : value)
}

const DATATYPES: Readonly<Record<FieldType, string>> = {
  text: XSD.string,
  int: XSD.integer,
  double: XSD.double,
  boolean: XSD.boolean,
  date: XSD.date,
  datetime: XSD.dateTime,
  geo_point_2d: GEO.wktLiteral,
  geo_shape: GEO.wktLiteral,
}

/** The datatype of the literals of a field type. */
export function naturalDatatype(type: FieldType): string {
  return DATATYPES[type]
}

/** Writes the lexical form of one value of a field type, escaped for N-Triples. */
export function naturalText(type: FieldType): (value: ScalarColumn) => string {
  return type === 'text' ? value => escapeText(value as string) : plainText(type)
}

/** The suffix of a natural literal: the quote and the datatype. */
export function naturalEnd(type: FieldType): string {
  return literalEnd(DATATYPES[type])
}
