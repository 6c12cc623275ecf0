import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import type { Accounts } from '../../src/accounts/accounts.ts'
import { createCleaning } from '../../src/accounts/cleaning.ts'
import { ACCOUNT_UNKNOWN } from '../../src/accounts/faults.ts'
import { openAccounts, openAccountsOf, openSharedAccounts } from '../../src/accounts/open.ts'
import { PostgresDatabase } from '../../src/accounts/postgres/database.ts'
import { faultOf as databaseFault, isBroken, isPassing } from '../../src/accounts/postgres/faults.ts'
import { Freshness, type ListenerEvents } from '../../src/accounts/postgres/freshness.ts'
import { addHooks } from '../../src/app/hooks.ts'
import { loadConfig } from '../../src/config/load.ts'
import { Fault, INTERNAL_ERROR } from '../../src/errors/errors.ts'
import { Attempts, PASSWORD_LIMITS } from '../../src/http/attempts.ts'
import { authenticator } from '../../src/http/authenticate.ts'
import { Quotas, quotaLimits } from '../../src/http/daily-quota.ts'
import { answerFault, restBody } from '../../src/http/faults.ts'
import { parseQueryString } from '../../src/http/query-string.ts'
import { cookieScope } from '../../src/http/session-cookie.ts'
import { ANONYMOUS, type Principal } from '../../src/model/principal.ts'
import {
  accountsContract,
  BEGIN,
  DAY,
  faultOf,
  inProcesses,
  openTwice,
  PASSWORD,
  withClient,
} from '../support/accounts-contract.ts'
import { temporaryFolder } from '../support/folder.ts'
import { noPostgres, type Postgres, startPostgres } from '../support/postgres.ts'

/** Accounts in PostgreSQL, which several Lodestones share. */
t.test('what was read is good for a second, and not after a change', async t => {
  let now = 0
  let value = 1
  let heard: ListenerEvents | null = null
  let isDown = false
  let requested = 0
  const freshness = new Freshness(
    async given => {
      heard = given
      if (isDown) {
        given.lost()
        throw new Error('down')
      }
      return {
        readGeneration: async () => {
          requested++
          if (isDown) throw new Error('down')
          return value
        },
        close: async () => undefined,
      }
    },
    () => now,
  )
  const lose = () => (heard as ListenerEvents | null)?.lost()
  const first = await freshness.generation()
  t.equal(freshness.generation(), first, 'within a second nothing is asked')
  t.equal(requested, 1)
  now += 999
  t.equal(freshness.generation(), first)
  now += 1
  const joined = [freshness.generation(), freshness.generation()]
  t.same(await Promise.all(joined), [first, first], 'nothing was written')
  t.equal(requested, 2, 'who asks at once asks once')
  value++
  t.equal(freshness.generation(), first, 'not known yet')
  now += 1000
  const second = await freshness.generation()
  t.not(second, first, 'a message that was lost matters for a second')
  value++
  ;(heard as ListenerEvents | null)?.changed()
  const third = await freshness.generation()
  t.not(third, second, 'a message is believed at once')
  t.equal(freshness.isCurrent(second), false)
  freshness.note(++value)
  t.not(freshness.generation(), third, 'what this process wrote')
  freshness.note(value)
  const fourth = freshness.generation()
  lose()
  t.notOk(freshness.isCurrent(fourth as number), 'nothing is good without a connection')
  t.not(await freshness.generation(), fourth)
  isDown = true
  now += 1000
  await t.rejects(async () => freshness.generation(), /down/)
  const before = requested
  await t.rejects(async () => freshness.generation(), /down/)
  t.equal(requested, before, 'what failed is not tried again at once')
  isDown = false
  now += 1000
  t.type(await freshness.generation(), 'number', 'it is back')
  await freshness.close()
})

