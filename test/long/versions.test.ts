import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { Parser, type Quad } from 'n3'
import t, { type Test } from 'tap'
import { historyOf } from '../../src/publishing/management/history.ts'
import { publishDataset } from '../../src/publishing/publish.ts'
import { exclusively } from '../../src/publishing/versions/exclusively.ts'
import { rollBack } from '../../src/publishing/versions/roll-back.ts'
import {
  currentManifest,
  currentVersion,
  readManifestFile,
  retainedVersions,
  VERSION_FORMAT,
  versionsOf,
} from '../../src/publishing/versions/versions.ts'
import { processName } from '../../src/runtime/processes.ts'
import { lodestone } from '../support/crash.ts'
import { temporaryFolder } from '../support/folder.ts'
import { publishReports, servePortal } from '../support/portal.ts'
import { scriptArguments } from '../support/script.ts'

/** Versions of datasets: what is kept, every endpoint asked for an older one, changes, feeds, Memento, roll-back. */
const isRoot = process.getuid?.() === 0

const BASE = 'http://portal.test'

interface Row {
  readonly nr: number
  readonly name: string
  readonly height: number | null
  readonly tags: readonly string[]
}

const YAML = `
source: { path: trees.json }
id: [nr]
fields:
  - { name: nr, type: int }
  - { name: name, type: text }
  - { name: height, type: double }
  - { name: tags, type: text, annotations: { multivalued: [] } }
metas: { default: { title: Trees } }
`

/** Random but repeatable: the same seed gives the same rows. */
function rowsOf(seed: number, count: number): Row[] {
  let state = seed
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return Math.floor((state / 0x7fffffff) * below)
  }
  const numbers = [...new Set(Array.from({ length: count }, () => next(count * 2)))]
  return numbers.map(nr => ({
    nr,
    name: ['Oak', 'Elm', 'Fir "x"', 'Ulme ä', ''][next(5)] ?? '',
    height: [null, 1.5, 2, 30][next(4)] ?? null,
    tags: [[], ['a'], ['b', 'a'], ['a', 'b']][next(4)] ?? [],
  }))
}

function write(portal: string, rows: readonly Row[], yaml = YAML): void {
  const folder = path.join(portal, 'data/trees')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'dataset.yaml'), yaml)
  writeFileSync(path.join(folder, 'trees.json'), JSON.stringify(rows))
}

let clock = Date.parse('2026-01-01T00:00:00Z')

/** Publishes an hour after the publication before. */
async function publish(portal: string, names: readonly string[] | null = null, keepVersions = 4) {
  clock += 3_600_000
  const now = () => new Date(clock)
  return publishReports(portal, { base: BASE, keepVersions, now, endsRollBack: names !== null }, names)
}

async function serve(t: Test, portal: string) {
  const environment = { LODESTONE_KEEP_VERSIONS: '4' }
  const { app, get: request } = await servePortal(t, { portal, base: BASE, environment, isPublished: false })
  const get = async (url: string, headers: Record<string, string> = {}) => {
    const { statusCode, headers: answered, body } = await request(url, headers)
    return { status: statusCode, headers: answered, body, json: () => JSON.parse(body) }
  }
  return { app, get }
}

type Get = Awaited<ReturnType<typeof serve>>['get']

function names(portal: string): readonly string[] {
  return retainedVersions(versionsOf(portal, 4), 'trees').map(({ version }) => version)
}

const EXPLORE = '/api/explore/v2.1/catalog/datasets/trees'
const GENERATIONS = [rowsOf(1, 40), rowsOf(2, 60), rowsOf(3, 30), rowsOf(4, 50), rowsOf(5, 45)]

