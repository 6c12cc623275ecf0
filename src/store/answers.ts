import { Fault, UNPROCESSABLE_ENTITY } from '../errors/errors.ts'
import { setMember } from '../model/lookup.ts'
import { isXmlText } from '../model/xml.ts'
import { isIri } from '../rdf/iri-syntax.ts'
import type { Term, TriplePattern } from '../rdf/term.ts'
import { XSD } from '../rdf/vocab.ts'
import {
  type ConstructOperation,
  graphsNamed,
  type QueryOperation,
  type SelectOperation,
} from '../sparql/algebra.ts'
import type { ColumnStore } from './columns/column-store.ts'
import { literalOf, NUMBER_TYPES, numberFormOf } from './columns/evaluate/vectors/value.ts'
import type { GraphColumns } from './columns/graph.ts'
import type { QueriedGraphs, WireTable, WireVector } from './columns/threads/protocol.ts'
import { STORE_UNAVAILABLE } from './faults.ts'
import {
  type AnswerFormat,
  EMPTY_GRAPH,
  type PageOptions,
  type QueryAnswer,
  type QueryOptions,
  type Solution,
  type SolutionPage,
  type Store,
} from './store.ts'

/** The queries that every store answers from columns, whatever its engine. */
export type ColumnAnswers = Pick<
  Store,
  'select' | 'page' | 'together' | 'pages' | 'contents' | 'lines' | 'construct' | 'match' | 'count'
>

/** Rows per page of an export. */
const ROWS_AT_A_TIME = 250

/** Answers from columns. A missing graph is a fault: StoreUnavailable. */
export function columnAnswers(columns: ColumnStore): ColumnAnswers {
  /** The graphs of a compiled query, which names all graphs that it reads except those of a merged default graph. */
  const checked = ({ input }: QueryOperation, { defaultGraphs = [] }: QueryOptions = {}): QueriedGraphs => {
    const named = [...graphsNamed(input)].filter(graph => graph !== EMPTY_GRAPH)
    for (const graph of [...named, ...defaultGraphs]) check(graph)
    return { defaultGraphs, namedGraphs: named.map(graph => [graph, graph] as const) }
  }
  const check = (graph: string) => {
    if (!columns.has(graph))
      throw new Fault(STORE_UNAVAILABLE, { reason: `the graph ${graph} is not there.` })
  }
  const table = async (query: SelectOperation, options: PageOptions = {}): Promise<TablePage> => {
    const [found] = await columns.answers([query], checked(query, options), options)
    return pageOf(found as WireTable)
  }
  const match: Store['match'] = async (graph, pattern, page, options) => {
    if (isImpossible(pattern) || graph === EMPTY_GRAPH) return { triples: '', count: 0 }
    check(graph)
    return columns.match(graph, pattern, page, options)
  }
  const pageOf = (found: WireTable) => new TablePage(found, graph => columns.columns(graph))
  return {
    select: async (query, options): Promise<readonly Solution[]> => (await table(query, options)).solutions(),
    page: (query, options): Promise<SolutionPage> => table(query, options),
    together: async queries => {
      const named = new Map(queries.flatMap(query => checked(query).namedGraphs))
      const found = await columns.answers(queries, { defaultGraphs: [], namedGraphs: [...named] })
      return found.map(pageOf)
    },
    async *pages(query, options) {
      for await (const found of columns.tables(query, checked(query, options), ROWS_AT_A_TIME, options))
        yield pageOf(found)
    },
    contents: async (graph, predicates) => {
      check(graph)
      await columns.touch(graph, predicates)
      return columns.columns(graph)
    },
    async *lines(graph, subjects, size) {
      check(graph)
      yield* columns.lines(graph, subjects, size)
    },
    construct: async (query: ConstructOperation, options?: QueryOptions) => {
      const pieces: Uint8Array[] = []
      for await (const piece of columns.text(query, checked(query, options), 'nt', options))
        pieces.push(piece)
      return Buffer.concat(pieces).toString()
    },
    match,
    count: async (graph: string, pattern: TriplePattern, options?: QueryOptions) =>
      (await match(graph, pattern, { offset: 0, limit: 0 }, options)).count,
  }
}

