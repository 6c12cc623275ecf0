import { createReadStream, existsSync } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Fault } from '../../errors/errors.ts'
import { wholeLines } from '../../rdf/line-set.ts'
import { graphIri, namedGraphIri } from '../../rdf/minted-iris.ts'
import { yieldToOthers } from '../../runtime/work-client.ts'
import { buildColumnsInThread } from '../../store/columns/build/build-thread.ts'
import { columnsProblem } from '../../store/columns/sections.ts'
import { STORE_UNAVAILABLE } from '../../store/faults.ts'
import type { GraphSource } from '../../store/store.ts'
import { type GraphFile, graphPath, type VersionManifest, type Versions } from './versions.ts'

/** The path of a file, or null if it is missing: one of several instances may lack the files of a version that another has published. */
export function dumpOf(file: string): string | null {
  return existsSync(file) ? file : null
}

/** The graphs of a published version, for loading. */
export function graphSources(
  versions: Versions,
  manifest: VersionManifest,
): readonly Extract<GraphSource, { readonly columns: string }>[] {
  return manifest.graphs.map(file => ({
    graph: graphName(manifest, file),
    path: dumpOf(graphPath(versions, manifest, file.file)),
    columns: graphPath(versions, manifest, file.columns),
    triples: file.triples,
    bytes: file.bytes,
    isSearched: file.role === 'facts' && manifest.content === 'records',
  }))
}

/** The name of a graph in the store: that of the version that had it first. */
export function graphName(
  { dataset: { id }, version }: VersionManifest,
  { role, name, since = version }: Pick<GraphFile, 'role' | 'name' | 'since'>,
): string {
  return name === undefined ? graphIri(id, since, role) : namedGraphIri(id, since, name)
}

/**
 * Reads the columns of the records of published versions. If that fails because a file is missing, damaged or of an earlier
 * format, as after an upgrade, it is rebuilt from its triples, and the columns are read again.
 */
export async function withColumns<T>(
  versions: Versions,
  manifests: readonly VersionManifest[],
  read: () => T | Promise<T>,
): Promise<T> {
  try {
    return await read()
  } catch (error) {
    // Errors of threads have no class.
    const isDamaged = error instanceof Error && error.name === 'ColumnsDamaged'
    const unreadable = manifests
      .flatMap(manifest => graphSources(versions, manifest))
      .filter(({ columns, isSearched }) => isSearched && (isDamaged || columnsProblem(columns) !== null))
    if (unreadable.length === 0) throw error
    for (const { path, columns, isSearched } of unreadable)
      if (path !== null) await buildColumnsInThread({ triples: path, columns, isSearched })
    return read()
  }
}

/** Bytes of a piece. */
const PIECE_BYTES = 2 ** 16

/**
 * The triples of a published graph as stored in its file, in bounded pieces of whole lines of N-Triples; only pieces that are
 * read are decompressed.
 */
export async function* publishedTriples(file: string): AsyncGenerator<string> {
  const packed = createReadStream(file, { highWaterMark: PIECE_BYTES })
  const text: AsyncIterable<Buffer> = pipeline(
    packed,
    createGunzip({ chunkSize: PIECE_BYTES }),
    () => undefined,
  )
  try {
    for await (const lines of wholeLines(text, 0)) {
      yield lines.toString()
      await yieldToOthers()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const reason = 'another version has taken the place of this one. Try again in a moment.'
    throw new Fault(STORE_UNAVAILABLE, { reason }, { cause: error })
  }
}
