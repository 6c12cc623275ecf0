import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { Fault, faultText } from '../src/errors/errors.ts'
import { checkDataset, checkPortal } from '../src/publishing/check.ts'
import { definitionOf, readDefinition } from '../src/publishing/definition.ts'
import { changedDefinition } from '../src/publishing/edit-definition.ts'
import { openRecords, resolveSource } from '../src/publishing/materialise.ts'
import { publicationOrder, withDependants } from '../src/publishing/processors/dependencies.ts'
import { compileCondition, compileValue } from '../src/publishing/processors/expression.ts'
import { currentManifest, versionsOf } from '../src/publishing/versions/versions.ts'
import { fieldReader } from '../src/sources/typing/fields.ts'
import { temporaryFolder } from './support/folder.ts'
import { publishReports, servePortal } from './support/portal.ts'

/** The steps of dataset.yaml between source and record. */
const BASE = 'http://portal.test'

const COUNTRIES = 'iso,name,people,position\nFR,France,68,"46, 2"\nDE,Germany,84,"51, 10"\n'
const CITIES = [
  'Name of city;founded;country;price;note',
  'Paris, Île-de-France;3/5/0987;FR;1 234 €;x',
  'Berlin, Berlin;28. 10. 1237;DE;99 €;',
  'Atlantis, Sea;long ago;XX;0 €;y',
].join('\n')

const STEPS = `source: { path: cities.csv }
options: { delimiter: ';' }
processors:
  - rename: { Name of city: place }
  - split: { column: place, separator: ',', into: [city, region] }
  - replace: { column: price, pattern: '[^0-9]', with: '' }
  - date: { column: founded, formats: [d/M/yyyy, d. M. yyyy] }
  - lookup: { column: country, dataset: countries, key: iso, take: { name: country_name, position: position } }
  - filter: price > 0
  - compute: { into: price_cents, expression: price * 100 + length(city) }
  - join: { columns: [city, country_name], separator: ' / ', into: label }
`

function portalOf(t: Test, yaml: string, files: Record<string, unknown> = {}): string {
  return temporaryFolder(t, {
    data: {
      countries: {
        'dataset.yaml': `source: { path: c.csv }\nfields:\n  - { name: iso }\n  - { name: name }\n  - { name: people, type: int }\n  - { name: position, type: geo_point_2d, format: 'lat,lon' }\n`,
        'c.csv': COUNTRIES,
      },
      cities: { 'dataset.yaml': yaml, 'cities.csv': CITIES },
      ...files,
    },
  } as never)
}

const publish = (portal: string, ids: readonly string[] | null = null) =>
  publishReports(portal, { base: BASE }, ids)

async function rowsOf(portal: string, id: string) {
  const definition = definitionOf(portal, id)
  const { source, fields } = await resolveSource(definition, portal)
  const rows = []
  for await (const batch of (await openRecords(definition, source, portal)).read()) rows.push(...batch)
  return { rows: rows.map(({ data }) => data), fields }
}

t.test('all steps', async t => {
  const portal = portalOf(t, STEPS)
  const messages = await publish(portal)
  t.same(
    messages.map(({ type, dataset }) => `${dataset} ${type}`),
    ['countries published', 'cities published'],
    'what others look up in comes first',
  )
  const { rows, fields } = await rowsOf(portal, 'cities')
  t.strictSame(rows, [
    {
      founded: '0987-05-03',
      country: 'FR',
      price: '1234',
      note: 'x',
      place: 'Paris, Île-de-France',
      city: 'Paris',
      region: 'Île-de-France',
      country_name: 'France',
      position: { lon: 2, lat: 46 },
      price_cents: 123_405,
      label: 'Paris / France',
    },
    {
      founded: '1237-10-28',
      country: 'DE',
      price: '99',
      note: '',
      place: 'Berlin, Berlin',
      city: 'Berlin',
      region: 'Berlin',
      country_name: 'Germany',
      position: { lon: 10, lat: 51 },
      price_cents: 9906,
      label: 'Berlin / Germany',
    },
  ])
  const types = Object.fromEntries(fields.map(({ name, type }) => [name, type]))
  t.match(
    types,
    { founded: 'date', price: 'int', price_cents: 'int', position: 'geo_point_2d' },
    'inferred after the steps',
  )
  const { dataset, statistics } = currentManifest(versionsOf(portal), 'cities') as NonNullable<
    ReturnType<typeof currentManifest>
  >
  t.equal(statistics.records, 2)
  const origin = dataset.origins?.find(({ field }) => field === 'label')
  t.same(origin?.columns, ['Name of city', 'country'])
  t.match(origin?.steps.join('\n'), /split at ",", part 1\nlookup countries.name by iso\njoin with " \/ "/)
})

