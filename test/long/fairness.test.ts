import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import * as oxigraph from 'oxigraph/web.js'
import t from 'tap'
import { ClientBudget, WorkBudgets } from '../../src/http/client-budget.ts'
import { TurnQueue } from '../../src/http/turn-queue.ts'
import { takeNext } from '../../src/runtime/fair-queue.ts'
import { currentClient, forSameClient, runFor, yieldToOthers } from '../../src/runtime/work-client.ts'
import { withMemoryLimit } from '../../src/store/embedded/module.ts'
import { AttackClient } from '../support/attacks.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startReadyServer } from '../support/serving.ts'

/** Nobody keeps others from being answered: attacks by one to three clients over HTTP, while a client goes on reading. */
t.setTimeout(500_000)

const RECORDS = 20_000

const portal = temporaryFolder(t, {
  'portal.yaml': 'workers: 2\nproxies: 1\nbase: http://portal.test\nmemory: 800MB\ndeadline: 2\n',
  data: {
    places: {
      'dataset.yaml':
        'source: { path: a.json }\nfields:\n  - { name: n, type: int }\n  - { name: kind, type: text, annotations: { facet: [] } }\n  - { name: text, type: text }\n  - { name: at, type: geo_point_2d }\n',
      'a.json': JSON.stringify(
        Array.from({ length: RECORDS }, (_, n) => ({
          n,
          kind: `kind ${n % 50}`,
          text: `place number ${n} of ${(n * 7919) % RECORDS}`,
          at: { lat: ((n * 37) % 17000) / 100 - 85, lon: ((n * 101) % 35900) / 100 - 179 },
        })),
      ),
    },
  },
})

const API = '/api/explore/v2.1/catalog/datasets/places'
const ODATA = '/api/odata/places'
const enc = encodeURIComponent

/** Nineteen computed conditions: the most but one that are taken, each a pass over all records. */
const distances = (turn: number) =>
  Array.from(
    { length: 19 },
    (_, at) => `distance(at, geom'POINT(${(turn + at * 3) % 180} ${(at * 5) % 80})', ${1 + (turn % 7)}m)`,
  ).join(' or ')

const cross = (turn: number) =>
  `SELECT (COUNT(*) AS ?c) WHERE { ?a ?p ?x . ?b ?q ?y . FILTER(STRLEN(STR(?x)) + STRLEN(STR(?y)) > ${turn}) }`

/** Rounds of attacks: that of a round by three clients, several by one each. */
const ATTACKS: readonly Readonly<Record<string, (turn: number) => string>>[] = [
  {
    'ODSQL distances': turn => `${API}/records?where=${enc(distances(turn))}`,
  },
  {
    'ODSQL groups': turn =>
      `${API}/records?select=${enc(`count(*) as c, median(n + ${turn})`)}&group_by=text,n,kind&order_by=c&limit=100`,
  },
  {
    SPARQL: turn => `/api/sparql?query=${enc(cross(turn))}`,
  },
  {
    'SPARQL paths': turn =>
      `/api/sparql?query=${enc(`SELECT * { ?s (!<urn:${turn}>|^!<urn:x>)* ?o } LIMIT 100000`)}`,
  },
  {
    'SPARQL of the engine': turn =>
      `/api/sparql?query=${enc(`SELECT (COUNT(*) AS ?c) { ?a ?p ?x . LATERAL { SELECT ?b { ?b ?q ?y FILTER(STR(?y) > STR(?x)) } LIMIT 50 } FILTER(?c != ${turn}) }`)}`,
  },
  {
    'crosses without doubles': turn =>
      `/api/sparql?query=${enc(`SELECT DISTINCT ?x ?y ("${turn}" AS ?t) { ?a ?p ?x . ?b ?q ?y }`)}`,
  },
  {
    'ODSQL searches': turn =>
      `${API}/records?where=${enc(`text like "${turn}" or search(text, "${turn} plaze")`)}`,
    OData: turn =>
      `${ODATA}?$filter=${enc(`contains(toupper(concat(text,kind)),'Z${turn}') or length(concat(text,kind)) gt ${900 + turn}`)}&$orderby=text&$count=true`,
    facets: turn => `${API}/facets?where=${enc(`n > ${turn} and length(text) > 3`)}`,
  },
  {
    exports: turn =>
      `${API}/exports/${['csv', 'xlsx', 'json', 'jsonld'][turn % 4]}?order_by=text&where=n%3E${turn}`,
    'exports of RDF': turn =>
      `${API}/exports/${['turtle', 'rdfxml', 'jsonld', 'parquet'][turn % 4]}?where=n%3E${turn}`,
    'graphs of queries': turn =>
      `/api/sparql?query=${enc(`CONSTRUCT { ?s ?p ?o } { ?s ?p ?o FILTER(STR(?o) != "${turn}") }`)}`,
  },
  {
    fragments: turn => `/api/tpf/places?page=${1 + ((turn * 37) % 150)}`,
    pages: turn => `/explore/dataset/places?q=number+${turn}`,
    'long conditions': turn =>
      `${API}/records?where=${enc(Array.from({ length: 150 }, (_, at) => `(n=${turn + at} and text="a${at}")`).join(' or '))}`,
  },
  {
    'errors of ODSQL': turn => `${API}/records?where=${enc(`n = = ${turn} ${'x '.repeat(2000)}`)}`,
    'unknown addresses': turn => `/nothing/${turn}`,
    'sign-ins': turn => `/account/login?turn=${turn}`,
  },
]

