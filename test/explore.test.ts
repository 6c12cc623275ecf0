import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { temporaryFolder } from './support/folder.ts'
import { publishPortal, servePortal } from './support/portal.ts'

/** The Explore API v2.0 on a small portal: bodies, links, limits and every kind of bad input. */
const TREES = `id,name,height,planted,seen,alive,where
1,Älm "old",12.5,1999-04-01,2024-03-31T01:30:00+01:00,true,"48.1,11.5"
2,Oak,,2001-05-02,2024-03-31T03:30:00+02:00,false,
3,oak tree,7,,,true,"-33.9,151.2"
`

const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Test\n',
  data: {
    trees: {
      'trees.csv': TREES,
      'dataset.yaml': `
source: { path: trees.csv }
fields:
  - { name: tree_id, type: int, from: id }
  - { name: name, type: text, label: Name, annotations: { facet: true } }
  - { name: height, type: double }
  - { name: planted, type: date }
  - { name: seen, type: datetime }
  - { name: alive, type: boolean }
  - { name: place, type: geo_point_2d, from: where }
id: [tree_id]
metas: { default: { title: Trees of the town, keyword: [trees, green], publisher: Town } }
`,
    },
    secret: {
      'a.json': '[{"a":1}]',
      'dataset.yaml': 'source: { path: a.json }\nvisibility: restricted\n',
    },
    empty: { 'a.json': '[]', 'dataset.yaml': 'source: { path: a.json }\nfields: [{ name: a, type: int }]\n' },
  },
})
const { app, base, getJson: get } = await servePortal(t, { portal, now: '2026-01-02T03:04:05.678Z' })

const ROOT = '/api/explore/v2.0/catalog/datasets'

interface Wrapper {
  readonly record: { readonly fields: Readonly<Record<string, unknown>> }
}

t.test('the catalog lists public datasets with metadata, fields and features', async t => {
  const { status, body } = await get(ROOT)
  t.equal(status, 200)
  t.equal(body.total_count, 2, 'a restricted dataset is not there')
  const trees = body.datasets.find(
    (each: { dataset: { dataset_id: string } }) => each.dataset.dataset_id === 'trees',
  ).dataset
  t.match(trees, { dataset_uid: /^da_[a-z0-9]{6}$/, has_records: true, data_visible: true, attachments: [] })
  t.same(trees.features, ['analyze', 'timeserie', 'geo'])
  t.same(trees.fields[1], {
    name: 'name',
    label: 'Name',
    type: 'text',
    annotations: { facet: [] },
    description: null,
  })
  t.match(trees.metas.default, {
    title: 'Trees of the town',
    records_count: 3,
    modified: '2026-01-02T03:04:05.678+00:00',
  })
  t.same((await get(`${ROOT}/trees`)).body.dataset, trees)
})

t.test('catalog filters name metadata with or without their template', async t => {
  const cases: readonly (readonly [where: string, ids: readonly string[]])[] = [
    ['', ['empty', 'trees']],
    ['"town green"', ['trees']],
    ['title = "Trees of the town"', ['trees']],
    ['default.keyword = "green"', ['trees']],
    ['has_records', ['trees']],
    ['not has_records', ['empty']],
    ['records_count in [1..3]', ['trees']],
    ["modified > date'2026'", ['empty', 'trees']],
    ['datasetid = "empty"', ['empty']],
    ['features = "geo"', ['trees']],
    ['features = "analyze"', ['trees']],
  ]
  for (const [where, ids] of cases) {
    const { body } = await get(ROOT, { where })
    t.same(
      body.datasets.map((each: { dataset: { dataset_id: string } }) => each.dataset.dataset_id),
      ids,
      where,
    )
    t.equal(body.total_count, ids.length)
  }
})

