import type { SyntaxNode } from '@lezer/common'
import type { Fault } from '../../errors/errors.ts'
import type {
  Argument,
  ArithmeticOperator,
  ClauseName,
  CompareOperator,
  Expression,
  RangeBounds,
  Span,
} from './ast.ts'
import { clauseFault, odsqlSyntaxFault } from './faults.ts'
import { RESERVED_WORDS } from './vocabulary.ts'

/** Maximum depth of nesting: parentheses, operators and calls. */
export const MAX_DEPTH = 400

export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = []
  for (let child = node.firstChild; child !== null; child = child.nextSibling)
    if (!/^\W/.test(child.name)) found.push(child)
  return found
}

export function only(node: SyntaxNode): SyntaxNode {
  const [first] = childrenOf(node)
  if (first === undefined) throw new Error(`${node.name} without content`)
  return first
}

export function span(node: SyntaxNode): Span {
  return { from: node.from, to: node.to }
}

/** The fault of nesting deeper than {@link MAX_DEPTH}. */
export function clauseTooDeep(clause: ClauseName, place: Span): Fault {
  return clauseFault(clause, `the expression is nested deeper than ${MAX_DEPTH} levels`, place)
}

/** Converts the tree of one clause to its AST; it lives for one clause and knows its text. */
export class ClauseReader {
  readonly clause: ClauseName
  readonly text: string
  readonly root: SyntaxNode
  private depth = 0

  constructor(clause: ClauseName, text: string, root: SyntaxNode) {
    this.clause = clause
    this.text = text
    this.root = root
  }

  unexpected(node: SyntaxNode): Fault {
    return odsqlSyntaxFault(this.clause, this.text, node.from)
  }

  private number(node: SyntaxNode): number {
    const value = Number(this.slice(node))
    if (Number.isFinite(value)) return value
    const found = this.slice(node).slice(0, 40)
    throw clauseFault(this.clause, `the number ${found} is too large`, span(node), 'below 1.8e308')
  }

  label(node: SyntaxNode): string {
    return unquoteName(this.slice(only(node)))
  }

  expression(node: SyntaxNode): Expression {
    if (++this.depth > MAX_DEPTH) throw clauseTooDeep(this.clause, span(node))
    const result = this.convert(node)
    this.depth -= 1
    return result
  }

  private convert(node: SyntaxNode): Expression {
    const place = span(node)
    switch (node.name) {
      case 'Or':
        return this.chain(node, 'or')
      case 'And':
        return this.chain(node, 'and')
      case 'Not':
        return { type: 'not', operand: this.expression(only(node)), span: place }
      case 'Comparison': {
        const [left, sign, right] = this.three(node)
        const operator = compareOperator(this.slice(sign))
        return { type: 'comparison', operator, ...this.sides(left, right), span: place }
      }
      case 'In':
        return this.membership(node)
      case 'Is': {
        const operand = only(node)
        const rest = this.text.slice(operand.to, node.to).toLowerCase()
        return {
          type: 'is',
          operand: this.expression(operand),
          negated: /\bnot\b/.test(rest),
          value: rest.endsWith('null') ? null : rest.endsWith('true'),
          span: place,
        }
      }
      case 'Like': {
        const [operand, pattern] = this.two(node)
        return {
          type: 'like',
          operand: this.expression(operand),
          pattern: this.expression(pattern),
          span: place,
        }
      }
      case 'Arithmetic': {
        const parts = childrenOf(node).filter(child => child.name !== 'Star')
        const [left, right] = parts
        if (left === undefined || right === undefined) throw this.unexpected(node)
        const operator = this.text.slice(left.to, right.from).trim() as ArithmeticOperator
        return { type: 'arithmetic', operator, ...this.sides(left, right), span: place }
      }
      case 'Sign':
        return {
          type: 'sign',
          negative: this.text[node.from] === '-',
          operand: this.expression(only(node)),
          span: place,
        }
      case 'Paren':
        return this.expression(only(node))
      case 'Call':
        return this.call(node)
      case 'Field':
        return this.field(node)
      case 'String':
        return { type: 'string', value: unquoteString(this.slice(node)), span: place }
      case 'Number':
        return { type: 'number', value: this.number(node), text: this.slice(node), span: place }
      case 'Date':
      case 'Geometry': {
        const text = unquoteString(this.slice(node).slice(4).trim())
        return { type: node.name === 'Date' ? 'date' : 'geometry', text, span: place }
      }
      case 'Boolean':
        return { type: 'boolean', value: this.slice(node).toLowerCase() === 'true', span: place }
      case 'Null':
        return { type: 'null', span: place }
      default:
        throw this.unexpected(node)
    }
  }

