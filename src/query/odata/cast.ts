import type { Expression, ODataLiteral, Span } from '../../language/odata/ast.ts'
import { exactWhole, integerValue, wholeBelow } from '../../model/exact-json.ts'
import { lookup } from '../../model/lookup.ts'
import { conjunction, disjunction, refuseLarge } from '../conditions.ts'
import { dateBounds, parseDate } from '../date-literals.ts'
import { ALWAYS, type FunctionName, functionScalar, NEVER } from '../plan.ts'
import type { Side } from './comparison.ts'
import { computed } from './computed.ts'
import { certain, presence } from './logic.ts'
import { type Scope, unserved, wrong } from './scope.ts'
import {
  constantOf,
  describeExpression,
  describeType,
  isValue,
  KIND_TYPES,
  NULL,
  type PrimitiveKind,
  perRecord,
  scalarOf,
  startOf,
  type TypedConstant,
  type TypedExpression,
  type TypedTest,
} from './typed-expression.ts'

/** The kinds of the named primitive types. */
const TARGETS: Readonly<Record<string, PrimitiveKind>> = {
  'Edm.String': 'string',
  'Edm.Boolean': 'boolean',
  'Edm.Byte': 'int',
  'Edm.SByte': 'int',
  'Edm.Int16': 'int',
  'Edm.Int32': 'int',
  'Edm.Int64': 'int',
  'Edm.Decimal': 'decimal',
  'Edm.Double': 'double',
  'Edm.Single': 'double',
  'Edm.Date': 'date',
  'Edm.DateTimeOffset': 'moment',
  'Edm.DateTime': 'moment',
  'Edm.TimeOfDay': 'time',
  'Edm.Time': 'time',
  'Edm.Duration': 'duration',
  'Edm.Guid': 'guid',
  'Edm.Binary': 'binary',
}

/** The least values of the integer types, and the first beyond them. */
const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  'Edm.Byte': [0, 256],
  'Edm.SByte': [-128, 128],
  'Edm.Int16': [-(2 ** 15), 2 ** 15],
  'Edm.Int32': [-(2 ** 31), 2 ** 31],
}
const INT64 = [-(2 ** 63), 2 ** 63] as const

const FUNCTIONS: Readonly<Partial<Record<PrimitiveKind, FunctionName>>> = {
  string: 'text',
  boolean: 'boolean',
  int: 'int',
  decimal: 'double',
  double: 'double',
  date: 'date',
  moment: 'datetime',
}

/** Converts a value to another type; null where that is impossible (URL Conventions 5.1.1.10.1). */
export function castTo({ typed, node }: Side, target: string, span: Span, scope: Scope): TypedExpression {
  const to = targetKind(target, span, scope)
  if (typed.type === 'null') return NULL
  if (!isValue(typed))
    throw unserved(scope, `A cast of ${describeExpression(node)}, which is ${describeType(typed)},`, span)
  if (to === null) throw unserved(scope, `A cast to ${target.slice(0, 60)}`, span)
  const kind = typed.type === 'test' ? 'boolean' : typed.kind
  const refused = () => unserved(scope, `A cast from ${describeType(typed)} to ${target.slice(0, 60)}`, span)
  if (kind === 'geography' || (typed.type === 'value' && typed.epoch && to !== kind)) throw refused()
  const result = converted(typed, kind, to)
  if (result === null) throw refused()
  const range = lookup(RANGES, target) ?? (to === 'int' && kind !== 'int' ? INT64 : undefined)
  return range === undefined ? result : ranged(result, range)
}

/** A whole number, null where it is outside of a range. */
function ranged(result: TypedExpression, [low, beyond]: readonly [number, number]): TypedExpression {
  if (result.type === 'constant') {
    const value = typeof result.value === 'bigint' ? result.value : Number(result.value)
    return value >= low && value < beyond ? result : NULL
  }
  if (result.type !== 'value') return result
  const { scalar } = result
  // Before it is repeated: nested casts double.
  refuseLarge(scalar)
  const when = conjunction([
    { type: 'relation', left: scalar, operator: '>=', right: { type: 'constant', value: low, of: 'int' } },
    { type: 'relation', left: scalar, operator: '<', right: { type: 'constant', value: beyond, of: 'int' } },
  ])
  return perRecord('int', { type: 'choice', branches: [{ when, value: scalar }], of: 'int' })
}

/** Null where the conversion is not supported. */
function converted(
  typed: Parameters<typeof scalarOf>[0],
  kind: PrimitiveKind,
  to: PrimitiveKind,
): TypedExpression | null {
  const scalar = scalarOf(typed)
  if (kind === to) return typed
  if (to === 'time')
    return kind === 'moment' ? computed(to, functionScalar('secondOfDay', scalar), [typed]) : null
  const name = FUNCTIONS[to]
  if (name === undefined || kind === 'time' || kind === 'duration' || kind === 'guid' || kind === 'binary')
    return null
  if (name === 'double' && kind === 'int') return typed.type === 'test' ? null : { ...typed, kind: to }
  if (kind === 'decimal' && to === 'double') return typed.type === 'test' ? null : { ...typed, kind: to }
  const isKnown =
    to === 'string' ||
    kind === 'string' ||
    isAmong(['int', 'decimal', 'double'], kind, to) ||
    isAmong(['date', 'moment'], kind, to)
  if (!isKnown) return NULL
  return computed(to, functionScalar(name, scalar), [typed])
}

