import { exampleQueries } from '../../catalog/example-queries.ts'
import { directMappingText } from '../../mapping/direct-text.ts'
import { lookup } from '../../model/lookup.ts'
import { type Html, html } from '../../site/html.ts'
import { addressLine, COPY_ISLAND, codeBlock } from '../parts/code.ts'
import type { Token } from '../parts/highlight.ts'
import { doorAddress, doorPaths } from './doors.ts'
import { figuresOf, sampleResource } from './linked-data-figures.ts'
import { classList, lookUpAddress, propertyList, usedNames } from './linked-data-lists.ts'
import type { Tab, TabContext } from './tab.ts'

/** Characters of a mapping that the page shows. */
const LONGEST = 20_000

/** The dataset as a graph: its vocabulary with counts, a resource, queries, where it answers, how it is made. */
export const linkedDataTab: Tab = {
  name: 'linked-data',
  label: 'Linked data',
  isFiltered: false,
  isShown: () => true,
  render: async context => {
    const { visit, entry, services } = context
    const { say } = visit
    const survey = await figuresOf(services, entry)
    const sample = survey === null ? null : await sampleResource(services, entry, survey)
    const intro = say.many(
      '{n} triple in a graph of its own',
      '{n} triples in a graph of its own',
      entry.triples,
    )
    const vocabulary =
      survey === null
        ? pendingVocabulary(context)
        : html`<h2>${say('Classes')}</h2>${classList(visit, entry, survey)}
<h2>${say('Properties')}</h2>${propertyList(visit, entry, survey)}`
    return {
      islands: [COPY_ISLAND],
      body: html`<h2 class="first">${intro}</h2>
${addresses(context)}
${await queries(context)}
${
  sample === null
    ? ''
    : html`<h2>${say('A resource')}</h2>
<p>${addressLine(visit, lookUpAddress(visit, sample.iri) ?? sample.iri, sample.iri)}</p>
${codeBlock(visit, sample.turtle, 'turtle', tokenLink(context))}`
}
${vocabulary}
${mapping(context)}
${prefixes(context)}`,
    }
  },
}

function pendingVocabulary({ visit, entry }: TabContext): Html {
  const { say } = visit
  const { classes, properties } = (entry.semantic ?? {}) as Readonly<
    Record<string, readonly string[] | undefined>
  >
  return html`<h2>${say('Classes and properties')}</h2>
<p class="remark">${say('Their figures are being counted: look again in a minute.')}</p>
${usedNames(visit, entry, [...(classes ?? []), ...(properties ?? [])].slice(0, 100))}`
}

function addresses({ visit, entry }: TabContext): Html {
  const { say } = visit
  const paths = doorPaths(entry.dataset.id)
  const doors = [
    [say('SPARQL endpoint'), paths.sparql],
    [say('Triple pattern fragments'), paths.fragments],
    [say('Description (VoID)'), paths.void],
    [say('The dataset as a resource'), paths.document],
  ] as const
  const exports = [
    ['Turtle', 'turtle'],
    ['N-Triples', 'n3'],
    ['JSON-LD', 'jsonld'],
    ['RDF/XML', 'rdfxml'],
  ] as const
  const files = exports.map(
    ([name, format]) =>
      html`<li><a href="${doorAddress(visit, `${paths.exports}/${format}`).href}" rel="nofollow" download>${name}</a></li> `,
  )
  return html`<dl class="metas">${doors.map(([name, path]) => {
    const { href, address } = doorAddress(visit, path)
    return html`<div><dt>${name}</dt><dd>${addressLine(visit, href, address)}</dd></div>
`
  })}<div><dt>${say('All triples')}</dt><dd><ul class="inline">${files}</ul></dd></div></dl>`
}

async function queries({ visit, entry, services }: TabContext): Promise<Html> {
  const { say } = visit
  const { id } = entry.dataset
  const found = await exampleQueries(services.portal, id, visit.site.base)
  const seen = new Set(
    services.catalog
      .seenBy(visit.principal)
      .current()
      .entries.map(each => each.dataset.id),
  )
  const usual = {
    name: 'first',
    title: say('The first triples'),
    description: null,
    query: 'SELECT ?subject ?predicate ?object WHERE {\n  ?subject ?predicate ?object\n}\nLIMIT 100\n',
    federatesWith: [],
  }
  const items = [...found, usual].map(({ title, description, query, federatesWith }) => {
    const others = federatesWith.filter(other => seen.has(other))
    const target = visit.href('/sparql/', { query, source: [id, ...others] })
    const note =
      others.length === 0
        ? ''
        : html`<p class="soft">${say('It asks these datasets as well: {datasets}', { datasets: others.join(', ') })}</p>`
    return html`<details class="tool"><summary>${title}</summary>${description === null ? '' : html`<p>${description}</p>`}${note}${codeBlock(visit, query.trim(), 'sparql')}<p><a class="button" href="${target}" rel="nofollow">${say('Run it in the playground')}</a></p></details>
`
  })
  return html`<h2>${say('Example queries')}</h2>${items}`
}

/** What makes the triples: the mapping of the dataset, or the direct one, or its own files. */
function mapping({ visit, entry }: TabContext): Html {
  const { say } = visit
  if (entry.content === 'rdf')
    return html`<h2>${say('Where the triples come from')}</h2><p>${say('This dataset is RDF already: its triples are those of its files.')}</p>`
  const text = entry.mapping?.text ?? directMappingText(entry.dataset)
  const cut = text.length > LONGEST ? `${text.slice(0, text.lastIndexOf('\n', LONGEST))}\n# …` : text
  const says =
    entry.mapping === null
      ? say(
          'This dataset has no mapping of its own: a record is a subject, a field a predicate, a value an object.',
        )
      : say('Each record becomes triples by these rules, written in YARRRML.')
  return html`<h2>${say('Mapping')}</h2><p>${says}</p>${codeBlock(visit, cut.trim(), 'yaml')}`
}

function prefixes({ visit, entry }: TabContext): Html {
  const text = Object.entries(entry.prefixes)
    .map(([prefix, space]) => `PREFIX ${prefix}: <${space}>`)
    .join('\n')
  return text === '' ? html`` : html`<h2>${visit.say('Prefixes')}</h2>${codeBlock(visit, text, 'sparql')}`
}

/** Names and IRIs of a Turtle text lead to what they name. */
function tokenLink({ visit, entry }: TabContext): (token: Token) => string | null {
  return ({ kind, text }) => {
    if (kind === 'iri') return lookUpAddress(visit, text.slice(1, -1))
    if (kind !== 'name') return null
    const [prefix = '', local = ''] = text.split(/:(.*)/s)
    const space = lookup(entry.prefixes, prefix)
    return space === undefined || local === '' ? null : lookUpAddress(visit, space + local)
  }
}