t.test('the page and the management API', async t => {
  const portal = portalOf(t, STEPS)
  writeFileSync(path.join(portal, 'portal.yaml'), '')
  await publish(portal)
  const { app } = await servePortal(t, { portal, base: BASE, isPublished: false })
  const page = await app.http.inject({ url: '/explore/dataset/cities/information/' })
  t.equal(page.statusCode, 200)
  t.match(
    page.body,
    /Comes from <code>Name of city<\/code>.*<code>split at &(?:quot|#34);,&(?:quot|#34);, part 1<\/code>/s,
  )
  await app.accounts.users.add('ann', 'a password that is long enough')
  await app.accounts.users.grant('ann', 'publish:cities')
  const { key } = await app.accounts.keys.create('ann', 'test')
  const ask = async (method: 'GET' | 'PUT', end: string, payload?: object) => {
    const answer = await app.http.inject({
      method,
      url: `/api/management/v1/datasets/cities${end}`,
      headers: { authorization: `Apikey ${key}`, 'content-type': 'application/json' },
      ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
    })
    return { status: answer.statusCode, json: JSON.parse(answer.body) }
  }
  t.equal((await ask('GET', '')).json.processors.length, 8)
  await ask('PUT', '', { metadata: { default: { title: 'Cities' } } })
  t.equal((await ask('GET', '')).json.processors.length, 8, 'other changes keep them')
  const one = await ask('PUT', '', {
    processors: [{ rename: { 'Name of city': 'place' } }, { filter: 'country != "XX"' }],
  })
  t.equal(one.json.processors.length, 2)
  const preview = await ask('GET', '/preview')
  t.equal(preview.json.records.length, 2)
  t.ok('place' in preview.json.records[0])
  t.equal((await ask('PUT', '', { processors: [{ unknown: {} }] })).status, 400)
})

t.test('a new version of what is looked up in makes a new version', async t => {
  const portal = portalOf(t, STEPS)
  await publish(portal)
  t.same(
    (await publish(portal)).map(({ type }) => type),
    ['unchanged', 'unchanged'],
  )
  writeFileSync(path.join(portal, 'data/countries/c.csv'), COUNTRIES.replace('France', 'République'))
  const messages = await publish(portal, ['countries'])
  t.same(
    messages.map(({ type, dataset }) => `${dataset} ${type}`),
    ['countries published', 'cities published'],
  )
  t.equal((await rowsOf(portal, 'cities')).rows[0]?.country_name, 'République')
  t.same(withDependants(portal, versionsOf(portal), ['countries']), ['countries', 'cities'])
  t.same(publicationOrder(portal, ['cities', 'countries']), [['countries'], ['cities']])
})

const steps = (list: string) =>
  `source: { path: cities.csv }\noptions: { delimiter: ';' }\nprocessors:\n  - ${list}\n`

t.test('of many datasets only those with look-ups are parsed for an order', async t => {
  const fields = Array.from({ length: 60 }, (_, at) => `  - { name: f${at}, type: text, from: f${at} }`).join(
    '\n',
  )
  const plain = () => ({
    'dataset.yaml': `source: { path: a.csv }\nfields:\n${fields}\n`,
    'a.csv': 'f0\n1\n',
  })
  const names = Array.from({ length: 60 }, (_, at) => `plain${at}`)
  const step = 'lookup: { column: f0, dataset: plain3, key: f0, take: { f1: x } }'
  const looking = {
    'dataset.yaml': `source: { path: a.csv }\nprocessors: [{ ${step} }]\n`,
    'a.csv': 'f0\n1\n',
  }
  const data = { ...Object.fromEntries(names.map(name => [name, plain()])), above: looking }
  const portal = temporaryFolder(t, { data })
  const times = [
    () => names.map(id => readDefinition(portal, id)),
    () => {
      t.same(publicationOrder(portal, ['above', ...names]).at(-1), ['above'])
      t.same(withDependants(portal, versionsOf(portal), ['plain3']), ['plain3', 'above'])
    },
  ].map(work => {
    const begun = process.cpuUsage()
    work()
    return process.cpuUsage(begun).user
  })
  t.ok(Number(times[1]) < Number(times[0]) / 2, `${times} microseconds`)
})

t.test('what is wrong is reported with step, line, column and what was expected', async t => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['renam: { a: b }', /dataset\.yaml:4:5: unknown key renam, did you mean rename\?/],
    [
      '{ filter: a, rename: { a: b } }',
      /dataset\.yaml:4:5: step 1 of processors has 2 of .*exactly one is expected/,
    ],
    [
      'filter: pric > 0',
      /dataset\.yaml:4:5: step 1 \(filter\): there is no column "pric" before this step\n {2}Did you mean "price"\?/,
    ],
    ['filter: price >', /dataset\.yaml:4:5: step 1 \(filter\): .*character \d+ of the expression/],
    ['filter: sum(price) > 1', /step 1 \(filter\): .*sum/],
    ['filter: price', /./],
    [
      'replace: { column: price, pattern: "(?=a)", with: b }',
      /dataset\.yaml:4:31: step 1 \(replace\): .* is no regular expression.*\n {2}Expected: an expression of RE2/,
    ],
    ['replace: { column: price, pattern: "a*", with: b }', /the pattern matches the empty text/],
    [
      'lookup: { column: country, dataset: countrie, key: iso, take: { name: n } }',
      /dataset\.yaml:4:32: step 1 \(lookup\): .*countrie is none\n {2}Did you mean countries\?/,
    ],
    [
      'lookup: { column: country, dataset: countries, key: isoo, take: { name: n } }',
      /has no field "isoo"\n {2}Did you mean iso\?/,
    ],
    [
      'lookup: { column: country, dataset: secret, key: iso, take: { name: n } }',
      /a public dataset that is published is expected/,
    ],
    ['lookup: { column: country, dataset: secre, key: iso, take: { name: n } }', /secre is none$/],
    ['lookup: { column: country, dataset: cities, key: iso, take: { name: n } }', /made of cities itself/],
    ['date: { column: founded, formats: [d-Q], into: x }', /step 1 \(date\)/],
    ['date: { column: founded, formats: [d/M/yyyy], timezone: Mars }', /no time zone/],
    ['rename: { country: x, price: x }', /two columns become "x"/],
    ['compute: { into: x, expression: "price, note" }', /one value without a label/],
    ['compute: { into: x, expression: "now()" }', /now is no function of a step/],
  ]
  for (const [list, expected] of cases) {
    const portal = portalOf(t, steps(list), {
      secret: { 'dataset.yaml': 'source: { path: c.csv }\nvisibility: restricted\n', 'c.csv': COUNTRIES },
    })
    await publish(portal, ['countries', 'secret'])
    const findings = await checkDataset(portal, BASE, 'cities')
    if (list === 'filter: price')
      t.same(
        findings.filter(({ severity }) => severity === 'error'),
        [],
        'a flag',
      )
    else t.match(findings.find(({ severity }) => severity === 'error')?.message, expected, list)
  }
})

