import { LODESTONE } from '../../../rdf/vocab.ts'
import type { Node } from '../../../sparql/algebra.ts'
import type { Formula, TriplePatternNode } from '../../../sparql/operation.ts'
import type { Column } from '../column.ts'
import type { GraphColumns } from '../graph.ts'
import { allRows, type Batch } from './batch.ts'
import { domainsOf, type Evaluation } from './evaluation.ts'
import type { Filter } from './filter.ts'
import { scratchUint32 } from './scratch.ts'
import { rowsEqual, rowsPresent } from './selection.ts'
import { codeTranslator, translated } from './translate.ts'
import { gathered, hasWholeValues, type IdVector, type Vector } from './vector.ts'

/** A triple pattern about the subject of a star: its predicate is known. */
export interface ColumnLink {
  readonly predicate: string
  readonly object: Node
}

export function linkOf({ predicate, object }: TriplePatternNode): ColumnLink | null {
  return predicate.type === 'iri' ? { predicate: predicate.value, object } : null
}

/** The predicate that every subject has, with its place in the order of the source. */
export function isPosition(predicate: string): boolean {
  return predicate === LODESTONE.position
}

/** True where a graph has a predicate. */
export function hasPredicate(graph: GraphColumns, predicate: string): boolean {
  return isPosition(predicate) || graph.column(predicate) !== undefined
}

/** Conditions that wait for their variables. */
export class PendingFilters {
  private waiting: { readonly condition: Formula; readonly variables: ReadonlySet<string> }[]

  constructor(
    conditions: readonly { readonly condition: Formula; readonly variables: ReadonlySet<string> }[],
  ) {
    this.waiting = [...conditions]
  }

  /** Those whose variables are all there; they wait no more. */
  take(has: (variable: string) => boolean): readonly Formula[] {
    const ready = this.waiting.filter(({ variables }) => [...variables].every(has))
    if (ready.length > 0) this.waiting = this.waiting.filter(each => !ready.includes(each))
    return ready.map(({ condition }) => condition)
  }

  copy(): PendingFilters {
    return new PendingFilters(this.waiting)
  }
}

/** Follows the links of a star within one graph, for subjects that are known. */
export class LinkFollower {
  private readonly evaluation: Evaluation
  private readonly filter: Filter

  constructor(evaluation: Evaluation, filter: Filter) {
    this.evaluation = evaluation
    this.filter = filter
  }

  /**
   * The solutions of a batch with the objects of the links of their subjects.
   *
   * @param subjects numbers of subjects of the graph, none 0
   */
  follow(
    graph: GraphColumns,
    links: readonly ColumnLink[],
    batch: Batch,
    subjects: IdVector,
    filters: PendingFilters,
  ): Batch {
    let found = new Followed(batch, () => subjects)
    const several: ColumnLink[] = []
    const { direct, others } = parted(links, graph, found)
    const { first, ids } = subjects
    const isScan = first !== undefined && batch.variables.length === 1
    const selections = isScan ? (this.evaluation.selections?.scan(graph, first, ids.length) ?? null) : null
    const predicates = new Map(direct.map(({ column, name }) => [name, column.predicate]))
    const ready = () => {
      for (const condition of filters.take(name => found.batch.has(name))) {
        const select = () => this.filter.select(condition, found.batch)
        const rows = selections === null ? select() : selections.rows(condition, predicates, select)
        if (rows.length < found.batch.size) found = found.rows(rows)
      }
    }
    ready()
    for (const { column, name } of direct) {
      const before = found
      this.evaluation.columns.add(column.predicate)
      found = found.with(name, () => ({
        type: 'ids',
        domain: domainsOf(graph).of(column),
        ids: codesOf(column, before.subjects),
        isWhole: column.isComplete,
      }))
    }
    for (const link of ordered(others, graph, found.batch)) {
      selections?.end()
      if (found.batch.size === 0) break
      this.evaluation.advance(found.batch.size)
      if (isPosition(link.predicate)) {
        found = this.followPosition(graph, link, found)
        ready()
        continue
      }
      const column = graph.column(link.predicate)
      if (column === undefined) return batch.slice(0, 0)
      this.evaluation.columns.add(link.predicate)
      const { object } = link
      const known = object.type === 'variable' ? found.batch.get(object.name) : undefined
      if (object.type !== 'variable') {
        const code = column.dictionary.find(object)
        found = found.rows(rowsWith(column, found.subjects, code))
      } else if (known !== undefined) {
        const codes = translated(known, domainsOf(graph).of(column), found.batch.size)
        found = found.rows(rowsWithCodes(column, found.subjects, codes))
      } else if (column.isSingle) found = single(graph, column, object.name, found)
      else {
        several.push(link)
        continue
      }
      ready()
    }
    ready()
    for (const { column, name } of direct)
      if (!column.isComplete && found.batch.size > 0) found = withValue(name, found)
    for (const { predicate, object } of several) {
      const column = graph.column(predicate)
      if (column === undefined || object.type !== 'variable' || found.batch.size === 0) break
      const known = found.batch.get(object.name)
      if (known !== undefined) {
        const codes = translated(known, domainsOf(graph).of(column), found.batch.size)
        found = found.rows(rowsWithCodes(column, found.subjects, codes))
      } else found = this.expand(graph, column, object.name, found)
      ready()
    }
    return found.batch
  }

