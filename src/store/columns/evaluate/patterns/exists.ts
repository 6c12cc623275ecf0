import {
  type SparqlOperation,
  type TriplePatternNode,
  variablesOfExpression,
} from '../../../../sparql/algebra.ts'
import type { Evaluation } from '../evaluation.ts'
import { isStable } from '../functions/builtins.ts'
import type { EvaluationScope, Graphs } from '../scope.ts'
import type { Batch } from '../vectors/batch.ts'
import { identified, translated } from '../vectors/translate.ts'
import { hasWholeValues, type Vector } from '../vectors/vector.ts'
import { codesOf, countsOf, subjectsIn } from './column-codes.ts'
import { partsOf } from './operation-parts.ts'
import { isPosition } from './star.ts'

/** Maximum number of triples per row that are read independently of the rows: reading sequentially costs less than looking up. */
const TRIPLES_PER_ROW = 4

/**
 * For each row whether a group has a solution with its subject, where the group reads no other variable of the row: the group is
 * evaluated once, independently. Null for other groups, and where that would cost more than looking up the subjects of the batch.
 *
 * @param whole the solutions of the group on its own
 */
export function existsOfSubject(
  group: SparqlOperation,
  batch: Batch,
  outer: EvaluationScope,
  evaluation: Evaluation,
  whole: () => Batch,
): Uint8Array | null {
  const subject = subjectAlone(group, batch, outer)
  if (subject === null) return null
  const predicate = anyValueOf(group, subject)
  if (predicate !== null) return having(predicate, batch.get(subject) as Vector, batch.size, outer.graphs)
  if (!isQuick(group, batch, outer)) return null
  const found = whole()
  const mask = new Uint8Array(batch.size)
  const inner = found.size === 0 ? undefined : found.get(subject)
  if (inner === undefined) return mask
  const { ids, domain } = identified(inner, found.size, evaluation)
  const isThere = new Uint8Array(domain.size + 1)
  for (let row = 0; row < found.size; row++) isThere[ids[row] as number] = 1
  isThere[0] = 0
  const own = translated(batch.get(subject) as Vector, domain, batch.size)
  for (let row = 0; row < mask.length; row++) mask[row] = isThere[own[row] as number] as number
  return mask
}

/** The single subject of the patterns of a group that reads no other variable of the tested rows; null for others. */
function subjectAlone(input: SparqlOperation, batch: Batch, { substituted }: EvaluationScope): string | null {
  const { patterns, paths, others, filters } = partsOf(input)
  const [first] = patterns
  if (first?.subject.type !== 'variable' || paths.length + others.length > 0 || !filters.every(isStable))
    return null
  const { name } = first.subject
  const isStar = patterns.every(
    ({ subject, predicate }) =>
      subject.type === 'variable' &&
      subject.name === name &&
      (predicate.type === 'iri' || anyValueOf(input, name) !== null),
  )
  const isAlone = [...variablesOfExpression({ type: 'exists', negated: false, input })].every(
    each => each === name || !(batch.has(each) || substituted.has(each)),
  )
  return isStar && isAlone && batch.has(name) && hasWholeValues(batch.get(name) as Vector) ? name : null
}

/** The predicate of a group that tests for any value of it, or the variable of one that tests for any triple; null for other groups. */
function anyValueOf(input: SparqlOperation, subject: string): TriplePatternNode['predicate'] | null {
  const { patterns, filters } = partsOf(input)
  const [pattern] = patterns
  if (pattern === undefined || patterns.length > 1 || filters.length > 0) return null
  const { predicate, object } = pattern
  if (object.type !== 'variable' || object.name === subject) return null
  const isOther = predicate.type === 'variable' && ![subject, object.name].includes(predicate.name)
  return predicate.type === 'iri' || isOther ? predicate : null
}

/** Marks the subjects that have a value of a predicate, or of any. */
function having(
  predicate: TriplePatternNode['predicate'],
  vector: Vector,
  size: number,
  graphs: Graphs,
): Uint8Array {
  const mask = new Uint8Array(size)
  for (const graph of graphs) {
    const isAny = predicate.type !== 'iri' || isPosition(predicate.value)
    const column = isAny ? null : graph.column(predicate.value)
    if (column === undefined) continue
    const { rows, subjects } = subjectsIn(graph, vector, size)
    const counts =
      column === null
        ? subjects.ids.map(id => Number(graph.hasTriples(id - 1)))
        : column.isSingle
          ? codesOf(column, subjects)
          : countsOf(column, subjects)
    for (let at = 0; at < counts.length; at++)
      if (counts[at] !== 0) mask[rows === null ? at : (rows[at] as number)] = 1
  }
  return mask
}

function isQuick(input: SparqlOperation, batch: Batch, { patterns }: EvaluationScope): boolean {
  let triples = 0
  for (const pattern of partsOf(input).patterns)
    triples += patterns.count(pattern) ?? Number.POSITIVE_INFINITY
  return triples <= TRIPLES_PER_ROW * batch.size
}
