import type { FastifyReply } from 'fastify'
import type { ServedDataset } from '../catalog/served.ts'
import { sendSitePage } from '../site/frame.ts'
import { type Html, html } from '../site/html.ts'
import { type PageContext, pageContextOf } from '../site/page-context.ts'
import { endpointAddress, endpointPaths } from './dataset/tab.ts'
import { addressLine, COPY_ISLAND, codeBlock, type SourceLanguage } from './parts/highlight.ts'
import { datasetTitle, type SiteServices } from './services.ts'

interface Endpoint {
  readonly name: string
  readonly use: string
  readonly path: string
  /** An example call that works unchanged; null if the portal has no dataset for it. */
  readonly example: { readonly text: string; readonly language: SourceLanguage } | null
  readonly more?: Html
}

/** Answers with the page for developers: the APIs of the portal, accounts, limits. */
export async function answerDevelopers(reply: FastifyReply, services: SiteServices): Promise<FastifyReply> {
  const { request } = reply
  const pageContext = pageContextOf(request, services)
  const { t } = pageContext
  const { entries } = services.catalog.visibleTo(request.principal).current()
  const endpoints = endpointsOf(pageContext, exampleDataset(entries))
  return sendSitePage(reply, pageContext, {
    title: t('Developers'),
    description: t('The interfaces of this portal for programs, with an example of each.'),
    part: 'developers',
    islands: [COPY_ISLAND],
    body: html`<h1>${t('Developers')}</h1>
<p>${t('Every record of this portal is in one triple store, and every API below queries that store, so all of them give the same answers.')}</p>
<h2>${t('APIs')}</h2>
${endpoints.map(endpoint => endpointSection(pageContext, endpoint))}
<h2 id="keys">${t('Accounts and keys')}</h2>
${accounts(pageContext)}
<h2 id="limits">${t('Limits')}</h2>
${limits(pageContext, services)}`,
  })
}

function exampleDataset(entries: readonly ServedDataset[]): ServedDataset | null {
  const tables = entries.filter(({ content }) => content === 'records')
  // Those without records would show nothing.
  tables.sort((a, b) => Number(b.triples > 0) - Number(a.triples > 0))
  return tables.find(({ mapping }) => mapping !== null) ?? tables[0] ?? null
}

function endpointSection(pageContext: PageContext, { name, use, path, example, more }: Endpoint): Html {
  const { href, address } = endpointAddress(pageContext, path)
  return html`<section class="endpoint"><h3>${name}</h3>
<p>${use}</p><p>${addressLine(pageContext, href, address)}</p>
${example === null ? '' : codeBlock(pageContext, example.text, example.language)}${more === undefined ? '' : html`<p>${more}</p>`}</section>
`
}

