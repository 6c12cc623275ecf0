/** How the numbers of a column are written. */
export interface NumberEvidence {
  /** The set of NUMBER_STYLES that fit all of them. */
  readonly styles: number
  /** True if points or commas occur, and if one is followed by other than three digits: certainly a fraction. */
  readonly hasPoint: boolean
  readonly hasComma: boolean
  readonly hasFraction: boolean
  /** True if some have an exponent; `isCode` if none of these has a sign, point or comma: 12e4 may also be a code. */
  readonly hasExponent: boolean
  readonly isCode: boolean
  /** Number of digits, if all numbers have equally many; 0 otherwise. */
  readonly digits: number
  readonly prefix: string
  readonly suffix: string
  /** The share of numbers with a prefix or suffix. */
  readonly affixed: number
  /** True if some are negative: identifiers are not. */
  readonly isNegative: boolean
  /** True if no minus sign is typographic, trailing or a pair of parentheses. */
  readonly isPlain: boolean
  /** True if a dash is the number 0. */
  readonly isDashZero: boolean
}

/** How the coordinates of a column are written. */
export interface PairEvidence {
  /** The maximum absolute values of the first and of the second number. */
  readonly first: number
  readonly second: number
  /** The share with at least three decimals in both numbers. */
  readonly precise: number
  /** The share written like exported positions: `48.85, 2.35`. */
  readonly spaced: number
  readonly isBracketed: boolean
  /** True if hemispheres determine the order. */
  readonly isOrdered: boolean
}

/** Texts of a typed column that denote no value, and their number. */
export interface Typed {
  readonly nulls: readonly string[]
  readonly nullCount: number
}
