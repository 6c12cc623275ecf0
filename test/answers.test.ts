import t, { type Test } from 'tap'
import { parseSelect } from '../src/language/odsql/parse.ts'
import { tokens } from '../src/model/search.ts'
import { parseWkbHex } from '../src/model/wkb.ts'
import { FieldNames } from '../src/query/resolve/context.ts'
import { nowConstant } from '../src/query/resolve/now.ts'
import { contextFor } from './support/context.ts'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** What each dialect answers to the same question, and the vectors of what a query computes. */
const _base = 'http://portal.example'
const TOWNS = `town,country,people,founded,seen,tags,place
Paris,FR,2100000,0250-01-01,2007-11-20T00:23:45Z,"capital;river","48.85,2.35"
Lyon,FR,520000,,2020-03-29T00:30:00Z,"river","45.75,4.85"
Nice,FR,,,2020-03-29T01:30:00Z,,"43.7,7.25"
Bern,CH,134000,1191-01-01,2021-05-06T12:34:55Z,"capital","46.95,7.45"
,DE,5,,,,
`
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const word = (at: number) =>
  LETTERS.charAt(at % 26) + LETTERS.charAt(Math.floor(at / 26) % 26) + LETTERS.charAt(Math.floor(at / 676))
const MANY = Array.from({ length: 3000 }, (_, at) => ({ k: at, name: `Été ${word(at)} ${word(at * 7)}` }))

const KINDS = ['a', 'Été: 100 % / "x"', '日本 <b>', "o'b", ' ', 'rare', 'é'.repeat(120)]
/** Values of which some are in thousands of records, some in few, and one is too long for the name of a list. */
const HAVING = Array.from({ length: 4000 }, (_, k) => ({
  k,
  kind: KINDS[k === 77 ? 5 : (k * k) % 13 < 7 ? k % 5 : 6] ?? '',
  active: k % 3 > 0,
  level: (k % 9) - 4,
  share: (k % 7) / 7,
  day: new Date(Date.UTC(2020, 0, 1 + (k % 40))).toISOString().slice(0, 10),
  seen: new Date(Date.UTC(2020, 0, 1, k % 20)).toISOString(),
  tags: k % 4 === 0 ? null : [`t${k % 3}`, `t${k % 5}`].join(';'),
}))

/** So many records that the first of each order are listed. */
const SORTED = Array.from({ length: 21_000 }, (_, k) => {
  const mixed = (k * 7919) % 20_011
  return {
    k,
    n: k % 10 === 3 ? null : (mixed % 4001) - 2000,
    x: mixed / 7 - 1000,
    name: `${['é', 'Z', '\u{1f333}', '\uffe5', 'a'][mixed % 5]}${mixed % 4000}`,
    day: k % 9 === 0 ? null : new Date(Date.UTC(1900, 0, 1 + mixed)).toISOString().slice(0, 10),
    seen: new Date(Date.UTC(2020, 0, 1) + Math.floor(mixed / 3) * 250).toISOString(),
    long: k === 20_000 ? 'x'.repeat(200) : `t${mixed}`,
    few: k % 3000 === 0 ? mixed : null,
  }
})

