import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { inflateRawSync } from 'node:zlib'
import { Zstd } from '@hpcc-js/wasm-zstd'
import { parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet'
import t from 'tap'
import { flatgeobuf } from '../src/formats/flatgeobuf.ts'
import { projectGeometry, projector, wktOf } from '../src/formats/projection.ts'
import { projJsonOf } from '../src/formats/projjson.ts'
import { shapefile } from '../src/formats/shapefile.ts'
import type { ExportOptions, Table, TableColumn, TableRow } from '../src/formats/table.ts'
import { begun } from '../src/http/pieces.ts'
import type { Geometry } from '../src/model/value.ts'
import { forSameClient } from '../src/runtime/work-client.ts'
import {
  type ProjJson,
  unprojectorOfCode,
  unprojectorOfProjJson,
  unprojectorOfWkt,
} from '../src/sources/reference-system.ts'
import { writeParquet } from './support/parquet.ts'

const OPTIONS: ExportOptions = {
  useLabels: false,
  delimiter: ';',
  listSeparator: ',',
  quoteAll: false,
  withBom: false,
  epsg: 4326,
  nameField: null,
  descriptionFields: null,
  useExtension: false,
  parquetCompression: 'snappy',
  numericDates: false,
}

const column = (key: string, type: TableColumn['type'], multivalued = false): TableColumn => ({
  key,
  label: `Label of ${key}`,
  type,
  multivalued,
})

const COLUMNS: readonly TableColumn[] = [
  column('title', 'text'),
  column('a_very_long_name_one', 'text'),
  column('a_very_long_name_two', 'int'),
  column('ratio', 'double'),
  column('open', 'boolean'),
  column('day', 'date'),
  column('moment', 'datetime'),
  column('tags', 'text', true),
  column('place', 'geo_point_2d'),
  column('shape', 'geo_shape'),
]

const feature = (geometry: Geometry) => ({ type: 'Feature', geometry, properties: {} })

/** Counterclockwise with a clockwise hole, as RFC 7946 wants it. */
const RINGS = [
  [
    [2, 48],
    [3, 48],
    [3, 49],
    [2, 49],
    [2, 48],
  ],
  [
    [2.2, 48.2],
    [2.2, 48.4],
    [2.4, 48.4],
    [2.4, 48.2],
    [2.2, 48.2],
  ],
]
const POLYGON: Geometry = { type: 'Polygon', coordinates: RINGS }
const POLYGONS: Geometry = {
  type: 'MultiPolygon',
  coordinates: [
    RINGS,
    [
      [
        [5, 45],
        [6, 45],
        [6, 46],
        [5, 45],
      ],
    ],
  ],
}
const LONG = `${'é'.repeat(126)}x€ and more`

const NOTHING: TableRow = Object.fromEntries(COLUMNS.map(({ key }) => [key, null]))
const ROWS: readonly TableRow[] = [
  NOTHING,
  {
    title: 'Qarqīn "quoted"; \'single\'\r\nline two\n\ttab',
    a_very_long_name_one: 'مرحبا بالعالم',
    a_very_long_name_two: 9007199254740991,
    ratio: -1 / 3e300,
    open: true,
    day: '2020-02-29',
    moment: '1969-12-31T23:59:59.999999+00:00',
    tags: ['a,b', 'é "x"', ''],
    place: { lon: 2.3522219, lat: 48.856614 },
    shape: feature(POLYGON),
  },
  {
    title: LONG,
    a_very_long_name_one: '😀 \u{10ffff} עברית',
    a_very_long_name_two: -42,
    ratio: 0.1,
    open: false,
    day: '0099-01-01',
    moment: '2024-06-01T12:30:00.5+02:00',
    tags: ['one'],
    place: { lon: -180, lat: -90 },
    shape: feature(POLYGONS),
  },
  { ...NOTHING, title: 'a point', shape: feature({ type: 'Point', coordinates: [1, 2] }) },
]

function tableOf(rows: readonly TableRow[] = ROWS, columns = COLUMNS): Table {
  const pieces = async function* () {
    yield rows.slice(0, 1)
    yield []
    yield rows.slice(1)
  }
  return { name: 'awkward', title: 'Awkward – values', columns, rows: pieces() }
}

async function bytesOf(pieces: AsyncIterable<string | Uint8Array>): Promise<Buffer> {
  const list: Uint8Array[] = []
  for await (const piece of pieces) list.push(Buffer.from(piece))
  return Buffer.concat(list)
}

/** The files of an archive, by its central directory. */
function unzip(bytes: Buffer): Readonly<Record<string, Buffer>> {
  const end = bytes.lastIndexOf(Buffer.from('PK\u0005\u0006'))
  const files: Record<string, Buffer> = {}
  let at = bytes.readUInt32LE(end + 16)
  for (let count = bytes.readUInt16LE(end + 10); count > 0; count--) {
    const nameLength = bytes.readUInt16LE(at + 28)
    const local = bytes.readUInt32LE(at + 42)
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
    const packed = bytes.subarray(start, start + bytes.readUInt32LE(at + 20))
    files[bytes.toString('utf8', at + 46, at + 46 + nameLength)] = inflateRawSync(packed)
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return files
}

interface ShapefileFeature {
  readonly geometry: Geometry | null
  readonly properties: Readonly<Record<string, unknown>>
}

const reader = createRequire(import.meta.url)('shapefile') as {
  read(shp: Uint8Array, dbf: Uint8Array, options: object): Promise<{ features: ShapefileFeature[] }>
}

async function readShapefile(bytes: Buffer) {
  const files = unzip(bytes)
  const { shp, dbf } = { shp: files['awkward.shp'], dbf: files['awkward.dbf'] }
  if (shp === undefined || dbf === undefined) throw new Error('no shapefile')
  return { files, ...(await reader.read(shp, dbf, { encoding: 'utf-8' })) }
}

t.test('a shapefile whose reader leaves at the beginning has no file open', async t => {
  const open = () =>
    readdirSync('/proc/self/fd').filter(fd => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).includes('lodestone-shp-')
      } catch {
        return false
      }
    })
  const pieces = shapefile(tableOf(), OPTIONS)
  await pieces.next()
  await pieces.return(undefined)
  await new Promise(resolve => setTimeout(resolve, 50))
  t.same(open(), [])
})

