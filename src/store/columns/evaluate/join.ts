import { allRows, type Batch } from './batch.ts'
import type { Evaluation } from './evaluation.ts'
import { identified, translated } from './translate.ts'
import { hasWholeValues, type IdVector, isBound, type Vector } from './vector.ts'

/** Pairs of rows: of the left side and of the right. */
export interface Pairs {
  readonly left: Uint32Array
  readonly right: Uint32Array
}

interface Index {
  /** One more than the first row of a key; 0 for none. */
  readonly heads: Map<number | string, number>
  /** By row: one more than the next row of the same key. */
  readonly next: Uint32Array
}

/**
 * Finds the rows of one side whose shared variables are compatible with those of a row of the other (SPARQL 1.1 Query,
 * section 18.3): equal, or not bound on one side.
 */
export class CompatibleRows {
  readonly batch: Batch
  readonly shared: readonly string[]
  private readonly vectors: readonly IdVector[]
  /** Rows by which of the shared variables they bind, one bit for each. */
  private readonly byMask: ReadonlyMap<number, Uint32Array>
  private readonly indexes = new Map<string, Index>()

  /** @param shared variables of both sides, 30 at most */
  constructor(batch: Batch, shared: readonly string[], evaluation: Evaluation) {
    this.batch = batch
    this.shared = shared
    this.vectors = shared.map(name => identified(batch.get(name) as Vector, batch.size, evaluation))
    this.byMask = rowsByMask(this.vectors, batch.size)
    evaluation.allocate(16 * batch.size)
  }

  /** The pairs of rows that are compatible. */
  pairsWith(left: Batch): Pairs {
    const own = this.shared.map(name => left.get(name))
    const codes = own.map((vector, at) =>
      vector === undefined ? null : translated(vector, (this.vectors[at] as IdVector).domain, left.size),
    )
    const pairs = new PairList()
    for (const [mask, rows] of this.byMask) {
      for (let row = 0; row < left.size; row++) {
        let effective = 0
        for (let at = 0; at < own.length; at++) {
          const vector = own[at]
          if ((mask & (1 << at)) !== 0 && vector !== undefined && isBound(vector, row)) effective |= 1 << at
        }
        const index = this.indexOf(mask, effective, rows)
        const key = keyOf(codes, row, effective)
        if (key === null) continue
        let found = index.heads.get(key) ?? 0
        while (found !== 0) {
          pairs.add(row, found - 1)
          found = index.next[found - 1] as number
        }
      }
    }
    return pairs.done()
  }

  /** True where some variable is shared and bound in a pair of rows: MINUS removes only then. */
  private indexOf(mask: number, effective: number, rows: Uint32Array): Index {
    const name = `${mask} ${effective}`
    let index = this.indexes.get(name)
    if (index === undefined) {
      const codes = this.vectors.map(({ ids }) => ids)
      const heads = new Map<number | string, number>()
      const next = new Uint32Array(this.batch.size)
      // From behind, so that the rows of a key come in their order.
      for (let at = rows.length - 1; at >= 0; at--) {
        const row = rows[at] as number
        const key = keyOf(codes, row, effective)
        if (key === null) continue
        next[row] = heads.get(key) ?? 0
        heads.set(key, row + 1)
      }
      index = { heads, next }
      this.indexes.set(name, index)
    }
    return index
  }
}

/** What two rows must have in common; null for a term that the other side does not have at all. */
function keyOf(codes: readonly (Uint32Array | null)[], row: number, mask: number): number | string | null {
  let [first, key] = [-1, '']
  for (let at = 0; at < codes.length; at++) {
    if ((mask & (1 << at)) === 0) continue
    const code = (codes[at] as Uint32Array)[row] as number
    if (code === 0) return null
    if (first < 0) first = code
    else key += `,${code}`
  }
  if (first < 0) return 0
  return key === '' ? first : `${first}${key}`
}

function rowsByMask(vectors: readonly IdVector[], size: number): ReadonlyMap<number, Uint32Array> {
  if (vectors.every(hasWholeValues)) return new Map([[(1 << vectors.length) - 1, allRows(size)]])
  const lists = new Map<number, number[]>()
  for (let row = 0; row < size; row++) {
    let mask = 0
    for (let at = 0; at < vectors.length; at++) if ((vectors[at] as IdVector).ids[row] !== 0) mask |= 1 << at
    const list = lists.get(mask)
    if (list === undefined) lists.set(mask, [row])
    else list.push(row)
  }
  return new Map([...lists].map(([mask, rows]) => [mask, Uint32Array.from(rows)]))
}

