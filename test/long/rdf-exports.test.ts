import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { JsonLdParser } from 'jsonld-streaming-parser'
import { Parser } from 'n3'
import oxigraph from 'oxigraph'
import { isomorphic } from 'rdf-isomorphic'
import { RdfXmlParser } from 'rdfxml-streaming-parser'
import t, { type Test } from 'tap'
import { jsonldStream } from '../../src/formats/jsonld-forms.ts'
import { rdfxml, splitIri } from '../../src/formats/rdfxml.ts'
import { parseCsv } from '../support/csv.ts'
import { temporaryFolder } from '../support/folder.ts'
import { servePortal } from '../support/portal.ts'

/** RDF exports of datasets and exports of the catalog: the same graph in every form, filters, headers and refusals. */
const AWKWARD = [
  {
    name: '<b>"a" & \'b\'</b> ]]> \\ \\u0041',
    many: ['x', '<y>', 'é\u0301'],
    n: 1,
    x: 0.1,
    at: '2020-03-29T00:30:00.5Z',
    on: '2020-03-29',
    ok: true,
    2020: 'digits',
    urn: 'urn:x',
    place: '48.5,2.25',
  },
  {
    name: ' line\r\nbreak\rtab\there\u0085\u2028 ',
    many: ['😀', 'שלום'],
    n: -2,
    x: 1e21,
    at: '2020-03-29T01:30:00Z',
    on: '0999-01-02',
    ok: false,
    place: '-1,-2',
  },
  { name: 'plain', many: [], n: 9007199254740991, x: -1.5e-7 },
]
const ROWS = Array.from({ length: 2500 }, (_, i) => `${i},word ${i % 7}`)
const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Data of "Town" & <more>\ndescription: All that Town gives away\n',
  data: {
    awkward: {
      'made.json': JSON.stringify(AWKWARD),
      'dataset.yaml': `
source: { path: made.json }
fields:
  - { name: name, type: text }
  - { name: many, type: text, annotations: { multivalued: [] } }
  - { name: n, type: int }
  - { name: x, type: double }
  - { name: at, type: datetime }
  - { name: on, type: date }
  - { name: ok, type: boolean }
  - { name: "2020", type: text }
  - { name: urn, type: text }
  - { name: place, type: geo_point_2d }
metas:
  default:
    title: "Awkward <&> things"
    description: "Two\\nlines of \\"text\\" \\u0001"
    language: fr-CA
    keyword: [one, "two & three"]
    theme: ["Économie, <finance>", Sport]
    license: Open Licence
    license_url: https://example.org/licence?a=1&b=2
    publisher: 'Town of "X" & Y'
    references: https://example.org/doc
    territory: [France]
    modified: "2024-05-06T07:08:09Z"
  dcat:
    creator: Somebody
    contact_name: Jane
    contact_email: jane@example.org
    accrualperiodicity: http://purl.org/cld/freq/annual
    temporal_coverage_start: "2020-01-01T00:00:00Z"
    temporal_coverage_end: "2021-01-01T00:00:00Z"
    conforms_to: https://example.org/standard
  custom: { level: 3 }
`,
    },
    broken: {
      'made.json': JSON.stringify([{ a: 'bad \u0001' }, { a: 'good' }]),
      'dataset.yaml': `source: { path: made.json }
metas:
  default: { license: no address, publisher: 'Town of "X" & Y', keyword: [one] }
  dcat: { temporal: 2019-02-03/2020-12-31, accrualperiodicity: Semi-annual }
`,
    },
    long: {
      'rows.csv': `id,word\n${ROWS.join('\n')}\n`,
      'dataset.yaml': 'source: { path: rows.csv }\nmetas: { dcat: { accrualperiodicity: R/P10Y } }\n',
    },
    empty: {
      'a.json': '[]',
      'dataset.yaml':
        'source: { path: a.json }\nfields: [{ name: a, type: int }]\nmetas: { dcat: { accrualperiodicity: IRREG } }\n',
    },
  },
})
const { app, base } = await servePortal(t, { portal, now: '2026-01-02T03:04:05Z' })

