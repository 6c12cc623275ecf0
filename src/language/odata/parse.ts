import type { SyntaxNode } from '@lezer/common'
import type { LRParser } from '@lezer/lr'
import type {
  AggregateItem,
  ComputeItem,
  ElementClause,
  Expression,
  OrderItem,
  SelectItem,
  SelectOption,
  Transformation,
} from './ast.ts'
import { checkLength, MAX_DEPTH, odataFault, tooDeep, unexpected } from './faults.ts'
import { parser } from './parser.ts'
import { children, TreeReader, treeSpanOf } from './reader.ts'

export { parseSearch } from './search.ts'

const TOPS = ['Expression', 'OrderBy', 'Compute', 'Select', 'Expand', 'Apply'] as const
type Top = (typeof TOPS)[number]

const PARSERS = Object.fromEntries(
  TOPS.map(top => [top, parser.configure({ top, strict: true })]),
) as Readonly<Record<Top, LRParser>>

/**
 * Parses a decoded `$filter`: operator precedence is that of URL Conventions 5.1.1.17, so that `not a ge 1` is `(not a) ge 1`.
 * Throws ODataError with the position in the text.
 *
 * @param option name of the option, for messages
 */
export function parseFilter(text: string, option = '$filter'): Expression {
  return parseExpression(text, option)
}

/** Parses any expression, such as the value of an alias, including literals, null, JSON arrays and objects. */
export function parseExpression(text: string, option: string): Expression {
  const { reader, nodes } = read('Expression', text, option)
  const [node] = nodes
  if (node === undefined) throw unexpected(option, text, 0)
  return reader.expression(node)
}

/** Parses `$orderby`: expressions, each with its direction. */
export function parseOrderBy(text: string, option = '$orderby'): readonly OrderItem[] {
  const { reader, nodes } = read('OrderBy', text, option)
  return nodes.map(node => orderItem(reader, node))
}

/** Parses `$compute`: expressions, each with the name of its property. */
export function parseCompute(text: string, option = '$compute'): readonly ComputeItem[] {
  const { reader, nodes } = read('Compute', text, option)
  return nodes.map(node => computeItem(reader, node))
}

/** Parses `$select`: paths, `*`, and the options in parentheses after a path, both as texts and parsed. */
export function parseSelect(text: string, option = '$select'): readonly SelectItem[] {
  const { reader, nodes } = read('Select', text, option)
  return nodes.map(node => {
    const item = selectItem(reader, node)
    return { ...item, options: item.options.map(nested => ({ ...nested, clause: elementClause(nested) })) }
  })
}

/** Parses the form of `$expand`: paths, which may end with `*`, `$ref` or `$count`, with options as texts. */
export function parseExpand(text: string, option = '$expand'): readonly SelectItem[] {
  const { reader, nodes } = read('Expand', text, option)
  return nodes.map(node => selectItem(reader, node))
}

/** The tree of an option and its reader. Throws ODataError on a syntax error. */
function read(
  top: Top,
  text: string,
  option: string,
): { readonly reader: TreeReader; readonly nodes: readonly SyntaxNode[] } {
  checkLength(option, text)
  try {
    return { reader: new TreeReader(option, text), nodes: children(PARSERS[top].parse(text).topNode) }
  } catch (error) {
    const at = error instanceof SyntaxError ? /No parse at (\d+)/.exec(error.message)?.[1] : undefined
    if (at === undefined) throw error
    throw unexpected(option, text, Number(at))
  }
}

/** One key of an order. */
function orderItem(reader: TreeReader, node: SyntaxNode): OrderItem {
  const [expression, direction] = children(node)
  if (expression === undefined) throw unexpected(reader.option, reader.text, node.from)
  const descending = direction !== undefined && /desc/i.test(reader.slice(direction))
  return { expression: reader.expression(expression), descending, span: treeSpanOf(node) }
}

/** One computed property. */
function computeItem(reader: TreeReader, node: SyntaxNode): ComputeItem {
  return {
    expression: reader.expression(reader.first(node)),
    name: reader.name(reader.last(node)),
    span: treeSpanOf(node),
  }
}

