import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { buildApp } from '../../src/app/app.ts'
import { diagnoseStore } from '../../src/cli/doctor/store.ts'
import { loadConfig } from '../../src/config/load.ts'
import { Releases } from '../../src/publishing/registry/releases.ts'
import { SharedRegistry } from '../../src/publishing/registry/shared-registry.ts'
import { currentManifest, type Manifest, versionsOf } from '../../src/publishing/versions/versions.ts'
import { graphIri } from '../../src/rdf/iris.ts'
import { parseTriples } from '../../src/rdf/ntriples-reader.ts'
import { XSD } from '../../src/rdf/vocab.ts'
import { iri, literal } from '../../src/sparql/build.ts'
import { credentialsOf, type EngineSettings, findAddresses } from '../../src/store/remote/addresses.ts'
import { Authentication } from '../../src/store/remote/authentication.ts'
import { decodeAnswer, decodeTerm, encodeLines } from '../../src/store/remote/forms.ts'
import { Connections } from '../../src/store/remote/http.ts'
import {
  countOf,
  createRemoteStore,
  type FileSource,
  type SharedStore,
} from '../../src/store/remote/remote.ts'
import { kindOfValue } from '../../src/store/remote/value-kinds.ts'
import { QueryError } from '../../src/store/store.ts'
// @ts-expect-error: a script of the tests without types
import { runSql, startEngine as start } from '../peers/engines/engines.mjs'
// @ts-expect-error: as above
import { whyMissing } from '../peers/engines/places.mjs'
import { textOf } from '../support/ask.ts'
import { lines, storeContract, type TextGraph } from '../support/store-contract.ts'
import { publishInto } from '../support/stores.ts'

/**
 * Stores that are engines of others, each started here: the contract of a store, the registry that instances share, what
 * becomes of both when processes die, and random queries against a plain evaluator.
 */
interface Started {
  readonly query: string
  readonly sqlPort?: number
  readonly stop: () => Promise<void>
  readonly kill: () => Promise<void>
}

const ENGINES = (process.env.ENGINES ?? 'oxigraph,fuseki,virtuoso,rdf4j').split(',')
const base = 'http://portal.example'

/** Records of a graph whose columns have several parts. */
const RECORDS = 20_000

const MAPPING = `prefixes: { schema: http://schema.org/ }
mappings:
  thing:
    subject: portal:mapped/thing/$(size)
    predicateobjects:
      - [schema:name, $(name)]
`

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

