import { numberText, shortestSingle } from '../../../../model/number.ts'
import type { Literal, Term, TripleTerm } from '../../../../rdf/term.ts'
import { RDF, XSD } from '../../../../rdf/vocab.ts'
import { momentOfLexical, type NumericKind, numberOfLiteral, numericKind } from '../../lexical.ts'
import { DECIMAL_PLACES, decimalForm, fromInteger, parseDecimal, toDouble } from './decimal.ts'

/** A number. Integers beyond 2^53 and decimals also have their exact value. */
export interface NumberValue {
  readonly type: 'number'
  readonly kind: NumericKind
  /** The value, or the double nearest to it. */
  readonly value: number
  /** The integer itself; a decimal in units of its places. Absent for doubles and floats, and for safe integers. */
  readonly exact?: bigint
  /** Of an exact decimal: the decimal places of its unit; 18 where absent. */
  readonly places?: number
  readonly term?: Literal
}

export interface TextValue {
  readonly type: 'text'
  readonly value: string
  /** Empty for xsd:string. */
  readonly language: string
}

/** xsd:dateTime, xsd:date, xsd:time and the parts of dates: missing components are filled in for comparison. */
export interface MomentValue {
  readonly type: 'moment'
  readonly datatype: string
  /** Seconds since 1970-01-01T00:00:00, in UTC where there is a zone. */
  readonly seconds: number
  /** Minutes east of UTC; null without a zone. */
  readonly offset: number | null
  readonly term: Literal
}

export interface DurationValue {
  readonly type: 'duration'
  readonly datatype: string
  readonly months: number
  /** The seconds, or the double nearest to them. */
  readonly seconds: number
  /** In units of 10^-18; absent where the seconds are a safe integer. */
  readonly exact?: bigint
  readonly term: Literal
}

/** The value of an expression: a term with its parsed value (SPARQL 1.1 Query, section 17.1). Null is an error or unbound. */
export type TermValue =
  | { readonly type: 'iri'; readonly value: string }
  | { readonly type: 'blank'; readonly value: string }
  | TextValue
  | NumberValue
  | { readonly type: 'boolean'; readonly value: boolean; readonly term?: Literal }
  | MomentValue
  | DurationValue
  /** A literal of another datatype, or one whose text is invalid for its datatype. */
  | { readonly type: 'other'; readonly term: Literal }
  | { readonly type: 'triple'; readonly term: TripleTerm }

export const TRUE: TermValue = { type: 'boolean', value: true }
export const FALSE: TermValue = { type: 'boolean', value: false }

export const truth = (value: boolean): TermValue => (value ? TRUE : FALSE)
export const text = (value: string, language = ''): TermValue => ({ type: 'text', value, language })

/** An integer within ±2^53. */
export const integerTerm = (value: number): NumberValue => ({ type: 'number', kind: 'integer', value })
export const double = (value: number): NumberValue => ({ type: 'number', kind: 'double', value })
export const float = (value: number): NumberValue => ({
  type: 'number',
  kind: 'float',
  value: Math.fround(value),
})

export function bigInteger(value: bigint): NumberValue {
  const near = Number(value)
  return Number.isSafeInteger(near)
    ? integerTerm(near)
    : { type: 'number', kind: 'integer', value: near, exact: value }
}

/** A computed decimal: the nearest double is computed on first use. */
class ComputedDecimal implements NumberValue {
  readonly type = 'number'
  readonly kind = 'decimal'
  readonly exact: bigint
  readonly places: number
  private near: number | null = null

  constructor(exact: bigint, places: number) {
    this.exact = exact
    this.places = places
  }

  get value(): number {
    this.near ??= toDouble(this.exact, this.places)
    return this.near
  }
}

/** @param exact in units of 10^-18, or of other decimal places */
export const decimal = (exact: bigint, places = DECIMAL_PLACES): NumberValue =>
  new ComputedDecimal(exact, places)

/** A decimal of at most 15 digits, or an integer within ±2^53: the nearest double identifies it. */
export const shortDecimal = (value: number): NumberValue => ({ type: 'number', kind: 'decimal', value })

/** The value of a term. */
export function termValue(term: Term): TermValue {
  if (term.type === 'triple') return { type: 'triple', term }
  if (term.type !== 'literal') return term
  const { value, datatype, language } = term
  if (datatype === XSD.string) return { type: 'text', value, language: '' }
  if (language !== '') return { type: 'text', value, language }
  const kind = numericKind(datatype)
  if (kind !== null) return numberValue(term, kind)
  switch (datatype) {
    case XSD.boolean:
      if (value === 'true' || value === '1') return { type: 'boolean', value: true, term }
      return value === 'false' || value === '0'
        ? { type: 'boolean', value: false, term }
        : { type: 'other', term }
    case XSD.dateTime:
    case XSD.dateTimeStamp:
    case XSD.date: {
      const moment = momentOfLexical(value, datatype === XSD.date)
      return moment === null ? { type: 'other', term } : { type: 'moment', datatype, ...moment, term }
    }
    case XSD.time:
    case XSD.gYear:
    case XSD.gYearMonth:
    case XSD.gMonth:
    case XSD.gMonthDay:
    case XSD.gDay:
      return partialMoment(term)
    case XSD.duration:
    case XSD.dayTimeDuration:
    case XSD.yearMonthDuration:
      return durationValue(term)
    default:
      return { type: 'other', term }
  }
}

function numberValue(term: Literal, kind: NumericKind): TermValue {
  const value = numberOfLiteral(term.value, term.datatype)
  if (value === null) return { type: 'other', term }
  if (kind === 'integer' && !Number.isSafeInteger(value))
    return { type: 'number', kind, value, exact: BigInt(term.value.replace(/^\+/, '')), term }
  return { type: 'number', kind, value: kind === 'float' ? Math.fround(value) : value, term }
}

