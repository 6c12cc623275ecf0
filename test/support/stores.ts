import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import {
  openReleases,
  type PublishMessage,
  publishAll,
  publisherSettings,
} from '../../src/publishing/publish-all.ts'

/**
 * The configuration of a portal of a test. LODESTONE_TEST_STORE names an engine that keeps its records, so that the same
 * test runs against every store.
 */
export function testConfig(portal: string, base: string): Config {
  const { LODESTONE_TEST_STORE: engine } = process.env
  const environment = engine === undefined ? {} : { LODESTONE_STORE: engine }
  return {
    ...loadConfig({ portal, base }, environment),
    workers: 1,
    log: (process.env.LODESTONE_TEST_LOG ?? 'silent') as Config['log'],
  }
}

/** Publishes all of a portal into the store of its configuration. */
export async function publishInto(
  config: Config,
  report: (message: PublishMessage) => void = () => undefined,
  now: () => Date = () => new Date(),
): Promise<void> {
  const { shared, close } = await openReleases(publisherSettings(config))
  const { portal, base } = config
  await publishAll({ portal, base, now, shared }, null, message => {
    if (message.type === 'failed') throw new Error(message.reason)
    report(message)
  })
  await close()
}