t.test('a normal client is answered during attacks', { timeout: 500_000 }, async t => {
  const server = await startReadyServer(t, portal)
  const normal = new AttackClient(server.port, '192.0.2.77')
  const untrusted = [1, 2, 3].map(last => new AttackClient(server.port, `198.51.100.${last}`))
  await normal.ask(`${API}/records?limit=1`)
  for (let tries = 0; tries < 400 && (await normal.ask('/readyz')).status !== 200; tries++) await sleep(50)
  let reading = 0
  const question = () => {
    const at = reading++
    return [
      `${API}/records?where=n%3D${at}`,
      `${API}/records?limit=20&offset=${at}&select=n,text,${at}%20as%20x`,
      `${ODATA}?$filter=n%20eq%20${at}`,
      `/explore/dataset/places?q=${at}`,
      `/api/tpf/places?page=${1 + (at % 20)}`,
      `${API}/facets?where=n%3C${at}`,
    ][at % 6] as string
  }
  const read = async (times: number) => {
    const consumed: number[] = []
    const failures: string[] = []
    for (let time = 0; time < times; time++) {
      const path = question()
      const { status, text, milliseconds } = await normal.ask(path)
      consumed.push(milliseconds)
      if (status !== 200) failures.push(`${status} ${path} ${text.slice(0, 200)}`)
      await sleep(10)
    }
    const p95 = consumed.sort((a, b) => a - b)[Math.floor(times * 0.95)] ?? 0
    return { failures, p95 }
  }
  await read(30)
  const idle = await read(60)
  t.same(idle.failures, [])
  t.comment(`idle: p95 ${idle.p95.toFixed(0)} ms`)
  for (const attacks of ATTACKS) {
    let over = false
    const names = Object.keys(attacks)
    const name = names.join(', ')
    const floods = untrusted.map((untrusted, at) => {
      const attack = names[at % names.length] as string
      const path = attacks[attack] as (turn: number) => string
      return attack === 'sign-ins' ? signIns(untrusted, () => over) : untrusted.flood(path, 4, () => over)
    })
    await sleep(300)
    const { failures, p95 } = await read(6)
    over = true
    const outcomes = await Promise.all(floods)
    t.same(failures, [], `${name}: no request of the normal client fails`)
    t.comment(
      `${name}: p95 ${p95.toFixed(0)} ms; attackers: ${outcomes.map(each => JSON.stringify([...each])).join(' ')}`,
    )
    t.notOk(
      outcomes.some(each => each.has('500')),
      `${name}: no answer is 500`,
    )
    t.equal(server.child.exitCode, null)
  }
  const stop = untrusted[0]?.dribble(300)
  t.same((await read(6)).failures, [], 'slow connections')
  stop?.()
  for (const each of [normal, ...untrusted]) each.close()
})

async function signIns(client: AttackClient, isOver: () => boolean): Promise<Map<string, number>> {
  const outcomes = new Map<string, number>()
  let turn = 0
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      while (!isOver()) {
        const form = { name: `user${turn++}`, password: `guess number ${turn}` }
        const { status } = await client.ask('/account/login', { form })
        outcomes.set(String(status), (outcomes.get(String(status)) ?? 0) + 1)
      }
    }),
  )
  return outcomes
}

