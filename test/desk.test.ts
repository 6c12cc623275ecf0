import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { Fault, SOURCE_UNREADABLE } from '../src/errors/errors.ts'
import { zip } from '../src/formats/zip-stream.ts'
import { hangUpSignal } from '../src/http/client-budget.ts'
import { ANONYMOUS, type Principal } from '../src/model/principal.ts'
import { definedDatasets } from '../src/publishing/definition.ts'
import { Desk } from '../src/publishing/management/desk.ts'
import { type PublicationState, Publications } from '../src/publishing/publication-state.ts'
import { failureOf } from '../src/publishing/publish.ts'
import { currentVersion, versionsOf } from '../src/publishing/versions/versions.ts'
import { processName } from '../src/runtime/processes.ts'
import { temporaryFolder } from './support/folder.ts'
import { publishPortal } from './support/portal.ts'
import { scriptArguments } from './support/script.ts'

/** The operations of publishers on a portal folder, without a server. */
const person = (...grants: readonly string[]): Principal => ({
  type: 'user',
  id: 1,
  name: 'ann',
  grants: new Set(grants),
  quota: null,
  by: 'key',
})
const ANN = person('publish:*')
const YAML = 'source: { path: a.csv }\nmetas: { default: { title: Trees } }\nvisibility: public\n'

function deskOf(t: Test, of: () => PublicationState | null = () => null) {
  const portal = temporaryFolder(t, {
    'portal.yaml': '',
    data: { trees: { 'dataset.yaml': YAML, 'a.csv': 'a,b\n1,x\n' }, files: { 'a.csv': 'a\n1\n' } },
  })
  const done: string[] = []
  const pending: (() => void)[] = []
  const desk = new Desk({
    portal,
    base: 'http://portal.example',
    versions: versionsOf(portal),
    now: () => Date.parse('2026-01-02T03:04:05Z'),
    uploadLimit: 300,
    publications: { of, forget: id => done.push(`forget ${id}`) },
    publish: id => {
      done.push(`publish ${id}`)
      return new Promise(resolve => pending.push(resolve))
    },
    refresh: async () => done.push('refresh'),
    shared: null,
  })
  const published = async () => {
    for (const resolve of pending.splice(0)) resolve()
    await sleep(0)
  }
  const actions = (id: string) => desk.history(ANN, id).map(({ action }) => action)
  const upload = (id: string, name: string, text: string) =>
    desk.upload(ANN, id, { name, stream: Readable.from([text]) })
  return { desk, portal, done, published, actions, upload }
}

t.test('every operation asks for the right to publish', async t => {
  const { desk } = deskOf(t)
  const operations: Readonly<Record<string, (by: Principal) => unknown>> = {
    dataset: by => desk.dataset(by, 'trees'),
    definition: by => desk.definition(by, 'trees'),
    digest: by => desk.digest(by, 'trees', 'definition'),
    create: by => desk.create(by, 'new', null),
    createRemote: by => desk.createRemote(by, 'new', 'http://x.example/a.csv', null),
    upload: by => desk.upload(by, 'trees', { name: 'a.csv', stream: Readable.from(['']) }),
    change: by => desk.change(by, 'trees', { visibility: 'restricted' }),
    mapping: by => desk.mapping(by, 'trees'),
    changeMapping: by => desk.changeMapping(by, 'trees', null),
    preview: by => desk.preview(by, 'trees', 1),
    inspect: by => desk.inspect(by, 'trees', { format: null, options: {} } as never),
    check: by => desk.check(by, 'trees'),
    publish: by => desk.publish(by, 'trees'),
    withdraw: by => desk.withdraw(by, 'trees'),
    rollBack: by => desk.rollBack(by, 'trees', null),
    discard: by => desk.discard(by, 'trees'),
    remove: by => desk.remove(by, 'trees'),
    status: by => desk.status(by, 'trees'),
    history: by => desk.history(by, 'trees'),
  }
  for (const [name, operation] of Object.entries(operations))
    for (const [by, code] of [
      [ANONYMOUS, 'Unauthorised'],
      [person('trees', 'publish:other'), 'ForbiddenAccess'],
      [{ ...ANN, by: 'token' } as Principal, 'ForbiddenAccess'],
    ] as const)
      await t.rejects(async () => operation(by), { code }, `${name}: ${code}`)
  t.same(
    [ANN, person('publish:trees'), person('publish:other'), ANONYMOUS].map(by => desk.ids(by)),
    [['trees'], ['trees'], [], []],
    'files without a description are not at the desk',
  )
})

t.test('datasets that are not there, or there already', async t => {
  const { desk, upload } = deskOf(t)
  t.throws(() => desk.dataset(ANN, 'none'), { code: 'NotFoundResource' })
  t.throws(() => desk.dataset(ANN, '../trees'), { code: 'NotFoundResource' })
  t.throws(() => desk.create(ANN, 'trees', null), { code: 'Conflict' })
  desk.create(ANN, 'new', 'A title')
  t.throws(() => desk.create(ANN, 'new', null), { code: 'Conflict' })
  t.match(desk.dataset(ANN, 'new'), {
    title: 'A title',
    state: 'draft',
    hasDraft: true,
    visibility: 'restricted',
  })
  t.equal(new Desk(desk.options).dataset(ANN, 'new').title, 'A title', 'after a restart, too')
  await t.rejects(desk.change(ANN, 'new', { visibility: 'public' }), {
    code: 'Conflict',
    message: /upload a file/,
  })
  await t.rejects(desk.publish(ANN, 'new'), {
    code: 'BadRequest',
    message: /has no source yet: upload a file/,
  })
  await upload('new', 'b.csv', 'a\n1\n')
  t.match(desk.dataset(ANN, 'new'), { title: 'A title' }, 'the file is described with it')
  await t.rejects(desk.withdraw(ANN, 'trees'), { code: 'NotFoundResource' }, 'it is not published')
})