function endpointsOf(pageContext: PageContext, entry: ServedDataset | null): readonly Endpoint[] {
  const { t } = pageContext
  const id = entry?.dataset.id ?? ''
  const paths = endpointPaths(id)
  const full = (path: string) => endpointAddress(pageContext, path).address
  const code = (text: string) => (entry === null ? null : ({ text, language: 'code' } as const))
  const console = endpointAddress(pageContext, '/api/explore/v2.1/console').href
  const openapi = endpointAddress(pageContext, '/api/explore/v2.1/swagger.json').href
  const name = entry === null ? '' : datasetTitle(entry)
  return [
    {
      name: 'Explore API v2.1',
      use: t('For most programs: records, groups, facets and exports as JSON, filtered with ODSQL.'),
      path: '/api/explore/v2.1/catalog/datasets',
      example: code(`curl '${full(paths.records)}?limit=2'`),
      more: html`<a href="${console}">${t('Console')}</a> · <a href="${openapi}">OpenAPI</a>${entry === null ? '' : html` · <a href="${pageContext.href(`/explore/dataset/${encodeURIComponent(id)}/api/`)}">${t('Try it out: {dataset}', { dataset: name })}</a>`}`,
    },
    {
      name: t('Search API v2 and Explore API v2.0'),
      use: t('For programs that were written for the earlier generations of this API.'),
      path: '/api/v2/catalog/datasets',
      example: code(
        `curl '${full(`/api/explore/v2.0/catalog/datasets/${encodeURIComponent(id)}/records`)}?limit=2'`,
      ),
    },
    {
      name: t('Exports'),
      use: t(
        'For whole datasets, or all filtered records, as a file: CSV, Excel, GeoJSON, Parquet, Turtle and more.',
      ),
      path: entry === null ? '/api/explore/v2.1/catalog/exports' : paths.exports,
      example: code(`curl -O '${full(paths.exports)}/csv'`),
    },
    {
      name: 'OData',
      use: t('For Excel, Power BI, Tableau and other tools that read tables, in versions 4.0 and 3.0.'),
      path: '/api/odata/',
      example: code(`curl '${full(paths.odata)}?$top=2'`),
    },
    {
      name: 'SPARQL',
      use: t('For queries over the graph of one dataset, or over all public datasets at once.'),
      path: '/api/sparql',
      example: code(
        `curl -G '${full(paths.sparql)}' -H 'Accept: text/csv' \\\n  --data-urlencode 'query=SELECT * WHERE { ?s ?p ?o } LIMIT 5'`,
      ),
      more: html`<a href="${pageContext.href('/sparql/')}">${t('Playground')}</a>`,
    },
    {
      name: 'Triple pattern fragments',
      use: t('For clients that evaluate queries themselves, such as Comunica; cheap to serve and to cache.'),
      path: '/api/tpf',
      example: code(
        `npx -p @comunica/query-sparql comunica-sparql '${full(paths.fragments)}' \\\n  'SELECT * WHERE { ?s ?p ?o } LIMIT 5'`,
      ),
    },
    {
      name: 'Quad pattern fragments',
      use: t(
        'The same with named graphs: the graphs of a dataset, or each dataset of the portal as a graph.',
      ),
      path: '/api/qpf',
      example: code(`curl '${full(`/api/qpf/${encodeURIComponent(id)}`)}' -H 'Accept: application/trig'`),
    },
    {
      name: t('Linked data'),
      use: t(
        'Every IRI of a resource answers when it is looked up: in Turtle, JSON-LD, RDF/XML, or as a page.',
      ),
      path: entry === null ? '/.well-known/void' : paths.document,
      example: code(`curl -L -H 'Accept: text/turtle' '${full(paths.document)}'`),
    },
    {
      name: 'VoID, DCAT',
      use: t('For catalogs and harvesters: which datasets there are and what they contain.'),
      path: '/.well-known/void',
      example: {
        text: `curl '${full('/api/explore/v2.1/catalog/exports/ttl')}'`,
        language: 'code',
      },
    },
  ]
}

function accounts(pageContext: PageContext): Html {
  const { t } = pageContext
  const base = pageContext.site.base
  return html`<p>${t('Public data need no account. Restricted datasets are open to users with a grant, by an API key, or by OAuth 2.0 for applications that act for users.')}</p>
${codeBlock(pageContext, `curl -H 'Authorization: Apikey YOUR-API-KEY' '${base}/api/explore/v2.1/catalog/datasets'`, 'code')}
<ul><li><a href="${pageContext.href('/account/my-api-keys/')}">${t('Your API keys')}</a></li>
<li><a href="${pageContext.href('/account/my-applications/')}">${t('Your applications')}</a></li>
<li><a href="${endpointAddress(pageContext, '/.well-known/oauth-authorization-server').href}">${t('Where OAuth 2.0 answers')}</a></li></ul>`
}

function limits(pageContext: PageContext, { limits: { domain, anonymous, user } }: SiteServices): Html {
  const { t, number, principal } = pageContext
  const own = principal.type === 'user' ? (principal.quota ?? user) : null
  const none = t('no limit of their own')
  const rows = [
    [t('Everybody together'), number(domain)],
    [t('An address without an account'), anonymous === null ? none : number(anonymous)],
    [t('A user'), user === null ? none : number(user)],
    ...(own === null ? [] : [[t('You'), number(own)] as const]),
  ] as const
  return html`<table class="terms"><caption class="hidden">${t('Calls a day')}</caption>
<thead><tr><th scope="col">${t('Who calls')}</th><th scope="col" class="number">${t('Calls a day')}</th></tr></thead>
<tbody>${rows.map(([who, calls]) => html`<tr><th scope="row">${who}</th><td class="number">${calls}</td></tr>`)}</tbody></table>
<p>${t('Days are in UTC. Each response states the remaining calls in X-RateLimit-Remaining; calls beyond the quota are answered with 429.')}</p>
<p>${t('A page of records has at most {rows} rows, and pages end at record {last}; exports have no limit.', { rows: 100, last: 10_000 })}</p>`
}
