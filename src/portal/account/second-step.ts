import type { User } from '../../accounts/accounts.ts'
import { formToken, isFormToken } from '../../http/form.ts'
import { hiddenField, note, textField } from '../../site/account-fields.ts'
import type { AccountPage } from '../../site/account-page.ts'
import { html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { type AccountsOptions, rootOf } from '../../site/signed-in.ts'
import { PASSKEY_ISLAND, passkeyForm } from './passkeys/form.ts'

/** Milliseconds between the password and the code. */
const LIFE = 5 * 60_000

/**
 * Failures of the second factor are counted for the account as a whole, under this value instead of a device. This cannot lock
 * out the owner, for the second step requires the password.
 */
export const ANY_DEVICE = 'any'

/** A proof that the password was right, in this browser and recently: `{user}.{expires}.{seal}`. */
export function passwordPassed(
  { accounts, now }: Pick<AccountsOptions, 'accounts' | 'now'>,
  user: Pick<User, 'id'>,
  login: string,
): string {
  const expires = now() + LIFE
  return `${user.id}.${expires}.${formToken(accounts.secret, boundTo(login, user.id, expires))}`
}

/** The user whose password was right; null if the proof is expired, or of another browser. */
export async function userOfPassed(
  { accounts, now }: Pick<AccountsOptions, 'accounts' | 'now'>,
  passed: string,
  login: string,
): Promise<User | null> {
  const [, id, expires, seal] = /^(\d{1,15})\.(\d{1,15}(?:\.\d+)?)\.([\w-]+)$/.exec(passed) ?? []
  if (id === undefined || Number(expires) <= now()) return null
  const bound = boundTo(login, Number(id), Number(expires))
  return isFormToken(accounts.secret, bound, seal) ? accounts.users.byId(Number(id)) : null
}

function boundTo(login: string, user: number, expires: number): string {
  return `second factor ${login} ${user} ${expires}`
}

interface SecondStep {
  readonly passed: string
  readonly token: string
  readonly next: string | null
  readonly formTargets: readonly string[]
  /** The options for a passkey, as JSON; null if the user has none. */
  readonly passkeyOptions: string | null
  readonly problem?: string
  readonly status?: number
  readonly retryAfter?: number | undefined
}

/** The form for the code, after the password was right. */
export function secondStepPage(
  pageContext: PageContext,
  options: AccountsOptions,
  step: SecondStep,
): AccountPage {
  const { t } = pageContext
  const { passed, token, next, formTargets, problem, status = 200, retryAfter, passkeyOptions } = step
  const action = `${rootOf(options)}/account/login/`
  const hidden = { form_token: token, passed, ...(next === null ? {} : { next }) }
  return {
    type: 'page',
    heading: t('Two-step sign-in'),
    status,
    formTargets,
    ...(passkeyOptions === null ? {} : { islands: [PASSKEY_ISLAND] }),
    retryAfter,
    content: html`${problem === undefined ? '' : note('bad', html`<p id="problem">${problem}</p>`)}<form method="post" action="${action}">
${Object.entries(hidden).map(([name, value]) => hiddenField(name, value))}${textField({
  name: 'code',
  label: t('Code'),
  hint: t('Enter the code of your app, or a recovery code.'),
  autocomplete: 'one-time-code',
  describedBy: problem === undefined ? undefined : 'problem',
})}<div class="buttons"><button>${t('Log in')}</button></div>
</form>
${passkeyOptions === null ? '' : passkeyForm(pageContext, { action, hidden, options: passkeyOptions })}`,
  }
}
