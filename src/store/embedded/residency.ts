import { createHash } from 'node:crypto'
import { Fault } from '../../errors.ts'
import { megabytes } from '../../memory.ts'
import { currentClient } from '../../model/work-client.ts'
import type { AnswerFormat } from '../store.ts'
import { EngineThread } from './engine-thread.ts'
import { FairQueue } from './fair-queue.ts'
import { estimate } from './memory.ts'
import type { DatasetOfQuery, TripleSource } from './protocol.ts'
import { queryError } from './query-error.ts'

export interface EngineOptions {
  readonly module: WebAssembly.Module
  /** Milliseconds that a query may run. */
  readonly deadline: number
  /** Queries that may wait. */
  readonly queue: number
  /** Bytes that the graphs in the engine may take. */
  readonly memory: number
  readonly onEvent: (event: EngineEvent) => void
}

/** Something that an operator should know. */
export interface EngineEvent {
  readonly event: 'engine ended' | 'graph resident' | 'graph dropped'
  readonly reason: string
}

/** A query for the engine, in which graphs have their names in the store. */
export interface EngineQuery {
  readonly sparql: string
  readonly format: AnswerFormat
  readonly dataset: DatasetOfQuery
  readonly deadline: number | undefined
}

interface Resident {
  readonly bytes: number
  /** Number of the last query that needed it. */
  used: number
}

/** Longest answer that is passed from the engine, in characters. */
const LONGEST_ANSWER = 256 * 2 ** 20

/** Milliseconds that a query waits for the engine in any case. */
const LEAST_PATIENCE = 10_000

/** Bytes of an engine without graphs; beyond these and those for graphs, the heap was blown up by a query: the engine is begun anew. */
export const EMPTY_ENGINE = 64 * 2 ** 20

/**
 * The engine for queries that columns do not evaluate. A graph is resident, loaded from its triples, from the first query
 * that needs it until others need its room. The merge of several graphs is a graph of its own in the engine, which would
 * otherwise count what two of them have twice.
 */
export class ResidentEngine {
  deadlines = 0
  private readonly options: EngineOptions
  private readonly sources = new Map<string, TripleSource>()
  private readonly residents = new Map<string, Resident>()
  private thread: EngineThread | null = null
  private readonly queue: FairQueue
  private clock = 0
  private closed = false

  constructor(options: EngineOptions) {
    this.options = options
    this.queue = new FairQueue({ limit: options.queue, patience: Math.max(LEAST_PATIENCE, options.deadline) })
  }

  /** Tells where the triples of a graph are. */
  register(graph: string, source: TripleSource): void {
    this.sources.set(graph, source)
  }

  /** Forgets graphs; what is resident of them goes when its room is needed. */
  forget(graphs: readonly string[]): void {
    for (const graph of graphs) this.sources.delete(graph)
  }

  statistics(): { readonly graphs: number; readonly bytes: number } {
    return { graphs: this.residents.size, bytes: this.thread?.memory ?? 0 }
  }

  /** Answers a query. Faults: DeadlineExceeded, StoreBusy, StoreUnavailable, UnprocessableEntity; QueryError. */
  async query(query: EngineQuery): Promise<string> {
    const client = currentClient()
    const { deadline = this.options.deadline } = query
    const milliseconds = client?.deadline(deadline) ?? deadline
    try {
      return await this.queue.run(client, () => this.answer(query, milliseconds))
    } catch (error) {
      if (error instanceof Fault && error.code === 'DeadlineExceeded') client?.offend()
      throw error
    }
  }

  async close(): Promise<void> {
    this.closed = true
    await this.thread?.end()
  }

