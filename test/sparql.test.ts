import { setTimeout as sleep } from 'node:timers/promises'
import fastify, { type FastifyInstance } from 'fastify'
import { Parser } from 'n3'
import t from 'tap'
import { readQueryText } from '../src/api/sparql/query-text.ts'
import { rewriteQuery } from '../src/api/sparql/rewrite.ts'
import { sparql } from '../src/api/sparql/routes.ts'
import { addHooks } from '../src/app/hooks.ts'
import { Fault, NOT_FOUND_RESOURCE } from '../src/errors/errors.ts'
import { AnswerCache } from '../src/http/conditional.ts'
import { Quotas, quotaLimits } from '../src/http/daily-quota.ts'
import { parseQueryString } from '../src/http/query-string.ts'
import { answerUnknown } from '../src/http/route-config.ts'
import { ANONYMOUS } from '../src/model/principal.ts'
import { UOM, XSD } from '../src/rdf/vocab.ts'
import { EXTENSION_AGGREGATES, EXTENSION_FUNCTIONS } from '../src/sparql/extensions.ts'
import { sparqlTokens } from '../src/sparql/lexer.ts'
import { parseQuery } from '../src/sparql/parse.ts'
import { syntaxProblem } from '../src/sparql/syntax.ts'
import { EVALUATED_EXTENSIONS as KNOWN_FUNCTIONS } from '../src/store/columns/evaluate/functions/extensions.ts'
import { createEmbeddedStore } from '../src/store/embedded/embedded.ts'
import type { GraphSource, QueryAnswer, Store, UntrustedQuery } from '../src/store/store.ts'

const BASE = 'http://localhost:3000'
const PLAIN = `${BASE}/ld/resources/plain`
const RDF_FILE = `${BASE}/ld/resources/rdf`

const GRAPHS: Readonly<Record<string, string>> = {
  'urn:lodestone:graph:plain:v1:facts': '<urn:a> <urn:p> "1" .\n<urn:a> <urn:q> "line\\r\\n" .\n',
  'urn:lodestone:graph:plain:v1:index': '<urn:secret> <urn:p> "index" .\n',
  'urn:lodestone:graph:rdf:v2:facts': '<urn:r> <urn:p> <urn:a> .\n',
  'urn:lodestone:graph:rdf:v2:one': '<urn:one> <urn:p> <http://example.org/one> .\n',
  'urn:lodestone:graph:rdf:v2:two': '<urn:two> <urn:p> "two" .\n<http://example.org/two> <urn:p> "self" .\n',
}

const DATASETS = [
  {
    id: 'plain',
    title: 'Plain <b>',
    version: 'v1',
    triples: 2,
    graph: 'urn:lodestone:graph:plain:v1:facts',
    named: [],
  },
  {
    id: 'rdf',
    title: 'RDF',
    version: 'v2',
    triples: 1,
    graph: 'urn:lodestone:graph:rdf:v2:facts',
    named: [
      { iri: 'http://example.org/one', graph: 'urn:lodestone:graph:rdf:v2:one' },
      { iri: 'http://example.org/two', graph: 'urn:lodestone:graph:rdf:v2:two' },
    ],
  },
]

const sourceOf = (graph: string, text: string): GraphSource => ({
  graph,
  text,
  subjects: [],
  predicates: [],
  isSearched: false,
})

async function serve(store: Store): Promise<FastifyInstance> {
  await store.load(Object.entries(GRAPHS).map(([graph, text]) => sourceOf(graph, text)))
  const app = fastify({
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true, querystringParser: parseQueryString },
  })
  const now = () => Date.now()
  const quotas = new Quotas({ limits: quotaLimits(), now, counts: null, secret: Buffer.alloc(32) })
  addHooks(app, {
    isPrivate: false,
    authenticate: () => ANONYMOUS,
    quotas,
    address: () => '',
  })
  await app.register(sparql, {
    answers: new AnswerCache(1e6),
    base: BASE,
    title: 'Portal',
    description: '',
    languages: ['en'],
    store,
    deadline: 10,
    datasets: () => DATASETS,
    dataset: id => {
      const found = DATASETS.find(dataset => dataset.id === id)
      if (found === undefined) throw new Fault(NOT_FOUND_RESOURCE, { kind: 'dataset', id })
      return found
    },
  })
  await answerUnknown(app, (_, reply) => reply.code(404).send())
  return app
}

const opened = createEmbeddedStore({ workers: 2 })
const served = opened.then(serve)
t.teardown(async () => (await opened).close())

async function csv(path: string, query: string, more = ''): Promise<string> {
  const app = await served
  const url = `${path}?query=${encodeURIComponent(query)}${more}`
  const { statusCode, body } = await app.inject({ url, headers: { accept: 'text/csv' } })
  t.equal(statusCode, 200, `${query} ${body}`)
  return body.trim().split('\r\n').slice(1).sort().join(' ')
}

t.test('the graphs that a query sees', async t => {
  const ONE = 'http://example.org/one'
  const TWO = 'http://example.org/two'
  const graphs = (...names: readonly string[]) => [...names].sort().join(' ')
  const rows: readonly (readonly [path: string, query: string, expected: string, more?: string])[] = [
    ['plain', 'SELECT ?o { ?s <urn:p> ?o }', '1'],
    ['', 'SELECT ?s { ?s <urn:p> ?o }', 'urn:a urn:r'],
    ['plain', 'SELECT ?g { GRAPH ?g {} }', PLAIN],
    ['rdf', 'SELECT ?g { GRAPH ?g {} }', graphs(ONE, TWO)],
    ['', 'SELECT ?g { GRAPH ?g {} }', graphs(PLAIN, RDF_FILE, ONE, TWO)],
    ['rdf', 'SELECT * { GRAPH ?g { ?s <urn:p> "two" } }', `${TWO},urn:two`],
    ['rdf', 'SELECT * { GRAPH ?g { ?s <urn:p> "two" } } VALUES ?v { 1 }', `${TWO},urn:two,1`],
    [
      'rdf',
      'SELECT * { graph $g {?s ?p "two"} FILTER(?x = 1 || ?s != ?g) MINUS { ?m <urn:none> ?n } }',
      `${TWO},urn:two,urn:p`,
    ],
    ['rdf', 'SELECT ?g { ?g ?p ?o GRAPH ?g { ?s ?q ?x } }', ''],
    ['rdf', 'SELECT ?s { GRAPH ?g { ?s <urn:p> ?g } }', 'urn:one'],
    ['rdf', 'SELECT ?o { GRAPH ?g { ?g <urn:p> ?o } }', 'self'],
    ['rdf', `SELECT ?s { GRAPH <${ONE}> { ?s ?p ?o } }`, 'urn:one'],
    ['rdf', `PREFIX ex: <http://example.org/> SELECT ?s { GRAPH ex:one { ?s ?p ?o } }`, 'urn:one'],
    ['rdf', `BASE <http://example.org/x/> SELECT ?s { GRAPH <../one> { ?s ?p ?o } }`, 'urn:one'],
    [
      'rdf',
      `SELECT (STR(?g) AS ?name) { VALUES ?g { <${ONE}> <urn:x> } FILTER EXISTS { GRAPH ?g { ?s ?p ?o } } }`,
      ONE,
    ],
    [
      'rdf',
      `SELECT ?g ?o { VALUES ?g { <${ONE}> <urn:x> } OPTIONAL { GRAPH ?g { ?s ?p ?o } } }`,
      `${ONE},${ONE} urn:x,`,
    ],
    [
      'rdf',
      'SELECT ?g ?h { GRAPH ?g { ?s ?p "two" } GRAPH ?h { ?t ?p <http://example.org/one> } }',
      `${TWO},${ONE}`,
    ],
    ['rdf', 'SELECT * { { SELECT * { GRAPH ?g { <urn:two> ?p ?o } } } }', `${TWO},urn:p,two`],
    ['rdf', 'SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?s ?p ?o } }', '2'],
    ['plain', 'SELECT ?s { GRAPH <urn:lodestone:graph:plain:v1:index> { ?s ?p ?o } }', ''],
    ['plain', 'SELECT ?s { GRAPH <urn:lodestone:graph:plain:v1:facts> { ?s ?p ?o } }', ''],
    ['plain', 'SELECT ?s FROM <urn:lodestone:graph:plain:v1:index> { ?s ?p ?o }', ''],
    ['plain', `SELECT ?s FROM NAMED <urn:lodestone:graph:plain:v1:index> { GRAPH ?g { ?s ?p ?o } }`, ''],
    ['plain', `SELECT ?s { GRAPH <${RDF_FILE}> { ?s ?p ?o } }`, ''],
    ['', `SELECT ?s FROM <${PLAIN}> { ?s <urn:p> ?o }`, 'urn:a'],
    ['', `SELECT ?s FROM NAMED <${PLAIN}> { ?s <urn:p> ?o }`, ''],
    ['', `SELECT ?g FROM NAMED <${PLAIN}> { GRAPH ?g { } }`, PLAIN],
    ['', `SELECT ?s { ?s <urn:p> ?o }`, 'urn:one', `&default-graph-uri=${encodeURIComponent(ONE)}`],
    ['', `SELECT ?s FROM <${PLAIN}> { ?s <urn:p> ?o }`, 'urn:one', `&default-graph-uri=${ONE}`],
    [
      '',
      'SELECT ?s { ?s <urn:p> ?o }',
      'urn:a urn:one',
      `&default-graph-uri=${ONE}&default-graph-uri=${PLAIN}`,
    ],
    [
      '',
      'SELECT ?g { GRAPH ?g { ?s ?p ?o } }',
      `${ONE} ${PLAIN} ${PLAIN}`,
      `&named-graph-uri=${ONE}&named-graph-uri=${PLAIN}`,
    ],
    ['', 'SELECT ?s { ?s ?p ?o }', '', '&default-graph-uri=http://example.org/none'],
    ['plain', 'SELECT (<x> AS ?iri) {}', `${BASE}/api/sparql/x`],
    ['plain', 'PREFIX e: <urn:> SELECT (e:a:b\\/c AS ?iri) {}', 'urn:a:b/c'],
    ['plain', 'SELECT ?o { # a return ends it\r ?s <urn:p> ?o\n }', '1'],
    ['rdf', 'SELECT (EXISTS{GRAPH ?g{ ?t ?q "two" }} AS ?x) { GRAPH ?g { ?s ?p "self" } }', 'true'],
    ['rdf', 'SELECT ?s ?b { GRAPH ?g { ?s ?p "two" } LATERAL { SELECT ?b { ?b ?q ?r } } }', 'urn:two,urn:r'],
    ['plain', 'SELECT * { ?s <urn:p> ?o LATERAL { BIND(?o AS ?b) } }', 'urn:a,1,1'],
    ['plain', `SELECT ("GRAPH ?g { SERVICE }" AS ?text) { # GRAPH ?x {\n }`, 'GRAPH ?g { SERVICE }'],
  ]
  for (const [id, query, expected, more] of rows) {
    const path = id === '' ? '/api/sparql' : `/api/sparql/${id}`
    t.equal(await csv(path, query, more), expected, `${id}: ${query} ${more ?? ''}`)
  }
})

