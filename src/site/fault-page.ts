import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type Fault,
  FORBIDDEN_ACCESS,
  GONE,
  isFault,
  NOT_FOUND_RESOURCE,
  VERSION_UNKNOWN,
} from '../errors/errors.ts'
import { varyBy } from '../http/conditional.ts'
import { answerFault, PROBLEM_TYPE, problemBody } from '../http/faults.ts'
import { negotiate, type Representation } from '../http/negotiate.ts'
import { lookup } from '../model/lookup.ts'
import { pageText, policyOf } from './frame.ts'
import { type Html, html } from './html.ts'
import { messageKey, pageContextOf, type SiteOptions, type Translator } from './page-context.ts'

/** Answers any error with a page of the site that describes it. */
export function answerPageFault(site: SiteOptions) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const pageContext = pageContextOf(request, site)
    const { t, href, language } = pageContext
    const report = (fault: Fault) => {
      const heading = t(lookup(HEADINGS, String(fault.status)) ?? messageKey('This cannot be shown'))
      return pageText(pageContext, {
        title: heading,
        isIndexed: false,
        isWide: true,
        body: html`<div class="hero"><h1>${heading}</h1>
${faultSentence(fault, t)}
<p><a class="button plain" href="${href('/explore/')}">${t('All datasets')}</a></p></div>`,
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

/**
 * Answers any error of an endpoint that has pages: with a page where a browser asks for one, else with a problem in JSON.
 *
 * @param offers what the endpoint answers with, HTML among it
 */
export function answerPageOrProblem(site: SiteOptions, offers: readonly Representation[]) {
  const answerPage = answerPageFault(site)
  const answerProblem = answerFault(problemBody, PROBLEM_TYPE)
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const isPage = negotiate(request.headers.accept, offers)?.type === 'text/html'
    varyBy(reply, 'Accept')
    const answer = isPage ? answerPage : answerProblem
    answer(error, request, reply)
  }
}

/** A fault, or an error of the web framework. */
type ShownFault = Pick<Fault, 'status' | 'message'> & Partial<Pick<Fault, 'parts'>>

/** What a fault means for the reader of a page; the message, which is English, of a fault of which that is not known. */
export function faultSentence(fault: ShownFault, t: Translator): Html {
  const text = sentenceOf(fault, t)
  const message = html`<p lang="en" dir="ltr">${fault.message}</p>`
  if (text === null) return message
  // The message names the versions that are stored, or what is not available.
  return html`<p>${text}</p>${isFault(fault, VERSION_UNKNOWN) || fault.status === 503 ? message : ''}`
}

function sentenceOf(fault: ShownFault, t: Translator): string | null {
  const { id = '', kind, seconds } = fault.parts ?? {}
  if (isFault(fault, NOT_FOUND_RESOURCE))
    switch (kind) {
      case 'dataset':
        return t('There is no dataset {id} here.', { id })
      case 'resource':
      case 'property':
        return t('Nothing is known here about {id}.', { id })
      default:
        return t('There is no page at this address. It was moved, or the address has a mistake.')
    }
  if (isFault(fault, VERSION_UNKNOWN)) return t('This version of the dataset is not stored.')
  if (isFault(fault, GONE))
    return id === ''
      ? t('What was at this address was removed.')
      : t('The dataset {id} was withdrawn.', { id })
  if (isFault(fault, FORBIDDEN_ACCESS)) return t('Your account has no access to this.')
  if (fault.status === 413) return t('What was sent is longer than this page takes. Nothing was saved.')
  if (fault.status === 500) return t('An unexpected error occurred. It has been logged.')
  if (fault.status === 429) return t('These were too many requests. Try again later.')
  if (fault.status === 503)
    return seconds === undefined
      ? t('This is not available now. Try again in a moment.')
      : t('The query took longer than {seconds} s and was stopped.', { seconds })
  return null
}

/** Headings by the status of the answer. */
const HEADINGS: Readonly<Record<string, string>> = {
  403: messageKey('Not for you'),
  404: messageKey('Not found'),
  406: messageKey('Not in this form'),
  410: messageKey('No longer there'),
  413: messageKey('The form is too long'),
  429: messageKey('Too many calls'),
  500: messageKey('Something went wrong'),
  503: messageKey('Not possible now'),
}
