import { Fault } from '../../errors/errors.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import type { TriplePattern } from '../../rdf/term.ts'
import { currentClient } from '../../runtime/work-client.ts'
import type { QueryOperation } from '../../sparql/algebra.ts'
import type { CursorContext } from '../../sparql/row-writer.ts'
import { STORE_UNAVAILABLE } from '../faults.ts'
import type { GraphHeader } from './file-layout.ts'
import type { GraphColumns } from './graph.ts'
import { ColumnsDamaged, readHeader, unpackedCheck } from './sections.ts'
import { JobRunner, type JobRunnerOptions, type QueryLimits, rebuilding } from './threads/job-runner.ts'
import type { Job, QueriedGraphs, TextFormat, WireTable } from './threads/protocol.ts'
import { type ColumnBytes, GraphRegistry } from './threads/registry.ts'

export interface ColumnStoreOptions extends JobRunnerOptions {
  /** Bytes that columns in memory may take, and the intermediate results of one query. */
  readonly memory: { readonly columns: number; readonly query: number }
}

/** Minimum number of subjects or bytes of a graph that is prepared for queries, and the part of the memory that this may use. */
const LARGE_GRAPH = { subjects: 20_000, bytes: 2 ** 24 } as const
const PREPARED_PART = 2

function isLarge({ subjects, sections }: GraphHeader): boolean {
  const bytes = sections.reduce((sum, { length }) => sum + length, 0)
  return subjects >= LARGE_GRAPH.subjects || bytes >= LARGE_GRAPH.bytes
}

/**
 * Milliseconds that building the columns of a graph in memory, and preparing one of them, may take: the catalog of thousands of datasets is
 * no query, and without it nothing is served; what is prepared stands back for every query.
 */
const WORK_DEADLINE = 600_000

/** Bytes of a chunk of text. */
const PIECE = 2 ** 18

/** Bytes of a chunk of N-Triples: most clients request another format, to which each chunk is converted. */
const TRIPLES_PIECE = 2 ** 16

/** Answers queries from columns, in threads that share one copy of them. */
export class ColumnStore {
  private readonly options: ColumnStoreOptions
  private readonly registry: GraphRegistry
  private readonly runner: JobRunner
  /** Resolves when the threads are ready. */
  readonly up: Promise<void>

  /** Queries are queued until the threads are ready: see {@link up}. */
  constructor(options: ColumnStoreOptions) {
    this.options = options
    this.registry = new GraphRegistry(options.memory.columns, (graph, { message }) => {
      this.runner.noteDamage(graph, message)
      return rebuilding()
    })
    this.runner = new JobRunner(options, this.registry)
    this.up = this.runner.start()
    void ignoreRejection(this.up, 'who waits for it gets it')
  }

  get deadlines(): number {
    return this.runner.deadlines
  }

  /**
   * Attaches the columns of a graph from a file; reads only its header. Throws ColumnsDamaged, also for the columns of other
   * triples than those of the given file.
   */
  attach(name: string, path: string, triples: string | null = null): void {
    const header = readHeader(path)
    if (triples !== null && header.text !== undefined && header.text !== unpackedCheck(triples))
      throw new ColumnsDamaged(path, 'it was made of other triples')
    this.registry.add({ name, header, path, memory: null })
  }

  /** Attaches the columns of a graph whose file was rebuilt. Throws ColumnsDamaged. */
  reattach(name: string, path: string): void {
    if (!this.registry.has(name)) return
    const header = readHeader(path)
    this.registry.remove([name], this.runner.threads)
    this.registry.add({ name, header, path, memory: null })
    this.runner.forgetDamage(name)
  }

  /** Builds the columns of a small graph in memory. */
  async build(
    name: string,
    text: string,
    {
      subjects,
      predicates,
      isSearched,
    }: Pick<Extract<Job, { readonly type: 'build' }>, 'subjects' | 'predicates' | 'isSearched'>,
  ): Promise<void> {
    const job: Job = { type: 'build', text, subjects, predicates, isSearched }
    const { header, buffers } = await this.runner.once(job, [], 'built', { deadline: WORK_DEADLINE })
    this.registry.add({ name, header, path: null, memory: buffers })
  }

  has(name: string): boolean {
    return this.registry.has(name)
  }

  /** The columns of a graph for this thread: sections that are not in memory are read from the file. */
  columns(name: string): GraphColumns {
    const columns = this.registry.columns(name)
    if (columns === undefined)
      throw new Fault(STORE_UNAVAILABLE, { reason: `the graph ${name} is not there.` })
    return columns
  }

  drop(names: readonly string[]): void {
    for (const name of names) this.runner.forgetDamage(name)
    this.registry.remove(names, this.runner.threads)
  }