t.test('the last versions are kept, and every endpoint answers from each of them', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': '' })
  for (const rows of GENERATIONS) {
    write(portal, rows)
    t.match(await publish(portal), [{ type: 'published' }])
  }
  const kept = names(portal)
  const { get } = await serve(t, portal)
  const expected = GENERATIONS.slice(-4).reverse()
  /** The versions from the last to the oldest, with their rows and the parameter that requests them. */
  const versions = kept.map((version, at) => ({ rows: expected[at] ?? [], requested: `version=${version}` }))

  await t.test('no more versions are kept than are to be', async t => {
    t.equal(kept.length, 4, 'as many as are to be kept')
    const folders = readdirSync(path.join(portal, 'var/published/trees'), { withFileTypes: true })
    t.equal(folders.filter(each => each.isDirectory()).length, 4, 'and no others are on disk')
  })

  await t.test('records, exports and OData', async t => {
    for (const [at, { rows, requested }] of versions.entries()) {
      const { results, total_count: total } = (await get(`${EXPLORE}/records?limit=100&${requested}`)).json()
      t.equal(total, rows.length)
      const plain = rows.map(row => ({
        ...row,
        tags: row.tags.length === 0 ? null : row.tags,
        name: row.name || null,
      }))
      t.same(results, plain, `records of ${at} versions ago`)
      const counted = rows.filter(({ name }) => name === 'Oak').length
      t.equal((await get(`${EXPLORE}/records?where=name%3D"Oak"&${requested}`)).json().total_count, counted)
      t.same((await get(`${EXPLORE}/exports/json?${requested}`)).json(), plain, 'export')
      t.equal(
        (await get(`/api/v2/catalog/datasets/trees/records?${requested}`)).json().total_count,
        rows.length,
      )
      const entities = (await get(`/api/odata/trees?$count=true&${requested}`)).json()
      t.equal(entities['@odata.count'], rows.length, 'OData')
    }
  })

  await t.test('SPARQL and fragments', async t => {
    const query = encodeURIComponent(`SELECT (COUNT(*) AS ?n) { ?s <${BASE}/ld/ontologies/trees/nr> ?o }`)
    const predicate = encodeURIComponent(`${BASE}/ld/ontologies/trees/nr`)
    for (const { rows, requested } of versions) {
      const solutions = await get(`/api/sparql/trees?query=${query}&${requested}`, { accept: 'text/csv' })
      t.equal(solutions.body.split(/\r?\n/)[1], String(rows.length), 'SPARQL')
      const fragment = await get(`/api/tpf/trees?predicate=${predicate}&${requested}`, {
        accept: 'text/turtle',
      })
      t.match(fragment.body, `void#triples> "${rows.length}"`, 'fragments')
      t.match(fragment.body, `trees?${requested}{&subject,predicate,object}`, 'whose form keeps the version')
    }
  })

  await t.test('RDF exports, documents of things and VoID', async t => {
    for (const { rows, requested } of versions) {
      const turtle = await get(`${EXPLORE}/exports/turtle?${requested}`)
      const subjects = new Set(new Parser().parse(turtle.body).map(({ subject }) => subject.value))
      t.equal(subjects.size, rows.length, 'RDF export')
      const [subject = ''] = subjects
      const address = subject.replace(BASE, '').replace('/ld/resources/', '/ld/data/')
      const document = await get(`${address}?${requested}`, { accept: 'text/turtle' })
      t.equal(document.status, 200, 'dereferencing')
      t.match(document.headers['content-location'], requested)
      const thing = await get(`${subject.replace(BASE, '')}?${requested}`)
      t.equal(thing.status, 303)
      t.match(thing.headers.location, requested, 'the redirection keeps the version')
      for (const { headers } of [document, thing])
        for (const rel of ['alternate', 'canonical', 'describedby'])
          for (const [link] of String(headers.link).matchAll(new RegExp(`<[^>]*>; rel="${rel}"`, 'g')))
            t.match(link, `?${requested}>`, `${rel} keeps the version`)
      t.equal((await get(`/api/void/trees?${requested}`)).status, 200)
    }
  })

  await t.test('a version that there is not', async t => {
    for (const url of [
      `${EXPLORE}/records`,
      '/api/odata/trees',
      '/api/tpf/trees',
      '/api/sparql/trees',
      '/ld/data/trees',
    ]) {
      const lost = await get(`${url}?version=gone`)
      t.equal(lost.status, 404, url)
      t.match(lost.body, kept[3], 'says which there are')
      t.equal((await get(`${url}?version=a&version=b`)).status, 400, 'one version at a time')
    }
  })

  await t.test('the list of versions', async t => {
    t.equal((await get('/api/versions/nothing')).status, 404)
    const list = (await get('/api/versions/trees')).json().versions
    t.same(
      list.map((each: { version: string }) => each.version),
      kept,
    )
    t.same(
      list.map((each: { records: number }) => each.records),
      expected.map(({ length }) => length),
    )
  })
})

t.test('processes put versions in force one after the other', async t => {
  const home = temporaryFolder(t, { count: '0' })
  const race = [...scriptArguments('support/lock-race'), home, '100']
  const racers = [1, 2, 3].map(() => once(spawn(process.execPath, race, { stdio: 'inherit' }), 'exit'))
  t.same(await Promise.all(racers), Array(3).fill([0, null]))
  t.equal(readFileSync(path.join(home, 'count'), 'utf8'), '300')
  const lock = path.join(home, 'lock')
  const withLock = (text: string, age = 0) => {
    writeFileSync(lock, text)
    utimesSync(lock, (Date.now() - age) / 1000, (Date.now() - age) / 1000)
    const begun = Date.now()
    exclusively(home, () => t.notSame(readFileSync(lock, 'utf8'), text))
    t.same(readdirSync(home), ['count'], 'nothing is left')
    return Date.now() - begun
  }
  t.ok(withLock(`${processName(99_999_999)} 0 1`) < 4000, 'that of a dead process is taken over at once')
  t.ok(withLock(`${processName(process.ppid)} 0 1`, 6000) < 4000, 'and one that is too old')
  t.ok(withLock(`${processName(process.ppid)} 0 1`) > 4000, 'another one is waited for')
})

t.test(
  'a lock that may not be read is taken over, too',
  { skip: isRoot && 'root reads all files' },
  async t => {
    const home = temporaryFolder(t, {})
    const lock = path.join(home, 'lock')
    writeFileSync(lock, 'of another user', { mode: 0 })
    utimesSync(lock, Date.now() / 1000 - 6, Date.now() / 1000 - 6)
    t.equal(
      exclusively(home, () => 'done'),
      'done',
    )
    t.same(readdirSync(home), [], 'nothing is left')
  },
)