t.test('what a database or a connection is to blame for', async t => {
  const cases: readonly (readonly [more: object, message: string, told: RegExp | null, passes: boolean])[] = [
    [{ code: 'ECONNREFUSED' }, 'connect', /cannot be reached: ECONNREFUSED$/, true],
    [{ code: 'EPIPE' }, 'write', /cannot be reached: EPIPE$/, true],
    [{ code: 'ENOTFOUND' }, 'getaddrinfo', /cannot be reached: ENOTFOUND$/, true],
    [
      { errors: [Object.assign(new Error(), { code: 'ETIMEDOUT' })] },
      '',
      /cannot be reached: ETIMEDOUT$/,
      true,
    ],
    [{ code: 'ENOENT', syscall: 'connect' }, 'a socket', /cannot be reached: ENOENT$/, true],
    [{ code: 'ENOENT', syscall: 'open' }, '/ca.crt', /needs a file that cannot be read: ENOENT/, false],
    [{}, 'timeout expired', /does not answer in time$/, true],
    [{}, 'Query read timeout', /does not answer in time$/, true],
    [{}, 'Connection terminated unexpectedly', /was disconnected$/, true],
    [{}, 'The server does not support SSL connections', /does not offer TLS/, true],
    [{ code: '57P01' }, 'postgres://u:hunter2@h/', /is being stopped or started$/, true],
    [{ code: '57P03' }, '', /is being stopped or started$/, true],
    [{ code: '57014' }, '', /took too long$/, true],
    [{ code: '55P03' }, '', /is being written by another process/, true],
    [{ code: '28P01' }, 'password "hunter2"', /refuses the user or the password$/, false],
    [{ code: '3D000' }, '', /does not exist: create it/, false],
    [{ code: '25006' }, '', /is read-only: a standby/, false],
    [{ code: '22P05' }, '', /it needs the encoding UTF8$/, true],
    [{ code: '53300' }, '', /has no free connection$/, true],
    [{ code: '42P01' }, 'a defect', null, false],
    [{ code: '23505' }, 'a defect', null, false],
    [{}, 'a defect', null, false],
  ]
  for (const [more, message, described, passes] of cases) {
    const error = Object.assign(new Error(message), more)
    const what = `${JSON.stringify(more)} ${message}`
    const fault = databaseFault(error, 'db.example/accounts')
    if (described === null) t.equal(fault, error, what)
    else
      t.match(
        fault,
        { code: 'AccountsUnavailable', message: described, hint: 'It is db.example/accounts.' },
        what,
      )
    t.equal(isPassing(fault), passes, what)
    if (described !== null) t.notMatch(inspect(fault), /hunter2/, what)
  }
  const broken = ['57P01', '08006', '25P03', 'EPIPE', 'ECONNRESET', '']
  const whole = ['42P01', '23505', '40P01']
  for (const code of broken) t.equal(isBroken(Object.assign(new Error('x'), { code })), true, code)
  for (const code of whole) t.equal(isBroken(Object.assign(new Error('x'), { code })), false, code)
  t.equal(isBroken(new Fault(ACCOUNT_UNKNOWN, { reason: '' })), false, 'what work refuses')
})

t.test('the setting', async t => {
  const portal = temporaryFolder(t, { 'portal.yaml': 'title: T\n', password: 'from a file\n' })
  const configOf = (LODESTONE_ACCOUNTS: string, more = {}) =>
    loadConfig({ portal, base: 'http://portal.test' }, { LODESTONE_ACCOUNTS, ...more })
  const url = 'postgres://lodestone:hunter2@db.example:5433/accounts?sslmode=require'
  t.same(configOf(url).accounts, { url })
  t.same(configOf(url, { LODESTONE_ACCOUNTS_PASSWORD_FILE: 'password' }).accounts, {
    url,
    passwordFile: path.join(portal, 'password'),
  })
  for (const wrong of [
    'hunter2',
    'mysql://lodestone:hunter2@db/accounts',
    'postgres://lodestone:hunter2@db',
    'postgres://lodestone:hunter2@db/',
    'postgres:hunter2',
    'postgres://lodestone:hunter2/@db:70000/accounts',
  ]) {
    const described = await faultOf(() => configOf(wrong))
    t.match(
      described,
      /^ConfigInvalid: accounts: postgres:\/\/user:password@host:port\/database is expected/,
      wrong,
    )
    t.notMatch(described, /hunter2/)
  }
  const missing = configOf(url, { LODESTONE_ACCOUNTS_PASSWORD_FILE: 'nowhere' })
  t.match(
    await faultOf(() => openAccountsOf(missing, { now: Date.now })),
    /^ConfigInvalid: accounts_password_file: .*nowhere cannot be read: ENOENT/,
  )
  const place = { url: 'postgres://lodestone:hunter2@127.0.0.1:1/accounts' }
  const waited: string[] = []
  const begun = performance.now()
  const error = await openSharedAccounts(place, {
    now: Date.now,
    timeout: 2500,
    onWaiting: reason => waited.push(reason),
  }).catch(error => error)
  t.match(error, {
    code: 'AccountsUnavailable',
    message: /^the database of accounts cannot be reached: ECONNREFUSED$/,
  })
  t.match(error.hint, /^It is 127\.0\.0\.1:1\/accounts\.$/)
  t.notMatch(`${error.stack} ${JSON.stringify(error)} ${error.cause.stack}`, /hunter2/)
  t.same(waited.length, 1, 'told once')
  const took = performance.now() - begun
  t.ok(took > 1500 && took < 6000, `given up after ${Math.round(took)} ms`)
})

