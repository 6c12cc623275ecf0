import { termText } from '../../src/rdf/ntriples.ts'
import type { AlgebraExpression, SparqlOperation, TriplePatternNode } from '../../src/sparql/algebra.ts'
import { parseQuery } from '../../src/sparql/parse.ts'
import { Evaluation } from '../../src/store/columns/evaluate/evaluation.ts'
import { Filter } from '../../src/store/columns/evaluate/expressions/filter.ts'
import { NumberKernels } from '../../src/store/columns/evaluate/expressions/numbers.ts'
import { ScalarCompiler } from '../../src/store/columns/evaluate/expressions/scalar.ts'
import { planBlock } from '../../src/store/columns/evaluate/patterns/join-order.ts'
import { PatternMatcher } from '../../src/store/columns/evaluate/patterns/pattern-matcher.ts'
import { UNIT_BATCH } from '../../src/store/columns/evaluate/vectors/batch.ts'
import { type TermValue, termOf } from '../../src/store/columns/evaluate/vectors/value.ts'
import type { GraphColumns } from '../../src/store/columns/graph.ts'

const XSD = 'http://www.w3.org/2001/XMLSchema#'
/** What queries of these tests begin with. */
export const PREFIXES = `PREFIX xsd: <${XSD}> PREFIX : <urn:> `

/** Queries that were parsed: most expressions are evaluated over many columns, and parsing one takes longer than that. */
const parsed = new Map<string, ReturnType<typeof parseQuery>>()

export function parsedQuery(text: string): ReturnType<typeof parseQuery> {
  const found = parsed.get(text) ?? parseQuery(text)
  parsed.set(text, found)
  return found
}

export function expressionOf(expression: string): AlgebraExpression {
  const { query } = parsedQuery(`${PREFIXES} SELECT * { FILTER(${expression}) }`)
  if (query.type !== 'select' || query.input.type !== 'project' || query.input.input.type !== 'filter')
    throw new Error(expression)
  return query.input.input.condition
}

export function scalarsOf(evaluation: Evaluation) {
  return new ScalarCompiler(evaluation, (_, batch) => new Uint8Array(batch.size).fill(1))
}

/** A value as N-Triples with short datatypes; `error` for none. */
export function short(value: TermValue | null): string {
  return value === null ? 'error' : termText(termOf(value)).replace(/\^\^<.*#(\w+)>/, '^^$1')
}

export function groupOf(group: string): SparqlOperation {
  const { query } = parsedQuery(`${PREFIXES} SELECT * { ${group} }`)
  if (query.type !== 'select' || query.input.type !== 'project') throw new Error(group)
  return query.input.input
}

export function patternsOf(group: string): readonly TriplePatternNode[] {
  const operation = groupOf(group)
  return operation.type === 'bgp' ? operation.patterns : []
}

/** The solutions of a star over a graph, and what evaluates expressions over them. */
export function solutionsOf(patterns: string, graph: GraphColumns) {
  const evaluation = new Evaluation({ defaultGraphs: [graph], namedGraphs: new Map() })
  const scalars = scalarsOf(evaluation)
  const numbers = new NumberKernels(evaluation, scalars)
  const filter = new Filter(evaluation, scalars, numbers)
  const matcher = new PatternMatcher(evaluation, filter, [graph])
  const [step] = planBlock({ patterns: patternsOf(patterns), paths: [], filters: [] }, new Set(), [graph])
  const [batch] = step?.type === 'star' ? [...matcher.star(step, UNIT_BATCH)] : []
  if (batch === undefined) throw new Error('no solutions')
  const scope = {
    graphs: [graph],
    substituted: new Set<string>(),
    scalars,
    numbers,
    filter,
    patterns: matcher,
  }
  return { evaluation, scalars, filter, scope, batch }
}

/** N-Triples of values written in SPARQL, one a subject. */
export async function triplesOf(values: readonly string[]): Promise<string> {
  const { query } = parsedQuery(
    `${PREFIXES} CONSTRUCT { } { ${values.map((value, at) => `:s${at} :t ${value} .`).join(' ')} }`,
  )
  if (query.type !== 'construct' || query.input.type !== 'bgp') throw new Error('no triples')
  return query.input.patterns
    .map(({ subject, predicate, object }) => {
      const own = object.type === 'variable' ? ({ type: 'blank', value: 'b' } as const) : object
      return `${termText(subject as never)} ${termText(predicate as never)} ${termText(own)} .\n`
    })
    .join('')
}
