import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { parseQuery } from '../src/sparql/parse.ts'
import { buildColumnsInThread } from '../src/store/columns/build/build-thread.ts'
import { ColumnStore } from '../src/store/columns/column-store.ts'
import { openColumns } from '../src/store/columns/graph.ts'
import { columnsProblem } from '../src/store/columns/sections.ts'
import type { JobRunner } from '../src/store/columns/threads/job-runner.ts'
import { createEmbeddedStore, type EmbeddedOptions, type StoreEvent } from '../src/store/embedded/embedded.ts'
import type { GraphSource, Store, UntrustedQuery } from '../src/store/store.ts'
import { watchedStore } from '../src/telemetry/watched-store.ts'
import { temporaryFolder } from './support/folder.ts'
import { until } from './support/serving.ts'
import { lines, storeContract, type TextGraph, textGraph } from './support/store-contract.ts'

/** The contract of a store, on the embedded one: what it answers, and what becomes of it when things go wrong. */
const GRAPH = 'urn:test:graph'
const OTHER = 'urn:test:other'
const SLOW = 'SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f FILTER(?a != ?c && ?b != ?e) }'
const COUNT = 'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }'
const RECORDS = 2000

function source({ graph, text }: TextGraph): GraphSource {
  return { graph, text, subjects: [], predicates: [], isSearched: false }
}

function fileGraph(folder: string, graph: string, count: number): Extract<GraphSource, { columns: string }> {
  const text = lines(count, graph.replace(/.*:/, ''))
  const file = path.join(folder, `${graph.replaceAll(':', '-')}.nt.gz`)
  writeFileSync(file, gzipSync(text, { level: 1 }))
  const columns = file.replace('.nt.gz', '.columns')
  return { graph, path: file, columns, triples: count, bytes: text.length, isSearched: true }
}

async function open(t: Test, options: EmbeddedOptions = {}, graphs: readonly GraphSource[] = []) {
  const store = await createEmbeddedStore({ deadline: 60_000, ...options })
  t.teardown(() => store.close())
  await store.load(graphs)
  return store
}

/** Asks as strangers do; with `by` engine the query is one that columns do not evaluate. */
async function ask(
  store: Store,
  sparql: string,
  graphs: readonly string[] = [GRAPH],
  { by = 'columns', deadline }: { readonly by?: 'columns' | 'engine'; readonly deadline?: number } = {},
): Promise<string> {
  const query: UntrustedQuery = {
    parsed: by === 'columns' ? parseQuery(sparql, 'http://base/') : null,
    base: 'http://base/',
    format: 'csv',
    defaultGraphs: graphs,
    namedGraphs: [],
    engineText: () => sparql,
    deadline,
  }
  const answer = await store.query(query)
  let text = ''
  for await (const piece of answer.pieces) text += Buffer.from(piece).toString()
  if (answer.by !== by) throw new Error(`${answer.by} answered and not ${by}`)
  return text.trim().split('\r\n').slice(1).join(' ')
}

const inEngine = (store: Store, sparql: string, graphs?: readonly string[]) =>
  ask(store, sparql, graphs, { by: 'engine' })

const code = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'answered',
    error => (error as { code?: string }).code ?? `plain error: ${(error as Error).message}`,
  )

/** Questions at once, more than there are threads. */
async function everyThreadCounts(t: Test, store: Store, expected: number, graph = GRAPH): Promise<void> {
  const counts = await Promise.all(Array.from({ length: 12 }, () => store.count(graph, {})))
  t.same(new Set(counts), new Set([expected]), `every thread has ${graph}`)
}

await storeContract(t, 'embedded', (t, graphs) => open(t, {}, graphs.map(source)))

t.test('load, drop and statistics', async t => {
  const store = await open(t)
  t.match(await store.statistics(), {
    triples: 0,
    graphs: 0,
    resident: 0,
    threads: { ready: 2, wanted: 2 },
    deadlines: 0,
  })
  const described: { triples: number; total: number }[] = []
  const file = fileGraph(temporaryFolder(t), GRAPH, 30)
  await store.load([file, source({ graph: 'urn:test:twice', text: lines(5) + lines(5) })], progress =>
    described.push(progress),
  )
  t.same(described.at(-1), { triples: 40, total: 40 }, 'progress ends at the total')
  t.ok(existsSync(file.columns), 'columns that are missing are made')
  t.equal([...openColumns(file.columns).lines()].join(''), lines(30, 'graph'), 'and give back the triples')
  t.match(await store.statistics(), { triples: 35, graphs: 2 }, 'equal triples count once')
  await store.load([source(textGraph(4, 'urn:test:later')), source({ graph: 'urn:test:empty', text: '' })])
  t.match(await store.statistics(), { triples: 39, graphs: 4 })
  await everyThreadCounts(t, store, 4, 'urn:test:later')
  await store.drop([GRAPH, 'urn:test:unknown'])
  t.match(await store.statistics(), { triples: 9, graphs: 3 })
  t.equal(await code(store.count(GRAPH, {})), 'StoreUnavailable', 'a graph that was dropped is not there')
  await store.load([source(textGraph(3))])
  await everyThreadCounts(t, store, 3)
})

