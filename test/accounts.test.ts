import { spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import Libsql from 'libsql'
import t, { type Test } from 'tap'
import type { Accounts } from '../src/accounts/accounts.ts'
import { createCleaning } from '../src/accounts/cleaning.ts'
import { Database } from '../src/accounts/database.ts'
import { MIGRATIONS } from '../src/accounts/migrations.ts'
import { openAccounts } from '../src/accounts/open.ts'
import { randomText } from '../src/accounts/secrets.ts'
import { Fault } from '../src/errors.ts'

const [MINUTE, HOUR, DAY] = [60_000, 3600_000, 24 * 3600_000]
const BEGIN = Date.parse('2026-11-21T12:00:00Z')
const PASSWORD = 'a long password'
const CALLBACK = 'https://app.example/callback'

interface Opened {
  readonly file: string
  readonly accounts: Accounts
  /** A second connection, as another process has one. */
  readonly other: Accounts
  readonly clock: { now: number }
}

function open(t: Test): Opened {
  const file = path.join(t.testdir({}), 'var', 'accounts.sqlite')
  const clock = { now: BEGIN }
  const options = { now: () => clock.now }
  const accounts = openAccounts(file, options)
  const other = openAccounts(file, options)
  t.teardown(() => {
    accounts.close()
    other.close()
  })
  return { file, accounts, other, clock }
}

/** A user with an application, and what an authorization of it begins with. */
async function withClient({ accounts }: Opened, type: 'confidential' | 'public' = 'confidential') {
  const user = await accounts.users.add('ann', PASSWORD)
  const { client, secret } = accounts.clients.register({
    name: 'Maps',
    owner: 'ann',
    redirectUris: [CALLBACK],
    type,
  })
  const grant = { client: client.id, user: user.id, redirectUri: CALLBACK, scope: 'all', challenge: null }
  const authorise = () => {
    const code = accounts.tokens.issueCode(grant)
    const descent = accounts.tokens.findCode(code)
    if (descent === null) throw new Error('a code that was issued is not known')
    const issued = accounts.tokens.issue(descent)
    if (issued === null) throw new Error('no tokens')
    return { code, descent, ...issued }
  }
  return { user, client, secret, grant, authorise }
}

/** The fault that work ends with, as `code: message`; or what it gave. */
async function faultOf(work: () => unknown): Promise<string> {
  try {
    return `no fault but ${JSON.stringify(await work())}`
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return `${error.code}: ${error.message}`
  }
}

/** Opens accounts in several processes at once, and spends the same codes and refresh tokens in each. */
function inProcesses(count: number, file: string, secrets: readonly string[]) {
  const script = path.resolve(import.meta.dirname, 'support/spender.ts')
  const args = ['--import=tsx', script, file, String(Date.now() + 4000), ...secrets]
  const end = () =>
    new Promise<{ readonly won: readonly string[]; readonly secret: string }>((resolve, reject) => {
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      let text = ''
      child.stdout.on('data', piece => {
        text += String(piece)
      })
      child.once('close', code =>
        code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`a process ended with ${code}`)),
      )
    })
  return Promise.all(Array.from({ length: count }, end))
}

