import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault, SOURCE_UNREADABLE } from '../../errors/errors.ts'
import { countLines, damageOf } from '../../publishing/versions/damage.ts'
import {
  currentVersion,
  MANIFEST,
  readManifestFile,
  storedDatasets,
  VERSION_FORMAT,
  type VersionManifest,
  type Versions,
  versionFolder,
  versionsOf,
} from '../../publishing/versions/versions.ts'

/** A file for an archive: an open one, or a text that was read already. Paths are relative to the portal. */
export type BackupFile = OpenFile | { readonly path: string; readonly text: string; readonly mode: number }

export interface OpenFile {
  readonly path: string
  /** Its descriptor, which the reader closes. */
  readonly handle: number
  readonly size: number
  /** Modification time when it was opened, in milliseconds since 1970. */
  readonly mtimeMs: number
  readonly mode: number
}

/** What is not published: settings, data and mappings, and what was written under var and cannot be made again. */
const CONTENTS = [
  'portal.yaml',
  'harvest.yaml',
  'data',
  'mappings',
  'var/drafts',
  'var/harvest',
  'var/mappings',
  'var/sources',
  'var/usage.json',
] as const

/** The files of a portal without its accounts. The published versions are complete even if other processes publish meanwhile. */
export async function* portalFiles(portal: string): AsyncGenerator<BackupFile> {
  for (const name of CONTENTS) yield* filesBelow(portal, name, new Set())
  // Lines may be appended at any moment.
  for (const name of namesIn(path.join(portal, 'var', 'history'))) {
    const file = path.join(portal, 'var', 'history', name)
    const text = unlessGone(() => readFileSync(file, 'utf8'))
    if (text !== null) yield { path: `var/history/${name}`, text, mode: permissionsOf(file) }
  }
  const versions = versionsOf(portal)
  for (const id of storedDatasets(versions).sort()) yield* publishedFiles(versions, id)
}

/** A file, or all files below a folder; links are followed, but not in circles. */
function* filesBelow(portal: string, name: string, above: ReadonlySet<string>): Generator<BackupFile> {
  const file = path.join(portal, ...name.split('/'))
  const found = unlessGone(() => statSync(file))
  if (found?.isFile() === true) {
    const opened = unlessGone(() => openBackupFile(file, name))
    if (opened !== null) yield opened
  } else if (found?.isDirectory() === true) {
    const real = realpathSync(file)
    if (above.has(real)) return
    const inside = new Set([...above, real])
    for (const entry of namesIn(file)) {
      // The folder var of a draft is that of the portal; lost+found belongs to the file system.
      const isOther =
        ['node_modules', 'lost+found'].includes(entry) ||
        (entry === 'var' && /^var\/drafts\/[^/]+$/.test(name))
      if (!isOther) yield* filesBelow(portal, `${name}/${entry}`, inside)
    }
  }
}

/** Attempts to open a version before it is replaced, and the pause between two, in milliseconds. */
const [ATTEMPTS, PAUSE] = [50, 20]

/**
 * The files of the version in force of a dataset. They never change, but are removed when newer versions appear: all are opened
 * together, before the first is read, and `current` must name the same version before and after.
 */
async function* publishedFiles(versions: Versions, id: string): AsyncGenerator<BackupFile> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const files = openVersion(versions, id)
    if (files === null) await sleep(PAUSE)
    else {
      yield* files
      return
    }
  }
  const reason = `${id} was published anew whenever it was to be read: try again when that is over`
  throw new Fault(SOURCE_UNREADABLE, { reason })
}

