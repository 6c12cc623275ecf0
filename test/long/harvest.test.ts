import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import type { App } from '../../src/app/app.ts'
import { HarvestSchedule } from '../../src/app/fetch-schedule.ts'
import { diagnoseHarvests } from '../../src/cli/doctor/portal.ts'
import { run } from '../../src/cli/lodestone.ts'
import { escapedText, terminalText } from '../../src/cli/print.ts'
import { harvestedMoment } from '../../src/harvest/catalog.ts'
import { localId } from '../../src/harvest/definitions.ts'
import { harvest } from '../../src/harvest/harvest.ts'
import { dueHarvesters, harvestAges } from '../../src/harvest/schedule.ts'
import { readHarvesters } from '../../src/harvest/settings.ts'
import { harvestState } from '../../src/harvest/state.ts'
import { checkDataset } from '../../src/publishing/check.ts'
import { definedDatasets, definitionOf, readDefinition } from '../../src/publishing/definition.ts'
import { publishAll } from '../../src/publishing/publish-all.ts'
import { expireRemote } from '../../src/publishing/remote/refresh.ts'
import { remoteState } from '../../src/publishing/remote/state.ts'
import { currentManifest, isWithdrawn, versionsOf } from '../../src/publishing/versions/versions.ts'
import { temporaryFolder } from '../support/folder.ts'
import { servePortal } from '../support/portal.ts'
import { freePort, startServer } from '../support/serving.ts'

t.setTimeout(120_000)

/** Datasets of other portals: taken over with their metadata, updated, withdrawn. */
type Answer = (request: IncomingMessage, response: ServerResponse) => void

async function serverOf(t: Test, answer: Answer) {
  const server = createServer(answer)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function portalOf(t: Test, harvesters: string, settings = "source_private_hosts: ['127.0.0.1']\n") {
  return temporaryFolder(t, {
    'portal.yaml': settings,
    'harvest.yaml': `harvesters:\n${harvesters}`,
    data: {},
  })
}

/** Runs a command. */
async function output(args: readonly string[]) {
  const written: string[] = []
  const { write } = process.stdout
  process.stdout.write = ((piece: string) => written.push(String(piece)) > 0) as typeof write
  try {
    const code = await run(args)
    return { code, text: written.join('') }
  } finally {
    process.stdout.write = write
  }
}

/** Runs a command, whose output is read as JSON. */
async function command(args: readonly string[]) {
  const { code, text } = await output(args)
  return { code, json: JSON.parse(text || 'null') }
}

const harvestNow = (portal: string, ...more: readonly string[]) =>
  command(['harvest', '--portal', portal, '--base', 'http://here.test', '--json', ...more])

/** A portal that harvests from another one, which is served. */
async function twoPortals(t: Test) {
  const folders = temporaryFolder(t, {
    here: { 'portal.yaml': "source_private_hosts: ['127.0.0.1']\n", data: {} },
    other: {
      'portal.yaml': '',
      data: {
        trees: {
          'dataset.yaml':
            'source: { path: t.csv }\nfields:\n  - { name: nr, type: int, annotations: { id: true } }\n  - { name: name, label: Name of tree, description: What it is }\n  - { name: kinds, annotations: { multivalued: [";"] } }\n  - { name: at, type: geo_point_2d }\n  - { name: day, type: date }\nid: [nr]\nmetas: { default: { title: Trees, description: All trees, keyword: [green, old], publisher: City, license: CC0 } }\n',
          't.csv': 'nr,name,kinds,at,day\n1,Oak,a;b,"46, 2",2020-01-02\n2,Elm,,,\n',
        },
        benches: {
          'dataset.yaml': 'source: { path: b.csv }\nmetas: { default: { title: Benches } }\n',
          'b.csv': 'a,b\n1,x\n',
        },
        secret: {
          'dataset.yaml': 'source: { path: b.csv }\nvisibility: restricted\n',
          'b.csv': 'a,b\n1,x\n',
        },
      },
    },
  })
  const theirs = path.join(folders, 'other')
  const { port, publish: publishThere } = await servePortal(t, {
    portal: theirs,
    base: 'http://there.test',
    port: 0,
  })
  const origin = `http://127.0.0.1:${port}`
  const portal = path.join(folders, 'here')
  writeFileSync(
    path.join(portal, 'harvest.yaml'),
    `harvesters:\n  - { id: city, type: lodestone, url: '${origin}', title: The city }\n`,
  )
  return { portal, theirs, origin, publishThere }
}

t.test('datasets of another Lodestone portal are harvested', async t => {
  const { portal, theirs, origin, publishThere } = await twoPortals(t)
  const versions = versionsOf(portal)

  await t.test('a dry run counts and writes nothing', async t => {
    const dry = await harvestNow(portal, '--dry-run')
    t.match(dry.json[0].counts, { found: 2, created: 2 })
    t.same(definedDatasets(portal), [], 'a dry run writes nothing')
    t.notOk(existsSync(path.join(portal, 'var/harvest/city.json')))
  })

  await t.test('public datasets are published with their metadata and fields', async t => {
    const first = await harvestNow(portal)
    t.equal(first.code, 0)
    t.same(first.json[0].counts, { found: 2, created: 2, updated: 0, unchanged: 0, withdrawn: 0, skipped: 0 })
    t.same(definedDatasets(portal), ['city-benches', 'city-trees'])
    const definition = definitionOf(portal, 'city-trees')
    t.match(definition.metas.default, {
      title: 'Trees',
      description: 'All trees',
      keyword: ['green', 'old'],
      publisher: 'City',
      license: 'CC0',
      source_domain: origin.slice(7),
      source_domain_title: 'The city',
      source_domain_address: `${origin}/explore/dataset/trees/`,
      source_dataset: 'trees',
      federated: true,
    })
    t.same(definition.harvest, { by: 'city', dataset: 'trees' })
    t.same(definition.identity, ['nr'])
    const manifest = currentManifest(versions, 'city-trees')
    t.equal(manifest?.statistics.records, 2)
    t.equal(manifest?.misfits, 0)
    t.same(
      manifest?.dataset.fields.map(({ name, type, label, multivalued }) => [name, type, label, multivalued]),
      [
        ['nr', 'int', 'nr', false],
        ['name', 'text', 'Name of tree', false],
        ['kinds', 'text', 'kinds', true],
        ['at', 'geo_point_2d', 'at', false],
        ['day', 'date', 'day', false],
      ],
    )
    const again = await harvestNow(portal)
    t.match(again.json[0].counts, { created: 0, updated: 0, unchanged: 2, withdrawn: 0 }, 'nothing changed')
  })

  await t.test('what is edited here stays; what changes there is taken over', async t => {
    const file = path.join(portal, 'data/city-trees/dataset.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('license: CC0', 'license: Edited here'))
    writeFileSync(
      path.join(theirs, 'data/trees/t.csv'),
      'nr,name,kinds,at,day\n1,Oak,a;b,"46, 2",2020-01-02\n2,Elm,,,\n3,Ash,,,\n',
    )
    await publishThere()
    const more = await harvestNow(portal)
    t.match(more.json[0].counts, { updated: 1, unchanged: 1 })
    t.equal(currentManifest(versions, 'city-trees')?.statistics.records, 3)
    const there = path.join(theirs, 'data/trees/dataset.yaml')
    writeFileSync(
      there,
      readFileSync(there, 'utf8')
        .replace('keyword: [green, old], ', '')
        .replace('title: Trees', 'title: All trees'),
    )
    await publishThere()
    await harvestNow(portal)
    const changed = currentManifest(versions, 'city-trees')?.dataset.metas.default
    t.match(changed, { title: 'All trees' })
    t.equal(changed?.keyword, undefined, 'what is gone there is gone here')
  })

  await t.test('a dataset that is gone there is withdrawn here', async t => {
    rmSync(path.join(theirs, 'data/benches'), { recursive: true })
    await publishThere()
    const last = await harvestNow(portal)
    t.match(last.json[0].counts, { found: 1, withdrawn: 1 })
    t.same(definedDatasets(portal), ['city-trees'])
    t.ok(isWithdrawn(versions, 'city-benches'))
  })
})

const PACKAGES = (origin: string) =>
  Array.from({ length: 120 }, (_, at) => ({
    id: `00000000-0000-0000-0000-${String(at).padStart(12, '0')}`,
    name: `package-${String(at).padStart(3, '0')}`,
    title: `Package ${at}`,
    notes: 'What it is\n\nin *words*',
    state: 'active',
    private: false,
    metadata_created: '2020-01-01T00:00:00.000000',
    metadata_modified: '2024-02-03T04:05:06.789000',
    license_title: 'Open Licence',
    license_url: 'https://licence.test/',
    organization: { title: { de: 'Ministerium', en: 'Ministry' } },
    maintainer_email: 'data@ministry.test',
    tags: [{ name: 'one' }, { name: 'two' }],
    groups: [{ title: { de: 'Health', en: '' } }],
    resources:
      at === 7
        ? [{ url: `${origin}/x.pdf`, format: 'PDF' }]
        : [
            { url: `${origin}/data/${at}.pdf`, format: 'PDF', mimetype: null },
            {
              url: `${origin}/data/${at}`,
              format: 'CSV',
              mimetype: 'text/csv',
              last_modified: '2024-01-01T00:00:00',
            },
          ],
  }))

/** A catalog of CKAN, whose packages and status may be changed, and the requests that it had. */
async function serveCkan(t: Test) {
  const requested: (string | undefined)[] = []
  const catalog = { packages: [] as ReturnType<typeof PACKAGES>, status: 200, requested, origin: '' }
  catalog.origin = await serverOf(t, ({ url = '', headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x')
    requested.push(headers.authorization)
    if (pathname.startsWith('/data/'))
      return void response.writeHead(200, { 'content-type': 'text/csv' }).end(`n\n${pathname.slice(6)}\n`)
    const [rows, start] = [Number(searchParams.get('rows')), Number(searchParams.get('start'))]
    const { packages, status } = catalog
    const result = { count: packages.length, results: packages.slice(start, start + rows) }
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ success: true, result }))
  })
  catalog.packages = PACKAGES(catalog.origin)
  return catalog
}

