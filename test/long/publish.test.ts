import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { Catalog } from '../../src/catalog/catalog.ts'
import { checkPortal } from '../../src/publishing/check.ts'
import { GraphWriter } from '../../src/publishing/graphs/graph-writer.ts'
import { firstPublished } from '../../src/publishing/mapping/mapping-preview.ts'
import { PortalWatch } from '../../src/publishing/portal-watch.ts'
import { publishDataset, reasonOf } from '../../src/publishing/publish.ts'
import type { PublishMessage } from '../../src/publishing/publish-all.ts'
import { PublisherThread } from '../../src/publishing/publisher-thread.ts'
import { localRegistry } from '../../src/publishing/registry/registry.ts'
import { VersionChanges } from '../../src/publishing/versions/changes.ts'
import { damageOf } from '../../src/publishing/versions/damage.ts'
import { replaceDurably } from '../../src/publishing/versions/durable.ts'
import {
  currentFile,
  currentManifest,
  currentVersion,
  DEFAULT_RETAINED_VERSIONS,
  graphPath,
  prepareVersion,
  publishedDatasets,
  removedIds,
  retainedVersions,
  VERSION_FORMAT,
  type VersionManifest,
  versionsOf,
  withdraw,
} from '../../src/publishing/versions/versions.ts'
import { PROCESS_NAME } from '../../src/runtime/processes.ts'
import { createEmbeddedStore, type StoreEvent } from '../../src/store/embedded/embedded.ts'
import { select } from '../support/ask.ts'
import {
  BINARY,
  CRASH_DATASETS,
  CRASH_RECORDS,
  lodestone,
  publishedGeneration,
  writeGeneration,
} from '../support/crash.ts'
import { temporaryFolder } from '../support/folder.ts'
import { publishReports, servePortal } from '../support/portal.ts'

/** Publishing: what makes a new version, what keeps the old one, and that no moment shows anything between them. */
const BASE = 'http://portal.test'

/** A user of the system who owns nothing. */
const NOBODY = 65_534
const CSV = 'name,height,kind\nOak,12,tree\nElm,7.5,tree\nIvy,,climber\n'

const publish = (portal: string, names: readonly string[] | null = null, base = BASE) =>
  publishReports(portal, { base }, names)

function makePortal(t: Test, datasets: Readonly<Record<string, Record<string, string>>>): string {
  return temporaryFolder(t, { 'portal.yaml': 'title: Test\n', data: datasets })
}

const plants = (csv = CSV, yaml = 'source: { path: plants.csv }\n') => ({
  'dataset.yaml': yaml,
  'plants.csv': csv,
})

/** Id of every record by the value of its name, in the order of the file. */
function recordIds(portal: string, id: string, field = 'name'): readonly (readonly [string, string])[] {
  const manifest = currentManifest(versionsOf(portal), id)
  if (manifest === null) throw new Error(`${id} is not published`)
  const file = manifest.graphs.find(({ role }) => role === 'facts')?.file ?? ''
  const text = gunzipSync(readFileSync(graphPath(versionsOf(portal), manifest, file))).toString()
  const pattern = new RegExp(`records/([0-9a-f]{40})> <[^>]*/${field}> "([^"]*)"`, 'g')
  return [...text.matchAll(pattern)].map(([, record = '', value = '']) => [value, record] as const)
}

t.test('a version and what makes another', async t => {
  const portal = makePortal(t, { plants: plants() })
  const versions = versionsOf(portal)
  const file = (name: string) => path.join(portal, 'data/plants', name)
  t.match(await publish(portal), [
    { type: 'published', dataset: 'plants', report: { records: 3, misfitCount: 0 } },
  ])
  const manifest = currentManifest(versions, 'plants')
  t.match(manifest, {
    base: BASE,
    dataset: {
      id: 'plants',
      uid: /^da_[a-z0-9]{6}$/,
      fields: [
        { name: 'name', type: 'text' },
        { name: 'height', type: 'double' },
        { name: 'kind', type: 'text' },
      ],
      visibility: 'public',
    },
    statistics: {
      records: 3,
      fields: {
        name: { present: 3, nulls: 0, distinct: 3 },
        height: { present: 2, nulls: 1, distinct: 2, min: 7.5, max: 12 },
        kind: { present: 3, nulls: 0, distinct: 2 },
      },
    },
    misfits: 0,
  })
  for (const graph of manifest?.graphs ?? []) {
    const text = gunzipSync(
      readFileSync(path.join(versions.root, 'plants', manifest?.version ?? '', graph.file)),
    )
    t.equal(text.length, graph.bytes, `${graph.role}: bytes`)
    t.equal(text.toString().split('\n').length - 1, graph.triples, `${graph.role}: triples`)
  }
  const again = await publish(portal)
  t.match(again, [{ type: 'unchanged', dataset: 'plants', records: 3 }])
  t.equal(currentVersion(versions, 'plants'), manifest?.version)
  const changes: readonly (readonly [string, () => void, string])[] = [
    ['file', () => writeFileSync(file('plants.csv'), `${CSV}Yew,3,tree\n`), BASE],
    ['dataset.yaml', () => writeFileSync(file('dataset.yaml'), 'source: { path: plants.csv } # x\n'), BASE],
    ['base', () => undefined, 'https://other.test/portal'],
  ]
  for (const [name, change, base] of changes) {
    const before = currentVersion(versions, 'plants')
    change()
    t.match(
      await publish(portal, null, base),
      [{ type: 'published', report: { records: 4 } }],
      `changed ${name}`,
    )
    t.not(currentVersion(versions, 'plants'), before, `changed ${name}: another version`)
    t.match(await publish(portal, null, base), [{ type: 'unchanged' }])
    t.equal(currentManifest(versions, 'plants')?.base, base)
  }
  const folders = readdirSync(path.join(versions.root, 'plants'), { withFileTypes: true }).filter(e =>
    e.isDirectory(),
  )
  t.equal(folders.length, 1 + changes.length, 'the version in force and those before it are kept')
})

