import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { runFor } from '../src/runtime/work-client.ts'
import { parseQuery } from '../src/sparql/parse.ts'
import { ColumnStore } from '../src/store/columns/column-store.ts'
import { NotInColumns } from '../src/store/columns/evaluate/evaluation-limits.ts'
import { JobRunner } from '../src/store/columns/threads/job-runner.ts'
import type { Job } from '../src/store/columns/threads/protocol.ts'
import { GraphRegistry } from '../src/store/columns/threads/registry.ts'
import { ColumnThread } from '../src/store/columns/threads/thread.ts'
import { workClient } from './support/work-client.ts'

/** Jobs in threads of columns: deadlines, faults, damage, and what clients are charged. */
const ROWS = 3000

/** A runner with one graph, of 3,000 numbers. */
async function runnerOf(t: Test, threads = 1) {
  const damaged: string[] = []
  const registry = new GraphRegistry(1e9, () => new Error('damaged'))
  const runner = new JobRunner(
    {
      threads,
      deadline: 60_000,
      queue: 10,
      memory: { query: 1e8 },
      onEvent: () => undefined,
      onDamage: (graph, reason) => damaged.push(`${graph}: ${reason}`),
    },
    registry,
  )
  t.teardown(() => runner.close())
  await runner.start()
  const text = Array.from({ length: ROWS }, (_, at) => `<urn:s${at}> <urn:n> "${at}" .\n`).join('')
  const job = { type: 'build', text, subjects: [], predicates: [], isSearched: false } as const
  const { header, buffers } = await runner.once(job, [], 'built', {})
  registry.add({ name: 'g', header, path: null, memory: buffers })
  return { runner, damaged, registry }
}

const MATCH: Job = { type: 'match', graph: 'g', pattern: {}, offset: 0, limit: 2 }

const queryOf = (group: string) => parseQuery(`SELECT * { GRAPH <urn:g> { ${group} } }`).query

function tableOf(group: string) {
  const graphs = { defaultGraphs: [], namedGraphs: [['urn:g', 'g']] } as const
  return { type: 'table', queries: [queryOf(group)], graphs, counted: false, contents: [] } as const
}

/** Nine million pairs, none of which fits: more than any deadline of these tests. */
const PAIRS = '?a <urn:n> ?x . ?b <urn:n> ?y FILTER(CONCAT(?x, ?y) = "none")'
const SLOW = tableOf(PAIRS)

/** The numbers, in pieces of some hundred. */
const IN_PIECES: Job = {
  type: 'text',
  query: parseQuery('SELECT ?o { GRAPH <urn:g> { ?s <urn:n> ?o } }').query,
  graphs: { defaultGraphs: [], namedGraphs: [['urn:g', 'g']] },
  format: 'tsv',
  base: null,
  piece: 1000,
  continuation: null,
}

t.test('a job has one answer, of the type that is asked for', async t => {
  const { runner } = await runnerOf(t)
  t.equal(runner.size, 2, 'one thread alone would keep others waiting')
  const { triples } = await runner.once(MATCH, ['g'], 'matched', {})
  t.same(triples.split('\n').slice(0, -1).length, 2)
  const { tables } = await runner.once(tableOf('?s <urn:n> "7"'), ['g'], 'table', {})
  t.same(
    tables.map(({ rows }) => rows),
    [1],
  )
  await t.rejects(runner.once(MATCH, ['g'], 'table', {}), { message: 'unexpected matched' })
})

t.test('several queries are answered in two threads where these are idle, in their order', async t => {
  const { runner } = await runnerOf(t, 2)
  const queries = [3, 1, 2].map(limit => queryOf(`?s <urn:n> ?o FILTER(STRLEN(?o) = ${limit})`))
  const job = { ...tableOf(''), queries }
  const busy = () => [...runner.threads].filter(thread => thread.busy).length
  const rows = runner.tables(job, ['g'], {})
  t.equal(busy(), 2)
  t.strictSame(
    (await rows).map(table => table.rows),
    [900, 10, 90],
  )
  const other = runner.once(tableOf('?s <urn:n> "7"'), ['g'], 'table', {})
  const inTurn = runner.tables(job, ['g'], {})
  t.strictSame(
    (await inTurn).map(table => table.rows),
    [900, 10, 90],
  )
  await other
  const failing = { ...job, queries: [...queries, queryOf(PAIRS)] }
  await t.rejects(runner.tables(failing, ['g'], { deadline: 50 }), { code: 'DeadlineExceeded' })
})

