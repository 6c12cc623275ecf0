import { parseHTML } from 'linkedom'
import t from 'tap'
import { servePortal } from './support/portal.ts'

/** The values of facets on pages: a few beside the list, and all of them, without scripts. */
const VALUES = 246
const rows = Array.from({ length: VALUES }, (_, n) => `C${n},${n < 50 ? 'few' : 'more'},Été ${n}`)
const keyword = Array.from({ length: 150 }, (_, n) => `word ${n}`)
// The emoji has two code units, of which the first is the 159th of the text.
const LONG = `${'x'.repeat(158)}😀${'y'.repeat(2000)}`
const LONG_YAML = `source: { path: long.csv }
fields:
  - { name: name, type: text, annotations: { facet: [] } }
  - { name: n, type: double, annotations: { facet: false, disjunctive: false, decimals: 200 } }
`
const { app } = await servePortal(t, {
  portal: {
    'portal.yaml': 'title: Test\n',
    data: {
      long: { 'long.csv': `name,n\n${LONG},1\n${LONG},2\n`, 'dataset.yaml': LONG_YAML },
      places: {
        'places.csv': `code,size,name\n${[...rows, rows[0]].join('\n')}\n`,
        'dataset.yaml': `
source: { path: places.csv }
fields:
  - { name: code, type: text, label: Country, annotations: { facet: [] } }
  - { name: size, type: text, label: Size, annotations: { facet: [] } }
  - { name: name, type: text, annotations: { facet: [] } }
metas: { default: { title: Places, keyword: ${JSON.stringify(keyword)} } }
`,
      },
    },
  },
})
const TABLE = '/explore/dataset/places/table/'

async function open(url: string) {
  const response = await app.http.inject({ url, headers: { accept: 'text/html' } })
  t.equal(response.statusCode, 200, url)
  const { document } = parseHTML(response.body)
  const all = (selector: string) => [...document.querySelectorAll(selector)]
  const texts = (selector: string) => all(selector).map(({ textContent }) => textContent)
  const link = (selector: string, text: string) =>
    all(selector)
      .find(each => each.textContent?.startsWith(text))
      ?.getAttribute('href') ?? ''
  return { all, texts, link }
}

t.test('a flag that is false is none, and decimals that cannot be shown are not asked for', async t => {
  const { texts } = await open('/explore/dataset/long/table/')
  t.same(texts('table.records td:last-child'), ['1', '2'])
  const { fields } = (await app.http.inject('/api/explore/v2.1/catalog/datasets/long')).json()
  t.strictSame(fields[1].annotations, { decimals: 200 })
  const { facets } = (await app.http.inject('/api/explore/v2.1/catalog/datasets/long/facets')).json()
  t.equal(facets.length, 1)
})

t.test('a facet with many values leads to all of them', async t => {
  const table = await open(`${TABLE}?refine=size:more`)
  t.equal(table.texts('.facets details').length, 0, 'no list that ends early')
  const first = await open(table.link('.facets a', 'All values'))
  t.same(first.texts('.all-values [role=status]'), ['196 values'], 'of the selected records')
  const all = await open(`${TABLE}?values=code`)
  t.same(all.texts('.all-values [role=status]'), [`${VALUES} values`])
  t.equal(all.texts('.all-values li [value]').length, 200)
  t.equal(all.texts('.records').length, 0, 'in place of the records')
  const second = await open(all.link('.pager a', 'Next'))
  t.equal(second.texts('.all-values li [value]').length, VALUES - 200)
  const chosen = await open(second.link('.all-values li a', 'C99'))
  t.same(chosen.texts('.count'), ['1 record'])
  t.equal(chosen.texts('.all-values').length, 0)
  t.match(all.link('.all-values a', 'Close'), /table\/$/)
})

t.test('values are found by words, whatever the case and the accents', async t => {
  for (const [words, count] of [
    ['ete 24', '7 values'],
    ['ÉTÉ 245', '1 value'],
    ['zzz', '0 values'],
  ] as const) {
    const { texts } = await open(`${TABLE}?values=name&values_q=${encodeURIComponent(words)}`)
    t.same(texts('.all-values [role=status]'), [count], words)
  }
  const { all } = await open(`${TABLE}?values=name&refine=size:few&lang=en`)
  const hidden = all('.all-values input[type=hidden]').map(
    each => `${each.getAttribute('name')}=${each.getAttribute('value')}`,
  )
  t.same(hidden, ['refine=size:few', 'values=name', 'lang=en'], 'the form keeps the selection')
})

t.test('few values open in place, and unknown parameters change nothing', async t => {
  const table = await open(`${TABLE}?values=nothing&values_page=x`)
  t.equal(table.texts('.records').length, 1)
  t.same(
    await open(`${TABLE}?values=code&values_page=99`).then(({ texts }) => texts('.pager [aria-current]')),
    ['2'],
  )
  const few = await open(`${TABLE}?refine=size:few&values=`)
  t.same(few.texts('.facets summary').slice(0, 1), ['42 more'])
})

t.test('long values are shown as far as they fit', async t => {
  const { all } = await open(`/explore/dataset/long/table/?refine=name:"${LONG}"`)
  const shown = [...all('.facets li a span span'), ...all('.chips span span')].map(each => each.textContent)
  t.same(
    shown,
    Array(2)
      .fill(`${LONG.slice(0, 158)}…`)
      .with(1, `name: ${LONG.slice(0, 153)}…`),
  )
  const chart = await open('/explore/dataset/long/analyze/?x=name')
  t.same(chart.texts('.figures-table tbody th'), [`${LONG.slice(0, 158)}…`])
})

t.test('a chart stays when its filter is cleared', async t => {
  const chart = await open('/explore/dataset/long/analyze/?x=name&kind=line&q=a&where=name+is+not+null')
  t.equal(chart.link('.chips a', 'Clear all'), '/explore/dataset/long/analyze/?x=name&kind=line')
})

t.test('the catalog, too', async t => {
  const catalog = await open('/explore/')
  const all = await open(catalog.link('.facets a', 'All values'))
  t.same(all.texts('.all-values [role=status]'), ['150 values'])
  const chosen = await open(all.link('.all-values li a', 'word 149'))
  t.same(chosen.texts('.cards li').length, 1)
})

t.test('the keyboard gets past the facets', async t => {
  for (const url of [TABLE, '/explore/']) {
    const { all } = await open(url)
    const [skip] = all('.facets a')
    t.equal(skip?.textContent, 'Skip the filters')
    t.equal(all(`${skip?.getAttribute('href')}.panel`).length, 1, url)
  }
})