t.test('a shapefile whose client leaves reads no more records', async t => {
  let read = 0
  let isEnded = false
  async function* rows() {
    try {
      for (; read < 1000; read++) {
        await new Promise(resolve => setTimeout(resolve, 1))
        yield [{}]
      }
    } finally {
      isEnded = true
    }
  }
  const stream = Readable.from(shapefile({ ...tableOf([]), rows: rows() }, OPTIONS), { objectMode: false })
  const data: unknown[] = []
  stream.on('data', piece => data.push(piece))
  while (read < 5) await new Promise(resolve => setTimeout(resolve, 1))
  const before = read
  stream.destroy()
  while (!isEnded) await new Promise(resolve => setTimeout(resolve, 1))
  t.ok(read <= before + 3, `${read} after ${before}`)
  t.same(data, [], 'nothing is sent before all is known')
})

t.test('a shapefile comes back from another reader', async t => {
  const { features, files } = await readShapefile(await bytesOf(shapefile(tableOf(), OPTIONS)))
  t.strictSame(Object.keys(files), [
    'awkward.shp',
    'awkward.shx',
    'awkward.dbf',
    'awkward.prj',
    'awkward.cpg',
    'fields.csv',
    'README.txt',
  ])
  t.equal(features.length, ROWS.length)
  const names = ['title', 'a_very_lon', 'a_very_l_1', 'ratio', 'open', 'day', 'moment', 'tags', 'place']
  for (const { properties } of features) t.strictSame(Object.keys(properties), names)
  t.strictSame(
    // This reader has no null for days.
    names.filter(name => name !== 'day').map(name => features[0]?.properties[name]),
    names.slice(1).map(() => null),
  )
  const flag = '?'.charCodeAt(0)
  t.equal(
    files['awkward.dbf']?.subarray(33 + 32 * names.length).indexOf(flag),
    1 + 2 * 254 + 18 + 24,
    'no boolean',
  )
  const [, full, cut, point] = features
  const { title, a_very_lon, a_very_l_1, ratio, open, day, moment, tags, place } = full?.properties ?? {}
  t.strictSame(
    [title, a_very_lon, a_very_l_1, ratio, open, moment, tags, place],
    [
      ROWS[1]?.title,
      ROWS[1]?.a_very_long_name_one,
      9007199254740991,
      -1 / 3e300,
      true,
      ROWS[1]?.moment,
      'a,b,é "x",',
      '48.856614, 2.3522219',
    ],
  )
  t.match(day, { getDate: Function })
  t.equal(cut?.properties.title, `${'é'.repeat(126)}x`, 'cut before a character')
  t.equal(features[0]?.geometry, null)
  t.equal(point?.geometry, null, 'another kind')
  t.equal(full?.geometry?.type, 'Polygon')
  t.equal(cut?.geometry?.type, 'MultiPolygon')
  const shell = files['awkward.shp']
  t.equal(shell?.readInt32LE(32), 5)
  t.strictSame(
    [0, 1, 2, 3].map(at => shell?.readDoubleLE(36 + 8 * at)),
    [2, 45, 6, 49],
  )
  t.match(String(files['README.txt']), /Records: 4[\s\S]*1 records have no shape[\s\S]*title \(1\)/)
  t.match(String(files['fields.csv']), /a_very_l_1,a_very_long_name_two/)
})

