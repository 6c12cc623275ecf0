import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Fault } from '../errors/errors.ts'
import { answerFault } from '../http/faults.ts'
import { pageText, policyOf } from './frame.ts'
import { html } from './html.ts'
import { pageContextOf, type SiteOptions } from './page-context.ts'
import type { Translator } from './translator.ts'

/** Answers any error with a page of the site that describes it. */
export function answerPageFault(site: SiteOptions) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const pageContext = pageContextOf(request, site)
    const { t, href, language } = pageContext
    const report = (fault: Fault) => {
      const heading = headingOf(fault.status, t)
      return pageText(pageContext, {
        title: heading,
        isIndexed: false,
        body: html`<h1>${heading}</h1>
<p>${fault.message}</p>
<p><a class="button plain" href="${href('/explore/')}">${t('All datasets')}</a></p>`,
      })
    }
    reply.headers({
      'content-security-policy': policyOf({}),
      'content-language': language,
      'referrer-policy': 'same-origin',
      vary: 'Accept, Accept-Language, Cookie',
    })
    answerFault(report, 'text/html; charset=utf-8')(error, request, reply)
  }
}

function headingOf(status: number, t: Translator): string {
  switch (status) {
    case 403:
      return t('Not for you')
    case 404:
      return t('Not found')
    case 406:
      return t('Not in this form')
    case 410:
      return t('No longer there')
    case 429:
      return t('Too many calls')
    case 500:
      return t('Something went wrong')
    case 503:
      return t('Not possible now')
    default:
      return t('This cannot be shown')
  }
}