t.test('what cannot be published is told, and the version in force stays', async t => {
  const typed = (type: string) =>
    `source: { path: plants.csv }\nfields:\n  - { name: name, type: text }\n  - { name: height, type: ${type} }\n`
  const cases: readonly (readonly [string, string, string, RegExp])[] = [
    ['an open quote', 'plants.csv', 'name,height\n"Oak,12\n', /^plants\.csv:2:1: .*never closed/],
    [
      'a missing column',
      'plants.csv',
      'name,heigth\nOak,12\n',
      /"height", which the source does not have.*Did you mean "heigth"/,
    ],
    ['a column that is gone', 'plants.csv', 'name,girth\nOak,12\n', /does not have\. It has: name, girth\./],
    [
      'an unknown key',
      'dataset.yaml',
      'source: { path: plants.csv }\nfeilds: []\n',
      /dataset\.yaml:2:1: .*did you mean fields\?/,
    ],
    ['an unknown type', 'dataset.yaml', typed('integre'), /dataset\.yaml:4:21: .*expected one of.*int/],
    ['a missing file', 'dataset.yaml', 'source: { path: trees.csv }\n', /trees\.csv/],
    ['a way out', 'dataset.yaml', 'source: { path: ../../portal.yaml }\nformat: csv\n', /portal\.yaml/],
    ['broken YAML', 'dataset.yaml', 'source: { path\n', /dataset\.yaml:\d+:\d+/],
  ]
  const portal = makePortal(t, {
    other: { 'dataset.yaml': 'source: { path: a.json }\n', 'a.json': '[{"a":1}]' },
    plants: plants(CSV, typed('double')),
  })
  await publish(portal)
  const versions = versionsOf(portal)
  const before = currentVersion(versions, 'plants')
  for (const [name, file, text, reason] of cases) {
    const place = path.join(portal, 'data/plants', file)
    const kept = readFileSync(place)
    writeFileSync(place, text)
    const described = await publish(portal)
    t.match(
      described,
      [
        { type: 'unchanged', dataset: 'other' },
        { type: 'failed', dataset: 'plants', reason },
      ],
      name,
    )
    t.equal(currentVersion(versions, 'plants'), before, `${name}: the version stays`)
    t.equal(currentManifest(versions, 'plants')?.statistics.records, 3)
    t.notOk(readdirSync(path.join(versions.root, 'plants')).some(entry => entry.startsWith('preparing-')))
    writeFileSync(place, kept)
  }
  t.match(await publish(portal, ['nowhere']), [{ type: 'failed', dataset: 'nowhere' }])
  t.notOk(existsSync(path.join(versions.root, 'nowhere')))
})

t.test('a column that occurs in late records alone is published', async t => {
  const rows = Array.from({ length: 2500 }, (_, at) => ({ id: at, ...(at < 2000 ? {} : { late: at }) }))
  const jsonl = rows.map(row => JSON.stringify(row)).join('\n')
  const yaml =
    'source: { path: a.jsonl }\nfields:\n  - { name: id, type: int }\n  - { name: NAME, type: int }\n'
  const portal = makePortal(t, {
    inferred: { 'a.json': JSON.stringify(rows) },
    declared: { 'a.jsonl': jsonl, 'dataset.yaml': yaml.replace('NAME', 'late') },
    missing: { 'a.jsonl': jsonl, 'dataset.yaml': yaml.replace('NAME', 'lat') },
  })
  t.match(await publish(portal), [
    { type: 'published', dataset: 'declared', report: { records: 2500, triples: 3000 } },
    { type: 'published', dataset: 'inferred', report: { records: 2500, triples: 3000 } },
    {
      type: 'failed',
      dataset: 'missing',
      reason: /dataset\.yaml:4:7: .*"lat", which the source does not have\./,
    },
  ])
})

t.test('a full disk ends a publication with the reason', { skip: !existsSync('/dev/full') }, async t => {
  const folder = temporaryFolder(t, {})
  symlinkSync('/dev/full', path.join(folder, 'facts.nt.gz'))
  const writer = new GraphWriter(folder, 'facts')
  const line = (at: number) =>
    `<a:${at}> <a:b> "${createHash('sha256').update(String(at)).digest('hex')}" .\n`
  const writing = async () => {
    for (let at = 0; at < 100_000; at++) {
      writer.out.add(line(at), 1)
      await writer.drain(false)
    }
    await writer.close()
  }
  const stalled = sleep(20_000, 'stalled', { ref: false })
  const outcome = await Promise.race([writing().catch((error: unknown) => error), stalled])
  writer.abandon()
  t.match(outcome, { code: 'ENOSPC' })
  t.equal(reasonOf(outcome), 'the disk is full: ENOSPC: no space left on device, write')
  t.throws(() => replaceDurably(path.join(folder, 'removed.json', 'a'), ''), { code: 'ENOENT' })
  mkdirSync(path.join(folder, 'current'))
  t.throws(() => replaceDurably(path.join(folder, 'current'), ''), { code: 'EISDIR' })
  t.same(
    readdirSync(folder).filter(name => name.endsWith('.new')),
    [],
    'no unfinished file remains',
  )
})

