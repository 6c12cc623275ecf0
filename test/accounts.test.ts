import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import Libsql from 'libsql'
import t from 'tap'
import { createCleaning } from '../src/accounts/cleaning.ts'
import { isCommonPassword } from '../src/accounts/common-passwords.ts'
import { change, query } from '../src/accounts/database.ts'
import { FailuresInMemory } from '../src/accounts/failures.ts'
import { MIGRATIONS } from '../src/accounts/migrations.ts'
import { openAccounts } from '../src/accounts/open.ts'
import { randomText } from '../src/accounts/secrets.ts'
import { SqliteDatabase } from '../src/accounts/sqlite.ts'
import { sqliteReason } from '../src/accounts/sqlite-files.ts'
import {
  accountsContract,
  BEGIN,
  DAY,
  faultOf,
  HOUR,
  inProcesses,
  MINUTE,
  type Open,
  openTwice,
  PASSWORD,
  withClient,
} from './support/accounts-contract.ts'
import { temporaryFolder } from './support/folder.ts'
import { scriptArguments } from './support/script.ts'

const openFile: Open = t =>
  openTwice(t, 'a file', path.join(temporaryFolder(t, {}), 'var', 'accounts.sqlite'))

accountsContract(t, openFile)

t.test('errors of the disk are told by their cause', async t => {
  const cases: readonly (readonly [code: string, free: number, reason: RegExp | null, hint?: RegExp])[] = [
    ['SQLITE_FULL', 1e9, /disk is full/, /unharmed/],
    ['SQLITE_IOERR_SHMSIZE', 4096, /disk is full/, /unharmed/],
    ['SQLITE_IOERR_READ', 1e9, /the disk gave an error/],
    ['SQLITE_READONLY', 0, /read-only/, /right to write/],
    ['SQLITE_MISUSE', 0, null],
  ]
  for (const [code, free, reason, hint] of cases) {
    const found = sqliteReason(code, () => free)
    if (reason === null) t.equal(found, null, code)
    else t.match(found?.reason, reason, code)
    if (hint === undefined) t.equal(found?.hint, undefined, code)
    else t.match(found?.hint, hint, code)
  }
})

const ownDisk = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
const skip = ownDisk ? false : 'a disk of its own needs the namespaces of Linux'