t.test('a client over its budget is refused until time refills it', async t => {
  let now = 0
  const budgets = new WorkBudgets({ burst: 10_000, rate: 500 }, () => now)
  const heavy = budgets.of('address:a')
  heavy.spend(12_000)
  now += 300
  budgets.of('address:a')
  t.equal(heavy.isOverBudget(), false, 'while nobody else asks, nobody is kept back')
  const light = budgets.of('address:b')
  now += 300
  t.equal(heavy.isOverBudget(), true)
  t.equal(heavy.isHeavy(), true)
  t.equal(light.isOverBudget(), false)
  t.equal(heavy.wait(), 4, 'seconds until something is there again')
  now += 4000
  budgets.of('address:a')
  budgets.of('address:b')
  t.equal(heavy.isOverBudget(), false)
  t.equal(heavy.deadline(8000), 8000)
  for (let times = 0; times < 3; times++) heavy.offend()
  t.equal(heavy.deadline(8000), 2000, 'deadlines are halved by offences')
  for (let times = 0; times < 30; times++) heavy.offend()
  t.equal(heavy.deadline(8000), 1000)
  t.equal(heavy.deadline(300), 300)
  now += 61_000
  t.equal(heavy.deadline(8000), 8000, 'and forgotten')
  budgets.of('address:a')
  heavy.spend(20_000)
  now += 6000
  t.equal(heavy.isHeavy(), false, 'who reads one answer alone for long keeps nobody waiting')
  heavy.spend(1e9)
  t.equal(heavy.remaining(), -10_000, 'a debt has an end')
  t.ok(light instanceof ClientBudget)
})

t.test('a download is made on the account of its client, whoever asks for its pieces', async t => {
  const budgets = new WorkBudgets({ burst: 10_000, rate: 500 }, () => 0)
  const client = budgets.of('address:a')
  const seen: (string | undefined)[] = []
  let isEnded = false
  async function* pieces() {
    try {
      for (let piece = 0; piece < 3; piece++) {
        yield piece
        seen.push(currentClient()?.id)
        await yieldToOthers()
        seen.push(currentClient()?.id)
      }
    } finally {
      isEnded = true
    }
  }
  const made = runFor({ client }, () => forSameClient(pieces()))
  t.equal(currentClient(), null)
  for await (const piece of made) if (piece === 2) break
  t.same(seen, Array(4).fill('address:a'))
  t.ok(isEnded, 'who reads no more ends the work')
})

t.test('who asks without a pause waits while others ask', async t => {
  let now = 0
  const budgets = new WorkBudgets({ burst: 10_000, rate: 500 }, () => now)
  const ending = () => new EventEmitter() as unknown as ServerResponse
  const [flooding, reading] = [budgets.of('address:a'), budgets.of('address:b')]
  for (const client of [flooding, reading]) client.spend(2000)
  const askInTurn = (client: ClientBudget, pause: number) => {
    for (let turn = 0; turn < 20; turn++) {
      const response = ending()
      client.arrive(response)
      now += 5
      response.emit('finish')
      now += pause
    }
  }
  askInTurn(reading, 20)
  askInTurn(flooding, 1)
  t.equal(flooding.isFrequent(), true)
  t.equal(reading.isFrequent(), false)
  const queue = new TurnQueue()
  const order: string[] = []
  const ask = (client: ClientBudget, name: string) => {
    const response = ending()
    client.arrive(response)
    void Promise.resolve(queue.enter(client, response)).then(() => order.push(name))
    return response
  }
  const read = ask(reading, 'read')
  const floods = ['first', 'second', 'third'].map(name => ask(flooding, name))
  await sleep(5)
  t.same(order, ['read', 'first'], 'one at a time is answered at once, more wait for others')
  read.emit('finish')
  floods[0]?.emit('finish')
  await sleep(60)
  t.same(order, ['read', 'first', 'second'], 'then one after the other')
  floods[2]?.emit('finish')
  floods[1]?.emit('finish')
  await sleep(60)
  t.same(order, ['read', 'first', 'second'], 'who leaves is forgotten')
  const download = ask(flooding, 'download')
  for (let more = 0; more < 3; more++) ask(flooding, `page ${more}`)
  await sleep(100)
  t.equal(order.includes('page 0'), false)
  await sleep(1200)
  t.ok(order.includes('page 0'), 'what takes long keeps nobody waiting for its end')
  download.emit('close')
})

t.test('requests that follow one another on one connection do not pile up', async t => {
  const server = await startReadyServer(t, portal)
  const other = new AttackClient(server.port, '192.0.2.77')
  for (let tries = 0; tries < 400 && (await other.ask('/readyz')).status !== 200; tries++) await sleep(50)
  const text =
    `GET ${API}/records?limit=100 HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 198.51.100.9\r\n\r\n`.repeat(5000)
  const answers = new Promise<number>(resolve => {
    const socket = connect(server.port, '127.0.0.1')
    let received = ''
    socket.on('data', piece => {
      received += String(piece)
    })
    // The refusal itself may be lost when the connection is cut.
    socket.on('error', () => undefined)
    socket.once('close', () => resolve(received.split('HTTP/1.1 200 OK').length - 1))
    socket.write(text)
  })
  const reading = (async () => {
    const statuses = new Set<number>()
    for (let turn = 0; turn < 40; turn++)
      statuses.add((await other.ask(`${API}/records?where=n%3D${turn}`)).status)
    return [...statuses]
  })()
  t.same(await reading, [200])
  const answered = await answers
  t.ok(answered < 4500, `${answered} of 5000 are answered, then the connection is closed`)
  t.equal(server.child.exitCode, null)
  other.close()
})

