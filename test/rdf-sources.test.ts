import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import {
  currentManifest,
  currentVersion,
  graphPath,
  removedIds,
  versionsOf,
  withdraw,
} from '../src/publishing/versions/versions.ts'
import { LineSet } from '../src/rdf/line-set.ts'
import { replaceBlankNodes } from '../src/rdf/skolem.ts'
import { openFile } from '../src/sources/open.ts'
import { select } from './support/ask.ts'
import { lodestone } from './support/crash.ts'
import { temporaryFolder } from './support/folder.ts'
import { publishReports, servePortal } from './support/portal.ts'

/** Files of RDF as datasets: every syntax, named graphs, blank nodes, what is refused; and records that are removed. */
const BASE = 'http://portal.test/data'
const XSD = 'http://www.w3.org/2001/XMLSchema#'
const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'

const publish = (portal: string, names: readonly string[] | null = null) =>
  publishReports(portal, { base: BASE }, names)

/** A portal with one dataset a file, called `d0`, `d1` and so on. */
function makePortal(
  t: Test,
  files: readonly (readonly [name: string, text: string, yaml?: string])[],
): string {
  const data = files.map(([name, text, yaml = `source: { path: ${name} }\n`], index) => {
    const packed = name.endsWith('.gz')
    return [`d${index}`, { 'dataset.yaml': yaml, [name]: packed ? '' : text }] as const
  })
  const portal = temporaryFolder(t, { 'portal.yaml': 'title: Test\n', data: Object.fromEntries(data) })
  for (const [index, [name, text]] of files.entries())
    if (name.endsWith('.gz')) writeFileSync(path.join(portal, 'data', `d${index}`, name), gzipSync(text))
  return portal
}

/** The triples of the published graphs of a dataset: the facts, and each named graph by its IRI. */
function published(portal: string, id: string): Readonly<Record<string, readonly string[]>> {
  const versions = versionsOf(portal)
  const manifest = currentManifest(versions, id)
  if (manifest === null) throw new Error(`${id} is not published`)
  return Object.fromEntries(
    manifest.graphs.map(({ role, name, file, triples, bytes }) => {
      const text = gunzipSync(readFileSync(graphPath(versions, manifest, file)))
      const lines = text.toString().split('\n').slice(0, -1)
      t.same([lines.length, text.length], [triples, bytes], `${id} ${file}: triples and bytes`)
      return [name ?? role, lines]
    }),
  )
}

const genid = (id: string, label: string) => `<${BASE}/.well-known/genid/${id}/${label}>`

