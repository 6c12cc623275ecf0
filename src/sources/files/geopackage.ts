import Libsql from 'libsql'
import { Fault } from '../../errors/errors.ts'
import { lookup, setMember } from '../../model/lookup.ts'
import { parseWkb } from '../../model/wkb.ts'
import type { DataFile } from '../data-file.ts'
import {
  DatumWarnings,
  type LayerSystem,
  type RawGeometry,
  reprojected,
  type Unprojector,
  unprojectorOfLayer,
} from '../reference-system.ts'
import {
  BATCH_ROWS,
  DAMAGED,
  inPieces,
  misconfigured,
  type RecordSource,
  type SourceRow,
  undecided,
  unreadable,
} from '../source.ts'

/** A table of a GeoPackage, or of another SQLite database. */
interface Layer {
  readonly name: string
  /** Its geometry column, and their reference system. */
  readonly geometry: { readonly column: string; readonly system: LayerSystem } | null
}

/**
 * One layer of an OGC GeoPackage (OGC 12-128r18), or one table of another SQLite database: its columns, the geometries in
 * degrees. The file is opened read-only.
 *
 * @param layer its name; the only one by default
 */
export function geopackageSource(data: DataFile, layer: string | number | undefined): RecordSource {
  const open = <T>(use: (database: Libsql.Database, path: string) => Iterable<T>) =>
    data.withBytes(async function* (_, path) {
      const database = connect(path, data.name)
      try {
        yield* use(database, path)
      } catch (error) {
        if (error instanceof Fault) throw error
        throw unreadable(
          `The database cannot be read: ${(error as Error).message}.`,
          { file: data.name },
          DAMAGED,
          error,
        )
      } finally {
        database.close()
      }
    })
  const binary = new Map<string, number>()
  const datum = new DatumWarnings()
  return {
    name: data.name,
    textual: false,
    read: () => {
      binary.clear()
      return open(database =>
        readLayer(database, chooseLayer(database, layer, data.name), data.name, { binary, datum }),
      )
    },
    warnings: () => [
      ...datum.all(),
      ...[...binary].map(
        ([column, count]) => `binary values in the column ${column} were read as no value: ${count}`,
      ),
    ],
  }
}

function connect(path: string, file: string): Libsql.Database {
  try {
    const database = new Libsql(path, { readonly: true, fileMustExist: true } as Libsql.Options)
    // Views, triggers and defaults of the file must not call functions.
    database.exec('PRAGMA trusted_schema = OFF')
    database.exec('PRAGMA query_only = ON')
    return database
  } catch (error) {
    throw unreadable(`The database cannot be opened: ${(error as Error).message}.`, { file }, DAMAGED, error)
  }
}

/** Tables of SpatiaLite, and of GDAL where it writes SQLite, about the others. */
const ABOUT = /^(?:(?:v\w+_)?geometry_columns|spatial_ref_sys|spatialite_|sql_statements|data_licenses)/i

function layersOf(database: Libsql.Database): readonly Layer[] {
  const tables = all(
    database,
    // Virtual tables and those that they keep are no layers; of SpatiaLite they need a module that is not there.
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  )
  const names = new Set(tables.map(({ name }) => String(name)).filter(name => !ABOUT.test(name)))
  if (!names.has('gpkg_contents')) return [...names].map(name => ({ name, geometry: null }))
  const contents = all(
    database,
    // QGIS stores the styles of layers in a table of that name.
    "SELECT table_name AS name FROM gpkg_contents WHERE data_type IN ('features', 'attributes') AND table_name <> 'layer_styles' ORDER BY table_name",
  )
  const geometries = names.has('gpkg_geometry_columns')
    ? all(
        database,
        `SELECT g.table_name AS name, g.column_name AS geometry, s.*
         FROM gpkg_geometry_columns g LEFT JOIN gpkg_spatial_ref_sys s ON s.srs_id = g.srs_id`,
      )
    : []
  return contents.map(({ name }) => {
    const found = geometries.find(it => it.name === name)
    const geometry = found === undefined ? null : { column: String(found.geometry), system: systemOf(found) }
    return { name: String(name), geometry }
  })
}

