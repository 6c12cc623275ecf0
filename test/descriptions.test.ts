import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import fastify from 'fastify'
import oxigraph from 'oxigraph'
import t, { type Test } from 'tap'
import { descriptions } from '../src/api/descriptions/routes.ts'
import { exampleQueries, exampleQuery, queryForm } from '../src/catalog/example-queries.ts'
import { gatherGraphStatistics } from '../src/catalog/graph-statistics.ts'
import { StatisticsFiles } from '../src/catalog/statistics-files.ts'
import { Fault } from '../src/errors/errors.ts'
import { usedClasses, usedProperties } from '../src/mapping/ir.ts'
import { portalPrefixes, readMapping } from '../src/mapping/read.ts'
import { ANONYMOUS } from '../src/model/principal.ts'
import { versionFolder, versionsOf } from '../src/publishing/versions/versions.ts'
import { parseTriples, type Triple } from '../src/rdf/ntriples-reader.ts'
import { STORE_BUSY } from '../src/runtime/fair-queue.ts'
import type { SelectOperation } from '../src/sparql/algebra.ts'
import { DEADLINE_EXCEEDED } from '../src/store/faults.ts'
import { EMPTY_GRAPH } from '../src/store/store.ts'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'
import { testStore } from './support/test-store.ts'

/** Descriptions of datasets: figures, forms, example queries, and how the counting behaves beside other work. */
const base = 'http://portal.example'
const ROWS = Array.from({ length: 300 }, (_, i) => `${i},word ${i % 7},${i % 3 === 0 ? '' : i % 5}`)
const CAPITALS = `# Capitals of "things"
# Two datasets
# in one query.
PREFIX plants: <{base}/ld/ontologies/plants/>
SELECT * { ?s plants:word ?w . ?o <{base}/ld/ontologies/stones/a> ?a }
`
const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Small & "good"\n',
  data: {
    plants: {
      'rows.csv': `id,word,n\n${ROWS.join('\n')}\n`,
      'dataset.yaml': `source: { path: rows.csv }
metas:
  default:
    title: "Plants <&> \\"more\\""
    description: "<p>Of all kinds</p>"
    language: fr-CA
    keyword: [one, two]
    license: CC BY
    license_url: https://example.org/by
    publisher: Town
    references: https://example.org/doc
`,
    },
    stones: { 'dataset.yaml': 'source: { path: s.json }\n', 's.json': '[{"a": 1}, {"a": 2}]' },
    secret: {
      'dataset.yaml': 'source: { path: s.json }\nvisibility: restricted\n',
      's.json': '[{"a": 1}]',
    },
  },
  mappings: {
    plants: {
      'together.rq': CAPITALS,
      'any.rq': 'ASK { ?s ?p ?o }\n',
      'bad.rq': 'DELETE WHERE { ?s ?p ?o }\n',
      'long.rq': `# x\nASK {}${' '.repeat(30_000)}`,
      'notes.txt': 'no query',
    },
  },
})
const { app, get } = await servePortal(t, { portal, base, now: '2026-01-02T03:04:05Z' })

const TYPES = ['text/turtle', 'application/ld+json', 'application/n-triples', 'application/rdf+xml'] as const

/** The triples of a text, each in one line, in order. */
function linesOf(text: string, format: string): readonly string[] {
  const store = new oxigraph.Store()
  store.load(text, { format })
  const all = store.dump({ format: 'application/n-triples', from_graph_name: oxigraph.defaultGraph() })
  return all.trimEnd().split('\n').sort()
}

const VOID = 'http://rdfs.org/ns/void#'

/** Values of a property of a subject in a description. */
function valuesOf(triples: readonly Triple[], subject: string, predicate: string): readonly string[] {
  return triples
    .filter(each => each.subject.value === subject && each.predicate.value === predicate)
    .map(({ object }) => object.value)
}

