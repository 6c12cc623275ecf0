import { Command } from 'commander'
import { Fault, NOT_FOUND_RESOURCE } from '../errors/errors.ts'
import { openReleases, publisherSettings } from '../publishing/publish-all.ts'
import { withdrawEverywhere } from '../publishing/registry/registry.ts'
import { suggestedDataset } from '../publishing/suggested-dataset.ts'
import { publishedDatasets, versionsOf } from '../publishing/versions/versions.ts'
import {
  BASE_OPTION,
  PORTAL_OPTION,
  type PortalOptions,
  portArgument,
  servedConfigOf,
  withAccounts,
} from './options.ts'

/** `lodestone unpublish`: withdraws a dataset until it is published again by name. */
export function unpublishCommand(): Command {
  return new Command('unpublish')
    .description('withdraw datasets; publishing them by name brings them back')
    .argument('<datasets...>', 'ids of datasets')
    .option(...PORTAL_OPTION)
    .option('--port <n>', 'port of the default base address', portArgument)
    .option(...BASE_OPTION)
    .action(async (datasets: string[], options: PortalOptions) => {
      const unknown = new Set(datasets)
      const config = servedConfigOf(options)
      const withdrawn: string[] = []
      const versions = versionsOf(config.portal)
      const { shared, close } = await openReleases(publisherSettings(config))
      for (const id of datasets) {
        if (!(await withdrawEverywhere(versions, shared, id))) continue
        unknown.delete(id)
        withdrawn.push(id)
      }
      await close()
      if (withdrawn.length > 0)
        await withAccounts(config, async ({ audit }) => {
          for (const id of withdrawn) await audit.note('withdrawn', id)
        })
      if (unknown.size > 0) {
        const published = publishedDatasets(versions)
        const hints = [...unknown].map(id => suggestedDataset(id, published))
        const hint = [...new Set(hints)].join(' ').trim()
        const parts = { kind: 'published dataset', id: [...unknown].join(', ') }
        throw new Fault(NOT_FOUND_RESOURCE, parts, hint === '' ? {} : { hint })
      }
    })
}
