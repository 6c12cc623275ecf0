import { createReadStream } from 'node:fs'
import { Fault } from '../../errors/errors.ts'
import { storeMemory } from '../../runtime/memory.ts'
import type { SelectOperation } from '../../sparql/algebra.ts'
import { COUNT_ALL, inGraph, select, triple, variable } from '../../sparql/build.ts'
import { generate } from '../../sparql/generate.ts'
import type { Update } from '../../sparql/update.ts'
import { type ColumnAnswers, columnAnswers } from '../answers.ts'
import { buildColumnsInThread } from '../columns/build/build-thread.ts'
import { ColumnStore } from '../columns/column-store.ts'
import { columnsProblem } from '../columns/sections.ts'
import type { EmbeddedOptions } from '../embedded/embedded.ts'
import { engineAnswer } from '../engine-answer.ts'
import { LOAD_REFUSED } from '../faults.ts'
import { ColumnRepairs, loadColumns } from '../load.ts'
import type { GraphSource, LoadProgress, QueryAnswer, Solution, Store, UntrustedQuery } from '../store.ts'
import { QueryError } from '../store.ts'
import { credentialsOf, type EngineKind, type EngineSettings, findAddresses } from './addresses.ts'
import { RemoteEngine } from './engine.ts'
import { Connections } from './http.ts'
import {
  dropColumns,
  fetchColumns,
  graphsWithColumns,
  type RebuiltGraph,
  rebuildColumns,
  sendColumns,
} from './rebuild.ts'
import { readJsonSolutions } from './results.ts'
import { refuseEngineFunctions, type Uploaded, type UploadOptions, upload } from './upload.ts'
import { decodeAnswer, findStoredForms, type StoredForms } from './value-roundtrip.ts'

export interface RemoteOptions extends Omit<EmbeddedOptions, 'useFile' | 'onEvent'> {
  readonly settings: EngineSettings
  /** Maximum number of concurrent queries, 8 by default. */
  readonly concurrency?: number
  readonly onEvent?: OnEvent
}

type OnEvent = (event: { readonly event: string; readonly reason: string }) => void

/** A file of triples to store as a graph of the engine. */
export type FileSource = Extract<GraphSource, { readonly columns: string }>

/**
 * A store that several processes share: an engine has the triples, for SPARQL, and each process has their columns, from which
 * everything else is answered. Graphs that a process creates for itself (graphs of text: its catalog, its monitoring) stay in it.
 */
export interface SharedStore extends Store {
  readonly engine: { readonly kind: EngineKind; readonly version: string; readonly address: string }
  /** How the engine changes values. */
  readonly forms: StoredForms
  read(query: SelectOperation, deadline?: number): Promise<readonly Solution[]>
  /** Makes small changes in the engine, in one request. */
  change(updates: readonly Update[]): Promise<void>
  /** Adds the triples of a file to a graph in chunks, and their columns; chunks that are already there can be skipped. */
  upload(source: FileSource, options: UploadOptions): Promise<Uploaded>
  /**
   * Downloads the columns of a graph from the engine; where it does not have them completely, they are rebuilt from its triples.
   * Faults: LoadRefused where it does not have these either; StoreUnavailable, DeadlineExceeded.
   */
  fetch(source: RebuiltGraph): Promise<void>
  /** The graphs whose columns the engine has. */
  withColumns(): Promise<ReadonlySet<string>>
  /** Stores the columns of a graph in the engine. */
  sendColumns(source: FileSource): Promise<void>
  /** Drops graphs of the engine. */
  dropShared(graphs: readonly string[]): Promise<void>
  /**
   * Sets a check that runs before each query: it resolves when the graphs of the query are certain to exist, and rejects
   * with StoreUnavailable where they are not.
   */
  preflight(check: (graphs: ReadonlySet<string>) => Promise<void> | void): void
}

const DEFAULTS = { workers: 2, deadline: 10_000, concurrency: 8, queue: 500, memory: storeMemory(2e9) }

