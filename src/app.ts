import type { IncomingMessage } from 'node:http'
import path from 'node:path'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Accounts } from './accounts/accounts.ts'
import { accountsFile, openAccounts } from './accounts/open.ts'
import { descriptions } from './api/descriptions/routes.ts'
import { recordCalls, repeatedCall } from './api/explore/calls.ts'
import { explore } from './api/explore/routes.ts'
import { type Sources, sources } from './api/explore/sources.ts'
import { fragments } from './api/fragments/routes.ts'
import { oauth } from './api/oauth/routes.ts'
import { answerODataFault } from './api/odata/faults.ts'
import { ODATA_PATH, odata } from './api/odata/routes.ts'
import { resources } from './api/resources/routes.ts'
import { SPARQL_PATH } from './api/sparql/endpoint.ts'
import type { QueriedDataset } from './api/sparql/graphs.ts'
import { sparql } from './api/sparql/routes.ts'
import { Catalog } from './catalog/catalog.ts'
import { canonicalMoment } from './catalog/catalog-dataset.ts'
import { definedDatasets } from './catalog/definition.ts'
import { Monitoring } from './catalog/monitoring.ts'
import { Network } from './catalog/network.ts'
import type { DatasetList } from './catalog/seen.ts'
import type { ServedDataset } from './catalog/served.ts'
import { Surveys } from './catalog/surveys.ts'
import { exploreMetas, Usage } from './catalog/usage.ts'
import { isWithdrawn, publishedDatasets, type Versions, versionsOf } from './catalog/versions.ts'
import { datasetDescription } from './catalog/void.ts'
import type { Config } from './config.ts'
import { Fault } from './errors.ts'
import { authenticator } from './http/authenticate.ts'
import { clientAddress } from './http/client-address.ts'
import { entityTag } from './http/etag.ts'
import { answerFault, restBody } from './http/faults.ts'
import { answerForms } from './http/form-access.ts'
import { health } from './http/health.ts'
import { addManners } from './http/manners.ts'
import { parseQueryString } from './http/query-string.ts'
import { Quotas, quotaLimits } from './http/quota.ts'
import { ResponseCache } from './http/response-cache.ts'
import { answerPageFault } from './http/site/fault-page.ts'
import type { Principal } from './model/principal.ts'
import { accountPages } from './portal/account/routes.ts'
import { site } from './portal/routes.ts'
import { EXPLORE_V20, EXPLORE_V21, SEARCH_V2 } from './query/dialect.ts'
import { fieldIri } from './rdf/iris.ts'
import { createEmbeddedStore } from './store/embedded/embedded.ts'
import type { LoadProgress, Store } from './store/store.ts'

/** The parts of a running Lodestone. */
export interface App {
  readonly http: FastifyInstance
  readonly catalog: Catalog
  readonly store: Store
  readonly accounts: Accounts
  readonly versions: Versions
  /** Says that every dataset is served: from then on /readyz answers 200. */
  readonly markReady: () => void
  readonly close: () => Promise<void>
}

export interface AppOptions {
  readonly onProgress?: (progress: LoadProgress) => void
}

/** Request lines and headers up to this many bytes are read: a long filter or bindings-restricted fragment fits. */
const MAX_HEADER_BYTES = 128 * 1024

/** Puts the services together and registers the doors. Nothing is loaded and nothing listens yet. */
export async function buildApp(config: Config, options: AppOptions = {}): Promise<App> {
  const http = fastify({
    logger: {
      level: config.log,
      redact: ['req.headers.authorization', 'req.headers.cookie'],
      stream: process.stderr,
    },
    logController: new LogController({ disableRequestLogging: true }),
    // A logger of its own for each request would take longer than a small answer.
    childLoggerFactory: logger => logger,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 4096, querystringParser: parseQueryString },
    exposeHeadRoutes: true,
    // A request on a connection that is still open while the server ends is answered like any other.
    return503OnClosing: false,
    bodyLimit: 1024 * 1024,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    frameworkErrors: (error, request, reply) =>
      (request.url.startsWith(ODATA_PATH) ? answerODataFault : answerFault(restBody))(error, request, reply),
    clientErrorHandler: answerBrokenRequest,
  })
  const log = http.log
  const store = await createEmbeddedStore({
    workers: config.workers,
    deadline: config.deadline * 1000,
    onEvent: event => log.warn(event),
  })
  const versions = versionsOf(config.portal)
  const grace = (config.deadline + 5) * 1000
  const catalog = new Catalog({
    base: config.base,
    store,
    versions,
    grace,
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  })
  catalog.expect(definedDatasets(config.portal).filter(id => !isWithdrawn(versions, id)))
  const usage = new Usage({ file: path.join(config.portal, 'var', 'usage.json') })
  const { monitoring, network } = buildSources(config, { catalog, store, usage, grace, log })
  const surveys = new Surveys({ store, versions })
  const accounts = openAccounts(accountsFile(config.portal), { now: () => Date.now() })
  const quotas = new Quotas({
    limits: quotaLimits(config.quotas),
    now: () => Date.now(),
    counts: accounts.calls,
    secret: accounts.secret,
    onFailure: error => log.error({ err: error }, 'counting calls'),
  })
  // Before the port is free for another process, which reads them.
  http.addHook('preClose', done => {
    quotas.flush()
    done()
  })
  let ready = false
  await registerDoors(http, config, {
    catalog,
    store,
    usage,
    surveys,
    accounts,
    quotas,
    sources: { monitoring, network },
    ready: () => ready,
  })
  return {
    http,
    catalog,
    store,
    accounts,
    versions,
    markReady: () => {
      ready = true
      catalog.expect([])
      surveys.follow(() => catalog.entries())
    },
    close: async () => {
      await http.close()
      quotas.close()
      accounts.close()
      usage.close()
      surveys.close()
      for (const source of [monitoring, network, catalog]) source.close()
      await store.close()
    },
  }
}

