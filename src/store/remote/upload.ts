import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import { lineFeeds, wholeLines } from '../../rdf/line-set.ts'
import type { RemoteEngine } from './engine.ts'
import { encodeLines, type StoredForms } from './value-roundtrip.ts'

/** The progress of an upload: consecutive whole chunks, and their lines. */
export interface UploadProgress {
  readonly pieces: number
  readonly lines: number
}

export interface UploadOptions {
  /** Number of chunks that are already in the graph. */
  readonly done?: number
  /** Called after each chunk that the engine has stored, in file order. */
  readonly onPiece?: (progress: UploadProgress) => Promise<void> | void
  readonly signal?: AbortSignal
}

/**
 * Bytes of a chunk: about 60,000 triples, which engines load in a fraction of a second. Oxigraph creates a sorted file of each
 * chunk, and merging many small ones costs more than the load.
 */
const PIECE_BYTES = 8 * 2 ** 20
const OXIGRAPH_BYTES = 32 * 2 ** 20

/** The results of an upload. */
export interface Uploaded {
  readonly lines: number
  readonly samples: readonly string[]
}

/** The target of an upload. */
export interface UploadTarget {
  readonly engine: RemoteEngine
  readonly forms: StoredForms
  readonly graph: string
}

/**
 * Adds a gzip-compressed file of N-Triples to a graph, in chunks of whole lines that are the same at every attempt. While the
 * engine loads one chunk, the next one is prepared.
 */
export async function upload(
  { engine, forms, graph }: UploadTarget,
  file: Readable,
  { done = 0, onPiece, signal }: UploadOptions,
): Promise<Uploaded> {
  let [pieces, lines] = [0, 0]
  const samples: string[] = []
  let sending: Promise<void> = Promise.resolve()
  const bytes = engine.addresses.kind === 'oxigraph' ? OXIGRAPH_BYTES : PIECE_BYTES
  const text: AsyncIterable<Buffer> = pipeline(file, createGunzip({ chunkSize: 2 ** 18 }), () => undefined)
  for await (const piece of wholeLines(text, bytes)) {
    pieces += 1
    lines += lineFeeds(piece)
    samples.push(piece.subarray(piece.lastIndexOf(0x0a, piece.length - 2) + 1).toString())
    const encoded = encodeLines(piece, forms)
    await sending
    signal?.throwIfAborted()
    if (pieces <= done) continue
    const progress = { pieces, lines }
    sending = engine.add(graph, encoded).then(() => onPiece?.(progress))
    void ignoreRejection(sending, 'it is awaited before the next piece')
  }
  await sending
  return { lines, samples }
}
