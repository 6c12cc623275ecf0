import type { FastifyReply, FastifyRequest } from 'fastify'
import { FORM_TYPE, isOwnOrigin, readForm } from '../http/form.ts'
import { hiddenField, note } from './account-fields.ts'
import { keepPrivate } from './account-page.ts'
import { sendSitePage } from './frame.ts'
import { html } from './html.ts'
import { pageContextOf, type SiteOptions } from './page-context.ts'
import { loginAddress, rootOf } from './signed-in.ts'

/**
 * Answers a form of a session that has ended: nothing is saved, and its fields wait in the page until the user has signed in on
 * another tab. They come back without a token, which is of another session, so that the form is shown and not saved. A form
 * with a file loses the file.
 */
export function sendSessionEnded(
  request: FastifyRequest,
  reply: FastifyReply,
  options: SiteOptions,
): FastifyReply {
  const pageContext = pageContextOf(request, options)
  const { t } = pageContext
  const path = rootOf(options) + request.url
  const login = loginAddress(request, options, request.url)
  const isForm = request.headers['content-type']?.startsWith(FORM_TYPE) === true
  const fields = isForm && isOwnOrigin(request.headers, options.base) ? [...readForm(request.body)] : []
  const saved = fields.filter(([name]) => name !== 'form_token')
  const title = t('Your session has ended. Nothing was saved.')
  const body = html`<h1>${t('Sign in')}</h1>
${note('bad', html`<p>${title}</p>`)}${
  saved.length === 0
    ? html`<p><a href="${login}">${t('Sign in')}</a></p>`
    : html`<p>${t('Sign in on a new tab, then come back to this one: the form opens with your input.')}</p>
<p><a href="${login}" target="_blank">${t('Sign in')}</a></p>
<form method="post" action="${path}">${saved.map(([name, value]) => hiddenField(name, value))}<div class="buttons"><button>${t('Open the form with my input')}</button></div></form>`
}`
  // A scheme that no browser requests by itself (RFC 9110, section 11.6.1).
  reply.header('www-authenticate', 'Form')
  return sendSitePage(keepPrivate(reply), pageContext, {
    title,
    body,
    status: 401,
    part: 'account',
    isIndexed: false,
    isPrivate: true,
  })
}
