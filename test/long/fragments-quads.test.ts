import { QueryEngine } from '@comunica/query-sparql'
import { DataFactory, Parser, type Quad, Store as QuadStore, type Term } from 'n3'
import t, { type Test } from 'tap'
import { HYDRA, RDF, SD } from '../../src/rdf/vocab.ts'
import { HIDDEN, makePeople } from '../support/access.ts'
import { temporaryFolder } from '../support/folder.ts'
import { servePortal } from '../support/portal.ts'
import { freePort } from '../support/serving.ts'

/** Quad pattern fragments of a dataset with named graphs and of the portal, page by page and asked by Comunica. */
const PREFIX = '@prefix : <http://example.org/> .\n'
const GRAPHS = `${PREFIX}:a :p :b . :b :p :c ; :n 1 .
:g1 { :a :p :b ; :n 2 . :c :p :c }
:g2 { :a :p :c ; :l "deux"@fr . :g2 :p :a }
`
const PEOPLE = `${PREFIX}:a :p :b ; :name "A" . ${Array.from({ length: 30 }, (_, at) => `:x${at} :n ${at} ; :p :x${(at * 7) % 30} .`).join('\n')}`
const SECRET = `${PREFIX}:a :p :zyzzy ; :n 77 .`
const DEFAULT = DataFactory.namedNode('urn:ldf:defaultGraph')
const PLACES = ['subject', 'predicate', 'object', 'graph'] as const

async function serve(t: Test) {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const dataset = (file: string, text: string, more = '') => ({
    [file]: text,
    'dataset.yaml': `source: { path: ${file} }\n${more}`,
  })
  const portal = temporaryFolder(t, {
    'portal.yaml': '',
    data: {
      graphs: dataset('graphs.trig', GRAPHS),
      people: dataset('people.ttl', PEOPLE),
      [HIDDEN]: dataset('secret.ttl', SECRET, 'visibility: restricted\n'),
    },
  })
  const { accounts, secrets } = await makePeople(portal)
  t.teardown(() => accounts.close())
  const served = await servePortal(t, { portal, base, port, config: { fragmentSize: 7 } })
  const get = (url: string, headers: Record<string, string> = { accept: 'application/n-quads' }) =>
    served.get(url, headers)
  return { base, get, secrets }
}
type Served = Awaited<ReturnType<typeof serve>>

/** The RDF dataset that fragments are of: what stands in graphs with names, and in the default graph. */
function datasetOf(base: string, id: string | null): QuadStore {
  const store = new QuadStore()
  const add = (quads: readonly Quad[], graph: (quad: Quad) => Quad['graph']) => {
    for (const quad of quads)
      store.addQuad(DataFactory.quad(quad.subject, quad.predicate, quad.object, graph(quad)))
  }
  const named = (iri: string) => () => DataFactory.namedNode(iri)
  const inGraphs = new Parser({ format: 'TriG' }).parse(GRAPHS)
  const people = new Parser().parse(PEOPLE)
  add(
    inGraphs.filter(({ graph }) => graph.termType !== 'DefaultGraph'),
    ({ graph }) => graph,
  )
  add(
    id === null ? inGraphs : inGraphs.filter(({ graph }) => graph.termType === 'DefaultGraph'),
    DataFactory.defaultGraph,
  )
  if (id === null) {
    add(inGraphs, named(`${base}/ld/resources/graphs`))
    add(people, named(`${base}/ld/resources/people`))
    add(people, DataFactory.defaultGraph)
  }
  return store
}

const keyOf = (quad: Quad) => JSON.stringify(PLACES.map(place => [quad[place].termType, quad[place].value]))

