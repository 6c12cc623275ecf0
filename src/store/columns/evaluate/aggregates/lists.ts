import type { AggregateCall, AlgebraExpression } from '../../../../sparql/algebra.ts'
import type { Batch } from '../batch.ts'
import { NotEvaluated } from '../evaluation.ts'
import { PairMap } from '../pair-map.ts'
import { subjectIds } from '../scalar.ts'
import type { Vector } from '../vector.ts'
import { type Aggregator, type AggregatorContext, GroupNumbers } from './aggregator.ts'

/** The number of distinct values that the subjects of a group have for a predicate. */
export class DistinctOfSubjects implements Aggregator {
  private readonly counts: GroupNumbers
  private readonly pairs: PairMap
  private readonly operand: AlgebraExpression
  private readonly context: AggregatorContext
  private readonly predicate: string

  constructor({ parameters }: AggregateCall, operand: AlgebraExpression, context: AggregatorContext) {
    const [predicate] = parameters ?? []
    if (predicate?.type !== 'iri') throw new NotEvaluated('countDistinct without a predicate')
    this.predicate = predicate.value
    this.operand = operand
    this.context = context
    this.counts = new GroupNumbers(context)
    this.pairs = new PairMap(bytes => context.evaluation.allocate(bytes))
  }

  add(batch: Batch, groups: Uint32Array, count: number): void {
    const counts = this.counts.grow(count)
    const vector = this.context.vectorOf(this.operand, batch)
    const subjects = subjectIds(vector)
    if (subjects === null) throw new NotEvaluated('countDistinct of what are no subjects of one graph')
    const column = subjects.graph.column(this.predicate)
    if (column === undefined) return
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      for (const code of column.listOf((subjects.ids[row] as number) - 1)) {
        const known = this.pairs.size
        if (this.pairs.add(group, code, known) < known) continue
        counts[group] = (counts[group] as number) + 1
      }
    }
  }

  result(count: number): Vector {
    return { type: 'numbers', kind: 'integer', values: this.counts.grow(count).slice(0, count), bound: null }
  }
}
