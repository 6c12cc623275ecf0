import { type SparqlOperation, variablesOfExpression } from '../../../sparql/algebra.ts'
import type { Batch } from './batch.ts'
import type { Evaluation } from './evaluation.ts'
import { isStable } from './functions/builtins.ts'
import { partsOf } from './operation-parts.ts'
import type { EvaluationScope } from './scope.ts'
import { identified, translated } from './translate.ts'
import { hasWholeValues, type Vector } from './vector.ts'

/** Triples that are read without regard to the rows at hand, at most so many times the number of these: reading on costs less than looking up. */
const TRIPLES_PER_ROW = 4

/**
 * For each row whether a group has a solution with its subject, where nothing else of the row is read within: the group is
 * evaluated once by itself. Null for other groups, and where that would take longer than to look for the subjects at hand.
 *
 * @param whole the solutions of the group by itself
 */
export function existsOfSubject(
  group: SparqlOperation,
  batch: Batch,
  outer: EvaluationScope,
  evaluation: Evaluation,
  whole: () => Batch,
): Uint8Array | null {
  const subject = subjectAlone(group, batch, outer)
  if (subject === null || !isQuick(group, batch, outer)) return null
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

/** The one subject of the patterns of a group that reads nothing else of the rows that it is tested for; null for others. */
function subjectAlone(input: SparqlOperation, batch: Batch, { substituted }: EvaluationScope): string | null {
  const { patterns, paths, others, filters } = partsOf(input)
  const [first] = patterns
  if (first?.subject.type !== 'variable' || paths.length + others.length > 0 || !filters.every(isStable))
    return null
  const { name } = first.subject
  const isStar = patterns.every(
    ({ subject, predicate }) =>
      subject.type === 'variable' && subject.name === name && predicate.type === 'iri',
  )
  const isAlone = [...variablesOfExpression({ type: 'exists', negated: false, input })].every(
    each => each === name || !(batch.has(each) || substituted.has(each)),
  )
  return isStar && isAlone && batch.has(name) && hasWholeValues(batch.get(name) as Vector) ? name : null
}

function isQuick(input: SparqlOperation, batch: Batch, { patterns }: EvaluationScope): boolean {
  let triples = 0
  for (const pattern of partsOf(input).patterns)
    triples += patterns.count(pattern) ?? Number.POSITIVE_INFINITY
  return triples <= TRIPLES_PER_ROW * batch.size
}