const ZONE = '(Z|[+-]\\d\\d:\\d\\d)?$'
/** The forms of times and of parts of dates, and what completes each to a moment, so that those of one datatype can be compared. */
const PARTIAL: ReadonlyMap<string, readonly [form: RegExp, before: string, after: string]> = new Map([
  [XSD.time, [new RegExp(`^(\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?)${ZONE}`), '1972-12-31T', '']],
  [XSD.gYear, [new RegExp(`^(-?\\d{4,})${ZONE}`), '', '-01-01T00:00:00']],
  [XSD.gYearMonth, [new RegExp(`^(-?\\d{4,}-\\d\\d)${ZONE}`), '', '-01T00:00:00']],
  [XSD.gMonth, [new RegExp(`^--(\\d\\d)${ZONE}`), '1972-', '-01T00:00:00']],
  [XSD.gMonthDay, [new RegExp(`^--(\\d\\d-\\d\\d)${ZONE}`), '1972-', 'T00:00:00']],
  [XSD.gDay, [new RegExp(`^---(\\d\\d)${ZONE}`), '1972-12-', 'T00:00:00']],
])

function partialMoment(term: Literal): TermValue {
  const { datatype, value } = term
  const [form, before, after] = PARTIAL.get(datatype) ?? []
  const [, own, zone = ''] = form?.exec(value) ?? []
  if (own === undefined) return { type: 'other', term }
  // 24:00:00 is the beginning of the day (XML Schema 1.1, part 2, section 3.3.8).
  const begun = own.replace(/^24:00:00(?:\.0+)?$/, '00:00:00')
  const moment = momentOfLexical(`${before}${begun}${after}${zone}`, false)
  return moment === null ? { type: 'other', term } : { type: 'moment', datatype, ...moment, term }
}

const DURATION =
  /^(-?)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

function durationValue(term: Literal): TermValue {
  const parts = DURATION.exec(term.value)
  if (parts === null || term.value.endsWith('P')) return { type: 'other', term }
  const number = (at: number) => Number(parts[at] ?? 0)
  const hasMonths = parts[2] !== undefined || parts[3] !== undefined
  const hasTime = parts.slice(4).some(part => part !== undefined)
  const isWrong =
    (term.datatype === XSD.dayTimeDuration && hasMonths) ||
    (term.datatype === XSD.yearMonthDuration && hasTime)
  if (isWrong) return { type: 'other', term }
  const sign = parts[1] === '-' ? -1 : 1
  const months = sign * (12 * number(2) + number(3)) + 0
  // Beyond 2^53 months it is only compared with itself.
  if (!Number.isSafeInteger(months)) return { type: 'other', term }
  const seconds = sign * (86_400 * number(4) + 3600 * number(5) + 60 * number(6) + number(7)) + 0
  const duration = { type: 'duration', datatype: term.datatype, months, seconds, term } as const
  if (Number.isSafeInteger(seconds) && !term.value.includes('.')) return duration
  const [days, hours, minutes] = [4, 5, 6].map(at => BigInt(parts[at] ?? 0)) as [bigint, bigint, bigint]
  const whole = fromInteger(60n * (60n * (24n * days + hours) + minutes))
  const exact = BigInt(sign) * (whole + parseDecimal(parts[7] ?? '0'))
  return exact === fromInteger(BigInt(Math.round(seconds))) && Number.isSafeInteger(seconds)
    ? duration
    : { ...duration, exact }
}

/** The term of a value: for data as written, else in canonical form. */
export function termOf(value: TermValue): Term {
  switch (value.type) {
    case 'iri':
    case 'blank':
      return value
    case 'text':
      return textTerm(value)
    case 'number':
      return value.term ?? literalOf(numberFormOf(value), NUMBER_TYPES[value.kind])
    case 'boolean':
      return value.term ?? literalOf(String(value.value), XSD.boolean)
    case 'moment':
    case 'duration':
    case 'other':
    case 'triple':
      return value.term
  }
}

function textTerm({ value, language }: TextValue): Literal {
  const datatype = language === '' ? XSD.string : language.includes('--') ? RDF.dirLangString : RDF.langString
  return { type: 'literal', value, datatype, language }
}

export function literalOf(value: string, datatype: string): Literal {
  return { type: 'literal', value, datatype, language: '' }
}

export const NUMBER_TYPES: Readonly<Record<NumericKind, string>> = {
  integer: XSD.integer,
  decimal: XSD.decimal,
  float: XSD.float,
  double: XSD.double,
}

/** The lexical form of a computed number. */
export function numberFormOf({ kind, value, exact, places }: NumberValue): string {
  switch (kind) {
    case 'integer':
      return exact === undefined ? String(value) : String(exact)
    case 'decimal':
      return exact === undefined ? numberText(value) : decimalForm(exact, places)
    case 'float':
      return doubleForm(value, shortestSingle(value))
    case 'double':
      return doubleForm(value, value)
  }
}

function doubleForm(value: number, shortest: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? 'INF' : '-INF'
  return Object.is(value, -0) ? '-0' : numberText(shortest)
}

/** The text of a value as STR gives it; null for a blank node and a triple. */
export function stringOf(value: TermValue): string | null {
  switch (value.type) {
    case 'iri':
      return value.value
    case 'blank':
    case 'triple':
      return null
    case 'text':
      return value.value
    case 'number':
      return value.term?.value ?? numberFormOf(value)
    case 'boolean':
      return value.term?.value ?? String(value.value)
    default:
      return value.term.value
  }
}
