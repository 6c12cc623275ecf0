import { spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { createEmbeddedStore, type EmbeddedOptions } from '../src/store/embedded/embedded.ts'
import type { GraphSource, Store } from '../src/store/store.ts'
import { until } from './support/serving.ts'
import { lines, storeContract, textGraph } from './support/store-contract.ts'

/** The contract of a store, on the embedded one: what it answers, and what becomes of it when things go wrong. */
const GRAPH = 'urn:test:graph'
const SLOW = `SELECT (COUNT(*) AS ?n) { GRAPH <${GRAPH}> { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f FILTER(?a != ?c && ?b != ?e) } }`
const QUICK = `SELECT (COUNT(*) AS ?n) { GRAPH <${GRAPH}> { ?s ?p ?o } }`
/** Ends the engine: its parser recurses until the stack is full. */
const TRAP = `SELECT * { FILTER(${'('.repeat(200_000)}1${')'.repeat(200_000)}) }`
const RECORDS = 2000

function fileGraph(folder: string, graph: string, count: number): GraphSource {
  const text = lines(count, graph.replace(/.*:/, ''))
  const file = path.join(folder, `${graph.replaceAll(':', '-')}.nt.gz`)
  writeFileSync(file, gzipSync(text, { level: 1 }))
  return { graph, path: file, triples: count, bytes: text.length }
}

async function open(t: Test, options: EmbeddedOptions = {}, graphs?: readonly GraphSource[]) {
  const store = await createEmbeddedStore(options)
  t.teardown(() => store.close())
  if (graphs !== undefined) await store.load(graphs)
  return store
}

async function countOf(store: Store, graph = GRAPH): Promise<number> {
  const [row] = await store.select(QUICK.replace(GRAPH, graph))
  return Number(row?.n?.value)
}

const code = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'answered',
    error => (error as { code?: string }).code ?? `plain error: ${(error as Error).message}`,
  )

async function untilReady(store: Store, workers: number): Promise<void> {
  for (let tries = 0; tries < 800; tries++) {
    if ((await store.statistics()).workers.ready === workers) return
    await sleep(25)
  }
  throw new Error('the workers are not back')
}

/** As many questions at once as make every worker answer some. */
async function everyWorkerCounts(t: Test, store: Store, wanted: number, graph = GRAPH): Promise<void> {
  const counts = await Promise.all(Array.from({ length: 12 }, () => countOf(store, graph)))
  t.same(new Set(counts), new Set([wanted]), `every worker has ${graph}`)
}

await storeContract(t, 'embedded', (t, graphs) => open(t, {}, graphs))

t.test('load, drop and statistics', async t => {
  const store = await open(t)
  t.match(await store.statistics(), { quads: 0, graphs: 0, workers: { ready: 2, wanted: 2 }, deadlines: 0 })
  const told: { quads: number; total: number }[] = []
  await store.load(
    [fileGraph(t.testdir(), GRAPH, 30), { graph: 'urn:test:twice', text: lines(5) + lines(5) }],
    progress => told.push(progress),
  )
  t.same(told.at(-1), { quads: 80, total: 80 }, 'progress ends at the total')
  t.match(await store.statistics(), { quads: 35, graphs: 2 }, 'equal triples count once')
  await store.load([textGraph(4, 'urn:test:later'), { graph: 'urn:test:empty', text: '' }])
  t.match(await store.statistics(), { quads: 39, graphs: 4 })
  await everyWorkerCounts(t, store, 4, 'urn:test:later')
  t.equal(
    (await store.statistics()).memory.every(bytes => bytes > 0),
    true,
  )
  await store.drop([GRAPH, 'urn:test:unknown'])
  t.match(await store.statistics(), { quads: 9, graphs: 3 })
  t.equal(await store.count(GRAPH, {}), 0)
  await everyWorkerCounts(t, store, 0)
  await store.load([textGraph(3)])
  await everyWorkerCounts(t, store, 3)
})