t.test('every syntax of RDF is read', async t => {
  const rows: readonly (readonly [
    string,
    string,
    (id: string) => Record<string, readonly string[]>,
    string?,
  ])[] = [
    [
      'a.ttl',
      '\ufeff@prefix e: <http://e/> .\n<x> a e:T ; e:p 01 , 1 , "b"@EN , [ e:q _:n ] . _:n e:r "_:n <http://x>" .',
      id => ({
        facts: [
          `<${BASE}/ld/resources/${id}/x> <${RDF}type> <http://e/T> .`,
          `<${BASE}/ld/resources/${id}/x> <http://e/p> "01"^^<${XSD}integer> .`,
          `<${BASE}/ld/resources/${id}/x> <http://e/p> "1"^^<${XSD}integer> .`,
          `<${BASE}/ld/resources/${id}/x> <http://e/p> "b"@en .`,
          `<${BASE}/ld/resources/${id}/x> <http://e/p> ${genid(id, 'b1')} .`,
          `${genid(id, 'b1')} <http://e/q> ${genid(id, 'b2')} .`,
          `${genid(id, 'b2')} <http://e/r> "_:n <http://x>" .`,
        ],
      }),
    ],
    [
      'a.nt.gz',
      '# _:c\n_:a.b <http://p> _:é .\r\n<http://s> <http://p> "_:a \\" <x> # y" . # _:z\n\n<http://s> <http://p> "01"^^<http://www.w3.org/2001/XMLSchema#integer> .\n<http://s> <http://p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .',
      id => ({
        facts: [
          `${genid(id, 'a.b')} <http://p> ${genid(id, 'é')} .`,
          '<http://s> <http://p> "_:a \\" <x> # y" .',
          `<http://s> <http://p> "01"^^<${XSD}integer> .`,
          `<http://s> <http://p> "1"^^<${XSD}integer> .`,
        ],
      }),
    ],
    [
      'a.nq',
      '<http://s> <http://p> "x" .\n<http://s> <http://p> "x" <http://g> .\n<http://s> <http://p> <http://o> <http://g> .\n<http://s> <http://p> <http://o> <http://h> .\n<http://s> <http://p> "a <http://g>" .\n<http://s> <http://p> "a <http://g>"@en _:g .\n<http://s> <http://p> "x" <http://g> .\n',
      id => ({
        facts: [
          '<http://s> <http://p> "x" .',
          '<http://s> <http://p> <http://o> .',
          '<http://s> <http://p> "a <http://g>" .',
          '<http://s> <http://p> "a <http://g>"@en .',
        ],
        'http://g': ['<http://s> <http://p> "x" .', '<http://s> <http://p> <http://o> .'],
        'http://h': ['<http://s> <http://p> <http://o> .'],
        [genid(id, 'g').slice(1, -1)]: ['<http://s> <http://p> "a <http://g>"@en .'],
        unnamed: ['<http://s> <http://p> "x" .', '<http://s> <http://p> "a <http://g>" .'],
      }),
    ],
    [
      'a.trig',
      '@prefix : <http://e/> . :s :p :o . :g { :s :p :o , [ :q 1 ] } _:h { :t :p "x" }',
      id => ({
        facts: [
          '<http://e/s> <http://e/p> <http://e/o> .',
          `${genid(id, 'b1')} <http://e/q> "1"^^<${XSD}integer> .`,
          `<http://e/s> <http://e/p> ${genid(id, 'b1')} .`,
          '<http://e/t> <http://e/p> "x" .',
        ],
        'http://e/g': [
          '<http://e/s> <http://e/p> <http://e/o> .',
          `<http://e/s> <http://e/p> ${genid(id, 'b1')} .`,
          `${genid(id, 'b1')} <http://e/q> "1"^^<${XSD}integer> .`,
        ],
        [genid(id, 'b2').slice(1, -1)]: ['<http://e/t> <http://e/p> "x" .'],
        unnamed: ['<http://e/s> <http://e/p> <http://e/o> .'],
      }),
    ],
    [
      'a.rdf',
      `<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="${RDF}" xmlns:e="http://e/"><e:T rdf:about="x"><e:p rdf:nodeID="n"/><e:q xml:lang="en">a&amp;b</e:q></e:T></rdf:RDF>`,
      id => ({
        facts: [
          `<${BASE}/ld/resources/${id}/x> <${RDF}type> <http://e/T> .`,
          `<${BASE}/ld/resources/${id}/x> <http://e/p> ${genid(id, 'b1')} .`,
          `<${BASE}/ld/resources/${id}/x> <http://e/q> "a&b"@en .`,
        ],
      }),
    ],
    [
      'text.rdf',
      `<rdf:RDF xmlns:rdf="${RDF}" xmlns:e="http://e/" xml:lang="de"><!-- xml:lang="" <![CDATA[ --><e:T rdf:about="http://e/s"><e:p xml:lang=''>é</e:p><e:q>a &lt; <![CDATA[<b> & "c"]]>\n<![CDATA[]]]]><![CDATA[>]]></e:q></e:T></rdf:RDF>`,
      () => ({
        facts: [
          `<http://e/s> <${RDF}type> <http://e/T> .`,
          '<http://e/s> <http://e/p> "é" .',
          '<http://e/s> <http://e/q> "a < <b> & \\"c\\"\\n]]>"@de .',
        ],
      }),
    ],
    [
      'a.jsonld',
      '{"@context": {"e": "http://e/"}, "@id": "http://g", "@graph": [{"@id": "e:s", "e:p": [1, {"e:q": "x"}]}]}',
      id => ({
        facts: [
          `<http://e/s> <http://e/p> "1"^^<${XSD}integer> .`,
          `<http://e/s> <http://e/p> ${genid(id, 'b1')} .`,
          `${genid(id, 'b1')} <http://e/q> "x" .`,
        ],
        'http://g': [
          `<http://e/s> <http://e/p> "1"^^<${XSD}integer> .`,
          `<http://e/s> <http://e/p> ${genid(id, 'b1')} .`,
          `${genid(id, 'b1')} <http://e/q> "x" .`,
        ],
        unnamed: [],
      }),
    ],
    ['empty.ttl', '# nothing\n', () => ({ facts: [] })],
    ['plain.nq', '<http://s> <http://p> "x" .', () => ({ facts: ['<http://s> <http://p> "x" .'] })],
    [
      'data.txt',
      '<http://s> <http://p> "x" .',
      () => ({ facts: ['<http://s> <http://p> "x" .'] }),
      'source: { path: data.txt }\nformat: turtle\n',
    ],
  ]
  const portal = makePortal(
    t,
    rows.map(([name, text, , yaml]) => (yaml === undefined ? [name, text] : [name, text, yaml])),
  )
  t.same(
    (await publish(portal)).map(({ type }) => type),
    rows.map(() => 'published'),
  )
  const sorted = (graphs: Readonly<Record<string, readonly string[]>>) =>
    Object.fromEntries(Object.entries(graphs).map(([name, lines]) => [name, [...lines].sort()]))
  const before = rows.map(([name, , expected], index) => {
    const graphs = published(portal, `d${index}`)
    t.same(sorted(graphs), sorted(expected(`d${index}`)), name)
    return graphs
  })
  const versions = rows.map((_, index) => currentVersion(versionsOf(portal), `d${index}`))
  for (const [index] of rows.entries())
    writeFileSync(path.join(portal, 'data', `d${index}`, 'dataset.yaml'), '\n', { flag: 'a' })
  await publish(portal)
  for (const [index, [name]] of rows.entries()) {
    t.not(currentVersion(versionsOf(portal), `d${index}`), versions[index], `${name}: another version`)
    t.same(published(portal, `d${index}`), before[index], `${name}: the same triples in the same order`)
  }
})

