import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { accountsFile, openAccounts } from '../../src/accounts/open.ts'
import { registerServer } from '../../src/app/running.ts'
import { checkPublished } from '../../src/cli/backup/contents.ts'
import { restorePortal, unpack, verifyBackup } from '../../src/cli/backup/unpack.ts'
import { makeBackup } from '../../src/cli/backup.ts'
import { loadConfig } from '../../src/config/load.ts'
import { applyDraft, findDraft, openDraft } from '../../src/publishing/management/drafts.ts'
import {
  currentManifest,
  versionFolder,
  versionsOf,
  withdraw,
} from '../../src/publishing/versions/versions.ts'
import { PROCESS_NAME, processName } from '../../src/runtime/processes.ts'
import { lodestone, spawnLodestone } from '../support/crash.ts'
import { temporaryFolder } from '../support/folder.ts'
import { publishPortal } from '../support/portal.ts'
import { until } from '../support/serving.ts'

/** Back-ups: whole while others publish, checked by restoring, and refused where a byte is wrong. */
const base = 'http://portal.test'
const NOW = new Date('2026-11-21T12:00:00.000Z')

async function portalOf(t: Test, records = 3) {
  const rows = Array.from({ length: records }, (_, a) => ({ a, name: `tree ${a}` }))
  const dataset = () => ({ 'dataset.yaml': 'source: { path: a.json }\n', 'a.json': JSON.stringify(rows) })
  const portal = temporaryFolder(t, {
    'portal.yaml': `base: ${base}\nworkers: 1\n`,
    'harvest.yaml': 'harvesters: []\n',
    var: {
      history: { 'trees.jsonl': '{"by":"alice","action":"upload"}\n' },
      drafts: { trees: { 'draft.json': '{}', data: { trees: { 'a.json': '[]' } } } },
      harvest: { 'city.json': '{}' },
      sources: { trees: { 'state.json': '{}', 'data.csv': 'a\n1\n' } },
    },
    data: {
      trees: dataset(),
      gone: dataset(),
      deep: { ...dataset(), notes: { ['é long name'.padEnd(120, 'x')]: 'of a file\n' } },
    },
    mappings: { 'trees.yml': 'mappings:\n  t: { subject: portal:trees/$(a), po: [[a, schema:Tree]] }\n' },
  })
  await publish(portal)
  withdraw(versionsOf(portal), 'gone')
  const accounts = openAccounts(accountsFile(portal), { now: Date.now })
  await accounts.users.add('alice', 'correct horse battery')
  await accounts.close()
  return portal
}

/** A folder beside that of the portal. */
function elsewhere(t: Test): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const publish = (portal: string, datasets: readonly string[] | null = null) =>
  publishPortal(portal, { base }, datasets)

/** All files below a folder with the digests of what is in them. */
function filesOf(folder: string): ReadonlyMap<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return new Map(
    entries.flatMap(entry => {
      const file = path.join(entry.parentPath, entry.name)
      if (!entry.isFile() || file.includes('accounts.sqlite')) return []
      return [[path.relative(folder, file), createHash('sha1').update(readFileSync(file)).digest('hex')]]
    }),
  )
}

t.test('a portal comes back as it was', async t => {
  const portal = await portalOf(t)
  for (const [name, target] of [
    ['nowhere', 'nothing'],
    ['itself', 'itself'],
    ['here', '.'],
  ] as const)
    symlinkSync(target, path.join(portal, 'data', name))
  // Of file systems, and closed to others than root.
  for (const name of ['data', 'var/published']) {
    mkdirSync(path.join(portal, name, 'lost+found'))
    writeFileSync(path.join(portal, name, 'lost+found/#1'), 'x')
  }
  const archive = path.join(elsewhere(t), 'portal.tar.gz')
  const manifest = await makeBackup(loadConfig({ portal }, {}), archive, NOW)
  t.equal(statSync(archive).mode & 0o777, 0o600, 'nobody else reads it')
  t.match(manifest, { format: 1, made: NOW.toISOString(), accounts: true })
  t.same(
    manifest.datasets.map(({ id, records }) => [id, records]),
    [
      ['deep', 3],
      ['trees', 3],
    ],
  )
  const again = path.join(elsewhere(t), 'again')
  const { before } = await restorePortal(archive, again, false, NOW)
  t.equal(before, null)
  for (const name of ['data', 'var/published'])
    rmSync(path.join(portal, name, 'lost+found'), { recursive: true })
  t.same(filesOf(again), filesOf(portal), 'each file with all of its bytes')
  t.same(
    readdirSync(again).sort(),
    ['data', 'harvest.yaml', 'mappings', 'portal.yaml', 'var'],
    'and nothing else',
  )
  const accounts = openAccounts(accountsFile(again), { now: Date.now })
  t.equal((await accounts.users.verify('alice', 'correct horse battery'))?.name, 'alice')
  await accounts.close()
  t.notOk(existsSync(path.join(again, 'var/published/gone/current')), 'what was withdrawn stays so')
  t.match(await verifyBackup(archive, NOW), { users: 1 })
})

