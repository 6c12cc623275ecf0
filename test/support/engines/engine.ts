import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import { XSD } from '../../../src/rdf/vocab.ts'
import { countOf, createRemoteStore } from '../../../src/store/remote/remote.ts'
import { kindOfValue } from '../../../src/store/remote/value-kinds.ts'
// @ts-expect-error: a script of the tests without types
import { runSql, startEngine as start } from '../../peers/engines/engines.mjs'
// @ts-expect-error: as above
import { whyMissing } from '../../peers/engines/places.mjs'
import { temporaryFolder } from '../folder.ts'
import { scriptArguments } from '../script.ts'
import { freePort } from '../serving.ts'
import { lines, storeContract } from '../store-contract.ts'
import { fileOf, travel } from './files.ts'
import { releases } from './releases.ts'
import { columnsAgain, untrusted, values } from './stores.ts'

interface Started {
  readonly query: string
  readonly sqlPort?: number
  readonly stop: () => Promise<void>
  readonly kill: () => Promise<void>
}

/**
 * A store that is an engine of others, started here: the contract of a store, the registry that instances share, what becomes of
 * both when processes die, and random queries against a plain evaluator.
 */
export async function testEngine(name: string): Promise<void> {
  const missing = whyMissing(name) as string | null
  await t.test(name, missing === null ? {} : { skip: missing }, async t => {
    // Not a folder of the test itself: it goes when the engine that writes into it has ended.
    const folder = mkdtempSync(path.join(tmpdir(), `lodestone-${name}-`))
    mkdirSync(path.join(folder, 'files'))
    const [port, sqlPort] = [await freePort(), await freePort()]
    const place = { folder: path.join(folder, 'engine'), port, sqlPort }
    let engine = (await start(name, place)) as Started
    t.teardown(async () => {
      await engine.stop()
      rmSync(folder, { recursive: true, force: true })
    })
    const url = engine.query
    const files = path.join(folder, 'files')
    const open = async (t: Test, deadline = 20_000) => {
      const store = await createRemoteStore({ settings: { url }, deadline, workers: 1 })
      t.teardown(() => store.close())
      return store
    }
    const first = await open(t)
    t.comment(`${first.engine.version} changes ${first.forms.changed.join(', ') || 'nothing'}`)
    t.equal(first.engine.kind, name)
    for (const [value, datatype] of [
      ['1', XSD.integer],
      ['0.1', XSD.double],
      ['true', XSD.boolean],
      ['2024-02-29', XSD.date],
      ['2024-02-29T12:00:00Z', XSD.dateTime],
    ] as const)
      t.notOk(first.forms.changed.includes(kindOfValue(value, datatype)), `it computes with ${datatype}`)
    await storeContract(t, name, async (t, graphs) => {
      const store = await open(t)
      await store.dropShared(graphs.map(({ graph }) => graph))
      for (const graph of graphs) await travel(store, fileOf(files, graph))
      return store
    })
    await t.test('what an engine has of values', async t => values(t, await open(t), files))
    await t.test('columns that the engine has lost', async t => columnsAgain(t, await open(t), files))
    await t.test('queries of strangers see their dataset alone', async t => {
      await untrusted(t, await open(t), files)
    })
    if (name === 'virtuoso') await t.test('who may write', t => writers(t, url, engine, files))
    await t.test('releases', t => releases(t, url))
    await t.test('random queries', t => randomQueries(t, url))
    await t.test('the engine dies and comes back', async t => {
      const store = await open(t, 3000)
      const graph = 'urn:test:kept'
      await store.dropShared([graph])
      await travel(store, fileOf(files, { graph, text: lines(100, 'kept') }))
      const count = () => store.read(countOf(graph)).then(([row]) => Number(row?.count?.value))
      t.equal(await count(), 100)
      await engine.kill()
      t.match(await count().catch(error => error), { code: 'StoreUnavailable', status: 503 }, 'a clear fault')
      t.equal(await store.count(graph, {}), 100, 'columns answer meanwhile')
      engine = (await start(name, place)) as Started
      t.equal(await count(), 100, 'what was loaded is there, and the same store goes on')
    })
  })
}

/** An engine that lets only one user write, who says by digest who he is. */
async function writers(t: Test, url: string, { sqlPort }: Started, folder: string) {
  const grant = `GRANT SPARQL_UPDATE TO`
  await runSql(sqlPort, `DB.DBA.USER_CREATE('lodestone', 's3:c"ret');`)
  await runSql(sqlPort, `${grant} "lodestone";`)
  await runSql(sqlPort, `DB.DBA.RDF_DEFAULT_USER_PERMS_SET ('lodestone', 7);`)
  await runSql(sqlPort, `REVOKE SPARQL_UPDATE FROM "SPARQL";`)
  t.teardown(() => runSql(sqlPort, `${grant} "SPARQL";`))
  const graph = 'urn:test:written'
  const source = fileOf(folder, { graph, text: lines(100, 'written') })
  for (const [settings, described] of [
    [{ url, user: 'lodestone', password: 's3:c"ret' }, null],
    [{ url: `${url}-auth`, user: 'lodestone', password: 's3:c"ret' }, null],
    [{ url }, /LoadRefused.* with \d+: store_user/],
    [{ url, user: 'lodestone', password: 'wr0ng' }, /ConfigInvalid.*store_user/],
  ] as const) {
    const work = async () => {
      const store = await createRemoteStore({ settings })
      try {
        await travel(store, source)
        t.equal(await store.count(graph, {}), 100)
        await store.dropShared([graph])
        const [row] = await store.read(countOf(graph))
        t.equal(row?.count?.value, '0')
        return null
      } finally {
        await store.close()
      }
    }
    const error = await work().catch(error => `${error.code}: ${error.message}`)
    if (described === null) t.equal(error, null)
    else t.match(error, described)
  }
}

/**
 * Some of the random queries of both languages, of records that were published to this engine and fetched from it: their answers are
 * those of columns, which are the same from wherever they come, so that more queries find no more.
 */
async function randomQueries(t: Test, url: string): Promise<void> {
  for (const [file, queries] of [
    ['long/differential.test', process.env.RANDOM_ODSQL ?? '20'],
    ['long/odata-differential.test', process.env.RANDOM_ODATA ?? '20'],
  ] as const) {
    const child = spawn(process.execPath, scriptArguments(file), {
      cwd: temporaryFolder(t, {}),
      env: { ...process.env, LODESTONE_TEST_STORE: url, QUERIES: queries, TAP: '1', TAP_TIMEOUT: '900' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    child.stdout.on('data', (piece: Buffer) => {
      text += piece.toString()
    })
    const code = await new Promise(resolve => child.once('close', resolve))
    t.equal(code, 0, `${file}, ${queries} queries`)
    if (code !== 0) t.comment(text.slice(-6000))
  }
}
