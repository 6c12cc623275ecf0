import path from 'node:path'
import { Command } from 'commander'
import { USAGE } from '../config/faults.ts'
import { Fault } from '../errors/errors.ts'
import { makeBackup } from './backup/make.ts'
import type { BackupManifest } from './backup/manifest.ts'
import { verifyBackup } from './backup/unpack.ts'
import { configOf, JSON_OPTION, PORTAL_OPTION, type PortalOptions, withAccounts } from './options.ts'
import { printError, printJson, printText } from './print.ts'

interface BackupOptions extends PortalOptions {
  readonly accounts?: boolean
  readonly verify?: boolean
}

const MORE = `
The archive has the settings, data, mappings, drafts, published versions, history and accounts of the portal, with a sum of
every file; it does not have removed datasets (var/deleted), the log of queries and caches. Keep it where nobody else reads
it: it has hashes of passwords, and what portal.yaml says. lodestone restore FILE --portal DIR makes a portal of it again;
records in a remote store are filled from it.

A file that ends in .sqlite is a copy of the accounts alone. To restore that one, stop the server, put it in the place of
var/accounts.sqlite, and remove accounts.sqlite-wal and accounts.sqlite-shm beside that.`

/** `lodestone backup`: a complete portal in one file, consistent while a server runs. */
export function backupCommand(): Command {
  return new Command('backup')
    .description('write a portal into one archive (.tar.gz); a server may run meanwhile')
    .argument('<file>', 'file to make: it must not exist')
    .option(
      '--verify',
      'check an archive that is there: restore it into a temporary folder and read all of it',
    )
    .option('--accounts', 'copy users, keys, applications, authorizations and counted calls alone')
    .option(...PORTAL_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', MORE)
    .action(async (file: string, options: BackupOptions) => {
      const { accounts = file.endsWith('.sqlite'), verify = false, json = false } = options
      if (accounts && verify) {
        const reason = '--verify is for archives of a whole portal: a copy of the accounts is none'
        throw new Fault(USAGE, { reason })
      }
      if (accounts) await withAccounts(configOf(options), opened => opened.backup(path.resolve(file)))
      else if (verify) {
        const { manifest, users } = await verifyBackup(file, new Date())
        if (json) return printJson({ ...manifest, users })
        printText(`${file} is whole: ${contentsText(manifest)}${users === null ? '' : `, ${users} users`}\n`)
      } else {
        const manifest = await makeBackup(configOf(options), file, new Date())
        if (json) printJson(manifest)
        else printError(`${file}: ${contentsText(manifest)}\n`)
      }
    })
}

/** Summarises the contents of an archive. */
export function contentsText({ datasets, files, accounts, made, lodestone }: BackupManifest): string {
  const triples = datasets.reduce((sum, dataset) => sum + dataset.triples, 0)
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  return `${datasets.length} datasets with ${triples} triples, ${files.length} files of ${(bytes / 1e6).toFixed(1)} MB${accounts ? ', accounts' : ', no accounts'}; made ${made} by lodestone ${lodestone}`
}
