import { parseHTML } from 'linkedom'
import t from 'tap'
import { readFacetValues } from '../src/http/parameters.ts'
import { OPEN_WORDS, RESERVED_WORDS } from '../src/language/odsql/vocabulary.ts'
import { field } from '../src/model/field.ts'
import { shownColumnsOf } from '../src/portal/dataset/table.ts'
import { highlight, highlightTokens } from '../src/portal/parts/highlight.ts'
import { plainText, richText } from '../src/portal/parts/rich-text.ts'
import { orderParts, refinementText } from '../src/portal/selection.ts'
import { writeRemoteState } from '../src/publishing/remote/state.ts'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** The tabs of a dataset that tell (information, export, API, linked data), and the page for developers. */
const TREES = `id,name,kind,height,planted,where
1,"Älm ""old""",elm,12.5,1999-04-01,"48.1,11.5"
2,Oak,oak,,2001-05-02,
3,oak <b>tree</b>,oak,7,,"-33.9,151.2"
4,Young oak,oak,2,2020-01-01,"50,10"
`

/** Names of fields that are words of ODSQL, or no plain words. */
const WORDS = [...RESERVED_WORDS, ...OPEN_WORDS, 'date', 'geom', 'Year', 'now', 'höhe', 'a-b', '2nd']

const WIDE = ['n', ...Array.from({ length: 599 }, (_, at) => `c${at}`)]

const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Test\nquotas: { domain: 1234567, anonymous: 765432 }\n',
  data: {
    trees: {
      'trees.csv': TREES,
      'notes.txt': 'Notes',
      'dataset.yaml': `
source: { path: trees.csv }
fields:
  - { name: tree_id, type: int, from: id, annotations: { id: [] } }
  - { name: name, type: text, label: Name }
  - { name: kind, type: text, label: Kind, annotations: { facet: [] } }
  - { name: height, type: double, label: Height, description: Of the tree, annotations: { unit: [m] } }
  - { name: planted, type: date }
  - { name: place, type: geo_point_2d, from: where }
id: [tree_id]
attachments: [{ path: notes.txt, title: Field notes }]
metas:
  default: { title: Trees of the town, description: '<p>All <b onclick="x()">trees</b>.<script>alert(1)</script>', keyword: [trees, green], publisher: Town, license: CC0, license_url: 'https://creativecommons.org/publicdomain/zero/1.0/', language: fr, territory: [] }
  dcat: { created: 2020-01-01, contact_email: town@example.org }
  custom: { colour: green, number: 7732-18-51 }
`,
    },
    secret: {
      'a.json': '[{"a":1}]',
      'dataset.yaml':
        'source: { path: a.json }\nvisibility: restricted\nmetas: { default: { title: Hush } }\n',
    },
    nothing: {
      'n.csv': 'name,lat,lon\n',
      'dataset.yaml':
        'source: { path: n.csv }\nfields:\n  - { name: name }\n  - { name: at, type: geo_point_2d, from: [lat, lon] }\n',
    },
    stops: {
      'stops.csv': 'name,lat,lon,x,y,seen,built\nA,,,48,2,2018-02-06T23:50:42+01:00,1998\n',
      'dataset.yaml':
        'source: { path: stops.csv }\nfields:\n  - { name: name }\n  - { name: entrance, type: geo_point_2d, from: [lat, lon] }\n  - { name: hall, type: geo_point_2d, from: [x, y] }\n  - { name: built, type: date, annotations: { timeserie_precision: [year] } }\n  - { name: seen, type: datetime }\n',
    },
    reserved: {
      'reserved.json': JSON.stringify([1, 2, 10].map(n => Object.fromEntries(WORDS.map(word => [word, n])))),
    },
    wide: {
      'wide.csv': [WIDE, ...Array.from({ length: 30 }, (_, n) => WIDE.map(() => `r${n}`))].join('\n'),
    },
    words: {
      'words.ttl':
        '@prefix s: <http://www.w3.org/2004/02/skos/core#> . <http://e.org/a> a s:Concept ; s:prefLabel "A"@en .',
      'dataset.yaml': 'source: { path: words.ttl }\nmetas: { default: { title: Words } }\n',
    },
  },
  mappings: {
    'trees.yml': `prefixes: { schema: 'http://schema.org/' }
mappings:
  tree: # one a record
    subject: portal:trees/tree/$(tree_id)
    predicateobjects:
      - [a, schema:Thing]
      - [schema:name, $(name)]
`,
    trees: { 'names.rq': '# Names of trees\nSELECT ?name WHERE { ?tree <http://schema.org/name> ?name }\n' },
  },
})
const { app, base } = await servePortal(t, { portal, now: '2026-01-02T03:04:05.678Z' })