const APIS = ['/api/v2', '/api/explore/v2.0', '/api/explore/v2.1']
const V21 = '/api/explore/v2.1'

function get(url: string, query: Readonly<Record<string, string | string[]>> = {}, headers = {}) {
  return app.http.inject({ url, query: { ...query }, headers })
}

function exported(dataset: string, format: string, query: Readonly<Record<string, string>> = {}) {
  return get(`${V21}/catalog/datasets/${dataset}/exports/${format}`, query)
}

interface AnyTerm {
  readonly termType: string
  readonly value: string
  readonly language?: string
  readonly datatype?: { readonly value: string }
}
interface AnyQuad {
  readonly subject: AnyTerm
  readonly predicate: AnyTerm
  readonly object: AnyTerm
}

/** The triples of a graph without blank nodes, each once, in order. */
function described(quads: Iterable<AnyQuad>): readonly string[] {
  const text = ({ termType, value, language, datatype }: AnyTerm) =>
    JSON.stringify([termType, value, language ?? '', datatype?.value ?? ''])
  const lines = Array.from(quads, ({ subject, predicate, object }) => [subject, predicate, object].map(text))
  return [...new Set(lines.map(line => line.join(' ')))].sort()
}

async function streamed(parser: NodeJS.ReadWriteStream, text: string): Promise<readonly AnyQuad[]> {
  const quads: AnyQuad[] = []
  for await (const quad of Readable.from([text]).pipe(parser)) quads.push(quad as unknown as AnyQuad)
  return quads
}

/** Readers that share nothing with the writers. */
const READERS: Readonly<Record<string, (text: string) => Promise<readonly AnyQuad[]>>> = {
  turtle: async text => new Parser({ format: 'text/turtle' }).parse(text),
  n3: async text => new Parser({ format: 'application/n-triples' }).parse(text),
  rdfxml: text => streamed(new RdfXmlParser() as unknown as NodeJS.ReadWriteStream, text),
  jsonld: text => streamed(new JsonLdParser() as unknown as NodeJS.ReadWriteStream, text),
}
const FORMATS = Object.keys(READERS)

const OXIGRAPH_TYPES: Readonly<Record<string, string>> = {
  turtle: 'text/turtle',
  n3: 'application/n-triples',
  rdfxml: 'application/rdf+xml',
  jsonld: 'application/ld+json',
}

/** The triples of a text, as the store reads them. */
function read(text: string, format: string) {
  const store = new oxigraph.Store()
  store.load(text, { format })
  return store.match()
}

/** True for texts of the same graph, whatever their blank nodes are called. */
function areEqual(text: string, format: string, other: string, otherFormat: string): boolean {
  return isomorphic(read(text, format) as never, read(other, otherFormat) as never)
}

async function graphs(t: Test, dataset: string, query: Readonly<Record<string, string>> = {}) {
  const all: (readonly string[])[] = []
  for (const format of FORMATS) {
    const answer = await exported(dataset, format, query)
    t.equal(answer.statusCode, 200, `${dataset} ${format}`)
    const quads = await READERS[format]?.(answer.body)
    all.push(described(quads ?? []))
    const store = new oxigraph.Store()
    store.load(answer.body, { format: OXIGRAPH_TYPES[format] ?? '' })
    t.equal(store.size, all[0]?.length, `${dataset} ${format}: a second reader`)
  }
  const [first = [], ...others] = all
  for (const [index, other] of others.entries())
    t.strictSame(other, first, `${dataset} ${FORMATS[index + 1]}`)
  return first
}

t.test('the four forms are the same graph', async t => {
  const awkward = await graphs(t, 'awkward')
  t.equal(awkward.length, 24)
  for (const { name } of AWKWARD)
    t.ok(
      awkward.some(line => line.includes(JSON.stringify(name))),
      name,
    )
  t.equal((await graphs(t, 'long')).length, 5000)
  t.equal((await graphs(t, 'empty')).length, 0)
})

