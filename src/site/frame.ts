import type { FastifyReply } from 'fastify'
import { isPublisher } from '../accounts/authorisation.ts'
import { entityTag, isNotModified, varyBy } from '../http/conditional.ts'
import { RIGHT_TO_LEFT } from '../model/language.ts'
import { lookup } from '../model/lookup.ts'
import { ASSETS_PATH, builtAssets } from './assets.ts'
import { type Html, html } from './html.ts'
import { LANGUAGE_NAMES, orderedLanguages, type PageContext, queryText } from './page-context.ts'

/** A page of the site, inside its frame. */
export interface SitePage {
  /** Title of the page, without that of the portal; empty for the home page. */
  readonly title: string
  readonly description?: string
  readonly body: Html
  readonly part?: 'home' | 'catalog' | 'playground' | 'developers' | 'desk' | 'account'
  /** Scripts for progressive enhancement: names of built files, `map.js`. */
  readonly islands?: readonly string[]
  /** Additional elements of the head: links to other formats of the page, structured data. */
  readonly head?: Html
  /** 200 by default. */
  readonly status?: number
  readonly isWide?: boolean
  /** Sources of its scripts and pictures in addition to this portal: those of configured tiles. */
  readonly imageSources?: readonly string[]
  readonly isIndexed?: boolean
  /** Its canonical path, if several addresses show the same page; that of the request by default. */
  readonly path?: string
  /** True for pages of a single user: no other site may frame them, and they run only their islands as scripts. */
  readonly isPrivate?: boolean
  /** Targets of forms in addition to this portal: sources of a Content-Security-Policy. */
  readonly formTargets?: readonly string[]
}

/** Sends a page. It loads and runs only files of this portal. */
export function sendSitePage(reply: FastifyReply, pageContext: PageContext, page: SitePage): FastifyReply {
  return sendPageText(reply, pageContext, pageText(pageContext, page), page)
}

/** Sends the rendered text of a page. */
export function sendPageText(
  reply: FastifyReply,
  pageContext: PageContext,
  text: string,
  page: Pick<SitePage, 'status' | 'imageSources' | 'formTargets' | 'isPrivate' | 'islands'> = {},
): FastifyReply {
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-cache')
  varyBy(reply, 'Accept-Language', 'Cookie')
  reply
    .code(page.status ?? 200)
    .header('content-security-policy', policyOf(page))
    .header('referrer-policy', 'same-origin')
    .header('content-language', pageContext.language)
  if (isAlreadyShown(reply, text, page)) return reply.code(304).send()
  return reply.type('text/html; charset=utf-8').send(text)
}

/**
 * Sets the tag of a page from its text, which depends on language, principal and data, and returns true if the browser has
 * that text already. Pages that must not be stored have none.
 */
function isAlreadyShown(
  reply: FastifyReply,
  text: string,
  { status = 200, isPrivate = false }: Pick<SitePage, 'status' | 'isPrivate'>,
): boolean {
  const cacheControl = String(reply.getHeader('cache-control'))
  const isStorable = !cacheControl.includes('no-store')
  if (status !== 200 || isPrivate || !isStorable || reply.hasHeader('etag')) return false
  return isNotModified(reply.request, reply, { tag: entityTag(text), cacheControl })
}

/** The policy of a page: only files of this portal, no plug-ins, forms to this portal. */
export function policyOf({
  imageSources = [],
  formTargets = [],
  isPrivate = false,
  islands = [],
}: Pick<SitePage, 'imageSources' | 'formTargets' | 'isPrivate' | 'islands'>): string {
  const scripts = ["script-src 'self'", "connect-src 'self'", "worker-src 'self'"]
  return [
    "default-src 'none'",
    "style-src 'self'",
    ...(isPrivate ? scripts.slice(0, islands.length > 0 ? 1 : 0) : scripts),
    "manifest-src 'self'",
    ["img-src 'self' data:", ...imageSources].join(' '),
    "base-uri 'none'",
    ["form-action 'self'", ...formTargets].join(' '),
    `frame-ancestors ${isPrivate ? "'none'" : "'self'"}`,
  ].join('; ')
}

/** The text of a page. */
export function pageText(pageContext: PageContext, page: SitePage): string {
  const { site, language, t, href } = pageContext
  const title = page.title === '' ? site.title : `${page.title} · ${site.title}`
  const direction = RIGHT_TO_LEFT.has(language) ? 'rtl' : 'ltr'
  const description = (page.description ?? site.description).slice(0, 300)
  const isIndexed = page.isIndexed !== false && (page.status ?? 200) < 400
  const findable = { title: page.title || site.title, description, path: page.path }
  return html`<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${description === '' ? '' : html`<meta name="description" content="${description}">`}
${isIndexed ? alternates(pageContext, findable) : html`<meta name="robots" content="noindex">`}
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${file('icon.svg', pageContext)}" type="image/svg+xml">
<link rel="stylesheet" href="${file('site.css', pageContext)}">
<link rel="search" type="application/opensearchdescription+xml" title="${site.title}" href="${href('/opensearch.xml')}">
${page.head ?? ''}
${[...new Set([...(page.isPrivate === true ? [] : ['site.js']), ...(page.islands ?? [])])].map(
  name => html`<script type="module" src="${file(name, pageContext)}"></script>
`,
)}</head>
<body>
<a class="skip" href="#content">${t('Skip to the content')}</a>
${header(pageContext, page)}
<main id="content"${page.isWide === true ? html` class="wide"` : ''}>
${page.body}
</main>
${footer(pageContext)}
</body>
</html>
`.html
}

