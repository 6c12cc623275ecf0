import { parseQueryValue } from '../../http/query-string.ts'
import { parseTriples, withoutTripleTerms } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import { GEO, RDF, RDFS, XSD } from '../../rdf/vocab.ts'
import type { SitePage } from '../../site/frame.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { fragmentsAddress, listAddress, numberedPage } from './address.ts'
import { expandedDocument } from './jsonld.ts'
import type { PageDescription } from './metadata.ts'
import type { Content } from './write.ts'

const PLACES = ['subject', 'predicate', 'object'] as const

/** What a page for people shows beside the triples. */
export interface PageView extends PageDescription {
  readonly dataset: PageDescription['dataset'] & { readonly id: string }
  readonly pageContext: PageContext
  /** What was asked for in each place, as it was written. */
  readonly requested: Readonly<Record<(typeof PLACES)[number], string>>
  /** Address of the dataset as a resource. */
  readonly about: string
}

/**
 * A page of a fragment for people, and for clients that read HTML alone: the whole content stands in it as JSON-LD. It
 * works without scripts; every term leads to the fragment that has it in the same place. No element has a role: it would be
 * one more triple to who reads the page as RDFa.
 */
export function fragmentPage(view: PageView, content: Content): SitePage {
  const { base, dataset, count, requested, foreign, pageContext } = view
  const { t, href } = pageContext
  const fields = PLACES.map(
    place => html`<label><span>${placeName(place, pageContext)}</span> <input name="${place}" value="${requested[place]}" placeholder="?${place}" autocapitalize="off" spellcheck="false"></label>
`,
  )
  const cached = foreign.map(part => {
    const [name = '', ...value] = decoded(part).split('=')
    return html`<input type="hidden" name="${name}" value="${value.join('=')}">`
  })
  const path = `/explore/dataset/${encodeURIComponent(dataset.id)}/`
  return {
    title: t('Triples of {dataset}', { dataset: dataset.title }),
    part: 'catalog',
    isWide: true,
    isIndexed: false,
    head: dataBlock(expandedDocument(content.metadata, content.graph, withoutTripleTerms(content.data))),
    body: html`<nav class="crumbs" aria-label="${t('Where you are')}"><ol><li><a href="${href('/explore/')}">${t('Datasets')}</a></li><li><a href="${href(path)}">${dataset.title}</a></li><li><a href="${listAddress(base)}${asQuery(foreign)}">${t('Triple pattern fragments')}</a></li></ol></nav>
<h1>${t('Triples of {dataset}', { dataset: dataset.title })}</h1>
<p class="soft">${t('Every triple of the dataset that fits a pattern, page by page. Programs such as Comunica ask the same address.')} <a href="${view.about}">${t('The dataset as a resource')}</a></p>
<form class="filter pattern" action="${new URL(fragmentsAddress(base, dataset.id)).pathname}" method="get">${cached}${fields}<button>${t('Find')}</button>
<p class="soft">${t('An IRI, a literal such as {text}, {tagged} or {typed}, or nothing for any.', { text: '"Paris"', tagged: '"Paris"@fr', typed: `"5"^^${XSD.integer}` })}</p></form>
${
  count === 0
    ? html`<p class="empty">${t('No triples match.')}</p>`
    : html`<div class="bar-line"><p class="count">${numbers(view)}</p><p>${steps(view)}</p></div>
${table(view, content.data)}
<nav class="pager" aria-label="${t('Pages')}">${steps(view)}</nav>`
}`,
  }
}

function placeName(place: (typeof PLACES)[number], { t }: PageContext): string {
  switch (place) {
    case 'subject':
      return t('Subject')
    case 'predicate':
      return t('Predicate')
    case 'object':
      return t('Object')
    default:
      return place satisfies never
  }
}

/** A page of a fragment, and who looks at it. */
type Paged = Pick<PageView, 'fragmentIri' | 'page' | 'pageSize' | 'count' | 'pageContext'>

