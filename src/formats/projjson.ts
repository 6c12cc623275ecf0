import { lookup } from '../model/lookup.ts'
import { expandZone, metresOf, parametersOf, parsedSystem, projStringOf, WEB_MERCATOR } from './projection.ts'

/** A projection by its PROJ name: the EPSG method, and its parameters by EPSG code with their keys in a PROJ string, or values. */
type Method = readonly [name: string, code: number, parameters: Readonly<Record<number, string | number>>]

const ORIGIN = { 8801: 'lat_0', 8802: 'lon_0' }
const FALSE_ORIGIN = { 8821: 'lat_0', 8822: 'lon_0', 8823: 'lat_1', 8824: 'lat_2', 8826: 'x_0', 8827: 'y_0' }
const OFFSETS = { 8806: 'x_0', 8807: 'y_0' }
const CENTRE = { 8811: 'lat_0', 8812: 'lonc', 8813: 'alpha', 8814: 'gamma', 8815: 'k' }

const METHODS: Readonly<Record<string, Method>> = {
  tmerc: ['Transverse Mercator', 9807, { ...ORIGIN, 8805: 'k', ...OFFSETS }],
  lcc: ['Lambert Conic Conformal (2SP)', 9802, FALSE_ORIGIN],
  lcc1: ['Lambert Conic Conformal (1SP)', 9801, { ...ORIGIN, 8805: 'k', ...OFFSETS }],
  merc: ['Mercator (variant A)', 9804, { ...ORIGIN, 8805: 'k', ...OFFSETS }],
  mercB: ['Mercator (variant B)', 9805, { 8823: 'lat_ts', 8802: 'lon_0', ...OFFSETS }],
  webmerc: ['Popular Visualisation Pseudo Mercator', 1024, { ...ORIGIN, ...OFFSETS }],
  aea: ['Albers Equal Area', 9822, FALSE_ORIGIN],
  laea: ['Lambert Azimuthal Equal Area', 9820, { ...ORIGIN, ...OFFSETS }],
  sterea: ['Oblique Stereographic', 9809, { ...ORIGIN, 8805: 'k', ...OFFSETS }],
  stere: ['Polar Stereographic (variant A)', 9810, { ...ORIGIN, 8805: 'k', ...OFFSETS }],
  stereB: ['Polar Stereographic (variant B)', 9829, { 8832: 'lat_ts', 8833: 'lon_0', ...OFFSETS }],
  cass: ['Cassini-Soldner', 9806, { ...ORIGIN, ...OFFSETS }],
  cea: ['Lambert Cylindrical Equal Area', 9835, { 8823: 'lat_ts', 8802: 'lon_0', ...OFFSETS }],
  eqc: ['Equidistant Cylindrical', 1028, { 8823: 'lat_ts', ...ORIGIN, ...OFFSETS }],
  poly: ['American Polyconic', 9818, { ...ORIGIN, ...OFFSETS }],
  omerc: ['Hotine Oblique Mercator (variant B)', 9815, { ...CENTRE, 8816: 'x_0', 8817: 'y_0' }],
  omercA: ['Hotine Oblique Mercator (variant A)', 9812, { ...CENTRE, ...OFFSETS }],
  somerc: [
    'Hotine Oblique Mercator (variant B)',
    9815,
    { ...CENTRE, 8812: 'lon_0', 8813: 90, 8814: 90, 8816: 'x_0', 8817: 'y_0' },
  ],
  krovak: [
    'Krovak (North Orientated)',
    1041,
    { 8811: 'lat_0', 8833: 'lon_0', 1036: 'alpha', 8818: 78.5, 8819: 'k', ...OFFSETS },
  ],
}

const PARAMETERS: Readonly<Record<number, string>> = {
  1036: 'Co-latitude of cone axis',
  8801: 'Latitude of natural origin',
  8802: 'Longitude of natural origin',
  8805: 'Scale factor at natural origin',
  8806: 'False easting',
  8807: 'False northing',
  8811: 'Latitude of projection centre',
  8812: 'Longitude of projection centre',
  8813: 'Azimuth at projection centre',
  8814: 'Angle from Rectified to Skew Grid',
  8815: 'Scale factor at projection centre',
  8816: 'Easting at projection centre',
  8817: 'Northing at projection centre',
  8818: 'Latitude of pseudo standard parallel',
  8819: 'Scale factor on pseudo standard parallel',
  8821: 'Latitude of false origin',
  8822: 'Longitude of false origin',
  8823: 'Latitude of 1st standard parallel',
  8824: 'Latitude of 2nd standard parallel',
  8826: 'Easting at false origin',
  8827: 'Northing at false origin',
  8832: 'Latitude of standard parallel',
  8833: 'Longitude of origin',
}

const SCHEMA = 'https://proj.org/schemas/v0.7/projjson.schema.json'

const DEGREES = {
  subtype: 'ellipsoidal',
  axis: [
    { name: 'Longitude', abbreviation: 'lon', direction: 'east', unit: 'degree' },
    { name: 'Latitude', abbreviation: 'lat', direction: 'north', unit: 'degree' },
  ],
}

const WGS84_DATUM = {
  name: 'World Geodetic System 1984',
  ellipsoid: { name: 'WGS 84', semi_major_axis: 6378137, inverse_flattening: 298.257223563 },
}

/** Datums that are not shifted, by their names in a PROJ string. Others have names of no other datum, so that readers shift them. */
const DATUMS: Readonly<Record<string, string>> = { NAD83: 'North American Datum 1983' }

const WGS84_SYSTEM = {
  type: 'GeographicCRS',
  name: 'WGS 84',
  datum: { type: 'GeodeticReferenceFrame', ...WGS84_DATUM },
  coordinate_system: DEGREES,
}

