import type {
  AggregateCall,
  AlgebraExpression,
  OperationOf,
  TriplePatternNode,
} from '../../../../sparql/algebra.ts'
import type { Column } from '../../column.ts'
import type { GraphColumns } from '../../graph.ts'
import { domainsOf, type Evaluation } from '../evaluation.ts'
import { rangeFor } from '../expressions/ranges.ts'
import {
  type CountedSource,
  countedBy,
  countedSource,
  countedTriples,
  threeVariables,
} from '../patterns/counted-triples.ts'
import { areApart } from '../patterns/graph-components.ts'
import { isPosition } from '../patterns/star.ts'
import type { EvaluationScope } from '../scope.ts'
import { Batch, numbersFrom } from '../vectors/batch.ts'
import { integers, type Vector } from '../vectors/vector.ts'

type Group = OperationOf<'group'>

/** The values of one column in solutions, one solution per triple. */
interface Counted {
  readonly graph: GraphColumns
  readonly column: Column
  readonly subject: string
  /** The variable of the values; null for a constant value. */
  readonly variable: string | null
  readonly from: number
  readonly to: number
}

/**
 * Counts groups without reading their solutions: those of all triples, or of all triples of a column whose values are in a range,
 * together or by value, from the offsets of the subjects of each value. Null for any other group.
 */
export function countedGroups(
  { input, keys, aggregates }: Group,
  { graphs, scalars }: Pick<EvaluationScope, 'graphs' | 'scalars'>,
  evaluation: Evaluation,
): readonly Batch[] | null {
  const source = countedSource(input, graphs, evaluation)
  const [key = null, ...others] = keys
  if (source === null || others.length > 0) return null
  const subjects = countedSubjects(source, key, aggregates, evaluation)
  if (subjects !== null || aggregates.length === 0) return subjects
  const counted =
    countedTriples(source, key, aggregates, evaluation, scalars) ??
    countedByValue(source, key, aggregates, evaluation)
  return counted && [counted]
}

/** The triples of a column, together or by value. */
function countedByValue(
  source: CountedSource,
  key: string | null,
  aggregates: Group['aggregates'],
  evaluation: Evaluation,
): Batch | null {
  const counted = countedValues(source)
  const [first, ...more] = counted ?? []
  if (counted === null || first === undefined) return null
  if (!aggregates.every(({ aggregate }) => isCount(aggregate, [first.subject, first.variable]))) return null
  if (key !== null && key !== first.variable) return null
  evaluation.columns.add(first.column.predicate)
  if (key === null) {
    const sum = counted.reduce((total, each) => total + countBetween(each), 0)
    return counts(Float64Array.of(sum), [], aggregates)
  }
  const own = countedCodes(first, evaluation)
  if (more.length === 0) {
    const domain = domainsOf(first.graph).of(first.column)
    return counts(own.values, [[key, { type: 'ids', domain, ids: own.ids }]], aggregates)
  }
  const { pool } = evaluation
  const codes = counted.reduce((total, { from, to }) => total + to - from, 0)
  const sums = new Float64Array(pool.size + codes + 1)
  evaluation.allocate(sums.byteLength)
  for (const each of counted) {
    const { ids, values } = countedCodes(each, evaluation)
    const domain = domainsOf(each.graph).of(each.column)
    for (let at = 0; at < ids.length; at++) {
      const id = pool.internOf(domain, ids[at] as number)
      sums[id] = (sums[id] as number) + (values[at] as number)
      evaluation.advance(8)
    }
  }
  const ids = numbersFrom(0, sums.length).filter(id => sums[id] !== 0)
  const values = Float64Array.from(ids, id => sums[id] as number)
  return counts(values, [[key, { type: 'ids', domain: pool, ids }]], aggregates)
}

/** The number of triples of each value of a column, for values that have any. */
function countedCodes({ column, from, to }: Counted, evaluation: Evaluation) {
  const { starts } = column.postings
  const ids = new Uint32Array(Math.max(0, to - from))
  const values = new Float64Array(ids.length)
  let count = 0
  for (let code = from; code < to; code++) {
    const triples = (starts[code + 1] as number) - (starts[code] as number)
    if (triples === 0) continue
    ids[count] = code
    values[count++] = triples
  }
  evaluation.advance(ids.length)
  return { ids: ids.subarray(0, count), values: values.subarray(0, count) }
}

