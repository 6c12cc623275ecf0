import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, cpSync, readFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { demonstration, root } from '../bench/support.ts'
import { randomOf } from './mutations.ts'

/**
 * The demonstration portal within a limit of memory, under what all its kinds of clients request at once, SPARQL for the
 * engine among it: every answer has its expected status, equal requests have equal answers, and the process lives.
 * `node --import=tsx test/campaign/mixed-load.ts --minutes 20 --memory 600MB --clients 4`, after `npm run build`.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    memory: { type: 'string', default: '600MB' },
    clients: { type: 'string', default: '4' },
    seed: { type: 'string', default: '1' },
  },
})
const random = randomOf(Number(values.seed))
const BINARY = path.join(root, 'bin/lodestone.js')
const portal = await demonstration()
cpSync(path.join(root, 'mappings'), path.join(portal.folder, 'mappings'), { recursive: true })
// Budgets of work are for clients that want more than their share; here the server is to answer all that it can.
appendFileSync(
  path.join(portal.folder, 'portal.yaml'),
  `memory: ${values.memory}\nwork_burst: 86400\nwork_rate: 1000\n`,
)
const port = await freePort()
const server = spawn('node', [BINARY, 'serve', '--portal', portal.folder, '--port', String(port)], {
  stdio: ['ignore', 'ignore', 'pipe'],
})
let described = ''
server.stderr.on('data', piece => {
  described = (described + String(piece)).slice(-5000)
})
const agent = new http.Agent({ keepAlive: true, maxSockets: Number(values.clients) })

interface LoadRequest {
  readonly kind: string
  readonly path: string
  readonly accept?: string
  /** Statuses that are right, 200 otherwise: the engine refuses what does not fit into the memory. */
  readonly statuses?: readonly number[]
}

const EXPLORE = '/api/explore/v2.1/catalog/datasets'
const COUNTRIES = ['US', 'FR', 'DE', 'IT', 'MX', 'BR', 'IN', 'CN', 'RU', 'PL', 'ES', 'JP']
const DATASETS = ['airports', 'countries', 'earthquakes', 'movies', 'weather']
const FORMATS = ['csv', 'json', 'jsonl', 'xlsx', 'parquet', 'turtle', 'jsonld', 'rdfxml']
const number = (below: number) => Math.floor(random() * below)
const pick = <Item>(items: readonly Item[]): Item => items[number(items.length)] as Item
const query = (parameters: Readonly<Record<string, string | number>>) =>
  new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)])).toString()
const records = (parameters: Readonly<Record<string, string | number>>) =>
  `${EXPLORE}/cities/records?${query(parameters)}`
const sparql = (dataset: string, text: string) => `/api/sparql/${dataset}?${query({ query: text })}`

const KINDS: Readonly<Record<string, () => Omit<LoadRequest, 'kind'>>> = {
  page: () => ({ path: records({ limit: 20, offset: number(9000), order_by: 'name' }) }),
  filter: () => ({
    path: records({
      where: `country_code = "${pick(COUNTRIES)}" and population > ${number(50_000)}`,
      order_by: 'population desc',
    }),
  }),
  groups: () => ({
    path: records({
      where: `population > ${number(5000)}`,
      select: 'count(*) as n, median(population) as m',
      group_by: 'country_code',
      limit: 300,
    }),
  }),
  circle: () => ({
    path: records({
      where: `within_distance(coordinates, geom'POINT(${number(360) - 180} ${number(120) - 60})', 90km)`,
    }),
  }),
  word: () => ({ path: records({ where: `"${pick(['san', 'port', 'new', 'villa', 'bad', 'saint'])}*"` }) }),
  facets: () => ({
    path: `${EXPLORE}/cities/facets?${query({ facet: 'country_code', where: `population > ${number(9000)}` })}`,
  }),
  export: () => ({ path: `${EXPLORE}/${pick(DATASETS)}/exports/${pick(FORMATS)}` }),
  'large export': () => ({
    path: `${EXPLORE}/cities/exports/csv?${query({ where: `country_code = "${pick(COUNTRIES)}"` })}`,
  }),
  odata: () => ({
    path: `/api/odata/cities?${query({ $filter: `population gt ${number(900_000)}`, $orderby: 'name', $top: 50 })}`,
  }),
  fragment: () => ({ path: `/api/tpf/cities?page=${1 + number(2000)}`, accept: 'text/turtle' }),
  'star query': () => ({
    path: sparql(
      'cities',
      `SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY DESC(?n) LIMIT ${1 + number(50)}`,
    ),
    accept: 'text/csv',
  }),
  triples: () => ({
    path: sparql('cities', `SELECT * { ?s ?p ?o } LIMIT ${10_000 + number(50_000)}`),
    accept: 'text/csv',
  }),
  'engine, small': () => ({
    path: sparql(
      'countries',
      `SELECT ?s ?o { ?s a ?c LATERAL { ?s <http://schema.org/name> ?o } } ORDER BY ?s ?o LIMIT ${1 + number(50)}`,
    ),
    accept: 'text/csv',
  }),
  'engine, large': () => ({
    path: sparql(
      'cities',
      `SELECT ?s ?o { ?s a ?c LATERAL { ?s <http://schema.org/name> ?o } } LIMIT ${1 + number(50)}`,
    ),
    accept: 'text/csv',
    statuses: [200, 422],
  }),
  site: () => ({
    path: pick(['/', '/explore/', '/explore/dataset/cities/table/', '/developers/']),
    accept: 'text/html',
  }),
  catalog: () => ({ path: `${EXPLORE}?${query({ limit: 10, order_by: 'dataset_id' })}` }),
  void: () => ({ path: '/api/void', accept: 'text/turtle' }),
}

