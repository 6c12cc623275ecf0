import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../errors.ts'
import type { AnswerFormat, GraphSource, LoadProgress } from '../store.ts'
import { Member, type Question, THREAD_ENDED } from './member.ts'
import { estimate, isHeapBlownUp, megabytes, sourceSize } from './memory.ts'
import { queryError } from './query-error.ts'

export interface PoolOptions {
  readonly module: WebAssembly.Module
  readonly workers: number
  /** Milliseconds that a query may run. */
  readonly deadline: number
  /** Queries that may wait. */
  readonly queue: number
  /** Bytes that one worker may fill with data. */
  readonly memoryLimit: number
  readonly onEvent: (event: PoolEvent) => void
}

/** Something that an operator should know. */
export interface PoolEvent {
  readonly event: 'worker lost' | 'worker retired' | 'worker replaced' | 'reload failed' | 'graph lost'
  readonly reason: string
  /** The graph that was lost: its file cannot be loaded again, so new workers do without it. */
  readonly graph?: string
}

interface Job {
  readonly question: Question
  /** True for a query that strangers wrote: others have their turn before it, and a worker for themselves. */
  readonly isGuest: boolean
  readonly deadline: number
  readonly resolve: (text: string) => void
  readonly reject: (error: unknown) => void
  /** Ends the wait in the queue. */
  timer: NodeJS.Timeout | undefined
}

/** What it means that a worker refuses to load a graph. */
const REFUSALS = { memory: 'StoreFull', text: 'LoadRefused', system: 'StoreUnavailable' } as const

/** Queries of strangers that may wait. */
const GUEST_QUEUE = 50

interface Registered {
  readonly source: GraphSource
  /** Bytes that it is taken to need in each worker. */
  readonly bytes: number
  quads: number
  /** True once it was loaded as a whole: then it is the file that is at fault where that fails again. */
  isLoaded: boolean
}

/**
 * The workers, each with a copy of every graph. A query goes to an idle worker, else it waits its turn. One that runs
 * past its deadline costs its worker, for nothing else can stop it; the replacement loads all graphs again while the
 * others serve. So does a trap of the engine. A query that ended a worker is never tried on another.
 *
 * The queries that strangers write wait in a queue of their own, and leave one worker free for all others: while a
 * worker is being replaced, that may be none of them.
 *
 * Each query gets the same deadline, also on the last free worker: to end a worker early costs seconds of loading,
 * which is more than most slow queries take.
 */
export class Pool {
  readonly registry = new Map<string, Registered>()
  deadlines = 0
  private readonly options: PoolOptions
  private readonly members = new Set<Member>()
  private readonly queue: Job[] = []
  private readonly guests: Job[] = []
  private guestsRunning = 0
  /** Those who wait for a worker to join. */
  private readonly arrivals: {
    readonly resolve: () => void
    readonly reject: (error: unknown) => void
  }[] = []
  private closed = false
  private readonly stopping = new AbortController()

  constructor(options: PoolOptions) {
    this.options = options
  }