async function described(address: string): Promise<readonly Triple[]> {
  const answer = await get(address, { accept: 'application/n-triples' })
  t.equal(answer.statusCode, 200, `${address} ${answer.body.slice(0, 200)}`)
  return [...parseTriples(answer.body)]
}

t.test('the figures are those of the export', async t => {
  for (const id of ['plants', 'stones']) {
    const { body } = await get(`/api/v2/catalog/datasets/${id}/exports/n3`)
    const all = [...parseTriples(body)]
    const distinct = (pick: (triple: Triple) => unknown, of = all) =>
      String(new Set(of.map(triple => JSON.stringify(pick(triple)))).size)
    const node = `${base}/ld/resources/${id}`
    for (const address of [`/api/void/${id}`, '/.well-known/void', '/api/void/']) {
      const said = await described(address)
      const figures: readonly (readonly [string, string])[] = [
        ['triples', String(all.length)],
        ['entities', distinct(({ subject }) => subject)],
        ['distinctSubjects', distinct(({ subject }) => subject)],
        ['distinctObjects', distinct(({ object }) => object)],
        ['properties', distinct(({ predicate }) => predicate)],
        ['classes', '0'],
        ['vocabulary', `${base}/ld/ontologies/${id}/`],
        ['sparqlEndpoint', `${base}/api/sparql/${id}`],
        ['uriLookupEndpoint', `${base}/api/tpf/${id}?subject=`],
        ['uriSpace', `${node}/`],
      ]
      for (const [name, expected] of figures)
        t.strictSame(valuesOf(said, node, VOID + name), [expected], `${address} ${id} ${name}`)
      t.equal(valuesOf(said, node, `${VOID}dataDump`).length, 4)
      const parts = valuesOf(said, node, `${VOID}propertyPartition`).map(part =>
        ['property', 'triples', 'distinctSubjects', 'distinctObjects'].map(
          name => valuesOf(said, part, VOID + name)[0],
        ),
      )
      const expected = [...new Set(all.map(({ predicate }) => predicate.value))].sort().map(iri => {
        const of = all.filter(({ predicate }) => predicate.value === iri)
        return [
          iri,
          String(of.length),
          distinct(({ subject }) => subject, of),
          distinct(({ object }) => object, of),
        ]
      })
      t.strictSame(parts, expected, `${address} ${id} partitions`)
      for (const iri of valuesOf(said, node, `${VOID}exampleResource`))
        t.ok(
          all.some(({ subject }) => subject.value === iri),
          'examples are there',
        )
    }
  }
  const portalSaid = await described('/.well-known/void')
  t.strictSame(
    valuesOf(portalSaid, `${base}/.well-known/void#portal`, `${VOID}subset`),
    [`${base}/ld/resources/plants`, `${base}/ld/resources/stones`],
    'a restricted dataset is not told of',
  )
  t.notOk(JSON.stringify(portalSaid).includes('secret'))
})

