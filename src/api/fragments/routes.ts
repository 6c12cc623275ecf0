import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../../errors.ts'
import { entityTag, isKnown } from '../../http/etag.ts'
import { answerFault } from '../../http/faults.ts'
import { negotiate } from '../../http/negotiate.ts'
import { PROBLEM_TYPE, problemBody } from '../../http/problem.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { parseTriples } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import type { Node } from '../../sparql/algebra.ts'
import { inGraph, triple, variable } from '../../sparql/build.ts'
import { generate } from '../../sparql/generate.ts'
import type { Store } from '../../store/store.ts'
import { fragmentIri, pageIri } from './address.ts'
import { metadataGraph, pageMetadata } from './metadata.ts'
import { type Position, parsePattern, type RequestedPattern, repeatsVariable } from './pattern.ts'
import { FRAGMENT_FORMATS } from './write.ts'

/** What fragments need of a dataset. */
export interface FragmentDataset {
  readonly id: string
  readonly title: string
  readonly description: string | null
  readonly version: string
  /** Graph whose triples are served. */
  readonly graph: string
}

export interface FragmentsOptions {
  readonly base: string
  /** Triples on a page; clients do not choose it, so that pages can be cached. */
  readonly pageSize: number
  readonly store: Store
  /** Throws NotFoundResource for an id that there is not. */
  readonly dataset: (id: string) => FragmentDataset
}

interface Route {
  readonly Params: { readonly dataset: string }
  readonly Querystring: QueryParameters
}

/** Triple pattern fragments at `/api/tpf/{dataset}` (linked-data specification, "Triple-pattern service"). */
export const fragments: FastifyPluginAsync<FragmentsOptions> = async (app, options) => {
  app.setErrorHandler(answerFault(problemBody, PROBLEM_TYPE))
  app.get<Route>('/api/tpf/:dataset', (request, reply) => answerPage(request, reply, options))
}

async function answerPage(
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  { base, pageSize, store, dataset: find }: FragmentsOptions,
): Promise<FastifyReply> {
  const dataset = find(request.params.dataset)
  const format = negotiate(request.headers.accept, FRAGMENT_FORMATS)
  if (format === null)
    throw new Fault('NotAcceptable', { available: FRAGMENT_FORMATS.map(({ type }) => type).join(', ') })
  const { pattern, page } = parsePattern(request.query)
  const target = request.raw.url ?? request.url
  const tag = entityTag(dataset.version, target, format.type, String(pageSize))
  reply
    .header('vary', 'Accept')
    .header('etag', tag)
    .header('cache-control', 'public, max-age=60, stale-while-revalidate=600')
    .header('access-control-expose-headers', 'ETag, Link')
  if (isKnown(request.headers['if-none-match'], tag)) return reply.code(304).send()
  const { triples, count } = await matchPattern(
    store,
    dataset.graph,
    pattern,
    (page - 1) * pageSize,
    pageSize,
  )
  const here = pageIri(base, target)
  const description = { base, dataset, pageIri: here, fragmentIri: fragmentIri(here), page, pageSize, count }
  const body = format.write(pageMetadata(description), metadataGraph(description), triples)
  return reply.type(`${format.type}; charset=utf-8`).send(body)
}

/** One page of what matches; a variable that stands twice must have one value in both places. */
async function matchPattern(
  store: Store,
  graph: string,
  pattern: RequestedPattern,
  offset: number,
  limit: number,
): Promise<{ readonly triples: string; readonly count: number }> {
  const [subject, predicate, object] = [
    termOf(pattern.subject),
    termOf(pattern.predicate),
    termOf(pattern.object),
  ]
  if (!repeatsVariable(pattern)) {
    const page = await store.match(graph, { subject, predicate, object }, { offset, limit })
    return holdsExactly(page.triples, object) ? page : { triples: '', count: 0 }
  }
  if (subject?.type === 'literal' || predicate?.type === 'literal') return { triples: '', count: 0 }
  const nodes = {
    subject: nodeOf(pattern.subject, 's'),
    predicate: nodeOf(pattern.predicate, 'p'),
    object: nodeOf(pattern.object, 'o'),
  }
  if (Object.values(nodes).some(({ type }) => type === 'blank')) return { triples: '', count: 0 }
  const where = [inGraph(graph, triple(nodes.subject, nodes.predicate, nodes.object))]
  const count = {
    variable: variable('count'),
    expression: { type: 'aggregate', name: 'COUNT', distinct: false, operand: null },
  } as const
  const [triples, counted] = await Promise.all([
    store.construct(generate({ type: 'construct', template: [nodes], where, offset, limit })),
    store.select(generate({ type: 'select', projection: [count], where })),
  ])
  return { triples, count: Number(counted[0]?.count?.value ?? 0) }
}

/**
 * False where the store found another spelling of a literal: it takes `1.0` for `1` in a look-up as in its data, but a
 * triple pattern matches equal terms only (RDF 1.1 Concepts, section 3.3).
 */
function holdsExactly(triples: string, object: Term | undefined): boolean {
  if (object?.type !== 'literal') return true
  const [first] = parseTriples(triples.slice(0, triples.indexOf('\n') + 1))
  if (first === undefined || first.object.type !== 'literal') return true
  const found = first.object
  return (
    found.value === object.value &&
    found.datatype === object.datatype &&
    found.language.toLowerCase() === object.language.toLowerCase()
  )
}

function termOf(position: Position) {
  return position.type === 'term' ? position.term : undefined
}

function nodeOf(position: Position, name: string): Node {
  if (position.type === 'term') return position.term
  return variable(position.name === '' ? name : `v${Buffer.from(position.name).toString('hex').slice(0, 64)}`)
}
