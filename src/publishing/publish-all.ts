import { existsSync } from 'node:fs'
import path from 'node:path'
import { definedDatasets, readDefinition } from './definition.ts'
import { ignoredLinks } from './implicit.ts'
import type { MappingRefusal } from './mapping/mapping-file.ts'
import { publicationOrder, withDependants } from './processors/dependencies.ts'
import { failureOf, findUnchanged, publishDataset, withdrawnMeanwhile } from './publish.ts'
import type {
  PublicationFailure,
  PublishContext,
  PublishProgress,
  PublishReport,
  PublishResult,
} from './publish-types.ts'
import { type PoolSetup, PublicationFailed, PublisherPool } from './publisher-pool.ts'
import type { StoreSettings } from './registry/portal-store.ts'
import { restrictEverywhere } from './registry/registry.ts'
import type { SharedRegistry } from './registry/shared-registry.ts'
import { isFetchDue, isFetched } from './remote/refresh.ts'
import { remoteState } from './remote/state.ts'
import { sourceSize } from './source-digest.ts'
import {
  currentVersion,
  forget,
  isWithdrawn,
  repairInterrupted,
  storedDatasets,
  type VersionManifest,
  type Versions,
  versionsOf,
  withdraw,
} from './versions/versions.ts'

/** Progress events of a publication; times are in seconds. */
export type PublishMessage =
  | ({ readonly type: 'progress' } & PublishProgress)
  /** Progress of loading a version into a shared store. */
  | { readonly type: 'loading'; readonly dataset: string; readonly triples: number; readonly total: number }
  /** Without fetching: it has no data until its address is fetched. */
  | { readonly type: 'waiting'; readonly dataset: string }
  | ({ readonly type: 'unchanged'; readonly dataset: string } & PublishedSize)
  | ({
      readonly type: 'published'
      readonly dataset: string
      readonly report: PublishReport
    } & PublishedSize)
  | ({ readonly type: 'mapping-refused'; readonly dataset: string } & MappingRefusal)
  /** It was in force, and its folder or file is gone. */
  | { readonly type: 'withdrawn'; readonly dataset: string; readonly reason: string }
  | ({
      readonly type: 'failed'
      readonly dataset: string
      readonly seconds: number
    } & PublicationFailure)

/** The size of a published version. */
export interface PublishedSize {
  readonly records: number
  /** Triples of the graph that is served. */
  readonly triples: number
  readonly seconds: number
  /** Why its address could not be fetched, so that the previous data remain; absent if it was fetched. */
  readonly fetchFailure?: string
}

function fetchFailureOf(portal: string, id: string): Pick<PublishedSize, 'fetchFailure'> {
  const { failures = 0, reason } = remoteState(portal, id) ?? {}
  const isFailing = failures > 0 && readDefinition(portal, id).definition?.remote != null
  return isFailing && reason !== undefined ? { fetchFailure: reason } : {}
}

/**
 * Publishes datasets, several in parallel if there are threads for it; a dataset that cannot be published is reported, keeps its
 * version in force, and does not hold up others. Without names: every dataset of the portal that is not withdrawn, and versions
 * of removed folders are deleted; where data/ itself is not there, as on a disk that is not mounted, they stay.
 */
export async function publishAll(
  { shared = null, parallel, keepVersions, unlessWithdrawn = [], ...context }: PublishAllContext,
  datasets: readonly string[] | null,
  report: (message: PublishMessage) => void,
): Promise<void> {
  const versions = versionsOf(context.portal, keepVersions)
  const defined = definedDatasets(context.portal)
  if (datasets === null) await forgetRemoved(context.portal, versions, defined, shared, report)
  const isLeftOut = async (id: string) =>
    isWithdrawn(versions, id) || ((await shared?.isWithdrawn(id)) ?? false)
  const onProgress = (progress: PublishProgress) => report({ type: 'progress', ...progress })
  const publish: PublishOne = async (id, make) => {
    const begun = performance.now()
    const seconds = () => Math.round(performance.now() - begun) / 1000
    try {
      // Completes a withdrawal that was interrupted, or removes what a publication that died has left.
      if (isWithdrawn(versions, id) && !withdraw(versions, id)) repairInterrupted(versions, id)
      if (datasets === null && (await isLeftOut(id))) return true
      if (unlessWithdrawn.includes(id) && isWithdrawn(versions, id)) throw withdrawnMeanwhile()
      const inForce = await restrictEverywhere(id, versions, { ...context, shared })
      if (context.withoutFetching === true && isWaiting(context.portal, id)) {
        report({ type: 'waiting', dataset: id })
        return true
      }
      // A dataset that is published because of a look-up was not requested by name.
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
      const failure = error instanceof PublicationFailed ? error.failure : failureOf(error)
      report({ type: 'failed', dataset: id, ...failure, seconds: seconds() })
    }
    return true
  }
  const chosen =
    datasets === null || context.mappingOnly === true
      ? (datasets ?? defined)
      : withDependants(context.portal, versions, datasets)
  // Datasets that others look up are published before them, and those whose addresses may be slow after the others.
  for (const each of publicationOrder(context.portal, chosen)) {
    const group = context.withoutFetching === true ? each : slowLast(context.portal, each, context.now())
    if (parallel === undefined || parallel.threads < 2 || group.length < 2)
      for (const id of group) await publish(id, publishDataset)
    else await publishInThreads(group, publish, parallel, setupOf, onProgress)
  }

  function setupOf(changed: readonly string[]): PoolSetup {
    const { portal, base, mappingOnly = false, withoutFetching = false } = context
    const endsRollBack = context.endsRollBack === true && changed.every(id => datasets?.includes(id) ?? true)
    return { portal, base, mappingOnly, withoutFetching, endsRollBack, keepVersions: versions.keep }
  }
}

