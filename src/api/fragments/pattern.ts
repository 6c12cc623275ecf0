import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { isDirectedTag, languageDatatype, tripleTerm, withLowerCaseTags } from '../../rdf/ntriples.ts'
import { isTripleTerm, parseTerm as readTerm } from '../../rdf/ntriples-reader.ts'
import type { NamedNode, Term } from '../../rdf/term.ts'
import { XSD } from '../../rdf/vocab.ts'
import { type Bindings, parseBindings } from './bindings.ts'
import type { FragmentPlace } from './metadata.ts'

/** One position of a requested pattern: a term, or a variable with its name, empty if none was given. */
export type TriplePosition =
  | { readonly type: 'term'; readonly term: Term }
  | { readonly type: 'variable'; readonly name: string }

/** A requested triple pattern. */
export interface RequestedPattern {
  readonly subject: TriplePosition
  readonly predicate: TriplePosition
  readonly object: TriplePosition
}

/** A client's request for a fragment of a dataset. */
export interface FragmentRequest {
  readonly pattern: RequestedPattern
  /** Rows that restrict the pattern; null if none were given. */
  readonly bindings: Bindings | null
  /** The graph of a quad; null if triples are requested. */
  readonly graph: TriplePosition | null
  /** The first is 1. */
  readonly page: number
}

/** Maximum triple terms within one another in a requested term: reading them takes the square of their number. */
const MAX_NESTED = 50

/** The parameters of a request that define the fragment; all others are passed through. */
export const PATTERN_PARAMETERS: ReadonlySet<string> = new Set([
  'subject',
  'predicate',
  'object',
  'graph',
  'page',
  'values',
])

/**
 * Reads the parameters of a request (fragments, "URL grammar"). Throws BadRequest for what cannot be read.
 *
 * @param isOfQuads true if patterns have a graph
 */
export function parseRequest(query: QueryParameters, isOfQuads = false): FragmentRequest {
  const { values, graph } = query
  if (!isOfQuads && graph !== undefined && graph !== '')
    throw bad(
      'graph is given, but these fragments are of all triples of a dataset: those of its graphs are at /api/qpf',
    )
  if (Array.isArray(values)) throw bad(`values was given ${values.length} times but once is expected`)
  return {
    bindings: values === undefined || values === '' ? null : parseBindings(values),
    pattern: {
      subject: position(query, 'subject'),
      predicate: position(query, 'predicate'),
      object: position(query, 'object'),
    },
    graph: isOfQuads ? position(query, 'graph') : null,
    page: pageNumber(query.page),
  }
}

/** True for a pattern in which one variable occurs twice. */
export function repeatsVariable({ subject, predicate, object }: RequestedPattern): boolean {
  const names = [subject, predicate, object].flatMap(place =>
    place.type === 'variable' && place.name !== '' ? [place.name] : [],
  )
  return new Set(names).size < names.length
}

function position(query: QueryParameters, name: FragmentPlace): TriplePosition {
  const text = query[name]
  if (Array.isArray(text)) throw bad(`${name} was given ${text.length} times but once is expected`)
  if (text === undefined || text === '') return { type: 'variable', name: '' }
  if (text.startsWith('?')) return { type: 'variable', name: text.slice(1) }
  if (name === 'object' && hasVariables(text)) return { type: 'variable', name: '' }
  return { type: 'term', term: withLowerCaseTags(parseTerm(text, name)) }
}

/** True for a triple term with variables, which Comunica requests with bindings: it chooses among all objects by itself. */
function hasVariables(text: string): boolean {
  return text.startsWith('<<') && /(?:<<\(? ?| )\?/.test(text.replace(/".*"/s, ''))
}

/** A term as fragment clients write it: nothing is escaped inside a literal, so its last quote ends it. */
function parseTerm(text: string, name: string): Term {
  if (text.startsWith('"')) return parseLiteral(text, name)
  if (text.startsWith('_:')) return { type: 'blank', value: text.slice(2) }
  if (text.startsWith('<<')) return parseTripleTerm(text, name)
  return parseIri(text, name)
}

function parseIri(text: string, name: string): NamedNode {
  const value = text.startsWith('<') && text.endsWith('>') ? text.slice(1, -1) : text
  if (!isIri(value))
    throw bad(`${name} is ${shorten(text)} but an absolute IRI, a literal or a variable is expected`)
  return { type: 'iri', value }
}

/** A triple term (RDF 1.2) as N-Triples writes it, or as Comunica does: `<<s p o>>`, with terms like those of a pattern. */
function parseTripleTerm(text: string, name: string): Term {
  if (text.split('<<').length > MAX_NESTED)
    throw bad(`${name} has more than ${MAX_NESTED} nested triple terms`)
  try {
    if (isTripleTerm(text)) return readTerm(text)
    const [, subject = '', predicate = '', object = ''] = /^<<(\S+) (\S+) (.+)>>$/s.exec(text) ?? []
    return tripleTerm(parseIri(subject, name), parseIri(predicate, name), parseTerm(object, name))
  } catch {
    throw bad(`${name} is ${shorten(text)} but a triple term <<( … )>> of N-Triples is expected`)
  }
}

function parseLiteral(text: string, name: string): Term {
  const match = /^"(.*)"(?:\^\^(<[^<>]*>|[^<>"]+)|@([^"]+))?$/s.exec(text)
  if (match === null)
    throw bad(`${name} is ${shorten(text)} but a literal "…", "…"@lang or "…"^^datatype is expected`)
  const [, value = '', given, language] = match
  if (language !== undefined) {
    if (!isDirectedTag(language))
      throw bad(`${name} has the language ${shorten(language)} but a language tag is expected`)
    return { type: 'literal', value, datatype: languageDatatype(language), language }
  }
  const datatype = given === undefined ? XSD.string : given.replace(/^<|>$/g, '')
  if (!isIri(datatype))
    throw bad(`${name} has the datatype ${shorten(datatype)} but an absolute IRI is expected`)
  return { type: 'literal', value, datatype, language: '' }
}

function pageNumber(text: string | string[] | undefined): number {
  if (text === undefined || text === '') return 1
  if (Array.isArray(text) || !/^[1-9]\d{0,8}$/.test(text))
    throw bad(`page is ${shorten(String(text))} but a positive integer is expected`)
  return Number(text)
}

function bad(reason: string): Fault {
  return new Fault(BAD_REQUEST, { reason: `${reason}.` })
}

function shorten(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text
}
