import type { TimeUnit } from '../language/odsql/vocabulary.ts'
import type { FormatPart } from '../model/date-format.ts'
import type { Field, FieldType } from '../model/field.ts'
import type { Geometry, GeoPoint } from '../model/value.ts'
import { words } from '../model/words.ts'

export type Comparator = '=' | '!=' | '<' | '<=' | '>' | '>='

/** A constant of a query, already in the type of the value that it is compared with (see model/value.ts). */
export type Constant = string | number | bigint | boolean

/** A part of a date; for a date field the parts smaller than a day are 0. */
export type DatePartName = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'millisecond'

/**
 * A value computed from one record. It is null (in SPARQL an unbound value or an error) wherever an operand is null, a divisor is
 * zero or a text is not what a function needs.
 */
export type Scalar =
  | { readonly type: 'field'; readonly field: Field }
  | { readonly type: 'constant'; readonly value: Constant; readonly of: FieldType }
  | {
      readonly type: 'arithmetic'
      readonly operator: '+' | '-' | '*' | '/'
      readonly left: Scalar
      readonly right: Scalar
      /** `int`: integers stay exact; `double`: beyond the doubles there is infinity (OData); by default numbers are null there. */
      readonly of?: 'int' | 'double'
    }
  | { readonly type: 'datePart'; readonly part: DatePartName; readonly operand: Scalar }
  | {
      readonly type: 'dateFormat'
      readonly parts: readonly FormatPart[]
      readonly language: string
      readonly operand: Scalar
    }
  | { readonly type: 'ifNull'; readonly operand: Scalar; readonly other: Scalar }
  | { readonly type: 'distance'; readonly field: Field; readonly point: GeoPoint }
  /** The JSON value of a text; for a text that is not JSON the fallback, or the text itself. */
  | { readonly type: 'json'; readonly operand: Scalar; readonly fallback: Constant | null }
  | {
      readonly type: 'function'
      readonly name: FunctionName
      readonly arguments: readonly Scalar[]
      readonly of: FieldType
    }
  /** A coordinate of a point in degrees. */
  | { readonly type: 'coordinate'; readonly axis: 'lon' | 'lat'; readonly field: Field }
  /** The number of values of a multivalued field, or of those that satisfy a condition; 0 for none, never null. */
  | { readonly type: 'valueCount'; readonly field: Field; readonly where?: ElementTest }
  /** The value that is tested by the condition of type `some`, or by the test of a count, with the same number. */
  | { readonly type: 'element'; readonly number: number; readonly of: FieldType }
  /** True where one condition holds, false where another does, null where neither does. */
  | { readonly type: 'truth'; readonly holds: Condition; readonly fails: Condition }
  /** The value of the first branch whose condition holds; null where none does. */
  | { readonly type: 'choice'; readonly branches: readonly Branch[]; readonly of: FieldType }

/** A condition of one value of a multivalued field, in which the value is the `element` of this number. */
export interface ElementTest {
  readonly number: number
  readonly condition: Condition
}

/** A value with a condition. */
export interface Branch {
  readonly when: Condition
  readonly value: Scalar
}

/**
 * Functions of values: null where an argument is null, unless stated otherwise.
 *
 * | function | arguments | value |
 * |---|---|---|
 * | concat, lower, upper, trim, replace(text, from, to) | texts | text; `replace` takes `from` literally; Unicode white space is trimmed |
 * | length(text) | text | characters: int |
 * | contains, startsWith, endsWith, matches(text, pattern) | texts | boolean, case-sensitive; the pattern is an XPath regular expression |
 * | indexOf(text, part) | texts | characters before the part, -1 where there is none |
 * | substring(text, start, length?) | text, int, int | start counts from 0, a negative one from the end |
 * | floor, ceiling, round | number | number; halves are rounded away from zero |
 * | divide | numbers | quotient of doubles by IEEE 754: infinity or NaN for a divisor of 0 |
 * | quotient, modulo | ints | whole quotient truncated towards zero, null for a divisor of 0; the remainder has the sign of the dividend |
 * | remainder | numbers | the same for doubles; NaN for a divisor of 0 |
 * | day | datetime or date | its date in UTC |
 * | secondOfDay | datetime | seconds since midnight in UTC, with their fraction: double |
 * | fraction | datetime | part of a second: double, 0 to 1 |
 * | epoch | date or datetime | seconds since 1970-01-01T00:00:00Z, with their fraction: double |
 * | text | anything but geometry | as in JSON, without quotes: text |
 * | int, double, boolean, date, datetime | text, or a value that the type can hold | null where the text is none of these |
 */
