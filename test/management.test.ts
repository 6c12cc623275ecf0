import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { grantsOf } from '../src/accounts/authorisation.ts'
import { changedDefinition } from '../src/publishing/edit-definition.ts'
import { removeCutOffDrafts } from '../src/publishing/management/datasets.ts'
import { applyDraft, completeDrafts, openDraft } from '../src/publishing/management/drafts.ts'
import { currentManifest, versionsOf } from '../src/publishing/versions/versions.ts'
import { PROCESS_NAME } from '../src/runtime/processes.ts'
import { lodestone } from './support/crash.ts'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** What publishers do, through the management API: drafts, uploads, publishing, roll-back, rights, and files that stay readable. */
const BASE = 'http://portal.test'
const API = '/api/management/v1/datasets'
const CSV = 'nr,name,height\n1,Oak,12.5\n2,Elm,7\n3,Ivy,\n'

/** An operation of the OpenAPI document, as far as the test reads it. */
interface Described {
  readonly requestBody?: {
    readonly content: Readonly<
      Record<
        string,
        {
          readonly schema: {
            readonly properties?: object
            readonly items?: object
            readonly patternProperties?: object
            readonly examples?: readonly unknown[]
          }
        }
      >
    >
  }
}

async function portalOf(t: Test, files: object = {}) {
  const portal = temporaryFolder(t, { 'portal.yaml': 'upload_limit: 2MB\n', data: {}, ...files })
  const { app } = await servePortal(t, { portal, base: BASE, isPublished: false })
  const keyOf = async (name: string, grants: readonly string[]) => {
    await app.accounts.users.add(name, 'a password that is long enough')
    for (const grant of grants) await app.accounts.users.grant(name, grant)
    return (await app.accounts.keys.create(name, 'test')).key
  }
  const ask =
    (key: string | null) =>
    async (
      method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS',
      url: string,
      body?: unknown,
      type = 'application/json',
    ) => {
      const payload =
        body === undefined
          ? undefined
          : typeof body === 'string' || Buffer.isBuffer(body)
            ? body
            : JSON.stringify(body)
      const headers = {
        ...(key === null ? {} : { authorization: `Apikey ${key}` }),
        ...(payload === undefined ? {} : { 'content-type': type }),
      }
      const answer = await app.http.inject({
        method,
        url,
        headers,
        ...(payload === undefined ? {} : { payload }),
      })
      return {
        status: answer.statusCode,
        headers: answer.headers,
        body: answer.body,
        json: () => JSON.parse(answer.body),
      }
    }
  const published = async (asking: ReturnType<typeof ask>, id: string) => {
    for (let tries = 0; tries < 600; tries++) {
      const status = (await asking('GET', `${API}/${id}/status`)).json()
      if (status.name !== 'processing') return status
      await sleep(50)
    }
    throw new Error('it takes too long')
  }
  return { portal, app, keyOf, ask, published }
}

t.test('an upload may take longer than a request, but not without an end', async t => {
  const limits = 'request_timeout: 1\nidle_timeout: 1\nwrite_timeout: 1\n'
  const { app, keyOf } = await portalOf(t, { 'portal.yaml': limits })
  const authorization = `Apikey ${await keyOf('anna', ['publish:*'])}`
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.http.server.address() as AddressInfo
  const statusOf = async (place: string, pauses: readonly number[]) => {
    const sent = request({ port, method: 'POST', path: `${API}${place}`, headers: { authorization } })
    const answered = new Promise<number | string>(resolve => {
      sent.on('response', ({ statusCode = 0 }) => resolve(statusCode))
      sent.on('error', ({ code = '' }: NodeJS.ErrnoException) => resolve(code))
    })
    for (const pause of pauses) {
      sent.write(CSV)
      await sleep(pause)
    }
    sent.end()
    return answered
  }
  const steady = [500, 500, 500, 500, 500]
  t.equal(await statusOf('/slow/resources/files/a.csv', steady), 201)
  t.equal(await statusOf('', steady), 408, 'another request')
  t.equal(await statusOf('/still/resources/files/a.csv', [4000]), 'ECONNRESET', 'one that stands still')
})

