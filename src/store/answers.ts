import { Fault } from '../errors/errors.ts'
import type { TriplePattern } from '../rdf/term.ts'
import type { ConstructQuery, SelectQuery } from '../sparql/algebra.ts'
import { translateQuery } from '../sparql/translate.ts'
import { graphsOfQuery } from '../sparql/walk.ts'
import type { ColumnStore } from './columns/column-store.ts'
import type { QueriedGraphs, WireTable } from './columns/threads/protocol.ts'
import { isImpossible } from './match.ts'
import { TablePage } from './page.ts'
import {
  EMPTY_GRAPH,
  type PageOptions,
  type QueryOptions,
  type Solution,
  type SolutionPage,
  type Store,
} from './store.ts'

/** What every store answers from columns, whatever engine it has. */
export type ColumnAnswers = Pick<
  Store,
  'select' | 'page' | 'together' | 'pages' | 'contents' | 'lines' | 'construct' | 'match' | 'count'
>

/** Rows of a page of an export. */
const ROWS_AT_A_TIME = 250

/** Answers from columns. A graph that is not there is a fault: StoreUnavailable. */
export function columnAnswers(columns: ColumnStore): ColumnAnswers {
  const checked = (query: SelectQuery | ConstructQuery, options: QueryOptions = {}): QueriedGraphs => {
    const graphs = graphsOf(query, options)
    for (const [, graph] of graphs.namedGraphs) check(graph)
    for (const graph of graphs.defaultGraphs) check(graph)
    return graphs
  }
  const check = (graph: string) => {
    if (!columns.has(graph))
      throw new Fault('StoreUnavailable', { reason: `the graph ${graph} is not there.` })
  }
  const table = async (query: SelectQuery, options: PageOptions = {}): Promise<TablePage> => {
    const [found] = await columns.answers([translateQuery(query)], checked(query, options), options)
    return pageOf(found as WireTable)
  }
  const pageOf = (found: WireTable) => new TablePage(found, graph => columns.columns(graph))
  return {
    select: async (query, options): Promise<readonly Solution[]> => (await table(query, options)).solutions(),
    page: (query, options): Promise<SolutionPage> => table(query, options),
    together: async queries => {
      const graphs = queries.map(query => checked(query))
      const named = new Map(graphs.flatMap(({ namedGraphs }) => namedGraphs))
      const found = await columns.answers(
        queries.map(query => translateQuery(query)),
        { defaultGraphs: [], namedGraphs: [...named] },
      )
      return found.map(pageOf)
    },
    async *pages(query, options) {
      for await (const found of columns.tables(
        translateQuery(query),
        checked(query, options),
        ROWS_AT_A_TIME,
        options,
      ))
        yield new TablePage(found, graph => columns.columns(graph))
    },
    contents: async (graph, predicates) => {
      check(graph)
      await columns.touch(graph, predicates)
      return columns.columns(graph)
    },
    lines: async (graph, from, to) => {
      check(graph)
      return columns.lines(graph, from, to)
    },
    construct: async (query: ConstructQuery, options?: QueryOptions) => {
      const pieces: Uint8Array[] = []
      for await (const piece of columns.text(translateQuery(query), checked(query, options), 'nt', options))
        pieces.push(piece)
      return Buffer.concat(pieces).toString()
    },
    match: async (graph, pattern, page, options) => {
      if (isImpossible(pattern) || graph === EMPTY_GRAPH) return { triples: '', count: 0 }
      check(graph)
      return columns.match(graph, pattern, page, options)
    },
    count: async (graph: string, pattern: TriplePattern, options?: QueryOptions) => {
      if (isImpossible(pattern) || graph === EMPTY_GRAPH) return 0
      check(graph)
      return (await columns.match(graph, pattern, { offset: 0, limit: 0 }, options)).count
    },
  }
}

/** The compiler's queries name every graph that they read, but for the merge that some are given. */
function graphsOf(query: SelectQuery | ConstructQuery, { defaultGraphs = [] }: QueryOptions): QueriedGraphs {
  const graphs = [...graphsOfQuery(query)].filter(graph => graph !== EMPTY_GRAPH)
  return { defaultGraphs, namedGraphs: graphs.map(graph => [graph, graph] as const) }
}
