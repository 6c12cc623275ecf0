import { memoised } from '../../../../model/memoised.ts'
import {
  type AggregateCall,
  type AlgebraExpression,
  conjuncts,
  type OperationOf,
  type SparqlOperation,
  variablesOfExpression,
} from '../../../../sparql/algebra.ts'
import type { Column } from '../../column.ts'
import type { GraphColumns } from '../../graph.ts'
import { domainsOf, type Evaluation } from '../evaluation.ts'
import { isOfKind, valueByKind } from '../expressions/kinds.ts'
import type { ScalarCompiler } from '../expressions/scalar.ts'
import { HOLDS, truthOf } from '../expressions/truths.ts'
import { Batch } from '../vectors/batch.ts'
import { integers, type Vector } from '../vectors/vector.ts'
import { type ColumnOfGraph, distinctObjects, ones } from './distinct-objects.ts'
import { connected } from './graph-components.ts'

type Aggregates = OperationOf<'group'>['aggregates']

/** What is counted: triples, or the distinct terms of one position. */
type Counted = 'triples' | Distinct

type Distinct = 'subject' | 'predicate' | 'object'

/**
 * Counts all triples, their distinct subjects, predicates and objects, together or by predicate: from the headers of columns and
 * from their dictionaries, without reading triples. The triples may be restricted by the kind of their object. Null for any other
 * group.
 *
 * @param key the variable of the groups; null without GROUP BY
 */
export function countedTriples(
  { operation, conditions, graphs }: CountedSource,
  key: string | null,
  aggregates: Aggregates,
  evaluation: Evaluation,
  scalars: ScalarCompiler,
): Batch | null {
  const names = threeVariables(operation)
  if (names === null || (key !== null && key !== names.predicate)) return null
  const isOfObject = (condition: AlgebraExpression) =>
    isOfKind(condition) && [...variablesOfExpression(condition)].every(name => name === names.object)
  if (!conditions.every(isOfObject)) return null
  const required = aggregates.map(({ aggregate }) => countedBy(aggregate, names))
  if (required.includes(null) || (conditions.length > 0 && required.some(each => each !== 'triples')))
    return null
  if (!areApart(graphs)) return null
  const all = columnsOf(graphs)
  const triplesOf =
    conditions.length === 0
      ? null
      : new Map(all.map(each => [each.column, triplesWith(conditions, each, evaluation, scalars)]))
  const triples = ({ column }: ColumnOfGraph) => triplesOf?.get(column) ?? column.header.triples
  const groups = new Map<string | null, ColumnOfGraph[]>(key === null ? [[null, all]] : [])
  if (key !== null)
    for (const each of all)
      if (triples(each) > 0) memoised(groups, each.column.predicate, () => []).push(each)
  const counts = Array.from(groups.values(), columns =>
    required.map(each =>
      each === 'triples' ? sum(columns, triples) : countIn(columns, each as Distinct, evaluation),
    ),
  )
  const { pool } = evaluation
  const ids = Uint32Array.from(groups.keys(), value =>
    value === null ? 0 : pool.intern({ type: 'iri', value }),
  )
  const keys: [string, Vector][] = key === null ? [] : [[key, { type: 'ids', domain: pool, ids }]]
  const vectors = aggregates.map(
    ({ variable }, at) => [variable, integers(Float64Array.from(counts, row => row[at] ?? 0))] as const,
  )
  return new Batch(counts.length, new Map<string, Vector>([...keys, ...vectors]))
}

function columnsOf(graphs: readonly GraphColumns[]): ColumnOfGraph[] {
  return graphs
    .flatMap(graph => graph.columns.map(column => ({ graph, column })))
    .filter(({ column }) => column.header.triples > 0)
}

function sum<Some>(some: readonly Some[], count: (each: Some) => number): number {
  return some.reduce((total, each) => total + count(each), 0)
}

/** The operation whose solutions are counted, the conditions around it, and the graphs over which it is evaluated. */
export interface CountedSource {
  readonly operation: SparqlOperation
  readonly conditions: readonly AlgebraExpression[]
  readonly graphs: readonly GraphColumns[]
}