t.test('what a publication that died has left is removed, though nothing changed since', async t => {
  const portal = temporaryFolder(t, { data: {} })
  const home = path.join(portal, 'var/published/trees')
  for (const rows of GENERATIONS.slice(0, 4)) {
    write(portal, rows)
    await publish(portal)
  }
  const oldest = names(portal).at(-1) as string
  cpSync(path.join(home, oldest), path.join(portal, 'oldest'), { recursive: true })
  write(portal, GENERATIONS[4] ?? [])
  await publish(portal)
  t.notOk(existsSync(path.join(home, oldest)), 'the oldest of five is removed')
  // It died after the new version was in force, and before the oldest was removed; another died while it prepared one.
  for (const name of [oldest, 'preparing-4194305-x'])
    cpSync(path.join(portal, 'oldest'), path.join(home, name), { recursive: true })
  // One died between writing the name of its version and putting it in force; one that is alive is about to.
  const alive = `current.${processName(process.ppid)}.new`
  // Processes of other containers, which may have the same id: one has changed its files just now, one an hour ago.
  const [elsewhere, silent] = [
    `preparing-00000000.${process.pid}.1-x`,
    `preparing-00000000.${process.pid}.2-x`,
  ]
  // The process with this id began at another time.
  const [again = '', start = ''] = /^(.*)\.(\d+)$/.exec(processName(process.ppid))?.slice(1) ?? []
  const earlier = `current.${again}.${Number(start) - 1}.new`
  for (const name of ['current.4194305.new', 'current.new', alive, earlier])
    writeFileSync(path.join(home, name), 'x\n')
  for (const name of [elsewhere, silent]) mkdirSync(path.join(home, name))
  utimesSync(path.join(home, silent), 1, 1)
  // Two died, or are, between the name of a version and the file current.
  const never = { 'zzzzzzzz-dead': '00000000.1.1', 'zzzzzzzz-alive': processName(process.ppid) }
  for (const [version, owner] of Object.entries(never)) {
    cpSync(path.join(portal, 'oldest'), path.join(home, version), { recursive: true })
    const file = path.join(home, version, 'manifest.json')
    const manifest = { ...JSON.parse(readFileSync(file, 'utf8')), version, published: '2099-01-01T00:00:00Z' }
    writeFileSync(file, JSON.stringify(manifest))
    writeFileSync(path.join(home, version, 'pending'), owner)
    utimesSync(path.join(home, version, 'pending'), 1, 1)
  }
  const others = path.join(portal, 'data/others')
  mkdirSync(others)
  writeFileSync(path.join(others, 'dataset.yaml'), 'source: { path: others.csv }\n')
  writeFileSync(path.join(others, 'others.csv'), 'nr\n1\n')
  const retained = names(portal)
  const reports = await publishReports(portal, {
    base: BASE,
    keepVersions: 4,
    now: () => new Date(clock),
    parallel: { threads: 2, memory: 2 ** 30 },
  })
  t.ok(reports.some(({ type, dataset }) => type === 'unchanged' && dataset === 'trees'))
  t.same(
    readdirSync(home)
      .filter(name => name.includes('-'))
      .sort(),
    [...retained, elsewhere, 'zzzzzzzz-alive'].sort(),
    'four versions and what others prepare',
  )
  t.same(names(portal), retained, 'what was never in force is no version')
  t.same(
    readdirSync(home).filter(name => name.endsWith('.new')),
    [alive],
  )
})

t.test(
  'versions of an earlier format that is readable stay when the version in force is published again',
  async t => {
    const portal = temporaryFolder(t, { 'portal.yaml': '' })
    for (const rows of GENERATIONS.slice(0, 3)) {
      write(portal, rows)
      await publish(portal)
    }
    const [last = '', middle = '', first = ''] = names(portal)
    const home = path.join(portal, 'var/published/trees')
    const other = [8, 9].find(format => format !== VERSION_FORMAT)
    const formats = { [last]: other, [middle]: other, [first]: 1 }
    for (const [version, format] of Object.entries(formats)) {
      const file = path.join(home, version, 'manifest.json')
      writeFileSync(
        file,
        JSON.stringify({ ...readManifestFile(versionsOf(portal), 'trees', version), format }),
      )
      rmSync(path.join(home, version, 'facts.columns'), { force: true })
    }
    t.match(await publish(portal), [{ type: 'published' }], 'the version in force is published again')
    const [again, ...older] = names(portal)
    t.not(again, last)
    t.same(older, [last, middle], 'those of a format that is not readable are gone')
    t.notOk(existsSync(path.join(home, first)))
    const { app, get } = await serve(t, portal)
    for (const [version, rows] of [
      [last, GENERATIONS[2]],
      [middle, GENERATIONS[1]],
    ] as const)
      t.equal((await get(`${EXPLORE}/records?version=${version}`)).json().total_count, rows?.length)
    await app.close()
    clock += 3_600_000
    const context = { versions: versionsOf(portal, 4), base: BASE, now: () => new Date(clock) }
    t.equal((await rollBack('trees', middle, context)).format, VERSION_FORMAT)
    t.match(await publish(portal), [{ type: 'unchanged' }], 'one that is in force again stays so')
  },
)