async function get(url: string) {
  const response = await app.http.inject({ url, headers: { accept: 'text/html' } })
  const { document } = parseHTML(response.body)
  const textOf = (selector: string) => document.querySelector(selector)?.textContent ?? ''
  const links = [...document.querySelectorAll('main a[href]')].map(each => each.getAttribute('href') ?? '')
  return { status: response.statusCode, body: response.body, document, textOf, links }
}

const TREES_PAGE = '/explore/dataset/trees'

t.test('a text of a publisher keeps a few elements and is well-formed whatever went in', async t => {
  const table: readonly (readonly [string, string])[] = [
    ['plain\n\ntwo', '<p>plain</p><p>two</p>'],
    [
      'see https://e.org/a.',
      '<p>see <a href="https://e.org/a" rel="nofollow noopener">https://e.org/a</a>.</p>',
    ],
    ['<p>a<p>b', '<p>a</p><p>b</p>'],
    ['<h1>A</h1>b', '<p class="strong">A</p><p>b</p>'],
    ['<ul><li>a<li>b <b>c</ul>d', '<ul><li>a</li><li>b <strong>c</strong></li></ul><p>d</p>'],
    ['<a href="javascript:alert(1)">x</a>', '<p>x</p>'],
    ['<a href=" JAVASCRIPT:alert(1)">x</a>', '<p>x</p>'],
    ['<a href="&#106;avascript:alert(1)">x</a>', '<p>x</p>'],
    [
      `<a onclick="x" href='https://e.org/?a=1&amp;b="'>x</a>`,
      '<p><a href="https://e.org/?a=1&amp;b=&quot;" rel="nofollow noopener">x</a></p>',
    ],
    ['<img src=x onerror=alert(1)>a', '<p>a</p>'],
    ['<script>alert(1)</script><style>p{}</style><!-- c -->a', '<p>a</p>'],
    ['<p>3 < 4 &amp; &lt;i&gt;', '<p>3 &lt; 4 &amp; &lt;i&gt;</p>'],
    ['</p></ul><b>a', '<p><strong>a</strong></p>'],
    ['<p>caf&eacute; d&rsquo;&Eacute;t&eacute; &frac12; &unknown;</p>', '<p>café d’Été ½ &amp;unknown;</p>'],
    ['<pre>a  b</pre>', '<pre tabindex="0">a  b</pre>'],
    ['<scr<script>x</script>ipt>a</b>', '<p>&lt;script&gt;a</p>'],
  ]
  for (const [source, expected] of table) t.equal(richText(source).html, expected, source)
})

t.test('a text of a publisher is one line of text on cards and in descriptions of pages', t => {
  const table = [
    ['<p>See <a href="https://e.org">here</a>, <b>now</b>.</p><ul><li>a<li>b</ul>', 'See here, now. a b'],
    ['H<sub>2</sub>O<br>caf&eacute;&nbsp;&amp; &#60;b&#62;', 'H2O café & <b>'],
    ['from 3 < 4 to 5 > 4', 'from 3 < 4 to 5 > 4'],
    ['a<script>alert("<p>")</script>b<!-- c -->', 'a b'],
  ] as const
  for (const [source, expected] of table) t.equal(plainText(source), expected, source)
  t.end()
})

t.test('source texts are taken apart and lose nothing', async t => {
  const table = [
    ['yaml', "key: [a, 'it''s', $(b)~iri] # c: d\nurl: http://e.org/#x\n", 'key', 'key'],
    ['yaml', 'a: 1 # note', 'comment', '# note'],
    ['yaml', 'a: x/$(b)', 'variable', '$(b)'],
    ['turtle', '@prefix a: <http://e/> .\na:b a a:C ; a:p "x\\"<y>"@en, 1 .', 'string', '"x\\"<y>"'],
    ['sparql', 'select ?a { ?a rdf:type <x> } # e', 'keyword', 'select'],
    ['sparql', 'prefix from: <x> ask { from:a ?p 1 }', 'name', 'from:a'],
    ['json', '{ "a": "b", "c": -1.5e3, "d": null }', 'key', '"a"'],
    ['code', `curl 'https://e.org/#a' -- "b" // c`, 'string', `'https://e.org/#a'`],
  ] as const
  for (const [language, text, kind, found] of table) {
    const tokens = highlightTokens(text, language)
    t.equal(tokens.map(token => token.text).join(''), text)
    t.ok(
      tokens.some(token => token.kind === kind && token.text === found),
      `${language}: ${kind} ${found}`,
    )
  }
  t.equal(highlight('"<a>"', 'json').html, '<span class="t-string">&quot;&lt;a&gt;&quot;</span>')
})

