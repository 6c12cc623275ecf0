import { Parser, type Quad } from 'n3'
import t from 'tap'
import { HYDRA, RDFS, VOID } from '../src/rdf/vocab.ts'
import { HIDDEN, makePeople, serveLogged } from './support/access.ts'
import { temporaryFolder } from './support/folder.ts'
import { BASE, publishPortal } from './support/portal.ts'

/** "Linked from": all datasets that the caller may see, with exact counts, by dataset and property, in pages. */
const FRANCE = `${BASE}/ld/resources/world/country/fr`
const URL = '/ld/data/world/country/fr'
const LINKS = {
  world: [['partOf', 3]],
  cities: [
    ['in', 250],
    ['capitalOf', 5],
  ],
  people: [],
  [HIDDEN]: [['zyzzyIn', 40]],
} as const
const PUBLIC = 258

function triples(dataset: keyof typeof LINKS): string {
  const lines = LINKS[dataset].flatMap(([property, count]) =>
    Array.from({ length: count }, (_, at) => {
      const subject = `<http://${dataset}.example/${property}/${at}>`
      return `${subject} <http://x.example/${property}> <${FRANCE}> .\n${subject} <${RDFS.label}> "${property} no. ${at}" .\n`
    }),
  )
  return `<http://${dataset}.example/> <${RDFS.label}> "${dataset}" .\n${lines.join('')}${
    dataset === 'world' ? `<${FRANCE}> <${RDFS.label}> "France" .\n` : ''
  }`
}

async function portal(t: Parameters<typeof serveLogged>[0]) {
  const files = Object.fromEntries(
    (Object.keys(LINKS) as (keyof typeof LINKS)[]).map(id => [
      id,
      {
        'dataset.yaml': `source: { path: data.nt }\nmetas: { default: { title: The ${id} } }\nvisibility: ${id === HIDDEN ? 'restricted' : 'public'}\n`,
        'data.nt': triples(id),
      },
    ]),
  )
  const folder = temporaryFolder(t, { 'portal.yaml': 'title: Test\naddress_tokens: allowed\n', data: files })
  await publishPortal(folder)
  const { accounts, secrets } = await makePeople(folder)
  t.teardown(() => accounts.close())
  const { http } = await serveLogged(t, folder, { log: 'silent' })
  const get = (url: string, key?: string) =>
    http.inject({ url, headers: key === undefined ? {} : { authorization: `Apikey ${key}` } })
  return { get, secrets }
}

const parse = (text: string) => new Parser({ format: 'N-Triples' }).parse(text)
const linksIn = (quads: readonly Quad[]) =>
  quads.filter(
    ({ object, predicate }) => object.value === FRANCE && predicate.value.startsWith('http://x.example/'),
  )
const objectsOf = (quads: readonly Quad[], predicate: string) =>
  quads.filter(quad => quad.predicate.value === predicate).map(({ object }) => object.value)

