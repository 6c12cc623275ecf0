import type { ApiKey } from '../../accounts/accounts.ts'
import { ACCOUNT_INVALID } from '../../accounts/faults.ts'
import { isFault } from '../../errors/errors.ts'
import { type FieldProblem, hiddenField, momentText, note, textField } from '../../site/account-fields.ts'
import type { AccountPage } from '../../site/account-page.ts'
import { type Html, html } from '../../site/html.ts'
import {
  type AccountRequest,
  type AccountSection,
  byAction,
  itemForm,
  itemList,
  numberIn,
} from './section.ts'

/** API keys of a user (Access 1.1): a key is shown only in the answer that creates it. */
export const KEYS: AccountSection = {
  path: '/account/my-api-keys',
  show: requested => keysPage(requested, {}),
  change: byAction({
    create: (requested, form) => create(requested, form.get('label') ?? ''),
    revoke: ({ session, options }, form) =>
      options.accounts.keys.revoke(numberIn(form, 'key'), session.user.name),
  }),
}

async function create(requested: AccountRequest, label: string): Promise<AccountPage> {
  const { session, options } = requested
  const { t } = requested.pageContext
  const { keys } = options.accounts
  const { name } = session.user
  if (label.trim() === '')
    return keysPage(requested, { problem: { field: 'label', message: t('Enter a label.') }, label })
  try {
    const { key } = await keys.create(name, label)
    return await keysPage(requested, { created: { key, label } })
  } catch (error) {
    if (!isFault(error, ACCOUNT_INVALID)) throw error
    return keysPage(requested, { problem: { field: 'label', message: `${error.message}.` }, label })
  }
}

interface Shown {
  readonly created?: { readonly key: string; readonly label: string }
  readonly problem?: FieldProblem
  readonly label?: string
}

async function keysPage(
  requested: AccountRequest,
  { created, problem, label = '' }: Shown,
): Promise<AccountPage> {
  const { session, options, action } = requested
  const { t } = requested.pageContext
  const keys = await options.accounts.keys.list(session.user.name)
  return {
    type: 'page',
    heading: t('My API keys'),
    status: problem !== undefined ? 400 : created !== undefined ? 201 : 200,
    content: html`${created === undefined ? '' : createdNote(requested, created)}<p>${t('A program that sends a key acts in your name: it sees what you may see and uses your quota.')}</p>
${itemList(
  keys.map(key => keyItem(requested, key)),
  t('You have no keys.'),
)}<h2>${t('Create a key')}</h2>
<form method="post" action="${action}">
${hiddenField('form_token', requested.token())}${hiddenField('action', 'create')}${textField({
  name: 'label',
  label: t('Label'),
  hint: t('What the key is for, so that you recognise it.'),
  autocomplete: 'off',
  value: label.slice(0, 400),
  problem: problem ?? null,
})}<div class="buttons"><button>${t('Create key')}</button></div>
</form>
`,
  }
}

function createdNote(
  { pageContext: { t }, options: { base } }: AccountRequest,
  { key, label }: { readonly key: string; readonly label: string },
): Html {
  return note(
    'good',
    html`<p><strong>${label}</strong></p><p>${t('The key is created. Copy it now: it is not shown again.')}</p>
<p><code class="secret" id="key">${key}</code></p>
<p class="soft">${t('Send it with each request as a header:')} <code>Authorization: Apikey …</code></p>
<p class="soft"><code>curl -H 'Authorization: Apikey …' ${base}/api/explore/v2.1/catalog/datasets</code></p>`,
  )
}

function keyItem(requested: AccountRequest, { id, label, hint, created, lastUse }: ApiKey): Html {
  const { t } = requested.pageContext
  const button = html`<button class="bad small" aria-label="${t('Revoke the key {name}', { name: label })}">${t('Revoke')}</button>`
  return html`<li><div><strong>${label === '' ? t('No label') : label}</strong> <code>${hint}…</code>
<small>${t('Created')} ${momentText(requested.pageContext, created)}</small><small>${t('Last used')} ${momentText(requested.pageContext, lastUse)}</small></div>
${itemForm(requested, { action: 'revoke', id: String(id) }, button)}</li>
`
}
