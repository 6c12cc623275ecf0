import {
  type AlgebraExpression,
  certainVariables,
  conjuncts,
  inputsOf,
  type Node,
  type OperationOf,
  type Path,
  type SparqlOperation,
  type TriplePatternNode,
  variablesOf,
  variablesOfExpression,
} from '../../../../sparql/algebra.ts'
import { plainCondition } from '../expressions/conditions.ts'
import { isStable } from '../functions/builtins.ts'

/** A property path as a pattern. */
export interface PathPattern {
  readonly subject: Node
  readonly path: Path
  readonly object: Node
}

export function isSubquery(operation: SparqlOperation): boolean {
  switch (operation.type) {
    case 'group':
    case 'order':
    case 'project':
    case 'distinct':
    case 'reduced':
    case 'slice':
    case 'lateral':
      return true
    default:
      return false
  }
}

/** True for inline data, subqueries, and what is computed of these or of nothing: its solutions restrict patterns that are evaluated after it. */
export function isGiven(operation: SparqlOperation): boolean {
  switch (operation.type) {
    case 'values':
      return true
    case 'bgp':
      return operation.patterns.length === 0
    case 'extend':
    case 'filter':
    case 'join':
    case 'union':
      return inputsOf(operation).every(isGiven)
    default:
      return isSubquery(operation)
  }
}

/** True for BIND without a pattern before it: a continued query has the same solution again. */
function isOneSolution(operation: SparqlOperation): boolean {
  if (operation.type === 'extend') return isStable(operation.expression) && isOneSolution(operation.input)
  return operation.type === 'bgp' && operation.patterns.length === 0
}

/** True for an operation that is evaluated for many rows at a time, each of which has its own values of variables. */
export function isForRows(operation: SparqlOperation): boolean {
  return (
    !isSubquery(operation) &&
    operation.type !== 'minus' &&
    operation.type !== 'service' &&
    inputsOf(operation).every(isForRows)
  )
}

/** A projection and the order below it, to which a slice is applied. */
export function projectedOrder(operation: SparqlOperation): {
  readonly project: OperationOf<'project'> | null
  readonly order: OperationOf<'order'> | null
} {
  if (operation.type === 'order') return { project: null, order: operation }
  if (operation.type === 'project' && operation.input.type === 'order')
    return { project: operation, order: operation.input }
  return { project: null, order: operation.type === 'distinct' ? orderOfDistinct(operation) : null }
}

/**
 * Converts the distinct solutions of an order to the order of distinct solutions, of which the first can be found without sorting
 * the others; null where the order depends on variables that are not projected.
 */
function orderOfDistinct({ input }: OperationOf<'distinct' | 'reduced'>): OperationOf<'order'> | null {
  const { project, order } = projectedOrder(input)
  if (order === null) return null
  const variables = new Set(variablesOf(input))
  const areOfSolutions = order.keys.every(
    ({ expression }) => isSubset(variablesOfExpression(expression), variables) && isStable(expression),
  )
  if (!areOfSolutions) return null
  const all = project === null ? order.input : { ...project, input: order.input }
  return { ...order, input: { type: 'distinct', input: all } }
}

/** True where the solutions of an operation are always distinct: those of patterns whose variables are all preserved. */
export function areDistinct(operation: SparqlOperation): boolean {
  switch (operation.type) {
    case 'bgp':
      return operation.patterns.every(pattern => Object.values(pattern).every(isVariableOrTerm))
    case 'distinct':
      return true
    case 'filter':
    case 'extend':
    case 'order':
    case 'slice':
    case 'graph':
      return areDistinct(operation.input)
    case 'minus':
      return areDistinct(operation.left)
    case 'group':
      return operation.keys.length > 0
    case 'project':
      return (
        isSubset(variablesOf(operation.input), new Set(operation.variables)) && areDistinct(operation.input)
      )
    case 'join':
      return operation.inputs.every(isCertain)
    case 'leftJoin':
      // The part of a solution from either side can be read from it, where the other side binds no variable that may be unbound in it.
      return (
        areDistinct(operation.left) &&
        isCertain(operation.right) &&
        isSubset(shared(operation), certainVariables(operation.left))
      )
    default:
      return false
  }
}

/** A group whose COUNT(DISTINCT *) of solutions that are always distinct are COUNT(*). */
export function withCountedRows(group: Group): Group {
  const isOfRows = ({ aggregate }: Group['aggregates'][number]) =>
    aggregate.operand === null && aggregate.distinct
  if (!group.aggregates.some(isOfRows) || !areDistinct(group.input)) return group
  const aggregates = group.aggregates.map(one =>
    isOfRows(one) ? { ...one, aggregate: { ...one.aggregate, distinct: false } } : one,
  )
  return { ...group, aggregates }
}

type Group = OperationOf<'group'>

