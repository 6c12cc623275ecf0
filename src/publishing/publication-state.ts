import type { Diagnostic } from '../mapping/diagnostic.ts'
import type { PublishMessage } from './publish-all.ts'

/** The state of the latest publication of a dataset that this process started. */
export type PublicationState =
  | { readonly type: 'running'; readonly records: number }
  | { readonly type: 'done' }
  /** The mapping has errors; the previous version stays in force. */
  | { readonly type: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly type: 'failed'; readonly reason: string }

/** Milliseconds until a publication is tried again that failed because the disk was full; each pause is twice the one before. */
const [FIRST_PAUSE, MAX_PAUSE] = [60_000, 3_600_000]

/** Bytes of room more, and their share of what there was, with which such a publication is tried again at once. */
const [MORE_ROOM, MORE_SHARE] = [8 * 2 ** 20, 0.25]

interface Unstored {
  readonly time: number
  readonly pause: number
  /** Minimum of the bytes that were free since it was tried. */
  readonly room: number
}

/** The latest publication of each dataset, for pages that report them. */
export class Publications {
  private readonly states = new Map<string, PublicationState>()
  /** Datasets for whose latest version the disk had no room. */
  private readonly unstored = new Map<string, Unstored>()

  /** @param now milliseconds since any moment, by a clock that is never set */
  note(message: PublishMessage, now: number): void {
    const { dataset } = message
    const state = stateOf(message)
    this.states.set(dataset, state)
    if (message.type === 'failed' && message.isDiskFull) {
      if (!this.unstored.has(dataset)) this.postpone(dataset, now, FIRST_PAUSE)
    } else if (state.type !== 'running') this.unstored.delete(dataset)
  }

  /**
   * Datasets that are to be tried again: there is more room now, or may be.
   *
   * @param room the bytes that are free on the disk
   */
  due(now: number, room: () => number): readonly string[] {
    if (this.unstored.size === 0) return []
    const free = room()
    return [...this.unstored].flatMap(([id, { time, pause, room: before }]) => {
      const isRoomier = free - before >= Math.max(MORE_ROOM, MORE_SHARE * before)
      if (isRoomier || time <= now) {
        this.postpone(id, now, isRoomier ? FIRST_PAUSE : Math.min(2 * pause, MAX_PAUSE))
        return [id]
      }
      this.unstored.set(id, { time, pause, room: Math.min(before, free) })
      return []
    })
  }

  private postpone(dataset: string, now: number, pause: number): void {
    this.unstored.set(dataset, { time: now + pause, pause, room: Number.POSITIVE_INFINITY })
  }

  /** null if no publication of the dataset is known. */
  of(dataset: string): PublicationState | null {
    return this.states.get(dataset) ?? null
  }

  /** Forgets the state of a dataset, because a new publication is about to start. */
  forget(dataset: string): void {
    this.states.delete(dataset)
  }
}

function stateOf(message: PublishMessage): PublicationState {
  switch (message.type) {
    case 'progress':
      return { type: 'running', records: message.records }
    case 'loading':
    case 'waiting':
      return { type: 'running', records: 0 }
    case 'unchanged':
    case 'published':
    case 'withdrawn':
      return { type: 'done' }
    case 'mapping-refused':
      return { type: 'refused', diagnostics: message.diagnostics }
    case 'failed':
      return { type: 'failed', reason: message.reason }
  }
}
