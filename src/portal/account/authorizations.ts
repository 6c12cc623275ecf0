import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import { hiddenField, momentText } from '../../site/account-fields.ts'
import { html } from '../../site/html.ts'
import type { AccountSection } from './section.ts'

const PATH = '/account/authorizations/'

/** A user's authorisations of applications, each of which can be withdrawn. */
export const AUTHORIZATIONS: AccountSection = {
  path: '/account/authorizations',
  show: async requested => {
    const { session, pageContext, options, root } = requested
    const { t } = pageContext
    const consents = await options.accounts.tokens.consents(session.user.id)
    return {
      type: 'page',
      heading: t('Authorizations'),
      content: html`<p>${t('These applications may read the data that you may see, in your name. Once withdrawn, an application can no longer do so.')}</p>
${
  consents.length === 0
    ? html`<p class="soft">${t('You have authorized no application.')}</p>
`
    : html`<ul class="things">${consents.map(
        ({
          client,
          granted,
        }) => html`<li><div><strong>${client.name}</strong> <span class="badge">${client.type === 'public' ? t('public') : t('confidential')}</span>
<small>${t('Since')} ${momentText(pageContext, granted)}</small></div>
<form method="post" action="${root}${PATH}">${hiddenField('form_token', requested.token())}${hiddenField('client', client.id)}<button class="bad small" aria-label="${t('Withdraw from {name}', { name: client.name })}">${t('Withdraw')}</button></form></li>
`,
      )}</ul>
`
}`,
    }
  },
  change: async ({ session, options, root }, form) => {
    const client = form.get('client')
    if (client === undefined) throw new Fault(BAD_REQUEST, { reason: 'The form names no application.' })
    await options.accounts.tokens.withdraw(session.user.id, client)
    return { type: 'redirect', path: `${root}${PATH}` }
  },
}
