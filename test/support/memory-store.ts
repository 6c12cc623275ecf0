import oxigraph from 'oxigraph'
import { termText } from '../../src/rdf/ntriples.ts'
import { parseTerm } from '../../src/rdf/ntriples-reader.ts'
import type { Term, TriplePattern } from '../../src/rdf/term.ts'
import type { Query } from '../../src/sparql/algebra.ts'
import { generate } from '../../src/sparql/generate.ts'
import { queryError } from '../../src/store/embedded/query-error.ts'
import type { GraphSource, Solution, Store } from '../../src/store/store.ts'

const NTRIPLES = 'application/n-triples'

/** A second implementation of the store, in this thread and without workers, for tests of what stands on a store. */
export function memoryStore(): Store & { readonly calls: string[] } {
  const store = new oxigraph.Store()
  const calls: string[] = []
  /** Bound terms are joined as values, so that an answer has the term that is stored and not the one that was asked. */
  const where = (graph: string, { subject, predicate, object }: TriplePattern) => {
    const value = (name: string, term: Term | undefined) =>
      term === undefined ? '' : `VALUES ?${name} { ${termText(term)} } `
    const bound = value('s', subject) + value('p', predicate) + value('o', object)
    return `{ ${bound}GRAPH <${graph}> { ?s ?p ?o } }`
  }
  /** No triple has a literal before its object, and a blank node names nothing outside its document. */
  const cannotMatch = ({ subject, predicate, object }: TriplePattern) =>
    [subject, predicate].some(term => term !== undefined && term.type === 'literal') ||
    [subject, predicate, object].some(term => term?.type === 'blank')
  const select = async (query: Query | string): Promise<readonly Solution[]> => {
    const sparql = textOf(query)
    calls.push(sparql)
    const rows = store.query(sparql) as Map<string, { toString(): string }>[]
    return rows.map(row =>
      Object.fromEntries([...row].map(([name, term]) => [name, parseTerm(term.toString())])),
    )
  }
  const construct = async (query: Query | string): Promise<string> => {
    const sparql = textOf(query)
    calls.push(sparql)
    return store.query(sparql, { results_format: NTRIPLES }) as string
  }
  const count = async (graph: string, pattern: TriplePattern): Promise<number> => {
    if (cannotMatch(pattern)) return 0
    const [row] = await select(`SELECT (COUNT(*) AS ?n) WHERE ${where(graph, pattern)}`)
    return Number(row?.n?.value)
  }
  return {
    calls,
    capabilities: { name: 'memory', rangeIndex: false, fullTextIndex: false, geometryIndex: false },
    select,
    construct,
    query: async (sparql, { format, defaultGraphs, namedGraphs, base }) => {
      calls.push(sparql)
      const options = {
        results_format: format,
        default_graph: defaultGraphs.map(name => oxigraph.namedNode(name)),
        named_graphs: namedGraphs.map(name => oxigraph.namedNode(name)),
        ...(base === undefined ? {} : { base_iri: base }),
      }
      try {
        return String(store.query(sparql, options))
      } catch (error) {
        throw queryError((error as Error).message)
      }
    },
    count,
    match: async (graph, pattern, { offset, limit }) => {
      if (cannotMatch(pattern)) return { triples: '', count: 0 }
      const triples = await construct(
        `CONSTRUCT { ?s ?p ?o } WHERE ${where(graph, pattern)} LIMIT ${limit} OFFSET ${offset}`,
      )
      return { triples, count: await count(graph, pattern) }
    },
    load: async (graphs: readonly GraphSource[]) => {
      for (const source of graphs) {
        if (!('text' in source)) throw new Error('the memory store loads text only')
        store.load(source.text, { format: NTRIPLES, to_graph_name: oxigraph.namedNode(source.graph) })
      }
    },
    drop: async graphs => {
      for (const graph of graphs) store.update(`DROP SILENT GRAPH <${graph}>`)
    },
    statistics: async () => ({
      quads: store.size,
      graphs: 0,
      workers: { ready: 1, wanted: 1 },
      memory: [],
      deadlines: 0,
    }),
    close: async () => undefined,
  }
}

function textOf(query: Query | string): string {
  return typeof query === 'string' ? query : generate(query)
}