t.test('an answer of which nobody reads more than the head ends its query', async t => {
  let ended = 0
  async function* triples() {
    try {
      for (let n = 0; ; n++) {
        yield Buffer.from(`<urn:s${n}> <urn:p> "${'x'.repeat(60_000)}" .\n`)
        await sleep(20)
      }
    } finally {
      ended += 1
    }
  }
  const query = async (): Promise<QueryAnswer> => ({ by: 'columns', pieces: triples() })
  const app = await serve({ ...(await opened), load: async () => undefined, query })
  const asked = encodeURIComponent('CONSTRUCT WHERE { ?s ?p ?o }')
  const formats = ['turtle', 'ntriples', 'rdfxml', 'jsonld', 'n3']
  for (const format of formats) {
    const url = `/api/sparql/plain?query=${asked}&format=${format}`
    const { statusCode } = await app.inject({ method: 'HEAD', url })
    t.equal(statusCode, 200)
  }
  await sleep(200)
  t.equal(ended, formats.length)
})

t.test('requests of the protocol', async t => {
  const app = await served
  const ASK = encodeURIComponent('ASK {}')
  const form = 'application/x-www-form-urlencoded'
  const direct = 'application/sparql-query'
  type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD' | 'OPTIONS'
  const rows: readonly (readonly [
    method: Method,
    url: string,
    type: string | null,
    body: string | Buffer | null,
    status: number,
    answer: string | RegExp,
  ])[] = [
    ['GET', `?query=${ASK}`, null, null, 200, 'application/sparql-results+json'],
    ['GET', `/?query=${ASK}`, null, null, 200, 'application/sparql-results+json'],
    ['HEAD', `?query=${ASK}`, null, null, 200, 'application/sparql-results+json'],
    ['GET', `?query=%EF%BB%BF${ASK}`, null, null, 200, 'application/sparql-results+json'],
    [
      'GET',
      `?query=${ASK}&default-graph-uri=a%20b`,
      null,
      null,
      400,
      /default-graph-uri is a b but an absolute/,
    ],
    ['GET', `?query=${ASK}&named-graph-uri=graphs/a`, null, null, 400, /named-graph-uri is graphs\/a but/],
    ['GET', `?query=${ASK}&format=srx`, null, null, 200, 'application/sparql-results+xml'],
    ['GET', `?query=${ASK}&output=csv`, null, null, 200, 'text/csv'],
    ['GET', `?query=${ASK}&format=text/html`, null, null, 200, 'text/html'],
    ['GET', `?query=${ASK}&format=nonsense`, null, null, 400, /nonsense is not one of json, xml, csv, tsv/],
    ['POST', '', form, `query=${ASK}`, 200, 'application/sparql-results+json'],
    [
      'POST',
      '?default-graph-uri=urn:x',
      `${form}; charset=UTF-8`,
      `query=${ASK}`,
      200,
      'application/sparql-results+json',
    ],
    ['POST', '', direct, 'ASK {}', 200, 'application/sparql-results+json'],
    ['POST', '', `${direct}; charset="utf-8"`, 'ASK {}', 200, 'application/sparql-results+json'],
    ['POST', '', direct, 'DESCRIBE <urn:a>', 200, 'text/turtle'],
    ['POST', '?format=rdfxml', direct, 'CONSTRUCT { <urn:x:a> <urn:x:p> 1 } {}', 200, 'application/rdf+xml'],
    [
      'POST',
      '?format=rdfxml',
      direct,
      'CONSTRUCT { <urn:a> <http://e/1> 1 } {}',
      422,
      /http:\/\/e\/1 is nothing that RDF\/XML/,
    ],
    ['POST', '?format=jsonld', direct, 'CONSTRUCT { <urn:a> <urn:p> 1 } {}', 200, 'application/ld+json'],
    // As SPARQLWrapper and other clients spell them, and with a plus sign that is not encoded.
    [
      'POST',
      '?format=rdf%2Bxml',
      direct,
      'CONSTRUCT { <urn:x:a> <urn:x:p> 1 } {}',
      200,
      'application/rdf+xml',
    ],
    ['POST', '?output=rdf+xml', direct, 'CONSTRUCT { <urn:x:a> <urn:x:p> 1 } {}', 200, 'application/rdf+xml'],
    ['POST', '?format=json-ld', direct, 'CONSTRUCT { <urn:a> <urn:p> 1 } {}', 200, 'application/ld+json'],
    ['POST', '?format=n3', direct, 'CONSTRUCT { <urn:a> <urn:p> 1 } {}', 200, 'text/n3'],
    ['POST', '?format=turtle', direct, 'CONSTRUCT { <urn:a> <urn:p> 1 } {}', 200, 'text/turtle'],
    [
      'POST',
      '?format=rdf-xml',
      direct,
      'CONSTRUCT { <urn:a> <urn:p> 1 } {}',
      400,
      /rdf-xml is not one of json/,
    ],
    ['POST', '', direct, Buffer.from('ASK {}', 'utf16le'), 400, /query begins with|not expected/],
    ['POST', '', `${direct}; charset=UTF-16`, Buffer.from('ASK {}', 'utf16le'), 415, /use UTF-8/],
    ['POST', '', direct, Buffer.from([0xff, 0xfe]), 400, /not UTF-8/],
    ['POST', '', 'text/plain', 'ASK {}', 415, /text\/plain is not read here/],
    ['POST', '', 'application/json', '{}', 415, /application\/json is not read here/],
    ['POST', '', null, 'ASK {}', 415, /no Content-Type/],
    ['POST', '', null, `query=${ASK}`, 415, /no Content-Type/],
    ['POST', '', form, 'q=1', 400, /no query parameter/],
    ['POST', '', form, `query=${ASK}&query=${ASK}`, 400, /2 queries/],
    ['POST', `?query=${ASK}`, direct, 'ASK {}', 400, /2 queries/],
    ['POST', '', form, 'query=%zz', 400, /cannot be decoded/],
    ['GET', `?query=${ASK}&query=${ASK}`, null, null, 400, /2 queries/],
    ['GET', '?query=', null, null, 400, /empty/],
    ['GET', '?update=CLEAR%20ALL', null, null, 400, /read-only/],
    ['GET', `?query=${encodeURIComponent('PREFIX x: <y:> insert data {}')}`, null, null, 400, /read-only/],
    ['POST', '', form, 'update=CLEAR%20ALL', 400, /read-only/],
    ['POST', '', form, 'update=CLEAR%20ALL&update=CLEAR%20ALL', 400, /read-only/],
    ['POST', '', 'application/sparql-update', 'CLEAR ALL', 400, /read-only/],
    ['PUT', `?query=${ASK}`, null, null, 405, /GET or POST/],
    ['DELETE', '', null, null, 405, /GET or POST/],
    ['POST', '', direct, `ASK {} # ${'x'.repeat(600_000)}`, 413, /"title": "ContentTooLarge"/],
    ['OPTIONS', '', null, null, 204, ''],
    ['GET', '/nothing', null, null, 404, /nothing does not exist/],
    ['GET', '/plain/data?default', null, null, 200, 'text/turtle'],
    ['HEAD', '/plain/data?default', null, null, 200, 'text/turtle'],
    ['GET', `/plain/data?graph=${PLAIN}`, null, null, 200, 'text/turtle'],
    ['GET', '/rdf/data?graph=http://example.org/one&format=nt', null, null, 200, 'application/n-triples'],
    ['GET', '?graph=http://example.org/one', null, null, 200, 'text/turtle'],
    ['GET', '/plain/data?graph=http://example.org/one', null, null, 404, /graph http:\/\/example.org\/one/],
    ['HEAD', '/plain/data?graph=urn:lodestone:graph:plain:v1:index', null, null, 404, ''],
    ['GET', '/plain/data', null, null, 400, /Name one graph/],
    ['GET', `/plain/data?default&graph=${PLAIN}`, null, null, 400, /Name one graph/],
    ['POST', '/plain/data?default', 'text/turtle', '', 405, /not allowed/],
    ['PUT', '/plain/data?default', 'text/turtle', '', 405, /not allowed/],
  ]
  for (const [method, path, type, body, status, answer] of rows) {
    const headers = type === null ? {} : { 'content-type': type }
    const payload = body === null ? {} : { payload: Buffer.from(body) }
    const found = await app.inject({ method, url: `/api/sparql${path}`, headers, ...payload })
    const name = `${method} ${path} ${type ?? ''} ${String(body ?? '').slice(0, 40)}`
    t.equal(found.statusCode, status, `${name}: ${found.body}`)
    t.equal(found.headers['access-control-allow-origin'], '*', name)
    if (typeof answer !== 'string') t.match(found.body, answer, name)
    else if (answer !== '') t.match(found.headers['content-type'], answer, name)
    if (status >= 400 && answer !== '')
      t.match(found.headers['content-type'], 'application/problem+json', name)
  }
  const { headers } = await app.inject({ method: 'OPTIONS', url: '/api/sparql' })
  t.equal(headers['access-control-allow-methods'], 'GET, HEAD, POST, OPTIONS')
})

