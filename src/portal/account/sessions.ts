import type { SessionInfo } from '../../accounts/accounts.ts'
import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import { hiddenField, momentText } from '../../site/account-fields.ts'
import { type Html, html } from '../../site/html.ts'
import type { AccountRequest, AccountSection } from './section.ts'

const PATH = '/account/sessions/'

/** The sessions of a user, each of which can be ended. */
export const SESSIONS: AccountSection = {
  path: '/account/sessions',
  show: async requested => {
    const { session, options, root, pageContext } = requested
    const { t } = pageContext
    const list = await options.accounts.sessions.list(session.user.name, session.session)
    return {
      type: 'page',
      heading: t('Sessions'),
      content: html`<ul class="things">${list.map(each => sessionItem(requested, each))}</ul>
${
  list.length < 2
    ? ''
    : html`<form method="post" action="${root}${PATH}">
${hiddenField('form_token', requested.token())}${hiddenField('action', 'end-others')}<div class="buttons"><button class="bad">${t('End all others')}</button></div>
</form>
`
}`,
    }
  },
  change: async ({ session, options, root }, form) => {
    const { sessions } = options.accounts
    const { id, name } = session.user
    switch (form.get('action')) {
      case 'end-others':
        await sessions.endOthers(id, session.session)
        break
      case 'end': {
        const number = form.get('id') ?? ''
        if (!/^\d{1,15}$/.test(number)) throw new Fault(BAD_REQUEST, { reason: 'The form names no session.' })
        await sessions.endAll(name, Number(number))
        break
      }
      default:
        throw new Fault(BAD_REQUEST, { reason: 'The form lacks its action.' })
    }
    return { type: 'redirect', path: `${root}${PATH}` }
  },
}

function sessionItem(requested: AccountRequest, { id, begun, used, isOwn }: SessionInfo): Html {
  const { pageContext, root } = requested
  const { t } = pageContext
  return html`<li><div><strong>${t('Signed in')} ${momentText(pageContext, begun)}</strong>
<small>${isOwn === true ? t('This session') : html`${t('Last used')} ${momentText(pageContext, used)}`}</small></div>
${
  isOwn === true
    ? ''
    : html`<form method="post" action="${root}${PATH}">${hiddenField('form_token', requested.token())}${hiddenField('action', 'end')}${hiddenField('id', String(id))}<button class="bad small" aria-label="${t('End session')}: ${pageContext.date(begun, 'zoned')}">${t('End session')}</button></form>`
}</li>
`
}
