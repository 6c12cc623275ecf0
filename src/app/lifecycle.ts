import { setTimeout as sleep } from 'node:timers/promises'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import type { PortalWatch } from '../publishing/portal-watch.ts'
import { currentVersion, isWithdrawn } from '../publishing/versions/versions.ts'
import type { App } from './app.ts'
import { type FetchSchedule, HarvestSchedule } from './fetch-schedule.ts'
import type { ProgressReporter } from './progress.ts'

/** Interval of checks whether another process has published, in milliseconds. */
const WATCH_INTERVAL = 2000

/** The same for a shared store, which takes one small query; and the interval of its cleaning. */
const SHARED_INTERVAL = 500
const SWEEP_INTERVAL = 20_000

/** Interval of checks whether a mapping or a dataset.yaml was saved, and the share of time that they may take. */
const LOOK_INTERVAL = 400
const LOOK_SHARE = 0.02

/** Milliseconds for which a start waits for the addresses of new datasets. */
const FIRST_FETCHES = 5000

/** Publishing, without fetching addresses, and the fetches, until the signal is aborted. */
export interface PublishWork {
  readonly publish: (datasets: readonly string[] | null, mappingOnly: boolean) => Promise<void>
  readonly fetches: FetchSchedule
  readonly signal: AbortSignal
}

/**
 * Publishes changed datasets while published ones are served, each as soon as it is ready, and from then on follows the
 * publications of other processes.
 *
 * @param prepare runs when all datasets are served, before the service reports that it is ready
 */
export async function publishAndServe(
  app: App,
  { publish, fetches, progress, signal }: PublishWork & { readonly progress: ProgressReporter },
  prepare: () => Promise<void>,
): Promise<void> {
  try {
    const first = app.catalog.refresh()
    refreshRegularly(app, signal)
    await Promise.all([first, publish(null, false)])
    await fetches.settled(FIRST_FETCHES)
    const fetched = fetches.take()
    if (fetched.length > 0) await publish(fetched, false)
    await refreshAnew(app)
    // Versions found damaged until now were rebuilt, as far as possible.
    app.catalog.takeDamaged()
    await prepare()
  } catch (error) {
    if (signal.aborted) return
    throw error
  }
  progress.done()
  if (signal.aborted) return
  app.markReady()
}

/** Serves everything that is published now: a refresh in progress may have begun before. */
async function refreshAnew({ catalog }: App): Promise<void> {
  await catalog.refresh()
  await catalog.refresh()
}

/** Looks for new versions, and cleans a shared store, until it is stopped. */
function refreshRegularly({ catalog, http: { log }, shared }: App, signal: AbortSignal): void {
  let isAway = false
  const refresh = () => {
    catalog.refresh().then(
      () => {
        if (isAway) log.warn('refresh: the store answers again')
        isAway = false
      },
      error => {
        if (!isAway) log.error({ err: error }, 'refresh')
        isAway = true
      },
    )
  }
  const sweep = () => {
    shared?.registry.sweep().catch(error => log.warn({ err: error }, 'sweep'))
  }
  const timers = [
    setInterval(refresh, shared === null ? WATCH_INTERVAL : SHARED_INTERVAL),
    ...(shared === null ? [] : [setInterval(sweep, SWEEP_INTERVAL)]),
  ]
  for (const timer of timers) timer.unref()
  signal.addEventListener('abort', () => {
    for (const timer of timers) clearInterval(timer)
  })
}

/** Datasets whose files were removed stay served until everything is published. */
function warnOfRemoved(datasets: readonly string[], { versions, http: { log } }: App): void {
  for (const dataset of datasets.filter(id => currentVersion(versions, id) !== null))
    log.warn(
      { dataset },
      `the folder or file of ${dataset} in data/ is gone: it is served until the next start or lodestone publish, which withdraws it and deletes its versions`,
    )
}

/** Publishes and serves what is saved in the portal folder, one thing after another, until it is stopped. */
export async function follow(
  portal: PortalWatch,
  app: App,
  { publish, fetches, signal }: PublishWork,
): Promise<void> {
  const dueNow = () => portal.dueSources(Date.now()).filter(id => !isWithdrawn(app.versions, id))
  const harvests = new HarvestSchedule(portal.portal, app, signal)
  const again = new Set<string>()
  let rest = LOOK_INTERVAL
  while (!signal.aborted) {
    await ignoreRejection(sleep(rest, undefined, { signal, ref: false }), 'the next line sees the end')
    if (signal.aborted) return
    const begun = performance.now()
    try {
      if (app.shared?.registry.isLost() === true) {
        app.http.log.warn('the store has nothing of this portal any more: it is filled again')
        app.markPublishing()
        await publish(null, false)
        await refreshAnew(app)
        app.markReady()
      }
      const harvested = await harvests.take()
      const { definitions: defined = [], mappings: mapped = [], gone = [] } = portal.look() ?? {}
      warnOfRemoved(gone, app)
      for (const id of again) if (!isWithdrawn(app.versions, id)) again.delete(id)
      fetches.start(dueNow())
      const unstored = app.publications.due(Date.now())
      const changed = new Set([...defined, ...app.catalog.takeDamaged(), ...fetches.take(), ...unstored])
      rest = Math.max(LOOK_INTERVAL, (performance.now() - begun) / LOOK_SHARE)
      if (changed.size + mapped.length + harvested.length === 0) continue
      // A dataset that was withdrawn before is published again if a catalog has it again.
      for (const id of harvested) again.add(id)
      const [definitions, mappings] = [new Set([...changed, ...harvested]), mapped].map(ids =>
        [...ids].filter(id => !isWithdrawn(app.versions, id) || again.has(id)),
      ) as [string[], string[]]
      if (mappings.length > 0) await publish(mappings, true)
      if (definitions.length > 0) await publish(definitions, false)
      if (!signal.aborted) await app.catalog.refresh()
    } catch (error) {
      if (signal.aborted) return
      app.http.log.error({ err: error }, 'publishing what was saved')
    }
  }
}
