import type { Field } from './field.ts'
import type { Metas } from './metadata.ts'

/** A file that a publisher hands out beside the records. */
export interface Attachment {
  readonly id: string
  readonly title: string
  readonly mimetype: string
  /** Path of the file, relative to the dataset's folder. */
  readonly path: string
}

/** Who may see a dataset: everyone, or those that were granted it. */
export type Visibility = 'public' | 'restricted'

/** Where the values of a field come from, where steps were taken between the source and the records. */
export interface FieldOrigin {
  readonly field: string
  /** Columns of the source. */
  readonly columns: readonly string[]
  /** The steps that made the values of them, in their order. */
  readonly steps: readonly string[]
}

/** What a dataset is, apart from its records: the part of dataset.yaml that the APIs tell. */
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

/** What is known of the values of one field in one published version. */
export interface FieldStatistics {
  /** Records that have a value. */
  readonly present: number
  /** Records that have none. */
  readonly nulls: number
  /** Distinct values, exact up to 10,000, null beyond. */
  readonly distinct: number | null
  /** The number of records that have each value of a text, int or boolean field, where there are few values. */
  readonly counts?: readonly (readonly [value: string | number | boolean, records: number])[]
  /** Smallest and largest value of an int, double, date or datetime field. */
  readonly min: number | string | null
  readonly max: number | string | null
  /** Years that occur in a date or datetime field, in UTC, in order. */
  readonly years?: readonly number[]
  /**
   * Values of a single-valued field that can be sorted which part its values into a hundred lots of about equal size, in
   * order; taken from a sample, long texts cut.
   */
  readonly quantiles?: readonly (number | string)[]
  /** Where the values of a field with places are, and the kinds of their geometries; absent without values. */
  readonly extent?: Extent
}

/** A bounding box in degrees, and the kinds of the geometries that are in it, in order. */
export interface Extent {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
  readonly types: readonly string[]
}

/** What is known of one published version. */
export interface DatasetStatistics {
  readonly records: number
  readonly fields: Readonly<Record<string, FieldStatistics>>
}
