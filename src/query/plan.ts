import type { Field } from '../model/field.ts'

export type Comparator = '=' | '!=' | '<' | '<=' | '>' | '>='

/** A constant of a query, already of the type of the field that it is compared with (see model/value.ts). */
export type Constant = string | number | boolean

/**
 * What a record must satisfy. Conditions are two-valued: one that meets an absent value is false, and `not` turns
 * that into true. On a multivalued field a condition holds if any one element satisfies it.
 */
export type Condition =
  | { readonly type: 'and' | 'or'; readonly operands: readonly Condition[] }
  | { readonly type: 'not'; readonly operand: Condition }
  | {
      readonly type: 'compare'
      readonly field: Field
      readonly operator: Comparator
      readonly value: Constant
    }
  | {
      readonly type: 'compareFields'
      readonly left: Field
      readonly operator: Comparator
      readonly right: Field
    }
  | {
      readonly type: 'between'
      readonly field: Field
      readonly lower: Bound | null
      readonly upper: Bound | null
    }
  | { readonly type: 'oneOf'; readonly field: Field; readonly values: readonly Constant[] }
  | { readonly type: 'present'; readonly field: Field }
  | { readonly type: 'words'; readonly words: readonly Word[] }
  | { readonly type: 'always'; readonly value: boolean }

/** One end of a range. */
export interface Bound {
  readonly value: Constant
  readonly inclusive: boolean
}

/** A word of a full-text search, folded as the index folds; a prefix matches any word that begins with it. */
export interface Word {
  readonly text: string
  readonly prefix: boolean
}

/** One key of the answer and the field whose value it takes. */
export interface Selection {
  readonly key: string
  readonly field: Field
}

export interface Ordering {
  readonly field: Field
  readonly descending: boolean
}

/**
 * A question about the records of a dataset, in the terms of the dataset: where every query language arrives and
 * where the compiler begins. Records without a value come last in either direction of an ordering, and the order of
 * the source decides between equals.
 */
export interface RecordQuery {
  readonly filter: Condition | null
  readonly select: readonly Selection[]
  readonly orderBy: readonly Ordering[]
  readonly limit: number
  readonly offset: number
}

/** The plan of "all records", from which others are made. */
export const ALL: Condition = { type: 'always', value: true }