t.test('changes gather in a draft, and can be discarded', async t => {
  const { desk, portal, actions } = deskOf(t)
  const own = () => readFileSync(path.join(portal, 'data/trees/dataset.yaml'), 'utf8')
  await desk.change(ANN, 'trees', { visibility: 'public' })
  t.same(actions('trees'), [], 'what is so already is no change')
  await t.rejects(desk.change(ANN, 'trees', { visibility: 'secret' } as never), { code: 'BadRequest' })
  desk.changeMapping(ANN, 'trees', null)
  t.match(desk.dataset(ANN, 'trees'), { hasDraft: false }, 'nor is what was refused')
  await desk.change(ANN, 'trees', { visibility: 'restricted' })
  t.equal(own(), YAML)
  t.match(desk.dataset(ANN, 'trees'), { hasDraft: true, visibility: 'restricted', state: 'unpublished' })
  await t.rejects(desk.change(ANN, 'trees', { source: { module: 'fs' } }), {
    code: 'BadRequest',
    message: /module/,
  })
  await t.rejects(desk.change(ANN, 'trees', { visibility: 'secret' } as never), { code: 'BadRequest' })
  t.equal(desk.mapping(ANN, 'trees'), null)
  desk.changeMapping(ANN, 'trees', 'mappings: {}\n')
  t.equal(desk.mapping(ANN, 'trees'), 'mappings: {}\n')
  desk.changeMapping(ANN, 'trees', null)
  t.equal(desk.mapping(ANN, 'trees'), null)
  desk.discard(ANN, 'trees')
  t.match(desk.dataset(ANN, 'trees'), { hasDraft: false, visibility: 'public' })
  t.same(actions('trees'), ['update', 'update', 'update'])
})

t.test('uploads have a limit, and a new one that fails leaves nothing', async t => {
  const { desk, upload } = deskOf(t)
  await t.rejects(upload('large', 'a.csv', 'x'.repeat(301)), { code: 'ContentTooLarge' })
  t.throws(() => desk.dataset(ANN, 'large'), { code: 'NotFoundResource' })
  t.match(await upload('trees', 'b.csv', 'a\n1\n'), { name: 'b.csv', bytes: 4 })
  await t.rejects(desk.createRemote(ANN, 'far', 'http://x.example/a.csv', 'often'), {
    code: 'BadRequest',
    message: /is no schedule/,
  })
  await t.rejects(desk.createRemote(ANN, 'far', 'nothing', null), { code: 'BadRequest' })
  t.throws(() => desk.dataset(ANN, 'far'), { code: 'NotFoundResource' })
})

t.test('a preview leaves out the rows that publishing leaves out', async t => {
  const { desk, upload } = deskOf(t)
  await upload('towns', 'towns.csv', 'town,n\nA,1\nB,2\nC,3\nTotal,6\n\n* estimated\n')
  const { records, examined, fields } = await desk.preview(ANN, 'towns', 10)
  t.strictSame(records, [
    ['A', 1],
    ['B', 2],
    ['C', 3],
  ])
  t.match([examined, fields[1]], [3, { examples: [1, 2, 3], conversionErrors: null }])
})

t.test('an upload whose client left is given up, and changes nothing', async t => {
  const { desk, portal } = deskOf(t)
  for (const [id, name, text] of [
    ['left', 'left.csv', 'a\n1\n'],
    ['left', 'left.json', '[{"a":1}]'],
    ['trees', 'left.csv', 'a\n1\n'],
  ] as const) {
    const controller = new AbortController()
    const pieces = async function* () {
      yield Buffer.from(text)
      controller.abort()
    }
    const given = { name, stream: Readable.from(pieces()), signal: controller.signal }
    await t.rejects(desk.upload(ANN, id, given), { name: 'AbortError' }, name)
  }
  t.throws(() => desk.dataset(ANN, 'left'), { code: 'NotFoundResource' })
  t.notOk(existsSync(path.join(portal, 'var/drafts/trees/data/trees/left.csv')))
  t.match(desk.dataset(ANN, 'trees'), { title: 'Trees' })
})

