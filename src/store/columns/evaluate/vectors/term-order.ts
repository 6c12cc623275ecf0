import { daysSinceEpoch } from '../../../../model/time.ts'
import type { TripleTerm } from '../../../../rdf/term.ts'
import { XSD } from '../../../../rdf/vocab.ts'
import type { NumericKind } from '../../lexical.ts'
import { compareNumbers } from '../../sorting.ts'
import {
  addedSeconds,
  exactOf,
  negatedSeconds,
  scaledOf,
  scaleOf,
  secondsBetween,
  secondsOfValue,
} from './exact.ts'
import { type DurationValue, type MomentValue, type NumberValue, type TermValue, termValue } from './value.ts'

/** Compares texts by code points; UTF-16 order differs beyond the Basic Multilingual Plane. */
function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let at = 0; at < length; at++) {
    const [a, b] = [left.charCodeAt(at), right.charCodeAt(at)]
    if (a === b) continue
    const [isPairA, isPairB] = [a >= 0xd800 && a <= 0xdfff, b >= 0xd800 && b <= 0xdfff]
    return isPairA === isPairB ? a - b : isPairA ? 1 : -1
  }
  return left.length - right.length
}

/** The operator `=`; null is an error (SPARQL 1.1 Query, sections 17.3 and 17.4.1.7). */
export function valuesEqual(left: TermValue, right: TermValue): boolean | null {
  if (left.type === 'triple' || right.type === 'triple')
    return left.type === 'triple' && right.type === 'triple' ? triplesEqual(left.term, right.term) : false
  if (left.type === 'iri' || left.type === 'blank' || right.type === 'iri' || right.type === 'blank')
    return left.type === right.type && 'value' in left && 'value' in right && left.value === right.value
  if (left.type === 'other' || right.type === 'other') {
    // A text with a language equals no value of any datatype.
    if (isInLanguage(left) || isInLanguage(right)) return false
    const isSame =
      left.type === 'other' &&
      right.type === 'other' &&
      left.term.value === right.term.value &&
      left.term.datatype === right.term.datatype
    return isSame ? true : null
  }
  switch (left.type) {
    case 'number':
      return right.type === 'number' && compareNumeric(left, right) === 0
    case 'text':
      return (
        right.type === 'text' &&
        left.value === right.value &&
        left.language.toLowerCase() === right.language.toLowerCase()
      )
    case 'boolean':
      return right.type === 'boolean' && left.value === right.value
    case 'moment': {
      if (right.type !== 'moment' || primitiveOf(left) !== primitiveOf(right)) return false
      const order = compareMoments(left, right)
      return order === null ? null : order === 0
    }
    case 'duration':
      return right.type === 'duration' && left.months === right.months && compareDurations(left, right) === 0
  }
}

/**
 * A key of an IRI, a text or an integer: two values with keys are equal where these are, and otherwise not, without an error. Null
 * for any other value.
 */
export function equalityKey(value: TermValue): string | null {
  if (value.type === 'iri') return `<${value.value}`
  if (value.type === 'text') return `"${value.language.toLowerCase()}"${value.value}`
  return value.type === 'number' && value.kind === 'integer' && Number.isSafeInteger(value.value)
    ? `${value.value}`
    : null
}

/** Equality of subjects, predicates and objects (SPARQL 1.2 Query, section 17.4.1.7). */
function triplesEqual(left: TripleTerm, right: TripleTerm): boolean | null {
  const [subjects, predicates, objects] = [
    valuesEqual(termValue(left.subject), termValue(right.subject)),
    valuesEqual(termValue(left.predicate), termValue(right.predicate)),
    valuesEqual(termValue(left.object), termValue(right.object)),
  ]
  return subjects === false || predicates === false ? false : objects
}

function isInLanguage(value: TermValue): boolean {
  return value.type === 'text' && value.language !== ''
}

/**
 * The order of two values for `<` and similar operators: negative, 0, positive; NaN where all comparisons are false; null is an
 * error.
 */
export function orderOf(left: TermValue, right: TermValue): number | null {
  switch (left.type) {
    case 'number':
      return right.type === 'number' ? compareNumeric(left, right) : null
    case 'text':
      return right.type === 'text' && left.language.toLowerCase() === right.language.toLowerCase()
        ? compareText(left.value, right.value)
        : null
    case 'boolean':
      return right.type === 'boolean' ? Number(left.value) - Number(right.value) : null
    case 'moment':
      return right.type === 'moment' && primitiveOf(left) === primitiveOf(right)
        ? compareMoments(left, right)
        : null
    case 'duration':
      return right.type === 'duration' ? compareDurations(left, right) : null
    default:
      return null
  }
}

const PROMOTED: readonly NumericKind[] = ['integer', 'decimal', 'float', 'double']

/** The kind to which the operands of an operation are promoted (SPARQL 1.1 Query, section 17.3). */
export function commonNumericKind(left: NumericKind, right: NumericKind): NumericKind {
  return PROMOTED.indexOf(left) > PROMOTED.indexOf(right) ? left : right
}

