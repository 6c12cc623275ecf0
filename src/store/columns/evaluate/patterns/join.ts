import { memoised } from '../../../../model/memoised.ts'
import { NumberList } from '../../bytes.ts'
import type { Evaluation } from '../evaluation.ts'
import { allRows, type Batch } from '../vectors/batch.ts'
import { PairMap } from '../vectors/pair-map.ts'
import { identified, pooledIds, translated } from '../vectors/translate.ts'
import { hasWholeValues, type IdVector, isBound, type Vector } from '../vectors/vector.ts'

/** Pairs of rows: of the left side and of the right. */
export interface Pairs {
  readonly left: Uint32Array
  readonly right: Uint32Array
}

/** Variables that rows are indexed by, which are the bits of a number; further ones are compared for each pair. */
const MAX_INDEXED = 30

/** Pairs of rows that are collected before they are yielded. */
const PAIRS_AT_ONCE = 2 ** 18

interface Index {
  readonly keys: RowKeys
  /** By key: one more than the first row with the key; 0 for none. */
  readonly heads: Uint32Array
  /** By row: one more than the next row of the same key. */
  readonly next: Uint32Array
}

/**
 * Finds the rows of one side whose shared variables are compatible with those of a row of the other (SPARQL 1.1 Query, section
 * 18.3): equal, or unbound on one side.
 */
export class CompatibleRows {
  readonly batch: Batch
  readonly shared: readonly string[]
  private readonly evaluation: Evaluation
  private readonly vectors: readonly IdVector[]
  /** Rows by the set of indexed variables that they bind, one bit for each variable. */
  private readonly byMask: ReadonlyMap<number, Uint32Array>
  private readonly indexes = new Map<string, Index>()

  constructor(batch: Batch, shared: readonly string[], evaluation: Evaluation) {
    this.batch = batch
    this.shared = shared
    this.evaluation = evaluation
    this.vectors = shared.map(name => identified(batch.get(name) as Vector, batch.size, evaluation))
    evaluation.allocate(8 * batch.size)
    this.byMask = rowsByMask(this.vectors.slice(0, MAX_INDEXED), batch.size)
  }

  /** The pairs of compatible rows, in chunks. */
  *pairsWith(left: Batch): Generator<Pairs> {
    const own = this.shared.map(name => left.get(name))
    const codes = own.map((vector, at) =>
      vector === undefined ? null : translated(vector, (this.vectors[at] as IdVector).domain, left.size),
    )
    const indexed = Math.min(own.length, MAX_INDEXED)
    const pairs = new PairList()
    for (const [mask, rows] of this.byMask) {
      for (let row = 0; row < left.size; row++) {
        this.evaluation.advance(1)
        let effective = 0
        for (let at = 0; at < indexed; at++) {
          const vector = own[at]
          if ((mask & (1 << at)) !== 0 && vector !== undefined && isBound(vector, row)) effective |= 1 << at
        }
        const { keys, heads, next } = this.indexOf(mask, effective, rows)
        const key = keys.find(codes, row)
        let found = key < 0 ? 0 : (heads[key] as number)
        while (found !== 0) {
          if (pairs.size >= PAIRS_AT_ONCE) yield pairs.take()
          if (own.length === indexed || this.agree(own, codes, row, found - 1)) pairs.add(row, found - 1)
          found = next[found - 1] as number
        }
      }
    }
    if (pairs.size > 0) yield pairs.take()
  }

  /** True where a row of the other side is compatible with one of this side in the variables that rows are not indexed by. */
  private agree(
    own: readonly (Vector | undefined)[],
    codes: readonly (Uint32Array | null)[],
    row: number,
    other: number,
  ): boolean {
    for (let at = MAX_INDEXED; at < own.length; at++) {
      const [vector, id] = [own[at], (this.vectors[at] as IdVector).ids[other]]
      if (id !== 0 && vector !== undefined && isBound(vector, row) && codes[at]?.[row] !== id) return false
    }
    return true
  }

  /** The rows with one mask, indexed by the terms of those variables that a row of the other side binds as well. */
  private indexOf(mask: number, effective: number, rows: Uint32Array): Index {
    return memoised(this.indexes, `${mask} ${effective}`, () => {
      const { size } = this.batch
      this.evaluation.allocate(8 * size)
      const codes = this.vectors.slice(0, MAX_INDEXED).map(({ ids }) => ids)
      const keys = new RowKeys(codes.length, effective, this.evaluation)
      const heads = new Uint32Array(Math.max(1, size))
      const next = new Uint32Array(size)
      // Backwards, so that the rows of a key are linked in their order.
      for (let at = rows.length - 1; at >= 0; at--) {
        if (at % 8192 === 0) this.evaluation.check()
        const row = rows[at] as number
        const key = keys.number(codes, row)
        if (key < 0) continue
        next[row] = heads[key] as number
        heads[key] = row + 1
      }
      return { keys, heads, next }
    })
  }
}

/** Numbers the combinations of terms of some variables: the first two as a pair, that and the third, and so on. */
class RowKeys {
  private readonly places: readonly number[]
  private readonly maps: readonly PairMap[]

