import type { Session } from '../../accounts/accounts.ts'
import type { Form } from '../../http/form.ts'
import type { AccountPage } from '../../site/account-page.ts'
import type { PageContext } from '../../site/page-context.ts'
import type { AccountsOptions, SignedIn } from '../../site/signed-in.ts'

/** The answer of a section: a page, or a redirect. */
export type SectionAnswer =
  | AccountPage
  /** With a session that takes the place of the one before. */
  | { readonly type: 'redirect'; readonly path: string; readonly session?: Session }

/** The request of a section. */
export interface AccountRequest {
  readonly session: SignedIn
  readonly pageContext: PageContext
  readonly options: AccountsOptions
  /** The path of the base address, without trailing slash. */
  readonly root: string
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
  readonly change?: (requested: AccountRequest, form: Form) => SectionAnswer | Promise<SectionAnswer>
}
