import type { FastifyReply } from 'fastify'
import { type ExampleQuery, exampleQueries, queryPrefixes } from '../../catalog/example-queries.ts'
import type { ServedDataset } from '../../catalog/served.ts'
import { many, one } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Principal } from '../../model/principal.ts'
import { file, sendSitePage } from '../../site/frame.ts'
import { type Html, html, jsonBlock } from '../../site/html.ts'
import { type LinkParameters, type PageContext, pageContextOf } from '../../site/page-context.ts'
import { rootOf } from '../../site/signed-in.ts'
import { languageField, listOptions } from '../parts/form-fields.ts'
import { highlight } from '../parts/highlight.ts'
import { datasetTitle, type SiteServices } from '../services.ts'
import { endpointPath } from './endpoint-path.ts'

const SPARQL_PAGE = '/sparql/'

/**
 * Answers with the SPARQL playground: the browser itself runs the query over fragments or endpoints of the chosen datasets.
 * `run=endpoint`, which browsers without scripts send, redirects to the endpoint with the same answer. Faults: those of
 * {@link readPlayground}.
 */
export async function answerSparqlPage(reply: FastifyReply, services: SiteServices): Promise<FastifyReply> {
  const { request } = reply
  const pageContext = pageContextOf(request, services)
  const query = request.query as QueryParameters
  const state = await readPlayground(query, services, request.principal)
  const { t, href } = pageContext
  const ids = state.chosen.map(({ dataset: { id } }) => id)
  const root = rootOf(services)
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

/** Datasets that are listed at once: the keyboard passes each of them on the way to the query. */
const LISTED = 50

/** The boxes of datasets: the chosen and the first ones, and the others in a list that opens. */
export function sourceChoice(
  pageContext: PageContext,
  entries: readonly ServedDataset[],
  { chosen }: Pick<PlaygroundState, 'chosen'>,
): Html {
  const ids = new Set(chosen.map(({ dataset }) => dataset.id))
  const itemOf = (entry: ServedDataset) => {
    const { id } = entry.dataset
    return html`<li><label><input type="checkbox" name="source" value="${id}"${ids.has(id) ? html` checked` : ''}><span>${datasetTitle(entry)}</span> <data value="${entry.triples}">${pageContext.number(entry.triples, { notation: 'compact' })}</data></label></li>
`
  }
  const isChosen = (entry: ServedDataset) => ids.has(entry.dataset.id)
  const first = [
    ...entries.filter(isChosen),
    ...entries.filter((entry, at) => at < LISTED && !isChosen(entry)),
  ]
  const rest = entries.filter((entry, at) => at >= LISTED && !isChosen(entry))
  const more =
    rest.length === 0
      ? ''
      : html`<details><summary>${pageContext.t.many('{n} more', '{n} more', rest.length)}</summary><ul>${rest.map(itemOf)}</ul></details>`
  return html`<fieldset class="play-sources"><legend>${pageContext.t('Datasets and their triples')}</legend><ul>${first.map(itemOf)}</ul>${more}</fieldset>`
}

function accessPathChoice({ t }: PageContext, accessPath: AccessPath): Html {
  const names: Readonly<Record<AccessPath, string>> = {
    endpoint: t('SPARQL endpoints'),
    fragments: t('Triple pattern fragments'),
    brtpf: t('Fragments with bindings'),
  }
  return html`<p class="play-way"><label for="via">${t('Asked through')}</label>
<select id="via" name="via">${listOptions(Object.entries(names), accessPath)}</select></p>`
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

/** How the playground queries datasets: by whole queries or parts of them, by triple patterns, or by these with bindings. */
const ACCESS_PATHS = ['endpoint', 'fragments', 'brtpf'] as const
type AccessPath = (typeof ACCESS_PATHS)[number]
const DEFAULTS: AccessPath = 'endpoint'

/** The state of the playground, all of which is in its address. */
interface PlaygroundState {
  readonly chosen: readonly ServedDataset[]
  readonly accessPath: AccessPath
  readonly query: string
  readonly examples: readonly Example[]
}

/** An example and the existing datasets that it needs. */
export interface Example {
  readonly example: ExampleQuery
  readonly sources: readonly string[]
}

const MAX_SOURCES = 20

const ANY_QUERY = `SELECT * WHERE {
  ?subject ?predicate ?object
}
LIMIT 20
`

type Services = Pick<SiteServices, 'catalog' | 'portal' | 'base'>

/**
 * Reads the state of the playground from its address: `query`, `source` for each dataset, `via`. Without `source`
 * it selects the datasets that the query names, else the first that has an example. Faults: NotFoundResource, Unauthorised,
 * ForbiddenAccess, InvalidRESTParameterError.
 */
async function readPlayground(
  query: QueryParameters,
  services: Services,
  principal: Principal,
): Promise<PlaygroundState> {
  const visible = services.catalog.visibleTo(principal)
  const { entries } = visible.current()
  const text = one(query, 'query') ?? ''
  const named = [...new Set(many(query, 'source').filter(id => id !== ''))].slice(0, MAX_SOURCES)
  const mentioned = entries.filter(({ dataset: { id } }) => mentions(text, id, services.base))
  const given = named.length > 0 ? named.map(id => visible.dataset(id)) : mentioned
  const chosen = given.length > 0 ? given : await firstWithExample(entries, services)
  const via = one(query, 'via')
  const ids = new Set(entries.map(({ dataset }) => dataset.id))
  const lists = await Promise.all(
    chosen.map(async ({ dataset: { id } }) =>
      (await exampleQueries(services.portal, id, services.base)).flatMap(example =>
        example.federatesWith.every(other => ids.has(other))
          ? [{ example, sources: [id, ...example.federatesWith] }]
          : [],
      ),
    ),
  )
  const examples = lists.flat()
  const first = examples.find(({ example }) => example.federatesWith.length === 0) ?? examples[0]
  return {
    chosen,
    accessPath: ACCESS_PATHS.find(accessPath => accessPath === via) ?? DEFAULTS,
    query: text.trim() === '' ? (first?.example.query ?? ANY_QUERY) : text,
    examples,
  }
}

function playgroundParameters(
  query: string,
  sources: readonly string[],
  accessPath: AccessPath = DEFAULTS,
): LinkParameters {
  return { source: sources, via: accessPath === DEFAULTS ? undefined : accessPath, query }
}

function mentions(text: string, id: string, base: string): boolean {
  const name = encodeURIComponent(id)
  return ['ontologies', 'resources'].some(kind => text.includes(`<${base}/ld/${kind}/${name}/`))
}

async function firstWithExample(
  entries: readonly ServedDataset[],
  { portal, base }: Services,
): Promise<readonly ServedDataset[]> {
  for (const entry of entries) {
    const examples = await exampleQueries(portal, entry.dataset.id, base)
    if (examples.some(({ federatesWith }) => federatesWith.length === 0)) return [entry]
  }
  const filled = entries.filter(({ triples }) => triples > 0)
  return (filled.length > 0 ? filled : entries).slice(0, 1)
}
