import { ACCOUNT_INVALID } from '../../../accounts/faults.ts'
import type { Passkey, Passkeys } from '../../../accounts/passkeys.ts'
import { isFault } from '../../../errors/errors.ts'
import type { Attempts } from '../../../http/attempts.ts'
import type { Form } from '../../../http/form.ts'
import { type FieldProblem, hiddenField, momentText, note, textField } from '../../../site/account-fields.ts'
import type { AccountPage } from '../../../site/account-page.ts'
import { type Html, html } from '../../../site/html.ts'
import type { PageContext } from '../../../site/page-context.ts'
import {
  type AccountRequest,
  type AccountSection,
  byAction,
  itemForm,
  itemList,
  numberIn,
  type SectionAnswer,
} from '../section.ts'
import { checkThrottled } from '../throttled-check.ts'
import { checkCreated, creationOptions, relyingParty } from './ceremony.ts'

/** Passkeys of a user: to add one needs the password, so that a stolen session cannot. */
export function passkeySection(passwords: Attempts): AccountSection {
  return {
    path: '/account/passkeys',
    show: requested => passkeyPage(requested),
    change: byAction({
      add: (requested, form) => add(requested, form, passwords),
      rename: (requested, form) =>
        refusable(requested, (passkeys, user) =>
          passkeys.rename(user, numberOf(form), form.get('label') ?? ''),
        ),
      remove: (requested, form) =>
        refusable(requested, (passkeys, user) => passkeys.remove(user, numberOf(form))),
    }),
  }
}

async function add(requested: AccountRequest, form: Form, attempts: Attempts): Promise<SectionAnswer> {
  const { session, options, pageContext } = requested
  const { users } = options.accounts
  const { name } = session.user
  const verify = () => users.verify(name, form.get('password') ?? '')
  const checked = await checkThrottled(attempts, requested, name, verify)
  const label = form.get('label') ?? ''
  const refused = (field: string, message: string, status: number, retryAfter?: number) =>
    passkeyPage(requested, { problem: { field, message }, status, label, retryAfter })
  if (checked.type === 'blocked') return refused('password', checked.message, 429, checked.seconds)
  if (checked.value === null) return refused('password', pageContext.t('This is not your password.'), 403)
  const created = await checkCreated(options, form.get('credential') ?? '', session.session)
  if (created === null)
    return refused('credential', pageContext.t('This passkey was not accepted. Please try again.'), 400)
  return refusable(requested, (passkeys, user) => passkeys.add(user, label, created))
}

/** Runs work; if it throws a fault, shows the page again with its message. */
async function refusable(
  requested: AccountRequest,
  work: (passkeys: Passkeys, user: number) => Promise<void>,
): Promise<SectionAnswer> {
  try {
    await work(requested.options.accounts.passkeys, requested.session.user.id)
    return undefined
  } catch (error) {
    if (!isFault(error, ACCOUNT_INVALID)) throw error
    return passkeyPage(requested, { problem: { field: 'label', message: `${error.message}.` }, status: 400 })
  }
}

function numberOf(form: Form): number {
  return Number(numberIn(form, 'passkey'))
}

interface Shown {
  readonly problem?: FieldProblem
  readonly status?: number
  readonly label?: string
  readonly retryAfter?: number | undefined
}

async function passkeyPage(requested: AccountRequest, shown: Shown = {}): Promise<AccountPage> {
  const { session, options } = requested
  const { t } = requested.pageContext
  const passkeys = await options.accounts.passkeys.list(session.user.id)
  return {
    type: 'page',
    heading: t('Passkeys'),
    status: shown.status ?? 200,
    retryAfter: shown.retryAfter,
    islands: [PASSKEY_ISLAND],
    content: html`<p>${t('A passkey in your device, password manager or security key signs you in without the password. In two-step sign-in it replaces the code.')}</p>
${itemList(
  passkeys.map(each => passkeyItem(requested, each)),
  t('You have no passkeys.'),
)}<h2>${t('Add a passkey')}</h2>
${relyingParty(options) === null ? html`<p>${t('Browsers offer passkeys only at addresses with HTTPS.')}</p>` : await addForm(requested, shown)}`,
  }
}

async function addForm(requested: AccountRequest, { problem, label = '' }: Shown): Promise<Html> {
  const { session, options, action } = requested
  const { t } = requested.pageContext
  return html`${problem?.field === 'credential' ? note('bad', html`<p>${problem.message}</p>`) : ''}<form method="post" action="${action}" data-passkey="create" data-options="${await creationOptions(options, session.user, session.session)}">
${hiddenField('form_token', requested.token())}${hiddenField('action', 'add')}${hiddenField('credential', '')}<input type="text" name="username" value="${session.user.name}" autocomplete="username" hidden>
${textField({
  name: 'label',
  label: t('Label'),
  hint: t('The name of the device, for example.'),
  autocomplete: 'off',
  value: label.slice(0, 400),
  problem: problem ?? null,
})}${textField({
  name: 'password',
  label: t('Password'),
  type: 'password',
  autocomplete: 'current-password',
  problem: problem ?? null,
})}${passkeyProblem(requested.pageContext)}<div class="buttons"><button>${t('Add a passkey')}</button></div>
</form>
`
}

function passkeyItem(requested: AccountRequest, { id, label, created, lastUse }: Passkey): Html {
  const { pageContext } = requested
  const { t } = pageContext
  const form = (action: string, content: Html) => itemForm(requested, { action, id: String(id) }, content)
  return html`<li><div><strong>${label}</strong>
<small>${t('Created')} ${momentText(pageContext, created)}</small><small>${t('Last used')} ${momentText(pageContext, lastUse)}</small></div>
${form('rename', html`<input name="label" value="${label}" aria-label="${t('Label')}" autocomplete="off" required> <button class="plain small" aria-label="${t('Rename the passkey {name}', { name: label })}">${t('Rename')}</button>`)}
${form('remove', html`<button class="bad small" aria-label="${t('Remove the passkey {name}', { name: label })}">${t('Remove')}</button>`)}</li>
`
}

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
