import { exactJson } from '../model/exact-json.ts'
import type { FieldType } from '../model/field.ts'
import { lookup } from '../model/lookup.ts'
import { areEmpty, type GuessedColumn, typeOfColumn } from './guess/column-type.ts'
import { coordinateColumns, coordinateQuestion } from './guess/coordinate-columns.ts'
import { namesIdentifier, namesOutline } from './guess/name-hints.ts'
import { TextProfile } from './guess/profile.ts'
import { suggestionOf } from './guess/suggestion.ts'
import { type FileHints, hintsOf } from './guess/text-type.ts'
import { type RecordSource, unreadable } from './source.ts'
import { isNumberPair, largest } from './typing/coordinates.ts'
import type { FieldSpec } from './typing/fields.ts'
import { safeNames } from './typing/names.ts'
import { formatPointer } from './typing/pointer.ts'
import {
  ALL_TYPES,
  INT_TYPES,
  isBeyondNumbers,
  isGeometryText,
  isListOfScalars,
  isPlainObject,
  nameSuggestsPoint,
  TEXT,
  typesOf,
} from './typing/value-types.ts'

/** Maximum depth of nested objects that become columns; deeper ones are JSON. */
const MAX_DEPTH = 4

/** Maximum members of an object with columns; an object with more is a map whose keys are data. */
const MAX_MEMBERS = 64

/** Maximum columns of a source. */
const MAX_COLUMNS = 1000

/** Maximum values of a column in a report, and characters of each. */
const MAX_EXAMPLES = 3
const EXAMPLE_CHARACTERS = 60

/** The result of inference for one column. */
export interface ColumnReport {
  readonly column: string
  readonly field: string
  readonly type: FieldType
  readonly format?: string
  /** Why this type was chosen. */
  readonly why: string
  readonly examples: readonly string[]
  /** Number of rows with a value. */
  readonly filled: number
  /** Texts that denote no value. */
  readonly nulls: readonly string[]
  /** Values that prevent a narrower type of the column. */
  readonly unfittingValues: readonly string[]
  /** A suggestion for the publisher. */
  readonly suggestion?: string
}

/** The fields of a source, with the reasons. */
export interface Inference {
  readonly rows: number
  readonly fields: readonly FieldSpec[]
  readonly columns: readonly ColumnReport[]
}

/**
 * Infers the fields of a source from all its rows: one for each column, in order of appearance, of the narrowest type that fits
 * every value, and points for pairs of columns with coordinates.
 *
 * - int, double: in text without leading zeros and of at most 15 digits before the point, else they are identifiers and text; with decimal commas,
 * thousands separators, a currency or a unit they get a `format`; JSON integers beyond 64 bits are text, unless others have fractions;
 * - boolean: true and false, or another pair of words, which is then the `format`;
 * - date, datetime: ISO 8601, or one pattern that fits all values, which is then the `format`;
 * - geo_point_2d: GeoJSON points, {lat, lon} objects, and two coordinates in a text, in columns whose name indicates positions or which are precise;
 * - geo_shape: GeoJSON or WKT geometries;
 * - an array of scalars, or without elements, is a multivalued text; objects become columns of their members, with a JSON Pointer as `from`, four levels
 * deep; other JSON, and objects with more than 64 distinct members, are text;
 * - words for no value (`n/a`, `-`) do not prevent the type of a column: they are its `nulls`.
 *
 * Throws SourceUnreadable as the source does, and for more than 1,000 columns.
 */
export async function inferColumns(source: RecordSource): Promise<Inference> {
  const columns = new Map<string, GuessedColumn>()
  let rows = 0
  if (source.columns !== undefined)
    for (const name of await source.columns()) columnNamed(columns, [], name, source)
  for await (const batch of source.read()) {
    rows += batch.length
    for (const { data } of batch)
      for (const name in data) note(columnNamed(columns, [], name, source), lookup(data, name))
  }
  const all = [...columns.values()].flatMap(leaves)
  if (all.length > MAX_COLUMNS) throw tooMany(source.name, all.length)
  return inferenceOf(all, rows, source.units?.())
}

