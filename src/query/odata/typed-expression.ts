import type { Expression } from '../../language/odata/ast.ts'
import type { ColumnType } from '../../model/edm.ts'
import type { Field, FieldType } from '../../model/field.ts'
import { type Condition, type Constant, type ElementTest, numberScalar, type Scalar } from '../plan.ts'

/** The primitive types of OData as far as they are distinguished: one integer type, one of each other kind. */
export type MeaningKind =
  | 'string'
  | 'boolean'
  | 'int'
  | 'decimal'
  | 'double'
  | 'date'
  | 'moment'
  | 'time'
  | 'duration'
  | 'guid'
  | 'binary'
  | 'geography'

/**
 * A value that is the same for all records. Times of day and durations are numbers of seconds, moments and dates texts
 * as in model/value.ts, geographies WKT; numbers may be infinite or not a number.
 */
export interface ConstantMeaning {
  readonly type: 'constant'
  readonly kind: MeaningKind
  readonly value: Constant
  /** Minutes east of UTC that a literal of a moment was written with. */
  readonly offset?: number
}

/**
 * A value of each record. Times of day and durations are seconds; `epoch` are moments and dates that were computed, as
 * seconds since 1970.
 */
export interface ValueMeaning {
  readonly type: 'value'
  readonly kind: MeaningKind
  readonly scalar: Scalar
  readonly epoch: boolean
}

/** A boolean of each record: true where one condition holds, false where the other does, null where neither does. */
export interface TestMeaning {
  readonly type: 'test'
  readonly holds: Condition
  readonly fails: Condition
}

/** The values of a field with many, or those of them that satisfy a condition. */
export interface CollectionMeaning {
  readonly type: 'collection'
  readonly field: Field
  readonly where?: ElementTest
}

/** What an expression means where it stands. */
export type Meaning =
  | { readonly type: 'null' }
  | ConstantMeaning
  | ValueMeaning
  | TestMeaning
  | CollectionMeaning
  /** A point or a shape: it is compared with null, and relates to other geographies. */
  | { readonly type: 'place'; readonly field: Field }
  /** The record itself. */
  | { readonly type: 'record' }
  | { readonly type: 'list'; readonly items: readonly Expression[] }
  | { readonly type: 'object' }

export const NULL: Meaning = { type: 'null' }

/** Names of types in faults and in the declarations of answers. */
export const KIND_TYPES: Readonly<Record<MeaningKind, ColumnType>> = {
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
}

/** What the plan holds values of a kind as. */
export const KIND_FIELDS: Readonly<Record<MeaningKind, FieldType>> = {
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

/** The kind of the values of a field that has no geometry. */
const FIELD_KINDS: Readonly<Record<Exclude<FieldType, 'geo_point_2d' | 'geo_shape'>, MeaningKind>> = {
  text: 'string',
  int: 'int',
  double: 'double',
  boolean: 'boolean',
  date: 'date',
  datetime: 'moment',
}

export const TEXT_MEANING: readonly MeaningKind[] = ['string']
export const WHOLE: readonly MeaningKind[] = ['int']
export const NUMBER: readonly MeaningKind[] = ['int', 'decimal', 'double']
export const DAY: readonly MeaningKind[] = ['date', 'moment']

export function isNumericMeaning(kind: MeaningKind): boolean {
  return NUMBER.includes(kind)
}

/** The kind of a meaning; null for what is no primitive value, and for null itself. */
export function meaningKindOf(meaning: Meaning): MeaningKind | null {
  if (meaning.type === 'test') return 'boolean'
  return meaning.type === 'value' || meaning.type === 'constant' ? meaning.kind : null
}

/** What the values of a property mean. */
export function fieldMeaning(field: Field): Meaning {
  if (field.multivalued) return { type: 'collection', field }
  if (field.type === 'geo_point_2d' || field.type === 'geo_shape') return { type: 'place', field }
  return perRecord(FIELD_KINDS[field.type], { type: 'field', field })
}

export function perRecord(kind: MeaningKind, scalar: Scalar, epoch = false): ValueMeaning {
  return { type: 'value', kind, scalar, epoch }
}

export function constantOf(kind: MeaningKind, value: Constant): ConstantMeaning {
  return { type: 'constant', kind, value: typeof value === 'number' ? value + 0 : value }
}

/**
 * A value or constant as the plan has it. Constants of the plan are finite: infinity is written as a division by 0.
 */
export function scalarOf(meaning: ConstantMeaning | ValueMeaning | TestMeaning): Scalar {
  if (meaning.type === 'value') return meaning.scalar
  if (meaning.type === 'test') return truthOf(meaning)
  const { kind, value } = meaning
  if (typeof value !== 'number') return { type: 'constant', value, of: KIND_FIELDS[kind] }
  if (Number.isFinite(value)) return numberScalar(value)
  const dividend = Number.isNaN(value) ? 0 : Math.sign(value)
  return {
    type: 'function',
    name: 'divide',
    arguments: [numberScalar(dividend), numberScalar(0)],
    of: 'double',
  }
}

/** True for what can be computed with and answered. */
export function isValue(meaning: Meaning): meaning is Parameters<typeof scalarOf>[0] {
  return meaning.type === 'constant' || meaning.type === 'value' || meaning.type === 'test'
}

/** A value that is null: the whole number of a text that is none. */
export const NULL_SCALAR: Scalar = {
  type: 'function',
  name: 'int',
  arguments: [{ type: 'constant', value: '', of: 'text' }],
  of: 'int',
}

function truthOf({ holds, fails }: TestMeaning): Scalar {
  if (holds.type === 'relation' && holds.operator === '=' && isTrue(holds.right)) return holds.left
  return { type: 'truth', holds, fails }
}

function isTrue(scalar: Scalar): boolean {
  return scalar.type === 'constant' && scalar.value === true
}

/** An expression in plain words, for faults. */
export function describeMeaning(node: Expression): string {
  switch (node.type) {
    case 'literal':
      return `the literal ${node.text.length > 40 ? `${node.text.slice(0, 40)}…` : node.text}`
    case 'null':
      return 'null'
    case 'name':
      return node.name.slice(0, 60)
    case 'member':
      return `${describeMeaning(node.of)}/${node.name.slice(0, 60)}`
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
      return `${describeMeaning(node.of)}/$${node.type === 'count' ? 'count' : 'filter'}`
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
    default:
      return node satisfies never
  }
}

function isLogical(operator: string): boolean {
  return ['or', 'and', 'eq', 'ne', 'gt', 'ge', 'lt', 'le', 'has'].includes(operator)
}

/** A meaning in plain words: what kind of thing it is. */
export function describeType(meaning: Meaning): string {
  switch (meaning.type) {
    case 'null':
      return 'null'
    case 'constant':
    case 'value':
      return meaning.kind === 'geography'
        ? 'Edm.Geography'
        : meaning.kind === 'guid'
          ? 'Edm.Guid'
          : meaning.kind === 'binary'
            ? 'Edm.Binary'
            : KIND_TYPES[meaning.kind]
    case 'test':
      return 'Edm.Boolean'
    case 'collection':
      return 'Collection(Edm.String)'
    case 'place':
      return meaning.field.type === 'geo_shape' ? 'a shape' : 'Ods.GeoPoint2D'
    case 'record':
      return 'the entity type'
    case 'list':
      return 'a list'
    case 'object':
      return 'an object'
    default:
      return meaning satisfies never
  }
}
