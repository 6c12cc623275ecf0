import { utcInterval } from '@observablehq/plot'
import t from 'tap'
import { loadConfig } from '../src/config/load.ts'
import type { DatasetStatistics } from '../src/model/dataset.ts'
import { field, isNumberedName, isQuantity } from '../src/model/field.ts'
import { positionsOf } from '../src/model/geometry.ts'
import type { Language } from '../src/model/language.ts'
import { shownDigits } from '../src/model/number.ts'
import { ANONYMOUS } from '../src/model/principal.ts'
import { simplified } from '../src/model/simplify.ts'
import type { Geometry } from '../src/model/value.ts'
import { chartClauses, roundWidth } from '../src/portal/chart/clauses.ts'
import { timeTicks } from '../src/portal/chart/draw.ts'
import { piecesOf } from '../src/portal/chart/pieces.ts'
import { readChart } from '../src/portal/chart/request.ts'
import type { MapSettings } from '../src/portal/dataset/map-tab.ts'
import {
  boxOfAll,
  fetchExtent,
  fetchPlaces,
  fetchRecord,
  onGlobe,
  stacksOf,
} from '../src/portal/islands/modules/map-data.ts'
import { popupPlace } from '../src/portal/islands/modules/popup-place.ts'
import { coastlineModule, cutAtEdges } from '../src/portal/map/coastline.ts'
import { decodeLines, encodeOutline, type Line } from '../src/portal/map/outline.ts'
import type { PageContext } from '../src/site/page-context.ts'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** The tabs map and analyze of a small portal: what they show, what they ask, what they leave out. */
const TREES = `id,kind,height,planted,alive,where
1,oak,12.5,1999-04-01,true,"48.1,11.5"
2,oak,7.5,2001-05-02,false,"48.2,11.6"
3,<b>elm</b>,4,2001-06-02,true,"-33.9,151.2"
4,,10,,true,
`

/** A polygon around 0, 0 with many positions. */
function circle(radius: number, positions: number): Geometry {
  const at = (n: number) => (n / (positions - 1)) * 2 * Math.PI
  const ring = Array.from({ length: positions - 1 }, (_, n) => [
    Math.cos(at(n)) * radius,
    Math.sin(at(n)) * radius,
  ])
  return { type: 'Polygon', coordinates: [[...ring, [radius, 0]]] }
}

const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Test\n',
  data: {
    trees: {
      'trees.csv': TREES,
      'dataset.yaml': `
source: { path: trees.csv }
fields:
  - { name: tree_id, type: int, from: id, annotations: { id: [] } }
  - { name: kind, type: text, label: Kind, annotations: { facet: [] } }
  - { name: height, type: double, label: Height }
  - { name: planted, type: date, label: Planted }
  - { name: alive, type: boolean, label: Alive }
  - { name: place, type: geo_point_2d, from: where }
id: [tree_id]
`,
    },
    long: {
      'long.csv': `n,year,where\n9007199254740993,2020,"48.1,11.5"\n-9007199254740995,2021,"50,10"\n5,2020,\n`,
      'dataset.yaml': `
source: { path: long.csv }
fields: [{ name: n, type: int }, { name: year, type: int }, { name: place, type: geo_point_2d, from: where }]
`,
    },
    areas: {
      'areas.csv': `n,kind,shape\n9007199254740993,wood,"${JSON.stringify(circle(1, 5000)).replaceAll('"', '""')}"\n2,lake,"POINT (2 2)"\n3,,\n`,
      'dataset.yaml': `
source: { path: areas.csv }
fields: [{ name: n, type: int }, { name: kind }, { name: shape, type: geo_shape }]
`,
    },
    // Two thousand groups of two before the one record of another kind in the largest group, and as many days.
    groups: {
      'groups.csv': [
        'name,kind,day',
        ...['x', 'x', 'x', 'y'].map(kind => `largest,${kind},`),
        ...Array.from({ length: 4200 }, (_, at) => {
          const day = new Date(Date.UTC(2000, 0, 1 + (at >> 1))).toISOString().slice(0, 10)
          return `name ${at >> 1},x,${day}`
        }),
      ].join('\n'),
    },
    // The text null beside no value, and numbers too far apart for ranges.
    spread: {
      'a.json':
        '[{"word":"null","kind":"x","n":1e22},{"word":null,"kind":"x","n":-5e23},{"word":"null","kind":"y","n":1}]',
      'dataset.yaml':
        'source: { path: a.json }\nfields: [{ name: word }, { name: kind }, { name: n, type: double }]\n',
    },
    notes: { 'a.json': '[{"a":"one"}]', 'dataset.yaml': 'source: { path: a.json }\n' },
  },
})

