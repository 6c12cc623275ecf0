import path from 'node:path'
import { Command } from 'commander'
import { accountsFile } from '../accounts/open.ts'
import type { Config } from '../config/config.ts'
import { restorePortal } from './backup/unpack.ts'
import { contentsText } from './backup.ts'
import { configOf, JSON_OPTION, PORTAL_OPTION, type PortalOptions, withAccounts } from './options.ts'
import { printError, printJson } from './print.ts'

interface RestoreOptions extends PortalOptions {
  readonly force?: boolean
}

/** `lodestone restore`: restores a portal from an archive. */
export function restoreCommand(): Command {
  return new Command('restore')
    .description('make a portal of an archive that lodestone backup wrote')
    .argument('<file>', 'the archive')
    .option(...PORTAL_OPTION)
    .option('--force', 'also where a portal is there, which is moved aside, or a server runs on it')
    .option(...JSON_OPTION)
    .action(async (file: string, options: RestoreOptions) => {
      const { force = false } = options
      const portal = path.resolve(options.portal ?? process.env.LODESTONE_PORTAL ?? '.')
      const { manifest, before } = await restorePortal(file, portal, force, new Date())
      const report = (text: string) => options.json !== true && printError(`${text}\n`)
      // At once: what follows needs the settings, which may name files that no archive has.
      report(`${portal}: ${contentsText(manifest)}`)
      if (before !== null) report(`what was there before is in ${before}`)
      const config = configOf({ ...options, portal })
      const isFilled =
        manifest.accounts && config.accounts !== undefined ? await fillAccounts(config, force) : null
      if (options.json === true) return printJson({ ...manifest, portal, before, accountsFilled: isFilled })
      if (isFilled === true) report('the accounts are in the database of the setting accounts')
      if (isFilled === false)
        report(
          'the database of the setting accounts has users already and was left as it is: --force replaces all in it',
        )
    })
}

/** Imports the accounts into the configured database; false if it has users, unless it is forced. */
async function fillAccounts(config: Config, isForced: boolean): Promise<boolean> {
  return withAccounts(config, async accounts => {
    if (!isForced && (await accounts.users.list()).length > 0) return false
    await accounts.restore(accountsFile(config.portal))
    return true
  })
}
