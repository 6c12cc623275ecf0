import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { BAD_REQUEST, Fault, NOT_ACCEPTABLE, UNPROCESSABLE_ENTITY } from '../../errors/errors.ts'
import { jsonldInForm, jsonldStream, jsonldText } from '../../formats/jsonld-forms.ts'
import { rdfxml, splitIri } from '../../formats/rdfxml.ts'
import { type Prefixes, turtle } from '../../formats/turtle.ts'
import { JSONLD_TYPE, jsonldForm, jsonldType, negotiate, type Representation } from '../../http/negotiate.ts'
import { begun, continued } from '../../http/pieces.ts'
import { isXmlText } from '../../model/xml.ts'
import { isTripleTerm, parseTriples, splitTriples, withTripleTerms } from '../../rdf/ntriples-reader.ts'
import { FORMATS } from '../../rdf/vocab.ts'
import type { AnswerFormat } from '../../store/store.ts'
import { linesOf } from './run.ts'

/** A format of answers. */
export interface AnswerRepresentation extends Representation {
  /** Its names for the parameter `format`, in addition to its media type. */
  readonly names: readonly string[]
  /** Its IRI in service descriptions; none for aliases of other formats. */
  readonly iri?: string
  /** The format that the store is asked to write. */
  readonly requested: AnswerFormat
  /** Makes the body of whole lines from the store; absent where it is what the store writes. */
  readonly convert?: (lines: AsyncIterable<string>, prefixes: Prefixes) => AsyncIterable<string>
  /** Refuses lines that it cannot write. Faults: UnprocessableEntity. */
  readonly check?: (lines: string) => void
}

export type ResponseBody = string | Stream

type Stream = AsyncIterable<Uint8Array | string>

/** The formats of SELECT and ASK. */
export const RESULT_FORMATS: readonly AnswerRepresentation[] = [
  {
    type: 'application/sparql-results+json',
    names: ['json', 'srj'],
    iri: FORMATS.SPARQL_Results_JSON,
    requested: 'json',
  },
  {
    type: 'application/sparql-results+xml',
    names: ['xml', 'srx'],
    iri: FORMATS.SPARQL_Results_XML,
    requested: 'xml',
  },
  { type: 'text/csv', names: ['csv'], iri: FORMATS.SPARQL_Results_CSV, requested: 'csv' },
  { type: 'text/tab-separated-values', names: ['tsv'], iri: FORMATS.SPARQL_Results_TSV, requested: 'tsv' },
  { type: 'application/json', explicit: true, names: [], requested: 'json' },
  { type: 'application/xml', explicit: true, names: [], requested: 'xml' },
]

const JSON_LD = { convert: jsonld, check: refusingTripleTerms('JSON-LD') }

/** The format of graphs where a client names none. */
export const TURTLE_FORMAT: AnswerRepresentation = {
  type: 'text/turtle',
  names: ['turtle', 'ttl'],
  iri: FORMATS.Turtle,
  requested: 'nt',
  convert: turtle,
}

/** The formats of CONSTRUCT and DESCRIBE, and of descriptions. */
export const GRAPH_FORMATS: readonly AnswerRepresentation[] = [
  TURTLE_FORMAT,
  { type: 'application/n-triples', names: ['ntriples', 'nt'], iri: FORMATS['N-Triples'], requested: 'nt' },
  {
    type: 'application/rdf+xml',
    names: ['rdfxml', 'rdf+xml', 'rdf', 'xml'],
    iri: FORMATS.RDF_XML,
    requested: 'nt',
    convert: lines => rdfxml(lines, {}),
    check: refuseUnwritable,
  },
  {
    type: 'application/ld+json',
    names: ['jsonld', 'json-ld', 'json'],
    iri: FORMATS['JSON-LD'],
    requested: 'nt',
    ...JSON_LD,
  },
  { type: 'application/n-quads', names: ['nquads', 'nq'], iri: FORMATS['N-Quads'], requested: 'nt' },
  { type: 'application/trig', names: ['trig'], iri: FORMATS.TriG, requested: 'nt', convert: turtle },
  {
    type: 'text/n3',
    names: ['n3'],
    iri: FORMATS.N3,
    requested: 'nt',
    convert: turtle,
    check: refusingTripleTerms('N3'),
  },
  { type: 'application/json', explicit: true, names: [], requested: 'nt', ...JSON_LD },
]

/** An HTML page, which the Accept header of a browser requests. */
export const HTML_PAGE = { type: 'text/html', explicit: true } as const

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
  return { ...representation, type: jsonldType(form), convert: lines => jsonldInForm(form, lines, {}) }
}

/** The body of an answer that is known: a long one is streamed. Faults: UnprocessableEntity. */
export async function bodyOf(
  { convert, check }: AnswerRepresentation,
  known: string,
  prefixes: Prefixes,
): Promise<ResponseBody> {
  check?.(known)
  if (convert === undefined) return known
  const body = convert(pieces(known), prefixes)
  return isLong(known) ? body : text(body)
}

/** The same bytes of an answer that is still being found. Faults, also while it is read: UnprocessableEntity. */
export async function streamOf(
  { convert, check }: AnswerRepresentation,
  found: AsyncIterable<Uint8Array>,
  prefixes: Prefixes,
): Promise<Stream> {
  if (convert === undefined) return found
  const lines = linesOf(found)
  return begun(convert(check === undefined ? lines : await begun(checked(lines, check)), prefixes))
}

/** Passes on lines; throws for those that a format cannot write. */
async function* checked(
  lines: AsyncIterable<string>,
  check: (lines: string) => void,
): AsyncGenerator<string> {
  for await (const some of lines) {
    check(some)
    yield some
  }
}

/** The form depends on the length of an answer, not on how fast it is found. */
async function* jsonld(lines: AsyncIterable<string>): AsyncGenerator<string> {
  const rest = lines[Symbol.asyncIterator]()
  let known = ''
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
    known += next.value
    if (!isLong(known)) continue
    yield* jsonldStream(continued([Promise.resolve({ value: known })], rest), {})
    return
  }
  yield jsonldText(known, '')
}

function refuseUnwritable(lines: string): void {
  for (const triple of parseTriples(lines))
    for (const { predicate, object } of withTripleTerms(triple)) {
      if (splitIri(predicate.value) === null) throw unwritable(`The predicate ${predicate.value}`)
      if (!isXmlText(object.value)) throw unwritable(`A value of ${predicate.value}`)
    }
}

/** Neither JSON-LD nor N3 has triple terms, which RDF 1.2 brought to the other formats. */
function refusingTripleTerms(format: 'JSON-LD' | 'N3') {
  return (lines: string): void => {
    if (!lines.includes('<<(')) return
    for (const { object } of splitTriples(lines))
      if (isTripleTerm(object)) throw unwritable('A triple term', format)
  }
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
