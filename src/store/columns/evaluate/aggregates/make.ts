import { LODESTONE } from '../../../../rdf/vocab.ts'
import type { AggregateCall } from '../../../../sparql/algebra.ts'
import { NotEvaluated } from '../evaluation.ts'
import type { Aggregator, AggregatorContext, AggregatorMaker } from './aggregator.ts'
import { CountDistinct, CountDistinctRows, CountRows, CountValues } from './counts.ts'
import { Distinct } from './distinct.ts'
import { Extreme } from './extremes.ts'
import { CollectedGeometries } from './geometries.ts'
import { DistinctOfSubjects } from './lists.ts'
import { Percentile } from './percentile.ts'
import { Average, Present } from './present.ts'
import { GroupConcat, Sample } from './samples.ts'
import { Sum } from './sums.ts'

/** SPARQL's own aggregates are errors where one value is an error; those of Lodestone skip such values. */
const OWN: ReadonlyMap<string, AggregatorMaker> = new Map<string, AggregatorMaker>([
  [LODESTONE.sum, (_, operand, context) => new Present(operand, new Sum(operand, context, false), context)],
  [LODESTONE.average, (_, operand, context) => new Average(operand, context)],
  [
    LODESTONE.minimum,
    (_, operand, context) => new Present(operand, new Extreme(operand, context, -1), context),
  ],
  [
    LODESTONE.maximum,
    (_, operand, context) => new Present(operand, new Extreme(operand, context, 1), context),
  ],
  [
    LODESTONE.countDistinct,
    (call, operand, context) =>
      (call.parameters ?? []).length === 0
        ? new CountDistinct(operand, context)
        : new DistinctOfSubjects(call, operand, context),
  ],
  [LODESTONE.percentile, (call, operand, context) => new Percentile(call, operand, context)],
  [LODESTONE.hull, (_, operand, context) => new CollectedGeometries(operand, context, 'hull')],
  [LODESTONE.boundingBox, (_, operand, context) => new CollectedGeometries(operand, context, 'box')],
])

export function makeAggregator(call: AggregateCall, context: AggregatorContext): Aggregator {
  const { name, distinct, operand } = call
  if (operand === null) return distinct ? new CountDistinctRows(context) : new CountRows(context)
  if (name === 'COUNT')
    return distinct ? new CountDistinct(operand, context) : new CountValues(operand, context)
  if (distinct && name !== 'MIN' && name !== 'MAX' && name !== 'SAMPLE')
    return new Distinct(operand, makeAggregator({ ...call, distinct: false }, context), context)
  switch (name) {
    case 'SUM':
      return new Sum(operand, context, false)
    case 'AVG':
      return new Sum(operand, context, true)
    case 'MIN':
      return new Extreme(operand, context, -1)
    case 'MAX':
      return new Extreme(operand, context, 1)
    case 'SAMPLE':
      return new Sample(operand, context)
    case 'GROUP_CONCAT':
      return new GroupConcat(operand, call.separator ?? ' ', context)
    default: {
      const make = OWN.get(name)
      if (make === undefined) throw new NotEvaluated(`the aggregate ${name}`)
      return make(call, operand, context)
    }
  }
}
