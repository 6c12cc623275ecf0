import { QueryEngine } from '@comunica/query-sparql'
import { Parser, type Quad, Store as QuadStore, type Term } from 'n3'
import t, { type Test } from 'tap'
import { termText } from '../src/rdf/ntriples.ts'
import type { Term as PlainTerm } from '../src/rdf/term.ts'
import { isLong, withMore } from './support/effort.ts'
import { servePortal } from './support/portal.ts'
import { seedOf } from './support/seed.ts'
import { freePort } from './support/serving.ts'

t.runOnly = isLong

/**
 * The same triples by every way out: the fragments of random patterns page by page, the export and the SPARQL endpoint; and
 * queries by Comunica over fragments, bindings-restricted fragments and the endpoint, beside a copy in memory. SEED=n takes other ones,
 * PATTERNS=n says how many patterns of each dataset.
 */
const seed = seedOf()
const PATTERNS = Number(process.env.PATTERNS ?? (isLong ? 60 : 15))
const PAGE_SIZE = 25

const NAMES = ['Zoë', 'say "hi"', 'back\\slash', 'two\nlines', '😀', "L'Été", '^^<x>', '"@en', 'plain', 'a,b']
const CITIES = ['Oslo', 'Graz', 'Lyon', 'Köln']

/** Records for the direct mapping: missing values, several values, every type with a datatype of its own. */
const SHOPS = Array.from({ length: 60 }, (_, i) => ({
  number: i,
  name: `${NAMES[i % NAMES.length]}${i}`,
  city: CITIES[(i * 7) % CITIES.length],
  rating: i % 6 === 0 ? null : Math.round((1 + ((i * 13) % 40)) * 10) / 100,
  open: i % 3 === 0,
  since: `20${String(10 + (i % 12)).padStart(2, '0')}-0${1 + (i % 9)}-15`,
  tags: i % 4 === 0 ? [] : [`tag${i % 5}`, `tag${(i * 3) % 7}`],
}))
const SHOPS_YAML = {
  source: { path: 'shops.json' },
  id: ['number'],
  fields: [
    { name: 'number', type: 'int' },
    { name: 'name', type: 'text' },
    { name: 'city', type: 'text' },
    { name: 'rating', type: 'double' },
    { name: 'open', type: 'boolean' },
    { name: 'since', type: 'date' },
    { name: 'tags', type: 'text', annotations: { multivalued: [] } },
  ],
}

const EX = 'http://example.org/'
/** An RDF file: languages, blank nodes, loops, lists, classes, and literals that are written in other than the canonical form. */
const PEOPLE = [
  `@prefix : <${EX}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .`,
  '@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .',
  ':Pilot rdfs:subClassOf :Worker . :Worker rdfs:subClassOf :Person .',
  ...Array.from({ length: 36 }, (_, i) =>
    [
      `:p${i} a ${i % 3 === 0 ? ':Pilot' : ':Person'} ; :age ${20 + (i % 9)} ; :height ${1 + i / 100}e0`,
      `:label ${JSON.stringify(NAMES[i % NAMES.length])}@${i % 2 === 0 ? 'en' : 'fr-CH'}`,
      ...(i % 2 === 0 ? [`:label "nummer ${i}"@de`] : []),
      ...(i < 35 ? [`:knows :p${i + 1}`] : [':knows :p0']),
      ...(i % 5 === 0 ? [`:knows :p${i}`] : []),
      ...(i % 4 === 0 ? [`:lives [ :city "${CITIES[(i / 4) % 4]}" ; :since "0${i}.50"^^xsd:decimal ]`] : []),
      ...(i % 12 === 0 ? [`:likes ( "tea" ${i} :p${i} )`] : []),
    ]
      .join(' ; ')
      .concat(' .'),
  ),
].join('\n')

