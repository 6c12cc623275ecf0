import type { TimeUnit } from '../../language/odsql/vocabulary.ts'
import { CLOCK_UNITS, intervalEnd } from '../../model/clock-intervals.ts'
import { parseExactly } from '../../model/exact-json.ts'
import { coarsePrecision, type Field, type FieldType, isNumeric, isTemporal } from '../../model/field.ts'
import { lookup, setMember } from '../../model/lookup.ts'
import { numberText } from '../../model/number.ts'
import { instantText, localToEpoch, utcEpoch, utcParts, zoneOffset } from '../../model/time.ts'
import type { Value } from '../../model/value.ts'
import { isStored } from '../compile/records.ts'
import { aggregateType, type GroupRow, type RecordRow } from '../decode.ts'
import type { Dialect } from '../dialect.ts'
import { exactly } from '../exact-numbers.ts'
import {
  type Constant,
  type Grouping,
  type GroupQuery,
  type RowValue,
  type Scalar,
  type SelectedColumn,
  scalarType,
} from '../plan.ts'

/** How values are written as JSON: the generation of the API and the time zone of its moments. */
export interface JsonStyle {
  readonly dialect: Dialect
  readonly timezone: string
  /** Leaves the JSON of `json_format` as the text that holds it, for files in other formats. */
  readonly isJsonText?: boolean
}

/** The selected values of a record by their keys. */
export function recordJson(
  { record, computed }: RecordRow,
  select: readonly SelectedColumn[],
  fields: readonly Field[],
  style: JsonStyle,
): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  select.forEach(({ key, value }, index) => {
    setMember(
      shown,
      key,
      value.type === 'field' && isStored(value)
        ? fieldJson(record.values[fields.indexOf(value.field)] ?? null, value.field, style)
        : scalarJson(computed[index] ?? null, value, style),
    )
  })
  return shown
}

/** A row of a grouped answer: its keys and its selected values. */
export function rowJson(row: GroupRow, plan: GroupQuery, style: JsonStyle): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  const keyJson = (index: number): unknown => {
    const grouping = plan.keys[index]?.grouping
    return grouping === undefined ? null : groupJson(row.keys[index] ?? null, grouping, style)
  }
  plan.keys.forEach(({ key }, index) => {
    setMember(shown, key, keyJson(index))
  })
  plan.select.forEach(({ key, value }, index) => {
    setMember(
      shown,
      key,
      value.type === 'key' ? keyJson(value.index) : aggregateJson(row.selected[index], value, style),
    )
  })
  return shown
}

function aggregateJson(
  raw: GroupRow['selected'][number] | undefined,
  value: RowValue,
  style: JsonStyle,
): unknown {
  if (raw === undefined || raw === null) return null
  if (value.type !== 'aggregate') return raw
  const { name, of } = value.aggregate
  if (of?.type === 'field' && (name === 'min' || name === 'max'))
    return fieldJson(raw as Value, of.field, style)
  return valueJson(raw as Value, aggregateType(value.aggregate), style)
}

/** A value of a field as JSON, a date in the precision of its annotation: `2018`, `2018-01`. */
function fieldJson(value: Value, field: Field, style: JsonStyle): unknown {
  const shown = valueJson(value, field.type, style)
  const precision = coarsePrecision(field)
  return precision === null || typeof shown !== 'string' ? shown : shown.slice(0, SHOWN_CHARACTERS[precision])
}

const SHOWN_CHARACTERS = { year: 4, month: 7 } as const

/** A value of a type as JSON: a shape as a feature, a moment with its offset in the requested time zone. */
export function valueJson(value: Value, type: FieldType, { timezone }: JsonStyle): unknown {
  if (value === null) return null
  if (type === 'geo_shape') return { type: 'Feature', geometry: value, properties: {} }
  if (type === 'datetime' && typeof value === 'string') return zonedText(value, timezone)
  return value
}

/** A computed value as JSON: the parts of dates are texts in the older generations. */
function scalarJson(value: Constant | null, scalar: Scalar, style: JsonStyle): unknown {
  if (value === null) return null
  if (scalar.type === 'datePart' && !style.dialect.numericParts) return String(value)
  if (scalar.type === 'json') return parsedJson(String(value), scalar.fallback, style)
  return valueJson(value, scalarType(scalar), style)
}

