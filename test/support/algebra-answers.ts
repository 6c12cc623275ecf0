import oxigraph from 'oxigraph'
import { answerTerm } from '../../src/rdf/rdfjs.ts'
import type { Term } from '../../src/rdf/term.ts'
import { withBoundConstants } from '../../src/sparql/bound-constants.ts'
import { parseQuery } from '../../src/sparql/parse.ts'
import { type DatasetView, Evaluation } from '../../src/store/columns/evaluate/evaluation.ts'
import { Evaluator } from '../../src/store/columns/evaluate/evaluator.ts'
import { scratchUint32, withScratch } from '../../src/store/columns/evaluate/vectors/scratch.ts'
import { termAt } from '../../src/store/columns/evaluate/vectors/vector.ts'
import { numericKind } from '../../src/store/columns/lexical.ts'
import { GRAPH_NAMES, makeGraph, type RandomQuery } from './algebra-generator.ts'
import { columnsOfText } from './columns.ts'
import { between, chance } from './random.ts'
import { HIDDEN } from './random-paths.ts'

/** A solution: values that are equal have one text. */
export type Row = Readonly<Record<string, string>>

/** The same graphs in both. */
export interface Sample {
  readonly engine: oxigraph.Store
  readonly columns: DatasetView
}

/** Graphs at random, in columns and in Oxigraph. */
export function makeSample(): Sample {
  const engine = new oxigraph.Store()
  const load = (lines: readonly string[], name: oxigraph.NamedNode | oxigraph.DefaultGraph) => {
    for (const quad of oxigraph.parse(lines.join(''), { format: 'application/n-triples' }))
      engine.add(oxigraph.quad(quad.subject, quad.predicate, quad.object, name))
    return engine
      .match(null, null, null, name)
      .map(({ subject, predicate, object }) => `${subject} ${predicate} ${object} .\n`)
  }
  const whole = load(makeGraph(), oxigraph.defaultGraph())
  const named = GRAPH_NAMES.map(name => [name, load(makeGraph(), oxigraph.namedNode(name))] as const)
  // The default graph is the merge of graphs that share triples.
  const parts = Array.from({ length: between(1, 3) }, () => [] as string[])
  for (const line of whole) {
    parts[between(0, parts.length - 1)]?.push(line)
    if (chance(0.2)) parts[between(0, parts.length - 1)]?.push(line)
  }
  return {
    engine,
    columns: {
      defaultGraphs: parts.map(lines => columnsOfText([...new Set(lines)].join(''))),
      namedGraphs: new Map(named.map(([name, lines]) => [name, [columnsOfText(lines.join(''))]])),
    },
  }
}

/** As a thread asks: the memory of one query is written over by the next, of small graphs no more than they can have written to. */
export function byColumns(query: RandomQuery, dataset: DatasetView): readonly Row[] {
  const rows = withScratch(() => solutions(query, dataset))
  const chunks = dataset.defaultGraphs.some(({ triples }) => triples > 1000) ? 6 : 1
  withScratch(() => {
    for (let chunk = 0; chunk < chunks; chunk++) scratchUint32(2 ** 20).fill(2 ** 32 - 1)
  })
  return rows
}

function solutions({ text }: RandomQuery, dataset: DatasetView): readonly Row[] {
  const query = withBoundConstants(parseQuery(text, BASE).query)
  const rows: Row[] = []
  for (const batch of new Evaluator(new Evaluation(dataset, {}, { base: BASE })).solutions(query.input))
    for (let row = 0; row < batch.size; row++) {
      const found: Record<string, string> = {}
      for (const name of query.type === 'select' ? query.variables : []) {
        const vector = batch.get(name)
        const term = vector === undefined ? null : termAt(vector, row)
        if (term !== null) found[name] = comparable(term)
      }
      rows.push(found)
    }
  return query.type === 'ask' ? [{ answer: String(rows.length > 0) }] : rows
}

/** The solutions that Oxigraph has. */
export function byEngine(
  { text, engineText = text, isDistinct }: RandomQuery,
  engine: oxigraph.Store,
): readonly Row[] {
  const found = engine.query(engineText, { base_iri: BASE })
  if (typeof found === 'boolean') return [{ answer: String(found) }]
  const rows = (found as Map<string, oxigraph.Term>[]).map(solution => {
    const row: Record<string, string> = {}
    for (const [name, term] of solution) {
      const own = answerTerm(term as never)
      if (own !== null && !name.startsWith(HIDDEN)) row[name] = comparable(own)
    }
    return row
  })
  return isDistinct === true ? [...new Map(rows.map(row => [textOfRow(row), row])).values()] : rows
}

/** What relative IRIs of queries are resolved against. */
export const BASE = 'http://example.org/base/'

/** A text that is the same for the same value: sums of doubles depend on their order, and computed numbers have several forms. */
function comparable(term: Term): string {
  if (term.type !== 'literal') return `${term.type} ${term.type === 'triple' ? '' : term.value}`
  const { value, datatype, language } = term
  const kind = numericKind(datatype)
  if (kind === null) return JSON.stringify([value, datatype.replace(/.*[#/]/, ''), language.toLowerCase()])
  const number = Number(value.replace('INF', 'Infinity'))
  if (/^[+-]?\d+$/.test(value) && kind === 'integer') return `${BigInt(value)} ${kind}`
  if (kind === 'integer' || Number.isNaN(number)) return `${value} ${kind}`
  return `${Object.is(number, -0) ? '-0' : Number(number.toPrecision(kind === 'float' ? 6 : 12))} ${kind}`
}

const textOfRow = (row: Row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))

/** How solutions differ, in the order that a query asks for; null where they are the same. */
export function difference(
  query: RandomQuery,
  found: readonly Row[],
  expected: readonly Row[],
): string | null {
  const [a, b] = [found, expected].map(rows => {
    // Equal numbers of different types have no order among them.
    const texts = rows
      .map(textOfRow)
      .map(text => (query.byValue === true ? text.replace(/ (?:integer|decimal)"/g, '"') : text))
    return query.order.length > 0 ? texts : texts.sort()
  }) as [string[], string[]]
  if (a.join('\n') === b.join('\n')) return null
  // Oxigraph has no group where it knows before that a pattern has no solutions.
  if (query.isOneGroup === true && b.length === 0 && a.length === 1) return null
  const missing = b.filter(text => !a.includes(text))
  const extra = a.filter(text => !b.includes(text))
  return `${a.length} rows, ${b.length} expected\n  missing ${missing.slice(0, 3).join(' ')}\n  extra ${extra.slice(0, 3).join(' ')}`
}