function isAmong(kinds: readonly PrimitiveKind[], ...found: readonly PrimitiveKind[]): boolean {
  return found.every(kind => kinds.includes(kind))
}

/** Whether a value is of a type; null is of none (URL Conventions 5.1.1.10.2). */
export function isOf({ typed, node }: Side, target: string, span: Span, scope: Scope): TypedTest {
  const to = targetKind(target, span, scope)
  switch (typed.type) {
    case 'null':
      return certain(NEVER)
    case 'record':
      return certain(target === scope.request.entity ? ALWAYS : NEVER)
    case 'collection':
      return certain(target === 'Collection(Edm.String)' ? ALWAYS : NEVER)
    case 'place': {
      const isPoint = typed.field.type === 'geo_point_2d' && target.endsWith('.GeoPoint2D')
      const isText = typed.field.type === 'geo_shape' && target === 'Edm.String'
      return certain(isPoint || isText ? { type: 'present', field: typed.field } : NEVER)
    }
    case 'test':
      return certain(to === 'boolean' ? disjunction([typed.holds, typed.fails]) : NEVER)
    case 'constant':
      return certain(typed.kind === to ? ALWAYS : NEVER)
    case 'value': {
      const isExact =
        KIND_TYPES[typed.kind] === target || (typed.kind === to && lookup(RANGES, target) === undefined)
      return certain(isExact ? presence(typed.scalar) : NEVER)
    }
    default:
      throw wrong(scope, `${startOf(node)} has no type`, node.span)
  }
}

/** The kind of the named type; null for a type that is not primitive. Unknown names are refused. */
function targetKind(target: string, span: Span, scope: Scope): PrimitiveKind | null {
  const known = lookup(TARGETS, target)
  if (known !== undefined) return known
  const isSpatial = /^Edm\.(?:Geography|Geometry)\w*$/.test(target)
  const isOther = /^(?:Edm\.Stream|Ods\.\w+|Collection\([\w.]+\)|.*\.GeoPoint2D)$/.test(target)
  if (isSpatial || isOther || target === scope.request.entity) return null
  throw wrong(scope, `There is no type ${target.slice(0, 100)}`, span)
}

/** The record itself where no operand is named. */
export function operandNode(node: Extract<Expression, { type: 'cast' | 'isof' }>): Expression {
  return node.operand ?? { type: 'name', name: '$it', span: node.span }
}

/** The typed value of a literal. Moments and dates that do not exist in the calendar are refused. */
export function typedLiteral(node: ODataLiteral, scope: Scope): TypedExpression {
  const { value, of, span } = node
  switch (of) {
    case 'Edm.String':
      return constantOf('string', String(value))
    case 'Edm.Boolean':
      return constantOf('boolean', value === true)
    case 'Edm.Int32':
    case 'Edm.Int64':
      return typedInteger(node.text, Number(value))
    case 'Edm.Decimal': {
      const below = wholeBelow(node.text)
      const constant = constantOf('decimal', exactWhole(node.text) ?? Number(value))
      return below === undefined ? constant : { ...constant, below }
    }
    case 'Edm.Double':
      return constantOf('double', Number(value))
    case 'Edm.Date':
    case 'Edm.DateTimeOffset':
      return moment(of === 'Edm.Date' ? 'date' : 'moment', String(value), span, scope)
    case 'Edm.TimeOfDay':
      return constantOf('time', secondsOf(String(value)))
    case 'Edm.Duration':
      return constantOf('duration', Number(value))
    case 'Edm.Guid':
      return constantOf('guid', String(value))
    case 'Edm.Binary':
      return constantOf('binary', String(value))
    case 'Edm.Geography':
      return constantOf('geography', String(value))
    case 'Edm.Enum':
      throw unserved(scope, 'An enumeration', span)
  }
}

/** A whole number, exact up to 64 bits. */
function typedInteger(digits: string, value: number): TypedExpression {
  const exact = /^[+-]?\d+$/.test(digits) ? integerValue(BigInt(digits.replace('+', ''))) : value
  return exact === undefined ? constantOf('decimal', value) : constantOf('int', exact)
}

function moment(
  kind: Extract<PrimitiveKind, 'date' | 'moment'>,
  text: string,
  span: ODataLiteral['span'],
  scope: Scope,
): TypedConstant {
  const constant = parseDate(text)
  if (constant === null) throw wrong(scope, `There is no day or time ${text.slice(0, 40)}`, span)
  const { start } = dateBounds(constant, kind === 'date' ? 'date' : 'datetime', 'UTC')
  return { ...constantOf(kind, start), offset: constant.offset ?? 0 }
}

function secondsOf(text: string): number {
  const [hour = 0, minute = 0, second = 0] = text.split(':').map(Number)
  return (hour * 60 + minute) * 60 + second
}
