import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createGunzip, gunzipSync, inflateRawSync } from 'node:zlib'
import { formatOf, rdfFormatNamed } from './formats.ts'
import { fileUnreadable, misconfigured, undecided, unreadable } from './source.ts'
import { boundedStream } from './text/decode.ts'
import type { TextFile } from './text/text.ts'
import {
  fileAccess,
  isZip,
  listZip,
  memberPieces,
  memoryAccess,
  type RandomAccess,
  refusePacked,
  type ZipMember,
} from './zip.ts'

/** A data file, decompressed and extracted from its archive. */
export interface DataFile {
  readonly name: string
  /** The file name of the data themselves, without archive: `trees.csv`. */
  readonly base: string
  /** The first bytes, decompressed. */
  readonly head: Buffer
  /** All bytes, decompressed, piece by piece. Throws SourceUnreadable. */
  pieces(chunkSize: number): AsyncIterable<Buffer>
  /** The members of the archive, if the data themselves are an archive: workbooks, shapefiles. */
  readonly archive: Archive | null
  /**
   * Calls a function with random access to all bytes: compressed data are decompressed into a temporary file, which is deleted
   * afterwards. Throws SourceUnreadable.
   */
  withBytes<T>(use: (bytes: RandomAccess, path: string) => AsyncIterable<T>): AsyncGenerator<T>
}

/** A ZIP archive whose members are parts of one whole. */
export interface Archive {
  readonly members: readonly ZipMember[]
  /** A member by its exact path, decompressed; null if there is none. */
  read(name: string): AsyncIterable<Buffer> | null
  /** A whole member in memory. Throws SourceUnreadable if it is longer than the limit, in bytes. */
  whole(name: string, limit: number): Promise<Buffer | null>
}

const HEAD_BYTES = 2 ** 16

/** Maximum bytes of a member that is itself an archive and is read in memory: a workbook in a ZIP. */
const MAX_NESTED = 2 ** 29

/** Extensions of files in an archive that describe others and are not data. */
const BESIDE =
  /(?:^|\/)(?:\.|__MACOSX\/|readme|licen[cs]es?(?![a-z])|lisez|metadata|(?:liesmich|l[eé]eme|leia-?me|leggimi|leesmij)\.txt|thumbs\.db$)|\.(?:pdf|docx?|html?|md|png|jpe?g|qml|sld|cpg|prj|sbn|sbx|shx|qix|qpj|dbf|fix|idx|lyr)$|\.(?:shp|gdb)?\.xml$/i

/** Extensions of tables, which are the data of an archive without others, whatever their names: `licences.csv`, `metadata_2024.csv`. */
const TABLE = /\.(?:csv|tsv|json|jsonl|xlsx|ods|parquet)$/i

/**
 * Opens a file and its compression or archive, gzip and ZIP, detected from its bytes. Throws SourceUnreadable for damaged
 * archives and those without a unique data member.
 *
 * @param member the path of the data in an archive, if there are several candidates
 */
export function openData(path: string, name: string, member?: string): DataFile {
  const bytes = attemptOpen(path, name)
  try {
    const head = firstBytes(bytes, name)
    if (head[0] === 0x1f && head[1] === 0x8b) return gzipped(path, name, head)
    if (isZip(head)) return zipped(path, name, bytes, member)
    if (isTar(head)) throw tarFound(name)
    return plainFile(path, name, head)
  } finally {
    bytes.close()
  }
}

/** The data as text that is read piece by piece. */
export function fileText(data: DataFile, encoding: string | undefined): TextFile {
  return {
    path: data.name,
    name: data.name,
    pieces: chunkSize => data.pieces(chunkSize),
    ...(encoding === undefined ? {} : { encoding }),
  }
}

function attemptOpen(path: string, name: string): RandomAccess {
  try {
    return fileAccess(path)
  } catch (error) {
    throw fileUnreadable(error, name)
  }
}

/** A folder can be opened, and not be read. */
function firstBytes(bytes: RandomAccess, name: string): Buffer {
  try {
    return bytes.read(0, HEAD_BYTES)
  } catch (error) {
    throw fileUnreadable(error, name)
  }
}

function plainFile(path: string, name: string, head: Buffer): DataFile {
  return {
    name,
    base: name.slice(name.lastIndexOf('/') + 1),
    head,
    archive: null,
    pieces: chunkSize => filePieces(path, name, chunkSize),
    async *withBytes(use) {
      const bytes = attemptOpen(path, name)
      try {
        yield* use(bytes, path)
      } finally {
        bytes.close()
      }
    },
  }
}