t.test('every form says the same, and is asked for by header or by name', async t => {
  for (const address of ['/.well-known/void', '/api/void/plants']) {
    const expected = linesOf((await get(`${address}?format=ntriples`)).body, 'application/n-triples')
    t.ok(expected.length > 60)
    for (const accept of TYPES) {
      const answer = await get(address, { accept })
      t.equal(answer.headers['content-type'], `${accept}; charset=utf-8`)
      t.match(answer.headers.vary, /Accept(,|$)/)
      t.strictSame(linesOf(answer.body, accept), expected, `${address} ${accept}`)
      const etag = String(answer.headers.etag)
      t.equal((await get(address, { accept, 'if-none-match': etag })).statusCode, 304)
    }
  }
  const cases: readonly (readonly [string, string | undefined, number, string])[] = [
    ['/.well-known/void', undefined, 200, 'text/turtle'],
    ['/.well-known/void', 'text/html,application/xhtml+xml,*/*;q=0.8', 200, 'text/html'],
    ['/api/void?format=html', undefined, 200, 'text/html'],
    ['/.well-known/void', '*/*', 200, 'text/turtle'],
    ['/.well-known/void?format=turtle', 'text/html', 200, 'text/turtle'],
    ['/api/void/none', 'text/html', 404, 'application/problem+json'],
    ['/api/void/secret', 'text/html', 401, 'text/html'],
    ['/.well-known/void', 'application/json', 200, 'application/json'],
    ['/.well-known/void?format=rdfxml', 'text/turtle', 200, 'application/rdf+xml'],
    ['/.well-known/void', 'image/png', 406, 'application/problem+json'],
    ['/.well-known/void?format=pdf', undefined, 400, 'application/problem+json'],
    ['/api/void/none', undefined, 404, 'application/problem+json'],
    ['/api/void/secret', undefined, 401, 'application/problem+json'],
    ['/api/void/secret/queries', undefined, 401, 'application/problem+json'],
    ['/api/void/plants/queries/none', undefined, 404, 'application/problem+json'],
    ['/api/void/plants/queries/..%2Fportal', undefined, 404, 'application/problem+json'],
  ]
  for (const [url, accept, status, type] of cases) {
    const answer = await get(url, accept === undefined ? {} : { accept })
    t.equal(answer.statusCode, status, `${url} ${accept}`)
    t.ok(String(answer.headers['content-type']).startsWith(type), `${url} ${accept} ${type}`)
  }
  const page = await get('/api/void', { accept: 'text/html' })
  t.match(page.body, /<a href="\/explore\/dataset\/plants\/linked-data\/">Plants/)
  t.match(page.body, /<a href="\/api\/sparql\/stones">/)
  t.notMatch(page.body, 'secret', 'a restricted dataset is not told of')
  t.match(page.headers.vary, /Accept(,|$)/)
  const led = await get('/api/void/plants?lang=fr', { accept: 'text/html' })
  t.equal(led.statusCode, 303)
  t.equal(led.headers.location, '/explore/dataset/plants/linked-data/?lang=fr')
  const head = await app.http.inject({ method: 'HEAD', url: '/.well-known/void' })
  t.equal(head.statusCode, 200)
  t.equal(head.body, '')
})

t.test('what is said of a dataset', async t => {
  const { body } = await get('/api/void/plants')
  for (const part of [
    'dcterms:title "Plants <&> \\"more\\""@fr-CA',
    'dcterms:license <https://example.org/by>',
    'dcterms:language <http://id.loc.gov/vocabulary/iso639-1/fr>',
    'dcterms:modified "2026-01-02T03:04:05Z"^^xsd:dateTime',
    'dcterms:source <https://example.org/doc>',
    'dcat:keyword "one"@fr-CA, "two"@fr-CA',
    'foaf:name "Town"@fr-CA',
    `sh:namespace "${base}/ld/ontologies/plants/"^^xsd:anyURI`,
    'a sh:SPARQLExecutable, sh:SPARQLAskExecutable',
    `schema:target <${base}/api/sparql>`,
    `schema:target <${base}/api/sparql/plants>`,
  ])
    t.ok(body.includes(part), part)
  t.notOk(body.includes('{base}'))
})

