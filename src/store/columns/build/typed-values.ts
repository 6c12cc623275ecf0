import { daysOf, daysSinceEpoch } from '../../../model/calendar.ts'
import { XSD } from '../../../rdf/vocab.ts'
import type { DictionaryPart } from '../format.ts'
import {
  dayForm,
  isExact,
  isWithinBounds,
  momentForm,
  momentOfLexical,
  numberForm,
  numberOfLiteral,
  numericKind,
} from '../lexical.ts'
import { sortedNumbers } from '../sort-numbers.ts'
import type { SectionSink } from './columns-file.ts'
import type { LiteralEnding } from './literal-table.ts'
import type { ValueLog } from './value-log.ts'

/** Parses the form of a value as a number; NaN where the form is not the one in which the number is written. */
type FormReader = (bytes: Uint8Array, start: number, end: number) => number

/** A column whose values are all of one datatype and in canonical form. */
export interface TypedColumn {
  readonly subjects: Uint32Array
  readonly codes: Uint32Array
  readonly part: DictionaryPart
}

/**
 * Builds the single part of a dictionary of values that numbers represent: they are sorted as numbers, and their texts are not
 * stored. Null for a column that has other values.
 */
export function typedColumn(
  log: ValueLog,
  endings: readonly LiteralEnding[],
  sink: SectionSink,
): TypedColumn | null {
  const reader = log.reader()
  if (!reader.next() || reader.ending === 0) return null
  const { ending } = reader
  const { datatype } = endings[ending] as LiteralEnding
  const read = formReader(datatype)
  if (read === null) return null
  const subjects = new Uint32Array(log.entries)
  const values = new Float64Array(log.entries)
  let at = 0
  do {
    if (reader.ending !== ending) return null
    const value = read(reader.bytes, reader.start, reader.end)
    if (Number.isNaN(value)) return null
    subjects[at] = reader.subject
    values[at++] = value
  } while (reader.next())
  const { codes, distinct } = numbered(values)
  const part: DictionaryPart =
    datatype === XSD.boolean
      ? { kind: 'boolean', count: distinct.length, values: sink.add(Uint8Array.from(distinct)), forms: null }
      : {
          kind: datatype === XSD.date || datatype === XSD.dateTime ? 'moment' : 'number',
          count: distinct.length,
          values: sink.add(distinct),
          datatypes: [datatype],
          types: null,
          forms: null,
          exact: true,
          min: distinct[0] as number,
          max: distinct[distinct.length - 1] as number,
        }
  return { subjects, codes, part }
}

/** The distinct values in order, and for each value its rank among them, from 1. */
function numbered(values: Float64Array) {
  const order = sortedNumbers(values)
  const codes = new Uint32Array(values.length)
  let count = 0
  let last = Number.NaN
  for (let at = 0; at < order.length; at++) {
    const place = order[at] as number
    const value = values[place] as number
    if (!Object.is(value, last)) count += 1
    last = value
    codes[place] = count
  }
  const distinct = new Float64Array(count)
  for (let at = 0; at < values.length; at++) distinct[(codes[at] as number) - 1] = values[at] as number
  return { codes, distinct }
}

function formReader(datatype: string): FormReader | null {
  switch (datatype) {
    case XSD.boolean:
      return readBoolean
    case XSD.date:
      return readDay
    case XSD.dateTime:
      return readMoment
    default: {
      const kind = numericKind(datatype)
      if (kind === null) return null
      return (bytes, start, end) => {
        const plain = plainNumber(bytes, start, end)
        if (kind === 'integer' ? Number.isInteger(plain) : !Number.isNaN(plain))
          return isWithinBounds('', plain, datatype) ? plain : Number.NaN
        const form = textOf(bytes, start, end)
        const value = numberOfLiteral(form, datatype)
        const isOwn = value !== null && numberForm(value) === form && isExact(form, value, kind)
        return isOwn && Number.isFinite(value) ? value : Number.NaN
      }
    }
  }
}

function readBoolean(bytes: Uint8Array, start: number, end: number): number {
  if (isText(bytes, start, end, TRUE)) return 1
  return isText(bytes, start, end, FALSE) ? 0 : Number.NaN
}

const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')

function isText(bytes: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  if (end - start !== text.length) return false
  for (let at = 0; at < text.length; at++) if (bytes[start + at] !== text[at]) return false
  return true
}

const DAY_LENGTH = 'YYYY-MM-DD'.length
/** Seconds of the beginning of a day without a zone. */
function readDay(bytes: Uint8Array, start: number, end: number): number {
  const plain = end - start === DAY_LENGTH ? 86_400 * plainDay(bytes, start) : Number.NaN
  if (!Number.isNaN(plain)) return plain
  const form = textOf(bytes, start, end)
  const moment = momentOfLexical(form, true)
  return moment !== null && dayForm(Math.floor(moment.seconds / 86_400)) === form
    ? moment.seconds
    : Number.NaN
}

/** Seconds of a moment in UTC. */
function readMoment(bytes: Uint8Array, start: number, end: number): number {
  const plain = plainMoment(bytes, start, end)
  if (!Number.isNaN(plain)) return plain
  const form = textOf(bytes, start, end)
  const moment = momentOfLexical(form, false)
  return moment !== null && momentForm(moment.seconds, 'Z') === form ? moment.seconds : Number.NaN
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
}

