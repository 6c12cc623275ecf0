import type { Term } from '../rdf/term.ts'
import { RDF } from '../rdf/vocab.ts'
import type { SelectOperation, Variable } from '../sparql/algebra.ts'
import { aggregate, COUNT_ALL, inGraph, iri, select, triple, variable } from '../sparql/build.ts'
import type { Solution } from '../store/store.ts'
import type { PlannerStatistics } from './planner-statistics.ts'

/** The number of triples of a graph with a predicate. */
export interface PropertyCount {
  readonly iri: string
  readonly triples: number
  readonly subjects: number
  readonly objects: number
}

/** The number of subjects of a graph with a class. */
export interface ClassCount {
  readonly iri: string
  readonly entities: number
}

/** The exact statistics of one graph (VoID, section 4.6). */
export interface GraphStatistics {
  readonly triples: number
  /** Distinct subjects and objects. */
  readonly subjects: number
  readonly objects: number
  /** Distinct predicates, and the most frequent of them sorted by IRI. */
  readonly predicates: number
  readonly properties: readonly PropertyCount[]
  /** Distinct classes, and the most frequent of them sorted by IRI. */
  readonly types: number
  readonly classes: readonly ClassCount[]
  /** IRIs of some subjects. */
  readonly examples: readonly string[]
  /** How its subjects and classes correlate; null or absent if unknown. */
  readonly planner?: PlannerStatistics | null
}

/** Maximum number of properties and classes with statistics; few graphs have more than some hundred. */
const MAX_PARTS = 1000
const EXAMPLES = 30

const [s, p, o, n, m, t] = ['s', 'p', 'o', 'n', 'm', 't'].map(variable) as [V, V, V, V, V, V]
type V = Variable

/**
 * Computes the statistics of a graph. The statements run one after another, and none scans all triples: columns answer them from
 * their headers and dictionaries.
 *
 * @param ask runs one statement
 */
export async function gatherGraphStatistics(
  graph: string,
  ask: (query: SelectOperation) => Promise<readonly Solution[]>,
): Promise<GraphStatistics> {
  const all = inGraph(graph, triple(s, p, o))
  const one = async (operand: V) => numberOf((await ask(select([counting(n, operand)], all)))[0]?.n)
  const counts = [{ variable: t, aggregate: COUNT_ALL }, counting(n, s), counting(m, o)]
  const counted = await ask(select([p, ...counts], all, { groupBy: [p] }))
  const properties = mostFrequent(
    counted.map(row => ({
      iri: textOf(row.p),
      triples: numberOf(row.t),
      subjects: numberOf(row.n),
      objects: numberOf(row.m),
    })),
    ({ triples }) => triples,
  )
  const typed = inGraph(graph, triple(s, iri(RDF.type), o))
  const types = await ask(select([o, counting(n, s)], typed, { groupBy: [o] }))
  const classes = types.filter(({ o }) => o?.type === 'iri')
  const examples = await ask(select([s], all, { distinct: true, limit: EXAMPLES }))
  return {
    triples: counted.reduce((sum, { t }) => sum + numberOf(t), 0),
    subjects: await one(s),
    objects: await one(o),
    predicates: counted.length,
    properties,
    types: classes.length,
    classes: mostFrequent(
      classes.map(({ o, n }) => ({ iri: textOf(o), entities: numberOf(n) })),
      ({ entities }) => entities,
    ),
    examples: examples.flatMap(({ s }) => (s?.type === 'iri' ? [s.value] : [])),
  }
}

/** The most frequent parts, sorted by IRI, so that documents are deterministic. */
function mostFrequent<Part extends { readonly iri: string }>(
  parts: readonly Part[],
  weight: (part: Part) => number,
): readonly Part[] {
  const byIri = (a: Part, b: Part) => (a.iri < b.iri ? -1 : 1)
  if (parts.length <= MAX_PARTS) return [...parts].sort(byIri)
  return [...parts]
    .sort((a, b) => weight(b) - weight(a) || byIri(a, b))
    .slice(0, MAX_PARTS)
    .sort(byIri)
}

/** The number of distinct values of a variable, as another. */
function counting(to: V, operand: V) {
  return { variable: to, aggregate: aggregate('COUNT', operand, { distinct: true }) }
}

function numberOf(term: Term | undefined): number {
  return Number(term?.value ?? 0)
}

function textOf(term: Term | undefined): string {
  return term?.value ?? ''
}