async function serve(t: Test) {
  const portal = temporaryFolder(t, {
    'portal.yaml': 'title: Answers\n',
    data: {
      towns: {
        'towns.csv': TOWNS,
        'dataset.yaml': `
source: { path: towns.csv }
fields:
  - { name: town, type: text }
  - { name: country, type: text }
  - { name: people, type: int }
  - { name: founded, type: date }
  - { name: seen, type: datetime }
  - { name: tags, type: text, annotations: { multivalued: [';'] } }
  - { name: place, type: geo_point_2d }
`,
      },
      having: {
        'having.json': JSON.stringify(HAVING),
        'dataset.yaml': `
source: { path: having.json }
fields:
  - { name: k, type: int }
  - { name: kind, type: text }
  - { name: active, type: boolean }
  - { name: level, type: int }
  - { name: share, type: double }
  - { name: day, type: date }
  - { name: seen, type: datetime }
  - { name: tags, type: text, annotations: { multivalued: [';'] } }
`,
      },
      sorted: {
        'sorted.json': JSON.stringify(SORTED),
        'dataset.yaml': `
source: { path: sorted.json }
fields:
  - { name: k, type: int }
  - { name: n, type: int }
  - { name: x, type: double }
  - { name: name, type: text }
  - { name: day, type: date }
  - { name: seen, type: datetime }
  - { name: long, type: text }
  - { name: few, type: int }
`,
      },
      many: { 'many.json': JSON.stringify(MANY), 'dataset.yaml': 'source: { path: many.json }\n' },
      ends: {
        'ends.csv': 'born,moment\n0001-01-01,0001-01-01T12:00:00Z\n9999-12-31,9999-12-31T12:00:00Z\n',
        'dataset.yaml': `
source: { path: ends.csv }
fields: [{ name: born, type: date }, { name: moment, type: datetime }]
`,
      },
    },
  })
  const { app } = await servePortal(t, { portal, now: '2026-01-02T03:04:05.678Z' })
  return async (url: string, query: Readonly<Record<string, string>> = {}) => {
    const address = url.startsWith('/') ? url : `/api/${url}`
    const response = await app.http.inject({ url: address, query: { ...query } })
    const isJson = String(response.headers['content-type']).includes('json')
    return { status: response.statusCode, body: isJson ? response.json() : response.body }
  }
}
const get = await serve(t)
const V20 = 'explore/v2.0/catalog/datasets/towns'
const V21 = 'explore/v2.1/catalog/datasets/towns'

t.test('groups and aggregates have the shape of their dialect', async t => {
  const question = { group_by: 'country', select: 'count(*) as c, sum(people) as s', order_by: 'c desc' }
  const rows = [
    { country: 'FR', c: 3, s: 2620000 },
    { country: 'CH', c: 1, s: 134000 },
    { country: 'DE', c: 1, s: 5 },
  ]
  t.match(await get(`${V21}/records`, question), { status: 200, body: { results: rows } })
  for (const url of [`${V20}/aggregates`, 'v2/catalog/datasets/towns/aggregates'])
    t.match(await get(url, question), { status: 200, body: { aggregations: rows } }, url)
  t.match(await get(`${V21}/aggregates`, question), { status: 410 })
  t.same((await get(`${V21}/exports/json`, question)).body, rows, 'v2.1 exports groups')
  t.match(await get(`${V20}/exports/json`, question), { status: 400 })

  const cases: readonly (readonly [clauses: Record<string, string>, v20: unknown, v21: unknown])[] = [
    [{ group_by: 'town', where: 'country = "DE"' }, [], [{ town: null }]],
    [
      { group_by: 'range(people, 1000000) as r', select: 'count(*) as c' },
      [
        { r: '0-1000000', c: 3 },
        { r: '2000000-3000000', c: 1 },
      ],
      [
        { r: null, c: 1 },
        { r: '[0, 999999]', c: 3 },
        { r: '[2000000, 2999999]', c: 1 },
      ],
    ],
    [
      { group_by: 'year(seen) as y', select: 'count(*) as c', where: 'country = "FR"' },
      [
        { y: '2007', c: 1 },
        { y: '2020', c: 2 },
      ],
      [
        { y: 2007, c: 1 },
        { y: 2020, c: 2 },
      ],
    ],
    [
      { group_by: 'hour(seen) as h', where: 'country = "FR"', timezone: 'Europe/Paris' },
      [{ h: '1' }, { h: '3' }],
      [{ h: 1 }, { h: 3 }],
    ],
    [
      {
        group_by: "range(seen, ]date'1900', date'2008-01-01T00:00:00.5']) as r",
        select: 'count(*) as c',
        timezone: 'Europe/Paris',
      },
      [
        { r: '*-1900-01-01', c: 0 },
        { r: '1900-01-01-2008-01-01T00:00:00.5+01:00', c: 1 },
      ],
      [
        { r: '[*, 1899-12-31T23:59:39+00:09[', c: 0 },
        { r: '[1899-12-31T23:59:39+00:09, 2008-01-01T00:00:00.5+01:00[', c: 1 },
      ],
    ],
    [
      { group_by: 'tags as g', select: 'count(*) as c, sum(people) as s' },
      [
        { g: 'capital', c: 2, s: 2234000 },
        { g: 'river', c: 2, s: 2620000 },
      ],
      [
        { g: null, c: 2, s: 5 },
        { g: 'capital', c: 2, s: 2234000 },
        { g: 'river', c: 2, s: 2620000 },
      ],
    ],
  ]
  for (const [clauses, v20, v21] of cases) {
    t.same((await get(`${V20}/aggregates`, clauses)).body.aggregations, v20, JSON.stringify(clauses))
    t.same((await get(`${V21}/records`, clauses)).body.results, v21, JSON.stringify(clauses))
  }
})