/** All pages of a fragment: its quads, and how many it says that there are. */
async function crawl(served: Served, url: string) {
  const quads: Quad[] = []
  const totals = new Set<string>()
  for (let next: string | undefined = url; next !== undefined; ) {
    const here: string = next
    const response = await served.get(here)
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${here} ${response.body}`)
    const page = new Parser({ format: 'N-Quads' }).parse(response.body)
    const metadata = page.filter(({ graph }) => graph.value.endsWith('#metadata'))
    quads.push(...page.filter(quad => !metadata.includes(quad)))
    const object = (predicate: string) =>
      metadata.find(quad => quad.subject.value === here && quad.predicate.value === predicate)?.object.value
    totals.add(object(HYDRA.totalItems) ?? 'none')
    next = object(HYDRA.next)
  }
  return { quads, total: [...totals].join() }
}

function parameterOf(term: Term): string {
  if (term.termType === 'DefaultGraph') return DEFAULT.value
  if (term.termType !== 'Literal') return term.value
  return term.language === '' ? `"${term.value}"^^${term.datatype.value}` : `"${term.value}"@${term.language}`
}

const served = await serve(t)
const { base, get, secrets } = served
for (const [id, address] of [
  ['graphs', `${base}/api/qpf/graphs`],
  [null, `${base}/api/qpf`],
] as const) {
  const dataset = datasetOf(base, id)
  const expected = (pattern: Partial<Record<(typeof PLACES)[number], Term>>) =>
    dataset
      .getQuads(
        (pattern.subject as Quad['subject']) ?? null,
        (pattern.predicate as Quad['predicate']) ?? null,
        (pattern.object as Quad['object']) ?? null,
        (pattern.graph as Quad['graph']) ?? null,
      )
      // The default graph of the portal is the union of its graphs, which are gone through alone.
      .filter(quad => id !== null || pattern.graph !== undefined || quad.graph.termType !== 'DefaultGraph')
  t.test(`every pattern of ${id ?? 'the portal'}`, async t => {
    const all = dataset.getQuads(null, null, null, null)
    for (let at = 0; at < 64; at++) {
      const quad = all[(at * 31) % all.length] as Quad
      const pattern = Object.fromEntries(
        PLACES.filter((_, bit) => (at >> bit) & 1).map(place => [place, quad[place]]),
      )
      const query = Object.entries(pattern)
        .map(([place, term]) => `${place}=${encodeURIComponent(parameterOf(term))}`)
        .join('&')
      const { quads, total } = await crawl(served, query === '' ? address : `${address}?${query}`)
      const required = expected(pattern).map(keyOf).sort()
      t.strictSame(quads.map(keyOf).sort(), required, query)
      t.equal(total, String(required.length), 'with the exact number')
    }
  })
  t.test(`variables and bindings of ${id ?? 'the portal'}`, async t => {
    const ask = async (query: string) => (await crawl(served, `${address}?${query}`)).quads.map(keyOf).sort()
    const named = expected({})
    t.strictSame(
      await ask('subject=%3Fx&graph=%3Fx'),
      named
        .filter(({ subject, graph }) => subject.equals(graph))
        .map(keyOf)
        .sort(),
      'one variable in two places',
    )
    const values = (text: string) => `&values=${encodeURIComponent(text)}`
    const g1 = named.filter(({ graph }) => graph.value === 'http://example.org/g1').map(keyOf)
    t.strictSame(
      await ask(`graph=%3Fg${values('(?g) { (<http://example.org/g1>) (<http://nowhere/>) }')}`),
      g1.sort(),
      'bindings of the graph',
    )
    t.strictSame(
      await ask(
        `subject=%3Fs&graph=%3Fg${values('(?s ?g) { (<http://example.org/c> <http://example.org/g1>) }')}`,
      ),
      g1.filter(key => key.includes('example.org/c"],["NamedNode","http://example.org/p"')),
      'and of a term',
    )
    t.strictSame(await ask('graph=http%3A%2F%2Fnowhere%2F'), [])
    t.strictSame(await ask('graph=%22text%22'), [])
  })
  t.test(`Comunica asks ${id ?? 'the portal'}`, async t => {
    for (const query of [
      'SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g',
      'SELECT * { GRAPH ?g { ?s :p ?o . ?s :n ?n } }',
      'SELECT * { ?a :p ?b . ?b :p ?c }',
      'SELECT * { GRAPH :g1 { :a :p ?b } }',
      'SELECT * { ?a :p ?b GRAPH ?g { ?a :n ?n } }',
      'SELECT * { :a :p ?b OPTIONAL { GRAPH :g2 { :a :l ?l } } }',
      'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }',
      'SELECT ?g { GRAPH ?g { ?g :p ?o } }',
      'ASK { GRAPH :nowhere { ?s ?p ?o } }',
    ]) {
      const text = `PREFIX : <http://example.org/> ${query}`
      const over = async (sources: [string | QuadStore | { type: string; value: string }]) => {
        const engine = new QueryEngine()
        if (query.startsWith('ASK')) return String(await engine.queryBoolean(text, { sources }))
        const bindings = await (await engine.queryBindings(text, { sources })).toArray()
        return bindings
          .map(row =>
            [...row]
              .map(([name, term]) => `${name.value}=${term.value}`)
              .sort()
              .join(' '),
          )
          .sort()
          .join('\n')
      }
      const required = await over([dataset])
      t.equal(await over([address]), required, query)
      if (id !== null)
        t.equal(await over([{ type: 'brtpf', value: address }]), required, `${query} restricted`)
    }
  })
}
t.test('controls, forms and faults', async t => {
  const page = new Parser({ format: 'N-Quads' }).parse((await get('/api/qpf/graphs')).body)
  const about = (subject: string, predicate: string) =>
    page
      .filter(quad => quad.subject.value === subject && quad.predicate.value === predicate)
      .map(({ object }) => object.value)
  t.strictSame(about(`${base}/api/qpf/graphs#dataset`, SD.defaultGraph), [DEFAULT.value])
  const properties = page.filter(({ predicate }) => predicate.value === HYDRA.property)
  t.strictSame(
    properties.map(({ object }) => object.value).sort(),
    [RDF.subject, RDF.predicate, RDF.object, SD.graph].sort(),
  )
  t.ok(page.some(({ object }) => object.value === `${base}/api/qpf/graphs{?subject,predicate,object,graph}`))
  const trig = await get('/api/qpf/graphs', { accept: '*/*' })
  t.match(trig.headers['content-type'], 'application/trig')
  t.match(trig.headers.link, 'describedby')
  t.strictSame(
    new Parser({ format: 'TriG' })
      .parse(trig.body)
      .filter(({ graph }) => !graph.value.endsWith('metadata'))
      .map(keyOf),
    page.filter(({ graph }) => !graph.value.endsWith('metadata')).map(keyOf),
  )
  const json = JSON.parse((await get('/api/qpf/graphs', { accept: 'application/ld+json' })).body)
  t.match(JSON.stringify(json), '"@id":"http://example.org/g1","@graph":')
  t.equal((await get('/api/qpf/graphs', { accept: 'text/turtle' })).statusCode, 406)
  t.equal((await get('/api/qpf/nosuch')).statusCode, 404)
  t.equal((await get('/api/qpf/graphs?graph=not an iri')).statusCode, 400)
  t.equal((await get('/api/qpf/graphs?graph=a:b&graph=a:c')).statusCode, 400)
  const plain = await get('/api/tpf/graphs?graph=http://example.org/g1')
  t.equal(plain.statusCode, 400)
  t.match(plain.body, '/api/qpf')
  t.notMatch(
    (await get('/api/tpf/graphs')).body,
    /#graph>|defaultGraph/,
    'fragments of triples are as they were',
  )
  const again = await get('/api/qpf/graphs', { accept: '*/*', 'if-none-match': String(trig.headers.etag) })
  t.equal(again.statusCode, 304)
})
t.test('restricted datasets are no graphs for who may not see them', async t => {
  const key = (secret: string) => ({ accept: 'application/n-quads', authorization: `Apikey ${secret}` })
  const some = await get('/api/qpf?predicate=http://example.org/n', key(secrets.someKey))
  t.match(
    (
      await get(
        `/api/qpf?graph=${encodeURIComponent(`${base}/ld/resources/${HIDDEN}`)}`,
        key(secrets.someKey),
      )
    ).body,
    'zyzzy',
  )
  t.match(some.headers['cache-control'], 'private')
  const counted = (body: string) => /totalItems> "(\d+)"/.exec(body)?.[1]
  for (const headers of [{ accept: 'application/n-quads' }, key(secrets.noneKey)]) {
    const { body, headers: answered } = await get('/api/qpf?predicate=http://example.org/n', headers)
    t.equal(Number(counted(body)), Number(counted(some.body)) - 1)
    t.match(answered.vary, /Authorization/)
    const graph = await get(`/api/qpf?graph=${encodeURIComponent(`${base}/ld/resources/${HIDDEN}`)}`, headers)
    t.equal(counted(graph.body), '0')
    t.notMatch(graph.body, 'zyzzy')
    t.notMatch((await get('/api/qpf?object=http://example.org/zyzzy', headers)).body, 'example.org/a>')
  }
  t.equal((await get(`/api/qpf/${HIDDEN}`)).statusCode, 401)
  t.equal((await get(`/api/qpf/${HIDDEN}`, key(secrets.noneKey))).statusCode, 403)
})
