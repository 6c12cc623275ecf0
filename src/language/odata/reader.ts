import type { SyntaxNode } from '@lezer/common'
import type { Fault } from '../../errors/errors.ts'
import type { BinaryOperator, Expression, SearchExpression, Span } from './ast.ts'
import { MAX_DEPTH, odataFault, tooDeep, unexpected } from './faults.ts'
import { odataLiteral } from './literals.ts'
import { parseSearch } from './search.ts'

const IDENTIFIER = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]{0,127}$/u

/** Maximum length of a left-leaning chain of one operator; longer chains, of `and` and `or` only, are balanced. */
const SHORT_CHAIN = 8

/** The tokens that are punctuation and never content. */
const PUNCTUATION: ReadonlySet<string> = new Set(
  `Open Close Comma Colon Semicolon Equals Slash BracketOpen BracketClose BraceOpen BraceClose CallOpen CountOpen
  FilterOpen TrafoOpen FilterKey SearchKey NotWord Minus InOp InOpen HasOp AsOp WithOp FromOp`.split(/\s+/),
)

/** The child nodes that have content, including the operators of chains. */
export function children(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = []
  for (let child = node.firstChild; child !== null; child = child.nextSibling)
    if (!PUNCTUATION.has(child.name)) found.push(child)
  return found
}

/** The position of a node. */
export function treeSpanOf(node: SyntaxNode): Span {
  return { from: node.from, to: node.to }
}

/** Converts the expressions in the tree of one option to their AST; it lives for one option and knows its text. */
export class TreeReader {
  readonly option: string
  readonly text: string
  private depth = 0

  constructor(option: string, text: string) {
    this.option = option
    this.text = text
  }

  slice(node: SyntaxNode): string {
    return this.text.slice(node.from, node.to)
  }

  fault(node: SyntaxNode, reason: string): Fault {
    return odataFault(this.option, reason, treeSpanOf(node))
  }

  /** The text in the parentheses of an option, parsed as a search. */
  search(node: SyntaxNode): SearchExpression {
    return parseSearch(this.slice(node), this.option)
  }

  /** A name, qualified or not, each part of which is an identifier. */
  name(node: SyntaxNode): string {
    const name = this.slice(node)
    const wrong = name.split('.').find(part => !IDENTIFIER.test(part))
    if (wrong !== undefined) throw this.fault(node, `${wrong.slice(0, 60)} is no identifier`)
    return name
  }

  expression(node: SyntaxNode): Expression {
    if (this.depth >= MAX_DEPTH) throw tooDeep(this.option, treeSpanOf(node))
    this.depth += 1
    const result = this.convert(node)
    this.depth -= 1
    return result
  }

  private convert(node: SyntaxNode): Expression {
    const span = treeSpanOf(node)
    switch (node.name) {
      case 'Or':
      case 'And':
      case 'Equality':
      case 'Relation':
      case 'Sum':
      case 'Product':
        return this.chain(node)
      case 'Not':
        return { type: 'not', operand: this.expression(this.first(node)), span }
      case 'Negate':
        return this.negation(node)
      case 'Membership':
        return this.membership(node)
      case 'Paren':
        return this.expression(this.first(node))
      case 'Path':
        return this.path(node)
      case 'Case':
        return { type: 'case', branches: children(node).map(branch => this.branch(branch)), span }
      case 'Array':
        return { type: 'list', items: children(node).map(item => this.value(item)), span }
      case 'Object':
        return { type: 'object', members: children(node).map(member => this.member(member)), span }
      default:
        return odataLiteral(this.option, node.name, this.slice(node), span)
    }
  }

  private chain(node: SyntaxNode): Expression {
    const nodes = children(node)
    const operators = nodes.filter((_, index) => index % 2 === 1)
    const operands = nodes.filter((_, index) => index % 2 === 0)
    const isAssociative = node.name === 'Or' || node.name === 'And'
    const chained = operands.length - 2
    if (!isAssociative && this.depth + chained > MAX_DEPTH) throw tooDeep(this.option, treeSpanOf(node))
    const of = (index: number) =>
      this.slice(operators[index - 1] ?? node)
        .trim()
        .toLowerCase() as BinaryOperator
    const read = operands.map(operand => this.expression(operand))
    if (isAssociative && read.length > SHORT_CHAIN) return balanced(of(1), read)
    return read.reduce((left, right, index) => binary(of(index), left, right))
  }