t.test('a dataset that a catalog has again is not withdrawn, whenever it can be published', async t => {
  const ckan = await serveCkan(t)
  ckan.packages = ckan.packages.slice(0, 1)
  const portal = portalOf(t, `  - { id: gov, type: ckan, url: '${ckan.origin}/', prefix: '' }\n`)
  const [harvester] = readHarvesters(portal)
  if (harvester === undefined) throw new Error('no harvester')
  const versions = versionsOf(portal)
  mkdirSync(path.join(versions.root, 'package-000'), { recursive: true })
  writeFileSync(path.join(versions.root, 'package-000/withdrawn'), 'public')
  const context = { portal, now: () => new Date(), isDryRun: false }
  t.match(await harvest(harvester, context), { created: ['package-000'] })
  t.notOk(isWithdrawn(versions, 'package-000'))
})

t.test('a CKAN of recorded answers', async t => {
  const ckan = await serveCkan(t)
  const { origin } = ckan
  const portal = portalOf(
    t,
    `  - { id: gov, type: ckan, url: '${origin}/', authorization: SOURCE_AUTH_GOV, prefix: '', refresh: weekly }\n`,
  )
  process.env.SOURCE_AUTH_GOV = 'secret-key'
  t.teardown(() => delete process.env.SOURCE_AUTH_GOV)
  const [harvester] = readHarvesters(portal)
  if (harvester === undefined) throw new Error('no harvester')
  const moment = new Date('2025-01-01T00:00:00Z')
  const once = () => harvest(harvester, { portal, now: () => moment, isDryRun: false })
  mkdirSync(path.join(portal, 'data/package-009'), { recursive: true })
  writeFileSync(path.join(portal, 'data/package-009/dataset.yaml'), 'source: { path: a.csv }\n')

  await t.test('all pages are read, and what is skipped has its reason', async t => {
    const first = await once()
    t.match(first.counts, { found: 120, created: 118, skipped: 2, withdrawn: 0 })
    t.same(
      first.skipped.map(({ dataset, reason }) => `${dataset}: ${reason}`),
      [
        'package-007: none of its resources has a format that is read',
        'package-009: the portal has a dataset package-009 of its own',
      ],
    )
    t.ok(ckan.requested.includes('secret-key'), 'with credentials')
  })

  await t.test('a package becomes a dataset that is published from its address', async t => {
    const definition = definitionOf(portal, 'package-000')
    t.match(definition, {
      remote: { url: `${origin}/data/0`, authorization: 'SOURCE_AUTH_GOV', schedule: 'weekly' },
      visibility: 'restricted',
      metas: {
        default: {
          title: 'Package 0',
          description: 'What it is\n\nin *words*',
          keyword: ['one', 'two'],
          theme: ['Health'],
          license: 'Open Licence',
          publisher: 'Ministry',
          modified: '2024-02-03T04:05:06.789Z',
          source_domain_address: `${origin}/dataset/package-000`,
        },
        dcat: { contact_email: 'data@ministry.test' },
      },
    })
    const context = { portal, base: 'http://here.test', now: () => moment }
    await publishAll(context, ['package-000'], () => undefined)
    t.equal(currentManifest(versionsOf(portal), 'package-000')?.statistics.records, 1)
  })

  await t.test('what changed is updated, what is gone is withdrawn, a week later again', async t => {
    const later = '2024-12-01T00:00:00'
    ckan.packages = ckan.packages.slice(0, 119).map((each, at) =>
      at === 0
        ? {
            ...each,
            metadata_modified: later,
            resources: each.resources.map(one => ({ ...one, last_modified: later })),
          }
        : each,
    )
    const second = await once()
    t.match(second.counts, { found: 119, created: 0, updated: 1, unchanged: 116, withdrawn: 1 })
    t.same(second.withdrawn, ['package-119'])
    t.equal(remoteState(portal, 'package-000')?.next, moment.toISOString(), 'its data are asked for anew')
    rmSync(path.join(portal, 'data/package-119'), { recursive: true })

    t.same(dueHarvesters(portal, moment.getTime() + 1000), [])
    t.equal(dueHarvesters(portal, moment.getTime() + 8 * 86_400_000).length, 1, 'in a week')
    t.equal(
      dueHarvesters(portal, moment.getTime() - 8 * 86_400_000).length,
      1,
      'after a clock that was ahead',
    )
  })

  await t.test('a page that is missing, and a portal that is down, take nothing away', async t => {
    const all = ckan.packages
    ckan.packages = Object.assign([...all.slice(0, 50)], { length: 50 })
    ckan.status = 404
    const failed = await once()
    t.match(failed.failure, /it answers 404/)
    t.equal(definedDatasets(portal).length, 118)
    t.match(harvestAges(portal, moment.getTime() + 60_000), [
      { harvester: 'gov', age: 60, failures: 1, datasets: 117 },
    ])
    t.match(diagnoseHarvests(portal, moment.getTime()), [
      { status: 'warning', message: /failed 1 time, 117 datasets stay/ },
    ])
    ckan.status = 200
    ckan.packages = all
    t.match((await once()).counts, { unchanged: 117, withdrawn: 0 })
    t.equal(harvestState(portal, harvester).failures, 0)

    ckan.packages = []
    t.match((await once()).failure, /no datasets any more, and 117 were harvested: they stay/)
    ckan.packages = all
  })

  await t.test('a limit withdraws nothing, a choice does', async t => {
    const limited = { ...harvester, limit: 10 }
    t.match(
      (await harvest(limited, { portal, now: () => moment, isDryRun: true })).counts,
      { found: 119, withdrawn: 0 },
      'what was not read is not gone',
    )
    const some = { ...harvester, only: ['package-001', 'package-002'], except: ['package-002'] }
    t.match((await harvest(some, { portal, now: () => moment, isDryRun: true })).counts, {
      unchanged: 1,
      withdrawn: 116,
    })
    const wrong = { ...harvester, only: ['package-001', 'package-1'], except: ['c-package-002'] }
    const { skipped, counts } = await harvest(wrong, { portal, now: () => moment, isDryRun: true })
    t.match(counts, { unchanged: 1, withdrawn: 116 })
    t.match(
      skipped.filter(({ reason }) => /names it, and no dataset .* has "package-/.test(reason)),
      [{ dataset: 'package-1' }, { dataset: 'c-package-002' }],
    )
  })
})

t.test('a server harvests by itself', async t => {
  let names = ['one', 'two']
  const origin = await serverOf(t, ({ url = '' }, response) => {
    if (url.startsWith('/data/'))
      return void response.writeHead(200, { 'content-type': 'text/csv' }).end('n\n1\n')
    const results = names.map(name => ({ name, resources: [{ url: `/data/${name}`, format: 'csv' }] }))
    response.end(JSON.stringify({ result: { count: results.length, results } }))
  })
  const portal = portalOf(t, `  - { id: g, type: ckan, url: '${origin}' }\n`)
  const server = startServer(t, portal, await freePort())
  const served = async (expected: readonly string[]) => {
    const end = Date.now() + 60_000
    for (;;) {
      const answer = await fetch(
        `${server.address}/api/explore/v2.1/catalog/datasets?select=dataset_id&order_by=dataset_id`,
      )
        .then(each => each.json() as Promise<{ results?: { dataset_id: string }[] }>)
        .catch(() => ({ results: [] }))
      const ids = answer.results?.map(each => each.dataset_id) ?? []
      if (JSON.stringify(ids) === JSON.stringify(expected) || Date.now() > end) return ids
      await sleep(200)
    }
  }
  t.same(await served(['g-one', 'g-two']), ['g-one', 'g-two'])
  names = ['three', 'two']
  const file = path.join(portal, 'var/harvest/g.json')
  const state = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...state, next: '2020-01-01T00:00:00.000Z' }))
  t.same(await served(['g-three', 'g-two']), ['g-three', 'g-two'])
  const gone = await fetch(`${server.address}/api/explore/v2.1/catalog/datasets/g-one`)
  t.not(gone.status, 200)
})

