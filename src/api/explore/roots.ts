import type { FastifyInstance } from 'fastify'
import type { CatalogRoute, ExploreEndpoint } from './endpoint.ts'

/** Where addresses begin, and what they lead to (REST 7.1). */
const SEARCH_ROOTS = {
  '/': ['catalog', 'monitoring', 'network'],
  '/catalog': ['datasets', 'exports', 'metadata_templates'],
}
const EXPLORE_ROOTS = {
  '/': ['catalog', 'monitoring', 'opendatasoft'],
  '/catalog': ['datasets', 'exports', 'facets'],
}

/** The entrances of an API: its sources, and the resources of the catalog (REST 7.1). */
export function rootRoutes(app: FastifyInstance, endpoint: ExploreEndpoint): void {
  const roots = endpoint.options.dialect.name === 'search-v2' ? SEARCH_ROOTS : EXPLORE_ROOTS
  for (const [path, relations] of Object.entries(roots)) {
    const home = `${endpoint.place.root}${path === '/' ? '' : path}`
    const links = [{ rel: 'self', href: home }, ...relations.map(rel => ({ rel, href: `${home}/${rel}` }))]
    app.get<CatalogRoute>(path, async (request, reply) =>
      endpoint.answer(request, reply, endpoint.executor(), { links }),
    )
  }
}