/**
 * Opens a store whose graphs are in a SPARQL 1.1 engine. Faults: StoreUnavailable without an answer, ConfigInvalid for an answer
 * that is not SPARQL.
 */
export async function createRemoteStore(options: RemoteOptions): Promise<SharedStore> {
  const { settings, workers, deadline, concurrency, queue, memory } = { ...DEFAULTS, ...options }
  const onEvent = options.onEvent ?? (() => undefined)
  const connections = new Connections(2 * concurrency, credentialsOf(settings))
  const addresses = await findAddresses(settings, connections)
  const engine = new RemoteEngine({ addresses, connections, concurrency, deadline, queue })
  try {
    const forms = await findStoredForms(engine)
    const repairs = new ColumnRepairs(onEvent)
    const columns = await ColumnStore.open({
      threads: workers,
      deadline,
      queue,
      memory,
      onEvent,
      onDamage: (graph, reason) => void repairs.repair(columns, graph, reason),
    })
    return new RemoteStore(engine, forms, columns, repairs, onEvent)
  } catch (error) {
    engine.close()
    throw error
  }
}

class RemoteStore implements SharedStore {
  readonly engine
  readonly forms: StoredForms
  readonly select: ColumnAnswers['select']
  readonly page: ColumnAnswers['page']
  readonly together: ColumnAnswers['together']
  readonly pages: ColumnAnswers['pages']
  readonly contents: ColumnAnswers['contents']
  readonly lines: ColumnAnswers['lines']
  readonly construct: ColumnAnswers['construct']
  readonly match: ColumnAnswers['match']
  readonly count: ColumnAnswers['count']
  private readonly remoteEngine: RemoteEngine
  private readonly columns: ColumnStore
  private readonly repairs: ColumnRepairs
  private readonly onEvent: OnEvent
  private check: (graphs: ReadonlySet<string>) => Promise<void> | void = () => undefined

  constructor(
    engine: RemoteEngine,
    forms: StoredForms,
    columns: ColumnStore,
    repairs: ColumnRepairs,
    onEvent: OnEvent,
  ) {
    const { kind, version, query } = engine.addresses
    this.onEvent = onEvent
    this.engine = { kind, version, address: query.href }
    this.forms = forms
    this.remoteEngine = engine
    this.columns = columns
    this.repairs = repairs
    const answers = columnAnswers(columns)
    this.select = answers.select
    this.page = answers.page
    this.together = answers.together
    this.pages = answers.pages
    this.contents = answers.contents
    this.lines = answers.lines
    this.construct = answers.construct
    this.match = answers.match
    this.count = answers.count
  }

  async query(query: UntrustedQuery): Promise<QueryAnswer> {
    const { format, base, deadline = this.remoteEngine.deadline, defaultGraphs } = query
    const namedGraphs = query.namedGraphs.map(([, graph]) => graph)
    const graphs = [...defaultGraphs, ...namedGraphs]
    await this.check(new Set(graphs))
    // Without default graphs, or named ones, a query could access everything in some engines.
    const orNothing = (names: readonly string[]) => (names.length > 0 ? names : [NOTHING])
    const dataset = { defaultGraphs: orNothing(defaultGraphs), namedGraphs: orNothing(namedGraphs) }
    const own = query.engineText()
    refuseEngineFunctions(this.engine.kind, own)
    const text = `BASE <${base}>\n${own}`
    try {
      const answer = await this.remoteEngine.query({ text, format, deadline, dataset }, true)
      return engineAnswer(decodeAnswer(answer, format), format)
    } catch (error) {
      if (!(error instanceof QueryError) || error.line === undefined) throw error
      throw new QueryError(error.message, error.line - 1, error.column)
    }
  }

  async load(graphs: readonly GraphSource[], onProgress: (progress: LoadProgress) => void = () => undefined) {
    this.repairs.register(graphs)
    await loadColumns(this.columns, graphs, onProgress, reason =>
      this.onEvent({ event: 'columns made again', reason }),
    )
  }

