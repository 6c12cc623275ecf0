import t from 'tap'
import { field } from '../src/model/field.ts'
import { localizedLiteral } from '../src/portal/islands/modules/answer-table.ts'
import { layOutSparql } from '../src/portal/playground/odsql-answer.ts'
import { sourceChoice } from '../src/portal/playground/sparql-page.ts'
import { EXPLORE_V21 } from '../src/query/dialect.ts'
import { Stopwatch } from '../src/query/execute/executor.ts'
import { planOdsql } from '../src/query/pipeline.ts'
import { planText } from '../src/query/plan-text.ts'
import { type RowWriter, rowWriter } from '../src/sparql/row-writer.ts'
import { inOrderOfQuery } from '../src/sparql/variable-order.ts'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** The playgrounds of the site: their state is their address, and nothing of what is hidden gets into them. */
const TREES = `id,kind,height,planted
1,oak,12.5,1999-04-01
2,oak,,2001-05-02
3,"<b>elm</b>",7,2001-06-03
`
const base = 'http://portal.example/open'
const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Test\n',
  data: {
    trees: {
      'trees.csv': TREES,
      'dataset.yaml': `
source: { path: trees.csv }
fields:
  - { name: tree_id, type: int, from: id }
  - { name: kind, type: text, annotations: { facet: [] } }
  - { name: height, type: double }
  - { name: planted, type: date }
id: [tree_id]
metas: { default: { title: Trees of the town } }
`,
    },
    birds: { 'a.json': '[{"a":1}]', 'dataset.yaml': 'source: { path: a.json }\n' },
    secret: { 'a.json': '[{"a":1}]', 'dataset.yaml': 'source: { path: a.json }\nvisibility: restricted\n' },
  },
  mappings: {
    trees: {
      'kinds.rq': '# The kinds\nSELECT ?kind WHERE { ?tree <{base}/ld/ontologies/trees/kind> ?kind }\n',
      'with-birds.rq':
        '# Trees and birds\nASK { ?b <{base}/ld/ontologies/birds/a> ?n . ?t <{base}/ld/ontologies/trees/height> ?n }\n',
      'with-secret.rq': '# Trees and secrets\nASK { ?s <{base}/ld/ontologies/secret/a> ?n }\n',
    },
  },
})
const { app } = await servePortal(t, { portal, base, now: '2026-01-02T03:04:05.678Z' })

async function page(url: string, headers: Readonly<Record<string, string>> = {}) {
  const { statusCode: status, headers: sent, body } = await app.http.inject({ url, headers: { ...headers } })
  return { status, headers: sent, body }
}

/** What the script of the page is given. */
function dataOf(body: string): {
  readonly sources: readonly string[]
  readonly base: string
  readonly worker: string
} {
  const [, text = ''] =
    /<script type="application\/json" id="playground-data">(.*?)<\/script>/s.exec(body) ?? []
  return JSON.parse(text)
}

/** The datasets whose boxes are checked. */
function checkedOf(body: string): readonly string[] {
  return Array.from(body.matchAll(/name="source" value="([^"]*)" checked/g), ([, id = '']) => id)
}

t.test('the SPARQL playground shows the state of its address', async t => {
  const query = `SELECT * { ?s <${base}/ld/ontologies/birds/a> "</textarea><script>alert(1)</script>" }`
  const cases: readonly (readonly [name: string, url: string, checked: readonly string[]])[] = [
    ['nothing said: the first dataset with an example', '/sparql/', ['trees']],
    ['datasets that are named', '/sparql/?source=birds&source=trees', ['birds', 'trees']],
    ['datasets that the query names', `/sparql/?query=${encodeURIComponent(query)}`, ['birds']],
  ]
  for (const [name, url, checked] of cases) {
    const { status, body } = await page(url)
    t.equal(status, 200, name)
    t.same(checkedOf(body), checked, name)
    t.equal(body.match(/<h1[ >]/g)?.length, 1, 'one heading of the first level')
    t.same(dataOf(body).sources, ['birds', 'trees'], 'what is hidden is not offered')
    t.notMatch(body, /secret/i, 'nor named')
  }
  const { body } = await page(`/sparql/?via=brtpf&query=${encodeURIComponent(query)}`)
  t.match(body, /<option value="brtpf" selected>/, 'how it is asked')
  t.notMatch(body, /<script>alert/, 'a query stays text')
  t.match(body, /&lt;\/textarea&gt;/)
})

