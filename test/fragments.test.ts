import { QueryEngine } from '@comunica/query-sparql'
import { JsonLdParser } from 'jsonld-streaming-parser'
import { type Quad, Store as QuadStore } from 'n3'
import t from 'tap'
import { HYDRA, VOID, XSD } from '../src/rdf/vocab.ts'
import { isLong, withMore } from './support/effort.ts'
import {
  EX,
  isData,
  key,
  NAMES,
  objects,
  PAGE_SIZE,
  parse,
  quads,
  servePeople,
  termKey,
} from './support/fragment-server.ts'

t.runOnly = isLong

t.test('a name that is encoded wrongly is another parameter', async t => {
  const { http } = await servePeople(t)
  for (const query of [
    '%predicate=a&page=1',
    'subject=&p%__oto=%zz',
    'a%=1&%&%25=%',
    '%%41=%F0%9F%92%A9%2',
  ]) {
    t.equal((await http.inject({ url: `/api/tpf/people?${query}` })).statusCode, 200, query)
    const page = await http.inject({ url: `/api/tpf/people?${query}`, headers: { accept: 'text/html' } })
    t.equal(page.statusCode, 200, `${query} as a page`)
  }
})

t.test('every page of a pattern, by its controls, is what the pattern matches', async t => {
  const { http } = await servePeople(t)
  const patterns: readonly (readonly [string, (quad: Quad) => boolean])[] = [
    ['', () => true],
    [`predicate=${encodeURIComponent(`${EX}name`)}`, quad => quad.predicate.value === `${EX}name`],
    [
      `predicate=%3C${encodeURIComponent(`${EX}age`)}%3E&subject=&object=`,
      quad => quad.predicate.value === `${EX}age`,
    ],
    [`subject=${encodeURIComponent(`${EX}person/0`)}`, quad => quad.subject.value === `${EX}person/0`],
    ['subject=?x&object=?x', quad => quad.subject.value === quad.object.value],
    ['subject=?x&predicate=?p&object=?o', () => true],
    [
      `object=${encodeURIComponent('"22"^^http://www.w3.org/2001/XMLSchema#integer')}`,
      quad => quad.object.value === '22',
    ],
    [
      `object=${encodeURIComponent('"22"^^<http://www.w3.org/2001/XMLSchema#integer>')}`,
      quad => quad.object.value === '22',
    ],
    [`object=${encodeURIComponent('"n0"@en')}`, quad => quad.object.value === 'n0'],
    [`object=${encodeURIComponent('"n0"@EN')}`, quad => quad.object.value === 'n0'],
    ...NAMES.flatMap((name, i) => {
      const own = (quad: Quad) => quad.predicate.value === `${EX}name` && quad.object.value === name
      const text = encodeURIComponent(`"${name}"`)
      return [
        [`object=${text}`, own] as const,
        [`object=${text}^^${encodeURIComponent(XSD.string)}&i=${i}`, own] as const,
      ]
    }),
  ]
  for (const [query, matches] of patterns) {
    let target = `/api/tpf/people${query === '' ? '' : `?${query}`}`
    const found: string[] = []
    const expected = quads.filter(matches).map(key).sort()
    for (let page = 1; page <= 20; page++) {
      const { body, statusCode } = await http.inject(target)
      t.equal(statusCode, 200, target)
      const all = parse(body, 'application/trig')
      found.push(...all.filter(isData).map(key))
      t.strictSame(objects(all, HYDRA.totalItems), [String(expected.length)], `count of ${query}`)
      const next = all.find(quad => quad.predicate.value === HYDRA.next)
      if (next === undefined) break
      target = next.object.value.replace('http://127.0.0.1', '')
    }
    t.strictSame(found.sort(), expected, query)
  }
})