t.test('formats by the Accept header', async t => {
  const app = await served
  const select = 'SELECT ?o { <urn:a> <urn:q> ?o }'
  const construct = 'PREFIX x: <urn:x:> CONSTRUCT { x:s x:p ?o } { <urn:a> <urn:q> ?o }'
  const rows = [
    [
      select,
      '*/*',
      'application/sparql-results+json',
      '{"head":{"vars":["o"]},\n"results":{"bindings":[\n{"o":{"type":"literal","value":"line\\r\\n"}}\n]}}\n',
    ],
    [select, 'application/json', 'application/json', '{"head"'],
    [
      select,
      'application/sparql-results+xml, text/csv;q=0.5',
      'application/sparql-results+xml',
      '<literal>line&#13;\n</literal>',
    ],
    [select, 'text/csv', 'text/csv', 'o\r\n"line\r\n"\r\n'],
    [select, 'text/tab-separated-values', 'text/tab-separated-values', '?o\n"line\\r\\n"\n'],
    [
      select,
      'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      'text/html',
      '<th scope="col">o</th>',
    ],
    [select, 'text/turtle', null, 'sparql-results+json'],
    ['ASK { }', 'text/csv', 'text/csv', 'true'],
    [construct, '*/*', 'text/turtle', '@prefix x: <urn:x:> .\n\nx:s x:p "line\\r\\n" .\n'],
    [construct, 'application/rdf+xml', 'application/rdf+xml', '>line&#13;\n</'],
    [construct, 'application/n-triples', 'application/n-triples', '<urn:x:s> <urn:x:p> "line\\r\\n" .\n'],
    [construct, 'application/ld+json', 'application/ld+json', '"urn:x:p": "line\\r\\n"'],
    [construct, 'application/n-quads', 'application/n-quads', '<urn:x:s> <urn:x:p> "line\\r\\n" .\n'],
    [construct, 'text/html', 'text/html', 'x:s x:p &quot;line'],
  ] as const
  for (const [query, accept, type, part] of rows) {
    const url = `/api/sparql/plain?query=${encodeURIComponent(query)}`
    const { statusCode, headers, body } = await app.inject({ url, headers: { accept } })
    t.equal(statusCode, type === null ? 406 : 200, `${query} ${accept}`)
    if (type !== null) t.equal(headers['content-type'], `${type}; charset=utf-8`)
    t.ok(body.includes(part), `${accept}: ${body}`)
    t.equal(headers.vary?.includes('Accept') ?? type === null, true)
  }
})

