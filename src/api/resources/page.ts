import { naturalDatatype } from '../../mapping/columns.ts'
import { groupedBy } from '../../model/memoised.ts'
import { datasetIri, fieldIri, recordsSpace } from '../../rdf/minted-iris.ts'
import { parseTriples, type Triple } from '../../rdf/ntriples-reader.ts'
import { GEO, RDF } from '../../rdf/vocab.ts'
import type { SitePage } from '../../site/frame.ts'
import { type Html, html, jsonBlock } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { asciiAddress, documentAddress, SPACES } from './address.ts'
import { ontologyIri } from './describe.ts'
import { lastSegment } from './document.ts'
import { ALTERNATES, HTML_TYPE } from './formats.ts'
import { mapOf } from './map.ts'
import { backlinks, neighbourhoodOf, neighbourhoodPicture } from './neighbours.ts'
import { objectsByPredicate, type ResourcePage, ValueWriter } from './values.ts'

/** A thing as an HTML page: its description, its neighbourhood, the links to it, a map of its geometry. */
export function resourcePage(page: ResourcePage): SitePage {
  const { pageContext, gathered, requested, document, base } = page
  const { t } = pageContext
  const { thing, title, names } = gathered
  const own = [...parseTriples(gathered.own)]
  const nested = groupedBy(parseTriples(gathered.nested), ({ subject }) => subject.value)
  const values = new ValueWriter({
    base,
    names,
    nested,
    labels: thing.dataset.labels,
    prefixes: thing.dataset.prefixes ?? {},
    pageContext,
  })
  const types = own.filter(({ predicate }) => predicate.value === RDF.type)
  const rest = own.filter(triple => !types.includes(triple))
  const map = mapOf(
    geometriesOf([...own, ...[...nested.values()].flat(), ...parseTriples(gathered.places)]),
    t,
  )
  const around = neighbourhoodPicture(pageContext, neighbourhoodOf(gathered, rest, values))
  const heading = requested.inverse === null ? title : t('Links to {name}', { name: title })
  const beside = html`${map ?? ''}${requested.inverse === null ? around : ''}`
  const place = heading === thing.dataset.title ? t('The dataset as a resource') : thing.dataset.title
  const kinds = types.flatMap(({ object }) => (object.type === 'iri' ? [values.label(object.value)] : []))
  const { publisher } = thing.dataset
  return {
    title: `${heading} · ${place}`,
    description: [heading, ...kinds, place, ...(publisher === null ? [] : [publisher])].join(' · '),
    path: asciiAddress(document.slice(base.length)),
    part: 'catalog',
    isWide: true,
    head: html`${ALTERNATES.filter(({ type }) => type !== HTML_TYPE).map(
      format => html`<link rel="alternate" type="${format.type}" href="${asciiAddress(documentAddress(base, thing.iri, format))}">
`,
    )}${jsonBlock(page.jsonld, 'application/ld+json')}
`,
    body: html`<div class="resource-head">${crumbs(page)}
<h1>${heading}</h1>
${types.length === 0 ? '' : html`<p class="types">${types.map(({ object }) => html`<span class="badge">${values.value(object)}</span> `)}</p>`}
<p class="iri"><a href="${asciiAddress(thing.iri)}">${thing.iri}</a></p>
${elsewhere(page)}</div>
<div class="resource${beside.html === '' ? '' : ' has-aside'}"><div class="panel">${rest.length === 0 ? '' : properties(rest, values, pageContext)}${fieldsTable(page)}${examples(page, values)}${backlinks(page, values)}${gathered.isCut ? cutNote(page) : ''}</div>
${beside.html === '' ? '' : html`<div class="aside">${beside}</div>`}</div>
${source(page)}`,
  }
}

function crumbs({ base, pageContext: { t, href }, gathered: { thing, title } }: ResourcePage): Html {
  const { dataset, iri, type } = thing
  const start = Object.values(SPACES).find(({ things }) => iri.startsWith(base + things))?.things ?? ''
  const local = iri
    .slice(base.length + start.length)
    .replace(/\/$/, '')
    .split('/')
    .slice(1, -1)
  const inner =
    type === 'property'
      ? [html`<a href="${asciiAddress(ontologyIri(base, dataset.id))}">${t('Properties')}</a>`]
      : local.map(part => html`${lastSegment(part)}`)
  const last =
    type === 'ontology' ? t('Properties') : type === 'dataset' ? t('The dataset as a resource') : title
  const steps = [
    html`<a href="${href('/explore/')}">${t('Datasets')}</a>`,
    html`<a href="${href(`/explore/dataset/${encodeURIComponent(dataset.id)}/`)}">${dataset.title}</a>`,
    ...inner,
  ]
  return html`<nav class="crumbs" aria-label="${t('Where you are')}"><ol>${steps.map(step => html`<li>${step}</li>`)}<li aria-current="page">${last}</li></ol></nav>`
}

