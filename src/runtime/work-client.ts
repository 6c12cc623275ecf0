import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { setImmediate, setTimeout } from 'node:timers/promises'

/** The client that work is done for: what it used lately decides when its next piece of work is done, and how long it may take. */
export interface WorkClient {
  readonly id: string
  /** Milliseconds of work of the last seconds, older work counting less. */
  readonly usage: () => number
  /** Charges milliseconds of work. */
  readonly spend: (milliseconds: number) => void
  /** True where it lately used more than most of those who ask beside it. */
  readonly isHeavy: () => boolean
  /** True where it asks for several things at a time, or without a pause, and not for the first time, while others ask. */
  readonly isPressing: () => boolean
  /** True where it has used more than its budget, and others ask. */
  readonly isOverBudget: () => boolean
  /** Notes a query that met its deadline. */
  readonly offend: () => void
  /** The time that a query of it may take, of what others may take; shorter after offences. */
  readonly deadline: (milliseconds: number) => number
}

/** The client of one request; replaced once it is known who it is. */
export interface WorkContext {
  client: WorkClient
  actor?: Actor
}

/** Who does something, and from where, for the audit log. */
export interface Actor {
  readonly name: string
  readonly address: string
}

const storage = new AsyncLocalStorage<WorkContext>()

/** The requests that began last: the latest, and the one before it. */
let [latest, before]: readonly { readonly context: WorkContext | null; readonly at: number }[] = [
  { context: null, at: Number.NEGATIVE_INFINITY },
  { context: null, at: Number.NEGATIVE_INFINITY },
]

/** Runs work, and all that follows from it, on the account of a client. */
export function runFor<T>(context: WorkContext, work: () => T): T {
  if (context !== latest?.context) [latest, before] = [{ context, at: performance.now() }, latest]
  return storage.run(context, work)
}

/** True where another request than that of this work began a moment ago, whoever sent it. */
function isBesideOthers(): boolean {
  const other = latest?.context === storage.getStore() ? before : latest
  return other !== undefined && performance.now() - other.at < MOMENT
}

/** The client that this work is done for; null for what the server does of its own accord. */
export function currentClient(): WorkClient | null {
  return storage.getStore()?.client ?? null
}

/** Who asked for this work; null for what nobody asked for over HTTP. */
export function currentActor(): Actor | null {
  return storage.getStore()?.actor ?? null
}

function mayRest(client: WorkClient | null): boolean {
  return client !== null && (client.isHeavy() || client.isPressing())
}

/**
 * Pieces that are made on the account of the client that they were begun for: a stream asks for them whenever its connection
 * takes more, and then nobody else is known to be asking.
 */
export function forSameClient<Piece>(pieces: AsyncIterable<Piece>): AsyncIterable<Piece> {
  const resource = new AsyncResource('pieces')
  return {
    [Symbol.asyncIterator]: () => {
      const iterator = pieces[Symbol.asyncIterator]()
      return {
        next: () => resource.runInAsyncScope(() => iterator.next()),
        return: async value => (await iterator.return?.(value)) ?? { done: true, value },
      }
    },
  }
}

/** Milliseconds between two pieces of long work of those who use the most, all of them together. */
const PAUSE = 25

let nextPiece = 0

/** Lets others go on between two pieces of long work. */
export async function breathe(): Promise<void> {
  const client = currentClient()
  return mayRest(client) ? rest(client) : setImmediate()
}

/** Milliseconds after which another request is no longer likely to be followed by one more. */
const MOMENT = 50

/** Milliseconds between two pieces of a long answer while other requests are answered. */
const GIVE_WAY = 5

/**
 * Waits where a client uses the most, or asks for several things at a time, until it is the turn of its next piece; in the
 * middle of a long answer for a moment also where other requests are answered, so that these do not share the processors with
 * it all the time.
 */
export async function rest(client: WorkClient | null, isLong = false): Promise<void> {
  if (!mayRest(client)) {
    if (isLong && isBesideOthers()) await setTimeout(GIVE_WAY)
    return
  }
  const now = performance.now()
  const turn = Math.max(now, nextPiece)
  nextPiece = turn + PAUSE
  await setTimeout(turn + PAUSE - now)
}
