import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { TABLE_WRITERS } from '../src/formats/export-formats.ts'
import type { ExportOptions, Table, TableColumn, TableRow } from '../src/formats/table.ts'
import { inspectSource } from '../src/sources/inspect.ts'
import { openSource } from '../src/sources/open.ts'
import { typeRecords } from '../src/sources/typing/typed-records.ts'
import { temporaryFolder } from './support/folder.ts'
import { writeParquet } from './support/parquet.ts'

const OPTIONS: ExportOptions = {
  useLabels: false,
  delimiter: ';',
  listSeparator: ',',
  quoteAll: false,
  withBom: true,
  epsg: 4326,
  nameField: null,
  descriptionFields: null,
  useExtension: true,
  parquetCompression: 'zstd',
  numericDates: false,
}

const column = (key: string, type: TableColumn['type']): TableColumn => ({
  key,
  label: key,
  type,
  multivalued: false,
})
const COLUMNS = [
  column('name', 'text'),
  column('height', 'double'),
  column('count', 'int'),
  column('isold', 'boolean'),
  column('planted', 'date'),
  column('seen', 'datetime'),
]
const point = (lon: number, lat: number) => ({ lon, lat })
const shape = (geometry: object) => ({ type: 'Feature', geometry, properties: {} })
const square = (x: number) => [
  [x, 0],
  [x + 1, 0],
  [x + 1, 1],
  [x, 1],
  [x, 0],
]
const HOLE = [
  [10.2, 0.2],
  [10.2, 0.4],
  [10.4, 0.4],
  [10.4, 0.2],
  [10.2, 0.2],
]

/** Three tables: without geometry, with points, with shapes. */
const ROWS: readonly TableRow[] = [
  {
    name: 'Chêne "royal"; vieux',
    height: 12.5,
    count: 3,
    isold: true,
    planted: '1999-03-05',
    seen: '2020-01-01T12:30:00+00:00',
  },
  {
    name: 'Elm\nby the river',
    height: -0.1,
    count: -20,
    isold: false,
    planted: '2001-12-25',
    seen: '2021-06-01T00:00:00+00:00',
  },
  { name: 'Fir', height: null, count: null, isold: null, planted: null, seen: '2022-02-02T22:22:22+00:00' },
]
const TABLES: readonly (readonly [name: string, geometry: TableColumn | null, values: readonly unknown[]])[] =
  [
    ['plain', null, []],
    ['points', column('place', 'geo_point_2d'), [point(2.35, 48.85), point(-70.5, -33.25), point(151.2, 0)]],
    [
      'shapes',
      column('area', 'geo_shape'),
      [
        shape({ type: 'Polygon', coordinates: [square(10), HOLE] }),
        shape({ type: 'MultiPolygon', coordinates: [[square(20)], [square(30)]] }),
        shape({ type: 'Polygon', coordinates: [square(40)] }),
      ],
    ],
  ]

/** Formats with the ending of their files; those that need geometry; what each cannot hold. */
const FORMATS: readonly {
  readonly name: string
  readonly ending: string
  readonly needsGeo?: true
  readonly lines?: true
}[] = [
  { name: 'csv', ending: 'csv' },
  { name: 'json', ending: 'json' },
  { name: 'jsonl', ending: 'jsonl' },
  { name: 'xlsx', ending: 'xlsx' },
  { name: 'xls', ending: 'xls' },
  { name: 'parquet', ending: 'parquet' },
  { name: 'geojson', ending: 'geojson', needsGeo: true },
  { name: 'kml', ending: 'kml', needsGeo: true },
  { name: 'gpx', ending: 'gpx', needsGeo: true, lines: true },
  { name: 'fgb', ending: 'fgb', needsGeo: true },
  { name: 'shp', ending: 'zip', needsGeo: true },
]

