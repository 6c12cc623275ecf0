import { invalid, one } from '../../http/parameters.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import type { Field } from '../../model/field.ts'

const NUMBER = String.raw`(-?\d{1,3}(?:\.\d{1,20})?)`
const CIRCLE = new RegExp(`^${NUMBER},${NUMBER}(?:,(\\d{1,9}(?:\\.\\d{1,9})?))?$`)
const CORNER = new RegExp(`\\(${NUMBER},${NUMBER}\\)`, 'g')
const POLYGON = new RegExp(`^(?:\\(${NUMBER},${NUMBER}\\)(?:,(?=.)|$)){3,1000}$`)

/**
 * The conditions that the places of a download mean (vendor's documentation of the Search API v1, "Geo filtering"):
 * `geofilter.distance=lat,lon,metres` and `geofilter.polygon=(lat,lon),(lat,lon),…`, of the first field with places.
 */
export function geofilters(query: QueryParameters, fields: readonly Field[]): readonly string[] {
  const [circle, polygon] = [one(query, 'geofilter.distance'), one(query, 'geofilter.polygon')]
  if (circle === undefined && polygon === undefined) return []
  const ofType = (type: Field['type']) => fields.find(field => field.type === type)
  const point = ofType('geo_point_2d') ?? ofType('geo_shape')
  const shape = ofType('geo_shape') ?? point
  if (point === undefined || shape === undefined)
    throw invalid('geofilter', circle ?? polygon ?? '', 'no value: the dataset has no field with places,')
  return [
    ...(circle === undefined ? [] : [circleCondition(circle, point)]),
    ...(polygon === undefined ? [] : [polygonCondition(polygon, shape)]),
  ]
}

function circleCondition(text: string, { name }: Field): string {
  const [, lat, lon, metres = '0'] = CIRCLE.exec(text.replace(/\s+/g, '')) ?? []
  if (lat === undefined) throw invalid('geofilter.distance', text, 'latitude, longitude and metres,')
  return `distance(\`${name}\`, geom'POINT(${lon} ${lat})', ${metres}m)`
}

function polygonCondition(text: string, { name }: Field): string {
  if (!POLYGON.test(text))
    throw invalid('geofilter.polygon', text, '(latitude,longitude),(latitude,longitude),…')
  const corners = [...text.matchAll(CORNER)].map(([, lat, lon]) => `${lon} ${lat}`)
  const ring = corners[0] === corners.at(-1) ? corners : [...corners, corners[0]]
  return `polygon(\`${name}\`, geom'POLYGON((${ring.join(', ')}))')`
}
