import { Parser } from 'n3'
import t from 'tap'
import { Monitoring } from '../src/catalog/monitoring.ts'
import type { CountedUse } from '../src/catalog/usage.ts'
import { Usage } from '../src/catalog/usage.ts'
import { ANONYMOUS, type Principal } from '../src/model/principal.ts'
import type { GraphSource, Store } from '../src/store/store.ts'
import { servePortal } from './support/portal.ts'

/** Monitoring as datasets: who sees which, what is in them, and how often they are made. */
const dataset = (visibility: string) => ({
  'dataset.yaml': `source: { path: a.json }\nvisibility: ${visibility}\nmetas: { default: { title: Things, keyword: [a, b] } }\n`,
  'a.json': '[{"a":1},{"a":2}]',
})
const { app } = await servePortal(t, {
  portal: { 'portal.yaml': '', data: { open: dataset('public'), secret: dataset('restricted') } },
})

const user = (...grants: readonly string[]): Principal => ({
  type: 'user',
  id: 1,
  name: 'ann',
  grants: new Set(grants),
  quota: null,
  by: 'key',
})
const WATCHER = user('ods-api-monitoring')

function call(more: Partial<CountedUse>): { counted: () => CountedUse } {
  const counted = { timestamp: '2026-01-02T03:04:05Z', user_id: null, dataset_id: 'open', ...more }
  return { counted: () => counted as CountedUse }
}

/** A store that keeps the texts of graphs. */
function textStore() {
  const texts = new Map<string, string>()
  const store = {
    load: async (graphs: readonly GraphSource[]) => {
      for (const source of graphs) if ('text' in source) texts.set(source.graph, source.text)
    },
    drop: async (graphs: readonly string[]) => {
      for (const graph of graphs) texts.delete(graph)
    },
  }
  return { texts, store: store as unknown as Store }
}

function monitoringOf(openCalls: boolean) {
  const { texts, store } = textStore()
  const usage = new Usage({ file: `${t.testdirName}/usage-${openCalls}.json` })
  const clock = { now: Date.parse('2026-01-02T03:04:05Z') }
  const monitoring = new Monitoring({
    base: 'http://portal.example',
    store,
    catalog: app.catalog,
    usage,
    domain: 'town',
    openCalls,
    grace: 0,
    now: () => clock.now,
  })
  const entryOf = (principal: Principal, id: string) => monitoring.visibleTo(principal).dataset(id)
  /** The values of some fields of the records that somebody sees. */
  const rows = async (principal: Principal, id: string, ...fields: readonly string[]) => {
    await monitoring.refresh(principal)
    const { target } = entryOf(principal, id)
    const records = new Map<string, Map<string, string[]>>()
    for (const { subject, predicate, object } of new Parser().parse(texts.get(target.graphs.facts) ?? '')) {
      const record = records.get(subject.value) ?? new Map<string, string[]>()
      const name = predicate.value.replace(/.*\//, '')
      record.set(name, [...(record.get(name) ?? []), object.value])
      records.set(subject.value, record)
    }
    return [...records.values()]
      .map(record => fields.map(name => record.get(name)?.join() ?? 'none').join(' '))
      .sort()
  }
  return { monitoring, usage, clock, entryOf, rows }
}

t.test('who sees which list', async t => {
  const rows: readonly (readonly [openCalls: boolean, principal: Principal, ids: readonly string[]])[] = [
    [false, ANONYMOUS, ['ods-datasets-monitoring']],
    [false, user('secret'), ['ods-datasets-monitoring']],
    [false, WATCHER, ['ods-api-monitoring', 'ods-datasets-monitoring']],
    [false, user('*'), ['ods-api-monitoring', 'ods-datasets-monitoring']],
    [true, ANONYMOUS, ['ods-api-monitoring', 'ods-datasets-monitoring']],
  ]
  for (const [openCalls, principal, ids] of rows) {
    const { monitoring } = monitoringOf(openCalls)
    await monitoring.refresh(principal)
    const list = (await monitoring.visibleTo(principal).asDataset()).entries
    t.same(list.map(entry => entry.dataset.id).sort(), ids)
    monitoring.close()
  }
  const { monitoring, entryOf } = monitoringOf(false)
  await monitoring.refresh(ANONYMOUS)
  t.throws(() => entryOf(ANONYMOUS, 'ods-api-monitoring'), { code: 'Unauthorised' })
  t.throws(() => entryOf(user(), 'ods-api-monitoring'), { code: 'ForbiddenAccess' })
  t.throws(() => entryOf(WATCHER, 'open'), { code: 'NotFoundResource' })
  monitoring.close()
})

t.test('public datasets with what was counted of them', async t => {
  const { monitoring, usage, clock, rows } = monitoringOf(false)
  for (const kind of ['call', 'call', 'download', 'attachment'] as const) usage.count('open', kind)
  usage.count('secret', 'call')
  const fields = [
    'dataset_id',
    'api_call_count',
    'download_count',
    'attachment_download_count',
    'records_count',
    'field_count',
    'visibility',
    'domain_id',
    'publisher',
  ] as const
  const ask = () => rows(WATCHER, 'ods-datasets-monitoring', ...fields)
  t.same(await ask(), ['open 2 1 1 2 1 domain town none'])
  usage.count('open', 'call')
  clock.now += 1999
  t.same(await ask(), ['open 2 1 1 2 1 domain town none'], 'not made again within two seconds')
  clock.now += 1
  t.same(await ask(), ['open 3 1 1 2 1 domain town none'])
  usage.count('open', 'call')
  clock.now -= 3_600_000
  t.same(await ask(), ['open 4 1 1 2 1 domain town none'], 'also after the clock was set back')
  const keywords = await rows(ANONYMOUS, 'ods-datasets-monitoring', 'keyword')
  t.same(keywords, ['a,b'], 'each element of a list')
  monitoring.close()
})

t.test('open calls are those of nobody in particular to public datasets', async t => {
  const { monitoring, usage, rows } = monitoringOf(true)
  for (const each of [
    { api: 'one' },
    { api: 'two', user_id: 'ann' },
    { api: 'three', dataset_id: 'secret' },
    { api: 'four', dataset_id: null },
  ])
    usage.remember(call(each))
  t.same(await rows(ANONYMOUS, 'ods-api-monitoring', 'api'), ['four', 'one'])
  t.same(await rows(WATCHER, 'ods-api-monitoring', 'api'), ['four', 'one', 'three', 'two'])
  monitoring.close()
})

t.test('what does not fit the type of its field is left out', async t => {
  const { monitoring, usage, rows } = monitoringOf(false)
  usage.remember(
    call({
      timestamp: 'yesterday',
      size_res: 1.5,
      nhits: 7,
      exec_time: Number.NaN,
      bot: 'no' as never,
      in_error: true,
      error: { a: 1 } as never,
      facet: ['x', 'y'],
    }),
  )
  const ask = (...fields: readonly string[]) => rows(WATCHER, 'ods-api-monitoring', ...fields)
  t.same(await ask('timestamp', 'size_res', 'nhits', 'exec_time', 'bot', 'in_error', 'error'), [
    'none none 7 none none true {"a":1}',
  ])
  t.same(await ask('facet'), ['x,y'])
  monitoring.close()
})

t.test('a list with usage statistics presents those that its records have', async t => {
  const counts = { api_call_count: 3, popularity_score: 0.5 }
  const datasets = app.catalog.visibleTo(ANONYMOUS)
  const served = await datasets.counted?.(() => counts)
  t.same([...(served?.statistics ?? [])], [['open', counts]])
})
