import { existsSync, mkdtempSync, readSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import { accountsFile } from '../accounts/open.ts'
import type { Config } from '../config/config.ts'
import { usageFault } from '../config/faults.ts'
import { RELEASE } from '../config/release.ts'
import { synchronise } from '../publishing/versions/durable.ts'
import type { VersionManifest } from '../publishing/versions/versions.ts'
import { PROCESS_NAME } from '../runtime/processes.ts'
import { ArchiveWriter, type Summed } from './backup/archive.ts'
import {
  type BackupFile,
  type OpenFile,
  openBackupFile,
  permissionsOf,
  portalFiles,
} from './backup/contents.ts'
import { BACKUP_FORMAT, BACKUP_MANIFEST, type BackupManifest } from './backup/manifest.ts'
import { removeAbandoned, removeAtSignals, restorePortal, verifyBackup } from './backup/unpack.ts'
import { configOf, JSON_OPTION, PORTAL_OPTION, type PortalOptions, withAccounts } from './options.ts'
import { counted, printError, printJson, printText } from './print.ts'

interface BackupOptions extends PortalOptions {
  readonly accounts?: boolean
  readonly verify?: boolean
}

const MORE = `
The archive has the settings, data, mappings, drafts, published versions, history and accounts of the portal, with a sum of
every file; it does not have other files that portal.yaml names (passwords, certificates), npm packages, removed datasets
(var/deleted), the log of queries and caches. Keep it where nobody else reads it: it has hashes of passwords, and what
portal.yaml says. lodestone restore FILE --portal DIR makes a portal of it again; records in a remote store are filled from it.

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
        throw usageFault(reason)
      }
      if (accounts) {
        refuseExisting(file)
        await withAccounts(configOf(options), opened => opened.backup(path.resolve(file)))
      } else if (verify) {
        const { manifest, users } = await verifyBackup(file, new Date())
        if (json) return printJson({ ...manifest, users })
        printText(
          `${file} is whole: ${contentsText(manifest)}${users === null ? '' : `, ${counted(users, 'user')}`}\n`,
        )
      } else {
        const manifest = await makeBackup(configOf(options), file, new Date())
        if (json) printJson(manifest)
        else printError(`${file}: ${contentsText(manifest)}\n`)
      }
    })
}

function refuseExisting(file: string): void {
  if (existsSync(file)) throw usageFault(`${file} exists already: name one that does not`)
}

function contentsText({ datasets, files, accounts, made, lodestone }: BackupManifest): string {
  const triples = datasets.reduce((sum, dataset) => sum + dataset.triples, 0)
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  return `${counted(datasets.length, 'dataset')} with ${counted(triples, 'triple')}, ${counted(files.length, 'file')} of ${(bytes / 1e6).toFixed(1)} MB${accounts ? ', accounts' : ', no accounts'}; made ${made} by lodestone ${lodestone}`
}

/** Between the name of an archive and the name of the process that is writing it. */
const UNFINISHED = '.unfinished-'

/** Before the name of the process in the name of the temporary folder, which has a copy of the accounts. */
const TEMPORARY = 'lodestone-backup-'

/**
 * Writes a portal into one archive, consistent even if it is served and published meanwhile: first its accounts, as of one
 * moment, then its files, finally the manifest with the checksums of all. The file appears when it is complete.
 *
 * Faults: Usage if the file exists, SourceUnreadable, AccountsUnavailable.
 */
export async function makeBackup(config: Config, file: string, now: Date): Promise<BackupManifest> {
  refuseExisting(file)
  removeAbandoned(path.dirname(path.resolve(file)), path.basename(file) + UNFINISHED)
  removeAbandoned(tmpdir(), TEMPORARY)
  const unfinished = `${file}${UNFINISHED}${PROCESS_NAME}`
  const out = await open(unfinished, 'wx', 0o600).catch(error => {
    const reason = `${path.dirname(file)} cannot be written to: ${(error as NodeJS.ErrnoException).code}`
    throw usageFault(reason)
  })
  let temporary = ''
  const keepNothing = removeAtSignals(() => [unfinished, temporary])
  try {
    // At once: a signal would not know of a folder that is just being made.
    temporary = mkdtempSync(path.join(tmpdir(), `${TEMPORARY}${PROCESS_NAME}-`))
    const writer = new ArchiveWriter(out)
    const files: Summed[] = []
    const accounts = await accountsCopy(config, path.join(temporary, 'accounts.sqlite'))
    if (accounts !== null) files.push(await writer.add(accounts))
    const versions = new WrittenVersions()
    for await (const each of portalFiles(config.portal)) {
      versions.note(each)
      files.push(await writer.add(each))
    }
    const manifest: BackupManifest = {
      format: BACKUP_FORMAT,
      lodestone: RELEASE,
      made: now.toISOString(),
      datasets: versions.datasets,
      accounts: accounts !== null,
      files,
      folders: foldersOf(config.portal, files),
    }
    await writer.add({ path: BACKUP_MANIFEST, text: `${JSON.stringify(manifest, null, 2)}\n`, mode: 0o600 })
    await writer.end()
    await out.sync()
    await rename(unfinished, file)
    synchronise(path.dirname(path.resolve(file)))
    return manifest
  } finally {
    keepNothing()
    await out.close()
    await rm(unfinished, { force: true })
    if (temporary !== '') await rm(temporary, { recursive: true })
  }
}

/** The accounts as a separate file, wherever they are stored; null if there are none yet. */
async function accountsCopy(config: Config, copy: string): Promise<BackupFile | null> {
  if (config.accounts === undefined && !existsSync(accountsFile(config.portal))) return null
  await withAccounts(config, accounts => accounts.backup(copy))
  const file = accountsFile(config.portal)
  const mode = existsSync(file) ? permissionsOf(file) : 0o600
  return { ...openBackupFile(copy, 'var/accounts.sqlite'), mode }
}

/** The folders of files, with their permissions; those that were removed meanwhile are left out. */
function foldersOf(
  portal: string,
  files: readonly Pick<Summed, 'path'>[],
): NonNullable<BackupManifest['folders']> {
  const names = new Set<string>()
  for (const { path: name } of files)
    for (let folder = path.posix.dirname(name); folder !== '.'; folder = path.posix.dirname(folder))
      names.add(folder)
  return [...names].sort().flatMap(name => {
    const folder = path.join(portal, ...name.split('/'))
    return existsSync(folder) ? [{ path: name, mode: permissionsOf(folder) }] : []
  })
}

/** Collects the published versions that are written, from their own manifests. */
class WrittenVersions {
  private readonly manifests = new Map<string, string>()
  readonly datasets: BackupManifest['datasets'] = []

  note(file: BackupFile): void {
    const [, id = '', name = ''] = /^var\/published\/([^/]+)\/(.+)$/.exec(file.path) ?? []
    if ('handle' in file && name.endsWith('/manifest.json'))
      this.manifests.set(`${id}/${name}`, wholeText(file))
    if (!('text' in file) || name !== 'current') return
    const version = file.text.trim()
    const text = this.manifests.get(`${id}/${version}/manifest.json`)
    if (text === undefined) return
    const { graphs, statistics } = JSON.parse(text) as VersionManifest
    const triples = graphs.reduce((sum, graph) => sum + graph.triples, 0)
    this.datasets.push({ id, version, records: statistics.records, triples })
  }
}

function wholeText({ handle, size }: OpenFile): string {
  const bytes = Buffer.alloc(size)
  readSync(handle, bytes, 0, size, 0)
  return bytes.toString('utf8')
}

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