function counts(
  values: Float64Array,
  keys: readonly (readonly [string, Vector])[],
  aggregates: Group['aggregates'],
): Batch {
  const vector = integers(values)
  return new Batch(
    values.length,
    new Map<string, Vector>([...keys, ...aggregates.map(({ variable }) => [variable, vector] as const)]),
  )
}

function countBetween({ column, from, to }: Counted): number {
  if (to <= from) return 0
  if (from <= 1 && to > column.dictionary.count) return column.header.triples
  const { starts } = column.postings
  return (starts[to] as number) - (starts[from] as number)
}

/** COUNT of all solutions, or of a variable that all of them bind. */
function isCount({ name, distinct, operand }: AggregateCall, bound: readonly (string | null)[]): boolean {
  if (name !== 'COUNT' || distinct) return false
  return operand === null || (operand.type === 'variable' && bound.includes(operand.name))
}

/** Parses an operation as one pattern with conditions on its value, in each graph that has it; null for any other. */
function countedValues({ operation, conditions, graphs }: CountedSource): readonly Counted[] | null {
  if (operation.type !== 'bgp') return null
  const pattern = solePattern(operation.patterns, graphs)
  if (pattern?.predicate.type !== 'iri' || pattern.subject.type !== 'variable') return null
  const { subject, predicate, object } = pattern
  if (object.type === 'variable' && object.name === subject.name) return null
  const found: Counted[] = []
  for (const graph of graphs) {
    const column = graph.column(predicate.value)
    if (column === undefined) continue
    const range = rangeIn(graph, column, object, conditions)
    if (range === null) return null
    const variable = object.type === 'variable' ? object.name : null
    found.push({ graph, column, subject: subject.name, variable, ...range })
  }
  return found.length === 1 || areApart(found.map(({ graph }) => graph)) ? found : null
}

function rangeIn(
  graph: GraphColumns,
  column: Column,
  object: TriplePatternNode['object'],
  conditions: readonly AlgebraExpression[],
): Pick<Counted, 'from' | 'to'> | null {
  if (object.type !== 'variable') {
    const code = column.dictionary.find(object)
    return conditions.length > 0 ? null : { from: code, to: code === 0 ? 0 : code + 1 }
  }
  let [from, to] = [1, column.dictionary.count + 1]
  for (const condition of conditions) {
    const range = rangeFor(object.name, condition, domainsOf(graph).of(column))
    if (range === null) return null
    from = Math.max(from, range.from)
    to = Math.min(to, range.to)
  }
  return { from, to }
}

/** The only pattern, apart from one for the position of its subject, which every subject of a graph has once. */
function solePattern(
  patterns: readonly TriplePatternNode[],
  graphs: readonly GraphColumns[],
): TriplePatternNode | null {
  const [first] = patterns
  if (first?.subject.type !== 'variable') return null
  const { name } = first.subject
  const about = patterns.filter(({ subject }) => subject.type === 'variable' && subject.name === name)
  const [pattern, ...others] = about.filter(
    ({ predicate }) => !(predicate.type === 'iri' && isPosition(predicate.value)),
  )
  const positions = about.flatMap(({ predicate, object }) =>
    predicate.type === 'iri' && isPosition(predicate.value) ? [object] : [],
  )
  if (about.length < patterns.length || pattern === undefined || others.length > 0) return null
  const names = [name, pattern.object.type === 'variable' ? pattern.object.name : null]
  const areFree = positions.every(object => object.type === 'variable' && !names.includes(object.name))
  return areFree && positions.length <= (graphs.length === 1 ? 1 : 0) ? pattern : null
}

/**
 * Counts the triples of each subject, or its distinct predicates, in graphs without common subjects: a batch for each graph, so
 * that no subject is compared with others. Null for any other group.
 */
function countedSubjects(
  { operation, conditions, graphs }: CountedSource,
  key: string | null,
  aggregates: Group['aggregates'],
  evaluation: Evaluation,
): readonly Batch[] | null {
  const names = threeVariables(operation)
  if (names === null || key !== names.subject || conditions.length > 0) return null
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