t.test('what cannot be loaded is refused, and nothing of it is kept', async t => {
  const folder = t.testdir({ 'broken.nt.gz': 'no gzip' })
  const whole = gzipSync(lines(5000))
  writeFileSync(path.join(folder, 'cut.nt.gz'), whole.subarray(0, whole.length >> 1))
  const file = (name: string): GraphSource => ({
    graph: GRAPH,
    path: path.join(folder, name),
    triples: 5000,
    bytes: 100_000,
  })
  const store = await open(t, {}, [textGraph(3, 'urn:test:kept')])
  const good = textGraph(9, 'urn:test:good')
  const cases: readonly (readonly [string, readonly GraphSource[]])[] = [
    ['malformed text', [good, { graph: GRAPH, text: `${lines(3)}<http://x> <http://p> "open .\n` }]],
    ['a name that is loaded', [good, textGraph(1, 'urn:test:kept')]],
    ['a name twice', [good, textGraph(1), textGraph(2)]],
    ['a missing file', [good, file('missing.nt.gz')]],
    ['a file that is not compressed', [good, file('broken.nt.gz')]],
    ['a file that was cut off', [good, file('cut.nt.gz')]],
  ]
  for (const [name, sources] of cases) {
    t.equal(await code(store.load(sources)), 'LoadRefused', name)
    t.match(await store.statistics(), { quads: 3, graphs: 1, workers: { ready: 2 } }, `${name}: statistics`)
    await everyWorkerCounts(t, store, 0, 'urn:test:good')
    await everyWorkerCounts(t, store, 0)
  }
  t.equal(await code(store.load([good])), 'answered', 'the same name can be loaded afterwards')
  const empty = await open(t)
  t.equal(await code(empty.load([textGraph(50_000, 'urn:test:big'), file('cut.nt.gz')])), 'LoadRefused')
  await everyWorkerCounts(t, empty, 0, 'urn:test:big')
})

t.test('a full store', async t => {
  const links = Array.from(
    { length: 70_000 },
    (_, at) => `<http://s/${at}/a> <http://p> <http://o/${at}/b> .\n`,
  )
  const cases: readonly (readonly [string, GraphSource])[] = [
    ['told before the load', textGraph(200_000)],
    ['met while loading', { graph: GRAPH, text: links.join('') }],
  ]
  for (const [name, source] of cases) {
    const store = await open(t, { workers: 1, memoryLimit: 30e6 }, [textGraph(10, 'urn:test:kept')])
    t.equal(await code(store.load([textGraph(5, 'urn:test:good'), source])), 'StoreFull', name)
    t.match(await store.statistics(), { quads: 10, graphs: 1 }, name)
    t.equal(await countOf(store), 0)
    t.equal(await countOf(store, 'urn:test:good'), 0)
    t.equal(await countOf(store, 'urn:test:kept'), 10)
  }
})

t.test('malformed SPARQL does no harm', async t => {
  const store = await open(t, { workers: 1 }, [textGraph(3)])
  for (const sparql of ['', 'SELEC', 'SELECT * {', 'ASK { <not absolute> ?p ?o }', 'DROP ALL', '\u0000'])
    t.match(await code(store.select(sparql)), /^plain error/, JSON.stringify(sparql))
  t.equal(await countOf(store), 3)
  t.match(await store.statistics(), { workers: { ready: 1 }, deadlines: 0 })
})

t.test('a query past its deadline', async t => {
  const events: string[] = []
  const onEvent = ({ event }: { event: string }) => events.push(event)
  const store = await open(t, { onEvent }, [textGraph(RECORDS), textGraph(5, 'urn:test:other')])
  const first = await store.match(GRAPH, {}, { offset: 0, limit: 5000 })
  const begun = performance.now()
  const slow = code(store.select(SLOW, { deadline: 400 }))
  let quick = 0
  for (; performance.now() - begun < 300; quick++) await countOf(store)
  t.ok(quick > 2, `${quick} quick queries are answered meanwhile`)
  t.equal(await slow, 'DeadlineExceeded')
  t.ok(performance.now() - begun < 10_000)
  await untilReady(store, 2)
  t.same(events, ['worker lost', 'worker replaced'])
  t.equal((await store.statistics()).deadlines, 1)
  await everyWorkerCounts(t, store, RECORDS)
  await everyWorkerCounts(t, store, 5, 'urn:test:other')
  const pages = await Promise.all(
    Array.from({ length: 8 }, (_, at) => store.match(GRAPH, {}, { offset: at * 250, limit: 250 })),
  )
  t.equal(pages.map(page => page.triples).join(''), first.triples, 'the replacement has the same order')
})

t.test('one worker: who waits is answered by the replacement', async t => {
  const store = await open(t, { workers: 1 }, [textGraph(RECORDS)])
  const slow = code(store.select(SLOW, { deadline: 200 }))
  const waiting = Array.from({ length: 5 }, () => countOf(store))
  t.equal(await slow, 'DeadlineExceeded')
  t.same(await Promise.all(waiting), Array(5).fill(RECORDS))
})