const QUERIES: readonly (readonly [dataset: string, name: string, query: string])[] = [
  ['people', 'join', 'SELECT * { ?a :knows ?b . ?b a :Pilot ; :age ?age }'],
  ['people', 'join of four', 'SELECT ?a ?c { ?a :knows ?b . ?b :knows ?c . ?c a :Pilot . ?c :lives ?home }'],
  ['people', 'repeated variable', 'SELECT * { ?a :knows ?a }'],
  ['people', 'blank nodes', 'SELECT ?a ?city ?since { ?a :lives ?home . ?home :city ?city ; :since ?since }'],
  ['people', 'OPTIONAL', 'SELECT ?a ?city { ?a a :Pilot OPTIONAL { ?a :lives/:city ?city } }'],
  ['people', 'languages', 'SELECT ?a ?l { ?a :label ?l FILTER(LANGMATCHES(LANG(?l), "fr")) }'],
  ['people', 'literal with a language', 'SELECT ?a { ?a :label "plain"@en }'],
  ['people', 'path of one or more', 'SELECT ?b { :p30 :knows+ ?b }'],
  ['people', 'path of classes', 'SELECT ?a { ?a a/rdfs:subClassOf* :Worker }'],
  ['people', 'inverse and alternative', 'SELECT ?x { :p5 ^:knows|:lives ?x }'],
  ['people', 'list', 'SELECT ?item { :p12 :likes/rdf:rest*/rdf:first ?item }'],
  ['people', 'negated set', 'SELECT ?o { :p4 !(:knows|:label) ?o }'],
  ['people', 'NOT EXISTS', 'SELECT ?a { ?a a :Pilot FILTER NOT EXISTS { ?a :lives ?home } }'],
  ['people', 'MINUS', 'SELECT ?a { ?a :age 25 MINUS { ?a a :Pilot } }'],
  ['people', 'CONSTRUCT', 'CONSTRUCT { ?b :knownBy ?a } { ?a :knows ?b . ?a :age 21 }'],
  ['people', 'ASK', 'ASK { :p1 :knows :p2 }'],
  ['shops', 'FILTER', 'SELECT ?n { ?s f:number ?n ; f:rating ?r FILTER(?r > 0.3) }'],
  ['shops', 'UNION', 'SELECT ?n { { ?s f:city "Oslo" ; f:name ?n } UNION { ?s f:city "Köln" ; f:name ?n } }'],
  ['shops', 'hard texts', 'SELECT ?n ?c { ?s f:name ?n ; f:city ?c FILTER(CONTAINS(?n, "\\"")) }'],
  ['shops', 'typed literals', 'SELECT ?n { ?s f:since "2013-04-15"^^xsd:date ; f:number ?n }'],
  [
    'shops',
    'groups',
    'SELECT ?c (COUNT(?s) AS ?n) (AVG(?r) AS ?m) { ?s f:city ?c ; f:rating ?r } GROUP BY ?c HAVING(COUNT(?s) > 2)',
  ],
  ['shops', 'VALUES', 'SELECT ?t ?n { VALUES ?t { "tag1" "tag9" "tag3" } ?s f:tags ?t ; f:number ?n }'],
  [
    'shops',
    'subquery',
    'SELECT ?c ?n { { SELECT ?c (MAX(?r) AS ?most) { ?s f:city ?c ; f:rating ?r } GROUP BY ?c } ?x f:city ?c ; f:rating ?most ; f:number ?n }',
  ],
  ['shops', 'BIND', 'SELECT ?s ?d { ?s f:number ?n ; f:open true BIND(?n * 2 AS ?d) FILTER(?d < 40) }'],
  [
    'shops',
    'order and page',
    'SELECT ?n { ?s f:number ?n ; f:city "Graz" } ORDER BY DESC(?n) LIMIT 4 OFFSET 2',
  ],
]

