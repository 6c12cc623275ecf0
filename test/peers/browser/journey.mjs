import path from 'node:path'
import { watchPage } from './browser.mjs'

/**
 * The visit of somebody who looks for cities, takes some away, and learns how a program would.
 *
 * @param hasScripts without, all that needs scripts is left out: map and playground
 * @param least how many cities there are at least
 * @param tell is told each step when it was taken
 * @returns what was seen, and what is wrong, each as one line
 */
export async function visit(browser, base, { hasScripts, folder, least = 100_000, tell = () => {} }) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    javaScriptEnabled: hasScripts,
    permissions: ['clipboard-read', 'clipboard-write'],
    acceptDownloads: true,
    locale: 'en-GB',
  })
  context.setDefaultTimeout(15_000)
  const page = await context.newPage()
  const wrong = watchPage(page, base)
  const seen = []
  const mode = hasScripts ? 'scripts' : 'plain'
  const steps = [
    findDataset,
    chooseCountry,
    sortByPopulation,
    ...(hasScripts ? [seeMap] : []),
    seeChart,
    exportRecords,
    copyCall,
    openCity,
    followBacklink,
    ...(hasScripts ? [runExample] : [askEndpoint]),
  ]
  const state = { base, page, hasScripts, least, count: 0, city: '', table: '' }
  for (const step of steps) {
    const begin = performance.now()
    try {
      const told = await step(state)
      seen.push(`${step.name}: ${told} (${Math.round(performance.now() - begin)} ms)`)
      tell(seen.at(-1))
    } catch (error) {
      wrong.push(`${step.name} at ${page.url()}: ${String(error.message).split('\n')[0]}`)
      tell(wrong.at(-1))
      await page.screenshot({ path: path.join(folder, `stopped-${mode}-${step.name}.png`) }).catch(() => {})
    }
  }
  await context.close()
  return { seen, wrong: wrong.map(text => `visit (${mode}): ${text}`), city: state.city }
}

