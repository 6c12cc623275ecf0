import type { RuleReport } from '../mapping/compile.ts'
import type { Diagnostic } from '../mapping/diagnostic.ts'
import type { FieldConversionErrors } from '../sources/typing/typed-records.ts'
import type { MappingRefusal } from './mapping/mapping-file.ts'
import type { VersionManifest, Versions } from './versions/versions.ts'

/** Where and when a publication happens; the time is a parameter. */
export interface PublishContext {
  readonly portal: string
  readonly base: string
  readonly versions: Versions
  readonly now: () => Date
  /** True if the source is known to be unchanged: it is not checked unless dataset.yaml has changed. */
  readonly mappingOnly?: boolean
  /** True if the dataset was requested by name: its address is then fetched even before it is due. */
  readonly isNamed?: boolean
  /** True if addresses are not requested: what was fetched before is published. */
  readonly withoutFetching?: boolean
  /** The version in force in a shared store: if it was built from the same input, none is built here. */
  readonly inForce?: VersionManifest | null
  /** True if a restored version is replaced by the content of the portal folder. */
  readonly endsRollBack?: boolean
  /** Called after every batch of records. */
  readonly onProgress?: (progress: PublishProgress) => void
}

/** One attempt to publish a dataset: it counts only if no other publication puts a version in force meanwhile. */
export interface PublishAttempt extends PublishContext {
  /** The version in force at its beginning; null for none. */
  readonly replaced: string | null
  /** True unless it was attempted before. */
  readonly isFirst: boolean
}

export interface PublishProgress {
  readonly dataset: string
  readonly records: number
}

/** Why a publication failed. */
export interface PublicationFailure {
  readonly reason: string
  /** True if the disk had no room: it is worth trying again once there is some. */
  readonly isDiskFull: boolean
}

/** The result of publishing one dataset. */
export type PublishResult = { readonly refusal: MappingRefusal | null } & (
  | { readonly type: 'unchanged'; readonly manifest: VersionManifest }
  | { readonly type: 'published'; readonly manifest: VersionManifest; readonly report: PublishReport }
)

/** The report to a publisher about the new records. */
export interface PublishReport {
  readonly records: number
  /** Triples of the graph that is served. */
  readonly triples: number
  /** The first values that could not be converted, with row and column, and the number of all. */
  readonly misfits: readonly FieldConversionErrors[]
  readonly misfitCount: number
  /** Records with the identity of another record. */
  readonly repeated: number
  /** What was found in reading the source: what was left out, chosen or assumed, and what is to be corrected. */
  readonly warnings: readonly string[]
  /** False if the records are those that were published before, and only their mapping has changed. */
  readonly isSourceRead: boolean
  /** The result of the custom mapping; null for the direct mapping. */
  readonly mapping: MappingReport | null
  /** The damage of the previous version that caused it to be rebuilt; null if there was none. */
  readonly damage: string | null
  readonly milliseconds: number
}

/** The result of a mapping, with its diagnostics. */
export interface MappingReport {
  readonly file: string
  readonly diagnostics: readonly Diagnostic[]
  readonly rules: readonly RuleReport[]
}
