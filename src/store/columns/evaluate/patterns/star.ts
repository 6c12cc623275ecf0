import { LODESTONE } from '../../../../rdf/vocab.ts'
import type { AlgebraExpression, Node, TriplePatternNode } from '../../../../sparql/algebra.ts'
import type { Column } from '../../column.ts'
import type { GraphColumns } from '../../graph.ts'
import { domainsOf, type Evaluation } from '../evaluation.ts'
import type { Filter } from '../expressions/filter.ts'
import { allRows, type Batch } from '../vectors/batch.ts'
import { rowsPresentInAll } from '../vectors/row-filters.ts'
import { translated } from '../vectors/translate.ts'
import type { IdVector, Vector } from '../vectors/vector.ts'
import { codesOf, expandedRows, gatherIds, rowsWith, rowsWithCodes } from './column-codes.ts'

/** A triple pattern of a star with a constant predicate. */
export interface ColumnLink {
  readonly predicate: string
  readonly object: Node
}

export function linkOf({ predicate, object }: TriplePatternNode): ColumnLink | null {
  return predicate.type === 'iri' ? { predicate: predicate.value, object } : null
}

/** The predicate that every subject has: its position in source order. */
export function isPosition(predicate: string): boolean {
  return predicate === LODESTONE.position
}

/** True where a graph has a predicate. */
export function hasPredicate(graph: GraphColumns, predicate: string): boolean {
  return isPosition(predicate) || graph.column(predicate) !== undefined
}

/** Conditions that are pending until their variables are bound. */
export class PendingFilters {
  private waiting: { readonly condition: AlgebraExpression; readonly variables: ReadonlySet<string> }[]

  constructor(
    conditions: readonly { readonly condition: AlgebraExpression; readonly variables: ReadonlySet<string> }[],
  ) {
    this.waiting = [...conditions]
  }

  /** Returns and removes the conditions whose variables are all bound. */
  take(has: (variable: string) => boolean): readonly AlgebraExpression[] {
    const ready = this.waiting.filter(({ variables }) => [...variables].every(has))
    if (ready.length > 0) this.waiting = this.waiting.filter(each => !ready.includes(each))
    return ready.map(({ condition }) => condition)
  }

  copy(): PendingFilters {
    return new PendingFilters(this.waiting)
  }
}

/** Follows the links of a star within one graph, for known subjects. */
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
      this.evaluation.columns.add(column.predicate)
      found = withColumn(graph, column, name, found)
    }
    for (const link of ordered(others, graph, found.batch)) {
      if (found.batch.size === 0) break
      this.evaluation.advance(found.batch.size)
      if (isPosition(link.predicate)) {
        const { size } = found.batch
        found = this.followPosition(graph, link, found)
        // Every subject has a position: only a required one removes rows.
        if (found.batch.size < size) selections?.end()
        ready()
        continue
      }
      selections?.end()
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
      } else if (column.isSingle) {
        found = withColumn(graph, column, object.name, found)
        if (!column.isComplete) found = withValues([object.name], found)
      } else {
        several.push(link)
        continue
      }
      ready()
    }
    ready()
    const partial = direct.filter(({ column }) => !column.isComplete)
    if (partial.length > 0 && found.batch.size > 0)
      found = withValues(
        partial.map(({ name }) => name),
        found,
      )
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

  /** The solutions of a batch that satisfy the conditions on bound variables. */
  tested(batch: Batch, filters: PendingFilters): Batch {
    return this.filter.filtered(
      filters.take(name => batch.has(name)),
      batch,
    )
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
    const { rows, values } = expandedRows(column, found.subjects.ids, false, this.evaluation)
    return found.rows(rows).with(name, { type: 'ids', domain: domainsOf(graph).of(column), ids: values })
  }
}

/** Links that only filter rows come first, then those with one value per row. */
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

/** A column whose codes are read in place. */
interface DirectLink {
  readonly column: Column
  readonly name: string
}

/**
 * Separates, for a scan, links to columns with one value and a row for each subject: their codes are indexed by subject without
 * copying, so conditions on them are tested before anything else is read.
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
    const isDirect = column?.isSingle === true && column.isDense && 3 * column.header.rows >= graph.subjects
    if (isDirect && name !== null && direct.every(each => each.name !== name)) direct.push({ column, name })
    else others.push(link)
  }
  return { direct, others }
}

/** Solutions and their subjects. */
class Followed {
  readonly batch: Batch
  /** The solutions of which these are some, with the same variables; null where they are none of others. */
  readonly selection: { readonly of: Followed; readonly rows: Uint32Array } | null
  private readonly lazySubjects: Lazy<IdVector>

  constructor(batch: Batch, subjects: Lazy<IdVector>, selection: Followed['selection'] = null) {
    this.batch = batch
    this.lazySubjects = subjects
    this.selection = selection
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
      { of: this, rows },
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

/** True for the numbers 0, 1, 2 … */
function isAll(rows: Uint32Array): boolean {
  if (rows.length > 0 && rows.at(-1) !== rows.length - 1) return false
  for (let at = 0; at < rows.length; at++) if (rows[at] !== at) return false
  return true
}

/** The solutions with a value of each of some variables, whose vectors have 0 for none. */
function withValues(names: readonly string[], found: Followed): Followed {
  // The vectors are read once, for the rows that remain.
  const { of, rows: some } = found.selection ?? { of: found, rows: null }
  const vectors = names.map(name => of.batch.get(name) as IdVector)
  const rows = rowsPresentInAll(
    vectors.map(({ ids }) => ids),
    some,
  )
  const whole = vectors.map(vector => ({ ...vector, isWhole: true }))
  return names.reduce((all, name, at) => all.with(name, whole[at] as IdVector), of).rows(rows)
}

/** The solutions with the codes of a column with one value: 0 for subjects without any. */
function withColumn(graph: GraphColumns, column: Column, name: string, found: Followed): Followed {
  return found.with(name, () => ({
    type: 'ids',
    domain: domainsOf(graph).of(column),
    ids: codesOf(column, found.subjects),
    isWhole: column.isComplete,
  }))
}
