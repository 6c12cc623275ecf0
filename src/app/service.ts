import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import { drain } from '../http/connections.ts'
import { PortalWatch } from '../publishing/portal-watch.ts'
import type { PublishMessage } from '../publishing/publish-all.ts'
import type { PublisherThread } from '../publishing/publisher-thread.ts'
import { abortAfter } from '../runtime/abort-after.ts'
import { openAdminEndpoint } from './admin.ts'
import type { App } from './app.ts'
import { FetchSchedule } from './fetch-schedule.ts'
import { follow, publishAndServe } from './lifecycle.ts'
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