t.test('a check before the first publication', async t => {
  const portal = portalOf(t, STEPS)
  const check = async () => (await checkPortal(portal, BASE, versionsOf(portal))).map(found => found.severity)
  t.same(await check(), ['warning'], 'what is looked up is published first')
  t.match((await checkDataset(portal, BASE, 'cities'))[0], { severity: 'error' }, 'by name, without it')
  await publish(portal)
  t.same(await check(), [], 'and nothing is to be said after it')
})

t.test('every mistake of dataset.yaml is told, with its place', async t => {
  const cases: readonly (readonly [text: string, expected: readonly RegExp[]])[] = [
    [
      `${steps('replace: { column: price, pattern: "(", with: x }\n  - filter: price >\n  - date: { column: founded, formats: [YYYY] }')}fields:
  - { name: price, type: double, format: ';' }
  - { name: note, timezone: Mars/One }
  - { name: founded, type: date, format: YYYY-mm-dd }
`,
      [
        /yaml:8:34: field price: .* its decimal sign or an example, not ";"/,
        /yaml:9:19: The field note has the time zone "Mars\/One"/,
        /yaml:10:34: field founded: .* lacks the year\.\n {2}Parts: yyyy/,
        /yaml:4:31: step 1 \(replace\): "\(" is no regular expression/,
        /yaml:5:5: step 2 \(filter\)/,
        /yaml:6:30: step 3 \(date\)/,
      ],
    ],
    [
      steps('filter: prise is null\n  - rename: { nota: x }'),
      [/yaml:4:5: step 1 .*Did you mean "price"\?\n.*yaml:5:5: step 2 .*Did you mean "note"\?/s],
    ],
    ['source: { path: cities.csv }\noptions: { encoding: klingon }\n', [/yaml:2:12: .* is not known/]],
    ['source:\n  path: ../../x.csv\n', [/yaml:2:3: .* leads out of its folder/]],
    [
      'source: { path: cities.csv }\nid: [a]\nfields:\n  - { name: a, from: Note, format: x }\noptions: { sheet: b }\n',
      [/yaml:4:28: field a/, /yaml:5:12: .*"sheet" means nothing/],
    ],
    [
      "source: { path: cities.csv }\noptions: { delimiter: ';' }\nfields:\n  - { name: a, from: Note }\n",
      [
        /yaml:4:16: .*Did you mean "note"/,
        /^cities\.csv: no field reads the columns "Name of city", .*"note": not published$/,
        /^cities\.csv: \d+ records? ha\w+ the identity of another: record 2 that of record 1\b/,
      ],
    ],
    [
      'source: { path: cities.csv }\nid: [a]\nfields:\n  - { name: a, from: [price, lng], type: geo_point_2d }\n',
      [/yaml:4:16: .*"lng"/, /^cities\.csv: no field reads/, /identity of another/],
    ],
    [
      'source: { path: cities.csv }\nfields:\n  - { name: a, from: note, annotations: { facets: [], decimals: x, facetsort: up, note: 1, unit: m } }\n',
      [
        /yaml:3:43: no annotation is called facets, did you mean facet\?$/,
        /yaml:3:55: fields\.0\.annotations\.decimals is "x": a whole number of 0 to 20 is expected$/,
        /yaml:3:68: .* is "up": count, -count, .* is expected$/,
        /no field reads/,
      ],
    ],
    [
      'source: { path: cities.csv }\nattachments:\n  - { path: none.pdf }\nmetas: { default: { titel: x } }\n',
      [/yaml:4:21: .*did you mean title/, /yaml:3:7: the attachment none\.pdf/],
    ],
  ]
  for (const [text, expected] of cases) {
    const portal = portalOf(t, text)
    const found = (await checkDataset(portal, BASE, 'cities')).map(({ message }) => message)
    t.match(found, expected, text)
    t.equal(found.length, expected.length, text)
  }
})