t.test('queries that are refused say where', async t => {
  const app = await served
  // Short names that stand for long IRIs.
  const long = 'b/'.repeat(10_000)
  const rows = [
    ['', 'Line 1, column 1: the query is empty: SELECT, ASK, CONSTRUCT or DESCRIBE is expected.'],
    [
      'SELECT * { ?s ?p ',
      'Line 1, column 10: { is never closed: } is expected.\nSELECT * { ?s ?p \n         ^',
    ],
    [
      'SELECT * {\n ?s foo:a ?o }',
      'Line 2, column 5: the prefix foo: is not declared: PREFIX foo: <…> is expected before the query.\n ?s foo:a ?o }\n    ^',
    ],
    ['SELECT * { ?s ?p ?o )', 'Line 1, column 21: ) was found but } is expected.'],
    ['ASK { ?s ?p "x }', 'Line 1, column 13: the string is never closed: " is expected.'],
    ['SELEKT * {}', 'Line 1, column 1: SELEKT was found but a query begins with SELECT'],
    ['SELECT * { SERVICE <http://example.org/> { ?s ?p ?o } }', 'Line 1, column 12: SERVICE is refused'],
    [
      'SELECT * { GRAPH ?g { ?s ?p ?o } ?x foo ?y }',
      'Line 1, column 37: foo was found but a predicate is expected.',
    ],
    ['PREFIX x <urn:x> ASK {}', 'Line 1, column 8: x was found but a prefix with its colon is expected.'],
    ['PREFIX x:y <urn:x> ASK {}', 'Line 1, column 8: x:y was found but a prefix with its colon is expected.'],
    ['PREFIX x: y ASK {}', 'Line 1, column 11: y was found but an IRI in angle brackets is expected.'],
    ['BASE', 'Line 1, column 5: the query ends but an IRI in angle brackets is expected.'],
    ['VERSION "2.0" ASK {}', 'Line 1, column 9: the version "2.0" is not served; one of "1.1", "1.2"'],
    [
      'VERSION 1.2 ASK {}',
      'Line 1, column 9: 1.2 was found but one of "1.1", "1.2", "1.2-basic" is expected.',
    ],
    ['ASK { } }', 'Line 1, column 9: } closes nothing'],
    ['SELECT ?s WHERE {\n?s ?p ?o }\nLIMIT x', 'Line 3, column 7: x was found but a number is expected.'],
    ['SELECT * { ?s ?p ?o } LIMT 5', 'Did you mean LIMIT?'],
    ['SELECT * { ?s ?p ?o . FILTR(?o > 1) }', 'FILTR was found but another pattern or } is expected. Did'],
    ['SELECT * { ?s ?p ?o FILTER(?o > ) }', 'column 33: ) was found but a function, (, an IRI, a string,'],
    ['SELECT (COUNT(?s) ?n) { ?s ?p ?o }', 'column 19: ?n was found but AS is expected.'],
    ['SELECT * { ?s ?p ?o } ORDER ?s', 'column 29: ?s was found but BY is expected.'],
    ['SELECT { ?s ?p ?o }', 'column 8: { was found but *, a variable or ( is expected.'],
    [
      'SELECT * { ?s ?p }',
      'column 18: } was found but a variable, an IRI, a string, a number, true or false, a blank',
    ],
    [
      'SELECT * { ?s ?p 1 2 }',
      'column 20: 2 was found but a full stop, a semicolon, a comma, another pattern or }',
    ],
    [
      'SELECT * { ?s ?p ?o } GROUP BY',
      'column 31: the query ends but a function, an IRI, a variable or ( is',
    ],
    ['ASK { ?s a <http://a b> }', 'column 12: <http://a b> is no IRI'],
    ['ASK { ?s ?p "\\x" }', 'column 13: "\\x" is no string: a backslash is followed by'],
    ['ASK { ?s ?p <a b> }', 'column 13: <a b> is no IRI'],
    ['CONSTRUCT { ?s ?p ?o ; } { ?s ?p ?o } OFFSET -1', 'column 46: - was found but a number is expected.'],
    ['SELECT * { VALUES ?x { 1 ?y } }', 'column 26: ?y was found but a value or } is expected.'],
    ['ASK {\n # \u{1F600}\n "\u{1F600}" ?p ?o ?x }', 'Line 3, column 12: ?x was found'],
    // What the engine would read all the same.
    ['SELECT * { FILTER(?x<?a&&?b>?y) }', 'column 21: < was found but an operator or )'],
    ['SELECT * { BIND(<<( "a" <urn:p> 1 )>> AS ?t) }', 'column 21: "a" was found but an IRI or a variable'],
    ['SELECT * { BIND(<<( <<( <urn:a> <urn:p> 1 )>> <urn:p> 1 )>> AS ?t) }', 'column 21: < was found'],
    [
      'PREFIX GRAPH: <urn:x:> PREFIX : <urn:y:> ASK { GRAPH:z { ?s ?p ?o } }',
      '{ was found but a predicate is',
    ],
    ['SELECT (COUNT(COUNT(*)) AS ?n) {}', 'column 15: an aggregate within an aggregate'],
    ['SELECT (SUM(?x + MAX(?y)) AS ?n) {}', 'column 18: an aggregate within an aggregate'],
    // Variables that are selected from groups.
    ...[
      ['SELECT ?z (COUNT(*) AS ?n) { ?x ?y ?w } GROUP BY ?w', 8, '?z'],
      ['SELECT ?x (COUNT(*) AS ?n) { ?x ?y ?z }', 8, '?x'],
      ['SELECT ?x { ?x ?y ?z } HAVING(COUNT(*) > 1)', 8, '?x'],
      ['SELECT ?x { ?x ?y ?z } ORDER BY COUNT(?y)', 8, '?x'],
      ['SELECT ?n { { SELECT ?x (COUNT(*) AS ?n) { ?x ?y ?z } } }', 22, '?x'],
      ['ASK { FILTER EXISTS { SELECT ?x (SUM(?y) AS ?n) { ?x ?y ?z } } }', 30, '?x'],
      ['SELECT (STR(?z) AS ?a) { ?x ?y ?z } GROUP BY ?x', 13, '?z'],
      ['SELECT (COUNT(*) + ?z AS ?a) { ?x ?y ?z }', 20, '?z'],
    ].map(
      ([query, column, name]) =>
        [String(query), `column ${column}: ${name} is expected in GROUP BY or within an aggregate.`] as const,
    ),
    ['SELECT * { ?x ?y ?z } GROUP BY ?x', 'column 8: * cannot select from groups'],
    ['SELECT * { ?x ?y ?z } HAVING(COUNT(*) > 1)', 'column 8: * cannot select from groups'],
    // Errors of scope and of numbers of terms.
    [
      'SELECT (1 AS ?x) (2 AS ?x) {}',
      'column 24: ?x is in scope already: a new variable is expected after AS.',
    ],
    ['SELECT ?x (1 AS ?x) {}', 'column 17: ?x is in scope already'],
    ['SELECT (1 AS ?x) { ?x ?y ?z }', 'column 14: ?x is in scope already'],
    ['SELECT (COUNT(*) AS ?n) { ?x ?y ?z } VALUES ?n { 1 }', 'column 21: ?n is in scope already'],
    ['SELECT (1 AS ?z) { ?s ?p ?z } GROUP BY ?z', 'column 14: ?z is in scope already'],
    ['SELECT (1 AS ?z) (2 AS ?p) { ?s ?p ?z } GROUP BY ?p', 'column 24: ?p is in scope already'],
    ['SELECT ?x { BIND(1 AS ?x) BIND(2 AS ?x) }', 'column 37: ?x is in scope already'],
    ['SELECT * { ?x ?y ?z OPTIONAL { ?a ?b ?c BIND(2 AS ?a) } }', 'column 51: ?a is in scope already'],
    [
      'SELECT * { VALUES (?a ?b) { (1 <urn:a>) (1) } }',
      'column 41: this row of VALUES has 1 terms but 2 are',
    ],
    ['SELECT * { VALUES (?a) { ("a"@en) ("1"^^<urn:d> 2) } }', 'column 35: this row of VALUES has 2 terms'],
    ['SELECT * { VALUES (?a ?b ?a) { } }', 'column 26: ?a is in this VALUES already'],
    [
      'SELECT * { ?x ?y ?z FILTER(COUNT(?x) > 1) }',
      'column 28: an aggregate is expected in SELECT, HAVING or',
    ],
    ['SELECT * { _:a ?p ?x OPTIONAL { _:a ?q ?y } }', 'column 33: _:a is in another graph pattern already'],
    [
      'SELECT * {} OFFSET 1 LIMIT 1 OFFSET 2',
      'OFFSET was found but VALUES or the end of the query is expected.',
    ],
    ['SELECT * {} LIMIT 1 ORDER BY ?x', 'ORDER was found but OFFSET, VALUES or the end of the query is'],
    ['SELECT * { \\u0047RAPH ?g {} }', 'column 12: an escape'],
    ['SELECT * { ?s ?p ?o LATERAL { BIND(1 AS ?o) } }', 'column 41: ?o has a value before LATERAL'],
    ['SELECT * { ?s ?p ?o lateral { VALUES (?a ?s) {} } }', 'column 42: ?s has a value before LATERAL'],
    ['SELECT * { ?s ?p ?o LATERAL { SELECT (1 AS ?o) {} } }', 'column 44: ?o has a value before LATERAL'],
    ['SELECT * { ?s ?p ?o FILTER(STRLEN( )) }', 'column 34: the brackets are empty'],
    ['SELECT (COUNT() AS ?n) {}', 'column 14: the brackets are empty'],
    ['SELECT * { FILTER() }', 'column 18: the brackets are empty'],
    ['SELECT * { ?s ?p "\\uD800" }', 'column 19: the escape denotes no character.'],
    ['SELECT ?s { ?s ?p "\\U00110000" }', 'column 20: the escape denotes no character.'],
    ['SELECT ?\\u0078 { ?x ?y ?z }', 'column 9: an escape is expected in strings and IRIs alone'],
    [`SELECT * ${'{'.repeat(200)}${'}'.repeat(200)}`, 'brackets inside brackets'],
    [`SELECT * { FILTER(1${'+1'.repeat(2000)}) }`, 'the limit is 500'],
    [`SELECT * { ?s ?p ${'a'.repeat(30_000)} }`, 'the limit is 20000'],
    [`SELECT * { # ${'x'.repeat(100_000)}\n }`, 'the limit is 100000'],
    [`BASE <http://a.example/${long}> SELECT * { VALUES ?x { ${'<> '.repeat(600)} } }`, 'shorten its base'],
    [
      `PREFIX p: <http://a.example/${long}> SELECT * { VALUES ?x { ${'p: '.repeat(600)} } }`,
      'shorten its base',
    ],
    [`BASE <http://a.example/> ${'BASE <a/> '.repeat(5000)} SELECT * {}`, 'shorten its base'],
  ] as const
  for (const [query, described] of rows) {
    const url = `/api/sparql?query=${encodeURIComponent(query)}`
    const { statusCode, headers, body } = await app.inject({ url })
    t.equal(statusCode, 400, query.slice(0, 60))
    t.match(headers.vary, /Accept/)
    t.ok(JSON.parse(body).detail.includes(described), `${query.slice(0, 60)}: ${body}`)
    t.notMatch(body, /urn:lodestone|unexpected character|Expecting|Token|\[IriRef\]/)
  }
  const page = await app.inject({
    url: `/api/sparql/plain?query=${encodeURIComponent('ASK { "</textarea>" ')}`,
    headers: { accept: 'text/html' },
  })
  t.equal(page.statusCode, 400)
  t.ok(page.body.includes('ASK { &quot;&lt;/textarea&gt;&quot; </textarea>'), page.body)
  t.ok(page.body.includes('Plain &lt;b&gt;'))
})