const OPTION = /^[ \t]*((?:\$?[a-z]+|@[\p{L}\p{Nl}_][\p{L}\p{N}\p{M}\p{Pc}]*))=/iu

function selectItem(reader: TreeReader, node: SyntaxNode): SelectItem {
  const parts = children(node)
  const path = parts.filter(part => part.name !== 'Options').map(part => pathName(reader, part))
  const options = parts.filter(part => part.name === 'Options').flatMap(children)
  return { path, options: options.map(option => nestedOption(reader, option)), span: treeSpanOf(node) }
}

function pathName(reader: TreeReader, node: SyntaxNode): string {
  const text = reader.slice(node)
  if (['Star', 'Alias', 'Wildcard'].includes(node.name)) return text
  if (node.name !== 'PlainDollar') return reader.name(node)
  if (/^\$(?:ref|count|value)$/.test(text)) return text
  throw reader.fault(node, `unexpected ${text}, expected $ref or $count`)
}

/** An option between parentheses: its name as written, and its text. */
function nestedOption(reader: TreeReader, node: SyntaxNode): SelectOption {
  const text = reader.slice(node)
  const match = OPTION.exec(text)
  if (match?.[1] === undefined) throw reader.fault(node, 'no option, expected its name and =')
  return {
    name: match[1],
    text: text.slice(match[0].length),
    clause: null,
    span: { from: node.from + match[0].length, to: node.to },
  }
}

/** The selection of an option from the values of a collection; null for an option that collections do not have. */
function elementClause({ name, text }: SelectOption): ElementClause | null {
  const plain = name.toLowerCase().replace(/^\$/, '')
  const option = `$${plain} in $select`
  const wrong = (what: string) =>
    odataFault(option, `${text.slice(0, 60)} is no ${what}`, { from: 0, to: text.length })
  switch (plain) {
    case 'filter':
      return { type: plain, expression: parseFilter(text, option) }
    case 'orderby':
      return { type: plain, items: parseOrderBy(text, option) }
    case 'top':
    case 'skip':
      if (!/^\d{1,15}$/.test(text)) throw wrong('whole number that is not negative')
      return { type: plain, count: Number(text) }
    case 'count':
      if (text !== 'true' && text !== 'false') throw wrong('boolean')
      return { type: plain, requested: text === 'true' }
    default:
      return null
  }
}

type Ranking = Extract<Transformation, { readonly amount: unknown }>['type']

/** The transformations that are parsed without looking at their content; any other must have a qualified name. */
const OTHERS = /^(?:join|outerjoin|nest|addnested|ancestors|descendants|traverse|expand|.*\..*)$/i

/** Aggregate methods that need no qualified name. */
const METHODS = /^(?:sum|min|max|average|countdistinct|.*\..*)$/i

/**
 * Parses `$apply` (Data Aggregation 4.0, section 3): a sequence of transformations. Parts of the standard that the AST lacks,
 * such as `from`, give a step of type `other`. Throws ODataError with the position in the text.
 *
 * @param option name of the option, for messages
 */
export function parseApply(text: string, option = '$apply'): readonly Transformation[] {
  const { reader, nodes } = read('Apply', text, option)
  const [sequence] = nodes
  if (sequence === undefined) throw unexpected(option, text, 0)
  return transformations(reader, sequence, 0)
}

function transformations(reader: TreeReader, node: SyntaxNode, depth: number): readonly Transformation[] {
  if (depth > MAX_DEPTH) throw tooDeep(reader.option, treeSpanOf(node))
  return children(node).map(step => transformation(reader, step, depth))
}