/** Maximum nesting of the JSON of a text: deeper lists and objects exceed the stack of who writes or reads them (RFC 8259, section 9). */
const MAX_NESTING = 1000

function parsedJson(text: string, fallback: Constant | null, { isJsonText }: JsonStyle): unknown {
  try {
    const json = parseExactly(text)
    if (text.length > 2 * MAX_NESTING && isDeeper(json, MAX_NESTING)) return fallback ?? text
    return isJsonText === true && json !== null ? text : json
  } catch {
    return fallback ?? text
  }
}

/** True for a value of JSON that has lists or objects within one another on more levels. */
function isDeeper(json: unknown, levels: number): boolean {
  if (typeof json !== 'object' || json === null) return false
  return levels === 0 || Object.values(json).some(part => isDeeper(part, levels - 1))
}

/** A canonical moment as ISO 8601 with the offset of a time zone at that moment: `2026-06-27T06:00:00+02:00`. */
export function zonedText(moment: string, timezone: string): string {
  if (timezone === 'UTC') return `${moment.slice(0, -1)}+00:00`
  const [whole, digits] = splitMoment(moment)
  const epoch = epochOf(whole)
  // Offsets before standard time have seconds, which ISO 8601 has not: the instant stays exact.
  const offset = Math.round(zoneOffset(timezone, epoch) / 60_000) * 60_000
  const minutes = Math.abs(offset) / 60_000
  const sign = offset < 0 ? '-' : '+'
  const clock = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
  return `${instantText((epoch + offset) / 1000, '').slice(0, -1)}${digits}${sign}${clock}`
}

const WHOLE = 'YYYY-MM-DDTHH:MM:SS'.length

/** Milliseconds since 1970 of a moment to the second; ranges and offsets lead beyond the years 0 to 9999. */
function epochOf(whole: string): number {
  if (whole.length === WHOLE) return Date.parse(`${whole}Z`)
  const [, sign, year = '', rest] = /^(-?)(\d+)(.*)$/.exec(whole) ?? []
  return Date.parse(`${sign || '+'}${year.padStart(6, '0')}${rest}Z`)
}

/** A moment to the second, and the fraction with its point, without the Z. */
function splitMoment(moment: string): readonly [whole: string, digits: string] {
  const end = moment.indexOf('T') + 'THH:MM:SS'.length
  return [moment.slice(0, end), moment.slice(end, -1)]
}

/** The key of a group as its API generation writes it (ODSQL 9.1). */
function groupJson(raw: GroupRow['keys'][number], grouping: Grouping, style: JsonStyle): unknown {
  if (raw === null) return null
  if (typeof raw === 'object') return { cluster_centroid: { lat: raw.lat, lon: raw.lon } }
  switch (grouping.type) {
    case 'value': {
      const type = scalarType(grouping.value)
      if (!isTemporal(type) || style.dialect.isoKeys) return scalarJson(raw, grouping.value, style)
      return Date.parse(type === 'date' ? `${raw}T00:00:00Z` : String(raw).replace(/(\.\d{3})\d*/, '$1'))
    }
    case 'steps': {
      const index = Number(raw)
      const [low, high] = [grouping.edges[index] ?? null, grouping.edges[index + 1] ?? null]
      return stepText(low, high, scalarType(grouping.value), style)
    }
    case 'width':
      return lotText(raw as number | bigint, grouping, style)
    case 'cells':
      return null
    default:
      return grouping satisfies never
  }
}

/** A static range: `[10, 49]` on whole numbers, `[10.0, 50.0[` on others, `10-50` in the older generations. */
function stepText(low: Constant | null, high: Constant | null, type: FieldType, style: JsonStyle): string {
  if (!isNumeric(type)) {
    const text = (edge: Constant | null) => (edge === null ? '*' : momentText(String(edge), type, style))
    return style.dialect.isoKeys ? `[${text(low)}, ${text(high)}[` : `${text(low)}-${text(high)}`
  }
  if (!style.dialect.isoKeys) return `${low ?? '*'}-${high ?? '*'}`
  return type === 'int' ? wholeText(low, high) : `[${decimalText(low)}, ${decimalText(high)}[`
}

