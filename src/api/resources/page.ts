import { type Html, html } from '../../http/html.ts'
import type { Triple } from '../../rdf/ntriples-reader.ts'
import type { Term } from '../../rdf/term.ts'
import { XSD } from '../../rdf/vocab.ts'

/** What a page about a resource shows. */
export interface ResourcePage {
  readonly iri: string
  readonly title: string
  readonly dataset: { readonly title: string; readonly address: string }
  readonly triples: readonly Triple[]
  /** Label by predicate IRI. */
  readonly labels: ReadonlyMap<string, string>
  /** Other forms of the same: media type and address. */
  readonly alternates: readonly { readonly type: string; readonly href: string; readonly name: string }[]
}

/** A resource as a page for people: one row a property, values with their datatype or language. No script. */
export function resourcePage(page: ResourcePage): string {
  const rows = groupByPredicate(page.triples).map(
    ([
      predicate,
      objects,
    ]) => html`<tr><th scope="row"><a href="${predicate}">${label(predicate, page.labels)}</a></th>
<td>${objects.map(object => html`<div>${value(object)}</div>`)}</td></tr>
`,
  )
  return document(
    page.title,
    html`<h1>${page.title}</h1>
<p class="iri">${page.iri}</p>
<p>From the dataset <a href="${page.dataset.address}">${page.dataset.title}</a>.</p>
<table><caption>Properties</caption><tbody>
${rows}</tbody></table>
<p>The same as data: ${page.alternates.map(({ href, name }) => html`<a href="${href}">${name}</a> `)}</p>`,
    page.alternates.map(
      ({ type, href }) => html`<link rel="alternate" type="${type}" href="${href}">
`,
    ),
  )
}

/** A page that says what went wrong. */
export function faultPage(title: string, message: string): string {
  return document(
    title,
    html`<h1>${title}</h1>
<p>${message}</p>`,
  )
}

const STYLE = html`body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2430;background:#fff}
h1{font-size:1.6rem;margin:0}.iri{color:#5a6675;overflow-wrap:anywhere;margin-top:.25rem}a{color:#0b5ba8}
table{border-collapse:collapse;width:100%}caption{text-align:left;font-weight:600;padding:.5rem 0}
th,td{text-align:left;vertical-align:top;padding:.45rem .75rem;border-top:1px solid #dde3ea;overflow-wrap:anywhere}
th{width:16rem;font-weight:500}small{color:#5a6675}`

function document(title: string, body: Html, head: readonly Html[] = []): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${head}<style>${STYLE}</style></head>
<body><main>${body}</main></body></html>
`.html
}

function value(term: Term): Html {
  if (term.type === 'blank') return html`<span>_:${term.value}</span>`
  if (term.type === 'iri') {
    return /^https?:/.test(term.value) ? html`<a href="${term.value}">${term.value}</a>` : html`${term.value}`
  }
  if (term.language !== '')
    return html`<span lang="${term.language}">${term.value}</span> <small>${term.language}</small>`
  if (term.datatype === XSD.string) return html`${term.value}`
  return html`${term.value} <small>${term.datatype.replace(/^.*[#/]/, '')}</small>`
}

function label(predicate: string, labels: ReadonlyMap<string, string>): string {
  return labels.get(predicate) ?? predicate.replace(/^.*[#/]/, '')
}

function groupByPredicate(triples: readonly Triple[]): readonly (readonly [string, readonly Term[]])[] {
  const groups = new Map<string, Term[]>()
  for (const { predicate, object } of triples) {
    const group = groups.get(predicate.value)
    if (group === undefined) groups.set(predicate.value, [object])
    else group.push(object)
  }
  return [...groups]
}
