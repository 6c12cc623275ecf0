import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import path from 'node:path'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Accounts } from '../accounts/accounts.ts'
import { openAccountsOf } from '../accounts/open.ts'
import { descriptions } from '../api/descriptions/routes.ts'
import { recordCalls, repeatedCall } from '../api/explore/calls.ts'
import { exportTarget } from '../api/explore/download.ts'
import { explore } from '../api/explore/routes.ts'
import { type Sources, sources } from '../api/explore/sources.ts'
import type { QuadGraphs } from '../api/fragments/find-quads.ts'
import { fragments } from '../api/fragments/routes.ts'
import { management } from '../api/management/routes.ts'
import { oauth } from '../api/oauth/routes.ts'
import { answerODataFault } from '../api/odata/faults.ts'
import { ODATA_PATH, odata, unbuiltOData } from '../api/odata/routes.ts'
import { resources } from '../api/resources/routes.ts'
import { SPARQL_PATH } from '../api/sparql/endpoint.ts'
import { graphCatalog, type QueriedDataset } from '../api/sparql/graphs.ts'
import { QueryLog } from '../api/sparql/query-log.ts'
import { sparql } from '../api/sparql/routes.ts'
import { versions as versionRoutes } from '../api/versions/routes.ts'
import { Catalog } from '../catalog/catalog.ts'
import { canonicalMoment } from '../catalog/catalog-dataset.ts'
import { Monitoring } from '../catalog/monitoring.ts'
import { Network } from '../catalog/network.ts'
import type { ServedDataset } from '../catalog/served.ts'
import { StatisticsFiles } from '../catalog/statistics-files.ts'
import { exploreMetas, Usage } from '../catalog/usage.ts'
import { completeList, type DatasetList } from '../catalog/visible.ts'
import { datasetDescription } from '../catalog/void.ts'
import type { Config } from '../config/config.ts'
import { Fault } from '../errors/errors.ts'
import { harvestAges } from '../harvest/schedule.ts'
import { authenticator } from '../http/authenticate.ts'
import { answerBrokenRequest } from '../http/broken-requests.ts'
import { WorkBudgets } from '../http/budget.ts'
import { clientAddress } from '../http/client-address.ts'
import { checkingInterval, limitConnections } from '../http/connections.ts'
import { entityTag } from '../http/etag.ts'
import { FairUse } from '../http/fair-use.ts'
import { answerFault, restBody } from '../http/faults.ts'
import { answerForms } from '../http/form-access.ts'
import { type HealthOptions, health, type Readiness } from '../http/health.ts'
import { loggerOptions } from '../http/log.ts'
import { observeRequests } from '../http/observe.ts'
import { parseQueryString } from '../http/query-string.ts'
import { Quotas, quotaLimits } from '../http/quota.ts'
import { requestIds } from '../http/request-id.ts'
import { requestLog } from '../http/request-log.ts'
import { plainTarget } from '../http/request-target.ts'
import { ResponseCache } from '../http/response-cache.ts'
import { addVersionHeaders, type VersionSource } from '../http/versions.ts'
import { ANONYMOUS, type Principal } from '../model/principal.ts'
import { accountPages } from '../portal/account/routes.ts'
import { site } from '../portal/routes.ts'
import { checkDataset } from '../publishing/check.ts'
import { definedDatasets, readDefinition } from '../publishing/definition.ts'
import { Desk } from '../publishing/management/management.ts'
import { Publications } from '../publishing/publications.ts'
import { publisherSettings } from '../publishing/publisher.ts'
import { PublisherThread } from '../publishing/publisher-thread.ts'
import {
  openPortalStore,
  type PortalStore,
  type PortalStoreEvent,
} from '../publishing/registry/portal-store.ts'
import { remoteStates } from '../publishing/remote/state.ts'
import { VersionChanges } from '../publishing/versions/changes.ts'
import { isWithdrawn, type Versions, versionsOf } from '../publishing/versions/versions.ts'
import { EXPLORE_V20, EXPLORE_V21, SEARCH_V2 } from '../query/dialect.ts'
import { fieldIri } from '../rdf/iris.ts'
import { answerPageFault } from '../site/fault-page.ts'
import type { LoadProgress, Store } from '../store/store.ts'
import { openTelemetry, type Telemetry } from '../telemetry/telemetry.ts'
import { watchedStore } from '../telemetry/watched-store.ts'
import { serveMetrics } from './admin.ts'
import { addPlugins } from './plugins.ts'

