import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

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
