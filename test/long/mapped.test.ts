import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { Parser, type Quad } from 'n3'
import t from 'tap'
import { PortalWatch } from '../../src/publishing/portal-watch.ts'
import type { PublishMessage } from '../../src/publishing/publish-all.ts'
import {
  currentManifest,
  currentVersion,
  graphPath,
  versionsOf,
} from '../../src/publishing/versions/versions.ts'
import { select } from '../support/ask.ts'
import { lodestone, spawnLodestone } from '../support/crash.ts'
import { temporaryFolder } from '../support/folder.ts'
import { publishReports, servePortal } from '../support/portal.ts'

/** Mappings of datasets from the portal folder to everything that is served: a saved mapping changes all of it at once. */
const base = 'http://localhost:3000'
const SCHEMA = 'http://schema.org/'
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'

const CITIES = `id,name,country,country_name,population,height,tags,site
1,Lyon,FR,France,522000,173.5,old;big,http://lyon.example/
2,Nice,FR,France,342000,,,not an iri
3,"Zoë Krüger/é(1)",NL,Netherlands,,1,,
4,Köln,DE,Germany,1085664,53,old,https://koeln.example/a b
`
const CITIES_YAML = `source: { path: cities.csv }
id: [id]
fields:
  - { name: id, type: int }
  - { name: name, type: text }
  - { name: country, type: text, annotations: { facet: [] } }
  - { name: country_name, type: text }
  - { name: population, type: int }
  - { name: height, type: double }
  - { name: tags, type: text, annotations: { multivalued: [';'] } }
  - { name: site, type: text }
metas: { default: { title: Cities } }
`
const COUNTRIES = 'code,name\nFR,France\nDE,Deutschland\n'
const CITIES_MAPPING = `prefixes:
  schema: http://schema.org/
  c: ${base}/ld/resources/cities/
mappings:
  city:
    subject: ${base}/ld/resources/cities/City/$(name)
    predicateobjects:
      - [a, schema:City]
      - [schema:name, $(name)]
      - [schema:population, $(population)]
      - [schema:keywords, $(tags)]
      - [schema:containedInPlace, country]
      - [schema:url, $(site)~iri]
      - [schema:sameAs, '${base}/ld/resources/countries/Country/$(country)']
  country:
    subject: ${base}/ld/resources/cities/Country/$(country)/
    predicateobjects:
      - [a, schema:Country]
      - [schema:name, $(country_name), en~lang]
`
const COUNTRIES_MAPPING = `mappings:
  country:
    subject: ${base}/ld/resources/countries/Country/$(code)
    predicateobjects:
      - [a, 'http://schema.org/Country']
      - ['http://schema.org/name', $(name)]
`

const portal = temporaryFolder(t, {
  'portal.yaml': '',
  mappings: {},
  data: {
    cities: { 'cities.csv': CITIES, 'dataset.yaml': CITIES_YAML },
    countries: {
      'countries.csv': COUNTRIES,
      'dataset.yaml': 'source: { path: countries.csv }\nid: [code]\n',
    },
  },
})
const versions = versionsOf(portal)
const source = path.join(portal, 'data/cities/cities.csv')
const mappingOf = (dataset: string) => path.join(portal, `mappings/${dataset}.yml`)
const save = (text: string, dataset = 'cities') => writeFileSync(mappingOf(dataset), text)

type Reported = Exclude<PublishMessage, { type: 'progress' }>

async function publish(
  names: readonly string[] | null = ['cities'],
  mappingOnly = false,
): Promise<Reported[]> {
  const reports = await publishReports(portal, { base, mappingOnly }, names)
  await app.catalog.refresh()
  return reports
}

const { app } = await servePortal(t, { portal, base, isPublished: false })

const get = (url: string, query: Readonly<Record<string, string>> = {}, accept?: string) =>
  app.http.inject({ url, query: { ...query }, headers: accept === undefined ? {} : { accept } })

async function exported(format = 'n3', query: Readonly<Record<string, string>> = {}, dataset = 'cities') {
  const answer = await get(`/api/explore/v2.1/catalog/datasets/${dataset}/exports/${format}`, query)
  return { status: answer.statusCode, body: answer.body }
}

/** The triples of a text as lines, sorted. */
const linesOf = (text: string) => text.split('\n').filter(Boolean).sort()
const exportedLines = async (query: Readonly<Record<string, string>> = {}) =>
  linesOf((await exported('n3', query)).body)

