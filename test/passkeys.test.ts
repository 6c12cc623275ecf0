import { createHash, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { makeChallenge, readChallenge, relyingParty } from '../src/portal/account/passkeys/ceremony.ts'
import { accountServer, Browser, hiddenFields, PASSWORD, plain } from './support/account-server.ts'
import { codeAt } from './support/totp.ts'

/** Passkeys, with an authenticator in software that also lies. */
const BASE = 'https://portal.test'
const PATH = '/account/passkeys/'

/** CBOR (RFC 8949), as far as authenticators write it. */
function cbor(value: number | string | Uint8Array | ReadonlyMap<number | string, unknown>): Buffer {
  const head = (major: number, length: number) =>
    length < 24
      ? Buffer.of((major << 5) | length)
      : length < 256
        ? Buffer.of((major << 5) | 24, length)
        : Buffer.of((major << 5) | 25, length >> 8, length & 255)
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  const pairs = [...value].map(([key, member]) =>
    Buffer.concat([cbor(key), cbor(member as Parameters<typeof cbor>[0])]),
  )
  return Buffer.concat([head(5, value.size), ...pairs])
}

interface Lies {
  readonly origin?: string
  readonly rpId?: string
  readonly type?: string
  readonly flags?: number
  readonly counter?: number
  readonly challenge?: string
  readonly userHandle?: string | null
  readonly key?: KeyObject
}

/** User present and verified, and with data of a credential (section 6.1). */
const [UP, UV, AT] = [1, 4, 64]

class Authenticator {
  readonly id = Buffer.from(`credential ${Math.random()}`)
  readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  counter = 0
  userHandle = ''

  create(options: Options, lies: Lies = {}): string {
    this.userHandle = options.user?.id ?? ''
    const { x = '', y = '' } = this.keys.publicKey.export({ format: 'jwk' })
    const point = (text: string) => Buffer.from(text, 'base64url')
    const key = cbor(
      new Map<number, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, point(x)],
        [-3, point(y)],
      ]),
    )
    const length = Buffer.of(this.id.length >> 8, this.id.length & 255)
    const data = Buffer.concat([
      this.data(options.rp?.id ?? '', UP | UV | AT, lies),
      Buffer.alloc(16),
      length,
      this.id,
      key,
    ])
    const attestation = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', data],
    ])
    return this.credential({
      clientDataJSON: this.client('webauthn.create', options, lies).toString('base64url'),
      attestationObject: cbor(attestation).toString('base64url'),
      transports: ['internal', 'made up'],
    })
  }

  sign(options: Options, lies: Lies = {}): string {
    const data = this.data(options.rpId ?? '', UP | UV, lies)
    const client = this.client('webauthn.get', options, lies)
    const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
    const handle = lies.userHandle === undefined ? this.userHandle : lies.userHandle
    return this.credential({
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: createSign('sha256')
        .update(signed)
        .sign(lies.key ?? this.keys.privateKey)
        .toString('base64url'),
      ...(handle === null ? {} : { userHandle: handle }),
    })
  }

  private credential(response: object): string {
    const id = this.id.toString('base64url')
    return JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response })
  }

  private client(type: string, options: Options, lies: Lies): Buffer {
    const { challenge = options.challenge, origin = BASE } = lies
    return Buffer.from(JSON.stringify({ type: lies.type ?? type, challenge, origin, crossOrigin: false }))
  }

  private data(rpId: string, flags: number, lies: Lies): Buffer {
    const head = Buffer.alloc(37)
    createHash('sha256')
      .update(lies.rpId ?? rpId)
      .digest()
      .copy(head)
    head[32] = lies.flags ?? flags
    head.writeUInt32BE(lies.counter ?? ++this.counter, 33)
    return head
  }
}

interface Options {
  readonly challenge: string
  readonly rpId?: string
  readonly rp?: { readonly id: string }
  readonly user?: { readonly id: string; readonly name: string }
  readonly allowCredentials?: readonly { readonly id: string }[]
  readonly excludeCredentials?: readonly { readonly id: string }[]
  readonly userVerification?: string
}

