import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { accountsFile, openAccounts } from '../../accounts/open.ts'
import { versionsOf } from '../../publishing/versions/versions.ts'
import { checkPublished } from '../published-files.ts'
import { type BackupManifest, unreadableBackup } from './manifest.ts'
import { unpack } from './unpack.ts'

export interface Verified {
  readonly manifest: BackupManifest
  /** Number of users; null if there are no accounts. */
  readonly users: number | null
}

/**
 * Verifies an archive by unpacking it into a temporary folder: every file is compared with its checksum, every published version
 * is read completely, the accounts are opened. Faults: SourceUnreadable.
 */
export async function verifyBackup(archive: string, now: Date): Promise<Verified> {
  const temporary = await mkdtemp(path.join(tmpdir(), 'lodestone-verify-'))
  try {
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
    await rm(temporary, { recursive: true, force: true })
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