t.test('drafts come back with their changes, and without what they refer to', async t => {
  const portal = await portalOf(t)
  const { folder } = openDraft(portal, 'deep', 'alice', NOW)
  rmSync(path.join(folder, 'a.json'))
  writeFileSync(path.join(folder, 'a.json'), '[{"a":7}]')
  const [archive, again] = ['portal.tar.gz', 'again'].map(name => path.join(elsewhere(t), name)) as [
    string,
    string,
  ]
  const { files } = await makeBackup(loadConfig({ portal }, {}), archive, NOW)
  t.same(
    files.filter(file => file.path.startsWith('var/drafts/deep/var')),
    [],
  )
  await restorePortal(archive, again, false, NOW)
  const draft = findDraft(again, 'deep')
  t.equal(realpathSync(path.join(again, 'var/drafts/deep/var')), realpathSync(path.join(again, 'var')))
  if (draft !== null) applyDraft(again, draft)
  t.equal(readFileSync(path.join(again, 'data/deep/a.json'), 'utf8'), '[{"a":7}]')
  t.equal(findDraft(again, 'deep'), null)
})

t.test('files and folders keep their modes', async t => {
  const portal = await portalOf(t)
  const archive = path.join(elsewhere(t), 'portal.tar.gz')
  const modes: readonly (readonly [string, number])[] = [
    ['portal.yaml', 0o600],
    ['data', 0o750],
    ['data/trees/a.json', 0o640],
    ['data/trees/dataset.yaml', 0o444],
    ['data/deep/notes', 0o555],
    ['mappings/trees.yml', 0o664],
    ['var', 0o700],
    ['var/accounts.sqlite', 0o600],
    ['var/published/trees/current', 0o604],
  ]
  for (const [name, mode] of modes) chmodSync(path.join(portal, name), mode)
  const before = process.umask(0o077)
  t.teardown(() => process.umask(before))
  await makeBackup(loadConfig({ portal }, {}), archive, NOW)
  const again = path.join(elsewhere(t), 'portal')
  await restorePortal(archive, again, false, NOW)
  for (const [name, mode] of modes)
    t.equal((statSync(path.join(again, name)).mode & 0o7777).toString(8), mode.toString(8), name)
  t.equal((await verifyBackup(archive, NOW)).users, 1, 'a closed folder is no obstacle to checking')
  for (const each of [portal, again]) chmodSync(path.join(each, 'data/deep/notes'), 0o755)
})

t.test('a version is whole although others are published meanwhile', async t => {
  const portal = await portalOf(t, 400)
  const folder = elsewhere(t)
  const config = loadConfig({ portal }, {})
  const versions = versionsOf(portal)
  let isOver = false
  const publishing = (async () => {
    for (let round = 1; !isOver; round++) {
      const rows = Array.from({ length: 400 }, (_, a) => ({ a, name: `tree ${a} of round ${round}` }))
      writeFileSync(path.join(portal, 'data/trees/new'), JSON.stringify(rows))
      writeFileSync(
        path.join(portal, 'data/trees/dataset.yaml'),
        `source: { path: new }\nformat: json\n# ${round}\n`,
      )
      await publish(portal, ['trees'])
      await sleep(5)
    }
  })()
  t.teardown(() => {
    isOver = true
  })
  const seen = new Set<string>()
  for (let copy = 0; copy < 4; copy++) {
    const archive = path.join(folder, `${copy}.tar.gz`)
    // A source that is written while it is read is refused; the next attempt finds it at rest.
    for (;;) {
      const made = await makeBackup(config, archive, NOW).catch(error => {
        if (!/was written to while it was read/.test(String(error))) throw error
        return null
      })
      if (made !== null) break
    }
    const { manifest } = await verifyBackup(archive, NOW)
    seen.add(manifest.datasets.find(({ id }) => id === 'trees')?.version ?? '')
  }
  isOver = true
  await publishing
  t.ok(seen.size > 1, `${seen.size} versions were caught`)
  t.equal((await checkPublished(versions, 'trees'))?.problem, null)
})

