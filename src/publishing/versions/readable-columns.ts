import { buildColumnsInThread } from '../../store/columns/build/build-thread.ts'
import { columnsProblem } from '../../store/columns/sections.ts'
import { graphSources } from './graph-sources.ts'
import type { Manifest, Versions } from './versions.ts'

/**
 * Reads the columns of the records of published versions. If that fails because a file is missing, damaged or of an earlier
 * format, as after an upgrade, it is rebuilt from its triples, and the columns are read again.
 */
export async function withColumns<T>(
  versions: Versions,
  manifests: readonly Manifest[],
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