t.test('OData of an older version is described by the metadata of that version', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': '' })
  const rows = GENERATIONS[0] ?? []
  write(portal, rows)
  await publish(portal)
  const changed = YAML.replace('name: nr, type: int', 'name: nr, type: text')
  write(portal, rows, changed)
  t.match(await publish(portal), [{ type: 'published' }])
  const [now = '', before = ''] = names(portal)
  const { get } = await serve(t, portal)
  const root = `${BASE}/api/odata`
  const v3 = { maxdataserviceversion: '3.0' }
  for (const [version, expected, absent] of [
    [before, '<Property Name="nr" Type="Edm.Int', '<Property Name="nr" Type="Edm.String"'],
    [now, '<Property Name="nr" Type="Edm.String"', '<Property Name="nr" Type="Edm.Int'],
  ] as const) {
    const page = (await get(`/api/odata/trees?$top=1&version=${version}`)).json()
    const [context = '', fragment] = page['@odata.context'].split('#')
    t.equal(context, `${root}/$metadata?dataset=trees&version=${version}`)
    t.equal(fragment, 'trees')
    for (const headers of [{}, v3]) {
      const { body, headers: answered } = await get(context.slice(BASE.length), headers)
      t.ok(body.includes(expected))
      t.notOk(body.includes(absent))
      t.ok(answered['memento-datetime'])
    }
    const address = `trees('${page.value[0].recordid}')?version=${version}`
    const cases: readonly (readonly [string, Record<string, string>, string])[] = [
      ['application/json;odata.metadata=full', {}, `"@odata.readLink":"${root}/${address}"`],
      ['application/json;odata=verbose', v3, `"uri":"${root}/${address}"`],
      ['application/json;odata=fullmetadata', v3, `"odata.id":"${root}/${address}"`],
      ['application/json;odata=fullmetadata', v3, `"odata.editLink":"${address}"`],
      ['application/atom+xml', {}, `href="${address}"`],
      ['application/atom+xml', {}, `<id>${root}/${address}</id>`],
    ]
    for (const [accept, headers, part] of cases) {
      const { body } = await get(`/api/odata/trees?$top=1&version=${version}`, { accept, ...headers })
      t.ok(body.includes(part), `${accept}: ${part}`)
    }
    t.ok((await get(`/api/odata/trees/$ref?$top=1&version=${version}`)).body.includes(`${root}/${address}`))
    t.equal((await get(`/api/odata/${address}`)).status, 200)
  }
  t.equal((await get('/api/odata/$metadata?dataset=trees&version=x')).status, 404)
  t.equal((await get('/api/odata/trees?$top=1')).json()['@odata.context'], `${root}/$metadata#trees`)
})

t.test('pages of OData go on in the version of the first page', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': '' })
  const [rows = [], ...later] = GENERATIONS
  write(portal, rows)
  await publish(portal)
  const { app, get } = await serve(t, portal)
  const formats: readonly (readonly [accept: string, headers: Record<string, string>])[] = [
    ['application/json', {}],
    ['application/json;odata=verbose', { maxdataserviceversion: '3.0' }],
    ['application/json', { maxdataserviceversion: '2.0' }],
    ['application/atom+xml', {}],
  ]
  const page = (url: string, [accept, headers]: (typeof formats)[number]) =>
    get(url, { ...headers, accept, prefer: 'maxpagesize=10' })
  const first = '/api/odata/trees?$filter=nr gt 0&$orderby=name'.replaceAll(' ', '%20')
  const nextOf = (body: string) => {
    const [link = ''] = /http:[^"]*snapshot=[\w-]+&(?:amp;)?\$skiptoken=\d+/.exec(body) ?? []
    return link.replaceAll('&amp;', '&').slice(BASE.length)
  }
  const links = await Promise.all(formats.map(async each => nextOf((await page(first, each)).body)))
  const second = await Promise.all(formats.map((each, at) => page(links[at] ?? '', each)))
  for (const [at, next] of later.entries()) {
    write(portal, next)
    await publish(portal)
    await app.catalog.refresh()
    for (const [format, each] of formats.entries()) {
      const { status, body, headers } = await page(links[format] ?? '', each)
      if (at === 3) {
        t.equal(status, 410, 'a version that is not retained')
        t.match(body, 'no longer retained')
      } else {
        t.same([status, body], [200, second[format]?.body], 'as if nothing had been published')
        t.equal(headers.etag, second[format]?.headers.etag)
      }
    }
  }
  const [json] = formats as [(typeof formats)[number]]
  const old = names(portal).at(-1)
  const { '@odata.nextLink': older } = (await page(`${first}&version=${old}`, json)).json()
  t.notOk(older.includes('snapshot='), 'a requested version is kept as it is')
  t.equal((await page('/api/odata/trees?snapshot=mine', json)).status, 200, 'an option of a client')
  t.equal((await page('/api/odata/trees?$skiptoken=10', json)).status, 200, 'no version is named')
})

