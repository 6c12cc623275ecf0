import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { writeGeneration } from '../support/crash.ts'
import { freePort } from '../support/serving.ts'
import { mutatedRequest, randomOf } from './mutations.ts'

/**
 * Mutated requests as fast as one server answers them: none is answered 500, and memory is flat after the first so many.
 * `node --import=tsx test/campaign/mutants.ts --minutes 10 --seed 1 --warm 100000`, after `npm run build`.
 */
const { values } = parseArgs({
  options: { minutes: { type: 'string' }, seed: { type: 'string' }, warm: { type: 'string' } },
})
const minutes = Number(values.minutes ?? 10)
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const warm = Number(values.warm ?? 100_000)
const random = randomOf(seed)
const end = performance.now() + minutes * 60_000

/** Requests at a time, and how often memory is read. */
const [CLIENTS, SAMPLE] = [16, 5000]

const BINARY = path.resolve(import.meta.dirname, '../../bin/lodestone.js')
const portal = mkdtempSync(path.join(tmpdir(), 'mutants-'))
const port = await freePort()
writeGeneration(portal, '1')
// Budgets of work are for clients that want more than their share; here the server is to answer all that it can.
writeFileSync(
  path.join(portal, 'portal.yaml'),
  'title: Mutants\nmemory: 700MB\ndeadline: 3\nworkers: 2\nwork_burst: 86400\nwork_rate: 1000\n',
)
const server = spawn('node', [BINARY, 'serve', '--portal', portal, '--port', String(port)], {
  stdio: ['ignore', 'ignore', 'pipe'],
})
let described = ''
server.stderr.on('data', piece => {
  described = (described + String(piece)).slice(-5000)
})
const broken: string[] = []
server.once('exit', (code, signal) => {
  if (signal !== 'SIGKILL') broken.push(`the server ended by itself: ${code ?? signal} ${described}`)
})
const statuses: Record<string, number> = {}
const memory: { readonly requests: number; readonly rss: number }[] = []
const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
let sent = 0

function ask(address: string): Promise<string> {
  return new Promise(resolve => {
    const requested = request({ port, host: '127.0.0.1', path: address, agent, timeout: 60_000 }, answer => {
      answer.resume()
      answer.once('end', () => resolve(String(answer.statusCode)))
      answer.once('error', error => resolve(error.message))
    })
    requested.once('timeout', () => requested.destroy(new Error('timeout')))
    requested.once('error', error => resolve(error.message))
    requested.end()
  })
}

async function client(): Promise<void> {
  while (performance.now() < end && server.exitCode === null) {
    const address = mutatedRequest(random)
    const status = await ask(address)
    statuses[status] = (statuses[status] ?? 0) + 1
    if (status === '500' || !/^\d+$/.test(status)) breaks(`${status}: ${address} ${described.slice(-1500)}`)
    if (++sent % SAMPLE === 0) sample()
  }
}

/** Tells what is wrong at once, as long as there is little of it. */
function breaks(what: string): void {
  broken.push(what)
  if (broken.length <= 20) process.stdout.write(`BROKEN: ${what}\n`)
}

function sample(): void {
  const found = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]
  memory.push({ requests: sent, rss: Math.round(Number(found) / 1000) })
  process.stdout.write(`${JSON.stringify({ ...memory.at(-1), broken: broken.length })}\n`)
}

try {
  for (let tries = 0; tries < 300 && (await ask('/readyz')) !== '200'; tries++) await sleep(200)
  await Promise.all(Array.from({ length: CLIENTS }, client))
  if (server.exitCode === null) sample()
} finally {
  server.kill('SIGKILL')
  agent.destroy()
  rmSync(portal, { recursive: true, force: true, maxRetries: 5 })
}
const after = memory.filter(({ requests }) => requests >= warm).map(({ rss }) => rss)
const growth = after.length < 2 ? null : (after.at(-1) ?? 0) / (after[0] ?? 1) - 1
if (growth !== null && growth > 0.1) broken.push(`memory grew by ${Math.round(growth * 100)} %`)
process.stdout.write(
  `${JSON.stringify({ seed, sent, statuses, growth, broken: broken.slice(0, 20) }, null, 2)}\n`,
)
process.exit(broken.length > 0 ? 1 : 0)
