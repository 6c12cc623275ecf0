import type { Literal, NamedNode } from '../rdf/term.ts'
import { XSD } from '../rdf/vocab.ts'
import type { AstExpression, BuiltIn, Node, Pattern, SelectQuery, SparqlOperator, Variable } from './ast.ts'

/** Builders that keep the compiler readable: each creates one node of a syntax tree. */
export const variable = (name: string): Variable => ({ type: 'variable', name })

export const iri = (value: string): NamedNode => ({ type: 'iri', value })

export const literal = (value: string, datatype: string = XSD.string): Literal => ({
  type: 'literal',
  value,
  datatype,
  language: '',
})

export const integer = (value: number): Literal => literal(String(value), XSD.integer)

export const triple = (subject: Node, predicate: Node, object: Node): Pattern => ({
  type: 'triple',
  subject,
  predicate,
  object,
})

export const inGraph = (graph: string, ...patterns: readonly Pattern[]): Pattern => ({
  type: 'graph',
  graph: iri(graph),
  patterns,
})

export const filter = (expression: AstExpression): Pattern => ({ type: 'filter', expression })

export const optional = (...patterns: readonly Pattern[]): Pattern => ({ type: 'optional', patterns })

export const bind = (expression: AstExpression, target: Variable): Pattern => ({
  type: 'bind',
  expression,
  variable: target,
})

export const subquery = (query: SelectQuery): Pattern => ({ type: 'subquery', query })

export const binary = (
  operator: SparqlOperator,
  left: AstExpression,
  right: AstExpression,
): AstExpression => ({
  type: 'binary',
  operator,
  left,
  right,
})

export const call = (name: BuiltIn, ...args: readonly AstExpression[]): AstExpression => ({
  type: 'builtin',
  name,
  arguments: args,
})

/** A call of a function that is named by its IRI: a cast or an extension. */
export const apply = (name: string, ...args: readonly AstExpression[]): AstExpression => ({
  type: 'function',
  iri: name,
  arguments: args,
})

export const conditional = (
  test: AstExpression,
  then: AstExpression,
  otherwise: AstExpression,
): AstExpression => call('IF', test, then, otherwise)

export const not = (operand: AstExpression): AstExpression => ({ type: 'not', operand })

export const exists = (...patterns: readonly Pattern[]): AstExpression => ({
  type: 'exists',
  negated: false,
  patterns,
})

/** Joins expressions with one operator; null for none. */
export function foldTerm(operator: '&&' | '||', parts: readonly AstExpression[]): AstExpression | null {
  const [first, ...rest] = parts
  return first === undefined ? null : rest.reduce((left, right) => binary(operator, left, right), first)
}
