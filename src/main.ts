import { type App, buildApp } from './app.ts'
import { type PublishMessage, publisherData } from './catalog/publisher.ts'
import type { ProgressReporter } from './cli/progress.ts'
import type { Config } from './config.ts'
import { startThread } from './thread.ts'

/** How often a running server looks whether another process has published, in milliseconds. */
const WATCH_INTERVAL = 2000

/**
 * Serves a portal: listen, serve what is published already while what changed is published, serve that, say so. It resolves
 * once every dataset is served; what cannot be published is told and the rest is served.
 */
export async function serve(config: Config, progress: ProgressReporter): Promise<App> {
  const app = await buildApp(config, {
    onProgress: ({ quads, total }) => progress.update('loading', quads, total),
  })
  await app.http.listen({ host: config.host, port: config.port })
  await Promise.all([
    app.catalog.refresh(),
    publishInThread(config, message => progress.publication(message)),
  ])
  await app.catalog.refresh()
  progress.done()
  app.markReady()
  const watch = setInterval(() => {
    app.catalog.refresh().catch(error => app.http.log.error({ err: error }, 'refresh'))
  }, WATCH_INTERVAL)
  watch.unref()
  const close = async () => {
    clearInterval(watch)
    await app.close()
  }
  return { ...app, close }
}

/** Publishes in a thread of its own: requests are answered meanwhile, and its memory is given back at the end. */
function publishInThread(config: Config, onMessage: (message: PublishMessage) => void): Promise<void> {
  const worker = startThread(import.meta.url, './catalog/publisher', {
    workerData: publisherData(config.portal, config.base),
  })
  return new Promise((resolve, reject) => {
    worker.on('message', onMessage)
    worker.once('error', reject)
    worker.once('exit', code =>
      code === 0 ? resolve() : reject(new Error(`the publisher ended with ${code}`)),
    )
  })
}