/** A value as it is compared: moments without their fraction of form, geometries as GeoJSON. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'string') return value.replace(/(?:\+00:00|Z)$/, 'Z')
  if (typeof value !== 'object' || value === null) return value
  if ('geometry' in value) return plain(value.geometry)
  if ('lon' in value)
    return {
      type: 'Point',
      coordinates: [(value as { lon: number }).lon, (value as unknown as { lat: number }).lat],
    }
  return ringsFromTheirStart(value)
}

/** Rings may begin at another corner and run the other way: formats have rules of their own. */
function ringsFromTheirStart(geometry: object): unknown {
  const text = JSON.stringify(geometry, (_, part) => {
    const isRing =
      Array.isArray(part) &&
      part.length >= 4 &&
      part.every(it => Array.isArray(it) && typeof it[0] === 'number')
    return isRing ? [...new Set((part as number[][]).map(String))].sort() : part
  })
  return JSON.parse(text)
}

const folder = temporaryFolder(t, {})

t.test('what is exported is imported and is equal', async t => {
  for (const [table, geometry, values] of TABLES)
    for (const { name, ending, needsGeo, lines } of FORMATS) {
      if ((needsGeo === true && geometry === null) || (lines === true && table === 'shapes')) continue
      const columns = geometry === null ? COLUMNS : [...COLUMNS, geometry]
      const rows = ROWS.map((row, at) => (geometry === null ? row : { ...row, [geometry.key]: values[at] }))
      const source: Table = {
        name: table,
        title: table,
        columns,
        rows: (async function* () {
          yield rows
        })(),
      }
      const bytes =
        name === 'parquet'
          ? await writeParquet(source, OPTIONS)
          : await buffer(Readable.from(TABLE_WRITERS[name]?.(source, OPTIONS) ?? []))
      const file = `${table}-${name}.${ending}`
      writeFileSync(join(folder, file), bytes)
      const folders = { datasetFolder: folder, portalFolder: folder }
      const found = await inspectSource({ path: file }, folders)
      const typed = typeRecords(openSource(found.source, folders), found.fields)
      const records: unknown[] = []
      for await (const batch of typed.batches())
        for (const record of batch.values)
          records.push(Object.fromEntries(record.map((value, at) => [found.fields[at]?.name, plain(value)])))
      const expected = rows.map(row =>
        Object.fromEntries(
          columns.map(({ key, type }) => [
            renamed(key, type, name),
            plain(row[key as keyof typeof row] ?? null),
          ]),
        ),
      )
      t.same(records, expected, `${table} as ${name}`)
      t.same(
        found.fields.map(({ name, type }) => `${name} ${type}`).sort(),
        columns.map(({ key, type }) => `${renamed(key, type, name)} ${type}`).sort(),
        `${table} as ${name}: types`,
      )
    }
})

/** Formats of features have one geometry, whose column has no name. */
function renamed(key: string, type: TableColumn['type'], format: string): string {
  const isFeatures = ['geojson', 'kml', 'gpx', 'fgb', 'shp'].includes(format)
  return isFeatures && (type === 'geo_point_2d' || type === 'geo_shape') ? 'geometry' : key
}

t.test('batches of large shapes have fewer of them', async t => {
  const ring = Array.from({ length: 999 }, (_, at) => [Math.cos(at / 159), Math.sin(at / 159)])
  const area = shape({ type: 'Polygon', coordinates: [[...ring, ring[0]]] })
  const rows = Array.from({ length: 300 }, (_, n) => ({ n, area }))
  for (const [format, ending] of [
    ['shp', 'zip'],
    ['fgb', 'fgb'],
  ] as const) {
    const table: Table = {
      name: 'large',
      title: 'large',
      columns: [column('n', 'int'), column('area', 'geo_shape')],
      rows: (async function* () {
        yield rows
      })(),
    }
    const bytes = await buffer(Readable.from(TABLE_WRITERS[format]?.(table, OPTIONS) ?? []))
    writeFileSync(join(folder, `large.${ending}`), bytes)
    const source = openSource({ path: `large.${ending}` }, { datasetFolder: folder, portalFolder: folder })
    const found: unknown[] = []
    for await (const batch of source.read()) {
      t.ok(batch.length < 150, `${format}: ${batch.length} rows`)
      found.push(...batch.map(({ data }) => data.n))
    }
    t.strictSame(
      found,
      rows.map(({ n }) => n),
      format,
    )
  }
})