t.test('a query that ends the engine', async t => {
  const store = await open(t, { workers: 1 }, [textGraph(RECORDS)])
  const trap = code(store.select(TRAP))
  const waiting = Array.from({ length: 5 }, () => code(countOf(store)))
  t.equal(await trap, 'StoreUnavailable')
  t.same(await Promise.all(waiting), Array(5).fill('answered'), 'no query goes to an engine that trapped')
  const load = code(store.load([fileGraph(t.testdir(), 'urn:test:new', 120_000)]))
  await sleep(20)
  t.equal(await code(store.select(TRAP)), 'StoreUnavailable')
  t.equal(await load, 'answered', 'a load is not to blame for a query beside it')
  await untilReady(store, 1)
  await everyWorkerCounts(t, store, 120_000, 'urn:test:new')
  await everyWorkerCounts(t, store, RECORDS)
})

/** Doubles a text again and again: the engine keeps the memory that it took for that. */
function doublings(times: number): string {
  const binds = Array.from({ length: times }, (_, at) => `BIND(CONCAT(?t${at}, ?t${at}) AS ?t${at + 1})`)
  return `SELECT (STRLEN(?t${times}) AS ?n) { BIND("sixteen letters!" AS ?t0) ${binds.join(' ')} }`
}

for (const workers of [1, 2])
  t.test(`a worker whose memory a query has blown up is replaced, ${workers} workers`, async t => {
    const events: string[] = []
    const onEvent = ({ event }: { event: string }) => events.push(event)
    const store = await open(t, { workers, onEvent, deadline: 60_000 }, [textGraph(RECORDS)])
    const most = async () => Math.max(...(await store.statistics()).memory)
    const before = await most()
    await store.select(doublings(18))
    t.ok((await most()) > before, 'what other queries will use again is kept')
    t.same(events, [])
    const answers = Array.from({ length: 8 }, (_, at) =>
      at === 0 ? store.select(doublings(22)) : countOf(store),
    )
    const [[row] = [], ...counts] = await Promise.all(
      answers as [ReturnType<Store['select']>, ...Promise<number>[]],
    )
    t.equal(row?.n?.value, String(16 * 2 ** 22), 'the query is answered')
    t.same(new Set(counts), new Set([RECORDS]), 'so are those beside it')
    await until(async () => events.length === 2 && (await store.statistics()).workers.ready === workers)
    t.same(events, ['worker retired', 'worker replaced'])
    t.ok((await most()) < before + 64e6, 'its memory is given back')
    await everyWorkerCounts(t, store, RECORDS)
    t.match(await store.statistics(), { workers: { ready: workers, wanted: workers }, deadlines: 0 })
    t.equal(await code(store.select(TRAP)), 'StoreUnavailable')
    await until(async () => events.length === 4)
    t.same(events.slice(2), ['worker lost', 'worker replaced'], 'one that is lost later is replaced as ever')
    await everyWorkerCounts(t, store, RECORDS)
  })

t.test('a full queue', async t => {
  const patient = await open(t, { workers: 1, queue: 1 }, [textGraph(RECORDS)])
  const outcomes = [SLOW, QUICK, QUICK, QUICK].map(sparql => code(patient.select(sparql, { deadline: 300 })))
  t.same(await Promise.all(outcomes), ['DeadlineExceeded', 'answered', 'StoreBusy', 'StoreBusy'])
  const hasty = await open(t, { workers: 1, queue: 1, deadline: 600 }, [textGraph(RECORDS)])
  const late = [SLOW, QUICK].map(sparql => code(hasty.select(sparql, { deadline: 1000 })))
  t.same(await Promise.all(late), ['DeadlineExceeded', 'StoreBusy'], 'the wait has an end')
})

t.test('loading and dropping while queries run', async t => {
  const store = await open(t, {}, [textGraph(RECORDS)])
  const source = fileGraph(t.testdir(), 'urn:test:new', 150_000)
  let loading = true
  const load = store.load([source]).finally(() => {
    loading = false
  })
  let asked = 0
  for (; loading; asked++) if ((await countOf(store)) !== RECORDS) t.fail('a count is wrong during the load')
  await load
  t.ok(asked > 3, `${asked} queries during the load`)
  await everyWorkerCounts(t, store, 150_000, 'urn:test:new')
  const running = code(store.select(SLOW, { deadline: 300 }))
  const counting = Promise.all(Array.from({ length: 4 }, () => countOf(store, 'urn:test:new')))
  await store.drop(['urn:test:new'])
  t.equal(await running, 'DeadlineExceeded')
  t.ok(
    (await counting).every(count => count === 150_000 || count === 0),
    'whole or gone',
  )
  await untilReady(store, 2)
  await everyWorkerCounts(t, store, 0, 'urn:test:new')
  await everyWorkerCounts(t, store, RECORDS)
})