t.test('what cannot be loaded is refused, and nothing of it is kept', async t => {
  const folder = temporaryFolder(t, { 'broken.nt.gz': 'no gzip' })
  const whole = gzipSync(lines(5000))
  writeFileSync(path.join(folder, 'cut.nt.gz'), whole.subarray(0, whole.length >> 1))
  const file = (name: string): GraphSource => ({
    ...fileGraph(folder, GRAPH, 1),
    path: path.join(folder, name),
    columns: path.join(folder, `${name}.columns`),
  })
  const store = await open(t, {}, [source(textGraph(3, 'urn:test:kept'))])
  const good = source(textGraph(9, 'urn:test:good'))
  const cases: readonly (readonly [string, readonly GraphSource[]])[] = [
    ['malformed text', [good, source({ graph: GRAPH, text: `${lines(3)}<http://x> <http://p> "open .\n` })]],
    ['a name that is loaded', [good, source(textGraph(1, 'urn:test:kept'))]],
    ['a name twice', [good, source(textGraph(1)), source(textGraph(2))]],
    ['a missing file', [good, file('missing.nt.gz')]],
    ['a file that is not compressed', [good, file('broken.nt.gz')]],
    ['a file that was cut off', [good, file('cut.nt.gz')]],
  ]
  for (const [name, sources] of cases) {
    t.equal(await code(store.load(sources)), 'LoadRefused', name)
    t.match(await store.statistics(), { triples: 3, graphs: 1, threads: { ready: 2 } }, `${name}: statistics`)
    t.equal(await code(store.count('urn:test:good', {})), 'StoreUnavailable', `${name}: nothing is kept`)
  }
  t.equal(await code(store.load([good])), 'answered', 'the same name can be loaded afterwards')
})

t.test('a query past its deadline costs no thread', async t => {
  const events: string[] = []
  const store = await open(t, { onEvent: ({ event }) => events.push(event) }, [source(textGraph(RECORDS))])
  let isSlow = true
  const slow = code(ask(store, SLOW, [GRAPH], { deadline: 1500 })).finally(() => {
    isSlow = false
  })
  let quick = 0
  for (; isSlow; quick++) await store.count(GRAPH, {})
  t.ok(quick > 2, `${quick} quick queries are answered meanwhile`)
  t.equal(await slow, 'DeadlineExceeded')
  t.same(events, [])
  t.match(await store.statistics(), { deadlines: 1, threads: { ready: 2 } })
  await everyThreadCounts(t, store, RECORDS)
})

t.test('a query whose client leaves is none that failed', async t => {
  const outcomes: string[] = []
  const store = await open(t, {}, [source({ graph: GRAPH, text: lines(RECORDS, 'slow') })])
  const watched = watchedStore(store, [operation => outcome => outcomes.push(`${operation} ${outcome}`)])
  const leaving = new AbortController()
  const query = { parsed: parseQuery(SLOW), base: 'http://x/', format: 'json' as const }
  const graphs = { defaultGraphs: [GRAPH], namedGraphs: [], engineText: () => SLOW }
  const asked = watched.query({ ...query, ...graphs, signal: leaving.signal })
  setTimeout(() => leaving.abort(), 100)
  await t.rejects(asked, { name: 'AbortError' })
  t.same(outcomes, ['query ok'])
})

t.test('a full queue refuses further queries', async t => {
  const store = await open(t, { workers: 1, queue: 1, deadline: 400 }, [source(textGraph(RECORDS))])
  const slow = code(ask(store, SLOW))
  const outcomes = [1, 2, 3, 4].map(() => code(store.count(GRAPH, {})))
  const found = await Promise.all([slow, ...outcomes])
  t.equal(found[0], 'DeadlineExceeded')
  t.same(
    found.slice(1),
    ['answered', 'answered', 'StoreBusy', 'StoreBusy'],
    'two threads, and one that waits',
  )
})

