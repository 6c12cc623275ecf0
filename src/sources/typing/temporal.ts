import {
  instantText,
  isCalendarDay,
  type LocalTime,
  localToEpoch,
  utcEpoch,
  utcParts,
  zoneOffset,
} from '../../model/time.ts'
import { compilePattern, isClockTime, utcOffset } from './calendar-pattern.ts'

/** A moment or day in a source: local parts and, if given, the offset from UTC in milliseconds. */
interface Written {
  readonly local: LocalTime
  readonly offset: number | null
}

/** ISO 8601 with dashes, slashes or, for a day alone, neither. */
const ISO =
  /^(\d{4})(?:(\d\d)(\d\d)|([-/])(\d\d)\4(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?)$/i

/** A year or a month alone. */
const PERIOD = /^(\d{4})(?:[-/](\d\d))?$/

const DECIMAL = /^[+-]?\d+(?:\.\d+)?$/

const DAY = 86_400_000
const EARLIEST = utcEpoch(1, 1, 1)
const LATEST = utcEpoch(9999, 12, 31, 23, 59, 59)

/**
 * A converter to `YYYY-MM-DD`: from `YYYY-MM-DD`, `YYYY/MM/DD` or `YYYYMMDD`, and from the text of a date and time, whose day is
 * used as written. With a format only texts of the format are accepted.
 *
 * @param format pattern of `compilePattern`, `epoch-s` or `epoch-ms`
 * @param zone IANA time zone for the days of numbers in an epoch format
 * @param isCoarse years and months are read as their first days: `2018`, `2018-01`
 */
export function dateConverter(format: string | undefined, zone: string, isCoarse = false) {
  const read = reader(format, zone, isCoarse)
  return (raw: unknown): string | null | undefined => {
    if (format === undefined && typeof raw === 'string' && isDay(raw)) return raw
    const written = read(raw)
    if (written === null || written === undefined) return written
    const { year, month, day } = written.local
    return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
  }
}

const DAY_TEXT = /^\d{4}-\d\d-\d\d$/

/** True for a day in its stored form, as nearly all are. */
function isDay(text: string): boolean {
  return (
    DAY_TEXT.test(text) &&
    isCalendarDay(Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8)))
  )
}

/**
 * A converter to `YYYY-MM-DDTHH:MM:SS[.f…]Z`: from ISO 8601 with T or a blank, seconds and fraction optional (nine digits are
 * preserved), and from a day alone, which means its midnight. With a format only texts of the format are accepted.
 *
 * @param format pattern of `compilePattern`, `epoch-s` or `epoch-ms`
 * @param zone IANA time zone of times without offset
 * @param isCoarse years and months are read as their first moments
 */
export function datetimeConverter(format: string | undefined, zone: string, isCoarse = false) {
  const read = reader(format, zone, isCoarse)
  const epochOf = zone === 'UTC' ? (local: LocalTime) => localToEpoch(local, zone) : zoned(zone)
  return (raw: unknown): string | null | undefined => {
    const written = read(raw)
    if (written === null || written === undefined) return written
    const { local, offset } = written
    const epoch = offset === null ? epochOf(local) : localToEpoch(local, 'UTC') - offset
    return epoch < EARLIEST || epoch > LATEST ? undefined : instantText(epoch / 1000, local.fraction)
  }
}

function reader(
  format: string | undefined,
  zone: string,
  isCoarse: boolean,
): (raw: unknown) => Written | null | undefined {
  const parseWhole = parserOf(format, zone)
  const parse = isCoarse ? (text: string) => parseWhole(text) ?? parsePeriod(text) : parseWhole
  const numbers = format !== undefined || isCoarse
  return raw => {
    if (raw === null || raw === undefined) return null
    if (typeof raw === 'string') {
      const text = raw.trim()
      return text === '' ? null : parse(text)
    }
    if ((typeof raw === 'number' || typeof raw === 'bigint') && numbers) return parse(String(raw))
    if (raw instanceof Date && !Number.isNaN(raw.getTime())) return parseIso(raw.toISOString())
    return undefined
  }
}

function parserOf(format: string | undefined, zone: string): (text: string) => Written | undefined {
  if (format === undefined) return parseIso
  if (format === 'epoch-ms') return text => parseEpoch(text, 1, zone)
  if (format === 'epoch-s') return text => parseEpoch(text, 1000, zone)
  const read = compilePattern(format)
  return text => {
    const local = read(text)
    return local === null ? undefined : { local, offset: local.offset }
  }
}

function parseIso(text: string): Written | undefined {
  const match = ISO.exec(text)
  if (match === null) return undefined
  const [, year, packedMonth, packedDay, , month, day, hour, minute, second, fraction, zone] = match
  const local: LocalTime = {
    year: Number(year),
    month: Number(month ?? packedMonth),
    day: Number(day ?? packedDay),
    hour: Number(hour ?? 0),
    minute: Number(minute ?? 0),
    second: Number(second ?? 0),
    fraction: fraction === undefined ? '' : fraction.slice(0, 9).replace(/0+$/, ''),
  }
  if (!isCalendarDay(local.year, local.month, local.day)) return undefined
  if (!isClockTime(local.hour, local.minute, local.second)) return undefined
  const offset = zone === undefined ? null : utcOffset(zone)
  return Number.isNaN(offset) ? undefined : { local, offset }
}

function parsePeriod(text: string): Written | undefined {
  const [, year, month = '01'] = PERIOD.exec(text) ?? []
  if (year === undefined || !isCalendarDay(Number(year), Number(month), 1)) return undefined
  const midnight = { day: 1, hour: 0, minute: 0, second: 0, fraction: '' }
  return { local: { year: Number(year), month: Number(month), ...midnight }, offset: null }
}

/** Seconds or milliseconds since 1970, to the millisecond, as the local time of a zone with its offset. */
function parseEpoch(text: string, unit: number, zone: string): Written | undefined {
  if (!DECIMAL.test(text)) return undefined
  const epoch = Math.round(Number(text) * unit)
  if (!(epoch >= EARLIEST + DAY && epoch <= LATEST - DAY)) return undefined
  const offset = zone === 'UTC' ? 0 : zoneOffset(zone, epoch)
  const milliseconds = (((epoch + offset) % 1000) + 1000) % 1000
  const fraction = milliseconds === 0 ? '' : String(milliseconds).padStart(3, '0')
  return { local: { ...utcParts(epoch + offset), fraction }, offset }
}

/** Maximum number of days whose offset is cached. */
const REMEMBERED_DAYS = 10_000

/** Like localToEpoch, but calls Intl only once for all times of a day without a change of offset. */
function zoned(zone: string): (local: LocalTime) => number {
  const offsets = new Map<number, number | null>()
  return local => {
    const midnight = utcEpoch(local.year, local.month, local.day)
    let offset = offsets.get(midnight)
    if (offset === undefined) {
      const before = zoneOffset(zone, midnight - DAY)
      offset = before === zoneOffset(zone, midnight + 2 * DAY) ? before : null
      if (offsets.size >= REMEMBERED_DAYS) offsets.clear()
      offsets.set(midnight, offset)
    }
    if (offset === null) return localToEpoch(local, zone)
    return midnight + ((local.hour * 60 + local.minute) * 60 + local.second) * 1000 - offset
  }
}

function two(number: number): string {
  return number < 10 ? `0${number}` : String(number)
}
