import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { RecomputedValue } from '../../src/catalog/recomputed-value.ts'
import { Usage } from '../../src/catalog/usage.ts'
import { loadConfig } from '../../src/config/load.ts'
import { Fault } from '../../src/errors/errors.ts'
import { temporaryFolder } from '../support/folder.ts'
import { servePortal } from '../support/portal.ts'
import { freePort } from '../support/serving.ts'

/** The sources of the Search API v2 beside the catalog: monitoring and network. */
const CSV = 'id,name,height\n1,Oak,12.5\n2,Elm,7\n3,Ash,9\n'
const YAML = `
source: { path: trees.csv }
fields:
  - { name: tree_id, type: int, from: id }
  - { name: name, type: text, annotations: { facet: true } }
  - { name: height, type: double }
id: [tree_id]
`

function folder(title: string, settings: string) {
  return {
    'portal.yaml': `title: Test\n${settings}`,
    data: {
      trees: {
        'trees.csv': CSV,
        'dataset.yaml': `${YAML}metas: { default: { title: ${title}, keyword: [trees, ${title}], publisher: Town }, custom: { level: ${title.length} } }\n`,
      },
      secret: {
        'a.json': '[{"a":1}]',
        'dataset.yaml': 'source: { path: a.json }\nvisibility: restricted\n',
      },
      empty: {
        'a.json': '[]',
        'dataset.yaml': 'source: { path: a.json }\nfields: [{ name: a, type: int }]\n',
      },
    },
  }
}

const now = '2026-01-02T03:04:05.678Z'

/** Asks until an answer is as it should be: what is counted is told some seconds later. */
async function until<Answer>(ask: () => Promise<Answer>, isGood: (answer: Answer) => boolean) {
  for (let tries = 0; tries < 40; tries++) {
    const answer = await ask()
    if (isGood(answer)) return answer
    await new Promise(resolve => setTimeout(resolve, 250))
  }
  throw new Error('waited in vain')
}

const ids = (body: { datasets: { dataset: { dataset_id: string } }[] }) =>
  body.datasets.map(({ dataset }) => dataset.dataset_id)
const relations = (body: { links: { rel: string }[] }) => body.links.map(({ rel }) => rel)

const CATALOG = '/api/v2/catalog/datasets'
const MONITORING = '/api/v2/monitoring/datasets'
const WATCHED = `${MONITORING}/ods-datasets-monitoring`
const NETWORK = '/api/v2/network/datasets'

const otherPort = await freePort()
const portals = temporaryFolder(t, { forest: folder('Forest', ''), park: folder('Park', '') })
const { app: other } = await servePortal(t, {
  portal: path.join(portals, 'forest'),
  base: `http://127.0.0.1:${otherPort}`,
  port: otherPort,
  now,
})
const deadPort = await freePort()

