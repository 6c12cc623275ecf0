import { Fault } from '../../errors/errors.ts'
import type { Attempts } from '../../http/attempts.ts'
import type { Form } from '../../http/form.ts'
import { type FieldProblem, hiddenField, note, textField } from '../../site/account-fields.ts'
import type { AccountPage } from '../../site/account-page.ts'
import { html } from '../../site/html.ts'
import { guarded } from './guarded.ts'
import type { Asked, Section, SectionAnswer } from './section.ts'

/** Changes the password of a user who knows the old one, and ends all other sessions and the tokens of applications. */
export function passwordSection(attempts: Attempts): Section {
  return {
    path: '/account/password',
    show: asked => passwordPage(asked, null),
    change: (asked, form) => change(asked, form, attempts),
  }
}

const PATH = '/account/password/'

async function change(asked: Asked, form: Form, attempts: Attempts): Promise<SectionAnswer> {
  const { session, options, address, root } = asked
  const { say } = asked.visit
  const { users, sessions } = options.accounts
  const { name, id } = session.user
  const refused = (field: string, message: string, more: Partial<AccountPage> = {}) => ({
    ...passwordPage(asked, { field, message }),
    status: 400,
    ...more,
  })
  const fresh = form.get('new_password') ?? ''
  if (fresh === '') return refused('new_password', say('Enter a new password.'))
  if (fresh !== form.get('new_password_again'))
    return refused('new_password_again', say('This is not the same as the new password.'))
  const old = form.get('old_password') ?? ''
  const checked = await guarded(attempts, asked.visit, name, address, options.now, () =>
    users.verify(name, old),
  )
  if (checked.type === 'blocked')
    return refused('old_password', checked.message, { status: 429, retryAfter: checked.seconds })
  if (checked.value === null)
    return refused('old_password', say('This is not your password.'), { status: 403 })
  try {
    await users.setPassword(name, fresh, { revokeKeys: form.get('revoke_keys') === '1' })
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'AccountInvalid') throw error
    return refused('new_password', `${error.message}.`)
  }
  // All sessions were ended by that, also this one.
  return { type: 'redirect', path: `${root}${PATH}?done=1`, session: await sessions.begin(id) }
}

function passwordPage(asked: Asked, problem: FieldProblem | null): AccountPage {
  const { say } = asked.visit
  const field = (name: string, label: string, autocomplete: string, hint?: string) =>
    textField({
      name,
      label,
      type: 'password',
      autocomplete,
      problem,
      ...(hint === undefined ? {} : { hint }),
    })
  return {
    type: 'page',
    heading: say('Password'),
    content: html`${
      asked.isDone && problem === null
        ? note(
            'good',
            html`<p>${say('Your password is changed. You are logged out everywhere else, and the tokens of applications are revoked.')}</p>`,
          )
        : ''
    }<form method="post" action="${asked.root}${PATH}">
${hiddenField('form_token', asked.token())}<input type="text" name="username" value="${asked.session.user.name}" autocomplete="username" hidden>
${field('old_password', say('Old password'), 'current-password')}${field(
  'new_password',
  say('New password'),
  'new-password',
  say('At least 10 characters.'),
)}${field('new_password_again', say('New password again'), 'new-password')}<div class="choice"><input type="checkbox" id="revoke_keys" name="revoke_keys" value="1"><label for="revoke_keys">${say('Revoke my API keys as well')}</label></div>
<div class="buttons"><button>${say('Change password')}</button></div>
</form>
`,
  }
}
