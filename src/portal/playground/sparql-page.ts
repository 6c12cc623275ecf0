import type { FastifyReply, FastifyRequest } from 'fastify'
import { queryPrefixes } from '../../catalog/example-queries.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { file, sendSitePage } from '../../site/frame.ts'
import { type Html, html } from '../../site/html.ts'
import { type Visit, visitOf } from '../../site/page-context.ts'
import { highlight } from '../parts/highlight.ts'
import { languageField } from '../parts/language-field.ts'
import { type SiteServices, titleOf } from '../services.ts'
import { pageData } from './page-data.ts'
import {
  endpointPath,
  type PlaygroundState,
  playgroundParameters,
  readPlayground,
  WAYS,
  type Way,
} from './sparql-request.ts'

const SPARQL_PAGE = '/sparql/'

/**
 * Answers with the SPARQL playground: the browser itself runs the query over fragments or endpoints of the chosen datasets.
 * `run=endpoint`, which browsers without scripts send, goes to the endpoint that answers the same. Faults: those of
 * {@link readPlayground}.
 */
export async function answerSparqlPage(
  request: FastifyRequest,
  reply: FastifyReply,
  services: SiteServices,
): Promise<FastifyReply> {
  const visit = visitOf(request, services)
  const query = request.query as QueryParameters
  const state = await readPlayground(query, services, request.principal)
  const { say, href } = visit
  const root = new URL(services.base).pathname.replace(/\/+$/, '')
  if (query.run === 'endpoint')
    return reply
      .code(303)
      .header('location', root + endpointPath(state, services.base, 'html'))
      .send()
  const { entries } = services.catalog.seenBy(request.principal).current()
  const twin = root + endpointPath(state, services.base, 'json')
  return sendSitePage(reply, visit, {
    title: say('SPARQL playground'),
    description: say('Ask several datasets at once in SPARQL; the query runs in the browser.'),
    part: 'playground',
    isWide: true,
    isIndexed: query.query === undefined,
    islands: ['sparql.js'],
    head: html`<link rel="alternate" type="application/sparql-results+json" href="${twin}">`,
    body: html`<div class="play-head"><h1>${say('SPARQL playground')}</h1>
<p>${say('The query runs here in your browser, which asks the datasets that you choose and joins what they answer.')} <a href="${href('/odsql/')}">${say('ODSQL playground')}</a></p></div>
<form class="play" id="playground" action="${href(SPARQL_PAGE)}" method="get">${languageField(visit)}
<div class="play-side">
${sourceChoice(visit, entries, state)}
${wayChoice(visit, state.way)}
<nav class="play-examples" aria-labelledby="examples-head"><h2 id="examples-head">${say('Example queries')}</h2>
<ul id="examples">${exampleLinks(visit, state)}</ul></nav>
</div>
<div class="play-main">
<div class="play-query"><label for="query">${say('Query')}</label>
<div class="code"><pre aria-hidden="true">${highlight(state.query, 'sparql')}
</pre><textarea id="query" name="query" rows="1" spellcheck="false" autocapitalize="off" autocomplete="off" dir="ltr" required>
${state.query}</textarea></div></div>
<div class="play-bar"><button id="run" name="run" value="endpoint">${say('Run')}</button>
<button type="button" class="plain" id="stop" hidden>${say('Stop')}</button>
<span class="play-links"><a id="permalink" href="${href(SPARQL_PAGE, permalink(state))}">${say('Link to this query')}</a>
<a id="twin" href="${twin}">${say('Answer of the endpoint as JSON')}</a></span></div>
<noscript><p class="soft">${say('Without scripts the endpoint of the portal runs the query.')}</p></noscript>
<p class="soft" id="status" role="status"></p>
<div id="answer"></div>
<p class="soft play-note">${say('Sources outside of this portal are not asked from here. The command line asks them too:')} <code dir="ltr">lodestone query --source ADDRESS …</code></p>
</div>
</form>
${pageData('playground-data', islandData(visit, entries, state))}`,
  })
}

function permalink({ query, chosen, way }: PlaygroundState) {
  return playgroundParameters(
    query,
    chosen.map(({ dataset }) => dataset.id),
    way,
  )
}

function sourceChoice(visit: Visit, entries: readonly ServedDataset[], { chosen }: PlaygroundState): Html {
  const ids = new Set(chosen.map(({ dataset }) => dataset.id))
  const items = entries.map(entry => {
    const { id } = entry.dataset
    return html`<li><label><input type="checkbox" name="source" value="${id}"${ids.has(id) ? html` checked` : ''}><span>${titleOf(entry)}</span> <data value="${entry.triples}">${visit.number(entry.triples, { notation: 'compact' })}</data></label></li>
`
  })
  return html`<fieldset class="play-sources"><legend>${visit.say('Datasets and their triples')}</legend><ul>${items}</ul></fieldset>`
}

function wayChoice({ say }: Visit, way: Way): Html {
  const names: Readonly<Record<Way, string>> = {
    endpoint: say('SPARQL endpoints'),
    fragments: say('Triple pattern fragments'),
    brtpf: say('Fragments with bindings'),
  }
  return html`<p class="play-way"><label for="via">${say('Asked through')}</label>
<select id="via" name="via">${WAYS.map(name => html`<option value="${name}"${name === way ? html` selected` : ''}>${names[name]}</option>`)}</select></p>`
}

function exampleLinks({ href, say }: Visit, { examples, way }: PlaygroundState): readonly Html[] {
  if (examples.length === 0) return [html`<li class="soft">${say('The chosen datasets have none.')}</li>`]
  return examples.map(
    ({ example, sources }) =>
      html`<li><a href="${href(SPARQL_PAGE, playgroundParameters(example.query, sources, way))}" rel="nofollow">${example.title}</a></li>
`,
  )
}

/** What the script of the page needs. Texts with `{n}` are filled there. */
function islandData(visit: Visit, entries: readonly ServedDataset[], { chosen }: PlaygroundState) {
  const { say, site, language } = visit
  return {
    base: site.base,
    language,
    worker: file('comunica-worker.js', visit),
    sources: entries.map(({ dataset: { id } }) => id),
    prefixes: Object.assign(
      {},
      ...chosen.map(({ dataset: { id }, prefixes }) => queryPrefixes(site.base, id, prefixes)),
    ),
    texts: {
      loading: say('Loading the query engine…'),
      running: say('Running…'),
      done: say('Finished.'),
      stopped: say('Stopped.'),
      failed: say('The query was not answered.'),
      choose: say('Choose a dataset.'),
      signIn: say('Sign in to ask datasets that are not public.'),
      rows: say('Rows: {n}'),
      triples: say('Triples: {n}'),
      requests: say('Requests: {n}'),
      seconds: say('Time: {n} s'),
      none: say('Nothing was found.'),
      cut: say('The table shows the first {n} rows; the downloads have all.'),
      yes: say('Yes'),
      no: say('No'),
      place: say('Line {line}, column {column}'),
      answer: say('Answer'),
      map: say('Map of the answer'),
      download: say('Download'),
      noExamples: say('The chosen datasets have none.'),
    },
  }
}

/** The texts and addresses that the script of the playground reads. */
export type PlaygroundData = ReturnType<typeof islandData>
