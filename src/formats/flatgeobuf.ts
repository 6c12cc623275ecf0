import { Builder } from 'flatbuffers'
import { lookup } from '../model/lookup.ts'
import type { Geometry } from '../model/value.ts'
import { geometryColumn, rowGeometry } from './json.ts'
import { type Projector, projectGeometry, projector } from './projection.ts'
import {
  distinctColumnNames,
  type ExportOptions,
  type Table,
  type TableColumn,
  type TableRow,
  wholeDay,
} from './table.ts'

/** FlatGeobuf 3.0, patch 1. */
const MAGIC = Uint8Array.of(0x66, 0x67, 0x62, 3, 0x66, 0x67, 0x62, 1)

/** Column types by their numbers in `header.fbs`. */
const TYPE = { bool: 2, long: 7, double: 10, string: 11, json: 12, dateTime: 13 } as const
type Type = (typeof TYPE)[keyof typeof TYPE]

const TYPES: Readonly<Record<TableColumn['type'], Type>> = {
  text: TYPE.string,
  int: TYPE.long,
  double: TYPE.double,
  boolean: TYPE.bool,
  date: TYPE.dateTime,
  datetime: TYPE.dateTime,
  geo_point_2d: TYPE.json,
  geo_shape: TYPE.json,
}

/** Geometry types by their numbers in `header.fbs`. */
const GEOMETRIES: Readonly<Record<Geometry['type'], number>> = {
  Point: 1,
  LineString: 2,
  Polygon: 3,
  MultiPoint: 4,
  MultiLineString: 5,
  MultiPolygon: 6,
  GeometryCollection: 7,
}

/**
 * Writes FlatGeobuf (flatgeobuf.org, version 3) as a stream of rows: without index, bounding box and number of features, which
 * precede the features and are known only after them. The geometry is that of the first shape, else of the first point; days and
 * moments are date-times, multiple values and other geometries are JSON.
 */
export async function* flatgeobuf(table: Table, options: ExportOptions): AsyncGenerator<Uint8Array> {
  const geometry = geometryColumn(table.columns)
  const columns = table.columns.filter(column => column !== geometry)
  const project = projector(options.epsg) ?? (position => position)
  yield MAGIC
  yield header(table, columns, geometry, options)
  const builder = new Builder(4096)
  for await (const rows of table.rows) {
    const features = rows.map(row => feature(builder, row, columns, geometry, project))
    if (features.length > 0) yield Buffer.concat(features)
  }
}

function typeOf(column: TableColumn): Type {
  return column.multivalued ? TYPE.json : TYPES[column.type]
}

function header(
  table: Table,
  columns: readonly TableColumn[],
  geometry: TableColumn | undefined,
  options: ExportOptions,
): Uint8Array {
  const builder = new Builder(1024)
  const names = distinctColumnNames(columns, options)
  const described = columns.map((column, index) => columnOf(builder, column, names[index] ?? column.key))
  builder.startVector(4, described.length, 4)
  for (const offset of described.toReversed()) builder.addOffset(offset)
  const list = builder.endVector()
  const crs = crsOf(builder, options.epsg)
  const name = builder.createString(table.name)
  const title = builder.createString(table.title)
  builder.startObject(14)
  builder.addFieldOffset(0, name, 0)
  builder.addFieldInt8(2, geometry?.type === 'geo_point_2d' ? GEOMETRIES.Point : 0, 0)
  builder.addFieldOffset(7, list, 0)
  builder.addFieldInt16(9, 0, 16)
  builder.addFieldOffset(10, crs, 0)
  builder.addFieldOffset(11, title, 0)
  return finished(builder)
}

function columnOf(builder: Builder, column: TableColumn, columnName: string): number {
  const name = builder.createString(columnName)
  const title = builder.createString(column.label)
  builder.startObject(11)
  builder.addFieldOffset(0, name, 0)
  builder.addFieldInt8(1, typeOf(column), 0)
  builder.addFieldOffset(2, title, 0)
  return builder.endObject()
}

function crsOf(builder: Builder, epsg: number): number {
  const organisation = builder.createString('EPSG')
  builder.startObject(6)
  builder.addFieldOffset(0, organisation, 0)
  builder.addFieldInt32(1, epsg, 0)
  return builder.endObject()
}

function feature(
  builder: Builder,
  row: TableRow,
  columns: readonly TableColumn[],
  geometry: TableColumn | undefined,
  project: Projector,
): Uint8Array {
  builder.clear()
  const own = rowGeometry(row, geometry)
  const projected = own === null ? null : projectGeometry(own, project)
  const shape = projected === null ? 0 : writeGeometry(builder, projected)
  const properties = builder.createByteVector(propertiesOf(row, columns))
  builder.startObject(3)
  builder.addFieldOffset(0, shape, 0)
  builder.addFieldOffset(1, properties, 0)
  return finished(builder).slice()
}

