import { BAD_REQUEST, Fault, UNPROCESSABLE_ENTITY } from '../../../errors/errors.ts'
import { ignoreRejection } from '../../../errors/ignore-rejection.ts'
import { STORE_BUSY } from '../../../runtime/turns.ts'
import { currentClient, rest, type WorkClient } from '../../../runtime/work-client.ts'
import { DEADLINE_EXCEEDED, STORE_UNAVAILABLE } from '../../faults.ts'
import type { Failure, Job, WireTable } from './protocol.ts'
import type { GraphRegistry } from './registry.ts'
import { KnownSlow, type Lane, Scheduler, type StopReason, type ThreadSlot } from './scheduler.ts'
import { ColumnThread } from './thread.ts'

export interface JobRunnerOptions {
  readonly threads: number
  /** Milliseconds that a query may work. */
  readonly deadline: number
  /** Queries that may wait. */
  readonly queue: number
  /** Bytes that the intermediate results of one query may take. */
  readonly memory: { readonly query: number }
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
  /** `slow` for background work. */
  readonly lane?: Lane
  /** Stops the work when it is aborted. */
  readonly signal?: AbortSignal | undefined
  /** Called with the cursor of the rest at the end of a stopped answer that can be continued. */
  readonly onStopped?: ((cursor: string) => void) | undefined
}

/** A query that columns do not evaluate. */
export class NotInColumns extends Error {}

/** Milliseconds after which work is not quick any more. */
const QUICK = 100

/** Milliseconds after which work leaves the processors to what others ask first. */
const SHORT = 4

/** Milliseconds that work waits for a thread in any case. */
const LEAST_TIMEOUT = 10_000

/** Pieces after which an answer is long: of rows some three megabytes, of triples one. */
const LONG_ANSWER = 12

/** Times that a job yields to others; then it runs to its end, or is refused if its client uses the most. */
const MAX_CROWDED = 1

/** Milliseconds after its deadline at which a thread that did not stop is ended: what it does has no look at the clock. */
const GRACE = 5000

/** Megabytes of heap that a thread has in any case. */
const LEAST_HEAP = 128

/**
 * Heap of a thread, by what its query may work with: the rest is for what is counted roughly, and for what it has not
 * collected yet. All threads can fill theirs at once, and the sum has to stay within the memory of the process.
 */
const HEAP_SHARE = 1.5

/** Runs jobs over columns in threads: who waits for which thread, deadlines, and threads that are replaced. */
export class JobRunner {
  deadlines = 0
  readonly size: number
  private readonly options: JobRunnerOptions
  private readonly registry: GraphRegistry
  private readonly scheduler: Scheduler
  private readonly inUse = new Map<string, number>()
  /** Graphs whose file is damaged. */
  private readonly damaged = new Set<string>()
  private readonly knownSlow = new KnownSlow()
  private replacing: Promise<void> = Promise.resolve()
  private starting: Promise<unknown> = Promise.resolve()
  private nextId = 1
  private closed = false

  constructor(options: JobRunnerOptions, registry: GraphRegistry) {
    this.options = options
    this.registry = registry
    // With one thread alone, one long question would keep all others waiting.
    this.size = Math.max(2, options.threads)
    this.scheduler = new Scheduler({
      queue: options.queue,
      timeout: Math.max(LEAST_TIMEOUT, options.deadline),
      slow: Math.floor(this.size / 2),
    })
  }

  /** Starts the threads; resolves when they are up. */
  async start(): Promise<void> {
    const up = Promise.all(Array.from({ length: this.size }, () => this.addThread()))
    this.starting = ignoreRejection(up, 'who starts the threads gets it')
    await up
  }

  /** The threads that answer. */
  get threads(): ReadonlySet<ColumnThread> {
    return this.scheduler.threads
  }

  get isClosed(): boolean {
    return this.closed
  }

