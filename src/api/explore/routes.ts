import { Readable } from 'node:stream'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Catalog, ServedDataset } from '../../catalog/catalog.ts'
import { Fault } from '../../errors.ts'
import { jsonArray } from '../../formats/json.ts'
import { answerFault, restBody } from '../../http/faults.ts'
import {
  type QueryClauses,
  readClauses,
  readExportLimit,
  readManners,
  readPage,
  refuseParameters,
} from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { CompileTarget } from '../../query/compile/scope.ts'
import type { Dialect } from '../../query/dialect.ts'
import type { ResolveContext } from '../../query/resolve/context.ts'
import { recordIri } from '../../rdf/iris.ts'
import { type AnswerRow, answerQuery, exportObjects } from '../../records/answer.ts'
import { planOdsql } from '../../records/ask.ts'
import { findRecord } from '../../records/find.ts'
import { recordObject } from '../../records/json.ts'
import { Stopwatch } from '../../records/stopwatch.ts'
import { Asker } from '../../records/trace.ts'
import type { Store } from '../../store/store.ts'
import { pageLinks, presentDataset, presentFlatDataset, presentRecord } from './present.ts'

export interface ExploreOptions {
  readonly catalog: Catalog
  readonly store: Store
  /** Public address, without trailing slash. */
  readonly base: string
  /** A clock in milliseconds, for Server-Timing. */
  readonly clock: () => number
  /** Milliseconds since 1970, for `now`. */
  readonly now: () => number
  /** The generation to speak. */
  readonly dialect: Dialect
  /** Where the API is: `/api/v2`, `/api/explore/v2.0` or `/api/explore/v2.1`. */
  readonly path: string
}

interface CatalogRoute {
  readonly Querystring: QueryParameters
}
interface DatasetRoute extends CatalogRoute {
  readonly Params: { readonly dataset: string }
}
interface RecordRoute extends CatalogRoute {
  readonly Params: { readonly dataset: string; readonly record: string }
}
interface ExportRoute extends CatalogRoute {
  readonly Params: { readonly dataset: string; readonly format: string }
}

/**
 * The Explore API in its two generations (query API, "Explore API v2.0"; facts on "Explore v2.1 differences") and the
 * resources that the Search API v2 has in common with it: catalog, datasets, records, aggregates, exports.
 */
