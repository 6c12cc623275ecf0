import { createHash } from 'node:crypto'
import { Fault, isFault, UNPROCESSABLE_ENTITY } from '../../errors/errors.ts'
import { FairQueue } from '../../runtime/fair-queue.ts'
import { megabytes } from '../../runtime/memory.ts'
import { currentClient } from '../../runtime/work-client.ts'
import { DEADLINE_EXCEEDED, STORE_UNAVAILABLE } from '../faults.ts'
import type { AnswerFormat } from '../store.ts'
import type { EngineThread } from './engine-thread.ts'
import type { GraphUse } from './graph-use.ts'
import { estimate } from './module.ts'
import type { DatasetOfQuery, TripleSource } from './protocol.ts'
import { queryError } from './traps.ts'

/** An engine into which graphs are loaded and in which they are queried. */
export type Engine = Pick<EngineThread, 'memory' | 'dead' | 'up' | 'send' | 'end'>

export interface ResidentEngineOptions {
  /** Starts an engine; `onDeath` is called once, when it has ended. */
  readonly start: (onDeath: (reason: string) => void) => Engine
  /** Milliseconds that a query may run. */
  readonly deadline: number
  /** Maximum number of waiting queries. */
  readonly queue: number
  /** Maximum bytes of the graphs in the engine. */
  readonly memory: number
  /** Bytes of its heap beyond which a load is refused; the limit of the module itself is slightly higher. */
  readonly ceiling: number
  /** Maximum length of an answer, in characters. */
  readonly maxAnswer: number
  /** Counts the use of graphs, so that they can be preloaded. */
  readonly use: GraphUse
  readonly onEvent: (event: EngineEvent) => void
}

/** An event for operators. */
export interface EngineEvent {
  readonly event: 'engine ended' | 'graph loading' | 'graph resident' | 'graph dropped'
  readonly reason: string
}

/** A query for the engine, with the store's names of graphs. */
export interface ResidentQuery {
  readonly sparql: string
  readonly format: AnswerFormat
  readonly dataset: DatasetOfQuery
  readonly deadline: number | undefined
  /** A query that is aborted before its turn is not run. */
  readonly signal?: AbortSignal | undefined
}

interface Resident {
  readonly bytes: number
  /** Number of the last query that needed it. */
  used: number
}

/** Minimum milliseconds that a query waits for the engine. */
const LEAST_TIMEOUT = 10_000

/** Milliseconds between two progress reports of a load. */
const PROGRESS_INTERVAL = 2000

/** The heap had no room for a graph, or is inconsistent after the attempt. */
class HeapFull extends Error {}

/**
 * The engine for queries that columns do not evaluate. A graph is resident, loaded from its triples, from the first query that
 * needs it until others need its memory. The merge of several graphs is a separate graph in the engine, which would otherwise
 * count common triples twice.
 */
export class ResidentEngine {
  deadlines = 0
  private readonly options: ResidentEngineOptions
  private readonly sources = new Map<string, TripleSource>()
  private readonly residents = new Map<string, Resident>()
  private thread: Engine | null = null
  /** One job at a time: a query that needs a graph that is being loaded waits for that load. */
  private readonly queue: FairQueue
  private waiting = 0
  private clock = 0
  private closed = false

  constructor(options: ResidentEngineOptions) {
    this.options = options
    const timeout = Math.max(LEAST_TIMEOUT, options.deadline)
    this.queue = new FairQueue({ limit: options.queue, timeout })
  }

  /** Registers the source of the triples of a graph. */
  register(graph: string, source: TripleSource): void {
    this.sources.set(graph, source)
  }

  /** Unregisters graphs; resident ones are removed when their memory is needed. */
  forget(graphs: readonly string[]): void {
    for (const graph of graphs) this.sources.delete(graph)
  }

  statistics(): { readonly graphs: number; readonly bytes: number } {
    return { graphs: this.residents.size, bytes: this.thread?.memory ?? 0 }
  }

