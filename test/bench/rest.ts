import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { BASE, type BenchPortal, root } from './support.ts'
import { percentile, type Row, whole } from './table.ts'

const CONNECTIONS = 10
/** Each address is asked in turn, several times, so that all of them meet the same moods of the machine. */
const ROUNDS = 4
const ROUND = 1500
const WARM_UP = 1500

const RECORDS = '/api/explore/v2.1/catalog/datasets/cities/records'
const FACETS = '/api/explore/v2.1/catalog/datasets/cities/facets?facet=country_code'

/** How much of the requests a second of an empty route each answer must reach. */
const BARS = { page: 0.35, fresh: 0.6 } as const

interface Target {
  readonly what: string
  readonly port: number
  readonly pid: number | undefined
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly bar?: number
}

/** An empty route of the same framework in a process of its own, as the server under test has one. */
const EMPTY = `
import fastify from 'fastify'
const http = fastify()
http.get('/', (_, reply) => reply.send(''))
http.listen({ port: 0, host: '127.0.0.1' }).then(() => console.log('(port ' + http.server.address().port + ')'))
`

/**
 * Requests a second over HTTP with keep-alive, beside those of an empty route. The processor time of the server for a
 * request tells more than they do where the machine is busy and the client is what waits. LODESTONE_BENCH_PROFILE names
 * a folder for a profile of the server.
 */
export async function benchRest({ folder }: BenchPortal): Promise<readonly Row[]> {
  const empty = await begin(['--input-type=module', '-e', EMPTY])
  const profile = process.env.LODESTONE_BENCH_PROFILE
  const serve = [
    path.join(root, 'bin/lodestone.js'),
    'serve',
    '--portal',
    folder,
    '--port',
    '0',
    '--base',
    BASE,
  ]
  const server = await begin([...(profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []), ...serve])
  try {
    const url = `${RECORDS}?limit=20`
    const page = await answerOf(server.port, url)
    const targets: Target[] = [
      { what: 'an empty route', ...empty, url: '/' },
      { what: 'page of 20 records', ...server, url, bar: BARS.page },
    ]
    const gzip = { 'accept-encoding': 'gzip' }
    targets.push({ what: 'page of 20 records, gzip', ...server, url, headers: gzip })
    const tag = page.headers.get('etag')
    if (tag !== undefined) {
      const known = { 'if-none-match': tag }
      targets.push({ what: '304 of that page', ...server, url, headers: known, bar: BARS.fresh })
    }
    if ((await answerOf(server.port, FACETS)).status === 200)
      targets.push({ what: 'facets of a field', ...server, url: FACETS })
    targets.push({ what: 'no such dataset', ...server, url: `${RECORDS.replace('cities', 'none')}` })
    return rowsOf(targets, await measure(targets))
  } finally {
    await Promise.all([empty.stop(), server.stop()])
  }
}

/** What one round of one target gave. */
interface Round {
  readonly rate: number
  /** Microseconds of the processor for a request; not a number where the system does not tell. */
  readonly cost: number
}

async function measure(targets: readonly Target[]): Promise<readonly (readonly Round[])[]> {
  for (const target of targets) await load(target, WARM_UP)
  const rounds: Round[][] = targets.map(() => [])
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, target] of targets.entries()) {
      const before = processorTime(target.pid)
      const { count, seconds } = await load(target, ROUND)
      const consumed = processorTime(target.pid) - before
      rounds[index]?.push({ rate: count / seconds, cost: consumed / count })
    }
  return rounds
}

/** Microseconds of the processor that a process has taken, in its hundredths of a second. */
function processorTime(pid: number | undefined): number {
  const file = `/proc/${pid}/stat`
  if (pid === undefined || !existsSync(file)) return Number.NaN
  const figures = readFileSync(file, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(figures[11]) + Number(figures[12])) * 10_000
}

function rowsOf(targets: readonly Target[], rounds: readonly (readonly Round[])[]): readonly Row[] {
  const middle = (index: number, part: keyof Round) =>
    percentile(
      (rounds[index] ?? []).map(round => round[part]),
      0.5,
    )
  return targets.map(({ what: name, bar }, index) => {
    const part = middle(index, 'rate') / middle(0, 'rate')
    const cost = middle(index, 'cost')
    const described = Number.isNaN(cost) ? '' : `  ${cost.toFixed(1)} µs`
    const value = `${whole(middle(index, 'rate'))} requests/s  ${part.toFixed(2)} of an empty route${described}`
    const what = `REST: ${name}`
    return bar === undefined ? { what, value } : { what, value, bar: `at least ${bar}`, met: part >= bar }
  })
}

interface Begun extends Pick<Target, 'port' | 'pid'> {
  readonly stop: () => Promise<unknown>
}

/** Starts a server that prints its port. */
function begin(args: readonly string[]): Promise<Begun> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
  return new Promise((resolve, reject) => {
    let printed = ''
    child.stdout.setEncoding('latin1').on('data', (text: string) => {
      printed += text
      const port = /\(port (\d+)\)/.exec(printed)?.[1]
      if (port !== undefined) resolve({ port: Number(port), pid: child.pid, stop: () => stop(child) })
    })
    child.once('exit', code => reject(new Error(`a server ended with ${code}: ${printed}`)))
  })
}

function stop(child: ChildProcess): Promise<unknown> {
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  return ended
}

/** Asks one address on several connections for some milliseconds. */
async function load(target: Target, milliseconds: number) {
  const begun = performance.now()
  const counts = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => askUntil(target, begun + milliseconds)),
  )
  const count = counts.reduce((sum, each) => sum + each, 0)
  return { count, seconds: (performance.now() - begun) / 1000 }
}

/** Asks again and again on one connection. */
function askUntil({ port, url, headers = {} }: Target, end: number): Promise<number> {
  const bytes = requestBytes(url, headers)
  return new Promise((resolve, reject) => {
    let count = 0
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    onAnswers(socket, () => {
      count++
      if (performance.now() < end) socket.write(bytes)
      else {
        resolve(count)
        socket.end()
      }
    })
    socket.once('close', () => reject(new Error(`${url}: the server left`)))
    socket.once('error', reject).write(bytes)
  })
}

/**
 * Reads answers off a connection and does no more than to find their ends: a client that read them properly would be
 * what is measured, for it takes longer than the server.
 */
function onAnswers(socket: Socket, onAnswer: () => void): void {
  let head = ''
  let missing = 0
  socket.on('data', data => {
    if (missing === 0) {
      head += data.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      missing = end + 4 - head.length + Number(LENGTH.exec(head.slice(0, end))?.[1] ?? 0)
      head = ''
    } else missing -= data.length
    if (missing === 0) onAnswer()
  })
}

const LENGTH = /\r\ncontent-length: (\d+)/i

function requestBytes(url: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${url} HTTP/1.1\r\nhost: bench.example\r\n${lines.join('')}\r\n`
}

/** Status and headers of one answer. */
async function answerOf(port: number, url: string) {
  const response = await fetch(`http://127.0.0.1:${port}${url}`, {
    headers: { 'accept-encoding': 'identity' },
  })
  await response.arrayBuffer()
  return { status: response.status, headers: new Map(response.headers) }
}