t.test('rings of a shapefile turn as the format wants, whatever the source had', async t => {
  for (const rings of [RINGS, RINGS.map(ring => ring.toReversed())]) {
    const rows = [{ shape: feature({ type: 'Polygon', coordinates: rings }) }]
    const archive = await bytesOf(shapefile(tableOf(rows, [column('shape', 'geo_shape')]), OPTIONS))
    const { features } = await readShapefile(archive)
    t.strictSame(features[0]?.geometry?.type, 'Polygon')
    const shp = unzip(archive)['awkward.shp'] ?? Buffer.alloc(0)
    const start = 108 + 44 + 8
    const second = [shp.readDoubleLE(start + 16), shp.readDoubleLE(start + 24)]
    t.strictSame(second, [2, 49], 'outer ring clockwise')
    t.strictSame(features[0]?.properties, { record: 1 })
  }
})

const KINDS: readonly (readonly [name: string, geometry: Geometry, type: number, size: number])[] = [
  ['point', { type: 'Point', coordinates: [1, 2] }, 1, 20],
  [
    'points',
    {
      type: 'MultiPoint',
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    },
    8,
    72,
  ],
  [
    'line',
    {
      type: 'LineString',
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    },
    3,
    80,
  ],
  [
    'lines',
    {
      type: 'MultiLineString',
      coordinates: [
        [
          [1, 2],
          [3, 4],
        ],
        [
          [5, 6],
          [7, 8],
        ],
      ],
    },
    3,
    116,
  ],
  ['polygons', POLYGONS, 5, 44 + 12 + 14 * 16],
  [
    'a collection',
    {
      type: 'GeometryCollection',
      geometries: [
        {
          type: 'LineString',
          coordinates: [
            [1, 2],
            [3, 4],
          ],
        },
      ],
    },
    3,
    80,
  ],
]

t.test('each kind of shape', async t => {
  for (const [name, geometry, type, size] of KINDS) {
    const rows = [{ shape: null }, { shape: feature(geometry) }]
    const archive = await bytesOf(shapefile(tableOf(rows, [column('shape', 'geo_shape')]), OPTIONS))
    const { features, files } = await readShapefile(archive)
    const shp = files['awkward.shp'] ?? Buffer.alloc(0)
    t.strictSame([shp.readInt32LE(32), shp.readInt32BE(24) * 2], [type, 100 + 12 + 8 + size], name)
    t.equal(shp.length, 100 + 12 + 8 + size)
    if (geometry.type !== 'GeometryCollection' && name !== 'polygons')
      t.strictSame(features[1]?.geometry, geometry, name)
  }
})

t.test('a shapefile ends at its limit and says so; its files go away', async t => {
  const before = readdirSync(tmpdir()).filter(name => name.startsWith('lodestone-shp-')).length
  const archive = await bytesOf(shapefile(tableOf(), OPTIONS, { records: 2, bytes: 10_000 }))
  const { features, files } = await readShapefile(archive)
  t.equal(features.length, 2)
  t.match(String(files['README.txt']), /The dataset has more records/)
  const small = await readShapefile(await bytesOf(shapefile(tableOf(), OPTIONS, { records: 9, bytes: 1500 })))
  t.equal(small.features.length, 1)
  t.equal(readdirSync(tmpdir()).filter(name => name.startsWith('lodestone-shp-')).length, before)
})

t.test('names of fields are unique in ten bytes, and a record has an end', async t => {
  const keys = [
    'Straße',
    'Straße (neu)',
    '1st',
    'STRAßE_NEU',
    ...Array.from({ length: 300 }, (_, at) => `column_no_${at}`),
  ]
  const columns = keys.map(key => column(key, 'text'))
  const { features, files } = await readShapefile(await bytesOf(shapefile(tableOf([{}], columns), OPTIONS)))
  const names = Object.keys(features[0]?.properties ?? {})
  t.equal(names.length, 255)
  t.equal(new Set(names.map(name => name.toLowerCase())).size, 255)
  for (const name of names) t.match(name, /^[A-Za-z][A-Za-z0-9_]{0,9}$/)
  t.match(String(files['README.txt']), /Columns without room: column_no_251/)
})

const toArrayBuffer = (bytes: Buffer) => new Uint8Array(bytes).buffer

t.test('the .prj of a map of a pole, as ESRI and GDAL write it, has its standard parallel', async t => {
  for (const [pole, meridian, parallel, position, degrees] of [
    ['North', -45, 70, [2636104.94, -3128117.73], [-4.8787, 53.4764]],
    ['South', 0, -71, [1000000, 2000000], [26.5651, -69.6287]],
  ] as const) {
    const wkt =
      'PROJCS["Polar",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],' +
      `PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Stereographic_${pole}_Pole"],` +
      `PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",${meridian}.0],` +
      `PARAMETER["Standard_Parallel_1",${parallel}.0],UNIT["Meter",1.0]]`
    const [x = 0, y = 0] = unprojectorOfWkt(wkt)?.(position) ?? []
    t.match([x.toFixed(4), y.toFixed(4)], [degrees[0].toFixed(4), degrees[1].toFixed(4)], pole)
  }
})