  /** The solutions of a batch for which conditions hold whose variables are there. */
  tested(batch: Batch, filters: PendingFilters): Batch {
    let found = batch
    for (const condition of filters.take(name => found.has(name))) {
      const rows = this.filter.select(condition, found)
      if (rows.length < found.size) found = found.rows(rows)
    }
    return found
  }

  private followPosition(graph: GraphColumns, { object }: ColumnLink, found: Followed): Followed {
    const { positions } = domainsOf(graph)
    const { ids, first } = found.subjects
    if (object.type === 'variable' && !found.batch.has(object.name)) {
      const vector: IdVector = {
        type: 'ids',
        domain: positions,
        ids,
        ...(first === undefined ? {} : { first }),
      }
      return found.with(object.name, vector)
    }
    const required =
      object.type === 'variable'
        ? translated(found.batch.get(object.name) as Vector, positions, ids.length)
        : new Uint32Array(ids.length).fill(positions.find(object))
    return found.rows(allRows(ids.length).filter(row => ids[row] === required[row]))
  }

  /** One row for each value. */
  private expand(graph: GraphColumns, column: Column, name: string, found: Followed): Followed {
    const { ids } = found.subjects
    const rowOf = rowFinder(column)
    let count = 0
    for (let at = 0; at < ids.length; at++) {
      const row = rowOf((ids[at] as number) - 1)
      if (row >= 0) count += column.endOf(row) - column.startOf(row)
    }
    this.evaluation.allocate(8 * count)
    const rows = new Uint32Array(count)
    const values = new Uint32Array(count)
    const { codes, offsets } = column
    let next = 0
    for (let at = 0; at < ids.length; at++) {
      const row = rowOf((ids[at] as number) - 1)
      if (row < 0) continue
      const end = offsets[row + 1] as number
      for (let place = offsets[row] as number; place < end; place++) {
        rows[next] = at
        values[next++] = codes[place] as number
      }
      if (at % 8192 === 8191) this.evaluation.check()
    }
    this.evaluation.release(8 * count)
    return found.rows(rows).with(name, { type: 'ids', domain: domainsOf(graph).of(column), ids: values })
  }
}

/** Solutions and their subjects. */
class Followed {
  readonly batch: Batch
  readonly #subjects: Lazy<IdVector>

  constructor(batch: Batch, subjects: Lazy<IdVector>) {
    this.batch = batch
    this.#subjects = subjects
  }

  get subjects(): IdVector {
    return this.#subjects()
  }

  rows(rows: Uint32Array): Followed {
    if (rows.length === this.batch.size && isAll(rows)) return this
    const subjects = this.#subjects
    return new Followed(
      this.batch.rows(rows),
      once(() => gatherIds(subjects(), rows)),
    )
  }

