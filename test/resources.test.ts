import fastify, { type FastifyInstance } from 'fastify'
import { Parser } from 'n3'
import oxigraph from 'oxigraph'
import t, { type Test } from 'tap'
import type { ResourcesOptions } from '../src/api/resources/dataset.ts'
import { mapOf } from '../src/api/resources/map.ts'
import { resources } from '../src/api/resources/routes.ts'
import { Fault, GONE, NOT_FOUND_RESOURCE } from '../src/errors/errors.ts'
import { AnswerCache } from '../src/http/conditional.ts'
import { field } from '../src/model/field.ts'
import { datasetIri, fieldIri, recordIri } from '../src/rdf/minted-iris.ts'
import { literalText } from '../src/rdf/ntriples.ts'
import { DCTERMS, FOAF, GEO, HYDRA, RDF, RDFS, VOID, XSD } from '../src/rdf/vocab.ts'
import { translator } from '../src/site/page-context.ts'
import { testStore } from './support/test-store.ts'

const BASE = 'http://localhost:8080/portal'
const MODIFIED = '2026-01-02T03:04:05Z'
const LICENSE = 'https://example.org/licence'
const ID = '0123456789'.repeat(4)
const RECORD = recordIri(BASE, 'x', ID)
const CLASSY = `${BASE}/ld/resources/x/city/Zoë%20Krüger%2F1`
const NODE = `${BASE}/.well-known/genid/x`
const HUB = `${BASE}/ld/resources/x/hub/1`
const DOTTED = `${BASE}/ld/resources/x/file/a.ttl`
const ONLY_OBJECT = `${BASE}/ld/resources/x/only/object`
const LONG = `${BASE}/ld/resources/x/title/${'長'.repeat(160)}`
const XSS = `<script>alert("1")</script>&'`

const FIELDS = [
  field('name', 'text', { label: 'Name <b>' }),
  field('2020', 'double', { label: 'In 2020', description: 'Height "in" 2020' }),
  field('place', 'geo_point_2d'),
]

const OWN = [
  `<${RECORD}> <${fieldIri(BASE, 'x', 'place')}> ${literalText('POINT(1 2)', GEO.wktLiteral)} .\n`,
  `<${RECORD}> <${fieldIri(BASE, 'x', 'name')}> ${literalText(XSS)} .\n`,
  `<${RECORD}> <${fieldIri(BASE, 'x', '2020')}> ${literalText('1.5', XSD.double)} .\n`,
  `<${RECORD}> <http://x/label> ${literalText('chat', XSD.string, 'fr')} .\n`,
  `<${RECORD}> <http://x/see> <http://x/other> .\n`,
  `<${RECORD}> <http://x/see> <javascript:alert(1)> .\n`,
  `<${RECORD}> <http://x/far> <${recordIri(BASE, 'y', 'r1')}> .\n`,
  `<${RECORD}> <http://x/part> <${NODE}/a> .\n`,
].join('')

const NESTED = [
  `<${NODE}/a> <http://x/deep> <${NODE}/b> .\n`,
  `<${NODE}/b> <http://x/deep> <${NODE}/c> .\n`,
  `<${NODE}/b> <http://x/list> <${NODE}/l1> .\n`,
  ...[1, 2, 3, 4, 5, 6].flatMap(at => [
    `<${NODE}/l${at}> <${RDF.first}> "item ${at}" .\n`,
    `<${NODE}/l${at}> <${RDF.rest}> <${at === 6 ? RDF.nil : `${NODE}/l${at + 1}`}> .\n`,
  ]),
  `<${NODE}/c> <http://x/deep> <${NODE}/d> .\n`,
].join('')
const TOO_DEEP = `<${NODE}/d> <http://x/deep> "too deep" .\n`

const LINKS = Array.from({ length: 230 }, (_, at) =>
  [
    `<${BASE}/ld/resources/x/spoke/${at}> <http://x/of> <${HUB}> .\n`,
    `<${BASE}/ld/resources/x/spoke/${at}> <${RDFS.label}> "Spoke ${at}" .\n`,
  ].join(''),
).join('')