/** The parts of a running Lodestone. */
export interface App {
  readonly http: FastifyInstance
  readonly catalog: Catalog
  readonly store: Store
  readonly accounts: Accounts
  readonly versions: Versions
  /** What is known of the publications that this process starts. */
  readonly publications: Publications
  /** What is shared with other instances; null where the records are in the memory of this process. */
  readonly shared: PortalStore['shared']
  readonly telemetry: Telemetry
  readonly health: HealthOptions
  /** Says that every dataset is served: from then on /readyz answers 200. */
  readonly markReady: () => void
  /** Says that all datasets are to be published again, since the store has lost them: until then /readyz answers 503. */
  readonly markPublishing: () => void
  /** Says that the process is to end: from then on /readyz answers 503. */
  readonly markStopping: () => void
  readonly close: () => Promise<void>
}

export interface AppOptions {
  readonly onProgress?: (progress: LoadProgress) => void
  /** Publishes a dataset by name; in a thread of its own where that is left out. */
  readonly publish?: (id: string) => Promise<void>
}

/** Request lines and headers up to this many bytes are read: a long filter or bindings-restricted fragment fits. */
const MAX_HEADER_BYTES = 128 * 1024

/** Milliseconds that an engine is waited for, likewise. */
const STORE_TIMEOUT = 60_000

/** Milliseconds that a database of accounts is waited for, which may be started at the same time as this process. */
const ACCOUNTS_TIMEOUT = 30_000

