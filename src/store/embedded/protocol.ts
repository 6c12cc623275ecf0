import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { lineFeeds, wholeLines } from '../../rdf/line-set.ts'
import type { AnswerFormat } from '../store.ts'

/** N-Triples of one graph, or of several that are merged: a gzip-compressed file, or a text in memory. */
export type TripleSource =
  | { readonly path: string; readonly triples: number; readonly bytes: number }
  | { readonly text: string }

/** The graphs that a query can access. */
export interface DatasetOfQuery {
  readonly defaultGraphs: readonly string[]
  readonly namedGraphs: readonly string[]
  readonly base?: string
}

/** The `workerData` of a worker's thread: the compiled engine. */
export interface WorkerSetup {
  readonly module: WebAssembly.Module
}

/** A request of the main thread to a worker, processed one after another. */
export type EngineJob =
  | {
      readonly type: 'query'
      readonly id: number
      readonly sparql: string
      readonly format: AnswerFormat
      readonly dataset: DatasetOfQuery
      /** Maximum length of the answer, in characters. */
      readonly maxLength: number
    }
  | {
      readonly type: 'load'
      readonly id: number
      readonly graph: string
      readonly source: TripleSource
      /** Maximum bytes of memory. */
      readonly limit: number
    }
  | { readonly type: 'drop'; readonly id: number; readonly graphs: readonly string[] }

/** The reply of a worker. `memory` is the size of its WebAssembly memory in bytes. */
export type EngineReply =
  | { readonly type: 'up'; readonly memory: number }
  | { readonly type: 'answer'; readonly id: number; readonly text: string; readonly memory: number }
  /** An error after which the engine is still usable: invalid SPARQL, or a failed evaluation. */
  | { readonly type: 'error'; readonly id: number; readonly message: string; readonly memory: number }
  | { readonly type: 'oversize'; readonly id: number; readonly memory: number }
  | { readonly type: 'progress'; readonly id: number; readonly lines: number }
  | { readonly type: 'loaded'; readonly id: number; readonly memory: number }
  /** The triples cannot be loaded; the worker has dropped the loaded part of the graph. */
  | {
      readonly type: 'refused'
      readonly id: number
      readonly reason: 'text' | 'memory'
      readonly message: string
      readonly memory: number
    }
  | { readonly type: 'dropped'; readonly id: number; readonly memory: number }
  /** The engine is no longer usable: this is the last message of the worker. */
  | { readonly type: 'trap'; readonly id: number; readonly reason: string }

/**
 * Bytes of a batch, which the engine loads in one transaction: about 50,000 triples. Larger ones gain little speed (16 MiB: a
 * tenth) and delay queries, which are served between two batches (8 MiB: 0.1 s).
 */
const BATCH_BYTES = 8 * 2 ** 20

const LINE_FEED = 0x0a

/** The text of a source in batches of whole lines. */
export function batches(source: TripleSource): AsyncGenerator<Buffer> {
  return wholeLines(pieces(source), BATCH_BYTES)
}

/**
 * Decompression runs on the thread pool while the engine loads; with chunks as large as a batch it decompresses the next one
 * meanwhile, and the stream buffers at most two.
 */
async function* pieces(source: TripleSource): AsyncGenerator<Buffer> {
  if ('text' in source) {
    const text = Buffer.from(source.text)
    for (let at = 0; at < text.length; at += BATCH_BYTES) yield text.subarray(at, at + BATCH_BYTES)
    return
  }
  const file = createReadStream(source.path, { highWaterMark: 2 ** 20 })
  yield* pipeline(file, createGunzip({ chunkSize: BATCH_BYTES }), () => {}) as AsyncIterable<Buffer>
}

/** Number of lines. */
export function countTextLines(text: Buffer): number {
  return lineFeeds(text) + (text.length > 0 && text[text.length - 1] !== LINE_FEED ? 1 : 0)
}

/** Separates lines with blank nodes from those without; the order within each is preserved. */
export function splitBlankNodes(text: Buffer): { readonly ground: Buffer; readonly blank: Buffer } {
  const ground: Buffer[] = []
  const blank: Buffer[] = []
  let done = 0
  for (let at = text.indexOf('_:'); at >= 0; ) {
    const start = text.lastIndexOf(LINE_FEED, at) + 1
    const next = text.indexOf(LINE_FEED, at) + 1 || text.length
    // In a literal `_:` may occur, too: mistaking such a line for one with a blank node only makes loading slower.
    if (at === start || text[at - 1] === 0x20 || text[at - 1] === 0x09) {
      ground.push(text.subarray(done, start))
      blank.push(text.subarray(start, next))
      done = next
      at = text.indexOf('_:', next)
    } else at = text.indexOf('_:', at + 2)
  }
  ground.push(text.subarray(done))
  return { ground: Buffer.concat(ground), blank: Buffer.concat(blank) }
}
