import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { registerServer } from '../src/app/running.ts'
import { originText, shownSettings } from '../src/cli/config.ts'
import type { DoctorFinding } from '../src/cli/doctor/finding.ts'
import { diagnoseBase, diagnoseNode } from '../src/cli/doctor/machine.ts'
import { diagnoseEmbedded } from '../src/cli/doctor/store.ts'
import { diagnose } from '../src/cli/doctor.ts'
import { PORTAL_SCHEMA } from '../src/config/schema.ts'
import { RECORD_IDS_FILE } from '../src/publishing/versions/tombstones.ts'
import { currentManifest, versionFolder, versionsOf } from '../src/publishing/versions/versions.ts'
import { lodestone } from './support/crash.ts'
import { temporaryFolder } from './support/folder.ts'
import { publishPortal } from './support/portal.ts'

/** What operators are told of a portal: its settings with their origins, and what is wrong with it. */
function portalOf(t: Test, yaml = '', files: object = {}): string {
  const trees = { 'dataset.yaml': 'source: { path: a.json }\n', 'a.json': '[{"a":1}]' }
  return temporaryFolder(t, { 'portal.yaml': yaml, data: { trees, ...files } })
}

async function published(t: Test, yaml = ''): Promise<string> {
  const portal = portalOf(t, yaml)
  await publishTrees(portal)
  return portal
}

const publishTrees = (portal: string) => publishPortal(portal, { base: 'http://localhost:3000' })

function statusOf(findings: readonly DoctorFinding[], check: string): string {
  return findings
    .filter(finding => finding.check === check)
    .map(({ status, message }) => `${status}: ${message}`)
    .join('\n')
}

t.test('config show tells every setting, where it comes from, and no secret', async t => {
  const portal = portalOf(t, '# first\ntitle: File\nport: 4000\nquotas: { domain: 5 }\n')
  const environment = {
    LODESTONE_DEADLINE: '3',
    LODESTONE_ACCOUNTS: 'postgres://bob:s3cret@db:5432/x',
    LODESTONE_TILES: 'https://tiles.test/{z}/{x}/{y}.png?apikey=s3cret',
    LODESTONE_STORE: 'http://carl:s3cret@engine:7878/',
    LODESTONE_STORE_PASSWORD: 's3cret',
  }
  const settings = shownSettings({ portal, base: 'http://portal.test' }, environment)
  t.same(
    settings.map(({ setting }) => setting),
    Object.keys(PORTAL_SCHEMA.properties),
  )
  const found = new Map(settings.map(each => [each.setting, each]))
  const cases: readonly (readonly [string, unknown, string])[] = [
    ['title', 'File', 'portal.yaml:2'],
    ['port', 4000, 'portal.yaml:3'],
    ['quotas', { domain: 5 }, 'portal.yaml:4'],
    ['deadline', 3, 'LODESTONE_DEADLINE'],
    ['base', 'http://portal.test', '--base'],
    ['workers', null, 'default'],
    ['admin_port', null, 'default'],
    ['accounts', 'postgres://redacted@db:5432/x', 'LODESTONE_ACCOUNTS'],
    ['store', 'http://redacted@engine:7878/', 'LODESTONE_STORE'],
    ['store_password', 'redacted', 'LODESTONE_STORE_PASSWORD'],
  ]
  for (const [setting, value, origin] of cases) {
    const shown = found.get(setting)
    t.same([shown?.value, shown && originText(shown.origin)], [value, origin], setting)
  }
  t.notMatch(JSON.stringify(settings), 's3cret')
  const { code, stdout } = await lodestone(['config', 'show', '--portal', portal], { environment })
  t.equal(code, 0)
  t.match(stdout, /^title +File +portal\.yaml:2$/m)
  t.notMatch(stdout, 's3cret')
})

t.test('every setting and every part of one is described', async t => {
  const described = (schema: object, name: string): void => {
    const {
      properties = {},
      items,
      description,
    } = schema as {
      readonly properties?: Readonly<Record<string, object>>
      readonly items?: object
      readonly description?: string
    }
    if (name !== '' && !name.endsWith('[]')) t.match(description, /^\S.{9,}/, name)
    for (const [key, part] of Object.entries(properties))
      described(part, `${name}${name === '' ? '' : '.'}${key}`)
    if (items !== undefined) described(items, `${name}[]`)
  }
  const { network, ...others } = PORTAL_SCHEMA.properties
  for (const [key, schema] of Object.entries({ ...others, network }))
    described(schema, key === 'languages' ? `${key}[]` : key)
})

t.test('a portal without problems', async t => {
  const portal = await published(t)
  const findings = await diagnose({ portal }, {})
  for (const check of ['node', 'settings', 'var', 'clock', 'data', 'versions', 'accounts', 'memory', 'base'])
    t.match(statusOf(findings, check), /^ok: /, check)
  t.match(statusOf(findings, 'versions'), /1 published version can be read whole: 1 triple$/)
  t.same(
    readdirSync(path.join(portal, 'var')).filter(name => name !== 'published'),
    [],
    'looking leaves nothing behind',
  )
})

t.test('a portal that is served at another port, and has no base', async t => {
  const portal = portalOf(t)
  await publishPortal(portal, { base: 'http://localhost:8080' })
  t.match(statusOf(await diagnose({ portal }, {}), 'versions'), /^warning: published for another base/)
  const takeBack = await registerServer({ portal, port: 8080, base: 'http://localhost:8080' })
  t.teardown(takeBack)
  const findings = await diagnose({ portal }, {})
  t.match(statusOf(findings, 'versions'), /^ok: 1 published version /)
  t.match(statusOf(findings, 'base'), /^ok: http:\/\/localhost:8080 /)
})

