import type { FileMetaData, SchemaElement, SchemaTree } from 'hyparquet'
import { lookup, setMember } from '../../model/lookup.ts'
import { shortestSingle } from '../../model/number.ts'
import {
  type DatumWarnings,
  type ProjJson,
  type RawGeometry,
  reprojected,
  type Unprojector,
  unprojectorOfName,
  unprojectorOfProjJson,
} from '../reference-system.ts'
import { unreadable } from '../source.ts'

/** Converts a value of a column, as it is stored or assembled, to a value of a source. */
type ColumnConversion = (value: unknown) => unknown

/** Maximum significant digits that every double preserves. */
const DOUBLE_DIGITS = 15

/**
 * The columns that have decimals, local times, times of the day, intervals or numbers of single precision, also in lists, maps and
 * structures, with their conversions: decimals are exact, times are `HH:MM:SS`, intervals durations. hyparquet would round decimals to
 * doubles, leave times in the unit of the file and refuse intervals, so the elements of the schema are changed: it then returns the
 * stored values.
 */
export function columnConversions({ children }: SchemaTree): ReadonlyMap<string, ColumnConversion> {
  return new Map(
    children.flatMap(child => {
      const convert = conversionOf(child)
      return convert === undefined ? [] : [[child.element.name, convert] as const]
    }),
  )
}

/** Converts the members of an object in place. */
export function convertMembers(
  object: Record<string, unknown>,
  conversions: ReadonlyMap<string, ColumnConversion>,
): void {
  for (const [name, convert] of conversions) setMember(object, name, convert(lookup(object, name)))
}

/** The conversion of a node of the schema: hyparquet assembles lists as arrays, maps and structures as objects. */
function conversionOf(node: SchemaTree): ColumnConversion | undefined {
  const { element, children } = node
  const [first] = children
  if (first === undefined) return forEach(storedConversion(element))
  // Variants are decoded by hyparquet.
  if (element.logical_type?.type === 'VARIANT') return undefined
  const isGroup = children.length === 1 && first.element.repetition_type === 'REPEATED'
  if (isGroup && element.converted_type === 'LIST' && first.children.length <= 1)
    return conversionOf(first.children[0] ?? first)
  if (isGroup && element.converted_type === 'MAP' && first.children.length === 2)
    return forEach(mapConversion(first))
  const members = columnConversions(node)
  const nested = groupNames(node)
  if (members.size === 0 && nested.length === 0) return undefined
  return forEach(struct => {
    convertMembers(struct as Record<string, unknown>, members)
    setAbsent(struct as Record<string, unknown>, nested)
    return struct
  })
}

/** The names of the structures, lists and maps of a node. */
export function groupNames({ children }: SchemaTree): readonly string[] {
  return children.flatMap(({ element, children: inner }) => (inner.length === 0 ? [] : [element.name]))
}

/** Sets null where hyparquet leaves a structure, list or map undefined, in place. */
export function setAbsent(object: Record<string, unknown>, names: readonly string[]): void {
  for (const name of names) setMember(object, name, lookup(object, name) ?? null)
}

/** Converts the values of a map; its keys are names, which hyparquet converts. */
function mapConversion({ children }: SchemaTree): ColumnConversion | undefined {
  const values = children.find(({ element }) => element.name === 'value')
  const convert = values && conversionOf(values)
  return (
    convert &&
    (map => {
      const object = map as Record<string, unknown>
      const names = Object.keys(object)
      convertMembers(object, new Map(names.map(name => [name, convert])))
      return object
    })
  )
}

/** Applies a conversion to a value or to each element of nested arrays; no value remains none. */
function forEach(convert: ColumnConversion | undefined): ColumnConversion | undefined {
  if (convert === undefined) return undefined
  const all: ColumnConversion = value =>
    value === null || value === undefined ? null : Array.isArray(value) ? value.map(all) : convert(value)
  return all
}

