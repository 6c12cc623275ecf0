import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildApp } from '../../../src/app/app.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { openReleases, publishAll, publisherSettings } from '../../../src/publishing/publish-all.ts'
import { answerDifference } from './answers.mjs'
import { startEngine } from './engines.mjs'
import { patternsOf, walkDifference, walkFragment } from './fragments.mjs'
import { ENGINES, whyMissing } from './places.mjs'
import { makePortal, makeRecords, WALKED } from './portal.mjs'
import * as questions from './questions.mjs'

/**
 * The same portal on the embedded store and on an engine: every answer must be the same. To be run with tsx, after a build:
 * `node --import=tsx same-answers.mjs oxigraph fuseki virtuoso rdf4j [--seed N] [--queries 300] [--filters 200] [--only odsql,odata]`.
 * `--store URL` compares with an engine that runs already; `embedded` in place of a name compares the embedded store with itself.
 */

const BASE = 'http://portal.example'
const NOW = new Date('2026-01-02T03:04:05Z')

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    queries: { type: 'string', default: '300' },
    filters: { type: 'string', default: '200' },
    only: { type: 'string' },
    store: { type: 'string' },
    port: { type: 'string', default: '7960' },
    most: { type: 'string', default: '6' },
    keep: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
const port = Number(values.port)

/** Publishes a portal into its store and gives a way to ask what serves it. */
async function openPortal(portal, store) {
  const config = {
    ...loadConfig({ portal, base: BASE }, store === null ? {} : { LODESTONE_STORE: store }),
    workers: 1,
    log: 'silent',
  }
  const { shared, close } = await openReleases(publisherSettings(config))
  await publishAll({ portal, base: BASE, now: () => NOW, shared }, null, message => {
    if (message.type === 'failed') throw new Error(`${message.dataset}: ${message.reason}`)
  })
  await close()
  const app = await buildApp(config)
  await app.catalog.refresh()
  const address = await app.http.listen({ host: '127.0.0.1', port: 0 })
  const get = async (url, headers = {}) => {
    const answer = await request(address + url, headers)
    return answer.location === null ? answer : request(address + answer.location.replace(BASE, ''), headers)
  }
  return { get, close: () => app.close() }
}

/** An answer; one that breaks off says so in place of its status. */
async function request(url, headers) {
  const response = await fetch(url, { headers, redirect: 'manual' })
  const type = response.headers.get('content-type') ?? ''
  try {
    const location = response.headers.get('location')
    return { status: response.status, type, location, body: Buffer.from(await response.arrayBuffer()) }
  } catch (error) {
    return { status: 'broken', type, location: null, body: Buffer.from(String(error.cause ?? error)) }
  }
}

/** Record ids of some datasets, which resources are asked by. */
async function recordIds(get) {
  const found = {}
  for (const dataset of ['made', 'odd', 'countries']) {
    const { body } = await get(`/api/explore/v2.0/catalog/datasets/${dataset}/records?limit=6`)
    found[dataset] = JSON.parse(body.toString()).records.map(({ record }) => record.id)
  }
  return found
}

const SUITES = {
  odsql: () => questions.odsqlQuestions(seed, Number(values.queries)),
  odata: () => questions.odataQuestions(seed, Number(values.filters)),
  facets: () => questions.facetQuestions(),
  odd: () => questions.oddQuestions(),
  exports: () => questions.exportQuestions(),
  sparql: () => questions.sparqlQuestions(BASE),
  resources: async get => questions.resourceQuestions(await recordIds(get)),
}
const chosen = values.only?.split(',') ?? [...Object.keys(SUITES), 'fragments']

/** Notes where answers part, and tells the first of them. */
class Differences {
  kinds = new Map()
  tally = { rounded: 0 }
  told = 0

  note(kind, request, apart, status = 200) {
    const found = this.kinds.get(kind) ?? { asked: 0, apart: 0, refused: 0 }
    this.kinds.set(kind, {
      asked: found.asked + 1,
      apart: found.apart + (apart === null ? 0 : 1),
      refused: found.refused + (status === 200 ? 0 : 1),
    })
    if (apart === null) return
    this.told += 1
    if (found.apart >= Number(values.most)) return
    const shown = value => (JSON.stringify(value) ?? 'nothing').slice(0, 400)
    console.log(`DIFFERENT ${kind}: ${decodeURIComponent(request)}`)
    console.log(`  at ${apart.path}\n  embedded ${shown(apart.left)}\n  engine   ${shown(apart.right)}`)
  }

