import { isUtf8 } from 'node:buffer'
import { createRequire } from 'node:module'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Compressors, FileMetaData, ParquetParsers } from 'hyparquet'
import { Fault } from '../../errors/errors.ts'
import type { DataFile } from '../data-file.ts'
import { DatumWarnings } from '../reference-system.ts'
import { BATCH_ROWS, type RecordSource, type SourceRow, unreadable } from '../source.ts'
import { refuseWide } from '../tables/grid.ts'
import { refuseBomb } from '../text/decode.ts'
import type { RandomAccess } from '../zip.ts'
import {
  columnConversions,
  convertMembers,
  geometryColumns,
  groupNames,
  setAbsent,
  withGeometries,
} from './parquet-columns.ts'

// Loaded on demand with `require`: few portals need it, and loaders of test runners do not support its exports.
const require = createRequire(import.meta.url)

/** Maximum bytes of the columns of one row group. */
const MAX_GROUP = 2 ** 31

/** Maximum values in memory at a time, and limits of their rows: compressed rows of equal values take no bytes in a file. */
const CACHED_VALUES = 2 ** 24
const MIN_ROWS = 2 ** 17
const MAX_ROWS = 2 ** 20

/**
 * An Apache Parquet file, by row groups: days, moments and times in ISO 8601, exact decimals, lists as arrays, structures as objects,
 * geometries of GeoParquet (1.0 and 1.1, WKB) and of Parquet itself in degrees. Throws SourceUnreadable for a file that is damaged or
 * encrypted.
 */
export function parquetSource(data: DataFile): RecordSource {
  const losses: Losses = { beyond: 0, undecoded: 0 }
  const datum = new DatumWarnings()
  return {
    name: data.name,
    textual: false,
    read: () =>
      data.withBytes(bytes => readGroups(bytes, data.name, Object.assign(losses, NO_LOSSES), datum)),
    warnings: () => [...datum.all(), ...lossTexts(losses)],
  }
}

function rowsAtATime(columns: number): number {
  return Math.min(MAX_ROWS, Math.max(MIN_ROWS, Math.floor(CACHED_VALUES / Math.max(1, columns))))
}

/** Values that could not be represented: days and moments beyond the calendar, bytes that are no UTF-8. */
interface Losses {
  beyond: number
  undecoded: number
}

const NO_LOSSES: Losses = { beyond: 0, undecoded: 0 }

function lossTexts({ beyond, undecoded }: Losses): readonly string[] {
  return [
    ...(beyond === 0
      ? []
      : [`days or moments before the year 1 or after 9999 were read as no value: ${beyond}`]),
    ...(undecoded === 0
      ? []
      : [
          `texts that are not UTF-8, with U+FFFD in place of other bytes: ${undecoded}; leave out binary columns`,
        ]),
  ]
}

async function* readGroups(
  bytes: RandomAccess,
  file: string,
  losses: Losses,
  datum: DatumWarnings,
): AsyncGenerator<readonly SourceRow[]> {
  const library = require('hyparquet') as typeof import('hyparquet')
  const source = {
    byteLength: bytes.size,
    slice: (start: number, end = bytes.size) => {
      const part = bytes.read(start, end - start)
      return part.buffer.slice(part.byteOffset, part.byteOffset + part.length) as ArrayBuffer
    },
  }
  let writer: string | undefined
  try {
    const metadata = await library.parquetMetadataAsync(source)
    writer = metadata.created_by?.slice(0, 80)
    const schema = library.parquetSchema(metadata)
    refuseWide(file, schema.children.length)
    const geometries = geometryColumns(metadata, file, datum)
    const conversions = columnConversions(schema)
    const nested = groupNames(schema)
    const isNested = nested.length === schema.children.length
    const compressors = await compressorsFor(metadata, file)
    const parsers = parsersOf(losses) as ParquetParsers
    let rowStart = 0
    for (const group of metadata.row_groups) {
      const count = Number(group.num_rows)
      refuseLarge(group.total_byte_size, file)
      const step = rowsAtATime(group.columns.length)
      for (let start = rowStart; start < rowStart + count; start += step) {
        const objects = await library.parquetReadObjects({
          file: source,
          metadata,
          rowStart: start,
          rowEnd: Math.min(start + step, rowStart + count),
          compressors,
          parsers,
        })
        refuseBeyond(isNested ? objects : objects.slice(-1), count)
        for (let from = 0; from < objects.length; from += BATCH_ROWS)
          yield objects.slice(from, from + BATCH_ROWS).map((data, at): SourceRow => {
            convertMembers(data, conversions)
            setAbsent(data, nested)
            return { row: start + from + at + 1, line: undefined, data: withGeometries(data, geometries) }
          })
      }
      rowStart += count
    }
  } catch (error) {
    throw error instanceof Fault ? error : unreadableFile(error as Error, file, writer)
  }
}

function refuseLarge(bytes: bigint, file: string): void {
  if (Number(bytes) > MAX_GROUP)
    throw unreadable(
      `A row group has ${bytes} bytes, which is too large to be read.`,
      { file },
      'Write the file with smaller row groups.',
    )
}

function unreadableFile(error: Error, file: string, writer: string | undefined): Fault {
  const message = error.message.replace(/\.+$/, '')
  return unreadable(
    `The Parquet file${writer === undefined ? '' : `, which ${writer} wrote,`} cannot be read: ${message}.`,
    { file },
    'Where it is damaged, get it again; else read it with pandas, Arrow or DuckDB, and write it again with the codec snappy or zstd.',
    error,
  )
}

/**
 * Rows beyond the columns, of which a few bytes can declare any number, have no values at all. So has a null of a list, a map or a
 * structure, so that of columns of these alone all rows are looked at.
 */
