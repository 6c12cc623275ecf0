import { LODESTONE } from '../../../../rdf/vocab.ts'
import type { AggregateCall } from '../../../../sparql/algebra.ts'
import type { Evaluation } from '../evaluation.ts'
import { NotInColumns } from '../evaluation-limits.ts'
import { allRows, type Batch } from '../vectors/batch.ts'
import { SubjectDomain } from '../vectors/domain.ts'
import { PairMap } from '../vectors/pair-map.ts'
import { rowsBound } from '../vectors/row-filters.ts'
import { gathered, hasWholeValues, integers, isBound, vectorValueAt } from '../vectors/vector.ts'
import {
  type Aggregator,
  type AggregatorContext,
  type AggregatorMaker,
  type Operand,
  RowCounts,
  selectedValues,
} from './aggregator.ts'
import { Extreme, GroupConcat, sample } from './chosen-values.ts'
import { DistinctValues, distinctOf } from './distinct.ts'
import { BoundingBoxes, ConvexHulls } from './geometry-aggregates.ts'
import { KeyedGroups } from './keyed-groups.ts'
import { percentile } from './percentile.ts'
import { Sum } from './sums.ts'

/**
 * An integer for each group.
 *
 * @param addTo adds to the integers for the rows of a batch
 */
function counter(
  { grown }: Pick<Evaluation, 'grown'>,
  addTo: (counts: Float64Array, batch: Batch, groups: Uint32Array, count: number) => void,
): Aggregator {
  let counts = new Float64Array(64)
  return {
    add: (batch, groups, count) => {
      counts = grown(counts, count)
      addTo(counts, batch, groups, count)
    },
    result: count => {
      counts = grown(counts, count)
      return integers(counts.slice(0, count))
    },
  }
}

function countValues(valuesOf: Operand, evaluation: Evaluation): Aggregator {
  return counter(evaluation, (counts, batch, groups) => {
    const vector = valuesOf(batch)
    const ids = vector.type === 'ids' ? vector.ids : null
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      if (ids === null ? isBound(vector, row) : ids[row] !== 0) counts[group] = (counts[group] as number) + 1
    }
  })
}

function countDistinct(valuesOf: Operand, evaluation: Evaluation): Aggregator {
  const distinct = new DistinctValues(evaluation)
  return counter(evaluation, (counts, batch, groups, count) =>
    distinct.countNew(valuesOf(batch), groups, count, counts),
  )
}

/** COUNT(DISTINCT *): solutions that differ in some variable, among which are the keys of their group. */
function countDistinctRows({ variables, evaluation }: AggregatorContext): Aggregator {
  const rows = new KeyedGroups(variables, evaluation)
  return counter(evaluation, (counts, batch, groups) => {
    let next = rows.count()
    const numbers = rows.assign(batch)
    for (let row = 0; row < groups.length; row++) {
      if (numbers[row] !== next) continue
      next += 1
      const group = groups[row] as number
      counts[group] = (counts[group] as number) + 1
    }
  })
}

/** The number of distinct values that the subjects of a group have for a predicate. */
const countDistinctOfSubjects: AggregatorMaker = (valuesOf, evaluation, [predicate]) => {
  if (predicate?.type !== 'iri') throw new NotInColumns('countDistinct without a predicate')
  const pairs = new PairMap(bytes => evaluation.allocate(bytes))
  return counter(evaluation, (counts, batch, groups) => {
    const subjects = valuesOf(batch)
    if (subjects.type !== 'ids' || !(subjects.domain instanceof SubjectDomain))
      throw new NotInColumns('countDistinct of what are no subjects of one graph')
    const column = subjects.domain.graph.column(predicate.value)
    if (column === undefined) return
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number
      for (const code of column.listOf((subjects.ids[row] as number) - 1)) {
        const known = pairs.size
        if (pairs.add(group, code, known) === known) counts[group] = (counts[group] as number) + 1
      }
    }
  })
}

/** Passes only the present values to another aggregate; a group without any has no result. */
function present(
  valuesOf: Operand,
  evaluation: Evaluation,
  inner: Aggregator,
  counts = new RowCounts(evaluation),
): Aggregator {
  /** True as long as every row had a value. */
  let isWhole = true
  return {
    add: (batch, groups, count) => {
      const vector = valuesOf(batch)
      const rows = hasWholeValues(vector) ? null : rowsBound(vector, allRows(groups.length), true)
      isWhole &&= rows === null
      const theirs = rows === null ? groups : gathered(groups, rows)
      counts.add(theirs, count)
      inner.add(rows === null ? batch : batch.rows(rows), theirs, count)
    },
    addSelected: (batch, groups, count) => {
      if (selectedValues(valuesOf, batch, groups) === null) return false
      if (inner.addSelected?.(batch, groups, count) !== true) return false
      counts.addSelected(groups, count)
      return true
    },
    result: count => {
      const result = inner.result(count)
      // A group has rows: where all of them have a value, so has the group.
      if (isWhole && !counts.isEmpty) return result
      const numbers = counts.of(count)
      if (result.type === 'ids')
        return { ...result, ids: result.ids.map((id, group) => (numbers[group] === 0 ? 0 : id)) }
      if (result.type === 'constant') throw new Error('the result of an aggregate has a value for each group')
      const bound = Uint8Array.from(numbers, (number, group) =>
        number !== 0 && isBound(result, group) ? 1 : 0,
      )
      return {
        ...result,
        values: result.values.map((value, group) => (bound[group] === 1 ? value : Number.NaN)),
        bound,
      }
    },
  }
}

/** The mean of numbers, as a double. */
function average(valuesOf: Operand, evaluation: Evaluation): Aggregator {
  const counts = new RowCounts(evaluation)
  const sum = present(valuesOf, evaluation, new Sum(valuesOf, evaluation, false), counts)
  return {
    add: (batch, groups, count) => sum.add(batch, groups, count),
    addSelected: (batch, groups, count) => sum.addSelected?.(batch, groups, count) === true,
    result: count => {
      const [sums, numbers] = [sum.result(count), counts.of(count)]
      const values = new Float64Array(count).fill(Number.NaN)
      const bound = new Uint8Array(count)
      for (let group = 0; group < count; group++) {
        const value = vectorValueAt(sums, group)
        if (value?.type !== 'number') continue
        values[group] = value.value / (numbers[group] as number)
        bound[group] = 1
      }
      return { type: 'numbers', kind: 'double', values, bound }
    },
  }
}

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
  [LODESTONE.hull, (values, evaluation) => new ConvexHulls(values, evaluation)],
  [LODESTONE.boundingBox, (values, evaluation) => new BoundingBoxes(values, evaluation)],
])

/** Creates an aggregate other than COUNT(*). */
export function makeAggregator(call: AggregateCall, context: AggregatorContext): Aggregator {
  const { name, distinct, operand } = call
  const { evaluation } = context
  if (operand === null) return countDistinctRows(context)
  const values: Operand = Object.assign((batch: Batch) => context.vectorOf(operand, batch), {
    ...(operand.type === 'variable' ? { variable: operand.name } : {}),
  })
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
      if (make === undefined) throw new NotInColumns(`the aggregate ${name}`)
      return make(values, evaluation, call.parameters ?? [])
    }
  }
}