t.test('Memento: TimeGates, mementos and TimeMaps', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': '' })
  const begun = clock
  for (const rows of GENERATIONS.slice(0, 3)) {
    write(portal, rows)
    await publish(portal)
  }
  const [last = '', middle = '', first = ''] = names(portal)
  const { get } = await serve(t, portal)
  const at = (hours: number) => ({ 'accept-datetime': new Date(begun + hours * 3_600_000).toUTCString() })
  for (const url of [`${EXPLORE}/records?limit=1`, '/ld/data/trees', '/api/tpf/trees', '/api/odata/trees']) {
    for (const [hours, version] of [
      [0.5, first],
      [1, first],
      [1.5, first],
      [2.5, middle],
      [900, last],
    ] as const) {
      const semaphore = await get(url, at(hours))
      t.equal(semaphore.status, 302, url)
      t.match(semaphore.headers.location, `version=${version}`, `${hours} hours after the beginning`)
      t.match(String(semaphore.headers.vary), /Accept-Datetime/i)
      t.notOk(semaphore.headers['memento-datetime'])
      const memento = await get(String(semaphore.headers.location), {
        accept: 'application/json,text/turtle;q=0.5',
      })
      t.equal(memento.status, 200)
      const published = begun + ([first, middle, last].indexOf(version) + 1) * 3_600_000
      t.equal(memento.headers['memento-datetime'], new Date(published).toUTCString())
      const links = String(memento.headers.link)
      t.match(links, `<${BASE}${url}>; rel="original timegate"`)
      t.match(links, /rel="timemap"; type="application\/link-format"/)
      t.match(
        links,
        version === first ? 'rel="first memento"' : version === last ? 'rel="last memento"' : 'rel="memento"',
      )
    }
    t.match((await get(url)).headers.vary, /Accept-Datetime/i, 'who asks for no time may get another answer')
    for (const moment of ['yesterday', 'Sat, 31 Feb 2026 10:00:00 GMT', 'Mon, 20 Jan 2026 09:30:00 GMT'])
      t.equal((await get(url, { 'accept-datetime': moment })).status, 400, moment)
  }
  const map = await get(
    `/api/versions/trees/timemap?uri=${encodeURIComponent(`${BASE}${EXPLORE}/records?limit=1`)}`,
  )
  t.equal(map.headers['content-type'], 'application/link-format')
  t.same(
    [...map.body.matchAll(/<([^>]+)>; rel="([^"]+)"; datetime="([^"]+)"/g)].map(([, href, rel]) => [
      href,
      rel,
    ]),
    [first, middle, last].map((version, place) => [
      `${BASE}${EXPLORE}/records?limit=1&version=${version}`,
      ['first memento', 'memento', 'last memento'][place],
    ]),
  )
  const uris: readonly (readonly [string, number])[] = [
    ['http://other.test/x', 400],
    [`${BASE}/ld/resources/cities`, 400],
    [`${BASE}/ld/resources/cities/trees`, 400],
    [`${BASE}/api/odata/$metadata`, 400],
    [`${BASE}/explore/`, 400],
    [`${BASE}/api/odata/$metadata?dataset=trees`, 200],
    [`${BASE}/api/odata/trees('x')`, 200],
    [`${BASE}/ld/data/trees.ttl`, 200],
    [`${BASE}/ld/vocabulary/trees/nr`, 200],
    [`${BASE}/api/sparql/trees?query=ASK%7B%7D`, 200],
    [`${BASE}/api/v2/catalog/datasets/trees`, 200],
    [`${BASE}/api/explore/v2.0/catalog/datasets/trees/facets`, 200],
  ]
  for (const [uri, status] of uris) {
    const { status: answered } = await get(`/api/versions/trees/timemap?uri=${encodeURIComponent(uri)}`)
    t.equal(answered, status, uri)
  }
})

t.test('Memento: links have no credentials', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': '' })
  write(portal, GENERATIONS[0] ?? [])
  await publish(portal)
  const [version = ''] = names(portal)
  const { get } = await serve(t, portal)
  const url = `${EXPLORE}/records?limit=1`
  const { headers } = await get(`${url}&apikey=&version=${version}`)
  t.match(headers.link, `<${BASE}${url}>; rel="original timegate"`)
  t.notMatch(headers.link, 'apikey')
  const mapOf = (uri: string) => get(`/api/versions/trees/timemap?uri=${encodeURIComponent(BASE + uri)}`)
  t.equal((await mapOf(`${url}&apikey=x`)).body, (await mapOf(url)).body)
})