const counts: Record<string, Record<string, number>> = {}
const times: Record<string, number[]> = {}
const digests = new Map<string, string>()
const broken: string[] = []
let largest = 0

async function client(end: number): Promise<void> {
  while (performance.now() < end && server.exitCode === null) {
    const kind = pick(Object.keys(KINDS))
    const request: LoadRequest = { kind, ...(KINDS[kind] as () => Omit<LoadRequest, 'kind'>)() }
    const begun = performance.now()
    const { status, digest } = await send(request)
    const own = times[kind] ?? []
    times[kind] = own
    own.push(performance.now() - begun)
    const statuses = counts[kind] ?? {}
    counts[kind] = statuses
    statuses[status] = (statuses[status] ?? 0) + 1
    if (!(request.statuses ?? [200]).some(each => String(each) === status))
      breaks(`${status}: ${request.path}`)
    else if (status === '200') compare(request, digest)
    const found = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]
    largest = Math.max(largest, Math.round(Number(found) / 1000))
  }
}

/** Equal requests have equal answers, but for what tells the time of its making. */
function compare({ kind, path: address, accept }: LoadRequest, digest: string): void {
  if (['export', 'site', 'void'].includes(kind)) return
  const key = `${accept} ${address}`
  const known = digests.get(key) ?? digest
  digests.set(key, known)
  if (known !== digest) breaks(`another answer than before: ${address}`)
}

function breaks(what: string): void {
  broken.push(what)
  if (broken.length <= 20) process.stdout.write(`BROKEN: ${what} ${described.slice(-800)}\n`)
}

function send({ path: address, accept = 'application/json' }: LoadRequest) {
  return new Promise<{ readonly status: string; readonly digest: string }>(resolve => {
    const options = { host: '127.0.0.1', port, path: address, agent, timeout: 120_000, headers: { accept } }
    const sent = http.get(options, answer => {
      const hash = createHash('sha1')
      answer.on('data', (piece: Buffer) => {
        hash.update(piece)
      })
      answer.once('end', () => resolve({ status: String(answer.statusCode), digest: hash.digest('hex') }))
      answer.once('error', error => resolve({ status: error.message, digest: '' }))
    })
    sent.once('timeout', () => sent.destroy(new Error('timeout')))
    sent.once('error', error => resolve({ status: error.message, digest: '' }))
  })
}

async function freePort(): Promise<number> {
  const listener = http.createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => listener.once('listening', resolve))
  const { port: free } = listener.address() as AddressInfo
  await new Promise(resolve => listener.close(resolve))
  return free
}

try {
  while (server.exitCode === null && (await send({ kind: 'ready', path: '/readyz' })).status !== '200')
    await sleep(500)
  const end = performance.now() + Number(values.minutes) * 60_000
  await Promise.all(Array.from({ length: Number(values.clients) }, () => client(end)))
  if (server.exitCode !== null) broken.push(`the server ended with ${server.exitCode} ${described}`)
} finally {
  server.kill('SIGKILL')
  agent.destroy()
  portal.remove()
}
const milliseconds = Object.fromEntries(
  Object.entries(times).map(([kind, own]) => {
    const sorted = own.sort((a, b) => a - b)
    const at = (part: number) => Math.round(sorted[Math.floor(part * (sorted.length - 1))] ?? 0)
    return [kind, `p50 ${at(0.5)}, p95 ${at(0.95)} ms of ${sorted.length}`]
  }),
)
process.stdout.write(
  `${JSON.stringify({ counts, milliseconds, largest, broken: broken.slice(0, 20) }, null, 2)}\n`,
)
process.exit(broken.length > 0 ? 1 : 0)