t.test('what is refused', async t => {
  const many = Array.from({ length: 1001 }, (_, at) => `<http://s> <http://p> "x" <http://g/${at}> .\n`)
  const rows: readonly (readonly [string, string, RegExp, string?])[] = [
    ['a.ttl', '<a> <b> <c> .\n<a> <b> "x"@toolonglanguage .', /a\.ttl:2:13: .*eight characters/],
    ['a.ttl', '<a> <b> <c d> .', /a\.ttl:1:9: .*Invalid IRI code point ' '/],
    ['a.ttl', '<a> <b> <c> .\n\n<a> <b "x" .', /a\.ttl:3:\d+: /],
    ['a.nt', '_:long <http://p> "x" .\n_:long <http://p> <http://a b> .\n', /a\.nt:2:19: .*code point ' '/],
    ['a.nt', '<http://s> <http://p> "x" .\n<http://s> <p> "x" .', /a\.nt:2:12: .*No scheme/],
    ['a.nt', '<http://s> <http://p> "x .\n_:b <http://p> "x" .', /a\.nt:1:/],
    ['a.nq', '<http://s> <http://p> "x" <http://g> <http://h> .', /a\.nq:1:/],
    ['a.trig', '<g> { <s> <p> }', /a\.trig:1:\d+: /],
    [
      'a.rdf',
      `<rdf:RDF xmlns:rdf="${RDF}">\n\n<rdf:Description rdf:about="http://a b"/>\n\n</rdf:RDF>`,
      /a\.rdf:3: /,
    ],
    ['a.rdf', `<rdf:RDF xmlns:rdf="${RDF}">\n<rdf:Description>\n</rdf:RDF>`, /a\.rdf:3: .*rdf:Description/],
    ['a.jsonld', '{"@id": "http://s",\n"http://p":}', /a\.jsonld:2:\d+: /],
    [
      'a.jsonld',
      `{"@id": "http://[\\"[s",\n"http://p": ${'{"http://p":'.repeat(1000)}1${'}'.repeat(1001)}`,
      /a\.jsonld:2: .*More than 1000 objects and lists/,
    ],
    [
      'a.jsonld',
      '{"@context": "http://c/", "@id": "http://s"}',
      /a\.jsonld:1: .*RDF: contexts at other addresses are not fetched; put the context into the file\./,
    ],
    [
      'a.nt',
      '<http://s> <http://p> "x"\n<http://s> <http://p> "y" .\n',
      /a\.nt:2:1: .*RDF: the dot after the statement before this place is missing\./,
    ],
    ['a.nq', many.join(''), /more than 1000 named graphs/],
    ['a.ttl.gz', '', /cannot be read|^$/],
    ['a.ttl', '', /fields means nothing/, 'source: { path: a.ttl }\nfields: [{ name: a }]\n'],
    ['a.csv', '', /id means nothing/, 'source: { path: a.csv }\nformat: nquads\nid: [a]\n'],
    ['a.ttl', '', /options means nothing/, 'source: { path: a.ttl }\noptions: { encoding: latin-1 }\n'],
    ['a.ttl', '', /with path or package/, 'source: { module: a }\nformat: turtle\n'],
    ['a.ttl', '', /a\.nt.*not found|no such file|does not exist/i, 'source: { path: a.nt }\n'],
  ]
  const portal = makePortal(
    t,
    rows.map(([name, text, , yaml]) => (yaml === undefined ? [name, text] : [name, text, yaml])),
  )
  const bytes = Buffer.concat([
    Buffer.from('<http://s> <http://p> "x" .\n<http://s> <http://p> "'),
    Buffer.of(0xff, 0x22, 0x2e),
  ])
  writeFileSync(path.join(portal, 'data/d4/a.nt'), bytes)
  const described = await publish(portal)
  for (const [index, [name, text, expected]] of rows.entries()) {
    const message = described.find(({ dataset }) => dataset === `d${index}`)
    if (index === 4) t.match(message, { type: 'failed', reason: /a\.nt:2: The line is not UTF-8/ })
    else if (name === 'a.ttl.gz') t.match(message, { type: 'published', report: { triples: 0 } })
    else t.match(message, { type: 'failed', reason: expected }, `${name}: ${text.slice(0, 60)}`)
  }
})

