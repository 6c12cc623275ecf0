import { nearest } from '../../model/did-you-mean.ts'
import {
  type Annotations,
  coarsePrecision,
  FIELD_TYPES,
  type Field,
  type FieldType,
  field,
} from '../../model/field.ts'
import { toGeoPointOfTwo } from '../../model/geometry.ts'
import { lookup } from '../../model/lookup.ts'
import { isTimeZone } from '../../model/time.ts'
import { misconfigured } from '../source.ts'
import { type Converter, converterOf, textsConverter } from './convert.ts'
import { coordinateOf } from './coordinates.ts'
import { parsePointer, valueAt, valuesAt } from './pointer.ts'

/** The declaration of a field in dataset.yaml. */
export interface FieldSpec {
  /** `[a-z0-9_]+` */
  readonly name: string
  /** text by default. */
  readonly type?: FieldType
  /**
   * The column by its exact name; else a JSON Pointer, in which `*` matches every element of an array or value of an
   * object; for a geo_point_2d also the two columns of latitude and longitude. The field's name by default.
   */
  readonly from?: string | readonly string[]
  /** True for the member names of the object at `from`, instead of its values. */
  readonly keys?: boolean
  readonly label?: string
  readonly description?: string
  /** `multivalued` makes a text field a list; its argument separates the elements of a text. */
  readonly annotations?: Annotations
  /** Texts that denote no value, in addition to the empty one: `n/a`. */
  readonly nulls?: readonly string[]
  /**
   * Decimal sign of a double, or how the column writes 1234.5: `,`, `1 234,5`, `€1,234.5`; an int: `1,234`. Words of a boolean,
   * the one for true first: `Oui/Non`. Order of the coordinates of a point: `lon,lat`. Pattern of a date or datetime: `MMM dd
   * yyyy`, `epoch-s`, `epoch-ms`.
   */
  readonly format?: string
  /** IANA time zone of datetimes without offset; UTC by default. */
  readonly timezone?: string
}

/** The data of a row. */
export type RowData = Readonly<Record<string, unknown>>

/** A field compiled for reading its values from rows. */
export interface CompiledField {
  readonly name: string
  readonly type: FieldType
  /** Columns and pointers that it reads. */
  readonly columns: readonly string[]
  /** The unconverted value of a row; undefined if it lacks the column. */
  readonly extract: (data: RowData) => unknown
  readonly convert: Converter
  /** `an int`: the expected value, for conversion errors. */
  readonly expected: string
}

/** True if the values of a field are lists. */
function isMultivalued(spec: FieldSpec): boolean {
  return spec.annotations?.multivalued !== undefined
}

/** The field as described by the APIs. */
export function fieldOf(spec: FieldSpec): Field {
  return field(spec.name, spec.type ?? 'text', {
    label: spec.label ?? spec.name,
    description: spec.description ?? null,
    annotations: spec.annotations ?? {},
    multivalued: isMultivalued(spec),
  })
}

/**
 * Compiles fields for reading their values from rows. Throws ConfigInvalid for an invalid field: a bad or repeated name, an
 * unknown type, or a format, time zone or `from` that its type does not support.
 */
export function compileFields(specs: readonly FieldSpec[]): readonly CompiledField[] {
  const names = new Set<string>()
  return specs.map(spec => {
    if (names.has(spec.name))
      throw misconfigured(`There are two fields called ${spec.name}.`, undefined, 'name')
    names.add(spec.name)
    return compileField(spec)
  })
}

function compileField(spec: FieldSpec): CompiledField {
  const { name, type = 'text', format, timezone = 'UTC', from = name } = spec
  checkSpec(spec, type, timezone)
  const columns = typeof from === 'string' ? [from] : from
  const article = /^[aeiou]/.test(type) ? 'an' : 'a'
  const isCoarse = coarsePrecision({ type, annotations: spec.annotations ?? {} }) !== null
  return {
    name,
    type,
    columns,
    extract: typeof from === 'string' ? extractor(from, spec.keys === true) : pairExtractor(from),
    convert: withoutNulls(
      spec,
      isMultivalued(spec)
        ? textsConverter(separatorOf(spec))
        : typeof from === 'string'
          ? converterOf(type, format, timezone, isCoarse)
          : pairConverter(spec.nulls),
    ),
    expected: `${article} ${type}${format === undefined ? '' : ` with format ${format}`}`,
  }
}

