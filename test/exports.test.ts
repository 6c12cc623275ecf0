import { constants, gunzipSync, inflateRawSync } from 'node:zlib'
import { parquetReadObjects } from 'hyparquet'
import t from 'tap'
import { Fault } from '../src/errors/errors.ts'
import { STORE_BUSY } from '../src/runtime/fair-queue.ts'
import { parseCsv } from './support/csv.ts'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** Exports as the APIs hand them out: text formats with their options, filters, generations, headers and refusals. */
const RECORDS = [
  {
    name: 'Åland "x"; y',
    many: ['a', 'b,c'],
    n: 1,
    x: 0.5,
    at: '2020-03-29T00:30:00.5Z',
    on: '2020-03-29',
    ok: true,
    place: '48.5,2.25',
  },
  {
    name: 'line\nbreak | tab\there',
    many: [],
    n: -2,
    x: 1e21,
    at: '2020-03-29T01:30:00Z',
    on: null,
    ok: false,
    place: null,
  },
  { name: ' שלום ', many: ['é'], n: null, x: null, at: null, on: '0999-01-02', ok: null, place: '-1,-2' },
]
const portal = temporaryFolder(t, {
  'portal.yaml': '',
  data: {
    made: {
      'made.json': JSON.stringify(RECORDS),
      'dataset.yaml': `
source: { path: made.json }
fields:
  - { name: name, type: text, label: "Name; in full" }
  - { name: many, type: text, annotations: { multivalued: [] } }
  - { name: n, type: int }
  - { name: x, type: double }
  - { name: at, type: datetime }
  - { name: on, type: date }
  - { name: ok, type: boolean }
  - { name: place, type: geo_point_2d }
`,
    },
    alike: {
      'a.json':
        '[{"a":9223372036854775807,"b":"x","c":1.5,"at":"2020-01-01T00:00:00Z"},{"a":5,"b":"x","c":2,"at":null}]',
      'dataset.yaml': `
source: { path: a.json }
fields:
  - { name: a, type: int, label: Same }
  - { name: b, type: text, label: Same }
  - { name: c, type: double, label: a }
  - { name: at, type: datetime }
`,
    },
    years: {
      'a.json': '[{"place":"x","2020":9007199254740993,"2019":null,"at":[1,2]}]',
      'dataset.yaml': `
source: { path: a.json }
fields:
  - { name: place, type: text }
  - { name: '2020', type: int }
  - { name: '2019', type: int }
  - { name: at, type: geo_point_2d, format: 'lon,lat' }
`,
    },
    plain: { 'a.json': '[{"a":1}]', 'dataset.yaml': 'source: { path: a.json }\n' },
  },
})
const { app } = await servePortal(t, { portal, now: '2026-01-02T03:04:05Z' })

async function get(path: string, query: Readonly<Record<string, string>> = {}, dataset = 'made') {
  const [api, format] = path.split(' ')
  const url = `/api/${api}/catalog/datasets/${dataset}/exports/${format}`
  const {
    statusCode: status,
    headers,
    body,
    rawPayload,
  } = await app.http.inject({ url, query: { ...query } })
  return { status, headers, body, rawPayload }
}

t.test('the JSON of a text is JSON in formats of JSON, and the text itself in others', async t => {
  const text = '[{"a": 1.0}, 9007199254740993]'
  const query = { select: `json_format('${text}') as j, json_format(name, 'none') as k, place`, limit: '1' }
  for (const format of ['json', 'jsonl', 'geojson'])
    t.match(
      (await get(`explore/v2.1 ${format}`, query)).body,
      '"j":[{"a":1},9007199254740993],"k":"none"',
      format,
    )
  const csv = (await get('explore/v2.1 csv', { ...query, with_bom: 'false' })).body
  t.same(parseCsv(csv, ';')[1], [text, 'none', '48.5, 2.25'])
  t.ok((await get('explore/v2.1 fgb', query)).body.includes(text))
  const deep = `${'['.repeat(7000)}${']'.repeat(7000)}`
  const { body } = await get('explore/v2.1 json', { select: `json_format('${deep}') as j`, limit: '1' })
  t.equal(JSON.parse(body)[0].j, deep, 'a text of very many levels is a text')
  const clusters = { group_by: 'geo_cluster(place, 20)', where: 'n = 1' }
  const cell = JSON.parse((await get('explore/v2.1 json', clusters)).body)[0]['geo_cluster(place, 20)']
  t.ok((await get('explore/v2.1 fgb', clusters)).body.includes(JSON.stringify(cell)), 'a cell of points')
})