const ARC_SECOND = { type: 'AngularUnit', name: 'arc-second', conversion_factor: Math.PI / 648_000 }
const PARTS_PER_MILLION = { type: 'ScaleUnit', name: 'parts per million', conversion_factor: 1e-6 }

/** The seven parameters of the shift of a datum (EPSG method 9606). */
const SHIFTS = [
  { name: 'X-axis translation', unit: 'metre' },
  { name: 'Y-axis translation', unit: 'metre' },
  { name: 'Z-axis translation', unit: 'metre' },
  { name: 'X-axis rotation', unit: ARC_SECOND },
  { name: 'Y-axis rotation', unit: ARC_SECOND },
  { name: 'Z-axis rotation', unit: ARC_SECOND },
  { name: 'Scale difference', unit: PARTS_PER_MILLION },
].map((parameter, at) => ({ ...parameter, id: { authority: 'EPSG', code: 8605 + at } }))

/**
 * A reference system in PROJJSON 0.7, axes to the east and to the north as coordinates are written, with the shift of its datum to
 * WGS 84 as projecting has it; null for a projection without a method here.
 */
export function projJsonOf(epsg: number): object | null {
  const definition = projStringOf(epsg)
  if (definition === undefined) return null
  const values = parametersOf(definition)
  const parsed = parsedSystem(definition)
  const frame = { name: `EPSG:${epsg}`, id: { authority: 'EPSG', code: epsg } }
  const base = { datum: datumOf(epsg, values, parsed), coordinate_system: DEGREES }
  const system =
    values.get('proj') === 'longlat'
      ? { type: 'GeographicCRS', ...frame, ...base }
      : projectedSystem(frame, base, methodOf(epsg, values), values)
  if (system === null) return null
  const shift = (parsed.datum_params ?? []).map(Number)
  if (shift.every(value => value === 0)) return { $schema: SCHEMA, ...system }
  const parameters = SHIFTS.map((parameter, at) => ({ ...parameter, value: shift[at] ?? 0 }))
  return {
    $schema: SCHEMA,
    type: 'BoundCRS',
    source_crs: system,
    target_crs: WGS84_SYSTEM,
    transformation: {
      name: `EPSG:${epsg} to WGS 84`,
      method: {
        name: 'Position Vector transformation (geog2D domain)',
        id: { authority: 'EPSG', code: 9606 },
      },
      parameters,
    },
    id: frame.id,
  }
}

function datumOf(
  epsg: number,
  values: ReadonlyMap<string, string>,
  parsed: ReturnType<typeof parsedSystem>,
): object {
  const type = 'GeodeticReferenceFrame'
  if (epsg === WEB_MERCATOR || values.get('datum') === 'WGS84') return { type, ...WGS84_DATUM }
  const { a = 6378137, b = a, from_greenwich = 0 } = parsed
  const ellipsoid = { name: values.get('ellps') ?? 'unknown', semi_major_axis: a, semi_minor_axis: b }
  const longitude = Math.round(((from_greenwich * 180) / Math.PI) * 1e9) / 1e9
  const meridian = longitude === 0 ? {} : { prime_meridian: { name: values.get('pm'), longitude } }
  return {
    type,
    name: lookup(DATUMS, values.get('datum') ?? '') ?? `Datum of EPSG:${epsg}`,
    ellipsoid,
    ...meridian,
  }
}

function projectedSystem(
  frame: { readonly name: string; readonly id: object },
  base: object,
  method: Method | undefined,
  values: ReadonlyMap<string, string>,
): object | null {
  if (method === undefined) return null
  const [name, code, parameters] = method
  const unit =
    metresOf(values) === 1
      ? 'metre'
      : { type: 'LinearUnit', name: 'unit', conversion_factor: metresOf(values) }
  return {
    type: 'ProjectedCRS',
    name: frame.name,
    base_crs: { name: 'unknown', ...base },
    conversion: {
      name,
      method: { name, id: { authority: 'EPSG', code } },
      parameters: Object.entries(parameters).map(([parameter, key]) => ({
        name: PARAMETERS[Number(parameter)],
        value: numberFor(key, values),
        unit: unitOf(key),
        id: { authority: 'EPSG', code: Number(parameter) },
      })),
    },
    coordinate_system: {
      subtype: 'Cartesian',
      axis: [
        { name: 'Easting', abbreviation: 'E', direction: 'east', unit },
        { name: 'Northing', abbreviation: 'N', direction: 'north', unit },
      ],
    },
    id: frame.id,
  }
}

function numberFor(key: string | number, values: ReadonlyMap<string, string>): number {
  if (typeof key === 'number') return key
  return Number(values.get(key) ?? values.get(`${key}_0`) ?? (key === 'k' ? 1 : 0))
}

function unitOf(key: string | number): string {
  if (key === 'k') return 'unity'
  return key === 'x_0' || key === 'y_0' ? 'metre' : 'degree'
}

/** The method of a projection; a UTM zone is replaced by its parameters in the values. */
function methodOf(epsg: number, values: Map<string, string>): Method | undefined {
  const kind = values.get('proj') ?? ''
  const hasParallel = Number(values.get('lat_ts') ?? 0) !== 0 && numberFor('k', values) === 1
  if (epsg === WEB_MERCATOR) return METHODS.webmerc
  if (kind === 'utm') expandZone(values)
  if (kind === 'utm') return METHODS.tmerc
  if (kind === 'lcc' && !values.has('lat_2')) return METHODS.lcc1
  if (kind === 'omerc' && values.has('no_uoff')) return METHODS.omercA
  if (kind === 'merc' && hasParallel) return METHODS.mercB
  if (kind === 'stere' && hasParallel) return METHODS.stereB
  return lookup(METHODS, kind)
}