t.test('what happens to a dataset while a file arrives is kept', async t => {
  const { desk, portal, upload, published } = deskOf(t)
  const during = (id: string, text: string, work: () => unknown, signal?: AbortSignal) => {
    const pieces = async function* () {
      yield Buffer.from(text.slice(0, 3))
      await work()
      yield Buffer.from(text.slice(3))
    }
    return desk.upload(ANN, id, {
      name: 'a.csv',
      stream: Readable.from(pieces()),
      ...(signal === undefined ? {} : { signal }),
    })
  }
  const source = async (id: string) => (await desk.preview(ANN, id, 1)).records[0]

  const controller = new AbortController()
  const again = async () => {
    await upload('new', 'a.csv', 'a,b\n2,again\n')
    controller.abort()
  }
  await t.rejects(during('new', 'a,b\n1,first\n', again, controller.signal), { name: 'AbortError' })
  t.same(await source('new'), [2, 'again'], 'the upload that was repeated stays')

  await upload('trees', 'a.csv', 'a,b\n3,draft\n')
  await during('trees', 'a,b\n4,late\n', () => desk.publish(ANN, 'trees'))
  await published()
  t.equal(readFileSync(path.join(portal, 'data/trees/a.csv'), 'utf8'), 'a,b\n3,draft\n')
  t.same(await source('trees'), [4, 'late'], 'in a draft of its own, after the publication')
  await during('trees', 'a,b\n5,last\n', () => desk.discard(ANN, 'trees'))
  t.same(await source('trees'), [5, 'last'])

  const changing: Promise<void>[] = []
  const isTruncated = () => {
    changing.push(desk.change(ANN, 'trees', { metas: { default: { title: 'Old trees' } } }))
    return changing.length === 0
  }
  await desk.upload(ANN, 'trees', { name: 'a.csv', stream: Readable.from(['a,b\n6,read\n']), isTruncated })
  await Promise.all(changing)
  t.equal(desk.dataset(ANN, 'trees').title, 'Old trees', 'while the file is read')
  t.same(await source('trees'), [6, 'read'])
  t.same(readdirSync(path.join(portal, 'var/uploads')), [])
  const [running, dead] = [process.pid, 2 ** 30].map(pid =>
    path.join(portal, 'var/uploads', processName(pid)),
  )
  for (const folder of [running, dead]) mkdirSync(String(folder))
  new Desk(desk.options)
  t.same(
    [existsSync(String(running)), existsSync(String(dead))],
    [true, false],
    'of a process that was killed',
  )
})

t.test('a client that leaves before its answer is noticed', async t => {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const aborted = async (act: (socket: Socket, response: ServerResponse) => void) => {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    socket.resume()
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
    const signal = hangUpSignal(response)
    act(socket, response)
    await once(response, 'close')
    return signal.aborted
  }
  t.equal(await aborted(socket => socket.destroy()), true)
  t.equal(await aborted((_, response) => response.end('done')), false)
})

t.test('credentials stay with the host and the variable of dataset.yaml in force', async t => {
  const { desk, portal } = deskOf(t)
  const url = 'https://city.example/a.csv'
  const authorization = 'SOURCE_AUTH_CITY'
  const yaml = `source: { url: '${url}', authorization: ${authorization} }\nmetas: { default: { title: City } }\n`
  mkdirSync(path.join(portal, 'data/city'))
  writeFileSync(path.join(portal, 'data/city/dataset.yaml'), yaml)
  const changes: readonly (readonly [
    id: string,
    source: Readonly<Record<string, string>>,
    isTaken: boolean,
  ])[] = [
    ['trees', { url, authorization }, false],
    ['city', { url: 'https://mine.example/a.csv', authorization }, false],
    ['city', { url: 'http://city.example/a.csv', authorization }, false],
    ['city', { url: 'https://city.example:8443/a.csv', authorization }, false],
    ['city', { url, authorization: 'SOURCE_AUTH_OTHER' }, false],
    ['city', { url: 'https://city.example/b.csv', authorization }, true],
    ['city', { url: 'https://mine.example/a.csv' }, true],
    ['city', { url, authorization }, true],
  ]
  for (const [id, source, isTaken] of changes) {
    const name = `${id} ${JSON.stringify(source)}`
    if (isTaken) await t.resolves(desk.change(ANN, id, { source }), name)
    else
      await t.rejects(
        desk.change(ANN, id, { source }),
        { code: 'BadRequest', message: /^authorization sends a secret/ },
        name,
      )
  }
  await t.resolves(desk.change(ANN, 'city', { visibility: 'restricted' }), 'what is kept is no change')
  const draft = path.join(portal, 'var/drafts/city/data/city/dataset.yaml')
  writeFileSync(draft, yaml.replace('city.example', 'mine.example'))
  for (const operation of [
    async () => void (await desk.preview(ANN, 'city', 1)),
    () => desk.publish(ANN, 'city'),
  ])
    await t.rejects(operation, { code: 'BadRequest', message: /^authorization/ }, 'nor in older drafts')
})

