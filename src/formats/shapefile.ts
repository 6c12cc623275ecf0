import { createReadStream } from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lookup } from '../model/lookup.ts'
import type { Geometry } from '../model/value.ts'
import { csv } from './csv.ts'
import { type DbfFieldOut, type DbfLayoutOut, dbfHeader, dbfLayout, dbfRecord } from './dbf.ts'
import { geometryColumn, rowGeometry } from './json.ts'
import { projectGeometry, projector, WGS84, wktOf } from './projection.ts'
import { columnName, type ExportOptions, type Table, type TableColumn, type TableRow } from './table.ts'
import { type ZipEntry, zip } from './zip-stream.ts'

/** Limits of one shapefile: records according to REST 6.4, bytes according to what readers can address. */
export interface ShapefileLimits {
  readonly records: number
  readonly bytes: number
}

const LIMITS: ShapefileLimits = { records: 50_000, bytes: 2 ** 31 - 1 }

/** Shape types by their numbers (ESRI Shapefile Technical Description, July 1998, p. 4). */
const KIND = { none: 0, point: 1, lines: 3, polygons: 5, points: 8 } as const
type Kind = (typeof KIND)[keyof typeof KIND]

const KIND_NAMES: Readonly<Record<Kind, string>> = {
  0: 'none',
  1: 'point',
  3: 'line',
  5: 'polygon',
  8: 'multipoint',
}

const KINDS: Readonly<Record<Exclude<Geometry['type'], 'GeometryCollection'>, Kind>> = {
  Point: KIND.point,
  MultiPoint: KIND.points,
  LineString: KIND.lines,
  MultiLineString: KIND.lines,
  Polygon: KIND.polygons,
  MultiPolygon: KIND.polygons,
}

type Line = readonly (readonly number[])[]
type Box = [xMin: number, yMin: number, xMax: number, yMax: number]

const HEADER_BYTES = 100
const EMPTY_BOX: Box = [Infinity, Infinity, -Infinity, -Infinity]

/**
 * Writes a zip with an ESRI shapefile: `.shp`, `.shx`, `.dbf`, the reference system in `.prj`, the encoding in `.cpg`,
 * `fields.csv` with the full names of the fields and `README.txt` with all that the format could not represent. All shapes have
 * the type of the first, and a record with another type keeps its values without a shape. Headers contain sizes that are known
 * only at the end, so the parts are written to temporary files, not held in memory.
 */
export async function* shapefile(
  table: Table,
  options: ExportOptions,
  limits = LIMITS,
): AsyncGenerator<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'lodestone-shp-'))
  try {
    const report = yield* writeParts(table, options, limits, folder)
    yield* zip(entries(table, options, folder, report))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function* entries(table: Table, options: ExportOptions, folder: string, report: Report): Generator<ZipEntry> {
  for (const ending of ['shp', 'shx', 'dbf'])
    yield { name: `${table.name}.${ending}`, content: bytesOf(join(folder, ending)) }
  const wkt = wktOf(options.epsg)
  if (wkt !== null) yield { name: `${table.name}.prj`, content: [wkt] }
  yield { name: `${table.name}.cpg`, content: ['UTF-8'] }
  yield { name: 'fields.csv', content: fieldsCsv(report, options) }
  yield { name: 'README.txt', content: [readme(table, options, report)] }
}

/** The bytes of a file, which is opened when the first are read: a client may leave before. */
async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(file) as AsyncIterable<Uint8Array>
}

/** What was lost when a table was written. */
interface Report {
  readonly layout: DbfLayoutOut
  readonly geometry: TableColumn | undefined
  readonly kind: Kind
  readonly records: number
  readonly isCut: boolean
  /** Number of records whose shape has another type, or cannot be projected. */
  readonly withoutShape: number
  /** Number of truncated values by field. */
  readonly losses: ReadonlyMap<DbfFieldOut, number>
}

