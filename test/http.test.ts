import { AsyncResource } from 'node:async_hooks'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { addHooks } from '../src/app/hooks.ts'
import { BAD_REQUEST, Fault } from '../src/errors/errors.ts'
import { WorkBudgets } from '../src/http/client-budget.ts'
import { AnswerCache, isFresh, knownTag, setNoStore } from '../src/http/conditional.ts'
import { limitConnections } from '../src/http/connections.ts'
import { acceptsCoding, preferredCoding } from '../src/http/content-coding.ts'
import { DAILY_CALLS, Quotas, quotaLimits } from '../src/http/daily-quota.ts'
import { answerFault, PROBLEM_TYPE, problemBody, restBody } from '../src/http/faults.ts'
import { answerJson, jsonText, prettyJson } from '../src/http/json.ts'
import { addVersionHeaders, answerVersions } from '../src/http/memento.ts'
import { parseQueryString } from '../src/http/query-string.ts'
import { RateLimit } from '../src/http/rate-limit.ts'
import { configureRoutes } from '../src/http/route-config.ts'
import { AnswerLimit } from '../src/http/turn-queue.ts'
import { ANONYMOUS } from '../src/model/principal.ts'
import { STORE_BUSY } from '../src/runtime/fair-queue.ts'
import { answerMemory, storeMemory } from '../src/runtime/memory.ts'
import { currentActor } from '../src/runtime/work-client.ts'
import { temporaryFolder } from './support/folder.ts'
import { publishPortal, servePortal } from './support/portal.ts'
import { until } from './support/serving.ts'

/** How Lodestone speaks HTTP: methods, CORS, conditional requests, compression, quotas, JSON. */

