/** Days and moments of the proleptic Gregorian calendar, and time zones by their IANA names. */

/** Parts of a local date and time; `fraction` is the digits after the decimal point, without trailing zeros. */
export interface LocalTime {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly fraction: string
}

/** Formats by the names of zones in lower case: clients may write them in any, and a format takes some 15 kB. */
const FORMATS = new Map<string, Intl.DateTimeFormat>()

/** True for a name that Intl knows as a time zone. */
export function isTimeZone(zone: string): boolean {
  try {
    return /^[A-Za-z0-9_+\-/]{1,64}$/.test(zone) && formatOf(zone) !== undefined
  } catch {
    return false
  }
}

/** Formats count years from 1, before and after it: a moment before this one has its offset, for zones had no changes then. */
const FIRST_FORMATTED = utcEpoch(1, 1, 3)

/** Offset of a zone from UTC at a moment, in milliseconds: 3,600,000 for Europe/Paris in winter. */
export function zoneOffset(zone: string, epoch: number): number {
  if (zone === 'UTC') return 0
  const moment = Math.max(epoch, FIRST_FORMATTED)
  const parts: Record<string, number> = {}
  for (const part of formatOf(zone).formatToParts(moment))
    if (part.type !== 'literal') parts[part.type] = Number(part.value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return utcEpoch(year, month, day, hour, minute, second) - Math.floor(moment / 1000) * 1000
}

/**
 * The moment of a local time in a zone. For a time that occurs twice it is the first occurrence; a skipped one is interpreted
 * with the offset before the change, as in Temporal's "compatible" disambiguation.
 */
export function localToEpoch(local: LocalTime, zone: string): number {
  const asUtc = utcEpoch(local.year, local.month, local.day, local.hour, local.minute, local.second)
  if (zone === 'UTC') return asUtc
  const day = 86_400_000
  const before = zoneOffset(zone, asUtc - day)
  const after = zoneOffset(zone, asUtc + day)
  const first = asUtc - before
  if (before === after || zoneOffset(zone, first) === before) return first
  const second = asUtc - after
  return zoneOffset(zone, second) === after ? second : first
}

/** Milliseconds since 1970 of a UTC date and time; unlike Date.UTC correct for the years 0 to 99. */
export function utcEpoch(year: number, month: number, day: number, hour = 0, minute = 0, second = 0): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second, 0)
  return date.getTime()
}

/** The parts of a UTC date and time, to the second, from milliseconds since 1970. */
export function utcParts(epoch: number): LocalTime {
  const date = new Date(epoch)
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    fraction: '',
  }
}

/** Canonical text of a moment: `YYYY-MM-DDTHH:MM:SS[.f…]Z`, with the given digits of the fraction of a second; years have four digits or more, those before 0 a minus. */
export function instantText(epochSeconds: number, fraction: string): string {
  const digits = fraction === '' ? '' : fraction.replace(/0+$/, '')
  const seconds = Math.floor(epochSeconds)
  const days = Math.floor(seconds / 86_400)
  const { year, month, day } = civilOf(days)
  const rest = seconds - 86_400 * days
  const clock = `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`
  const written = `${year < 0 ? '-' : ''}${String(Math.abs(year)).padStart(4, '0')}`
  return `${written}-${two(month)}-${two(day)}T${clock}${digits === '' ? '' : `.${digits}`}Z`
}

function two(number: number): string {
  return number < 10 ? `0${number}` : String(number)
}

/** True for a day that exists in the calendar, of the years 1 to 9999. */
export function isCalendarDay(year: number, month: number, day: number): boolean {
  return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month)
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const name = zone.toLowerCase()
  const known = FORMATS.get(name)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  FORMATS.set(name, format)
  return format
}

/** Periods such as 2019-2020 are no years with an offset. */
const ISO_MOMENT =
  /^(?!\d{4}(?:-\d\d)? ?-\d{4}$)((?:\d{4}|[+-]\d{6})(?:-\d\d(?:-(\d\d))?)?)(?:(?:T| +)(\d\d:\d\d(?::\d\d(?:\.\d+)?)?))? ?(Z|[+-]\d\d:?\d\d)?$/i

/**
 * A moment, or a year, month or day, of ISO 8601 in UTC in canonical form, `YYYY-MM-DDTHH:MM:SS[.f…]Z`; null for other texts, and for days
 * that do not exist. What has no offset is in UTC.
 */
export function canonicalMoment(text: string): string | null {
  const [, day, ofMonth = '01', time = '00:00', offset = 'Z'] = ISO_MOMENT.exec(text.trim()) ?? []
  if (day === undefined || new Date(day).getUTCDate() !== Number(ofMonth)) return null
  const isUtcDay = time === '00:00' && offset.toUpperCase() === 'Z'
  const moment = new Date(isUtcDay ? day : `${day}T${time}${offset}`)
  return Number.isNaN(moment.getTime()) ? null : moment.toISOString().replace(/\.?0*Z$/, 'Z')
}

/** A day of the (proleptic) Gregorian calendar. */
type CivilDay = Pick<LocalTime, 'year' | 'month' | 'day'>

/** Days from 1970-01-01 to a day of the calendar. */
export function daysSinceEpoch(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

/** The day of the calendar a number of days after 1970-01-01. */
export function civilOf(days: number): CivilDay {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day }
}

/** Days of a month, 1 to 12. */
export function daysOf(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