/** Puts the services together and registers the doors. Nothing is loaded and nothing listens yet. */
export async function buildApp(config: Config, options: AppOptions = {}): Promise<App> {
  const timeouts = {
    requestTimeout: config.requestTimeout * 1000,
    idleTimeout: config.idleTimeout * 1000,
    writeTimeout: config.writeTimeout * 1000,
  }
  const requestId = requestIds(`${randomBytes(6).toString('hex')}-`, (config.proxies ?? 0) > 0)
  const http = fastify({
    logger: loggerOptions(config.log, process.stderr),
    genReqId: requestId,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger of its own for each request would take longer than a small answer.
    childLoggerFactory: logger => logger,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 4096, querystringParser: parseQueryString },
    rewriteUrl: ({ url = '/' }) => exportTarget(plainTarget(url)),
    exposeHeadRoutes: true,
    // A request on a connection that is still open while the server ends is answered like any other.
    return503OnClosing: false,
    bodyLimit: 1024 * 1024,
    http: { maxHeaderSize: MAX_HEADER_BYTES, connectionsCheckingInterval: checkingInterval(timeouts) },
    frameworkErrors: (error, request, reply) =>
      (request.url.startsWith(ODATA_PATH) ? answerODataFault : answerFault(restBody))(error, request, reply),
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, MAX_HEADER_BYTES),
  })
  const log = http.log
  const telemetry = await openTelemetry(config, process.env, message => log.warn(message))
  const versions = versionsOf(config.portal, config.keepVersions)
  const onEvent = (event: PortalStoreEvent) => {
    log.warn(event)
    if (event.graph !== undefined) catalog.loseGraph(event.graph, event.reason)
  }
  const opened = await openPortalStore(config, versions, onEvent, STORE_TIMEOUT)
  const { registry, shared } = opened
  const store = watchedStore(opened.store, telemetry.storeObservers)
  const grace = (config.deadline + 5) * 1000
  const catalog = new Catalog({
    base: config.base,
    store,
    versions,
    registry,
    grace,
    onDamage: ({ dataset, version, reason }) =>
      log.error({ dataset, version, reason }, `${dataset} is left out: its published version is damaged`),
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  })
  const expectAll = () =>
    catalog.expect(
      definedDatasets(config.portal).filter(id => !isWithdrawn(versions, id)),
      id => readDefinition(config.portal, id).definition?.visibility ?? 'restricted',
    )
  expectAll()
  const usage = new Usage({ file: path.join(config.portal, 'var', 'usage.json') })
  const { monitoring, network } = buildSources(config, { catalog, store, usage, grace, log })
  const statisticsFiles = new StatisticsFiles({ store, versions })
  const publications = new Publications()
  const changes = new VersionChanges(versions)
  let publisher: PublisherThread | null = null
  const publish =
    options.publish ??
    ((id: string) => {
      publisher ??= new PublisherThread(publisherSettings(config))
      const job = { datasets: [id], mappingOnly: false, endsRollBack: true }
      return publisher.publish(job, message => publications.note(message))
    })
  // A refresh that is under way may have begun before.
  const refresh = async () => {
    await catalog.refresh()
    await catalog.refresh()
  }
  const desk = new Desk({
    portal: config.portal,
    base: config.base,
    versions,
    now: () => Date.now(),
    uploadLimit: config.uploadLimit,
    publications,
    check: checkDataset,
    publish: async id => {
      await publish(id)
      await refresh()
    },
    refresh,
    shared: shared?.registry ?? null,
  })
  const accounts = await openAccountsOf(config, {
    now: () => Date.now(),
    timeout: ACCOUNTS_TIMEOUT,
    onWaiting: reason => log.warn(`${reason}: waiting for it`),
  })
  const quotas = new Quotas({
    limits: quotaLimits(config.quotas),
    now: () => Date.now(),
    counts: accounts.calls,
    secret: accounts.secret,
    onFailure: error => log.error({ err: error }, 'counting calls'),
  })
  // Before the port is free for another process, which reads them.
  http.addHook('preClose', done => {
    quotas.flush().then(() => done())
  })
  await quotas.begin()
  let readiness: Readiness = 'publishing'
  let isFollowed = false
  const figures = async () => {
    // The size of the store tells of datasets that not everybody may see.
    const isOpen =
      config.access === 'public' && catalog.entries().every(({ dataset }) => dataset.visibility === 'public')
    return isOpen ? { store: await store.statistics() } : {}
  }
  const requested: HealthOptions = {
    readiness: () => readiness,
    canAnswer: async () => (await store.statistics()).threads.ready > 0,
    startProgress: () => catalog.visibleTo(ANONYMOUS).startProgress?.() ?? null,
    figures,
  }
  await registerEndpoints(http, config, {
    catalog,
    store,
    usage,
    statisticsFiles,
    publications,
    changes,
    desk,
    accounts,
    quotas,
    sources: { monitoring, network },
    health: requested,
    telemetry,
    requestId,
  })
  limitConnections(http.server, {
    ...timeouts,
    perAddress: (config.proxies ?? 0) > 0 ? null : config.addressConnections,
    onFull: message => log.error(message),
  })
  return {
    http,
    catalog,
    store,
    accounts,
    versions,
    publications,
    shared,
    telemetry,
    health: requested,
    markReady: () => {
      if (readiness === 'publishing') readiness = 'ready'
      catalog.expect([])
      if (!isFollowed) {
        statisticsFiles.follow(() => catalog.entries())
        store.preload().catch(error => log.warn({ err: error }, 'loading ahead'))
      }
      isFollowed = true
    },
    markPublishing: () => {
      if (readiness === 'ready') readiness = 'publishing'
      expectAll()
    },
    markStopping: () => {
      readiness = 'stopping'
    },
    close: async () => {
      await http.close()
      await publisher?.close()
      await quotas.close()
      await accounts.close()
      usage.close()
      statisticsFiles.close()
      for (const source of [monitoring, network, catalog]) source.close()
      await store.close()
      await telemetry.close()
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
  readonly statisticsFiles: StatisticsFiles
  readonly publications: Publications
  readonly changes: VersionChanges
  readonly desk: Desk
  readonly accounts: Accounts
  readonly quotas: Quotas
  readonly sources: Sources
  readonly health: HealthOptions
  readonly telemetry: Telemetry
  readonly requestId: (message: Pick<IncomingMessage, 'headers'>) => string
}

async function registerEndpoints(http: FastifyInstance, config: Config, services: Services): Promise<void> {
  const { catalog, store, usage, accounts, quotas } = services
  const { base, proxies = 0 } = config
  const now = () => Date.now()
  const recorder = { usage, now, proxies }
  const isPrivate = config.access === 'private'
  const authenticate = authenticator(accounts, base.startsWith('https:'), config.addressTokens === 'allowed')
  const address = (message: IncomingMessage) => clientAddress(message, proxies)
  const { title, description, languages } = config
  const frame = { base, title, description, languages }
  const log = queryLogOf(config, (message: IncomingMessage) => address(message))
  if (log !== null) http.addHook('onClose', () => log.close())
  const observers = [
    ...(log === null ? [] : [log.observer]),
    ...(config.log === 'info' || config.log === 'debug' ? [requestLog(http.log)] : []),
    ...services.telemetry.requestObservers,
  ]
  observeRequests(http, observers)
  const { burst, rate } = config.work
  const budgets = new WorkBudgets({ burst: burst * 1000, rate: rate * 1000 }, () => performance.now())
  const fairUse = new FairUse({ budgets, address })
  fairUse.install(http)
  recordCalls(http, recorder)
  addPlugins(http, {
    isPrivate,
    authenticate,
    quotas,
    fairUse,
    address,
    posts: SPARQL_PATH,
    unbuilt: unbuiltOData,
    site: frame,
    isSecure: base.startsWith('https:'),
  })
  addVersionHeaders(http, { base })
  const versions: VersionSource = {
    list: (id, principal) => catalog.versionsOf(id, principal),
    open: (id, version) => catalog.kept.opened(id, version),
  }
  const cache = new ResponseCache({
    // One assignment puts a new catalog in force, and all that is offered is made of it alone.
    state: () => catalog.entries(),
    quota: quotas,
    proxies,
    requestId: services.requestId,
    noteCall: (request, reply, body) => {
      const notes = [
        repeatedCall(request, reply, body, recorder),
        ...observers.map(observer => observer.repeated(request, reply)),
      ]
      return (message, id) => {
        for (const note of notes) note(message, id)
      }
    },
  })
  if (!isPrivate) cache.install(http)
  http.setErrorHandler(answerFault(restBody))
  http.setNotFoundHandler((request, reply) => {
    const fault = new Fault('NotFoundResource', {
      kind: 'address',
      id: request.url.split('?')[0]?.slice(0, 200) ?? '',
    })
    const isRequestedByBrowser = request.headers.accept?.includes('text/html') === true
    ;(isRequestedByBrowser ? answerPageFault(frame) : answerFault(restBody))(fault, request, reply)
  })
  const signingIn = {
    ...frame,
    accounts,
    ...(config.signIn === undefined ? {} : { provider: config.signIn }),
    ...(config.samlSignIn === undefined ? {} : { saml: config.samlSignIn }),
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
  await http.register(management, { prefix: '/api/management/v1', base, desk: services.desk })
  await http.register(health, services.health)
  const { metrics } = services.telemetry
  metrics?.measure({
    store,
    datasets: () => servedFigures(catalog.entries()),
    cache: () => cache.statistics(),
    ready: () => services.health.readiness() === 'ready',
    sources: () => sourceAges(config.portal, now()),
    harvests: () => harvestAges(config.portal, now()),
  })
  if (metrics !== null && config.metrics === 'public') serveMetrics(http, metrics)
  const requested = {
    catalog,
    store,
    base,
    clock: () => performance.now(),
    now,
    portal: config.portal,
    title,
    description,
    csvFormulas: config.csvFormulas,
    usage: (id: string) => exploreMetas(usage.counts(id)),
  }
  const queried = new WeakMap<DatasetList, readonly QueriedDataset[]>()
  await http.register(sparql, {
    deadline: config.deadline,
    services: config.services,
    ...frame,
    store,
    versions,
    dataset: (id: string, principal: Principal, version: string | null) =>
      queriedDataset(catalog.addressed(id, principal, version)),
    datasets: (principal: Principal) => {
      const served = completeList(catalog.visibleTo(principal))
      const datasets = queried.get(served) ?? served.entries.map(queriedDataset)
      queried.set(served, datasets)
      return datasets
    },
  })
  // What is read with GET takes an access token in a form as well.
  await http.register(async endpoints => {
    answerForms(endpoints)
    for (const [path, dialect] of [
      ['/api/v2', SEARCH_V2],
      ['/api/explore/v2.0', EXPLORE_V20],
      ['/api/explore/v2.1', EXPLORE_V21],
    ] as const) {
      const place = { prefix: path, path, dialect }
      await endpoints.register(explore, { ...place, ...requested, versions, cache })
      await endpoints.register(sources, { ...place, ...requested, sources: services.sources })
    }
    await endpoints.register(odata, { ...requested, versions, prefix: ODATA_PATH })
    await endpoints.register(descriptions, {
      ...requested,
      statisticsFiles: services.statisticsFiles,
      versions,
      dataset: (id: string, principal: Principal, version: string | null) =>
        catalog.addressed(id, principal, version),
    })
    await endpoints.register(fragments, {
      ...frame,
      pageSize: config.fragmentSize,
      store,
      versions,
      dataset: (id: string, principal: Principal, version: string | null) =>
        described(catalog.addressed(id, principal, version), base),
      datasets: (principal: Principal) => {
        const { version, entries } = completeList(catalog.visibleTo(principal))
        const listed = entries.map(each => ({ ...described(each, base), triples: each.triples }))
        return { version, entries: listed }
      },
      quads: {
        dataset: (id: string, principal: Principal, version: string | null) => {
          const served = catalog.addressed(id, principal, version)
          return { ...described(served, base), graphs: quadGraphs(base, [served]) }
        },
        portal: (principal: Principal) => {
          const list = completeList(catalog.visibleTo(principal))
          const graphs = quadGraphs(base, list.entries)
          return { title, description, version: stateOf(list), graphs }
        },
      },
      cache,
    })
    await endpoints.register(versionRoutes, { base, catalog, changes: services.changes, store })
    await endpoints.register(resources, {
      ...frame,
      store,
      dereference: config.dereference,
      versions,
      visibleTo: (
        principal: Principal,
        requested: { readonly id: string; readonly version: string } | null,
      ) => {
        const visible = catalog.visibleTo(principal)
        return {
          dataset: (id: string) =>
            described(
              catalog.addressed(id, principal, requested?.id === id ? requested.version : null),
              base,
            ),
          state: () => stateOf(visible.current()),
          linkSources: () => linkSourcesOf(visible.current()),
          isRemoved: (id: string, record: string) => visible.dataset(id).removed(record),
        }
      },
    })
  })
}

/** The log of queries that a portal wishes for; null for none. */
function queryLogOf(
  { portal, queryLog }: Config,
  address: (message: IncomingMessage) => string,
): QueryLog | null {
  if (queryLog === undefined) return null
  const folder = path.join(portal, 'var', 'query-log')
  return new QueryLog({ folder, size: queryLog, address, now: () => Date.now() })
}

function servedFigures(entries: readonly ServedDataset[]) {
  const restricted = entries.filter(({ dataset }) => dataset.visibility === 'restricted').length
  const records = entries.reduce((sum, { statistics }) => sum + statistics.records, 0)
  const moments = entries.map(({ published }) => Date.parse(published) / 1000)
  return { served: entries.length, restricted, records, latest: Math.max(0, ...moments) }
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

/** The datasets of a catalog as sources of links to resources. */
function linkSourcesOf({ entries }: DatasetList) {
  return entries.map(({ dataset, resources: graph }) => {
    const title = dataset.metas.default?.title
    return { id: dataset.id, title: typeof title === 'string' ? title : dataset.id, graph }
  })
}

/** The graphs of some datasets as those of their SPARQL endpoint: each dataset, and what its file or mapping names. */
function quadGraphs(base: string, entries: readonly ServedDataset[]): QuadGraphs {
  const { defaultGraphs, named } = graphCatalog(base, entries.map(queriedDataset))
  const names = new Set(named.map(({ graph }) => graph))
  return { defaultGraphs, named, isUnion: defaultGraphs.every(graph => names.has(graph)) }
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

/** How long ago the addresses of datasets last answered, in seconds, and how often they failed since. */
function sourceAges(portal: string, moment: number) {
  return remoteStates(portal).map(([dataset, { confirmed, failures }]) => ({
    dataset,
    age: confirmed === undefined ? null : (moment - Date.parse(confirmed)) / 1000,
    failures,
  }))
}
