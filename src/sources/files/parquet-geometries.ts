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

/** The geometry columns with what converts them to degrees. Throws SourceUnreadable for an unknown reference system. */
export function geometryColumns(
  metadata: FileMetaData,
  file: string,
): ReadonlyMap<string, Unprojector | null> {
  const columns = new Map<string, Unprojector | null>()
  const stored = new Map(metadata.key_value_metadata?.map(({ key, value }) => [key, value]))
  const declared = (jsonOf(stored.get('geo')) as GeoMetadata | undefined)?.columns ?? {}
  for (const { name, logical_type: kind } of metadata.schema) {
    if (kind?.type !== 'GEOMETRY' && kind?.type !== 'GEOGRAPHY') continue
    const system = lookup(declared, name)?.crs ?? systemOf(kind.crs, stored)
    const move = system === undefined || system === null ? null : unprojectorOf(system)
    if (move === undefined)
      throw unreadable(
        `The column ${name} is in a reference system that is not known: ${JSON.stringify(system).slice(0, 200)}.`,
        { file },
        'Write it in OGC:CRS84.',
      )
    columns.set(name, move)
  }
  return columns
}

/** The metadata of GeoParquet, not validated. */
interface GeoMetadata {
  readonly columns?: Readonly<Record<string, { readonly crs?: ProjJson | string | null }>>
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
export function withGeometries(
  data: Record<string, unknown>,
  columns: ReadonlyMap<string, Unprojector | null>,
) {
  for (const [name, move] of columns) {
    const geometry = (lookup(data, name) ?? null) as RawGeometry | null
    setMember(data, name, isEmptyPoint(geometry) ? null : reprojected(geometry, move))
  }
  return data
}
