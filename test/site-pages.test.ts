import fastify from 'fastify'
import t, { type Test } from 'tap'
import { fragments } from '../src/api/fragments/routes.ts'
import { cutRing } from '../src/api/resources/coastline.ts'
import { preferredName } from '../src/api/resources/dataset.ts'
import { fitted, type Neighbour, neighbourhoodPicture } from '../src/api/resources/neighbours.ts'
import { literalHtml, termName } from '../src/api/resources/values.ts'
import { addHooks } from '../src/app/hooks.ts'
import { AnswerCache } from '../src/http/conditional.ts'
import { Quotas, quotaLimits } from '../src/http/daily-quota.ts'
import { parseQueryString } from '../src/http/query-string.ts'
import { ANONYMOUS, type Principal } from '../src/model/principal.ts'
import { GEO, XSD } from '../src/rdf/vocab.ts'
import { pageContextOf } from '../src/site/page-context.ts'
import { accountServer, Browser, PASSWORD } from './support/account-server.ts'
import { testStore } from './support/test-store.ts'

/** Pages of rooms that programs ask as well: what people see of them, and who may be shown which copy. */

const SITE = { base: 'https://portal.test/data', title: 'Portal <1>', description: '', languages: ['en'] }

const pageContext = (lang = 'en', address = `/x?lang=${lang}`) =>
  pageContextOf(
    { query: { lang }, headers: {}, principal: ANONYMOUS, url: address, raw: { url: address } as never },
    SITE,
  )

t.test('values are written for people, and say what they are', async t => {
  const rows: readonly (readonly [value: string, datatype: string, name: string, lang: string, RegExp])[] = [
    [
      '1234567',
      XSD.integer,
      'population',
      'en',
      /<data value="1234567">1,234,567<\/data> <small title="[^"]*#integer">/,
    ],
    ['1234567', XSD.integer, 'population', 'de', />1\.234\.567</],
    ['1998', XSD.integer, 'year', 'en', />1998</],
    ['1998', XSD.integer, 'release_year', 'en', />1998</],
    ['1998', XSD.integer, 'paid', 'en', />1,998</],
    ['0.5', XSD.double, 'share', 'fr', />0,5</],
    ['INF', XSD.double, 'share', 'en', />INF</],
    ['12345678901234567890', XSD.integer, 'n', 'en', />12345678901234567890</],
    ['2024-03-05', XSD.date, 'day', 'en', /<time datetime="2024-03-05">Mar 5, 2024<\/time>/],
    ['2024-03-05T23:30:00', XSD.dateTime, 'at', 'en', /Mar 5, 2024, 11:30\sPM/],
    ['2024-03-05T23:30:00-02:00', XSD.dateTime, 'at', 'en', /Mar 6, 2024, 01:30\sAM/],
    ['no date', XSD.date, 'day', 'en', />no date</],
    ['true', XSD.boolean, 'is', 'en', />yes</],
    ['0', XSD.boolean, 'is', 'en', />no</],
    ['POINT(6.5 -49.25)', GEO.wktLiteral, 'at', 'en', /title="POINT\(6.5 -49.25\)">-49\.25°, 6\.5°</],
    ['LINESTRING(0 0, 1 1)', GEO.wktLiteral, 'at', 'en', />LINESTRING\(0 0, 1 1\)</],
    ['<b>', 'http://x/kind', 'at', 'en', /&lt;b&gt;<\/span> <small title="http:\/\/x\/kind">kind</],
    ['javascript:1', XSD.string, 'at', 'en', /^<span class="text" dir="auto">javascript:1<\/span>$/],
    ['https://x.example/', XSD.string, 'at', 'en', /<a href="https:\/\/x\.example\/" rel="nofollow">/],
  ]
  for (const [value, datatype, name, lang, expected] of rows)
    t.match(
      literalHtml({ type: 'literal', value, datatype, language: '' }, name, pageContext(lang)).html,
      expected,
      value,
    )
  const long = literalHtml(
    { type: 'literal', value: 'x'.repeat(500), datatype: XSD.string, language: '' },
    '',
    pageContext(),
  )
  t.match(long.html, /<details><summary class="text">x{160}… <small>500 characters<\/small>/)
})

t.test('names are those of the language of the visit', async t => {
  const names = ['de', '', 'en', 'fr-CA'].map(language => ({
    type: 'literal' as const,
    value: language,
    datatype: XSD.string,
    language,
  }))
  for (const [language, expected] of [
    ['de', 'de'],
    ['fr', 'fr-CA'],
    ['sv', ''],
    ['en', 'en'],
  ] as const)
    t.equal(preferredName(names, language), expected, language)
  t.equal(preferredName(names.slice(0, 1), 'fr'), 'de', 'any is better than none')
  for (const [iri, expected] of [
    ['http://schema.org/alternateName', 'alternate name'],
    ['http://x/top_level', 'top level'],
    ['http://www.wikidata.org/prop/direct/P297', 'ISO 3166-1 alpha-2 code'],
    ['http://x/asWKT2', 'asWKT2'],
  ] as const)
    t.equal(termName(iri), expected)
})

