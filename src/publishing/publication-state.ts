import type { Diagnostic } from '../mapping/diagnostic.ts'
import type { PublishMessage } from './publish-all.ts'

/** How the latest publication of a dataset went that this process has started. */
export type PublicationState =
  | { readonly type: 'running'; readonly records: number }
  | { readonly type: 'done' }
  /** The mapping has errors; what was in force before stays. */
  | { readonly type: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly type: 'failed'; readonly reason: string }

/** The latest publication of each dataset, for pages that report on them. */
export class Publications {
  private readonly states = new Map<string, PublicationState>()

  note(message: PublishMessage): void {
    this.states.set(message.dataset, stateOf(message))
  }

  /** null where no publication of the dataset is known. */
  of(dataset: string): PublicationState | null {
    return this.states.get(dataset) ?? null
  }

  /** Forgets what is known of a dataset, for a new publication is to come. */
  forget(dataset: string): void {
    this.states.delete(dataset)
  }
}

function stateOf(message: PublishMessage): PublicationState {
  switch (message.type) {
    case 'progress':
      return { type: 'running', records: message.records }
    case 'loading':
      return { type: 'running', records: 0 }
    case 'unchanged':
    case 'published':
      return { type: 'done' }
    case 'mapping-refused':
      return { type: 'refused', diagnostics: message.diagnostics }
    case 'failed':
      return { type: 'failed', reason: message.reason }
    default:
      return message satisfies never
  }
}