  /** @param mask one bit for each of the variables to use */
  constructor(variables: number, mask: number, evaluation: Evaluation) {
    this.places = Array.from({ length: variables }, (_, at) => at).filter(at => (mask & (1 << at)) !== 0)
    this.maps = this.places.map(() => new PairMap(bytes => evaluation.allocate(bytes)))
  }

  /** The number of a row, a new one if needed; -1 for a row with a term that the other side lacks. */
  number(codes: readonly (Uint32Array | null)[], row: number): number {
    let key = 0
    for (let at = 0; at < this.places.length; at++) {
      const code = (codes[this.places[at] as number] as Uint32Array)[row] as number
      if (code === 0) return -1
      const map = this.maps[at] as PairMap
      key = map.add(key, code, map.size)
    }
    return key
  }

  /** The number of a row; -1 where it has none. */
  find(codes: readonly (Uint32Array | null)[], row: number): number {
    let key = 0
    for (let at = 0; at < this.places.length && key >= 0; at++) {
      const code = (codes[this.places[at] as number] as Uint32Array)[row] as number
      key = code === 0 ? -1 : (this.maps[at] as PairMap).get(key, code)
    }
    return key
  }
}

function rowsByMask(vectors: readonly IdVector[], size: number): ReadonlyMap<number, Uint32Array> {
  if (vectors.every(hasWholeValues)) return new Map([[(1 << vectors.length) - 1, allRows(size)]])
  const masks = new Uint32Array(size)
  const sizes = new Map<number, number>()
  for (let row = 0; row < size; row++) {
    let mask = 0
    for (let at = 0; at < vectors.length; at++) if ((vectors[at] as IdVector).ids[row] !== 0) mask |= 1 << at
    masks[row] = mask
    sizes.set(mask, (sizes.get(mask) ?? 0) + 1)
  }
  const lists = new Map([...sizes].map(([mask, length]) => [mask, new Uint32Array(length)]))
  for (let row = size - 1; row >= 0; row--) {
    const mask = masks[row] as number
    const place = (sizes.get(mask) as number) - 1
    sizes.set(mask, place)
    ;(lists.get(mask) as Uint32Array)[place] = row
  }
  return lists
}

class PairList {
  private readonly left = new NumberList()
  private readonly right = new NumberList()

  get size(): number {
    return this.left.size
  }

  add(left: number, right: number): void {
    this.left.add(left)
    this.right.add(right)
  }

  /** Returns the pairs so far and clears the list. */
  take(): Pairs {
    const pairs = { left: this.left.view().slice(), right: this.right.view().slice() }
    for (const list of [this.left, this.right]) list.clear()
    return pairs
  }
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

/** The first vector, and where it is unbound the second. */
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

/** Converts a vector to numbers of the pool. */
export function identifiedInPool(vector: Vector, size: number, evaluation: Evaluation): IdVector {
  const found = identified(vector, size, evaluation)
  if (found.domain === evaluation.pool) return found
  const ids = pooledIds(found, size, evaluation)
  return { type: 'ids', domain: evaluation.pool, ids }
}

/** Removes solutions that are compatible with one of another side and share a bound variable with it (section 18.3). */
export function difference(left: Batch, compatible: CompatibleRows, evaluation: Evaluation): Batch {
  const { batch: whole, shared } = compatible
  const removed = new Uint8Array(left.size)
  const own = shared.map(name => [left.get(name) as Vector, whole.get(name) as Vector] as const)
  for (const { left: rows, right: others } of compatible.pairsWith(left)) {
    evaluation.advance(rows.length)
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] as number
      const other = others[at] as number
      if (removed[row] === 0 && own.some(([a, b]) => isBound(a, row) && isBound(b, other))) removed[row] = 1
    }
  }
  return left.rows(allRows(left.size).filter(row => removed[row] === 0))
}

/** Restores renamed variables; where the operation also bound them, both must agree. */
export function revealed(batch: Batch, hidden: ReadonlyMap<string, string>, evaluation: Evaluation): Batch {
  let found = batch
  for (const [name, alias] of hidden) {
    const both = found.has(name)
    if (both) {
      const rows = agreeingRows(found, name, alias, evaluation)
      if (rows.length < found.size) found = found.rows(rows)
    }
    const current = found
    const source = () =>
      both
        ? filled(current.get(alias) as Vector, current.get(name) as Vector, current.size, evaluation)
        : (current.get(alias) as Vector)
    found = current
      .with([[name, source]])
      .only([...current.variables.filter(each => each !== alias && each !== name), name])
  }
  return found
}

function agreeingRows(batch: Batch, name: string, alias: string, evaluation: Evaluation): Uint32Array {
  const [left, right] = [name, alias].map(
    each => identifiedInPool(batch.get(each) as Vector, batch.size, evaluation).ids,
  ) as [Uint32Array, Uint32Array]
  return allRows(batch.size).filter(row => left[row] === 0 || right[row] === 0 || left[row] === right[row])
}
