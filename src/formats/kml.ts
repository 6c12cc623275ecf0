import type { FieldType } from '../model/field.ts'
import { lookup } from '../model/lookup.ts'
import type { Coordinates, Geometry } from '../model/value.ts'
import { distinctNames, XML_DECLARATION, xmlAttribute, xmlDecimal, xmlText } from '../model/xml.ts'
import { cellText } from './csv.ts'
import { geometryColumn, rowGeometry } from './json.ts'
import { columnName, type ExportOptions, type Table, type TableColumn, type TableRow } from './table.ts'

/** Types of `SimpleField`. A KML int has 32 bits in many readers; a double represents all our integers. */
const TYPES: Readonly<Partial<Record<FieldType, string>>> = {
  int: 'double',
  double: 'double',
  boolean: 'bool',
}

/**
 * Writes KML 2.2 (OGC 07-147r2): a Placemark a row, its name the first text, its geometry that of the first shape, else of the
 * first point, and the other columns as `SchemaData` with the types of a `Schema`; null has no element.
 */
export async function* kml(table: Table, options: ExportOptions): AsyncGenerator<string> {
  const geometry = geometryColumn(table.columns)
  const title = table.columns.find(({ type }) => type === 'text')
  const others = table.columns.filter(column => column !== geometry)
  const names = distinctNames(others.map(column => columnName(column, options))).map(xmlAttribute)
  const data = others.map((column, index) => ({ column, tag: `<SimpleData name="${names[index]}">` }))
  const placemark = (row: TableRow) =>
    `<Placemark>${element('name', row, title, options)}${extendedData(row, data, options)}` +
    `${geometryXml(rowGeometry(row, geometry))}</Placemark>\n`
  const fields = others.map(
    ({ type, label }, index) =>
      `<SimpleField type="${TYPES[type] ?? 'string'}" name="${names[index]}">` +
      `<displayName>${xmlText(label)}</displayName></SimpleField>\n`,
  )
  yield `${XML_DECLARATION}<kml xmlns="http://www.opengis.net/kml/2.2">\n<Document>\n` +
    `<name>${xmlText(table.title)}</name>\n` +
    `<Schema name="${xmlAttribute(table.name)}" id="columns">\n${fields.join('')}</Schema>\n`
  for await (const rows of table.rows) if (rows.length > 0) yield rows.map(placemark).join('')
  yield '</Document>\n</kml>\n'
}

function element(
  name: string,
  row: TableRow,
  column: TableColumn | undefined,
  options: ExportOptions,
): string {
  const text = column === undefined ? '' : cellText(lookup(row, column.key), column, options.listSeparator)
  return text === '' ? '' : `<${name}>${xmlText(text)}</${name}>`
}

function extendedData(
  row: TableRow,
  columns: readonly { readonly column: TableColumn; readonly tag: string }[],
  { listSeparator }: ExportOptions,
): string {
  let data = ''
  for (const { column, tag } of columns) {
    const value = lookup(row, column.key) ?? null
    if (value !== null) data += `${tag}${xmlText(simpleText(value, column, listSeparator))}</SimpleData>`
  }
  return data === ''
    ? ''
    : `<ExtendedData><SchemaData schemaUrl="#columns">${data}</SchemaData></ExtendedData>`
}

/** A boolean is 1 or 0: `xs:boolean` has both forms, and every reader supports this one. */
function simpleText(value: unknown, column: TableColumn, listSeparator: string): string {
  return typeof value === 'boolean' ? String(Number(value)) : cellText(value, column, listSeparator)
}

/** A geometry as KML (section 10); nothing if there is none, or if it has no positions. */
function geometryXml(geometry: Geometry | null): string {
  if (geometry === null) return ''
  if (geometry.type === 'GeometryCollection') return multi(geometry.geometries.map(geometryXml))
  const { coordinates, type } = geometry
  const inner = coordinates as readonly Coordinates[]
  if (coordinates.length === 0) return ''
  if (type === 'Point') return point(coordinates)
  if (type === 'LineString') return line(coordinates)
  if (type === 'Polygon') return polygon(coordinates)
  if (type === 'MultiPoint') return multi(inner.map(point))
  return multi(inner.map(type === 'MultiLineString' ? line : polygon))
}

const multi = (parts: readonly string[]) => `<MultiGeometry>${parts.join('')}</MultiGeometry>`
const point = (position: Coordinates) => `<Point>${coordinatesXml([position])}</Point>`
const line = (positions: Coordinates) => `<LineString>${coordinatesXml(positions)}</LineString>`

function polygon(rings: Coordinates): string {
  return `<Polygon>${rings.map(boundary).join('')}</Polygon>`
}

function boundary(ring: number | Coordinates, index: number): string {
  const name = index === 0 ? 'outerBoundaryIs' : 'innerBoundaryIs'
  return `<${name}><LinearRing>${coordinatesXml(ring as Coordinates)}</LinearRing></${name}>`
}

/** Longitude, latitude and optionally height, separated by commas; positions separated by blanks. */
function coordinatesXml(positions: Coordinates): string {
  const position = (it: number | Coordinates) =>
    (it as readonly number[]).slice(0, 3).map(xmlDecimal).join(',')
  return `<coordinates>${positions.map(position).join(' ')}</coordinates>`
}