  /** Answers a query. Faults: DeadlineExceeded, StoreBusy, StoreUnavailable, UnprocessableEntity; QueryError. */
  async query(query: ResidentQuery): Promise<string> {
    const client = currentClient()
    const { deadline = this.options.deadline } = query
    const milliseconds = client?.deadline(deadline) ?? deadline
    this.waiting += 1
    try {
      return await this.queue.run(client, async () => {
        query.signal?.throwIfAborted()
        return this.answer(query, milliseconds)
      })
    } catch (error) {
      if (isFault(error, DEADLINE_EXCEEDED)) client?.offend()
      throw error
    } finally {
      this.waiting -= 1
    }
  }

  /** Preloads frequently used graphs while the engine is idle, as far as memory allows. */
  async preload(): Promise<void> {
    for (const graphs of this.options.use.frequent(this.sources.keys())) {
      if (this.waiting > 0 || this.closed) return
      const needed = new Map([[graphs.length > 1 ? mergeName(graphs) : (graphs[0] as string), graphs]])
      if (this.used() + this.sizeOf(graphs) > this.options.memory) continue
      try {
        await this.queue.run(null, async () => this.bring(await this.started(), needed))
      } catch (error) {
        // The caller gets the error.
        this.options.onEvent({
          event: 'graph dropped',
          reason: error instanceof Error ? error.message : String(error),
        })
      }
    }
  }

  async close(): Promise<void> {
    this.closed = true
    this.options.use.save()
    await this.thread?.end()
  }

  private async answer({ sparql, format, dataset }: ResidentQuery, deadline: number): Promise<string> {
    if (this.closed) throw new Fault(STORE_UNAVAILABLE, { reason: 'the store is closed.' })
    this.clock += 1
    const defaults = dataset.defaultGraphs.filter(graph => this.sources.has(graph))
    const named = dataset.namedGraphs.filter(graph => this.sources.has(graph))
    const merged = defaults.length > 1 ? mergeName(defaults) : null
    const needed = new Map<string, readonly string[]>(named.map(graph => [graph, [graph]]))
    if (merged !== null) needed.set(merged, defaults)
    else for (const graph of defaults) needed.set(graph, [graph])
    const thread = await this.withGraphs(needed)
    for (const graphs of needed.values()) this.options.use.note(graphs)
    let late = false
    const timer = setTimeout(() => {
      late = true
      this.deadlines += 1
      void thread.end()
    }, deadline)
    const visible = { ...dataset, defaultGraphs: merged === null ? defaults : [merged], namedGraphs: named }
    const reply = await thread.send({
      type: 'query',
      sparql,
      format,
      dataset: visible,
      maxLength: this.options.maxAnswer,
    })
    clearTimeout(timer)
    if (late) throw new Fault(DEADLINE_EXCEEDED, { seconds: deadline / 1000 })
    if (thread.memory > this.options.ceiling && !thread.dead) {
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
        throw new Fault(UNPROCESSABLE_ENTITY, {
          reason:
            'The answer is longer than the engine can pass on. Ask for less of it at a time, with LIMIT and OFFSET.',
        })
      case 'trap':
        this.lose(thread, reply.reason)
        throw new Fault(
          UNPROCESSABLE_ENTITY,
          {
            reason:
              `The query needs more memory than the ${megabytes(this.options.ceiling)} that the engine has for it, or is ` +
              `nested too deep. Ask for less at a time, with LIMIT or fewer graphs. ${ADVICE}`,
          },
          { cause: new Error(reply.reason) },
        )
      default:
        throw new Error(`unexpected ${reply.type}`)
    }
  }

  private async started(): Promise<Engine> {
    if (this.thread !== null && !this.thread.dead) return this.thread
    this.residents.clear()
    const thread: Engine = this.options.start(reason => this.lose(thread, reason))
    this.thread = thread
    await thread.up
    return thread
  }

  /** Drops an engine that ended; the next query starts another. */
  private lose(thread: Engine, reason: string): void {
    if (this.thread !== thread) return
    this.thread = null
    this.residents.clear()
    if (!this.closed) this.options.onEvent({ event: 'engine ended', reason })
  }

