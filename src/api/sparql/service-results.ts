import { BAD_GATEWAY, Fault, UNPROCESSABLE_ENTITY } from '../../errors/errors.ts'
import { lookup } from '../../model/lookup.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { isDirectedTag, languageDatatype, tripleTerm } from '../../rdf/ntriples.ts'
import type { Term } from '../../rdf/term.ts'
import { XSD } from '../../rdf/vocab.ts'

/** The solutions of a service: rows of terms, null for an unbound variable. */
export interface ServiceSolutions {
  readonly variables: readonly string[]
  readonly rows: readonly (readonly (Term | null)[])[]
}

/** Limits of SERVICE. */
export interface ServiceLimits {
  /** Milliseconds until all services of a query have answered. */
  readonly time: number
  /** Maximum solutions of one service. */
  readonly rows: number
  /** Maximum bytes of the JSON answer of one service. */
  readonly bytes: number
}

/** The default limits. */
export const SERVICE_LIMITS: ServiceLimits = { time: 10_000, rows: 100_000, bytes: 32_000_000 }

/** The text of an answer. Faults: UnprocessableEntity for one of more bytes than allowed. */
export async function boundedText(
  pieces: AsyncIterable<Uint8Array>,
  service: string,
  { bytes }: Pick<ServiceLimits, 'bytes'>,
): Promise<string> {
  const read: Uint8Array[] = []
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    checkSize(size, service, { bytes })
    read.push(piece)
  }
  return Buffer.concat(read).toString()
}

/** Refuses an answer of more bytes than allowed. Faults: UnprocessableEntity. */
export function checkSize(size: number, service: string, { bytes }: Pick<ServiceLimits, 'bytes'>): void {
  if (size > bytes) throw tooMuch(service, `${bytes} bytes`)
}

/**
 * Reads results in JSON (SPARQL 1.2 Query Results JSON Format, section 3). Blank nodes of an answer get IRIs, so that equal
 * ones stay equal and are not confused with blank nodes of another answer. Faults: BadGateway for malformed results,
 * UnprocessableEntity for more rows than allowed.
 *
 * @param nodes prefix of the IRIs of its blank nodes
 */
export function readResults(
  text: string,
  service: string,
  { rows: max }: Pick<ServiceLimits, 'rows'>,
  nodes: string,
): ServiceSolutions {
  const wrong = () =>
    new Fault(BAD_GATEWAY, { reason: `The service ${service} answers with no results in JSON.` })
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw wrong()
  }
  const variables = memberOf(memberOf(answer, 'head'), 'vars')
  const bindings = memberOf(memberOf(answer, 'results'), 'bindings')
  if (!Array.isArray(variables) || !Array.isArray(bindings)) throw wrong()
  const names = variables.map(String)
  if (names.some(name => !VARIABLE.test(name))) throw wrong()
  if (bindings.length > max) throw tooMuch(service, `${max} solutions`)
  if (bindings.length * names.length > max * MAX_WIDTH)
    throw tooMuch(service, `${max * MAX_WIDTH} values, unbound ones included`)
  const rows = bindings.map(binding =>
    names.map(name => {
      const found = memberOf(binding, name)
      if (found === undefined) return null
      const term = termOf(found, nodes)
      if (term === null) throw wrong()
      return term
    }),
  )
  return { variables: names, rows }
}

/** Variables that the maximum number of solutions may have: unbound ones have no bytes in an answer and a place in each row. */
const MAX_WIDTH = 50

/** Maximum depth of triple terms in triple terms. */
const MAX_NESTING = 100

const VARIABLE = /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}_\u{B7}\u203F\u2040]*$/u

function termOf(json: unknown, nodes: string, depth = 0): Term | null {
  const text = (name: string) => {
    const value = memberOf(json, name)
    return typeof value === 'string' ? value : undefined
  }
  const [type, value] = [text('type'), text('value')]
  if (type === 'triple' && depth < MAX_NESTING) {
    const parts = memberOf(json, 'value')
    const part = (name: string) => termOf(memberOf(parts, name), nodes, depth + 1)
    const [subject, predicate, object] = [part('subject'), part('predicate'), part('object')]
    if (subject?.type !== 'iri' || predicate?.type !== 'iri' || object === null) return null
    return tripleTerm(subject, predicate, object)
  }
  if (value === undefined) return null
  if (type === 'uri') return isIri(value) ? { type: 'iri', value } : null
  if (type === 'bnode') return { type: 'iri', value: `${nodes}${encodeURIComponent(value)}` }
  if (type !== 'literal' && type !== 'typed-literal') return null
  const tag = text('xml:lang')
  if (tag !== undefined) {
    const direction = text('its:dir')
    const language = `${tag.toLowerCase()}${direction === undefined ? '' : `--${direction}`}`
    if (!isDirectedTag(language)) return null
    return { type: 'literal', value, datatype: languageDatatype(language), language }
  }
  const datatype = text('datatype') ?? XSD.string
  return isIri(datatype) ? { type: 'literal', value, datatype, language: '' } : null
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? lookup(value as Readonly<Record<string, unknown>>, name)
    : undefined
}

function tooMuch(service: string, limit: string): Fault {
  return new Fault(UNPROCESSABLE_ENTITY, {
    reason: `The service ${service} answers with more than ${limit}, the limit of one SERVICE. Ask it for less, for example with a subquery that has a LIMIT.`,
  })
}