t.test('the .prj of a Mercator map has its standard parallel', async t => {
  for (const [parallel, position, degrees] of [
    [-41, [6310138.8836, -3789376.8437], [175, -41.2]],
    [0, [19480910.8888, -5013734.7424], [175, -41.2]],
  ] as const) {
    const wkt =
      'PROJCS["Mercator",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],' +
      'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Mercator"],PARAMETER["False_Easting",0.0],' +
      `PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",${parallel === 0 ? 0 : 100}.0],` +
      `PARAMETER["Standard_Parallel_1",${parallel}.0],UNIT["Meter",1.0]]`
    const [x = Number.NaN, y = Number.NaN] = unprojectorOfWkt(wkt)?.(position) ?? []
    t.match([x.toFixed(4), y.toFixed(4)], [degrees[0].toFixed(4), degrees[1].toFixed(4)], `${parallel}`)
  }
  t.equal(unprojectorOfCode(29701), undefined, 'a projection that proj4 does not know is refused')
})

t.test('axes to the south and west are turned, and a grid that is not there is left out', async t => {
  const wkt = (datum: string, ellipsoid: string, projection: string) =>
    `PROJCS["x",GEOGCS["GCS",DATUM["${datum}",SPHEROID["${ellipsoid}]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],${projection},UNIT["Meter",1.0]]`
  const krovak =
    'PROJECTION["Krovak"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Pseudo_Standard_Parallel_1",78.5],' +
    'PARAMETER["Scale_Factor",0.9999],PARAMETER["Azimuth",30.28813975277778],PARAMETER["Longitude_Of_Center",24.83333333333333],' +
    'PARAMETER["Latitude_Of_Center",49.5],PARAMETER["X_Scale",1.0],PARAMETER["Y_Scale",1.0],PARAMETER["XY_Plane_Rotation",0.0]'
  const zealand =
    'PROJECTION["New_Zealand_Map_Grid"],PARAMETER["False_Easting",2510000.0],PARAMETER["False_Northing",6023150.0],' +
    'PARAMETER["Longitude_Of_Origin",173.0],PARAMETER["Latitude_Of_Origin",-41.0]'
  // Positions by PROJ 9.5, x before y as GDAL writes them.
  for (const [name, move, position, lon, lat] of [
    ['Lo21', unprojectorOfCode(2049), [-38517.0432, 3342351.8556], 21.4, -30.2],
    ['Krovak', unprojectorOfCode(5513), [1042396.8276, 737038.2409], 14.5, 50.1],
    ['Ferro', unprojectorOfCode(2065), [1042396.8276, 737038.2409], 14.5, 50.1],
    [
      'Krovak of ESRI',
      unprojectorOfWkt(wkt('D_S_JTSK', 'Bessel_1841",6377397.155,299.1528128', krovak)),
      [1042396.8276, 737038.2409],
      14.5,
      50.1,
    ],
    ['New Zealand', unprojectorOfCode(27200), [2652348.7403, 5988258.0044], 174.7, -41.3],
    [
      'New Zealand of ESRI',
      unprojectorOfWkt(wkt('D_New_Zealand_1949', 'International_1924",6378388.0,297.0', zealand)),
      [2652348.7403, 5988258.0044],
      174.7,
      -41.3,
    ],
  ] as const) {
    const [x = Number.NaN, y = Number.NaN] = move?.(position) ?? []
    t.ok(Math.abs(x - lon) < 0.0002 && Math.abs(y - lat) < 0.0002, `${name}: ${x} ${y}`)
  }
})

t.test('a long .prj is looked at in a moment, whatever its parts repeat', async t => {
  const begun = performance.now()
  for (const parts of [['"Krovak"', '"X_Scale",1,', '"Y_Scale",1,'], ['PROJECTION["Mercator"]']])
    unprojectorOfWkt(`PROJCS["x",${parts.map(part => part.repeat(1000)).join('')}`)
  t.ok(performance.now() - begun < 5000, 'of which 200 took a minute and a half')
})

