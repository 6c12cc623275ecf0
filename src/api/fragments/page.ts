import { datasetIri } from '../../rdf/minted-iris.ts'
import { parseTriples, withoutTripleTerms } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import type { SitePage } from '../../site/frame.ts'
import { type Html, html, jsonBlock } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { listAddress } from './address.ts'
import { DEFAULT_GRAPH, type FragmentPlace, type PageDescription } from './metadata.ts'
import {
  asParameter,
  asQuery,
  encoded,
  foundTriples,
  patternForm,
  placeName,
  shortenedTerm,
  termLink,
} from './page-parts.ts'
import { type Content, expandedDocument, expandedGraphs, type QuadContent } from './write.ts'

/** What an HTML page shows in addition to the triples. */
export interface FragmentView extends PageDescription {
  readonly pageContext: PageContext
  /** The requested term of each position, verbatim. */
  readonly requested: Readonly<Partial<Record<FragmentPlace, string>>>
}

/** The terms of a row by their positions. */
type Row = Readonly<Partial<Record<FragmentPlace, Term>>>

/** A page of a fragment of triples; it also contains the data as JSON-LD. */
export function fragmentPage(view: FragmentView, id: string, content: Content): SitePage {
  const { base, dataset, foreign, pageContext } = view
  const { t } = pageContext
  return {
    ...pageOf(view, id, [...parseTriples(content.data)], {
      title: t('Triples of {dataset}', { dataset: dataset.title }),
      crumb: html`<a href="${listAddress(base)}${asQuery(foreign)}">${t('Triple pattern fragments')}</a>`,
      introduction: html`${t('Every triple of the dataset that matches a pattern, in pages. Programs such as Comunica use the same address.')} <a href="${datasetIri(base, id)}">${t('The dataset as a resource')}</a>`,
    }),
    head: dataBlock(expandedDocument(content.metadata, content.graph, withoutTripleTerms(content.data))),
  }
}

/** A page of a fragment of quads; it also contains the data as JSON-LD. */
export function quadPage(view: FragmentView, id: string | null, content: QuadContent): SitePage {
  const { t } = view.pageContext
  const metadata = { name: content.graph, triples: content.metadata.join('') }
  const parts = content.parts.map(({ name, triples }) => ({ name, triples: withoutTripleTerms(triples) }))
  const rows = content.parts.flatMap(({ name, triples }) => {
    const graph: Term = { type: 'iri', value: name ?? DEFAULT_GRAPH }
    return Array.from(parseTriples(triples), triple => ({ ...triple, graph }))
  })
  return {
    ...pageOf(view, id, rows, {
      title: t('Quads of {dataset}', { dataset: view.dataset.title }),
      crumb: html`${t('Quad pattern fragments')}`,
      introduction: html`${t('Every triple that matches a pattern, with its graph, in pages. Programs such as Comunica use the same address.')}`,
    }),
    head: dataBlock(expandedGraphs([metadata, ...parts])),
  }
}

/**
 * A page for users, and for clients that read only HTML. It works without scripts; every term links to the fragment that has
 * it in the same position. No element has a role attribute: RDFa parsers would read it as another triple.
 *
 * @param id of the dataset; null for all of the portal
 */
function pageOf(
  view: FragmentView,
  id: string | null,
  rows: readonly Row[],
  {
    title,
    crumb,
    introduction,
  }: { readonly title: string; readonly crumb: Html; readonly introduction: Html },
): SitePage {
  const { address, dataset, places, requested, foreign, pageContext } = view
  const { t, href } = pageContext
  const home =
    id === null
      ? ''
      : html`<li><a href="${href(`/explore/dataset/${encodeURIComponent(id)}/`)}">${dataset.title}</a></li>`
  return {
    title,
    part: id === null ? 'developers' : 'catalog',
    isWide: true,
    isIndexed: false,
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

/** A term as a link to its fragment; a web address also has a link to itself. */
function cell(
  { base, address, foreign, pageContext }: FragmentView,
  id: string | null,
  place: FragmentPlace,
  term: Term | undefined,
): Html | '' {
  if (term === undefined) return ''
  const href = `${address}${asQuery([...foreign, `${place}=${encoded(asParameter(term))}`])}`
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
