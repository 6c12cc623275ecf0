/** The minutes, hours, days of the month, months and days of the week of a cron expression. */
interface CronTimes {
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  readonly days: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  readonly weekdays: ReadonlySet<number>
  readonly isAnyDay: boolean
  readonly isAnyWeekday: boolean
}

const HOUR = 3_600_000

const INTERVALS: ReadonlyMap<string, number> = new Map([
  ['hourly', HOUR],
  ['daily', 24 * HOUR],
  ['weekly', 7 * 24 * HOUR],
  ['monthly', 30 * 24 * HOUR],
])

const NAMES: ReadonlyMap<string, number> = new Map(
  [
    ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'].map(
      (name, at) => [name, at + 1] as const,
    ),
    ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'].map((name, at) => [name, at] as const),
  ].flat(),
)

/** Eight years contain every calendar day, 29 February included: 2100 is no leap year. */
const MAX_GAP = (8 * 366 + 1) * 24 * HOUR

/** Pause after a failure in milliseconds, doubled with each further one. */
const FIRST_PAUSE = 60_000

/** What {@link isSchedule} expects, for messages. */
export const SCHEDULE_EXPECTED =
  'hourly, daily, weekly, monthly or a cron expression of five fields is expected, with a day that its months have'

/** True for `hourly`, `daily`, `weekly`, `monthly` and cron expressions of five fields, with a day that exists (not 31 February). */
export function isSchedule(text: string): boolean {
  return INTERVALS.has(text) || nextOfCron(text, 0) !== null
}

/**
 * The next moment at which an address is due, in milliseconds since 1970; null for one without a schedule.
 *
 * @param schedule a word, counted from the last time, or a cron expression in UTC
 * @param failures failures since the last success: the address is then retried sooner, with increasing intervals
 */
export function nextTime(schedule: string | undefined, last: number, failures: number): number | null {
  if (schedule === undefined) return failures > 0 ? last + pauseAfter(failures) : null
  const interval = INTERVALS.get(schedule)
  const planned = interval === undefined ? nextOfCron(schedule, last) : last + interval
  return failures > 0 && planned !== null ? Math.min(planned, last + pauseAfter(failures)) : planned
}

function pauseAfter(failures: number): number {
  return Math.min(24 * HOUR, FIRST_PAUSE * 2 ** Math.min(failures, 12))
}

function nextOfCron(text: string, after: number): number | null {
  const times = cronTimes(text)
  if (times === undefined) return null
  const date = new Date(after)
  date.setUTCSeconds(0, 0)
  date.setUTCMinutes(date.getUTCMinutes() + 1)
  const end = after + MAX_GAP
  while (date.getTime() < end) {
    if (!isDay(times, date)) {
      date.setUTCHours(24, 0, 0, 0)
      continue
    }
    if (!times.hours.has(date.getUTCHours())) {
      date.setUTCMinutes(60, 0, 0)
      continue
    }
    if (times.minutes.has(date.getUTCMinutes())) return date.getTime()
    date.setUTCMinutes(date.getUTCMinutes() + 1)
  }
  return null
}

/** If both days of the month and of the week are given, one of them is enough, as in cron. */
function isDay(times: CronTimes, date: Date): boolean {
  if (!times.months.has(date.getUTCMonth() + 1)) return false
  const isMonthDay = times.days.has(date.getUTCDate())
  const isWeekday = times.weekdays.has(date.getUTCDay())
  if (times.isAnyDay) return isWeekday
  return times.isAnyWeekday ? isMonthDay : isMonthDay || isWeekday
}

function cronTimes(text: string): CronTimes | undefined {
  const fields = text.trim().split(/\s+/)
  const [minute, hour, day, month, weekday] = fields
  if (fields.length !== 5 || minute === undefined || hour === undefined || day === undefined) return undefined
  const minutes = setOf(minute, 0, 59)
  const hours = setOf(hour, 0, 23)
  const days = setOf(day, 1, 31)
  const months = setOf(month ?? '', 1, 12)
  const weekdays = setOf(weekday ?? '', 0, 7)
  if (!minutes || !hours || !days || !months || !weekdays) return undefined
  if (weekdays.has(7)) weekdays.add(0)
  return { minutes, hours, days, months, weekdays, isAnyDay: day === '*', isAnyWeekday: weekday === '*' }
}

function setOf(field: string, least: number, max: number): Set<number> | undefined {
  const found = new Set<number>()
  for (const part of field.toLowerCase().split(',')) {
    const [, range = '', step = '1'] = /^([^/]+)(?:\/(\d+))?$/.exec(part) ?? []
    const [first = '', last = first] = range === '*' ? [String(least), String(max)] : range.split('-')
    const [from, to] = [
      first,
      part.includes('/') && !range.includes('-') && range !== '*' ? String(max) : last,
    ].map(text => NAMES.get(text) ?? (/^\d+$/.test(text) ? Number(text) : Number.NaN)) as [number, number]
    const by = Number(step)
    if (!(from >= least && to <= max && from <= to && by >= 1)) return undefined
    for (let number = from; number <= to; number += by) found.add(number)
  }
  return found
}
