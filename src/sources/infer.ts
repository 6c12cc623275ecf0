import { FIELD_TYPES, type FieldType } from '../model/field.ts'
import { lookup } from '../model/lookup.ts'
import type { FieldSpec } from './fields.ts'
import { safeNames } from './names.ts'
import { formatPointer } from './pointer.ts'
import type { Source } from './source.ts'
import {
  ALL_TYPES,
  isBeyondNumbers,
  isListOfScalars,
  isPlainObject,
  nameSuggestsPoint,
  TEXT,
  typesOf,
} from './value-types.ts'

/** Depth of objects within objects that become columns of their own; what is deeper is JSON. */
const MAX_DEPTH = 4

/** Members beyond which an object is a map with names for data, not a record with columns. */
const MAX_MEMBERS = 64

/** From the narrowest to the widest. */
const NARROWEST: readonly FieldType[] = [
  'boolean',
  'int',
  'double',
  'date',
  'datetime',
  'geo_point_2d',
  'geo_shape',
  'text',
]

/** What has been seen of one column: as much as its type needs, whatever the number of rows. */
interface Column {
  readonly path: readonly string[]
  /** A set of FIELD_TYPES that fit all values so far. */
  types: number
  readonly suggestsPoint: boolean
  /** True once a value was a pair with two fractions, without which `1,5` is no position. */
  hasPosition: boolean
  hasScalar: boolean
  hasList: boolean
  /** True once a value was an integer of more digits than numbers hold, and once one had a fraction. */
  hasLong: boolean
  hasFraction: boolean
  /** True once a value was JSON that only text can hold. */
  hasJson: boolean
  /** Columns of the members of its objects. */
  members: Map<string, Column> | undefined
}

/**
 * Finds the fields of a source from all its rows: one for each column, in the order in which they appear, of the
 * narrowest type that fits every value.
 *
 * - int, double: in text without leading zeros, without plus and of at most 15 digits before the point, else they are
 *   identifiers and text; integers of JSON beyond 64 bits are text, unless others have fractions; boolean: true and false only; date, datetime: ISO 8601;
 * - geo_point_2d: GeoJSON points, {lat, lon} objects, and `lat,lon` text in columns whose name says so; geo_shape: GeoJSON
 *   or WKT geometries;
 * - an array of scalars is a multivalued text; objects become columns of their members, `from` being a JSON Pointer,
 *   four levels deep; other JSON, and objects with more than 64 different members, are text.
 *
 * Throws SourceUnreadable as the source does.
 */
export async function inferFields(source: Source): Promise<readonly FieldSpec[]> {
  const columns = new Map<string, Column>()
  if (source.columns !== undefined) for (const name of await source.columns()) columnNamed(columns, [], name)
  for await (const rows of source.read())
    for (const { data } of rows)
      for (const name in data) note(columnNamed(columns, [], name), lookup(data, name))
  return fieldsOf([...columns.values()].flatMap(leaves))
}

function columnNamed(columns: Map<string, Column>, path: readonly string[], name: string): Column {
  const known = columns.get(name)
  if (known !== undefined) return known
  const column: Column = {
    path: [...path, name],
    types: ALL_TYPES,
    suggestsPoint: nameSuggestsPoint(name),
    hasPosition: false,
    hasScalar: false,
    hasList: false,
    hasLong: false,
    hasFraction: false,
    hasJson: false,
    members: undefined,
  }
  columns.set(name, column)
  return column
}

function note(column: Column, value: unknown): void {
  if (value === null || value === undefined || column.hasJson) return
  if (Array.isArray(value)) {
    if (value.length === 0) return
    if (isListOfScalars(value)) column.hasList = true
    else column.hasJson = true
    return
  }
  if (isPlainObject(value)) noteMembers(column, value)
  else if (column.types !== TEXT) {
    if (typeof value === 'string' && value.trim() === '') return
    column.hasScalar = true
    const { types, isPosition } = typesOf(value, column.types, column.suggestsPoint)
    column.types &= types
    if (isPosition) column.hasPosition = true
    if (isBeyondNumbers(value)) column.hasLong = true
    if (typeof value === 'number' && !Number.isInteger(value)) column.hasFraction = true
  }
}

function noteMembers(column: Column, object: Readonly<Record<string, unknown>>): void {
  column.members ??= new Map()
  const { members } = column
  if (column.path.length < MAX_DEPTH)
    for (const name in object) note(columnNamed(members, column.path, name), lookup(object, name))
  if (column.path.length === MAX_DEPTH || members.size > MAX_MEMBERS) {
    column.hasJson = true
    column.members = undefined
  }
}

/** The columns that a column comes to: itself, or those of its members where all its values are objects. */
function leaves(column: Column): readonly Column[] {
  const { members } = column
  if (members === undefined || column.hasJson) return [column]
  if (column.hasScalar || column.hasList || members.size === 0) return [{ ...column, hasJson: true }]
  return [...members.values()].flatMap(leaves)
}

function fieldsOf(columns: readonly Column[]): readonly FieldSpec[] {
  const names = safeNames(columns.map(column => column.path.join('_')))
  return columns.map((column, index) => ({
    name: names[index] as string,
    type: typeOf(column),
    from: column.path.length === 1 ? (column.path[0] as string) : formatPointer(column.path),
    label: column.path.join('.'),
    ...(column.hasList && !column.hasJson ? { annotations: { multivalued: [] } } : {}),
  }))
}

function typeOf(column: Column): FieldType {
  if (column.hasJson || column.hasList || !column.hasScalar) return 'text'
  const fits = (type: FieldType) =>
    (column.types & (1 << FIELD_TYPES.indexOf(type))) !== 0 && (type !== 'geo_point_2d' || column.hasPosition)
  const type = NARROWEST.find(fits) ?? 'text'
  return type === 'double' && column.hasLong && !column.hasFraction ? 'text' : type
}
