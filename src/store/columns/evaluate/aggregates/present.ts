import { allRows } from '../batch.ts'
import type { Evaluation } from '../evaluation.ts'
import { rowsBound } from '../row-filters.ts'
import { gathered, hasWholeValues, isBound, vectorValueAt } from '../vector.ts'
import { type Aggregator, RowCounts, type ValuesOf } from './aggregator.ts'
import { Sum } from './sums.ts'

/** Passes only the present values to another aggregate; a group without any has no result. */
export function present(
  valuesOf: ValuesOf,
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
      return { ...result, bound }
    },
  }
}

/** The mean of numbers, as a double. */
export function average(valuesOf: ValuesOf, evaluation: Evaluation): Aggregator {
  const counts = new RowCounts(evaluation)
  const sum = present(valuesOf, evaluation, new Sum(valuesOf, evaluation, false), counts)
  return {
    add: (batch, groups, count) => sum.add(batch, groups, count),
    result: count => {
      const [sums, numbers] = [sum.result(count), counts.of(count)]
      const values = new Float64Array(count)
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
