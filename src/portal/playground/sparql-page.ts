import type { FastifyReply, FastifyRequest } from 'fastify'
import { queryPrefixes } from '../../catalog/example-queries.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { file, sendSitePage } from '../../site/frame.ts'
import { type Html, html, jsonBlock } from '../../site/html.ts'
import { type PageContext, pageContextOf } from '../../site/page-context.ts'
import { languageField } from '../parts/form-fields.ts'
import { highlight } from '../parts/highlight.ts'
import { datasetTitle, type SiteServices } from '../services.ts'
import { endpointPath } from './endpoint-path.ts'
import {
  ACCESS_PATHS,
  type AccessPath,
  type PlaygroundState,
  playgroundParameters,
  readPlayground,
} from './sparql-request.ts'

const SPARQL_PAGE = '/sparql/'

/**
 * Answers with the SPARQL playground: the browser itself runs the query over fragments or endpoints of the chosen datasets.
 * `run=endpoint`, which browsers without scripts send, redirects to the endpoint with the same answer. Faults: those of
 * {@link readPlayground}.
 */
export async function answerSparqlPage(
  request: FastifyRequest,
  reply: FastifyReply,
  services: SiteServices,
): Promise<FastifyReply> {
  const pageContext = pageContextOf(request, services)
  const query = request.query as QueryParameters
  const state = await readPlayground(query, services, request.principal)
  const { t, href } = pageContext
  const ids = state.chosen.map(({ dataset: { id } }) => id)
  const root = new URL(services.base).pathname.replace(/\/+$/, '')
  if (query.run === 'endpoint')
    return reply
      .code(303)
      .header('location', root + endpointPath(state.query, ids, services.base, 'html'))
      .send()
  const { entries } = services.catalog.visibleTo(request.principal).current()
  const twin = root + endpointPath(state.query, ids, services.base, 'json')
  return sendSitePage(reply, pageContext, {
    title: t('SPARQL playground'),
    description: t('Query several datasets at once with SPARQL; the query runs in the browser.'),
    part: 'playground',
    isWide: true,
    isIndexed: query.query === undefined,
    islands: ['sparql.js'],
    head: html`<link rel="alternate" type="application/sparql-results+json" href="${twin}">`,
    body: html`<div class="play-head"><h1>${t('SPARQL playground')}</h1>
<p>${t('The query runs in your browser, which queries the datasets that you choose and joins their answers.')} <a href="${href('/odsql/')}">${t('ODSQL playground')}</a></p></div>
<form class="play" id="playground" action="${href(SPARQL_PAGE)}" method="get">${languageField(pageContext)}
<div class="play-side">
${sourceChoice(pageContext, entries, state)}
${accessPathChoice(pageContext, state.accessPath)}
<nav class="play-examples" aria-labelledby="examples-head"><h2 id="examples-head">${t('Example queries')}</h2>
<ul id="examples">${exampleLinks(pageContext, state)}</ul></nav>
</div>
<div class="play-main">
<div class="play-query"><label for="query">${t('Query')}</label>
<div class="code"><pre aria-hidden="true">${highlight(state.query, 'sparql')}
</pre><textarea id="query" name="query" rows="1" spellcheck="false" autocapitalize="off" autocomplete="off" dir="ltr" required>
${state.query}</textarea></div></div>
<div class="play-bar"><button id="run" name="run" value="endpoint">${t('Run')}</button>
<button type="button" class="plain" id="plan" hidden>${t('Plan')}</button>
<button type="button" class="plain" id="stop" hidden>${t('Stop')}</button>
<span class="play-links"><a id="permalink" href="${href(SPARQL_PAGE, permalink(state))}">${t('Link to this query')}</a>
<a id="twin" href="${twin}">${t('Answer of the endpoint as JSON')}</a></span></div>
<noscript><p class="soft">${t('Without scripts the endpoint of the portal runs the query.')}</p></noscript>
<p class="soft" id="status" role="status"></p>
<div id="answer"></div>
<p class="soft play-note">${t('Sources outside of this portal cannot be queried from here, but on the command line:')} <code dir="ltr">lodestone query --source ADDRESS …</code></p>
</div>
</form>
${jsonBlock(JSON.stringify(islandData(pageContext, entries, state)), 'application/json', 'playground-data')}`,
  })
}

