import { parseTriples, withoutTripleTerms } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import type { SitePage } from '../../site/frame.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { fragmentsAddress, listAddress } from './address.ts'
import { expandedDocument } from './jsonld.ts'
import type { PageDescription } from './metadata.ts'
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
  const { base, dataset, requested, foreign, pageContext } = view
  const { t, href } = pageContext
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
${patternForm(fragmentsAddress(base, dataset.id), PLACES, requested, foreign, pageContext)}
${foundTriples(view, () => table(view, content.data))}`,
  }
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
function cell({ base, dataset, foreign, pageContext }: PageView, place: string, term: Term): Html {
  const href = `${fragmentsAddress(base, dataset.id)}${asQuery([...foreign, `${place}=${encoded(asParameter(term))}`])}`
  return termLink(href, term, iri => shortenedTerm(iri, base, dataset.id), pageContext)
}

/** Descriptions are written in HTML; a page shows their words. */
export function fragmentTermText(description: string | null): string {
  return (description ?? '').replace(/<[^<>]*>/g, ' ').trim()
}

/** The content of a page as JSON-LD, in which no `<` is left that could end it. */
export function dataBlock(json: string): Html {
  return html`<script type="application/ld+json">${{ html: json.replaceAll('<', '\\u003c') }}</script>
`
}
