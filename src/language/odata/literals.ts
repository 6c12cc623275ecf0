import { lookup } from '../../model/lookup.ts'
import { parseWkt } from '../../model/wkt.ts'
import type { LiteralType, ODataLiteral, Span } from './ast.ts'
import { odataFault } from './faults.ts'

/** The value of a literal, or the reason in words why it is invalid. */
type Reading = Pick<ODataLiteral, 'of' | 'value' | 'text'> | string

const INT32 = 2n ** 31n
const INT64 = 2n ** 63n

const SUFFIXES: Readonly<Record<string, LiteralType>> = {
  l: 'Edm.Int64',
  m: 'Edm.Decimal',
  d: 'Edm.Double',
  f: 'Edm.Double',
}

/**
 * The literal of a token of the grammar (URL Conventions 5.1.1.14.1; OData 3.0 URL Conventions, "Primitive literals"). Refuses a
 * text that the token allows but the type does not, such as the 32nd of a month.
 *
 * @param kind name of the token
 */
export function odataLiteral(option: string, kind: string, text: string, span: Span): ODataLiteral {
  const reading = read(kind, text)
  if (typeof reading !== 'string') return { type: 'literal', ...reading, span }
  const found = text.length > 60 ? `${text.slice(0, 60)}…` : text
  throw odataFault(option, `${found} ${reading}`, span)
}

function read(kind: string, text: string): Reading {
  switch (kind) {
    case 'Number':
      return number(text)
    case 'String':
      return { of: 'Edm.String', value: unquoted(text), text }
    case 'Date':
      return readingOf(['Edm.Date', date, 'is no date'], text, text)
    case 'Time':
      return readingOf(['Edm.TimeOfDay', timeOfDay, 'is no time of day'], text, text)
    case 'DateTime':
      return readingOf(['Edm.DateTimeOffset', moment, 'is no date with a time'], text, text)
    case 'Guid':
      return { of: 'Edm.Guid', value: text, text }
    case 'Prefixed':
      return prefixed(text)
    default:
      throw new Error(`${kind} is no literal`)
  }
}

/** A type of literals, the value of a text of it, undefined for any other text, and what is said of such a text. */
type LiteralReader = readonly [
  of: LiteralType,
  read: (inner: string) => string | number | undefined,
  complaint: string,
]

function readingOf([of, readValue, complaint]: LiteralReader, inner: string, text: string): Reading {
  const value = readValue(inner)
  return value === undefined ? complaint : { of, value, text }
}

function number(text: string): Reading {
  const suffix = lookup(SUFFIXES, text.slice(-1).toLowerCase())
  const digits = suffix === undefined ? text : text.slice(0, -1)
  const whole = /^[+-]?\d+$/.test(digits)
  if (suffix === 'Edm.Int64' && !whole) return 'is no whole number'
  return {
    of: suffix ?? (whole ? integerType(digits) : /e/i.test(digits) ? 'Edm.Double' : 'Edm.Decimal'),
    value: Number(digits),
    text: digits,
  }
}

/** The smallest type that can represent a whole number, else a decimal. */
function integerType(digits: string): LiteralType {
  if (digits.length > 20) return 'Edm.Decimal'
  const exact = BigInt(digits.replace('+', ''))
  if (exact >= -INT32 && exact < INT32) return 'Edm.Int32'
  return exact >= -INT64 && exact < INT64 ? 'Edm.Int64' : 'Edm.Decimal'
}

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const HEXADECIMAL = /^(?:[0-9a-fA-F]{2})*$/
const BASE64 = /^(?:[\w-]{4})*(?:[\w-]{2}[AEIMQUYcgkosw048]=?|[\w-][AQgw](?:==)?)?$/
const MEMBER = /^(?:[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]{0,127}|[+-]?\d{1,19})$/u

const matching = (form: RegExp) => (text: string) => (form.test(text) ? text : undefined)
const SHAPE: LiteralReader = ['Edm.Geography', shape, 'is no geometry of degrees in well-known text']

