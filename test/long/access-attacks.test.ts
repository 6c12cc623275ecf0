import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import path from 'node:path'
import t from 'tap'
import { graphsOf } from '../../src/catalog/served.ts'
import { cookieScope, setCookie } from '../../src/http/session-cookie.ts'
import {
  ask,
  basic,
  byHeader,
  byKey,
  byToken,
  HIDDEN,
  HIDDEN_DATASET,
  keepLog,
  makePeople,
  OPEN,
  PASSWORD,
  portalFiles,
  type Shown,
  serveLogged,
  textOf,
  WORD,
} from '../support/access.ts'
import { temporaryFolder } from '../support/folder.ts'
import { BASE, publishPortal } from '../support/portal.ts'

/** Ways to come at what one may not see, or to a secret of somebody else. */
const portal = temporaryFolder(t, portalFiles())
const log = path.join(portal, 'log.txt')
writeFileSync(log, '')
await publishPortal(portal)
const { accounts, secrets } = await makePeople(portal)
t.teardown(() => accounts.close())
keepLog(t, log)
const app = await serveLogged(t, portal)
await app.http.listen({ port: 0, host: '127.0.0.1' })
const address = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`

const UNTRUSTED: Readonly<Record<string, Shown>> = { anonymous: {}, 'without grant': byKey(secrets.noneKey) }
const GRANTED = byKey(secrets.someKey)
const SPARQL = ['/api/sparql', `/api/sparql/${OPEN}`]
const entry = app.catalog.entries().find(({ dataset }) => dataset.id === HIDDEN)
const internal = entry === undefined ? [] : graphsOf(entry)
/** All names by which anybody may try to name the restricted dataset as a graph. */
const GRAPHS = [
  ...internal,
  `${BASE}/ld/resources/${HIDDEN}`,
  `${BASE}/ld/data/${HIDDEN}`,
  `urn:lodestone:graph:${HIDDEN}:1:facts`,
  'urn:lodestone:nowhere',
]

const queriesOf = (graph: string): readonly string[] => {
  const at = graph.lastIndexOf(':') + 1
  const [start, end] = [graph.slice(0, at), graph.slice(at)]
  const escaped = [...graph]
    .map(letter => `\\u00${letter.charCodeAt(0).toString(16).padStart(2, '0')}`)
    .join('')
  return [
    `SELECT * { GRAPH <${graph}> { ?s ?p ?o } }`,
    `SELECT * { gRaPh#x\n<${graph}> { ?s ?p ?o } }`,
    `PREFIX g: <${start}> SELECT * { GRAPH g:${end.replaceAll('/', '\\/')} { ?s ?p ?o } }`,
    `BASE <${start}> SELECT * { GRAPH <${end}> { ?s ?p ?o } }`,
    `SELECT * { GRAPH <${escaped}> { ?s ?p ?o } }`,
    `SELECT * FROM <${graph}> { ?s ?p ?o }`,
    `SELECT * FROM <${escaped}> { ?s ?p ?o }`,
    `SELECT * FROM NAMED <${graph}> { GRAPH ?g { ?s ?p ?o } }`,
    `SELECT * FROM#x\nNAMED <${graph}> { GRAPH ?g { ?s ?p ?o } }`,
    `SELECT * { VALUES ?g { <${graph}> } GRAPH ?g { ?s ?p ?o } }`,
    `SELECT * { BIND(<${graph}> AS ?g) GRAPH ?g { ?s ?p ?o } }`,
    `SELECT * { GRAPH ?g { ?s ?p ?o } FILTER(?g = <${graph}>) }`,
    `SELECT * { { SELECT * { GRAPH <${graph}> { ?s ?p ?o } } } }`,
    `SELECT * { ?x ?y ?z FILTER EXISTS { GRAPH <${graph}> { ?s ?p ?o } } GRAPH <${graph}> { ?s ?p ?o } }`,
    `SELECT * { ?x ?y ?z OPTIONAL { GRAPH <${graph}> { ?s ?p ?o } } }`,
    `SELECT * { ?x ?y ?z LATERAL { GRAPH <${graph}> { ?s ?p ?o } } }`,
    `CONSTRUCT { ?s ?p ?o } WHERE { GRAPH <${graph}> { ?s ?p ?o } }`,
    `CONSTRUCT WHERE { GRAPH <${graph}> { ?s ?p ?o } }`,
    `DESCRIBE <${graph}>`,
    `DESCRIBE ?s { GRAPH <${graph}> { ?s ?p ?o } }`,
    `DESCRIBE ?s FROM <${graph}> { ?s ?p ?o }`,
    `ASK { GRAPH <${graph}> { ?s ?p ?o } }`,
    `SELECT * { SERVICE <${graph}> { ?s ?p ?o } }`,
    `INSERT { ?s ?p ?o } WHERE { GRAPH <${graph}> { ?s ?p ?o } }`,
    `COPY <${graph}> TO DEFAULT`,
  ]
}
const LOOKING = [
  'SELECT * { ?s ?p ?o }',
  'SELECT * { GRAPH ?g { ?s ?p ?o } }',
  'SELECT DISTINCT ?g { GRAPH ?g { } }',
  `DESCRIBE <${BASE}/ld/resources/${HIDDEN}/thing/1>`,
  `SELECT * { <${BASE}/ld/resources/${HIDDEN}/thing/1> ?p ?o }`,
  `SELECT * { <${BASE}/ld/resources/${OPEN}/thing/1> (<x:>|!<x:>)* ?o }`,
]

