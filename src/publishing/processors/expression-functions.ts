import type { Argument, ClauseName, Expression, Span } from '../../language/odsql/ast.ts'
import { clauseFault } from '../../language/odsql/faults.ts'
import { DATE_PARTS } from '../../language/odsql/vocabulary.ts'
import { type FormatPart, formatMoment, localMoment } from '../../model/date-format.ts'
import { fold, isLastCharacter, tokens } from '../../model/search.ts'
import { dateBounds, parseDate, parsePattern } from '../../query/date-literals.ts'
import { converterOf, toText } from '../../sources/typing/convert.ts'
import type { RowData } from '../../sources/typing/fields.ts'

type Call = Extract<Expression, { type: 'call' }>

/**
 * The functions of steps. They have the names of those of ODSQL (`language/odsql/vocabulary.ts`), but take any value as a text or a
 * date.
 */
const STEP_FUNCTIONS = ['length', 'lower', 'ifnull', 'date_format', ...DATE_PARTS] as const

const KNOWN = STEP_FUNCTIONS.join(', ')

/** Compiles a function call whose value depends on the row alone. */
export function compileCall(call: Call, scope: ExpressionScope): ProcessorValue {
  const { span } = call
  const operand = (at: number) => scope.compile(expressionAt(call, at, scope))
  const name = STEP_FUNCTIONS.find(known => known === call.name)
  if (name === undefined)
    throw refused(scope, `${call.name} is no function of a step; known are ${KNOWN}`, span)
  const count = name === 'ifnull' || name === 'date_format' ? 2 : 1
  if (call.arguments.length !== count)
    throw refused(scope, `${name} takes ${count} argument${count === 1 ? '' : 's'}`, span)
  const first = operand(0)
  switch (name) {
    case 'length':
      return row => {
        const text = processorText(first(row))
        return text === null ? null : [...text].length
      }
    case 'lower':
      return row => processorText(first(row))?.toLowerCase() ?? null
    case 'ifnull': {
      const second = operand(1)
      return row => first(row) ?? second(row)
    }
    case 'date_format': {
      const pattern = expressionAt(call, 1, scope)
      if (pattern.type !== 'string') throw refused(scope, 'a pattern in quotes is expected', pattern.span)
      const parts = parsePattern(pattern.value)
      if ('unknown' in parts) throw refused(scope, `date_format has no symbol ${parts.unknown}`, pattern.span)
      return row => formatted(first(row), parts)
    }
    default:
      return row => partOf(first(row), name)
  }
}

function expressionAt(call: Call, at: number, scope: ExpressionScope): Expression {
  const argument = call.arguments[at]
  if (
    argument === undefined ||
    ['star', 'distinct', 'wildcard', 'quantity', 'named', 'steps'].includes(argument.type)
  )
    throw refused(scope, `${call.name} takes a value`, argument?.span ?? call.span)
  return argument as Expression
}

/** True for the functions that search in a text. */
export function isTextTest(name: string): name is 'search' | 'suggest' | 'startswith' {
  return name === 'search' || name === 'suggest' || name === 'startswith'
}

/** Compiles `like`, `search`, `suggest` and `startswith` of one column; words are compared without accents and letter case. */
export function compileTextTest(
  kind: 'like' | 'search' | 'suggest' | 'startswith',
  operand: Expression,
  pattern: Argument,
  scope: ExpressionScope,
  span: Span,
): Test {
  if (pattern.type !== 'string') throw refused(scope, 'a text in quotes is expected', span)
  const read = scope.compile(operand)
  const { value } = pattern
  if (kind === 'startswith') return row => processorText(read(row))?.startsWith(value) === true
  const words = value.split(/\s+/).flatMap(chunk =>
    tokens(chunk).map((word, at, all) => ({
      word,
      isPrefix: kind === 'suggest' || (chunk.endsWith('*') && at === all.length - 1) || isLastCharacter(word),
    })),
  )
  return row => {
    const text = processorText(read(row))
    if (text === null) return false
    const found = new Set(tokens(fold(text)))
    return words.every(({ word, isPrefix }) =>
      isPrefix ? [...found].some(other => other.startsWith(word)) : found.has(word),
    )
  }
}

/** A compiled expression of ODSQL, with the columns that it reads. */
export interface CompiledExpression<T> {
  readonly evaluate: (row: RowData) => T
  readonly columns: readonly string[]
}

/** A value computed from one row. */
export type ProcessorValue = (row: RowData) => Plain

/** A condition of one row: false if it compares an absent value. */
export type Test = (row: RowData) => boolean

