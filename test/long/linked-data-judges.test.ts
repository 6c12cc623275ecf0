import { writeFileSync } from 'node:fs'
import path from 'node:path'
import jsonld, { type JsonLdDocument } from 'jsonld'
import { Parser, type Quad, Writer } from 'n3'
import { isomorphic } from 'rdf-isomorphic'
import t from 'tap'
import { writeQueryAnswer } from '../../src/cli/query/answer.ts'
// @ts-expect-error: a script of the tests without types
import { readWithRiot, whyNoRiot } from '../peers/linked-data/riot.mjs'
import { temporaryFolder } from '../support/folder.ts'
import { servePortal } from '../support/portal.ts'

/** Every answer in JSON-LD as its reference implementation reads it, and every RDF export as Jena's riot reads it. */
const PLAIN = [
  {
    id: 'a',
    name: 'é "x"\\ \u2028',
    many: ['x', '<y>'],
    n: 1,
    x: 0.1,
    ok: true,
    urn: 'urn:x',
    geo: '48.5,2.25',
  },
  { id: 'b', name: 'line\r\nbreak\t', many: [], n: -2, x: 1e21, ok: false, urn: 'geo:1,2', geo: '-1,-2' },
  { id: 'c', name: '', many: ['_:b'], n: 9007199254740991, x: -1.5e-7, http: 'http://x/', 2020: 'digits' },
]
const PLACES = `id,name,at,link,kind
1,One,"geo:48.5,2.25",schema:Thing,tel:+33123
2,Two,"geo:-1,-2",urn:isbn:9780141036144,https://example.org/kind
3,Three,https://example.org/place,mailto:a@example.org,odd:kind
`
const PLACES_MAPPING = `prefixes:
  schema: http://schema.org/
  odd: http://odd.example/ns-
  deep: http://schema.org/deep/
  self: 'self:'
  urn: 'urn:example:'
mappings:
  place:
    subject: $(at)
    predicateobjects:
      - [a, schema:Place]
      - [a, $(kind)~iri]
      - [schema:name, $(name), en-GB~lang]
      - [deep:down, $(id), xsd:integer]
      - [odd:name, $(name)]
      - [odd:link, $(link)~iri]
      - [geo:asWKT, 'POINT(1 2)', geo:wktLiteral]
      - ['geo:bare', $(name)]
      - ['urn:example:property', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type']
      - ['http://www.w3.org/2000/01/rdf-schema#label', $(name)]
`
const GRAPH = `@prefix : <http://graph.example/> .
<geo:1,2> <foaf:name> "scheme" ; <http://xmlns.com/foaf/0.1/name> "prefix" ; a <schema:Thing> .
:a :b _:x ; :json "[1, 2]"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON> .
_:x :list ( 1 2.5 true "x"@en ) ; :typed "1"^^<field:type> ; :zero -0 .
<urn:isbn:9780141036144> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "no type" .
`
const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Judged <portal>\n',
  mappings: { 'places.yml': PLACES_MAPPING },
  data: {
    plain: {
      'made.json': JSON.stringify(PLAIN),
      'dataset.yaml': `source: { path: made.json }
id: [id]
fields:
  - { name: id, type: text }
  - { name: name, type: text }
  - { name: many, type: text, annotations: { multivalued: [] } }
  - { name: n, type: int, annotations: { unit: [m] } }
  - { name: x, type: double }
  - { name: ok, type: boolean }
  - { name: "2020", type: text }
  - { name: urn, type: text }
  - { name: http, type: text }
  - { name: geo, type: geo_point_2d }
metas:
  default: { title: Plain, license: Open Licence, publisher: 'Town & Co', keyword: [one], references: 'https://example.org/doc' }
  dcat: { creator: Somebody, spatial: Europe, temporal_coverage_start: "2020-01-01" }
`,
    },
    places: {
      'places.csv': PLACES,
      'dataset.yaml': `source: { path: places.csv }
id: [id]
metas: { default: { title: Places, license: CC0, license_url: 'https://creativecommons.org/publicdomain/zero/1.0/' } }
`,
    },
    graph: {
      'graph.ttl': GRAPH,
      'dataset.yaml': 'source: { path: graph.ttl }\nmetas: { default: { license: no address } }\n',
    },
    directed: {
      'directed.ttl': '<urn:isbn:0> <urn:isbn:p> "\\u0645"@ar--rtl , "a"@en--ltr , "b"@en .',
      'dataset.yaml': 'source: { path: directed.ttl }\n',
    },
    empty: {
      'a.json': '[]',
      'dataset.yaml': 'source: { path: a.json }\nfields: [{ name: a, type: int }]\n',
    },
    long: {
      'rows.csv': `id,word\n${Array.from({ length: 1500 }, (_, i) => `${i},word ${i % 7}\n`).join('')}`,
      'dataset.yaml': 'source: { path: rows.csv }\n',
    },
  },
})
const DATASETS = ['plain', 'places', 'graph', 'directed', 'empty', 'long']
const { app, base } = await servePortal(t, { portal, now: '2026-01-02T03:04:05Z' })

