import {
  type AlgebraExpression,
  expressionsOf,
  type OperationOf,
  type SparqlOperation,
  variablesMentioned,
  variablesOf,
  variablesOfExpression,
} from '../../../../sparql/algebra.ts'
import { isStable } from '../functions/builtins.ts'
import type { BlockStep } from './join-order.ts'
import { variablesIn, variablesOfPath, variablesOfPattern } from './operation-parts.ts'

export type Names = ReadonlySet<string>

/** By operation the variables that are read of its solutions, where it does not matter how often a solution occurs. */
export type NeededVariables = Map<SparqlOperation, Names>

/** Aggregates whose values depend on what is there, not on how often. */
const OF_SETS: ReadonlySet<string> = new Set(['MIN', 'MAX', 'SAMPLE'])

/**
 * The input of DISTINCT, or of aggregates of sets, whose joins are noted with the variables that are read of them: others may be
 * dropped as soon as no pattern has them, and of equal solutions one goes on. What is not the same at each evaluation, such as
 * RAND(), is evaluated for all solutions.
 */
export function withNeeded(
  operation: OperationOf<'distinct' | 'reduced' | 'group'>,
  needed: NeededVariables,
): SparqlOperation {
  const { input } = operation
  if (operation.type !== 'group') return noting(input, variablesOf(input), needed)
  const isOfSets = operation.aggregates.every(
    ({ aggregate: { name, distinct, operand } }) =>
      operand !== null && isStable(operand) && (distinct || OF_SETS.has(name)),
  )
  return isOfSets ? noting(input, new Set([...operation.keys, ...variablesReadBy(operation)]), needed) : input
}

/** An operation that is noted is a copy: another part of a query may have the same one. */
function noting(operation: SparqlOperation, names: Names, needed: NeededVariables): SparqlOperation {
  if (!expressionsOf(operation).every(isStable)) return operation
  switch (operation.type) {
    case 'bgp':
    case 'join':
    case 'filter': {
      // Conditions of inner filters are tested together with those of this one.
      if (!isStableConjunction(operation)) return operation
      const own = { ...operation }
      needed.set(own, names)
      return own
    }
    case 'union':
      return { ...operation, inputs: operation.inputs.map(input => noting(input, names, needed)) }
    case 'leftJoin':
    case 'minus': {
      const read = [...variablesReadBy(operation), ...variablesMentioned(operation.right)]
      return { ...operation, left: noting(operation.left, new Set([...names, ...read]), needed) }
    }
    case 'graph':
    case 'project':
    case 'extend':
    case 'order': {
      const graph = operation.type === 'graph' ? variablesIn([operation.name]) : []
      const read = new Set([...names, ...variablesReadBy(operation), ...graph])
      return { ...operation, input: noting(operation.input, read, needed) }
    }
    default:
      return operation
  }
}

function isStableConjunction(operation: SparqlOperation): boolean {
  if (operation.type === 'join') return operation.inputs.every(isStableConjunction)
  return (
    operation.type !== 'filter' || (isStable(operation.condition) && isStableConjunction(operation.input))
  )
}

function variablesReadBy(operation: SparqlOperation): readonly string[] {
  return expressionsOf(operation).flatMap(expression => [...variablesOfExpression(expression)])
}

/**
 * The variables that are read of solutions joined with others: also those that these bind, that conditions read, and that other
 * operations have. Null where it matters how often a solution occurs.
 */
export function neededWith(
  needed: Names | undefined,
  bound: readonly string[],
  conditions: readonly AlgebraExpression[] = [],
  others: readonly SparqlOperation[] = [],
): Names | null {
  if (needed === undefined) return null
  const read = conditions.flatMap(condition => [...variablesOfExpression(condition)])
  return new Set([...needed, ...bound, ...read, ...others.flatMap(other => [...variablesMentioned(other)])])
}

/** The variables that are read after each of some steps but the last one; none where it matters how often a solution occurs. */
export function neededAfter(steps: readonly BlockStep[], needed: Names | null): readonly Names[] {
  if (needed === null) return []
  return steps.slice(1).map((_, at) => new Set([...needed, ...steps.slice(at + 1).flatMap(variablesOfStep)]))
}

function variablesOfStep(step: BlockStep): readonly string[] {
  const conditions = step.filters.flatMap(condition => [...variablesOfExpression(condition)])
  switch (step.type) {
    case 'star':
      return [...conditions, ...variablesIn([step.subject, ...step.links.map(({ object }) => object)])]
    case 'open':
      return [...conditions, ...variablesOfPattern(step.pattern)]
    case 'path':
      return [...conditions, ...variablesOfPath(step.pattern)]
    default:
      return conditions
  }
}
