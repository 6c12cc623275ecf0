import type { FastifyReply, FastifyRequest } from 'fastify'
import { BAD_REQUEST, Fault, UNSUPPORTED_MEDIA_TYPE } from '../../errors/errors.ts'
import { entityTag } from '../../http/conditional.ts'
import { textOfBody } from '../../http/form.ts'
import { isSecret, parseForm, type QueryParameters, refuseDamaged } from '../../http/query-string.ts'
import { lookup } from '../../model/lookup.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import type { CursorContext } from '../../sparql/row-writer.ts'
import type { AnswerFormat } from '../../store/store.ts'
import type { DatasetRequest, SparqlEndpoint } from './endpoint.ts'
import type { QueryText } from './query-text.ts'

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
  const text = textOfBody(body ?? Buffer.alloc(0))
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

/** Characters of a digest in a cursor, and the maximum of an address with a cursor. */
const DIGEST = 12
const MAX_ADDRESS = 8000

/**
 * How a SELECT that is stopped at its deadline is continued: a cursor identifies the query, the versions of its data and a
 * position in the result. Undefined if an answer must be complete: for some queries, and in formats that cannot contain a link
 * unless the request has a cursor (possibly empty), so that a partial answer never looks complete.
 * Faults: BadRequest for a cursor of another query or version.
 */
export function cursorContextOf(
  request: FastifyRequest,
  endpoint: SparqlEndpoint,
  requested: SparqlRequest,
  query: QueryText,
  format: AnswerFormat,
): CursorContext | undefined {
  const { cursor, dataset } = requested
  if (query.form !== 'select' || query.isVolatile || query.services.length > 0) {
    if (cursor !== null && cursor !== '') throw refusal('An answer of this query is whole or none')
    return undefined
  }
  if (cursor === null && format !== 'json') return undefined
  const digest = entityTag(endpoint.version, query.text, JSON.stringify(dataset)).slice(1, 1 + DIGEST)
  const given = cursor ?? ''
  if (given !== '' && given.slice(0, DIGEST + 1) !== `${digest}.`)
    throw refusal('The cursor belongs to another query, or to data that have changed since')
  const place = given === '' ? null : given.slice(DIGEST + 1)
  return { place, prefix: `${digest}.`, address: addressOf(request, endpoint, requested) }
}

function refusal(what: string): Fault {
  return new Fault(BAD_REQUEST, { reason: `${what}: repeat the query without cursor, from the beginning.` })
}

/** The address of the request without its cursor, up to the cursor of another; null if it is too long. */
function addressOf(
  { raw: { url = '' } }: FastifyRequest,
  { address }: SparqlEndpoint,
  { query, dataset, format }: SparqlRequest,
): string | null {
  const next = new URL(address)
  next.search = new URL(url, address).search
  const add = (name: string, values: readonly (string | null)[]) => {
    if (!next.searchParams.has(name))
      for (const value of values) if (value !== null) next.searchParams.append(name, value)
  }
  add('query', [query])
  add('default-graph-uri', dataset?.defaultGraphs ?? [])
  add('named-graph-uri', dataset?.namedGraphs ?? [])
  if (!next.searchParams.has('output')) add('format', [format])
  for (const name of [...next.searchParams.keys()])
    if (name === 'cursor' || isSecret(name)) next.searchParams.delete(name)
  const text = `${next.href}&cursor=`
  return text.length > MAX_ADDRESS ? null : text
}

/** Reports the address of the rest in a header, or in a trailer if the headers were sent before the end was known. */
export class RestLink {
  private readonly continuation: CursorContext | undefined
  private cursor: string | null = null

  constructor(continuation: CursorContext | undefined) {
    this.continuation = continuation
  }

  readonly onStopped = (cursor: string): void => {
    this.cursor = cursor
  }

  get isStopped(): boolean {
    return this.cursor !== null
  }

  /** The address of the rest; null if there is none. */
  get next(): string | null {
    const address = this.continuation?.address ?? null
    return this.cursor === null || address === null ? null : address + this.cursor
  }

  /** Sets the headers of an answer that is already stopped: it must not be cached as the answer of its address. */
  head(reply: FastifyReply): void {
    if (!this.isStopped) return
    reply.removeHeader('etag').header('cache-control', 'no-store')
    if (this.next !== null) reply.header('link', `<${this.next}>; rel="next"`)
  }

  /** Adds a trailer to an answer that may be stopped (RFC 9110, section 6.5). */
  addTrailer(reply: FastifyReply): void {
    const { method, raw } = reply.request
    // HTTP 1.0 has neither chunks nor trailers.
    if (this.continuation?.address == null || method === 'HEAD' || raw.httpVersion === '1.0') return
    reply.trailer('link', async () => (this.next === null ? '' : `<${this.next}>; rel="next"`))
  }
}
