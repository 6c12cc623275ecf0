import { type ComparisonOperator, FLIPPED, isOrdered } from '../../../../model/comparison.ts'
import { civilOf } from '../../../../model/time.ts'
import { XSD } from '../../../../rdf/vocab.ts'
import { type AlgebraExpression, isConstantExpression, operandsOf } from '../../../../sparql/algebra.ts'
import { compareBytes } from '../../bytes.ts'
import type { TextPart, ValuePart } from '../../dictionary-parts.ts'
import type { Texts } from '../../dictionary-texts.ts'
import { byDay, byMonth, dateField } from '../functions/date-fields.ts'
import { columnCall } from '../functions/extensions.ts'
import type { ColumnDomain } from '../vectors/domain.ts'
import { termValue } from '../vectors/value.ts'
import { isComparison } from './ranges.ts'
import { FAILS, HOLDS } from './truths.ts'

/**
 * For an expression that only depends on the first characters of a text, as `UCASE(SUBSTR(?name, 1, 1))` does, or on the part
 * before a delimiter, as `STRBEFORE(?name, " ")`, or on a part of a moment, as `xsd:date(?time)`: by code the first of the values
 * of a column for which the expression is the same, as far as that is known. Null for others.
 */
export function firstAlike(expression: AlgebraExpression, { dictionary }: ColumnDomain): Uint32Array | null {
  const characters = charactersRead(expression)
  const delimiter = characters === null ? delimiterRead(expression) : null
  const periodOf = momentPeriod(expression)
  if (characters === null && delimiter === null && periodOf === null) return null
  const first = new Uint32Array(dictionary.count + 1)
  for (let code = 0; code < first.length; code++) first[code] = code
  for (const part of dictionary.parts)
    if (part.kind === 'text' && characters !== null) joinAlike(part, characters, first)
    else if (part.kind === 'text' && delimiter !== null) joinBefore(part, Buffer.from(delimiter), first)
    else if (part.kind === 'moment' && periodOf !== null) joinPeriods(part, periodOf, first)
  return first
}

type PeriodReader = (part: ValuePart) => ((seconds: number) => number) | null

/** The number of the period of a moment on which an expression depends; null where it depends on more. */
function momentPeriod(expression: AlgebraExpression): PeriodReader | null {
  const unit = unitRead(expression)
  // Moments without separate forms are in UTC, and dates have no zone.
  if (unit !== null)
    return ({ forms }) => (forms === null ? (PERIODS[unit] as (seconds: number) => number) : null)
  const call = columnCall(expression)
  const period = call?.called.periodOfMoments
  if (call === null || period === undefined) return null
  return ({ datatypes }) => period(call.constants, datatypes[0] === XSD.date)
}

function joinPeriods(part: ValuePart, periodOf: PeriodReader, first: Uint32Array): void {
  const { first: start, count, values, types } = part
  const period = types === null ? periodOf(part) : null
  if (period === null) return
  const known = new Map<number, number>()
  let [last, code] = [Number.NaN, 0]
  for (let place = 0; place < count; place++) {
    const own = period(values[place] as number)
    if (own !== last) {
      last = own
      code = known.get(own) ?? start + place
      known.set(own, code)
    }
    first[start + place] = code
  }
}

/** Units of the calendar, each within the previous one: the numbers of the year, of the month and of the day of a moment. */
const PERIODS = [
  byMonth(day => civilOf(day).year),
  byMonth(day => {
    const { year, month } = civilOf(day)
    return 12 * year + month
  }),
  byDay(day => day),
] as const
const [YEAR, MONTH, DAY] = [0, 1, 2] as const

/** Length of the prefix of a moment's text that identifies each unit. */
const CHARACTERS = [4, 7, 10]

