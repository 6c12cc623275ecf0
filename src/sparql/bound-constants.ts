import { oncePerObject } from '../model/memoised.ts'
import { LODESTONE, XSD } from '../rdf/vocab.ts'
import {
  type AlgebraExpression,
  conjuncts,
  inputsOf,
  type OperationOf,
  type QueryOperation,
  type SparqlOperation,
  variablesOfExpression,
} from './algebra.ts'
import { withNotExists } from './anti-join.ts'

type Constants = ReadonlyMap<string, AlgebraExpression>

const NONE: Constants = new Map()

/**
 * Writes the constants of `BIND("…" AS ?v)` and of `VALUES ?v { … }` with one row in place of the variable where expressions read
 * it, so that conditions compare with constants, and applies conditions before the BINDs that they do not read. The solutions stay
 * the same: all those of the group have the constant (SPARQL 1.1 Query, section 18.5). What EXISTS contains is left as it is. Tests
 * for the absence of an optional group become NOT EXISTS.
 */
export function withBoundConstants<Query extends QueryOperation>(query: Query): Query {
  return { ...query, input: rewritten(query.input) }
}

function rewritten(operation: SparqlOperation): SparqlOperation {
  switch (operation.type) {
    case 'join':
    case 'union':
      return { ...operation, inputs: operation.inputs.map(rewritten) }
    case 'leftJoin': {
      const [left, right] = [rewritten(operation.left), rewritten(operation.right)]
      const constants = new Map([...constantsOf(right), ...constantsOf(left)])
      const condition = operation.condition === null ? null : substituted(operation.condition, constants)
      return { ...operation, left, right, condition }
    }
    case 'minus':
    case 'lateral':
      return { ...operation, left: rewritten(operation.left), right: rewritten(operation.right) }
    case 'filter': {
      const input = rewritten(operation.input)
      const found = filtered(conjuncts(substituted(operation.condition, constantsOf(input))), input)
      return found.type === 'filter' ? withNotExists(found) : found
    }
    case 'extend': {
      const input = rewritten(operation.input)
      return { ...operation, input, expression: substituted(operation.expression, constantsOf(input)) }
    }
    case 'order': {
      const input = rewritten(operation.input)
      const constants = constantsOf(input)
      const keys = operation.keys.map(key => ({ ...key, expression: substituted(key.expression, constants) }))
      return { ...operation, input, keys }
    }
    case 'graph':
    case 'group':
    case 'project':
    case 'distinct':
    case 'reduced':
    case 'slice':
      return { ...operation, input: rewritten(operation.input) }
    default:
      return operation
  }
}

/** The solutions that satisfy conditions, each applied below the BINDs whose variables it does not read. */
function filtered(conditions: readonly AlgebraExpression[], input: SparqlOperation): SparqlOperation {
  const isLate = (condition: AlgebraExpression) =>
    input.type !== 'extend' || variablesOfExpression(condition).has(input.variable)
  const early = conditions.filter(condition => !isLate(condition))
  const inner =
    input.type === 'extend' && early.length > 0 ? { ...input, input: filtered(early, input.input) } : input
  const [first, ...others] = conditions.filter(isLate)
  if (first === undefined) return inner
  const condition = others.reduce((left, right) => ({ type: 'binary', operator: '&&', left, right }), first)
  return { type: 'filter', input: inner, condition }
}

/** The variables that have one constant in all solutions of an operation; found once, as each BIND of a long chain needs those before it. */
const constantsOf = oncePerObject((operation: SparqlOperation): Constants => {
  switch (operation.type) {
    case 'extend': {
      const { variable, expression } = operation
      const inner = constantsOf(operation.input)
      return isConstant(expression) ? new Map([...inner, [variable, expression]]) : inner
    }
    case 'values':
      return constantsOfValues(operation)
    case 'join':
    case 'lateral':
      return new Map(inputsOf(operation).flatMap(input => [...constantsOf(input)]))
    case 'leftJoin':
    case 'minus':
      return constantsOf(operation.left)
    case 'filter':
    case 'graph':
    case 'order':
    case 'distinct':
    case 'reduced':
    case 'slice':
      return constantsOf(operation.input)
    case 'project': {
      const inner = constantsOf(operation.input)
      return new Map([...inner].filter(([name]) => operation.variables.includes(name)))
    }
    default:
      return NONE
  }
})

function constantsOfValues({ variables, rows }: OperationOf<'values'>): Constants {
  const [row] = rows
  if (row === undefined || rows.length > 1) return NONE
  return new Map(
    variables.flatMap((name, at) => {
      const term = row[at]
      return term != null && isConstant(term) ? [[name, term] as const] : []
    }),
  )
}

/** Characters of a constant up to which it is written where it is read: a query may read it thousands of times. */
const MAX_LENGTH = 2000

function isConstant(expression: AlgebraExpression): boolean {
  return (expression.type === 'iri' || expression.type === 'literal') && expression.value.length <= MAX_LENGTH
}

const OWN: readonly string[] = Object.values(LODESTONE)
const TRUE: AlgebraExpression = { type: 'literal', value: 'true', datatype: XSD.boolean, language: '' }

/** An expression with constants in place of variables. */
function substituted(expression: AlgebraExpression, constants: Constants): AlgebraExpression {
  if (constants.size === 0) return expression
  const within = (operand: AlgebraExpression) => substituted(operand, constants)
  switch (expression.type) {
    case 'variable':
      return constants.get(expression.name) ?? expression
    case 'binary':
      return { ...expression, left: within(expression.left), right: within(expression.right) }
    case 'not':
    case 'minus':
    case 'plus':
      return { ...expression, operand: within(expression.operand) }
    case 'builtin': {
      const [first] = expression.arguments
      if (expression.name === 'BOUND' && first?.type === 'variable')
        return constants.has(first.name) ? TRUE : expression
      return { ...expression, arguments: expression.arguments.map(within) }
    }
    case 'function':
      // Lodestone's own functions read the subjects of variables.
      return OWN.includes(expression.iri)
        ? expression
        : { ...expression, arguments: expression.arguments.map(within) }
    case 'in':
      return { ...expression, operand: within(expression.operand), items: expression.items.map(within) }
    default:
      return expression
  }
}
