import { createRequire } from 'node:module'
import type { ByteWriter, ParquetWriter, SchemaElement } from 'hyparquet-writer'
import { exactJson } from '../model/exact-json.ts'
import { lookup } from '../model/lookup.ts'
import type { Geometry } from '../model/value.ts'
import { geometryColumn, geometryOf } from './json.ts'
import { type Projector, projectGeometry, projector, WGS84 } from './projection.ts'
import { projJsonOf } from './projjson.ts'
import {
  distinctColumnNames,
  type ExportOptions,
  millisecondsOf,
  type Table,
  type TableColumn,
  type TableRow,
} from './table.ts'

// Loaded on demand, because few exports need it; and with `require`, because the loaders of test runners do not support the
// patterns in the `exports` of its dependencies.
const require = createRequire(import.meta.url)

/** Limits of a row group: it is written when it has so many rows, or about so many bytes of texts and geometries. */
const GROUP = { rows: 20_000, bytes: 8 * 2 ** 20 } as const

const DAY = 86_400_000

interface Target {
  readonly name: string
  readonly column: TableColumn
  /** The types of its geometries, complete when all are written; undefined for other columns. */
  readonly geometries: Set<string> | undefined
  values: unknown[]
}

/**
 * Writes Apache Parquet (format 2): int64, double, boolean, date32, timestamps of microseconds in UTC, strings and lists of
 * them; points and shapes are WKB with the metadata of GeoParquet 1.1.0. Memory holds one group of rows.
 */
export async function* parquet(table: Table, options: ExportOptions): AsyncGenerator<Uint8Array> {
  const library = require('hyparquet-writer') as typeof import('hyparquet-writer')
  const project = projector(options.epsg) ?? (position => position)
  const toWkb: ToWkb = geometry =>
    library.geojsonToWkb(geometry as Parameters<typeof library.geojsonToWkb>[0]).slice()
  const targets = targetsOf(table.columns, options)
  const metadata: { key: string; value: string }[] = []
  const bytes = new library.ByteWriter()
  const zstd = options.parquetCompression === 'zstd' ? await loadZstd() : undefined
  const writer = new library.ParquetWriter({
    writer: bytes,
    schema: [{ name: 'root', num_children: targets.length }, ...targets.flatMap(elementsOf)],
    codec: zstd === undefined ? 'SNAPPY' : 'ZSTD',
    ...(zstd === undefined ? {} : { compressors: { ZSTD: (input: Uint8Array) => zstd.compress(input) } }),
    kvMetadata: metadata,
    createdBy: 'lodestone',
  })
  let size = 0
  for await (const rows of table.rows) {
    for (const row of rows) {
      size += addRow(targets, row, { project, toWkb })
      if (size < GROUP.bytes && (targets[0]?.values.length ?? 0) < GROUP.rows) continue
      yield writeGroup(writer, bytes, targets)
      size = 0
    }
  }
  if ((targets[0]?.values.length ?? 0) > 0) yield writeGroup(writer, bytes, targets)
  const geo = geoMetadata(targets, table.columns, options)
  if (geo !== null) metadata.push({ key: 'geo', value: JSON.stringify(geo) })
  await writer.finish()
  yield taken(bytes)
}

/** Zstandard for Node.js below 22.15, whose zlib lacks it; loaded on demand. */
async function loadZstd() {
  const { Zstd } = await import('@hpcc-js/wasm-zstd')
  return Zstd.load()
}

function writeGroup(writer: ParquetWriter, bytes: ByteWriter, targets: readonly Target[]): Uint8Array {
  const columnData = targets.map(({ name, column, values, geometries }) => ({
    name,
    data: values,
    statistics: geometries === undefined,
    // fastparquet does not read booleans in runs where some are null.
    ...(column.type === 'boolean' ? { encoding: 'PLAIN' as const } : {}),
  }))
  // With an in-memory writer this is synchronous.
  void writer.write({ columnData, rowGroupSize: columnData[0]?.data.length ?? 1 })
  for (const target of targets) target.values = []
  return taken(bytes)
}

/** Returns the bytes that were written since the last call. */
function taken(bytes: ByteWriter): Uint8Array {
  const piece = bytes.getBytes().slice()
  bytes.index = 0
  return piece
}