t.test('what is not whole is refused before anything is touched', async t => {
  const portal = await portalOf(t)
  const folder = elsewhere(t)
  const archive = path.join(folder, 'good.tar.gz')
  await makeBackup(loadConfig({ portal }, {}), archive, NOW)
  const tar = gunzipSync(readFileSync(archive))
  const write = (name: string, bytes: Buffer) => {
    const file = path.join(folder, name)
    writeFileSync(file, bytes)
    return file
  }
  const changed = (from: string, to: string) =>
    gzipSync(Buffer.from(tar.toString('latin1').replace(from, to), 'latin1'))
  const cut = (bytes: Buffer, share: number) =>
    write(`cut-${bytes.length}-${share}`, bytes.subarray(0, Math.floor(bytes.length * share)))
  const whole = readFileSync(archive)
  const lost = Buffer.concat([tar.subarray(0, tar.indexOf('backup.json')), Buffer.alloc(1024)])
  const before = new Set(readdirSync(tmpdir()))
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['of no byte', cut(whole, 0), /cannot be read as an archive/],
    ...[0.01, 0.1, 0.25, 0.5, 0.75, 0.9].flatMap(
      share =>
        [
          [`cut off at ${share}`, cut(whole, share), /cut off/],
          [`uncompressed, cut off at ${share}`, cut(tar, share), /cut off|cannot be read as an archive/],
        ] as const,
    ),
    ['without its last byte', write('last', whole.subarray(0, -1)), /cut off/],
    ['a damaged byte', write('byte', changed('tree 1', 'tree 7')), /a\.json is damaged/],
    ['another sum', write('sum', changed('"sha256": "', '"sha256": "0')), /backup\.json cannot be read/],
    ['a newer format', write('newer', changed('"format": 1', '"format": 9')), /newer format/],
    ['without manifest', write('lost', gzipSync(lost)), /backup\.json|cannot be read/],
    [
      'no archive',
      write('text', Buffer.from('hello, this is no archive at all')),
      /cannot be read as an archive|backup\.json/,
    ],
    ['nothing', path.join(folder, 'nothing'), /ENOENT/],
    [
      'a path that leaves',
      write('path', outside('../evil')),
      /\.\.\/evil is no file of a portal|cannot be read/,
    ],
    ['an absolute path', write('root', outside('/etc/evil')), /evil is no file of a portal|cannot be read/],
    ['a file of another kind', write('kind', outside('bin/evil')), /bin\/evil is no file of a portal/],
  ]
  for (const [what, file, message] of cases) {
    const target = path.join(folder, 'target')
    await t.rejects(restorePortal(file, target, false, NOW), { message }, what)
    t.notOk(existsSync(target), `${what}: nothing is left`)
    await t.rejects(verifyBackup(file, NOW), { message }, `${what}: verify`)
  }
  const temporary = readdirSync(tmpdir()).filter(name => name.startsWith('lodestone-verify-'))
  t.same(
    temporary.filter(name => !before.has(name)),
    [],
    'nothing is left in the temporary folder',
  )
  t.notOk(existsSync(path.join(folder, 'evil')))
})