/** What is left of a text without the words that were sent. */
const described = (text: string): string => text.replaceAll(/zyzzyvocab\.example/g, '')

t.test('no query reaches the graphs of what one may not see', async t => {
  t.ok(internal.length >= 2, 'the names in the store are known')
  const queries = [...GRAPHS.flatMap(queriesOf), ...LOOKING]
  const leaks: string[] = []
  const found = { words: 0 }
  const check = async (who: string, url: string, shown: Shown, payload?: readonly [string, string]) => {
    const headers = { accept: 'application/sparql-results+json, text/turtle;q=0.5', ...shown.headers }
    const answer = await app.http.inject(
      payload === undefined
        ? { url, headers }
        : { method: 'POST', url, headers: { ...headers, 'content-type': payload[0] }, payload: payload[1] },
    )
    const text = described(textOf(answer))
    if (who !== 'granted' && (text.includes(WORD) || answer.statusCode >= 500))
      leaks.push(`${who} ${url} ${payload?.[1] ?? ''}: ${answer.statusCode} ${answer.body.slice(0, 200)}`)
    // ASK tells with one word.
    if (who !== 'granted' && answer.body.includes('true') && /ASK/.test(decodeURIComponent(url)))
      leaks.push(`${who} ${url}: ${answer.body}`)
    if (text.includes(WORD)) found.words++
  }
  const everyWay = async (who: string, shown: Shown, places: readonly string[]) => {
    for (const place of places) {
      for (const query of queries) {
        await check(who, `${place}?query=${encodeURIComponent(query)}`, shown)
        await check(who, place, shown, ['application/sparql-query', query])
      }
      for (const graph of GRAPHS) {
        const named = encodeURIComponent(graph)
        for (const query of LOOKING.slice(0, 2)) {
          const requested = `query=${encodeURIComponent(query)}`
          for (const parameter of ['default-graph-uri', 'named-graph-uri']) {
            await check(who, `${place}?${requested}&${parameter}=${named}`, shown)
            const form = `${requested}&${parameter}=${named}`
            await check(who, place, shown, ['application/x-www-form-urlencoded', form])
          }
        }
        await check(who, `${place}?graph=${named}`, shown)
        if (place !== '/api/sparql') await check(who, `${place}/data?graph=${named}`, shown)
      }
    }
  }
  for (const [who, shown] of Object.entries(UNTRUSTED)) await everyWay(who, shown, SPARQL)
  t.same(leaks, [])
  t.equal(found.words, 0)
  await everyWay('granted', GRANTED, ['/api/sparql'])
  t.ok(found.words > 20, `who was granted it finds it ${found.words} times`)
})

