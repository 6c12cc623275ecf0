import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { type ConfigFlags, loadConfig } from '../src/config/load.ts'
import { PORTAL_SCHEMA } from '../src/config/schema.ts'
import { Fault } from '../src/errors/errors.ts'
import { readDefinition } from '../src/publishing/definition.ts'
import { defaultMemory, defaultWorkers } from '../src/runtime/memory.ts'
import { temporaryFolder } from './support/folder.ts'

/** Configuration: who wins, and that every mistake is told with its place. */
function portalWith(t: Test, yaml: string): string {
  return temporaryFolder(t, { 'portal.yaml': yaml })
}

function refusal(flags: ConfigFlags, environment: NodeJS.ProcessEnv = {}): Fault {
  try {
    loadConfig(flags, environment)
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('nothing was refused')
}

t.test('defaults < portal.yaml < environment < flags', async t => {
  const portal = portalWith(t, '')
  t.same(loadConfig({ portal }, {}), {
    portal,
    title: 'Lodestone',
    description: '',
    base: 'http://localhost:3000',
    host: '0.0.0.0',
    port: 3000,
    access: 'public',
    languages: ['en'],
    workers: defaultWorkers(),
    memory: defaultMemory(),
    deadline: 10,
    fragmentSize: 500,
    keepVersions: 5,
    uploadLimit: 2 ** 31,
    dereference: 'redirect',
    log: 'warn',
    adminHost: '127.0.0.1',
    metrics: 'private',
    shutdownDelay: 0,
    shutdownTimeout: 30,
    requestTimeout: 60,
    idleTimeout: 72,
    writeTimeout: 60,
    addressConnections: 500,
    work: { burst: 30, rate: 0.5 },
    addressTokens: 'refused',
    csvFormulas: 'kept',
    services: { allowed: [], limits: { time: 10_000, rows: 100_000, bytes: 2 ** 25 } },
    sourcePrivateHosts: [],
    sourceSize: 2 ** 32,
    sourceTimeout: 30,
    sourceDuration: 1800,
  })
  writeFileSync(
    path.join(portal, 'portal.yaml'),
    'title: File\nport: 4000\ndeadline: 2.5\nfragment_size: 7\n',
  )
  const environment = {
    LODESTONE_PORT: '5000',
    LODESTONE_LANGUAGES: 'de, fr',
    LODESTONE_FRAGMENT_SIZE: '9',
    LODESTONE_ACCESS: 'private',
    LODESTONE_TITLE: '12',
    OTHER: 'x',
  }
  const file = { title: 'File', port: 4000, deadline: 2.5, fragmentSize: 7, base: 'http://localhost:4000' }
  const set = { title: '12', port: 5000, fragmentSize: 9, languages: ['de', 'fr'], access: 'private' }
  t.match(loadConfig({ portal }, {}), file)
  t.match(loadConfig({ portal }, environment), { ...file, ...set, base: 'http://localhost:5000' })
  t.match(loadConfig({ portal, port: 6000 }, environment), { port: 6000, base: 'http://localhost:6000' })
  t.match(loadConfig({ portal, base: 'https://x.test/data//' }, environment), { base: 'https://x.test/data' })
  t.equal(loadConfig({}, { LODESTONE_PORTAL: portal }).portal, portal)
  t.equal(loadConfig({ portal }, { LODESTONE_PORTAL: '/nowhere' }).portal, portal)
  t.ok(Object.isFrozen(loadConfig({ portal }, {})))
})

t.test('values that the schema does not check have the place of their setting', async t => {
  const cases: readonly (readonly [yaml: string, reason: RegExp])[] = [
    ['network: [{ url: "http://localhost/x" }]', /another portal has already/],
    [
      'network: [{ url: "http://a.example:99999" }]',
      /^network is "http:\/\/a.example:99999", .* port up to 65535/,
    ],
    ['sign_in: { issuer: "https://a.example", client_id: a, groups: { g: ["!"] } }', /the group g gives !/],
    ['sign_in: { issuer: "https://a.example:99999", client_id: a }', /^sign_in is .* no valid address/],
    ['saml_sign_in: { name: a }', /either metadata_file/],
    ['base: http://a.example:99999', /^base is "http:\/\/a.example:99999", which is no valid address/],
    ['otel: http://a.example:99999', /^otel is .* no valid address/],
    ['store: http://u:secret@a.example:99999', /^store is (?!.*secret).* no valid address/],
    ['services: ["http://a.example/", "http://a.example:99999"]', /^services is .*99999/],
    ['accounts: mysql://u:p@h/d', /postgres:/],
    ['store_password_file: nowhere', /nowhere cannot be read: ENOENT/],
    ['port: 0', /port 0 means any free port/],
  ]
  for (const [yaml, reason] of cases) {
    const portal = portalWith(t, `title: a\n${yaml}\n`)
    t.match(refusal({ portal }), {
      message: reason,
      place: { file: path.join(portal, 'portal.yaml'), line: 2, column: 1 },
    })
  }
  const portal = portalWith(t, 'base: http://a.example\n')
  const variable = { LODESTONE_BASE: 'http://a.example:99999' }
  t.same(refusal({ portal }, variable).place, { file: 'LODESTONE_BASE' })
  t.same(refusal({ portal, base: 'http://a.example:99999' }, variable).place, { file: '--base' })
})

t.test('quotas and proxies', async t => {
  const portal = portalWith(t, 'quotas: { domain: 900, anonymous: 0 }\nproxies: 2\n')
  t.match(loadConfig({ portal }, {}), { quotas: { domain: 900, anonymous: 0 }, proxies: 2 })
  const cases: readonly (readonly [string, Readonly<Record<string, number>>])[] = [
    ['1000', { domain: 1000 }],
    ['domain=900', { domain: 900 }],
    [' domain = 900, anonymous=100 ,user=1000,', { domain: 900, anonymous: 100, user: 1000 }],
  ]
  for (const [text, quotas] of cases) {
    const config = loadConfig({ portal }, { LODESTONE_QUOTAS: text, LODESTONE_PROXIES: '1' })
    t.same([config.quotas, config.proxies], [quotas, 1], text)
  }
})

t.test('every list of texts can be given by its variable', async t => {
  const portal = portalWith(t, 'source_hosts: [file.test]\n')
  interface ListSchema {
    readonly type?: string
    readonly items?: { readonly type?: string }
  }
  const lists = Object.entries(PORTAL_SCHEMA.properties as Readonly<Record<string, ListSchema>>).filter(
    ([, { type, items }]) => type === 'array' && items?.type === 'string',
  )
  t.same(
    lists.map(([key]) => key),
    ['languages', 'services', 'source_hosts', 'source_private_hosts'],
  )
  const cases: readonly (readonly [string, string, unknown])[] = [
    ['LODESTONE_LANGUAGES', 'de, fr', { languages: ['de', 'fr'] }],
    ['LODESTONE_SOURCE_HOSTS', 'a.org, *.b.org', { sourceHosts: ['a.org', '*.b.org'] }],
    ['LODESTONE_SOURCE_HOSTS', 'a.org', { sourceHosts: ['a.org'] }],
    ['LODESTONE_SOURCE_HOSTS', '', { sourceHosts: [] }],
    ['LODESTONE_SOURCE_PRIVATE_HOSTS', '10.0.0.1,', { sourcePrivateHosts: ['10.0.0.1'] }],
    [
      'LODESTONE_SERVICES',
      'https://a.org/sparql, http://b.org/q?x=1',
      { services: { allowed: ['https://a.org/sparql', 'http://b.org/q?x=1'] } },
    ],
  ]
  for (const [variable, text, expected] of cases)
    t.match(loadConfig({ portal }, { [variable]: text }), expected, `${variable}=${text}`)
  t.same(loadConfig({ portal }, { LODESTONE_SOURCE_HOSTS: '' }).sourceHosts, [])
  t.match(
    refusal({ portal }, { LODESTONE_SOURCE_HOSTS: '["a.org"]' }).message,
    /LODESTONE_SOURCE_HOSTS: source_hosts\.0 is/,
  )
})

t.test('portal.yaml: every mistake with line and column', async t => {
  const cases: readonly (readonly [string, string, number | undefined, number | undefined, RegExp])[] = [
    ['an unknown key', 'title: A\nprot: 80\n', 2, 1, /unknown key prot, did you mean port\?/],
    ['an unknown key like none', 'zzzzzzzz: 80\n', 1, 1, /unknown key zzzzzzzz, known are: title, /],
    ['a word for a number', 'title: A\nport: many\n', 2, 1, /port is "many": must be integer/],
    ['a number out of range', 'port: 70000\n', 1, 1, /port is 70000: must be <= 65535/],
    ['a number for a text', '\n\ntitle: 5\n', 3, 1, /title is 5: must be string/],
    ['one of a choice', 'access: secret\n', 1, 1, /access is "secret", expected one of: public, private/],
    [
      'a base that is none',
      'base: portal.test\n',
      1,
      1,
      /base is "portal\.test", expected an address that begins with http:\/\//,
    ],
    ['a size', 'upload_limit: 1KB\n', 1, 1, /upload_limit is "1KB", expected a number with one of kB, MB/],
    [
      'a quota that is no number',
      'quotas: { domain: all }\n',
      1,
      11,
      /quotas\.domain is "all": must be integer/,
    ],
    ['a quota of nobody', 'quotas:\n  domian: 900\n', 2, 3, /unknown key domian, did you mean domain\?/],
    ['a quota alone', 'quotas: 900\n', 1, 1, /quotas is 900: must be object/],
    ['too many proxies', 'proxies: 11\n', 1, 1, /proxies is 11: must be <= 10/],
    [
      'a base with a password',
      'base: http://u:p@portal.test/\n',
      1,
      1,
      /base is "http:\/\/redacted@portal\.test\/"/,
    ],
    ['no language', 'languages: []\n', 1, 1, /languages/],
    ['a language twice', 'languages: [en, en]\n', 1, 1, /languages/],
    [
      'an element of a list',
      'languages: [en, English]\n',
      1,
      17,
      /languages\.1 is "English", expected the code of a language/,
    ],
    ['a key twice', 'port: 1\nport: 2\n', 2, 1, /the key port is given twice/],
    ['broken YAML', 'title: [a\n', 2, 1, /flow|\]/i],
    ['a tab', 'title:\n\tport: 1\n', 2, 1, /tab/i],
    ['a text alone', 'hello\n', 1, 1, /the document is "hello": must be object/],
    ['a list', '- title: A\n', 1, 1, /the document is .*must be object/],
    ['two documents', 'port: 1\n---\nport: 2\n', undefined, undefined, /document/],
    ['an unknown alias', 'port: 1\ntitle: *name\n', 2, 8, /alias/i],
    ['a value with a colon', 'title: A: B\n', 1, 8, /put the value in quotes if it contains ": "[^\n]*$/],
    ['a list that is not indented', 'languages:\n  - en\n- fr\n', 3, 1, /an item of a list where[^\n]*$/],
    [
      'aliases without measure',
      `a: &a [x, x, x]\n${[...'bcdefg'].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdef'[at]}`).join(', ')}]\n`).join('')}`,
      undefined,
      undefined,
      /alias/i,
    ],
    ['too much', `title: ${'x'.repeat(1_000_001)}\n`, undefined, undefined, /longer than 1000000/],
    ['too deep', `title: ${'['.repeat(20_000)}\n`, undefined, undefined, /nested more than 60 deep/],
  ]
  const portal = portalWith(t, '')
  const file = path.join(portal, 'portal.yaml')
  for (const [name, yaml, line, column, message] of cases) {
    writeFileSync(file, yaml)
    const fault = refusal({ portal })
    t.equal(fault.code, 'ConfigInvalid', name)
    t.match(fault.message, message, `${name}: message`)
    t.equal(fault.place.file, file, `${name}: file`)
    if (line === undefined) continue
    t.same([fault.place.line, fault.place.column], [line, column], `${name}: place in ${fault.message}`)
    t.ok(fault.message.includes(`${file}:${line}:${column}: `), `${name}: place in the message`)
  }
  writeFileSync(file, 'prot: 1\ntitel: A\nworkers: 0\n')
  t.equal(refusal({ portal }).message.split('\n').length, 3, 'all mistakes are told')
  t.match(refusal({ portal: path.join(portal, 'nowhere') }), {
    code: 'ConfigInvalid',
    message: /was not found/,
  })
  t.match(refusal({ portal: file }), { code: 'ConfigInvalid', message: /cannot be read/ })
})

