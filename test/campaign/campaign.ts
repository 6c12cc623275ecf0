import { type ChildProcess, spawn } from 'node:child_process'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { CRASH_DATASETS, CRASH_RECORDS, publishedGeneration, writeGeneration } from '../support/crash.ts'
import { freePort } from '../support/serving.ts'
import { mutatedRequest, randomOf } from './mutations.ts'

/**
 * A campaign that runs on its own: a server is killed, its files are damaged, its disk fills up, clients are slow and requests
 * mutated, while readers compare every answer with what it must be. `npm run test:campaign -- --minutes 5 --seed 1`.
 */
const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } })
const minutes = Number(values.minutes ?? 5)
const seed = Number(values.seed ?? Date.now() % 1_000_000)
if (!(minutes > 0) || !Number.isInteger(seed)) throw new Error('--minutes and --seed are numbers')
const random = randomOf(seed)
const end = performance.now() + minutes * 60_000
const isOver = () => performance.now() > end

const BINARY = path.resolve(import.meta.dirname, '../../bin/lodestone.js')
const MEMORY = 700e6
const portal = mkdtempSync(path.join(tmpdir(), 'campaign-'))
const port = await freePort()
const base = `http://127.0.0.1:${port}`
const counts: Record<string, number> = {}
const broken: string[] = []
const log = (text: string) => process.stdout.write(`${text}\n`)
const count = (what: string) => {
  counts[what] = (counts[what] ?? 0) + 1
}
const breaks = (what: string) => {
  broken.push(what)
  log(`BROKEN: ${what}`)
}

let generation = 1
let server: ChildProcess | null = null
let isUp = false
/** Readers compare nothing that began before the server of now. */
let run = 0
/** What the server of now has written last: it explains an answer of 500. */
let described = ''
/** The highest generation that was seen in force of each dataset: no later answer may be older. */
const seen = new Map<string, number>()
let largest = { rss: 0, files: 0 }

function write(): void {
  writeGeneration(portal, String(generation))
  writeFileSync(path.join(portal, 'portal.yaml'), 'title: Campaign\nmemory: 700MB\ndeadline: 3\nworkers: 2\n')
}