t.test('every API has them, with types, names of files and conditional requests', async t => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['turtle', 'text/turtle; charset=utf-8', 'awkward.ttl'],
    ['rdfxml', 'application/rdf+xml; charset=utf-8', 'awkward.rdf'],
    ['n3', 'text/n3; charset=utf-8', 'awkward.n3'],
    ['jsonld', 'application/ld+json; charset=utf-8', 'awkward.jsonld'],
  ]
  const tags = new Set<unknown>()
  for (const api of APIS)
    for (const [format, type, file] of cases) {
      const url = `${api}/catalog/datasets/awkward/exports/${format}`
      const { headers, statusCode } = await get(url)
      t.strictSame(
        [statusCode, headers['content-type'], headers['content-disposition'], headers['cache-control']],
        [200, type, `attachment; filename="${file}"`, 'public, max-age=0, must-revalidate'],
        url,
      )
      tags.add(headers.etag)
      const known = await get(url, {}, { 'if-none-match': String(headers.etag) })
      t.strictSame([known.statusCode, known.body], [304, ''], url)
      const head = await app.http.inject({ method: 'HEAD', url })
      t.strictSame([head.statusCode, head.body, head.headers.etag], [200, '', headers.etag])
      const links = (await get(`${api}/catalog/datasets/awkward/exports`)).json().links
      t.ok(
        links.some(({ rel, href }: { rel: string; href: string }) => rel === format && href === base + url),
      )
    }
  t.equal(tags.size, APIS.length * cases.length, 'every address has a tag of its own')
  const some = await exported('awkward', 'turtle', { limit: '1' })
  t.strictSame([some.headers.etag, some.headers['cache-control']], [undefined, 'no-cache, no-store'])
  const zipped = await exported('awkward', 'n3', { compressed: 'true' })
  t.equal(zipped.headers['content-disposition'], 'attachment; filename="awkward.n3.gz"')
  t.equal(gunzipSync(zipped.rawPayload).toString(), (await exported('awkward', 'n3')).body)
})

t.test('filters, order and limit choose whole records', async t => {
  const subjects = async (query: Readonly<Record<string, string>>) => {
    const { body } = await exported('long', 'n3', query)
    const ids = [...body.matchAll(/\/(?:id)> "(\d+)"/g)].map(([, id]) => Number(id))
    t.equal(body.trimEnd().split('\n').length, body === '' ? 1 : ids.length * 2)
    return ids
  }
  t.strictSame(await subjects({ limit: '2' }), [0, 1])
  t.strictSame(await subjects({ where: 'id > 2497' }), [2498, 2499])
  t.strictSame(await subjects({ where: 'id > 2490', order_by: 'id desc', limit: '2' }), [2499, 2498])
  t.strictSame(await subjects({ order_by: 'id desc', limit: '1' }), [2499])
  t.strictSame(await subjects({ where: 'id < 0' }), [])
  t.strictSame(await subjects({ limit: '0' }), [])
  t.equal((await subjects({ where: 'search(word, "word 3")' })).length, 357)
  t.equal((await subjects({ refine: 'word:word 3' })).length, 357)
  t.equal((await subjects({ exclude: 'word:word 3' })).length, 2500 - 357)
  t.equal((await graphs(t, 'awkward', { where: 'n = 1' })).length, 12)
  t.equal((await graphs(t, 'awkward', { where: 'n = 5' })).length, 0)
})