/** The literals with prefixes, by these. */
const PREFIXED: Readonly<Record<string, LiteralReader>> = {
  duration: ['Edm.Duration', durationSeconds, 'is no duration of days, hours and seconds'],
  datetime: ['Edm.DateTimeOffset', text => moment(text, 'Z'), 'is no date with a time'],
  datetimeoffset: ['Edm.DateTimeOffset', moment, 'is no date with a time and a zone'],
  time: ['Edm.TimeOfDay', text => timeOfDay(text) ?? clock(durationSeconds(text)), 'is no time of day'],
  guid: ['Edm.Guid', matching(GUID), 'is no GUID'],
  x: ['Edm.Binary', matching(HEXADECIMAL), 'is no binary value'],
  binary: ['Edm.Binary', text => matching(HEXADECIMAL)(text) ?? matching(BASE64)(text), 'is no binary value'],
  geography: SHAPE,
  geometry: SHAPE,
}

const isEnumeration = (text: string) => text.split(',').every(member => MEMBER.test(member))
const ENUMERATION: LiteralReader = [
  'Edm.Enum',
  text => (isEnumeration(text) ? text : undefined),
  'names no members of an enumeration',
]

function prefixed(text: string): Reading {
  const quote = text.indexOf("'")
  const prefix = text.slice(0, quote).toLowerCase()
  const reader = lookup(PREFIXED, prefix) ?? (prefix.includes('.') ? ENUMERATION : undefined)
  if (reader === undefined) return 'has a prefix that no type of literals has'
  return readingOf(reader, unquoted(text.slice(quote)), text)
}

const DATE = /^-?(?:0\d{3}|[1-9]\d{3,})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:\.\d{1,12})?)?$/
const ZONE = /(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

function date(text: string): string | undefined {
  return DATE.test(text) ? text : undefined
}

/** A time with its seconds, which may be omitted. */
function timeOfDay(text: string): string | undefined {
  if (!TIME.test(text)) return undefined
  return text.length === 5 ? `${text}:00` : text
}

/** @param assumed zone of a text without one, whose time may then be missing, too; without it such a text is refused */
function moment(text: string, assumed?: string): string | undefined {
  const written = ZONE.exec(text)?.[0] ?? ''
  const zone = written === '' || !/t/i.test(text) ? assumed : written
  const local = zone === written ? text.slice(0, text.length - written.length) : text
  const parts = local.split(/t/i)
  if (zone === undefined || parts.length > 2) return undefined
  const day = date(parts[0] ?? '')
  const time = timeOfDay(parts[1] ?? (assumed === undefined ? '' : '00:00'))
  return day === undefined || time === undefined ? undefined : `${day}T${time}${zone.toUpperCase()}`
}

const DURATION = /^([+-]?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i

/** The seconds of a duration such as `P1DT2H` (ABNF, durationValue), undefined for an invalid text. */
export function durationSeconds(text: string): number | undefined {
  const match = DURATION.exec(text)
  if (match === null) return undefined
  const [days = 0, hours = 0, minutes = 0, rest = 0] = match.slice(2).map(part => Number(part ?? 0))
  const total = ((days * 24 + hours) * 60 + minutes) * 60 + rest
  return match[1] === '-' && total !== 0 ? -total : total
}

/** A time of OData 3.0, which is written as the duration since midnight. */
function clock(total: number | undefined): string | undefined {
  if (total === undefined || total < 0 || total >= 86_400) return undefined
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const fraction = /\.\d+$/.exec((total % 60).toFixed(9).replace(/\.?0+$/, ''))?.[0] ?? ''
  return `${two(total / 3600)}:${two((total / 60) % 60)}:${two(total % 60)}${fraction}`
}

/** The reference systems of degrees that equal WGS 84 at the precision of maps, and 0, which names none. */
const DEGREES = /^SRID=0*(?:0|4326|4258|4269|4171);/i

/** Well-known text without its reference system, which many clients omit. */
function shape(text: string): string | undefined {
  const wkt = text.replace(DEGREES, '')
  const isEmpty = /^Multi(?:Point|LineString|Polygon)\(\)$/i.test(wkt)
  return isEmpty || parseWkt(wkt) !== undefined ? wkt : undefined
}

/** The characters of a string literal: without the outer quotes, two quotes are one. */
function unquoted(text: string): string {
  return text.slice(1, -1).replaceAll("''", "'")
}
