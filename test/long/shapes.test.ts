import { spawnSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import oxigraph from 'oxigraph'
import t from 'tap'
import { Fault } from '../../src/errors/errors.ts'
import { checkShapes, readShapesFile } from '../../src/publishing/shapes/check-shapes.ts'
import { emptyGraph, readShapes, validateGraph } from '../../src/publishing/shapes/validate.ts'
import { versionsOf } from '../../src/publishing/versions/versions.ts'
import { temporaryFolder } from '../support/folder.ts'
import { servePortal } from '../support/portal.ts'

/** SHACL shapes: those of each dataset hold for its data, and any can be applied to any dataset. */
const base = 'http://portal.example'
const root = path.resolve(import.meta.dirname, '../..')
const HOUSES = `id,name,floors,built,owner,tags
1,Mill,3,1899-01-02,Ann,old;tall
2,Barn,1,,Bob,
3,Shed,,1950-05-06,Ann,old
`
const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Shapes\n',
  data: {
    houses: {
      'houses.csv': HOUSES,
      'dataset.yaml': `source: { path: houses.csv }
fields:
  - { name: id, type: int }
  - { name: name, type: text, label: Name, description: What people call it }
  - { name: floors, type: int }
  - { name: built, type: date }
  - { name: owner, type: text }
  - { name: tags, type: text, annotations: { multivalued: [';'] } }
metas: { default: { title: Houses, language: en } }
`,
    },
    stored: { 'dataset.yaml': 'source: { path: houses.csv }\n', 'houses.csv': HOUSES },
    plain: { 'dataset.yaml': 'source: { path: s.json }\n', 's.json': '[{"a": 1}, {"a": 2, "b": "x"}]' },
    graph: {
      'dataset.yaml': 'source: { path: g.ttl }\n',
      'g.ttl': '<urn:a> a <urn:C> ; <urn:p> 1 .',
    },
    secret: {
      'dataset.yaml': 'source: { path: s.json }\nvisibility: restricted\n',
      's.json': '[{"a": 1}]',
    },
  },
  mappings: {
    'houses.yml': `prefixes: { ex: 'http://example.org/' }
mappings:
  house:
    subject: ${base}/ld/resources/houses/house/$(id)
    predicateobjects:
      - [a, ex:House]
      - [ex:name, $(name), en~lang]
      - [ex:floors, $(floors), xsd:integer]
      - [ex:built, $(built), xsd:date]
      - [ex:tag, $(tags)]
      - p: ex:owner
        o: { mapping: owner }
  owner:
    subject: ${base}/ld/resources/houses/owner/$(owner)
    predicateobjects:
      - [a, ex:Person]
      - [ex:name, $(owner)]
`,
    // What is stored otherwise than it is written, and a class that is in no graph where a record has no value.
    'stored.yml': `prefixes: { ex: 'http://stored.example/' }
mappings:
  house:
    subject: http://example.org/house/$(id)
    predicateobjects:
      - [a, ex:House]
      - [ex:floors, $(floors), xsd:int]
      - [ex:name, [[$(name), pt-BR~lang], $(owner)]]
      - [ex:owner, owner]
  owner:
    subject: http://example.org/owner/$(id)
    graphs: http://example.org/built/$(built)
    predicateobjects:
      - [a, ex:Person]
      - [ex:name, $(name)]
`,
  },
})
for (const id of ['countries', 'earthquakes']) {
  cpSync(path.join(root, 'data', id), path.join(portal, 'data', id), { recursive: true })
  cpSync(path.join(root, 'mappings', `${id}.yml`), path.join(portal, 'mappings', `${id}.yml`))
}
const { get } = await servePortal(t, { portal, base, now: '2026-01-02T03:04:05Z' })
const versions = versionsOf(portal)

const SH = 'http://www.w3.org/ns/shacl#'

/** The answers to a query over the shapes of a dataset. */
async function ask(id: string, query: string): Promise<readonly (readonly string[])[]> {
  const store = new oxigraph.Store()
  const { body } = await get(`/api/shapes/${id}`, { accept: 'application/n-triples' })
  store.load(body, { format: 'application/n-triples' })
  const text = String(store.query(`PREFIX sh: <${SH}> ${query}`, { results_format: 'csv' }))
  return text
    .trim()
    .split(/\r?\n/)
    .slice(1)
    .map(line => line.split(','))
}

