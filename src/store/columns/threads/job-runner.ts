import { BAD_REQUEST, Fault, UNPROCESSABLE_ENTITY } from '../../../errors/errors.ts'
import { ignoreRejection } from '../../../errors/ignore-rejection.ts'
import { STORE_BUSY } from '../../../runtime/fair-queue.ts'
import { currentClient, pause, type WorkClient } from '../../../runtime/work-client.ts'
import { DEADLINE_EXCEEDED, STORE_UNAVAILABLE } from '../../faults.ts'
import { NotInColumns } from '../evaluate/evaluation-limits.ts'
import type { Failure, Job, WireTable } from './protocol.ts'
import type { GraphRegistry } from './registry.ts'
import { type Lane, Scheduler, type StopReason, type ThreadSlot } from './scheduler.ts'
import { ColumnThread, KnownSlow } from './thread.ts'

export interface JobRunnerOptions {
  readonly threads: number
  /** Milliseconds that a query may run. */
  readonly deadline: number
  /** Maximum number of waiting queries. */
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
  /** Milliseconds that the job may run; by default the store's limit. */
  readonly deadline?: number | undefined
  /** `slow` for background work. */
  readonly lane?: Lane
  /** Stops the job when it is aborted. */
  readonly signal?: AbortSignal | undefined
  /** Called with the cursor of the rest at the end of a stopped answer that can be continued. */
  readonly onStopped?: ((cursor: string) => void) | undefined
}

/** Milliseconds after which a job counts as slow. */
const QUICK = 100

/** Milliseconds after which a job leaves the processors to new requests. */
const SHORT_JOB = 4

/** Minimum time in milliseconds that a job waits for a thread. */
const LEAST_TIMEOUT = 10_000

/** Chunks after which an answer is long: about three megabytes of rows, or one of triples. */
const LONG_ANSWER = 12

/** Number of times that a job yields to others; then it runs to its end, or is refused if its client uses the most. */
const MAX_CROWDED = 1

/** Milliseconds after its deadline at which a thread that did not stop is terminated: its code does not check the clock. */
const GRACE = 5000

/** Minimum heap of a thread in megabytes. */
const LEAST_HEAP = 128

/**
 * Heap of a thread relative to the memory of its query: the surplus is for data that is counted roughly, and for uncollected
 * garbage. All threads can fill theirs at the same time, and the sum must fit into the memory of the process.
 */
const HEAP_SHARE = 1.5

