import type { GraphSource } from '../../store/store.ts'
import type { Manifest } from '../versions/versions.ts'

/** Which published versions are in force: according to local files, or to a graph of a shared store. */
export interface Registry {
  /** The version in force of each dataset. */
  current(): Promise<ReadonlyMap<string, string>>
  /** The manifest of a version; null if it is no longer in force, or this program cannot read it. */
  manifest(dataset: string, version: string): Promise<Manifest | null>
  /** The graphs to load before a version can be served; empty if the store has them already. */
  sources(manifest: Manifest): readonly GraphSource[]
  /** True for a dataset in force that is not loaded by this instance yet. */
  isComing(dataset: string): boolean
  /** What is wrong with the files of a version, of which changed ones are read; null for nothing, or if no files are needed. */
  damage(manifest: Manifest): Promise<string | null>
  /** How a dataset was withdrawn; null for one that was not. */
  withdrawn(dataset: string): 'open' | 'secret' | null
  /** The ids of the records that were removed from a dataset, if they are not in local files. */
  removed(dataset: string): ReadonlySet<string> | null
}