  private sides(left: SyntaxNode, right: SyntaxNode) {
    return { left: this.expression(left), right: this.expression(right) }
  }

  private membership(node: SyntaxNode): Expression {
    const parts = childrenOf(node).filter(child => child.name !== 'EqualsOp')
    const [operand, set] = parts
    if (operand === undefined || set === undefined) throw this.unexpected(node)
    const of = { operand: this.expression(operand), span: span(node) }
    if (set.name === 'Range') return { type: 'range', ...of, range: this.range(set) }
    if (set.name === 'Field') return { type: 'member', ...of, field: this.expression(set) }
    return { type: 'list', ...of, items: childrenOf(set).map(item => this.expression(item)) }
  }

  private range(node: SyntaxNode): RangeBounds {
    const bounds = childrenOf(node).filter(child => child.name !== 'Bracket')
    const [lower, upper] = bounds
    if (lower === undefined || upper === undefined) throw this.unexpected(node)
    return {
      lower: this.expression(lower),
      lowerInclusive: this.text[node.from] === '[',
      upper: this.expression(upper),
      upperInclusive: this.text[node.to - 1] === ']',
    }
  }

  private call(node: SyntaxNode): Expression {
    const [name, ...rest] = childrenOf(node)
    if (name === undefined) throw this.unexpected(node)
    return {
      type: 'call',
      name: this.slice(name).toLowerCase(),
      arguments: rest.map(child => this.argument(child)),
      span: span(node),
    }
  }

  private argument(node: SyntaxNode): Argument {
    const place = span(node)
    switch (node.name) {
      case 'Star':
        return { type: 'star', span: place }
      case 'Distinct':
        return { type: 'distinct', operand: this.expression(only(node)), span: place }
      case 'Wildcard':
        return { type: 'wildcard', prefix: this.slice(node).replace(/\s*\*$/, ''), span: place }
      case 'Quantity': {
        const [value, unit] = this.two(node)
        return { type: 'quantity', value: this.number(value), unit: this.slice(unit), span: place }
      }
      case 'Named': {
        const [name, , value] = this.three(node)
        return { type: 'named', name: this.slice(name), value: this.argument(value), span: place }
      }
      case 'Steps': {
        const items = childrenOf(node).filter(child => child.name !== 'Bracket')
        return {
          type: 'steps',
          open: this.text[node.from] === '[' ? '[' : ']',
          close: this.text[node.to - 1] === '[' ? '[' : ']',
          items: items.map(item => this.expression(item)),
          span: place,
        }
      }
      default:
        return this.expression(node)
    }
  }

  private field(node: SyntaxNode): Expression {
    const text = this.slice(node)
    const quoted = text.startsWith('`')
    if (!quoted && RESERVED_WORDS.has(text.toLowerCase())) {
      const hint = `a field of this name is written in back-quotes: \`${text}\``
      throw clauseFault(
        this.clause,
        `unexpected ${text} at position ${node.from}, a reserved word`,
        span(node),
        hint,
      )
    }
    return { type: 'field', name: unquoteName(text), quoted, span: span(node) }
  }

  /** A chain of one operator: its depth is that of one link, however long it is. */
  private chain(node: SyntaxNode, type: 'or' | 'and'): Expression {
    const [first, ...rest] = childrenOf(node).map(child => this.expression(child))
    if (first === undefined) throw this.unexpected(node)
    return rest.reduce(
      (left, right) => ({ type, left, right, span: { from: left.span.from, to: right.span.to } }),
      first,
    )
  }

  private two(node: SyntaxNode): readonly [SyntaxNode, SyntaxNode] {
    const [first, second] = childrenOf(node)
    if (first === undefined || second === undefined) throw this.unexpected(node)
    return [first, second]
  }

  private three(node: SyntaxNode): readonly [SyntaxNode, SyntaxNode, SyntaxNode] {
    const [first, second, third] = childrenOf(node)
    if (first === undefined || second === undefined || third === undefined) throw this.unexpected(node)
    return [first, second, third]
  }

  private slice(node: SyntaxNode): string {
    return this.text.slice(node.from, node.to)
  }
}

function compareOperator(text: string): CompareOperator {
  if (text === ':') return '='
  if (text === '<>') return '!='
  return text as CompareOperator
}

/** The characters of a string literal: without quotes; a backslash escapes the character after it. */
function unquoteString(text: string): string {
  return text.slice(1, -1).replace(/\\(.)/gsu, '$1')
}

function unquoteName(text: string): string {
  return text.startsWith('`') ? text.slice(1, -1) : text
}
