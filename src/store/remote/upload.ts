import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import { lineFeeds, wholeLines } from '../../rdf/line-set.ts'
import type { EngineKind } from './addresses.ts'
import type { RemoteEngine } from './engine.ts'
import { encodeLines, type StoredForms } from './value-roundtrip.ts'

/** The progress of an upload: consecutive whole chunks, and their lines. */
interface UploadProgress {
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
interface UploadTarget {
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

/** Schemes of Virtuoso's SQL functions: these read files, and change stored data. */
const SCHEMES: readonly string[] = ['bif:', 'sql:']

const IRI = /<\s*([^<>"{}|^`\s]*)\s*>/g
const NAMESPACE = /\b(?:PREFIX\s+[^\s<]*:|BASE)\s*<\s*([^<>"{}|^`\s]*)\s*>/gi

/**
 * Refuses an untrusted query that calls functions of an engine outside of SPARQL. Namespaces that a name could complete to such a
 * scheme are refused as well. Faults: BadRequest.
 */
export function refuseEngineFunctions(kind: EngineKind, query: string): void {
  if (kind !== 'virtuoso') return
  const text = query.replace(
    /\\u([0-9a-f]{4})|\\U([0-9a-f]{8})/gi,
    (whole, short?: string, long?: string) => {
      const code = Number.parseInt(short ?? long ?? '', 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
  const isCall = (iri: string) => SCHEMES.some(scheme => iri.toLowerCase().startsWith(scheme))
  const mayBecome = (namespace: string) =>
    isCall(namespace) || SCHEMES.some(scheme => scheme.startsWith(namespace.toLowerCase()))
  const found =
    [...text.matchAll(IRI)].map(([, iri = '']) => iri).find(isCall) ??
    [...text.matchAll(NAMESPACE)].map(([, namespace = '']) => namespace).find(mayBecome)
  if (found !== undefined)
    throw new Fault(BAD_REQUEST, {
      reason: `<${found.slice(0, 100)}>: functions of the engine are not served.`,
    })
}
