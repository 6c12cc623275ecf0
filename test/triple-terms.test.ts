import oxigraph from 'oxigraph'
import t, { type Test } from 'tap'
import { termText } from '../src/rdf/ntriples.ts'
import { answerTerm } from '../src/rdf/rdfjs.ts'
import { parseRdf } from '../src/store/embedded/parse.ts'
import { servePortal } from './support/portal.ts'

/** RDF 1.2 from end to end: files of every syntax -> published -> exports, fragments, documents -> queries. */
const BASE = 'http://portal.test'
const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
const XSD = 'http://www.w3.org/2001/XMLSchema#'
const REIFIES = `<${RDF}reifies>`
const E = 'http://e/'

const PREFIXES = `PREFIX : <${E}> PREFIX rdf: <${RDF}> PREFIX xsd: <${XSD}>\n`
const TURTLE = `${PREFIXES}
:ann :knows :bob ~ :r1 {| :since 2001 ; :by "Ann \\"A\\"\\n" |} .
<< :bob :knows :cal ~ :r2 >> :since 1999 .
:claim :says <<( :cal :says <<( :ann :age "042"^^:years )>> )>> , <<( :cal :says "x"@ar--rtl )>> .
:cal :says "مرحبا"@ar--rtl , "hello"@en , "plain" .
`

const TERMS = {
  r1: `<<( <${E}ann> <${E}knows> <${E}bob> )>>`,
  r2: `<<( <${E}bob> <${E}knows> <${E}cal> )>>`,
  nested: `<<( <${E}cal> <${E}says> <<( <${E}ann> <${E}age> "042"^^<${E}years> )>> )>>`,
  directed: `<<( <${E}cal> <${E}says> "x"@ar--rtl )>>`,
}

/** What the file says, as sorted N-Triples. */
const TRIPLES = [
  `<${E}ann> <${E}knows> <${E}bob> .`,
  `<${E}cal> <${E}says> "hello"@en .`,
  `<${E}cal> <${E}says> "plain" .`,
  `<${E}cal> <${E}says> "مرحبا"@ar--rtl .`,
  `<${E}claim> <${E}says> ${TERMS.directed} .`,
  `<${E}claim> <${E}says> ${TERMS.nested} .`,
  `<${E}r1> ${REIFIES} ${TERMS.r1} .`,
  `<${E}r1> <${E}by> "Ann \\"A\\"\\n" .`,
  `<${E}r1> <${E}since> "2001"^^<${XSD}integer> .`,
  `<${E}r2> ${REIFIES} ${TERMS.r2} .`,
  `<${E}r2> <${E}since> "1999"^^<${XSD}integer> .`,
].sort()

const RDF_XML = `<rdf:RDF xmlns:rdf="${RDF}" xmlns:e="${E}" xmlns:its="http://www.w3.org/2005/11/its" its:version="2.0" rdf:version="1.2">
<rdf:Description rdf:about="${E}claim"><e:says rdf:parseType="Triple"><rdf:Description rdf:about="${E}cal"><e:says xml:lang="ar" its:dir="rtl">x</e:says></rdf:Description></e:says></rdf:Description></rdf:RDF>`

const FILES: readonly (readonly [id: string, file: string, text: string])[] = [
  ['turtle', 'a.ttl', TURTLE],
  ['trig', 'a.trig', TURTLE.replace(':claim :says', ':g { :claim :says').replace('rtl )>> .', 'rtl )>> }')],
  ['ntriples', 'a.nt', `VERSION "1.2"\n${TRIPLES.join('\n')}\n\tVERSION '1.2' # again`],
  [
    'nquads',
    'a.nq',
    `VERSION "1.2"\r\n${TRIPLES.map(line => line.replace(/ \.$/, ` <${E}g> .`)).join('\n')}\n`,
  ],
  ['rdfxml', 'a.rdf', RDF_XML],
  ['local', 'a.ttl', `${PREFIXES}<a> :name "A" ; :says <<( :b :says :c )>> .`],
  ['blank', 'a.nt', `<${E}s> <${E}p> <<( _:b <${E}q> _:c )>> .\n_:b <${E}p> "_:b <<( x )>>" .\n`],
]

async function serve(t: Test) {
  const datasets = FILES.map(([id, file, text]) => [
    id,
    { [file]: text, 'dataset.yaml': `source: { path: ${file} }\n` },
  ])
  const portal = { 'portal.yaml': 'title: Test\n', data: Object.fromEntries(datasets) }
  return (await servePortal(t, { portal, base: BASE })).get
}

function textOf(term: oxigraph.Term): string {
  const read = answerTerm(term)
  if (read === null) throw new Error('no term')
  return termText(read)
}

