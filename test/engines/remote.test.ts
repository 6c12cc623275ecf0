import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { parseTriples } from '../../src/rdf/ntriples-reader.ts'
import { XSD } from '../../src/rdf/vocab.ts'
import { runFor } from '../../src/runtime/work-client.ts'
import { credentialsOf, type EngineSettings, findAddresses } from '../../src/store/remote/addresses.ts'
import { RemoteEngine } from '../../src/store/remote/engine.ts'
import { Authentication, Connections } from '../../src/store/remote/http.ts'
import { createRemoteStore } from '../../src/store/remote/remote.ts'
import { kindOfValue } from '../../src/store/remote/value-kinds.ts'
import { decodeAnswer, decodeTerm, encodeLines } from '../../src/store/remote/value-roundtrip.ts'
import { freePort } from '../support/serving.ts'
import { workClient } from '../support/work-client.ts'

/** What stores that are engines of others need no engine for; test/support/engines/ has what each of the engines is tested with. */
t.test('values that an engine would change are kept under datatypes of our own', t => {
  const long = `urn:${'x'.repeat(2000)}`
  const text = [
    `<urn:a> <urn:link> <${long}> .`,
    '<urn:a> <urn:plain> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    '<urn:a> <urn:big> "9007199254740993"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    '<urn:a> <urn:day> "2024-02-29"^^<http://www.w3.org/2001/XMLSchema#date> .',
    '<urn:a> <urn:day> "0987-01-01"^^<http://www.w3.org/2001/XMLSchema#date> .',
    '<urn:a> <urn:odd> "a\\nb"^^<urn:odd> .',
    '<urn:a> <urn:text> "plain" .',
    '',
  ].join('\n')
  const days = kindOfValue('0987-01-01', XSD.date)
  const forms = {
    changed: [kindOfValue('9007199254740993', XSD.integer), days, kindOfValue('x', 'urn:odd')],
    rounded: [],
    takesLongIris: false,
  }
  const encoded = encodeLines(Buffer.from(text), forms)
  t.same(
    [...encoded.toString().matchAll(/<urn:(\w+)> "[^"]*"\^\^<urn:lodestone:literal:/g)].map(
      ([, name]) => name,
    ),
    ['link', 'big', 'day', 'odd'],
    'and no others',
  )
  t.notMatch(encoded.toString(), `<${long}>`)
  t.same(encodeLines(encoded, forms), encoded, 'once')
  t.same(
    [...parseTriples(encoded.toString())].map(({ object }) => decodeTerm(object)),
    [...parseTriples(text)].map(({ object }) => object),
    'they come back',
  )
  t.throws(() => encodeLines(Buffer.from(`<${long}> <urn:p> "x" .\n`), forms), { code: 'LoadRefused' })
  const kept = { changed: [], rounded: [], takesLongIris: true }
  t.equal(encodeLines(Buffer.from(text), kept).toString(), text)
  t.end()
})

t.test('answers of an engine have the datatypes that were put in', t => {
  const mine = `urn:lodestone:literal:${XSD.date}`
  for (const [format, found, required] of [
    ['json', `{"type":"literal","datatype" : "${mine}"}`, `{"type":"literal","datatype" : "${XSD.date}"}`],
    ['json', `{"value":"\\"datatype\\":\\"${mine}"}`, `{"value":"\\"datatype\\":\\"${mine}"}`],
    ['xml', `<literal datatype='${mine}'>x</literal>`, `<literal datatype='${XSD.date}'>x</literal>`],
    ['xml', `<literal>datatype='${mine}'</literal>`, `<literal>datatype='${mine}'</literal>`],
    ['nt', `<a> <b> "x\\\\"^^<${mine}> .`, `<a> <b> "x\\\\"^^<${XSD.date}> .`],
    ['nt', `<a> <b> "\\"^^<${mine}>" .`, `<a> <b> "\\"^^<${mine}>" .`],
    ['tsv', `1\t"x"^^<${mine}>`, `1\t"x"^^<${XSD.date}>`],
    ['tsv', '"x"^^<urn:lodestone:literal:iri>', '"x"^^<urn:lodestone:literal:iri>'],
    ['csv', mine, mine],
  ] as const)
    t.equal(decodeAnswer(found, format), required, `${format}: ${found.slice(0, 40)}`)
  t.end()
})

