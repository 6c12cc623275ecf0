import {
  type AlgebraExpression,
  certainVariables,
  expressionsOf,
  inputsOf,
  type SparqlOperation,
  variablesOf,
  variablesOfExpression,
} from './algebra.ts'
import { variable } from './build.ts'
import { rangeOf, type SyntaxNode } from './relative.ts'

/** LATERAL (SEP-0006 of the SPARQL community), which the library does not know: the lexer reads it as OPTIONAL. */
export function isLateral(text: string, pattern: SyntaxNode): boolean {
  const { from } = rangeOf(pattern) ?? { from: text.length }
  return pattern.subType === 'optional' && /^lateral/i.test(text.slice(from, from + 7))
}

/** True for an operation that binds one of some variables anew, which have a value before it. */
export function bindsAnew(operation: SparqlOperation, known: ReadonlySet<string>): boolean {
  if (operation.type === 'extend' && known.has(operation.variable)) return true
  if (operation.type === 'values') return operation.variables.some(name => known.has(name))
  return inputsOf(operation).some(input => bindsAnew(input, known))
}

/** An operation in which some variables have values wherever they are in scope: inline data of one row. */
export function withValues(
  operation: SparqlOperation,
  values: Extract<SparqlOperation, { type: 'values' }>,
): SparqlOperation {
  const inject = (input: SparqlOperation) => withValues(input, values)
  const joined = (input: SparqlOperation): SparqlOperation => ({ type: 'join', inputs: [values, input] })
  /** The input of an expression, which may read a variable that no pattern of the input has. */
  const readBy = (input: SparqlOperation, expressions: readonly AlgebraExpression[]) => {
    const injected = inject(input)
    const certain = certainVariables(injected)
    const isMissing = (name: string) => values.variables.includes(name) && !certain.has(name)
    return expressions.some(each => [...variablesOfExpression(each)].some(isMissing))
      ? joined(injected)
      : injected
  }
  switch (operation.type) {
    case 'bgp':
    case 'path': {
      const names = variablesOf(operation)
      return values.variables.some(name => names.has(name)) ? joined(operation) : operation
    }
    case 'join':
    case 'union':
      return { ...operation, inputs: operation.inputs.map(inject) }
    case 'leftJoin': {
      const { left, right } = operation
      return { ...operation, left: readBy(left, expressionsOf(operation)), right: inject(right) }
    }
    case 'minus':
    case 'lateral':
      return { ...operation, left: inject(operation.left), right: inject(operation.right) }
    case 'filter':
    case 'extend':
    case 'order':
    case 'group': {
      const keys = operation.type === 'group' ? operation.keys.map(variable) : []
      return { ...operation, input: readBy(operation.input, [...keys, ...expressionsOf(operation)]) }
    }
    case 'project': {
      // Other variables of a subquery are not those outside, whatever their names.
      const places = values.variables.flatMap((name, at) => (operation.variables.includes(name) ? [at] : []))
      const visible = {
        ...values,
        variables: places.map(at => values.variables[at] as string),
        rows: values.rows.map(row => places.map(at => row[at] ?? null)),
      }
      return { ...operation, input: withValues(operation.input, visible) }
    }
    case 'graph':
    case 'distinct':
    case 'reduced':
    case 'slice':
      return { ...operation, input: inject(operation.input) }
    case 'values':
    case 'service':
      return operation
  }
}