t.test('an export whose first rows are not found is a fault in every format', async t => {
  const own = t.intercept(app.store, 'pages', {
    value: async function* () {
      yield* []
      throw new Fault(STORE_BUSY)
    },
  })
  for (const format of ['csv', 'json', 'jsonl', 'geojson', 'xlsx', 'kml', 'gpx', 'shp', 'fgb', 'parquet']) {
    const { status, headers, body } = await get(`explore/v2.1 ${format}`, { where: 'n > 0' })
    t.same([status, headers.etag], [503, undefined], format)
    t.match(JSON.parse(body), { error_code: 'StoreBusy' })
  }
  own.restore()
})

t.test('csv holds the values of the json export', async t => {
  for (const delimiter of [';', ',', '\t', '|']) {
    const { status, headers, body } = await get('explore/v2.1 csv', {
      delimiter,
      list_separator: '/',
      timezone: 'Europe/Paris',
    })
    t.equal(status, 200)
    t.match(headers, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="made.csv"',
      'cache-control': 'public, max-age=0, must-revalidate',
      etag: /^".+"$/,
    })
    t.ok(body.startsWith('\ufeff'), 'the later generation begins with a byte order mark')
    t.same(parseCsv(body.slice(1), delimiter), [
      ['name', 'many', 'n', 'x', 'at', 'on', 'ok', 'place'],
      [
        'Åland "x"; y',
        'a/b,c',
        '1',
        '0.5',
        '2020-03-29T01:30:00.5+01:00',
        '2020-03-29',
        'true',
        '48.5, 2.25',
      ],
      ['line\nbreak | tab\there', '', '-2', '1e+21', '2020-03-29T03:30:00+02:00', '', 'false', ''],
      [' שלום ', 'é', '', '', '', '0999-01-02', '', '-1, -2'],
    ])
  }
  const url = '/api/explore/v2.1/catalog/datasets/made/exports/csv'
  const { etag = '' } = (await app.http.inject({ url })).headers
  const again = await app.http.inject({ url, headers: { 'if-none-match': etag } })
  t.equal(again.statusCode, 304, 'who has the file is not sent it again')
  const old = await get('explore/v2.0 csv', {
    select: 'name, n',
    use_labels: 'true',
    quote_all: 'true',
    where: 'n = 1',
  })
  t.equal(old.body, '"Name; in full";"n"\r\n"Åland ""x""; y";1\r\n')
  const described = await get('v2 csv', { select: 'n', with_bom: 'true', limit: '1' })
  t.equal(described.body, '\ufeffn\r\n1\r\n')
  const undecided = await get('explore/v2.1 csv', { select: 'n', with_bom: '', limit: '1' })
  t.equal(undecided.body, '\ufeffn\r\n1\r\n', 'an empty value is that of the generation')
})