const DCAT = (
  origin: string,
) => `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
<${origin}/d/1> a dcat:Dataset ; dct:title "Bäume"@de, "Trees"@en ; dct:description "All" ; dcat:keyword "a", "b" ;
  dct:identifier "trees-1" ; dct:publisher [ a foaf:Agent ; foaf:name "City" ] ; dct:modified "2024-01-02" ;
  dcat:distribution [ a dcat:Distribution ; dcat:downloadURL <${origin}/t.csv> ;
    dcat:mediaType <https://www.iana.org/assignments/media-types/text/csv> ] .
<${origin}/d/2> a dcat:Dataset ; dct:title "No file" ; dcat:distribution [ dcat:accessURL <${origin}/page.html> ] .
`

t.test('DCAT as Turtle and JSON-LD, data.json', async t => {
  const origin = await serverOf(t, ({ url = '' }, response) => {
    const self = `http://${response.req.headers.host}`
    const send = (type: string, body: unknown) =>
      response
        .writeHead(200, { 'content-type': type })
        .end(typeof body === 'string' ? body : JSON.stringify(body))
    if (url === '/catalog.ttl') return void send('text/turtle', DCAT(self))
    if (url === '/catalog.jsonld')
      return void send('application/ld+json', {
        '@context': { dcat: 'http://www.w3.org/ns/dcat#', dct: 'http://purl.org/dc/terms/' },
        '@id': `${self}/d/9`,
        '@type': 'dcat:Dataset',
        'dct:title': 'From JSON-LD',
        'dcat:distribution': { 'dcat:downloadURL': { '@id': `${self}/x.geojson` } },
      })
    if (url === '/data.json')
      return void send('application/json', {
        dataset: [
          {
            identifier: 'https://gov.test/id/7',
            title: 'Seven',
            description: 'It is seven',
            keyword: ['k'],
            modified: '2024-05-06',
            publisher: { name: 'Agency' },
            distribution: [
              { downloadURL: `${self}/7.zip`, mediaType: 'application/zip' },
              { downloadURL: 'file:///etc/passwd', format: 'csv' },
            ],
          },
        ],
      })
    response.writeHead(404).end()
  })
  const line = (id: string, type: string, file: string) =>
    `  - { id: ${id}, type: ${type}, url: '${origin}/${file}' }\n`
  const portal = portalOf(
    t,
    line('ttl', 'dcat', 'catalog.ttl') +
      line('ld', 'dcat', 'catalog.jsonld') +
      line('dj', 'data.json', 'data.json'),
  )
  const outcomes = []
  for (const harvester of readHarvesters(portal))
    outcomes.push(await harvest(harvester, { portal, now: () => new Date(), isDryRun: false }))
  t.same(
    outcomes.map(({ failure, counts }) => failure ?? `${counts.found} ${counts.created} ${counts.skipped}`),
    ['2 1 1', '1 1 0', '1 1 0'],
  )
  t.same(definedDatasets(portal), ['dj-7', 'ld-9', 'ttl-trees-1'])
  t.match(definitionOf(portal, 'ttl-trees-1'), {
    remote: { url: `${origin}/t.csv` },
    source: { format: 'csv' },
    metas: {
      default: {
        title: 'Trees',
        keyword: ['a', 'b'],
        publisher: 'City',
        modified: '2024-01-02T00:00:00.000Z',
      },
    },
  })
  t.match(
    definitionOf(portal, 'dj-7').remote,
    { url: `${origin}/7.zip` },
    'no other protocol, no file of this machine',
  )
})