const FUNCTIONS = {
  text: words('concat lower upper trim replace substring text'),
  int: words('length indexOf quotient modulo int'),
  double: words('floor ceiling round divide remainder secondOfDay fraction epoch double'),
  boolean: words('contains startsWith endsWith matches boolean'),
  date: words('day date'),
  datetime: words('datetime'),
} as const

type FunctionType = keyof typeof FUNCTIONS
export type FunctionName = (typeof FUNCTIONS)[FunctionType][number]

const FUNCTION_TYPES: ReadonlyMap<FunctionName, FunctionType> = new Map(
  Object.entries(FUNCTIONS).flatMap(([type, names]) => names.map(name => [name, type as FunctionType])),
)

/**
 * How a word of a search matches a word of a record; both are folded (model/search.ts). A `part` is no word, but signs that occur in a
 * text as they are.
 */
export type WordMode = 'word' | 'prefix' | 'fuzzy' | 'unfinished' | 'part'

/** A word of a full-text search, folded as in the index; a phrase is one word that contains blanks. */
export interface Word {
  readonly text: string
  readonly mode: WordMode
}

export type SpatialRelation = 'intersects' | 'disjoint' | 'within'

/**
 * What a record must satisfy. Conditions are two-valued: one on an absent value is false, and `not` turns that into true. On a
 * multivalued field a condition holds if any one element satisfies it.
 */
export type Condition =
  | { readonly type: 'and' | 'or'; readonly operands: readonly Condition[] }
  | { readonly type: 'not'; readonly operand: Condition }
  | {
      readonly type: 'compare'
      readonly field: Field
      readonly operator: Comparator
      readonly value: Constant
    }
  | {
      readonly type: 'relation'
      readonly left: Scalar
      readonly operator: Comparator
      readonly right: Scalar
      /** A second relation of the same value: of lists, to the same elements. */
      readonly also?: { readonly operator: Comparator; readonly right: Scalar }
    }
  | {
      readonly type: 'between'
      readonly field: Field
      readonly lower: Bound | null
      readonly upper: Bound | null
    }
  | { readonly type: 'oneOf'; readonly field: Field; readonly values: readonly Constant[] }
  | { readonly type: 'present'; readonly field: Field }
  /** Words anywhere in the record. */
  | { readonly type: 'words'; readonly words: readonly Word[] }
  /** Words within one value of a text field. */
  | { readonly type: 'like'; readonly field: Field; readonly words: readonly Word[] }
  | { readonly type: 'startsWith'; readonly field: Field; readonly text: string }
  | {
      readonly type: 'withinDistance'
      readonly field: Field
      readonly point: GeoPoint
      readonly metres: number
    }
  | {
      readonly type: 'spatial'
      readonly field: Field
      readonly relation: SpatialRelation
      readonly shape: Geometry
    }
  /** One value of the field satisfies a condition, in which it is the `element` of this number. */
  | {
      readonly type: 'some'
      readonly field: Field
      readonly number: number
      readonly condition: Condition
    }
  | { readonly type: 'always'; readonly value: boolean }

/** One end of a range. */
export interface Bound {
  readonly value: Constant
  readonly inclusive: boolean
}

/** One key of the answer and its value. */
export interface SelectedColumn {
  readonly key: string
  readonly value: Scalar
}

/** A sort key: a value of the record, or random, but the same for the same seed. */
export interface Ordering {
  readonly value: Scalar | { readonly type: 'random'; readonly seed: number }
  readonly descending: boolean
  /** Where records without a value sort; by default last in both directions. */
  readonly absent?: 'last' | 'lowest'
}

/** The common part of every question about records. */
export interface Question {
  readonly filter: Condition | null
  /** IANA name of the time zone for the parts, formats and ranges of dates. */
  readonly timezone: string
  /** null for all. */
  readonly limit: number | null
  readonly offset: number
}

/**
 * A query for the records of a dataset, in terms of the dataset: every query language is resolved to it, and the compiler starts
 * from it. Source order decides between equal records.
 */
export interface RecordQuery extends Question {
  readonly type: 'records'
  readonly select: readonly SelectedColumn[]
  readonly orderBy: readonly Ordering[]
}

/** A key of the rows of a grouped answer. */
export type Grouping =
  | { readonly type: 'value'; readonly value: Scalar }
  /** Half-open steps between edges; null is an open end. */
  | {
      readonly type: 'steps'
      readonly value: Scalar
      readonly edges: readonly (Constant | null)[]
    }
  /** Steps of equal width, aligned to its multiples; for dates in local time of the time zone. */
  | {
      readonly type: 'width'
      readonly value: Scalar
      readonly width: number
      readonly unit: TimeUnit | null
    }
  /** Cells of a grid, of a width in degrees. */
  | { readonly type: 'cells'; readonly field: Field; readonly degrees: number }

