import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Fault, INTERNAL_ERROR } from '../errors/errors.ts'
import { lookup } from '../model/lookup.ts'
import { note } from './account-fields.ts'
import { faultSentence } from './fault-page.ts'
import { html } from './html.ts'
import { messageKey, pageContextOf } from './page-context.ts'
import { type AccountsOptions, sendPage } from './signed-in.ts'

/** Answers any error with a page; errors that are no faults are logged and shown as unexpected, without details. */
export function answerWithPage(options: AccountsOptions) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const fault = reportOf(error)
    const { status } = fault
    if (status === 500) request.log.error({ err: error, url: request.routeOptions.url }, 'unexpected')
    const isLater = status === 503 || status === 429
    if (isLater && !reply.hasHeader('retry-after')) reply.header('retry-after', '2')
    const { t, href } = pageContextOf(request, options)
    sendPage(reply, options, {
      type: 'page',
      status,
      heading: t(lookup(HEADINGS, String(status)) ?? messageKey('This cannot be done')),
      content: html`${note('bad', faultSentence(fault, t))}
<p><a href="${href('/account/')}">${t('Go to your account')}</a></p>
`,
    })
  }
}

/** Headings by the status of the answer. */
const HEADINGS: Readonly<Record<string, string>> = {
  403: messageKey('The form was not accepted'),
  404: messageKey('Not found'),
  413: messageKey('The form is too long'),
  415: messageKey('This is not a form'),
  429: messageKey('Too many attempts'),
  500: messageKey('Something went wrong'),
  503: messageKey('Not possible now'),
}

function reportOf(error: unknown): { readonly status: number; readonly message: string } {
  if (error instanceof Fault && error.status !== 500) return error
  const { statusCode: status = 500, message = '' } = (error ?? {}) as Partial<FastifyError>
  if (status >= 400 && status < 500) return { status, message: message.slice(0, 200) }
  return { status: 500, message: new Fault(INTERNAL_ERROR).message }
}
