import type { GraphColumns } from '../graph.ts'
import type { Batch } from './batch.ts'
import { hasCode, rowFinder } from './column-codes.ts'
import { domainsOf } from './evaluation.ts'
import { type ColumnLink, hasPredicate } from './links.ts'
import { shareSubjects } from './shared-subjects.ts'
import { codeTranslator, translated } from './translate.ts'
import type { Vector } from './vector.ts'

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
  const components: GraphColumns[][] = []
  for (const graph of graphs) {
    const own = components.filter(component => component.some(other => shareSubjects(graph, other)))
    const rest = components.filter(component => !own.includes(component))
    components.length = 0
    components.push(...rest, [...own.flat(), graph])
  }
  return components
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
    const domain = domainsOf(graph).of(column)
    const rowOf = rowFinder(column)
    const isDouble = (row: number): boolean => {
      const id = subjects[row] as number
      if (id === 0) return false
      return hasCode(column, rowOf(id - 1), codeAt(object, row, domain))
    }
    const rows: Uint32Array = distinct ?? rowsOf(batch.size)
    distinct = rows.filter(row => !isDouble(row))
  }
  return distinct === null || distinct.length === batch.size ? null : distinct
}

function codeAt(vector: Vector, row: number, domain: ReturnType<ReturnType<typeof domainsOf>['of']>): number {
  if (vector.type === 'numbers') return 0
  const id = vector.type === 'constant' ? vector.id : (vector.ids[row] as number)
  return codeTranslator(vector.domain, domain)(id)
}

function rowsOf(size: number): Uint32Array {
  const rows = new Uint32Array(size)
  for (let row = 0; row < size; row++) rows[row] = row
  return rows
}