t.test('monitoring', async t => {
  const { app, portal, getJson: get } = await servePortal(t, { portal: folder('Park', ''), now })

  t.test('everyone sees one dataset, and its id is none of the catalog', async t => {
    t.same(relations((await get('/api/v2/monitoring')).body), ['self', 'datasets', 'exports'])
    const { status, body } = await get(MONITORING)
    t.equal(status, 200)
    t.equal(body.total_count, 1)
    t.same(ids(body), ['ods-datasets-monitoring'])
    t.match(body.datasets[0].links[0].href, /\/api\/v2\/monitoring\/datasets\/ods-datasets-monitoring$/)
    const refused = await get(`${MONITORING}/ods-api-monitoring`)
    t.equal(refused.status, 401)
    t.match(refused.body, { message: 'The list of calls is not public: credentials are required.' })
    t.equal((await get(`${MONITORING}/ods-api-monitoring/records`)).status, 401)
    t.equal((await get(`${MONITORING}/nothing`)).status, 404)
    for (const id of ['ods-datasets-monitoring', 'ods-api-monitoring']) {
      const { status, body } = await get(`${CATALOG}/${id}`)
      t.equal(status, 404)
      t.match(body, {
        error_code: 'NotFoundResource',
        message: `The requested dataset ${id} does not exist.`,
      })
    }
    t.equal((await get(`/ld/resources/ods-api-monitoring`)).status, 404)
  })

  t.test('calls raise counts, and ODSQL asks them', async t => {
    const count = async (): Promise<{ api_call_count: number; download_count: number }> =>
      (await get(`${WATCHED}/records`, { where: 'dataset_id = "trees"' })).body.records[0].record.fields
    const before = await count()
    for (let calls = 0; calls < 3; calls++) await get(`${CATALOG}/trees/records`)
    await get('/api/explore/v2.1/catalog/datasets/trees/records')
    await get(`${CATALOG}/trees/exports/json`)
    await get(`${CATALOG}/trees/records`, { where: 'nothing = 1' })
    await get(`${CATALOG}/nothing/records`)
    const after = await until(count, found => found.download_count === 1)
    t.equal(after.api_call_count - before.api_call_count, 4, 'calls that fail and downloads are no calls')
    t.match(after, { title: 'Park', publisher: 'Town', records_count: 3, visibility: 'domain' })
    t.match(after, { domain_id: 'portal.example', keyword: ['trees', 'Park'] })

    const all = (await get(`${WATCHED}/records`, { order_by: 'popularity_score desc' })).body
    t.equal(all.total_count, 2, 'the restricted dataset is not there')
    t.equal(all.records[0].record.fields.dataset_id, 'trees')
    const { id } = all.records[0].record
    t.match((await get(`${WATCHED}/records/${id}`)).body.record, { id, fields: { dataset_id: 'trees' } })
    const select = 'sum(records_count) as n, publisher'
    t.same((await get(`${WATCHED}/aggregates`, { select, group_by: 'publisher' })).body.aggregations, [
      { publisher: 'Town', n: 3 },
    ])
    const facets = (await get(`${WATCHED}/facets`, { facet: 'keyword' })).body.facets
    t.match(facets[0].facets, [{ name: 'Park', count: 1 }, { name: 'trees' }])
    t.equal((await get(`${WATCHED}/exports/json`)).body.length, 2)
    const { headers } = await app.http.inject('/api/v2/monitoring/exports/json?compressed=true')
    t.match(headers, { 'content-type': 'application/gzip', 'cache-control': 'no-cache, no-store' })
    t.match(headers['content-disposition'], 'monitoring.json.gz')
    const formats = ['json', 'jsonl', 'csv', 'xls', 'parquet']
    t.same(relations((await get(`${WATCHED}/exports`)).body), ['self', ...formats])
    t.same(relations((await get('/api/v2/monitoring/exports')).body), ['self', 'json'])
    t.equal((await get(`${WATCHED}/records`, { where: 'nothing = 1' })).status, 400)
    t.equal((await get(`${WATCHED}/records`, { where: '"park"' })).body.total_count, 1)
    t.same((await get('/api/v2/monitoring/aggregates', { select: 'count(*) as n' })).body.aggregations, [
      { n: 1 },
    ])
    t.equal((await get('/api/v2/monitoring/facets')).status, 200)
    t.equal((await get(`${MONITORING}`, { where: 'records_count > 1' })).body.total_count, 1)
    const metas = (await get(`${CATALOG}/trees`, { include_app_metas: 'true' })).body.dataset.metas
    t.match(metas.explore, { download_count: 1 })
  })

  t.test('counts outlive the process, and a damaged file does not hinder it', async t => {
    await app.close()
    const file = path.join(portal, 'var', 'usage.json')
    const { datasets } = JSON.parse(readFileSync(file, 'utf8'))
    t.match(datasets, { trees: { download: 1, attachment: 0 } })
    t.equal(new Usage({ file }).counts('trees').download, 1)
    const damaged = new Usage({ file: path.join(portal, 'portal.yaml') })
    t.same(damaged.counts('trees'), { call: 0, download: 0, attachment: 0 })
    t.equal(new Usage({ file: `${portal}/portal.yaml/var/usage.json` }).close(), undefined)
  })
})

