import type { FastifyReply } from 'fastify'
import { pageText, policyOf, type SitePage, sendSitePage } from './frame.ts'
import { type Html, html } from './html.ts'
import type { PageContext } from './page-context.ts'

/** A page of accounts, inside its frame. */
export interface AccountPage {
  readonly type: 'page'
  readonly heading: string
  readonly content: Html
  /** Without it 200. */
  readonly status?: number
  /** Seconds after which to try again. */
  readonly retryAfter?: number
  /** Where forms may lead beside our own pages: sources of a Content-Security-Policy. */
  readonly formTargets?: readonly string[]
  /** Scripts of the page, which else has none: names of what the build made. */
  readonly islands?: readonly string[]
}

/** Who is signed in, as the pages of accounts show it. */
export interface SignedInAs {
  readonly name: string
  /** For the form that ends the session. */
  readonly formToken: string
}

/** Sends a page that no cache keeps, no other site frames, and that runs no scripts but its islands. */
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
 * The headers of every answer for one person alone. Our own pages get the origin of forms: with `no-referrer`
 * browsers would tell none.
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
 * What a Content-Security-Policy must allow so that a form may lead on to redirect URIs: browsers apply form-action to
 * every redirect that follows a form, also those that an application makes after it. Schemes are all that is distinguished.
 */
export function redirectSources(uris: readonly string[]): readonly string[] {
  const schemes = uris.flatMap(uri => /^([a-z][a-z0-9+.-]*):/i.exec(uri)?.[1]?.toLowerCase() ?? [])
  return [...new Set(schemes)].map(scheme => `${scheme}:`)
}

/** What a browser is shown with 401: where to sign in, and from there back to the address. */
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

/** The parts of an account, and the way out. */
function bar({ t, href, address }: PageContext, { name, formToken }: SignedInAs): Html {
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
  return html`<div class="bar-line"><p class="soft">${t('Signed in as {name}', { name })}</p>
<form method="post" action="${href('/account/logout/')}"><input type="hidden" name="form_token" value="${formToken}">
<button class="plain small">${t('Log out')}</button></form></div>
<nav class="tabs" aria-label="${t('Account')}"><ul>${sections.map(
    ([target, title]) =>
      html`<li><a href="${href(target)}"${target === here ? html` aria-current="page"` : ''}>${title}</a></li>
`,
  )}</ul></nav>
`
}
