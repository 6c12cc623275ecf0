import { Arena, ByteTable, sharedPrefix } from '../bytes.ts'
import { BLOCK, DIGEST_BYTES, type ResourceSegment, type ResourcesHeader } from '../file-layout.ts'
import { placesByNumber, sortInPlace, sortPieces } from '../sorting.ts'
import type { SectionSink } from './section-writer.ts'

/** Maximum number of IRI prefixes that are stored once. */
const MAX_PREFIXES = 250
const SLASH = 0x2f
const DIGEST_DIGITS = 40
/** First byte of the key of a resource that is stored without a prefix. */
const WHOLE = 0
const BLANK = 1

/**
 * Numbers the IRIs and blank nodes of a graph in order of first occurrence. Each is stored as the number of a prefix (up to its
 * last slash) and the remainder, where forty hexadecimal digits are stored as twenty bytes.
 */
export class ResourceTable {
  private readonly table = new ByteTable()
  /** Prefixes by number; the first two are reserved for no prefix and for blank nodes. */
  private readonly prefixes: Buffer[] = [Buffer.alloc(0), Buffer.from('_:')]
  private readonly prefixNumbers = new Map<string, number>([['_:', BLANK]])
  private last = BLANK
  private readonly key = Buffer.allocUnsafeSlow(2 ** 16)
  private text = Buffer.allocUnsafeSlow(2 ** 12)

  get size(): number {
    return this.table.size
  }

  /** The number of an IRI without its brackets, or of a blank node with its `_:`. */
  intern(bytes: Uint8Array, start: number, end: number): number {
    const prefix = this.prefixOf(bytes, start, end)
    const from = start + (this.prefixes[prefix] as Buffer).length
    const { key } = this
    const length = end - from
    key[0] = prefix
    if (length === DIGEST_DIGITS && packDigest(bytes, from, key)) {
      key[1] = 1
      return this.table.intern(key, 0, 2 + DIGEST_DIGITS / 2)
    }
    key[1] = 0
    if (length <= key.length - 2) {
      for (let at = 0; at < length; at++) key[2 + at] = bytes[from + at] as number
      return this.table.intern(key, 0, 2 + length)
    }
    const long = Buffer.concat([key.subarray(0, 2), bytes.subarray(from, end)])
    return this.table.intern(long, 0, long.length)
  }

  /** Releases the hash table: no resource can be added any more. */
  seal(): void {
    this.table.seal()
  }

  /** True for a prefix and forty hexadecimal digits. */
  isDigest(index: number): boolean {
    return this.table.arena.bytes[this.table.startOf(index) + 1] === 1
  }

  isBlank(index: number): boolean {
    return this.prefixNumber(index) === BLANK
  }

  prefixNumber(index: number): number {
    return this.table.arena.bytes[this.table.startOf(index)] as number
  }

  prefixText(prefix: number): Buffer {
    return this.prefixes[prefix] as Buffer
  }

  /** Copies the twenty bytes of a digest to a position. */
  copyDigest(index: number, to: Uint8Array, at: number): void {
    const { bytes } = this.table.arena
    const from = this.table.startOf(index) + 2
    for (let byte = 0; byte < DIGEST_DIGITS / 2; byte++) to[at + byte] = bytes[from + byte] as number
  }

  /** The whole text; the next call overwrites it. */
  textOf(index: number): Buffer {
    const { bytes } = this.table.arena
    const start = this.table.startOf(index)
    const prefix = this.prefixes[bytes[start] as number] as Buffer
    const [from, end] = [start + 2, this.table.endOf(index)]
    const isDigest = bytes[start + 1] === 1
    const length = prefix.length + (isDigest ? DIGEST_DIGITS : end - from)
    if (length > this.text.length) this.text = Buffer.allocUnsafeSlow(2 * length)
    const { text } = this
    prefix.copy(text)
    if (isDigest) text.write(bytes.toString('hex', from, end), prefix.length, 'latin1')
    else bytes.copy(text, prefix.length, from, end)
    return text.subarray(0, length)
  }

  /** All resources in sort order: blank nodes, then IRIs. */
  sorted(): Uint32Array {
    const prefixes = new Uint32Array(this.size)
    for (let index = 0; index < prefixes.length; index++) prefixes[index] = this.prefixNumber(index)
    const { starts, places } = placesByNumber(prefixes, this.prefixes.length)
    const members = this.prefixes.map((_, prefix) => places.subarray(starts[prefix], starts[prefix + 1]))
    for (const list of members) this.sortList(list)
    const [whole = new Uint32Array(0), blanks = new Uint32Array(0)] = members
    const order = new Uint32Array(this.size)
    order.set(blanks)
    order.set(whole, blanks.length)
    order.set(places.subarray(starts[BLANK + 1]), blanks.length + whole.length)
    // Those of one prefix are sorted already: this merges them.
    sortInPlace(order.subarray(blanks.length), (a, b) => this.compare(a, b))
    return order
  }

  /** Sorts resources of one prefix: as bytes where all are digests, else by their text. */
  private sortList(list: Uint32Array): void {
    const { table } = this
    const isUniform = list.every(index => this.isDigest(index)) || !list.some(index => this.isDigest(index))
    if (isUniform)
      sortPieces(list, {
        bytes: table.arena.bytes,
        startOf: index => table.startOf(index) + 2,
        endOf: index => table.endOf(index),
      })
    else {
      const texts = new Map<number, Buffer>()
      for (const index of list) texts.set(index, Buffer.from(this.textOf(index)))
      list.sort((a, b) => Buffer.compare(texts.get(a) as Buffer, texts.get(b) as Buffer))
    }
  }

