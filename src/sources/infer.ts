import { exactJson } from '../model/exact-json.ts'
import { FIELD_TYPES, type FieldType } from '../model/field.ts'
import { lookup } from '../model/lookup.ts'
import type { FieldSpec } from './fields.ts'
import {
  type Choice,
  chooseType,
  type FileHints,
  hintsOf,
  namesIdentifier,
  namesTime,
} from './guess/choose.ts'
import { coordinateColumns } from './guess/coordinate-columns.ts'
import { TextProfile } from './guess/profile.ts'
import { meansNothing } from './guess/words.ts'
import { safeNames } from './names.ts'
import { formatPointer } from './pointer.ts'
import type { RecordSource } from './source.ts'
import { unreadable } from './unreadable.ts'
import {
  ALL_TYPES,
  INT_TYPES,
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

/** Columns beyond which a source is no table of records. */
const MAX_COLUMNS = 1000

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

/** Values of a column that a report shows, and characters of each. */
const MAX_EXAMPLES = 3
const EXAMPLE_CHARACTERS = 60

/** What has been seen of one column: as much as its type needs, whatever the number of rows. */
interface Column {
  readonly path: readonly string[]
  /** A set of FIELD_TYPES that fit all values so far, and one that fit all which are no texts. */
  types: number
  otherTypes: number
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
  /** Values that are not empty, those of them that are texts, and different ones of the first. */
  filled: number
  readonly profile: TextProfile
  readonly examples: string[]
  /** The smallest and largest number. */
  min: number
  max: number
}

/** What inference found out about one column. */
export interface ColumnReport {
  /** The column, or the pointer to what is nested. */
  readonly column: string
  readonly field: string
  readonly type: FieldType
  readonly format?: string
  /** Why this type was chosen. */
  readonly why: string
  readonly examples: readonly string[]
  /** Rows that have a value. */
  readonly filled: number
  /** Texts that are taken for no value. */
  readonly nulls: readonly string[]
  /** Values that keep the column from having a narrower type. */
  readonly misfits: readonly string[]
  /** What the publisher may want to say otherwise. */
  readonly suggestion?: string
}

/** The fields of a source and how they were found. */
export interface Inference {
  readonly rows: number
  readonly fields: readonly FieldSpec[]
  readonly columns: readonly ColumnReport[]
}

/** The fields that {@link inferColumns} finds. */
export async function inferFields(source: RecordSource): Promise<readonly FieldSpec[]> {
  return (await inferColumns(source)).fields
}

/**
 * Finds the fields of a source from all its rows: one for each column, in the order in which they appear, of the
 * narrowest type that fits every value, and points for pairs of columns with coordinates.
 *
 * - int, double: in text without leading zeros, without plus and of at most 15 digits before the point, else they are
 *   identifiers and text; with decimal commas, separators of thousands, a currency or a unit they get a `format`; integers of
 *   JSON beyond 64 bits are text, unless others have fractions;
 * - boolean: true and false, or another pair of words, which is the `format` then;
 * - date, datetime: ISO 8601, or one pattern that fits all values, which is the `format` then;
 * - geo_point_2d: GeoJSON points, {lat, lon} objects, and two coordinates in a text, in columns whose name says so or which are
 *   precise; geo_shape: GeoJSON or WKT geometries;
 * - an array of scalars is a multivalued text; objects become columns of their members, `from` being a JSON Pointer,
 *   four levels deep; other JSON, and objects with more than 64 different members, are text;
 * - words for no value (`n/a`, `-`) do not keep a column from its type: they are its `nulls`.
 *
 * Throws SourceUnreadable as the source does, and for more than 1,000 columns.
 */
export async function inferColumns(source: RecordSource): Promise<Inference> {
  const columns = new Map<string, Column>()
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
  return inferenceOf(all, rows)
}

function tooMany(name: string, count: number): Error {
  return unreadable(
    `The records have ${count} columns, and a dataset has at most ${MAX_COLUMNS} fields.`,
    { file: name },
    'Publish fewer columns: name them in fields, or make rows of them.',
  )
}

function columnNamed(
  columns: Map<string, Column>,
  path: readonly string[],
  name: string,
  source: Pick<RecordSource, 'name'>,
): Column {
  const known = columns.get(name)
  if (known !== undefined) return known
  if (path.length === 0 && columns.size >= MAX_COLUMNS * 2) throw tooMany(source.name, columns.size + 1)
  const column: Column = {
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
    members: undefined,
    filled: 0,
    profile: new TextProfile(),
    examples: [],
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
  }
  columns.set(name, column)
  return column
}

function note(column: Column, value: unknown): void {
  if (value === null || value === undefined || column.hasJson) return
  if (typeof value === 'string') noteText(column, value.trim())
  else if (Array.isArray(value)) noteList(column, value)
  else if (isPlainObject(value)) noteMembers(column, value)
  else noteScalar(column, value)
}

function noteList(column: Column, value: readonly unknown[]): void {
  if (value.length === 0) return
  noteExample(column, value)
  if (isListOfScalars(value)) column.hasList = true
  else column.hasJson = true
}

function noteScalar(column: Column, value: unknown): void {
  column.hasScalar = true
  noteExample(column, value)
  const { types, isPosition } = typesOf(value, ALL_TYPES, column.suggestsPoint)
  column.types &= types
  column.otherTypes &= types
  if (isPosition) column.hasPosition = true
  if (isBeyondNumbers(value)) column.hasLong = true
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) column.hasFraction = true
    noteNumber(column, value)
  }
}

