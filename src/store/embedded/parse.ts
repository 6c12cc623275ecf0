import { createRequire } from 'node:module'
import type * as Oxigraph from 'oxigraph'
import { Fault } from '../../errors/errors.ts'
import type { RdfFormat } from '../../model/rdf-format.ts'
import { isOversize, isTrap } from './traps.ts'

const FORMATS: Readonly<Record<RdfFormat, string>> = {
  turtle: 'ttl',
  ntriples: 'nt',
  nquads: 'nq',
  trig: 'trig',
  rdfxml: 'rdf',
  jsonld: 'jsonld',
}

/** Where a text comes from, for messages. */
export interface TextOrigin {
  /** Name of the file. */
  readonly file: string
  /** Lines of the file before this text. */
  readonly linesBefore?: number
}

/** Triples that a store gives out as one text: a string of V8 holds 512 MiB. */
const DUMPED_AT_ONCE = 2_000_000

/** Triples asked of a larger store at a time, each for six times the time. */
const PAGE = 250_000

/** Bytes of a document that is read as a whole: ten million triples are as many as a store can hold. */
export const MAX_DOCUMENT_LENGTH = 1.5 * 2 ** 30

let isSound = true
let engine: typeof Oxigraph | null = null

/** Quads in whole lines of N-Quads. */
export interface ParsedQuads {
  readonly lines: string
  /** True where some are in a graph with a name. */
  readonly named: boolean
}

/**
 * Reads RDF and gives what the store holds of it: N-Quads with each quad once and its literals in canonical form, in the
 * order of the text, in pieces of whole lines. The text is read by the engine itself, so that nothing is published which
 * it would refuse later. Blank nodes get other labels, in the order of the text again.
 *
 * Everything is held in memory meanwhile. Throws SourceUnreadable with line and column; nothing was given out then.
 *
 * @param base IRI that relative IRIs are resolved against
 */
export function* parseRdf(
  text: readonly Uint8Array[],
  format: RdfFormat,
  base: string,
  origin: TextOrigin,
): Generator<ParsedQuads> {
  const store = new (started().Store)()
  try {
    const options = { format: FORMATS[format], base_iri: base, no_transaction: true }
    try {
      store.load(text, options)
    } catch (error) {
      throw refusal(error, origin, () => lineOf(text, options))
    }
    yield* quadsOf(store, origin)
  } finally {
    if (isSound) free(store)
  }
}

function* quadsOf(store: Oxigraph.Store, origin: TextOrigin): Generator<ParsedQuads> {
  try {
    const { size } = store
    const named = store.query('ASK { GRAPH ?graph { ?s ?p ?o } }') === true
    const whole = named || size <= DUMPED_AT_ONCE ? dumped(store, named) : null
    if (whole !== null) return yield { lines: whole, named }
    // The newest triple comes first.
    for (let end = size; end > 0; end -= PAGE) {
      const first = Math.max(0, end - PAGE)
      const query = `CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o } OFFSET ${first} LIMIT ${end - first}`
      yield { lines: inOrder(String(store.query(query, { results_format: 'nt' }))), named }
    }
  } catch (error) {
    throw error instanceof Fault ? error : refusal(error, origin, () => undefined)
  }
}

/** All quads as one text; null where it would be too long for a string and there is another way. */
function dumped(store: Oxigraph.Store, named: boolean): string | null {
  try {
    return inOrder(store.dump({ format: 'nq' }))
  } catch (error) {
    if (isOversize(error) && !named) return null
    throw error
  }
}

/** The lines from the last to the first. */
function inOrder(text: string): string {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.length === 0 ? '' : `${lines.reverse().join('\n')}\n`
}

/** What the engine says of a text that it refuses, with its place as the engine tells it, else as `search` finds it. */
function refusal(error: unknown, origin: TextOrigin, search: () => number | undefined): Fault {
  const { file, linesBefore = 0 } = origin
  const described = error instanceof Error ? error.message : String(error)
  if (isOversize(error) || isTrap(error)) {
    isSound = false
    const reason = `${file} is too large to be read as a whole. Convert it to N-Triples or N-Quads, or part it.`
    return new Fault('SourceUnreadable', { reason }, { place: { file }, cause: error })
  }
  const place = /^Parser error (?:at|between) line (\d+) (?:column|between columns) (\d+)[^:]*: /.exec(
    described,
  )
  const line = place === null ? search() : Number(place[1])
  const reason = described.slice(place?.[0].length ?? 0).replace(/^error while parsing IRI /, 'not an IRI: ')
  const hint = described.includes('LoadDocumentCallback')
    ? ': contexts at other addresses are not fetched; put the context into the file'
    : ''
  return new Fault(
    'SourceUnreadable',
    { reason: `This cannot be read as RDF: ${reason}${hint}.` },
    {
      place: {
        file,
        ...(line === undefined ? {} : { line: line + linesBefore }),
        ...(place === null ? {} : { column: Number(place[2]) }),
      },
    },
  )
}

/** The line at which the engine stops reading, for syntaxes whose errors do not tell it: how many lines it asked for. */
function lineOf(
  text: readonly Uint8Array[],
  options: { format: string; base_iri: string },
): number | undefined {
  let lines = 0
  function* oneByOne(): Generator<Uint8Array> {
    const whole = Buffer.concat(text)
    for (let at = 0; at < whole.length; ) {
      const end = whole.indexOf(0x0a, at) + 1 || whole.length
      lines += 1
      yield whole.subarray(at, end)
      at = end
    }
  }
  try {
    for (const _ of started().parse(oneByOne(), options));
  } catch (error) {
    return isTrap(error) ? undefined : lines
  }
  return undefined
}

/** `free` is not in the types of the package. */
function free(store: Oxigraph.Store): void {
  const { free: release } = store as { readonly free?: () => void }
  release?.call(store)
}

/** The engine is begun by the first file of RDF: most portals have none. */
function started(): typeof Oxigraph {
  if (!isSound)
    throw new Fault('SourceUnreadable', {
      reason: 'RDF was read before that was too large for this process. Publish this dataset by itself.',
    })
  engine ??= createRequire(import.meta.url)('oxigraph') as typeof Oxigraph
  return engine
}
