import { compareBytes, NumberReader } from './bytes.ts'
import { firstWhere, type TermBytes } from './dictionary-texts.ts'
import { BLOCK, DIGEST_BYTES, type ResourceSegment } from './file-layout.ts'
import type { SectionSource } from './sections.ts'

/** A readable run of resources. */
export interface ResourceRun {
  text(index: number): string
  /** Returns the location of a text in UTF-8, valid until another is read. */
  bytesOf(index: number, found: TermBytes): void
  /** Number of members that sort before a text, and whether the next one equals it. */
  find(bytes: Buffer): { readonly index: number; readonly found: boolean }
}

export function openSegment(header: ResourceSegment, source: SectionSource): ResourceRun {
  return header.kind === 'digest' ? new DigestSegment(header, source) : new TextSegment(header, source)
}

const HEX = Buffer.from('0123456789abcdef')

class DigestSegment implements ResourceRun {
  private readonly header: Extract<ResourceSegment, { kind: 'digest' }>
  private readonly source: SectionSource
  private loaded: Buffer | null = null
  /** The last text that was read. */
  private readonly scratch: Buffer

  constructor(header: Extract<ResourceSegment, { kind: 'digest' }>, source: SectionSource) {
    this.header = header
    this.scratch = Buffer.from(header.prefix + '0'.repeat(2 * DIGEST_BYTES))
    this.source = source
  }

  text(index: number): string {
    const start = index * DIGEST_BYTES
    return this.header.prefix + this.bytes().toString('hex', start, start + DIGEST_BYTES)
  }

  bytesOf(index: number, found: TermBytes): void {
    const bytes = this.bytes()
    const { scratch } = this
    let at = scratch.length - 2 * DIGEST_BYTES
    for (let from = index * DIGEST_BYTES; from < (index + 1) * DIGEST_BYTES; from++) {
      const byte = bytes[from] as number
      scratch[at++] = HEX[byte >> 4] as number
      scratch[at++] = HEX[byte & 15] as number
    }
    found.bytes = scratch
    found.from = 0
    found.to = scratch.length
  }

  find(text: Buffer): { readonly index: number; readonly found: boolean } {
    const prefix = Buffer.from(this.header.prefix)
    const digits = text.toString('latin1', prefix.length)
    if (!text.subarray(0, prefix.length).equals(prefix) || !/^[0-9a-f]{40}$/.test(digits)) {
      const isBehind = (at: number) => Buffer.compare(Buffer.from(this.text(at)), text) >= 0
      return { index: firstWhere(0, this.header.count, isBehind), found: false }
    }
    const key = Buffer.from(digits, 'hex')
    const bytes = this.bytes()
    const order = (at: number) =>
      compareBytes(bytes, at * DIGEST_BYTES, (at + 1) * DIGEST_BYTES, key, 0, DIGEST_BYTES)
    const { count } = this.header
    const index = firstWhere(0, count, at => order(at) >= 0)
    return { index, found: index < count && order(index) === 0 }
  }

  private bytes(): Buffer {
    this.loaded ??= Buffer.from(this.source.get(this.header.bytes))
    return this.loaded
  }
}

class TextSegment implements ResourceRun {
  private readonly header: Extract<ResourceSegment, { kind: 'text' }>
  private readonly source: SectionSource
  private loaded: {
    readonly bytes: Buffer
    readonly blocks: Uint32Array
    readonly reader: NumberReader
  } | null = null
  /** The last text that was read, and its index. */
  private scratch = Buffer.alloc(256)
  private length = 0
  private at = -1

  constructor(header: Extract<ResourceSegment, { kind: 'text' }>, source: SectionSource) {
    this.header = header
    this.source = source
  }

  text(index: number): string {
    this.read(index)
    return this.scratch.toString('utf8', 0, this.length)
  }

  bytesOf(index: number, found: TermBytes): void {
    this.read(index)
    found.bytes = this.scratch
    found.from = 0
    found.to = this.length
  }

  find(text: Buffer): { readonly index: number; readonly found: boolean } {
    const { count } = this.header
    // The block before the first that begins after the text.
    const block = firstWhere(1, Math.ceil(count / BLOCK), at => this.compare(at * BLOCK, text) > 0) - 1
    const end = Math.min(count, (block + 1) * BLOCK)
    for (let index = block * BLOCK; index < end; index++) {
      const order = this.compare(index, text)
      if (order >= 0) return { index, found: order === 0 }
    }
    return { index: end, found: false }
  }

  private compare(index: number, text: Buffer): number {
    this.read(index)
    return compareBytes(this.scratch, 0, this.length, text, 0, text.length)
  }

  /** Reads one text into the scratch buffer. */
  private read(index: number): void {
    if (index === this.at) return
    const { bytes, blocks, reader } = this.open()
    const begin = index - (index % BLOCK)
    let next = begin
    if (this.at >= begin && this.at < index) next = this.at + 1
    else reader.at = blocks[(index / BLOCK) >>> 0] as number
    for (; next <= index; next++) {
      const shared = next === begin ? 0 : reader.next()
      const length = reader.next()
      if (shared + length > this.scratch.length) {
        const larger = Buffer.alloc(2 * (shared + length))
        this.scratch.copy(larger, 0, 0, shared)
        this.scratch = larger
      }
      const { scratch } = this
      let from = reader.at
      for (let at = shared; at < shared + length; at++) scratch[at] = bytes[from++] as number
      reader.at = from
      this.length = shared + length
    }
    this.at = index
  }

  private open() {
    if (this.loaded === null) {
      const bytes = Buffer.from(this.source.get(this.header.bytes))
      const blocks = new Uint32Array(this.source.get(this.header.blocks))
      this.loaded = { bytes, blocks, reader: new NumberReader(bytes) }
    }
    return this.loaded
  }
}
