import { createReadStream } from 'node:fs'
import { Fault } from '../../errors/errors.ts'
import { storeMemory } from '../../runtime/memory.ts'
import type { SelectOperation } from '../../sparql/algebra.ts'
import { COUNT_ALL, inGraph, select, triple, variable } from '../../sparql/build.ts'
import { generate, type Update } from '../../sparql/generate.ts'
import { columnAnswers, engineAnswer } from '../answers.ts'
import { buildColumnsInThread } from '../columns/build/build-thread.ts'
import { columnsProblem } from '../columns/sections.ts'
import type { EmbeddedOptions } from '../embedded/embedded.ts'
import { LOAD_REFUSED } from '../faults.ts'
import { RepairedColumns } from '../load.ts'
import { type GraphSource, QueryError, type Solution, type Store } from '../store.ts'
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
    const repaired = new RepairedColumns({ threads: workers, deadline, queue, memory }, onEvent)
    await repaired.columns.up
    return remoteStore(engine, forms, repaired, onEvent)
  } catch (error) {
    engine.close()
    throw error
  }
}

function remoteStore(
  engine: RemoteEngine,
  forms: StoredForms,
  repaired: RepairedColumns,
  onEvent: OnEvent,
): SharedStore {
  const { columns } = repaired
  const { kind, version, query: address } = engine.addresses
  let check: (graphs: ReadonlySet<string>) => Promise<void> | void = () => undefined
  const read = async (query: SelectOperation, deadline = engine.deadline): Promise<readonly Solution[]> =>
    readJsonSolutions(await engine.query({ text: generate(query), format: 'json', deadline }))
  /** Drops a graph, a large one in steps: some engines hold a whole change in memory, and take minutes for it. */
  const empty = async (graph: string): Promise<void> => {
    const [counted] = await read(countOf(graph), COUNTING)
    for (let left = Number(counted?.count?.value ?? 0); left > STEP; left -= STEP)
      await engine.change([{ type: 'thin', graph, triples: STEP }])
    await engine.change([{ type: 'drop', graph }])
    // Under load some engines lose deletes that they confirmed.
    if ((await read(firstOf(graph))).length > 0) await engine.change([{ type: 'drop', graph }])
  }
  const send = async ({ graph, path, columns: file, isSearched }: FileSource): Promise<void> => {
    if (path !== null && columnsProblem(file) !== null)
      await buildColumnsInThread({ triples: path, columns: file, isSearched })
    await sendColumns(engine, graph, file)
  }
  return {
    ...columnAnswers(columns),
    engine: { kind, version, address: address.href },
    forms,
    query: async query => {
      const { format, base, deadline = engine.deadline, defaultGraphs, signal } = query
      const namedGraphs = query.namedGraphs.map(([, graph]) => graph)
      await check(new Set([...defaultGraphs, ...namedGraphs]))
      // Without default graphs, or named ones, a query could access everything in some engines.
      const orNothing = (names: readonly string[]) => (names.length > 0 ? names : [NOTHING])
      const dataset = { defaultGraphs: orNothing(defaultGraphs), namedGraphs: orNothing(namedGraphs) }
      const own = query.engineText()
      refuseEngineFunctions(kind, own)
      const text = `BASE <${base}>\n${own}`
      try {
        const answer = await engine.query({ text, format, deadline, dataset, signal }, true)
        return engineAnswer(decodeAnswer(answer, format), format)
      } catch (error) {
        if (!(error instanceof QueryError) || error.line === undefined) throw error
        throw new QueryError(error.message, error.line - 1, error.column)
      }
    },
    load: (graphs, onProgress) => repaired.load(graphs, onProgress),
    drop: async graphs => repaired.drop(graphs),
    // The engine already has all graphs that are queried.
    preload: async () => undefined,
    dropShared: async graphs => {
      repaired.drop(graphs)
      for (const graph of graphs) {
        await empty(graph)
        await dropColumns(engine, graph)
      }
    },
    read,
    change: updates => engine.change(updates),
    upload: async (source, options) => {
      const { graph, path } = source
      if (path === null) throw new Fault(LOAD_REFUSED, { reason: `the triples of ${graph} are not here` })
      const uploaded = await upload({ engine, forms, graph }, createReadStream(path), options)
      await send(source)
      return uploaded
    },
    fetch: async source => {
      const { graph, columns: file } = source
      if ((await fetchColumns(engine, graph, file)) && columnsProblem(file) === null) return
      onEvent({
        event: 'columns made again',
        reason: `the engine does not have the columns of ${graph} whole: they are made of its triples`,
      })
      // An instance that has the files stores them again.
      await dropColumns(engine, graph)
      await rebuildColumns(engine, forms, source)
    },
    withColumns: () => graphsWithColumns(engine),
    sendColumns: send,
    preflight: found => {
      check = found
    },
    statistics: async () => repaired.statistics(engine),
    close: async () => {
      engine.close()
      await columns.close()
    },
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