t.test('literals keep their lexical form and datatype', { timeout: 120_000 }, async t => {
  const xsd = (type: string) => `<${XSD}${type}>`
  const forms = [
    ...['1', '01', '+1', '-0', '000000000000000000001'].map(text => [text, 'integer']),
    ...['1.0', '1.10', '.5', '+0.50', '-0.0', '1.'].map(text => [text, 'decimal']),
    ...['1', '1.0', '1e0', '1.0E0', '-0', 'INF', '1e400'].map(text => [text, 'double']),
    ...['1.3e0', '+1.3'].map(text => [text, 'float']),
    ...['1', '0', 'true', 'false'].map(text => [text, 'boolean']),
    ...['2020-01-01T00:00:00+00:00', '2020-01-01T24:00:00Z', '2020-01-01T00:00:00.000Z'].map(text => [
      text,
      'dateTime',
    ]),
    ...['2020-01-01+00:00', '2020-01-01Z', '2020-01-01'].map(text => [text, 'date']),
    ...['P1Y12M', 'PT60M'].map(text => [text, 'duration']),
    ...['int', 'long', 'short', 'byte', 'unsignedByte', 'nonNegativeInteger'].map(type => ['7', type]),
    ['x', 'integer'],
    [' 1', 'integer'],
    ['', 'string'],
  ] as const
  const literal = ([text = '', type = '']: readonly string[]) =>
    type === 'string' ? `"${text}"` : `"${text}"^^${xsd(type)}`
  const lines = forms.map((form, at) => `<http://e/s${at}> <http://e/p> ${literal(form)} .`)
  const text = `${lines.join('\n')}\n`
  const rdfxml = forms.map(
    ([value, type], at) =>
      `<rdf:Description rdf:about="http://e/s${at}"><e:p rdf:datatype="${XSD}${type}">${value}</e:p></rdf:Description>`,
  )
  const jsonld = forms.map(([value, type], at) => ({
    '@id': `http://e/s${at}`,
    'http://e/p': { '@value': value, '@type': `${XSD}${type}` },
  }))
  const files = [
    ['a.nt', text],
    ['a.nq', text.replaceAll(' .\n', ' <http://e/g> .\n')],
    ['a.ttl', text],
    ['a.trig', `<http://e/g> { ${text} }`],
    ['a.rdf', `<rdf:RDF xmlns:rdf="${RDF}" xmlns:e="http://e/">${rdfxml.join('')}</rdf:RDF>`],
    ['a.jsonld', JSON.stringify(jsonld)],
  ] as const
  const portal = makePortal(t, files)
  await publish(portal)
  const expected = [...lines].sort()
  for (const [index, [name]] of files.entries())
    t.same([...(published(portal, `d${index}`).facts ?? [])].sort(), expected, name)
  const served = await servePortal(t, { portal, base: BASE, isPublished: false })
  const get = async (url: string, accept: string) => {
    const { statusCode, body } = await served.get(url, accept)
    t.equal(statusCode, 200, `${url} ${body.slice(0, 300)}`)
    return body
  }
  const sparql = (query: string) => `/api/sparql/d2?query=${encodeURIComponent(query)}`
  const construct = await get(sparql('CONSTRUCT WHERE { ?s ?p ?o }'), 'application/n-triples')
  t.same(construct.split('\n').slice(0, -1).sort(), expected, 'CONSTRUCT')
  for (const [at, form] of forms.entries()) {
    const term = literal(form)
    const rows = await get(sparql(`SELECT ?s { ?s <http://e/p> ${term} }`), 'text/tab-separated-values')
    t.same(rows.split('\n').slice(1, -1), [`<http://e/s${at}>`], `${term} by SPARQL`)
    const triples = await get(`/api/tpf/d2?object=${encodeURIComponent(term)}`, 'application/n-triples')
    t.same(
      triples.split('\n').filter(line => line.includes('<http://e/p> ') && line.includes('<http://e/s')),
      [lines[at]],
      `${term} by a fragment`,
    )
  }
  for (const [format, name] of [
    ['n3', 'nt'],
    ['turtle', 'ttl'],
    ['rdfxml', 'rdf'],
    ['jsonld', 'jsonld'],
  ] as const) {
    const body = await get(`/api/v2/catalog/datasets/d0/exports/${format}`, '*/*')
    await t.test(`${format} read again`, async t => {
      const again = makePortal(t, [[`a.${name}`, body]])
      await publish(again)
      t.same([...(published(again, 'd0').facts ?? [])].sort(), expected)
    })
  }
  for (const [query, value] of [
    ['SELECT (COUNT(*) AS ?n) { ?s <http://e/p> ?o FILTER(?o = 1) }', '"10"'],
    ['SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s <http://e/p> ?o FILTER(?o = 1) }', '"10"'],
    ['SELECT (STR(?o) AS ?n) { <http://e/s1> <http://e/p> ?o }', '"01"'],
    ['SELECT (DATATYPE(?o) AS ?n) { ?s <http://e/p> ?o FILTER(STR(?s) = "http://e/s32") }', xsd('int')],
    ['SELECT (SUM(?o) AS ?n) { VALUES ?s { <http://e/s0> <http://e/s1> } ?s <http://e/p> ?o }', '"2"'],
  ] as const) {
    const [, row = ''] = (await get(sparql(query), 'text/tab-separated-values')).split('\n')
    t.equal(row.replace(/\^\^<.*integer>$/, ''), value, query)
  }
})

