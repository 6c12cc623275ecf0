import fastify, { type FastifyInstance } from 'fastify'
import { Parser } from 'n3'
import oxigraph from 'oxigraph'
import t, { type Test } from 'tap'
import { resources } from '../src/api/resources/routes.ts'
import { Fault } from '../src/errors.ts'
import { field } from '../src/model/field.ts'
import { fieldIri, recordIri } from '../src/rdf/iris.ts'
import { literalText } from '../src/rdf/ntriples.ts'
import { GEO, RDF, RDFS, XSD } from '../src/rdf/vocab.ts'
import { memoryStore } from './support/memory-store.ts'

const BASE = 'http://localhost:8080'
const GRAPH = 'urn:test:facts'
const ID = '0123456789'.repeat(4)
const RECORD = recordIri(BASE, 'x', ID)
const CLASSY = `${BASE}/ld/resources/x/city/Zoë%20Krüger%2F1`
const XSS = `<script>alert("1")</script>&'`

const FIELDS = [
  field('name', 'text', { label: 'Name <b>' }),
  field('2020', 'double', { label: 'In 2020', description: 'Height "in" 2020' }),
  field('place', 'geo_point_2d'),
]

const TRIPLES = [
  `<${RECORD}> <${fieldIri(BASE, 'x', 'place')}> ${literalText('POINT(1 2)', GEO.wktLiteral)} .\n`,
  `<${RECORD}> <${fieldIri(BASE, 'x', 'name')}> ${literalText(XSS)} .\n`,
  `<${RECORD}> <${fieldIri(BASE, 'x', '2020')}> ${literalText('1.5', XSD.double)} .\n`,
  `<${RECORD}> <http://x/label> ${literalText('chat', XSD.string, 'fr')} .\n`,
  `<${RECORD}> <http://x/see> <http://x/other> .\n`,
  `<${RECORD}> <http://x/see> <javascript:alert(1)> .\n`,
].join('')

async function serve(t: Test): Promise<FastifyInstance> {
  const store = memoryStore()
  await store.load([{ graph: GRAPH, text: `${TRIPLES}<${CLASSY}> <http://x/p> "z" .\n` }])
  await store.load([
    { graph: 'urn:test:other', text: `<${BASE}/ld/resources/x/records/hidden> <http://x/p> "z" .\n` },
  ])
  const http = fastify({ routerOptions: { ignoreTrailingSlash: true, maxParamLength: 4096 } })
  await http.register(resources, {
    base: BASE,
    store,
    dataset: id => {
      if (id !== 'x') throw new Fault('NotFoundResource', { kind: 'dataset', id })
      const labels = new Map(FIELDS.map(({ name, label }) => [fieldIri(BASE, 'x', name), label]))
      return { id, title: 'Dataset <x>', version: 'v1', graph: GRAPH, fields: FIELDS, labels }
    },
  })
  t.teardown(() => http.close())
  return http
}

/** Triples of a text in any format that the store reads. */
function triplesOf(text: string, format: string): readonly string[] {
  const store = new oxigraph.Store()
  store.load(text, { format })
  return (store.query('CONSTRUCT WHERE { ?s ?p ?o }', { results_format: 'application/n-triples' }) as string)
    .trimEnd()
    .split('\n')
    .sort()
}

const target = (iri: string) => iri.replace(BASE, '')

t.test('a record answers in every format with the same triples', async t => {
  const http = await serve(t)
  const expected = TRIPLES.trimEnd().split('\n').sort()
  const cases: readonly (readonly [string | undefined, string])[] = [
    [undefined, 'text/turtle'],
    ['*/*', 'text/turtle'],
    ['text/turtle', 'text/turtle'],
    ['application/ld+json', 'application/ld+json'],
    ['application/n-triples;q=0.9, text/html;q=0.5', 'application/n-triples'],
  ]
  for (const [accept, type] of cases) {
    const answer = await http.inject({ url: target(RECORD), headers: accept === undefined ? {} : { accept } })
    t.equal(answer.statusCode, 200, String(accept))
    t.equal(answer.headers['content-type'], `${type}; charset=utf-8`)
    t.equal(answer.headers.vary, 'Accept')
    t.match(answer.headers.link, 'rel="alternate"; type="application/ld+json"')
    t.strictSame(triplesOf(answer.body, type), expected, `${type} says all and nothing else`)
  }
  const { body } = await http.inject(target(RECORD))
  t.equal(new Parser({ format: 'text/turtle' }).parse(body).length, 6, 'N3 reads the Turtle too')
})