t.test('graphs are resident in the engine while there is room for them', async t => {
  const events: StoreEvent[] = []
  const folder = temporaryFolder(t)
  const counts = { a: 3000, b: 40_000, c: 60_000, d: 200_000 }
  const names = Object.keys(counts).map(name => `urn:lodestone:graph:${name}:v1:facts`)
  const [a = '', b = '', c = '', d = ''] = names
  const graphs = Object.values(counts).map((count, at) => fileGraph(folder, names[at] as string, count))
  const options: EmbeddedOptions = {
    memory: { columns: 64e6, query: 32e6, resident: 30e6 },
    useFile: path.join(folder, 'use.json'),
    onEvent: event => events.push(event),
  }
  const store = await open(t, options, graphs)
  const resident = () =>
    events.splice(0).flatMap(({ event, reason }) => (event === 'graph resident' ? [reason] : []))
  t.same(await Promise.all([b, b].map(graph => inEngine(store, COUNT, [graph]))), ['40000', '40000'])
  t.equal(resident().length, 1, 'two that need a graph wait for one load')
  t.equal(await inEngine(store, COUNT, [b]), '40000')
  t.equal(resident().length, 0, 'it is there for the next')
  t.equal(await inEngine(store, COUNT, [c]), '60000')
  t.match(
    events.splice(0),
    [{ event: 'graph dropped', reason: b }],
    'the one that was needed longest ago made room',
  )
  t.equal(await inEngine(store, COUNT, [a, b]), '40000', 'what two graphs have counts once')
  await t.rejects(inEngine(store, COUNT, [d, a]), {
    code: 'UnprocessableEntity',
    message: /need \d+ MB of memory in it; it has 30 MB\..*FROM or GRAPH.*setting memory/s,
  })
  for (let times = 0; times < 8; times++) await inEngine(store, COUNT, [a])
  t.match(await store.statistics(), { resident: 2 })
  await store.close()
  const again = await createEmbeddedStore(options)
  t.teardown(() => again.close())
  await again.load(graphs)
  events.length = 0
  await again.preload()
  t.match(resident(), [/:a:v1:facts in/], 'what was asked often is loaded ahead')
  t.equal(await inEngine(again, COUNT, [a]), '3000')
  t.equal(resident().length, 0)
})

/** Doubles a text again and again. */
function doublings(times: number): string {
  const binds = Array.from({ length: times }, (_, at) => `BIND(CONCAT(?t${at}, ?t${at}) AS ?t${at + 1})`)
  return `SELECT (STRLEN(?t${times}) AS ?n) { BIND("sixteen letters!" AS ?t0) ${binds.join(' ')} }`
}

t.test('a query that fills the heap of the engine, or its stack, ends with an error', async t => {
  const events: string[] = []
  const memory = { columns: 64e6, query: 32e6, resident: 30e6 }
  const store = await open(t, { memory, onEvent: ({ event }) => events.push(event) }, [
    source(textGraph(RECORDS)),
  ])
  t.equal(await inEngine(store, doublings(10)), String(16 * 2 ** 10))
  const cases = [
    ['heap', doublings(26)],
    ['stack', `SELECT * { FILTER(${'('.repeat(200_000)}1${')'.repeat(200_000)}) }`],
  ] as const
  for (const [name, sparql] of cases) {
    events.length = 0
    const filled = inEngine(store, sparql)
    const beside = [store.count(GRAPH, {}), ask(store, COUNT), inEngine(store, COUNT)]
    await t.rejects(filled, { code: 'UnprocessableEntity', message: /more memory than the 141 MB/ }, name)
    t.same(
      (await Promise.all(beside)).map(String),
      Array(3).fill(String(RECORDS)),
      `${name}: others are answered`,
    )
    t.same(events.slice(0, 2), ['engine ended', 'graph resident'], `${name}: the engine is replaced`)
    t.match(await store.statistics(), { deadlines: 0, threads: { ready: 2 } })
  }
})

t.test('the triples of a graph are read to their end although it is dropped meanwhile', async t => {
  const graph = fileGraph(temporaryFolder(t), GRAPH, RECORDS)
  const store = await open(t, {}, [graph])
  const pieces = store.lines(GRAPH, RECORDS, 100)
  let text = (await pieces.next()).value
  await store.drop([GRAPH])
  t.equal(await code(store.match(GRAPH, {}, { offset: 0, limit: 1 })), 'StoreUnavailable', 'it is gone')
  for await (const piece of pieces) text += piece
  t.equal(text, gunzipSync(readFileSync(String(graph.path))).toString())
})

