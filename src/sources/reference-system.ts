import proj4 from 'proj4'
import {
  degreesOf,
  degreesOfUnit,
  epsgDefinition,
  inDegrees,
  withDatumShift,
  withMercatorScale,
  withMeridianInDegrees,
} from './datum-shifts.ts'
import { unreadable } from './source.ts'

/** Converts a position of another reference system to degrees of WGS 84, longitude first. */
export interface Unprojector {
  (position: readonly number[]): readonly number[]
  /** What there is to say of all positions, where their datum is not shifted. */
  readonly warning?: string | undefined
}

/** What there is to say of the reference systems of a source, once it was read. */
export class DatumWarnings {
  private readonly found = new Set<string>()

  note(move: Unprojector | null): void {
    if (move?.warning !== undefined) this.found.add(move.warning)
  }

  all(): readonly string[] {
    return [...this.found]
  }
}

/** Maximum characters of the name of a reference system. */
const MAX_NAME = 200

/** Codes whose degrees equal those of WGS 84 at the precision of maps. */
const DEGREES: ReadonlySet<number> = new Set([4326, 4258, 4171, 4269, 4979, 4937, 7843, 7844, 0, -1])

/** Codes of geographic systems in grads, 400 of which are a circle: NTF (Paris) and others of its time. */
const GRADS: ReadonlySet<number> = new Set([4807, 4810, 4811, 4816, 4819, 4821, 4901, 4902, 7400])

/** Converts positions of an EPSG code to degrees: null if they are degrees already, undefined for an unknown code. */
export function unprojectorOfCode(code: number): Unprojector | null | undefined {
  if (DEGREES.has(code)) return null
  const known = epsgDefinition(code)
  try {
    return known === undefined ? undefined : unprojector(known, GRADS.has(code) ? 0.9 : 1)
  } catch {
    // Laborde, which proj4 does not know.
    return undefined
  }
}

/** The name of ESRI, which proj4 takes for that of an oblique projection; of the other name it takes the pole by its standard parallel. */
const NORTH_POLE = /\bStereographic_North_Pole\b/i

/** What Krovak of ESRI has without a rotation, with axes to the south and the west. Each is sought alone: texts may have any length. */
const SOUTH_WEST_KROVAK = [
  /"Krovak"/i,
  /"X_Scale",\s*1\b/i,
  /"Y_Scale",\s*1\b/i,
  /"XY_Plane_Rotation",\s*0\b/i,
] as const