async function requested(
  query: string,
  dataset = 'cities',
): Promise<readonly Readonly<Record<string, string>>[]> {
  const answer = await get(
    `/api/sparql${dataset === '' ? '' : `/${dataset}`}`,
    { query },
    'application/sparql-results+json',
  )
  if (answer.statusCode !== 200) throw new Error(answer.body)
  const { bindings } = (answer.json() as { results: { bindings: Record<string, { value: string }>[] } })
    .results
  return bindings.map(row =>
    Object.fromEntries(Object.entries(row).map(([name, { value }]) => [name, value])),
  )
}

const countOf = async (dataset = 'cities') =>
  Number((await requested('SELECT (COUNT(*) AS ?n) { ?s ?p ?o }', dataset))[0]?.n)

const iri = (local: string) => `<${base}/ld/resources/cities/${local}>`

const EXPECTED = [
  ['City/Lyon', 'FR', 'Lyon', '522000', ['old', 'big'], 'http://lyon.example/'],
  ['City/Nice', 'FR', 'Nice', '342000', [], null],
  ['City/Zoë%20Krüger%2Fé%281%29', 'NL', 'Zoë Krüger/é(1)', null, [], null],
  ['City/Köln', 'DE', 'Köln', '1085664', ['old'], null],
] as const

function cityLines([local, code, name, population, tags, site]: (typeof EXPECTED)[number]): string[] {
  const translate = (predicate: string, object: string) => `${iri(local)} <${SCHEMA}${predicate}> ${object} .`
  return [
    `${iri(local)} <${TYPE}> <${SCHEMA}City> .`,
    translate('name', `"${name}"`),
    ...(population === null
      ? []
      : [translate('population', `"${population}"^^<http://www.w3.org/2001/XMLSchema#integer>`)]),
    ...tags.map(tag => translate('keywords', `"${tag}"`)),
    translate('containedInPlace', iri(`Country/${code}/`)),
    ...(site === null ? [] : [translate('url', `<${site}>`)]),
    translate('sameAs', `<${base}/ld/resources/countries/Country/${code}>`),
  ]
}

const countryLines = ([code, name]: readonly [string, string]) => [
  `${iri(`Country/${code}/`)} <${TYPE}> <${SCHEMA}Country> .`,
  `${iri(`Country/${code}/`)} <${SCHEMA}name> "${name}"@en .`,
]
const COUNTRY_NAMES = [
  ['FR', 'France'],
  ['NL', 'Netherlands'],
  ['DE', 'Germany'],
] as const
const ALL = [...EXPECTED.flatMap(cityLines), ...COUNTRY_NAMES.flatMap(countryLines)].sort()
const FACTS = 28

t.test('without a mapping: the direct mapping', async t => {
  t.match(await publish(null), [
    { type: 'published', dataset: 'cities', report: { records: 4, triples: FACTS, mapping: null } },
    { type: 'published', dataset: 'countries' },
  ])
  t.equal((await exportedLines()).length, FACTS)
})

t.test('a saved mapping: published from the records, everything changes in one step', async t => {
  const before = currentVersion(versions, 'cities')
  save(CITIES_MAPPING)
  chmodSync(source, 0)
  rmSync(source)
  const [described, ...more] = await publish(null)
  t.same(
    more.map(({ type }) => type),
    ['unchanged'],
  )
  t.match(described, {
    type: 'published',
    report: { records: 4, triples: ALL.length, isSourceRead: false, mapping: { file: mappingOf('cities') } },
  })
  t.not(currentVersion(versions, 'cities'), before)
  writeFileSync(source, CITIES)
  t.match(await publish(), [{ type: 'unchanged' }], 'the source is as it was')
  const rules = described?.type === 'published' ? (described.report.mapping?.rules ?? []) : []
  t.match(
    rules.map(rule => [rule.resource, rule.predicate, rule.made, rule.nulls, rule.invalidIri]),
    [
      ['city', null, 4, 0, 0],
      ['city', TYPE, 4, 0, 0],
      ['city', `${SCHEMA}name`, 4, 0, 0],
      ['city', `${SCHEMA}population`, 3, 1, 0],
      ['city', `${SCHEMA}keywords`, 3, 2, 0],
      ['city', `${SCHEMA}containedInPlace`, 4, 0, 0],
      ['city', `${SCHEMA}url`, 1, 1, 2],
    ],
    'what each rule made and left out',
  )
  t.match(
    rules
      .find(rule => rule.predicate === `${SCHEMA}url`)
      ?.examples.map(({ text }) => text)
      .sort(),
    ['', 'https://koeln.example/a b', 'not an iri'],
  )
  const manifest = currentManifest(versions, 'cities')
  t.match(manifest?.mapping, { text: CITIES_MAPPING, rules: rules.map(({ made }) => ({ made })) })
  const file = manifest?.graphs.find(({ role }) => role === 'mapped')
  t.ok(manifest !== null && file !== undefined)
  if (manifest !== null && file !== undefined) {
    const text = gunzipSync(readFileSync(graphPath(versions, manifest, file.file))).toString()
    t.same(linesOf(text), ALL)
    t.equal(file.triples, ALL.length)
    t.equal(file.bytes, Buffer.byteLength(text))
  }
})

