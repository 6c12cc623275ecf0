import type { SyntaxNode } from '@lezer/common'
import type { AggregateItem, Transformation } from './ast.ts'
import { MAX_DEPTH, tooDeep, unexpected } from './faults.ts'
import { computeItem, orderItem, read } from './parse.ts'
import { children, type TreeReader, treeSpanOf } from './reader.ts'

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
