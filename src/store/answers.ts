import type { ConstructQuery, SelectQuery } from '../sparql/algebra.ts'
import { translateQuery } from '../sparql/translate.ts'
import { graphsOfQuery } from '../sparql/walk.ts'
import type { TriplePattern } from '../rdf/term.ts'
import type { ColumnStore } from './columns/column-store.ts'
import type { QueriedGraphs } from './columns/threads/protocol.ts'
import { isImpossible } from './match.ts'
import { TablePage } from './page.ts'
import type { Page, PageOptions, QueryOptions, Solution, Store } from './store.ts'

/** What every store answers from columns, whatever engine it has. */
export type ColumnAnswers = Pick<
  Store,
  'select' | 'page' | 'pages' | 'contents' | 'lines' | 'construct' | 'match' | 'count'
>

/** Rows of a page of an export. */
const ROWS_AT_A_TIME = 1000

/**
 * @param ready resolves when the columns of some graphs are there; Faults: StoreUnavailable
 */
export function columnAnswers(
  columns: ColumnStore,
  ready: (graphs: readonly string[]) => Promise<void>,
): ColumnAnswers {
  const table = async (query: SelectQuery, options: PageOptions = {}): Promise<TablePage> => {
    const graphs = graphsOf(query)
    await ready(graphs.namedGraphs.map(([, graph]) => graph))
    const found = await columns.table(translateQuery(query), graphs, options)
    return new TablePage(found, graph => columns.columns(graph))
  }
  return {
    select: async (query, options): Promise<readonly Solution[]> => (await table(query, options)).solutions(),
    page: (query, options): Promise<Page> => table(query, options),
    async *pages(query, options) {
      const graphs = graphsOf(query)
      await ready(graphs.namedGraphs.map(([, graph]) => graph))
      for await (const found of columns.tables(translateQuery(query), graphs, ROWS_AT_A_TIME, options))
        yield new TablePage(found, graph => columns.columns(graph))
    },
    contents: async (graph, predicates) => {
      await ready([graph])
      await columns.touch(graph, predicates)
      return columns.columns(graph)
    },
    lines: async (graph, from, to) => {
      await ready([graph])
      return columns.lines(graph, from, to)
    },
    construct: async (query: ConstructQuery, options?: QueryOptions) => {
      const graphs = graphsOf(query)
      await ready(graphs.namedGraphs.map(([, graph]) => graph))
      const pieces: Uint8Array[] = []
      for await (const piece of columns.text(translateQuery(query), graphs, 'nt', options)) pieces.push(piece)
      return Buffer.concat(pieces).toString()
    },
    match: async (graph, pattern, page, options) => {
      if (isImpossible(pattern) || !columns.has(graph)) return { triples: '', count: 0 }
      await ready([graph])
      return columns.match(graph, pattern, page, options)
    },
    count: async (graph: string, pattern: TriplePattern, options?: QueryOptions) => {
      if (isImpossible(pattern) || !columns.has(graph)) return 0
      await ready([graph])
      return (await columns.match(graph, pattern, { offset: 0, limit: 0 }, options)).count
    },
  }
}

/** The compiler's queries name every graph that they read. */
function graphsOf(query: SelectQuery | ConstructQuery): QueriedGraphs {
  return { defaultGraphs: [], namedGraphs: [...graphsOfQuery(query)].map(graph => [graph, graph] as const) }
}