t.test('the datum of a .prj is shifted by its name or code, and its angles may be grads', async t => {
  const projected = (datum: string, rest: string) =>
    `PROJCS["p",GEOGCS["g",DATUM[${datum}],${rest},UNIT["Meter",1.0]]`
  const bessel = 'SPHEROID["Bessel_1841",6377397.155,299.1528128]'
  const degrees = 'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'
  const rd =
    `${degrees},PROJECTION["Double_Stereographic"],PARAMETER["False_Easting",155000.0],PARAMETER["False_Northing",463000.0],` +
    'PARAMETER["Central_Meridian",5.38763888888889],PARAMETER["Scale_Factor",0.9999079],PARAMETER["Latitude_Of_Origin",52.1561605555556]'
  const lambert = (name: string) =>
    projected(
      `"${name}",SPHEROID["Clarke_1880_IGN",6378249.2,293.466021293627]`,
      'PRIMEM["Paris",2.33722917],UNIT["Grad",0.0157079632679489]],PROJECTION["Lambert_Conformal_Conic"],' +
        'PARAMETER["False_Easting",600000.0],PARAMETER["False_Northing",2200000.0],PARAMETER["Central_Meridian",0.0],' +
        'PARAMETER["Standard_Parallel_1",52.0],PARAMETER["Scale_Factor",0.99987742],PARAMETER["Latitude_Of_Origin",52.0]',
    )
  const belge = projected(
    '"D_Belge_1972",SPHEROID["International_1924",6378388.0,297.0]',
    `${degrees},PROJECTION["Lambert_Conformal_Conic"],PARAMETER["False_Easting",150000.013],PARAMETER["False_Northing",5400088.438],` +
      'PARAMETER["Central_Meridian",4.36748666666667],PARAMETER["Standard_Parallel_1",51.1666672333333],' +
      'PARAMETER["Standard_Parallel_2",49.8333339],PARAMETER["Latitude_Of_Origin",90.0]',
  )
  // Positions of PROJ 9.5, without grids.
  for (const [wkt, position, lon, lat] of [
    [projected(`"D_Amersfoort",${bessel}`, rd), [155000, 463000], 5.387203509, 52.155172302],
    [
      projected(
        `"Amersfoort",${bessel.replace(']', ',AUTHORITY["EPSG","7004"]]')},AUTHORITY["EPSG","6289"]`,
        rd,
      ),
      [155000, 463000],
      5.387203509,
      52.155172302,
    ],
    [belge, [150000, 170000], 4.368752141, 50.840411283],
    [lambert('D_NTF'), [600000, 2428000], 2.336505663, 48.850346593],
    [lambert('Nouvelle_Triangulation_Francaise_(Paris)'), [600000, 2428000], 2.336505663, 48.850346593],
  ] as const) {
    const [x = 0, y = 0] = unprojectorOfWkt(wkt)?.(position) ?? []
    t.ok(Math.hypot(x - lon, y - lat) < 1e-5, `${wkt.slice(0, 60)} ${x} ${y}`)
  }
  const own = projected(`"D_Amersfoort",${bessel},TOWGS84[0,0,0,0,0,0,0]`, rd)
  t.ok((unprojectorOfWkt(own)?.([155000, 463000])[1] ?? 0) > 52.1561, 'a shift of its own is kept')
})

t.test('datums are shifted as EPSG recommends for the area of their systems', async t => {
  const esri = (name: string, datum: string, rest: string) =>
    `PROJCS["${name}",GEOGCS["g",DATUM["${datum}]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],${rest},UNIT["Meter",1.0]]`
  const krovak =
    'PROJECTION["Krovak"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Pseudo_Standard_Parallel_1",78.5],' +
    'PARAMETER["Scale_Factor",0.9999],PARAMETER["Azimuth",30.28813975277778],PARAMETER["Longitude_Of_Center",24.83333333333333],' +
    'PARAMETER["Latitude_Of_Center",49.5],PARAMETER["X_Scale",-1.0],PARAMETER["Y_Scale",1.0],PARAMETER["XY_Plane_Rotation",90.0]'
  const utm =
    'PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],' +
    'PARAMETER["Central_Meridian",99.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0]'
  const vietnam =
    'GEOGCS["GCS_VN_2000",DATUM["D_Vietnam_2000",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'
  const southWest =
    'PROJCS["S-JTSK / Krovak",GEOGCS["S-JTSK",DATUM["System_of_the_Unified_Trigonometrical_Cadastral_Network",SPHEROID["Bessel 1841",6377397.155,299.1528128]],' +
    'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["Krovak"],PARAMETER["latitude_of_center",49.5],' +
    'PARAMETER["longitude_of_center",24.8333333333333],PARAMETER["azimuth",30.2881397527778],PARAMETER["pseudo_standard_parallel_1",78.5],' +
    'PARAMETER["scale_factor",0.9999],PARAMETER["false_easting",0],PARAMETER["false_northing",0],UNIT["metre",1],AXIS["Southing",SOUTH],' +
    'AXIS["Westing",WEST],AUTHORITY["EPSG","5513"]]'
  // Positions of PROJ 9.5, without grids.
  for (const [name, move, position, lon, lat] of [
    ['Czechia', unprojectorOfCode(5514), [-743100, -1043500], 14.4181623, 50.0827704],
    [
      'Czechia, by ESRI',
      unprojectorOfWkt(esri('k', 'D_S_JTSK",SPHEROID["Bessel_1841",6377397.155,299.1528128', krovak)),
      [-743100, -1043500],
      14.4181623,
      50.0827704,
    ],
    ['Czechia, by GDAL', unprojectorOfWkt(southWest), [1043500, 743100], 14.4181623, 50.0827704],
    ['Romania', unprojectorOfCode(3844), [500000, 500000], 24.9984457752, 45.9997181867],
    ['Israel', unprojectorOfCode(2039), [220000, 630000], 35.2101795291, 31.7626534643],
    ['Thailand', unprojectorOfCode(24047), [660000, 1520000], 100.4751039436, 13.7480734708],
    [
      'Thailand, by ESRI',
      unprojectorOfWkt(
        esri('t', 'D_Indian_1975",SPHEROID["Everest_Adjustment_1937",6377276.345,300.8017', utm),
      ),
      [660000, 1520000],
      100.4751039436,
      13.7480734708,
    ],
    ['Austria', unprojectorOfCode(31288), [150000, 5200000], 10.3330389231, 46.9390311548],
    ['Ukraine', unprojectorOfCode(5561), [30, 50], 29.9983710576, 49.9998582724],
    ['Vietnam', unprojectorOfWkt(vietnam), [106, 16], 106.0018275698, 15.9989951481],
  ] as const) {
    const [x = Number.NaN, y = Number.NaN] = move?.(position) ?? []
    t.ok(Math.hypot(x - lon, y - lat) < 1e-6, `${name}: ${x} ${y}`)
  }
})

