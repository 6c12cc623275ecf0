import type { IncomingMessage, ServerResponse } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { MaybePromise } from '../accounts/database.ts'
import { declareFault, Fault } from '../errors/errors.ts'
import type { Principal } from '../model/principal.ts'
import { runFor, type WorkClient, type WorkContext } from '../runtime/work-client.ts'
import { addressSubject } from './client-address.ts'
import type { BudgetLimits, ClientBudget, WorkBudgets } from './client-budget.ts'
import { closeWith } from './connections.ts'
import { AnswerLimit, MAX_WAITING, TurnQueue } from './turn-queue.ts'

/** The work budget of a client is used up, and other clients are active. */
export const TOO_MUCH_WORK = declareFault(
  'TooMuchWork',
  429,
  'Your requests have used up the work that one client may ask for while others are waiting. Try again in {seconds} s.',
)
/** Too many answers to one client are in progress. */
export const TOO_MANY_ANSWERS = declareFault(
  'TooManyAnswers',
  429,
  '{found} {what} of yours are being answered, which is as many as may be. Try again when one of them is done.',
)

/** Headers that report a budget (draft-ietf-httpapi-ratelimit-headers, sections 3 and 4). */
export const BUDGET_HEADERS = ['ratelimit-policy', 'ratelimit'] as const

/** Maximum number of listeners for the end of an answer. */
const MAX_LISTENERS = 30

export interface RateLimitOptions {
  readonly budgets: WorkBudgets
  readonly address: (message: IncomingMessage) => string
}

interface RequestContext extends WorkContext {
  client: ClientBudget
  /** True if its client need not be marked as active any more. */
  isSettled: boolean
}

/** Charges the work of each request to its client: a user by account, all others by address. */
export class RateLimit {
  private readonly options: RateLimitOptions
  private readonly contexts = new WeakMap<IncomingMessage, RequestContext>()
  private readonly answers = new AnswerLimit()
  private readonly turns = new TurnQueue()
  private readonly charges = new LoopCharges()

  constructor(options: RateLimitOptions) {
    this.options = options
  }

  /** To be called before other hooks are added. */
  install(http: FastifyInstance): void {
    const { budgets, address } = this.options
    http.addHook('onRequest', (request, reply, done) => {
      const context = this.contextOf(request.raw, reply.raw)
      // Health checks and assets use nothing that others wait for.
      context.isSettled = request.routeOptions.config.access === 'everybody'
      const actor = {
        get name() {
          const { principal } = request
          return principal?.type === 'user' ? principal.name : 'anonymous'
        },
        address: address(request.raw),
      }
      context.actor = actor
      // What was begun for it and is cached holds its context as long, which must not hold the request and its connection.
      reply.raw.once('close', () => {
        context.actor = { ...actor }
      })
      reply.raw.setMaxListeners(MAX_LISTENERS)
      runFor(context, done)
    })
    // A body is read outside of the context that the first hook entered.
    http.addHook('preHandler', (request, _, done) => {
      const context = this.contexts.get(request.raw)
      if (context === undefined || request.method !== 'POST') done()
      else runFor(context, done)
    })
    http.addHook<unknown>('onSend', (request, reply, payload, done) => {
      const client = this.contexts.get(request.raw)?.client
      if (client !== undefined) reportBudget(reply, client, budgets.limits)
      done(null, payload)
    })
    http.addHook('onClose', (_, done) => {
      this.charges.close()
      done()
    })
  }

  /**
   * Delays requests that follow one another without a pause while other clients are active, whatever their route; to be called
   * after everything that replaces the server's request listeners.
   */
  installDelay(http: FastifyInstance): void {
    const listeners = http.server.listeners('request') as ((...args: unknown[]) => void)[]
    http.server.removeAllListeners('request')
    http.server.on('request', (message, response) => {
      const { client } = this.contextOf(message, response)
      const begin = () => {
        for (const listener of listeners) listener.call(http.server, message, response)
      }
      if (!client.isFrequent()) begin()
      else if (!this.turns.isFull(client)) void this.turns.wait(client, response).then(begin)
      else
        closeWith(
          message.socket,
          '429 Too Many Requests',
          TOO_MANY_ANSWERS.code,
          `${MAX_WAITING} requests of this client wait for their answers already.`,
          ['retry-after: 5'],
        )
    })
  }

