import { Fault } from '../../errors.ts'
import { type FieldProblem, hiddenField, momentText, note, textField } from '../../http/account-fields.ts'
import type { AccountPage } from '../../http/account-page.ts'
import type { Form } from '../../http/form.ts'
import { type Html, html } from '../../http/html.ts'
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

function create(asked: Asked, label: string): AccountPage {
  const { visit, options } = asked
  const { keys } = options.accounts
  const { name } = visit.user
  if (label.trim() === '')
    return keysPage(asked, { problem: { field: 'label', message: 'Enter a label.' }, label })
  try {
    const { key } = keys.create(name, label)
    return keysPage(asked, { created: { key, label } })
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'AccountInvalid') throw error
    return keysPage(asked, { problem: { field: 'label', message: `${error.message}.` }, label })
  }
}

function revoke({ visit, options, root }: Asked, form: Form): SectionAnswer {
  options.accounts.keys.revoke(idOf(form), visit.user.name)
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

function keysPage(asked: Asked, { created, problem, label = '' }: Shown): AccountPage {
  const { visit, options, root } = asked
  return {
    type: 'page',
    heading: 'My API keys',
    status: problem !== undefined ? 400 : created !== undefined ? 201 : 200,
    content: html`${created === undefined ? '' : createdNote(created, options.base)}<p>A program that sends a key asks in your name: it sees what you may see and uses your quota.</p>
${keyList(asked, options.accounts.keys.list(visit.user.name))}<h2>Create a key</h2>
<form method="post" action="${root}${PATH}">
${hiddenField('form_token', asked.token())}${hiddenField('action', 'create')}${textField({
  name: 'label',
  label: 'Label',
  hint: 'What the key is for, so that you know it again.',
  autocomplete: 'off',
  value: label.slice(0, 400),
  problem: problem ?? null,
})}<div class="buttons"><button>Create key</button></div>
</form>
`,
  }
}

function createdNote({ key, label }: { readonly key: string; readonly label: string }, base: string): Html {
  return note(
    'good',
    html`<p>The key <strong>${label}</strong> is created. Copy it now: it is not shown again.</p>
<p><code class="secret" id="key">${key}</code></p>
<p class="soft">Send it with each request as a header: <code>Authorization: Apikey …</code>, for example
<code>curl -H 'Authorization: Apikey …' ${base}/api/explore/v2.1/catalog/datasets</code></p>`,
  )
}

function keyList(asked: Asked, keys: ReturnType<Asked['options']['accounts']['keys']['list']>): Html {
  if (keys.length === 0)
    return html`<p class="soft">You have no keys.</p>
`
  return html`<ul class="things">${keys.map(
    ({
      id,
      label,
      hint,
      created,
      lastUse,
    }) => html`<li><div><strong>${label === '' ? 'No label' : label}</strong> <code>${hint}…</code>
<small>Created ${momentText(created)}, last used ${momentText(lastUse)}</small></div>
<form method="post" action="${asked.root}${PATH}">${hiddenField('form_token', asked.token())}${hiddenField('action', 'revoke')}${hiddenField('id', String(id))}<button class="bad small" aria-label="Revoke the key ${label}">Revoke</button></form></li>
`,
  )}</ul>
`
}
