import { parseExactly } from '../../model/exact-json.ts'
import { setMember } from '../../model/lookup.ts'
import { words } from '../../model/words.ts'
import {
  DatumWarnings,
  type RawGeometry,
  reprojected,
  type Unprojector,
  unprojectorOfName,
} from '../reference-system.ts'
import { type RecordSource, type SourceRow, unreadable } from '../source.ts'
import { fileNameOf, readText, type TextFile } from '../text/text.ts'
import { isObject } from '../typing/fields.ts'
import { parsePointer } from '../typing/pointer.ts'
import { DoubleKeys } from './double-keys.ts'
import { arrayMissing, findArrays, type JsonObject, readArray, readElements } from './json.ts'
import { readSelected } from './json-path.ts'

const GEOMETRIES: readonly unknown[] = words(
  'Point MultiPoint LineString MultiLineString Polygon MultiPolygon GeometryCollection',
)

/**
 * A GeoJSON file (RFC 7946): the features of a FeatureCollection one by one, or the only record of a single Feature or geometry.
 * The columns of a record are the properties of its feature and
 *
 * - `geometry`: the geometry in degrees, or null; a property of this name becomes `properties_geometry`;
 * - `id`: the identifier of the feature, if it has one; `feature_id` if a property of any feature is called `id`, and `feature_id_2` if
 *   one of the first is called that, too.
 *
 * A feature that has properties of these names, too, has the column `feature_id_2` or `properties_geometry_2`: nothing is lost.
 *
 * @param records JSON Pointer of the array of features, `/features` by default
 */
export function geojsonSource(file: TextFile, records = '/features'): RecordSource {
  const path = parsePointer(records)
  const keys = new DoubleKeys()
  const datum = new DatumWarnings()
  return {
    name: fileNameOf(file),
    textual: false,
    read: () => readFeatures(file, path, keys, datum),
    warnings: () => [...datum.all(), ...keys.warnings()],
  }
}

/**
 * JSON Lines, of which features have the columns that they have in a GeoJSON file. Fields that are declared by the members of
 * features (`from: /properties/n`) find them, too.
 */
export function featureLinesSource(lines: RecordSource): RecordSource {
  return {
    ...lines,
    async *read() {
      let idColumn: string | undefined
      for await (const rows of lines.read()) {
        if (rows.some(isFeature)) idColumn ??= await idColumnAmong(featuresOf(lines))
        yield rows.map(row => (isFeature(row) ? { ...row, data: lineData(row.data, idColumn) } : row))
      }
    },
  }
}

function isFeature({ data: { type, properties, geometry } }: SourceRow): boolean {
  return type === 'Feature' && geometry !== undefined && (isObject(properties) || properties === null)
}

async function* featuresOf(lines: RecordSource): AsyncGenerator<readonly JsonObject[]> {
  for await (const rows of lines.read()) yield rows.filter(isFeature).map(({ data }) => data)
}

function lineData(feature: JsonObject, idColumn: string | undefined): JsonObject {
  const data = featureData(feature, null, idColumn) as JsonObject
  for (const [name, value] of Object.entries(feature))
    if (!Object.hasOwn(data, name)) Object.defineProperty(data, name, { value })
  return data
}

async function* readFeatures(
  file: TextFile,
  path: readonly string[],
  keys: DoubleKeys,
  datum: DatumWarnings,
): AsyncGenerator<readonly SourceRow[]> {
  const move = await referenceSystem(file, path.slice(0, -1))
  datum.note(move)
  const idColumn = await idColumnAmong(featuresWithIds(file, path))
  yield* readArray(
    file,
    path,
    feature => featureData(feature, move, idColumn),
    keys,
    () => readSingle(file, move),
  )
}

/** A member of this name is rare: only a text that has one is examined for it. */
const MEMBER = '"crs"'

/**
 * The conversion of positions to degrees according to the member `crs` beside the features (GeoJSON of 2008, section 3), which files
 * in other systems still have; null without it. Throws SourceUnreadable for an unknown system.
 */
