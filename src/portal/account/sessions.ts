import type { SessionInfo } from '../../accounts/accounts.ts'
import { hiddenField, momentText } from '../../site/account-fields.ts'
import { type Html, html } from '../../site/html.ts'
import { type AccountRequest, type AccountSection, byAction, itemForm, numberIn } from './section.ts'

/** The sessions of a user, each of which can be ended. */
export const SESSIONS: AccountSection = {
  path: '/account/sessions',
  show: async requested => {
    const { session, options, action, pageContext } = requested
    const { t } = pageContext
    const list = await options.accounts.sessions.list(session.user.name, session.session)
    return {
      type: 'page',
      heading: t('Sessions'),
      content: html`<ul class="things">${list.map(each => sessionItem(requested, each))}</ul>
${
  list.length < 2
    ? ''
    : html`<form method="post" action="${action}">
${hiddenField('form_token', requested.token())}${hiddenField('action', 'end-others')}<div class="buttons"><button class="bad">${t('End all others')}</button></div>
</form>
`
}`,
    }
  },
  change: byAction({
    'end-others': ({ session: { user, session }, options }) =>
      options.accounts.sessions.endOthers(user.id, session),
    end: ({ session: { user }, options }, form) =>
      options.accounts.sessions.endAll(user.name, Number(numberIn(form, 'session'))),
  }),
}

function sessionItem(requested: AccountRequest, { id, begun, used, isOwn }: SessionInfo): Html {
  const { pageContext } = requested
  const { t } = pageContext
  const button = html`<button class="bad small" aria-label="${t('End session')}: ${pageContext.date(begun, 'zoned')}">${t('End session')}</button>`
  return html`<li><div><strong>${t('Signed in')} ${momentText(pageContext, begun)}</strong>
<small>${isOwn === true ? t('This session') : html`${t('Last used')} ${momentText(pageContext, used)}`}</small></div>
${isOwn === true ? '' : itemForm(requested, { action: 'end', id: String(id) }, button)}</li>
`
}
