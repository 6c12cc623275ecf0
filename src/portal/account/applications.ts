import type { Client } from '../../accounts/accounts.ts'
import { ACCOUNT_INVALID, ACCOUNT_UNKNOWN } from '../../accounts/faults.ts'
import { BAD_REQUEST, Fault, isFault } from '../../errors/errors.ts'
import type { Form } from '../../http/form.ts'
import {
  choiceField,
  type FieldProblem,
  hiddenField,
  momentText,
  note,
  textField,
} from '../../site/account-fields.ts'
import type { AccountPage } from '../../site/account-page.ts'
import { type Html, html } from '../../site/html.ts'
import { type AccountRequest, type AccountSection, byAction, itemForm, itemList } from './section.ts'

/**
 * Applications that a user registers (Access 6.1). A secret is shown only in the answer that creates it.
 */
export const APPLICATIONS: AccountSection = {
  path: '/account/my-applications',
  show: requested => applicationsPage(requested, {}),
  change: byAction({
    register,
    remove: async (requested, form) => {
      const { id } = await ownClient(requested, form)
      await requested.options.accounts.clients.remove(id, requested.session.user.name)
    },
  }),
}

/** Found only by its identifier: the name of an application may equal the identifier of another. */
async function ownClient({ session, options }: AccountRequest, form: Form): Promise<Client> {
  const id = form.get('id') ?? ''
  const client = await options.accounts.clients.find(id)
  if (client === null || client.owner !== session.user.name)
    throw new Fault(ACCOUNT_UNKNOWN, { reason: 'You have no such application.' })
  return client
}

interface Given {
  readonly name: string
  readonly type: Client['type']
  readonly redirectUris: readonly string[]
}

async function register(requested: AccountRequest, form: Form): Promise<AccountPage> {
  const { session, options } = requested
  const { t } = requested.pageContext
  const { clients } = options.accounts
  const given: Given = {
    name: (form.get('name') ?? '').trim(),
    type: form.get('type') === 'public' ? 'public' : 'confidential',
    redirectUris: (form.get('redirect_uris') ?? '').split(/\s+/).filter(uri => uri !== ''),
  }
  const owner = session.user.name
  const refused = (field: string, message: string) =>
    applicationsPage(requested, { given, problem: { field, message } })
  if (given.name === '') return refused('name', t('Enter a name.'))
  if (given.redirectUris.length === 0) return refused('redirect_uris', t('Enter a redirection URL.'))
  try {
    return await applicationsPage(requested, { created: await clients.register({ ...given, owner }) })
  } catch (error) {
    if (!isFault(error, ACCOUNT_INVALID)) throw error
    const field = /redirect/i.test(error.message) ? 'redirect_uris' : 'name'
    return refused(field, `${error.message}.`)
  }
}

interface Shown {
  readonly created?: { readonly client: Client; readonly secret: string }
  readonly given?: Given
  readonly problem?: FieldProblem
}

async function applicationsPage(
  requested: AccountRequest,
  { created, given, problem }: Shown,
): Promise<AccountPage> {
  const { session, options, action } = requested
  const { t } = requested.pageContext
  const isPublic = given?.type === 'public'
  const clients = await options.accounts.clients.list(session.user.name)
  return {
    type: 'page',
    heading: t('My applications'),
    status: problem !== undefined ? 400 : created !== undefined ? 201 : 200,
    content: html`${created === undefined ? '' : createdNote(requested, created)}<p>${t('A registered application can ask other users to let it act for them (OAuth 2.0).')}</p>
${itemList(
  clients.map(client => clientItem(requested, client)),
  t('You have no applications.'),
)}<h2>${t('Register an application')}</h2>
<form method="post" action="${action}">
${hiddenField('form_token', requested.token())}${hiddenField('action', 'register')}${textField({
  name: 'name',
  label: t('Name'),
  hint: t('Users see it when they are asked for authorization.'),
  autocomplete: 'off',
  value: given?.name.slice(0, 400) ?? '',
  problem: problem ?? null,
})}<fieldset class="field"><legend>${t('Type')}</legend>
${choiceField('radio', 'type', t('Confidential: it runs on a server, which stores its secret'), !isPublic, 'confidential')}
${choiceField('radio', 'type', t('Public: it runs on devices of its users, in a browser or on a phone, and needs PKCE'), isPublic, 'public')}
</fieldset>
${textField({
  name: 'redirect_uris',
  label: t('Redirection URL'),
  hint: t('Users are sent back there, to exactly this address. Several: one a line.'),
  autocomplete: 'off',
  isLong: true,
  value: given?.redirectUris.join('\n') ?? '',
  problem: problem ?? null,
})}<div class="buttons"><button>${t('Register application')}</button></div>
</form>
`,
  }
}

function createdNote(
  { pageContext: { t } }: AccountRequest,
  { client, secret }: { readonly client: Client; readonly secret: string },
): Html {
  return note(
    'good',
    html`<p><strong>${client.name}</strong></p><p>${t('The application is registered. Copy its secret now: it is not shown again.')}</p>
<dl><dt>${t('Client ID')}</dt><dd><code class="secret" id="client-id">${client.id}</code></dd>
<dt>${t('Client secret')}</dt><dd><code class="secret" id="client-secret">${secret}</code></dd></dl>`,
  )
}

function clientItem(requested: AccountRequest, { id, name, type, redirectUris, created }: Client): Html {
  const { t } = requested.pageContext
  const button = html`<button class="bad small" aria-label="${t('Remove the application {name}', { name })}">${t('Remove')}</button>`
  return html`<li><div><strong>${name}</strong> <span class="badge">${type === 'public' ? t('public') : t('confidential')}</span>
<small>${t('Client ID')} <code>${id}</code></small>${redirectUris.map(uri => html`<small>${t('Redirects to')} <code>${uri}</code></small>`)}<small>${t('Registered')} ${momentText(requested.pageContext, created)}</small></div>
${itemForm(requested, { action: 'remove', id }, button)}</li>
`
}

/** A user's authorisations of applications, each of which can be withdrawn. */
export const AUTHORIZATIONS: AccountSection = {
  path: '/account/authorizations',
  show: async requested => {
    const { session, pageContext, options } = requested
    const { t } = pageContext
    const consents = await options.accounts.tokens.consents(session.user.id)
    const items = consents.map(({ client: { id, name, type }, granted }) => {
      const button = html`<button class="bad small" aria-label="${t('Withdraw from {name}', { name })}">${t('Withdraw')}</button>`
      return html`<li><div><strong>${name}</strong> <span class="badge">${type === 'public' ? t('public') : t('confidential')}</span>
<small>${t('Since')} ${momentText(pageContext, granted)}</small></div>
${itemForm(requested, { client: id }, button)}</li>
`
    })
    return {
      type: 'page',
      heading: t('Authorizations'),
      content: html`<p>${t('These applications may read the data that you may see, in your name. Once withdrawn, an application can no longer do so.')}</p>
${itemList(items, t('You have authorized no application.'))}`,
    }
  },
  change: async ({ session, options }, form) => {
    const client = form.get('client')
    if (client === undefined) throw new Fault(BAD_REQUEST, { reason: 'The form names no application.' })
    await options.accounts.tokens.withdraw(session.user.id, client)
  },
}
