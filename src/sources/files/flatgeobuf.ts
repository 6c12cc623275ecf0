import { ByteBuffer } from 'flatbuffers'
import { Fault } from '../../errors/errors.ts'
import { parseExactly } from '../../model/exact-json.ts'
import { setMember } from '../../model/lookup.ts'
import { shortestSingle } from '../../model/number.ts'
import { words } from '../../model/words.ts'
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
  BATCH_CHARACTERS,
  BATCH_ROWS,
  DAMAGED,
  type RecordSource,
  type SourceRow,
  unreadable,
} from '../source.ts'
import { refuseWide } from '../tables/grid.ts'
import { ByteReader } from './byte-reader.ts'

/** Maximum bytes of a header or feature; larger ones indicate damage. */
const MAX_BYTES = 2 ** 28

const TYPES = words(
  'Unknown Point LineString Polygon MultiPoint MultiLineString MultiPolygon GeometryCollection',
)

interface Header {
  readonly geometry: number
  readonly columns: readonly Column[]
  readonly features: number
  readonly nodeSize: number
  readonly system: LayerSystem
}

interface Column {
  readonly name: string
  readonly type: number
}

/** A FlatGeobuf file (flatgeobuf.org, version 3), feature by feature: its columns and `geometry` in degrees. */
export function flatgeobufSource(data: DataFile): RecordSource {
  const datum = new DatumWarnings()
  return {
    name: data.name,
    textual: false,
    read: () => readFeatures(data, datum),
    warnings: () => datum.all(),
  }
}

async function* readFeatures(data: DataFile, datum: DatumWarnings): AsyncGenerator<readonly SourceRow[]> {
  const { name: file } = data
  const reader = new ByteReader(data.pieces(2 ** 18))
  try {
    const magic = await reader.take(8)
    if (magic === null || magic.subarray(0, 3).toString('latin1') !== 'fgb')
      throw unreadable('The file is no FlatGeobuf.', { file }, DAMAGED)
    if (magic[3] !== 3)
      throw unreadable(
        `The file is FlatGeobuf ${magic[3]}, and version 3 is read.`,
        { file },
        'Write it again with a current version of GDAL.',
      )
    const header = headerOf((await nextTable(reader, file)) ?? Buffer.alloc(0), file)
    refuseWide(file, header.columns.length)
    await skipIndex(reader, header)
    const move = unprojectorOfLayer(header.system, 'file', file)
    datum.note(move)
    let batch: SourceRow[] = []
    let from = reader.position
    for (let row = 1; ; row++) {
      const bytes = await nextTable(reader, file)
      if (bytes === null) break
      batch.push({ row, line: undefined, data: featureOf(bytes, header, move, file) })
      if (batch.length < BATCH_ROWS && reader.position - from < BATCH_CHARACTERS) continue
      yield batch
      batch = []
      from = reader.position
    }
    if (batch.length > 0) yield batch
  } finally {
    await reader.close()
  }
}

async function nextTable(reader: ByteReader, file: string): Promise<Buffer | null> {
  const size = await reader.take(4)
  if (size === null) return null
  const length = size.length < 4 ? MAX_BYTES + 1 : size.readUInt32LE(0)
  const bytes = length > MAX_BYTES ? null : await reader.take(length)
  if (bytes === null || bytes.length < length)
    throw unreadable('The file is cut off or damaged.', { file }, DAMAGED)
  return bytes
}

/** The packed R-tree before the features: 40 bytes a node, and a root of its own also above a single leaf. */
async function skipIndex(reader: ByteReader, { features, nodeSize }: Header): Promise<void> {
  if (nodeSize < 2 || features === 0) return
  let [nodes, level] = [features, features]
  do {
    level = Math.ceil(level / nodeSize)
    nodes += level
  } while (level > 1)
  for (let left = nodes * 40; left > 0; ) {
    const piece = await reader.take(Math.min(left, 2 ** 20))
    if (piece === null) return
    left -= piece.length
  }
}

/** Bytes of vectors that may still be read: vectors that share bytes could multiply few bytes to any size. */
interface Budget {
  left: number
}

