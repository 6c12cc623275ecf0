import { Fault } from '../../errors/errors.ts'
import { ODATA_ERROR } from '../../language/odata/faults.ts'
import { isOrdered } from '../../model/comparison.ts'
import { integerValue } from '../../model/exact-json.ts'
import type { Field, FieldType } from '../../model/field.ts'
import { numberText } from '../../model/number.ts'
import { withoutOuterSpace } from '../../model/white-space.ts'
import { dateBounds, parseDate } from '../date-literals.ts'
import { exactly } from '../exact-numbers.ts'
import {
  type Comparator,
  type Condition,
  type Constant,
  type DatePartName,
  type Scalar,
  scalarType,
} from '../plan.ts'

/** A value in evaluation: numbers may be infinite or not a number. */
export type ApplyCell = Constant | null

/** Returns the value of a field. */
export type CellReader = (field: Field) => ApplyCell

/**
 * Evaluates a scalar without a store: constants, and the rows of an aggregation. Null for what only a store can compute, such as
 * regular expressions, which could take very long here.
 */
export function evaluate(scalar: Scalar, read: CellReader): ApplyCell {
  switch (scalar.type) {
    case 'field':
      return read(scalar.field)
    case 'constant':
      return scalar.value
    case 'arithmetic':
      return exactly(scalar.operator, evaluate(scalar.left, read), evaluate(scalar.right, read))
    case 'datePart': {
      const text = evaluate(scalar.operand, read)
      return typeof text === 'string' ? datePart(scalar.part, text) : null
    }
    case 'function': {
      const values = scalar.arguments.map(argument => evaluate(argument, read))
      const [operand] = scalar.arguments
      const present = values.filter(value => value !== null)
      if (present.length < values.length || operand === undefined) return null
      return call(scalar.name, present, scalarType(operand))
    }
    case 'truth':
      if (holds(scalar.holds, read)) return true
      return holds(scalar.fails, read) ? false : null
    case 'choice': {
      const chosen = scalar.branches.find(({ when }) => holds(when, read))
      return chosen === undefined ? null : evaluate(chosen.value, read)
    }
    case 'ifNull':
    case 'dateFormat':
    case 'distance':
    case 'json':
    case 'coordinate':
    case 'valueCount':
    case 'element':
      return null
  }
}

/** Whether a condition about single values holds. */
export function holds(condition: Condition, read: CellReader): boolean {
  switch (condition.type) {
    case 'and':
      return condition.operands.every(operand => holds(operand, read))
    case 'or':
      return condition.operands.some(operand => holds(operand, read))
    case 'not':
      return !holds(condition.operand, read)
    case 'always':
      return condition.value
    case 'present':
      return read(condition.field) !== null
    case 'compare':
      return relatedCells(read(condition.field), condition.operator, condition.value, condition.field.type)
    case 'oneOf': {
      const { field, values } = condition
      return values.some(value => relatedCells(read(field), '=', value, field.type))
    }
    case 'relation': {
      const { left, operator, right } = condition
      return relatedCells(evaluate(left, read), operator, evaluate(right, read), scalarType(left))
    }
    case 'startsWith': {
      const text = read(condition.field)
      return typeof text === 'string' && text.startsWith(condition.text)
    }
    case 'between':
    case 'words':
    case 'like':
    case 'withinDistance':
    case 'spatial':
    case 'some':
      return false
  }
}

/** Whether a relation of two values of a type holds; never where one is null or not a number. */
export function relatedCells(
  left: ApplyCell,
  operator: Comparator,
  right: ApplyCell,
  type: FieldType,
): boolean {
  if (left === null || right === null) return false
  const isText = typeof left === 'string' && typeof right === 'string'
  const order = isText ? compareTexts(left, right, type) : compareNumbers(numeric(left), numeric(right))
  return isOrdered(operator, order)
}

/** The order of two values of a type: null first, then NaN. */
export function ranked(left: ApplyCell, right: ApplyCell, type: FieldType): number {
  if (left === null || right === null) return Number(left !== null) - Number(right !== null)
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right, type)
  const [a, b] = [numeric(left), numeric(right)]
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(!Number.isNaN(a)) - Number(!Number.isNaN(b))
  return a < b ? -1 : a > b ? 1 : 0
}

function compareNumbers(a: number | bigint, b: number | bigint): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.NaN
  return a < b ? -1 : a > b ? 1 : 0
}

/** A value as a number; integers beyond 2^53 stay exact. */
function numeric(value: Constant): number | bigint {
  return typeof value === 'bigint' ? value : Number(value)
}

/** By code points; moments without their Z, because fewer decimals of a second sort before more. */
function compareTexts(a: string, b: string, type: FieldType): number {
  const bytes = (text: string) => Buffer.from(type === 'datetime' ? text.replace(/Z$/, '') : text)
  return Buffer.compare(bytes(a), bytes(b))
}