t.test('users: names, passwords, quotas and grants', async t => {
  const opened = open(t)
  const { users } = opened.accounts
  const ann = await users.add('Ann', PASSWORD)
  t.same(ann, { id: 1, name: 'Ann', created: '2026-11-21T12:00:00.000Z', grants: [], quota: null })
  t.match(await users.add('zoë@x.example', 'p'.repeat(1000), 5), { id: 2, quota: 5 })
  const long = 'x'.repeat(101)
  const refused: readonly (readonly [() => unknown, RegExp])[] = [
    [() => users.add('aNN', PASSWORD), /^AccountInvalid: There is a user aNN already/],
    [() => users.add('ＡＮＮ', PASSWORD), /^AccountInvalid: There is a user/],
    [() => users.add('', PASSWORD), /^AccountInvalid: A user name has 1 to 100/],
    [() => users.add('a b', PASSWORD), /^AccountInvalid: .*"a b" was found/],
    [() => users.add('a\u001b[31m', PASSWORD), /^AccountInvalid: .*"a\?\[31m" was found/],
    [() => users.add("a'; DROP TABLE user; --", PASSWORD), /^AccountInvalid/],
    [() => users.add(long, PASSWORD), /^AccountInvalid/],
    [() => users.add('bob', '123456789'), /^AccountInvalid: .* 10 to 1000 .*9 characters were found/],
    [() => users.add('bob', 'é'.normalize('NFD').repeat(9)), /9 characters were found/],
    [() => users.add('bob', 'p'.repeat(1001)), /1001 characters were found/],
    [() => users.add('bob', PASSWORD, -1), /^AccountInvalid: A quota is/],
    [() => users.add('bob', PASSWORD, 1.5), /^AccountInvalid: A quota is/],
    [() => users.find('bob'), /^AccountUnknown: There is no user bob/],
    [() => users.setQuota('bob', 1), /^AccountUnknown/],
    [() => users.setQuota('ann', Number.NaN), /^AccountInvalid/],
    [() => users.setPassword('bob', PASSWORD), /^AccountUnknown/],
    [() => users.setPassword('ann', 'short'), /^AccountInvalid: .*5 characters/],
    [() => users.grant('bob', 'trees'), /^AccountUnknown/],
    [() => users.grant('ann', 'Big Trees'), /^AccountInvalid: A grant is/],
    [() => users.grant('ann', ''), /^AccountInvalid/],
    [() => users.revoke('ann', 'trees'), /^AccountUnknown: The user ann has no grant of trees/],
    [() => users.revoke('bob', 'trees'), /^AccountUnknown/],
    [() => users.remove('bob'), /^AccountUnknown/],
  ]
  for (const [work, fault] of refused) {
    const told = await faultOf(work)
    t.match(told, fault, String(work))
    t.notMatch(told, /123456789"|short\b|a long password/, 'no password is told')
  }
  users.grant('ANN', 'trees')
  users.grant('ann', 'trees')
  users.grant('ann', 'elms')
  users.setQuota('ann', 7)
  t.match(opened.other.users.find('ann'), { grants: ['elms', 'trees'], quota: 7 })
  users.revoke('ann', 'elms')
  users.setQuota('ann', null)
  t.match(opened.other.users.byId(1), { name: 'Ann', grants: ['trees'], quota: null })
  t.same(
    users.list().map(({ name }) => name),
    ['Ann', 'zoë@x.example'],
  )
  t.equal(users.byId(99), null)
  users.remove('ann')
  t.match(
    await users.add('ann', PASSWORD),
    { id: 3, grants: [] },
    'no id is given twice, nothing is inherited',
  )
})

t.test('passwords are verified', async t => {
  const { accounts, other } = open(t)
  await accounts.users.add('Ann', 'Zoë and more'.normalize('NFD'))
  await accounts.users.add('bob', 'p'.repeat(1000))
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['Ann', 'Zoë and more', true],
    ['aNN', 'Zoë and more'.normalize('NFD'), true],
    ['ann', 'zoë and more', false],
    ['ann', 'Zoë and more ', false],
    ['ann', '', false],
    ['bob', 'p'.repeat(1000), true],
    ['bob', 'p'.repeat(100_000), false],
    ['nobody', 'Zoë and more', false],
    ['', '', false],
  ]
  for (const [name, password, right] of rows)
    t.equal((await other.users.verify(name, password)) !== null, right, `${name} ${password.slice(0, 20)}`)
  const session = accounts.sessions.begin(1)
  await accounts.users.setPassword('ann', PASSWORD)
  t.equal(other.sessions.principal(session.token), null, 'another password ends the sessions')
  t.equal(await other.users.verify('ann', 'Zoë and more'), null)
  t.match(await other.users.verify('ann', PASSWORD), { name: 'Ann' })
  const pending = other.users.verify('ann', PASSWORD)
  accounts.users.remove('ann')
  t.equal(await pending, null, 'who is removed meanwhile is not let in')
})