/** The smallest unit of a moment on which an expression depends; null where that changes within a day. */
function unitRead(expression: AlgebraExpression): number | null {
  if (expression.type === 'variable') return null
  if (expression.type === 'function' && expression.iri === XSD.date) {
    const [operand, ...others] = expression.arguments
    return operand?.type === 'variable' && others.length === 0 ? DAY : null
  }
  const field = dateField(expression)
  if (field !== null) return !field.isOfDay ? null : (UNITS.get(field.name) ?? DAY)
  if (expression.type === 'builtin' && expression.name === 'SUBSTR') {
    const characters = charactersRead(expression)
    const unit = characters === null ? -1 : CHARACTERS.findIndex(max => characters <= max)
    return unit < 0 ? null : unit
  }
  if (isConstantExpression(expression)) return YEAR
  if (!isCombined(expression)) return null
  let smallest: number = YEAR
  for (const operand of operandsOf(expression)) {
    const unit = unitRead(operand)
    if (unit === null) return null
    smallest = Math.max(smallest, unit)
  }
  return smallest
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ['YEAR', YEAR],
  ['MONTH', MONTH],
])

/** True for an expression that only depends on a variable through its operands. */
function isCombined({ type }: AlgebraExpression): boolean {
  return type === 'binary' || type === 'not' || type === 'in' || type === 'builtin'
}

function joinAlike(
  { first: start, count, tags, texts }: TextPart,
  characters: number,
  first: Uint32Array,
): void {
  const { bytes, offsets } = texts
  for (let place = 1; place < count; place++) {
    if (tags !== null && tags[place] !== tags[place - 1]) continue
    const [before, own, end] = [offsets[place - 1], offsets[place], offsets[place + 1]] as [
      number,
      number,
      number,
    ]
    if (beginAlike(bytes, before, own, own, end, characters))
      first[start + place] = first[start + place - 1] as number
  }
}

/** Joins texts that are equal up to their first delimiter, or that have none. */
function joinBefore(
  { first: start, count, tags, texts }: TextPart,
  delimiter: Buffer,
  first: Uint32Array,
): void {
  const { offsets } = texts
  const bytes = Buffer.from(texts.bytes.buffer, texts.bytes.byteOffset, texts.bytes.byteLength)
  /** Bytes up to the end of the first delimiter of the previous text; 0 for none. */
  let length = 0
  for (let place = 0; place < count; place++) {
    const [from, to] = [offsets[place] as number, offsets[place + 1] as number]
    const before = place === 0 ? 0 : (offsets[place - 1] as number)
    const isSameTag = place > 0 && (tags === null || tags[place] === tags[place - 1])
    const isAlike =
      length > 0 &&
      to - from >= length &&
      compareBytes(bytes, before, before + length, bytes, from, from + length) === 0
    if (!isAlike) {
      const known = length
      length = endOfFirst(bytes, from, to, delimiter)
      if (known > 0 || length > 0 || !isSameTag) continue
    }
    if (isSameTag) first[start + place] = first[start + place - 1] as number
  }
}

/** Bytes from the beginning of a text to the end of its first delimiter; 0 where it has none. */
function endOfFirst(bytes: Buffer, from: number, to: number, delimiter: Buffer): number {
  const at = bytes.subarray(from, to).indexOf(delimiter)
  return at < 0 ? 0 : at + delimiter.length
}

/** True where two texts have the same first characters. */
function beginAlike(
  bytes: Uint8Array,
  from: number,
  to: number,
  otherFrom: number,
  otherTo: number,
  characters: number,
): boolean {
  let read = 0
  for (let at = 0; ; at++) {
    const isEnd = from + at === to
    const byte = isEnd ? 0 : (bytes[from + at] as number)
    // A continuation byte of UTF-8 is 10xxxxxx.
    if ((isEnd || (byte & 0xc0) !== 0x80) && read++ === characters) return true
    if (isEnd || otherFrom + at === otherTo) return isEnd && otherFrom + at === otherTo
    if (byte !== bytes[otherFrom + at]) return false
  }
}

/** The number of leading characters of its variable's text on which an expression depends; null where it depends on more. */
function charactersRead(expression: AlgebraExpression): number | null {
  switch (expression.type) {
    case 'iri':
    case 'literal':
      return 0
    case 'not':
      return charactersRead(expression.operand)
    case 'binary':
      return maxOf([expression.left, expression.right])
    case 'in':
      return maxOf([expression.operand, ...expression.items])
    case 'builtin': {
      const [text, start, length, ...others] = expression.arguments
      if (expression.name !== 'SUBSTR' || text === undefined || !isText(text))
        return maxOf(expression.arguments)
      const [from, count] = [wholeNumber(start), wholeNumber(length)]
      return from === null || count === null || others.length > 0 ? null : Math.max(0, from + count - 1)
    }
    default:
      return null
  }
}