t.test('what cannot be answered is refused', async t => {
  for (const [query, status] of [
    [{ select: 'name' }, 400],
    [{ group_by: 'name' }, 400],
    [{ where: 'nonsense = 1' }, 400],
    [{ limit: 'x' }, 400],
    [{ order_by: 'nonsense' }, 400],
  ] as const)
    for (const format of FORMATS)
      t.equal((await exported('awkward', format, query)).statusCode, status, JSON.stringify(query))
  t.equal((await exported('nothing', 'n3')).statusCode, 404)
  const broken = await exported('broken', 'rdfxml')
  t.equal(broken.statusCode, 422)
  t.equal(broken.json().error_code, 'UnprocessableEntity')
  t.match(broken.json().message, `${base}/ld/ontologies/broken/a`)
  t.strictSame([broken.headers.etag, broken.headers['content-disposition']], [undefined, undefined])
  t.equal((await exported('broken', 'turtle')).statusCode, 200)
  t.equal((await exported('broken', 'rdfxml', { where: 'a = "good"' })).statusCode, 200)
  t.equal((await exported('broken', 'rdfxml', { order_by: 'a', limit: '1' })).statusCode, 422)
  t.equal((await exported('broken', 'rdfxml', { order_by: 'a desc', limit: '1' })).statusCode, 200)
})

t.test('a predicate without a name in RDF/XML is told before the first byte', async t => {
  const entry = app.catalog.dataset('empty')
  const [field] = entry.dataset.fields
  const fields = [{ ...field, name: 'a%' }] as typeof entry.dataset.fields
  const served = { ...entry, dataset: { ...entry.dataset, fields } }
  const original = app.catalog.visibleTo
  app.catalog.visibleTo = principal => ({ ...original.call(app.catalog, principal), dataset: () => served })
  t.teardown(() => {
    app.catalog.visibleTo = original
  })
  const answer = await exported('empty', 'rdfxml')
  t.equal(answer.statusCode, 422)
  t.match(answer.json().message, `${base}/ld/ontologies/empty/a%25`)
})

t.test('what fails after the first byte does not look like a file', async t => {
  const address = await app.http.listen({ port: 0, host: '127.0.0.1' })
  const { lines } = app.store
  t.teardown(() => {
    app.store.lines = lines
  })
  for (const format of FORMATS)
    for (const encoding of ['identity', 'gzip']) {
      const url = `${address}${V21}/catalog/datasets/long/exports/${format}`
      const ask = () => fetch(url, { headers: { 'accept-encoding': encoding } })
      app.store.lines = async function* (...given) {
        for await (const piece of lines.apply(app.store, given)) {
          yield piece
          throw new Error('a failure that was made')
        }
      }
      const late = await ask()
      // A coding may hold the first piece back: then nothing was sent yet, and the failure is told.
      if (late.status === 500) t.equal(encoding, 'gzip')
      if (late.status === 200) await t.rejects(late.text(), `${format} ${encoding}`)
      else await late.text()
      app.store.lines = async function* () {
        yield await Promise.reject(new Error('a failure that was made'))
      }
      const early = await ask()
      t.equal(early.status, 500, 'before the first byte it is an answer')
      t.equal(early.headers.get('content-disposition'), null)
      await early.text()
      app.store.lines = lines
      t.ok((await (await ask()).text()).length > 1000)
    }
})

async function* pieces(...texts: readonly string[]): AsyncGenerator<string> {
  yield* texts
}

async function whole(texts: AsyncIterable<string>): Promise<string> {
  let all = ''
  for await (const text of texts) all += text
  return all
}