t.test('an unknown user costs what a known one does', async t => {
  const { accounts } = open(t)
  await accounts.users.add('ann', PASSWORD)
  const processorTime = async (name: string, password: string) => {
    const before = process.cpuUsage()
    for (let each = 0; each < 3; each++) await accounts.users.verify(name, password)
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const known = await processorTime('ann', 'a wrong password')
  for (const [name, password] of [
    ['nobody', 'a wrong password'],
    ['ann', 'x'.repeat(100_000)],
    ['nobody', ''],
  ] as const) {
    const time = await processorTime(name, password)
    t.ok(time > known / 3 && time < known * 3, `${name}: ${time} µs, known ${known} µs`)
  }
})

t.test('keys', async t => {
  const opened = open(t)
  const { accounts, other, clock } = opened
  await accounts.users.add('ann', PASSWORD, 9)
  await accounts.users.add('bob', PASSWORD)
  accounts.users.grant('ann', 'trees')
  const { key, id } = accounts.keys.create('Ann', ' a label ')
  t.match(key, /^[A-Za-z][A-Za-z0-9]{47}$/)
  t.same(other.keys.principal(key), {
    type: 'user',
    id: 1,
    name: 'ann',
    grants: new Set(['trees']),
    quota: 9,
    by: 'key',
  })
  for (const none of [
    '',
    key.slice(1),
    `${key}x`,
    key.toLowerCase(),
    'x'.repeat(1_000_000),
    "' OR 1=1 --",
    '\0',
  ])
    t.equal(other.keys.principal(none), null, `no key: ${JSON.stringify(none.slice(0, 60))}`)
  accounts.users.revoke('ann', 'trees')
  accounts.users.grant('ann', '*')
  t.same(other.keys.principal(key)?.grants, new Set(['*']), 'grants count at once')
  const listed = {
    id,
    user: 'ann',
    label: 'a label',
    hint: key.slice(0, 6),
    created: '2026-11-21T12:00:00.000Z',
  }
  t.same(accounts.keys.list(), [{ ...listed, lastUse: null }])
  t.same(
    other.keys.list('ANN'),
    [{ ...listed, lastUse: '2026-11-21T12:00:00.000Z' }],
    'noted where it was used',
  )
  t.same(other.keys.list('bob'), [])
  const refused: readonly (readonly [() => unknown, RegExp])[] = [
    [() => accounts.keys.create('nobody', ''), /^AccountUnknown: There is no user nobody/],
    [() => accounts.keys.create('ann', 'l'.repeat(201)), /^AccountInvalid: A label has 0 to 200 .* 201/],
    [() => accounts.keys.create('ann', 'two\nlines'), /^AccountInvalid: A label is one line/],
    [() => accounts.keys.list('nobody'), /^AccountUnknown/],
    [() => accounts.keys.revoke(key, 'bob'), /^AccountUnknown: There is no such key/],
    [() => accounts.keys.revoke(String(id), 'bob'), /^AccountUnknown/],
    [() => accounts.keys.revoke(key.slice(0, 6), 'bob'), /^AccountUnknown/],
    [() => accounts.keys.revoke(`${key}x`), /^AccountUnknown: There is no such key/],
    [() => accounts.keys.revoke('%'), /^AccountUnknown/],
    [() => accounts.keys.revoke(''), /^AccountUnknown/],
  ]
  for (const [work, fault] of refused) {
    const told = await faultOf(work)
    t.match(told, fault, String(work))
    t.notMatch(told, key, 'the key is not told')
  }
  t.ok(other.keys.principal(key), 'nothing of that revoked it')
  for (const meant of ['key', 'id', 'hint'] as const) {
    const made = accounts.keys.create('bob', '')
    accounts.keys.revoke({ key: made.key, id: String(made.id), hint: made.key.slice(0, 6) }[meant], 'bob')
    t.equal(other.keys.principal(made.key), null, `revoked by its ${meant}`)
  }
  for (let more = 0; more < 100; more++) accounts.keys.create('bob', '')
  t.match(await faultOf(() => accounts.keys.create('bob', '')), /^AccountInvalid: .*at most 100 keys/)
  accounts.users.remove('ann')
  t.equal(other.keys.principal(key), null, 'it goes with its user')
  clock.now += DAY
  t.doesNotThrow(() => other.close(), 'uses of keys that are gone are no matter')
})

t.test('the last use is written at most once a minute, and at the end', async t => {
  const { file, accounts, clock } = open(t)
  await accounts.users.add('ann', PASSWORD)
  const { key } = accounts.keys.create('ann', '')
  const rows: readonly (readonly [number, string])[] = [
    [0, '12:00:00'],
    [59_000, '12:00:00'],
    [1000, '12:01:00'],
    [5 * MINUTE, '12:06:00'],
  ]
  for (const [later, expected] of rows) {
    clock.now += later
    const once = openAccounts(file, { now: () => clock.now })
    once.keys.principal(key)
    once.close()
    t.equal(accounts.keys.list('ann')[0]?.lastUse, `2026-11-21T${expected}.000Z`)
  }
})

t.test('sessions end by themselves, and are ended', async t => {
  const { accounts, other, clock } = open(t)
  await accounts.users.add('ann', PASSWORD)
  const { token, expires } = accounts.sessions.begin(1)
  t.match(token, /^[A-Za-z0-9]{43}$/)
  t.equal(expires, BEGIN + 7 * DAY)
  t.match(other.sessions.principal(token), { type: 'user', id: 1, name: 'ann', by: 'session' })
  t.equal(accounts.keys.principal(token), null, 'a session is no key')
  t.equal(accounts.tokens.principal(token), null, 'nor a token')
  for (let half = 0; half < 13; half++) {
    clock.now += 12 * HOUR - 1
    t.ok(accounts.sessions.principal(token), `used again before 12 hours, ${half}`)
  }
  clock.now += HOUR
  t.ok(accounts.sessions.principal(token))
  clock.now = BEGIN + 7 * DAY - 1
  t.ok(accounts.sessions.principal(token))
  clock.now++
  t.equal(accounts.sessions.principal(token), null, 'after 7 days')
  const idle = accounts.sessions.begin(1)
  clock.now += 12 * HOUR - 1
  const [one, two, three] = [1, 2, 3].map(() => accounts.sessions.begin(1).token) as [string, string, string]
  clock.now++
  t.equal(accounts.sessions.principal(idle.token), null, 'after 12 hours without use')
  accounts.sessions.end(one)
  accounts.sessions.end('nothing')
  t.equal(other.sessions.principal(one), null)
  accounts.sessions.endOthers(1, two)
  t.ok(other.sessions.principal(two))
  t.equal(other.sessions.principal(three), null)
  t.match(await faultOf(() => accounts.sessions.begin(99)), /^AccountUnknown/)
  for (let more = 0; more < 100; more++) accounts.sessions.begin(1)
  t.equal(accounts.sessions.principal(two), null, 'of more than 100 the oldest ends')
})

t.test('applications and their redirect URIs', async t => {
  const opened = open(t)
  const { accounts, other } = opened
  const { client, secret } = await withClient(opened)
  t.match(secret, /^[A-Za-z0-9]{48}$/)
  t.same(other.clients.find(client.id), client)
  t.equal(other.clients.find('nothing'), null)
  for (const [id, given, right] of [
    [client.id, secret, true],
    [client.id, `${secret}x`, false],
    [client.id, '', false],
    [client.id, 'x'.repeat(10_000), false],
    ['nothing', secret, false],
    ['nothing', '', false],
  ] as const)
    t.equal(other.clients.verifySecret(id, given), right, `${id} ${given.slice(0, 9)}`)
  const uris: readonly (readonly [uri: string, confidential: boolean, isPublic: boolean])[] = [
    ['https://app.example/', true, true],
    ['https://app.example', true, true],
    ['https://app.example:8443/a/b?x=1&y=%20', true, true],
    ['https://192.0.2.1/cb', true, true],
    ['http://localhost:8080/cb', true, true],
    ['http://127.0.0.1/cb', true, true],
    ['http://[::1]:9/cb', true, true],
    ['com.example.app:/cb', false, true],
    ['com.example.app://host/cb', false, true],
    ['http://app.example/', false, false],
    ['http://localhost.evil.example/', false, false],
    ['http://127.0.0.1.evil.example/', false, false],
    ['http://127.0.0.2/', false, false],
    ['http://localhost@evil.example/', false, false],
    ['https://user:pass@app.example/', false, false],
    ['https://@app.example/', false, false],
    ['https://app.example/#fragment', false, false],
    ['https://app.example/#', false, false],
    ['/callback', false, false],
    ['//app.example/callback', false, false],
    ['app.example/callback', false, false],
    ['https:app.example', false, false],
    ['https:///app.example', false, false],
    ['https://', false, false],
    ['https:\\\\app.example', false, false],
    ['https://app.example/a b', false, false],
    ['https://app.example/a\nb', false, false],
    [' https://app.example/', false, false],
    ['https://äpp.example/', false, false],
    ['javascript:alert(1)', false, false],
    ['JavaScript:alert(1)', false, false],
    ['data:text/html,x', false, false],
    ['vbscript:x', false, false],
    ['file:///etc/passwd', false, false],
    ['ftp://app.example/', false, false],
    ['myapp:/cb', false, false],
    ['com.example.app:', false, false],
    ['urn:ietf:wg:oauth:2.0:oob', false, false],
    ['', false, false],
    [`https://app.example/${'a'.repeat(1980)}`, true, true],
    [`https://app.example/${'a'.repeat(1981)}`, false, false],
  ]
  for (const [uri, ...takes] of uris)
    for (const [at, type] of (['confidential', 'public'] as const).entries()) {
      const given = { name: 'App', owner: 'ann', redirectUris: [uri], type }
      const told = await faultOf(() => {
        accounts.clients.remove(accounts.clients.register(given).client.id)
      })
      const expected = takes[at] === true ? /^no fault/ : /^AccountInvalid: The redirect URI /
      t.match(told, expected, `${type} ${uri.slice(0, 60)}`)
    }
  const given = { name: 'App', owner: 'ann', redirectUris: [CALLBACK], type: 'public' } as const
  const many = (count: number) => Array.from({ length: count }, (_, at) => `${CALLBACK}/${at}`)
  const refused: readonly (readonly [() => unknown, RegExp])[] = [
    [() => accounts.clients.register({ ...given, redirectUris: [] }), /^AccountInvalid: .*1 to 20 .* 0 were/],
    [() => accounts.clients.register({ ...given, redirectUris: many(21) }), /^AccountInvalid: .*21 were/],
    [() => accounts.clients.register({ ...given, name: ' ' }), /^AccountInvalid: The name of an application/],
    [() => accounts.clients.register({ ...given, name: 'n'.repeat(201) }), /^AccountInvalid/],
    [() => accounts.clients.register({ ...given, name: 'a\u202eb' }), /^AccountInvalid/],
    [() => accounts.clients.register({ ...given, owner: 'nobody' }), /^AccountUnknown/],
    [() => accounts.clients.list('nobody'), /^AccountUnknown/],
    [() => accounts.clients.remove('nothing'), /^AccountUnknown/],
    [() => accounts.clients.remove(client.id, 'bob'), /^AccountUnknown/],
  ]
  for (const [work, fault] of refused) t.match(await faultOf(work), fault, String(work))
  t.same(accounts.clients.register({ ...given, redirectUris: many(20) }).client.redirectUris, many(20))
  accounts.clients.register(given)
  t.match(await faultOf(() => accounts.clients.remove('App')), /^AccountInvalid: Several applications/)
  t.same(
    other.clients.list('ann').map(({ name }) => name),
    ['Maps', 'App', 'App'],
  )
  for (let more = 3; more < 50; more++) accounts.clients.register({ ...given, name: `App ${more}` })
  t.match(await faultOf(() => accounts.clients.register(given)), /^AccountInvalid: .*at most 50 applications/)
  accounts.clients.remove('App 7', 'ann')
  t.equal(other.clients.list().length, 49)
  accounts.users.remove('ann')
  t.same(other.clients.list(), [])
})

t.test('codes and tokens', async t => {
  const opened = open(t)
  const { accounts, other, clock } = opened
  const { user, client, grant, authorise } = await withClient(opened, 'public')
  accounts.users.grant('ann', 'trees')
  const challenge = { value: 'c'.repeat(43), method: 'S256' } as const
  const code = accounts.tokens.issueCode({ ...grant, challenge })
  t.match(code, /^[A-Za-z0-9]{30}$/)
  const found = other.tokens.findCode(code)
  t.match(found, { ...grant, challenge, expires: BEGIN + HOUR, spent: false })
  t.equal(other.tokens.findCode(code.slice(1)), null)
  t.equal(other.tokens.spendCode(code), true)
  t.equal(accounts.tokens.findCode(code)?.spent, true)
  if (found === null) throw new Error('no code')
  const issued = accounts.tokens.issue(found)
  t.match(issued, { expiresIn: 3600, scope: 'all', accessToken: /^\w{43}$/, refreshToken: /^\w{43}$/ })
  if (issued === null) throw new Error('no tokens')
  const { accessToken, refreshToken } = issued
  t.match(other.tokens.principal(accessToken), { id: user.id, by: 'token', grants: new Set(['trees']) })
  t.equal(other.tokens.principal(refreshToken), null, 'a refresh token opens nothing')
  t.equal(other.tokens.findRefresh(accessToken), null)
  t.match(other.tokens.findRefresh(refreshToken), { client: client.id, user: user.id, spent: false })
  clock.now += HOUR - 1
  t.ok(accounts.tokens.principal(accessToken))
  clock.now++
  t.equal(accounts.tokens.principal(accessToken), null, 'after an hour')
  clock.now += 1000 * DAY
  t.equal(accounts.tokens.spendRefresh(refreshToken), true, 'a refresh token does not expire')
  const second = accounts.tokens.issue(found)
  if (second === null) throw new Error('no tokens')
  t.ok(accounts.tokens.principal(second.accessToken))

  t.equal(other.tokens.spendRefresh(refreshToken), false, 'a second time')
  t.equal(accounts.tokens.principal(second.accessToken), null, 'ends all that descends from it')
  t.equal(accounts.tokens.spendRefresh(second.refreshToken), false)
  t.equal(accounts.tokens.issue(found), null)

  const replayed = authorise()
  t.equal(accounts.tokens.spendCode(replayed.code), true)
  t.equal(other.tokens.spendCode(replayed.code), false)
  t.equal(
    accounts.tokens.principal(replayed.accessToken),
    null,
    'a code that is presented twice ends its tokens',
  )
  t.equal(accounts.tokens.spendRefresh(replayed.refreshToken), false)

  const late = accounts.tokens.issueCode(grant)
  clock.now += HOUR
  t.equal(accounts.tokens.spendCode(late), false, 'a code lasts an hour')

  const [kept, foreign] = [authorise(), authorise()]
  accounts.tokens.revoke(kept.accessToken, 'another')
  accounts.tokens.revoke('nothing', client.id)
  t.ok(other.tokens.principal(kept.accessToken), 'only its client revokes a token')
  accounts.tokens.revoke(kept.accessToken, client.id)
  t.equal(other.tokens.principal(kept.accessToken), null)
  t.equal(other.tokens.spendRefresh(kept.refreshToken), false)
  accounts.tokens.revoke(foreign.refreshToken, client.id)
  t.equal(other.tokens.principal(foreign.accessToken), null)

  const granted = { client: { id: client.id, name: 'Maps', type: 'public' }, scope: 'all' }
  t.match(other.tokens.consents(user.id), [{ ...granted, granted: '2026-11-21T12:00:00.000Z' }])
  const last = authorise()
  accounts.tokens.withdraw(user.id, client.id)
  t.same(other.tokens.consents(user.id), [])
  t.equal(other.tokens.principal(last.accessToken), null)
  t.equal(other.tokens.findCode(last.code), null)
  t.equal(other.tokens.issue(last.descent), null)
  t.match(await faultOf(() => accounts.tokens.withdraw(user.id, client.id)), /^AccountUnknown/)
  t.match(await faultOf(() => accounts.tokens.issueCode({ ...grant, user: 99 })), /^AccountUnknown/)
  t.match(await faultOf(() => accounts.tokens.issueCode({ ...grant, client: 'x' })), /^AccountUnknown/)
  for (const none of ['', 'x'.repeat(100_000), "' OR 1=1 --"]) {
    t.equal(accounts.tokens.spendCode(none), false)
    t.equal(accounts.tokens.spendRefresh(none), false)
    t.equal(accounts.tokens.principal(none), null)
  }
  const removed = authorise()
  accounts.clients.remove('Maps')
  t.equal(other.tokens.principal(removed.accessToken), null, 'tokens go with their application')
  t.equal(other.tokens.issue(removed.descent), null)
})

t.test('of processes that spend the same codes and tokens, one gets each', async t => {
  const opened = open(t)
  const { authorise, grant } = await withClient(opened)
  const { tokens } = opened.accounts
  const secrets = Array.from({ length: 60 }, (_, at) =>
    at % 2 === 0 ? tokens.issueCode({ ...grant, scope: 'all' }) : authorise().refreshToken,
  )
  // The clock of the processes is the real one, and codes are issued by that of the test.
  opened.clock.now = Date.now()
  const fresh = secrets.map((secret, at) => (at % 2 === 0 ? tokens.issueCode(grant) : secret))
  const ended = await inProcesses(3, opened.file, fresh)
  const won = ended.flatMap(one => one.won)
  t.same([...won].sort(), [...fresh].sort(), 'each exactly once')
})

t.test('the file holds no secret', async t => {
  const opened = open(t)
  const { file, accounts } = opened
  const { authorise, secret } = await withClient(opened)
  const { code, accessToken, refreshToken } = authorise()
  const { key } = accounts.keys.create('ann', 'label of a key')
  const session = accounts.sessions.begin(1)
  accounts.keys.principal(key)
  const secrets = { PASSWORD, secret, code, accessToken, refreshToken, key, session: session.token }
  const bytes = () =>
    Buffer.concat([file, `${file}-wal`].flatMap(name => (existsSync(name) ? [readFileSync(name)] : [])))
  const seen = bytes()
  accounts.close()
  for (const [when, content] of Object.entries({ open: seen, closed: bytes() })) {
    t.ok(content.includes('label of a key'), `${when}: what is no secret is found`)
    for (const [name, value] of Object.entries(secrets))
      for (const text of [value, Buffer.from(value).toString('base64'), Buffer.from(value).toString('hex')])
        t.notOk(content.includes(text), `${when}: ${name}`)
  }
  t.equal(accounts.secret.length, 32)
  t.ok(accounts.secret.equals(opened.other.secret), 'the secret of the portal is one')
  for (const name of [file, `${file}-wal`, `${file}-shm`])
    if (existsSync(name)) t.equal(statSync(name).mode & 0o777, 0o600, `${path.basename(name)} is private`)
})

t.test('random texts prefer no character', async t => {
  let next = 0
  const counted = (count: number) => Uint8Array.from({ length: count }, () => next++ % 256)
  const text = randomText(counted, 62 * 4)
  for (const digit of new Set(text)) t.equal(text.split(digit).length - 1, 4, digit)
  t.equal(new Set(text).size, 62)
})

t.test('schemas: from each older one, from a newer one, from files that are something else', async t => {
  for (const version of MIGRATIONS.keys()) {
    const file = path.join(t.testdir({}), 'accounts.sqlite')
    const old = new Database(file, MIGRATIONS.slice(0, version))
    if (version > 0)
      old.change("INSERT INTO user (name, folded, password, created) VALUES ('Old', 'old', '', 1)")()
    old.close()
    const opened = openAccounts(file, { now: () => BEGIN })
    t.equal(opened.users.list().length, version > 0 ? 1 : 0, `version ${version}`)
    opened.calls.write('2026-11-21', new Map([['domain', 1]]))
    opened.close()
    const again = openAccounts(file, { now: () => BEGIN })
    t.equal(again.calls.read('2026-11-21').get('domain'), 1)
    again.close()
  }
  const folder = t.testdir({ text: 'no database at all\n'.repeat(100), folder: {} })
  const newer = path.join(folder, 'newer')
  new Database(newer, [...MIGRATIONS, 'CREATE TABLE more (id INTEGER)']).close()
  const foreign = new Libsql(path.join(folder, 'foreign'))
  foreign.exec('CREATE TABLE theirs (id INTEGER)')
  foreign.close()
  const cases = {
    text: /is no database/,
    folder: /cannot be opened for writing: EISDIR/,
    newer: /newer Lodestone: its schema is \d+, this program knows \d+/,
    foreign: /is a database of something else/,
    'text/below': /cannot be opened for writing: (ENOTDIR|EEXIST)/,
  }
  for (const [name, fault] of Object.entries(cases)) {
    const told = await faultOf(() => openAccounts(path.join(folder, name), { now: () => BEGIN }))
    t.match(told, /^AccountsUnavailable: /, name)
    t.match(told, fault, name)
  }
  t.match(readFileSync(path.join(folder, 'text'), 'utf8'), /^no database at all\n/, 'it is left as it is')
  const open = path.join(folder, 'open')
  writeFileSync(open, '')
  chmodSync(open, 0o644)
  openAccounts(open, { now: () => BEGIN }).close()
  t.equal(statSync(open).mode & 0o777, 0o600, 'a file that others could read is made private')
})

t.test('processes that open a new file at once agree on it', async t => {
  const file = path.join(t.testdir({}), 'var', 'accounts.sqlite')
  const secrets = new Set((await inProcesses(4, file, [])).map(({ secret }) => secret))
  t.equal(secrets.size, 1)
  const accounts = openAccounts(file, { now: () => BEGIN })
  t.ok(secrets.has(accounts.secret.toString('hex')))
  accounts.close()
})

t.test('one writes while another is in the way, or fails', async t => {
  const { file, accounts, other } = open(t)
  await accounts.users.add('ann', PASSWORD)
  const holder = new Libsql(file)
  holder.exec('BEGIN IMMEDIATE')
  t.ok(other.keys.list(), 'reading does not wait')
  const told = await faultOf(() => accounts.keys.create('ann', ''))
  t.match(told, /^AccountsUnavailable: .*is being written by another process/)
  holder.exec('COMMIT')
  const { key } = other.keys.create('ann', '')
  t.ok(accounts.keys.principal(key), 'who had to give up sees what is new')
  accounts.keys.revoke(key)
  t.equal(other.keys.principal(key), null)
  const database = new Database(file, MIGRATIONS)
  const insert = database.change("INSERT INTO call_count VALUES ('2026-11-21', ?, 1)")
  t.throws(() =>
    database.write(() => {
      insert('first')
      database.write(() => insert('second'))
      throw new Error('not that')
    }),
  )
  t.equal(other.calls.read('2026-11-21').size, 0, 'all or nothing')
  insert('first')
  t.throws(() => insert('first'), /UNIQUE/)
  t.equal(other.calls.read('2026-11-21').size, 1)
  database.close()
  database.close()
  holder.close()
})

t.test('counts of calls', async t => {
  const { accounts, other } = open(t)
  const { calls } = accounts
  calls.write('2026-11-20', new Map([['domain', 3]]))
  calls.write('2026-11-21', new Map(Object.entries({ domain: 5, 'user 1': 2 })))
  calls.write('2026-11-21', new Map([['domain', 6]]))
  t.same(other.calls.read('2026-11-21'), new Map(Object.entries({ domain: 6, 'user 1': 2 })))
  t.same(other.calls.read('2026-11-20'), new Map(), 'days before are forgotten')
  t.same(other.calls.read('2026-11-22'), new Map())
})

t.test('a backup is whole while another writes', async t => {
  const { file, accounts, other } = open(t)
  await accounts.users.add('ann', PASSWORD)
  const { key } = accounts.keys.create('ann', 'kept')
  const subjects = (count: number) =>
    new Map(Array.from({ length: 500 }, (_, at) => [`subject ${at}`, count]))
  const script = `
    const { openAccounts } = await import(${JSON.stringify(path.resolve(import.meta.dirname, '../src/accounts/open.ts'))})
    const { calls } = openAccounts(${JSON.stringify(file)}, { now: Date.now })
    process.stdout.write('begun')
    for (let count = 1; ; count++)
      calls.write('2026-11-21', new Map(Array.from({ length: 500 }, (_, at) => ['subject ' + at, count])))`
  accounts.calls.write('2026-11-21', subjects(0))
  const writer = spawn(process.execPath, ['--import=tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise(resolve => writer.once('close', resolve))
  await new Promise(resolve => writer.stdout.once('data', resolve))
  const folder = path.dirname(file)
  const seen = new Set<number>()
  for (let copy = 0; copy < 8; copy++) {
    const name = path.join(folder, `copy ${copy}.sqlite`)
    accounts.backup(name)
    t.equal(statSync(name).mode & 0o777, 0o600)
    t.equal(existsSync(`${name}-wal`), false)
    const opened = openAccounts(name, { now: () => BEGIN })
    const counts = new Set(opened.calls.read('2026-11-21').values())
    t.equal(counts.size, 1, 'of one moment')
    for (const count of counts) seen.add(count)
    t.match(opened.keys.principal(key), { name: 'ann' })
    t.ok(opened.secret.equals(other.secret))
    opened.close()
  }
  writer.kill('SIGKILL')
  await ended
  t.ok(seen.size > 1, 'it was written meanwhile')
  const name = path.join(folder, 'copy 0.sqlite')
  t.match(await faultOf(() => accounts.backup(name)), /^AccountInvalid: .*exists already/)
  t.match(await faultOf(() => accounts.backup(path.join(folder, 'no/copy'))), /cannot be written: ENOENT/)
  t.ok(accounts.keys.principal(key), 'who was killed while writing is in nobody’s way')
})

t.test('what has expired is cleaned away', async t => {
  const opened = open(t)
  const { file, accounts, clock } = opened
  const { authorise, grant } = await withClient(opened)
  accounts.sessions.begin(1)
  const first = authorise()
  accounts.tokens.spendCode(first.code)
  accounts.tokens.spendRefresh(first.refreshToken)
  accounts.tokens.issue(first.descent)
  accounts.tokens.issueCode(grant)
  const revoked = authorise()
  accounts.tokens.revoke(revoked.accessToken, grant.client)
  const database = new Database(file, MIGRATIONS)
  t.teardown(() => database.close())
  const clean = createCleaning(database)
  const tables = ['session', 'code', 'access_token', 'refresh_token', 'family']
  const counts = () =>
    tables.map(table => database.query<{ readonly n: number }>(`SELECT count(*) AS n FROM ${table}`).get()?.n)
  const rows: readonly (readonly [number, readonly number[]])[] = [
    [0, [1, 3, 3, 3, 3]],
    [HOUR, [1, 3, 0, 3, 3]],
    [13 * HOUR, [0, 3, 0, 3, 3]],
    [2 * DAY, [0, 0, 0, 2, 1]],
    [91 * DAY, [0, 0, 0, 1, 1]],
  ]
  for (const [later, expected] of rows) {
    clean(BEGIN + later)
    clean(BEGIN + later)
    t.same(counts(), expected, `after ${later / HOUR} h`)
  }
  clock.now = BEGIN + 91 * DAY
  t.equal(accounts.tokens.issue(first.descent) !== null, true, 'what is alive stays alive')
})
