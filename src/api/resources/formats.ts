import { text } from 'node:stream/consumers'
import { Fault, NOT_ACCEPTABLE, UNPROCESSABLE_ENTITY } from '../../errors/errors.ts'
import { jsonldInForm, jsonldText } from '../../formats/jsonld-forms.ts'
import { noTripleTerms } from '../../formats/jsonld-node.ts'
import { rdfxml, splitIri } from '../../formats/rdfxml.ts'
import { type Prefixes, turtleText } from '../../formats/turtle.ts'
import { negotiate, type Representation } from '../../http/negotiate.ts'
import { isXmlText } from '../../model/xml.ts'
import { hasTripleTerms, parseTriples, withTripleTerms } from '../../rdf/ntriples-reader.ts'

/** A format of documents about resources. */
export interface DocumentFormat extends Representation {
  readonly name: string
  /** Suffix of the address of the document, without the dot. */
  readonly suffix: string
  /** Further names for `?format=`, in addition to suffix and media type. */
  readonly aliases: readonly string[]
}

export const HTML_TYPE = 'text/html'

/**
 * The formats in the server's order of preference: a client that accepts anything gets Turtle, and only one that prefers HTML
 * to all data gets a page.
 */
export const DOCUMENT_FORMATS: readonly DocumentFormat[] = [
  { type: 'text/turtle', suffix: 'ttl', name: 'Turtle', aliases: ['turtle'] },
  { type: 'application/ld+json', suffix: 'jsonld', name: 'JSON-LD', aliases: ['json-ld'] },
  { type: 'application/n-triples', suffix: 'nt', name: 'N-Triples', aliases: ['ntriples'] },
  { type: 'application/rdf+xml', suffix: 'rdf', name: 'RDF/XML', aliases: ['rdfxml', 'xml'] },
  { type: 'application/trig', suffix: 'trig', name: 'TriG', aliases: [] },
  { type: 'application/n-quads', suffix: 'nq', name: 'N-Quads', aliases: ['nquads'] },
  { type: 'text/n3', suffix: 'n3', name: 'N3', aliases: [] },
  { type: HTML_TYPE, suffix: 'html', name: 'HTML', aliases: [] },
  { type: 'application/json', suffix: 'json', name: 'JSON', aliases: [], explicit: true },
]

/** The formats that an answer links to as alternatives: each once. */
export const ALTERNATES: readonly DocumentFormat[] = DOCUMENT_FORMATS.filter(
  ({ explicit }) => explicit !== true,
)

/**
 * The format of an answer: that of `?format=`, else of the suffix of the address, else the preferred one of the Accept header.
 * Throws NotAcceptable with the list of all.
 */
export function chooseDocumentFormat(
  named: string | undefined,
  suffixed: DocumentFormat | null,
  accept: string | undefined,
): DocumentFormat {
  // An unescaped + of a media type arrives as a space.
  const name = named?.trim().toLowerCase().replaceAll(' ', '+')
  const chosen =
    name === undefined
      ? (suffixed ?? negotiate(accept, DOCUMENT_FORMATS))
      : DOCUMENT_FORMATS.find(({ type, suffix, aliases }) => [type, suffix, ...aliases].includes(name))
  if (chosen !== undefined && chosen !== null) return chosen
  throw new Fault(NOT_ACCEPTABLE, {
    available: DOCUMENT_FORMATS.map(({ type, suffix }) => `${type} (${suffix})`).join(', '),
  })
}

/**
 * Writes the triples of a document in a format other than HTML. All are in the default graph, so that the formats with
 * graphs have the same bytes as those without. Throws UnprocessableEntity for what RDF/XML, N3 or JSON-LD cannot express.
 *
 * @param vocabulary namespace of the dataset's predicates
 */
export async function writeTriples(
  { type }: DocumentFormat,
  triples: string,
  prefixes: Prefixes,
  vocabulary: string,
): Promise<string> {
  switch (type) {
    case 'text/turtle':
    case 'application/trig':
      return turtleText(triples, prefixes)
    case 'text/n3':
      if (hasTripleTerms(triples)) throw noTripleTerms('N3')
      return turtleText(triples, prefixes)
    case 'application/n-triples':
    case 'application/n-quads':
      return triples
    case 'application/rdf+xml':
      return rdfxmlText(triples, prefixes)
    default:
      return jsonldText(triples, vocabulary)
  }
}

/** Writes the triples of a document as JSON-LD in another form than that of {@link writeTriples}. */
export function jsonldFormText(form: 'expanded' | 'flattened', triples: string): Promise<string> {
  return text(jsonldInForm(form, once(triples), {}))
}

async function rdfxmlText(triples: string, prefixes: Prefixes): Promise<string> {
  const all = [...parseTriples(triples)].flatMap(triple => [...withTripleTerms(triple)])
  for (const { predicate, object } of all) {
    if (splitIri(predicate.value) === null)
      throw unwritable(`The predicate ${predicate.value} has no name in RDF/XML`)
    if (object.type === 'literal' && !isXmlText(object.value))
      throw unwritable(`A value of ${predicate.value} has a character that XML cannot hold`)
  }
  return text(rdfxml(once(triples), prefixes))
}

async function* once(triples: string): AsyncGenerator<string> {
  yield triples
}

function unwritable(what: string): Fault {
  return new Fault(UNPROCESSABLE_ENTITY, {
    reason: `${what}. Ask for Turtle, N-Triples or JSON-LD instead.`,
  })
}
