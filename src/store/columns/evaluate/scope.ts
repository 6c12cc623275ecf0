import { type SparqlOperation, variablesOf, variablesRead } from '../../../sparql/algebra.ts'
import type { GraphColumns } from '../graph.ts'
import type { Filter } from './expressions/filter.ts'
import type { NumberKernels } from './expressions/numbers.ts'
import type { ScalarCompiler } from './expressions/scalar.ts'
import type { PatternMatcher } from './patterns/pattern-matcher.ts'

export type Graphs = readonly GraphColumns[]

/**
 * The context of patterns and conditions: the graphs whose merge is the default graph, and the values substituted for variables
 * in EXISTS.
 */
export interface EvaluationScope {
  readonly graphs: Graphs
  /** Variables with the values of an outer solution, even in groups that do not bind them (section 18.6). */
  readonly substituted: ReadonlySet<string>
  readonly scalars: ScalarCompiler
  readonly numbers: NumberKernels
  readonly filter: Filter
  readonly patterns: PatternMatcher
}

/** True where conditions of a group read substituted variables, which the group itself may not bind. */
export function readsSubstituted(operation: SparqlOperation, { substituted }: EvaluationScope): boolean {
  if (substituted.size === 0) return false
  const read = variablesRead(operation)
  return [...substituted].some(name => read.has(name))
}

/** The substituted variables that an operation would bind: their values take their place, also where it may leave them unbound. */
export function substitutedIn(
  operation: SparqlOperation,
  { substituted }: EvaluationScope,
): ReadonlySet<string> {
  if (substituted.size === 0) return substituted
  const bound = variablesOf(operation)
  return new Set([...substituted].filter(name => bound.has(name)))
}
