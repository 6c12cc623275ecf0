import { civilOf, daysSinceEpoch, type LocalTime, utcEpoch, zoneOffset } from './time.ts'

/** A date or a moment in local time. */
export interface LocalMoment extends LocalTime {
  /** Days since 1970-01-01. */
  readonly days: number
  /** Offset of the local time from UTC in milliseconds, and the moment from which on it applies. */
  readonly offset: number
  readonly since: number
}

/**
 * The local time of a moment in a zone; a day is the same everywhere.
 *
 * @param seconds since 1970-01-01T00:00:00Z
 * @param zone IANA name; null for a day
 */
export function localMoment(seconds: number, zone: string | null, fraction = ''): LocalMoment {
  const step = zone === null ? UTC[0] : offsetStep(zone, Math.floor(seconds) * 1000)
  const local = Math.floor(seconds) + step.offset / 1000
  const days = Math.floor(local / 86_400)
  const rest = Math.floor(local - days * 86_400)
  const { year, month, day } = civilOf(days)
  return {
    year,
    month,
    day,
    hour: Math.floor(rest / 3600),
    minute: Math.floor(rest / 60) % 60,
    second: rest % 60,
    fraction,
    days,
    offset: step.offset,
    since: step.from,
  }
}

/** Day of the week: 1 is Monday, 7 Sunday (ISO 8601). */
export function dayOfWeek(days: number): number {
  return modulo(days + 3, 7) + 1
}

/** Week of the week-based year, 1 to 53, and that year (ISO 8601). */
export function isoWeek(days: number): { readonly week: number; readonly year: number } {
  const thursday = days - dayOfWeek(days) + 4
  const { year } = civilOf(thursday)
  return { week: Math.floor((thursday - daysSinceEpoch(year, 1, 1)) / 7) + 1, year }
}

function modulo(value: number, by: number): number {
  return value - Math.floor(value / by) * by
}

/** A part of a date pattern: literal text, or a symbol with the number of repetitions of its letter. */
export type FormatPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'symbol'; readonly letter: string; readonly count: number }

/** Maximum number of digits that a number is padded to. */
const MAX_DIGITS = 20

/**
 * Formats a date by a pattern (ODSQL 5.5; as in Joda-Time the number of letters selects the form: four letters of a text are its
 * long form, letters of a number its minimum of digits).
 *
 * @param zone IANA name; null for a day
 */
export function formatMoment(
  moment: LocalMoment,
  parts: readonly FormatPart[],
  language: string,
  zone: string | null,
): string {
  let text = ''
  for (const part of parts)
    text += part.type === 'text' ? part.text : symbolText(part, moment, language, zone)
  return text
}

function symbolText(
  { letter, count }: Extract<FormatPart, { type: 'symbol' }>,
  moment: LocalMoment,
  language: string,
  zone: string | null,
): string {
  const padded = (value: number) => String(value).padStart(Math.min(count, MAX_DIGITS), '0')
  const { year, month, day, hour, minute, second, days } = moment
  const length = count > 3 ? 'long' : 'short'
  switch (letter) {
    case 'G':
      return partText(language, new Date(Date.UTC(2024, 0, 1)), { era: length }, 'era')
    case 'C':
      return padded(Math.floor(year / 100))
    case 'Y':
    case 'y':
      return padded(count === 2 ? modulo(year, 100) : year)
    case 'x': {
      const week = isoWeek(days)
      return padded(count === 2 ? modulo(week.year, 100) : week.year)
    }
    case 'w':
      return padded(isoWeek(days).week)
    case 'e':
      return padded(dayOfWeek(days))
    case 'E':
      return partText(language, new Date(Date.UTC(2024, 0, dayOfWeek(days))), { weekday: length }, 'weekday')
    case 'D':
      return padded(moment.days - daysSinceEpoch(moment.year, 1, 1) + 1)
    case 'M':
      if (count < 3) return padded(month)
      return partText(language, new Date(Date.UTC(2024, month - 1, 15)), { month: length }, 'month')
    case 'd':
      return padded(day)
    case 'a':
      return partText(
        language,
        new Date(Date.UTC(2024, 0, 1, hour < 12 ? 1 : 13)),
        { hour: 'numeric', hour12: true },
        'dayPeriod',
      )
    case 'K':
      return padded(hour % 12)
    case 'h':
      return padded(((hour + 11) % 12) + 1)
    case 'H':
      return padded(hour)
    case 'k':
      return padded(hour === 0 ? 24 : hour)
    case 'm':
      return padded(minute)
    case 's':
      return padded(second)
    case 'S': {
      const digits = Math.min(count, MAX_DIGITS)
      return zone === null ? '0'.repeat(digits) : moment.fraction.padEnd(digits, '0').slice(0, digits)
    }
    case 'z': {
      if (zone === null) return 'UTC'
      const since = new Date(Number.isFinite(moment.since) ? moment.since : 0)
      return partText(language, since, { timeZoneName: length }, 'timeZoneName', zone)
    }
    case 'Z':
      return count > 2 ? (zone ?? 'UTC') : offsetText(moment.offset, count)
    default:
      throw new Error(`no text for the symbol ${letter}`)
  }
}