t.test('any graph is written, whatever its predicates, blank nodes and languages are', async t => {
  const triples = [
    '_:1a.b <http://x/a#p> _:b2 .\n',
    '_:1a.b <urn:isbn:n> "line\\r\\n & <end>"@en-GB .\n',
    '<http://x/?a=1&b=2> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://xmlns.com/foaf/0.1/Agent> .\n',
    '<http://x/?a=1&b=2> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://x/1> .\n',
    '<http://x/?a=1&b=2> <http://x/%20é> "1"^^<http://x/type?a&b> .\n',
    '<http://x/?a=1&b=2> <http://www.w3.org/1999/02/22-rdf-syntax-ns#_1> "" .\n',
  ]
  const prefixes = { foaf: 'http://xmlns.com/foaf/0.1/' }
  const source = triples.join('')
  const lines = 'application/n-triples'
  for (const parts of [triples, [triples.join('')], [...triples.map(line => line), '']]) {
    const xml = await whole(rdfxml(pieces(...parts), prefixes))
    t.ok(areEqual(xml, 'application/rdf+xml', source, lines))
    const json = await whole(jsonldStream(pieces(...parts), { terms: [['p', 'http://x/a#p']], prefixes }))
    t.ok(areEqual(json, 'application/ld+json', source, lines))
    t.ok(JSON.parse(json))
  }
  const cases: readonly (readonly [string, string | null])[] = [
    ['http://x/a#height', 'height'],
    ['http://x/_2020', '_2020'],
    ['http://x/2020', null],
    ['http://x/a2020/', null],
    ['http://x/a%25', null],
    ['http://x/-a', 'a'],
    ['urn:x:é', 'é'],
    ['http://www.w3.org/1999/02/22-rdf-syntax-ns#about', null],
    ['http://www.w3.org/1999/02/22-rdf-syntax-ns#li', null],
    ['http://www.w3.org/2000/xmlns/a', null],
  ]
  for (const [iri, local] of cases) {
    t.equal(splitIri(iri)?.local ?? null, local, iri)
  }
  for (const bad of ['<http://x/a> <http://x/1> "a" .\n', '<http://x/a> <http://x/p> "\\u0001" .\n'])
    await t.rejects(whole(rdfxml(pieces(bad), prefixes)), RangeError)
})

const catalogAt = (format: string, query: Readonly<Record<string, string>> = {}, api = V21) =>
  get(`${api}/catalog/exports/${format}`, query)

t.test('the catalog in DCAT-AP has what the profile demands, in Turtle and RDF/XML alike', async t => {
  for (const api of APIS) {
    const ttl = await catalogAt('ttl', {}, api)
    t.equal(ttl.headers['content-type'], 'text/turtle; charset=utf-8')
    t.equal(ttl.headers['content-disposition'], 'attachment; filename="catalog.ttl"')
    for (const format of ['rdf', 'dcat', 'dcat_ap_ch', 'dcat_ap_benap']) {
      const { body, headers } = await catalogAt(format, {}, api)
      t.equal(headers['content-type'], 'application/rdf+xml; charset=utf-8')
      t.equal(headers['content-disposition'], 'attachment; filename="catalog.rdf"')
      t.ok(areEqual(body, 'application/rdf+xml', ttl.body, 'text/turtle'), `${api} ${format}`)
    }
    const store = new oxigraph.Store()
    store.load(ttl.body, { format: 'text/turtle' })
    const ask = (where: string) =>
      store.query(`PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX dcterms: <http://purl.org/dc/terms/>
        PREFIX foaf: <http://xmlns.com/foaf/0.1/> PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
        SELECT * { ${where} }`) as Map<string, { value: string }>[]
    t.equal(
      ask('?c a dcat:Catalog ; dcterms:title ?t ; dcterms:description ?d ; dcterms:publisher ?p').length,
      1,
    )
    const catalog = ask(
      '?c a dcat:Catalog ; dcterms:title ?title ; dcterms:description ?about ; dcterms:publisher/foaf:name ?publisher',
    )
    t.equal(catalog[0]?.get('title')?.value, 'Data of "Town" & <more>', 'the title of the portal')
    t.equal(catalog[0]?.get('about')?.value, 'All that Town gives away')
    t.equal(catalog[0]?.get('publisher')?.value, 'Data of "Town" & <more>')
    t.equal(ask('?c a dcat:Catalog ; dcat:dataset ?d . ?d a dcat:Dataset').length, 4)
    for (const [type, property] of [
      ['dcat:Dataset', 'dcterms:title'],
      ['dcat:Dataset', 'dcterms:description'],
      ['dcat:Dataset', 'dcat:distribution/dcat:accessURL'],
      ['dcat:Distribution', 'dcat:accessURL'],
      ['foaf:Agent', 'foaf:name'],
      ['skos:Concept', 'skos:prefLabel'],
    ])
      t.strictSame(ask(`?x a ${type} MINUS { ?x ${property} ?y }`), [], `${type} ${property}`)
    t.equal(ask('?d dcterms:publisher ?p . ?p foaf:name "Town of \\"X\\" & Y"').length, 2)
    for (const row of ask('?x dcat:accessURL ?url'))
      t.not(
        (await get(row.get('url')?.value.slice(base.length) ?? '')).statusCode,
        404,
        `${row.get('url')?.value}`,
      )
    t.equal(ask('?d dcterms:temporal/dcat:startDate ?s').length, 2)
    const pages = ask('?d dcat:landingPage ?url').map(row => row.get('url')?.value ?? '')
    t.equal(pages.length, 4)
    for (const page of pages) {
      const { headers } = await get(page.slice(base.length))
      t.match(headers['content-type'], 'text/html', `${page} is for people`)
    }
    for (const row of ask(
      '{ ?d dcat:theme ?url } UNION { ?e dcterms:publisher ?url FILTER(CONTAINS(STR(?url), "refine")) }',
    )) {
      const answer = await get(row.get('url')?.value.slice(base.length) ?? '')
      t.equal(answer.statusCode, 200)
      t.not(answer.json().total_count, 0, `${row.get('url')?.value}`)
    }
  }
})