t.test(
  'a dataset from an address: fetched before it is published, described, mapped, on a schedule',
  async t => {
    let text: string | null = CSV
    let asked = 0
    const source = createServer((_, response) => {
      asked++
      if (text === null) response.writeHead(404).end()
      else response.writeHead(200, { 'content-type': 'text/csv' }).end(text)
    })
    await new Promise<void>(resolve => source.listen(0, '127.0.0.1', resolve))
    t.teardown(() => source.close())
    const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}/trees.csv`
    const { portal, keyOf, ask, published } = await portalOf(t, {
      'portal.yaml': 'source_private_hosts: [127.0.0.1]\n',
    })
    const api = ask(await keyOf('anna', ['publish:*']))
    t.equal((await api('POST', API, { dataset_id: 'far', title: 'Far' })).status, 201)
    const added = await api('PUT', `${API}/far`, { source: { url }, refresh: '30 3 * * *' })
    t.equal(added.status, 200)
    t.same(added.json().source, { url })
    const [one, other] = await Promise.all([
      api('GET', `${API}/far/preview`),
      api('GET', `${API}/far/preview`),
    ])
    t.match(one.json().records[0], { nr: 1, name: 'Oak' })
    t.equal(other.body, one.body)
    t.equal(asked, 1, 'fetched once for who looks at the same time')
    t.same((await api('GET', `${API}/far`)).json().source, { url }, 'not the file that was fetched')
    t.match((await api('GET', `${API}/far/check`)).json(), { is_publishable: true })
    const mapping =
      'mappings:\n  tree:\n    subject: portal:far/tree/$(nr)\n    predicateobjects:\n      - [rdfs:label, $(name)]\n'
    t.equal((await api('PUT', `${API}/far/mapping`, mapping, 'text/yaml')).status, 204)
    t.equal((await api('POST', `${API}/far/publish`)).status, 202)
    t.match(await published(api, 'far'), { name: 'idle' })
    const records = await ask(null)('GET', '/api/explore/v2.1/catalog/datasets/far/records')
    t.equal(records.json().total_count, 3)
    t.match(readFileSync(path.join(portal, 'data/far/dataset.yaml'), 'utf8'), /refresh: 30 3/)

    text = null
    asked = 0
    await api('POST', API, { dataset_id: 'gone' })
    await api('PUT', `${API}/gone`, { source: { url } })
    for (const turn of [1, 2]) {
      const { status, body } = await api('GET', `${API}/gone/preview`)
      t.equal(status, 400, `look ${turn}`)
      t.match(body, /it answers 404.*correct the url/s)
    }
    t.equal(asked, 1, 'it is not asked again with each look')
    t.match((await api('GET', `${API}/gone/check`)).json(), {
      is_publishable: false,
      findings: [{ message: /404/ }],
    })
    t.equal((await api('POST', `${API}/gone/publish`)).status, 400)
    t.equal(asked, 2, 'publishing asks at once')
    text = CSV
    t.equal((await api('POST', `${API}/gone/publish`)).status, 202)
    t.match(await published(api, 'gone'), { name: 'idle' })
  },
)

t.test('from a file to a published dataset and back', async t => {
  const { portal, keyOf, ask, published } = await portalOf(t)
  const api = ask(await keyOf('anna', ['publish:*']))
  const anybody = ask(null)
  const records = '/api/explore/v2.1/catalog/datasets/trees/records'
  const yaml = path.join(portal, 'data/trees/dataset.yaml')

  await t.test('a file is uploaded to a draft, and previewed', async t => {
    t.equal((await api('POST', API, { dataset_id: 'trees', title: 'Trees of the town' })).status, 201)
    t.equal((await api('POST', API, { dataset_id: 'trees' })).status, 409)
    const uploaded = await api('PUT', `${API}/trees/resources/files/trees.csv`, CSV, 'text/csv')
    t.equal(uploaded.status, 201)
    t.match(uploaded.json(), {
      name: 'trees.csv',
      bytes: CSV.length,
      suggestions: [],
      dataset: { state: 'draft', title: 'Trees of the town' },
    })
    const doubtful = 'Trees\nn,d\n1,05/03/2020\n2,06/04/2020\n'
    const asked = await api('PUT', `${API}/doubtful/resources/files/doubtful.csv`, doubtful, 'text/csv')
    t.match(asked.json().suggestions, [
      { message: '1 row above the header left out' },
      { field: 'd', message: /where months come first/ },
    ])
    await api('DELETE', `${API}/doubtful`)
    const preview = (await api('GET', `${API}/trees/preview`)).json()
    t.same(
      preview.fields.map((each: { name: string; type: string; examples: unknown }) => [
        each.name,
        each.type,
        each.examples,
      ]),
      [
        ['nr', 'int', [1, 2, 3]],
        ['name', 'text', ['Oak', 'Elm', 'Ivy']],
        ['height', 'double', [12.5, 7]],
      ],
    )
    t.same(preview.records[2], { nr: 3, name: 'Ivy', height: null })
    t.notOk(existsSync(path.join(portal, 'data/trees')), 'nothing is in the portal folder yet')
    await api('POST', API, { dataset_id: 'long' })
    await api('PUT', `${API}/long/resources/files/long.json`, '[{"n": 9007199254740993}]')
    t.match((await api('GET', `${API}/long/preview`)).body, /"n": 9007199254740993\b/)
  })

  await t.test('it is described, checked and published', async t => {
    const fields = (await api('GET', `${API}/trees/fields`)).json().results
    fields[2] = {
      ...fields[2],
      label: 'Height in metres',
      description: 'Measured',
      annotations: { unit: ['m'] },
    }
    t.equal((await api('PUT', `${API}/trees/fields`, fields)).status, 200)
    const metas = { default: { description: '<p>All trees</p>', keyword: ['tree'], license: 'CC0' } }
    t.match((await api('PUT', `${API}/trees/metadata`, metas)).json(), {
      default: { title: 'Trees of the town', license: 'CC0' },
    })
    t.equal((await api('PUT', `${API}/trees`, { record_id: ['nr'] })).status, 200)
    const report = (await api('GET', `${API}/trees/check`)).json()
    t.match(report, { is_publishable: true, errors: 0 })
    t.equal((await api('POST', `${API}/trees/publish`)).status, 202)
    t.match(await published(api, 'trees'), { name: 'idle', is_published: true })
    t.equal((await anybody('GET', records)).json().total_count, 3, 'everybody sees it')
    t.match(readFileSync(yaml, 'utf8'), 'label: Height in metres')
    t.equal(readFileSync(path.join(portal, 'data/trees/trees.csv'), 'utf8'), CSV)
    t.notOk(existsSync(path.join(portal, 'var/drafts/trees')), 'the draft is over')
  })

  await t.test('a change by hand is seen, with its comments, and kept', async t => {
    const text = readFileSync(yaml, 'utf8')
    writeFileSync(yaml, `# by hand\n${text.replace('license: CC0', 'license: CC-BY # agreed')}`)
    t.match((await api('GET', `${API}/trees`)).json(), { metadata: { default: { license: 'CC-BY' } } })
    t.equal((await api('PUT', `${API}/trees/metadata`, { default: { publisher: 'Town' } })).status, 200)
    t.equal(
      (await api('PUT', `${API}/trees/resources/files/trees.csv`, `${CSV}4,Fir,30\n`, 'text/csv')).status,
      201,
    )
    t.equal((await api('GET', `${API}/trees`)).json().has_draft, true)
    t.equal((await api('POST', `${API}/trees/publish`)).status, 202)
    t.equal((await api('POST', `${API}/trees/restore`)).status, 409, 'not while it is published')
    t.match(await published(api, 'trees'), { name: 'idle' })
    const kept = readFileSync(yaml, 'utf8')
    t.match(kept, /^# by hand\n[\s\S]*license: CC-BY # agreed/, 'comments stay')
    t.match(kept, 'publisher: Town')
    t.equal((await anybody('GET', records)).json().total_count, 4)
  })

  await t.test('it is rolled back, withdrawn and published again', async t => {
    t.match((await api('POST', `${API}/trees/restore`)).json(), { records_count: 3 })
    t.equal((await anybody('GET', records)).json().total_count, 3, 'rolled back')
    t.equal((await api('GET', `${API}/trees/versions`)).json().total_count, 3)
    t.equal((await api('POST', `${API}/trees/restore`, { version: 'x' })).status, 404)
    t.equal((await api('POST', `${API}/trees/unpublish`)).status, 200)
    t.equal((await anybody('GET', records)).status, 404)
    t.equal((await api('GET', `${API}/trees`)).json().state, 'withdrawn')
    t.equal((await api('POST', `${API}/trees/publish`)).status, 202)
    t.match(await published(api, 'trees'), { name: 'idle', is_published: true })
    t.equal((await anybody('GET', records)).json().total_count, 4, 'back, as the files are')
  })

  await t.test('its history says who did what', async t => {
    const changes = (await api('GET', `${API}/trees/changes`)).json().results
    t.ok(changes.every(({ by }: { by: string }) => by === 'anna'))
    const actions = changes.map(({ action }: { action: string }) => action).reverse()
    t.same(
      actions.filter((action: string) => !['update', 'upload'].includes(action)),
      ['create', 'publish', 'publish', 'roll back', 'withdraw', 'publish'],
    )
  })

  await t.test('what is deleted is gone, but for its files', async t => {
    t.equal((await api('DELETE', `${API}/trees`)).status, 204)
    t.equal((await api('GET', `${API}/trees`)).status, 404)
    t.notOk(existsSync(path.join(portal, 'data/trees')))
    t.ok(existsSync(path.join(portal, 'var/deleted')), 'its files can be brought back by hand')
  })
})

