import type { DatasetStatistics } from '../../model/dataset.ts'
import type { Field } from '../../model/field.ts'
import type { DiagnosticCode } from '../diagnostic.ts'
import type { Mapping, MappingPlace } from '../ir.ts'

/** The dataset that a mapping is for. */
export interface MappedDataset {
  readonly id: string
  /** Public address of the portal without a trailing slash. */
  readonly base: string
  readonly fields: readonly Field[]
  readonly statistics?: DatasetStatistics
}

/** The shared state of the checks of one mapping. */
export interface Checking {
  readonly mapping: Mapping
  readonly dataset: MappedDataset
  readonly field: (name: string) => Field | undefined
  readonly report: (
    code: DiagnosticCode,
    place: MappingPlace | undefined,
    message: string,
    hint?: string,
  ) => void
}
