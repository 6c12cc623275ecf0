import type { FastifyInstance } from 'fastify'
import { readClauses } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Asker } from '../../query/execute/executor.ts'
import { enumerateFacet, type FacetValue } from '../../query/execute/facets.ts'
import { planOdsql } from '../../query/pipeline.ts'
import type { CatalogRoute, DatasetRoute, Door, Source } from './endpoint.ts'

/** Facet enumerations of the catalog and of datasets (query API, "Facet enumeration"; facts on "Facets"). */
export function facetRoutes(app: FastifyInstance, door: Door): void {
  const { root, source } = door.place

  app.get<CatalogRoute>(`/${source}/facets`, async (request, reply) => {
    const early = door.early(request, reply, door.catalogVersion(door.seen(request), request.query))
    if (early !== null) return early
    const asker = door.asker()
    const facets = await enumerate(
      request.query,
      await door.catalogSource(door.seen(request), request.query),
      asker,
    )
    const links = [
      { rel: 'self', href: `${root}/${source}/facets` },
      { rel: 'source', href: `${root}/${source}` },
    ]
    return door.answer(request, reply, asker, { links, facets })
  })

  for (const path of [`/${source}/datasets/:dataset/facets`, `/${source}/:dataset/facets`])
    app.get<DatasetRoute>(path, async (request, reply) => {
      const entry = door.dataset(request)
      const early = door.early(request, reply, entry.version)
      if (early !== null) return early
      const asker = door.asker()
      const facets = await enumerate(request.query, door.datasetSource(entry), asker)
      const home = `${root}/${source}/datasets/${entry.dataset.id}`
      const links = [
        { rel: 'self', href: `${home}/facets` },
        { rel: 'dataset', href: home },
      ]
      return door.answer(request, reply, asker, { links, facets })
    })

  async function enumerate(query: QueryParameters, source: Source, asker: Asker) {
    const clauses = readClauses(query)
    const { timezone } = clauses
    const facets = door.readFacets(query, source)
    const refined = door.readFilters(query, 'refine', source)
    const excluded = door.readFilters(query, 'exclude', source)
    const where = { where: clauses.where, qv1: clauses.qv1, limit: 0, offset: 0 }
    const { filter } = planOdsql(where, door.context(source, clauses), asker.watch)
    const told: { readonly name: string; readonly facets: readonly FacetValue[] }[] = []
    for (const facet of facets) {
      const asked = { filter, refined, excluded, timezone }
      told.push({ name: facet.name, facets: await enumerateFacet(facet, asked, source.target, asker) })
    }
    return told
  }
}