t.test('ranges of dates lead beyond the years 0 to 9999, in any zone', async t => {
  const ends = (version: string) => `explore/v2.${version}/catalog/datasets/ends/records`
  for (const [range, timezone, old, recent] of [
    ['born, 1000000 d', 'UTC', '-0768-02-04', '[-0768-02-04T00:00:00.000Z, 1970-01-01T00:00:00.000Z['],
    ['moment, 1000000 d', 'UTC', '-0768-02-04', '[-0768-02-04T00:00:00.000Z, 1970-01-01T00:00:00.000Z['],
    [
      'moment, 1000000 d',
      'Europe/Paris',
      '-0768-02-04',
      '[-0768-02-03T23:59:39+00:09, 1970-01-01T00:00:00+01:00[',
    ],
    [
      'moment, 30000000 h',
      'Asia/Tokyo',
      '-1453-08-14T00:00:01+09:19',
      '[-1453-08-14T00:00:01+09:19, 1970-01-01T00:00:00+09:00[',
    ],
  ] as const) {
    const clauses = { group_by: `range(${range}) as r`, timezone }
    t.match((await get(ends('0'), clauses)).body.records, [{ r: old }, {}], `${range} ${timezone}`)
    t.match((await get(ends('1'), clauses)).body.results, [{ r: recent }, {}], `${range} ${timezone}`)
  }
  t.match((await get(ends('1'), { group_by: 'range(born, 36 h) as r' })).body.results, [
    { r: '[0000-12-31T00:00:00.000Z, 0001-01-01T12:00:00.000Z[' },
    { r: '[9999-12-31T00:00:00.000Z, 10000-01-01T12:00:00.000Z[' },
  ])
  for (const [group_by, message] of [
    [
      'range(moment, 10000001 d)',
      /given 10000001 days where it takes a whole number of them, at most 10000000/,
    ],
    ['range(moment, 1.5 h)', /given 1.5 hours where it takes a whole number of them, at most 1000000000/],
    ['range(born, 2 weeks)', /given 2 weeks where it takes 1 week/],
    ["range(born, [date'2020'])", /given one step without a \* beside it where it takes two steps, or one/],
    ['range(born, *)', /given no step/],
  ] as const)
    t.match(await get(ends('1'), { group_by }), { status: 400, body: { message } }, group_by)
})

t.test('aggregates pass over what is null, and answer for no records', async t => {
  const select =
    'count(*) as n, count(people) as c, sum(people) as s, avg(people) as a, min(seen) as f, max(founded) as l, median(people) as m'
  const all = { n: 5, c: 4, s: 2754005, a: 688501.25, f: '2007-11-20T00:23:45+00:00', l: '1191-01-01' }
  const none = { n: 0, c: 0, s: null, a: null, f: null, l: null, m: null }
  const results = async (where: string) => (await get(`${V21}/records`, { select, where })).body.results
  t.same(await results(''), [{ ...all, m: 327000 }])
  for (const where of ['country = "XX"', 'people = null', '"nobody here"', 'recordid = "x"'])
    t.same(await results(where), [none], where)
  const computed = await get(`${V21}/records`, {
    select: 'median(people) / count(*) as x, sum(people) - 5 as y',
  })
  t.same(computed.body.results, [{ x: 65400, y: 2754000 }])
  const hull = await get(`${V21}/records`, {
    select: 'envelope(place) as e, bbox(place) as b',
    where: 'country="CH"',
  })
  t.match(hull.body.results, [{ e: { geometry: { type: 'Point' } }, b: { geometry: { type: 'Polygon' } } }])
})