  private negation(node: SyntaxNode): Expression {
    const operand = this.expression(this.first(node))
    const span = treeSpanOf(node)
    const isInfinity = operand.type === 'literal' && operand.text === 'INF'
    if (isInfinity) return { ...operand, value: Number.NEGATIVE_INFINITY, text: this.slice(node), span }
    return { type: 'negate', operand, span }
  }

  private membership(node: SyntaxNode): Expression {
    const [first, ...others] = children(node)
    if (first === undefined) throw new Error('a membership without operands')
    if (this.depth + others.length > MAX_DEPTH) throw tooDeep(this.option, treeSpanOf(node))
    return others.reduce((left, right) => {
      const span = { from: node.from, to: right.to }
      if (right.name === 'InList' || right.prevSibling?.name === 'InOp')
        return { type: 'in', left, right: this.set(right), span }
      return { type: 'binary', operator: 'has', left, right: this.expression(right), span }
    }, this.expression(first))
  }

  /** The right operand of `in`: literals in parentheses, or an expression, with or without parentheses. */
  private set(node: SyntaxNode): Expression {
    if (node.name !== 'List' && node.name !== 'InList') return this.expression(node)
    const nodes = children(node)
    const items = nodes.map(item => this.expression(item))
    const other = items.findIndex(item => item.type !== 'literal' && item.type !== 'null')
    const [first, wrong] = [items[0], nodes[other]]
    if (first !== undefined && items.length === 1 && wrong !== undefined) return first
    if (wrong !== undefined) throw this.fault(wrong, 'a list between parentheses has literals only')
    return { type: 'list', items, span: treeSpanOf(node) }
  }

  private path(node: SyntaxNode): Expression {
    const [head, ...steps] = children(node)
    if (head === undefined) throw new Error('an empty path')
    const isAlone = steps.length === 0
    if (this.depth + steps.length > MAX_DEPTH) throw tooDeep(this.option, treeSpanOf(node))
    const first = (isAlone ? this.word(head) : undefined) ?? this.head(head)
    return steps.reduce((of, step) => this.step(of, step), first)
  }

  /** A word that is a literal and not a name. */
  private word(node: SyntaxNode): Expression | undefined {
    if (node.name !== 'Identifier') return undefined
    const text = this.slice(node)
    const span = treeSpanOf(node)
    if (text === 'null') return { type: 'null', span }
    if (text === 'INF')
      return { type: 'literal', of: 'Edm.Double', value: Number.POSITIVE_INFINITY, text, span }
    if (text === 'NaN') return { type: 'literal', of: 'Edm.Double', value: Number.NaN, text, span }
    if (!/^(?:true|false)$/i.test(text)) return undefined
    return { type: 'literal', of: 'Edm.Boolean', value: text.toLowerCase() === 'true', text, span }
  }

  private head(node: SyntaxNode): Expression {
    const span = treeSpanOf(node)
    const text = this.slice(node)
    switch (node.name) {
      case 'Call':
        return this.call(node, null)
      case 'Alias':
        return { type: 'alias', name: text, span }
      case 'Dollar':
        if (!/^\$(?:it|this|these|root)$/.test(text))
          throw this.fault(node, `unexpected ${text}, expected $it, $this, $these or $root`)
        return { type: 'name', name: text, span }
      default:
        return { type: 'name', name: this.name(node), span }
    }
  }

  private step(of: Expression, node: SyntaxNode): Expression {
    const span = { from: of.span.from, to: node.to }
    switch (node.name) {
      case 'Any':
      case 'All':
        return this.lambda(of, node)
      case 'Call':
        return this.call(node, of)
      case 'Aggregated':
        return { type: 'call', name: 'aggregate', arguments: [of], span }
      case 'Filtered':
        return { type: 'filtered', of, filter: this.expression(this.first(node)), span }
      case 'Count':
        return this.count(of, node)
      case 'Alias':
        return { type: 'member', of, name: this.slice(node), span }
      case 'Dollar':
        if (this.slice(node) !== '$count')
          throw this.fault(node, `unexpected ${this.slice(node)}, expected $count or $filter(…)`)
        return counted(of, null, null, span)
      default:
        return { type: 'member', of, name: this.name(node), span }
    }
  }

  private lambda(of: Expression, node: SyntaxNode): Expression {
    const [variable, predicate] = children(node).filter(child => !/Open$/.test(child.name))
    return {
      type: 'lambda',
      quantifier: node.name === 'Any' ? 'any' : 'all',
      of,
      variable: variable === undefined ? null : this.name(variable),
      predicate: predicate === undefined ? null : this.expression(predicate),
      span: { from: of.span.from, to: node.to },
    }
  }

