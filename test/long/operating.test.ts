import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { registerServer } from '../../src/app/running.ts'
import { type ObservedRequest, requestIds } from '../../src/http/observe.ts'
import { withoutCredentials } from '../../src/model/credentials.ts'
import { PROCESS_NAME, processName } from '../../src/runtime/processes.ts'
import { tracingSettings } from '../../src/telemetry/otel-settings.ts'
import { SpanExporter } from '../../src/telemetry/otlp.ts'
import { BOUNDS, Durations } from '../../src/telemetry/series.ts'
import { readTraceparent, readTracestate, Tracing } from '../../src/telemetry/tracing.ts'
import { spawnLodestone } from '../support/crash.ts'
import { temporaryFolder } from '../support/folder.ts'
import { freePort, startReadyServer, until } from '../support/serving.ts'

/** What operators need: metrics, logs, traces, and an end with grace. Servers are processes of their own. */
const ROWS = 4000
const LONG = JSON.stringify(
  Array.from({ length: ROWS }, (_, a) => ({ a, text: `record ${a} ${'with a long text '.repeat(170)}` })),
)

const SMALL = JSON.stringify(
  Array.from({ length: 40 }, (_, a) => ({ a, text: `the record with the number ${a}` })),
)

function portalOf(t: Test, yaml = '', long = false): string {
  const small = { 'dataset.yaml': 'source: { path: a.json }\n', 'a.json': SMALL }
  return temporaryFolder(t, {
    'portal.yaml': `workers: 1\nbase: http://portal.test\n${yaml}`,
    data: {
      trees: small,
      ...(long ? { long: { 'dataset.yaml': 'source: { path: a.json }\n', 'a.json': LONG } } : {}),
    },
  })
}

const RECORDS = '/api/explore/v2.1/catalog/datasets/trees/records'

t.jobs = 3