t.test('JSON is written as the live service writes it', async t => {
  const cases: readonly (readonly [unknown, string])[] = [
    [{ total_count: 1, results: [{ total: 185845 }] }, '{"total_count": 1, "results": [{"total": 185845}]}'],
    [{ genus_name: null, count: 41 }, '{"genus_name": null, "count": 41}'],
    ['Services \u2013 Älm', '"Services \\u2013 \\u00c4lm"'],
    ['\u007f\u{1f600}', '"\\u007f\\ud83d\\ude00"'],
    ['a "b" \\ \n, : {', '"a \\"b\\" \\\\ \\n, : {"'],
    ['x'.repeat(300), `"${'x'.repeat(300)}"`],
    ['\ud800', '"\\ud800"'],
    [[], '[]'],
    [{}, '{}'],
    [[undefined, 1, Number.NaN, -0, 1e21, 1e-7, 0.1], '[null, 1, null, 0, 1e+21, 1e-7, 0.1]'],
    [{ a: undefined, b: true, é: { c: [[], {}] } }, '{"b": true, "\\u00e9": {"c": [[], {}]}}'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [12n, '12'],
    [{ toJSON: 12n, b: [1] }, '{"toJSON": 12, "b": [1]}'],
    [undefined, 'null'],
  ]
  for (const [value, text] of cases) t.equal(jsonText(value), text)
  t.equal(prettyJson({ error_code: 'É' }), '{\n  "error_code": "\\u00c9"\n}')
})

t.test('codings are chosen by their quality', async t => {
  const cases: readonly (readonly [string | undefined, string | null])[] = [
    [undefined, null],
    ['', null],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br', 'gzip'],
    ['br', 'br'],
    ['gzip;q=0.5, br', 'br'],
    ['gzip;q=0, *', 'br'],
    ['*', 'gzip'],
    ['*;q=0', null],
    ['identity, gzip;q=0.5', null],
    ['gzip;q=0', null],
    ['gzip;q=broken', null],
    ['deflate', null],
  ]
  for (const [header, coding] of cases) t.equal(preferredCoding(header), coding, String(header))
  t.equal(acceptsCoding(undefined, 'br'), true)
  t.equal(acceptsCoding('gzip', 'br'), false)
})

t.test('If-None-Match names a tag in any coding that can be read', async t => {
  const cases: readonly (readonly [string, string | undefined, string | null])[] = [
    ['"a"', undefined, '"a"'],
    ['W/"a"', undefined, '"a"'],
    ['"b", W/"a"', undefined, '"a"'],
    ['"b","a-gzip"', 'gzip', '"a-gzip"'],
    ['"a-br"', 'gzip', null],
    ['"a-br"', 'gzip, br', '"a-br"'],
    ['"a-gzip"', undefined, '"a-gzip"'],
    ['"a-gzip"', 'identity', null],
    ['a', undefined, null],
  ]
  for (const [header, codings, tag] of cases) t.equal(knownTag(header, '"a"', codings), tag, header)
})

/** Says whether the stream of `/api/endless` is still made. */
let isMaking = false

t.test('work that ends because its client left is no error of the log', async t => {
  for (const [name, expected] of [
    ['AbortError', []],
    ['TypeError', ['unexpected']],
  ] as const) {
    const lines: string[] = []
    const logger = { level: 'info', stream: { write: (line: string) => void lines.push(line) } }
    const http = fastify({ forceCloseConnections: true, logger })
    http.setErrorHandler(answerFault(restBody))
    const failed = new Promise<void>(resolve => http.addHook('onError', async () => resolve()))
    const leaving = new AbortController()
    http.get('/work', async (_, { raw }) => {
      leaving.abort()
      await once(raw, 'close')
      throw Object.assign(new Error('stopped'), { name })
    })
    const address = await http.listen({ port: 0, host: '127.0.0.1' })
    await t.rejects(fetch(`${address}/work`, { signal: leaving.signal }))
    await failed
    await http.close()
    const messages = lines.map(line => JSON.parse(line) as { level: number; msg: string })
    t.same(
      messages.filter(({ level }) => level >= 50).map(({ msg }) => msg),
      expected,
      name,
    )
  }
})

/** A few routes of every kind, without anything behind them. */
function instance(calls = 1000, isPrivate = false): FastifyInstance {
  const http = fastify({ routerOptions: { querystringParser: parseQueryString, ignoreTrailingSlash: true } })
  http.setErrorHandler(answerFault(restBody))
  const now = () => Date.UTC(2026, 6, 27)
  const limits = quotaLimits({ domain: calls })
  const quotas = new Quotas({ limits, now, counts: null, secret: Buffer.alloc(32) })
  addHooks(http, { isPrivate, authenticate: () => ANONYMOUS, quotas, address: () => '' })
  configureRoutes(http, { isCounted: true })
  const long = { text: 'é'.repeat(2000) }
  http.get('/api/page', async (request, reply) => {
    if (isFresh(request, reply, 'v1')) return reply.code(304).send()
    return answerJson(reply, long)
  })
  http.get('/api/negotiated', async (request, reply) => {
    if (isFresh(request, reply, 'v1', 'text/plain')) return reply.code(304).send()
    return reply.type('text/plain').send('short')
  })
  http.get('/api/unversioned', async (request, reply) => {
    isFresh(request, reply, null)
    return answerJson(reply, {})
  })
  http.get('/api/refused', async (request, reply) => {
    isFresh(request, reply, 'v1')
    throw new Fault(BAD_REQUEST, { reason: 'no' })
  })
  http.get('/api/unstored', async () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  })
  const errorHandler = answerFault(problemBody, PROBLEM_TYPE)
  http.get('/api/described', { errorHandler }, async (_, reply) => answerJson(reply, {}))
  http.get('/api/export', async (_, reply) => {
    setNoStore(reply).header('content-disposition', 'attachment; filename="a.csv"')
    return reply.type('text/csv').send(Readable.from(pieces(3), { objectMode: false }))
  })
  http.get('/api/broken', async (_, reply) => reply.type('text/csv').send(Readable.from(broken())))
  http.get('/api/image', async (_, reply) => reply.type('image/png').send(Buffer.alloc(5000)))
  http.get('/api/endless', async (_, reply) =>
    reply.type('text/csv').send(Readable.from(pieces(Number.POSITIVE_INFINITY), { objectMode: false })),
  )
  return http
}