/** Figures of use are asked like other metadata, as they are at the moment. */
const figures = await servePortal(t, { portal: path.join(portals, 'park'), now })
const use = async (t: Test, id: string, calls: number) => {
  for (let call = 0; call < calls; call++)
    t.equal((await figures.getJson(`${CATALOG}/${id}/records`, { limit: '0' })).status, 200)
}
const APIS = ['/api/v2', '/api/explore/v2.0', '/api/explore/v2.1'] as const
type Flat = { dataset_id: string; metas: { explore?: Record<string, number> } }
const datasets = (body: { results?: Flat[]; datasets?: { dataset: Flat }[] }): Flat[] =>
  body.results ?? (body.datasets ?? []).map(({ dataset }) => dataset)
const idsOf = (body: object) => datasets(body).map(({ dataset_id }) => dataset_id)
const SCORE = 'explore.popularity_score'

t.test('figures of use: orders follow every call', async t => {
  for (const [used, calls, other] of [
    ['trees', 2, 'empty'],
    ['empty', 12, 'trees'],
    ['trees', 30, 'empty'],
  ] as const) {
    await use(t, used, calls)
    const down = [used, other]
    const up = [other, used]
    for (const api of APIS)
      for (const [order_by, expected] of [
        [`${SCORE} desc`, down],
        [`-${SCORE}`, down],
        [SCORE, up],
        ['explore.api_call_count desc, title', down],
        ['explore.download_count desc, explore.api_call_count', up],
        [`length(dataset_id) - ${SCORE}`, down],
      ] as const) {
        const { status, body } = await figures.getJson(`${api}/catalog/datasets`, { order_by })
        t.equal(status, 200, `${api} ${order_by} ${body.message ?? ''}`)
        t.same(idsOf(body), expected, `${api} ${order_by}`)
      }
    for (const [sort, expected] of [
      [SCORE, down],
      [`-${SCORE}`, up],
      [`${SCORE} asc`, up],
      [`explore.feedback_count, -explore.api_call_count`, up],
      ['-records_count', ['trees', 'empty']],
      ['records_count', ['empty', 'trees']],
    ] as const) {
      const requested = { sort, rows: '20', include_app_metas: 'false' }
      t.same(idsOf((await figures.getJson(`${APIS[0]}/catalog/datasets`, requested)).body), expected, sort)
    }
  }
})

t.test('figures of use: filters, columns, groups, facets and files have them', async t => {
  const [catalog, v21] = ['/api/v2/catalog', '/api/explore/v2.1/catalog']
  const listed = datasets((await figures.getJson(CATALOG, { include_app_metas: 'true' })).body)
  const trees = listed.find(({ dataset_id }) => dataset_id === 'trees')?.metas.explore
  t.match(trees, { api_call_count: 32, popularity_score: Number })
  const where = `${SCORE} = ${trees?.popularity_score} and explore.reuse_count = 0`
  const select = 'dataset_id, explore.api_call_count as calls'
  const cases: readonly (readonly [url: string, query: Record<string, string>, expected: unknown])[] = [
    [`${catalog}/datasets`, { where }, { total_count: 1, datasets: [{ dataset: { dataset_id: 'trees' } }] }],
    [`${v21}/datasets`, { where: 'explore.api_call_count < 20' }, { results: [{ dataset_id: 'empty' }] }],
    [`${v21}/datasets`, { select, order_by: '-calls' }, { results: [{ calls: 32 }, { calls: 12 }] }],
    [`${v21}/datasets`, { select: `sum(${SCORE}) as s` }, { results: [{ s: Number }] }],
    [`${v21}/datasets`, { refine: 'explore.api_call_count:32' }, { results: [{ dataset_id: 'trees' }] }],
    [`${v21}/datasets`, { select: 'include(explore*)', limit: '1' }, { results: [{ [SCORE]: Number }] }],
    [`${catalog}/aggregates`, { select: 'max(explore.api_call_count) as n' }, { aggregations: [{ n: 32 }] }],
    [
      `${catalog}/facets`,
      { facet: 'explore.api_call_count' },
      { facets: [{ facets: [{ name: '12' }, { name: '32' }] }] },
    ],
    [`${catalog}/exports/json`, { order_by: `-${SCORE}` }, [{ dataset: { dataset_id: 'trees' } }, {}]],
    [`${catalog}/exports/data.json`, { order_by: SCORE, limit: '1' }, { dataset: [{ identifier: /empty/ }] }],
    // This is a call of the dataset.
    [`${v21}/datasets/trees`, { select: 'explore.api_call_count as n' }, { n: 32 }],
  ]
  for (const [url, query, expected] of cases) {
    const { status, body } = await figures.getJson(url, query)
    t.equal(status, 200, `${url} ${JSON.stringify(query)} ${body.message ?? ''}`)
    t.match(body, expected as object, `${url} ${JSON.stringify(query)}`)
  }
  const shown = { order_by: SCORE, include_app_metas: 'true' }
  const described = datasets((await figures.getJson(`${v21}/datasets`, shown)).body).map(
    ({ metas }) => metas.explore,
  )
  t.match(described, [{ api_call_count: 12 }, { api_call_count: 33 }])
})

