import { definedDatasets, readDefinition } from './definition.ts'
import type { MappingRefusal } from './mapping/choose-mapping.ts'
import { publicationOrder, withDependants } from './processors/dependencies.ts'
import { findUnchanged, publishDataset, reasonOf } from './publish.ts'
import type { PublishContext, PublishProgress, PublishReport, PublishResult } from './publish-types.ts'
import { type PoolSetup, PublicationFailed, PublisherPool } from './publisher-pool.ts'
import type { StoreSettings } from './registry/portal-store.ts'
import type { SharedRegistry } from './registry/shared-registry.ts'
import { remoteState } from './remote/state.ts'
import { sourceSize } from './source-digest.ts'
import { forget, isWithdrawn, type Manifest, storedDatasets, versionsOf } from './versions/versions.ts'

/** Progress events of a publication; times are in seconds. */
export type PublishMessage =
  | ({ readonly type: 'progress' } & PublishProgress)
  /** How far a version is loaded into a shared store. */
  | { readonly type: 'loading'; readonly dataset: string; readonly triples: number; readonly total: number }
  | ({ readonly type: 'unchanged'; readonly dataset: string } & PublishedSize)
  | ({
      readonly type: 'published'
      readonly dataset: string
      readonly report: PublishReport
    } & PublishedSize)
  | ({ readonly type: 'mapping-refused'; readonly dataset: string } & MappingRefusal)
  | {
      readonly type: 'failed'
      readonly dataset: string
      readonly reason: string
      readonly seconds: number
    }

/** What a publication came to. */
export interface PublishedSize {
  readonly records: number
  /** Triples of the graph that is served. */
  readonly triples: number
  readonly seconds: number
  /** Why its address could not be fetched, so that the data that came before stay; absent where it could. */
  readonly fetchFailure?: string
}

function fetchFailureOf(portal: string, id: string): Pick<PublishedSize, 'fetchFailure'> {
  const { failures = 0, reason } = remoteState(portal, id) ?? {}
  const isFailing = failures > 0 && readDefinition(portal, id).definition?.remote != null
  return isFailing && reason !== undefined ? { fetchFailure: reason } : {}
}

/**
 * Publishes datasets, several at once where there are threads for it; what cannot be published is reported, leaves its version in
 * force, and holds up no other. Without names: every dataset of the portal that was not withdrawn, and versions of folders
 * that are gone are removed.
 */
export async function publishAll(
  { shared = null, parallel, keepVersions, ...context }: PublishAllContext,
  datasets: readonly string[] | null,
  report: (message: PublishMessage) => void,
): Promise<void> {
  const versions = versionsOf(context.portal, keepVersions)
  const defined = definedDatasets(context.portal)
  if (datasets === null)
    for (const id of storedDatasets(versions).filter(each => !defined.includes(each))) {
      await shared?.withdraw(id, 'forgotten')
      forget(versions, id)
    }
  const isLeftOut = async (id: string) =>
    isWithdrawn(versions, id) || ((await shared?.isWithdrawn(id)) ?? false)
  const onProgress = (progress: PublishProgress) => report({ type: 'progress', ...progress })
  const publish: PublishOne = async (id, make) => {
    const begun = performance.now()
    const seconds = () => Math.round(performance.now() - begun) / 1000
    try {
      if (datasets === null && (await isLeftOut(id))) return true
      const inForce = (await shared?.inForce(id)) ?? null
      // A dataset that is published because of a lookup was not requested by name.
      const [isNamed, endsRollBack] = [context.isNamed, context.endsRollBack].map(
        requested => requested === true && (datasets?.includes(id) ?? true),
      ) as [boolean, boolean]
      const result = await make(id, { ...context, isNamed, endsRollBack, versions, inForce, onProgress })
      if (result === null) return false
      if (shared !== null && isToBeReleased(result, inForce, datasets !== null))
        await shared.release(versions, result.manifest, ({ triples, total }) =>
          report({ type: 'loading', dataset: id, triples, total }),
        )
      else await shared?.restore(versions, result.manifest)
      for (const message of messagesOf(result, context.portal, id, seconds())) report(message)
    } catch (error) {
      const reason = error instanceof PublicationFailed ? error.message : reasonOf(error)
      report({ type: 'failed', dataset: id, reason, seconds: seconds() })
    }
    return true
  }
  const chosen =
    datasets === null || context.mappingOnly === true
      ? (datasets ?? defined)
      : withDependants(context.portal, versions, datasets)
  // What others look up in is published before them.
  for (const group of publicationOrder(context.portal, chosen))
    if (parallel === undefined || parallel.threads < 2 || group.length < 2)
      for (const id of group) await publish(id, publishDataset)
    else await publishInThreads(group, publish, parallel, setupOf, onProgress)

  function setupOf(changed: readonly string[]): PoolSetup {
    const { portal, base, mappingOnly = false } = context
    const endsRollBack = context.endsRollBack === true && changed.every(id => datasets?.includes(id) ?? true)
    return { portal, base, mappingOnly, endsRollBack, keepVersions: versions.keep }
  }
}

