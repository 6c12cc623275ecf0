import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { program } from '../../src/cli/lodestone.ts'
import { titleFromName } from '../../src/model/title.ts'
import { DATA_ENDINGS } from '../../src/sources/formats.ts'
import { commandProcess } from '../support/command-lines.ts'
import { lodestone as lodestoneAlone, spawnLodestone } from '../support/crash.ts'
import { temporaryFolder } from '../support/folder.ts'
import { freePort, until } from '../support/serving.ts'

/** The command line: every command as a process of its own, and most of what they answer from one that runs them in turn. */
const lodestone = commandProcess(t)

const CSV = 'name,height,planted\nOak,12,1999-04-01\nElm,7.5,2001-05-02\nYew,,\n'

function portalOf(t: Test): string {
  return temporaryFolder(t, {
    'portal.yaml': 'title: Small\nworkers: 1\n',
    'Big Trees.csv': CSV,
    data: {
      plants: {
        'dataset.yaml': 'source: { path: plants.csv }\nmetas: { default: { title: Plants } }\n',
        'plants.csv': CSV,
      },
      stones: { 'dataset.yaml': 'source: { path: s.json }\n', 's.json': '[{"a": 1}, {"a": 2}]' },
    },
  })
}

/** Starts a server and waits for the line that tells its address. */
async function serve(t: Test, args: readonly string[]) {
  const child = spawnLodestone(['serve', ...args])
  t.teardown(() => child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  const ended = new Promise<number | string | null>(resolve =>
    child.once('close', (code, signal) => resolve(signal ?? code)),
  )
  child.stderr.on('data', piece => {
    stderr += String(piece)
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', piece => {
      stdout += String(piece)
      if (stdout.includes('\n')) resolve()
    })
    void ended.then(code => reject(new Error(`serve ended with ${code}: ${stderr}`)))
  })
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  return { stdout, stderr: () => stderr, stop }
}

async function untilStatus(address: string, status: number): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    if ((await fetch(address)).status === status) return true
    await sleep(100)
  }
  return false
}

t.jobs = 3

