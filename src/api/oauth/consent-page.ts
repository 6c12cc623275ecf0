import { hiddenField } from '../../site/account-fields.ts'
import { type AccountPage, redirectSources } from '../../site/account-page.ts'
import { html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import type { AuthorizationRequest } from './authorization-request.ts'

/** The page that asks a person whether an application may act for him (RFC 6749, section 4.1.1). */
export function consentPage(
  { client, redirectUri, parameters }: AuthorizationRequest & { readonly type: 'valid' },
  {
    action,
    formToken,
    user,
    pageContext: { t, site },
  }: {
    readonly action: string
    readonly formToken: string
    readonly user: string
    readonly pageContext: PageContext
  },
): AccountPage {
  return {
    type: 'page',
    heading: t('Let {name} act for you?', { name: client.name }),
    formTargets: redirectSources([redirectUri]),
    content: html`<p>${t('{name} asks to act for you, {user}, on {portal}.', { name: client.name, user, portal: site.title })}</p>
<dl class="facts-list"><dt>${t('It may')}</dt><dd>${t('Read the data that you may see, restricted datasets included, within your quota. It cannot change your account, and it does not get your password.')}</dd>
<dt>${t('Registered by')}</dt><dd>${client.owner}</dd>
<dt>${t('Type')}</dt><dd>${client.type === 'public' ? t('Public: it runs in a browser or on a device') : t('Confidential: it runs on a server')}</dd>
<dt>${t('You will be sent to')}</dt><dd><code>${redirectUri}</code></dd></dl>
<form method="post" action="${action}">
${hiddenField('form_token', formToken)}${[...parameters].map(([name, value]) => hiddenField(name, value))}<div class="buttons"><button name="decision" value="allow">${t('Allow')}</button><button class="plain" name="decision" value="deny">${t('Do not allow')}</button></div>
</form>
<p class="soft">${t('You can withdraw this at any time under Authorizations.')}</p>
`,
  }
}
