import { appendFileSync } from 'node:fs'
import path from 'node:path'
import { inflateRawSync } from 'node:zlib'
import type { LightMyRequestResponse as Answer, InjectOptions } from 'fastify'
import type { Test } from 'tap'
import type { App } from '../../src/app/app.ts'
import type { Config } from '../../src/config/config.ts'
import { GIVEN_PLACE, openAny } from './accounts.ts'
import { BASE, servePortal } from './portal.ts'

/** A portal with a public and a restricted dataset, and people who may see this or that. */
export const OPEN = 'open'
/** The id of the restricted dataset: only public links to it and who asks for it may name it. */
export const HIDDEN = 'xkid'
/** Stands in all that the restricted dataset has, and nowhere else. */
export const WORD = 'zyzzy'
/** What a record of the public dataset links to: public, although what is there is not. */
export const LINKED = `${BASE}/ld/resources/${HIDDEN}/thing/1`

const OPEN_DATASET = `
source: { path: open.csv }
fields:
  - { name: id }
  - { name: name, annotations: { facet: [] } }
  - { name: amount, type: int }
  - { name: place, type: geo_point_2d }
id: [id]
metas: { default: { title: Open things, keyword: [common], publisher: Town, theme: [Town] } }
attachments: [{ path: note.txt, title: A note }]
`
export const HIDDEN_DATASET = `
source: { path: hidden.csv }
fields:
  - { name: id }
  - { name: name, annotations: { facet: [] } }
  - { name: zyzzyfield, label: Zyzzylabel, description: Zyzzydescribed, annotations: { facet: [] } }
  - { name: amount, type: int }
  - { name: place, type: geo_point_2d }
id: [id]
visibility: restricted
metas:
  default:
    title: Zyzzytitle
    description: <p>Zyzzydescription</p>
    keyword: [common, zyzzykeyword]
    theme: [Zyzzytheme]
    publisher: Zyzzypublisher
    license: Zyzzylicence
    license_url: https://zyzzylicence.example/
    references: https://zyzzyreference.example/
  dcat: { creator: Zyzzycreator }
  zyzzytemplate: { zyzzymeta: zyzzymetavalue }
attachments: [{ path: zyzzyfile.txt, title: Zyzzyattachment }]
`
const HIDDEN_MAPPING = `
prefixes: { zv: 'https://zyzzyvocab.example/' }
mappings:
  thing:
    subject: portal:${HIDDEN}/thing/$(id)
    predicateobjects:
      - [a, zv:Zyzzyclass]
      - [rdfs:label, $(name), en~lang]
      - [zv:zyzzyproperty, $(zyzzyfield)]
      - [rdfs:seeAlso, portal:${OPEN}/thing/1~iri]
`
const OPEN_MAPPING = `
prefixes: { ex: 'https://open.example/' }
mappings:
  thing:
    subject: portal:${OPEN}/thing/$(id)
    predicateobjects:
      - [a, ex:Thing]
      - [rdfs:label, $(name), en~lang]
      - [rdfs:seeAlso, portal:${HIDDEN}/thing/$(id)~iri]
      - [ex:typed, portal:${HIDDEN}~iri]
      - [ex:field, '${BASE}/ld/ontologies/${HIDDEN}/zfield~iri']
`

/** The files of the portal, for `t.testdir`. */
export function portalFiles(settings = '') {
  return {
    'portal.yaml': `title: Test\naddress_tokens: allowed\n${settings}`,
    data: {
      [OPEN]: {
        'dataset.yaml': OPEN_DATASET,
        'open.csv': 'id,name,amount,place\n1,one,10,"1,2"\n2,two,20,"3,4"\n',
        'note.txt': 'An open note',
      },
      [HIDDEN]: {
        'dataset.yaml': HIDDEN_DATASET,
        'hidden.csv':
          'id,name,zyzzyfield,amount,place\n1,Zyzzyname,zyzzyvalue,77001,"1,2"\n2,Zyzzyother,zyzzyfacet,77002,"3,4"\n',
        'zyzzyfile.txt': 'Zyzzycontent',
      },
    },
    mappings: {
      [`${OPEN}.yml`]: OPEN_MAPPING,
      [`${HIDDEN}.yml`]: HIDDEN_MAPPING,
      [OPEN]: { 'things.rq': '# Things\nSELECT * { ?s ?p ?o } LIMIT 1\n' },
      [HIDDEN]: { 'zyzzyquery.rq': '# Zyzzyexample\nSELECT * { ?s ?p ?o } LIMIT 1\n' },
    },
  }
}

/** Work for one client without an end: what is fair has tests of its own. */
const PLENTY = { burst: 3600, rate: 1 }

/** Serves a portal folder that is published, its log in `var/log.txt` at level debug. */
export async function serveLogged(t: Test, portal: string, more: Partial<Config> = {}): Promise<App> {
  const environment = GIVEN_PLACE === undefined ? {} : { LODESTONE_ACCOUNTS: GIVEN_PLACE }
  const config = { log: 'debug', deadline: 30, work: PLENTY, ...more } as const
  const { app } = await servePortal(t, { portal, environment, isPublished: false, config })
  await app.http.ready()
  return app
}

