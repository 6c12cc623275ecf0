import { BAD_GATEWAY, Fault, UNPROCESSABLE_ENTITY } from '../../errors/errors.ts'
import { iriText } from '../../rdf/ntriples.ts'
import { abortAfter } from '../../runtime/abort-after.ts'
import { followContinuations } from '../../sparql/follow.ts'
import { parseQuery } from '../../sparql/parse.ts'
import type { Store } from '../../store/store.ts'
import { datasetOf, type PublicGraph, SPARQL_PATH, type SparqlEndpoint } from './endpoint.ts'
import { syntaxFault } from './query-size.ts'
import { type QueryText, readQueryText, type ServiceClause } from './query-text.ts'
import { type InlineRows, placeholder } from './rewrite.ts'
import { runQuery } from './run.ts'
import {
  boundedText,
  checkSize,
  readResults,
  type ServiceLimits,
  type ServiceSolutions,
} from './service-results.ts'

/** The context in which SERVICE is evaluated. */
export interface ServiceContext {
  readonly base: string
  readonly store: Store
  /** The endpoint of a dataset, null for that of the portal. Faults: if it is hidden from the caller or does not exist. */
  readonly endpoint: (dataset: string | null) => SparqlEndpoint
  readonly allowed: readonly string[]
  readonly limits: ServiceLimits
  /** Milliseconds that are left to the services of the query. */
  readonly remaining: () => number
  /** What relative IRIs of the query are resolved against. */
  readonly queryBase: string
  readonly signal: AbortSignal
}

/** A query without SERVICE. */
export interface ResolvedQuery {
  readonly query: QueryText
  /** Graphs that it names in addition to those of its dataset. */
  readonly named: readonly PublicGraph[]
  readonly inline: InlineRows
}

/** Maximum number of services of one query, and depth of nested services. */
const MAX_SERVICES = 8
const MAX_DEPTH = 3

/**
 * Queries the services of a query and replaces them by their answers (SPARQL 1.1 Federated Query, section 4): a group of
 * SERVICE is evaluated separately, and its solutions are joined with the others. The endpoints of the portal are queried within
 * the process: if a group reads only the triples of one dataset, it becomes a group of GRAPH, and nothing is copied.
 *
 * Faults: BadRequest for services that are not allowed, BadGateway, UnprocessableEntity, those of the endpoints and of the
 * store; for a SILENT service only that the caller disconnected: it then has a single solution without bindings (section 3).
 */
export async function resolveServices(
  query: QueryText,
  context: ServiceContext,
  depth = 1,
): Promise<ResolvedQuery> {
  const { services, text } = query
  if (services.length === 0) return { query, named: [], inline: new Map() }
  if (services.length > MAX_SERVICES || depth > MAX_DEPTH)
    throw syntaxFault(
      text,
      services[0]?.from ?? 0,
      `a query has at most ${MAX_SERVICES} services, within one another at most ${MAX_DEPTH}.`,
    )
  const space = freshSpace(text)
  const named: PublicGraph[] = []
  const inline = new Map<string, ServiceSolutions>()
  let [result, at] = ['', 0]
  for (const [index, clause] of services.entries()) {
    const marker = `${space}${depth}:${index + 1}`
    result += text.slice(at, clause.from) + (await replacement(clause, marker))
    at = clause.to
  }
  result += text.slice(at)
  return { query: readQueryText(result, context.queryBase), named, inline }

  async function replacement(clause: ServiceClause, marker: string): Promise<string> {
    try {
      const endpoint = portalEndpointOf(clause, context)
      const graph = endpoint === null ? null : onlyGraph(query, clause, endpoint)
      if (graph !== null) {
        named.push({ iri: marker, graph })
        return `GRAPH ${iriText(marker)}${text.slice(clause.name.to, clause.to)}`
      }
      const found = await solutionsOf(query, clause, endpoint, context, marker, depth)
      if (found.variables.length === 0 && found.rows.length > MAX_SERVICES)
        throw new Fault(UNPROCESSABLE_ENTITY, {
          reason: 'A service without variables has too many solutions.',
        })
      if (found.rows.length > 0 && found.variables.length > 0) inline.set(marker, found)
      return placeholder(marker, found)
    } catch (error) {
      if (!clause.isSilent || context.signal.aborted || !(error instanceof Fault)) throw error
      const variables = variablesOf(query, clause, context)
      return placeholder(marker, { variables, rows: [] }, true)
    }
  }
}

/** A prefix of IRIs that does not occur in the query. */
function freshSpace(text: string): string {
  let space = 'urn:lodestone:service:'
  while (text.includes(space)) space += 'x:'
  return space
}