/** What a client of the event stream has after all members up to a moment: the latest version of each resource. */
async function replayed(get: Get, until: number) {
  const [TREE, RDF] = ['https://w3id.org/tree#', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#']
  const quads: Quad[] = []
  const pages = ['/api/versions/trees/ldes']
  for (const page of pages) {
    const { body, status } = await get(page, { accept: 'text/turtle' })
    if (status !== 200) throw new Error(`${page}: ${status}`)
    const found = new Parser({ blankNodePrefix: `p${pages.indexOf(page)}` }).parse(body)
    quads.push(...found)
    for (const { predicate, object } of found) {
      const next = object.value.replace(BASE, '')
      if (predicate.value === `${TREE}node` && !pages.includes(next)) pages.push(next)
    }
  }
  const one = (predicate: string) =>
    quads.find(quad => quad.predicate.value === predicate)?.object.value ?? ''
  const [timePath, ofPath] = [
    one('https://w3id.org/ldes#timestampPath'),
    one('https://w3id.org/ldes#versionOfPath'),
  ]
  const deleted = one('https://w3id.org/ldes#versionDeleteObject')
  const bySubject = new Map<string, Quad[]>()
  for (const quad of quads) {
    const own = bySubject.get(quad.subject.value) ?? []
    own.push(quad)
    bySubject.set(quad.subject.value, own)
  }
  const members = quads.filter(({ predicate }) => predicate.value === `${TREE}member`)
  const states = members.map(({ object: { value: member } }) => {
    const own = bySubject.get(member) ?? []
    const value = (predicate: string) =>
      own.find(quad => quad.predicate.value === predicate)?.object.value ?? ''
    const facts = own
      .filter(({ predicate }) => ![timePath, ofPath].includes(predicate.value))
      .map(({ predicate, object }) => `${predicate.value} ${object.value}`)
      .sort()
    const isGone = own.some(quad => quad.predicate.value === `${RDF}type` && quad.object.value === deleted)
    return { of: value(ofPath), time: Date.parse(value(timePath)), facts, isGone }
  })
  const latest = new Map<string, readonly string[]>()
  for (const { of, time, facts, isGone } of states.sort((a, b) => a.time - b.time)) {
    if (time > until) continue
    if (isGone) latest.delete(of)
    else latest.set(of, facts)
  }
  return { latest, members: members.length, pages: pages.length }
}

/** What changed from some rows to others: the counts, and fields of records with their values before and after. */
function changesOf(earlier: readonly Row[], later: readonly Row[]) {
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
  const before = new Map(earlier.map(row => [row.nr, row]))
  const after = new Map(later.map(row => [row.nr, row]))
  const changed = later.filter(row => before.has(row.nr) && !same(before.get(row.nr), row))
  const value = (each: Row | undefined, name: 'name' | 'height' | 'tags') => {
    const is = each?.[name] ?? null
    return is === '' || (Array.isArray(is) && is.length === 0) ? null : is
  }
  return {
    counts: {
      changed: changed.length,
      added: later.filter(({ nr }) => !before.has(nr)).length,
      removed: earlier.filter(({ nr }) => !after.has(nr)).length,
    },
    records: changed.map(row => {
      const old = before.get(row.nr)
      const fields = (['name', 'height', 'tags'] as const).filter(name => !same(old?.[name], row[name]))
      return { nr: row.nr, fields: fields.map(name => [name, value(old, name), value(row, name)]) }
    }),
  }
}

t.test('changes between versions, field by field, as pages, feed and event stream', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': '' })
  // As many rows as need several pages of the stream.
  const many = rowsOf(9, 1500)
  for (const rows of [...GENERATIONS, many]) {
    write(portal, rows)
    await publish(portal)
  }
  const generations = [many, ...[...GENERATIONS].reverse()].slice(0, 4)
  const kept = names(portal)
  const { get } = await serve(t, portal)

  await t.test('from each version to each other', async t => {
    for (const [from, earlier] of generations.entries())
      for (const [to, later] of generations.entries()) {
        if (from === to) continue
        const { counts, records } = changesOf(earlier, later)
        const url = `/api/versions/trees/changes?from=${kept[from]}&to=${kept[to]}`
        const found = (await get(`${url}&type=changed&limit=100`)).json()
        t.same(found.counts, counts, `from ${from} to ${to}`)
        const ids = await idsOf(get, kept[to] ?? '')
        const number = (nr: number) =>
          found.results.find((each: { recordid: string }) => each.recordid === ids.get(nr))
        for (const { nr, fields } of records.slice(0, 20))
          t.same(
            number(nr)?.fields.map((each: { name: string; before: unknown; after: unknown }) => [
              each.name,
              each.before,
              each.after,
            ]),
            fields,
          )
        const removed = (await get(`${url}&type=removed&limit=100`)).json().results
        t.ok(removed.every(({ type }: { type: string }) => type === 'removed'))
        t.equal(removed.length, Math.min(100, counts.removed))
      }
  })

  await t.test('the feed has an entry for each version', async t => {
    const feed = await get('/api/versions/trees/feed')
    t.match(feed.headers['content-type'], /application\/atom\+xml/)
    t.equal(feed.body.match(/<entry>/g)?.length, 4)
    t.match(feed.body, /Records: \d+ added, \d+ removed, \d+ changed/)
  })

  await t.test('the event stream rebuilds each version', async t => {
    for (const [at, rows] of generations.entries()) {
      const published = (await get('/api/versions/trees')).json().versions[at].published
      const { latest, pages } = await replayed(get, Date.parse(published))
      t.ok(pages > 4, 'several pages')
      const expected = new Map<string, readonly string[]>()
      const triples = await get(`${EXPLORE}/exports/n3?version=${kept[at]}`)
      for (const { subject, predicate, object } of new Parser().parse(triples.body))
        expected.set(
          subject.value,
          [...(expected.get(subject.value) ?? []), `${predicate.value} ${object.value}`].sort(),
        )
      t.equal(expected.size, rows.length)
      t.same([...latest].sort(), [...expected].sort(), `the stream rebuilds the version ${at} versions ago`)
    }
  })

  await t.test('versions, kinds and pages that there are not', async t => {
    t.equal((await get('/api/versions/trees/changes?from=x')).status, 404)
    t.equal((await get('/api/versions/trees/changes?type=x')).status, 400)
    t.equal((await get('/api/versions/trees/ldes/x/1')).status, 404)
    t.equal((await get(`/api/versions/trees/ldes/${kept[0]}/99`)).status, 404)
  })

  await t.test('the page of versions', async t => {
    const page = await get(`/explore/dataset/trees/versions/?from=${kept[3]}&to=${kept[0]}`)
    t.equal(page.status, 200)
    t.match(page.body, kept[2])
    t.match(page.body, 'height')
    t.match(
      (await get('/explore/dataset/trees/versions/?lang=de&page=9999')).body,
      'scope="rowgroup"',
      'the last',
    )
  })
})

