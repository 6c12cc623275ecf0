import { Command } from 'commander'
import { versionsOf, withdraw } from '../catalog/versions.ts'
import { Fault } from '../errors.ts'
import { PORTAL_OPTION, type PortalOptions } from './options.ts'
import { configOf } from './settings.ts'

/** `lodestone unpublish`: a dataset is no longer served, until it is published again by name. */
export function unpublishCommand(): Command {
  return new Command('unpublish')
    .description('withdraw datasets; publishing them by name brings them back')
    .argument('<datasets...>', 'ids of datasets')
    .option(...PORTAL_OPTION)
    .action((datasets: string[], options: PortalOptions) => {
      const versions = versionsOf(configOf(options).portal)
      const unknown = datasets.filter(id => !withdraw(versions, id))
      if (unknown.length > 0)
        throw new Fault('NotFoundResource', { kind: 'published dataset', id: unknown.join(', ') })
    })
}
