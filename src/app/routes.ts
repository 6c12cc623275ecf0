import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Accounts } from '../accounts/accounts.ts'
import { descriptions } from '../api/descriptions/routes.ts'
import { recordCalls, repeatedCall } from '../api/explore/calls.ts'
import { explore } from '../api/explore/routes.ts'
import { type Sources, sources } from '../api/explore/sources.ts'
import { fragments } from '../api/fragments/routes.ts'
import { management } from '../api/management/routes.ts'
import { oauth } from '../api/oauth/routes.ts'
import { ODATA_PATH, odata } from '../api/odata/routes.ts'
import { resources } from '../api/resources/routes.ts'
import { sparql } from '../api/sparql/routes.ts'
import { versions as versionRoutes } from '../api/versions/routes.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { StatisticsFiles } from '../catalog/statistics-files.ts'
import { exploreMetas, type Usage } from '../catalog/usage.ts'
import { completeList, type DatasetList } from '../catalog/visible.ts'
import type { Config } from '../config/config.ts'
import { Fault, NOT_FOUND_RESOURCE } from '../errors/errors.ts'
import { harvestAges } from '../harvest/schedule.ts'
import { authenticator } from '../http/authenticate.ts'
import { clientAddress } from '../http/client-address.ts'
import { WorkBudgets } from '../http/client-budget.ts'
import { AnswerCache } from '../http/conditional.ts'
import { type Quotas, quotaLimits } from '../http/daily-quota.ts'
import { answerFault, restBody } from '../http/faults.ts'
import { answerForms } from '../http/form.ts'
import { type HealthOptions, health } from '../http/health.ts'
import { addVersionHeaders, type VersionSource } from '../http/memento.ts'
import { observeRequests, requestLog } from '../http/observe.ts'
import { RateLimit } from '../http/rate-limit.ts'
import { type NoteCall, ResponseCache } from '../http/response-cache.ts'
import { answerUnknown, configureRoutes, declareUnknown } from '../http/route-config.ts'
import { cookieScope } from '../http/session-cookie.ts'
import { oncePerObject } from '../model/memoised.ts'
import { ANONYMOUS, type Principal } from '../model/principal.ts'
import { accountPages } from '../portal/account/routes.ts'
import { site } from '../portal/routes.ts'
import type { Desk } from '../publishing/management/desk.ts'
import type { Publications } from '../publishing/publication-state.ts'
import type { VersionChanges } from '../publishing/versions/changes.ts'
import { EXPLORE_V20, EXPLORE_V21, SEARCH_V2 } from '../query/dialect.ts'
import { answerMemory } from '../runtime/memory.ts'
import { answerPageFault } from '../site/fault-page.ts'
import type { Store } from '../store/store.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { serveMetrics } from './admin.ts'
import {
  describedDatasets,
  linkSourcesOf,
  publicationState,
  quadGraphs,
  queryLogOf,
  servedStatistics,
  sourceAges,
  sparqlDataset,
} from './endpoint-sources.ts'
import { addHooks } from './hooks.ts'

/** A dataset as the address, the caller and the version of a request name it. */
type Addressed = Parameters<Catalog['addressed']>