  private async answer({ sparql, format, dataset }: EngineQuery, deadline: number): Promise<string> {
    if (this.closed) throw new Fault('StoreUnavailable', { reason: 'the store is closed.' })
    this.clock += 1
    const thread = await this.started()
    const defaults = dataset.defaultGraphs.filter(graph => this.sources.has(graph))
    const named = dataset.namedGraphs.filter(graph => this.sources.has(graph))
    const merged = defaults.length > 1 ? mergeName(defaults) : null
    const needed = new Map<string, readonly string[]>(named.map(graph => [graph, [graph]]))
    if (merged !== null) needed.set(merged, defaults)
    else for (const graph of defaults) needed.set(graph, [graph])
    await this.bring(thread, needed)
    let late = false
    const timer = setTimeout(() => {
      late = true
      this.deadlines += 1
      void thread.end()
    }, deadline)
    const seen = { ...dataset, defaultGraphs: merged === null ? defaults : [merged], namedGraphs: named }
    const reply = await thread.ask({ type: 'query', sparql, format, dataset: seen, longest: LONGEST_ANSWER })
    clearTimeout(timer)
    if (late) throw new Fault('DeadlineExceeded', { seconds: deadline / 1000 })
    if (thread.memory > this.options.memory + EMPTY_ENGINE) {
      this.options.onEvent({
        event: 'engine ended',
        reason: `a query left ${megabytes(thread.memory)} behind`,
      })
      await thread.end()
    }
    switch (reply.type) {
      case 'answer':
        return reply.text
      case 'error':
        throw queryError(reply.message)
      case 'oversize':
        throw new Fault('UnprocessableEntity', {
          reason:
            'The answer is longer than the engine can pass on. Ask for less of it at a time, with LIMIT and OFFSET.',
        })
      case 'trap':
        throw new Fault(
          'UnprocessableEntity',
          { reason: 'The query needs more memory than the engine has, or is nested too deep for it.' },
          { cause: new Error(reply.reason) },
        )
      default:
        throw new Error(`unexpected ${reply.type}`)
    }
  }

  private async started(): Promise<EngineThread> {
    if (this.thread !== null && !this.thread.dead) return this.thread
    this.residents.clear()
    const thread = new EngineThread(this.options.module, reason => {
      if (this.thread !== thread) return
      this.thread = null
      this.residents.clear()
      if (!this.closed) this.options.onEvent({ event: 'engine ended', reason })
    })
    this.thread = thread
    await thread.up
    return thread
  }

  /** Makes graphs resident, in the place of those that were needed longest ago. */
  private async bring(thread: EngineThread, needed: ReadonlyMap<string, readonly string[]>): Promise<void> {
    const sizes = new Map([...needed].map(([name, graphs]) => [name, this.sizeOf(graphs)]))
    const all = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
    const { memory, onEvent } = this.options
    if (all > memory)
      throw new Fault('UnprocessableEntity', {
        reason:
          `This query is one that only the engine evaluates, over graphs that need ${megabytes(all)} of memory in it; ` +
          `it has ${megabytes(memory)}. Name fewer graphs with FROM or GRAPH, or ask the endpoint of one dataset. ` +
          'Whoever runs the portal can raise its memory, or take an engine outside of it.',
      })
    for (const name of needed.keys()) {
      const resident = this.residents.get(name)
      if (resident !== undefined) resident.used = this.clock
    }
    const missing = [...needed].filter(([name]) => !this.residents.has(name))
    await this.makeRoom(
      thread,
      missing.reduce((sum, [name]) => sum + (sizes.get(name) ?? 0), 0),
      needed,
    )
    for (const [name, graphs] of missing) {
      const begun = performance.now()
      for (const graph of graphs) {
        const source = this.sources.get(graph)
        if (source === undefined) continue
        const reply = await thread.ask({
          type: 'load',
          graph: name,
          source,
          limit: memory + EMPTY_ENGINE,
        })
        if (reply.type !== 'loaded')
          throw new Fault('StoreUnavailable', {
            reason: 'message' in reply ? reply.message : `the graph ${graph} could not be loaded.`,
          })
      }
      this.residents.set(name, { bytes: sizes.get(name) ?? 0, used: this.clock })
      const seconds = ((performance.now() - begun) / 1000).toFixed(1)
      onEvent({ event: 'graph resident', reason: `${graphs.join(', ')} in ${seconds} s` })
    }
  }

  private async makeRoom(
    thread: EngineThread,
    bytes: number,
    needed: ReadonlyMap<string, readonly string[]>,
  ): Promise<void> {
    let used = [...this.residents.values()].reduce((sum, resident) => sum + resident.bytes, 0)
    const oldest = [...this.residents]
      .filter(([name]) => !needed.has(name))
      .sort(([, a], [, b]) => a.used - b.used)
    for (const [name, resident] of oldest) {
      if (used + bytes <= this.options.memory) return
      await thread.ask({ type: 'drop', graphs: [name] })
      this.residents.delete(name)
      used -= resident.bytes
      this.options.onEvent({ event: 'graph dropped', reason: name })
    }
  }

  private sizeOf(graphs: readonly string[]): number {
    return graphs.reduce((sum, graph) => {
      const source = this.sources.get(graph)
      if (source === undefined) return sum
      if ('path' in source) return sum + estimate(source.triples, source.bytes)
      return sum + estimate(source.text.split('\n').length - 1, Buffer.byteLength(source.text))
    }, 0)
  }
}

function mergeName(graphs: readonly string[]): string {
  return `urn:lodestone:merge:${createHash('sha1')
    .update([...graphs].sort().join('\n'))
    .digest('hex')}`
}
