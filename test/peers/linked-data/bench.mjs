/**
 * `node bench.mjs`: fragments beside `@ldf/server` with the same triples in memory, both with pages of the same size, in
 * one run: pages a second for random patterns, asked for the first time and again; all pages of the cities; queries of Comunica over
 * 300 stations. `SIZE=n` triples on a page (100), `PEER_SIZE=n` on one of the peer (the same), `FULL=1` reads all pages of the peer instead of some, `SEED=n`, `PARTS=pages,crawl,queries`.
 */
import { cpSync, createReadStream, createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { QueryEngine } from '@comunica/query-sparql'
import { StreamParser } from 'n3'
import { Client } from 'undici'
import { root, serveLdf, serveLodestone } from './servers.mjs'
import { QUERIES, stations } from './stations.mjs'

const SIZE = Number(process.env.SIZE ?? 100)
const PATTERNS = Number(process.env.PATTERNS ?? 240)
const PARTS = new Set((process.env.PARTS ?? 'pages,crawl,queries').split(','))
const CONNECTIONS = 4
/** Pages of the peer that stand for all, where it is not read whole. */
const SAMPLED = 12
const RUNS = 7

let seed = Number(process.env.SEED ?? 7)
const random = below => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
  return Math.floor((seed / 2 ** 31) * below)
}
const say = text => process.stdout.write(`${text}\n`)
const median = values => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)]
const ratio = (one, other) => `${(one / other).toFixed(2)}`

/** Some triples of a file, each as likely as another. */
async function sample(file, most) {
  const kept = []
  let seen = 0
  for await (const quad of createReadStream(file).pipe(new StreamParser())) {
    seen += 1
    if (kept.length < most) kept.push(quad)
    else {
      const at = random(seen)
      if (at < most) kept[at] = quad
    }
  }
  return { kept, seen }
}

function termText(term) {
  if (term.termType !== 'Literal') return term.value
  if (term.language) return `"${term.value}"@${term.language}`
  const type = term.datatype.value
  return type.endsWith('#string') ? `"${term.value}"` : `"${term.value}"^^${type}`
}

/** The query strings of patterns that each match something: the eight shapes in turn, over random triples. */
const patterns = quads =>
  quads.map((quad, index) => {
    const roles = ['subject', 'predicate', 'object'].filter((_, bit) => (index >> bit) & 1)
    return roles.map(role => `${role}=${encodeURIComponent(termText(quad[role]))}`).join('&')
  })

/** Asks all paths over some connections. Gives pages a second, and what each page says of its total. */
async function ask(origin, paths) {
  const queue = [...paths.entries()]
  const totals = []
  const one = async () => {
    const client = new Client(origin)
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, path] = next
      const { statusCode, body } = await client.request({
        path,
        method: 'GET',
        headers: { accept: 'application/trig' },
      })
      const text = await body.text()
      if (statusCode !== 200) throw new Error(`${statusCode} ${path} ${text.slice(0, 200)}`)
      totals[index] = /totalItems>?\s+"?(\d+)/.exec(text)?.[1]
    }
    await client.close()
  }
  const begun = performance.now()
  await Promise.all(Array.from({ length: CONNECTIONS }, one))
  return { perSecond: (paths.length * 1000) / (performance.now() - begun), totals }
}

const pathOf = (prefix, query) => (query === '' ? prefix : `${prefix}?${query}`)

async function benchPages(ours, theirs, quads) {
  const queries = [...new Set(patterns(quads))]
  const sides = [
    { origin: ours.base, prefix: '/api/tpf/cities' },
    { origin: theirs.base, prefix: '/cities' },
  ]
  /** One pattern that is in none of those measured, so that code is compiled and connections are known. */
  const warmUp = quads.slice(-20).map(({ subject }) => `subject=${encodeURIComponent(subject.value)}&page=2`)
  for (const { origin, prefix } of sides)
    await ask(origin, Array.from({ length: 10 }, () => warmUp.map(query => pathOf(prefix, query))).flat())
  const answers = {}
  for (const round of ['cold', 'warm', 'warm again'])
    for (const [index, { origin, prefix }] of sides.entries()) {
      const paths = queries.map(query => pathOf(prefix, query))
      answers[round] = [...(answers[round] ?? []), await ask(origin, paths)]
      if (index === 0) continue
      const [one, other] = answers[round]
      const differing = one.totals.filter((total, at) => total !== other.totals[at]).length
      say(
        `${round.padEnd(11)} ${queries.length} patterns, pages a second: ours ${one.perSecond.toFixed(0)}, theirs ${other.perSecond.toFixed(0)}: ${ratio(one.perSecond, other.perSecond)} times${differing > 0 ? `; ${differing} totals differ` : ''}`,
      )
    }
  const shapes = ['???', 's??', '?p?', 'sp?', '??o', 's?o', '?po', 'spo']
  for (const [shape, name] of shapes.entries()) {
    const chosen = patterns(quads).filter((_, index) => (index & 7) === shape)
    const rates = []
    for (const { origin, prefix } of sides)
      rates.push(
        await ask(
          origin,
          [...new Set(chosen)].slice(0, 20).map(query => pathOf(prefix, `${query}${query && '&'}page=2`)),
        ),
      )
    const [one, other] = rates.map(({ perSecond }) => perSecond)
    say(
      `  second pages of ${name}: ours ${one.toFixed(0)}, theirs ${other.toFixed(0)}: ${ratio(one, other)} times`,
    )
  }
}

