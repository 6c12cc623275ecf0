import type { WordOf } from '../model/words.ts'
import type { Literal, NamedNode, Term } from '../rdf/term.ts'
import { XSD } from '../rdf/vocab.ts'
import {
  type AggregateCall,
  type AlgebraExpression,
  type ConstructOperation,
  type Node,
  type OrderCondition,
  type SelectOperation,
  type SparqlOperation,
  type SparqlOperator,
  type TriplePatternNode,
  UNIT,
  type Variable,
} from './algebra.ts'

/** Builders that keep the compiler readable: each creates algebra, of the shapes that generate.ts writes as text. */
export const variable = (name: string): Variable => ({ type: 'variable', name })

export const iri = (value: string): NamedNode => ({ type: 'iri', value })

export const literal = (value: string, datatype: string = XSD.string): Literal => ({
  type: 'literal',
  value,
  datatype,
  language: '',
})

export const integer = (value: number): Literal => literal(String(value), XSD.integer)

export const triple = (subject: Node, predicate: Node, object: Node): SparqlOperation => ({
  type: 'bgp',
  patterns: [{ subject, predicate, object }],
})

/** The solutions that all parts agree on; adjacent triple patterns are one basic graph pattern. */
export function join(...parts: readonly SparqlOperation[]): SparqlOperation {
  const inputs: SparqlOperation[] = []
  for (const part of parts) {
    const last = inputs.at(-1)
    if (part.type === 'bgp' && last?.type === 'bgp')
      inputs[inputs.length - 1] = { type: 'bgp', patterns: [...last.patterns, ...part.patterns] }
    else inputs.push(part)
  }
  const [first = UNIT, ...others] = inputs
  return others.length === 0 ? first : { type: 'join', inputs }
}

export const inGraph = (graph: string, input: SparqlOperation): SparqlOperation => ({
  type: 'graph',
  name: iri(graph),
  input,
})

export const optional = (left: SparqlOperation, right: SparqlOperation): SparqlOperation => ({
  type: 'leftJoin',
  left,
  right,
  condition: null,
})

export const filter = (input: SparqlOperation, condition: AlgebraExpression): SparqlOperation => ({
  type: 'filter',
  input,
  condition,
})

export const bind = (
  input: SparqlOperation,
  { name }: Variable,
  expression: AlgebraExpression,
): SparqlOperation => ({ type: 'extend', input, variable: name, expression })

/** Rows with a term for each variable. */
export const inlineRows = (
  variables: readonly Variable[],
  rows: readonly (readonly Term[])[],
): SparqlOperation => ({ type: 'values', variables: variables.map(({ name }) => name), rows })

/** The terms that a variable may have. */
export const oneOf = (one: Variable, terms: readonly Term[]): SparqlOperation =>
  inlineRows(
    [one],
    terms.map(term => [term]),
  )

/** A column of a SELECT: a variable of its patterns, or a computed value with its variable. */
export type Projection =
  | Variable
  | { readonly variable: Variable; readonly expression: AlgebraExpression }
  | { readonly variable: Variable; readonly aggregate: AggregateCall }

interface Slice {
  /** null for all solutions, the default. */
  readonly limit?: number | null
  readonly offset?: number
}

interface Modifiers extends Slice {
  readonly groupBy?: readonly Variable[]
  readonly orderBy?: readonly OrderCondition[]
  readonly distinct?: boolean
}

/** A SELECT. Within other patterns its input is a subquery. */
export function select(
  projection: readonly Projection[],
  where: SparqlOperation,
  { groupBy = [], orderBy = [], distinct = false, ...slice }: Modifiers = {},
): SelectOperation {
  const aggregates = projection.flatMap(each =>
    'aggregate' in each ? [{ variable: each.variable.name, aggregate: each.aggregate }] : [],
  )
  let input = where
  if (groupBy.length > 0 || aggregates.length > 0)
    input = { type: 'group', input, keys: groupBy.map(({ name }) => name), aggregates }
  for (const each of projection) if ('expression' in each) input = bind(input, each.variable, each.expression)
  if (orderBy.length > 0) input = { type: 'order', input, keys: orderBy }
  const variables = projection.map(each => ('variable' in each ? each.variable.name : each.name))
  input = { type: 'project', input, variables }
  if (distinct) input = { type: 'distinct', input }
  return { type: 'select', variables, input: sliced(input, slice) }
}

export const construct = (
  template: readonly TriplePatternNode[],
  where: SparqlOperation,
  slice: Slice = {},
): ConstructOperation => ({ type: 'construct', template, input: sliced(where, slice) })

function sliced(input: SparqlOperation, { limit = null, offset = 0 }: Slice): SparqlOperation {
  return limit === null && offset === 0 ? input : { type: 'slice', input, offset, limit }
}

/** COUNT(*). */
export const COUNT_ALL: AggregateCall = { name: 'COUNT', distinct: false, operand: null }

/** An aggregate of SPARQL, or one of Lodestone's own by its IRI, of the values of an expression. */
export const aggregate = (
  name: string,
  operand: AlgebraExpression,
  more: { readonly distinct?: boolean; readonly parameters?: readonly Term[] } = {},
): AggregateCall => ({ name, distinct: false, operand, ...more })

export const binary = (
  operator: SparqlOperator,
  left: AlgebraExpression,
  right: AlgebraExpression,
): AlgebraExpression => ({ type: 'binary', operator, left, right })

/** The built-in functions that the compiler uses (SPARQL 1.1 Query, section 17.4). */
type BuiltIn = WordOf<
  | 'ABS BOUND CEIL COALESCE CONCAT CONTAINS DATATYPE FLOOR IF LCASE REGEX STR STRAFTER STRBEFORE STRDT'
  | 'STRENDS STRLEN STRSTARTS SUBSTR UCASE'
>

export const call = (name: BuiltIn, ...args: readonly AlgebraExpression[]): AlgebraExpression => ({
  type: 'builtin',
  name,
  arguments: args,
})

/** A call of a function that is named by its IRI: a cast or an extension. */
export const apply = (name: string, ...args: readonly AlgebraExpression[]): AlgebraExpression => ({
  type: 'function',
  iri: name,
  arguments: args,
})

export const conditional = (
  test: AlgebraExpression,
  then: AlgebraExpression,
  otherwise: AlgebraExpression,
): AlgebraExpression => call('IF', test, then, otherwise)

export const not = (operand: AlgebraExpression): AlgebraExpression => ({ type: 'not', operand })

export const among = (operand: AlgebraExpression, items: readonly Term[]): AlgebraExpression => ({
  type: 'in',
  operand,
  items,
  negated: false,
})

export const exists = (input: SparqlOperation): AlgebraExpression => ({
  type: 'exists',
  negated: false,
  input,
})

/** Expressions beyond which they are joined by halves: thousands of levels exceed the stack of what reads them. */
const MAX_CHAIN = 200

/** Joins expressions with one operator; null for none. */
export function foldTerm(
  operator: '&&' | '||',
  parts: readonly AlgebraExpression[],
): AlgebraExpression | null {
  if (parts.length > MAX_CHAIN) {
    const half = Math.ceil(parts.length / 2)
    const halves = [parts.slice(0, half), parts.slice(half)].map(each => foldTerm(operator, each))
    return binary(operator, ...(halves as [AlgebraExpression, AlgebraExpression]))
  }
  const [first, ...rest] = parts
  return first === undefined ? null : rest.reduce((left, right) => binary(operator, left, right), first)
}