await t.test('what answers at an address', async t => {
  const requested: string[] = []
  const serve = async (
    answer: (url: string, authorization: string | undefined) => [number, string, string],
  ) => {
    const server = createHttpServer((request, response) => {
      requested.push(request.url ?? '')
      const [status, type, text] = answer(request.url ?? '', request.headers.authorization)
      request.resume()
      response.writeHead(status, { 'content-type': type, server: 'Test/1' }).end(text)
    }).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    t.teardown(() => server.close())
    return `127.0.0.1:${(server.address() as { readonly port: number }).port}`
  }
  const yes = '{"head":{},"boolean":true}'
  const connections = new Connections(4)
  t.teardown(() => connections.close())
  const page = await serve(() => [200, 'text/html', '<html>a page</html>'])
  await t.rejects(findAddresses({ url: `http://${page}/` }, connections), { code: 'ConfigInvalid' }, 'a page')
  t.same(requested, ['/query', '/sparql', '/'], 'the usual places are tried')
  const port = await freePort()
  await t.rejects(
    findAddresses({ url: `http://127.0.0.1:${port}/` }, connections),
    { code: 'StoreUnavailable' },
    'nobody',
  )
  const find = async (settings: EngineSettings) => {
    const connections = new Connections(4, credentialsOf(settings))
    return findAddresses(settings, connections).finally(() => connections.close())
  }
  const right = `Basic ${Buffer.from('ann:s3cret').toString('base64')}`
  const closed = await serve((url, given) =>
    given === right && url === '/db/sparql'
      ? [200, 'application/json', yes]
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
  const fuseki = await serve(url =>
    url === '/ds/query' || url === '/ds' ? [200, 'application/json', yes] : [404, 'text/plain', ''],
  )
  for (const url of ['/ds', '/ds/', '/ds/query'])
    t.match((await find({ url: `http://${fuseki}${url}` })).query.href, `http://${fuseki}/ds/query`, url)
  const rdf4j = await serve(url =>
    url === '/rdf4j-server/repositories/portal' ? [200, 'application/json', yes] : [404, 'text/plain', ''],
  )
  const root = `http://${rdf4j}/rdf4j-server/repositories/portal`
  const found = await find({ url: `${root}/` })
  t.match(found, { kind: 'rdf4j', graphParameter: 'graph' })
  t.equal(found.query.href, root)
  t.equal(found.update.href, `${root}/statements`)
  t.equal(found.data?.href, `${root}/rdf-graphs/service`)
  const cut = await serve(() => [200, 'application/json', '{"head":{},"boolean":true,'])
  await t.rejects(
    createRemoteStore({ settings: { url: `http://${cut}`, query: `http://${cut}/q` }, deadline: 500 }),
    { code: 'ConfigInvalid' },
    'an engine whose answers are none',
  )
})

await t.test('digest authentication', async t => {
  const hash = (name: string, ...parts: readonly (string | undefined)[]) =>
    createHash(name).update(parts.join(':'), 'latin1').digest('hex')
  const bytes = (text: string) => Buffer.from(text).toString('latin1')
  const sent: string[] = []
  const nonces = new Map<string, number>()
  let given = 0
  /** Lets in whoever knows the password, with a nonce three times. */
  const serve = async (offered: (nonce: string) => string, name = 'md5') => {
    const server = createHttpServer((request, response) => {
      const { authorization = '', 'content-length': length } = request.headers
      const pairs = new Map(
        [...authorization.matchAll(/(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))/g)].map(
          ([, key, inQuotes, bare]) => [key, inQuotes?.replaceAll(/\\(.)/g, '$1') ?? bare] as const,
        ),
      )
      sent.push(authorization)
      request.resume()
      const [nonce = '', uri, count = ''] = ['nonce', 'uri', 'nc'].map(key => pairs.get(key))
      const uses = nonces.get(nonce) ?? 0
      const [secret, what] = [
        hash(name, bytes('änn'), 'the "realm"', bytes('s3:c"rét')),
        hash(name, request.method, request.url),
      ]
      const tail = pairs.has('qop') ? [count, pairs.get('cnonce'), 'auth', what] : [what]
      const isRight =
        uri === request.url &&
        uses < 3 &&
        pairs.get('username') === bytes('änn') &&
        (count === '' || Number.parseInt(count, 16) === uses + 1) &&
        pairs.get('response') === hash(name, secret, nonce, ...tail)
      if (isRight) {
        nonces.set(nonce, uses + 1)
        response.end(length)
      } else {
        given += 1
        nonces.set(`n${given}`, 0)
        response.writeHead(401, { 'www-authenticate': offered(`n${given}`) }).end()
      }
    }).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    t.teardown(() => server.close())
    return (path: string) =>
      new URL(`http://127.0.0.1:${(server.address() as { readonly port: number }).port}${path}`)
  }
  const ask = async (url: URL, connections: Connections) => {
    const request = {
      method: 'PUT',
      url,
      headers: {},
      body: 'a body',
      deadline: 5000,
      longest: 1000,
    } as const
    const { status, text } = await connections.request(request)
    return [status, text]
  }
  const open = (password = 's3:c"rét') => {
    const connections = new Connections(4, { user: 'änn', password })
    t.teardown(() => connections.close())
    return connections
  }
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
    const at = await serve(offered, name)
    const connections = open()
    sent.length = 0
    for (let each = 0; each < 7; each++)
      t.same(await ask(at('/a?b=c%20d'), connections), [200, '6'], `${offered('n')}: ${each}`)
    t.equal(sent.length, 7 + 3, 'a nonce is used until it is over')
    t.equal(sent[0], '', 'the first request says nothing')
    t.notMatch(sent.join(), /s3|Basic/, 'the password is not sent')
    sent.length = 0
    t.same(await ask(at('/a'), open('wr0ng')), [401, ''])
    t.equal(sent.length, 2, 'a wrong password is not tried again')
  }
  const authentication = new Authentication({ user: 'ann', password: 's3cret' })
  const url = new URL('http://engine.example/sparql-auth')
  const required = 'Digest realm="x", nonce="y", qop="auth"'
  const header = () => authentication.headerOf('GET', url)
  for (const status of [404, 503]) t.equal(authentication.learn(url, header(), status), false)
  t.equal(header(), null, 'an engine that is not ready has not said what it wants')
  t.equal(authentication.learn(url, null, 401, required), true)
  t.equal(authentication.learn(url, header(), 200), false)
  for (const described of [undefined, 'Basic realm="x"']) {
    t.equal(authentication.learn(url, header(), 401, described), false)
    t.match(header(), /^Digest /, 'nobody gets the password by asking for less')
  }
  const at = await serve(() => 'Digest realm="x", nonce="y", qop="auth-int"')
  t.same(await ask(at('/'), open()), [401, ''], 'what it wants is not known')
})

