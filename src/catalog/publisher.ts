import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { Fault, faultText } from '../errors.ts'
import type { MappingRefusal } from './choose-mapping.ts'
import { definedDatasets } from './definition.ts'
import { type PublishContext, type PublishProgress, type PublishReport, publishDataset } from './publish.ts'
import { forget, isWithdrawn, storedDatasets, versionsOf } from './versions.ts'

/** What a publication tells while it runs. */
export type PublishMessage =
  | ({ readonly type: 'progress' } & PublishProgress)
  | { readonly type: 'unchanged'; readonly dataset: string; readonly records: number }
  | { readonly type: 'published'; readonly dataset: string; readonly report: PublishReport }
  | ({ readonly type: 'mapping-refused'; readonly dataset: string } & MappingRefusal)
  | { readonly type: 'failed'; readonly dataset: string; readonly reason: string }

/**
 * Publishes datasets one after the other; what cannot be published is told and leaves its version in force. Without
 * names: every dataset of the portal that was not withdrawn, and versions of folders that are gone are removed.
 */
export async function publishAll(
  context: Omit<PublishContext, 'versions' | 'onProgress'>,
  datasets: readonly string[] | null,
  tell: (message: PublishMessage) => void,
): Promise<void> {
  const versions = versionsOf(context.portal)
  const defined = definedDatasets(context.portal)
  if (datasets === null)
    for (const id of storedDatasets(versions)) if (!defined.includes(id)) forget(versions, id)
  for (const id of datasets ?? defined.filter(known => !isWithdrawn(versions, known))) {
    try {
      const onProgress = (progress: PublishProgress) => tell({ type: 'progress', ...progress })
      const result = await publishDataset(id, { ...context, versions, onProgress })
      if (result.type === 'published') tell({ type: 'published', dataset: id, report: result.report })
      else tell({ type: 'unchanged', dataset: id, records: result.manifest.statistics.records })
      if (result.refusal !== null) tell({ type: 'mapping-refused', dataset: id, ...result.refusal })
    } catch (error) {
      const reason = error instanceof Fault ? faultText(error) : String((error as Error).stack ?? error)
      tell({ type: 'failed', dataset: id, reason })
    }
  }
}

const PUBLISHER = 'lodestone-publisher'

/** What the thread is given: only then does this module publish by itself. */
export interface PublisherData {
  readonly role: typeof PUBLISHER
  readonly portal: string
  readonly base: string
}

export function publisherData(portal: string, base: string): PublisherData {
  return { role: PUBLISHER, portal, base }
}

/** What the thread is told to publish, once. */
export interface PublishJob {
  /** null for all of the portal. */
  readonly datasets: readonly string[] | null
  /** Whether the sources of these datasets are known to be as they were. */
  readonly mappingOnly: boolean
}

const given = workerData as PublisherData | null
if (!isMainThread && given?.role === PUBLISHER)
  parentPort?.once('message', async ({ datasets, mappingOnly }: PublishJob) => {
    const { portal, base } = given
    await publishAll({ portal, base, mappingOnly, now: () => new Date() }, datasets, message =>
      parentPort?.postMessage(message),
    )
  })