function targetsOf(columns: readonly TableColumn[], options: ExportOptions): readonly Target[] {
  const names = distinctColumnNames(columns, options)
  return columns.map((column, index) => {
    const name = names[index] ?? column.key
    const isGeometry = column.type === 'geo_point_2d' || column.type === 'geo_shape'
    return { name, column, geometries: isGeometry ? new Set<string>() : undefined, values: [] }
  })
}

function elementsOf({ name, column }: Target): readonly SchemaElement[] {
  const repetition_type = 'OPTIONAL'
  if (column.multivalued)
    return [
      { name, repetition_type, num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      { ...TEXT, name: 'element', repetition_type },
    ]
  return [{ ...ELEMENTS[column.type], name, repetition_type }]
}

type Element = Omit<SchemaElement, 'name' | 'repetition_type'>

const TEXT: Element = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } }

const ELEMENTS: Readonly<Record<TableColumn['type'], Element>> = {
  text: TEXT,
  int: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  date: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
  datetime: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
  geo_point_2d: { type: 'BYTE_ARRAY' },
  geo_shape: { type: 'BYTE_ARRAY' },
}

/** Adds a row to its columns; returns its approximate size in bytes. */
function addRow(targets: readonly Target[], row: TableRow, means: Means): number {
  let size = 0
  for (const target of targets) {
    const value = lookup(row, target.column.key) ?? null
    const stored = value === null ? null : storedValue(value, target, means)
    target.values.push(stored)
    size += sizeOf(stored)
  }
  return size
}

function sizeOf(stored: unknown): number {
  if (typeof stored === 'string' || stored instanceof Uint8Array) return stored.length
  return Array.isArray(stored) ? stored.reduce<number>((sum, part) => sum + sizeOf(part), 0) : 8
}

/** A value as stored in the file; null if it exceeds the range of its type. */
function storedValue(value: unknown, { column, geometries }: Target, means: Means): unknown {
  if (geometries !== undefined) return wkbOf(value, geometries, means)
  if (column.multivalued) return Array.isArray(value) ? value : [value]
  switch (column.type) {
    case 'int':
      return typeof value === 'bigint' ? value : BigInt(Math.trunc(Number(value)))
    case 'double':
      return Number(value)
    case 'text':
      return typeof value === 'string' ? value : exactJson(value)
    case 'date': {
      const epoch = Date.parse(String(value))
      return Number.isNaN(epoch) ? null : Math.floor(epoch / DAY)
    }
    case 'datetime':
      return microseconds(String(value))
    default:
      return value
  }
}

/** Microseconds since 1970 of a moment in ISO 8601; further digits are dropped. */
function microseconds(text: string): bigint | null {
  const epoch = millisecondsOf(text)
  if (Number.isNaN(epoch)) return null
  const beyond = (/\.\d{3}(\d{1,3})/.exec(text)?.[1] ?? '').padEnd(3, '0')
  return BigInt(epoch) * 1000n + BigInt(beyond)
}

type ToWkb = (geometry: Geometry) => Uint8Array

/** The context for writing geometries. */
interface Means {
  readonly project: Projector
  readonly toWkb: ToWkb
}

function wkbOf(value: unknown, types: Set<string>, { project, toWkb }: Means): Uint8Array | null {
  const geometry = geometryOf(value)
  const projected = geometry === null ? null : projectGeometry(geometry, project)
  if (projected === null) return null
  types.add(projected.type)
  return toWkb(projected)
}

/** The metadata of GeoParquet 1.1.0; null if there is no geometry. Without `crs` it is WGS 84, longitude first. */
function geoMetadata(
  targets: readonly Target[],
  columns: readonly TableColumn[],
  { epsg }: ExportOptions,
): object | null {
  const primary = targets.find(({ column }) => column === geometryColumn(columns))
  if (primary === undefined) return null
  const described = targets.flatMap(({ name, geometries }) =>
    geometries === undefined
      ? []
      : [
          [
            name,
            {
              encoding: 'WKB',
              geometry_types: [...geometries].sort(),
              ...(epsg === WGS84 ? {} : { crs: projJsonOf(epsg) }),
            },
          ],
        ],
  )
  return { version: '1.1.0', primary_column: primary.name, columns: Object.fromEntries(described) }
}
