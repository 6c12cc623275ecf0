import { setTimeout as sleep } from 'node:timers/promises'
import { freeBytes } from '../accounts/sqlite-files.ts'
import type { Config } from '../config/config.ts'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import { drain } from '../http/connections.ts'
import { ignoredLinks } from '../publishing/implicit.ts'
import { PortalWatch } from '../publishing/portal-watch.ts'
import type { PublishMessage } from '../publishing/publish-all.ts'
import type { PublisherThread } from '../publishing/publisher-thread.ts'
import { currentVersion, isWithdrawn } from '../publishing/versions/versions.ts'
import { abortAfter } from '../runtime/abort-after.ts'
import { openAdminEndpoint } from './admin.ts'
import { type App, refreshAnew } from './app.ts'
import { FetchSchedule, HarvestSchedule } from './fetch-schedule.ts'
import { type ProgressReporter, reportPublication } from './progress.ts'
import { type WarmUpTimes, warmUp } from './warm-up.ts'

/** A portal that is being served. */
export interface Service extends App {
  /** Resolves once every dataset is served that can be published without waiting for its address, or the service is closed. */
  readonly served: Promise<void>
  /**
   * Shuts the service down: /readyz reports it immediately, connections are accepted until `shutdown_delay` is over, and answers
   * in progress then have `shutdown_timeout`. It resolves to false if some of them were cut off.
   */
  readonly end: () => Promise<boolean>
}

/** Milliseconds since the start of the process until which it warms up before it reports that it is ready. */
const READY_WITHIN = 2000

/** Times of that warm-up: the large dataset for the remaining time. */
const FIRST: WarmUpTimes = { catalog: 0, small: 300, large: READY_WITHIN, sparql: 0 }

const UNSERVED = 'whoever waits for `served` gets it'

/** The parts of a service. */
export interface ServiceParts {
  readonly app: App
  readonly publisher: PublisherThread
  readonly progress: ProgressReporter
  /** Removes the entry of this server from the portal folder. */
  readonly unregister: () => void
}

/** Listens and serves published datasets, while changed ones are published; from then on follows saved changes. */
export async function startService(
  config: Config,
  { app, publisher, progress, unregister }: ServiceParts,
): Promise<Service> {
  // Datasets in a shared store are served from the first request on: they need not be loaded.
  if (app.shared !== null) await app.catalog.refresh()
  const listening = await listen(app, config)
  const portal = new PortalWatch(config.portal)
  const stopped = new AbortController()
  const report = (message: PublishMessage) => reportPublication(message, app, progress)
  const fetches = new FetchSchedule(config.portal, report, stopped.signal)
  const publish = (datasets: readonly string[] | null, mappingOnly: boolean) =>
    publisher.publish({ datasets, mappingOnly, withoutFetching: true }, message => {
      report(message)
      if (message.type === 'waiting') fetches.start([message.dataset])
    })
  // A shared store is warmed up by the queries of other instances.
  const isWarmed = app.shared === null
  const served = publishAndServe(app, { publish, fetches, progress, signal: stopped.signal }, async () => {
    const left = Math.floor(READY_WITHIN - performance.now())
    if (!isWarmed || left <= 0) return
    await warmUpWhenServed(app, config, abortAfter(left, stopped.signal), FIRST)
  })
  if (isWarmed)
    void ignoreRejection(
      served.then(() => warmUpWhenServed(app, config, stopped.signal)),
      UNSERVED,
    )
  const following = ignoreRejection(
    served.then(() => follow(portal, app, { publish, fetches, signal: stopped.signal })),
    UNSERVED,
  )
  const end = async () => {
    app.markStopping()
    await sleep(config.shutdownDelay * 1000)
    stopped.abort()
    await publisher.close()
    const closing = app.close().then(() => following)
    const isWhole = await drain(app.http.server, closing, config.shutdownTimeout * 1000)
    await listening.close()
    unregister()
    return isWhole
  }
  return { ...app, served, end, close: async () => void (await end()) }
}

async function warmUpWhenServed(
  app: App,
  config: Config,
  signal: AbortSignal,
  times?: WarmUpTimes,
): Promise<void> {
  const { catalog, store, http } = app
  const { base, title, deadline, workers: threads } = config
  try {
    await warmUp({
      catalog,
      store,
      base,
      title,
      deadline,
      server: http.server,
      threads,
      signal,
      ...(times === undefined ? {} : { times }),
    })
  } catch (error) {
    if (!signal.aborted) http.log.warn({ err: error }, 'warm-up')
  }
}

/** Listens on the public port and, if configured, on that for operators. */
export async function listen(app: App, { host, port, adminPort, adminHost }: Config) {
  const { metrics } = app.telemetry
  try {
    await app.http.listen({ host, port })
    const { health } = app
    const admin =
      adminPort === undefined || metrics === null
        ? null
        : await openAdminEndpoint({ host: adminHost, port: adminPort, health, metrics })
    return { close: async () => admin?.close() }
  } catch (error) {
    await app.close()
    throw error
  }
}

/** Interval of checks whether another process has published, in milliseconds. */
const WATCH_INTERVAL = 2000

/** The same for a shared store, which takes one small query; and the interval of its cleaning. */
const SHARED_INTERVAL = 500
const SWEEP_INTERVAL = 20_000

/** Interval of checks whether a mapping or a dataset.yaml was saved, and the share of processor time that they may take. */
const LOOK_INTERVAL = 400
const LOOK_SHARE = 0.02

