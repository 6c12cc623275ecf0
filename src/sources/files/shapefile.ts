import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Position } from '../../model/geometry.ts'
import { setMember } from '../../model/lookup.ts'
import type { DataFile } from '../data-file.ts'
import {
  DatumWarnings,
  type RawGeometry,
  reprojected,
  type Unprojector,
  unprojectorOfWkt,
} from '../reference-system.ts'
import {
  BATCH_CHARACTERS,
  BATCH_ROWS,
  DAMAGED,
  type RecordSource,
  type SourceRow,
  unreadable,
} from '../source.ts'
import { ByteReader } from './byte-reader.ts'
import {
  attributeDecoder,
  type DbfField,
  dbfFields,
  dbfValue,
  type EncodingReport,
  fieldNames,
  type TableTexts,
} from './dbf.ts'
import { polygonsOf } from './shapefile-rings.ts'

const HEADER = 100

/**
 * An ESRI shapefile (Technical Description, July 1998) in a ZIP archive or with its parts next to it: the attributes of its
 * `.dbf` and a column `geometry` in degrees, by the reference system of its `.prj`. Deleted records are left out.
 *
 * @param encoding of the attributes; by default that of `.cpg`, the header or their bytes
 */
export function shapefileSource(data: DataFile, path: string, encoding: string | undefined): RecordSource {
  let guessed: string | undefined
  const datum = new DatumWarnings()
  const onGuess = (found: string, cpg: string) => {
    const why =
      cpg === ''
        ? 'which no .cpg declares'
        : `because ${JSON.stringify(cpg.slice(0, 40))} of its .cpg is not known`
    guessed = `the text is ${found}, ${why}: where that is wrong, name its encoding in options`
  }
  return {
    name: data.name,
    textual: false,
    read: () => readRows(partsOf(data, path), encoding, { file: data.name, onGuess }, datum),
    warnings: () => [...datum.all(), ...(guessed === undefined ? [] : [guessed])],
  }
}

/** Paths of the other parts of an uncompressed `.shp`: they determine whether the source changed. */
export function shapefileParts(path: string): readonly string[] {
  const stem = basename(path)
    .replace(/\.shp$/i, '')
    .toLowerCase()
  const folder = dirname(path)
  const own = (name: string) => /\.(?:dbf|prj|cpg)$/i.test(name) && name.toLowerCase().startsWith(`${stem}.`)
  return existsSync(folder)
    ? readdirSync(folder)
        .filter(own)
        .sort()
        .map(name => join(folder, name))
    : []
}

/** Reads one part by its extension, piece by piece; null if there is none. */
type Parts = (ending: 'shp' | 'dbf' | 'prj' | 'cpg') => AsyncIterable<Buffer> | null

function partsOf(data: DataFile, path: string): Parts {
  const { archive } = data
  if (archive === null)
    return ending => {
      if (ending === 'shp') return data.pieces(2 ** 18)
      const part = shapefileParts(path).find(it => it.toLowerCase().endsWith(`.${ending}`))
      return part === undefined ? null : single(readFileSync(part))
    }
  const stem = data.base.replace(/\.shp$/i, '').toLowerCase()
  return ending => {
    const member = archive.members.find(({ name }) => name.toLowerCase() === `${stem}.${ending}`)
    return member === undefined ? null : archive.read(member.name)
  }
}