/** Harvests a catalog into a portal of its own, and writes nothing but the folders of its datasets. */
async function harvested(t: Test, catalog: string, answer: Answer) {
  const origin = await serverOf(t, answer)
  const portal = portalOf(t, `  - { id: c, ${catalog.replaceAll('ORIGIN', origin)} }\n`)
  const [harvester] = readHarvesters(portal)
  if (harvester === undefined) throw new Error('no harvester')
  const again = () => harvest(harvester, { portal, now: () => new Date(), isDryRun: false })
  const outcome = await again()
  return { ...outcome, origin, portal, ids: definedDatasets(portal), again }
}

t.test('DCAT of a Lodestone: licenses without addresses, RDF without tables', async t => {
  const theirs = temporaryFolder(t, {
    'portal.yaml': '',
    data: {
      trees: {
        'dataset.yaml':
          'source: { path: t.csv }\nmetas: { default: { license: CC BY, theme: [Nature], publisher: City } }\n',
        't.csv': 'nr\n1\n',
      },
      things: { 'dataset.yaml': 'source: { path: t.ttl }\n', 't.ttl': '<urn:a> <urn:b> <urn:c> .\n' },
    },
  })
  const { app } = await servePortal(t, { portal: theirs, base: 'http://there.test', port: 0 })
  for (const [format, type, mediaType] of [
    ['ttl', 'dcat', 'text/turtle'],
    ['data.json', 'data.json', 'application/json'],
  ])
    await t.test(`as ${format}`, async t => {
      const { body } = await app.http.inject(`/api/explore/v2.1/catalog/exports/${format}`)
      const { failure, portal, ids } = await harvested(t, `type: ${type}, url: 'ORIGIN/'`, (_, response) =>
        response.writeHead(200, { 'content-type': mediaType }).end(body),
      )
      t.equal(failure, null)
      t.same(ids, ['c-things', 'c-trees'])
      const trees = definitionOf(portal, 'c-trees')
      t.match(trees.metas.default, { license: 'CC BY', theme: ['Nature'], publisher: 'City' })
      t.match(trees.remote?.url, /exports\/parquet$/)
      t.match(definitionOf(portal, 'c-things'), { remote: { url: /exports\/turtle$/ }, rdf: 'turtle' })
    })
})

t.test('relative addresses of DCAT are those of its document, on all of its pages', async t => {
  const page = (name: string, next: string) =>
    `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
<ds/${name}> a dcat:Dataset ; dct:publisher [ <http://xmlns.com/foaf/0.1/name> "${name}" ] ; dcat:distribution [ dcat:downloadURL <files/${name}.csv> ] .
<> <http://www.w3.org/ns/hydra/core#next> <${next}> .\n`
  const { failure, origin, portal, ids } = await harvested(
    t,
    "type: dcat, url: 'ORIGIN/start'",
    ({ url }, response) => {
      response.setHeader('content-type', 'text/turtle')
      if (url === '/start') response.writeHead(302, { location: '/cat/sub/one.ttl' }).end()
      else response.end(url === '/cat/sub/one.ttl' ? page('one', 'two.ttl') : page('two', 'one.ttl'))
    },
  )
  t.equal(failure, null)
  t.same(
    ids.map(id => {
      const { remote, metas } = definitionOf(portal, id)
      return [remote?.url, metas.default?.source_dataset, metas.default?.publisher]
    }),
    ['one', 'two'].map(name => [`${origin}/cat/sub/files/${name}.csv`, `${origin}/cat/sub/ds/${name}`, name]),
  )
})

t.test('DCAT of other portals: labels of formats, languages as IRIs, forms at one address', async t => {
  const file = (format: string) =>
    `dcat:distribution [ dcat:accessURL <files/1> ; <http://purl.org/dc/terms/format> ${format} ]`
  const catalog = `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<a> a dcat:Dataset ; dct:language <http://publications.europa.eu/resource/authority/language/GER> ; ${file('[ rdfs:label "Table" , "CSV" ] ; dct:license <http://l.test/by>')} .
<b> a dcat:Dataset ; dct:language "pt_BR" ; ${file('[ rdf:value "text/csv" ]')} .
<c> a dcat:Dataset ; dct:language "Welsh" ; ${file('<http://publications.europa.eu/resource/authority/file-type/CSV>')} .
[] a dcat:Dataset ; dct:title "Blank" ; ${file('"CSV"')} .
[] a dcat:Dataset ; dct:identifier "d" ; ${file('"CSV"')} .\n`
  const { failure, portal, ids, skipped, again } = await harvested(
    t,
    "type: dcat, url: 'ORIGIN/catalog'",
    ({ headers }, response) =>
      headers.accept?.includes('text/turtle')
        ? response.writeHead(200, { 'content-type': 'text/turtle' }).end(catalog)
        : response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>A catalog'),
  )
  t.equal(failure, null)
  t.same(
    definitionOf(portal, 'c-a').metas.default?.license,
    'http://l.test/by',
    'the license of the file, where the dataset has none',
  )
  t.same(
    ids.map(id => {
      const { metas, source } = definitionOf(portal, id)
      return [id, metas.default?.language, source.format]
    }),
    [
      ['c-a', 'de', 'csv'],
      ['c-b', 'pt_BR', 'csv'],
      ['c-c', 'Welsh', 'csv'],
      ['c-d', undefined, 'csv'],
    ],
  )
  t.match(skipped, [{ reason: 'it has no identifier' }], 'the label of a blank node is no identifier')
  t.match((await again()).counts, { unchanged: 4, withdrawn: 0 })
})

