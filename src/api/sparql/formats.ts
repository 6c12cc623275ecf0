import { setImmediate } from 'node:timers/promises'
import { BAD_REQUEST, Fault, NOT_ACCEPTABLE, UNPROCESSABLE_ENTITY } from '../../errors/errors.ts'
import { jsonldInForm, jsonldStream, jsonldText } from '../../formats/jsonld-forms.ts'
import { rdfxml, splitIri } from '../../formats/rdfxml.ts'
import { type Prefixes, turtle, turtleText } from '../../formats/turtle.ts'
import { JSONLD_TYPE, jsonldForm, jsonldType, negotiate, type Representation } from '../../http/negotiate.ts'
import { isXmlText } from '../../model/xml.ts'
import { isTripleTerm, parseTriples, splitTriples, withTripleTerms } from '../../rdf/ntriples-reader.ts'
import { FORMATS } from '../../rdf/vocab.ts'
import type { AnswerFormat } from '../../store/store.ts'
import { begunAnswer, linesOf } from './run.ts'

/** A format of answers. */
export interface AnswerRepresentation extends Representation {
  /** Its names for the parameter `format`, in addition to its media type. */
  readonly names: readonly string[]
  /** Its IRI in service descriptions; none for aliases of other formats. */
  readonly iri?: string
  /** The format that the store is asked to write. */
  readonly requested: AnswerFormat
  /** Converts the store's output to the body; a long one is streamed. Faults: UnprocessableEntity. */
  readonly write: (text: string, prefixes: Prefixes) => ResponseBody | Promise<ResponseBody>
  /** The same as a stream. Faults, also while it is read: UnprocessableEntity. */
  readonly stream: (pieces: AsyncIterable<Uint8Array>, prefixes: Prefixes) => Stream | Promise<Stream>
}

export type ResponseBody = string | Stream

type Stream = AsyncIterable<Uint8Array | string>

const AS_IT_IS = {
  write: (text: string) => text,
  stream: (pieces: AsyncIterable<Uint8Array>) => pieces,
}
const TURTLE = { write: turtleBody, stream: turtleStream }
const JSON_LD = { write: jsonldBody, stream: jsonldPieces }

/** The formats of SELECT and ASK. */
export const RESULT_FORMATS: readonly AnswerRepresentation[] = [
  {
    type: 'application/sparql-results+json',
    names: ['json', 'srj'],
    iri: FORMATS.SPARQL_Results_JSON,
    requested: 'json',
    ...AS_IT_IS,
  },
  {
    type: 'application/sparql-results+xml',
    names: ['xml', 'srx'],
    iri: FORMATS.SPARQL_Results_XML,
    requested: 'xml',
    ...AS_IT_IS,
  },
  { type: 'text/csv', names: ['csv'], iri: FORMATS.SPARQL_Results_CSV, requested: 'csv', ...AS_IT_IS },
  {
    type: 'text/tab-separated-values',
    names: ['tsv'],
    iri: FORMATS.SPARQL_Results_TSV,
    requested: 'tsv',
    ...AS_IT_IS,
  },
  { type: 'application/json', explicit: true, names: [], requested: 'json', ...AS_IT_IS },
  { type: 'application/xml', explicit: true, names: [], requested: 'xml', ...AS_IT_IS },
]

/** The format of graphs where a client names none. */
export const TURTLE_FORMAT: AnswerRepresentation = {
  type: 'text/turtle',
  names: ['turtle', 'ttl'],
  iri: FORMATS.Turtle,
  requested: 'nt',
  ...TURTLE,
}

/** The formats of CONSTRUCT and DESCRIBE, and of descriptions. */
export const GRAPH_FORMATS: readonly AnswerRepresentation[] = [
  TURTLE_FORMAT,
  {
    type: 'application/n-triples',
    names: ['ntriples', 'nt'],
    iri: FORMATS['N-Triples'],
    requested: 'nt',
    ...AS_IT_IS,
  },
  {
    type: 'application/rdf+xml',
    names: ['rdfxml', 'rdf+xml', 'rdf', 'xml'],
    iri: FORMATS.RDF_XML,
    requested: 'nt',
    write: rdfXmlBody,
    stream: rdfXmlStream,
  },
  {
    type: 'application/ld+json',
    names: ['jsonld', 'json-ld', 'json'],
    iri: FORMATS['JSON-LD'],
    requested: 'nt',
    ...JSON_LD,
  },
  {
    type: 'application/n-quads',
    names: ['nquads', 'nq'],
    iri: FORMATS['N-Quads'],
    requested: 'nt',
    ...AS_IT_IS,
  },
  { type: 'application/trig', names: ['trig'], iri: FORMATS.TriG, requested: 'nt', ...TURTLE },
  { type: 'text/n3', names: ['n3'], iri: FORMATS.N3, requested: 'nt', write: n3Body, stream: n3Stream },
  {
    type: 'application/json',
    explicit: true,
    names: [],
    requested: 'nt',
    ...JSON_LD,
  },
]

/** An HTML page, which the Accept header of a browser requests. */
const HTML_PAGE = { type: 'text/html', explicit: true } as const

