import t from 'tap'
import { GraphUse } from '../src/store/embedded/graph-use.ts'
import { estimate } from '../src/store/embedded/module.ts'
import { type Engine, type EngineEvent, ResidentEngine } from '../src/store/embedded/resident-engine.ts'
import { temporaryFolder } from './support/folder.ts'

/** Which graphs are in the engine: what is loaded, what makes room, what becomes of an engine that ends. */
const TRIPLES = 1000
const SIZE = estimate(TRIPLES, 0)

type Request = Parameters<Engine['send']>[0]
type Reply = Awaited<ReturnType<Engine['send']>>

/** An engine that records its requests in one line each; `answer` replies in place of the usual reply. */
function fakeEngine(
  log: string[],
  onDeath: (reason: string) => void,
  answer: (line: string) => Reply | null,
) {
  let dead = false
  const engine = {
    memory: 0,
    up: Promise.resolve(),
    get dead() {
      return dead
    },
    send: async (request: Request): Promise<Reply> => {
      const line = lineOf(request)
      log.push(line)
      const done = { id: 1, memory: engine.memory }
      const usual =
        request.type === 'query'
          ? { type: 'answer' as const, text: 'rows', ...done }
          : { type: request.type === 'load' ? ('loaded' as const) : ('dropped' as const), ...done }
      return answer(line) ?? usual
    },
    end: async () => {
      if (dead) return
      dead = true
      log.push('end')
      onDeath('the thread was ended')
    },
  }
  return engine
}

function lineOf(request: Request): string {
  const short = (name: string) => name.replace(/^urn:lodestone:merge:.*/, 'merge')
  switch (request.type) {
    case 'load':
      return `load ${short(request.graph)}`
    case 'drop':
      return `drop ${request.graphs.map(short).join(' ')}`
    default:
      return `query ${request.dataset.defaultGraphs.map(short).join(' ')}|${request.dataset.namedGraphs.join(' ')}`
  }
}

/** An engine with room for so many graphs of the same size, a to e. */
function residency({ room = 2, answer = (_: string): Reply | null => null, use = new GraphUse(null) } = {}) {
  const log: string[] = []
  const events: EngineEvent[] = []
  const engines: ReturnType<typeof fakeEngine>[] = []
  const resident = new ResidentEngine({
    start: onDeath => {
      log.push('start')
      engines.push(fakeEngine(log, onDeath, answer))
      return engines.at(-1) as Engine
    },
    deadline: 10_000,
    queue: 10,
    memory: room * SIZE,
    ceiling: 1e9,
    maxAnswer: 1000,
    use,
    onEvent: event => events.push(event),
  })
  for (const graph of 'abcde')
    resident.register(graph, { path: `${graph}.nt.gz`, triples: TRIPLES, bytes: 0 })
  const ask = (defaultGraphs: string, namedGraphs = '') =>
    resident.query({
      sparql: 'ASK {}',
      format: 'json',
      dataset: { defaultGraphs: [...defaultGraphs], namedGraphs: [...namedGraphs] },
      deadline: undefined,
    })
  /** What was asked of engines since the last call. */
  const requests = () => log.splice(0)
  return { resident, ask, requests, events, engines }
}

t.test('graphs are loaded once, and those needed longest ago make room', async t => {
  const { resident, ask, requests } = residency()
  const steps: readonly (readonly [defaults: string, named: string, requests: readonly string[]])[] = [
    ['a', '', ['start', 'load a', 'query a|']],
    ['a', '', ['query a|']],
    ['', 'b', ['load b', 'query |b']],
    ['a', '', ['query a|']],
    ['c', '', ['drop b', 'load c', 'query c|']],
    ['c', 'a', ['query c|a']],
    ['', 'b', ['drop a', 'load b', 'query |b']],
    ['x', 'b', ['query |b']],
  ]
  for (const [defaults, named, expected] of steps) {
    t.equal(await ask(defaults, named), 'rows')
    t.same(requests(), expected, `${defaults}|${named}`)
  }
  t.match(resident.statistics(), { graphs: 2 })
})

t.test('a merge is a graph of its own, whatever the order of its parts', async t => {
  const { ask, requests } = residency()
  await ask('ab')
  t.same(requests(), ['start', 'load merge', 'load merge', 'query merge|'])
  await ask('ba')
  t.same(requests(), ['query merge|'])
  await ask('a')
  t.same(requests(), ['drop merge', 'load a', 'query a|'], 'it has the size of both')
})