t.test('an upload replaces the source, and no other data', async t => {
  const { desk, portal, upload } = deskOf(t)
  mkdirSync(path.join(portal, 'data/att'))
  const files = {
    'dataset.yaml':
      'source: { path: ./x.csv }\nmetas: { default: { title: A } }\nattachments: [{ path: codes.csv }]\n',
    'x.csv': 'a\n1\n',
    'codes.csv': 'c\n1\n',
    'codes-2.csv': 'c\n2\n',
    'packed.csv.gz': '',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(portal, 'data/att', name), text)
  writeFileSync(path.join(portal, 'data/loose.csv'), 'a\n1\n')
  const uploads: readonly (readonly [given: string, stored: string])[] = [
    ['x.csv', 'x.csv'],
    ['codes.csv', 'codes-3.csv'],
    ['codes.csv', 'codes-3.csv'],
    ['codes-3.csv', 'codes-3.csv'],
    ['new.csv', 'new.csv'],
  ]
  for (const [given, stored] of uploads) {
    t.equal((await upload('att', given, 'a\n9\n')).name, stored, given)
    t.equal(desk.definition(ANN, 'att')?.source.path, stored)
  }
  const packed = gzipSync('a\n9\n')
  const stored = await desk.upload(ANN, 'att', { name: 'packed.csv.gz', stream: Readable.from([packed]) })
  t.equal(stored.name, 'packed-2.csv.gz')
  await desk.publish(ANN, 'att')
  for (const name of ['codes.csv', 'codes-2.csv', 'packed.csv.gz'] as const)
    t.equal(readFileSync(path.join(portal, 'data/att', name), 'utf8'), files[name], name)
  for (const id of ['files', 'loose']) {
    t.ok(desk.taken().has(id), `${id} has data, though no dataset.yaml`)
    t.throws(() => desk.create(ANN, id, null), { code: 'Conflict' })
    await t.rejects(upload(id, 'a.csv', 'b\n2\n'), { code: 'Conflict', message: /no dataset\.yaml/ })
    t.throws(() => desk.dataset(ANN, id), { code: 'NotFoundResource' }, 'no draft is left')
  }
  t.equal(readFileSync(path.join(portal, 'data/files/a.csv'), 'utf8'), 'a\n1\n')
})

t.test('a change is refused that was made from a text that is no longer there', async t => {
  const { desk, portal } = deskOf(t)
  const restricted = { visibility: 'restricted' } as const
  const opened = desk.digest(ANN, 'trees', 'definition')
  await desk.change(ANN, 'trees', { metas: { default: { publisher: 'City' } } }, opened)
  const outdated = { code: 'EditConflict', status: 409 }
  await t.rejects(desk.change(ANN, 'trees', restricted, opened), outdated)
  t.match(desk.definition(ANN, 'trees'), { visibility: 'public', metas: { default: { publisher: 'City' } } })
  await desk.change(ANN, 'trees', restricted, desk.digest(ANN, 'trees', 'definition'))
  const saved = desk.digest(ANN, 'trees', 'definition')
  await Promise.allSettled(
    ['A', 'B'].map(title => desk.change(ANN, 'trees', { metas: { default: { title } } }, saved)),
  )
  t.equal(desk.definition(ANN, 'trees')?.metas.default?.title, 'A', 'of two at once one is first')
  desk.changeMapping(ANN, 'trees', 'mappings: {}\n', desk.digest(ANN, 'trees', 'mapping'))
  for (const text of ['mappings: { a: {} }\n', null])
    t.throws(() => desk.changeMapping(ANN, 'trees', text, 'none'), outdated)
  t.equal(desk.mapping(ANN, 'trees'), 'mappings: {}\n')
  desk.discard(ANN, 'trees')
  t.equal(desk.digest(ANN, 'trees', 'definition'), opened, 'the text as it was')
  await t.rejects(desk.change(ANN, 'trees', restricted, saved), outdated)
  t.notOk(existsSync(path.join(portal, 'var/drafts/trees')), 'what is refused begins no draft')
})

t.test('fields that were inferred keep their columns when they are declared', async t => {
  const { desk, upload } = deskOf(t)
  await upload('sites', 'a.csv', 'Nom;Prix (€);Ouvert le;Libre;Lat;Lon\nA;1,50;31/01/2024;oui;48,85;2,35\n')
  await desk.change(ANN, 'sites', { fields: null })
  const preview = async () => (await desk.preview(ANN, 'sites', 9)).records
  const before = await preview()
  const { fields } = await desk.preview(ANN, 'sites', 0)
  const edits = fields.map(({ spec: { name, type = 'text' } }) => ({
    name,
    type,
    annotations: { facet: [] },
  }))
  await desk.change(ANN, 'sites', { fields: edits })
  t.strictSame(await preview(), before)
  t.match(desk.definition(ANN, 'sites')?.fields, [{}, { name: 'prix', from: 'Prix (€)', format: ',' }])
})

t.test('a field of another type has the format of most of its values', async t => {
  const { desk, upload } = deskOf(t)
  const columns = { h: '1,5 2,5 2,x', d: '31/01/2024 01/02/2024 02/30/2024', b: 'oui non env', n: '1 2 3' }
  const [h, d, b, n] = Object.values(columns).map(values => values.split(' '))
  const rows = [0, 1, 2].map(at => [h, d, b, n].map(column => column?.[at]).join(';'))
  await upload('odd', 'a.csv', `${Object.keys(columns).join(';')}\n${rows.join('\n')}\n`)
  const values = async () => (await desk.preview(ANN, 'odd', 9)).records
  for (const [name, type, format, expected] of [
    ['h', 'double', ',', [1.5, 2.5, null]],
    ['d', 'date', 'd/M/yyyy', ['2024-01-31', '2024-02-01', null]],
    ['b', 'boolean', 'oui/non', [true, false, null]],
    ['d', 'text', undefined, d],
    ['n', 'text', undefined, n],
    ['n', 'double', undefined, [1, 2, 3]],
  ] as const) {
    const fields = (desk.definition(ANN, 'odd')?.fields ?? []).map(spec => ({ name: spec.name }))
    await desk.change(ANN, 'odd', { fields: fields.map(it => (it.name === name ? { ...it, type } : it)) })
    const at = fields.findIndex(it => it.name === name)
    t.equal(desk.definition(ANN, 'odd')?.fields?.[at]?.format, format, `${name} ${type}`)
    t.strictSame(
      (await values()).map(record => record[at]),
      expected,
      `${name} ${type}`,
    )
  }
})

