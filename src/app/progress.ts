import type { PublishJob, PublishMessage } from '../publishing/publish-all.ts'
import type { PublisherThread } from '../publishing/publisher-thread.ts'
import type { PublicationOutcome } from '../telemetry/metrics.ts'
import type { App } from './app.ts'

/** Reports the progress of publishing: the command line shows bars on a terminal, one line a result elsewhere. */
export interface ProgressReporter {
  update(task: string, done: number, total: number): void
  publication(message: PublishMessage): void
  done(): void
  /** Datasets that could not be published in their present definition. */
  readonly failures: readonly string[]
}

/** The actor of automatic publications in the audit log. */
const SERVER = { name: 'server', address: 'local' }

/** Runs a job of the publisher, and reports its outcome. */
export function publishNow(
  publisher: PublisherThread,
  job: PublishJob,
  app: App,
  progress: ProgressReporter,
): Promise<void> {
  return publisher.publish(job, message => reportPublication(message, app, progress))
}

/** Reports a publication to the progress, the pages, the audit log and the metrics. */
export function reportPublication(message: PublishMessage, app: App, progress: ProgressReporter): void {
  progress.publication(message)
  app.publications.note(message, performance.now())
  if (message.type === 'published' || message.type === 'failed' || message.type === 'withdrawn')
    app.accounts.audit
      .note(message.type, message.dataset, SERVER)
      .catch(error => app.http.log.warn({ err: error, dataset: message.dataset }, 'audit log'))
  const outcome = outcomeOf(message)
  if (outcome !== null) app.telemetry.metrics?.published(outcome)
}

/** The outcome for the metrics; null for messages about a publication that goes on, and for others. */
function outcomeOf({ type }: PublishMessage): PublicationOutcome | null {
  switch (type) {
    case 'unchanged':
    case 'published':
    case 'failed':
      return type
    case 'mapping-refused':
      return 'failed'
    default:
      return null
  }
}