t.test('columns of sources without a header', async t => {
  const yaml =
    'source: { path: a.json }\nprocessors:\n  - filter: n > 1 or deep is null\n  - compute: { into: m, expression: n + 1 }\n'
  const portal = temporaryFolder(t, {
    data: {
      a: { 'dataset.yaml': yaml, 'a.json': '[{"n":1,"deep":null},{"n":2,"deep":3},{"n":1,"deep":4}]' },
    },
  })
  t.same(
    (await rowsOf(portal, 'a')).rows.map(({ m }) => m),
    [2, 3],
  )
  writeFileSync(path.join(portal, 'data/a/a.json'), '[{"n":1}]')
  await t.rejects(rowsOf(portal, 'a'), { message: /there is no column "deep"/ })
})

t.test('expressions over plain values', async t => {
  const row = {
    n: '12.5',
    i: 3,
    big: 2n ** 60n,
    s: 'Grün',
    e: '',
    d: '2024-05-06T07:08:09Z',
    last: '9999-12-31T00:00:00Z',
    b: true,
    'Two words': 'x',
  }
  const condition = (text: string) => compileCondition(text, fieldReader).evaluate(row)
  for (const text of [
    'n > 12',
    'n = 12.5',
    'i in (1, 3)',
    'n in [12..13]',
    'big > 5',
    's = "Grün"',
    's like "grun"',
    'e is null',
    's is not null',
    'not e = "x"',
    "d = date'2024-05'",
    "d < date'2025'",
    "last = date'9999'",
    'year(d) = 2024',
    'month(d) = 5 and hour(d) = 7',
    'b',
    'b is true',
    '`Two words` = "x"',
    'startswith(s, "Gr")',
    'search(s, "gru*")',
    'ifnull(e, "z") = "z"',
    'length(s) = 4',
    'lower(s) = "grün"',
  ])
    t.ok(condition(text), text)
  for (const text of [
    'e = 1',
    'e != 1',
    's > 1',
    'n = "12.50"',
    "d = date'2024-06'",
    "s > date'2020'",
    'not b',
    'i / 0 > 0',
  ])
    t.notOk(condition(text), text)
  const value = (text: string) => compileValue(text, fieldReader).evaluate(row)
  t.equal(value('(n + i) * 2'), 31)
  t.equal(value('-n'), -12.5)
  t.equal(value('n / 0'), null)
  t.equal(value('date_format(d, "dd.MM.yyyy")'), '06.05.2024')
  t.equal(value('ifnull(e, s)'), 'Grün')
  t.same(compileCondition('n > i and s like "x"', fieldReader).columns, ['n', 'i', 's'])
  const many = Array.from({ length: 2000 }, (_, at) => `i = ${at}`).join(' or ')
  try {
    t.ok(condition(many), 'long chains need no deep stack')
  } catch (error) {
    t.ok(error instanceof Fault, `or are refused: ${faultText(error as Fault)}`)
  }
})