/** Whether something becomes so, which takes a moment: some milliseconds, or seconds where the machine has much to do. */
async function comes(isSo: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < 1000; tries++) {
    if (await isSo()) return true
    await sleep(10)
  }
  return false
}

let postgres!: Postgres
if (noPostgres === false) postgres = await startPostgres()
t.teardown(() => postgres?.stop())

t.test('what holds for a file holds for PostgreSQL', { skip: noPostgres }, async t => {
  accountsContract(t, async t => openTwice(t, 'PostgreSQL', await postgres.database()))
})

t.test('what has expired is cleaned away', { skip: noPostgres }, async t => {
  const opened = await openTwice(t, 'PostgreSQL', await postgres.database())
  const { authorise, grant } = await withClient(opened)
  await authorise()
  const { accessToken } = await authorise()
  await opened.accounts.tokens.revoke(accessToken, grant.client)
  const database = await PostgresDatabase.open({ url: opened.place })
  t.teardown(() => database.close())
  const clean = createCleaning(database)
  const name = new URL(opened.place).pathname.slice(1)
  const left = () =>
    postgres.run(
      `SELECT (SELECT count(*)::int FROM lodestone.access_token) AS tokens,
        (SELECT count(*)::int FROM lodestone.family) AS authorizations`,
      name,
    )
  t.same(await left(), [{ tokens: 2, authorizations: 2 }])
  await clean(BEGIN + 2 * DAY)
  t.same(await left(), [{ tokens: 0, authorizations: 1 }], 'the one that was revoked')
})

/** Accounts as several processes have them, by the real clock. */
const open = async (t: Test, count = 2) => {
  const url = await postgres.database()
  const opened: Accounts[] = []
  for (let each = 0; each < count; each++) opened.push(await openSharedAccounts({ url }, { now: Date.now }))
  t.teardown(async () => {
    for (const accounts of opened) await accounts.close().catch(() => undefined)
  })
  const [a, b] = opened as [Accounts, Accounts]
  return { url, name: new URL(url).pathname.slice(1), a, b }
}

t.test('processes that open an empty database at once agree on it', { skip: noPostgres }, async t => {
  const url = await postgres.database()
  const secrets = new Set((await inProcesses(4, url, [])).map(({ secret }) => secret))
  t.equal(secrets.size, 1)
})

t.test(
  'what is taken from somebody is gone here at once, elsewhere within a second',
  { skip: noPostgres },
  async t => {
    const { a, b } = await open(t)
    await a.users.add('ann', PASSWORD)
    const user = (await a.users.find('ann')).id
    const authorise = await withClientOf(a, user)
    const cases: Record<
      string,
      () => Promise<{ find: (of: Accounts) => unknown; take: () => Promise<void> }>
    > = {
      'a key': async () => {
        const { key } = await a.keys.create('ann', '')
        return { find: of => of.keys.principal(key), take: () => a.keys.revoke(key) }
      },
      'a session': async () => {
        const { token } = await a.sessions.begin(user)
        return { find: of => of.sessions.principal(token), take: () => a.sessions.end(token) }
      },
      'a token': async () => {
        const { accessToken, client } = await authorise()
        return {
          find: of => of.tokens.principal(accessToken),
          take: () => a.tokens.revoke(accessToken, client),
        }
      },
    }
    for (const [name, make] of Object.entries(cases)) {
      const late: number[] = []
      for (let each = 0; each < 20; each++) {
        const { find, take } = await make()
        t.ok(await find(a), `${name} is known here`)
        t.ok(await find(b), `${name} is known elsewhere`)
        t.notOk(find(b) instanceof Promise, `${name} is found in memory the second time`)
        await take()
        t.equal(await find(a), null, `${name} is gone here`)
        const begun = performance.now()
        while ((await find(b)) !== null) await sleep(1)
        late.push(performance.now() - begun)
      }
      const worst = Math.max(...late)
      t.ok(worst < 1000, `${name}: gone elsewhere after at most ${worst.toFixed(1)} ms`)
    }
    const { key } = await a.keys.create('ann', '')
    const grants = async (of: Accounts) => [...((await of.keys.principal(key))?.grants ?? [])]
    t.same(await grants(b), [])
    await a.users.grant('ann', 'trees')
    t.same(await grants(a), ['trees'])
    t.ok(await comes(async () => (await grants(b)).join() === 'trees'), 'grants as well')
    await a.users.remove('ann')
    t.ok(await comes(async () => (await b.keys.principal(key)) === null), 'the user as well')
  },
)

