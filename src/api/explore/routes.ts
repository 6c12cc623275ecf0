import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { answerFault, restBody } from '../../http/faults.ts'
import { answerVersions } from '../../http/versions.ts'
import { attachmentRoutes } from './attachments.ts'
import { catalogRoutes } from './catalog.ts'
import { catalogExportRoutes } from './catalog-exports.ts'
import { selfDescription } from './description.ts'
import { type CatalogRoute, ExploreEndpoint, type ExploreOptions } from './endpoint.ts'
import { exportListRoutes } from './export-list.ts'
import { rdfExportRoutes } from './rdf-exports.ts'
import { facetRoutes, recordRoutes } from './records.ts'
import { configureExplore } from './route-config.ts'
import { tableExportRoutes } from './table-exports.ts'
import { templateRoutes } from './templates.ts'

/**
 * The Explore API in its two generations (REST 1) and the
 * resources that the Search API v2 has in common with it: catalog, datasets, records, aggregates, facets, exports.
 */
export const explore: FastifyPluginAsync<ExploreOptions> = async (app, options) => {
  app.setErrorHandler(answerFault(restBody))
  configureExplore(app, options.dialect.name)
  if (options.versions !== undefined) answerVersions(app, options.versions)
  const endpoint = new ExploreEndpoint(options)
  catalogRoutes(app, endpoint)
  recordRoutes(app, endpoint)
  facetRoutes(app, endpoint)
  rootRoutes(app, endpoint)
  templateRoutes(app, endpoint)
  attachmentRoutes(app, endpoint)
  exportListRoutes(app, endpoint)
  catalogExportRoutes(app, endpoint)
  rdfExportRoutes(app, endpoint)
  tableExportRoutes(app, endpoint)
  selfDescription(app, endpoint)
}

/** The entry points of the Search API, and the links they return (REST 7.1). */
const SEARCH_ROOTS = {
  '/': ['catalog', 'monitoring', 'network'],
  '/catalog': ['datasets', 'exports', 'metadata_templates'],
}
const EXPLORE_ROOTS = {
  '/': ['catalog', 'monitoring', 'opendatasoft'],
  '/catalog': ['datasets', 'exports', 'facets'],
}

/** The entry points of an API: its sources, and the resources of the catalog (REST 7.1). */
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
