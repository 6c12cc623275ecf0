import { createHash } from 'node:crypto'
import { type Html, html } from '../../http/html.ts'
import { naturalDatatype } from '../../mapping/natural.ts'
import { datasetIri, fieldIri } from '../../rdf/iris.ts'
import { parseTriples, type Triple } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import { GEO, RDF } from '../../rdf/vocab.ts'
import { asciiAddress, documentAddress, SPACES } from './address.ts'
import { ontologyIri } from './describe.ts'
import { type Gathered, lastSegment, type Request } from './document.ts'
import { ALTERNATES, type Format, HTML_TYPE } from './formats.ts'
import { mapOf } from './map.ts'
import { STYLE } from './style.ts'
import { ValueWriter } from './values.ts'

/** What a page about a thing is made of. */
export interface Page {
  readonly base: string
  readonly gathered: Gathered
  readonly asked: Request
  /** Address of the document in any form, and the form that the requested address fixes. */
  readonly document: string
  readonly suffix: Format | null
  /** The same document as JSON-LD, for programs that read pages. */
  readonly jsonld: string
}

/** The page loads and runs nothing: all it needs is the style that stands in it. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors *`

/** A thing as a page for people: what is said of it, what links to it, a map of its geometry. No script runs. */
export function resourcePage(page: Page): string {
  const { gathered, asked, document, base } = page
  const { thing, title, names } = gathered
  const own = [...parseTriples(gathered.own)]
  const nested = bySubject(parseTriples(gathered.nested))
  const values = new ValueWriter({
    base,
    names,
    nested,
    labels: thing.dataset.labels,
    prefixes: thing.dataset.prefixes ?? {},
  })
  const types = own.filter(({ predicate }) => predicate.value === RDF.type)
  const rest = own.filter(triple => !types.includes(triple))
  const map = mapOf(geometriesOf([...own, ...[...nested.values()].flat()]))
  const heading = asked.inverse === null ? title : `Links to ${title}`
  return whole(
    `${heading} · ${thing.dataset.title}`,
    html`${crumbs(page)}
<header><h1>${heading}</h1>
${types.length === 0 ? '' : html`<p class="types">${types.map(({ object }) => html`<span>${values.value(object)}</span> `)}</p>`}
<p class="iri"><a href="${asciiAddress(thing.iri)}">${thing.iri}</a></p></header>
<div class="${map === null ? 'one' : 'two'}">
${rest.length === 0 ? '' : properties(rest, values)}${map ?? ''}</div>
${fieldsTable(page)}${examples(page, values)}${backlinks(page, values)}${gathered.isCut ? cutNote(page) : ''}${footer(page)}`,
    html`${ALTERNATES.filter(({ type }) => type !== HTML_TYPE).map(
      format => html`<link rel="alternate" type="${format.type}" href="${asciiAddress(documentAddress(base, thing.iri, format))}">
`,
    )}<link rel="canonical" href="${asciiAddress(document)}">
<script type="application/ld+json">${{ html: page.jsonld.replaceAll('<', '\\u003c') }}</script>
`,
  )
}

/** A page that says what went wrong. */
export function faultPage(status: number, message: string): string {
  const title =
    status === 404
      ? 'Not found'
      : status === 410
        ? 'Gone'
        : status === 406
          ? 'Not acceptable'
          : `Error ${status}`
  return whole(
    title,
    html`<header><h1>${title}</h1>
<p class="iri">${status}</p></header>
<p>${message}</p>`,
  )
}

function whole(title: string, body: Html, head: Html = html``): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${head}<style>${{ html: STYLE }}</style></head>
<body><main>${body}</main></body></html>
`.html
}

/** The way from the dataset to the thing. */
function crumbs({ base, gathered: { thing, title } }: Page): Html {
  const { dataset, iri, type } = thing
  const start = Object.values(SPACES).find(({ things }) => iri.startsWith(base + things))?.things ?? ''
  const local = iri
    .slice(base.length + start.length)
    .replace(/\/$/, '')
    .split('/')
    .slice(1, -1)
  const inner =
    type === 'property'
      ? [html`<a href="${asciiAddress(ontologyIri(base, dataset.id))}">properties</a>`]
      : local.map(part => html`${lastSegment(part)}`)
  const own =
    type === 'dataset'
      ? []
      : [html`<a href="${asciiAddress(datasetIri(base, dataset.id))}">${dataset.title}</a>`]
  const last = type === 'ontology' ? 'properties' : title
  return html`<nav aria-label="Breadcrumb"><ol>${[...own, ...inner].map(step => html`<li>${step}</li>`)}<li aria-current="page">${last}</li></ol></nav>`
}

/** One row a property, with all its values. */
function properties(triples: readonly Triple[], values: ValueWriter): Html {
  return html`<table class="properties"><caption>Properties</caption><tbody>
${groupByPredicate(triples).map(
  ([
    predicate,
    objects,
  ]) => html`<tr><th scope="row">${values.predicate(predicate)}</th><td>${values.list(objects)}</td></tr>
`,
)}</tbody></table>
`
}

/** The properties that records of a dataset have. */
function fieldsTable({ base, gathered: { thing }, asked }: Page): Html | '' {
  const { dataset, type } = thing
  if ((type !== 'dataset' && type !== 'ontology') || dataset.fields.length === 0 || asked.inverse !== null)
    return ''
  return html`<table class="fields"><caption>Properties of its records</caption>