/** Publishes both datasets and listens at the very address that the fragments tell. */
async function serve(t: Test) {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const people = { 'people.ttl': PEOPLE, 'dataset.yaml': 'source: { path: people.ttl }\nformat: turtle\n' }
  const shops = { 'shops.json': JSON.stringify(SHOPS), 'dataset.yaml': JSON.stringify(SHOPS_YAML) }
  const portal = { 'portal.yaml': '', data: { people, shops } }
  const served = await servePortal(t, { portal, base, port, config: { fragmentSize: PAGE_SIZE } })
  const get = async (url: string, accept: string) => {
    const response = await served.get(url, accept)
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${url}\n${response.body}`)
    return response.body
  }
  return { base, get }
}
type Served = Awaited<ReturnType<typeof serve>>

/** What is exported of a dataset, read by another parser. */
async function exported({ get }: Served, id: string): Promise<QuadStore> {
  const turtle = await get(`/api/explore/v2.1/catalog/datasets/${id}/exports/turtle`, '*/*')
  return new QuadStore(new Parser().parse(turtle))
}

type Pattern = Readonly<Partial<Record<'subject' | 'predicate' | 'object', Term>>>
const ROLES = ['subject', 'predicate', 'object'] as const

function* randomPatterns(quads: readonly Quad[]): Generator<Pattern> {
  let state = seed
  const below = (max: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 1
    return state % max
  }
  for (let i = 0; i < PATTERNS; i++) {
    const quad = quads[below(quads.length)] as Quad
    // Now and then the object of another triple, so that nothing matches.
    const other = quads[below(quads.length)] as Quad
    const bound = ROLES.filter((_, bit) => (i >> bit) & 1)
    yield Object.fromEntries(
      bound.map(role => [role, role === 'object' && i % 16 > 13 ? other.object : quad[role]]),
    )
  }
}

/** A term as a parameter of a fragment: rdf-string, as Comunica writes it. */
function parameterOf(term: Term): string {
  if (term.termType !== 'Literal') return term.value
  if (term.language !== '') return `"${term.value}"@${term.language}`
  return `"${term.value}"^^${term.datatype.value}`
}

function plain(term: Term): PlainTerm {
  if (term.termType !== 'Literal') return { type: 'iri', value: term.value }
  return { type: 'literal', value: term.value, language: term.language, datatype: term.datatype.value }
}

/** All data of a fragment by its `next` links; the number of each page's total is checked. */
async function unionOfPages(t: Test, { base, get }: Served, id: string, pattern: Pattern) {
  const query = Object.entries(pattern).map(
    ([role, term]) => `${role}=${encodeURIComponent(parameterOf(term))}`,
  )
  const found: Quad[] = []
  const totals = new Set<string>()
  let url: string | undefined = `${base}/api/tpf/${id}?${query.join('&')}`
  for (let page = 1; url !== undefined; page++) {
    const quads: Quad[] = new Parser({ format: 'N-Quads' }).parse(await get(url, 'application/n-quads'))
    const control = (name: string) =>
      quads.find(({ predicate }) => predicate.value === `http://www.w3.org/ns/hydra/core#${name}`)?.object
        .value
    totals.add(control('totalItems') ?? 'none')
    const data = quads.filter(({ graph }) => graph.termType === 'DefaultGraph')
    found.push(...data)
    url = control('next')
    if (url !== undefined && data.length !== PAGE_SIZE) t.fail(`page ${page} has ${data.length} triples`)
  }
  t.strictSame([...totals], [String(found.length)], `the total of ${id} ${query.join('&')}`)
  return found
}

async function constructed({ get }: Served, id: string, pattern: Pattern): Promise<readonly Quad[]> {
  const triple = ROLES.map(role => {
    const term = pattern[role]
    return term === undefined ? `?${role}` : termText(plain(term))
  }).join(' ')
  const query = `CONSTRUCT { ${triple} } WHERE { ${triple} }`
  const body = await get(`/api/sparql/${id}?query=${encodeURIComponent(query)}`, 'application/n-triples')
  return new Parser({ format: 'N-Triples' }).parse(body)
}

const keyOf = (term: Term) => `${term.termType} ${parameterOf(term)}`
const keysOf = (quads: Iterable<Quad>) =>
  [...quads].map(quad => ROLES.map(role => keyOf(quad[role])).join(' ')).sort()

