import { XSD } from '../../../rdf/vocab.ts'
import { type AlgebraExpression, isConstantExpression, operandsOf } from '../../../sparql/algebra.ts'
import type { TextPart, ValuePart } from '../dictionary-parts.ts'
import { dateField } from './date-fields.ts'
import type { ColumnDomain } from './domain.ts'
import { columnCall } from './functions/extensions.ts'

/**
 * For an expression that reads nothing of a text but its first characters, as `UCASE(SUBSTR(?name, 1, 1))` does, or nothing of a
 * moment but its day or its month, as `xsd:date(?time)`: by code the first of the neighbouring values of a column for which the expression is
 * the same. Null for others.
 */
export function firstAlike(expression: AlgebraExpression, { dictionary }: ColumnDomain): Uint32Array | null {
  const characters = charactersRead(expression)
  const periodOf = momentPeriod(expression)
  if (characters === null && periodOf === null) return null
  const first = new Uint32Array(dictionary.count + 1)
  for (let code = 0; code < first.length; code++) first[code] = code
  for (const part of dictionary.parts)
    if (part.kind === 'text' && characters !== null) joinAlike(part, characters, first)
    else if (part.kind === 'moment' && periodOf !== null) joinPeriods(part, periodOf, first)
  return first
}

type PeriodReader = (part: ValuePart) => ((seconds: number) => number) | null

/** The number of the day, or of a longer period, of a moment that an expression reads nothing else of; null where it reads more. */
function momentPeriod(expression: AlgebraExpression): PeriodReader | null {
  if (readsDay(expression)) return () => seconds => Math.floor(seconds / SECONDS_A_DAY)
  const call = columnCall(expression)
  const period = call?.called.periodOfMoments
  if (call === null || period === undefined) return null
  return ({ datatypes }) => period(call.constants, datatypes[0] === XSD.date)
}

/** Moments without forms of their own are in UTC, and dates without a zone. */
function joinPeriods(part: ValuePart, periodOf: PeriodReader, first: Uint32Array): void {
  const { first: start, count, values, types, forms } = part
  const period = types !== null || forms !== null ? null : periodOf(part)
  if (period === null || count === 0) return
  let before = period(values[0] as number)
  for (let place = 1; place < count; place++) {
    const own = period(values[place] as number)
    if (own === before) first[start + place] = first[start + place - 1] as number
    before = own
  }
}

const SECONDS_A_DAY = 86_400

/** Characters of the text of a moment that say its day, at least. */
const CHARACTERS_A_DAY = 10

/** True where an expression reads nothing of a moment but its day. */
function readsDay(expression: AlgebraExpression): boolean {
  if (expression.type === 'variable') return false
  if (expression.type === 'function' && expression.iri === XSD.date) {
    const [operand, ...others] = expression.arguments
    return operand?.type === 'variable' && others.length === 0
  }
  const field = dateField(expression)
  if (field !== null) return field.isOfDay
  if (expression.type === 'builtin' && expression.name === 'SUBSTR') {
    const characters = charactersRead(expression)
    return characters !== null && characters <= CHARACTERS_A_DAY
  }
  if (isConstantExpression(expression)) return true
  return isCombined(expression) && operandsOf(expression).every(readsDay)
}

/** True for an expression of other expressions that says no more of a variable than they do. */
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
    // A byte that continues a character is 10xxxxxx.
    if ((isEnd || (byte & 0xc0) !== 0x80) && read++ === characters) return true
    if (isEnd || otherFrom + at === otherTo) return isEnd && otherFrom + at === otherTo
    if (byte !== bytes[otherFrom + at]) return false
  }
}

/** The number of characters of its variable's text that an expression reads; null where it reads more of it. */
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

/** A constant integer from 0 on; null for anything else. */
function wholeNumber(expression: AlgebraExpression | undefined): number | null {
  const isInteger = expression?.type === 'literal' && expression.datatype === XSD.integer
  return isInteger && /^\d{1,9}$/.test(expression.value) ? Number(expression.value) : null
}