t.test('exports: each triple once, of all records or of those of a query', async t => {
  t.same(await exportedLines(), ALL)
  const rows: readonly (readonly [Readonly<Record<string, string>>, readonly string[]])[] = [
    [{ where: 'name = "Lyon"' }, [...cityLines(EXPECTED[0]), ...countryLines(COUNTRY_NAMES[0])]],
    [
      { refine: 'country:FR' },
      [...EXPECTED.slice(0, 2).flatMap(cityLines), ...countryLines(COUNTRY_NAMES[0])],
    ],
    [{ limit: '1' }, [...cityLines(EXPECTED[0]), ...countryLines(COUNTRY_NAMES[0])]],
    [
      { order_by: 'population desc', limit: '1' },
      [...cityLines(EXPECTED[3]), ...countryLines(COUNTRY_NAMES[2])],
    ],
    [{ where: 'population > 2000000' }, []],
  ]
  for (const [query, expected] of rows)
    t.same(await exportedLines(query), [...expected].sort(), JSON.stringify(query))
  for (const query of [{}, { refine: 'country:FR' }]) {
    const expected = await exportedLines(query)
    const turtle = (await exported('turtle', query)).body
    t.match(turtle, /@prefix schema: <http:\/\/schema.org\/> \./)
    t.match(turtle, /@prefix c: /)
    t.match(turtle, / a schema:City ;/)
    const quads: Quad[] = new Parser({ format: 'text/turtle' }).parse(turtle)
    t.equal(quads.length, expected.length)
    const jsonld = JSON.parse((await exported('jsonld', query)).body) as {
      '@context': Record<string, string>
      '@graph': Record<string, unknown>[]
    }
    t.strictSame(jsonld['@context'], { schema: SCHEMA })
    t.ok(jsonld['@graph'].every(node => 'schema:name' in node))
    const { status, body } = await exported('rdfxml', query)
    t.equal(status, 200)
    t.match(body, /<schema:City rdf:about=/)
  }
})

t.test('fragments, SPARQL and descriptions', async t => {
  const fragment = await get(
    '/api/tpf/cities',
    { predicate: `${SCHEMA}containedInPlace` },
    'application/n-quads',
  )
  t.equal((fragment.body.match(/containedInPlace> </g) ?? []).length >= 4, true)
  t.equal(await countOf(), ALL.length)
  t.same(
    await requested(
      `PREFIX s: <${SCHEMA}> SELECT ?name { ?city s:containedInPlace/s:name "France"@en; s:name ?name } ORDER BY ?name`,
    ),
    [{ name: 'Lyon' }, { name: 'Nice' }],
  )
  const described = (await get('/api/void/cities', { format: 'ntriples' })).body
  for (const part of [
    `#class> <${SCHEMA}City>`,
    `#class> <${SCHEMA}Country>`,
    `#property> <${SCHEMA}containedInPlace>`,
    `#vocabulary> <${SCHEMA}>`,
    `#uriSpace> "${base}/ld/resources/cities/"`,
    `#triples> "${ALL.length}"`,
  ])
    t.ok(described.includes(part), part)
  t.match((await get('/api/void/cities/queries')).json(), { prefixes: { schema: SCHEMA } })
})

