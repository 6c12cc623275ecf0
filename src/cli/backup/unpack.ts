import { createHash } from 'node:crypto'
import { chmod, mkdir, open } from 'node:fs/promises'
import path from 'node:path'
import { readArchive } from './archive.ts'
import { PERMISSIONS } from './contents.ts'
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
export async function restoreFolderModes(portal: string, { folders = [] }: BackupManifest): Promise<void> {
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
  for (const { path: name, bytes, sha256, mode } of manifest.files) {
    const file = found.get(name)
    if (file === undefined) throw unreadableBackup(archive, `${name} is missing`)
    if (file.bytes !== bytes || file.sha256 !== sha256) throw unreadableBackup(archive, `${name} is damaged`)
    found.delete(name)
    if (mode !== undefined) await chmod(path.join(folder, ...name.split('/')), mode & PERMISSIONS)
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
