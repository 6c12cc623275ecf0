import { memoised } from '../../../../model/memoised.ts'
import {
  type AlgebraExpression,
  type ExpressionOf,
  type SparqlOperation,
  variablesOfExpression,
} from '../../../../sparql/algebra.ts'
import type { Evaluation } from '../evaluation.ts'
import { EqualityIndex } from '../patterns/equality-join.ts'
import { estimatedSolutions, LOOK_UP } from '../patterns/join-order.ts'
import { partsOf } from '../patterns/operation-parts.ts'
import type { EvaluationScope, Graphs } from '../scope.ts'
import type { Batch } from '../vectors/batch.ts'
import { hasWholeValues, type Vector } from '../vectors/vector.ts'
import { type ComparedGroup, comparedGroup, sufficient } from './extremes.ts'

type PairsWith = (rows: Batch) => Iterable<Batch>

/** A compared group, how many rows were tested, after how many its solutions are found, and what pairs rows with these. */
interface ComparedTest {
  readonly group: ComparedGroup
  readonly enough: number
  tested: number
  pairsWith: PairsWith | null
}

/** Groups of EXISTS that are compared with the tested rows by an inequality: few of their solutions suffice. */
export class ComparedGroups {
  private readonly tests = new Map<AlgebraExpression, Map<Graphs, Map<string, ComparedTest | null>>>()
  private readonly evaluation: Evaluation
  private readonly solutions: (operation: SparqlOperation, scope: EvaluationScope) => Iterable<Batch>
  private readonly collected: (batches: Iterable<Batch>) => Batch
  private readonly joined: (rows: Batch, found: Batch, remaining: (pairs: Batch) => Batch) => Iterable<Batch>

  constructor(
    evaluation: Evaluation,
    solutions: (operation: SparqlOperation, scope: EvaluationScope) => Iterable<Batch>,
    collected: (batches: Iterable<Batch>) => Batch,
    joined: (rows: Batch, found: Batch, remaining: (pairs: Batch) => Batch) => Iterable<Batch>,
  ) {
    this.evaluation = evaluation
    this.solutions = solutions
    this.collected = collected
    this.joined = joined
  }

  /**
   * Pairs rows with those solutions of a group that decide whether it has one for them; null for other groups, and until so many
   * rows were tested that finding all solutions costs less than looking up those of each row.
   */
  pairsFor(exists: ExpressionOf<'exists'>, rows: Batch, scope: EvaluationScope): PairsWith | null {
    const { graphs, substituted } = scope
    const read = variablesOfExpression(exists)
    const names = rows.variables.filter(name => read.has(name))
    if (substituted.size > 0 || !names.every(name => hasWholeValues(rows.get(name) as Vector))) return null
    const byGraphs = memoised(this.tests, exists, () => new Map<Graphs, Map<string, ComparedTest | null>>())
    const tests = memoised(byGraphs, graphs, () => new Map<string, ComparedTest | null>())
    const test = memoised(tests, names.join(' '), () => testOf(exists.input, new Set(names), graphs))
    if (test === null) return null
    test.tested += rows.size
    if (test.tested < test.enough) return null
    test.pairsWith ??= this.pairedWithSufficient(test.group, new Set(names), scope)
    return test.pairsWith
  }

  private pairedWithSufficient(
    group: ComparedGroup,
    names: ReadonlySet<string>,
    scope: EvaluationScope,
  ): PairsWith {
    const { evaluation } = this
    const { equality, conditions } = group
    const parts: Batch[] = []
    for (const some of this.solutions(group.input, scope))
      parts.push(sufficient(group, some, scope, evaluation))
    const found = sufficient(group, this.collected(parts), scope, evaluation)
    const remaining = (pairs: Batch) => scope.filter.filtered(conditions, pairs)
    if (equality === null || group.names.some(name => names.has(name)))
      return rows => this.joined(rows, found, remaining)
    const index = new EqualityIndex(found, equality.inner, scope, evaluation)
    return function* (rows) {
      for (const pairs of index.join(rows, equality.outer, scope)) yield remaining(pairs)
    }
  }
}

function testOf(input: SparqlOperation, names: ReadonlySet<string>, graphs: Graphs): ComparedTest | null {
  const group = comparedGroup(input, names)
  if (group === null) return null
  const { patterns } = partsOf(input)
  const each = LOOK_UP * estimatedSolutions(patterns, names, graphs)
  const enough = estimatedSolutions(patterns, new Set(), graphs) / each
  return { group, enough, tested: 0, pairsWith: null }
}