function storedConversion(element: SchemaElement): ColumnConversion | undefined {
  const { converted_type: converted, logical_type: logical } = element
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') {
    const scale = element.scale ?? (logical?.type === 'DECIMAL' ? logical.scale : 0)
    delete element.converted_type
    delete element.logical_type
    // Bytes of variable length without a type would be decoded as text; this type is not used to read them.
    if (element.type === 'BYTE_ARRAY') element.type = 'FIXED_LEN_BYTE_ARRAY'
    return value => decimal(value, scale)
  }
  if (converted === 'INTERVAL') {
    delete element.converted_type
    return value => duration(value as Uint8Array)
  }
  // Other readers write a single 0.1 as 0.1, and not as the double 0.10000000149011612 that it is.
  if (element.type === 'FLOAT') return value => shortestSingle(value as number)
  // Local times, in whatever zone the field declares: hyparquet does not tell them from moments.
  if (logical?.type === 'TIMESTAMP' && logical.isAdjustedToUTC === false)
    return value => (typeof value === 'string' ? value.replace(/Z$/, '') : value)
  if (logical?.type === 'TIME')
    return value => timeOfDay(value, logical.unit === 'NANOS' ? 9 : logical.unit === 'MICROS' ? 6 : 3)
  // Bytes of a fixed length are hashes and keys, and no numbers.
  if (element.type === 'FIXED_LEN_BYTE_ARRAY' && converted === undefined && logical === undefined)
    return value => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value)
  if (converted === 'TIME_MILLIS') return value => timeOfDay(value, 3)
  return converted === 'TIME_MICROS' ? value => timeOfDay(value, 6) : undefined
}

/** A decimal as a number where a double preserves its digits, integers as bigints, else as text. */
function decimal(value: unknown, scale: number): number | bigint | string {
  const unscaled = value instanceof Uint8Array ? bigEndian(value) : (value as number | bigint)
  const number = Number(unscaled)
  if (scale === 0) return Number.isSafeInteger(number) ? number : unscaled
  // The quotient of two integers that doubles represent is the nearest double.
  if (Math.abs(number) < 10 ** DOUBLE_DIGITS && scale <= 22) return number / 10 ** scale
  const text = decimalText(BigInt(unscaled), scale)
  return text.replace(/^-?[0.]*|\./g, '').length <= DOUBLE_DIGITS ? Number(text) : text
}

function decimalText(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : ''
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  const fraction = digits.slice(-scale).replace(/0+$/, '')
  return `${sign}${digits.slice(0, -scale)}${fraction === '' ? '' : `.${fraction}`}`
}