/** The triples of a document, as sorted N-Triples. */
const triplesIn = (text: string, format: string) =>
  oxigraph
    .parse(text, { format })
    .map(({ subject, predicate, object }) => `${textOf(subject)} ${textOf(predicate)} ${textOf(object)} .`)
    .sort()

t.setTimeout(120_000)
const get = await serve(t)
const home = '/api/explore/v2.1/catalog/datasets'
const ask = (id: string, query: string, accept = 'application/sparql-results+json') =>
  get(`/api/sparql/${id}?query=${encodeURIComponent(PREFIXES + query)}`, accept)

t.test('triple terms in RDF exports', async t => {
  const rows: readonly (readonly [id: string, format: string, type: string, expected: readonly string[]])[] =
    [
      ['turtle', 'turtle', 'text/turtle', TRIPLES],
      ['turtle', 'n3', 'application/n-triples', TRIPLES],
      ['turtle', 'rdfxml', 'application/rdf+xml', TRIPLES],
      ['ntriples', 'turtle', 'text/turtle', TRIPLES],
      ['rdfxml', 'n3', 'application/n-triples', [`<${E}claim> <${E}says> ${TERMS.directed} .`]],
    ]
  for (const [id, format, type, expected] of rows) {
    const { statusCode, headers, body } = await get(`${home}/${id}/exports/${format}`)
    t.equal(statusCode, 200, `${id} ${format}: ${body.slice(0, 300)}`)
    t.match(headers['content-type'], type, `${id} ${format}`)
    t.same(triplesIn(body, type), expected, `${id} ${format}`)
  }
  const refused = await get(`${home}/turtle/exports/jsonld`)
  t.equal(refused.statusCode, 422)
  t.match(refused.body, /A triple term/)
})

t.test('blank nodes in triple terms', async t => {
  const { body } = await get(`${home}/blank/exports/n3`)
  const genid = (label: string) => `<${BASE}/.well-known/genid/blank/${label}>`
  t.same(
    triplesIn(body, 'application/n-triples'),
    [
      `<${E}s> <${E}p> <<( ${genid('b')} <${E}q> ${genid('c')} )>> .`,
      `${genid('b')} <${E}p> "_:b <<( x )>>" .`,
    ].sort(),
  )
})

t.test('triple terms in fragments', async t => {
  for (const [parameters, expected] of [
    [`object=${encodeURIComponent(TERMS.nested)}`, [`<${E}claim> <${E}says> ${TERMS.nested} .`]],
    // As Comunica writes them.
    [
      `object=${encodeURIComponent(`<<${E}cal ${E}says <<${E}ann ${E}age "042"^^${E}years>>>>`)}`,
      [`<${E}claim> <${E}says> ${TERMS.nested} .`],
    ],
    [
      `object=${encodeURIComponent(`<<${E}cal ${E}says "x"@ar--rtl>>`)}`,
      [`<${E}claim> <${E}says> ${TERMS.directed} .`],
    ],
    [
      `object=%3Fobject&values=${encodeURIComponent(`(?r ?object) { (UNDEF ${TERMS.nested}) (<${E}x> <<<${E}cal> <${E}says> "x"@AR--rtl>>) }`)}`,
      [TERMS.directed, TERMS.nested].map(term => `<${E}claim> <${E}says> ${term} .`),
    ],
    // All that may match: Comunica chooses.
    [
      `subject=%3Fs&predicate=${encodeURIComponent(`${RDF}reifies`)}&object=${encodeURIComponent(`<<?a ${E}knows <<?b ${E}p "c">>>>`)}`,
      TRIPLES.filter(line => line.includes(REIFIES)),
    ],
    [`object=${encodeURIComponent(`<<${E}cal ${E}says "x ?x">>`)}`, []],
    [`predicate=${encodeURIComponent(`${RDF}reifies`)}`, TRIPLES.filter(line => line.includes(REIFIES))],
  ] as const) {
    const { statusCode, body } = await get(`/api/tpf/turtle?${parameters}`, 'application/trig')
    t.equal(statusCode, 200, body)
    const found = triplesIn(body, 'application/trig').filter(line => line.includes(` <<( <${E}`))
    t.same(found, expected, parameters)
  }
  for (const object of [
    '<<( x',
    '<<x',
    `<<${E}a ${E}b>>`,
    `<<"a" ${E}b ${E}c>>`,
    `${'<<( <a:a> <a:b> '.repeat(60)}<a:c>${' )>>'.repeat(60)}`,
  ])
    t.equal((await get(`/api/tpf/turtle?object=${encodeURIComponent(object)}`)).statusCode, 400, object)
  for (const term of [
    '<<( <a:a> <a:b> UNDEF )>>',
    '<<( <a:a> <a:b> <a:c> >>',
    '<<( "a" <a:b> <a:c> )>>',
    '<<( <a:a> <a:b> <c> )>>',
    `${'<<<a:a> <a:b> '.repeat(60)}<a:c>${'>>'.repeat(60)}`,
  ]) {
    const values = encodeURIComponent(`?object { ${term} }`)
    t.equal((await get(`/api/tpf/turtle?object=%3Fobject&values=${values}`)).statusCode, 400, term)
  }
  const subject = encodeURIComponent(`<<?a ${E}knows ?b>>`)
  t.equal((await get(`/api/tpf/turtle?subject=${subject}`)).statusCode, 400)
  t.equal((await get('/api/tpf/turtle', 'text/html')).statusCode, 200)
  t.equal((await get('/api/tpf/turtle', 'application/ld+json')).statusCode, 422)
  t.equal((await get('/api/tpf/turtle', 'text/n3')).statusCode, 422)
  const plain = `predicate=${encodeURIComponent(`${E}since`)}`
  t.equal((await get(`/api/tpf/turtle?${plain}`, 'text/n3')).statusCode, 200)
})