/** Writes the parts; between rows it yields nothing, so that a client that leaves ends it. */
async function* writeParts(
  table: Table,
  options: ExportOptions,
  limits: ShapefileLimits,
  folder: string,
): AsyncGenerator<Uint8Array, Report> {
  const geometry = geometryColumn(table.columns)
  const layout = dbfLayout(attributes(table, geometry), options)
  const losses = new Map<DbfFieldOut, number>()
  const lost = (field: DbfFieldOut) => losses.set(field, (losses.get(field) ?? 0) + 1)
  const shapes = new Shapes(projector(options.epsg) ?? (position => position))
  const shp = await Part.open(join(folder, 'shp'), HEADER_BYTES)
  const shx = await Part.open(join(folder, 'shx'), HEADER_BYTES)
  const dbf = await Part.open(join(folder, 'dbf'), dbfHeader(layout, 0).length)
  let records = 0
  let isCut = false
  try {
    const add = (row: TableRow): boolean => {
      const numbered = { ...row, [NUMBER.key]: lookup(row, NUMBER.key) ?? records + 1 }
      const content = shapes.encode(rowGeometry(row, geometry))
      const size = Math.max(shp.length + content.length + 8, dbf.length + layout.recordLength + 1)
      if (records === limits.records || size > limits.bytes) return false
      shx.add(words(shp.length / 2, content.length / 2))
      shp.add(words(records + 1, content.length / 2), content)
      dbf.add(dbfRecord(layout, numbered, options, lost))
      records++
      return true
    }
    for await (const rows of table.rows) {
      isCut = !rows.every(add)
      for (const part of [shp, shx, dbf]) await part.flush()
      if (isCut) break
      yield NOTHING
    }
    dbf.add(Uint8Array.of(0x1a))
    await shp.finish(mainHeader(shp.length, shapes))
    await shx.finish(mainHeader(shx.length, shapes))
    await dbf.finish(dbfHeader(layout, records))
  } finally {
    for (const part of [shp, shx, dbf]) await part.close()
  }
  const { kind, withoutShape } = shapes
  return { layout, geometry, kind, records, isCut, withoutShape, losses }
}

const NOTHING = new Uint8Array(0)

/** The only field of a table without attributes, because an attribute table needs one. */
const NUMBER: TableColumn = { key: 'record', label: 'record', type: 'int', multivalued: false }

function attributes(table: Table, geometry: TableColumn | undefined): readonly TableColumn[] {
  const others = table.columns.filter(column => column !== geometry)
  return others.length === 0 ? [NUMBER] : others
}

/** A growing file, whose header is written last. */
class Part {
  length: number
  private readonly handle: FileHandle
  private waiting: Uint8Array[] = []

  private constructor(handle: FileHandle, headerLength: number) {
    this.handle = handle
    this.length = headerLength
    this.waiting.push(new Uint8Array(headerLength))
  }

  static async open(path: string, headerLength: number): Promise<Part> {
    return new Part(await open(path, 'wx'), headerLength)
  }

  add(...pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) {
      this.waiting.push(piece)
      this.length += piece.length
    }
  }

  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.waiting)
    this.waiting = []
    for (let at = 0; at < bytes.length; ) at += (await this.handle.write(bytes, at)).bytesWritten
  }

  async finish(header: Uint8Array): Promise<void> {
    await this.flush()
    await this.handle.write(header, 0, header.length, 0)
  }

  close(): Promise<void> {
    return this.handle.close()
  }
}

/** Two 32-bit integers, big-endian. */
function words(first: number, second: number): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeInt32BE(first, 0)
  bytes.writeInt32BE(second, 4)
  return bytes
}

/** The header of `.shp` and `.shx` (p. 3 f.). */
function mainHeader(length: number, { kind, box }: Shapes): Uint8Array {
  const bytes = Buffer.alloc(HEADER_BYTES)
  bytes.writeInt32BE(9994, 0)
  bytes.writeInt32BE(length / 2, 24)
  bytes.writeInt32LE(1000, 28)
  bytes.writeInt32LE(kind, 32)
  if (box[0] <= box[2]) writeBox(bytes, 36, box)
  return bytes
}