async function get(url: string, accept = '*/*'): Promise<string> {
  const { statusCode, body } = await app.http.inject({ url, headers: { accept } })
  if (statusCode !== 200) throw new Error(`${url} ${accept}: ${statusCode} ${body.slice(0, 300)}`)
  return body
}

/** What the contexts of others say, as far as pages use them; nothing is fetched. */
const CONTEXTS: Readonly<Record<string, JsonLdDocument>> = {
  'https://schema.org/': {
    '@context': {
      '@vocab': 'http://schema.org/',
      ...Object.fromEntries(
        ['contentUrl', 'isBasedOn', 'license', 'target', 'url'].map(name => [
          name,
          { '@id': `http://schema.org/${name}`, '@type': '@id' },
        ]),
      ),
    },
  } as JsonLdDocument,
  'https://project-open-data.cio.gov/v1.1/schema/catalog.jsonld': {
    '@context': {
      '@vocab': 'http://www.w3.org/ns/dcat#',
      dcat: 'http://www.w3.org/ns/dcat#',
      org: 'http://www.w3.org/ns/org#',
      vcard: 'http://www.w3.org/2006/vcard/ns#',
    },
  } as JsonLdDocument,
}

/** The quads of a document as the reference implementation reads it; it throws where it would leave anything out. */
async function quadsOf(document: string): Promise<readonly Quad[]> {
  const options = {
    format: 'application/n-quads',
    safe: true,
    rdfDirection: 'i18n-datatype',
    documentLoader: async (url: string) => {
      const found = CONTEXTS[url]
      if (found === undefined) throw new Error(`there is no ${url}`)
      return { contextUrl: undefined, documentUrl: url, document: found }
    },
  }
  const quads = await jsonld.toRDF(JSON.parse(document) as JsonLdDocument, options as object)
  return new Parser({ format: 'N-Quads' }).parse(String(quads))
}

/** Quads of N-Quads, with languages, directions and doubles as the reference implementation writes them. */
function expectedQuads(nquads: string): readonly Quad[] {
  const written = nquads.replace(
    /("(?:[^"\\]|\\.)*")(?:@([\w-]+?)(?:--(ltr|rtl))?|\^\^<http:\/\/www\.w3\.org\/2001\/XMLSchema#double>)(?=[ \n])/g,
    (_, literal: string, tag?: string, direction?: string) => {
      if (tag === undefined)
        return `"${canonicalDouble(literal.slice(1, -1))}"^^<http://www.w3.org/2001/XMLSchema#double>`
      const language = tag.toLowerCase()
      return direction === undefined
        ? `${literal}@${language}`
        : `${literal}^^<https://www.w3.org/ns/i18n#${language}_${direction}>`
    },
  )
  return new Parser({ format: 'N-Quads' }).parse(written)
}

function canonicalDouble(text: string): string {
  return Number(text)
    .toExponential(15)
    .replace(/(\d)0*e\+?/, '$1E')
}

/** Some of the lines without blank nodes that one side alone has. */
function unlike(a: readonly Quad[], b: readonly Quad[]): readonly string[] {
  const lines = (quads: readonly Quad[]) =>
    new Set(quads.map(quad => JSON.stringify(quad)).filter(line => !line.includes('BlankNode')))
  const [left, right] = [lines(a), lines(b)]
  return [...left]
    .filter(line => !right.has(line))
    .concat([...right].filter(line => !left.has(line)))
    .slice(0, 6)
}

const isAlike = (a: readonly Quad[], b: readonly Quad[]) => isomorphic([...a], [...b])

const APIS = ['/api/v2', '/api/explore/v2.0', '/api/explore/v2.1']
const exportPath = (dataset: string, format: string, api = '/api/explore/v2.1') =>
  `${api}/catalog/datasets/${dataset}/exports/${format}`
const sparqlPath = (dataset: string, query: string) =>
  `/api/sparql${dataset === '' ? '' : `/${dataset}`}?query=${encodeURIComponent(query)}`
const [record] = /records\/[0-9a-f]{40}/.exec(await get(exportPath('plain', 'n3'))) ?? []
const [node] = /\/\.well-known\/genid\/graph\/[^>]*/.exec(await get(exportPath('graph', 'n3'))) ?? []
const genid = node?.replace('/.well-known/genid/', '/ld/nodes/')