t.test('failed attempts count wherever they were made', { skip: noPostgres }, async t => {
  const { a, b } = await open(t)
  const [one, two] = [a, b].map(({ failures }) => new Attempts(PASSWORD_LIMITS, failures, Date.now))
  const begin = async (of: Attempts | undefined) => (await of?.begin('ann', '192.0.2.1'))?.type
  const types = await Promise.all(Array.from({ length: 20 }, (_, each) => begin(each % 2 ? one : two)))
  t.equal(types.filter(type => type === 'allowed').length, 5, 'of many at once')
  t.same([await begin(one), await begin(two)], ['blocked', 'blocked'])
})

t.test('shared failures of a clock that was ahead block nobody', { skip: noPostgres }, async t => {
  const { failures } = (await open(t)).a
  const begin = (now: number) => failures.begin([{ subject: 'ann', limit: 1, within: 60_000 }], now)
  t.equal(await begin(BEGIN + DAY), null)
  t.equal(await begin(BEGIN + DAY + 2000), BEGIN + DAY + 60_000)
  t.equal(await begin(BEGIN), null)
  t.equal(await begin(BEGIN + 2000), BEGIN + 60_000)
})

t.test('what gives nobody less leaves what is held in memory', { skip: noPostgres }, async t => {
  const { a, b } = await open(t)
  const { id } = await a.users.add('ann', PASSWORD)
  const { key } = await a.keys.create('ann', '')
  for (const of of [a, b]) await of.keys.principal(key)
  await a.keys.create('ann', 'another')
  await b.sessions.begin(id)
  await a.calls.add('2026-11-21', new Map([['domain', 1]]))
  await sleep(100)
  for (const of of [a, b]) {
    await of.sessions.principal('any, so that it is asked whether anything was written')
    t.notOk(of.keys.principal(key) instanceof Promise)
  }
})

t.test('a row that is deleted by hand counts as well', { skip: noPostgres }, async t => {
  const { a, name } = await open(t)
  await a.users.add('ann', PASSWORD)
  const { key } = await a.keys.create('ann', '')
  t.ok(await a.keys.principal(key))
  await postgres.run('DELETE FROM lodestone.api_key', name)
  t.ok(await comes(async () => (await a.keys.principal(key)) === null))
})

t.test(
  'who redeems a code or a refresh token at once: one is served, then all of it is revoked',
  { skip: noPostgres },
  async t => {
    const { url, a, b } = await open(t)
    const { authorise, grant } = await withClient({ place: url, accounts: a, other: b, clock: { now: 0 } })
    for (let round = 0; round < 10; round++) {
      const code = await a.tokens.issueCode(grant)
      const { refreshToken } = await authorise()
      for (const redeem of [
        (by: Accounts) => by.tokens.redeemCode(code),
        (by: Accounts) => by.tokens.redeemRefresh(refreshToken),
      ]) {
        const given = await Promise.all([a, b, a, b].map(redeem))
        const issued = given.filter(tokens => tokens !== null)
        t.equal(issued.length, 1, 'one is served')
        t.equal(await a.tokens.redeemRefresh(issued[0]?.refreshToken ?? ''), null, 'for a moment')
      }
    }
  },
)

