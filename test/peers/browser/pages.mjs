import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { countBytes, watchPage } from './browser.mjs'

/** What each page of the site is held to, whoever made it. */

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The first view, compressed: html, css and scripts together. */
const MOST_BYTES = 60_000
const MOST_MILLISECONDS = 100
const WIDTHS = [1280, 390]
const HEIGHTS = { 1280: 900, 390: 844 }

const CITIES = '/explore/dataset/cities'

/** Names and addresses of the pages that are looked at; the city is one that has a page. */
export const pagesOf = city => [
  ['home', '/'],
  ['home-arabic', '/?lang=ar'],
  ['catalog', '/explore/'],
  ['catalog-search', '/explore/?q=cities'],
  ['catalog-nothing', '/explore/?q=zzzzzz'],
  ['information', `${CITIES}/information/`],
  ['table', `${CITIES}/table/`],
  ['table-filtered', `${CITIES}/table/?refine=country_code:DE&order_by=population+desc`],
  ['table-fault', `${CITIES}/table/?where=population+%3E%3E+5`],
  ['table-movies', '/explore/dataset/movies/table/'],
  ['table-countries', '/explore/dataset/countries/table/'],
  ['map', `${CITIES}/map/`],
  ['map-filtered', `${CITIES}/map/?refine=country_code:DE`],
  ['map-countries', '/explore/dataset/countries/map/'],
  ['analyze', `${CITIES}/analyze/`],
  ['analyze-movies', '/explore/dataset/movies/analyze/'],
  ['analyze-earthquakes', '/explore/dataset/earthquakes/analyze/'],
  ['export', `${CITIES}/export/`],
  ['export-filtered', `${CITIES}/export/?refine=country_code:DE`],
  ['api', `${CITIES}/api/`],
  ['linked-data', `${CITIES}/linked-data/`],
  ['resource', city],
  ['playground', '/sparql/'],
  ['odsql', '/odsql/'],
  ['developers', '/developers/'],
  ['fragment', '/api/tpf/cities'],
  ['sign-in', '/account/login/'],
  ['not-found', '/explore/dataset/nothing/'],
  ['not-found-resource', `/ld/resources/cities/city/${'x'.repeat(80)}`],
]

/** Addresses that answer with an error on purpose: the browser tells of it in its console. */
const REFUSED = new Set(['table-fault', 'not-found', 'not-found-resource'])

/**
 * Looks at a page at both widths, in light and in dark.
 *
 * @param folder where its pictures go
 * @returns what is wrong, each as one line, and what was measured
 */
export async function judgePage(browser, base, [name, address], { folder, isTimed }) {
  const wrong = []
  const measured = { name, address }
  for (const width of WIDTHS) {
    const context = await browser.newContext({
      viewport: { width, height: HEIGHTS[width] },
      colorScheme: 'light',
      locale: 'en-GB',
    })
    const page = await context.newPage()
    const found = watchPage(page, base)
    const bytes = await countBytes(page)
    const answer = await page.goto(base + address, { waitUntil: 'load' })
    const atLoad = bytes.sum()
    await page.waitForLoadState('networkidle').catch(() => {})
    if (!REFUSED.has(name) && answer.status() !== 200) wrong.push(`answers ${answer.status()}`)
    for (const text of found)
      if (!REFUSED.has(name) || !text.includes('the server responded with a status of 40')) wrong.push(text)
    if (width === WIDTHS[0]) {
      measured.bytes = atLoad
      measured.idle = bytes.sum()
      if (atLoad > MOST_BYTES) wrong.push(`${atLoad} bytes until the load event: ${largest(bytes.sizes)}`)
    }
    await page.screenshot({ path: path.join(folder, `${name}-${width}.png`), fullPage: true })
    wrong.push(...(await page.evaluate(shapeFaults)).map(text => `${text} at ${width} pixels`))
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme })
      if (colorScheme === 'dark')
        await page.screenshot({ path: path.join(folder, `${name}-${width}-dark.png`) })
      for (const issue of await accessibility(page)) wrong.push(`${issue} (${colorScheme}, ${width} pixels)`)
    }
    await context.close()
  }
  if (isTimed) {
    measured.times = await timesOf(base + address)
    const [typical] = measured.times
    if (typical > MOST_MILLISECONDS) wrong.push(`takes ${typical} ms, warm`)
  }
  return { wrong: [...new Set(wrong)], measured }
}