t.test('turns go to who used least', async t => {
  const client = (id: string, usage: number) =>
    ({ id, usage: () => usage }) as unknown as NonNullable<Parameters<typeof takeNext>[0][number]['client']>
  const [a, b] = [client('a', 500), client('b', 20)]
  const queue = [
    { client: a, at: 1 },
    { client: a, at: 2 },
    { client: b, at: 3 },
    { client: b, at: 4 },
    { client: null, at: 5 },
  ]
  const order = []
  for (let next = takeNext(queue, () => true); next !== null; next = takeNext(queue, () => true))
    order.push(next.at)
  t.same(order, [5, 3, 4, 1, 2])
  t.equal(
    takeNext([{ client: a }], () => false),
    null,
  )
})

t.test('the memory of the engine cannot grow beyond its limit', async t => {
  const bytes = readFileSync(createRequire(import.meta.url).resolve('oxigraph/web_bg.wasm'))
  const limit = 48 * 2 ** 20
  const { memory } = oxigraph.initSync({ module: new WebAssembly.Module(withMemoryLimit(bytes, limit)) })
  const store = new oxigraph.Store()
  store.load('<urn:a> <urn:b> "c" .\n', { format: 'nt' })
  t.equal(store.size, 1, 'it works')
  let text = ''
  for (let at = 0; at < 50_000; at++) text += `<urn:a${at}> <urn:b> "${'x'.repeat(40)}${at}" .\n`
  t.throws(() => {
    for (let batch = 0; batch < 40; batch++)
      store.load(text.replaceAll('urn:a', `urn:${batch}a`), { format: 'nt' })
  })
  t.ok(memory.buffer.byteLength <= limit, `${memory.buffer.byteLength} bytes`)
})

t.test(
  'a query that would fill the memory is refused, and others are answered',
  { timeout: 200_000 },
  async t => {
    const server = await startReadyServer(t, portal)
    const client = new AttackClient(server.port, '192.0.2.77')
    for (let tries = 0; tries < 400 && (await client.ask('/readyz')).status !== 200; tries++) await sleep(50)
    const bombs = [
      'SELECT * { ?a ?p ?x . ?b ?q ?y . ?c ?r ?z } ORDER BY ?x ?y ?z',
      'SELECT (GROUP_CONCAT(CONCAT(STR(?x), STR(?y))) AS ?t) { ?a ?p ?x . ?b ?q ?y }',
      'SELECT (COUNT(*) AS ?c) { SELECT DISTINCT (CONCAT(STR(?x), STR(?y), STR(?p)) AS ?t) { ?a ?p ?x . ?b ?q ?y } }',
      'SELECT (COUNT(*) AS ?c) { SELECT DISTINCT (UUID() AS ?t) { ?a ?p ?x . ?b ?q ?y } }',
      'SELECT (COUNT(*) AS ?c) { SELECT DISTINCT ?x ?y { ?a ?p ?x . ?b ?q ?y } }',
      'SELECT (COUNT(DISTINCT *) AS ?c) { ?a ?p ?x . ?b ?q ?y }',
      'SELECT ?x ?y (SUM(STRLEN(STR(?a))) AS ?s) (SAMPLE(?b) AS ?t) (MAX(STR(?b)) AS ?m) { ?a ?p ?x . ?b ?q ?y } GROUP BY ?x ?y',
      'SELECT (REPLACE(?r, "x", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") AS ?t) { { SELECT (REPLACE(?s, "x", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") AS ?r) { { SELECT (REPLACE(?u, "x", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") AS ?s) { { SELECT (REPLACE(?w, "x", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") AS ?u) { { SELECT (REPLACE("xxxxxxxxxxxxxxxxxxxxx", "x", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") AS ?w) {} } } } } } } } }',
    ]
    for (const bomb of bombs) {
      const { status, text } = await client.ask(`/api/sparql?query=${enc(bomb)}`)
      t.match(status, /^(422|503|413)$/, text.slice(0, 200))
      t.equal((await client.ask(`${API}/records?where=n%3D${bomb.length}`)).status, 200)
    }
    const rss = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))?.[1])
    t.ok(rss * 1024 < 800e6, `${rss} kB were used, and the setting is 800 MB`)
    client.close()
  },
)