class PairList {
  private left = new Uint32Array(1024)
  private right = new Uint32Array(1024)
  private length = 0

  add(left: number, right: number): void {
    if (this.length === this.left.length) {
      this.left = doubled(this.left)
      this.right = doubled(this.right)
    }
    this.left[this.length] = left
    this.right[this.length++] = right
  }

  done(): Pairs {
    return { left: this.left.subarray(0, this.length), right: this.right.subarray(0, this.length) }
  }
}

function doubled(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * array.length)
  larger.set(array)
  return larger
}

/** Solutions of both sides: a shared variable has the value of the side that binds it. */
export function joinedBatch(left: Batch, right: Batch, pairs: Pairs, evaluation: Evaluation): Batch {
  evaluation.advance(pairs.left.length)
  const leftRows = left.rows(pairs.left)
  const rightRows = right.rows(pairs.right)
  const more = right.variables.map(name => {
    if (!left.has(name)) return [name, () => rightRows.get(name) as Vector] as const
    return [
      name,
      () =>
        filled(leftRows.get(name) as Vector, rightRows.get(name) as Vector, pairs.left.length, evaluation),
    ] as const
  })
  return leftRows.with(more)
}

/** The first vector, and where it is not bound the second. */
export function filled(first: Vector, second: Vector, size: number, evaluation: Evaluation): Vector {
  if (hasWholeValues(first)) return first
  const own = identified(first, size, evaluation)
  const other = translatedOrPooled(second, own, size, evaluation)
  const ids = new Uint32Array(size)
  for (let row = 0; row < size; row++) {
    const id = other.own.ids[row] as number
    ids[row] = id === 0 ? (other.ids[row] as number) : id
  }
  return { type: 'ids', domain: other.own.domain, ids }
}

function translatedOrPooled(vector: Vector, own: IdVector, size: number, evaluation: Evaluation) {
  if (vector.type !== 'numbers' && vector.domain === own.domain)
    return { own, ids: identified(vector, size, evaluation).ids }
  const pooled = identifiedInPool(own, size, evaluation)
  return { own: pooled, ids: identifiedInPool(vector, size, evaluation).ids }
}

/** A vector whose numbers are those of the pool. */
export function identifiedInPool(vector: Vector, size: number, evaluation: Evaluation): IdVector {
  const found = identified(vector, size, evaluation)
  if (found.domain === evaluation.pool) return found
  const ids = new Uint32Array(size)
  for (let row = 0; row < size; row++) {
    const id = found.ids[row] as number
    ids[row] = id === 0 ? 0 : evaluation.pool.intern(found.domain.term(id))
  }
  return { type: 'ids', domain: evaluation.pool, ids }
}

/** Each solution of one side with each of the other. */
export function crossPairs(left: number, right: number, evaluation: Evaluation): Pairs {
  evaluation.allocate(8 * left * right)
  const pairs = { left: new Uint32Array(left * right), right: new Uint32Array(left * right) }
  let at = 0
  for (let row = 0; row < left; row++)
    for (let other = 0; other < right; other++) {
      pairs.left[at] = row
      pairs.right[at++] = other
    }
  evaluation.release(8 * left * right)
  return pairs
}

/** Takes away solutions that share a variable with one of `whole` and agree with it (section 18.3). */
export function difference(left: Batch, whole: Batch, evaluation: Evaluation): Batch {
  const shared = left.variables.filter(name => whole.has(name))
  if (shared.length === 0 || whole.size === 0) return left
  const { left: rows, right: others } = new CompatibleRows(whole, shared, evaluation).pairsWith(left)
  const removed = new Uint8Array(left.size)
  const own = shared.map(name => [left.get(name) as Vector, whole.get(name) as Vector] as const)
  for (let at = 0; at < rows.length; at++) {
    const [row, other] = [rows[at] as number, others[at] as number]
    if (removed[row] === 0 && own.some(([a, b]) => isBound(a, row) && isBound(b, other))) removed[row] = 1
  }
  return left.rows(allRows(left.size).filter(row => removed[row] === 0))
}