async function idsOf(get: Get, version: string) {
  const triples = await get(`${EXPLORE}/exports/n3?version=${version}`)
  const ids = new Map<number, string>()
  for (const { subject, predicate, object } of new Parser().parse(triples.body))
    if (predicate.value.endsWith('/nr')) ids.set(Number(object.value), subject.value.slice(-40))
  return ids
}

t.test('a clock that was set back does not change the order of the versions', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': '' })
  const versions = versionsOf(portal, 4)
  const published: string[] = []
  const now = clock
  for (const [at, rows] of GENERATIONS.entries()) {
    if (at === 2) clock -= 86_400_000
    write(portal, rows)
    await publish(portal)
    published.unshift(currentVersion(versions, 'trees') ?? '')
    t.same(names(portal), published.slice(0, 4))
  }
  const { restored } = await rollBack('trees', null, { versions, base: BASE, now: () => new Date(clock) })
  t.equal(restored?.version, published[1], 'a roll-back is to the version before')
  clock = now + 86_400_000
})

t.test('roll-back', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': '' })
  const versions = versionsOf(portal, 4)
  const [first = [], second = []] = GENERATIONS
  for (const rows of [first, second]) {
    write(portal, rows)
    await publish(portal)
  }
  const [, oldest = ''] = names(portal)
  const { app, get } = await serve(t, portal)
  const total = async (query = '') => (await get(`${EXPLORE}/records?limit=0${query}`)).json().total_count
  const back = async (version: string | null) => {
    clock += 3_600_000
    return rollBack('trees', version, { versions, base: BASE, now: () => new Date(clock) })
  }
  const restored = await back(null)
  t.equal(restored.restored?.version, oldest)
  await app.catalog.refresh()
  t.equal(await total(), first.length, 'the records of before')
  t.equal(await total(`&version=${oldest}`), first.length, 'beside the version that they are of')
  t.match(await publish(portal), [{ type: 'unchanged' }], 'it stays while the files are as they were')
  t.equal(names(portal)[0], restored.version)
  await back(null)
  await app.catalog.refresh()
  t.equal(await total(), second.length, 'and forth')
  await back(oldest)
  t.match(await publish(portal), [{ type: 'unchanged' }])
  t.match(await publish(portal, ['trees']), [{ type: 'published' }], 'publishing by name ends it')
  await app.catalog.refresh()
  t.equal(await total(), second.length)
  await back(names(portal)[1] ?? '')
  write(portal, first.slice(1))
  t.match(await publish(portal), [{ type: 'published' }], 'and so does another source')
  await app.catalog.refresh()
  t.equal(await total(), first.length - 1)
  for (const version of names(portal))
    t.equal((await get(`${EXPLORE}/records?version=${version}`)).status, 200, 'all that are kept')
  await t.rejects(back('nothing'), { code: 'VersionUnknown' })
  await t.rejects(back(names(portal)[0] ?? ''), { code: 'BadRequest' })
  await t.rejects(rollBack('none', null, { versions, base: BASE, now: () => new Date() }), {
    code: 'NotFoundResource',
  })
  const shown = await lodestone(['versions', 'trees', '--portal', portal, '--json'])
  t.equal(JSON.parse(shown.stdout)[0].in_force, true)
  const done = await lodestone(['rollback', 'trees', '--portal', portal, '--base', BASE, '--json'])
  t.equal(JSON.parse(done.stdout).dataset, 'trees')
  t.match(historyOf(portal, 'trees'), [{ action: 'roll back' }])
  t.equal((await lodestone(['rollback', 'trees', 'x', '--portal', portal, '--base', BASE])).code, 1)
  const [inForce] = names(portal)
  writeFileSync(path.join(portal, 'portal.yaml'), 'store: http://127.0.0.1:1\n')
  const refused = await lodestone(['rollback', 'trees', '--portal', portal, '--base', BASE])
  t.match(refused, { code: 1, stderr: /no engine answers at http:\/\/127\.0\.0\.1:1/ })
  t.equal(names(portal)[0], inForce, 'nothing is rolled back where the store is away')
})

t.test('what is saved is published, though an older version is put in force meanwhile', async t => {
  const portal = temporaryFolder(t, {
    'portal.yaml': '',
    data: { numbers: { 'dataset.yaml': 'source: { path: n.csv }\n' } },
  })
  const versions = versionsOf(portal)
  const now = () => new Date(clock)
  const publishRows = (count: number, onProgress = () => {}) => {
    writeFileSync(path.join(portal, 'data/numbers/n.csv'), `n\n${'1\n'.repeat(count)}`)
    clock += 3_600_000
    return publishDataset('numbers', { portal, base: BASE, versions, now, onProgress })
  }
  await publishRows(1)
  await publishRows(2)
  let rolledBack: ReturnType<typeof rollBack> | null = null
  const published = await publishRows(20_000, () => {
    clock += 1000
    rolledBack ??= rollBack('numbers', null, { versions, base: BASE, now })
  })
  t.match(await rolledBack, { statistics: { records: 1 } })
  t.match(published, { type: 'published', manifest: { statistics: { records: 20_000 } } })
  const counts = retainedVersions(versions, 'numbers').map(({ statistics }) => statistics.records)
  t.same(counts, [20_000, 1, 2, 1])
})