t.test('queries that engines read otherwise are answered as the recommendation says', async t => {
  const values = (...terms: readonly string[]) => `VALUES ?v { ${terms.join(' ')} }`
  const concat = (call: string, ...terms: readonly string[]) =>
    `SELECT ?all (DATATYPE(?all) AS ?type) { { SELECT (GROUP_CONCAT(${call}) AS ?all) { ${values(...terms)} } } }`
  const STRING = 'http://www.w3.org/2001/XMLSchema#string'
  const rows: readonly (readonly [query: string, ...pieces: readonly string[]])[] = [
    [concat('?v; separator = "|"', '7', '40'), '7', '40'],
    [concat('DISTINCT ?v; SEPARATOR="|"', '7', '7', '2.5'), '7', '2.5'],
    [concat('?v + 1 ; SEPARATOR="|"', '7', '40'), '8', '41'],
    [
      concat('(?v) ; SEPARATOR="|"', '"2020-01-31"^^<http://www.w3.org/2001/XMLSchema#date>', 'true'),
      '2020-01-31',
      'true',
    ],
    [concat('IF(?v > 8, "x;y", ?v); SEPARATOR="|"', '7', '40'), '7', 'x;y'],
    [concat('?v; SEPARATOR="|"', '<urn:a>', '"b"@en', '"c"@en'), 'urn:a', 'b', 'c'],
    [concat('?v; SEPARATOR="|"', '"b"@en', '"c"@en'), 'b', 'c'],
    [concat('DISTINCT ?v; SEPARATOR="|"', '"b"@en', '"b"@fr', '"b"@en'), 'b', 'b'],
    [concat('DISTINCT STR(?v); SEPARATOR="|"', '"b"@en', '"b"@fr'), 'b'],
    [concat('EXISTS { GRAPH ?g { ?s ?p ?o ; ?q ?x } } ; SEPARATOR="|"', '1'), 'true'],
  ]
  for (const [query, ...pieces] of rows) {
    const found = await csv('/api/sparql/plain', query)
    const [all = '', type] = found.split(',')
    t.strictSame([all.split('|').sort(), type], [[...pieces].sort(), STRING], query)
  }
  const having = `SELECT ?s { ?s ?p ?o ${values('7')} } GROUP BY ?s HAVING (GROUP_CONCAT(DISTINCT ?v) = "7")`
  t.equal(await csv('/api/sparql/plain', having), 'urn:a')
  const again = 'SELECT ?s ?o ?s { { SELECT ?o ?o ?s { ?s <urn:p> ?o } } }'
  t.equal(
    await csv('/api/sparql/plain', again),
    await csv('/api/sparql/plain', 'SELECT ?s ?o { ?s <urn:p> ?o }'),
  )
  const paths =
    'SELECT DISTINCT ?s { ?s <urn:p>/^<urn:p> ?x { SELECT ?s { ?s ?p ?z } } ?s <urn:q>/^<urn:q> ?y }'
  t.equal(await csv('/api/sparql/plain', paths), 'urn:a', 'the middles of two paths are two nodes')
  const followed = 'SELECT ?s { ?s <urn:p>/^<urn:p> ?x . ?x (<urn:q>/^<urn:q>)|<urn:u> ?y }'
  t.equal(await csv('/api/sparql/plain', followed), 'urn:a', 'also where an alternative has a sequence')
  for (const version of [
    'VERSION "1.2"',
    "version '1.1'",
    'PREFIX x: <urn:> VERSION "1.2-basic" BASE <urn:x>',
  ])
    t.equal(await csv('/api/sparql/plain', `${version}\nSELECT ?o { <urn:a> <urn:p> ?o }`), '1', version)
})

t.test('hulls, boundaries and envelopes of all types of geometries', async t => {
  const line = 'LINESTRING(0 0, 1 1, 2 0)'
  const rows: readonly (readonly [name: string, wkt: string, expected: string])[] = [
    ['convexHull', 'POINT(1 2)', 'POINT (1 2)'],
    ['convexHull', 'LINESTRING(0 0, 1 1, 2 2)', 'LINESTRING (0 0, 2 2)'],
    ['convexHull', line, 'POLYGON ((0 0, 1 1, 2 0, 0 0))'],
    ['convexHull', 'POLYGON((0 0, 4 0, 4 4, 2 2, 0 4, 0 0))', 'POLYGON ((0 0, 0 4, 4 4, 4 0, 0 0))'],
    ['convexHull', 'MULTIPOINT((0 0), (0 3), (1 1))', 'POLYGON ((0 0, 0 3, 1 1, 0 0))'],
    ['convexHull', `GEOMETRYCOLLECTION(POINT(1 1), ${line})`, 'POLYGON ((0 0, 1 1, 2 0, 0 0))'],
    ['boundary', 'POINT(1 2)', 'GEOMETRYCOLLECTION EMPTY'],
    ['boundary', line, 'MULTIPOINT ((0 0), (2 0))'],
    ['boundary', 'LINESTRING(0 0, 1 1, 2 0, 0 0)', 'MULTIPOINT EMPTY'],
    ['boundary', 'MULTILINESTRING((0 0, 1 1), (1 1, 2 0))', 'MULTIPOINT ((0 0), (2 0))'],
    ['boundary', 'POLYGON((0 0, 4 0, 4 4, 0 0))', 'LINESTRING (0 0, 4 0, 4 4, 0 0)'],
    [
      'boundary',
      'POLYGON((0 0, 4 0, 4 4, 0 0), (2 1, 3 1, 3 2, 2 1))',
      'MULTILINESTRING ((0 0, 4 0, 4 4, 0 0), (2 1, 3 1, 3 2, 2 1))',
    ],
    ['boundary', 'MULTIPOLYGON(((0 0, 4 0, 4 4, 0 0)))', 'MULTILINESTRING ((0 0, 4 0, 4 4, 0 0))'],
    ['boundary', `GEOMETRYCOLLECTION(${line})`, ''],
    ['envelope', line, 'POLYGON ((0 0, 0 1, 2 1, 2 0, 0 0))'],
  ]
  const GEOF = 'http://www.opengis.net/def/function/geosparql/'
  for (const [name, wkt, expected] of rows) {
    const literal = `"${wkt}"^^<http://www.opengis.net/ont/geosparql#wktLiteral>`
    const found = await csv('/api/sparql/plain', `SELECT (STR(<${GEOF}${name}>(${literal})) AS ?g) {}`)
    t.equal(found.replaceAll('"', ''), expected, `${name} ${wkt}`)
  }
})

