import type { FastifyReply } from 'fastify'
import type { Authenticated } from '../model/principal.ts'
import { pageText, policyOf, type SitePage, sendSitePage } from './frame.ts'
import { type Html, html } from './html.ts'
import type { PageContext } from './page-context.ts'

/** A page of accounts, inside its frame. */
export interface AccountPage {
  readonly type: 'page'
  readonly heading: string
  readonly content: Html
  /** 200 by default. */
  readonly status?: number
  /** Seconds after which to retry. */
  readonly retryAfter?: number | undefined
  /** Targets of forms in addition to our own pages: sources of a Content-Security-Policy. */
  readonly formTargets?: readonly string[]
  /** Scripts of the page, none by default: names of built files. */
  readonly islands?: readonly string[]
}

/** Pages of users who have a password here. */
export const PASSWORD_PAGES: ReadonlySet<string> = new Set([
  '/account/password/',
  '/account/second-factor/',
  '/account/passkeys/',
])

/** The signed-in user on pages of accounts. */
export interface SignedInAs {
  readonly user: Pick<Authenticated, 'name' | 'hasNoPassword'>
  /** The token of the form that ends the session. */
  readonly formToken: string
}

/** Sends a page that no cache stores, no other site may frame, and that runs only its islands as scripts. */
export function sendAccountPage(
  reply: FastifyReply,
  pageContext: PageContext,
  signedIn: SignedInAs | null,
  page: AccountPage,
): FastifyReply {
  keepPrivate(reply).headers({ 'x-frame-options': 'DENY', 'x-robots-tag': 'noindex' })
  if (page.retryAfter !== undefined) reply.header('retry-after', String(page.retryAfter))
  return sendSitePage(reply, pageContext, sitePageOf(pageContext, signedIn, page))
}

/**
 * The headers of every answer for a single user. The referrer policy keeps the origin for our own forms: with `no-referrer`
 * browsers would send none.
 */
export function keepPrivate(reply: FastifyReply): FastifyReply {
  return reply
    .removeHeader('access-control-allow-origin')
    .removeHeader('access-control-expose-headers')
    .headers({
      'cache-control': 'private, no-store',
      'referrer-policy': 'same-origin',
      vary: 'Cookie',
    })
}

/**
 * The sources that a Content-Security-Policy must allow so that a form may redirect to redirect URIs: browsers apply
 * form-action to every redirect after a form, also to those of the application. Only schemes are distinguished.
 */
export function redirectSources(uris: readonly string[]): readonly string[] {
  const schemes = uris.flatMap(uri => /^([a-z][a-z0-9+.-]*):/i.exec(uri)?.[1]?.toLowerCase() ?? [])
  return [...new Set(schemes)].map(scheme => `${scheme}:`)
}

/** The page for browsers with 401: a link to sign in, and from there back to the address. */
export function signInPage(pageContext: PageContext): { readonly text: string; readonly policy: string } {
  const { t, href, address } = pageContext
  const next = `${href('/').split('?')[0]?.replace(/\/$/, '')}${address}`
  const content = html`<p>${t('This is not public. Sign in to see it if you have access.')}</p>
<p><a class="button" href="${href('/account/login/', { next })}">${t('Sign in')}</a></p>
`
  const page = sitePageOf(pageContext, null, { type: 'page', heading: t('Sign in to continue'), content })
  return { text: pageText(pageContext, page), policy: policyOf(page) }
}

function sitePageOf(pageContext: PageContext, signedIn: SignedInAs | null, page: AccountPage): SitePage {
  const { heading, content, status = 200, formTargets = [], islands = [] } = page
  return {
    title: heading,
    part: 'account',
    status,
    formTargets,
    islands,
    isPrivate: true,
    isIndexed: false,
    body:
      signedIn === null
        ? html`<div class="account-page narrow"><h1>${heading}</h1>
${content}</div>`
        : html`<div class="account-page">${bar(pageContext, signedIn)}<h1>${heading}</h1>
${content}</div>`,
  }
}

/** The navigation of an account, with the button to sign out. */
function bar({ t, href, address }: PageContext, { user, formToken }: SignedInAs): Html {
  const sections = [
    ['/account/', t('Overview')],
    ['/account/my-api-keys/', t('My API keys')],
    ['/account/my-applications/', t('My applications')],
    ['/account/authorizations/', t('Authorizations')],
    ['/account/password/', t('Password')],
    ['/account/second-factor/', t('Two-step sign-in')],
    ['/account/passkeys/', t('Passkeys')],
    ['/account/sessions/', t('Sessions')],
  ] as const
  const [path = ''] = address.split('?')
  const here = path.endsWith('/') ? path : `${path}/`
  return html`<div class="bar-line"><p class="soft">${t('Signed in as {name}', { name: user.name })}</p>
<form method="post" action="${href('/account/logout/')}"><input type="hidden" name="form_token" value="${formToken}">
<button class="plain small">${t('Sign out')}</button></form></div>
<nav class="tabs" aria-label="${t('Account')}"><ul>${sections
    .filter(([target]) => user.hasNoPassword !== true || !PASSWORD_PAGES.has(target))
    .map(
      ([target, title]) =>
        html`<li><a href="${href(target)}"${target === here ? html` aria-current="page"` : ''}>${title}</a></li>
`,
    )}</ul></nav>
`
}