t.test('a read-only disk ends a publication with the reason', t => {
  const versions = versionsOf(temporaryFolder(t, { var: { published: { plants: {} } } }))
  const folder = path.join(versions.root, 'plants')
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', folder]).status !== 0) return t.end()
  t.teardown(() => spawnSync('umount', [folder]))
  t.throws(() => prepareVersion(versions, 'plants', 'a-b'), { code: 'EROFS' })
  t.end()
})

t.test('what was read earlier does not replace what was read later', async t => {
  const portal = makePortal(t, { big: {}, same: plants(), gone: plants() })
  const file = path.join(portal, 'data/big/big.csv')
  const rows = Array.from({ length: 5000 }, (_, at) => `${at},text\n`).join('')
  writeFileSync(file, `nr,text\n${rows}`)
  writeFileSync(path.join(portal, 'data/big/dataset.yaml'), 'source: { path: big.csv }\n')
  const versions = versionsOf(portal)
  /** Publishes a dataset, and at its first progress does something that is finished before the rest. */
  const interrupted = async (id: string, interrupt: () => void) => {
    let isFirst = true
    const onProgress = () => {
      if (isFirst) interrupt()
      isFirst = false
    }
    const now = () => new Date()
    return publishDataset(id, { portal, base: 'http://localhost:3000', versions, now, onProgress })
  }
  const elsewhere = (command: string, id: string) => {
    const { status, stderr } = spawnSync(process.execPath, [BINARY, command, id, '--portal', portal])
    t.equal(status, 0, String(stderr))
  }
  const result = await interrupted('big', () => {
    writeFileSync(file, 'nr,text\n1,new\n2,new\n')
    elsewhere('publish', 'big')
  })
  t.match(result, { type: 'unchanged', manifest: { statistics: { records: 2 } } })
  t.equal(currentManifest(versions, 'big')?.statistics.records, 2)
  t.equal(retainedVersions(versions, 'big').length, 1)
  writeFileSync(file, `nr,text\n${rows}`)
  t.match(
    await interrupted('big', () => writeFileSync(file, 'nr,text\n1,newer\n')),
    { type: 'published', manifest: { statistics: { records: 1 } } },
    'a file that is changed while it is read is read again',
  )
  t.equal(retainedVersions(versions, 'big').length, 2)
  t.match(await interrupted('same', () => elsewhere('publish', 'same')), { type: 'unchanged' })
  t.equal(retainedVersions(versions, 'same').length, 1, 'equal publications make one version')
  await publish(portal, ['gone'], 'http://localhost:3000')
  writeFileSync(path.join(portal, 'data/gone/plants.csv'), `${CSV}Yew,3,tree\n`)
  await t.rejects(
    interrupted('gone', () => elsewhere('unpublish', 'gone')),
    { code: 'Conflict', message: 'it was withdrawn while it was published, and stays so' },
  )
  t.equal(currentVersion(versions, 'gone'), null)
  for (const id of ['big', 'same', 'gone'])
    t.notOk(readdirSync(path.join(versions.root, id)).some(name => name.startsWith('preparing-')))
})

t.test('what is withdrawn while its publication waits stays withdrawn', async t => {
  const portal = makePortal(t, { first: plants(), plants: plants() })
  await publish(portal)
  const versions = versionsOf(portal)
  const settings = { portal, base: BASE, workers: 1, memory: 512e6, deadline: 30, keepVersions: 5 }
  const publisher = new PublisherThread(settings)
  t.teardown(() => publisher.close())
  const published = async (id: string, waiting = () => {}) => {
    const messages: PublishMessage[] = []
    const done = ['first', id].map(each =>
      publisher.publish({ datasets: [each], mappingOnly: false }, message => messages.push(message)),
    )
    waiting()
    await Promise.all(done)
    return messages.at(-1)
  }
  t.match(await published('plants', () => withdraw(versions, 'plants')), {
    type: 'failed',
    reason: 'it was withdrawn while it was published, and stays so',
  })
  t.equal(currentVersion(versions, 'plants'), null)
  t.match(await published('plants'), { type: 'published' }, 'who publishes it afterwards puts it in force')
})

t.test('a publication whose thread dies has failed', async t => {
  const portal = makePortal(t, { plants: plants() })
  const settings = { portal, base: BASE, workers: 1, memory: 512e6, deadline: 30, keepVersions: 5 }
  const publisher = new PublisherThread(settings)
  t.teardown(() => publisher.close())
  const messages: PublishMessage[] = []
  const done = publisher.publish({ datasets: ['plants'], mappingOnly: false }, each => messages.push(each))
  await new Promise(resolve => setImmediate(resolve))
  const { busy } = publisher as unknown as { readonly busy: Worker }
  busy.emit('error', new Error('no memory'))
  await t.rejects(done, { message: 'no memory' })
  await busy.terminate()
  const reason = 'the thread that published it ended: no memory'
  t.match(messages.at(-1), { type: 'failed', dataset: 'plants', reason })
})