t.test('the metadata are what clients read, in their order', async t => {
  const { http } = await servePeople(t)
  const target = `/api/tpf/people?object=&predicate=${encodeURIComponent(`${EX}name`)}&page=2`
  const here = `http://127.0.0.1${target}`
  const fragment = here.replace('&page=2', '')
  const { body } = await http.inject(target)
  const all = parse(body, 'application/trig')
  const metadata = all.filter(quad => !isData(quad))
  t.ok(
    metadata.every(quad => quad.graph.value === `${fragment}#metadata`),
    'all in the graph of the metadata',
  )
  const subsets = all.filter(quad => quad.predicate.value === VOID.subset && quad.object.value === here)
  t.equal(subsets.at(-1)?.subject.value, fragment, 'the fragment is the last whose subset the page is')
  const counts = all.filter(quad => [HYDRA.totalItems, VOID.triples].includes(quad.predicate.value))
  t.strictSame(
    counts.map(quad => [quad.subject.value, quad.predicate.value]),
    [
      [here, HYDRA.totalItems],
      [here, VOID.triples],
    ],
  )
  t.strictSame(objects(all, HYDRA.itemsPerPage), [], 'a fragment of few pages does not say how long they are')
  t.strictSame(objects(all, HYDRA.template), ['http://127.0.0.1/api/tpf/people{?subject,predicate,object}'])
  t.equal(objects(all, HYDRA.mapping).length, 3, 'exactly three mappings')
  for (const [predicate, page] of [
    [HYDRA.first, 1],
    [HYDRA.previous, 1],
    [HYDRA.next, 3],
  ] as const) {
    const links = all.filter(quad => quad.predicate.value === predicate)
    t.strictSame(
      links.map(quad => [quad.subject.value, quad.object.value]),
      [[here, `${fragment}&page=${page}`]],
      predicate,
    )
  }
  const last = parse((await http.inject(target.replace('page=2', 'page=3'))).body, 'application/trig')
  t.strictSame(objects(last, HYDRA.next), [], 'a full last page has no next')
  const beyond = parse((await http.inject(target.replace('page=2', 'page=99'))).body, 'application/trig')
  t.equal(beyond.filter(isData).length, 0, 'past the end there is nothing')
  t.strictSame(objects(beyond, HYDRA.next), [])
})

