import { ignoreRejection } from '../errors/ignore-rejection.ts'
import { change, type Database, type DatabaseScript, forRows, type MaybePromise, query } from './database.ts'

/** The subject of failures, and their maximum within a number of milliseconds; a subject may have several limits. */
export interface FailureLimit {
  readonly subject: string
  readonly limit: number
  readonly within: number
}

/**
 * Failed attempts to authenticate: in memory, or in the database that several Lodestones share. Times are milliseconds since
 * 1970.
 */
export interface Failures {
  /**
   * Counts a failure at `now` for each subject, unless one of them has reached its limit: then none is counted, and the time
   * from which another attempt is accepted is returned.
   */
  begin(counted: readonly FailureLimit[], now: number): MaybePromise<number | null>
  /** Removes one failure of each subject, of that time. */
  withdraw(subjects: readonly string[], moment: number): MaybePromise<void>
  forget(subject: string): MaybePromise<void>
}

/** Maximum number of subjects in memory; beyond that, the least recently used are dropped. */
const MAX_REMEMBERED = 100_000

/** Whether a failure, or a block, counts: one that is further ahead is of a clock that was set back since. */
const isRecent = (moment: number, now: number, within: number) => Math.abs(now - moment) < within

/** Failures of one process, in memory. */
export class FailuresInMemory implements Failures {
  private readonly max: number
  /** Times of failures, least recently used first. */
  private readonly moments = new Map<string, readonly number[]>()

  constructor(max = MAX_REMEMBERED) {
    this.max = max
  }

  begin(counted: readonly FailureLimit[], now: number): number | null {
    this.forgetOld(counted, now)
    const ends = counted.flatMap(({ subject, limit, within }) => {
      const recent = this.moments.get(subject)?.filter(moment => isRecent(moment, now, within)) ?? []
      return recent.length < limit ? [] : [(recent[recent.length - limit] ?? now) + within]
    })
    if (ends.length > 0) return Math.max(...ends)
    for (const subject of subjectsOf(counted)) this.note(subject, now)
    return null
  }

  withdraw(subjects: readonly string[], moment: number): void {
    for (const subject of subjects) {
      const moments = this.moments.get(subject) ?? []
      const at = moments.lastIndexOf(moment)
      if (at < 0) continue
      if (moments.length === 1) this.moments.delete(subject)
      else this.moments.set(subject, moments.toSpliced(at, 1))
    }
  }

  forget(subject: string): void {
    this.moments.delete(subject)
  }

  private forgetOld(counted: readonly FailureLimit[], now: number): void {
    const maxWithin = Math.max(0, ...counted.map(({ within }) => within))
    for (const subject of subjectsOf(counted)) {
      const moments = this.moments.get(subject)?.filter(moment => isRecent(moment, now, maxWithin)) ?? []
      if (moments.length === 0) this.moments.delete(subject)
      else this.moments.set(subject, moments)
    }
  }

  private note(subject: string, now: number): void {
    const moments = this.moments.get(subject) ?? []
    this.moments.delete(subject)
    this.moments.set(subject, [...moments, now])
    if (this.moments.size <= this.max) return
    const [oldest] = this.moments.keys()
    if (oldest !== undefined) this.moments.delete(oldest)
  }
}

function subjectsOf(counted: readonly FailureLimit[]): ReadonlySet<string> {
  return new Set(counted.map(({ subject }) => subject))
}

/** Milliseconds for which failures are stored. */
const MAX_WITHIN = 3_600_000

/** Maximum number of failures in the database; beyond that, the oldest are deleted. */
const MAX_FAILURES = 500_000

const removeOld = change('DELETE FROM failure WHERE moment <= ?')
const removeSurplus = change(
  `DELETE FROM failure WHERE id <= (SELECT max(id) FROM failure) - ${MAX_FAILURES}`,
)
const findLast = query<{ readonly moment: number }>(
  'SELECT moment FROM failure WHERE subject = ? AND moment > ? AND moment < ? ORDER BY moment DESC LIMIT 1 OFFSET ?',
)
const insert = (rows: string) => `INSERT INTO failure (subject, moment) VALUES ${rows} RETURNING id`
const removeOne = change(
  'DELETE FROM failure WHERE id IN (SELECT id FROM failure WHERE subject = ? AND moment = ? LIMIT 1)',
)
const removeAll = change('DELETE FROM failure WHERE subject = ?')

/** Milliseconds for which a block of a subject is cached, and maximum number of cached subjects. */
const [CACHED_FOR, MAX_CACHED] = [1000, 10_000]

interface Full {
  readonly subject: string
  /** Time from which on it may have another. */
  readonly end: number
}

/**
 * Failures of all Lodestones that share a database. Attempts of a process query it one after the other, and a block is cached
 * for a moment, so that a flood of them does not overload the database.
 */
export class SharedFailures implements Failures {
  private readonly database: Database
  private readonly cached = new Map<string, { readonly end: number; readonly noted: number }>()
  private turn: Promise<unknown> = Promise.resolve()

  constructor(database: Database) {
    this.database = database
  }

  begin(counted: readonly FailureLimit[], now: number): Promise<number | null> {
    const answer = this.turn.then(async () => {
      const cached = this.cachedOf(counted, now)
      const full = cached.length > 0 ? cached : await this.database.writeCounts(() => begin(counted, now))
      if (this.cached.size > MAX_CACHED) this.cached.clear()
      if (full !== cached) for (const { subject, end } of full) this.cached.set(subject, { end, noted: now })
      return full.length === 0 ? null : Math.max(...full.map(({ end }) => end))
    })
    this.turn = ignoreRejection(answer, 'whoever asked gets it')
    return answer
  }

  async withdraw(subjects: readonly string[], moment: number): Promise<void> {
    for (const subject of subjects) this.cached.delete(subject)
    await this.database.writeCounts(function* () {
      for (const subject of subjects) yield* removeOne(subject, moment)
    })
  }

  async forget(subject: string): Promise<void> {
    this.cached.delete(subject)
    await this.database.writeCounts(() => removeAll(subject))
  }

  private cachedOf(counted: readonly FailureLimit[], now: number): readonly Full[] {
    return counted.flatMap(({ subject }) => {
      const cached = this.cached.get(subject)
      return cached !== undefined && isRecent(cached.noted, now, CACHED_FOR) && now < cached.end
        ? [{ subject, end: cached.end }]
        : []
    })
  }
}

/** Counts a failure for each subject and returns an empty list; else returns the subjects that have reached their limit. */
function* begin(counted: readonly FailureLimit[], now: number): DatabaseScript<readonly Full[]> {
  yield* removeOld(now - MAX_WITHIN)
  yield* removeSurplus()
  const full: Full[] = []
  for (const { subject, limit, within } of counted) {
    const moment = (yield* findLast.get(subject, now - within, now + within, limit - 1))?.moment
    if (moment !== undefined) full.push({ subject, end: moment + within })
  }
  if (full.length > 0) return full
  const rows = [...subjectsOf(counted)].map(subject => [subject, now] as const)
  yield* forRows(insert, '(?, ?)', rows)
  return []
}