t.test('resources that the mapping mints, and records beside them', async t => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ['/ld/data/cities/City/Lyon', /schema:name "Lyon"/],
    ['/ld/data/cities/City/Zo%C3%AB%20Kr%C3%BCger%2F%C3%A9%281%29', /"Zoë Krüger\/é\(1\)"/],
    ['/ld/data/cities/Country/FR/', /schema:name "France"@en/],
  ]
  for (const [url, found] of rows) {
    const answer = await get(url, {}, 'text/turtle')
    t.equal(answer.statusCode, 200, url)
    t.match(answer.body, found)
  }
  const thing = await get('/ld/resources/cities/Country/FR/', {}, 'text/turtle')
  t.equal(thing.statusCode, 303)
  t.equal(thing.headers.location, `${base}/ld/data/cities/Country/FR/`)
  const country = await get('/ld/data/cities/Country/FR/', { format: 'nt' })
  t.match(country.body, new RegExp(`City/Lyon> <${SCHEMA}containedInPlace>`), 'links to it')
  const page = await get('/ld/data/cities/Country/FR/', {}, 'text/html')
  t.match(page.body, /Lyon/)
  t.equal((await get('/ld/data/cities/City/Atlantis', {}, 'text/turtle')).statusCode, 404)
  const [row] = (
    await get('/api/explore/v2.0/catalog/datasets/cities/records', { where: 'name = "Lyon"' })
  ).json<{ records: { record: { id: string } }[] }>().records
  const record = await get(`/ld/data/cities/records/${row?.record.id}`, { format: 'nt' })
  t.equal(record.statusCode, 200, 'a record stays')
  t.match(record.body, /ontologies\/cities\/name> "Lyon"/)
  t.equal((await get('/ld/vocabulary/cities/name', {}, 'text/turtle')).statusCode, 200)
  t.match((await get('/ld/data/cities', { format: 'nt' })).body, /exampleResource> <[^>]*cities\/C/)
})

interface Facets {
  readonly facets: readonly { readonly name: string; readonly facets: readonly { readonly name: string }[] }[]
}

t.test('the catalog knows classes and properties', async t => {
  const find = async (query: Readonly<Record<string, string>>) =>
    (await get('/api/explore/v2.1/catalog/datasets', query))
      .json<{ results: { dataset_id: string }[] }>()
      .results.map(({ dataset_id }) => dataset_id)
  const name = `${base}/ld/ontologies/countries/name`
  const rows: readonly (readonly [Readonly<Record<string, string>>, readonly string[]])[] = [
    [{ where: `semantic.classes = "${SCHEMA}City"` }, ['cities']],
    [{ where: `semantic.classes = "${SCHEMA}Person"` }, []],
    [{ refine: `semantic.classes:${SCHEMA}Country` }, ['cities']],
    [{ exclude: `semantic.classes:${SCHEMA}Country` }, ['countries']],
    [{ refine: `semantic.properties:${SCHEMA}name` }, ['cities']],
    [{ where: `semantic.properties = "${name}"` }, ['countries']],
    [{ where: 'semantic.classes is null' }, ['countries']],
    [{ where: 'search("predicateobjects")' }, []],
    [{ where: '"cities"' }, ['cities']],
  ]
  for (const [query, expected] of rows) t.same(await find(query), expected, JSON.stringify(query))
  const { facets } = (
    await get('/api/explore/v2.1/catalog/facets', { facet: 'semantic.classes' })
  ).json<Facets>()
  t.same(facets[0]?.facets.map(each => each.name).sort(), [`${SCHEMA}City`, `${SCHEMA}Country`])
  const shown = (await get('/api/explore/v2.0/catalog/datasets/cities')).json<{
    dataset: { metas: { semantic: Readonly<Record<string, unknown>> } }
  }>().dataset.metas.semantic
  t.same(shown.classes, [`${SCHEMA}City`, `${SCHEMA}Country`])
  t.equal(shown.rml_mapping, CITIES_MAPPING)
})

t.test('two datasets that are linked with each other', async t => {
  save(COUNTRIES_MAPPING, 'countries')
  t.match(await publish(null), [{ type: 'unchanged' }, { type: 'published', dataset: 'countries' }])
  t.same(
    await requested(
      `PREFIX s: <${SCHEMA}> SELECT ?city ?land { ?c s:name ?city ; s:sameAs ?l . ?l a s:Country ; s:name ?land } ORDER BY ?city`,
      '',
    ),
    [
      { city: 'Köln', land: 'Deutschland' },
      { city: 'Lyon', land: 'France' },
      { city: 'Nice', land: 'France' },
    ],
  )
  t.match((await get('/ld/data/countries/Country/DE', {}, 'text/turtle')).body, /Deutschland/)
})

