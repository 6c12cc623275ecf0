import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isFault } from '../errors/errors.ts'
import { ignoreRejection } from '../errors/ignore-rejection.ts'
import { replaceCached } from '../publishing/versions/durable.ts'
import { type Versions, versionFolder } from '../publishing/versions/versions.ts'
import type { SelectOperation } from '../sparql/algebra.ts'
import { DEADLINE_EXCEEDED } from '../store/faults.ts'
import type { Solution, Store } from '../store/store.ts'
import { type GraphStatistics, gatherGraphStatistics } from './graph-statistics.ts'
import { type PlannerStatistics, plannerStatistics } from './planner-statistics.ts'

/** The published version that statistics are computed for. */
export interface CountedVersion {
  readonly dataset: { readonly id: string }
  readonly version: string
  readonly resources: string
}

interface Job {
  readonly statistics: Promise<GraphStatistics | null>
  /** True if a request waits for it. */
  urgent: boolean
}

export interface StatisticsFilesOptions {
  /** Without `contents` there are no statistics for join planners. */
  readonly store: Pick<Store, 'select'> & Partial<Pick<Store, 'contents'>>
  /** Where statistics are cached, next to their versions; nowhere by default. */
  readonly versions?: Versions
  /** Pause after a background statement, as a multiple of its duration, 3 by default. */
  readonly rest?: number
}

/** Timeout in milliseconds: a pass over a graph may take longer than an untrusted query. A query that exceeds it is not retried. */
const DEADLINE = 60_000
/** Interval in milliseconds between checks for versions without statistics. */
const WATCH_INTERVAL = 2000
/** Maximum milliseconds for which a new request waits for the rest of a background pause. */
const STEP = 50
/** The name changes whenever the meaning of the content changes. */
const FILE = 'survey-2.json'

/**
 * The graph statistics of published versions: each is computed once, and cached. Their queries run one at a time, so that they
 * never occupy more than one worker; background ones yield to other requests in between.
 */
export class StatisticsFiles {
  private readonly options: StatisticsFilesOptions
  private readonly jobs = new WeakMap<CountedVersion, Job>()
  private turn: Promise<unknown> = Promise.resolve()
  private watch: NodeJS.Timeout | undefined
  private readonly stopping = new AbortController()

  constructor(options: StatisticsFilesOptions) {
    this.options = options
  }

  /** The statistics of a version, once they are computed. Null if counting exceeds its deadline. */
  of(entry: CountedVersion): Promise<GraphStatistics | null> {
    const job = this.job(entry)
    job.urgent = true
    return job.statistics
  }

  /** Computes statistics of the served versions in the background, now and whenever they change. */
  follow(entries: () => readonly CountedVersion[]): void {
    let visible: readonly CountedVersion[] = []
    let busy = false
    const look = async () => {
      const served = entries()
      if (busy || served === visible) return
      busy = true
      for (const entry of served) {
        if (this.stopping.signal.aborted) return
        await ignoreRejection(this.job(entry).statistics, 'they are counted when somebody asks for them')
      }
      visible = served
      busy = false
    }
    this.watch ??= setInterval(() => void look(), WATCH_INTERVAL)
    this.watch.unref()
  }

  /** Abandons unfinished work; nothing is written from now on. */
  close(): void {
    clearInterval(this.watch)
    this.stopping.abort()
  }

  private job(entry: CountedVersion): Job {
    const known = this.jobs.get(entry)
    if (known !== undefined) return known
    const job: Job = { statistics: this.make(entry, () => job.urgent), urgent: false }
    this.jobs.set(entry, job)
    job.statistics.catch(() => this.jobs.delete(entry))
    return job
  }

  private async make(entry: CountedVersion, isUrgent: () => boolean): Promise<GraphStatistics | null> {
    const stored = this.read(entry)
    if (stored !== null) return stored
    try {
      const counted = await gatherGraphStatistics(entry.resources, query => this.execute(query, isUrgent))
      const planner = await this.planner(entry)
      const graphStatistics = { ...counted, planner: planner ?? null }
      if (planner !== undefined && !this.stopping.signal.aborted) this.keep(entry, graphStatistics)
      return graphStatistics
    } catch (error) {
      if (isFault(error, DEADLINE_EXCEEDED)) return null
      throw error
    }
  }

  /** Statistics for planners; null if the graph has none, undefined if that failed: the rest is not affected, and not cached. */
  private async planner({ resources }: CountedVersion): Promise<PlannerStatistics | null | undefined> {
    const { store } = this.options
    if (store.contents === undefined) return null
    const { signal } = this.stopping
    try {
      const { columns } = await store.contents(resources, [])
      const predicates = columns.map(({ predicate }) => predicate)
      return await plannerStatistics(await store.contents(resources, predicates), signal)
    } catch (error) {
      if (signal.aborted) throw error
      return undefined
    }
  }

  /** Runs one statement when its turn comes. */
  private async execute(query: SelectOperation, isUrgent: () => boolean): Promise<readonly Solution[]> {
    this.stopping.signal.throwIfAborted()
    let took = 0
    const answer = this.turn.then(async () => {
      const begun = performance.now()
      const solutions = await this.options.store.select(query, { deadline: DEADLINE })
      took = performance.now() - begun
      return solutions
    })
    this.turn = ignoreRejection(answer, 'whoever asked gets it')
    const solutions = await answer
    const end = performance.now() + took * (this.options.rest ?? 3)
    while (!isUrgent() && performance.now() < end)
      await sleep(Math.min(STEP, end - performance.now()), undefined, {
        signal: this.stopping.signal,
        ref: false,
      })
    return solutions
  }

  private read(entry: CountedVersion): GraphStatistics | null {
    const file = this.file(entry)
    try {
      return file === null ? null : (JSON.parse(readFileSync(file, 'utf8')) as GraphStatistics)
    } catch {
      return null
    }
  }

  /**
   * Caches the statistics of a version. A version never changes, so that concurrent writers write the same; if its folder was
   * removed, nothing is cached.
   */
  private keep(entry: CountedVersion, graphStatistics: GraphStatistics): void {
    const file = this.file(entry)
    // If the folder is not writable or was removed, the statistics are computed again at the next start.
    if (file !== null) replaceCached(file, JSON.stringify(graphStatistics))
  }

  private file({ dataset, version }: CountedVersion): string | null {
    const { versions } = this.options
    return versions === undefined ? null : path.join(versionFolder(versions, dataset.id, version), FILE)
  }
}