/** A portal with a dataset of two versions: the second has a mapping of its own, and the facts of the first. */
async function twoVersions(t: Test) {
  const portal = makePortal(t, { other: plants(), plants: plants() })
  mkdirSync(path.join(portal, 'mappings'))
  const writeMapping = (label: string) =>
    writeFileSync(
      path.join(portal, 'mappings/plants.yml'),
      `mappings: { p: { s: 'portal:p/$(name)', po: [[rdfs:label, $(name)], [rdfs:comment, ${label}]] } }\n`,
    )
  writeMapping('first')
  await publish(portal)
  // The next version has the facts and the index of the first as its own.
  writeMapping('second')
  const second = await publish(portal, ['plants'])
  return { portal, second, writeMapping, fileOf: (name: string) => fileOfPlants(portal, name) }
}

/** A file of the version of plants that is in force. */
function fileOfPlants(portal: string, name: string): string {
  const manifest = currentManifest(versionsOf(portal), 'plants')
  const graph = manifest?.graphs.find(({ file }) => file.endsWith(name))
  return graphPath(versionsOf(portal), manifest as VersionManifest, graph?.file ?? name)
}

function flip(file: string, at: number): void {
  const bytes = readFileSync(file)
  bytes[at] = (bytes[at] ?? 0) ^ 4
  writeFileSync(file, bytes)
}

/** Changes the first byte after a text in a file. */
function flipIn(file: string, text: string): void {
  flip(file, readFileSync(file).indexOf(text) + text.length)
}

const half = (file: string) => truncateSync(file, statSync(file).size >> 1)

t.test('a version whose files are damaged is made again of its source', async t => {
  const { portal, second, fileOf } = await twoVersions(t)
  const versions = versionsOf(portal)
  t.match(second, [{ type: 'published', report: { isSourceRead: false, damage: null } }])
  const cases: readonly (readonly [string, string, (file: string) => void, RegExp])[] = [
    [
      'cut off, in the folder of an older version',
      'facts.nt.gz',
      half,
      /facts\.nt\.gz has \d+ bytes, \d+ are expected/,
    ],
    ['empty', 'mapped.nt.gz', file => truncateSync(file, 0), /mapped\.nt\.gz has 0 bytes/],
    ['missing', 'mapped.nt.gz', file => rmSync(file), /mapped\.nt\.gz is missing/],
    ['a bit', 'facts.nt.gz', file => flip(file, 40), /facts\.nt\.gz has other bytes/],
    ['longer', 'facts.nt.gz', file => appendFileSync(file, 'x'), /facts\.nt\.gz has/],
    ['ids', 'records.ids', file => flip(file, 3), /records\.ids has other bytes/],
    ['no ids', 'records.ids', file => rmSync(file), /records\.ids is missing/],
    ['half a manifest', 'manifest.json', half, /manifest\.json cannot be read/],
    [
      'a bit of a manifest',
      'manifest.json',
      file => flipIn(file, '"label":"'),
      /manifest\.json cannot be read/,
    ],
    [
      'a manifest of something else',
      'manifest.json',
      file => writeFileSync(file, `{"format":${VERSION_FORMAT}}`),
      /manifest\.json/,
    ],
  ]
  for (const [name, file, harm, damage] of cases) {
    const before = currentVersion(versions, 'plants')
    const ids = recordIds(portal, 'plants')
    harm(fileOf(file))
    t.match(
      await publish(portal),
      [
        { type: 'unchanged', dataset: 'other' },
        { type: 'published', dataset: 'plants', report: { records: 3, isSourceRead: true, damage } },
      ],
      name,
    )
    t.not(currentVersion(versions, 'plants'), before, `${name}: another version`)
    t.same(recordIds(portal, 'plants'), ids, `${name}: of the same records`)
    t.equal(removedIds(versions, 'plants').size, 0, `${name}: nothing is taken for removed`)
    t.match(await publish(portal), [{ type: 'unchanged' }, { type: 'unchanged' }], `${name}: once`)
    for (const retained of retainedVersions(versions, 'plants'))
      t.match(
        (await damageOf(versions, retained))?.file ?? 'none',
        /none|ids/,
        `${name}: no damaged version is retained`,
      )
  }
})

t.test('a dataset whose version in force is named no more is published', async t => {
  const portal = makePortal(t, { plants: plants() })
  const versions = versionsOf(portal)
  await publish(portal)
  const ids = recordIds(portal, 'plants')
  for (const damage of ['', '\0'.repeat(23), 'version\0', '../plants', 'mx171spt-929cbcc9fc42']) {
    writeFileSync(currentFile(versions, 'plants'), damage)
    t.match(await publish(portal), [{ type: 'published', dataset: 'plants' }], JSON.stringify(damage))
    t.same(recordIds(portal, 'plants'), ids)
  }
})