t.test('who hung up while the query waited gets no engine', async t => {
  const { resident, requests } = residency()
  const dataset = { defaultGraphs: ['a'], namedGraphs: [] }
  const gone = { sparql: 'ASK {}', format: 'json', dataset, deadline: undefined } as const
  await t.rejects(resident.query({ ...gone, signal: AbortSignal.abort() }), { name: 'AbortError' })
  t.same(requests(), [])
})

t.test('more than fits is refused before anything is loaded', async t => {
  const { resident, ask, requests } = residency()
  await t.rejects(ask('abc'), { code: 'UnprocessableEntity', message: /Name fewer graphs/ })
  await t.rejects(ask('a', 'bc'), { code: 'UnprocessableEntity' })
  t.same(requests(), ['start'])
  resident.forget(['c'])
  t.equal(await ask('abc'), 'rows', 'a graph that is forgotten is not there')
})

t.test('a heap that is full is begun anew, once', async t => {
  let failures = 1
  const refused = { type: 'refused', reason: 'memory', message: 'full', id: 1, memory: 0 } as const
  const { ask, requests } = residency({
    answer: line => (line === 'load a' && failures-- > 0 ? refused : null),
  })
  t.equal(await ask('a'), 'rows')
  t.same(requests(), ['start', 'load a', 'end', 'start', 'load a', 'query a|'])
})

t.test('a graph that never fits is refused after the second attempt', async t => {
  const { ask, requests } = residency({
    answer: line => (line.startsWith('load') ? { type: 'trap', id: 1, reason: 'unreachable' } : null),
  })
  await t.rejects(ask('a'), { code: 'UnprocessableEntity' })
  t.same(requests(), ['start', 'load a', 'end', 'start', 'load a', 'end'])
})

t.test('answers that are none become faults', async t => {
  const done = { id: 1, memory: 0 }
  const rows: readonly (readonly [reply: Reply, fault: { code?: string; message: string | RegExp }])[] = [
    [
      { type: 'oversize', ...done },
      { code: 'UnprocessableEntity', message: /longer than the engine/ },
    ],
    [
      { type: 'trap', id: 1, reason: 'unreachable' },
      { code: 'UnprocessableEntity', message: /needs more memory/ },
    ],
    [{ type: 'dropped', ...done }, { message: 'unexpected dropped' }],
  ]
  for (const [reply, fault] of rows) {
    const { ask } = residency({ answer: line => (line.startsWith('query') ? reply : null) })
    await t.rejects(ask('a'), fault, reply.type)
  }
  const { ask } = residency({
    answer: line =>
      line === 'load a' ? { type: 'refused', reason: 'text', message: 'no triples', ...done } : null,
  })
  await t.rejects(ask('a'), { code: 'StoreUnavailable', message: /no triples/ })
})

t.test('after an engine that ended, or left too much behind, graphs are loaded again', async t => {
  const { ask, requests, engines, events } = residency()
  await ask('a')
  await engines[0]?.end()
  requests()
  await ask('a')
  t.same(requests(), ['start', 'load a', 'query a|'])
  const [, second] = engines
  if (second !== undefined) second.memory = 2e9
  await ask('a')
  t.same(requests(), ['query a|', 'end'])
  await ask('a')
  t.same(requests(), ['start', 'load a', 'query a|'])
  t.equal(events.filter(({ event }) => event === 'engine ended').length, 3)
})

t.test('what was asked often is loaded ahead, as far as there is room', async t => {
  const use = new GraphUse(`${temporaryFolder(t)}/use.json`)
  for (let count = 0; count < 5; count++) use.note(['a'])
  for (let count = 0; count < 4; count++) use.note(['b', 'c'])
  for (let count = 0; count < 3; count++) use.note(['d'])
  for (let count = 0; count < 2; count++) use.note(['e'])
  const { resident, requests } = residency({ use })
  await resident.preload()
  t.same(requests(), ['start', 'load a', 'load d'], 'b and c do not fit beside a, e was asked too rarely')
  await resident.close()
  requests()
  await resident.preload()
  t.same(requests(), [], 'a closed one loads nothing')
})

t.test('a closed store answers nothing', async t => {
  const { resident, ask } = residency()
  await resident.close()
  await t.rejects(ask('a'), { code: 'StoreUnavailable' })
})
