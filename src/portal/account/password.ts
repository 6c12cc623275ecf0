import { ACCOUNT_INVALID } from '../../accounts/faults.ts'
import { isFault } from '../../errors/errors.ts'
import type { Attempts } from '../../http/attempts.ts'
import type { Form } from '../../http/form.ts'
import { choiceField, type FieldProblem, hiddenField, note, textField } from '../../site/account-fields.ts'
import type { AccountPage } from '../../site/account-page.ts'
import { html } from '../../site/html.ts'
import type { AccountRequest, AccountSection, SectionAnswer } from './section.ts'
import { checkThrottled } from './throttled-check.ts'

/** Changes the password of a user who knows the old one, and ends all other sessions and the tokens of applications. */
export function passwordSection(attempts: Attempts): AccountSection {
  return {
    path: '/account/password',
    show: requested => passwordPage(requested, null),
    change: (requested, form) => change(requested, form, attempts),
  }
}

async function change(requested: AccountRequest, form: Form, attempts: Attempts): Promise<SectionAnswer> {
  const { session, options, pageContext } = requested
  const { t, href } = pageContext
  const { users, sessions } = options.accounts
  const { name, id } = session.user
  const refused = (field: string, message: string, more: Partial<AccountPage> = {}) => ({
    ...passwordPage(requested, { field, message }),
    status: 400,
    ...more,
  })
  const fresh = form.get('new_password') ?? ''
  if (fresh === '') return refused('new_password', t('Enter a new password.'))
  if (fresh !== form.get('new_password_again'))
    return refused('new_password_again', t('This is not the same as the new password.'))
  const old = form.get('old_password') ?? ''
  const checked = await checkThrottled(attempts, requested, name, () => users.verify(name, old))
  if (checked.type === 'blocked')
    return refused('old_password', checked.message, { status: 429, retryAfter: checked.seconds })
  if (checked.value === null) return refused('old_password', t('This is not your password.'), { status: 403 })
  try {
    await users.setPassword(name, fresh, { revokeKeys: form.get('revoke_keys') === '1' })
  } catch (error) {
    if (!isFault(error, ACCOUNT_INVALID)) throw error
    return refused('new_password', `${error.message}.`)
  }
  // The change ended all sessions, including this one.
  const path = href('/account/password/', { done: 1 })
  return { type: 'redirect', path, session: await sessions.begin(id) }
}

function passwordPage(requested: AccountRequest, problem: FieldProblem | null): AccountPage {
  const { t } = requested.pageContext
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
    heading: t('Password'),
    content: html`${
      requested.isDone && problem === null
        ? note(
            'good',
            html`<p>${t('Your password is changed. You are signed out everywhere else, and the tokens of applications are revoked.')}</p>`,
          )
        : ''
    }<form method="post" action="${requested.action}">
${hiddenField('form_token', requested.token())}<input type="text" name="username" value="${requested.session.user.name}" autocomplete="username" hidden>
${field('old_password', t('Old password'), 'current-password')}${field(
  'new_password',
  t('New password'),
  'new-password',
  t('At least 10 characters.'),
)}${field('new_password_again', t('New password again'), 'new-password')}${choiceField('checkbox', 'revoke_keys', t('Revoke my API keys and passkeys as well'), false)}
<div class="buttons"><button>${t('Change password')}</button></div>
</form>
`,
  }
}