t.test('a file that is damaged while it is served is made again', async t => {
  const events: StoreEvent[] = []
  const folder = temporaryFolder(t)
  const graphs = [fileGraph(folder, GRAPH, RECORDS), fileGraph(folder, OTHER, 500)] as const
  const [damaged, other] = graphs
  const store = await open(t, { onEvent: event => events.push(event) }, graphs)
  const whole = readFileSync(damaged.columns)
  const page = { offset: 0, limit: 50 }
  const expected = (await store.match(GRAPH, {}, page)).triples
  const cases: readonly (readonly [string, () => void])[] = [
    [
      'other bytes',
      () => writeFileSync(damaged.columns, Buffer.from(whole).fill(0xff, 0, whole.length >> 1)),
    ],
    ['cut off', () => writeFileSync(damaged.columns, whole.subarray(0, 1000))],
    ['missing', () => rmSync(damaged.columns)],
  ]
  for (const [name, damage] of cases) {
    await store.drop([GRAPH])
    await store.load([damaged])
    events.length = 0
    damage()
    t.equal(await code(store.match(GRAPH, {}, page)), 'StoreUnavailable', `${name}: who asks is told to wait`)
    t.equal(await store.count(OTHER, {}), other.triples, `${name}: other graphs are served`)
    await until(async () => events.some(({ event }) => event === 'columns made again'))
    t.same(
      events.map(({ event }) => event),
      ['columns damaged', 'columns made again'],
      name,
    )
    t.equal((await store.match(GRAPH, {}, page)).triples, expected, `${name}: it answers again`)
    t.ok(readFileSync(damaged.columns).equals(whole), `${name}: the file is the one that it was`)
    await everyThreadCounts(t, store, RECORDS)
  }
  await store.drop([GRAPH])
  await store.load([damaged])
  events.length = 0
  rmSync(damaged.columns)
  writeFileSync(String(damaged.path), 'no gzip')
  t.equal(await code(store.match(GRAPH, {}, page)), 'StoreUnavailable')
  await until(async () => events.length === 2)
  t.match(
    events,
    [{ event: 'columns damaged' }, { event: 'graph lost', graph: GRAPH }],
    'without triples it is lost',
  )
})

t.test('columns of another graph are not taken for those of a graph', async t => {
  const events: StoreEvent[] = []
  const folder = temporaryFolder(t)
  const graphs = [fileGraph(folder, GRAPH, 500), fileGraph(folder, OTHER, 500)] as const
  const store = await open(t, { onEvent: event => events.push(event) }, graphs)
  const [first, second] = graphs.map(({ columns }) => readFileSync(columns)) as [Buffer, Buffer]
  const page = { offset: 0, limit: 50 }
  const expected = (await store.match(GRAPH, {}, page)).triples
  await store.drop([GRAPH, OTHER])
  events.length = 0
  writeFileSync(graphs[0].columns, second)
  writeFileSync(graphs[1].columns, first)
  await store.load(graphs)
  t.match(events, Array(2).fill({ event: 'columns made again', reason: /was made of other triples/ }))
  t.equal((await store.match(GRAPH, {}, page)).triples, expected)
  t.ok(readFileSync(graphs[0].columns).equals(first))
  await store.drop([GRAPH])
  rmSync(graphs[0].columns)
  symlinkSync(graphs[0].columns, graphs[0].columns)
  await store.load([graphs[0]])
  t.ok(readFileSync(graphs[0].columns).equals(first), 'nor is one that cannot be opened')
})

t.test('several that rebuild one file of columns at once do not disturb one another', async t => {
  const folder = temporaryFolder(t)
  const { path: triples, columns } = fileGraph(folder, GRAPH, 20_000)
  const { pid } = spawnSync(process.execPath, ['--version'])
  writeFileSync(`${columns}.${pid}.0.new.values`, 'of a process that died')
  const setup = { triples: String(triples), columns, isSearched: true }
  const build = () => buildColumnsInThread(setup)
  await t.resolves(Promise.all([build(), build(), build()]))
  t.equal(columnsProblem(columns), null)
  t.same(readdirSync(folder).length, 2, 'nothing else is left')
})

