import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBrowser, watchPage } from './browser.mjs'

/** From an empty folder to a described and mapped dataset at the desk, with scripts and without; axe looks at every page. */
const PORT = 4820
const base = `http://localhost:${PORT}`
const lodestone = path.resolve(import.meta.dirname, '../../../bin/lodestone.js')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const PASSWORD = 'a password that is long enough'
const MAPPING = `prefixes: { ex: 'http://example.org/' }
mappings:
  tree:
    subject: portal:street-trees/tree/$(nr)
    predicateobjects:
      - [a, ex:Tree]
      - [rdfs:label, $(name)]
`

async function journey(browser, source, hasScripts) {
  const portal = mkdtempSync(path.join(tmpdir(), 'lodestone-desk-'))
  writeFileSync(
    path.join(portal, 'portal.yaml'),
    'title: Town\nlanguages: [en, de, ar]\nsource_private_hosts: [localhost]\n',
  )
  writeFileSync(path.join(portal, 'street trees.csv'), 'nr,name,height\n1,Oak,12.5\n2,Elm,7\n3,Ivy,\n')
  const run = (...args) =>
    execFileSync(process.execPath, [lodestone, ...args, '--portal', portal], { stdio: 'pipe' })
  run('user', 'add', 'anna', '--password', PASSWORD)
  run('user', 'grant', 'anna', 'publish:*')
  const server = spawn(process.execPath, [lodestone, 'serve', '--portal', portal, '--port', String(PORT)], {
    stdio: 'ignore',
  })
  const problems = []
  try {
    while (
      !(await fetch(`${base}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ))
    )
      await sleep(200)
    const context = await browser.newContext({ javaScriptEnabled: hasScripts, locale: 'en-GB' })
    context.setDefaultTimeout(60_000)
    const page = await context.newPage()
    const wrong = watchPage(page, base)
    const begin = performance.now()
    const judge = async name => {
      if (!hasScripts) return
      await page.evaluate(axe)
      const { violations } = await page.evaluate(() => window.axe.run())
      for (const { id, impact, nodes } of violations)
        if (impact === 'serious' || impact === 'critical')
          problems.push(`${name}: ${id}: ${nodes[0]?.html.slice(0, 200)}`)
    }
    const published = async id => {
      for (let tries = 0; tries < 300; tries++) {
        const answer = await fetch(`${base}/api/explore/v2.1/catalog/datasets/${id}/records`)
        if (answer.ok) return (await answer.json()).total_count
        await sleep(200)
      }
      return null
    }
    const press = label =>
      page
        .locator('main button', { hasText: new RegExp(`^${label}$`) })
        .first()
        .click()
    await page.goto(`${base}/desk/`)
    await page.fill('input[name=name], input[name=username], input[autocomplete=username]', 'anna')
    await page.fill('input[type=password]', PASSWORD)
    await page.locator('main form button').first().click()
    await page.waitForURL(/\/desk\/$/)
    await judge('list')
    await page.setInputFiles('input[type=file]', path.join(portal, 'street trees.csv'))
    await press('Upload')
    await page.waitForURL(/street-trees/)
    await judge('fields')
    await page.fill('input[name="label.2"]', 'Height in metres')
    await page.check('input[name="facet.1"]')
    await press('Save')
    await page.waitForURL(/done=1/)
    await page.click('nav.tabs >> text=Source')
    await judge('source')
    await page.selectOption('[name=format]', 'csv')
    await page.fill('[name=header]', '0')
    if (!hasScripts) await press('Try without saving')
    await page.waitForSelector('#inferred >> text=column_1')
    await judge('source tried')
    await page.click('nav.tabs >> text=Steps')
    await page.selectOption('[name=add]', 'compute')
    await press('Add')
    await page.waitForSelector('[name="step.0.expression"]')
    await page.fill('[name="step.0.expression"]', 'nr * 2')
    await page.fill('[name="step.0.into"]', 'twice')
    await judge('steps')
    await press('Save')
    await page.waitForURL(/steps\/\?done=1/)
    await page.goto(`${base}/desk/~harvest/`)
    await judge('harvest')
    await page.goto(`${base}/desk/street-trees/`)
    await page.click('nav.tabs >> text=Description')
    await judge('description')
    await page.fill('[name="default.title"]', 'Trees of the streets')
    await page.fill('[name="default.description"]', 'All of them.')
    await page.fill('[name="default.theme"]', 'Environment')
    await press('Save')
    await page.waitForURL(/description\/\?done=1/)
    await page.click('nav.tabs >> text=Mapping')
    await page.fill('textarea[name=text]', MAPPING)
    await press('Save')
    await page.waitForURL(/mapping\/\?done=1/)
    await page.click('nav.tabs >> text=Report')
    await judge('report')
    await press('Publish')
    await page.waitForLoadState()
    await published('street-trees')
    console.log(
      `${hasScripts ? 'with' : 'without'} scripts: published after ${Math.round((performance.now() - begin) / 100) / 10} s`,
    )
    await page.goto(`${base}/desk/street-trees/history/?lang=ar`)
    await judge('history')
    await page.goto(`${base}/explore/dataset/street-trees/versions/`)
    await judge('versions')
    const mapped = await (
      await fetch(`${base}/api/tpf/street-trees`, { headers: { accept: 'text/turtle' } })
    ).text()
    if (!mapped.includes('http://example.org/Tree')) problems.push('the mapping is not in force')
    await page.goto(`${base}/desk/`)
    await page.fill('input[name=url]', `${source}/wells.csv`)
    await page.fill('input[name=refresh]', '30 3 * * *')
    await press('Add')
    await page.waitForURL(/desk\/wells/)
    await judge('address')
    await page.click('nav.tabs >> text=Description')
    await page.fill('[name="default.title"]', 'Wells')
    await press('Save')
    await page.waitForURL(/description\/\?done=1/)
    await page.click('nav.tabs >> text=Mapping')
    await page.fill('textarea[name=text]', MAPPING.replaceAll('street-trees/tree', 'wells/well'))
    await press('Save')
    await page.waitForURL(/mapping\/\?done=1/)
    await page.click('nav.tabs >> text=Report')
    await press('Publish')
    await page.waitForLoadState()
    const wells = await published('wells')
    if (wells !== 2) problems.push(`${wells} wells`)
    console.log(
      `described, mapped and scheduled after ${Math.round((performance.now() - begin) / 100) / 10} s`,
    )
    await page.goto(`${base}/desk/wells/source/`)
    if ((await page.inputValue('[name=refresh]')) !== '30 3 * * *') problems.push('the schedule is not shown')
    await judge('schedule')
    await page.goto(`${base}/desk/street-trees/history/`)
    await press('Unpublish')
    await page.waitForURL(/ask=withdraw/)
    await judge('question')
    await page.locator('.reading form button').click()
    await page.waitForURL(/history\/$/)
    const { status } = await fetch(`${base}/explore/dataset/street-trees/`)
    if (status !== 404) problems.push(`withdrawn, and answered with ${status}`)
    await context.close()
    return [...problems, ...wrong]
  } finally {
    const ended = new Promise(resolve => server.once('close', resolve))
    server.kill()
    await ended
    rmSync(portal, { recursive: true, force: true })
  }
}

const browser = await startBrowser()
const found = []
const sources = createServer((_, response) =>
  response.writeHead(200, { 'content-type': 'text/csv' }).end('nr,name\n1,Old well\n2,New well\n'),
)
await new Promise(resolve => sources.listen(0, 'localhost', resolve))
const source = `http://localhost:${sources.address().port}`
for (const hasScripts of [true, false]) found.push(...(await journey(browser, source, hasScripts)))
sources.close()
await browser.close()
for (const problem of found) console.log(problem)
process.exitCode = found.length === 0 ? 0 : 1
