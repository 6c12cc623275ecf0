import { isUtf8 } from 'node:buffer'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { crc32, createInflateRaw } from 'node:zlib'
import type { FaultPlace } from '../errors/errors.ts'
import { unreadable } from './source.ts'
import { boundedStream, decoderOf } from './text/decode.ts'

/** A file in a ZIP archive. */
export interface ZipMember {
  /** Its path in the archive, with slashes. */
  readonly name: string
  /** Bytes, decompressed and compressed. */
  readonly size: number
  readonly packed: number
  readonly method: number
  readonly isEncrypted: boolean
  /** Checksum of the decompressed bytes. */
  readonly crc: number
  /** Offset of its local header. */
  readonly offset: number
}

const END = 0x06054b50
const END_64 = 0x06064b50
const END_64_LOCATOR = 0x07064b50
const ENTRY = 0x02014b50
const LOCAL = 0x04034b50
const STORED = 0
const DEFLATED = 8

/** Maximum number of listed members, and maximum bytes of their list. */
const MAX_MEMBERS = 20_000
const MAX_DIRECTORY = 2 ** 26

/** True for the first bytes of a ZIP archive. */
export function isZip(head: Buffer): boolean {
  return head.length >= 4 && (head.readUInt32LE(0) === LOCAL || head.readUInt32LE(0) === END)
}

/**
 * Lists the files of a ZIP archive (APPNOTE.TXT 6.3.10, with ZIP64); folders are left out. Throws SourceUnreadable for an archive
 * that is damaged, has more than 20,000 members, or a member whose path leads out of it.
 */
export function listZip(bytes: RandomAccess, file: string): readonly ZipMember[] {
  const { offset, size, count } = findDirectory(bytes, file)
  if (count > MAX_MEMBERS || size > MAX_DIRECTORY)
    throw unreadable(
      `The archive has ${count} members, and at most ${MAX_MEMBERS} are read.`,
      { file },
      'Pack fewer files.',
    )
  const directory = bytes.read(offset, size)
  const members: ZipMember[] = []
  let at = 0
  for (let i = 0; i < count; i++) {
    if (at + 46 > directory.length || directory.readUInt32LE(at) !== ENTRY) throw damaged(file)
    const flags = directory.readUInt16LE(at + 8)
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map(field =>
      directory.readUInt16LE(at + field),
    ) as [number, number, number]
    const end = at + 46 + nameLength + extraLength + commentLength
    if (end > directory.length) throw damaged(file)
    const rawName = directory.subarray(at + 46, at + 46 + nameLength)
    const name = nameOf(rawName, (flags & 0x800) !== 0).replaceAll('\\', '/')
    const extra = directory.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength)
    const sizes = wideSizes(extra, {
      size: directory.readUInt32LE(at + 24),
      packed: directory.readUInt32LE(at + 20),
      offset: directory.readUInt32LE(at + 42),
    })
    if (
      name.startsWith('/') ||
      /^[a-z]:/i.test(name) ||
      name.split('/').includes('..') ||
      name.includes('\0')
    )
      throw unreadable(
        `The archive has a member whose path leads out of it: ${JSON.stringify(name)}.`,
        {
          file,
        },
        'Pack it again with names within the archive alone.',
      )
    if (!name.endsWith('/'))
      members.push({
        name,
        ...sizes,
        method: directory.readUInt16LE(at + 10),
        isEncrypted: (flags & 1) !== 0,
        crc: directory.readUInt32LE(at + 16),
      })
    at = end
  }
  return members
}

/** The name of a member: code page 437 without the flag of UTF-8 (APPNOTE.TXT, appendix D), which many programs leave out, such as that of macOS. */
function nameOf(raw: Buffer, isMarked: boolean): string {
  if (isMarked || isUtf8(raw)) return raw.toString('utf8')
  return decoderOf('cp437').decode(raw)
}

/** Throws SourceUnreadable for a member that is encrypted, or compressed by another method than deflate. */
export function refusePacked({ isEncrypted, method }: ZipMember, where: FaultPlace): void {
  if (isEncrypted) throw unreadable('The file is encrypted.', where, 'Save it without a password.')
  if (method !== STORED && method !== DEFLATED)
    throw unreadable(
      `The file is packed by method ${method} of ZIP, which is not read.`,
      where,
      'Pack it by deflate.',
    )
}

/**
 * Reads a member of a ZIP archive, decompressed, piece by piece. Throws SourceUnreadable for one that is encrypted, compressed by
 * another method than deflate, damaged, which its checksum shows at its end, or whose decompressed size exceeds the declared one or the limits.
 */