/**
 * The table that was begun last, after its size. Header and features have whole multiples of eight bytes, so that readers which map
 * a file into memory find each coordinate where a double may stand.
 */
function finished(builder: Builder): Uint8Array {
  const table = builder.endObject()
  builder.prep(8, 8)
  builder.finishSizePrefixed(table)
  return builder.asUint8Array()
}

/** The values of a row that are not null: number of the column, then the value (`feature.fbs`). */
function propertiesOf(row: TableRow, columns: readonly TableColumn[]): Uint8Array {
  const pieces: Uint8Array[] = []
  columns.forEach((column, at) => {
    const value = lookup(row, column.key) ?? null
    if (value === null) return
    const number = Buffer.alloc(2)
    number.writeUInt16LE(at)
    pieces.push(number, ...valueBytes(value, typeOf(column)))
  })
  return Buffer.concat(pieces)
}

function valueBytes(value: unknown, type: Type): readonly Uint8Array[] {
  if (type === TYPE.bool) return [Uint8Array.of(value === true ? 1 : 0)]
  if (type === TYPE.long || type === TYPE.double) {
    const bytes = Buffer.alloc(8)
    if (type === TYPE.double) bytes.writeDoubleLE(Number(value))
    else bytes.writeBigInt64LE(typeof value === 'bigint' ? value : BigInt(Number(value)))
    return [bytes]
  }
  const plain = type === TYPE.dateTime ? wholeDay(String(value)) : String(value)
  // The cell of a group of points is an object in a column of texts.
  const text = Buffer.from(type === TYPE.json || typeof value === 'object' ? JSON.stringify(value) : plain)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.length)
  return [length, text]
}

type Positions = readonly (readonly number[])[]

function writeGeometry(builder: Builder, geometry: Geometry): number {
  if (geometry.type === 'GeometryCollection')
    return geometryTable(
      builder,
      geometry.type,
      [],
      [],
      geometry.geometries.map(part => writeGeometry(builder, part)),
    )
  const { type, coordinates } = geometry
  switch (type) {
    case 'Point':
      return geometryTable(builder, type, [coordinates as readonly number[]])
    case 'MultiPoint':
    case 'LineString':
      return geometryTable(builder, type, coordinates as Positions)
    case 'MultiLineString':
    case 'Polygon': {
      const lines = coordinates as readonly Positions[]
      return geometryTable(builder, type, lines.flat(), endsOf(lines))
    }
    case 'MultiPolygon': {
      const polygons = coordinates as readonly (readonly Positions[])[]
      const parts = polygons.map(rings => geometryTable(builder, 'Polygon', rings.flat(), endsOf(rings)))
      return geometryTable(builder, type, [], [], parts)
    }
  }
}

/** The end of each line as a number of positions. */
function endsOf(lines: readonly Positions[]): readonly number[] {
  let end = 0
  return lines.map(line => {
    end += line.length
    return end
  })
}

function geometryTable(
  builder: Builder,
  type: Geometry['type'],
  positions: Positions,
  ends: readonly number[] = [],
  parts: readonly number[] = [],
): number {
  const endings = ends.length < 2 ? 0 : endsVector(builder, ends)
  const xy = positions.length === 0 ? 0 : xyVector(builder, positions)
  const children = parts.length === 0 ? 0 : partsVector(builder, parts)
  builder.startObject(8)
  builder.addFieldOffset(0, endings, 0)
  builder.addFieldOffset(1, xy, 0)
  builder.addFieldInt8(6, GEOMETRIES[type], 0)
  builder.addFieldOffset(7, children, 0)
  return builder.endObject()
}

function endsVector(builder: Builder, ends: readonly number[]): number {
  builder.startVector(4, ends.length, 4)
  for (const end of ends.toReversed()) builder.addInt32(end)
  return builder.endVector()
}

function xyVector(builder: Builder, positions: Positions): number {
  builder.startVector(8, positions.length * 2, 8)
  for (const [x = 0, y = 0] of positions.toReversed()) {
    builder.addFloat64(y)
    builder.addFloat64(x)
  }
  return builder.endVector()
}

function partsVector(builder: Builder, parts: readonly number[]): number {
  builder.startVector(4, parts.length, 4)
  for (const part of parts.toReversed()) builder.addOffset(part)
  return builder.endVector()
}