t.test('every way out gives the same triples', withMore, async t => {
  const served = await serve(t)
  t.comment(`SEED=${seed} PATTERNS=${PATTERNS}`)

  t.test('pages of random patterns, the export and the endpoint', withMore, async t => {
    for (const id of ['people', 'shops']) {
      const truth = await exported(served, id)
      if (id === 'people')
        t.equal(truth.size, new QuadStore(new Parser().parse(PEOPLE)).size, 'nothing is lost')
      for (const pattern of randomPatterns(truth.getQuads(null, null, null, null))) {
        const { subject = null, predicate = null, object = null } = pattern
        const required = keysOf(truth.getQuads(subject, predicate, object, null))
        const about = `${id} ${JSON.stringify(pattern)}: ${required.length} triples`
        t.strictSame(keysOf(await unionOfPages(t, served, id, pattern)), required, `fragments of ${about}`)
        t.strictSame(keysOf(await constructed(served, id, pattern)), required, `endpoint of ${about}`)
      }
    }
  })

  t.test('the examples of a dataset are its first records', async t => {
    const shops = await exported(served, 'shops')
    const numbers = async (url: string, accept: string) =>
      [...(await served.get(url, accept)).matchAll(/void#exampleResource> <([^>]+)>/g)].map(
        ([, iri]) =>
          shops.getObjects(iri as string, `${served.base}/ld/ontologies/shops/number`, null)[0]?.value,
      )
    t.same((await numbers('/ld/data/shops?format=nt', '*/*')).sort(), ['0', '1', '2', '3', '4'])
    const people = await served.get('/ld/data/people?format=nt', '*/*')
    t.match(people, /void#exampleResource> </, 'others have some of their resources')
  })

  t.test('Comunica over fragments, bindings-restricted fragments, endpoint and memory', withMore, async t => {
    const copies = { people: await exported(served, 'people'), shops: await exported(served, 'shops') }
    const engine = new QueryEngine()
    for (const [id, name, query] of QUERIES.slice(...(isLong ? [3] : [0, 3]))) {
      const fragments = `${served.base}/api/tpf/${id}`
      const sources = {
        fragments,
        brTPF: { type: 'brtpf', value: fragments },
        endpoint: { type: 'sparql', value: `${served.base}/api/sparql/${id}` },
      }
      const text = prefixes(served.base) + query
      const expected = await answer(engine, text, copies[id as keyof typeof copies])
      t.ok(expected.length > 0, `${name}: ${expected.length} answers`)
      for (const [way, source] of Object.entries(sources))
        t.strictSame(await answer(engine, text, source), expected, `${name} over ${way}`)
    }
  })
})

const prefixes = (base: string) =>
  `PREFIX : <${EX}> PREFIX f: <${base}/ld/ontologies/shops/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
  PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n`

type Source = string | QuadStore | { readonly type: string; readonly value: string }

/** An answer as sorted texts; numbers by their value, for engines write means differently. */
async function answer(engine: QueryEngine, query: string, source: Source): Promise<readonly string[]> {
  const result = await engine.query(query, { sources: [source] as [Source] })
  switch (result.resultType) {
    case 'boolean':
      return [String(await result.execute())]
    case 'quads':
      return keysOf((await (await result.execute()).toArray()) as Quad[])
    case 'bindings': {
      const rows = await (await result.execute()).toArray()
      return rows
        .map(row =>
          [...row]
            .map(([name, term]) => `${name.value}=${valueKey(term as Term)}`)
            .sort()
            .join(' '),
        )
        .sort()
    }
    default:
      throw new Error(`unexpected ${result.resultType}`)
  }
}

function valueKey(term: Term): string {
  if (term.termType !== 'Literal' || !/#(decimal|double|integer)$/.test(term.datatype.value))
    return keyOf(term)
  return Number(term.value).toPrecision(9)
}