t.test('a dataset of RDF is served like any other', async t => {
  const turtle =
    '@prefix e: <http://e/> .\n<x> a e:T ; e:name "A & B"@en , "multi\\nline" ; e:size 1.50 ; e:has [ e:part ( 1 2 ) ] .'
  const portal = makePortal(t, [
    ['a.ttl', turtle, 'source: { path: a.ttl }\nmetas: { default: { title: A graph } }\n'],
    ['a.trig', '<http://s> <http://p> "x" . <http://g> { <http://s> <http://p> "y" }'],
    ['b.ttl', '<http://s> <http://p/1> "x" .'],
    ['c.ttl', '<http://s> <http://p> "\\u0001" .'],
  ])
  await publish(portal)
  const { app, get } = await servePortal(t, { portal, base: BASE, isPublished: false })
  const home = '/api/explore/v2.1/catalog/datasets'
  t.match(JSON.parse((await get(`${home}/d0`)).body), {
    dataset_id: 'd0',
    has_records: false,
    fields: [],
    metas: { default: { title: 'A graph', records_count: 0 } },
  })
  t.match(JSON.parse((await get(`${home}?where=has_records%3Dfalse`)).body), { total_count: 4 })
  t.same(JSON.parse((await get(`${home}/d0/records`)).body), { total_count: 0, results: [] })
  t.same(JSON.parse((await get(`${home}/d0/exports/json`)).body), [])
  const facts = [...(published(portal, 'd0').facts ?? [])].sort()
  for (const [format, name] of [
    ['n3', 'nt'],
    ['turtle', 'ttl'],
    ['rdfxml', 'rdf'],
    ['jsonld', 'jsonld'],
  ] as const) {
    const { statusCode, body } = await get(`/api/v2/catalog/datasets/d0/exports/${format}`)
    t.equal(statusCode, 200, format)
    await t.test(`${format} read again`, async t => {
      const again = makePortal(t, [[`a.${name}`, body]])
      await publish(again)
      t.same([...(published(again, 'd0').facts ?? [])].sort(), facts)
    })
  }
  t.match(await get('/api/v2/catalog/datasets/d0/exports/turtle?limit=1'), {
    statusCode: 400,
    body: /no records/,
  })
  t.match(await get('/api/v2/catalog/datasets/d2/exports/rdfxml'), { statusCode: 422, body: /http:\/\/p\/1/ })
  t.match(await get('/api/v2/catalog/datasets/d3/exports/rdfxml'), { statusCode: 422, body: /http:\/\/p / })
  t.match(await get('/api/sparql/d2/data?default&format=rdfxml'), { statusCode: 422, body: /http:\/\/p\/1/ })
  t.match(await get('/api/tpf/d0?predicate=http%3A%2F%2Fe%2Fsize', 'application/n-triples'), {
    statusCode: 200,
    body: /<http:\/\/e\/size> "1\.50"/,
  })
  const [{ name, graph } = { name: '', graph: '' }] = app.catalog.dataset('d1').named
  t.equal(name, 'http://g')
  t.same(
    (await select(app.store, `SELECT ?o { GRAPH <${graph}> { ?s ?p ?o } }`)).map(({ o }) => o?.value),
    ['y'],
    'a named graph is a graph of the store',
  )
  t.equal(app.catalog.dataset('d1').triples, 2, 'the facts are the union')
})

