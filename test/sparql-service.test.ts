import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { inlineParsed, inlineText, placeholder } from '../src/api/sparql/rewrite.ts'
import { RDF, XSD } from '../src/rdf/vocab.ts'
import { parseQuery } from '../src/sparql/parse.ts'
import { HIDDEN, makePeople, serveLogged } from './support/access.ts'
import { temporaryFolder } from './support/folder.ts'
import { BASE, publishPortal } from './support/portal.ts'

/** SERVICE: datasets of the same portal within the process, allowed endpoints elsewhere, limits, and SILENT. */
const PREFIX = '@prefix : <http://example.org/> .\n'
const COUNTRIES = `${PREFIX}:fr :name "France" . :de :name "Deutschland" .`
const CITIES = `${PREFIX}:paris :in :fr ; :people 2 . :lyon :in :fr ; :people 1 . :bonn :in :de .`
const GRAPHS = `${PREFIX}:fr :note "all" . :g1 { :fr :note "one" } :g2 { :de :note "two" }`
const CLAIMS = `${PREFIX}:claim :says <<( :fr :name "France" )>> .`
const SECRET = `${PREFIX}:fr :secret "zyzzy" .`

/** What an endpoint elsewhere answers, by the path of its address. */
const ANSWERS: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {
  '/sparql': (_, response) =>
    response.end(
      JSON.stringify({
        head: { vars: ['c', 'label'] },
        results: {
          bindings: [
            {
              c: { type: 'uri', value: 'http://example.org/fr' },
              label: { type: 'literal', value: 'Frankreich', 'xml:lang': 'DE' },
            },
            {
              c: { type: 'bnode', value: 'b 0' },
              label: { type: 'literal', value: '5', datatype: 'http://www.w3.org/2001/XMLSchema#integer' },
            },
            { label: { type: 'literal', value: 'say "hi"\n\\' } },
          ],
        },
      }),
    ),
  '/triples': (_, response) => response.end(results(tripleOf(tripleOf({ type: 'literal', value: 'x' })))),
  '/nested': (_, response) =>
    response.end(
      results(Array.from({ length: 101 }).reduce<object>(tripleOf, { type: 'literal', value: 'x' })),
    ),
  '/many': (_, response) =>
    response.end(
      JSON.stringify({
        head: { vars: ['c'] },
        results: { bindings: Array.from({ length: 60 }, () => ({ c: { type: 'literal', value: 'x' } })) },
      }),
    ),
  '/large': (_, response) => response.end(JSON.stringify({ head: { vars: [] }, more: 'x'.repeat(50_000) })),
  '/slow': () => undefined,
  '/html': (_, response) => response.end('<html>'),
  '/wrong': (_, response) =>
    response.end('{"head":{"vars":["c"]},"results":{"bindings":[{"c":{"type":"uri","value":"no iri"}}]}}'),
  '/injected': (_, response) => response.end('{"head":{"vars":["c } ?x"]},"results":{"bindings":[]}}'),
  '/error': (_, response) => response.writeHead(500).end(),
  '/part': ({ headers: { host } }, response) =>
    response
      .setHeader('content-type', 'application/sparql-results+json')
      .end(part('one', `,\n"continuation":{"cursor":"1","next":"http://${host}/part?cursor=1"}`)),
  '/part?cursor=1': ({ method }, response) =>
    response
      .setHeader('content-type', 'application/sparql-results+json')
      .end(part(method === 'GET' ? 'two' : 'wrong', '')),
  '/wide': (_, response) => {
    const vars = Array.from({ length: 300 }, (_, number) => `v${number}`)
    const bindings = vars.slice(0, 10).map(() => ({}))
    response
      .setHeader('content-type', 'application/sparql-results+json')
      .end(JSON.stringify({ head: { vars }, results: { bindings } }))
  },
  '/endless': (_, response) => sendEndlessly(response, '{"head":{"vars":["c"]},'),
  '/endless-row': (_, response) =>
    sendEndlessly(response, '{"head":{"vars":["c"]},\n"results":{"bindings":[\n'),
  '/moved': (_, response) => response.writeHead(302, { location: '/sparql' }).end(),
}

/** Sends blanks without a line end until the client leaves. */
function sendEndlessly(response: ServerResponse, beginning: string): void {
  response.setHeader('content-type', 'application/sparql-results+json').write(beginning)
  const timer = setInterval(() => response.write(' '.repeat(1000)), 1)
  response.on('close', () => clearInterval(timer))
}

