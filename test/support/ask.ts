import type { Term } from '../../src/rdf/term.ts'
import { RDF, XSD } from '../../src/rdf/vocab.ts'
import { parseQuery } from '../../src/sparql/parse.ts'
import type { AnswerFormat, QueryAnswer, Solution, Store } from '../../src/store/store.ts'

/** A value of the JSON results of SPARQL. */
interface JsonTerm {
  readonly type: string
  readonly value: string
  readonly datatype?: string
  readonly 'xml:lang'?: string
}

/** Asks a store a query in SPARQL; the graphs that it names with GRAPH are those that it sees. */
export async function answerOf(
  store: Pick<Store, 'query'>,
  sparql: string,
  { format = 'json', deadline }: { readonly format?: AnswerFormat; readonly deadline?: number } = {},
): Promise<QueryAnswer> {
  const graphs = [...new Set([...sparql.matchAll(/GRAPH\s*<([^>]+)>/g)].map(([, graph = '']) => graph))]
  return await store.query({
    parsed: parseQuery(sparql),
    base: 'http://localhost/',
    format,
    defaultGraphs: [],
    namedGraphs: graphs.map(graph => [graph, graph]),
    engineText: () => sparql,
    deadline,
  })
}

/** The text of an answer. */
export async function textOf({ pieces }: QueryAnswer): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const piece of pieces) parts.push(piece)
  return Buffer.concat(parts).toString()
}

/** The rows of a SELECT. */
export async function select(
  store: Pick<Store, 'query'>,
  sparql: string,
  options: { readonly deadline?: number } = {},
): Promise<readonly Solution[]> {
  const text = await textOf(await answerOf(store, sparql, options))
  const { results } = JSON.parse(text) as {
    readonly results: { readonly bindings: readonly Readonly<Record<string, JsonTerm>>[] }
  }
  return results.bindings.map(row =>
    Object.fromEntries(Object.entries(row).map(([name, term]) => [name, termOf(term)])),
  )
}

function termOf({ type, value, datatype, 'xml:lang': language = '' }: JsonTerm): Term {
  if (type === 'uri') return { type: 'iri', value }
  if (type === 'bnode') return { type: 'blank', value }
  return {
    type: 'literal',
    value,
    language,
    datatype: datatype ?? (language === '' ? XSD.string : RDF.langString),
  }
}
