import t from 'tap'
import { inTurns, pause, runFor, yieldToOthers } from '../src/runtime/work-client.ts'
import { workClient } from './support/work-client.ts'

/** When the work of long answers pauses for other requests. */

const client = workClient()

/** The clock that decides what happened a moment ago; a busy machine would let the moment pass between two lines of a test. */
let now = 1000
t.intercept(performance, 'now', { value: () => now })

/** True where it did not go on in the same turn of the event loop. */
async function pauses(isLong: boolean): Promise<boolean> {
  let hasGoneOn = false
  const resting = pause(client, isLong).then(() => {
    hasGoneOn = true
  })
  await new Promise(process.nextTick)
  const hasPaused = !hasGoneOn
  await resting
  return hasPaused
}

t.test('a long answer gives way while another request begins, its own is none', async t => {
  const answer = { client }
  const paused = await runFor(answer, async () => {
    const alone = await pauses(true)
    runFor({ client }, () => undefined)
    const beside = await pauses(true)
    const short = await pauses(false)
    // The body of a request is read on the same account.
    runFor(answer, () => undefined)
    return { alone, beside, short, again: await pauses(true) }
  })
  t.same(paused, { alone: false, beside: true, short: false, again: true })
  now += 60
  t.equal(await runFor(answer, () => pauses(true)), false, 'a while later nobody asks any more')
})

t.test('a turn of the event loop continues one long work', async t => {
  const done: number[] = []
  const work = async (id: number) => {
    for (let piece = 0; piece < 3; piece++) {
      await yieldToOthers()
      done.push(id)
    }
  }
  const all = Promise.all([1, 2, 3, 4].map(work))
  let before = 0
  for (let turn = 0; done.length < 12; turn++) {
    await new Promise(setImmediate)
    t.ok(done.length - before <= 1, `turn ${turn}`)
    before = done.length
  }
  await all
  t.same(done, [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4], 'in their order')
})

t.test('a long document lets others have their turns, a short one is made at once', async t => {
  const turnsOf = async (pieces: readonly string[]) => {
    let [turns, isMade] = [0, false]
    const count = () => {
      turns += 1
      if (!isMade) setImmediate(count)
    }
    setImmediate(count)
    const made: string[] = []
    for await (const piece of inTurns(pieces)) made.push(piece)
    isMade = true
    t.same(made, pieces)
    return turns
  }
  t.equal(await turnsOf(['a', 'b', 'c']), 0)
  t.ok((await turnsOf(Array.from({ length: 10 }, () => 'a'.repeat(90_000)))) >= 3)
})