/** An archive with one empty file of a name. */
function outside(name: string): Buffer {
  const header = Buffer.alloc(512)
  header.write(name, 0)
  header.write('0000644\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  header.write('00000000000\0', 124)
  header.write('00000000000\0', 136)
  header.write('        ', 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return gzipSync(Buffer.concat([header, Buffer.alloc(1024)]))
}

t.test('a folder with a portal or a server is left alone, unless it is forced', async t => {
  const portal = await portalOf(t)
  const archive = path.join(elsewhere(t), 'portal.tar.gz')
  await makeBackup(loadConfig({ portal }, {}), archive, NOW)
  const before = filesOf(portal)
  await t.rejects(restorePortal(archive, portal, false, NOW), { code: 'Usage', message: /is there already/ })
  t.same(filesOf(portal), before)
  const empty = elsewhere(t)
  const takeBack = await registerServer({ portal: empty, port: 3000, base: 'http://localhost:3000' })
  await t.rejects(restorePortal(archive, empty, false, new Date()), { message: /a server runs on/ })
  takeBack()
  writeFileSync(path.join(portal, 'portal.yaml'), 'title: Another\n')
  const { before: aside } = await restorePortal(archive, portal, true, NOW)
  t.equal(
    readFileSync(path.join(aside ?? '', 'portal.yaml'), 'utf8'),
    'title: Another\n',
    'it is moved aside',
  )
  t.match(readFileSync(path.join(portal, 'portal.yaml'), 'utf8'), 'workers: 1')
  t.equal((await checkPublished(versionsOf(portal), 'trees'))?.problem, null)
})

t.test('a mapping that shares graphs with an older version brings that along', async t => {
  const portal = await portalOf(t)
  writeFileSync(
    path.join(portal, 'mappings/trees.yml'),
    'mappings:\n  t: { subject: portal:trees/$(a), po: [[a, schema:Place]] }\n',
  )
  await publish(portal, ['trees'])
  const manifest = currentManifest(versionsOf(portal), 'trees')
  t.ok(
    manifest?.graphs.some(({ file }) => file.startsWith('../')),
    'it shares',
  )
  const archive = path.join(elsewhere(t), 'portal.tar.gz')
  await makeBackup(loadConfig({ portal }, {}), archive, NOW)
  const again = path.join(elsewhere(t), 'again')
  await unpack(archive, again)
  t.equal((await checkPublished(versionsOf(again), 'trees'))?.problem, null)
  t.not(currentManifest(versionsOf(again), 'trees'), null)
})

t.test('a damaged manifest of an older version is left out, and of one in force named', async t => {
  const portal = await portalOf(t)
  const versions = versionsOf(portal)
  const manifestOf = (version = '') => path.join(versionFolder(versions, 'deep', version), 'manifest.json')
  const before = currentManifest(versions, 'deep')?.version
  writeFileSync(path.join(portal, 'data/deep/a.json'), '[{"a":1}]')
  await publish(portal, ['deep'])
  const inForce = currentManifest(versions, 'deep')?.version
  truncateSync(manifestOf(before), 100)
  const folder = elsewhere(t)
  const archive = path.join(folder, 'portal.tar.gz')
  await makeBackup(loadConfig({ portal }, {}), archive, NOW)
  await unpack(archive, path.join(folder, 'again'))
  t.notOk(existsSync(path.join(folder, 'again/var/published/deep', before ?? '')))
  t.equal((await checkPublished(versionsOf(path.join(folder, 'again')), 'deep'))?.problem, null)
  truncateSync(manifestOf(inForce), 100)
  await t.rejects(makeBackup(loadConfig({ portal }, {}), path.join(folder, 'another.tar.gz'), NOW), {
    code: 'SourceUnreadable',
    message: /manifest\.json is damaged: lodestone publish deep makes it again of its source/,
  })
})

t.test('a restore whose settings name a file that no archive has tells what is done', async t => {
  const settings = `base: ${base}\nstore: http://localhost:1\nstore_password_file: secret\n`
  const portal = temporaryFolder(t, { 'portal.yaml': settings, secret: 'x', data: {} })
  const archive = path.join(elsewhere(t), 'p.tar.gz')
  t.equal((await lodestone(['backup', archive, '--portal', portal])).code, 0)
  const again = path.join(portal, 'again')
  const { code, stderr } = await lodestone(['restore', archive, '--portal', again])
  t.equal(code, 1)
  t.match(stderr, /again: 0 datasets .*\n.*store_password_file: secret cannot be read/)
  t.ok(existsSync(path.join(again, 'portal.yaml')))
})

t.test('what a killed restore left goes with the next one', async t => {
  const folder = temporaryFolder(t, { portal: { 'portal.yaml': '' } })
  const archive = path.join(folder, 'portal.tar.gz')
  await makeBackup(loadConfig({ portal: path.join(folder, 'portal') }, {}), archive, NOW)
  const again = path.join(folder, 'again')
  mkdirSync(path.join(again, `.restoring-${processName(4_194_305)}-abcdef`, 'var'), { recursive: true })
  await restorePortal(archive, again, false, NOW)
  t.same(readdirSync(again), ['portal.yaml'])
})

t.test('on the command line', async t => {
  const portal = await portalOf(t)
  const folder = elsewhere(t)
  const [archive, copy] = [path.join(folder, 'p.tar.gz'), path.join(folder, 'a.sqlite')]
  const temporary = path.join(folder, 'temporary')
  mkdirSync(temporary)
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['backup', archive, '--portal', portal], 0, /2 datasets with \d+ triples, \d+ files .* accounts; made/],
    [['backup', archive, '--portal', portal], 2, /exists already/],
    [['backup', path.join(folder, 'no/p.tar.gz'), '--portal', portal], 2, /cannot be written to: ENOENT/],
    [['backup', '--verify', archive], 0, /is whole: 2 datasets .* 1 user\n$/],
    [['backup', copy, '--portal', portal], 0, /^$/],
    [['backup', copy, '--portal', portal], 2, /exists already/],
    [['backup', '--verify', copy], 2, /a copy of the accounts is none/],
    [['backup', '--verify', folder], 1, /it is a folder: an archive is expected\n$/],
    [['restore', archive, '--portal', path.join(folder, 'x')], 0, /2 datasets/],
    [['restore', archive, '--portal', path.join(folder, 'x')], 2, /is there already/],
    [
      ['restore', archive, '--portal', path.join(archive, 'x')],
      1,
      /^lodestone: ENOTDIR: not a directory, mkdir '[^\n]*'\n$/,
    ],
    [['restore', archive, '--portal', path.join(folder, 'x'), '--force'], 0, /what was there before is in/],
    [['user', 'list', '--portal', path.join(folder, 'x')], 0, /alice/],
  ]
  for (const [args, code, output] of cases) {
    const ended = await lodestone(args, { environment: { TMPDIR: temporary } })
    t.equal(ended.code, code, `${args.join(' ')}: ${ended.stderr}`)
    t.match(ended.stdout + ended.stderr, output, args.join(' '))
  }
  t.strictSame(readdirSync(temporary), [], 'no temporary folder is left')
  const dead = PROCESS_NAME.replace(/\d+\.\d+$/, '4194305.1')
  writeFileSync(path.join(folder, `killed.tar.gz.unfinished-${dead}`), 'x')
  mkdirSync(path.join(temporary, `lodestone-backup-${dead}-abcdef`))
  writeFileSync(path.join(portal, 'data/big.bin'), randomBytes(2e8))
  const killed = spawnLodestone(['backup', path.join(folder, 'killed.tar.gz'), '--portal', portal], {
    TMPDIR: temporary,
  })
  const unfinished = () => readdirSync(folder).filter(name => name.includes('.unfinished-'))
  const own = () => [`killed.tar.gz.unfinished-${processName(killed.pid ?? 0)}`]
  await until(() => unfinished().includes(own()[0] ?? ''))
  t.strictSame(unfinished(), own(), 'what a killed process left is removed')
  const ended = once(killed, 'exit')
  killed.kill('SIGTERM')
  t.strictSame((await ended)[0], 143)
  t.strictSame(unfinished(), [], 'a signal leaves nothing')
  t.strictSame(readdirSync(temporary), [])
  writeFileSync(path.join(portal, 'data/big.bin'), Buffer.alloc(2e8))
  const large = path.join(folder, 'large.tar.gz')
  await makeBackup(loadConfig({ portal }, {}), large, NOW)
  mkdirSync(path.join(temporary, `lodestone-verify-${dead}-abcdef`))
  const verifying = spawnLodestone(['backup', '--verify', large], { TMPDIR: temporary })
  const verified = () => readdirSync(temporary).filter(name => name.includes(processName(verifying.pid ?? 0)))
  await until(() => verified().length > 0)
  t.strictSame(readdirSync(temporary), verified(), 'what a killed one left is removed')
  const stopped = once(verifying, 'exit')
  verifying.kill('SIGTERM')
  t.strictSame((await stopped)[0], 143)
  t.strictSame(readdirSync(temporary), [], 'neither where an archive is verified')
  for (const [into, rest] of [
    [path.join(folder, 'nowhere'), null],
    [temporary, []],
  ] as const) {
    const restoring = spawnLodestone(['restore', large, '--portal', into])
    await until(() => existsSync(into) && readdirSync(into).length > 0)
    const left = once(restoring, 'exit')
    restoring.kill('SIGTERM')
    t.strictSame((await left)[0], 143)
    t.strictSame(existsSync(into) ? readdirSync(into) : null, rest, 'nor where it is unpacked')
  }
  const opened = openAccounts(copy, { now: Date.now })
  t.equal((await opened.users.list()).length, 1, 'the accounts alone')
  await opened.close()
  const version = currentManifest(versionsOf(portal), 'trees')?.version ?? ''
  writeFileSync(path.join(versionFolder(versionsOf(portal), 'trees', version), 'facts.nt.gz'), 'damaged')
  t.match(await checkPublished(versionsOf(portal), 'trees'), { problem: /facts\.nt\.gz cannot be read/ })
})
