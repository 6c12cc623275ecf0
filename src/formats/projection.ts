import { createRequire } from 'node:module'
import proj4 from 'proj4'
import { lookup } from '../model/lookup.ts'
import type { Coordinates, Geometry } from '../model/value.ts'

/** Converts a position in degrees, longitude first, to coordinates of another reference system, x (east) first. */
export type Projector = (position: readonly number[]) => readonly number[]

/** EPSG code of WGS 84, the system of all coordinates in the store. */
export const WGS84 = 4326

/** EPSG code of the spherical Mercator projection of web maps. */
export const WEB_MERCATOR = 3857

/**
 * Codes of proj4-list that are refused: heights and geocentric systems, axes that point west or south, and systems that require a
 * datum grid, without which positions differ by 10 m or more from those of PROJ 9.5.1 (EPSG 11.022), measured at three places of
 * their area of use.
 */
const REFUSED = `
2000 2003 2006 2008 2036-2038 2040 2042 2044-2055 2059-2065 2081-2082 2085-2086 2091-2092 2096-2098 2137
2139-2153 2155-2156 2163-2164 2166-2168 2170-2171 2191-2192 2194 2199 2204 2214 2244-2245 2291-2292
2312-2313 2317 2399-2442 2462 2492-2493 2550 2577 2600 2694 2736-2737 2889-2890 2934 2944 2964 2978-2979
2982-2987 2989-2990 3038-3039 3050-3051 3069 3073 3076 3080 3103-3105 3143-3151 3167-3168 3176 3200 3303
3309 3314-3315 3329-3334 3349 3354 3356-3357 3359 3366 3371 3374 3396-3399 3454 3752 3771-3774 3778 3782
3785-3787 3795-3797 3800 3822 3833 3835 3837-3839 3842-3844 3887 3901-3903 3907-3911 3973-3975 3985-3989
4000-4022 4024-4025 4027-4036 4039-4045 4047 4052-4055 4073 4079 4088 4097-4120 4125-4127 4131-4132
4140-4142 4144 4147 4154 4160-4162 4172 4178-4179 4185 4191 4194 4197-4198 4208-4209 4214 4220 4224 4226
4228 4233-4235 4239-4240 4248 4260-4261 4263-4264 4267-4268 4272 4280-4281 4287 4291-4292 4294 4296-4297
4307 4309 4317 4328-4389 4400-4401 4403-4413 4415 4418-4419 4455-4456 4465 4468 4473-4474 4479-4481 4556
4600 4603 4606 4620 4630-4631 4634-4635 4638 4640 4645 4675-4677 4680-4681 4685 4688 4695 4705 4718 4731
4741 4745-4746 4751 4805-4808 4810-4811 4815-4816 4818-4819 4821 4855-4903 4906-5011 5069 5167-5171
5173-5178 5221 5244 5250 5262 5318 5322 5332-5337 5341 5352 5358 5363 5368-5369 5379 5388 5391 5458 5463
5466 5487 5498-5513 5520 5532 5544 5554-5558 5561 5570-5588 5591 5598-5623 5628 5631 5663 5665-5672 5675
5680-5699 5707-5708 5828-5835 5845-5857 5884 5890 5942-5976 6133 6141-6204 6309-6317 6320 6323 6349 6363
6517 6604 6649-6666 6696-6700 6704 6732-6735 6781 6871 6893 6917 6927 6934-6959 6978-6981 6985-6997 7071
7088 7134 7137 7142 7371 7400-7423 20064-20092 20248 20348 20357-20358 20822-20936 21100 21150
21413-21483 21817 21891-21894 21897 22032-22033 22092 22234-22300 22700 22832 23029 23036-23037 23433
23853 23886 23946 24047-24048 24305-24306 24375 24571 24817 24819-24877 24879-24882 25700 25838
26193-26195 26331-26332 26432-26592 26701 26703-26738 26740-26770 26772 26775-26846 26979 27037-27038
27200-27292 27492 27581-27594 28191-28192 28402-28403 28462-28492 29100 29118-29169 29177-29187 29220
29371-29739 29900 30729-30730 30800 31251-31253 31265-31283 31288-31297 31461-31465 31700 31900
32001-32053 32055-32099 32180 32662-32663
`

type Definitions = Readonly<Record<string, readonly [name: string, definition: string]>>

/** Loaded at the first use: 780 kB that most processes never need. */
let definitions: Definitions | undefined
let refused: ReadonlySet<number> | undefined

/** The PROJ string of an EPSG code, undefined for one that is unknown or refused. */
export function projStringOf(epsg: number): string | undefined {
  if (!Number.isSafeInteger(epsg)) return undefined
  definitions ??= createRequire(import.meta.url)('proj4-list') as Definitions
  const known = lookup(definitions, `EPSG:${epsg}`)?.[1]
  if (known === undefined) return undefined
  refused ??= new Set(REFUSED.trim().split(/\s+/).flatMap(codesOf))
  return refused.has(epsg) ? undefined : known
}