/** Whether a dataset has no data yet because its address was not fetched. */
function isWaiting(portal: string, id: string): boolean {
  const { remote } = readDefinition(portal, id).definition ?? {}
  return remote != null && !isFetched(portal, id, remote)
}

/** Datasets whose addresses are due come after the others. */
function slowLast(portal: string, ids: readonly string[], now: Date): readonly string[] {
  const slow = new Set(
    ids.filter(id => {
      const { remote } = readDefinition(portal, id).definition ?? {}
      return remote != null && isFetchDue(portal, id, remote, now.getTime())
    }),
  )
  return [...ids.filter(id => !slow.has(id)), ...slow]
}

/** Deletes the versions of datasets whose folder or file is gone, without a link in its place; those in force are reported. */
async function forgetRemoved(
  portal: string,
  versions: Versions,
  defined: readonly string[],
  shared: SharedRegistry | null,
  report: (message: PublishMessage) => void,
): Promise<void> {
  if (!existsSync(path.join(portal, 'data'))) return
  const links = ignoredLinks(portal)
  for (const dataset of storedDatasets(versions).filter(id => !defined.includes(id))) {
    const link = links.get(dataset)
    const wasInForce = currentVersion(versions, dataset) !== null
    if (link === undefined) {
      await shared?.withdraw(dataset, 'forgotten')
      forget(versions, dataset)
      const reason = 'its folder or file in data/ is gone, so its versions were deleted'
      if (wasInForce) report({ type: 'withdrawn', dataset, reason })
    } else if (wasInForce) report({ type: 'failed', dataset, reason: link, isDiskFull: false, seconds: 0 })
  }
}

/** Publishes a dataset by building its version in some way. Resolves to false if it is left to others. */
type PublishOne = (id: string, make: Make) => Promise<boolean>

/** Publishes datasets of which none looks up another: changed ones in threads, several in parallel. */
async function publishInThreads(
  datasets: readonly string[],
  publish: PublishOne,
  limits: NonNullable<PublishAllContext['parallel']>,
  setupOf: (changed: readonly string[]) => PoolSetup,
  onProgress: (progress: PublishProgress) => void,
): Promise<void> {
  // Unchanged datasets are found without a thread.
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

/** The messages about a publication that has a version. */
function* messagesOf(
  result: PublishResult,
  portal: string,
  id: string,
  seconds: number,
): Generator<PublishMessage> {
  const { type, manifest, refusal } = result
  const size = {
    records: manifest.statistics.records,
    triples: (manifest.graphs.find(({ role }) => role === 'mapped') ?? manifest.graphs[0])?.triples ?? 0,
    ...fetchFailureOf(portal, id),
  }
  if (type === 'published') yield { type, dataset: id, ...size, seconds, report: result.report }
  else yield { type, dataset: id, ...size, seconds }
  if (refusal !== null) yield { type: 'mapping-refused', dataset: id, ...refusal }
}

/** Builds a version of a dataset; null for one that is left to others. */
type Make = (id: string, context: PublishContext) => Promise<PublishResult | null>

function bytesOf(portal: string, id: string): number {
  const { definition } = readDefinition(portal, id)
  return definition === null ? 0 : sourceSize(definition, portal)
}

/** Where publications happen, and the store that they are loaded into if it is shared. */
export interface PublishAllContext extends Omit<PublishContext, 'versions' | 'onProgress' | 'inForce'> {
  readonly shared?: SharedRegistry | null
  readonly keepVersions?: number
  /** Datasets that are not published if they are withdrawn by now. */
  readonly unlessWithdrawn?: readonly string[]
  /** Maximum number of threads, and bytes of memory for all of them; if absent, this thread publishes one dataset after another. */
  readonly parallel?: { readonly threads: number; readonly memory: number }
}

/**
 * Whether a version is to be put in force: a new one; an existing one if none is in force, if it was requested by name, or if it
 * is later than what another instance has published since.
 */
function isToBeReleased(
  { type, manifest }: PublishResult,
  inForce: VersionManifest | null,
  isNamed: boolean,
): boolean {
  if (inForce?.version === manifest.version) return false
  return type === 'published' || inForce === null || isNamed || manifest.published > inForce.published
}

/** The part of the configuration that a publisher needs. */
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

/** Opens the shared store that versions are loaded into; null if each server loads them by itself. */
export async function openReleases(settings: PublisherSettings) {
  if (settings.store === undefined) return { shared: null, close: async () => undefined }
  // Publishing into files needs no modules of engines.
  const { openSharedStore } = await import('./registry/portal-store.ts')
  const { store, registry } = await openSharedStore({ ...settings, store: settings.store })
  return { shared: registry, close: () => store.close() }
}

/** The job of a thread that publishes. */
export interface PublishJob {
  /** null for the whole portal. */
  readonly datasets: readonly string[] | null
  /** Whether the sources of these datasets are known to be unchanged. */
  readonly mappingOnly: boolean
  /** Whether restored versions are replaced by the content of the portal folder. */
  readonly endsRollBack?: boolean
  /** Whether addresses are not requested: datasets without data of their addresses are reported as waiting. */
  readonly withoutFetching?: boolean
  /** Datasets that were not withdrawn when the job was given: one that is when its turn comes stays so. */
  readonly unlessWithdrawn?: readonly string[]
}