<thead><tr><th scope="col">Property</th><th scope="col">Values</th><th scope="col">Description</th></tr></thead><tbody>
${dataset.fields.map(
  ({
    name,
    label,
    type: kind,
    description,
    multivalued,
  }) => html`<tr><th scope="row"><a href="${asciiAddress(fieldIri(base, dataset.id, name))}">${label}</a></th>
<td>${lastSegment(naturalDatatype(kind))}${multivalued ? ', several' : ''}</td><td>${description}</td></tr>
`,
)}</tbody></table>
`
}

function examples({ gathered: { examples: some } }: Page, values: ValueWriter): Html | '' {
  if (some.length === 0) return ''
  return html`<section><h2>Some of its resources</h2><ul class="plain">${some.map(
    iri => html`<li>${values.value({ type: 'iri', value: iri })}</li>`,
  )}</ul></section>
`
}

/** What links to the thing: some of each kind with their number, or one page of all. */
function backlinks({ gathered, asked, document, suffix }: Page, values: ValueWriter): Html | '' {
  const { groups, paging } = gathered
  if (groups.length === 0) return ''
  const address = suffix === null ? document : `${document}.${suffix.suffix}`
  const pageAddress = (page: number, predicate: string | null) =>
    `${asciiAddress(address)}?inverse=${page}${predicate === null ? '' : `&predicate=${encodeURIComponent(predicate)}`}`
  const listed = new Map<string, Term[]>()
  for (const { subject, predicate } of parseTriples(gathered.inverse))
    listed.set(predicate.value, [...(listed.get(predicate.value) ?? []), subject])
  const shown = groups.filter(({ predicate }) => listed.has(predicate))
  const last = Math.max(1, Math.ceil(paging.total / paging.size))
  const steps = (
    [
      ['First', 1],
      ['Previous', paging.page - 1],
      ['Next', paging.page + 1],
      ['Last', last],
    ] as const
  ).filter(
    ([name, page]) =>
      (name === 'First' || name === 'Previous' ? paging.page > 1 : paging.page < last) && page >= 1,
  )
  const rows = shown.map(({ predicate, count }) => {
    const subjects = listed.get(predicate) ?? []
    const more =
      asked.inverse === null && count > subjects.length
        ? html`<p class="more"><a href="${pageAddress(1, predicate)}">all ${number(count)}</a></p>`
        : ''
    return html`<tr><th scope="row">is ${values.predicate(predicate)} of <span class="count">${number(count)}</span></th>
<td>${values.list(subjects, 0, paging.size)}${more}</td></tr>
`
  })
  const hidden = asked.inverse === null && groups.length > shown.length
  return html`<section id="links"><table class="properties"><caption>Linked from <span class="count">${number(paging.total)}</span></caption><tbody>
${rows}</tbody></table>
${hidden ? html`<p class="more"><a href="${pageAddress(1, null)}">${number(groups.length - shown.length)} more kinds of links</a></p>` : ''}${
  asked.inverse === null
    ? ''
    : html`<p class="pages">Page ${number(paging.page)} of ${number(last)} ${steps.map(
        ([name, page]) =>
          html`<a rel="${name.toLowerCase().replace('previous', 'prev')}" href="${pageAddress(page, asked.predicate)}">${name}</a> `,
      )}<a href="${asciiAddress(address)}">Back to the whole</a></p>`
}</section>
`
}

function cutNote({ base, gathered: { thing } }: Page): Html {
  const address = `${base}/api/tpf/${encodeURIComponent(thing.dataset.id)}?subject=${encodeURIComponent(thing.iri)}`
  return html`<p>There is more than a page holds: <a href="${address}">all triples</a>.</p>
`
}

/** Other forms, and what is to be known of the data. */
function footer({ base, gathered: { thing } }: Page): Html {
  const { dataset, iri } = thing
  const moment = dataset.modified
  const name = dataset.licenseName ?? dataset.license
  const licence =
    name === null
      ? ''
      : html`<dt>Licence</dt><dd>${dataset.license === null || !/^https?:/.test(dataset.license) ? name : html`<a rel="license" href="${dataset.license}">${name}</a>`}</dd>`
  return html`<footer><p class="formats">As data: ${ALTERNATES.filter(({ type }) => type !== HTML_TYPE).map(
    format =>
      html`<a href="${asciiAddress(documentAddress(base, iri, format))}" type="${format.type}">${format.name}</a> `,
  )}</p>
<dl><dt>Dataset</dt><dd><a href="${asciiAddress(datasetIri(base, dataset.id))}">${dataset.title}</a></dd>${
    dataset.publisher === null ? '' : html`<dt>Publisher</dt><dd>${dataset.publisher}</dd>`
  }${licence}<dt>Modified</dt><dd><time datetime="${moment}">${moment.replace('T', ' ').replace(/:\d\d(\.\d+)?Z$/, ' UTC')}</time></dd></dl></footer>`
}

/** The texts of geometries, each once; the first hundred. */
function geometriesOf(triples: readonly Triple[]): readonly string[] {
  const texts = triples.flatMap(({ object }) =>
    object.type === 'literal' && object.datatype === GEO.wktLiteral ? [object.value] : [],
  )
  return [...new Set(texts)].slice(0, 100)
}

function bySubject(triples: Iterable<Triple>): ReadonlyMap<string, readonly Triple[]> {
  const groups = new Map<string, Triple[]>()
  for (const triple of triples) {
    const group = groups.get(triple.subject.value)
    if (group === undefined) groups.set(triple.subject.value, [triple])
    else group.push(triple)
  }
  return groups
}

/** The objects of each predicate, in the order in which the predicates come first. */
export function groupByPredicate(
  triples: readonly Triple[],
): readonly (readonly [string, readonly Term[]])[] {
  const groups = new Map<string, Term[]>()
  for (const { predicate, object } of triples) {
    const group = groups.get(predicate.value)
    if (group === undefined) groups.set(predicate.value, [object])
    else group.push(object)
  }
  return [...groups]
}

const number = (value: number) => value.toLocaleString('en-GB')