t.test('every command has --help, and exit codes tell what happened', { buffered: true }, async t => {
  for (const command of (await program()).commands)
    t.match(command.helpInformation(), /Usage: [\s\S]+--help/, `help of ${command.name()}`)
  const portal = portalOf(t)
  const at = ['--portal', portal]
  const taken = createServer().listen(0)
  t.teardown(() => taken.close())
  const address = taken.address()
  const port = String(typeof address === 'object' && address !== null ? address.port : 0)
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['serve', '--help'], 0, /Usage: lodestone serve /],
    [['--help'], 0, /Commands:/],
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
    [['nonsense'], 2, /unknown command 'nonsense'/],
    [['serve', '--port', 'many'], 2, /a port is a number/],
    [['serve', '--prot', '80'], 2, /unknown option '--prot'\n\(Did you mean --port\?\)/],
    [['serve', ...at, '--port', '0'], 1, /port 0 .*--base/],
    [['serve', ...at, '--port', port], 1, new RegExp(`port ${port} is taken`)],
    [['serve', ...at, '--base', 'portal.test'], 2, /--base: base is "portal.test"/],
    [['unpublish'], 2, /missing required argument/],
    [['unpublish', 'nothing', ...at], 1, /published dataset nothing does not exist/],
    [['publish', 'plnats', ...at], 1, /there is no dataset plnats: .* was not found\. Did you mean plants\?/],
    [['mapping', 'check', 'stone', ...at], 2, /no dataset stone.*Did you mean stones\?/],
    [['mapping', 'preview', 'stone', ...at], 1, /Did you mean stones\?/],
    [['mapping', 'init', 'plantz', ...at], 1, /Did you mean plants\?/],
    [['mapping', 'export', 'plantz', ...at], 1, /Did you mean plants\?/],
    [['explain', 'stones', '', '--lang', 'xx', ...at], 2, /fr, en, nl/],
    [['import', path.join(portal, 'nothing.csv'), ...at], 1, /nothing\.csv was not found/],
    [['import', path.join(portal, 'Big Trees.csv'), '--id', 'Big Trees', ...at], 2, /no dataset id/],
    [['publish', '--portal', path.join(portal, 'data')], 1, /portal\.yaml was not found/],
    [['publish', 'nothing', ...at], 1, /nothing: not published/],
    [['check', 'plants', ...at], 0, /^$/],
    [['explain', 'nothing', '', ...at], 1, /dataset nothing does not exist/],
    [['explain', 'stones', '', '--limit', 'abc', ...at], 2, /--limit.*a whole number from 0 on is expected/],
    [['explain', 'stones', '', '--offset=-1', ...at], 2, /--offset.*a whole number from 0 on is expected/],
    [
      ['explain', 'stones', '', '--timezone', 'Mars', ...at],
      2,
      /a time zone such as Europe\/Paris is expected/,
    ],
    [['import', path.join(portal, 'data'), ...at], 1, /data is a folder: a file is expected/],
    [
      ['versions', 'earlier', ...at],
      1,
      /published by another version of lodestone: lodestone publish earlier/,
    ],
    [['rollback', 'earlier', ...at], 1, /published by another version of lodestone/],
    [['explain', 'earlier', '', ...at], 1, /published by another version of lodestone/],
    [['query', 'nothing'], 2, /missing required argument/],
    [['audit', '--since', '2026-02-30', ...at], 2, /--since.*a day or moment is expected/],
    [['init', path.join(portal, 'new'), '--title', ''], 2, /--title is empty/],
    [['init', path.join(portal, "it's new")], 0, /lodestone serve --portal '.*\/it'\\''s new' /],
  ]
  const earlier = path.join(portal, 'var/published/earlier')
  mkdirSync(path.join(earlier, 'v1'), { recursive: true })
  writeFileSync(path.join(earlier, 'current'), 'v1\n')
  writeFileSync(path.join(earlier, 'v1/manifest.json'), '{"format": 1, "version": "v1"}')
  for (const [args, code, output] of cases) {
    const ended = await lodestone(args)
    const name = args.filter(word => !word.startsWith(portal)).join(' ')
    t.equal(ended.code, code, `${name}: exit code`)
    t.match(ended.stdout + ended.stderr, output, `${name}: output`)
    t.notMatch(ended.stderr, /\n {4}at /, `${name}: no stack`)
    t.equal(ended.stdout === '', code !== 0 || args[0] === 'check', `${name}: failures are told on stderr`)
  }
  const wrong = await lodestoneAlone(['publish', ...at], { environment: { LODESTONE_PROT: '1' } })
  t.match(wrong, { code: 1, stderr: /did you mean LODESTONE_PORT/ })
  const nowhere = await lodestoneAlone(['serve', ...at], { environment: { LODESTONE_HOST: '[::1]' } })
  t.match(nowhere, { code: 1, stderr: /^(?!.*\n {4}at ).*\[::1\] is no address.*IPv6 without brackets/s })
})

t.test('publications, roll-backs and withdrawals are in the audit log', { buffered: true }, async t => {
  const portal = portalOf(t)
  const file = path.join(portal, 'data/plants/plants.csv')
  const run = async (...args: string[]) => {
    const ended = await lodestone([...args, '--portal', portal])
    t.equal(ended.code, 0, ended.stderr)
    return ended.stdout
  }
  await run('publish', 'plants')
  appendFileSync(file, readFileSync(file, 'utf8').split('\n').slice(1).join('\n'))
  await run('publish', 'plants')
  await run('rollback', 'plants')
  await run('unpublish', 'plants')
  const events = (await run('audit'))
    .trim()
    .split('\n')
    .map(line => line.split('\t').slice(3))
  t.match(events, [
    ['published', 'plants'],
    ['published', 'plants'],
    ['rolled back', /^plants: /],
    ['withdrawn', 'plants'],
  ])
})