  /** The tables of SELECTs, which begin together. Faults: DeadlineExceeded, StoreBusy, StoreUnavailable, UnprocessableEntity; {@link NotInColumns}. */
  async answers(
    queries: readonly QueryOperation[],
    graphs: QueriedGraphs,
    options: QueryLimits & { readonly counted?: boolean; readonly contents?: readonly string[] } = {},
  ): Promise<readonly WireTable[]> {
    const { counted = false, contents = [] } = options
    const tables = await this.runner.tables(
      { type: 'table', queries, graphs, counted, contents },
      namesOf(graphs),
      options,
    )
    const [, graph] = graphs.namedGraphs[0] ?? []
    if (graph !== undefined && tables.some(({ rows }) => rows > 0)) this.registry.noteLoaded(graph, contents)
    return tables
  }

  /** The answer of a query as text, in chunks, which are computed on demand. Same faults. */
  text(
    query: QueryOperation,
    graphs: QueriedGraphs,
    format: TextFormat,
    options: QueryLimits & {
      readonly base?: string | undefined
      readonly continuation?: CursorContext | null
    } = {},
  ): AsyncGenerator<Uint8Array> {
    const { base = null, continuation = null } = options
    const piece = format === 'nt' ? TRIPLES_PIECE : PIECE
    const job: Job = { type: 'text', query, graphs, format, base, piece, continuation }
    return this.runner.pieces(job, namesOf(graphs), options, currentClient()) as AsyncGenerator<Uint8Array>
  }

  /** The answer of a SELECT in tables of a maximum number of rows. Same faults. */
  tables(
    query: QueryOperation,
    graphs: QueriedGraphs,
    rows: number,
    options: QueryLimits = {},
  ): AsyncGenerator<WireTable> {
    const job: Job = { type: 'tables', query, graphs, rows }
    return this.runner.pieces(job, namesOf(graphs), options, currentClient()) as AsyncGenerator<WireTable>
  }

  async match(
    graph: string,
    pattern: TriplePattern,
    page: { readonly offset: number; readonly limit: number },
    options: QueryLimits = {},
  ): Promise<{ readonly triples: string; readonly count: number }> {
    const job: Job = { type: 'match', graph, pattern, ...page }
    const { triples, count } = await this.runner.once(job, [graph], 'matched', options)
    return { triples, count }
  }

  /** The triples of the first subjects, of some at a time, as N-Triples. */
  async *lines(graph: string, subjects: number, size: number): AsyncGenerator<string> {
    const job: Job = { type: 'lines', graph, subjects, size }
    for await (const piece of this.runner.pieces(job, [graph], {}, currentClient()))
      yield Buffer.from(piece as Uint8Array).toString()
  }

  /** Loads into memory what is needed to write the values of some columns. */
  async touch(graph: string, predicates: readonly string[]): Promise<void> {
    if (this.registry.isLoaded(graph, predicates)) return
    await this.runner.once({ type: 'touch', graph, predicates }, [graph], 'touched', {})
    this.registry.noteLoaded(graph, predicates)
  }

  /**
   * Computes what queries of a large graph need, column by column while no other job waits, so that the first query is fast.
   * Anything that cannot be computed now is computed on first use.
   */
  async prepare(graph: string): Promise<void> {
    const header = this.registry.header(graph)
    if (header === undefined || !isLarge(header)) return
    for (let column = 0; column < header.columns.length; column++) {
      const { columns, dictionaries, derived } = this.registry.statistics()
      const isFull = columns + dictionaries + derived > this.options.memory.columns / PREPARED_PART
      if (this.runner.isClosed || isFull || !this.registry.has(graph)) return
      try {
        const job: Job = { type: 'prepare', graph, column }
        await this.runner.once(job, [graph], 'touched', { lane: 'slow', deadline: WORK_DEADLINE })
      } catch {
        return
      }
    }
  }

  statistics(): {
    readonly graphs: number
    readonly triples: number
    readonly threads: { readonly ready: number; readonly wanted: number }
    readonly bytes: ColumnBytes
  } {
    let triples = 0
    for (const name of this.registry.names()) triples += this.registry.header(name)?.triples ?? 0
    return {
      graphs: this.registry.size,
      triples,
      threads: { ready: this.runner.threads.size, wanted: this.runner.size },
      bytes: this.registry.statistics(),
    }
  }

  close(): Promise<void> {
    return this.runner.close()
  }
}

function namesOf({ defaultGraphs, namedGraphs }: QueriedGraphs): readonly string[] {
  return [...new Set([...defaultGraphs, ...namedGraphs.map(([, graph]) => graph)])]
}