function noteText(column: Column, text: string): void {
  if (text === '') return
  column.hasScalar = true
  noteExample(column, text)
  column.profile.note(text)
  if (column.types === TEXT) return
  const { types, isPosition } = typesOf(text, column.types, column.suggestsPoint)
  column.types &= types
  if (isPosition) column.hasPosition = true
  if (types & INT_TYPES) noteNumber(column, Number(text))
}

function noteNumber(column: Column, value: number): void {
  if (value < column.min) column.min = value
  if (value > column.max) column.max = value
}

function noteExample(column: Column, value: unknown): void {
  column.filled++
  if (column.examples.length >= MAX_EXAMPLES) return
  const text = typeof value === 'string' ? value : (exactJson(value) ?? String(value))
  const shown = text.length > EXAMPLE_CHARACTERS ? `${text.slice(0, EXAMPLE_CHARACTERS - 1)}…` : text
  if (!column.examples.includes(shown)) column.examples.push(shown)
}

function noteMembers(column: Column, object: Readonly<Record<string, unknown>>): void {
  column.members ??= new Map()
  const { members } = column
  if (column.path.length < MAX_DEPTH)
    for (const name in object)
      note(columnNamed(members, column.path, name, { name: '' }), lookup(object, name))
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

function inferenceOf(columns: readonly Column[], rows: number): Inference {
  const names = safeNames(columns.map(column => column.path.join('_')))
  const hints = hintsOf(columns.map(({ profile, path }) => ({ profile, name: path.at(-1) ?? '' })))
  const made = columns.map((column, index) => fieldAndReport(column, names[index] as string, hints))
  const points = coordinateColumns(
    made.map(({ spec, column }) => ({ spec, min: column.min, max: column.max, profile: column.profile })),
  )
  const fields = [...made.map(({ spec }) => spec), ...points]
  const reports = made.map(({ report }) => report)
  const pointReports = points.map(
    (spec): ColumnReport => ({
      column: (spec.from as readonly string[]).join(', '),
      field: spec.name,
      type: 'geo_point_2d',
      why: 'the two columns are latitude and longitude',
      examples: [],
      filled: rows,
      nulls: [],
      misfits: [],
    }),
  )
  return { rows, fields, columns: [...reports, ...pointReports] }
}

function fieldAndReport(column: Column, name: string, hints: FileHints) {
  const { path, profile, examples, filled } = column
  const title = path.at(-1) ?? ''
  const { type, format, nulls, why, question, annotations } = typeOf(column, title, hints)
  const isList = column.hasList && !column.hasJson
  const notes = { ...annotations, ...(isList ? { multivalued: [] } : {}) }
  const from = path.length === 1 ? title : formatPointer(path)
  const spec: FieldSpec = {
    name,
    type,
    from,
    label: path.join('.'),
    ...(format === undefined ? {} : { format }),
    ...(nulls.length === 0 ? {} : { nulls }),
    ...(Object.keys(notes).length > 0 ? { annotations: notes } : {}),
  }
  const near = type === 'text' && !isList ? profile.nearly() : undefined
  const suggestion = question ?? (near === undefined ? undefined : nearText(near))
  const report: ColumnReport = {
    column: from,
    field: name,
    type,
    ...(format === undefined ? {} : { format }),
    why,
    examples,
    filled,
    nulls,
    misfits: near?.misfits ?? [],
    ...(suggestion === undefined ? {} : { suggestion }),
  }
  return { column, spec, report }
}

function nearText({
  kind,
  misfits: conversionErrors,
}: {
  readonly kind: string
  readonly misfits: readonly string[]
}): string {
  const what = kind === 'pair' ? 'pairs of coordinates' : `${kind}s`
  const shown = conversionErrors.map(it => JSON.stringify(it)).join(', ')
  return conversionErrors.length === 0
    ? `most values are ${what}, in more than one form`
    : `most values are ${what}, but not ${shown}: mend these, or name a type and they become null`
}

/** Whole numbers between 2000 and 2050 as seconds since 1970. */
const EPOCH = { from: 946_684_800, to: 2_524_608_000 } as const

function typeOf(column: Column, name: string, hints: FileHints): Choice {
  const { profile } = column
  const text = (why: string): Choice => ({ type: 'text', nulls: [], why })
  if (column.hasJson) return text('the values are nested, or of different kinds')
  if (column.hasList) return text('the values are lists')
  if (!column.hasScalar) return text('there are no values')
  const plain = plainType(column, column.types)
  if (plain === 'int' && profile.count === column.filled && namesIdentifier(name))
    return text('the name is that of identifiers, whose digits are no quantity')
  if (plain === 'int') return numberOrTime(column, name)
  if (plain === 'double') {
    const chosen = profile.count === column.filled ? chooseType(profile, name, false, hints) : undefined
    if (chosen?.format !== undefined && chosen.type === 'int') return chosen
  }
  if (plain !== 'text') return { type: plain, nulls: [], why: PLAIN_REASONS[plain] }
  if (profile.count === column.filled) {
    const chosen = chooseType(profile, name, column.suggestsPoint, hints)
    if (chosen !== undefined) return chosen
    return text(namesIdentifier(name) ? 'the name is that of identifiers' : 'no other type fits all values')
  }
  return mixedType(column) ?? text('no other type fits all values')
}

/** Values that are typed but for words that mean nothing, as in spreadsheets. */
function mixedType(column: Column): Choice | undefined {
  const words = [...(column.profile.values()?.keys() ?? [])]
  const type = plainType(column, column.otherTypes)
  if (type === 'text' || words.length === 0 || !words.every(meansNothing)) return undefined
  return { type, nulls: words, why: `all values but ${words.map(it => JSON.stringify(it)).join(', ')} fit` }
}

function numberOrTime(column: Column, name: string): Choice {
  const { min, max, profile, filled } = column
  if (profile.count === filled && filled > 0) {
    const days = profile.days(true)
    const isDay = days !== undefined && min >= 18_000_101 && max <= 21_001_231
    const isMany = (profile.values()?.size ?? 100) >= 3
    if (isDay && isMany && (namesTime(name) || /datum|fecha|jour|data|day|dob|birth/i.test(name)))
      return {
        type: 'date',
        format: 'yyyyMMdd',
        nulls: [],
        why: 'all values are days written as yyyyMMdd, and so says the name',
      }
  }
  if (namesTime(name) && min >= EPOCH.from && max <= EPOCH.to)
    return {
      type: 'datetime',
      format: 'epoch-s',
      nulls: [],
      why: 'the name says that the values count seconds',
    }
  if (namesTime(name) && min >= EPOCH.from * 1000 && max <= EPOCH.to * 1000)
    return {
      type: 'datetime',
      format: 'epoch-ms',
      nulls: [],
      why: 'the name says that the values count milliseconds',
    }
  return { type: 'int', nulls: [], why: PLAIN_REASONS.int }
}

const PLAIN_REASONS: Readonly<Record<FieldType, string>> = {
  text: 'no other type fits all values',
  int: 'all values are whole numbers',
  double: 'all values are numbers',
  boolean: 'all values are true or false',
  date: 'all values are days of ISO 8601',
  datetime: 'all values are moments of ISO 8601',
  geo_point_2d: 'all values are positions',
  geo_shape: 'all values are geometries',
}

function plainType(column: Column, types: number): FieldType {
  const fits = (type: FieldType) =>
    (types & (1 << FIELD_TYPES.indexOf(type))) !== 0 && (type !== 'geo_point_2d' || column.hasPosition)
  const type = NARROWEST.find(fits) ?? 'text'
  return type === 'double' && column.hasLong && !column.hasFraction ? 'text' : type
}