const { app } = await servePortal(t, { portal, now: '2026-01-02T03:04:05.678Z' })

async function page(tab: string, query: Readonly<Record<string, string>> = {}) {
  const response = await app.http.inject({ url: `/explore/dataset/${tab}/`, query: { ...query } })
  return { status: response.statusCode, headers: response.headers, body: response.body }
}

function mapSettings(body: string): MapSettings {
  const [, data = ''] = /data-map="([^"]*)"/.exec(body) ?? []
  const text = data
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
  return JSON.parse(text) as MapSettings
}

/** The rows of the table of numbers, the text of its cells. */
function numbers(body: string): readonly string[] {
  const [, rows = ''] = /<table class="figures-table">.*?<tbody>(.*?)<\/tbody>/s.exec(body) ?? []
  return rows
    .split('</tr>')
    .map(row =>
      row
        .replace(/<\/(?:th|td)>/g, ' ')
        .replace(/<[^>]*>/g, '')
        .trim(),
    )
    .filter(row => row !== '')
}

t.test('a chart shows the numbers that it is asked for', async t => {
  const cases: readonly (readonly [query: Record<string, string>, rows: readonly string[]])[] = [
    [{}, ['oak 2', '&lt;b&gt;elm&lt;/b&gt; 1', 'no value 1']],
    [{ x: 'kind', sort: 'smallest', top: '10' }, ['&lt;b&gt;elm&lt;/b&gt; 1', 'no value 1', 'oak 2']],
    [{ x: 'kind', y: 'avg(height)' }, ['no value 10', 'oak 10', '&lt;b&gt;elm&lt;/b&gt; 4']],
    [{ x: 'alive', y: 'avg(height)' }, ['yes 8.833', 'no 7.5']],
    [{ x: 'year(planted)' }, ['1999 1', '2001 2', 'no value 1']],
    [{ x: 'month(planted)', where: 'height > 5' }, ['Apr 1999 1', 'May 2001 1', 'no value 1']],
    [{ x: 'year(planted)', series: 'alive' }, ['1999 1 –', '2001 1 1', 'no value 1 –']],
    [{ x: 'ranges(height)', refine: 'kind:oak' }, ['7.4 to less than 7.6 1', '12.4 to less than 12.6 1']],
    [
      { x: 'unknown(field)', y: 'sum(nothing)', kind: 'cake', top: '7' },
      ['oak 2', '&lt;b&gt;elm&lt;/b&gt; 1', 'no value 1'],
    ],
  ]
  for (const [query, rows] of cases) {
    const { status, body } = await page('trees/analyze', query)
    t.equal(status, 200)
    t.same([...numbers(body)].sort(), [...rows].sort(), JSON.stringify(query))
    t.equal(body.match(/<svg[^>]* role="img"/g)?.length, 2, 'one drawing for wide and one for narrow screens')
    t.notMatch(body, / style=|<style|<b>elm/, 'nothing that the policy forbids, nothing unescaped')
    if (query.y === undefined && !query.x?.startsWith('ranges'))
      t.notMatch(body, /<text[^>]*>\d\.\d/, 'numbers of records have no fractions')
    t.notMatch(body, / font-variant=/, 'whose value would be one of CSS alone')
  }
})

t.test(
  'a divided chart has the numbers of all that it shows, and tells which periods it leaves out',
  async t => {
    const divided = await page('groups/analyze', { x: 'name', series: 'kind', top: '10' })
    t.equal(numbers(divided.body)[0], 'largest 3 1')
    const [, call = ''] = /<p class="take-away"><a href="([^"]*)/.exec(divided.body) ?? []
    const answer = await app.http.inject({ url: call.replaceAll('&amp;', '&') })
    t.match(answer.json(), { results: [{ name: 'largest', kind: 'x', number: 3 }] })
    const smallest = await page('groups/analyze', { x: 'name', series: 'kind', sort: 'smallest', top: '10' })
    t.ok(
      numbers(smallest.body).every(row => / 2 –$/.test(row)),
      numbers(smallest.body).join(),
    )
    const days = await page('groups/analyze', { x: 'day(day)', series: 'kind' })
    t.match(days.body, /The first 1,999 of 2,100 groups are shown\./)
  },
)