t.test('a portal where everything is restricted tells nothing of it', async t => {
  const { mappings, ...files } = portalFiles()
  const folder = temporaryFolder(t, { ...files, mappings, data: { [HIDDEN]: files.data[HIDDEN] } })
  await publishPortal(folder)
  const lonely = await serveLogged(t, folder)
  for (const query of [...LOOKING, 'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }']) {
    const answer = await ask(lonely, `/api/sparql?query=${encodeURIComponent(query)}`)
    t.equal(answer.statusCode, 200, query)
    t.notMatch(
      textOf(answer).replaceAll(`/ld/resources/${HIDDEN}`, ''),
      new RegExp(`${WORD}|${HIDDEN}`),
      query,
    )
  }
  for (const url of [
    '/api/v2/catalog/datasets',
    '/api/v2/catalog/facets',
    '/api/v2/catalog/exports/rdf',
    '/api/explore/v2.1/catalog/exports/csv',
    '/api/explore/v2.1/swagger.json',
    '/api/odata/$metadata',
    '/api/odata',
    '/api/tpf',
    '/api/sparql?default',
    '/.well-known/void',
    '/readyz',
  ]) {
    const answer = await ask(lonely, url)
    t.equal(answer.statusCode, 200, url)
    t.notMatch(textOf(answer), new RegExp(`${WORD}|${HIDDEN}`), url)
  }
})

const LISTS = [
  '/api/v2/catalog/datasets',
  '/api/explore/v2.0/catalog/facets',
  '/api/explore/v2.1/catalog/datasets?limit=20',
  '/api/explore/v2.1/swagger.json',
  '/api/v2/catalog/aggregates?select=keyword,count(*)&group_by=keyword',
  '/api/odata/$metadata',
  '/api/odata',
  '/api/tpf',
  '/.well-known/void',
  '/api/sparql',
  '/api/sparql?default',
  `/api/sparql?query=${encodeURIComponent('SELECT * { ?s ?p ?o }')}`,
  `/ld/data/${OPEN}/thing/1`,
]
const HIDDEN_PAGES = [
  `/api/v2/catalog/datasets/${HIDDEN}`,
  `/api/explore/v2.1/catalog/datasets/${HIDDEN}/records`,
  `/api/explore/v2.1/catalog/datasets/${HIDDEN}/exports/csv`,
  `/api/explore/v2.1/catalog/datasets/${HIDDEN}/attachments/zyzzyfile_txt`,
  `/api/explore/v2.1/catalog/datasets/${HIDDEN}/swagger.json`,
  `/api/odata/${HIDDEN}`,
  `/api/tpf/${HIDDEN}`,
  `/api/void/${HIDDEN}`,
  `/api/sparql/${HIDDEN}?default`,
  `/ld/data/${HIDDEN}/thing/1`,
]