async function* pieces(count: number): AsyncGenerator<string> {
  isMaking = true
  try {
    for (let index = 0; index < count; index++) {
      yield `${Math.random()};`.repeat(500)
      await wait(1)
    }
  } finally {
    isMaking = false
  }
}

// biome-ignore lint/correctness/useYield: it fails before its first piece
async function* broken(): AsyncGenerator<string> {
  throw new Fault(STORE_BUSY)
}

t.test('a page has a tag for each coding, and 304 for each', async t => {
  const http = instance()
  const decoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
    '': body => body,
    gzip: gunzipSync,
    br: brotliDecompressSync,
  }
  const tags = new Set<unknown>()
  for (const [coding, decode] of Object.entries(decoders)) {
    const headers = coding === '' ? {} : { 'accept-encoding': coding }
    const first = await http.inject({ url: '/api/page', headers })
    t.equal(first.statusCode, 200)
    t.equal(first.headers['content-encoding'], coding === '' ? undefined : coding)
    t.equal(first.headers['cache-control'], 'public, max-age=0, must-revalidate')
    t.equal(first.headers.vary, 'Accept-Encoding')
    t.equal(Number(first.headers['content-length']), first.rawPayload.length)
    t.same(JSON.parse(decode(first.rawPayload).toString('latin1')), { text: 'é'.repeat(2000) })
    const tag = String(first.headers.etag)
    t.match(tag, /^"[\w+/-]+"$/, 'strong')
    tags.add(tag)
    const names = [tag, `W/${tag}`, `"other", ${tag}`, '*']
    for (const name of names) {
      const again = await http.inject({ url: '/api/page', headers: { ...headers, 'if-none-match': name } })
      t.equal(again.statusCode, 304, name)
      t.equal(again.rawPayload.length, 0)
      t.equal(again.headers['content-length'], undefined)
      t.equal(again.headers['content-type'], undefined)
      t.equal(again.headers['cache-control'], first.headers['cache-control'])
      t.equal(again.headers.vary, first.headers.vary)
      if (name !== '*') t.equal(again.headers.etag, tag)
    }
    const head = await http.inject({ method: 'HEAD', url: '/api/page', headers })
    t.equal(head.statusCode, 200)
    t.equal(head.rawPayload.length, 0)
    for (const name of ['etag', 'content-length', 'content-encoding', 'content-type', 'vary'])
      t.equal(head.headers[name], first.headers[name], `HEAD: ${name}`)
    const known = { ...headers, 'if-none-match': tag }
    const freshHead = await http.inject({ method: 'HEAD', url: '/api/page', headers: known })
    t.equal(freshHead.statusCode, 304)
    t.equal(freshHead.headers['content-length'], undefined)
  }
  t.equal(tags.size, 3)
})

t.test('what the tag of an answer depends on', async t => {
  const http = instance()
  const tagOf = async (url: string) => (await http.inject(url)).headers.etag
  const tag = await tagOf('/api/page?where=a%20b&limit=1')
  t.type(tag, 'string')
  for (const same of ['/api/page/?where=a+b&limit=1', '/api/page?where=a+b&apikey=k&limit=1'])
    t.equal(await tagOf(same), tag, same)
  const others = [
    '/api/page?limit=1&where=a%20b',
    '/api/page?where=a%20b',
    '/api/negotiated?where=a%20b&limit=1',
  ]
  for (const other of others) t.not(await tagOf(other), tag, other)
  t.not(await tagOf('/api/page?where=a&where=b'), await tagOf('/api/page?where=b&where=a'))
  t.not(await tagOf('/api/page?where=a%0Alimit=1'), await tagOf('/api/page?where=a&limit=1'))
  t.not(
    await tagOf(`/api/page?where=${'a'.repeat(2000)}`),
    await tagOf(`/api/page?where=${'a'.repeat(2001)}`),
  )
  const untagged = [
    '/api/page?where=d%3Enow()',
    '/api/page?select=NOW%0A(days=-1)',
    '/api/page?where=a&where=b%3CNow()',
    '/api/unversioned',
  ]
  for (const url of untagged) {
    const { headers } = await http.inject({ url, headers: { 'if-none-match': '*' } })
    t.equal(headers.etag, undefined, url)
    t.equal(headers['cache-control'], 'no-cache')
  }
  const { headers } = await http.inject('/api/negotiated')
  t.equal(headers.vary, 'Accept-Encoding, Accept')
})