  /** `of/$count($filter=…;$search=…)`. */
  private count(of: Expression, node: SyntaxNode): Expression {
    const options = children(node)
    const [filter, search] = ['FilterOption', 'SearchOption'].map(name => {
      const [found, again] = options.filter(option => option.name === name)
      if (again !== undefined) throw this.fault(again, 'an option that was there before')
      return found === undefined ? undefined : this.first(found)
    })
    return counted(
      of,
      filter === undefined ? null : this.expression(filter),
      search === undefined ? null : this.search(search),
      { from: of.span.from, to: node.to },
    )
  }

  /** A call on its own, or as a segment of a path, whose operand is then its first argument. */
  private call(node: SyntaxNode, of: Expression | null): Expression {
    const name = this.text.slice(node.from, this.text.indexOf('(', node.from)).toLowerCase()
    const parts = children(node)
    const span = { from: of?.span.from ?? node.from, to: node.to }
    if (of === null && (name === 'cast' || name === 'isof')) return this.typed(name, node, parts)
    const own = parts.map(part => this.expression(part.name === 'Named' ? this.last(part) : part))
    if (of === null && name === 'not' && own.length === 1 && own[0] !== undefined)
      return { type: 'not', operand: own[0], span }
    return { type: 'call', name, arguments: of === null ? own : [of, ...own], span }
  }

  private typed(type: 'cast' | 'isof', node: SyntaxNode, parts: readonly SyntaxNode[]): Expression {
    const target = parts.at(-1)
    const operand = parts.length === 2 ? parts[0] : undefined
    if (target === undefined || parts.length > 2)
      throw this.fault(node, `${type} takes a type, and before it what is of the type`)
    return {
      type,
      operand: operand === undefined ? null : this.expression(operand),
      target: this.typeName(target),
      span: treeSpanOf(node),
    }
  }

  /** `Edm.String`, `Collection(Edm.String)`, and in OData 3.0 `'Edm.String'`. */
  private typeName(node: SyntaxNode): string {
    const text = this.slice(node)
    const name = node.name === 'String' ? text.slice(1, -1) : text
    const single = /^Collection\((.*)\)$/.exec(name)?.[1] ?? name
    if (single.split('.').every(part => IDENTIFIER.test(part))) return name
    throw this.fault(node, `${text.slice(0, 60)} is no name of a type`)
  }

  private branch(node: SyntaxNode): { readonly when: Expression; readonly then: Expression } {
    // biome-ignore lint/suspicious/noThenProperty: the word of the AST; it is never a function
    return { when: this.expression(this.first(node)), then: this.expression(this.last(node)) }
  }

  private member(node: SyntaxNode): { readonly name: string; readonly value: Expression } {
    return { name: this.json(this.first(node)), value: this.value(this.last(node)) }
  }

  /** An element of JSON: a string in double quotes, or any expression. */
  private value(node: SyntaxNode): Expression {
    if (node.name !== 'JsonString') return this.expression(node)
    const text = this.slice(node)
    return { type: 'literal', of: 'Edm.String', value: this.json(node), text, span: treeSpanOf(node) }
  }

  private json(node: SyntaxNode): string {
    try {
      return JSON.parse(this.slice(node)) as string
    } catch {
      throw this.fault(node, 'a string with an escape or a character that JSON does not have')
    }
  }

  first(node: SyntaxNode): SyntaxNode {
    const found = children(node)[0]
    if (found === undefined) throw unexpected(this.option, this.text, node.from)
    return found
  }

  last(node: SyntaxNode): SyntaxNode {
    const found = children(node).at(-1)
    if (found === undefined) throw unexpected(this.option, this.text, node.from)
    return found
  }
}

function counted(
  of: Expression,
  filter: Expression | null,
  search: SearchExpression | null,
  span: Span,
): Expression {
  return { type: 'count', of, filter, search, span }
}

function binary(operator: BinaryOperator, left: Expression, right: Expression): Expression {
  return { type: 'binary', operator, left, right, span: { from: left.span.from, to: right.span.to } }
}

/** A chain as a tree of minimum depth. */
function balanced(operator: BinaryOperator, operands: readonly Expression[]): Expression {
  const [first] = operands
  if (first === undefined) throw new Error('a chain without operands')
  if (operands.length === 1) return first
  const middle = operands.length >> 1
  return binary(
    operator,
    balanced(operator, operands.slice(0, middle)),
    balanced(operator, operands.slice(middle)),
  )
}
