import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { chmod, mkdir, open, readdir, rename, rm, utimes } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import path from 'node:path'
import { accountsFile, openAccounts } from '../../accounts/open.ts'
import { runningServers } from '../../app/running.ts'
import { usageFault } from '../../config/faults.ts'
import { synchronise } from '../../publishing/versions/durable.ts'
import { versionsOf } from '../../publishing/versions/versions.ts'
import { isOfRunningProcess, PROCESS_NAME } from '../../runtime/processes.ts'
import { readArchive } from './archive.ts'
import { checkPublished, PERMISSIONS } from './contents.ts'
import {
  BACKUP_MANIFEST,
  type BackupManifest,
  PORTAL_PARTS,
  readBackupManifest,
  unreadableBackup,
} from './manifest.ts'

/**
 * Restores the modes of the folders of a portal; call it after all files are in place, because a folder without write permission
 * cannot be renamed.
 */
async function restoreFolderModes(portal: string, { folders = [] }: BackupManifest): Promise<void> {
  const deepestFirst = [...folders].sort((a, b) => b.path.length - a.path.length)
  for (const { path: name, mode } of deepestFirst)
    if (isOfPortal(name)) await chmod(path.join(portal, ...name.split('/')), mode & PERMISSIONS)
}

/** Maximum length of a manifest in bytes: some hundred thousand files. */
const MAX_MANIFEST_LENGTH = 100_000_000

/**
 * Unpacks an archive into an empty folder and verifies all files against its manifest. If it throws, the content of the folder
 * must not be used. Faults: SourceUnreadable.
 */
export async function unpack(archive: string, folder: string): Promise<BackupManifest> {
  const found = new Map<string, { readonly bytes: number; readonly sha256: string }>()
  let text: string | null = null
  await readArchive(archive, async (name, size, pieces) => {
    if (name === BACKUP_MANIFEST) {
      if (size > MAX_MANIFEST_LENGTH)
        throw unreadableBackup(archive, `its ${BACKUP_MANIFEST} is longer than any`)
      const read: Buffer[] = []
      for await (const piece of pieces) read.push(Buffer.from(piece))
      text = Buffer.concat(read).toString('utf8')
      return
    }
    if (!isOfPortal(name)) throw unreadableBackup(archive, `${name} is no file of a portal`)
    if (found.has(name)) throw unreadableBackup(archive, `${name} is in it twice`)
    found.set(name, await write(path.join(folder, ...name.split('/')), pieces))
  })
  if (text === null)
    throw unreadableBackup(
      archive,
      `it has no ${BACKUP_MANIFEST}: it was cut off, or is no back-up of lodestone`,
    )
  const manifest = readBackupManifest(text, archive)
  for (const { path: name, bytes, sha256, mode, modified } of manifest.files) {
    const file = found.get(name)
    if (file === undefined) throw unreadableBackup(archive, `${name} is missing`)
    if (file.bytes !== bytes || file.sha256 !== sha256) throw unreadableBackup(archive, `${name} is damaged`)
    found.delete(name)
    const written = path.join(folder, ...name.split('/'))
    if (mode !== undefined) await chmod(written, mode & PERMISSIONS)
    if (modified !== undefined) await utimes(written, modified / 1000, modified / 1000)
  }
  const [more] = found.keys()
  if (more !== undefined)
    throw unreadableBackup(archive, `${more} is in it and not in its ${BACKUP_MANIFEST}`)
  return manifest
}

function isOfPortal(name: string): boolean {
  const steps = name.split('/')
  const isPlain = steps.every(step => step !== '' && step !== '.' && step !== '..' && !/[\\\0]/.test(step))
  return isPlain && PORTAL_PARTS.includes(steps[0] ?? '')
}

async function write(file: string, pieces: AsyncIterable<Buffer>) {
  await mkdir(path.dirname(file), { recursive: true })
  const handle = await open(file, 'wx', file.endsWith('.sqlite') ? 0o600 : 0o644)
  try {
    const hash = createHash('sha256')
    let bytes = 0
    for await (const piece of pieces) {
      hash.update(piece)
      bytes += piece.length
      await handle.writeFile(piece)
    }
    await handle.sync()
    return { bytes, sha256: hash.digest('hex') }
  } finally {
    await handle.close()
  }
}

/** Before the name of the process in the names of temporary folders, which have accounts: one that was killed leaves its own. */
const [VERIFYING, RESTORING] = ['lodestone-verify-', '.restoring-']

interface Verified {
  readonly manifest: BackupManifest
  /** Number of users; null if there are no accounts. */
  readonly users: number | null
}

/**
 * Verifies an archive by unpacking it into a temporary folder: every file is compared with its checksum, every published version
 * is read completely, the accounts are opened. Faults: SourceUnreadable.
 */
