import type { FieldType } from '../model/field.ts'
import { numberText } from '../model/number.ts'
import type { Geometry, GeoPoint, Value } from '../model/value.ts'
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
      return value => numberText(value as number)
    case 'boolean':
    case 'date':
    case 'datetime':
      return value => String(value)
    case 'geo_point_2d':
      return value => `POINT(${numberText((value as GeoPoint).lon)} ${numberText((value as GeoPoint).lat)})`
    case 'geo_shape':
      return value => wkt(value as Geometry)
    default:
      return type satisfies never
  }
}

/** What ends a natural literal: the quote and the datatype. */
export function naturalEnd(type: FieldType): string {
  return literalEnd(DATATYPES[type])
}

/** A GeoJSON geometry as WKT (OGC Simple Features, section 7). */
export function wkt(geometry: Geometry): string {
  if (geometry.type === 'GeometryCollection') {
    const parts = geometry.geometries.map(wkt)
    return `GEOMETRYCOLLECTION${parts.length === 0 ? ' EMPTY' : `(${parts.join(', ')})`}`
  }
  const name = geometry.type.toUpperCase()
  if (geometry.coordinates.length === 0) return `${name} EMPTY`
  if (geometry.type === 'Point') return `${name}(${position(geometry.coordinates)})`
  return `${name}${nested(geometry.coordinates)}`
}

function nested(coordinates: readonly unknown[]): string {
  const parts = coordinates.map(part => {
    const list = part as readonly unknown[]
    return typeof list[0] === 'number' ? position(list) : nested(list)
  })
  return `(${parts.join(', ')})`
}

function position(coordinates: readonly unknown[]): string {
  return `${numberText(coordinates[0] as number)} ${numberText(coordinates[1] as number)}`
}
