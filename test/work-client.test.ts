import t from 'tap'
import { rest, runFor } from '../src/runtime/work-client.ts'
import { workClient } from './support/work-client.ts'

/** When the work of long answers pauses for other requests. */

const client = workClient()

/** The clock that decides what happened a moment ago; a busy machine would let the moment pass between two lines of a test. */
let now = 1000
t.intercept(performance, 'now', { value: () => now })

/** True where it did not go on in the same turn of the event loop. */
async function pauses(isLong: boolean): Promise<boolean> {
  let hasGoneOn = false
  const resting = rest(client, isLong).then(() => {
    hasGoneOn = true
  })
  await new Promise(setImmediate)
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
