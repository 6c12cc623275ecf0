import { randomBytes } from 'node:crypto'
import path from 'node:path'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Accounts } from '../accounts/accounts.ts'
import { openAccountsOf } from '../accounts/open.ts'
import { exportTarget } from '../api/explore/download.ts'
import type { Sources } from '../api/explore/sources.ts'
import { answerODataFault } from '../api/odata/faults.ts'
import { ODATA_PATH } from '../api/odata/routes.ts'
import { Catalog } from '../catalog/catalog.ts'
import { Monitoring } from '../catalog/monitoring.ts'
import { Network } from '../catalog/network.ts'
import { StatisticsFiles } from '../catalog/statistics-files.ts'
import { Usage } from '../catalog/usage.ts'
import type { Config } from '../config/config.ts'
import { answerBrokenRequest, checkingInterval, limitConnections } from '../http/connections.ts'
import { Quotas, quotaLimits } from '../http/daily-quota.ts'
import { answerFault, restBody } from '../http/faults.ts'
import type { HealthOptions, Readiness } from '../http/health.ts'
import { loggerOptions, requestIds } from '../http/observe.ts'
import { parseQueryString, plainTarget } from '../http/query-string.ts'
import { ANONYMOUS } from '../model/principal.ts'
import { definedDatasets, readDefinition } from '../publishing/definition.ts'
import { Desk } from '../publishing/management/desk.ts'
import { Publications } from '../publishing/publication-state.ts'
import { publisherSettings } from '../publishing/publish-all.ts'
import { PublisherThread } from '../publishing/publisher-thread.ts'
import {
  openPortalStore,
  type PortalStore,
  type PortalStoreEvent,
} from '../publishing/registry/portal-store.ts'
import { isFetched } from '../publishing/remote/refresh.ts'
import { VersionChanges } from '../publishing/versions/changes.ts'
import { currentManifest, isWithdrawn, type Versions, versionsOf } from '../publishing/versions/versions.ts'
import { answerPageFault } from '../site/fault-page.ts'
import type { LoadProgress, Store } from '../store/store.ts'
import { openTelemetry, type Telemetry } from '../telemetry/telemetry.ts'
import { watchedStore } from '../telemetry/watched-store.ts'
import { registerEndpoints, type Services } from './routes.ts'

/** The parts of a running Lodestone. */
export interface App {
  readonly http: FastifyInstance
  readonly catalog: Catalog
  readonly store: Store
  readonly accounts: Accounts
  readonly versions: Versions
  /** The publications that this process started. */
  readonly publications: Publications
  /** The store that is shared with other instances; null if the records are in the memory of this process. */
  readonly shared: PortalStore['shared']
  readonly telemetry: Telemetry
  readonly health: HealthOptions
  /** Marks every dataset as served: from then on /readyz answers 200. */
  readonly markReady: () => void
  /** Marks all datasets as being republished, since the store has lost them: until then /readyz answers 503. */
  readonly markPublishing: () => void
  /** Marks the process as shutting down: from then on /readyz answers 503. */
  readonly markStopping: () => void
  readonly close: () => Promise<void>
}

export interface AppOptions {
  readonly onProgress?: (progress: LoadProgress) => void
  /** Publishes a dataset by name; by default in a separate thread. */
  readonly publish?: (id: string) => Promise<void>
}

/** Maximum bytes of request line and headers: enough for a long filter or a bindings-restricted fragment. */
const MAX_HEADER_BYTES = 128 * 1024

/** Milliseconds to wait for an engine, which may be started at the same time as this process. */
const STORE_TIMEOUT = 60_000

/** Milliseconds to wait for a database of accounts, which may be started at the same time as this process. */
const ACCOUNTS_TIMEOUT = 30_000

/** How an address that the framework cannot read is answered. */
function faultAnswerFor({ url, headers }: FastifyRequest, { base, title, description, languages }: Config) {
  if (url.startsWith(ODATA_PATH)) return answerODataFault
  const isRequestedByBrowser = headers.accept?.includes('text/html') === true
  return isRequestedByBrowser
    ? answerPageFault({ base, title, description, languages })
    : answerFault(restBody)
}

/** Assembles the services and registers the routes, without loading data or listening. */
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
    // A child logger for each request would take longer than a small answer.
    childLoggerFactory: logger => logger,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 4096, querystringParser: parseQueryString },
    rewriteUrl: ({ url = '/' }) => exportTarget(plainTarget(url)),
    exposeHeadRoutes: true,
    // Requests on open connections are answered as usual while the server shuts down.
    return503OnClosing: false,
    bodyLimit: 1024 * 1024,
    http: { maxHeaderSize: MAX_HEADER_BYTES, connectionsCheckingInterval: checkingInterval(timeouts) },
    frameworkErrors: (error, request, reply) => faultAnswerFor(request, config)(error, request, reply),
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, MAX_HEADER_BYTES),
  })
  const log = http.log
  const telemetry = await openTelemetry(config, process.env, message => log.warn(message))
  const versions = versionsOf(config.portal, config.keepVersions)
  const onEvent = async (event: PortalStoreEvent) => {
    const { graph, reason } = event
    if (graph === undefined || (await catalog.loseGraph(graph, reason))) log.warn(event)
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
      id => expectedVisibility(config.portal, versions, id),
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
      return publisher.publish(job, message => publications.note(message, performance.now()))
    })
  const refresh = () => refreshAnew(catalog)
  const desk = new Desk({
    portal: config.portal,
    base: config.base,
    versions,
    now: () => Date.now(),
    uploadLimit: config.uploadLimit,
    publications,
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
  // Before the port is released to another process, which reads the counts.
  http.addHook('preClose', done => {
    quotas.flush().then(() => done())
  })
  await quotas.begin()
  let readiness: Readiness = 'publishing'
  let isFollowed = false
  const statistics = async () => {
    // The size of the store would reveal restricted datasets.
    const isOpen =
      config.access === 'public' && catalog.entries().every(({ dataset }) => dataset.visibility === 'public')
    return isOpen ? { store: await store.statistics() } : {}
  }
  const requested: HealthOptions = {
    readiness: () => readiness,
    canAnswer: async () => (await store.statistics()).threads.ready > 0,
    startProgress: () => catalog.visibleTo(ANONYMOUS).startProgress?.() ?? null,
    statistics,
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

/** Serves everything that is published now: a refresh in progress may have begun before. */
export async function refreshAnew(catalog: Catalog): Promise<void> {
  await catalog.refresh()
  await catalog.refresh()
}

/** The visibility of a dataset that is to be served, of a new one by dataset.yaml, which takes long to read; null if it waits for its address. */
function expectedVisibility(portal: string, versions: Versions, id: string): 'public' | 'restricted' | null {
  const published = currentManifest(versions, id)
  if (published !== null) return published.dataset.visibility
  const { visibility = 'restricted', remote = null } = readDefinition(portal, id).definition ?? {}
  return remote !== null && !isFetched(portal, id, remote) ? null : visibility
}

/** The sources of datasets other than the catalog (REST 7.1). */
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
    network: new Network({ ...shared, now: () => performance.now(), members, onFailure }),
  }
}
