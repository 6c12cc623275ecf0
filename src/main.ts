import { setTimeout as sleep } from 'node:timers/promises'
import { type App, buildApp } from './app.ts'
import { PortalWatch } from './catalog/portal-watch.ts'
import { type PublishJob, type PublishMessage, publisherSettings } from './catalog/publisher.ts'
import { PublisherThread } from './catalog/publisher-thread.ts'
import type { ProgressReporter } from './cli/progress.ts'
import { registerServer } from './cli/running.ts'
import type { Config } from './config.ts'
import { openAdminDoor } from './http/admin.ts'
import { drain } from './http/drain.ts'
import type { PublicationOutcome } from './telemetry/metrics.ts'
import { follow, publishAndServe } from './upkeep.ts'

/** Who publishes what changed, in the audit log. */
const SERVER = { name: 'server', address: 'local' }

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
 * be published is told and the rest is served. Faults: those of {@link registerServer} and {@link buildApp}.
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
  const app = await buildApp(config, {
    onProgress: ({ triples, total }) => progress.update('loading', triples, total),
    publish: id => publishNow({ datasets: [id], mappingOnly: false, endsRollBack: true }),
  }).catch(async error => {
    await publisher.close()
    throw error
  })
  // What others have published is served from the first request on: nothing has to be loaded for it.
  if (app.shared !== null) await app.catalog.refresh()
  const listening = await listen(app, config)
  const portal = new PortalWatch(config.portal)
  const publishNow = (job: PublishJob) =>
    publisher.publish(job, message => {
      progress.publication(message)
      app.publications.note(message)
      if (message.type === 'published' || message.type === 'failed')
        app.accounts.audit.note(message.type, message.dataset, SERVER).catch(() => undefined)
      if (message.type !== 'progress' && message.type !== 'loading')
        app.telemetry.metrics?.published(outcomeOf(message))
    })
  const publish = (datasets: readonly string[] | null, mappingOnly: boolean) =>
    publishNow({ datasets, mappingOnly })
  const stopped = new AbortController()
  const served = publishAndServe(app, publish, progress, stopped.signal)
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

/** Listens for everybody and, where it is wished, for operators. */
async function listen(app: App, { host, port, adminPort, adminHost }: Config) {
  const { metrics } = app.telemetry
  try {
    await app.http.listen({ host, port })
    const { health } = app
    const admin =
      adminPort === undefined || metrics === null
        ? null
        : await openAdminDoor({ host: adminHost, port: adminPort, health, metrics })
    return { close: async () => admin?.close() }
  } catch (error) {
    await app.close()
    throw error
  }
}

function outcomeOf({ type }: Exclude<PublishMessage, { type: 'progress' | 'loading' }>): PublicationOutcome {
  return type === 'mapping-refused' ? 'failed' : type
}
