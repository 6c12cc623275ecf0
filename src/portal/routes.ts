import type { FastifyPluginAsync } from 'fastify'
import type { Desk } from '../publishing/management/desk.ts'
import { answerPageFault } from '../site/fault-page.ts'
import { assets } from './assets.ts'
import { answerCatalog } from './catalog-page.ts'
import { completion } from './complete.ts'
import { mappingEditor } from './dataset/mapping-routes.ts'
import { answerDataset } from './dataset/page.ts'
import { deskPages } from './desk/routes.ts'
import { answerDevelopers } from './developers.ts'
import { discovery } from './discovery.ts'
import { answerHome } from './home.ts'
import { answerOdsqlPage } from './playground/odsql-page.ts'
import { answerSparqlPage } from './playground/sparql-page.ts'
import { QueryService } from './query-service.ts'
import type { SiteServices } from './services.ts'

interface DatasetRoute {
  readonly Params: { readonly dataset: string; readonly tab?: string }
}

/** The HTML pages of the portal: the catalog, datasets, playgrounds. */
export const site: FastifyPluginAsync<SiteServices & { readonly desk: Desk }> = async (app, services) => {
  const queryService = new QueryService(services)
  app.setErrorHandler(answerPageFault(services))
  await app.register(assets)
  await app.register(playgrounds, services)
  await app.register(discovery, services)
  app.get('/', (request, reply) => answerHome(request, reply, services, queryService))
  await app.register(completion, { services, queryService })
  await app.register(mappingEditor, { services, queryService })
  await app.register(deskPages, services)
  app.get('/developers', (request, reply) => answerDevelopers(request, reply, services))
  app.get('/explore', (request, reply) => answerCatalog(request, reply, services, queryService))
  for (const path of ['/explore/dataset/:dataset', '/explore/dataset/:dataset/:tab'])
    app.get<DatasetRoute>(path, (request, reply) => {
      const { dataset, tab = 'information' } = request.params
      return answerDataset(request, reply, services, queryService, dataset, tab)
    })
}

/** The playgrounds: SPARQL, which the browser runs, and ODSQL with all of its stages. */
export const playgrounds: FastifyPluginAsync<SiteServices> = async (app, services) => {
  app.get('/sparql', (request, reply) => answerSparqlPage(request, reply, services))
  const answerOdsql = answerOdsqlPage(services)
  app.get('/odsql', answerOdsql)
}