/** The catalog in DCAT, as N-Quads. */
const catalogQuads = get(`${APIS[2]}/catalog/exports/ttl`).then(turtle =>
  new Writer({ format: 'N-Quads' }).quadsToString(new Parser().parse(turtle)),
)

/** Addresses that answer in JSON-LD and in N-Quads, negotiated. */
const NEGOTIATED = [
  ...DATASETS.flatMap(id => [
    `/ld/data/${id}`,
    `/ld/vocabulary/${id}`,
    `/api/tpf/${id}`,
    `/api/sparql/${id}`,
  ]),
  ...DATASETS.map(id => `/api/sparql/${id}/data?default`),
  ...DATASETS.map(id => sparqlPath(id, 'CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }')),
  `/ld/data/plain/${record}`,
  `/ld/vocabulary/plain/name`,
  `${genid}`,
  '/api/tpf',
  `/api/tpf/plain?predicate=${encodeURIComponent(`${base}/ld/ontologies/plain/name`)}`,
  `/api/tpf/graph?subject=${encodeURIComponent('geo:1,2')}`,
  '/api/tpf/long?page=2',
  '/api/sparql',
  sparqlPath('plain', `DESCRIBE <${base}/ld/resources/plain/${record}>`),
  sparqlPath('plain', 'CONSTRUCT { ?s <schema:name> ?o ; a <geo:x> } { ?s ?p ?o }'),
]
/** Those that name their forms: JSON-LD beside N-Triples. */
const NAMED = [
  ...DATASETS.flatMap(id =>
    APIS.map(api => [exportPath(id, 'jsonld', api), exportPath(id, 'n3', api)] as const),
  ),
  ['/.well-known/void?format=jsonld', '/.well-known/void?format=ntriples'],
  ['/api/void?format=json', '/api/void?format=ntriples'],
  ...DATASETS.map(id => [`/api/void/${id}?format=jsonld`, `/api/void/${id}?format=ntriples`] as const),
  [`/ld/data/plain/${record}.jsonld`, `/ld/data/plain/${record}.nt`],
  [`/ld/data/places.json`, '/ld/data/places.nt'],
] as const

t.test('every answer in JSON-LD is what the other forms say', async t => {
  const pairs = [
    ...NEGOTIATED.map(url => [url, 'application/ld+json', url, 'application/n-quads'] as const),
    ...NAMED.map(([url, other]) => [url, undefined, other, undefined] as const),
  ]
  for (const [url, accept, other, otherAccept] of pairs) {
    const [document, lines] = await Promise.all([get(url, accept), get(other, otherAccept)])
    const found = await quadsOf(document).catch(error => error as Error)
    const expected = expectedQuads(lines)
    if (found instanceof Error) t.fail(`${url}: ${found.message}`, found)
    else t.ok(isAlike(found, expected), url, { found, expected })
  }
})