export interface GroupKey {
  readonly key: string
  readonly grouping: Grouping
}

export const AGGREGATE_NAMES = words('count sum avg min max percentile envelope bbox')

export type AggregateName = (typeof AGGREGATE_NAMES)[number]

/** One aggregate of a group; `of` null counts records. */
export interface Aggregate {
  readonly name: AggregateName
  readonly of: Scalar | null
  readonly distinct: boolean
  /** 0 to 100, of a percentile. */
  readonly rank: number
}

/** A value of a row: an aggregate, a key of the group by its index, a constant, or arithmetic over them. */
export type RowValue =
  | { readonly type: 'aggregate'; readonly aggregate: Aggregate }
  | { readonly type: 'key'; readonly index: number }
  | { readonly type: 'constant'; readonly value: Constant; readonly of: FieldType }
  | {
      readonly type: 'arithmetic'
      readonly operator: '+' | '-' | '*' | '/'
      readonly left: RowValue
      readonly right: RowValue
    }

export interface RowSelection {
  readonly key: string
  readonly value: RowValue
}

export interface RowOrdering {
  readonly value: RowValue
  readonly descending: boolean
}

/**
 * A query for groups of records; without keys, all records are one group. Rows come in the requested order and then by their
 * keys; null is the lowest key.
 */
export interface GroupQuery extends Question {
  readonly type: 'groups'
  readonly keys: readonly GroupKey[]
  readonly select: readonly RowSelection[]
  readonly orderBy: readonly RowOrdering[]
  /** Whether records without a key form a group. */
  readonly nullGroups: boolean
}

export type Query = RecordQuery | GroupQuery

/** The condition that every record satisfies. */
export const ALWAYS: Condition = { type: 'always', value: true }

/** The condition that no record satisfies. */
export const NEVER: Condition = { type: 'always', value: false }

/** A number as a value. */
export function numberScalar(value: number): Scalar {
  return { type: 'constant', value: value + 0, of: Number.isSafeInteger(value) ? 'int' : 'double' }
}

/** Arithmetic of two values. */
export function arithmeticScalar(operator: '+' | '-' | '*' | '/', left: Scalar, right: Scalar) {
  return { type: 'arithmetic', operator, left, right } as const
}

/** The value of a function. */
export function functionScalar(name: FunctionName, ...args: readonly Scalar[]): Scalar {
  return { type: 'function', name, arguments: args, of: FUNCTION_TYPES.get(name) ?? 'text' }
}

/** The type of the values of a scalar. */
export function scalarType(scalar: Scalar): FieldType {
  switch (scalar.type) {
    case 'field':
      return scalar.field.type
    case 'constant':
    case 'function':
    case 'element':
    case 'choice':
      return scalar.of
    case 'arithmetic':
      return scalar.of ?? 'double'
    case 'distance':
    case 'coordinate':
      return 'double'
    case 'datePart':
    case 'valueCount':
      return 'int'
    case 'dateFormat':
    case 'json':
      return 'text'
    case 'ifNull':
      return scalarType(scalar.operand)
    case 'truth':
      return 'boolean'
  }
}

/** True where a number can be infinite or NaN: the store holds no such numbers, but the arithmetic of OData produces them. */
export function canBeInfinite(scalar: Scalar): boolean {
  switch (scalar.type) {
    case 'function':
      if (scalar.name === 'divide' || scalar.name === 'remainder' || scalar.name === 'double') return true
      return scalar.arguments.some(canBeInfinite)
    case 'arithmetic':
      return scalar.of === 'double' || canBeInfinite(scalar.left) || canBeInfinite(scalar.right)
    case 'choice':
      return scalar.branches.some(({ value }) => canBeInfinite(value))
    default:
      return false
  }
}

/** The direct parts of a value or condition. */
export function planParts(node: Scalar | Condition): readonly (Scalar | Condition)[] {
  switch (node.type) {
    case 'and':
    case 'or':
      return node.operands
    case 'some':
      return [node.condition]
    case 'valueCount':
      return node.where === undefined ? [] : [node.where.condition]
    case 'relation':
      return [node.left, node.right, ...(node.also === undefined ? [] : [node.also.right])]
    case 'arithmetic':
      return [node.left, node.right]
    case 'choice':
      return node.branches.flatMap(({ when, value }) => [when, value])
    case 'function':
      return node.arguments
    case 'truth':
      return [node.holds, node.fails]
    case 'ifNull':
      return [node.operand, node.other]
    default:
      return 'operand' in node ? [node.operand] : []
  }
}

/** The fields that a value or condition reads. */
export function fieldsOf(node: Scalar | Condition): readonly Field[] {
  return [...('field' in node ? [node.field] : []), ...planParts(node).flatMap(fieldsOf)]
}
