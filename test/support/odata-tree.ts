import type {
  BinaryOperator,
  Expression,
  LiteralType,
  ODataLiteral,
  SearchExpression,
} from '../../src/language/odata/ast.ts'

/** Makes trees of expressions as the parser does, without places in a text, and writes them out. */
const span = { from: 0, to: 0 }

export const NULL: Expression = { type: 'null', span }
export const name = (text: string): Expression => ({ type: 'name', name: text, span })
export const member = (of: Expression, part: string): Expression => ({ type: 'member', of, name: part, span })
export const not = (operand: Expression): Expression => ({ type: 'not', operand, span })
export const negate = (operand: Expression): Expression => ({ type: 'negate', operand, span })
export const alias = (text: string): Expression => ({ type: 'alias', name: text, span })
export const list = (items: readonly Expression[]): Expression => ({ type: 'list', items, span })
export const within = (left: Expression, right: Expression): Expression => ({ type: 'in', left, right, span })
export const countOf = (of: Expression): Expression => ({
  type: 'count',
  of,
  filter: null,
  search: null,
  span,
})
export const call = (text: string, ...args: readonly Expression[]): Expression => ({
  type: 'call',
  name: text,
  arguments: args,
  span,
})
export const castTo = (operand: Expression, target: string): Expression => ({
  type: 'cast',
  operand,
  target,
  span,
})
export const binary = (operator: BinaryOperator, left: Expression, right: Expression): Expression => ({
  type: 'binary',
  operator,
  left,
  right,
  span,
})
export const lambda = (
  quantifier: 'any' | 'all',
  of: Expression,
  variable: string | null,
  predicate: Expression | null,
): Expression => ({ type: 'lambda', quantifier, of, variable, predicate, span })

/** A literal, its text as it is written in an address. */
export const literal = (of: LiteralType, value: ODataLiteral['value'], text: string): ODataLiteral => ({
  type: 'literal',
  of,
  value,
  text,
  span,
})
export const text = (value: string): ODataLiteral =>
  literal('Edm.String', value, `'${value.replaceAll("'", "''")}'`)
export const truth = (value: boolean): ODataLiteral => literal('Edm.Boolean', value, String(value))

/** An integer, or a number with a point. */
export function number(value: number): ODataLiteral {
  if (Number.isInteger(value))
    return literal(Math.abs(value) < 2 ** 31 ? 'Edm.Int32' : 'Edm.Int64', value, String(value))
  return literal(String(value).includes('e') ? 'Edm.Double' : 'Edm.Decimal', value, String(value))
}

/** What may be written in more than one way: blanks, capitals, parentheses. */
export interface Style {
  /** One blank or more. */
  readonly blank: () => string
  /** Nothing or blanks. */
  readonly gap: () => string
  /** A keyword or the name of a function in some capitals. */
  readonly cased: (word: string) => string
  /** Whether to put parentheses where they are not needed. */
  readonly superfluous: () => boolean
}

const LEVELS: Readonly<Record<string, number>> = {
  or: 1,
  and: 2,
  eq: 3,
  ne: 3,
  gt: 4,
  ge: 4,
  lt: 4,
  le: 4,
  add: 5,
  sub: 5,
  mul: 6,
  div: 6,
  divby: 6,
  mod: 6,
}
const UNARY = 7
const IN = 8
const PRIMARY = 9

/** How tightly the parts of an expression hold together (URL Conventions 5.1.1.17). */
function levelOf(expression: Expression): number {
  if (expression.type === 'binary') return LEVELS[expression.operator] ?? 0
  if (expression.type === 'not' || expression.type === 'negate') return UNARY
  return expression.type === 'in' ? IN : PRIMARY
}

/** An expression as it is written in an option. */
export function written(expression: Expression, style: Style): string {
  const { blank, gap, cased } = style
  const part = (inner: Expression, least: number): string => {
    const bare = written(inner, style)
    return levelOf(inner) < least || style.superfluous() ? `(${gap()}${bare}${gap()})` : bare
  }
  const listed = (items: readonly Expression[]) =>
    `(${items.map(item => gap() + written(item, style)).join(',')}${gap()})`
  switch (expression.type) {
    case 'binary': {
      const level = levelOf(expression)
      const [left, right] = [part(expression.left, level), part(expression.right, level + 1)]
      return left + blank() + cased(expression.operator) + blank() + right
    }
    case 'not':
      return cased('not') + blank() + part(expression.operand, UNARY)
    case 'negate':
      return `-${gap()}${part(expression.operand, PRIMARY)}`
    case 'in': {
      const right =
        expression.right.type === 'list' ? listed(expression.right.items) : written(expression.right, style)
      return part(expression.left, PRIMARY) + blank() + cased('in') + blank() + right
    }
    case 'literal':
      return expression.text
    case 'null':
      return 'null'
    case 'name':
    case 'alias':
      return expression.name
    case 'member':
      return `${written(expression.of, style)}/${expression.name}`
    case 'count':
      return `${written(expression.of, style)}/$count`
    case 'lambda': {
      const { quantifier, variable, predicate } = expression
      const inner = predicate === null ? '' : `${variable}${gap()}:${gap()}${written(predicate, style)}`
      return `${written(expression.of, style)}/${quantifier}(${inner})`
    }
    case 'call':
      return (
        cased(expression.name) + (expression.arguments.length === 0 ? '()' : listed(expression.arguments))
      )
    case 'cast':
      return `cast(${written(expression.operand ?? NULL, style)},${gap()}${expression.target})`
    case 'list':
      return listed(expression.items)
    case 'isof':
    case 'filtered':
    case 'object':
    case 'case':
      throw new Error(`${expression.type} is not written`)
    default:
      return expression satisfies never
  }
}

/** A search expression as it is written in `$search`. */
export function writtenSearch(search: SearchExpression, blank: () => string): string {
  const part = (inner: SearchExpression): string => {
    const bare = writtenSearch(inner, blank)
    return inner.type === 'and' || inner.type === 'or' ? `(${bare})` : bare
  }
  switch (search.type) {
    case 'term':
      return search.text
    case 'phrase':
      return `"${search.text}"`
    case 'and':
      return search.operands.map(part).join(`${blank()}${search.operands.length > 2 ? '' : `AND${blank()}`}`)
    case 'or':
      return search.operands.map(part).join(`${blank()}OR${blank()}`)
    case 'not':
      return `NOT${blank()}${part(search.operand)}`
    default:
      return search satisfies never
  }
}

export const searchNode = {
  word: (type: 'term' | 'phrase', words: string): SearchExpression => ({ type, text: words, span }),
  join: (type: 'and' | 'or', operands: readonly SearchExpression[]): SearchExpression => ({
    type,
    operands,
    span,
  }),
  not: (operand: SearchExpression): SearchExpression => ({ type: 'not', operand, span }),
}

/** A tree without the places and spellings of its literals, to compare what was meant with what was read. */
export function bare(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(bare)
  if (typeof tree !== 'object' || tree === null) return tree
  const kept = Object.entries(tree).filter(([key]) => key !== 'span' && key !== 'text')
  const node = tree as { readonly type?: string; readonly text?: string }
  const entries = kept.map(([key, value]) => [key, bare(value)])
  if (node.type === 'term' || node.type === 'phrase') entries.push(['text', node.text])
  return Object.fromEntries(entries)
}