t.test('what one knows of an answer opens nothing to another', async t => {
  for (const url of [...LISTS, ...HIDDEN_PAGES]) {
    const { headers, statusCode } = await ask(app, url, GRANTED)
    t.equal(statusCode, 200, url)
    const tag = String(headers.etag)
    t.match(tag, /^(?:W\/)?"/, `${url} has a tag`)
    const again = await ask(app, url, GRANTED, { headers: { 'if-none-match': tag } })
    t.equal(again.statusCode, 304, `${url} again`)
    t.match(again.headers['cache-control'], /private/, `${url} again is private`)
    const same = await ask(app, url, byToken(secrets.someToken))
    t.equal(same.headers.etag, headers.etag, `${url} is the same for equal grants`)
    for (const [who, shown] of Object.entries(UNTRUSTED))
      for (const known of [
        { 'if-none-match': tag },
        { 'if-none-match': '*' },
        { 'if-modified-since': String(new Date()) },
      ]) {
        const answer = await ask(app, url, shown, { headers: known })
        const name = `${url} ${who} ${Object.keys(known)} ${Object.values(known)[0]}`
        if (HIDDEN_PAGES.includes(url)) t.equal(answer.statusCode, who === 'anonymous' ? 401 : 403, name)
        else if (known['if-none-match'] === tag) t.equal(answer.statusCode, 200, name)
        t.notOk(described(textOf(answer)).includes(WORD) && !url.includes(WORD), name)
      }
  }
})

/** Asks over the network, where answers are given again before they come to a route. */
async function fetched(url: string, shown: Shown = {}, method = 'GET') {
  const response = await fetch(address + url, {
    method,
    redirect: 'manual',
    headers: { 'accept-encoding': 'identity', ...(shown.headers as Record<string, string> | undefined) },
  })
  const text = `${JSON.stringify([...response.headers])}\n${await response.text()}`.toLowerCase()
  return { status: response.status, text, caching: response.headers.get('cache-control') ?? '' }
}

t.test('who asks first leaves nothing behind for who asks next', async t => {
  const session = setCookie('session', secrets.someSession, { scope: cookieScope(BASE) }).replace(/;.*/, '')
  const people: Readonly<Record<string, Shown>> = {
    ...UNTRUSTED,
    granted: GRANTED,
    session: { headers: { cookie: session } },
  }
  const orders = [
    ['granted', 'anonymous', 'without grant', 'anonymous', 'session', 'anonymous', 'granted'],
    ['anonymous', 'anonymous', 'granted', 'anonymous', 'session', 'anonymous', 'without grant', 'granted'],
  ]
  for (const [index, order] of orders.entries())
    for (const plain of [...LISTS, ...HIDDEN_PAGES]) {
      // Every order has addresses of its own, which nobody asked for before.
      const url = `${plain}${plain.includes('?') ? '&' : '?'}x=${index}`
      for (const who of order) {
        const isGranted = who === 'granted' || who === 'session'
        const isList = LISTS.includes(plain)
        const { status, text, caching } = await fetched(url, people[who])
        const name = `${who} of ${order} at ${url}`
        t.equal(status, isGranted || isList ? 200 : who === 'anonymous' ? 401 : 403, name)
        if (!isGranted) t.notOk(described(text).includes(WORD) && !plain.includes(WORD), name)
        else if (!/\/odata$|sparql$/.test(plain) && !/attachments/.test(plain))
          t.ok(text.includes(WORD), name)
        if (who !== 'anonymous') t.match(caching, /private/, name)
        const head = await fetched(url, people[who], 'HEAD')
        t.equal(head.status, status, `HEAD ${name}`)
        if (!isGranted) t.notOk(described(head.text).includes(WORD) && !plain.includes(WORD), `HEAD ${name}`)
      }
    }
})

t.test('grants and credentials count from the next request on', async t => {
  const url = `/api/explore/v2.1/catalog/datasets/${HIDDEN}/records`
  const list = '/api/explore/v2.1/catalog/datasets?select=count(*)%20as%20n'
  await accounts.users.add('changing', PASSWORD)
  const { key } = await accounts.keys.create('changing', 'one')
  const status = async () => (await ask(app, url, byKey(key))).statusCode
  const listed = async () => (await ask(app, list, byKey(key))).json().results?.[0]?.n
  const steps: readonly (readonly [string, () => unknown, number, number | undefined])[] = [
    ['no grant', () => null, 403, 1],
    ['granted', () => accounts.users.grant('changing', HIDDEN), 200, 2],
    ['taken back', () => accounts.users.revoke('changing', HIDDEN), 403, 1],
    ['granted something else', () => accounts.users.grant('changing', 'nothing'), 403, 1],
    ['granted all', () => accounts.users.grant('changing', '*'), 200, 2],
    ['key revoked', () => accounts.keys.revoke(key), 401, undefined],
  ]
  for (const [name, change, expected, count] of steps) {
    change()
    t.equal(await status(), expected, name)
    t.equal(await listed(), count, `${name}: datasets`)
  }
})

t.test('two credentials are refused, wherever they stand', async t => {
  const both = [
    { ...GRANTED, query: `apikey=${secrets.someKey}` },
    { ...GRANTED, query: `access_token=${secrets.someToken}` },
    { query: `apikey=${secrets.someKey}&access_token=${secrets.someToken}` },
    { query: `apikey=${secrets.someKey}&apikey=${secrets.allKey}` },
    { query: `apikey=${secrets.someKey}`, form: `access_token=${secrets.someToken}` },
    { ...GRANTED, form: `access_token=${secrets.someToken}` },
  ]
  for (const shown of both)
    for (const url of ['/api/v2/catalog/datasets', '/api/odata', `/ld/data/${OPEN}`])
      t.equal(
        (await ask(app, url, shown)).statusCode,
        400,
        `${JSON.stringify(shown).replaceAll(/[A-Za-z0-9]{30,}/g, '…')} ${url}`,
      )
})

/** Asks for a target as it stands, which clients would put in order. */
function raw(port: number, target: string, lines: readonly string[] = []): Promise<string> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    const socket = connect(port, '127.0.0.1')
    socket.on('data', piece => pieces.push(piece)).once('error', reject)
    socket.once('end', () => {
      resolve(Buffer.concat(pieces).toString('utf8'))
      socket.end()
    })
    socket.write([`GET ${target} HTTP/1.1`, 'Host: a', 'Connection: close', ...lines, '', ''].join('\r\n'))
  })
}

const portOf = ({ http }: typeof app) => (http.server.address() as AddressInfo).port