t.test('who may not publish, and what is refused', async t => {
  const yaml = 'source: { path: a.csv }\n'
  const { portal, keyOf, ask } = await portalOf(t, {
    data: { own: { 'dataset.yaml': yaml, 'a.csv': CSV }, other: { 'dataset.yaml': yaml, 'a.csv': CSV } },
  })
  const [api, none, anybody] = [
    ask(await keyOf('bert', ['publish:own'])),
    ask(await keyOf('carl', ['own', 'edit:own'])),
    ask(null),
  ]
  const routes = [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['GET', '/metadata'],
    ['PUT', '/metadata'],
    ['GET', '/fields'],
    ['PUT', '/fields'],
    ['GET', '/mapping'],
    ['PUT', '/mapping'],
    ['DELETE', '/mapping'],
    ['PUT', '/resources/files/a.csv'],
    ['GET', '/preview'],
    ['GET', '/check'],
    ['POST', '/publish'],
    ['GET', '/status'],
    ['POST', '/unpublish'],
    ['POST', '/discard'],
    ['POST', '/restore'],
    ['GET', '/versions'],
    ['GET', '/changes'],
  ] as const
  for (const [method, url] of routes) {
    t.equal((await anybody(method, `${API}/own${url}`)).status, 401, `${method} ${url}: nobody`)
    t.equal((await none(method, `${API}/own${url}`)).status, 403, `${method} ${url}: without the right`)
    t.equal((await api(method, `${API}/other${url}`)).status, 403, `${method} ${url}: of another dataset`)
  }
  t.same(
    (await api('GET', API)).json().results.map((each: { dataset_id: string }) => each.dataset_id),
    ['own'],
  )
  t.equal((await api('POST', API, { dataset_id: 'new' })).status, 403, 'new datasets need the right for all')
  t.equal((await none('GET', API)).status, 403)
  const refused: readonly (readonly [string, unknown, number, RegExp])[] = [
    ['', { is_restricted: 'yes' }, 400, /is_restricted/],
    ['', { nothing: 1 }, 400, /expected/],
    ['', '{', 400, /no JSON/],
    ['', { source: { path: '../../../etc/passwd' } }, 400, /leads out of its folder/],
    ['', { source: { path: 'gone.csv' } }, 200, /./],
    ['', { source: { module: 'fs' } }, 400, /code that the server runs/],
    ['', { source: { path: 'a/../../b.csv' } }, 400, /leads out of its folder/],
    ['', { source: { path: '/etc/hosts' } }, 400, /leads out of its folder/],
    ['', { source: { package: '../b/c.csv' } }, 400, /not the name of an npm package/],
    ['', { source: { path: 'a', package: 'b', more: 'c' } }, 400, /more/],
    ['/fields', [{ name: 'x', type: 'number' }], 400, /type/],
    ['/metadata', { default: { title: { a: 1 } } }, 400, /title/],
    ['/metadata', { constructor: { prototype: 'x' } }, 200, /./],
    ['/mapping', Buffer.from([0xff, 0xfe, 0xfd]), 400, /UTF-8/],
  ]
  for (const [url, body, status, message] of refused) {
    const answer = await api('PUT', `${API}/own${url}`, body)
    t.equal(answer.status, status, JSON.stringify(body))
    t.match(answer.body, message)
  }
  const checked = (await api('GET', `${API}/own/check`)).json()
  t.equal(checked.is_publishable, false, 'a source that is not there is found')
  t.equal((await api('POST', `${API}/own/publish`)).status, 400)
  t.equal((await api('POST', `${API}/own/discard`)).status, 204)
  const files: readonly (readonly [string, string | Buffer, number])[] = [
    ['dataset.yaml', 'source: {}', 400],
    ['..%2F..%2F..%2Fevil.csv', CSV, 201],
    ['.hidden', CSV, 201],
    [`${'a'.repeat(150)}.csv`, CSV, 400],
    ['tool.exe', Buffer.from([77, 90, 0, 1, 2, 0, 255, 254, 0, 0, 3]), 400],
    ['empty.csv', '', 400],
    ['broken.json', '{"a": [', 400],
    ['huge.csv', Buffer.alloc(3_000_000, 'a,b\n'), 413],
  ]
  for (const [name, content, status] of files) {
    const answer = await api('PUT', `${API}/own/resources/files/${name}`, content, 'application/octet-stream')
    t.equal(answer.status, status, name)
  }
  for (const [method, url] of [
    ['POST', '/own/resources/files?filename=a.csv&filename=b.csv'],
    ['GET', '?limit=1&limit=2'],
    ['GET', '?limit=x'],
    ['GET', '?limit=101'],
    ['GET', '/own/preview?limit=-1'],
  ] as const)
    t.match(await api(method, API + url, method === 'POST' ? CSV : undefined), {
      status: 400,
      body: /InvalidRESTParameterError.*API parameter/s,
    })
  t.notOk(existsSync(path.join(portal, '..', 'evil.csv')))
  t.notOk(existsSync(path.join(portal, 'evil.csv')), 'the name of a file is no path')
  t.equal((await api('POST', `${API}/own/discard`)).status, 204)
  t.equal((await api('GET', `${API}/own`)).json().has_draft, false)
  t.equal((await api('POST', `${API}/own/publish`)).status, 202, 'what lies in the folder is as it was')
  for (const [method, url, allow] of [
    ['PUT', '', 'GET, HEAD, POST, OPTIONS'],
    ['OPTIONS', '', 'GET, HEAD, POST, OPTIONS'],
    ['PATCH', '/own', 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['GET', '/own/publish', 'POST, OPTIONS'],
    ['HEAD', '/own/restore', 'POST, OPTIONS'],
    ['DELETE', '/own/status', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/own/resources/files/a.csv', 'POST, PUT, OPTIONS'],
  ] as const) {
    const { status, headers } = await api(method, API + url)
    t.same([status, headers.allow], [method === 'OPTIONS' ? 204 : 405, allow], `${method} ${url}`)
  }
  const document = (await anybody('GET', '/api/management/v1/openapi.json')).json()
  t.equal(document.openapi, '3.1.0')
  for (const [method, url] of routes) {
    const described = document.paths[`/datasets/{dataset}${url.replace('a.csv', '{file}')}`]
    t.ok(described?.[method.toLowerCase()], `${method} ${url} is described`)
  }
})

t.test('bodies are as they are described', async t => {
  const { portal, keyOf, ask } = await portalOf(t, {
    data: { own: { 'dataset.yaml': 'source: { path: a.csv }\n', 'a.csv': CSV } },
  })
  const api = ask(await keyOf('rosa', grantsOf('publisher')))
  const document = (await api('GET', '/api/management/v1/openapi.json')).json()
  const bodies = Object.entries<Record<string, Described>>(document.paths).flatMap(([url, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema
      return schema === undefined ? [] : [{ method: method.toUpperCase() as 'PUT', url, schema }]
    }),
  )
  t.equal(bodies.length, 5)
  for (const { schema, url } of bodies)
    t.ok(schema.properties ?? schema.items ?? schema.patternProperties, url)
  for (const { method, url, schema } of bodies)
    for (const example of schema.examples ?? []) {
      const address = `/api/management/v1${url.replace('{dataset}', 'own')}`
      const { status, body } = await api(method, address, example)
      t.ok(status < 300, `${method} ${url}: ${status === 400 ? body : status}`)
    }
  const typed = await api('POST', API, '{"dataset_id":"curl"}', 'application/x-www-form-urlencoded')
  t.equal(typed.status, 201, 'the default type of curl')
  const { properties } =
    document.paths['/datasets/{dataset}'].put.requestBody.content['application/json'].schema
  t.same(properties.refresh.examples, ['daily', '30 4 * * 1'])
  for (const [body, status, reason] of [
    [{ refresh: 'daily' }, 400, /refresh means something only for a source with an url/],
    [{ source: { url: 'https://data.example/a.csv' }, refresh: 'dayly' }, 400, /refresh is \\"dayly\\"/],
    [{ fields: [{ name: 'a' }, { name: 'a' }] }, 400, /field a is declared twice/],
    [{ options: { header: '2' } }, 400, /\/options/],
    [{ fields: [{ name: 'Nr.' }] }, 400, /expected lower-case letters, digits and _, at most 100/],
    [{ id: ['nr'] }, 400, /at \/id: no such member is known/],
    [{ fields: [{ name: 'nr' }], record_id: ['nr'] }, 200, /"record_id": \[\s*"nr"/],
    [{ record_id: null }, 200, /"record_id": null/],
    [{ options: { header: 1, delimiter: ',' } }, 200, /"header": 1/],
    [{ source: { url: 'https://data.example/a.csv' }, options: null, refresh: '30 4 * * 1' }, 200, /30 4/],
  ] as const) {
    const answer = await api('PUT', `${API}/own`, body)
    t.equal(answer.status, status, JSON.stringify(body))
    t.match(answer.body, reason)
  }
  t.match(readFileSync(path.join(portal, 'var/drafts/own/data/own/dataset.yaml'), 'utf8'), /30 4/)
  await api('POST', `${API}/own/discard`)
  await api('PUT', `${API}/own/mapping`, 'mappings: {', 'text/plain')
  const { body } = await api('GET', `${API}/own/check`)
  t.match(body, 'mappings/own.yml:')
  t.notMatch(body, portal, 'nothing of the machine')
})

t.test('a draft and a change by hand', async t => {
  const yaml = 'source: { path: a.csv }\nmetas: { default: { title: A } }\n'
  const { portal, keyOf, ask } = await portalOf(t, { data: { own: { 'dataset.yaml': yaml, 'a.csv': CSV } } })
  const api = ask(await keyOf('dora', ['publish:own']))
  await api('PUT', `${API}/own/metadata`, { default: { title: 'B' } })
  mkdirSync(path.join(portal, 'mappings'))
  writeFileSync(path.join(portal, 'data/own/dataset.yaml'), yaml.replace('title: A', 'title: C'))
  const refused = await api('POST', `${API}/own/publish`)
  t.equal(refused.status, 409)
  t.match(refused.body, /changed in the portal folder/)
  t.match(readFileSync(path.join(portal, 'data/own/dataset.yaml'), 'utf8'), 'title: C', 'nothing is lost')
})

t.test('a data file that is replaced by hand while there is a draft', async t => {
  const yaml = 'source: { path: a.csv }\nmetas: { default: { title: A } }\n'
  const { portal, keyOf, ask, published } = await portalOf(t, {
    data: { own: { 'dataset.yaml': yaml, 'a.csv': CSV } },
  })
  const api = ask(await keyOf('dora', ['publish:own']))
  const file = path.join(portal, 'data/own/a.csv')
  const replace = (text: string) => {
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }
  await api('PUT', `${API}/own/metadata`, { default: { title: 'B' } })
  const [newer, newest] = [`${CSV}7,Yew,1\n`, `${CSV}8,Fir,2\n`]
  replace(newer)
  t.equal((await api('POST', `${API}/own/publish`)).status, 202)
  await published(api, 'own')
  t.equal(readFileSync(file, 'utf8'), newer, 'the draft did not change it')
  t.match(readFileSync(path.join(portal, 'data/own/dataset.yaml'), 'utf8'), 'title: B')
  await api('PUT', `${API}/own/resources/files/a.csv`, CSV, 'text/csv')
  replace(newest)
  t.equal((await api('POST', `${API}/own/publish`)).status, 409, 'changed by hand and in the draft')
  t.equal(readFileSync(file, 'utf8'), newest)
  t.match((await api('POST', `${API}/own/discard`)).status, /^20/)
  await api('PUT', `${API}/own/resources/files/a.csv`, CSV, 'text/csv')
  t.equal((await api('POST', `${API}/own/publish`)).status, 202)
  await published(api, 'own')
  t.equal(readFileSync(file, 'utf8'), CSV, 'changed in the draft alone')
})

t.test('a draft whose publication was interrupted can be published again', t => {
  const portal = temporaryFolder(t, {
    data: { own: { 'dataset.yaml': 'source: { path: a.csv }\n', 'a.csv': CSV } },
  })
  const draft = openDraft(portal, 'own', 'dora', new Date())
  writeFileSync(path.join(draft.root, 'mappings/own.yml'), 'mappings: {}\n')
  const [changed, definition] = [`${CSV}9,Oak,3\n`, 'source: { path: b.csv }\n']
  writeFileSync(path.join(draft.folder, 'b.csv'), changed)
  // Where dataset.yaml would be replaced, as the last of all files.
  rmSync(path.join(draft.folder, 'dataset.yaml'))
  t.throws(() => applyDraft(portal, draft), { code: 'ENOENT' })
  t.equal(readFileSync(path.join(portal, 'data/own/b.csv'), 'utf8'), changed)
  t.equal(readFileSync(path.join(draft.folder, 'b.csv'), 'utf8'), changed, 'the draft is whole')
  writeFileSync(path.join(draft.folder, 'dataset.yaml'), definition)
  completeDrafts(portal)
  t.ok(existsSync(draft.root), 'it failed, and is published when that is asked for again')
  const again = openDraft(portal, 'own', 'dora', new Date())
  applyDraft(portal, again)
  t.equal(readFileSync(path.join(portal, 'data/own/dataset.yaml'), 'utf8'), definition)
  t.notOk(existsSync(draft.root))
  t.end()
})

t.test('a draft that failed on a disk without room for its note can be published again', t => {
  const portal = temporaryFolder(t, { data: { own: { 'dataset.yaml': 'source: { path: a.csv }\n' } } })
  const draft = openDraft(portal, 'own', 'dora', new Date())
  writeFileSync(path.join(draft.root, 'mappings/own.yml'), 'mappings: {}\n')
  rmSync(path.join(draft.folder, 'dataset.yaml'))
  const note = path.join(draft.root, `draft.json.${PROCESS_NAME}.new`)
  mkdirSync(note)
  t.throws(() => applyDraft(portal, draft))
  rmSync(note, { recursive: true })
  const definition = 'source: { path: b.csv }\n'
  writeFileSync(path.join(draft.folder, 'dataset.yaml'), definition)
  applyDraft(portal, openDraft(portal, 'own', 'dora', new Date()))
  t.equal(readFileSync(path.join(portal, 'data/own/dataset.yaml'), 'utf8'), definition)
  t.end()
})

t.test('a publication that a kill interrupted is completed by the next start', t => {
  const portal = temporaryFolder(t, {
    data: { own: { 'dataset.yaml': 'source: { path: a.csv }\nvisibility: public\n', 'a.csv': CSV } },
    mappings: {},
  })
  const draft = openDraft(portal, 'own', 'dora', new Date())
  const definition = 'source: { path: a.csv }\nvisibility: restricted\n'
  for (const [name, text] of [
    ['a.csv', `${CSV}9,Secret,3\n`],
    ['dataset.yaml', definition],
  ] as const) {
    rmSync(path.join(draft.folder, name), { force: true })
    writeFileSync(path.join(draft.folder, name), text)
  }
  // As after a kill before dataset.yaml is replaced.
  writeFileSync(path.join(draft.root, 'applying'), '')
  for (const root of [draft.root, portal])
    writeFileSync(path.join(root, 'mappings/own.yml'), 'mappings: {}\n')
  completeDrafts(portal)
  t.equal(readFileSync(path.join(portal, 'data/own/dataset.yaml'), 'utf8'), definition)
  t.match(readFileSync(path.join(portal, 'data/own/a.csv'), 'utf8'), /Secret/)
  t.notOk(existsSync(draft.root))
  t.end()
})

t.test('lodestone publish completes it, too', async t => {
  const portal = temporaryFolder(t, {
    'portal.yaml': '',
    data: { own: { 'dataset.yaml': 'source: { path: a.csv }\nvisibility: public\n', 'a.csv': CSV } },
  })
  const draft = openDraft(portal, 'own', 'dora', new Date())
  const definition = 'source: { path: a.csv }\nvisibility: restricted\n'
  rmSync(path.join(draft.folder, 'dataset.yaml'))
  writeFileSync(path.join(draft.folder, 'dataset.yaml'), definition)
  writeFileSync(path.join(draft.root, 'applying'), '')
  t.match(await lodestone(['publish', '--portal', portal]), { code: 0, stderr: /^own: 3 records/ })
  t.equal(currentManifest(versionsOf(portal), 'own')?.dataset.visibility, 'restricted')
})

t.test('lodestone harvest completes it before it publishes, too', async t => {
  const url = 'http://127.0.0.1:1'
  const portal = temporaryFolder(t, {
    'portal.yaml': '',
    'harvest.yaml': JSON.stringify({ harvesters: [{ id: 'town', type: 'ckan', url }] }),
    data: { own: { 'dataset.yaml': 'source: { path: a.csv }\n', 'a.csv': CSV } },
  })
  const draft = openDraft(portal, 'own', 'dora', new Date())
  const definition = 'source: { path: a.csv }\nvisibility: restricted\n'
  rmSync(path.join(draft.folder, 'dataset.yaml'))
  writeFileSync(path.join(draft.folder, 'dataset.yaml'), definition)
  writeFileSync(path.join(draft.root, 'applying'), '')
  const of = () => readFileSync(path.join(portal, 'data/own/dataset.yaml'), 'utf8')
  await lodestone(['harvest', '--dry-run', '--portal', portal])
  t.not(of(), definition)
  await lodestone(['harvest', '--portal', portal])
  t.equal(of(), definition)
})

t.test('what a draft that was cut off has left is removed', t => {
  const portal = temporaryFolder(t, { var: { drafts: { left: {}, begun: {} } } })
  const drafts = path.join(portal, 'var/drafts')
  openDraft(portal, 'kept', 'dora', new Date())
  const earlier = new Date(Date.now() - 7_200_000)
  for (const id of ['left', 'kept']) utimesSync(path.join(drafts, id), earlier, earlier)
  removeCutOffDrafts(portal, Date.now())
  t.same(readdirSync(drafts), ['begun', 'kept'], 'but none that may just be begun')
  t.end()
})

t.test('changes of dataset.yaml leave the rest as it is written', async t => {
  const text = `# about trees
source: { path: trees.csv } # from the town
fields:
  # the key
  - { name: nr, type: int }
  - name: height # metres
    type: double
metas:
  default:
    title: 'Trees'
`
  t.equal(
    changedDefinition(text, { visibility: undefined as never, metas: { default: { title: 'Trees' } } }),
    text,
    'nothing changed',
  )
  const changed = changedDefinition(text, {
    fields: [
      { name: 'height', type: 'int', label: 'Height' },
      { name: 'nr' },
      { name: 'more', type: 'text' },
    ],
    metas: { default: { keyword: ['a', 'b'] }, dcat: { creator: 'X' } },
  })
  for (const comment of ['# about trees', '# from the town', '# metres', "title: 'Trees'"])
    t.match(changed, comment)
  t.match(changed, /name: height +# metres\n\s+type: int\n\s+label: Height[\s\S]*name: nr[\s\S]*name: more/)
  t.throws(() => changedDefinition(text, { id: ['lost'], fields: [{ name: 'UPPER' }] }), {
    code: 'ConfigInvalid',
  })
})

t.test('numbers, line ends and aliases of dataset.yaml stay as long as they mean what they did', t => {
  const source = 'source: { path: a.csv }\n'
  const titled = (rest: string, title: string) =>
    `${source}metas: { default: { ${rest}, title: ${title} } }\n`
  const title = { metas: { default: { title: 'B' } } }
  for (const written of ['ref: [ 007, 1e3, 0x1F, yes, ~ ]', 'ref: &unused 1.10', 'a: &a x, b: *a'])
    t.equal(changedDefinition(titled(written, 'A'), title), titled(written, 'B'), written)
  const windows = titled('a: 1', 'A').replaceAll('\n', '\r\n')
  t.equal(changedDefinition(windows, title), windows.replace('A', 'B'))
  t.equal(
    changedDefinition(`${source}metas: { default: { title: &t A, description: *t } }\n`, title),
    `${source}metas: { default: { title: B, description: A } }\n`,
    'an alias does not change with what it stood for',
  )
  const fields = `${source}fields:\n  - { name: a, annotations: &f { facet: [] } }\n  - { name: b, annotations: *f }\n`
  t.equal(
    changedDefinition(fields, { fields: [{ name: 'b' }] }),
    `${source}fields:\n  - { name: b, annotations: { facet: [] } }\n`,
    'nor is it lost with it',
  )
  t.match(
    changedDefinition(`${source}metas:\n`, title),
    /metas:\n {2}default:\n {4}title: B\n$/,
    'an empty member',
  )
  t.throws(() => changedDefinition(`${source}id: [a\nmetas: {}`, title), {
    code: 'ConfigInvalid',
    place: { file: 'dataset.yaml', line: 3 },
    message: /^dataset.yaml:3:\d+: /,
  })
  t.end()
})

/** Answers of pages to a browser without scripts, which is signed in as somebody. */
function browserOf(app: Awaited<ReturnType<typeof portalOf>>['app'], cookie: string | null) {
  const answered = async (options: InjectOptions) => {
    const answer = await app.http.inject(options)
    return { status: answer.statusCode, body: answer.body, location: String(answer.headers.location ?? '') }
  }
  const headers = cookie === null ? {} : { cookie }
  const sends = (url: string, type: string, payload: string | Buffer) =>
    answered({ method: 'POST', url, headers: { ...headers, 'content-type': type }, payload })
  return {
    get: async (url: string) => {
      const answer = await answered({ url, headers: { accept: 'text/html', ...headers } })
      // The address of a form is to have the digest of its text.
      if (!answer.location.includes('opened=')) return answer
      return answered({ url: answer.location, headers: { accept: 'text/html', ...headers } })
    },
    post: (url: string, fields: Record<string, string>) =>
      sends(url, 'application/x-www-form-urlencoded', new URLSearchParams(fields).toString()),
    upload: async (url: string, token: string, name: string, content: string) => {
      const form = new FormData()
      form.append('form_token', token)
      form.append('file', new Blob([content]), name)
      const encoded = new Response(form)
      const type = encoded.headers.get('content-type') ?? ''
      return sends(url, type, Buffer.from(await encoded.arrayBuffer()))
    },
  }
}

const tokenOf = (page: string) => /name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? ''

t.test('the desk: the same with pages and forms, without scripts', async t => {
  const { portal, app } = await portalOf(t)
  const sessionOf = async (name: string, grants: readonly string[]) => {
    const { id } = await app.accounts.users.add(name, 'a password that is long enough')
    for (const grant of grants) await app.accounts.users.grant(name, grant)
    return `lodestone-session=${(await app.accounts.sessions.begin(id)).token}`
  }
  const { get, post, upload } = browserOf(app, await sessionOf('anna', ['publish:*']))
  const other = browserOf(app, await sessionOf('carl', []))
  const anybody = browserOf(app, null)
  const token = tokenOf((await get('/desk/')).body)
  const own = '/desk/street-trees'
  const dataset = '/explore/dataset/street-trees/'

  await t.test('it is for publishers, and for forms of its own', async t => {
    t.match((await anybody.get('/desk/')).location, '/account/login/')
    t.equal((await other.get('/desk/')).status, 403)
    t.equal(
      (await upload('/desk/', 'another token', 'Street trees.csv', CSV)).status,
      403,
      'a form of another site',
    )
  })

  await t.test('a file becomes a draft, whose fields are chosen', async t => {
    const first = await upload('/desk/', token, 'Street trees.csv', CSV)
    t.equal(first.status, 303)
    t.equal(first.location, '/desk/street-trees/')
    const page = await get(first.location)
    for (const text of [
      'Oak',
      '12.5',
      'name="type.2"',
      'Publish',
      '<option value="double" selected>Decimal number</option>',
    ])
      t.match(page.body, text)
    const form = {
      form_token: tokenOf(page.body),
      action: 'fields',
      'name.0': 'nr',
      'type.0': 'int',
      'label.0': 'Number',
      identity: '1',
      'id.0': '1',
    }
    const saved = await post(`${own}/fields/`, {
      ...form,
      'name.1': 'name',
      'type.1': 'text',
      'facet.1': '1',
      'name.2': 'height',
      'type.2': 'double',
    })
    t.equal(saved.location, '/desk/street-trees/fields/?done=1')
    t.match((await get(saved.location)).body, /name="id.0" value="1"[^>]* checked/)
    const wrong = await post(`${own}/fields/`, { ...form, 'type.0': 'nonsense' })
    t.equal(wrong.status, 400)
    t.match(wrong.body, 'nonsense', 'what is wrong stands on the page')
  })

  await t.test('it is described and published', async t => {
    const described = {
      form_token: token,
      action: 'description',
      'default.title': 'Trees <b>',
      'default.keyword': 'a; b',
      'dcat.accrualperiodicity': 'ANNUAL',
      visibility: 'public',
    }
    t.equal((await post(`${own}/description/`, described)).status, 303)
    t.match((await get(`${own}/description/`)).body, 'value="Trees &lt;b&gt;"')
    t.match((await get(`${own}/report/`)).body, 'No errors: ready to publish')
    t.equal((await post(`${own}/fields/`, { form_token: 'x', action: 'publish' })).status, 403)
    t.equal((await other.post(`${own}/fields/`, { form_token: token, action: 'publish' })).status, 403)
    t.equal((await post(`${own}/fields/`, { form_token: token, action: 'publish' })).status, 303)
    for (let tries = 0; tries < 600 && app.catalog.entries().length === 0; tries++) await sleep(50)
    t.match((await anybody.get(dataset)).body, 'Trees &lt;b&gt;')
    const yaml = readFileSync(path.join(portal, 'data/street-trees/dataset.yaml'), 'utf8')
    t.match(yaml, /^id:\s*(?:\[ ?nr ?\]|\n\s*- nr)$/m)
    t.match(yaml, /annotations:\s*\n?\s*\{?\s*facet: \[\]|facet: \[\]/)
  })

  await t.test('its page is linked for those who see it', async t => {
    for (const visibility of ['restricted', 'public'] as const) {
      const page = await get(`${own}/description/`)
      const form = { form_token: token, action: 'description', 'default.title': 'Trees', visibility }
      await post(`${own}/description/`, {
        ...form,
        opened: /name="opened" value="([^"]*)"/.exec(page.body)?.[1] ?? '',
      })
      await post(`${own}/fields/`, { form_token: token, action: 'publish' })
      const isDone = () => app.catalog.entries()[0]?.dataset.visibility === visibility
      for (let tries = 0; tries < 600 && !isDone(); tries++) await sleep(50)
      t.equal((await get(`${own}/`)).body.includes(`href="${dataset}"`), visibility === 'public', visibility)
    }
  })

  await t.test('changes are discarded, and not published where a column is missing', async t => {
    const mapping =
      "prefixes: { ex: 'http://ex.test/' }\nmappings:\n  tree:\n    subject: portal:trees/$(nr)\n    predicateobjects:\n      - [ex:name, $(name)]\n"
    t.equal(
      (await post(`${own}/mapping/`, { form_token: token, action: 'mapping', text: mapping })).status,
      303,
    )
    t.match((await get(`${own}/`)).body, 'with changes')
    const discarded = await post(`${own}/mapping/`, { form_token: token, action: 'discard' })
    t.equal(discarded.location, `${own}/mapping/`, 'nothing was saved')
    t.notMatch((await get(`${own}/`)).body, 'with changes')
    const other = await upload(`${own}/fields/`, token, 'Street trees.csv', 'nr,name,age\n1,x,9\n')
    t.equal(other.location, `${own}/fields/?done=1`)
    t.match(
      (await get(other.location)).body,
      /The file has no columns for these fields: height\.[\s\S]*Columns of the file that are no fields: age\./,
    )
    t.match((await get(`${own}/report/`)).body, 'height', 'a column that is missing is told')
    t.equal((await post(`${own}/fields/`, { form_token: token, action: 'publish' })).status, 400)
    await post(`${own}/source/`, { form_token: token, action: 'source', infer: '1' })
    t.match(
      (await get(`${own}/`)).body,
      /Fields that go with these changes: height\.[\s\S]*Fields that come with these changes: age\./,
    )
    t.equal((await post(`${own}/fields/`, { form_token: token, action: 'discard' })).status, 303)
  })

  await t.test('it is withdrawn', async t => {
    t.match((await get(`${own}/history/?lang=de`)).body, 'Verlauf')
    const question = (await get(`${own}/history/?ask=withdraw`)).body
    t.match(question, /earlier versions are deleted[\s\S]*name="action" value="withdraw"/)
    t.equal((await anybody.get(dataset)).status, 200, 'it is asked first')
    t.equal((await post(`${own}/history/`, { form_token: token, action: 'withdraw' })).status, 303)
    t.equal((await anybody.get(dataset)).status, 404)
    t.match((await get('/desk/')).body, 'withdrawn')
  })

  await t.test('files that are no data are refused', async t => {
    for (const name of ['tool.exe', 'dataset.yaml']) {
      const refused = await upload('/desk/', token, name, 'MZ\0\u0001\u0002\0\0\u0003')
      t.equal(refused.status, 400, name)
      t.match(refused.body, 'role="alert"')
    }
  })
})

t.test('a file that is refused while it is sent does not hold its connection', async t => {
  const { app, keyOf } = await portalOf(t)
  const key = await keyOf('ann', ['publish:*'])
  const address = await app.http.listen({ port: 0, host: '127.0.0.1' })
  const options = { method: 'PUT', headers: { authorization: `Apikey ${key}`, 'content-type': 'text/csv' } }
  const sent = request(`${address}${API}/large/resources/files/a.csv`, options)
  sent.on('error', () => undefined).write(Buffer.alloc(12_000_000, 'a,b\n'))
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  t.equal(answer.statusCode, 413)
  sent.destroy()
  for (let tries = 0; tries < 100; tries++) {
    const open = await promisify(app.http.server.getConnections.bind(app.http.server))()
    if (open === 0) return
    await sleep(50)
  }
  t.fail('the connection is still open')
})