t.test('older versions whose files are damaged later are refused, and not put in force', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': '' })
  for (const rows of GENERATIONS.slice(0, 3)) {
    write(portal, rows)
    await publish(portal)
  }
  const [later = '', changed = '', truncated = ''] = names(portal)
  const { get } = await serve(t, portal)
  const triplesOf = (version: string) => path.join(portal, 'var/published/trees', version, 'facts.nt.gz')
  truncateSync(triplesOf(truncated))
  writeFileSync(triplesOf(changed), Buffer.alloc(statSync(triplesOf(changed)).size, 'x'))
  for (const [version, status] of [
    [truncated, 404],
    [changed, 410],
    [later, 200],
  ] as const)
    for (const url of [
      `${EXPLORE}/records?`,
      '/api/sparql/trees?query=ASK%7B%7D&',
      '/api/versions/trees/changes?from=',
    ])
      t.equal((await get(`${url}${url.endsWith('from=') ? '' : 'version='}${version}`)).status, status, url)
  const versions = versionsOf(portal, 4)
  for (const version of [truncated, changed])
    await t.rejects(rollBack('trees', version, { versions, base: BASE, now: () => new Date() }), {
      code: 'Gone',
      message: `The version ${version} of trees can no longer be read: facts.nt.gz has `,
    })
  t.equal(names(portal)[0], later)
})

t.test('an older mapping, and versions that were not public', async t => {
  const mapping = (name: string) =>
    `prefixes: { ex: 'http://ex.test/' }\nmappings:\n  tree:\n    subject: portal:trees/tree/$(nr)\n    predicateobjects:\n      - [ex:${name}, $(name)]\n`
  const portal = temporaryFolder(t, { 'portal.yaml': '', mappings: { 'trees.yml': mapping('first') } })
  const rows = rowsOf(7, 20).map(row => ({ ...row, name: 'x' }))
  write(portal, rows, `${YAML}visibility: restricted\n`)
  await publish(portal)
  write(portal, rows)
  await publish(portal)
  writeFileSync(path.join(portal, 'mappings/trees.yml'), mapping('second'))
  await publish(portal)
  const [last = '', open = '', restricted = ''] = names(portal)
  const { get } = await serve(t, portal)
  for (const [version, name] of [
    [last, 'second'],
    [open, 'first'],
  ] as const) {
    const { body } = await get(`/api/tpf/trees?version=${version}`, { accept: 'application/n-triples' })
    t.match(body, `http://ex.test/${name}`, 'the triples of the mapping of then')
  }
  const none = (await get(`/api/versions/trees/changes?from=${open}&to=${last}`)).json()
  t.same(none.counts, { added: 0, removed: 0, changed: 0 })
  t.equal((await get(`${EXPLORE}/records?version=${restricted}`)).status, 404)
  for (const url of [
    '/api/versions/trees',
    '/api/versions/trees/timemap',
    '/api/versions/trees/feed',
    `${EXPLORE}/records?version=none`,
    '/api/sparql/trees?version=none',
  ])
    t.notMatch((await get(url)).body, restricted, 'nobody is told of it')
  t.ok(existsSync(path.join(portal, 'var/published/trees', restricted)))
})

t.test('a roll-back opens nothing that is restricted, and nothing that was', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': '' })
  const versions = versionsOf(portal, 4)
  let clock = Date.now()
  const back = async (version: string | null) => {
    clock += 1000
    await rollBack('trees', version, { versions, base: BASE, now: () => new Date(clock) })
    return currentManifest(versions, 'trees')?.dataset.visibility
  }
  write(portal, rowsOf(7, 3))
  await publish(portal)
  write(portal, rowsOf(8, 3), `${YAML}visibility: restricted\n`)
  await publish(portal)
  t.equal(await back(null), 'restricted')
  write(portal, rowsOf(9, 3))
  await publish(portal)
  t.equal(currentManifest(versions, 'trees')?.dataset.visibility, 'public')
  t.equal(await back(null), 'restricted', 'the version before was for those who were granted it')
})

t.test('a dataset is restricted at once, also where its source cannot be read', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': '' })
  const restricted = `${YAML}visibility: restricted\n`
  const visibility = () => currentManifest(versionsOf(portal), 'trees')?.dataset.visibility
  write(portal, rowsOf(7, 3))
  await publish(portal)
  const { app, get } = await serve(t, portal)
  const file = path.join(portal, 'data/trees/trees.json')
  const source = readFileSync(file, 'utf8')
  writeFileSync(path.join(portal, 'data/trees/dataset.yaml'), restricted)
  writeFileSync(file, '[{"nr":')
  const [failed] = await publishReports(portal)
  t.equal(failed?.type, 'failed')
  await app.catalog.refresh()
  t.equal((await get(`${EXPLORE}/records`)).status, 401)
  t.equal(visibility(), 'restricted')
  t.equal(names(portal).length, 2)
  t.equal((await publishReports(portal))[0]?.type, 'failed')
  t.equal(names(portal).length, 2, 'once')
  writeFileSync(file, source)
  t.equal((await publishReports(portal))[0]?.type, 'published', 'as soon as its source is read')
  t.equal(visibility(), 'restricted')
  write(portal, rowsOf(7, 3))
  await publish(portal)
  t.equal(visibility(), 'public')
})