t.test('caches of answers take a part of the memory of the process', async t => {
  for (const memory of [300e6, 600e6, 4e9, 64e9]) {
    const { columns, query, resident } = storeMemory(memory)
    const { bodies, responses, pages } = answerMemory(memory)
    const all = 2 * bodies + responses + 8 * pages
    t.ok(all <= Math.max(12e6, memory - 260e6 - columns - query - resident), `${all} of ${memory}`)
    t.ok(all <= 300e6)
  }
})

t.test('answers are kept by their tags, and the longest unasked one goes first', async t => {
  const kept = new AnswerCache(80)
  const http = fastify({ routerOptions: { querystringParser: parseQueryString } })
  let made = 0
  http.get('/', async (request, reply) => {
    isFresh(request, reply, 'v1')
    const found = kept.find(reply)
    if (found !== undefined) return reply.send(found)
    made++
    kept.keep(reply, 'x'.repeat(10))
    return reply.send('x'.repeat(10))
  })
  const ask = async (url: string) => {
    const before = made
    t.equal((await http.inject(url)).body, 'x'.repeat(10))
    return made > before
  }
  t.equal(await ask('/?a=1'), true)
  t.equal(await ask('/?a=1'), false)
  for (let index = 2; index <= 8; index++) await ask(`/?a=${index}`)
  t.equal(await ask('/?a=1'), false, 'as many as there is room for')
  await ask('/?a=9')
  t.equal(await ask('/?a=1'), false, 'asked for of late')
  t.equal(await ask('/?a=2'), true, 'gone')
  t.equal(await ask('/?where=now()'), true)
  t.equal(await ask('/?where=now()'), true, 'without a tag nothing is kept')
})

t.test('faults have nothing of the answer that was not given', async t => {
  const http = instance()
  for (const [url, status] of [
    ['/api/refused', 400],
    ['/api/unstored', 503],
    ['/api/broken', 503],
  ] as const) {
    const { statusCode, headers, body } = await http.inject({ url, headers: { 'accept-encoding': 'gzip' } })
    t.equal(statusCode, status)
    t.match(JSON.parse(body), { error_code: /./, message: /./ })
    for (const name of ['etag', 'content-encoding']) t.equal(headers[name], undefined, `${url}: ${name}`)
    t.match(headers, { 'x-ratelimit-limit': '1000', 'x-ratelimit-remaining': /^99\d$/ })
    t.equal(headers['cache-control'], 'no-cache, no-store')
    t.equal(headers['access-control-allow-origin'], '*')
  }
})

t.test('a request with two Host headers is refused', async t => {
  const http = instance()
  for (const [host, status] of [
    [['a'], 200],
    [['a', 'a'], 400],
    [['a', 'b'], 400],
  ] as const)
    t.equal((await http.inject({ url: '/api/page', headers: { host } as never })).statusCode, status)
})