/** The form of a page that carries a passkey: what the browser is asked for, and its other fields. */
function formIn(page: LightMyRequestResponse, kind: 'create' | 'get') {
  const found = new RegExp(
    `<form method="post" action="[^"]*" data-passkey="${kind}" data-options="([^"]*)"[^>]*>(.*?)</form>`,
    's',
  ).exec(page.body)
  if (found === null) throw new Error(`there is no form: ${page.body.slice(0, 2000)}`)
  const [, options = '', body = ''] = found
  return { options: JSON.parse(plain(options)) as Options, hidden: hiddenFields(body) }
}

async function portal(t: Test, base = BASE) {
  const server = await accountServer(base, { place: null })
  t.teardown(() => server.close())
  const { id } = await server.accounts.users.add('ada', PASSWORD)
  const ada = new Browser(server.http)
  await ada.logIn('ada')
  const add = async (key: Authenticator, lies: Lies = {}, fields: Record<string, string> = {}) => {
    const { options, hidden } = formIn(await ada.get(PATH), 'create')
    const credential = key.create(options, lies)
    return ada.post(PATH, { ...hidden, credential, label: 'Telephone', password: PASSWORD, ...fields })
  }
  let address = 0
  const signIn = async (key: Authenticator, lies: Lies = {}, browser = new Browser(server.http)) => {
    const { options, hidden } = formIn(await browser.get('/account/login/?next=/explore/'), 'get')
    const credential = key.sign(options, lies)
    const headers = { 'x-address': `192.0.2.${++address}` }
    const fields = { ...hidden, credential }
    return { browser, fields, answer: await browser.post('/account/login/', fields, headers) }
  }
  const actions = async () => {
    const found: string[] = []
    for await (const { actor, action, subject } of server.accounts.audit.events(0))
      found.push(`${actor}: ${action} ${subject}`)
    return found.filter(each => /passkey/.test(each)).map(each => each.replace(/^local:[^:]*/, 'local'))
  }
  return { server, accounts: server.accounts, id, ada, add, signIn, actions }
}

t.test('a passkey is added, signs in, is renamed and removed', async t => {
  const { accounts, id, ada, add, signIn, actions } = await portal(t)
  const key = new Authenticator()
  const page = await ada.get(PATH)
  t.match(page.body, /You have no passkeys/)
  t.match(page.headers['content-security-policy'], /default-src 'none'; style-src 'self'; script-src 'self';/)
  t.notMatch((await ada.get('/account/')).headers['content-security-policy'], /script-src/)
  const { options } = formIn(page, 'create')
  t.match(options, { rp: { id: 'portal.test' }, user: { name: 'ada' }, excludeCredentials: [] })
  t.match(await add(key), { statusCode: 303, headers: { location: PATH } })
  t.match(await accounts.passkeys.credentials(id), [{ transports: ['internal'], counter: 1 }])
  const again = formIn(await ada.get(PATH), 'create')
  t.match(again.options.excludeCredentials, [{ id: key.id.toString('base64url') }])
  const { browser, answer } = await signIn(key)
  t.match(answer, { statusCode: 303, headers: { location: '/explore/' } })
  t.equal((await browser.get('/account/')).statusCode, 200)
  const [one] = await accounts.passkeys.list(id)
  t.match(one, { label: 'Telephone', lastUse: String })
  const listed = await ada.get(PATH)
  const { form_token: token = '' } = formIn(listed, 'create').hidden
  const change = (fields: Record<string, string>) => ada.post(PATH, { form_token: token, ...fields })
  const number = String(one?.id)
  t.equal((await change({ action: 'rename', id: number, label: 'Old telephone' })).statusCode, 303)
  t.match(await change({ action: 'rename', id: number, label: '' }), { statusCode: 400, body: /1 to 200/ })
  t.match((await ada.get(PATH)).body, /Old telephone/)
  t.equal((await change({ action: 'rename', id: '999', label: 'x' })).statusCode, 404)
  t.equal((await change({ action: 'remove', id: 'x' })).statusCode, 400)
  t.equal((await change({ action: 'other' })).statusCode, 400)
  t.equal((await ada.post(PATH, { action: 'remove', id: number })).statusCode, 403, 'not without our form')
  t.equal((await change({ action: 'remove', id: number })).statusCode, 303)
  t.equal((await signIn(key)).answer.statusCode, 401)
  t.same(await actions(), [
    'local: passkey added ada: Telephone',
    'ada: signed in by passkey',
    `local: passkey removed ada: ${number}`,
    'anonymous: sign-in failed passkey',
  ])
})

