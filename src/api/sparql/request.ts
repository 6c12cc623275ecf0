import { BAD_REQUEST, Fault, UNSUPPORTED_MEDIA_TYPE } from '../../errors/errors.ts'
import { parseForm, type QueryParameters, refuseDamaged } from '../../http/query-string.ts'
import { lookup } from '../../model/lookup.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import type { DatasetRequest } from './graphs.ts'

/** A parsed request of the protocol. */
export interface SparqlRequest {
  /** Null if there is none: then the answer is the service description. */
  readonly query: string | null
  /** The dataset that the request specifies; null if it leaves that to the query. */
  readonly dataset: DatasetRequest | null
  /** The format in `format` or `output`, which takes precedence over the Accept header. */
  readonly format: string | null
  /** The cursor at which a stopped answer continues; empty for the first part of one that may be stopped, null if absent. */
  readonly cursor: string | null
}

const FORM = 'application/x-www-form-urlencoded'
const QUERY = 'application/sparql-query'
const UPDATE = 'application/sparql-update'

const READ_ONLY = 'This endpoint is read-only: it takes queries and no updates.'

/** Reads the query operation by GET (SPARQL 1.1 Protocol, section 2.1.1). Throws BadRequest. */
export function readGet(parameters: QueryParameters): SparqlRequest {
  return readParameters([parameters], null)
}

/**
 * Reads the query operation by POST, as a form or with the query as the body (sections 2.1.2 and 2.1.3).
 * Faults: BadRequest, UnsupportedMediaType.
 */
export function readPost(
  parameters: QueryParameters,
  contentType: string | undefined,
  body: Buffer | undefined,
): SparqlRequest {
  const [type = '', ...rest] = (contentType ?? '').split(';').map(part => part.trim().toLowerCase())
  if (type === UPDATE) throw new Fault(BAD_REQUEST, { reason: READ_ONLY })
  if (type !== FORM && type !== QUERY) {
    const found =
      type === ''
        ? 'The request has no Content-Type'
        : `The Content-Type ${type.slice(0, 100)} is not read here`
    throw new Fault(UNSUPPORTED_MEDIA_TYPE, { reason: `${found}: use ${QUERY} or ${FORM}.` })
  }
  const charset =
    rest
      .find(part => part.startsWith('charset='))
      ?.slice(8)
      .replaceAll('"', '') ?? 'utf-8'
  if (!['utf-8', 'utf8', 'us-ascii'].includes(charset))
    throw new Fault(UNSUPPORTED_MEDIA_TYPE, {
      reason: `The charset ${charset.slice(0, 40)} is not read here: use UTF-8.`,
    })
  const text = decoded(body ?? Buffer.alloc(0))
  if (type === QUERY) return readParameters([parameters], text)
  const form = parseForm(text)
  refuseDamaged(form)
  const request = readParameters([form, parameters], null)
  if (request.query === null) throw new Fault(BAD_REQUEST, { reason: 'The form has no query parameter.' })
  return request
}

/** @param body the query if it is not a parameter */
function readParameters(sources: readonly QueryParameters[], body: string | null): SparqlRequest {
  const all = (name: string) => sources.flatMap(parameters => lookup(parameters, name) ?? [])
  if (all('update').length > 0) throw new Fault(BAD_REQUEST, { reason: READ_ONLY })
  const queries = [...(body === null ? [] : [body]), ...all('query')]
  if (queries.length > 1)
    throw new Fault(BAD_REQUEST, { reason: `The request has ${queries.length} queries: send one.` })
  const defaultGraphs = all('default-graph-uri')
  const namedGraphs = all('named-graph-uri')
  checkIris('default-graph-uri', defaultGraphs)
  checkIris('named-graph-uri', namedGraphs)
  const isRequested = defaultGraphs.length + namedGraphs.length > 0
  return {
    query: queries[0]?.replace(/^\ufeff/, '') ?? null,
    dataset: isRequested ? { defaultGraphs, namedGraphs } : null,
    format: all('format')[0] ?? all('output')[0] ?? null,
    cursor: all('cursor')[0] ?? null,
  }
}

function checkIris(name: string, values: readonly string[]): void {
  const wrong = values.find(value => !isIri(value))
  if (wrong === undefined) return
  throw new Fault(BAD_REQUEST, {
    reason: `${name} is ${wrong.slice(0, 100)} but an absolute IRI is expected.`,
  })
}

function decoded(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw new Fault(BAD_REQUEST, { reason: 'The body of the request is not UTF-8.' })
  }
}
