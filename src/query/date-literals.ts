import type { FormatPart } from '../model/date-format.ts'
import type { FieldType } from '../model/field.ts'
import {
  instantText,
  isCalendarDay,
  type LocalTime,
  localToEpoch,
  utcEpoch,
  utcParts,
} from '../model/time.ts'
import { words } from '../model/words.ts'

/** The precision of a date literal as written; a coarse one denotes a whole period. */
type DatePrecision = (typeof PRECISIONS)[number]
const PRECISIONS = words('year month day hour minute second')

/** A date literal of a query: local parts, the precision written, and its own offset where it has one. */
export interface DateConstant {
  readonly local: LocalTime
  readonly precision: DatePrecision
  /** Minutes east of UTC; null where the query's time zone applies. */
  readonly offset: number | null
}

/**
 * The bounds of a date literal that is compared with a field: its first instant, and the instant after its last where it was
 * written with less than second precision. Texts are canonical values of the field's type.
 */
interface DateBounds {
  readonly start: string
  /** Null for a single value, and for a period to the end of the calendar. */
  readonly end: string | null
  /** True where the literal denotes all values from its start on, to its end. */
  readonly isPeriod: boolean
  /** True where the field has days only and the literal begins within a day. */
  readonly insideDay: boolean
}

const FORM =
  /^(\d{4}|10000)(?:([-/])(\d{1,2})(?:\2(\d{1,2})(?:[T ](\d{1,2})(?::(\d{2})(?::(\d{2})(?:[.,](\d{1,12}))?)?)?\s*(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?)?)?$/i

/**
 * Parses a date literal (ODSQL 1.5); null if it is invalid.
 *
 * @param atEdges whether the years 0 and 10000 are valid, which the first and the last moments have on some clocks
 */
export function parseDate(text: string, atEdges = false): DateConstant | null {
  const match = FORM.exec(text.trim())
  if (match === null) return null
  const [, year, , month, day, hour, minute, second, fraction, zone] = match
  const local: LocalTime = {
    year: Number(year),
    month: Number(month ?? 1),
    day: Number(day ?? 1),
    hour: Number(hour ?? 0),
    minute: Number(minute ?? 0),
    second: Number(second ?? 0),
    fraction: (fraction ?? '').replace(/0+$/, ''),
  }
  // Both are leap years, as 2000 is.
  const shown = atEdges && local.year % 10_000 === 0 ? 2000 : local.year
  if (!isCalendarDay(shown, local.month, local.day)) return null
  if (local.hour > 23 || local.minute > 59 || local.second > 59) return null
  const precision = PRECISIONS[[year, month, day, hour, minute, second].findLastIndex(Boolean)] ?? 'year'
  return { local, precision, offset: offsetMinutes(zone) }
}

/** The bounds of a date literal that is compared with a field of a temporal type, in a time zone. */
export function dateBounds(constant: DateConstant, type: FieldType, timezone: string): DateBounds {
  const { local, precision } = constant
  const next = following(local, precision)
  if (type === 'date') {
    const insideDay = local.hour > 0 || local.minute > 0 || local.second > 0 || local.fraction !== ''
    const isPeriod = precision === 'year' || precision === 'month'
    const end = isPeriod && next !== null && next.year <= 9999 ? dayText(next) : null
    return { start: dayText(local), end, isPeriod, insideDay }
  }
  const start = instant(local, constant.offset, timezone) ?? '9999-12-31T23:59:59.999999Z'
  const end = next === null ? null : instant(next, constant.offset, timezone)
  return { start, end, isPeriod: precision !== 'second', insideDay: false }
}

function following(local: LocalTime, precision: DatePrecision): LocalTime | null {
  if (precision === 'second') return null
  const { year, month, day, hour, minute } = local
  const next = {
    year: () => utcEpoch(year + 1, 1, 1),
    month: () => utcEpoch(year, month + 1, 1),
    day: () => utcEpoch(year, month, day + 1),
    hour: () => utcEpoch(year, month, day, hour + 1),
    minute: () => utcEpoch(year, month, day, hour, minute + 1),
  }[precision]()
  return utcParts(next)
}

/** A moment as text; null where it is after the last. */
function instant(local: LocalTime, offset: number | null, timezone: string): string | null {
  const epoch = offset === null ? localToEpoch(local, timezone) : localToEpoch(local, 'UTC') - offset * 60_000
  if (epoch > LAST) return null
  return instantText(Math.max(epoch, FIRST) / 1000, local.fraction)
}

/** The first and the last second that records can have: moments outside are clamped to them. */
const FIRST = utcEpoch(1, 1, 1)
const LAST = utcEpoch(9999, 12, 31, 23, 59, 59)

function dayText(local: LocalTime): string {
  return instantText(utcEpoch(local.year, local.month, local.day) / 1000, '').slice(0, 10)
}

function offsetMinutes(zone: string | undefined): number | null {
  if (zone === undefined || zone === '') return null
  if (/^z$/i.test(zone)) return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', '') || 0)
  return zone.startsWith('-') ? -minutes : minutes
}

/** The letters of a date pattern (ODSQL 5.5). */
const PATTERN_LETTERS = 'GCYxweEyDMdaKhHkmsSzZ'

/**
 * Parses a date pattern as Joda-Time does: letters are symbols, a quoted stretch is text, two quotes are one quote. Returns the
 * position of a letter that is no symbol; an unclosed stretch extends to the end.
 */
export function parsePattern(
  text: string,
): readonly FormatPart[] | { readonly unknown: string; readonly at: number } {
  const parts: FormatPart[] = []
  const add = (piece: string) => {
    const last = parts.at(-1)
    if (last?.type === 'text') parts[parts.length - 1] = { type: 'text', text: last.text + piece }
    else parts.push({ type: 'text', text: piece })
  }
  let at = 0
  while (at < text.length) {
    const rest = text.slice(at)
    const symbol = /^([A-Za-z])\1*/.exec(rest)
    const quoted = /^'((?:[^']|'')+)(?:'|$)/.exec(rest)
    if (symbol !== null) {
      const letter = symbol[1] ?? ''
      if (!PATTERN_LETTERS.includes(letter)) return { unknown: letter, at }
      parts.push({ type: 'symbol', letter, count: symbol[0].length })
      at += symbol[0].length
    } else if (rest.startsWith("''")) {
      add("'")
      at += 2
    } else if (quoted !== null) {
      add((quoted[1] ?? '').replaceAll("''", "'"))
      at += quoted[0].length
    } else {
      if (rest[0] !== "'") add(rest[0] ?? '')
      at += 1
    }
  }
  return parts
}
