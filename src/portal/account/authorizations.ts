import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import { momentText } from '../../site/account-fields.ts'
import { html } from '../../site/html.ts'
import { type AccountSection, itemForm, itemList } from './section.ts'

/** A user's authorisations of applications, each of which can be withdrawn. */
export const AUTHORIZATIONS: AccountSection = {
  path: '/account/authorizations',
  show: async requested => {
    const { session, pageContext, options } = requested
    const { t } = pageContext
    const consents = await options.accounts.tokens.consents(session.user.id)
    const items = consents.map(({ client: { id, name, type }, granted }) => {
      const button = html`<button class="bad small" aria-label="${t('Withdraw from {name}', { name })}">${t('Withdraw')}</button>`
      return html`<li><div><strong>${name}</strong> <span class="badge">${type === 'public' ? t('public') : t('confidential')}</span>
<small>${t('Since')} ${momentText(pageContext, granted)}</small></div>
${itemForm(requested, { client: id }, button)}</li>
`
    })
    return {
      type: 'page',
      heading: t('Authorizations'),
      content: html`<p>${t('These applications may read the data that you may see, in your name. Once withdrawn, an application can no longer do so.')}</p>
${itemList(items, t('You have authorized no application.'))}`,
    }
  },
  change: async ({ session, options }, form) => {
    const client = form.get('client')
    if (client === undefined) throw new Fault(BAD_REQUEST, { reason: 'The form names no application.' })
    await options.accounts.tokens.withdraw(session.user.id, client)
  },
}
