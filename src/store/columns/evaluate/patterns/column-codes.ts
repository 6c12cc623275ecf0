import type { Column } from '../../column.ts'
import { type GraphColumns, shareSubjects } from '../../graph.ts'
import { domainsOf, type Evaluation } from '../evaluation.ts'
import { SubjectDomain } from '../vectors/domain.ts'
import { rowsInRange, rowsPresent } from '../vectors/row-filters.ts'
import { scratchUint32 } from '../vectors/scratch.ts'
import { translated } from '../vectors/translate.ts'
import { gathered, hasWholeValues, type IdVector, type Vector } from '../vectors/vector.ts'

export function gatherIds({ domain, ids, isWhole }: IdVector, rows: Uint32Array): IdVector {
  return { type: 'ids', domain, ids: gathered(ids, rows), ...(isWhole === true ? { isWhole } : {}) }
}

/** The row of a subject, or -1. */
export function rowFinder(column: Column): (subject: number) => number {
  if (column.isDense) return subject => subject
  const { rowNumbers } = column
  return subject => (rowNumbers[subject] as number) - 1
}

/** The codes of a single-valued column, by the subjects of solutions; 0 for none. Shared where the subjects are consecutive. */
export function codesOf(column: Column, { ids, first }: IdVector): Uint32Array {
  const { codes } = column
  if (column.isDense && first !== undefined) return codes.subarray(first - 1, first - 1 + ids.length)
  const found = scratchUint32(ids.length)
  if (column.isDense)
    for (let at = 0; at < ids.length; at++) found[at] = codes[(ids[at] as number) - 1] as number
  else {
    const { rowNumbers } = column
    for (let at = 0; at < ids.length; at++) {
      const row = rowNumbers[(ids[at] as number) - 1] as number
      found[at] = row === 0 ? 0 : (codes[row - 1] as number)
    }
  }
  return found
}

/** The number of values of a multivalued column for each of the given subjects. */
export function countsOf(column: Column, { ids }: IdVector): Uint32Array {
  const { offsets } = column
  const rowOf = rowFinder(column)
  const counts = scratchUint32(ids.length)
  for (let at = 0; at < ids.length; at++) {
    const row = rowOf((ids[at] as number) - 1)
    counts[at] = row < 0 ? 0 : (offsets[row + 1] as number) - (offsets[row] as number)
  }
  return counts
}

/** Solutions, repeated for each value of their subjects, and the codes of these values. */
interface ExpandedRows {
  readonly rows: Uint32Array
  readonly values: Uint32Array
}

/**
 * One row for each value of the subjects of solutions.
 *
 * @param keepsAll true for a row with 0 where a subject has no value; subject 0 is not in the graph
 */
export function expandedRows(
  column: Column,
  ids: Uint32Array,
  keepsAll: boolean,
  evaluation: Evaluation,
): ExpandedRows {
  const rowOf = rowFinder(column)
  const { codes, offsets } = column
  let count = 0
  for (let at = 0; at < ids.length; at++) {
    const id = ids[at] as number
    const row = id === 0 ? -1 : rowOf(id - 1)
    const length = row < 0 ? 0 : (offsets[row + 1] as number) - (offsets[row] as number)
    count += keepsAll && length === 0 ? 1 : length
  }
  evaluation.allocate(8 * count)
  const rows = new Uint32Array(count)
  const values = new Uint32Array(count)
  let next = 0
  for (let at = 0; at < ids.length; at++) {
    if (at % 8192 === 8191) evaluation.check()
    const id = ids[at] as number
    const row = id === 0 ? -1 : rowOf(id - 1)
    const end = row < 0 ? 0 : (offsets[row + 1] as number)
    let place = row < 0 ? 0 : (offsets[row] as number)
    if (place === end && keepsAll) rows[next++] = at
    for (; place < end; place++) {
      rows[next] = at
      values[next++] = codes[place] as number
    }
  }
  evaluation.release(8 * count)
  return { rows, values }
}

/** The solutions whose subject has a given value. */
export function rowsWith(column: Column, subjects: IdVector, code: number): Uint32Array {
  if (code === 0) return new Uint32Array(0)
  const { ids } = subjects
  if (column.isSingle) return rowsInRange(codesOf(column, subjects), code, code + 1, true, null)
  const rows = scratchUint32(ids.length)
  let count = 0
  const rowOf = rowFinder(column)
  for (let at = 0; at < ids.length; at++)
    if (hasCode(column, rowOf((ids[at] as number) - 1), code)) rows[count++] = at
  return rows.subarray(0, count)
}

/** The solutions whose subject has the value that is required for it. */
export function rowsWithCodes(column: Column, subjects: IdVector, required: Uint32Array): Uint32Array {
  const { ids } = subjects
  const rows = scratchUint32(ids.length)
  let count = 0
  if (column.isSingle) {
    const found = codesOf(column, subjects)
    for (let at = 0; at < found.length; at++)
      if (found[at] !== 0 && found[at] === required[at]) rows[count++] = at
    return rows.subarray(0, count)
  }
  const rowOf = rowFinder(column)
  for (let at = 0; at < ids.length; at++) {
    const code = required[at] as number
    if (code !== 0 && hasCode(column, rowOf((ids[at] as number) - 1), code)) rows[count++] = at
  }
  return rows.subarray(0, count)
}

export function hasCode(column: Column, row: number, code: number): boolean {
  if (row < 0) return false
  const { codes } = column
  const end = column.endOf(row)
  for (let at = column.startOf(row); at < end; at++) if (codes[at] === code) return true
  return false
}

/** The subjects of a vector in a graph, and their rows. */
export function subjectsIn(
  graph: GraphColumns,
  vector: Vector,
  size: number,
): { readonly rows: Uint32Array | null; readonly subjects: IdVector } {
  const domain = domainsOf(graph).subjects
  if (vector.type === 'ids' && vector.domain === domain && hasWholeValues(vector))
    return { rows: null, subjects: vector }
  if (
    vector.type === 'ids' &&
    vector.domain instanceof SubjectDomain &&
    !shareSubjects(vector.domain.graph, graph)
  )
    return { rows: new Uint32Array(0), subjects: { type: 'ids', domain, ids: new Uint32Array(0) } }
  const ids = translated(vector, domain, size)
  const rows = rowsPresent(ids)
  if (rows.length === size) return { rows: null, subjects: { type: 'ids', domain, ids } }
  return { rows, subjects: gatherIds({ type: 'ids', domain, ids }, rows) }
}
