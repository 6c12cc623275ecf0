import type { Term } from '../rdf/term.ts'
import { RDF } from '../rdf/vocab.ts'
import type { AlgebraExpression, Pattern, SelectQuery } from '../sparql/algebra.ts'
import { inGraph, iri, triple, variable } from '../sparql/build.ts'
import type { Solution } from '../store/store.ts'
import type { PlannerStatistics } from './planner-statistics.ts'

/** How often a predicate occurs in a graph. */
export interface PropertyCount {
  readonly iri: string
  readonly triples: number
  readonly subjects: number
  readonly objects: number
}

/** How many subjects of a graph have a class. */
export interface ClassCount {
  readonly iri: string
  readonly entities: number
}

/** The exact figures of one graph (VoID, section 4.6). */
export interface GraphStatistics {
  readonly triples: number
  /** Distinct subjects and objects. */
  readonly subjects: number
  readonly objects: number
  /** Distinct predicates, and the most frequent of them in the order of their IRIs. */
  readonly predicates: number
  readonly properties: readonly PropertyCount[]
  /** Distinct classes, and the most frequent of them in the order of their IRIs. */
  readonly types: number
  readonly classes: readonly ClassCount[]
  /** IRIs of some subjects. */
  readonly examples: readonly string[]
  /** How its subjects and classes go together; null or absent where that is not known. */
  readonly planner?: PlannerStatistics | null
}

/** Properties and classes whose figures are reported; a graph has rarely more than some hundred. */
const MAX_PARTS = 1000
/** Triples whose subjects and objects one statement counts, where their predicates allow. */
const TRIPLES_AT_ONCE = 200_000
const EXAMPLES = 30

const [s, p, o, n, m] = ['s', 'p', 'o', 'n', 'm'].map(variable) as [V, V, V, V, V]
type V = ReturnType<typeof variable>

/**
 * Counts what is in a graph. The statements are asked one after another and each is short: the longest is one pass over
 * the graph, 0.9 µs a triple.
 *
 * @param ask runs one statement
 */
export async function gatherGraphStatistics(
  graph: string,
  ask: (query: SelectQuery) => Promise<readonly Solution[]>,
): Promise<GraphStatistics> {
  const all = inGraph(graph, triple(s, p, o))
  const one = async (expression: AlgebraExpression) =>
    numberOf((await ask(select([{ variable: n, expression }], [all])))[0]?.n)
  const frequencies = await ask({
    ...select([{ variable: p }, { variable: n, expression: count(null) }], [all]),
    groupBy: [{ variable: p }],
  })
  const found = mostFrequent(
    frequencies.map(({ p, n }) => ({ iri: textOf(p), triples: numberOf(n) })),
    ({ triples }) => triples,
  )
  const properties: PropertyCount[] = []
  for (const lot of partitionsOf(found)) {
    const counted = await ask(lotQuery(graph, lot))
    const byIri = new Map(counted.map(row => [textOf(row.p), row]))
    for (const part of lot) {
      const row = byIri.get(part.iri)
      properties.push({ ...part, subjects: numberOf(row?.n), objects: numberOf(row?.m) })
    }
  }
  const types = await ask({
    ...select(
      [{ variable: o }, { variable: n, expression: count(s) }],
      [inGraph(graph, triple(s, iri(RDF.type), o))],
    ),
    groupBy: [{ variable: o }],
  })
  const classes = types.filter(({ o }) => o?.type === 'iri')
  const examples = await ask({ ...select([{ variable: s }], [all]), distinct: true, limit: EXAMPLES })
  return {
    triples: frequencies.reduce((sum, { n }) => sum + numberOf(n), 0),
    subjects: await one(count(s)),
    objects: await one(count(o)),
    predicates: frequencies.length,
    properties,
    types: classes.length,
    classes: mostFrequent(
      classes.map(({ o, n }) => ({ iri: textOf(o), entities: numberOf(n) })),
      ({ entities }) => entities,
    ),
    examples: examples.flatMap(({ s }) => (s?.type === 'iri' ? [s.value] : [])),
  }
}

/** Distinct subjects and objects of some predicates. */
function lotQuery(graph: string, lot: readonly { readonly iri: string }[]): SelectQuery {
  return {
    ...select(
      [{ variable: p }, { variable: n, expression: count(s) }, { variable: m, expression: count(o) }],
      [
        { type: 'values', variable: p, terms: lot.map(part => iri(part.iri)) },
        inGraph(graph, triple(s, p, o)),
      ],
    ),
    groupBy: [{ variable: p }],
  }
}

/** Parts a list so that the triples of each lot are counted in one statement. */
function partitionsOf<Part extends { readonly triples: number }>(
  parts: readonly Part[],
): readonly (readonly Part[])[] {
  const partitions: Part[][] = []
  let size = Number.POSITIVE_INFINITY
  for (const part of parts) {
    size += part.triples
    if (size > TRIPLES_AT_ONCE) {
      partitions.push([])
      size = part.triples
    }
    partitions.at(-1)?.push(part)
  }
  return partitions
}

/** Those that weigh most, in the order of their IRIs, so that a document is the same each time. */
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

function select(projection: SelectQuery['projection'], where: readonly Pattern[]): SelectQuery {
  return { type: 'select', projection, where }
}

/** COUNT of all solutions, or of the distinct values of a variable. */
function count(operand: V | null): AlgebraExpression {
  return { type: 'aggregate', name: 'COUNT', distinct: operand !== null, operand }
}

function numberOf(term: Term | undefined): number {
  return Number(term?.value ?? 0)
}

function textOf(term: Term | undefined): string {
  return term?.value ?? ''
}
