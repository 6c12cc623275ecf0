import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type { Fault } from '../../errors.ts'
import { type Html, html } from '../../http/html.ts'
import { datasetIri } from '../../rdf/iris.ts'
import { type Endpoint, SPARQL_PATH } from './endpoint.ts'
import { GRAPH_FORMATS, RESULT_FORMATS } from './formats.ts'

/** What the page shows below the form. */
export type Shown =
  | { readonly type: 'nothing' }
  /** The answer as SPARQL 1.1 Query Results JSON. */
  | { readonly type: 'results'; readonly json: string }
  | { readonly type: 'graph'; readonly turtle: string }
  | { readonly type: 'fault'; readonly fault: Fault }

/** Rows and characters of an answer that a page shows. */
const MOST_ROWS = 1000
const MOST_CHARACTERS = 200_000

const EXAMPLE = `SELECT * WHERE {
  ?subject ?predicate ?object
}
LIMIT 10`

/** Sends the page on which a person asks an endpoint. It needs no scripts, and its policy lets none run. */
export function sendPage(
  reply: FastifyReply,
  endpoint: Endpoint,
  query: string | null,
  shown: Shown,
): FastifyReply {
  return reply
    .headers({ 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' })
    .type('text/html; charset=utf-8')
    .send(pageText(endpoint, query, shown))
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1c2430;background:#fff}
h1{font-size:1.6rem;margin:0}a{color:#0b5ba8}textarea,select,button{font:inherit}
textarea{font:.9rem/1.45 ui-monospace,monospace;width:100%;box-sizing:border-box;padding:.5rem}
pre{overflow:auto;background:#f5f7fa;padding:.75rem}table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.35rem .75rem;border-top:1px solid #dde3ea;overflow-wrap:anywhere}
small,.soft{color:#5a6675}.bad{border-left:4px solid #b3261e}
:focus-visible{outline:2px solid #0b5ba8;outline-offset:1px}`

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

function pageText(endpoint: Endpoint, query: string | null, shown: Shown): string {
  const { title, address, base } = endpoint
  const formats = [
    ...new Set([...RESULT_FORMATS, ...GRAPH_FORMATS].flatMap(({ names }) => names.slice(0, 1))),
  ]
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>SPARQL: ${title}</title><link rel="icon" href="data:,"><style>${{ html: STYLE }}</style></head>
<body><main><h1>SPARQL: ${title}</h1>
<p class="soft">The endpoint is <code>${address}</code>. It takes SPARQL 1.1 queries and no updates.</p>
<form action="${new URL(address).pathname}" method="get">
<p><label for="query">Query</label><textarea id="query" name="query" rows="12" spellcheck="false">
${query ?? EXAMPLE}</textarea></p>
<p><label for="format">Answer as</label> <select id="format" name="format"><option value="html">a page</option>
${formats.map(name => html`<option>${name}</option>`)}</select> <button>Run</button></p>
</form>
${answer(shown)}<h2>Graphs</h2>
${graphs(endpoint)}<p><a href="${new URL(address).pathname}?format=turtle">Service description</a>
<a href="${new URL(base + SPARQL_PATH).pathname}">All datasets</a></p>
</main></body></html>
`.html
}

function graphs({ base, datasets }: Endpoint): Html {
  return html`<ul>${datasets.map(
    ({ id, title, triples }) =>
      html`<li><a href="${new URL(`${base}${SPARQL_PATH}/${encodeURIComponent(id)}`).pathname}">${title}</a>
<code>${datasetIri(base, id)}</code> <small>${triples.toLocaleString('en')} triples</small></li>
`,
  )}</ul>
`
}

function answer(shown: Shown): Html {
  switch (shown.type) {
    case 'nothing':
      return html``
    case 'results':
      return results(shown.json)
    case 'graph':
      return html`<h2>Answer</h2>
<pre>${cut(shown.turtle)}</pre>
`
    case 'fault':
      return html`<h2>The query was not answered</h2>
<pre class="bad" role="alert">${shown.fault.message}</pre>
`
    default:
      return shown satisfies never
  }
}

function cut(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}\n…`
}

interface Cell {
  readonly type: string
  readonly value: string
  readonly datatype?: string
  readonly 'xml:lang'?: string
}

interface Results {
  readonly head: { readonly vars?: readonly string[] }
  readonly boolean?: boolean
  readonly results?: { readonly bindings: readonly Readonly<Record<string, Cell>>[] }
}

function results(json: string): Html {
  const { head, boolean, results: found } = JSON.parse(json) as Results
  if (found === undefined)
    return html`<h2>Answer</h2>
<p>${boolean === true ? 'Yes' : 'No'}</p>
`
  const names = head.vars ?? []
  const { bindings } = found
  const rows = bindings.slice(0, MOST_ROWS).map(
    row =>
      html`<tr>${names.map(name => html`<td>${Object.hasOwn(row, name) ? cell(row[name]) : ''}</td>`)}</tr>
`,
  )
  const told =
    bindings.length > MOST_ROWS
      ? `The first ${MOST_ROWS} of ${bindings.length} rows`
      : `${bindings.length} rows`
  return html`<h2>Answer</h2>
<table><caption class="soft">${told}</caption><thead><tr>${names.map(name => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${rows}</tbody></table>
`
}

function cell(term: Cell | undefined): Html {
  if (term === undefined) return html``
  const { type, value, datatype, 'xml:lang': language } = term
  if (type === 'uri' && /^https?:/.test(value)) return html`<a href="${value}">${value}</a>`
  if (type === 'bnode') return html`_:${value}`
  const note = language ?? datatype?.replace(/^.*[#/]/, '')
  return note === undefined ? html`${value}` : html`${value} <small>${note}</small>`
}