function permalink({ query, chosen, accessPath }: PlaygroundState) {
  return playgroundParameters(
    query,
    chosen.map(({ dataset }) => dataset.id),
    accessPath,
  )
}

function sourceChoice(
  pageContext: PageContext,
  entries: readonly ServedDataset[],
  { chosen }: PlaygroundState,
): Html {
  const ids = new Set(chosen.map(({ dataset }) => dataset.id))
  const items = entries.map(entry => {
    const { id } = entry.dataset
    return html`<li><label><input type="checkbox" name="source" value="${id}"${ids.has(id) ? html` checked` : ''}><span>${datasetTitle(entry)}</span> <data value="${entry.triples}">${pageContext.number(entry.triples, { notation: 'compact' })}</data></label></li>
`
  })
  return html`<fieldset class="play-sources"><legend>${pageContext.t('Datasets and their triples')}</legend><ul>${items}</ul></fieldset>`
}

function accessPathChoice({ t }: PageContext, accessPath: AccessPath): Html {
  const names: Readonly<Record<AccessPath, string>> = {
    endpoint: t('SPARQL endpoints'),
    fragments: t('Triple pattern fragments'),
    brtpf: t('Fragments with bindings'),
  }
  return html`<p class="play-way"><label for="via">${t('Asked through')}</label>
<select id="via" name="via">${ACCESS_PATHS.map(name => html`<option value="${name}"${name === accessPath ? html` selected` : ''}>${names[name]}</option>`)}</select></p>`
}

function exampleLinks({ href, t }: PageContext, { examples, accessPath }: PlaygroundState): readonly Html[] {
  if (examples.length === 0) return [html`<li class="soft">${t('The chosen datasets have none.')}</li>`]
  return examples.map(
    ({ example, sources }) =>
      html`<li><a href="${href(SPARQL_PAGE, playgroundParameters(example.query, sources, accessPath))}" rel="nofollow">${example.title}</a></li>
`,
  )
}

/** What the script of the page needs. Texts with `{n}` are filled there. */
function islandData(
  pageContext: PageContext,
  entries: readonly ServedDataset[],
  { chosen }: PlaygroundState,
) {
  const { t, site, language } = pageContext
  return {
    base: site.base,
    language,
    worker: file('comunica-worker.js', pageContext),
    sources: entries.map(({ dataset: { id } }) => id),
    prefixes: Object.assign(
      {},
      ...chosen.map(({ dataset: { id }, prefixes }) => queryPrefixes(site.base, id, prefixes)),
    ),
    texts: {
      loading: t('Loading the query engine…'),
      running: t('Running…'),
      done: t('Finished.'),
      stopped: t('Stopped.'),
      failed: t('The query was not answered.'),
      choose: t('Choose a dataset.'),
      signIn: t('Sign in to query datasets that are not public.'),
      rows: t('Rows: {n}'),
      triples: t('Triples: {n}'),
      requests: t('Requests: {n}'),
      seconds: t('Time: {n} s'),
      none: t('Nothing was found.'),
      cut: t('The table shows the first {n} rows; the downloads have all rows.'),
      yes: t('Yes'),
      no: t('No'),
      place: t('Line {line}, column {column}'),
      answer: t('Answer'),
      map: t('Map of the answer'),
      chart: t('Chart'),
      noValue: t('no value'),
      graph: t('Graph'),
      names: t('Classes and properties'),
      download: t('Download'),
      noExamples: t('The chosen datasets have none.'),
    },
  }
}

/** The texts and addresses that the script of the playground reads. */
export type PlaygroundData = ReturnType<typeof islandData>