t.test('damage is found when a mapping is saved, and in versions without sums', async t => {
  const { portal, writeMapping, fileOf } = await twoVersions(t)
  half(fileOf('facts.nt.gz'))
  half(fileOf('facts.nt.gz').replace(/nt\.gz$/, 'columns'))
  writeMapping('third')
  t.match(
    (await publishReports(portal, { base: BASE, mappingOnly: true }, ['plants'])).at(-1),
    { type: 'published', report: { damage: /facts/, isSourceRead: true } },
    'a saved mapping finds it',
  )

  const older = fileOf('manifest.json')
  const { ids: _, ...manifest } = currentManifest(versionsOf(portal), 'plants') as VersionManifest
  const graphs = manifest.graphs.map(({ sum: _, ...graph }) => graph)
  writeFileSync(older, JSON.stringify({ ...manifest, graphs }))
  t.match(await publish(portal, ['plants']), [{ type: 'unchanged' }], 'a version without sums')
  flip(fileOf('facts.nt.gz'), 60)
  t.match(
    await publish(portal, ['plants']),
    [{ type: 'published', report: { damage: /facts/ } }],
    'is read as a whole',
  )
})

t.test(
  'damage that left the time of a file as it was is found when a dataset is published by name',
  async t => {
    const { portal, fileOf } = await twoVersions(t)
    const file = fileOf('facts.nt.gz')
    spawnSync('touch', ['-r', file, `${file}.time`])
    flip(file, 40)
    spawnSync('touch', ['-r', `${file}.time`, file])
    t.match(await publish(portal), [{ type: 'unchanged' }, { type: 'unchanged' }])
    const damage = /facts\.nt\.gz has other bytes/
    t.match(await publishReports(portal, { base: BASE, isNamed: true }, ['plants']), [
      { type: 'published', report: { damage } },
    ])
  },
)

t.test('a version that the user of the process cannot read is damaged', async t => {
  const { portal, fileOf } = await twoVersions(t)
  const versions = versionsOf(portal)
  const manifest = currentManifest(versions, 'plants') as VersionManifest
  chmodSync(fileOf('facts.nt.gz'), 0)
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(NOBODY)
  const damage = await damageOf(versions, manifest)
  if (isRoot) process.seteuid?.(0)
  t.match(damage, { reason: /facts\.nt\.gz cannot be read: EACCES/ })
})

t.test('columns that are missing or damaged are made again when they are read', async t => {
  const { portal, writeMapping, fileOf } = await twoVersions(t)
  const versions = versionsOf(portal)
  const columns = () => fileOf('facts.nt.gz').replace(/nt\.gz$/, 'columns')
  const harms: readonly (readonly [string, (file: string) => void])[] = [
    ['missing', file => rmSync(file)],
    ['cut off', half],
    ['a bit of a section', file => flip(file, 40)],
  ]
  for (const [name, harm] of harms) {
    harm(columns())
    writeMapping(`${name.replaceAll(' ', '_')}_1`)
    t.match(
      await publishReports(portal, { base: BASE, mappingOnly: true }, ['plants']),
      [{ type: 'published', report: { records: 3, isSourceRead: false } }],
      `${name}: another mapping`,
    )
    const [later, earlier] = retainedVersions(versions, 'plants') as [VersionManifest, VersionManifest]
    const looked = { ...earlier, graphs: earlier.graphs.map(graph => ({ ...graph, since: 'another' })) }
    harm(columns())
    t.same((await new VersionChanges(versions).between(looked, later)).added.length, 0, `${name}: changes`)
    harm(columns())
    t.equal((await firstPublished(versions, later, 2)).length, 2, `${name}: the first records`)
  }
  mkdirSync(path.join(portal, 'data/joined'))
  writeFileSync(path.join(portal, 'data/joined/joined.csv'), 'key\n1\n')
  const [field] = currentManifest(versions, 'plants')?.dataset.fields ?? []
  writeFileSync(
    path.join(portal, 'data/joined/dataset.yaml'),
    `source: { path: joined.csv }\nprocessors: [{ lookup: { column: key, dataset: plants, key: ${field?.name}, take: { ${field?.name}: found } } }]\n`,
  )
  half(columns())
  t.match(await publish(portal, ['joined']), [{ type: 'published', dataset: 'joined' }], 'a look-up')
})

t.test('a damaged version whose source is gone is not made again', async t => {
  const portal = makePortal(t, { plants: plants() })
  await publish(portal)
  half(fileOfPlants(portal, 'facts.nt.gz'))
  rmSync(path.join(portal, 'data/plants/plants.csv'))
  const reason = /damaged \(facts\.nt\.gz has .*\) and cannot be made again:\n.*plants\.csv/s
  t.match(await publish(portal, ['plants']), [{ type: 'failed', dataset: 'plants', reason }])
})