t.test('lists in aggregates: a record counts once beside them, and a replaced one counts', async t => {
  const figures = 'sum(length(tags)) as l, sum(people) as s, count(*) as n, count(tags) as c'
  const counts =
    'count(ifnull(tags, "none")) as r, count(distinct ifnull(tags, "none")) as d, count(ifnull(town, tags)) as t'
  const cases: readonly (readonly [clauses: Record<string, string>, rows: readonly unknown[]])[] = [
    [{ select: figures }, [{ l: 24, s: 2754005, n: 5, c: 3 }]],
    [{ select: counts }, [{ r: 5, d: 3, t: 4 }]],
    [{ select: `${figures}, count(distinct lower(tags)) as e` }, [{ l: 24, s: 2754005, n: 5, c: 3, e: 2 }]],
    [
      { select: figures, group_by: 'tags as g' },
      [
        { g: null, l: null, s: 5, n: 2, c: 0 },
        { g: 'capital', l: 19, s: 2234000, n: 2, c: 2 },
        { g: 'river', l: 17, s: 2620000, n: 2, c: 2 },
      ],
    ],
  ]
  for (const [clauses, rows] of cases)
    t.same((await get(`${V21}/records`, clauses)).body.results, rows, JSON.stringify(clauses))
})

t.test('dates are written in the language and zone of the query', async t => {
  const cases: readonly (readonly [pattern: string, lang: string, text: string])[] = [
    ['E', '', 'mar.'],
    ['EEEE', '', 'mardi'],
    ['H', '', '1'],
    ['HH', '', '01'],
    ['yy', '', '07'],
    ['dd/MM/YYYY', '', '20/11/2007'],
    ["'The date is 'dd/MM/YYYY", '', 'The date is 20/11/2007'],
    ["'The date is '''dd/MM/YYYY''", '', "The date is '20/11/2007'"],
    ['EEEE d MMMM', 'de', 'Dienstag 20 November'],
    ['EEE', 'en', 'Tue'],
    ['xxxx-ww-e', '', '2007-47-2'],
    ['DDD', '', '324'],
    ['Z ZZ ZZZ', '', '+0100 +01:00 Europe/Paris'],
  ]
  for (const [pattern, lang, text] of cases) {
    const query = {
      select: `date_format(seen, "${pattern}") as d`,
      where: 'town = "Paris"',
      timezone: 'Europe/Paris',
      ...(lang === '' ? {} : { lang }),
    }
    t.same((await get(`${V21}/records`, query)).body.results, [{ d: text }], `${pattern} ${lang}`)
  }
})

t.test('now() with its parameters', async t => {
  const now = Date.parse('2021-05-06T12:34:55.450Z')
  const cases: readonly (readonly [call: string, moment: string])[] = [
    ['now()', '2021-05-06T12:34:55.45'],
    ['now(year=2000)', '2000-05-06T12:34:55.45'],
    ['now(years=-1)', '2020-05-06T12:34:55.45'],
    ['now(year=2001, months=-1)', '2001-04-06T12:34:55.45'],
    ['now(day=31, month=2)', '2021-02-28T12:34:55.45'],
    ['now(weekday=0)', '2021-05-10T12:34:55.45'],
    ['now(weekday=3)', '2021-05-06T12:34:55.45'],
    ['now(mondays=+1)', '2021-05-10T12:34:55.45'],
    ['now(mondays=-1)', '2021-05-03T12:34:55.45'],
    ['now(weekday=MO(2))', '2021-05-17T12:34:55.45'],
    ['now(hours=24, weekday=0)', '2021-05-10T12:34:55.45'],
    ['now(hours=100, mondays=1)', '2021-05-10T16:34:55.45'],
    ['now(weeks=1, hour=0, minute=0, second=0, microsecond=0)', '2021-05-13T00:00:00'],
    ['now(days=1, days=2)', '2021-05-08T12:34:55.45'],
    ['now(microseconds=-450001)', '2021-05-06T12:34:54.999999'],
    ['now(years=100000)', '9999-05-06T12:34:55.45'],
  ]
  for (const [text, moment] of cases) {
    const call = parseSelect(text)[0]?.expression
    if (call?.type !== 'call') throw new Error(text)
    const { local } = nowConstant(call, new FieldNames('where', contextFor({ fields: [] }, { now })))
    const two = (value: number) => String(value).padStart(2, '0')
    const { year, month, day, hour, minute, second, fraction } = local
    const found = `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}`
    t.equal(fraction === '' ? found : `${found}.${fraction}`, moment, text)
  }
})

