import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import type { Test } from 'tap'
import type { Accounts } from '../../src/accounts/accounts.ts'
import { Fault } from '../../src/errors/errors.ts'
import { Attempts, PASSWORD_LIMITS, SECRET_LIMITS } from '../../src/http/attempts.ts'
import { elsewhere, type Kind, openAny } from './accounts.ts'
import { scriptArguments } from './script.ts'
import { codeAt } from './totp.ts'

export const [MINUTE, HOUR, DAY] = [60_000, 3600_000, 24 * 3600_000]
export const BEGIN = Date.parse('2026-11-21T12:00:00Z')
export const PASSWORD = 'a long password'
const CALLBACK = 'https://app.example/callback'

export interface Opened {
  /** A file, or the address of a database. */
  readonly place: string
  readonly accounts: Accounts
  /** A second connection, as another process has one. */
  readonly other: Accounts
  readonly clock: { now: number }
}

export type Open = (t: Test) => Promise<Opened>

/** Opens accounts twice, in a new place. */
export async function openTwice(t: Test, kind: Kind, place: string): Promise<Opened> {
  const clock = { now: BEGIN }
  const options = { now: () => clock.now }
  const accounts = elsewhere(await openAny(place, options), kind)
  const other = elsewhere(await openAny(place, options), kind)
  t.teardown(async () => {
    await accounts.close()
    await other.close()
  })
  return { place, accounts, other, clock }
}

/** A user with an application, and what an authorization of it begins with. */
export async function withClient({ accounts }: Opened, type: 'confidential' | 'public' = 'confidential') {
  const user = await accounts.users.add('ann', PASSWORD)
  const { client, secret } = await accounts.clients.register({
    name: 'Maps',
    owner: 'ann',
    redirectUris: [CALLBACK],
    type,
  })
  const grant = { client: client.id, user: user.id, redirectUri: CALLBACK, scope: 'all', challenge: null }
  const authorise = async () => {
    const code = await accounts.tokens.issueCode(grant)
    const descent = await accounts.tokens.findCode(code)
    if (descent === null) throw new Error('a code that was issued is not known')
    const issued = await accounts.tokens.issue(descent)
    if (issued === null) throw new Error('no tokens')
    return { code, descent, ...issued }
  }
  return { user, client, secret, grant, authorise }
}

/** The fault that work ends with, as `code: message`; or what it gave. */
export async function faultOf(work: () => unknown): Promise<string> {
  try {
    return `no fault but ${JSON.stringify(await work())}`
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return `${error.code}: ${error.message}`
  }
}

/** Opens accounts in several processes at once, and spends the same codes and refresh tokens in each. */
export async function inProcesses(count: number, place: string, secrets: readonly string[]) {
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, [...scriptArguments('support/spender'), place, ...secrets], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  )
  const spenders = children.map(child => ({
    child,
    closed: once(child, 'close'),
    lines: createInterface(child.stdout)[Symbol.asyncIterator](),
  }))
  // All open at once, and spend at once: each waits until the others are ready.
  for (let step = 0; step < 2; step++) {
    for (const { lines } of spenders) await lines.next()
    for (const { child } of spenders) child.stdin.write('go\n')
  }
  return Promise.all(
    spenders.map(async ({ lines, closed }) => {
      const { value } = await lines.next()
      const [code] = await closed
      if (code !== 0) throw new Error(`a process ended with ${code}`)
      return JSON.parse(value) as { readonly won: readonly string[]; readonly secret: string }
    }),
  )
}