t.test('the page shows labels and values, and nothing that is data acts', async t => {
  const http = await serve(t)
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  const { body, headers } = await http.inject({ url: target(RECORD), headers: { accept } })
  t.equal(headers['content-type'], 'text/html; charset=utf-8')
  t.notMatch(body, '<script', 'no script')
  t.match(body, '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;')
  t.match(body, 'Name &lt;b&gt;', 'labels are escaped')
  t.match(body, 'Dataset &lt;x&gt;')
  t.match(body, '<a href="http://x/other">')
  t.notMatch(body, 'href="javascript', 'only web addresses are links')
  t.match(body, '<span lang="fr">chat</span>')
  t.match(body, /1\.5 <small>double<\/small>/)
  t.match(body, '<html lang="en">')
  t.match(body, '<th scope="row">')
  t.ok(body.indexOf('Name &lt;b&gt;') < body.indexOf('In 2020'), 'properties in the order of the fields')
})

t.test('one resource, however its IRI is escaped', async t => {
  const http = await serve(t)
  const paths = [
    encodeURI(target(CLASSY)).replaceAll('%25', '%'),
    '/ld/resources/x/city/Zo%c3%ab%20Kr%c3%bcger%2f1',
    '/ld/resources/x/%63ity/Zo%C3%AB%20Kr%C3%BCger%2F1?x=y',
  ]
  for (const url of paths) {
    const answer = await http.inject(url)
    t.equal(answer.statusCode, 200, url)
    t.match(answer.body, '"z"')
  }
})

t.test('what is not there', async t => {
  const http = await serve(t)
  const cases: readonly (readonly [string, string | undefined, number, RegExp])[] = [
    ['/ld/resources/x/records/none', undefined, 404, /problem\+json/],
    ['/ld/resources/x/records/none', 'text/html', 404, /text\/html/],
    ['/ld/resources/x/records/hidden', undefined, 404, /problem\+json/],
    ['/ld/resources/y/records/none', undefined, 404, /problem\+json/],
    ['/ld/ontologies/x/none', undefined, 404, /problem\+json/],
    [target(RECORD), 'image/png', 406, /problem\+json/],
    [target(RECORD), 'text/html;q=0', 406, /problem\+json/],
  ]
  for (const [url, accept, status, type] of cases) {
    const answer = await http.inject({ url, headers: accept === undefined ? {} : { accept } })
    t.equal(answer.statusCode, status, `${url} ${accept}`)
    t.match(answer.headers['content-type'], type)
  }
  const page = await http.inject({
    url: '/ld/resources/x/records/<script>',
    headers: { accept: 'text/html' },
  })
  t.notMatch(page.body, '<script', 'the address is escaped in the message')
})

t.test('a field is a property', async t => {
  const http = await serve(t)
  const iri = fieldIri(BASE, 'x', '2020')
  t.equal(iri, `${BASE}/ld/ontologies/x/_2020`)
  const { body } = await http.inject({ url: target(iri), headers: { accept: 'application/n-triples' } })
  t.strictSame(
    body.trimEnd().split('\n').sort(),
    [
      `<${iri}> <${RDF.type}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#Property> .`,
      `<${iri}> <${RDFS.label}> "In 2020" .`,
      `<${iri}> <${RDFS.comment}> "Height \\"in\\" 2020" .`,
      `<${iri}> <${RDFS.range}> <${XSD.double}> .`,
    ].sort(),
  )
})

t.test('caches and HEAD', async t => {
  const http = await serve(t)
  const url = target(RECORD)
  const { etag } = (await http.inject(url)).headers
  const known = await http.inject({ url, headers: { 'if-none-match': String(etag) } })
  t.strictSame([known.statusCode, known.body], [304, ''])
  const other = await http.inject({
    url,
    headers: { 'if-none-match': String(etag), accept: 'application/ld+json' },
  })
  t.equal(other.statusCode, 200, 'another type has another tag')
  const head = await http.inject({ method: 'HEAD', url })
  t.strictSame([head.statusCode, head.body, head.headers.etag], [200, '', etag])
})

t.test('?format= chooses the form, for links that cannot send a header', async t => {
  const http = await serve(t)
  const cases: readonly (readonly [string, number, string])[] = [
    ['turtle', 200, 'text/turtle'],
    ['jsonld', 200, 'application/ld+json'],
    ['nt', 200, 'application/n-triples'],
    ['html', 200, 'text/html'],
    ['application/n-triples', 200, 'application/n-triples'],
    ['pdf', 406, 'application/problem+json'],
  ]
  for (const [format, status, type] of cases) {
    const url = `${target(RECORD)}?format=${encodeURIComponent(format)}`
    const answer = await http.inject({ url, headers: { accept: '*/*' } })
    t.equal(answer.statusCode, status, format)
    t.ok(String(answer.headers['content-type']).startsWith(type), format)
  }
  const page = await http.inject({ url: target(RECORD), headers: { accept: 'text/html' } })
  for (const [format] of cases.slice(0, 3)) t.match(page.body, `href="${RECORD}?format=${format}"`)
})
