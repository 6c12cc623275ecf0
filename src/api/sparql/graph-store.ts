import type { FastifyReply, FastifyRequest } from 'fastify'
import { BAD_REQUEST, Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { streamed } from '../../http/pieces.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Store } from '../../store/store.ts'
import { isFreshAnswer, type SparqlEndpoint } from './endpoint.ts'
import { chooseResultFormat, GRAPH_FORMATS, streamOf, TURTLE_FORMAT } from './formats.ts'

/** Triples of a batch. */
const PAGE = 20_000

/** True for a request that names a graph (SPARQL 1.1 Graph Store HTTP Protocol, section 4.2). */
export function namesGraph(query: QueryParameters): boolean {
  return query.graph !== undefined || query.default !== undefined
}

/**
 * Sends a whole graph, of any size: the default graph for `default`, else the one in `graph`. Faults: BadRequest,
 * NotFoundResource, NotAcceptable, UnprocessableEntity for what the format cannot write.
 */
export async function answerGraph(
  request: FastifyRequest<{ readonly Querystring: QueryParameters }>,
  reply: FastifyReply,
  endpoint: SparqlEndpoint,
  store: Store,
): Promise<FastifyReply> {
  const { graph, default: isDefault, format: name } = request.query
  if (Array.isArray(graph) || (graph === undefined) === (isDefault === undefined))
    throw new Fault(BAD_REQUEST, { reason: 'Name one graph: ?default, or ?graph= and its IRI.' })
  const graphs = graph === undefined ? endpoint.catalog.defaultGraphs : named(endpoint, graph)
  const requested = typeof name === 'string' ? name : null
  const chosen = chooseResultFormat(requested, request.headers.accept, GRAPH_FORMATS)
  const format = 'requested' in chosen ? chosen : TURTLE_FORMAT
  if (isFreshAnswer(request, reply, endpoint, format.type)) return reply.code(304).send()
  const body = await streamOf(format, pagesOf(store, graphs), {})
  return reply.type(`${format.type}; charset=utf-8`).send(streamed(body))
}

function named({ catalog }: SparqlEndpoint, iri: string): readonly string[] {
  const graphs = catalog.byIri.get(iri)
  if (graphs === undefined) throw new Fault(NOT_FOUND_RESOURCE, { kind: 'graph', id: iri.slice(0, 200) })
  return graphs.map(({ graph }) => graph)
}

async function* pagesOf(store: Store, graphs: readonly string[]): AsyncGenerator<Uint8Array> {
  const all = { subject: undefined, predicate: undefined, object: undefined }
  for (const graph of graphs)
    for (let offset = 0; ; offset += PAGE) {
      const { triples, count } = await store.match(graph, all, { offset, limit: PAGE })
      if (triples !== '') yield Buffer.from(triples)
      if (offset + PAGE >= count) break
    }
}