/** A server whose answers are of the address and of the credentials; its own address. */
async function serveAnswers(
  t: Test,
  answer: (url: string, authorization: string | undefined) => [number, string, string],
) {
  const server = createHttpServer((request, response) => {
    const [status, type, text] = answer(request.url ?? '', request.headers.authorization)
    request.resume()
    response.writeHead(status, { 'content-type': type, server: 'Test/1' }).end(text)
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => server.close())
  return `127.0.0.1:${(server.address() as { readonly port: number }).port}`
}

const YES = '{"head":{},"boolean":true}'

async function find(settings: EngineSettings) {
  const connections = new Connections(4, credentialsOf(settings))
  return findAddresses(settings, connections).finally(() => connections.close())
}

await t.test('what is no engine is refused', async t => {
  const requested: string[] = []
  const connections = new Connections(4)
  t.teardown(() => connections.close())
  const page = await serveAnswers(t, url => {
    requested.push(url)
    return [200, 'text/html', '<html>a page</html>']
  })
  await t.rejects(findAddresses({ url: `http://${page}/` }, connections), { code: 'ConfigInvalid' }, 'a page')
  t.same(requested, ['/query', '/sparql', '/'], 'the usual places are tried')
  const port = await freePort()
  await t.rejects(
    findAddresses({ url: `http://127.0.0.1:${port}/` }, connections),
    { code: 'StoreUnavailable' },
    'nobody',
  )
  const cut = await serveAnswers(t, () => [200, 'application/json', '{"head":{},"boolean":true,'])
  await t.rejects(
    createRemoteStore({ settings: { url: `http://${cut}`, query: `http://${cut}/q` }, deadline: 500 }),
    { code: 'ConfigInvalid' },
    'an engine whose answers are none',
  )
})

await t.test('credentials are read from addresses and settings, and not told', async t => {
  const right = `Basic ${Buffer.from('ann:s3cret').toString('base64')}`
  const closed = await serveAnswers(t, (url, given) =>
    given === right && url === '/db/sparql'
      ? [200, 'application/json', YES]
      : given === right
        ? [404, 'text/plain', '']
        : [401, 'text/plain', ''],
  )
  const wrong = await find({ url: `http://ann:wr0ng@${closed}/db` }).catch(error => error)
  t.match(wrong, { code: 'ConfigInvalid' }, 'wrong credentials')
  t.notMatch(String(wrong.message), /wr0ng|ann/, 'which are not told')
  for (const settings of [
    { url: `http://ann:s3cret@${closed}/db` },
    { url: `http://ann:s3cret@${closed}/db/sparql` },
    { url: `http://${closed}/db`, user: 'ann', password: 's3cret' },
    {
      url: `http://${closed}`,
      query: `http://ann:s3cret@${closed}/db/sparql`,
      user: 'ann',
      password: 's3cret',
    },
  ]) {
    const found = await find(settings)
    t.equal(found.query.href, `http://${closed}/db/sparql`)
    t.match(found, { kind: 'other', data: null })
  }
})

await t.test('addresses of Fuseki and RDF4J are found', async t => {
  const fuseki = await serveAnswers(t, url =>
    url === '/ds/query' || url === '/ds' ? [200, 'application/json', YES] : [404, 'text/plain', ''],
  )
  for (const url of ['/ds', '/ds/', '/ds/query'])
    t.match((await find({ url: `http://${fuseki}${url}` })).query.href, `http://${fuseki}/ds/query`, url)
  const rdf4j = await serveAnswers(t, url =>
    url === '/rdf4j-server/repositories/portal' ? [200, 'application/json', YES] : [404, 'text/plain', ''],
  )
  const root = `http://${rdf4j}/rdf4j-server/repositories/portal`
  const found = await find({ url: `${root}/` })
  t.match(found, { kind: 'rdf4j', graphParameter: 'graph' })
  t.equal(found.query.href, root)
  t.equal(found.update.href, `${root}/statements`)
  t.equal(found.data?.href, `${root}/rdf-graphs/service`)
})

const DIGEST_USER = 'änn'
const DIGEST_PASSWORD = 's3:c"rét'

/** The parameters of a header of digest authentication. */
function parametersOf(authorization: string): ReadonlyMap<string | undefined, string | undefined> {
  return new Map(
    [...authorization.matchAll(/(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))/g)].map(
      ([, key, inQuotes, bare]) => [key, inQuotes?.replaceAll(/\\(.)/g, '$1') ?? bare] as const,
    ),
  )
}

