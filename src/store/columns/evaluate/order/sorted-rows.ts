import { sortedNumbers } from '../../sort-numbers.ts'
import type { Evaluation } from '../evaluation.ts'
import { identifiedInPool } from '../patterns/join.ts'
import { allRows } from '../vectors/batch.ts'
import { PoolDomain } from '../vectors/pool-domain.ts'
import type { Vector } from '../vectors/vector.ts'
import { ranksOfRows, type SortKey } from './order-keys.ts'

/** Numbers in the order of a key's values, negative where it descends: those of unbound values are the lowest, or the highest. */
export function orderNumbers(
  vector: Vector,
  size: number,
  key: SortKey,
  evaluation: Evaluation,
): Float64Array {
  const sign = key.descending ? -1 : 1
  const numbers = new Float64Array(size)
  switch (vector.type) {
    case 'constant':
      return numbers
    case 'ids': {
      const { ids, domain } = vector
      if (domain instanceof PoolDomain && size < domain.size)
        return ranksOfRows(ids, domain, key).map(rank => sign * rank + 0)
      const ranks = domain.ranks()
      const absent = sign * (key.isAbsentHighest ? Number.MAX_SAFE_INTEGER : -1)
      for (let row = 0; row < size; row++) {
        const id = ids[row] as number
        numbers[row] = id === 0 ? absent : sign * (ranks === null ? id : (ranks[id] as number)) + 0
      }
      return numbers
    }
    case 'numbers': {
      const { values, bound } = vector
      const absent = key.isAbsentHighest ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
      if (hasNoNumber(values, bound, absent))
        return orderNumbers(identifiedInPool(vector, size, evaluation), size, key, evaluation)
      if (bound === null)
        for (let row = 0; row < size; row++) numbers[row] = sign * (values[row] as number) + 0
      else
        for (let row = 0; row < size; row++)
          numbers[row] = sign * (bound[row] === 0 ? absent : (values[row] as number)) + 0
      return numbers
    }
  }
}

/** True where a value is NaN, or equals the number that represents unbound values in the order. */
function hasNoNumber(values: Float64Array, bound: Uint8Array | null, absent: number): boolean {
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number
    if (bound === null ? Number.isNaN(value) : bound[row] === 1 && (Number.isNaN(value) || value === absent))
      return true
  }
  return false
}

/** All rows in the order of their keys, by one stable sort per key, the last key first. */
export function sortedRows(keys: readonly Float64Array[], size: number): Uint32Array {
  let rows: Uint32Array | null = null
  for (let at = keys.length - 1; at >= 0; at--) {
    const numbers = keys[at] as Float64Array
    if (rows === null) {
      rows = sortedNumbers(numbers)
      continue
    }
    const before: Uint32Array = rows
    const moved = new Float64Array(size)
    for (let row = 0; row < size; row++) moved[row] = numbers[before[row] as number] as number
    const order = sortedNumbers(moved)
    rows = order.map(place => before[place] as number)
  }
  return rows ?? allRows(size)
}
