import { type App, buildApp } from './app/app.ts'
import { type ProgressReporter, publishNow } from './app/progress.ts'
import { registerServer } from './app/running.ts'
import { type Service, startService } from './app/service.ts'
import type { Config } from './config/config.ts'
import { publisherSettings } from './publishing/publish-all.ts'
import { PublisherThread } from './publishing/publisher-thread.ts'

/**
 * Serves a portal: listen, serve what is published already while what changed is published, serve that, say so. What cannot
 * be published is reported and the rest is served. Faults: those of {@link registerServer} and {@link buildApp}.
 */
export async function serve(config: Config, progress: ProgressReporter): Promise<Service> {
  const unregister = await registerServer(config)
  try {
    // Its thread starts while the application is built.
    const publisher = new PublisherThread(publisherSettings(config))
    const app: App = await buildApp(config, {
      onProgress: ({ triples, total }) => progress.update('loading', triples, total),
      publish: id =>
        publishNow(
          publisher,
          { datasets: [id], mappingOnly: false, endsRollBack: true },
          app,
          progress,
        ).catch(error => app.http.log.error({ err: error, dataset: id }, 'publishing')),
    }).catch(async error => {
      await publisher.close()
      throw error
    })
    return await startService(config, { app, publisher, progress, unregister })
  } catch (error) {
    unregister()
    throw error
  }
}
