import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  cpSync,
  createReadStream,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { PROCESS_NAME } from '../../runtime/processes.ts'

/** Replaces a file in one step: if the process dies at any moment, a reader finds either the old text or the new one. */
export function replaceDurably(file: string, text: string): void {
  // The name identifies its owner if the process dies before the next line.
  const fresh = `${file}.${PROCESS_NAME}.new`
  try {
    writeDurably(fresh, text)
    renameSync(fresh, file)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
  synchronise(path.dirname(file))
}

/**
 * Replaces a file that may be lost, of what is cached or counted, in one step and without waiting for the disk; false where that
 * fails. Its folder is not created.
 */
export function replaceCached(file: string, content: string | Uint8Array): boolean {
  const fresh = `${file}.${PROCESS_NAME}.new`
  try {
    writeFileSync(fresh, content)
    renameSync(fresh, file)
    return true
  } catch {
    rmSync(fresh, { force: true })
    return false
  }
}

/** Writes a file; it is on disk when this returns. */
export function writeDurably(file: string, text: string): void {
  writeFileSync(file, text, { flush: true })
}

/** Moves a file or folder, also to another disk: the folder var may be one, as the volume of a container is. */
export function moveAcross(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    cpSync(from, to, { recursive: true, preserveTimestamps: true })
    rmSync(from, { recursive: true })
  }
}

/** Throws the error of the system where a folder takes no files, as on a read-only disk, before anything is changed. */
export function requireWritable(folder: string): void {
  mkdirSync(folder, { recursive: true })
  accessSync(folder, constants.W_OK)
}

/** Waits until a file or folder is on disk. */
export function synchronise(file: string): void {
  const handle = openSync(file, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Creates a hard link to a file that never changes, or a copy if the file system has no hard links. */
export function shareFile(file: string, other: string): void {
  try {
    linkSync(file, other)
  } catch {
    copyFileSync(file, other)
  }
}

/** The checksum of a file of a published version when it was written, so that damage is detected without decompressing it. */
export interface FileSum {
  /** Bytes. */
  readonly size: number
  /** CRC-32 of all bytes. */
  readonly crc32: number
  /** Time of the last modification: milliseconds since 1970. */
  readonly modified?: number
}

/** Bytes that are read at a time. */
const PIECE_BYTES = 2 ** 20

/** Reads a whole file. Rejects with the system error if it cannot be read. */
export async function sumOf(file: string): Promise<FileSum> {
  let [size, sum] = [0, 0]
  for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES })) {
    size += (piece as Buffer).length
    sum = crc32(piece as Buffer, sum)
  }
  return { size, crc32: sum, modified: statSync(file).mtimeMs }
}

/**
 * Describes how a file differs from its checksum; null if it does not. It must be readable, and is read if it was modified since, or
 * if `isRead`. Damage that left its time as it was changes that, so that later checks find it, too. Rejects like {@link sumOf}.
 */
export async function incompatibilityOf(
  file: string,
  expected: FileSum,
  isRead: boolean,
): Promise<string | null> {
  const { size, mtimeMs } = statSync(file)
  if (size !== expected.size) return `has ${size} bytes, ${expected.size} are expected`
  closeSync(openSync(file, 'r'))
  const isUnmodified = mtimeMs === expected.modified
  if (isUnmodified && !isRead) return null
  if ((await sumOf(file)).crc32 === expected.crc32) return null
  if (isUnmodified) utimesSync(file, new Date(), new Date())
  return 'has other bytes than were written'
}
