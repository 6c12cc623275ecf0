import { exampleQueries } from '../../catalog/example-queries.ts'
import type { GraphStatistics } from '../../catalog/graph-statistics.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import { directMappingText } from '../../mapping/direct.ts'
import { lookup } from '../../model/lookup.ts'
import { recordsSpace } from '../../rdf/minted-iris.ts'
import { prefixedName } from '../../rdf/prefixes.ts'
import { RDF } from '../../rdf/vocab.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { rootOf } from '../../site/signed-in.ts'
import { addressLine, COPY_ISLAND, codeBlock, type HighlightToken } from '../parts/highlight.ts'
import { graphStatisticsOf, sampleResource } from './linked-data-statistics.ts'
import { endpointAddress, endpointPaths, type Tab, type TabContext } from './tab.ts'

/** Maximum characters of a mapping on the page. */
const MAX_LENGTH = 20_000

/** The dataset as a graph: its vocabulary with counts, a resource, queries, endpoints, the mapping. */
export const linkedDataTab: Tab = {
  name: 'linked-data',
  label: 'Linked data',
  render: async context => {
    const { pageContext, entry, services } = context
    const { t } = pageContext
    const graphStatistics = await graphStatisticsOf(services, entry)
    const sample = graphStatistics === null ? null : await sampleResource(services, entry, graphStatistics)
    const intro = t.many(
      '{n} triple in a graph of its own',
      '{n} triples in a graph of its own',
      entry.triples,
    )
    const vocabulary =
      graphStatistics === null
        ? pendingVocabulary(context)
        : html`<h2>${t('Classes')}</h2>${classList(pageContext, entry, graphStatistics)}
<h2>${t('Properties')}</h2>${propertyList(pageContext, entry, graphStatistics)}${characteristicSets(pageContext, entry, graphStatistics)}`
    return {
      islands: [COPY_ISLAND],
      body: html`<h2 class="first">${intro}</h2>
${addresses(context)}
${await queries(context)}
${
  sample === null
    ? ''
    : html`<h2>${t('A resource')}</h2>
<p>${addressLine(pageContext, lookUpAddress(pageContext, sample.iri) ?? sample.iri, sample.iri)}</p>
${codeBlock(pageContext, sample.turtle, 'turtle', tokenLink(context))}`
}
${vocabulary}
${mapping(context)}
${prefixes(context)}`,
    }
  },
}

function pendingVocabulary({ pageContext, entry }: TabContext): Html {
  const { t } = pageContext
  const { classes, properties } = (entry.semantic ?? {}) as Readonly<
    Record<string, readonly string[] | undefined>
  >
  return html`<h2>${t('Classes and properties')}</h2>
<p class="remark">${t('Their statistics are being computed: look again in a minute.')}</p>
<ul>${[...(classes ?? []), ...(properties ?? [])].slice(0, 100).map(iri => html`<li>${nameLink(pageContext, entry, iri)}</li>`)}</ul>`
}

function addresses({ pageContext, entry }: TabContext): Html {
  const { t } = pageContext
  const paths = endpointPaths(entry.dataset.id)
  const endpoints = [
    [t('SPARQL endpoint'), paths.sparql],
    [t('Triple pattern fragments'), paths.fragments],
    // The HTML page of the description redirects to this tab, so a data format is named.
    [t('Description (VoID)'), paths.void, { format: 'turtle' }],
    ...(entry.content === 'rdf' ? [] : [[t('Shapes (SHACL)'), paths.shapes] as const]),
    [t('The dataset as a resource'), paths.document],
  ] as const
  const exports = [
    ['Turtle', 'turtle'],
    ['N-Triples', 'n3'],
    ['JSON-LD', 'jsonld'],
    ['RDF/XML', 'rdfxml'],
  ] as const
  const files = exports.map(
    ([name, format]) =>
      html`<li><a href="${endpointAddress(pageContext, `${paths.exports}/${format}`).href}" rel="nofollow" download>${name}</a></li> `,
  )
  return html`<dl class="metas">${endpoints.map(([name, path, parameters]) => {
    const { href } = endpointAddress(pageContext, path, parameters)
    const { address } = endpointAddress(pageContext, path)
    return html`<div><dt>${name}</dt><dd>${addressLine(pageContext, href, address)}</dd></div>
`
  })}<div><dt>${t('All triples')}</dt><dd><ul class="inline">${files}</ul></dd></div></dl>`
}