t.test('geometries from bytes', async t => {
  t.same(parseWkbHex('0101000000000000000000F03F0000000000000040'), { type: 'Point', coordinates: [1, 2] })
  t.same(parseWkbHex('00000000013FF00000000000004000000000000000'), { type: 'Point', coordinates: [1, 2] })
  for (const wrong of [
    '',
    '01',
    'zz',
    '0101000000000000000000F03F',
    '0199000000',
    '01030000000100000099999999',
  ])
    t.equal(parseWkbHex(wrong) ?? null, null, wrong)
})

t.test('a range of a computed value holds for one value of a list', async t => {
  const towns = async (where: string) => {
    const { body } = await get(`${V21}/records`, { where, select: 'town' })
    return body.results.map(({ town }: { readonly town: string | null }) => town)
  }
  t.same(await towns('length(tags) in [6..6]'), [], 'capital has 7 letters, river 5')
  t.same(await towns('length(tags) in [5..6]'), ['Paris', 'Lyon'])
  t.same(await towns('length(tags) in [7..9]'), ['Paris', 'Bern'])
  t.same(await towns('not length(tags) in [6..8]'), ['Lyon', 'Nice', null])
  t.same(await towns('lower(tags) in ["d".."q"]'), [])
  t.same(await towns('ifnull(tags, "x") in ["x".."y"]'), ['Nice', null])
})

