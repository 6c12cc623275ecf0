import type { SparqlOperation } from '../../../sparql/algebra.ts'
import type { GraphColumns } from '../graph.ts'
import { Batch } from './batch.ts'
import { areApart, countedBy, threeVariables, unfiltered } from './counted-triples.ts'
import { domainsOf, type Evaluation } from './evaluation.ts'
import { integers, type Vector } from './vector.ts'

type Group = Extract<SparqlOperation, { type: 'group' }>

/**
 * Counts the triples of each subject, or its distinct predicates, in graphs without common subjects: a batch for each graph, so
 * that no subject is compared with others. Null for any other group.
 */
export function countedSubjects(
  { input, keys, aggregates }: Pick<Group, 'input' | 'keys' | 'aggregates'>,
  graphs: readonly GraphColumns[],
  evaluation: Evaluation,
): readonly Batch[] | null {
  if (input.type === 'graph') {
    const named = input.name.type === 'iri' ? evaluation.dataset.namedGraphs.get(input.name.value) : undefined
    if (named === undefined) return null
    return countedSubjects({ input: input.input, keys, aggregates }, named, evaluation)
  }
  const [triples, conditions] = unfiltered(input)
  const names = threeVariables(triples)
  const [key, ...others] = keys
  if (names === null || key !== names.subject || others.length > 0 || conditions.length > 0) return null
  const counted = aggregates.map(({ aggregate }) => countedBy(aggregate, names))
  if (!counted.every(each => each === 'triples' || each === 'predicate') || !areApart(graphs)) return null
  return graphs.map(graph => {
    const ids = subjectsWithTriples(graph)
    evaluation.allocate(ids.byteLength + 8 * ids.length * aggregates.length)
    evaluation.advance(graph.subjects)
    const subjects: Vector = { type: 'ids', domain: domainsOf(graph).subjects, ids }
    const counts = aggregates.map(({ variable }, at) => {
      const all = counted[at] === 'triples' ? triplesBySubject(graph) : predicatesBySubject(graph, evaluation)
      const values = Float64Array.from(ids, id => all[id - 1] as number)
      return [variable, integers(values)] as const
    })
    return new Batch(ids.length, new Map<string, Vector>([[key, subjects], ...counts]))
  })
}

/** Numbers of the subjects that have triples, starting at 1. */
function subjectsWithTriples(graph: GraphColumns): Uint32Array {
  const { subjects } = graph
  const ids = new Uint32Array(subjects)
  let count = 0
  for (let subject = 0; subject < subjects; subject++)
    if (graph.hasTriples(subject)) ids[count++] = subject + 1
  return ids.subarray(0, count)
}

function triplesBySubject({ tripleEnds }: GraphColumns): Float64Array {
  const counts = new Float64Array(tripleEnds.length)
  for (let subject = 0, before = 0; subject < counts.length; subject++) {
    const end = tripleEnds[subject] as number
    counts[subject] = end - before
    before = end
  }
  return counts
}

function predicatesBySubject(graph: GraphColumns, evaluation: Evaluation): Float64Array {
  const counts = new Float64Array(graph.subjects)
  for (const column of graph.columns) {
    evaluation.advance(column.rows)
    for (let row = 0; row < column.rows; row++) {
      const subject = column.subjectOf(row)
      if (column.endOf(row) > column.startOf(row)) counts[subject] = (counts[subject] as number) + 1
    }
  }
  return counts
}