function tooMany(name: string, count: number): Error {
  return unreadable(
    `The records have ${count} columns, and a dataset has at most ${MAX_COLUMNS} fields.`,
    { file: name },
    'Publish fewer columns: name them in fields, or make rows of them.',
  )
}

function columnNamed(
  columns: Map<string, GuessedColumn>,
  path: readonly string[],
  name: string,
  source: Pick<RecordSource, 'name'>,
): GuessedColumn {
  const known = columns.get(name)
  if (known !== undefined) return known
  if (path.length === 0 && columns.size >= MAX_COLUMNS * 2) throw tooMany(source.name, columns.size + 1)
  const column: GuessedColumn = {
    path: [...path, name],
    types: ALL_TYPES,
    otherTypes: ALL_TYPES,
    suggestsPoint: nameSuggestsPoint(name),
    hasPosition: false,
    hasScalar: false,
    hasList: false,
    hasLong: false,
    hasFraction: false,
    hasJson: false,
    isProjected: false,
    members: undefined,
    filled: 0,
    isMidnight: true,
    isPairs: true,
    maxOfPairs: [0, 0],
    profile: new TextProfile(),
    examples: [],
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
  }
  columns.set(name, column)
  return column
}

function note(column: GuessedColumn, value: unknown): void {
  if (value === null || value === undefined || column.hasJson) return
  if (typeof value === 'string') noteText(column, value.trim(), value)
  else if (Array.isArray(value) && value.every(it => it === null)) column.hasEmptyList = true
  else if (Array.isArray(value)) noteList(column, value)
  else if (isPlainObject(value)) noteMembers(column, value)
  else noteScalar(column, value)
}

function noteList(column: GuessedColumn, value: readonly unknown[]): void {
  noteExample(column, value)
  if (isNumberPair(value)) column.maxOfPairs = largest(column.maxOfPairs, value)
  else column.isPairs = false
  if (isListOfScalars(value)) column.hasList = true
  else column.hasJson = true
}

function noteScalar(column: GuessedColumn, value: unknown): void {
  column.hasScalar = true
  noteExample(column, value)
  const { types, isPosition } = typesOf(value, ALL_TYPES, column.suggestsPoint)
  column.types &= types
  column.otherTypes &= types
  if (isPosition) column.hasPosition = true
  if (isBeyondNumbers(value)) column.hasLong = true
  if (types === TEXT && typeof value === 'object') column.isProjected = true
  if (typeof value === 'number' && Number.isFinite(value)) {
    if (!Number.isInteger(value)) column.hasFraction = true
    noteNumber(column, value)
  } else if (typeof value === 'bigint') noteNumber(column, Number(value))
}

function noteText(column: GuessedColumn, text: string, raw: string): void {
  if (text === '') return
  column.hasScalar = true
  noteExample(column, text)
  column.profile.note(text, raw)
  if (column.types === TEXT) return
  if (column.isMidnight && !MIDNIGHT.test(text)) column.isMidnight = false
  const { types, isPosition } = typesOf(text, column.types, column.suggestsPoint)
  column.types &= types
  if (isPosition) column.hasPosition = true
  if (types === TEXT && isGeometryText(text)) column.isProjected = true
  if (types & INT_TYPES) noteNumber(column, Number(text))
}

const MIDNIGHT = /^\d{4}[-/]\d\d[-/]\d\d(?:$|[T ]00:00(?::00(?:[.,]0+)?)?$)/

function noteNumber(column: GuessedColumn, value: number): void {
  if (value < column.min) column.min = value
  if (value > column.max) column.max = value
}

function noteExample(column: GuessedColumn, value: unknown): void {
  column.filled++
  if (column.examples.length >= MAX_EXAMPLES) return
  const text = typeof value === 'string' ? value : (exactJson(value) ?? String(value))
  const shown = text.length > EXAMPLE_CHARACTERS ? `${text.slice(0, EXAMPLE_CHARACTERS - 1)}…` : text
  if (!column.examples.includes(shown)) column.examples.push(shown)
}