t.test('changes of dataset.yaml keep the steps', async t => {
  const text = `${STEPS}# a comment\n`
  const changed = changedDefinition(text, { metas: { default: { title: 'Cities' } } })
  t.same(parse(changed).processors, parse(text).processors)
  t.match(changed, /# a comment/)
  const other = changedDefinition(text, { processors: [{ filter: 'price > 1' }] })
  t.notMatch(other, /rename/)
  t.match(changedDefinition(text, { processors: null }), /^source/)
  t.throws(() => changedDefinition(text, { processors: [{ flter: 'price > 1' }] }), /did you mean filter/)
  const portal = temporaryFolder(t, {
    data: { a: { 'dataset.yaml': 'source: { path: a.ttl }\nprocessors: [{ filter: a }]\n' } },
  })
  t.match(readDefinition(portal, 'a').problems[0]?.message, /processors means nothing there/)
})

t.test('patterns are bounded in time, texts in length', async t => {
  const portal = portalOf(t, steps('replace: { column: note, pattern: "(x+x+)+y", with: "$1" }'))
  writeFileSync(path.join(portal, 'data/cities/cities.csv'), `note\n${'x'.repeat(100_000)}\n`)
  const begun = Date.now()
  await rowsOf(portal, 'cities')
  t.ok(Date.now() - begun < 20_000)
  writeFileSync(path.join(portal, 'data/cities/cities.csv'), `note\n${'x'.repeat(1_000_001)}\n`)
  await t.rejects(rowsOf(portal, 'cities'), {
    message: /row 1.*: a text of at most 1000000 characters is expected/,
  })
})