/** A portal with a dataset that was imported from a file: `trees` and `yaml` are its files. */
async function importedPortal(t: Test) {
  const portal = portalOf(t)
  const at = ['--portal', portal]
  const folder = path.join(portal, 'data/big-trees')
  const imported = await lodestone(['import', path.join(portal, 'Big Trees.csv'), ...at])
  return {
    portal,
    at,
    imported,
    trees: path.join(folder, 'Big Trees.csv'),
    yaml: path.join(folder, 'dataset.yaml'),
  }
}

t.test('import makes a folder that has a title of the name of the file', { buffered: true }, async t => {
  const { portal, at, imported, yaml } = await importedPortal(t)
  t.match(imported, {
    code: 0,
    stdout: /^Big Trees\.csv: 3 records, 3 fields[\s\S]*data\/big-trees\/dataset\.yaml\n$/,
  })
  t.match(readFileSync(yaml, 'utf8'), /title: Big Trees/)
  const file = path.join(portal, 'Big Trees.csv')
  t.match(await lodestone(['import', file, ...at]), { code: 2, stderr: /exists already/ })
  const arbres = path.join(portal, 'arbres8.csv')
  writeFileSync(arbres, CSV)
  t.equal((await lodestone(['import', arbres, ...at])).code, 0)
  for (const [name, found] of [
    ['Straßen Łódź.csv', /data\/strassen-lodz\/dataset\.yaml/],
    ['日本.csv', /日本\.csv is no dataset id.*--id/],
  ] as const) {
    writeFileSync(path.join(portal, name), CSV)
    const { stdout, stderr } = await lodestone(['import', path.join(portal, name), ...at])
    t.match(stdout + stderr, found)
  }
  t.match(readFileSync(path.join(portal, 'data/arbres8/dataset.yaml'), 'utf8'), /title: Arbres 8\n/)
})

t.test('what was imported is published, and explain shows every stage', { buffered: true }, async t => {
  const { at } = await importedPortal(t)
  const published = await lodestone(['publish', 'big-trees', '--json', ...at])
  t.equal(published.code, 0)
  t.match(JSON.parse(published.stdout), [{ type: 'published', dataset: 'big-trees', report: { records: 3 } }])
  t.match(published.stderr, /^big-trees: 3 records, \d+ triples/)
  const explained = await lodestone(['explain', 'big-trees', 'height > 8', '--json', ...at])
  t.equal(explained.code, 0, explained.stderr)
  const stages = JSON.parse(explained.stdout)
  t.match(stages, { text: 'height > 8', answer: { total: 1, rows: [{ name: 'Oak', height: 12 }] } })
  t.match(stages.statements, [{ name: 'page', sparql: /SELECT/, columns: [/height/], rows: 1 }])
  const grouped = ['--select', 'count(*) as c', '--group-by', 'year(planted) as y', '--json']
  const groups = await lodestone(['explain', 'big-trees', '', ...grouped, ...at])
  t.match(JSON.parse(groups.stdout), { plan: { type: 'groups' }, statements: [{ name: 'groups' }] })
  t.match(await lodestone(['explain', 'big-trees', 'height > 8', ...at]), {
    code: 0,
    stdout: /WHERE|GRAPH/,
  })
  t.match(await lodestone(['explain', 'big-trees', 'height >', ...at]), {
    code: 1,
    stderr: /ODSQL syntax exception/,
  })
  t.match(await lodestone(['explain', 'big-tree', '', ...at]), {
    code: 1,
    stderr: /Did you mean big-trees\?/,
  })
  t.match(await lodestone(['unpublish', 'big-tree', ...at]), {
    code: 1,
    stderr: /Did you mean big-trees\?/,
  })
})