t.test('distributions are chosen and named', async t => {
  const urls = async (query: Readonly<Record<string, string>>) =>
    [
      ...(await catalogAt('dcat_ap_it', query)).body.matchAll(
        /accessURL rdf:resource="[^"]*awkward\/exports\/([^"]*)"/g,
      ),
    ].map(([, name]) => name)
  const all = await urls({})
  t.ok(all.includes('csv?use_labels=true') && all.includes('jsonld'))
  t.strictSame(await urls({ include_exports: 'csv,turtle' }), ['csv?use_labels=true', 'turtle'])
  t.strictSame(await urls({ include_exports: 'csv', use_labels_in_exports: 'false' }), ['csv'])
  t.equal((await catalogAt('dcat', { include_exports: 'paper' })).statusCode, 400)
})

t.test('the feed is RSS 2.0', async t => {
  const { body, headers } = await catalogAt('rss')
  t.equal(headers['content-type'], 'application/rss+xml; charset=utf-8')
  t.equal(headers['cache-control'], 'no-cache, no-store')
  t.equal([...body.matchAll(/<item>/g)].length, 4)
  t.match(body, '<title>Awkward &lt;&amp;&gt; things</title>')
  t.match(body, '<pubDate>Mon, 06 May 2024 07:08:09 GMT</pubDate>')
  t.match(body, `<link>${base}/explore/dataset/awkward/</link>`)
  // Wrapped as RDF/XML any XML that is well-formed is a literal.
  const wrapped = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="urn:x"><p xmlns="urn:" rdf:parseType="Literal">${body.replace(/^<\?xml[^>]*>/, '')}</p></rdf:Description></rdf:RDF>`
  t.equal(oxigraph.parse(wrapped, { format: 'application/rdf+xml' }).length, 1)
})

t.test('data.json has what Project Open Data demands', async t => {
  const { body, headers } = await catalogAt('data.json')
  t.equal(headers['content-disposition'], 'attachment; filename="data.json"')
  const read = JSON.parse(body)
  t.equal(read.conformsTo, 'https://project-open-data.cio.gov/v1.1/schema')
  t.equal(read.dataset.length, 4)
  for (const dataset of read.dataset) {
    for (const key of ['@type', 'title', 'description', 'modified', 'identifier', 'accessLevel'])
      t.type(dataset[key], 'string', key)
    t.ok(dataset.keyword.length > 0)
    t.ok(dataset.publisher.name)
    t.ok(dataset.contactPoint.fn)
    for (const { downloadURL, mediaType } of dataset.distribution) t.ok(downloadURL && mediaType)
  }
  const [awkward, broken, empty, long] = read.dataset
  t.equal(empty.accrualPeriodicity, 'irregular', 'a choice of the desk')
  t.equal(broken.accrualPeriodicity, 'R/P6M')
  t.equal(long.accrualPeriodicity, 'R/P10Y')
  t.equal(broken.temporal, '2019-02-03T00:00:00Z/2020-12-31T00:00:00Z')
  t.equal(awkward.landingPage, `${base}/explore/dataset/awkward/`)
  t.match(awkward, {
    title: 'Awkward <&> things',
    description: 'Two\nlines of "text" \ufffd',
    accrualPeriodicity: 'R/P1Y',
    temporal: '2020-01-01T00:00:00Z/2021-01-01T00:00:00Z',
    contactPoint: { fn: 'Jane', hasEmail: 'mailto:jane@example.org' },
    license: 'https://example.org/licence?a=1&b=2',
  })
})

t.test('tables of the catalog', async t => {
  for (const api of APIS) {
    const json = (await catalogAt('json', { order_by: 'datasetid' }, api)).json()
    const { results, datasets } = (await get(`${api}/catalog/datasets`, { order_by: 'datasetid' })).json()
    t.strictSame(json, results ?? datasets, api)
    const csv = await catalogAt('csv', {}, api)
    t.equal(csv.headers['content-disposition'], 'attachment; filename="catalog.csv"')
    const [head = [], first = []] = parseCsv(csv.body.replace(/^\ufeff/, ''), ';')
    t.ok(head[0]?.startsWith('dcat.'))
    t.equal(head.at(-1), 'datasetid')
    t.equal(first.at(-1), 'awkward')
    t.equal(first[head.indexOf('default.keyword')], 'one,two & three')
    t.equal(first[head.indexOf('custom.level')], '3')
  }
  t.strictSame(
    (await catalogAt('json', { select: 'datasetid', where: 'default.title like "awkward"' })).json(),
    [{ datasetid: 'awkward' }],
  )
  t.strictSame(
    (
      await catalogAt('json', {
        group_by: 'publisher',
        select: 'count(*) as n',
        where: 'publisher is not null',
      })
    ).json(),
    [{ publisher: 'Town of "X" & Y', n: 2 }],
  )
  t.equal((await catalogAt('json', { group_by: 'publisher' }, '/api/v2')).statusCode, 400)
  const csv = (await catalogAt('csv', { select: 'datasetid, title', refine: 'theme:Sport' })).body
  t.equal(csv, '\ufeffdatasetid;title\r\nawkward;Awkward <&> things\r\n')
})

t.test('the catalog is filtered, ordered and cut in every format', async t => {
  const ids = async (query: Readonly<Record<string, string>>) =>
    JSON.parse((await catalogAt('data.json', query)).body).dataset.map(
      ({ identifier }: { identifier: string }) => identifier.replace(/.*\//, ''),
    )
  t.strictSame(await ids({}), ['awkward', 'broken', 'empty', 'long'])
  t.strictSame(await ids({ order_by: 'datasetid desc', limit: '2', offset: '1' }), ['empty', 'broken'])
  t.strictSame(await ids({ where: 'records_count > 100' }), ['long'])
  t.strictSame(await ids({ exclude: 'publisher:Town of "X" & Y' }), ['empty', 'long'])
  t.strictSame(await ids({ where: 'records_count < 0' }), [])
  for (const format of ['rss', 'ttl', 'rdf', 'dcat', 'data.json']) {
    t.equal((await catalogAt(format, { limit: '0' })).statusCode, 200, format)
    t.equal((await catalogAt(format, { select: 'title' })).statusCode, 400, format)
    t.equal((await catalogAt(format, { where: 'nonsense =' })).statusCode, 400, format)
  }
  t.equal((await catalogAt('paper')).statusCode, 404)
  t.equal((await catalogAt('toString')).statusCode, 404)
  const links = (await get(`${V21}/catalog/exports`)).json().links
  for (const { href } of links) t.equal((await get(href.slice(base.length))).statusCode, 200, href)
})