t.test('metrics on a port of their own, with labels that end', { buffered: true }, async t => {
  const adminPort = await freePort()
  const { address } = await startReadyServer(t, portalOf(t, `admin_port: ${adminPort}\n`))
  const admin = `http://127.0.0.1:${adminPort}`
  for (let calls = 0; calls < 5; calls++) await (await fetch(`${address}${RECORDS}?limit=30`)).text()
  await fetch(`${address}${RECORDS}?where=a%3E1&apikey=guess-me-not`)
  await fetch(`${address}/no/such/address-of-nobody`)
  const text = async () => (await fetch(`${admin}/metrics`)).text()
  const route = `endpoint="explore",route="/api/explore/v2.1/catalog/datasets/:dataset/records"`
  await until(async () => (await text()).includes(`{${route},method="GET",status="4xx"} 1`))
  const described = await text()
  const expected: readonly (string | RegExp)[] = [
    `lodestone_http_requests_total{${route},method="GET",status="2xx"} 5`,
    `lodestone_http_requests_total{endpoint="none",route="",method="GET",status="4xx"} 1`,
    `lodestone_http_request_duration_seconds_bucket{${route},le="+Inf"} 6`,
    `lodestone_http_request_duration_seconds_count{${route}} 6`,
    'lodestone_response_cache_hits_total{endpoint="explore"} 3',
    'lodestone_publications_total{outcome="published"} 1',
    'lodestone_datasets{visibility="public"} 1',
    'lodestone_records 40',
    'lodestone_ready 1',
    'lodestone_store_threads_ready 2',
    'lodestone_http_requests_in_flight 0',
    'lodestone_store_deadlines_total 0',
    /lodestone_last_publication_timestamp_seconds 1[\d.e+]+/,
    /lodestone_store_queries_total\{operation="contents",outcome="ok"\} [1-9]/,
    /lodestone_store_triples [1-9]/,
    /lodestone_store_memory_bytes\{holds="columns"\} [1-9]/,
    /lodestone_build_info\{version="\d+\.\d+\.\d+",node="v/,
    /process_resident_memory_bytes [1-9]/,
    /nodejs_eventloop_lag_p99_seconds/,
    /process_open_fds [1-9]/,
  ]
  for (const line of expected)
    t.ok(typeof line === 'string' ? described.includes(`${line}\n`) : line.test(described), String(line))
  for (const secret of ['guess-me-not', 'of-nobody'])
    t.notMatch(described, secret, 'nothing of an address is a label')
  t.same(wellFormed(described), [], 'the text format of Prometheus')
  for (const [url, status] of [
    [`${admin}/healthz`, 200],
    [`${admin}/readyz`, 200],
    [`${admin}${RECORDS}`, 404],
    [`${address}/metrics`, 404],
    [`${address}/readyz`, 200],
  ] as const)
    t.equal((await fetch(url)).status, status, url)
  t.equal((await fetch(`${admin}/metrics`, { method: 'POST' })).status, 405)
})

t.test(
  'metrics on the port of the portal, where they are public, also of a private one',
  { buffered: true },
  async t => {
    const { address } = await startReadyServer(t, portalOf(t, 'metrics: public\naccess: private\n'))
    const answer = await fetch(`${address}/metrics`)
    t.equal(answer.status, 200)
    t.match(answer.headers.get('content-type'), /^text\/plain; version=0\.0\.4/)
    t.match(await answer.text(), /lodestone_ready 1/)
    t.equal((await fetch(`${address}${RECORDS}`)).status, 401)
  },
)

t.test('names of restricted datasets are for operators alone', { buffered: true }, async t => {
  const adminPort = await freePort()
  const portal = portalOf(t, `metrics: public\nadmin_port: ${adminPort}\n`)
  for (const id of ['trees', 'hidden', 'unpublished', 'gone']) {
    const [folder, own] = ['var/sources', 'data'].map(name => path.join(portal, name, id)) as [string, string]
    for (const each of [folder, own]) mkdirSync(each, { recursive: true })
    const file = id === 'unpublished' ? '' : '"file":"a.json",'
    writeFileSync(path.join(folder, 'a.json'), SMALL)
    writeFileSync(
      path.join(folder, 'state.json'),
      `{"url":"http://a.test/",${file}"failures":2,"confirmed":"2026-01-01T00:00:00Z","next":"2999-01-01T00:00:00Z"}`,
    )
    const visibility = id === 'hidden' ? 'visibility: restricted\n' : ''
    writeFileSync(path.join(own, 'dataset.yaml'), `source: { url: "http://a.test/" }\n${visibility}`)
  }
  rmSync(path.join(portal, 'data/gone'), { recursive: true })
  const { address } = await startReadyServer(t, portal)
  const named = async (url: string) => {
    const text = await (await fetch(`${url}/metrics`)).text()
    t.same(wellFormed(text), [])
    return [...text.matchAll(/lodestone_source_failures\{dataset="(.*)"\} 2/g)].map(([, id]) => id).sort()
  }
  t.same(await named(address), ['trees'])
  t.same(await named(`http://127.0.0.1:${adminPort}`), ['hidden', 'trees', 'unpublished'])
})

t.test('logs: a line a request, its id in the answer, and no credentials', { buffered: true }, async t => {
  const portal = portalOf(t, 'log: info\nproxies: 1\n')
  const { address, lines, stderr } = await startReadyServer(t, portal)
  const requested = async (query: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(`${address}${RECORDS}?${query}`, { headers })
    await answer.text()
    return answer.headers.get('x-request-id')
  }
  t.equal(await requested('limit=30', { 'x-request-id': 'edge-1:abc' }), 'edge-1:abc', 'of a trusted proxy')
  t.equal(await requested('limit=30', { 'x-request-id': 'edge-2:abc' }), 'edge-2:abc')
  t.equal(
    await requested('limit=30', { 'x-request-id': 'edge-3:abc' }),
    'edge-3:abc',
    'also with a kept answer',
  )
  const made = await requested('limit=30', { 'x-request-id': 'not well "formed"' })
  t.match(made, /^[\da-f]{12}-\d+$/, 'made where it is not well-formed')
  const secrets = ['s3cret-key', 's3cret-token', 's3cret-basic', 's3cret-bearer']
  await requested('apikey=s3cret-key')
  await requested('limit=2&access_token=s3cret-token')
  await requested('', { authorization: `Basic ${Buffer.from('any:s3cret-basic').toString('base64')}` })
  await requested('', { authorization: 'Bearer s3cret-bearer', cookie: 'session=s3cret-key' })
  await until(() => lines().filter(({ msg }) => msg === 'request').length >= 8)
  const requests = lines().filter(({ msg }) => msg === 'request')
  t.match(requests[0], {
    level: 'info',
    request: 'edge-1:abc',
    method: 'GET',
    path: `${RECORDS}?limit=30`,
    endpoint: 'explore',
    route: '/api/explore/v2.1/catalog/datasets/:dataset/records',
    status: 200,
    ms: Number,
    bytes: Number,
  })
  t.match(requests[2], { request: 'edge-3:abc', status: 200, cached: true })
  t.match(requests[4], { path: `${RECORDS}?apikey=redacted`, status: 401 })
  t.match(requests[5], { path: `${RECORDS}?limit=2&access_token=redacted` })
  for (const secret of [...secrets, Buffer.from('any:s3cret-basic').toString('base64')])
    t.notOk(stderr().includes(secret), `${secret} is in no log`)
  t.notOk(
    lines().some(({ path }) => String(path).startsWith('/readyz')),
    'health is no line',
  )
})

t.test('ids are made where no proxy is trusted, and none is made twice', async t => {
  const idOf = requestIds('p-', false)
  const trusting = requestIds('q-', true)
  const message = (id?: string) => ({ headers: id === undefined ? {} : { 'x-request-id': id } })
  t.same([idOf(message('given')), idOf(message())], ['p-1', 'p-2'])
  for (const [given, expected] of [
    ['8c1f/a=b@c:d.e+f_g-h', '8c1f/a=b@c:d.e+f_g-h'],
    ['', 'q-1'],
    ['a b', 'q-2'],
    ['x'.repeat(129), 'q-3'],
    ['x'.repeat(128), 'x'.repeat(128)],
    ['é', 'q-4'],
  ] as const)
    t.equal(trusting(message(given)), expected)
})

t.test('credentials are taken out of any text', async t => {
  const cases: readonly (readonly [string, string])[] = [
    ['connect postgres://bob:p%40ss@db:5432/x failed', 'connect postgres://redacted@db:5432/x failed'],
    ['postgres://bob:p@ss@db/x', 'postgres://redacted@db/x'],
    ['http://user:pass@store/query?x=1', 'http://redacted@store/query?x=1'],
    ['GET /a?apikey=abc&b=1', 'GET /a?apikey=redacted&b=1'],
    ['{"password":"a \\" b","c":1}', '{"password":"redacted","c":1}'],
    ['Authorization: Bearer abcdefgh12', 'Authorization: Bearer redacted'],
    ['http://x.test/a@b and mail a@b.c', 'http://x.test/a@b and mail a@b.c'],
    ['the password: none was given', 'the password: none was given'],
    ['of 2mongodb+srv://a:b@c/d', 'of 2mongodb+srv://redacted@c/d'],
    // Time that grows with the square of the length would be minutes.
    [`GET /${'a'.repeat(300_000)}`, `GET /${'a'.repeat(300_000)}`],
  ]
  for (const [given, expected] of cases) t.equal(withoutCredentials(given), expected)
})

t.test('traces go to a collector, below the span of the caller', { buffered: true }, async t => {
  const collector = await openCollector(t)
  const { address, child, ended } = await startReadyServer(t, portalOf(t), {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.address,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b',
    OTEL_SERVICE_NAME: 'portal-7',
    OTEL_BSP_SCHEDULE_DELAY: '60000',
  })
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`
  const unsampled = `00-${traceId.replace('0', '1')}-b7ad6b7169203331-00`
  for (const [query, headers] of [
    ['where=a%3E1', { traceparent, tracestate: 'rojo=00f067aa0ba902b7, congo=t61rcWkgMzE' }],
    ['where=a%3E1', { traceparent }],
    ['where=a%3E1', { traceparent }],
    ['where=a%3E2', { traceparent: unsampled }],
    ['where=a%3E3&apikey=s3cret', {}],
  ] as const)
    await (await fetch(`${address}${RECORDS}?${query}`, { headers })).text()
  await sleep(100)
  t.equal(collector.spans().length, 0, 'nothing is sent before a batch is full or its time is up')
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  const spans = collector.spans()
  const [first, ...requested] = ['', 'store'].flatMap(begin =>
    spans.filter(
      ({ name, traceId: of }) =>
        of === traceId && (begin === '' ? name.startsWith('GET') : name.startsWith(begin)),
    ),
  )
  const attributes = Object.fromEntries((first?.attributes ?? []).map(({ key, value }) => [key, value]))
  t.match(first, {
    name: 'GET /api/explore/v2.1/catalog/datasets/:dataset/records',
    parentSpanId: 'b7ad6b7169203331',
    traceState: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
    kind: 2,
  })
  t.match(attributes, {
    'http.response.status_code': { intValue: '200' },
    'url.path': { stringValue: RECORDS },
    'lodestone.endpoint': { stringValue: 'explore' },
    'url.scheme': { stringValue: 'http' },
    'server.address': { stringValue: '127.0.0.1' },
    'server.port': { intValue: new URL(address).port },
    'lodestone.stage.parse': { doubleValue: Number },
    'lodestone.stage.store': { doubleValue: Number },
  })
  const inner = requested.filter(({ name }) => name.startsWith('store'))
  t.ok(inner.length >= 1, 'the store is asked')
  t.match(inner[0], { traceState: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE' }, 'the state goes down')
  for (const { parentSpanId, startTimeUnixNano, endTimeUnixNano } of inner) {
    t.equal(parentSpanId, first?.spanId, 'below the request')
    t.ok(BigInt(startTimeUnixNano) >= BigInt(first?.startTimeUnixNano ?? 0), 'after its beginning')
    t.ok(BigInt(endTimeUnixNano) <= BigInt(first?.endTimeUnixNano ?? 0), 'before its end')
  }
  t.ok(
    spans.some(({ attributes }) => attributes.some(({ key }) => key === 'lodestone.cached')),
    'a kept answer has its span',
  )
  t.notOk(
    spans.some(({ traceId: of }) => of === traceId.replace('0', '1')),
    'what the caller does not trace is not traced',
  )
  const bodies = JSON.stringify(collector.requests.map(({ body }) => body))
  t.notMatch(bodies, 's3cret')
  t.match(bodies, 'apikey=redacted')
  t.match(bodies, 'portal-7')
  t.equal(collector.requests[0]?.headers['x-tenant'], 'a b')
  t.equal(collector.requests[0]?.url, '/v1/traces')
})

t.test('a sampled share of traces is decided by their identifiers', async t => {
  const sampled: string[] = []
  const observer = new Tracing({
    sampler: { ratio: 0.5, followsParent: false },
    clock: () => 0,
    randomHex: bytes => randomBytes(bytes).toString('hex'),
    onSpan: ({ traceId }) => sampled.push(traceId),
  }).requestObserver()
  const answered = { endpoint: '', route: '', status: 200, milliseconds: 0, bytes: 0, aborted: false }
  const [drawn, left] = ['0af7651916cd43dd8443eb211c80319c', '0af7651916cd43dd8448eb211c80319c']
  for (const traceId of [drawn, left, drawn, left, drawn]) {
    const raw = { headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` }, method: 'GET', url: '/' }
    const [request, reply] = [
      { raw, protocol: 'http' } as unknown as ObservedRequest,
      { getHeader() {} } as never,
    ]
    observer.around?.(request, () => undefined)
    observer.ended(request, reply, answered)
  }
  t.strictSame(sampled, [drawn, drawn, drawn])
})