t.test('withdrawn, forgotten, and left over', async t => {
  const portal = makePortal(t, { one: plants(), two: plants() })
  const versions = versionsOf(portal)
  await publish(portal)
  t.equal(withdraw(versions, 'one'), true)
  t.equal(withdraw(versions, 'one'), false)
  t.match(await publish(portal), [{ dataset: 'two' }], 'a withdrawn dataset stays away')
  t.same(publishedDatasets(versions), ['two'])
  t.match(await publish(portal, ['one']), [{ type: 'published', dataset: 'one' }], 'until published by name')
  t.match(await publish(portal), [{ dataset: 'one' }, { dataset: 'two' }])
  const interrupt = () => writeFileSync(path.join(versions.root, 'one/withdrawn'), 'public')
  interrupt()
  t.match(await publish(portal), [{ dataset: 'two' }], 'an interrupted withdrawal')
  t.same(publishedDatasets(versions), ['two'], 'is completed')
  const abandoned = path.join(versions.root, 'one/preparing-left')
  mkdirSync(abandoned)
  await publish(portal)
  t.notOk(existsSync(abandoned), 'what a publication of it has left is removed')
  await publish(portal, ['one'])
  rmSync(path.join(versions.root, 'one/current'))
  interrupt()
  await publish(portal)
  t.notOk(
    readdirSync(path.join(versions.root, 'one'), { withFileTypes: true }).some(entry => entry.isDirectory()),
    'a withdrawal that was cut off later leaves no version, which would be retained once it is published again',
  )
  await publish(portal, ['one'])
  interrupt()
  t.match(await publish(portal, ['one']), [{ type: 'published', dataset: 'one' }], 'and ended by name')
  t.match(await publish(portal), [{ dataset: 'one' }, { dataset: 'two' }])
  const left = path.join(versions.root, 'two/preparing-left')
  mkdirSync(left)
  writeFileSync(path.join(left, 'facts.nt.gz'), 'half')
  t.same(publishedDatasets(versions), ['one', 'two'])
  writeFileSync(path.join(portal, 'data/two/plants.csv'), `${CSV}Yew,3,tree\n`)
  await publish(portal)
  t.notOk(existsSync(left), 'the next publication removes what was left')
  withdraw(versions, 'one')
  renameSync(path.join(portal, 'data'), path.join(portal, 'away'))
  t.same(await publish(portal), [])
  t.same(publishedDatasets(versions), ['two'], 'a disk that is not mounted deletes nothing')
  renameSync(path.join(portal, 'away'), path.join(portal, 'data'))
  for (const id of ['one', 'two']) rmSync(path.join(portal, 'data', id), { recursive: true })
  t.same(
    await publish(portal),
    [
      {
        type: 'withdrawn',
        dataset: 'two',
        reason: 'its folder or file in data/ is gone, so its versions were deleted',
      },
    ],
    'what was in force until now is told',
  )
  t.same(readdirSync(versions.root), [], 'nothing is left of folders that are gone')
})

t.test('what a full disk does not withdraw stays', { skip: !existsSync('/dev/full') }, async t => {
  const portal = makePortal(t, { plants: plants() })
  const versions = versionsOf(portal)
  await publish(portal)
  symlinkSync('/dev/full', path.join(versions.root, `plants/withdrawn.${PROCESS_NAME}.new`))
  t.throws(() => withdraw(versions, 'plants'), { code: 'ENOSPC' })
  t.match(await publish(portal), [{ type: 'unchanged', dataset: 'plants' }])
  t.equal(withdraw(versions, 'plants'), true, 'once there is room')
})

t.test('what cannot be read, or is a link, is not taken for removed', async t => {
  const portal = makePortal(t, { one: plants(), two: plants(), three: plants() })
  writeFileSync(path.join(portal, 'data/four.csv'), CSV)
  const versions = versionsOf(portal)
  const all = ['four', 'one', 'three', 'two']
  await publish(portal)
  t.same(publishedDatasets(versions), all)
  const [definition, folder, file] = ['one/dataset.yaml', 'two', 'four.csv'].map(name =>
    path.join(portal, 'data', name),
  ) as [string, string, string]
  // Whoever runs this may read everything: a link to itself cannot be followed by anybody.
  rmSync(definition)
  symlinkSync(definition, definition)
  for (const moved of [folder, file]) {
    renameSync(moved, path.join(portal, path.basename(moved)))
    symlinkSync(path.join(portal, path.basename(moved)), moved)
  }
  // As on file systems of their own, where only root may enter it.
  const found = ['data', 'var/published'].map(name => path.join(portal, name, 'lost+found'))
  for (const each of found) mkdirSync(each)
  symlinkSync(
    path.join(portal, 'data/lost+found/dataset.yaml'),
    path.join(portal, 'data/lost+found/dataset.yaml'),
  )
  t.match(await publish(portal), [
    { type: 'failed', dataset: 'four', reason: /data\/four\.csv .* symbolic link/ },
    { type: 'failed', dataset: 'two', reason: /data\/two .* symbolic link/ },
    { type: 'failed', dataset: 'one', reason: /dataset\.yaml cannot be read/ },
    { type: 'unchanged', dataset: 'three' },
  ])
  t.ok(found.every(each => existsSync(each)))
  const current = path.join(portal, 'var/published/lost+found/current')
  symlinkSync(current, current)
  t.same([...(await localRegistry(versions).current()).keys()], all)
  t.same(publishedDatasets(versions), all)
  t.equal(new PortalWatch(portal).look(), null, 'a server that follows it')
  const findings = await checkPortal(portal, BASE, versions)
  t.notOk(findings.some(({ message }) => message.includes('gone')))
})