t.test('example queries and prefixes', async t => {
  const answer = await get('/api/void/plants/queries')
  const { queries, prefixes, endpoint } = answer.json()
  t.equal(endpoint, `${base}/api/sparql/plants`)
  t.match(prefixes, { plants: `${base}/ld/ontologies/plants/`, xsd: /XMLSchema#/ })
  const address = `${base}/api/void/plants/queries`
  t.match(queries, [
    { name: 'any', title: 'any', description: null, form: 'ask', endpoint, federatesWith: [] },
    {
      name: 'together',
      title: 'Capitals of "things"',
      description: 'Two datasets in one query.',
      form: 'select',
      endpoint: `${base}/api/sparql`,
      federatesWith: ['stones'],
      address: `${address}/together`,
    },
  ])
  t.equal(queries.length, 2, 'what is too long or no query is passed over')
  const query = await get('/api/void/plants/queries/together')
  t.equal(query.headers['content-type'], 'application/sparql-query; charset=utf-8')
  t.equal(query.body, CAPITALS.replaceAll('{base}', base))
  t.equal(query.body, queries[1].query)
  t.strictSame((await get('/api/void/stones/queries')).json().queries, [])
  const etag = String(answer.headers.etag)
  t.equal((await get('/api/void/plants/queries', { 'if-none-match': etag })).statusCode, 304)
  writeFileSync(path.join(portal, 'mappings/plants/new.rq'), '# New\nDESCRIBE <http://x/>\n')
  t.equal((await get('/api/void/plants/queries', { 'if-none-match': etag })).statusCode, 200)
  t.match((await get('/api/void/plants')).body, 'sh:describe "# New', 'a new file is told at once')
  symlinkSync('somebody@somewhere.1:2', path.join(portal, 'mappings/plants/.#new.rq'))
  mkdirSync(path.join(portal, 'mappings/plants/old.rq'))
  t.equal(
    (await get('/api/void/plants')).statusCode,
    200,
    'the lock of an editor and a folder are passed over',
  )
})

t.test('forms of queries', async t => {
  const cases: readonly (readonly [string, string | null])[] = [
    ['select * {}', 'select'],
    ['# SELECT\nPREFIX : <http://x/>\nprefix a-b:<#> BASE <http://y/> ASK{}', 'ask'],
    ['CONSTRUCT WHERE {}', 'construct'],
    [`VERSION "1.2"\nPREFIX : <http://x/> version '1.2-basic' SELECT * {}`, 'select'],
    ['PREFIX x: <http://select/> INSERT DATA {}', null],
    ['SELECTED', null],
    [`${' '.repeat(19_000)}!`, null],
    ['', null],
  ]
  for (const [text, form] of cases) t.equal(queryForm(text), form, text.slice(0, 40))
  t.equal(exampleQuery('x', '#\nASK {}', { dataset: 'd', base })?.title, 'x')
  const other = exampleQuery('x', 'ASK { <{base}/ld/resources/100%/x> ?p ?o }', { dataset: 'd', base })
  t.same(other?.federatesWith, ['100%'], 'an IRI that is percent-encoded wrongly')
})

t.test('the demonstration datasets have mappings, and examples in their vocabularies', async t => {
  const root = path.resolve(import.meta.dirname, '..')
  const store = new oxigraph.Store()
  const datasets = readdirSync(path.join(root, 'data'))
  const terms = new Set<string>()
  for (const id of datasets) {
    const file = path.join(root, 'mappings', `${id}.yml`)
    const { mapping, diagnostics } = readMapping(readFileSync(file, 'utf8'), file, {
      prefixes: portalPrefixes(base, id),
    })
    t.strictSame(diagnostics, [], id)
    if (mapping !== null)
      for (const term of [...usedClasses(mapping), ...usedProperties(mapping)]) terms.add(term)
  }
  for (const id of datasets) {
    const queries = await exampleQueries(root, id, base)
    t.ok(queries.length >= 3, id)
    t.ok(
      queries.some(({ federatesWith }) => federatesWith.some(other => datasets.includes(other))),
      `${id}: an example of several datasets`,
    )
    for (const { name, title, query } of queries) {
      t.doesNotThrow(() => store.query(query), `${id} ${name}`)
      t.not(title, name)
      for (const term of termsOf(query)) t.ok(terms.has(term), `${id} ${name}: ${term}`)
    }
  }
})

/** The prefixed names of a query in the vocabularies that mappings use: what constructed triples say is its own affair. */
function termsOf(query: string): readonly string[] {
  const where = query.slice(Math.max(0, query.indexOf('WHERE')))
  const prefixes = [...query.matchAll(/^PREFIX (\w+): <([^>]*)>/gm)]
  return prefixes.flatMap(([, prefix = '', namespace = '']) =>
    namespace.startsWith(`${base}/ld/resources/`)
      ? []
      : [...where.matchAll(new RegExp(`(?<![\\w/])${prefix}:(\\w+)(?![.\\w])`, 'g'))].map(
          ([, name]) => namespace + name,
        ),
  )
}

t.test('the catalog in DCAT tells of services and descriptions', async t => {
  const { body } = await get('/api/v2/catalog/exports/ttl')
  const store = new oxigraph.Store()
  store.load(body, { format: 'text/turtle' })
  const rows =
    store.query(`PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX dcterms: <http://purl.org/dc/terms/>
    SELECT ?dataset ?url ?void {
      ?catalog a dcat:Catalog ; dcat:service ?service .
      ?service a dcat:DataService ; dcterms:title ?title ; dcat:endpointURL ?url ; dcat:servesDataset ?dataset ;
        dcat:endpointDescription ?void .
      ?dataset dcat:distribution [ dcat:accessService ?service ; dcat:accessURL ?url ] ; dcterms:isReferencedBy ?void
    } ORDER BY ?url`) as Map<string, { value: string }>[]
  t.strictSame(
    rows.map(row => ['dataset', 'url', 'void'].map(name => row.get(name)?.value.slice(base.length))),
    ['sparql', 'tpf'].flatMap(kind =>
      ['plants', 'stones'].map(id => [`/ld/resources/${id}`, `/api/${kind}/${id}`, `/api/void/${id}`]),
    ),
  )
})

const CLASSY = [
  '<http://x/1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://x/ns#A> .',
  '<http://x/1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://x/ns#B> .',
  '<http://x/2> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://x/ns#A> .',
  '<http://x/2> <http://x/p> "1" .',
  '<http://x/2> <http://x/p> "2"@en .',
  '<http://x/3> <urn:q> <http://x/2> .',
].join('\n')

const classyStore = (t: Test) => testStore(t, { 'urn:g': `${CLASSY}\n` })

t.test('classes are counted, and an empty graph has nothing', async t => {
  const store = await classyStore(t)
  const ask = (query: SelectOperation) => store.select(query)
  const graphStatistics = await gatherGraphStatistics('urn:g', ask)
  t.match(graphStatistics, { triples: 6, subjects: 3, objects: 5, predicates: 3, types: 2 })
  t.strictSame(graphStatistics.classes, [
    { iri: 'http://x/ns#A', entities: 2 },
    { iri: 'http://x/ns#B', entities: 1 },
  ])
  t.match(await gatherGraphStatistics(EMPTY_GRAPH, ask), {
    triples: 0,
    subjects: 0,
    properties: [],
    examples: [],
  })
})

/** A store whose statements are watched: how many run at once, and how many ran. */
async function watched(t: Test, answer?: () => Promise<never>) {
  const store = await classyStore(t)
  const seen = { running: 0, most: 0, asked: 0 }
  const select = async (query: SelectOperation) => {
    seen.asked += 1
    seen.running += 1
    seen.most = Math.max(seen.most, seen.running)
    await new Promise(resolve => setTimeout(resolve, 2))
    seen.running -= 1
    return answer === undefined ? store.select(query) : answer()
  }
  const versions = versionsOf(temporaryFolder(t, { var: { published: { a: { v1: {} } } } }))
  const entry = (id: string) => ({ dataset: { id }, version: 'v1', resources: 'urn:g' })
  return { select, seen, versions, entry }
}

t.test('surveys are made once, one statement at a time, and kept beside their version', async t => {
  const { select, seen, versions, entry } = await watched(t)
  const statisticsFiles = new StatisticsFiles({ store: { select }, versions })
  const [a, b] = [entry('a'), entry('b')]
  const [first, again] = await Promise.all([
    statisticsFiles.of(a),
    statisticsFiles.of(a),
    statisticsFiles.of(b),
  ])
  t.equal(first, again)
  t.equal(seen.most, 1)
  const { asked: requested } = seen
  await statisticsFiles.of(a)
  t.equal(seen.asked, requested)
  t.ok(existsSync(path.join(versionFolder(versions, 'a', 'v1'), 'survey-2.json')))
  t.notOk(existsSync(versionFolder(versions, 'b', 'v1')), 'a version that is gone stays away')
  const later = new StatisticsFiles({ store: { select }, versions })
  t.strictSame(await later.of(entry('a')), first)
  t.equal(seen.asked, requested, 'another start counts nothing')
})

t.test('a survey without statistics for planners is not kept where they failed', async t => {
  const { select, versions, entry } = await watched(t)
  const contents = () => Promise.reject(new Fault(STORE_BUSY))
  const statisticsFiles = new StatisticsFiles({ store: { select, contents }, versions })
  t.match(await statisticsFiles.of(entry('a')), { triples: 6, planner: null })
  t.notOk(existsSync(path.join(versionFolder(versions, 'a', 'v1'), 'survey-2.json')))
})

t.test('nothing is written after the end', async t => {
  const { select, versions, entry } = await watched(t)
  const statisticsFiles = new StatisticsFiles({ store: { select }, versions })
  const graphStatistics = statisticsFiles.of(entry('a')).catch(() => null)
  statisticsFiles.close()
  await graphStatistics
  const late = new StatisticsFiles({
    store: { select: async query => select(query).finally(() => late.close()) },
    versions,
  })
  await late.of(entry('a')).catch(() => null)
  t.notOk(existsSync(path.join(versionFolder(versions, 'a', 'v1'), 'survey-2.json')))
})

t.test('who waits for a survey of the background does not wait for its rests', async t => {
  const { select, seen, entry } = await watched(t)
  const statisticsFiles = new StatisticsFiles({ store: { select }, rest: 100_000 })
  const entries = [entry('a')]
  const alive = setInterval(() => undefined, 50)
  statisticsFiles.follow(() => entries)
  while (seen.asked === 0) await new Promise(resolve => setTimeout(resolve, 20))
  await new Promise(resolve => setTimeout(resolve, 150))
  t.equal(seen.asked, 1, 'it rests')
  const [only] = entries
  if (only !== undefined) t.match(await statisticsFiles.of(only), { triples: 6 })
  statisticsFiles.close()
  clearInterval(alive)
})

t.test('what takes too long is not tried again, other failures are', async t => {
  const slow = await watched(t, () => Promise.reject(new Fault(DEADLINE_EXCEEDED, { seconds: 60 })))
  const statisticsFiles = new StatisticsFiles({ store: { select: slow.select } })
  const entry = slow.entry('a')
  t.equal(await statisticsFiles.of(entry), null)
  t.equal(await statisticsFiles.of(entry), null)
  t.equal(slow.seen.asked, 1)
  const busy = await watched(t, () => Promise.reject(new Fault(STORE_BUSY)))
  const others = new StatisticsFiles({ store: { select: busy.select } })
  const other = busy.entry('a')
  for (const times of [1, 2]) {
    await t.rejects(others.of(other), { code: 'StoreBusy' })
    t.equal(busy.seen.asked, times)
  }
})

t.test('figures that are not counted yet are left out, and nobody keeps the answer', async t => {
  const http = fastify()
  t.teardown(() => http.close())
  const statisticsFiles = { of: () => new Promise<never>(() => undefined) }
  const catalog = { visibleTo: () => app.catalog.visibleTo(ANONYMOUS) }
  const dataset = (id: string) => app.catalog.dataset(id)
  await http.register(descriptions, {
    base,
    title: 'Small',
    description: '',
    languages: ['en'],
    portal,
    catalog,
    dataset,
    statisticsFiles,
    timeout: 20,
  })
  for (const url of ['/.well-known/void', '/api/void/plants']) {
    const answer = await http.inject(url)
    t.equal(answer.statusCode, 200)
    t.match(answer.body, /void:triples \d+/)
    t.notMatch(answer.body, 'void:properties')
    t.equal(answer.headers.etag, undefined)
    t.equal(answer.headers['cache-control'], 'no-cache')
  }
})