t.test('a change of fields that could not be read again is refused', async t => {
  const { desk, upload } = deskOf(t)
  await upload('sites', 'a.csv', 'n,latitude,longitude\nA,48.85,2.35\n')
  const fields = (desk.definition(ANN, 'sites')?.fields ?? []).map(({ name }) => ({ name, type: 'text' }))
  await t.rejects(desk.change(ANN, 'sites', { fields }), { code: 'BadRequest', message: /list of columns/ })
  t.equal((await desk.preview(ANN, 'sites', 1)).fields.length, 4)
})

t.test('messages do not show where the portal folder is', async t => {
  const { desk, portal } = deskOf(t)
  await desk.change(ANN, 'trees', { processors: [{ compute: { expression: 'a +', into: 'x' } }] })
  await t.rejects(desk.preview(ANN, 'trees', 1), {
    message: /^data\/trees\/dataset\.yaml:\d+:\d+: step 1/,
    place: { file: 'data/trees/dataset.yaml' },
  })
  const file = path.join(portal, 'var/drafts/trees/data/trees/dataset.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace('visibility: public', 'visibility: nobody'))
  for (const operation of [
    () => desk.preview(ANN, 'trees', 1),
    () => desk.inspect(ANN, 'trees', { format: null, options: {} }),
  ]) {
    const fault = await operation().then(
      () => null,
      (error: unknown) => error as Fault,
    )
    t.match(fault?.message, /^data\/trees\/dataset\.yaml:\d+:\d+: /)
    t.notMatch(JSON.stringify([fault?.message, fault?.place, fault?.hint]), portal)
  }
})

t.test('the source is inspected once for the same file and options', async t => {
  const { desk, upload } = deskOf(t)
  const inspect = (options = {}) => desk.inspect(ANN, 'trees', { format: null, options })
  const first = await inspect()
  t.equal(await inspect(), first)
  t.not(await inspect({ header: 0 }), first, 'other options')
  await upload('trees', 'a.csv', 'c\n1\n')
  t.same(
    (await inspect()).columns.map(({ column }) => column),
    ['c'],
    'another file',
  )
  const wrong = () => inspect({ encoding: 'klingon' })
  await t.rejects(wrong())
  await t.rejects(wrong())
})

t.test('a new file is read as the one before, where it can be', async t => {
  const { desk, upload } = deskOf(t)
  const options = () => desk.definition(ANN, 'parts')?.source.options
  const parts = (n: number) => `{"x":[{"a":1},{"a":2}],"y":[{"b":${n}}]}`
  await upload('parts', 'p.json', parts(1))
  t.strictSame(options(), { records: '/x' }, 'detected')
  await desk.change(ANN, 'parts', { options: { records: '/y' }, fields: [{ name: 'b', type: 'int' }] })
  await upload('parts', 'p.json', parts(2))
  t.strictSame(options(), { records: '/y' }, 'chosen')
  await upload('parts', 'p.json', '[{"b":3}]')
  t.equal(options(), undefined, 'nothing to choose')
  await desk.change(ANN, 'parts', { options: { records: '/y' } })
  await upload('parts', 'p.json', '{"x":[{"b":1},{"b":2}],"y":[{"c":1}]}')
  t.strictSame(options(), { records: '/x' }, 'the fields are elsewhere')
  await upload('parts', 'p.csv', 'c,d\nA,1\nB,2\n')
  await desk.change(ANN, 'parts', { fields: null })
  await upload('parts', 'p.csv', 'Cities\n\nc,d\nA,1\nB,2\n')
  t.match(options(), { header: 3 }, 'without fields the header is looked for')
})

t.test('a declared encoding stays where that of a new file is a guess', async t => {
  const { desk } = deskOf(t)
  const encoding = () => desk.definition(ANN, 'text')?.source.options?.encoding
  const store = (bytes: Buffer) => desk.upload(ANN, 'text', { name: 'a.csv', stream: Readable.from([bytes]) })
  const latin = Buffer.from('n,k\nGen\u00e8ve,1\n', 'latin1')
  await store(latin)
  t.equal(encoding(), 'latin-1')
  await desk.change(ANN, 'text', { options: { delimiter: ',', header: 1, encoding: 'windows-1250' } })
  await store(latin)
  t.equal(encoding(), 'windows-1250')
  await store(Buffer.from('n,k\nGen\u00e8ve,1\n'))
  t.equal(encoding(), undefined)
})

t.test('a file of several parts is stored, so that one can be chosen', async t => {
  const { desk } = deskOf(t)
  const packed = await buffer(
    Readable.from(zip(['a.csv', 'b.csv'].map(name => ({ name, content: [`${name[0]}\n1\n`] })))),
  )
  const store = () => desk.upload(ANN, 'two', { name: 'two.zip', stream: Readable.from([packed]) })
  await store()
  await t.rejects(desk.preview(ANN, 'two', 1), {
    code: 'BadRequest',
    message: /^two.zip: The archive has 2 files of data[\s\S]*Files: a.csv, b.csv$/,
  })
  await desk.change(ANN, 'two', { options: { file: 'b.csv' } })
  t.match((await desk.preview(ANN, 'two', 1)).fields, [{ spec: { name: 'b' } }])
  await store()
  t.match(desk.definition(ANN, 'two')?.source.options, { file: 'b.csv' })
})

t.test('an upload that cannot be read is refused with the place and a remedy', async t => {
  const { upload } = deskOf(t)
  await t.rejects(upload('none', 'a.csv', 'a,b\n1,2\n3,4\n1,2,3\n'), {
    code: 'BadRequest',
    message: /^a.csv:4: The row has more cells than the header[\s\S]*\n {2}Quote a cell/,
  })
})

t.test('a file without records is refused in words of its own', async t => {
  const { upload } = deskOf(t)
  const empty = '{"type":"FeatureCollection","features":[]}'
  await t.rejects(upload('none', 'a.geojson', empty), {
    code: 'BadRequest',
    message: 'The file a.geojson has no records, so it has no fields.',
  })
})

t.test('the history says whether publishing failed', async t => {
  for (const [state, action] of [
    [{ type: 'failed', reason: 'no disk' }, 'publish failed'],
    [{ type: 'refused', diagnostics: [] }, 'publish failed'],
    // The server was ended meanwhile.
    [{ type: 'running', records: 1 }, 'publish failed'],
    [{ type: 'done' }, 'publish'],
  ] as const) {
    const { desk, published } = deskOf(t, () => state)
    await desk.publish(ANN, 'trees')
    await published()
    t.match(desk.history(ANN, 'trees')[0], { action, version: null, by: 'ann' }, state.type)
  }
})

t.test('an entry of the history that a full disk cut off does not hide the next one', async t => {
  const { desk, portal, actions } = deskOf(t)
  await desk.change(ANN, 'trees', { visibility: 'restricted' })
  appendFileSync(path.join(portal, 'var/history/trees.jsonl'), '{"at":"2026-01-02T03:04:05.000Z","by":"a')
  desk.changeMapping(ANN, 'trees', 'mappings: {}\n')
  await desk.change(ANN, 'trees', { visibility: 'public' })
  t.same(actions('trees'), ['update', 'update', 'update'])
})

t.test('publishing puts the draft in its place, one publication at a time', async t => {
  const { desk, portal, done, published, actions } = deskOf(t)
  await desk.change(ANN, 'trees', { visibility: 'restricted' })
  await desk.publish(ANN, 'trees')
  t.same(done, ['forget trees', 'publish trees'])
  t.match(readFileSync(path.join(portal, 'data/trees/dataset.yaml'), 'utf8'), 'visibility: restricted')
  t.match(desk.dataset(ANN, 'trees'), { hasDraft: false })
  t.match(desk.status(ANN, 'trees'), { type: 'running', records: 0 })
  await t.rejects(desk.publish(ANN, 'trees'), { code: 'Conflict', message: /is being published/ })
  await published()
  t.equal(desk.status(ANN, 'trees'), null)
  t.ok(actions('trees').includes('publish'))
  await desk.publish(ANN, 'trees')
  await published()
})

t.test('files whose publication was cut off are no dataset before dataset.yaml is there', async t => {
  const { desk, portal, upload, published } = deskOf(t)
  const cutOff = async () => {
    await upload('secret', 'a.csv', 'a\n1\n')
    await desk.change(ANN, 'secret', { visibility: 'restricted' })
    mkdirSync(path.join(portal, 'data/secret'))
    linkSync(path.join(portal, 'var/drafts/secret/data/secret/a.csv'), path.join(portal, 'data/secret/a.csv'))
    t.same(definedDatasets(portal), ['files', 'trees'])
  }
  await cutOff()
  desk.discard(ANN, 'secret')
  t.same(definedDatasets(portal), ['files', 'trees'], 'nor when the draft is discarded')
  await cutOff()
  await desk.publish(ANN, 'secret')
  await published()
  t.match(desk.dataset(ANN, 'secret'), { hasDraft: false, visibility: 'restricted' })
  t.same(definedDatasets(portal), ['files', 'secret', 'trees'])
})

t.test('what is published when the disk is full is tried again, after pauses that grow', async t => {
  const publications = new Publications()
  const failed = (dataset: string, cause: Error) =>
    ({ type: 'failed', dataset, ...failureOf(cause), seconds: 1 }) as const
  const quota = Object.assign(new Error('write'), { code: 'EDQUOT' })
  const full = failed('a', new Fault(SOURCE_UNREADABLE, { reason: 'damaged' }, { cause: quota }))
  publications.note(full, 0)
  publications.note(failed('b', new Error('no such file')), 0)
  const steps = [
    [59_000, []],
    [60_000, ['a']],
    [61_000, []],
    [180_000, ['a']],
    [420_000, ['a']],
  ] as const
  for (const [now, due] of steps) {
    t.same(
      publications.due(now, () => 0),
      due,
      `${now}`,
    )
    if (due.length > 0) publications.note(full, now + 500)
  }
  publications.note({ type: 'unchanged', dataset: 'a', records: 1, triples: 1, seconds: 1 }, 430_000)
  t.same(
    publications.due(1e9, () => 0),
    [],
  )
})

t.test('what is published when the disk is full is tried again as soon as there is more room', async t => {
  const publications = new Publications()
  publications.note({ type: 'failed', dataset: 'a', reason: '', isDiskFull: true, seconds: 1 }, 0)
  const steps = [
    [400, 100e6, []],
    [800, 90e6, []],
    [1200, 110e6, []],
    [1600, 120e6, ['a']],
    [2000, 120e6, []],
    [2400, 140e6, []],
    [61_600, 140e6, ['a']],
  ] as const
  for (const [now, free, due] of steps)
    t.same(
      publications.due(now, () => free),
      due,
      `${now}`,
    )
})

const otherDisk = '/dev/shm'
const noOtherDisk =
  statSync(otherDisk, { throwIfNoEntry: false })?.dev === statSync(tmpdir()).dev || !existsSync(otherDisk)

t.test('a dataset is deleted where var is another disk', { skip: noOtherDisk }, async t => {
  const { desk, portal } = deskOf(t)
  const disk = mkdtempSync(path.join(otherDisk, 'lodestone-'))
  t.teardown(() => rmSync(disk, { recursive: true }))
  rmSync(path.join(portal, 'var'), { recursive: true, force: true })
  symlinkSync(disk, path.join(portal, 'var'))
  await desk.remove(ANN, 'trees')
  t.notOk(existsSync(path.join(portal, 'data', 'trees')))
  const [away = ''] = readdirSync(path.join(disk, 'deleted'))
  t.ok(existsSync(path.join(disk, 'deleted', away, 'data', 'a.csv')))
})

const ownDisk = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
const noOwnDisk = ownDisk ? false : 'a disk of its own needs the namespaces of Linux'

t.test('nothing is withdrawn or lost where data/ is on a read-only disk', { skip: noOwnDisk }, async t => {
  const { portal } = deskOf(t)
  const run = 'mount --bind "$0/data" "$0/data" && mount -o remount,bind,ro "$0/data" && exec "$@"'
  const given = [portal, process.execPath, ...scriptArguments('support/read-only-data'), portal]
  const { stdout, stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', run, ...given], { encoding: 'utf8' })
  t.equal(stdout, '["EROFS",true,"EROFS",false]', stderr)
})

t.test('what a check finds stops publishing, without the place of the portal', async t => {
  const { desk, done, portal } = deskOf(t)
  rmSync(path.join(portal, 'data/trees/a.csv'))
  t.match(await desk.check(ANN, 'trees'), [{ severity: 'error', message: /a\.csv: There is no such file/ }])
  for (const _ of ['once', 'and again'])
    await t.rejects(desk.publish(ANN, 'trees'), {
      code: 'BadRequest',
      message: /a\.csv: There is no such file/,
    })
  t.same(done, [])
  t.notMatch(JSON.stringify(await desk.check(ANN, 'trees')), portal)
})

t.test('look-ups of a draft that lead back to it through other datasets are found', async t => {
  const { desk, portal } = deskOf(t)
  const lookup = (id: string) =>
    `processors:\n  - lookup: { column: a, dataset: ${id}, key: a, take: { b: c } }\n`
  const elms = path.join(portal, 'data/elms')
  mkdirSync(elms)
  writeFileSync(path.join(elms, 'a.csv'), 'a,b\n1,x\n')
  writeFileSync(path.join(elms, 'dataset.yaml'), YAML + lookup('trees'))
  await desk.change(ANN, 'trees', {
    processors: [{ lookup: { column: 'a', dataset: 'elms', key: 'a', take: { b: 'c' } } }],
  })
  t.match(await desk.check(ANN, 'trees'), [{ severity: 'error', message: /elms is made of trees itself/ }])
})

t.test('larger sources are read in a thread, with the same results and faults', async t => {
  const { desk, portal } = deskOf(t)
  const source = path.join(portal, 'data/trees/a.csv')
  const definition = path.join(portal, 'data/trees/dataset.yaml')
  const seen = async () => ({
    preview: await desk.preview(ANN, 'trees', 2),
    inspected: await desk.inspect(ANN, 'trees', { format: null, options: {} }),
    findings: await desk.check(ANN, 'trees'),
  })
  const fields = '[{ name: a, type: int }, { name: b, type: text }, { name: c, type: date }]'
  writeFileSync(definition, `${YAML}fields: ${fields}\n`)
  const [head, row] = ['a,b,c\n', '1,"é {reason}",2020-01-02\n']
  const text = (rows: number) => `${head}x,y,z\n${row.repeat(rows)}`
  writeFileSync(source, text(1500))
  const small = await seen()
  writeFileSync(source, text(9000))
  const large = await seen()
  t.match(small.findings, [{ field: 'a' }, { field: 'c' }])
  const counted = (found: unknown) => JSON.stringify(found).replace(/\b(1499|1501|8999|9001)\b/g, 'N')
  t.equal(counted(large), counted(small))
  await desk.change(ANN, 'trees', { fields: [{ name: 'a', type: 'text' }] })
  t.match(desk.definition(ANN, 'trees')?.text, /name: a, type: text/)
  writeFileSync(definition, `${YAML}fields: ${fields}\n`)
  desk.discard(ANN, 'trees')
  const fault = await desk
    .inspect(ANN, 'trees', { format: 'json', options: { records: '{name}' } })
    .catch((error: unknown) => error)
  t.match(fault, { code: 'BadRequest', status: 400, message: /^(?!.*\{message\}).*/ })
  const controller = new AbortController()
  const pieces = async function* () {
    yield Buffer.from(`a\n${'1234567\n'.repeat(2 ** 15)}`)
    setTimeout(() => controller.abort(), 20)
  }
  const given = { name: 'left.csv', stream: Readable.from(pieces()), signal: controller.signal }
  const larger = new Desk({ ...desk.options, uploadLimit: 1e6 })
  await t.rejects(larger.upload(ANN, 'left', given), { name: 'AbortError' }, 'it ends with its client')
})

t.test('a published dataset is withdrawn and removed, its files kept', async t => {
  const { desk, portal, done, actions } = deskOf(t)
  await publishPortal(portal)
  t.match(desk.dataset(ANN, 'trees'), { state: 'published' })
  await desk.withdraw(ANN, 'trees')
  t.match(desk.dataset(ANN, 'trees'), { state: 'withdrawn' })
  t.same(done, ['refresh'])
  t.ok(actions('trees').includes('withdraw'))
  await desk.remove(ANN, 'trees')
  t.same(done, ['refresh', 'refresh'])
  t.notOk(existsSync(path.join(portal, 'data/trees')))
  const [away = ''] = readdirSync(path.join(portal, 'var/deleted'))
  t.match(away, /^trees-2026-01-02T03-04-05/)
  t.ok(existsSync(path.join(portal, 'var/deleted', away, 'data/a.csv')))
  t.throws(() => desk.dataset(ANN, 'trees'), { code: 'NotFoundResource' })
})

t.test('what another instance has published into a shared store is withdrawn, too', async t => {
  const { desk, actions } = deskOf(t)
  const withdrawn: unknown[] = []
  const shared = {
    inForce: async () => ({ dataset: { visibility: 'public' } }),
    withdraw: async (...given: unknown[]) => withdrawn.push(given) === 1,
  } as never
  const other = new Desk({ ...desk.options, shared })
  await other.withdraw(ANN, 'trees')
  t.same(withdrawn, [['trees', 'open']])
  t.same(actions('trees'), ['withdraw'])
  await t.rejects(other.withdraw(ANN, 'trees'), { code: 'NotFoundResource' })
})

t.test('nothing is rolled back while a shared store is away', async t => {
  const { desk, portal } = deskOf(t)
  await publishPortal(portal)
  writeFileSync(path.join(portal, 'data/trees/a.csv'), 'a,b\n2,y\n')
  await publishPortal(portal)
  const before = currentVersion(desk.options.versions, 'trees')
  const isAway = () => Promise.reject(new Error('away'))
  const other = new Desk({ ...desk.options, shared: { inForce: isAway, release: isAway } as never })
  await t.rejects(other.rollBack(ANN, 'trees', null), { message: 'away' })
  t.equal(currentVersion(desk.options.versions, 'trees'), before)
})

t.test('a mapping that cannot be stored is told', async t => {
  const { desk, portal, actions } = deskOf(t)
  await desk.change(ANN, 'trees', { visibility: 'restricted' })
  const mappings = path.join(portal, 'var/drafts/trees/mappings')
  rmSync(mappings, { recursive: true })
  writeFileSync(mappings, '')
  t.throws(() => desk.changeMapping(ANN, 'trees', 'mappings: {}\n'), { code: 'EEXIST' })
  t.same(actions('trees'), ['update'])
})

t.test('a dataset of the id of one that was removed begins without its data', async t => {
  const { desk, portal } = deskOf(t)
  const server = createServer(({ url = '' }, response) => response.end(`${url.slice(1)}\n1\n`))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  writeFileSync(path.join(portal, 'portal.yaml'), 'source_private_hosts: [127.0.0.1]\n')
  const begin = async (name: string) => {
    const { port } = server.address() as AddressInfo
    await desk.createRemote(ANN, 'far', `http://127.0.0.1:${port}/${name}`, null)
    await desk.change(ANN, 'far', { format: 'csv' })
    return (await desk.preview(ANN, 'far', 1)).fields.map(({ spec }) => spec.name)
  }
  t.same(await begin('one'), ['one'])
  await desk.remove(ANN, 'far')
  t.same(await begin('two'), ['two'])
})

t.test('the title of a discarded dataset is forgotten', async t => {
  const { desk, upload } = deskOf(t)
  desk.create(ANN, 'new', 'An old title')
  desk.discard(ANN, 'new')
  await upload('new', 'oaks.csv', 'a\n1\n')
  t.equal(desk.dataset(ANN, 'new').title, 'Oaks')
  t.same(desk.ids(ANN), ['new', 'trees'])
  t.same(desk.ids(person('publish:trees')), ['trees'])
})
