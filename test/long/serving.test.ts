import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { BINARY, lodestone } from '../support/crash.ts'
import { temporaryFolder } from '../support/folder.ts'
import { FLAGS } from '../support/script.ts'
import { freePort, startReadyServer, startServer, until } from '../support/serving.ts'

/** How a server starts, what it does about damage and other servers, and what it does not wait for. */
const source = (name: string, more = '') => `source: { path: ${name} }\n${more}`
const ROWS = JSON.stringify(Array.from({ length: 50 }, (_, a) => ({ a, text: `record ${a}` })))

const dataset = (more = '') => ({ 'dataset.yaml': source('a.json', more), 'a.json': ROWS })

const LONG = JSON.stringify(
  Array.from({ length: 4000 }, (_, a) => ({ a, text: `record ${a} ${'with a long text '.repeat(170)}` })),
)
const EXPORT = '/api/explore/v2.1/catalog/datasets/long/exports/json'
const root = path.resolve(import.meta.dirname, '../..')

const LISTS = [
  '/api/explore/v2.1/catalog/datasets',
  '/api/explore/v2.0/catalog/facets',
  '/api/explore/v2.1/catalog/exports/csv',
  '/api/v2/catalog/datasets',
  '/api/odata',
  '/api/odata/$metadata',
  '/api/tpf',
  '/api/sparql?query=ASK%20%7B%7D',
  '/.well-known/void',
  '/sitemap.xml',
] as const
const PAGES = ['/', '/explore/', '/explore/?q=record'] as const

async function get(address: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(address, { headers })
  return {
    status: answer.status,
    retryAfter: answer.headers.get('retry-after'),
    body: await answer.text(),
  }
}

/** A package whose records are there once a file is. */
function slowPackage(portal: string): { readonly release: () => void } {
  const folder = path.join(portal, 'node_modules', 'slow')
  const file = path.join(folder, 'released')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'package.json'), '{"name":"slow","type":"module","exports":"./index.js"}')
  const wait = `while (!existsSync(${JSON.stringify(file)})) await new Promise(r => setTimeout(r, 20))`
  writeFileSync(
    path.join(folder, 'index.js'),
    `import { existsSync } from 'node:fs'\n${wait}\nexport default [{ a: 1 }]\n`,
  )
  return { release: () => writeFileSync(file, '') }
}

t.test('until all datasets are served, lists say how many are', async (t: Test) => {
  const portal = temporaryFolder(t, {
    'portal.yaml': 'workers: 1\n',
    data: {
      one: dataset(),
      slow: { 'dataset.yaml': 'source: { module: slow }\n' },
      tucked: { 'dataset.yaml': 'source: { module: slow }\nvisibility: restricted\n' },
      withdrawn: dataset(),
    },
  })
  const { release } = slowPackage(portal)
  const port = await freePort()
  const args = ['--portal', portal, '--port', String(port)]
  t.equal((await lodestone(['publish', 'withdrawn', ...args])).code, 0)
  t.equal((await lodestone(['unpublish', 'withdrawn', '--portal', portal])).code, 0)
  const server = startServer(t, portal, port)
  const { address } = server
  await until(() => fetch(`${address}/healthz`).then(Boolean, () => false))
  const ready = await get(`${address}/readyz`)
  t.equal(ready.status, 503)
  t.match(JSON.parse(ready.body), { status: 'publishing', datasets: { served: Number, expected: 2 } })
  for (const page of PAGES) {
    const { status, retryAfter, body } = await get(`${address}${page}`, { accept: 'text/html' })
    t.match([status, retryAfter], [503, /^\d+$/], page)
    t.match(body, /Datasets served so far: [01] of 2\./, page)
    t.notMatch(body, /\b0 datasets|No dataset is published|No dataset matches all/, page)
  }
  for (const list of LISTS) {
    const { status, retryAfter, body } = await get(`${address}${list}`)
    t.match([status, retryAfter], [503, /^\d+$/], list)
    t.match(body, /Datasets served so far: [01] of 2\./, list)
  }
  await until(async () => (await get(`${address}/explore/dataset/one/`)).status === 200)
  t.match(
    (await get(`${address}/explore/`)).body,
    /so far: 1 of 2\./,
    'one is served while another is published',
  )
  t.match((await get(`${address}/explore/?lang=de`)).body, /Bisher bereitgestellte Datensätze: 1 von 2\./)
  t.equal((await get(`${address}/api/odata/one`)).status, 200, 'what is served answers')
  t.equal((await get(`${address}/api/sparql/one?query=ASK%20%7B%7D`)).status, 200)
  release()
  await until(() => server.stdout().includes('\n'))
  t.equal((await get(`${address}/readyz`)).status, 200)
  for (const list of [...LISTS, ...PAGES]) t.equal((await get(`${address}${list}`)).status, 200, list)
  t.match((await get(`${address}/explore/`)).body, />2 datasets</)
})

