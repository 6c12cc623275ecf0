import { mapConcurrently } from '../../model/bounded-concurrency.ts'
import { termText } from '../../rdf/ntriples.ts'
import { parseTriples } from '../../rdf/ntriples-reader.ts'
import type { Literal, Term, TriplePattern } from '../../rdf/term.ts'
import { XSD } from '../../rdf/vocab.ts'
import type { SparqlOperation, TriplePatternNode, Variable } from '../../sparql/algebra.ts'
import {
  COUNT_ALL,
  construct,
  inGraph,
  inlineRows,
  join,
  oneOf,
  select,
  triple,
  variable,
} from '../../sparql/build.ts'
import type { Store } from '../../store/store.ts'
import type { Bindings } from './bindings.ts'
import { type RequestedPattern, repeatsVariable, type TriplePosition } from './pattern.ts'

/** Triples of one page, as N-Triples, and the number of triples of the whole fragment. */
export interface Found {
  readonly triples: string
  readonly count: number
}

const NOTHING: Found = { triples: '', count: 0 }

/**
 * One page of the matches of a pattern. A variable that occurs twice has the same value in both positions, and with bindings
 * a triple must be compatible with one of their rows (brTPF, section 3: "bindings-restricted").
 *
 * @param candidates graphs whose merge is queried: a triple in two of them counts once
 */
export async function findPage(
  store: Store,
  candidates: readonly string[],
  pattern: RequestedPattern,
  bindings: Bindings | null,
  page: { readonly offset: number; readonly limit: number },
): Promise<Found> {
  const terms = {
    subject: termOf(pattern.subject),
    predicate: termOf(pattern.predicate),
    object: termOf(pattern.object),
  }
  const restriction = bindings === null ? null : restrictionOf(bindings, pattern)
  const graphs = candidates.length < 2 ? candidates : await graphsWith(store, candidates, terms)
  const [graph] = graphs
  if (graph === undefined) return NOTHING
  if (restriction === null && graphs.length === 1 && !repeatsVariable(pattern)) {
    const found = await store.match(graph, terms, page)
    return holdsExactly(found.triples, terms.object) ? found : NOTHING
  }
  if (terms.subject?.type === 'literal' || terms.predicate?.type === 'literal') return NOTHING
  if (Object.values(terms).some(term => term?.type === 'blank')) return NOTHING
  const rows = (restriction ?? []).flatMap(table => table.rows.flat())
  const wrong = await nonCanonicalTerms(store, [terms.object, ...rows])
  if (terms.object !== undefined && wrong.has(termText(terms.object))) return NOTHING
  const tables = restriction === null ? null : withoutWrong(restriction, wrong)
  if (tables?.length === 0) return NOTHING
  const query = restrictedQuery(graphs, pattern, tables)
  const { offset, limit } = page
  const merged = { defaultGraphs: graphs.length === 1 ? [] : graphs }
  const triples = await store.construct(construct([query.nodes], query.where, page), merged)
  const found = triples.split('\n').length - 1
  if (found < limit && (found > 0 || offset === 0)) return { triples, count: offset + found }
  const projection = [{ variable: variable('count'), aggregate: COUNT_ALL }]
  const counted = await store.select(select(projection, query.where), merged)
  return { triples, count: Number(counted[0]?.count?.value ?? 0) }
}

async function graphsWith(
  store: Store,
  graphs: readonly string[],
  terms: TriplePattern,
): Promise<readonly string[]> {
  const counts = await mapConcurrently(graphs, graph => store.count(graph, terms))
  return graphs.filter((_, at) => (counts[at] ?? 0) > 0)
}

/** Rows that bind the same variables of a pattern: each has a term for each of them. */
interface Table {
  readonly variables: readonly string[]
  readonly rows: readonly (readonly Term[])[]
}

/**
 * The restriction of a pattern by bindings: a triple must be compatible with a row of one of these tables. Variables that the
 * pattern does not have restrict nothing; null if one row, and so their union, restricts nothing.
 */