t.test('no spelling of an address goes around who asks, or around what is counted', async t => {
  const closed = await serveLogged(t, portal, { access: 'private' })
  await closed.http.listen({ port: 0, host: '127.0.0.1' })
  const list = 'api/v2/catalog/datasets'
  const hidden = `api/v2/catalog/datasets/${HIDDEN}`
  const spellings = (place: string) => [
    `/${place}`,
    `/${place}/`,
    `//${place}`,
    `/%61${place.slice(1)}`,
    `/%2561${place.slice(1)}`,
    `/./${place}`,
    `/healthz/../${place}`,
    `/healthz%2f..%2f${place}`,
    `/healthz/%2e%2e/${place}`,
    `/account/../${place}`,
    `/oauth2/%2e%2e/${place}`,
    `/.well-known/oauth-authorization-server/../../${place}`,
    `/${place}?/healthz`,
    `/${place}#/healthz`,
    `/${place};/healthz`,
    `http://portal.example/${place}`,
    `http://healthz/${place}`,
    `http://x/healthz/../${place}`,
    `HTTP://x/${place}`,
    `/${place.toUpperCase()}`,
    `/healthz?url=/${place}`,
    place,
  ]
  for (const place of [list, hidden])
    for (const target of spellings(place)) {
      const answer = await raw(portOf(closed), target)
      const isHealth = target.startsWith('/healthz?')
      const status = Number(answer.slice(9, 12))
      t.ok(isHealth ? status === 200 : status >= 400, `private ${target}: ${status}`)
      t.notMatch(answer.toLowerCase(), new RegExp(`${WORD}|open things`), `private ${target}`)
      const known = await raw(portOf(app), target)
      t.notMatch(known.toLowerCase(), new RegExp(WORD), `public ${target}`)
      if (known.startsWith('HTTP/1.1 200') && !isHealth)
        t.match(known.toLowerCase(), /\r\nx-ratelimit-remaining: /, `${target} counts`)
    }
  t.match(await raw(portOf(closed), `/${hidden}`, [`Authorization: Apikey ${secrets.someKey}`]), /Zyzzytitle/)
})

t.test('no long text of a stranger holds the server up', async t => {
  const [blanks, zeros, letters] = [' ', '0', 'a'].map(letter => letter.repeat(60_000))
  const records = `/api/v2/catalog/datasets/${OPEN}/records`
  const construct = (object: string) => `CONSTRUCT { <x:s> ${object} } {}`
  const cases: readonly [name: string, url: string, status: number, shown?: Shown, query?: string][] = [
    ['Authorization', records, 401, byHeader(`Apikey a${blanks}a`)],
    ['sort', `${records}?sort=${'+'.repeat(60_000)}x`, 400],
    ['values', `/api/tpf/${OPEN}?object=%3Fo&values=${encodeURIComponent(`(?o) {(${zeros}x)}`)}`, 400],
    ['a property in RDF/XML', '/api/sparql', 422, {}, construct(`<http://x.example/${letters}/> 1`)],
    ['a class in RDF/XML', '/api/sparql', 200, {}, construct(`a <http://x.example/${letters}/>`)],
  ]
  for (const [name, url, status, shown, payload] of cases) {
    const begun = performance.now()
    const headers = { ...shown?.headers, accept: 'application/rdf+xml, application/json;q=0.9, */*;q=0.1' }
    const { statusCode } = await app.http.inject(
      payload === undefined
        ? { url, headers }
        : {
            method: 'POST',
            url,
            headers: { ...headers, 'content-type': 'application/sparql-query' },
            payload,
          },
    )
    t.equal(statusCode, status, name)
    t.ok(performance.now() - begun < 3000, `${name}: ${Math.round(performance.now() - begun)} ms`)
  }
})