for (const name of ENGINES) {
  const missing = whyMissing(name) as string | null
  await t.test(name, missing === null ? {} : { skip: missing }, async t => {
    // Not a folder of the test itself: it goes when the engine that writes into it has ended.
    const folder = mkdtempSync(path.join(tmpdir(), `lodestone-${name}-`))
    mkdirSync(path.join(folder, 'files'))
    const place = { folder: path.join(folder, 'engine'), port: await freePort() }
    let engine = (await start(name, place)) as Started
    t.teardown(async () => {
      await engine.stop()
      rmSync(folder, { recursive: true, force: true })
    })
    const url = engine.query
    const files = path.join(folder, 'files')
    const open = async (t: Test, deadline = 20_000) => {
      const store = await createRemoteStore({ settings: { url }, deadline, workers: 1 })
      t.teardown(() => store.close())
      return store
    }
    const first = await open(t)
    t.comment(`${first.engine.version} changes ${first.forms.changed.join(', ') || 'nothing'}`)
    t.equal(first.engine.kind, name)
    for (const [value, datatype] of [
      ['1', XSD.integer],
      ['0.1', XSD.double],
      ['true', XSD.boolean],
      ['2024-02-29', XSD.date],
      ['2024-02-29T12:00:00Z', XSD.dateTime],
    ] as const)
      t.notOk(first.forms.changed.includes(kindOfValue(value, datatype)), `it computes with ${datatype}`)
    await storeContract(t, name, async (t, graphs) => {
      const store = await open(t)
      await store.dropShared(graphs.map(({ graph }) => graph))
      for (const graph of graphs) await travel(store, fileOf(files, graph))
      return store
    })
    await t.test('what an engine has of values', async t => values(t, await open(t), files))
    await t.test('columns that the engine has lost', async t => columnsAgain(t, await open(t), files))
    await t.test('queries of strangers see their dataset alone', async t => {
      await untrusted(t, await open(t), files)
    })
    if (name === 'virtuoso') await t.test('who may write', t => writers(t, url, engine, files))
    await t.test('releases', t => releases(t, url))
    await t.test('random queries', t => randomQueries(t, url))
    await t.test('the engine dies and comes back', async t => {
      const store = await open(t, 3000)
      const graph = 'urn:test:kept'
      await store.dropShared([graph])
      await travel(store, fileOf(files, { graph, text: lines(100, 'kept') }))
      const count = () => store.read(countOf(graph)).then(([row]) => Number(row?.count?.value))
      t.equal(await count(), 100)
      await engine.kill()
      t.match(await count().catch(error => error), { code: 'StoreUnavailable', status: 503 }, 'a clear fault')
      t.equal(await store.count(graph, {}), 100, 'columns answer meanwhile')
      engine = (await start(name, place)) as Started
      t.equal(await count(), 100, 'what was loaded is there, and the same store goes on')
    })
  })
}

