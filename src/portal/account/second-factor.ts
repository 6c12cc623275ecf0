import { otpauthUri } from '../../accounts/totp.ts'
import { Fault } from '../../errors/errors.ts'
import type { Attempts } from '../../http/attempts.ts'
import type { Form } from '../../http/form.ts'
import { type FieldProblem, hiddenField, note, textField } from '../../site/account-fields.ts'
import type { AccountPage } from '../../site/account-page.ts'
import { type Html, html } from '../../site/html.ts'
import { guarded } from './guarded.ts'
import { ANY_DEVICE } from './second-step.ts'
import type { Asked, Section, SectionAnswer } from './section.ts'

const PATH = '/account/second-factor/'

/** Turns one-time passwords on and off (RFC 6238); each change needs the password, so that a stolen session cannot make it. */
export function secondFactorSection(passwords: Attempts, codes: Attempts): Section {
  return {
    path: '/account/second-factor',
    show: asked => factorPage(asked),
    change: (asked, form) =>
      form.get('action') === 'confirm' ? confirm(asked, form, codes) : change(asked, form, passwords),
  }
}

interface Shown {
  readonly problem?: FieldProblem
  readonly status?: number
  readonly retryAfter?: number
  readonly codes?: readonly string[]
}

/** Puts the secret in use that an app shows codes of. */
async function confirm(asked: Asked, form: Form, attempts: Attempts): Promise<SectionAnswer> {
  const { session, options, address, visit } = asked
  const { id, name } = session.user
  const check = () => options.accounts.secondFactors.confirm(id, form.get('code') ?? '')
  const checked = await guarded(attempts, visit, name, address, options.now, check, ANY_DEVICE)
  if (checked.type === 'blocked') return blocked(asked, 'code', checked)
  if (checked.value !== null) return factorPage(asked, { codes: checked.value })
  const message = visit.say('This code is wrong, or it was used before.')
  return factorPage(asked, { problem: { field: 'code', message }, status: 400 })
}

/** What needs the password: to begin, to make new recovery codes, to turn it off. */
async function change(asked: Asked, form: Form, attempts: Attempts): Promise<SectionAnswer> {
  const { session, options, address, visit, root } = asked
  const { users, secondFactors } = options.accounts
  const { id, name } = session.user
  const verify = () => users.verify(name, form.get('password') ?? '')
  const checked = await guarded(attempts, visit, name, address, options.now, verify)
  if (checked.type === 'blocked') return blocked(asked, 'password', checked)
  if (checked.value === null) {
    const message = visit.say('This is not your password.')
    return factorPage(asked, { problem: { field: 'password', message }, status: 403 })
  }
  switch (form.get('action')) {
    case 'begin':
      await secondFactors.begin(id)
      return { type: 'redirect', path: `${root}${PATH}` }
    case 'renew':
      return factorPage(asked, { codes: await secondFactors.renewCodes(id) })
    case 'remove':
      await secondFactors.remove(name)
      return { type: 'redirect', path: `${root}${PATH}` }
    default:
      throw new Fault('BadRequest', { reason: 'The form does not say what to do.' })
  }
}

function blocked(
  asked: Asked,
  field: string,
  { message, seconds }: { readonly message: string; readonly seconds: number },
): Promise<AccountPage> {
  return factorPage(asked, { problem: { field, message }, status: 429, retryAfter: seconds })
}

async function factorPage(asked: Asked, shown: Shown = {}): Promise<AccountPage> {
  const { say } = asked.visit
  const state = await asked.options.accounts.secondFactors.state(asked.session.user.id)
  return {
    type: 'page',
    heading: say('Two-step sign-in'),
    status: shown.status ?? 200,
    ...(shown.retryAfter === undefined ? {} : { retryAfter: shown.retryAfter }),
    content:
      state.type === 'off'
        ? offPage(asked, shown)
        : state.type === 'pending'
          ? pendingPage(asked, shown, state.secret)
          : onPage(asked, shown, state.recoveryCodes),
  }
}

function offPage(asked: Asked, shown: Shown): Html {
  const { say } = asked.visit
  return html`<p>${say('Besides the password you enter a code that an app on your telephone shows. Any app for one-time passwords (TOTP) works.')}</p>
${passwordForm(asked, shown, [['begin', say('Set up')]])}`
}

function pendingPage(asked: Asked, shown: Shown, secret: string): Html {
  const { visit, options, session, root } = asked
  const { say } = visit
  const uri = otpauthUri(options.title, session.user.name, secret)
  return html`<p>${say('Add this key to your app, then enter the code that it shows.')}</p>
<p><code class="secret" id="secret">${secret.replace(/.{4}(?=.)/g, '$& ')}</code></p>
<p><a href="${uri}">${say('Open in an app on this device')}</a></p>
<p class="soft"><code id="uri">${uri}</code></p>
<form method="post" action="${root}${PATH}">
${hiddenField('form_token', asked.token())}${hiddenField('action', 'confirm')}${textField({
  name: 'code',
  label: say('Code'),
  hint: say('The six digits that your app shows.'),
  autocomplete: 'one-time-code',
  problem: shown.problem ?? null,
})}<div class="buttons"><button>${say('Turn on')}</button></div>
</form>
`
}

function onPage(asked: Asked, shown: Shown, left: number): Html {
  const { say } = asked.visit
  return html`${
    shown.codes === undefined
      ? html`<p>${say('Two-step sign-in is on.')} ${say('Recovery codes left: {count}', { count: left })}</p>
`
      : note(
          'good',
          html`<p><strong>${say('Two-step sign-in is on.')}</strong></p><p>${say('Each of these recovery codes signs you in once without your telephone. Copy them now: they are not shown again.')}</p>
<ul class="recovery">${shown.codes.map(
            code => html`<li><code class="secret">${code}</code></li>
`,
          )}</ul>`,
        )
  }${passwordForm(asked, shown, [
    ['renew', say('Make new recovery codes')],
    ['remove', say('Turn off')],
  ])}`
}

/** A form that needs the password, with a button for each action. */
function passwordForm(
  asked: Asked,
  shown: Shown,
  actions: readonly (readonly [action: string, label: string])[],
): Html {
  return html`<form method="post" action="${asked.root}${PATH}">
${hiddenField('form_token', asked.token())}<input type="text" name="username" value="${asked.session.user.name}" autocomplete="username" hidden>
${textField({
  name: 'password',
  label: asked.visit.say('Password'),
  type: 'password',
  autocomplete: 'current-password',
  problem: shown.problem ?? null,
})}<div class="buttons">${actions.map(
    ([action, label]) => html`<button name="action" value="${action}">${label}</button>
`,
  )}</div>
</form>
`
}