/** The whole numbers between two edges, both inclusive: `[10, 49]`. */
function wholeText(low: Constant | null, high: Constant | null): string {
  const whole = (edge: Constant) => (typeof edge === 'bigint' ? edge : Math.ceil(Number(edge)))
  const first = low === null ? '*' : numberText(whole(low))
  return `[${first}, ${high === null ? '*' : numberText(exactly('-', whole(high), 1) ?? 0)}]`
}

function decimalText(edge: Constant | null): string {
  if (edge === null) return '*'
  return Number.isInteger(edge) ? `${edge}.0` : numberText(Number(edge))
}

/** A range of one width: `[0, 14]` on whole numbers, `[0, 15[` on others, `0-15` in the older generations. */
function lotText(
  index: number | bigint,
  grouping: Extract<Grouping, { type: 'width' }>,
  style: JsonStyle,
): string {
  const { unit, width, value } = grouping
  const type = scalarType(value)
  if (unit === null) {
    // Multiples of a decimal fraction are inexact.
    const edge = (more: number) => {
      const place = exactly('+', index, more) ?? 0
      if (Number.isInteger(width)) return exactly('*', place, width) ?? 0
      return Number((Number(place) * width).toPrecision(15))
    }
    const [low, high] = [edge(0), edge(1)]
    if (!style.dialect.isoKeys) return `${numberText(low)}-${numberText(high)}`
    return type === 'int' ? wholeText(low, high) : `[${numberText(low)}, ${numberText(high)}[`
  }
  const place = Number(index)
  const length = lookup(CLOCK_UNITS, unit)
  if (length !== undefined) return clockText(place, width * length, type, style)
  const text = (at: number) =>
    momentText(lotStart(wallTime(at, width, unit), type, style.timezone), type, style)
  return style.dialect.isoKeys ? `[${text(place)}, ${text(place + 1)}[` : text(place)
}

/** A range of a length within a day, by the moment at which it begins. A date begins at midnight, without a zone. */
function clockText(start: number, size: number, type: FieldType, style: JsonStyle): string {
  const { dialect, timezone } = style
  const moment = (at: number) => instantText(Math.floor(at / 1000), String(modulo(at, 1000)).padStart(3, '0'))
  const isDate = type === 'date'
  if (!dialect.isoKeys)
    return isDate ? (moment(start).split('T')[0] as string) : zonedText(moment(start), timezone)
  const text = (at: number) =>
    momentText(moment(at), 'datetime', isDate ? { ...style, timezone: 'UTC' } : style)
  return `[${text(start)}, ${text(isDate ? start + size : intervalEnd(start, size, timezone))}[`
}

const DAY = 86_400_000

function modulo(value: number, by: number): number {
  return value - Math.floor(value / by) * by
}

/** The moment or day at which a range of days or longer begins. */
function lotStart(wall: number, type: FieldType, timezone: string): string {
  if (type === 'date') return instantText(wall / 1000, '').split('T')[0] as string
  return instantText(Math.floor(localToEpoch(utcParts(wall), timezone) / 1000), '')
}

function wallTime(place: number, width: number, unit: TimeUnit): number {
  switch (unit) {
    case 'year':
      return utcEpoch(place, 1, 1)
    case 'quarter':
      return utcEpoch(Math.floor(place / 4), (place - Math.floor(place / 4) * 4) * 3 + 1, 1)
    case 'month':
      return utcEpoch(Math.floor(place / 12), place - Math.floor(place / 12) * 12 + 1, 1)
    case 'week':
      return (place * 7 - 3) * DAY
    default:
      return place * width * DAY
  }
}

/** The end of a range of dates: a whole moment, or in the older generations a day where it is one. */
function momentText(moment: string, type: FieldType, { dialect, timezone }: JsonStyle): string {
  if (type === 'date') return dialect.isoKeys ? `${moment}T00:00:00.000Z` : moment
  if (dialect.isoKeys && timezone === 'UTC') {
    const [whole, digits] = splitMoment(moment)
    return `${whole}.${digits.slice(1).padEnd(3, '0')}Z`
  }
  if (dialect.isoKeys) return zonedText(moment, timezone)
  // By the second, for offsets before standard time have seconds.
  const [whole, digits] = splitMoment(moment)
  const epoch = epochOf(whole)
  const [day, clock] = instantText((epoch + zoneOffset(timezone, epoch)) / 1000, digits.slice(1)).split('T')
  return clock === '00:00:00Z' ? (day as string) : zonedText(moment, timezone)
}