/**
 * Values of lexical forms that are parsed from bytes, without a string: the plain forms of nearly all values. Other forms are NaN
 * or null here, and parsed by lexical.ts; the form that a value is written in (`numberForm`, `dayForm`, `momentForm`,
 * `pointForm`) is always the one that it was parsed from.
 */

const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
/** Decimal digits that a double always represents, so that parsing and writing them round-trips. */
const SAFE_DIGITS = 15
const POWERS = Float64Array.from({ length: SAFE_DIGITS + 1 }, (_, at) => 10 ** at)

/**
 * The number of digits with at most one point, without unnecessary zeros: the form in which it is written. NaN for any other
 * form.
 */
function plainNumber(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start] === MINUS
  const first = isNegative ? start + 1 : start
  if (end === first || end - first > SAFE_DIGITS + 1) return Number.NaN
  let value = 0
  let point = -1
  for (let at = first; at < end; at++) {
    const byte = bytes[at] as number
    if (byte >= ZERO && byte <= NINE) value = 10 * value + (byte - ZERO)
    else if (byte === POINT && point < 0) point = at
    else return Number.NaN
  }
  if (point < 0) {
    if (end - first > SAFE_DIGITS || (bytes[first] === ZERO && (end - first > 1 || isNegative)))
      return Number.NaN
    return isNegative ? -value : value
  }
  const hasNeedless = bytes[end - 1] === ZERO || (bytes[first] === ZERO && point !== first + 1)
  if (point === first || point === end - 1 || hasNeedless) return Number.NaN
  // Both are exact, so their quotient is the double nearest to the decimal.
  const number = value / (POWERS[end - 1 - point] as number)
  return isNegative ? -number : number
}

const POINT_HEAD = Buffer.from('POINT(')
const SPACE = 0x20
const CLOSE = 0x29

/** Longitude and latitude of `POINT(lon lat)`. */
export function plainPoint(
  bytes: Uint8Array,
  start: number,
  end: number,
): readonly [longitude: number, latitude: number] | null {
  for (let at = 0; at < POINT_HEAD.length; at++) if (bytes[start + at] !== POINT_HEAD[at]) return null
  const first = start + POINT_HEAD.length
  let space = first
  while (space < end && bytes[space] !== SPACE) space++
  if (bytes[end - 1] !== CLOSE || space >= end - 1) return null
  const longitude = plainNumber(bytes, first, space)
  const latitude = plainNumber(bytes, space + 1, end - 1)
  return Number.isNaN(longitude) || Number.isNaN(latitude) ? null : [longitude, latitude]
}

const FRACTION_AT = 'YYYY-MM-DDTHH:MM:SS'.length
const MAX_FRACTION = 6
/** Range in seconds within which a double distinguishes microseconds. */
const MICROSECONDS_WITHIN = 2 ** 32

/** Seconds since 1970-01-01T00:00:00Z of a moment in UTC. */
function plainMoment(bytes: Uint8Array, start: number, end: number): number {
  const isPlain =
    end - start > FRACTION_AT &&
    end - start <= FRACTION_AT + 2 + MAX_FRACTION &&
    bytes[start + 10] === 0x54 &&
    bytes[start + 13] === 0x3a &&
    bytes[start + 16] === 0x3a &&
    bytes[end - 1] === 0x5a
  if (!isPlain) return Number.NaN
  const hours = twoDigits(bytes, start + 11)
  const minutes = twoDigits(bytes, start + 14)
  const seconds = twoDigits(bytes, start + 17)
  if (!(hours < 24 && minutes < 60 && seconds < 60)) return Number.NaN
  const whole = 86_400 * plainDay(bytes, start) + 3600 * hours + 60 * minutes + seconds
  const decimals = end - start - FRACTION_AT - 2
  if (decimals < 0) return whole
  if (bytes[start + FRACTION_AT] !== POINT || decimals === 0 || bytes[end - 2] === ZERO) return Number.NaN
  let fraction = 0
  for (let at = start + FRACTION_AT + 1; at < end - 1; at++) {
    const digit = (bytes[at] as number) - ZERO
    if (digit < 0 || digit > 9) return Number.NaN
    fraction = 10 * fraction + digit
  }
  return Math.abs(whole) < MICROSECONDS_WITHIN ? whole + fraction / (POWERS[decimals] as number) : Number.NaN
}

/** Days since 1970-01-01 of `YYYY-MM-DD`, from the year 1000 on. */
function plainDay(bytes: Uint8Array, start: number): number {
  if (bytes[start + 4] !== MINUS || bytes[start + 7] !== MINUS || bytes[start] === ZERO) return Number.NaN
  const year = 100 * twoDigits(bytes, start) + twoDigits(bytes, start + 2)
  const month = twoDigits(bytes, start + 5)
  const day = twoDigits(bytes, start + 8)
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month)
  return isDay ? daysSinceEpoch(year, month, day) : Number.NaN
}

/** NaN unless both bytes are digits. */
function twoDigits(bytes: Uint8Array, at: number): number {
  const [tens, ones] = [(bytes[at] as number) - ZERO, (bytes[at + 1] as number) - ZERO]
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? 10 * tens + ones : Number.NaN
}
