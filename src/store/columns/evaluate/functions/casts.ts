import { numberText } from '../../../../model/number.ts'
import { XSD } from '../../../../rdf/vocab.ts'
import { numberOfLexical } from '../../lexical.ts'
import * as decimals from '../vectors/decimal.ts'
import { exactOf, scaledOf, scaleOf, secondsOfValue } from '../vectors/exact.ts'
import {
  bigInteger,
  type DurationValue,
  decimal,
  double,
  float,
  integerTerm,
  literalOf,
  type MomentValue,
  type NumberValue,
  numberFormOf,
  stringOf,
  type TermValue,
  type TextValue,
  termValue,
  text,
  truth,
} from '../vectors/value.ts'
import { durationOf, localSeconds, momentValue } from './arithmetic.ts'

/** The constructor functions of XML Schema (SPARQL 1.1 Query, section 17.5), by the IRI of their datatype. */
export const CASTS: ReadonlyMap<string, (value: TermValue) => TermValue | null> = new Map([
  [XSD.string, castString],
  [XSD.boolean, castBoolean],
  [XSD.double, (value: TermValue) => castDouble(value, double)],
  [XSD.float, (value: TermValue) => castDouble(value, float)],
  [XSD.decimal, castDecimal],
  [XSD.integer, castInteger],
  [XSD.dateTime, (value: TermValue) => castMoment(value, XSD.dateTime)],
  [XSD.date, (value: TermValue) => castMoment(value, XSD.date)],
  [XSD.time, (value: TermValue) => castForm(value, XSD.time)],
  [XSD.duration, (value: TermValue) => castForm(value, XSD.duration)],
  [XSD.dayTimeDuration, (value: TermValue) => castForm(value, XSD.dayTimeDuration)],
  [XSD.yearMonthDuration, (value: TermValue) => castForm(value, XSD.yearMonthDuration)],
])

/** The form of a text without a language and without the white space around it that XML Schema collapses; null for others. */
function formOf({ value, language }: TextValue): string | null {
  if (language !== '') return null
  const isSpace = (at: number) => ' \t\n\r'.includes(value.charAt(at))
  let [from, to] = [0, value.length]
  while (from < to && isSpace(from)) from++
  while (to > from && isSpace(to - 1)) to--
  return value.slice(from, to)
}

/** Values with a canonical form in it (XPath and XQuery Functions 3.1, section 19.1.2). */
function castString(value: TermValue): TermValue | null {
  if (value.type === 'number') return text(canonicalNumber(value))
  if (value.type === 'boolean') return text(String(value.value))
  const form =
    value.type === 'moment' || value.type === 'duration' ? stringOf(canonical(value)) : stringOf(value)
  return form === null ? null : text(form)
}

function canonicalNumber(value: NumberValue): string {
  switch (value.kind) {
    case 'integer':
      return numberFormOf(value)
    case 'decimal':
      return decimals.decimalForm(scaledOf(value, scaleOf(value)), scaleOf(value))
    case 'float':
    case 'double':
      return floatingForm(numberFormOf({ type: 'number', kind: value.kind, value: value.value }))
  }
}

/** The form of a float or a double, with an exponent where it is below 1e-6 or not below 1e6 (section 19.1.2.2). */
function floatingForm(plain: string): string {
  const size = Math.abs(Number(plain))
  if (!(size > 0) || (size >= 1e-6 && size < 1e6)) return plain
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(plain) ?? []
  const digits = `${whole}${fraction}`
  const first = digits.search(/[1-9]/)
  if (first < 0) return plain
  const rest = digits.slice(first + 1).replace(/0+$/, '')
  return `${sign}${digits[first]}.${rest === '' ? '0' : rest}E${whole.length - 1 - first}`
}

function castBoolean(value: TermValue): TermValue | null {
  switch (value.type) {
    case 'boolean':
      return truth(value.value)
    case 'number':
      return truth(value.value !== 0 && !Number.isNaN(value.value))
    case 'text': {
      const form = formOf(value)
      if (form === 'true' || form === '1') return truth(true)
      return form === 'false' || form === '0' ? truth(false) : null
    }
    default:
      return null
  }
}

function castDouble(value: TermValue, make: (value: number) => NumberValue): TermValue | null {
  switch (value.type) {
    case 'number':
      return make(value.value)
    case 'boolean':
      return make(value.value ? 1 : 0)
    case 'text': {
      const form = formOf(value)
      const number = form === null ? null : numberOfLexical(form, 'double')
      return number === null ? null : make(number)
    }
    default:
      return null
  }
}