t.test('a query that meets its deadline costs no thread', async t => {
  const portal = temporaryFolder(t, {
    'portal.yaml': 'workers: 1\ndeadline: 0.5\n',
    data: { one: dataset() },
  })
  const { address } = await startReadyServer(t, portal)
  const triples = '?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l FILTER(?a != ?d && ?g != ?j)'
  const slow = `${address}/api/sparql/one?query=${encodeURIComponent(`SELECT (SUM(RAND()) AS ?n) { ${triples} }`)}`
  t.equal((await get(slow)).status, 503)
  const { status, body } = await get(`${address}/readyz`)
  t.equal(status, 200)
  t.match(JSON.parse(body), { status: 'ready', store: { threads: { ready: 2, wanted: 2 }, deadlines: 1 } })
  t.equal((await get(`${address}/api/sparql/one?query=ASK%20%7B%7D`)).status, 200)
})

t.test('a damaged version stops nothing but its own dataset', async t => {
  const portal = temporaryFolder(t, {
    'portal.yaml': 'workers: 2\ndeadline: 0.5\nlog: error\n',
    data: {
      lost: dataset(),
      repaired: dataset(),
      secret: dataset('visibility: restricted\n'),
      whole: dataset(),
    },
  })
  const port = await freePort()
  t.equal((await lodestone(['publish', '--portal', portal, '--port', String(port)])).code, 0)
  const fileOf = (id: string) => {
    const home = path.join(portal, 'var', 'published', id)
    return path.join(home, readFileSync(path.join(home, 'current'), 'utf8').trim(), 'facts.nt.gz')
  }
  const harm = (id: string) => {
    for (const file of [fileOf(id), fileOf(id).replace(/nt\.gz$/, 'columns')])
      truncateSync(file, statSync(file).size >> 1)
  }
  for (const id of ['lost', 'secret']) rmSync(path.join(portal, 'data', id, 'a.json'))
  for (const id of ['lost', 'repaired', 'secret']) harm(id)
  const server = startServer(t, portal, port)
  await until(() => server.stdout().includes('\n'))
  const { address } = server
  const records = (id: string) => get(`${address}/api/explore/v2.1/catalog/datasets/${id}/records?limit=1`)
  const listed = async () => {
    const { body } = await get(`${address}/api/explore/v2.1/catalog/datasets?select=datasetid`)
    return (JSON.parse(body) as { results: { datasetid: string }[] }).results.map(each => each.datasetid)
  }
  t.equal((await get(`${address}/readyz`)).status, 200, 'the portal is ready')
  t.same((await listed()).sort(), ['repaired', 'whole'])
  t.match(server.stderr(), /"dataset":"lost".*lost is left out: its published version is damaged/)
  t.match(server.stderr(), /repaired: 50 records.*made again: facts\.nt\.gz has/)
  t.match(server.stderr(), /lost: not published\n.*damaged \(facts\.nt\.gz has .*cannot be made again/)
  t.match(await records('lost'), { status: 503, retryAfter: /\d/, body: /DatasetDamaged/ })
  t.equal((await records('secret')).status, 401, 'who may not see it is told nothing')
  t.equal((await records('whole')).status, 200)

  const ready = JSON.parse((await get(`${address}/readyz`)).body) as { status: string }
  t.equal(ready.status, 'ready')
  for (let requested = 0; requested < 8; requested++) t.equal((await records('whole')).status, 200)
})

t.test('a folder is served at one address', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': 'workers: 1\n', data: { one: dataset() } })
  const first = await startReadyServer(t, portal)
  const base = `http://localhost:${first.port}`
  const records = `${first.address}/api/explore/v2.1/catalog/datasets/one/records?limit=1`
  const published = readFileSync(path.join(portal, 'var/published/one/current'), 'utf8')
  const entries = () => readdirSync(path.join(portal, 'var/serving')).length

  const other = startServer(t, portal, await freePort())
  t.equal(await other.ended, 1, 'another address is refused')
  const described = [
    base,
    `process ${first.child.pid} `,
    `port ${first.port}`,
    `http://localhost:${other.port}`,
  ]
  for (const part of described) t.ok(other.stderr().includes(part), `${part}: ${other.stderr()}`)
  const named = startServer(t, portal, await freePort(), {}, ['--base', 'http://elsewhere.test'])
  t.equal(await named.ended, 1, 'however it is given')
  const publishing = await lodestone(['publish', '--portal', portal, '--base', 'http://elsewhere.test'])
  t.equal(publishing.code, 1, 'nor is anything published for it')
  t.ok(publishing.stderr.includes(`process ${first.child.pid} `))
  t.equal(readFileSync(path.join(portal, 'var/published/one/current'), 'utf8'), published)
  t.equal(entries(), 1, 'those that were refused leave no entry')

  const second = await startReadyServer(t, portal, {}, ['--base', base])
  t.equal(entries(), 2)
  t.equal((await get(records)).status, 200, 'two servers with one address share it')
  const { body } = await get(`${second.address}/api/explore/v2.1/catalog/datasets/one/records?limit=1`)
  t.match(JSON.parse(body), { total_count: 50 })
  writeFileSync(path.join(portal, 'data/one/a.json'), '[{"a":1}]')
  t.equal((await lodestone(['publish', '--portal', portal])).code, 0, 'for their address without naming it')
  const catalog = { id: 'far', type: 'lodestone', url: 'http://127.0.0.1:1' }
  writeFileSync(path.join(portal, 'harvest.yaml'), JSON.stringify({ harvesters: [catalog] }))
  const harvest = await lodestone(['harvest', '--portal', portal])
  t.match(harvest.stdout, /^far: failed: .*private address/, 'a harvest is for their address as well')
  mkdirSync(path.join(portal, 'mappings'))
  const mapping = 'mappings: {a: {s: "portal:x/$(a)", po: [[a, schema:Thing]]}}'
  writeFileSync(path.join(portal, 'mappings/one.yml'), mapping)
  const preview = await lodestone(['mapping', 'preview', 'one', '--portal', portal])
  t.ok(preview.stdout.includes(`<${base}/ld/resources/x/1>`), preview.stdout)
  for (const { address } of [first, second])
    await until(async () => {
      const answer = await get(`${address}/api/explore/v2.1/catalog/datasets/one/records?limit=1`)
      return answer.status === 200 && /"total_count":\s*1\b/.test(answer.body)
    })

  for (const { child, ended } of [first, second]) {
    child.kill('SIGKILL')
    await ended
  }
  t.equal(entries(), 2, 'who is killed takes nothing back')
  const third = await startReadyServer(t, portal)
  t.equal((await get(`${third.address}/readyz`)).status, 200, 'and keeps nobody from another address')
  t.equal(entries(), 1, 'the next one removes what they left')
})

