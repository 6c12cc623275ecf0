import type { FieldType } from '../model/field.ts'
import { numberText } from '../model/number.ts'
import type { Geometry, GeoPoint, Value } from '../model/value.ts'
import { wktText } from '../model/wkt.ts'
import { escapeText, literalEnd } from '../rdf/ntriples.ts'
import { GEO, XSD } from '../rdf/vocab.ts'

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

/** Writes the lexical form of one value of a field type, escaped for N-Triples; geometry becomes WKT, lon before lat. */
export function naturalText(type: FieldType): (value: NonNullable<Value>) => string {
  switch (type) {
    case 'text':
      return value => escapeText(value as string)
    case 'int':
    case 'double':
      return value => numberText(value as number | bigint)
    case 'boolean':
    case 'date':
    case 'datetime':
      return value => String(value)
    case 'geo_point_2d':
      return value => `POINT(${numberText((value as GeoPoint).lon)} ${numberText((value as GeoPoint).lat)})`
    case 'geo_shape':
      return value => wktText(value as Geometry)
    default:
      return type satisfies never
  }
}

/** What ends a natural literal: the quote and the datatype. */
export function naturalEnd(type: FieldType): string {
  return literalEnd(DATATYPES[type])
}
