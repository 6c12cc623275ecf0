import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { BAD_REQUEST, Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { jsonldInForm } from '../../formats/jsonld-forms.ts'
import { jsonldStream } from '../../formats/jsonld-stream.ts'
import { rdfxml } from '../../formats/rdfxml.ts'
import { turtle } from '../../formats/turtle.ts'
import { jsonldForm, jsonldType } from '../../http/jsonld-profile.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Store } from '../../store/store.ts'
import { isFreshAnswer, type SparqlEndpoint } from './endpoint.ts'
import { chooseResultFormat, GRAPH_FORMATS } from './formats.ts'

/** Triples of a batch. */
const PAGE = 20_000

/** True for a request that names a graph (SPARQL 1.1 Graph Store HTTP Protocol, section 4.2). */
export function namesGraph(query: QueryParameters): boolean {
  return query.graph !== undefined || query.default !== undefined
}

/**
 * Sends a whole graph, of any size: the default graph for `default`, else the one in `graph`. Faults: BadRequest,
 * NotFoundResource, NotAcceptable.
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
  const format = chooseResultFormat(requested, request.headers.accept, GRAPH_FORMATS)
  const type = format.type === 'text/html' ? 'text/turtle' : format.type
  if (isFreshAnswer(request, reply, endpoint, type)) return reply.code(304).send()
  const pages = pagesOf(store, graphs)
  const first = await pages.next()
  const all = prepended(first.done === true ? '' : first.value, pages)
  return reply
    .type(`${type}; charset=utf-8`)
    .send(Readable.from(written(all, type, request.headers.accept), { objectMode: false }))
}

function named({ catalog }: SparqlEndpoint, iri: string): readonly string[] {
  const graphs = catalog.byIri.get(iri)
  if (graphs === undefined) throw new Fault(NOT_FOUND_RESOURCE, { kind: 'graph', id: iri.slice(0, 200) })
  return graphs.map(({ graph }) => graph)
}

async function* pagesOf(store: Store, graphs: readonly string[]): AsyncGenerator<string> {
  const all = { subject: undefined, predicate: undefined, object: undefined }
  for (const graph of graphs)
    for (let offset = 0; ; offset += PAGE) {
      const { triples, count } = await store.match(graph, all, { offset, limit: PAGE })
      if (triples !== '') yield triples
      if (offset + PAGE >= count) break
    }
}

async function* prepended(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first
  yield* rest
}

function written(
  pieces: AsyncIterable<string>,
  type: string,
  accept: string | undefined,
): AsyncIterable<string> {
  const form = jsonldForm(accept)
  if (form !== null && type === jsonldType(form)) return jsonldInForm(form, pieces, {})
  switch (type) {
    case 'application/n-triples':
    case 'application/n-quads':
      return pieces
    case 'application/rdf+xml':
      return rdfxml(pieces, {})
    case 'application/ld+json':
    case 'application/json':
      return jsonldStream(pieces, {})
    default:
      return turtle(pieces, {})
  }
}
