import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Fault } from '../errors.ts'
import { answerFault } from '../http/faults.ts'
import { html } from '../http/html.ts'
import { pageText } from '../http/site/frame.ts'
import { visitOf } from '../http/site/visit.ts'
import { Inquiry } from './ask.ts'
import { assets } from './assets.ts'
import { answerCatalog } from './catalog-page.ts'
import { answerDataset } from './dataset/page.ts'
import { answerHome } from './home.ts'
import type { SiteServices } from './services.ts'

interface DatasetRoute {
  readonly Params: { readonly dataset: string; readonly tab?: string }
}

/** The pages of the portal for people (house design, "Rooms"): the catalog, datasets, playgrounds. */
export const site: FastifyPluginAsync<SiteServices> = async (app, services) => {
  const inquiry = new Inquiry(services)
  app.setErrorHandler(answerPageFault(services))
  await app.register(assets)
  app.get('/', (request, reply) => answerHome(request, reply, services, inquiry))
  app.get('/explore', (request, reply) => answerCatalog(request, reply, services, inquiry))
  for (const path of ['/explore/dataset/:dataset', '/explore/dataset/:dataset/:tab'])
    app.get<DatasetRoute>(path, (request, reply) => {
      const { dataset, tab = 'information' } = request.params
      return answerDataset(request, reply, services, inquiry, dataset, tab)
    })
}

/** Tells what went wrong on a page of the site. */
function answerPageFault(services: SiteServices) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const visit = visitOf(request, services)
    const tell = (fault: Fault) =>
      pageText(visit, {
        title: visit.say(fault.status === 404 ? 'Not found' : 'This cannot be shown'),
        isIndexed: false,
        body: html`<h1>${visit.say(fault.status === 404 ? 'Not found' : 'This cannot be shown')}</h1>
<p>${fault.message}</p><p><a href="${visit.href('/explore/')}">${visit.say('All datasets')}</a></p>`,
      })
    reply.header(
      'content-security-policy',
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'",
    )
    answerFault(tell, 'text/html; charset=utf-8')(error, request, reply)
  }
}