function refuseBeyond(rows: readonly Readonly<Record<string, unknown>>[], count: number): void {
  const hasNone = (values: readonly unknown[]) =>
    values.length > 0 && values.every(value => value === undefined)
  if (rows.length > 0 && rows.every(row => hasNone(Object.values(row))))
    throw new RangeError(`a row group of ${count} rows has columns of fewer`)
}

function parsersOf(losses: Losses) {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const counted = (text: string | null) => {
    if (text === null) losses.beyond++
    return text
  }
  return {
    timestampFromMilliseconds: (millis: bigint) => counted(isoOf(millis * 1_000_000n)),
    timestampFromMicroseconds: (micros: bigint) => counted(isoOf(micros * 1000n)),
    timestampFromNanoseconds: (nanos: bigint) => counted(isoOf(nanos)),
    dateFromDays: (days: number) => counted(isoOf(BigInt(days) * DAY)?.slice(0, 10) ?? null),
    stringFromBytes: (bytes: Uint8Array | undefined) => {
      const text = bytes && decoder.decode(bytes)
      if (text?.includes('\ufffd') && !isUtf8(bytes as Uint8Array)) losses.undecoded++
      return text
    },
  }
}

/** A day in nanoseconds. */
const DAY = 86_400_000_000_000n

/** A UTC moment in ISO 8601 with all its digits; null for one beyond the calendar. */
function isoOf(nanoseconds: bigint): string | null {
  const seconds = nanoseconds / 1_000_000_000n - (nanoseconds % 1_000_000_000n < 0n ? 1n : 0n)
  const rest = nanoseconds - seconds * 1_000_000_000n
  const date = new Date(Number(seconds) * 1000)
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999 || date.getUTCFullYear() < 1) return null
  const fraction = rest === 0n ? '' : `.${String(rest).padStart(9, '0').replace(/0+$/, '')}`
  return `${date.toISOString().slice(0, 19)}${fraction}Z`
}

/** Unpackers of pages, which are as long as their headers declare, and refused before where only a bomb is. */
async function compressorsFor(metadata: FileMetaData, file: string): Promise<Compressors> {
  const library = require('hyparquet') as typeof import('hyparquet')
  const codecs = new Set(
    metadata.row_groups.flatMap(group => group.columns.map(column => column.meta_data?.codec)),
  )
  const zstd = codecs.has('ZSTD') ? await loadZstd() : undefined
  const unpackers: Compressors = {
    SNAPPY: (input, length) => {
      const output = new Uint8Array(length)
      library.snappyUncompress(input, output)
      return output
    },
    GZIP: (input, length) => gunzipSync(input, { maxOutputLength: length + 1 }),
    BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: length + 1 }),
    LZ4_RAW: unpackLz4,
    LZ4: unpackLz4,
    // In pieces, because frames may declare another size, or none.
    ZSTD: (input, length) => {
      zstd?.reset()
      return zstd?.decompressChunk(input, length + 1) ?? input
    },
  }
  return Object.fromEntries(
    Object.entries(unpackers).map(([codec, unpack]) => [
      codec,
      (input: Uint8Array, length: number) => {
        refuseBomb(length, input.length, { file })
        return unpack(input, length)
      },
    ]),
  )
}

/** Zstandard for Node.js below 22.15, whose zlib lacks it. */
async function loadZstd() {
  const { Zstd } = await import('@hpcc-js/wasm-zstd')
  return Zstd.load()
}

/**
 * Decompresses a block of LZ4 (LZ4 Block Format), also within Hadoop frames. Throws RangeError for damaged data.
 *
 * @param length bytes of the decompressed block
 */
export function unpackLz4(input: Uint8Array, length: number): Uint8Array {
  try {
    return unpackBlock(input, length)
  } catch (error) {
    if (input.length < 8) throw error
    return unpackFrames(input, length)
  }
}

/** Hadoop writes the sizes of the decompressed and of the compressed block before each, big-endian. */
function unpackFrames(input: Uint8Array, length: number): Uint8Array {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength)
  const output = new Uint8Array(length)
  let written = 0
  for (let at = 0; at + 8 <= input.length && written < length; ) {
    const size = view.getUint32(at)
    const packed = view.getUint32(at + 4)
    if (size > length - written) throw new RangeError('LZ4: a block beyond the page')
    output.set(unpackBlock(input.subarray(at + 8, at + 8 + packed), size), written)
    written += size
    at += 8 + packed
  }
  if (written !== length) throw new RangeError('LZ4: the data end too soon')
  return output
}

function unpackBlock(input: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length)
  let [from, to] = [0, 0]
  const more = (start: number) => {
    let sum = start
    if (start < 15) return sum
    for (;;) {
      const byte = input[from++]
      if (byte === undefined) throw new RangeError('LZ4: the data end too soon')
      sum += byte
      if (byte !== 255) return sum
    }
  }
  while (from < input.length) {
    const token = input[from++] as number
    const literals = more(token >> 4)
    if (from + literals > input.length || to + literals > length) throw new RangeError('LZ4: damaged')
    output.set(input.subarray(from, from + literals), to)
    from += literals
    to += literals
    if (from >= input.length) break
    const offset = (input[from] as number) | ((input[from + 1] ?? 0) << 8)
    from += 2
    const size = more(token & 15) + 4
    if (offset === 0 || offset > to || to + size > length) throw new RangeError('LZ4: damaged')
    for (let i = 0; i < size; i++) output[to + i] = output[to + i - offset] as number
    to += size
  }
  if (to !== length) throw new RangeError('LZ4: the data end too soon')
  return output
}
