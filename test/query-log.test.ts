import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { QueryLog } from '../src/api/sparql/query-log.ts'
import type { Answered } from '../src/http/observe.ts'
import { makePeople } from './support/access.ts'
import { temporaryFolder } from './support/folder.ts'
import { publishPortal, servePortal } from './support/portal.ts'
import { until } from './support/serving.ts'

/** The log of queries for researchers: what is in it, what is not, and how large it gets. */
const _base = 'http://portal.example'
const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Log\n',
  data: {
    things: { 'dataset.yaml': 'source: { path: s.json }\n', 's.json': '[{"a": 1}]' },
    secret: { 'dataset.yaml': 'source: { path: s.json }\nvisibility: restricted\n', 's.json': '[{"a": 1}]' },
  },
})
await publishPortal(portal)
const { accounts, secrets } = await makePeople(portal)
await accounts.close()
const folder = path.join(portal, 'var', 'query-log')
const linesIn = (where: string) =>
  readdirSync(where)
    .sort()
    .flatMap(name => readFileSync(path.join(where, name), 'utf8').trim().split('\n'))
    .map(line => JSON.parse(line) as Record<string, unknown>)

async function ask(more: Record<string, string>) {
  const { app } = await servePortal(t, { portal, environment: more, isPublished: false })
  const query = 'PREFIX x: <urn:x> # SELECT\nASK { ?s ?p "needle" }'
  const get = (text: string, headers = {}) =>
    app.http.inject({
      url: `/api/sparql/things?query=${encodeURIComponent(text)}&apikey=`,
      headers,
      remoteAddress: '192.0.2.77',
    })
  await get(query)
  await get('SELECT nonsense')
  await app.http.inject({
    url: '/api/sparql',
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'agent/7', cookie: 'a=b' },
    payload: `query=${encodeURIComponent('SELECT * { ?s ?p ?o }')}`,
    remoteAddress: '192.0.2.78',
  })
  await get('SELECT ("hidden" AS ?x) {}', { authorization: `Apikey ${Object.values(secrets)[0]}` })
  await app.http.inject({ url: '/api/sparql/things' })
  await app.close()
}

t.test('there is none unless it is wished for', async t => {
  await ask({})
  t.notOk(existsSync(folder))
})

t.test('it has queries, and nothing of who asked', async t => {
  await ask({ LODESTONE_QUERY_LOG: '1MB' })
  const lines = linesIn(folder)
  t.same(
    lines.map(({ endpoint, queryForm, status }) => [endpoint, queryForm, status]),
    [
      ['/api/sparql/things', 'ASK', 200],
      ['/api/sparql/things', 'SELECT', 400],
      ['/api/sparql', 'SELECT', 200],
    ],
  )
  t.equal(lines[0]?.host, lines[1]?.host, 'one client has one pseudonym')
  t.not(lines[0]?.host, lines[2]?.host, 'another has another')
  const text = readFileSync(path.join(folder, 'queries.jsonl'), 'utf8')
  for (const word of ['192.0.2', 'agent', 'cookie', 'hidden', 'pikey']) t.notMatch(text, word)
  t.match(text, 'needle')
  // An injected request has no connection, so that it looks as if its client had left.
  t.same(
    Object.keys(lines[0] ?? {})
      .filter(key => key !== 'aborted')
      .sort(),
    ['endpoint', 'executedAt', 'host', 'query', 'queryForm', 'resultBytes', 'runTimeMs', 'status'],
  )
  t.equal(statSync(path.join(folder, 'queries.jsonl')).mode & 0o077, 0, 'for its owner alone')
})

t.test('its size is bounded, and pseudonyms last a day', async t => {
  const where = temporaryFolder(t, {})
  const current = path.join(where, 'queries.jsonl')
  let now = Date.parse('2026-01-01T12:00:00Z')
  const log = new QueryLog({
    folder: where,
    size: 40_000,
    address: () => '192.0.2.1',
    now: () => now,
    interval: 5,
  })
  const answered = { endpoint: 'sparql', status: 200, milliseconds: 1, bytes: 2, aborted: false } as Answered
  const note = (query: string) =>
    log.observer.ended(
      { method: 'GET', query: { query }, params: {}, headers: {}, raw: {} } as never,
      {} as never,
      answered,
    )
  for (let n = 0; n < 400; n++) {
    note(`SELECT ${n} ${'x'.repeat(150)}`)
    // What waits for a slow disk until it is more than a file may have would be lost.
    if (n % 10 === 0)
      await until(() => existsSync(current) && readFileSync(current, 'utf8').includes(`SELECT ${n} `))
  }
  now += 86_400_000
  note('SELECT tomorrow')
  await log.close()
  const files = readdirSync(where).sort()
  t.same(files, ['queries.1.jsonl', 'queries.2.jsonl', 'queries.3.jsonl', 'queries.jsonl'])
  const sizes = files.map(name => statSync(path.join(where, name)).size)
  t.ok(sizes.reduce((sum, size) => sum + size) <= 40_000)
  const lines = linesIn(where)
  t.match(lines.at(-1)?.query, 'tomorrow', 'the newest are kept')
  t.not(lines.at(-1)?.host, lines.at(-2)?.host, 'another day, another pseudonym')
  t.notOk(lines.some(({ query }) => query === 'SELECT 0'))
})

t.test('lines that cannot be written are counted in the next that can', async t => {
  const where = path.join(temporaryFolder(t, { log: 'a file where the folder should be' }), 'log')
  const log = new QueryLog({ folder: where, size: 40_000, address: () => '192.0.2.1', now: () => 0 })
  const answered = { endpoint: 'sparql', status: 200, milliseconds: 1, bytes: 2, aborted: false } as Answered
  const write = async (query: string) => {
    const request = { method: 'GET', query: { query }, params: {}, headers: {}, raw: {} }
    log.observer.ended(request as never, {} as never, answered)
    await log.close()
  }
  await write('SELECT lost')
  rmSync(where)
  await write('SELECT found')
  await write('SELECT more')
  const lines = linesIn(where)
  t.match(
    lines.map(({ query }) => query),
    ['SELECT found', 'SELECT more'],
  )
  t.same(
    lines.map(line => (line as { readonly dropped?: number }).dropped),
    [1, undefined],
  )
})

t.test('a line that was cut off is not continued by the next', async t => {
  const where = temporaryFolder(t, { 'queries.jsonl': '{"query":"SELECT whole"}\n{"query":"SELECT cu' })
  const log = new QueryLog({ folder: where, size: 40_000, address: () => '192.0.2.1', now: () => 0 })
  const answered = { endpoint: 'sparql', status: 200, milliseconds: 1, bytes: 2, aborted: false } as Answered
  const request = { method: 'GET', query: { query: 'SELECT next' }, params: {}, headers: {}, raw: {} }
  log.observer.ended(request as never, {} as never, answered)
  await log.close()
  t.match(
    linesIn(where).map(({ query }) => query),
    ['SELECT whole', 'SELECT next'],
  )
})
