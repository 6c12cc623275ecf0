import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { ACCOUNT_STYLE } from './account-style.ts'
import { type Html, html } from './html.ts'

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
}

/** What the frame shows of the portal and of who is signed in. */
export interface AccountFrame {
  readonly title: string
  /** The path of the base address, without a slash at its end. */
  readonly root: string
  readonly signedIn: { readonly name: string; readonly formToken: string } | null
  /** The address of the page, without `root`. */
  readonly current: string
}

const SECTIONS = [
  ['/account/', 'Overview'],
  ['/account/my-api-keys/', 'My API keys'],
  ['/account/my-applications/', 'My applications'],
  ['/account/authorizations/', 'Authorizations'],
  ['/account/password/', 'Password'],
] as const

/** Sends a page that no cache keeps, no other site frames, and that runs no scripts. */
export function sendAccountPage(reply: FastifyReply, frame: AccountFrame, page: AccountPage): FastifyReply {
  return keepPrivate(reply)
    .headers({
      'content-security-policy': policyOf(page.formTargets ?? []),
      'x-frame-options': 'DENY',
      'x-robots-tag': 'noindex',
      ...(page.retryAfter === undefined ? {} : { 'retry-after': String(page.retryAfter) }),
    })
    .code(page.status ?? 200)
    .type('text/html; charset=utf-8')
    .send(pageText(frame, page))
}

/**
 * The headers of every answer for one person alone. The origin of forms is told to our own pages: with `no-referrer`
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
 * every redirect that follows a form, also those that an application makes after it. Schemes are all that is told apart.
 */
export function redirectSources(uris: readonly string[]): readonly string[] {
  const schemes = uris.flatMap(uri => /^([a-z][a-z0-9+.-]*):/i.exec(uri)?.[1]?.toLowerCase() ?? [])
  return [...new Set(schemes)].map(scheme => `${scheme}:`)
}

/** What a browser is shown with 401: where to sign in, and from there back to the address. */
export function signInPage(
  frame: Pick<AccountFrame, 'title' | 'root'>,
  address: string,
): { readonly text: string; readonly policy: string } {
  const next = new URLSearchParams({ next: frame.root + address })
  const content = html`<p>This is not public. Sign in to see it, if it was granted to you.</p>
<p><a class="button" href="${frame.root}/account/login/?${String(next)}">Sign in</a></p>
`
  const heading = 'Sign in to go on'
  const page = { type: 'page', heading, content } as const
  return { text: pageText({ ...frame, signedIn: null, current: '' }, page), policy: policyOf([]) }
}

const STYLE_SOURCE = `'sha256-${createHash('sha256').update(ACCOUNT_STYLE).digest('base64')}'`

function policyOf(formTargets: readonly string[]): string {
  return [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    'img-src data:',
    "base-uri 'none'",
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "frame-ancestors 'none'",
  ].join('; ')
}

function pageText(frame: AccountFrame, { heading, content }: AccountPage): string {
  const { title, root, signedIn } = frame
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${heading} · ${title}</title><link rel="icon" href="data:,"><style>${{ html: ACCOUNT_STYLE }}</style></head>
<body><header><div><a class="home" href="${root}/account/">${title}</a>
${signedIn === null ? '' : bar(frame, signedIn)}</div></header>
<main${signedIn === null ? { html: ' class="narrow"' } : ''}><h1>${heading}</h1>
${content}</main></body></html>
`.html
}

function bar({ root, current }: AccountFrame, signedIn: AccountFrame['signedIn'] & {}): Html {
  return html`<form method="post" action="${root}/account/logout/"><input type="hidden" name="form_token" value="${signedIn.formToken}">
<span class="soft">${signedIn.name}</span><button class="plain small">Log out</button></form>
<nav aria-label="Account"><ul>${SECTIONS.map(
    ([path, name]) =>
      html`<li><a href="${root}${path}"${path === current ? { html: ' aria-current="page"' } : ''}>${name}</a></li>
`,
  )}</ul></nav>
`
}
