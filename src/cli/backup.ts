import path from 'node:path'
import { Command } from 'commander'
import { withAccounts } from './accounts.ts'
import { PORTAL_OPTION, type PortalOptions } from './options.ts'
import { configOf } from './settings.ts'

const RESTORING = `
To restore it, stop the server, put the file in the place of var/accounts.sqlite, and remove accounts.sqlite-wal and
accounts.sqlite-shm beside that.`

/** `lodestone backup`: a copy of the accounts, whole while a server runs. */
export function backupCommand(): Command {
  return new Command('backup')
    .description(
      'copy users, keys, applications, authorizations and counted calls; a server may run meanwhile',
    )
    .argument('<file>', 'file to make: it must not exist')
    .addHelpText('after', RESTORING)
    .option(...PORTAL_OPTION)
    .action(async (file: string, options: PortalOptions) => {
      await withAccounts(configOf(options).portal, accounts => accounts.backup(path.resolve(file)))
    })
}
