import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { COLUMNS_FORMAT, type GraphHeader, MAGIC, type SectionNumber } from './file-layout.ts'

/** Provides the bytes of a graph's sections; a section that was returned once is returned again. */
export interface SectionSource {
  get(section: SectionNumber): SharedArrayBuffer
}

/** A columns file that is incomplete, or of another format version: it must be rebuilt. */
export class ColumnsDamaged extends Error {
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(`${path}: ${reason}`, options)
    this.name = 'ColumnsDamaged'
  }
}

/** System errors that do not indicate a damaged file. */
const NOT_OF_THE_FILE: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM'])

const END_BYTES = 16 + MAGIC.length

/** Reads the header of a columns file. Throws {@link ColumnsDamaged}; errors of the file system are those of a missing file. */
export function readHeader(path: string): GraphHeader {
  const { size } = statSync(path)
  const file = openSync(path, 'r')
  try {
    if (size < END_BYTES) throw new ColumnsDamaged(path, `it has ${size} bytes`)
    const end = Buffer.alloc(END_BYTES)
    readExactly(file, end, size - END_BYTES, path)
    if (end.toString('latin1', 16) !== MAGIC) throw new ColumnsDamaged(path, 'it does not end as columns do')
    const [length, check] = [end.readUInt32LE(0), end.readUInt32LE(4)]
    const offset = Number(end.readBigUInt64LE(8))
    if (offset + length + END_BYTES !== size)
      throw new ColumnsDamaged(path, 'its header is not where it should be')
    const text = Buffer.alloc(length)
    readExactly(file, text, offset, path)
    if (crc32(text) !== check) throw new ColumnsDamaged(path, 'its header has other bytes than were written')
    const header = JSON.parse(text.toString()) as GraphHeader
    if (header.format !== COLUMNS_FORMAT)
      throw new ColumnsDamaged(path, `it has format ${header.format}, not ${COLUMNS_FORMAT}`)
    return header
  } finally {
    closeSync(file)
  }
}

/** CRC-32 of the text of a gzip file, as stored at its end (RFC 1952, section 2.3.1). */
export function unpackedCheck(path: string): number {
  const file = openSync(path, 'r')
  try {
    const end = Buffer.alloc(8)
    readExactly(file, end, Math.max(0, fstatSync(file).size - end.length), path)
    return end.readUInt32LE()
  } finally {
    closeSync(file)
  }
}

/** Reads the header of a columns file, and returns why it cannot be opened; null where it can. */
export function columnsProblem(path: string): string | null {
  try {
    readHeader(path)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Sections of a file, each read and verified on first use. */
export class SectionFile implements SectionSource {
  private readonly path: string
  private readonly header: GraphHeader
  private readonly onRead: (section: SectionNumber, bytes: SharedArrayBuffer) => void
  private readonly onDamage: (damage: ColumnsDamaged) => Error
  private readonly cached = new Map<SectionNumber, SharedArrayBuffer>()

  /**
   * @param onRead called for each section that was read, so that other threads need not read it
   * @param onDamage returns the error that the caller gets for a damaged section
   */
  constructor(
    path: string,
    header: GraphHeader,
    onRead: (section: SectionNumber, bytes: SharedArrayBuffer) => void = () => undefined,
    onDamage: (damage: ColumnsDamaged) => Error = damage => damage,
  ) {
    this.path = path
    this.header = header
    this.onRead = onRead
    this.onDamage = onDamage
  }

  /** Adds a section that another thread has read. */
  add(section: SectionNumber, bytes: SharedArrayBuffer): void {
    this.cached.set(section, bytes)
  }

  /** Throws {@link ColumnsDamaged} where the checksum of the bytes is wrong. */
  get(number: SectionNumber): SharedArrayBuffer {
    const known = this.cached.get(number)
    if (known !== undefined) return known
    try {
      const bytes = this.read(number)
      this.cached.set(number, bytes)
      this.onRead(number, bytes)
      return bytes
    } catch (error) {
      throw error instanceof ColumnsDamaged ? this.onDamage(error) : error
    }
  }

  private read(number: SectionNumber): SharedArrayBuffer {
    const section = this.header.sections[number]
    if (section === undefined) throw new ColumnsDamaged(this.path, `it has no section ${number}`)
    const bytes = new SharedArrayBuffer(section.length)
    const view = new Uint8Array(bytes)
    try {
      const file = openSync(this.path, 'r')
      try {
        readExactly(file, view, section.offset, this.path)
      } finally {
        closeSync(file)
      }
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code === undefined || NOT_OF_THE_FILE.has(code)) throw cause
      throw new ColumnsDamaged(
        this.path,
        code === 'ENOENT' ? 'it is missing' : `it cannot be read: ${code}`,
        {
          cause,
        },
      )
    }
    if (crc32(view) !== section.check)
      throw new ColumnsDamaged(this.path, `section ${number} has other bytes than were written`)
    return bytes
  }
}

/** Sections that are in memory. */
export class CachedSections implements SectionSource {
  private readonly buffers: readonly SharedArrayBuffer[]

  constructor(buffers: readonly SharedArrayBuffer[]) {
    this.buffers = buffers
  }

  get(section: SectionNumber): SharedArrayBuffer {
    const bytes = this.buffers[section]
    if (bytes === undefined) throw new ColumnsDamaged('a graph in memory', `it has no section ${section}`)
    return bytes
  }
}

function readExactly(file: number, into: Uint8Array, offset: number, path: string): void {
  for (let done = 0; done < into.length; ) {
    const count = readSync(file, into, done, into.length - done, offset + done)
    if (count === 0) throw new ColumnsDamaged(path, 'it ends too soon')
    done += count
  }
}

/**
 * Data that is derived from the columns of a graph on first use (permutations, lists of words), by name, in memory that all
 * threads share: the thread that computed it sends it to the others.
 */
export class Derived {
  private readonly cached = new Map<string, readonly SharedArrayBuffer[]>()
  private readonly onComputed: (name: string, buffers: readonly SharedArrayBuffer[]) => void

  constructor(onCreated: (name: string, buffers: readonly SharedArrayBuffer[]) => void = () => undefined) {
    this.onComputed = onCreated
  }

  has(name: string): boolean {
    return this.cached.has(name)
  }

  get(name: string, make: () => readonly SharedArrayBuffer[]): readonly SharedArrayBuffer[] {
    const known = this.cached.get(name)
    if (known !== undefined) return known
    const buffers = make()
    this.cached.set(name, buffers)
    this.onComputed(name, buffers)
    return buffers
  }

  /** Numbers that are computed on first use. */
  numbers(name: string, make: () => Uint32Array): Uint32Array {
    const [buffer] = this.get(name, () => [make().buffer as SharedArrayBuffer])
    return new Uint32Array(buffer as SharedArrayBuffer)
  }

  /** Adds data that another thread has computed. */
  add(name: string, buffers: readonly SharedArrayBuffer[]): void {
    this.cached.set(name, buffers)
  }
}