/** The system of a row of gpkg_spatial_ref_sys: neither code nor WKT where it is not defined. */
function systemOf(row: Readonly<Record<string, unknown>>): LayerSystem {
  const { organization, organization_coordsys_id: code, definition } = row
  return {
    code: String(organization ?? '').toUpperCase() === 'EPSG' ? Number(code) : 0,
    text: typeof definition === 'string' && definition.includes('[') ? definition : '',
  }
}

function chooseLayer(database: Libsql.Database, required: string | number | undefined, file: string): Layer {
  const layers = layersOf(database)
  const hasRows = ({ name }: Layer) =>
    all(database, `SELECT 1 AS found FROM ${identifier(name)} LIMIT 1`).length > 0
  const names = layers.map(({ name }) => name).join(', ')
  if (required !== undefined) {
    const found = layers.find(({ name }) => name === String(required))
    if (found !== undefined) return found
    throw misconfigured(
      `${file} has no layer ${JSON.stringify(required)}.`,
      `Layers: ${names}`,
      'options.sheet',
    )
  }
  const [first, ...more] = layers
  if (first === undefined)
    throw unreadable(
      'The database has no layers.',
      { file },
      'Publish a GeoPackage with a layer of features or attributes, or the table as CSV.',
    )
  if (more.length === 0) return first
  const [only, ...others] = layers.filter(hasRows)
  if (only !== undefined && others.length === 0) return only
  throw undecided(
    `The file has ${layers.length} layers, and one has to be chosen.`,
    'sheet',
    file,
    `options: { sheet: ${first.name} } (or --sheet). Layers: ${names}`,
  )
}

/** @param binary counts the values of columns that are lost, because they are bytes */
function* readLayer(
  database: Libsql.Database,
  layer: Layer,
  file: string,
  { binary, datum }: { readonly binary: Map<string, number>; readonly datum: DatumWarnings },
): Generator<readonly SourceRow[]> {
  const columns = all(database, 'SELECT name, type FROM pragma_table_info(?)', [layer.name]).map(
    ({ name, type }) => ({
      name: String(name),
      type: String(type).toUpperCase(),
    }),
  )
  const move = unprojectorOfLayer(layer.geometry?.system ?? { code: 0, text: '' }, 'layer', file)
  datum.note(move)
  const list = columns.map(({ name }) => identifier(name)).join(', ')
  const dataIn = (values: Readonly<Record<string, unknown>>) =>
    dataOf(values, columns, layer, move, file, binary)
  if (isWithoutRowid(database, layer.name)) {
    yield* rowsWithoutRowid(database, `SELECT ${list} FROM ${identifier(layer.name)}`, dataIn)
    return
  }
  const rowid = rowidOf(columns.map(({ name }) => name))
  const next = database.prepare(
    `SELECT ${rowid} AS "lodestone rowid", ${list} FROM ${identifier(layer.name)} WHERE ${rowid} > ? ORDER BY ${rowid} LIMIT ${BATCH_ROWS}`,
  )
  next.safeIntegers(true)
  let row = 0
  for (let last = -(2n ** 63n); ; ) {
    const found = next.all([last]) as Readonly<Record<string, unknown>>[]
    if (found.length === 0) break
    last = found.at(-1)?.['lodestone rowid'] as bigint
    for (const piece of inPieces(found, bytesIn))
      yield piece.map(values => ({ row: ++row, line: undefined, data: dataIn(values) }))
    if (found.length < BATCH_ROWS) break
  }
}

/** True for a table whose rows have no numbers, but are stored by their primary key, and for a view, which GeoPackages have as layers, too. */
function isWithoutRowid(database: Libsql.Database, name: string): boolean {
  const found = "SELECT 1 AS found FROM pragma_table_list(?) WHERE wr = 1 OR type = 'view'"
  return all(database, found, [name]).length > 0
}