/** The signed integer of big-endian bytes. */
function bigEndian(bytes: Uint8Array): bigint {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
  return hex === '' ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${hex}`))
}

/** A duration in ISO 8601, `P1Y2M3DT4.5S`, of months, days and milliseconds, each of four little-endian bytes. */
function duration(bytes: Uint8Array): string {
  const [months = 0, days = 0, milliseconds = 0] = [0, 4, 8].map(at =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).readUInt32LE(at),
  )
  const part = (number: number, sign: string) => (number === 0 ? '' : `${number}${sign}`)
  const date = part(Math.floor(months / 12), 'Y') + part(months % 12, 'M') + part(days, 'D')
  const hours = part(Math.floor(milliseconds / 3_600_000), 'H')
  const minutes = part(Math.floor(milliseconds / 60_000) % 60, 'M')
  const time = hours + minutes + part((milliseconds % 60_000) / 1000, 'S')
  return date + time === '' ? 'PT0S' : `P${date}${time === '' ? '' : `T${time}`}`
}

/** A time of the day as `HH:MM:SS`, with its fraction if it has one; null for a negative number. */
function timeOfDay(value: unknown, fractionDigits: number): string | null {
  const digits = String(value).padStart(fractionDigits + 1, '0')
  if (!/^\d+$/.test(digits)) return null
  const seconds = Number(digits.slice(0, -fractionDigits))
  const fraction = digits.slice(-fractionDigits).replace(/0+$/, '')
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return `${parts.map(part => String(part).padStart(2, '0')).join(':')}${fraction === '' ? '' : `.${fraction}`}`
}

/** A column of geometries. */
interface GeometryColumn {
  /** What converts them to degrees. */
  readonly move: Unprojector | null
  /** The type of all of them, where they are lists of points; undefined for WKB, of which hyparquet makes geometries. */
  readonly native: string | undefined
}

/** Encodings of lists of structures with x and y (GeoParquet 1.1.0, native encodings, as of GeoArrow). */
const NATIVE: ReadonlyMap<unknown, string> = new Map([
  ['point', 'Point'],
  ['linestring', 'LineString'],
  ['polygon', 'Polygon'],
  ['multipoint', 'MultiPoint'],
  ['multilinestring', 'MultiLineString'],
  ['multipolygon', 'MultiPolygon'],
])

/** The columns of geometries by their names. Throws SourceUnreadable for an unknown reference system. */
export function geometryColumns(
  metadata: FileMetaData,
  file: string,
  datum: DatumWarnings,
): ReadonlyMap<string, GeometryColumn> {
  const columns = new Map<string, GeometryColumn>()
  const stored = new Map(metadata.key_value_metadata?.map(({ key, value }) => [key, value]))
  const declared = (jsonOf(stored.get('geo')) as GeoMetadata | undefined)?.columns ?? {}
  for (const { name, logical_type: kind } of metadata.schema) {
    const isBinary = kind?.type === 'GEOMETRY' || kind?.type === 'GEOGRAPHY'
    const column = lookup(declared, name)
    const native = isBinary ? undefined : NATIVE.get(column?.encoding)
    if (!isBinary && native === undefined) continue
    const system = column?.crs ?? (isBinary ? systemOf(kind.crs, stored) : undefined)
    const move = system === undefined || system === null ? null : unprojectorOf(system)
    if (move === undefined)
      throw unreadable(
        `The column ${name} is in a reference system that is not known: ${JSON.stringify(system).slice(0, 200)}.`,
        { file },
        'Write it in OGC:CRS84.',
      )
    datum.note(move)
    columns.set(name, { move, native })
  }
  return columns
}

/** The metadata of GeoParquet, not validated. */
interface GeoMetadata {
  readonly columns?: Readonly<
    Record<string, { readonly encoding?: unknown; readonly crs?: ProjJson | string | null }>
  >
}

/** The reference system of a geometry of Parquet itself: a name, PROJJSON or the key of the metadata that has it. */
function systemOf(
  crs: string | undefined,
  stored: ReadonlyMap<string, string | undefined>,
): ProjJson | string | undefined {
  const [, kind, value = ''] = /^(srid|projjson):(.*)$/is.exec(crs ?? '') ?? []
  if (kind?.toLowerCase() === 'srid') return `EPSG:${value}`
  return (jsonOf(kind === undefined ? crs : stored.get(value)) as ProjJson | undefined) ?? crs
}

function unprojectorOf(system: ProjJson | string): Unprojector | null | undefined {
  return typeof system === 'string' ? unprojectorOfName(system) : unprojectorOfProjJson(system)
}

function jsonOf(text: string | undefined): unknown {
  try {
    return text?.trimStart().startsWith('{') ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

/** True for a point without position, which is written as NaN (GeoParquet 1.1.0, WKB). */
function isEmptyPoint(geometry: RawGeometry | null): boolean {
  const { type, coordinates } = geometry ?? {}
  return type === 'Point' && Array.isArray(coordinates) && coordinates.every(Number.isNaN)
}

/** A row with its geometries in degrees; it is changed. */
export function withGeometries(data: Record<string, unknown>, columns: ReadonlyMap<string, GeometryColumn>) {
  for (const [name, { move, native }] of columns) {
    const value = lookup(data, name) ?? null
    const geometry =
      native === undefined || value === null ? value : { type: native, coordinates: coordinatesOf(value) }
    setMember(
      data,
      name,
      isEmptyPoint(geometry as RawGeometry | null) ? null : reprojected(geometry as RawGeometry | null, move),
    )
  }
  return data
}

/** Lists of points as those of GeoJSON. */
function coordinatesOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(coordinatesOf)
  const { x, y } = (value ?? {}) as { readonly x?: unknown; readonly y?: unknown }
  return [x, y]
}
