import type { FastifyInstance } from 'fastify'
import type { ServedDataset } from '../../catalog/served.ts'
import type { VisibleDatasets } from '../../catalog/visible.ts'
import { Fault, NOT_FOUND_RESOURCE } from '../../errors/errors.ts'
import { readClauses, readPage } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Route } from '../../http/route-config.ts'
import { ODSQL_ERROR } from '../../language/odsql/faults.ts'
import { exactJson } from '../../model/exact-json.ts'
import { fieldNamed } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { inOrder } from '../../model/member-order.ts'
import { findRecord } from '../../query/execute/answer.ts'
import { keysOf } from '../../query/execute/columns.ts'
import type { Executor } from '../../query/execute/executor.ts'
import { enumerateFacets } from '../../query/execute/facets.ts'
import { recordJson } from '../../query/execute/record-json.ts'
import { planOdsql } from '../../query/pipeline.ts'
import type { Condition } from '../../query/plan.ts'
import type { ExploreEndpoint } from './endpoint.ts'
import {
  pageLinks,
  presentDataset,
  presentRecord,
  presentRow,
  queriedDataset,
  splitSelect,
} from './present.ts'
import { type ExploreSource, readFilters, requestedFacets } from './read-parameters.ts'

/** The records of a dataset: pages, one of them, groups and exports (REST 2.2). */
export function recordRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const { place } = endpoint
  const { dialect } = endpoint.options
  const datasets = `/${place.source}/datasets`

  const find = async (query: QueryParameters, entry: ServedDataset, executor: Executor) => {
    const source = endpoint.datasetSource(entry)
    const { clauses, filter, page } = endpoint.readList(query, source)
    const context = endpoint.context(source, clauses)
    const plan = planOdsql({ ...clauses, ...page, filter }, context, executor.watch)
    return { plan, page, ...(await endpoint.run(plan, entry.target, clauses, executor)) }
  }

  app.get<Route<'dataset'>>(`${datasets}/:dataset/records`, async ({ query }, reply) =>
    endpoint.ofDataset(reply, async (entry, executor) => {
      const { plan, total, rows, page } = await find(query, entry, executor)
      const presentation = endpoint.presentation(query, entry)
      const shown = rows.map(row => presentRow(row, plan, entry, presentation))
      const home = `${place.root}${datasets}/${entry.dataset.id}/records`
      const links = pageLinks(home, query, plan, { ...page, total })
      return endpoint.list('records', query, { plan, total, links }, shown)
    }),
  )

  // The older generations have lists without wrappers, as later ones have at /records.
  app.get<Route<'dataset'>>(`${datasets}/:dataset/query`, async ({ query }, reply) => {
    endpoint.refuseGone('Queries')
    return endpoint.ofDataset(reply, async (entry, executor) => {
      const { total, rows } = await find(query, entry, executor)
      return { total_count: total, results: rows.map(({ object }) => object) }
    })
  })

  app.get<Route<'dataset'>>(`${datasets}/:dataset/aggregates`, async ({ query }, reply) => {
    endpoint.refuseGone('Aggregates')
    return endpoint.ofDataset(reply, async (entry, executor) => {
      const source = endpoint.datasetSource(entry)
      const { clauses, filter } = endpoint.readFiltered(query, source)
      const question = { ...clauses, ...readPage(query, true, null), filter }
      const plan = planOdsql(question, endpoint.context(source, clauses), executor.watch, 'groups')
      const { rows } = await endpoint.run(plan, entry.target, clauses, executor)
      return { aggregations: rows.map(({ object }) => object) }
    })
  })

  app.get<Route<'dataset' | 'record'>>(
    `${datasets}/:dataset/records/:record`,
    async ({ query, params }, reply) =>
      endpoint.ofDataset(reply, async (entry, executor) => {
        const { select, ...clauses } = readClauses(query)
        const { record: id } = params
        const context = endpoint.context(endpoint.datasetSource(entry), { select, ...clauses })
        const plan = planOdsql({ select, where: [], limit: 1, offset: 0 }, context, executor.watch)
        if (plan.type !== 'records')
          throw new Fault(ODSQL_ERROR, {
            reason: 'An aggregate cannot be selected of one record.',
            clause: 'select',
          })
        const row = await findRecord(id, plan, entry.target, executor)
        if (row === null) throw new Fault(NOT_FOUND_RESOURCE, { kind: 'record', id: id.slice(0, 100) })
        const style = { dialect, timezone: clauses.timezone }
        const record = recordJson(row, plan.select, entry.dataset.fields, style)
        const object = inOrder(keysOf(plan), name => lookup(record, name))
        const size = [...exactJson(row.record.values)].length
        const presentation = endpoint.presentation(query, entry)
        return presentRecord({ id: row.record.id, size, object }, entry, presentation)
      }),
  )
}

/** Facet enumerations of the catalog and of datasets (REST 2.3). */
export function facetRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const { root, source } = endpoint.place

  app.get<Route>(`/${source}/facets`, async ({ query }, reply) =>
    endpoint.ofCatalog(reply, async (visible, executor) => {
      const facets = await enumerate(query, await endpoint.catalogSource(visible, query), executor)
      const links = [
        { rel: 'self', href: `${root}/${source}/facets` },
        { rel: 'source', href: `${root}/${source}` },
      ]
      return { links, facets }
    }),
  )

  for (const path of [`/${source}/datasets/:dataset/facets`, `/${source}/:dataset/facets`])
    app.get<Route<'dataset'>>(path, async ({ query }, reply) =>
      endpoint.ofDataset(reply, async (entry, executor) => {
        const facets = await enumerate(query, endpoint.datasetSource(entry), executor)
        const home = `${root}/${source}/datasets/${entry.dataset.id}`
        const links = [
          { rel: 'self', href: `${home}/facets` },
          { rel: 'dataset', href: home },
        ]
        return { links, facets }
      }),
    )

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
