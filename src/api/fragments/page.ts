import { parseQueryValue } from '../../http/query-string.ts'
import { datasetIri } from '../../rdf/minted-iris.ts'
import { parseTriples, withoutTripleTerms } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import { GEO, RDF, RDFS, XSD } from '../../rdf/vocab.ts'
import type { SitePage } from '../../site/frame.ts'
import { type Html, html, jsonBlock } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import {
  DEFAULT_GRAPH,
  type FragmentPlace,
  listAddress,
  numberedPage,
  type PageDescription,
} from './metadata.ts'
import { type Content, expandedDocument } from './write.ts'

/** What an HTML page shows in addition to the triples. */
export interface FragmentView extends PageDescription {
  readonly pageContext: PageContext
  /** The requested term of each position, verbatim. */
  readonly requested: Readonly<Partial<Record<FragmentPlace, string>>>
}

type Row = Readonly<Partial<Record<FragmentPlace, Term>>>

/**
 * A page of a fragment for users, and for clients that read only HTML; it also contains the data as JSON-LD. It works without
 * scripts; every term links to the fragment that has it in the same position. No element has a role attribute: RDFa parsers would
 * read it as another triple.
 *
 * @param id of the dataset; null for all of the portal
 */
export function fragmentPage(view: FragmentView, id: string | null, content: Content): SitePage {
  const { base, address, dataset, places, requested, foreign, pageContext } = view
  const { t, href } = pageContext
  const rows = content.parts.flatMap(({ name, triples }) => {
    const graph: Term = { type: 'iri', value: name ?? DEFAULT_GRAPH }
    return Array.from(parseTriples(triples), triple => ({ ...triple, graph }))
  })
  const parts = content.parts.map(({ name, triples }) => ({ name, triples: withoutTripleTerms(triples) }))
  const { title, crumb, introduction } = places.includes('graph')
    ? {
        title: t('Quads of {dataset}', { dataset: dataset.title }),
        crumb: html`${t('Quad pattern fragments')}`,
        introduction: html`${t('Every triple that matches a pattern, with its graph, in pages. Programs such as Comunica use the same address.')}`,
      }
    : {
        title: t('Triples of {dataset}', { dataset: dataset.title }),
        crumb: html`<a href="${listAddress(base)}${asQuery(foreign)}">${t('Triple pattern fragments')}</a>`,
        introduction: html`${t('Every triple of the dataset that matches a pattern, in pages. Programs such as Comunica use the same address.')} <a href="${datasetIri(base, id ?? '')}">${t('The dataset as a resource')}</a>`,
      }
  const home =
    id === null
      ? ''
      : html`<li><a href="${href(`/explore/dataset/${encodeURIComponent(id)}/`)}">${dataset.title}</a></li>`
  return {
    title,
    part: id === null ? 'developers' : 'catalog',
    isWide: true,
    isIndexed: false,
    head: dataBlock(expandedDocument({ ...content, parts })),
    body: html`<nav class="crumbs" aria-label="${t('Where you are')}"><ol><li><a href="${href('/explore/')}">${t('Datasets')}</a></li>${home}<li>${crumb}</li></ol></nav>
<h1>${title}</h1>
<p class="soft">${introduction}</p>
${patternForm(address, places, requested, foreign, pageContext)}
${foundTriples(view, () => table(view, id, rows))}`,
  }
}

function table(view: FragmentView, id: string | null, rows: readonly Row[]): Html {
  const { places, pageContext } = view
  const lines = rows.map(
    row => html`<tr>${places.map(place => html`<td>${cell(view, id, place, row[place])}</td>`)}</tr>
`,
  )
  return html`<section class="scroll" tabindex="0" aria-label="${pageContext.t('Triples')}"><table class="triples"><thead><tr>${places.map(place => html`<th scope="col">${placeName(place, pageContext)}</th>`)}</tr></thead><tbody>
${lines}</tbody></table></section>`
}