t.test(
  'counts of several processes add up, and nothing is lost at the end',
  { skip: noPostgres },
  async t => {
    const { a, b } = await open(t)
    const ann: Principal = { type: 'user', id: 7, name: 'ann', grants: new Set(), quota: null, by: 'key' }
    const count = async (of: Accounts) => {
      const quotas = new Quotas({
        limits: quotaLimits({ domain: 1_000_000, user: 300 }),
        now: Date.now,
        counts: of.calls,
        secret: of.secret,
      })
      await quotas.begin()
      return quotas
    }
    const [one, two] = [await count(a), await count(b)]
    let allowed = 0
    let refusedAt = 0
    for (let call = 0; call < 1000 && refusedAt === 0; call++) {
      for (const quotas of [one, two])
        if (quotas.take(ann, '').isExceeded) refusedAt = call
        else allowed++
      await sleep(10)
    }
    t.ok(
      allowed >= 300 && allowed < 300 + 2 * 300,
      `${allowed} of 300 were allowed: overrun by what comes until the counts are written`,
    )
    one.take(ANONYMOUS, '')
    await one.close()
    await two.close()
    const day = new Date().toISOString().slice(0, 10)
    const kept = await a.calls.read(day)
    t.equal(kept.get('user:7'), allowed, 'each call counted once')
    t.equal(kept.get('domain'), allowed + 1)
    const three = await count(b)
    t.equal(three.take(ann, '').isExceeded, true, 'also for who begins later')
    await three.close()
  },
)

t.test('connections that are cut are made again', { skip: noPostgres }, async t => {
  const { a, name } = await open(t)
  await a.users.add('ann', PASSWORD)
  const { key } = await a.keys.create('ann', '')
  t.ok(await a.keys.principal(key))
  for (let round = 0; round < 5; round++) {
    await sleep(round * 30)
    await postgres.run(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
    )
    if (round % 2 === 0) await sleep(50)
    const described = await faultOf(() => a.keys.principal(key))
    t.match(
      described,
      /^no fault but .*"ann"|^AccountsUnavailable: the database of accounts (?:was disconnected|is being stopped)/,
    )
    const isBack = async () => /"ann"/.test(await faultOf(() => a.keys.principal(key)))
    t.ok(await comes(isBack), 'without hands')
    t.match(await a.keys.principal(key), { name: 'ann' })
    t.equal((await a.keys.list()).length, 1)
    await a.users.setQuota('ann', round)
  }
})

t.test('a backup is a file of accounts, and is restored to either', { skip: noPostgres }, async t => {
  const { url, a, b } = await open(t)
  const { authorise, client, secret } = await withClient({
    place: url,
    accounts: a,
    other: b,
    clock: { now: 0 },
  })
  const { accessToken, refreshToken } = await authorise()
  await a.users.grant('ann', 'trees')
  await a.users.add('zoë', PASSWORD, 9)
  const { key } = await a.keys.create('zoë', 'kept')
  const { token } = await a.sessions.begin(1)
  await a.calls.add('2026-11-21', new Map([['domain', 5]]))
  await a.keys.principal(key)
  const folder = temporaryFolder(t, { empty: '', text: 'nothing of the kind' })
  const file = path.join(folder, 'copy.sqlite')
  await a.backup(file)
  t.match(await faultOf(() => a.backup(file)), /^AccountInvalid: .*exists already/)
  const check = async (of: Accounts, what: string) => {
    t.ok(of.secret.equals(a.secret), `${what}: the secret`)
    t.match(await of.keys.principal(key), { name: 'zoë', quota: 9, by: 'key' }, what)
    t.match(await of.sessions.principal(token), { name: 'ann', grants: new Set(['trees']) }, what)
    t.match(await of.tokens.principal(accessToken), { name: 'ann' }, what)
    t.match(await of.tokens.findRefresh(refreshToken), { client: client.id, consumed: false }, what)
    t.equal(await of.clients.verifySecret(client.id, secret), true, what)
    t.same((await of.calls.read('2026-11-21')).get('domain'), 5, what)
    t.ok((await of.keys.list('zoë'))[0]?.lastUse, `${what}: last use`)
    t.match(await of.users.verify('ann', PASSWORD), { name: 'ann' }, what)
  }
  const opened = openAccounts(file, { now: Date.now })
  await check(opened, 'in the file')
  await opened.close()
  const { url: elsewhere, a: c } = await open(t, 1)
  await c.users.add('other', PASSWORD)
  const { key: gone } = await c.keys.create('other', '')
  t.ok(await c.keys.principal(gone))
  await c.restore(file)
  t.equal(await c.keys.principal(gone), null, 'what was there before is gone')
  const again = await openSharedAccounts({ url: elsewhere }, { now: Date.now })
  await check(again, 'in another database')
  t.match(await again.users.add('new', PASSWORD), { id: 3 }, 'no id is given twice')
  t.ok((await again.keys.create('new', '')).id > 1)
  await again.close()
  for (const [name, fault] of [
    ['nowhere', /^AccountInvalid: There is no file/],
    ['empty', /^AccountInvalid: .*holds no accounts/],
    ['text', /^AccountsUnavailable: .*is no database/],
  ] as const)
    t.match(await faultOf(() => c.restore(path.join(folder, name))), fault, name)
  t.equal((await c.users.list()).length, 3, 'what cannot be read changes nothing')
  const fresh = openAccounts(path.join(folder, 'var', 'accounts.sqlite'), { now: Date.now })
  await fresh.restore(file)
  await fresh.close()
  const begun = openAccounts(path.join(folder, 'var', 'accounts.sqlite'), { now: Date.now })
  await check(begun, 'in another file')
  await begun.close()
})