t.test('what is wrong is found, with what to do', async t => {
  const portal = await published(t)
  const at = async (change: () => void, check: string, expected: RegExp) => {
    change()
    const findings = await diagnose({ portal }, {})
    t.match(statusOf(findings, check), expected, check)
    for (const { status, advice } of findings) t.equal(advice !== undefined, status !== 'ok')
  }
  const versions = versionsOf(portal)
  const version = currentManifest(versions, 'trees')?.version ?? ''
  const write = (name: string, text: string) => () => writeFileSync(path.join(portal, name), text)
  const facts = path.join(versionFolder(versions, 'trees', version), 'facts.nt.gz')
  await at(
    write('data/trees/dataset.yaml', 'sourse: { path: a.json }\n'),
    'data',
    /^problem: .*did you mean source/s,
  )
  await at(write('data/trees/dataset.yaml', 'source: { path: a.json }\n'), 'data', /^ok/)
  const source = path.join(portal, 'data', 'trees', 'a.json')
  const text = readFileSync(source)
  await at(() => rmSync(source), 'data', /^problem: trees: .*a\.json: There is no such file/)
  await at(() => writeFileSync(source, text), 'data', /^ok/)
  await at(
    () => writeFileSync(path.join(path.dirname(facts), RECORD_IDS_FILE), 'damaged'),
    'versions',
    /^problem: trees: .*: records\.ids /,
  )
  await at(
    () => writeFileSync(facts, 'damaged'),
    'versions',
    /^problem: trees: .*facts\.nt\.gz cannot be read/,
  )
  await at(
    () => rmSync(path.dirname(facts), { recursive: true }),
    'versions',
    /^problem: trees: .*manifest\.json cannot be read/,
  )
  await publishTrees(portal)
  await at(() => undefined, 'versions', /^ok: 1 published version can be read whole/)
  await at(write('data/.new.importing', ''), 'leftovers', /^warning: .*\/data\/\.new\.importing$/)
  await at(write('var/accounts.sqlite', 'no database at all'.repeat(100)), 'accounts', /^problem: /)
  await at(
    write('portal.yaml', 'store_user: ann\nservice_rows: 5\n'),
    'settings',
    /^ok: .*\nwarning: store_user means nothing without store\nwarning: service_rows means nothing without services$/,
  )
  await at(write('portal.yaml', 'prot: 80\n'), 'settings', /^problem: .*did you mean port/s)
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await new Promise(resolve => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  await at(write('portal.yaml', `port: ${port}\nhost: 127.0.0.1\n`), 'ports', /^problem: .*EADDRINUSE/)
  const { code, stdout } = await lodestone(['doctor', '--portal', portal, '--json'])
  t.equal(code, 1)
  t.ok((JSON.parse(stdout) as readonly DoctorFinding[]).some(({ status }) => status === 'problem'))
})

t.test('a finding about many datasets names some and counts the others', async t => {
  const many = Array.from({ length: 40 }, (_, at) => [`d${at + 10}`, { 'a.json': '[{"a":1}]' }])
  const portal = portalOf(t, '', Object.fromEntries(many))
  t.match(
    statusOf(await diagnose({ portal }, {}), 'versions'),
    /^warning: not published yet: d10, (?:d1\d, ){8}d19 and 31 more$/,
  )
})

t.test('doctor classifies each finding', async t => {
  const cases: readonly (readonly [DoctorFinding | readonly DoctorFinding[], RegExp])[] = [
    [diagnoseNode('v18.20.0'), /^problem/],
    [diagnoseNode('v20.18.9'), /^problem/],
    [diagnoseNode('v20.19.0'), /^ok/],
    [diagnoseNode('v22.1.0'), /^ok/],
    [diagnoseBase({ base: 'http://localhost:3000' }), /^ok/],
    [diagnoseBase({ base: 'http://localhost:3000', proxies: 1 }), /^warning/],
    [diagnoseBase({ base: 'http://data.example.org', proxies: 1 }), /^warning: .*not encrypted/],
    [diagnoseBase({ base: 'https://data.example.org' }), /^warning: .*proxies is 0/],
    [diagnoseBase({ base: 'https://data.example.org', proxies: 2 }), /^ok: .*behind 2 proxies/],
  ]
  for (const [found, expected] of cases) {
    const [{ status, message } = { status: '', message: '' }] = [found].flat()
    t.match(`${status}: ${message}`, expected)
  }
  const portal = await published(t)
  t.match(diagnoseEmbedded({ portal, memory: 2e9 }, 1e9), [{ status: 'problem' }])
  t.match(diagnoseEmbedded({ portal, memory: 2e9 }, 4e9), [{ status: 'ok' }])
  const [version] = readdirSync(path.join(portal, 'var/published/trees')).filter(name => name.includes('-'))
  truncateSync(path.join(portal, 'var/published/trees', version ?? '', 'facts.columns'), 3e9)
  t.match(diagnoseEmbedded({ portal, memory: 2e9 }, 4e9), [
    { status: 'ok' },
    { status: 'warning', message: /^the columns of the largest graph are 3,000 MB/ },
  ])
})