export async function verifyBackup(archive: string, now: Date): Promise<Verified> {
  removeAbandoned(tmpdir(), VERIFYING)
  let temporary = ''
  const keepNothing = removeAtSignals(() => [temporary])
  try {
    temporary = mkdtempSync(path.join(tmpdir(), `${VERIFYING}${PROCESS_NAME}-`))
    const portal = path.join(temporary, 'portal')
    const manifest = await unpack(archive, portal)
    const versions = versionsOf(portal)
    for (const { id, version, triples } of manifest.datasets) {
      const found = await checkPublished(versions, id)
      const problem =
        found === null || found.version !== version
          ? `version ${version} is not there`
          : (found.problem ??
            (found.triples === triples ? null : `${found.triples} triples were found of ${triples}`))
      if (problem !== null) throw unreadableBackup(archive, `${id}: ${problem}`)
    }
    return { manifest, users: await countUsers(accountsFile(portal), now) }
  } finally {
    keepNothing()
    if (temporary !== '') await rm(temporary, { recursive: true, force: true })
  }
}

async function countUsers(file: string, now: Date): Promise<number | null> {
  if (!existsSync(file)) return null
  const accounts = openAccounts(file, { now: () => now.getTime() })
  try {
    return (await accounts.users.list()).length
  } finally {
    await accounts.close()
  }
}

interface RestoredBackup {
  readonly manifest: BackupManifest
  /** Folder with the previous portal; null if there was none. */
  readonly before: string | null
}

/**
 * Restores the portal of an archive into a folder. Everything is unpacked and verified in a temporary folder first; then its
 * parts are renamed into place, and renamed back if that fails.
 *
 * @param isForced whether an existing portal is moved aside, and a running server is ignored
 * Faults: Usage if it may not be restored there, SourceUnreadable.
 */
export async function restorePortal(
  archive: string,
  portal: string,
  isForced: boolean,
  now: Date,
): Promise<RestoredBackup> {
  if (!isForced) refuse(portal, now)
  const created = await mkdir(portal, { recursive: true })
  removeAbandoned(portal, RESTORING)
  let fresh = ''
  const keepNothing = removeAtSignals(() => [created === undefined ? fresh : portal])
  try {
    fresh = mkdtempSync(path.join(portal, `${RESTORING}${PROCESS_NAME}-`))
    const manifest = await unpack(archive, fresh)
    keepNothing()
    const before = await exchange(portal, fresh, now)
    await restoreFolderModes(portal, manifest)
    return { manifest, before }
  } catch (error) {
    if (created !== undefined) await rm(portal, { recursive: true, force: true })
    throw error
  } finally {
    keepNothing()
    if (fresh !== '') await rm(fresh, { recursive: true, force: true })
  }
}

function refuse(portal: string, now: Date): void {
  const [running] = runningServers(portal, now.getTime())
  if (running !== undefined) {
    const reason = `a server runs on ${portal} (process ${running.pid} on ${running.host}): end it first, or use --force`
    throw usageFault(reason)
  }
  const [there] = PORTAL_PARTS.filter(name => existsSync(path.join(portal, name)))
  if (there === undefined) return
  const reason = `${path.join(portal, there)} is there already: restore into an empty folder, or use --force, which moves aside what is there`
  throw usageFault(reason)
}

/** Moves the parts of a portal aside and new ones into place; undoes that if it fails. */
async function exchange(portal: string, fresh: string, now: Date): Promise<string | null> {
  const aside = path.join(portal, `before-${now.toISOString().replace(/[:.]/g, '')}`)
  const moved: (readonly [from: string, to: string])[] = []
  const move = async (from: string, to: string) => {
    await rename(from, to).catch(error => {
      const reason = `${from} is a disk of its own, and cannot be moved: restore into an empty folder, and copy what is in it`
      throw ['EBUSY', 'EXDEV'].includes(error.code) ? usageFault(reason, error) : error
    })
    moved.push([from, to])
  }
  try {
    const there = PORTAL_PARTS.filter(name => existsSync(path.join(portal, name)))
    if (there.length > 0) await mkdir(aside)
    for (const name of there) await move(path.join(portal, name), path.join(aside, name))
    for (const name of await readdir(fresh)) await move(path.join(fresh, name), path.join(portal, name))
    synchronise(portal)
    return there.length > 0 ? aside : null
  } catch (error) {
    for (const [from, to] of moved.reverse()) await rename(to, from)
    await rm(aside, { recursive: true, force: true })
    throw error
  }
}

/** Ends the process at a signal, and removes files and folders before; the result ends this. */
export function removeAtSignals(files: () => readonly string[]): () => void {
  const end = (signal: NodeJS.Signals) => {
    for (const file of files()) if (file !== '') rmSync(file, { recursive: true, force: true })
    process.exit(128 + constants.signals[signal])
  }
  process.on('SIGINT', end).on('SIGTERM', end)
  return () => void process.off('SIGINT', end).off('SIGTERM', end)
}

/** Removes what earlier processes, which are dead, have left in a folder, under names that begin so. */
export function removeAbandoned(folder: string, start: string): void {
  const names = existsSync(folder) ? readdirSync(folder).filter(name => name.startsWith(start)) : []
  for (const name of names) {
    const left = path.join(folder, name)
    const { mtimeMs = 0, uid } = statSync(left, { throwIfNoEntry: false }) ?? {}
    if (uid === process.getuid?.() && !isOfRunningProcess(name, mtimeMs))
      rmSync(left, { recursive: true, force: true })
  }
}