t.test('columns are read when they are asked for, and dropped where others need their room', async t => {
  const folder = temporaryFolder(t)
  const graphs = Array.from({ length: 8 }, (_, at) => fileGraph(folder, `urn:test:g${at}`, 20_000))
  const memory = { columns: 1.5e6, query: 32e6, resident: 30e6 }
  const store = await open(t, { memory }, graphs)
  const bytes = async () => {
    const { columns, dictionaries, derived } = (await store.statistics()).bytes
    return columns + dictionaries + derived
  }
  t.equal(await bytes(), 0, 'no section is read at first')
  for (let turn = 0; turn < 2; turn++)
    for (const { graph } of graphs) {
      const { triples } = await store.match(graph, {}, { offset: 10_000, limit: 1 })
      t.ok(triples.startsWith(`<http://${graph.replace(/.*:/, '')}/`), triples)
      t.equal(await ask(store, 'SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o }', [graph]), '50')
    }
  t.ok((await bytes()) < 2 * memory.columns, 'what is in memory stays about the budget')
})

t.test('a closed store refuses queries', async t => {
  const store = await createEmbeddedStore({ workers: 1 })
  await store.load([source(textGraph(RECORDS))])
  const slow = [code(ask(store, SLOW)), code(inEngine(store, SLOW))]
  // A count may be done before the threads have ended, or not.
  const quick = code(store.count(GRAPH, {}))
  await store.close()
  for (const outcome of await Promise.all(slow)) t.not(outcome, 'answered', outcome)
  await quick
  t.equal(await code(store.count(GRAPH, {})), 'StoreUnavailable')
  await store.drop([GRAPH])
  await store.close()
})

t.test('a closed or idle store lets the process end', async t => {
  const module = path.resolve(import.meta.dirname, '../dist/store/embedded/embedded.js')
  const cases: readonly (readonly [string, string])[] = [
    [
      'closed',
      "store.count(graph, {}).catch(e => console.log(e.code)); await store.close(); console.log('end')",
    ],
    ['idle', "console.log(await store.count(graph, {})); console.log('end')"],
    // An answer that comes while a thread is being ended does not let the process end before the store is closed.
    [
      'closed-answering',
      `await store.close()
      for (let turn = 0; turn < 5; turn++) {
        const other = await createEmbeddedStore({ workers: 1 })
        await other.load([{ graph, text: '<urn:s> <urn:p> <urn:o> .\\n', subjects: [], predicates: [], isSearched: false }])
        const asked = Array.from({ length: 20 }, () => other.count(graph, {}).catch(() => undefined))
        await asked[turn]
        await other.close()
      }
      console.log('end')`,
    ],
  ]
  const script = `import { createEmbeddedStore } from ${JSON.stringify(module)}
    const store = await createEmbeddedStore()
    const graph = '${GRAPH}'
    await store.load([{ graph, text: ${JSON.stringify(lines(1000))}, subjects: [], predicates: [], isSearched: false }])\n`
  await Promise.all(
    cases.map(async ([name, rest]) => {
      const file = path.join(import.meta.dirname, `.close-${process.pid}-${name}.mjs`)
      writeFileSync(file, script + rest)
      t.teardown(() => rmSync(file, { force: true }))
      const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 })
      let out = ''
      child.stdout.on('data', piece => (out += String(piece)))
      child.stderr.on('data', piece => (out += String(piece)))
      const ended = await new Promise(resolve =>
        child.once('close', (exit, signal) => resolve(signal ?? exit)),
      )
      t.equal(ended, 0, `${name} ends by itself`)
      t.match(out, /end\n/, name)
    }),
  )
})

t.test('an answer in pieces that was to stop too late goes on to its end', async t => {
  const store = new ColumnStore({
    threads: 1,
    deadline: 10_000,
    queue: 10,
    memory: { columns: 1e8, query: 1e8 },
    onEvent: () => undefined,
    onDamage: () => undefined,
  })
  await store.up
  t.teardown(() => store.close())
  const rows = 20_000
  const text = Array.from({ length: rows }, (_, at) => `<urn:s${at}> <urn:p> "${at}" .\n`).join('')
  await store.build('urn:g', text, { subjects: [], predicates: [], isSearched: false })
  // Its first 100 milliseconds are over, as those of the first question of a server are, when its first rows are ready.
  const { runner } = store as unknown as { readonly runner: JobRunner }
  for (const thread of runner.threads) {
    const run = thread.run.bind(thread)
    thread.run = async (id, job, limits) => {
      const answer = await run(id, job, limits)
      thread.cancel(id)
      return answer
    }
  }
  const { query } = parseQuery('SELECT ?s { ?s <urn:p> ?o }', 'urn:base')
  let found = ''
  for await (const piece of store.text(query, { defaultGraphs: ['urn:g'], namedGraphs: [] }, 'tsv'))
    found += Buffer.from(piece).toString()
  t.equal(found.split('\n').length, rows + 2)
})
