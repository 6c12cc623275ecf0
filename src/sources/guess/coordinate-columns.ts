import { coordinateOf } from '../typing/coordinates.ts'
import type { FieldSpec } from '../typing/fields.ts'
import type { TextProfile } from './profile.ts'

/** A column that may hold one of two coordinates. */
interface Candidate {
  readonly spec: FieldSpec
  readonly min: number
  readonly max: number
  readonly profile: TextProfile
}

const LATITUDE =
  /^(?:lat|lats|latitude|latitud|latitudine|breite|breitengrad|geo ?lat|gps ?lat(?:itude)?|y ?lat(?:itude)?|y ?wgs ?84|wgs ?84 ?y|coord(?:onnees?)? ?y|lat ?wgs ?84|latitude ?wgs ?84|wgs84 ?lat(?:itude)?)$/
const LONGITUDE =
  /^(?:lon|lng|long|longitude|longitud|longitudine|lange|laenge|langengrad|laengengrad|geo ?lo?ng?|gps ?lo?ng?(?:itude)?|x ?lo?ng?(?:itude)?|x ?wgs ?84|wgs ?84 ?x|coord(?:onnees?)? ?x|lo?ng?g? ?wgs ?84|longitude ?wgs ?84|wgs84 ?lo?ng?(?:itude)?)$/
const LATITUDE_WORD = /^(?:lat|latitude|latitud|latitudine|breitengrad)$/
const LONGITUDE_WORD = /^(?:lon|lng|long|longitude|longitud|longitudine|langengrad|laengengrad)$/

/**
 * Points for pairs of columns that are latitude and longitude according to their names and ranges: `lat`/`lon` as `geo_point`,
 * `start_lat`/ `start_lon` as `start_geo_point`. The columns also remain fields.
 */
export function coordinateColumns(columns: readonly Candidate[]): readonly FieldSpec[] {
  const taken = new Set(columns.map(({ spec }) => spec.name))
  const hasPoint = columns.some(({ spec }) => spec.type === 'geo_point_2d' || spec.type === 'geo_shape')
  const points: FieldSpec[] = []
  for (const lat of columns) {
    const rest = restOf(lat.spec, LATITUDE, LATITUDE_WORD)
    if (rest === null || !isCoordinate(lat, 90)) continue
    const lon = columns.find(
      other => restOf(other.spec, LONGITUDE, LONGITUDE_WORD) === rest && isCoordinate(other, 180),
    )
    const from = [lat.spec.from, lon?.spec.from]
    if (lon === undefined || !from.every(it => typeof it === 'string')) continue
    if (hasPoint && rest === '') continue
    const base = rest === '' ? 'geo_point' : `${rest.replaceAll(' ', '_')}_geo_point`
    let name = base
    for (let n = 2; taken.has(name); n++) name = `${base}_${n}`
    taken.add(name)
    const nulls = [...new Set([...(lat.spec.nulls ?? []), ...(lon.spec.nulls ?? [])])]
    points.push({
      name,
      type: 'geo_point_2d',
      from: from as readonly string[],
      label: name,
      ...(nulls.length === 0 ? {} : { nulls }),
    })
  }
  return points
}

const EASTING = /^(?:x|xcoord|x coord|coord x|easting|eastings|rechtswert|ostwert|point x)$/
const NORTHING = /^(?:y|ycoord|y coord|coord y|northing|northings|hochwert|nordwert|point y)$/

/** What a publisher may do about two columns, by the name of the first, that may be coordinates although their names may mean anything. */
export function coordinateQuestion(
  columns: readonly Candidate[],
): readonly [field: string, text: string] | undefined {
  if (columns.some(({ spec }) => spec.type === 'geo_point_2d' || spec.type === 'geo_shape')) return undefined
  const named = (name: RegExp) => columns.find(({ spec }) => name.test(spec.name.replaceAll('_', ' ')))
  const [x, y] = [named(EASTING), named(NORTHING)]
  if (x === undefined || y === undefined) return undefined
  const { from: lon } = x.spec
  const { from: lat } = y.spec
  if (x.spec.type === 'double' && y.spec.type === 'double' && isCoordinate(x, 180) && isCoordinate(y, 90))
    return [
      x.spec.name,
      `with ${lat} the values may be degrees: where they are, add the field { name: geo_point, type: geo_point_2d, from: [${lat}, ${lon}] }`,
    ]
  return x.min >= MIN_METRES && y.min >= MIN_METRES
    ? [
        x.spec.name,
        `with ${lat} the values may be coordinates in metres, which stay numbers: for maps, publish degrees, or a GeoPackage or GeoJSON with its reference system`,
      ]
    : undefined
}

/** What coordinates in metres are larger than, and few other numbers named so. */
const MIN_METRES = 10_000

/** The rest of a name without the word for one coordinate; null if it has no such word. */
function restOf({ name }: FieldSpec, whole: RegExp, word: RegExp): string | null {
  const plain = name.replaceAll('_', ' ').trim()
  if (whole.test(plain)) return ''
  const words = plain.split(' ')
  const rest = words.filter(it => !word.test(it))
  return rest.length === words.length - 1 ? rest.join(' ') : null
}

function isCoordinate({ spec, min, max, profile }: Candidate, limit: number): boolean {
  if (spec.type !== 'double' && spec.type !== 'int')
    return /[°º]/.test(profile.first ?? '') && coordinateOf(profile.first) !== undefined
  if (spec.format !== undefined)
    return !/234/.test(spec.format) && Math.abs(coordinateOf(profile.first) ?? 0) <= limit
  return min >= -limit && max <= limit
}
