import { compareBytes, NumberReader } from './bytes.ts'
import type { TermBytes } from './dictionary-texts.ts'
import { BLOCK, DIGEST_BYTES, type ResourceSegment } from './file-layout.ts'
import type { SectionSource } from './sections.ts'

/** A readable run of resources. */
export interface ResourceRun {
  readonly before: number
  readonly count: number
  readonly first: string
  readonly last: string
  text(index: number): string
  /** The text in UTF-8, valid until another is read. */
  encoded(index: number): Buffer
  /** Returns the location of a text, valid until another is read. */
  bytesOf(index: number, found: TermBytes): void
  /** Number of members that sort before a text, and whether the next one equals it. */
  find(bytes: Buffer): { readonly index: number; readonly found: boolean }
}

/** Opens a segment, given the number of resources before it. */
export function openSegment(header: ResourceSegment, before: number, source: SectionSource): ResourceRun {
  return header.kind === 'digest'
    ? new DigestSegment(header, before, source)
    : new TextSegment(header, before, source)
}

const HEX = Buffer.from('0123456789abcdef')

class DigestSegment implements ResourceRun {
  readonly before: number
  readonly count: number
  readonly first: string
  readonly last: string
  private readonly header: Extract<ResourceSegment, { kind: 'digest' }>
  private readonly source: SectionSource
  private loaded: Buffer | null = null
  /** The last text that was read. */
  private readonly scratch: Buffer

  constructor(header: Extract<ResourceSegment, { kind: 'digest' }>, before: number, source: SectionSource) {
    this.header = header
    this.scratch = Buffer.from(header.prefix + '0'.repeat(2 * DIGEST_BYTES))
    this.before = before
    this.count = header.count
    this.first = header.first
    this.last = header.last
    this.source = source
  }

  text(index: number): string {
    const start = index * DIGEST_BYTES
    return this.header.prefix + this.bytes().toString('hex', start, start + DIGEST_BYTES)
  }

  encoded(index: number): Buffer {
    const bytes = this.bytes()
    const { scratch } = this
    let at = scratch.length - 2 * DIGEST_BYTES
    for (let from = index * DIGEST_BYTES; from < (index + 1) * DIGEST_BYTES; from++) {
      const byte = bytes[from] as number
      scratch[at++] = HEX[byte >> 4] as number
      scratch[at++] = HEX[byte & 15] as number
    }
    return scratch
  }

  bytesOf(index: number, found: TermBytes): void {
    found.bytes = this.encoded(index)
    found.from = 0
    found.to = found.bytes.length
  }

  find(text: Buffer): { readonly index: number; readonly found: boolean } {
    const prefix = Buffer.from(this.header.prefix)
    const digits = text.toString('latin1', prefix.length)
    if (!text.subarray(0, prefix.length).equals(prefix) || !/^[0-9a-f]{40}$/.test(digits))
      return { index: this.lowerBound(text), found: false }
    const key = Buffer.from(digits, 'hex')
    const bytes = this.bytes()
    let [low, high] = [0, this.count]
    while (low < high) {
      const middle = (low + high) >> 1
      const start = middle * DIGEST_BYTES
      const order = compareBytes(bytes, start, start + DIGEST_BYTES, key, 0, DIGEST_BYTES)
      if (order === 0) return { index: middle, found: true }
      if (order < 0) low = middle + 1
      else high = middle
    }
    return { index: low, found: false }
  }

  /** The insertion index of a text that is not a member. */
  private lowerBound(text: Buffer): number {
    let [low, high] = [0, this.count]
    while (low < high) {
      const middle = (low + high) >> 1
      if (Buffer.compare(Buffer.from(this.text(middle)), text) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  private bytes(): Buffer {
    this.loaded ??= Buffer.from(this.source.get(this.header.bytes))
    return this.loaded
  }
}

class TextSegment implements ResourceRun {
  readonly before: number
  readonly count: number
  readonly first: string
  readonly last: string
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

  constructor(header: Extract<ResourceSegment, { kind: 'text' }>, before: number, source: SectionSource) {
    this.header = header
    this.before = before
    this.count = header.count
    this.first = header.first
    this.last = header.last
    this.source = source
  }

  text(index: number): string {
    this.read(index)
    return this.scratch.toString('utf8', 0, this.length)
  }

  encoded(index: number): Buffer {
    this.read(index)
    return this.scratch.subarray(0, this.length)
  }

  bytesOf(index: number, found: TermBytes): void {
    this.read(index)
    found.bytes = this.scratch
    found.from = 0
    found.to = this.length
  }

  find(text: Buffer): { readonly index: number; readonly found: boolean } {
    let [low, high] = [0, Math.ceil(this.count / BLOCK) - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.compare(middle * BLOCK, text) <= 0) low = middle
      else high = middle - 1
    }
    const end = Math.min(this.count, (low + 1) * BLOCK)
    for (let index = low * BLOCK; index < end; index++) {
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
