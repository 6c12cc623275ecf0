import { type Html, html } from './html.ts'
import { LANGUAGE_NAMES } from './language.ts'
import { type PageContext, queryText } from './page-context.ts'

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
export function alternates(pageContext: PageContext, { title, description, path }: Findable): Html {
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