t.test('the database holds no secret', { skip: noPostgres }, async t => {
  const { url, name, a, b } = await open(t)
  const { authorise, secret } = await withClient({ place: url, accounts: a, other: b, clock: { now: 0 } })
  const { code, accessToken, refreshToken } = await authorise()
  const { key } = await a.keys.create('ann', 'label of a key')
  const { token } = await a.sessions.begin(1)
  const tables = await postgres.run(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'lodestone'",
    name,
  )
  const rows = await Promise.all(
    tables.map(table => postgres.run(`SELECT t::text AS row FROM lodestone."${table.name}" AS t`, name)),
  )
  const content = JSON.stringify(rows)
  t.ok(content.includes('label of a key'))
  for (const value of [PASSWORD, secret, code, accessToken, refreshToken, key, token])
    for (const text of [value, Buffer.from(value).toString('base64'), Buffer.from(value).toString('hex')])
      t.notOk(content.includes(text))
})

t.test('a database of an older program is brought up to date', { skip: noPostgres }, async t => {
  const { url, name, a } = await open(t, 1)
  await a.users.add('ann', PASSWORD)
  await a.users.grant('ann', 'trees')
  const { key } = await a.keys.create('ann', 'old')
  const later = ['failure', 'audit', 'identity', 'recovery_code', 'second_factor', 'single_use', 'passkey']
  await postgres.run(`DROP TABLE ${later.map(table => `lodestone.${table}`).join(', ')}`, name)
  await postgres.run('DROP FUNCTION lodestone.keep_audit()', name)
  await postgres.run('ALTER TABLE lodestone.account RENAME TO "user"', name)
  await postgres.run('ALTER SEQUENCE lodestone.account_id_seq RENAME TO user_id_seq', name)
  for (const table of ['user_grant', 'api_key', 'session', 'consent', 'family'])
    await postgres.run(`ALTER TABLE lodestone.${table} RENAME COLUMN account TO "user"`, name)
  await postgres.run('ALTER TABLE lodestone.user_grant DROP COLUMN issuer', name)
  await postgres.run('UPDATE lodestone.version SET version = 1', name)
  const again = await openSharedAccounts({ url }, { now: Date.now })
  t.match(await again.users.verify('ann', PASSWORD), { name: 'ann', grants: ['trees'] })
  t.ok(await again.keys.principal(key), 'what belongs to a user stayed so')
  t.equal(await again.failures.begin([{ subject: 'x', limit: 1, within: 1 }], 2), null)
  await again.close()
})

t.test('databases that cannot serve', { skip: noPostgres }, async t => {
  const { url, name } = await open(t, 1)
  const openNow = (address: string) =>
    faultOf(async () => (await openSharedAccounts({ url: address }, { now: Date.now })).close())
  await postgres.run('UPDATE lodestone.version SET version = version + 1', name)
  t.match(
    await openNow(url),
    /^AccountsUnavailable: .*newer Lodestone: its schema is \d+, this program knows \d+/,
  )
  t.match(await openNow(`${url}-not`), /^AccountsUnavailable: the database of accounts does not exist/)
  await postgres.run("CREATE ROLE weak LOGIN PASSWORD 'hunter2'")
  const fresh = new URL(await postgres.database())
  fresh.username = 'weak'
  t.match(await openNow(fresh.href), /^AccountsUnavailable: .*does not let this user do it: .*right CREATE/)
  await postgres.run(`GRANT CREATE ON DATABASE ${fresh.pathname.slice(1)} TO weak`)
  t.match(await openNow(fresh.href), /^no fault/, 'nothing more is needed')
})

