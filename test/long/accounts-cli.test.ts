import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { accountsFile, openAccounts } from '../../src/accounts/open.ts'
import { commandProcess, type Outcome } from '../support/command-lines.ts'
import { temporaryFolder } from '../support/folder.ts'

/** The commands user, key, app and backup. */
const PASSWORD = 'a long password'
const CALLBACK = 'https://app.example/callback'

function portalOf(t: Test): string {
  const dataset = (more: string) => ({
    'dataset.yaml': `source: { path: t.csv }\n${more}`,
    't.csv': 'a\n1\n',
  })
  return temporaryFolder(t, {
    'portal.yaml': 'title: Small\n',
    data: { open: dataset(''), closed: dataset('visibility: restricted\n') },
  })
}

const runLine = commandProcess(t)

/** Runs commands one after the other, each with the portal; all are expected to end, whatever they tell. */
function commandsOn(portal: string) {
  return async <const L extends readonly (readonly string[])[]>(...lines: L) =>
    (await Promise.all(lines.map(line => runLine([...line, '--portal', portal])))) as {
      readonly [Line in keyof L]: Outcome
    }
}

/** Runs a command that reads its standard input. */
function withInput(input: string, args: readonly string[]): Promise<string> {
  const binary = path.resolve(import.meta.dirname, '../../bin/lodestone.js')
  return new Promise(resolve => {
    const child = spawn(process.execPath, [binary, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
    let described = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', piece => {
        described += String(piece)
      })
    child.once('close', code => resolve(`${code} ${described}`))
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}

function accountsOf(t: Test, portal: string) {
  const accounts = openAccounts(accountsFile(portal), { now: Date.now })
  t.teardown(() => accounts.close())
  return accounts
}

t.jobs = 2

const DONE = { code: 0, stdout: '', stderr: '' }

t.test('users, before any server ran and while their accounts are open', { buffered: true }, async t => {
  const portal = portalOf(t)
  const run = commandsOn(portal)
  for (const outcome of await run(['user', 'list'], ['user', 'add', 'ann', '--password', PASSWORD]))
    t.same(outcome, DONE)
  const accounts = accountsOf(t, portal)
  const { key } = await accounts.keys.create('ann', '')
  t.ok(await accounts.users.verify('ann', PASSWORD))

  const [added, made, none] = await run(
    ['user', 'add', 'bob', '--quota', '5', '--json'],
    ['user', 'add', 'carl'],
    ['user', 'password', 'carl'],
  )
  const bob = JSON.parse(added.stdout)
  t.match(bob, { name: 'bob', quota: 5, grants: [] })
  t.ok(await accounts.users.verify('bob', bob.password), 'with empty input a password is made')
  t.match(made, { code: 0, stdout: /^[\w-]{20}\n$/, stderr: /^$/ })
  t.ok(await accounts.users.verify('carl', made.stdout.trim()), 'and printed alone')
  t.match(none, { code: 2, stdout: /^$/, stderr: /no password was given/ }, 'not so where one is replaced')

  const at = ['--portal', portal]
  t.equal(await withInput('Zoë and more\r\nsecond line\n', ['user', 'add', 'dora', ...at]), '0 ')
  t.ok(await accounts.users.verify('dora', 'Zoë and more'), 'the first line of the input')
  t.equal(await withInput('without an end', ['user', 'password', 'DORA', ...at]), '0 ')
  t.ok(await accounts.users.verify('dora', 'without an end'))
  t.match(await withInput('\n', ['user', 'password', 'dora', ...at]), /^1 .*0 characters were/)
  t.match(await withInput('1q2w3e4r5t6y\n', ['user', 'add', 'emil', ...at]), /^1 .*too common/)
  const doras = (await accounts.keys.create('dora', '')).key
  t.equal(await withInput('without an end', ['user', 'password', 'dora', ...at]), '0 ')
  t.ok(await accounts.keys.principal(doras), 'keys outlive a password')
  t.equal(await withInput('without an end', ['user', 'password', 'dora', '--revoke-keys', ...at]), '0 ')
  t.equal(await accounts.keys.principal(doras), null, 'unless they are revoked')
  t.ok(await accounts.users.verify('dora', 'without an end'), 'is as before')

  const grants: readonly (readonly [dataset: string, code: number, told: RegExp])[] = [
    ['closed', 0, /^$/],
    ['open', 0, /^warning: open is public/],
    ['later', 0, /^warning: there is no dataset later/],
    ['*', 0, /^$/],
    ['ods-api-monitoring', 0, /^$/],
    ['Big Trees', 1, /A grant is the id of a dataset/],
  ]
  const granted = await run(...grants.map(([dataset]) => ['user', 'grant', 'ann', dataset]))
  for (const [at, [dataset, code, described]] of grants.entries())
    t.match(granted[at], { code, stdout: /^$/, stderr: described }, dataset)
  const everything = new Set(['closed', 'open', 'later', '*', 'ods-api-monitoring'])
  t.same((await accounts.keys.principal(key))?.grants, everything)
  const [list, json, ...changes] = await run(
    ['user', 'quota', 'ann', '7'],
    ['user', 'quota', 'bob', 'none'],
    ...['open', 'later', '*'].map(dataset => ['user', 'revoke', 'ann', dataset]),
    ['user', 'list', '--json'],
    ['user', 'list'],
  ).then(outcomes => [...outcomes].reverse())
  for (const change of changes) t.same(change, DONE)
  t.same((await accounts.keys.principal(key))?.grants, new Set(['closed', 'ods-api-monitoring']))
  t.equal((await accounts.keys.principal(key))?.quota, 7)
  t.match(
    list?.stdout,
    /^NAME +CREATED +QUOTA +GRANTS\nann +\S+ +7 +closed ods-api-monitoring\nbob +\S+ +-\n/,
  )
  t.match(JSON.parse(json?.stdout ?? ''), [
    { name: 'ann', quota: 7, grants: ['closed', 'ods-api-monitoring'] },
    { name: 'bob', quota: null },
    { name: 'carl' },
    { name: 'dora' },
  ])
  t.same(await run(['user', 'remove', 'ann']), [DONE])
  t.equal(await accounts.keys.principal(key), null, 'a running server knows at once')
})

/** A portal with the users ann and bob, and its commands. */
async function peopleOf(t: Test) {
  const portal = portalOf(t)
  const accounts = accountsOf(t, portal)
  await accounts.users.add('ann', PASSWORD)
  await accounts.users.add('bob', PASSWORD)
  return { portal, run: commandsOn(portal), accounts }
}

t.test('roles are given by hand: each replaces that before, and no sign-in', { buffered: true }, async t => {
  const { run, accounts } = await peopleOf(t)
  const ann = await accounts.users.find('ann')
  await accounts.identities.setGroupGrants(ann, 'https://office.example', new Set(['*', 'elms']))
  for (const [role, grants] of [
    ['administrator', ['*', 'edit:*', 'elms', 'ods-api-monitoring', 'publish:*']],
    ['reader', ['*', 'elms']],
  ] as const) {
    t.same(await run(['user', 'role', 'ann', role]), [DONE])
    t.same((await accounts.users.find('ann')).grants, grants, role)
  }
  await accounts.identities.setGroupGrants(ann, 'https://office.example', new Set())
  t.same((await accounts.users.find('ann')).grants, ['*'], 'what a group gave before is by hand now')
  t.same(await run(['user', 'role', 'ann', 'none']), [DONE])
  t.same((await accounts.users.find('ann')).grants, [])
})

t.test('keys are made, listed and revoked', { buffered: true }, async t => {
  const { run, accounts } = await peopleOf(t)
  const [created, second, list, json] = await run(
    ['key', 'create', 'ann', '--label', 'for a map'],
    ['key', 'create', 'bob', '--json'],
    ['key', 'list'],
    ['key', 'list', 'ann', '--json'],
  )
  t.match(created, { code: 0, stdout: /^[A-Za-z0-9]{48}\n$/, stderr: /^$/ })
  const key = created.stdout.trim()
  const other = JSON.parse(second.stdout)
  t.match(await accounts.keys.principal(key), { name: 'ann' })
  t.match(await accounts.keys.principal(other.key), { name: 'bob' })
  t.match(
    list.stdout,
    /^ID +USER +KEY +CREATED +LAST USE +LABEL\n1 +ann +\w{6}… .* never +for a map\n2 +bob /,
  )
  t.match(JSON.parse(json.stdout), [
    { id: 1, user: 'ann', label: 'for a map', hint: key.slice(0, 6), lastUse: null },
  ])
  t.notMatch(list.stdout + json.stdout, key)
  const [revoked, again, byId] = await run(
    ['key', 'revoke', key],
    ['key', 'revoke', key],
    ['key', 'revoke', String(other.id)],
  )
  t.same([revoked, byId], [DONE, DONE])
  t.match(again, { code: 1, stdout: /^$/, stderr: /There is no such key/ })
  t.notMatch(again.stderr, key)
  t.equal(await accounts.keys.principal(key), null)
  t.equal(await accounts.keys.principal(other.key), null)
})

t.test('applications are registered, listed and removed', { buffered: true }, async t => {
  const { run, accounts } = await peopleOf(t)
  const redirects = ['--redirect', CALLBACK, '--redirect', 'http://localhost:8080/cb']
  const [maps, native, apps, ofBob, refused] = await run(
    ['app', 'register', '--owner', 'ann', ...redirects, 'Maps and more'],
    ['app', 'register', 'Native', '--public', '--owner', 'bob', '--redirect', 'com.example.app:/cb'],
    ['app', 'list'],
    ['app', 'list', '--owner', 'bob', '--json'],
    ['app', 'remove', 'Native', '--owner', 'ann'],
  )
  const [confidential, open] = [JSON.parse(maps.stdout), JSON.parse(native.stdout)]
  const uris = [CALLBACK, 'http://localhost:8080/cb']
  t.match(confidential, { client_name: 'Maps and more', type: 'confidential', redirect_uris: uris })
  t.ok(await accounts.clients.verifySecret(confidential.client_id, confidential.client_secret))
  t.match(open, { type: 'public', client_secret: /^\w{48}$/, redirect_uris: ['com.example.app:/cb'] })
  t.match(apps.stdout, /^ID +TYPE[^\n]+\n[^\n]+Maps and more[^\n]+\n[^\n]+Native[^\n]+\n$/)
  t.match(JSON.parse(ofBob.stdout), [{ client_id: open.client_id, owner: 'bob' }])
  t.notMatch(apps.stdout + ofBob.stdout, open.client_secret)
  t.match(refused, { code: 1, stderr: /There is no application Native/ })
  const removals = await run(['app', 'remove', 'Native'], ['app', 'remove', confidential.client_id])
  t.same(removals, [DONE, DONE])
  t.same(await accounts.clients.list(), [])
})

t.test('a backup is a copy for its owner alone, and replaces no file', { buffered: true }, async t => {
  const { portal, run } = await peopleOf(t)
  const file = path.join(portal, 'copy.sqlite')
  const [copied, twice] = await run(['backup', file], ['backup', file])
  t.same(copied, DONE)
  t.match(twice, { code: 2, stderr: /exists already/ })
  t.equal(statSync(file).mode & 0o777, 0o600)
  const copy = openAccounts(file, { now: Date.now })
  t.teardown(() => copy.close())
  t.same(
    (await copy.users.list()).map(({ name }) => name),
    ['ann', 'bob'],
  )
})

t.test('what is wrong is told, and no password is', { buffered: true }, async t => {
  const portal = portalOf(t)
  t.same(await commandsOn(portal)(['user', 'add', 'ann', '--password', PASSWORD]), [DONE])
  const app = ['app', 'register', 'App', '--owner', 'ann']
  const SECRET = 'hunter2'
  const cases: readonly (readonly [args: readonly string[], code: number, told: RegExp])[] = [
    [['user', 'nonsense'], 2, /unknown command 'nonsense'|unknown option/],
    [['user', 'add'], 2, /missing required argument 'name'/],
    [['user', 'add', 'ann', '--password', `${SECRET}-${SECRET}`], 1, /There is a user ann already/],
    [['user', 'add', 'eve', '--password', SECRET], 1, /10 to 1000 characters: 7 characters were found/],
    [['user', 'add', 'eve', `${SECRET}-${SECRET}`], 2, /too many arguments/],
    [['user', 'add', 'eve', '--passwd', `${SECRET}-${SECRET}`], 2, /unknown option '--passwd'/],
    [['user', 'add', 'e ve', '--password', `${SECRET}-${SECRET}`], 1, /A user name has 1 to 100/],
    [['user', 'add', 'eve', '--quota', 'many', '--password', `${SECRET}-${SECRET}`], 2, /calls of a day are/],
    [['user', 'add', 'eve', '--quota', '-1', '--password', `${SECRET}-${SECRET}`], 2, /calls of a day are/],
    [['user', 'quota', 'ann', 'many'], 2, /calls of a day are/],
    [['user', 'quota', 'nobody', '1'], 1, /There is no user nobody/],
    [['user', 'password', 'nobody', '--password', `${SECRET}-${SECRET}`], 1, /There is no user nobody/],
    [['user', 'grant', 'nobody', 'closed'], 1, /There is no user nobody/],
    [['user', 'revoke', 'ann', 'closed'], 1, /has no grant of closed/],
    [['user', 'remove', 'nobody'], 1, /There is no user nobody/],
    [['key', 'create', 'nobody'], 1, /There is no user nobody/],
    [['key', 'create', 'ann', '--label', 'l'.repeat(201)], 1, /A label has 0 to 200 characters/],
    [['key', 'list', 'nobody'], 1, /There is no user nobody/],
    [['key', 'revoke', '99'], 1, /There is no such key/],
    [[...app], 2, /'--redirect <uri>' not specified/],
    [['app', 'register', 'App', '--redirect', CALLBACK], 2, /'--owner <user>' not specified/],
    [[...app, '--redirect', 'http://app.example/'], 1, /is http, which only localhost may have/],
    [[...app, '--redirect', 'com.example.app:/cb'], 1, /only a public application can have/],
    [['app', 'register', 'App', '--owner', 'nobody', '--redirect', CALLBACK], 1, /There is no user nobody/],
    [['app', 'list', '--owner', 'nobody'], 1, /There is no user nobody/],
    [['app', 'remove', 'nothing'], 1, /There is no application nothing/],
    [['backup'], 2, /missing required argument 'file'/],
    [['backup', path.join(portal, 'no/copy')], 2, /cannot be written to: ENOENT/],
  ]
  const broken = path.join(portal, 'broken')
  mkdirSync(broken)
  writeFileSync(path.join(broken, 'portal.yaml'), 'title: Broken\n')
  writeFileSync(path.join(broken, 'var'), 'a file where a folder should be')
  const nowhere = path.join(portal, 'data')
  const cannot = /var\/accounts\.sqlite cannot be opened for writing: E(NOTDIR|EXIST)/
  const all = [
    ...cases.map(([args, code, described]) => ({ args, code, told: described, portal })),
    { args: ['user', 'list'], code: 1, told: cannot, portal: broken },
    { args: ['user', 'list'], code: 1, told: /portal\.yaml was not found/, portal: nowhere },
  ]
  for (const { args, code, told: described, portal } of all) {
    const outcome = await runLine([...args, '--portal', portal])
    const name = args.join(' ').replaceAll(portal, '')
    t.match(outcome, { code, stdout: /^$/, stderr: described }, name)
    t.notMatch(outcome.stderr, /\n {4}at |hunter2/, `${name}: neither stack nor password`)
  }
  t.notOk(existsSync(path.join(nowhere, 'var')), 'nothing is made where no portal is')
})