t.test('the data of each dataset validate against its shapes', async t => {
  for (const id of ['houses', 'stored', 'plain', 'countries', 'earthquakes']) {
    const { body } = await get(`/api/shapes/${id}`, { accept: 'application/n-triples' })
    const file = path.join(portal, `${id}.nt`)
    writeFileSync(file, body)
    const shapes = readShapesFile(file)
    t.ok(shapes.targets > 0, `${id} has targets`)
    t.same(await checkShapes(versions, id, shapes), [], id)
    const other = await checkShapes(versions, id === 'houses' ? 'plain' : 'houses', shapes)
    t.same(other, [], `${id}: targets are those of its own classes and properties`)
  }
})

t.test('shapes tell what the mapping makes', async t => {
  const rows = await ask(
    'houses',
    `SELECT ?class ?path ?kind ?type ?min ?max WHERE {
      ?shape sh:targetClass ?class ; sh:property ?p . ?p sh:path ?path ; sh:nodeKind ?kind .
      OPTIONAL { ?p sh:datatype ?type } OPTIONAL { ?p sh:class ?type }
      OPTIONAL { ?p sh:minCount ?min } OPTIONAL { ?p sh:maxCount ?max } } ORDER BY ?class ?path`,
  )
  const ex = 'http://example.org/'
  const xsd = 'http://www.w3.org/2001/XMLSchema#'
  t.same(rows, [
    [`${ex}House`, `${ex}built`, `${SH}Literal`, `${xsd}date`, '', '1'],
    [`${ex}House`, `${ex}floors`, `${SH}Literal`, `${xsd}integer`, '', '1'],
    [`${ex}House`, `${ex}name`, `${SH}Literal`, '', '1', '1'],
    [`${ex}House`, `${ex}owner`, `${SH}IRI`, `${ex}Person`, '', '1'],
    [`${ex}House`, `${ex}tag`, `${SH}Literal`, `${xsd}string`, '', ''],
    [`${ex}Person`, `${ex}name`, `${SH}Literal`, `${xsd}string`, '1', ''],
  ])
  const named = await ask('houses', 'SELECT ?name ?about { ?p sh:name ?name ; sh:description ?about }')
  t.same(named, [['Name', 'What people call it']])
  const direct = await ask(
    'plain',
    'SELECT ?on ?max { ?s sh:targetSubjectsOf ?on ; sh:property [ sh:path ?on ; sh:maxCount ?max ] } ORDER BY ?on',
  )
  t.same(direct, [
    [`${base}/ld/ontologies/plain/a`, '1'],
    [`${base}/ld/ontologies/plain/b`, '1'],
  ])
})

t.test('they are served as other descriptions are', async t => {
  for (const type of ['text/turtle', 'application/ld+json', 'application/n-triples', 'application/rdf+xml']) {
    const answer = await get('/api/shapes/houses', { accept: type })
    t.equal(answer.statusCode, 200, type)
    t.equal(answer.headers['content-type'], `${type}; charset=utf-8`)
    t.match(answer.headers.vary, /Accept\b/)
    const store = new oxigraph.Store()
    store.load(answer.body, { format: type })
    t.ok(store.size > 40, type)
    const again = await get('/api/shapes/houses', { accept: type, 'if-none-match': answer.headers.etag })
    t.equal(again.statusCode, 304)
  }
  t.equal((await get('/api/shapes/houses?format=rdfxml')).statusCode, 200)
  t.equal((await get('/api/shapes/houses', { accept: 'image/png' })).statusCode, 406)
  t.equal(
    (await get('/api/shapes/secret')).statusCode,
    401,
    'nobody sees the fields of what they may not see',
  )
  t.equal((await get('/api/shapes/nothing')).statusCode, 404)
  t.equal((await get('/api/shapes/graph')).statusCode, 404, 'a file of RDF has no fields')
})

t.test('descriptions lead to them', async t => {
  const shapes = `${base}/api/shapes/houses`
  for (const [address, accept] of [
    ['/api/void/houses', 'application/n-triples'],
    ['/api/v2/catalog/exports/ttl', 'text/turtle'],
  ] as const) {
    const { body } = await get(address, { accept })
    const store = new oxigraph.Store()
    store.load(body, { format: accept })
    const query = (id: string) =>
      `ASK { <${base}/ld/resources/${id}> <http://purl.org/dc/terms/conformsTo> <${base}/api/shapes/${id}> }`
    t.equal(store.query(query('houses')), true, address)
    t.equal(store.query(query('graph')), false, 'none for what has none')
  }
  const page = await get('/explore/dataset/houses/linked-data/', { accept: 'text/html' })
  t.match(page.body, shapes)
})