t.test('a graph is lost where its version is in force, and not where it was withdrawn', async t => {
  const portal = makePortal(t, { plants: plants(), trees: plants() })
  const versions = versionsOf(portal)
  await publish(portal, ['plants'])
  const events: StoreEvent[] = []
  const store = await createEmbeddedStore({ workers: 1, onEvent: event => events.push(event) })
  const registry = localRegistry(versions)
  const catalog = new Catalog({ base: BASE, store, versions, registry, grace: 60_000 })
  t.teardown(async () => {
    catalog.close()
    await store.close()
  })
  await catalog.refresh()
  const { facts } = catalog.dataset('plants').target.graphs
  await publish(portal, ['trees'])
  const refreshing = catalog.refresh()
  const losing = catalog.loseGraph(facts, 'torn')
  await refreshing
  t.equal(await losing, true)
  const served = () => catalog.entries().map(({ dataset }) => dataset.id)
  t.same(served(), ['trees'], 'it is not served again by the refresh that was in progress')
  await catalog.refresh()
  t.same(served(), ['trees'])
  const { facts: graph } = catalog.dataset('trees').target.graphs
  withdraw(versions, 'trees')
  await t.rejects(store.match(graph, {}, { offset: 0, limit: 1 }), { code: 'StoreUnavailable' })
  while (events.length === 0) await sleep(10)
  t.match(events, [{ event: 'graph lost', graph }], 'no columns are damaged where all files are gone')
  t.equal(await catalog.loseGraph(graph, 'gone'), false, 'who withdrew it has lost nothing')
  t.same(served(), [])
  t.same(catalog.takeDamaged(), ['plants'])
})

t.test('a second file of data in a folder without dataset.yaml withdraws nothing', async t => {
  const portal = makePortal(t, { plants: { 'plants.csv': CSV } })
  const versions = versionsOf(portal)
  const file = (name: string) => path.join(portal, 'data/plants', name)
  t.match(await publish(portal), [{ type: 'published', dataset: 'plants' }])
  const version = currentVersion(versions, 'plants')
  writeFileSync(file('~$plants.xlsx'), 'lock')
  t.match(await publish(portal), [{ type: 'unchanged', dataset: 'plants' }])
  writeFileSync(file('plants (copy).csv'), CSV)
  const reason = /data\/plants: there are 2 files of data/
  t.match(await publish(portal), [{ type: 'failed', dataset: 'plants', reason }])
  t.match(await publish(portal, ['plants']), [{ type: 'failed', dataset: 'plants', reason }])
  t.equal(currentVersion(versions, 'plants'), version, 'the version in force stays')
  writeFileSync(file('dataset.yaml'), 'source: { path: plants (copy).csv }\n')
  t.match(await publish(portal), [{ type: 'published', dataset: 'plants' }])
})

t.test('identities', async t => {
  const twice = 'name,height,kind\nOak,12,tree\nOak,12,tree\nOak,12,tree\nElm,7,tree\n'
  const portal = makePortal(t, { plants: plants(twice) })
  const csv = path.join(portal, 'data/plants/plants.csv')
  t.match(await publish(portal), [{ report: { records: 4, repeated: 2 } }])
  const ids = recordIds(portal, 'plants')
  t.equal(new Set(ids.map(([, id]) => id)).size, 4, 'equal records have ids of their own')
  writeFileSync(csv, 'kind,name,height\ntree,Oak,12\ntree,Oak,12\ntree,Oak,12\ntree,Elm,7\n')
  await publish(portal)
  t.same(recordIds(portal, 'plants'), ids, 'another order of the columns changes no id')
  writeFileSync(csv, `${twice}Yew,3,tree\n`)
  await publish(portal)
  t.same(recordIds(portal, 'plants').slice(0, 4), ids, 'a new record changes no other id')
  writeFileSync(path.join(portal, 'data/plants/dataset.yaml'), 'source: { path: plants.csv }\nid: [name]\n')
  writeFileSync(csv, 'name,height\nOak,1\nElm,2\n')
  await publish(portal)
  const named = recordIds(portal, 'plants')
  writeFileSync(csv, 'name,height\nElm,20\nOak,10\n')
  await publish(portal)
  t.same(new Map(recordIds(portal, 'plants')), new Map(named), 'ids follow the id fields alone')
})

t.test('values that do not fit are told with row and column', async t => {
  const yaml =
    'source: { path: plants.csv }\nfields:\n  - { name: name, type: text }\n  - { name: tall, type: int, from: height }\n'
  const portal = makePortal(t, { plants: plants('name,height\nOak,12\nElm,high\nIvy,\nYew,1.5\n', yaml) })
  t.match(await publish(portal), [
    {
      report: {
        records: 4,
        misfitCount: 2,
        misfits: [
          {
            field: 'tall',
            column: 'height',
            expected: /int/,
            count: 2,
            examples: [
              { row: 2, line: 3, found: 'high', count: 1 },
              { row: 4, line: 5, found: '1.5', count: 1 },
            ],
          },
        ],
      },
    },
  ])
  t.match(currentManifest(versionsOf(portal), 'plants'), {
    misfits: 2,
    statistics: { fields: { tall: { present: 1, nulls: 3 } } },
  })
})

