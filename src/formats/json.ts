import { exactJson } from '../model/exact-json.ts'
import { lookup } from '../model/lookup.ts'
import { inOrder, losesOrder } from '../model/member-order.ts'
import type { Geometry } from '../model/value.ts'
import { projectGeometry, projector, WGS84 } from './projection.ts'
import {
  distinctColumnNames,
  type ExportOptions,
  millisecondsOf,
  type Table,
  type TableColumn,
  type TableRow,
} from './table.ts'

/** The column with the geometry of a row: the first shape, else the first point. */
export function geometryColumn(columns: readonly TableColumn[]): TableColumn | undefined {
  return (
    columns.find(({ type }) => type === 'geo_shape') ?? columns.find(({ type }) => type === 'geo_point_2d')
  )
}

/** The geometry of a value of a geometry column; null for none. */
export function geometryOf(value: unknown): Geometry | null {
  if (typeof value !== 'object' || value === null) return null
  if ('geometry' in value) return value.geometry as Geometry
  if ('lon' in value && 'lat' in value)
    return { type: 'Point', coordinates: [Number(value.lon), Number(value.lat)] }
  return null
}

/** The geometry of a row; null for none. */
export function rowGeometry(row: TableRow, column: TableColumn | undefined): Geometry | null {
  return column === undefined ? null : geometryOf(lookup(row, column.key))
}

/**
 * Writes a GeoJSON feature collection (RFC 7946): the geometry of a feature is that of the first shape, else of the first
 * point, and its properties are the other columns (REST 6.4).
 */
export async function* geojson(table: Table, options: ExportOptions): AsyncGenerator<string> {
  const geometry = geometryColumn(table.columns)
  const others = table.columns.filter(column => column !== geometry)
  const names = distinctColumnNames(others, options)
  const project = options.epsg === WGS84 ? null : projector(options.epsg)
  const shown = (row: TableRow) => {
    const own = rowGeometry(row, geometry)
    return own === null || project === null ? own : projectGeometry(own, project)
  }
  const feature = (row: TableRow) =>
    exactJson({
      type: 'Feature',
      geometry: shown(row),
      properties: inOrder(names, (_, index) => {
        const column = others[index] as TableColumn
        return propertyOf(lookup(row, column.key) ?? null, column, options)
      }),
    })
  const head = `{"type":"FeatureCollection",${project === null ? '' : `${systemOf(options.epsg)},`}"features":[\n`
  let before = head
  for await (const rows of table.rows) {
    if (rows.length === 0) continue
    yield before + rows.map(feature).join(',\n')
    before = ',\n'
  }
  yield before === ',\n' ? '\n]}\n' : `${before}]}\n`
}

/** The member `crs` for other coordinates, as in the format before RFC 7946, which has no replacement. */
function systemOf(epsg: number): string {
  const crs = { type: 'name', properties: { name: `urn:ogc:def:crs:EPSG::${epsg}` } }
  return `"crs":${JSON.stringify(crs)}`
}

function propertyOf(value: unknown, { type }: TableColumn, { numericDates }: ExportOptions): unknown {
  if (!numericDates || typeof value !== 'string') return value
  return type === 'datetime' || type === 'date' ? millisecondsOf(value) : value
}

/** Writes one JSON object a line (JSON Lines). */
export async function* jsonl(table: Table, options: ExportOptions): AsyncGenerator<string> {
  const shown = renamed(table, options)
  for await (const rows of table.rows) {
    if (rows.length > 0) yield rows.map(row => `${exactJson(shown(row))}\n`).join('')
  }
}

/** Writes one JSON array, one row a line. */
export function json(table: Table, options: ExportOptions): AsyncGenerator<string> {
  return jsonArray(table.rows, renamed(table, options))
}

/** Renames the members of rows to the labels of their columns, if requested, and keeps them in the order of the columns. */
function renamed(table: Table, options: ExportOptions): (row: TableRow) => TableRow {
  const names = distinctColumnNames(table.columns, options)
  if (!options.useLabels && !losesOrder(names)) return row => row
  return row => inOrder(names, (_, index) => lookup(row, table.columns[index]?.key ?? ''))
}

/** Writes rows as one JSON array, one a line, in pieces as the rows come. @param shown what is written of a row; all by default */
export async function* jsonArray<Row>(
  rows: AsyncIterable<readonly Row[]>,
  shown: (row: Row) => unknown = row => row,
): AsyncGenerator<string> {
  let before = '['
  for await (const piece of rows) {
    if (piece.length === 0) continue
    yield before + piece.map(row => exactJson(shown(row))).join(',\n')
    before = ',\n'
  }
  yield before === '[' ? '[]' : ']'
}
