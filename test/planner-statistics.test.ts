import oxigraph from 'oxigraph'
import t from 'tap'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** What planners of joins are told in VoID, beside what a query engine counts in the same triples. */
const kinds = Array.from({ length: 130 }, (_, n) => `<urn:s${n}> <urn:only${n}> "${n}" .`).join('\n')
const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Plans\n',
  data: {
    people: {
      'dataset.yaml': 'source: { path: p.ttl }\n',
      'p.ttl': `@prefix : <http://example.org/> .
:a a :P ; :n "A" , "B"@en ; :age 3 ; :knows :b , :c .
:b a :P , :Q ; :n "B" ; :age 4 ; :knows :c , <urn:elsewhere> .
:c a :P ; :n "C" ; :age 5.5 ; :knows :a ; :says <<( :a :knows :b )>> .
:d :n "D" . :e a :Q , :P ; :n "E" ; :age 6 ; :knows :e .`,
    },
    many: { 'dataset.yaml': 'source: { path: m.nt }\n', 'm.nt': `${kinds}\n` },
  },
})
const { app } = await servePortal(t, { portal, now: '2026-01-02T03:04:05Z' })

const PREFIXES =
  'PREFIX void: <http://rdfs.org/ns/void#> PREFIX ext: <http://ldf.fi/void-ext#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>'

async function rows(address: string, query: string): Promise<readonly string[]> {
  const { body } = await app.http.inject({ url: address, headers: { accept: 'application/n-triples' } })
  const store = new oxigraph.Store()
  store.load(body, { format: 'application/n-triples' })
  const text = String(store.query(`${PREFIXES} ${query}`, { results_format: 'csv' }))
  return text.trim().split(/\r?\n/).slice(1).sort()
}

const DATA = '/api/sparql/people?default'

t.test('joins of classes by properties are those of the data', async t => {
  const described = await rows(
    '/api/void/people',
    'SELECT ?c ?p ?n ?s { ?part void:class ?c ; void:propertyPartition ?j . ?j void:property ?p ; void:triples ?n ; void:distinctSubjects ?s }',
  )
  const counted = await rows(
    DATA,
    'SELECT ?c ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?x) AS ?s) { ?x a ?c ; ?p ?o FILTER(?p != rdf:type) } GROUP BY ?c ?p'.replace(
      'rdf:type',
      '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>',
    ),
  )
  t.ok(counted.length > 5)
  t.same(described, counted)
  const objects = await rows(
    '/api/void/people',
    'SELECT ?c ?p ?d ?n { ?part void:class ?c ; void:propertyPartition ?j . ?j void:property ?p ; void:classPartition ?k . ?k void:class ?d ; void:triples ?n }',
  )
  t.same(
    objects,
    await rows(DATA, 'SELECT ?c ?p ?d (COUNT(*) AS ?n) { ?x a ?c ; ?p ?o . ?o a ?d } GROUP BY ?c ?p ?d'),
  )
  const datatypes = await rows(
    '/api/void/people',
    'SELECT ?c ?p ?d ?n { ?part void:class ?c ; void:propertyPartition ?j . ?j void:property ?p ; ext:datatypePartition ?k . ?k ext:datatype ?d ; void:triples ?n }',
  )
  t.same(
    datatypes,
    await rows(
      DATA,
      'SELECT ?c ?p ?d (COUNT(*) AS ?n) { ?x a ?c ; ?p ?o . FILTER(isLiteral(?o)) BIND(datatype(?o) AS ?d) } GROUP BY ?c ?p ?d',
    ),
  )
})

t.test('characteristic sets are those of the data', async t => {
  const sets = await rows(
    '/api/void/people',
    'SELECT ?set ?n (COUNT(DISTINCT ?c) AS ?classes) (COUNT(DISTINCT ?p) AS ?properties) { ?d void:subset ?set . ?set void:distinctSubjects ?n . OPTIONAL { ?set void:classPartition/void:class ?c } OPTIONAL { ?set void:propertyPartition/void:property ?p } FILTER(CONTAINS(STR(?set), "#set-")) } GROUP BY ?set ?n',
  )
  t.same(
    sets.map(row => row.replace(/^.*#/, '').split(',').slice(1).join(' ')).sort(),
    ['1 0 1', '1 1 3', '1 1 4', '2 2 3'],
    'b and e are alike though their classes come in another order',
  )
  const page = await app.http.inject({
    url: '/explore/dataset/people/linked-data/',
    headers: { accept: 'text/html' },
  })
  t.match(page.body, 'Characteristic sets')
})

t.test('their number is bounded, and the rest is told', async t => {
  const rest = await rows(
    '/api/void/many',
    'SELECT ?label ?n { ?s rdfs:label ?label ; void:distinctSubjects ?n FILTER(STRENDS(STR(?s), "#sets-rest")) }',
  )
  t.same(rest, ['The other 30 characteristic sets,30'])
  const listed = await rows(
    '/api/void/many',
    'SELECT ?s { ?d void:subset ?s . ?s void:distinctSubjects ?n FILTER(CONTAINS(STR(?s), "#set")) }',
  )
  t.equal(listed.length, 101)
})
