import type { CallCounts } from './accounts.ts'
import { change, type Database, forRows, query } from './database.ts'

/** Minimum interval between recorded uses of the same key or session. */
const EVERY = 60_000

/** Milliseconds until a use is written, and maximum uses of one transaction. */
const WRITE_DELAY = 15_000
const MAX_BATCH = 1000

/** When keys or sessions were last used: recorded in memory, written in batches, never while a request waits. */
export interface LastUses {
  /** @param written the time in the database, null if it was never used */
  note(id: number, written: number | null, now: number): void
  /** The last known use, even if it is not written yet. */
  latest(id: number, written: number | null): number | null
  flush(): Promise<void>
  stop(): void
}

/** @param update makes the statement that writes rows of an id and a moment; those that it fails for are written again */
export function createLastUses(database: Database, update: (rows: string) => string): LastUses {
  const noted = new Map<number, number>()
  let timer: NodeJS.Timeout | undefined
  const latest = (id: number, written: number | null) => noted.get(id) ?? written
  const writeSome = async () => {
    const some = [...noted].slice(0, MAX_BATCH)
    await database.writeCounts(() => forRows(update, '(CAST(? AS BIGINT), CAST(? AS BIGINT))', some))
    for (const [id, moment] of some) if (noted.get(id) === moment) noted.delete(id)
  }
  const schedule = (delay: number) => {
    timer ??= setTimeout(async () => {
      timer = undefined
      try {
        await writeSome()
        if (noted.size > 0) schedule(100)
      } catch {
        schedule(WRITE_DELAY)
      }
    }, delay).unref()
  }
  return {
    note: (id, written, now) => {
      const known = latest(id, written)
      if (known !== null && now - known < EVERY) return
      noted.set(id, now)
      schedule(WRITE_DELAY)
    },
    latest,
    flush: async () => {
      while (noted.size > 0) await writeSome()
    },
    stop: () => clearTimeout(timer),
  }
}

interface Row {
  readonly subject: string
  readonly calls: number
}

const ofDay = query<Row>('SELECT subject, calls FROM call_count WHERE day = ?')
const forget = change('DELETE FROM call_count WHERE day < ?')
const add = (rows: string) => `INSERT INTO call_count (day, subject, calls) VALUES ${rows}
  ON CONFLICT (day, subject) DO UPDATE SET calls = call_count.calls + excluded.calls RETURNING subject, calls`

/** Calls that were counted, day by day. */
export function createCallCounts(database: Database): CallCounts {
  const mapOf = (rows: readonly Row[]) => new Map(rows.map(({ subject, calls }) => [subject, calls]))
  return {
    read: async day => mapOf(await database.read(() => ofDay.all(day))),
    add: async (day, counts) => {
      const rows = [...counts].map(([subject, calls]) => [day, subject, calls] as const)
      return mapOf(
        await database.writeCounts(function* () {
          yield* forget(day)
          return yield* forRows<Row>(add, '(?, ?, ?)', rows)
        }),
      )
    },
  }
}