t.test('explain writes texts of dates in the language of the portal', { buffered: true }, async t => {
  const { portal, at } = await importedPortal(t)
  t.equal((await lodestone(['publish', 'big-trees', ...at])).code, 0)
  const select = ['--select', "date_format(planted, 'MMMM') as month"]
  const months = ['explain', 'big-trees', '', ...select, '--json', ...at]
  const monthIn = async (...more: readonly string[]) =>
    JSON.parse((await lodestone([...months, ...more])).stdout).answer.rows[0].month
  t.equal(await monthIn(), 'April', 'in the language of the portal')
  t.equal(await monthIn('--lang', 'es'), 'abril')
  writeFileSync(path.join(portal, 'portal.yaml'), 'title: Small\nworkers: 1\nlanguages: [rm, fr, de]\n')
  t.equal(await monthIn(), 'avril', 'the first that texts of dates can be written in')
})

t.test('check tells field by field which values do not fit', { buffered: true }, async t => {
  const { at, trees } = await importedPortal(t)
  writeFileSync(trees, 'name,height,planted\nOak,high,1999-04-01\n')
  t.match(await lodestone(['check', 'big-trees', ...at]), {
    code: 0,
    stdout:
      /^warning: big-trees: Big Trees\.csv: height: 1 value is not a double: "high" \(line 2, record 1\)\n$/,
  })
  writeFileSync(trees, 'name,height,planted,girth\nOak,2,1999-04-01,3\n')
  t.equal(
    (await lodestone(['check', 'big-trees', ...at])).stdout,
    'warning: big-trees: Big Trees.csv: no field reads the column "girth": not published\n',
    'a column that came later',
  )
  const wrong = ['n/a', '-', 'n/a', '?', '-', 'n/a', 'tall'].map(
    (height, n) => `Oak ${n},${height},${n % 2 ? 'x' : ''}\n`,
  )
  writeFileSync(trees, `name,height,planted\n${wrong.join('')}`)
  const perField = await lodestone(['check', 'big-trees', ...at])
  t.equal(
    perField.stdout,
    'warning: big-trees: Big Trees.csv: height: 7 values are not a double: "n/a" (3 times, first in line 2, record 1), ' +
      '"-" (2 times, first in line 3, record 2), "?" (line 5, record 4) …\n' +
      'warning: big-trees: Big Trees.csv: planted: 3 values are not a date: "x" (3 times, first in line 3, record 2)\n',
    'a line for each field',
  )
  t.match(JSON.parse((await lodestone(['check', 'big-trees', '--json', ...at])).stdout), [
    { severity: 'warning', field: 'height', count: 7 },
    { severity: 'warning', field: 'planted', count: 3 },
  ])
  t.match(
    (await lodestone(['publish', 'big-trees', ...at])).stderr,
    /10 values do not fit their field and became null\n {2}height: 7 values are not a double: .*\n {2}planted: 3 /,
  )
})

t.test('publish counts the warnings about a source, and shows the first', { buffered: true }, async t => {
  const { at, trees } = await importedPortal(t)
  const publish = async () => (await lodestone(['publish', 'big-trees', ...at])).stderr
  t.notMatch(await publish(), /warning/)
  writeFileSync(trees, 'name,height,planted\nOak,high,1999-04-01\n')
  t.match(await publish(), /\n {2}1 value does not fit its field and became null\n {2}height: 1 value is not/)
  writeFileSync(trees, 'name,height,planted\n"Le "Grand" Oak",12,1999-04-01\nElm,7,1999-04-01\n')
  t.match(
    await publish(),
    /\n {2}1 warning about the source, see: lodestone check big-trees\n {4}quotes that are not doubled .*line 2/,
  )
})