/** Encodes shapes, all of the type of the first, and tracks their bounding box. */
class Shapes {
  kind: Kind = KIND.none
  withoutShape = 0
  readonly box: Box = [...EMPTY_BOX]
  private readonly project: (position: readonly number[]) => readonly number[]

  constructor(project: (position: readonly number[]) => readonly number[]) {
    this.project = project
  }

  /** The content of a record: the null shape if there is no geometry, or one of another type. */
  encode(geometry: Geometry | null): Uint8Array {
    if (geometry === null) return NULL_SHAPE
    if (this.kind === KIND.none) this.kind = kindOf(geometry)
    const projected = projectGeometry(geometry, this.project)
    const content = projected === null ? undefined : this.contentOf(projected)
    if (content === undefined) this.withoutShape++
    return content ?? NULL_SHAPE
  }

  private contentOf(geometry: Geometry): Uint8Array | undefined {
    if (this.kind === KIND.point || this.kind === KIND.points) {
      const points = pointsOf(geometry)
      if (points.length === 0 || (this.kind === KIND.point && points.length > 1)) return undefined
      return this.kind === KIND.point ? this.point(points) : this.points(points)
    }
    const lines = this.kind === KIND.lines ? linesOf(geometry) : ringsOf(geometry)
    return lines.length === 0 ? undefined : this.lines(lines)
  }

  private point(points: Line): Uint8Array {
    this.cover(boxOf(points))
    const bytes = Buffer.alloc(20)
    bytes.writeInt32LE(KIND.point, 0)
    writePositions(bytes, 4, points)
    return bytes
  }

  private points(points: Line): Uint8Array {
    const bytes = Buffer.alloc(40 + 16 * points.length)
    this.writeHead(bytes, points)
    bytes.writeInt32LE(points.length, 36)
    writePositions(bytes, 40, points)
    return bytes
  }

  private lines(lines: readonly Line[]): Uint8Array {
    const positions = lines.flat()
    const bytes = Buffer.alloc(44 + 4 * lines.length + 16 * positions.length)
    this.writeHead(bytes, positions)
    bytes.writeInt32LE(lines.length, 36)
    bytes.writeInt32LE(positions.length, 40)
    let first = 0
    lines.forEach((line, at) => {
      bytes.writeInt32LE(first, 44 + 4 * at)
      first += line.length
    })
    writePositions(bytes, 44 + 4 * lines.length, positions)
    return bytes
  }

  private writeHead(bytes: Buffer, positions: Line): void {
    const box = boxOf(positions)
    this.cover(box)
    bytes.writeInt32LE(this.kind, 0)
    writeBox(bytes, 4, box)
  }

  private cover([xMin, yMin, xMax, yMax]: Box): void {
    const { box } = this
    box[0] = Math.min(box[0], xMin)
    box[1] = Math.min(box[1], yMin)
    box[2] = Math.max(box[2], xMax)
    box[3] = Math.max(box[3], yMax)
  }
}

const NULL_SHAPE = new Uint8Array(4)

function kindOf(geometry: Geometry): Kind {
  if (geometry.type !== 'GeometryCollection') return KINDS[geometry.type]
  return geometry.geometries.map(kindOf).find(kind => kind !== KIND.none) ?? KIND.none
}

/** The geometries of given types, also within collections. */
function partsOf(geometry: Geometry, ...types: readonly string[]): readonly unknown[] {
  if (geometry.type === 'GeometryCollection')
    return geometry.geometries.flatMap(part => partsOf(part, ...types))
  return types.includes(geometry.type) ? [geometry.coordinates] : []
}

function pointsOf(geometry: Geometry): Line {
  return [...partsOf(geometry, 'Point'), ...partsOf(geometry, 'MultiPoint').flat()] as unknown as Line
}

function linesOf(geometry: Geometry): readonly Line[] {
  const many = partsOf(geometry, 'MultiLineString').flat()
  return [...partsOf(geometry, 'LineString'), ...many] as readonly Line[]
}

/** Rings of polygons: outer ones clockwise, holes the other way (p. 8). */
function ringsOf(geometry: Geometry): readonly Line[] {
  const many = partsOf(geometry, 'MultiPolygon').flat()
  const polygons = [...partsOf(geometry, 'Polygon'), ...many] as readonly (readonly Line[])[]
  return polygons.flatMap(rings => rings.map((ring, at) => turned(ring, at === 0)))
}