t.test('exports are compressed as they come, images are not', async t => {
  const http = instance()
  const headers = { 'accept-encoding': 'gzip' }
  const exported = await http.inject({ url: '/api/export', headers })
  t.equal(exported.headers['content-encoding'], 'gzip')
  t.equal(exported.headers['cache-control'], 'no-cache, no-store')
  t.equal(exported.headers.etag, undefined)
  t.equal(exported.headers.vary, 'Accept-Encoding')
  t.match(gunzipSync(exported.rawPayload).toString(), /^(0\.\d+(e-\d+)?;)+$/)
  t.equal((await http.inject('/api/export')).headers['content-encoding'], undefined)
  const image = await http.inject({ url: '/api/image', headers })
  t.equal(image.headers['content-encoding'], undefined)
  t.equal(image.rawPayload.length, 5000)
  const short = await http.inject({ url: '/api/unversioned', headers })
  t.equal(short.headers['content-encoding'], undefined)
  const head = await http.inject({ method: 'HEAD', url: '/api/endless', headers })
  t.equal(head.statusCode, 200)
  t.equal(head.headers['content-encoding'], 'gzip')
  t.equal(head.headers['content-length'], undefined)
  t.equal(isMaking, false, 'HEAD makes no export')
})

t.test('an export ends when the client leaves', async t => {
  const http = instance()
  await http.listen({ port: 0, host: '127.0.0.1' })
  const address = http.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  for (const codings of ['identity', 'gzip', 'br']) {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET /api/endless HTTP/1.1\r\nHost: a\r\nAccept-Encoding: ${codings}\r\n\r\n`)
    await new Promise(resolve => socket.once('data', resolve))
    t.equal(isMaking, true)
    socket.destroy()
    for (let waited = 0; isMaking && waited < 200; waited++) await wait(10)
    t.equal(isMaking, false, codings)
  }
  await http.close()
})

t.test('a quota that is spent answers 429', async t => {
  const http = instance(1)
  const first = await http.inject('/api/page')
  const described = {
    'x-ratelimit-limit': '1',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '2026-07-28 00:00:00+00:00',
  }
  t.match(first.headers, described)
  const second = await http.inject('/api/page')
  t.equal(second.statusCode, 429)
  t.match(second.json(), { errorcode: 10002, call_limit: 1 })
  t.match(second.headers, { ...described, 'retry-after': '86400', 'cache-control': 'no-cache, no-store' })
  const third = await http.inject('/api/described')
  t.match(third.headers, { ...described, 'retry-after': '86400', 'content-type': PROBLEM_TYPE })
  t.match(third.json(), { title: 'QuotaExceeded', status: 429, detail: /^Too many requests on the domain/ })
})

t.test('a private portal answers preflights and nothing else', async t => {
  const http = instance(undefined, true)
  t.equal((await http.inject('/api/page')).statusCode, 401)
  t.equal((await http.inject({ method: 'OPTIONS', url: '/api/page' })).statusCode, 204)
})

const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Test\n',
  data: { trees: { 'a.json': '[{"a":1}]', 'dataset.yaml': 'source: { path: a.json }\n' } },
})
const { app } = await servePortal(t, { portal })

const ROOTS = ['/api/v2', '/api/explore/v2.0', '/api/explore/v2.1']

t.test('every API takes GET, HEAD and OPTIONS', async t => {
  for (const root of ROOTS) {
    const url = `${root}/catalog/datasets/trees/records`
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      const { statusCode, headers, body } = await app.http.inject({ method, url })
      t.equal(statusCode, 405, method)
      t.equal(headers.allow, 'GET, HEAD, OPTIONS')
      t.match(JSON.parse(body), { error_code: 'MethodNotAllowed' })
    }
    const others = ['/api/tpf/trees', '/ld/resources/trees/records/1']
    for (const address of [url, `${root}/`, `${root}/no/such/thing?where=%ZZ`, ...others]) {
      const { statusCode, headers, body } = await app.http.inject({
        method: 'OPTIONS',
        url: address,
        headers: { origin: 'http://a', 'access-control-request-method': 'GET' },
      })
      t.equal(statusCode, 204, address)
      t.equal(body, '')
      t.match(headers, {
        allow: 'GET, HEAD, OPTIONS',
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD, OPTIONS',
        'access-control-allow-headers': /Authorization, If-None-Match, Accept,.* Content-Type/,
        'access-control-max-age': /^\d+$/,
      })
    }
  }
})

t.test(
  'what an address takes and counts does not depend on whether it is a route, nor how it is spelled',
  async t => {
    const read = 'GET, HEAD, OPTIONS'
    const forms = 'GET, HEAD, POST, OPTIONS'
    const edit = 'GET, HEAD, POST, PUT, DELETE, OPTIONS'
    const cases: readonly (readonly [address: string, methods: string, isCounted: boolean])[] = [
      ['/', read, false],
      ['/nowhere', read, false],
      ['/metrics', read, false],
      ['/assets/none.css', read, false],
      ['/explore/dataset/trees/mapping', forms, false],
      ['/explore/dataset/trees/mapping/nowhere', forms, false],
      ['/explore/dataset/trees/nowhere', read, false],
      ['/desk/nowhere/at/all', forms, false],
      ['/account/login', forms, false],
      ['/%61ccount/login', forms, false],
      ['/account/nowhere', forms, false],
      ['/oauth2/nowhere', forms, false],
      ['/.well-known/openid-configuration', forms, false],
      ['/.well-known/void', read, true],
      ['/.well-known/genid', read, true],
      ['/ld/nowhere', read, true],
      ['/api', read, true],
      ['/%61pi/nowhere', read, true],
      ['/api/explore/v2.1/nowhere', read, true],
      ['/api/odata/nowhere', read, true],
      ['/api/sparql/trees/nowhere/at/all', forms, true],
      ['/api/management/nowhere', edit, true],
      ['/api/management/v1/datasets', forms, true],
    ]
    for (const [url, methods, isCounted] of cases) {
      t.equal((await app.http.inject({ method: 'OPTIONS', url })).headers.allow, methods, url)
      const { headers } = await app.http.inject(url)
      t.equal(headers['x-ratelimit-limit'] !== undefined, isCounted, url)
    }
  },
)

t.test('a request target in absolute form is the path and query in it', async t => {
  const { port } = new URL(await app.http.listen({ port: 0, host: '127.0.0.1' }))
  const answer = async (path: string) => {
    const request = sendRequest({ host: '127.0.0.1', port, path, agent: false }).end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const body = await text(response)
    return [response.statusCode, response.headers.location, body]
  }
  const records = '/api/explore/v2.1/catalog/datasets/trees/records'
  const [record] = (await app.http.inject('/api/odata/trees')).json().value as { readonly recordid: string }[]
  for (const path of [
    '/',
    `${records}?limit=1`,
    `/ld/resources/trees/records/${record?.recordid}`,
    '/api/odata/trees?$top=1',
    '/api/odata/$metadata',
    '/api/tpf/trees?page=1',
    '/api/void/trees',
    '/api/sparql?query=ASK%20%7B%7D',
    '/explore/dataset/trees/download/?format=csv',
  ]) {
    const expected = await answer(path)
    t.ok(Number(expected[0]) < 400, path)
    t.same(await answer(`http://127.0.0.1:${port}${path}`), expected, path)
    t.same(await answer(`HTTPS://proxy.example/${path}`), expected, `//${path}`)
  }
  t.equal((await answer(`http://127.0.0.1:${port}?lang=fr`))[0], 200)
})