  with(name: string, source: Vector | (() => Vector)): Followed {
    return new Followed(this.batch.with([[name, source]]), this.#subjects)
  }
}

type Lazy<Value> = () => Value

function once<Value extends object>(make: Lazy<Value>): Lazy<Value> {
  let made: Value | null = null
  return () => {
    made ??= make()
    return made
  }
}

function isAll(rows: Uint32Array): boolean {
  return rows.length === 0 || (rows[0] === 0 && rows[rows.length - 1] === rows.length - 1 && isRising(rows))
}

function isRising(rows: Uint32Array): boolean {
  for (let at = 1; at < rows.length; at++) if (rows[at] !== at) return false
  return true
}

export function gatherIds({ domain, ids, isWhole }: IdVector, rows: Uint32Array): IdVector {
  return { type: 'ids', domain, ids: gathered(ids, rows), ...(isWhole === true ? { isWhole } : {}) }
}

/** Links that only keep rows come first, then those that give one value a row. */
function ordered(links: readonly ColumnLink[], graph: GraphColumns, batch: Batch): readonly ColumnLink[] {
  if (links.length < 2) return links
  const weight = ({ predicate, object }: ColumnLink) => {
    if (isPosition(predicate)) return 1
    const column = graph.column(predicate)
    if (column === undefined) return -1
    if (object.type !== 'variable' || batch.has(object.name)) return 0
    return column.isComplete ? 3 : 2
  }
  return [...links].sort((a, b) => weight(a) - weight(b))
}

/** The row of a subject, or -1. */
export function rowFinder(column: Column): (subject: number) => number {
  if (column.isDense) return subject => subject
  const { rowNumbers } = column
  return subject => (rowNumbers[subject] as number) - 1
}

/** The codes of a column with one value a row, by the subjects of solutions; 0 for none. Shared where they are consecutive. */
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

/** A column whose codes are read where they are. */
interface DirectLink {
  readonly column: Column
  readonly name: string
}

/**
 * Of a scan, links to columns with one value and a row for each subject are apart: their codes are those of the subjects
 * without being copied, so conditions are tested on them before anything else is read.
 */
function parted(
  links: readonly ColumnLink[],
  graph: GraphColumns,
  { batch, subjects }: Followed,
): { readonly direct: readonly DirectLink[]; readonly others: readonly ColumnLink[] } {
  if (subjects.first === undefined) return { direct: [], others: links }
  const direct: DirectLink[] = []
  const others: ColumnLink[] = []
  for (const link of links) {
    const { predicate, object } = link
    const column = isPosition(predicate) ? undefined : graph.column(predicate)
    const name = object.type === 'variable' && !batch.has(object.name) ? object.name : null
    const isDirect = column?.isSingle === true && column.isDense && 2 * column.header.rows >= graph.subjects
    if (isDirect && name !== null && direct.every(each => each.name !== name)) direct.push({ column, name })
    else others.push(link)
  }
  return { direct, others }
}

/** The solutions with a value of a variable, whose vector has 0 for none. */
function withValue(name: string, found: Followed): Followed {
  const vector = found.batch.get(name) as IdVector
  const rows = rowsPresent(vector.ids)
  if (rows.length === vector.ids.length) return found.with(name, { ...vector, isWhole: true })
  return found.rows(rows).with(name, { ...vector, ids: gathered(vector.ids, rows), isWhole: true })
}

function single(graph: GraphColumns, column: Column, name: string, found: Followed): Followed {
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

/** The solutions whose subject has one value. */
function rowsWith(column: Column, subjects: IdVector, code: number): Uint32Array {
  if (code === 0) return new Uint32Array(0)
  const { ids } = subjects
  if (column.isSingle) return rowsEqual(codesOf(column, subjects), code)
  const rows = scratchUint32(ids.length)
  let count = 0
  const rowOf = rowFinder(column)
  for (let at = 0; at < ids.length; at++)
    if (hasCode(column, rowOf((ids[at] as number) - 1), code)) rows[count++] = at
  return rows.subarray(0, count)
}

/** The solutions whose subject has the value that is theirs. */
function rowsWithCodes(column: Column, subjects: IdVector, required: Uint32Array): Uint32Array {
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

/** The subjects of a vector in a graph, and the rows of which these are. */
export function subjectsIn(
  graph: GraphColumns,
  vector: Vector,
  size: number,
): { readonly rows: Uint32Array | null; readonly subjects: IdVector } {
  const domain = domainsOf(graph).subjects
  if (vector.type === 'ids' && vector.domain === domain && hasWholeValues(vector))
    return { rows: null, subjects: vector }
  const ids = vector.type === 'constant' ? constantIds(vector, graph, size) : translated(vector, domain, size)
  const rows = rowsPresent(ids)
  if (rows.length === size) return { rows: null, subjects: { type: 'ids', domain, ids } }
  return { rows, subjects: gatherIds({ type: 'ids', domain, ids }, rows) }
}

function constantIds(
  vector: Extract<Vector, { type: 'constant' }>,
  graph: GraphColumns,
  size: number,
): Uint32Array {
  const id = vector.id === 0 ? 0 : codeTranslator(vector.domain, domainsOf(graph).subjects)(vector.id)
  return new Uint32Array(size).fill(id)
}