t.test('environment and flags: the name of the variable or flag is told', async t => {
  const portal = portalWith(t, 'title: A\n')
  const cases: readonly (readonly [NodeJS.ProcessEnv, RegExp])[] = [
    [{ LODESTONE_PROT: '1' }, /unknown setting LODESTONE_PROT .*did you mean LODESTONE_PORT\?/],
    [{ LODESTONE_ZZZZZZ: '1' }, /unknown setting LODESTONE_ZZZZZZ in the environment$/],
    [{ LODESTONE_PORT: 'many' }, /^LODESTONE_PORT: port is "many": must be integer$/],
    [{ LODESTONE_PORT: '' }, /^LODESTONE_PORT: port is ""/],
    [{ LODESTONE_WORKERS: '1.5' }, /^LODESTONE_WORKERS: workers is 1\.5/],
    [{ LODESTONE_DEADLINE: '0' }, /^LODESTONE_DEADLINE: deadline is 0: must be >= 0\.05/],
    [{ LODESTONE_LOG: 'loud' }, /^LODESTONE_LOG: log is "loud", expected one of: silent, /],
    [{ LODESTONE_QUOTAS: 'many' }, /^LODESTONE_QUOTAS: quotas is "many": must be object/],
    [{ LODESTONE_QUOTAS: '-1' }, /^LODESTONE_QUOTAS: quotas is "-1"/],
    [{ LODESTONE_QUOTAS: 'domain=1.5' }, /^LODESTONE_QUOTAS: quotas\.domain is "1\.5": must be integer/],
    [
      { LODESTONE_QUOTAS: 'user=1,domian=900' },
      /^LODESTONE_QUOTAS: unknown key domian, did you mean domain\?/,
    ],
    [{ LODESTONE_PROXIES: '-1' }, /^LODESTONE_PROXIES: proxies is -1: must be >= 0/],
    [{ LODESTONE_PROXIES: 'all' }, /^LODESTONE_PROXIES: proxies is "all": must be integer/],
    [{ LODESTONE_LANGUAGES: 'en,english' }, /^LODESTONE_LANGUAGES: languages\.1 is "english"/],
  ]
  for (const [environment, message] of cases)
    t.match(refusal({ portal }, environment), { code: 'ConfigInvalid', message }, JSON.stringify(environment))
  t.match(refusal({ portal, base: 'portal.test' }), {
    code: 'Usage',
    message: /^--base: base is "portal.test"/,
  })
  for (const base of ['http://localhost:99999', 'http://1.2.3.4.5'])
    t.match(refusal({ portal, base }), { code: 'ConfigInvalid', message: /is no valid address/ }, base)
  t.match(refusal({ portal, port: 99_999 }), { code: 'Usage', message: /^--port: / })
  t.match(refusal({ portal, port: 0 }), { code: 'ConfigInvalid', message: /port 0.*--base/ })
  t.match(loadConfig({ portal, port: 0, base: 'http://x.test' }, {}), { port: 0, base: 'http://x.test' })
})