/** The codes of a number `12` or a range `12-15`. */
function codesOf(run: string): readonly number[] {
  const [first = 0, last = first] = run.split('-').map(Number)
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}

/**
 * Projects from WGS 84 to the system of an EPSG code; null for an unknown or refused code. Datums are shifted by their seven
 * parameters, as in PROJ without grids.
 */
export function projector(epsg: number): Projector | null {
  if (epsg === WGS84) return position => position
  const definition = projStringOf(epsg)
  if (definition === undefined) return null
  // Shapes go on beyond 180 degrees on the map of the web as well.
  const converter = proj4(epsg === WEB_MERCATOR ? `${definition} +over` : definition)
  // There proj4 takes each pole for the other one.
  const max = definition.includes('+proj=eqc') ? POLE_OF_PLATE_CARREE : 90
  return ([lon = Number.NaN, lat = Number.NaN]) =>
    Number.isFinite(lon) && Number.isFinite(lat)
      ? converter.forward([lon, Math.abs(lat) < max ? lat : Math.sign(lat) * max])
      : [Number.NaN, Number.NaN]
}

/** A tenth of a micrometre below the pole. */
const POLE_OF_PLATE_CARREE = 90 - 1e-12

/** A geometry in other coordinates; null if one of its positions cannot be projected, such as a pole in EPSG:3857. */
export function projectGeometry(geometry: Geometry, project: Projector): Geometry | null {
  if (geometry.type === 'GeometryCollection') {
    const parts = geometry.geometries.map(part => projectGeometry(part, project))
    const geometries = parts.filter(part => part !== null)
    return geometries.length < parts.length ? null : { type: geometry.type, geometries }
  }
  const coordinates = projectCoordinates(geometry.coordinates, project)
  return coordinates === null ? null : { type: geometry.type, coordinates }
}

function projectCoordinates(coordinates: Coordinates, project: Projector): Coordinates | null {
  if (typeof coordinates[0] === 'number') {
    const [x = Number.NaN, y = Number.NaN] = project(coordinates as readonly number[])
    return Number.isFinite(x) && Number.isFinite(y) ? [x, y] : null
  }
  const parts: Coordinates[] = []
  for (const part of coordinates as readonly Coordinates[]) {
    const projected = projectCoordinates(part, project)
    if (projected === null) return null
    parts.push(projected)
  }
  return parts
}

const ESRI_WGS84 =
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],' +
  'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'

/** The name of each projection in ESRI's WKT, and its parameters with their keys in a PROJ string. */
const PROJECTIONS: Readonly<Record<string, readonly [name: string, parameters: readonly string[]]>> = {
  tmerc: ['Transverse_Mercator', ['k', 'lat_0']],
  lcc: ['Lambert_Conformal_Conic', ['lat_1', 'lat_2', 'k', 'lat_0']],
  merc: ['Mercator', ['lat_ts']],
  aea: ['Albers', ['lat_1', 'lat_2', 'lat_0']],
  laea: ['Lambert_Azimuthal_Equal_Area', ['lat_0']],
  sterea: ['Double_Stereographic', ['k', 'lat_0']],
  cass: ['Cassini', ['k', 'lat_0']],
  somerc: ['Hotine_Oblique_Mercator_Azimuth_Center', ['k', 'azimuth', 'lon_c', 'lat_c']],
}

const PARAMETERS: Readonly<Record<string, readonly [name: string, byDefault: number]>> = {
  x_0: ['False_Easting', 0],
  y_0: ['False_Northing', 0],
  lon_0: ['Central_Meridian', 0],
  lat_1: ['Standard_Parallel_1', 0],
  lat_2: ['Standard_Parallel_2', Number.NaN],
  lat_ts: ['Standard_Parallel_1', 0],
  k: ['Scale_Factor', 1],
  lat_0: ['Latitude_Of_Origin', 0],
  azimuth: ['Azimuth', 90],
  lon_c: ['Longitude_Of_Center', 0],
  lat_c: ['Latitude_Of_Center', 0],
}

/**
 * The text of a `.prj` file (OGC 01-009 in the dialect of ESRI) with the EPSG code as its authority; null for a projection
 * without a common name in that dialect, such as Krovak's.
 */