/** NaN where one is NaN. As doubles or floats where one operand is one (XPath, numeric promotion), else exact. */
function compareNumeric(left: NumberValue, right: NumberValue): number {
  if (left.kind !== right.kind && commonNumericKind(left.kind, right.kind) === 'float') {
    const [a, b] = [Math.fround(left.value), Math.fround(right.value)]
    return a < b ? -1 : a > b ? 1 : a === b ? 0 : Number.NaN
  }
  return compareUnpromoted(left, right)
}

/** NaN where one is NaN. Unlike {@link compareNumeric} it tells a float from integers and decimals that are rounded to it. */
function compareUnpromoted(left: NumberValue, right: NumberValue): number {
  const [a, b] = [left.value, right.value]
  if (a < b || a > b) return a < b ? -1 : 1
  if (a !== b) return Number.NaN
  if (left.kind === 'double' || right.kind === 'double' || left.kind === 'float' || right.kind === 'float')
    return 0
  if (left.kind === 'integer' && right.kind === 'integer') {
    if (left.exact === undefined && right.exact === undefined) return 0
    return compareBig(exactOf(left), exactOf(right))
  }
  const places = Math.max(scaleOf(left), scaleOf(right))
  return compareBig(scaledOf(left, places), scaledOf(right, places))
}

function compareBig(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0
}

const FOURTEEN_HOURS = 14 * 3600

/** Null where the order depends on a missing time zone (XML Schema 1.1, part 2, section D.2). */
function compareMoments(left: MomentValue, right: MomentValue): number | null {
  const difference = secondsBetween(left, right)
  if ((left.offset === null) === (right.offset === null)) return difference
  return Math.abs(difference) > FOURTEEN_HOURS ? difference : null
}

/** The months, counted from year 0, to whose beginnings durations are added (XML Schema 1.1, part 2, section 3.3.6.1). */
const STARTS = [12 * 1696 + 8, 12 * 1697 + 1, 12 * 1903 + 2, 12 * 1903 + 6] as const

/** Null where the order depends on when the durations begin. */
function compareDurations(left: DurationValue, right: DurationValue): number | null {
  const seconds = addedSeconds(secondsOfValue(left), negatedSeconds(secondsOfValue(right)))
  const orders = STARTS.map(start => {
    const days = firstOf(start + left.months) - firstOf(start + right.months)
    const difference = addedSeconds(86_400 * days, seconds)
    return difference > 0 ? 1 : difference < 0 ? -1 : 0
  })
  return orders.every(order => order === orders[0]) ? (orders[0] as number) : null
}

/** The first day of a month, counted from year 0, in days since 1970-01-01. */
function firstOf(month: number): number {
  const year = Math.floor(month / 12)
  return daysSinceEpoch(year, month - 12 * year + 1, 1)
}

/** The primitive datatype of a moment, whose values are compared: a stamp is an xsd:dateTime with a zone. */
export function primitiveOf({ datatype }: MomentValue): string {
  return datatype === XSD.dateTimeStamp ? XSD.dateTime : datatype
}

/** The ranks of kinds of values in the order of results: blank nodes, IRIs, literals, triple terms. */
const RANKS: Readonly<Record<TermValue['type'], number>> = {
  blank: 1,
  iri: 2,
  number: 3,
  boolean: 4,
  moment: 5,
  text: 6,
  duration: 7,
  other: 8,
  triple: 9,
}

/** Unbound sorts below all values. */
function rankOf(value: TermValue | null): number {
  return value === null ? 0 : RANKS[value.type]
}

/**
 * The order of results (SPARQL 1.1 Query, section 15.1), total over all values; for kinds of literals whose order the
 * recommendation leaves open, that of the parts of a dictionary.
 */
export function compareForOrder(left: TermValue | null, right: TermValue | null): number {
  const ranks = rankOf(left) - rankOf(right)
  if (ranks !== 0 || left === null || right === null) return ranks
  switch (left.type) {
    case 'iri':
    case 'blank':
      return compareText(left.value, (right as typeof left).value)
    case 'number': {
      const order = compareUnpromoted(left, right as NumberValue)
      return Number.isNaN(order) ? compareNumbers(left.value, (right as NumberValue).value) : order
    }
    case 'boolean':
      return Number(left.value) - Number((right as typeof left).value)
    case 'moment': {
      const other = right as MomentValue
      const [own, others] = [primitiveOf(left), primitiveOf(other)]
      if (own !== others) return compareText(own, others)
      return secondsBetween(left, other)
    }
    case 'text': {
      const other = right as typeof left
      return compareText(left.value, other.value) || compareText(left.language, other.language)
    }
    case 'duration': {
      const other = right as DurationValue
      return compareDurations(left, other) ?? left.months - other.months
    }
    case 'other': {
      const other = right as typeof left
      return (
        compareText(left.term.value, other.term.value) || compareText(left.term.datatype, other.term.datatype)
      )
    }
    case 'triple': {
      const [a, b] = [left.term, (right as typeof left).term]
      return (
        compareForOrder(termValue(a.subject), termValue(b.subject)) ||
        compareForOrder(termValue(a.predicate), termValue(b.predicate)) ||
        compareForOrder(termValue(a.object), termValue(b.object))
      )
    }
  }
}
