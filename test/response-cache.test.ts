import { channel } from 'node:diagnostics_channel'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { openAccounts } from '../src/accounts/open.ts'
import { versionsOf, withdraw } from '../src/publishing/versions/versions.ts'
import { isLong, withMore } from './support/effort.ts'
import { temporaryFolder } from './support/folder.ts'
import { publishPortal, servePortal } from './support/portal.ts'

t.runOnly = isLong

/** Answers that are given again before a request comes to the routes: the same bytes, counted as ever. */
const rows = (name: string) =>
  JSON.stringify(Array.from({ length: 40 }, (_, a) => ({ a, name: `${name} ${a}`, kind: `k${a % 3}` })))
const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Test\n',
  data: {
    trees: {
      'a.json': rows('oak'),
      'dataset.yaml':
        'source: { path: a.json }\nfields: [{ name: a, type: int }, { name: name }, { name: kind, annotations: { facet: [] } }]\n',
    },
    other: { 'a.json': '[{"a":1}]', 'dataset.yaml': 'source: { path: a.json }\n' },
    rdf: { 'a.ttl': '<urn:a> <urn:b> <urn:c> .', 'dataset.yaml': 'source: { path: a.ttl }\n' },
  },
})
const base = 'http://portal.example'
const { app, port } = await servePortal(t, { portal, base, port: 0 })

/** Requests that came to a route. */
let routed = 0
channel('tracing:fastify.request.handler:start').subscribe(() => {
  routed++
})

interface Answer {
  readonly head: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
  readonly isRouted: boolean
}

/** Asks on a connection of its own, which the server closes, and gives all its bytes. */
function ask(url: string, headers: readonly string[] = [], line = `GET ${url} HTTP/1.1`): Promise<Answer> {
  const before = routed
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    const socket = connect(port, '127.0.0.1')
    socket.on('data', piece => pieces.push(piece)).once('error', reject)
    socket.once('end', () => {
      const bytes = Buffer.concat(pieces)
      const end = bytes.indexOf('\r\n\r\n')
      const head = bytes.subarray(0, end).toString('latin1')
      const named = head.split('\r\n').slice(1)
      const pairs = named.map(each => each.split(/: (.*)/s).slice(0, 2) as [string, string])
      resolve({ head, headers: new Map(pairs), body: bytes.subarray(end + 4), isRouted: routed > before })
      socket.end()
    })
    socket.write([line, 'Host: a', 'Connection: close', ...headers, '', ''].join('\r\n'))
  })
}

/** The head of an answer without what differs from one moment to the next. */
function lasting({ head }: Answer): string {
  return head.replace(
    /\r\n(?:date|x-request-id|x-ratelimit-remaining|ratelimit|ratelimit-policy): [^\r]*/gi,
    '',
  )
}

function remaining({ headers }: Answer): number {
  return Number(headers.get('x-ratelimit-remaining'))
}

const V21 = '/api/explore/v2.1/catalog/datasets/trees'
const PAGE = `${V21}/records?limit=20`

t.test('an answer that is kept holds nothing of the request that it was made for', async t => {
  const requests: WeakRef<object>[] = []
  const started = channel('tracing:fastify.request.handler:start')
  const note = (message: unknown) =>
    requests.push(new WeakRef((message as { readonly request: { readonly raw: object } }).request.raw))
  started.subscribe(note)
  for (let at = 0; at < 60; at++) await ask(`${V21}/records?limit=1&where=a%3D${at % 30}`)
  started.unsubscribe(note)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let tries = 0; tries < 20 && held(requests) > 5; tries++) {
    await sleep(50)
    collect()
  }
  t.equal(requests.length, 60)
  t.ok(held(requests) <= 5, `${held(requests)} requests are held`)
  t.notOk((await ask(`${V21}/records?limit=1&where=a%3D1`)).isRouted, 'it is given again')
})

t.test('long headers are held neither with answers nor with noted calls', async t => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const grownBy = async (headersOf: (at: number) => readonly string[]) => {
    const url = (at: number) => `${V21}/records?limit=1&where=a%3D${at % 40}`
    await ask(url(0))
    collect()
    const before = process.memoryUsage().heapUsed
    for (let at = 0; at < 80; at++) await ask(url(at), headersOf(at))
    collect()
    return process.memoryUsage().heapUsed - before
  }
  const long = 'x'.repeat(100_000)
  for (const [what, headersOf] of [
    ['tag', at => [`If-None-Match: "${at}${long}"`]],
    ['coding', at => [`Accept-Encoding: gzip, ${at}${long}`]],
    ['client', at => [`User-Agent: ${at}${long}`]],
    ['page before', at => [`Referer: http://other.example/${at}${long}`]],
  ] as const satisfies readonly (readonly [string, (at: number) => readonly string[]])[]) {
    const grown = await grownBy(headersOf)
    t.ok(grown < 4e6, `${what}: ${grown} of 8,000,000 bytes are held`)
  }
})