/** The sources of datasets beside the catalog (query API, "Search API v2"). */
function buildSources(
  { base, analytics, network: members = [] }: Config,
  services: Pick<Services, 'catalog' | 'store' | 'usage'> & {
    readonly grace: number
    readonly log: FastifyBaseLogger
  },
): Sources {
  const { log, usage, ...rest } = services
  const shared = { ...rest, base, domain: new URL(base).hostname, now: () => Date.now() }
  const onFailure = (error: unknown) => log.warn({ err: error }, 'network')
  return {
    monitoring: new Monitoring({ ...shared, usage, openCalls: analytics === 'public' }),
    network: new Network({ ...shared, members, onFailure }),
  }
}

/** What the doors are built on. */
interface Services {
  readonly catalog: Catalog
  readonly store: Store
  readonly usage: Usage
  readonly surveys: Surveys
  readonly accounts: Accounts
  readonly quotas: Quotas
  readonly sources: Sources
  readonly ready: () => boolean
}

async function registerDoors(http: FastifyInstance, config: Config, services: Services): Promise<void> {
  const { catalog, store, usage, accounts, quotas } = services
  const { base, proxies = 0 } = config
  const now = () => Date.now()
  const recorder = { usage, now, proxies }
  const isPrivate = config.access === 'private'
  const authenticate = authenticator(accounts, base.startsWith('https:'))
  const address = (message: IncomingMessage) => clientAddress(message, proxies)
  const { title, description, languages } = config
  const frame = { base, title, description, languages }
  recordCalls(http, recorder)
  addManners(http, { isPrivate, authenticate, quotas, address, posts: SPARQL_PATH, site: frame })
  const cache = new ResponseCache({
    // One assignment puts a new catalog in force, and all that is offered is made of it alone.
    state: () => catalog.entries(),
    quota: quotas,
    proxies,
    noteCall: (request, reply, body) => repeatedCall(request, reply, body, recorder),
  })
  if (!isPrivate) cache.install(http)
  http.setErrorHandler(answerFault(restBody))
  http.setNotFoundHandler((request, reply) => {
    const fault = new Fault('NotFoundResource', {
      kind: 'address',
      id: request.url.split('?')[0]?.slice(0, 200) ?? '',
    })
    const isAskedByBrowser = request.headers.accept?.includes('text/html') === true
    ;(isAskedByBrowser ? answerPageFault(frame) : answerFault(restBody))(fault, request, reply)
  })
  const signingIn = {
    ...frame,
    accounts,
    now,
    address: (request: FastifyRequest) => address(request.raw),
  }
  await http.register(accountPages, signingIn)
  await http.register(oauth, signingIn)
  await http.register(site, {
    ...services,
    ...frame,
    portal: config.portal,
    ...(config.tiles === undefined ? {} : { tiles: config.tiles }),
    usage: (id: string) => exploreMetas(usage.counts(id)),
    limits: quotaLimits(config.quotas),
    clock: () => performance.now(),
    now,
  })
  await http.register(health, {
    ready: services.ready,
    figures: async () => {
      // The size of the store tells of datasets that not everybody may see.
      const isOpen = !isPrivate && catalog.entries().every(({ dataset }) => dataset.visibility === 'public')
      return isOpen ? { store: await store.statistics() } : {}
    },
  })
  const asked = {
    catalog,
    store,
    base,
    clock: () => performance.now(),
    now,
    portal: config.portal,
    usage: (id: string) => exploreMetas(usage.counts(id)),
  }
  const queried = new WeakMap<DatasetList, readonly QueriedDataset[]>()
  await http.register(sparql, {
    ...frame,
    store,
    dataset: (id: string, principal: Principal) => queriedDataset(catalog.seenBy(principal).dataset(id)),
    datasets: (principal: Principal) => {
      const served = catalog.seenBy(principal).current()
      const datasets = queried.get(served) ?? served.entries.map(queriedDataset)
      queried.set(served, datasets)
      return datasets
    },
  })
  // What is read with GET takes an access token in a form as well.
  await http.register(async doors => {
    answerForms(doors)
    for (const [path, dialect] of [
      ['/api/v2', SEARCH_V2],
      ['/api/explore/v2.0', EXPLORE_V20],
      ['/api/explore/v2.1', EXPLORE_V21],
    ] as const)
      await doors.register(explore, { prefix: path, path, dialect, ...asked, cache })
    const place = { prefix: '/api/v2', path: '/api/v2', dialect: SEARCH_V2 }
    await doors.register(sources, { ...asked, ...place, sources: services.sources })
    await doors.register(odata, { ...asked, prefix: ODATA_PATH })
    await doors.register(descriptions, { ...asked, title: config.title, surveys: services.surveys })
    await doors.register(fragments, {
      ...frame,
      pageSize: config.fragmentSize,
      store,
      dataset: (id: string, principal: Principal) => described(catalog.seenBy(principal).dataset(id), base),
      datasets: (principal: Principal) => {
        const { version, entries } = catalog.seenBy(principal).current()
        const listed = entries.map(each => ({ ...described(each, base), triples: each.triples }))
        return { version, entries: listed }
      },
      cache,
    })
    await doors.register(resources, {
      ...frame,
      store,
      dereference: config.dereference,
      seenBy: (principal: Principal) => {
        const seen = catalog.seenBy(principal)
        return {
          dataset: (id: string) => described(seen.dataset(id), base),
          state: () => stateOf(seen.current()),
          isRemoved: (id: string, record: string) => seen.dataset(id).removed(record),
          isGone: (id: string) => catalog.isGone(id),
        }
      },
    })
  })
}

