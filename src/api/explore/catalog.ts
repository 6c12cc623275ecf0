import type { FastifyInstance } from 'fastify'
import type { VisibleDatasets } from '../../catalog/visible.ts'
import { readClauses, readPage } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Route } from '../../http/route-config.ts'
import { fieldNamed } from '../../model/field.ts'
import type { Executor } from '../../query/execute/executor.ts'
import type { Condition } from '../../query/plan.ts'
import type { ExploreEndpoint } from './endpoint.ts'
import { pageLinks, presentDataset, queriedDataset, splitSelect } from './present.ts'
import type { ExploreSource } from './source.ts'

/** The catalog: its datasets, one of them, and aggregates of all (REST 2.1). */
export function catalogRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const { place } = endpoint
  const { dialect } = endpoint.options
  const home = `/${place.source}`

  /** A page of datasets in a presentation, or of groups of them as they are. */
  const find = async (
    query: QueryParameters,
    visible: VisibleDatasets,
    present: typeof presentDataset,
    executor: Executor,
  ) => {
    const source = await endpoint.catalogSource(visible, query)
    const { clauses, filter, page } = endpoint.readList(query, source)
    const { requested: select, shown: parts } = splitSelect(clauses.select, dialect)
    const question = { ...clauses, ...page, filter, select }
    const plan = endpoint.planCatalog(question, endpoint.context(source, clauses), executor)
    const { total, rows } = await endpoint.run(plan, source.target, clauses, executor)
    const byId = new Map(source.entries.map(entry => [entry.dataset.id, entry]))
    const shown = rows.map(({ id, object }) => {
      const entry = id === null ? undefined : byId.get(id)
      if (entry === undefined) return object
      const object_ = select === undefined ? {} : object
      const selected = clauses.select === undefined ? undefined : { object: object_, shown: parts }
      return present(entry, endpoint.presentation(query, entry, source.statistics), selected)
    })
    return { plan, total, shown, page }
  }

  app.get<Route>(`${home}/datasets`, async ({ query }, reply) =>
    endpoint.ofCatalog(reply, async (visible, executor) => {
      const { plan, total, shown, page } = await find(query, visible, presentDataset, executor)
      const links = pageLinks(`${place.root}${home}/datasets`, query, plan, { ...page, total })
      return endpoint.list('datasets', query, { plan, total, links }, shown)
    }),
  )

  // The older generations return lists without wrappers, like later ones at /datasets.
  app.get<Route>(`${home}/query`, async ({ query }, reply) => {
    endpoint.refuseGone('Queries')
    return endpoint.ofCatalog(reply, async (visible, executor) => {
      const { total, shown } = await find(query, visible, queriedDataset, executor)
      return { total_count: total, results: shown }
    })
  })

  app.get<Route>(`${home}/aggregates`, async ({ query }, reply) => {
    endpoint.refuseGone('Aggregates')
    return endpoint.ofCatalog(reply, async (visible, executor) => {
      const source = await endpoint.catalogSource(visible, query)
      const { clauses, filter } = endpoint.readFiltered(query, source)
      const question = { ...clauses, ...readPage(query, true, null), filter }
      const plan = endpoint.planCatalog(question, endpoint.context(source, clauses), executor, 'groups')
      const { rows } = await endpoint.run(plan, source.target, clauses, executor)
      const links = [{ rel: 'self', href: `${place.root}${home}/aggregates` }]
      return { links, aggregations: rows.map(({ object }) => object) }
    })
  })

  app.get<Route<'dataset'>>(`${home}/datasets/:dataset`, async (request, reply) => {
    const { query } = request
    const entry = endpoint.dataset(request)
    return endpoint.ofCatalog(reply, async (visible, executor) => {
      const presentation = endpoint.presentation(query, entry)
      const clauses = readClauses(query)
      if (clauses.select === undefined) return presentDataset(entry, presentation)
      const source = await endpoint.catalogSource(visible, query)
      const { requested: select, shown } = splitSelect(clauses.select, dialect)
      const filter = isDataset(entry.dataset.id, source)
      const question = { select, where: [], filter, limit: 1, offset: 0 }
      const plan = endpoint.planCatalog(question, endpoint.context(source, clauses), executor)
      const [row] =
        select === undefined ? [] : (await endpoint.run(plan, source.target, clauses, executor)).rows
      return presentDataset(entry, presentation, { object: row?.object ?? {}, shown })
    })
  })
}

function isDataset(id: string, { fields }: ExploreSource): Condition {
  const field = fieldNamed(fields, 'datasetid')
  if (field === undefined) throw new Error('the catalog has no datasetid')
  return { type: 'compare', field, operator: '=', value: id }
}