t.test('a record that goes keeps what another record still says', async t => {
  writeFileSync(source, CITIES.replace(/^1,.*\n/m, ''))
  t.match(await publish(), [{ type: 'published', report: { records: 3, isSourceRead: true } }])
  t.same(
    await exportedLines(),
    ALL.filter(line => !line.startsWith(iri('City/Lyon'))),
  )
  writeFileSync(source, CITIES.replace(/^[12],.*\n/gm, ''))
  await publish()
  t.same(
    await exportedLines(),
    ALL.filter(line => !/City\/(Lyon|Nice)|^\S*Country\/FR\//.test(line)),
  )
  writeFileSync(source, CITIES)
  await publish()
  t.same(await exportedLines(), ALL)
})

const HOSTILE: readonly (readonly [string, string, RegExp])[] = [
  ['broken YAML', 'mappings: {', /yaml/],
  ['an unknown field', CITIES_MAPPING.replace('$(population)', '$(populaton)'), /reference-unknown-field/],
  ['an unknown prefix', CITIES_MAPPING.replace('schema:City', 'shema:City'), /prefix-unknown/],
  ['no mapping', 'mappings: {}\n', /no-mappings|mapping-empty/],
  ['nothing', '', /no-mappings|doc-not-map/],
  ['bytes', '\u0000\u0001\ufffd', /./],
  [
    'ten thousand rules',
    `mappings:\n  a:\n    s: http://x/$(id)\n    po:\n${"      - ['http://x/p', $(name)]\n".repeat(10_000)}`,
    /limits|yaml-too-big/,
  ],
  [
    'an alias bomb',
    `a: &a [x, x, x, x, x, x, x, x, x, x]\n${Array.from(
      { length: 12 },
      (_, at) =>
        `a${at}: &a${at} [${Array(10)
          .fill(at === 0 ? '*a' : `*a${at - 1}`)
          .join(', ')}]\n`,
    ).join('')}mappings: { m: { s: *a11 } }\n`,
    /alias-bomb|key-unknown/,
  ],
  [
    'a huge template',
    `mappings: { a: { s: 'http://x/${'$(name)'.repeat(50_000)}', po: [[a, 'http://x/T']] } }\n`,
    /limits|yaml-too-big/,
  ],
  [
    'code in a reference',
    "mappings: { a: { s: 'http://x/$(id);process.exit()$(constructor)', po: [[a, 'http://x/T']] } }\n",
    /reference-unknown-field/,
  ],
]

t.test('what is broken or hostile is refused with its place, and nothing in force changes', async t => {
  const before = currentVersion(versions, 'cities')
  for (const [name, text, code] of HOSTILE) {
    save(text)
    const begun = performance.now()
    const described = await publish()
    t.match(
      described,
      [{ type: 'unchanged' }, { type: 'mapping-refused', dataset: 'cities', kept: 'previous' }],
      name,
    )
    const [, refused] = described
    const diagnostics = refused?.type === 'mapping-refused' ? refused.diagnostics : []
    t.ok(
      diagnostics.some(each => each.severity === 'error' && code.test(each.code)),
      `${name}: ${diagnostics.map(each => each.code)}`,
    )
    t.ok(diagnostics.every(({ place }) => place.line >= 1 && place.column >= 1))
    t.ok(performance.now() - begun < 20_000, `${name} is refused quickly`)
    t.equal(currentVersion(versions, 'cities'), before)
  }
  t.same(await exportedLines(), ALL)
})

t.test('a broken mapping and other data: new data with the last good mapping', async t => {
  save(CITIES_MAPPING.replace('$(population)', '$(populaton)'))
  writeFileSync(source, `${CITIES}5,Bonn,DE,Germany,,,,\n`)
  t.match(await publish(), [
    { type: 'published', report: { records: 5, isSourceRead: true, mapping: {} } },
    { type: 'mapping-refused', kept: 'previous' },
  ])
  t.ok((await exportedLines()).includes(`${iri('City/Bonn')} <${SCHEMA}name> "Bonn" .`))
  t.match(await publish(), [{ type: 'unchanged' }, { type: 'mapping-refused' }])
  const yaml = path.join(portal, 'data/cities/dataset.yaml')
  const before = currentVersion(versions, 'cities')
  save(CITIES_MAPPING)
  writeFileSync(yaml, CITIES_YAML.replace('name: site,', 'name: homepage, from: site,'))
  t.match(
    await publish(),
    [{ type: 'unchanged' }, { type: 'mapping-refused', kept: 'version' }],
    'fields that the mapping in force needs are gone: the version stays as a whole',
  )
  t.equal(currentVersion(versions, 'cities'), before)
  writeFileSync(yaml, CITIES_YAML)
  writeFileSync(source, CITIES)
  t.match(await publish(), [{ type: 'published' }])
})

t.test('a file that is gone brings the direct mapping back, a broken first one never leaves it', async t => {
  const version = currentVersion(versions, 'cities')
  rmSync(mappingOf('cities'))
  t.match(await publish(['cities'], true), [
    { type: 'published', report: { isSourceRead: false, triples: FACTS, mapping: null } },
  ])
  t.equal((await exportedLines()).length, FACTS)
  t.equal(await countOf(), FACTS)
  t.not(currentVersion(versions, 'cities'), version)
  save('mappings: [')
  t.match(await publish(), [{ type: 'unchanged' }, { type: 'mapping-refused', kept: 'direct' }])
  save(CITIES_MAPPING)
  t.match(await publish(['cities'], true), [{ type: 'published', report: { isSourceRead: false } }])
  t.same(await exportedLines(), ALL)
})

t.test(
  'graphs with names, inverse statements, blank nodes, and predicates that XML cannot write',
  async t => {
    save(`mappings:
  city:
    subject: http://x/city/$(id)
    graphs: http://x/graph/$(country)
    predicateobjects:
      - [a, http://x/City]
      - predicates: http://x/within
        objects: { mapping: country }
  country:
    subject: http://x/country/$(country)
    predicateobjects:
      - [http://x/name, $(country_name)]
      - { p: http://x/has, inversepredicates: http://x/of, o: { mapping: city } }
`)
    const [described] = await publish()
    t.match(described, { type: 'published' })
    t.same(await requested('SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g'), [
      { g: 'http://x/graph/DE', n: '2' },
      { g: 'http://x/graph/FR', n: '4' },
      { g: 'http://x/graph/NL', n: '2' },
    ])
    t.equal(await countOf(), 4 * 2 + 3 + 4 * 2)
    t.equal((await exportedLines({ refine: 'country:FR' })).length, 2 * 2 + 1 + 2 * 2)
    save("mappings: { a: { s: 'http://x/$(id)', po: [['http://x/p/1', $(name)]] } }\n")
    await publish()
    const refused = await exported('rdfxml')
    t.equal(refused.status, 422)
    t.match(refused.body, /http:\/\/x\/p\/1/)
    t.equal((await exported('turtle')).status, 200)
  },
)

t.test('resources of several records, also of several rules', async t => {
  save(`mappings:
  one: { s: 'http://x/$(country)', po: [[a, 'http://x/C'], ['http://x/name', $(country_name)]] }
  two: { s: 'http://x/$(country)', po: [[a, 'http://x/C'], ['http://x/city', $(name)]] }
  three: { s: 'http://x/$(id)', po: [['http://x/tag', $(tags)], ['http://x/tag', old]] }
`)
  t.match(await publish(), [{ type: 'published', report: { triples: 3 + 3 + 4 + 4 + 1 } }])
  t.equal((await exportedLines()).length, 15)
  t.equal((await exportedLines({ refine: 'country:FR' })).length, 1 + 1 + 2 + 3)
  t.equal(await countOf(), 15)
})

const RML = `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://x/> .
<#m> a rml:TriplesMap ; rml:logicalSource [ rml:source "cities.csv"; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://x/{id}"; rml:class ex:City ] ;
  rml:predicateObjectMap [ rml:predicate ex:name; rml:objectMap [ rml:reference "name" ] ] .
`

t.test(
  'however often a mapping is saved, what is in force can be read anew, and slow queries end',
  async t => {
    for (const class_ of ['A', 'B', 'C', 'D']) {
      save(`mappings: { a: { s: 'http://x/$(id)', po: [[a, 'http://x/${class_}']] } }\n`)
      await publish()
    }
    const { app: other } = await servePortal(t, { portal, base, isPublished: false })
    for (const { target, resources } of [app, other].map(({ catalog }) => catalog.dataset('cities')))
      t.match(resources, /:mapped$/, target.graphs.facts)
    const manifest = currentManifest(versions, 'cities')
    t.ok(manifest !== null)
    for (const { file, role, triples } of manifest?.graphs ?? []) {
      if (manifest === null) break
      const text = gunzipSync(readFileSync(graphPath(versions, manifest, file))).toString()
      t.equal(linesOf(text).length, triples, role)
    }
    const left = readdirSync(path.join(versions.root, 'cities'), { withFileTypes: true })
    t.equal(
      left.filter(entry => entry.isDirectory()).length,
      6,
      'five that are kept, and that of the records',
    )
    const { facts } = app.catalog.dataset('cities').target.graphs
    const pairs = 'abcdefgh'.replace(/./g, '?$& ?p$& ?o$& . ')
    // Random numbers keep both kinds of thread from shortening the work.
    const slow = `SELECT (SUM(RAND()) AS ?n) { GRAPH <${facts}> { ${pairs} } }`
    await t.rejects(select(app.store, slow, { deadline: 200 }), { code: 'DeadlineExceeded' })
    t.equal(await countOf(), 4)
    const { statusCode, body } = await get('/api/explore/v2.0/catalog/datasets/cities/records')
    t.equal(statusCode, 200)
    t.match(body, /Lyon/)
  },
)

t.test('mappings that make nothing, or something unusual', async t => {
  const one = (subject: string, ...po: readonly string[]) =>
    `mappings: { a: { s: '${subject}', po: [${po.join(', ')}] } }\n`
  const rows: readonly (readonly [string, string, number, RegExp])[] = [
    ['no triple at all', one('http://x/$(id)', "['http://x/p', $(name), xsd:date]"), 0, /^$/],
    ['one triple of all records', one('http://x/all', "[a, 'http://x/T']"), 1, /<http:\/\/x\/all>/],
    ['values with marks', one('http://x/$(id)', "['http://x/p', '$(name) $& $1']"), 4, /"Lyon \$& \$1"/],
    [
      'many values',
      one('http://x/$(tags)', "['http://x/p', $(tags)]"),
      4,
      /<http:\/\/x\/big> <http:\/\/x\/p> "old"/,
    ],
    [
      'the IRIs of the direct mapping',
      one(
        `${base}/ld/resources/cities/records/$(recordid)`,
        `['${base}/ld/ontologies/cities/name', $(name)]`,
      ),
      4,
      /records\/[0-9a-f]{40}> <\S*ontologies\/cities\/name> "Lyon"/,
    ],
  ]
  for (const [name, text, triples, found] of rows) {
    save(text)
    t.match(await publish(), [{ type: 'published', report: { triples } }], name)
    const lines = await exportedLines()
    t.equal(lines.length, triples, name)
    t.match(lines.join('\n'), found, name)
    t.equal(await countOf(), triples, name)
    t.same(await exportedLines({ where: 'id > 0' }), lines, `${name}: by record`)
    for (const format of ['turtle', 'jsonld', 'rdfxml'])
      t.equal((await exported(format)).status, 200, `${name}: ${format}`)
  }
  rmSync(mappingOf('cities'))
  const rml = path.join(portal, 'mappings/cities.rml.ttl')
  writeFileSync(rml, RML)
  t.match(await publish(), [{ type: 'published', report: { triples: 8, mapping: { file: rml } } }], 'RML')
  rmSync(rml)
})

t.test('mappings of a source that is RDF mean nothing, and say so', async t => {
  const folder = path.join(portal, 'data/graph')
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'a.ttl'), '<http://x/a> <http://x/b> <http://x/c> .\n')
  writeFileSync(path.join(folder, 'dataset.yaml'), 'source: { path: a.ttl }\n')
  save(COUNTRIES_MAPPING, 'graph')
  t.match(await publish(['graph']), [{ type: 'published' }, { type: 'mapping-refused', kept: 'direct' }])
  t.equal(await countOf('graph'), 1)
})

