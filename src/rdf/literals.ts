import { lookup } from '../model/lookup.ts'
import { numberText, shortestSingle } from '../model/number.ts'
import { daysOf } from '../model/time.ts'
import { XSD } from './vocab.ts'

/**
 * The valid literals of a datatype (XML Schema 1.1, part 2) and how the store represents them: `007` of an xsd:int is stored as
 * `7` of xsd:integer. Text that is already in that form is returned unchanged.
 */
export interface LiteralDatatype {
  /** The lexical form that the store holds; null for a text that is invalid for the datatype. */
  readonly canonical: (text: string) => string | null
  readonly stored: string
}

/** The rules of a datatype; null for one without rules here: any text may be a literal of it. */
export function literalType(datatype: string): LiteralDatatype | null {
  if (!datatype.startsWith(XSD_NAMESPACE)) return null
  return lookup(TYPES, datatype.slice(XSD_NAMESPACE.length)) ?? null
}

/** True for an IRI in the namespace of XML Schema that names no datatype. */
export function isUnknownDatatype(datatype: string): boolean {
  return datatype.startsWith(XSD_NAMESPACE) && !DATATYPES.includes(datatype.slice(XSD_NAMESPACE.length))
}

const XSD_NAMESPACE = XSD.string.slice(0, -'string'.length)

const ZONE = '(Z|[+-](?:(?:0\\d|1[0-3]):[0-5]\\d|14:00))?'
const YEAR = '(-?(?:[1-9]\\d{3,}|0\\d{3}))'
const MONTH = '(0[1-9]|1[0-2])'
const DAY = '(0[1-9]|[12]\\d|3[01])'
const CLOCK = '(?:([01]\\d|2[0-3]):([0-5]\\d):([0-5]\\d)(\\.\\d+)?|(24):00:00(?:\\.0+)?)'

const DATE = new RegExp(`^${YEAR}-${MONTH}-${DAY}${ZONE}$`)
const DATE_TIME = new RegExp(`^${YEAR}-${MONTH}-${DAY}T${CLOCK}${ZONE}$`)
const TIME = new RegExp(`^${CLOCK}${ZONE}$`)
const DURATION =
  /^(-?)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(\.\d+)?S)?)?$/

const LONG = 2n ** 63n
/** Bounds of the integers, inclusive; null for none. */
const INTEGERS: Readonly<Record<string, readonly [bigint | null, bigint | null]>> = {
  integer: [null, null],
  long: [-LONG, LONG - 1n],
  int: [-(2n ** 31n), 2n ** 31n - 1n],
  short: [-32768n, 32767n],
  byte: [-128n, 127n],
  nonNegativeInteger: [0n, null],
  positiveInteger: [1n, null],
  nonPositiveInteger: [null, 0n],
  negativeInteger: [null, -1n],
  unsignedLong: [0n, 2n ** 64n - 1n],
  unsignedInt: [0n, 2n ** 32n - 1n],
  unsignedShort: [0n, 65535n],
  unsignedByte: [0n, 255n],
}

const TYPES: Readonly<Record<string, LiteralDatatype>> = {
  ...Object.fromEntries(
    Object.entries(INTEGERS).map(([name, bounds]) => [
      name,
      { canonical: (text: string) => integerText(text, bounds), stored: XSD.integer },
    ]),
  ),
  decimal: type('decimal', decimalText),
  double: type('double', text => floatText(text, value => value)),
  float: type('float', text => floatText(text, Math.fround)),
  boolean: type('boolean', booleanText),
  date: type('date', text => dayText(DATE.exec(text), text)),
  dateTime: type('dateTime', dateTimeText),
  dateTimeStamp: {
    canonical: text => ((DATE_TIME.exec(text)?.[9] ?? '') !== '' ? dateTimeText(text) : null),
    stored: XSD.dateTime,
  },
  time: type('time', text => {
    const parts = TIME.exec(text)
    return parts === null ? null : clockText(parts.slice(1, 6)) + zoneText(parts[6])
  }),
  gYear: pattern('gYear', new RegExp(`^${YEAR}${ZONE}$`)),
  gYearMonth: pattern('gYearMonth', new RegExp(`^${YEAR}-${MONTH}${ZONE}$`)),
  gMonth: pattern('gMonth', new RegExp(`^--${MONTH}${ZONE}$`)),
  gDay: pattern('gDay', new RegExp(`^---${DAY}${ZONE}$`)),
  gMonthDay: type('gMonthDay', text => {
    const parts = new RegExp(`^--${MONTH}-${DAY}${ZONE}$`).exec(text)
    if (parts === null || Number(parts[2]) > daysOf(4, Number(parts[1]))) return null
    return withZone(text, parts[3])
  }),
  duration: type('duration', text => durationText(text, true, true)),
  yearMonthDuration: type('yearMonthDuration', text => durationText(text, true, false)),
  dayTimeDuration: type('dayTimeDuration', text => durationText(text, false, true)),
  hexBinary: type('hexBinary', text => (/^(?:[0-9A-Fa-f]{2})*$/.test(text) ? text : null)),
  base64Binary: type('base64Binary', text =>
    /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text.replace(/[ \t\n\r]/g, ''))
      ? text
      : null,
  ),
}

