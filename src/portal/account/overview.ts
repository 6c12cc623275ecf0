import { EDITING, EVERYTHING, isPublisher, PUBLISHING } from '../../accounts/authorisation.ts'
import { PASSWORD_PAGES } from '../../site/account-page.ts'
import { type Html, html } from '../../site/html.ts'
import { messageKey, type Translator } from '../../site/page-context.ts'
import type { AccountSection } from './section.ts'

/** The grants of users, by the prefix of each kind. */
const GRANTS = [
  { label: messageKey('Restricted datasets that you may see'), prefix: '' },
  { label: messageKey('Datasets whose mappings you may edit'), prefix: EDITING },
  { label: messageKey('Datasets that you may publish'), prefix: PUBLISHING },
]

function grantsWith(prefix: string, grants: ReadonlySet<string>): readonly string[] {
  const own = [...grants].filter(grant => (/^(?:\w+:)?/.exec(grant)?.[0] ?? '') === prefix)
  return own.map(grant => grant.slice(prefix.length)).sort()
}

function granted(t: Translator, datasets: readonly string[]): Html {
  if (datasets.includes(EVERYTHING)) return html`${t('All')}`
  if (datasets.length === 0) return html`${t('None')}`
  return html`<ul>${datasets.map(
    id => html`<li><code>${id}</code></li>
`,
  )}</ul>`
}

/** The user's name and grants. */
export const OVERVIEW: AccountSection = {
  path: '/account',
  show: ({ session: { user }, pageContext: { t, number, href } }) => {
    const links = [
      ['/account/my-api-keys/', t('My API keys'), t('For scripts and tools that act in your name')],
      [
        '/account/my-applications/',
        t('My applications'),
        t('Programs of yours that other users can authorize to act for them'),
      ],
      ['/account/authorizations/', t('Authorizations'), t('Applications that you have authorized')],
      ['/account/password/', t('Password'), t('Change it and sign out everywhere else')],
      [
        '/account/second-factor/',
        t('Two-step sign-in'),
        t('A code from an app on your phone, in addition to the password'),
      ],
      ['/account/passkeys/', t('Passkeys'), t('Sign in without the password')],
      ['/account/sessions/', t('Sessions'), t('Where you are signed in')],
      ...(isPublisher(user)
        ? [['/desk/', t('Desk'), t('Upload, describe and publish datasets')] as const]
        : []),
    ] as const
    return {
      type: 'page',
      heading: t('Your account'),
      content: html`<dl class="facts-list"><dt>${t('User name')}</dt><dd>${user.name}</dd>
${GRANTS.map(
  ({ label, prefix }) => html`<dt>${t(label)}</dt><dd>${granted(t, grantsWith(prefix, user.grants))}</dd>
`,
)}<dt>${t('Calls a day')}</dt><dd>${user.quota === null ? t('As every user of this portal') : number(user.quota)}</dd></dl>
<ul class="things">${links.map(([path, name, what]) =>
        user.hasNoPassword === true && PASSWORD_PAGES.has(path)
          ? ''
          : html`<li><div><a href="${href(path)}">${name}</a><small>${what}</small></div></li>
`,
      )}</ul>
`,
    }
  },
}
