import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Query, SelectQuery } from '../../sparql/algebra.ts'
import { inGraph, triple, variable } from '../../sparql/build.ts'
import type { Update } from '../../sparql/update.ts'
import { graphsOfQuery } from '../../sparql/walk.ts'
import { createEmbeddedStore } from '../embedded/embedded.ts'
import { countOf, pageOf } from '../match.ts'
import { Patterns } from '../patterns.ts'
import type {
  DatasetQuery,
  GraphSource,
  LoadProgress,
  QueryOptions,
  Solution,
  Store,
  StoreStatistics,
} from '../store.ts'
import { QueryError } from '../store.ts'
import { credentialsOf, type EngineSettings, findAddresses } from './addresses.ts'
import { type EngineMemory, knownCapabilities, type ProbedCapabilities } from './capabilities.ts'
import { type DataKnowledge, EngineDialect } from './dialect.ts'
import { Engine } from './engine.ts'
import { Connections } from './http.ts'
import { asSelect, instantiated, Slices } from './slices.ts'
import { type Uploaded, type UploadOptions, upload } from './upload.ts'

export interface RemoteOptions {
  readonly settings: EngineSettings
  /** Milliseconds that a query may run, 10,000 unless told. */
  readonly deadline?: number
  /** Queries that the engine is asked at a time, 8 unless told. */
  readonly concurrency?: number
  /** Queries that may wait, 500 unless told. */
  readonly queue?: number
  readonly onEvent?: (event: { readonly event: string; readonly reason: string }) => void
  /** Where it is kept what was found out about the engine. */
  readonly memory?: EngineMemory
}

/** What is known of a graph of the engine from its publication. */
export interface GraphKnowledge {
  readonly triples: number
  /** Predicates with values that engines may treat differently (plain.ts). */
  readonly exceptions: readonly string[]
  /** Datatypes of the values of predicates. */
  readonly types: Readonly<Record<string, string>>
}

/** A file of triples that becomes a graph of the engine. */
export type FileSource = Extract<GraphSource, { readonly path: string }>

/**
 * A store that several processes share. What one process makes for itself (graphs of text: its catalog, its monitoring)
 * stays in it; graphs of files are in the engine for all.
 */
export interface SharedStore extends Store {
  readonly engine: { readonly kind: string; readonly version: string; readonly address: string }
  readonly probed: ProbedCapabilities
  /** Makes small changes in the engine, in one request. */
  change(updates: readonly Update[]): Promise<void>
  /** Adds a file to a graph piece by piece; pieces that are there already can be left out. */
  upload(source: FileSource, options: UploadOptions): Promise<Uploaded>
  /** Drops graphs of the engine. */
  dropShared(graphs: readonly string[]): Promise<void>
  /**
   * Sets what is asked before the engine is: it resolves when the graphs of a query are sure to be there, and rejects
   * with StoreUnavailable where they are not.
   */
  guard(check: (graphs: ReadonlySet<string>) => Promise<void> | void): void
  /** Says what is known of graphs of the engine. */
  learn(graphs: Iterable<readonly [string, GraphKnowledge]>): void
}

/**
 * Opens a store whose graphs are in a SPARQL 1.1 engine. Faults: StoreUnavailable where nobody answers, ConfigInvalid where
 * something else does.
 */
export async function createRemoteStore(options: RemoteOptions): Promise<SharedStore> {
  const { settings, deadline = 10_000, concurrency = 8, queue = 500 } = options
  const connections = new Connections(2 * concurrency, credentialsOf(settings))
  const addresses = await findAddresses(settings, connections)
  const engine = new Engine({ addresses, connections, concurrency, deadline, queue })
  try {
    const graph = `urn:lodestone:probe:${randomUUID()}`
    const open = () => createEmbeddedStore({ workers: 1, deadline, queue })
    return new RemoteStore(
      engine,
      open,
      await knownCapabilities(engine, open, graph, options.memory),
      options,
    )
  } catch (error) {
    engine.close()
    throw error
  }
}

