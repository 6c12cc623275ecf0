import { createReadStream, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { Fault, GONE } from '../../errors/errors.ts'
import { lineFeeds } from '../../rdf/line-set.ts'
import { incompatibilityOf } from './durable.ts'
import { RECORD_IDS_FILE } from './tombstones.ts'
import {
  currentVersion,
  type GraphFile,
  graphPath,
  isManifestDamaged,
  MANIFEST,
  readManifest,
  retainedVersions,
  type VersionManifest,
  type Versions,
  versionFolder,
} from './versions.ts'

/** A missing or changed file of a published version. */
export interface Damage {
  /** Relative to the folder of the version. */
  readonly file: string
  /** What is wrong, with the file as its subject: `facts.nt.gz is missing`. */
  readonly reason: string
}

/** The damage of the version in force; null if it is intact, or there is none. */
export async function damageInForce(versions: Versions, id: string, isRead = false): Promise<Damage | null> {
  const version = currentVersion(versions, id)
  const manifest = version === null ? null : readManifest(versions, id, version)
  if (manifest !== null) return damageOf(versions, manifest, isRead)
  return isManifestDamaged(versions, id) ? { file: MANIFEST, reason: `${MANIFEST} cannot be read` } : null
}

/**
 * The first file of a version that is missing, truncated or changed; null if all are intact. Files that were modified since are
 * read, all if `isRead`; columns are not checked, because they are rebuilt from the triples. Rejects if that cannot be determined now, for example
 * because the process has too many open files.
 */
export async function damageOf(
  versions: Versions,
  manifest: VersionManifest,
  isRead = false,
): Promise<Damage | null> {
  for (const graph of manifest.graphs) {
    const reason = await problemOf(graph.file, () =>
      graphProblem(graphPath(versions, manifest, graph.file), graph, isRead),
    )
    if (reason !== null) return { file: graph.file, reason }
  }
  const { ids } = manifest
  if (ids === undefined) return null
  const reason = await problemOf(RECORD_IDS_FILE, () =>
    incompatibilityOf(graphPath(versions, manifest, RECORD_IDS_FILE), ids, isRead),
  )
  return reason === null ? null : { file: RECORD_IDS_FILE, reason }
}

/** True if the files of the triples of a version have the sizes that were written, as far as these are known. */
export function hasAllBytes(versions: Versions, manifest: VersionManifest): boolean {
  return manifest.graphs.every(({ file, sum }) => {
    const size = statSync(graphPath(versions, manifest, file), { throwIfNoEntry: false })?.size
    return size !== undefined && size === (sum?.size ?? size)
  })
}

/** Refuses an older version that cannot be read any more: its source is that of another version now. Faults: Gone. */
export async function refuseUnreadable(versions: Versions, manifest: VersionManifest): Promise<void> {
  const damage = await damageOf(versions, manifest, true)
  if (damage === null) return
  const { version, dataset } = manifest
  throw new Fault(GONE, {
    reason: `The version ${version} of ${dataset.id} can no longer be read: ${damage.reason}.`,
  })
}

/** Versions that were published without checksums are decompressed. */
async function graphProblem(
  path: string,
  { sum, triples }: GraphFile,
  isRead: boolean,
): Promise<string | null> {
  if (sum !== undefined) return incompatibilityOf(path, sum, isRead)
  const lines = await countLines(path)
  return lines === triples ? null : `has ${lines} triples, ${triples} are expected`
}

/** System errors that do not indicate a damaged file. */
const NOT_OF_THE_FILE: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM'])

async function problemOf(file: string, look: () => Promise<string | null>): Promise<string | null> {
  try {
    const problem = await look()
    return problem === null ? null : `${file} ${problem}`
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (NOT_OF_THE_FILE.has(code)) throw error
    return code === 'ENOENT' ? `${file} is missing` : `${file} cannot be read: ${code ?? String(error)}`
  }
}

/** Counts the lines of a gzip-compressed text. Rejects if it cannot be read or decompressed. */
export async function countLines(file: string): Promise<number> {
  let lines = 0
  await pipeline(createReadStream(file), createGunzip(), async pieces => {
    for await (const piece of pieces as AsyncIterable<Buffer>) lines += lineFeeds(piece)
  })
  return lines
}

/**
 * Retains no older versions that have a damaged file: they could not be queried, nor compared with the one in force.
 *
 * @param file relative to the folder of a version
 */
export function dropDamaged(versions: Versions, id: string, version: string, file: string): void {
  const damaged = path.join(versionFolder(versions, id, version), file)
  const [, ...older] = retainedVersions(versions, id)
  for (const manifest of older)
    if (manifest.graphs.some(graph => graphPath(versions, manifest, graph.file) === damaged))
      rmSync(path.join(versionFolder(versions, id, manifest.version), MANIFEST), { force: true })
}
