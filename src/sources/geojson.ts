import { parseExactly } from '../model/exact-json.ts'
import { isObject } from './fields.ts'
import { arrayMissing, type JsonObject, readArray } from './json.ts'
import { findArrays } from './json-array.ts'
import { parsePointer } from './pointer.ts'
import type { RecordSource, SourceRow } from './source.ts'
import { fileNameOf, readText, type TextFile } from './text.ts'

const GEOMETRIES: readonly unknown[] = [
  'Point',
  'MultiPoint',
  'LineString',
  'MultiLineString',
  'Polygon',
  'MultiPolygon',
  'GeometryCollection',
]

/**
 * A GeoJSON file (RFC 7946): the features of a FeatureCollection one by one, or the only record of a single Feature or geometry.
 * The columns of a record are the properties of its feature and
 *
 * - `geometry`: the geometry or null; a property of this name becomes `properties_geometry`;
 * - `id`: the identifier of the feature, if it has one; `feature_id` if a property is called `id`.
 *
 * @param records JSON Pointer of the array of features, `/features` by default
 */
export function geojsonSource(file: TextFile, records = '/features'): RecordSource {
  const path = parsePointer(records)
  return {
    name: fileNameOf(file),
    textual: false,
    read: () => readArray(file, path, featureData, () => readSingle(file)),
  }
}

function featureData(feature: JsonObject): JsonObject | string {
  if (feature.type !== 'Feature') return 'A feature must be an object with "type": "Feature".'
  const { properties = null, geometry = null, id } = feature
  if (!isObject(properties) && properties !== null)
    return 'The properties of a feature must be an object or null.'
  const data: Record<string, unknown> = { ...properties }
  if (Object.hasOwn(data, 'geometry')) data.properties_geometry = data.geometry
  if (id !== undefined) data[Object.hasOwn(data, 'id') ? 'feature_id' : 'id'] = id
  data.geometry = geometry
  return data
}

/** The only row of a document that is itself a feature or geometry; its JSON is already known to be well-formed. */
async function readSingle(file: TextFile): Promise<readonly SourceRow[]> {
  const parts: string[] = []
  for await (const text of readText(file)) parts.push(text)
  const root = parseExactly(parts.join(''))
  const data = isObject(root) ? singleData(root) : undefined
  if (data === undefined) throw arrayMissing(fileNameOf(file), await findArrays(file))
  return [{ row: 1, line: 1, data }]
}

function singleData(root: JsonObject): JsonObject | undefined {
  if (GEOMETRIES.includes(root.type)) return { geometry: root }
  const data = featureData(root)
  return typeof data === 'string' ? undefined : data
}
