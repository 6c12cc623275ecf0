import { spawn } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startEngine } from './engines.mjs'

/**
 * Two instances of Lodestone on one engine under mixed load, while a dataset is republished again and again, and with
 * `--kill` while Lodestone, its publisher or the engine are killed at random moments. It tells every answer that is wrong, every
 * error that is not a clear one, how long new versions take until both serve them, and memory and descriptors over time.
 *
 * node soak.mjs [--engine oxigraph] [--minutes 20] [--kill] [--connections 16] [--republish 60]
 */
const { values: options } = parseArgs({
  options: {
    engine: { type: 'string', default: 'oxigraph' },
    minutes: { type: 'string', default: '20' },
    connections: { type: 'string', default: '16' },
    /** Seconds between two publications. */
    republish: { type: 'string', default: '30' },
    records: { type: 'string', default: '5000' },
    kill: { type: 'boolean', default: false },
    embedded: { type: 'boolean', default: false },
  },
})
const ROOT = join(import.meta.dirname, '../../..')
const BASE = 'http://portal.example'
const PORTS = [7471, 7472]
const ENGINE_PORT = 7480
const folder = mkdtempSync(join(tmpdir(), 'lodestone-soak-'))
const portal = join(folder, 'portal')

const problems = new Map()
function problem(kind, detail) {
  const known = problems.get(kind) ?? { count: 0, first: detail }
  known.count += 1
  problems.set(kind, known)
  if (known.count === 1) console.log(`PROBLEM ${kind}: ${detail}`)
}

/** Every value of a version is its number: an answer with two of them is mixed. */
let generation = 0
function writeGeneration() {
  generation += 1
  const rows = Array.from(
    { length: Number(options.records) },
    (_, at) => `thing ${at},${at % 97},${generation}`,
  )
  writeFileSync(join(portal, 'data/things/things.csv'), `name,bucket,generation\n${rows.join('\n')}\n`)
}

mkdirSync(join(portal, 'data/things'), { recursive: true })
writeFileSync(
  join(portal, 'portal.yaml'),
  'title: Soak\nquotas: { domain: 1000000000, anonymous: 1000000000 }\n',
)
writeFileSync(join(portal, 'data/things/dataset.yaml'), 'source: { path: things.csv }\nid: [name]\n')
for (const id of ['countries', 'airports'])
  cpSync(join(ROOT, 'data', id), join(portal, 'data', id), { recursive: true })
symlinkSync(join(ROOT, 'node_modules'), join(portal, 'node_modules'))
writeGeneration()

let engine = options.embedded
  ? null
  : await startEngine(options.engine, { folder: join(folder, 'engine'), port: ENGINE_PORT })
const store = engine === null ? {} : { LODESTONE_STORE: engine.query.replace(/\/(query|sparql)$/, '') }
const environment = { ...process.env, ...store, LODESTONE_LOG: 'error' }