t.test('pages of records of frequent values are those of the whole list', async t => {
  const quoted = (text = '') => `"${text.replaceAll('"', '\\"')}"`
  const has = (tag: string) => (each: (typeof HAVING)[number]) => each.tags?.split(';').includes(tag) ?? false
  type Test = (each: (typeof HAVING)[number]) => boolean
  const cases: readonly (readonly [where: string, test: Test])[] = [
    ...KINDS.map(kind => [`kind = ${quoted(kind)}`, (each: { kind: string }) => each.kind === kind] as const),
    ['active = true', ({ active }) => active],
    ['active = false', ({ active }) => !active],
    ['level = -3', ({ level }) => level === -3],
    [`share = ${5 / 7}`, ({ share }) => share === 5 / 7],
    ['share = 0', ({ share }) => share === 0],
    ['"t1"', has('t1')],
    ['"T1 ete"', each => has('t1')(each) && each.kind.startsWith('Été')],
    ['"t1" and active = true', each => has('t1')(each) && each.active],
    ['not "t1"', each => !has('t1')(each)],
    ['"t*"', ({ tags }) => tags !== null],
    ['level = 77', () => false],
    ["`day` = date'2020-01-09'", ({ day }) => day === '2020-01-09'],
    ['tags = "t1"', has('t1')],
    ['tags = "t1" and tags = "t2"', each => has('t1')(each) && has('t2')(each)],
    ['ifnull(tags, "none") = "none"', ({ tags }) => tags === null],
    ['ifnull(kind, tags) = "t1"', () => false],
    ['not lower(ifnull(tags, kind)) = "a"', ({ tags, kind }) => tags !== null || kind !== 'a'],
    [
      'ifnull(tags, "none") != "t1" and k < 9',
      e => e.k < 9 && (e.tags ?? '').split(';').some(x => x !== 't1'),
    ],
    ['kind = "a" or tags = "t0"', each => each.kind === 'a' || has('t0')(each)],
    ['level in (1, 2, 3) and active = true', ({ level, active }) => level > 0 && level < 4 && active],
    ['level in (1, 77)', ({ level }) => level === 1],
    ['kind = "a" and kind = "o\'b"', () => false],
    ['kind = "a" and kind = "rare"', () => false],
    ['level = 1 and (kind = "a" or active = true)', x => x.level === 1 && (x.kind === 'a' || x.active)],
    ['level = 1 and kind = "a" and k > 100', x => x.level === 1 && x.kind === 'a' && x.k > 100],
    ['not level = 1', ({ level }) => level !== 1],
    ['level > 1/0', () => false],
    ['not level > 1/0', () => true],
    ['level in [1/0..2]', () => false],
    ['level in (-(3/0), 2)', ({ level }) => level === 2],
    ['level in [2..1e308*10]', ({ level }) => level >= 2],
  ]
  const records = 'explore/v2.1/catalog/datasets/having/records'
  for (const [where, test] of cases) {
    const expected = HAVING.filter(test).map(({ k }) => k)
    const total = expected.length
    for (const [offset, limit] of [
      [0, 10],
      [0, 0],
      [Math.max(0, total - 5), 20],
      [total, 5],
      [995, 100],
      [1990, 30],
    ] as const) {
      const page = { where, select: 'k', limit: String(limit), offset: String(offset) }
      const { body } = await get(records, page)
      const found = { total: body.total_count, ks: body.results.map(({ k }: { k: number }) => k) }
      t.same(found, { total, ks: expected.slice(offset, offset + limit) }, `${where} from ${offset}`)
    }
    const all = await get('explore/v2.1/catalog/datasets/having/exports/json', { where, select: 'k' })
    t.same(
      all.body.map(({ k }: { k: number }) => k),
      expected,
      `${where}, exported`,
    )
    const last = { where, select: 'k', order_by: 'k desc', limit: '3' }
    const { body: ordered } = await get(records, last)
    t.same(
      ordered.results.map(({ k }: { k: number }) => k),
      expected.slice(-3).reverse(),
      `${where}, ordered`,
    )
    const counted = await get(records, { where, select: 'count(*) as c' })
    t.same(counted.body.results, [{ c: total }], `${where}, counted`)
  }
  const odata = async (filter: string, rest: Readonly<Record<string, string>>) => {
    const { body } = await get('odata/having', { $filter: filter, $select: 'k', ...rest })
    return { count: body['@odata.count'], ks: body.value.map(({ k }: { k: number }) => k) }
  }
  const active = HAVING.filter(each => each.active).map(({ k }) => k)
  for (const $skip of ['0', '1500', '2660', '9000'])
    t.same(await odata('active eq true', { $skip, $top: '9', $count: 'true' }), {
      count: active.length,
      ks: active.slice(Number($skip), Number($skip) + 9),
    })
  t.same(
    (await odata('active eq true and level eq 1', { $top: '500' })).ks,
    HAVING.filter(each => each.active && each.level === 1)
      .map(({ k }) => k)
      .slice(0, 500),
  )
  const { body } = await get('explore/v2.1/catalog/datasets/having/records', {
    refine: 'kind:a',
    limit: '1',
  })
  t.equal(body.total_count, HAVING.filter(({ kind }) => kind === 'a').length)
})

t.test('pages of every order follow one another as the whole does', async t => {
  type Row = (typeof SORTED)[number]
  const bytesOf = (value: Row[keyof Row]) =>
    typeof value === 'string' ? Buffer.from(value).toString('latin1') : value
  const sorted = (name: keyof Row, descending: boolean, absent: 'last' | 'lowest' = 'last') =>
    SORTED.map(row => ({ k: row.k, key: bytesOf(row[name]) }))
      .sort((one, other) => {
        const [a, b] = [one.key, other.key]
        const nulls = (a === null ? 1 : 0) - (b === null ? 1 : 0)
        if (nulls !== 0) return absent === 'lowest' && !descending ? -nulls : nulls
        const order = a === b ? 0 : (a ?? 0) < (b ?? 0) ? -1 : 1
        return (descending ? -order : order) || one.k - other.k
      })
      .map(({ k }) => k)
  const records = 'explore/v2.1/catalog/datasets/sorted/records'
  for (const name of ['k', 'n', 'x', 'name', 'day', 'seen', 'long', 'few'] as const)
    for (const direction of ['asc', 'desc']) {
      const order_by = `\`${name}\` ${direction}`
      const expected = sorted(name, direction === 'desc')
      for (const offset of [0, 3, 990, 4950, 4990, 9900]) {
        const { body } = await get(records, { order_by, select: 'k', limit: '30', offset: String(offset) })
        const found = { total: body.total_count, ks: body.results.map(({ k }: { k: number }) => k) }
        const ks = expected.slice(offset, offset + 30)
        t.same(found, { total: SORTED.length, ks }, `${order_by} from ${offset}`)
      }
      const { body } = await get('odata/sorted', {
        $orderby: `${name} ${direction}`,
        $select: 'k',
        $top: '15',
        $skip: '2',
      })
      t.same(
        body.value.map(({ k }: { k: number }) => k),
        sorted(name, direction === 'desc', 'lowest').slice(2, 17),
        `${order_by} of OData`,
      )
    }
  const filtered = await get(records, { where: 'n > 0', order_by: 'x', select: 'k', limit: '3' })
  const positive = new Set(SORTED.filter(({ n }) => n !== null && n > 0).map(({ k }) => k))
  t.same(
    filtered.body.results.map(({ k }: { k: number }) => k),
    sorted('x', false)
      .filter(k => positive.has(k))
      .slice(0, 3),
  )
})

