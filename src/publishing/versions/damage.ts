import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { lineFeeds } from '../../rdf/lines.ts'
import { incompatibilityOf } from './durable.ts'
import { RECORD_IDS_FILE } from './tombstones.ts'
import {
  currentVersion,
  type GraphFile,
  graphPath,
  isManifestDamaged,
  MANIFEST,
  type Manifest,
  readManifest,
  type Versions,
} from './versions.ts'

/** A file of a published version that is not as it was written. */
export interface Damage {
  /** Relative to the folder of the version. */
  readonly file: string
  /** What is wrong, with the file as its subject: `facts.nt.gz is missing`. */
  readonly reason: string
}

/** What is wrong with the version in force; null where it is whole, or there is none. */
export async function damageInForce(versions: Versions, id: string): Promise<Damage | null> {
  const version = currentVersion(versions, id)
  const manifest = version === null ? null : readManifest(versions, id, version)
  if (manifest !== null) return damageOf(versions, manifest)
  return isManifestDamaged(versions, id) ? { file: MANIFEST, reason: `${MANIFEST} cannot be read` } : null
}

/**
 * The first file of a version that is missing, cut off or changed; null where all are whole. Those that were written to
 * since are read; columns are not among them, for they are made again of the triples. Rejects
 * where that cannot be found out now: where the process has too many files open.
 */
export async function damageOf(versions: Versions, manifest: Manifest): Promise<Damage | null> {
  for (const graph of manifest.graphs) {
    const reason = await problemOf(graph.file, () =>
      graphProblem(graphPath(versions, manifest, graph.file), graph),
    )
    if (reason !== null) return { file: graph.file, reason }
  }
  const { ids } = manifest
  if (ids === undefined) return null
  const reason = await problemOf(RECORD_IDS_FILE, () =>
    incompatibilityOf(graphPath(versions, manifest, RECORD_IDS_FILE), ids),
  )
  return reason === null ? null : { file: RECORD_IDS_FILE, reason }
}

/** Versions that were published without sums are unpacked. */
async function graphProblem(path: string, { sum, triples }: GraphFile): Promise<string | null> {
  if (sum !== undefined) return incompatibilityOf(path, sum)
  const lines = await countLines(path)
  return lines === triples ? null : `has ${lines} triples, ${triples} are expected`
}

/** Errors of the system that say nothing about a file. */
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

/** Lines of a gzip-compressed text. Rejects where it cannot be read or unpacked. */
export async function countLines(file: string): Promise<number> {
  let lines = 0
  await pipeline(createReadStream(file), createGunzip(), async pieces => {
    for await (const piece of pieces as AsyncIterable<Buffer>) lines += lineFeeds(piece)
  })
  return lines
}