t.test('all spans that wait are sent at the end, also several batches', async t => {
  const collector = await openCollector(t)
  const settings = tracingSettings(collector.address, { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2' }, '1')
  if (settings === null) throw new Error('traces are on')
  const exporter = new SpanExporter(settings, reason => t.fail(reason))
  for (let span = 0; span < 7; span++)
    exporter.add({
      traceId: '1',
      spanId: String(span),
      name: 'span',
      kind: 'server',
      begun: 0,
      ended: 1,
      attributes: {},
      isError: false,
    })
  await exporter.close()
  t.equal(collector.spans().length, 7)
})

t.test('a collector that is away costs nothing but the traces', { buffered: true }, async t => {
  const { address, child, ended, stderr } = await startReadyServer(t, portalOf(t), {
    LODESTONE_OTEL: `http://127.0.0.1:${await freePort()}`,
    OTEL_BSP_SCHEDULE_DELAY: '20',
  })
  for (let calls = 0; calls < 20; calls++)
    t.equal((await fetch(`${address}${RECORDS}?limit=${calls + 1}`)).status, 200)
  await until(() => stderr().includes('traces cannot be sent to 127.0.0.1'))
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

t.test('the variables of OpenTelemetry', async t => {
  const at = (environment: NodeJS.ProcessEnv, otel?: string) => tracingSettings(otel, environment, '1.2.3')
  t.equal(at({}), null)
  t.equal(at({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'true' }), null)
  t.equal(at({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_TRACES_EXPORTER: 'none' }), null)
  const cases: readonly (readonly [NodeJS.ProcessEnv, string | undefined, object])[] = [
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/' }, undefined, { endpoint: 'http://c:4318/v1/traces' }],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c/t' }, undefined, { endpoint: 'http://c/t' }],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' }, 'https://own/x', { endpoint: 'https://own/x/v1/traces' }],
    [
      { OTEL_RESOURCE_ATTRIBUTES: 'a=b%2Cc,service.name=n' },
      'http://c',
      { attributes: { a: 'b,c', 'service.name': 'n' } },
    ],
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER: 'jaeger_remote' },
      'http://c',
      { ignored: [/^OTEL_EXPORTER_OTLP_PROTOCOL=grpc is/, /^OTEL_TRACES_SAMPLER=jaeger_remote is/] },
    ],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, 'http://c', { ignored: [] }],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
      'http://c',
      { sampler: { ratio: 0.25, followsParent: false } },
    ],
    [
      { OTEL_TRACES_SAMPLER: 'parentbased_always_off' },
      'http://c',
      { sampler: { ratio: 0, followsParent: true } },
    ],
  ]
  for (const [environment, otel, expected] of cases) t.match(at(environment, otel), expected)
  t.throws(() => at({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }), /an address of http or https/)
})