t.test('records come with typed values, id, size and links', async t => {
  const { body, headers } = await get(`${ROOT}/trees/records`, { limit: '2' })
  t.equal(body.total_count, 3)
  t.same(
    body.links.map(({ rel, href }: { rel: string; href: string }) => [rel, href.replace(base, '')]),
    [
      ['self', `${ROOT}/trees/records?limit=2&offset=0`],
      ['first', `${ROOT}/trees/records?limit=2&offset=0`],
      ['last', `${ROOT}/trees/records?limit=2&offset=2`],
      ['next', `${ROOT}/trees/records?limit=2&offset=2`],
    ],
  )
  const whole = await get(`${ROOT}/trees/records`, { limit: '1', select: 'count(*) as c' })
  t.match(whole.body, { total_count: 3, records: [{ c: 3 }] })
  t.same(
    whole.body.links.map(({ rel }: { rel: string }) => rel),
    ['self', 'first', 'last'],
    'aggregates of all records are one row',
  )
  const [first] = body.records
  t.same(first.record.fields, {
    tree_id: 1,
    name: 'Älm "old"',
    height: 12.5,
    planted: '1999-04-01',
    seen: '2024-03-31T00:30:00+00:00',
    alive: true,
    place: { lon: 11.5, lat: 48.1 },
  })
  t.match(first.record.id, /^[0-9a-f]{40}$/)
  t.equal(first.record.timestamp, '2026-01-02T03:04:05.678+00:00')
  const own = await get(`${ROOT}/trees/records`, { limit: '1', select: 'record_timestamp as moment' })
  t.equal(own.body.records[0].record.fields.moment, first.record.timestamp)
  t.equal(typeof first.record.size, 'number')
  t.match(headers['server-timing'], /store;dur=[\d.]+/)
  const single = await get(`${ROOT}/trees/records/${first.record.id}`, { select: 'name' })
  t.same(single.body.record.fields, { name: 'Älm "old"' })
})

t.test('limit, offset and their other names go together, and links lead on', async t => {
  const idsAt = async (address: string) => {
    const { body } = await get(address)
    return body.records.map(({ record }: Wrapper) => record.fields.tree_id)
  }
  const list = `${ROOT}/trees/records?select=tree_id&`
  t.same(await idsAt(`${list}limit=1&start=2`), [3])
  t.same(await idsAt(`${list}rows=1&offset=1`), [2])
  t.same(await idsAt(`${list}limit=1&rows=2&offset=1&start=2`), [2], 'the newer name counts')
  for (const page of ['limit=2', 'limit=2&rows=&start=', 'limit=2&rows=1', 'rows=2', 'limit=2&start=0']) {
    const { body } = await get(list + page)
    const { href } = body.links.find(({ rel }: { rel: string }) => rel === 'next')
    t.same(await idsAt(href.replace(base, '')), [3], page)
  }
})

t.test('a field may have its own name as a label', async t => {
  const own = await get(`${ROOT}/trees/records`, { select: 'name as name, height', limit: '1' })
  t.same(Object.keys(own.body.records[0].record.fields), ['name', 'height'])
  const { body } = await get(`${ROOT}/trees/records`, {
    group_by: 'year(planted) as height',
    select: 'height, count(*)',
  })
  t.ok(body.records.length > 0, 'a field of select names the label of a key')
})

t.test('a time zone moves moments and the date literals that have no offset', async t => {
  const zone = { timezone: 'Europe/Berlin' }
  const { body } = await get(`${ROOT}/trees/records`, { select: 'seen', ...zone })
  t.same(
    body.records.map(({ record }: Wrapper) => record.fields.seen),
    ['2024-03-31T01:30:00+01:00', '2024-03-31T03:30:00+02:00', null],
    'across the change to summer time',
  )
  const own = await get(`${ROOT}/trees/records`, {
    limit: '1',
    select: 'record_timestamp as moment',
    ...zone,
  })
  t.equal(own.body.records[0].record.fields.moment, '2026-01-02T04:04:05.678+01:00')
  const where = "seen >= date'2024-03-31T03:00'"
  t.equal((await get(`${ROOT}/trees/records`, { where, ...zone })).body.total_count, 1)
  t.equal((await get(`${ROOT}/trees/records`, { where })).body.total_count, 0)
})