async function* filePieces(path: string, name: string, chunkSize: number): AsyncGenerator<Buffer> {
  const input = createReadStream(path, { highWaterMark: chunkSize })
  try {
    yield* input as AsyncIterable<Buffer>
  } catch (error) {
    throw 'code' in (error as object) ? fileUnreadable(error, name) : error
  } finally {
    input.destroy()
  }
}

function gzipped(path: string, name: string, packedHead: Buffer): DataFile {
  const base = name.slice(name.lastIndexOf('/') + 1).replace(/\.t?gz$/i, '')
  const head = unpackedHead(() => gunzipSync(packedHead, { finishFlush: constants.Z_SYNC_FLUSH }))
  if (/\.(?:tar|tgz)$/i.test(base) || isTar(head)) throw tarFound(name)
  const pieces = (chunkSize: number) =>
    boundedStream(filePieces(path, name, chunkSize), createGunzip({ chunkSize }), { file: name })
  if (isZip(head))
    throw unreadable('The file is a ZIP archive within gzip.', { file: name }, 'Unpack it once.')
  return packed(name, base, head, pieces)
}

function isTar(head: Buffer): boolean {
  return head.subarray(257, 262).toString('latin1') === 'ustar'
}

function tarFound(file: string): Error {
  return unreadable('The file is an archive of tar.', { file }, 'Pack the data as zip or gz.')
}

/** Compressed data that are no archive themselves. */
function packed(
  name: string,
  base: string,
  head: Buffer,
  pieces: (chunkSize: number) => AsyncIterable<Buffer>,
): DataFile {
  return {
    name,
    base,
    head,
    archive: null,
    pieces,
    withBytes: use => inTemporaryFile(pieces, base, use),
  }
}