async function start(): Promise<void> {
  run += 1
  const child = spawn('node', [BINARY, 'serve', '--portal', portal, '--port', String(port)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  described = ''
  child.stderr.on('data', piece => {
    described = (described + String(piece)).slice(-5000)
  })
  server = child
  child.once('exit', (code, signal) => {
    isUp = false
    if (signal !== 'SIGKILL' && server === child)
      breaks(`the server ended by itself: ${code ?? signal} ${described}`)
  })
  for (let tries = 0; tries < 600 && child.exitCode === null; tries++) {
    if ((await fetch(`${base}/readyz`).catch(() => null))?.ok === true) {
      isUp = true
      return
    }
    await sleep(200)
  }
  breaks(`the server was not ready again: ${described}`)
}

async function kill(): Promise<void> {
  isUp = false
  const child = server
  server = null
  if (child === null || child.exitCode !== null) return
  child.kill('SIGKILL')
  await new Promise(resolve => child.once('exit', resolve))
}

/** Reads a dataset in two ways: all of it is of one generation, which is none that was replaced before. */
async function read(id: string): Promise<void> {
  const begun = run
  const least = seen.get(id) ?? 0
  const groups = `${base}/api/explore/v2.1/catalog/datasets/${id}/records?select=count(*)%20as%20c&group_by=generation&where=id%20%3E%20${-1 - Math.floor(random() * 1e6)}`
  const answer = await fetch(groups, { signal: AbortSignal.timeout(30_000) })
  const body = (await answer.json()) as {
    readonly results?: readonly { readonly generation: unknown; readonly c: number }[]
  }
  if (answer.status === 503 || answer.status === 429 || (answer.status === 404 && !isUp))
    return count(`read ${answer.status}`)
  if (begun !== run) return
  const [first, ...others] = body.results ?? []
  const found = Number(first?.generation)
  if (answer.status !== 200 || others.length > 0 || first?.c !== CRASH_RECORDS)
    return breaks(`${id}: ${answer.status} ${JSON.stringify(body).slice(0, 300)}`)
  if (found < least) breaks(`${id}: generation ${found} after ${least}`)
  seen.set(id, Math.max(found, seen.get(id) ?? 0))
  count('reads')
}

async function readers(): Promise<void> {
  while (!isOver()) {
    if (isUp) await read(CRASH_DATASETS[random() < 0.5 ? 0 : 1]).catch(error => failed('read', error))
    await sleep(20)
  }
}

async function mutants(): Promise<void> {
  while (!isOver()) {
    if (!isUp) await sleep(100)
    const request = mutatedRequest(random)
    const begun = run
    try {
      const answer = await fetch(base + request, { redirect: 'manual', signal: AbortSignal.timeout(60_000) })
      const body = await answer.text()
      count(`mutated ${answer.status}`)
      if (answer.status === 500) breaks(`500 to ${request}: ${body.slice(0, 300)} ${described.slice(-2000)}`)
    } catch (error) {
      if (begun === run && isUp) failed('mutated', error)
    }
  }
}

function failed(what: string, error: unknown): void {
  // A connection that a kill has cut is no answer.
  const { name, cause } = error as { readonly name?: string; readonly cause?: { readonly code?: string } }
  count(`${what} ${cause?.code ?? name}`)
}

function slow(): void {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('GET /api/explore/v2.1/catalog/datasets/first/exports/json HTTP/1.1\r\nhost: x\r\n\r\n')
  socket.pause()
  setTimeout(() => socket.destroy(), 20_000).unref()
}

/** Cuts or changes a file of a published version, as a disk may; the version is made again of its source. */
function damage(): void {
  const folder = path.join(portal, 'var', 'published')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => path.join(folder, name))
    .filter(file => statSync(file).isFile() && /facts|index|mapped|columns/.test(file))
  const file = files[Math.floor(random() * files.length)]
  if (file === undefined) return
  const bytes = readFileSync(file)
  if (random() < 0.5) truncateSync(file, Math.floor(bytes.length * random()))
  else {
    const at = Math.floor(bytes.length * random())
    bytes[at] = (bytes[at] ?? 0) ^ 255
    writeFileSync(file, bytes)
  }
  count(`damaged ${path.basename(file)}`)
}

const ACTIONS: readonly (() => Promise<void>)[] = [
  async () => {
    generation += 1
    write()
    count('generations')
    await sleep(random() * 8000)
  },
  async () => {
    generation += 1
    write()
    // In the middle of what it publishes, or just before or after.
    await sleep(random() * 4000)
    await kill()
    count('kills')
    for (const id of CRASH_DATASETS)
      try {
        publishedGeneration(portal, id)
      } catch (error) {
        breaks(`after a kill: ${String(error)}`)
      }
    await start()
  },
  async () => {
    await kill()
    damage()
    // Of a damaged version nothing is known: it is made again of the source of now.
    seen.clear()
    await start()
  },
  async () => {
    for (let clients = 0; clients < 20; clients++) slow()
    count('slow clients')
  },
]

async function chaos(): Promise<void> {
  while (!isOver()) {
    await ACTIONS[Math.floor(random() * ACTIONS.length)]?.()
    await sleep(1000 + random() * 3000)
  }
}

async function watch(): Promise<void> {
  for (let turn = 0; !isOver(); turn++) {
    const pid = server?.pid
    if (pid !== undefined && isUp)
      try {
        const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
        const files = readdirSync(`/proc/${pid}/fd`).length
        largest = { rss: Math.max(largest.rss, rss), files: Math.max(largest.files, files) }
        if (rss > MEMORY) breaks(`${Math.round(rss / 1e6)} MB of memory, the setting is ${MEMORY / 1e6}`)
        if (files > 800) breaks(`${files} descriptors are open`)
      } catch {
        // It has ended meanwhile, or the system has no /proc.
      }
    if (turn % 15 === 0)
      log(JSON.stringify({ left: Math.round((end - performance.now()) / 1000), generation, ...counts }))
    await sleep(2000)
  }
}

log(`seed ${seed}, ${minutes} minutes`)
try {
  write()
  await start()
  await Promise.all([chaos(), watch(), readers(), readers(), mutants(), mutants(), mutants()])
} finally {
  await kill()
  rmSync(portal, { recursive: true, force: true, maxRetries: 5 })
}
log(JSON.stringify({ seed, generation, ...largest, ...counts, broken: broken.length }, null, 2))
if (broken.length > 0) log(`again with: npm run test:campaign -- --minutes ${minutes} --seed ${seed}`)
process.exit(broken.length > 0 ? 1 : 0)
