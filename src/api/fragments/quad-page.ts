import { parseTriples, withoutTripleTerms } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import type { SitePage } from '../../site/frame.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { expandedGraphs } from './jsonld.ts'
import { DEFAULT_GRAPH, type FragmentPlace, type PageDescription, QUAD_PLACES } from './metadata.ts'
import { dataBlock } from './page.ts'
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
import type { QuadContent } from './write.ts'

/** What a page of quads for people shows beside them. */
export interface QuadPageView extends PageDescription {
  readonly pageContext: PageContext
  /** Id of the dataset; null for the quads of the portal. */
  readonly id: string | null
  /** What was asked for in each place, as it was written. */
  readonly requested: Readonly<Record<FragmentPlace, string>>
}

/**
 * A page of quads for people, and for clients that read HTML alone: the whole content stands in it as JSON-LD. It works
 * without scripts; every term leads to the fragment that has it in the same place.
 */
export function quadPage(view: QuadPageView, content: QuadContent): SitePage {
  const { id, address, requested, dataset, foreign, pageContext } = view
  const { t, href } = pageContext
  const title = t('Quads of {dataset}', { dataset: dataset.title })
  const crumb =
    id === null
      ? ''
      : html`<li><a href="${href(`/explore/dataset/${encodeURIComponent(id)}/`)}">${dataset.title}</a></li>`
  const metadata = { name: content.graph, triples: content.metadata.join('') }
  const parts = content.parts.map(({ name, triples }) => ({ name, triples: withoutTripleTerms(triples) }))
  return {
    title,
    part: id === null ? 'developers' : 'catalog',
    isWide: true,
    isIndexed: false,
    head: dataBlock(expandedGraphs([metadata, ...parts])),
    body: html`<nav class="crumbs" aria-label="${t('Where you are')}"><ol><li><a href="${href('/explore/')}">${t('Datasets')}</a></li>${crumb}<li>${t('Quad pattern fragments')}</li></ol></nav>
<h1>${title}</h1>
<p class="soft">${t('Every triple that fits a pattern, with the graph that it stands in, page by page. Programs such as Comunica ask the same address.')}</p>
${patternForm(address, QUAD_PLACES, requested, foreign, pageContext)}
${foundTriples(view, () => table(view, content.parts))}`,
  }
}

function table(view: QuadPageView, parts: QuadContent['parts']): Html {
  const { t } = view.pageContext
  const rows = parts.flatMap(({ name, triples }) =>
    Array.from(parseTriples(triples), ({ subject, predicate, object }) => {
      const graph: Term = { type: 'iri', value: name ?? DEFAULT_GRAPH }
      const quad = { subject, predicate, object, graph }
      return html`<tr>${QUAD_PLACES.map(place => html`<td>${cell(view, place, quad[place])}</td>`)}</tr>
`
    }),
  )
  return html`<section class="scroll" tabindex="0" aria-label="${t('Triples')}"><table class="triples"><thead><tr>${QUAD_PLACES.map(place => html`<th scope="col">${placeName(place, view.pageContext)}</th>`)}</tr></thead><tbody>
${rows}</tbody></table></section>`
}

/** A term as a link to its fragment; an IRI of the web has one to itself beside. */
function cell(
  { base, id, address, foreign, pageContext }: QuadPageView,
  place: FragmentPlace,
  term: Term,
): Html {
  const href = `${address}${asQuery([...foreign, `${place}=${encoded(asParameter(term))}`])}`
  const short = (iri: string) => (id === null ? iri : shortenedTerm(iri, base, id))
  if (term.value === DEFAULT_GRAPH && place === 'graph')
    return html`<a href="${href}" title="${term.value}">${pageContext.t('Default graph')}</a>`
  return termLink(href, term, short, pageContext)
}