t.test('figures of use: who does not name them does not see them', async t => {
  const head = async (query: string) =>
    (await figures.app.http.inject(`/api/v2/catalog/exports/csv?${query}`)).body.split('\r\n')[0]
  const standard = await head('')
  t.notMatch(standard, /explore/)
  t.equal(await head(`order_by=${SCORE}`), standard)
  t.match(await head(`select=dataset_id,${SCORE}`), /explore\.popularity_score/)
  const all = await figures.getJson(`${CATALOG}`, { select: '*', where: `${SCORE} > 0`, limit: '1' })
  t.notMatch(JSON.stringify(all.body.datasets), /explore/)
  const [first] = datasets((await figures.getJson(CATALOG, { order_by: SCORE })).body)
  t.notOk(first?.metas.explore)
  const unknown = await figures.getJson(CATALOG, { order_by: 'explore.popularity' })
  t.equal(unknown.status, 400)
  t.match(unknown.body.message, /Unknown field: explore\.popularity/)
})

t.test('figures of use: no answer that names them is kept or has a tag', async t => {
  for (const api of APIS)
    for (const [query, isKept] of [
      ['', true],
      [`order_by=${SCORE}`, false],
      ['where=explore.download_count=0', false],
      ['select=explore.download_count', false],
      ['refine=explore.download_count:0', false],
    ] as const) {
      const { headers } = await figures.app.http.inject(`${api}/catalog/datasets?${query}`)
      t.equal('etag' in headers, isKept, query)
      t.equal(/^no-cache$/.test(String(headers['cache-control'])), !isKept, query)
    }
  const { headers } = await figures.app.http.inject(`${CATALOG}?sort=${SCORE}`)
  t.notOk('etag' in headers)
})

t.test('figures of use: a catalog that changes is seen at once, and an empty one has the fields', async t => {
  const files = { 'portal.yaml': 'title: Test\n', data: {} }
  const { portal, publish, getJson: get } = await servePortal(t, { portal: files })
  t.match(await get(CATALOG, { sort: SCORE }), { status: 200, body: { total_count: 0 } })
  const folder = path.join(portal, 'data', 'later')
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'a.json'), '[{"a":1}]')
  writeFileSync(path.join(folder, 'dataset.yaml'), 'source: { path: a.json }\n')
  await publish()
  t.same(ids((await get(CATALOG, { sort: SCORE })).body), ['later'])
})
t.test('what is made on demand is made for no more than a part of the time', async t => {
  let now = 0
  const made = new RecomputedValue<number>(() => now)
  let [basis, state, makings] = [{}, 0, 0]
  const current = () =>
    made.current({
      basis: () => basis,
      state: () => String(state),
      make: async () => {
        now += 600
        makings += 1
        if (state < 0) throw new Error('cannot be made')
        return state
      },
    })
  const steps: readonly (readonly [title: string, change: () => void, given: number, makings: number])[] = [
    ['first', () => undefined, 0, 1],
    ['unchanged', () => undefined, 0, 1],
    ['changed', () => state++, 1, 2],
    ['the time is used up', () => state++, 1, 2],
    ['some of it is there again', () => (now += 10_000), 2, 3],
    ['used up', () => state++, 2, 3],
    ['another basis', () => (basis = {}), 3, 4],
  ]
  for (const [title, change, given, count] of steps) {
    change()
    t.equal(await current(), given, title)
    t.equal(makings, count, title)
  }
  ;[now, state] = [now + 1e6, -1]
  await t.rejects(current(), /cannot be made/)
  ;[now, state] = [now + 1e6, 9]
  t.same(await Promise.all([current(), current(), current()]), [9, 9, 9])
  t.equal(makings, 6, 'who asks at the same time gets the same')
})

