import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openAccounts } from '../../src/accounts/open.ts'
import { fillAccounts, KEYS, keyOf } from './accounts.ts'
import { BASE, root } from './support.ts'
import { percentile, type Row, under } from './table.ts'

const [WARM_UP, CALLS] = [2000, 6000]

const WHO = ['anonymous', 'in use', 'rare'] as const
type Who = (typeof WHO)[number]

/** One of 100 keys, one of all in turn, or none. */
function keyFor(who: Who, call: number): string | null {
  return who === 'anonymous' ? null : keyOf((call * 7919) % (who === 'rare' ? KEYS : 100))
}

/** What is asked: something that is made for each call, and something that is given again to anybody. */
const REQUESTED = {
  'a list of links': '/api/explore/v2.1/catalog',
  'a record': '/api/explore/v2.1/catalog/datasets/small/records?limit=1',
} as const

/**
 * What it costs a request over HTTP with keep-alive that its key is looked up, among 10,000 users with grants and 50,000
 * keys: with and without a key in turn.
 */
export async function benchAuthentication(): Promise<readonly Row[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-authentication-'))
  const data = path.join(folder, 'data', 'small')
  mkdirSync(data, { recursive: true })
  writeFileSync(path.join(folder, 'portal.yaml'), 'title: Bench\n')
  writeFileSync(path.join(data, 'dataset.yaml'), 'source: { path: small.csv }\n')
  writeFileSync(path.join(data, 'small.csv'), 'a,b\n1,one\n2,two\n')
  const file = path.join(folder, 'var', 'accounts.sqlite')
  openAccounts(file, { now: () => Date.now() }).close()
  fillAccounts(file, Date.now())
  const server = spawn(
    process.execPath,
    [path.join(root, 'bin/lodestone.js'), 'serve', '--portal', folder, '--port', '0', '--base', BASE],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const port = await portOf(server)
    const rows: Row[] = []
    for (const [what, url] of Object.entries(REQUESTED)) {
      const times = new Map<Who, number[]>(WHO.map(who => [who, []]))
      for (let call = 0; call < WARM_UP + CALLS; call++)
        for (const who of WHO) {
          const time = await timeOf(agent, port, url, keyFor(who, call))
          if (call >= WARM_UP) times.get(who)?.push(time)
        }
      const [without = 0, inUse = 0, rare = 0] = WHO.map(who => percentile(times.get(who) ?? [], 0.5))
      rows.push(
        { what: `${what}, anonymous, p50`, value: `${without.toFixed(3)} ms` },
        under(`${what}, what a key in use adds, p50`, inUse - without, 0.3, 'ms', 3),
        under(`${what}, what a key that is rarely used adds, p50`, rare - without, 0.3, 'ms', 3),
      )
    }
    return rows
  } finally {
    agent.destroy()
    const ended = new Promise(resolve => server.once('exit', resolve))
    server.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The port that a server says it listens on, once it is ready. */
async function portOf(server: ChildProcess): Promise<number> {
  let described = ''
  for await (const piece of server.stdout ?? []) {
    described += String(piece)
    const port = /\(port (\d+)\)/.exec(described)?.[1]
    if (port !== undefined) return Number(port)
  }
  throw new Error(`the server ended: ${described}`)
}

/** Milliseconds from the request to the end of its answer. */
function timeOf(agent: Agent, port: number, url: string, key: string | null): Promise<number> {
  const headers = key === null ? {} : { authorization: `Apikey ${key}` }
  return new Promise((resolve, reject) => {
    const begun = performance.now()
    request({ agent, port, host: '127.0.0.1', path: url, headers }, response => {
      if (response.statusCode !== 200) reject(new Error(`${url} was answered ${response.statusCode}`))
      response.resume().once('end', () => resolve(performance.now() - begun))
    })
      .once('error', reject)
      .end()
  })
}
