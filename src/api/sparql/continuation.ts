import type { FastifyReply, FastifyRequest } from 'fastify'
import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import { entityTag } from '../../http/conditional.ts'
import { isSecret } from '../../http/query-string.ts'
import type { ContinuationFormat } from '../../sparql/results.ts'
import type { AnswerFormat } from '../../store/store.ts'
import type { SparqlEndpoint } from './endpoint.ts'
import type { QueryText } from './query-text.ts'
import type { SparqlRequest } from './request.ts'

/** Characters of a digest in a cursor, and the maximum of an address with a cursor. */
const DIGEST = 12
const MAX_ADDRESS = 8000

/**
 * How a SELECT that is stopped at its deadline is continued: a cursor identifies the query, the versions of its data and a
 * position in the result. Undefined if an answer must be complete: for some queries, and in formats that cannot contain a link
 * unless the request has a cursor (possibly empty), so that a partial answer never looks complete.
 * Faults: BadRequest for a cursor of another query or version.
 */
export function continuationOf(
  request: FastifyRequest,
  endpoint: SparqlEndpoint,
  requested: SparqlRequest,
  query: QueryText,
  format: AnswerFormat,
): ContinuationFormat | undefined {
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
  private readonly continuation: ContinuationFormat | undefined
  private cursor: string | null = null

  constructor(continuation: ContinuationFormat | undefined) {
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
