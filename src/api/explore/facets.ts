import type { FastifyInstance } from 'fastify'
import { readClauses } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Executor } from '../../query/execute/executor.ts'
import { enumerateFacets } from '../../query/execute/facets.ts'
import { planOdsql } from '../../query/pipeline.ts'
import type { CatalogRoute, DatasetRoute, ExploreEndpoint } from './endpoint.ts'
import { readFilters, requestedFacets } from './read-parameters.ts'
import type { ExploreSource } from './source.ts'

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
