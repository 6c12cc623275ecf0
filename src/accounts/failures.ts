import type { Database } from './database.ts'
import type { Soon } from './soon.ts'
import { change, forRows, query, type Work } from './work.ts'

/** Whom failures count for, and how many there may be. */
export interface FailureLimit {
  readonly subject: string
  readonly limit: number
}

/**
 * Failed attempts to be recognised: in memory, or in the database that several Lodestones share. Moments are milliseconds
 * since 1970.
 */
export interface Failures {
  /**
   * Counts a failure of now for each, unless one of them has as many after `since` as it may have: then none is counted, and
   * it gives the moment of the failure that has to be over before another attempt.
   */
  begin(counted: readonly FailureLimit[], now: number, since: number): Soon<number | null>
  /** Takes back one failure of each, of that moment. */
  withdraw(subjects: readonly string[], moment: number): Soon<void>
  /** Forgets all failures of a subject. */
  forget(subject: string): Soon<void>
}

/** Subjects that memory holds; of more, those that were longest not seen are forgotten. */
const MOST_REMEMBERED = 100_000

/** Failures of one process, which begins without any. */
export class FailuresInMemory implements Failures {
  readonly #most: number
  /** Moments of failures, least recently touched first. */
  readonly #moments = new Map<string, readonly number[]>()

  constructor(most = MOST_REMEMBERED) {
    this.#most = most
  }

  begin(counted: readonly FailureLimit[], now: number, since: number): number | null {
    const last = counted.flatMap(({ subject, limit }) => {
      const recent = this.#recent(subject, since)
      return recent.length < limit ? [] : [recent[recent.length - limit] ?? now]
    })
    if (last.length > 0) return Math.max(...last)
    for (const { subject } of counted) this.#note(subject, now)
    return null
  }

  withdraw(subjects: readonly string[], moment: number): void {
    for (const subject of subjects) {
      const moments = this.#moments.get(subject) ?? []
      const at = moments.lastIndexOf(moment)
      if (at < 0) continue
      if (moments.length === 1) this.#moments.delete(subject)
      else this.#moments.set(subject, moments.toSpliced(at, 1))
    }
  }

  forget(subject: string): void {
    this.#moments.delete(subject)
  }

  #recent(subject: string, since: number): readonly number[] {
    const moments = this.#moments.get(subject)?.filter(moment => moment > since) ?? []
    if (moments.length === 0) this.#moments.delete(subject)
    else this.#moments.set(subject, moments)
    return moments
  }

  #note(subject: string, now: number): void {
    const moments = this.#moments.get(subject) ?? []
    this.#moments.delete(subject)
    this.#moments.set(subject, [...moments, now])
    if (this.#moments.size <= this.#most) return
    const [oldest] = this.#moments.keys()
    if (oldest !== undefined) this.#moments.delete(oldest)
  }
}

/** Failures that the database holds; of more, the oldest are forgotten. */
const MOST_KEPT = 500_000

const removeOld = change('DELETE FROM failure WHERE moment <= ?')
const removeSurplus = change(`DELETE FROM failure WHERE id <= (SELECT max(id) FROM failure) - ${MOST_KEPT}`)
const findLast = query<{ readonly moment: number }>(
  'SELECT moment FROM failure WHERE subject = ? AND moment > ? ORDER BY moment DESC LIMIT 1 OFFSET ?',
)
const insert = (rows: string) => `INSERT INTO failure (subject, moment) VALUES ${rows} RETURNING id`
const removeOne = change(
  'DELETE FROM failure WHERE id IN (SELECT id FROM failure WHERE subject = ? AND moment = ? LIMIT 1)',
)
const removeAll = change('DELETE FROM failure WHERE subject = ?')

/** Failures of all Lodestones that share a database: what one of them counts, all of them know. */
export function createSharedFailures(database: Database): Failures {
  return {
    begin: (counted, now, since) => database.writeFigures(() => begin(counted, now, since)),
    withdraw: (subjects, moment) =>
      database.writeFigures(function* () {
        for (const subject of subjects) yield* removeOne(subject, moment)
      }),
    forget: subject =>
      database.writeFigures(function* () {
        yield* removeAll(subject)
      }),
  }
}

function* begin(counted: readonly FailureLimit[], now: number, since: number): Work<number | null> {
  yield* removeOld(since)
  yield* removeSurplus()
  let last: number | null = null
  for (const { subject, limit } of counted) {
    const moment = (yield* findLast.get(subject, since, limit - 1))?.moment
    if (moment !== undefined) last = Math.max(last ?? 0, moment)
  }
  if (last !== null) return last
  const rows = counted.map(({ subject }) => [subject, now] as const)
  yield* forRows(insert, '(?, ?)', rows)
  return null
}
