import type { FastifyPluginAsync } from 'fastify'
import type { SiteServices } from '../services.ts'
import { answerOdsqlPage } from './odsql-page.ts'
import { answerSparqlPage } from './sparql-page.ts'

/** Where people try queries: SPARQL, which their browser runs, and ODSQL with all of its stages. */
export const playgrounds: FastifyPluginAsync<SiteServices> = async (app, services) => {
  app.get('/sparql', (request, reply) => answerSparqlPage(request, reply, services))
  const answerOdsql = answerOdsqlPage(services)
  app.get('/odsql', answerOdsql)
}