const WHOLE_FORM = /^[+-]?\d+$/
const MAX_FORM = 400

function castDecimal(value: TermValue): TermValue | null {
  switch (value.type) {
    case 'number':
      if (value.kind === 'decimal') return value
      if (value.kind === 'integer') return decimal(decimals.fromInteger(exactOf(value)))
      if (!Number.isFinite(value.value)) return null
      return decimalOfForm(plainForm(value.value))
    case 'boolean':
      return decimal(decimals.fromInteger(value.value ? 1n : 0n))
    case 'text': {
      const form = formOf(value)
      return form === null ? null : decimalOfForm(form)
    }
    default:
      return null
  }
}

function decimalOfForm(form: string): TermValue | null {
  if (form.length > MAX_FORM || numberOfLexical(form, 'decimal') === null) return null
  const places = decimals.placesOfForm(form)
  return decimal(decimals.parseDecimal(form, places), places)
}

/** A double without an exponent. */
function plainForm(value: number): string {
  const short = String(value)
  return short.includes('e') ? numberText(value) : short
}

function castInteger(value: TermValue): TermValue | null {
  switch (value.type) {
    case 'number':
      if (value.kind === 'integer')
        return value.exact === undefined ? integerTerm(value.value) : bigInteger(value.exact)
      if (value.kind === 'decimal')
        return bigInteger(decimals.truncate(scaledOf(value, scaleOf(value)), scaleOf(value)))
      return Number.isFinite(value.value) ? bigInteger(BigInt(Math.trunc(value.value))) : null
    case 'boolean':
      return integerTerm(value.value ? 1 : 0)
    case 'text': {
      const form = formOf(value)
      return form !== null && form.length <= MAX_FORM && WHOLE_FORM.test(form)
        ? bigInteger(BigInt(form.replace(/^\+/, '')))
        : null
    }
    default:
      return null
  }
}

function castMoment(value: TermValue, datatype: string): TermValue | null {
  if (value.type === 'text') return castForm(value, datatype)
  if (value.type !== 'moment') return null
  if (value.datatype === datatype) return value
  if (value.datatype !== XSD.date && value.datatype !== XSD.dateTime && value.datatype !== XSD.dateTimeStamp)
    return null
  return momentValue(localSeconds(value), value.offset, datatype)
}

/** The value in its canonical form. */
function canonical(value: MomentValue | DurationValue): TermValue {
  const { datatype } = value
  if (value.type === 'duration') return durationOf(value.months, secondsOfValue(value), datatype)
  if (CLOCKED.has(datatype) || datatype === XSD.date)
    return momentValue(localSeconds(value), value.offset, datatype)
  return termValue(literalOf(value.term.value.replace(/[+-]00:00$/, 'Z'), datatype))
}

const CLOCKED: ReadonlySet<string> = new Set([XSD.dateTime, XSD.dateTimeStamp, XSD.time])

/** A value of a datatype from the text of another one; null where the text is invalid for the datatype. */
function castForm(value: TermValue, datatype: string): TermValue | null {
  if (value.type === 'duration' || value.type === 'moment') {
    if (value.datatype === datatype) return value
    return value.type === 'duration' ? durationAs(value, datatype) : partOf(value, datatype)
  }
  const form = value.type === 'text' ? formOf(value) : null
  if (form === null) return null
  const cast = termValue(literalOf(form, datatype))
  return cast.type === 'moment' || cast.type === 'duration' ? canonical(cast) : null
}

/** A duration as another type: the parts that this lacks are dropped (XPath and XQuery Functions 3.1, section 19.1.4). */
function durationAs(value: DurationValue, datatype: string): TermValue | null {
  switch (datatype) {
    case XSD.duration:
      return durationOf(value.months, secondsOfValue(value), datatype)
    case XSD.yearMonthDuration:
      return durationOf(value.months, 0, datatype)
    case XSD.dayTimeDuration:
      return durationOf(0, secondsOfValue(value), datatype)
    default:
      return null
  }
}

/** The time of a moment. */
function partOf(value: MomentValue, datatype: string): TermValue | null {
  if (datatype !== XSD.time || !CLOCKED.has(value.datatype)) return null
  return momentValue(localSeconds(value), value.offset, XSD.time)
}