t.test('information tells what is known and nothing empty', async t => {
  const { status, textOf, document, links } = await get(`${TREES_PAGE}/`)
  t.equal(status, 200)
  t.match(textOf('.prose'), /All trees\./)
  t.notMatch(document.querySelector('main')?.innerHTML, /alert\(1\)|onclick/)
  const metas = new Map(
    [...document.querySelectorAll('dl.metas > div')].map(row => [
      row.querySelector('dt')?.textContent,
      row.querySelector('dd')?.textContent,
    ]),
  )
  t.match(Object.fromEntries(metas), {
    Publisher: 'Town',
    Language: 'French',
    Created: 'Jan 1, 2020',
    'E-mail': 'town@example.org',
    colour: 'green',
    number: '7732-18-51',
    Identifier: 'trees',
  })
  t.notOk(metas.has('Territory'), 'an empty list is not shown')
  t.notOk([...metas.values()].some(value => (value ?? '').trim() === ''))
  const height = [...document.querySelectorAll('table.schema tbody tr')][3]
  t.same(
    [...(height?.querySelectorAll('td') ?? [])].map(cell => cell.textContent),
    ['Decimal number (m)', 'Of the tree', '212.5', '3', '25%'],
  )
  const stops = await get('/explore/dataset/stops/')
  t.equal(
    stops.textOf('table.schema tbody tr:nth-last-child(2) td:nth-of-type(3)'),
    '1998',
    'years are no days',
  )
  t.equal(document.querySelectorAll('table.samples thead th').length, 4)
  const description = document.querySelector('meta[name=description]')?.getAttribute('content')
  t.equal(description, 'All trees.', 'scripts are no text')
  t.notMatch((await get('/explore/')).textOf('.cards'), 'alert(1)')
  t.match(textOf('table.samples'), 'oak <b>tree</b>', 'a value is text')
  const attachment = links.find(link => link.includes('/attachments/')) ?? ''
  t.equal((await app.http.inject({ url: attachment })).body, 'Notes')
  const keyword = links.find(link => link.includes('keyword:green')) ?? ''
  t.match((await get(keyword)).textOf('.count'), '1 dataset')
})

t.test('texts of a dataset are marked with their language where it is not that of the page', async t => {
  const marked = async (url: string, selector: string) => {
    const { document } = await get(url)
    return [...document.querySelectorAll(selector)].map(each => each.getAttribute('lang'))
  }
  const own = 'h1, .prose, .schema tr:nth-child(4) span[lang]'
  t.same(await marked(`${TREES_PAGE}/?lang=de`, own), ['fr', 'fr', 'fr', 'fr'])
  t.same(await marked(`${TREES_PAGE}/?lang=fr`, own), [null, null])
  t.same(await marked(`${TREES_PAGE}/table/`, 'thead [lang]'), Array(6).fill('fr'))
  t.same(await marked('/explore/?q=trees', '.card :is(h2 a, p:not(.facts))'), ['fr', 'fr'])
  t.same(await marked('/explore/dataset/words/', 'h1, .prose'), [null, null], 'unknown')
})

t.test('the address of the data is shown with its protocol', async t => {
  const url = 'ftps://files.example:990/words.ttl?key=1'
  writeRemoteState(portal, 'words', { url, fetched: '2026-01-01T00:00:00.000Z', failures: 0 })
  t.match((await get('/explore/dataset/words/')).textOf('main'), 'fromftps://files.example:990/words.ttl\n')
})

t.test('a dataset without records says that, and a filter that leaves none says so', async t => {
  const text = async (url: string) => (await get(`/explore/dataset/${url}`)).textOf('.empty')
  for (const tab of ['table', 'map'])
    for (const query of ['', '?q=oak'])
      t.equal(await text(`nothing/${tab}/${query}`), 'The dataset has no records.')
  for (const tab of ['table', 'map'])
    t.match(
      await text(`trees/${tab}/?q=zzzz`),
      /^No record matches all of this\. Remove something from the filter\.$/,
    )
})