t.test('a moment is found by its day and by its time', async t => {
  for (const [where, count] of [
    ['"2024-03-31"', 2],
    ['"31" and "2024"', 2],
    ['"2024-03-31T01:30:00Z"', 1],
    ['"2024-03-29"', 0],
  ] as const)
    t.equal((await get(`${ROOT}/trees/records`, { where })).body.total_count, count, where)
  const phrases = await get('/api/odata/trees', { $search: '"2024-03-31" AND NOT "01:30:00"' })
  t.equal(phrases.body.value.length, 1, 'in OData as phrases')
})

t.test('select, order_by and limits', async t => {
  const cases: readonly (readonly [query: Record<string, string>, rows: readonly unknown[]])[] = [
    [
      { select: 'name as n, tree_id' },
      [
        { n: 'Älm "old"', tree_id: 1 },
        { n: 'Oak', tree_id: 2 },
        { n: 'oak tree', tree_id: 3 },
      ],
    ],
    [{ select: 'include(tree*)', limit: '1' }, [{ tree_id: 1 }]],
    [{ select: 'exclude(name, p*, s*, a*, h*)', limit: '1' }, [{ tree_id: 1 }]],
    [{ select: 'tree_id', order_by: 'height desc' }, [{ tree_id: 1 }, { tree_id: 3 }, { tree_id: 2 }]],
    [{ select: 'tree_id', order_by: 'height' }, [{ tree_id: 3 }, { tree_id: 1 }, { tree_id: 2 }]],
    [
      { select: 'tree_id', order_by: 'alive desc, tree_id desc' },
      [{ tree_id: 3 }, { tree_id: 1 }, { tree_id: 2 }],
    ],
    [{ select: 'tree_id', limit: '-1', offset: '2' }, [{ tree_id: 3 }]],
    [{ limit: '0' }, []],
  ]
  for (const [query, rows] of cases) {
    const { body, status } = await get(`${ROOT}/trees/records`, query)
    t.equal(status, 200, JSON.stringify(body))
    t.same(
      body.records.map(({ record }: Wrapper) => record.fields),
      rows,
      JSON.stringify(query),
    )
    t.equal(body.total_count, 3)
  }
})