t.test('check finds what is wrong with files and definitions', { buffered: true }, async t => {
  const { at, trees, yaml } = await importedPortal(t)
  t.equal((await lodestone(['publish', 'big-trees', ...at])).code, 0)
  writeFileSync(trees, 'name,height,planted\nOak,12,1999-04-01\nElm,"7\n')
  const broken = await lodestone(['check', ...at])
  t.match(broken, { code: 1, stdout: /^error: big-trees: Big Trees\.csv:3:5: .*never closed/ })
  t.match((await lodestone(['publish', ...at])).stderr, /big-trees: not published\n {2}Big Trees\.csv:3:5: /)
  const harvest = path.join(path.dirname(yaml), '../../harvest.yaml')
  writeFileSync(harvest, 'harvesters:\n  - id: a\n    type: ckann\n    url: x\n')
  t.match((await lodestone(['check', ...at])).stdout.split('\n').slice(-3), [
    /^error: harvest\.yaml: .*:3:5: harvesters\.0\.type is "ckann"/,
    /^error: harvest\.yaml: .*:4:5: harvesters\.0\.url is "x"/,
    '',
  ])
  rmSync(harvest)
  writeFileSync(trees, 'name,hieght,planted\nOak,12,1999-04-01\n')
  t.match(await lodestone(['check', 'big-trees', ...at]), { code: 1, stdout: /Did you mean "hieght"\?/ })
  writeFileSync(trees, 'name,height,planted\nOak,12,1999-04-01\n')
  const before = readFileSync(yaml, 'utf8')
  writeFileSync(yaml, `${before}\nattachments: [{ path: plan.pdf }]\n`)
  t.match(await lodestone(['check', 'big-trees', ...at]), {
    code: 0,
    stdout: /^warning: big-trees: .*dataset\.yaml:\d+:\d+: the attachment plan\.pdf is no file/m,
  })
  writeFileSync(yaml, 'source: { path: Big Trees.csv }\nfeilds: []\n')
  t.match(await lodestone(['check', ...at]), {
    code: 1,
    stdout: new RegExp(`^error: big-trees: ${yaml}:2:1: unknown key feilds, did you mean fields\\?`),
  })
  t.match(JSON.parse((await lodestone(['check', '--json', ...at])).stdout), [
    { dataset: 'big-trees', severity: 'error' },
  ])
  t.match(await lodestone(['check', 'Stone', 'xyzzy', ...at]), {
    code: 1,
    stdout:
      /^error: Stone: "Stone" is not a dataset id.*Did you mean stones\?\n.*There are: big-trees, plants, stones\.\n$/,
  })
})

t.test('titles made of the names of files are words', async t => {
  const names = {
    'arbres8.csv': 'Arbres 8',
    'Us2.csv': 'Us 2',
    'us2.csv.gz': 'Us 2',
    'velib_stationsParis-2024.geojson': 'Velib stations Paris 2024',
    'trees-2024-01-31.csv': 'Trees 2024-01-31',
    'budget_v1.2.json': 'Budget v1.2',
    'INSEE_COMMUNES.csv': 'INSEE COMMUNES',
    'XMLFile.ttl': 'XML File',
    'pm10-2020.csv': 'PM10 2020',
    'co2.jsonl': 'CO2',
    '2024paris.csv': '2024 paris',
    '3d-models.csv': '3d models',
    'Big Trees.csv': 'Big Trees',
    'été2023.csv': 'Été 2023',
    'résultats-2e-tour.csv': 'Résultats 2e tour',
    '__.csv': '',
  }
  for (const [name, title] of Object.entries(names)) t.equal(titleFromName(name), title, name)
  for (const ending of DATA_ENDINGS) t.equal(titleFromName(`trees.${ending}`), 'Trees', ending)
})