/** True where the solutions of an operation are distinct, and bind all its variables. */
function isCertain(operation: SparqlOperation): boolean {
  return areDistinct(operation) && isSubset(variablesOf(operation), certainVariables(operation))
}

function shared({ left, right }: OperationOf<'leftJoin'>): ReadonlySet<string> {
  const known = variablesOf(left)
  return new Set([...variablesOf(right)].filter(name => known.has(name)))
}

const isVariableOrTerm = ({ type }: Node): boolean =>
  type === 'variable' || type === 'iri' || type === 'literal'

/** True where an operation reads all its input before it yields its first solution. */
export function readsAll(operation: SparqlOperation): boolean {
  switch (operation.type) {
    case 'group':
    case 'order':
      return true
    case 'project':
    case 'reduced':
    case 'slice':
    case 'extend':
    case 'filter':
      return readsAll(operation.input)
    default:
      return false
  }
}

interface Parts {
  readonly patterns: readonly TriplePatternNode[]
  readonly paths: readonly PathPattern[]
  readonly filters: readonly AlgebraExpression[]
  readonly others: readonly SparqlOperation[]
}

/**
 * The members of nested joins and filters. A filter within a join is moved out where the variables that it reads are always bound
 * there, so that its meaning is preserved.
 */
export function partsOf(operation: SparqlOperation): Parts {
  switch (operation.type) {
    case 'bgp':
      return { patterns: operation.patterns, paths: [], filters: [], others: [] }
    case 'path':
      return { patterns: [], paths: [operation], filters: [], others: [] }
    case 'join': {
      const inputs = operation.inputs.map(input =>
        input.type === 'filter' && !isSelfContained(input)
          ? { patterns: [], paths: [], filters: [], others: [input] }
          : partsOf(input),
      )
      return {
        patterns: inputs.flatMap(({ patterns }) => patterns),
        paths: inputs.flatMap(({ paths }) => paths),
        filters: inputs.flatMap(({ filters }) => filters),
        others: inputs.flatMap(({ others }) => others),
      }
    }
    case 'filter': {
      const inner = partsOf(operation.input)
      return { ...inner, filters: [...inner.filters, ...conjuncts(plainCondition(operation.condition))] }
    }
    default:
      return { patterns: [], paths: [], filters: [], others: [operation] }
  }
}

function isSelfContained({ input, condition }: OperationOf<'filter'>): boolean {
  const inner = input.type === 'filter' ? isSelfContained(input) : true
  return inner && isSubset(variablesOfExpression(condition), certainVariables(input))
}

export function isSubset(some: ReadonlySet<string>, all: ReadonlySet<string>): boolean {
  for (const name of some) if (!all.has(name)) return false
  return true
}

export function variablesIn(nodes: readonly Node[]): readonly string[] {
  return nodes.flatMap(node => (node.type === 'variable' ? [node.name] : []))
}

export function variablesOfPattern({ subject, predicate, object }: TriplePatternNode): readonly string[] {
  return variablesIn([subject, predicate, object])
}

export function variablesOfPath({ subject, object }: PathPattern): readonly string[] {
  return variablesIn([subject, object])
}

/** The operation whose patterns are evaluated first, and to whose solutions all others are joined; null where there is none. */
export function scanningOperation(operation: SparqlOperation): SparqlOperation | null {
  switch (operation.type) {
    case 'project':
    case 'reduced':
      return scanningOperation(operation.input)
    case 'distinct':
      return areDistinct(operation.input) ? scanningOperation(operation.input) : null
    case 'extend':
      return isStable(operation.expression) ? scanningOperation(operation.input) : null
    case 'leftJoin':
    case 'minus':
      return scanningOperation(operation.left)
    case 'graph':
      return operation.name.type === 'iri' ? scanningOperation(operation.input) : null
    case 'bgp':
      return operation.patterns.length > 0 ? operation : null
    case 'join':
    case 'filter': {
      const { patterns, paths, others } = partsOf(operation)
      if (paths.length > 0 || others.some(other => isGiven(other) && !isOneSolution(other))) return null
      return patterns.length > 0 ? operation : others[0] === undefined ? null : scanningOperation(others[0])
    }
    default:
      return null
  }
}

/** Patterns about one variable, and all their variables; null for any other operation. */
export function starOf(
  operation: SparqlOperation,
): { readonly subject: string; readonly names: Set<string> } | null {
  if (operation.type === 'join' && operation.inputs.length === 1)
    return starOf(operation.inputs[0] as SparqlOperation)
  const [first] = operation.type === 'bgp' ? operation.patterns : []
  if (operation.type !== 'bgp' || first?.subject.type !== 'variable') return null
  const { name } = first.subject
  const isStar = operation.patterns.every(({ subject, predicate }) => {
    return subject.type === 'variable' && subject.name === name && predicate.type === 'iri'
  })
  return isStar ? { subject: name, names: new Set(operation.patterns.flatMap(variablesOfPattern)) } : null
}
