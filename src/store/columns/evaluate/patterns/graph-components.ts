import type { Node } from '../../../../sparql/algebra.ts'
import { type GraphColumns, shareSubjects } from '../../graph.ts'
import { overlapsBefore } from '../../resources.ts'
import { domainsOf } from '../evaluation.ts'
import { allRows, type Batch } from '../vectors/batch.ts'
import type { ColumnDomain } from '../vectors/domain.ts'
import { rowsInRange } from '../vectors/row-filters.ts'
import { codeTranslator, translated } from '../vectors/translate.ts'
import { idAt, type Vector } from '../vectors/vector.ts'
import { hasCode, rowFinder, subjectsIn } from './column-codes.ts'
import { type ColumnLink, hasPredicate } from './star.ts'

/**
 * Graphs that share subjects. The default graph is the merge of its graphs (SPARQL 1.1 Query, section 13.2): a star may have its
 * links in several graphs of one component, and a triple in two of them counts once.
 */
export type Component = readonly GraphColumns[]

/** The components of the graphs in which all predicates of a star occur. */
export function componentsOf(
  links: readonly ColumnLink[],
  graphs: readonly GraphColumns[],
): readonly Component[] {
  const predicates = links.map(({ predicate }) => predicate)
  const touched = graphs.filter(graph => predicates.some(predicate => hasPredicate(graph, predicate)))
  if (predicates.length === 1 && touched.length === 1) return [touched]
  return connected(touched).filter(component =>
    predicates.every(predicate => component.some(graph => hasPredicate(graph, predicate))),
  )
}

/** Partitions graphs so that no subject is in two partitions. */
export function connected(graphs: readonly GraphColumns[]): readonly Component[] {
  const overlapping = overlapsBefore(graphs.map(({ resources }) => resources))
  const partitionOf: (readonly number[])[] = []
  let partitions: (readonly number[])[] = []
  graphs.forEach((graph, at) => {
    const own = new Set<readonly number[]>()
    for (const other of overlapping[at] ?? []) {
      const partition = partitionOf[other] as readonly number[]
      if (!own.has(partition) && shareSubjects(graph, graphs[other] as GraphColumns)) own.add(partition)
    }
    const joined = own.size === 0 ? [at] : [...partitions.filter(each => own.has(each)).flat(), at]
    for (const member of joined) partitionOf[member] = joined
    if (own.size > 0) partitions = partitions.filter(each => !own.has(each))
    partitions.push(joined)
  })
  return partitions.map(partition => partition.map(at => graphs[at] as GraphColumns))
}

/** True where no triple can be in two graphs. */
export function areApart(graphs: readonly GraphColumns[]): boolean {
  return connected(graphs).every(({ length }) => length === 1)
}

/** The rows whose triple is in no earlier graph. */
export function rowsNotIn(
  earlier: readonly GraphColumns[],
  predicate: string,
  batch: Batch,
  subject: Vector,
  object: Vector,
): Uint32Array | null {
  let distinct: Uint32Array | null = null
  for (const graph of earlier) {
    const column = graph.column(predicate)
    if (column === undefined) continue
    const subjects = translated(subject, domainsOf(graph).subjects, batch.size)
    const codeOf = codeFinder(object, domainsOf(graph).of(column))
    const rowOf = rowFinder(column)
    const isDouble = (row: number): boolean => {
      const id = subjects[row] as number
      return id !== 0 && hasCode(column, rowOf(id - 1), codeOf(row))
    }
    const rows: Uint32Array = distinct ?? allRows(batch.size)
    distinct = rows.filter(row => !isDouble(row))
  }
  return distinct === null || distinct.length === batch.size ? null : distinct
}

/** The code of the term of a row in a column. */
function codeFinder(vector: Vector, column: ColumnDomain): (row: number) => number {
  if (vector.type === 'numbers') return () => 0
  const codeOf = codeTranslator(vector.domain, column)
  return row => codeOf(idAt(vector, row))
}

/** The predicates of a graph that triples with a subject and an object may have. */
export function predicatesOf(graph: GraphColumns, subject: Node, object: Node): readonly string[] {
  if (subject.type !== 'variable' && graph.subjectOf(subject) < 0) return []
  return graph.columns.flatMap(({ predicate, dictionary }) =>
    object.type === 'variable' || dictionary.find(object) > 0 ? [predicate] : [],
  )
}

/** The rows of a batch whose subject is one of a graph, which are found once for all predicates. */
export function aboutSubjects(component: Component, subject: Node, batch: Batch): Batch {
  const [graph, ...others] = component
  const vector = subject.type === 'variable' ? batch.get(subject.name) : undefined
  if (graph === undefined || others.length > 0 || subject.type !== 'variable' || vector?.type !== 'ids')
    return batch
  const { rows, subjects } = subjectsIn(graph, vector, batch.size)
  return (rows === null ? batch : batch.rows(rows)).with([[subject.name, subjects]])
}

/** The rows of a batch in which a variable has a given term. */
export function withTerm(batch: Batch, known: Vector, term: Vector): Batch {
  if (term.type !== 'constant') return batch
  const ids = translated(known, term.domain, batch.size)
  return batch.rows(rowsInRange(ids, term.id, term.id + 1, true, null))
}
