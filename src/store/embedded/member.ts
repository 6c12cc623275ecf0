import type { Worker } from 'node:worker_threads'
import { startThread } from '../../thread.ts'
import type { AnswerFormat, GraphSource } from '../store.ts'
import type { DatasetOfQuery, Reply, Request, WorkerSetup } from './protocol.ts'

/** A reply that ends a request. */
export type FinalReply = Exclude<Reply, { readonly type: 'up' | 'begun' | 'progress' }>

interface Open {
  readonly resolve: (reply: FinalReply) => void
  readonly onNews: ((reply: Reply) => void) | undefined
}

/** Reason of a trap that the engine had no part in: the thread was ended. */
export const THREAD_ENDED = 'the thread was ended'

/** What a worker is asked to answer. */
export interface Question {
  readonly sparql: string
  readonly format: AnswerFormat
  readonly dataset?: DatasetOfQuery | undefined
  /** Longest answer, in characters. */
  readonly longest?: number | undefined
}

/** Longest answer that is passed from a worker, in characters. */
const LONGEST_ANSWER = 256 * 2 ** 20

/**
 * One worker thread from its start to its death, and what it has loaded. A request ends with a reply; where the
 * worker dies first, with a trap that says why.
 */
export class Member {
  /** Graphs that it has, whole. */
  readonly graphs = new Set<string>()
  /** True once it has every graph, from then until its death. */
  serving = false
  /** True while it runs a query. */
  busy = false
  /** True while it loads or drops: a query may have to wait for the end of a batch. */
  upkeep = false
  /** Bytes of its WebAssembly memory, and those of them that queries have added. */
  memory = 0
  queryHeap = 0
  /** True once it is to be replaced for what queries have left in its memory. */
  retired = false
  readonly up: Promise<void>
  private readonly worker: Worker
  private readonly open = new Map<number, Open>()
  private nextId = 1
  private dead = false
  private killed = false
  private turn: Promise<unknown> = Promise.resolve()

  /** @param onDeath called once, with the reason */
  constructor(module: WebAssembly.Module, onDeath: (reason: string) => void) {
    const setup: WorkerSetup = { module }
    this.worker = startThread(import.meta.url, './worker', {
      workerData: setup,
      name: 'lodestone-store',
    })
    let reason = THREAD_ENDED
    let trapped = false
    this.up = new Promise((resolve, reject) => {
      this.worker.on('message', (reply: Reply) => {
        if ('memory' in reply) this.memory = reply.memory
        if ('heapGrowth' in reply) this.queryHeap += reply.heapGrowth
        if (reply.type === 'up') {
          this.rest()
          return resolve()
        }
        if (reply.type === 'trap') {
          // Before anyone hears of it: no query may go to an engine that is no longer sound.
          trapped = true
          reason = reply.reason
          void this.kill()
        }
        this.receive(reply)
      })
      this.worker.once('error', error => {
        reason = String(error)
      })
      this.worker.once('exit', () => {
        reject(new Error(reason))
        // Where one request trapped the others had no part in it.
        this.end(trapped ? THREAD_ENDED : reason)
        onDeath(reason)
      })
    })
    this.up.catch(() => undefined)
  }

  /** Runs a query. `onBegin` is called when it begins to run, which may be after a batch of a load. */
  async query(question: Question, onBegin: () => void): Promise<FinalReply> {
    const announce = this.upkeep
    this.busy = true
    if (!announce) onBegin()
    const { sparql, format, dataset } = question
    const longest = Math.min(LONGEST_ANSWER, question.longest ?? LONGEST_ANSWER)
    const request = { type: 'query', sparql, format, dataset, longest, announce } as const
    try {
      return await this.ask(request, reply => {
        if (reply.type === 'begun') onBegin()
      })
    } finally {
      this.busy = false
    }
  }

  /** Loads one graph after whatever upkeep is under way. */
  load(
    source: GraphSource,
    limit: number,
    inBackground: boolean,
    onLines: (lines: number) => void,
  ): Promise<FinalReply> {
    return this.inTurn(async () => {
      const reply = await this.ask({ type: 'load', source, limit, inBackground }, news => {
        if (news.type === 'progress') onLines(news.lines)
      })
      if (reply.type === 'loaded') this.graphs.add(source.graph)
      return reply
    })
  }

  /** Drops those graphs that it has, after whatever upkeep is under way. */
  drop(graphs: readonly string[]): Promise<FinalReply> {
    return this.inTurn(async () => {
      const held = graphs.filter(graph => this.graphs.delete(graph))
      if (held.length === 0) return { type: 'dropped', id: 0, memory: this.memory }
      return this.ask({ type: 'drop', graphs: held })
    })
  }

  /** Ends the thread, also in the middle of a query. */
  async kill(): Promise<void> {
    this.serving = false
    this.killed = true
    await this.worker.terminate()
  }

  /**
   * Lets the process end where nothing is asked of the thread. Not while it is being ended: an answer that was under way
   * would let go of the process before the end that somebody waits for.
   */
  private rest(): void {
    if (this.open.size === 0 && !this.killed) this.worker.unref()
  }

  private inTurn(work: () => Promise<FinalReply>): Promise<FinalReply> {
    const result = this.turn.then(async () => {
      this.upkeep = true
      try {
        return await work()
      } finally {
        this.upkeep = false
      }
    })
    this.turn = result
    return result
  }

  private ask(request: RequestWithoutId, onNews?: (reply: Reply) => void): Promise<FinalReply> {
    const id = this.nextId++
    return new Promise(resolve => {
      if (this.dead) return resolve({ type: 'trap', id, reason: THREAD_ENDED, oversize: false })
      this.worker.ref()
      this.open.set(id, { resolve, onNews })
      this.worker.postMessage({ ...request, id } satisfies Request)
    })
  }

  private receive(reply: Exclude<Reply, { type: 'up' }>): void {
    const open = this.open.get(reply.id)
    if (open === undefined) return
    if (reply.type === 'begun' || reply.type === 'progress') {
      open.onNews?.(reply)
      return
    }
    this.open.delete(reply.id)
    this.rest()
    open.resolve(reply)
  }

  private end(reason: string): void {
    this.dead = true
    this.serving = false
    for (const [id, { resolve }] of this.open) resolve({ type: 'trap', id, reason, oversize: false })
    this.open.clear()
  }
}

type RequestWithoutId = Request extends infer R ? (R extends Request ? Omit<R, 'id'> : never) : never