/** The address of a built file. */
export function file(name: string, { site }: Pick<PageContext, 'site'>): string {
  return new URL(site.base).pathname.replace(/\/+$/, '') + assetPath(name)
}

function header(pageContext: PageContext, { part }: SitePage): Html {
  const { site, t, href, principal, address } = pageContext
  const links = [
    ['catalog', '/explore/', t('Datasets')],
    ['playground', '/sparql/', 'SPARQL'],
    ['developers', '/developers/', t('Developers')],
    ...(isPublisher(principal) ? [['desk', '/desk/', t('Desk')] as const] : []),
  ] as const
  const root = new URL(site.base).pathname.replace(/\/+$/, '')
  const next = address.startsWith('/account/') ? undefined : root + address
  const account =
    principal.type === 'user'
      ? html`<a class="account" href="${href('/account/')}">${principal.name}</a>`
      : html`<a class="account" href="${href('/account/login/', { next })}" rel="nofollow">${t('Sign in')}</a>`
  return html`<header class="top"><div class="bar">
<a class="brand" href="${href('/')}"><img src="${file('icon.svg', pageContext)}" alt="" width="28" height="28"><span>${site.title}</span></a>
<nav aria-label="${t('Main')}"><ul>${links.map(
    ([name, path, label]) =>
      html`<li><a href="${href(path)}"${name === part ? html` aria-current="page"` : ''}>${label}</a></li>`,
  )}</ul></nav>
${account}
</div></header>`
}

function footer(pageContext: PageContext): Html {
  const { t, href, language, address } = pageContext
  const [path = '/', query = ''] = address.split(/\?(.*)/s)
  const others = query.split('&').filter(pair => pair !== '' && !pair.startsWith('lang='))
  const languages = orderedLanguages(pageContext.site.languages).map(code => {
    const name = LANGUAGE_NAMES[code]
    if (code === language) return html`<li><span aria-current="true" lang="${code}">${name}</span></li>`
    const target = `${new URL(pageContext.site.base).pathname.replace(/\/+$/, '')}${path}?${[...others, `lang=${code}`].join('&')}`
    return html`<li><a href="${target}" lang="${code}" hreflang="${code}" rel="alternate nofollow">${name}</a></li>`
  })
  return html`<footer class="bottom"><div class="bar">
<nav aria-label="${t('Languages')}"><ul class="languages">${languages}</ul></nav>
<p>${t('All that you see here is linked open data.')} <a href="${href('/developers/')}">${t('How to use it in programs')}</a></p>
</div></footer>`
}

/**
 * Everything but the data that determines the bytes of a page, for its entity tag: the language, the principal and
 * whether it has a desk, its address, the title of the portal, and its files for browsers.
 */
export function pageValidator({ site, principal, language, href, address }: PageContext): readonly string[] {
  return [
    assetPath('site.css'),
    assetPath('site.js'),
    site.title,
    site.description,
    language,
    href('/'),
    address,
    principal.type === 'user' ? principal.name : '',
    isPublisher(principal) ? 'desk' : '',
  ]
}

/** The metadata of a page for search engines and for previews of shared links. */
export interface Findable {
  readonly title: string
  readonly description: string
  /** Its canonical path, without parameters; that of the request by default. */
  readonly path: string | undefined
}

/**
 * The canonical address of a page: without filter, in the language of the address. A page has one address for each language,
 * and one without a language, for negotiation by Accept-Language.
 */
function canonicalAddress({ site, address, namedLanguage }: PageContext, path = pathOf(address)): string {
  return `${site.base}${path}${queryText({ lang: namedLanguage })}`
}

/** Links to the page itself and to its translations, and the metadata for previews of its address. */
function alternates(pageContext: PageContext, { title, description, path }: Findable): Html {
  const { site } = pageContext
  const own = path ?? pathOf(pageContext.address)
  const address = canonicalAddress(pageContext, own)
  const languages = Object.keys(LANGUAGE_NAMES).map(
    code => html`<link rel="alternate" hreflang="${code}" href="${site.base}${own}?lang=${code}">
`,
  )
  return html`<link rel="canonical" href="${address}">
${languages}<link rel="alternate" hreflang="x-default" href="${site.base}${own}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="${site.title}">
<meta property="og:title" content="${title}">
<meta property="og:url" content="${address}">
${description === '' ? '' : html`<meta property="og:description" content="${description}">`}
<meta name="twitter:card" content="summary">`
}

/** The path of a page, always with the trailing slash of its links. */
function pathOf(address: string): string {
  const [path = '/'] = address.split('?')
  return path.endsWith('/') || path.startsWith('/ld/') || path.startsWith('/api/') ? path : `${path}/`
}

/** The path of a built file, `site.css` or `map.js`, below the base address. */
function assetPath(name: string): string {
  const found = lookup(builtAssets().names, name)
  if (found === undefined) throw new Error(`there is no file ${name} among those for browsers: build them`)
  return ASSETS_PATH + found
}
