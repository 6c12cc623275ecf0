import { statSync } from 'node:fs'
import { Fault } from '../../errors/errors.ts'
import type { TriplePattern } from '../../rdf/term.ts'
import { currentClient, type WorkClient } from '../../runtime/work-client.ts'
import type { QueryOperation } from '../../sparql/operation.ts'
import type { GraphColumns } from './graph.ts'
import { readHeader } from './sections.ts'
import { KnownSlow } from './threads/known-slow.ts'
import type { Failure, Job, QueriedGraphs, TextFormat, WireTable } from './threads/protocol.ts'
import { type ColumnBytes, GraphRegistry } from './threads/registry.ts'
import { Scheduler } from './threads/scheduler.ts'
import type { Lane, StopReason, ThreadSlot } from './threads/slot.ts'
import { ColumnThread } from './threads/thread.ts'

export interface ColumnStoreOptions {
  readonly threads: number
  /** Milliseconds that a query may work. */
  readonly deadline: number
  /** Queries that may wait. */
  readonly queue: number
  /** Bytes that columns in memory may take, and the intermediate results of one query. */
  readonly memory: { readonly columns: number; readonly query: number }
  readonly onEvent: (event: {
    readonly event: 'worker lost' | 'worker replaced'
    readonly reason: string
  }) => void
  /** Called once for a graph whose file is found damaged; it is refused until it is attached again. */
  readonly onDamage: (graph: string, reason: string) => void
}

export interface QueryLimits {
  /** Milliseconds of work; the store's own limit otherwise. */
  readonly deadline?: number | undefined
  /** `slow` for work that nobody waits for. */
  readonly lane?: Lane
  /** Stops the work when it is aborted. */
  readonly signal?: AbortSignal | undefined
}

/** A query that columns do not evaluate. */
export class NotInColumns extends Error {}

/** Milliseconds after which work is not quick any more. */
const QUICK = 100

/** Milliseconds that work waits for a thread in any case. */
const LEAST_TIMEOUT = 10_000

/** Times that work makes room for others; then it goes on to its end, or is refused where its client uses the most. */
const MAX_CROWDED = 1

/** Milliseconds after its deadline at which a thread that did not stop is ended: what it does has no look at the clock. */
const GRACE = 5000

/** Subjects from which on a graph is prepared for questions, and the part of the memory that may be taken for that. */
const LARGE_GRAPH = 20_000
const PREPARED_PART = 2

/** Megabytes of heap that a thread has in any case. */
const LEAST_HEAP = 192

/** Bytes of a piece of text. */
const PIECE = 2 ** 17

/** Answers queries from columns, in threads that share one copy of them. */
export class ColumnStore {
  private readonly options: ColumnStoreOptions
  private readonly registry: GraphRegistry
  private readonly scheduler: Scheduler
  private readonly inUse = new Map<string, number>()
  /** Graphs whose file is damaged. */
  private readonly damaged = new Set<string>()
  private readonly knownSlow = new KnownSlow()
  private readonly threads: number
  private replacing: Promise<void> = Promise.resolve()
  private nextId = 1
  private closed = false
  deadlines = 0

  constructor(options: ColumnStoreOptions) {
    this.options = options
    this.registry = new GraphRegistry(options.memory.columns, (graph, { message }) => {
      this.noteDamage(graph, message)
      return madeAgain(graph)
    })
    // With one thread alone, one long question would keep all others waiting.
    this.threads = Math.max(2, options.threads)
    this.scheduler = new Scheduler({
      queue: options.queue,
      timeout: Math.max(LEAST_TIMEOUT, options.deadline),
      slow: Math.floor(this.threads / 2),
    })
  }

