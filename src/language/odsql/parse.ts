import type { SyntaxNode } from '@lezer/common'
import type { ClauseName, Expression, GroupItem, OrderItem, SelectItem } from './ast.ts'
import { ClauseReader, childrenOf, clauseTooDeep, MAX_DEPTH, only, span } from './clause-reader.ts'
import { clauseFault, odsqlSyntaxFault } from './faults.ts'
import { parser } from './parser.ts'

/** Maximum length of a clause, in characters. */
const MAX_CLAUSE_LENGTH = 20_000

const PARSERS = {
  where: parser.configure({ top: 'WhereClause', strict: true }),
  select: parser.configure({ top: 'SelectClause', strict: true }),
  group_by: parser.configure({ top: 'GroupByClause', strict: true }),
  order_by: parser.configure({ top: 'OrderByClause', strict: true }),
}

/** Parses a where clause. Throws ODSQLError with the position in the text. */
export function parseWhere(text: string): Expression {
  const reader = read('where', text)
  const [first, ...others] = childrenOf(reader.root).map(node => reader.expression(node))
  if (first === undefined) throw new Error('a clause without content')
  return others.reduce<Expression>(
    (left, right) => ({ type: 'and', left, right, span: { from: left.span.from, to: right.span.to } }),
    first,
  )
}

/** Parses a select clause. Throws ODSQLError with the position in the text. */
export function parseSelect(text: string): readonly SelectItem[] {
  const reader = read('select', text)
  return childrenOf(reader.root).map(item => {
    const { first, ...rest } = labelled(item, reader)
    return { expression: first.name === 'Star' ? null : reader.expression(first), ...rest }
  })
}

/** Parses a group_by clause. Throws ODSQLError with the position in the text. */
export function parseGroupBy(text: string): readonly GroupItem[] {
  const reader = read('group_by', text)
  return childrenOf(reader.root).map(item => {
    const { first, ...rest } = labelled(item, reader)
    return { expression: reader.expression(first), ...rest }
  })
}

function labelled(item: SyntaxNode, reader: ClauseReader) {
  const [first, label] = childrenOf(item)
  if (first === undefined) throw reader.unexpected(item)
  return { first, label: label === undefined ? null : reader.label(label), span: span(item) }
}

/** Parses an order_by clause. Throws ODSQLError with the position in the text. */
export function parseOrderBy(text: string): readonly OrderItem[] {
  const reader = read('order_by', text)
  return childrenOf(reader.root).map(item => {
    const first = only(item)
    const direction = text.slice(first.to, item.to)
    return { expression: reader.expression(first), descending: /desc/i.test(direction), span: span(item) }
  })
}

function read(clause: ClauseName, text: string): ClauseReader {
  if (text.length > MAX_CLAUSE_LENGTH) {
    const reason = `the clause has ${text.length} characters, at most ${MAX_CLAUSE_LENGTH} are read`
    throw clauseFault(clause, reason, { from: MAX_CLAUSE_LENGTH, to: text.length })
  }
  try {
    return new ClauseReader(clause, text, PARSERS[clause].parse(text).topNode)
  } catch (error) {
    const at = error instanceof SyntaxError ? /No parse at (\d+)/.exec(error.message)?.[1] : undefined
    if (at === undefined) throw error
    refuseDeep(clause, text.slice(0, Number(at)))
    throw odsqlSyntaxFault(clause, text, Number(at))
  }
}

/** Refuses a text that is nested too deep before the error in it: the parser itself stops at some depth. */
function refuseDeep(clause: ClauseName, text: string): void {
  let depth = 0
  const isLevel = ({ name }: { readonly name: string }) => name !== 'Or' && name !== 'And'
  const tree = PARSERS[clause].configure({ strict: false }).parse(text)
  tree.iterate({
    enter: node => {
      if (isLevel(node) && ++depth > MAX_DEPTH) throw clauseTooDeep(clause, node)
    },
    leave: node => {
      if (isLevel(node)) depth -= 1
    },
  })
}