function noteMembers(column: GuessedColumn, object: Readonly<Record<string, unknown>>): void {
  column.members ??= new Map()
  const { members } = column
  if (column.path.length < MAX_DEPTH)
    for (const name in object) {
      if (members.size > MAX_MEMBERS) break
      note(columnNamed(members, column.path, name, { name: '' }), lookup(object, name))
    }
  if (column.path.length === MAX_DEPTH || members.size > MAX_MEMBERS) {
    column.hasJson = true
    column.members = undefined
  }
}

/** The resulting columns of a column: itself, or those of its members if all its values are objects. */
function leaves(column: GuessedColumn): readonly GuessedColumn[] {
  const { members } = column
  if (members === undefined || column.hasJson) return [column]
  if (column.hasPosition && areEmpty(members)) return [column]
  if (column.hasScalar || column.hasList || members.size === 0) return [{ ...column, hasJson: true }]
  return [...members.values()].flatMap(leaves)
}

function inferenceOf(
  columns: readonly GuessedColumn[],
  rows: number,
  units: ReadonlyMap<string, string> = new Map(),
): Inference {
  const names = safeNames(columns.map(column => column.path.join('_')))
  const hints = hintsOf(columns.map(({ profile, path }) => ({ profile, name: path.at(-1) ?? '' })))
  const inferred = columns.map((column, index) =>
    fieldAndReport(column, names[index] as string, hints, units),
  )
  const candidates = inferred.map(({ spec, column: { min, max, profile } }) => ({ spec, min, max, profile }))
  const points = coordinateColumns(candidates)
  const fields = [...inferred.map(({ spec }) => spec), ...points]
  const [doubted, suggestion] = (points.length === 0 && coordinateQuestion(candidates)) || []
  const reports = inferred.map(({ report }) =>
    report.field === doubted && suggestion !== undefined ? { suggestion, ...report } : report,
  )
  const pointReports = points.map(
    (spec): ColumnReport => ({
      column: (spec.from as readonly string[]).join(', '),
      field: spec.name,
      type: 'geo_point_2d',
      why: 'the two columns are latitude and longitude',
      examples: [],
      filled: rows,
      nulls: [],
      unfittingValues: [],
    }),
  )
  return { rows, fields, columns: [...reports, ...pointReports] }
}

function fieldAndReport(
  column: GuessedColumn,
  name: string,
  hints: FileHints,
  units: ReadonlyMap<string, string>,
) {
  const { path, profile, examples, filled } = column
  const title = path.at(-1) ?? ''
  const { type, format, nulls, why, question, annotations } = typeOfColumn(column, title, hints)
  const isList = (column.hasList || column.hasEmptyList === true) && !column.hasJson && type === 'text'
  const unit = type === 'int' || type === 'double' ? units.get(title) : undefined
  const allAnnotations = {
    ...(unit === undefined ? {} : { unit: [unit] }),
    ...annotations,
    ...(isList ? { multivalued: [] } : {}),
  }
  const from = path.length === 1 ? title : formatPointer(path)
  const spec: FieldSpec = {
    name,
    type,
    from,
    label: path.join('.'),
    ...(format === undefined ? {} : { format }),
    ...(nulls.length === 0 ? {} : { nulls }),
    ...(Object.keys(allAnnotations).length > 0 ? { annotations: allAnnotations } : {}),
  }
  const isNumeric = !isList && !namesIdentifier(title) && !namesOutline(title)
  const near = type === 'text' && isNumeric ? profile.nearly() : undefined
  const suggestion =
    question ?? (type === 'text' ? suggestionOf(profile, near, column.isProjected) : undefined)
  const report: ColumnReport = {
    column: from,
    field: name,
    type,
    ...(format === undefined ? {} : { format }),
    why,
    examples,
    filled,
    nulls,
    unfittingValues: near?.unfittingValues ?? [],
    ...(suggestion === undefined ? {} : { suggestion }),
  }
  return { column, spec, report }
}
