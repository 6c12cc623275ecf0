import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServedDataset } from '../../catalog/served.ts'
import { Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { readClauses, readPage } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { ODSQL_ERROR } from '../../language/odsql/faults.ts'
import { exactJson } from '../../model/exact-json.ts'
import { type AnswerPage, answerQuery, findRecord } from '../../query/execute/answer.ts'
import type { Executor } from '../../query/execute/executor.ts'
import { enumerateFacets } from '../../query/execute/facets.ts'
import { recordObject } from '../../query/execute/json.ts'
import { planOdsql } from '../../query/pipeline.ts'
import type { Query } from '../../query/plan.ts'
import type { CatalogRoute, DatasetRoute, ExploreEndpoint, RecordRoute } from './endpoint.ts'
import { pageLinks, presentRecord, presentRow } from './present.ts'
import { readFilters, requestedFacets } from './read-parameters.ts'
import type { ExploreSource } from './source.ts'

/** The records of a dataset: pages, one of them, groups and exports (REST 2.2). */
export function recordRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const { options, place } = endpoint
  const { dialect } = options
  const datasets = `/${place.source}/datasets`

  /** The result of a list or of groups of records. */
  interface Found {
    readonly query: QueryParameters
    readonly entry: ServedDataset
    readonly plan: Query
    readonly answer: AnswerPage
    readonly page: { readonly limit: number; readonly offset: number }
  }
  const answered =
    (body: (found: Found) => unknown) =>
    async (request: FastifyRequest<DatasetRoute>, reply: FastifyReply) => {
      const { query } = request
      const entry = endpoint.dataset(request)
      const fromCache = endpoint.fromCache(request, reply, entry.version)
      if (fromCache !== null) return fromCache
      const executor = endpoint.executor()
      const source = endpoint.datasetSource(entry)
      const { clauses, filter, page } = endpoint.readList(query, source)
      const plan = planOdsql(
        { ...clauses, ...page, filter },
        endpoint.context(source, clauses),
        executor.watch,
      )
      const requested = { target: entry.target, style: { dialect, timezone: clauses.timezone } }
      const answer = await answerQuery(plan, requested, executor)
      return endpoint.answer(request, reply, executor, body({ query, entry, plan, answer, page }))
    }

  app.get<DatasetRoute>(
    `${datasets}/:dataset/records`,
    answered(({ query, entry, plan, answer: { total, rows }, page }) => {
      const presentation = endpoint.presentation(query, entry)
      const shown = rows.map(row => presentRow(row, plan, entry, place, presentation))
      const home = `${place.root}${datasets}/${entry.dataset.id}/records`
      const links = pageLinks(home, query, { ...page, total })
      return endpoint.list('records', query, { plan, total, links }, shown)
    }),
  )

  // The older generations have lists without wrappers, as later ones have at /records.
  const query = answered(({ answer: { total, rows } }) => ({
    total_count: total,
    results: rows.map(({ object }) => object),
  }))
  app.get<DatasetRoute>(`${datasets}/:dataset/query`, (request, reply) => {
    endpoint.refuseGone('Queries')
    return query(request, reply)
  })

  app.get<DatasetRoute>(`${datasets}/:dataset/aggregates`, async (request, reply) => {
    endpoint.refuseGone('Aggregates')
    const entry = endpoint.dataset(request)
    const fromCache = endpoint.fromCache(request, reply, entry.version)
    if (fromCache !== null) return fromCache
    const executor = endpoint.executor()
    const source = endpoint.datasetSource(entry)
    const { clauses, filter } = endpoint.readFiltered(request.query, source)
    const page = readPage(request.query, true, null)
    const context = endpoint.context(source, clauses)
    const plan = planOdsql({ ...clauses, ...page, filter }, context, executor.watch, 'groups')
    const requested = { target: entry.target, style: { dialect, timezone: clauses.timezone } }
    const { rows } = await answerQuery(plan, requested, executor)
    return endpoint.answer(request, reply, executor, { aggregations: rows.map(({ object }) => object) })
  })

  app.get<RecordRoute>(`${datasets}/:dataset/records/:record`, async (request, reply) => {
    const entry = endpoint.dataset(request)
    const fromCache = endpoint.fromCache(request, reply, entry.version)
    if (fromCache !== null) return fromCache
    const clauses = readClauses(request.query)
    const executor = endpoint.executor()
    const { record: id } = request.params
    const context = endpoint.context(endpoint.datasetSource(entry), clauses)
    const plan = planOdsql(
      { select: clauses.select, where: [], limit: 1, offset: 0 },
      context,
      executor.watch,
    )
    if (plan.type !== 'records')
      throw new Fault(ODSQL_ERROR, {
        reason: 'An aggregate cannot be selected of one record.',
        clause: 'select',
      })
    const row = await findRecord(id, plan, entry.target, executor)
    if (row === null) throw new Fault(NOT_FOUND_RESOURCE, { kind: 'record', id: id.slice(0, 100) })
    const style = { dialect, timezone: clauses.timezone }
    const object = recordObject(row, plan.select, entry.dataset.fields, style)
    const size = [...exactJson(row.record.values)].length
    const presentation = endpoint.presentation(request.query, entry)
    const shown = presentRecord({ id: row.record.id, size, object }, entry, place, presentation)
    return endpoint.answer(request, reply, executor, shown)
  })
}

/** Facet enumerations of the catalog and of datasets (REST 2.3). */
export function facetRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const { root, source } = endpoint.place

  app.get<CatalogRoute>(`/${source}/facets`, async (request, reply) => {
    const fromCache = endpoint.fromCatalogCache(request, reply)
    if (fromCache !== null) return fromCache
    const executor = endpoint.executor()
    const facets = await enumerate(
      request.query,
      await endpoint.catalogSource(endpoint.visible(request), request.query),
      executor,
    )
    const links = [
      { rel: 'self', href: `${root}/${source}/facets` },
      { rel: 'source', href: `${root}/${source}` },
    ]
    return endpoint.answer(request, reply, executor, { links, facets })
  })

  for (const path of [`/${source}/datasets/:dataset/facets`, `/${source}/:dataset/facets`])
    app.get<DatasetRoute>(path, async (request, reply) => {
      const entry = endpoint.dataset(request)
      const fromCache = endpoint.fromCache(request, reply, entry.version)
      if (fromCache !== null) return fromCache
      const executor = endpoint.executor()
      const facets = await enumerate(request.query, endpoint.datasetSource(entry), executor)
      const home = `${root}/${source}/datasets/${entry.dataset.id}`
      const links = [
        { rel: 'self', href: `${home}/facets` },
        { rel: 'dataset', href: home },
      ]
      return endpoint.answer(request, reply, executor, { links, facets })
    })

  async function enumerate(query: QueryParameters, source: ExploreSource, executor: Executor) {
    const clauses = readClauses(query)
    const { timezone } = clauses
    const facets = requestedFacets(query, source)
    const refined = readFilters(query, 'refine', source)
    const excluded = readFilters(query, 'exclude', source)
    const where = { where: clauses.where, qv1: clauses.qv1, limit: 0, offset: 0 }
    const { filter } = planOdsql(where, endpoint.context(source, clauses), executor.watch)
    const requested = { filter, refined, excluded, timezone }
    const found = await enumerateFacets(facets, requested, source.target, executor)
    return facets.map(({ name }, at) => ({ name, facets: found[at] ?? [] }))
  }
}
