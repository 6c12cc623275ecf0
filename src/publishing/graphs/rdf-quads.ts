import { isUtf8 } from 'node:buffer'
import { Fault, SOURCE_UNREADABLE } from '../../errors/errors.ts'
import { memoised } from '../../model/memoised.ts'
import { hasNamedGraphs } from '../../model/rdf-format.ts'
import { LineSet, lineFeeds, wholeLines } from '../../rdf/line-set.ts'
import { datasetIri, skolemIri } from '../../rdf/minted-iris.ts'
import { iriText } from '../../rdf/ntriples.ts'
import { replaceBlankNodes } from '../../rdf/skolem.ts'
import type { RdfSource } from '../../sources/rdf.ts'
import { MAX_DOCUMENT_LENGTH, parseRdf, type TextOrigin } from '../../store/embedded/parse.ts'
import type { GraphFile } from '../versions/versions.ts'
import { GraphWriter, NamedGraphWriter } from './graph-writer.ts'

/** The dataset of the file: blank nodes get IRIs within the address and the dataset. */
interface QuadPlace {
  readonly base: string
  readonly dataset: string
  /** The address of the file, on which its relative IRIs are resolved (RFC 3986, 5.1.3); by default one within the dataset. */
  readonly document?: string
  /** True if IRIs that are none are returned as they are. */
  readonly isLenient?: boolean
}

/** Bytes of the lines that are read at a time. */
const PIECE_BYTES = 8 * 2 ** 20

/**
 * The quads of a file as lines of N-Quads, in file order: literals keep their lexical forms, blank nodes are replaced by IRIs.
 * Duplicates of the file remain. N-Triples and N-Quads are read in bounded pieces and keep their blank node labels; the other
 * syntaxes are read as a whole, and their blank nodes are numbered in order. Throws SourceUnreadable with the position of the
 * first syntax error.
 */
export async function* quadPieces(source: RdfSource, place: QuadPlace): AsyncGenerator<string> {
  if (source.format === 'ntriples' || source.format === 'nquads') yield* linePieces(source, place)
  else yield* documentPieces(source, place)
}

async function* linePieces(source: RdfSource, place: QuadPlace): AsyncGenerator<string> {
  const { name: file, format } = source
  const base = baseOf(place)
  const names = (label: string) => iriText(skolemIri(place.base, place.dataset, label))
  let linesBefore = 0
  for await (const bytes of wholeLines(source.pieces(), PIECE_BYTES)) {
    const origin = { file, linesBefore }
    checkUtf8(bytes, origin)
    const text = withoutVersions(bytes.toString())
    const grounded = replaceBlankNodes(text, names)
    try {
      yield* parseRdf([Buffer.from(grounded)], format, base, origin, place.isLenient)
    } catch (error) {
      // Parses the original text again, so that the columns of the error are right.
      if (grounded !== text)
        for (const _ of parseRdf([Buffer.from(text)], format, base, origin, place.isLenient));
      throw error
    }
    linesBefore += lineFeeds(bytes)
  }
}

