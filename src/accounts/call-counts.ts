import type { CallCounts } from './accounts.ts'
import type { Database } from './database.ts'

/** Calls that were counted, day by day. */
export function createCallCounts(database: Database): CallCounts {
  const ofDay = database.query<{ readonly subject: string; readonly calls: number }>(
    'SELECT subject, calls FROM call_count WHERE day = ?',
  )
  const replace = database.change(
    `INSERT INTO call_count (day, subject, calls) VALUES (?, ?, ?)
      ON CONFLICT (day, subject) DO UPDATE SET calls = excluded.calls`,
  )
  const forget = database.change('DELETE FROM call_count WHERE day < ?')
  return {
    read: day => new Map(ofDay.all(day).map(({ subject, calls }) => [subject, calls])),
    write: (day, counts) =>
      database.writeFigures(() => {
        forget(day)
        for (const [subject, calls] of counts) replace(day, subject, calls)
      }),
  }
}
