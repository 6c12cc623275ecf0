import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { type FileSection, type GraphHeader, MAGIC, type SectionNumber } from '../file-layout.ts'

/** Receives the sections of a graph's columns as they are built. */
export interface SectionSink {
  readonly sections: readonly FileSection[]
  /** Receives the bytes of an array, which must not change afterwards. */
  add(array: Uint32Array | Float64Array | Uint8Array): SectionNumber
}

const ALIGNMENT = 8
const PADDING = Buffer.alloc(ALIGNMENT)

/** Writes sections to a file. */
export class SectionWriter implements SectionSink {
  readonly sections: FileSection[] = []
  private readonly file: number
  private offset = 0

  constructor(path: string) {
    this.file = openSync(path, 'w')
  }

  add(array: Uint32Array | Float64Array | Uint8Array): SectionNumber {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
    this.sections.push({ offset: this.offset, length: bytes.length, check: crc32(bytes) })
    this.write(bytes)
    const rest = this.offset % ALIGNMENT
    if (rest > 0) this.write(PADDING.subarray(rest))
    return this.sections.length - 1
  }

  /** Writes the header and its offset, which completes the file. */
  close(header: Omit<GraphHeader, 'sections'>): void {
    const text = Buffer.from(JSON.stringify({ ...header, sections: this.sections } satisfies GraphHeader))
    const end = Buffer.alloc(16 + MAGIC.length)
    end.writeUInt32LE(text.length, 0)
    end.writeUInt32LE(crc32(text), 4)
    end.writeBigUInt64LE(BigInt(this.offset), 8)
    end.write(MAGIC, 16)
    this.write(text)
    this.write(end)
    fsyncSync(this.file)
    closeSync(this.file)
  }

  abandon(): void {
    closeSync(this.file)
  }

  private write(bytes: Uint8Array): void {
    writeFileSync(this.file, bytes)
    this.offset += bytes.length
  }
}

/** Stores sections in memory that all threads share. */
export class SectionMemory implements SectionSink {
  readonly sections: FileSection[] = []
  readonly buffers: SharedArrayBuffer[] = []

  add(array: Uint32Array | Float64Array | Uint8Array): SectionNumber {
    const { buffer, byteOffset, byteLength } = array
    this.sections.push({ offset: 0, length: byteLength, check: 0 })
    if (buffer instanceof SharedArrayBuffer && byteLength === buffer.byteLength) this.buffers.push(buffer)
    else {
      const copy = new SharedArrayBuffer(byteLength)
      new Uint8Array(copy).set(new Uint8Array(buffer, byteOffset, byteLength))
      this.buffers.push(copy)
    }
    return this.sections.length - 1
  }
}