t.test('what is made on demand follows its changes after the clock was set back', async t => {
  const clock = Date.now
  t.teardown(() => {
    Date.now = clock
  })
  const made = new RecomputedValue<number>()
  const current = (value: number) =>
    made.current({ basis: () => 0, state: () => String(value), make: async () => value })
  t.equal(await current(1), 1)
  Date.now = () => clock() - 3_600_000
  t.equal(await current(2), 2)
})

t.test('the calls one by one, where the portal opens them', async t => {
  const { getJson: get } = await servePortal(t, { portal: folder('Park', 'analytics: public\n'), now })
  const headers = { 'user-agent': 'Examplebot/1.0', referer: 'https://u:p@x.example/page?key=1' }
  await get(
    `${CATALOG}/trees/records`,
    { where: 'height > 8', client_secret: 'hidden', token: 'h2' },
    headers,
  )
  await get(`${CATALOG}/trees/records`, { where: 'nothing = 1' })
  await get(`${CATALOG}/trees/exports/json`)
  await get('/healthz')
  t.same(ids((await get(MONITORING)).body), ['ods-datasets-monitoring', 'ods-api-monitoring'])
  const { body } = await get(`${MONITORING}/ods-api-monitoring/records`, { order_by: 'timestamp' })
  const calls = body.records.map(({ record }: { record: { fields: unknown } }) => record.fields)
  const found = (api: string, inError = false) =>
    calls.find((call: { api: string; in_error: boolean }) => call.api === api && call.in_error === inError)
  t.match(found('records_index'), {
    user_ip_addr: '127.0.0.0',
    dataset_id: 'trees',
    domain_id: 'portal.example',
    api_type: 'ods_v2',
    query_string: /height.*client_secret=redacted&token=redacted/,
    format: 'json',
    nhits: 2,
    size_res: Number,
    exec_time: Number,
    error: null,
    bot: true,
    user_agent: 'Examplebot/1.0',
    referer: 'https://x.example/page',
  })
  t.match(found('records_index', true), { error: 'ODSQLError', nhits: null })
  t.match(found('records_export'), { format: 'json' })
  t.notMatch(JSON.stringify(body), /hidden|h2/)
  const select = 'count(*) as n'
  const counted = await get(`${MONITORING}/ods-api-monitoring/aggregates`, { select, group_by: 'in_error' })
  t.equal(counted.status, 200)
})