function* rowsWithoutRowid(
  database: Libsql.Database,
  select: string,
  dataIn: (values: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): Generator<readonly SourceRow[]> {
  const page = database.prepare(`${select} LIMIT ${BATCH_ROWS} OFFSET ?`)
  page.safeIntegers(true)
  for (let row = 0; ; row += BATCH_ROWS) {
    const found = page.all([row]) as Readonly<Record<string, unknown>>[]
    if (found.length > 0)
      yield found.map((values, at) => ({ row: row + at + 1, line: undefined, data: dataIn(values) }))
    if (found.length < BATCH_ROWS) return
  }
}

/** The name of the row numbers of a table: a column of its own takes such a name away from them (SQLite, "ROWIDs"). */
function rowidOf(columns: readonly string[]): string {
  const taken = new Set(columns.map(name => name.toLowerCase()))
  return ['rowid', '_rowid_', 'oid'].find(name => !taken.has(name)) ?? 'rowid'
}

function dataOf(
  values: Readonly<Record<string, unknown>>,
  columns: readonly { readonly name: string; readonly type: string }[],
  { geometry }: Layer,
  move: Unprojector | null,
  file: string,
  binary: Map<string, number>,
): Readonly<Record<string, unknown>> {
  const data: Record<string, unknown> = {}
  for (const { name, type } of columns) {
    const value = lookup(values, name)
    const bytes = bytesOf(value)
    if (name !== geometry?.column) {
      if (bytes !== undefined) binary.set(name, (binary.get(name) ?? 0) + 1)
      setMember(data, name, bytes === undefined ? columnValue(value, type) : null)
    } else setMember(data, name, bytes === undefined ? null : geometryOf(bytes, move, file))
  }
  return data
}

function bytesIn(values: Readonly<Record<string, unknown>>): number {
  return Object.values(values).reduce((sum: number, value) => sum + (bytesOf(value)?.length ?? 0), 0)
}

/** Binary data, which the driver returns in different buffer types; undefined for other values. */
function bytesOf(value: unknown): Buffer | undefined {
  if (value instanceof ArrayBuffer) return Buffer.from(value)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return undefined
}

/** A value converted by the declared type of its column. */
function columnValue(value: unknown, type: string): unknown {
  if (typeof value !== 'bigint') return value
  if (type.startsWith('BOOL')) return value !== 0n
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(value)
    : value
}

const CURVES = 'Save it with straight lines: ogr2ogr -nlt CONVERT_TO_LINEAR straight.gpkg curves.gpkg'

/** True for the types of well-known binary with arcs (OGC 06-103r4, table 7). */
function isCurve(wkb: Buffer): boolean {
  if (wkb.length < 5) return false
  const code = wkb[0] === 1 ? wkb.readUInt32LE(1) : wkb.readUInt32BE(1)
  const kind = (code & 0xffff) % 1000
  return kind >= 8 && kind <= 14
}

/** Bytes of the envelope by its type in the flags (OGC 12-128r18, 2.1.3). */
const ENVELOPES = [0, 32, 48, 48, 64]

function geometryOf(blob: Buffer, move: Unprojector | null, file: string): RawGeometry | null {
  if (blob.subarray(0, 2).toString('latin1') !== 'GP') return null
  const flags = blob[3] ?? 0
  if ((flags & 0x10) !== 0) return null
  const start = 8 + (ENVELOPES[(flags >> 1) & 7] ?? 0)
  const wkb = blob.subarray(start)
  const geometry = parseWkb(wkb)
  if (geometry === undefined && isCurve(wkb))
    throw unreadable('The layer has geometries with arcs.', { file }, CURVES)
  return geometry === undefined ? null : reprojected(geometry as RawGeometry, move)
}

function all(
  database: Libsql.Database,
  sql: string,
  parameters: readonly unknown[] = [],
): Readonly<Record<string, unknown>>[] {
  return database.prepare(sql).all([...parameters]) as Readonly<Record<string, unknown>>[]
}

/** A quoted SQL identifier. */
function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
