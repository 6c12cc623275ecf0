import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t from 'tap'
import { noBrowser, PEERS } from '../support/browser.ts'
import { servePortal } from '../support/portal.ts'
import { freePort } from '../support/serving.ts'

/** The SPARQL playground in Chromium: completion, answers as charts and graphs, plans. */

const portal = mkdtempSync(path.join(tmpdir(), 'playground-'))
const folder = path.join(portal, 'data/people')
mkdirSync(folder, { recursive: true })
writeFileSync(path.join(portal, 'portal.yaml'), 'title: Test portal\n')
writeFileSync(path.join(folder, 'dataset.yaml'), 'source: { path: people.ttl }\n')
writeFileSync(
  path.join(folder, 'people.ttl'),
  `@prefix foaf: <http://xmlns.com/foaf/0.1/> .
<urn:ada> a foaf:Person ; foaf:name "Ada" ; foaf:age 36 ; foaf:knows <urn:charles> .
<urn:charles> a foaf:Person ; foaf:name "Charles" ; foaf:age 79 ; foaf:knows <urn:ada> .
`,
)
t.teardown(() => rmSync(portal, { recursive: true, force: true }))

const AGES =
  'SELECT ?name ?age { ?s <http://xmlns.com/foaf/0.1/name> ?name ; <http://xmlns.com/foaf/0.1/age> ?age }'
/** With a function that the endpoint has, and Comunica has not. */
const ENDS =
  'SELECT (<http://www.opengis.net/def/function/geosparql/boundary>("LINESTRING(1 2, 3 4)"^^<http://www.opengis.net/ont/geosparql#wktLiteral>) AS ?ends) { ?s <http://xmlns.com/foaf/0.1/age> ?age }'

t.test('a query is completed, drawn and explained', { skip: noBrowser }, async t => {
  const { startBrowser, watchPage } = await import(new URL('browser.mjs', PEERS).href)
  const port = await freePort()
  const base = `http://localhost:${port}`
  await servePortal(t, { portal, base, port })
  const browser = await startBrowser()
  t.teardown(() => browser.close())
  const page = await (await browser.newContext()).newPage()
  const wrong = watchPage(page, base)
  const run = async (query: string, button: string, waited: string) => {
    await page.fill('#query', query)
    await page.keyboard.press('Escape')
    await page.click(button)
    await page.waitForSelector(waited, { timeout: 60_000 })
  }

  await page.goto(`${base}/sparql/?source=people`)
  await page.waitForSelector('#plan:not([hidden])')
  await page.fill('#query', '')
  await page.focus('#query')
  await page.keyboard.type('SELECT * { ?s kno')
  await page.waitForSelector('#completions li')
  t.same(await page.locator('#completions li').allTextContents(), ['foaf:knows'])
  await page.keyboard.press('Enter')
  t.equal(
    await page.inputValue('#query'),
    'PREFIX foaf: <http://xmlns.com/foaf/0.1/>\nSELECT * { ?s foaf:knows',
    'with its declaration',
  )
  t.ok(await page.locator('#completions').isHidden())

  await run(AGES, '#run', '#answer button:text-is("Chart")')
  t.equal(await page.locator('#run:focus').count(), 1, 'the button keeps the focus')
  await page.click('#answer button:text-is("Chart")')
  await page.waitForSelector('svg.answer-chart')
  t.match(await page.locator('svg.answer-chart').textContent(), /Ada.*Charles/s)
  await page.click('#answer button:text-is("Chart")')
  t.equal(await page.locator('svg.answer-chart').count(), 0, 'and back')

  await run(
    'CONSTRUCT WHERE { ?s <http://xmlns.com/foaf/0.1/knows> ?o }',
    '#run',
    '#answer button:text-is("Graph")',
  )
  await page.click('#answer button:text-is("Graph")')
  await page.waitForSelector('svg.answer-graph')
  t.equal(await page.locator('svg.answer-graph circle').count(), 2)
  t.equal(await page.locator('svg.answer-graph line').count(), 2)

  await run(ENDS, '#run', '#answer td:has-text("MULTIPOINT")')
  await page.uncheck('[name=source]')
  for (let turn = 0; turn < 2; turn++) await page.click('#run')
  t.equal(await page.locator('#answer .fault').count(), 1, 'a fault takes the place of the one before')
  await page.check('[name=source]')
  await page.selectOption('#via', 'fragments')
  await run(AGES, '#plan', '#answer pre')
  t.match(await page.textContent('#answer pre'), /join[\s\S]*pattern \(\?s [\s\S]*\/api\/tpf\/people/)
  t.same(wrong, [])
})