t.test('a job that meets its deadline is a fault and an offence', async t => {
  const { runner } = await runnerOf(t)
  let offences = 0
  const client = workClient({
    offend: () => {
      offences += 1
    },
    deadline: milliseconds => milliseconds / 2,
  })
  const ask = (deadline: number) => runFor({ client }, () => runner.once(SLOW, ['g'], 'table', { deadline }))
  await t.rejects(ask(80), { code: 'DeadlineExceeded', message: /0\.04/ }, 'what the client may take')
  t.same([runner.deadlines, offences], [1, 1])
  const abort = new AbortController()
  const aborted = runFor({ client }, () => runner.once(SLOW, ['g'], 'table', { signal: abort.signal }))
  abort.abort()
  await t.rejects(aborted)
  t.equal(offences, 1, 'who goes away does not offend')
  await t.rejects(runner.once(SLOW, ['g'], 'table', { signal: AbortSignal.abort() }), { name: 'AbortError' })
  t.match(await runner.once(MATCH, ['g'], 'matched', {}), { type: 'matched' }, 'the threads go on')
})

t.test('what columns do not evaluate, and what needs too much memory', async t => {
  const { runner } = await runnerOf(t)
  const call = { type: 'builtin', name: 'NOSUCH', arguments: [] } as const
  const job = tableOf('?s <urn:n> ?o')
  if (job.type !== 'table') throw new Error(job.type)
  const [query] = job.queries
  if (query?.type !== 'select') throw new Error('no select')
  const unknown = { ...query, input: { type: 'filter', input: query.input, condition: call } } as const
  await t.rejects(
    runner.once({ ...job, queries: [unknown] }, ['g'], 'table', {}),
    new NotInColumns('the function NOSUCH'),
  )
})

t.test('a damaged graph is reported once, and refused until it is made again', async t => {
  const { runner, damaged } = await runnerOf(t)
  runner.noteDamage('other', 'is not there')
  runner.noteDamage('g', 'torn')
  runner.noteDamage('g', 'torn again')
  t.same(damaged, ['g: torn'])
  const refused = { code: 'StoreUnavailable', message: /is damaged and is made again\. Try/ }
  await t.rejects(runner.once(MATCH, ['g'], 'matched', {}), refused)
  await t.rejects(runner.pieces(MATCH, ['g'], {}, null).next(), refused)
  runner.forgetDamage('g')
  t.match(await runner.once(MATCH, ['g'], 'matched', {}), { type: 'matched' })
})

t.test('an answer in pieces is whole, and one that nobody reads on frees its thread', async t => {
  const { runner } = await runnerOf(t)
  const pieces: string[] = []
  for await (const piece of runner.pieces(IN_PIECES, ['g'], {}, null))
    if (piece instanceof Uint8Array) pieces.push(Buffer.from(piece).toString())
  t.ok(pieces.length > 5, `${pieces.length} pieces`)
  t.equal(pieces.join('').split('\n').length, ROWS + 2)
  for (let each = 0; each < 4; each++) {
    for await (const piece of runner.pieces(IN_PIECES, ['g'], {}, null)) {
      t.ok(piece)
      break
    }
  }
  t.match(await runner.once(MATCH, ['g'], 'matched', {}), { type: 'matched' })
})

t.test('a reader that goes away while its next piece waits for the thread blocks nobody', async t => {
  const { runner } = await runnerOf(t)
  const pieces = runner.pieces(IN_PIECES, ['g'], {}, null)
  await pieces.next()
  // The piece after the second waits for the thread behind these.
  let isDone = false
  const others = Array.from({ length: 6 }, async () => {
    while (!isDone) await runner.once(MATCH, ['g'], 'matched', {})
  })
  await pieces.next()
  await pieces.return(undefined)
  isDone = true
  await Promise.race([Promise.all(others), sleep(5000)])
  const isBusy = () => [...runner.threads].some(({ busy }) => busy)
  for (let look = 0; look < 1000 && isBusy(); look++) await sleep(5)
  t.notOk(isBusy(), 'long before the deadline')
})

t.test('a reader that goes away leaves the end of other jobs alone', async t => {
  const { runner } = await runnerOf(t)
  const pieces = runner.pieces(IN_PIECES, ['g'], {}, null)
  await pieces.next()
  const abort = new AbortController()
  const slow = [1, 2].map(() => runner.once(SLOW, ['g'], 'table', { signal: abort.signal, lane: 'quick' }))
  const ended = Promise.allSettled(slow)
  await sleep(20)
  abort.abort()
  await pieces.return(undefined)
  const inTime = await Promise.race([ended.then(() => true), sleep(5000, false)])
  t.ok(inTime, 'both ended, whichever thread had the pieces')
})