function held(references: readonly WeakRef<object>[]): number {
  return references.filter(reference => reference.deref() !== undefined).length
}

t.test('an answer is the same bytes whether it comes from a route or not', async t => {
  const cases = ['/api/v2', '/api/explore/v2.0', '/api/explore/v2.1'].flatMap(root => [
    `${root}/catalog/datasets`,
    `${root}/catalog/datasets/trees`,
    `${root}/catalog/datasets/trees/records?limit=20`,
    `${root}/catalog/datasets/trees/records/?limit=20&where=a%3E3`,
    `${root}/catalog/datasets/trees/facets?facet=kind`,
    `${root}/catalog/facets`,
  ])
  for (const url of cases)
    for (const codings of [
      [],
      ['Accept-Encoding: gzip'],
      ['Accept-Encoding: br'],
      ['Accept-Encoding: identity'],
    ]) {
      const first = await ask(url, codings)
      t.match(first.head, /^HTTP\/1.1 200 OK/, url)
      const tag = `If-None-Match: ${first.headers.get('etag')}`
      for (const headers of [codings, [...codings, tag]]) {
        const what = `${url} ${headers.join(' ')}`
        const given = headers === codings ? [first] : []
        while (given.length < 3) given.push(await ask(url, headers))
        // Only the first answer of all has times of the store to tell.
        const standard = given.findLast(({ isRouted }) => isRouted)
        const again = given.at(-1)
        if (standard === undefined || again === undefined) throw new Error(what)
        t.equal(again.isRouted, false, what)
        t.equal(lasting(again), lasting(standard), what)
        t.ok(again.body.equals(standard.body), what)
        t.equal(remaining(given[1] ?? standard) - remaining(again), 1, 'one call counts one')
      }
      const head = await ask(url, codings, `HEAD ${url} HTTP/1.1`)
      t.equal(lasting(head), lasting(await ask(url, codings)), 'HEAD')
      t.equal(head.body.length, 0)
    }
})

t.test('who closes the connection is told so, and HTTP/1.0 is spoken', async t => {
  const one = await ask(PAGE, [], `GET ${PAGE} HTTP/1.0`)
  t.equal(one.isRouted, false)
  t.match(one.head, /connection: close/i)
  t.same(JSON.parse(one.body.toString()).results.length, 20)
})

t.test(
  '304 has the headers of the 200 that it stands for, whoever asks and in whatever coding',
  withMore,
  async t => {
    const accounts = openAccounts(path.join(portal, 'var/accounts.sqlite'), { now: () => Date.now() })
    await accounts.users.add('carol', 'correct horse battery')
    const { key } = await accounts.keys.create('carol', 'test')
    await accounts.close()
    const query = encodeURIComponent('SELECT * { ?s ?p ?o }')
    const addresses = [
      ...['/', '/explore/', '/explore/dataset/trees/', '/explore/dataset/trees/linked-data/', '/developers/'],
      ...['/api/v2', '/api/explore/v2.0', '/api/explore/v2.1'].flatMap(root => [
        `${root}/catalog/datasets`,
        `${root}/catalog/datasets/trees/records`,
        `${root}/catalog/datasets/trees/facets`,
        `${root}/catalog/datasets/trees/exports/csv`,
        `${root}/catalog/datasets/trees/exports/xlsx`,
        `${root}/catalog/datasets/trees/exports/jsonld`,
      ]),
      ...['/api/odata', '/api/odata/$metadata', '/api/odata/trees', '/api/odata/trees/$count'],
      ...[
        '/api/tpf',
        '/api/tpf/trees',
        '/api/tpf/rdf',
        '/api/tpf/rdf?subject=urn:a',
        '/api/tpf/rdf?subject=urn:b',
      ],
      ...[
        '/api/sparql',
        '/api/sparql/trees',
        '/api/sparql/trees/data?default',
        '/api/sparql/rdf/data?default',
      ],
      ...[`/api/sparql?query=${query}`, `/api/sparql/trees?query=${query}`, `/api/sparql/rdf?query=${query}`],
      ...['/.well-known/void', '/api/void', '/api/void/trees', '/api/void/trees/queries'],
      ...['/ld/data/trees', '/ld/data/rdf', '/ld/vocabulary/trees', '/ld/vocabulary/trees/name'],
      ...['/ld/data/trees.nt', '/ld/data/trees.html', '/ld/data/trees?inverse=1'],
    ]
    const described = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
      ['vary', 'cache-control', 'content-location', 'expires'].map(name => headers[name])
    let compared = 0
    // An address is asked in nine ways, in a quarter of them where there is no time; a long run has the others.
    let asked = 0
    for (const url of addresses)
      for (const accept of ['*/*', 'text/html', 'application/ld+json'])
        for (const more of [{}, { 'accept-encoding': 'gzip' }, { authorization: `Apikey ${key}` }]) {
          asked += 1
          if ((asked % 4 === 0) === isLong) continue
          const headers = { accept, ...more }
          const first = await app.http.inject({ url, headers })
          const { etag, vary } = first.headers
          if (first.statusCode !== 200 || typeof etag !== 'string') continue
          compared += 1
          const what = `${url} ${JSON.stringify(headers)}`
          t.match(vary, /\bAccept-Encoding\b/, what)
          const names = String(vary).split(', ')
          t.equal(new Set(names).size, names.length, `${what}: ${vary}`)
          for (const known of [etag, '*']) {
            const again = await app.http.inject({ url, headers: { ...headers, 'if-none-match': known } })
            t.equal(again.statusCode, 304, what)
            t.strictSame(described(again), described(first), `${what} ${known}`)
            if (known === etag) t.equal(again.headers.etag, etag, what)
          }
          const head = await app.http.inject({ method: 'HEAD', url, headers })
          t.strictSame(described(head), described(first), `HEAD ${what}`)
        }
    t.ok(compared > (isLong ? 150 : 50), `${compared} answers`)
  },
)

