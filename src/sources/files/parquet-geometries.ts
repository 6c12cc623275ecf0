import type { FileMetaData } from 'hyparquet'
import { lookup, setMember } from '../../model/lookup.ts'
import {
  type ProjJson,
  type RawGeometry,
  reprojected,
  type Unprojector,
  unprojectorOfName,
  unprojectorOfProjJson,
} from '../reference-system.ts'
import { unreadable } from '../source.ts'

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
export function geometryColumns(metadata: FileMetaData, file: string): ReadonlyMap<string, GeometryColumn> {
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