t.test('links of all visible datasets are counted, by dataset and property, and paged', async t => {
  const { get, secrets } = await portal(t)
  const whole = parse((await get(`${URL}.nt`)).body)
  t.equal(linksIn(whole).length, 100, 'a document has a page of them')
  t.strictSame(objectsOf(whole, HYDRA.totalItems), [String(PUBLIC)], 'and the number of all')
  t.ok(objectsOf(whole, RDFS.seeAlso).includes(`${BASE}${URL}?inverse=2`), 'and the address of the rest')
  const sets = objectsOf(whole, VOID.linkPredicate).map((predicate, at) => [
    objectsOf(whole, VOID.subjectsTarget)[at]?.replace(/.*\//, ''),
    predicate.replace(/.*\//, ''),
    objectsOf(whole, VOID.triples)[at],
  ])
  t.strictSame(sets, [
    ['world', 'partOf', '3'],
    ['cities', 'in', '250'],
    ['cities', 'capitalOf', '5'],
  ])
  const found = new Set<string>()
  for (const [page, length] of [
    [1, 100],
    [2, 100],
    [3, 58],
    [4, 0],
  ] as const) {
    const links = linksIn(parse((await get(`${URL}.nt?inverse=${page}`)).body))
    t.equal(links.length, length, `page ${page}`)
    for (const { subject, predicate } of links) found.add(`${subject.value} ${predicate.value}`)
  }
  t.equal(found.size, PUBLIC, 'each link is on one page')
  const set = whole.find(({ predicate, object }) => predicate.value === VOID.triples && object.value === '5')
  const some = parse((await get(String(set?.subject.value).replace(BASE, '').replace('?', '.nt?'))).body)
  t.equal(linksIn(some).length, 5, 'the address of a set leads to its links')
  t.strictSame(objectsOf(some, HYDRA.totalItems), ['5'])
  const fromCities = parse((await get(`${URL}.nt?from=cities`)).body)
  t.strictSame(objectsOf(fromCities, HYDRA.totalItems), ['255'], 'of one dataset')
  t.ok(
    whole.some(({ predicate, object }) => predicate.value === RDFS.label && object.value === 'in no. 7'),
    'resources that others name have their names',
  )

  const page = (await get(`${URL}.html`)).body
  t.match(page, new RegExp(`Linked from <span class="number-badge">${PUBLIC}<`))
  t.match(
    page,
    /rowgroup[^>]*><a [^>]*>The cities<\/a> <a class="number-badge" href="[^"]*inverse=1&amp;from=cities">255</,
  )
  t.match(page, /inverse=1&amp;predicate=[^"]*%2Fin&amp;from=cities">All 250</)
  t.notMatch(page, 'The people', 'datasets without links are not listed')
  const second = (await get(`${URL}.html?inverse=2&from=cities`)).body
  t.match(second, /rel="next"[^>]*inverse=3&amp;from=cities"/)
  t.equal((await get(`${URL}?from=`)).statusCode, 400)
  t.equal((await get(`${URL}?from=${'a'.repeat(201)}`)).statusCode, 400)

  t.test('restricted datasets show to those alone who may see them', async t => {
    const urls = [
      '.nt',
      '.nt?inverse=3',
      '.html',
      '.html?inverse=1',
      '.nt?predicate=http://x.example/zyzzyIn',
    ]
    const before = await Promise.all(urls.map(url => get(URL + url)))
    for (const url of urls) await get(URL + url, secrets.someKey)
    const more = await get(`${URL}.nt`, secrets.someKey)
    t.strictSame(objectsOf(parse(more.body), HYDRA.totalItems), [String(PUBLIC + 40)])
    t.match(more.headers['cache-control'], 'private')
    t.match((await get(`${URL}.html`, secrets.someKey)).body, `The ${HIDDEN}`)
    for (const [at, url] of urls.entries()) {
      const again = await get(URL + url)
      t.equal(again.body, before[at]?.body, `${url} is the same after somebody saw more`)
      t.equal(again.headers.etag, before[at]?.headers.etag)
      t.match(String(again.headers.vary), /Authorization.*Cookie|Cookie.*Authorization/)
      t.not(again.headers.etag, (await get(URL + url, secrets.someKey)).headers.etag)
      for (const body of [again.body, (await get(URL + url, secrets.noneKey)).body])
        t.notMatch(body.replaceAll('predicate=http%3A%2F%2Fx.example%2FzyzzyIn', ''), /xkid|zyzzy|298/i, url)
    }
    const none = await get(`${URL}.nt`, secrets.noneKey)
    t.equal(none.body, before[0]?.body, 'without a grant nothing more is seen')
    const nothing = (id: string, key?: string) =>
      get(`${URL}.nt?from=${id}`, key).then(({ body }) => body.replaceAll(id, ''))
    t.equal(await nothing(HIDDEN), await nothing('nosuch'), 'a hidden dataset is as one that there is not')
    t.equal(await nothing(HIDDEN, secrets.noneKey), await nothing('nosuch', secrets.noneKey))
  })
})
