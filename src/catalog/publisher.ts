import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { Fault, faultText, openFilesText } from '../errors.ts'
import type { MappingRefusal } from './choose-mapping.ts'
import { definedDatasets } from './definition.ts'
import type { StoreSettings } from './portal-store.ts'
import {
  type PublishContext,
  type PublishProgress,
  type PublishReport,
  type PublishResult,
  publishDataset,
} from './publish.ts'
import type { SharedRegistry } from './shared-registry.ts'
import { forget, isWithdrawn, type Manifest, storedDatasets, versionsOf } from './versions.ts'

/** What a publication tells while it runs. */
export type PublishMessage =
  | ({ readonly type: 'progress' } & PublishProgress)
  /** How far a version is loaded into a shared store. */
  | { readonly type: 'loading'; readonly dataset: string; readonly triples: number; readonly total: number }
  | { readonly type: 'unchanged'; readonly dataset: string; readonly records: number }
  | { readonly type: 'published'; readonly dataset: string; readonly report: PublishReport }
  | ({ readonly type: 'mapping-refused'; readonly dataset: string } & MappingRefusal)
  | { readonly type: 'failed'; readonly dataset: string; readonly reason: string }

/**
 * Publishes datasets one after the other; what cannot be published is told and leaves its version in force. Without
 * names: every dataset of the portal that was not withdrawn, and versions of folders that are gone are removed.
 */
export async function publishAll(
  { shared = null, keepVersions, ...context }: PublishAllContext,
  datasets: readonly string[] | null,
  tell: (message: PublishMessage) => void,
): Promise<void> {
  const versions = versionsOf(context.portal, keepVersions)
  const defined = definedDatasets(context.portal)
  if (datasets === null)
    for (const id of storedDatasets(versions))
      if (!defined.includes(id)) {
        await shared?.withdraw(id, 'forgotten')
        forget(versions, id)
      }
  const isLeftOut = async (id: string) =>
    isWithdrawn(versions, id) || ((await shared?.isWithdrawn(id)) ?? false)
  for (const id of datasets ?? defined) {
    try {
      if (datasets === null && (await isLeftOut(id))) continue
      const onProgress = (progress: PublishProgress) => tell({ type: 'progress', ...progress })
      const inForce = (await shared?.inForce(id)) ?? null
      const result = await publishDataset(id, { ...context, versions, inForce, onProgress })
      if (shared !== null && isToBeReleased(result, inForce, datasets !== null))
        await shared.release(versions, result.manifest, ({ triples, total }) =>
          tell({ type: 'loading', dataset: id, triples, total }),
        )
      if (result.type === 'published') tell({ type: 'published', dataset: id, report: result.report })
      else tell({ type: 'unchanged', dataset: id, records: result.manifest.statistics.records })
      if (result.refusal !== null) tell({ type: 'mapping-refused', dataset: id, ...result.refusal })
    } catch (error) {
      const unexpected = openFilesText(error) ?? String((error as Error).stack ?? error)
      const reason = error instanceof Fault ? faultText(error) : unexpected
      tell({ type: 'failed', dataset: id, reason })
    }
  }
}

/** Where publications happen, and the store that they are put into where it is shared. */
export interface PublishAllContext extends Omit<PublishContext, 'versions' | 'onProgress' | 'inForce'> {
  readonly shared?: SharedRegistry | null
  /** Versions of a dataset that are kept. */
  readonly keepVersions?: number
}

/**
 * Whether a version is to be in force: one that was made just now; one of before where none is, where it is asked for by
 * name, or where it is later than what another instance has published since.
 */
function isToBeReleased(
  { type, manifest }: PublishResult,
  inForce: Manifest | null,
  isNamed: boolean,
): boolean {
  if (inForce?.version === manifest.version) return false
  return type === 'published' || inForce === null || isNamed || manifest.published > inForce.published
}

const PUBLISHER = 'lodestone-publisher'

/** What a publisher needs of the configuration. */
export interface PublisherSettings extends StoreSettings {
  readonly keepVersions: number
}

export function publisherSettings({
  portal,
  base,
  workers,
  memory,
  deadline,
  keepVersions,
  store,
}: PublisherSettings): PublisherSettings {
  const settings = { portal, base, workers, memory, deadline, keepVersions }
  return { ...settings, ...(store === undefined ? {} : { store }) }
}

/** Opens what publications are put into; null where each server loads them by itself. */
export async function openReleases(settings: PublisherSettings) {
  if (settings.store === undefined) return { shared: null, close: async () => undefined }
  // Whoever publishes into files alone has no use for what speaks to engines.
  const { openSharedStore } = await import('./portal-store.ts')
  const { store, registry } = await openSharedStore({ ...settings, store: settings.store })
  return { shared: registry, close: () => store.close() }
}

/** What the thread is given: only then does this module publish by itself. */
export interface PublisherData {
  readonly role: typeof PUBLISHER
  readonly settings: PublisherSettings
}

export function publisherData(settings: PublisherSettings): PublisherData {
  return { role: PUBLISHER, settings }
}

/** What the thread is told to publish, once. */
export interface PublishJob {
  /** null for all of the portal. */
  readonly datasets: readonly string[] | null
  /** Whether the sources of these datasets are known to be as they were. */
  readonly mappingOnly: boolean
  /** Whether restored versions give way to what lies in the portal folder. */
  readonly endsRollBack?: boolean
}

const given = workerData as PublisherData | null
if (!isMainThread && given?.role === PUBLISHER)
  parentPort?.once('message', async ({ datasets, mappingOnly, endsRollBack = false }: PublishJob) => {
    const { portal, base, keepVersions } = given.settings
    const { shared, close } = await openReleases(given.settings)
    await publishAll(
      { portal, base, keepVersions, mappingOnly, endsRollBack, now: () => new Date(), shared },
      datasets,
      message => parentPort?.postMessage(message),
    )
    await close()
  })