t.test('parquet comes back from another reader', async t => {
  const zstd = await Zstd.load()
  const compressors = { ZSTD: (input: Uint8Array) => zstd.decompress(input) }
  for (const parquetCompression of ['snappy', 'zstd'] as const) {
    const file = toArrayBuffer(await writeParquet(tableOf(), { ...OPTIONS, parquetCompression }))
    const metadata = parquetMetadata(file)
    t.equal(metadata.num_rows, 4n)
    t.equal(metadata.row_groups[0]?.columns[0]?.meta_data?.codec, parquetCompression.toUpperCase())
    t.strictSame(
      parquetSchema(metadata).children.map(({ element }) => element.name),
      COLUMNS.map(({ key }) => key),
    )
    const geo = metadata.key_value_metadata?.find(({ key }) => key === 'geo')?.value ?? '{}'
    t.match(JSON.parse(geo), {
      version: '1.1.0',
      primary_column: 'shape',
      columns: {
        place: { encoding: 'WKB', geometry_types: ['Point'] },
        shape: { encoding: 'WKB', geometry_types: ['MultiPolygon', 'Point', 'Polygon'] },
      },
    })
    const rows = await parquetReadObjects({ file, compressors })
    t.strictSame({ ...rows[0], tags: rows[0]?.tags ?? null }, NOTHING)
    t.strictSame(rows[1], {
      ...ROWS[1],
      a_very_long_name_two: 9007199254740991n,
      day: new Date('2020-02-29'),
      // This reader rounds to milliseconds.
      moment: new Date(0),
      place: { type: 'Point', coordinates: [2.3522219, 48.856614] },
      shape: POLYGON,
    })
    t.equal(rows[2]?.title, LONG)
    t.strictSame(rows[2]?.shape, POLYGONS)
    const raw = await parquetReadObjects({
      file,
      compressors,
      parsers: { timestampFromMicroseconds: (us: bigint) => us } as never,
    })
    t.equal(raw[1]?.moment, -1n, 'microseconds are kept')
  }
})

t.test('parquet has rows in groups, and none of no rows', async t => {
  const rows = Array.from({ length: 45_000 }, (_, at) => ({ id: at }))
  const file = toArrayBuffer(await writeParquet(tableOf(rows, [column('id', 'int')]), OPTIONS))
  t.strictSame(
    parquetMetadata(file).row_groups.map(group => Number(group.num_rows)),
    [20_000, 20_000, 5000],
  )
  const empty = toArrayBuffer(await writeParquet(tableOf([]), OPTIONS))
  t.equal(parquetMetadata(empty).num_rows, 0n)
})

t.test('booleans of parquet are plain, because fastparquet does not read runs with nulls', async t => {
  const rows = Array.from({ length: 40 }, (_, at) => ({ open: [true, false, null][at % 3] }))
  const file = toArrayBuffer(await writeParquet(tableOf(rows, [column('open', 'boolean')]), OPTIONS))
  t.strictSame(parquetMetadata(file).row_groups[0]?.columns[0]?.meta_data?.encodings, ['PLAIN'])
  t.strictSame(await parquetReadObjects({ file }), rows)
})

t.test('the end of the year 9999 in a zone to the east is a moment in parquet', async t => {
  const rows = [{ end: '10000-01-01T00:59:59+01:00' }]
  const file = toArrayBuffer(await writeParquet(tableOf(rows, [column('end', 'datetime')]), OPTIONS))
  t.strictSame(await parquetReadObjects({ file }), [{ end: new Date('9999-12-31T23:59:59Z') }])
})

t.test('columns of one label have names of their own in parquet', async t => {
  const twice = [column('a', 'int'), column('b', 'int')].map(one => ({ ...one, label: 'Same' }))
  const file = toArrayBuffer(
    await writeParquet(tableOf([{ a: 1, b: 2 }], twice), { ...OPTIONS, useLabels: true }),
  )
  t.strictSame(await parquetReadObjects({ file }), [{ Same: 1n, 'Same 2': 2n }])
})

