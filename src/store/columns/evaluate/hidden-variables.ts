import { allRows, type Batch } from './batch.ts'
import type { Evaluation } from './evaluation.ts'
import { filled, identifiedInPool } from './join.ts'
import type { Vector } from './vector.ts'

/** Brings back variables that were put away; where the operation bound them too, both must agree. */
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
