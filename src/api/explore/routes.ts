import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Catalog } from '../../catalog/catalog.ts'
import { Fault } from '../../errors.ts'
import { answerFault, restBody } from '../../http/faults.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { recordIri } from '../../rdf/iris.ts'
import { planOdsql } from '../../records/ask.ts'
import { findRecord, findRecords } from '../../records/find.ts'
import { Stopwatch } from '../../records/stopwatch.ts'
import type { Store } from '../../store/store.ts'
import { pageLinks, presentDataset, presentRecord } from './present.ts'
import { listParameters, lookupParameters } from './schema.ts'

export interface ExploreOptions {
  readonly catalog: Catalog
  readonly store: Store
  /** Public address, without trailing slash. */
  readonly base: string
  /** A clock in milliseconds, for Server-Timing. */
  readonly clock: () => number
}

interface DatasetRoute {
  readonly Params: { readonly dataset: string }
  readonly Querystring: QueryParameters
}
interface RecordRoute {
  readonly Params: { readonly dataset: string; readonly record: string }
  readonly Querystring: QueryParameters
}

/** The Explore API v2.0 (query API, "Explore API v2.0"): catalog, datasets and records, read with ODSQL. */
export const explore: FastifyPluginAsync<ExploreOptions> = async (app, { catalog, store, base, clock }) => {
  const place = { root: `${base}/api/explore/v2.0` }
  app.setErrorHandler(answerFault(restBody))

  app.get<{ Querystring: QueryParameters }>('/catalog/datasets', async (request, reply) => {
    const watch = new Stopwatch(clock)
    const { timezone, ...clauses } = listParameters(request.query)
    const { target, entries } = catalog.current()
    const context = { dataset: target.dataset, template: 'default', timezone }
    const plan = planOdsql({ ...clauses, select: undefined }, context, watch)
    const page = await findRecords(plan, target, store, watch)
    const byId = new Map(entries.map(entry => [entry.dataset.id, entry]))
    const datasets = page.records
      .flatMap(({ id }) => byId.get(id) ?? [])
      .map(entry => presentDataset(entry, place))
    const links = pageLinks(`${place.root}/catalog/datasets`, request.query, { ...plan, total: page.total })
    return answer(reply, watch, { total_count: page.total, links, datasets })
  })

  app.get<DatasetRoute>('/catalog/datasets/:dataset', async (request, reply) => {
    lookupParameters(request.query)
    return answer(reply, new Stopwatch(clock), presentDataset(catalog.dataset(request.params.dataset), place))
  })

  app.get<DatasetRoute>('/catalog/datasets/:dataset/records', async (request, reply) => {
    const watch = new Stopwatch(clock)
    const { timezone, ...clauses } = listParameters(request.query)
    const entry = catalog.dataset(request.params.dataset)
    const plan = planOdsql(clauses, { dataset: entry.dataset, timezone }, watch)
    const page = await findRecords(plan, entry.target, store, watch)
    const body = watch.time('present', () => ({
      total_count: page.total,
      links: pageLinks(`${place.root}/catalog/datasets/${entry.dataset.id}/records`, request.query, {
        ...plan,
        total: page.total,
      }),
      records: page.records.map(record => presentRecord(record, plan.select, { place, entry, timezone })),
    }))
    return answer(reply, watch, body)
  })

  app.get<RecordRoute>('/catalog/datasets/:dataset/records/:record', async (request, reply) => {
    const watch = new Stopwatch(clock)
    const { timezone, select } = lookupParameters(request.query)
    const entry = catalog.dataset(request.params.dataset)
    const { record: id } = request.params
    const clauses = { select, where: [], limit: 1, offset: 0 }
    const plan = planOdsql(clauses, { dataset: entry.dataset, timezone }, watch)
    const iri = recordIri(base, entry.dataset.id, id)
    const record = await findRecord(id, entry.target, iri, store, watch)
    if (record === null) throw new Fault('NotFoundResource', { kind: 'record', id: id.slice(0, 100) })
    return answer(reply, watch, presentRecord(record, plan.select, { place, entry, timezone }))
  })
}

function answer(reply: FastifyReply, watch: Stopwatch, body: unknown): FastifyReply {
  const timing = watch.header()
  if (timing !== '') reply.header('server-timing', timing)
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(body))
}
