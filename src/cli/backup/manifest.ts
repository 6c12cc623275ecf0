import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { Fault, SOURCE_UNREADABLE } from '../../errors/errors.ts'

/** Increased when the meaning of an archive changes; older programs refuse newer archives. */
export const BACKUP_FORMAT = 1

/** The last file of an archive. */
export const BACKUP_MANIFEST = 'backup.json'

/** The parts of a portal folder that an archive has, and that a restored one replaces. */
export const PORTAL_PARTS: readonly string[] = ['portal.yaml', 'harvest.yaml', 'data', 'mappings', 'var']

/** The permissions of a file or folder. */
const Mode = Type.Integer({ minimum: 0, maximum: 0o777 })

const BackupManifest = Type.Object({
  format: Type.Integer(),
  /** The version of Lodestone that wrote it. */
  lodestone: Type.String(),
  /** ISO 8601. */
  made: Type.String(),
  datasets: Type.Array(
    Type.Object({
      id: Type.String(),
      version: Type.String(),
      records: Type.Integer(),
      triples: Type.Integer(),
    }),
  ),
  /** Whether it contains the accounts, as a file that can be used as accounts database. */
  accounts: Type.Boolean(),
  files: Type.Array(
    Type.Object({
      path: Type.String(),
      bytes: Type.Integer(),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
      /** Permissions; absent in older archives. */
      mode: Type.Optional(Mode),
      /** Modification time in milliseconds since 1970; absent in older archives. */
      modified: Type.Optional(Type.Number()),
    }),
  ),
  folders: Type.Optional(Type.Array(Type.Object({ path: Type.String(), mode: Mode }))),
})

/** The contents of an archive, with the checksum of every file. */
export type BackupManifest = Static<typeof BackupManifest>

/** Reads the manifest of an archive. Faults: SourceUnreadable. */
export function readBackupManifest(text: string, archive: string): BackupManifest {
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    found = null
  }
  if (!Value.Check(BackupManifest, found))
    throw unreadableBackup(
      archive,
      `its ${BACKUP_MANIFEST} cannot be read: a back-up of lodestone is expected`,
    )
  if (found.format > BACKUP_FORMAT)
    throw unreadableBackup(
      archive,
      `it is of a newer format (${found.format}): restore it with lodestone ${found.lodestone}`,
    )
  return found
}

export function unreadableBackup(archive: string, reason: string, cause?: unknown): Fault {
  return new Fault(
    SOURCE_UNREADABLE,
    { reason: `${archive}: ${reason}` },
    { place: { file: archive }, cause },
  )
}