t.test('network', async t => {
  const settings = `network:
  - { url: 'http://127.0.0.1:${otherPort}', domain: forest.example }
  - { url: 'http://127.0.0.1:${deadPort}/', domain: dead.example }
`
  const { getJson: get } = await servePortal(t, { portal: folder('Park', settings), now })
  const own = 'trees@portal.example'
  const theirs = 'trees@forest.example'

  t.test('the datasets of both portals', async t => {
    t.same(relations((await get('/api/v2/network')).body), ['self', 'datasets', 'exports'])
    const { status, body } = await get(NETWORK)
    t.equal(status, 200)
    t.same(ids(body).sort(), ['empty@forest.example', 'empty@portal.example', theirs, own].sort())
    t.same(ids((await get(NETWORK, { where: 'title = "Forest"' })).body), [theirs])
    t.same(ids((await get(NETWORK, { where: 'source_domain = "forest.example" and has_records' })).body), [
      theirs,
    ])
    t.same(ids((await get(NETWORK, { where: 'custom.level = 6' })).body), [theirs])
    const { dataset, links } = (await get(`${NETWORK}/${theirs}`)).body
    t.match(dataset, { dataset_id: theirs, fields: [{ name: 'tree_id', type: 'int' }, {}, {}] })
    t.match(dataset.metas.default, { source_dataset: 'trees', records_count: 3, publisher: 'Town' })
    t.match(links[0].href, /\/api\/v2\/network\/datasets\/trees@forest\.example$/)
    t.same(
      (await get('/api/v2/network/aggregates', { select: 'sum(records_count) as n' })).body.aggregations,
      [{ n: 6 }],
    )
    const { facets } = (await get('/api/v2/network/facets', { facet: 'keyword' })).body
    t.match(facets[0].facets, [
      { name: 'Forest', count: 1 },
      { name: 'Park', count: 1 },
      { name: 'trees', count: 2 },
    ])
    const exported = (await get('/api/v2/network/exports/json', { where: 'has_records' })).body
    t.equal(exported.length, 2)
    t.equal((await get(`${NETWORK}/trees@nowhere.example`)).status, 404)
    t.equal((await get(`${NETWORK}/secret@portal.example`)).status, 404)
  })

  t.test('records of either portal', async t => {
    for (const id of [own, theirs, 'trees']) {
      const { status, body } = await get(`${NETWORK}/${id}/records`, { where: 'height > 8', limit: '1' })
      t.equal(status, 200, id)
      t.equal(body.total_count, 2, id)
      const { record } = body.records[0]
      t.match((await get(`${NETWORK}/${id}/records/${record.id}`)).body.record, { fields: record.fields })
      const groups = await get(`${NETWORK}/${id}/aggregates`, { select: 'avg(tree_id) as a' })
      t.same(groups.body.aggregations, [{ a: 2 }])
      const { facets } = (await get(`${NETWORK}/${id}/facets`)).body
      t.equal(facets[0].facets.length, 3, id)
      t.equal((await get(`${NETWORK}/${id}/exports/json`)).body.length, 3)
      const wrong = await get(`${NETWORK}/${id}/records`, { where: 'nothing = 1' })
      t.equal(wrong.status, 400)
      t.equal(wrong.body.error_code, 'ODSQLError')
      t.equal((await get(`${NETWORK}/${id}/records/${'0'.repeat(40)}`)).status, 404)
      t.equal((await get(`${NETWORK}/${id}/exports/csv2`)).status, 404)
      const formats = relations((await get(`${NETWORK}/${id}/exports`)).body)
      t.equal(formats.includes('csv'), id !== theirs, 'files of another portal are JSON')
      t.ok(formats.includes('json'))
    }
  })

  t.test('each generation asks the other portal in its own', async t => {
    const requested = { select: 'name', qv1: 'oak OR elm', order_by: 'tree_id', limit: '1' }
    for (const id of [own, theirs]) {
      const flat = (await get(`/api/explore/v2.1/opendatasoft/datasets/${id}/records`, requested)).body
      t.same(flat, { total_count: 2, results: [{ name: 'Oak' }] }, id)
      const linked = { select: 'name', limit: '1', include_links: 'true' }
      const [first] = (await get(`/api/explore/v2.1/opendatasoft/datasets/${id}/records`, linked)).body
        .results
      t.ok(first._links.length > 0, id)
      const group = { group_by: 'height > 8', select: 'count(*)' }
      t.equal((await get(`/api/explore/v2.1/opendatasoft/datasets/${id}/records`, group)).status, 400)
      const { records } = (await get(`/api/explore/v2.0/opendatasoft/datasets/${id}/records`, requested)).body
      t.match(records, [{ record: { fields: { name: 'Oak' } } }], id)
      t.same((await get(`${NETWORK}/${id}/query`, requested)).body, {
        total_count: 2,
        results: [{ name: 'Oak' }],
      })
      const disjunctive = { facet: 'facet(name="name", disjunctive=true)', refine: 'name:Oak' }
      const facets = (await get(`/api/explore/v2.1/opendatasoft/datasets/${id}/facets`, disjunctive)).body
        .facets
      t.equal(facets[0].facets.length, 3, id)
    }
  })

  t.test('a portal that is gone: its list stays, its records are a fault', async t => {
    await other.http.close()
    t.ok(ids((await get(NETWORK)).body).includes(theirs))
    const { status, body } = await get(`${NETWORK}/${theirs}/records`)
    t.equal(status, 502)
    t.match(body, { error_code: 'BadGateway', message: /forest\.example/ })
  })
})