t.test('every API: trailing slashes, unknown parameters, HEAD, CORS and quotas', async t => {
  for (const root of ROOTS) {
    const url = `${root}/catalog/datasets/trees/records`
    const plain = await app.http.inject(url)
    t.equal(plain.statusCode, 200)
    t.match(plain.headers, {
      'content-type': 'application/json; charset=utf-8',
      'access-control-allow-origin': '*',
      'x-ratelimit-limit': String(DAILY_CALLS),
      'x-ratelimit-remaining': /^\d+$/,
      'x-ratelimit-reset': /^\d{4}-\d\d-\d\d 00:00:00\+00:00$/,
    })
    const exposed = String(plain.headers['access-control-expose-headers']).split(', ')
    for (const name of ['ETag', 'X-RateLimit-Remaining', 'Server-Timing', 'Content-Disposition', 'Link'])
      t.ok(exposed.includes(name), name)
    const slash = await app.http.inject(`${url}/`)
    t.equal(slash.statusCode, 200)
    if (root.endsWith('1')) {
      t.equal(slash.body, plain.body)
      t.equal((await app.http.inject(`${url}?no_such=1&=2`)).body, plain.body)
    }
    const head = await app.http.inject({ method: 'HEAD', url })
    t.equal(head.statusCode, 200)
    t.equal(head.body, '')
    t.equal(head.headers['content-type'], plain.headers['content-type'])
    t.equal(head.headers['content-length'], plain.headers['content-length'])
    for (const [address, status] of [
      [`${url}?limit=1000000`, 400],
      [`${root}/catalog/datasets/none/records`, 404],
      [`${root}/none`, 404],
      [`${url}?where=%ZZ`, 400],
    ] as const) {
      const { statusCode, headers, body } = await app.http.inject(address)
      t.equal(statusCode, status, address)
      t.equal(headers['x-ratelimit-limit'], String(DAILY_CALLS))
      t.match(body, /^\{\n {2}"error_code": "\w+",\n {2}"message": ".+"\n\}$/)
    }
  }
  const before = Number((await app.http.inject('/api/v2/catalog/datasets')).headers['x-ratelimit-remaining'])
  const after = Number((await app.http.inject('/api/v2/catalog/datasets')).headers['x-ratelimit-remaining'])
  t.equal(before - after, 1, 'one call counts one')
  t.equal((await app.http.inject('/healthz')).headers['x-ratelimit-limit'], undefined)
  for (const [url, caching] of [
    ['/healthz', 'no-cache, no-store'],
    ['/readyz', 'no-cache, no-store'],
    ['/api/v2', 'no-cache'],
    ['/api/explore/v2.1/catalog/exports', 'no-cache'],
  ] as const)
    t.equal((await app.http.inject(url)).headers['cache-control'], caching, url)
})