/** What holds wherever accounts are kept. */
export function accountsContract(t: Test, open: Open): void {
  t.test('passkeys: a counter rises, here or elsewhere, and each is of one user', async t => {
    const { accounts, other } = await open(t)
    const { passkeys, users } = accounts
    const [ann, bob] = [await users.add('ann', PASSWORD), await users.add('bob', PASSWORD)]
    const given = {
      credential: 'abc',
      publicKey: new Uint8Array([1, 0, 255]),
      counter: 0,
      transports: ['usb'],
    }
    await passkeys.add(ann.id, 'Key', given)
    t.match(await faultOf(() => other.passkeys.add(bob.id, 'Mine', given)), /^AccountInvalid.*registered/)
    t.match(await faultOf(() => passkeys.add(bob.id, '', given)), /^AccountInvalid/)
    const found = await other.passkeys.find('abc')
    t.match(found, { user: ann.id, credential: 'abc', counter: 0, transports: ['usb'] })
    t.same([...(found?.publicKey ?? [])], [1, 0, 255])
    t.equal(await passkeys.find('ABC'), null)
    const id = found?.id ?? 0
    t.equal(await passkeys.use(id, 0), true, 'one that does not count')
    const uses = [accounts, other, accounts, other].map(each => each.passkeys.use(id, 3))
    t.equal((await Promise.all(uses)).filter(Boolean).length, 1)
    t.equal(await passkeys.use(id, 2), false)
    t.equal(await passkeys.use(id, 0), false)
    t.match(await faultOf(() => passkeys.rename(bob.id, id, 'Mine')), /^AccountUnknown/)
    t.match(await faultOf(() => passkeys.remove(bob.id, id)), /^AccountUnknown/)
    await passkeys.rename(ann.id, id, 'Old key')
    t.match(await other.passkeys.list(ann.id), [{ id, label: 'Old key', lastUse: String }])
    t.same(await passkeys.list(bob.id), [])
    t.not(passkeys.handle(ann.id), passkeys.handle(bob.id))
    t.equal(passkeys.handle(ann.id), other.passkeys.handle(ann.id))
    await passkeys.remove(ann.id)
    t.equal(await other.passkeys.find('abc'), null)
    await passkeys.add(bob.id, 'Mine', given)
    await users.setPassword('bob', `${PASSWORD} too`)
    t.equal((await other.passkeys.list(bob.id)).length, 1, 'another password leaves it')
    await users.setPassword('Bob', PASSWORD, { revokeKeys: true })
    t.same(await other.passkeys.list(bob.id), [], 'unless keys are to go, too')
    await passkeys.add(bob.id, 'Mine', given)
    await users.remove('bob')
    t.equal(await passkeys.find('abc'), null, 'it goes with its user')
  })

  t.test('what serves once is consumed once, here or elsewhere', async t => {
    const { accounts, other, clock } = await open(t)
    const end = clock.now + HOUR
    const many = Array.from({ length: 12 }, (_, at) => (at % 2 === 0 ? accounts : other))
    const consumed = await Promise.all(many.map(each => each.singleUse.consume('assertion 1', end)))
    t.equal(consumed.filter(Boolean).length, 1, 'of many at once one is first')
    t.equal(await other.singleUse.consume('assertion 1', end + HOUR), false)
    t.equal(await other.singleUse.consume('assertion 2', end + 0.5), true)
  })

  t.test('second factors: a code is accepted once, here or elsewhere', async t => {
    const { accounts, other, clock } = await open(t)
    const { secondFactors, users } = accounts
    const { id } = await users.add('ann', PASSWORD)
    t.same(await secondFactors.state(id), { type: 'off' })
    t.match(await faultOf(() => secondFactors.renewCodes(id)), /^AccountInvalid/)
    const session = 'session of ann'
    const first = await secondFactors.begin(id, session)
    const begun = await secondFactors.begin(id, session)
    t.notSame(begun, first, 'begun again it has another secret')
    t.match(begun.secret, /^[A-Z2-7]{32}$/, '160 bits')
    t.same(await other.secondFactors.state(id), { type: 'off' }, 'it is stored nowhere')
    const code = (steps = 0) => codeAt(begun.secret, clock.now + steps * 30_000)
    const confirm = (given: string, as = session, of = id) =>
      other.secondFactors.confirm(of, as, begun.sealed, given)
    t.same(other.secondFactors.begun(id, session, begun.sealed), begun)
    for (const [who, as, sealed] of [
      [id, 'session of eve', begun.sealed],
      [id + 1, session, begun.sealed],
      [id, session, begun.sealed.replace(/.$/, '')],
      [id, session, ''],
    ] as const)
      t.equal(secondFactors.begun(who, as, sealed), null)
    t.equal(await confirm(code(), 'session of eve'), null, 'another session confirms nothing')
    t.equal(await confirm(code(), session, id + 1), null)
    t.equal(await secondFactors.verify(id, code()), null, 'not in use before it is confirmed')
    t.equal(await confirm(code(-2)), null)
    t.equal(await confirm(code(2)), null)
    clock.now += 10 * MINUTE
    t.equal(secondFactors.begun(id, session, begun.sealed), null, 'ten minutes later it is over')
    t.equal(await confirm(code()), null)
    clock.now -= 9 * MINUTE
    const recovery = (await confirm(code(-1))) ?? []
    t.equal(new Set(recovery).size, 10)
    t.equal(await confirm(code()), null, 'in use already')
    t.match(await faultOf(() => secondFactors.begin(id, session)), /^AccountInvalid/)
    t.equal(await other.secondFactors.verify(id, code(-1)), null, 'the code that confirmed is consumed')
    const served = await Promise.all(
      [accounts, other, accounts, other].map(each => each.secondFactors.verify(id, code())),
    )
    t.same(
      served.filter(each => each !== null),
      ['code'],
      'of four at once one is accepted',
    )
    t.equal(await secondFactors.verify(id, code(1)), 'code', 'the clock of the telephone may be ahead')
    t.equal(await secondFactors.verify(id, code()), null, 'none older than the last')
    for (const wrong of ['', '12345', '1234567', 'abcdef', '１２３４５６', 'x'.repeat(1000)])
      t.equal(await secondFactors.verify(id, wrong), null, wrong.slice(0, 10))
    const [one = '', two = '', three = ''] = recovery
    t.equal(await secondFactors.verify(id, one), 'recovery code')
    t.equal(await other.secondFactors.verify(id, one), null, 'once')
    t.equal(
      await secondFactors.verify(id, two.replaceAll('-', '')),
      'recovery code',
      'hyphens are for the eye',
    )
    t.same(await secondFactors.state(id), { type: 'on', recoveryCodes: 8 })
    const renewed = await secondFactors.renewCodes(id)
    t.equal(await secondFactors.verify(id, three), null, 'the old ones are gone')
    t.equal(await secondFactors.verify(id + 1, renewed[0] ?? ''), null, 'they are of one user')
    clock.now += HOUR
    t.equal(await secondFactors.verify(id, code()), 'code')
    t.equal(await secondFactors.remove('ANN'), true)
    t.equal(await secondFactors.remove('ann'), false)
    t.match(await faultOf(() => secondFactors.remove('bob')), /^AccountUnknown/)
    t.same(await other.secondFactors.state(id), { type: 'off' })
    const actions: string[] = []
    for await (const { action } of accounts.audit.events(0)) actions.push(action)
    t.same(
      actions.filter(action => /second|recovery/.test(action)),
      ['second factor added', 'recovery codes renewed', 'second factor removed'],
    )
  })

  t.test('users: names, passwords, quotas and grants', async t => {
    const opened = await open(t)
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
      [() => users.add('bob', 'Password123!'), /^AccountInvalid: .*too common/],
      [() => users.setPassword('ann', '1q2w3e4r5t6y'), /^AccountInvalid: .*too common/],
      [() => users.grant('bob', 'trees'), /^AccountUnknown/],
      [() => users.grant('ann', 'Big Trees'), /^AccountInvalid: A grant is/],
      [() => users.grant('ann', ''), /^AccountInvalid/],
      [() => users.revoke('ann', 'trees'), /^AccountUnknown: The user ann has no grant of trees/],
      [() => users.revoke('bob', 'trees'), /^AccountUnknown/],
      [() => users.remove('bob'), /^AccountUnknown/],
    ]
    for (const [work, fault] of refused) {
      const described = await faultOf(work)
      t.match(described, fault, String(work))
      t.notMatch(described, /123456789"|short\b|a long password/, 'no password is told')
    }
    await users.grant('ANN', 'trees')
    await users.grant('ann', 'trees')
    await users.grant('ann', 'elms')
    await users.setQuota('ann', 7)
    t.match(await opened.other.users.find('ann'), { grants: ['elms', 'trees'], quota: 7 })
    await users.revoke('ann', 'elms')
    await users.setQuota('ann', null)
    t.match(await opened.other.users.byId(1), { name: 'Ann', grants: ['trees'], quota: null })
    t.same(
      (await users.list()).map(({ name }) => name),
      ['Ann', 'zoë@x.example'],
    )
    t.equal(await users.byId(99), null)
    await users.remove('ann')
    t.match(
      await users.add('ann', PASSWORD),
      { id: 3, grants: [] },
      'no id is given twice, nothing is inherited',
    )
  })

  t.test('first sign-ins at the same moment: one user a person, whatever their names', async t => {
    const { accounts, other } = await open(t)
    const sign = (subject: string) =>
      Promise.all(
        [accounts, other, accounts].map(({ identities }) =>
          identities.user({ issuer: 'https://office.example', subject, name: 'ada' }),
        ),
      )
    const users = (await Promise.all(['1', '2', '3'].map(sign))).flat()
    t.equal(new Set(users.map(({ id }) => id)).size, 3)
    t.equal((await accounts.users.list()).length, 3)
  })

  t.test('grants of the groups of a provider are replaced, those given by hand stay', async t => {
    const { accounts, other } = await open(t)
    const { users, identities } = accounts
    const [office, school] = ['https://office.example', 'https://school.example']
    const user = await identities.user({ issuer: office, subject: '1', name: 'ada' })
    await users.grant('ada', 'trees')
    const steps: readonly (readonly [what: string, () => Promise<void>, grants: string])[] = [
      ['two groups', () => set(office, 'edit:*', 'elms', 'trees'), 'edit:* elms trees'],
      ['another provider', () => set(school, 'elms', 'oaks'), 'edit:* elms oaks trees'],
      ['by hand as well', () => users.grant('ada', 'elms'), 'edit:* elms oaks trees'],
      ['no group, whatever the groups of today give', () => set(office), 'elms oaks trees'],
      ['a group again', () => set(office, 'elms'), 'elms oaks trees'],
      ['revoked by hand', () => users.revoke('ada', 'elms'), 'oaks trees'],
      ['until the next sign-in', () => set(office, 'elms'), 'elms oaks trees'],
      ['no group there', () => set(school), 'elms trees'],
      ['nor here', () => set(office), 'trees'],
    ]
    const set = (issuer: string, ...granted: string[]) =>
      identities.setGroupGrants(user, issuer, new Set(granted))
    for (const [what, step, grants] of steps) {
      await step()
      t.equal((await other.users.find('ada')).grants.join(' '), grants, what)
    }
    const events: string[] = []
    for await (const { action, subject } of accounts.audit.events(0)) events.push(`${action} ${subject}`)
    t.ok(events.includes('granted ada: edit:*'), 'grants of groups are in the audit log')
    t.ok(events.includes('grant revoked ada: edit:*'))
  })

  t.test('the audit log names users and applications', async t => {
    const opened = await open(t)
    const { user, client, grant } = await withClient(opened)
    const { tokens, sessions, audit } = opened.accounts
    await tokens.issueCode(grant)
    await tokens.withdraw(user.id, client.id)
    await sessions.endOthers(user.id, (await sessions.begin(user.id)).token)
    const events: string[] = []
    for await (const { action, subject } of audit.events(0)) events.push(`${action} ${subject}`)
    t.same(events.slice(-3), [
      'application authorized ann: Maps',
      'authorization withdrawn ann: Maps',
      'sessions ended ann',
    ])
  })

  t.test('passwords are verified', async t => {
    const { accounts, other } = await open(t)
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
    const session = await accounts.sessions.begin(1)
    await accounts.users.setPassword('ann', PASSWORD)
    t.equal(await other.sessions.principal(session.token), null, 'another password ends the sessions')
    t.equal(await other.users.verify('ann', 'Zoë and more'), null)
    t.match(await other.users.verify('ann', PASSWORD), { name: 'Ann' })
    const pending = other.users.verify('ann', PASSWORD)
    await accounts.users.remove('ann')
    t.equal(await pending, null, 'who is removed meanwhile is not let in')
  })

  t.test('another password ends what was given by the old one', async t => {
    const opened = await open(t)
    const { accounts, other } = opened
    const { user, grant, authorise } = await withClient(opened, 'confidential')
    const neighbour = await accounts.users.add('bob', PASSWORD)
    const [before, bobs] = [
      await authorise(),
      await accounts.tokens.issueCode({ ...grant, user: neighbour.id }),
    ]
    const pending = await accounts.tokens.issueCode(grant)
    const { key } = await accounts.keys.create('ann', 'script')
    const ofBob = await accounts.keys.create('bob', 'script')
    t.ok(await other.tokens.principal(before.accessToken))
    t.ok(await other.keys.principal(key))
    await accounts.users.setPassword('ANN', 'another long one')
    t.equal(await accounts.tokens.principal(before.accessToken), null, 'access tokens')
    t.equal(await other.tokens.principal(before.accessToken), null, 'everywhere')
    t.equal(await other.tokens.redeemRefresh(before.refreshToken), null, 'refresh tokens')
    t.equal(await other.tokens.redeemCode(pending), null, 'codes that were not redeemed yet')
    t.ok(await other.keys.principal(key), 'keys stay')
    const after = await authorise()
    t.ok(await other.tokens.principal(after.accessToken), 'applications may ask again')
    await accounts.users.setPassword('ann', PASSWORD, { revokeKeys: true })
    t.equal(await accounts.keys.principal(key), null, 'unless they are to go too')
    t.same(await accounts.keys.list('ann'), [])
    t.ok(await other.keys.principal(ofBob.key), 'those of others stay')
    t.ok(await other.tokens.redeemCode(bobs))
    t.match(await other.tokens.consents(user.id), [{ scope: 'all' }], 'what was allowed is still known')
  })

  t.test('keys', async t => {
    const opened = await open(t)
    const { accounts, other, clock } = opened
    await accounts.users.add('ann', PASSWORD, 9)
    await accounts.users.add('bob', PASSWORD)
    await accounts.users.grant('ann', 'trees')
    const { key, id } = await accounts.keys.create('Ann', ' a label ')
    t.match(key, /^[A-Za-z][A-Za-z0-9]{47}$/)
    t.same(await other.keys.principal(key), {
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
      t.equal(await other.keys.principal(none), null, `no key: ${JSON.stringify(none.slice(0, 60))}`)
    await accounts.users.revoke('ann', 'trees')
    await accounts.users.grant('ann', '*')
    t.same((await other.keys.principal(key))?.grants, new Set(['*']), 'grants count at once')
    const listed = {
      id,
      user: 'ann',
      label: 'a label',
      hint: key.slice(0, 6),
      created: '2026-11-21T12:00:00.000Z',
    }
    t.same(await accounts.keys.list(), [{ ...listed, lastUse: null }])
    t.same(
      await other.keys.list('ANN'),
      [{ ...listed, lastUse: '2026-11-21T12:00:00.000Z' }],
      'noted where it was used',
    )
    t.same(await other.keys.list('bob'), [])
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
      const described = await faultOf(work)
      t.match(described, fault, String(work))
      t.notMatch(described, key, 'the key is not told')
    }
    t.ok(await other.keys.principal(key), 'nothing of that revoked it')
    for (const meant of ['key', 'id', 'hint'] as const) {
      const made = await accounts.keys.create('bob', '')
      await accounts.keys.revoke(
        { key: made.key, id: String(made.id), hint: made.key.slice(0, 6) }[meant],
        'bob',
      )
      t.equal(await other.keys.principal(made.key), null, `revoked by its ${meant}`)
    }
    for (let more = 0; more < 100; more++) await accounts.keys.create('bob', '')
    t.match(await faultOf(() => accounts.keys.create('bob', '')), /^AccountInvalid: .*at most 100 keys/)
    await accounts.users.remove('ann')
    t.equal(await other.keys.principal(key), null, 'it goes with its user')
    clock.now += DAY
    t.doesNotThrow(() => other.close(), 'uses of keys that are gone are no matter')
  })

  t.test('sessions end by themselves, and are ended', async t => {
    const { accounts, other, clock } = await open(t)
    await accounts.users.add('ann', PASSWORD)
    const { token, expires } = await accounts.sessions.begin(1)
    t.match(token, /^[A-Za-z0-9]{43}$/)
    t.equal(expires, BEGIN + 7 * DAY)
    t.match(await other.sessions.principal(token), { type: 'user', id: 1, name: 'ann', by: 'session' })
    t.equal(await accounts.keys.principal(token), null, 'a session is no key')
    t.equal(await accounts.tokens.principal(token), null, 'nor a token')
    for (let half = 0; half < 13; half++) {
      clock.now += 12 * HOUR - 1
      t.ok(await accounts.sessions.principal(token), `used again before 12 hours, ${half}`)
    }
    clock.now += HOUR
    t.ok(await accounts.sessions.principal(token))
    clock.now = BEGIN + 7 * DAY - 1
    t.ok(await accounts.sessions.principal(token))
    clock.now++
    t.equal(await accounts.sessions.principal(token), null, 'after 7 days')
    const idle = await accounts.sessions.begin(1)
    clock.now += 12 * HOUR - 1
    const begin = async () => (await accounts.sessions.begin(1)).token
    const [one, two, three] = [await begin(), await begin(), await begin()]
    clock.now++
    t.equal(await accounts.sessions.principal(idle.token), null, 'after 12 hours without use')
    await accounts.sessions.end(one)
    await accounts.sessions.end('nothing')
    t.equal(await other.sessions.principal(one), null)
    await accounts.sessions.endOthers(1, two)
    t.ok(await other.sessions.principal(two))
    t.equal(await other.sessions.principal(three), null)
    t.match(await faultOf(() => accounts.sessions.begin(99)), /^AccountUnknown/)
    for (let more = 0; more < 100; more++) await accounts.sessions.begin(1)
    t.equal(await accounts.sessions.principal(two), null, 'of more than 100 the oldest ends')
  })

  t.test('applications and their redirect URIs', async t => {
    const opened = await open(t)
    const { accounts, other } = opened
    const { client, secret } = await withClient(opened)
    t.match(secret, /^[A-Za-z0-9]{48}$/)
    t.same(await other.clients.find(client.id), client)
    t.equal(await other.clients.find('nothing'), null)
    for (const [id, given, right] of [
      [client.id, secret, true],
      [client.id, `${secret}x`, false],
      [client.id, '', false],
      [client.id, 'x'.repeat(10_000), false],
      ['nothing', secret, false],
      ['nothing', '', false],
    ] as const)
      t.equal(await other.clients.verifySecret(id, given), right, `${id} ${given.slice(0, 9)}`)
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
        const described = await faultOf(async () => {
          const { client } = await accounts.clients.register(given)
          await accounts.clients.remove(client.id)
        })
        const expected = takes[at] === true ? /^no fault/ : /^AccountInvalid: The redirect URI /
        t.match(described, expected, `${type} ${uri.slice(0, 60)}`)
      }
    const given = { name: 'App', owner: 'ann', redirectUris: [CALLBACK], type: 'public' } as const
    const many = (count: number) => Array.from({ length: count }, (_, at) => `${CALLBACK}/${at}`)
    const refused: readonly (readonly [() => unknown, RegExp])[] = [
      [
        () => accounts.clients.register({ ...given, redirectUris: [] }),
        /^AccountInvalid: .*1 to 20 .* 0 were/,
      ],
      [() => accounts.clients.register({ ...given, redirectUris: many(21) }), /^AccountInvalid: .*21 were/],
      [
        () => accounts.clients.register({ ...given, name: ' ' }),
        /^AccountInvalid: The name of an application/,
      ],
      [() => accounts.clients.register({ ...given, name: 'n'.repeat(201) }), /^AccountInvalid/],
      [() => accounts.clients.register({ ...given, name: 'a\u202eb' }), /^AccountInvalid/],
      [() => accounts.clients.register({ ...given, owner: 'nobody' }), /^AccountUnknown/],
      [() => accounts.clients.list('nobody'), /^AccountUnknown/],
      [() => accounts.clients.remove('nothing'), /^AccountUnknown/],
      [() => accounts.clients.remove(client.id, 'bob'), /^AccountUnknown/],
    ]
    for (const [work, fault] of refused) t.match(await faultOf(work), fault, String(work))
    t.same(
      (await accounts.clients.register({ ...given, redirectUris: many(20) })).client.redirectUris,
      many(20),
    )
    await accounts.clients.register(given)
    t.match(await faultOf(() => accounts.clients.remove('App')), /^AccountInvalid: Several applications/)
    t.same(
      (await other.clients.list('ann')).map(({ name }) => name),
      ['Maps', 'App', 'App'],
    )
    for (let more = 3; more < 50; more++) await accounts.clients.register({ ...given, name: `App ${more}` })
    t.match(
      await faultOf(() => accounts.clients.register(given)),
      /^AccountInvalid: .*at most 50 applications/,
    )
    await accounts.clients.remove('App 7', 'ann')
    t.equal((await other.clients.list()).length, 49)
    await accounts.users.remove('ann')
    t.same(await other.clients.list(), [])
  })

  t.test('codes and tokens', async t => {
    const opened = await open(t)
    const { accounts, other, clock } = opened
    const { user, client, grant, authorise } = await withClient(opened, 'public')
    await accounts.users.grant('ann', 'trees')
    const challenge = 'c'.repeat(43)
    const code = await accounts.tokens.issueCode({ ...grant, challenge })
    t.match(code, /^[A-Za-z0-9]{30}$/)
    const found = await other.tokens.findCode(code)
    t.match(found, { ...grant, challenge, expires: BEGIN + 10 * MINUTE, consumed: false })
    t.equal(await other.tokens.findCode(code.slice(1)), null)
    t.equal(await other.tokens.consumeCode(code), true)
    t.equal((await accounts.tokens.findCode(code))?.consumed, true)
    if (found === null) throw new Error('no code')
    const issued = await accounts.tokens.issue(found)
    t.match(issued, { expiresIn: 3600, scope: 'all', accessToken: /^\w{43}$/, refreshToken: /^\w{43}$/ })
    if (issued === null) throw new Error('no tokens')
    const { accessToken, refreshToken } = issued
    t.match(await other.tokens.principal(accessToken), {
      id: user.id,
      by: 'token',
      grants: new Set(['trees']),
    })
    t.equal(await other.tokens.principal(refreshToken), null, 'a refresh token opens nothing')
    t.equal(await other.tokens.findRefresh(accessToken), null)
    t.match(await other.tokens.findRefresh(refreshToken), {
      client: client.id,
      user: user.id,
      consumed: false,
    })
    clock.now += HOUR - 1
    t.ok(await accounts.tokens.principal(accessToken))
    clock.now++
    t.equal(await accounts.tokens.principal(accessToken), null, 'after an hour')
    clock.now += 1000 * DAY
    t.equal(await accounts.tokens.spendRefresh(refreshToken), true, 'a refresh token does not expire')
    const second = await accounts.tokens.issue(found)
    if (second === null) throw new Error('no tokens')
    t.ok(await accounts.tokens.principal(second.accessToken))

    t.equal(await other.tokens.spendRefresh(refreshToken), false, 'a second time')
    t.equal(await accounts.tokens.principal(second.accessToken), null, 'ends all that descends from it')
    t.equal(await accounts.tokens.spendRefresh(second.refreshToken), false)
    t.equal(await accounts.tokens.issue(found), null)

    const replayed = await authorise()
    t.equal(await accounts.tokens.consumeCode(replayed.code), true)
    t.equal(await other.tokens.consumeCode(replayed.code), false)
    t.equal(
      await accounts.tokens.principal(replayed.accessToken),
      null,
      'a code that is presented twice ends its tokens',
    )
    t.equal(await accounts.tokens.spendRefresh(replayed.refreshToken), false)

    const late = await accounts.tokens.issueCode(grant)
    clock.now += 10 * MINUTE - 1
    t.equal((await other.tokens.redeemCode(await accounts.tokens.issueCode(grant)))?.scope, 'all')
    clock.now++
    t.equal(await accounts.tokens.consumeCode(late), false, 'a code lasts ten minutes')

    const [kept, foreign] = [await authorise(), await authorise()]
    await accounts.tokens.revoke(kept.accessToken, 'another')
    await accounts.tokens.revoke('nothing', client.id)
    t.ok(await other.tokens.principal(kept.accessToken), 'only its client revokes a token')
    await accounts.tokens.revoke(kept.accessToken, client.id)
    t.equal(await other.tokens.principal(kept.accessToken), null)
    t.equal(await other.tokens.spendRefresh(kept.refreshToken), false)
    await accounts.tokens.revoke(foreign.refreshToken, client.id)
    t.equal(await other.tokens.principal(foreign.accessToken), null)

    const granted = { client: { id: client.id, name: 'Maps', type: 'public' }, scope: 'all' }
    t.match(await other.tokens.consents(user.id), [{ ...granted, granted: '2026-11-21T12:00:00.000Z' }])
    const last = await authorise()
    await accounts.tokens.withdraw(user.id, client.id)
    t.same(await other.tokens.consents(user.id), [])
    t.equal(await other.tokens.principal(last.accessToken), null)
    t.equal(await other.tokens.findCode(last.code), null)
    t.equal(await other.tokens.issue(last.descent), null)
    t.match(await faultOf(() => accounts.tokens.withdraw(user.id, client.id)), /^AccountUnknown/)
    t.match(await faultOf(() => accounts.tokens.issueCode({ ...grant, user: 99 })), /^AccountUnknown/)
    t.match(await faultOf(() => accounts.tokens.issueCode({ ...grant, client: 'x' })), /^AccountUnknown/)
    for (const none of ['', 'x'.repeat(100_000), "' OR 1=1 --"]) {
      t.equal(await accounts.tokens.consumeCode(none), false)
      t.equal(await accounts.tokens.spendRefresh(none), false)
      t.equal(await accounts.tokens.principal(none), null)
    }
    const removed = await authorise()
    await accounts.clients.remove('Maps')
    t.equal(await other.tokens.principal(removed.accessToken), null, 'tokens go with their application')
    t.equal(await other.tokens.issue(removed.descent), null)
  })

  t.test('of processes that spend the same codes and tokens, one gets each', async t => {
    const opened = await open(t)
    const { authorise, grant } = await withClient(opened)
    const { tokens } = opened.accounts
    const refreshTokens: string[] = []
    for (let each = 0; each < 30; each++) refreshTokens.push((await authorise()).refreshToken)
    // The clock of the processes is the real one, and codes are issued by that of the test.
    opened.clock.now = Date.now()
    const fresh: string[] = []
    for (const token of refreshTokens) fresh.push(await tokens.issueCode(grant), token)
    const ended = await inProcesses(3, opened.place, fresh)
    const won = ended.flatMap(one => one.won)
    t.same([...won].sort(), [...fresh].sort(), 'each exactly once')
  })

  t.test('failed attempts are counted by address, and by account and address', async t => {
    const { failures } = (await open(t)).accounts
    let now = 1_000_000
    const MINUTE = 60_000
    const attempts = new Attempts(PASSWORD_LIMITS, failures, () => now)
    const begin = (account: string, address: string, device: string | null = null) =>
      attempts.begin(account, address, device)
    const type = async (account: string, address: string) => (await begin(account, address)).type
    const many = Array.from({ length: 60 }, (_, index) => index)
    for (const [allowed, attemptOf] of [
      [5, () => ['ada', '192.0.2.1']],
      [60, each => ['ada', `192.0.2.${each}`]],
      [50, each => [`user${each}`, '192.0.2.1']],
      [5, each => ['ada', `2001:db8::${each}`]],
      [5, each => [each % 2 ? 'ADA ' : 'ada', '192.0.2.1']],
    ] as readonly (readonly [number, (each: number) => readonly [string, string]])[]) {
      now += 60 * MINUTE
      const types = await Promise.all(many.map(each => type(...attemptOf(each))))
      t.equal(types.filter(each => each === 'allowed').length, allowed, attemptOf(1).join())
    }
    now += 60 * MINUTE
    const waits: number[] = []
    for (let failed = 0; failed < 20; failed++) {
      const attempt = await begin('eve', '192.0.2.9')
      if (attempt.type === 'allowed') continue
      waits.push((attempt.until - now) / MINUTE)
      now = attempt.until - 1
      t.equal(await type('eve', '192.0.2.9'), 'blocked')
      now += 1
      failed -= 1
    }
    t.ok(waits.length >= 2 && Math.max(...waits) > 5, `${waits}`)
    now += 60 * MINUTE
    for (const each of many) await type(`user${each}`, '192.0.2.1')
    const elsewhere = await begin('eve', '192.0.2.2')
    if (elsewhere.type === 'allowed') await elsewhere.succeed()
    t.equal(await type('eve', '192.0.2.1'), 'blocked', 'to know one password frees no address')
    t.equal(
      (await begin('eve', '192.0.2.1', 'laptop')).type,
      'allowed',
      'a device that is known is not kept out',
    )
    const guesses = await Promise.all(many.map(() => begin('eve', '192.0.2.1', 'laptop')))
    t.equal(guesses.filter(each => each.type === 'allowed').length, 4, 'and has its own limit')
    const secrets = new Attempts(SECRET_LIMITS, failures, () => now)
    t.equal((await secrets.begin('ada', '192.0.2.1')).type, 'allowed', 'other secrets are counted apart')
  })

  t.test('counts of calls', async t => {
    const { accounts, other } = await open(t)
    const { calls } = accounts
    t.same(await calls.add('2026-11-20', new Map([['domain', 3]])), new Map([['domain', 3]]))
    await calls.add('2026-11-21', new Map(Object.entries({ domain: 5, 'user 1': 2 })))
    t.same(await other.calls.add('2026-11-21', new Map([['domain', 6]])), new Map([['domain', 11]]))
    t.same(await calls.add('2026-11-21', new Map([['domain', -1]])), new Map([['domain', 10]]))
    t.same(await calls.add('2026-11-21', new Map()), new Map())
    t.same(await other.calls.read('2026-11-21'), new Map(Object.entries({ domain: 10, 'user 1': 2 })))
    t.same(await other.calls.read('2026-11-20'), new Map(), 'days before are forgotten')
    t.same(await other.calls.read('2026-11-22'), new Map())
    const many = new Map(Array.from({ length: 1234 }, (_, at) => [`address:${at}`, at]))
    t.same(await calls.add('2026-11-22', many), many)
    t.same(await other.calls.read('2026-11-22'), many)
  })
}