/** The datatypes of integers with their bounds, inclusive; null for none. */
export const INTEGER_BOUNDS: ReadonlyMap<string, readonly [least: bigint | null, max: bigint | null]> =
  new Map(Object.entries(INTEGERS).map(([name, bounds]) => [XSD_NAMESPACE + name, bounds]))

/** Every datatype of XML Schema that RDF 1.1 includes. */
const DATATYPES: readonly string[] = [
  ...Object.keys(TYPES),
  ...['string', 'anyURI', 'normalizedString', 'token', 'language', 'Name', 'NCName', 'NMTOKEN'],
]

function type(name: string, canonical: (text: string) => string | null): LiteralDatatype {
  return { canonical, stored: XSD_NAMESPACE + name }
}

/** A type in which only the zone has two forms; it is the last group of the pattern. */
function pattern(name: string, form: RegExp): LiteralDatatype {
  return type(name, text => {
    const parts = form.exec(text)
    return parts === null ? null : withZone(text, parts.at(-1))
  })
}

function integerText(text: string, [least, max]: readonly [bigint | null, bigint | null]): string | null {
  if (least === null && max === null && /^(?:0|[1-9]\d{0,14})$/.test(text)) return text
  if (!/^[+-]?\d+$/.test(text)) return null
  if (text.length > 40) return least === null && max === null ? text : null
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  if ((least !== null && value < least) || (max !== null && value > max)) return null
  return value >= -LONG && value < LONG ? String(value) : text
}

function decimalText(text: string): string | null {
  const parts = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))$/.exec(text)
  if (parts === null) return null
  const whole = (parts[2] ?? '0').replace(/^0+/, '')
  const fraction = stripRight(parts[3] ?? parts[4] ?? '')
  // The store has 128 bits with 18 decimals; beyond them it stores the text unchanged.
  if (fraction.length > 18 || whole.length > 20) return text
  const value = (whole === '' ? '0' : whole) + (fraction === '' ? '' : `.${fraction}`)
  return parts[1] === '-' && value !== '0' ? `-${value}` : value
}

function stripRight(digits: string): string {
  let end = digits.length
  while (end > 0 && digits[end - 1] === '0') end--
  return digits.slice(0, end)
}

function floatText(text: string, round: (value: number) => number): string | null {
  if (/^[+-]?INF$/.test(text)) return text.replace('+', '')
  if (text === 'NaN') return text
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return null
  const exact = Number(text)
  const value = round(exact)
  if (!Number.isFinite(value)) return value > 0 ? 'INF' : '-INF'
  if (Object.is(value, -0)) return '-0'
  return numberText(round === Math.fround ? shortestSingle(value) : value)
}

function booleanText(text: string): string | null {
  switch (text) {
    case 'true':
    case '1':
      return 'true'
    case 'false':
    case '0':
      return 'false'
    default:
      return null
  }
}

/** A text that begins with a day; its zone is the last group. */
function dayText(parts: RegExpExecArray | null, text: string): string | null {
  if (parts === null || Number(parts[3]) > daysOf(Number(parts[1]), Number(parts[2]))) return null
  return withZone(text, parts.at(-1))
}

function dateTimeText(text: string): string | null {
  const parts = DATE_TIME.exec(text)
  if (parts === null) return null
  const [year, month, day] = parts.slice(1, 4).map(Number) as [number, number, number]
  if (day > daysOf(year, month)) return null
  const date = parts[8] === undefined ? `${parts[1]}-${parts[2]}-${parts[3]}` : nextDay(year, month, day)
  return `${date}T${clockText(parts.slice(4, 9))}${zoneText(parts[9])}`
}

