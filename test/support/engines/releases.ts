import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { buildApp } from '../../../src/app/app.ts'
import { diagnoseStore } from '../../../src/cli/doctor/store.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { serve } from '../../../src/main.ts'
import { Releases } from '../../../src/publishing/registry/releases.ts'
import { SharedRegistry } from '../../../src/publishing/registry/shared-registry.ts'
import {
  currentManifest,
  type VersionManifest,
  versionsOf,
} from '../../../src/publishing/versions/versions.ts'
import { graphIri } from '../../../src/rdf/minted-iris.ts'
import { countOf, createRemoteStore, type SharedStore } from '../../../src/store/remote/remote.ts'
import { temporaryFolder } from '../folder.ts'
import { freePort, until } from '../serving.ts'
import { publishInto } from '../stores.ts'

const base = 'http://portal.example'

const MAPPING = `prefixes: { schema: http://schema.org/ }
mappings:
  thing:
    subject: portal:mapped/thing/$(size)
    predicateobjects:
      - [schema:name, $(name)]
`

export async function releases(t: Test, url: string): Promise<void> {
  const made = (rows: number, word: string) =>
    `name,size\n${Array.from({ length: rows }, (_, at) => `${word} ${at},${at}`).join('\n')}\n`
  const portal = temporaryFolder(t, {
    'portal.yaml': '',
    data: { things: { 'things.csv': made(500, 'first'), 'dataset.yaml': 'source: { path: things.csv }' } },
    mappings: { 'things.yml': MAPPING },
  })
  const settings = {
    portal,
    base,
    workers: 1,
    memory: 500_000_000,
    deadline: 20,
    store: { url, concurrency: 4 },
  }
  const config = { ...settings, log: 'silent' } as unknown as Parameters<typeof publishInto>[0]
  const versions = versionsOf(portal)
  // The clock of the instances; what publishes here has that of the machine.
  let ahead = 0
  const now = () => Date.now() + ahead
  const instance = async () => {
    const store = await createRemoteStore({ settings: { url }, deadline: 20_000, workers: 1 })
    t.teardown(() => store.close())
    const folder = path.join(portal, 'var', 'columns')
    return { store, registry: new SharedRegistry({ store, base, versions, folder, now }) }
  }
  const graphsIn = async (store: SharedStore, manifest: VersionManifest) => {
    const graph = graphIri('things', manifest.version, 'facts')
    const [row] = await store.read(countOf(graph))
    return Number(row?.count?.value)
  }
  const [one, two] = [await instance(), await instance()]
  t.same([...(await one.registry.current())], [], 'nothing at first')

  await publishInto(config)
  const first = currentManifest(versions, 'things')
  if (first === null) throw new Error('no version')
  t.same([...(await one.registry.current())], [['things', first.version]], 'released')
  t.same((await two.registry.inForce('things'))?.statistics.records, 500, 'known to another instance whole')
  t.equal(await one.registry.release(versions, first), 'unchanged', 'once')

  writeFileSync(path.join(portal, 'data/things/things.csv'), made(700, 'second'))
  await publishInto(config)
  const second = currentManifest(versions, 'things')
  if (second === null) throw new Error('no second version')
  t.equal((await two.registry.current()).get('things'), second.version, 'replaced in one step')
  t.equal(await graphsIn(one.store, first), 1000, 'the old graphs stay for answers under way')
  t.same(await one.registry.sweep(), [], 'for a while')
  ahead += 100_000
  t.same(await one.registry.sweep(), [`things ${first.version}`])
  t.equal(await graphsIn(one.store, first), 0, 'and go')
  t.same(await two.registry.sweep(), [], 'once')
  t.equal(await graphsIn(one.store, second), 1400)

  await t.test('an instance that did not hear of a new version gives no wrong answer', async t => {
    const held = await instance()
    t.ok(await held.registry.manifest('things', second.version), 'it serves the second')
    writeFileSync(path.join(portal, 'data/things/things.csv'), made(300, 'third'))
    await publishInto(config)
    ahead += 1000
    await held.registry.current()
    ahead += 100_000
    await one.registry.sweep()
    ahead += 100_000
    await one.registry.sweep()
    const facts = graphIri('things', second.version, 'facts')
    const requested = held.store.query({
      parsed: null,
      base: 'http://portal.example/',
      format: 'json',
      defaultGraphs: [facts],
      namedGraphs: [],
      engineText: () => 'SELECT * { ?s ?p ?o } LIMIT 1',
    })
    await t.rejects(requested, { code: 'StoreUnavailable' })
  })

  await t.test('a load that is cut off shows nothing, is gone on with, or is cleaned away', async t => {
    writeFileSync(path.join(portal, 'data/things/things.csv'), made(900, 'fourth'))
    const before = (await one.registry.current()).get('things')
    const dying = await instance()
    const upload = dying.store.upload.bind(dying.store)
    let uploads = 0
    dying.store.upload = async (source, options) => {
      uploads += 1
      if (uploads === 2) throw new Error('killed')
      return upload(source, options)
    }
    const { publishAll } = await import('../../../src/publishing/publish-all.ts')
    const described: string[] = []
    const publish = (shared: SharedRegistry) =>
      publishAll({ portal, base, now: () => new Date(), shared }, null, message =>
        described.push(message.type),
      )
    await publish(dying.registry)
    t.ok(described.includes('failed'), 'the publication failed')
    t.equal((await one.registry.current()).get('things'), before, 'what was in force stays')
    const fourth = currentManifest(versions, 'things')
    if (fourth === null) return
    t.ok((await graphsIn(one.store, fourth)) > 0, 'a part is there')
    const state = await new Releases(one.store, base).state()
    t.match(state.versions.find(({ version }) => version === fourth.version)?.loaded.size, 1, 'and known')

    const next = await instance()
    const again: string[] = []
    const uploadNext = next.store.upload.bind(next.store)
    next.store.upload = (source, options) => {
      again.push(source.graph)
      return uploadNext(source, options)
    }
    await publish(next.registry)
    t.equal(again.length, 1, 'only what is missing is loaded')
    t.equal((await one.registry.current()).get('things'), fourth.version, 'and in force')
    t.equal(await graphsIn(one.store, fourth), 1800)

    const orphan = { ...fourth, version: `${fourth.version.split('-')[0]}-000000000000` }
    await new Releases(one.store, base).insert(
      new Releases(one.store, base).graphsOf('things', orphan.version, ['urn:lodestone:graph:orphan']),
    )
    ahead += 1000
    await one.registry.sweep()
    ahead += 100_000
    t.ok(
      (await one.registry.sweep()).includes(`things ${orphan.version}`),
      'what nobody goes on with is dropped',
    )
  })

  await t.test('an instance without any file serves what others published', async t => {
    const empty = temporaryFolder(t, { 'portal.yaml': '', data: {} })
    const app = await buildApp({
      ...loadConfig({ portal: empty, base }, { LODESTONE_STORE: url }),
      log: 'silent',
    })
    t.teardown(() => app.close())
    await app.catalog.refresh()
    const early = await app.http.inject('/api/explore/v2.1/catalog/datasets/things/records?limit=1')
    t.match([early.statusCode, early.headers['retry-after']], [503, /^\d+$/], 'its columns are coming')
    t.equal(early.json().error_code, 'NotPublishedYet')
    const other = await app.http.inject('/api/explore/v2.1/catalog/datasets/other/records')
    t.equal(other.statusCode, 404, 'only this dataset')
    t.equal((await app.http.inject('/api/explore/v2.1/catalog/datasets')).statusCode, 200)
    while (!(await app.catalog.refresh())) await sleep(50)
    const response = await app.http.inject(
      '/api/explore/v2.1/catalog/datasets/things/records?limit=1&order_by=size%20desc',
    )
    t.match(response.json(), { total_count: 900, results: [{ size: 899 }] })
    const turtle = await app.http.inject('/api/explore/v2.1/catalog/datasets/things/exports/turtle')
    t.equal(turtle.statusCode, 200)
    t.match(turtle.body, /fourth 899/)
    const { shared } = app
    t.equal(await shared?.registry.withdraw('things', 'open'), true, 'withdrawn')
    await app.catalog.refresh()
    const gone = await app.http.inject('/api/explore/v2.1/catalog/datasets/things/records')
    t.equal(gone.statusCode, 404)
    t.equal(app.catalog.isGone('things'), true)
  })
  await t.test('what was withdrawn is not published by an instance that follows its own folder', async t => {
    const environment = { LODESTONE_STORE: url, LODESTONE_SHUTDOWN_DELAY: '0' }
    const flags = { portal, base, port: await freePort() }
    const progress = { failures: [], update: () => {}, publication: () => {}, done: () => {} }
    const service = await serve({ ...loadConfig(flags, environment), workers: 1, log: 'silent' }, progress)
    t.teardown(() => service.close())
    await service.served
    writeFileSync(path.join(portal, 'data/things/things.csv'), made(950, 'fifth'))
    // The second of them is published when all is done that was found with the first.
    for (const id of ['wood', 'yard']) {
      writeFileSync(path.join(portal, `data/${id}.csv`), 'a\n1\n')
      await until(async () => (await two.registry.current()).has(id))
    }
    t.notOk((await two.registry.current()).has('things'))
  })
  const findings = await diagnoseStore({
    ...loadConfig({ portal, base }, { LODESTONE_STORE: url }),
    workers: 1,
  })
  t.same(
    findings.filter(({ status }) => status === 'problem'),
    [],
    'doctor asks the engine',
  )
  t.match(findings.map(({ message }) => message).join('\n'), /answered in \d+ ms\n.*(?:changes|gives|writes)/)
}
