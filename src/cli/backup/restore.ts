import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { runningServers } from '../../app/running.ts'
import { USAGE } from '../../config/faults.ts'
import { Fault } from '../../errors/errors.ts'
import { synchronise } from '../../publishing/versions/durable.ts'
import { type BackupManifest, PORTAL_PARTS } from './manifest.ts'
import { restoreFolderModes, unpack } from './unpack.ts'

export interface RestoredBackup {
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
  const fresh = await mkdtemp(path.join(portal, '.restoring-'))
  try {
    const manifest = await unpack(archive, fresh)
    const before = await exchange(portal, fresh, now)
    await restoreFolderModes(portal, manifest)
    return { manifest, before }
  } catch (error) {
    if (created !== undefined) await rm(portal, { recursive: true, force: true })
    throw error
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

function refuse(portal: string, now: Date): void {
  const [running] = runningServers(portal, now.getTime())
  if (running !== undefined) {
    const reason = `a server runs on ${portal} (process ${running.pid} on ${running.host}): end it first, or use --force`
    throw new Fault(USAGE, { reason })
  }
  const [there] = PORTAL_PARTS.filter(name => existsSync(path.join(portal, name)))
  if (there === undefined) return
  const reason = `${path.join(portal, there)} is there already: restore into an empty folder, or use --force, which moves aside what is there`
  throw new Fault(USAGE, { reason })
}

/** Moves the parts of a portal aside and new ones into place; undoes that if it fails. */
async function exchange(portal: string, fresh: string, now: Date): Promise<string | null> {
  const aside = path.join(portal, `before-${now.toISOString().replace(/[:.]/g, '')}`)
  const moved: (readonly [from: string, to: string])[] = []
  const move = async (from: string, to: string) => {
    await rename(from, to)
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