t.test('a named graph of several datasets is the merge of their triples', async t => {
  const portal = makePortal(t, [
    ['a.nq', '<http://s> <http://p> "1" <http://g> .\n<http://s> <http://q> "x" <http://g> .\n'],
    ['b.nq', '<http://s> <http://p> "1" <http://g> .\n<http://s> <http://r> "y" <http://g> .\n'],
  ])
  await publish(portal)
  const { get } = await servePortal(t, { portal, base: BASE, isPublished: false })
  const rows = async (query: string) => {
    const { body } = await get(`/api/sparql?query=${encodeURIComponent(query)}`, 'text/csv')
    return body.trimEnd().split('\r\n').slice(1)
  }
  for (const [query, expected] of [
    ['SELECT (COUNT(*) AS ?n) { GRAPH <http://g> { ?s ?p ?o } }', ['3']],
    ['SELECT (COUNT(*) AS ?n) FROM <http://g> { ?s ?p ?o }', ['3']],
    [
      'SELECT ?g (COUNT(*) AS ?n) FROM NAMED <http://g> { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g',
      ['http://g,3'],
    ],
    ['SELECT ?x ?y { GRAPH <http://g> { ?s <http://q> ?x ; <http://r> ?y } }', ['x,y']],
    ['SELECT ?g { GRAPH ?g { ?s <http://p> "1" } FILTER(STRLEN(STR(?g)) = 8) }', ['http://g']],
  ] as const)
    t.same(await rows(query), expected, query)
  const { body: lines } = await get(
    `/api/sparql?graph=${encodeURIComponent('http://g')}`,
    'application/n-triples',
  )
  t.equal(new Set(lines.trimEnd().split('\n')).size, 3)
  const { body: description } = await get('/api/sparql', 'application/n-triples')
  t.equal(description.match(/sparql-service-description#name> <http:\/\/g>/g)?.length, 1)
})

t.test('records that are gone are remembered, and so are datasets that were withdrawn', async t => {
  const yaml = 'source: { path: a.csv }\nid: [name]\n'
  const portal = makePortal(t, [['a.csv', 'name\nOak\nElm\nIvy\n', yaml]])
  const versions = versionsOf(portal)
  const file = path.join(portal, 'data/d0/a.csv')
  const idsIn = () => {
    const facts = published(portal, 'd0').facts ?? []
    return new Map(facts.map(line => [/"(\w+)"/.exec(line)?.[1], /records\/(\w+)/.exec(line)?.[1] ?? '']))
  }
  await publish(portal)
  const ids = idsIn()
  const names = () => [...ids].filter(([, id]) => removedIds(versions, 'd0').has(id)).map(([name]) => name)
  t.same(names(), [])
  const { app } = await servePortal(t, { portal, base: BASE, isPublished: false })
  for (const [rows, removed] of [
    ['Oak\nIvy\n', ['Elm']],
    ['Ivy\nYew\n', ['Oak', 'Elm']],
    ['Ivy\nElm\n', ['Oak']],
  ] as const) {
    writeFileSync(file, `name\n${rows}`)
    await publish(portal)
    await app.catalog.refresh()
    t.same(names(), removed, rows)
    const served = app.catalog.dataset('d0')
    t.same(
      [...ids].filter(([, id]) => served.removed(id)).map(([name]) => name),
      removed,
    )
  }
  t.equal(app.catalog.isGone('d0'), false)
  t.equal(withdraw(versions, 'd0'), true)
  await app.catalog.refresh()
  t.same(
    [app.catalog.isGone('d0'), app.catalog.isGone('other'), app.catalog.isGone('../d0')],
    [true, false, false],
  )
  const construct = encodeURIComponent('CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }')
  for (const url of [
    '/api/tpf/d0',
    '/api/tpf/d0/?subject=http%3A%2F%2Fx%2F',
    '/api/sparql/d0',
    `/api/sparql/d0?query=${construct}`,
    '/api/sparql/d0/data?default',
    '/api/void/d0',
    '/api/void/d0/queries',
    '/ld/resources/d0',
    `/ld/data/d0/records/${ids.get('Oak')}`,
    '/ld/vocabulary/d0',
  ])
    for (const accept of ['*/*', 'text/html']) {
      const { statusCode, body } = await app.http.inject({ url, headers: { accept } })
      t.equal(statusCode, 410, `${url} ${accept}: ${body}`)
      t.match(body, 'The dataset d0 was withdrawn')
    }
  const payload = 'query=ASK%20%7B%7D'
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  t.equal(
    (await app.http.inject({ method: 'POST', url: '/api/sparql/d0', payload, headers })).statusCode,
    410,
  )
  for (const url of ['/api/tpf/other', '/api/sparql/other', '/api/void/other'])
    t.equal((await app.http.inject(url)).statusCode, 404, url)
  writeFileSync(file, 'name\nOak\n')
  await publish(portal, ['d0'])
  await app.catalog.refresh()
  t.equal(app.catalog.isGone('d0'), false)
  t.equal((await app.http.inject('/api/tpf/d0')).statusCode, 200)
  t.same(names(), ['Elm', 'Ivy'], 'also what was gone when it came back')
  rmSync(path.join(versions.root, 'd0', 'removed.json'))
  writeFileSync(file, 'name\n')
  await publish(portal)
  t.same(names(), ['Oak'])
})

t.test('import and check', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': 'title: Test\n', 'My Graph.ttl': '<a> <b> <c> , [] .' })
  const at = ['--portal', portal] as const
  t.match(await lodestone(['import', path.join(portal, 'My Graph.ttl'), ...at]), {
    code: 0,
    stdout: /^My Graph\.ttl: RDF \(turtle\) with 2 triples\n.*my-graph.dataset\.yaml\n$/,
  })
  const folder = path.join(portal, 'data/my-graph')
  t.match(readFileSync(path.join(folder, 'dataset.yaml'), 'utf8'), /path: My Graph\.ttl\nmetas:/)
  t.match(await lodestone(['check', ...at]), { code: 0, stdout: /^$/ })
  writeFileSync(path.join(folder, 'My Graph.ttl'), '<a>\n<b> .')
  t.match(await lodestone(['check', ...at]), { code: 1, stdout: /my-graph: My Graph\.ttl:2:\d+: / })
})

t.test('RDF is told by its bytes', async t => {
  const folder = temporaryFolder(t, {
    'a.ttl': '<a> <b> <c> .',
    'a.dat': '<http://e.org/a> <http://e.org/b> "c" .\n',
    'a.xml': '<rdf:RDF/>',
    'a.n3': '# <a> <b> <c> .',
    a: '@prefix e: <http://e.org/> .\n',
  })
  const folders = { datasetFolder: folder, portalFolder: folder }
  for (const [file, format] of [
    ['a.ttl', 'turtle'],
    ['a.dat', 'ntriples'],
    ['a.xml', 'rdfxml'],
    ['a.n3', 'turtle'],
    ['a', 'turtle'],
  ] as const)
    t.equal(openFile({ path: file }, folders).format, format, file)
})

t.test('blank nodes of lines, also of lines that are none', async t => {
  for (const [text, expected] of [
    ['_:a <p> _:b.c .', '[a] <p> [b.c] .'],
    ['_:a<p>_:b.', '[a]<p>[b].'],
    ['<_:a> "_:b" # _:c\n_:d', '<_:a> "_:b" # _:c\n[d]'],
    ['"a\\"_:b" _:c', '"a\\"_:b" [c]'],
    ['"open _:a\n_:b', '"open _:a\n[b]'],
    ['<open _:a\n_:b', '<open _:a\n[b]'],
    ['_: _:- _:\u00e9\u{10000}', '_: _:- [\u00e9\u{10000}]'],
    ['<a#b> _:c', '<a#b> [c]'],
    ['_:\u{1f600}a _:a\u203fb\u20acc', '[\u{1f600}a] [a\u203fb\u20acc]'],
  ] as const)
    t.equal(
      replaceBlankNodes(text, label => `[${label}]`),
      expected,
      JSON.stringify(text),
    )
  const long = '<'.repeat(200_000) + '"'.repeat(200_001) + '_:'.repeat(200_000)
  const begun = performance.now()
  replaceBlankNodes(long, () => '')
  t.ok(performance.now() - begun < 2000, 'linear time')
})

t.test('a set of lines', async t => {
  const lines = new LineSet()
  const texts = Array.from(
    { length: 200_000 },
    (_, at) => `<http://s/${at >> 1}> <http://p/${at & 1}> "${at}" .`,
  )
  t.equal(texts.filter(text => lines.add(text)).length, texts.length)
  t.equal(texts.filter(text => lines.add(text)).length, 0)
})
