import { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { warmUp } from '../src/app/warm-up.ts'
import { queriesOf, questionsOf } from '../src/app/warm-up-questions.ts'
import { XSD } from '../src/rdf/vocab.ts'
import { currentClient } from '../src/runtime/work-client.ts'
import { parseQuery } from '../src/sparql/parse.ts'
import { isOutweighed, ThreadSlot } from '../src/store/columns/threads/scheduler.ts'
import type { Store } from '../src/store/store.ts'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** What a server asks itself after a start. */
const rows = Array.from({ length: 50 }, (_, n) => `${n},name ${n},K${n % 5},${n % 3},"${n % 80}, ${n}"`)
const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Warm\n',
  data: {
    places: {
      'places.csv': `id,name,kind,order,place\n${rows.join('\n')}\n`,
      'dataset.yaml': `source: { path: places.csv }
visibility: restricted
fields:
  - { name: id, type: int }
  - { name: name, type: text }
  - { name: kind, type: text, annotations: { facet: [] } }
  - { name: order, type: text, annotations: { facet: [] } }
  - { name: place, type: geo_point_2d }
`,
    },
    small: { 'dataset.yaml': 'source: { path: s.json }\n', 's.json': '[{"a": 1, "b": "x"}]' },
    empty: {
      'dataset.yaml': 'source: { path: s.json }\nfields: [{ name: a, type: int }]\n',
      's.json': '[]',
    },
    graph: { 'dataset.yaml': 'source: { path: g.ttl }\n', 'g.ttl': '<urn:a> a <urn:C> .' },
  },
})
const { app, base } = await servePortal(t, { portal, now: '2026-01-02T03:04:05Z', config: { workers: 2 } })
const options = {
  catalog: app.catalog,
  store: app.store,
  base,
  title: 'Warm',
  server: app.http.server,
  threads: 2,
  deadline: 10,
  signal: new AbortController().signal,
}
const times = { catalog: 0, large: 0, small: 0, sparql: 0 }

t.test('every question is one that the portal answers', async t => {
  const { sent, refused } = await warmUp({ ...options, least: 50, times })
  const [places = [], small = []] = ['places', 'small'].map(
    name => app.catalog.entries().find(({ dataset }) => dataset.id === name)?.dataset.fields,
  )
  const numbers = [places, small].map(fields => questionsOf(fields).length)
  t.same(numbers, [16, 7])
  // What it asks of the endpoint, too: once for the predicates, then both endpoints about a number, a text and a record.
  t.same({ sent: sent, refused }, { sent: 2 * (16 + 7) + 1 + 2 * 6, refused: 0 })
})

t.test('a question makes room for every client, and ends early where it is slow', async t => {
  const seen = new Set<string>()
  const noting = new Proxy(app.store, {
    get: (store, name, receiver) => {
      const client = currentClient()
      const slot = new ThreadSlot({ standBack: () => undefined } as never, client, 'slow', () => true)
      if (client !== null) seen.add(`${client.id} ${client.deadline(10_000)} ${isOutweighed(slot, null)}`)
      const member = Reflect.get(store, name, receiver)
      return typeof member === 'function' ? member.bind(store) : member
    },
  })
  await warmUp({ ...options, store: noting, least: 50, times })
  t.same([...seen], ['warm-up 2000 true'])
})

t.test('a portal of many datasets is asked for its lists', async t => {
  // Both threads ask the questions about the lists, and those about the smallest dataset.
  t.same(await warmUp({ ...options, many: 2, times }), { sent: 2 * (4 + 7), refused: 0 })
})

t.test('queries about predicates are SPARQL, another each turn', t => {
  const row = (p: string, o: object) => ({ p: { value: p }, s: { type: 'uri', value: 'urn:s' }, o }) as never
  const number = row('urn:n', { type: 'literal', value: '1', datatype: `${XSD.integer}` })
  const text = row('urn:t', { type: 'literal', value: 'x' })
  const [link, other] = ['urn:a', 'urn:b'].map(p => row(p, { type: 'uri', value: 'urn:o' }))
  const numbers = [[], [text], [number, text], [link, number], [link, text], [link, other, number, text]].map(
    rows => {
      const queries = queriesOf(rows as never)
      for (const query of queries) {
        t.equal(parseQuery(query(7), 'urn:base').query.type, 'select', query(7))
        t.not(query(7), query(8))
      }
      return queries.length
    },
  )
  t.same(numbers, [0, 1, 3, 5, 5, 19])
  t.end()
})

t.test('nobody has used anything by that', async t => {
  const { body } = await app.http.inject('/api/explore/v2.1/monitoring/datasets/ods-api-monitoring/records')
  t.notMatch(body, /places/)
  t.equal((await app.http.inject('/api/explore/v2.1/catalog/datasets/places/records')).statusCode, 401)
})

t.test('small portals, and those that end, ask nothing', async t => {
  t.same(await warmUp(options), { sent: 0, refused: 0 })
  const signal = AbortSignal.abort()
  t.same(await warmUp({ ...options, least: 50, times, signal }), { sent: 0, refused: 0 })
})

t.test('clients come first', async t => {
  const server = new EventEmitter()
  let pages = 0
  const page: Store['page'] = (...sent) => {
    pages += 1
    return app.store.page(...sent)
  }
  const asked = warmUp({
    ...options,
    store: { ...app.store, page },
    server: server as Server,
    least: 50,
    times,
  })
  const answer = new EventEmitter()
  server.emit('request', {}, answer)
  await sleep(100)
  t.equal(pages, 0, 'while one is answered')
  answer.emit('close')
  await asked
  t.ok(pages > 0, 'once it is')
  t.same([server.listenerCount('request'), (await asked).refused], [0, 0])
})

t.test('who watches over the process is no client', async t => {
  const server = new EventEmitter()
  const asked = warmUp({ ...options, server: server as Server, least: 50, times })
  for (const url of ['/healthz', '/readyz', '/metrics']) server.emit('request', { url }, new EventEmitter())
  t.same((await asked).refused, 0, 'their requests are still open')
})

t.test('its time ends also while it lets clients go first', async t => {
  const server = new EventEmitter()
  const stop = new AbortController()
  const hour = 3_600_000
  const asked = warmUp({
    ...options,
    server: server as Server,
    least: 50,
    signal: stop.signal,
    times: { catalog: 0, large: hour, small: hour, sparql: 0 },
  })
  const answer = new EventEmitter()
  server.emit('request', {}, answer)
  answer.emit('close')
  await sleep(50)
  stop.abort()
  t.ok((await asked).sent > 0)
  t.equal(server.listenerCount('request'), 0)
})
