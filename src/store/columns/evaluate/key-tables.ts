import type { Evaluation } from './evaluation.ts'
import { PairMap } from './pair-map.ts'
import { scratchUint32 } from './scratch.ts'

/** Groups of two keys are found with an array where the product of their sizes is at most this. */
const DENSE_PAIRS = 2 ** 22

/** Numbers distinct numbers in order of first occurrence, from 0. */
export class SingleTable {
  private readonly evaluation: Evaluation
  private known = new Int32Array(0)
  private size = 0

  constructor(evaluation: Evaluation) {
    this.evaluation = evaluation
  }

  /**
   * @param terms the largest possible number
   * @param added called with the row of each new number
   */
  number(ids: Uint32Array, terms: number, added: (row: number) => void): Uint32Array {
    const max = FEW_ROWS * ids.length < terms ? maximum(ids) : terms
    if (max >= this.known.length) {
      const length = Math.max(2 * this.known.length, max + 1)
      this.evaluation.allocate(4 * (length - this.known.length))
      const larger = new Int32Array(length).fill(-1)
      larger.set(this.known)
      this.known = larger
    }
    const { known } = this
    const numbers = scratchUint32(ids.length)
    for (let row = 0; row < ids.length; row++) {
      row = lookUp(known, ids, numbers, row)
      if (row === ids.length) break
      numbers[row] = this.size
      known[ids[row] as number] = this.size++
      added(row)
    }
    return numbers
  }
}

/** A table as large as a domain is not created for batches with fewer rows than one in this many of its terms. */
const FEW_ROWS = 4

/** Assigns known numbers to rows by their ids; returns the first row whose id has none. */
function lookUp(known: Int32Array, ids: Uint32Array, numbers: Uint32Array, from: number): number {
  const length = ids.length | 0
  for (let row = from; row < length; row++) {
    const number = known[ids[row] as number] as number
    if (number < 0) return row
    numbers[row] = number
  }
  return length
}

/** Numbers distinct pairs of numbers in order of first occurrence, from 0. */
export class PairTable {
  private readonly evaluation: Evaluation
  private readonly table: PairMap
  private dense: Int32Array | null = null
  private width = 0
  private size = 0

  constructor(evaluation: Evaluation) {
    this.evaluation = evaluation
    this.table = new PairMap(bytes => evaluation.allocate(bytes))
  }

  /** Number of pairs so far. */
  get count(): number {
    return this.size
  }

  /**
   * @param leftTerms the largest possible number on the left side
   * @param terms the largest possible number on the right side
   * @param added called with the row of each new pair
   */
  number(
    left: Uint32Array,
    right: Uint32Array,
    leftTerms: number,
    terms: number,
    added: (row: number) => void,
  ): Uint32Array {
    const numbers = scratchUint32(left.length)
    const isFew = FEW_ROWS * left.length < leftTerms * terms
    if ((!isFew && this.fitsDense(leftTerms, terms)) || this.fitsDense(maximum(left), terms)) {
      const dense = this.dense as Int32Array
      const { width } = this
      for (let row = 0; row < left.length; row++) {
        row = lookUpPairs(dense, width, left, right, numbers, row)
        if (row === left.length) break
        numbers[row] = this.size
        dense[(left[row] as number) * width + (right[row] as number)] = this.size++
        added(row)
      }
      return numbers
    }
    let { size } = this
    this.leaveDense()
    for (let row = 0; row < left.length; row++) {
      const known = this.table.add(left[row] as number, right[row] as number, size)
      numbers[row] = known
      if (known < size) continue
      size += 1
      added(row)
    }
    this.size = size
    return numbers
  }

  private fitsDense(maxLeft: number, maxRight: number): boolean {
    if (this.table.size > 0) return false
    if (this.dense !== null && maxRight < this.width && (maxLeft + 1) * this.width <= this.dense.length)
      return true
    const width = Math.max(this.width, maxRight + 1)
    const length = width * Math.max(maxLeft + 1, this.dense === null ? 0 : this.dense.length / this.width)
    if (length > DENSE_PAIRS) return false
    this.evaluation.allocate(4 * (length - (this.dense?.length ?? 0)))
    const larger = new Int32Array(length).fill(-1)
    const { dense, width: before } = this
    if (dense !== null)
      for (let place = 0; place < dense.length; place++) {
        const left = Math.floor(place / before)
        larger[left * width + (place - left * before)] = dense[place] as number
      }
    this.dense = larger
    this.width = width
    return true
  }

  private leaveDense(): void {
    const { dense, width } = this
    if (dense === null) return
    for (let place = 0; place < dense.length; place++) {
      const known = dense[place] as number
      if (known < 0) continue
      const left = Math.floor(place / width)
      this.table.add(left, place - left * width, known)
    }
    this.evaluation.release(4 * dense.length)
    this.dense = null
  }
}

/** Assigns known numbers to rows by their pairs; returns the first row whose pair has none. */
function lookUpPairs(
  dense: Int32Array,
  width: number,
  left: Uint32Array,
  right: Uint32Array,
  numbers: Uint32Array,
  from: number,
): number {
  const length = left.length | 0
  for (let row = from; row < length; row++) {
    const number = dense[Math.imul(left[row] as number, width) + (right[row] as number)] as number
    if (number < 0) return row
    numbers[row] = number
  }
  return length
}

export function maximum(numbers: Uint32Array): number {
  let max = 0
  for (let at = 0; at < numbers.length; at++) if ((numbers[at] as number) > max) max = numbers[at] as number
  return max
}