export async function* memberPieces(
  bytes: RandomAccess,
  member: ZipMember,
  file: string,
  chunkSize = 2 ** 18,
): AsyncGenerator<Buffer> {
  const where = { file: `${file}/${member.name}` }
  refusePacked(member, where)
  const local = bytes.read(member.offset, 30)
  if (local.length < 30 || local.readUInt32LE(0) !== LOCAL) throw damaged(file)
  const start = member.offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28)
  const packed = packedPieces(bytes, start, member.packed, chunkSize)
  let [length, crc] = [0, 0]
  for await (const piece of member.method === STORED
    ? packed
    : boundedStream(packed, createInflateRaw({ chunkSize }), where)) {
    length += piece.length
    if (length > member.size)
      throw unreadable(
        `The file unpacks to more than the ${member.size} bytes that the archive declares.`,
        where,
        'Pack it again.',
      )
    crc = crc32(piece, crc)
    yield piece
  }
  if (length === member.size && crc !== member.crc)
    throw unreadable('The checksum of the file is another one: it is damaged.', where, 'Get it again.')
  if (length !== member.size)
    throw unreadable(
      'The file ends before the length that the archive declares.',
      where,
      'Get it again, or pack it again.',
    )
}

async function* packedPieces(bytes: RandomAccess, start: number, length: number, chunkSize: number) {
  for (let at = 0; at < length; ) {
    const piece = bytes.read(start + at, Math.min(chunkSize, length - at))
    if (piece.length === 0) return
    at += piece.length
    yield piece
  }
}

interface Sizes {
  readonly size: number
  readonly packed: number
  readonly offset: number
}

/** ZIP64 sizes, stored in an extra field if they do not fit into the entry. */
function wideSizes(extra: Buffer, prefilter: Sizes): Sizes {
  const LIMIT = 0xffffffff
  for (let at = 0; at + 4 <= extra.length; ) {
    const length = extra.readUInt16LE(at + 2)
    if (extra.readUInt16LE(at) === 1) {
      let field = at + 4
      const next = (value: number) => {
        if (value !== LIMIT || field + 8 > Math.min(extra.length, at + 4 + length)) return value
        const wide = Number(extra.readBigUInt64LE(field))
        field += 8
        return wide
      }
      const size = next(prefilter.size)
      const packed = next(prefilter.packed)
      return { size, packed, offset: next(prefilter.offset) }
    }
    at += 4 + length
  }
  return prefilter
}

function findDirectory(bytes: RandomAccess, file: string) {
  const tailLength = Math.min(bytes.size, 65_557)
  const tail = bytes.read(bytes.size - tailLength, tailLength)
  for (let at = tail.length - 22; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== END) continue
    const count = tail.readUInt16LE(at + 10)
    const size = tail.readUInt32LE(at + 12)
    const offset = tail.readUInt32LE(at + 16)
    if (count !== 0xffff && offset !== 0xffffffff && size !== 0xffffffff) return { count, size, offset }
    if (at < 20 || tail.readUInt32LE(at - 20) !== END_64_LOCATOR) return { count, size, offset }
    const wide = bytes.read(Number(tail.readBigUInt64LE(at - 12)), 56)
    if (wide.length < 56 || wide.readUInt32LE(0) !== END_64) throw damaged(file)
    return {
      count: Number(wide.readBigUInt64LE(32)),
      size: Number(wide.readBigUInt64LE(40)),
      offset: Number(wide.readBigUInt64LE(48)),
    }
  }
  throw unreadable(
    'The ZIP archive has no list of its members: it is cut off or damaged.',
    { file },
    'Get the file again.',
  )
}

function damaged(file: string): Error {
  return unreadable('The ZIP archive is damaged.', { file }, 'Get the file again.')
}

/** Bytes with random access: of a file, or in memory. */
export interface RandomAccess {
  readonly size: number
  /** The bytes from an offset; fewer at the end. */
  read(offset: number, length: number): Buffer
  close(): void
}

/** The bytes of a file, read on demand. Throws the system error. */
export function fileAccess(path: string): RandomAccess {
  const file = openSync(path, 'r')
  const { size } = fstatSync(file)
  return {
    size,
    read(offset, length) {
      const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - offset)))
      let at = 0
      while (at < bytes.length) {
        const got = readSync(file, bytes, at, bytes.length - at, offset + at)
        if (got === 0) break
        at += got
      }
      return bytes.subarray(0, at)
    },
    close: () => closeSync(file),
  }
}

/** Bytes in memory. */
export function memoryAccess(bytes: Buffer): RandomAccess {
  return {
    size: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
    close: () => undefined,
  }
}