class RemoteStore implements SharedStore {
  readonly capabilities
  readonly engine
  readonly probed: ProbedCapabilities
  readonly #engine: Engine
  readonly #open: () => Promise<Store>
  #opened: Promise<Store> | null = null
  readonly #slices: Slices
  readonly #patterns: Patterns
  readonly #localGraphs = new Set<string>()
  readonly #sizes = new Map<string, number>()
  readonly #exceptions = new Map<string, ReadonlySet<string>>()
  readonly #types = new Map<string, string>()
  readonly #dialect: EngineDialect
  readonly #data: DataKnowledge = {
    typeOf: predicate => this.#types.get(predicate),
    isExceptional: (graph, predicate) => this.#exceptions.get(graph)?.has(predicate) ?? false,
  }
  readonly #onEvent: NonNullable<RemoteOptions['onEvent']>
  readonly #told = new Set<string>()
  #check: (graphs: ReadonlySet<string>) => Promise<void> | void = () => undefined

  constructor(
    engine: Engine,
    open: () => Promise<Store>,
    probed: ProbedCapabilities,
    options: RemoteOptions,
  ) {
    const { kind, version, query } = engine.addresses
    this.engine = { kind, version, address: query.href }
    this.capabilities = {
      name: kind,
      rangeIndex: kind === 'virtuoso',
      fullTextIndex: false,
      geometryIndex: false,
    }
    this.probed = probed
    this.#engine = engine
    this.#open = open
    this.#dialect = new EngineDialect(engine, probed.deviations)
    this.#onEvent = options.onEvent ?? (() => undefined)
    this.#slices = new Slices(
      (query, deadline) => this.#dialect.ask(query, this.#data.typeOf, deadline),
      open,
      engine.deadline,
    )
    this.#patterns = new Patterns({
      shallow: Number.POSITIVE_INFINITY,
      page: async (graph, pattern, { offset, limit }, deadline) =>
        this.construct(pageOf(graph, pattern, offset, limit), deadline === undefined ? {} : { deadline }),
      count: async (graph, pattern, deadline) => {
        const rows = await this.select(countOf(graph, pattern), deadline === undefined ? {} : { deadline })
        return Number(rows[0]?.count?.value ?? 0)
      },
      size: graph => this.#sizes.get(graph),
    })
  }

  async select(query: SelectQuery | string, options?: QueryOptions): Promise<readonly Solution[]> {
    if (typeof query === 'string') return this.#dialect.askText(query, options?.deadline)
    const graphs = graphsOfQuery(query)
    if (this.#isLocal(graphs)) return (await this.#local()).select(query, options)
    await this.#check(graphs)
    if (!this.#dialect.isExact(query, this.#data)) return this.#slices.select(query, options)
    try {
      return await this.#dialect.ask(query, this.#data.typeOf, options?.deadline)
    } catch (error) {
      if (!(error instanceof QueryError)) throw error
      this.#tellOnce(error.message)
      return this.#slices.select(query, options)
    }
  }

  async construct(query: Extract<Query, { type: 'construct' }> | string, options?: QueryOptions) {
    if (typeof query === 'string')
      return this.#engine.query({
        text: query,
        format: 'nt',
        deadline: options?.deadline ?? this.#engine.deadline,
      })
    if (this.#isLocal(graphsOfQuery(query))) return (await this.#local()).construct(query, options)
    return instantiated(query, await this.select(asSelect(query), options))
  }

  async query(sparql: string, query: DatasetQuery): Promise<string> {
    const { defaultGraphs, namedGraphs, format, base, longest, deadline = this.#engine.deadline } = query
    const graphs = [...defaultGraphs, ...namedGraphs]
    await this.#check(new Set(graphs))
    if (this.probed.deviations.size > MOST_DEVIATIONS) {
      const whole = await this.#slices.whole([...new Set(graphs)])
      try {
        return await whole.store.query(sparql, query)
      } finally {
        whole.release()
      }
    }
    // Without any graph a query would see all that the engine has.
    const dataset = { defaultGraphs: graphs.length > 0 ? defaultGraphs : [NOTHING], namedGraphs }
    const text = base === undefined ? sparql : `BASE <${base}>\n${sparql}`
    try {
      return await this.#engine.query(
        { text, format, deadline, dataset, ...(longest === undefined ? {} : { longest }) },
        true,
      )
    } catch (error) {
      if (!(error instanceof QueryError) || base === undefined || error.line === undefined) throw error
      throw new QueryError(error.message, error.line - 1, error.column)
    }
  }

  get match(): Store['match'] {
    return async (graph, ...rest) =>
      this.#localGraphs.has(graph)
        ? (await this.#local()).match(graph, ...rest)
        : this.#patterns.match(graph, ...rest)
  }

  get count(): Store['count'] {
    return async (graph, ...rest) =>
      this.#localGraphs.has(graph)
        ? (await this.#local()).count(graph, ...rest)
        : this.#patterns.count(graph, ...rest)
  }

  async load(graphs: readonly GraphSource[], onProgress: (progress: LoadProgress) => void = () => undefined) {
    const texts = graphs.filter(source => 'text' in source)
    const files = graphs.filter(source => 'path' in source)
    if (texts.length > 0) {
      await (await this.#local()).load(texts)
      for (const { graph } of texts) this.#localGraphs.add(graph)
    }
    const total = files.reduce((sum, { triples }) => sum + triples, 0)
    let before = 0
    for (const source of files) {
      const done = before
      const onPiece = ({ lines }: { readonly lines: number }) => onProgress({ quads: done + lines, total })
      const { exceptions } = await this.upload(source, { onPiece })
      this.learn([[source.graph, { triples: await this.count(source.graph, {}), exceptions, types: {} }]])
      before += source.triples
    }
  }

  async drop(graphs: readonly string[]): Promise<void> {
    const own = graphs.filter(graph => this.#localGraphs.delete(graph))
    if (own.length > 0) await (await this.#local()).drop(own)
    const shared = graphs.filter(graph => !own.includes(graph))
    this.#patterns.forget(shared)
    for (const graph of shared) {
      this.#sizes.delete(graph)
      this.#exceptions.delete(graph)
    }
    await this.#slices.forget(shared)
  }

  async dropShared(graphs: readonly string[]): Promise<void> {
    await this.drop(graphs)
    for (const graph of graphs) await this.#empty(graph)
  }

  /** Drops a graph, a large one in steps: some engines hold all of a change in memory, and take minutes for it. */
  async #empty(graph: string): Promise<void> {
    const [counted] = await this.#dialect.ask(countOf(graph, {}), this.#data.typeOf, COUNTING)
    for (let left = Number(counted?.count?.value ?? 0); left > STEP; left -= STEP)
      await this.#engine.change([{ type: 'thin', graph, triples: STEP }])
    await this.#engine.change([{ type: 'drop', graph }])
    // Under load some engines lose deletes that they said were done.
    if ((await this.#dialect.ask(firstOf(graph), this.#data.typeOf)).length > 0)
      await this.#engine.change([{ type: 'drop', graph }])
  }

  change(updates: readonly Update[]): Promise<void> {
    return this.#engine.change(updates)
  }

  upload(source: FileSource, options: UploadOptions): Promise<Uploaded> {
    // What was counted before is not what there is now.
    this.#patterns.forget([source.graph])
    const target = { engine: this.#engine, codec: this.#dialect.codec, graph: source.graph }
    return upload(target, createReadStream(source.path), options)
  }

  guard(check: (graphs: ReadonlySet<string>) => Promise<void> | void): void {
    this.#check = check
  }

  learn(graphs: Iterable<readonly [string, GraphKnowledge]>): void {
    for (const [graph, { triples, exceptions, types }] of graphs) {
      this.#sizes.set(graph, triples)
      if (exceptions.length > 0) this.#exceptions.set(graph, new Set(exceptions))
      for (const [predicate, type] of Object.entries(types)) this.#types.set(predicate, type)
    }
  }

  async statistics(): Promise<StoreStatistics> {
    const local = await (await this.#local()).statistics()
    return {
      quads: [...this.#sizes.values()].reduce((sum, size) => sum + size, 0) + local.quads,
      graphs: this.#sizes.size + local.graphs,
      workers: local.workers,
      memory: local.memory,
      deadlines: this.#engine.deadlines + local.deadlines,
    }
  }

  async close(): Promise<void> {
    this.#engine.close()
    await this.#slices.close()
    await (await this.#opened?.catch(() => undefined))?.close()
  }

  /** The store of what this process makes for itself, opened when there is the first of it. */
  #local(): Promise<Store> {
    this.#opened ??= this.#open().catch(error => {
      this.#opened = null
      throw error
    })
    return this.#opened
  }

  /** Graphs of this process, or none at all: something that is computed. */
  #isLocal(graphs: ReadonlySet<string>): boolean {
    return [...graphs].every(graph => this.#localGraphs.has(graph))
  }

  #tellOnce(message: string): void {
    const key = message.slice(0, 60)
    if (this.#told.has(key) || this.#told.size > 100) return
    this.#told.add(key)
    this.#onEvent({ event: 'query refused by the engine', reason: message.slice(0, 500) })
  }
}

/** Triples of a graph that are dropped at a time, and milliseconds for counting them. */
const STEP = 100_000
const COUNTING = 1_800_000

/** One triple of a graph. */
function firstOf(graph: string): SelectQuery {
  const [s, p, o] = [variable('s'), variable('p'), variable('o')]
  return { type: 'select', projection: [{ variable: s }], where: [inGraph(graph, triple(s, p, o))], limit: 1 }
}

/** Name of a graph that never is. */
const NOTHING = 'urn:lodestone:nothing'

/** An engine with more deviations is not asked what strangers write. */
const MOST_DEVIATIONS = 20