/** Milliseconds for which a start waits for the addresses of new datasets. */
const FIRST_FETCHES = 5000

/** Publishing, without fetching addresses, and the fetches, until the signal is aborted. */
export interface PublishWork {
  readonly publish: (datasets: readonly string[] | null, mappingOnly: boolean) => Promise<void>
  readonly fetches: FetchSchedule
  readonly signal: AbortSignal
}

/**
 * Publishes changed datasets while published ones are served, each as soon as it is ready, and from then on follows the
 * publications of other processes.
 *
 * @param prepare runs when all datasets are served, before the service reports that it is ready
 */
async function publishAndServe(
  app: App,
  { publish, fetches, progress, signal }: PublishWork & { readonly progress: ProgressReporter },
  prepare: () => Promise<void>,
): Promise<void> {
  try {
    const first = app.catalog.refresh()
    refreshRegularly(app, signal)
    await Promise.all([first, publish(null, false)])
    await fetches.settled(FIRST_FETCHES)
    const fetched = fetches.take()
    if (fetched.length > 0) await publish(fetched, false)
    await refreshAnew(app.catalog)
    await prepare()
  } catch (error) {
    if (signal.aborted) return
    throw error
  }
  progress.done()
  if (signal.aborted) return
  app.markReady()
}

/** Looks for new versions, and cleans a shared store, until it is stopped. */
function refreshRegularly({ catalog, http: { log }, shared }: App, signal: AbortSignal): void {
  let isAway = false
  const refresh = () => {
    catalog.refresh().then(
      () => {
        if (isAway) log.warn('refresh: the store answers again')
        isAway = false
      },
      error => {
        if (!isAway) log.error({ err: error }, 'refresh')
        isAway = true
      },
    )
  }
  const sweep = () => {
    shared?.registry.sweep().catch(error => log.warn({ err: error }, 'sweep'))
  }
  const timers = [
    setInterval(refresh, shared === null ? WATCH_INTERVAL : SHARED_INTERVAL),
    ...(shared === null ? [] : [setInterval(sweep, SWEEP_INTERVAL)]),
  ]
  for (const timer of timers) timer.unref()
  signal.addEventListener('abort', () => {
    for (const timer of timers) clearInterval(timer)
  })
}

/** Datasets whose files were removed stay served until everything is published. */
function warnOfRemoved(portal: string, datasets: readonly string[], { versions, http: { log } }: App): void {
  const links = ignoredLinks(portal)
  for (const dataset of datasets.filter(id => currentVersion(versions, id) !== null))
    log.warn(
      { dataset },
      links.get(dataset) ??
        `the folder or file of ${dataset} in data/ is gone: it is served until the next start or lodestone publish, which withdraws it and deletes its versions`,
    )
}

/** Publishes and serves what is saved in the portal folder, one thing after another, until it is stopped. */
async function follow(
  portal: PortalWatch,
  app: App,
  { publish, fetches, signal }: PublishWork,
): Promise<void> {
  const isOut = (id: string) =>
    isWithdrawn(app.versions, id) || (app.shared?.registry.withdrawn(id) ?? null) !== null
  const harvests = new HarvestSchedule(portal.portal, app, signal)
  const again = new Set<string>()
  const isFollowed = (id: string) => !isOut(id) || again.has(id)
  let rest = LOOK_INTERVAL
  let failure = ''
  while (!signal.aborted) {
    await ignoreRejection(sleep(rest, undefined, { signal, ref: false }), 'the next line sees the end')
    if (signal.aborted) return
    const [begun, used] = [performance.now(), process.cpuUsage()]
    try {
      if (app.shared?.registry.isLost() === true) {
        app.http.log.warn('the store has nothing of this portal any more: it is filled again')
        app.markPublishing()
        await publish(null, false)
        await refreshAnew(app.catalog)
        app.markReady()
      }
      const harvested = await harvests.take()
      const { definitions: defined = [], mappings: mapped = [], gone = [] } = portal.look() ?? {}
      failure = ''
      if (gone.length > 0) warnOfRemoved(portal.portal, gone, app)
      for (const id of again) if (!isOut(id)) again.delete(id)
      fetches.start(portal.dueSources(Date.now()).filter(isFollowed))
      const unstored = app.publications.due(performance.now(), () => freeBytes(app.versions.root))
      const changed = new Set([...defined, ...app.catalog.takeDamaged(), ...fetches.take(), ...unstored])
      // On a busy machine a look lasts many times its work.
      const { user, system } = process.cpuUsage(used)
      const work = Math.min(performance.now() - begun, (user + system) / 1000)
      rest = Math.max(LOOK_INTERVAL, work / LOOK_SHARE)
      if (changed.size + mapped.length + harvested.length === 0) continue
      // A dataset that was withdrawn before is published again if a catalog has it again.
      for (const id of harvested) again.add(id)
      const [definitions, mappings] = [new Set([...changed, ...harvested]), mapped].map(ids =>
        [...ids].filter(isFollowed),
      ) as [string[], string[]]
      if (mappings.length > 0) await publish(mappings, true)
      if (definitions.length > 0) await publish(definitions, false)
      if (!signal.aborted) await app.catalog.refresh()
    } catch (error) {
      if (signal.aborted) return
      // Once, and not at each look, while data/ cannot be read.
      if (String(error) !== failure) app.http.log.error({ err: error }, 'publishing what was saved')
      failure = String(error)
    }
  }
}