/** Cache of the texts of parts of dates by the values that they depend on: a table of some hundred entries. */
const TEXTS = new Map<string, string>()
const MAX_TEXTS = 5000

function partText(
  language: string,
  moment: Date,
  options: Intl.DateTimeFormatOptions,
  type: Intl.DateTimeFormatPartTypes,
  timeZone = 'UTC',
): string {
  const key = `${language} ${moment.getTime()} ${JSON.stringify(options)} ${timeZone}`
  let text = TEXTS.get(key)
  if (text === undefined) {
    const parts = new Intl.DateTimeFormat(language, { ...options, timeZone }).formatToParts(moment)
    text = parts.find(part => part.type === type)?.value ?? ''
    if (TEXTS.size >= MAX_TEXTS) TEXTS.clear()
    TEXTS.set(key, text)
  }
  return text
}

/** `+0200`, or `+02:00` with two letters. */
function offsetText(offset: number, count: number): string {
  const minutes = Math.round(Math.abs(offset) / 60_000)
  const two = (value: number) => String(value).padStart(2, '0')
  const colon = count === 1 ? '' : ':'
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${colon}${two(minutes % 60)}`
}

/** From a moment on, the local time of a zone has this offset from UTC in milliseconds. */
interface OffsetStep {
  /** Milliseconds since 1970. */
  readonly from: number
  readonly offset: number
}

const DAY = 86_400_000
/** Shorter than any period for which a zone ever changed its offset. */
const STRIDE = 7 * DAY

/** Cache of the steps of each year of each zone, which clients may name in any case; and the number of years in all of them. */
const YEARS = new Map<string, Map<number, readonly OffsetStep[]>>()
const MAX_YEARS = 20_000
let cachedYears = 0

/** The step that contains a moment in milliseconds since 1970: the offset of a zone, and the moment from which on it applies. */
function offsetStep(zone: string, epoch: number): OffsetStep {
  const steps = stepsOf(zone, new Date(epoch).getUTCFullYear())
  let found = steps[0] as OffsetStep
  for (const step of steps) if (step.from <= epoch) found = step
  return found
}

const UTC: readonly [OffsetStep] = [{ from: Number.NEGATIVE_INFINITY, offset: 0 }]

function stepsOf(zone: string, year: number): readonly OffsetStep[] {
  if (zone === 'UTC') return UTC
  const known = YEARS.get(zone)?.get(year)
  if (known !== undefined) return known
  if (cachedYears >= MAX_YEARS) {
    YEARS.clear()
    cachedYears = 0
  }
  const steps = makeSteps(zone, year)
  const years = YEARS.get(zone) ?? new Map<number, readonly OffsetStep[]>()
  YEARS.set(zone, years.set(year, steps))
  cachedYears++
  return steps
}

function makeSteps(zone: string, year: number): readonly OffsetStep[] {
  const [start, end] = [utcEpoch(year, 1, 1), utcEpoch(year + 1, 1, 1)]
  const steps: OffsetStep[] = [{ from: start, offset: zoneOffset(zone, start) }]
  for (let before = start; before < end; before += STRIDE) {
    const after = Math.min(before + STRIDE, end)
    const offset = zoneOffset(zone, after)
    if (offset !== steps.at(-1)?.offset) steps.push({ from: change(zone, before, after), offset })
  }
  return steps
}

/** The second at which the offset changes between two moments. */
function change(zone: string, before: number, after: number): number {
  const old = zoneOffset(zone, before)
  let [low, high] = [before, after]
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2000) * 1000
    if (zoneOffset(zone, middle) === old) low = middle
    else high = middle
  }
  return high
}
