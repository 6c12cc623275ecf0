import { createRequire } from 'node:module'
import type * as Oxigraph from 'oxigraph'
import { Fault, SOURCE_UNREADABLE } from '../../errors/errors.ts'
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

/** The origin of a text, for messages. */
export interface TextOrigin {
  readonly file: string
  /** Lines of the file before this text. */
  readonly linesBefore?: number
}

/** Maximum quads and characters of a chunk. */
const PIECE_QUADS = 250_000
const PIECE_LENGTH = 2 ** 25

/** Number of chunks that are returned as one text: a string of V8 holds 512 MiB. */
const WHOLE_PIECES = 8

/** Bytes that are passed to the engine at a time. */
const CHUNK_BYTES = 2 ** 16

/** Maximum bytes of a document that is parsed as a whole: ten million triples are as many as a store can hold. */
export const MAX_DOCUMENT_LENGTH = 1.5 * 2 ** 30

const load = createRequire(import.meta.url)
let engine: typeof Oxigraph | null = null

/**
 * Parses RDF and returns its quads as lines of N-Quads, in the order of the text, in chunks of whole lines: one chunk, unless
 * there are very many. Literals keep their lexical form and datatype (RDF 1.1 Concepts, section 3.3), language tags are in lower
 * case. The engine itself parses the text, so that nothing is published that it would refuse later. A quad that occurs twice is
 * returned twice. Blank nodes get labels of the engine.
 *
 * Throws SourceUnreadable with line and column; then the previous chunks must be discarded.
 *
 * @param base IRI that relative IRIs are resolved against
 * @param isLenient returns IRIs with characters that none has, such as spaces, instead of refusing the text
 */
export function* parseRdf(
  document: readonly Uint8Array[],
  format: RdfFormat,
  base: string,
  origin: TextOrigin,
  isLenient = false,
): Generator<string> {
  const options = { format: FORMATS[format], base_iri: base, lenient: isLenient }
  const text = format === 'rdfxml' ? readableRdfXml(document) : document
  let pieces: string[] = []
  let isWhole = true
  try {
    for (const piece of piecesOf(started().parse(inChunks(text), options), text !== document)) {
      pieces.push(piece)
      isWhole &&= pieces.length <= WHOLE_PIECES
      if (isWhole) continue
      yield* pieces
      pieces = []
    }
  } catch (error) {
    throw error instanceof Fault ? error : refusal(error, origin, format, () => lineOf(text, options))
  }
  if (pieces.length > 0) yield pieces.join('')
}

function* piecesOf(quads: Iterable<Oxigraph.Quad>, isRewritten: boolean): Generator<string> {
  let lines: string[] = []
  let length = 0
  for (const quad of quads) {
    const line = isRewritten ? withoutNoLanguage(quad.toString()) : quad.toString()
    lines.push(line)
    length += line.length
    // Many quads are created in little time, and the garbage collector does not see their memory in the engine.
    free(quad)
    if (lines.length < PIECE_QUADS && length < PIECE_LENGTH) continue
    yield textOf(lines)
    lines = []
    length = 0
  }
  if (lines.length > 0) yield textOf(lines)
}

function textOf(lines: readonly string[]): string {
  return `${lines.join(' .\n')} .\n`
}

/** The bytes in chunks for the engine, which moves its unread input at each step. */
function* inChunks(text: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const bytes of text)
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
}

/** The engine's message about a text that it refuses, with the position that the engine reports, else the one that `search` finds. */
function refusal(
  error: unknown,
  origin: TextOrigin,
  format: RdfFormat,
  search: () => number | undefined,
): Fault {
  const { file, linesBefore = 0 } = origin
  const described = error instanceof Error ? error.message : String(error)
  if (isOversize(error) || isTrap(error)) {
    // The next text is read by a new instance of the engine.
    Reflect.deleteProperty(load.cache, load.resolve('oxigraph'))
    engine = null
    const reason =
      format === 'ntriples' || format === 'nquads'
        ? 'The file has a line that is too long, or has too many triple terms in one another, to be read.'
        : 'The file is too large, or nested too deeply, to be read as a whole. Convert it to N-Triples or N-Quads, or part it.'
    return new Fault(SOURCE_UNREADABLE, { reason }, { place: { file }, cause: error })
  }
  const place = /^Parser error (?:at|between) line (\d+) (?:column|between columns) (\d+)[^:]*: /.exec(
    described,
  )
  const line = place === null ? search() : Number(place[1])
  const reason = reasonOf(described.slice(place?.[0].length ?? 0))
  return new Fault(
    SOURCE_UNREADABLE,
    { reason: `This cannot be read as RDF: ${reason}.` },
    {
      place: {
        file,
        ...(line === undefined ? {} : { line: line + linesBefore }),
        ...(place === null ? {} : { column: Number(place[2]) }),
      },
    },
  )
}

/** The engine's reason, in other words where it names its own means, or does not say where to look. */
function reasonOf(text: string): string {
  if (text.includes('LoadDocumentCallback'))
    return 'contexts at other addresses are not fetched; put the context into the file'
  if (/must be followed by a dot/.test(text))
    return 'the dot after the statement before this place is missing'
  return text.replace(/^error while parsing IRI /, 'not an IRI: ')
}

/** The line at which the engine stops reading, for syntaxes whose errors do not report it: the number of lines read so far. */
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

/** `free` is missing in the package's types. */
function free(quad: Oxigraph.Quad): void {
  const { free: release } = quad as { readonly free?: () => void }
  release?.call(quad)
}

/** The engine is started for the first RDF file: most portals have none. */
function started(): typeof Oxigraph {
  engine ??= load('oxigraph') as typeof Oxigraph
  return engine
}

/** Stands for "no language", for which the engine has no notation; no file uses it. */
const NO_LANGUAGE = 'x-portal-none'

/** Maximum bytes of a document that is rewritten: a string of V8 holds 512 MiB. */
const MAX_LENGTH = 2 ** 28

/** Comments and processing instructions, which stay as they are, CDATA sections, and tags. */
const MARKUP = /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<[^<>!?][^<>]*>/g

/**
 * RDF/XML without what is valid there and refused by the engine: CDATA sections beside other text, and `xml:lang=""` (RDF/XML
 * 1.1, section 2.8). Lines stay the same. The text is read byte by byte, so that its encoding does not matter.
 */
function readableRdfXml(document: readonly Uint8Array[]): readonly Uint8Array[] {
  if (document.reduce((sum, { length }) => sum + length, 0) > MAX_LENGTH) return document
  const text = Buffer.concat(document).toString('latin1')
  if (!/<!\[CDATA\[|xml:lang\s*=\s*(?:""|'')/.test(text)) return document
  const readable = text.replace(MARKUP, (markup, characters: string | undefined) => {
    if (characters !== undefined)
      return characters.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    return /^<[!?]/.test(markup)
      ? markup
      : markup.replace(/(\sxml:lang\s*=\s*)(?:""|'')/, `$1"${NO_LANGUAGE}"`)
  })
  return [Buffer.from(readable, 'latin1')]
}

/** A quad of that text, with its literals that have no language. */
function withoutNoLanguage(quad: string): string {
  return quad.replaceAll(`"@${NO_LANGUAGE}`, '"')
}
