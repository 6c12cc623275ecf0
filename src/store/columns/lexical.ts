import { numberText } from '../../model/number.ts'
import { civilOf, daysOf, daysSinceEpoch } from '../../model/time.ts'
import { INTEGER_BOUNDS } from '../../rdf/literals.ts'
import { XSD } from '../../rdf/vocab.ts'

/**
 * Values of lexical forms (XML Schema 1.1, part 2), and the canonical form of a value: values that columns store as numbers then
 * need no text.
 */

/** The arithmetic type of a datatype. */
export type NumericKind = 'integer' | 'decimal' | 'float' | 'double'

/** Null for a datatype that is not numeric (SPARQL 1.1 Query, section 17.1). */
export function numericKind(datatype: string): NumericKind | null {
  switch (datatype) {
    case XSD.integer:
      return 'integer'
    case XSD.double:
      return 'double'
    case XSD.decimal:
      return 'decimal'
    case XSD.float:
      return 'float'
    default:
      return INTEGER_BOUNDS.has(datatype) ? 'integer' : null
  }
}

const INTEGER_FORM = /^[+-]?\d+$/
const DECIMAL_FORM = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/
const DOUBLE_FORM = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]?INF|NaN)$/

/** The number of a lexical form, as the nearest double; null for a form that is invalid for the kind. */
export function numberOfLexical(form: string, kind: NumericKind): number | null {
  switch (kind) {
    case 'integer':
      return INTEGER_FORM.test(form) ? Number(form) + 0 : null
    case 'decimal':
      return DECIMAL_FORM.test(form) ? Number(form) + 0 : null
    default:
      if (!DOUBLE_FORM.test(form)) return null
      if (form.endsWith('INF')) return form.startsWith('-') ? -Infinity : Infinity
      return Number(form)
  }
}

/**
 * The number of a literal, as the nearest double; null for a form that is not in the lexical space of its datatype, such as 1200 for
 * xsd:byte, and for a datatype that is not numeric.
 */
export function numberOfLiteral(form: string, datatype: string): number | null {
  const kind = numericKind(datatype)
  const value = kind === null ? null : numberOfLexical(form, kind)
  return value !== null && isWithinBounds(form, value, datatype) ? value : null
}

/** True where the number of a form is within the bounds of its datatype. */
function isWithinBounds(form: string, value: number, datatype: string): boolean {
  if (datatype === XSD.integer) return true
  const [least, max] = INTEGER_BOUNDS.get(datatype) ?? [null, null]
  if (least === null && max === null) return true
  // A double is exact up to 2^53, and beyond 2^65 above all bounds.
  const exact =
    Number.isSafeInteger(value) || Math.abs(value) > 2 ** 65 ? value : BigInt(form.replace(/^\+/, ''))
  return (least === null || exact >= least) && (max === null || exact <= max)
}

const MAX_EXACT_DIGITS = 15

/** True where a double equals the lexical form of an integer or decimal, or identifies it among all others of its length. */
export function isExact(form: string, value: number, kind: NumericKind): boolean {
  if (kind === 'integer') return Number.isSafeInteger(value)
  if (kind !== 'decimal') return true
  let digits = 0
  let isLeading = true
  for (let at = 0; at < form.length; at++) {
    const code = form.charCodeAt(at)
    if (code < 0x30 || code > 0x39) continue
    if (isLeading && code === 0x30) continue
    isLeading = false
    digits++
  }
  return digits <= MAX_EXACT_DIGITS
}

/** The form of a number: plain decimal notation. */
export function numberForm(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return Object.is(value, -0) ? '-0' : String(value)
  if (Number.isFinite(value)) return numberText(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'INF' : '-INF'
}

const DATE = /^(-?(?:[1-9]\d{4,}|\d{4}))-(\d\d)-(\d\d)(Z|[+-]\d\d:\d\d)?$/
const DATE_TIME = /^(-?(?:[1-9]\d{4,}|\d{4}))-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?$/

/** A day or a moment in seconds since 1970-01-01T00:00:00Z; without a zone as if in UTC. */
export interface Moment {
  readonly seconds: number
  /** Minutes east of UTC; null without a zone. */
  readonly offset: number | null
}

/** The moment of a form of xsd:dateTime, or the beginning of the day of one of xsd:date; null where it is invalid. */
export function momentOfLexical(form: string, isDate: boolean): Moment | null {
  const parts = (isDate ? DATE : DATE_TIME).exec(form)
  if (parts === null) return null
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])]
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return null
  const days = daysSinceEpoch(year, month, day)
  const zone = isDate ? parts[4] : parts[8]
  const offset = zone === undefined ? null : offsetOf(zone)
  if (offset !== null && Number.isNaN(offset)) return null
  if (isDate) return { seconds: days * 86_400 - (offset ?? 0) * 60, offset }
  const [hours, minutes, whole] = [Number(parts[4]), Number(parts[5]), Number(parts[6])]
  const fraction = parts[7] === undefined ? 0 : Number(`0${parts[7]}`)
  const isMidnight = hours === 24 && minutes === 0 && whole === 0 && fraction === 0
  if ((hours > 23 && !isMidnight) || minutes > 59 || whole > 59) return null
  const seconds = days * 86_400 + hours * 3600 + minutes * 60 + whole - (offset ?? 0) * 60
  return { seconds: secondsWith(seconds, fraction), offset }
}

/** Whole seconds and a fraction as a double, which is never rounded up to the next second. */
export function secondsWith(whole: number, fraction: number): number {
  const [seconds, next] = [whole + fraction, whole + 1]
  return seconds < next ? seconds : next - Number.EPSILON * Math.max(1, Math.abs(next))
}

/** The fraction of a number of seconds in microseconds, 0 to 999,999. */
export function microsecondsOf(seconds: number): number {
  return Math.min(Math.round((seconds - Math.floor(seconds)) * 1e6), 999_999)
}

function offsetOf(zone: string): number {
  if (zone === 'Z') return 0
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4))]
  if (minutes > 59 || hours > 14 || (hours === 14 && minutes > 0)) return Number.NaN
  return (zone.startsWith('-') ? -1 : 1) * (60 * hours + minutes)
}

/** The form of a moment in UTC (`zone` Z) or without a zone, with at most six decimals. */
export function momentForm(seconds: number, zone: string): string {
  const whole = Math.floor(seconds)
  const days = Math.floor(whole / 86_400)
  const rest = whole - days * 86_400
  const fraction = microsecondsOf(seconds)
  const decimals = fraction === 0 ? '' : `.${String(fraction).padStart(6, '0').replace(/0+$/, '')}`
  const clock = `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`
  return `${dayForm(days)}T${clock}${decimals}${zone}`
}

/** The form of a day, counted from 1970-01-01. */
export function dayForm(days: number): string {
  const { year, month, day } = civilOf(days)
  const digits = String(Math.abs(year)).padStart(4, '0')
  return `${year < 0 ? '-' : ''}${digits}-${two(month)}-${two(day)}`
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value)
}

const POINT = /^POINT\((-?\d+(?:\.\d+)?) (-?\d+(?:\.\d+)?)\)$/

/** Longitude and latitude of a point as the direct mapping writes it; null for any other text. */
export function pointOf(form: string): readonly [longitude: number, latitude: number] | null {
  const parts = POINT.exec(form)
  if (parts === null) return null
  const point = [Number(parts[1]), Number(parts[2])] as const
  return pointForm(point[0], point[1]) === form ? point : null
}

export function pointForm(longitude: number, latitude: number): string {
  return `POINT(${numberText(longitude)} ${numberText(latitude)})`
}