function restrictionOf({ variables, rows }: Bindings, pattern: RequestedPattern): readonly Table[] | null {
  const names = new Set(
    [pattern.subject, pattern.predicate, pattern.object].flatMap(place =>
      place.type === 'variable' ? [place.name] : [],
    ),
  )
  const tables = new Map<string, { variables: readonly string[]; rows: Map<string, readonly Term[]> }>()
  for (const row of rows) {
    const bound = agreed(variables, row, names)
    if (bound === null) continue
    if (bound.size === 0) return null
    const key = JSON.stringify([...bound.keys()].sort())
    const table = tables.get(key) ?? { variables: [...bound.keys()], rows: new Map() }
    tables.set(key, table)
    const terms = table.variables.flatMap(name => bound.get(name) ?? [])
    table.rows.set(terms.map(termText).join(' '), terms)
  }
  return [...tables.values()].map(table => ({ ...table, rows: [...table.rows.values()] }))
}

/** The terms that a row binds to variables of a pattern; null if no triple can be compatible with it. */
function agreed(
  variables: readonly string[],
  row: readonly (Term | undefined)[],
  names: ReadonlySet<string>,
): ReadonlyMap<string, Term> | null {
  const bound = new Map<string, Term>()
  for (const [index, term] of row.entries()) {
    const name = variables[index] ?? ''
    if (term === undefined || !names.has(name)) continue
    const before = bound.get(name)
    if (term.type === 'blank' || (before !== undefined && termText(before) !== termText(term))) return null
    bound.set(name, term)
  }
  return bound
}

function withoutWrong(tables: readonly Table[], wrong: ReadonlySet<string>): readonly Table[] {
  return tables
    .map(({ variables, rows }) => ({
      variables,
      rows: rows.filter(row => !row.some(term => wrong.has(termText(term)))),
    }))
    .filter(({ rows }) => rows.length > 0)
}

interface RestrictedQuery {
  readonly nodes: TriplePatternNode
  readonly where: SparqlOperation
}

/** The query for triples of a pattern that are compatible with one of the tables; all triples if there are none. */
function restrictedQuery(
  graphs: readonly string[],
  pattern: RequestedPattern,
  tables: readonly Table[] | null,
): RestrictedQuery {
  const variables = new Map<string, Variable>()
  const named = (name: string) => {
    const known = variables.get(name) ?? variable(`v${variables.size}`)
    variables.set(name, known)
    return known
  }
  const node = (place: TriplePosition, key: string) =>
    place.type === 'term' ? place.term : named(place.name === '' ? ` ${key}` : place.name)
  const nodes = {
    subject: node(pattern.subject, 's'),
    predicate: node(pattern.predicate, 'p'),
    object: node(pattern.object, 'o'),
  }
  const plain = triple(nodes.subject, nodes.predicate, nodes.object)
  const match = graphs.length === 1 ? inGraph(graphs[0] as string, plain) : plain
  if (tables === null) return { nodes, where: match }
  const inputs = tables.map(({ variables: names, rows }) => join(inlineRows(names.map(named), rows), match))
  const [first] = inputs
  if (inputs.length === 1 && first !== undefined) return { nodes, where: first }
  // A triple may be compatible with two tables, but counts once.
  const once = select([...variables.values()], { type: 'union', inputs }, { distinct: true })
  return { nodes, where: once.input }
}

/**
 * The terms that the store has in another lexical form, as texts: it would match `1.0` with `1`, but a triple pattern matches
 * only equal terms (RDF 1.1 Concepts, section 3.3).
 */
async function nonCanonicalTerms(
  store: Store,
  terms: readonly (Term | undefined)[],
): Promise<ReadonlySet<string>> {
  const requested = terms.filter(isTyped)
  if (requested.length === 0) return new Set()
  const value = variable('value')
  const spelt = await store.select(select([value], oneOf(value, requested)))
  const texts = requested.map(termText)
  return new Set(
    texts.filter((text, index) => {
      const value = spelt[index]?.value
      return text !== (value === undefined ? '' : termText(value))
    }),
  )
}

/** True for literals with several lexical forms: strings have one, and the case of language tags is ignored. */
function isTyped(term: Term | undefined): term is Literal {
  return term?.type === 'literal' && term.language === '' && term.datatype !== XSD.string
}

/** False if the store found another lexical form of a literal: see {@link nonCanonicalTerms}. */
function holdsExactly(triples: string, object: Term | undefined): boolean {
  if (!isTyped(object)) return true
  const [first] = parseTriples(triples.slice(0, triples.indexOf('\n') + 1))
  return first === undefined || termText(first.object) === termText(object)
}

function termOf(position: TriplePosition): Term | undefined {
  return position.type === 'term' ? position.term : undefined
}