/** The same for the text of a `.prj` file or another WKT of reference systems; undefined for an unsupported one. */
export function unprojectorOfWkt(wkt: string): Unprojector | null | undefined {
  const isGeographic = /^\s*(?:GEOGCS|GEOGCRS|GEODCRS)\s*\[/i.test(wkt)
  // The datum of Vietnam has the ellipsoid of WGS 84.
  const datum = wkt.replace(/(?:SPHEROID|ELLIPSOID)\["[^"]*"/gi, '')
  if (isGeographic && /WGS.?(?:19)?84|ETRS.?(?:19)?89|NAD.?(?:19)?83|RGF.?(?:19)?93|CRS:?84/i.test(datum))
    return null
  if (SOUTH_WEST_KROVAK.every(part => part.test(wkt))) return unprojectorOfCode(5513)
  const axes = wkt.search(/\bCS\s*\[/i)
  const id = /\b(?:ID|AUTHORITY)\["EPSG",\s*"?(\d+)"?\]\s*\]\s*$/i.exec(wkt)?.[1]
  const isById = id !== undefined && !/TOWGS84/i.test(wkt)
  const known = isById ? unprojectorOfCode(Number(id)) : undefined
  if (known !== undefined) return known
  try {
    return unprojector(
      withMercatorScale(withDatumShift(withMeridianInDegrees(inDegrees(wkt))))
        .replace(NORTH_POLE, 'Stereographic_South_Pole')
        // The parameter of ESRI for the New Zealand Map Grid.
        .replace('"Longitude_Of_Origin"', '"Central_Meridian"'),
      isGeographic ? degreesOfUnit(axes < 0 ? wkt : wkt.slice(axes)) : 1,
    )
  } catch {
    return id === undefined ? undefined : unprojectorOfCode(Number(id))
  }
}

/** The reference system of a layer: its EPSG code, 0 for one without, and what else the file says of it: WKT or a name. */
export interface LayerSystem {
  readonly code: number
  readonly text: string
}

/**
 * The same for the system of a layer: by its code, and by its WKT where the code is not known. Throws SourceUnreadable for an unknown
 * one.
 */
export function unprojectorOfLayer(
  { code, text }: LayerSystem,
  part: 'file' | 'layer',
  file: string,
): Unprojector | null {
  const known = code === 0 && text !== '' ? undefined : unprojectorOfCode(code)
  const move = known === undefined && text.includes('[') ? unprojectorOfWkt(text) : known
  if (move !== undefined) return move
  const name = code === 0 ? text.slice(0, 80) : `EPSG:${code}`
  throw unreadable(`The ${part} is in ${name}, which is not known.`, { file }, 'Save it in EPSG:4326.')
}

/**
 * The same for the name of a reference system, as GeoJSON and Parquet have it: `EPSG:25832`, `urn:ogc:def:crs:EPSG::25832`,
 * `http://www.opengis.net/def/crs/EPSG/0/25832`, `urn:ogc:def:crs:OGC:1.3:CRS84`, `http://spatialreference.org/ref/epsg/25832/proj4/`.
 */
export function unprojectorOfName(name: string): Unprojector | null | undefined {
  const text = name.trim().slice(0, MAX_NAME)
  if (/(?:^|[^a-z])CRS:?(?:84|83)h?$|^(?:GCS.)?WGS.?(?:19)?84$/i.test(text)) return null
  const code = /(?:^|[^a-z])EPSG[:/](?:[^,]*?[:/])?(\d+)(?:$|[,/])/i.exec(text)?.[1]
  return code === undefined ? undefined : unprojectorOfCode(Number(code))
}

/**
 * The same for a reference system in PROJJSON: by its EPSG code where that is known, else by its parameters. Undefined for an
 * unsupported one.
 */
export function unprojectorOfProjJson(system: ProjJson): Unprojector | null | undefined {
  const { authority, code } = system.id ?? system.ids?.[0] ?? {}
  const known = unprojectorOfName(`${authority}:${code}`)
  if (known !== undefined) return known
  // proj4 takes this projection of a sphere for that of an ellipsoid, where it has no code.
  if (system.conversion?.method?.name === 'Popular Visualisation Pseudo Mercator')
    return unprojectorOfCode(3857)
  try {
    const unit = system.type === 'GeographicCRS' ? system.coordinate_system?.axis?.[0]?.unit : undefined
    return unprojector(withMeridian(system), degreesOf(unit?.conversion_factor))
  } catch {
    return undefined
  }
}

/** With the longitude of its prime meridian as the number of degrees, of which alone proj4 knows. */
function withMeridian<System extends ProjJson>(system: System): System {
  const { base_crs: base, datum } = system
  if (base !== undefined) return { ...system, base_crs: withMeridian(base) }
  const { value, unit } = datum?.prime_meridian?.longitude ?? {}
  if (datum === undefined || value === undefined) return system
  const longitude = Number(value) * degreesOf(unit?.conversion_factor)
  return { ...system, datum: { ...datum, prime_meridian: { longitude } } }
}

/** What is read of PROJJSON, not validated. */
export interface ProjJson {
  readonly base_crs?: ProjJson
  readonly coordinate_system?: { readonly axis?: readonly Pick<Angle, 'unit'>[] }
  readonly datum?: { readonly prime_meridian?: { readonly longitude?: Angle } }
  readonly type?: string
  readonly id?: Identifier
  readonly ids?: readonly Identifier[]
  readonly conversion?: { readonly method?: { readonly name?: unknown } }
}

/** An angle in another unit than degrees, which are a number alone. */
interface Angle {
  readonly value?: unknown
  readonly unit?: { readonly conversion_factor?: unknown }
}

interface Identifier {
  readonly authority?: unknown
  readonly code?: unknown
}

/** @param unit the degrees of a unit of the positions, where these are angles */
function unprojector(definition: string | ProjJson, unit = 1): Unprojector {
  const converter = proj4(definition as string)
  // Axes to the west or the south turn positions round. Those of WKT would exchange north and east, which files never do.
  const hasAxes = typeof definition === 'string' && definition.includes('+axis=')
  const move = (position: readonly number[]) => {
    const [x, y] = position
    // Malformed positions stay recognisable as such: proj4 throws for them.
    if (!Number.isFinite(x) || !Number.isFinite(y)) return [Number.NaN, Number.NaN]
    const { 0: lon, 1: lat } = converter.inverse([(x as number) * unit, (y as number) * unit], hasAxes)
    // Projections are exact to some nanometres: eleven decimals of a degree are finer than that.
    return [rounded(lon), rounded(lat)]
  }
  return Object.assign(move, { warning: unshiftedDatum(definition) })
}

/** The datum type of proj4 for systems without a shift to WGS 84 (`PJD_NODATUM`). */
const NO_SHIFT = 5

/** A warning about a system of the Earth on another ellipsoid than that of WGS 84, of whose datum there is no shift. */
function unshiftedDatum(definition: string | ProjJson): string | undefined {
  const { a, b, datum, datumCode } = new proj4.Proj(definition as string) as {
    readonly a: number
    readonly b: number
    readonly datum: { readonly datum_type: number }
    readonly datumCode?: string
  }
  const difference = Math.abs(a - 6_378_137)
  if (datum.datum_type !== NO_SHIFT || a === b || difference < 10 || difference > 2000) return undefined
  return /nad.?27|north.american.(?:datum.)?1927/i.test(datumCode ?? '')
    ? 'positions of NAD27 are not shifted to WGS 84, which needs a grid that is not there: they are off by up to 100 metres, in Alaska by up to 200; where that matters, save the file in EPSG:4326 with a program that has the grid (QGIS, GDAL)'
    : 'positions are not shifted to WGS 84, because the shift of their datum is not known: they may be off by some hundred metres; where that matters, save the file in EPSG:4326 with a program that knows it (QGIS, GDAL)'
}

function rounded(degrees: number | undefined): number {
  return Math.round((degrees ?? Number.NaN) * 1e11) / 1e11
}

/** Geometry in the form of GeoJSON, not validated. */
export interface RawGeometry {
  readonly type: string
  readonly coordinates?: unknown
  readonly geometries?: readonly RawGeometry[]
}

/** A geometry with every position converted; null for null. */
export function reprojected(geometry: RawGeometry | null, move: Unprojector | null): RawGeometry | null {
  if (geometry === null || move === null) return geometry
  if (Array.isArray(geometry.geometries))
    return {
      type: geometry.type,
      geometries: geometry.geometries.flatMap(part => reprojected(part, move) ?? []),
    }
  return { type: geometry.type, coordinates: reprojectedCoordinates(geometry.coordinates, move) }
}

function reprojectedCoordinates(coordinates: unknown, move: Unprojector): unknown {
  if (!Array.isArray(coordinates)) return coordinates
  return typeof coordinates[0] === 'number'
    ? move(coordinates as readonly number[])
    : coordinates.map(part => reprojectedCoordinates(part, move))
}