t.test('jsonl, json and geojson', async t => {
  const json = JSON.parse((await get('explore/v2.1 json')).body)
  const lines = (await get('explore/v2.1 jsonl')).body.trimEnd().split('\n')
  t.same(
    lines.map(line => JSON.parse(line)),
    json,
  )
  const { place, ...others } = json[0]
  t.same(place, { lon: 2.25, lat: 48.5 })
  const geo = await get('explore/v2.1 geojson')
  t.equal(geo.headers['content-type'], 'application/geo+json; charset=utf-8')
  t.match(JSON.parse(geo.body), {
    type: 'FeatureCollection',
    features: [
      { type: 'Feature', geometry: { type: 'Point', coordinates: [2.25, 48.5] }, properties: others },
      { type: 'Feature', geometry: null },
      { type: 'Feature', geometry: { type: 'Point', coordinates: [-2, -1] } },
    ],
  })
  const old = JSON.parse((await get('explore/v2.0 geojson', { select: 'at' })).body)
  t.equal(old.features[0].properties.at, Date.parse('2020-03-29T00:30:00.5Z'), 'moments are numbers in v2.0')
  for (const [format, empty] of [
    ['json', '[]'],
    ['jsonl', ''],
    ['csv', '\ufeffn\r\n'],
    ['geojson', '{"type":"FeatureCollection","features":[\n]}\n'],
  ])
    t.equal(
      (await get(`explore/v2.1 ${format}`, { where: 'n = 99', select: 'n' })).body,
      empty,
      `no rows in ${format}`,
    )
})

t.test('workbooks say how many rows they have', async t => {
  const queries: readonly Readonly<Record<string, string>>[] = [
    {},
    { limit: '2' },
    { where: 'n > -5' },
    { where: 'n > -5', order_by: 'n', limit: '1' },
    { where: 'n > 1000000' },
    { select: 'count(*) as c', group_by: 'ok' },
  ]
  for (const query of queries) {
    const { length } = JSON.parse((await get('explore/v2.1 json', query)).body)
    const { rawPayload } = await get('explore/v2.1 xlsx', query)
    // The first file of the archive: a local header of 30 bytes and its name (APPNOTE 4.3.7).
    const sheet = inflateRawSync(rawPayload.subarray(30 + rawPayload.readUInt16LE(26)), {
      finishFlush: constants.Z_SYNC_FLUSH,
    }).toString()
    const [, extent = ''] = /<dimension ref="([A-Z0-9:]+)"\/><sheetViews>/.exec(sheet) ?? []
    t.match(extent, new RegExp(`[A-Z]${length + 1}$`), JSON.stringify(query))
  }
})

t.test('groups, expressions and compressed files', async t => {
  const groups = await get('explore/v2.1 csv', { group_by: 'ok', select: 'count(*) as c', with_bom: 'false' })
  t.equal(groups.body, 'ok;c\r\n;1\r\nfalse;1\r\ntrue;1\r\n')
  const twice = await get('explore/v2.1 json', { group_by: 'many, n, many' })
  const once = await get('explore/v2.1 json', { group_by: 'many, n' })
  t.equal(twice.body, once.body, 'a key that is there twice is one')
  const clauses = { select: 'n, count(*) as c', order_by: 'c, n' }
  const after = await get('explore/v2.1 json', { group_by: 'many, many, n as k', ...clauses })
  const other = await get('explore/v2.1 json', { group_by: 'many, n as k', ...clauses })
  t.equal(after.body, other.body, 'and those behind it are found by what they group by')
  const named = await get('explore/v2.1 json', { group_by: 'n as a, many as a' })
  const alone = await get('explore/v2.1 json', { group_by: 'n as a' })
  t.not(named.body, alone.body, 'two of one name are two')
  const computed = await get('explore/v2.1 csv', {
    select: 'n * 2 as twice, year(at) as y',
    with_bom: 'false',
    limit: '1',
  })
  t.equal(computed.body, 'twice;y\r\n2;2020\r\n')
  const zipped = await get('explore/v2.1 csv', { select: 'n', compressed: 'true', with_bom: 'false' })
  t.equal(zipped.headers['content-disposition'], 'attachment; filename="made.csv.gz"')
  t.equal(gunzipSync(zipped.rawPayload).toString(), 'n\r\n1\r\n-2\r\n""\r\n', 'no line is empty')
})