async function* inTemporaryFile<T>(
  pieces: (chunkSize: number) => AsyncIterable<Buffer>,
  base: string,
  use: (bytes: RandomAccess, path: string) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-data-'))
  // Names in archives are not trusted: only the extension is used.
  const path = join(folder, `data${/\.[a-z0-9]{1,8}$/i.exec(base)?.[0] ?? ''}`)
  try {
    await pipeline(pieces(2 ** 20), createWriteStream(path))
    const bytes = fileAccess(path)
    try {
      yield* use(bytes, path)
    } finally {
      bytes.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function zipped(path: string, name: string, bytes: RandomAccess, member: string | undefined): DataFile {
  const members = listZip(bytes, name)
  const archive = archiveOf(members, name, member => archivePieces(path, member, name, 2 ** 18))
  const whole = { ...plainFile(path, name, bytes.read(0, HEAD_BYTES)), archive }
  const names = new Set(members.map(it => it.name))
  if (names.has('[Content_Types].xml') || names.has('mimetype') || names.has('content.xml')) return whole
  const chosen = chooseMember(members, name, member)
  if (/\.shp$/i.test(chosen.name)) return { ...whole, base: chosen.name, archive }
  const base = chosen.name.slice(chosen.name.lastIndexOf('/') + 1)
  const pieces = (chunkSize: number) => archivePieces(path, chosen, name, chunkSize)
  const inner = `${name}/${chosen.name}`
  refusePacked(chosen, { file: inner })
  const head = memberHead(bytes, chosen)
  if (head[0] === 0x1f && head[1] === 0x8b) {
    const unpacked = unpackedHead(() => gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH }))
    const unzipped = (chunkSize: number) =>
      boundedStream(pieces(chunkSize), createGunzip({ chunkSize }), { file: inner })
    return packed(inner, base.replace(/\.gz$/i, ''), unpacked, unzipped)
  }
  if (!isZip(head)) return packed(inner, base, head, pieces)
  if (/\.zip$/i.test(base))
    throw unreadable('The file is a ZIP archive within a ZIP archive.', { file: inner }, 'Unpack it once.')
  return nested(inner, base, head, archive, chosen)
}

/** A workbook within an archive, which is read in memory. */
function nested(name: string, base: string, head: Buffer, outer: Archive, member: ZipMember): DataFile {
  let loaded: Promise<Archive> | undefined
  const open = async () => {
    const bytes = (await outer.whole(member.name, MAX_NESTED)) ?? Buffer.alloc(0)
    const access = memoryAccess(bytes)
    return archiveOf(listZip(access, name), name, inner => memberPieces(access, inner, name))
  }
  const archive = () => {
    loaded ??= open()
    return loaded
  }
  const read = (inner: string): AsyncIterable<Buffer> =>
    (async function* () {
      yield* (await archive()).read(inner) ?? []
    })()
  const pieces = (_: number) => outer.read(member.name) ?? emptyPieces()
  return {
    ...packed(name, base, head, pieces),
    archive: {
      members: [],
      read,
      whole: async (inner, limit) => (await archive()).whole(inner, limit),
    },
  }
}

async function* emptyPieces(): AsyncGenerator<Buffer> {}

function chooseMember(members: readonly ZipMember[], file: string, required: string | undefined): ZipMember {
  if (required !== undefined) {
    // macOS writes accents apart from their letters.
    const found = members.find(it => it.name.normalize() === required.normalize())
    if (found !== undefined) return found
    throw misconfigured(
      `The archive has no file ${JSON.stringify(required)}.`,
      listed(members),
      'options.file',
    )
  }
  const visible = members.filter(({ name }) => !/(?:^|\/)(?:\.|__MACOSX\/)/.test(name))
  const shapes = visible.filter(({ name }) => /\.shp$/i.test(name))
  const candidates = shapes.length > 0 ? shapes : members.filter(({ name }) => !BESIDE.test(name))
  const standard = candidates.filter(({ name }) => (formatOf(name) ?? rdfFormatNamed(name)) !== undefined)
  const lists = [standard, candidates, visible.filter(({ name }) => TABLE.test(name))]
  const [first, ...more] = lists.find(list => list.length > 0) ?? []
  if (first === undefined) throw unreadable('The archive has no file of data.', { file }, listed(members))
  if (more.length === 0) return first
  throw undecided(
    `The archive has ${more.length + 1} files of data, and one has to be chosen.`,
    'file',
    file,
    `options: { file: ${first.name} } (or --file). ${listed([first, ...more])}`,
  )
}

function listed(members: readonly ZipMember[]): string {
  if (members.length === 0) return 'It is empty.'
  const names = members.slice(0, 10).map(({ name }) => name)
  return `Files: ${names.join(', ')}${members.length > 10 ? ' …' : ''}`
}

function archiveOf(
  members: readonly ZipMember[],
  file: string,
  pieces: (member: ZipMember) => AsyncIterable<Buffer>,
): Archive {
  const find = (name: string) => members.find(it => it.name === name)
  const read = (name: string) => {
    const member = find(name)
    return member === undefined ? null : pieces(member)
  }
  return { members, read, whole: (name, limit) => wholeOf(find(name), read(name), limit, file) }
}

async function wholeOf(
  member: ZipMember | undefined,
  pieces: AsyncIterable<Buffer> | null,
  limit: number,
  file: string,
): Promise<Buffer | null> {
  if (member === undefined || pieces === null) return null
  if (member.size > limit)
    throw unreadable(
      `${member.name} has ${member.size} bytes, and at most ${limit} are read.`,
      { file },
      'Publish a smaller file: as Parquet, CSV or JSON Lines it is read in a stream.',
    )
  const parts: Buffer[] = []
  for await (const piece of pieces) parts.push(piece)
  return Buffer.concat(parts)
}

async function* archivePieces(
  path: string,
  member: ZipMember,
  file: string,
  chunkSize: number,
): AsyncGenerator<Buffer> {
  const bytes = attemptOpen(path, file)
  try {
    yield* memberPieces(bytes, member, file, chunkSize)
  } finally {
    bytes.close()
  }
}

function memberHead(bytes: RandomAccess, { offset, packed, method }: ZipMember): Buffer {
  const local = bytes.read(offset, 30)
  if (local.length < 30) return Buffer.alloc(0)
  const start = offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28)
  const raw = bytes.read(start, Math.min(packed, HEAD_BYTES))
  if (method !== 8) return raw
  return unpackedHead(() => inflateRawSync(raw, { finishFlush: constants.Z_SYNC_FLUSH }))
}

function unpackedHead(unpack: () => Buffer): Buffer {
  try {
    // A copy: the unpacked bytes may be many more.
    return Buffer.from(unpack().subarray(0, HEAD_BYTES))
  } catch {
    return Buffer.alloc(0)
  }
}