function lodestone(...args) {
  const child = spawn(
    process.execPath,
    [join(ROOT, 'bin/lodestone.js'), ...args, '--portal', portal, '--base', BASE],
    {
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  child.errors = ''
  child.stderr.on('data', piece => {
    child.errors = (child.errors + piece).slice(-4000)
  })
  child.ended = new Promise(resolve => child.once('close', code => resolve(code)))
  return child
}

const instances = PORTS.map(port => ({ port, child: null, readyAt: 0 }))
async function begin(instance) {
  instance.child = lodestone('serve', '--port', String(instance.port))
  const child = instance.child
  child.ended.then(code => {
    if (!options.kill && !stopping) problem('an instance ended', `${code} ${child.errors}`)
  })
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${instance.port}/readyz`).catch(() => null)
    await answer?.body?.cancel()
    if (answer?.ok) break
    if (child.exitCode !== null) {
      if (!options.kill) throw new Error(child.errors)
      // The engine may be away at this moment: whoever supervises starts it again.
      await sleep(500)
      return begin(instance)
    }
    await sleep(100)
  }
  instance.readyAt = Date.now()
}

let stopping = false
await begin(instances[0])
await begin(instances[1])
console.log('both serve')

/** Times at which something was killed: answers around them may be 503, or none. */
let disturbed = 0
const isDisturbed = () => Date.now() - disturbed < 15_000

const things = '/api/explore/v2.1/catalog/datasets/things'
const one = text =>
  new Set(text.match(/"generation"\s*:\s*\d+/g)?.map(each => /\d+/.exec(each)[0]) ?? []).size
const requests = [
  [`${things}/records?limit=100`, text => one(text) === 1],
  [`${things}/records?where=bucket%3D7&limit=100&order_by=name`, text => one(text) === 1],
  [
    `${things}/records?select=count(*)%20as%20n&group_by=generation`,
    text =>
      JSON.parse(text).results.length === 1 && JSON.parse(text).results[0].n === Number(options.records),
  ],
  [
    `${things}/exports/json?select=name,generation&limit=2000`,
    text => one(text) === 1 && JSON.parse(text).length === Math.min(2000, Number(options.records)),
  ],
  [`${things}/facets?facet=generation`, text => JSON.parse(text).facets[0].facets.length === 1],
  [
    '/api/explore/v2.1/catalog/datasets/countries/records?where=search(%22land%22)',
    text => JSON.parse(text).total_count > 5,
  ],
  [
    '/api/explore/v2.1/catalog/datasets/airports/records?where=state%3D%22CA%22&limit=5',
    text => JSON.parse(text).total_count === 205,
  ],
  ['/api/explore/v2.1/catalog/datasets?limit=10', text => JSON.parse(text).total_count === 3],
  ['/api/odata/things?$top=50&$filter=bucket%20eq%203', () => true],
  ['/api/tpf/airports?page=2', () => true],
  [`/api/sparql?query=${encodeURIComponent('SELECT (COUNT(*) AS ?n) { ?s ?p ?o }')}`, () => true],
]
const counts = { answers: 0, unavailable: 0, none: 0 }
const times = []
const byPath = new Map()
async function load(instance) {
  while (!stopping) {
    const [path, isRight] = requests[Math.floor(Math.random() * requests.length)]
    const begun = performance.now()
    try {
      const answer = await fetch(`http://127.0.0.1:${instance.port}${path}`, {
        signal: AbortSignal.timeout(30_000),
      })
      const text = await answer.text()
      times.push(performance.now() - begun)
      const own = byPath.get(path) ?? []
      byPath.set(path, own)
      own.push(performance.now() - begun)
      if (times.length > 200_000) times.splice(0, 100_000)
      counts.answers += 1
      if (answer.status === 200) {
        let right = false
        try {
          right = isRight(text)
        } catch {
          // Not even JSON.
        }
        if (!right) problem(`wrong answer ${path.split('?')[0]}`, `${path}: ${text.slice(0, 300)}`)
      } else if (answer.status === 503 && isDisturbed()) {
        counts.unavailable += 1
        if (!/error_code|"error"|"detail"|<html/.test(text)) problem('unclear error', text.slice(0, 300))
        await sleep(50)
      } else problem(`status ${answer.status} ${path.split('?')[0]}`, `${path}: ${text.slice(0, 500)}`)
    } catch (error) {
      if (isDisturbed() || stopping) counts.none += 1
      else problem('no answer', `${path}: ${error.cause?.code ?? error}`)
      await sleep(100)
    }
  }
}

async function generationOf(instance) {
  const answer = await fetch(
    `http://127.0.0.1:${instance.port}${things}/records?limit=1&select=generation&x=${Math.random()}`,
  ).catch(() => null)
  if (answer === null || answer.status !== 200) return null
  return (await answer.json().catch(() => null))?.results?.[0]?.generation ?? null
}