/** What was made of a catalog before: it is the same as long as it is in force. */
const states = new WeakMap<DatasetList, string>()

/** Names the versions of all datasets of a catalog. */
function stateOf(catalog: DatasetList): string {
  const before = states.get(catalog)
  if (before !== undefined) return before
  const state = entityTag(...catalog.entries.map(({ dataset, version }) => `${dataset.id} ${version}`))
  states.set(catalog, state)
  return state
}

/** What the SPARQL endpoints need of a dataset. */
function queriedDataset(served: ServedDataset): QueriedDataset {
  const { dataset, version, resources: graph, triples } = served
  const title = dataset.metas.default?.title
  return {
    id: dataset.id,
    title: typeof title === 'string' ? title : dataset.id,
    version,
    graph,
    triples,
    named: served.named.map(({ name, graph }) => ({ iri: name, graph })),
  }
}

/** What the linked-data doors need of a dataset. */
function described(served: ServedDataset, base: string) {
  const { dataset, version, resources: graph, published, mapping, prefixes, target } = served
  const metas = dataset.metas.default ?? {}
  return {
    id: dataset.id,
    title: typeof metas.title === 'string' ? metas.title : dataset.id,
    description: typeof metas.description === 'string' ? metas.description : null,
    publisher: typeof metas.publisher === 'string' ? metas.publisher : null,
    licenseName: typeof metas.license === 'string' ? metas.license : null,
    license: typeof metas.license_url === 'string' ? metas.license_url : null,
    modified: String(canonicalMoment(published)),
    describe: () => datasetDescription(served, { base }),
    version,
    graph,
    prefixes,
    ...(mapping === null ? {} : { facts: target.graphs.facts }),
    fields: dataset.fields,
    labels: new Map(dataset.fields.map(({ name, label }) => [fieldIri(base, dataset.id, name), label])),
  }
}

/** Answers what is not even HTTP, or has headers beyond the limit, in the envelope of the REST APIs. */
function answerBrokenRequest(error: Error & { code?: string }, socket: import('node:net').Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  const long = error.code === 'HPE_HEADER_OVERFLOW'
  const status = long ? '431 Request Header Fields Too Large' : '400 Bad Request'
  const message = long
    ? `The address and headers of a request may have ${MAX_HEADER_BYTES} bytes.`
    : 'The request is not well-formed HTTP.'
  const body = JSON.stringify({ error_code: 'BadRequest', message }, null, 2)
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}

/** Datasets that a portal defines or has published, for commands that take none. */
export function knownDatasets(portal: string): readonly string[] {
  return [
    ...new Set([...definedDatasets(portal), ...publishedDatasets(versionsOf(path.resolve(portal)))]),
  ].sort()
}