async function benchCrawl(ours, theirs, total) {
  const pages = Math.ceil(total / SIZE)
  const client = new Client(ours.base)
  const times = []
  let next = '/api/tpf/cities'
  while (next !== undefined) {
    const begun = performance.now()
    const { body } = await client.request({
      path: next,
      method: 'GET',
      headers: { accept: 'application/trig' },
    })
    const text = await body.text()
    times.push(performance.now() - begun)
    const link = /hydra(?::|\/core#)next>?\s+<([^>]*)>/.exec(text)?.[1]
    next = link?.slice(ours.base.length)
  }
  await client.close()
  const seconds = times.reduce((sum, time) => sum + time, 0) / 1000
  const mean = part => part.reduce((sum, time) => sum + time, 0) / part.length
  const [first, last] = [times.slice(0, 20), times.slice(-21, -1)].map(mean)
  say(
    `crawl, ours: ${times.length} pages (${pages} expected) in ${seconds.toFixed(1)} s; the first 20 ${first.toFixed(2)} ms each, the last ${last.toFixed(2)} ms`,
  )
  const full = process.env.FULL === '1'
  const chosen = full
    ? Array.from({ length: pages }, (_, index) => index + 1)
    : Array.from({ length: SAMPLED }, (_, index) => 1 + Math.floor((index * (pages - 1)) / (SAMPLED - 1)))
  const peer = new Client(theirs.base, { headersTimeout: 0, bodyTimeout: 0 })
  const begun = performance.now()
  for (const page of chosen) {
    const { body } = await peer.request({
      path: `/cities?page=${page}`,
      method: 'GET',
      headers: { accept: 'application/trig' },
    })
    await body.text()
  }
  await peer.close()
  const each = (performance.now() - begun) / chosen.length
  const theirSeconds = (each * pages) / 1000
  say(
    `crawl, theirs: ${each.toFixed(0)} ms a page over ${chosen.length} pages, so ${theirSeconds.toFixed(0)} s: ours takes 1/${(theirSeconds / seconds).toFixed(0)} of it`,
  )
}

async function benchQueries(ours, theirs) {
  const sources = { ours: `${ours.base}/api/tpf/stations`, theirs: `${theirs.base}/stations` }
  const more = {
    'ours, brTPF': { type: 'brtpf', value: sources.ours },
    'ours, SPARQL': { type: 'sparql', value: `${ours.base}/api/sparql/stations` },
  }
  const sums = { ours: 0, theirs: 0 }
  for (const [name, query] of Object.entries(QUERIES)) {
    const times = {}
    const counts = {}
    for (let run = 0; run <= RUNS; run++)
      for (const [side, source] of Object.entries({ ...sources, ...more })) {
        try {
          const begun = performance.now()
          const rows = await (await new QueryEngine().queryBindings(query, { sources: [source] })).toArray()
          if (run > 0) times[side] = [...(times[side] ?? []), performance.now() - begun]
          counts[side] =
            rows.length === 1 ? [...rows[0].values()].map(term => term.value).join() : rows.length
        } catch (error) {
          counts[side] = error.message.slice(0, 80)
        }
      }
    const shown = Object.entries(times).map(([side, each]) => `${side} ${median(each).toFixed(0)} ms`)
    const differ =
      new Set(Object.values(counts)).size > 1 ? `; answers differ: ${JSON.stringify(counts)}` : ''
    say(
      `${name}: ${shown.join(', ')}: ours/theirs ${ratio(median(times.ours), median(times.theirs))}${differ}`,
    )
    for (const side of Object.keys(sums)) sums[side] += median(times[side])
  }
  say(`all of them: ours/theirs ${ratio(sums.ours, sums.theirs)}`)
}

const folder = mkdtempSync(path.join(tmpdir(), 'linked-data-bench-'))
const stationsFile = path.join(folder, 'stations.ttl')
writeFileSync(stationsFile, stations())
const ours = await serveLodestone(
  place => {
    if (PARTS.has('pages') || PARTS.has('crawl'))
      cpSync(path.join(root, 'data/cities'), place('cities'), { recursive: true })
    if (!PARTS.has('queries')) return
    const made = place('stations')
    cpSync(stationsFile, path.join(made, 'stations.ttl'))
    writeFileSync(path.join(made, 'dataset.yaml'), 'source: { path: stations.ttl }\nformat: turtle\n')
  },
  { fragment_size: SIZE },
)
const files = PARTS.has('queries') ? { stations: stationsFile } : {}
let theirs
try {
  if (PARTS.has('pages') || PARTS.has('crawl')) {
    files.cities = path.join(folder, 'cities.ttl')
    const response = await fetch(`${ours.base}/api/explore/v2.1/catalog/datasets/cities/exports/turtle`)
    await pipeline(Readable.fromWeb(response.body), createWriteStream(files.cities))
  }
  theirs = await serveLdf(files, Number(process.env.PEER_SIZE ?? SIZE))
  if (files.cities !== undefined) {
    const { kept, seen } = await sample(files.cities, PATTERNS)
    say(`${seen} triples of the cities, pages of ${SIZE}`)
    if (PARTS.has('pages')) await benchPages(ours, theirs, kept)
    if (PARTS.has('crawl')) await benchCrawl(ours, theirs, seen)
  }
  if (PARTS.has('queries')) await benchQueries(ours, theirs)
} finally {
  await Promise.all([ours.stop(), theirs?.stop()])
  rmSync(folder, { recursive: true, force: true })
}