t.test('nothing is suggested that one may not see', async t => {
  const v2 = '/api/v2/catalog'
  const v21 = '/api/explore/v2.1/catalog'
  const near: readonly (readonly [string, string])[] = [
    [`${v2}/datasets?where=zyzzytemplate.zyzzymet%3D1`, 'zyzzymeta'],
    [`${v21}/datasets?order_by=zyzzytemplate.zyzzymeat`, 'zyzzymeta'],
    [`${v21}/datasets?select=zyzzymeat`, 'zyzzymeta'],
    [`${v21}/datasets?group_by=zyzzytemplate.zyzzymeat`, 'zyzzymeta'],
    [`${v2}/facets?facet=zyzzymeat`, 'zyzzymeta'],
    [`${v2}/datasets?refine=zyzzymeat:1`, 'zyzzymeta'],
    [`${v2}/datasets?where=suggest(%22zyzzytitl%22)`, 'zyzzytitle'],
    [`${v2}/datasets/xki`, HIDDEN],
    [`${v2}/datasets/xkidd`, `${HIDDEN}"`],
    ['/api/odata/xki', HIDDEN],
    ['/api/tpf/xki', HIDDEN],
    ['/api/sparql/xki', HIDDEN],
    ['/api/void/xki', HIDDEN],
    ['/ld/data/xki', HIDDEN],
    [`/api/odata/${OPEN}?$filter=zyzzyfiel%20eq%201`, 'zyzzyfield'],
    [`${v21}/datasets/${OPEN}/records?where=zyzzyfiel%3D1`, 'zyzzyfield'],
    [`${v21}/datasets/${OPEN}/attachments/zyzzyfile_tx`, 'zyzzyfile_txt'],
    [`/api/void/${OPEN}/queries/zyzzyquer`, 'zyzzyquery'],
    ['/api/v2/monitoring/datasets/ods-api-monitorin', 'ods-api-monitoring'],
    ['/api/v2/network/datasets/xki', HIDDEN],
  ]
  for (const [url, word] of near)
    for (const [who, shown] of Object.entries(UNTRUSTED)) {
      const answer = await ask(app, url, shown)
      t.ok(answer.statusCode < 500, `${who} ${url}: ${answer.statusCode}`)
      t.notOk(textOf(answer).includes(word), `${who} ${url}`)
    }
  // What is unknown to a stranger is a field for who may see it.
  for (const clause of [
    'where=zyzzytemplate.zyzzymeta%3D%22x%22',
    'order_by=zyzzytemplate.zyzzymeta',
    'facet=zyzzytemplate.zyzzymeta',
  ]) {
    const url = clause.startsWith('facet') ? `${v2}/facets?${clause}` : `${v2}/datasets?${clause}`
    t.equal((await ask(app, url, GRANTED)).statusCode, 200, url)
    for (const [who, shown] of Object.entries(UNTRUSTED)) {
      const { body, statusCode } = await ask(app, url, shown)
      const other = await ask(app, url.replaceAll('zyzzytemplate.zyzzymeta', 'nowhere.nothing'), shown)
      t.equal(statusCode, 400, `${who} ${url}`)
      t.equal(
        body.replaceAll('zyzzytemplate.zyzzymeta', 'nowhere.nothing'),
        other.body,
        `${who} ${url} is like any other`,
      )
    }
  }
})

t.test('a dataset that becomes restricted is gone at once', async t => {
  const file = path.join(portal, 'data', HIDDEN, 'dataset.yaml')
  const monitored = '/api/v2/monitoring/datasets/ods-datasets-monitoring/exports/json'
  const places = [
    '/api/explore/v2.1/catalog/datasets',
    '/api/tpf',
    '/.well-known/void',
    '/api/odata',
    monitored,
    '/api/v2/network/datasets',
  ]
  const become = async (visibility: string) => {
    writeFileSync(file, HIDDEN_DATASET.replace('visibility: restricted', `visibility: ${visibility}`))
    await publishPortal(portal)
    await app.catalog.refresh()
  }
  const names = async (url: string) =>
    (await fetched(url)).text.includes(WORD) || (await fetched(url)).text.includes(`"${HIDDEN}"`)
  await become('public')
  for (const url of places) t.equal(await names(url), true, `${url} has what is public`)
  t.equal((await fetched(`/api/tpf/${HIDDEN}`)).status, 200)
  await become('restricted')
  for (const url of places) t.equal(await names(url), false, `${url} has it no more`)
  t.equal((await fetched(`/api/tpf/${HIDDEN}`)).status, 401)
})

