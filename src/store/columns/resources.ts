import type { BlankNode, NamedNode, Term } from '../../rdf/term.ts'
import { compareBytes, NumberReader } from './bytes.ts'
import { behindPrefix, type TermBytes } from './dictionary-texts.ts'
import { BLOCK, DIGEST_BYTES, type ResourceSegment, type ResourcesHeader } from './format.ts'
import type { SectionSource } from './sections.ts'

/** A run of resources that can be read. */
interface Segment {
  /** Number of resources before it. */
  readonly before: number
  readonly count: number
  readonly first: string
  readonly last: string
  text(index: number): string
  /** Returns the location of a text; false where it is not stored verbatim. */
  bytesOf(index: number, found: TermBytes): boolean
  /** Number of members that come before some text, and whether the next one is that text. */
  find(bytes: Buffer): { readonly index: number; readonly found: boolean }
}

/** The first and the last text of a segment. */
interface Bounds {
  readonly isBlank: boolean
  readonly first: Buffer
  readonly last: Buffer
}

/** The IRIs and blank nodes of a graph, numbered from 1 in their order (store/columns/format.ts). */
export class Resources {
  readonly count: number
  readonly blanks: number
  private readonly segments: readonly Segment[]
  private readonly bounds: readonly Bounds[]
  /** The text that was looked for last, and its number: a query looks for one in column after column. */
  private last: { readonly text: string; readonly number: number } = { text: '', number: 0 }

  constructor(header: ResourcesHeader, source: SectionSource) {
    this.count = header.count
    this.blanks = header.blanks
    let before = 0
    this.segments = header.segments.map(segment => {
      const opened = openSegment(segment, before, source)
      before += segment.count
      return opened
    })
    this.bounds = this.segments.map(({ before, first, last }) => {
      return { isBlank: before < this.blanks, first: Buffer.from(first), last: Buffer.from(last) }
    })
  }

  /** The text of a resource: an IRI, or a blank node with its `_:`. */
  text(id: number): string {
    const segment = this.segmentOf(id)
    return segment.text(id - 1 - segment.before)
  }

  private segmentOf(id: number): Segment {
    const { segments } = this
    let number = 0
    while (number + 1 < segments.length && (segments[number + 1] as Segment).before < id) number++
    return segments[number] as Segment
  }

  /** Returns the location of the text of a resource; false where it is not stored verbatim. */
  bytes(id: number, found: TermBytes): boolean {
    const segment = this.segmentOf(id)
    if (!segment.bytesOf(id - 1 - segment.before, found)) return false
    found.type = id <= this.blanks ? 'blank' : 'iri'
    if (found.type === 'blank') found.from += 2
    found.datatype = ''
    found.language = ''
    return true
  }

  term(id: number): NamedNode | BlankNode {
    const text = this.text(id)
    return id <= this.blanks ? { type: 'blank', value: text.slice(2) } : { type: 'iri', value: text }
  }

  /** False where no text can be one of both: only the bounds of segments are looked at. */
  overlaps(other: Resources): boolean {
    return this.bounds.some(own =>
      other.bounds.some(
        ({ isBlank, first, last }) =>
          own.isBlank === isBlank &&
          Buffer.compare(own.first, last) <= 0 &&
          Buffer.compare(first, own.last) <= 0,
      ),
    )
  }

  /** The number of a term; 0 where the graph does not have it, and for what is no resource. */
  findTerm(term: Term): number {
    if (term.type === 'iri') return this.find(term.value)
    return term.type === 'blank' ? this.find(`_:${term.value}`) : 0
  }

  /** The number of a resource; 0 where the graph has none of that text. */
  find(text: string): number {
    if (this.last.text !== text) this.last = { text, number: this.numberOf(text) }
    return this.last.number
  }

  private numberOf(text: string): number {
    const { number, found } = this.placeOf(Buffer.from(text), text.startsWith('_:'))
    return found ? number : 0
  }

  /** The number of the first resource that is not before a text, blank nodes before IRIs; one more than there are where all are. */
  lowerBound(text: string): number {
    return this.placeOf(Buffer.from(text), text.startsWith('_:')).number
  }

  /** Numbers of the IRIs that begin with a text, from one to below another. */
  rangeOfPrefix(prefix: string): readonly [from: number, to: number] {
    if (prefix === '') return [this.blanks + 1, this.count + 1]
    const bytes = Buffer.from(prefix)
    return [this.placeOf(bytes, false).number, this.placeOf(behindPrefix(bytes), false).number]
  }

  private placeOf(bytes: Buffer, isBlank: boolean): { readonly number: number; readonly found: boolean } {
    let candidate: Segment | null = null
    for (const segment of this.segments) {
      // Blank nodes and IRIs are in segments of their own.
      if (segment.before < this.blanks !== isBlank) continue
      if (Buffer.compare(Buffer.from(segment.first), bytes) > 0) break
      candidate = segment
    }
    if (candidate === null) return { number: isBlank ? 1 : this.blanks + 1, found: false }
    const { index, found } = candidate.find(bytes)
    return { number: candidate.before + index + 1, found }
  }
}

function openSegment(header: ResourceSegment, before: number, source: SectionSource): Segment {
  return header.kind === 'digest'
    ? new DigestSegment(header, before, source)
    : new TextSegment(header, before, source)
}

class DigestSegment implements Segment {
  readonly before: number
  readonly count: number
  readonly first: string
  readonly last: string
  private readonly header: Extract<ResourceSegment, { kind: 'digest' }>
  private readonly source: SectionSource
  private loaded: Buffer | null = null

  constructor(header: Extract<ResourceSegment, { kind: 'digest' }>, before: number, source: SectionSource) {
    this.header = header
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

  bytesOf(): boolean {
    return false
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

  /** The place of a text that is none of these. */
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

class TextSegment implements Segment {
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
  /** The last text that was read, and its place. */
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

  bytesOf(index: number, found: TermBytes): boolean {
    this.read(index)
    found.bytes = this.scratch
    found.from = 0
    found.to = this.length
    return true
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

  /** Brings one text into the scratch. */
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
