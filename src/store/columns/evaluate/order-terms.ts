import { compareForOrder } from './compare.ts'
import type { PoolDomain } from './pool-domain.ts'
import { scratchUint32 } from './scratch.ts'
import type { SortKey } from './sort-keys.ts'

/** All terms of a query are only sorted where the requested rows are more than one in this many of the rows. */
const FEW_OF = 16
const MAX_FIRST = 4096

/** True where comparing rows with the last requested one is the faster way to find the first rows of an order. */
export function areFewOf(requested: number, size: number): boolean {
  return requested <= MAX_FIRST && FEW_OF * requested < size
}

type TermKey = Pick<SortKey, 'descending' | 'isAbsentHighest'>

/** Computed terms, by their numbers, in the order of results. */
class TermOrder {
  private readonly pool: PoolDomain
  private readonly sign: 1 | -1
  private readonly absent: 1 | -1

  constructor(pool: PoolDomain, { descending, isAbsentHighest }: TermKey) {
    this.pool = pool
    this.sign = descending ? -1 : 1
    this.absent = isAbsentHighest ? 1 : -1
  }

  compare(left: number, right: number): number {
    if (left === 0 || right === 0) return this.sign * this.absent * (Number(left === 0) - Number(right === 0))
    return this.sign * compareForOrder(this.pool.value(left), this.pool.value(right))
  }
}

/** The rows, ascending, whose terms are among those of the first rows of an order, including all that equal the last of them. */
export function firstRows(ids: Uint32Array, pool: PoolDomain, key: TermKey, requested: number): Uint32Array {
  const order = new TermOrder(pool, key)
  const counts = new Uint32Array(pool.size + 1)
  for (let row = 0; row < ids.length; row++) {
    const id = ids[row] as number
    counts[id] = (counts[id] as number) + 1
  }
  /** Sorted terms, as few as cover the requested rows. */
  const first: number[] = []
  let rows = 0
  for (let id = 0; id < counts.length; id++) {
    const own = counts[id] as number
    if (own === 0) continue
    const last = first[first.length - 1]
    if (last !== undefined && rows >= requested && order.compare(id, last) >= 0) continue
    first.splice(placeOf(id, first, order), 0, id)
    rows += own
    for (
      let end = first.length - 1;
      end > 0 && rows - (counts[first[end] as number] as number) >= requested;
      end--
    )
      rows -= counts[first.pop() as number] as number
  }
  const last = first[first.length - 1]
  const isFirst = new Uint8Array(counts.length)
  for (let id = 0; id < counts.length; id++)
    if (counts[id] !== 0 && last !== undefined && order.compare(id, last) <= 0) isFirst[id] = 1
  const found = scratchUint32(ids.length)
  let count = 0
  for (let row = 0; row < ids.length; row++) {
    found[count] = row
    count += isFirst[ids[row] as number] as number
  }
  return found.subarray(0, count)
}

/** The insertion index of a term among sorted terms, after those that are equal to it. */
function placeOf(id: number, first: readonly number[], order: TermOrder): number {
  let [low, high] = [0, first.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (order.compare(id, first[middle] as number) < 0) high = middle
    else low = middle + 1
  }
  return low
}

/** Ranks of the terms of some rows, equal for terms that are equal in the order; unbound values have the lowest or the highest rank. */
export function ranksOfRows(ids: Uint32Array, pool: PoolDomain, { isAbsentHighest }: TermKey): Float64Array {
  const order = new TermOrder(pool, { descending: false, isAbsentHighest })
  const distinct = [...new Set(ids)].sort((a, b) => order.compare(a, b))
  const ranks = new Map<number, number>()
  let rank = 0
  for (let at = 0; at < distinct.length; at++) {
    if (at > 0 && order.compare(distinct[at - 1] as number, distinct[at] as number) !== 0) rank += 1
    ranks.set(distinct[at] as number, rank)
  }
  return Float64Array.from(ids, id => ranks.get(id) as number)
}