t.test('what is not the usual request comes to the routes', async t => {
  const tag = (await ask(PAGE)).headers.get('etag')
  const accounts = openAccounts(path.join(portal, 'var/accounts.sqlite'), { now: () => Date.now() })
  await accounts.users.add('alice', 'correct horse battery')
  const { key } = await accounts.keys.create('alice', 'test')
  await accounts.close()
  for (const [url, header, status] of [
    [PAGE, 'Authorization: Apikey x', 401],
    [`${PAGE}&apikey=x`, 'A: b', 401],
    // Tokens in addresses are refused where the portal does not allow them.
    [`${PAGE}&access%5Ftoken=x`, 'A: b', 400],
  ] as const)
    for (let time = 0; time < 3; time++)
      t.equal((await ask(url, [header])).head.slice(0, 12), `HTTP/1.1 ${status}`, url)
  for (const header of [
    `Authorization: Apikey ${key}`,
    'Cookie: a=b',
    'Range: bytes=0-1',
    'If-Match: *',
    'If-Range: "a"',
    'If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT',
    'If-Unmodified-Since: Sat, 29 Oct 1994 19:43:31 GMT',
    'If-None-Match: *',
    'Content-Length: 0',
  ])
    for (let time = 0; time < 3; time++) t.equal((await ask(PAGE, [header])).isRouted, true, header)
  const never = [
    `${PAGE}&apikey=${key}`,
    `${PAGE}&where=now()%20is%20not%20null`,
    `${PAGE}&include_app_metas=true`,
    `${V21}/attachments`,
    '/api/v2/monitoring/datasets',
    `/ld/resources/trees/records/none`,
  ]
  for (const url of never) for (let time = 0; time < 3; time++) t.equal((await ask(url)).isRouted, true, url)
  t.equal((await ask(PAGE, [`If-None-Match: "other", ${tag}`])).isRouted, true, 'asked for the first time')
  t.match((await ask(PAGE, [`If-None-Match: "other", ${tag}`])).head, /^HTTP\/1.1 304 /)
})

t.test('usage is counted and told', async t => {
  const calls = async () => {
    const list = await app.http.inject('/api/v2/catalog/datasets/trees?include_app_metas=true')
    return list.json().dataset.metas.explore.api_call_count as number
  }
  await ask(PAGE)
  const before = await calls()
  for (let time = 0; time < 5; time++) t.equal((await ask(PAGE)).isRouted, false)
  t.equal((await calls()) - before, 6, 'five pages, and the dataset itself')
})

t.test('new data is answered from the moment it is served, and nothing that was withdrawn', async t => {
  const answers = async () => [
    (await ask(PAGE)).body.toString(),
    (await ask('/api/v2/catalog/datasets')).body,
  ]
  const [oaks, list] = await answers()
  await answers()
  t.match(oaks, 'oak 1')
  writeFileSync(path.join(portal, 'data/trees/a.json'), rows('elm'))
  await publishPortal(portal)
  t.match((await ask(PAGE)).body.toString(), 'oak 1', 'not served yet')
  await app.catalog.refresh()
  const first = await ask(PAGE)
  t.equal(first.isRouted, true)
  t.match(first.body.toString(), 'elm 1')
  await answers()
  const [elms, other] = await answers()
  t.match(elms, 'elm 1')
  t.not(String(other), String(list))
  withdraw(versionsOf(portal), 'trees')
  await app.catalog.refresh()
  t.match((await ask(PAGE)).head, /^HTTP\/1.1 404 /)
  t.notMatch(String((await ask('/api/v2/catalog/datasets')).body), '"trees"')
})
