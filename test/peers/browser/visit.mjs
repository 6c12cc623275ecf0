import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { startBrowser } from './browser.mjs'
import { visit } from './journey.mjs'
import { judgePage, pagesOf } from './pages.mjs'

/** Visits a running portal as people do, and holds each page to what is promised of it; README.md says what that is. */

const { values: options } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://localhost:3000' },
    out: { type: 'string', default: 'shots' },
    pages: { type: 'string', default: '.' },
    only: { type: 'string', default: 'visit,pages' },
  },
})
const base = options.url.replace(/\/+$/, '')
const folder = path.resolve(options.out)
mkdirSync(folder, { recursive: true })

const browser = await startBrowser()
const wrong = []
let city = '/ld/resources/cities/city/2950159'
if (options.only.includes('visit'))
  for (const hasScripts of [true, false]) {
    console.log(`\nThe visit with scripts ${hasScripts ? 'on' : 'off'}`)
    const told = await visit(browser, base, { hasScripts, folder, tell: line => console.log(`  ${line}`) })
    wrong.push(...told.wrong)
    if (told.city !== '') city = told.city
  }
if (options.only.includes('pages')) {
  console.log('\nbytes to load / idle, milliseconds warm / least / first')
  for (const entry of pagesOf(city).filter(([name]) => new RegExp(options.pages).test(name))) {
    const told = await judgePage(browser, base, entry, { folder, isTimed: true }).catch(error => ({
      wrong: [String(error.message).split('\n')[0]],
      measured: { bytes: 0, idle: 0, times: [0, 0, 0] },
    }))
    const { bytes, idle, times } = told.measured
    console.log(`  ${entry[0].padEnd(20)} ${bytes} / ${idle} B   ${times.join(' / ')} ms`)
    wrong.push(...told.wrong.map(text => `${entry[0]}: ${text}`))
  }
}
await browser.close()
console.log(wrong.length === 0 ? '\nNothing is wrong.' : `\n${wrong.length} things are wrong:`)
for (const text of wrong) console.log(`  ${text}`)
process.exitCode = wrong.length === 0 ? 0 : 1