/** Opens all files of a version, including those of older versions; null if some were removed meanwhile. */
function openVersion(versions: Versions, id: string): readonly BackupFile[] | null {
  const [home, name] = [path.join(versions.root, id), `var/published/${id}`]
  const opened: OpenFile[] = []
  const text = (file: string) => unlessGone(() => readFileSync(path.join(home, file), 'utf8'))
  const giveUp = () => {
    for (const { handle } of opened) closeSync(handle)
    return null
  }
  try {
    const current = text('current')
    for (const folder of current === null ? [] : foldersOf(versions, id, current.trim()))
      for (const entry of readdirSync(path.join(home, folder), { withFileTypes: true }))
        if (entry.isFile())
          opened.push(openBackupFile(path.join(home, folder, entry.name), `${name}/${folder}/${entry.name}`))
    const states = ['removed.json', 'withdrawn'].map(file => [file, text(file)] as const)
    if (text('current') !== current) return giveUp()
    const texts = [...states, ['current', current] as const].flatMap(([file, found]) =>
      found === null
        ? []
        : [{ path: `${name}/${file}`, text: found, mode: permissionsOf(path.join(home, file)) }],
    )
    return [...opened, ...texts]
  } catch (error) {
    giveUp()
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The folders of the version in force and the other retained ones, and those of older ones whose files they share. */
function foldersOf(versions: Versions, id: string, version: string): ReadonlySet<string> {
  const home = path.join(versions.root, id)
  const others = readdirSync(home, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !entry.name.startsWith('preparing-'))
    .map(({ name }) => name)
    .filter(name => existsSync(path.join(home, name, MANIFEST)))
  return new Set([version, ...others].flatMap(name => sharedWith(versions, id, name, name === version)))
}

/** A version and those whose files it shares; none where its manifest is damaged, for then it is not retained. */
function sharedWith(versions: Versions, id: string, version: string, isInForce: boolean): readonly string[] {
  try {
    const { graphs } = readManifestFile(versions, id, version)
    return [version, ...graphs.flatMap(({ file }) => /^\.\.\/([^/]+)\//.exec(file)?.[1] ?? [])]
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') throw cause
    if (!isInForce) return []
    const file = path.join(versionFolder(versions, id, version), MANIFEST)
    const reason = `${file} is damaged: lodestone publish ${id} makes it again of its source`
    throw new Fault(SOURCE_UNREADABLE, { reason }, { place: { file }, cause })
  }
}

/** Opens a file, and records its current metadata. */
export function openBackupFile(file: string, name: string): OpenFile {
  const handle = openSync(file, 'r')
  const { size, mtimeMs, mode } = fstatSync(handle)
  return { path: name, handle, size, mtimeMs, mode: mode & PERMISSIONS }
}

/** The permission bits of a mode, without file type, setuid and setgid. */
export const PERMISSIONS = 0o777

/** The permissions of a file. */
export function permissionsOf(file: string): number {
  return statSync(file).mode & PERMISSIONS
}

function namesIn(folder: string): string[] {
  return (unlessGone(() => readdirSync(folder)) ?? []).sort()
}

/** Null where a file was removed meanwhile, or a link leads nowhere. */
function unlessGone<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}

/** The result of checking the published version of a dataset. */
interface CheckedVersion {
  readonly version: string
  readonly records: number
  readonly triples: number
  /** False for a version of another format, which this program publishes again. */
  readonly isServed: boolean
  /** What is wrong with it; null for nothing. */
  readonly problem: string | null
}

/** Reads all files of the version in force of a dataset and counts their triples; null if there is no version. */
export async function checkPublished(versions: Versions, id: string): Promise<CheckedVersion | null> {
  const version = currentVersion(versions, id)
  if (version === null) return null
  const folder = versionFolder(versions, id, version)
  const unreadable = { version, records: 0, triples: 0, isServed: false }
  let manifest: VersionManifest
  try {
    manifest = readManifestFile(versions, id, version)
  } catch (error) {
    return {
      ...unreadable,
      problem: `${path.join(folder, 'manifest.json')} cannot be read: ${reasonOf(error)}`,
    }
  }
  const found = {
    version,
    records: manifest.statistics.records,
    triples: 0,
    isServed: manifest.format === VERSION_FORMAT,
  }
  for (const { file, triples: expected } of manifest.graphs) {
    const name = path.join(folder, file)
    try {
      const lines = await countLines(name)
      found.triples += lines
      if (lines !== expected)
        return { ...found, problem: `${name} has ${lines} triples, ${expected} are expected` }
    } catch (error) {
      return { ...found, problem: `${name} cannot be read: ${reasonOf(error)}` }
    }
  }
  const damage = await damageOf(versions, manifest).catch(error => ({ reason: reasonOf(error) }))
  return { ...found, problem: damage === null ? null : `${folder}: ${damage.reason}` }
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