  /** Starts the threads; resolves when they are up. */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.threads }, () => this.addThread()))
  }

  /** Takes in the columns of a graph from a file, of which the header alone is read. Throws ColumnsDamaged. */
  attach(name: string, path: string): void {
    this.registry.add({ name, header: readHeader(path, statSync(path).size), path, memory: null })
  }

  /** Takes in the columns of a graph whose file was made again. Throws ColumnsDamaged. */
  reattach(name: string, path: string): void {
    if (!this.registry.has(name)) return
    const header = readHeader(path, statSync(path).size)
    this.registry.remove([name], this.scheduler.threads)
    this.registry.add({ name, header, path, memory: null })
    this.damaged.delete(name)
  }

  /** Makes the columns of a small graph in memory. */
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
    const { header, buffers } = await this.once(job, [], 'built', {})
    this.registry.add({ name, header, path: null, memory: buffers })
  }

  has(name: string): boolean {
    return this.registry.has(name)
  }

  /** The columns of a graph as this thread sees them: what it does not have in memory is read from the file. */
  columns(name: string): GraphColumns {
    const columns = this.registry.columns(name)
    if (columns === undefined)
      throw new Fault('StoreUnavailable', { reason: `the graph ${name} is not there.` })
    return columns
  }

  drop(names: readonly string[]): void {
    for (const name of names) this.damaged.delete(name)
    this.registry.remove(names, this.scheduler.threads)
  }

  /** The answers of SELECTs that are evaluated one after another in one thread. Faults: DeadlineExceeded, StoreBusy, StoreUnavailable, UnprocessableEntity; {@link NotInColumns}. */
  async answers(
    queries: readonly QueryOperation[],
    graphs: QueriedGraphs,
    options: QueryLimits & { readonly counted?: boolean; readonly contents?: readonly string[] } = {},
  ): Promise<readonly WireTable[]> {
    const { counted = false, contents = [] } = options
    const job: Job = { type: 'table', queries, graphs, counted, contents }
    const { tables } = await this.once(job, namesOf(graphs), 'table', options)
    const [, graph] = graphs.namedGraphs[0] ?? []
    if (graph !== undefined && tables.some(({ rows }) => rows > 0)) this.registry.noteLoaded(graph, contents)
    return tables
  }

  /** The answer of a query as text, in pieces; what is not read is not worked out. Same faults. */
  text(
    query: QueryOperation,
    graphs: QueriedGraphs,
    format: TextFormat,
    options: QueryLimits & { readonly base?: string | undefined } = {},
  ): AsyncGenerator<Uint8Array> {
    const job: Job = { type: 'text', query, graphs, format, base: options.base ?? null, piece: PIECE }
    return this.pieces(job, namesOf(graphs), options, currentClient()) as AsyncGenerator<Uint8Array>
  }

  /** The answer of a SELECT in tables of at most so many rows. Same faults. */
  tables(
    query: QueryOperation,
    graphs: QueriedGraphs,
    rows: number,
    options: QueryLimits = {},
  ): AsyncGenerator<WireTable> {
    const job: Job = { type: 'tables', query, graphs, rows }
    return this.pieces(job, namesOf(graphs), options, currentClient()) as AsyncGenerator<WireTable>
  }

  async match(
    graph: string,
    pattern: TriplePattern,
    page: { readonly offset: number; readonly limit: number },
    options: QueryLimits = {},
  ): Promise<{ readonly triples: string; readonly count: number }> {
    const job: Job = { type: 'match', graph, pattern, ...page }
    const { triples, count } = await this.once(job, [graph], 'matched', options)
    return { triples, count }
  }

  /** The triples of some subjects in a row, as N-Triples. */
  async lines(graph: string, from: number, to: number): Promise<string> {
    return (await this.once({ type: 'lines', graph, from, to }, [graph], 'lines', {})).text
  }

  /** Brings into memory what is needed to write the values of some columns. */
  async touch(graph: string, predicates: readonly string[]): Promise<void> {
    if (this.registry.isLoaded(graph, predicates)) return
    await this.once({ type: 'touch', graph, predicates }, [graph], 'touched', {})
    this.registry.noteLoaded(graph, predicates)
  }

  /**
   * Makes what questions about a large graph need, column by column while nothing else waits, so that the first of them does
   * not. What cannot be made now is made when it is needed.
   */
  async prepare(graph: string): Promise<void> {
    const header = this.registry.header(graph)
    if (header === undefined || header.subjects < LARGE_GRAPH) return
    for (let column = 0; column < header.columns.length; column++) {
      const { columns, dictionaries, derived } = this.registry.statistics()
      const isFull = columns + dictionaries + derived > this.options.memory.columns / PREPARED_PART
      if (this.closed || isFull || !this.registry.has(graph)) return
      try {
        const job: Job = { type: 'prepare', graph, column }
        await this.once(job, [graph], 'touched', { lane: 'slow' })
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
      threads: { ready: this.scheduler.threads.size, wanted: this.threads },
      bytes: this.registry.statistics(),
    }
  }

  async close(): Promise<void> {
    this.closed = true
    this.scheduler.close()
    await Promise.all([...this.scheduler.threads].map(thread => thread.end()))
  }

  /** Does a job with one answer. */
  private async once<Type extends 'table' | 'matched' | 'lines' | 'built' | 'touched'>(
    job: Job,
    graphs: readonly string[],
    type: Type,
    limits: QueryLimits,
  ): Promise<Extract<AnswerOf, { readonly type: Type }>> {
    this.refuseDamaged(graphs)
    const { answer, milliseconds } = await this.begin(job, graphs, limits, currentClient())
    if (answer.type === type) return answer as Extract<AnswerOf, { readonly type: Type }>
    throw answer.type === 'failed'
      ? this.faultOf(answer.failure, milliseconds)
      : new Error(`unexpected ${answer.type}`)
  }

  /** Begins a job, again where it was stopped for others, until it has a first answer. */
  private async begin(
    job: Job,
    graphs: readonly string[],
    { deadline = this.options.deadline, signal, ...limits }: QueryLimits,
    client: WorkClient | null,
  ): Promise<Begun> {
    let lane = limits.lane ?? this.laneOf(job)
    for (let crowded = 0; ; ) {
      const milliseconds = client?.deadline(deadline) ?? deadline
      const begun = await this.scheduler.run({ client, lane, pinned: null }, async (thread, slot) => {
        const id = this.nextId++
        const isSpared = crowded > MAX_CROWDED
        const stop = isStoppable(job) && !isSpared ? 'begin again' : null
        const work = { id, graphs, milliseconds, stop } as const
        const answer = await this.guarded(thread, slot, work, signal, () => {
          this.registry.bring(thread, graphs)
          return thread.run(id, job, { milliseconds, memory: this.queryMemory })
        })
        this.noteTime(job, slot.milliseconds())
        return { id, answer, thread, milliseconds, stopped: stopReason(answer, slot) }
      })
      if (begun.stopped === null) {
        if (isLate(begun.answer) && signal?.aborted !== true) client?.offend()
        return begun
      }
      if (begun.stopped === 'crowded' && ++crowded > MAX_CROWDED && client?.isHeavy() === true)
        throw new Fault('StoreBusy')
      lane = 'slow'
    }
  }

  /**
   * Does a job that answers in pieces. The one after next is worked out while the next is read, as soon as a second was
   * asked for; whoever reads no more ends the work.
   */
  private async *pieces(
    job: Job,
    graphs: readonly string[],
    limits: QueryLimits,
    client: WorkClient | null,
  ): AsyncGenerator<Uint8Array | WireTable> {
    this.refuseDamaged(graphs)
    const { signal } = limits
    let begun: Begun | null = null
    let finished = false
    for (const graph of graphs) this.use(graph, 1)
    try {
      begun = await this.begin(job, graphs, limits, client)
      const { id, thread, milliseconds } = begun
      const work = { id, graphs, milliseconds, stop: 'give up' } as const
      const next = (): Promise<AnswerOf> =>
        this.scheduler.run({ client, lane: 'quick', pinned: thread }, (_, slot) =>
          this.guarded(thread, slot, work, signal, () => thread.next(id)),
        )
      let ahead: Promise<AnswerOf> | null = Promise.resolve(begun.answer)
      for (let count = 0; ; count++) {
        const answer: AnswerOf = await (ahead ?? next())
        ahead = null
        if (answer.type === 'failed') {
          finished = true
          signal?.throwIfAborted()
          if (count > 0 && isLate(answer)) client?.offend()
          throw this.faultOf(answer.failure, milliseconds)
        }
        if (answer.type !== 'piece') throw new Error(`unexpected ${answer.type}`)
        finished = answer.done
        if (count > 0 && !finished) {
          ahead = next()
          ahead.catch(() => undefined)
        }
        if (answer.piece !== null) yield answer.piece
        if (answer.done) return
      }
    } finally {
      for (const graph of graphs) this.use(graph, -1)
      if (!finished && begun !== null) {
        begun.thread.cancel(begun.id)
        begun.thread.send({ type: 'close', id: begun.id })
      }
    }
  }

  /** Waits for a thread, and replaces it where it does not answer though its time is long over. */
  private async guarded<T>(
    thread: ColumnThread,
    slot: ThreadSlot,
    { id, graphs, milliseconds, stop }: GuardedWork,
    signal: AbortSignal | undefined,
    ask: () => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted()
    for (const graph of graphs) this.use(graph, 1)
    let last: NodeJS.Timeout | undefined
    const cancel = () => {
      thread.cancel(id)
      last ??= setTimeout(() => this.replace(thread), GRACE)
    }
    if (stop !== null) slot.onStop(cancel, stop === 'begin again')
    const quick = setTimeout(() => slot.outgrow(), QUICK)
    const timer = setTimeout(cancel, milliseconds + 100)
    signal?.addEventListener('abort', cancel)
    try {
      return await ask()
    } finally {
      for (const each of [quick, timer, last]) clearTimeout(each)
      signal?.removeEventListener('abort', cancel)
      for (const graph of graphs) this.use(graph, -1)
      this.registry.shrink([...this.scheduler.threads], new Set(this.inUse.keys()))
    }
  }

  private laneOf(job: Job): Lane {
    if (!isStoppable(job) || this.knownSlow.isEmpty) return 'quick'
    return this.knownSlow.has(KnownSlow.digest(job)) ? 'slow' : 'quick'
  }

  /** Remembers whether a job was quick, however it was begun. */
  private noteTime(job: Job, milliseconds: number): void {
    if (!isStoppable(job)) return
    if (milliseconds >= QUICK) this.knownSlow.add(KnownSlow.digest(job))
    else if (!this.knownSlow.isEmpty) this.knownSlow.delete(KnownSlow.digest(job))
  }

  /** Bytes that one query may work with: all threads together have twice what the store has for a query. */
  private get queryMemory(): number {
    return Math.floor((2 * this.options.memory.query) / this.threads)
  }

  /** Ends a thread that does not answer any more, once another has taken its place; one after the other. */
  private replace(thread: ColumnThread): void {
    const begin = this.replacing.then(async () => {
      if (this.closed || !this.scheduler.threads.has(thread)) return
      const reason = 'a query did not stop at its deadline'
      this.options.onEvent({ event: 'worker lost', reason })
      await this.addThread()
      this.scheduler.remove(thread)
      await thread.end()
      this.options.onEvent({ event: 'worker replaced', reason: 'a new thread answers' })
    })
    this.replacing = begin.catch(error =>
      this.options.onEvent({ event: 'worker lost', reason: String(error) }),
    )
  }

  private noteDamage(graph: string, reason: string): void {
    if (this.damaged.has(graph) || !this.registry.has(graph)) return
    this.damaged.add(graph)
    this.options.onDamage(graph, reason)
  }

  /** Faults: StoreUnavailable. */
  private refuseDamaged(graphs: readonly string[]): void {
    const damaged = graphs.find(graph => this.damaged.has(graph))
    if (damaged !== undefined) throw madeAgain(damaged)
  }

  private use(graph: string, change: 1 | -1): void {
    const count = (this.inUse.get(graph) ?? 0) + change
    if (count === 0) this.inUse.delete(graph)
    else this.inUse.set(graph, count)
  }

  private faultOf(failure: Failure, deadline: number): Error {
    switch (failure.reason) {
      case 'deadline':
      case 'cancelled':
        this.deadlines += 1
        return new Fault('DeadlineExceeded', { seconds: deadline / 1000 })
      case 'memory':
        return new Fault('UnprocessableEntity', {
          reason:
            'The query needs more memory for what it works with than one query may have. Ask for less at a time.',
        })
      case 'not evaluated':
        return new NotInColumns(failure.message)
      case 'damaged':
        return madeAgain(failure.message)
      case 'error':
        return new Error(failure.message)
      default:
        return failure satisfies never
    }
  }

  private async addThread(): Promise<void> {
    let joined = false
    const thread = new ColumnThread(
      {
        onPart: part => {
          if (part.type === 'section') this.registry.addSection(part.graph, part.section, part.bytes)
          else this.registry.addDerived(part.graph, part.name, part.buffers)
        },
        onDamage: (graph, reason) => this.noteDamage(graph, reason),
        onDeath: (dead, reason) => {
          const wasServing = this.scheduler.threads.has(dead)
          this.scheduler.remove(dead)
          if (!joined || this.closed || !wasServing) return
          this.options.onEvent({ event: 'worker lost', reason })
          void this.addThread().then(
            () => this.options.onEvent({ event: 'worker replaced', reason: 'a new thread answers' }),
            error => this.options.onEvent({ event: 'worker lost', reason: String(error) }),
          )
        },
      },
      Math.max(LEAST_HEAP, Math.ceil((2 * this.queryMemory) / 1e6)),
    )
    await thread.up
    joined = true
    this.scheduler.add(thread)
  }
}

