import type { Expression } from '../../language/odata/ast.ts'
import type { ColumnType } from '../../model/edm.ts'
import type { Field, FieldType } from '../../model/field.ts'
import { refuseLarge } from '../conditions.ts'
import { capital } from '../faults.ts'
import {
  type Condition,
  type Constant,
  type ElementTest,
  functionScalar,
  numberScalar,
  type Scalar,
} from '../plan.ts'

/** The primitive types of OData as far as they are distinguished: one integer type, one for each other kind. */
export type PrimitiveKind = keyof typeof KIND_TYPES

/**
 * A value that is the same for all records. Times of day and durations are numbers of seconds, moments and dates texts as in
 * model/value.ts, geographies WKT; numbers may be infinite or NaN.
 */
export interface TypedConstant {
  readonly type: 'constant'
  readonly kind: PrimitiveKind
  readonly value: Constant
  /** Offset of a moment's literal in minutes east of UTC. */
  readonly offset?: number
  /** The largest whole number below a literal whose fraction a double would round away. */
  readonly below?: bigint
}

/**
 * A value of each record. Times of day and durations are seconds; `epoch` marks computed moments and dates, as seconds since
 * 1970.
 */
export interface TypedValue {
  readonly type: 'value'
  readonly kind: PrimitiveKind
  readonly scalar: Scalar
  readonly epoch: boolean
}

/** A three-valued boolean of each record: true where one condition holds, false where the other does, null where neither does. */
export interface TypedTest {
  readonly type: 'test'
  readonly holds: Condition
  readonly fails: Condition
}

/** The values of a multivalued field, or those that satisfy a condition. */
export interface TypedCollection {
  readonly type: 'collection'
  readonly field: Field
  readonly where?: ElementTest
}

/** The meaning of an expression in its scope. */
export type TypedExpression =
  | { readonly type: 'null' }
  | TypedConstant
  | TypedValue
  | TypedTest
  | TypedCollection
  /** A point or a shape: it can be compared with null, and related to other geographies. */
  | { readonly type: 'place'; readonly field: Field }
  /** The record itself. */
  | { readonly type: 'record' }
  | { readonly type: 'list'; readonly items: readonly Expression[] }
  | { readonly type: 'object' }

export const NULL: TypedExpression = { type: 'null' }

/** Names of types in the declarations of answers. */
export const KIND_TYPES = {
  string: 'Edm.String',
  boolean: 'Edm.Boolean',
  int: 'Edm.Int64',
  decimal: 'Edm.Decimal',
  double: 'Edm.Double',
  date: 'Edm.Date',
  moment: 'Edm.DateTimeOffset',
  time: 'Edm.TimeOfDay',
  duration: 'Edm.Duration',
  guid: 'Edm.String',
  binary: 'Edm.String',
  geography: 'Edm.String',
} as const satisfies Readonly<Record<string, ColumnType>>

/** The field types with which the plan represents values of a kind. */
export const KIND_FIELDS: Readonly<Record<PrimitiveKind, FieldType>> = {
  string: 'text',
  boolean: 'boolean',
  int: 'int',
  decimal: 'double',
  double: 'double',
  date: 'date',
  moment: 'datetime',
  time: 'double',
  duration: 'double',
  guid: 'text',
  binary: 'text',
  geography: 'text',
}

/** The kind of the values of a field that is not a geometry. */
const FIELD_KINDS: Readonly<Record<Exclude<FieldType, 'geo_point_2d' | 'geo_shape'>, PrimitiveKind>> = {
  text: 'string',
  int: 'int',
  double: 'double',
  boolean: 'boolean',
  date: 'date',
  datetime: 'moment',
}

export const TEXT_KIND: readonly PrimitiveKind[] = ['string']
export const WHOLE: readonly PrimitiveKind[] = ['int']
export const NUMBER: readonly PrimitiveKind[] = ['int', 'decimal', 'double']
export const DAY: readonly PrimitiveKind[] = ['date', 'moment']

export function isNumericKind(kind: PrimitiveKind): boolean {
  return NUMBER.includes(kind)
}

/** The kind of a typed expression; null for values that are not primitive, and for null itself. */
export function primitiveKindOf(typed: TypedExpression): PrimitiveKind | null {
  if (typed.type === 'test') return 'boolean'
  return typed.type === 'value' || typed.type === 'constant' ? typed.kind : null
}

/** The typed expression of a property. */
export function typedField(field: Field): TypedExpression {
  if (field.multivalued) return { type: 'collection', field }
  if (field.type === 'geo_point_2d' || field.type === 'geo_shape') return { type: 'place', field }
  return perRecord(FIELD_KINDS[field.type], { type: 'field', field })
}

