import type { Field } from './field.ts'
import type { Metas } from './metadata.ts'

/** A file that a publisher provides in addition to the records. */
export interface Attachment {
  readonly id: string
  readonly title: string
  readonly mimetype: string
  /** Path of the file, relative to the dataset's folder. */
  readonly path: string
}

/** Who may see a dataset: everyone, or the users with a grant for it. */
export type Visibility = 'public' | 'restricted'

/** The origin of the values of a field that the source does not contain unchanged. */
export interface FieldOrigin {
  readonly field: string
  /** Columns of the source. */
  readonly columns: readonly string[]
  /** The steps that computed the values from them, in order. */
  readonly steps: readonly string[]
}

/** A dataset without its records: the part of dataset.yaml that the APIs report. */
export interface Dataset {
  readonly id: string
  /** `da_` and six letters or digits, derived from the id. */
  readonly uid: string
  readonly fields: readonly Field[]
  readonly metas: Metas
  readonly visibility: Visibility
  readonly attachments: readonly Attachment[]
  /** In the order of the fields; absent where each field is a column of the source. */
  readonly origins?: readonly FieldOrigin[]
}

/** Statistics of the values of one field in one published version. */
export interface FieldStatistics {
  /** Records that have a value. */
  readonly present: number
  readonly nulls: number
  /** Distinct values, exact up to 10,000, null beyond. */
  readonly distinct: number | null
  /** The number of records with each value of a text, int or boolean field, where there are few values. */
  readonly counts?: readonly (readonly [value: string | number | boolean, records: number])[]
  /** Smallest and largest value of an int, double, date or datetime field; integers beyond 2^53 as their digits. */
  readonly min: number | string | null
  readonly max: number | string | null
  /** Years that occur in a date or datetime field, in UTC, in order. */
  readonly years?: readonly number[]
  /**
   * Quantiles of a sortable single-valued field, in order: they divide its values into a hundred parts of about equal size; taken
   * from a sample, long texts truncated.
   */
  readonly quantiles?: readonly (number | string)[]
  /** The bounding box and the kinds of geometries of a field with positions; absent without values. */
  readonly extent?: Extent
}

/** A bounding box in degrees, and the kinds of the geometries in it, in order. */
export interface Extent {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
  readonly types: readonly string[]
}

/** Statistics of one published version. */
export interface DatasetStatistics {
  readonly records: number
  readonly fields: Readonly<Record<string, FieldStatistics>>
}