t.test('whoever stops reading ends no command with an error', { buffered: true }, async t => {
  const portal = portalOf(t)
  const at = ['--portal', portal]
  t.equal((await lodestone(['publish', ...at])).code, 0)
  const mapping = path.join(portal, 'm.yml')
  writeFileSync(mapping, 'mappings:\n  p:\n    s: http://ex.org/$(name)\n    po: [[foaf:name, $(name)]]\n')
  const commands: readonly (readonly [readonly string[], number])[] = [
    [['--help'], 0],
    [['config', 'show', ...at], 0],
    [['config', 'show', '--json', ...at], 0],
    [['check', ...at], 0],
    [['check', 'nothing', ...at], 1],
    [['publish', 'plants', '--json', ...at], 0],
    [['explain', 'plants', '', ...at], 0],
    [['map', mapping, path.join(portal, 'data/plants/plants.csv')], 0],
    [['mapping', 'check', mapping, ...at], 0],
    [['mapping', 'preview', 'plants', ...at], 0],
    [['mapping', 'init', 'plants', '--stdout', ...at], 0],
    [['mapping', 'export', 'plants', ...at], 0],
    [['user', 'add', 'ann', ...at], 0],
    [['user', 'list', '--json', ...at], 0],
    [['key', 'list', 'ann', ...at], 0],
    [['app', 'list', ...at], 0],
    [['doctor', ...at], 0],
    [['import', path.join(portal, 'Big Trees.csv'), ...at], 0],
    [['unpublish', 'plants', ...at], 0],
    [['nonsense'], 2],
  ]
  for (const [args, code] of commands) {
    const name = args.filter(word => !word.startsWith(portal)).join(' ')
    const child = spawnLodestone(args)
    child.stdout.destroy()
    let stderr = ''
    child.stderr.on('data', piece => {
      stderr += String(piece)
    })
    t.equal(await new Promise(resolve => child.once('close', resolve)), code, `${name}: ${stderr}`)
    t.notMatch(stderr, /EPIPE|\n {4}at /, name)
  }
  const both = spawnLodestone(['mapping', 'preview', 'stones', ...at])
  both.stdout.destroy()
  both.stderr.destroy()
  t.equal(await new Promise(resolve => both.once('close', resolve)), 0, 'nor where nobody reads errors')
})

t.test('a server, from its address to its end', { buffered: true }, async t => {
  const portal = portalOf(t)
  const port = await freePort()
  const at = ['--portal', portal, '--port', String(port)]
  const base = `http://localhost:${port}`
  const server = await serve(t, at)
  t.equal(server.stdout, `Small is served at ${base}\n`)
  for (const described of [/^plants: 3 records/m, /^stones: 2 records/m]) t.match(server.stderr(), described)
  t.same(await (await fetch(`${base}/healthz`)).json(), { status: 'alive' })
  t.match(await (await fetch(`${base}/readyz`)).json(), {
    status: 'ready',
    store: { threads: { ready: 2, wanted: 2 } },
  })
  const plants = `${base}/api/explore/v2.0/catalog/datasets/plants/records`
  t.match(await (await fetch(plants)).json(), { total_count: 3 })

  const sparql = 'SELECT ?name ?height { ?s <PLANTS/name> ?name ; <PLANTS/height> ?height } ORDER BY ?name'
  const query = sparql.replaceAll('PLANTS', `${base}/ld/ontologies/plants`)
  const [csv, withdrawn] = await Promise.all([
    lodestone(['query', 'plants', query, ...at]),
    lodestone(['unpublish', 'stones', ...at.slice(0, 2)]),
  ])
  t.match(csv, { code: 0, stdout: /^name,height\r?\nElm,7\.5\r?\nOak,12/ }, csv.stderr)
  t.equal(withdrawn.code, 0, withdrawn.stderr)
  t.match(await lodestone(['query', 'plant', query, ...at]), { code: 1, stderr: /Did you mean plants\?/ })
  const stones = plants.replace('plants', 'stones')
  t.ok(await untilStatus(stones, 404), 'an unpublished dataset is gone')
  t.equal((await lodestone(['publish', ...at])).code, 0)
  await sleep(2500)
  t.equal((await fetch(stones)).status, 404, 'and stays away while all others are published')
  t.equal((await lodestone(['publish', 'stones', ...at])).code, 0)
  t.ok(await untilStatus(stones, 200), 'until it is published by name')
  rmSync(path.join(portal, 'data/stones'), { recursive: true })
  t.equal((await lodestone(['publish', ...at])).code, 0)
  t.ok(await untilStatus(stones, 404), 'a dataset whose folder is gone is gone')
  t.notOk(existsSync(path.join(portal, 'var/published/stones')))
  t.equal(await server.stop('SIGTERM'), 0)
})