const DATE_TEXT = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?Z)?$/

function datePart(part: DatePartName, text: string): number | null {
  const match = DATE_TEXT.exec(text)
  if (match === null) return null
  const place = { year: 1, month: 2, day: 3, hour: 4, minute: 5, second: 6, millisecond: 7 }[part]
  const digits = match[place] ?? '0'
  return Number(part === 'millisecond' ? digits.padEnd(3, '0').slice(0, 3) : digits)
}

/** Seconds since 1970 of a date or moment; NaN for any other text. */
export function epochOf(text: string): number {
  const match = DATE_TEXT.exec(text)
  if (match === null) return Number.NaN
  const whole = Date.parse(`${text.slice(0, 10)}T${text.slice(11, 19) || '00:00:00'}Z`) / 1000
  return whole + Number(`0.${match[7] ?? '0'}`)
}

type FunctionName = Extract<Scalar, { readonly type: 'function' }>['name']

function call(name: FunctionName, values: readonly Constant[], type: FieldType): ApplyCell {
  const [first = '', second = '', third] = values
  const [a, b] = [Number(first), Number(second)]
  switch (name) {
    case 'concat':
      refuseLong(values.reduce<number>((sum, value) => sum + String(value).length, 0))
      return values.join('')
    case 'length':
      return [...String(first)].length
    case 'lower':
      return String(first).toLowerCase()
    case 'upper':
      return String(first).toUpperCase()
    case 'trim':
      return withoutOuterSpace(String(first))
    case 'replace': {
      if (second === '') return String(first)
      const parts = String(first).split(String(second))
      refuseLong(String(first).length + parts.length * String(third).length)
      return parts.join(String(third))
    }
    case 'contains':
      return String(first).includes(String(second))
    case 'startsWith':
      return String(first).startsWith(String(second))
    case 'endsWith':
      return String(first).endsWith(String(second))
    case 'indexOf': {
      const units = String(first).indexOf(String(second))
      return units < 0 ? -1 : [...String(first).slice(0, units)].length
    }
    case 'substring': {
      const characters = [...String(first)]
      const start = b < 0 ? Math.max(0, characters.length + b) : b
      return characters
        .slice(start, third === undefined ? undefined : start + Math.max(0, Number(third)))
        .join('')
    }
    case 'floor':
      return Math.floor(a) + 0
    case 'ceiling':
      return Math.ceil(a) + 0
    case 'round':
      return Math.sign(a) * Math.round(Math.abs(a)) + 0
    case 'divide':
      return a / b
    case 'quotient':
    case 'modulo':
      return exactly(name, first, second)
    case 'remainder':
      return (a % b) + 0
    case 'day':
      return String(first).slice(0, 10)
    case 'secondOfDay':
      return timeOfDay(String(first))
    case 'fraction':
      return Number(`0${/\.\d+/.exec(String(first))?.[0] ?? ''}`)
    case 'epoch':
      return epochOf(String(first))
    case 'text':
      if (typeof first !== 'number') return String(first)
      return Number.isFinite(first) ? numberText(first) : String(first).replace('Infinity', 'INF')
    case 'int':
    case 'double':
    case 'boolean':
    case 'date':
    case 'datetime':
      return cast(name, first, type)
    case 'matches':
      return null
  }
}

/** Characters of a text that is computed. */
const MAX_TEXT = 1_000_000

function refuseLong(characters: number): void {
  if (characters > MAX_TEXT)
    throw new Fault(ODATA_ERROR, { reason: `A computed text has more than ${MAX_TEXT} characters.` })
}

function timeOfDay(text: string): number {
  const [hour = 0, minute = 0, second = 0] = text.slice(11).replace('Z', '').split(':').map(Number)
  return (hour * 60 + minute) * 60 + second
}

const DAY = /^\d{4}-\d\d-\d\d$/
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?$/
const INTEGER = /^\s*[+-]?\d{1,30}\s*$/
const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/

function cast(
  to: 'int' | 'double' | 'boolean' | 'date' | 'datetime',
  value: Constant,
  from: FieldType,
): ApplyCell {
  const text = String(value)
  switch (to) {
    case 'int':
      if (typeof value === 'bigint') return value
      if (from === 'text') return INTEGER.test(text) ? (integerValue(BigInt(text)) ?? Number(text)) : null
      return Number.isFinite(Number(value)) ? Math.trunc(Number(value)) + 0 : null
    case 'double':
      if (from !== 'text') return Number(value)
      return NUMBER.test(text) ? Number(text) : null
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : null
    case 'date':
    case 'datetime': {
      const form = from === 'date' || (from === 'text' && to === 'date') ? DAY : MOMENT
      const constant = form.test(text) ? parseDate(text) : null
      if (constant === null) return null
      return dateBounds(constant, to, 'UTC').start
    }
  }
}