/** Parses the input of a group; null for a graph that is not one of the query. */
export function countedSource(
  input: SparqlOperation,
  graphs: readonly GraphColumns[],
  evaluation: Evaluation,
): CountedSource | null {
  if (input.type === 'graph') {
    const named = input.name.type === 'iri' ? evaluation.dataset.namedGraphs.get(input.name.value) : undefined
    return named === undefined ? null : countedSource(input.input, named, evaluation)
  }
  if (input.type === 'join' && input.inputs.length === 1)
    return countedSource(input.inputs[0] as SparqlOperation, graphs, evaluation)
  if (input.type !== 'filter') return { operation: input, conditions: [], graphs }
  const inner = countedSource(input.input, graphs, evaluation)
  return inner && { ...inner, conditions: [...inner.conditions, ...conjuncts(input.condition)] }
}

/** Triples of a column whose object is of the kind that conditions require. */
function triplesWith(
  conditions: readonly AlgebraExpression[],
  { graph, column }: ColumnOfGraph,
  evaluation: Evaluation,
  scalars: ScalarCompiler,
): number {
  const domain = domainsOf(graph).of(column)
  const truths = conditions.map(condition =>
    evaluation.memo('kinds', condition, domain, () => valueByKind(condition, domain, scalars, truthOf)),
  )
  if (truths.some(({ ofAll }) => ofAll !== null && ofAll !== HOLDS)) return 0
  const open = truths.filter(({ ofAll }) => ofAll === null)
  if (open.length === 0) return column.header.triples
  const { codes } = column
  evaluation.advance(codes.length)
  const holds = new Uint8Array(column.dictionary.count + 1)
  for (let code = 1; code < holds.length; code++)
    holds[code] = open.every(({ at }) => at(code) === HOLDS) ? 1 : 0
  let count = 0
  for (let at = 0; at < codes.length; at++) count += holds[codes[at] as number] as number
  return count
}

/** True where no triple can be in two graphs. */
export function areApart(graphs: readonly GraphColumns[]): boolean {
  return connected(graphs).every(({ length }) => length === 1)
}

/** The variables of a single pattern of three different variables. */
export function threeVariables(operation: SparqlOperation) {
  const [pattern, ...others] = operation.type === 'bgp' ? operation.patterns : []
  if (pattern === undefined || others.length > 0) return null
  const { subject, predicate, object } = pattern
  if (subject.type !== 'variable' || predicate.type !== 'variable' || object.type !== 'variable') return null
  const names = { subject: subject.name, predicate: predicate.name, object: object.name }
  return new Set(Object.values(names)).size === 3 ? names : null
}

/** What an aggregate over a pattern of three variables counts; null for other aggregates. */
export function countedBy(
  { name, distinct, operand }: AggregateCall,
  names: NonNullable<ReturnType<typeof threeVariables>>,
): Counted | null {
  if (name !== 'COUNT') return null
  if (operand === null) return distinct ? null : 'triples'
  const place = (['subject', 'predicate', 'object'] as const).find(
    each => operand.type === 'variable' && operand.name === names[each],
  )
  return place === undefined ? null : distinct ? place : 'triples'
}

/** The number of distinct terms in the triples of columns of graphs without common subjects. */
function countIn(columns: readonly ColumnOfGraph[], counted: Distinct, evaluation: Evaluation): number {
  switch (counted) {
    case 'subject':
      return sum([...new Set(columns.map(({ graph }) => graph))], graph =>
        distinctSubjects(
          columns.filter(each => each.graph === graph).map(({ column }) => column),
          graph.subjects,
          evaluation,
        ),
      )
    case 'predicate':
      return new Set(columns.map(({ column }) => column.predicate)).size
    case 'object':
      return distinctObjects(columns, evaluation)
  }
}

function distinctSubjects(columns: readonly Column[], subjects: number, evaluation: Evaluation): number {
  const [only, ...others] = columns
  if (only === undefined || others.length === 0) return only?.header.rows ?? 0
  if (columns.some(column => column.isComplete)) return subjects
  const hasTriple = new Uint8Array(subjects)
  for (const column of columns) {
    evaluation.advance(column.rows)
    for (let row = 0; row < column.rows; row++)
      if (column.endOf(row) > column.startOf(row)) hasTriple[column.subjectOf(row)] = 1
  }
  return ones(hasTriple)
}
