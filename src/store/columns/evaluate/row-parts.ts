import { allRows, type Batch } from './batch.ts'
import { PositionDomain } from './domain.ts'
import { isBound, type Vector } from './vector.ts'

export function isUnit(batch: Batch): boolean {
  return batch.size === 1 && batch.variables.length === 0
}

/** The numbers of rows as a vector of their own. */
export function rowVector(size: number): Vector {
  const ids = new Uint32Array(size)
  for (let row = 0; row < size; row++) ids[row] = row + 1
  return { type: 'ids', domain: new PositionDomain(size), ids }
}

export function* rowsOf(vector: Vector, size: number): Generator<number> {
  for (let at = 0; at < size; at++)
    yield (vector.type === 'constant' ? vector.id : vector.type === 'ids' ? (vector.ids[at] as number) : 0) -
      1
}

/** Solutions parted by which of some variables they bind; what a part does not bind is not there in it. */
export function* partsByBinding(batch: Batch, names: readonly string[]): Generator<Batch> {
  const [name, ...others] = names
  if (name === undefined) {
    if (batch.size > 0) yield batch
    return
  }
  const vector = batch.get(name) as Vector
  const rows = allRows(batch.size)
  const bound = batch.rows(rows.filter(row => isBound(vector, row)))
  const unbound = batch.rows(rows.filter(row => !isBound(vector, row)))
  yield* partsByBinding(bound, others)
  yield* partsByBinding(unbound.only(unbound.variables.filter(each => each !== name)), others)
}
