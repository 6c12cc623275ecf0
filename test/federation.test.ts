import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { readCatalog } from '../src/catalog/federated.ts'
import { type Member, readJson, requestMember } from '../src/catalog/member.ts'

/** What a portal of the network may answer: limits of time and of bytes, redirections, bodies that are no JSON. */

const ANSWERS: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  '/good': response => response.end('{"a":1}'),
  '/moved': response => response.writeHead(302, { location: '/good' }).end(),
  '/elsewhere': response => response.writeHead(302, { location: 'http://127.0.0.2:1/' }).end(),
  '/round': response => response.writeHead(302, { location: '/round' }).end(),
  '/silent': () => undefined,
  '/stalls': response => response.writeHead(200).write('{'),
  '/long': response => response.end(`"${'x'.repeat(2000)}"`),
  '/text': response => response.end('no JSON'),
  '/api/explore/v2.1/catalog/datasets?limit=100&offset=0': response =>
    response.end(
      JSON.stringify({
        total_count: 2,
        results: ['2026-01-02T03:04:05', 'spring 2020'].map((modified, index) => ({
          dataset_id: `d${index}`,
          metas: { default: { modified } },
        })),
      }),
    ),
}

const server = createServer(({ url = '' }, response) => ANSWERS[url]?.(response))
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
t.teardown(() => {
  server.closeAllConnections()
  server.close()
})

const member: Member = {
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  domain: 'other',
}

/** The body that a portal answers with; garbage is collected while it is read. */
async function read(address: string, limits = { timeout: 10_000, deadline: 20_000 }): Promise<unknown> {
  const answer = await requestMember(member, address, limits)
  const reading = readJson(member, answer, 1000)
  reading.catch(() => 'the caller gets it')
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let times = 0; times < 3; times++) {
    await sleep(10)
    collect()
  }
  return reading
}

t.test('answers of another portal', async t => {
  t.same(await read('/good'), { a: 1 })
  t.same(await read('/moved'), { a: 1 }, 'within the same origin')
  const silent = { timeout: 100, deadline: 20_000 }
  const stalling = { timeout: 10_000, deadline: 300 }
  const cases: readonly [string, RegExp, { timeout: number; deadline: number }?][] = [
    ['/elsewhere', /other could not be asked: it redirects to another origin, http:\/\/127\.0\.0\.2:1/],
    ['/round', /other could not be asked: it redirects without end/],
    ['/silent', /other could not be asked: no answer within 100 ms/, silent],
    ['/stalls', /other could not be read: not done within 300 ms/, stalling],
    ['/long', /other could not be read: its answer has more than 1000 bytes/],
    ['/text', /other could not be read: .*JSON/],
  ]
  for (const [address, message, limits] of cases) await t.rejects(read(address, limits), { message }, address)
})

t.test('moments of other portals are in UTC where they have no offset, words are none', async t => {
  const entries = await readCatalog(member)
  t.same(
    entries.map(({ published }) => published),
    ['2026-01-02T03:04:05.000Z', '1970-01-01T00:00:00.000Z'],
  )
})