/** Runs jobs over columns in threads: schedules them, enforces deadlines, and replaces threads. */
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
    // With only one thread, one long query would block all others.
    this.size = Math.max(2, options.threads)
    this.scheduler = new Scheduler({
      queue: options.queue,
      timeout: Math.max(LEAST_TIMEOUT, options.deadline),
      slow: Math.floor(this.size / 2),
    })
  }

  /** Starts the threads; resolves when they are ready. */
  async start(): Promise<void> {
    const up = Promise.all(Array.from({ length: this.size }, () => this.addThread()))
    this.starting = ignoreRejection(up, 'who starts the threads gets it')
    await up
  }

  get threads(): ReadonlySet<ColumnThread> {
    return this.scheduler.threads
  }

  get isClosed(): boolean {
    return this.closed
  }

  /** Makes a graph available again after its file was rebuilt, or removes a dropped one. */
  forgetDamage(graph: string): void {
    this.damaged.delete(graph)
  }

  async close(): Promise<void> {
    this.closed = true
    this.scheduler.close()
    await this.starting
    await Promise.all([...this.scheduler.threads].map(thread => thread.end()))
  }

  /** Runs a job with one answer. */
  async once<Type extends 'table' | 'matched' | 'built' | 'touched'>(
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

  /** The tables of a job, in the order of its queries: each half of them in a thread where two are idle, else in turn. */
  async tables(
    job: Extract<Job, { readonly type: 'table' }>,
    graphs: readonly string[],
    limits: QueryLimits,
  ): Promise<readonly WireTable[]> {
    const { queries } = job
    const half = this.scheduler.idle > 1 ? Math.ceil(queries.length / 2) : queries.length
    const shares = [queries.slice(0, half), queries.slice(half)].filter(({ length }) => length > 0)
    const answers = await Promise.all(
      shares.map(share => this.once({ ...job, queries: share }, graphs, 'table', limits)),
    )
    return answers.flatMap(({ tables }) => tables)
  }

  /** Starts a job, again where it was stopped for others, until it has a first answer. */
  private async begin(
    job: Job,
    graphs: readonly string[],
    { deadline = this.options.deadline, signal, ...limits }: QueryLimits,
    client: WorkClient | null,
  ): Promise<Begun> {
    const text = JSON.stringify(job)
    const isKnownSlow = isStoppable(job) && this.knownSlow.has(text)
    let lane = limits.lane ?? (isKnownSlow ? 'slow' : 'quick')
    for (let crowded = 0; ; ) {
      // What a client did with its queries must not keep a list of datasets from being built.
      const milliseconds = job.type === 'build' ? deadline : (client?.deadline(deadline) ?? deadline)
      const turn = { client, lane, pinned: null, isUntrusted: job.type === 'text' }
      const begun = await this.scheduler.run(turn, async (thread, slot) => {
        const id = this.nextId++
        const isSpared = crowded > MAX_CROWDED
        const stop = isStoppable(job) && !isSpared ? 'begin again' : null
        const work = { id, graphs, milliseconds, stop } as const
        const answer = await this.withinDeadline(thread, slot, work, signal, () => {
          this.registry.bring(thread, graphs)
          return thread.run(id, text, { milliseconds, memory: this.queryMemory })
        })
        if (isStoppable(job) && slot.milliseconds() >= QUICK) this.knownSlow.add(text)
        else if (isKnownSlow) this.knownSlow.delete(text)
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
   * Runs a job that answers in chunks. The chunk after the next is computed while the next is read, as soon as a second was
   * requested; ending the iteration ends the job.
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
        this.scheduler.run({ client, lane: 'quick', pinned: thread, isUntrusted: false }, (_, slot) =>
          this.withinDeadline(thread, slot, work, signal, () => thread.next(id)),
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
          if (job.type === 'text') await pause(client, count > LONG_ANSWER)
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

  /** Waits for a thread, and replaces it if it does not answer long after its deadline. */
  private async withinDeadline(
    thread: ColumnThread,
    slot: ThreadSlot,
    { id, graphs, milliseconds, stop }: LimitedWork,
    signal: AbortSignal | undefined,
    execute: () => Promise<AnswerOf>,
  ): Promise<AnswerOf> {
    signal?.throwIfAborted()
    for (const graph of graphs) this.use(graph, 1)
    let last: NodeJS.Timeout | undefined
    const cancel = () => {
      thread.cancel(id)
      last ??= setTimeout(() => this.replaceUnresponsive(thread), GRACE)
    }
    if (stop !== null) slot.onStop(cancel, stop === 'begin again')
    let quick = setTimeout(() => {
      slot.standBack()
      quick = setTimeout(() => slot.outgrow(), QUICK - SHORT_JOB)
    }, SHORT_JOB)
    const timer = setTimeout(cancel, milliseconds + 100)
    signal?.addEventListener('abort', cancel)
    try {
      const answer = await execute()
      // A job that was to stop but answered all the same must not be stopped in its next chunk.
      if (answer.type !== 'failed') thread.uncancel(id)
      return answer
    } finally {
      for (const each of [quick, timer, last]) clearTimeout(each)
      signal?.removeEventListener('abort', cancel)
      for (const graph of graphs) this.use(graph, -1)
      this.registry.shrink([...this.scheduler.threads], new Set(this.inUse.keys()))
    }
  }

  /** Bytes that one query may use: all threads together have twice the store's limit for a query. */
  private get queryMemory(): number {
    return Math.floor((2 * this.options.memory.query) / this.size)
  }

  /** Terminates a thread that no longer answers, after another has replaced it; one thread at a time. */
  private replaceUnresponsive(thread: ColumnThread): void {
    const begin = this.replacing.then(async () => {
      if (this.closed || !this.scheduler.threads.has(thread)) return
      const reason = 'a query did not stop at its deadline'
      this.options.onEvent({ event: 'worker lost', reason })
      await this.addThread()
      this.scheduler.remove(thread)
      await thread.end({ reason: 'deadline' })
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
    if (graphs.some(graph => this.damaged.has(graph))) throw rebuilding()
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
      case 'not in columns':
        return new NotInColumns(failure.what)
      case 'damaged':
        return rebuilding()
      case 'error':
        return new Error(failure.message)
    }
  }

  private async addThread(): Promise<void> {
    let joined = false
    const thread = new ColumnThread(
      {
        onPart: (graph, part) => this.registry.addPart(graph, part),
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

/** A started job, and its first answer. */
interface Begun {
  readonly id: number
  readonly thread: ColumnThread
  readonly answer: AnswerOf
  /** Milliseconds that it may run. */
  readonly milliseconds: number
  readonly stopped: StopReason | null
}

interface LimitedWork {
  readonly id: number
  readonly graphs: readonly string[]
  readonly milliseconds: number
  /** What happens to the job when it must make room; null where it cannot be stopped. */
  readonly stop: 'begin again' | 'give up' | null
}

/** True for jobs that check periodically whether to continue. */
function isStoppable({ type }: Job): boolean {
  return type === 'table' || type === 'tables' || type === 'text'
}

/** Why a job was stopped early; null where it was not. */
function stopReason(answer: AnswerOf, { stopped }: ThreadSlot): StopReason | null {
  return answer.type === 'failed' && answer.failure.reason === 'cancelled' ? stopped : null
}

function isLate(answer: AnswerOf): boolean {
  return answer.type === 'failed' && ['deadline', 'cancelled'].includes(answer.failure.reason)
}

export function rebuilding(): Fault {
  return new Fault(STORE_UNAVAILABLE, {
    reason: 'a file of columns is damaged and is made again. Try again in a moment.',
  })
}
