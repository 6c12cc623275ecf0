import type { ApiKey } from '../../accounts/accounts.ts'
import { Fault } from '../../errors/errors.ts'
import type { Form } from '../../http/form.ts'
import { type FieldProblem, hiddenField, momentText, note, textField } from '../../site/account-fields.ts'
import type { AccountPage } from '../../site/account-page.ts'
import { type Html, html } from '../../site/html.ts'
import type { Asked, Section, SectionAnswer } from './section.ts'

const PATH = '/account/my-api-keys/'

/** API keys of a user (query API, "Authentication"): a key is shown in the answer that makes it, and never again. */
export const KEYS: Section = {
  path: '/account/my-api-keys',
  show: asked => keysPage(asked, {}),
  change: (asked, form) => {
    switch (form.get('action')) {
      case 'create':
        return create(asked, form.get('label') ?? '')
      case 'revoke':
        return revoke(asked, form)
      default:
        throw new Fault('BadRequest', { reason: 'The form does not say what to do.' })
    }
  },
}

async function create(asked: Asked, label: string): Promise<AccountPage> {
  const { session, options } = asked
  const { say } = asked.visit
  const { keys } = options.accounts
  const { name } = session.user
  if (label.trim() === '')
    return keysPage(asked, { problem: { field: 'label', message: say('Enter a label.') }, label })
  try {
    const { key } = await keys.create(name, label)
    return await keysPage(asked, { created: { key, label } })
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'AccountInvalid') throw error
    return keysPage(asked, { problem: { field: 'label', message: `${error.message}.` }, label })
  }
}

async function revoke({ session, options, root }: Asked, form: Form): Promise<SectionAnswer> {
  await options.accounts.keys.revoke(idOf(form), session.user.name)
  return { type: 'redirect', path: `${root}${PATH}` }
}

function idOf(form: Form): string {
  const id = form.get('id') ?? ''
  if (!/^\d{1,15}$/.test(id)) throw new Fault('BadRequest', { reason: 'The form names no key.' })
  return id
}

interface Shown {
  readonly created?: { readonly key: string; readonly label: string }
  readonly problem?: FieldProblem
  readonly label?: string
}

async function keysPage(asked: Asked, { created, problem, label = '' }: Shown): Promise<AccountPage> {
  const { session, options, root } = asked
  const { say } = asked.visit
  const keys = await options.accounts.keys.list(session.user.name)
  return {
    type: 'page',
    heading: say('My API keys'),
    status: problem !== undefined ? 400 : created !== undefined ? 201 : 200,
    content: html`${created === undefined ? '' : createdNote(asked, created)}<p>${say('A program that sends a key asks in your name: it sees what you may see and uses your quota.')}</p>
${keyList(asked, keys)}<h2>${say('Create a key')}</h2>
<form method="post" action="${root}${PATH}">
${hiddenField('form_token', asked.token())}${hiddenField('action', 'create')}${textField({
  name: 'label',
  label: say('Label'),
  hint: say('What the key is for, so that you know it again.'),
  autocomplete: 'off',
  value: label.slice(0, 400),
  problem: problem ?? null,
})}<div class="buttons"><button>${say('Create key')}</button></div>
</form>
`,
  }
}

function createdNote(
  { visit: { say }, options: { base } }: Asked,
  { key, label }: { readonly key: string; readonly label: string },
): Html {
  return note(
    'good',
    html`<p><strong>${label}</strong></p><p>${say('The key is created. Copy it now: it is not shown again.')}</p>
<p><code class="secret" id="key">${key}</code></p>
<p class="soft">${say('Send it with each request as a header:')} <code>Authorization: Apikey …</code></p>
<p class="soft"><code>curl -H 'Authorization: Apikey …' ${base}/api/explore/v2.1/catalog/datasets</code></p>`,
  )
}

function keyList(asked: Asked, keys: readonly ApiKey[]): Html {
  if (keys.length === 0)
    return html`<p class="soft">${asked.visit.say('You have no keys.')}</p>
`
  const { say } = asked.visit
  return html`<ul class="things">${keys.map(
    ({
      id,
      label,
      hint,
      created,
      lastUse,
    }) => html`<li><div><strong>${label === '' ? say('No label') : label}</strong> <code>${hint}…</code>
<small>${say('Created')} ${momentText(asked.visit, created)}</small><small>${say('Last used')} ${momentText(asked.visit, lastUse)}</small></div>
<form method="post" action="${asked.root}${PATH}">${hiddenField('form_token', asked.token())}${hiddenField('action', 'revoke')}${hiddenField('id', String(id))}<button class="bad small" aria-label="${say('Revoke the key {name}', { name: label })}">${say('Revoke')}</button></form></li>
`,
  )}</ul>
`
}
