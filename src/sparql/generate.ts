import { iriText, termText } from '../rdf/ntriples.ts'
import type { Literal, Term } from '../rdf/term.ts'
import { XSD } from '../rdf/vocab.ts'
import type {
  AggregateCall,
  AlgebraExpression,
  Node,
  QueryOperation,
  SparqlOperation,
  TriplePatternNode,
} from './algebra.ts'

/**
 * Writes a query of the compiler as SPARQL 1.1 text: the only module of Lodestone that quotes and escapes for SPARQL. It writes the
 * operations that build.ts makes, and throws for others. Terms are written in full as N-Triples, whose escapes SPARQL shares, so
 * that no client input can break out of its literal; a malformed variable name or IRI throws, because only a defect can cause one.
 */
export function generate(query: QueryOperation): string {
  if (query.type === 'select') return selectText(query.input)
  if (query.type !== 'construct') throw new Error(`no text for ${query.type}`)
  const [where, slice] = withoutSlice(query.input)
  return `CONSTRUCT { ${query.template.map(tripleText).join(' ')} } WHERE ${groupText(where)}${slice}`
}

function selectText(operation: SparqlOperation): string {
  const [sliced, slice] = withoutSlice(operation)
  const isDistinct = sliced.type === 'distinct'
  const project = isDistinct ? sliced.input : sliced
  if (project.type !== 'project') throw new Error(`no SELECT begins with ${project.type}`)
  let where = project.input
  let modifiers = slice
  if (where.type === 'order') {
    modifiers = ` ORDER BY ${where.keys.map(({ expression, descending }) => `${descending ? 'DESC' : 'ASC'}(${expressionText(expression)})`).join(' ')}${modifiers}`
    where = where.input
  }
  const computed = new Map<string, string>()
  for (; where.type === 'extend' && project.variables.includes(where.variable); where = where.input)
    computed.set(where.variable, expressionText(where.expression))
  if (where.type === 'group') {
    for (const { variable, aggregate } of where.aggregates) computed.set(variable, aggregateText(aggregate))
    if (where.keys.length > 0) modifiers = ` GROUP BY ${where.keys.map(variableText).join(' ')}${modifiers}`
    where = where.input
  }
  const projection = project.variables.map(name => {
    const text = computed.get(name)
    return text === undefined ? variableText(name) : `(${text} AS ${variableText(name)})`
  })
  return `SELECT ${isDistinct ? 'DISTINCT ' : ''}${projection.join(' ')} WHERE ${groupText(where)}${modifiers}`
}

/** An operation without its slice, and the text of this. */
function withoutSlice(operation: SparqlOperation): readonly [SparqlOperation, string] {
  if (operation.type !== 'slice') return [operation, '']
  const { input, limit, offset } = operation
  const limited = limit === null ? '' : ` LIMIT ${wholeNumber(limit)}`
  return [input, offset === 0 ? limited : `${limited} OFFSET ${wholeNumber(offset)}`]
}

function groupText(operation: SparqlOperation): string {
  return braced(elementsOf(operation))
}

function braced(elements: readonly string[]): string {
  return elements.length === 0 ? '{ }' : `{ ${elements.join(' ')} }`
}

/** The elements of an operation within a group; those with one of the types need a group of their own to mean the same there. */
function within(operation: SparqlOperation, ...own: readonly SparqlOperation['type'][]): readonly string[] {
  return own.includes(operation.type) ? [groupText(operation)] : elementsOf(operation)
}

/** The elements of the group graph pattern that means an operation (SPARQL 1.1 Query, section 18.2.2). */
function elementsOf(operation: SparqlOperation): readonly string[] {
  switch (operation.type) {
    case 'bgp':
      return operation.patterns.map(tripleText)
    case 'join':
      return operation.inputs.flatMap(input => within(input, 'join', 'leftJoin', 'filter', 'extend'))
    case 'graph':
      return [`GRAPH ${nodeText(operation.name)} ${groupText(operation.input)}`]
    case 'leftJoin': {
      const { left, right, condition } = operation
      const test = condition === null ? [] : [`FILTER(${expressionText(condition)})`]
      return [...within(left, 'filter'), `OPTIONAL ${braced([...within(right, 'filter'), ...test])}`]
    }
    case 'union':
      return [operation.inputs.map(groupText).join(' UNION ')]
    case 'filter':
      return [...elementsOf(operation.input), `FILTER(${expressionText(operation.condition)})`]
    case 'extend': {
      const { input, variable, expression } = operation
      return [...within(input, 'filter'), `BIND(${expressionText(expression)} AS ${variableText(variable)})`]
    }
    case 'values':
      return [valuesText(operation)]
    default:
      return [`{ ${selectText(operation)} }`]
  }
}

