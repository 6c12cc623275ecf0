import { setTimeout as sleep } from 'node:timers/promises'
import { type App, buildApp } from './app.ts'
import { PortalWatch } from './catalog/portal-watch.ts'
import { PublisherThread } from './catalog/publisher-thread.ts'
import { isWithdrawn } from './catalog/versions.ts'
import type { ProgressReporter } from './cli/progress.ts'
import type { Config } from './config.ts'

/** How often a running server looks whether another process has published, in milliseconds. */
const WATCH_INTERVAL = 2000

/** How often it looks whether a mapping or a dataset.yaml was saved, and the part of its time that may take. */
const LOOK_INTERVAL = 400
const LOOK_SHARE = 0.02

/**
 * Serves a portal: listen, serve what is published already while what changed is published, serve that, say so. It resolves
 * once every dataset is served; what cannot be published is told and the rest is served.
 */
export async function serve(config: Config, progress: ProgressReporter): Promise<App> {
  const app = await buildApp(config, {
    onProgress: ({ quads, total }) => progress.update('loading', quads, total),
  })
  await app.http.listen({ host: config.host, port: config.port })
  const portal = new PortalWatch(config.portal)
  const publisher = new PublisherThread(config.portal, config.base)
  const publish = (datasets: readonly string[] | null, mappingOnly: boolean) =>
    publisher.publish({ datasets, mappingOnly }, message => progress.publication(message))
  await Promise.all([app.catalog.refresh(), publish(null, false)])
  await app.catalog.refresh()
  progress.done()
  app.markReady()
  const watch = setInterval(() => {
    app.catalog.refresh().catch(error => app.http.log.error({ err: error }, 'refresh'))
  }, WATCH_INTERVAL)
  watch.unref()
  const stopped = new AbortController()
  const following = follow(portal, app, publish, stopped.signal)
  const close = async () => {
    clearInterval(watch)
    stopped.abort()
    await publisher.close()
    await following
    await app.close()
  }
  return { ...app, close }
}

/** Publishes and serves what is saved in the portal folder, one thing after another, until it is stopped. */
async function follow(
  portal: PortalWatch,
  app: App,
  publish: (datasets: readonly string[], mappingOnly: boolean) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let rest = LOOK_INTERVAL
  while (!signal.aborted) {
    await sleep(rest, undefined, { signal, ref: false }).catch(() => undefined)
    if (signal.aborted) return
    const begun = performance.now()
    try {
      const changes = portal.look()
      rest = Math.max(LOOK_INTERVAL, (performance.now() - begun) / LOOK_SHARE)
      if (changes === null) continue
      const [definitions, mappings] = [changes.definitions, changes.mappings].map(ids =>
        ids.filter(id => !isWithdrawn(app.versions, id)),
      ) as [string[], string[]]
      if (mappings.length > 0) await publish(mappings, true)
      if (definitions.length > 0) await publish(definitions, false)
      if (!signal.aborted) await app.catalog.refresh()
    } catch (error) {
      app.http.log.error({ err: error }, 'publishing what was saved')
    }
  }
}