t.test('a user does not compete with the address of the same requests', async t => {
  const budgets = new WorkBudgets({ burst: 1000, rate: 1 }, () => 0)
  const rateLimit = new RateLimit({ budgets, address: () => '192.0.2.1' })
  const http = fastify()
  t.teardown(() => http.close())
  rateLimit.install(http)
  const user = {
    type: 'user',
    id: 1,
    name: 'ann',
    grants: new Set<string>(),
    quota: null,
    by: 'key',
  } as const
  http.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.config.access === 'everybody') return
    await rateLimit.admit(request, reply, request.headers.authorization === undefined ? ANONYMOUS : user)
  })
  http.get('/', async () => 'answer')
  http.get('/healthz', { config: { access: 'everybody' } }, async () => 'alive')
  const statusOf = async (url: string, headers = {}) => (await http.inject({ url, headers })).statusCode
  const authorization = { authorization: 'any' }
  budgets.of('user:1').spend(1500)
  t.equal(await statusOf('/', authorization), 200)
  t.equal(await statusOf('/', authorization), 200, 'nobody else is active')
  t.equal(await statusOf('/healthz'), 200)
  t.equal(await statusOf('/', authorization), 200, 'a health check is no client')
  t.equal(await statusOf('/'), 200)
  t.equal(await statusOf('/', authorization), 429, 'now somebody else is active')
})