/** An engine that lets only one user write, who says by digest who he is. */
async function writers(t: Test, url: string, { sqlPort }: Started, folder: string) {
  const grant = `GRANT SPARQL_UPDATE TO`
  await runSql(sqlPort, `DB.DBA.USER_CREATE('lodestone', 's3:c"ret');`)
  await runSql(sqlPort, `${grant} "lodestone";`)
  await runSql(sqlPort, `DB.DBA.RDF_DEFAULT_USER_PERMS_SET ('lodestone', 7);`)
  await runSql(sqlPort, `REVOKE SPARQL_UPDATE FROM "SPARQL";`)
  t.teardown(() => runSql(sqlPort, `${grant} "SPARQL";`))
  const graph = 'urn:test:written'
  const source = fileOf(folder, { graph, text: lines(100, 'written') })
  for (const [settings, described] of [
    [{ url, user: 'lodestone', password: 's3:c"ret' }, null],
    [{ url: `${url}-auth`, user: 'lodestone', password: 's3:c"ret' }, null],
    [{ url }, /LoadRefused.* with \d+: store_user/],
    [{ url, user: 'lodestone', password: 'wr0ng' }, /ConfigInvalid.*store_user/],
  ] as const) {
    const work = async () => {
      const store = await createRemoteStore({ settings })
      try {
        await travel(store, source)
        t.equal(await store.count(graph, {}), 100)
        await store.dropShared([graph])
        const [row] = await store.read(countOf(graph))
        t.equal(row?.count?.value, '0')
        return null
      } finally {
        await store.close()
      }
    }
    const error = await work().catch(error => `${error.code}: ${error.message}`)
    if (described === null) t.equal(error, null)
    else t.match(error, described)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as { readonly port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

function fileOf(folder: string, { graph, text }: TextGraph): FileSource {
  const file = path.join(folder, graph.replaceAll(/[^a-z0-9]/gi, '-'))
  writeFileSync(`${file}.nt.gz`, gzipSync(text))
  const columns = `${file}.columns`
  rmSync(columns, { force: true })
  const triples = new Set(text.trimEnd().split('\n')).size
  return { graph, path: `${file}.nt.gz`, columns, triples, bytes: text.length, isSearched: false }
}

/** A graph goes into an engine, and its columns come from there, as on an instance that has no files. */
async function travel(store: SharedStore, source: FileSource): Promise<void> {
  await store.upload(source, {})
  const fetched = { ...source, path: null, columns: `${source.columns}.fetched` }
  await store.fetch({ ...fetched, stored: null })
  t.same(readFileSync(fetched.columns), readFileSync(source.columns), 'the same bytes')
  await store.load([fetched])
}

/** Values that engines treat differently come back exactly, and are what they are for SPARQL. */
async function values(t: Test, store: SharedStore, folder: string): Promise<void> {
  const graph = 'urn:test:values'
  const typed = (value: string, type: string) => `"${value}"^^<http://www.w3.org/2001/XMLSchema#${type}>`
  const objects = [
    ...['"Zürich"', '"𝄞"', '"\uffee"', '"a\u0085"', '""', `"${'é'.repeat(5000)}"`],
    ...['1', '-5', '2147483648', '9007199254740993'].map(value => typed(value, 'integer')),
    ...['0.1', '0.30000000000000004', '123456789.125', '100000', '0.0000001'].map(each =>
      typed(each, 'double'),
    ),
    ...['2024-02-29', '0001-01-01', '-0044-03-15'].map(value => typed(value, 'date')),
    ...['2024-02-29T23:59:59.999Z', '1582-10-10T00:00:00Z'].map(value => typed(value, 'dateTime')),
    '"POINT(2.352222123456789 48.85)"^^<http://www.opengis.net/ont/geosparql#wktLiteral>',
    '"chat"@fr',
    `<urn:${'y'.repeat(2500)}>`,
  ]
  const text = objects.map((object, at) => `<urn:s:${at}> <urn:p:${at % 3}> ${object} .\n`).join('')
  await store.dropShared([graph])
  const source = fileOf(folder, { graph, text })
  await store.upload(source, {})
  const query = 'SELECT ?o { ?s ?p ?o }'
  const found = await textOf(
    await store.query({
      parsed: null,
      base: 'http://portal.example/',
      format: 'json',
      defaultGraphs: [graph],
      namedGraphs: [],
      engineText: () => query,
    }),
  )
  t.notMatch(
    found.replaceAll('urn:lodestone:literal:iri', ''),
    /urn:lodestone:literal/,
    'a stranger sees no datatype of ours',
  )
  t.match(found, /2147483648/)
  // Made of what the engine has: the same triples, whatever forms it has for values.
  await store.dropShared([`${graph}:none`])
  const rebuilt = { ...source, path: null, columns: `${source.columns}.rebuilt` }
  await store.change([{ type: 'drop', graph: `${graph}:columns` }])
  await store.fetch({ ...rebuilt, stored: objects.length })
  await store.load([rebuilt])
  const { triples } = await store.match(graph, {}, { offset: 0, limit: 1000 })
  t.same(triples.split('\n').sort(), text.split('\n').sort())
}

/** Columns that are missing in the engine, or not as they were: they are made of the triples, and restored by who has the files. */
async function columnsAgain(t: Test, store: SharedStore, folder: string): Promise<void> {
  const graph = 'urn:test:lost'
  const text = lines(RECORDS, 'lost')
  await store.dropShared([graph])
  const source = fileOf(folder, { graph, text })
  await store.upload(source, {})
  t.ok((await store.withColumns()).has(graph))
  const part = { subject: iri(`${graph}:columns:0`), predicate: iri('urn:lodestone:columns#part') }
  const required = text.trimEnd().split('\n').sort()
  const fetched = async (name: string) => {
    const columns = `${source.columns}.${name}`
    await store.fetch({ graph, columns, isSearched: false, stored: RECORDS })
    await store.load([{ ...source, path: null, columns }])
    const lines = await store.lines(graph, 0, RECORDS)
    await store.drop([graph])
    return lines.trimEnd().split('\n').sort()
  }
  // One more part than there was.
  await store.change([
    { type: 'insert', graph: `${graph}:columns`, triples: [{ ...part, object: literal('000 AAAA') }] },
  ])
  t.same(await fetched('damaged'), required, 'damaged')
  t.notOk((await store.withColumns()).has(graph), 'what is damaged is dropped')
  t.same(await fetched('missing'), required, 'missing')
  await store.sendColumns(source)
  t.ok((await store.withColumns()).has(graph), 'put there again')
  await store.fetch({ ...source, columns: `${source.columns}.again`, stored: null })
  t.same(readFileSync(`${source.columns}.again`), readFileSync(source.columns))
  const refused = { graph, columns: `${source.columns}.none`, isSearched: false, stored: RECORDS + 1 }
  await store.dropShared([graph])
  await t.rejects(store.fetch(refused), { code: 'LoadRefused' }, 'triples are missing as well')
  t.notOk(existsSync(refused.columns))
}

async function untrusted(t: Test, store: SharedStore, folder: string): Promise<void> {
  const [open, secret] = ['urn:test:open', 'urn:test:secret']
  await store.dropShared([open, secret])
  await travel(store, fileOf(folder, { graph: open, text: '<urn:a> <urn:p> "open" .\n' }))
  await travel(store, fileOf(folder, { graph: secret, text: '<urn:a> <urn:p> "secret" .\n' }))
  const ask = async (text: string, defaultGraphs: readonly string[], namedGraphs: readonly string[] = []) =>
    textOf(
      await store.query({
        parsed: null,
        base: 'http://portal.example/',
        format: 'json',
        defaultGraphs,
        namedGraphs: namedGraphs.map(graph => [graph, graph] as const),
        engineText: () => text,
      }),
    )
  const values = (text: string) => [...text.matchAll(/"(open|secret)"/g)].map(([, word]) => word)
  t.same(values(await ask('SELECT ?o { ?s ?p ?o }', [open])), ['open'])
  t.same(values(await ask('SELECT ?o { GRAPH ?g { ?s ?p ?o } }', [open])), [], 'no named graph')
  t.same(values(await ask('SELECT ?o { GRAPH ?g { ?s ?p ?o } }', [], [open])), ['open'])
  t.same(
    values(await ask(`SELECT ?o { GRAPH <${secret}> { ?s ?p ?o } }`, [open], [open])),
    [],
    'not by its name',
  )
  t.same(values(await ask('SELECT ?o { ?s ?p ?o }', [])), [], 'no graph at all')
  t.same(values(await ask('SELECT ?o { <urn:a> !<urn:z> ?o }', [open])), ['open'], 'no path leads there')
  t.same(
    values(await ask('SELECT ?p { ?s ?p ?o FILTER EXISTS { GRAPH ?g { ?s ?p "secret" } } }', [open], [open])),
    [],
    'nothing is known of it',
  )
  t.same(values(await ask('SELECT ?o { GRAPH ?g { ?s ?p ?o } }', [])), [], 'no named graph of none')
  await t.rejects(ask('SELECT ?o {\n ?s ?p }', [open]), QueryError, 'a mistake is told')
  if (store.engine.kind === 'virtuoso')
    for (const [prologue, call] of [
      ['', '<bif:upper>("x")'],
      ['', '< sql:rnd>(9)'],
      ['', '<\\u0062if:upper>("x")'],
      ['PREFIX b: <bif:>', 'b:upper("x")'],
      ['PREFIX b: <B>', 'b:if:upper("x")'],
      ['PREFIX b: <>', 'b:bif:upper("x")'],
      ['BASE <bif:> PREFIX b: <x>', 'b:upper("x")'],
    ] as const)
      await t.rejects(
        ask(`${prologue} SELECT (${call} AS ?o) { ?s ?p ?x }`, [open]),
        { code: 'BadRequest', message: /functions of the engine/ },
        `${prologue} ${call}`,
      )
}

/** Two instances with folders of their own, and a clock that is moved by hand. */
async function releases(t: Test, url: string): Promise<void> {
  const made = (rows: number, word: string) =>
    `name,size\n${Array.from({ length: rows }, (_, at) => `${word} ${at},${at}`).join('\n')}\n`
  const portal = t.testdir({
    'portal.yaml': '',
    data: { things: { 'things.csv': made(500, 'first'), 'dataset.yaml': 'source: { path: things.csv }' } },
    mappings: { 'things.yml': MAPPING },
  })
  const settings = {
    portal,
    base,
    workers: 1,
    memory: 500_000_000,
    deadline: 20,
    store: { url, concurrency: 4 },
  }
  const config = { ...settings, log: 'silent' } as unknown as Parameters<typeof publishInto>[0]
  const versions = versionsOf(portal)
  // The clock of the instances; what publishes here has that of the machine.
  let ahead = 0
  const now = () => Date.now() + ahead
  const instance = async () => {
    const store = await createRemoteStore({ settings: { url }, deadline: 20_000, workers: 1 })
    t.teardown(() => store.close())
    const folder = path.join(portal, 'var', 'columns')
    return { store, registry: new SharedRegistry({ store, base, versions, folder, now }) }
  }
  const graphsIn = async (store: SharedStore, manifest: Manifest) => {
    const graph = graphIri('things', manifest.version, 'facts')
    const [row] = await store.read(countOf(graph))
    return Number(row?.count?.value)
  }
  const [one, two] = [await instance(), await instance()]
  t.same([...(await one.registry.current())], [], 'nothing at first')

  await publishInto(config)
  const first = currentManifest(versions, 'things')
  if (first === null) throw new Error('no version')
  t.same([...(await one.registry.current())], [['things', first.version]], 'released')
  t.same((await two.registry.inForce('things'))?.statistics.records, 500, 'known to another instance whole')
  t.equal(await one.registry.release(versions, first), 'unchanged', 'once')

  writeFileSync(path.join(portal, 'data/things/things.csv'), made(700, 'second'))
  await publishInto(config)
  const second = currentManifest(versions, 'things')
  if (second === null) throw new Error('no second version')
  t.equal((await two.registry.current()).get('things'), second.version, 'replaced in one step')
  t.equal(await graphsIn(one.store, first), 1000, 'the old graphs stay for answers under way')
  t.same(await one.registry.sweep(), [], 'for a while')
  ahead += 100_000
  t.same(await one.registry.sweep(), [`things ${first.version}`])
  t.equal(await graphsIn(one.store, first), 0, 'and go')
  t.same(await two.registry.sweep(), [], 'once')
  t.equal(await graphsIn(one.store, second), 1400)

  await t.test('an instance that did not hear of a new version gives no wrong answer', async t => {
    const held = await instance()
    t.ok(await held.registry.manifest('things', second.version), 'it serves the second')
    writeFileSync(path.join(portal, 'data/things/things.csv'), made(300, 'third'))
    await publishInto(config)
    ahead += 1000
    await held.registry.current()
    ahead += 100_000
    await one.registry.sweep()
    ahead += 100_000
    await one.registry.sweep()
    const facts = graphIri('things', second.version, 'facts')
    const requested = held.store.query({
      parsed: null,
      base: 'http://portal.example/',
      format: 'json',
      defaultGraphs: [facts],
      namedGraphs: [],
      engineText: () => 'SELECT * { ?s ?p ?o } LIMIT 1',
    })
    await t.rejects(requested, { code: 'StoreUnavailable' })
  })

  await t.test('a load that is cut off shows nothing, is gone on with, or is cleaned away', async t => {
    writeFileSync(path.join(portal, 'data/things/things.csv'), made(900, 'fourth'))
    const before = (await one.registry.current()).get('things')
    const dying = await instance()
    const upload = dying.store.upload.bind(dying.store)
    let uploads = 0
    dying.store.upload = async (source, options) => {
      uploads += 1
      if (uploads === 2) throw new Error('killed')
      return upload(source, options)
    }
    const { publishAll } = await import('../../src/publishing/publisher.ts')
    const described: string[] = []
    const publish = (shared: SharedRegistry) =>
      publishAll({ portal, base, now: () => new Date(), shared }, null, message =>
        described.push(message.type),
      )
    await publish(dying.registry)
    t.ok(described.includes('failed'), 'the publication failed')
    t.equal((await one.registry.current()).get('things'), before, 'what was in force stays')
    const fourth = currentManifest(versions, 'things')
    if (fourth === null) return
    t.ok((await graphsIn(one.store, fourth)) > 0, 'a part is there')
    const state = await new Releases(one.store, base).state()
    t.match(state.versions.find(({ version }) => version === fourth.version)?.loaded.size, 1, 'and known')

    const next = await instance()
    const again: string[] = []
    const uploadNext = next.store.upload.bind(next.store)
    next.store.upload = (source, options) => {
      again.push(source.graph)
      return uploadNext(source, options)
    }
    await publish(next.registry)
    t.equal(again.length, 1, 'only what is missing is loaded')
    t.equal((await one.registry.current()).get('things'), fourth.version, 'and in force')
    t.equal(await graphsIn(one.store, fourth), 1800)

    const orphan = { ...fourth, version: `${fourth.version.split('-')[0]}-000000000000` }
    await new Releases(one.store, base).insert(
      new Releases(one.store, base).graphsOf('things', orphan.version, ['urn:lodestone:graph:orphan']),
    )
    ahead += 1000
    await one.registry.sweep()
    ahead += 100_000
    t.ok(
      (await one.registry.sweep()).includes(`things ${orphan.version}`),
      'what nobody goes on with is dropped',
    )
  })

  await t.test('an instance without any file serves what others published', async t => {
    const empty = t.testdir({ 'portal.yaml': '', data: {} })
    const app = await buildApp({
      ...loadConfig({ portal: empty, base }, { LODESTONE_STORE: url }),
      log: 'silent',
    })
    t.teardown(() => app.close())
    await app.catalog.refresh()
    const early = await app.http.inject('/api/explore/v2.1/catalog/datasets/things/records?limit=1')
    t.match([early.statusCode, early.headers['retry-after']], [503, /^\d+$/], 'its columns are coming')
    t.equal(early.json().error_code, 'NotPublishedYet')
    const other = await app.http.inject('/api/explore/v2.1/catalog/datasets/other/records')
    t.equal(other.statusCode, 404, 'only this dataset')
    t.equal((await app.http.inject('/api/explore/v2.1/catalog/datasets')).statusCode, 200)
    while (!(await app.catalog.refresh())) await sleep(50)
    const response = await app.http.inject(
      '/api/explore/v2.1/catalog/datasets/things/records?limit=1&order_by=size%20desc',
    )
    t.match(response.json(), { total_count: 900, results: [{ size: 899 }] })
    const turtle = await app.http.inject('/api/explore/v2.1/catalog/datasets/things/exports/turtle')
    t.equal(turtle.statusCode, 200)
    t.match(turtle.body, /fourth 899/)
    const { shared } = app
    t.equal(await shared?.registry.withdraw('things', 'open'), true, 'withdrawn')
    await app.catalog.refresh()
    const gone = await app.http.inject('/api/explore/v2.1/catalog/datasets/things/records')
    t.equal(gone.statusCode, 404)
    t.equal(app.catalog.isGone('things'), true)
  })
  const findings = await diagnoseStore({
    ...loadConfig({ portal, base }, { LODESTONE_STORE: url }),
    workers: 1,
  })
  t.same(
    findings.filter(({ status }) => status === 'problem'),
    [],
    'doctor asks the engine',
  )
  t.match(findings.map(({ message }) => message).join('\n'), /answered in \d+ ms\n.*(?:changes|gives|writes)/)
}

/** The differential tests of both languages, against this engine. */
async function randomQueries(t: Test, url: string): Promise<void> {
  for (const [file, queries] of [
    ['differential.test.ts', process.env.RANDOM_ODSQL ?? '80'],
    ['odata-differential.test.ts', process.env.RANDOM_ODATA ?? '50'],
  ] as const) {
    const child = spawn(process.execPath, ['--import=tsx', path.join(import.meta.dirname, '../long', file)], {
      env: { ...process.env, LODESTONE_TEST_STORE: url, QUERIES: queries, TAP: '1', TAP_TIMEOUT: '900' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    child.stdout.on('data', (piece: Buffer) => {
      text += piece.toString()
    })
    const code = await new Promise(resolve => child.once('close', resolve))
    t.equal(code, 0, `${file}, ${queries} queries`)
    if (code !== 0) t.comment(text.slice(-6000))
  }
}