export function perRecord(kind: PrimitiveKind, scalar: Scalar, epoch = false): TypedValue {
  return { type: 'value', kind, scalar, epoch }
}

export function constantOf(kind: PrimitiveKind, value: Constant): TypedConstant {
  return { type: 'constant', kind, value: typeof value === 'number' ? value + 0 : value }
}

/** A value or constant as a scalar of the plan. Constants of the plan are finite: infinity is written as a division by 0. */
export function scalarOf(typed: TypedConstant | TypedValue | TypedTest): Scalar {
  if (typed.type === 'value') return typed.scalar
  if (typed.type === 'test') return truthOf(typed)
  const { kind, value } = typed
  if (typeof value === 'bigint') return { type: 'constant', value, of: 'int' }
  if (typeof value !== 'number') return { type: 'constant', value, of: KIND_FIELDS[kind] }
  if (Number.isFinite(value)) return numberScalar(value)
  const dividend = Number.isNaN(value) ? 0 : Math.sign(value)
  return functionScalar('divide', numberScalar(dividend), numberScalar(0))
}

/** True for expressions that can be computed with and returned. */
export function isValue(typed: TypedExpression): typed is Parameters<typeof scalarOf>[0] {
  return typed.type === 'constant' || typed.type === 'value' || typed.type === 'test'
}

/** A value that is always null: the whole number of a text that contains none. */
export const NULL_SCALAR = functionScalar('int', { type: 'constant', value: '', of: 'text' })

function truthOf({ holds, fails }: TypedTest): Scalar {
  if (holds.type === 'relation' && holds.operator === '=' && isTrue(holds.right)) return holds.left
  const truth: Scalar = { type: 'truth', holds, fails }
  refuseLarge(truth)
  return truth
}

function isTrue(scalar: Scalar): boolean {
  return scalar.type === 'constant' && scalar.value === true
}

/** An expression in plain words, for faults. */
export function describeExpression(node: Expression): string {
  switch (node.type) {
    case 'literal':
      return `the literal ${node.text.length > 40 ? `${node.text.slice(0, 40)}…` : node.text}`
    case 'null':
      return 'null'
    case 'name':
      return node.name.slice(0, 60)
    case 'member':
      return `${describeExpression(node.of)}/${node.name.slice(0, 60)}`
    case 'alias':
      return node.name.slice(0, 60)
    case 'call':
      return `the function ${node.name.slice(0, 60)}`
    case 'cast':
    case 'isof':
      return `the function ${node.type}`
    case 'lambda':
      return `the operator ${node.quantifier}`
    case 'count':
    case 'filtered':
      return `${describeExpression(node.of)}/$${node.type === 'count' ? 'count' : 'filter'}`
    case 'list':
      return 'a list'
    case 'object':
      return 'an object'
    case 'binary':
      return isLogical(node.operator) ? 'a condition' : 'an arithmetic expression'
    case 'negate':
      return 'an arithmetic expression'
    case 'not':
    case 'in':
      return 'a condition'
    case 'case':
      return 'the function case'
  }
}

/**
 * An expression in plain words at the start of a sentence, with its type where that is given; names, whose case matters, stay as they
 * are.
 */
export function startOf(node: Expression, typed?: TypedExpression): string {
  const isNamed = ['name', 'member', 'alias', 'count', 'filtered'].includes(node.type)
  const described = isNamed ? describeExpression(node) : capital(describeExpression(node))
  return typed === undefined ? described : `${described} of type ${describeType(typed)}`
}

function isLogical(operator: string): boolean {
  return ['or', 'and', 'eq', 'ne', 'gt', 'ge', 'lt', 'le', 'has'].includes(operator)
}

/** Names of types in faults: some have no type of their own in answers. */
const DESCRIBED = {
  ...KIND_TYPES,
  geography: 'Edm.Geography',
  guid: 'Edm.Guid',
  binary: 'Edm.Binary',
} as const

/** The type of an expression in plain words. */
export function describeType(typed: TypedExpression): string {
  switch (typed.type) {
    case 'null':
      return 'null'
    case 'constant':
    case 'value':
      return DESCRIBED[typed.kind]
    case 'test':
      return 'Edm.Boolean'
    case 'collection':
      return 'Collection(Edm.String)'
    case 'place':
      return typed.field.type === 'geo_shape' ? 'a shape' : 'Ods.GeoPoint2D'
    case 'record':
      return 'the entity type'
    case 'list':
      return 'a list'
    case 'object':
      return 'an object'
  }
}