t.test('FlatGeobuf has its marks, and a size before every feature', async t => {
  const bytes = await bytesOf(flatgeobuf(tableOf(), OPTIONS))
  t.strictSame([...bytes.subarray(0, 8)], [0x66, 0x67, 0x62, 3, 0x66, 0x67, 0x62, 1])
  const sizes: number[] = []
  for (let at = 8; at < bytes.length; at += 4 + (sizes.at(-1) ?? 0)) sizes.push(bytes.readUInt32LE(at))
  t.equal(sizes.length, 1 + ROWS.length)
  for (const size of sizes) t.equal((4 + size) % 8, 0, 'doubles stand where readers of the whole file look')
  for (const text of ['awkward', 'EPSG', 'a_very_long_name_two', 'مرحبا بالعالم', '["a,b","é \\"x\\"",""]'])
    t.ok(bytes.includes(text), text)
})

/** What PROJ 9.5.1 computes without grids. */
const PROJECTED: readonly (readonly [epsg: number, from: readonly number[], to: readonly number[]])[] = [
  [2154, [2.3522219, 48.856614], [652470.6423, 6862036.8029]],
  [2154, [-4.486, 48.3904], [146640.3483, 6836261.6259]],
  [2154, [9.4497, 42.6977], [1228542.3881, 6199163.6775]],
  [3857, [2.3522219, 48.856614], [261848.1441, 6250566.7182]],
  [3857, [-179.5, -70], [-19981848.5974, -11068715.6594]],
  [3857, [139.69, 35.69], [15550219.6689, 4258049.2628]],
  [27700, [-0.1276, 51.5072], [530043.195, 180358.2086]],
  [27700, [-4.2518, 55.8642], [259175.7508, 665739.7165]],
  [27700, [-5.7, 50.07], [135337.7045, 25436.0732]],
  [27700, [-1.2, 60.1], [444588.22, 1135312.1293]],
  [25832, [11.57, 48.14], [691184.2327, 5335055.294]],
  [31370, [4.35, 50.85], [148679.4474, 171066.8103]],
  [28992, [4.9, 52.37], [121819.3652, 487013.7615]],
  [2056, [7.44, 46.95], [2600104.1095, 1199879.6282]],
  [3035, [10, 52], [4321000.0, 3210000.0]],
  [2180, [21.01, 52.23], [637231.0903, 486786.3937]],
  [32740, [55.45, -20.88], [338767.1674, 7690355.5723]],
  [3395, [30, -20], [3339584.7238, -2258423.6491]],
]