t.test('what is saved is noticed once it stays as it is', async t => {
  const watch = new PortalWatch(portal)
  const steps: readonly (readonly [string, () => void, unknown])[] = [
    ['nothing', () => undefined, null],
    ['a new text', () => save(CITIES_MAPPING), null],
    ['still being written', () => save(`${CITIES_MAPPING}# more\n`), null],
    ['done', () => undefined, { definitions: [], mappings: ['cities'] }],
    ['told once', () => undefined, null],
    ['gone', () => rmSync(mappingOf('cities')), null],
    ['stays away', () => undefined, { definitions: [], mappings: ['cities'] }],
    [
      'a definition',
      () => writeFileSync(path.join(portal, 'data/cities/dataset.yaml'), `${CITIES_YAML}# more\n`),
      null,
    ],
    ['done too', () => undefined, { definitions: ['cities'], mappings: [] }],
    ['a folder that is gone', () => rmSync(path.join(portal, 'data/graph'), { recursive: true }), null],
    ['stays away too', () => undefined, { definitions: [], mappings: [], gone: ['graph'] }],
  ]
  for (const [name, change, expected] of steps) {
    change()
    t.same(watch.look(), expected, name)
  }
  t.notOk(existsSync(mappingOf('cities')))
})

t.test(
  'the command line tells of mappings, and a running server follows them',
  { timeout: 120_000 },
  async t => {
    const home = temporaryFolder(t, {
      'portal.yaml': 'title: Test\n',
      mappings: {
        'cities.yml': CITIES_MAPPING.replace(
          '[a, schema:City]',
          '[a, schema:City]\n      - [schema:x, $(nmae)]',
        ),
      },
      data: { cities: { 'cities.csv': CITIES, 'dataset.yaml': CITIES_YAML } },
    })
    const file = path.join(home, 'mappings/cities.yml')
    const problem = /cities\.yml:9:20: (error )?reference-unknown-field: .*nmae/
    const checked = await lodestone(['check', '--portal', home])
    t.equal(checked.code, 1)
    t.match(checked.stdout, problem)
    const first = await lodestone(['publish', '--portal', home])
    t.equal(first.code, 1)
    t.match(first.stderr, /cities: 4 records, 28 triples/)
    t.match(first.stderr, /cities: the mapping is refused; the direct mapping is used/)
    t.match(first.stderr, problem)
    writeFileSync(file, CITIES_MAPPING)
    const second = await lodestone(['publish', '--portal', home])
    t.equal(second.code, 0, second.stderr)
    t.match(second.stderr, /cities: 4 records, 29 triples from the records published before/)
    t.match(
      second.stderr,
      /city, http:\/\/schema.org\/url \$\(site\): 1 triples \(1 without a value, 2 no valid IRI, e\.g\. "not an iri"/,
    )
    t.equal((await lodestone(['check', '--portal', home])).code, 0)
    const server = spawnLodestone(['serve', '--portal', home, '--port', '0', '--base', base])
    t.teardown(() => server.kill('SIGKILL'))
    let described = ''
    server.stderr.on('data', piece => {
      described += String(piece)
    })
    const port = await new Promise<string>(resolve =>
      server.stdout.on('data', piece => {
        const found = /\(port (\d+)\)/.exec(String(piece))?.[1]
        if (found !== undefined) resolve(found)
      }),
    )
    const turtle = async () =>
      (await fetch(`http://localhost:${port}/api/explore/v2.1/catalog/datasets/cities/exports/n3`)).text()
    const steps: readonly (readonly [string, () => void, () => Promise<boolean>])[] = [
      [
        'a saved mapping',
        () => writeFileSync(file, CITIES_MAPPING.replace('schema:population', 'schema:people')),
        async () => (await turtle()).includes('schema.org/people'),
      ],
      [
        'a broken mapping',
        () => writeFileSync(file, 'mappings: ['),
        async () => described.includes('the mapping is refused; the mapping before it stays in force'),
      ],
      [
        'a mapping that is gone',
        () => rmSync(file),
        async () => (await turtle()).includes('/ld/ontologies/cities/'),
      ],
      [
        'a new dataset',
        () => {
          mkdirSync(path.join(home, 'data/plants'))
          writeFileSync(path.join(home, 'data/plants/plants.csv'), 'name\nOak\n')
          writeFileSync(path.join(home, 'data/plants/dataset.yaml'), 'source: { path: plants.csv }\n')
        },
        async () => (await fetch(`http://localhost:${port}/api/tpf/plants`)).ok,
      ],
    ]
    for (const [name, change, isDone] of steps) {
      change()
      const begun = performance.now()
      while (!(await isDone()) && performance.now() - begun < 20_000) await sleep(50)
      t.ok(await isDone(), `${name}: in force after ${Math.round(performance.now() - begun)} ms`)
    }
    server.kill('SIGTERM')
    t.equal(await new Promise(resolve => server.once('exit', resolve)), 0)
  },
)