async function referenceSystem(file: TextFile, parent: readonly string[]): Promise<Unprojector | null> {
  if (!(await hasText(file, MEMBER))) return null
  const path = [...parent, 'crs'].map(name => ({ type: 'name' as const, name }))
  for await (const [crs] of readSelected(file, path)) {
    const name = nameOf(crs)
    const move = name === undefined ? null : unprojectorOfName(name)
    if (move !== undefined) return move
    const degrees = 'Save it in degrees of WGS 84 (EPSG:4326), without the member crs'
    throw unreadable(
      `The reference system of the file is not known: ${name?.slice(0, 80)}.`,
      { file: fileNameOf(file) },
      /EPSG/i.test(name ?? '')
        ? `${degrees}, with a program that knows the code (QGIS, GDAL).`
        : `${degrees}, or name there the EPSG code of its system: urn:ogc:def:crs:EPSG::25832.`,
    )
  }
  return null
}

/** The name of a `crs` member, or the address of a linked system; undefined where it names none. */
function nameOf(crs: unknown): string | undefined {
  const { type, properties } = isObject(crs) ? crs : {}
  const { name, code, href } = isObject(properties) ? properties : {}
  if (type === 'EPSG' && code !== undefined) return `EPSG:${String(code)}`
  return typeof name === 'string' ? name : typeof href === 'string' ? href : undefined
}

async function hasText(file: TextFile, part: string): Promise<boolean> {
  let end = ''
  for await (const text of readText(file)) {
    if ((end + text.slice(0, part.length)).includes(part) || text.includes(part)) return true
    end = (end + text).slice(-part.length + 1)
  }
  return false
}

/** The features that have a member or property whose name may be that of the column of identifiers. */
async function* featuresWithIds(
  file: TextFile,
  path: readonly string[],
): AsyncGenerator<readonly JsonObject[]> {
  for await (const elements of readElements(file, path))
    yield elements.flatMap(({ kind, text }) =>
      kind === '{' && /"(?:feature_)?id"/.test(text) ? [JSON.parse(text) as JsonObject] : [],
    )
}

/** The column of identifiers of all features, by those up to the first ones with a property `id`. */
async function idColumnAmong(batches: AsyncIterable<readonly JsonObject[]>): Promise<string> {
  const all = new Set<string>()
  for await (const features of batches) {
    for (const name of takenBy(features)) all.add(name)
    if (all.has('id')) break
  }
  return idColumnBeside([...all])
}

/** Those of the names for a column of identifiers that properties have. */
function takenBy(features: readonly JsonObject[]): readonly string[] {
  return ['id', 'feature_id'].filter(name =>
    features.some(({ properties }) => isObject(properties) && Object.hasOwn(properties, name)),
  )
}

function idColumnBeside(taken: readonly string[]): string {
  if (!taken.includes('id')) return 'id'
  return taken.includes('feature_id') ? 'feature_id_2' : 'feature_id'
}

function featureData(
  feature: JsonObject,
  move: Unprojector | null,
  idColumn = idColumnBeside(takenBy([feature])),
): JsonObject | string {
  if (feature.type !== 'Feature') return 'A feature must be an object with "type": "Feature".'
  const { properties = null, geometry = null, id } = feature
  if (!isObject(properties) && properties !== null)
    return 'The properties of a feature must be an object or null.'
  const data: Record<string, unknown> = { ...properties }
  if (Object.hasOwn(data, 'geometry')) setMember(data, freeName(data, 'properties_geometry'), data.geometry)
  if (id !== undefined) setMember(data, freeName(data, idColumn), id)
  data.geometry = isObject(geometry) ? reprojected(geometry as unknown as RawGeometry, move) : geometry
  return data
}

/** The name, or the first of `name_2`, `name_3`, … that no column has. */
function freeName(data: Readonly<Record<string, unknown>>, name: string): string {
  let free = name
  for (let number = 2; Object.hasOwn(data, free); number++) free = `${name}_${number}`
  return free
}

/** The only row of a document that is itself a feature or geometry; its JSON is already known to be well-formed. */
async function readSingle(file: TextFile, move: Unprojector | null): Promise<readonly SourceRow[]> {
  const parts: string[] = []
  for await (const text of readText(file)) parts.push(text)
  const root = parseExactly(parts.join(''))
  const data = isObject(root) ? singleData(root, move) : undefined
  if (data === undefined) throw arrayMissing(fileNameOf(file), await findArrays(file))
  return [{ row: 1, line: 1, data }]
}

function singleData(root: JsonObject, move: Unprojector | null): JsonObject | undefined {
  if (GEOMETRIES.includes(root.type)) return { geometry: reprojected(root as unknown as RawGeometry, move) }
  const data = featureData(root, move)
  return typeof data === 'string' ? undefined : data
}
