import type { GraphStatistics } from '../../catalog/graph-statistics.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import { prefixedName } from '../../rdf/prefixes.ts'
import { RDF } from '../../rdf/vocab.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { endpointAddress, endpointPaths } from './endpoints.ts'

/** The address that dereferences an IRI: for those of this portal on the host of the current page. */
export function lookUpAddress({ site }: PageContext, iri: string): string | null {
  if (iri.startsWith(`${site.base}/`))
    return new URL(site.base).pathname.replace(/\/+$/, '') + iri.slice(site.base.length)
  return /^https?:\/\//.test(iri) ? iri : null
}

/** The classes of a graph, the most frequent first; the counts link to the resources. */
export function classList(
  pageContext: PageContext,
  entry: ServedDataset,
  { classes, types }: GraphStatistics,
): Html {
  const { t } = pageContext
  if (classes.length === 0)
    return html`<p class="soft">${t('Resources have no classes: records are subjects, fields are predicates.')}</p>`
  const rows = [...classes]
    .sort((a, b) => b.entities - a.entities)
    .slice(0, MAX)
    .map(({ iri, entities }) => {
      const { href } = endpointAddress(pageContext, endpointPaths(entry.dataset.id).fragments, {
        predicate: RDF.type,
        object: iri,
      })
      return html`<tr><th scope="row">${nameLink(pageContext, entry, iri)}</th><td class="number"><a href="${href}" rel="nofollow">${pageContext.number(entities)}</a></td></tr>
`
    })
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${t('Classes')}"><table class="terms">
<thead><tr><th scope="col">${t('Class')}</th><th scope="col" class="number">${t('Resources')}</th></tr></thead><tbody>${rows}</tbody></table></div>${rest(pageContext, types)}`
}

/** The properties of a graph, the most frequent first. */
export function propertyList(
  pageContext: PageContext,
  entry: ServedDataset,
  { properties, predicates }: GraphStatistics,
): Html {
  const { t } = pageContext
  const rows = [...properties]
    .sort((a, b) => b.triples - a.triples)
    .slice(0, MAX)
    .map(({ iri, triples, subjects, objects }) => {
      const { href } = endpointAddress(pageContext, endpointPaths(entry.dataset.id).fragments, {
        predicate: iri,
      })
      return html`<tr><th scope="row">${nameLink(pageContext, entry, iri)}</th><td class="number"><a href="${href}" rel="nofollow">${pageContext.number(triples)}</a></td><td class="number">${pageContext.number(subjects)}</td><td class="number">${pageContext.number(objects)}</td></tr>
`
    })
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${t('Properties')}"><table class="terms">
<thead><tr><th scope="col">${t('Property')}</th><th scope="col" class="number">${t('Triples')}</th><th scope="col" class="number">${t('Subjects')}</th><th scope="col" class="number">${t('Objects')}</th></tr></thead><tbody>${rows}</tbody></table></div>${rest(pageContext, predicates)}`
}

/** The names without counts, while these are being computed. */
export function usedNames(pageContext: PageContext, entry: ServedDataset, iris: readonly string[]): Html {
  return html`<ul>${iris.map(iri => html`<li>${nameLink(pageContext, entry, iri)}</li>`)}</ul>`
}

const MAX = 100

function rest(pageContext: PageContext, all: number): Html {
  return all <= MAX
    ? html``
    : html`<p class="soft">${pageContext.t('The first {n} of {all}', { n: MAX, all })}</p>`
}

function nameLink(pageContext: PageContext, { prefixes }: ServedDataset, iri: string): Html {
  const address = lookUpAddress(pageContext, iri)
  const name = html`<code>${prefixedName(iri, prefixes) ?? iri}</code>`
  return address === null ? name : html`<a href="${address}" title="${iri}">${name}</a>`
}
