import type { CallCounts } from './accounts.ts'
import type { Database } from './database.ts'
import { change, forRows, query } from './database-script.ts'

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
