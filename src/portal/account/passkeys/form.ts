import { hiddenField } from '../../../site/account-fields.ts'
import { type Html, html } from '../../../site/html.ts'
import type { PageContext } from '../../../site/page-context.ts'

/** The script that asks the browser for passkeys. */
export const PASSKEY_ISLAND = 'passkey.js'

/** The message that the script shows if the browser used no passkey. */
export function passkeyProblem({ t }: Pick<PageContext, 't'>): Html {
  return html`<p class="note bad" role="alert" data-problem hidden>${t('The browser used no passkey.')}</p>
`
}

interface SignInForm {
  readonly action: string
  /** The options for the browser, as JSON. */
  readonly options: string
  readonly hidden: Readonly<Record<string, string>>
}

/** A button that signs in with a passkey; the script shows it if the browser supports passkeys. */
export function passkeyForm(
  pageContext: Pick<PageContext, 't'>,
  { action, options, hidden }: SignInForm,
): Html {
  return html`<form method="post" action="${action}" data-passkey="get" data-options="${options}" hidden>
${Object.entries(hidden).map(([name, value]) => hiddenField(name, value))}${hiddenField('credential', '')}${passkeyProblem(pageContext)}<div class="buttons"><button class="plain">${pageContext.t('Sign in with a passkey')}</button></div>
</form>
`
}
