import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../errors.ts'
import { note } from './account-fields.ts'
import { html } from './html.ts'
import { type AccountsOptions, rootOf, sendPage } from './signed-in.ts'

/** Answers what was thrown with a page; what is no fault is logged and told as nothing but unexpected. */
export function answerWithPage(options: AccountsOptions) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const { status, message } = toldOf(error)
    if (status === 500) request.log.error({ err: error, url: request.routeOptions.url }, 'unexpected')
    if (status === 503 || status === 429) reply.header('retry-after', '2')
    sendPage(request, reply, options, {
      type: 'page',
      status,
      heading: HEADINGS[status] ?? 'This cannot be done',
      content: html`${note('bad', html`<p>${message}</p>`)}
<p><a href="${rootOf(options)}/account/">Go to your account</a></p>
`,
    })
  }
}

const HEADINGS: Readonly<Record<number, string>> = {
  403: 'The form was not accepted',
  404: 'Not found',
  413: 'The form is too long',
  415: 'This is not a form',
  429: 'Too many attempts',
  500: 'Something went wrong',
  503: 'Not possible now',
}

function toldOf(error: unknown): { readonly status: number; readonly message: string } {
  if (error instanceof Fault && error.status !== 500) return error
  const { statusCode: status = 500, message = '' } = (error ?? {}) as Partial<FastifyError>
  if (status >= 400 && status < 500) return { status, message: message.slice(0, 200) }
  return { status: 500, message: new Fault('InternalError').message }
}