function portalEndpointOf(
  { name }: ServiceClause,
  { base, endpoint }: ServiceContext,
): SparqlEndpoint | null {
  const own = base + SPARQL_PATH
  if (name.type === 'variable' || !name.value.startsWith(own)) return null
  const [, id, ...rest] = name.value.slice(own.length).replace(/\/$/, '').split('/')
  if (id === undefined) return name.value.replace(/\/$/, '') === own ? endpoint(null) : null
  if (id === '' || rest.length > 0 || /[?#]/.test(id)) return null
  try {
    return endpoint(decodeURIComponent(id))
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}

/**
 * The only graph that a group of SERVICE reads; null if it reads more: if it names graphs or services itself, or if a
 * variable of GRAPH would match an additional graph in the query.
 */
function onlyGraph({ graphs }: QueryText, clause: ServiceClause, { catalog }: SparqlEndpoint): string | null {
  const [graph] = catalog.defaultGraphs
  if (graph === undefined || catalog.defaultGraphs.length > 1 || clause.namesGraphs) return null
  return graphs.some(({ name }) => name.type === 'variable') ? null : graph
}

/** The group of a service as a separate query: with the prologue and the text of the original query. */
function groupQuery({ text, start }: QueryText, { name, to }: ServiceClause): string {
  return `${text.slice(0, start)} SELECT * ${text.slice(name.to, to).trimStart()}`
}

/** The variables that a service would bind: they are in scope, whether it answers or not. */
function variablesOf(
  query: QueryText,
  clause: ServiceClause,
  { queryBase }: ServiceContext,
): readonly string[] {
  try {
    const { query: read } = parseQuery(groupQuery(query, clause), queryBase)
    return read.type === 'select' ? read.variables : []
  } catch {
    return []
  }
}

async function solutionsOf(
  query: QueryText,
  clause: ServiceClause,
  endpoint: SparqlEndpoint | null,
  context: ServiceContext,
  marker: string,
  depth: number,
): Promise<ServiceSolutions> {
  const { allowed, base, limits, queryBase, remaining, signal, store } = context
  const { name } = clause
  const { text } = query
  const requested = groupQuery(query, clause)
  if (endpoint !== null) {
    const resolved = await resolveServices(readQueryText(requested, queryBase), context, depth + 1)
    const { defaultGraphs, named } = datasetOf(endpoint.catalog, null)
    const dataset = { defaultGraphs, named: [...named, ...resolved.named] }
    const { inline } = resolved
    const answer = await runQuery(store, resolved.query, dataset, {
      format: 'json',
      base: queryBase,
      inline,
      deadline: remaining(),
      signal,
    })
    const pieces = answer.type === 'whole' ? [Buffer.from(answer.text)] : answer.pieces
    const json = await boundedText(asStream(pieces), endpoint.address, limits)
    return readResults(json, endpoint.address, limits, `${marker}:`)
  }
  if (name.type === 'variable')
    throw syntaxFault(text, clause.from, 'SERVICE is followed by the IRI of an endpoint.')
  if (!allowed.includes(name.value)) {
    const others = allowed.length === 0 ? '' : ` and ${allowed.join(', ')}`
    throw syntaxFault(
      text,
      clause.from,
      `SERVICE is refused: the endpoints of this portal${others} are asked (${base}${SPARQL_PATH}/…), and no others.`,
    )
  }
  const json = await requestEndpoint(name.value, `BASE ${iriText(queryBase)}\n${requested}`, limits, {
    remaining,
    signal,
  })
  return readResults(json, name.value, limits, `${marker}:`)
}

async function* asStream(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* pieces
}

const RESULTS = 'application/sparql-results+json'

/**
 * Queries an external SPARQL endpoint (SPARQL 1.1 Protocol, section 2.1.2) and returns its answer in JSON. It sends nothing of
 * the caller but the query, no credentials, and does not follow redirects: an address is allowed, not a host. An answer that
 * continues at the same address is read to its end.
 * Faults: BadGateway, UnprocessableEntity.
 *
 * @param signal aborted when the caller disconnects
 */
async function requestEndpoint(
  address: string,
  query: string,
  limits: ServiceLimits,
  { remaining, signal }: { readonly remaining: () => number; readonly signal: AbortSignal },
): Promise<string> {
  const late = abortAfter(remaining())
  try {
    const response = await followContinuations(boundedFetch(address, limits))(address, {
      method: 'POST',
      body: new URLSearchParams({ query }),
      headers: { accept: RESULTS },
      redirect: 'error',
      signal: AbortSignal.any([signal, late]),
    })
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel()
      throw unavailable(address, `answers ${response.status}`)
    }
    return await boundedText(response.body, address, limits)
  } catch (error) {
    if (error instanceof Fault) throw error
    throw unavailable(
      address,
      late.aborted ? `has not answered within ${limits.time / 1000} s` : 'cannot be reached',
      error,
    )
  }
}

/** `fetch` that reads at most as many bytes as a service may answer, over all its requests; then reading throws UnprocessableEntity. */
function boundedFetch(service: string, limits: ServiceLimits): typeof fetch {
  let size = 0
  return async (input, init) => {
    const answer = await fetch(input, init)
    const counted = answer.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (piece, controller) => {
          size += piece.length
          checkSize(size, service, limits)
          controller.enqueue(piece)
        },
      }),
    )
    return new Response(counted ?? null, answer)
  }
}

function unavailable(address: string, what: string, cause?: unknown): Fault {
  return new Fault(BAD_GATEWAY, { reason: `The service ${address} ${what}.` }, { cause })
}