/** Has all that the process writes to its log appended to a file as well. */
export function keepLog(t: Test, file: string): void {
  const { write } = process.stderr
  process.stderr.write = ((chunk: string | Uint8Array, ...rest: never[]) => {
    const text = String(chunk)
    if (!text.startsWith('{"level":')) return write.call(process.stderr, chunk, ...rest)
    appendFileSync(file, text)
    return true
  }) as typeof write
  t.teardown(() => {
    process.stderr.write = write
  })
}

export const PASSWORD = 'correct horse battery staple'

/** Makes users with and without grants, and credentials of theirs that are good or no more. */
export async function makePeople(portal: string) {
  const place = GIVEN_PLACE ?? path.join(portal, 'var', 'accounts.sqlite')
  let lag = 0
  const accounts = await openAny(place, { now: () => Date.now() - lag })
  const grants = { none: [], some: [HIDDEN], all: ['*'], monitor: ['ods-api-monitoring'], gone: [HIDDEN] }
  const ids: Record<string, number> = {}
  for (const [name, datasets] of Object.entries(grants)) {
    ids[name] = (await accounts.users.add(name, PASSWORD)).id
    for (const dataset of datasets) await accounts.users.grant(name, dataset)
  }
  const idOf = (name: string) => ids[name] ?? 0
  const key = async (name: string) => (await accounts.keys.create(name, `key of ${name}`)).key
  const { client } = await accounts.clients.register({
    name: 'application',
    owner: 'none',
    redirectUris: ['https://application.example/'],
    type: 'confidential',
  })
  const token = async (name: string): Promise<string> => {
    const grant = { client: client.id, user: idOf(name), scope: 'all', challenge: null }
    const code = await accounts.tokens.issueCode({ ...grant, redirectUri: 'https://application.example/' })
    const descent = await accounts.tokens.findCode(code)
    const issued = descent === null ? null : await accounts.tokens.issue(descent)
    if (issued === null) throw new Error(`no token for ${name}`)
    return issued.accessToken
  }
  lag = 2 * 3600 * 1000
  const expiredToken = await token('some')
  lag = 0
  const secrets = {
    noneKey: await key('none'),
    someKey: await key('some'),
    allKey: await key('all'),
    monitorKey: await key('monitor'),
    goneKey: await key('gone'),
    revokedKey: await key('some'),
    noneToken: await token('none'),
    someToken: await token('some'),
    revokedToken: await token('some'),
    expiredToken,
    noneSession: (await accounts.sessions.begin(idOf('none'))).token,
    someSession: (await accounts.sessions.begin(idOf('some'))).token,
    endedSession: (await accounts.sessions.begin(idOf('some'))).token,
  }
  await accounts.keys.revoke(secrets.revokedKey)
  await accounts.tokens.revoke(secrets.revokedToken, client.id)
  await accounts.sessions.end(secrets.endedSession)
  await accounts.users.remove('gone')
  return { accounts, secrets }
}

/** How somebody shows who it is. */
export type Shown = Pick<InjectOptions, 'headers'> & {
  readonly query?: string
  readonly form?: string
}

export const byHeader = (value: string): Shown => ({ headers: { authorization: value } })
export const byKey = (key: string): Shown => byHeader(`Apikey ${key}`)
export const byToken = (token: string): Shown => byHeader(`Bearer ${token}`)
export const basic = (name: string, key: string) =>
  `Basic ${Buffer.from(`${name}:${key}`).toString('base64')}`

/** Asks an instance, in process. */
export function ask(
  { http }: Pick<App, 'http'>,
  url: string,
  shown: Shown = {},
  more: InjectOptions = {},
): Promise<Answer> {
  const address = shown.query === undefined ? url : `${url}${url.includes('?') ? '&' : '?'}${shown.query}`
  const headers = { ...more.headers, ...shown.headers }
  if (shown.form === undefined) return http.inject({ ...more, url: address, headers })
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const post = { method: 'POST', url: address, payload: shown.form } as const
  return http.inject({ ...more, ...post, headers: { ...headers, ...type } })
}

/** All that an answer tells, in lower case: headers and body, with what a zip file has in it. */
export function textOf({ headers, rawPayload }: Answer): string {
  return `${JSON.stringify(headers)}\n${rawPayload.toString('utf8')}\n${unzipped(rawPayload)}`.toLowerCase()
}

function unzipped(bytes: Buffer): string {
  const parts: string[] = []
  for (let at = bytes.indexOf('PK\x03\x04'); at >= 0; at = bytes.indexOf('PK\x03\x04', at + 4)) {
    const start = at + 30 + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28)
    if (bytes.readUInt16LE(at + 8) === 8) parts.push(inflateRawSync(bytes.subarray(start)).toString('utf8'))
  }
  return parts.join('\n')
}
