import { type Html, html } from '../../http/html.ts'
import { parseTriples } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import { GEO, RDF, RDFS, XSD } from '../../rdf/vocab.ts'
import { fragmentsAddress, listAddress, numberedPage } from './address.ts'
import { expandedDocument } from './jsonld.ts'
import type { PageDescription } from './metadata.ts'
import type { Content } from './write.ts'

const PLACES = ['subject', 'predicate', 'object'] as const

/** What a page for people shows beside the triples. */
export interface PageView extends PageDescription {
  /** What was asked for in each place, as it was written. */
  readonly asked: Readonly<Record<(typeof PLACES)[number], string>>
  /** Address of the dataset as a resource. */
  readonly about: string
}

/**
 * A page of a fragment for people, and for clients that read HTML alone: the whole content stands in it as JSON-LD. It
 * works without scripts; every term leads to the fragment that has it in the same place.
 */
export function fragmentPage(view: PageView, content: Content): string {
  const { base, dataset, count, asked, foreign } = view
  const fields = PLACES.map(
    place => html`<label>${place} <input name="${place}" value="${asked[place]}" placeholder="?${place}"></label>
`,
  )
  const kept = foreign.map(part => {
    const [name = '', ...value] = decoded(part).split('=')
    return html`<input type="hidden" name="${name}" value="${value.join('=')}">`
  })
  return document(
    `Fragment of ${dataset.title}`,
    html`<nav><a href="${listAddress(base)}${asQuery(foreign)}">All datasets</a></nav>
<h1>${dataset.title}</h1>
<p>Triples of the dataset <a href="${view.about}">${dataset.id}</a>. ${plainText(dataset.description)}</p>
<form action="${new URL(fragmentsAddress(base, dataset.id)).pathname}" method="get">${kept}${fields}<button>Find</button>
<p class="soft">An IRI, a literal such as "Paris", "Paris"@fr or "5"^^${XSD.integer}, or nothing for any.</p></form>
${numbers(view)}
${count === 0 ? '' : links(view)}
${count === 0 ? '' : table(view, content.data)}
${links(view)}`,
    expandedDocument(content.metadata, content.graph, content.data),
  )
}

function numbers({ page, pageSize, count }: PageView): Html {
  if (count === 0) return html`<p>No triples match.</p>`
  const first = (page - 1) * pageSize + 1
  const last = Math.min(page * pageSize, count)
  return first > count
    ? html`<p>This page is past the last of ${plain(count)} triples.</p>`
    : html`<p>${plain(first)} to ${plain(last)} of ${plain(count)} triples.</p>`
}

function links({ fragmentIri, page, pageSize, count }: PageView): Html {
  const link = (target: number, text: string) =>
    html`<a href="${numberedPage(fragmentIri, target)}">${text}</a> `
  return html`<nav>${link(1, 'First page')}${page > 1 ? link(page - 1, 'Previous page') : ''}${
    page * pageSize < count ? link(page + 1, 'Next page') : ''
  }</nav>`
}

function table(view: PageView, data: string): Html {
  const rows = [...parseTriples(data)].map(
    triple => html`<tr>${PLACES.map(place => html`<td>${cell(view, place, triple[place])}</td>`)}</tr>
`,
  )
  return html`<table><thead><tr>${PLACES.map(place => html`<th scope="col">${place}</th>`)}</tr></thead><tbody>
${rows}</tbody></table>`
}

/** A term as a link to its fragment; an IRI has one to itself beside. */
function cell({ base, dataset, foreign }: PageView, place: string, term: Term): Html {
  const href = `${fragmentsAddress(base, dataset.id)}${asQuery([...foreign, `${place}=${encoded(asParameter(term))}`])}`
  if (term.type !== 'literal')
    return html`<a href="${href}" title="${term.value}">${shortened(term.value, base, dataset.id)}</a>${
      isWebAddress(term.value)
        ? html` <a class="self" href="${term.value}" title="The resource itself">↗</a>`
        : ''
    }`
  const note = term.language === '' ? shortened(term.datatype, base, dataset.id) : term.language
  return html`<a href="${href}">${term.value === '' ? '""' : term.value}</a>${
    term.datatype === XSD.string ? '' : html` <small>${note}</small>`
  }`
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
    default:
      return term satisfies never
  }
}

const SPACES: readonly (readonly [string, string])[] = [
  [RDF.type.replace(/type$/, ''), 'rdf:'],
  [RDFS.label.replace(/label$/, ''), 'rdfs:'],
  [XSD.string.replace(/string$/, ''), 'xsd:'],
  [GEO.wktLiteral.replace(/wktLiteral$/, ''), 'geo:'],
]

/** An IRI as people read it: without what all of the dataset have in common. */
function shortened(iri: string, base: string, dataset: string): string {
  const spaces = [
    [`${base}/ld/resources/${dataset}/`, ''],
    [`${base}/ld/ontologies/${dataset}/`, ''],
    ...SPACES,
  ] as const
  const found = spaces.find(([space]) => iri.startsWith(space) && iri.length > space.length)
  return found === undefined ? iri : found[1] + iri.slice(found[0].length)
}

/** Nothing else is made a link: `javascript:` is an IRI too. */
function isWebAddress(iri: string): boolean {
  return /^https?:/i.test(iri)
}

/** Descriptions are written in HTML; a page shows their words. */
export function plainText(description: string | null): string {
  return (description ?? '').replace(/<[^<>]*>/g, ' ').trim()
}

function asQuery(parts: readonly string[]): string {
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

function decoded(part: string): string {
  return decodeURIComponent(part.replaceAll('+', ' '))
}

/** A lone surrogate, which no address can hold, never matches anything. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function plain(number: number): string {
  return number.toLocaleString('en')
}

const STYLE = html`body{font:16px/1.5 system-ui,sans-serif;max-width:80rem;margin:2rem auto;padding:0 1rem;color:#1c2430;background:#fff}
h1{font-size:1.6rem;margin:.25rem 0}a{color:#0b5ba8;text-decoration:none}a:hover{text-decoration:underline}.soft,small,.self{color:#5a6675}
.soft{font-size:.85rem;margin:.25rem 0}form{display:grid;gap:.5rem;background:#f5f7fa;border:1px solid #dde3ea;border-radius:.4rem;padding:1rem}
label{display:grid;grid-template-columns:6rem 1fr;align-items:center}input,button{font:inherit;padding:.35rem .5rem}
button{justify-self:start;padding:.35rem 1.25rem}nav a{margin-right:1rem}
table{border-collapse:collapse;width:100%;table-layout:fixed}th,td{text-align:left;vertical-align:top;padding:.35rem .75rem .35rem 0;border-top:1px solid #dde3ea;overflow-wrap:anywhere}
@media (prefers-color-scheme:dark){body{color:#e4e9f0;background:#151a21}a{color:#7db8f5}.soft,small,.self{color:#a3afbf}form{background:#1e252e;border-color:#38424f}th,td{border-color:#38424f}}`

/** Nothing is run and nothing is fetched. */
export const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** A page with its content as JSON-LD, in which no `<` is left that could end it. */
export function document(title: string, body: Html, json: string): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${STYLE}</style>
<script type="application/ld+json">${{ html: json.replaceAll('<', '\\u003c') }}</script></head>
<body>${body}</body></html>
`.html
}