async function* single(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

async function* readRows(
  parts: Parts,
  declared: string | undefined,
  report: EncodingReport,
  datum: DatumWarnings,
): AsyncGenerator<readonly SourceRow[]> {
  const { file } = report
  const shp = parts('shp')
  if (shp === null)
    throw unreadable(
      'The shapefile lacks its .shp.',
      { file },
      'Put the .shp beside the .dbf, or pack both into one zip.',
    )
  const move = await referenceSystem(parts, file)
  datum.note(move)
  const shapes = new ByteReader(shp)
  const dbf = parts('dbf')
  const table = dbf === null ? null : new ByteReader(dbf)
  try {
    const header = await shapes.take(HEADER)
    if (header === null || header.readUInt32BE(0) !== 9994)
      throw unreadable('The file is no shapefile.', { file }, DAMAGED)
    const layout = table === null ? null : await dbfFields(table, file)
    const texts =
      layout === null
        ? null
        : await attributeDecoder(
            { cpg: (await wholeText(parts('cpg')))?.trim(), pieces: () => parts('dbf') },
            layout.codePage,
            declared,
            report,
          )
    const names = layout === null || texts === null ? [] : fieldNames(layout.fields, texts)
    let batch: SourceRow[] = []
    let from = shapes.position
    for (let row = 1; ; row++) {
      const attributes = layout === null ? null : await (table as ByteReader).take(layout.recordLength)
      const shape = await nextShape(shapes, file, row)
      if (shape === undefined) {
        if (attributes !== null && attributes.length > 1 && attributes[0] === 0x20)
          throw unreadable(
            `The shapefile has fewer shapes than records: shape ${row} is missing.`,
            { file },
            DAMAGED,
          )
        break
      }
      if (layout !== null && attributes === null)
        throw unreadable(
          `The .dbf has fewer records than there are shapes: record ${row} is missing.`,
          {
            file,
          },
          DAMAGED,
        )
      if (attributes?.[0] === 0x2a) continue
      const data =
        attributes === null || layout === null || texts === null
          ? {}
          : valuesOf(attributes, layout.fields, names, texts)
      const geometry = reprojected(shape, move)
      batch.push({
        row,
        line: undefined,
        data: { ...data, [Object.hasOwn(data, 'geometry') ? 'shape' : 'geometry']: geometry },
      })
      if (batch.length < BATCH_ROWS && shapes.position - from < BATCH_CHARACTERS) continue
      yield batch
      batch = []
      from = shapes.position
    }
    if (batch.length > 0) yield batch
  } finally {
    await shapes.close()
    await table?.close()
  }
}

function valuesOf(
  record: Buffer,
  fields: readonly DbfField[],
  names: readonly string[],
  texts: TableTexts,
): Record<string, unknown> {
  const data: Record<string, unknown> = {}
  for (const [at, field] of fields.entries())
    setMember(data, names[at] as string, dbfValue(record, field, texts))
  return data
}

async function referenceSystem(parts: Parts, file: string): Promise<Unprojector | null> {
  const wkt = await wholeText(parts('prj'))
  if (wkt === null || wkt.trim() === '') return null
  const move = unprojectorOfWkt(wkt)
  if (move === undefined)
    throw unreadable(
      `The reference system of the .prj is not understood: ${wkt.slice(0, 80)}`,
      { file },
      'Save the shapefile in WGS 84 (EPSG:4326).',
    )
  return move
}

async function wholeText(pieces: AsyncIterable<Buffer> | null): Promise<string | null> {
  if (pieces === null) return null
  const parts: Buffer[] = []
  let length = 0
  for await (const piece of pieces) {
    length += piece.length
    if (length > 2 ** 16) break
    parts.push(piece)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** The type of surfaces in space, which have no counterpart in GeoJSON. */
const MULTIPATCH = 31

/** The next shape: null for one without positions, undefined at the end. */
async function nextShape(
  shapes: ByteReader,
  file: string,
  row: number,
): Promise<RawGeometry | null | undefined> {
  const head = await shapes.take(8)
  if (head === null || head.length < 8) return undefined
  const length = head.readInt32BE(4) * 2
  if (length < 4 || length > 2 ** 30)
    throw unreadable(`Shape ${row} has a length of ${length} bytes.`, { file }, DAMAGED)
  const content = await shapes.take(length)
  if (content === null || content.length < length)
    throw unreadable(`The file ends within shape ${row}.`, { file }, DAMAGED)
  if (content.readInt32LE(0) === MULTIPATCH)
    throw unreadable(
      `Shape ${row} is a MultiPatch, a surface in space, which is not read.`,
      { file },
      'Save the outlines of the surfaces as polygons.',
    )
  try {
    return shapeOf(content)
  } catch (error) {
    if (error instanceof RangeError) throw unreadable(`Shape ${row} is damaged.`, { file }, DAMAGED, error)
    throw error
  }
}

/** A shape of any type, without heights and measures. */
function shapeOf(bytes: Buffer): RawGeometry | null {
  const kind = bytes.readInt32LE(0)
  const position = (at: number): Position => [bytes.readDoubleLE(at), bytes.readDoubleLE(at + 8)]
  switch (kind % 10) {
    case 1:
      return { type: 'Point', coordinates: position(4) }
    case 8: {
      const count = bytes.readInt32LE(36)
      const points = Array.from({ length: checked(count, bytes) }, (_, i) => position(40 + 16 * i))
      return points.length === 0 ? null : { type: 'MultiPoint', coordinates: points }
    }
    case 3:
    case 5: {
      const partCount = checked(bytes.readInt32LE(36), bytes)
      const pointCount = checked(bytes.readInt32LE(40), bytes)
      const starts = Array.from({ length: partCount }, (_, i) => bytes.readInt32LE(44 + 4 * i))
      const first = 44 + 4 * partCount
      const lines = starts.map((start, i) =>
        Array.from({ length: checked((starts[i + 1] ?? pointCount) - start, bytes) }, (_, j) =>
          position(first + 16 * (start + j)),
        ),
      )
      if (lines.length === 0) return null
      return kind % 10 === 3 ? linesOf(lines) : polygonsOf(lines)
    }
    default:
      return null
  }
}

/** A number of parts that fits into the bytes of a shape. */
function checked(count: number, bytes: Buffer): number {
  if (count < 0 || count > bytes.length / 4) throw new RangeError('a count beyond the shape')
  return count
}

function linesOf(lines: readonly (readonly Position[])[]): RawGeometry {
  return lines.length === 1
    ? { type: 'LineString', coordinates: lines[0] }
    : { type: 'MultiLineString', coordinates: lines }
}