t.test('a closed runner does nothing', async t => {
  const { runner } = await runnerOf(t)
  await runner.close()
  t.ok(runner.isClosed)
  await t.rejects(runner.once(MATCH, ['g'], 'matched', {}), { code: 'StoreUnavailable' })
})

t.test('a job whose thread is ended because it does not stop is past its deadline', async t => {
  const nothing = () => undefined
  const thread = new ColumnThread({ onPart: nothing, onDamage: nothing, onDeath: nothing }, 500)
  await thread.up
  const text = Array.from({ length: 200_000 }, (_, at) => `<urn:s${at}> <urn:n> "${at}" .\n`).join('')
  const job = { type: 'build', text, subjects: [], predicates: [], isSearched: false } as const
  const limits = { milliseconds: 60_000, memory: 1e9 }
  const answers = [thread.run(1, JSON.stringify(job), limits)]
  const ended = thread.end({ reason: 'deadline' })
  answers.push(thread.run(2, JSON.stringify(job), limits))
  for (const answer of answers) t.match(await answer, { type: 'failed', failure: { reason: 'deadline' } })
  await ended
})

t.test('building a graph in memory is no query: it ends at no deadline of queries and no client', async t => {
  const nothing = () => undefined
  const memory = { columns: 1e8, query: 1e8 }
  const options = { threads: 1, deadline: 1, queue: 10, memory, onEvent: nothing, onDamage: nothing }
  const store = new ColumnStore(options)
  t.teardown(() => store.close())
  await store.up
  const { runner } = store as unknown as { readonly runner: JobRunner }
  const limits: number[] = []
  for (const thread of runner.threads) {
    const run = thread.run.bind(thread)
    thread.run = (id, job, limit) => {
      limits.push(limit.milliseconds)
      return run(id, job, limit)
    }
  }
  const columns = { subjects: [], predicates: [], isSearched: false }
  const client = workClient({ deadline: () => 1 })
  await runFor({ client }, () => store.build('urn:g', '<urn:s> <urn:p> "1" .\n', columns))
  t.same(limits, [600_000])
})

t.test(
  'shapes that are together more than the heap of a thread are examined one after the other',
  async t => {
    const { runner, registry } = await runnerOf(t)
    const [shapes, positions] = [32, 60_000]
    const ringAt = (shift: number) =>
      Array.from({ length: positions + 1 }, (_, at) => {
        const angle = ((at % positions) * 2 * Math.PI) / positions
        return `${(shift + 20 * Math.cos(angle)).toFixed(4)} ${(20 * Math.sin(angle)).toFixed(4)}`
      }).join(', ')
    const type = '<http://www.opengis.net/ont/geosparql#wktLiteral>'
    const text = Array.from(
      { length: shapes },
      (_, at) => `<urn:s${at}> <urn:g> "POLYGON((${ringAt(at)}))"^^${type} .\n`,
    ).join('')
    const build = { type: 'build', text, subjects: [], predicates: [], isSearched: false } as const
    const { header, buffers } = await runner.once(build, [], 'built', {})
    registry.add({ name: 's', header, path: null, memory: buffers })
    const group = `?s <urn:g> ?g FILTER(<http://www.opengis.net/def/function/geosparql/sfIntersects>(?g, "POINT(15.5 0)"^^${type}))`
    const graphs = { defaultGraphs: [], namedGraphs: [['urn:g', 's']] } as const
    const { tables } = await runner.once({ ...tableOf(group), graphs }, ['s'], 'table', {})
    t.equal(tables[0]?.rows, shapes)
  },
)

t.test('columns that were released take no memory, although the engine does not count theirs', async t => {
  const { registry, runner } = await runnerOf(t)
  const header = registry.header('g') as NonNullable<ReturnType<GraphRegistry['header']>>
  const size = 16e6
  const before = process.memoryUsage().rss
  for (let at = 0; at < 40; at++) {
    const name = `released ${at}`
    registry.add({ name, header, path: null, memory: [] })
    registry.addPart(name, ['derived', [new SharedArrayBuffer(size)]])
    new Uint8Array(registry.columns(name)?.derived.get('derived', () => [])[0] as SharedArrayBuffer).fill(1)
    registry.bring([...runner.threads][0] as ColumnThread, [name])
    registry.remove([name], runner.threads)
    await sleep(10)
  }
  await sleep(500)
  const grown = process.memoryUsage().rss - before
  t.ok(grown < 20 * size, `${Math.round(grown / 1e6)} MB of ${(40 * size) / 1e6} MB`)
})