t.test('a running app takes over new versions while requests go on', async t => {
  const portal = temporaryFolder(t, { data: {} })
  writeGeneration(portal, 'g0')
  await publish(portal)
  const { app } = await servePortal(t, { portal, base: BASE, isPublished: false })
  const address = '/api/explore/v2.0/catalog/datasets/first/records?limit=100&select=generation'
  const seen = new Set<string>()
  const answered = new EventEmitter()
  const served = { generation: 'g0' }
  let [going, answers] = [true, 0]
  const asking = Promise.all(
    Array.from({ length: 3 }, async (_, at) => {
      while (going) {
        const oldest = served.generation
        const answer = await app.http.inject(`${address}&offset=${at * 1000}`)
        const body = answer.body
        const generations = new Set(body.match(/g\d(?=")/g))
        const total = /"total_count":\s*(\d+)/.exec(body)?.[1]
        if (answer.statusCode !== 200 || generations.size !== 1 || Number(total) !== CRASH_RECORDS)
          t.fail(`${answer.statusCode}: ${[...generations].join()} of ${total}: ${body.slice(0, 200)}`)
        for (const generation of generations) {
          if (generation < oldest) t.fail(`${generation} was answered when ${oldest} was served already`)
          seen.add(generation)
        }
        answers += 1
        answered.emit('answer')
        // An answer from memory waits for nothing, and the publication must have its turn.
        await new Promise(resolve => setImmediate(resolve))
      }
    }),
  )
  /** Until one of those who ask without end was given this generation. */
  const untilSeen = async (generation: string) => {
    while (!seen.has(generation)) await once(answered, 'answer')
  }
  await untilSeen('g0')
  for (const generation of ['g1', 'g2']) {
    writeGeneration(portal, generation)
    await publish(portal)
    t.equal(await app.catalog.refresh(), true)
    served.generation = generation
    const { body } = await app.http.inject(address)
    t.same(new Set(body.match(/"g\d"/g)), new Set([`"${generation}"`]), `${generation} is served at once`)
    await untilSeen(generation)
  }
  going = false
  await asking
  t.same(seen, new Set(['g0', 'g1', 'g2']), `${answers} answers while versions changed`)
  t.equal(await app.catalog.refresh(), false, 'nothing more to take over')
  withdraw(versionsOf(portal), 'first')
  await app.catalog.refresh()
  t.equal((await app.http.inject(address)).statusCode, 404)
})

/** How often a publication is killed, each time later; test/campaign goes on with it. */
const MOMENTS = 6

t.test('kill -9 at any moment leaves every dataset wholly old or wholly new', async t => {
  const portal = temporaryFolder(t, { data: {} })
  const args = ['publish', '--portal', portal]
  writeGeneration(portal, 'A')
  t.equal((await lodestone(args)).code, 0)
  writeGeneration(portal, 'B')
  const { milliseconds, code } = await lodestone(args)
  t.equal(code, 0)
  let whole = milliseconds
  let [kills, generation] = [0, 'B']
  const outcomes = new Set<string>()
  for (let at = 0; at < MOMENTS; at++) {
    const before = generation
    generation = before === 'A' ? 'B' : 'A'
    writeGeneration(portal, generation)
    // The first part is the start of Node.
    const moment = whole * (0.35 + (0.65 * (at + Math.random())) / MOMENTS)
    const killed = await lodestone(args, { killAfter: moment })
    if (killed.signal === 'SIGKILL') kills += 1
    // It was quicker than before: the machine has less else to do.
    else whole *= 0.7
    const found = CRASH_DATASETS.map(id => publishedGeneration(portal, id))
    t.ok(
      found.every(name => name === before || name === generation),
      `after ${Math.round(moment)} ms: ${found.join(' and ')}`,
    )
    outcomes.add(found.map(name => (name === generation ? 'new' : 'old')).join(' and '))
    if (at % 3 === 0) await serves(t, portal, found)
    await publish(portal, null, 'http://localhost:3000')
    t.same(
      CRASH_DATASETS.map(id => publishedGeneration(portal, id)),
      [generation, generation],
      'the next publication is whole',
    )
    for (const id of CRASH_DATASETS) {
      const entries = readdirSync(path.join(versionsOf(portal).root, id))
      t.ok(
        entries.every(entry => !/^preparing-|\.new$/.test(entry)) &&
          entries.filter(entry => entry !== 'current' && entry !== 'source.json').length <=
            DEFAULT_RETAINED_VERSIONS,
        `nothing is left over of ${id}`,
      )
    }
  }
  t.ok(
    kills > MOMENTS / 3,
    `${kills} of ${MOMENTS} were killed before their end: ${[...outcomes].join(', ')}`,
  )
})

/** A store that starts on what a killed process left has every record. */
async function serves(t: Test, portal: string, generations: readonly string[]): Promise<void> {
  const store = await createEmbeddedStore({ workers: 1 })
  const catalog = new Catalog({
    base: 'http://localhost:3000',
    store,
    versions: versionsOf(portal),
    registry: localRegistry(versionsOf(portal)),
    grace: 0,
  })
  try {
    await catalog.refresh()
    for (const [at, id] of CRASH_DATASETS.entries()) {
      const { resources } = catalog.dataset(id)
      const rows = await select(
        store,
        `SELECT ?g (COUNT(*) AS ?n) { GRAPH <${resources}> { ?s ?p ?g FILTER(STRENDS(STR(?p), '/generation')) } } GROUP BY ?g`,
      )
      t.same(
        rows.map(row => [row.g?.value, Number(row.n?.value)]),
        [[generations[at], CRASH_RECORDS]],
      )
    }
  } finally {
    catalog.close()
    await store.close()
  }
}