t.test('positions lie within a metre of those of PROJ', async t => {
  for (const [epsg, from, to] of PROJECTED) {
    const [x = 0, y = 0] = projector(epsg)?.(from) ?? []
    t.ok(Math.hypot(x - (to[0] ?? 0), y - (to[1] ?? 0)) < 0.01, `${epsg}: ${from} is ${x}, ${y}`)
    t.match(wktOf(epsg), new RegExp(`AUTHORITY\\["EPSG","${epsg}"\\]`))
  }
  for (const code of [0, -1, 1.5, Number.NaN, 123456, 4978, 5773, 2046])
    t.equal(projector(code), null, `${code}`)
  t.strictSame(projector(4326)?.([1, 2]), [1, 2])
  t.same(
    [190, 180, -180, -190].map(lon => Math.round(projector(3857)?.([lon, 10])[0] ?? 0)),
    [21150703, 20037508, -20037508, -21150703],
    'what goes beyond 180 degrees does not jump to the other side of the map',
  )
  t.same(
    [90, -90].map(lat => Math.round(projector(4087)?.([10, lat])[1] ?? 0)),
    [10018754, -10018754],
    'a pole stays where it is',
  )
  t.match(wktOf(2056), 'PARAMETER["Azimuth",90],PARAMETER["Longitude_Of_Center",7.439583333333333]')
  t.equal(wktOf(5514), null, 'a projection without a name that all share')
  t.match(wktOf(4326), /^GEOGCS\["GCS_WGS_1984"/)
})

t.test('PROJJSON of a system has its code, and parameters by which positions come back', async t => {
  for (const [epsg, from] of PROJECTED) {
    const { id, ...system } = projJsonOf(epsg) as ProjJson
    t.strictSame(id, { authority: 'EPSG', code: epsg })
    const position = projector(epsg)?.(from) ?? []
    for (const described of [{ id, ...system } as ProjJson, system]) {
      const [lon = 0, lat = 0] = unprojectorOfProjJson(described)?.(position) ?? []
      t.ok(Math.hypot(lon - (from[0] ?? 0), lat - (from[1] ?? 0)) < 1e-5, `${epsg}: ${lon} ${lat}`)
    }
  }
  t.equal(unprojectorOfProjJson({ type: 'VerticalCRS' }), undefined)
  t.equal(projJsonOf(123456), null)
})

t.test('GeoParquet declares the reference system of its coordinates', async t => {
  for (const [epsg, declared] of [
    [4326, undefined],
    [25832, { authority: 'EPSG', code: 25832 }],
  ] as const) {
    const file = toArrayBuffer(await writeParquet(tableOf(), { ...OPTIONS, epsg }))
    const geo = parquetMetadata(file).key_value_metadata?.find(({ key }) => key === 'geo')?.value ?? ''
    t.strictSame(JSON.parse(geo).columns.shape.crs?.id, declared)
  }
})

t.test('geometries are projected whole or not at all', async t => {
  const mercator = projector(3857)
  if (mercator === null) throw new Error('3857 is unknown')
  const pole: Geometry = { type: 'Point', coordinates: [0, 90] }
  const origin: Geometry = {
    type: 'MultiPoint',
    coordinates: [
      [0, 0],
      [180, 0],
    ],
  }
  t.equal(projectGeometry(pole, mercator), null)
  t.equal(projectGeometry({ type: 'GeometryCollection', geometries: [origin, pole] }, mercator), null)
  const projected = projectGeometry({ type: 'GeometryCollection', geometries: [origin] }, mercator)
  const [first] = projected?.type === 'GeometryCollection' ? projected.geometries : []
  const positions = first?.type === 'MultiPoint' ? (first.coordinates as number[][]) : []
  t.ok(Math.abs((positions[1]?.[0] ?? 0) - 20037508.342789244) < 1e-6)
  t.ok(Math.abs(positions[0]?.[1] ?? 1) < 1e-6)
})

const GDAL = spawnSync('ogrinfo', ['--version']).status === 0 || 'GDAL is not installed'
const DUCKDB = spawnSync('duckdb', ['--version']).status === 0 || 'DuckDB is not installed'

/** Runs with a folder of the three files. */
async function inFolder(epsg: number, work: (folder: string) => void | Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-formats-'))
  try {
    const options = { ...OPTIONS, epsg }
    writeFileSync(join(folder, 'awkward.zip'), await bytesOf(shapefile(tableOf(), options)))
    writeFileSync(join(folder, 'awkward.fgb'), await bytesOf(flatgeobuf(tableOf(), options)))
    writeFileSync(join(folder, 'awkward.parquet'), await writeParquet(tableOf(), options))
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

interface GdalFeature {
  readonly properties: Readonly<Record<string, unknown>>
  readonly geometry: Geometry | null
}

function asGeojson(file: string): readonly GdalFeature[] {
  const text = execFileSync('ogr2ogr', ['-f', 'GeoJSON', '-t_srs', 'EPSG:4326', '/vsistdout/', file], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return (JSON.parse(text) as { features: GdalFeature[] }).features
}

t.test('GDAL opens shapefile and FlatGeobuf', { skip: GDAL === true ? false : GDAL }, async t => {
  for (const epsg of [4326, 2154, 3857])
    await inFolder(epsg, folder => {
      for (const file of [
        `/vsizip/${join(folder, 'awkward.zip')}/awkward.shp`,
        join(folder, 'awkward.fgb'),
      ]) {
        const info = execFileSync('ogrinfo', ['-al', '-so', file], { encoding: 'utf8' })
        t.match(info, new RegExp(`ID\\["EPSG",${epsg}\\]\\]\\s`), `${file}: ${epsg}`)
        t.match(info, /Feature Count: 4/)
        const features = asGeojson(file)
        t.equal(features.length, 4)
        t.equal(features[1]?.properties.title, ROWS[1]?.title)
        t.match(JSON.stringify(features), 'مرحبا بالعالم')
        const [ring] = (features[1]?.geometry as { coordinates: number[][][] } | null)?.coordinates ?? []
        for (const [lon = 0, lat = 0] of ring ?? [])
          t.ok(Math.abs(lon - Math.round(lon)) < 1e-6 && Math.abs(lat - Math.round(lat)) < 1e-6)
      }
    })
})

t.test('DuckDB opens parquet', { skip: DUCKDB === true ? false : DUCKDB }, async t => {
  await inFolder(4326, folder => {
    const query = `SELECT title, tags, day, ratio FROM '${join(folder, 'awkward.parquet')}'`
    const answer = execFileSync('duckdb', ['-json', '-c', query], { encoding: 'utf8' })
    const rows = JSON.parse(answer) as readonly Readonly<Record<string, unknown>>[]
    t.equal(rows.length, 4)
    t.equal(rows[1]?.title, ROWS[1]?.title)
  })
})

t.test('an export that was begun ends when its reader leaves before the first chunk', async t => {
  let ended = 0
  async function* chunks() {
    try {
      yield 1
      yield 2
    } finally {
      ended += 1
    }
  }
  const read: number[] = []
  for await (const chunk of await begun(chunks())) read.push(chunk)
  t.same(read, [1, 2])
  await (await begun(chunks())).return?.()
  t.equal(ended, 2)
  async function* written(numbers: AsyncIterable<number>) {
    for await (const piece of numbers) yield String(piece)
  }
  const pieces = await begun(chunks())
  Readable.from(forSameClient(written(pieces), pieces)).destroy()
  await new Promise(resolve => setTimeout(resolve, 20))
  t.equal(ended, 3, 'also what it is written of, which a request of the head alone does not read')
})
