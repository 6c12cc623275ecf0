import { setImmediate } from 'node:timers/promises'
import { Fault } from '../../errors.ts'
import { jsonldText } from '../../formats/jsonld.ts'
import { jsonldStream } from '../../formats/jsonld-stream.ts'
import { rdfxml, splitIri } from '../../formats/rdfxml.ts'
import { type Prefixes, turtle, turtleText } from '../../formats/turtle.ts'
import { negotiate, type Offer } from '../../http/negotiate.ts'
import { isXmlText } from '../../model/xml.ts'
import { isTripleTerm, parseTriples, splitTriples } from '../../rdf/ntriples-reader.ts'
import { FORMATS } from '../../rdf/vocab.ts'
import type { AnswerFormat } from '../../store/store.ts'

/** A format of answers. */
export interface AnswerOffer extends Offer {
  /** What `format` calls it, beside its media type. */
  readonly names: readonly string[]
  /** The unique name of it in service descriptions; none for those that are others in disguise. */
  readonly iri?: string
  /** What is asked of the store. */
  readonly asked: AnswerFormat
  /** Makes the body from what the store wrote; a long one comes in pieces. Faults: UnprocessableEntity. */
  readonly write: (text: string, prefixes: Prefixes) => Body | Promise<Body>
}

export type Body = string | AsyncIterable<string>

const asItIs = (text: string) => text

/** The formats of SELECT and ASK. */
export const RESULT_FORMATS: readonly AnswerOffer[] = [
  {
    type: 'application/sparql-results+json',
    names: ['json', 'srj'],
    iri: FORMATS.SPARQL_Results_JSON,
    asked: 'json',
    write: asItIs,
  },
  {
    type: 'application/sparql-results+xml',
    names: ['xml', 'srx'],
    iri: FORMATS.SPARQL_Results_XML,
    asked: 'xml',
    write: resultsXml,
  },
  { type: 'text/csv', names: ['csv'], iri: FORMATS.SPARQL_Results_CSV, asked: 'csv', write: asItIs },
  {
    type: 'text/tab-separated-values',
    names: ['tsv'],
    iri: FORMATS.SPARQL_Results_TSV,
    asked: 'tsv',
    write: asItIs,
  },
  { type: 'application/json', explicit: true, names: [], asked: 'json', write: asItIs },
  { type: 'application/xml', explicit: true, names: [], asked: 'xml', write: resultsXml },
]

/** The formats of CONSTRUCT and DESCRIBE, and of descriptions. */
export const GRAPH_FORMATS: readonly AnswerOffer[] = [
  { type: 'text/turtle', names: ['turtle', 'ttl'], iri: FORMATS.Turtle, asked: 'nt', write: turtleBody },
  {
    type: 'application/n-triples',
    names: ['ntriples', 'nt'],
    iri: FORMATS['N-Triples'],
    asked: 'nt',
    write: asItIs,
  },
  {
    type: 'application/rdf+xml',
    names: ['rdfxml', 'rdf', 'xml'],
    iri: FORMATS.RDF_XML,
    asked: 'nt',
    write: rdfXmlBody,
  },
  {
    type: 'application/ld+json',
    names: ['jsonld', 'json'],
    iri: FORMATS['JSON-LD'],
    asked: 'nt',
    write: jsonldBody,
  },
  {
    type: 'application/n-quads',
    names: ['nquads', 'nq'],
    iri: FORMATS['N-Quads'],
    asked: 'nt',
    write: asItIs,
  },
  { type: 'application/trig', names: ['trig'], iri: FORMATS.TriG, asked: 'nt', write: turtleBody },
  { type: 'text/n3', names: ['n3'], iri: FORMATS.N3, asked: 'nt', write: n3Body },
  {
    type: 'application/json',
    explicit: true,
    names: [],
    asked: 'nt',
    write: jsonldBody,
  },
]

/** A page for people, which the Accept header of a browser asks for. */
export const HTML_OFFER = { type: 'text/html', explicit: true } as const

/** Chooses the format of an answer: by its name, else by the Accept header. Faults: BadRequest, NotAcceptable. */
export function chooseFormat(
  name: string | null,
  accept: string | undefined,
  offers: readonly AnswerOffer[],
): AnswerOffer | typeof HTML_OFFER {
  const types = offers.filter(({ explicit }) => explicit !== true).map(({ type }) => type)
  if (name !== null && name !== '') {
    const wanted = name.toLowerCase()
    if (wanted === 'html' || wanted === HTML_OFFER.type) return HTML_OFFER
    const offer = offers.find(({ type, names }) => type === wanted || names.includes(wanted))
    if (offer !== undefined) return offer
    const known = offers.flatMap(({ names }) => names.slice(0, 1)).join(', ')
    throw new Fault('BadRequest', {
      reason: `The format ${name.slice(0, 60)} is not one of ${known}, html or their media types.`,
    })
  }
  const chosen = negotiate<AnswerOffer | typeof HTML_OFFER>(accept, [...offers, HTML_OFFER])
  if (chosen === null) throw new Fault('NotAcceptable', { available: [...types, HTML_OFFER.type].join(', ') })
  return chosen
}

/** The store writes carriage returns as they are, which XML reads as line ends (XML 1.0, section 2.11). */
function resultsXml(text: string): string {
  if (!isXmlText(text)) throw unwritable('A value')
  return text.replaceAll('\r', '&#13;')
}

function turtleBody(text: string, prefixes: Prefixes): Body {
  return isLong(text) ? turtle(pieces(text), prefixes) : turtleText(text, prefixes)
}

async function n3Body(text: string, prefixes: Prefixes): Promise<Body> {
  await refuseTripleTerms(text, 'N3')
  return turtleBody(text, prefixes)
}

async function jsonldBody(text: string): Promise<Body> {
  await refuseTripleTerms(text, 'JSON-LD')
  return isLong(text) ? jsonldStream(pieces(text), {}) : jsonldText(text, '')
}

async function rdfXmlBody(text: string): Promise<Body> {
  await refuseTripleTerms(text, 'RDF/XML')
  for await (const piece of pieces(text))
    for (const { predicate, object } of parseTriples(piece)) {
      if (splitIri(predicate.value) === null) throw unwritable(`The predicate ${predicate.value}`)
      if (!isXmlText(object.value)) throw unwritable(`A value of ${predicate.value}`)
      if (object.type === 'literal' && object.language.includes('--'))
        throw unwritable(`A base direction of ${predicate.value}`)
    }
  const written = rdfxml(pieces(text), {})
  if (isLong(text)) return written
  const parts: string[] = []
  for await (const part of written) parts.push(part)
  return parts.join('')
}

/** CONSTRUCT makes triple terms, which Turtle, TriG, N-Triples and N-Quads alone can write (RDF 1.2). */
async function refuseTripleTerms(text: string, format: string): Promise<void> {
  if (!text.includes('<<(')) return
  for await (const piece of pieces(text))
    for (const { object } of splitTriples(piece))
      if (isTripleTerm(object)) throw unwritable('A triple term', format)
}

/** Characters that are made into another format before other requests have their turn. */
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
  return new Fault('UnprocessableEntity', {
    reason: `${what} is nothing that ${format} can write. Ask for another format.`,
  })
}
