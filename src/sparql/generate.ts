import { iriText, termText } from '../rdf/ntriples.ts'
import type { Literal } from '../rdf/term.ts'
import { XSD } from '../rdf/vocab.ts'
import type {
  AstExpression,
  AstQuery,
  ConstructQuery,
  Node,
  OrderKey,
  Pattern,
  Projection,
  SelectQuery,
} from './ast.ts'

/**
 * Writes a query as SPARQL 1.1 text: the only module of Lodestone that quotes and escapes for SPARQL. Terms are written in full
 * as N-Triples, whose escapes SPARQL shares, so that no client input can break out of its literal; a malformed variable name or
 * IRI throws, because only a defect can cause one.
 */
export function generate(query: AstQuery): string {
  return query.type === 'select' ? selectText(query) : constructText(query)
}

function selectText(query: SelectQuery): string {
  const distinct = query.distinct === true ? 'DISTINCT ' : ''
  const groupBy = query.groupBy ?? []
  return (
    `SELECT ${distinct}${query.projection.map(projectionText).join(' ')} WHERE ${groupText(query.where)}` +
    (groupBy.length === 0 ? '' : ` GROUP BY ${groupBy.map(projectionText).join(' ')}`) +
    modifiersText(query)
  )
}

function constructText(query: ConstructQuery): string {
  const template = query.template.map(
    ({ subject, predicate, object }) => `${nodeText(subject)} ${nodeText(predicate)} ${nodeText(object)} .`,
  )
  return `CONSTRUCT { ${template.join(' ')} } WHERE ${groupText(query.where)}${modifiersText(query)}`
}

function modifiersText(query: AstQuery): string {
  const orderBy = query.orderBy ?? []
  return (
    (orderBy.length === 0 ? '' : ` ORDER BY ${orderBy.map(orderText).join(' ')}`) +
    (query.limit === undefined ? '' : ` LIMIT ${wholeNumber(query.limit)}`) +
    (query.offset === undefined || query.offset === 0 ? '' : ` OFFSET ${wholeNumber(query.offset)}`)
  )
}

function projectionText({ variable, expression }: Projection): string {
  return expression === undefined
    ? nodeText(variable)
    : `(${expressionText(expression)} AS ${nodeText(variable)})`
}

function orderText({ expression, descending }: OrderKey): string {
  return `${descending ? 'DESC' : 'ASC'}(${expressionText(expression)})`
}

function groupText(patterns: readonly Pattern[]): string {
  return patterns.length === 0 ? '{ }' : `{ ${patterns.map(patternText).join(' ')} }`
}

function patternText(pattern: Pattern): string {
  switch (pattern.type) {
    case 'triple':
      return `${nodeText(pattern.subject)} ${nodeText(pattern.predicate)} ${nodeText(pattern.object)} .`
    case 'graph':
      return `GRAPH ${termText(pattern.graph)} ${groupText(pattern.patterns)}`
    case 'optional':
      return `OPTIONAL ${groupText(pattern.patterns)}`
    case 'minus':
      return `MINUS ${groupText(pattern.patterns)}`
    case 'union':
      return pattern.branches.map(groupText).join(' UNION ')
    case 'filter':
      return `FILTER(${expressionText(pattern.expression)})`
    case 'bind':
      return `BIND(${expressionText(pattern.expression)} AS ${nodeText(pattern.variable)})`
    case 'values':
      return `VALUES ${nodeText(pattern.variable)} { ${pattern.terms.map(nodeText).join(' ')} }`
    case 'inlineData': {
      const rows = pattern.rows.map(row => `(${row.map(nodeText).join(' ')})`)
      return `VALUES (${pattern.variables.map(nodeText).join(' ')}) { ${rows.join(' ')} }`
    }
    case 'subquery':
      return `{ ${selectText(pattern.query)} }`
    default:
      return unknown(pattern)
  }
}

function expressionText(expression: AstExpression): string {
  switch (expression.type) {
    case 'variable':
    case 'iri':
    case 'literal':
    case 'blank':
    case 'triple':
      return nodeText(expression)
    case 'binary':
      return `(${expressionText(expression.left)} ${expression.operator} ${expressionText(expression.right)})`
    case 'not':
      return `(!${expressionText(expression.operand)})`
    case 'builtin':
      return `${expression.name}(${expression.arguments.map(expressionText).join(', ')})`
    case 'function':
      return `${termText({ type: 'iri', value: expression.iri })}(${expression.arguments.map(expressionText).join(', ')})`
    case 'exists':
      return `${expression.negated ? 'NOT ' : ''}EXISTS ${groupText(expression.patterns)}`
    case 'in':
      return `(${expressionText(expression.operand)} IN (${expression.items.map(expressionText).join(', ')}))`
    case 'aggregate': {
      const operand = expression.operand === null ? '*' : expressionText(expression.operand)
      const own = `${expression.distinct ? 'DISTINCT ' : ''}${operand}`
      const name = AGGREGATES.has(expression.name) ? expression.name : iriText(expression.name)
      return `${name}(${[own, ...(expression.parameters ?? []).map(nodeText)].join(', ')})`
    }
    default:
      return unknown(expression)
  }
}

const AGGREGATES: ReadonlySet<string> = new Set(['COUNT', 'SUM', 'AVG', 'MIN', 'MAX', 'SAMPLE'])

function nodeText(node: Node): string {
  if (node.type === 'blank') throw new Error('a blank node in a query is a variable: not written')
  if (node.type === 'literal' && isBareInteger(node)) return node.value
  if (node.type !== 'variable') return termText(node)
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(node.name)) throw new Error(`not a variable name: ${node.name}`)
  return `?${node.name}`
}

/** An integer that SPARQL writes as bare digits: this makes a long list of positions a quarter as long. */
function isBareInteger({ value, datatype }: Literal): boolean {
  return datatype === XSD.integer && /^\d+$/.test(value)
}

function wholeNumber(value: number): string {
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`not a whole number: ${value}`)
  return String(value)
}

function unknown(node: never): never {
  throw new Error(`no text for ${JSON.stringify(node)}`)
}