  summary() {
    const lines = [...this.kinds].map(
      ([kind, { asked, apart, refused }]) =>
        `  ${kind}: ${asked - apart} of ${asked} the same${refused === 0 ? '' : `, ${refused} of them refused`}`,
    )
    return [...lines, `  numbers that differ by rounding only: ${this.tally.rounded}`].join('\n')
  }
}

async function compareSuites(left, right, differences) {
  for (const [name, make] of Object.entries(SUITES)) {
    if (!chosen.includes(name)) continue
    const started = performance.now()
    const times = { left: 0, right: 0 }
    for (const { kind, url, headers } of await make(left.get)) {
      const begun = performance.now()
      const wanted = await left.get(url, headers)
      const between = performance.now()
      const found = await right.get(url, headers)
      times.left += between - begun
      times.right += performance.now() - between
      const accept = headers?.accept === undefined ? '' : ` (${headers.accept})`
      const apart = await answerDifference(wanted, found, differences.tally)
      differences.note(kind, url + accept, apart, wanted.status)
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    console.log(
      `${name}: ${seconds} s, embedded ${Math.round(times.left)} ms, engine ${Math.round(times.right)} ms`,
    )
  }
}

async function compareFragments(left, right, differences) {
  for (const dataset of [...WALKED, 'mapped']) {
    const path = `/api/tpf/${dataset}`
    const whole = await walkFragment(left.get, path, BASE)
    differences.note('fragment pages', path, await walkApart(whole, right, path))
    for (const pattern of patternsOf(whole)) {
      const query = `${path}?${new URLSearchParams(pattern)}`
      const wanted = await walkFragment(left.get, query, BASE)
      differences.note('fragment pattern', query, await walkApart(wanted, right, query))
    }
    console.log(`fragments of ${dataset}: ${whole.triples.length} triples on ${whole.pages} pages`)
  }
}

async function walkApart(wanted, right, path) {
  try {
    return walkDifference(wanted, await walkFragment(right.get, path, BASE))
  } catch (error) {
    return { path: 'pages', left: `${wanted.triples.length} triples`, right: error.message }
  }
}

/** Compares one store with the embedded one and gives the number of differences. */
async function compare(name, folder, index) {
  const engine =
    values.store !== undefined || name === 'embedded'
      ? null
      : await startEngine(name, { folder: join(folder, name), port: port + 10 * index })
  const address = values.store ?? engine?.query ?? null
  const records = makeRecords(seed)
  const portals = ['left', name].map(side => join(folder, `portal-${side}`))
  makePortal(portals[0], records)
  cpSync(portals[0], portals[1], { recursive: true, verbatimSymlinks: true })
  const differences = new Differences()
  let [left, right] = [null, null]
  try {
    left = await openPortal(portals[0], null)
    right = await openPortal(portals[1], address)
    await compareSuites(left, right, differences)
    if (chosen.includes('fragments')) await compareFragments(left, right, differences)
  } finally {
    await left?.close()
    await right?.close()
    await engine?.stop()
    if (!values.keep) for (const portal of portals) rmSync(portal, { recursive: true, force: true })
  }
  console.log(`${name}: ${differences.told} differences (seed ${seed})\n${differences.summary()}`)
  return differences.told
}

const names = positionals.length > 0 ? positionals : values.store === undefined ? ENGINES : ['store']
const folder = mkdtempSync(join(tmpdir(), 'lodestone-engines-'))
let total = 0
for (const [index, name] of names.entries()) {
  const reason = ENGINES.includes(name) ? whyMissing(name) : null
  if (reason !== null) console.log(`SKIPPED ${name}: ${reason}`)
  else total += await compare(name, folder, index)
}
if (!values.keep) rmSync(folder, { recursive: true, force: true })
process.exitCode = total === 0 ? 0 : 1