for (const workers of [1, 2])
  t.test(`deadlines during a load, ${workers} workers`, async t => {
    const store = await open(t, { workers }, [textGraph(RECORDS)])
    const load = store.load([fileGraph(t.testdir(), 'urn:test:new', 150_000), textGraph(7, 'urn:test:more')])
    await sleep(10)
    const slow = Array.from({ length: workers }, () => code(store.select(SLOW, { deadline: 100 })))
    t.same(new Set(await Promise.all(slow)), new Set(['DeadlineExceeded']))
    await load
    t.equal(await countOf(store, 'urn:test:new'), 150_000, 'when it resolves queries see the graph')
    await untilReady(store, workers)
    await everyWorkerCounts(t, store, 150_000, 'urn:test:new')
    await everyWorkerCounts(t, store, 7, 'urn:test:more')
    t.match(await store.statistics(), { quads: RECORDS + 150_007, graphs: 3 })
  })

t.test('a broken graph is refused also where its only worker met a deadline meanwhile', async t => {
  const store = await open(t, { workers: 1 }, [textGraph(RECORDS)])
  const file = path.join(t.testdir(), 'broken.nt.gz')
  writeFileSync(file, gzipSync(`${lines(130_000)}broken\n`, { level: 1 }))
  const load = code(store.load([{ graph: 'urn:test:new', path: file, triples: 130_001, bytes: 7e6 }]))
  const slow = code(store.select(SLOW, { deadline: 50 }))
  t.match(await slow, /DeadlineExceeded|answered/)
  t.equal(await load, 'LoadRefused')
  await untilReady(store, 1)
  t.equal(await countOf(store), RECORDS)
  t.match(await store.statistics(), { graphs: 1 })
})

t.test('close', async t => {
  const store = await createEmbeddedStore({ workers: 1 })
  await store.load([textGraph(RECORDS)])
  const [running, waiting] = [code(store.select(SLOW)), code(store.select(QUICK))]
  const loading = code(store.load([fileGraph(t.testdir(), 'urn:test:new', 50_000)]))
  await store.close()
  t.same(await Promise.all([running, waiting, loading]), Array(3).fill('StoreUnavailable'))
  t.equal(await code(store.select(QUICK)), 'StoreUnavailable')
  t.equal(await code(store.load([textGraph(1, 'urn:test:late')])), 'StoreUnavailable')
  await store.drop([GRAPH])
  await store.close()
})

t.test('a closed or idle store lets the process end', async t => {
  const module = path.resolve(import.meta.dirname, '../dist/store/embedded/embedded.js')
  const cases: readonly (readonly [string, string])[] = [
    ['closed', `store.select(${JSON.stringify(SLOW)}).catch(e => console.log(e.code)); await store.close()`],
    [
      'closed while a worker is replaced',
      `await store.select(${JSON.stringify(SLOW)}, { deadline: 20 }).catch(e => console.log(e.code)); await store.close()`,
    ],
    [
      'closed while answers arrive',
      `for (let turn = 0; turn < 30; turn++) {
        const other = await createEmbeddedStore({ workers: 1 })
        await other.load([{ graph: '${GRAPH}', text: ${JSON.stringify(lines(1000))} }])
        for (let each = 0; each <= turn % 4; each++) other.select(${JSON.stringify(QUICK)}).catch(() => undefined)
        for (let each = 0; each < turn % 15; each++) await new Promise(resolve => setImmediate(resolve))
        await other.close()
      }
      await store.close()
      console.log('StoreUnavailable')`,
    ],
    ['idle', `console.log((await store.select(${JSON.stringify(QUICK)})).length)`],
  ]
  const script = `import { createEmbeddedStore } from ${JSON.stringify(module)}
    const store = await createEmbeddedStore()
    await store.load([{ graph: '${GRAPH}', text: ${JSON.stringify(lines(1000))} }])\n`
  await Promise.all(
    cases.map(async ([name, rest]) => {
      const file = path.join(import.meta.dirname, `.close-${process.pid}-${name.length}.mjs`)
      writeFileSync(file, script + rest)
      t.teardown(() => rmSync(file, { force: true }))
      const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 30_000 })
      let out = ''
      child.stdout.on('data', piece => (out += String(piece)))
      child.stderr.on('data', piece => (out += String(piece)))
      const ended = await new Promise(resolve =>
        child.once('close', (exit, signal) => resolve(signal ?? exit)),
      )
      t.equal(ended, 0, `${name} ends by itself`)
      t.match(out, name === 'idle' ? /^1\n$/ : /^(StoreUnavailable|DeadlineExceeded)\n$/, name)
    }),
  )
})
