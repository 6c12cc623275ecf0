/** The position of a node in the text of its clause: character offsets, `from` inclusive, `to` exclusive. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** The clauses that are written in ODSQL; limit is a plain number of the API. */
export type ClauseName = 'select' | 'where' | 'group_by' | 'order_by'

export type CompareOperator = '=' | '!=' | '<' | '<=' | '>' | '>='
export type ArithmeticOperator = '+' | '-' | '*' | '/'

/**
 * An ODSQL expression as written. Conditions and values share one type: the grammar accepts either anywhere, and the resolver
 * decides which one is allowed.
 */
export type Expression =
  | {
      readonly type: 'or' | 'and'
      readonly left: Expression
      readonly right: Expression
      readonly span: Span
    }
  | { readonly type: 'not'; readonly operand: Expression; readonly span: Span }
  | {
      readonly type: 'comparison'
      readonly operator: CompareOperator
      readonly left: Expression
      readonly right: Expression
      readonly span: Span
    }
  | { readonly type: 'range'; readonly operand: Expression; readonly range: RangeBounds; readonly span: Span }
  | {
      readonly type: 'list'
      readonly operand: Expression
      readonly items: readonly Expression[]
      readonly span: Span
    }
  | { readonly type: 'member'; readonly operand: Expression; readonly field: Expression; readonly span: Span }
  | {
      readonly type: 'is'
      readonly operand: Expression
      readonly negated: boolean
      readonly value: boolean | null
      readonly span: Span
    }
  | { readonly type: 'like'; readonly operand: Expression; readonly pattern: Expression; readonly span: Span }
  | {
      readonly type: 'arithmetic'
      readonly operator: ArithmeticOperator
      readonly left: Expression
      readonly right: Expression
      readonly span: Span
    }
  | { readonly type: 'sign'; readonly negative: boolean; readonly operand: Expression; readonly span: Span }
  | { readonly type: 'field'; readonly name: string; readonly quoted: boolean; readonly span: Span }
  | { readonly type: 'string'; readonly value: string; readonly span: Span }
  | { readonly type: 'number'; readonly value: number; readonly text: string; readonly span: Span }
  | { readonly type: 'date'; readonly text: string; readonly span: Span }
  | { readonly type: 'geometry'; readonly text: string; readonly span: Span }
  | { readonly type: 'boolean'; readonly value: boolean; readonly span: Span }
  | { readonly type: 'null'; readonly span: Span }
  | {
      readonly type: 'call'
      readonly name: string
      readonly arguments: readonly Argument[]
      readonly span: Span
    }

export type Call = Extract<Expression, { type: 'call' }>

/** The two ends of a range; an inclusive end belongs to it. */
export interface RangeBounds {
  readonly lower: Expression
  readonly lowerInclusive: boolean
  readonly upper: Expression
  readonly upperInclusive: boolean
}

/** An argument of a call that may be used instead of an expression. */
export type Argument =
  | Expression
  | { readonly type: 'star'; readonly span: Span }
  | { readonly type: 'distinct'; readonly operand: Expression; readonly span: Span }
  | { readonly type: 'wildcard'; readonly prefix: string; readonly span: Span }
  | { readonly type: 'quantity'; readonly value: number; readonly unit: string; readonly span: Span }
  | { readonly type: 'named'; readonly name: string; readonly value: Argument; readonly span: Span }
  | {
      readonly type: 'steps'
      readonly open: '[' | ']'
      readonly close: '[' | ']'
      readonly items: readonly Expression[]
      readonly span: Span
    }

/** One item of a select clause; `expression` is null for `*`. */
export interface SelectItem {
  readonly expression: Expression | null
  readonly label: string | null
  readonly span: Span
}

export interface GroupItem {
  readonly expression: Expression
  readonly label: string | null
  readonly span: Span
}

export interface OrderItem {
  readonly expression: Expression
  readonly descending: boolean
  readonly span: Span
}

/** The operands of a left-leaning chain of one operator, in order: some thousand need no deep stack. */
export function chain(node: Extract<Expression, { type: 'or' | 'and' }>): readonly Expression[] {
  const operands: Expression[] = []
  let first: Expression = node
  while (first.type === node.type) {
    operands.push(first.right)
    first = first.left
  }
  return [first, ...operands.reverse()]
}