  /** Answers again from a graph whose file was made again, or forgets one that is dropped. */
  forgetDamage(graph: string): void {
    this.damaged.delete(graph)
  }

  async close(): Promise<void> {
    this.closed = true
    this.scheduler.close()
    await this.starting
    await Promise.all([...this.scheduler.threads].map(thread => thread.end()))
  }

  /** Does a job with one answer. */
  async once<Type extends 'table' | 'matched' | 'lines' | 'built' | 'touched'>(
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
      const turn = { client, lane, pinned: null, isArbitrary: job.type === 'text' }
      const begun = await this.scheduler.run(turn, async (thread, slot) => {
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
        throw new Fault(STORE_BUSY)
      lane = 'slow'
    }
  }

  /**
   * Does a job that answers in pieces. The one after next is worked out while the next is read, as soon as a second was
   * requested; ending the iteration ends the work.
   */
  async *pieces(
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
        this.scheduler.run({ client, lane: 'quick', pinned: thread, isArbitrary: false }, (_, slot) =>
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
          void ignoreRejection(ahead, 'it is awaited as the next piece')
        }
        if (answer.piece !== null) {
          yield answer.piece
          if (job.type === 'text') await rest(client, count > LONG_ANSWER)
        }
        if (!answer.done) continue
        if (answer.cursor != null) {
          this.deadlines += 1
          client?.offend()
          limits.onStopped?.(answer.cursor)
        }
        return
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
  private async guarded(
    thread: ColumnThread,
    slot: ThreadSlot,
    { id, graphs, milliseconds, stop }: GuardedWork,
    signal: AbortSignal | undefined,
    execute: () => Promise<AnswerOf>,
  ): Promise<AnswerOf> {
    signal?.throwIfAborted()
    for (const graph of graphs) this.use(graph, 1)
    let last: NodeJS.Timeout | undefined
    const cancel = () => {
      thread.cancel(id)
      last ??= setTimeout(() => this.replace(thread), GRACE)
    }
    if (stop !== null) slot.onStop(cancel, stop === 'begin again')
    let quick = setTimeout(() => {
      slot.standBack()
      quick = setTimeout(() => slot.outgrow(), QUICK - SHORT)
    }, SHORT)
    const timer = setTimeout(cancel, milliseconds + 100)
    signal?.addEventListener('abort', cancel)
    try {
      const answer = await execute()
      // What was to stop and answered all the same is not stopped in the middle of its next piece.
      if (answer.type !== 'failed') thread.uncancel(id)
      return answer
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
    return Math.floor((2 * this.options.memory.query) / this.size)
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

  noteDamage(graph: string, reason: string): void {
    if (this.damaged.has(graph) || !this.registry.has(graph)) return
    this.damaged.add(graph)
    this.options.onDamage(graph, reason)
  }

  /** Faults: StoreUnavailable. */
  private refuseDamaged(graphs: readonly string[]): void {
    const damaged = graphs.find(graph => this.damaged.has(graph))
    if (damaged !== undefined) throw rebuilding(damaged)
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
        return new Fault(DEADLINE_EXCEEDED, { seconds: deadline / 1000 })
      case 'memory':
        return new Fault(UNPROCESSABLE_ENTITY, {
          reason:
            'The query needs more memory for what it works with than one query may have. Ask for less at a time.',
        })
      case 'cursor':
        return new Fault(BAD_REQUEST, {
          reason: 'The cursor does not belong to this query. Ask without it, from the beginning.',
        })
      case 'not evaluated':
        return new NotInColumns(failure.message)
      case 'damaged':
        return rebuilding(failure.message)
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
      Math.max(LEAST_HEAP, Math.ceil((HEAP_SHARE * this.queryMemory) / 1e6)),
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

/** True for work that checks periodically whether to continue. */
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

export function rebuilding(what: string): Fault {
  return new Fault(STORE_UNAVAILABLE, {
    reason: `a file of columns is damaged and is made again (${what}). Try again in a moment.`,
  })
}
