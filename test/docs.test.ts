import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import t from 'tap'
import { program } from '../src/cli/lodestone.ts'
import { PORTAL_SCHEMA } from '../src/config/schema.ts'
import { HARVEST_SCHEMA } from '../src/harvest/settings.ts'
import { DATASET_SCHEMA } from '../src/publishing/definition-schema.ts'
import { EXTENSION_AGGREGATES, EXTENSION_FUNCTIONS } from '../src/sparql/extensions.ts'
import { Metrics } from '../src/telemetry/metrics.ts'

/** The documentation in itself: its links lead somewhere, the README is short, clauses are numbered once. */
const root = path.resolve(import.meta.dirname, '..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const FILES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => path.join('docs', name))
    .sort(),
  'src/language/odsql/reference.md',
  'src/mapping/README.md',
  'src/api/odata/README.md',
]

t.test('links between documents lead to files and headings', async t => {
  for (const file of FILES)
    for (const [, target = ''] of prose(read(file)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      const [linked = '', heading] = target.split('#')
      const found = linked === '' ? file : path.join(path.dirname(file), linked)
      if (!t.ok(existsSync(path.join(root, found)), `${file}: ${target}`) || heading === undefined) continue
      t.ok(anchors(read(found)).has(heading), `${file}: ${target} names a heading`)
    }
})

t.test('source files that documents name are there', async t => {
  const files = ['src', 'test'].flatMap(folder =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => /\.(?:ts|mjs)$/.test(name) && !name.includes('node_modules'))
      .map(name => `/${folder}/${name}`),
  )
  const missing: string[] = []
  for (const file of [...FILES, ...peerDocuments()])
    for (const [, name = ''] of read(file).matchAll(/`([\w./-]+\.(?:ts|mjs))`/g))
      if (!files.some(each => each.endsWith(`/${name.replace(/^(?:\.\.\/)+/, '')}`)))
        missing.push(`${file}: ${name}`)
  t.same(missing, [])
})

/** The README of each folder of test/peers. */
function peerDocuments(): readonly string[] {
  return readdirSync(path.join(root, 'test/peers'))
    .map(name => `test/peers/${name}/README.md`)
    .filter(name => existsSync(path.join(root, name)))
}