t.test('publish is for the address at which the portal is served', { buffered: true }, async t => {
  const portal = portalOf(t)
  const port = await freePort()
  const server = await serve(t, ['--portal', portal, '--port', String(port)])
  const plants = `http://localhost:${port}/api/explore/v2.0/catalog/datasets/plants/records`
  writeFileSync(path.join(portal, 'data/plants/plants.csv'), `${CSV}Fir,30,\n`)
  const published = await lodestone(['publish', '--portal', portal])
  t.equal(published.code, 0, published.stderr)
  const count = async () => ((await (await fetch(plants)).json()) as { total_count: number }).total_count
  for (let tries = 0; tries < 100 && (await count()) !== 4; tries++) await sleep(100)
  t.equal(await count(), 4)
  const counted = ['query', 'plants', 'SELECT (COUNT(*) AS ?n) { ?s ?p "Fir" }', '--portal', portal]
  t.match(await lodestone(counted), { code: 0, stdout: /^n\r?\n1\r?\n$/ })
  const explained = await lodestone(['explain', 'plants', 'height > 20', '--portal', portal])
  t.match(explained, { code: 0, stdout: new RegExp(`localhost:${port}/ld/`) })
  const withdrawn = await lodestone(['unpublish', 'plants', '--portal', portal])
  t.equal(withdrawn.code, 0, withdrawn.stderr)
  t.ok(await untilStatus(plants, 404))
  t.equal(await server.stop('SIGHUP'), 0)
  const elsewhere = await lodestone(['publish', 'plants', '--portal', portal, '--json'])
  t.match(JSON.parse(elsewhere.stdout), [{ type: 'published' }], 'for the default where nobody serves')
})

t.test('any free port, with a base', { buffered: true }, async t => {
  const portal = portalOf(t)
  const server = await serve(t, ['--portal', portal, '--port', '0', '--base', 'http://portal.test/x/'])
  const [, port] = /^Small is served at http:\/\/portal\.test\/x \(port (\d+)\)\n$/.exec(server.stdout) ?? []
  t.equal((await fetch(`http://localhost:${port}/readyz`)).status, 200, server.stdout)
  t.equal(await server.stop('SIGINT'), 0)
})

t.test('the files of a folder, and one that is none', { buffered: true }, async t => {
  const folder = temporaryFolder(t, { 'plants.csv': CSV, 'empty.csv': '' })
  const server = await serve(t, [`${folder}/.`, '--port', String(await freePort())])
  t.equal(server.stdout.split(' is served at ')[0], path.basename(folder), 'the title is no dot')
  t.match(server.stderr(), /empty\.csv: not served\n {2}\S/)
  t.equal(await server.stop('SIGTERM'), 0)
  const { code, stderr } = await lodestone(['serve', path.join(folder, 'empty.csv')])
  t.same([code, stderr.match(/The table is empty/g)?.length], [1, 1], 'told once')
  const temporary = path.join(folder, 'temporary')
  mkdirSync(temporary)
  writeFileSync(path.join(folder, 'plants.csv'), CSV + 'Ash,3,2001-05-02\n'.repeat(500_000))
  const early = spawnLodestone(
    ['serve', path.join(folder, 'plants.csv'), '--port', String(await freePort())],
    {
      TMPDIR: temporary,
    },
  )
  await until(() => readdirSync(temporary).length > 0)
  const ended = once(early, 'exit')
  early.kill('SIGINT')
  await ended
  t.same(readdirSync(temporary), [], 'a signal leaves nothing while files are read')
})