t.test('JSON-LD inside of pages is read too, and names the same things', async t => {
  const iris = (quads: readonly Quad[], property: string) =>
    quads
      .filter(({ predicate }) => predicate.value === property)
      .map(({ object }) => [object.termType, object.value])
  const SCHEMA = 'http://schema.org/'
  const pages: readonly (readonly [url: string, least: number])[] = [
    ['/', 5],
    ...DATASETS.map(id => [`/explore/dataset/${id}/`, 8] as const),
    ...DATASETS.map(id => [`/ld/data/${id}`, 5] as const),
    ...DATASETS.map(id => [`/api/tpf/${id}`, 5] as const),
    [`/ld/data/plain/${record}`, 5],
    ['/ld/vocabulary/plain/name', 5],
    ['/api/tpf', 5],
  ]
  for (const [url, least] of pages) {
    const page = await get(url, 'text/html')
    const blocks = [...page.matchAll(/<script type="application\/ld\+json">(.*?)<\/script>/gs)]
    t.ok(blocks.length > 0, url)
    for (const [, block = ''] of blocks) {
      const quads = await quadsOf(block).catch(error => error as Error)
      if (quads instanceof Error) t.fail(`${url}: ${quads.message}`, quads)
      else t.ok(quads.length >= least, `${url}: ${quads.length} quads`)
    }
  }
  for (const [id, kind, license] of [
    ['plain', 'BlankNode', null],
    ['graph', 'BlankNode', null],
    ['places', 'NamedNode', 'https://creativecommons.org/publicdomain/zero/1.0/'],
  ] as const) {
    const page = await get(`/explore/dataset/${id}/`, 'text/html')
    const quads = await quadsOf(/ld\+json">(.*?)<\/script>/s.exec(page)?.[1] ?? '{}')
    const [found] = iris(quads, `${SCHEMA}license`)
    t.equal(found?.[0], kind, id)
    if (license !== null) t.equal(found?.[1], license)
  }
  for (const api of APIS) {
    const quads = await quadsOf(await get(`${api}/catalog/exports/data.json`))
    t.equal(iris(quads, 'http://www.w3.org/ns/dcat#dataset').length, DATASETS.length, api)
  }
})

t.test('RDF/XML says a base direction as RDF 1.2 does', async t => {
  const { statusCode, body } = await app.http.inject(exportPath('directed', 'rdfxml'))
  t.equal(statusCode, 200)
  t.match(body, /its:dir="rtl"/)
  t.match(body, /its:dir="ltr"/)
})

t.test('the command writes JSON-LD too', async t => {
  const triple = (subject: string, predicate: string, object: string) => ({
    subject: { termType: 'NamedNode', value: subject },
    predicate: { termType: 'NamedNode', value: predicate },
    object: { termType: 'Literal', value: object },
  })
  async function* triples() {
    yield triple('geo:1,2', 'http://schema.org/name', 'a')
    yield triple('urn:x', 'schema:name', 'b')
  }
  const prefixes = { schema: 'http://schema.org/', geo: 'http://www.opengis.net/ont/geosparql#' }
  const pieces = writeQueryAnswer({ type: 'triples', triples: triples() }, 'json', 'csv', prefixes)
  let written = ''
  for await (const piece of pieces) written += piece
  const found = await quadsOf(written)
  t.ok(
    isAlike(found, expectedQuads('<geo:1,2> <http://schema.org/name> "a" .\n<urn:x> <schema:name> "b" .\n')),
  )
})

/** An answer, the ending of its form, and the quads that it has, as another answer. */
type Form = readonly [ending: string, url: string, accept: string, other: () => Promise<string>]

t.test('the exports in all forms are what Jena reads', { skip: whyNoRiot() ?? false }, async t => {
  const exported = (id: string, format: string, ending: string): Form => [
    ending,
    exportPath(id, format),
    '*/*',
    () => get(exportPath(id, 'n3')),
  ]
  const negotiated = (url: string, ending: string, accept: string): Form => [
    ending,
    url,
    accept,
    () => get(url, 'application/n-quads'),
  ]
  // RDF/XML has no base directions, and Jena leaves out those of JSON-LD.
  const directionless = (value: string) => !value.includes('directed')
  const forms: readonly Form[] = [
    ...DATASETS.flatMap(id => [exported(id, 'n3', 'nt'), exported(id, 'turtle', 'ttl')]),
    ...DATASETS.filter(directionless).flatMap(id => [
      exported(id, 'rdfxml', 'rdf'),
      exported(id, 'jsonld', 'jsonld'),
    ]),
    ...NEGOTIATED.map(url => negotiated(url, 'trig', 'application/trig')),
    ...NEGOTIATED.filter(directionless).map(url => negotiated(url, 'jsonld', 'application/ld+json')),
    ...NEGOTIATED.filter(url => directionless(url) && !url.startsWith('/api/tpf')).map(url =>
      negotiated(url, 'rdf', 'application/rdf+xml'),
    ),
    ...['rdf', 'dcat'].map(
      (format): Form => ['rdf', `${APIS[2]}/catalog/exports/${format}`, '*/*', () => catalogQuads],
    ),
    ['ttl', `${APIS[2]}/catalog/exports/ttl`, '*/*', () => catalogQuads],
    ...NAMED.filter(([url]) => url.includes('void')).map(
      ([url, other]): Form => ['rdf', url.replace(/format=.*/, 'format=rdfxml'), '*/*', () => get(other)],
    ),
  ]
  const folder = temporaryFolder(t, {})
  for (const ending of ['nt', 'ttl', 'rdf', 'jsonld', 'trig']) {
    const expected: Quad[] = []
    const files: string[] = []
    for (const [index, [, url, accept, other]] of forms.filter(([each]) => each === ending).entries()) {
      const file = path.join(folder, `${index}.${ending}`)
      writeFileSync(file, await get(url, accept))
      files.push(file)
      expected.push(...expectedQuads(await other()))
    }
    const { quads, errors } = await readWithRiot(files)
    t.strictSame(errors, [], ending)
    const found = expectedQuads(quads)
    t.ok(found.length > 1000 && isAlike(found, expected), `${ending}: ${files.length} files`, {
      unlike: unlike(found, expected),
    })
  }
})