function largest(sizes) {
  return [...sizes]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 5)
    .map(([url, size]) => `${url.split('/').at(-1).slice(0, 40)} ${size}`)
    .join(', ')
}

/** Runs in the page: what does not fit. */
function shapeFaults() {
  const faults = []
  const { scrollWidth, clientWidth } = document.documentElement
  const name = element => {
    const { className, id } = element
    const classes =
      typeof className === 'string' && className !== '' ? `.${className.trim().replace(/\s+/g, '.')}` : ''
    return `${element.localName}${id === '' ? '' : `#${id}`}${classes} “${(element.textContent ?? '').trim().slice(0, 30)}”`
  }
  if (scrollWidth > clientWidth) {
    const wide = [...document.body.querySelectorAll('*')].filter(element => {
      const { right, left, width } = element.getBoundingClientRect()
      if (width === 0 || (right <= clientWidth + 1 && left >= -1)) return false
      for (let at = element.parentElement; at !== null && at !== document.body; at = at.parentElement)
        if (getComputedStyle(at).overflowX !== 'visible') return false
      return getComputedStyle(element).position !== 'absolute'
    })
    faults.push(
      `the page scrolls sideways by ${scrollWidth - clientWidth} pixels: ${wide.slice(0, 3).map(name).join('; ')}`,
    )
  }
  for (const element of document.body.querySelectorAll('main *')) {
    const style = getComputedStyle(element)
    const isCut = /hidden|clip/.test(style.overflowX) && style.textOverflow !== 'ellipsis'
    const isShown =
      element.clientWidth > 2 && style.visibility === 'visible' && element.namespaceURI.endsWith('xhtml')
    const hasText = [...element.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== '')
    if (isCut && isShown && hasText && element.scrollWidth > element.clientWidth + 1)
      faults.push(`text is cut: ${name(element)}`)
  }
  for (const panel of document.querySelectorAll('main, main .panel, main section, main td:only-child'))
    if (
      panel.textContent.trim() === '' &&
      panel.getBoundingClientRect().height > 8 &&
      panel.querySelector('svg, canvas, img, input, .leaflet-container') === null
    )
      faults.push(`empty: ${name(panel)}`)
  const headings = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(each =>
    Number(each.localName[1]),
  )
  if (headings.filter(level => level === 1).length !== 1)
    faults.push(`${headings.filter(level => level === 1).length} headings of the first level`)
  headings.forEach((level, at) => {
    if (at > 0 && level - headings[at - 1] > 1)
      faults.push(`a heading of level ${level} after one of level ${headings[at - 1]}`)
  })
  return faults
}

/** The issues that axe-core calls serious or critical. */
async function accessibility(page) {
  const session = await page.context().newCDPSession(page)
  const run = expression =>
    session.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
  await run(`${AXE}; undefined`)
  const { result } = await run(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => JSON.stringify(violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => [id, nodes.length, nodes.slice(0, 2).map(({ target, any }) =>
        target.join(' ') + ' ' + (any[0]?.message ?? '').slice(0, 200))])))`,
  )
  await session.detach()
  return JSON.parse(result.value ?? '[["axe did not run", 0, []]]').map(
    ([id, n, nodes]) => `accessibility, ${id}, ${n} times: ${nodes.join(' | ')}`,
  )
}

/** The milliseconds of a page that was asked for before: the middle of seven, the least, and those of the first. */
async function timesOf(url) {
  const times = []
  for (let turn = 0; turn < 8; turn++) {
    const begin = performance.now()
    const answer = await fetch(url, { headers: { accept: 'text/html', 'accept-language': 'sv' } })
    await answer.arrayBuffer()
    times.push(Math.round((performance.now() - begin) * 10) / 10)
  }
  const [first, ...warm] = times
  warm.sort((a, b) => a - b)
  return [warm[3], warm[0], first]
}