t.test('a text that looks like no value is another group', async t => {
  const { body } = await page('spread/analyze', { x: 'word', series: 'kind' })
  t.same(numbers(body), ['null 1 1', 'no value 1 –'])
})

t.test('numbers too far apart have no ranges', async t => {
  const { status, body } = await page('spread/analyze', { x: 'ranges(n)' })
  t.equal(status, 200)
  t.notMatch(body, '<option value="ranges(n)"')
  t.match(body, '<option value="n"')
})

t.test('numbers that are names', t => {
  const names = [
    'id',
    'station_id',
    'objectid',
    'postal_code',
    'year',
    'default.id',
    'paid',
    'humid',
    'years',
    'jahr',
    'pflanzjahr',
    'kosten_pro_jahr',
    'cost_per_year',
    'annee',
    'solar',
  ]
  const numbered = names.filter(name => isNumberedName(field(name, 'int')))
  const expected = [
    'id',
    'station_id',
    'objectid',
    'postal_code',
    'year',
    'default.id',
    'jahr',
    'pflanzjahr',
    'annee',
  ]
  t.same(numbered, expected)
  t.ok(isNumberedName(field('nr', 'int', { annotations: { id: [] } })), 'what identifies records')
  t.same([field('paid', 'double'), field('year', 'int'), field('paid', 'text')].map(isQuantity), [
    true,
    false,
    false,
  ])
  t.end()
})

t.test('browsers do not restore options of a chart that is not drawn', async t => {
  t.match((await page('trees/analyze')).body, /<form class="chart-form"[^>]* autocomplete="off"/)
})