export const explore: FastifyPluginAsync<ExploreOptions> = async (app, options) => {
  const { catalog, store, base, clock, now, dialect, path } = options
  const isFlat = dialect.name === 'explore-v2.1'
  const place = { root: base + path }
  app.setErrorHandler(answerFault(restBody))

  const contextOf = ({ timezone, language }: QueryClauses) => ({ timezone, language, dialect, now: now() })

  app.get<CatalogRoute>('/catalog/datasets', async (request, reply) => {
    const { clauses, page } = readList(request.query)
    const asker = new Asker(store, new Stopwatch(clock))
    const { target, entries } = catalog.current()
    const context = { dataset: target.dataset, template: 'default', technical: false, ...contextOf(clauses) }
    const plan = planOdsql({ ...clauses, ...page }, context, asker.watch)
    const asked = { target, style: { dialect, timezone: clauses.timezone } }
    const { total, rows } = await answerQuery(plan, asked, asker)
    const byId = new Map(entries.map(entry => [entry.dataset.id, entry]))
    const shown = rows.map(({ id, object }) => {
      const entry = id === null ? undefined : byId.get(id)
      if (entry === undefined) return object
      const selected = clauses.select === undefined ? undefined : object
      return isFlat ? (selected ?? presentFlatDataset(entry, place)) : presentDataset(entry, place, selected)
    })
    if (isFlat) return answer(reply, asker, { total_count: total, results: shown })
    const links = pageLinks(`${place.root}/catalog/datasets`, request.query, { ...page, total })
    return answer(reply, asker, { total_count: total, links, datasets: shown })
  })

  app.get<CatalogRoute>('/catalog/aggregates', async (request, reply) => {
    refuseGone()
    const asker = new Asker(store, new Stopwatch(clock))
    const clauses = readClauses(request.query)
    const { target } = catalog.current()
    const context = { dataset: target.dataset, template: 'default', technical: false, ...contextOf(clauses) }
    const aggregations = await aggregate(request.query, clauses, context, target, asker)
    const links = [{ rel: 'self', href: `${place.root}/catalog/aggregates` }]
    return answer(reply, asker, { links, aggregations })
  })

  app.get<DatasetRoute>('/catalog/datasets/:dataset/aggregates', async (request, reply) => {
    refuseGone()
    const asker = new Asker(store, new Stopwatch(clock))
    const clauses = readClauses(request.query)
    const { dataset, target } = catalog.dataset(request.params.dataset)
    const context = { dataset, technical: true, ...contextOf(clauses) }
    const aggregations = await aggregate(request.query, clauses, context, target, asker)
    return answer(reply, asker, { aggregations })
  })

  app.get<DatasetRoute>('/catalog/datasets/:dataset', async (request, reply) => {
    readManners(request.query)
    const entry = catalog.dataset(request.params.dataset)
    const shown = isFlat ? presentFlatDataset(entry, place) : presentDataset(entry, place)
    return answer(reply, new Asker(store, new Stopwatch(clock)), shown)
  })

  app.get<DatasetRoute>('/catalog/datasets/:dataset/records', async (request, reply) => {
    const { clauses, page } = readList(request.query)
    const asker = new Asker(store, new Stopwatch(clock))
    const entry = catalog.dataset(request.params.dataset)
    const context = { dataset: entry.dataset, technical: true, ...contextOf(clauses) }
    const plan = planOdsql({ ...clauses, ...page }, context, asker.watch)
    const asked = { target: entry.target, style: { dialect, timezone: clauses.timezone } }
    const { total, rows } = await answerQuery(plan, asked, asker)
    const shown = rows.map(row => presentRow(row, entry))
    if (isFlat) return answer(reply, asker, { total_count: total, results: shown })
    const links = pageLinks(`${place.root}/catalog/datasets/${entry.dataset.id}/records`, request.query, {
      ...page,
      total,
    })
    return answer(reply, asker, { total_count: total, links, records: shown })
  })

  app.get<RecordRoute>('/catalog/datasets/:dataset/records/:record', async (request, reply) => {
    const clauses = readClauses(request.query)
    const asker = new Asker(store, new Stopwatch(clock))
    const entry = catalog.dataset(request.params.dataset)
    const { record: id } = request.params
    const context = { dataset: entry.dataset, technical: true, ...contextOf(clauses) }
    const plan = planOdsql({ select: clauses.select, where: [], limit: 1, offset: 0 }, context, asker.watch)
    if (plan.type !== 'records')
      throw new Fault('BadRequest', { reason: 'An aggregate cannot be selected of one record.' })
    const row = await findRecord(id, recordIri(base, entry.dataset.id, id), plan, entry.target, asker)
    if (row === null) throw new Fault('NotFoundResource', { kind: 'record', id: id.slice(0, 100) })
    const object = recordObject(row, plan.select, entry.dataset.fields, {
      dialect,
      timezone: clauses.timezone,
    })
    const size = [...JSON.stringify(row.record.values)].length
    return answer(reply, asker, presentRow({ id: row.record.id, size, object }, entry))
  })

  app.get<ExportRoute>('/catalog/datasets/:dataset/exports/:format', async (request, reply) => {
    const entry = catalog.dataset(request.params.dataset)
    const { format } = request.params
    if (format !== 'json')
      throw new Fault('NotFoundResource', { kind: 'export format', id: format.slice(0, 100) })
    refuseParameters(request.query, ['refine', 'exclude'], 'the parameter is not served yet')
    if (!isFlat) refuseParameters(request.query, ['group_by'], 'exports are grouped from v2.1 on')
    const clauses = readClauses(request.query)
    const asker = new Asker(store, new Stopwatch(clock))
    const context = { dataset: entry.dataset, technical: true, ...contextOf(clauses) }
    const plan = planOdsql(
      { ...clauses, limit: readExportLimit(request.query), offset: 0 },
      context,
      asker.watch,
    )
    const asked = { target: entry.target, style: { dialect, timezone: clauses.timezone } }
    return reply
      .type('application/json; charset=utf-8')
      .header('content-disposition', `attachment; filename="${entry.dataset.id}.json"`)
      .send(Readable.from(jsonArray(exportObjects(plan, asked, asker)), { objectMode: false }))
  })

  /** The rows of an aggregation, all of them where no limit is given (query API, "Catalog aggregation"). */
  async function aggregate(
    query: QueryParameters,
    clauses: QueryClauses,
    context: ResolveContext,
    target: CompileTarget,
    asker: Asker,
  ): Promise<readonly unknown[]> {
    const plan = planOdsql({ ...clauses, ...readPage(query, true, null) }, context, asker.watch, 'groups')
    const asked = { target, style: { dialect, timezone: clauses.timezone } }
    const { rows } = await answerQuery(plan, asked, asker)
    return rows.map(({ object }) => object)
  }

  /** The later generation groups records where it lists them. */
  function refuseGone(): void {
    if (isFlat) throw new Fault('Gone', { reason: 'Aggregates are asked of /records with group_by in v2.1.' })
  }

  function presentRow(row: AnswerRow, entry: ServedDataset): unknown {
    return row.id === null || isFlat ? row.object : presentRecord(row, { place, entry })
  }
}

function readList(query: QueryParameters) {
  refuseParameters(query, ['refine', 'exclude'], 'the parameter is not served yet')
  const clauses = readClauses(query)
  return { clauses, page: readPage(query, clauses.groupBy !== undefined) }
}

function answer(reply: FastifyReply, asker: Asker, body: unknown): FastifyReply {
  const timing = asker.watch.header()
  if (timing !== '') reply.header('server-timing', timing)
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(body))
}