t.test('no secret is told in an answer, a link, a log or a file', async t => {
  const { someKey, someToken, revokedKey, expiredToken, monitorKey } = secrets
  const addresses = [
    `/api/v2/catalog/datasets?apikey=${someKey}&limit=1`,
    `/api/explore/v2.1/catalog/datasets/${OPEN}/records?apikey=${someKey}&limit=1&include_links=true`,
    `/api/explore/v2.0/catalog/datasets/${OPEN}/records?ApiKey=${someKey}&limit=1`,
    `/api/explore/v2.1/catalog/datasets/${OPEN}/records?access_token=${someToken}&limit=1&include_links=true`,
    `/api/v2/catalog/datasets?apikey=${someKey}&limit=wrong`,
    `/api/v2/catalog/datasets?apikey=${someKey}&where=%FF`,
    `/api/v2/catalog/datasets?apikey=${someKey}%ZZ`,
    `/api/v2/%ZZ?apikey=${someKey}`,
    `/api/odata/%ZZ?apikey=${someKey}`,
    `/nowhere?apikey=${someKey}`,
    `/api/v2/catalog/datasets/${OPEN}/records?apikey=${revokedKey}`,
    `/api/v2/catalog/datasets/${OPEN}/records?access_token=${expiredToken}`,
    `/api/odata/${OPEN}?apikey=${someKey}&$top=1`,
    `/api/odata/${OPEN}?access_token=${someToken}`,
    `/api/odata/${OPEN}?apikey=${someKey}&$filter=wrong`,
    `/api/tpf/${OPEN}?apikey=${someKey}`,
    `/api/tpf/${HIDDEN}?access_token=${someToken}`,
    `/api/tpf?apikey=${someKey}`,
    `/api/sparql?apikey=${someKey}`,
    `/api/sparql/${OPEN}?apikey=${someKey}&query=SELECT`,
    `/api/sparql/${OPEN}?apikey=${someKey}&query=ASK%7B%7D`,
    `/api/void/${OPEN}?apikey=${someKey}`,
    `/ld/resources/${OPEN}/thing/1?apikey=${someKey}`,
    `/ld/resources/${OPEN}/thing/1?access_token=${someToken}`,
    `/ld/data/${OPEN}/thing/1?apikey=${someKey}&inverse=1`,
    `/ld/data/${OPEN}/thing/1?apikey=${someKey}&inverse=wrong`,
    `/api/v2/console?apikey=${someKey}`,
    `/api/v2/swagger.json?apikey=${someKey}`,
  ]
  const all = Object.values(secrets).concat(PASSWORD)
  const seen = (text: string) => all.filter(secret => text.toLowerCase().includes(secret.toLowerCase()))
  for (const url of addresses)
    for (const accept of ['*/*', 'text/html', 'application/trig, text/turtle;q=0.9, */*;q=0.1']) {
      const { text, caching } = await fetched(url, {
        headers: { accept, referer: `${BASE}/?apikey=${someKey}` },
      })
      const name = `${url.replaceAll(/[A-Za-z0-9_-]{30,}/g, '…')} ${accept}`
      // Fragments and pages of OData lead on with what led to them, and nobody keeps them.
      const isCarried = url.startsWith('/api/tpf')
      t.same(isCarried ? [] : seen(text), [], name)
      if (isCarried) t.match(caching, /private/, name)
    }
  for (const header of [
    `Apikey ${revokedKey}`,
    `Bearer ${expiredToken}`,
    basic('some', PASSWORD),
    `Digest ${someKey}`,
    someKey,
  ])
    t.same(
      seen((await fetched('/api/v2/catalog/datasets', byHeader(header))).text),
      [],
      String(header.split(' ')[0]).slice(0, 6),
    )
  const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } } as const
  for (const body of [
    `access_token=${someToken}&other=1`,
    `access_token=${expiredToken}`,
    `apikey=${someKey}`,
    `x=${someKey}`,
  ]) {
    const answer = await fetch(`${address}/api/v2/catalog/datasets`, { ...form, body })
    t.same(seen(await answer.text()), [], 'a form')
  }
  const calls = '/api/v2/monitoring/datasets/ods-api-monitoring/exports/json'
  await new Promise(resolve => setTimeout(resolve, 100))
  const answer = await ask(app, calls, byKey(monitorKey))
  t.equal(answer.statusCode, 200)
  t.ok(answer.json().length > 100, `${answer.json().length} calls`)
  t.same(seen(answer.body), [], 'the calls')
  app.http.log.warn('a line')
  t.ok(statSync(log).size > 0, 'there is a log')
  t.same(seen(readFileSync(log, 'utf8')), [], 'the log')
  await app.close()
  for (const file of readdirSync(path.join(portal, 'var'), { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue
    t.same(seen(readFileSync(path.join(file.parentPath, file.name), 'latin1')), [], file.name)
  }
})
