import type { Publications } from '../publication-state.ts'
import type { Manifest, Versions } from '../versions/versions.ts'

/** One finding about a dataset: an error keeps it from being published, a warning says what would be dropped. */
export interface DeskFinding {
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly field?: string
  readonly count?: number
}

export interface DeskOptions {
  readonly portal: string
  readonly base: string
  readonly versions: Versions
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Bytes that an uploaded file may have. */
  readonly uploadLimit: number
  readonly publications: Pick<Publications, 'of' | 'forget'>
  /** Reports what publishing would refuse or drop of a dataset of a portal folder, or of a draft. */
  readonly check: (root: string, base: string, id: string) => Promise<readonly DeskFinding[]>
  /** Publishes a dataset by name, and serves it. */
  readonly publish: (id: string) => Promise<void>
  /** Serves what is published now, without waiting for the next look. */
  readonly refresh: () => Promise<unknown>
  /** Takes a dataset out of a store that several share; puts a version in force there. */
  readonly shared: {
    readonly withdraw: (id: string, how: 'open' | 'secret') => Promise<unknown>
    readonly release: (versions: Versions, manifest: Manifest) => Promise<unknown>
  } | null
}

/** A dataset as publishers see it. */
export interface DeskDataset {
  readonly id: string
  readonly title: string
  readonly state: 'draft' | 'published' | 'withdrawn' | 'unpublished'
  /** True where changes wait to be published. */
  readonly hasDraft: boolean
  readonly visibility: 'public' | 'restricted'
  /** The version in force; null for none. */
  readonly manifest: Manifest | null
}
