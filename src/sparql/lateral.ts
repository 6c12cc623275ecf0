import {
  type AlgebraExpression,
  certainVariables,
  conjuncts,
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

/** The function by which groups of LATERAL are distinguished from those of OPTIONAL in the algebra of the library: no query can name it. */
const MARK = 'urn:lodestone: lateral'

/** Marks the groups of LATERAL in a syntax tree by a condition. */
export function markLaterals(text: string, tree: SyntaxNode): void {
  if (/lateral/i.test(text)) markWithin(text, tree)
}

function markWithin(text: string, part: unknown): void {
  if (typeof part !== 'object' || part === null) return
  for (const [key, value] of Object.entries(part)) if (key !== 'loc') markWithin(text, value)
  const node = part as SyntaxNode
  if (node.type !== 'pattern' || !isLateral(text, node)) return
  const { loc } = node
  const name = { type: 'term', subType: 'namedNode', value: MARK, loc }
  const expression = {
    type: 'expression',
    subType: 'functionCall',
    function: name,
    args: [],
    distinct: false,
    loc,
  }
  const patterns = node.patterns as unknown[]
  patterns.push({ type: 'pattern', subType: 'filter', expression, loc })
}

/**
 * The operation of a group that the library takes for an optional one: for LATERAL, its conditions are those of its group. Null
 * where it binds a variable anew that has a value before it.
 */
export function optionalOrLateral(
  left: SparqlOperation,
  right: SparqlOperation,
  condition: AlgebraExpression | null,
): SparqlOperation | null {
  const all = condition === null ? [] : conjuncts(condition)
  const own = all.filter(each => !(each.type === 'function' && each.iri === MARK))
  if (own.length === all.length) return { type: 'leftJoin', left, right, condition }
  const input = own.reduce<SparqlOperation>(
    (inner, each) => ({ type: 'filter', input: inner, condition: each }),
    right,
  )
  return bindsAnew(right, variablesOf(left)) ? null : { type: 'lateral', left, right: input }
}

function bindsAnew(operation: SparqlOperation, known: ReadonlySet<string>): boolean {
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
