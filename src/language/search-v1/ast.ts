/** A query of the Search API v1: words, comparisons of fields, and their operators. */
export type V1Query =
  | { readonly type: 'and' | 'or'; readonly operands: readonly V1Query[] }
  | { readonly type: 'not'; readonly operand: V1Query }
  /** Words of any field; a word may end with `*`. */
  | { readonly type: 'words'; readonly text: string }
  | V1Comparison
  | { readonly type: 'absent'; readonly field: string }

/** `field:value`, `field >= 2002`, `field:[1950 TO 2000]`. */
export interface V1Comparison {
  readonly type: 'comparison'
  readonly field: string
  /** A colon matches words of a text field and means equality for other fields. */
  readonly operator: ':' | '=' | '<' | '<=' | '>' | '>='
  readonly value: string | { readonly lower: string; readonly upper: string }
  /** The comparison as written: used as words where there is no such field. */
  readonly text: string
}