t.test(
  'while the database is away, anonymous use goes on, and nobody else comes in',
  { skip: noPostgres },
  async t => {
    const { a } = await open(t)
    await a.users.add('ann', PASSWORD)
    const { key } = await a.keys.create('ann', '')
    const { http, quotas, ask, requested } = serveCaller(a)
    const withKey = { authorization: `Apikey ${key}` }
    const works = async (what: string) => {
      t.match(await ask(withKey), { statusCode: 200, body: /"ann"/ }, what)
      t.match(await ask(), { statusCode: 200, body: /anonymous/ }, what)
      await a.keys.create('ann', what)
    }
    const isAway = async (what: string) => {
      for (const headers of [withKey, { cookie: `lodestone-session=${'x'.repeat(43)}` }]) {
        const refused = await ask(headers)
        t.match(refused, { statusCode: 503, retry: '2', body: /the database of accounts/ }, what)
        t.notMatch(refused.body, /127\.0\.0\.1|tester/, 'where it is is not told')
        t.ok(refused.time < 5000, `${what}: after ${Math.round(refused.time)} ms`)
      }
      const anonymous = await ask()
      t.match(anonymous, { statusCode: 200 }, what)
      t.ok(anonymous.time < 1000, `${what}: anonymous in ${anonymous.time.toFixed(1)} ms`)
      const begun = performance.now()
      t.match(await faultOf(() => a.keys.create('ann', '')), /^AccountsUnavailable/)
      t.ok(performance.now() - begun < 10_000, 'who writes does not wait for ever')
    }
    await works('before')
    await postgres.kill()
    await sleep(50)
    await isAway('killed')
    await postgres.start()
    const isBack = async () => (await ask(withKey)).statusCode === 200
    t.ok(await comes(isBack), 'found again without hands')
    await works('started again')
    postgres.freeze(true)
    await sleep(1000)
    await isAway('frozen')
    postgres.freeze(false)
    t.ok(await comes(isBack), 'thawed')
    await works('going on')
    const { a: other } = await open(t, 1)
    await other.users.add('ann', PASSWORD)
    await other.keys.principal((await other.keys.create('ann', '')).key)
    postgres.freeze(true)
    const begun = performance.now()
    await other.close()
    t.ok(performance.now() - begun < 12_000, 'who ends does not wait for ever')
    postgres.freeze(false)
    await quotas.close()
    const day = new Date().toISOString().slice(0, 10)
    t.equal((await a.calls.read(day)).get('domain'), requested(), 'every call was counted, and none twice')
    await http.close()
  },
)
/** A server that answers who calls, the calls counted in the database. */
function serveCaller(a: Accounts) {
  const http = fastify({ routerOptions: { querystringParser: parseQueryString } })
  const quotas = new Quotas({
    limits: quotaLimits(),
    now: Date.now,
    counts: a.calls,
    secret: a.secret,
  })
  addHooks(http, {
    isPrivate: false,
    authenticate: authenticator(a, cookieScope('http://portal.test')),
    quotas,
    address: () => '192.0.2.1',
  })
  http.setErrorHandler(answerFault(restBody))
  http.get('/api/who', { config: { isCounted: true } }, async request => request.principal)
  let requested = 0
  const ask = async (headers = {}) => {
    const begun = performance.now()
    requested++
    const { statusCode, body, headers: described } = await http.inject({ url: '/api/who', headers })
    return { statusCode, body, retry: described['retry-after'], time: performance.now() - begun }
  }
  return { http, quotas, ask, requested: () => requested }
}

async function withClientOf(accounts: Accounts, user: number) {
  const { client } = await accounts.clients.register({
    name: 'Maps',
    owner: 'ann',
    redirectUris: ['https://app.example/callback'],
    type: 'confidential',
  })
  return async () => {
    const code = await accounts.tokens.issueCode({
      client: client.id,
      user,
      redirectUri: '',
      scope: 'all',
      challenge: null,
    })
    const issued = await accounts.tokens.redeemCode(code)
    if (issued === null) throw new Fault(INTERNAL_ERROR)
    return { ...issued, client: client.id }
  }
}
