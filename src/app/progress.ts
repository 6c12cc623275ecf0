import type { PublishMessage } from '../publishing/publisher.ts'

/** Reports the progress of publishing: the command line shows bars on a terminal, one line a result elsewhere. */
export interface ProgressReporter {
  update(task: string, done: number, total: number): void
  publication(message: PublishMessage): void
  done(): void
  /** Datasets that could not be published as they stand in the portal. */
  readonly failures: readonly string[]
}
