import type { Session } from '../../accounts/accounts.ts'
import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import type { Form } from '../../http/form.ts'
import { lookup } from '../../model/lookup.ts'
import { hiddenField } from '../../site/account-fields.ts'
import type { AccountPage } from '../../site/account-page.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import type { AccountsOptions, SignedIn } from '../../site/signed-in.ts'

/** The answer of a section: a page, or a redirect; nothing for one to the page of the section. */
export type SectionAnswer =
  | undefined
  | AccountPage
  /** With a session that takes the place of the one before. */
  | { readonly type: 'redirect'; readonly path: string; readonly session?: Session }

/** The request of a section. */
export interface AccountRequest {
  readonly session: SignedIn
  readonly pageContext: PageContext
  readonly options: AccountsOptions
  /** The address of the page of the section, to which its forms are sent. */
  readonly action: string
  readonly token: () => string
  /** The address of the client. */
  readonly address: string
  /** True if the page follows a successful change. */
  readonly isDone: boolean
}

/** A section of the account: a page and, if it changes something, the handler of its forms. */
export interface AccountSection {
  /** Without `root`, without trailing slash. */
  readonly path: string
  readonly show: (requested: AccountRequest) => AccountPage | Promise<AccountPage>
  readonly change?: Change
}

type Change = (requested: AccountRequest, form: Form) => AccountPage | Promise<SectionAnswer> | Promise<void>

/** The handler of forms that do different things, by their field `action`. */
export function byAction(actions: Readonly<Record<string, Change>>): Change {
  return (requested, form) => {
    const change = lookup(actions, form.get('action') ?? '')
    if (change === undefined) throw new Fault(BAD_REQUEST, { reason: 'The form lacks its action.' })
    return change(requested, form)
  }
}

/** The number of what a form is about. */
export function numberIn(form: Form, what: string): string {
  const id = form.get('id') ?? ''
  if (!/^\d{1,15}$/.test(id)) throw new Fault(BAD_REQUEST, { reason: `The form names no ${what}.` })
  return id
}

/** A form in a list, with a button and without visible fields. */
export function itemForm(
  { action, token }: AccountRequest,
  fields: Readonly<Record<string, string>>,
  content: Html,
): Html {
  const hidden = Object.entries({ form_token: token(), ...fields })
  return html`<form method="post" action="${action}">${hidden.map(([name, value]) => hiddenField(name, value))}${content}</form>`
}

/** A list of what the user has, or a sentence that there is nothing. */
export function itemList(items: readonly Html[], nothing: string): Html {
  return items.length === 0
    ? html`<p class="soft">${nothing}</p>
`
    : html`<ul class="things">${items}</ul>
`
}