t.test('every way of searching finds the same words', async t => {
  const records = 'explore/v2.1/catalog/datasets/many/records'
  const found = async (where: string) => {
    const { body } = await get(records, { where, select: 'k', limit: '100' })
    return { total: body.total_count, ks: body.results.map(({ k }: { k: number }) => k) }
  }
  const having = (requested: string, prefix = false) => {
    const hits = MANY.filter(({ name }) =>
      tokens(requested).every(part =>
        tokens(name).some(each => (prefix ? each.startsWith(part) : each === part)),
      ),
    ).map(({ k }) => k)
    return { total: hits.length, ks: hits.slice(0, 100) }
  }
  for (const requested of ['aba', 'ABA', 'été aba', 'zzz nothing', 'ete', 'qab abq']) {
    t.same(await found(`"${requested}"`), having(requested), requested)
    t.same(await found(`name like "${requested}"`), having(requested), `like ${requested}`)
    t.same((await found(`not "${requested}"`)).total, 3000 - having(requested).total, `not ${requested}`)
  }
  t.same(await found('"ab*"'), having('ab', true), 'a prefix is searched')
  for (const where of ['datasetid like "many"', 'search(datasetid, "mani")'])
    t.equal((await found(where)).total, 3000, `${where}: not a word of the records`)
  const { body } = await get(records, { select: 'count(*) as c', where: '"no such word"' })
  t.same(body.results, [{ c: 0 }])
})

t.test('a text of signs alone is found as it is, beside words it restricts nothing', async t => {
  const trees = SORTED.filter(({ name }) => name.includes('\u{1f333}')).length
  const cases: readonly (readonly [where: string, total: number])[] = [
    ['"\u{1f333}"', trees],
    ['not "\u{1f333}"', SORTED.length - trees],
    ['"\u{1f333} \u{1f332}"', 0],
    ['name like "\u{1f333}"', trees],
    ['search("\u{1f333}")', trees],
    ['"\u{1f333}\ufe0f"', trees],
    ['"\u{1f333}\ufe0f*"', trees],
    ['suggest(name, "\u{1f333}")', trees],
    ['"!?"', 0],
    ['"-"', SORTED.filter(({ long }) => long.includes('-')).length],
    ['"*"', SORTED.length],
    ['" "', SORTED.length],
    [
      '"\u{1f332} 77"',
      (await get('explore/v2.1/catalog/datasets/sorted/records', { where: '"77"' })).body.total_count,
    ],
  ]
  for (const [where, total] of cases) {
    const { body } = await get('explore/v2.1/catalog/datasets/sorted/records', { where })
    t.equal(body.total_count, total, where)
  }
  const { body } = await get('odata/sorted', { $search: '"\u{1f333}"', $count: 'true', $top: '1' })
  t.equal(body['@odata.count'], trees)
})

t.test('misspelt words of any length are found in the field that has them', async t => {
  const cases = [
    ['search(town, "Pariss")', 1],
    ['search(town, "Brn")', 1],
    ['search("Liyon")', 1],
    ['search(town, "Pairs")', 1],
    ['search(town, "aPirs")', 0],
    ['suggest(town, "Ly")', 1],
    ['search(town, "Constantinople")', 0],
    ['search(tags, "captial")', 2],
  ] as const
  for (const [where, total] of cases)
    t.equal((await get(`${V21}/records`, { where })).body.total_count, total, where)
})
