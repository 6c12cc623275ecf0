import { userInfo } from 'node:os'
import { Command } from 'commander'
import { Fault, NOT_FOUND_RESOURCE } from '../errors/errors.ts'
import { noteHistory } from '../publishing/management/history.ts'
import { openReleases, publisherSettings } from '../publishing/publish-all.ts'
import { absenceHint } from '../publishing/suggested-dataset.ts'
import { rollBack } from '../publishing/versions/roll-back.ts'
import { retainedVersions, type VersionManifest, versionsOf } from '../publishing/versions/versions.ts'
import {
  configOf,
  JSON_OPTION,
  PORTAL_OPTION,
  type PortalOptions,
  servedConfigOf,
  servedOptions,
  withAccounts,
} from './options.ts'
import { counted, printJson, printText } from './print.ts'

/** `lodestone versions`: the retained versions of a dataset. */
export function versionsCommand(): Command {
  return new Command('versions')
    .description('list the published versions of a dataset that are retained')
    .argument('<dataset>', 'id of a published dataset')
    .option(...PORTAL_OPTION)
    .option(...JSON_OPTION)
    .action((id: string, options: PortalOptions) => {
      const { portal, keepVersions } = configOf(options)
      const versions = versionsOf(portal, keepVersions)
      const listed = retainedVersions(versions, id).map(
        ({ version, published, statistics, restored }, at) => ({
          version,
          published,
          records: statistics.records,
          in_force: at === 0,
          ...(restored === undefined ? {} : { restored: restored.version }),
        }),
      )
      if (listed.length === 0)
        throw new Fault(NOT_FOUND_RESOURCE, { kind: 'published dataset', id }, absenceHint(versions, id))
      const lines = listed.map(each => {
        const remarks = [each.in_force ? 'in force' : '', 'restored' in each ? `as ${each.restored}` : '']
        const note = remarks.filter(text => text !== '').join(', ')
        return `${each.version}  ${each.published}  ${counted(each.records, 'record')}${note === '' ? '' : `  (${note})`}\n`
      })
      if (options.json === true) printJson(listed)
      else printText(lines.join(''))
    })
}

/** `lodestone rollback`: puts an older version of a dataset in force again; a running server of the portal loads it. */
export function rollbackCommand(): Command {
  const command = new Command('rollback')
    .description(
      'put an older version of a dataset in force again, until something changes in its files or it is published by name',
    )
    .argument('<dataset>', 'id of a published dataset')
    .argument('[version]', 'the version, as lodestone versions names it (default: the one before)')
  return servedOptions(command)
    .option(...JSON_OPTION)
    .action(async (id: string, version: string | undefined, options: PortalOptions) => {
      const config = servedConfigOf(options)
      const { portal, base, keepVersions } = config
      const versions = versionsOf(portal, keepVersions)
      const begun = performance.now()
      // First: what is rolled back while the store is away would be taken back by a second attempt.
      const { shared, close } = await openReleases(publisherSettings(config))
      let manifest: VersionManifest
      try {
        manifest = await rollBack(id, version ?? null, { versions, base, now: () => new Date() })
        await shared?.release(versions, manifest)
      } finally {
        await close()
      }
      noteHistory(portal, id, {
        at: manifest.published,
        by: userInfo().username,
        action: 'roll back',
        version: manifest.version,
        changed: [],
      })
      await withAccounts(config, ({ audit }) => audit.note('rolled back', `${id}: ${manifest.version}`))
      const milliseconds = Math.round(performance.now() - begun)
      const restored = manifest.restored?.version ?? null
      if (options.json === true) printJson({ dataset: id, version: manifest.version, restored, milliseconds })
      else printText(`${id}: ${restored} is in force again, as ${manifest.version} (${milliseconds} ms)\n`)
    })
}
