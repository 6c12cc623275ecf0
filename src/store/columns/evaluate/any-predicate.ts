import type { Node } from '../../../sparql/algebra.ts'
import type { GraphColumns } from '../graph.ts'
import type { Batch } from './batch.ts'
import { subjectsIn } from './column-codes.ts'
import type { Component } from './sources.ts'
import { translated } from './translate.ts'
import type { Vector } from './vector.ts'

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
  const rows = new Uint32Array(batch.size)
  let count = 0
  for (let row = 0; row < batch.size; row++) if (ids[row] === term.id) rows[count++] = row
  return batch.rows(rows.subarray(0, count))
}