/** Home, the search, the dataset, its table. */
async function findDataset(state) {
  const { page, base, least } = state
  await page.goto(`${base}/`)
  await page.fill('main input[type=search]', 'cities')
  await page.press('main input[type=search]', 'Enter')
  await page.waitForURL(/\/explore\/\?q=cities/)
  await page.locator('main .card a', { hasText: 'Cities' }).first().click()
  await page.waitForURL(/\/explore\/dataset\/cities\//)
  await openTab(page, 'table')
  state.count = await countShown(page)
  expect(state.count >= least, `${state.count} cities are shown`)
  return `${state.count} records`
}

/** The facet of countries. */
async function chooseCountry(state) {
  const { page } = state
  const all = state.count
  const link = page.locator('.facets a[href*="country_code"]', { hasText: /^\s*(?:DE|Germany)\b/ }).first()
  // With scripts off, what is folded opens all the same: `details` needs none.
  const fold = link.locator('xpath=ancestor::details')
  for (let at = 0; at < (await fold.count()); at++)
    if ((await fold.nth(at).getAttribute('open')) === null)
      await fold.nth(at).locator('summary').first().click()
  const told = wholeNumber(await link.locator('data').textContent())
  await link.click()
  await page.waitForURL(/country_code/)
  state.count = await countShown(page)
  expect(state.count < all, 'the facet did not filter')
  expect(state.count === told, `the facet says ${told}, the page ${state.count}`)
  return `${state.count} records`
}

async function sortByPopulation(state) {
  const { page } = state
  await page.locator('th a', { hasText: 'Population' }).first().click()
  await page.waitForURL(/order_by=/)
  const cells = page.locator('tbody tr td.number data')
  const values = await cells.evaluateAll(all => all.map(({ value }) => Number(value)))
  const populations = values.filter(Number.isFinite)
  expect(populations.length > 5 && populations[0] > 1_000_000, `the first has ${populations[0]} inhabitants`)
  const sorted = [...populations].sort((a, b) => b - a)
  expect(populations.join() === sorted.join(), 'the rows are not in their order')
  state.table = page.url()
  return `the first of ${populations.length} has ${populations[0]}`
}

async function seeMap({ page }) {
  await openTab(page, 'map')
  await page.locator('.leaflet-container').first().waitFor()
  await page.waitForFunction(
    () =>
      document.querySelectorAll('.leaflet-marker-pane > *, .leaflet-overlay-pane path.leaflet-interactive')
        .length > 0,
  )
  const shown = await page
    .locator('.leaflet-marker-pane > *, .leaflet-overlay-pane path.leaflet-interactive')
    .count()
  const place = page.locator('.map-place').first()
  if ((await place.count()) > 0) {
    await place.press('Enter')
    await page.locator('.leaflet-popup').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('.leaflet-popup').waitFor({ state: 'detached', timeout: 5000 })
  }
  return `${shown} marks`
}

async function seeChart({ page }) {
  await openTab(page, 'analyze')
  const marks = page.locator('main svg :is(rect, path, line, circle)')
  await marks.first().waitFor({ state: 'attached' })
  expect((await marks.count()) > 5, `the chart has ${await marks.count()} marks`)
  return `${await marks.count()} marks`
}

/** The rows of the file are as many as the page says. */
async function exportRecords(state) {
  const { page, base } = state
  await openTab(page, 'export')
  const shown = await countShown(page)
  expect(shown === state.count, `the page counts ${shown}, the table had ${state.count}`)
  const results = []
  for (const format of ['csv', 'json']) {
    const link = page.locator(`main a[href*="/exports/${format}"]`).first()
    const text = await download(page, new URL(await link.getAttribute('href'), base).href)
    const rows = format === 'json' ? JSON.parse(text).length : csvRows(text)
    expect(rows === shown, `${format} has ${rows} records, the page shows ${shown}`)
    results.push(`${rows} as ${format}`)
  }
  return results.join(', ')
}

/** The call that the page shows, copied as a person would: it answers what was shown. */
async function copyCall({ page, base, hasScripts, count }) {
  await openTab(page, 'api')
  const link = page.locator('main a[href*="/records"]').first()
  let call = new URL(await link.getAttribute('href'), base).href
  if (hasScripts) {
    await page.locator('main button', { hasText: /copy/i }).first().click()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    const address = /https?:\/\/[^\s"'`]+/.exec(copied)?.[0]
    expect(address !== undefined, `what was copied has no address: ${copied.slice(0, 80)}`)
    call = address
  }
  const { total_count: total, results } = JSON.parse(await download(page, call))
  expect(total === count, `the call answers ${total} records, the page shows ${count}`)
  const populations = results.map(({ population }) => population)
  expect(populations[0] > 1_000_000, 'the call does not keep the order')
  return call
}

async function openCity(state) {
  const { page, base } = state
  await page.goto(state.table)
  const name = (await page.locator('tbody tr').first().textContent()) ?? ''
  await page.locator('tbody tr').first().locator('a').first().click()
  await page.waitForURL(/\/ld\//)
  const heading = (await page.locator('h1').first().textContent()) ?? ''
  expect(
    name.includes(heading.trim().slice(0, 6)) || heading !== '',
    `the page of ${name} is headed ${heading}`,
  )
  state.city = page.url().slice(base.length)
  return heading.trim()
}

/** From the city to its division where nothing links to the city itself, and from there to a city that links to it. */
async function followBacklink({ page, base }) {
  const backlinks = page.locator(
    'section#links a[href*="/ld/resources/"], section#links a[href*="/ld/data/"]',
  )
  if ((await backlinks.count()) === 0) {
    const link = page.locator('main a[href*="/cities/division/"]').first()
    await Promise.all([page.waitForURL(/\/division\//), link.click()])
  }
  const from = page.url()
  const before = await page.locator('h1').first().textContent()
  const told = wholeNumber(await page.locator('section#links h2').first().textContent())
  expect(told > 0, 'no number of backlinks is told')
  await Promise.all([page.waitForURL(url => url.href !== from), backlinks.first().click()])
  const heading = await page.locator('h1').first().textContent()
  expect(heading !== before, 'the backlink leads to the same page')
  return `from ${from.slice(base.length)}, which ${told} link to, to ${heading?.trim()}`
}

async function runExample({ page, base }) {
  await page.goto(`${base}/`)
  await page.locator('header nav a[href*="/sparql/"]').first().click()
  await page.waitForURL(/\/sparql\//)
  await page.locator('#examples a, #examples button').first().click()
  const query = await page.locator('#query').inputValue()
  expect(/select|construct|describe|ask/i.test(query), 'the example is no query')
  await page.locator('#run').click()
  const rows = page.locator('#answer tbody tr')
  await rows.first().waitFor({ timeout: 90_000 })
  await page.locator('#stop').waitFor({ state: 'hidden', timeout: 90_000 })
  return `${await rows.count()} rows; ${(await page.locator('#status').textContent())?.trim()}`
}

/** Without scripts the form of the playground asks the endpoint. */
async function askEndpoint({ page, base }) {
  await page.goto(`${base}/sparql/`)
  await page.locator('main textarea').first().fill('SELECT * WHERE { ?s ?p ?o } LIMIT 3')
  await page.locator('#run').click()
  await page.waitForURL(/\/api\/.*query=/)
  expect((await page.locator('main table tbody tr').count()) >= 3, 'the endpoint shows no rows')
  return page.url().slice(base.length)
}

async function openTab(page, name) {
  await page.locator(`.tabs a[href*="/${name}/"]`).first().click()
  await page.waitForURL(new RegExp(`/${name}/`))
}

async function countShown(page) {
  return wholeNumber(await page.locator('.count').first().textContent())
}

/** A file as the browser would get it, with its cookies. */
async function download(page, url) {
  const answer = await page.context().request.get(url)
  expect(answer.ok(), `${url} answers ${answer.status()}`)
  return answer.text()
}

function wholeNumber(text) {
  return Number((text ?? '').replace(/\D/g, ''))
}

/** Records of a file with one line of names: line breaks within quotes begin no record. */
function csvRows(text) {
  const outside = text.replace(/"[^"]*"/g, '')
  return outside.split(/\r?\n/).filter(line => line !== '').length - 1
}

function expect(isRight, told) {
  if (!isRight) throw new Error(told)
}
