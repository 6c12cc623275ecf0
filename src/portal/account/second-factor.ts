import { encode } from 'uqr'
import type { SecondFactorSetup } from '../../accounts/accounts.ts'
import { otpauthUri } from '../../accounts/second-factors.ts'
import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import type { Attempts } from '../../http/attempts.ts'
import type { Form } from '../../http/form.ts'
import { type FieldProblem, hiddenField, note, textField } from '../../site/account-fields.ts'
import type { AccountPage } from '../../site/account-page.ts'
import { type Html, html } from '../../site/html.ts'
import { ANY_DEVICE } from './login-page.ts'
import type { AccountRequest, AccountSection, SectionAnswer } from './section.ts'
import { checkThrottled } from './throttled-check.ts'

/** Turns one-time passwords on and off (RFC 6238); each change needs the password, so that a stolen session cannot make it. */
export function secondFactorSection(passwords: Attempts, codes: Attempts): AccountSection {
  return {
    path: '/account/second-factor',
    show: requested => factorPage(requested),
    change: (requested, form) =>
      form.get('action') === 'confirm' ? confirm(requested, form, codes) : change(requested, form, passwords),
  }
}

interface Shown {
  readonly problem?: FieldProblem
  readonly status?: number
  readonly retryAfter?: number
  readonly codes?: readonly string[]
  readonly setup?: SecondFactorSetup | undefined
}

async function confirm(requested: AccountRequest, form: Form, attempts: Attempts): Promise<SectionAnswer> {
  const { session, options, pageContext } = requested
  const { id, name } = session.user
  const { secondFactors } = options.accounts
  const setup = secondFactors.begun(id, session.session, form.get('setup') ?? '')
  if (setup === null) {
    const message = pageContext.t('The set-up was not finished in time. Enter your password again.')
    return factorPage(requested, { problem: { field: 'password', message }, status: 403 })
  }
  const check = () => secondFactors.confirm(id, session.session, setup.sealed, form.get('code') ?? '')
  const checked = await checkThrottled(attempts, requested, name, check, ANY_DEVICE)
  if (checked.type === 'blocked') return blocked(requested, 'code', checked, setup)
  if (checked.value !== null) return factorPage(requested, { codes: checked.value })
  const message = pageContext.t('This code is wrong, or it was used before.')
  return factorPage(requested, { problem: { field: 'code', message }, status: 400, setup })
}

/** Actions that need the password: to begin, to generate new recovery codes, to turn it off. */
async function change(requested: AccountRequest, form: Form, attempts: Attempts): Promise<SectionAnswer> {
  const { session, options, pageContext } = requested
  const { users, secondFactors } = options.accounts
  const { id, name } = session.user
  const verify = () => users.verify(name, form.get('password') ?? '')
  const checked = await checkThrottled(attempts, requested, name, verify)
  if (checked.type === 'blocked') return blocked(requested, 'password', checked)
  if (checked.value === null) {
    const message = pageContext.t('This is not your password.')
    return factorPage(requested, { problem: { field: 'password', message }, status: 403 })
  }
  switch (form.get('action')) {
    case 'begin':
      return factorPage(requested, { setup: await secondFactors.begin(id, session.session) })
    case 'renew':
      return factorPage(requested, { codes: await secondFactors.renewCodes(id) })
    case 'remove':
      await secondFactors.remove(name)
      return undefined
    default:
      throw new Fault(BAD_REQUEST, { reason: 'The form lacks its action.' })
  }
}

function blocked(
  requested: AccountRequest,
  field: string,
  { message, seconds }: { readonly message: string; readonly seconds: number },
  setup?: SecondFactorSetup,
): Promise<AccountPage> {
  return factorPage(requested, { problem: { field, message }, status: 429, retryAfter: seconds, setup })
}

async function factorPage(requested: AccountRequest, shown: Shown = {}): Promise<AccountPage> {
  const { t } = requested.pageContext
  const state = await requested.options.accounts.secondFactors.state(requested.session.user.id)
  return {
    type: 'page',
    heading: t('Two-step sign-in'),
    status: shown.status ?? 200,
    retryAfter: shown.retryAfter,
    content:
      state.type === 'on'
        ? onPage(requested, shown, state.recoveryCodes)
        : shown.setup === undefined
          ? offPage(requested, shown)
          : setupPage(requested, shown, shown.setup),
  }
}