/** Lines without the announcements of the version of RDF (RDF 1.2 N-Triples, section 2.1), which the parser does not know. */
function withoutVersions(lines: string): string {
  return lines.includes('VERSION')
    ? lines.replace(/^[ \t]*VERSION[ \t]*(?:"[^"\\\r\n]*"|'[^'\\\r\n]*')[ \t]*(?=$|#)/gm, '')
    : lines
}

async function* documentPieces(source: RdfSource, place: QuadPlace): AsyncGenerator<string> {
  const origin = { file: source.name }
  const document: Buffer[] = []
  let length = 0
  for await (const piece of source.pieces()) {
    length += piece.length
    if (length > MAX_DOCUMENT_LENGTH)
      throw new Fault(
        SOURCE_UNREADABLE,
        { reason: 'The file is too large to be read as a whole. Convert it to N-Triples or N-Quads.' },
        { place: origin },
      )
    document.push(piece)
  }
  if (source.format === 'jsonld') refuseDeepJson(document, source.name)
  const labels = new Map<string, string>()
  const names = (label: string) =>
    memoised(labels, label, () => iriText(skolemIri(place.base, place.dataset, `b${labels.size + 1}`)))
  for (const lines of parseRdf(document, source.format, baseOf(place), origin, place.isLenient))
    yield replaceBlankNodes(bySubject(lines), names)
}

/** Maximum objects and lists within one another: for each, the parser copies what surrounds it. */
const MAX_DEPTH = 1000

function refuseDeepJson(document: readonly Buffer[], file: string): void {
  let [depth, line, isText, isEscaped] = [0, 1, false, false]
  for (const piece of document)
    for (const byte of piece) {
      if (byte === 0x0a) line += 1
      if (isEscaped) isEscaped = false
      else if (byte === 0x5c) isEscaped = isText
      else if (byte === 0x22) isText = !isText
      else if (isText) continue
      else if (byte === 0x7b || byte === 0x5b) depth += 1
      else if (byte === 0x7d || byte === 0x5d) depth -= 1
      if (depth > MAX_DEPTH)
        throw new Fault(
          SOURCE_UNREADABLE,
          {
            reason: `More than ${MAX_DEPTH} objects and lists are within one another. Convert it to N-Quads.`,
          },
          { place: { file, line } },
        )
    }
}

/**
 * The lines of a piece grouped by subject, in the order in which subjects first occur: nested nodes of the file come between the
 * lines of a subject, and the exports would otherwise repeat the subject for each group.
 */
function bySubject(lines: string): string {
  const subjects = new Map<string, string[]>()
  for (const line of lines.split('\n')) {
    if (line === '') continue
    memoised(subjects, line.slice(0, line.indexOf(' ')), () => []).push(line)
  }
  return [...subjects.values()].map(group => `${group.join('\n')}\n`).join('')
}

function baseOf({ base, dataset, document }: QuadPlace): string {
  return document ?? `${datasetIri(base, dataset)}/`
}

/** Splits a line of N-Quads as the store writes it into its triple and the IRI of its graph. */
export function splitQuad(line: string): { readonly triple: string; readonly graph: string | null } {
  const predicateEnd = line.indexOf(' ', line.indexOf(' ') + 1)
  const last = line.lastIndexOf(' ', line.length - 3)
  const term = line.slice(last + 1, -2)
  if (last <= predicateEnd || !/^<[^"<>]*>$/.test(term)) return { triple: line, graph: null }
  return { triple: `${line.slice(0, last)} .`, graph: term.slice(1, -1) }
}

function checkUtf8(bytes: Buffer, { file, linesBefore = 0 }: TextOrigin): void {
  if (isUtf8(bytes)) return
  let line = linesBefore
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at) + 1 || bytes.length
    line += 1
    if (!isUtf8(bytes.subarray(at, end)))
      throw new Fault(SOURCE_UNREADABLE, { reason: 'The line is not UTF-8.' }, { place: { file, line } })
    at = end
  }
}

/** Triples between two progress reports. */
const STEP = 50_000

/**
 * Writes the graphs of an RDF file: all its triples, each once, as the facts, and in addition its named graphs and its default
 * graph as separate graphs. Throws SourceUnreadable; the files are then to be discarded.
 *
 * @param onProgress is called with the number of triples so far
 */
export async function writeRdfGraphs(
  source: RdfSource,
  place: QuadPlace & { readonly folder: string },
  onProgress: (triples: number) => void,
): Promise<readonly GraphFile[]> {
  const facts = new GraphWriter(place.folder, 'facts')
  const named = new NamedGraphWriter(place.folder)
  const written = new LineSet()
  const hasGraphs = hasNamedGraphs(source.format)
  try {
    for await (const lines of quadPieces(source, place)) {
      let pending = 0
      for (const line of linesOf(lines)) {
        const { triple, graph } = splitQuad(line)
        if (hasGraphs && written.add(`${graph ?? '-'} ${triple}`)) named.add(graph, `${triple}\n`)
        if (written.add(triple)) facts.out.add(`${triple}\n`, 1)
        pending += 1
        if (pending % STEP === 0) {
          await facts.drain(false)
          onProgress(facts.out.triples)
        }
      }
      await facts.drain(false)
      onProgress(facts.out.triples)
    }
    return [await facts.close(), ...(await named.close())]
  } catch (error) {
    facts.abandon()
    throw error
  }
}

/** Reads an RDF file without writing: returns the number of distinct quads. Throws SourceUnreadable as publishing does. */
export async function checkRdf(source: RdfSource, place: QuadPlace): Promise<number> {
  let quads = 0
  const written = new LineSet()
  for await (const lines of quadPieces(source, place))
    for (const line of linesOf(lines)) if (written.add(line)) quads += 1
  return quads
}

function* linesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at)
    yield text.slice(at, end)
    at = end + 1
  }
}