t.test('functions of geometries read WKT with heights and measures, and what is empty', async t => {
  const rows: readonly (readonly [wkt: string, ofPoint: string])[] = [
    ['POINT ZM (1 2 3 4)', 'true,true,0'],
    ['POINT(1 2 3)', 'true,true,0'],
    ['POINTZ(1 2 3)', 'true,true,0'],
    ['GEOMETRYCOLLECTION Z (POINT Z (1 2 3))', 'true,true,0'],
    ['MULTIPOINT M (1 2 3, 3 4 3)', 'true,false,0'],
    ['LINESTRING ZM (1 2 3 4, 5 6 7 8)', 'true,false,0'],
    ['MULTIPOLYGON Z (((1 2 9, 3 2 9, 3 4 9, 1 2 9)))', 'true,false,0'],
    ['', 'false,false,'],
    ['POINT EMPTY', 'false,false,'],
    ['POLYGON EMPTY', 'false,false,'],
    ...['POINT(1 2) x', 'POINT((1 2), (3 4))', 'LINESTRING((1 2, 3 4))', 'POLYGON(1 2, 3 2, 3 4, 1 2)'].map(
      wkt => [wkt, ',,'] as const,
    ),
    ['POLYGON((1 2, 3 2, 3 4, 1 3))', ',,'],
  ]
  const GEOF = 'http://www.opengis.net/def/function/geosparql/'
  const literal = (wkt: string) => `"${wkt}"^^<http://www.opengis.net/ont/geosparql#wktLiteral>`
  for (const [wkt, expected] of rows) {
    const both = `${literal(wkt)}, ${literal('POINT(1 2)')}`
    const metre = '<http://www.opengis.net/def/uom/OGC/1.0/metre>'
    const query = `SELECT (<${GEOF}sfIntersects>(${both}) AS ?a) (<${GEOF}sfEquals>(${both}) AS ?b) (<${GEOF}distance>(${both}, ${metre}) AS ?d) {}`
    t.equal(await csv('/api/sparql/plain', query), expected, wkt)
  }
  for (const other of ['', 'POINT EMPTY', 'POLYGON EMPTY', 'GEOMETRYCOLLECTION EMPTY']) {
    const query = `SELECT (<${GEOF}sfEquals>(${literal('')}, ${literal(other)}) AS ?b) {}`
    t.equal(await csv('/api/sparql/plain', query), 'true', `empty, as ${other}`)
  }
})

t.test('extension functions and aggregates', async t => {
  const values = 'VALUES (?k ?v) { ("a" 1) ("a" 3) ("a" 8) ("b" 4) }'
  const prefixes = 'PREFIX l: <urn:lodestone:> PREFIX geof: <http://www.opengis.net/def/function/geosparql/>'
  const point = (at: string) => `"POINT(${at})"^^<http://www.opengis.net/ont/geosparql#wktLiteral>`
  const EPSG = 'http://www.opengis.net/def/crs/EPSG/0/'
  const inEpsg = (wkt: string, code = 4326) =>
    `"<${EPSG}${code}> ${wkt}"^^<http://www.opengis.net/ont/geosparql#wktLiteral>`
  const moment = '"2020-03-01T23:30:10Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
  const rows: readonly (readonly [query: string, expected: string])[] = [
    [`SELECT ?k (l:percentile(?v, 50) AS ?m) { ${values} } GROUP BY ?k`, 'a,3 b,4'],
    [`SELECT ?k (<urn:lodestone:sum>(?v) AS ?m) { ${values} } GROUP BY ?k HAVING(l:sum(?v) > 5)`, 'a,12'],
    [`SELECT (l:average(DISTINCT ?v) AS ?m) { ${values} }`, '4'],
    [`SELECT ?k { ${values} } GROUP BY ?k ORDER BY DESC(l:maximum(?v)) LIMIT 1`, 'a'],
    // What nobody knows is an error of the expression, and not of the query.
    [`SELECT ?k (<urn:nobody>(?v) AS ?m) { ${values} FILTER(?v = 8) }`, 'a,'],
    [`SELECT (COALESCE(<urn:nobody>(1), "no") AS ?m) {}`, 'no'],
    [`SELECT (STRLEN(?o) AS ?n) { ?s ?p ?o FILTER(l:matches(?o, "lin", "prefix")) }`, '6'],
    [`SELECT ?s { ?s <urn:p> ?o FILTER(l:search(?s, "line", "word")) }`, 'urn:a'],
    [`SELECT ?k (l:countDistinct(?v) AS ?m) { ${values} } GROUP BY ?k`, 'a,3 b,1'],
    [`SELECT (l:countDistinct(?k) AS ?m) (l:countDistinct(DISTINCT ?v) AS ?n) { ${values} }`, '2,4'],
    [`SELECT (l:countDistinct(?s, <urn:p>) AS ?n) { ?s <urn:p> ?o }`, '1'],
    [`SELECT (l:interval(${moment}, 1, "month", "UTC") AS ?n) {}`, '24242'],
    [`SELECT (l:interval(${moment}, 15, "minute", "UTC") AS ?n) {}`, '1759006'],
    [`SELECT (l:interval(${moment}, 1, "week", "UTC") AS ?n) {}`, '2617'],
    [`SELECT (l:datePart(${moment}, "day", "Europe/Paris") AS ?n) {}`, '2'],
    [`SELECT (geof:sfWithin(${point('0 0')}, ${point('0 0')}) AS ?b) {}`, 'true'],
    [`SELECT ?n { BIND(l:near(${point('0 0')}, ${point('0 1')}, 120000) AS ?n) }`, 'true'],
    [
      `SELECT (l:latitude(${inEpsg('POINT(48 2)')}) AS ?n) (l:longitude(${inEpsg('POINT Z (48 2 7)')}) AS ?m) {}`,
      '48,2',
    ],
    [
      `SELECT (l:latitude(${inEpsg('POINT(48 2)', 25832)}) AS ?n) (l:longitude(${inEpsg('LINESTRING(1 2, 3 4)')}) AS ?m) {}`,
      ',',
    ],
    [`SELECT (geof:distance(${inEpsg('POINT(48 2)')}, ${point('2 48')}, <${UOM.metre}>) AS ?n) {}`, '0'],
    [
      `SELECT (geof:sfWithin(${point('2 48')}, ${inEpsg('POLYGON((47 1, 49 1, 49 3, 47 3, 47 1))')}) AS ?n) {}`,
      'true',
    ],
    [
      `SELECT (geof:envelope(${inEpsg('LINESTRING(48 2, 49 3.5)')}) AS ?n) {}`,
      `"<${EPSG}4326> POLYGON ((48 2, 49 2, 49 3.5, 48 3.5, 48 2))"`,
    ],
    [`SELECT (1 AS ?n) { FILTER(2 NOT IN ()) }`, '1'],
    [`SELECT (1 AS ?n) ?n (?n + 1 AS ?m) ?n { { SELECT (3 AS ?a) ?a {} } }`, '1,2'],
    [
      `SELECT (REPLACE("xax", "a", "<$1$0$10>") AS ?n) (REPLACE("ab", "(a)(b)?", "$2$1$12") AS ?m) {}`,
      'x<a0>x,baa2',
    ],
    [`SELECT (REPLACE("a", "(a", "b") AS ?n) (REPLACE("a", "(a)", "$") AS ?m) {}`, ','],
    [`SELECT (SUM(?v) AS ?n) { VALUES ?v { 9223372036854775807 1 } }`, '9223372036854775808'],
    [`SELECT (COUNT(<urn:nobody>(?v)) AS ?n) { VALUES ?v { 1 2 } }`, '0'],
    [`SELECT (COUNT(*) AS ?n) { ?s <urn:p>|<urn:p> "1" }`, '2'],
    [`SELECT (SUM(IF(EXISTS { SELECT (COUNT(*) AS ?c) {} }, 1, 0)) AS ?n) {}`, '1'],
    [`SELECT (IRI("x y") AS ?n) (IRI("../z") AS ?m) {}`, ',http://localhost:3000/api/z'],
  ]
  for (const [query, expected] of rows)
    t.equal(await csv('/api/sparql/plain', `${prefixes} ${query}`), expected, query)
  const refused = `${prefixes} SELECT (l:countDistinct(?o, "x") AS ?n) { ?s ?p ?o }`
  const { statusCode: status, body: told } = await (await served).inject({
    url: `/api/sparql/plain?query=${encodeURIComponent(refused)}`,
  })
  t.equal(status, 400)
  t.match(told, 'urn:lodestone:countDistinct', 'the message names the function')
  // Whatever they are given, the query is answered.
  const odd = [
    '',
    '?o',
    '?s, 1',
    '?o, "x", "y", "z"',
    '?o, "[]", "{}", "Nowhere/Land"',
    '?s, "[[1]]", <urn:p>',
  ]
  for (const iri of KNOWN_FUNCTIONS)
    for (const given of [...odd, '"2020-01-01"^^<http://www.w3.org/2001/XMLSchema#date>, "{]", "en", "x"']) {
      const query = `SELECT (<${iri}>(${given}) AS ?x) { ?s ?p ?o FILTER(BOUND(?s) || <${iri}>(${given})) }`
      const { statusCode, body } = await (await served).inject({
        url: `/api/sparql/plain?query=${encodeURIComponent(query)}`,
      })
      t.equal(statusCode, 200, `${query}: ${body}`)
    }
})

