import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../errors/errors.ts'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import type { HarvestOutcome } from '../harvest/harvest.ts'
import { dueHarvesters, harvestInThread, withdrawHarvested } from '../harvest/schedule.ts'
import { readDefinition } from '../publishing/definition.ts'
import { failureOf } from '../publishing/publish.ts'
import type { PublishMessage } from '../publishing/publish-all.ts'
import { isFetchDue, type Remote, refreshRemote } from '../publishing/remote/refresh.ts'
import type { App } from './app.ts'

/** Maximum number of addresses that are fetched at a time, and of those of one host. */
const MAX_FETCHES = 8
const MAX_HOST = 2

/** Milliseconds until a fetch is retried that failed because of this machine, and left no state. */
const PAUSE = 60_000

interface Waiting {
  readonly id: string
  readonly remote: Remote
}

/**
 * Fetches the addresses of datasets when they are due, several at a time and concurrently with publications: an address that is
 * slow holds up nothing else. The datasets are published once their data are there.
 */
export class FetchSchedule {
  private readonly portal: string
  private readonly report: (message: PublishMessage) => void
  private readonly signal: AbortSignal
  private readonly waiting = new Map<string, Waiting>()
  private readonly running = new Map<string, Waiting & { readonly done: Promise<void> }>()
  private readonly paused = new Map<string, number>()
  private fetched: string[] = []

  /** @param report called for a dataset that stays without data */
  constructor(portal: string, report: (message: PublishMessage) => void, signal: AbortSignal) {
    this.portal = portal
    this.report = report
    this.signal = signal
  }

  /** Fetches the addresses of those datasets that are due. */
  start(ids: readonly string[]): void {
    const now = Date.now()
    for (const id of ids) {
      if (this.waiting.has(id) || this.running.has(id) || (this.paused.get(id) ?? 0) > performance.now())
        continue
      const { remote } = readDefinition(this.portal, id).definition ?? {}
      if (remote != null && isFetchDue(this.portal, id, remote, now)) this.waiting.set(id, { id, remote })
    }
    this.next()
  }

  /** The datasets whose addresses have answered since the last call, with new data or without. */
  take(): readonly string[] {
    const { fetched } = this
    this.fetched = []
    return fetched
  }

  /** Resolves when nothing is being fetched, after some milliseconds at the latest. */
  async settled(milliseconds: number): Promise<void> {
    const late = new AbortController()
    const { signal } = late
    const end = ignoreRejection(sleep(milliseconds, undefined, { signal }), 'all was fetched before')
    const isLate = end.then(() => true)
    while (this.running.size > 0 && !this.signal.aborted) {
      const all = Promise.all([...this.running.values()].map(({ done }) => done)).then(() => false)
      if (await Promise.race([all, isLate])) break
    }
    late.abort()
  }

  private next(): void {
    for (const { id, remote } of this.waiting.values()) {
      if (this.running.size >= MAX_FETCHES || this.signal.aborted) return
      const isHere = (other: Waiting) => hostOf(other.remote) === hostOf(remote)
      if ([...this.running.values()].filter(isHere).length >= MAX_HOST) continue
      this.waiting.delete(id)
      const done = this.fetch(id, remote).finally(() => {
        this.running.delete(id)
        this.next()
      })
      this.running.set(id, { id, remote, done })
    }
  }

  private async fetch(id: string, remote: Remote): Promise<void> {
    const begun = performance.now()
    try {
      await refreshRemote(this.portal, id, remote, {
        now: () => new Date(),
        isForced: false,
        signal: this.signal,
      })
      this.fetched.push(id)
    } catch (error) {
      if (this.signal.aborted) return
      if (!(error instanceof Fault)) this.paused.set(id, performance.now() + PAUSE)
      const seconds = Math.round(performance.now() - begun) / 1000
      this.report({ type: 'failed', dataset: id, ...failureOf(error), seconds })
    }
  }
}

function hostOf({ url }: Remote): string {
  return new URL(url).host
}

/** Interval of checks whether a harvest is due, in milliseconds, and the pause after one that this machine prevented. */
const [LOOK_INTERVAL, HARVEST_PAUSE] = [5000, 600_000]

/** Harvests catalogs when they are due, one at a time and concurrently with publications. */
export class HarvestSchedule {
  private readonly portal: string
  private readonly app: App
  private readonly signal: AbortSignal
  private looked = Number.NEGATIVE_INFINITY
  private isRunning = false
  private readonly paused = new Map<string, number>()
  private outcomes: HarvestOutcome[] = []
  private problem = ''

  constructor(portal: string, app: App, signal: AbortSignal) {
    this.portal = portal
    this.app = app
    this.signal = signal
  }

  /** Withdraws datasets that are gone from harvested catalogs, and returns the ids of new ones. */
  async take(): Promise<readonly string[]> {
    this.start()
    const outcomes = this.outcomes
    this.outcomes = []
    const { portal } = this
    const { versions, shared } = this.app
    for (const { withdrawn } of outcomes)
      if (withdrawn.length > 0) {
        await withdrawHarvested(portal, versions, shared?.registry ?? null, withdrawn, new Date())
        await this.app.catalog.refresh()
      }
    return outcomes.flatMap(({ created }) => created)
  }

  private start(): void {
    // Not by the clock, which may be set back.
    const now = performance.now()
    if (this.isRunning || now - this.looked < LOOK_INTERVAL) return
    this.looked = now
    this.isRunning = true
    this.run(now)
      .catch((error: unknown) => {
        const problem = error instanceof Error ? error.message : String(error)
        // A problem that persists is logged once.
        if (problem !== this.problem && !this.signal.aborted)
          this.app.http.log.error({ err: error }, 'harvesting')
        this.problem = problem
      })
      .finally(() => {
        this.isRunning = false
      })
  }

  private async run(now: number): Promise<void> {
    const { portal } = this
    for (const harvester of dueHarvesters(portal, Date.now())) {
      if (this.signal.aborted) return
      if ((this.paused.get(harvester.id) ?? 0) > now) continue
      // Where its state cannot be written, it stays due: the catalog must not be read over and over.
      this.paused.set(harvester.id, now + HARVEST_PAUSE)
      const outcome = await harvestInThread({ portal, harvester }, this.signal)
      if (outcome === null) return
      this.paused.delete(harvester.id)
      this.outcomes.push(outcome)
      if (outcome.failure !== null)
        this.app.http.log.warn({ harvester: harvester.id, reason: outcome.failure }, 'harvesting')
    }
  }
}
