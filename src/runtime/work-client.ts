import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { setTimeout } from 'node:timers/promises'

/** The client of some work: its recent usage determines when its next piece of work is done, and how long it may take. */
export interface WorkClient {
  readonly id: string
  /** Milliseconds of work of the last seconds, with older work weighted less. */
  readonly usage: () => number
  /** Charges milliseconds of work. */
  readonly spend: (milliseconds: number) => void
  /** True if it recently used more than most other active clients. */
  readonly isHeavy: () => boolean
  /** True if it repeatedly sends several requests at a time, or without a pause, while other clients are active. */
  readonly isPressing: () => boolean
  /** True if it has exceeded its budget, and other clients are active. */
  readonly isOverBudget: () => boolean
  /** Records a query that exceeded its deadline. */
  readonly offend: () => void
  /** The deadline of its queries, given the default; shorter after offences. */
  readonly deadline: (milliseconds: number) => number
}

/** The client of one request; replaced once it is identified. */
export interface WorkContext {
  client: WorkClient
  actor?: Actor
}

/** Who performs an action, and from which address, for the audit log. */
export interface Actor {
  readonly name: string
  readonly address: string
}

const storage = new AsyncLocalStorage<WorkContext>()

/** The two most recent requests: the latest, and the one before it. */
let [latest, before]: readonly { readonly context: WorkContext | null; readonly at: number }[] = [
  { context: null, at: Number.NEGATIVE_INFINITY },
  { context: null, at: Number.NEGATIVE_INFINITY },
]

/** Runs work, including asynchronous continuations, on the account of a client. */
export function runFor<T>(context: WorkContext, work: () => T): T {
  if (context !== latest?.context) [latest, before] = [{ context, at: performance.now() }, latest]
  return storage.run(context, work)
}

/** True if a request other than that of this work began a moment ago, from any client. */
function isBesideOthers(): boolean {
  const other = latest?.context === storage.getStore() ? before : latest
  return other !== undefined && performance.now() - other.at < MOMENT
}

/** The client of this work; null for work of the server itself. */
export function currentClient(): WorkClient | null {
  return storage.getStore()?.client ?? null
}

/** The actor of this work; null for work that was not requested over HTTP. */
export function currentActor(): Actor | null {
  return storage.getStore()?.actor ?? null
}

function mayRest(client: WorkClient | null): boolean {
  return client !== null && (client.isHeavy() || client.isPressing())
}

/**
 * Creates pieces on the account of the client for which they were begun: a stream requests them whenever its connection is
 * writable, outside of the original context.
 *
 * @param source what they are made of, if that has begun: it is ended with them, also by a client that reads none of them
 */
export function forSameClient<Piece>(
  pieces: AsyncIterable<Piece>,
  source?: AsyncIterator<unknown>,
): AsyncIterable<Piece> {
  const resource = new AsyncResource('pieces')
  return {
    [Symbol.asyncIterator]: () => {
      const iterator = pieces[Symbol.asyncIterator]()
      return {
        next: () => resource.runInAsyncScope(() => iterator.next()),
        return: async value => {
          const end = (await iterator.return?.(value)) ?? { done: true, value }
          await source?.return?.()
          return end
        },
      }
    },
  }
}

/** Milliseconds between two pieces of long work of all heavy clients together. */
const PAUSE = 25

let nextPiece = 0

/** Yields to other work between two pieces of long work. */
export async function yieldToOthers(): Promise<void> {
  const client = currentClient()
  return mayRest(client) ? pause(client) : nextTurn()
}

/** Characters of a long document that are made before the thread yields to other requests. */
const TURN = 200_000

/** Passes on the pieces of a document, and yields to other work after many characters of them. */
export async function* inTurns(pieces: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  let length = 0
  for await (const piece of pieces) {
    yield piece
    length += piece.length
    if (length < TURN) continue
    length = 0
    await yieldToOthers()
  }
}

/** Continues long work that waits for its next piece, in the order in which it began to wait. */
const waiting: (() => void)[] = []

/**
 * Resolves in a turn of the event loop that continues no other long work: a turn accepts one new connection at most, so that with
 * a piece of each download in every turn, those who connect would wait for all of them again and again.
 */
function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    if (waiting.push(resolve) === 1) setImmediate(continueWork)
  })
}

function continueWork(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(continueWork)
}

/** Milliseconds after which another request is unlikely to be followed by one more. */
const MOMENT = 50

/** Milliseconds between two pieces of a long response while other requests are in progress. */
const YIELD_INTERVAL = 5

/**
 * Delays the next piece of a client that is heavy or pressing until its turn; in a long response it also pauses briefly while
 * other requests are in progress, so that these do not compete with it for the processors all the time.
 */
export async function pause(client: WorkClient | null, isLong = false): Promise<void> {
  if (!mayRest(client)) {
    if (isLong && isBesideOthers()) await setTimeout(YIELD_INTERVAL)
    return
  }
  const now = performance.now()
  const turn = Math.max(now, nextPiece)
  nextPiece = turn + PAUSE
  await setTimeout(turn + PAUSE - now)
}