  private compare(left: number, right: number): number {
    const text = Buffer.from(this.textOf(left))
    return Buffer.compare(text, this.textOf(right))
  }

  private prefixOf(bytes: Uint8Array, start: number, end: number): number {
    const last = this.prefixes[this.last] as Buffer
    const from = start + last.length
    if (
      from <= end &&
      startsWith(bytes, start, end, last) &&
      !hasSlash(bytes, from, end) &&
      this.last !== WHOLE
    )
      return this.last
    if (bytes[start] === 0x5f && bytes[start + 1] === 0x3a) return BLANK
    let slash = end - 1
    while (slash >= start && bytes[slash] !== SLASH) slash--
    if (slash < start) return WHOLE
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, slash + 1 - start).toString('latin1')
    let prefix = this.prefixNumbers.get(text)
    if (prefix === undefined) {
      if (this.prefixes.length >= MAX_PREFIXES) return WHOLE
      prefix = this.prefixes.length
      this.prefixes.push(Buffer.from(bytes.subarray(start, slash + 1)))
      this.prefixNumbers.set(text, prefix)
    }
    this.last = prefix
    return prefix
  }
}

function startsWith(bytes: Uint8Array, start: number, end: number, prefix: Uint8Array): boolean {
  if (end - start < prefix.length) return false
  for (let at = prefix.length - 1; at >= 0; at--) if (bytes[start + at] !== prefix[at]) return false
  return true
}

function hasSlash(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === SLASH) return true
  return false
}

/** Packs forty lower-case hexadecimal digits after the first two bytes of a key; false for other texts. */
function packDigest(bytes: Uint8Array, from: number, key: Uint8Array): boolean {
  for (let at = 0; at < DIGEST_DIGITS; at += 2) {
    const high = digitOf(bytes[from + at] as number)
    const low = digitOf(bytes[from + at + 1] as number)
    if (high < 0 || low < 0) return false
    key[2 + (at >> 1)] = (high << 4) | low
  }
  return true
}

function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : -1
}

/** Minimum number of digests of one prefix that form a segment. */
const LONG_RUN = 64

/** Writes the resources of a graph in sort order, and returns the rank of each, from 1. */
export function writeResources(
  table: ResourceTable,
  sink: SectionSink,
): { readonly header: ResourcesHeader; readonly ranks: Uint32Array } {
  const order = table.sorted()
  const ranks = new Uint32Array(table.size)
  let blanks = 0
  for (let at = 0; at < order.length; at++) {
    const index = order[at] as number
    ranks[index] = at + 1
    if (table.isBlank(index)) blanks += 1
  }
  const segments: ResourceSegment[] = []
  let from = 0
  const flushText = (to: number) => {
    if (to > from) segments.push(textSegment(table, order.subarray(from, to), sink))
  }
  // Blank nodes and IRIs are in separate segments.
  for (let at = 0; at < order.length; ) {
    if (at === blanks) {
      flushText(at)
      from = at
    }
    const end = digestRun(table, order, at)
    if (end - at >= LONG_RUN) {
      flushText(at)
      segments.push(digestSegment(table, order.subarray(at, end), sink))
      from = end
    }
    at = Math.max(end, at + 1)
  }
  flushText(order.length)
  return { header: { count: table.size, blanks, segments }, ranks }
}

/** The end of the run of digests of one prefix that begins at an index. */
function digestRun(table: ResourceTable, order: Uint32Array, from: number): number {
  const prefix = table.prefixNumber(order[from] as number)
  let to = from
  while (to < order.length) {
    const index = order[to] as number
    if (!table.isDigest(index) || table.prefixNumber(index) !== prefix) break
    to++
  }
  return to
}

function digestSegment(table: ResourceTable, order: Uint32Array, sink: SectionSink): ResourceSegment {
  const bytes = Buffer.allocUnsafeSlow(order.length * DIGEST_BYTES)
  for (let at = 0; at < order.length; at++) table.copyDigest(order[at] as number, bytes, at * DIGEST_BYTES)
  const prefix = table.prefixText(table.prefixNumber(order[0] as number)).toString()
  return { kind: 'digest', count: order.length, ...boundsOf(table, order), prefix, bytes: sink.add(bytes) }
}

function textSegment(table: ResourceTable, order: Uint32Array, sink: SectionSink): ResourceSegment {
  const text = new Arena(2 ** 12)
  const blocks = new Uint32Array(Math.ceil(order.length / BLOCK) + 1)
  let before = Buffer.alloc(0)
  for (let at = 0; at < order.length; at++) {
    const own = Buffer.from(table.textOf(order[at] as number))
    let shared = 0
    if (at % BLOCK === 0) blocks[at / BLOCK] = text.length
    else {
      shared = sharedPrefix(before, own)
      text.addNumber(shared)
    }
    text.addNumber(own.length - shared)
    text.add(own, shared, own.length)
    before = own
  }
  blocks[blocks.length - 1] = text.length
  if (text.length > 0xffff_ffff) throw new RangeError('the IRIs of a graph take more than 4 GiB')
  return {
    kind: 'text',
    count: order.length,
    ...boundsOf(table, order),
    bytes: sink.add(text.bytes.subarray(0, text.length)),
    blocks: sink.add(blocks),
  }
}

function boundsOf(
  table: ResourceTable,
  order: Uint32Array,
): { readonly first: string; readonly last: string } {
  const [first, last] = [order[0] as number, order[order.length - 1] as number]
  return { first: table.textOf(first).toString(), last: table.textOf(last).toString() }
}