t.test('the picture of a neighbourhood', async t => {
  const neighbour = (label: string): Neighbour => ({
    address: `/ld/data/x/${label.length}`,
    label,
    via: 'part <of>',
  })
  const around = { label: 'Middle', moreIncoming: 0, outgoing: [], moreOutgoing: 0, incoming: [] }
  t.equal(neighbourhoodPicture(pageContext(), around), '', 'nothing is drawn around nothing')
  const { html } = neighbourhoodPicture(pageContext(), {
    ...around,
    incoming: [neighbour('<script>'), neighbour('北'.repeat(40))],
    moreIncoming: 12,
    outgoing: [neighbour('M'.repeat(60))],
  }) as { readonly html: string }
  t.equal(html.match(/<a href="\/ld/g)?.length, 3)
  t.equal(html.match(/class="head"/g)?.length, 3, 'every link has an end')
  t.match(html, '&lt;script&gt;')
  t.match(html, 'part &lt;of&gt;')
  t.match(html, '>12 more<')
  t.notMatch(html, /style=|NaN/)
  t.ok([...fitted('北'.repeat(40), 36)].length <= 19, 'wide letters are cut sooner')
  t.equal(fitted('short  text', 36), 'short text')
})

t.test('land is cut at the edges of a map', async t => {
  const box = { west: 0, south: 0, east: 10, north: 10 }
  const inside = (ring: readonly (readonly [number, number])[]) =>
    ring.every(([lon, lat]) => lon >= 0 && lon <= 10 && lat >= 0 && lat <= 10)
  const around = cutRing(
    [
      [-50, -50],
      [50, -50],
      [50, 50],
      [-50, 50],
    ],
    box,
  )
  t.equal(around.length, 4, 'land all around is the whole map')
  t.ok(inside(around))
  const corner = cutRing(
    [
      [5, 5],
      [20, 5],
      [20, 20],
      [5, 20],
    ],
    box,
  )
  t.strictSame(new Set(corner.map(String)), new Set(['5,5', '10,5', '10,10', '5,10']))
  t.equal(
    cutRing(
      [
        [20, 20],
        [30, 20],
        [30, 30],
      ],
      box,
    ).length,
    0,
  )
})

async function fragmentServer(t: Test) {
  const offered: string[] = []
  const store = await testStore(t, { 'urn:x': '<http://x/s> <http://x/p> "1" .\n' })
  const http = fastify({ routerOptions: { ignoreTrailingSlash: true, querystringParser: parseQueryString } })
  http.addHook('onRequest', async request => {
    const name = request.headers['x-user']
    if (typeof name === 'string') request.principal = { type: 'user', name } as Principal
  })
  const dataset = { id: 'd', title: 'D', description: null, version: 'v1', graph: 'urn:x' }
  await http.register(fragments, {
    answers: new AnswerCache(1e6),
    ...SITE,
    pageSize: 10,
    store,
    dataset: () => dataset,
    datasets: () => ({ version: 'v1', entries: [{ ...dataset, triples: 1 }] }),
    cache: { cacheable: (_, body) => offered.push(body) },
  })
  t.teardown(() => http.close())
  return { http, offered }
}

t.test('nobody is given the page of another language, person or address', async t => {
  const { http, offered } = await fragmentServer(t)
  const tags = new Set<string>()
  const rows: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
    ['/api/tpf/d', {}, /<html lang="en" dir="ltr">[\s\S]*Sign in/],
    [
      '/api/tpf/d',
      { 'accept-language': 'ar' },
      /<html lang="ar" dir="rtl">[\s\S]*placeholder="\?object"[^>]* dir="ltr"/,
    ],
    ['/api/tpf/d', { 'x-user': 'ada' }, /<a class="account"[^>]*>ada<\/a>/],
    ['/api/tpf/d', { 'x-user': 'eve' }, /<a class="account"[^>]*>eve<\/a>/],
    ['/api/tpf/d?page=1', {}, /next=/],
    ['/api/tpf', {}, /<html lang="en" dir="ltr">/],
    ['/api/tpf', { 'x-user': 'ada' }, /<a class="account"[^>]*>ada<\/a>/],
  ]
  for (const round of ['first', 'again'])
    for (const [url, headers, expected] of rows) {
      const answer = await http.inject({ url, headers: { ...headers, accept: 'text/html' } })
      const name = `${round}: ${url} ${JSON.stringify(headers)}`
      t.match(answer.body, expected, name)
      for (const part of ['Accept', 'Accept-Language', 'Cookie'])
        t.ok(String(answer.headers.vary).split(', ').includes(part), `${name} varies by ${part}`)
      t.match(answer.headers['cache-control'], 'no-cache', name)
      tags.add(String(answer.headers.etag))
      const known = { ...headers, accept: 'text/html', 'if-none-match': String(answer.headers.etag) }
      t.equal((await http.inject({ url, headers: known })).statusCode, 304, name)
    }
  t.equal(tags.size, rows.length, 'a tag for each')
  t.strictSame(offered, [], 'no page is kept for others')
  const data = { url: '/api/tpf/d', headers: { accept: 'application/n-quads' } }
  const { headers } = await http.inject(data)
  t.equal(headers.vary, 'Accept-Encoding, Accept')
  await http.inject(data)
  t.equal(offered.length, 1, 'data are')
  const wrong = (accept: string) =>
    http.inject({ url: '/api/tpf/d?page=x', headers: { accept, 'accept-language': 'fr' } })
  const page = await wrong('text/html,application/xhtml+xml,*/*;q=0.8')
  t.match(
    [page.statusCode, page.body],
    [400, /<html lang="fr"[\s\S]*<h1>[\s\S]*class="button/],
    'an error is a page, too',
  )
  const problem = await wrong('application/n-quads, */*;q=0.5')
  t.match([problem.statusCode, problem.json()], [400, { status: 400 }], 'and a problem for programs')
  for (const { headers } of [page, problem]) t.match(headers.vary, /^Accept\b/)
})

t.test('who may not see something is shown where to sign in', async t => {
  const http = fastify({ routerOptions: { querystringParser: parseQueryString } })
  t.teardown(() => http.close())
  const quotas = new Quotas({ limits: quotaLimits(), now: () => 0, counts: null, secret: Buffer.alloc(32) })
  addHooks(http, { isPrivate: true, authenticate: () => ANONYMOUS, quotas, address: () => '', site: SITE })
  http.get('/explore/', async () => 'secret')
  const config = { endpoint: 'account', access: 'signIn' } as const
  http.get('/account/openid/callback', { config }, async (_, reply) => reply.code(401).send('not let in'))
  const requested = (url: string, headers: Readonly<Record<string, string>>) => http.inject({ url, headers })
  const page = await requested('/explore/?q=a+b&api_key=hidden', {
    accept: 'text/html',
    'accept-language': 'fr',
  })
  t.equal(page.statusCode, 401)
  t.match(page.body, '<html lang="fr"')
  t.match(page.body, '/data/account/login/?next=/data/explore/%3Fq%3Da%2Bb')
  t.match(page.body, '/data/assets/site.')
  for (const word of ['hidden"', '=hidden', 'api_key', 'redacted']) t.notMatch(page.body, word)
  t.match(page.headers, {
    vary: /Cookie/,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': /style-src 'self'.*form-action 'self'/,
  })
  const failed = await requested('/account/openid/callback?error=access_denied', { accept: 'text/html' })
  t.match(failed, { statusCode: 401, body: /^not let in$/ }, 'pages of signing in say what failed themselves')
  for (const [query, isSignIn] of [
    ['apikey=wrong', false],
    ['access_token=wrong', false],
    ['apikey=', true],
  ] as const) {
    const { body } = await requested(`/explore/?${query}`, { accept: 'text/html' })
    t.equal(
      body.includes('<html'),
      isSignIn,
      `${query}: signing in does not help where a credential is wrong`,
    )
  }
  const data = await requested('/explore/', { accept: 'application/json' })
  t.equal(data.statusCode, 401)
  t.notMatch(data.body, '<html')
})

t.test('pages of accounts speak the language of the person, and run nothing', async t => {
  const { http, accounts, close } = await accountServer()
  t.teardown(close)
  await accounts.users.add('ada', PASSWORD)
  const browser = new Browser(http, { 'accept-language': 'ar;q=0.8, nl;q=0.1' })
  const login = await browser.get('/account/login/')
  t.match(login.body, '<html lang="ar" dir="rtl">')
  t.equal(login.headers['content-language'], 'ar')
  t.equal((await browser.logIn('ada')).statusCode, 303)
  const page = await browser.get('/account/my-api-keys/')
  t.match(page.body, /<a href="\/account\/my-api-keys\/" aria-current="page">/)
  t.notMatch(page.body, '<script')
  t.match(page.body, /hreflang="fr"/)
  const missing = await browser.post('/account/my-api-keys/', {})
  t.equal(missing.statusCode, 403)
  t.match(missing.body, '<html lang="ar" dir="rtl">')
})
