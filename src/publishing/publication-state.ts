import type { Diagnostic } from '../mapping/diagnostic.ts'
import type { PublishMessage } from './publish-all.ts'

/** The state of the latest publication of a dataset that this process started. */
export type PublicationState =
  | { readonly type: 'running'; readonly records: number }
  | { readonly type: 'done' }
  /** The mapping has errors; the previous version stays in force. */
  | { readonly type: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly type: 'failed'; readonly reason: string }

/** The latest publication of each dataset, for pages that report them. */
export class Publications {
  private readonly states = new Map<string, PublicationState>()

  note(message: PublishMessage): void {
    this.states.set(message.dataset, stateOf(message))
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
    default:
      return message satisfies never
  }
}