t.test('what is cached for a request does not hold the request', async t => {
  const budgets = new WorkBudgets({ burst: 1000, rate: 1 }, () => 0)
  const http = fastify()
  t.teardown(() => http.close())
  new RateLimit({ budgets, address: () => '192.0.2.1' }).install(http)
  let actorOfCached = (): unknown => null
  http.get('/', async () => {
    actorOfCached = AsyncResource.bind(currentActor)
    return 'answer'
  })
  const address = await http.listen({ port: 0, host: '127.0.0.1' })
  t.equal(await (await fetch(address)).text(), 'answer')
  await wait(50)
  const actor = Object.getOwnPropertyDescriptors(actorOfCached())
  t.match(actor, { name: { value: 'anonymous' }, address: { value: '192.0.2.1' } })
})

t.test('exports are counted by the path of an address alone', async t => {
  const limit = new AnswerLimit()
  const response = { once() {} } as unknown as ServerResponse
  const enter = (url: string) => limit.enter('client', url, response)
  for (let i = 0; i < 20; i++) t.equal(enter('/api/search/?q=/exports/csv'), null)
  for (let i = 0; i < 16; i++) t.equal(enter('/api/x/exports/csv?limit=1'), null)
  t.match(enter('/api/x/exports/csv'), { what: 'exports', found: 16 })
})

t.test('requests that wait for others on their connection end with it', async t => {
  const server = createServer()
  const timeouts = { requestTimeout: 5000, idleTimeout: 5000, writeTimeout: 5000 }
  limitConnections(server, { ...timeouts, perAddress: null, onFull: () => undefined })
  const responses: ServerResponse[] = []
  const ended: number[] = []
  server.on('request', (_, response) => {
    const number = responses.push(response)
    response.on('close', () => ended.push(number))
    if (number === 2) response.end('an answer that waits for the first one')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(3))
  await until(() => responses.length === 3)
  t.same(ended, [])
  socket.destroy()
  await until(() => ended.length > 0)
  await wait(50)
  t.same(ended.sort(), [1, 2, 3])
})

t.test('a client that leaves while its answer is prepared leaves nothing behind', async t => {
  const limit = new AnswerLimit()
  const gone = { destroyed: true, once() {} } as unknown as ServerResponse
  for (let i = 0; i < 20; i++) t.equal(limit.enter('client', '/api/x/exports/csv', gone), null)
  const http = fastify()
  t.teardown(() => http.close())
  let [opened, released, left] = [0, 0, false]
  addVersionHeaders(http, { base: 'http://x' })
  http.addHook('onRequest', async (_, reply) => {
    reply.raw.once('close', () => {
      left = true
    })
  })
  answerVersions(http, {
    base: 'http://x',
    list: () => [],
    open: async () => {
      opened += 1
      await until(() => left)
      return {
        release: () => {
          released += 1
        },
      }
    },
  })
  http.get('/:dataset', async () => 'an answer')
  const address = new URL(await http.listen({ port: 0, host: '127.0.0.1' }))
  const socket = connect(Number(address.port), address.hostname)
  socket.write('GET /trees?version=v HTTP/1.1\r\nhost: x\r\n\r\n')
  await until(() => opened === 1)
  socket.destroy()
  await until(() => left)
  await wait(150)
  t.equal(released, 1, 'a version is closed once nobody reads it')
})

t.test('a start waits for the datasets in force, whatever their dataset.yaml has become', async t => {
  const folder = (visibility: string) => ({
    'dataset.yaml': `source: { path: a.csv }\nvisibility: ${visibility}\n`,
    'a.csv': 'a\n1\n',
  })
  const portal = temporaryFolder(t, {
    'portal.yaml': '',
    data: { broken: folder('public'), secret: folder('restricted') },
  })
  await publishPortal(portal)
  writeFileSync(`${portal}/data/broken/dataset.yaml`, 'visibility: nobody\n')
  const { getJson } = await servePortal(t, { portal, isPublished: false, isOpen: false })
  t.match(await getJson('/readyz'), { status: 503, body: { datasets: { served: 0, expected: 1 } } })
})