/** The services that the routes use. */
export interface Services {
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

export async function registerEndpoints(
  http: FastifyInstance,
  config: Config,
  services: Services,
): Promise<void> {
  const { catalog, store, usage, accounts, quotas } = services
  const { base, proxies = 0 } = config
  const now = () => Date.now()
  const recorder = { usage, now, proxies }
  const isPrivate = config.access === 'private'
  const authenticate = authenticator(accounts, cookieScope(base), config.addressTokens === 'allowed')
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
  const rateLimit = new RateLimit({ budgets, address })
  rateLimit.install(http)
  recordCalls(http, recorder)
  addHooks(http, {
    isPrivate,
    authenticate,
    quotas,
    rateLimit,
    address,
    site: frame,
    isSecure: base.startsWith('https:'),
  })
  addVersionHeaders(http, { base })
  const versions: VersionSource = {
    base,
    list: (id, principal) => catalog.versionsOf(id, principal),
    open: (id, version, principal) => catalog.retained.opened(id, version, catalog.versionsOf(id, principal)),
  }
  const share = answerMemory(config.memory)
  const answers = new AnswerCache(share.bodies)
  const cache = new ResponseCache({
    max: share.responses,
    // A new catalog takes effect by one assignment, and all cached answers depend only on it.
    state: () => catalog.entries(),
    quota: quotas,
    proxies,
    requestId: services.requestId,
    noteCall: (request, reply, body) =>
      noteEach([
        repeatedCall(request, reply, body, recorder),
        ...observers.map(observer => observer.repeated(request, reply)),
      ]),
  })
  if (!isPrivate) cache.install(http)
  rateLimit.installDelay(http)
  http.setErrorHandler(answerFault(restBody))
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
    cachedCharacters: share.pages,
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
    datasets: () => servedStatistics(catalog.entries()),
    cache: () => cache.statistics(),
    ready: () => services.health.readiness() === 'ready',
    sources: () =>
      sourceAges(config.portal, now(), isPrivate ? [] : catalog.visibleTo(ANONYMOUS).current().entries),
    harvests: () => harvestAges(config.portal, now()),
  })
  if (metrics !== null && config.metrics === 'public') serveMetrics(http, metrics, 'everybody')
  const requested = {
    answers,
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
  const queried = oncePerObject((list: DatasetList) => list.entries.map(sparqlDataset))
  await http.register(sparql, {
    answers,
    deadline: config.deadline,
    services: config.services,
    ...frame,
    store,
    versions,
    dataset: (...given: Addressed) => sparqlDataset(catalog.addressed(...given)),
    datasets: (principal: Principal) => queried(completeList(catalog.visibleTo(principal))),
  })
  // GET routes accept an access token in a form as well.
  await http.register(async endpoints => {
    answerForms(endpoints)
    configureRoutes(endpoints, { isCounted: true }, ['/ld', '/.well-known/void', '/.well-known/genid'])
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
      ...frame,
      statisticsFiles: services.statisticsFiles,
      versions,
      dataset: (...given: Addressed) => catalog.addressed(...given),
    })
    await endpoints.register(fragments, {
      answers,
      ...frame,
      pageSize: config.fragmentSize,
      store,
      versions,
      dataset: (...given: Addressed) => describedDatasets(catalog.addressed(...given), base),
      datasets: (principal: Principal) => {
        const { version, entries } = completeList(catalog.visibleTo(principal))
        const listed = entries.map(each => ({ ...describedDatasets(each, base), triples: each.triples }))
        return { version, entries: listed }
      },
      quads: {
        dataset: (...given: Addressed) => {
          const served = catalog.addressed(...given)
          return { ...describedDatasets(served, base), graphs: quadGraphs(base, [served]) }
        },
        portal: (principal: Principal) => {
          const list = completeList(catalog.visibleTo(principal))
          const graphs = quadGraphs(base, list.entries)
          return { title, description, version: publicationState(list), graphs }
        },
      },
      cache,
    })
    await endpoints.register(versionRoutes, { base, catalog, changes: services.changes, store })
    await endpoints.register(resources, {
      answers,
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
            describedDatasets(
              catalog.addressed(id, principal, requested?.id === id ? requested.version : null),
              base,
            ),
          state: () => publicationState(visible.current()),
          linkSources: () => linkSourcesOf(visible.current()),
          isRemoved: (id: string, record: string) => visible.dataset(id).removed(record),
        }
      },
    })
  })
  declareUnknown(http, { isCounted: true, apiType: 'other' }, ['/api'])
  await answerUnknown(http, (request, reply) => {
    const fault = new Fault(NOT_FOUND_RESOURCE, {
      kind: 'address',
      id: request.url.split('?')[0]?.slice(0, 200) ?? '',
    })
    const isRequestedByBrowser = request.headers.accept?.includes('text/html') === true
    if (isRequestedByBrowser) answerPageFault(frame)(fault, request, reply)
    else throw fault
  })
}

/** Records a call in several places. It retains nothing of the first request, for it lives as long as the cached answer. */
function noteEach(notes: readonly NoteCall[]): NoteCall {
  return (message, id) => {
    for (const note of notes) note(message, id)
  }
}
