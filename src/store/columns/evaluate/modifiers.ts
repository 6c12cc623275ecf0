import { memoised } from '../../../model/memoised.ts'
import {
  type AlgebraExpression,
  type OperationOf,
  type SparqlOperation,
  variablesOf,
} from '../../../sparql/algebra.ts'
import type { Evaluation } from './evaluation.ts'
import { vectorOf } from './expressions/expression-vector.ts'
import { countedGroups } from './groups/counted-groups.ts'
import { newRows } from './groups/distinct-solutions.ts'
import { grouped } from './groups/group.ts'
import { KeyedGroups } from './groups/keyed-groups.ts'
import { ordered, type Places } from './order/order.ts'
import { type NeededVariables, withNeeded } from './patterns/needed-variables.ts'
import { areDistinct, projectedOrder, withCountedRows } from './patterns/operation-parts.ts'
import type { EvaluationScope } from './scope.ts'
import type { Batch } from './vectors/batch.ts'

/** Evaluates operations on whole solution sequences: groups, orders, projections, DISTINCT and slices. */
export class SolutionModifiers {
  private readonly evaluation: Evaluation
  private readonly needed: NeededVariables
  private readonly sets = new Map<SparqlOperation, SparqlOperation>()
  private readonly solutions: (operation: SparqlOperation, scope: EvaluationScope) => Iterable<Batch>

  /**
   * @param needed gets the variables that are read of operations before they are evaluated
   * @param solutions evaluates the input operation
   */
  constructor(
    evaluation: Evaluation,
    needed: NeededVariables,
    solutions: (operation: SparqlOperation, scope: EvaluationScope) => Iterable<Batch>,
  ) {
    this.evaluation = evaluation
    this.needed = needed
    this.solutions = solutions
  }

  /** A page of the solutions of an operation whose outermost part is a slice, and their total number. */
  page(
    operation: OperationOf<'slice'>,
    scope: EvaluationScope,
  ): {
    readonly batches: readonly Batch[]
    readonly total: number
  } {
    const counted = { total: 0 }
    const batches = [...this.slice(operation, scope, counted)]
    return { batches, total: counted.total }
  }

  /** Evaluates operations on whole solution sequences, independently of other bindings. */
  *evaluate(
    operation: OperationOf<'group' | 'order' | 'project' | 'distinct' | 'reduced' | 'slice'>,
    scope: EvaluationScope,
  ): Generator<Batch> {
    const { input } = operation
    switch (operation.type) {
      case 'group': {
        const group = withCountedRows(operation)
        const known = countedGroups(group, scope, this.evaluation)
        if (known !== null) {
          return yield* known
        }
        const context = {
          evaluation: this.evaluation,
          variables: [...variablesOf(input)],
          vectorOf: (expression: AlgebraExpression, batch: Batch) =>
            vectorOf(expression, batch, scope, this.evaluation),
        }
        yield grouped(this.solutions(this.setOf(operation), scope), group.keys, group.aggregates, context)
        return
      }
      case 'order': {
        const { batch } = this.inOrder(operation, scope, { from: 0, to: Number.POSITIVE_INFINITY })
        if (batch !== null) yield batch
        return
      }
      case 'project':
        for (const batch of this.solutions(input, scope)) yield batch.only(operation.variables)
        return
      case 'reduced':
        return yield* this.solutions(input, scope)
      case 'distinct':
        if (areDistinct(input)) return yield* this.solutions(input, scope)
        return yield* this.distinct(this.setOf(operation), scope)
      case 'slice':
        return yield* this.slice(operation, scope)
      default:
        operation satisfies never
    }
  }

  /** @param counted gets the total number of solutions, where it is requested */
  private *slice(
    { input, offset, limit }: OperationOf<'slice'>,
    scope: EvaluationScope,
    counted: { total: number } | null = null,
  ): Generator<Batch> {
    const end = limit === null ? Number.POSITIVE_INFINITY : offset + limit
    if (limit === 0 && counted === null) return
    const { project, order } = projectedOrder(input)
    if (order !== null) {
      const { batch, total } = this.inOrder(order, scope, { from: offset, to: end })
      if (counted !== null) counted.total = total
      if (batch !== null) yield project === null ? batch : batch.only(project.variables)
      return
    }
    let passed = 0
    for (const batch of this.solutions(input, scope)) {
      const [from, to] = [Math.max(0, offset - passed), Math.min(batch.size, end - passed)]
      if (to > from) yield batch.slice(from, to)
      passed += batch.size
      if (counted !== null) counted.total = passed
      else if (passed >= end) return
    }
  }

  private inOrder(
    { input, keys }: OperationOf<'order'>,
    scope: EvaluationScope,
    places: Places,
  ): { readonly batch: Batch | null; readonly total: number } {
    const valuesOf = (expression: AlgebraExpression, batch: Batch) =>
      vectorOf(expression, batch, scope, this.evaluation)
    return ordered(this.solutions(input, scope), keys, places, valuesOf, this.evaluation)
  }

  /** The input of an operation for which it does not matter how often a solution occurs: the same one at each evaluation. */
  private setOf(operation: OperationOf<'distinct' | 'reduced' | 'group'>): SparqlOperation {
    return memoised(this.sets, operation, () => withNeeded(operation, this.needed))
  }

  /** The first occurrence of each solution. */
  private *distinct(input: SparqlOperation, scope: EvaluationScope): Generator<Batch> {
    const names = [...variablesOf(input)]
    const groups = new KeyedGroups(names, this.evaluation)
    for (const batch of this.solutions(input, scope)) {
      if (batch.size === 0) continue
      if (names.length === 0) {
        yield batch.slice(0, 1)
        return
      }
      const rows = newRows(batch, groups)
      if (rows.length > 0) yield batch.rows(rows)
    }
  }
}
