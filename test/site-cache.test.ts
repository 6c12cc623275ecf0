import t from 'tap'
import { DataCache } from '../src/portal/data-cache.ts'

/** What pages keep of the answers of the store: bounded in number and size, whatever strangers ask. */

t.test('answers are kept, the latest, as long as there is room', async t => {
  const kept = new DataCache(3, 1000)
  const made: string[] = []
  const ask = (key: string, answer: unknown = key) =>
    kept.of(key, async () => {
      made.push(key)
      return answer
    })
  for (const key of ['a', 'b', 'a', 'c']) t.equal(await ask(key), key)
  t.same(made, ['a', 'b', 'c'], 'who asks again makes nothing')
  await ask('d')
  await ask('a')
  await ask('b')
  t.same(made, ['a', 'b', 'c', 'd', 'b'], 'what was longest not asked for goes first')
  const long = 'x'.repeat(200)
  await ask('long', long)
  t.equal(await ask('long', long), long)
  t.same(made.slice(5), ['long', 'long'], 'an answer of more than an eighth is not kept')
  const failing = () => kept.of('bad', () => Promise.reject(new Error('no')))
  await t.rejects(failing())
  t.equal(await ask('bad'), 'bad', 'what failed is tried again')
})

t.test('many answers together have a bound', async t => {
  const kept = new DataCache(1000, 1000)
  let makings = 0
  const ask = (key: string) =>
    kept.of(key, async () => {
      makings += 1
      return 'y'.repeat(100)
    })
  for (let at = 0; at < 20; at++) await ask(`k${at}`)
  await ask('k19')
  t.equal(makings, 20)
  await ask('k0')
  t.equal(makings, 21)
})
