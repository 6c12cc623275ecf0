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
import type { Dictionary } from '../../dictionary.ts'
import type { DictionarySection } from '../../dictionary-parts.ts'
import type { GraphColumns } from '../../graph.ts'
import { domainsOf, type Evaluation } from '../evaluation.ts'
import { isOfKind, valueByKind } from '../expressions/kinds.ts'
import type { ScalarCompiler } from '../expressions/scalar.ts'
import { HOLDS, truthOf } from '../expressions/truths.ts'
import { Batch } from '../vectors/batch.ts'
import type { Domain } from '../vectors/domain.ts'
import { PoolDomain } from '../vectors/pool-domain.ts'
import { integers, type Vector } from '../vectors/vector.ts'
import { areApart } from './graph-components.ts'

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

/** A column and its graph. */
export interface ColumnOfGraph {
  readonly graph: GraphColumns
  readonly column: Column
}

type TakeIn = (domain: Domain, isTaken: Uint8Array, from: number, to: number) => void

/** The codes of a dictionary that are in use. */
interface UsedCodes extends ColumnOfGraph {
  readonly isUsed: Uint8Array
}

/** The number of distinct values of columns: values that can only be in one dictionary or graph are not compared with others. */
export function distinctObjects(columns: readonly ColumnOfGraph[], evaluation: Evaluation): number {
  const used = usedCodes(columns, evaluation)
  const [first, ...more] = used.values()
  if (first === undefined || more.length === 0) return first === undefined ? 0 : ones(first.isUsed)
  let bytes = 0
  const pool = new PoolDomain(more => {
    bytes += more
    evaluation.allocate(more)
  })
  /** Adds some terms of a domain to the pool. */
  const takeIn: TakeIn = (domain, isTaken, from, to) => {
    for (let id = from; id < to; id++) {
      if (isTaken[id] === 0) continue
      evaluation.advance(16)
      pool.internOf(domain, id)
    }
  }
  const own = distinctResources(used, takeIn) + distinctLiterals(used, takeIn)
  const count = own + pool.size
  evaluation.release(bytes)
  return count
}

/** A dictionary may also have values of other columns. */
function usedCodes(
  columns: readonly ColumnOfGraph[],
  evaluation: Evaluation,
): ReadonlyMap<Dictionary, UsedCodes> {
  const used = new Map<Dictionary, UsedCodes>()
  for (const { graph, column } of columns) {
    const { codes, dictionary } = column
    const isUsed = used.get(dictionary)?.isUsed ?? new Uint8Array(dictionary.count + 1)
    evaluation.advance(codes.length)
    for (let at = 0; at < codes.length; at++) isUsed[codes[at] as number] = 1
    isUsed[0] = 0
    used.set(dictionary, { graph, column, isUsed })
  }
  return used
}

/** Counts the resources of graphs that share none with others; those of other graphs are added to the pool. */
function distinctResources(used: ReadonlyMap<Dictionary, UsedCodes>, takeIn: TakeIn): number {
  const objects = new Map<GraphColumns, Uint8Array>()
  for (const [{ parts }, { graph, isUsed }] of used)
    for (const part of parts) {
      if (part.kind !== 'resource') continue
      const isObject = objects.get(graph) ?? new Uint8Array(graph.resources.count + 1)
      for (let at = 0; at < part.count; at++)
        if (isUsed[part.first + at] === 1) isObject[part.ids[at] as number] = 1
      objects.set(graph, isObject)
    }
  let count = 0
  for (const [graph, isObject] of objects) {
    const isShared = [...objects.keys()].some(
      other => other !== graph && other.resources.overlaps(graph.resources),
    )
    if (isShared) takeIn(domainsOf(graph).resources, isObject, 1, isObject.length)
    else count += ones(isObject)
  }
  return count
}

/** Counts literals in the same way, by part of a dictionary. */
function distinctLiterals(used: ReadonlyMap<Dictionary, UsedCodes>, takeIn: TakeIn): number {
  let count = 0
  for (const [dictionary, { graph, column, isUsed }] of used)
    for (const part of dictionary.parts) {
      if (part.kind === 'resource') continue
      const end = part.first + part.count
      const isShared = [...used.keys()].some(
        ({ parts }) => parts !== dictionary.parts && parts.some(other => canShare(part, other)),
      )
      if (isShared) takeIn(domainsOf(graph).of(column), isUsed, part.first, end)
      else count += ones(isUsed.subarray(part.first, end))
    }
  return count
}

/** False for parts that have no literal in common. */
function canShare(part: DictionarySection, other: DictionarySection): boolean {
  if (part.kind === 'other' || other.kind === 'other') return other.kind !== 'resource'
  if (part.kind !== other.kind) return false
  return (
    !('datatypes' in part && 'datatypes' in other) ||
    part.datatypes.some(each => other.datatypes.includes(each))
  )
}

/** The number of flags that are set. */
export function ones(flags: Uint8Array): number {
  let count = 0
  for (let at = 0; at < flags.length; at++) count += flags[at] as number
  return count
}