/** A FlatBuffers table: fields by number, nothing if a field is absent. */
class FlatTable {
  private readonly bytes: ByteBuffer
  private readonly at: number
  private readonly budget: Budget

  constructor(bytes: ByteBuffer, at: number, budget: Budget) {
    this.bytes = bytes
    this.at = at
    this.budget = budget
  }

  static root(bytes: Buffer): FlatTable {
    const buffer = new ByteBuffer(new Uint8Array(bytes))
    return new FlatTable(buffer, buffer.readInt32(0), { left: bytes.length })
  }

  private inner(offset: number): FlatTable {
    return new FlatTable(this.bytes, this.bytes.__indirect(offset), this.budget)
  }

  private field(number: number): number {
    const offset = this.bytes.__offset(this.at, 4 + 2 * number)
    return offset === 0 ? 0 : this.at + offset
  }

  byte(number: number): number | undefined {
    const at = this.field(number)
    return at === 0 ? undefined : this.bytes.readUint8(at)
  }

  short(number: number): number | undefined {
    const at = this.field(number)
    return at === 0 ? undefined : this.bytes.readUint16(at)
  }

  int(number: number): number | undefined {
    const at = this.field(number)
    return at === 0 ? undefined : this.bytes.readInt32(at)
  }

  long(number: number): number | undefined {
    const at = this.field(number)
    return at === 0 ? undefined : Number(this.bytes.readUint64(at))
  }

  text(number: number): string | undefined {
    const at = this.field(number)
    return at === 0 ? undefined : String(this.bytes.__string(at))
  }

  table(number: number): FlatTable | undefined {
    const at = this.field(number)
    return at === 0 ? undefined : this.inner(at)
  }

  /** The offset and length of a vector whose elements have a given size in bytes. */
  private vector(number: number, size: number): { readonly start: number; readonly length: number } {
    const at = this.field(number)
    if (at === 0) return { start: 0, length: 0 }
    const length = this.bytes.__vector_len(at)
    this.budget.left -= length * size
    if (length < 0 || this.budget.left < 0) throw new RangeError('vectors beyond the table')
    return { start: this.bytes.__vector(at), length }
  }

  tables(number: number): readonly FlatTable[] {
    const { start, length } = this.vector(number, 4)
    return Array.from({ length }, (_, i) => this.inner(start + 4 * i))
  }

  doubles(number: number): readonly number[] {
    const { start, length } = this.vector(number, 8)
    return Array.from({ length }, (_, i) => this.bytes.readFloat64(start + 8 * i))
  }

  ints(number: number): readonly number[] {
    const { start, length } = this.vector(number, 4)
    return Array.from({ length }, (_, i) => this.bytes.readUint32(start + 4 * i))
  }

  octets(number: number): Buffer {
    const { start, length } = this.vector(number, 1)
    return Buffer.from(this.bytes.bytes().subarray(start, start + length))
  }
}

function headerOf(bytes: Buffer, file: string): Header {
  try {
    const header = FlatTable.root(bytes)
    const columns = header
      .tables(7)
      .map(column => ({ name: column.text(0) ?? '', type: column.byte(1) ?? 0 }))
    const crs = header.table(10)
    const [owner = 'EPSG', code = 0] = [crs?.text(0), crs?.int(1)]
    const isEpsg = owner.toUpperCase() === 'EPSG'
    return {
      geometry: header.byte(2) ?? 0,
      columns,
      features: header.long(8) ?? 0,
      nodeSize: header.short(9) ?? 16,
      system: {
        code: isEpsg ? code : 0,
        text: crs?.text(4) || (isEpsg || code === 0 ? '' : `${owner}:${code}`),
      },
    }
  } catch (error) {
    throw unreadable('The header of the file is damaged.', { file }, DAMAGED, error)
  }
}