const GRAPH_X = [
  OWN,
  NESTED,
  TOO_DEEP,
  LINKS,
  `<${HUB}> <${RDFS.label}> "Nabe"@de .\n<${HUB}> <${RDFS.label}> "Hub"@en .\n`,
  `<${HUB}> <http://x/knows> <${HUB}> .\n`,
  `<${CLASSY}> <http://x/p> "z" .\n<${CLASSY}> <http://x/q> <${ONLY_OBJECT}> .\n`,
  `<${DOTTED}> <http://x/p> "dotted" .\n<${LONG}> <http://x/p> "long" .\n`,
  `<${BASE}/ld/resources/x/thing/a?q=1&r=2> <http://x/p> "queried" .\n`,
  `<${BASE}/ld/resources/x/thing/b#part> <http://x/p> "fragment" .\n`,
  `<${BASE}/ld/resources/x/thing/c%5B25%25%5D> <http://x/p> "escaped" .\n`,
  `<${BASE}/ld/resources/x/odd/%c3%a9> <http://x/p> "odd spelling" .\n`,
  `<${BASE}/ld/resources/x/bad/1> <http://x/2020> "no name for XML" .\n`,
  `<${BASE}/ld/resources/x/bad/2> <http://x/p> "\\u0007" .\n`,
  `<${HUB}> <${BASE}/ld/ontologies/x/minted> "1" .\n`,
].join('')