export function numbers({ page, pageSize, count, pageContext: { t } }: Paged): string {
  const first = (page - 1) * pageSize + 1
  const last = Math.min(page * pageSize, count)
  return first > count
    ? t('This page is past the last of {n} triples.', { n: count })
    : t('{first} to {last} of {n} triples', { first, last, n: count })
}

export function steps({ fragmentIri, page, pageSize, count, pageContext: { t } }: Paged): Html {
  const link = (target: number, text: string) =>
    html`<a href="${numberedPage(fragmentIri, target)}">${text}</a> `
  return html`<span class="steps">${link(1, t('First page'))}${page > 1 ? link(page - 1, t('Previous page')) : ''}${
    page * pageSize < count ? link(page + 1, t('Next page')) : ''
  }</span>`
}

function table(view: PageView, data: string): Html {
  const rows = [...parseTriples(data)].map(
    triple => html`<tr>${PLACES.map(place => html`<td>${cell(view, place, triple[place])}</td>`)}</tr>
`,
  )
  return html`<section class="scroll" tabindex="0" aria-label="${view.pageContext.t('Triples')}"><table class="triples"><thead><tr>${PLACES.map(place => html`<th scope="col">${placeName(place, view.pageContext)}</th>`)}</tr></thead><tbody>
${rows}</tbody></table></section>`
}

/** A term as a link to its fragment; an IRI has one to itself beside. */
function cell({ base, dataset, foreign, pageContext: { t } }: PageView, place: string, term: Term): Html {
  const href = `${fragmentsAddress(base, dataset.id)}${asQuery([...foreign, `${place}=${encoded(asParameter(term))}`])}`
  if (term.type !== 'literal')
    return html`<a href="${href}" title="${term.value}">${shortenedTerm(term.value, base, dataset.id)}</a>${
      isWebAddress(term.value)
        ? html` <a class="self" href="${term.value}" title="${t('The resource itself')}" aria-label="${t('The resource itself')}">↗</a>`
        : ''
    }`
  const note = term.language === '' ? shortenedTerm(term.datatype, base, dataset.id) : term.language
  return html`<a href="${href}">${term.value === '' ? '""' : term.value}</a>${
    term.datatype === XSD.string ? '' : html` <small>${note}</small>`
  }`
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

const SPACES: readonly (readonly [string, string])[] = [
  [RDF.type.replace(/type$/, ''), 'rdf:'],
  [RDFS.label.replace(/label$/, ''), 'rdfs:'],
  [XSD.string.replace(/string$/, ''), 'xsd:'],
  [GEO.wktLiteral.replace(/wktLiteral$/, ''), 'geo:'],
]

/** An IRI as people read it: without what all of the dataset have in common. */
export function shortenedTerm(iri: string, base: string, dataset: string): string {
  const spaces = [
    [`${base}/ld/resources/${dataset}/`, ''],
    [`${base}/ld/ontologies/${dataset}/`, ''],
    ...SPACES,
  ] as const
  const found = spaces.find(([space]) => iri.startsWith(space) && iri.length > space.length)
  return found === undefined ? iri : found[1] + iri.slice(found[0].length)
}

/** Nothing else is made a link: `javascript:` is an IRI too. */
export function isWebAddress(iri: string): boolean {
  return /^https?:/i.test(iri)
}

/** Descriptions are written in HTML; a page shows their words. */
export function fragmentTermText(description: string | null): string {
  return (description ?? '').replace(/<[^<>]*>/g, ' ').trim()
}

export function asQuery(parts: readonly string[]): string {
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

export function decoded(part: string): string {
  return parseQueryValue(part) ?? part
}

/** A lone surrogate, which no address can hold, never matches anything. */
export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** The content of a page as JSON-LD, in which no `<` is left that could end it. */
export function dataBlock(json: string): Html {
  return html`<script type="application/ld+json">${{ html: json.replaceAll('<', '\\u003c') }}</script>
`
}
