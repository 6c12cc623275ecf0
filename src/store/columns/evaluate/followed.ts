import type { Column } from '../column.ts'
import type { GraphColumns } from '../graph.ts'
import type { Batch } from './batch.ts'
import { codesOf, gatherIds } from './column-codes.ts'
import { domainsOf } from './evaluation.ts'
import { rowsPresent } from './row-filters.ts'
import { gathered, type IdVector, type Vector } from './vector.ts'

/** Solutions and their subjects. */
export class Followed {
  readonly batch: Batch
  private readonly lazySubjects: Lazy<IdVector>

  constructor(batch: Batch, subjects: Lazy<IdVector>) {
    this.batch = batch
    this.lazySubjects = subjects
  }

  get subjects(): IdVector {
    return this.lazySubjects()
  }

  rows(rows: Uint32Array): Followed {
    if (rows.length === this.batch.size && isAll(rows)) return this
    const subjects = this.lazySubjects
    return new Followed(
      this.batch.rows(rows),
      once(() => gatherIds(subjects(), rows)),
    )
  }

  with(name: string, source: Vector | (() => Vector)): Followed {
    return new Followed(this.batch.with([[name, source]]), this.lazySubjects)
  }
}

type Lazy<Value> = () => Value

function once<Value extends object>(make: Lazy<Value>): Lazy<Value> {
  let memoised: Value | null = null
  return () => {
    memoised ??= make()
    return memoised
  }
}

function isAll(rows: Uint32Array): boolean {
  return rows.length === 0 || (rows[0] === 0 && rows[rows.length - 1] === rows.length - 1 && isRising(rows))
}

function isRising(rows: Uint32Array): boolean {
  for (let at = 1; at < rows.length; at++) if (rows[at] !== at) return false
  return true
}

/** The solutions with a value of a variable, whose vector has 0 for none. */
export function withValue(name: string, found: Followed): Followed {
  const vector = found.batch.get(name) as IdVector
  const rows = rowsPresent(vector.ids)
  if (rows.length === vector.ids.length) return found.with(name, { ...vector, isWhole: true })
  return found.rows(rows).with(name, { ...vector, ids: gathered(vector.ids, rows), isWhole: true })
}

export function single(graph: GraphColumns, column: Column, name: string, found: Followed): Followed {
  const domain = domainsOf(graph).of(column)
  if (column.isComplete) {
    const before = found
    return found.with(name, () => ({
      type: 'ids',
      domain,
      ids: codesOf(column, before.subjects),
      isWhole: true,
    }))
  }
  const ids = codesOf(column, found.subjects)
  const rows = rowsPresent(ids)
  if (rows.length === ids.length) return found.with(name, { type: 'ids', domain, ids, isWhole: true })
  return found.rows(rows).with(name, { type: 'ids', domain, ids: gathered(ids, rows), isWhole: true })
}