t.test('documents and pages about resources with triple terms', async t => {
  const address = '/ld/data/local/a'
  const page = await get(address, 'text/html')
  t.equal(page.statusCode, 200, page.body.slice(0, 300))
  t.match(page.body, /<span class="triple">«<a href="http:\/\/e\/b".*http:\/\/e\/c.*»<\/span>/, 'shown')
  const [, block = ''] = /<script type="application\/ld\+json">([^<]+)</.exec(page.body) ?? []
  t.match(block, 'http://e/name', 'JSON-LD of the page has everything else')
  for (const [accept, status] of [
    ['text/turtle', 200],
    ['application/rdf+xml', 200],
    ['application/ld+json', 422],
  ] as const)
    t.equal((await get(address, accept)).statusCode, status, accept)
})

t.test('graphs of the Graph Store Protocol', async t => {
  for (const [accept, status, part] of [
    ['text/turtle', 200, '<<( '],
    ['application/rdf+xml', 200, 'rdf:parseType="Triple"'],
    ['application/ld+json', 422, 'A triple term is nothing that JSON-LD can write'],
    ['text/n3', 422, 'A triple term is nothing that N3 can write'],
  ] as const) {
    const { statusCode, body } = await get('/api/sparql/turtle/data?default', accept)
    t.equal(statusCode, status, `${accept}: ${body}`)
    t.match(body, part)
  }
})

/** Queries of datasets, and the rows of their answers. */
const QUERIES: readonly (readonly [id: string, query: string, expected: readonly string[]])[] = [
  ['turtle', 'SELECT ?y { ?s :knows :bob {| :since ?y |} }', [`"2001"^^<${XSD}integer>`]],
  ['turtle', 'SELECT ?r { ?r rdf:reifies <<( ?s :knows ?o )>> . ?s :knows ?o }', [`<${E}r1>`]],
  ['turtle', 'SELECT ?r { << ?s ?p ?o ~ ?r >> :since ?y FILTER(?y < 2000) }', [`<${E}r2>`]],
  ['turtle', `SELECT ?s { ?s :says ${TERMS.nested} }`, [`<${E}claim>`]],
  ['turtle', 'SELECT ?v { ?s :says <<( ?c :says <<( ?x :age ?v )>> )>> }', [`"042"^^<${E}years>`]],
  [
    'turtle',
    'SELECT ?t { ?s :says ?t FILTER(isTRIPLE(?t) && LANGDIR(OBJECT(?t)) = "rtl") }',
    [TERMS.directed],
  ],
  ['turtle', 'SELECT ?t { BIND(TRIPLE(:a, :b, 1) AS ?t) }', [`<<( <${E}a> <${E}b> "1"^^<${XSD}integer> )>>`]],
  ['turtle', 'SELECT ?t { BIND(TRIPLE("a", :b, 1) AS ?t) FILTER(BOUND(?t)) }', []],
  ['turtle', 'SELECT ?r { ?r rdf:reifies ?t FILTER(?t = <<( :ann :knows :bob )>>) }', [`<${E}r1>`]],
  [
    'turtle',
    'SELECT ?n { { SELECT (COUNT(DISTINCT ?t) AS ?n) { ?s ?p ?t FILTER(isTRIPLE(?t)) } } }',
    [`"4"^^<${XSD}integer>`],
  ],
  ['turtle', 'SELECT ?t { ?s rdf:reifies ?t } ORDER BY ?t', [TERMS.r1, TERMS.r2]],
  ['turtle', 'SELECT ?v { :cal :says ?v FILTER(hasLANGDIR(?v)) }', ['"مرحبا"@ar--rtl']],
  ['turtle', 'SELECT ?v { :cal :says ?v FILTER(LANG(?v) = "ar") }', ['"مرحبا"@ar--rtl']],
  ['turtle', 'SELECT ?s { ?s :says "مرحبا"@ar }', []],
  ['turtle', 'SELECT ?s { ?s :says "مرحبا"@ar--rtl }', [`<${E}cal>`]],
  ['turtle', 'SELECT ?r { VALUES ?t { <<( :bob :knows :cal )>> } ?r rdf:reifies ?t }', [`<${E}r2>`]],
  ['turtle', 'SELECT ?s { ?s :knows ?o FILTER NOT EXISTS { ?r rdf:reifies <<( ?s :knows ?o )>> } }', []],
  [
    'trig',
    'SELECT ?t { GRAPH :g { ?s :says ?t FILTER(isTRIPLE(?t)) } } ORDER BY ?t',
    [TERMS.directed, TERMS.nested],
  ],
  ['nquads', 'SELECT ?r { GRAPH ?g { ?r rdf:reifies <<( :bob ?p ?o )>> } }', [`<${E}r2>`]],
]