t.test('examples are links that have the datasets which they need', async t => {
  const { body } = await page('/sparql/?source=trees')
  const links = Array.from(body.matchAll(/<li><a href="(\/open\/sparql\/\?[^"]*)" rel="nofollow">([^<]*)</g))
  t.same(
    links.map(([, , title]) => title),
    ['The kinds', 'Trees and birds'],
    'but those of hidden datasets',
  )
  const [, target = ''] = links[1] ?? []
  const { searchParams } = new URL(target.replaceAll('&amp;', '&'), base)
  t.same(searchParams.getAll('source'), ['trees', 'birds'])
  t.match(searchParams.get('query') ?? '', /^# Trees and birds\nASK/)
})

t.test('without scripts the endpoint answers', async t => {
  const requested = encodeURIComponent('ASK { ?s ?p ?o }')
  const { status, headers } = await page(`/sparql/?source=trees&query=${requested}&run=endpoint`)
  t.equal(status, 303)
  t.equal(headers.location, '/open/api/sparql/trees?query=ASK+%7B+%3Fs+%3Fp+%3Fo+%7D&format=html')
  const several = await page(`/sparql/?source=trees&source=birds&query=${requested}&run=endpoint`)
  const target = new URL(String(several.headers.location), base)
  t.equal(target.pathname, '/open/api/sparql')
  t.same(target.searchParams.getAll('default-graph-uri'), [
    `${base}/ld/resources/trees`,
    `${base}/ld/resources/birds`,
  ])
  const answer = await page(target.pathname.replace('/open', '') + target.search, { accept: 'text/html' })
  t.match(answer.body, /<p>Yes<\/p>/, 'and knows these graphs')
})

t.test('hidden and unknown datasets', async t => {
  for (const path of ['/sparql/?source=', '/odsql/?dataset=']) {
    t.equal((await page(`${path}secret`)).status, 401, path)
    t.equal((await page(`${path}nothing`)).status, 404, path)
  }
})

t.test('the worker is a file of the portal', async t => {
  const { worker } = dataOf((await page('/sparql/')).body)
  const { status, headers } = await page(worker.replace('/open', ''))
  t.equal(status, 200)
  t.match(headers['content-type'], /javascript/)
})

t.test('the ODSQL playground shows a query at each of its stages', async t => {
  const { status, body } = await page(
    '/odsql/?dataset=trees&select=count(*)+as+n&group_by=kind&order_by=n+desc',
  )
  t.equal(status, 200)
  t.match(body, /<td>oak<\/td><td class="number"><data value="2">2<\/data><\/td>/, 'the answer')
  t.match(body, /&lt;b&gt;elm&lt;\/b&gt;/, 'values stay text')
  t.match(body, /groups\n {2}filter\n {4}none: all records\n {2}groups\n {4}kind\n/, 'the plan')
  t.match(body, /<span class="t-keyword">SELECT<\/span>/, 'the SPARQL')
  t.match(body, /<code>store<\/code>/, 'the times')
  t.match(
    body,
    /\/open\/api\/explore\/v2\.1\/catalog\/datasets\/trees\/records\?select=count\(\*\)\+as\+n/,
    'its twin',
  )
  const records = await page('/odsql/?dataset=trees&where=height+%3E+8')
  t.match(records.body, /height &gt; 8/, 'the plan of records')
  t.match(records.body, />12\.5</)
  t.notMatch(records.body, /elm/)
})

t.test('the ODSQL playground without a dataset begins with an example', async t => {
  const { body } = await page('/odsql/')
  t.match(body, /<option value="birds" selected>/)
  t.match(body, /<h2>Plan<\/h2>/)
})

t.test('pages that choose a dataset begin with one that has records', async t => {
  const filled = temporaryFolder(t, {
    'portal.yaml': 'title: Test\n',
    data: { 'benches.csv': 'name,height\n', 'trees.csv': 'name,height\nOak,12\n' },
  })
  const { app } = await servePortal(t, { portal: filled, base })
  for (const [url, expected] of [
    ['/sparql/', /value="trees" checked/],
    ['/odsql/', /value="trees" selected/],
    ['/developers/', /datasets\/trees\/records/],
  ] as const) {
    const { body } = await app.http.inject({ url })
    t.match(body, expected, url)
    t.notMatch(body, /value="benches" (?:checked|selected)|datasets\/benches\/records/, url)
  }
})

t.test('a fault stands at its clause, under its character', async t => {
  const cases: readonly (readonly [clause: string, text: string, caret: string])[] = [
    ['where', 'height >> 1', 'height &gt;&gt; 1\n        ^'],
    ['order_by', 'kind, nothing', 'kind, nothing\n      ^'],
    ['select', 'kind, heigt', 'kind, heigt\n      ^'],
  ]
  for (const [clause, text, caret] of cases) {
    const { status, body } = await page(`/odsql/?dataset=trees&${clause}=${encodeURIComponent(text)}`)
    t.equal(status, 200, clause)
    t.match(
      body,
      new RegExp(`id="${clause}"[^>]* aria-invalid="true" aria-describedby="${clause}-fault"`),
      clause,
    )
    t.ok(body.includes(caret), `${clause}: ${/<pre aria-hidden[^>]*>([^<]*)/.exec(body)?.[1] ?? 'no caret'}`)
    t.notMatch(body, /<h2>Plan/)
  }
})

t.test('columns of SELECT * are in the order of the query', t => {
  const sorted = ['o', 'p', 's']
  t.same(inOrderOfQuery('PREFIX a: <b>\nselect * { ?s ?p ?o }', sorted), ['s', 'p', 'o'])
  t.same(inOrderOfQuery('SELECT DISTINCT * { $p ?x ?o . ?s ?p ?o }', sorted), ['p', 'o', 's'])
  t.same(inOrderOfQuery('SELECT (1 AS ?o) ?s { { SELECT * { ?s ?p ?o } } }', ['o', 's']), ['o', 's'])
  t.end()
})

t.test('plans are written for people', t => {
  const dataset = {
    fields: [field('kind', 'text'), field('height', 'double'), field('planted', 'date')],
  }
  const context = {
    dataset,
    technical: true,
    timezone: 'UTC',
    language: 'en',
    dialect: EXPLORE_V21,
    now: 0,
  } as const
  const cases: readonly (readonly [clauses: Readonly<Record<string, string>>, lines: readonly string[]])[] = [
    [
      { where: 'height > 3 and not kind = "oak" or kind is not null' },
      [
        '    any of',
        '      all of',
        '        height > 3',
        '        not',
        '          kind = "oak"',
        '      kind has a value',
      ],
    ],
    [{ where: 'height in [1..5[' }, ['    height in [1, 5[']],
    [{ where: '"old oak"' }, ['    the record has the words "old", "oak"']],
    [{ where: 'length(kind) > 2', select: 'kind as k' }, ['    length(kind) > 2', '    k = kind']],
    [
      { groupBy: 'range(height, 10) as step', select: 'avg(height) as mean', orderBy: 'mean' },
      ['    step = steps of height, each 10 wide', '    mean = avg(height)', '    avg(height) asc'],
    ],
    [{ orderBy: 'height desc' }, ['    height desc']],
  ]
  for (const [{ where = '', ...clauses }, lines] of cases) {
    const plan = planOdsql(
      { ...clauses, where: [where], limit: 10, offset: 0 },
      context,
      new Stopwatch(() => 0),
    )
    const text = planText(plan)
    for (const line of lines) t.ok(text.split('\n').includes(line), `${line}\n${text}`)
  }
  t.end()
})

t.test('SPARQL is laid out', t => {
  const given =
    'SELECT ?s (COUNT(*) AS ?n) WHERE { ?s <http://x/p> "a { . ; }" . FILTER(?s > 1.5) OPTIONAL { ?s <http://y/z> ?o } } GROUP BY ?s ORDER BY ?n LIMIT 3'
  t.equal(
    layOutSparql(given, { x: 'http://x/', unused: 'http://unused/' }),
    `PREFIX x: <http://x/>

SELECT ?s (COUNT(*) AS ?n)
WHERE {
  ?s x:p "a { . ; }" .
  FILTER(?s > 1.5)
  OPTIONAL {
    ?s <http://y/z> ?o
  }
}
GROUP BY ?s
ORDER BY ?n
LIMIT 3`,
  )
  t.end()
})

t.test('numbers of an answer have all their digits, and times without a zone are those of nobody', t => {
  const { TZ } = process.env
  t.teardown(() => (TZ === undefined ? delete process.env.TZ : Object.assign(process.env, { TZ })))
  process.env.TZ = 'America/New_York'
  for (const [value, type, expected] of [
    ['9007199254740993', 'integer', '9,007,199,254,740,993'],
    ['1.50', 'decimal', '1.5'],
    ['INF', 'double', 'INF'],
    ['2024-03-05T10:30:00', 'dateTime', 'Mar 5, 2024, 10:30 AM'],
    ['2024-03-05T23:30:00-02:00', 'dateTime', 'Mar 6, 2024, 01:30 AM'],
    ['2024-03-05', 'date', 'Mar 5, 2024'],
    ['-0044-03-15', 'date', '-0044-03-15'],
  ] as const) {
    const datatype = `http://www.w3.org/2001/XMLSchema#${type}`
    t.equal(
      localizedLiteral({ type: 'literal', value, datatype, language: '' }, 'en').replace(/\s/g, ' '),
      expected,
    )
  }
  t.end()
})

t.test('answers are written as files', t => {
  const rows = [
    [
      { type: 'iri', value: 'http://x/' } as const,
      { type: 'literal', value: 'a,"b"', datatype: '', language: 'en' } as const,
    ],
    [null, { type: 'blank', value: 'b0' } as const],
  ]
  const written = (writer: RowWriter) =>
    writer.head(['s', 'o']) + rows.map(row => writer.row(row)).join('') + writer.end()
  t.equal(written(rowWriter('csv')), 's,o\r\nhttp://x/,"a,""b"""\r\n,_:b0\r\n')
  t.same(JSON.parse(written(rowWriter('json'))).results.bindings, [
    { s: { type: 'uri', value: 'http://x/' }, o: { type: 'literal', value: 'a,"b"', 'xml:lang': 'en' } },
    { o: { type: 'bnode', value: 'b0' } },
  ])
  t.end()
})

t.test(
  'of many datasets the first and the chosen ones are listed, the others in a list that opens',
  async t => {
    const entries = Array.from({ length: 60 }, (_, at) => ({
      dataset: { id: `d${at}`, metas: {} },
      triples: 1,
    }))
    const many = (_: string, other: string, n: number) => other.replace('{n}', String(n))
    const pageContext = { t: Object.assign((text: string) => text, { many }), number: String } as never
    const shown = (count: number, chosen: number) =>
      sourceChoice(pageContext, entries.slice(0, count) as never, { chosen: [entries[chosen]] as never }).html
    t.notMatch(shown(50, 3), /<details>/)
    const [first = '', rest = ''] = shown(60, 57).split('<details>')
    t.equal(first.match(/name="source"/g)?.length, 51)
    t.same(checkedOf(first), ['d57'])
    t.match(first, /<ul><li><label><input type="checkbox" name="source" value="d57"/, 'before the others')
    t.match(rest, /<summary>9 more<\/summary>/)
    t.equal(rest.match(/name="source"/g)?.length, 9)
  },
)