  /** An engine in which graphs are resident. It is restarted where its heap has no room left for what should fit. */
  private async withGraphs(needed: ReadonlyMap<string, readonly string[]>): Promise<Engine> {
    for (let attempt = 1; ; attempt++) {
      const thread = await this.started()
      try {
        await this.bring(thread, needed)
        return thread
      } catch (error) {
        if (!(error instanceof HeapFull)) throw error
        await thread.end()
        if (attempt > 1) throw this.tooLarge([...needed.values()].flat(), error)
      }
    }
  }

  private tooLarge(graphs: readonly string[], cause?: unknown): Fault {
    return new Fault(
      UNPROCESSABLE_ENTITY,
      {
        reason:
          `This query is one that only the engine evaluates, over graphs that need ${megabytes(this.sizeOf(graphs))} of memory ` +
          `in it; it has ${megabytes(this.options.memory)}. Name fewer graphs with FROM or GRAPH, or ask the endpoint of one ` +
          `dataset. ${ADVICE}`,
      },
      cause === undefined ? {} : { cause },
    )
  }

  /** Makes graphs resident, replacing the least recently used ones. */
  private async bring(thread: Engine, needed: ReadonlyMap<string, readonly string[]>): Promise<void> {
    const sizes = new Map([...needed].map(([name, graphs]) => [name, this.sizeOf(graphs)]))
    const all = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
    const { memory, onEvent } = this.options
    if (all > memory) throw this.tooLarge([...needed.values()].flat())
    for (const name of needed.keys()) {
      const resident = this.residents.get(name)
      if (resident !== undefined) resident.used = this.clock
    }
    const missing = [...needed].filter(([name]) => !this.residents.has(name))
    const bytes = missing.reduce((sum, [name]) => sum + (sizes.get(name) ?? 0), 0)
    await this.makeRoom(thread, bytes, needed)
    for (const [name, graphs] of missing) {
      const begun = performance.now()
      for (const graph of graphs) {
        const source = this.sources.get(graph)
        if (source === undefined) continue
        const reply = await thread.send(
          { type: 'load', graph: name, source, limit: this.options.ceiling },
          this.progressOf(graph, source),
        )
        if (reply.type === 'trap' || (reply.type === 'refused' && reply.reason === 'memory'))
          throw new HeapFull(reply.type === 'trap' ? reply.reason : reply.message)
        if (reply.type !== 'loaded')
          throw new Fault(STORE_UNAVAILABLE, {
            reason: 'message' in reply ? reply.message : `the graph ${graph} could not be loaded.`,
          })
      }
      this.residents.set(name, { bytes: sizes.get(name) ?? 0, used: this.clock })
      const seconds = ((performance.now() - begun) / 1000).toFixed(1)
      onEvent({ event: 'graph resident', reason: `${graphs.join(', ')} in ${seconds} s` })
    }
  }

  private async makeRoom(
    thread: Engine,
    bytes: number,
    needed: ReadonlyMap<string, readonly string[]>,
  ): Promise<void> {
    const oldest = [...this.residents]
      .filter(([name]) => !needed.has(name))
      .sort(([, a], [, b]) => a.used - b.used)
    for (const [name] of oldest) {
      if (this.used() + bytes <= this.options.memory) return
      await thread.send({ type: 'drop', graphs: [name] })
      this.residents.delete(name)
      this.options.onEvent({ event: 'graph dropped', reason: name })
    }
  }

  /** Reports the progress of a load periodically. */
  private progressOf(graph: string, source: TripleSource): (lines: number) => void {
    let next = performance.now() + PROGRESS_INTERVAL
    const all = 'path' in source ? ` of ${source.triples.toLocaleString('en')}` : ''
    return lines => {
      if (performance.now() < next) return
      next = performance.now() + PROGRESS_INTERVAL
      this.options.onEvent({
        event: 'graph loading',
        reason: `${graph}: ${lines.toLocaleString('en')}${all} triples`,
      })
    }
  }

  /** Bytes of the resident graphs. */
  private used(): number {
    return [...this.residents.values()].reduce((sum, resident) => sum + resident.bytes, 0)
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

const ADVICE =
  'Whoever runs the portal can raise its setting memory, or take an engine outside of it (setting store).'

function mergeName(graphs: readonly string[]): string {
  return `urn:lodestone:merge:${createHash('sha1')
    .update([...graphs].sort().join('\n'))
    .digest('hex')}`
}