export function wktOf(epsg: number): string | null {
  if (epsg === WGS84) return ESRI_WGS84
  const definition = projStringOf(epsg)
  if (definition === undefined) return null
  const values = parametersOf(definition)
  if (Number.isNaN(meridianOf(values))) return null
  const authority = `AUTHORITY["EPSG","${epsg}"]`
  const geographic = geographicWkt(epsg, definition, values)
  if (values.get('proj') === 'longlat') return `${geographic},${authority}]`
  const [name, keys] = projectionOf(epsg, values)
  if (name === undefined || values.has('alpha')) return null
  const meridian = keys.includes('lon_c') ? [] : ['lon_0']
  const parameters = ['x_0', 'y_0', ...meridian, ...keys].flatMap(key => {
    const [label, byDefault] = lookup(PARAMETERS, key) ?? [key, 0]
    const value = Number(values.get(key) ?? values.get(`${key}_0`) ?? byDefault)
    const scale = key === 'x_0' || key === 'y_0' ? 1 / metresOf(values) : 1
    return Number.isNaN(value) ? [] : [`PARAMETER["${label}",${value * scale}]`]
  })
  const sphere = epsg === WEB_MERCATOR ? ['PARAMETER["Auxiliary_Sphere_Type",0.0]'] : []
  const unit = `UNIT["${metresOf(values) === 1 ? 'Meter' : 'Unit'}",${metresOf(values)}]`
  const inside = [`${geographic}]`, `PROJECTION["${name}"]`, ...parameters, ...sphere, unit, authority]
  return `PROJCS["EPSG_${epsg}",${inside.join(',')}]`
}

/** Name and parameters of a projection; a UTM zone is replaced by its parameters in the values. */
function projectionOf(
  epsg: number,
  values: Map<string, string>,
): readonly [name: string | undefined, keys: readonly string[]] {
  if (epsg === WEB_MERCATOR) return ['Mercator_Auxiliary_Sphere', ['lat_ts']]
  const kind = values.get('proj') ?? ''
  // Mercator with a scale has another name, and no parallel.
  if (kind === 'merc' && Number(values.get('k') ?? values.get('k_0') ?? 1) !== 1) return [undefined, []]
  if (kind === 'utm') expandZone(values)
  if (kind === 'somerc')
    values.set('lon_c', values.get('lon_0') ?? '0').set('lat_c', values.get('lat_0') ?? '0')
  const [name, keys] = lookup(PROJECTIONS, kind === 'utm' ? 'tmerc' : kind) ?? [undefined, []]
  return [name, keys]
}

/** Puts the parameters of a UTM zone among the values. */
export function expandZone(values: Map<string, string>): void {
  values.set('lon_0', String(Number(values.get('zone')) * 6 - 183))
  values.set('k', '0.9996').set('x_0', '500000')
  values.set('y_0', values.has('south') ? '10000000' : '0')
}

/** The geographic system of a projection, without its closing bracket. */
function geographicWkt(epsg: number, definition: string, values: ReadonlyMap<string, string>): string {
  if (epsg === WEB_MERCATOR) return ESRI_WGS84.slice(0, -1)
  const { a = 6378137, b = a, datum_params: shift = [] } = parsedSystem(definition)
  const shape = `SPHEROID["${values.get('ellps') ?? values.get('datum') ?? 'unknown'}",${a},${a === b ? 0 : a / (a - b)}]`
  const moves = (shift ?? []).map(Number)
  const shifts = moves.some(move => move !== 0)
    ? `,TOWGS84[${[...moves, 0, 0, 0, 0].slice(0, 7).join(',')}]`
    : ''
  const meridian = `PRIMEM["${values.has('pm') ? 'Other' : 'Greenwich'}",${meridianOf(values)}]`
  return `GEOGCS["GCS_${epsg}",DATUM["D_${epsg}",${shape}${shifts}],${meridian},UNIT["Degree",0.0174532925199433]`
}

/** What proj4 makes of a definition. */
interface ParsedSystem {
  readonly a?: number
  readonly b?: number
  readonly datum_params?: readonly (string | number)[] | null
  /** Radians. */
  readonly from_greenwich?: number
}

export function parsedSystem(definition: string): ParsedSystem {
  return new proj4.Proj(definition) as unknown as ParsedSystem
}

/** Degrees east of Greenwich. */
function meridianOf(values: ReadonlyMap<string, string>): number {
  const meridian = values.get('pm')
  return meridian === 'paris' ? 2.33722917 : Number(meridian ?? 0)
}

/** The length of a unit in metres. */
export function metresOf(values: ReadonlyMap<string, string>): number {
  const units: Readonly<Record<string, number>> = { ft: 0.3048, 'us-ft': 1200 / 3937 }
  return Number(values.get('to_meter') ?? lookup(units, values.get('units') ?? 'm') ?? 1)
}

export function parametersOf(definition: string): Map<string, string> {
  const pairs = [...definition.matchAll(/\+([a-z0-9_]+)(?:=(\S+))?/gi)]
  return new Map(pairs.map(([, key = '', value = '']) => [key, value]))
}
