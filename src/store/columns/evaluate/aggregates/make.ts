import { LODESTONE } from '../../../../rdf/vocab.ts'
import type { AggregateCall } from '../../../../sparql/algebra.ts'
import { NotEvaluated } from '../evaluation.ts'
import type { Aggregator, AggregatorContext, AggregatorMaker, ValuesOf } from './aggregator.ts'
import {
  average,
  countDistinct,
  countDistinctOfSubjects,
  countDistinctRows,
  countValues,
  present,
} from './counts.ts'
import { distinctOf } from './distinct.ts'
import { Extreme } from './extremes.ts'
import { CollectedGeometries } from './geometries.ts'
import { percentile } from './percentile.ts'
import { GroupConcat, sample } from './samples.ts'
import { Sum } from './sums.ts'

/** SPARQL's own aggregates are errors where one value is an error; those of Lodestone skip such values. */
const OWN: ReadonlyMap<string, AggregatorMaker> = new Map<string, AggregatorMaker>([
  [LODESTONE.sum, (values, evaluation) => present(values, evaluation, new Sum(values, evaluation, false))],
  [LODESTONE.average, average],
  [
    LODESTONE.minimum,
    (values, evaluation) => present(values, evaluation, new Extreme(values, evaluation, -1)),
  ],
  [
    LODESTONE.maximum,
    (values, evaluation) => present(values, evaluation, new Extreme(values, evaluation, 1)),
  ],
  [
    LODESTONE.countDistinct,
    (values, evaluation, parameters) =>
      parameters.length === 0
        ? countDistinct(values, evaluation)
        : countDistinctOfSubjects(values, evaluation, parameters),
  ],
  [LODESTONE.percentile, percentile],
  [LODESTONE.hull, (values, evaluation) => new CollectedGeometries(values, evaluation, 'hull')],
  [LODESTONE.boundingBox, (values, evaluation) => new CollectedGeometries(values, evaluation, 'box')],
])

/** Creates an aggregate other than COUNT(*). */
export function makeAggregator(call: AggregateCall, context: AggregatorContext): Aggregator {
  const { name, distinct, operand } = call
  const { evaluation } = context
  if (operand === null) return countDistinctRows(context)
  const values: ValuesOf = batch => context.vectorOf(operand, batch)
  if (name === 'COUNT') return distinct ? countDistinct(values, evaluation) : countValues(values, evaluation)
  if (distinct && name !== 'MIN' && name !== 'MAX' && name !== 'SAMPLE')
    return distinctOf(values, evaluation, makeAggregator({ ...call, distinct: false }, context))
  switch (name) {
    case 'SUM':
    case 'AVG':
      return new Sum(values, evaluation, name === 'AVG')
    case 'MIN':
    case 'MAX':
      return new Extreme(values, evaluation, name === 'MIN' ? -1 : 1)
    case 'SAMPLE':
      return sample(values, evaluation)
    case 'GROUP_CONCAT':
      return new GroupConcat(values, evaluation, call.separator ?? ' ')
    default: {
      const make = OWN.get(name)
      if (make === undefined) throw new NotEvaluated(`the aggregate ${name}`)
      return make(values, evaluation, call.parameters ?? [])
    }
  }
}