t.test('of servers that start at the same moment with different addresses one serves', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': 'workers: 1\n', data: { one: dataset() } })
  const servers = await Promise.all([1, 2, 3].map(async () => startServer(t, portal, await freePort())))
  const outcomes = await Promise.all(
    servers.map(({ ended, stdout }) =>
      Promise.race([ended, until(() => stdout().includes('\n'), 100_000).then(() => 'serves')]),
    ),
  )
  t.same(outcomes.map(String).sort(), ['1', '1', 'serves'])
})

t.test('connections that wait for their client are ended', async t => {
  const portal = temporaryFolder(t, {
    'portal.yaml':
      'workers: 2\ndeadline: 6\nrequest_timeout: 2\nidle_timeout: 2\nwrite_timeout: 3\naddress_connections: 6\nadmin_port: 0\n',
    data: { one: dataset(), long: { 'dataset.yaml': source('a.json'), 'a.json': LONG } },
  })
  const { address, port, stderr } = await startReadyServer(t, portal)
  const open = (text = '', localAddress = '127.0.0.1') => openConnection(t, port, text, localAddress)
  const head =
    'POST /api/sparql/one HTTP/1.1\r\nhost: x\r\ncontent-type: application/sparql-query\r\ncontent-length: 900\r\n'

  const body = open(`${head}\r\n`)
  const headers = open(head)
  const silent = open()
  const kept = open('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  const dripping = setInterval(() => {
    for (const { socket } of [body, headers]) if (socket.writable) socket.write('x')
  }, 150)
  t.teardown(() => clearInterval(dripping))
  t.match(await body.closed, /^HTTP\/1\.1 408 .*"RequestTimeout"/s, 'a body of a byte now and then')
  t.match(await headers.closed, /^HTTP\/1\.1 408 /, 'headers of a byte now and then')
  t.equal(await silent.closed, '', 'a connection that says nothing')
  t.match(await kept.closed, /^HTTP\/1\.1 200 /, 'a connection that is not used again')
  clearInterval(dripping)

  const paused = open(`GET ${EXPORT} HTTP/1.1\r\nhost: x\r\n\r\n`)
  paused.socket.pause()
  const steady = open(`GET ${EXPORT} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
  const triples = '?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o FILTER(?a != ?d && ?g != ?j)'
  const slow = `/api/sparql/one?query=${encodeURIComponent(`SELECT (COUNT(*) AS ?n) { ${triples} }`)}`
  const begun = performance.now()
  t.match(
    await get(`${address}${slow}`),
    { status: 503, body: /DeadlineExceeded|longer than/ },
    'who waits for an answer is not cut off',
  )
  t.match(await steady.closed, /\r\n0\r\n\r\n$/, 'an answer that is read is whole')
  await until(() => get(`${address}/healthz`).then(() => performance.now() - begun > 8000))
  paused.socket.resume()
  t.notMatch(await paused.closed, /\r\n0\r\n\r\n$/, 'an answer that nobody reads is cut off')

  const busy = Array.from({ length: 6 }, () => open(`${head}\r\n`))
  await until(() => busy.every(({ socket }) => socket.bytesWritten > 0))
  await until(
    async () => (await open('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n').closed).includes(' 429 '),
    1800,
  )
  const other = open('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', '127.0.0.2')
  t.match(await other.closed, / 200 /, 'another address is served meanwhile')
  await Promise.all(busy.map(({ closed }) => closed))
  // The server may hear later than the client that the connections before are closed.
  await until(async () => {
    const idle = Array.from({ length: 6 }, () => open('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'))
    await until(() => idle.every(({ text }) => / (?:200|429) /.test(text())))
    const areServed = idle.every(({ text }) => text().includes(' 200 '))
    if (!areServed) for (const { socket } of idle) socket.destroy()
    return areServed
  })
  const seventh = open('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  t.match(await seventh.closed, / 200 /, 'one that waits is closed for a new one')
  t.notMatch(stderr(), /unexpected|Error/)
})

t.test('a request that cannot be read is answered after those before it', async t => {
  const portal = temporaryFolder(t, {
    'portal.yaml': 'workers: 2\n',
    data: { one: dataset(), long: { 'dataset.yaml': source('a.json'), 'a.json': LONG } },
  })
  const { port } = await startReadyServer(t, portal)
  const good = 'GET /api/explore/v2.1/catalog/datasets/one/records HTTP/1.1\r\nhost: x\r\n\r\n'
  const download = `GET ${EXPORT} HTTP/1.1\r\nhost: x\r\n\r\n`
  const chunk = 'POST /api/sparql/one HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'
  const long = `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(200_000)}\r\n\r\n`
  const cases = [
    [`${good}${good}rubbish\r\n\r\n`, ['200', '200', '400']],
    [`${download}rubbish\r\n\r\n`, ['200', '400']],
    [`${good}${chunk}${good}`, ['200', '400']],
    [`${good}${long}`, ['200', '431']],
    ['rubbish\r\n\r\n', ['400']],
  ] as const
  for (const [text, statuses] of cases) {
    const received = await openConnection(t, port, text).closed
    const found = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
    t.same(found, statuses, text.slice(-40))
    if (text.startsWith(download)) t.match(received, /\r\n0\r\n\r\nHTTP\/1\.1 400 /, 'the download is whole')
  }
})

t.test('pages keep their styles and scripts while a build replaces them', async t => {
  const copy = temporaryFolder(t, { portal: { 'portal.yaml': 'workers: 2\n', data: { one: dataset() } } })
  for (const name of ['bin', 'dist', 'locales', 'package.json'])
    cpSync(path.join(root, name), path.join(copy, name), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))
  const served = ['serve', '--portal', path.join(copy, 'portal'), '--port', String(await freePort())]
  const start = [path.join(copy, 'bin/lodestone.js'), ...served]
  const server = spawn(process.execPath, start, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => server.kill('SIGKILL'))
  const [line] = await once(server.stdout, 'data')
  const address = String(/http:\S+/.exec(String(line)))
  const page = (await get(`${address}/`)).body
  const names = [...page.matchAll(/"(\/assets\/[\w.-]+)"/g)].map(([, name]) => name)
  t.ok(names.length > 1)
  rmSync(path.join(copy, 'dist'), { recursive: true })
  for (const name of names) t.equal((await get(`${address}${name}`)).status, 200, String(name))
  const again = spawnSync(process.execPath, start, { encoding: 'utf8' })
  t.match(again, { status: 1, stderr: /not built yet, or not to the end: run "npm run build"/ })
})

t.test('connections beyond what the process may have open are told in words', async t => {
  const portal = temporaryFolder(t, {
    'portal.yaml': 'workers: 1\naddress_connections: 10000\n',
    data: { one: dataset() },
  })
  const { address, port, stderr, child } = await startReadyServer(t, portal, { OPEN_FILES: '400' })
  // One address has a quarter of the connections at most.
  const held = Array.from({ length: 300 }, (_, n) => openConnection(t, port, '', `127.0.0.${2 + (n % 5)}`))
  await until(() => /connections are refused: 240 are open.* 400 files.*ulimit -n/.test(stderr()))
  for (const { socket } of held) socket.destroy()
  await until(async () => (await get(`${address}/readyz`).catch(() => null))?.status === 200)
  t.equal((await get(`${address}/api/explore/v2.1/catalog/datasets/one/records`)).status, 200)
  t.equal(child.exitCode, null)
  // Else the next one is refused because this one runs.
  const ended = once(child, 'exit')
  child.kill()
  await ended
  const early = await lodestone(['serve', '--portal', portal], { environment: { OPEN_FILES: '120' } })
  t.equal(early.code, 1)
  t.match(early.stderr, /^lodestone: this process may have 120 files .* 160 are needed .*\(ulimit -n.*\)\n$/)
})

t.test('a log on a full disk ends no server', { skip: !existsSync('/dev/full') }, async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': 'log: info\n', data: { one: dataset() } })
  const [port, full] = [await freePort(), openSync('/dev/full', 'w')]
  t.teardown(() => closeSync(full))
  const args = [...FLAGS, BINARY, 'serve', '--portal', portal, '--port', String(port)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', full, full] })
  t.teardown(() => child.kill('SIGKILL'))
  const address = `http://127.0.0.1:${port}`
  const statusOf = async (place: string) => (await get(address + place).catch(() => null))?.status
  await until(async () => child.exitCode !== null || (await statusOf('/readyz')) === 200)
  for (let times = 0; times < 3; times++)
    t.equal(await statusOf('/api/explore/v2.1/catalog/datasets/one/records'), 200)
  t.equal(child.exitCode, null)
})

/** A connection of its own, and all that comes on it. */
function openConnection(t: Test, port: number, text: string, localAddress = '127.0.0.1') {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  t.teardown(() => socket.destroy())
  let received = ''
  socket.setEncoding('latin1')
  socket.on('data', piece => {
    received += String(piece)
  })
  socket.on('error', () => undefined)
  if (text !== '') socket.write(text)
  const closed = new Promise<string>(resolve => socket.once('close', () => resolve(received)))
  return { socket, closed, text: () => received }
}
