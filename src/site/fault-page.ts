import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Fault } from '../errors/errors.ts'
import { answerFault } from '../http/faults.ts'
import { pageText, policyOf } from './frame.ts'
import { html } from './html.ts'
import { type SiteOptions, visitOf } from './page-context.ts'
import type { Translator } from './translator.ts'

/** Answers what was thrown with a page of the site that tells it. */
export function answerPageFault(site: SiteOptions) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const visit = visitOf(request, site)
    const { say, href, language } = visit
    const tell = (fault: Fault) => {
      const heading = headingOf(fault.status, say)
      return pageText(visit, {
        title: heading,
        isIndexed: false,
        body: html`<h1>${heading}</h1>
<p>${fault.message}</p>
<p><a class="button plain" href="${href('/explore/')}">${say('All datasets')}</a></p>`,
      })
    }
    reply.headers({
      'content-security-policy': policyOf({}),
      'content-language': language,
      'referrer-policy': 'same-origin',
      vary: 'Accept, Accept-Language, Cookie',
    })
    answerFault(tell, 'text/html; charset=utf-8')(error, request, reply)
  }
}

function headingOf(status: number, say: Translator): string {
  switch (status) {
    case 403:
      return say('Not for you')
    case 404:
      return say('Not found')
    case 406:
      return say('Not in this form')
    case 410:
      return say('No longer there')
    case 429:
      return say('Too many calls')
    case 500:
      return say('Something went wrong')
    case 503:
      return say('Not possible now')
    default:
      return say('This cannot be shown')
  }
}