t.test('accounts on a full disk can be read, and written again once there is room', { skip }, async t => {
  const folder = temporaryFolder(t, {})
  const run = 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"'
  const given = [folder, process.execPath, ...scriptArguments('support/full-disk'), folder]
  const { stdout, stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', run, ...given], { encoding: 'utf8' })
  const refusal = 'AccountsUnavailable: the database of accounts cannot be written: the disk is full'
  t.equal(stdout, JSON.stringify({ full: ['ann', refusal], withRoom: ['ann', 'added', 'ann'] }), stderr)
})

t.test('accounts on a read-only disk can be read', { skip }, async t => {
  const folder = temporaryFolder(t, {})
  const accounts = openAccounts(path.join(folder, 'accounts.sqlite'), { now: Date.now })
  await accounts.users.add('ann', PASSWORD)
  const { key } = await accounts.keys.create('ann', 'test')
  await accounts.close()
  const run = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
  const given = [folder, process.execPath, ...scriptArguments('support/read-only-disk'), folder, key]
  const { stdout, stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', run, ...given], { encoding: 'utf8' })
  t.match(stdout, /^\["ann","AccountsUnavailable: .* cannot be written: .* is read-only"\]$/, stderr)
})

t.test('accounts stay readable where the room for writing is gone again at once', async t => {
  const file = path.join(temporaryFolder(t, {}), 'accounts.sqlite')
  const database = new SqliteDatabase(file, ['CREATE TABLE names (name TEXT)'])
  t.teardown(() => database.close())
  const names = query<{ readonly count: number }>('SELECT count(*) AS count FROM names')
  // As it is a second after the disk was found full, and with a file that cannot be opened for writing.
  Object.assign(database, { roomChecked: 0 })
  for (const part of ['', '-wal']) renameSync(`${file}${part}`, `${file}${part}.moved`)
  writeFileSync(file, 'no database'.repeat(100))
  for (const time of ['first', 'second'])
    t.match(
      database.read(() => names.get()),
      { count: 0 },
      time,
    )
})

t.test('common passwords are refused, whatever is put around them', async t => {
  const common = [
    ...['1234567890', '0987654321', '123456789a', '1q2w3e4r5t', '1qaz2wsx3edc', 'q1w2e3r4t5y6', 'qwertyuiop'],
    ...['QWERTZUIOP', 'azertyuiop', 'asdfghjkl;', 'zxcvbnm123', '12345qwert', '123qweasdzxc', 'qwerty!2345'],
    ...['abcdefghij', 'aaaaaaaaaa', 'abcabcabcabc', '12341234123', '1122334455', '!@#$%^&*()', '1111122222'],
    ...['password123', 'Password123!', 'P@ssw0rd2024', 'passwordpassword'],
    ...[
      'iloveyou12',
      'letmein2024!',
      'Welcome1234',
      'administrator',
      'changeme!!',
      'trustno1111',
      'motdepasse1',
    ],
    ...[
      'basketball',
      'liverpool1',
      '123sunshine',
      'dragon8361',
      'ｐａｓｓｗｏｒｄ１２３',
      'lodestone1',
      '2024football',
    ],
  ]
  for (const password of common) t.equal(isCommonPassword(password), true, password)
  const others = [
    ...[PASSWORD, 'correct horse battery', 'a better password', 'another password', 'alice-password-x'],
    ...['Tr0ub4dor&3', 'x8#kLm92!pQ', '0f9a8b7c6d5e', 'katze mauS 17', 'tiger in the box', 'Zoë and more'],
    ...['x8#kLm92x8#kLm92', 'two dragons, 1234', 'ganz anders gesagt'],
  ]
  for (const password of others) t.equal(isCommonPassword(password), false, password)
  const { accounts } = await openFile(t)
  t.match(
    await faultOf(() => accounts.users.add('zebrafinches', 'ZebraFinches')),
    /too common/,
    'nor is the name one',
  )
})

t.test('an unknown user costs what a known one does', async t => {
  const accounts = openAccounts(path.join(temporaryFolder(t), 'accounts.sqlite'), { now: () => BEGIN })
  t.teardown(() => accounts.close())
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

t.test('failures that are remembered are bounded', t => {
  const failures = new FailuresInMemory(30)
  const begin = (subject: string) => failures.begin([{ subject, limit: 1, within: 1000 }], 1)
  for (let each = 0; each < 100; each++) t.equal(begin(`${each}`), null)
  t.equal(begin('99'), 1001)
  t.equal(begin('0'), null, 'it is forgotten')
  t.end()
})

t.test('failures of a clock that was hours ahead block nobody once it is set back', t => {
  const failures = new FailuresInMemory()
  const begin = (now: number) => failures.begin([{ subject: 'ann', limit: 1, within: MINUTE }], now)
  t.equal(begin(5 * HOUR), null)
  t.equal(begin(5 * HOUR + 1), 5 * HOUR + MINUTE)
  t.equal(begin(5 * HOUR - 1000), 5 * HOUR + MINUTE, 'a clock that is corrected by a second forgets nothing')
  t.equal(begin(0), null)
  t.equal(begin(1), MINUTE)
  t.end()
})

t.test('the last use is written at most once a minute, and at the end', async t => {
  const { place: file, accounts, clock } = await openFile(t)
  await accounts.users.add('ann', PASSWORD)
  const { key } = await accounts.keys.create('ann', '')
  const rows: readonly (readonly [number, string])[] = [
    [0, '12:00:00'],
    [59_000, '12:00:00'],
    [1000, '12:01:00'],
    [5 * MINUTE, '12:06:00'],
  ]
  for (const [later, expected] of rows) {
    clock.now += later
    const once = openAccounts(file, { now: () => clock.now })
    await once.keys.principal(key)
    await once.close()
    t.equal((await accounts.keys.list('ann'))[0]?.lastUse, `2026-11-21T${expected}.000Z`)
  }
})

t.test('names of identity providers are shortened by characters', async t => {
  const { accounts } = await openFile(t)
  const letter = '\u{1d49c}'
  const given = { issuer: 'https://login.example', subject: '1', name: `a b${letter.repeat(100)}` }
  t.equal((await accounts.identities.user(given)).name, `a.b${letter.repeat(87)}`)
})

t.test('the file holds no secret', async t => {
  const opened = await openFile(t)
  const { place: file, accounts } = opened
  const { authorise, secret } = await withClient(opened)
  const { code, accessToken, refreshToken } = await authorise()
  const { key } = await accounts.keys.create('ann', 'label of a key')
  const session = await accounts.sessions.begin(1)
  await accounts.keys.principal(key)
  const secrets = { PASSWORD, secret, code, accessToken, refreshToken, key, session: session.token }
  const bytes = () =>
    Buffer.concat([file, `${file}-wal`].flatMap(name => (existsSync(name) ? [readFileSync(name)] : [])))
  const seen = bytes()
  await accounts.close()
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

/** The schema from which on users are in `account`. */
const RENAMED = 9

/** Migrations without the origin of grants. */
const WITHOUT_ISSUER = 9

t.test('schemas: from each older one, from a newer one, from files that are something else', async t => {
  for (const version of MIGRATIONS.keys()) {
    const file = path.join(temporaryFolder(t, {}), 'accounts.sqlite')
    const old = new SqliteDatabase(file, MIGRATIONS.slice(0, version))
    const users = version < RENAMED ? 'user' : 'account'
    if (version > 0)
      old.write(function* () {
        yield* change("INSERT INTO setting VALUES ('secret', zeroblob(32))")()
        yield* change(`INSERT INTO ${users} (name, folded, password, created) VALUES ('Old', 'old', '', 1)`)()
        yield* change(`INSERT INTO user_grant (${users}, dataset) VALUES (1, 'city-trees')`)()
      })
    old.close()
    const backup = path.join(path.dirname(file), 'backup.sqlite')
    copyFileSync(file, backup)
    const opened = openAccounts(file, { now: () => BEGIN })
    const expected = version > 0 ? [{ name: 'Old', grants: ['city-trees'] }] : []
    t.match(await opened.users.list(), expected, `version ${version}`)
    if (version > 0) {
      await opened.users.remove('old')
      t.same(await opened.users.list(), [])
      await opened.users.add('new', PASSWORD)
      t.match(await opened.users.list(), [{ name: 'new', grants: [] }], 'what was granted went with its user')
      await opened.restore(backup)
      t.match(await opened.users.list(), expected, 'a copy of that time can be restored')
    }
    await opened.calls.add('2026-11-21', new Map([['domain', 1]]))
    await opened.close()
    const again = openAccounts(file, { now: () => BEGIN })
    t.equal((await again.calls.read('2026-11-21')).get('domain'), 1)
    await again.close()
  }
  const folder = temporaryFolder(t, {
    text: 'no database at all\n'.repeat(100),
    folder: {},
    empty: '',
    'moved-wal': 'x',
  })
  const newer = path.join(folder, 'newer')
  new SqliteDatabase(newer, [...MIGRATIONS, 'CREATE TABLE more (id INTEGER)']).close()
  const foreign = new Libsql(path.join(folder, 'foreign'))
  foreign.exec('CREATE TABLE theirs (id INTEGER)')
  foreign.close()
  const cases = {
    text: /is no database/,
    folder: /cannot be opened for writing: EISDIR/,
    newer: /newer Lodestone: its schema is \d+, this program knows \d+/,
    foreign: /is a database of something else/,
    empty: /is empty, so the accounts in it are lost$/,
    moved: /is missing, though its log is there$/,
    'text/below': /cannot be opened for writing: (ENOTDIR|EEXIST)/,
  }
  for (const [name, fault] of Object.entries(cases)) {
    const described = await faultOf(() => openAccounts(path.join(folder, name), { now: () => BEGIN }))
    t.match(described, /^AccountsUnavailable: /, name)
    t.match(described, fault, name)
  }
  t.match(readFileSync(path.join(folder, 'text'), 'utf8'), /^no database at all\n/, 'it is left as it is')
  const open = path.join(folder, 'open')
  openAccounts(open, { now: () => BEGIN }).close()
  t.notOk(readdirSync(folder).some(name => name.startsWith('open.')))
  chmodSync(open, 0o644)
  openAccounts(open, { now: () => BEGIN }).close()
  t.equal(statSync(open).mode & 0o777, 0o600, 'a file that others could read is made private')
})

t.test('earlier users of a provider: whose grants they have, and who has a password', async t => {
  const file = path.join(temporaryFolder(t, {}), 'accounts.sqlite')
  const old = new SqliteDatabase(file, MIGRATIONS.slice(0, WITHOUT_ISSUER))
  const audited = change(
    "INSERT INTO audit (moment, actor, action, subject, address) VALUES (1, ?, ?, ?, '')",
  )
  const account = change('INSERT INTO account (name, folded, password, created) VALUES (?, ?, ?, 1)')
  old.write(function* () {
    for (const name of ['Ada', 'bob', 'Eve']) yield* account(name, name.toLowerCase(), 'a hash')
    for (const id of [1, 3])
      yield* change("INSERT INTO identity (issuer, subject, account) VALUES ('https://office', ?1, ?1)")(id)
    for (const [user, dataset] of [
      [1, 'unknown'],
      [1, 'group'],
      [1, 'hand'],
      [1, 'hand-then-group'],
      [2, 'local'],
    ] as const)
      yield* change('INSERT INTO user_grant (account, dataset) VALUES (?, ?)')(user, dataset)
    for (const [actor, action, subject] of [
      ['local:root', 'granted', 'ADA: hand-then-group'],
      ['local:root', 'grant revoked', 'ada: hand-then-group'],
      ['anonymous', 'granted', 'Ada: hand-then-group'],
      ['anonymous', 'granted', 'Ada: hand'],
      ['local:root', 'granted', 'ada: hand'],
      ['bob', 'granted', 'Ada: group'],
      ['local:root', 'password changed', 'EVE'],
    ] as const)
      yield* audited(actor, action, subject)
  })
  old.close()
  const accounts = openAccounts(file, { now: () => BEGIN })
  const ada = await accounts.users.find('ada')
  t.same(ada.grants, ['group', 'hand', 'hand-then-group', 'unknown'], 'nothing is lost before a sign-in')
  await accounts.identities.setGroupGrants(ada, 'https://office', new Set(['hand-then-group']))
  t.same((await accounts.users.find('ada')).grants, ['hand', 'hand-then-group'])
  t.same((await accounts.users.find('bob')).grants, ['local'])
  await accounts.close()
  const opened = new SqliteDatabase(file, MIGRATIONS)
  const known = query<{ readonly name: string }>("SELECT name FROM account WHERE password <> '' ORDER BY id")
  t.same(
    opened.read(() => known.all()).map(({ name }) => name),
    ['bob', 'Eve'],
    'a random password, which nobody knows, is none',
  )
  opened.close()
})

t.test('processes that open a new file at once agree on it', async t => {
  const file = path.join(temporaryFolder(t, {}), 'var', 'accounts.sqlite')
  const secrets = new Set((await inProcesses(4, file, [])).map(({ secret }) => secret))
  t.equal(secrets.size, 1)
  const accounts = openAccounts(file, { now: () => BEGIN })
  t.ok(secrets.has(accounts.secret.toString('hex')))
  await accounts.close()
})

t.test('one writes while another is in the way, or fails', async t => {
  const { place: file, accounts, other } = await openFile(t)
  await accounts.users.add('ann', PASSWORD)
  const holder = new Libsql(file)
  holder.exec('BEGIN IMMEDIATE')
  t.ok(await other.keys.list(), 'reading does not wait')
  const described = await faultOf(() => accounts.keys.create('ann', ''))
  t.match(described, /^AccountsUnavailable: .*is being written by another process/)
  holder.exec('COMMIT')
  const { key } = await other.keys.create('ann', '')
  t.ok(await accounts.keys.principal(key), 'who had to give up sees what is new')
  await accounts.keys.revoke(key)
  t.equal(await other.keys.principal(key), null)
  const database = new SqliteDatabase(file, MIGRATIONS)
  const insert = change("INSERT INTO call_count VALUES ('2026-11-21', ?, 1)")
  t.throws(() =>
    database.write(function* () {
      yield* insert('first')
      yield* insert('second')
      throw new Error('not that')
    }),
  )
  t.equal((await other.calls.read('2026-11-21')).size, 0, 'all or nothing')
  database.write(() => insert('first'))
  t.throws(() => database.write(() => insert('first')), /UNIQUE/)
  t.equal((await other.calls.read('2026-11-21')).size, 1)
  database.close()
  database.close()
  holder.close()
})

t.test('a backup is whole while another writes', async t => {
  const { place: file, accounts, other } = await openFile(t)
  await accounts.users.add('ann', PASSWORD)
  const { key } = await accounts.keys.create('ann', 'kept')
  const subjects = new Map(Array.from({ length: 500 }, (_, at) => [`subject ${at}`, 1]))
  const script = `
    const { openAccounts } = await import(${JSON.stringify(path.resolve(import.meta.dirname, '../src/accounts/open.ts'))})
    const { calls } = openAccounts(${JSON.stringify(file)}, { now: Date.now })
    process.stdout.write('begun')
    const subjects = new Map(Array.from({ length: 500 }, (_, at) => ['subject ' + at, 1]))
    for (;;) await calls.add('2026-11-21', subjects)`
  await accounts.calls.add('2026-11-21', subjects)
  const writer = spawn(process.execPath, ['--import=tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise(resolve => writer.once('close', resolve))
  await new Promise(resolve => writer.stdout.once('data', resolve))
  const folder = path.dirname(file)
  const seen = new Set<number>()
  for (let copy = 0; copy < 8; copy++) {
    const name = path.join(folder, `copy ${copy}.sqlite`)
    await accounts.backup(name)
    t.equal(statSync(name).mode & 0o777, 0o600)
    t.equal(existsSync(`${name}-wal`), false)
    const opened = openAccounts(name, { now: () => BEGIN })
    const counts = new Set((await opened.calls.read('2026-11-21')).values())
    t.equal(counts.size, 1, 'of one moment')
    for (const count of counts) seen.add(count)
    t.match(await opened.keys.principal(key), { name: 'ann' })
    t.ok(opened.secret.equals(other.secret))
    await opened.close()
  }
  writer.kill('SIGKILL')
  await ended
  t.ok(seen.size > 1, 'it was written meanwhile')
  const name = path.join(folder, 'copy 0.sqlite')
  t.match(await faultOf(() => accounts.backup(name)), /^AccountInvalid: .*exists already/)
  t.match(await faultOf(() => accounts.backup(path.join(folder, 'no/copy'))), /cannot be written: ENOENT/)
  t.ok(await accounts.keys.principal(key), 'who was killed while writing is in nobody’s way')
})

t.test('what has expired is cleaned away', async t => {
  const opened = await openFile(t)
  const { place: file, accounts, clock } = opened
  const { authorise, grant } = await withClient(opened)
  await accounts.sessions.begin(1)
  const first = await authorise()
  await accounts.tokens.consumeCode(first.code)
  await accounts.tokens.spendRefresh(first.refreshToken)
  await accounts.tokens.issue(first.descent)
  await accounts.tokens.issueCode(grant)
  const revoked = await authorise()
  await accounts.tokens.revoke(revoked.accessToken, grant.client)
  const database = new SqliteDatabase(file, MIGRATIONS)
  t.teardown(() => database.close())
  const clean = createCleaning(database)
  const tables = ['session', 'code', 'access_token', 'refresh_token', 'family']
  const counts = () =>
    tables.map(
      table =>
        database.read(() => query<{ readonly n: number }>(`SELECT count(*) AS n FROM ${table}`).get())?.n,
    )
  const rows: readonly (readonly [number, readonly number[]])[] = [
    [0, [1, 3, 3, 3, 3]],
    [HOUR, [1, 3, 0, 3, 3]],
    [13 * HOUR, [0, 3, 0, 3, 3]],
    [2 * DAY, [0, 0, 0, 2, 1]],
    [91 * DAY, [0, 0, 0, 1, 1]],
  ]
  for (const [later, expected] of rows) {
    await clean(BEGIN + later)
    await clean(BEGIN + later)
    t.same(counts(), expected, `after ${later / HOUR} h`)
  }
  clock.now = BEGIN + 91 * DAY
  t.equal((await accounts.tokens.issue(first.descent)) !== null, true, 'what is alive stays alive')
})