/** The context of the compiler of an expression, and what it collects. */
export interface ExpressionScope {
  readonly clause: ClauseName
  readonly columns: Set<string>
  readonly readerOf: (column: string) => (row: RowData) => unknown
  /** Compiles a subexpression that is a value. */
  readonly compile: (node: Expression) => ProcessorValue
}

/** The fault of an expression. */
export function refused(scope: ExpressionScope, reason: string, span: Span): Error {
  return clauseFault(scope.clause, reason, span)
}

/** Compares values with a date literal, which denotes its whole period; null for a text that is no date. */
export function compareMoment(
  operator: '=' | '!=' | '<' | '<=' | '>' | '>=',
  text: string,
): ((value: Plain) => boolean) | null {
  const constant = parseDate(text)
  if (constant === null) return null
  const { start, end, isPeriod } = dateBounds(constant, 'datetime', 'UTC')
  const first = secondsOf(start)
  const after = end === null ? Number.POSITIVE_INFINITY : secondsOf(end)
  const isWithin = (at: number) => (isPeriod ? at >= first && at < after : at === first)
  return value => {
    const moment = valueMoment(value)
    if (moment === null) return false
    const at = secondsOf(moment)
    switch (operator) {
      case '=':
        return isWithin(at)
      case '!=':
        return !isWithin(at)
      case '<':
        return at < first
      case '<=':
        return at <= first
      case '>':
        return at > first
      case '>=':
        return at >= first
      default:
        return operator satisfies never
    }
  }
}

/** A part of the date in a value, in UTC; null if the value is no date. */
function partOf(value: Plain, part: (typeof DATE_PARTS)[number]): number | null {
  const moment = valueMoment(value)
  if (moment === null) return null
  const local = localOf(moment)
  switch (part) {
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
    case 'minute':
    case 'second':
      return local[part]
    case 'millisecond':
      return Math.floor(Number(`0.${local.fraction === '' ? '0' : local.fraction}`) * 1000)
  }
}

/** Formats the date in a value by a pattern; null if the value is no date. */
function formatted(value: Plain, parts: readonly FormatPart[]): string | null {
  const moment = valueMoment(value)
  return moment === null ? null : formatMoment(localOf(moment), parts, 'en', 'UTC')
}

function localOf(moment: string) {
  const fraction = /\.(\d+)Z$/.exec(moment)?.[1] ?? ''
  return localMoment(Math.floor(secondsOf(moment)), 'UTC', fraction)
}

/** Seconds since 1970 of a moment in canonical form, to the millisecond. */
function secondsOf(moment: string): number {
  return Date.parse(moment.replace(/(\.\d{3})\d+Z$/, '$1Z')) / 1000
}

/** A plain value as expressions compare it: absent values are null, moments are texts in UTC. */
export type Plain = string | number | bigint | boolean | object | null

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

const toMoment = converterOf('datetime', undefined, 'UTC', true)

/** A value of a row: null if it is absent or empty. */
export function plainOf(raw: unknown): Plain {
  return raw === undefined || raw === '' ? null : (raw as Plain)
}

/** The number that a value is, or that a text represents with a decimal point; null for anything else. */
export function valueNumber(value: Plain): number | null {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'string') return null
  const text = value.trim()
  return DECIMAL.test(text) ? Number(text) : null
}

/** The text of a value; null if it has none. */
export function processorText(value: Plain): string | null {
  return toText(value) ?? null
}

/** The moment of a text in ISO 8601, as `YYYY-MM-DDTHH:MM:SSZ`; null for anything else. */
export function valueMoment(value: Plain): string | null {
  const moment = toMoment(value)
  return typeof moment === 'string' ? moment : null
}

/**
 * Compares two values: as numbers if one is a number, or if both represent one; as booleans if one is one; else as texts. Null if
 * they cannot be compared.
 *
 * @param isEquality texts are then equal only if they are identical
 */
export function comparedValues(left: Plain, right: Plain, isEquality: boolean): number | null {
  if (left === null || right === null) return null
  if (typeof left === 'boolean' || typeof right === 'boolean') {
    const [a, b] = [String(left).toLowerCase(), String(right).toLowerCase()]
    return isEquality ? Number(a !== b) : null
  }
  if (typeof left === 'bigint' && typeof right === 'bigint') return left < right ? -1 : Number(left > right)
  const isText = typeof left === 'string' && typeof right === 'string'
  if (!isText || !isEquality) {
    const [a, b] = [valueNumber(left), valueNumber(right)]
    if (a !== null && b !== null) return a - b
    if (!isText) return isEquality ? Number(processorText(left) !== processorText(right)) : null
  }
  return left < right ? -1 : Number(left > right)
}
