import { declareFault } from '../../errors/errors.ts'
import type { CheckFinding } from '../check.ts'
import type { Publications } from '../publication-state.ts'
import type { SharedRegistry } from '../registry/shared-registry.ts'
import type { VersionManifest, Versions } from '../versions/versions.ts'

/** A finding about a dataset that is at the desk. */
export type DeskFinding = Omit<CheckFinding, 'dataset'>

export interface DeskOptions {
  readonly portal: string
  readonly base: string
  readonly versions: Versions
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Maximum bytes of an uploaded file. */
  readonly uploadLimit: number
  readonly publications: Pick<Publications, 'of' | 'forget'>
  /** Publishes a dataset by name, and serves it. */
  readonly publish: (id: string) => Promise<void>
  /** Serves what is published now, without waiting for the next poll. */
  readonly refresh: () => Promise<unknown>
  /** A store that several instances share. */
  readonly shared: Pick<SharedRegistry, 'inForce' | 'withdraw' | 'release'> | null
}

/** A dataset as publishers see it. */
export interface DeskDataset {
  readonly id: string
  readonly title: string
  readonly state: 'draft' | 'published' | 'withdrawn' | 'unpublished'
  /** True if there are unpublished changes. */
  readonly hasDraft: boolean
  readonly visibility: 'public' | 'restricted'
  /** The version in force; null if there is none. */
  readonly manifest: VersionManifest | null
}

/** A change that was made from a text of dataset.yaml, or of the mapping, that is no longer there. */
export const EDIT_CONFLICT = declareFault(
  'EditConflict',
  409,
  'The {what} of {id} was changed meanwhile. Nothing was saved.',
)