/**
 * The delimiter before whose first occurrence is all of the variable's text on which an expression depends; null where it depends
 * on more.
 */
function delimiterRead(expression: AlgebraExpression): string | null {
  if (expression.type === 'builtin' && expression.name === 'STRBEFORE') {
    const [text, delimiter] = expression.arguments
    if (text === undefined || !isText(text) || delimiter?.type !== 'literal') return null
    return delimiter.value === '' || delimiter.language !== '' ? null : delimiter.value
  }
  if (!isCombined(expression)) return null
  const parts = operandsOf(expression).filter(operand => !isConstantExpression(operand))
  const [first, ...others] = parts.map(delimiterRead)
  return first != null && others.every(other => other === first) ? first : null
}

function maxOf(expressions: readonly AlgebraExpression[]): number | null {
  let characters = 0
  for (const expression of expressions) {
    const own = charactersRead(expression)
    if (own === null) return null
    characters = Math.max(characters, own)
  }
  return characters
}

/** True for a variable or its text. */
export function isText(expression: AlgebraExpression): boolean {
  if (expression.type === 'variable') return true
  const [operand] = expression.type === 'builtin' && expression.name === 'STR' ? expression.arguments : []
  return operand?.type === 'variable'
}

/** A constant non-negative integer; null for anything else. */
function wholeNumber(expression: AlgebraExpression | undefined): number | null {
  const isInteger = expression?.type === 'literal' && expression.datatype === XSD.integer
  return isInteger && /^\d{1,9}$/.test(expression.value) ? Number(expression.value) : null
}

/** A comparison of the number of a text's characters with a constant. */
export interface LengthTest {
  readonly operator: ComparisonOperator
  readonly length: number
}

/** Parses an expression as such a comparison; null for any other. */
export function readLengthTest(expression: AlgebraExpression): LengthTest | null {
  if (expression.type !== 'binary' || !isComparison(expression.operator)) return null
  const { left, right, operator } = expression
  const isLeft = left.type === 'builtin'
  const [called, constant] = isLeft ? [left, right] : [right, left]
  if (called.type !== 'builtin' || called.name !== 'STRLEN' || constant.type !== 'literal') return null
  const [operand] = called.arguments
  const value = termValue(constant)
  if (operand === undefined || !isText(operand) || value.type !== 'number') return null
  return { operator: isLeft ? operator : FLIPPED[operator], length: value.value }
}

/** Evaluates such a comparison for all texts of a part. */
export function markLengths(
  { operator, length }: LengthTest,
  { texts, first, count }: TextPart,
  table: Uint8Array,
): void {
  for (let place = 0; place < count; place++)
    table[first + place] = isOrdered(operator, charactersAt(texts, place) - length) ? HOLDS : FAILS
}

function charactersAt({ bytes, offsets }: Texts, place: number): number {
  const to = offsets[place + 1] as number
  let characters = 0
  // A continuation byte of UTF-8 is 10xxxxxx.
  for (let at = offsets[place] as number; at < to; at++)
    characters += ((bytes[at] as number) & 0xc0) === 0x80 ? 0 : 1
  return characters
}

/** STRLEN of the values of a column of texts, by code, NaN for no value; null for an expression other than STRLEN of the variable. */
export function lengthReader(
  expression: AlgebraExpression,
  { dictionary }: ColumnDomain,
): ((code: number) => number) | null {
  if (expression.type !== 'builtin' || expression.name !== 'STRLEN') return null
  const [operand] = expression.arguments
  const part = dictionary.onlyPart()
  if (operand === undefined || !isText(operand) || part?.kind !== 'text') return null
  const { texts, first } = part
  return code => (code < first ? Number.NaN : charactersAt(texts, code - first))
}