t.test('every document is reached from the README', async t => {
  const reached = new Set(['README.md'])
  for (const file of reached)
    for (const [, target = ''] of prose(read(file)).matchAll(/\]\(([^)\s#]+\.md)[^)]*\)/g))
      if (!/^[a-z]+:/.test(target)) reached.add(path.join(path.dirname(file), target))
  for (const file of FILES) t.ok(reached.has(file), file)
})

t.test('the README has at most 200 lines, with both commands on the first screen', async t => {
  const lines = read('README.md').split('\n')
  t.ok(lines.length <= 200)
  const screen = lines.slice(0, 25).join('\n')
  for (const command of ['npm ci && npm start', 'npm ci && npm test']) t.ok(screen.includes(command), command)
})

t.test('clauses of the specification are numbered once, in order, below their section', async t => {
  for (const file of FILES.filter(name => name.startsWith('docs/specification/'))) {
    let [section, clause] = [0, 0]
    for (const line of read(file).split('\n')) {
      const [, title] = /^## (\d+)\. /.exec(line) ?? []
      const [, of, number] = /^(\d+)\.(\d+) /.exec(line) ?? []
      if (title !== undefined) {
        t.equal(Number(title), section + 1, `${file}: ${line}`)
        section = Number(title)
        clause = 0
      } else if (of !== undefined) {
        t.same([Number(of), Number(number) > clause], [section, true], `${file}: ${line.slice(0, 40)}`)
        clause = Number(number)
      }
    }
  }
})

/** A document without its blocks of code. */
function prose(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '')
}

/** The anchors of headings, as GitHub makes them. */
function anchors(text: string): ReadonlySet<string> {
  const headings = text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)
  return new Set(
    [...headings].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

t.test('comments cite clauses that are there, and no documents that are not', async t => {
  const cited = [...read('docs/specification/README.md').matchAll(/\]\((\w[\w-]*\.md)\) \| ([\w ]+) \|/g)]
  const clauses = new Set(
    cited.flatMap(([, file = '', name = '']) =>
      [...read(`docs/specification/${file}`).matchAll(/^(?:## (\d+)\.|(\d+\.\d+)) /gm)].map(
        ([, section, clause]) => `${name} ${section ?? clause}`,
      ),
    ),
  )
  t.ok(clauses.size > 150, 'clauses are found')
  const names = cited.map(([, , name]) => name).join('|')
  const citation = new RegExp(`\\b(${names}) (\\d+(?:\\.\\d+)?(?:, \\d+(?:\\.\\d+)?)*)`, 'g')
  const absent =
    /\b(?:facts on (?:"|OData)|query API|house design|linked-data specification|linked[- ]data, "|mapping rules?\b)/
  const found: string[] = []
  let count = 0
  for (const folder of ['src', 'test', 'docs/specification'])
    for (const name of readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.(?:ts|grammar|md)$/.test(name) || /^(?:docs\.test|peers)/.test(name)) continue
      const text = read(path.join(folder, name))
      if (absent.test(text)) found.push(`${folder}/${name}: a document that is not in the repository`)
      for (const [, document = '', numbers = ''] of text.matchAll(citation))
        for (const number of numbers.split(', ')) {
          count += 1
          if (!clauses.has(`${document} ${number}`)) found.push(`${folder}/${name}: ${document} ${number}`)
        }
    }
  t.same(found, [])
  t.ok(count > 100, 'citations are found')
})

t.test('the configuration of nginx passes addresses on undecoded', async t => {
  const places = read('docs/operations.md').match(/^ {4}location .*$/gm) ?? []
  t.equal(places.length, 2)
  // After a path in proxy_pass nginx sends the rest decoded, and %2F as a slash.
  for (const place of places) t.match(place, /proxy_pass http:\/\/[\d.:]+(?:\$below)?;/, place)
})

t.test('the table of errors has each code that is answered, with its status', t => {
  const declared = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .flatMap(name => [...read(path.join('src', name)).matchAll(/declareFault\(\s*'(\w+)',\s*(\d+)/g)])
    .map(([, code, status]) => `${code} ${status}`)
  t.ok(declared.length > 40, 'faults are found')
  // Other faults with status 500 are of the command line, or answered as InternalError.
  const answered = declared.filter(each => !each.endsWith(' 500') || each === 'InternalError 500')
  const listed = [...read('docs/apis.md').matchAll(/^\| (`\w+`(?:, `\w+`)*) \| (\d{3}) \| \S/gm)].flatMap(
    ([, codes = '', status]) => codes.split(', ').map(code => `${code.replaceAll('`', '')} ${status}`),
  )
  const ofConnections = ['RequestTimeout 408', 'TooManyConnections 429']
  t.same([...listed].sort(), [...answered, ...ofConnections].sort())
  t.end()
})

t.test('every metric and every variable of OpenTelemetry is documented, and no other', async t => {
  const text = read('docs/operations.md')
  const namesIn = (source: string, pattern: RegExp) => [...new Set(source.match(pattern) ?? [])].sort()
  const variables = namesIn(read('src/telemetry/otel-settings.ts'), /\bOTEL_\w+/g)
  t.ok(variables.length > 10)
  t.same(namesIn(text, /\bOTEL_\w+/g), variables)
  const measured = new Metrics(() => 0, { version: '0' })
  measured.measure({
    store: { statistics: () => Promise.reject(new Error('none')) },
    datasets: () => ({ served: 0, restricted: 0, records: 0, latest: 0 }),
    cache: () => ({ answers: 0, bytes: 0 }),
    ready: () => true,
    sources: () => [],
    harvests: () => [],
  })
  const metrics = namesIn(await measured.text('operators'), /(?<=^# HELP )lodestone_\w+/gm)
  t.ok(metrics.length > 20)
  t.same(namesIn(text, /\blodestone_[a-z_]+[a-z]\b(?!…)/g), metrics)
})

t.test('the table of var has all that is written there', t => {
  const written = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .flatMap(name => [
      ...read(path.join('src', name)).matchAll(/'var(?:', '|\/)(?!var\b)([a-z-]+(?:\.\w+)?)['/]/g),
    ])
    .map(([, name = '']) => name)
  const rows = [...read('docs/operations.md').matchAll(/^\| (`[^|]+`) \| [^|]+ \| (?:yes|no) \|/gm)]
  const listed = rows.flatMap(([, names = '']) => names.split(', ').map(name => name.replace(/[`/]/g, '')))
  t.same([...listed].sort(), [...new Set(written)].sort())
  t.end()
})

t.test('every function and aggregate of SPARQL beyond the recommendation is documented', t => {
  const text = read('docs/sparql.md')
  const names = [...EXTENSION_FUNCTIONS, ...EXTENSION_AGGREGATES].map(iri => iri.replace(/^.*[/:#]/, ''))
  t.ok(names.length > 40)
  t.same(
    names.filter(name => !new RegExp(`\\b${name}[\`(]`).test(text)),
    [],
  )
  t.end()
})

t.test('every key of the files of a portal is documented', t => {
  const text = ['portal', 'publishing', 'settings', 'access'].map(name => read(`docs/${name}.md`)).join('\n')
  const keys = [...keysOf(PORTAL_SCHEMA), ...keysOf(DATASET_SCHEMA), ...keysOf(HARVEST_SCHEMA)]
  t.ok(keys.length > 100)
  t.same(
    keys.filter(key => !text.includes(`\`${key}\``) && !new RegExp(`\\b${key}:\\s`).test(text)),
    [],
  )
  t.end()
})

/** The names of all members that a schema has, at any depth. */
function keysOf(schema: unknown): readonly string[] {
  if (schema === null || typeof schema !== 'object') return []
  return Object.entries(schema).flatMap(([key, value]) => [
    ...(key === 'properties' ? Object.keys(value) : []),
    ...keysOf(value),
  ])
}

t.test('every option of the command line is documented', async t => {
  const text = [...FILES, 'docker/README.md'].map(read).join('\n')
  const optionsOf = (command: Command): readonly (string | undefined)[] => [
    ...command.options.map(({ long }) => long),
    ...command.commands.flatMap(optionsOf),
  ]
  const options = [...new Set(optionsOf(await program()))]
  t.ok(options.length > 40)
  t.same(
    options.filter(option => !new RegExp(`${option}(?![\\w-])`).test(text)),
    [],
  )
})