function cell(
  { base, address, foreign, pageContext }: FragmentView,
  id: string | null,
  place: FragmentPlace,
  term: Term | undefined,
): Html | '' {
  if (term === undefined) return ''
  const href = `${address}${asQuery([...foreign, `${place}=${encodeURIComponent(asParameter(term).toWellFormed())}`])}`
  if (term.value === DEFAULT_GRAPH && place === 'graph')
    return html`<a href="${href}" title="${term.value}">${pageContext.t('Default graph')}</a>`
  return termLink(href, term, iri => (id === null ? iri : shortenedTerm(iri, base, id)), pageContext)
}

/** Descriptions are written in HTML; a page shows their words. */
export function fragmentTermText(description: string | null): string {
  return (description ?? '').replace(/<[^<>]*>/g, ' ').trim()
}

/** The content of a page as JSON-LD. */
export function dataBlock(json: string): Html {
  return html`${jsonBlock(json, 'application/ld+json')}
`
}

const SPACES: readonly (readonly [string, string])[] = [
  [RDF.type.replace(/type$/, ''), 'rdf:'],
  [RDFS.label.replace(/label$/, ''), 'rdfs:'],
  [XSD.string.replace(/string$/, ''), 'xsd:'],
  [GEO.wktLiteral.replace(/wktLiteral$/, ''), 'geo:'],
]

function placeName(place: FragmentPlace, { t }: PageContext): string {
  switch (place) {
    case 'subject':
      return t('Subject')
    case 'predicate':
      return t('Predicate')
    case 'object':
      return t('Object')
    case 'graph':
      return t('Graph')
  }
}

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

function asParameter(term: Term): string {
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
  }
}

/** An IRI for display: without the prefix that all IRIs of the dataset share. */
function shortenedTerm(iri: string, base: string, dataset: string): string {
  const spaces = [
    [`${base}/ld/resources/${dataset}/`, ''],
    [`${base}/ld/ontologies/${dataset}/`, ''],
    ...SPACES,
  ] as const
  const found = spaces.find(([space]) => iri.startsWith(space) && iri.length > space.length)
  return found === undefined ? iri : found[1] + iri.slice(found[0].length)
}

function asQuery(parts: readonly string[]): string {
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

/** The form for a pattern: an input for each position, and the other parameters of the address. */
function patternForm(
  action: string,
  places: readonly FragmentPlace[],
  requested: Readonly<Partial<Record<FragmentPlace, string>>>,
  foreign: readonly string[],
  pageContext: PageContext,
): Html {
  const { t } = pageContext
  const fields = places.map(
    place => html`<label><span>${placeName(place, pageContext)}</span> <input name="${place}" value="${requested[place] ?? ''}" placeholder="?${place}" autocapitalize="off" spellcheck="false" dir="ltr"></label>
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
function foundTriples(paged: Paged, table: () => Html): Html {
  const { t } = paged.pageContext
  return paged.count === 0
    ? html`<p class="empty">${t('No triples match.')}</p>`
    : html`<div class="bar-line"><p class="count">${numbers(paged)}</p><p>${steps(paged)}</p></div>
${table()}
<nav class="pager" aria-label="${t('Pages')}">${steps(paged)}</nav>`
}

function termLink(href: string, term: Term, shortened: (iri: string) => string, { t }: PageContext): Html {
  if (term.type !== 'literal')
    return html`<a href="${href}" title="${term.value}">${shortened(term.value)}</a>${
      /^https?:/i.test(term.value)
        ? html` <a class="self" href="${term.value}" title="${t('The resource itself')}" aria-label="${t('The resource itself')}">↗</a>`
        : ''
    }`
  const note = term.language === '' ? shortened(term.datatype) : term.language
  return html`<a href="${href}">${term.value === '' ? '""' : term.value}</a>${
    term.datatype === XSD.string ? '' : html` <small>${note}</small>`
  }`
}
