import { Arena, sharedPrefix } from '../bytes.ts'
import { BLOCK, DIGEST_BYTES, type ResourceSegment, type ResourcesHeader } from '../file-layout.ts'
import type { ResourceTable } from './resource-table.ts'
import type { SectionSink } from './section-writer.ts'

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
