import type { GraphSurvey } from '../../catalog/graph-statistics.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import { RDF } from '../../rdf/vocab.ts'
import { type Html, html } from '../../site/html.ts'
import type { Visit } from '../../site/page-context.ts'
import { doorAddress, doorPaths } from './doors.ts'

/** An IRI as queries write it. */
function shortName(iri: string, prefixes: ServedDataset['prefixes']): string {
  const [prefix, space] =
    Object.entries(prefixes)
      .filter(([, space]) => iri.startsWith(space) && iri !== space)
      .sort(([, a], [, b]) => b.length - a.length)[0] ?? []
  return prefix === undefined || space === undefined ? iri : `${prefix}:${iri.slice(space.length)}`
}

/** Where an IRI is looked up: those of this portal on the host that the reader is on. */
export function lookUpAddress({ site }: Visit, iri: string): string | null {
  if (iri.startsWith(`${site.base}/`))
    return new URL(site.base).pathname.replace(/\/+$/, '') + iri.slice(site.base.length)
  return /^https?:\/\//.test(iri) ? iri : null
}

/** The classes of a graph, the most frequent first; the counts lead to the resources. */
export function classList(visit: Visit, entry: ServedDataset, { classes, types }: GraphSurvey): Html {
  const { say } = visit
  if (classes.length === 0)
    return html`<p class="soft">${say('No resource has a class: records are subjects, fields predicates.')}</p>`
  const rows = [...classes]
    .sort((a, b) => b.entities - a.entities)
    .slice(0, MOST)
    .map(({ iri, entities }) => {
      const { href } = doorAddress(visit, doorPaths(entry.dataset.id).fragments, {
        predicate: RDF.type,
        object: iri,
      })
      return html`<tr><th scope="row">${nameLink(visit, entry, iri)}</th><td class="number"><a href="${href}" rel="nofollow">${visit.number(entities)}</a></td></tr>
`
    })
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${say('Classes')}"><table class="terms">
<thead><tr><th scope="col">${say('Class')}</th><th scope="col" class="number">${say('Resources')}</th></tr></thead><tbody>${rows}</tbody></table></div>${rest(visit, types)}`
}

/** The properties of a graph, the most frequent first. */
export function propertyList(
  visit: Visit,
  entry: ServedDataset,
  { properties, predicates }: GraphSurvey,
): Html {
  const { say } = visit
  const rows = [...properties]
    .sort((a, b) => b.triples - a.triples)
    .slice(0, MOST)
    .map(({ iri, triples, subjects, objects }) => {
      const { href } = doorAddress(visit, doorPaths(entry.dataset.id).fragments, { predicate: iri })
      return html`<tr><th scope="row">${nameLink(visit, entry, iri)}</th><td class="number"><a href="${href}" rel="nofollow">${visit.number(triples)}</a></td><td class="number">${visit.number(subjects)}</td><td class="number">${visit.number(objects)}</td></tr>
`
    })
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${say('Properties')}"><table class="terms">
<thead><tr><th scope="col">${say('Property')}</th><th scope="col" class="number">${say('Triples')}</th><th scope="col" class="number">${say('Subjects')}</th><th scope="col" class="number">${say('Objects')}</th></tr></thead><tbody>${rows}</tbody></table></div>${rest(visit, predicates)}`
}

/** The names without counts, while these are being made. */
export function usedNames(visit: Visit, entry: ServedDataset, iris: readonly string[]): Html {
  return html`<ul>${iris.map(iri => html`<li>${nameLink(visit, entry, iri)}</li>`)}</ul>`
}

const MOST = 100

function rest(visit: Visit, all: number): Html {
  return all <= MOST
    ? html``
    : html`<p class="soft">${visit.say('The first {n} of {all}', { n: MOST, all })}</p>`
}

function nameLink(visit: Visit, { prefixes }: ServedDataset, iri: string): Html {
  const address = lookUpAddress(visit, iri)
  const name = html`<code>${shortName(iri, prefixes)}</code>`
  return address === null ? name : html`<a href="${address}" title="${iri}">${name}</a>`
}