async function queries({ pageContext, entry, services }: TabContext): Promise<Html> {
  const { t } = pageContext
  const { id } = entry.dataset
  const found = await exampleQueries(services.portal, id, pageContext.site.base)
  const visible = new Set(
    services.catalog
      .visibleTo(pageContext.principal)
      .current()
      .entries.map(each => each.dataset.id),
  )
  const standard = {
    name: 'first',
    title: t('The first triples'),
    description: null,
    query: 'SELECT ?subject ?predicate ?object WHERE {\n  ?subject ?predicate ?object\n}\nLIMIT 100\n',
    federatesWith: [],
  }
  const items = [...found, standard].map(({ title, description, query, federatesWith }) => {
    const others = federatesWith.filter(other => visible.has(other))
    const target = pageContext.href('/sparql/', { query, source: [id, ...others] })
    const note =
      others.length === 0
        ? ''
        : html`<p class="soft">${t('It also queries these datasets: {datasets}', { datasets: others.join(', ') })}</p>`
    return html`<details class="tool"><summary>${title}</summary>${description === null ? '' : html`<p>${description}</p>`}${note}${codeBlock(pageContext, query.trim(), 'sparql')}<p><a class="button" href="${target}" rel="nofollow">${t('Run it in the playground')}</a></p></details>
`
  })
  return html`<h2>${t('Example queries')}</h2>${items}`
}

/** The origin of the triples: the mapping of the dataset, or the direct one, or its own files. */
function mapping({ pageContext, entry }: TabContext): Html {
  const { t } = pageContext
  if (entry.content === 'rdf')
    return html`<h2>${t('Where the triples come from')}</h2><p>${t('This dataset is RDF already: its triples are those of its files.')}</p>`
  const text = entry.mapping?.text ?? directMappingText(entry.dataset)
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, text.lastIndexOf('\n', MAX_LENGTH))}\n# …` : text
  const description =
    entry.mapping === null
      ? t(
          'This dataset has no mapping of its own: a record is a subject, a field a predicate, a value an object.',
        )
      : t('These rules, written in YARRRML, turn each record into triples.')
  return html`<h2>${t('Mapping')}</h2><p>${description}</p>${codeBlock(pageContext, cut.trim(), 'yaml')}`
}

function prefixes({ pageContext, entry }: TabContext): Html {
  const text = Object.entries(entry.prefixes)
    .map(([prefix, space]) => `PREFIX ${prefix}: <${space}>`)
    .join('\n')
  return text === ''
    ? html``
    : html`<h2>${pageContext.t('Prefixes')}</h2>${codeBlock(pageContext, text, 'sparql')}`
}

function tokenLink({ pageContext, entry }: TabContext): (token: HighlightToken) => string | null {
  const records = recordsSpace(pageContext.site.base, entry.dataset.id)
  return ({ kind, text }) => {
    // The space of records is a prefix of their IRIs, and no resource.
    if (kind === 'iri') return text === `<${records}>` ? null : lookUpAddress(pageContext, text.slice(1, -1))
    if (kind !== 'name') return null
    const [prefix = '', local = ''] = text.split(/:(.*)/s)
    const space = lookup(entry.prefixes, prefix)
    return space === undefined || local === '' ? null : lookUpAddress(pageContext, space + local)
  }
}

/** Maximum number of sets on a page; the description in VoID has more. */
const MAX_SHOWN = 20

/** The characteristic sets of a graph, those of the most resources first. */
export function characteristicSets(
  pageContext: PageContext,
  entry: ServedDataset,
  { planner }: GraphStatistics,
): Html {
  const { t, number } = pageContext
  if (planner == null || planner.sets.length === 0) return html``
  const names = (iris: readonly string[]) =>
    iris.map(iri => prefixedName(iri, entry.prefixes) ?? iri).join(', ')
  const shown = planner.sets.slice(0, MAX_SHOWN)
  const rows = shown.map(
    ({ classes, subjects, properties }) =>
      html`<tr><td>${names(classes)}</td><td>${names(properties.map(({ iri }) => iri))}</td><td class="number">${number(subjects)}</td></tr>
`,
  )
  const left =
    planner.setCount > shown.length
      ? html`<p class="soft">${t('The first {shown} of {n} rows', { shown: shown.length, n: planner.setCount })}</p>`
      : ''
  return html`<h2>${t('Characteristic sets')}</h2>
<p class="soft">${t('Resources that have the same classes and properties, as query planners use them.')}</p>
<div class="scroll" tabindex="0" role="region" aria-label="${t('Characteristic sets')}"><table class="terms">
<thead><tr><th scope="col">${t('Classes')}</th><th scope="col">${t('Properties')}</th><th scope="col" class="number">${t('Resources')}</th></tr></thead><tbody>${rows}</tbody></table></div>${left}`
}

/** The address that dereferences an IRI: for those of this portal on the host of the current page. */
function lookUpAddress({ site }: PageContext, iri: string): string | null {
  if (iri.startsWith(`${site.base}/`)) return rootOf(site) + iri.slice(site.base.length)
  return /^https?:\/\//.test(iri) ? iri : null
}

function classList(
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

function propertyList(
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