/** Publishes a dataset by making its version in some way. Resolves to false where it is left to others. */
type PublishOne = (id: string, make: Make) => Promise<boolean>

/** Publishes datasets of which none looks up in another: those that have changed in threads, several at once. */
async function publishInThreads(
  datasets: readonly string[],
  publish: PublishOne,
  limits: NonNullable<PublishAllContext['parallel']>,
  setupOf: (changed: readonly string[]) => PoolSetup,
  onProgress: (progress: PublishProgress) => void,
): Promise<void> {
  // What has not changed is known without a thread.
  const changed: string[] = []
  for (const id of datasets) if (!(await publish(id, findUnchanged))) changed.push(id)
  const [first] = changed
  if (first !== undefined && changed.length === 1) {
    // Its address was fetched just now.
    await publish(first, (id, again) => publishDataset(id, { ...again, isNamed: false }))
    return
  }
  const setup = setupOf(changed)
  const pool = new PublisherPool(setup, limits)
  try {
    await pool.each(
      changed.map(id => ({ id, bytes: bytesOf(setup.portal, id) })),
      async id => {
        await publish(id, (dataset, { inForce = null }) => pool.publish({ dataset, inForce }, onProgress))
      },
    )
  } finally {
    await pool.close()
  }
}

/** What is reported of a publication that came to a version. */
function* messagesOf(
  result: PublishResult,
  portal: string,
  id: string,
  seconds: number,
): Generator<PublishMessage> {
  const { type, manifest, refusal } = result
  const size = {
    records: manifest.statistics.records,
    triples: servedTriples(manifest),
    ...fetchFailureOf(portal, id),
  }
  if (type === 'published') yield { type, dataset: id, ...size, seconds, report: result.report }
  else yield { type, dataset: id, ...size, seconds }
  if (refusal !== null) yield { type: 'mapping-refused', dataset: id, ...refusal }
}

/** Makes a version of a dataset; null for one that is left to others. */
type Make = (id: string, context: PublishContext) => Promise<PublishResult | null>

function servedTriples({ graphs }: Manifest): number {
  return (graphs.find(({ role }) => role === 'mapped') ?? graphs[0])?.triples ?? 0
}

function bytesOf(portal: string, id: string): number {
  const { definition } = readDefinition(portal, id)
  return definition === null ? 0 : sourceSize(definition, portal)
}

/** Where publications happen, and the store that they are put into where it is shared. */
export interface PublishAllContext extends Omit<PublishContext, 'versions' | 'onProgress' | 'inForce'> {
  readonly shared?: SharedRegistry | null
  /** Retained versions of a dataset. */
  readonly keepVersions?: number
  /** Threads that may be started, and bytes of memory for all of them; absent, this thread publishes one after another. */
  readonly parallel?: { readonly threads: number; readonly memory: number }
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
  const { openSharedStore } = await import('./registry/portal-store.ts')
  const { store, registry } = await openSharedStore({ ...settings, store: settings.store })
  return { shared: registry, close: () => store.close() }
}

/** What the thread is to publish, once. */
export interface PublishJob {
  /** null for all of the portal. */
  readonly datasets: readonly string[] | null
  /** Whether the sources of these datasets are known to be as they were. */
  readonly mappingOnly: boolean
  /** Whether restored versions give way to what lies in the portal folder. */
  readonly endsRollBack?: boolean
}
