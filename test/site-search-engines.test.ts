import t from 'tap'
import { sitemap, sitemapPart } from '../src/portal/discovery.ts'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** What search engines and browsers are told of a portal, its datasets and its pages. */
const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Test portal\ndescription: Trees & more\nlanguages: [de, en]\n',
  data: {
    trees: {
      'trees.csv': 'id,name,planted,where\n1,Oak,1999-04-01,"48.1,11.5"\n2,Elm,2001-05-02,"1,2"\n',
      'dataset.yaml': `
source: { path: trees.csv }
fields:
  - { name: tree_id, type: int, from: id, label: Number }
  - { name: name, type: text, label: Name, annotations: { facet: [] } }
  - { name: planted, type: date, label: Planted }
  - { name: where, type: geo_point_2d, label: Position }
id: [tree_id]
metas:
  default:
    title: Trees </script> of the town
    description: <p>Every tree that stands in a street of the town, and when it was planted.</p>
    keyword: [trees, green]
    theme: [Environment]
    license: CC BY 4.0
    license_url: https://creativecommons.org/licenses/by/4.0/
    publisher: Town
    territory: [Upper Town]
    language: en
    modified: '2025-03-04T05:06:07Z'
  dcat: { creator: Office of trees }
`,
    },
    secret: {
      'a.json': '[{"a":1}]',
      'dataset.yaml':
        'source: { path: a.json }\nvisibility: restricted\nmetas: { default: { title: Trees of the secret garden } }\n',
    },
  },
})
const base = 'https://portal.example/open'
const { app } = await servePortal(t, { portal, base, now: '2026-01-02T03:04:05.678Z' })

async function get(url: string, headers: Readonly<Record<string, string>> = {}) {
  const { statusCode, headers: described, body } = await app.http.inject({ url, headers: { ...headers } })
  return { status: statusCode, type: String(described['content-type']), body }
}

/** The blocks of JSON-LD of a page; a page without any fails. */
function blocks(page: string) {
  return [...page.matchAll(/<script type="application\/ld\+json">(.*?)<\/script>/gs)].map(([, json = '']) =>
    JSON.parse(json),
  )
}

t.test('the sitemap has the pages of public datasets, with their days', async t => {
  const { status, type, body } = await get('/sitemap.xml')
  t.equal(status, 200)
  t.match(type, /^application\/xml/)
  t.match(body, `<loc>${base}/explore/dataset/trees/</loc><lastmod>2025-03-04T05:06:07Z</lastmod>`)
  t.match(body, `<loc>${base}/explore/dataset/trees/table/</loc>`)
  t.match(body, `<loc>${base}/explore/</loc>`)
  t.notMatch(body, /secret/)
  t.equal((await get('/sitemap/1.xml')).body, body)
  for (const path of ['/sitemap/2.xml', '/sitemap/0.xml', '/sitemap/1', '/sitemap/x.xml'])
    t.equal((await get(path)).status, 404, path)
  for (const [, address = ''] of body.matchAll(/<loc>([^<]*)<\/loc>/g)) {
    const { status } = await get(address.slice(base.length))
    t.equal(status, 200, address)
  }
})

t.test('a long sitemap comes in parts', async t => {
  const pages = Array.from({ length: 50_001 }, (_, at) => ({ path: `/${at}/?a&b` }))
  t.match(sitemap(pages, base), /<sitemapindex .*\/sitemap\/1\.xml.*\/sitemap\/2\.xml/s)
  t.equal(sitemapPart(pages, base, 2)?.match(/<url>/g)?.length, 1)
  t.match(sitemapPart(pages, base, 2), `<loc>${base}/50000/?a&amp;b</loc>`)
  t.equal(sitemapPart(pages, base, 3), null)
})

t.test('robots.txt closes the APIs and names the sitemap', async t => {
  const { type, body } = await get('/robots.txt')
  t.match(type, /^text\/plain/)
  t.match(body, /^Disallow: \/open\/api\/$/m)
  t.match(body, /^Disallow: \/open\/explore\/\*\?refine=$/m)
  t.match(body, /^Sitemap: https:\/\/portal\.example\/open\/sitemap\.xml$/m)
})

t.test('browsers may search with it, and get suggestions', async t => {
  const { type, body } = await get('/opensearch.xml', { 'accept-language': 'fr' })
  t.match(type, /^application\/opensearchdescription\+xml/)
  t.match(body, `<Url rel="results" type="text/html" template="${base}/explore/?q={searchTerms}"/>`)
  t.match(body, '<Description>Trees &amp; more</Description>')
  t.match(body, '<Language>fr</Language>')
  const suggested = async (q: string) => JSON.parse((await get(`/explore/suggestions?q=${q}`)).body)
  t.same(await suggested('TRE'), [
    'TRE',
    ['Trees </script> of the town'],
    ['Town'],
    [`${base}/explore/dataset/trees/`],
  ])
  t.same((await suggested('gre+tow'))[1], ['Trees </script> of the town'], 'all words, also keywords')
  for (const q of ['', 'garden', 'xyz']) t.same((await suggested(q))[1], [], `nothing for ${q}`)
})