t.test('traceparent', async t => {
  const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
  const cases: readonly (readonly [unknown, object | null])[] = [
    [`00-${traceId}-${spanId}-01`, { traceId, spanId, isSampled: true }],
    [`00-${traceId}-${spanId}-00`, { traceId, spanId, isSampled: false }],
    [`cc-${traceId}-${spanId}-03-more`, { traceId, spanId, isSampled: true }],
    [`00-${traceId}-${spanId}-01-more`, null],
    [`ff-${traceId}-${spanId}-01`, null],
    [`00-${'0'.repeat(32)}-${spanId}-01`, null],
    [`00-${traceId}-${'0'.repeat(16)}-01`, null],
    [`00-${traceId.toUpperCase()}-${spanId}-01`, null],
    [undefined, null],
  ]
  for (const [header, expected] of cases) t.same(readTraceparent(header), expected, String(header))
})

t.test('tracestate', async t => {
  const cases: readonly (readonly [unknown, string | null])[] = [
    ['rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
    ['a=1 , ,tenant@system=x y', 'a=1,tenant@system=x y'],
    ['a=1,B=2', null],
    ['a=1=2', null],
    ['a', null],
    ['', null],
    [`a=${'x'.repeat(256)}`, `a=${'x'.repeat(256)}`],
    [`a=${'x'.repeat(257)}`, null],
    [Array.from({ length: 33 }, (_, at) => `k${at}=1`).join(), null],
    [undefined, null],
  ]
  for (const [header, expected] of cases) t.same(readTracestate(header), expected, String(header))
})

t.test('durations by their length', async t => {
  const durations = new Durations()
  for (const milliseconds of [0, 1, 1.5, 40, 29_000, 31_000]) durations.note(milliseconds)
  const { count, seconds, upTo } = durations.summary()
  t.same([count, Math.round(seconds * 1e4)], [6, 600_425])
  t.same(
    [0.001, 0.0025, 0.025, 0.05, 30].map(bound => upTo[BOUNDS.indexOf(bound)]),
    [2, 3, 3, 4, 5],
  )
})

t.test('a signal ends the service when its answers are finished', { buffered: true }, async t => {
  const portal = portalOf(t, 'shutdown_delay: 4\n', true)
  const { address, port, child, ended } = await startReadyServer(t, portal)
  const serving = path.join(portal, 'var', 'serving')
  t.equal(readdirSync(serving).length, 1, 'the folder says that a server runs')
  const reader = slowReader(port, '/api/explore/v2.1/catalog/datasets/long/exports/json')
  await until(() => reader.bytes() > 0)
  const begun = performance.now()
  child.kill('SIGTERM')
  await until(async () => (await fetch(`${address}/readyz`)).status === 503, 3500)
  t.match(await (await fetch(`${address}/readyz`)).json(), { status: 'stopping' })
  t.equal((await fetch(`${address}${RECORDS}`)).status, 200, 'it answers while the delay lasts')
  await until(() =>
    fetch(address).then(
      () => false,
      () => true,
    ),
  )
  t.ok(performance.now() - begun >= 3900, 'connections were taken until the delay was over')
  reader.go()
  const body = await reader.body
  t.equal((JSON.parse(body) as readonly unknown[]).length, ROWS, 'the export came to its end')
  t.equal(await ended, 0)
  t.same(existsSync(serving) ? readdirSync(serving) : [], [], 'the word is taken back')
})

t.test('a start removes what processes that were killed were writing', async t => {
  const dead = processName(99_999_999)
  const filesOf = (owner: string) => ({
    [`accounts.sqlite.${owner}.new`]: '',
    [`usage.json.${owner}.new`]: '{',
    harvest: { [`city-fetching-${owner}`]: '{', [`town-fetching-${owner}.nt.gz`]: '' },
    columns: { [`urn%3Ag.columns.${owner}.new`]: '', [`urn%3Ag.columns.nt.gz.${owner}.new`]: '' },
  })
  const [left, kept] = [filesOf(dead), filesOf(PROCESS_NAME)]
  const harvest = { ...left.harvest, ...kept.harvest, 'city.json': '{}' }
  const columns = { ...left.columns, ...kept.columns, 'urn%3Ag.columns': '' }
  const edited = (name: string) => ({
    [name]: '',
    [`${name}.${dead}.new`]: '',
    [`${name}.${PROCESS_NAME}.new`]: '',
  })
  const portal = temporaryFolder(t, {
    var: { ...left, ...kept, harvest, columns, 'usage.json': '{}' },
    data: { trees: edited('dataset.yaml') },
    mappings: edited('trees.yml'),
  })
  const namesIn = (...names: string[]) => readdirSync(path.join(portal, 'var', ...names))
  const lock = path.join(portal, 'var/serving.lock')
  writeFileSync(lock, '')
  // By a clock that has been set back since.
  utimesSync(lock, Date.now() / 1000 + 3600, Date.now() / 1000 + 3600)
  const takeBack = await registerServer({ portal, port: 3000, base: 'http://localhost:3000' })
  takeBack()
  t.same(namesIn(), [...Object.keys(kept), 'serving', 'usage.json'].sort(), 'but not those of running ones')
  t.same(namesIn('harvest'), [...Object.keys(kept.harvest), 'city.json'].sort())
  t.same(namesIn('columns'), [...Object.keys(kept.columns), 'urn%3Ag.columns'].sort())
  t.same(namesIn('../data/trees'), ['dataset.yaml', `dataset.yaml.${PROCESS_NAME}.new`])
  t.same(namesIn('../mappings'), ['trees.yml', `trees.yml.${PROCESS_NAME}.new`])
})

t.test('answers that take too long are cut off', { buffered: true }, async t => {
  const { port, child, ended, stderr } = await startReadyServer(
    t,
    portalOf(t, 'shutdown_timeout: 0.5\n', true),
  )
  const reader = slowReader(port, '/api/explore/v2.1/catalog/datasets/long/exports/json')
  await until(() => reader.bytes() > 0)
  const begun = performance.now()
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  const taken = performance.now() - begun
  t.ok(taken > 450 && taken < 8000, `it took ${Math.round(taken)} ms`)
  t.match(stderr(), /were cut off/)
  reader.go()
  await t.rejects(reader.body)
})

t.test(
  'a second signal ends at once, and one before all is served ends as well',
  { buffered: true },
  async t => {
    const { port, child, ended } = await startReadyServer(t, portalOf(t, '', true))
    const reader = slowReader(port, '/api/explore/v2.1/catalog/datasets/long/exports/json')
    reader.body.catch(() => undefined)
    await until(() => reader.bytes() > 0)
    child.kill('SIGTERM')
    child.kill('SIGINT')
    await sleep(300)
    t.equal(child.exitCode, null, 'it waits for the answer, also where the signal was passed on twice')
    // A busy machine may get the first signal late: what comes within 200 ms of that is the same one, so it is sent again.
    const again = setInterval(() => child.kill('SIGTERM'), 300)
    t.equal(await ended, 143)
    clearInterval(again)
    reader.go()
    const fresh = portalOf(t, '', true)
    const early = spawnLodestone(['serve', '--portal', fresh, '--port', String(await freePort())])
    await until(() => existsSync(path.join(fresh, 'var', 'serving')))
    early.kill('SIGTERM')
    const code = await new Promise(resolve => early.once('close', (code, signal) => resolve(signal ?? code)))
    t.equal(code, 0)
  },
)

/** Asks and reads no further than the first bytes until it is told to go on. */
function slowReader(port: number, url: string) {
  const socket = connect({ port, host: '127.0.0.1' })
  const pieces: Buffer[] = []
  let bytes = 0
  let isGoing = false
  socket.write(`GET ${url} HTTP/1.1\r\nhost: x\r\n\r\n`)
  const body = new Promise<string>((resolve, reject) => {
    socket.on('data', piece => {
      pieces.push(piece)
      bytes += piece.length
      if (!isGoing) socket.pause()
    })
    socket.once('error', reject)
    socket.once('end', () => {
      const text = Buffer.concat(pieces).toString()
      if (text.endsWith('\r\n0\r\n\r\n')) resolve(unchunked(text.slice(text.indexOf('\r\n\r\n') + 4)))
      else reject(new Error('the answer was cut off'))
    })
  })
  const go = () => {
    isGoing = true
    socket.resume()
  }
  return { bytes: () => bytes, body, go }
}

/** The text of a body in chunks whose bytes are all of ASCII. */
function unchunked(text: string): string {
  let rest = text
  let body = ''
  for (;;) {
    const end = rest.indexOf('\r\n')
    const size = Number.parseInt(rest.slice(0, end), 16)
    if (size === 0) return body
    body += rest.slice(end + 2, end + 2 + size)
    rest = rest.slice(end + 4 + size)
  }
}

interface SentSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: unknown }[]
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[]
  }[]
}

/** Takes spans over HTTP as a collector does. */
async function openCollector(t: Test) {
  const requests: (Pick<IncomingMessage, 'headers' | 'url'> & { readonly body: ExportRequest })[] = []
  const server = createServer((message, response) => {
    let text = ''
    message.on('data', piece => {
      text += String(piece)
    })
    message.on('end', () => {
      requests.push({
        headers: message.headers,
        url: message.url ?? '',
        body: JSON.parse(text) as ExportRequest,
      })
      response.end('{}')
    })
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const spans = () =>
    requests.flatMap(({ body }) =>
      body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    )
  return { address: `http://127.0.0.1:${port}`, requests, spans }
}

/** The lines that are not of the text format of Prometheus. */
function wellFormed(text: string): readonly string[] {
  const sample =
    /^[a-zA-Z_:][\w:]*(\{([a-zA-Z_]\w*="([^"\\]|\\.)*",?)*\})? (-?[\d.]+(e[+-]?\d+)?|[+-]?Inf|Nan|NaN)( \d+)?$/
  const comment = /^# (HELP|TYPE) [a-zA-Z_:][\w:]* .+$/
  return text.split('\n').filter(line => line !== '' && !sample.test(line) && !comment.test(line))
}