t.test('addresses of DCAT that are no IRIs: one of them costs no catalog', async t => {
  const forms = {
    'text/turtle': `@prefix dcat: <http://www.w3.org/ns/dcat#> .
<a> a dcat:Dataset ; dcat:theme <x\\u001b> ; dcat:landingPage <a b{1}|"> ; dcat:distribution [ dcat:accessURL <files/a b.csv> ] .`,
    'application/rdf+xml': `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dcat="http://www.w3.org/ns/dcat#">
<dcat:Dataset rdf:about="a"><dcat:landingPage rdf:resource="a b{1}|&quot;"/><dcat:theme rdf:resource="a&gt;b"/><dcat:distribution>
<dcat:Distribution><dcat:accessURL rdf:resource="files/a b.csv"/></dcat:Distribution></dcat:distribution></dcat:Dataset></rdf:RDF>`,
    'application/n-quads': `<http://c.test/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/ns/dcat#Dataset> <urn:a b> .
<http://c.test/a> <http://www.w3.org/ns/dcat#landingPage> <ORIGIN/a b{1}|"> .
<http://c.test/a> <http://www.w3.org/ns/dcat#distribution> _:x .
_:x <http://www.w3.org/ns/dcat#accessURL> <ORIGIN/files/a b.csv> .\n`,
  }
  for (const [type, document] of Object.entries(forms))
    await t.test(type, async t => {
      const { failure, portal, origin, ids } = await harvested(
        t,
        "type: dcat, url: 'ORIGIN/'",
        ({ headers }, response) =>
          response
            .writeHead(200, { 'content-type': type })
            .end(document.replaceAll('ORIGIN', `http://${headers.host}`)),
      )
      t.equal(failure, null)
      t.same(ids, ['c-a'])
      t.match(definitionOf(portal, 'c-a'), {
        remote: { url: `${origin}/files/a%20b.csv` },
        metas: { default: { references: `${origin}/a%20b%7B1%7D%7C%22` } },
      })
      t.notMatch(definitionOf(portal, 'c-a').metas.default?.theme, [/\p{Cc}/u])
    })
})

t.test('files are at addresses of HTTP and FTP', async t => {
  const file = (id: string, url: string) => ({
    identifier: id,
    distribution: [{ downloadURL: url, format: 'CSV' }],
  })
  const dataset = [
    file('a', 'ftp://files.test/a b.csv'),
    file('b', 'ftps://files.test/b.csv'),
    file('c', 'file:///etc/passwd'),
    file('d', 'ftp://name:secret@files.test/d.csv'),
  ]
  const { portal, ids, origin } = await harvested(
    t,
    "type: data.json, url: 'ORIGIN/c?key=secret'",
    (_, response) => response.end(JSON.stringify({ dataset })),
  )
  t.equal(definitionOf(portal, 'c-a').metas.default?.source_domain_address, `${origin}/c`, 'without the key')
  t.same(
    ids.map(id => definitionOf(portal, id).remote?.url),
    ['ftp://files.test/a%20b.csv', 'ftps://files.test/b.csv'],
  )
})

