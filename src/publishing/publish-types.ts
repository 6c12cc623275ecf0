import type { RuleReport } from '../mapping/compile.ts'
import type { Diagnostic } from '../mapping/diagnostic.ts'
import type { FieldConversionErrors } from '../sources/typed-records.ts'
import type { MappingRefusal } from './mapping/choose-mapping.ts'
import type { Manifest, Versions } from './versions/versions.ts'

/** Where and when a publication happens; time is a parameter. */
export interface PublishContext {
  readonly portal: string
  readonly base: string
  readonly versions: Versions
  readonly now: () => Date
  /** True where the source is known to be as it was: it is not looked at, unless dataset.yaml is another one. */
  readonly mappingOnly?: boolean
  /** True where the dataset was requested by name: its address is then fetched also before it is due. */
  readonly isNamed?: boolean
  /** The version in force in a store that is shared: where it was made of the same, none is made here. */
  readonly inForce?: Manifest | null
  /** True where an older version that was restored gives way to what lies in the portal folder. */
  readonly endsRollBack?: boolean
  /** Called after every batch of records. */
  readonly onProgress?: (progress: PublishProgress) => void
}

export interface PublishProgress {
  readonly dataset: string
  readonly records: number
}

/** What became of one dataset. */
export type PublishResult = { readonly refusal: MappingRefusal | null } & (
  | { readonly type: 'unchanged'; readonly manifest: Manifest }
  | { readonly type: 'published'; readonly manifest: Manifest; readonly report: PublishReport }
)

/** What a publisher should know about the records that were made. */
export interface PublishReport {
  readonly records: number
  /** Triples of the graph that is served. */
  readonly triples: number
  /** The first values that did not fit, with row and column, and the number of all. */
  readonly misfits: readonly FieldConversionErrors[]
  readonly misfitCount: number
  /** Records whose identity another record has. */
  readonly repeated: number
  /** False where the records are those that were published before, and only their mapping is another one. */
  readonly isSourceRead: boolean
  /** What became of the dataset's own mapping; null for the direct mapping. */
  readonly mapping: MappingReport | null
  /** What was wrong with the files of the version before, for which it was made again; null for nothing. */
  readonly damage: string | null
  readonly milliseconds: number
}

/** What a mapping made, and what is to be said of it. */
export interface MappingReport {
  readonly file: string
  readonly diagnostics: readonly Diagnostic[]
  readonly rules: readonly RuleReport[]
}
