import { parseQueryValue } from '../../http/query-string.ts'
import type { Term } from '../../rdf/term.ts'
import { GEO, RDF, RDFS, XSD } from '../../rdf/vocab.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { numberedPage } from './address.ts'
import type { FragmentPlace, PageDescription } from './metadata.ts'

const SPACES: readonly (readonly [string, string])[] = [
  [RDF.type.replace(/type$/, ''), 'rdf:'],
  [RDFS.label.replace(/label$/, ''), 'rdfs:'],
  [XSD.string.replace(/string$/, ''), 'xsd:'],
  [GEO.wktLiteral.replace(/wktLiteral$/, ''), 'geo:'],
]

export function placeName(place: FragmentPlace, { t }: PageContext): string {
  switch (place) {
    case 'subject':
      return t('Subject')
    case 'predicate':
      return t('Predicate')
    case 'object':
      return t('Object')
    case 'graph':
      return t('Graph')
    default:
      return place satisfies never
  }
}

/** A page of a fragment, and its page context. */
type Paged = Pick<PageDescription, 'fragmentIri' | 'page' | 'pageSize' | 'count'> & {
  readonly pageContext: PageContext
}

function numbers({ page, pageSize, count, pageContext: { t } }: Paged): string {
  const first = (page - 1) * pageSize + 1
  const last = Math.min(page * pageSize, count)
  return first > count
    ? t('This page is past the last of {n} triples.', { n: count })
    : t('{first} to {last} of {n} triples', { first, last, n: count })
}

function steps({ fragmentIri, page, pageSize, count, pageContext: { t } }: Paged): Html {
  const link = (target: number, text: string) =>
    html`<a href="${numberedPage(fragmentIri, target)}">${text}</a> `
  return html`<span class="steps">${link(1, t('First page'))}${page > 1 ? link(page - 1, t('Previous page')) : ''}${
    page * pageSize < count ? link(page + 1, t('Next page')) : ''
  }</span>`
}

export function asParameter(term: Term): string {
  switch (term.type) {
    case 'iri':
      return term.value
    case 'blank':
      return `_:${term.value}`
    case 'literal':
      if (term.language !== '') return `"${term.value}"@${term.language}`
      return term.datatype === XSD.string ? `"${term.value}"` : `"${term.value}"^^${term.datatype}`
    case 'triple':
      return term.value
    default:
      return term satisfies never
  }
}

/** An IRI for display: without the prefix that all IRIs of the dataset share. */
export function shortenedTerm(iri: string, base: string, dataset: string): string {
  const spaces = [
    [`${base}/ld/resources/${dataset}/`, ''],
    [`${base}/ld/ontologies/${dataset}/`, ''],
    ...SPACES,
  ] as const
  const found = spaces.find(([space]) => iri.startsWith(space) && iri.length > space.length)
  return found === undefined ? iri : found[1] + iri.slice(found[0].length)
}

/** Only such IRIs become links: `javascript:` is an IRI too. */
function isWebAddress(iri: string): boolean {
  return /^https?:/i.test(iri)
}

export function asQuery(parts: readonly string[]): string {
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

/** Percent-encodes a text; a lone surrogate, which no address can contain, never matches anything. */
export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** The form for a pattern: an input for each position, and the other parameters of the address. */
export function patternForm(
  action: string,
  places: readonly FragmentPlace[],
  requested: Readonly<Partial<Record<FragmentPlace, string>>>,
  foreign: readonly string[],
  pageContext: PageContext,
): Html {
  const { t } = pageContext
  const fields = places.map(
    place => html`<label><span>${placeName(place, pageContext)}</span> <input name="${place}" value="${requested[place] ?? ''}" placeholder="?${place}" autocapitalize="off" spellcheck="false"></label>
`,
  )
  const hidden = foreign.map(part => {
    const [name = '', ...value] = (parseQueryValue(part) ?? part).split('=')
    return html`<input type="hidden" name="${name}" value="${value.join('=')}">`
  })
  return html`<form class="filter pattern" action="${new URL(action).pathname}" method="get">${hidden}${fields}<button>${t('Find')}</button>
<p class="soft">${t('An IRI, a literal such as {text}, {tagged} or {typed}, or nothing for any.', { text: '"Paris"', tagged: '"Paris"@fr', typed: `"5"^^${XSD.integer}` })}</p></form>`
}

/** The results: one page as a table, between links to other pages. */
export function foundTriples(paged: Paged, table: () => Html): Html {
  const { t } = paged.pageContext
  return paged.count === 0
    ? html`<p class="empty">${t('No triples match.')}</p>`
    : html`<div class="bar-line"><p class="count">${numbers(paged)}</p><p>${steps(paged)}</p></div>
${table()}
<nav class="pager" aria-label="${t('Pages')}">${steps(paged)}</nav>`
}

/** A term as a link to its fragment; a web address also has a link to itself. */
export function termLink(
  href: string,
  term: Term,
  shortened: (iri: string) => string,
  { t }: PageContext,
): Html {
  if (term.type !== 'literal')
    return html`<a href="${href}" title="${term.value}">${shortened(term.value)}</a>${
      isWebAddress(term.value)
        ? html` <a class="self" href="${term.value}" title="${t('The resource itself')}" aria-label="${t('The resource itself')}">↗</a>`
        : ''
    }`
  const note = term.language === '' ? shortened(term.datatype) : term.language
  return html`<a href="${href}">${term.value === '' ? '""' : term.value}</a>${
    term.datatype === XSD.string ? '' : html` <small>${note}</small>`
  }`
}