function turned(ring: Line, clockwise: boolean): Line {
  let area = 0
  const [originX = 0, originY = 0] = ring[0] ?? []
  ring.forEach(([x = 0, y = 0], at) => {
    const [nextX = 0, nextY = 0] = ring[at + 1] ?? ring[0] ?? []
    area += (x - originX) * (nextY - originY) - (nextX - originX) * (y - originY)
  })
  return area < 0 === clockwise ? ring : ring.toReversed()
}

function boxOf(positions: Line): Box {
  const box: Box = [...EMPTY_BOX]
  for (const [x = 0, y = 0] of positions) {
    if (x < box[0]) box[0] = x
    if (y < box[1]) box[1] = y
    if (x > box[2]) box[2] = x
    if (y > box[3]) box[3] = y
  }
  return box
}

function writeBox(bytes: Buffer, start: number, box: Box): void {
  for (const [at, value] of box.entries()) bytes.writeDoubleLE(value, start + 8 * at)
}

function writePositions(bytes: Buffer, start: number, positions: Line): void {
  positions.forEach(([x = 0, y = 0], at) => {
    bytes.writeDoubleLE(x, start + 16 * at)
    bytes.writeDoubleLE(y, start + 16 * at + 8)
  })
}

function fieldsCsv(report: Report, options: ExportOptions): AsyncIterable<string> {
  const text = (key: string): TableColumn => ({ key, label: key, type: 'text', multivalued: false })
  const mapped = report.layout.fields.map(field => ({
    field: field.name,
    column: columnName(field.column, options),
    label: field.column.label,
    type: field.column.type,
    values_not_whole: String(report.losses.get(field) ?? 0),
  }))
  const dropped = report.layout.dropped.map(column => ({
    field: null,
    column: columnName(column, options),
    label: column.label,
    type: column.type,
    values_not_whole: 'all',
  }))
  const columns = ['field', 'column', 'label', 'type', 'values_not_whole'].map(text)
  const rows = (async function* () {
    yield [...mapped, ...dropped]
  })()
  return csv(
    { name: 'fields', title: 'Fields', columns, rows },
    { ...options, useLabels: false, delimiter: ',', quoteAll: false, withBom: false },
  )
}

function readme(table: Table, options: ExportOptions, report: Report): string {
  const { layout, kind, records, isCut, withoutShape, losses } = report
  const cut = [...losses].map(([{ name }, count]) => `${name} (${count})`).join(', ')
  const renamed = layout.fields.filter(({ name, column }) => name !== columnName(column, options)).length
  const lines = [
    `${table.title} (${table.name})`,
    '',
    `Records: ${records}`,
    `Shapes: ${KIND_NAMES[kind]}, from the column ${report.geometry?.key ?? '(none)'}`,
    `Coordinates: EPSG:${options.epsg}${options.epsg === WGS84 ? ' (WGS 84), longitude before latitude' : ''}`,
    'Texts: UTF-8, at most 254 bytes. A field cannot distinguish an empty text from none.',
    'Several values of one field are written in one text. Moments are texts in ISO 8601.',
  ]
  if (isCut) lines.push('', `The dataset has more records: a shapefile holds ${records} of them here.`)
  if (withoutShape > 0)
    lines.push(
      '',
      `${withoutShape} records have no shape, for theirs is of another kind or outside the projection.`,
    )
  if (wktOf(options.epsg) === null)
    lines.push('', 'There is no .prj, for the format has no common name for this system.')
  if (renamed > 0)
    lines.push('', `${renamed} fields have shorter names than their columns: fields.csv lists both.`)
  if (layout.dropped.length > 0)
    lines.push('', `Columns without room: ${layout.dropped.map(({ key }) => key).join(', ')}`)
  if (cut !== '') lines.push('', `Fields with values that are not whole, and how many: ${cut}`)
  return `${lines.join('\r\n')}\r\n`
}