function offPage(requested: AccountRequest, shown: Shown): Html {
  const { t } = requested.pageContext
  return html`<p>${t('In addition to the password you enter a code that an app on your phone shows. Any app for one-time passwords (TOTP) works.')}</p>
${passwordForm(requested, shown, [['begin', t('Set up')]])}`
}

/** The key and the form for its first code. The key is on this page alone: it answers a form with the password. */
function setupPage(requested: AccountRequest, shown: Shown, { secret, sealed }: SecondFactorSetup): Html {
  const { pageContext, options, session, action } = requested
  const { t } = pageContext
  const uri = otpauthUri(options.title, session.user.name, secret)
  return html`<p>${t('Add this key to your app, then enter the code that it shows.')}</p>
${qrCode(uri, t('The key as a QR code'))}<p><code class="secret" id="secret">${secret.replace(/.{4}(?=.)/g, '$& ')}</code></p>
<p><a href="${uri}">${t('Open in an app on this device')}</a></p>
<p class="soft"><code id="uri">${uri}</code></p>
<form method="post" action="${action}">
${hiddenField('form_token', requested.token())}${hiddenField('action', 'confirm')}${hiddenField('setup', sealed)}${textField(
  {
    name: 'code',
    label: t('Code'),
    hint: t('The six digits that your app shows.'),
    autocomplete: 'one-time-code',
    problem: shown.problem ?? null,
  },
)}<div class="buttons"><button>${t('Turn on')}</button> <a href="${action}">${t('Cancel')}</a></div>
</form>
`
}

function onPage(requested: AccountRequest, shown: Shown, left: number): Html {
  const { t } = requested.pageContext
  return html`${
    shown.codes === undefined
      ? html`<p>${t('Two-step sign-in is on.')} ${t('Recovery codes left: {count}', { count: left })}</p>
`
      : note(
          'good',
          html`<p><strong>${t('Two-step sign-in is on.')}</strong></p><p>${t('Each of these recovery codes signs you in once without your phone. Copy them now: they are not shown again.')}</p>
<ul class="recovery">${shown.codes.map(
            code => html`<li><code class="secret">${code}</code></li>
`,
          )}</ul>`,
        )
  }${passwordForm(requested, shown, [
    ['renew', t('Make new recovery codes')],
    ['remove', t('Turn off')],
  ])}`
}

function passwordForm(
  requested: AccountRequest,
  shown: Shown,
  actions: readonly (readonly [action: string, label: string])[],
): Html {
  return html`<form method="post" action="${requested.action}">
${hiddenField('form_token', requested.token())}<input type="text" name="username" value="${requested.session.user.name}" autocomplete="username" hidden>
${textField({
  name: 'password',
  label: requested.pageContext.t('Password'),
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

/** Modules of the quiet zone around a code (ISO/IEC 18004, section 6.3.8), and minimum pixels of a module. */
const [QUIET, PIXELS] = [4, 4]

/** Maximum characters: the modules of longer codes are too small for the camera of a phone. */
const MAX_LENGTH = 600

/**
 * A QR code as SVG within the page: dark on light even on a dark page, for scanners expect it. Null for texts that are too
 * long.
 *
 * @param label its description for screen readers
 */
export function qrCode(text: string, label: string): Html | null {
  if (text.length > MAX_LENGTH) return null
  const { size, data } = encode(text, { ecc: 'M', border: QUIET })
  const path = data.flatMap((row, y) =>
    runsOf(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`),
  )
  const side = size * PIXELS
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" width="${side}" height="${side}" shape-rendering="crispEdges"><rect width="100%" height="100%" fill="#fff"/><path d="${path.join('')}" fill="#000"/></svg>
`
}

function runsOf(row: readonly boolean[]): readonly (readonly [number, number])[] {
  const bits = row.map(isDark => (isDark ? '1' : '0')).join('')
  return [...bits.matchAll(/1+/g)].map(({ index, 0: run }) => [index, run.length])
}