t.test('formats by Accept', async t => {
  const { http } = await servePeople(t)
  const cases: readonly (readonly [string | undefined, string | null])[] = [
    [undefined, 'application/trig'],
    ['*/*', 'application/trig'],
    ['application/n-quads,application/trig;q=0.95,*/*;q=0.1', 'application/trig'],
    ['application/n-quads,application/trig;q=0.5', 'application/n-quads'],
    ['application/n-quads;q=0.5, application/trig', 'application/trig'],
    ['text/turtle', 'text/turtle'],
    ['text/turtle, */*;q=0.1', 'text/turtle'],
    ['application/n-triples', 'application/n-triples'],
    ['text/*', null],
    ['application/rdf+xml', null],
    ['application/trig;q=0', null],
    ['text/n3', 'text/n3'],
    ['application/ld+json', 'application/ld+json'],
    ['application/*', 'application/trig'],
    ['application/json', 'application/json'],
    ['application/json, */*;q=0.1', 'application/json'],
    ['text/html', 'text/html'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
    ['text/html, application/trig', 'application/trig'],
    ['text/html;q=0.5, */*', 'application/trig'],
  ]
  for (const [accept, type] of cases) {
    const answer = await http.inject({
      url: '/api/tpf/people',
      headers: accept === undefined ? {} : { accept },
    })
    if (type === null) {
      t.equal(answer.statusCode, 406, String(accept))
      t.match(answer.json().detail, 'application/trig', 'the types are listed')
      continue
    }
    t.equal(answer.headers['content-type'], `${type}; charset=utf-8`, String(accept))
    const more = type === 'text/html' ? ', Accept-Language, Cookie' : ''
    t.equal(answer.headers.vary, `Accept-Encoding, Accept${more}`)
    const all = await quadsOf(answer.body, type)
    const data = new Set(quads.map(key))
    t.equal(all.filter(quad => data.has(key(quad))).length, PAGE_SIZE, `${type} holds the data`)
    t.equal(objects(all, HYDRA.totalItems).length, 1, `${type} holds the metadata`)
  }
})

/** The quads of an answer in any format, in their order, by readers that are not Lodestone's. */
async function quadsOf(body: string, type: string): Promise<readonly Quad[]> {
  if (!/json|html/.test(type)) return parse(body, type === 'text/n3' ? 'text/turtle' : type)
  const json = /html/.test(type) ? scriptOf(body) : body
  const parser = new JsonLdParser({ streamingProfile: true })
  parser.end(json)
  const found: Quad[] = []
  for await (const quad of parser) found.push(quad as unknown as Quad)
  return found
}

function scriptOf(page: string): string {
  return /<script type="application\/ld\+json">([^<]*)<\/script>/.exec(page)?.[1] ?? ''
}

t.test('what is refused and what is empty', async t => {
  const { http } = await servePeople(t)
  const cases: readonly (readonly [string, number])[] = [
    ['/api/tpf/people/', 200],
    ['/api/tpf/people?subject=%22x%22', 200],
    ['/api/tpf/people?predicate=%22x%22%40en', 200],
    ['/api/tpf/people?subject=_:b', 200],
    ['/api/tpf/people?object=_:b', 200],
    ['/api/tpf/people?subject=%22x%22&object=?y&predicate=?y', 200],
    ['/api/tpf/people?object=%22020%22%5E%5Ehttp://www.w3.org/2001/XMLSchema%23integer', 200],
    ['/api/tpf/nobody', 404],
    ['/api/tpf/people?subject=no%20iri', 400],
    ['/api/tpf/people?subject=person', 400],
    ['/api/tpf/people?object=%22x', 400],
    ['/api/tpf/people?object=%22x%22%40en_US', 400],
    ['/api/tpf/people?object=%22x%22%5E%5Exsd', 400],
    ['/api/tpf/people?subject=%22%3E%20%7D%20%23', 400],
    ['/api/tpf/people?page=0', 400],
    ['/api/tpf/people?page=-1', 400],
    ['/api/tpf/people?page=x', 400],
    ['/api/tpf/people?page=1.5', 400],
    ['/api/tpf/people?subject=http://a&subject=http://b', 400],
    ['/api/tpf/people?graph=http%3A%2F%2Fexample.org%2Fgraph', 400],
    ['/api/tpf/people?subject=&graph=urn:ldf:defaultGraph', 400],
    ['/api/tpf/people?graph=%3Fg', 400],
    ['/api/tpf/people?graph=&graph=', 400],
    ['/api/tpf/people?subject=%22x%22&graph=', 200],
  ]
  for (const [target, status] of cases) {
    const answer = await http.inject(target)
    t.equal(answer.statusCode, status, target)
    if (status >= 400) {
      t.match(answer.headers['content-type'], /^application\/problem\+json/)
      t.match(answer.json(), { status, title: String, detail: String })
    } else if (target !== '/api/tpf/people/') {
      t.strictSame(
        objects(parse(answer.body, 'application/trig'), HYDRA.totalItems),
        ['0'],
        `${target} is empty`,
      )
    }
  }
  const page = parse((await http.inject('/api/tpf/people/')).body, 'application/trig')
  t.ok(
    page.some(quad => quad.object.value === 'http://127.0.0.1/api/tpf/people/'),
    'the page has the address of the request',
  )
})

t.test('caches and HEAD', async t => {
  const { http, calls } = await servePeople(t)
  const first = await http.inject('/api/tpf/people')
  const { etag } = first.headers
  t.match(first.headers['cache-control'], /^public, max-age=60, stale-while-revalidate/)
  const before = calls.length
  const known = await http.inject({ url: '/api/tpf/people', headers: { 'if-none-match': `"x", W/${etag}` } })
  t.equal(known.statusCode, 304)
  t.equal(calls.length, before, 'without a query')
  t.equal(known.body, '')
  const other = await http.inject({
    url: '/api/tpf/people',
    headers: { accept: 'application/n-quads', 'if-none-match': String(etag) },
  })
  t.equal(other.statusCode, 200, 'another type has another tag')
  t.not(other.headers.etag, etag)
  const head = await http.inject({ method: 'HEAD', url: '/api/tpf/people' })
  t.strictSame([head.statusCode, head.body, head.headers.etag], [200, '', etag])
})

const PREFIX = `PREFIX ex: <${EX}> PREFIX xsd: <${XSD.string.replace('string', '')}> `
const QUERIES: Readonly<Record<string, string>> = {
  everything: 'SELECT * { ?s ?p ?o }',
  join: 'SELECT ?a ?n { ?a ex:knows ?b . ?b ex:name ?n . ?a ex:age 22 }',
  'join on a subject': 'SELECT ?n ?h { ?a ex:name ?n ; ex:height ?h ; ex:label ?l }',
  optional: 'SELECT ?a ?l { ?a ex:age 21 OPTIONAL { ?a ex:label ?l } }',
  filter: 'SELECT ?a { ?a ex:height ?h FILTER(?h > 1.205) }',
  'not exists': 'SELECT ?a { ?a ex:name ?n FILTER NOT EXISTS { ?a ex:label ?l } }',
  count: 'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }',
  group: 'SELECT ?age (COUNT(?a) AS ?n) { ?a ex:age ?age } GROUP BY ?age',
  sequence: 'SELECT ?a ?c { ?a ex:age 20 ; ex:knows/ex:knows ?c }',
  'sequence from a person': 'SELECT ?c { <http://example.org/person/3> ex:knows/ex:knows/ex:name ?c }',
  alternative: 'SELECT ?o { <http://example.org/person/0> ex:name|ex:label ?o }',
  'one or more': 'SELECT ?o { <http://example.org/person/20> ex:knows+ ?o }',
  inverse: 'SELECT ?s { <http://example.org/person/5> ^ex:knows ?s }',
  'a language': 'SELECT ?s { ?s ex:label "n0"@en }',
  'a wrong language': 'SELECT ?s { ?s ex:label "n0"@de }',
  'a datatype': 'SELECT ?s { ?s ex:age "22"^^xsd:integer }',
  'an accent': 'SELECT ?s { ?s ex:name "Zoë" }',
  'a quote': 'SELECT ?s { ?s ex:name "say \\"hi\\"" }',
  'a backslash': 'SELECT ?s { ?s ex:name "back\\\\slash" }',
  'a line end': 'SELECT ?s { ?s ex:name "a\\nb" }',
  'what looks like an end': 'SELECT ?s { ?s ex:name "\\"@en" }',
  // As a constant of a pattern it never leaves the client: uritemplate 0.3 cannot encode a pair of surrogates.
  'an emoji': 'SELECT ?s { ?s ex:name ?n FILTER(CONTAINS(?n, "😀")) }',
  'an empty text': 'SELECT ?s { ?s ex:name "" }',
  'a variable twice': 'SELECT ?s { ?s ex:knows ?s }',
}

t.test('Comunica finds over fragments what it finds in the triples themselves', withMore, async t => {
  const { address } = await servePeople(t, true)
  const rows = async (query: string, source: string | QuadStore) => {
    const engine = new QueryEngine()
    const bindings = await engine.queryBindings(PREFIX + query, { sources: [source] })
    return (await bindings.toArray())
      .map(row => JSON.stringify([...row].map(([name, term]) => [name.value, termKey(term)]).sort()))
      .sort()
  }
  const truth = new QuadStore(quads)
  for (const [name, query] of Object.entries(QUERIES).slice(...(isLong ? [4] : [0, 4]))) {
    const expected = await rows(query, truth)
    t.strictSame(await rows(query, `${address}/api/tpf/people`), expected, `${name}: ${expected.length} rows`)
  }
})
