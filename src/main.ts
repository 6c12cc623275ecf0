import { setTimeout as sleep } from 'node:timers/promises'
import { type App, buildApp } from './app/app.ts'
import { follow, publishAndServe } from './app/lifecycle.ts'
import { listen } from './app/listen.ts'
import type { ProgressReporter } from './app/progress.ts'
import { publishNow } from './app/publish-now.ts'
import { registerServer } from './app/running.ts'
import { warmUp } from './app/warm-up.ts'
import type { Config } from './config/config.ts'
import { drain } from './http/drain.ts'
import { PortalWatch } from './publishing/portal-watch.ts'
import { publisherSettings } from './publishing/publisher.ts'
import { PublisherThread } from './publishing/publisher-thread.ts'

/** A portal that is being served. */
export interface Service extends App {
  /** Resolves once every dataset is served that can be, or the service is closed. */
  readonly served: Promise<void>
  /**
   * Ends the service: /readyz says so at once, connections are taken until `shutdown_delay` is over, and answers under way
   * then have `shutdown_timeout`. It resolves to false where some of them were cut off.
   */
  readonly end: () => Promise<boolean>
}

/**
 * Serves a portal: listen, serve what is published already while what changed is published, serve that, say so. What cannot
 * be published is reported and the rest is served. Faults: those of {@link registerServer} and {@link buildApp}.
 */
export async function serve(config: Config, progress: ProgressReporter): Promise<Service> {
  const unregister = await registerServer(config)
  try {
    return await serveRegistered(config, progress, unregister)
  } catch (error) {
    unregister()
    throw error
  }
}

async function serveRegistered(
  config: Config,
  progress: ProgressReporter,
  unregister: () => void,
): Promise<Service> {
  // Its thread starts while the application is built.
  const publisher = new PublisherThread(publisherSettings(config))
  const app: App = await buildApp(config, {
    onProgress: ({ triples, total }) => progress.update('loading', triples, total),
    publish: id =>
      publishNow(publisher, { datasets: [id], mappingOnly: false, endsRollBack: true }, app, progress),
  }).catch(async error => {
    await publisher.close()
    throw error
  })
  // What others have published is served from the first request on: nothing has to be loaded for it.
  if (app.shared !== null) await app.catalog.refresh()
  const listening = await listen(app, config)
  const portal = new PortalWatch(config.portal)
  const publish = (datasets: readonly string[] | null, mappingOnly: boolean) =>
    publishNow(publisher, { datasets, mappingOnly }, app, progress)
  const stopped = new AbortController()
  const served = publishAndServe(app, publish, progress, stopped.signal)
  // What several share is asked by others.
  if (app.shared === null)
    void served.then(
      () => warmUpWhenReady(app, config, stopped.signal),
      () => undefined,
    )
  const following = served.then(
    () => follow(portal, app, publish, stopped.signal),
    () => undefined,
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

async function warmUpWhenReady(app: App, config: Config, signal: AbortSignal): Promise<void> {
  const { catalog, store, http } = app
  const { base, title, workers: threads } = config
  try {
    await warmUp({ catalog, store, base, title, server: http.server, threads, signal })
  } catch (error) {
    if (!signal.aborted) http.log.warn({ err: error }, 'warm-up')
  }
}