function featureOf(
  bytes: Buffer,
  header: Header,
  move: Unprojector | null,
  file: string,
): Readonly<Record<string, unknown>> {
  try {
    const feature = FlatTable.root(bytes)
    const own = feature.tables(2).map(column => ({ name: column.text(0) ?? '', type: column.byte(1) ?? 0 }))
    const columns = own.length > 0 ? own : header.columns
    const data: Record<string, unknown> = {}
    for (const { name } of columns) setMember(data, name, null)
    readProperties(feature.octets(1), columns, data)
    const geometry = feature.table(0)
    const shape = geometry === undefined ? null : geometryOf(geometry, header.geometry, file)
    data[Object.hasOwn(data, 'geometry') ? 'shape' : 'geometry'] = reprojected(shape, move)
    return data
  } catch (error) {
    if (error instanceof Fault) throw error
    throw unreadable('A feature of the file is damaged.', { file }, DAMAGED, error)
  }
}

function readProperties(bytes: Buffer, columns: readonly Column[], data: Record<string, unknown>): void {
  for (let at = 0; at + 2 <= bytes.length; ) {
    const column = columns[bytes.readUInt16LE(at)]
    if (column === undefined) throw new RangeError('a column that there is not')
    const [value, length] = valueAt(bytes, at + 2, column.type)
    setMember(data, column.name, value)
    at += 2 + length
  }
}

/** A value and its size in bytes, by the number of its type in `header.fbs`. */
function valueAt(bytes: Buffer, at: number, type: number): readonly [unknown, number] {
  switch (type) {
    case 0:
      return [bytes.readInt8(at), 1]
    case 1:
      return [bytes.readUInt8(at), 1]
    case 2:
      return [bytes.readUInt8(at) !== 0, 1]
    case 3:
      return [bytes.readInt16LE(at), 2]
    case 4:
      return [bytes.readUInt16LE(at), 2]
    case 5:
      return [bytes.readInt32LE(at), 4]
    case 6:
      return [bytes.readUInt32LE(at), 4]
    case 7:
      return [plainInteger(bytes.readBigInt64LE(at)), 8]
    case 8:
      return [plainInteger(bytes.readBigUInt64LE(at)), 8]
    case 9:
      return [shortestSingle(bytes.readFloatLE(at)), 4]
    case 10:
      return [bytes.readDoubleLE(at), 8]
    default: {
      const length = bytes.readUInt32LE(at)
      const text = bytes.subarray(at + 4, at + 4 + length).toString('utf8')
      if (type === 14) return [null, 4 + length]
      return [type === 12 ? jsonOf(text) : text, 4 + length]
    }
  }
}

function plainInteger(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function jsonOf(text: string): unknown {
  try {
    return parseExactly(text)
  } catch {
    return text
  }
}

const CURVES =
  'Save it with straight lines: ogr2ogr -nlt CONVERT_TO_LINEAR straight.fgb curves.fgb; or the outlines of surfaces as polygons.'

type Position = readonly number[]

function geometryOf(table: FlatTable, ofHeader: number, file: string): RawGeometry | null {
  const type = TYPES[table.byte(6) || ofHeader]
  if (type === undefined) throw unreadable('The file has geometries with arcs or surfaces.', { file }, CURVES)
  if (type === 'Unknown') return null
  if (type === 'GeometryCollection')
    return { type, geometries: table.tables(7).flatMap(part => geometryOf(part, 0, file) ?? []) }
  if (type === 'MultiPolygon') {
    const polygons = table.tables(7).map(part => linesOf(part))
    return { type, coordinates: polygons.length > 0 ? polygons : [linesOf(table)] }
  }
  switch (type) {
    case 'Point': {
      const [position] = positionsOf(table)
      return position === undefined ? null : { type, coordinates: position }
    }
    case 'LineString':
    case 'MultiPoint':
      return { type, coordinates: positionsOf(table) }
    case 'Polygon':
    case 'MultiLineString':
      return { type, coordinates: linesOf(table) }
  }
}

function positionsOf(table: FlatTable): readonly Position[] {
  const numbers = table.doubles(1)
  return Array.from({ length: numbers.length / 2 }, (_, i) => [
    numbers[2 * i] as number,
    numbers[2 * i + 1] as number,
  ])
}

function linesOf(table: FlatTable): readonly (readonly Position[])[] {
  const positions = positionsOf(table)
  const ends = table.ints(0)
  if (ends.length === 0) return [positions]
  return ends.map((end, i) => positions.slice(ends[i - 1] ?? 0, end))
}