/**
 * True for a pattern that no triple can match: a literal as subject or predicate, a blank node (stored ones are skolemised), or
 * an invalid IRI. Such a pattern is not sent to the store.
 */
function isImpossible({ subject, predicate, object }: TriplePattern): boolean {
  const impossible = (term: Term | undefined) =>
    term !== undefined && (term.type === 'blank' || (term.type === 'iri' && !isIri(term.value)))
  return (
    subject?.type === 'literal' ||
    predicate?.type === 'literal' ||
    impossible(subject) ||
    impossible(predicate) ||
    impossible(object)
  )
}

function termOfWire(term: Term | string): Term {
  if (typeof term !== 'string') return term
  return { type: 'literal', value: term, datatype: XSD.string, language: '' }
}

/** Reads the answer of a thread; subject numbers become terms through the columns of their graph. */
class TablePage implements SolutionPage {
  readonly rows: number
  readonly total: number
  readonly columns: readonly string[]
  private readonly vectors: ReadonlyMap<string, WireVector>
  private readonly columnsOf: (graph: string) => GraphColumns

  constructor({ rows, total, vectors, columns }: WireTable, columnsOf: (graph: string) => GraphColumns) {
    this.rows = rows
    this.total = total < 0 ? rows : total
    this.columns = columns
    this.vectors = new Map(vectors)
    this.columnsOf = columnsOf
  }

  terms(variable: string): (row: number) => Term | null {
    const vector = this.vectors.get(variable)
    switch (vector?.type) {
      case undefined:
        return () => null
      case 'terms': {
        const terms = vector.terms.map(termOfWire)
        return row => terms[vector.places[row] ?? -1] ?? null
      }
      case 'subjects': {
        const columns = this.columnsOf(vector.graph)
        const subject = this.subjects(variable)
        return row => (subject(row) < 0 ? null : columns.subjectTerm(subject(row)))
      }
      case 'numbers': {
        const { kind, values, bound } = vector
        return row => {
          if (bound !== null && bound[row] !== 1) return null
          const value = values[row] as number
          return literalOf(numberFormOf({ type: 'number', kind, value }), NUMBER_TYPES[kind])
        }
      }
    }
  }

  subjects(variable: string): (row: number) => number {
    const vector = this.vectors.get(variable)
    return vector?.type === 'subjects' ? row => vector.ids[row] ?? -1 : () => -1
  }

  /** All rows as solutions. */
  solutions(): readonly Solution[] {
    const columns = [...this.vectors.keys()].map(name => [name, this.terms(name)] as const)
    return Array.from({ length: this.rows }, (_, row) => {
      const solution: Record<string, Term> = {}
      for (const [name, terms] of columns) {
        const term = terms(row)
        if (term !== null) setMember(solution, name, term)
      }
      return solution
    })
  }
}

/**
 * Converts the answer of an engine to that of a store. Engines write unescaped carriage returns into XML, which XML parses as
 * line ends (XML 1.0, section 2.11), and characters that XML cannot represent. Faults: UnprocessableEntity for those.
 */
export function engineAnswer(text: string, format: AnswerFormat): QueryAnswer {
  if (format !== 'xml') return { by: 'engine', pieces: once(Buffer.from(text)) }
  if (!isXmlText(text))
    throw new Fault(UNPROCESSABLE_ENTITY, {
      reason: 'A value is nothing that RDF/XML or XML can write. Ask for another format.',
    })
  return { by: 'engine', pieces: once(Buffer.from(text.replaceAll('\r', '&#13;'))) }
}

async function* once<T>(piece: T): AsyncGenerator<T> {
  yield piece
}