t.test('bad input gets the documented status and body, never a 500', async t => {
  const records = `${ROOT}/trees/records`
  const long = `name = "${'a'.repeat(100_000)}"`
  const cases: readonly (readonly [url: string, status: number, code: string, message: RegExp])[] = [
    [`${ROOT}/nope`, 404, 'NotFoundResource', /^The requested dataset nope does not exist\.$/],
    [`${ROOT}/secret`, 401, 'Unauthorised', /secret/],
    [`${ROOT}/secret/records`, 401, 'Unauthorised', /secret/],
    [`${records}/${'0'.repeat(40)}`, 404, 'NotFoundResource', /record 0+ does not exist/],
    [`${records}/x%22y`, 404, 'NotFoundResource', /record/],
    ['/api/explore/v2.0/nothing', 404, 'NotFoundResource', /nothing/],
    [
      `${records}?where=nme%20%3D%20%22x%22`,
      400,
      'ODSQLError',
      /^ODSQL query is malformed: Unknown field: nme \(did you mean name\?\)\. Clause\(s\) containing the error\(s\): where\.$/,
    ],
    [`${records}?where=name%20%3D`, 400, 'ODSQLError', /unexpected end of line.*: where\.$/],
    [`${records}?where=name%20%3D%203`, 400, 'IncompatibleTypesInComparisonFilter', /text.*number 3.*where/],
    [
      `${records}?where=planted%20%3E%20%222020%22`,
      400,
      'IncompatibleTypesInComparisonFilter',
      /date'2020-06-30'/,
    ],
    [
      `${records}?select=height%20as%20name,name`,
      400,
      'ODSQLError',
      /Alias 'name' is declared several times.*select/,
    ],
    [
      `${records}?select=count(*)%20as%20name&group_by=name`,
      400,
      'ODSQLError',
      /Alias 'name' is declared several/,
    ],
    [`${records}?where=foo(name)`, 400, 'ODSQLError', /Unknown function: foo/],
    [
      `${records}?select=nothing_like_it`,
      400,
      'ODSQLError',
      /^ODSQL query is malformed: Unknown field: nothing_like_it\. Clause\(s\) containing the error\(s\): select\.$/,
    ],
    [`${records}?order_by=place`, 400, 'ODSQLError', /no order.*order_by/],
    [
      `${records}?limit=1473`,
      400,
      'InvalidRESTParameterError',
      /^Invalid value for limit API parameter: 1473 was found but -1 <= limit <= 100 is expected\.$/,
    ],
    [`${records}?limit=ten`, 400, 'InvalidRESTParameterError', /ten was found/],
    [`${records}?limit=1&limit=2`, 400, 'InvalidRESTParameterError', /one value/],
    [`${records}?offset=-1`, 400, 'InvalidRESTParameterError', /offset/],
    [`${records}?offset=9991`, 400, 'InvalidRESTParameterError', /offset \+ limit <= 10000/],
    [`${records}?timezone=Mars/Olympus`, 400, 'InvalidRESTParameterError', /time zone/],
    [`${records}?lang=xx`, 400, 'InvalidRESTParameterError', /lang/],
    [`${records}?where=${encodeURIComponent(long)}`, 400, 'ODSQLError', /at most 20000/],
    [`${records}?where=${'('.repeat(9000)}`, 400, 'ODSQLError', /unexpected|nested/],
    [`${records}?where=${'('.repeat(300)}alive`, 400, 'ODSQLError', /end of line/],
    [`${records}?where=${'not '.repeat(500)}alive`, 400, 'ODSQLError', /nested deeper/],
    [
      `${records}?group_by=${'name,'.repeat(101).slice(0, -1)}`,
      400,
      'ODSQLError',
      /101 keys .* 100 can group/,
    ],
    [`${records}?where=%ff`, 400, 'BadRequest', /%ff was found/],
    [`${records}?where=%zz`, 400, 'ODSQLError', /unexpected % at position 0/],
    ['/api/explore/v2.0/catalog/datasets/%ff', 400, 'BadRequest', /./],
  ]
  for (const [url, status, code, message] of cases) {
    const response = await app.http.inject({ url })
    t.equal(response.statusCode, status, url.slice(0, 120))
    t.match(response.json(), { error_code: code, message }, url.slice(0, 120))
    t.ok(response.body.length < 1024, 'a short body')
    t.notMatch(response.body, /\.ts:|\.js:|node_modules/, 'nothing of its inside')
  }
  const words = encodeURIComponent(`name like "${'*a'.repeat(6000)}"`)
  t.match((await app.http.inject({ url: `${records}?where=${words}` })).json(), { total_count: 0 })
  const browser = { accept: 'text/html,*/*;q=0.8' }
  const page = await app.http.inject({ url: '/ld/resources/pets/%FF?lang=fr', headers: browser })
  t.strictSame([page.statusCode, page.headers['content-type']], [400, 'text/html; charset=utf-8'])
  t.match(page.body, /<h1>.*The path of the address cannot be decoded/s)
  const tooLong = await app.http.inject({ url: `/explore/dataset/${'x'.repeat(9000)}`, headers: browser })
  t.equal(tooLong.statusCode, 400)
  t.match(tooLong.body, 'A part of the path of the address is too long.')
  const post = await app.http.inject({ method: 'POST', url: records, payload: { where: 'x' } })
  t.equal(post.statusCode, 405)
  t.match(post.headers.allow, /GET/)
  t.equal((await get(`${records}?unknown_parameter=1`)).status, 200, 'an unknown parameter is ignored')
})

t.test('a page that ends exactly at the bound is served', async t => {
  const { status, body } = await get(`${ROOT}/trees/records`, { limit: '100', offset: '9900' })
  t.equal(status, 200)
  t.same([body.total_count, body.records], [3, []])
})

t.test('a dataset that changes is served whole in its new version', async t => {
  const file = path.join(portal, 'data/trees/trees.csv')
  writeFileSync(file, `${TREES}4,Elm,3,2020-01-01,,true,\n`)
  await publishPortal(portal)
  t.equal((await get(`${ROOT}/trees/records`)).body.total_count, 3, 'until it is taken over')
  t.equal(await app.catalog.refresh(), true)
  t.equal((await get(`${ROOT}/trees/records`)).body.total_count, 4)
  t.equal(await app.catalog.refresh(), false, 'nothing more to do')
})