  /**
   * The context of a request. Its address is marked as active when it is admitted without a user, or ends before: a user who
   * is alone must not compete with the address that the requests come from.
   */
  private contextOf(message: IncomingMessage, response: ServerResponse): RequestContext {
    const known = this.contexts.get(message)
    if (known !== undefined) return known
    const { budgets, address } = this.options
    const client = budgets.find(`address:${addressSubject(address(message))}`)
    const context: RequestContext = { client, isSettled: false }
    this.contexts.set(message, context)
    client.arrive(response)
    response.once('close', () => {
      if (!context.isSettled) budgets.of(client.id)
    })
    this.charges.begin(context, response)
    return context
  }

  /**
   * Resolves when an authenticated client is to be answered. Faults: TooMuchWork if its budget is used up while others are
   * active, TooManyAnswers if too many of its requests are being answered.
   */
  admit(request: FastifyRequest, reply: FastifyReply, principal: Principal): MaybePromise<void> {
    const context = this.contexts.get(request.raw)
    if (context === undefined) return undefined
    const { budgets } = this.options
    context.isSettled = true
    if (principal.type === 'user') {
      context.client = budgets.of(`user:${principal.id}`)
      context.client.arrive(reply.raw)
    } else budgets.of(context.client.id)
    const { client } = context
    if (client.isOverBudget()) {
      const seconds = client.wait()
      reply.header('retry-after', String(Math.max(1, seconds)))
      throw new Fault(TOO_MUCH_WORK, { seconds: Math.max(1, seconds) })
    }
    const excess = this.answers.enter(client.id, request.url, reply.raw)
    if (excess === null) return this.turns.enter(client, reply.raw)
    reply.header('retry-after', '5')
    throw new Fault(TOO_MANY_ANSWERS, excess)
  }
}

/** Reports the remaining budget, and the seconds until it is full again. */
function reportBudget(reply: FastifyReply, client: ClientBudget, { burst, rate }: BudgetLimits): void {
  const left = client.remaining()
  const window = Math.ceil(burst / rate)
  const full = Math.ceil((burst - left) / rate)
  reply.header('ratelimit-policy', `"work";q=${burst};qu="milliseconds";w=${window}`)
  reply.header('ratelimit', `"work";r=${Math.max(0, Math.floor(left))};t=${full}`)
}

/** Milliseconds between two charges. */
const INTERVAL = 200

/** Bytes of an answer that weigh as much as a request. */
const BYTES_OF_REQUEST = 30_000

/** Maximum of milliseconds that are charged for a request: work that was done for no client is charged to none. */
const MAX_CHARGE = 25

interface OpenAnswer {
  readonly response: ServerResponse
  readonly context: { readonly client: WorkClient }
  /** Bytes that its connection had written at the last charge. */
  written: number
}

/**
 * Charges clients for the main thread: divides the time that it is busy by the number of their requests and the bytes of
 * their answers.
 */
export class LoopCharges {
  private readonly open = new Set<OpenAnswer>()
  private readonly weights = new Map<WorkClient, number>()
  private before = performance.eventLoopUtilization()
  private readonly timer: NodeJS.Timeout

  constructor() {
    this.timer = setInterval(() => this.charge(), INTERVAL)
    this.timer.unref()
  }

  /** Counts an answer that begins; its context holds the client to charge. */
  begin(context: { readonly client: WorkClient }, response: ServerResponse): void {
    const answer = { response, context, written: response.socket?.bytesWritten ?? 0 }
    this.open.add(answer)
    response.once('close', () => {
      this.open.delete(answer)
      this.weigh(answer)
      this.add(context.client, 1)
    })
  }

  close(): void {
    clearInterval(this.timer)
  }

  private charge(): void {
    const now = performance.eventLoopUtilization()
    const { active } = performance.eventLoopUtilization(now, this.before)
    this.before = now
    for (const answer of this.open) this.weigh(answer)
    let all = 0
    for (const weight of this.weights.values()) all += weight
    const each = Math.min(MAX_CHARGE, active / Math.max(all, 0.1))
    for (const [client, weight] of this.weights) client.spend(weight * each)
    this.weights.clear()
  }

  private weigh(answer: OpenAnswer): void {
    const written = answer.response.socket?.bytesWritten ?? answer.written
    if (written > answer.written)
      this.add(answer.context.client, (written - answer.written) / BYTES_OF_REQUEST)
    answer.written = written
  }

  private add(client: WorkClient, weight: number): void {
    this.weights.set(client, (this.weights.get(client) ?? 0) + weight)
  }
}