t.test('a portal that redirects elsewhere or answers nonsense has no datasets', async t => {
  const requested: string[] = []
  const target = createServer((request, response) => {
    requested.push(request.url ?? '')
    response.end('{}')
  })
  await new Promise<void>(resolve => {
    target.listen(0, '127.0.0.1', resolve)
  })
  const { port: inner } = target.address() as AddressInfo
  const bad = createServer((request, response) => {
    if (request.url?.startsWith('/lost/') === true)
      response.writeHead(302, { location: `http://127.0.0.1:${inner}/private` }).end()
    else if (request.url?.startsWith('/odd/api/explore/') === true)
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          total_count: 3,
          results: [
            7,
            { dataset_id: '../x' },
            {
              dataset_id: 'ok',
              fields: [{}, { name: 'a', type: 'file' }],
              metas: {
                default: { title: 5, records_count: 'many', bbox: { a: 1 }, modified: 'spring 2020' },
                custom: { level: 'high', constructor: 1, 'a b': 2 },
                dcat: 3,
              },
            },
          ],
        }),
      )
    else response.end('<html>')
  })
  await new Promise<void>(resolve => {
    bad.listen(0, '127.0.0.1', resolve)
  })
  const { port } = bad.address() as AddressInfo
  t.teardown(() => {
    bad.close()
    target.close()
  })
  const at = (name: string) => `  - { url: 'http://127.0.0.1:${port}/${name}', domain: ${name}.example }\n`
  const settings = `network:\n${at('lost')}${at('odd')}${at('page')}`
  const { getJson: get } = await servePortal(t, { portal: folder('Park', settings), now })
  const { status, body } = await get(NETWORK)
  t.equal(status, 200)
  t.same(ids(body).sort(), ['empty@portal.example', 'ok@odd.example', 'trees@portal.example'])
  t.same(requested, [], 'no other origin is asked')
  const { dataset } = (await get(`${NETWORK}/ok@odd.example`)).body
  t.match(dataset, { has_records: false, fields: [{ name: 'a', type: 'text' }] })
  t.match(dataset.metas, { default: { title: 5, modified: null, data_processed: /^1970-/ }, custom: {} })
  const { status: failed } = await get(`${NETWORK}/ok@odd.example/records`)
  t.equal(failed, 502)
})

t.test('settings of the network', t => {
  const read = (t: Test, yaml: string) =>
    loadConfig({ portal: temporaryFolder(t, { 'portal.yaml': yaml }) }, {})
  t.same(read(t, "network: [{ url: 'https://data.example/' }]").network, [
    { url: 'https://data.example', domain: 'data.example' },
  ])
  t.same(
    loadConfig(
      { portal: temporaryFolder(t, { 'portal.yaml': '' }) },
      { LODESTONE_NETWORK: 'https://a.example, https://b.example/x/' },
    ).network,
    [
      { url: 'https://a.example', domain: 'a.example' },
      { url: 'https://b.example/x', domain: 'b.example' },
    ],
  )
  const wrong = [
    'network: [{ url: "ftp://data.example" }]',
    'network: [{ url: "https://user@data.example" }]',
    'network: [{ url: "https://a.example" }, { url: "http://a.example" }]',
    'base: https://a.example\nnetwork: [{ url: "https://a.example" }]',
    'analytics: some',
  ]
  for (const yaml of wrong) t.throws(() => read(t, yaml), Fault, yaml)
  t.end()
})