function transformation(reader: TreeReader, node: SyntaxNode, depth: number): Transformation {
  const span = treeSpanOf(node)
  const parts = children(node)
  const name = /^[^(\s]*/.exec(reader.slice(node))?.[0].toLowerCase() ?? ''
  switch (node.name) {
    case 'Filter':
      return { type: 'filter', expression: reader.expression(reader.first(node)), span }
    case 'Search':
      return { type: 'search', expression: reader.search(reader.first(node)), span }
    case 'ComputeStep':
      return { type: 'compute', items: parts.map(item => computeItem(reader, item)), span }
    case 'Aggregate':
      return aggregate(reader, node)
    case 'GroupBy':
      return groupBy(reader, node, depth)
    case 'OrderByStep':
      return { type: 'orderby', items: parts.map(item => orderItem(reader, item)), span }
    case 'Page':
      return { type: name as 'top' | 'skip', count: count(reader, reader.first(node)), span }
    case 'Ranking': {
      const [amount, by] = [reader.first(node), reader.last(node)].map(part => reader.expression(part))
      if (amount === undefined || by === undefined) throw unexpected(reader.option, reader.text, node.from)
      return { type: name as Ranking, amount, by, span }
    }
    case 'Concat':
      return {
        type: 'concat',
        sequences: parts.map(sequence => transformations(reader, sequence, depth + 1)),
        span,
      }
    case 'Identifier':
      if (name !== 'identity') throw reader.fault(node, `unexpected ${name}, expected a transformation`)
      return { type: 'identity', span }
    default:
      if (!OTHERS.test(name)) throw reader.fault(node, `${name} is no transformation`)
      return { type: 'other', name, span }
  }
}

function aggregate(reader: TreeReader, node: SyntaxNode): Transformation {
  const items = children(node).map(item => aggregateItem(reader, item))
  const known = items.filter(item => item !== 'from')
  if (known.length < items.length) return { type: 'other', name: 'aggregate from', span: treeSpanOf(node) }
  return { type: 'aggregate', items: known, span: treeSpanOf(node) }
}

/** One aggregate; `from` where it is an aggregate of an aggregate. */
function aggregateItem(reader: TreeReader, node: SyntaxNode): AggregateItem | 'from' {
  const [operand, ...others] = children(node)
  const method = others.find(({ name }) => name === 'Method')
  const alias = others.find(({ name }) => name === 'Identifier')
  if (operand === undefined || alias === undefined)
    throw reader.fault(node, 'a figure needs a name, expected as and the name')
  const name = reader.name(alias)
  const counts = /(?:^|\/)\$count$/.exec(reader.slice(operand))
  if (counts !== null && method !== undefined) throw reader.fault(method, '$count goes without a method')
  if (counts === null && method === undefined)
    throw reader.fault(
      node,
      'a figure needs a method, expected with and sum, min, max, average or countdistinct',
    )
  if (others.some(({ name }) => name === 'From')) return 'from'
  const isRecordCount = reader.slice(operand) === '$count'
  return {
    operand: isRecordCount ? null : reader.expression(operand),
    method: method === undefined ? 'count' : methodName(reader, method),
    name,
    span: treeSpanOf(node),
  }
}

function methodName(reader: TreeReader, node: SyntaxNode): string {
  const name = reader.name(reader.first(node))
  if (!METHODS.test(name))
    throw reader.fault(node, `${name} is no method, expected sum, min, max, average or countdistinct`)
  return name.includes('.') ? name : name.toLowerCase()
}

function groupBy(reader: TreeReader, node: SyntaxNode, depth: number): Transformation {
  const parts = children(node)
  const then = parts.find(({ name }) => name === 'Sequence')
  const keys = parts.filter(({ name }) => name !== 'Sequence')
  const paths = keys.flatMap(key => (key.name === 'Rollup' ? children(key) : [key]))
  return {
    type: 'groupby',
    keys: paths
      .filter(({ name }) => name === 'GroupKey')
      .map(path => children(path).map(part => reader.name(part))),
    rollup: keys.some(({ name }) => name !== 'GroupKey'),
    // biome-ignore lint/suspicious/noThenProperty: the word of the AST; it is never a function
    then: then === undefined ? [] : transformations(reader, then, depth + 1),
    span: treeSpanOf(node),
  }
}

function count(reader: TreeReader, node: SyntaxNode): number {
  const text = reader.slice(node)
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value
  throw reader.fault(node, `${text.slice(0, 60)} is no number of records`)
}