t.test('the call that is shown answers what is shown', async t => {
  const { body } = await page('trees/analyze', { x: 'kind', y: 'sum(height)', where: 'alive', q: 'oak' })
  const [, path = ''] = /<a href="(\/api\/[^"]*records[^"]*)"[^>]*>JSON</.exec(body) ?? []
  const answer = await app.http.inject({ url: path.replace(/&amp;/g, '&') })
  t.same(answer.json().results, [{ kind: 'oak', sum_height: 12.5 }])
  t.match(body, /<pre tabindex="0" dir="ltr"><code>http:\/\/portal\.example\/api\/explore\/v2\.1\//)
})

t.test('a filter keeps the chart, and an empty selection says so', async t => {
  const { body } = await page('trees/analyze', { x: 'year(planted)', y: 'max(height)' })
  t.match(body, /<form class="filter".*?name="x" value="year\(planted\)".*?<\/form>/s)
  t.match(body, /<aside class="facets"[\s\S]*?href="[^"]*x=year\(planted\)[^"]*refine=kind:oak/)
  const nothing = await page('trees/analyze', { where: 'height > 99' })
  t.equal(nothing.status, 200)
  t.match(nothing.body, 'No record matches all of this.')
  t.notMatch(nothing.body, '<svg')
  t.equal((await page('trees/analyze', { where: 'height >' })).status, 400)
})

t.test('whole numbers have all their digits in statistics, charts, playground and on the map', async t => {
  const { body } = await page('long')
  t.match(body, /-9,007,199,254,740,995<\/data><br><data[^>]*>9,007,199,254,740,993</)
  t.match((await page('long/analyze', { x: 'n' })).body, /<th scope="row">-9,007,199,254,740,995</)
  const odsql = await app.http.inject({ url: '/odsql/?dataset=long&select=max(n)+as+most' })
  t.match(odsql.body, /class="number"><data value="9007199254740993">9,007,199,254,740,993</)
  const { fields } = app.catalog.visibleTo(ANONYMOUS).dataset('long').statistics
  t.match(fields, {
    n: { min: '-9007199254740995', max: '9007199254740993' },
    year: { min: 2020, max: 2021 },
  })
  const settings = mapSettings((await page('long/map')).body)
  t.same(
    settings.fields.map(({ name, isName }) => [name, isName]),
    [['year', true]],
    'the first field is the name of the record',
  )
  const { fetch } = globalThis
  t.teardown(() => Object.assign(globalThis, { fetch }))
  const inject = async (url: string) => new Response((await app.http.inject({ url })).body)
  Object.assign(globalThis, { fetch: inject })
  const places = await fetchPlaces(settings, 0, null, 10, new AbortController().signal)
  t.same(places.map(({ title }) => title).sort(), ['-9007199254740995', '9007199254740993'])
  const corners = places.flatMap(({ geometry }) => positionsOf(geometry))
  const extent = await fetchExtent(settings, new AbortController().signal)
  t.same(boxOfAll(extent), boxOfAll(corners), 'the first view has all of them')
  t.match(await fetchRecord(settings, places[0]?.id ?? ''), { n: 9007199254740993n, year: 2020 })
})

t.test('a map has shapes with the positions that are seen at its scale', async t => {
  const { shapes, isShape } = mapSettings((await page('areas/map')).body)
  t.equal(isShape, true)
  const fetched = async (query: Readonly<Record<string, string>>) => {
    const { statusCode, body } = await app.http.inject({ url: shapes, query: { geo: 'shape', ...query } })
    return { status: statusCode, body }
  }
  const sizes: number[] = []
  for (const zoom of ['0', '5', '10', '18']) {
    const { body } = await fetched({ zoom, where: 'n > 2 and shape is not null' })
    t.match(body, /^\[\{"recordid":"[0-9a-f]{40}","kind":"wood","shape":\{"geometry":\{"type":"Polygon"/)
    const [wood] = JSON.parse(body) as [{ readonly shape: { readonly geometry: Geometry } }]
    sizes.push(positionsOf(wood.shape.geometry).length)
    for (const [lon, lat] of positionsOf(wood.shape.geometry))
      t.ok(
        Math.abs(Math.hypot(lon, lat) - 1) < 1.5 * (360 / (256 * 2 ** Number(zoom))),
        `${zoom}: ${lon} ${lat}`,
      )
  }
  t.same(sizes, [6, 110, 2706, 3780])
  t.match(
    (await fetched({ where: 'in_bbox(shape, 1, 1, 3, 3)' })).body,
    /^\[\{"recordid":"\w+","kind":"lake","shape":\{"geometry":\{"type":"Point","coordinates":\[2,2\]\}\}\}\]$/,
  )
  t.equal((await fetched({ where: 'kind = "none"' })).body, '[]')
  for (const wrong of [{ geo: 'kind' }, { zoom: 'x' }, { where: 'foo = 1' }])
    t.equal((await fetched(wrong)).status, 400)
})

t.test('simple shapes are on a grid and can still be seen', async t => {
  const small = circle(0.1, 20)
  const island = 'coordinates' in small ? small.coordinates : []
  const large = [
    [
      [0, 0],
      [3, 0.2],
      [6, 0],
      [6, 6],
      [0, 6],
      [0, 0],
    ],
    island[0] ?? [],
  ]
  const cases: readonly (readonly [Geometry, Geometry])[] = [
    [small, { type: 'Polygon', coordinates: [box(0.1)] }],
    [
      { type: 'MultiPolygon', coordinates: [island, island] },
      { type: 'MultiPolygon', coordinates: [[box(0.1)]] },
    ],
    [
      { type: 'MultiPolygon', coordinates: [island, large] },
      {
        type: 'MultiPolygon',
        coordinates: [
          [
            [
              [0, 0],
              [6, 0],
              [6, 6],
              [0, 6],
              [0, 0],
            ],
          ],
        ],
      },
    ],
    [
      {
        type: 'LineString',
        coordinates: [
          [0, 0],
          [0.9, 0.1],
          [2.2, 0],
          [2, 4.4],
          [2, 3],
        ],
      },
      {
        type: 'LineString',
        coordinates: [
          [0, 0],
          [2, 0],
          [2, 4],
          [2, 3],
        ],
      },
    ],
    [
      {
        type: 'MultiLineString',
        coordinates: [
          [
            [0, 0],
            [0.3, 0.1],
            [0.2, 0.2],
          ],
        ],
      },
      {
        type: 'MultiLineString',
        coordinates: [
          [
            [0, 0],
            [0.2, 0.2],
          ],
        ],
      },
    ],
    [
      { type: 'GeometryCollection', geometries: [{ type: 'MultiPoint', coordinates: [[0.1, 0.2]] }] },
      { type: 'GeometryCollection', geometries: [{ type: 'MultiPoint', coordinates: [[0.1, 0.2]] }] },
    ],
  ]
  for (const [shape, expected] of cases) {
    const found = simplified(shape, 1)
    t.same(
      JSON.stringify(found, (_, it) => (typeof it === 'number' ? Math.round(it * 10) / 10 : it)),
      JSON.stringify(expected),
    )
  }
})

function box(size: number): readonly (readonly [number, number])[] {
  return [
    [-size, -size],
    [size, -size],
    [size, size],
    [-size, size],
    [-size, -size],
  ]
}

t.test('a map tells its script what to ask, and others where the table is', async t => {
  const { status, body, headers } = await page('trees/map', { refine: 'kind:oak' })
  t.equal(status, 200)
  t.match(body, /<noscript>.*?href="\/explore\/dataset\/trees\/table\/\?refine=kind:oak"/s)
  const settings = mapSettings(body)
  t.match(settings, {
    filter: '?refine=kind:oak',
    field: 'place',
    total: 2,
    isShape: false,
    title: { name: 'kind' },
  })
  t.notMatch(headers['content-security-policy'], 'tiles.example')
  const groups = await app.http.inject({
    url: `${settings.api}/records${settings.filter}`,
    query: {
      refine: 'kind:oak',
      select: 'count(*) as number',
      group_by: 'geo_cluster(place, 2, 60) as place',
    },
  })
  t.match(groups.json().results, [{ number: 2 }])
  t.equal((await page('notes/map')).status, 404, 'a dataset without places has no map')
  t.notMatch((await page('notes/table')).body, 'notes/map/')
})

t.test('parts of the world, and places at one point', t => {
  const many = Array.from({ length: 300_000 }, (_, n) => [n / 2000, n / 4000] as const)
  t.same(boxOfAll(many), { south: 0, west: 0, north: 74.99975, east: 149.9995 }, 'any number of corners')
  t.equal(boxOfAll([]), null)
  t.same(onGlobe({ south: -90.5, west: 179.5, north: -89.5, east: 180.5 }), {
    south: -90,
    west: 179.5,
    north: -89.5,
    east: 180,
  })
  const beyond = onGlobe({ south: -10, west: 200, north: 10, east: 260 })
  t.same(beyond, { south: -10, west: 180, north: 10, east: 180 }, 'a map can be moved beyond the date line')
  const place = (id: string, lon: number) => ({
    id,
    title: id,
    geometry: { type: 'Point' as const, coordinates: [lon, 1] as const },
  })
  const stacks = stacksOf([place('a', 1), place('b', 2), place('c', 1)])
  t.same(
    stacks.map(stack => stack.map(({ id }) => id)),
    [['a', 'c'], ['b']],
  )
  t.end()
})

t.test('a popup is within the map', async t => {
  const [map, popup] = [
    { width: 976, height: 585 },
    { width: 280, height: 260 },
  ]
  for (const [name, left, top, place, expected] of [
    ['above its place', 350, 40, 316, { left: 350, top: 40 }],
    ['below it', 350, -62, 210, { left: 350, top: 226 }],
    ['over it', 350, -5, 290, { left: 350, top: 8 }],
    ['from the left', -90, 200, 476, { left: 8, top: 200 }],
    ['from the right', 900, 200, 476, { left: 688, top: 200 }],
    ['beside the buttons', -90, 40, 316, { left: 52, top: 40 }],
    ['over the scale', 350, 380, 656, { left: 350, top: 289 }],
  ] as const)
    t.same(popupPlace({ left, top }, popup, map, place), expected, name)
})

t.test('tiles come from where the settings say, and only then', async t => {
  const { app: tiled } = await servePortal(t, {
    portal,
    isPublished: false,
    config: { tiles: { url: 'https://tiles.example/{z}/{x}/{y}.png', attribution: 'Tile makers' } },
  })
  const { headers, body } = await tiled.http.inject({ url: '/explore/dataset/trees/map/' })
  t.match(headers['content-security-policy'], "img-src 'self' data: https://tiles.example;")
  t.match(body, 'Tile makers')
  const environment = {
    LODESTONE_TILES: 'https://tiles.example/{z}/{x}/{y}.png',
    LODESTONE_TILES_ATTRIBUTION: 'Makers',
  }
  t.same(loadConfig({ portal }, environment).tiles, {
    url: environment.LODESTONE_TILES,
    attribution: 'Makers',
  })
  for (const url of [
    'https://tiles.example/',
    "https://a.example;script-src *'/{z}/{x}/{y}",
    'tiles/{z}/{x}/{y}',
  ])
    t.throws(() => loadConfig({ portal }, { LODESTONE_TILES: url }), { code: 'ConfigInvalid' }, url)
})

t.test('widths of ranges are round', t => {
  const cases: readonly (readonly [low: number, high: number, isWhole: boolean, width: number])[] = [
    [0, 100, false, 5],
    [0, 1, false, 0.05],
    [-1, 6.4, false, 0.5],
    [0, 3, true, 1],
    [7, 7, false, 1],
    [0, 22_315_474, true, 1_000_000],
    [1, 1 + 1e-9, false, 1e-9],
  ]
  for (const [low, high, isWhole, width] of cases) t.equal(roundWidth(low, high, isWhole), width)
  t.end()
})

t.test('labels of an axis of time have room beside one another', t => {
  const cases = [
    ['2020-01-01T00', '2020-01-01T01', 'hour', 100, ['1 Jan 2020, 00:00']],
    ['2018-01-31T00', '2018-02-01T00', 'hour', 100, ['06:00', '12:00', '18:00']],
    ['2018-01-31T00', '2018-02-08T00', 'day', 100, ['31 Jan 2018', '2 Feb 2018', '4 Feb 2018', '6 Feb 2018']],
    ['2018-01-31T00', '2018-02-08T00', 'day', 42, ['31 Jan 2018', '4 Feb 2018']],
    ['2012-01-01T00', '2016-01-01T00', 'month', 45, ['2012', '2013', '2014', '2015']],
    ['2001-01-01T00', '2004-01-01T00', 'year', 45, ['2001', '2002', '2003']],
    ['0001-01-01T00', '3001-01-01T00', 'year', 45, ['500', '1000', '1500', '2000', '2500', '3000']],
  ] as const
  const language = 'en-GB' as Language
  for (const [from, to, period, width, labels] of cases) {
    const [first, last] = [from, to].map(text => Date.parse(`${text}:00:00Z`)) as [number, number]
    const scale = { first, last, width, margins: [3, 3] as const }
    const ticks = timeTicks({ utcInterval }, { language, t: text => text } as PageContext, period, scale)
    t.same(
      ticks.map(({ label }, at) => (label.endsWith(labels[at] ?? '?') ? labels[at] : label)),
      labels,
      `${period}s from ${from}`,
    )
  }
  t.end()
})

t.test('all hours of the day are in a chart', t => {
  const time = field('time', 'datetime')
  const statistics = { records: 9, fields: { time: { distinct: 9 } } } as unknown as DatasetStatistics
  const chart = readChart({ x: 'hour_of_day(time)', top: '10' }, [time], statistics)
  t.ok((chart?.top ?? 0) >= 24, 'also where an address has another number of groups')
  t.end()
})

t.test('numbers keep their first digits', t => {
  for (const [value, max, text] of [
    [1234.5678912, 6, '1,234.567891'],
    [-0.000001234, 6, '-0.000001234'],
    [1e-12, 6, '1E-12'],
    [0.004, 2, '0.004'],
    [0.126, 2, '0.13'],
    [0, 2, '0'],
    [12n, 6, '12'],
  ] as const)
    t.equal(new Intl.NumberFormat('en', shownDigits(value, max)).format(value), text)
  t.end()
})

t.test('columns of a chart have different names', t => {
  const kind = field('kind', 'text')
  const planted = { type: 'period', field: field('when', 'date'), period: 'year' } as const
  for (const [axis, series, select, groupBy] of [
    [{ type: 'value', field: kind } as const, 'number', 'count(*) as number_', 'kind, number'],
    [planted, 'when_year', 'count(*) as number', 'year(when) as when_year, when_year as when_year_'],
    [{ type: 'value', field: field('number', 'text') } as const, null, 'count(*) as number_', 'number'],
  ] as const) {
    const divided = series === null ? null : field(series, 'text')
    const clauses = chartClauses(
      { axis, aggregate: 'count', of: null, series: divided, kind: 'bar', sort: 'largest', top: 20 },
      1,
    )
    t.same([clauses.select, clauses.groupBy.replaceAll('`', '')], [select, groupBy])
    const names = Object.values(clauses.keys).filter(name => name !== null)
    t.equal(new Set(names).size, names.length)
  }
  t.end()
})

t.test('outlines are written and read again', t => {
  const lines = [
    [
      [-180, 71.25],
      [-175.5, 70],
      [180, -89.75],
    ],
    [
      [0, 0],
      [0.25, -0.25],
    ],
  ] as const
  t.same(decodeLines(encodeOutline(lines)), lines)
  t.end()
})

/** Lines, and their parts on a map that ends at 180 degrees. */
const LINES_AT_EDGES: readonly (readonly [string, 'ring' | 'path', Line, readonly Line[]])[] = [
  [
    'within the map',
    'ring',
    [
      [0, 0],
      [9, 0],
      [9, 9],
      [0, 0],
    ],
    [
      [
        [0, 0],
        [9, 0],
        [9, 9],
        [0, 0],
      ],
    ],
  ],
  [
    'a ring over the edge',
    'ring',
    [
      [170, 60],
      [-170, 60],
      [-170, 70],
      [170, 70],
      [170, 60],
    ],
    [
      [
        [170, 60],
        [180, 60],
        [180, 70],
        [170, 70],
        [170, 60],
      ],
      [
        [-180, 60],
        [-170, 60],
        [-170, 70],
        [-180, 70],
        [-180, 60],
      ],
    ],
  ],
  [
    'a ring that begins beyond it',
    'ring',
    [
      [-170, 60],
      [-170, 70],
      [170, 70],
      [170, 60],
      [-170, 60],
    ],
    [
      [
        [-170, 60],
        [-170, 70],
        [-180, 70],
        [-180, 60],
        [-170, 60],
      ],
      [
        [180, 70],
        [170, 70],
        [170, 60],
        [180, 60],
        [180, 70],
      ],
    ],
  ],
  [
    'a path over the edge',
    'path',
    [
      [170, 60],
      [-170, 64],
    ],
    [
      [
        [170, 60],
        [180, 62],
      ],
      [
        [-180, 62],
        [-170, 64],
      ],
    ],
  ],
  [
    'a path there and back',
    'path',
    [
      [179, 60],
      [-179, 62],
      [179, 64],
    ],
    [
      [
        [179, 60],
        [180, 61],
      ],
      [
        [180, 63],
        [179, 64],
      ],
      [
        [-180, 61],
        [-179, 62],
        [-180, 63],
      ],
    ],
  ],
  [
    'a path along the edge',
    'path',
    [
      [180, 60],
      [180, 62],
    ],
    [
      [
        [180, 60],
        [180, 62],
      ],
    ],
  ],
]

t.test('lines are cut where the map ends', async t => {
  for (const [about, type, line, parts] of LINES_AT_EDGES) t.same(cutAtEdges(line, type), parts, about)
})

t.test('the coastline is within the map, and whole', async t => {
  const drawn = decodeLines(/"(.*)"/s.exec(coastlineModule())?.[1] ?? '')
  t.ok(drawn.length > 100)
  t.ok(
    drawn.flat().every(([lon]) => lon >= -180 && lon <= 180),
    'nothing is drawn beside the world',
  )
  const largest = drawn.filter(
    ring => Math.max(...ring.map(([lon]) => lon)) - Math.min(...ring.map(([lon]) => lon)) > 150,
  )
  t.equal(largest.length, 2, 'Eurasia with Africa, and Antarctica, once each')
})

t.test('lines do not lead over days without records', t => {
  const slot = (day: number) => ({ label: `day ${day}`, from: day, to: day + 1 })
  const drawn = (aggregate: 'count' | 'avg', kind: 'line' | 'column') => {
    const axis = { type: 'period', period: 'day', field: field('planted', 'date') } as const
    const data = { request: { axis, aggregate }, slots: [1, 2, 5, 7].map(slot), series: [''] }
    const { pieces } = piecesOf({ ...data, values: [[4], [3], [2], [1]] } as never, kind, pageContext)
    return pieces.map(({ from, value, isGap }) => [Math.floor(from), value, isGap])
  }
  const pageContext = { number: String } as unknown as PageContext
  const gaps = (value: number) => [
    [1, 4, false],
    [2, 3, false],
    [3, value, true],
    [4, value, true],
    [5, 2, false],
    [6, value, true],
    [7, 1, false],
  ]
  t.strictSame(drawn('count', 'line'), gaps(0), 'none of them is a number')
  t.strictSame(drawn('avg', 'line'), gaps(Number.NaN), 'the line is interrupted')
  t.equal(drawn('count', 'column').length, 4)
  t.end()
})