  async drop(graphs: readonly string[]): Promise<void> {
    this.columns.drop(graphs)
    this.repairs.forget(graphs)
  }

  /** The engine already has all graphs that are queried. */
  async preload(): Promise<void> {}

  async dropShared(graphs: readonly string[]): Promise<void> {
    await this.drop(graphs)
    for (const graph of graphs) {
      await this.empty(graph)
      await dropColumns(this.remoteEngine, graph)
    }
  }

  /** Drops a graph, a large one in steps: some engines hold a whole change in memory, and take minutes for it. */
  private async empty(graph: string): Promise<void> {
    const [counted] = await this.read(countOf(graph), COUNTING)
    for (let left = Number(counted?.count?.value ?? 0); left > STEP; left -= STEP)
      await this.remoteEngine.change([{ type: 'thin', graph, triples: STEP }])
    await this.remoteEngine.change([{ type: 'drop', graph }])
    // Under load some engines lose deletes that they confirmed.
    if ((await this.read(firstOf(graph))).length > 0)
      await this.remoteEngine.change([{ type: 'drop', graph }])
  }

  async read(query: SelectOperation, deadline = this.remoteEngine.deadline): Promise<readonly Solution[]> {
    return readJsonSolutions(
      await this.remoteEngine.query({ text: generate(query), format: 'json', deadline }),
    )
  }

  change(updates: readonly Update[]): Promise<void> {
    return this.remoteEngine.change(updates)
  }

  async upload(source: FileSource, options: UploadOptions): Promise<Uploaded> {
    const { graph, path } = source
    if (path === null) throw new Fault(LOAD_REFUSED, { reason: `the triples of ${graph} are not here` })
    const target = { engine: this.remoteEngine, forms: this.forms, graph }
    const uploaded = await upload(target, createReadStream(path), options)
    await this.sendColumns(source)
    return uploaded
  }

  async fetch(source: RebuiltGraph): Promise<void> {
    const { graph, columns } = source
    if ((await fetchColumns(this.remoteEngine, graph, columns)) && columnsProblem(columns) === null) return
    this.onEvent({
      event: 'columns made again',
      reason: `the engine does not have the columns of ${graph} whole: they are made of its triples`,
    })
    // An instance that has the files stores them again.
    await dropColumns(this.remoteEngine, graph)
    await rebuildColumns(this.remoteEngine, this.forms, source)
  }

  withColumns(): Promise<ReadonlySet<string>> {
    return graphsWithColumns(this.remoteEngine)
  }

  async sendColumns({ graph, path, columns, isSearched }: FileSource): Promise<void> {
    if (path !== null && columnsProblem(columns) !== null)
      await buildColumnsInThread({ triples: path, columns, isSearched })
    await sendColumns(this.remoteEngine, graph, columns)
  }

  preflight(check: (graphs: ReadonlySet<string>) => Promise<void> | void): void {
    this.check = check
  }

  async statistics() {
    const { graphs, triples, threads, bytes } = this.columns.statistics()
    const deadlines = this.columns.deadlines + this.remoteEngine.deadlines
    return { graphs, triples, threads, bytes: { ...bytes, resident: 0 }, resident: 0, deadlines }
  }

  async close(): Promise<void> {
    this.remoteEngine.close()
    await this.columns.close()
  }
}

/** Number of triples of a graph that are dropped at a time, and milliseconds for counting them. */
const STEP = 100_000
const COUNTING = 1_800_000

const [S, P, O] = [variable('s'), variable('p'), variable('o')]

function firstOf(graph: string): SelectOperation {
  return select([S], inGraph(graph, triple(S, P, O)), { limit: 1 })
}

/** The number of triples of a graph, as ?count. */
export function countOf(graph: string): SelectOperation {
  const counted = { variable: variable('count'), aggregate: COUNT_ALL }
  return select([counted], inGraph(graph, triple(S, P, O)))
}

/** Name of a graph that never exists. */
const NOTHING = 'urn:lodestone:nothing'