type AnswerOf = Awaited<ReturnType<ColumnThread['run']>>

/** A job that has begun, and its first answer. */
interface Begun {
  readonly id: number
  readonly thread: ColumnThread
  readonly answer: AnswerOf
  /** Milliseconds that it may work. */
  readonly milliseconds: number
  readonly stopped: StopReason | null
}

interface GuardedWork {
  readonly id: number
  readonly graphs: readonly string[]
  readonly milliseconds: number
  /** What becomes of the work where it has to make room; null where it cannot be stopped. */
  readonly stop: 'begin again' | 'give up' | null
}

/** True for work that looks now and then whether to go on. */
function isStoppable({ type }: Job): boolean {
  return type === 'table' || type === 'tables' || type === 'text'
}

/** Why work was stopped before its time; null where it was not. */
function stopReason(answer: AnswerOf, { stopped }: ThreadSlot): StopReason | null {
  return answer.type === 'failed' && answer.failure.reason === 'cancelled' ? stopped : null
}

function isLate(answer: AnswerOf): boolean {
  return answer.type === 'failed' && ['deadline', 'cancelled'].includes(answer.failure.reason)
}

function madeAgain(what: string): Fault {
  return new Fault('StoreUnavailable', {
    reason: `a file of columns is damaged and is made again (${what}). Try again in a moment.`,
  })
}

function namesOf({ defaultGraphs, namedGraphs }: QueriedGraphs): readonly string[] {
  return [...new Set([...defaultGraphs, ...namedGraphs.map(([, graph]) => graph)])]
}
