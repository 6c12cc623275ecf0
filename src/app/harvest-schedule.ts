import type { HarvestOutcome } from '../harvest/harvest.ts'
import { dueHarvesters, harvestInThread } from '../harvest/schedule.ts'
import { withdrawHarvested } from '../harvest/withdraw.ts'
import type { App } from './app.ts'

/** Interval of checks whether a harvest is due, in milliseconds. */
const LOOK_INTERVAL = 5000

/** Harvests catalogs when they are due, one at a time and concurrently with publications. */
export class HarvestSchedule {
  private readonly portal: string
  private readonly app: App
  private readonly signal: AbortSignal
  private looked = Number.NEGATIVE_INFINITY
  private isRunning = false
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
    const now = Date.now()
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
    for (const harvester of dueHarvesters(portal, now)) {
      if (this.signal.aborted) return
      const outcome = await harvestInThread({ portal, harvester }, this.signal)
      if (outcome === null) return
      this.outcomes.push(outcome)
      if (outcome.failure !== null)
        this.app.http.log.warn({ harvester: harvester.id, reason: outcome.failure }, 'harvesting')
    }
  }
}
