import { readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { abortAfter } from '../src/runtime/abort-after.ts'
import { standBackEngineThreads } from '../src/runtime/thread-priority.ts'
import type { WorkClient } from '../src/runtime/work-client.ts'
import { checkDeadline } from '../src/store/columns/evaluate/evaluation-limits.ts'
import { isOutweighed, Scheduler, ThreadSlot, type Turn } from '../src/store/columns/threads/scheduler.ts'
import { type ColumnThread, KnownSlow } from '../src/store/columns/threads/thread.ts'
import { workClient } from './support/work-client.ts'

/** Who works on which thread of the columns: turns, lanes, and work that makes room. */
function fakeThread(name: string) {
  const stands: boolean[] = []
  const pauses: string[] = []
  const thread = {
    name,
    busy: false,
    standBack: (isBack: boolean) => stands.push(isBack),
    pauseForOthers: () => pauses.push(name),
  }
  return { thread: thread as unknown as ColumnThread, stands, pauses }
}

const client = (id: string, usage = 0, more: Partial<WorkClient> = {}) =>
  workClient({ id, usage: () => usage, ...more })

const TURN: Turn = { client: null, lane: 'quick', pinned: null, isUntrusted: false }

/** A scheduler with some threads, and work that goes on until it is ended. */
function schedule(threads: number, options: Partial<ConstructorParameters<typeof Scheduler>[0]> = {}) {
  const scheduler = new Scheduler({ queue: 4, timeout: 60_000, slow: 1, ...options })
  const made = Array.from({ length: threads }, (_, at) => fakeThread(`thread ${at}`))
  for (const { thread } of made) scheduler.add(thread)
  const begun: string[] = []
  const places: number[] = []
  const ends = new Map<string, () => void>()
  const run = (name: string, turn: Partial<Turn> = {}) =>
    scheduler.run({ ...TURN, ...turn }, async thread => {
      begun.push(name)
      places.push(made.findIndex(each => each.thread === thread))
      await new Promise<void>(resolve => ends.set(name, resolve))
      return name
    })
  /** Ends work, and waits until what follows has begun. */
  const end = async (name: string) => {
    ends.get(name)?.()
    await sleep(0)
  }
  const pauses = () => made.map(({ pauses }) => pauses.length)
  return { scheduler, threads: made.map(({ thread }) => thread), begun, places, run, end, pauses }
}

t.test('each thread does one thing at a time, that of the client with the least work first', async t => {
  const { begun, run, end, scheduler } = schedule(1)
  const all = [
    run('first', { client: client('a', 500) }),
    run('much', { client: client('b', 900) }),
    run('little', { client: client('c', 10) }),
    run('little too', { client: client('c', 10) }),
    run('own'),
  ]
  t.same(begun, ['first'])
  for (const name of ['first', 'own', 'little', 'little too', 'much']) await end(name)
  t.same(begun, ['first', 'own', 'little', 'little too', 'much'])
  t.same(await Promise.all(all), ['first', 'much', 'little', 'little too', 'own'])
  scheduler.close()
})

t.test('slow work never takes all threads, nor does that of clients that use the most', async t => {
  const { begun, run, end, scheduler } = schedule(2)
  void run('slow', { lane: 'slow' })
  void run('slow too', { lane: 'slow' })
  void run('heavy', { client: client('a', 0, { isHeavy: () => true }) })
  void run('quick')
  t.same(begun, ['slow', 'quick'])
  await end('quick')
  t.same(begun, ['slow', 'quick'], 'the thread stays free')
  await end('slow')
  t.same(begun, ['slow', 'quick', 'slow too'])
  await end('slow too')
  t.same(begun, ['slow', 'quick', 'slow too', 'heavy'])
  await end('heavy')
  scheduler.close()
})

t.test('work for one thread waits for that, and ends with it', async t => {
  const { begun, run, end, scheduler, threads } = schedule(2)
  const [first] = threads
  if (first === undefined) throw new Error('no thread')
  void run('first')
  const pinned = run('pinned', { pinned: first })
  t.same(begun, ['first'])
  const rejected = t.rejects(pinned, { code: 'StoreUnavailable', message: /thread of the answer ended/ })
  scheduler.remove(first)
  await rejected
  void run('second')
  t.same(begun, ['first', 'second'], 'the other thread goes on')
  await end('second')
  scheduler.close()
})

t.test('too much, or too long, is refused', async t => {
  const { run, end, scheduler } = schedule(1, { queue: 2, timeout: 100 })
  void run('running')
  const late = t.rejects(run('late', { client: client('a') }), { code: 'StoreBusy' }, 'waited too long')
  await t.rejects(run('more of it', { client: client('a') }), { code: 'StoreBusy' }, 'half of the places')
  const other = t.rejects(run('other', { client: client('b') }), { code: 'StoreBusy' })
  await t.rejects(run('one more', { client: client('c') }), { code: 'StoreBusy' }, 'all places')
  await Promise.all([late, other])
  const waiting = t.rejects(run('waiting'), { code: 'StoreUnavailable' }, 'the store was closed')
  scheduler.close()
  await waiting
  await t.rejects(run('afterwards'), { code: 'StoreUnavailable' }, 'it is closed')
  await end('running')
})

t.test('a client is charged the time of its work, also of what fails', async t => {
  const { scheduler } = schedule(1)
  const charged: number[] = []
  const one = client('a', 0, { spend: milliseconds => charged.push(milliseconds) })
  const turn = { ...TURN, client: one }
  await t.rejects(
    scheduler.run(turn, async () => {
      await sleep(5)
      throw new Error('failed')
    }),
    { message: 'failed' },
  )
  t.equal(await scheduler.run(turn, async () => 1), 1, 'and the thread is free again')
  await sleep(0)
  t.equal(charged.length, 2)
  t.ok((charged[0] ?? 0) > 0)
})

t.test('work that is no longer short stands back, once, until it is done', t => {
  const { thread, stands } = fakeThread('thread')
  const slot = new ThreadSlot(thread, null, 'quick', () => true)
  slot.standBack()
  slot.standBack()
  t.same([stands, slot.lane], [[true], 'quick'])
  slot.outgrow()
  slot.end()
  t.same([stands, slot.lane], [[true, false], 'slow'])
  t.end()
})

t.test('what may take any time leaves the first thread to others', async t => {
  const { run, end, places } = schedule(3)
  void run('query', { isUntrusted: true })
  void run('page')
  t.same(places.splice(0), [2, 0])
  await end('page')
  void run('next page')
  void run('another query', { isUntrusted: true })
  void run('a third', { isUntrusted: true })
  t.same(places.splice(0), [0, 1], 'and waits where none is idle')
  await end('next page')
  t.same(places, [0])
})

t.test('work that stands back pauses for what begins beside it', async t => {
  const { scheduler, run, end, pauses } = schedule(3)
  let done: () => void = () => undefined
  let own: ThreadSlot | undefined
  const long = scheduler.run(TURN, async (_, slot) => {
    own = slot
    await new Promise<void>(resolve => {
      done = resolve
    })
  })
  const early = run('early')
  t.same(pauses(), [0, 0, 0], 'short work does not')
  own?.standBack()
  const late = run('late')
  t.same(pauses(), [1, 0, 0])
  await end('late')
  const later = run('later')
  t.same(pauses(), [2, 0, 0])
  done()
  for (const name of ['early', 'later']) await end(name)
  await Promise.all([long, early, late, later])
})

t.test('a look at the deadline pauses while others have begun', t => {
  const results = t.capture(Atomics, 'wait', () => 'timed-out' as const)
  const numbers = new Int32Array(new SharedArrayBuffer(8))
  const limits = { signal: { numbers, id: 7 } }
  checkDeadline(limits)
  t.equal(results().length, 0, 'nobody has')
  numbers[1] = 1
  checkDeadline(limits)
  t.match(results(), [{ args: [Int32Array, 0, 0, Number] }])
  numbers[1] = 0
  checkDeadline(limits)
  checkDeadline({ signal: { numbers: new Int32Array(1), id: 7 } })
  t.equal(results().length, 0)
  numbers[0] = 7
  t.throws(() => checkDeadline(limits), { message: 'cancelled' })
  t.end()
})

t.test('quick work that takes its time becomes slow, or is stopped where that has no room', async t => {
  for (const [hasRoom, canBeginAgain, lane, stopped] of [
    [true, true, 'slow', null],
    [true, false, 'slow', null],
    [false, true, 'quick', 'not quick'],
    [false, false, 'slow', null],
    [false, null, 'slow', null],
  ] as const) {
    const { thread, stands } = fakeThread('thread')
    const slot = new ThreadSlot(thread, null, 'quick', () => hasRoom)
    let stops = 0
    if (canBeginAgain !== null) slot.onStop(() => stops++, canBeginAgain)
    slot.outgrow()
    const about = `${hasRoom} ${canBeginAgain}`
    t.same([slot.lane, slot.stopped, stops], [lane, stopped, stopped === null ? 0 : 1], about)
    slot.outgrow()
    slot.end()
    t.same(stands, lane === 'slow' ? [true, false] : [], `${about}: others go first while it is slow`)
    t.equal(slot.canStop(), false, 'work has some time in any case')
    slot.stop('crowded')
    slot.stop('not quick')
    t.equal(slot.stopped, stopped ?? 'crowded', 'the first reason counts')
  }
})

t.test('who uses more than twice as much makes room', async t => {
  const slotOf = (usage: number | null) =>
    new ThreadSlot(
      fakeThread('thread').thread,
      usage === null ? null : client('a', usage),
      'slow',
      () => true,
    )
  const rows: readonly (readonly [usage: number | null, other: WorkClient | null, isOutweighed: boolean])[] =
    [
      [null, client('b'), false],
      [9000, client('a'), false],
      [9000, client('b'), true],
      [400, client('b'), false],
      [9000, client('b', 4400), true],
      [9000, client('b', 6000), false],
      [9000, null, true],
    ]
  for (const [usage, other, expected] of rows)
    t.equal(isOutweighed(slotOf(usage), other), expected, `${usage} and ${other?.id} ${other?.usage()}`)
})

t.test('what was slow is remembered by what it does', async t => {
  const job = (from: number) => JSON.stringify({ type: 'lines', graph: 'g', from, to: 9 })
  const known = new KnownSlow()
  known.add(job(1))
  t.ok(known.has(job(1)))
  t.notOk(known.has(job(2)))
  for (let at = 2; at < 1002; at++) known.add(job(at))
  t.notOk(known.has(job(1)), 'of many the latest')
  known.delete(job(2))
  t.notOk(known.has(job(2)))
})

t.test('what the engine compiles on stands back for the first thread', t => {
  standBackEngineThreads()
  if (process.platform === 'linux') {
    const others = readdirSync('/proc/self/task')
      .map(Number)
      .filter(thread => thread !== process.pid)
    const [first, ...priorities] = [process.pid, ...others].map(thread => getPriority(thread))
    t.ok(
      priorities.every(priority => priority > Number(first)),
      `${first} before ${priorities}`,
    )
  }
  t.end()
})

t.test(
  'work is aborted after its time though garbage was collected, and with another signal before that',
  async t => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const { signal: never } = new AbortController()
    const [alone, beside] = [abortAfter(100), abortAfter(100, never)]
    for (let times = 0; times < 4; times++) {
      await sleep(10)
      collect()
    }
    for (let tries = 0; tries < 500 && !(alone.aborted && beside.aborted); tries++) await sleep(10)
    for (const signal of [alone, beside]) t.match(signal.reason, { name: 'TimeoutError', message: /100 ms/ })
    const other = new AbortController()
    const first = abortAfter(60_000, other.signal)
    t.notOk(first.aborted)
    other.abort(new Error('gone'))
    t.match(first.reason, { message: 'gone' })
  },
)