t.test('triple terms in queries', async t => {
  for (const [id, query, expected] of QUERIES) {
    const { statusCode, body } = await ask(id, query, 'text/tab-separated-values')
    t.equal(statusCode, 200, `${query}: ${body.slice(0, 300)}`)
    t.same(body.split('\n').slice(1, -1), expected, query)
  }
})

t.test('a triple term is no predicate of an answer', async t => {
  const query = 'CONSTRUCT { ?r ?t ?r . ?t :is ?r . ?r :is ?t } { ?r rdf:reifies ?t }'
  const { statusCode, body } = await ask('turtle', query, 'application/n-triples')
  t.equal(statusCode, 200)
  t.same(
    triplesIn(body, 'application/n-triples').map(line => line.split(' ', 2)[1]),
    [`<${E}is>`, `<${E}is>`],
  )
})

t.test('formats of answers', async t => {
  const select = 'SELECT ?t { ?s :says ?t FILTER(isTRIPLE(?t) && isLITERAL(OBJECT(?t))) }'
  const construct =
    'CONSTRUCT { << ?s ?p ?o >> :seen true . _:r :of <<( _:r :p ?o )>> } { ?s ?p ?o FILTER(?p = :knows) }'
  const json = JSON.parse((await ask('turtle', select)).body)
  t.same(json.results.bindings, [
    {
      t: {
        type: 'triple',
        value: {
          subject: { type: 'uri', value: `${E}cal` },
          predicate: { type: 'uri', value: `${E}says` },
          object: { type: 'literal', value: 'x', 'xml:lang': 'ar', 'its:dir': 'rtl' },
        },
      },
    },
  ])
  t.match(
    (await ask('turtle', select, 'application/sparql-results+xml')).body,
    `<triple><subject><uri>${E}cal</uri></subject><predicate><uri>${E}says</uri></predicate><object><literal xml:lang="ar" its:dir="rtl">x</literal></object></triple>`,
  )
  t.match((await ask('turtle', select, 'text/csv')).body, `${E}cal ${E}says x`)
  for (const type of [
    'text/turtle',
    'application/n-triples',
    'application/rdf+xml',
    'application/n-quads',
    'application/trig',
  ]) {
    const { statusCode, body } = await ask('turtle', construct, type)
    t.equal(statusCode, 200, `${type}: ${body}`)
    const lines = triplesIn(body, type).map(line => line.replaceAll(/_:[^ ]+/g, '_:b'))
    t.same(
      lines,
      [
        `_:b ${REIFIES} ${TERMS.r1} .`,
        `_:b <${E}of> <<( _:b <${E}p> <${E}bob> )>> .`,
        `_:b <${E}seen> "true"^^<${XSD}boolean> .`,
      ].sort(),
      type,
    )
  }
})

/** At the end: the instance of the engine that this file has imported cannot be used afterwards. */
t.test('terms that are nested too deeply are refused, and the next texts are read', async t => {
  const nested = (depth: number) =>
    `<${E}r> ${REIFIES} ${`<<( <${E}s> <${E}p> `.repeat(depth)}<${E}o>${' )>>'.repeat(depth)} .\n`
  const read = (text: string) => [...parseRdf([Buffer.from(text)], 'ntriples', E, { file: 'a.nt' })].join('')
  for (const _ of ['once', 'and again']) {
    t.throws(() => read(nested(20_000)), { code: 'SourceUnreadable', message: /too many triple terms/ })
    t.equal(read(nested(3)), nested(3))
  }
})