t.test('the page of a dataset describes it as schema.org does', async t => {
  const { body } = await get('/explore/dataset/trees/')
  const [data] = blocks(body)
  t.match(data, {
    '@context': 'https://schema.org/',
    '@type': 'Dataset',
    '@id': `${base}/ld/datasets/trees`.slice(0, base.length),
    name: 'Trees </script> of the town',
    description: 'Every tree that stands in a street of the town, and when it was planted.',
    url: `${base}/explore/dataset/trees/`,
    keywords: ['trees', 'green', 'Environment'],
    license: 'https://creativecommons.org/licenses/by/4.0/',
    creator: [{ '@type': 'Organization', name: 'Office of trees' }],
    publisher: { '@type': 'Organization', name: 'Town' },
    dateModified: '2025-03-04T05:06:07Z',
    temporalCoverage: '1999-04-01/2001-05-02',
    spatialCoverage: [{ '@type': 'Place', name: 'Upper Town' }],
    isAccessibleForFree: true,
    includedInDataCatalog: { '@type': 'DataCatalog', name: 'Test portal' },
  })
  const csv = data.distribution.find((each: { name: string }) => each.name === 'trees.csv')
  t.match(csv, { '@type': 'DataDownload', encodingFormat: 'text/csv' })
  for (const { contentUrl } of data.distribution) {
    const { status } = await get(contentUrl.slice(base.length))
    t.equal(status, 200, contentUrl)
  }
  t.same(blocks((await get('/explore/dataset/trees/table/')).body), [], 'once, on its first page')
})

t.test('the first page describes the catalog, without what is not public', async t => {
  const { body } = await get('/')
  const [data] = blocks(body)
  const catalog = data['@graph'].find((node: { '@type': string }) => node['@type'] === 'DataCatalog')
  t.equal(catalog.name, 'Test portal')
  t.same(
    catalog.dataset.map(({ name }: { name: string }) => name),
    ['Trees </script> of the town'],
  )
  t.notMatch(body, /secret/)
})

t.test('a page has one address, and one in each language', async t => {
  const heads: readonly (readonly [string, string])[] = [
    ['/', '/'],
    ['/explore', '/explore/'],
    ['/explore/?q=trees&page=2', '/explore/'],
    ['/explore/?lang=fr&q=x', '/explore/?lang=fr'],
    ['/explore/dataset/trees', '/explore/dataset/trees/'],
    ['/explore/dataset/trees/information/', '/explore/dataset/trees/'],
    ['/explore/dataset/trees/table?refine=name:Oak', '/explore/dataset/trees/table/'],
  ]
  for (const [url, path] of heads) {
    const { body } = await get(url)
    t.match(body, `<link rel="canonical" href="${base}${path}">`, url)
    t.match(body, `<meta property="og:url" content="${base}${path}">`, url)
    const [bare] = path.split('?')
    t.equal(body.match(/<link rel="alternate" hreflang=/g)?.length, 12, `${url}: languages`)
    t.match(body, `<link rel="alternate" hreflang="ar" href="${base}${bare}?lang=ar">`, url)
    t.match(body, `<link rel="alternate" hreflang="x-default" href="${base}${bare}">`, url)
  }
})

t.test('the language is that of the address, of the browser, of the portal', async t => {
  const languageOf = async (url: string, headers = {}) =>
    /<html lang="(\w+)" dir="(\w+)">/
      .exec((await get(url, headers)).body)
      ?.slice(1)
      .join(' ')
  t.equal(await languageOf('/explore/'), 'de ltr')
  t.equal(await languageOf('/explore/', { 'accept-language': 'tlh, sv;q=0.8, en;q=0.9' }), 'en ltr')
  t.equal(await languageOf('/explore/?lang=ar', { 'accept-language': 'en' }), 'ar rtl')
  const { body } = await get('/explore/?lang=sv&q=trees')
  t.match(body, '<input type="hidden" name="lang" value="sv">', 'forms keep it')
  t.match(body, /href="\/open\/explore\/dataset\/trees\/\?lang=sv"/, 'links keep it')
  t.match(body, /href="\/open\/explore\/\?q=trees&amp;lang=it"/, 'other languages keep the page')
  const languages = [...body.matchAll(/<li>(?:<a|<span)[^>]*lang="(\w\w)"/g)].map(([, code]) => code)
  t.same(languages.slice(0, 3), ['de', 'en', 'fr'], 'those of the portal first')
})

t.test('what is not there is a page for browsers and JSON for programs', async t => {
  const page = await get('/nothing/here?lang=fr', { accept: 'text/html,*/*;q=0.8' })
  t.equal(page.status, 404)
  t.match(page.type, /^text\/html/)
  t.match(page.body, /<html lang="fr"/)
  t.match(page.body, /<h1>Introuvable<\/h1>\n<p>Il n’y a pas de page à cette adresse\./)
  t.match(page.body, '<meta name="robots" content="noindex">')
  t.notMatch(page.body, /rel="canonical"/)
  const json = await get('/nothing/here')
  t.equal(json.status, 404)
  t.equal(JSON.parse(json.body).error_code, 'NotFoundResource')
})

t.test('the catalog begins with what is used most, and its feed is in the head', async t => {
  const { body } = await get('/explore/?lang=en')
  t.match(body, /aria-current="true">Best known/)
  t.match(body, /<link rel="alternate" type="application\/rss\+xml"/)
  t.match(body, /order_by=explore\.popularity_score\+desc/, 'the API has the same order')
  t.match(body, />English<\/span> <data value="1">/, 'languages by their names')
  t.match((await get('/explore/?lang=en&q=nothinghasthis')).body, /No dataset matches all of this/)
  const faulty = await get('/explore/?lang=en&order_by=nothing')
  t.equal(faulty.status, 400)
  t.notMatch(faulty.body, /0 datasets|No dataset/, 'a list that cannot be read is not an empty one')
})