t.test('what is not as it must be adds no passkey', async t => {
  const { accounts, id, ada, add } = await portal(t)
  for (const [lie, lies] of Object.entries<Lies>({
    'another origin': { origin: 'https://portal.test.evil.example' },
    'without TLS': { origin: 'http://portal.test' },
    'another relying party': { rpId: 'evil.example' },
    'a signature of sign-in': { type: 'webauthn.get' },
    'nobody was there': { flags: UV | AT },
    'not verified': { flags: UP | AT },
    'another challenge': { challenge: Buffer.alloc(54).toString('base64url') },
  }))
    t.equal((await add(new Authenticator(), lies)).statusCode, 400, lie)
  t.equal((await add(new Authenticator(), {}, { password: 'not the password' })).statusCode, 403)
  for (const credential of ['', '{', 'null', '{"id":1}', '{"id":"a","response":{}}', '[]'])
    t.equal((await add(new Authenticator(), {}, { credential })).statusCode, 400, credential)
  t.equal((await add(new Authenticator(), {}, { label: ' ' })).statusCode, 400)
  const { options, hidden } = formIn(await ada.get(PATH), 'create')
  const fields = { ...hidden, label: 'x', password: PASSWORD }
  const first = await ada.post(PATH, { ...fields, credential: new Authenticator().create(options) })
  t.equal(first.statusCode, 303)
  const second = await ada.post(PATH, { ...fields, credential: new Authenticator().create(options) })
  t.equal(second.statusCode, 400, 'a challenge serves once')
  const key = new Authenticator()
  t.equal((await add(key)).statusCode, 303)
  t.match(await add(key), { statusCode: 400, body: /registered already/ })
  t.equal((await accounts.passkeys.list(id)).length, 2)
  for (let more = 2; more < 20; more++)
    await accounts.passkeys.add(id, 'x', {
      credential: String(more),
      publicKey: new Uint8Array(1),
      counter: 0,
      transports: [],
    })
  t.match(await add(new Authenticator()), { statusCode: 400, body: /at most 20 passkeys/ })
})

t.test('what is not as it must be signs nobody in', async t => {
  const { server, accounts, add, signIn } = await portal(t)
  const key = new Authenticator()
  await add(key)
  await accounts.users.add('bob', PASSWORD)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  for (const [lie, lies] of Object.entries<Lies>({
    'another key': { key: privateKey },
    'another origin': { origin: 'https://evil.example' },
    'another relying party': { rpId: 'evil.example' },
    'made for another purpose': { type: 'webauthn.create' },
    'nobody was there': { flags: UV },
    'not verified': { flags: UP },
    'another challenge': { challenge: Buffer.alloc(54).toString('base64url') },
    'no user': { userHandle: null },
    'another user': { userHandle: accounts.passkeys.handle(2) },
    'a counter that stands still': { counter: 1 },
  })) {
    const { browser, answer } = await signIn(key, lies)
    t.match(answer, { statusCode: 401, body: /This passkey was not accepted/ }, lie)
    t.equal((await browser.get('/account/')).statusCode, 303, lie)
  }
  t.equal((await signIn(new Authenticator())).answer.statusCode, 401, 'an unknown passkey')
  const { browser, fields, answer } = await signIn(key)
  t.equal(answer.statusCode, 303)
  browser.cookies.delete('__Host-lodestone-session')
  const login = await browser.get('/account/login/')
  const replayed = { ...fields, form_token: formIn(login, 'get').hidden.form_token ?? '' }
  t.equal((await browser.post('/account/login/', replayed)).statusCode, 401, 'in another browser or sign-in')
  const late = new Browser(server.http)
  const { options, hidden } = formIn(await late.get('/account/login/'), 'get')
  server.wait(16 * 60_000)
  const credential = key.sign(options)
  t.equal((await late.post('/account/login/', { ...hidden, credential })).statusCode, 401, 'too late')
})

t.test('a challenge serves once and a counter rises, also of two at once', async t => {
  const { server, add, signIn } = await portal(t)
  const key = new Authenticator()
  await add(key)
  const browser = new Browser(server.http)
  const { options, hidden } = formIn(await browser.get('/account/login/'), 'get')
  const credentials = [key.sign(options), key.sign(options)]
  const answers = await Promise.all(
    credentials.map(credential => browser.post('/account/login/', { ...hidden, credential })),
  )
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [303, 401])
  // Passkeys that are kept by a service have no counter.
  const synced = new Authenticator()
  await add(synced, { counter: 0 })
  for (let times = 0; times < 2; times++)
    t.equal((await signIn(synced, { counter: 0 })).answer.statusCode, 303)
})

