import { lookup } from '../model/lookup.ts'
import type { Coordinates, Geometry } from '../model/value.ts'
import { distinctNames, XML_DECLARATION, xmlDecimal, xmlName, xmlText } from '../model/xml.ts'
import { cellText } from './csv.ts'
import { geometryColumn, rowGeometry } from './json.ts'
import { columnName, type ExportOptions, type Table, type TableColumn, type TableRow } from './table.ts'

/** The namespace of the elements for columns. */
const COLUMNS = 'urn:lodestone:columns'

/** Longitude, latitude and optionally height. */
type Position = readonly number[]

/**
 * Writes GPX 1.1. The geometry of a row is that of the first shape, else of the first point: a point is a waypoint, anything else
 * a track with a segment for each line, ring or further point. GPX has all waypoints before the first track, so that after the
 * first track, points are tracks of one point too. A row without geometry is left out, because a waypoint requires one. Columns
 * are lines of `desc`, or elements of `extensions`.
 */
export async function* gpx(table: Table, options: ExportOptions): AsyncGenerator<string> {
  const geometry = geometryColumn(table.columns)
  const info = describer(table.columns, geometry, options)
  let tracks = false
  const element = (row: TableRow) => {
    const segments = segmentsOf(rowGeometry(row, geometry))
    const first = segments[0]?.[0]
    if (first === undefined) return ''
    tracks ||= segments.length > 1 || segments[0]?.length !== 1
    return tracks ? track(segments, info(row)) : `${point('wpt', first, info(row))}\n`
  }
  yield `${XML_DECLARATION}<gpx xmlns="http://www.topografix.com/GPX/1/1" xmlns:c="${COLUMNS}" version="1.1" ` +
    `creator="Lodestone">\n<metadata><name>${xmlText(table.title)}</name></metadata>\n`
  for await (const rows of table.rows) {
    const text = rows.map(element).join('')
    if (text !== '') yield text
  }
  yield '</gpx>\n'
}

/** Writes the details of a row: its name, and its columns as description or extensions, in schema order. */
function describer(
  columns: readonly TableColumn[],
  geometry: TableColumn | undefined,
  options: ExportOptions,
) {
  const { nameField, listSeparator, useExtension } = options
  const title = columns.find(({ key, type }) => (nameField === null ? type === 'text' : key === nameField))
  const described = describedColumns(columns, geometry, options)
  const text = (row: TableRow, column: TableColumn) =>
    cellText(lookup(row, column.key), column, listSeparator)
  const values = (row: TableRow) =>
    described
      .map(({ column, name }) => ({ name, value: text(row, column) }))
      .filter(({ value }) => value !== '')
  return (row: TableRow) => {
    const name = title === undefined ? '' : text(row, title)
    const said = useExtension ? extensions(values(row)) : description(values(row))
    return `${name === '' ? '' : `<name>${xmlText(name)}</name>`}${said}`
  }
}

function describedColumns(
  columns: readonly TableColumn[],
  geometry: TableColumn | undefined,
  options: ExportOptions,
) {
  const { descriptionFields, useExtension } = options
  const chosen =
    descriptionFields === null
      ? columns.filter(column => column !== geometry)
      : descriptionFields.flatMap(key => columns.find(column => column.key === key) ?? [])
  const names = chosen.map(column => columnName(column, options))
  const shown = useExtension ? distinctNames(names.map(xmlName)) : names
  return chosen.map((column, index) => ({ column, name: shown[index] ?? column.key }))
}

interface NamedText {
  readonly name: string
  readonly value: string
}

function description(values: readonly NamedText[]): string {
  const lines = values.map(({ name, value }) => `${name}: ${value}`)
  return lines.length === 0 ? '' : `<desc>${xmlText(lines.join('\n'))}</desc>`
}

function extensions(values: readonly NamedText[]): string {
  const elements = values.map(({ name, value }) => `<c:${name}>${xmlText(value)}</c:${name}>`)
  return elements.length === 0 ? '' : `<extensions>${elements.join('')}</extensions>`
}

function track(segments: readonly (readonly Position[])[], info: string): string {
  const segment = (positions: readonly Position[]) =>
    `<trkseg>${positions.map(position => point('trkpt', position, '')).join('')}</trkseg>`
  return `<trk>${info}${segments.map(segment).join('')}</trk>\n`
}

/** A position; the schema requires longitudes from -180 to below 180. */
function point(name: 'wpt' | 'trkpt', [lon = 0, lat = 0, height]: Position, info: string): string {
  const turned = lon >= -180 && lon < 180 ? lon : ((((lon + 180) % 360) + 360) % 360) - 180
  const start = `<${name} lat="${xmlDecimal(lat)}" lon="${xmlDecimal(turned)}"`
  const content = (height === undefined ? '' : `<ele>${xmlDecimal(height)}</ele>`) + info
  return content === '' ? `${start}/>` : `${start}>${content}</${name}>`
}

/** The lines of a geometry: each point a line of one position, each ring a line. */
function segmentsOf(geometry: Geometry | null): readonly (readonly Position[])[] {
  if (geometry === null) return []
  if (geometry.type === 'GeometryCollection') return geometry.geometries.flatMap(segmentsOf)
  return linesOf(geometry.type, geometry.coordinates).filter(line => line.length > 0)
}

function linesOf(
  type: Exclude<Geometry['type'], 'GeometryCollection'>,
  coordinates: Coordinates,
): readonly (readonly Position[])[] {
  if (coordinates.length === 0) return []
  if (type === 'Point') return [[coordinates as Position]]
  if (type === 'LineString') return [coordinates as readonly Position[]]
  if (type === 'MultiPoint') return coordinates.map(position => [position as Position])
  const lines = coordinates as readonly (readonly Position[])[]
  return type === 'MultiPolygon' ? (lines.flat() as unknown as readonly (readonly Position[])[]) : lines
}