/** Links to other views of the thing: in the table of its dataset, among its triples, by a query. */
function elsewhere({ base, pageContext: { t, href }, gathered: { thing } }: ResourcePage): Html {
  const { dataset, iri, type } = thing
  const id = encodeURIComponent(dataset.id)
  const space = recordsSpace(base, dataset.id)
  const record = iri.startsWith(space) ? iri.slice(space.length) : null
  const isRecord = record !== null && /^[0-9a-f]{40}$/.test(record)
  const table = href(`/explore/dataset/${id}/table/`, { where: `recordid = "${record}"` })
  const query = `DESCRIBE <${iri}>`
  return html`<p class="elsewhere">${isRecord ? html`<a href="${table}">${t('Its row in the table')}</a> ` : ''}${
    type === 'dataset' || type === 'ontology'
      ? html`<a href="${href(`/explore/dataset/${id}/`)}">${t('The page of the dataset')}</a> `
      : ''
  }<a href="${base}/api/tpf/${id}?subject=${encodeURIComponent(iri)}">${t('Its triples')}</a> <a href="${href('/sparql/', { query, source: dataset.id })}">${t('Query it with SPARQL')}</a></p>`
}

function properties(triples: readonly Triple[], values: ValueWriter, { t }: PageContext): Html {
  return html`<section id="properties"><h2>${t('Properties')}</h2><table class="properties"><tbody>
${objectsByPredicate(triples).map(
  ([
    predicate,
    objects,
  ]) => html`<tr><th scope="row">${values.predicate(predicate)}</th><td>${values.list(objects, predicate)}</td></tr>
`,
)}</tbody></table></section>
`
}

function fieldsTable({ base, pageContext: { t }, gathered: { thing }, requested }: ResourcePage): Html | '' {
  const { dataset, type } = thing
  if (
    (type !== 'dataset' && type !== 'ontology') ||
    dataset.fields.length === 0 ||
    requested.inverse !== null
  )
    return ''
  return html`<section><h2>${t('Properties of its records')}</h2><div class="scroll" tabindex="0" role="group" aria-label="${t('Properties of its records')}"><table class="fields">
<thead><tr><th scope="col">${t('Property')}</th><th scope="col">${t('Values')}</th><th scope="col">${t('Description')}</th></tr></thead><tbody>
${dataset.fields.map(
  ({
    name,
    label,
    type: kind,
    description,
    multivalued,
  }) => html`<tr><th scope="row"><a href="${asciiAddress(fieldIri(base, dataset.id, name))}">${label}</a></th>
<td>${lastSegment(naturalDatatype(kind))}${multivalued ? html` <span class="badge">${t('several')}</span>` : ''}</td><td>${description}</td></tr>
`,
)}</tbody></table></div></section>
`
}

function examples(
  { pageContext: { t }, gathered: { examples: some } }: ResourcePage,
  values: ValueWriter,
): Html | '' {
  if (some.length === 0) return ''
  return html`<section><h2>${t('Some of its resources')}</h2><ul class="plain">${some.map(
    iri => html`<li>${values.value({ type: 'iri', value: iri })}</li>`,
  )}</ul></section>
`
}

function cutNote({ base, pageContext: { t }, gathered: { thing } }: ResourcePage): Html {
  const address = `${base}/api/tpf/${encodeURIComponent(thing.dataset.id)}?subject=${encodeURIComponent(thing.iri)}`
  return html`<p>${t('There is more than fits on a page.')} <a href="${address}">${t('All triples')}</a></p>
`
}

/** Other formats, and information on the source of the data. */
function source({ base, pageContext, gathered: { thing } }: ResourcePage): Html {
  const { t, href } = pageContext
  const { dataset, iri } = thing
  const name = dataset.licenseName ?? dataset.license
  const licence =
    name === null
      ? ''
      : html`<div><dt>${t('Licence')}</dt><dd>${dataset.license === null || !/^https?:/.test(dataset.license) ? name : html`<a rel="license" href="${dataset.license}">${name}</a>`}</dd></div>`
  return html`<aside class="source" aria-label="${t('Where this comes from')}"><p class="take-away"><span>${t('This page as')}</span> ${ALTERNATES.filter(
    ({ type }) => type !== HTML_TYPE,
  ).map(
    format =>
      html`<a href="${asciiAddress(documentAddress(base, iri, format))}" type="${format.type}">${format.name}</a> `,
  )}</p>
<dl><div><dt>${t('Dataset')}</dt><dd><a href="${href(`/explore/dataset/${encodeURIComponent(dataset.id)}/`)}">${dataset.title}</a> <a class="soft" href="${asciiAddress(datasetIri(base, dataset.id))}">${t('as a resource')}</a></dd></div>${
    dataset.publisher === null ? '' : html`<div><dt>${t('Publisher')}</dt><dd>${dataset.publisher}</dd></div>`
  }${licence}<div><dt>${t('Modified')}</dt><dd><time datetime="${dataset.modified}">${pageContext.date(dataset.modified, 'zoned')}</time></dd></div></dl></aside>`
}

/** The texts of geometries, each once; the first hundred. */
function geometriesOf(triples: readonly Triple[]): readonly string[] {
  const texts = triples.flatMap(({ object }) =>
    object.type === 'literal' && object.datatype === GEO.wktLiteral ? [object.value] : [],
  )
  return [...new Set(texts)].slice(0, 100)
}