const delays = []
async function republish() {
  while (!stopping) {
    await sleep(Number(options.republish) * 1000 * (options.kill ? Math.random() : 1))
    if (stopping) return
    writeGeneration()
    const wanted = generation
    const publisher = lodestone('publish', 'things')
    if (options.kill && Math.random() < 0.5) {
      await sleep(Math.random() * 4000)
      publisher.kill('SIGKILL')
    }
    const code = await publisher.ended
    if (code !== 0) {
      if (!options.kill) problem('a publication failed', publisher.errors)
      continue
    }
    const published = Date.now()
    for (const instance of instances) {
      while (!stopping && Date.now() - published < 60_000) {
        const found = await generationOf(instance)
        if (found !== null && found >= wanted) break
        await sleep(20)
      }
      const delay = Date.now() - published
      if (delay > 2000 && !isDisturbed()) problem('a version is late', `${delay} ms on ${instance.port}`)
      delays.push(delay)
    }
  }
}

async function kill() {
  while (!stopping) {
    await sleep(8000 + Math.random() * 20_000)
    if (stopping) return
    disturbed = Date.now()
    const what = Math.floor(Math.random() * 3)
    if (what === 2 && engine !== null) {
      await engine.kill()
      await sleep(Math.random() * 3000)
      disturbed = Date.now()
      engine = await startEngine(options.engine, { folder: join(folder, 'engine'), port: ENGINE_PORT })
      console.log('the engine was killed')
    } else {
      const instance = instances[what % 2]
      instance.child.kill('SIGKILL')
      await instance.child.ended
      await begin(instance)
      console.log(`instance ${instance.port} was killed`)
    }
    disturbed = Date.now()
  }
}

function figures(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return {
    rss: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  }
}

const begun = Date.now()
const end = begun + Number(options.minutes) * 60_000
const work = [republish(), ...(options.kill ? [kill()] : [])]
for (let at = 0; at < Number(options.connections); at++) work.push(load(instances[at % 2]))
let last = 0
while (Date.now() < end) {
  await sleep(Math.min(15_000, end - Date.now()))
  const rows = instances.map(({ child }) => {
    try {
      const { rss, descriptors } = figures(child.pid)
      return `${rss} MB ${descriptors} fd`
    } catch {
      return 'away'
    }
  })
  const rate = Math.round(((counts.answers - last) * 1000) / 15_000)
  last = counts.answers
  const sorted = [...times].sort((a, b) => a - b)
  const p = part => Math.round(sorted[Math.floor(sorted.length * part)] ?? 0)
  console.log(
    `${Math.round((Date.now() - begun) / 1000)} s: ${counts.answers} answers (${rate}/s, p50 ${p(0.5)} p95 ${p(0.95)} ms), ${counts.unavailable} 503, ${counts.none} none; ${rows.join(', ')}; generation ${generation}`,
  )
}
stopping = true
await Promise.all(work.map(each => each.catch(error => problem('the test itself', error.stack))))
if (options.kill) {
  disturbed = 0
  await lodestone('publish', 'things').ended
  await sleep(3000)
  for (const instance of instances) {
    const found = await generationOf(instance)
    if (found !== generation)
      problem('lost', `generation ${found} on ${instance.port} instead of ${generation}`)
  }
}
for (const { child } of instances) child.kill('SIGTERM')
await Promise.all(instances.map(({ child }) => child.ended))
await engine?.stop()
delays.sort((a, b) => a - b)
for (const [path, own] of byPath) {
  own.sort((a, b) => a - b)
  const p = part => own[Math.floor(own.length * part)].toFixed(0)
  console.log(`p50 ${p(0.5)} p95 ${p(0.95)} ms of ${own.length}: ${path.slice(0, 100)}`)
}
console.log(
  `new versions: ${delays.length}, median ${delays[delays.length >> 1]} ms, longest ${delays.at(-1)} ms`,
)
for (const [kind, { count, first }] of problems) console.log(`${count} times ${kind}; first: ${first}`)
console.log(problems.size === 0 ? 'Nothing is wrong.' : `${problems.size} kinds of problems`)
if (problems.size === 0) rmSync(folder, { recursive: true, force: true })
else console.log(`kept: ${folder}`)
process.exit(problems.size === 0 ? 0 : 1)