async function serve(t: Test, more: Partial<ResourcesOptions> = {}): Promise<FastifyInstance> {
  const store = await testStore(t, {
    'urn:test:x': GRAPH_X,
    'urn:test:y': `<${BASE}/ld/resources/y/> <http://x/p> "the file" .\n<${BASE}/ld/resources/y/#part> <http://x/p> "its part" .\n<${recordIri(BASE, 'y', 'r1')}> <${fieldIri(BASE, 'y', 'name')}> "Far away" .\n<${BASE}/ld/resources/x/records/hidden> <${BASE}/ld/resources/y/vocab/minted> "z" .\n`,
  })
  const http = fastify({ routerOptions: { ignoreTrailingSlash: true, maxParamLength: 4096 } })
  await http.register(resources, {
    answers: new AnswerCache(1e6),
    base: BASE,
    title: 'Portal',
    description: '',
    languages: ['en'],
    store,
    dereference: 'redirect',
    visibleTo: () => ({
      isRemoved: (_, record) => record === 'removed',
      state: () => 'v1',
      linkSources: () => [],
      dataset: id => {
        if (id === 'gone') throw new Fault(GONE, { reason: 'The dataset gone was withdrawn.' })
        if (id !== 'x' && id !== 'y') throw new Fault(NOT_FOUND_RESOURCE, { kind: 'dataset', id })
        return {
          id,
          title: `Dataset <${id}>`,
          publisher: 'Publisher',
          licenseName: 'Licence <1>',
          license: LICENSE,
          modified: MODIFIED,
          version: 'v1',
          graph: `urn:test:${id}`,
          index: `urn:test:${id}:index`,
          fields: FIELDS,
          labels: new Map(FIELDS.map(({ name, label }) => [fieldIri(BASE, id, name), label])),
          describe: () => `<${datasetIri(BASE, id)}> <${DCTERMS.title}> "Dataset <${id}>" .\n`,
        }
      },
    }),
    ...more,
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

/** The path that a proxy hands on for an IRI: without the prefix of the portal. */
const target = (iri: string) => iri.replace(BASE, '')
/** The path of the document about a thing. */
const documentOf = (iri: string) =>
  target(iri)
    .replace('/ld/resources/', '/ld/data/')
    .replace('/ld/ontologies/', '/ld/vocabulary/')
    .replace('/.well-known/genid/', '/ld/nodes/')
const accepting = (accept: string | undefined) => (accept === undefined ? {} : { accept })

t.test('a thing redirects to the document about it', async t => {
  const http = await serve(t)
  const cases: readonly (readonly [string, string])[] = [
    [target(RECORD), `${BASE}/ld/data/x/records/${ID}`],
    [`${target(RECORD)}?format=nt`, `${BASE}/ld/data/x/records/${ID}?format=nt`],
    ['/ld/resources/x', `${BASE}/ld/data/x`],
    ['/ld/resources/x/', `${BASE}/ld/data/x`],
    ['/ld/ontologies/x', `${BASE}/ld/vocabulary/x`],
    ['/ld/ontologies/x/name', `${BASE}/ld/vocabulary/x/name`],
    ['/ld/ontologies/x/minted', `${BASE}/ld/vocabulary/x/minted`],
    [target(`${NODE}/a`), `${BASE}/ld/nodes/x/a`],
    ['/ld/resources/x/only/object', `${BASE}/ld/data/x/only/object`],
    ['/ld/resources/x/thing/a?q=1&r=2', `${BASE}/ld/data/x/thing/a%3Fq=1&r=2`],
    ['/ld/resources/x/thing/b%23part', `${BASE}/ld/data/x/thing/b%23part`],
    ['/ld/resources/x/thing/b', `${BASE}/ld/data/x/thing/b`],
    ['/ld/resources/x/thing/c%5B25%25%5D', `${BASE}/ld/data/x/thing/c%5B25%25%5D`],
    [
      '/ld/resources/x/%63ity/Zo%c3%ab%20Kr%c3%bcger%2f1',
      `${BASE}/ld/data/x/city/Zo%C3%AB%20Kr%C3%BCger%2F1`,
    ],
  ]
  for (const [url, location] of cases) {
    const answer = await http.inject({ url, headers: { accept: 'text/html' } })
    t.strictSame([answer.statusCode, answer.headers.location], [303, location], url)
    t.match(answer.headers.link, 'rel="describedby"')
    t.match(answer.headers['access-control-expose-headers'], 'Location')
  }
  const direct = await serve(t, { dereference: 'direct' })
  // Clients of Node read headers of 16 KiB, proxies often half of it.
  for (const url of [LONG, LONG.replace('/resources/', '/data/')]) {
    const { link } = (await http.inject(encodeURI(target(url)))).headers
    t.match(link, /rel="canonical".*rel="describedby".*rel="about"/)
    t.ok(String(link).length < 8192, `a Link header of ${String(link).length} characters`)
  }
  const answer = await direct.inject(target(RECORD))
  t.strictSame(
    [answer.statusCode, answer.headers['content-location']],
    [200, `${BASE}/ld/data/x/records/${ID}.ttl`],
  )
})

t.test('a document has the same triples in every form', async t => {
  const http = await serve(t)
  const url = documentOf(RECORD)
  const { body: plain, headers } = await http.inject(`${url}.nt`)
  const expected = triplesOf(plain, 'application/n-triples')
  for (const line of (OWN + NESTED).trimEnd().split('\n'))
    t.ok(expected.includes(line), `says ${line.slice(-60)}`)
  t.notMatch(plain, 'too deep', 'three levels of nodes')
  t.equal(headers['last-modified'], 'Fri, 02 Jan 2026 03:04:05 GMT')
  t.equal(headers['content-disposition'], undefined)
  const about = `<${BASE}/ld/data/x/records/${ID}>`
  for (const statement of [
    `<${FOAF.primaryTopic}> <${RECORD}>`,
    `<${VOID.inDataset}> <${BASE}/ld/resources/x>`,
    `<${DCTERMS.license}> <${LICENSE}>`,
    `<${DCTERMS.modified}> "${MODIFIED}"^^<${XSD.dateTime}>`,
  ])
    t.match(plain, `${about} ${statement} .\n`)
  t.match(plain, `<${recordIri(BASE, 'y', 'r1')}> <${RDFS.label}> "Far away" .`, 'named by its own dataset')
  const cases: readonly (readonly [string, string | undefined, string])[] = [
    ['', undefined, 'text/turtle'],
    ['', '*/*', 'text/turtle'],
    ['', 'text/turtle', 'text/turtle'],
    ['', 'text/html;q=0.9, text/turtle;q=0.9', 'text/turtle'],
    ['', 'application/ld+json', 'application/ld+json'],
    ['', 'application/n-triples;q=0.9, text/html;q=0.5', 'application/n-triples'],
    ['', 'application/rdf+xml', 'application/rdf+xml'],
    ['', 'application/rdf+xml, */*', 'application/rdf+xml'],
    ['', 'text/n3, text/*;q=0.5, application/*', 'text/n3'],
    ['', 'application/trig', 'application/trig'],
    ['', 'application/n-quads', 'application/n-quads'],
    ['', 'text/n3', 'text/n3'],
    ['', 'application/json', 'application/json'],
    ['.ttl', 'text/html', 'text/turtle'],
    ['.rdf', 'text/html', 'application/rdf+xml'],
    ['.jsonld', undefined, 'application/ld+json'],
    ['.trig', undefined, 'application/trig'],
    ['.nq', undefined, 'application/n-quads'],
    ['.n3', undefined, 'text/n3'],
    ['?format=turtle', 'text/html', 'text/turtle'],
    ['?format=application/ld+json', 'text/html', 'application/ld+json'],
    ['?format=rdfxml', 'text/html', 'application/rdf+xml'],
  ]
  const tags = new Set<unknown>()
  for (const [end, accept, type] of cases) {
    const answer = await http.inject({ url: url + end, headers: accepting(accept) })
    t.equal(answer.statusCode, 200, `${end} ${accept}`)
    t.equal(answer.headers['content-type'], `${type}; charset=utf-8`)
    t.equal(answer.headers.vary, 'Accept, Authorization, Cookie')
    for (const rel of ['alternate', 'canonical', 'describedby', 'about'])
      t.match(answer.headers.link, `rel="${rel}"`)
    const format = type === 'application/json' ? 'application/ld+json' : type
    t.strictSame(triplesOf(answer.body, format), expected, `${type} says all and nothing else`)
    if (end === '') tags.add(answer.headers.etag)
  }
  t.equal(tags.size, 8, 'one tag a representation')
  t.ok(new Parser({ format: 'text/turtle' }).parse((await http.inject(url)).body).length > 20)
})

t.test('the page shows labels, values and nodes, and nothing that is data acts', async t => {
  const http = await serve(t)
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  const { body, headers } = await http.inject({ url: documentOf(RECORD), headers: { accept } })
  t.equal(headers['content-type'], 'text/html; charset=utf-8')
  t.match(headers['content-security-policy'], /^default-src 'none'; style-src 'self'; script-src 'self';/)
  const scripts: readonly string[] = body.match(/<script[^>]*>/g) ?? []
  t.equal(scripts.length, 2)
  t.match(
    scripts[0],
    /^<script type="module" src="\/portal\/assets\/site\.\w+\.js">|^<script type="application/,
  )
  t.ok(scripts.includes('<script type="application/ld+json">'), 'data')
  t.notMatch(body, / style="|<style| on\w+="/)
  const data = /<script type="application\/ld\+json">([\s\S]*?)<\/script>/.exec(body)?.[1] ?? ''
  const described = new Set(triplesOf(data, 'application/ld+json'))
  for (const line of triplesOf((await http.inject(`${documentOf(RECORD)}.nt`)).body, 'application/n-triples'))
    t.ok(described.has(line), line)
  t.match(body, '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;')
  t.match(body, 'Name &lt;b&gt;', 'labels are escaped')
  t.match(body, 'Dataset &lt;x&gt;')
  t.match(body, 'Licence &lt;1&gt;')
  t.match(body, '<a href="http://x/other" title="http://x/other">')
  t.notMatch(body, 'href="javascript', 'only web addresses are links')
  t.match(body, '<span lang="fr">')
  t.match(body, /<data value="1\.5">1\.5<\/data> <small title="[^"]*double">double<\/small>/)
  t.match(body, '<th scope="row">')
  t.match(body, '>Far away</a>', 'a link has the name of what it leads to')
  t.match(body, /<ol><li>.*item 1.*<li>.*item 6/s, 'a list is a list')
  t.match(body, '<svg ')
  t.match(body, 'geo:2,1')
  const table = body.slice(body.indexOf('<table'))
  t.ok(table.indexOf('Name &lt;b&gt;') < table.indexOf('In 2020'), 'properties in the order of the fields')
})

t.test('the page has one canonical address, and a description of its own', async t => {
  const http = await serve(t)
  for (const end of ['', '?lang=fr', '?inverse=1']) {
    const { body } = await http.inject({ url: documentOf(HUB) + end, headers: { accept: 'text/html' } })
    const found = [...body.matchAll(/<link rel="canonical" href="([^"]*)"/g)].map(([, address]) => address)
    t.strictSame(found, [`${BASE}${documentOf(HUB)}${end === '?lang=fr' ? end : ''}`], end)
    t.match(body, /<meta name="description" content="[^"]* · Dataset &lt;x&gt;/)
  }
})

t.test('nodes within a page are lists of properties, each with its name', async t => {
  const { body } = await (await serve(t)).inject({
    url: documentOf(RECORD),
    headers: { accept: 'text/html' },
  })
  t.match(body, /<div class="nested"><a class="node"[^>]*>[^<]*<\/a><dl><dt>/)
  t.notMatch(body, /<dl[^>]*><dd/)
})

t.test('links to a resource come in pages', async t => {
  const http = await serve(t)
  const url = documentOf(HUB)
  const found = new Set<string>()
  const address = (page: number) => `<${BASE}${url}?inverse=${page}>`
  for (const [page, length] of [
    [1, 100],
    [2, 100],
    [3, 31],
    [4, 0],
  ] as const) {
    const { body } = await http.inject(`${url}?inverse=${page}&format=nt`)
    const links = body
      .split('\n')
      .filter(line => line.endsWith(`> <${HUB}> .`) && !line.includes('primaryTopic'))
    t.equal(links.length, length, `page ${page}`)
    for (const link of links) found.add(link)
    t.match(body, `${address(page)} <${HYDRA.totalItems}> "231"^^<${XSD.integer}>`)
    t.equal(body.includes(`<${HYDRA.next}>`), page < 3)
    t.equal(body.includes(`<${HYDRA.previous}>`), page > 1)
    t.notMatch(body, `<${HUB}> <${BASE}/ld/ontologies/x/minted>`, 'links only')
  }
  t.equal(found.size, 231)
  const whole = await http.inject(`${url}.nt`)
  t.match(whole.body, `<${BASE}${url}> <${RDFS.seeAlso}> ${address(2)}`)
  t.match(whole.body, `<${RDFS.label}> "Spoke `, 'what links is named')
  const of = await http.inject(`${url}?inverse=1&predicate=http://x/knows&format=nt`)
  t.match(of.body, `<${HYDRA.totalItems}> "1"`)
  const page = await http.inject(`${url}.html`)
  t.match(page.body, '<h1>Hub</h1>', 'English is preferred')
  t.match(page.body, /Linked from <span class="number-badge">231</)
  t.match(page.body, `?inverse=1&amp;predicate=http%3A%2F%2Fx%2Fof">All 230</a>`)
  t.equal(
    (page.body.slice(page.body.indexOf('id="links"')).match(/<li><a[^>]*>Spoke \d+</g) ?? []).length,
    10,
  )
  const second = await http.inject(`${url}.html?inverse=2`)
  t.match(second.body, /<a rel="prev"[^>]*inverse=1">.*<a rel="next"[^>]*inverse=3">/)
  for (const bad of ['0', '-1', 'x', '1.5', '1&inverse=2'])
    t.equal((await http.inject(`${url}?inverse=${bad}`)).statusCode, 400, bad)
  t.equal((await http.inject(`${url}?predicate=not an iri`)).statusCode, 400)
})

t.test('one resource, however its IRI is escaped; a suffix may belong to it', async t => {
  const http = await serve(t)
  const cases: readonly (readonly [string, string, string])[] = [
    [encodeURI(documentOf(CLASSY)).replaceAll('%25', '%'), '"z"', 'text/turtle'],
    ['/ld/data/x/city/Zo%c3%ab%20Kr%c3%bcger%2f1', '"z"', 'text/turtle'],
    ['/ld/data/x/%63ity/Zo%C3%AB%20Kr%C3%BCger%2F1?x=y', '"z"', 'text/turtle'],
    ['/ld/data/x/city/Zo%C3%AB%20Kr%C3%BCger%2F1.nt', '"z"', 'application/n-triples'],
    [documentOf(DOTTED), '"dotted"', 'text/turtle'],
    [`${documentOf(DOTTED)}.nt`, '"dotted"', 'application/n-triples'],
    ['/ld/data/x/odd/%C3%A9', 'foaf:Document', 'text/turtle'],
    ['/ld/data/x/odd/%c3%a9', '"odd spelling"', 'text/turtle'],
    ['/ld/data/x/only/object', '<http://x/q>', 'text/turtle'],
    ['/ld/nodes/x/l6', 'item 6', 'text/turtle'],
    ['/ld/data/x/thing/a%3Fq=1&r=2', '"queried"', 'text/turtle'],
    ['/ld/data/x/thing/a%3Fq=1&r=2.nt', '"queried"', 'application/n-triples'],
    ['/ld/data/x/thing/b%23part?format=nt', '"fragment"', 'application/n-triples'],
    ['/ld/data/x/thing/b?format=nt', '"fragment"', 'application/n-triples'],
    ['/ld/data/x/thing/b', '"fragment"', 'text/turtle'],
    ['/ld/data/x/', 'dcterms:title "Dataset <x>"', 'text/turtle'],
    ['/ld/data/y', 'dcterms:title "Dataset <y>"', 'text/turtle'],
    ['/ld/data/y/', '"the file"', 'text/turtle'],
    ['/ld/data/y/.nt', '"its part"', 'application/n-triples'],
    ['/ld/data/y/vocab/minted', 'a rdf:Property', 'text/turtle'],
  ]
  for (const [url, part, type] of cases.filter(([, part]) => part !== 'foaf:Document')) {
    const answer = await http.inject(url)
    t.equal(answer.statusCode, 200, url)
    t.match(answer.body, part)
    t.equal(answer.headers['content-type'], `${type}; charset=utf-8`)
  }
})

t.test('what is not there, any more, or in no such form', async t => {
  const http = await serve(t)
  const cases: readonly (readonly [string, string | undefined, number, RegExp])[] = [
    ['/ld/resources/x/records/none', undefined, 404, /problem\+json/],
    ['/ld/resources/x/records/none', 'text/html', 404, /text\/html/],
    ['/ld/data/x/records/none.ttl', undefined, 404, /problem\+json/],
    ['/ld/resources/x/records/hidden', undefined, 404, /problem\+json/],
    ['/ld/resources/z/records/none', undefined, 404, /problem\+json/],
    ['/ld/resources/z', undefined, 404, /problem\+json/],
    ['/ld/ontologies/x/none', undefined, 404, /problem\+json/],
    ['/.well-known/genid/x', undefined, 404, /problem\+json/],
    ['/.well-known/genid/x/none', undefined, 404, /problem\+json/],
    ['/ld/resources/x/records/removed', undefined, 410, /problem\+json/],
    ['/ld/data/x/records/removed.html', 'text/html', 410, /text\/html/],
    ['/ld/resources/gone/records/1', undefined, 410, /problem\+json/],
    ['/ld/resources/gone', 'text/html', 410, /text\/html/],
    [documentOf(RECORD), 'image/png', 406, /problem\+json/],
    [documentOf(RECORD), 'text/html;q=0', 406, /problem\+json/],
    [`${documentOf(RECORD)}?format=pdf`, undefined, 406, /problem\+json/],
    ['/ld/data/x/bad/1.rdf', undefined, 422, /problem\+json/],
    ['/ld/data/x/bad/2.rdf', undefined, 422, /problem\+json/],
  ]
  for (const [url, accept, status, type] of cases) {
    const answer = await http.inject({ url, headers: accepting(accept) })
    t.equal(answer.statusCode, status, `${url} ${accept}`)
    t.match(answer.headers['content-type'], type)
    if (status === 406) t.match(answer.body, /text\/turtle.*application\/rdf\+xml.*text\/html/)
  }
  const page = await http.inject({
    url: '/ld/resources/x/records/<script>',
    headers: { accept: 'text/html' },
  })
  t.notMatch(page.body, '<script>', 'the address is escaped in the message')
})

t.test('fields are properties, datasets have descriptions', async t => {
  const http = await serve(t)
  const iri = fieldIri(BASE, 'x', '2020')
  t.equal(iri, `${BASE}/ld/ontologies/x/_2020`)
  const { body } = await http.inject(`${documentOf(iri)}.nt`)
  t.strictSame(
    body
      .trimEnd()
      .split('\n')
      .filter(line => line.startsWith(`<${iri}>`))
      .sort(),
    [
      `<${iri}> <${RDF.type}> <${RDF.Property}> .`,
      `<${iri}> <${RDFS.label}> "In 2020" .`,
      `<${iri}> <${RDFS.comment}> "Height \\"in\\" 2020" .`,
      `<${iri}> <${RDFS.domain}> <${RDFS.Resource}> .`,
      `<${iri}> <${RDFS.range}> <${XSD.double}> .`,
      `<${iri}> <${RDFS.isDefinedBy}> <${BASE}/ld/ontologies/x> .`,
    ].sort(),
  )
  const ontology = await http.inject('/ld/vocabulary/x.nt')
  t.equal(ontology.body.split(`<${RDFS.isDefinedBy}>`).length - 1, 3)
  const dataset = await http.inject('/ld/data/x.nt')
  t.match(dataset.body, `<${BASE}/ld/resources/x> <${DCTERMS.title}> "Dataset <x>" .`)
  t.match(dataset.body, `<${VOID.vocabulary}> <${BASE}/ld/ontologies/x>`)
  t.match(dataset.body, '/exports/turtle>')
  for (const url of ['/ld/data/x.html', '/ld/vocabulary/x.html', '/ld/vocabulary/x/name.html'])
    t.match((await http.inject(url)).body, /<h1>.*<\/h1>/, url)
})

t.test('caches and HEAD', async t => {
  const http = await serve(t)
  const url = documentOf(RECORD)
  const { etag, 'last-modified': modified } = (await http.inject(url)).headers
  const known = await http.inject({ url, headers: { 'if-none-match': String(etag) } })
  t.strictSame([known.statusCode, known.body], [304, ''])
  const since = await http.inject({ url, headers: { 'if-modified-since': String(modified) } })
  t.equal(since.statusCode, 200, 'a document has triples of other datasets too')
  const other = await http.inject({
    url,
    headers: { 'if-none-match': String(etag), accept: 'application/ld+json' },
  })
  t.equal(other.statusCode, 200, 'another type has another tag')
  const head = await http.inject({ method: 'HEAD', url })
  t.strictSame([head.statusCode, head.body, head.headers.etag], [200, '', etag])
  const owned = await http.inject({ url, headers: { authorization: 'Apikey k' } })
  t.match(owned.headers['cache-control'], 'private')
})

t.test('geometries are drawn as SVG', async t => {
  const cases: readonly (readonly [string, RegExp | null])[] = [
    ['POINT(1 2)', /<svg [^>]*direction="ltr"[\s\S]*<circle class="point" cx="240" /],
    ['LINESTRING(0 0, 10 5)', /<path class="line" d="M[\d.]+ [\d.]+L/],
    [
      'POLYGON((0 0, 10 0, 10 10, 0 0), (1 1, 2 1, 2 2, 1 1))',
      /<path class="area" fill-rule="evenodd" d="M.*Z.*Z"/,
    ],
    ['MULTIPOLYGON(((170 -10, 190 -10, 190 10, 170 -10)))', /<path class="area"/],
    ['GEOMETRYCOLLECTION(POINT(3 4), LINESTRING(0 0, 1 1))', /<circle/],
    ['POINT(0 90)', /90°N/],
    ['POINT EMPTY', null],
    ['<script>', null],
  ]
  for (const [text, part] of cases) {
    const map = mapOf([text], translator('en'))?.html ?? null
    if (part === null) t.equal(map, null, text)
    else {
      t.match(map, part, text)
      t.notMatch(map, 'NaN', text)
    }
  }
})
