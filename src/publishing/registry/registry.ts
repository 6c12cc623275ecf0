import type { GraphSource } from '../../store/store.ts'
import type { Manifest } from '../versions/versions.ts'

/** Which published versions are in force: the files of this machine, or a graph of a store that several share. */
export interface Registry {
  /** The version in force of each dataset. */
  current(): Promise<ReadonlyMap<string, string>>
  /** What a version is; null where it is not in force any more, or this program cannot read it. */
  manifest(dataset: string, version: string): Promise<Manifest | null>
  /** What has to be loaded before a version can be served; nothing where the store has it already. */
  sources(manifest: Manifest): readonly GraphSource[]
  /** True for a dataset that is in force, and on its way to this instance. */
  isComing(dataset: string): boolean
  /** What is wrong with the files of a version, those that changed are read; null for nothing, or where no files are needed. */
  damage(manifest: Manifest): Promise<string | null>
  /** How a dataset was withdrawn; null for one that was not. */
  withdrawn(dataset: string): 'open' | 'secret' | null
  /** The ids of records that a dataset had once and has no more, where they are not in files of this machine. */
  removed(dataset: string): ReadonlySet<string> | null
}
