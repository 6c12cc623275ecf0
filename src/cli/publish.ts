import { Command } from 'commander'
import { refuseOtherAddress } from '../app/running.ts'
import type { Config } from '../config/config.ts'
import {
  openReleases,
  type PublishMessage,
  publishAll,
  publisherSettings,
} from '../publishing/publish-all.ts'
import { publishingShare } from '../runtime/memory.ts'
import { withAccounts } from './accounts.ts'
import { BASE_OPTION, JSON_OPTION, PORTAL_OPTION, type PortalOptions, portArgument } from './options.ts'
import { printJson, printText } from './print.ts'
import { createProgress } from './progress.ts'
import { publicationTable } from './publication-table.ts'
import { servedConfigOf } from './settings.ts'

/** `lodestone publish`: writes new versions without serving; a running server of the portal loads them. */
export function publishCommand(): Command {
  return new Command('publish')
    .description('publish datasets that changed, without serving')
    .argument('[datasets...]', 'ids of datasets (default: all that were not unpublished)')
    .option(...PORTAL_OPTION)
    .option('--port <n>', 'port of the default base address', portArgument)
    .option(...BASE_OPTION)
    .option(...JSON_OPTION)
    .action(async (datasets: string[], options: PortalOptions & { readonly json?: boolean }) => {
      const progress = createProgress(process.stderr)
      const results: PublishMessage[] = []
      const config = servedConfigOf(options)
      const { portal, base, memory, keepVersions } = config
      refuseOtherAddress(config, 'this publication')
      const { shared, close } = await openReleases(publisherSettings(config))
      await publishAll(
        {
          portal,
          base,
          keepVersions,
          endsRollBack: datasets.length > 0,
          now: () => new Date(),
          shared,
          isNamed: datasets.length > 0,
          parallel: publishingShare(memory),
        },
        datasets.length > 0 ? datasets : null,
        message => {
          progress.publication(message)
          if (message.type !== 'progress' && message.type !== 'loading') results.push(message)
        },
      )
      await close()
      await noteResults(config, results)
      progress.done()
      if (options.json === true) printJson(results)
      else printText(publicationTable(results))
      if (progress.failures.length > 0) process.exitCode = 1
    })
}

/** Records the published datasets in the audit log. */
async function noteResults(config: Config, results: readonly PublishMessage[]): Promise<void> {
  const noted = results.filter(
    ({ type }) => type === 'published' || type === 'failed' || type === 'withdrawn',
  )
  if (noted.length === 0) return
  await withAccounts(config, async ({ audit }) => {
    for (const { type, dataset } of noted) await audit.note(type, dataset)
  })
}
