import type { FastifyReply } from 'fastify'
import type { Fault } from '../../errors/errors.ts'
import { lookup } from '../../model/lookup.ts'
import { datasetIri } from '../../rdf/minted-iris.ts'
import { sendSitePage } from '../../site/frame.ts'
import { type Html, html } from '../../site/html.ts'
import type { PageContext } from '../../site/page-context.ts'
import { EXTENSION_AGGREGATES, EXTENSION_FUNCTIONS } from '../../sparql/extensions.ts'
import type { Rest } from '../../sparql/result-formats.ts'
import { SPARQL_LANGUAGES } from './description.ts'
import { SPARQL_PATH, type SparqlEndpoint } from './endpoint.ts'
import { GRAPH_FORMATS, RESULT_FORMATS } from './formats.ts'

/** The content below the form. */
export type ShownAnswer =
  | { readonly type: 'nothing' }
  /** The answer as SPARQL 1.1 Query Results JSON. */
  | { readonly type: 'results'; readonly json: string }
  | { readonly type: 'graph'; readonly turtle: string }
  | { readonly type: 'fault'; readonly fault: Fault }

/** Maximum rows and characters of an answer on a page. */
const MAX_ROWS = 1000
const MAX_CHARACTERS = 200_000

const EXAMPLE = `SELECT * WHERE {
  ?subject ?predicate ?object
}
LIMIT 10`

/** Sends the query page of an endpoint. It needs no scripts. */
export function sendSparqlPage(
  reply: FastifyReply,
  pageContext: PageContext,
  endpoint: SparqlEndpoint,
  query: string | null,
  shown: ShownAnswer,
  status = 200,
): FastifyReply {
  const { title, address, base, datasets } = endpoint
  const { t, href } = pageContext
  const formats = [
    ...new Set([...RESULT_FORMATS, ...GRAPH_FORMATS].flatMap(({ names }) => names.slice(0, 1))),
  ]
  const { pathname } = new URL(address)
  const [only] = address === base + SPARQL_PATH ? [] : datasets
  const playground = href('/sparql/', { query: query ?? undefined, source: only?.id })
  return sendSitePage(reply, pageContext, {
    title: `SPARQL: ${title}`,
    part: 'playground',
    isWide: true,
    isIndexed: query === null,
    status,
    body: html`<h1>SPARQL: ${title}</h1>
<p class="soft">${t('The endpoint takes SPARQL 1.1 queries and no updates:')} <code>${address}</code></p>
<form class="filter" action="${pathname}" method="get">
<p><label for="query">${t('Query')}</label><textarea id="query" name="query" rows="12" spellcheck="false">
${query ?? EXAMPLE}</textarea></p>
<p class="words"><label for="format">${t('Answer as')}</label> <select id="format" name="format"><option value="html">${t('a page')}</option>
${formats.map(name => html`<option>${name}</option>`)}</select> <button>${t('Run')}</button>
<a href="${playground}">${t('Open in the playground')}</a></p>
</form>
${answer(pageContext, shown)}<h2>${t('Graphs')}</h2>
${graphs(pageContext, endpoint)}${abilities(pageContext)}<p class="take-away"><a href="${pathname}?format=turtle">${t('Service description')}</a>
<a href="${new URL(base + SPARQL_PATH).pathname}">${t('All datasets')}</a></p>`,
  })
}

/** The extensions of the endpoint beyond SPARQL, as in its machine-readable description. */
function abilities({ t }: PageContext): Html {
  const list = (title: string, iris: readonly string[]) =>
    html`<details class="tool"><summary>${title}</summary><ul class="plain">${iris.map(iri => html`<li><code>${iri}</code></li>`)}</ul></details>
`
  return html`<h2>${t('Query languages and functions')}</h2>
<ul class="plain">${SPARQL_LANGUAGES.map(({ iri, title }) => html`<li>${title} <span class="soft"><code>${iri}</code></span></li>`)}</ul>
${list(t('Functions beyond SPARQL'), EXTENSION_FUNCTIONS)}${list(t('Aggregates beyond SPARQL'), EXTENSION_AGGREGATES)}`
}