t.test('a map begins with the first field that has a position', async t => {
  const chosen = async (query: string) => {
    const { document } = await get(`/explore/dataset/stops/map/${query}`)
    return JSON.parse(document.querySelector('#map')?.getAttribute('data-map') ?? '{}').key
  }
  t.equal(await chosen(''), 'hall')
  t.equal(await chosen('?geo=entrance'), 'entrance', 'unless another is chosen')
})

t.test('conditions of an address are all met, and a fault is shown wherever it is', async t => {
  const both = await get(`${TREES_PAGE}/table/?where=tree_id=1+or+tree_id=2&where=kind="oak"`)
  t.equal(both.textOf('.count'), '1 record')
  t.match(both.textOf('#where'), /\(tree_id=1 or tree_id=2\) and \(kind=/)
  for (const query of ['order_by=nothing', 'refine=nothing:x']) {
    const { status, document } = await get(`${TREES_PAGE}/table/?${query}`)
    t.equal(status, 400, query)
    t.match(document.querySelector('details[open] .fault')?.textContent ?? '', /nothing/, query)
    t.equal(document.querySelectorAll('.fault p:not([lang=en])').length, 0, 'read aloud as English')
  }
})

t.test('values of facets are the same in addresses', t => {
  for (const value of [
    'a',
    'a b',
    ' a',
    'a ',
    '  ',
    'a  b',
    '1.5',
    '-',
    '"q"',
    "it's",
    'a\\b',
    'é',
    'l1\nl2',
  ])
    for (const facet of ['name', 'metas.x', 'na me']) {
      const [found] = readFacetValues({ refine: refinementText({ facet, value }) }, 'refine')
      t.same([found?.facet.name, found?.value], [facet, value])
    }
  t.end()
})

t.test('the pages of records stay in the language of the address', async t => {
  for (const [tab, records] of [
    ['table', ['/ld/resources/trees/tree/1', '/ld/resources/trees/tree/2']],
    ['information', [/^\/ld\/resources\/trees\/records\/\w+/]],
  ] as const) {
    const linksIn = async (query: string) =>
      (await get(`${TREES_PAGE}/${tab}/${query}`)).links.filter(link =>
        link.startsWith('/ld/resources/trees/'),
      )
    const [plain, french] = [await linksIn(''), await linksIn('?lang=fr')]
    t.match(plain, records, tab)
    t.same(
      french,
      plain.map(link => `${link}?lang=fr`),
      tab,
    )
  }
  const { document } = await get(`${TREES_PAGE}/map/?lang=fr`)
  t.match(JSON.parse(document.querySelector('#map')?.getAttribute('data-map') ?? ''), { query: '?lang=fr' })
})

t.test('a page beyond the last is the last', async t => {
  for (const query of ['page=99', 'page=1000000&order_by=title']) {
    const { textOf, document } = await get(`/explore/?${query}`)
    t.equal(document.querySelectorAll('.cards .card').length, 6, query)
    t.equal(textOf('.empty'), '')
  }
})

t.test('wide tables have fewer rows on a page', async t => {
  const first = await get('/explore/dataset/wide/table/')
  t.equal(first.document.querySelectorAll('tbody tr').length, 20)
  t.match(first.textOf('.range'), '1 to 20 of 30')
  const second = await get('/explore/dataset/wide/table/?page=2')
  t.match(second.textOf('.range'), '21 to 30 of 30')
  t.match(second.textOf('tbody tr'), /^r20r20/)
  t.ok(
    second.links.some(link => link.includes('limit=20&offset=20')),
    'and the same page as JSON',
  )
})

t.test('values with line breaks are not on one line', t => {
  const kinds = (value: string) =>
    shownColumnsOf([field('a', 'text')], [{ a: value }]).map(({ kind }) => kind)
  t.same([kinds('a b'), kinds('a\nb')], [['line'], ['text']])
  t.end()
})

t.test('moments have their zone: in the head of their column, and in full', async t => {
  const { document } = await get('/explore/dataset/stops/table/')
  const heads = [...document.querySelectorAll('table.records th[scope=col]')]
  t.equal(heads.at(-1)?.querySelector('small')?.textContent, 'UTC')
  const time = document.querySelector('table.records time[title]')
  t.match(time?.textContent, /^Feb 6, 2018, 10:50\sPM$/)
  t.equal(time?.getAttribute('title'), '2018-02-06T22:50:42+00:00')
  const units = [
    field('a', 'date'),
    field('b', 'datetime', { annotations: { timeserie_precision: ['month'] } }),
  ]
  t.same(
    shownColumnsOf(units, []).map(({ unit }) => unit),
    [null, null],
  )
})

t.test('the head of a column sorts, whatever the name of its field', async t => {
  const headers = async (url: string) => {
    const { status, document, links } = await get(url)
    t.equal(status, 200, url)
    const all = [...document.querySelectorAll('table.records th[scope=col]')]
    const csv = links.find(link => link.includes('/exports/csv')) ?? ''
    return new Map(all.map(head => [head.textContent?.replace(/ [↑↓]$/, '') ?? '', { head, csv }]))
  }
  const columns = await headers('/explore/dataset/reserved/table/')
  t.ok(columns.size >= new Set(WORDS.map(word => word.toLowerCase())).size, `${columns.size} columns`)
  for (const [name, { head }] of columns) {
    let link = head.querySelector('a')?.getAttribute('href')
    for (const sort of ['descending', 'ascending', null]) {
      const sorted = (await headers(link ?? '')).get(name)
      t.equal(sorted?.head.getAttribute('aria-sort') ?? null, sort, `${name} ${sort}`)
      t.equal((await app.http.inject({ url: sorted?.csv ?? '' })).statusCode, 200, `${name} as CSV`)
      link = sorted?.head.querySelector('a')?.getAttribute('href')
    }
  }
})

t.test('an order has its direction at its end, and may have any number of blanks', t => {
  for (const [text, by, direction] of [
    ['', '', 'asc'],
    ['height', 'height', 'asc'],
    ['height ASC', 'height', 'asc'],
    ['`a desc` \t desc', '`a desc`', 'desc'],
    ['`height desc`', '`height desc`', 'asc'],
    ['asc', 'asc', 'asc'],
  ] as const)
    t.same(orderParts(text), { by, direction }, text)
  const begun = performance.now()
  for (let column = 0; column < 20; column++) orderParts(`height${' '.repeat(15_000)}desc, title`)
  t.ok(performance.now() - begun < 1000, 'each column of a table took a third of a second')
  t.end()
})

t.test('sizes of exports have the plural of their unit', async t => {
  const { textOf } = await get('/explore/dataset/nothing/export/')
  t.match(textOf('.size'), /^about \d+ bytes$/)
})

t.test('every export that is offered comes, with the records of the filter', async t => {
  for (const [query, records] of [
    ['', 4],
    ['?refine=kind:oak&where=height%3E1', 2],
  ] as const) {
    const { textOf, document } = await get(`${TREES_PAGE}/export/${query}`)
    t.match(textOf('h2.first'), `${records} records`)
    const files = [...document.querySelectorAll('.exports a')].map(each => each.getAttribute('href') ?? '')
    const { links } = (
      await app.http.inject({ url: '/api/explore/v2.1/catalog/datasets/trees/exports' })
    ).json()
    const offered = links
      .map(({ rel }: { readonly rel: string }) => rel)
      .filter((rel: string) => rel !== 'self')
    const named = files.map(file => /exports\/(\w+)/.exec(file)?.[1] ?? file)
    t.same(named.sort(), offered.sort(), 'those of the API')
    for (const file of files) t.equal((await app.http.inject({ url: file })).statusCode, 200, file)
    const json = files.find(file => /\/json(?:\?|$)/.test(file)) ?? ''
    t.equal((await app.http.inject({ url: json })).json().length, records)
    const turtle = files.find(file => /\/turtle(?:\?|$)/.test(file)) ?? ''
    t.equal((await app.http.inject({ url: turtle })).body.split('schema:name').length - 1, records)
    t.equal(document.querySelectorAll('.exports .size').length, 14, 'each has a size')
  }
  const options = await get(`${TREES_PAGE}/export/?delimiter=,&use_labels=true&q=oak`)
  const csv = options.links.find(link => link.includes('/csv')) ?? ''
  for (const form of ['.filter', '.options']) {
    const given = [
      ...options.document.querySelectorAll(`${form} [name=delimiter], ${form} [name=use_labels]`),
    ]
    t.equal(given.length, 2, `${form} keeps the options, each once`)
  }
  t.match((await app.http.inject({ url: csv })).body, /^\uFEFFtree_id,Name,Kind,Height[^\n]*\n2,Oak,oak/)
  const words = await get('/explore/dataset/words/export/?q=zzz')
  t.equal(words.document.querySelectorAll('.exports a').length, 4, 'RDF has no tables')
  t.notMatch(words.textOf('main'), /zzz|contain the filter/, 'and no records to filter')
  t.equal(words.document.querySelector('form'), null)
})

t.test('the form of the API is the call, and the page shows its answer', async t => {
  const table = [
    ['', 4],
    ['?select=name,height&where=height%3E2&order_by=height desc&limit=1', 2],
    ['?group_by=kind&select=count(*) as n', 2],
    ['?q=oak&refine=kind:oak&exclude=name:Oak', 2],
  ] as const
  for (const [query, total] of table) {
    const { textOf, document, status } = await get(`${TREES_PAGE}/api/${query}`)
    t.equal(status, 200)
    const call = document.querySelector('#call')?.getAttribute('data-call') ?? ''
    const answer = (await app.http.inject({ url: call })).json()
    t.equal(query.includes('group_by') ? answer.results.length : answer.total_count, total, call)
    t.same(JSON.parse(textOf('.answer code')), answer)
    const snippets = [...document.querySelectorAll('.snippets code')].map(each => each.textContent ?? '')
    t.equal(snippets.length, 4)
    t.ok(
      snippets.every(snippet => snippet.includes(`${base}/api/explore/v2.1/catalog/datasets/trees/records`)),
    )
    t.equal(snippets[0], `curl '${base}${call.replaceAll("'", '%27')}'`)
  }
  const wrong = await get(`${TREES_PAGE}/api/?where=heigth%3E1`)
  t.match(wrong.textOf('#call .fault [lang=en]'), /did you mean height/)
  t.match((await get(`${TREES_PAGE}/api/?limit=1000`)).textOf('#call .fault'), /limit/)
  t.match((await get(`${TREES_PAGE}/api/?timezone=Mars`)).textOf('#call .fault'), /time zone/)
  t.match((await get(`${TREES_PAGE}/api/?refine=nothing`)).textOf('.panel > .fault'), /refine/)
  const attack = await get(`${TREES_PAGE}/api/?select=${encodeURIComponent('"><script>x</script>')}`)
  t.notMatch(attack.body, '<script>x')
})

t.test('the resource of a dataset has a title of its own', async t => {
  const title = 'Trees of the town · The dataset as a resource · Test'
  t.equal((await get('/ld/data/trees')).textOf('title'), title)
})

t.test('linked data shows vocabulary, a resource, queries and the mapping', async t => {
  const { document, links } = await get(`${TREES_PAGE}/linked-data/`)
  const [classes, properties] = document.querySelectorAll('table.terms')
  t.match(classes?.textContent, /schema:Thing\s*4/)
  t.match(properties?.textContent, /schema:name\s*4\s*4\s*4/)
  const texts = (selector: string) => [...document.querySelectorAll(selector)].map(each => each.textContent)
  t.ok(texts('.t-variable').includes('$(tree_id)'), 'the mapping has colours')
  t.ok(texts('.t-comment').includes('# one a record'))
  const resource = links.find(link => link.startsWith('/ld/resources/trees/tree/')) ?? ''
  t.equal((await app.http.inject({ url: resource })).statusCode, 303)
  const run = links.find(link => link.startsWith('/sparql/')) ?? ''
  const requested = new URL(run, base).searchParams
  t.same(requested.getAll('source'), ['trees'])
  t.match(requested.get('query'), 'schema.org/name')
  const direct = await get('/explore/dataset/reserved/linked-data/')
  t.ok(direct.links.includes('/ld/ontologies/reserved/'))
  t.notOk(direct.links.includes('/ld/resources/reserved/records/'), 'a space of names is no resource')
  t.match((await get('/explore/dataset/words/linked-data/')).textOf('main'), /skos|Concept/)
})

t.test('the page for developers names APIs that answer, and the limits', async t => {
  const { status, document, textOf, links, body } = await get('/developers/')
  t.equal(status, 200)
  t.match(textOf('main'), /1,234,567[\s\S]*765,432/)
  t.notMatch(body, 'secret')
  t.ok(document.querySelectorAll('.endpoint').length >= 8)
  for (const link of links.filter(each => each.startsWith('/') && !each.startsWith('/sparql')))
    t.ok([200, 302, 303].includes((await app.http.inject({ url: link })).statusCode), link)
})

t.test('what is restricted is hidden on every tab', async t => {
  for (const tab of ['information', 'export', 'api', 'linked-data']) {
    const { status, body } = await get(`/explore/dataset/secret/${tab}/`)
    t.equal(status, 401, tab)
    t.notMatch(body, 'Hush')
  }
})