const SHAPES = `@prefix sh: <${SH}> . @prefix ex: <http://example.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:HouseShape a sh:NodeShape ; sh:targetClass ex:House ;
  sh:property [ sh:path ex:floors ; sh:minCount 1 ; sh:message "A house has floors" ] ,
    [ sh:path ex:built ; sh:minCount 1 ; sh:severity sh:Warning ] ,
    [ sh:path (ex:owner ex:name) ; sh:pattern "^A" ] ;
  sh:sparql [ sh:select "SELECT $this {}" ] .
`

t.test('foreign shapes are applied by the command', async t => {
  writeFileSync(path.join(portal, 'foreign.ttl'), SHAPES)
  const run = (...words: string[]) =>
    spawnSync(
      process.execPath,
      [path.join(root, 'bin/lodestone.js'), 'check', '--portal', portal, ...words],
      {
        encoding: 'utf8',
      },
    )
  const found = run('--shapes', path.join(portal, 'foreign.ttl'), '--json', 'houses')
  t.equal(found.status, 1, 'some values do not conform')
  t.match(found.stderr, /sh:sparql\) are not evaluated/)
  const house = (n: number) => `<${base}/ld/resources/houses/house/${n}>`
  const findings = JSON.parse(found.stdout) as { severity: string; result: Record<string, string> }[]
  t.same(
    findings
      .map(({ severity, result: { focusNode, path, message, value } }) => [
        severity,
        focusNode,
        path,
        message,
        value,
      ])
      .sort(),
    [
      ['error', house(2), 'a path of several steps', 'Value does not match pattern "^A"', '"Bob"'],
      ['error', house(3), '<http://example.org/floors>', 'A house has floors', null],
      ['warning', house(2), '<http://example.org/built>', 'Less than 1 values', null],
    ].sort(),
  )
  const text = run('--shapes', path.join(portal, 'foreign.ttl'), 'houses').stdout
  t.match(text, `error: houses: ${house(3)} <http://example.org/floors>: A house has floors`)
  const fine = run('--shapes', path.join(portal, 'foreign.ttl'), 'plain')
  t.same([fine.status, fine.stdout], [0, ''])
})

t.test('what cannot be done is told', async t => {
  const file = (name: string, text: string) => {
    writeFileSync(path.join(portal, name), text)
    return path.join(portal, name)
  }
  const reason = (run: () => unknown) => {
    try {
      run()
    } catch (error) {
      if (error instanceof Fault) return error.message
      throw error
    }
    return ''
  }
  t.match(
    reason(() => readShapesFile(file('a.csv', ''))),
    /shapes are read from RDF/,
  )
  t.match(
    reason(() => readShapesFile(path.join(portal, 'none.ttl'))),
    /cannot be read: ENOENT/,
  )
  t.match(
    reason(() => readShapesFile(file('b.ttl', '<urn:a> <urn:b>'))),
    /b\.ttl|RDF/,
  )
  t.match(
    reason(() => readShapesFile(file('c.ttl', '<urn:a> <urn:b> 1 .'))),
    /no shape with a target/,
  )
  const shapes = readShapesFile(file('d.ttl', SHAPES))
  const [large] = await checkShapes(versions, 'houses', shapes, 5)
  t.match(large, { severity: 'error', message: /shapes are applied to 5 at most/ })
  const [missing] = await checkShapes(versions, 'nowhere', shapes)
  t.match(missing?.message, /nothing is published/)
})

t.test('results beyond those that are listed are counted, and memory holds no more of them', async t => {
  const triples = `<urn:s> <${SH}targetClass> <urn:C> .\n<urn:s> <${SH}nodeKind> <${SH}Literal> .\n`
  const graph = emptyGraph()
  const type = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
  for (let n = 0; n < 50; n++) graph.addText(`<urn:n${n}> <${type}> <urn:C> .\n`)
  graph.addText(`<urn:n1> <${type}> <<( <urn:a> <urn:b> <urn:c> )>> .\n`)
  const { results, counts, focusNodes } = validateGraph(readShapes(triples), graph, 10)
  t.same([results.length, counts.violation, focusNodes, graph.tripleTerms, graph.size], [10, 50, 50, 1, 50])
})