function graphs({ t }: PageContext, { base, datasets }: SparqlEndpoint): Html {
  return html`<ul class="plain graphs">${datasets.map(
    ({ id, title, triples }) =>
      html`<li><a href="${new URL(`${base}${SPARQL_PATH}/${encodeURIComponent(id)}`).pathname}">${title}</a>
<span class="soft">${t.many('{n} triple', '{n} triples', triples)}</span><br><code>${datasetIri(base, id)}</code></li>
`,
  )}</ul>
`
}

function answer(pageContext: PageContext, shown: ShownAnswer): Html {
  const { t } = pageContext
  switch (shown.type) {
    case 'nothing':
      return html``
    case 'results':
      return results(pageContext, shown.json)
    case 'graph':
      return html`<h2>${t('Answer')}</h2>
<pre tabindex="0">${shown.turtle.length <= MAX_CHARACTERS ? shown.turtle : `${shown.turtle.slice(0, MAX_CHARACTERS)}\n…`}</pre>
`
    case 'fault':
      return html`<h2>${t('The query was not answered')}</h2>
<div class="fault" role="alert"><pre>${shown.fault.message}</pre></div>
`
  }
}

type Cell =
  | {
      readonly type: 'uri' | 'bnode' | 'literal'
      readonly value: string
      readonly datatype?: string
      readonly 'xml:lang'?: string
    }
  | { readonly type: 'triple'; readonly value: Readonly<Record<(typeof PARTS)[number], Cell>> }

const PARTS = ['subject', 'predicate', 'object'] as const

interface Results {
  readonly head: { readonly vars?: readonly string[] }
  readonly boolean?: boolean
  readonly results?: { readonly bindings: readonly Readonly<Record<string, Cell>>[] }
  readonly continuation?: Rest
}

function results({ t }: PageContext, json: string): Html {
  const { head, boolean, results: found, continuation } = JSON.parse(json) as Results
  if (found === undefined)
    return html`<h2>${t('Answer')}</h2>
<p>${boolean === true ? t('Yes') : t('No')}</p>
`
  const names = head.vars ?? []
  const { bindings } = found
  const rows = bindings.slice(0, MAX_ROWS).map(
    row =>
      html`<tr>${names.map(name => html`<td>${cell(lookup(row, name))}</td>`)}</tr>
`,
  )
  const described =
    bindings.length > MAX_ROWS
      ? t('The first {shown} of {n} rows', { shown: MAX_ROWS, n: bindings.length })
      : t.many('{n} row', '{n} rows', bindings.length)
  return html`<h2>${t('Answer')}</h2>
<p class="count">${described}</p>
${restLink(t, continuation)}<div class="scroll" tabindex="0" role="group" aria-label="${t('Answer')}"><table class="records"><thead><tr>${names.map(name => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${rows}</tbody></table></div>
`
}

function restLink(t: PageContext['t'], rest: Rest | undefined): Html {
  if (rest === undefined) return html``
  const { pathname, search } = new URL(rest.next ?? 'urn:none')
  return html`<p class="soft">${t('The time limit was reached, so some rows are missing.')}${
    rest.next === undefined ? '' : html` <a href="${pathname}${search}" rel="next">${t('Continue')}</a>`
  }</p>
`
}

function cell(term: Cell | undefined): Html {
  if (term === undefined) return html``
  if (term.type === 'triple')
    return html`&lt;&lt;( ${PARTS.map(part => html`${cell(term.value[part])} `)})&gt;&gt;`
  const { type, value, datatype, 'xml:lang': language } = term
  if (type === 'uri' && /^https?:/.test(value)) return html`<a href="${value}">${value}</a>`
  if (type === 'bnode') return html`_:${value}`
  const note = language ?? datatype?.replace(/^.*[#/]/, '')
  return note === undefined ? html`${value}` : html`${value} <small>${note}</small>`
}
