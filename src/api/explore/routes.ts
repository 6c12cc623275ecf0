import type { FastifyPluginAsync } from 'fastify'
import { answerFault, restBody } from '../../http/faults.ts'
import { catalogRoutes } from './catalog.ts'
import { Door, type ExploreOptions } from './door.ts'
import { facetRoutes } from './facets.ts'
import { recordRoutes } from './records.ts'

/**
 * The Explore API in its two generations (query API, "Explore API v2.0"; facts on "Explore v2.1 differences") and the
 * resources that the Search API v2 has in common with it: catalog, datasets, records, aggregates, facets, exports.
 */
export const explore: FastifyPluginAsync<ExploreOptions> = async (app, options) => {
  app.setErrorHandler(answerFault(restBody))
  const door = new Door(options)
  catalogRoutes(app, door)
  recordRoutes(app, door)
  facetRoutes(app, door)
}
