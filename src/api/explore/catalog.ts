import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readClauses, readPage } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { fieldNamed } from '../../model/field.ts'
import { answerQuery } from '../../query/execute/answer.ts'
import type { Condition, Query } from '../../query/plan.ts'
import type { CatalogRoute, DatasetRoute, ExploreEndpoint } from './endpoint.ts'
import { pageLinks, presentDataset, queriedDataset, splitSelect } from './present.ts'
import type { ExploreSource } from './source.ts'

/** The catalog: its datasets, one of them, and aggregates of all (REST 2.1). */
export function catalogRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const { options, place } = endpoint
  const { dialect } = options
  const home = `/${place.source}`

  /** The result of a list or of groups of datasets. */
  interface Found {
    readonly query: QueryParameters
    readonly plan: Query
    readonly total: number
    /** Datasets as `present` returns them, or groups unchanged. */
    readonly shown: readonly unknown[]
    readonly page: { readonly limit: number; readonly offset: number }
  }
  const answered =
    (present: typeof presentDataset, body: (found: Found) => unknown) =>
    async (request: FastifyRequest<CatalogRoute>, reply: FastifyReply) => {
      const { query } = request
      const fromCache = endpoint.fromCache(
        request,
        reply,
        endpoint.catalogVersion(endpoint.visible(request), query),
      )
      if (fromCache !== null) return fromCache
      const executor = endpoint.executor()
      const source = await endpoint.catalogSource(endpoint.visible(request), query)
      const { clauses, filter, page } = endpoint.readList(query, source)
      const { requested: select, shown: parts } = splitSelect(clauses.select, dialect)
      const question = { ...clauses, ...page, filter, select }
      const plan = endpoint.planCatalog(question, endpoint.context(source, clauses), executor)
      const requested = { target: source.target, style: { dialect, timezone: clauses.timezone } }
      const { total, rows } = await answerQuery(plan, requested, executor)
      const byId = new Map(source.entries.map(entry => [entry.dataset.id, entry]))
      const shown = rows.map(({ id, object }) => {
        const entry = id === null ? undefined : byId.get(id)
        if (entry === undefined) return object
        const object_ = select === undefined ? {} : object
        const selected = clauses.select === undefined ? undefined : { object: object_, shown: parts }
        return present(entry, place, endpoint.presentation(query, entry, source.statistics), selected)
      })
      return endpoint.answer(request, reply, executor, body({ query, plan, total, shown, page }))
    }

  app.get<CatalogRoute>(
    `${home}/datasets`,
    answered(presentDataset, ({ query, plan, total, shown, page }) => {
      const links = pageLinks(`${place.root}${home}/datasets`, query, plan, { ...page, total })
      return endpoint.list('datasets', query, { plan, total, links }, shown)
    }),
  )

  // The older generations return lists without wrappers, like later ones at /datasets.
  const query = answered(queriedDataset, ({ total, shown }) => ({ total_count: total, results: shown }))
  app.get<CatalogRoute>(`${home}/query`, (request, reply) => {
    endpoint.refuseGone('Queries')
    return query(request, reply)
  })

  app.get<CatalogRoute>(`${home}/aggregates`, async (request, reply) => {
    endpoint.refuseGone('Aggregates')
    const fromCache = endpoint.fromCatalogCache(request, reply)
    if (fromCache !== null) return fromCache
    const executor = endpoint.executor()
    const source = await endpoint.catalogSource(endpoint.visible(request), request.query)
    const { clauses, filter } = endpoint.readFiltered(request.query, source)
    const page = readPage(request.query, true, null)
    const context = endpoint.context(source, clauses)
    const plan = endpoint.planCatalog({ ...clauses, ...page, filter }, context, executor, 'groups')
    const requested = { target: source.target, style: { dialect, timezone: clauses.timezone } }
    const { rows } = await answerQuery(plan, requested, executor)
    const links = [{ rel: 'self', href: `${place.root}${home}/aggregates` }]
    const aggregations = rows.map(({ object }) => object)
    return endpoint.answer(request, reply, executor, { links, aggregations })
  })

  app.get<DatasetRoute>(`${home}/datasets/:dataset`, async (request, reply) => {
    const entry = endpoint.dataset(request)
    const fromCache = endpoint.fromCatalogCache(request, reply)
    if (fromCache !== null) return fromCache
    const executor = endpoint.executor()
    const presentation = endpoint.presentation(request.query, entry)
    const clauses = readClauses(request.query)
    if (clauses.select === undefined)
      return endpoint.answer(request, reply, executor, presentDataset(entry, place, presentation))
    const source = await endpoint.catalogSource(endpoint.visible(request), request.query)
    const { requested: select, shown } = splitSelect(clauses.select, dialect)
    const question = { select, where: [], filter: isDataset(entry.dataset.id, source), limit: 1, offset: 0 }
    const plan = endpoint.planCatalog(question, endpoint.context(source, clauses), executor)
    const requested = { target: source.target, style: { dialect, timezone: clauses.timezone } }
    const [row] = select === undefined ? [] : (await answerQuery(plan, requested, executor)).rows
    const selected = { object: row?.object ?? {}, shown }
    return endpoint.answer(request, reply, executor, presentDataset(entry, place, presentation, selected))
  })
}

function isDataset(id: string, { fields }: ExploreSource): Condition {
  const field = fieldNamed(fields, 'datasetid')
  if (field === undefined) throw new Error('the catalog has no datasetid')
  return { type: 'compare', field, operator: '=', value: id }
}