function nextDay(year: number, month: number, day: number): string {
  const last = day === daysOf(year, month)
  const [nextYear, nextMonth] = last ? (month === 12 ? [year + 1, 1] : [year, month + 1]) : [year, month]
  const digits = String(Math.abs(nextYear)).padStart(4, '0')
  const two = (value: number) => String(value).padStart(2, '0')
  return `${nextYear < 0 ? '-' : ''}${digits}-${two(nextMonth)}-${two(last ? 1 : day + 1)}`
}

/** Hours, minutes, seconds, fraction; or 24 as the fifth part. */
function clockText([hours, minutes, seconds, fraction]: readonly (string | undefined)[]): string {
  if (hours === undefined) return '00:00:00'
  const trimmed = stripRight(fraction ?? '')
  return `${hours}:${minutes}:${seconds}${trimmed === '.' ? '' : trimmed}`
}

function zoneText(zone: string | undefined): string {
  return zone === '+00:00' || zone === '-00:00' ? 'Z' : (zone ?? '')
}

function withZone(text: string, zone: string | undefined): string {
  return zone === undefined ? text : text.slice(0, -zone.length) + zoneText(zone)
}

function durationText(text: string, hasMonths: boolean, hasTime: boolean): string | null {
  const parts = DURATION.exec(text)
  if (parts === null || text.endsWith('P') || text.length > 60) return null
  const number = (index: number) => BigInt(parts[index] ?? '0')
  if (!hasMonths && (parts[2] ?? parts[3]) !== undefined) return null
  if (!hasTime && parts.slice(4).some(part => part !== undefined)) return null
  const months = 12n * number(2) + number(3)
  const seconds = 86_400n * number(4) + 3600n * number(5) + 60n * number(6) + number(7)
  const fraction = stripRight(parts[8] ?? '')
  if (months >= LONG || seconds >= LONG || fraction.length > 19) return text
  const some = (value: bigint, unit: string) => (value === 0n ? '' : `${value}${unit}`)
  const rest = fraction === '.' ? '' : fraction
  const second = seconds % 60n === 0n && rest === '' ? '' : `${seconds % 60n}${rest}S`
  const time = some((seconds / 3600n) % 24n, 'H') + some((seconds / 60n) % 60n, 'M') + second
  const date = some(months / 12n, 'Y') + some(months % 12n, 'M') + some(seconds / 86_400n, 'D')
  if (date === '' && time === '') return hasTime ? 'PT0S' : 'P0M'
  return `${parts[1]}P${date}${time === '' ? '' : `T${time}`}`
}

/**
 * A well-formed language tag (RFC 5646, section 2.1), validated as the store does. The irregular grandfathered tags are included.
 */
const EXTENSIONS = '(?:-[0-9A-WY-Z](?:-[A-Z0-9]{2,8})+)*'
const PRIVATE_USE = 'X(?:-[A-Z0-9]{1,8})+'
const LANGUAGE = '(?:[A-Z]{2,3}(?:-[A-Z]{3}){0,3}|[A-Z]{4,8})'
const VARIANTS = '(?:-(?:[A-Z0-9]{5,8}|[0-9][A-Z0-9]{3}))*'
const IRREGULAR = [
  ...['en-GB-oed', 'i-ami', 'i-bnn', 'i-default', 'i-enochian', 'i-hak', 'i-klingon', 'i-lux', 'i-mingo'],
  ...['i-navajo', 'i-pwn', 'i-tao', 'i-tay', 'i-tsu', 'sgn-BE-FR', 'sgn-BE-NL', 'sgn-CH-DE', 'art-lojban'],
  ...['cel-gaulish', 'no-bok', 'no-nyn', 'zh-guoyu', 'zh-hakka', 'zh-min', 'zh-min-nan', 'zh-xiang'],
].join('|')
const LANGUAGE_TAG = new RegExp(
  `^(?:${IRREGULAR}|${PRIVATE_USE}|${LANGUAGE}(?:-[A-Z]{4})?(?:-(?:[A-Z]{2}|\\d{3}))?${VARIANTS}${EXTENSIONS}(?:-${PRIVATE_USE})?)$`,
  'i',
)

/** True for a language tag that the store accepts. */
export function isLanguageTag(text: string): boolean {
  return LANGUAGE_TAG.test(text)
}