/**
 * A server that lets in whoever knows the password, with a nonce three times; what it was sent as authorization.
 *
 * @param offered its header `www-authenticate`, with a nonce
 */
async function serveDigest(t: Test, offered: (nonce: string) => string, name = 'md5') {
  const hash = (...parts: readonly (string | undefined)[]) =>
    createHash(name).update(parts.join(':'), 'latin1').digest('hex')
  const bytes = (text: string) => Buffer.from(text).toString('latin1')
  const sent: string[] = []
  const nonces = new Map<string, number>()
  const server = createHttpServer((request, response) => {
    const { authorization = '', 'content-length': length } = request.headers
    const pairs = parametersOf(authorization)
    sent.push(authorization)
    request.resume()
    const [nonce = '', uri, count = ''] = ['nonce', 'uri', 'nc'].map(key => pairs.get(key))
    const uses = nonces.get(nonce) ?? 0
    const secret = hash(bytes(DIGEST_USER), 'the "realm"', bytes(DIGEST_PASSWORD))
    const what = hash(request.method, request.url)
    const tail = pairs.has('qop') ? [count, pairs.get('cnonce'), 'auth', what] : [what]
    const isRight =
      uri === request.url &&
      uses < 3 &&
      pairs.get('username') === bytes(DIGEST_USER) &&
      (count === '' || Number.parseInt(count, 16) === uses + 1) &&
      pairs.get('response') === hash(secret, nonce, ...tail)
    if (isRight) {
      nonces.set(nonce, uses + 1)
      response.end(length)
    } else {
      const given = `n${nonces.size + 1}`
      nonces.set(given, 0)
      response.writeHead(401, { 'www-authenticate': offered(given) }).end()
    }
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { readonly port: number }
  return { at: (path: string) => new URL(`http://127.0.0.1:${port}${path}`), sent }
}

/** Connections with a password, closed at the end of a test. */
function digestConnections(t: Test, password = DIGEST_PASSWORD): Connections {
  const connections = new Connections(4, { user: DIGEST_USER, password })
  t.teardown(() => connections.close())
  return connections
}

async function put(url: URL, connections: Connections) {
  const request = {
    method: 'PUT',
    url,
    headers: {},
    body: 'a body',
    deadline: 5000,
    maxLength: 1000,
  } as const
  const { status, text } = await connections.request(request)
  return [status, text]
}

await t.test('digest authentication: a nonce is used until it is over, the password is not sent', async t => {
  const realm = 'realm="the \\"realm\\""'
  for (const [offered, name] of [
    [
      nonce =>
        `Digest ${realm}, domain="/", nonce="${nonce}", opaque="o", stale="false", qop="auth", algorithm="MD5"`,
    ],
    [nonce => `Basic realm="x, Digest y", DIGEST nonce=${nonce},${realm} , algorithm=MD5`],
    [
      nonce =>
        `Digest ${realm}, nonce="no", algorithm=SHA-512-256, qop=auth, Digest ${realm}, nonce="${nonce}", qop="auth-int, auth", algorithm=SHA-256`,
      'sha256',
    ],
  ] as readonly (readonly [(nonce: string) => string, string?])[]) {
    const { at, sent } = await serveDigest(t, offered, name)
    const connections = digestConnections(t)
    for (let each = 0; each < 7; each++)
      t.same(await put(at('/a?b=c%20d'), connections), [200, '6'], `${offered('n')}: ${each}`)
    t.equal(sent.length, 7 + 3, 'a nonce is used until it is over')
    t.equal(sent[0], '', 'the first request says nothing')
    t.notMatch(sent.join(), /s3|Basic/, 'the password is not sent')
    sent.length = 0
    t.same(await put(at('/a'), digestConnections(t, 'wr0ng')), [401, ''])
    t.equal(sent.length, 2, 'a wrong password is not tried again')
  }
})

await t.test('digest authentication: what is required stays, and nothing less is taken', async t => {
  const authentication = new Authentication({ user: 'ann', password: 's3cret' })
  const url = new URL('http://engine.example/sparql-auth')
  const required = 'Digest realm="x", nonce="y", qop="auth"'
  const header = () => authentication.headerOf('GET', url)
  for (const status of [404, 503]) t.equal(authentication.update(url, header(), status), false)
  t.equal(header(), null, 'an engine that is not ready has not said what it wants')
  t.equal(authentication.update(url, null, 401, required), true)
  t.equal(authentication.update(url, header(), 200), false)
  for (const described of [undefined, 'Basic realm="x"']) {
    t.equal(authentication.update(url, header(), 401, described), false)
    t.match(header(), /^Digest /, 'nobody gets the password by asking for less')
  }
  const { at } = await serveDigest(t, () => 'Digest realm="x", nonce="y", qop="auth-int"')
  t.same(await put(at('/'), digestConnections(t)), [401, ''], 'what it wants is not known')
})

await t.test('an engine is shared fairly between clients, and not asked for who hung up', async t => {
  const asked: string[] = []
  let release: () => void = () => undefined
  const free = new Promise<void>(resolve => {
    release = resolve
  })
  const server = createHttpServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    asked.push(new URLSearchParams(body).get('query') ?? '')
    await free
    response.writeHead(200, { 'content-type': 'application/sparql-results+json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const query = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const engine = new RemoteEngine({
    addresses: { kind: 'other', version: '', query, update: query, data: null, graphParameter: 'graph' },
    connections: new Connections(4),
    concurrency: 2,
    deadline: 10_000,
    queue: 10,
  })
  t.teardown(() => {
    engine.close()
    server.close()
  })
  const deadlines: number[] = []
  const ask = (id: string, used: number, text: string, signal?: AbortSignal) => {
    const deadline = (milliseconds: number) => deadlines.push(milliseconds) && milliseconds
    const client = workClient({ id, usage: () => used, deadline })
    return runFor({ client }, () => engine.query({ text, format: 'json', deadline: 10_000, signal }, true))
  }
  const many = Array.from({ length: 26 }, (_, at) => ask('many', 5000, `many ${at}`))
  await t.rejects(ask('many', 5000, 'more'), { code: 'StoreBusy' }, 'nobody fills the queue alone')
  const control = new AbortController()
  const gone = t.rejects(ask('gone', 0, 'gone', control.signal), { name: 'AbortError' })
  const few = ask('few', 0, 'few')
  control.abort()
  release()
  await Promise.all([...many, gone, few])
  t.same(asked.slice(0, 3), ['many 0', 'few', 'many 1'], 'who used less is next')
  t.equal(asked.length, 27)
  t.ok(deadlines.length > 27, 'deadlines are those of the clients')
})

await t.test('the connection of a query whose client hangs up is closed', async t => {
  let asked: () => void = () => undefined
  const arrived = new Promise<void>(resolve => {
    asked = resolve
  })
  let closed: () => void = () => undefined
  const left = new Promise<void>(resolve => {
    closed = resolve
  })
  const server = createHttpServer((_, response) => {
    response.once('close', closed)
    asked()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const addresses = {
    kind: 'other',
    version: '',
    query: url,
    update: url,
    data: null,
    graphParameter: 'graph',
  } as const
  const engine = new RemoteEngine({
    addresses,
    connections: new Connections(4),
    concurrency: 2,
    deadline: 10_000,
    queue: 10,
  })
  t.teardown(() => {
    engine.close()
    server.closeAllConnections()
    server.close()
  })
  const control = new AbortController()
  const { signal } = control
  const answer = engine.query({ text: 'slow', format: 'json', deadline: 10_000, signal }, true)
  const refused = t.rejects(answer, { name: 'AbortError' })
  await arrived
  control.abort()
  await Promise.all([refused, left])
})