t.test('in two-step sign-in a passkey takes the place of the code', async t => {
  const { server, accounts, id, add, signIn } = await portal(t)
  const key = new Authenticator()
  const { secret, sealed } = await accounts.secondFactors.begin(id, 'session')
  await accounts.secondFactors.confirm(id, 'session', sealed, codeAt(secret, Date.now()))
  const before = await new Browser(server.http).logIn('ada')
  t.notMatch(before.body, /data-passkey/, 'without passkeys there is no button')
  await add(key)
  const browser = new Browser(server.http)
  const step = await browser.logIn('ada', PASSWORD, '/explore/')
  t.match(step.body, /Two-step sign-in/)
  const { options, hidden } = formIn(step, 'get')
  t.match(options, {
    userVerification: 'preferred',
    allowCredentials: [{ id: key.id.toString('base64url') }],
  })
  const other = await browser.post('/account/login/', {
    ...hidden,
    credential: new Authenticator().sign(options),
  })
  t.equal(other.statusCode, 401)
  const credential = key.sign(options, { flags: UP, userHandle: null })
  const done = await browser.post('/account/login/', { ...hidden, credential })
  t.match(done, { statusCode: 303, headers: { location: '/explore/' } })
  t.equal((await browser.get('/account/')).statusCode, 200)
  t.equal((await signIn(key)).answer.statusCode, 303, 'alone it is both steps')
  // Somebody else's passkey is none, whatever it signs.
  await accounts.users.add('bob', PASSWORD)
  const bob = new Browser(server.http)
  await bob.logIn('bob')
  const theirs = new Authenticator()
  const form = formIn(await bob.get(PATH), 'create')
  await bob.post(PATH, {
    ...form.hidden,
    credential: theirs.create(form.options),
    label: 'x',
    password: PASSWORD,
  })
  const again = new Browser(server.http)
  const requested = formIn(await again.logIn('ada'), 'get')
  const stolen = await again.post('/account/login/', {
    ...requested.hidden,
    credential: theirs.sign(requested.options),
  })
  t.equal(stolen.statusCode, 401)
})

t.test('failures are limited', async t => {
  const { server, add } = await portal(t)
  await add(new Authenticator())
  const statuses: number[] = []
  const browser = new Browser(server.http)
  const { hidden } = formIn(await browser.get('/account/login/'), 'get')
  for (let tries = 0; tries < 21; tries++)
    statuses.push((await browser.post('/account/login/', { ...hidden, credential: '{}' })).statusCode)
  t.same([...new Set(statuses)], [401, 429])
})

t.test('where browsers have no passkeys, none are offered', async t => {
  t.same(relyingParty({ base: 'https://data.example.org/portal' }), {
    id: 'data.example.org',
    origin: 'https://data.example.org',
  })
  t.ok(relyingParty({ base: 'http://localhost:3000' }))
  for (const base of [
    'http://data.example.org',
    'https://192.0.2.1',
    'https://[2001:db8::1]',
    'http://127.0.0.1:3000',
  ])
    t.equal(relyingParty({ base }), null, base)
  const { ada, server } = await portal(t, 'http://portal.test')
  t.match((await ada.get(PATH)).body, /only at addresses with HTTPS/)
  t.notMatch((await new Browser(server.http).get('/account/login/')).body, /data-passkey/)
})

t.test('challenges are of their place and time', async t => {
  const secret = Buffer.alloc(32, 1)
  const made = makeChallenge(secret, 'get a', 1000)
  t.equal(readChallenge(secret, 'get a', made, 2000), 901_000)
  t.equal(readChallenge(secret, 'get a', made, 901_000), null)
  t.equal(readChallenge(secret, 'get b', made, 2000), null)
  t.equal(readChallenge(Buffer.alloc(32, 2), 'get a', made, 2000), null)
  t.equal(readChallenge(secret, 'get a', '', 2000), null)
  t.not(makeChallenge(secret, 'get a', 1000), made)
})