function valuesText({ variables, rows }: Extract<SparqlOperation, { type: 'values' }>): string {
  const isRow = variables.length !== 1
  const inRow = (texts: readonly string[]) => (isRow ? `(${texts.join(' ')})` : texts.join(' '))
  const data = rows.map(row => inRow(row.map(term => (term === null ? 'UNDEF' : nodeText(term)))))
  return `VALUES ${inRow(variables.map(variableText))} { ${data.join(' ')} }`
}

function expressionText(expression: AlgebraExpression): string {
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
      return `${expression.name}(${listText(expression.arguments)})`
    case 'function':
      return `${iriText(expression.iri)}(${listText(expression.arguments)})`
    case 'exists':
      return `${expression.negated ? 'NOT ' : ''}EXISTS ${groupText(expression.input)}`
    case 'in':
      return `(${expressionText(expression.operand)} ${expression.negated ? 'NOT ' : ''}IN (${listText(expression.items)}))`
    default:
      throw new Error(`no text for ${expression.type}`)
  }
}

function listText(expressions: readonly AlgebraExpression[]): string {
  return expressions.map(expressionText).join(', ')
}

/** Lodestone's own aggregates are named by IRIs. */
function aggregateText({ name, distinct, operand, parameters = [] }: AggregateCall): string {
  const own = `${distinct ? 'DISTINCT ' : ''}${operand === null ? '*' : expressionText(operand)}`
  return `${name.includes(':') ? iriText(name) : name}(${[own, ...parameters.map(nodeText)].join(', ')})`
}

function tripleText({ subject, predicate, object }: TriplePatternNode): string {
  return `${nodeText(subject)} ${nodeText(predicate)} ${nodeText(object)} .`
}

function nodeText(node: Node): string {
  if (node.type === 'blank') throw new Error('a blank node in a query is a variable: not written')
  if (node.type === 'literal' && isBareInteger(node)) return node.value
  return node.type === 'variable' ? variableText(node.name) : termText(node)
}

function variableText(name: string): string {
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) throw new Error(`not a variable name: ${name}`)
  return `?${name}`
}

/** An integer that SPARQL writes as bare digits: this makes a long list of positions a quarter as long. */
function isBareInteger({ value, datatype }: Literal): boolean {
  return datatype === XSD.integer && /^\d+$/.test(value)
}

function wholeNumber(value: number): string {
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`not a whole number: ${value}`)
  return String(value)
}

/** A triple. */
export interface UpdateTriple {
  readonly subject: Term
  readonly predicate: Term
  readonly object: Term
}

/** A change of a store (SPARQL 1.1 Update): some triples of one graph, or a whole graph. */
export type Update =
  | { readonly type: 'insert' | 'delete'; readonly graph: string; readonly triples: readonly UpdateTriple[] }
  | { readonly type: 'drop'; readonly graph: string }
  /** Removes a number of arbitrary triples of a graph. */
  | { readonly type: 'thin'; readonly graph: string; readonly triples: number }

/** Writes a change as text; terms are written as N-Triples, whose escapes SPARQL shares. */
export function generateUpdate(update: Update): string {
  const graph = iriText(update.graph)
  switch (update.type) {
    case 'insert':
      return `INSERT DATA { GRAPH ${graph} { ${linesOf(update.triples)} } }`
    case 'delete':
      return `DELETE DATA { GRAPH ${graph} { ${linesOf(update.triples)} } }`
    case 'drop':
      return `DROP SILENT GRAPH ${graph}`
    case 'thin': {
      const all = `GRAPH ${graph} { ?s ?p ?o }`
      return `DELETE { ${all} } WHERE { { SELECT ?s ?p ?o WHERE { ${all} } LIMIT ${Math.floor(update.triples)} } }`
    }
  }
}

function linesOf(triples: readonly UpdateTriple[]): string {
  return triples
    .map(
      ({ subject, predicate, object }) => `${termText(subject)} ${termText(predicate)} ${termText(object)} .`,
    )
    .join('\n')
}