/** Chooses the format of an answer: by its name, else by the Accept header. Faults: BadRequest, NotAcceptable. */
export function chooseResultFormat(
  name: string | null,
  accept: string | undefined,
  representations: readonly AnswerRepresentation[],
): AnswerRepresentation | typeof HTML_PAGE {
  const types = representations.filter(({ explicit }) => explicit !== true).map(({ type }) => type)
  if (name !== null && name !== '') {
    // A plus sign that a client did not encode arrives as a blank.
    const required = name.toLowerCase().replaceAll(' ', '+')
    if (required === 'html' || required === HTML_PAGE.type) return HTML_PAGE
    const representation = representations.find(
      ({ type, names }) => type === required || names.includes(required),
    )
    if (representation !== undefined) return inForm(representation, accept)
    const known = representations.flatMap(({ names }) => names.slice(0, 1)).join(', ')
    throw new Fault(BAD_REQUEST, {
      reason: `The format ${name.slice(0, 60)} is not one of ${known}, html or their media types.`,
    })
  }
  const chosen = negotiate<AnswerRepresentation | typeof HTML_PAGE>(accept, [...representations, HTML_PAGE])
  if (chosen === null) throw new Fault(NOT_ACCEPTABLE, { available: [...types, HTML_PAGE.type].join(', ') })
  return 'requested' in chosen ? inForm(chosen, accept) : chosen
}

function inForm(representation: AnswerRepresentation, accept: string | undefined): AnswerRepresentation {
  const form = representation.type === JSONLD_TYPE ? jsonldForm(accept) : null
  if (form === null) return representation
  return {
    ...representation,
    type: jsonldType(form),
    write: text => {
      refuseTripleTerms(text, 'JSON-LD')
      return jsonldInForm(form, pieces(text), {})
    },
    stream: async found => jsonldInForm(form, await begunAnswer(checked(linesOf(found), 'JSON-LD')), {}),
  }
}

function turtleStream(pieces: AsyncIterable<Uint8Array>, prefixes: Prefixes): Stream {
  return turtle(linesOf(pieces), prefixes)
}

async function n3Stream(pieces: AsyncIterable<Uint8Array>, prefixes: Prefixes): Promise<Stream> {
  return turtle(await begunAnswer(checked(linesOf(pieces), 'N3')), prefixes)
}

/** The same bytes as {@link jsonldBody}: the form depends on the length of an answer, not on how fast it is found. */
async function jsonldPieces(found: AsyncIterable<Uint8Array>): Promise<Stream> {
  const lines = checked(linesOf(found), 'JSON-LD')[Symbol.asyncIterator]()
  let text = ''
  for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
    text += next.value
    if (isLong(text)) return jsonldStream(after(text, lines), {})
  }
  return single(jsonldText(text, ''))
}

async function* after(begun: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield begun
  yield* rest
}

async function* single(text: string): AsyncGenerator<string> {
  yield text
}

async function rdfXmlStream(pieces: AsyncIterable<Uint8Array>): Promise<Stream> {
  return rdfxml(await begunAnswer(checked(linesOf(pieces), 'RDF/XML')), {})
}

/** Passes on lines; throws for those that a format cannot write. */
async function* checked(
  pieces: AsyncIterable<string>,
  format: 'N3' | 'JSON-LD' | 'RDF/XML',
): AsyncGenerator<string> {
  for await (const piece of pieces) {
    if (format === 'RDF/XML') refuseUnwritable(piece)
    else refuseTripleTerms(piece, format)
    yield piece
  }
}

function turtleBody(text: string, prefixes: Prefixes): ResponseBody {
  return isLong(text) ? turtle(pieces(text), prefixes) : turtleText(text, prefixes)
}

function n3Body(text: string, prefixes: Prefixes): ResponseBody {
  refuseTripleTerms(text, 'N3')
  return turtleBody(text, prefixes)
}

function jsonldBody(text: string): ResponseBody {
  refuseTripleTerms(text, 'JSON-LD')
  return isLong(text) ? jsonldStream(pieces(text), {}) : jsonldText(text, '')
}

async function rdfXmlBody(text: string): Promise<ResponseBody> {
  refuseUnwritable(text)
  const written = rdfxml(pieces(text), {})
  if (isLong(text)) return written
  const parts: string[] = []
  for await (const part of written) parts.push(part)
  return parts.join('')
}

function refuseUnwritable(lines: string): void {
  for (const triple of parseTriples(lines))
    for (const { predicate, object } of withTripleTerms(triple)) {
      if (splitIri(predicate.value) === null) throw unwritable(`The predicate ${predicate.value}`)
      if (!isXmlText(object.value)) throw unwritable(`A value of ${predicate.value}`)
    }
}

/** Neither JSON-LD nor N3 has triple terms, which RDF 1.2 brought to the other formats. */
function refuseTripleTerms(lines: string, format: string): void {
  if (!lines.includes('<<(')) return
  for (const { object } of splitTriples(lines))
    if (isTripleTerm(object)) throw unwritable('A triple term', format)
}

/** Characters that are converted before the thread yields to other requests. */
const PIECE = 100_000

function isLong(text: string): boolean {
  return text.length > PIECE
}

/** Whole lines, about {@link PIECE} characters of them at a time. */
async function* pieces(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', Math.min(text.length, at + PIECE))
    const next = end < 0 ? text.length : end + 1
    yield text.slice(at, next)
    at = next
    if (at < text.length) await setImmediate()
  }
}

function unwritable(what: string, format = 'RDF/XML or XML'): Fault {
  return new Fault(UNPROCESSABLE_ENTITY, {
    reason: `${what} is nothing that ${format} can write. Ask for another format.`,
  })
}