t.test('triple terms', async t => {
  const app = await served
  const construct =
    'CONSTRUCT { <urn:x:s> <urn:x:p> <<( ?s ?p <<( ?s <urn:q> "a )>> \\"b" )>> )>> } { VALUES (?s ?p) { (<urn:a> <urn:p>) } }'
  const term = '<<( <urn:a> <urn:p> <<( <urn:a> <urn:q> "a )>> \\"b" )>> )>>'
  const select = 'SELECT (<<( <urn:a> <urn:p> "x<y"@en )>> AS ?t) {}'
  const long = `CONSTRUCT { ?s ?p ?o , <<( ?s ?p ?o )>> } { ?s ?p ?v VALUES ?o { ${Array.from({ length: 3000 }, (_, i) => i).join(' ')} } }`
  const rows: readonly (readonly [query: string, accept: string, status: number, part: string])[] = [
    [construct, 'application/n-triples', 200, `<urn:x:s> <urn:x:p> ${term} .\n`],
    [construct, 'application/n-quads', 200, term],
    [construct, 'text/turtle', 200, `<urn:x:s> <urn:x:p> ${term} .\n`],
    [construct, 'application/trig', 200, term],
    [construct, '*/*', 200, term],
    [construct, 'text/html', 200, '&lt;&lt;( &lt;urn:a&gt;'],
    [construct, 'application/ld+json', 422, 'A triple term is nothing that JSON-LD can write'],
    [construct, 'application/rdf+xml', 200, 'rdf:parseType="Triple"'],
    [construct, 'text/n3', 422, 'A triple term is nothing that N3 can write'],
    [long, 'text/turtle', 200, '<<( <urn:a> '],
    [long, 'application/ld+json', 422, 'A triple term'],
    ['CONSTRUCT { <urn:a> <urn:p> "<<( no term )>>" } {}', 'application/ld+json', 200, '<<( no term )>>'],
    [
      'CONSTRUCT { <urn:a> <urn:p> 1 {| <urn:q> 2 |} } {}',
      'text/turtle',
      200,
      '#reifies> <<( <urn:a> <urn:p> ',
    ],
    [select, 'application/sparql-results+json', 200, '"type":"triple"'],
    [select, 'application/sparql-results+xml', 200, '<triple><subject><uri>urn:a</uri></subject>'],
    [select, 'text/tab-separated-values', 200, '<<( <urn:a> <urn:p> "x<y"@en )>>'],
    [select, 'text/csv', 200, 'urn:a urn:p x<y'],
    [select, 'text/html', 200, '&lt;&lt;( urn:a urn:p x&lt;y <small>en</small> )&gt;&gt;'],
  ]
  for (const [query, accept, status, part] of rows) {
    const payload = `query=${encodeURIComponent(query)}`
    const headers = { accept, 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await app.inject({ method: 'POST', url: '/api/sparql/plain', headers, payload })
    t.equal(answer.statusCode, status, `${query.slice(0, 60)} ${accept}: ${answer.body.slice(0, 300)}`)
    t.ok(answer.body.includes(part), `${accept}: ${answer.body.slice(0, 300)}`)
  }
})

t.test('variables that are named twice are refused', async t => {
  const app = await served
  for (const query of [
    'SELECT * { VALUES (?a ?a) { (1 1) } }',
    'SELECT (123 AS ?z) { ?s ?p ?z } GROUP BY ?z',
    'SELECT (123 AS ?z) { } GROUP BY (1 AS ?z)',
  ]) {
    const { statusCode, body } = await app.inject(`/api/sparql/plain?query=${encodeURIComponent(query)}`)
    t.equal(statusCode, 400, `${query}: ${body}`)
  }
})

t.test('the service description', async t => {
  const app = await served
  const SD = 'http://www.w3.org/ns/sparql-service-description#'
  for (const [path, names, isUnion] of [
    ['/api/sparql', [PLAIN, RDF_FILE, 'http://example.org/one', 'http://example.org/two'], false],
    ['/api/sparql/plain', [PLAIN], true],
    ['/api/sparql/rdf', ['http://example.org/one', 'http://example.org/two'], false],
  ] as const) {
    const { headers, body } = await app.inject({ url: path })
    t.match(headers['content-type'], 'text/turtle')
    const quads = new Parser().parse(body)
    const objects = (property: string) =>
      quads.filter(({ predicate }) => predicate.value === SD + property).map(({ object }) => object.value)
    t.same(objects('endpoint'), [BASE + path])
    t.same(objects('supportedLanguage'), [
      `${SD}SPARQL10Query`,
      `${SD}SPARQL11Query`,
      'https://www.w3.org/TR/sparql12-query/',
    ])
    t.same([...objects('name')].sort(), [...names].sort())
    t.same(objects('feature'), [`${SD}BasicFederatedQuery`, ...(isUnion ? [`${SD}UnionDefaultGraph`] : [])])
    t.equal(objects('resultFormat').length, 11)
    t.notOk(body.includes('urn:lodestone:graph'))
    t.match(body, /may work for 10 seconds/)
    t.same(objects('extensionAggregate').sort(), [...EXTENSION_AGGREGATES].sort())
    t.ok(EXTENSION_FUNCTIONS.length > 30 && EXTENSION_FUNCTIONS.every(iri => KNOWN_FUNCTIONS.includes(iri)))
    t.same(objects('extensionFunction').sort(), [...EXTENSION_FUNCTIONS].sort())
    const page = await app.inject({ url: path, headers: { accept: 'text/html' } })
    t.match(page.headers['content-type'], 'text/html')
    t.match(page.body, /<textarea id="query"/)
    t.match(page.body, 'SPARQL 1.2 Query')
    for (const iri of EXTENSION_FUNCTIONS) t.ok(page.body.includes(`<code>${iri}</code>`), iri)
  }
})

t.test('answers are conditional, but for queries of the moment', async t => {
  const app = await served
  const ask = (query: string, known?: string) =>
    app.inject({
      url: `/api/sparql/plain?query=${encodeURIComponent(query)}`,
      headers: known === undefined ? {} : { 'if-none-match': known },
    })
  const { headers } = await ask('ASK { ?s ?p ?o }')
  t.match(headers['cache-control'], 'max-age=60')
  t.equal((await ask('ASK { ?s ?p ?o }', String(headers.etag))).statusCode, 304)
  t.equal((await ask('ASK { ?s ?p ?x }', String(headers.etag))).statusCode, 200)
  for (const query of [
    'SELECT (NOW() AS ?t) {}',
    'SELECT (rand ( ) AS ?t) {}',
    'SELECT (STRUUID() AS ?t) {}',
    'CONSTRUCT { << ?s ?p ?o >> ?p ?o } { ?s ?p ?o }',
    'CONSTRUCT { ?s ?p ?o {| ?p ?o |} } { ?s ?p ?o }',
  ]) {
    const answer = await ask(query)
    t.equal(answer.headers.etag, undefined, query)
    t.equal(answer.headers['cache-control'], 'no-cache')
  }
})

t.test('reading is linear, and nothing but names of graphs is changed', t => {
  const hard = [
    'a-'.repeat(50_000),
    '"""\n\\'.repeat(20_000),
    '<'.repeat(99_000),
    ':.'.repeat(49_000),
    'é.'.repeat(49_000),
  ]
  for (const text of hard) {
    sparqlTokens(text)
    t.throws(() => readQueryText(text, BASE), { code: 'BadRequest' })
  }
  const dataset = { defaultGraphs: [], named: [{ iri: 'http://a/', graph: 'urn:g' }] }
  const merged = {
    defaultGraphs: [],
    named: ['urn:g', 'urn:h'].map(graph => ({ iri: 'http://a/', graph })),
  }
  const several = rewriteQuery(readQueryText('ASK { GRAPH <http://a/> { } }', BASE), merged)
  t.equal(several.text, 'ASK { { VALUES ?graph_of_1 { <urn:g> <urn:h> } GRAPH  ?graph_of_1  { } } }')
  const rows = [
    ['SELECT * { ?a ?b ?c }', 'SELECT * { ?a ?b ?c }'],
    ['ASK\nFROM <http://a/> { }', 'ASK\n                 { }'],
    ['ASK { GRAPH <http://a/> { } }', 'ASK { GRAPH <urn:g> { } }'],
    [
      'ASK { GRAPH ?g{} }',
      'ASK { { VALUES (?graph_of_1 ?g) { (<urn:g> <http://a/>) } GRAPH  ?graph_of_1 {} } }',
    ],
    [
      'SELECT * { ?graph_of_ ?p ?o GRAPH ?g {} }',
      'SELECT  ?graph_of_ ?p ?o ?g  { ?graph_of_ ?p ?o { VALUES (?graph_of__1 ?g) { (<urn:g> <http://a/>) } GRAPH  ?graph_of__1  {} } }',
    ],
  ] as const
  for (const [text, expected] of rows) {
    const rewritten = rewriteQuery(readQueryText(text, BASE), dataset)
    t.equal(rewritten.text, expected)
    t.equal(rewritten.origin(rewritten.text.length - 1), text.length - 1)
  }
  t.end()
})

t.test('no text keeps the reader of mistakes busy for ever', t => {
  const texts = [
    'a-'.repeat(50_000),
    `SELECT * { delete${' '.repeat(50_000)} }`,
    `SELECT * { insert${' #\n'.repeat(20_000)} }`,
    `ASK { ?s ?p ${"'''a".repeat(20_000)}`,
    `ASK { ${'('.repeat(90)}`,
    `ASK { ${'?s ?p ?o . '.repeat(2000)} foo`,
    `ASK { VALUES ?x { ${'"a" '.repeat(20_000)} ?y } }`,
    '<'.repeat(90_000),
  ]
  const described = texts.map(text => syntaxProblem(text)?.reason.replace(/^.* was found but /s, '') ?? null)
  for (const reason of described) t.match(reason, / is expected\./)
  t.equal(syntaxProblem('ASK { ?s ?p "\\uD800" }'), null, 'no place')
  for (const text of [
    'ASK { FILTER NOT  EXISTS { ?s ?p .5 , -.5 , +.5 } }',
    'ASK { ?s ?p <<( ?a ?b "c"@en--ltr )>> }',
  ])
    t.equal(syntaxProblem(text), null, text)
  t.end()
})

const many = (count: number) =>
  Array.from({ length: count }, (_, i) => `<urn:s${i}> <urn:p> "${i}" .\n`).join('')

t.test('no graphs are loaded for a query that violates the rules of scope', async t => {
  const store = await createEmbeddedStore({ workers: 2 })
  t.teardown(() => store.close())
  const app = await serve(store)
  for (const [query, status] of [
    ['SELECT (?s AS ?o) { ?s ?p ?o }', 400],
    ['SELECT ?x { BIND(1 AS ?x) BIND(2 AS ?x) }', 400],
    ['SELECT * { _:a ?p ?x OPTIONAL { _:a ?q ?y } }', 400],
    ['SELECT * { ?x ?y ?z FILTER(COUNT(?x) > 1) }', 400],
    ['CONSTRUCT { _:a ?p ?o } { _:a ?p ?o OPTIONAL { ?o ?q ?r } }', 200],
  ] as const) {
    const url = `/api/sparql?query=${encodeURIComponent(query)}`
    t.equal((await app.inject({ url })).statusCode, status, query)
  }
  t.equal((await store.statistics()).resident, 0)
})

t.test('a query past its deadline is stopped, and leaves a thread to others', async t => {
  const store = await createEmbeddedStore({ workers: 2, deadline: 1500 })
  t.teardown(() => store.close())
  const app = await serve(store)
  await store.load([sourceOf('urn:many', many(1500))])
  const long = 'SELECT (COUNT(*) AS ?n) { ?a ?p ?x . ?b ?q ?y . ?c ?r ?z FILTER(?x < ?y && ?y < ?z) }'
  const stopped = [1, 2, 3].map(() => faultOf(store.query(requested(long))))
  let isStopped = false
  void stopped[0]?.then(() => {
    isStopped = true
  })
  const object = { type: 'literal', value: '7', datatype: XSD.string, language: '' } as const
  for (let answered = 0; answered < 20; answered++) {
    const { count } = await store.match('urn:many', { object }, { offset: 0, limit: 1 })
    t.equal(count, 1)
    if (answered === 0) t.notOk(isStopped, 'answers come beside it, not after it')
  }
  const [first, ...others] = await Promise.all(stopped)
  t.equal(first, 'DeadlineExceeded')
  for (const other of others) t.match(other, /^(?:StoreBusy|DeadlineExceeded)$/)
  const { statusCode, body } = await app.inject({ url: '/api/sparql/plain?query=ASK%7B%7D' })
  t.equal(statusCode, 200, body)
  await t.rejects(
    store.query({ ...requested('ASK {}'), parsed: null, engineText: () => 'SELECT * { ?s ?p' }),
    {
      name: 'QueryError',
      line: 1,
    },
  )
})

t.test('answers of any size leave as they are found', async t => {
  const store = await createEmbeddedStore({ workers: 2 })
  t.teardown(() => store.close())
  await store.load([sourceOf('urn:lodestone:graph:plain:v1:facts', many(6000))])
  const app = await serveWith(store)
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  const ask = (query: string, accept: string, signal?: AbortSignal) =>
    fetch(`${address}/api/sparql/plain?query=${encodeURIComponent(query)}`, {
      headers: { accept, 'accept-encoding': 'identity' },
      ...(signal === undefined ? {} : { signal }),
    })
  // So many solutions that no machine writes them as one piece.
  const all = 'SELECT ?s ?p ?o { ?s ?p ?o . { SELECT ?x { ?x ?q ?v } LIMIT 20 } }'
  const construct = 'CONSTRUCT { ?o ?p ?s . ?s <urn:q> ?o } { ?s ?p ?o }'
  const rows: readonly (readonly [query: string, accept: string, count: (body: string) => number])[] = [
    [all, 'application/sparql-results+json', body => JSON.parse(body).results.bindings.length],
    [all, 'application/sparql-results+xml', body => body.split('<result>').length - 1],
    [all, 'text/csv', body => body.split('\r\n').length - 2],
    [all, 'text/tab-separated-values', body => body.split('\n').length - 2],
    [construct, 'application/n-triples', body => body.split('\n').length - 1],
    [construct, 'text/turtle', body => new Parser().parse(body).length],
    [construct, 'application/trig', body => new Parser().parse(body).length],
    [construct, 'application/rdf+xml', body => body.split('<rdf:Description').length - 1],
    [construct, 'application/ld+json', body => JSON.parse(body)['@graph'].length],
  ]
  for (const [query, accept, count] of rows) {
    const answer = await ask(query, accept)
    t.equal(answer.headers.get('content-length'), null, `${accept} comes in pieces`)
    t.equal(count(await answer.text()), query === all ? 20 * 6000 : 6000, accept)
  }
  // What the first piece cannot write is told as a fault, what comes later breaks the connection.
  const bad = (at: number) => `PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
    CONSTRUCT { ?s ?q ?o } { ?s ?p ?o BIND(IRI(IF(xsd:integer(?o) > ${at}, "urn:x:1/", "urn:x:p")) AS ?q) }`
  t.equal((await ask(bad(10), 'application/rdf+xml')).status, 422)
  await t.rejects(ask(bad(5000), 'application/rdf+xml').then(answer => answer.text()))
  // Whoever hangs up ends the work.
  const controller = new AbortController()
  const slow = 'SELECT * { ?a ?p ?x . ?b ?q ?y FILTER(STRLEN(CONCAT(?x, ?y)) = 10 && REGEX(?x, ?y)) }'
  const begun = performance.now()
  const hung = ask(slow, 'text/csv', controller.signal)
  setTimeout(() => controller.abort(), 200)
  await t.rejects(hung)
  const [next] = await Promise.all([ask('SELECT (COUNT(*) AS ?n) { ?s ?p ?o }', 'text/csv')])
  t.match(await next?.text(), '6000')
  t.ok(performance.now() - begun < 8000, 'before the deadline of what was hung up')
})

async function serveWith(store: Store): Promise<FastifyInstance> {
  return serve({ ...store, load: async () => undefined })
}

function requested(query: string): UntrustedQuery {
  return {
    parsed: parseQuery(query, BASE),
    base: BASE,
    format: 'csv',
    defaultGraphs: ['urn:many'],
    namedGraphs: [],
    engineText: () => query,
  }
}

/** The code of the fault with which a query is refused; its answer otherwise. */
async function faultOf(answer: Promise<QueryAnswer>): Promise<string> {
  try {
    const pieces: Uint8Array[] = []
    for await (const piece of (await answer).pieces) pieces.push(piece)
    return Buffer.concat(pieces).toString()
  } catch (error) {
    return error instanceof Fault ? error.code : String(error)
  }
}