t.test('JSON without a context is JSON-LD if it has any triples', async t => {
  const list =
    '[{"@id":"a","@type":"http://www.w3.org/ns/dcat#Dataset","http://www.w3.org/ns/dcat#distribution":{"http://www.w3.org/ns/dcat#accessURL":{"@id":"a.csv"}}}]'
  for (const [document, datasets, failed] of [
    [list, ['c-a'], null],
    ['{"success":true,"result":{"results":[]}}', [], /The catalog is no RDF/],
  ] as const) {
    const { failure, ids } = await harvested(t, "type: dcat, url: 'ORIGIN/'", (_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(document),
    )
    t.match(failure, failed)
    t.same(ids, datasets)
  }
})

t.test('a change of the catalog changes nothing else that was edited here', async t => {
  let [labels, metas]: [string[], object] = [
    ['Number', 'Name'],
    { title: 'Trees', description: 'All', theme: ['Nature'], modified: '2024-01-01' },
  ]
  const { portal, again } = await harvested(t, "type: opendatasoft, url: 'ORIGIN'", (_, response) => {
    const fields = ['nr', 'name', 'extra'].flatMap((name, at) =>
      labels[at] === undefined ? [] : [{ name, type: 'text', label: labels[at] }],
    )
    const results = ['trees', 'twice'].map(id => ({
      dataset_id: id,
      fields: id === 'twice' ? [...fields, ...fields] : fields,
      metas: { default: metas },
    }))
    response.end(JSON.stringify({ total_count: 2, results }))
  })
  t.equal(readDefinition(portal, 'c-twice').problems.length, 0, 'a field that is there twice is not declared')
  const file = path.join(portal, 'data/c-trees/dataset.yaml')
  const edited = readFileSync(file, 'utf8')
    .replace('description: All', 'description: Edited')
    .replace('label: Number', 'label: Edited')
    .replace('\nmetas:', '\n  - { name: own, type: int, label: own }\nmetas:')
  writeFileSync(file, edited)
  labels = ['Number', 'Names', 'Extra']
  metas = { title: 'Trees', description: 'All', modified: '2024-02-02' }
  t.match((await again()).counts, { updated: 2 })
  const read = () => {
    const { metas: all, fields } = definitionOf(portal, 'c-trees')
    const { description, theme, modified } = all.default ?? {}
    return [description, theme, modified, fields?.map(({ name, label }) => `${name} ${label}`)]
  }
  t.same(read(), ['Edited', undefined, '2024-02-02', ['nr Edited', 'name Names', 'extra Extra', 'own own']])
  labels = ['Number', 'Names']
  metas = { title: 'Trees', description: 'All of them', modified: '2024-02-02' }
  await again()
  t.same(read(), ['All of them', undefined, '2024-02-02', ['nr Edited', 'name Names', 'own own']])
  const moved = path.join(portal, 'harvest.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace('description: All of them', 'description: Edited'))
  writeFileSync(moved, readFileSync(moved, 'utf8').replace(/(http:[^']*)/, '$1/'))
  const [elsewhere] = readHarvesters(portal)
  if (elsewhere === undefined) throw new Error('no harvester')
  t.match(await harvest(elsewhere, { portal, now: () => new Date(), isDryRun: false }), { failure: null })
  t.equal(read()[0], 'Edited', 'also where the address of the catalog changed')
  writeFileSync(file, 'source: 5\n')
  t.match((await again()).skipped, [{ dataset: 'trees', reason: /lodestone check c-trees/ }])
})

t.test('what a catalog removes of its fields is removed, and an identity follows it', async t => {
  let fields: readonly object[] = [
    { name: 'nr', type: 'int', label: 'Nr', description: 'A number', annotations: { id: [], facet: [] } },
    { name: 'name', type: 'text', label: 'Name', annotations: { facet: [], unit: ['m'] } },
    { name: 'code', type: 'text', label: 'Code', annotations: { id: [] } },
  ]
  const { portal, again } = await harvested(t, "type: opendatasoft, url: 'ORIGIN'", (_, response) =>
    response.end(JSON.stringify({ total_count: 1, results: [{ dataset_id: 'trees', fields }] })),
  )
  const file = path.join(portal, 'data/c-trees/dataset.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace('unit:', 'sortable: []\n      unit:'))
  const read = () => {
    const { fields, identity } = definitionOf(portal, 'c-trees')
    return [identity, fields?.map(({ name, description, annotations }) => [name, description, annotations])]
  }
  fields = [
    { name: 'nr', type: 'int', label: 'Nr', annotations: { id: [] } },
    { name: 'name', type: 'text', label: 'Name' },
    { name: 'code', type: 'text', label: 'Code', annotations: { id: [] } },
  ]
  await again()
  const code = ['code', undefined, { id: [] }]
  t.same(read(), [
    ['nr', 'code'],
    [['nr', undefined, { id: [] }], ['name', undefined, { sortable: [] }], code],
  ])
  fields = fields.slice(1)
  t.match((await again()).counts, { updated: 1 })
  t.same(read(), [['code'], [['name', undefined, { sortable: [] }], code]])
  fields = fields.slice(0, 1)
  await again()
  t.same(read(), [[], [['name', undefined, { sortable: [] }]]], 'without one the content identifies a record')
  t.match(await again(), { skipped: [], counts: { unchanged: 1 } })
})

t.test('check tells why the file of a dataset is missing', async t => {
  const { portal } = await harvested(t, "type: ckan, url: 'ORIGIN'", ({ url = '' }, response) => {
    if (!url.startsWith('/api/')) return void response.writeHead(404).end()
    const results = [{ name: 'a', resources: [{ url: '/a.csv', format: 'csv' }] }]
    response.end(JSON.stringify({ result: { count: 1, results } }))
  })
  const check = async () => (await checkDataset(portal, 'http://here.test', 'c-a')).map(each => each.message)
  t.match(await check(), [/a\.csv: It has not been fetched yet/])
  const context = { portal, base: 'http://here.test', now: () => new Date() }
  await publishAll(context, ['c-a'], () => undefined)
  t.match(await check(), [/a\.csv: The address is refused: it answers 404/])
})

t.test('limits, choices and pages of catalogs', async t => {
  const named = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => `d${String(from + at).padStart(3, '0')}`)
  const names = named(0, 130)
  const answer: Answer = ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x')
    const at = Number(searchParams.get('start') ?? searchParams.get('offset'))
    const distribution = [{ downloadURL: 'http://x.test/a.csv', format: 'csv' }]
    if (pathname === '/data.json')
      return void response.end(
        JSON.stringify({ dataset: names.map(identifier => ({ identifier, distribution })) }),
      )
    // Fewer than a page are sent at a time.
    const some = names.slice(at, at + 50)
    const results = some.map(name => ({ name, resources: [{ url: 'http://x.test/a.csv', format: 'csv' }] }))
    response.end(
      JSON.stringify(
        pathname.startsWith('/api/3/')
          ? { success: true, result: { count: names.length, results } }
          : { total_count: names.length, results: some.map(dataset_id => ({ dataset_id })) },
      ),
    )
  }
  const cases: readonly (readonly [more: string, ids: readonly string[], left: number | undefined])[] = [
    ['', names, undefined],
    ['limit: 100', named(0, 100), 30],
    ['limit: 130', names, undefined],
    ['limit: 2, only: [d099, d120]', ['d099', 'd120'], undefined],
    ['limit: 1, only: [d120, d099]', ['d099'], undefined],
    ['limit: 100, except: [d001]', ['d000', ...named(2, 101)], undefined],
  ]
  for (const type of ['data.json', 'ckan', 'opendatasoft'])
    for (const [more, ids, left] of cases) {
      const url = type === 'data.json' ? 'ORIGIN/data.json' : 'ORIGIN'
      const { counts, ids: found } = await harvested(
        t,
        `type: ${type}, url: '${url}', prefix: ''${more && `, ${more}`}`,
        answer,
      )
      t.same(found, ids, `${type} ${more}`)
      t.equal(counts.found, 130)
      if (!/(?:1, only|except)/.test(more)) t.equal(counts.left, left, `${type} ${more}`)
      else t.ok((counts.left ?? 0) > 0, `${type} ${more}`)
    }
})

t.test('what leaves a catalog while its pages are read withdraws no other dataset', async t => {
  let names = Array.from({ length: 250 }, (_, at) => `d${String(at).padStart(3, '0')}`)
  let isLeaving = false
  const answer: Answer = ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x')
    const at = Number(searchParams.get('start') ?? searchParams.get('offset'))
    const some = names.slice(at, at + 100)
    const [total, resources] = [names.length, [{ url: 'http://x.test/a.csv', format: 'csv' }]]
    if (isLeaving && at === 0) names = names.slice(1)
    const body = pathname.startsWith('/api/3/')
      ? { success: true, result: { count: total, results: some.map(name => ({ name, resources })) } }
      : { total_count: total, results: some.map(dataset_id => ({ dataset_id })) }
    response.end(JSON.stringify(body))
  }
  const origin = await serverOf(t, answer)
  for (const type of ['ckan', 'opendatasoft']) {
    isLeaving = false
    const before = names.length
    const portal = portalOf(t, `  - { id: a, type: ${type}, url: '${origin}', prefix: '' }\n`)
    const [harvester] = readHarvesters(portal)
    if (harvester === undefined) throw new Error('no harvester')
    const once = () => harvest(harvester, { portal, now: () => new Date(), isDryRun: false })
    t.match((await once()).counts, { created: before })
    isLeaving = true
    t.same((await once()).withdrawn, [], `${type}: the pages do not fit together`)
    isLeaving = false
    t.equal((await once()).counts.withdrawn, 1, `${type}: they do again`)
  }
})

t.test('a catalog whose harvest cannot be written down is not read over and over', async t => {
  let read = 0
  const origin = await serverOf(t, (_, response) => {
    read += 1
    response.end('{"result": {"count": 0, "results": []}}')
  })
  const portal = portalOf(t, `  - { id: g, type: ckan, url: '${origin}' }\n`)
  // A folder in the place of the file.
  mkdirSync(path.join(portal, 'var/harvest/g.json'), { recursive: true })
  const errors: unknown[] = []
  const app = { http: { log: { error: (error: unknown) => errors.push(error) } } } as unknown as App
  const schedule = new HarvestSchedule(portal, app, new AbortController().signal)
  const [clock, time] = [Date.now, performance.now.bind(performance)]
  t.teardown(() => {
    Date.now = clock
    performance.now = time
  })
  for (const [minutes, expected] of [
    [0, 1],
    [1, 1],
    [9, 1],
    [11, 2],
  ] as const) {
    performance.now = () => time() + minutes * 60_000
    // The clock is set back by an hour meanwhile.
    if (minutes > 0) Date.now = () => clock() + (minutes - 60) * 60_000
    await schedule.take()
    for (let tries = 0; tries < 200 && (read < expected || errors.length === 0); tries++) await sleep(50)
    await sleep(200)
    t.equal(read, expected, `after ${minutes} minutes`)
  }
})

t.test('answers that are no catalogs are failures, and entries without ids are skipped', async t => {
  const failures: readonly (readonly [type: string, body: string, failure: RegExp])[] = [
    ['ckan', '{"success": false, "error": {"message": "Access denied", "__type": "Auth"}}', /Access denied/],
    ['ckan', '[]', /no JSON object/],
    ['ckan', '{"result": {"count": "lots", "results": []}}', /"lots" datasets: a number/],
    ['ckan', '{"help": "?"}', /no list of datasets/],
    ['opendatasoft', '{}', /no list of datasets/],
    ['opendatasoft', '{"total_count": -1, "results": []}', /-1 datasets: a number/],
    ['data.json', '{}', /no list of datasets/],
    ['data.json', '[{"identifier": "a"}]', /no JSON object/],
  ]
  for (const [type, body, failure] of failures)
    t.match(
      (await harvested(t, `type: ${type}, url: 'ORIGIN'`, (_, response) => response.end(body))).failure,
      failure,
      body,
    )
  const distribution = [{ downloadURL: 'http://x.test/a.csv', format: 'csv' }]
  const body = JSON.stringify({ dataset: [{ identifier: 3, distribution }, 'no object', { distribution }] })
  for (const [header, sent] of [
    ['identity', `\ufeff${body}`],
    ['gzip', gzipSync(body)],
  ] as const) {
    const { counts, skipped, ids } = await harvested(t, "type: data.json, url: 'ORIGIN/'", (_, response) =>
      response.writeHead(200, { 'content-encoding': header }).end(sent),
    )
    t.same(ids, ['c-3'])
    t.match(counts, { found: 3, created: 1, skipped: 2 })
    t.same(skipped, [
      { dataset: 'number 2', reason: 'it has no identifier' },
      { dataset: 'number 3', reason: 'it has no identifier' },
    ])
  }
})

t.test('long texts of catalogs are cut at a character', async t => {
  const long = `${'a'.repeat(19_999)}🌳`
  const [id, title] = ['a', 'half \ud83d!']
  const distribution = [{ downloadURL: 'http://x.test/a.csv', format: 'csv' }]
  const answers = [
    ['data.json', { dataset: [{ identifier: id, title, description: long, distribution }] }],
    [
      'opendatasoft',
      { total_count: 1, results: [{ dataset_id: id, metas: { default: { title, description: long } } }] },
    ],
  ] as const
  for (const [type, body] of answers) {
    const { portal } = await harvested(t, `type: ${type}, url: 'ORIGIN'`, (_, response) =>
      response.end(JSON.stringify(body)),
    )
    const { metas } = definitionOf(portal, 'c-a')
    t.match(metas, { default: { title: 'half \ufffd!', description: long.slice(0, 19_999) } }, type)
  }
})

t.test('what could not be published is published by a later harvest', async t => {
  let [isDown, text] = [true, 'n\n1\n']
  const origin = await serverOf(t, ({ url }, response) => {
    const dataset = [{ identifier: 'a', distribution: [{ downloadURL: 'a.csv', format: 'csv' }] }]
    if (url === '/') response.end(JSON.stringify({ dataset }))
    else response.writeHead(isDown ? 404 : 200).end(text)
  })
  const portal = portalOf(t, `  - { id: c, type: data.json, url: '${origin}/' }\n`)
  t.equal((await harvestNow(portal)).code, 1)
  t.equal((await harvestNow(portal)).code, 1)
  isDown = false
  t.match(await harvestNow(portal), { code: 0, json: [{ counts: { unchanged: 1 } }] })
  t.equal(currentManifest(versionsOf(portal), 'c-a')?.statistics.records, 1)
  text += '2\n'
  // A harvest that noted the change was killed before it fetched the data.
  expireRemote(portal, 'c-a', new Date())
  t.match(await harvestNow(portal), { code: 0, json: [{ counts: { unchanged: 1 } }] })
  t.equal(currentManifest(versionsOf(portal), 'c-a')?.statistics.records, 2)
})

t.test('datasets of a catalog with the same identifier stay apart', async t => {
  const origin = await serverOf(t, (_, response) => {
    const self = `http://${response.req.headers.host}`
    const dataset = (name: string, identifier: string) =>
      `<${self}/d/${name}> a dcat:Dataset ; dct:title "${name}" ; dct:identifier "${identifier}" ; dcat:distribution [ dcat:downloadURL <${self}/${name}.csv> ] .\n`
    response
      .writeHead(200, { 'content-type': 'text/turtle' })
      .end(
        `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> .\n${dataset('one', 'own')}${dataset('two', 'same')}${dataset('three', 'same')}`,
      )
  })
  const portal = portalOf(t, `  - { id: c, type: dcat, url: '${origin}/c.ttl' }\n`)
  const [harvester] = readHarvesters(portal)
  if (harvester === undefined) throw new Error('no harvester')
  const once = () => harvest(harvester, { portal, now: () => new Date(), isDryRun: false })
  t.match((await once()).counts, { found: 3, created: 3, skipped: 0 })
  t.match((await once()).counts, { found: 3, created: 0, updated: 0, unchanged: 3, withdrawn: 0 })
  const other = { ...harvester, id: 'd' }
  t.match((await harvest(other, { portal, now: () => new Date(), isDryRun: true })).skipped, [
    { reason: 'the portal has a dataset c-own that was harvested by c' },
  ])
  t.same(
    definedDatasets(portal).map(id => [id, definitionOf(portal, id).remote?.url]),
    [
      ['c-own', `${origin}/one.csv`],
      ['c-three', `${origin}/three.csv`],
      ['c-two', `${origin}/two.csv`],
    ],
  )
})

t.test('control characters of a catalog do not reach the terminal', async t => {
  const text = '\u001b]0;PWNED\u0007 \u009b2J'
  const origin = await serverOf(t, ({ url = '' }, response) =>
    response.end(url === '/bad' ? text : JSON.stringify({ dataset: [{ identifier: text }] })),
  )
  const portal = portalOf(
    t,
    `  - { id: bad, type: data.json, url: '${origin}/bad' }\n  - { id: esc, type: data.json, url: '${origin}/' }\n`,
  )
  const place = ['--portal', portal, '--base', 'http://here.test']
  const [harvested, doctor] = [await output(['harvest', ...place]), await output(['doctor', ...place])]
  t.match(harvested.text, /bad: failed: .*\\u001b\]0;PWNED/)
  t.match(harvested.text, /! \\u001b\]0;PWNED\\u0007 \\u009b2J: none of its distributions/)
  t.match(doctor.text, /bad: failed 1 time.*\\u001b\]0;PWNED/)
  const json = await harvestNow(portal, 'esc')
  t.equal(json.json[0].skipped[0].dataset, text, 'JSON remains the same')
  for (const { text } of [harvested, doctor]) t.notMatch(text, /[^\P{Cc}\n]/u)
})

t.test('what is shown of texts on a terminal', async t => {
  const cases: readonly (readonly [text: string, shown: string, cell: string])[] = [
    ['Bäume\t木\n', 'Bäume\t木\n', 'Bäume\\u0009木\\u000a'],
    [
      'a\u001b[2J\u009bm\u007f\u0000',
      'a\\u001b[2J\\u009bm\\u007f\\u0000',
      'a\\u001b[2J\\u009bm\\u007f\\u0000',
    ],
    ['over\rwritten\r\n', 'over\\u000dwritten\r\n', 'over\\u000dwritten\\u000d\\u000a'],
    ['a\u202eb\u200bc', 'a\\u202eb\u200bc', 'a\\u202eb\\u200bc'],
  ]
  for (const [text, shown, cell] of cases) {
    t.equal(terminalText(text), shown)
    t.equal(escapedText(text), cell)
  }
})

t.test('what is refused', async t => {
  const origin = await serverOf(t, ({ url = '' }, response) => {
    if (url.startsWith('/html')) return void response.end('<html>')
    if (url.startsWith('/huge'))
      return void response.writeHead(200, { 'content-length': '99999999999' }).write('{')
    response.writeHead(302, { location: 'http://localhost:1/' }).end()
  })
  const failureOf = async (harvesters: string, settings?: string) => {
    const portal = portalOf(t, harvesters, settings)
    const [harvester] = readHarvesters(portal)
    if (harvester === undefined) throw new Error('no harvester')
    return (await harvest(harvester, { portal, now: () => new Date(), isDryRun: true })).failure
  }
  const one = (more: string, type = 'data.json') => `  - { id: a, type: ${type}, url: '${origin}/${more}' }\n`
  t.match(await failureOf(one('html')), /^http:.*\/html: The catalog is no JSON object: [\s\S]*harvest\.yaml/)
  t.match(await failureOf(one('html', 'dcat')), /./)
  t.match(await failureOf(one('huge')), /more than 33554432 bytes, and a harvest reads no more of a document/)
  const small = "source_private_hosts: ['127.0.0.1']\nsource_size: 1MB\n"
  t.match(await failureOf(one('huge'), small), /more than 1000000 bytes; source_size allows more/)
  t.match(await failureOf(one('away')), /private address/)
  t.match(await failureOf(one('html'), 'title: A\n'), /private address/)
  t.match(await failureOf(one('html'), "source_hosts: ['example.org']\n"), /not one of source_hosts/)
  const wrong = (text: string) => t.throws(() => readHarvesters(temporaryFolder(t, { 'harvest.yaml': text })))
  wrong('harvesters: [{ id: a, type: ckn, url: "http://x" }]')
  wrong('harvesters: [{ id: a, type: ckan, url: "http://user:pw@x/" }]')
  wrong('harvesters: [{ id: a, type: ckan, url: "http://x", authorization: HOME }]')
  wrong('harvesters: [{ id: a, type: ckan, url: "http://x:99999" }]')
  t.throws(
    () => readHarvesters(portalOf(t, "  - { id: a, type: ckan, url: 'http://x', refresh: often }\n")),
    { message: /harvest\.yaml:2:43: hourly, daily/ },
  )
  t.throws(() => readHarvesters(portalOf(t, one('b') + one('c'))), { message: /two harvesters called a/ })
})

t.test('moments of catalogs are UTC where they have no offset', async t => {
  const zone = process.env.TZ
  process.env.TZ = 'America/New_York'
  t.teardown(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })
  for (const [text, moment] of [
    ['2020-01-01 10:00:00', '2020-01-01T10:00:00.000Z'],
    ['2020-01-01T10:00:00.5', '2020-01-01T10:00:00.500Z'],
    ['2020-01-01 10:00:00+02:00', '2020-01-01T08:00:00.000Z'],
    ['2020-01', '2020-01-01T00:00:00.000Z'],
    ['yesterday', null],
  ] as const)
    t.equal(harvestedMoment(text), moment, text)
})

t.test('a dataset with a long id whose file cannot be read any more stays', async t => {
  const identifier = `https://catalog.test/${'a'.repeat(300)}`
  const bodyOf = (format: string) =>
    JSON.stringify({
      dataset: [{ identifier, distribution: [{ downloadURL: `http://x.test/a.${format}`, format }] }],
    })
  let body = bodyOf('csv')
  const found = await harvested(t, "type: data.json, url: 'ORIGIN/'", (_, response) => response.end(body))
  t.equal(found.counts.created, 1)
  body = bodyOf('pdf')
  t.match((await found.again()).counts, { skipped: 1, withdrawn: 0 })
})

t.test('local ids are those of no other dataset', async t => {
  const harvester = { prefix: 'x-' } as Parameters<typeof localId>[0]
  const taken = new Set<string>()
  for (let i = 0; i < 3; i++) {
    const id = localId(harvester, 'https://catalog.test/trees', taken)
    t.notOk(taken.has(id), id)
    taken.add(id)
  }
  t.match([...taken], ['x-trees', /^x-trees-[0-9a-f]{8}$/, /^x-trees-[0-9a-f]{8}$/])
})