/** A triple term in results. */
function tripleOf(object: object): object {
  const part = (name: string) => ({ type: 'uri', value: `http://example.org/${name}` })
  return { type: 'triple', value: { subject: part('fr'), predicate: part('name'), object } }
}

function results(c: object): string {
  return JSON.stringify({ head: { vars: ['c'] }, results: { bindings: [{ c }] } })
}

/** One row of an answer, as an endpoint of another Lodestone writes it. */
function part(value: string, rest: string): string {
  return `{"head":{"vars":["label"]},\n"results":{"bindings":[\n{"label":{"type":"literal","value":"${value}"}}\n]}${rest}}\n`
}

async function elsewhere(t: Test) {
  const requested: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', piece => {
      body += String(piece)
    })
    request.on('end', () => {
      requested.push(`${request.headers.authorization ?? ''}${new URLSearchParams(body).get('query')}`)
      const answer = Object.entries(ANSWERS).find(([path]) => path === request.url)?.[1]
      if (answer === undefined) response.writeHead(404).end()
      else answer(request, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: requested }
}

async function portal(t: Test) {
  const { address, asked: requested } = await elsewhere(t)
  const dataset = (file: string, text: string, more = '') => ({
    [file]: text,
    'dataset.yaml': `source: { path: ${file} }\n${more}`,
  })
  const folder = temporaryFolder(t, {
    'portal.yaml': 'title: Test\n',
    data: {
      countries: dataset('a.ttl', COUNTRIES),
      cities: dataset('b.ttl', CITIES),
      graphs: dataset('c.trig', GRAPHS),
      claims: dataset('e.ttl', CLAIMS),
      [HIDDEN]: dataset('d.ttl', SECRET, 'visibility: restricted\n'),
    },
  })
  await publishPortal(folder)
  const { accounts, secrets } = await makePeople(folder)
  t.teardown(() => accounts.close())
  const allowed = Object.keys(ANSWERS).map(path => address + path)
  const services = { allowed, limits: { time: 700, rows: 50, bytes: 20_000 } }
  const { http } = await serveLogged(t, folder, { log: 'silent', services })
  const get = (query: string, path = '', key?: string) =>
    http.inject({
      url: `/api/sparql${path}?query=${encodeURIComponent(`PREFIX : <http://example.org/> ${query}`)}`,
      headers: { accept: 'text/csv', ...(key === undefined ? {} : { authorization: `Apikey ${key}` }) },
    })
  const csv = async (query: string, path = '', key?: string) => {
    const { statusCode, body } = await get(query, path, key)
    t.equal(statusCode, 200, `${query} ${body}`)
    return body.trim().replaceAll('http://example.org/', ':').split('\r\n').slice(1).sort().join(' ')
  }
  return { address, asked: requested, get, csv, secrets, http }
}

const own = (id: string) => `<${BASE}/api/sparql/${id}>`

t.test('solutions stand in a query the same way for columns and for engines', async t => {
  const literal = {
    type: 'literal',
    value: 'say "hi"\n\\ $&',
    datatype: RDF.langString,
    language: 'de',
  } as const
  const solutions = {
    variables: ['a', 'b'],
    rows: [
      [{ type: 'iri', value: 'http://example.org/a' } as const, literal],
      [null, { ...literal, datatype: XSD.string, language: '' }],
    ],
  }
  const inline = new Map([['urn:marker', solutions]])
  const text = `SELECT * { ?a ?p ?o ${placeholder('urn:marker', solutions)} }`
  t.same(inlineParsed(parseQuery(text), inline), parseQuery(inlineText(text, inline)))
  const parses = (...given: Parameters<typeof placeholder>) =>
    parseQuery(`SELECT * { ?x ?y ?z ${placeholder(...given)} }`).query.type
  for (const rows of [[], [[]], [[], [], []]]) t.equal(parses('urn:m', { variables: [], rows }), 'select')
  t.equal(parses('urn:m', { variables: ['a'], rows: [] }), 'select')
  t.equal(parses('urn:m', { variables: ['a', 'b'], rows: [] }, true), 'select')
})

const { address, asked: requested, get, csv, secrets, http } = await portal(t)

/** Queries with SERVICE, and the rows of their answers. */
const SERVICE_QUERIES: readonly (readonly [path: string, query: string, expected: string])[] = [
  [
    '/countries',
    `SELECT ?n ?c { ?x :name ?n SERVICE ${own('cities')} { ?c :in ?x } }`,
    'Deutschland,:bonn France,:lyon France,:paris',
  ],
  [
    '/countries',
    `SELECT * { SERVICE ${own('cities')} { ?c :in ?x } ?x :name "France" }`,
    ':lyon,:fr :paris,:fr',
  ],
  [
    '/countries',
    `SELECT ?n (COUNT(?c) AS ?k) { ?x :name ?n OPTIONAL { SERVICE ${own('cities')} { ?c :in ?x ; :people ?p FILTER(?p > 1) } } } GROUP BY ?n`,
    'Deutschland,0 France,1',
  ],
  [
    '/countries',
    `SELECT ?c { SERVICE ${own('cities')} { { SELECT ?c { ?c :people ?p } ORDER BY DESC(?p) LIMIT 1 } } }`,
    ':paris',
  ],
  [
    '/countries',
    `SELECT ?n { ?x :name ?n FILTER NOT EXISTS { SERVICE ${own('cities')} { ?c :in ?x ; :people ?p } } }`,
    'Deutschland',
  ],
  ['/countries', `SELECT ?note { SERVICE ${own('graphs')} { GRAPH :g1 { :fr :note ?note } } }`, 'one'],
  [
    '/countries',
    `SELECT * { SERVICE ${own('graphs')} { GRAPH ?g { ?x :note ?note } } ?x :name ?n }`,
    ':g1,:fr,one,France :g2,:de,two,Deutschland',
  ],
  ['/countries', `SELECT ?note { SERVICE ${own('graphs')} { :fr :note ?note } }`, 'all one'],
  [
    '/graphs',
    `SELECT ?g ?n { GRAPH ?g { ?x :note ?note } SERVICE ${own('countries')} { ?x :name ?n } }`,
    ':g1,France :g2,Deutschland',
  ],
  ['/graphs', `SELECT ?g { GRAPH ?g { } SERVICE ${own('countries')} { :fr :name "France" } }`, ':g1 :g2'],
  ['/graphs', `SELECT ?g { GRAPH ?g { } SERVICE ${own('countries')} { :fr :name "no" } }`, ''],
  [
    '/countries',
    `SELECT ?n ?p { ?x :name ?n SERVICE <${BASE}/api/sparql> { ?c :in ?x ; :people ?p } }`,
    'France,1 France,2',
  ],
  [
    '/countries',
    `SELECT ?n { SERVICE ${own('cities')} { ?c :in ?x SERVICE ${own('countries')} { ?x :name ?n } } }`,
    'Deutschland France France',
  ],
  [
    '',
    `BASE <${BASE}/api/> SELECT ?n { SERVICE <sparql/countries> { ?x :name ?n } SERVICE <sparql/cities> { :bonn :in ?x } }`,
    'Deutschland',
  ],
  [
    '/countries',
    `SELECT ?n { SERVICE <${BASE}/api/sparql> { ?c :says ?claim } BIND(OBJECT(?claim) AS ?n) ?x :name ?n }`,
    'France',
  ],
  [
    '/countries',
    `SELECT ?x { SERVICE ${own('cities')} { ?c :in ?x } MINUS { SERVICE ${own('cities')} { ?c :people ?p } } }`,
    ':de',
  ],
]

t.test('SERVICE: datasets of the portal are asked by the addresses of their endpoints', async t => {
  for (const [path, query, expected] of SERVICE_QUERIES) t.equal(await csv(query, path), expected, query)
  t.same(requested, [], 'nobody else is asked')
})

t.test('SERVICE: what the caller may not see is not asked', async t => {
  const secret = `SELECT * { SERVICE ${own(HIDDEN)} { ?s :secret ?o } }`
  t.equal((await get(secret)).statusCode, 401)
  t.equal((await get(secret, '', secrets.noneKey)).statusCode, 403)
  t.equal(await csv(secret, '/countries', secrets.someKey), ':fr,zyzzy')
  const answer = await get(secret, '/countries', secrets.someKey)
  t.match(answer.headers['cache-control'], /private.*no-cache/)
  t.equal(answer.headers.etag, undefined)
  t.equal((await get(secret, '/countries')).statusCode, 401, 'nor afterwards')
  t.equal(await csv(secret.replace('SERVICE', 'SERVICE SILENT')), ',')
  t.equal(await csv(`SELECT ?o { SERVICE <${BASE}/api/sparql> { ?s :secret ?o } }`), '')
  t.equal((await get(`SELECT * { SERVICE ${own('nosuch')} { ?s ?p ?o } }`)).statusCode, 404)
})

t.test('SERVICE: endpoints elsewhere are asked where the portal allows it', async t => {
  const at = (path: string) => `<${address}${path}>`
  const joined = await get(
    `SELECT ?n ?label { SERVICE ${at('/sparql')} { ?c :label ?label } ?c :name ?n } ORDER BY ?n LANG(?label)`,
    '/countries',
    secrets.someKey,
  )
  t.equal(
    joined.body,
    'n,label\r\nDeutschland,"say ""hi""\n\\"\r\nFrance,"say ""hi""\n\\"\r\nFrance,Frankreich\r\n',
  )
  t.match(
    requested,
    [/^BASE <.*>\nPREFIX : <http:\/\/example.org\/> +SELECT \* \{ \?c :label \?label \}$/],
    'with the group alone, and no key',
  )
  t.equal(
    await csv(
      `SELECT (LANG(?label) AS ?l) (DATATYPE(?label) AS ?d) { SERVICE ${at('/sparql')} { ?c :label ?label } FILTER(BOUND(?c) && isIRI(?c)) }`,
    ),
    ',http://www.w3.org/2001/XMLSchema#integer de,http://www.w3.org/1999/02/22-rdf-syntax-ns#langString',
  )
  t.equal(
    await csv(`SELECT ?label { SERVICE ${at('/part')} { ?c :label ?label } }`),
    'one two',
    'an answer that goes on is read to its end',
  )
  t.equal(
    await csv(`SELECT (OBJECT(OBJECT(?c)) AS ?o) { SERVICE ${at('/triples')} { ?s ?p ?c } }`),
    'x',
    'triple terms',
  )
  const refused: readonly (readonly [string, number, RegExp])[] = [
    ['<http://other.example/sparql>', 400, /column \d+: SERVICE is refused: .*allow|asked/],
    [at('/sparql/'), 400, /SERVICE is refused/],
    ['?service', 400, /IRI of an endpoint/],
    [at('/many'), 422, /more than 50 solutions/],
    [at('/large'), 422, /more than 20000 bytes/],
    [at('/wide'), 422, /more than 2500 values/],
    [at('/endless'), 422, /more than 20000 bytes/],
    [at('/endless-row'), 422, /more than 20000 bytes/],
    [at('/slow'), 502, /has not answered within 0.7 s/],
    [at('/html'), 502, /no results in JSON/],
    [at('/wrong'), 502, /no results in JSON/],
    [at('/nested'), 502, /no results in JSON/],
    [at('/injected'), 502, /no results in JSON/],
    [at('/error'), 502, /answers 500/],
    [at('/moved'), 502, /cannot be reached/],
  ]
  for (const [service, status, reason] of refused) {
    const answer = await get(`SELECT * { ?x :name ?n SERVICE ${service} { ?c ?p ?o } }`, '/countries')
    t.equal(answer.statusCode, status, service)
    t.match(answer.body, reason)
    t.equal(
      await csv(`SELECT ?n { ?x :name ?n SERVICE SILENT ${service} { ?c ?p ?o } }`, '/countries'),
      'Deutschland France',
      `${service} in silence`,
    )
  }
  const before = requested.length
  const services = Array.from({ length: 9 }, () => `SERVICE ${at('/sparql')} { ?c ?p ?o }`).join(' ')
  t.match((await get(`SELECT * { ${services} }`)).body, /at most 8 services/)
  t.match(
    (await get(`SELECT * { SERVICE ${at('/sparql')} { ?c ?p } }`)).body,
    /Line 1, column/,
    'what is no SPARQL is not sent',
  )
  t.equal(requested.length, before)
})

t.test('SERVICE: the description tells of it', async t => {
  const { body } = await http.inject({ url: '/api/sparql', headers: { accept: 'application/n-triples' } })
  t.match(
    body,
    '<http://www.w3.org/ns/sparql-service-description#feature> <http://www.w3.org/ns/sparql-service-description#BasicFederatedQuery>',
  )
  t.match(body, `<http://purl.org/dc/terms/requires> <${address}/sparql>`)
  t.match(body, /may take 0.7 seconds, each 50 solutions and 20000 bytes/)
})
