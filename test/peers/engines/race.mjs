/**
 * `node race.mjs PORTAL [--runs 15] [--only N] [NAME…]`: twenty-two queries over all triples of the demonstration portal, asked of its
 * endpoint and of engines with the same triples in one graph, in turn, each time with other constants. PORTAL is a copy of
 * the demonstration portal, which is published with the base http://localhost:3000 first. Tells the median milliseconds of each, and the rows of the first
 * answer, which have to be as many everywhere.
 */
import { spawn } from 'node:child_process'
import { createReadStream, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { createGunzip } from 'node:zlib'
import { runSql, startEngine } from './engines.mjs'
import { FURTHER, PREFIXES, QUERIES } from './race-queries.mjs'

const root = path.resolve(import.meta.dirname, '../../..')
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '15' },
    only: { type: 'string' },
    further: { type: 'boolean' },
  },
})
const [portal, ...names] = positionals
const RUNS = Number(values.runs)
const GRAPH = 'urn:all'

/** All triples of the portal as one file of N-Triples. */
async function dump(folder) {
  const { createWriteStream } = await import('node:fs')
  const file = path.join(folder, 'all.nt')
  const versions = path.join(portal, 'var/published')
  for (const id of readdirSync(versions)) {
    const version = readFileSync(path.join(versions, id, 'current'), 'utf8').trim()
    const place = path.join(versions, id, version)
    const name = readdirSync(place).includes('mapped.nt.gz') ? 'mapped.nt.gz' : 'facts.nt.gz'
    await pipeline(
      createReadStream(path.join(place, name)),
      createGunzip(),
      createWriteStream(file, { flags: 'a' }),
    )
  }
  return file
}

const LOAD = {
  virtuoso: async (engine, file) => {
    await runSql(
      engine.sqlPort,
      `ld_dir('${path.dirname(file)}', '*.nt', '${GRAPH}');\nrdf_loader_run();\ncheckpoint;\n`,
    )
  },
  oxigraph: put,
  fuseki: put,
}

async function put(engine, file) {
  const target = engine.name === 'oxigraph' ? `${engine.data}?default` : `${engine.data}?default`
  await new Promise((resolve, reject) => {
    const sent = request(
      target,
      { method: 'PUT', headers: { 'content-type': 'application/n-triples' } },
      response => {
        response
          .resume()
          .once('end', () =>
            response.statusCode < 300 ? resolve() : reject(new Error(`${response.statusCode}`)),
          )
      },
    )
    sent.once('error', reject)
    createReadStream(file).pipe(sent)
  })
}

const LONGEST = 20_000
const agent = new Agent({ keepAlive: true })
/** Asks an engine; one that does not answer within 20 seconds counts as that long, with status 0. */
function ask(address, query) {
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const url = new URL(address)
    url.searchParams.set('query', PREFIXES + query)
    const sent = request(url, { agent, headers: { accept: 'application/sparql-results+json' } }, response => {
      const pieces = []
      response.on('data', piece => pieces.push(piece))
      response.once('end', () =>
        resolve({
          status: response.statusCode,
          text: Buffer.concat(pieces).toString(),
          milliseconds: performance.now() - begun,
        }),
      )
    })
    sent.setTimeout(LONGEST, () => {
      resolve({ status: 0, text: 'no answer', milliseconds: LONGEST })
      sent.destroy()
    })
    sent.once('error', reject)
    sent.end()
  })
}

const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-race-'))
const server = spawn(
  process.execPath,
  [
    path.join(root, 'bin/lodestone.js'),
    'serve',
    '--portal',
    portal,
    '--port',
    '3977',
    '--base',
    'http://localhost:3000',
  ],
  { stdio: 'ignore' },
)
const asked = [
  { name: 'lodestone', query: 'http://127.0.0.1:3977/api/sparql', stop: async () => server.kill('SIGTERM') },
]
while (
  !(await fetch('http://127.0.0.1:3977/readyz').then(
    ({ ok }) => ok,
    () => false,
  ))
)
  await new Promise(next => setTimeout(next, 200))
// A portal of another base address was published anew by now: all are asked about the same IRIs.
const file = await dump(folder)
let port = 3980
for (const name of names) {
  const begun = performance.now()
  const engine = await startEngine(name, {
    folder: path.join(folder, name),
    port,
    heap: '3g',
    buffers: 170_000,
  })
  port += 2
  await LOAD[name](engine, file)
  process.stdout.write(`${name}: loaded in ${((performance.now() - begun) / 1000).toFixed(0)} s\n`)
  asked.push(
    name === 'virtuoso'
      ? { ...engine, name, query: `${engine.query}?default-graph-uri=${encodeURIComponent(GRAPH)}` }
      : { ...engine, name },
  )
}
const width = 44
process.stdout.write(`${''.padEnd(width)}${asked.map(({ name }) => name.padStart(12)).join('')}   rows\n`)
const wins = { ahead: 0, twice: 0 }
for (const [at, [name, make]] of Object.entries(values.further ? FURTHER : QUERIES).entries()) {
  if (values.only !== undefined && Number(values.only) !== at) continue
  const times = asked.map(() => [])
  const rows = []
  const late = new Set()
  for (let run = 0; run < RUNS + 3; run++)
    for (const [place, { query }] of asked.entries()) {
      if (late.has(place)) continue
      const { status, text, milliseconds } = await ask(query, make(run))
      if (run >= 3 || status === 0) times[place].push(milliseconds)
      if (status === 0) late.add(place)
      if (run === 3)
        rows[place] =
          status === 200 ? JSON.parse(text).results.bindings.length : `${status} ${text.slice(0, 80)}`
    }
  const medians = times.map(each => each.sort((a, b) => a - b)[each.length >> 1])
  const virtuoso = asked.findIndex(each => each.name === 'virtuoso')
  if (virtuoso > 0 && rows[virtuoso] === rows[0]) {
    if (medians[0] <= medians[virtuoso]) wins.ahead += 1
    if (medians[0] <= 2 * medians[virtuoso]) wins.twice += 1
  }
  process.stdout.write(
    `${name.padEnd(width)}${medians.map(each => each.toFixed(1).padStart(12)).join('')}   ${new Set(rows).size === 1 ? rows[0] : rows.join(' / ')}\n`,
  )
}
process.stdout.write(`ahead of Virtuoso ${wins.ahead}, within twice of it ${wins.twice}\n`)
for (const each of asked) await each.stop()
agent.destroy()
rmSync(folder, { recursive: true, force: true })
process.exit(0)
