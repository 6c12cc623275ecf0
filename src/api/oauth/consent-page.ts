import { hiddenField } from '../../http/account-fields.ts'
import { type AccountPage, redirectSources } from '../../http/account-page.ts'
import { html } from '../../http/html.ts'
import type { AuthorizationRequest } from './authorization-request.ts'

/** The page that asks a person whether an application may act for him (RFC 6749, section 4.1.1). */
export function consentPage(
  { client, redirectUri, parameters }: AuthorizationRequest & { readonly type: 'valid' },
  {
    action,
    formToken,
    user,
    portal,
  }: {
    readonly action: string
    readonly formToken: string
    readonly user: string
    readonly portal: string
  },
): AccountPage {
  return {
    type: 'page',
    heading: `Let ${client.name} act for you?`,
    formTargets: redirectSources([redirectUri]),
    content: html`<p><strong>${client.name}</strong> asks to act for you, <strong>${user}</strong>, on ${portal}.</p>
<dl><dt>It may</dt><dd>Read the data that you may see, restricted datasets included, within your quota. It cannot change your account, and it does not get your password.</dd>
<dt>Registered by</dt><dd>${client.owner}</dd>
<dt>Type</dt><dd>${client.type === 'public' ? 'Public: it runs in a browser or on a device' : 'Confidential: it runs on a server'}</dd>
<dt>You will be sent to</dt><dd><code>${redirectUri}</code></dd></dl>
<form method="post" action="${action}">
${hiddenField('form_token', formToken)}${[...parameters].map(([name, value]) => hiddenField(name, value))}<div class="buttons"><button name="decision" value="allow">Allow</button><button class="plain" name="decision" value="deny">Do not allow</button></div>
</form>
<p class="soft">You can withdraw this at any time under Authorizations.</p>
`,
  }
}