t.test('dataset.yaml: every mistake with its place', async t => {
  const source = 'source: { path: a.csv }\n'
  const field = (text: string) => `${source}fields:\n  - { name: a, type: int }\n  - ${text}\n`
  const cases: readonly (readonly [string, string, number | undefined, number | undefined, RegExp])[] = [
    ['an unknown key', `${source}feilds: []\n`, 2, 1, /unknown key feilds, did you mean fields\?/],
    [
      'an unknown key of a field',
      field('{ name: b, typ: int }'),
      4,
      16,
      /unknown key typ, did you mean type\?/,
    ],
    ['an unknown type', field('{ name: b, type: integre }'), 4, 16, /fields\.1\.type is "integre".*int/],
    [
      'an annotation without a value',
      field('{ name: b, annotations: { facet: } }'),
      4,
      31,
      /^[^\n]*facet is null, expected one of: array, string, number, boolean$/,
    ],
    ['a field without a name', field('{ type: int }'), 4, 5, /fields\.1 lacks name/],
    ['a name that is none', field('{ name: Größe }'), 4, 7, /fields\.1\.name is "Größe"/],
    ['a long delimiter', `${source}options: { delimiter: ';;' }\n`, 2, 12, /options\.delimiter is ";;"/],
    ['an unknown format', `${source}format: docx\n`, 2, 1, /expected one of: csv, tsv/],
    ['no source', 'format: csv\n', 1, 1, /source/],
    ['a key twice', `${source}${source}`, 2, 1, /the key source is given twice/],
    ['two sources', 'source: { path: a.csv, module: b }\n', 1, 1, /2 of path, package, module and url/],
    ['a field twice', field('{ name: a }'), 4, 7, /field a is declared twice/],
    ['a refresh of a file', `${source}refresh: daily\n`, 2, 1, /refresh means something only/],
    ['a wrong refresh', 'source: { url: http://e.org/x }\nrefresh: dayly\n', 2, 1, /cron expression/],
    ['no host', "source: { url: 'http://[::1/x' }\n", 1, 11, /source\.url is "http:.*valid host/],
    ['no port', "source: { url: 'ftp://a:99999/x' }\n", 1, 11, /source\.url is "ftp:.*valid host and port/],
    ['fields of RDF', 'source: { path: a.ttl }\nid: [a]\n', 2, 1, /id means nothing there/],
    [
      'a date of metadata',
      `${source}metas: { default: { modified: yesterday } }\n`,
      2,
      21,
      /a date .*expected/,
    ],
    [
      'a date of metadata in words',
      `${source}metas: { default: { modified: spring 2020 } }\n`,
      2,
      21,
      /a date .*expected/,
    ],
    [
      'a map of metadata',
      `${source}metas: { default: { license: { a: b } } }\n`,
      2,
      21,
      /a text is expected/,
    ],
    ['too many columns', field('{ name: b, from: [a, b, c] }'), 4, 16, /must not have more than 2 items/],
    ['a column that is no text', field('{ name: b, from: 5 }'), 4, 16, /expected one of: string, array/],
    ['an unknown id', `${field('{ name: b }')}id: [c]\n`, 5, 6, /id names c, which is no field/],
  ]
  const portal = temporaryFolder(t, { data: { a: {}, Wrong: { 'dataset.yaml': source } } })
  const file = path.join(portal, 'data/a/dataset.yaml')
  for (const [name, yaml, line, column, message] of cases) {
    writeFileSync(file, yaml)
    const { definition, problems } = readDefinition(portal, 'a')
    t.equal(definition, null, name)
    const [problem] = problems
    t.match(problem?.message, message, `${name}: ${problem?.message}`)
    t.same(problem?.place, line === undefined ? { file } : { file, line, column }, `${name}: place`)
  }
  writeFileSync(file, field('{ name: b, from: B, annotations: { facet: [], unit: m, sortable: true } }'))
  t.match(readDefinition(portal, 'a'), {
    problems: [],
    definition: {
      id: 'a',
      visibility: 'public',
      identity: [],
      fields: [
        { name: 'a' },
        { name: 'b', from: 'B', annotations: { facet: [], unit: ['m'], sortable: [] } },
      ],
    },
  })
  const metas =
    'metas: { default: { title: 5, keyword: one, titel: x, modified: 2024 }, defualt: { a: 1 }, custom: { b: 2 } }\n'
  writeFileSync(file, `${source}harvest: { by: h, dataset: d }\n${metas}`)
  t.match(readDefinition(portal, 'a'), {
    problems: [],
    warnings: [
      { message: /title is 5: a text is expected/, place: { file, line: 3, column: 21 } },
      { message: /keyword is "one": a list of texts is expected/, place: { file, line: 3, column: 31 } },
      { message: /modified is 2024: a date .* it is left out/, place: { file, line: 3, column: 55 } },
    ],
    definition: { metas: { default: { title: '5', keyword: ['one'] }, custom: { b: 2 } } },
  })
  t.notOk('modified' in (readDefinition(portal, 'a').definition?.metas.default ?? {}))
  writeFileSync(
    file,
    'source: { path: a.json }\nmetas: { default: { title: A, publisher: "", license: " " } }\n',
  )
  t.strictSame(
    readDefinition(portal, 'a').definition?.metas,
    { default: { title: 'A' } },
    'not filled in yet',
  )
  writeFileSync(file, source + metas.replace(', modified: 2024', ''))
  t.match(
    readDefinition(portal, 'a').warnings.map(({ message }) => message),
    [/title/, /keyword/, /no entry titel, did you mean title/, /called defualt, did you mean default/],
  )
  const numbers =
    'metas: { default: { title: 1.10, keyword: [1.10, 2024, a] }, custom: { a: 1.10, b: 1.5, c: "1.10" } }\n'
  writeFileSync(file, source + numbers)
  t.match(readDefinition(portal, 'a'), {
    warnings: [
      { message: /title is 1\.10: a text is expected/ },
      { message: /keyword is .* a list of texts is expected/ },
      { message: /custom\.a is the number 1\.1, which is written 1\.10: .* put it in quotes/ },
    ],
    definition: {
      metas: {
        default: { title: '1.10', keyword: ['1.10', '2024', 'a'] },
        custom: { a: 1.1, b: 1.5, c: '1.10' },
      },
    },
  })
  t.equal(readDefinition(portal, 'a').warnings.length, 3)
  const doubtful: readonly (readonly [metas: string, warning: RegExp | null])[] = [
    ['license_url: "CC BY 4.0"', /license_url is "CC BY 4\.0": an address, .* is expected/],
    ['license_url: "http://"', /an address/],
    ['license_url: https://e.org/licence?a=é', null],
    ['license_url: ""', null],
    ['language: english', /language is "english": a code of a language, as in en or pt-BR, is expected/],
    ['language: fr_FR', /a code of a language/],
    ['language: xx', /a code of a language/],
    ...['fr', 'pt-BR', 'zh-Hant-TW', 'gsw', 'aaa', 'null'].map(tag => [`language: ${tag}`, null] as const),
  ]
  for (const [metas, warning] of doubtful) {
    writeFileSync(file, `${source}metas: { default: { ${metas} } }\n`)
    const { problems, warnings } = readDefinition(portal, 'a')
    t.same(problems, [], metas)
    t.match(warnings, warning === null ? [] : [{ message: warning, place: { line: 2 } }], metas)
    t.equal(warnings.length, warning === null ? 0 : 1, metas)
  }
  t.match(readDefinition(portal, 'Wrong').problems, [{ message: /not a dataset id/ }])
  t.match(readDefinition(portal, 'none').problems, [
    { message: /there is no dataset none: .* was not found/ },
  ])
  mkdirSync(path.join(portal, 'data/b/dataset.yaml'), { recursive: true })
  t.match(readDefinition(portal, 'b').problems, [{ message: /dataset\.yaml cannot be read: EISDIR$/ }])
})