  /** Starts the workers; resolves when they are up. */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.options.workers }, () => this.addMember()))
  }

  query(sparql: string, format: AnswerFormat, deadline: number | undefined): Promise<string> {
    return this.ask({ sparql, format }, deadline, false)
  }

  /** The same for a query that a stranger wrote. Rejects with QueryError where the engine cannot read or evaluate it. */
  guestQuery(question: Question, deadline: number | undefined): Promise<string> {
    return this.ask(question, deadline, true)
  }

  private ask(question: Question, deadline: number | undefined, isGuest: boolean): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.closed) return reject(closedFault())
      const [queue, most] = isGuest ? [this.guests, GUEST_QUEUE] : [this.queue, this.options.queue]
      if (queue.length >= most) return reject(new Fault('StoreBusy'))
      const job: Job = {
        question,
        isGuest,
        deadline: deadline ?? this.options.deadline,
        resolve,
        reject,
        timer: undefined,
      }
      this.wait(job)
      queue.push(job)
      this.dispatch()
    })
  }

  /** Loads graphs into every worker; one after the other where some serve, all at once where none has anything yet. */
  async load(sources: readonly GraphSource[], onProgress: (progress: LoadProgress) => void): Promise<void> {
    const known = sources.find(
      ({ graph }, index) =>
        this.registry.has(graph) || sources.findIndex(other => other.graph === graph) < index,
    )
    if (known !== undefined)
      throw new Fault('LoadRefused', { reason: `the graph ${known.graph} is loaded already` })
    if (this.closed) throw closedFault()
    this.checkHeadRoom(sources)
    const atOnce = this.registry.size === 0
    for (const source of sources) {
      const { triples, bytes } = sourceSize(source)
      this.registry.set(source.graph, {
        source,
        bytes: estimate(triples, bytes),
        quads: triples,
        isLoaded: false,
      })
    }
    try {
      const members = [...this.members].filter(member => member.serving)
      const told = progressOf(sources, members.length, onProgress)
      const work = members.map(
        (member, index) => () => this.fill(member, sources, true, lines => told(index, lines)),
      )
      if (atOnce) await allThrough(work)
      else for (const begin of work) await begin()
      await this.served(sources)
      for (const { graph } of sources) this.setLoaded(graph)
    } catch (error) {
      await this.drop(sources.map(({ graph }) => graph))
      throw error
    }
  }

  async drop(graphs: readonly string[]): Promise<void> {
    for (const graph of graphs) this.registry.delete(graph)
    await Promise.all([...this.members].map(member => member.drop(graphs)))
  }

  private setLoaded(graph: string): void {
    const registered = this.registry.get(graph)
    if (registered !== undefined) registered.isLoaded = true
  }

  ready(): readonly Member[] {
    return [...this.members].filter(member => member.serving)
  }

  async close(): Promise<void> {
    this.closed = true
    this.stopping.abort()
    for (const job of [...this.queue.splice(0), ...this.guests.splice(0)]) {
      clearTimeout(job.timer)
      job.reject(closedFault())
    }
    for (const { reject } of this.arrivals.splice(0)) reject(closedFault())
    const members = [...this.members]
    this.members.clear()
    await Promise.all(members.map(member => member.kill()))
  }

  /** Limits the time that a query waits for its turn. */
  private wait(job: Job): void {
    job.timer = setTimeout(() => {
      const queue = this.queueOf(job)
      const at = queue.indexOf(job)
      if (at >= 0) queue.splice(at, 1)
      job.reject(new Fault('StoreBusy'))
    }, this.options.deadline)
  }

  private dispatch(): void {
    while (this.queue.length > 0 || this.guests.length > 0) {
      const idle = [...this.members].filter(member => member.serving && !member.busy)
      const member = idle.find(({ upkeep }) => !upkeep) ?? idle[0]
      if (member === undefined) return
      const job = this.queue.shift() ?? (this.hasRoomForGuest() ? this.guests.shift() : undefined)
      if (job === undefined) return
      void this.run(job, member)
    }
  }

  private queueOf({ isGuest }: Job): Job[] {
    return isGuest ? this.guests : this.queue
  }

  private hasRoomForGuest(): boolean {
    const most = this.options.workers === 1 ? 1 : this.ready().length - 1
    return this.guestsRunning < most
  }

  private async run(job: Job, member: Member): Promise<void> {
    clearTimeout(job.timer)
    let [begun, late] = [false, false]
    let timer: NodeJS.Timeout | undefined
    if (job.isGuest) this.guestsRunning += 1
    const reply = await member.query(job.question, () => {
      begun = true
      timer = setTimeout(() => {
        late = true
        this.deadlines += 1
        void member.kill()
        job.reject(new Fault('DeadlineExceeded', { seconds: job.deadline / 1000 }))
      }, job.deadline)
    })
    clearTimeout(timer)
    if (job.isGuest) this.guestsRunning -= 1
    this.noteHeap(member)
    if (reply.type === 'trap' && !begun && !this.closed) {
      // What ended the worker was a load that the query waited for: it has its turn with another.
      this.wait(job)
      this.queueOf(job).unshift(job)
      return this.dispatch()
    }
    this.dispatch()
    if (late) return
    if (reply.type === 'answer') return job.resolve(reply.text)
    if (reply.type === 'oversize' && job.isGuest) return job.reject(tooLong(job.question.longest))
    if (reply.type === 'error' && job.isGuest) return job.reject(queryError(reply.message))
    if (reply.type === 'oversize')
      return job.reject(new Fault('StoreUnavailable', { reason: 'the answer is too long to be passed on.' }))
    if (reply.type === 'trap' && this.closed) return job.reject(closedFault())
    if (reply.type === 'trap')
      return job.reject(
        new Fault(
          'StoreUnavailable',
          { reason: 'the query ended its worker.' },
          { cause: new Error(reply.reason) },
        ),
      )
    job.reject(
      new Error(
        'message' in reply
          ? `${reply.message} in ${job.question.sparql.slice(0, 2000)}`
          : `unexpected ${reply.type}`,
      ),
    )
  }

  /** A new worker that joins the others once it has every graph. It is gone again where this rejects. */
  private async addMember(): Promise<void> {
    let joined = false
    const member = new Member(this.options.module, reason => {
      this.members.delete(member)
      if (joined && !this.closed) this.replace(member, reason)
    })
    this.members.add(member)
    try {
      await member.up
      await this.catchUp(member, () => {
        joined = true
        member.serving = true
      })
    } catch (error) {
      this.members.delete(member)
      void member.kill()
      throw error
    }
    for (const { resolve } of this.arrivals.splice(0)) resolve()
    this.endRetired()
    this.dispatch()
  }

  /** Has a worker replaced whose memory a query has blown up. */
  private noteHeap(member: Member): void {
    if (!member.retired && member.serving && isHeapBlownUp(member)) {
      member.retired = true
      const reason = `queries have left ${megabytes(member.queryHeap)} in its memory of ${megabytes(member.memory)}`
      this.options.onEvent({ event: 'worker retired', reason })
      // Nobody else serves meanwhile: the replacement comes first.
      if (this.options.workers === 1) void this.retry()
    }
    this.endRetired()
  }

  /** Ends workers that are to be replaced and run nothing, where another one serves. */
  private endRetired(): void {
    for (const member of this.ready())
      if (member.retired && !member.busy && this.ready().length > 1) void member.kill()
  }

  /** Brings a worker to the graphs of the registry, which may change while it loads; `join` leaves it no time to. */
  private async catchUp(member: Member, join: () => void): Promise<void> {
    for (;;) {
      const missing = [...this.registry.values()].filter(({ source }) => !member.graphs.has(source.graph))
      const extra = [...member.graphs].filter(graph => !this.registry.has(graph))
      if (extra.length > 0) {
        const reply = await member.drop(extra)
        if (reply.type === 'trap')
          throw new Fault('StoreUnavailable', {
            reason: `a worker ended while it dropped ${extra.join(', ')}.`,
          })
        continue
      }
      const [next] = missing
      if (next === undefined) return join()
      await this.fill(member, [next.source], false, () => undefined).catch(error => {
        const isDamaged = error instanceof Fault && error.code === 'LoadRefused' && next.isLoaded
        if (!isDamaged) throw error
        // Told before the worker joins, so that nobody asks it for what it lacks.
        this.registry.delete(next.source.graph)
        this.options.onEvent({ event: 'graph lost', reason: error.message, graph: next.source.graph })
      })
    }
  }

  /** @param live the worker served when the load was asked for, and may have met a deadline since */
  private async fill(
    member: Member,
    sources: readonly GraphSource[],
    live: boolean,
    onLines: (lines: number) => void,
  ): Promise<void> {
    let before = 0
    for (const source of sources) {
      const reply = await member.load(source, this.options.memoryLimit, !live, lines =>
        onLines(before + lines),
      )
      if (reply.type === 'refused') {
        throw new Fault(REFUSALS[reply.reason], { reason: reply.message, graph: source.graph })
      }
      if (reply.type === 'trap' && reply.reason !== THREAD_ENDED)
        throw new Fault('StoreFull', {
          reason: `the graph ${source.graph} cannot be loaded: ${reply.reason}`,
        })
      if (reply.type !== 'loaded') {
        // A worker that was serving and met a deadline meanwhile has a replacement, which loads what the registry names.
        if (live && !this.closed) return
        throw new Fault('StoreUnavailable', { reason: `a worker ended while it loaded ${source.graph}.` })
      }
      before += sourceSize(source).triples
      const registered = this.registry.get(source.graph)
      if (registered !== undefined) registered.quads = reply.quads
    }
  }

  /**
   * Resolves once a worker serves that has these graphs, which is at once but where every worker that loaded them met
   * a deadline meanwhile: then a replacement has to show that they can be loaded.
   */
  private async served(sources: readonly GraphSource[]): Promise<void> {
    const has = (member: Member) =>
      sources.every(({ graph }) => member.graphs.has(graph) || !this.registry.has(graph))
    while (!this.ready().some(has))
      await new Promise<void>((resolve, reject) => this.arrivals.push({ resolve, reject }))
  }

  private replace({ retired }: Member, reason: string): void {
    if (!retired) this.options.onEvent({ event: 'worker lost', reason })
    // The replacement of a lone worker may be there before its end.
    if (this.members.size < this.options.workers) void this.retry()
  }

  private async retry(): Promise<void> {
    for (let pause = 500; !this.closed; pause = Math.min(2 * pause, 30_000)) {
      try {
        await this.addMember()
        this.options.onEvent({ event: 'worker replaced', reason: 'all graphs are loaded again' })
        return
      } catch (error) {
        if (this.closed) return
        if (error instanceof Fault && error.code !== 'StoreUnavailable')
          for (const { reject } of this.arrivals.splice(0)) reject(error)
        this.options.onEvent({ event: 'reload failed', reason: String(error) })
        await sleep(pause, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined)
      }
    }
  }

  private checkHeadRoom(sources: readonly GraphSource[]): void {
    const needed = sources.reduce((sum, source) => {
      const { triples, bytes } = sourceSize(source)
      return sum + estimate(triples, bytes)
    }, 0)
    const used = [...this.registry.values()].reduce((sum, { bytes }) => sum + bytes, 0)
    if (used + needed <= this.options.memoryLimit) return
    const reason =
      `the store has no room: ${megabytes(needed)} are needed beside the ${megabytes(used)} in use, ` +
      `but ${megabytes(this.options.memoryLimit)} is all that a worker can hold`
    throw new Fault('StoreFull', { reason })
  }
}

/** Runs all at once; where one fails, only when the others are through, so that what they did can be undone. */
async function allThrough(work: readonly (() => Promise<void>)[]): Promise<void> {
  const outcomes = await Promise.allSettled(work.map(begin => begin()))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

function closedFault(): Fault {
  return new Fault('StoreUnavailable', { reason: 'the store is closed.' })
}

function tooLong(longest: number | undefined): Fault {
  const most = longest === undefined ? '' : ` of ${longest.toLocaleString('en')} characters`
  const reason = `The answer is longer than the limit${most}. Ask for less of it at a time, with LIMIT and OFFSET.`
  return new Fault('UnprocessableEntity', { reason })
}

/** Adds up what the workers tell into one progress. */
function progressOf(
  sources: readonly GraphSource[],
  members: number,
  onProgress: (progress: LoadProgress) => void,
): (member: number, lines: number) => void {
  const total = sources.reduce((sum, source) => sum + sourceSize(source).triples, 0) * members
  const lines: number[] = []
  return (member, done) => {
    lines[member] = done
    onProgress({ quads: lines.reduce((sum, part) => sum + (part ?? 0), 0), total })
  }
}
