import type { Expression, Span } from '../../language/odata/ast.ts'
import { lookup } from '../../model/lookup.ts'
import { any } from '../conditions.ts'
import { capital } from '../faults.ts'
import { ALWAYS, type FunctionName, NEVER, type Scalar } from '../plan.ts'
import type { Side } from './comparison.ts'
import { computed } from './computed.ts'
import { certain, presence } from './logic.ts'
import { type Scope, unserved, wrong } from './scope.ts'
import {
  describeMeaning,
  describeType,
  isValue,
  KIND_TYPES,
  type Meaning,
  type MeaningKind,
  NULL,
  scalarOf,
  type TestMeaning,
} from './typed-expression.ts'

/** The kinds that the names of primitive types mean. */
const TARGETS: Readonly<Record<string, MeaningKind>> = {
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

/** Ranges of the integer types. */
const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  'Edm.Byte': [0, 255],
  'Edm.SByte': [-128, 127],
  'Edm.Int16': [-32_768, 32_767],
  'Edm.Int32': [-2_147_483_648, 2_147_483_647],
}

const FUNCTIONS: Readonly<Partial<Record<MeaningKind, FunctionName>>> = {
  string: 'text',
  boolean: 'boolean',
  int: 'int',
  decimal: 'double',
  double: 'double',
  date: 'date',
  moment: 'datetime',
}

/** Gives a value as one of another type; null where it cannot be one (URL Conventions 5.1.1.10.1). */
export function castTo({ meaning, node }: Side, target: string, span: Span, scope: Scope): Meaning {
  const to = targetKind(target, span, scope)
  if (meaning.type === 'null') return NULL
  if (!isValue(meaning))
    throw unserved(scope, `A cast of ${describeMeaning(node)}, which is ${describeType(meaning)},`, span)
  if (to === null) throw unserved(scope, `A cast to ${target.slice(0, 60)}`, span)
  const kind = meaning.type === 'test' ? 'boolean' : meaning.kind
  const refused = () =>
    unserved(scope, `A cast from ${describeType(meaning)} to ${target.slice(0, 60)}`, span)
  if (kind === 'geography' || (meaning.type === 'value' && meaning.epoch && to !== kind)) throw refused()
  const result = converted(meaning, kind, to)
  if (result === null) throw refused()
  if (result.type !== 'constant') return result
  if (typeof result.value !== 'number' && typeof result.value !== 'bigint') return result
  const [low, high] = lookup(RANGES, target) ?? [-Infinity, Infinity]
  return result.value >= low && result.value <= high ? result : NULL
}

/** Null where the conversion is not served. */
function converted(
  meaning: Parameters<typeof scalarOf>[0],
  kind: MeaningKind,
  to: MeaningKind,
): Meaning | null {
  const scalar = scalarOf(meaning)
  if (kind === to) return meaning
  if (to === 'time') return kind === 'moment' ? computed(to, called('secondOfDay', scalar), [meaning]) : null
  const name = FUNCTIONS[to]
  if (name === undefined || kind === 'time' || kind === 'duration' || kind === 'guid' || kind === 'binary')
    return null
  if (name === 'double' && kind === 'int') return meaning.type === 'test' ? null : { ...meaning, kind: to }
  if (kind === 'decimal' && to === 'double') return meaning.type === 'test' ? null : { ...meaning, kind: to }
  const isKnown =
    to === 'string' ||
    kind === 'string' ||
    isAmong(['int', 'decimal', 'double'], kind, to) ||
    isAmong(['date', 'moment'], kind, to)
  if (!isKnown) return NULL
  return computed(to, called(name, scalar), [meaning])
}

function isAmong(kinds: readonly MeaningKind[], ...found: readonly MeaningKind[]): boolean {
  return found.every(kind => kinds.includes(kind))
}

const RESULTS = {
  text: 'text',
  boolean: 'boolean',
  int: 'int',
  double: 'double',
  date: 'date',
  datetime: 'datetime',
  secondOfDay: 'double',
} as const

function called(name: FunctionName, operand: Scalar): Scalar {
  return { type: 'function', name, arguments: [operand], of: RESULTS[name as keyof typeof RESULTS] }
}

/** Whether a value is of a type, null being of none (URL Conventions 5.1.1.10.2). */
export function isOf({ meaning, node }: Side, target: string, span: Span, scope: Scope): TestMeaning {
  const to = targetKind(target, span, scope)
  switch (meaning.type) {
    case 'null':
      return certain(NEVER)
    case 'record':
      return certain(target === scope.request.entity ? ALWAYS : NEVER)
    case 'collection':
      return certain(target === 'Collection(Edm.String)' ? ALWAYS : NEVER)
    case 'place': {
      const isPoint = meaning.field.type === 'geo_point_2d' && target.endsWith('.GeoPoint2D')
      const isText = meaning.field.type === 'geo_shape' && target === 'Edm.String'
      return certain(isPoint || isText ? { type: 'present', field: meaning.field } : NEVER)
    }
    case 'test':
      return certain(to === 'boolean' ? any([meaning.holds, meaning.fails]) : NEVER)
    case 'constant':
      return certain(meaning.kind === to ? ALWAYS : NEVER)
    case 'value': {
      const isExact =
        KIND_TYPES[meaning.kind] === target || (meaning.kind === to && lookup(RANGES, target) === undefined)
      return certain(isExact ? presence(meaning.scalar) : NEVER)
    }
    default:
      throw wrong(scope, `${capital(describeMeaning(node))} has no type`, node.span)
  }
}

/** The kind that the name of a type means; null for what is no primitive type. Unknown names are refused. */
function targetKind(target: string, span: Span, scope: Scope): MeaningKind | null {
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