/** A point from two values, each a number, its text with point or comma, or degrees, minutes and seconds. */
function pairConverter(nulls: readonly string[] = []): Converter {
  const absent = new Set(nulls)
  return raw => {
    const pair = (raw as readonly [unknown, unknown]).map(it => (isAbsent(absent, it) ? null : it))
    const [lat, lon] = pair.map(it => coordinateOf(it) ?? it)
    return toGeoPointOfTwo(lat, lon)
  }
}

function withoutNulls({ nulls, from }: FieldSpec, convert: Converter): Converter {
  if (nulls === undefined || nulls.length === 0 || typeof from === 'object') return convert
  const absent = new Set(nulls)
  return raw => (isAbsent(absent, raw) ? null : convert(raw))
}

/** True for a text that denotes no value, and for a number that it writes: files with types have numbers where CSV has texts. */
function isAbsent(absent: ReadonlySet<string>, raw: unknown): boolean {
  if (typeof raw === 'string') return absent.has(raw.trim())
  return (typeof raw === 'number' || typeof raw === 'bigint') && absent.has(String(raw))
}

function checkSpec(spec: FieldSpec, type: FieldType, timezone: string): void {
  const { name, from } = spec
  if (!/^[a-z0-9_]+$/.test(name))
    throw misconfigured(
      `A field cannot be called ${JSON.stringify(name)}.`,
      'Use a to z, 0 to 9 and _.',
      'name',
    )
  if (!FIELD_TYPES.includes(type)) {
    const near = nearest(type, FIELD_TYPES)
    throw misconfigured(
      `The field ${name} has the type ${JSON.stringify(type)}, which does not exist.`,
      near === undefined ? `type: ${FIELD_TYPES.join(', ')}` : `Did you mean ${near}?`,
      'type',
    )
  }
  if (!isTimeZone(timezone))
    throw misconfigured(
      `The field ${name} has the time zone ${JSON.stringify(timezone)}, which does not exist.`,
      undefined,
      'timezone',
    )
  if (isMultivalued(spec) && type !== 'text')
    throw misconfigured(
      `The field ${name} is multivalued, which only a text field can be.`,
      undefined,
      'annotations.multivalued',
    )
  if (isMultivalued(spec) && spec.format !== undefined)
    throw misconfigured(`The field ${name} is multivalued and has no format.`, undefined, 'format')
  if (typeof from !== 'object') return
  if (type !== 'geo_point_2d' || from.length !== 2 || spec.keys === true || spec.format !== undefined)
    throw misconfigured(
      `The field ${name} cannot be made of a list of columns.`,
      'Only a geo_point_2d can: from: [latitude, longitude].',
      'from',
    )
}

function separatorOf(spec: FieldSpec): string | undefined {
  const separator = spec.annotations?.multivalued?.[0]
  if (separator === undefined) return undefined
  if (typeof separator === 'string' && separator !== '') return separator
  throw misconfigured(
    `The field ${spec.name} has a separator that is no text.`,
    "multivalued: [',']",
    'annotations.multivalued',
  )
}

function extractor(from: string, keys: boolean): (data: RowData) => unknown {
  const read = fieldReader(from)
  if (!keys) return read
  return data => {
    const value = read(data)
    return isObject(value) ? Object.keys(value) : value
  }
}

/**
 * Reads the value of `from` in a row: the column of that exact name, else the value at the JSON Pointer. Undefined if the row has
 * neither.
 */
export function fieldReader(from: string): (data: RowData) => unknown {
  if (!from.startsWith('/')) return data => lookup(data, from)
  const path = parsePointer(from)
  const read = path.includes('*') ? valuesAt : valueAt
  return data => (Object.hasOwn(data, from) ? lookup(data, from) : read(data, path))
}

function pairExtractor(from: readonly string[]): (data: RowData) => unknown {
  const [lat, lon] = from.map(fieldReader) as [(data: RowData) => unknown, (data: RowData) => unknown]
  return data => [lat(data), lon(data)]
}

/** True for an object of JSON. */
export function isObject(value: unknown): value is RowData {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