t.test('fields of one label are all in the files of labels', async t => {
  const query = { use_labels: 'true', select: 'a, b, c', limit: '1' }
  const row = '{"Same":9223372036854775807,"Same 2":"x","a":1.5}'
  t.equal((await get('explore/v2.1 json', query, 'alike')).body, `[${row}]`)
  t.equal((await get('explore/v2.1 jsonl', query, 'alike')).body, `${row}\n`)
  const groups = { use_labels: 'true', group_by: 'a, b as z, c', select: 'b, count(*)', with_bom: 'false' }
  t.match(
    (await get('explore/v2.1 csv', groups, 'alike')).body,
    /^Same;z;a;Same;count\(\*\)\r\n/,
    'of groups',
  )
})

t.test('members of JSON are in the order of the fields, also where their names are numbers', async t => {
  const root = '/api/explore'
  const records = 'catalog/datasets/years/records'
  const id = (await app.http.inject(`${root}/v2.0/${records}`)).json().records[0].record.id
  for (const path of [
    'v2.1/catalog/datasets/years/exports/json',
    'v2.1/catalog/datasets/years/exports/jsonl',
    'v2.1/catalog/datasets/years/exports/geojson',
    `v2.1/${records}`,
    `v2.1/${records}?include_links=true`,
    `v2.1/${records}?group_by=place,\`2020\`,\`2019\``,
    `v2.0/${records}`,
    `v2.0/${records}/${id}`,
  ]) {
    const { body } = await app.http.inject(`${root}/${path}`)
    t.match(body, /"place": ?"x", ?"2020": ?9007199254740993, ?"2019": ?null[,}]/, path)
  }
})

t.test('the least and the greatest of integers are integers in every format', async t => {
  const selections: readonly (readonly [select: string, Readonly<Record<string, unknown>>])[] = [
    ['max(a) as m, min(a) as n', { m: 9223372036854775807n, n: 5n }],
    ['max(year(at)) as m, min(c) as n', { m: 2020n, n: 1.5 }],
    ['sum(c) as m, avg(c) as n', { m: 3.5, n: 1.75 }],
    ['count(*) as m, sum(length(b)) as n', { m: 2n, n: 2 }],
  ]
  for (const [select, expected] of selections)
    for (const group of [{}, { group_by: 'b' }]) {
      const { rawPayload } = await get('explore/v2.1 parquet', { select, ...group }, 'alike')
      const file = rawPayload.buffer.slice(
        rawPayload.byteOffset,
        rawPayload.byteOffset + rawPayload.length,
      ) as ArrayBuffer
      const [row] = await parquetReadObjects({ file })
      t.match(row, expected, select)
    }
})

t.test('what there is not is refused', async t => {
  const cases: readonly (readonly [
    path: string,
    query: Record<string, string>,
    status: number,
    message: RegExp,
  ])[] = [
    ['explore/v2.1 nope', {}, 404, /export format nope/],
    ['explore/v2.1 constructor', {}, 404, /export format/],
    ['explore/v2.1 csv', { delimiter: 'x' }, 400, /delimiter/],
    ['explore/v2.1 csv', { with_bom: 'maybe' }, 400, /with_bom/],
    ['explore/v2.1 csv', { list_separator: 'far too long' }, 400, /list_separator/],
    ['explore/v2.1 geojson', { epsg: 'x' }, 400, /epsg/],
    ['explore/v2.1 csv', { select: 'nope' }, 400, /Unknown field: nope/],
    ['explore/v2.0 csv', { group_by: 'ok' }, 400, /group_by/],
    ['explore/v2.1 csv', { limit: '-2' }, 400, /limit/],
    [
      'explore/v2.1 json',
      { group_by: 'ok', select: 'count(*) as c', order_by: 'c', limit: '20001' },
      400,
      /limit > 20000/,
    ],
  ]
  for (const [path, query, status, message] of cases) {
    const { status: found, body } = await get(path, query)
    t.equal(found, status, `${path} ${JSON.stringify(query)}`)
    t.match(JSON.parse(body).message, message)
  }
  t.equal(
    (await get('explore/v2.1 geojson', {}, 'plain')).status,
    404,
    'without geometry there is no geojson',
  )
})
