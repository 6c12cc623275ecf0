import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { lookup, setMember } from '../../src/model/lookup.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openIndexes } from '../support/indexing.ts'
import { servePortal } from '../support/portal.ts'

/** No object is indexed by a name that may come from outside: see openIndexes. */
const root = path.resolve(import.meta.dirname, '../..')

t.test('the sources ask for own members alone', { timeout: 300_000 }, async t => {
  const found = openIndexes(root)
  t.same(found, [], 'src/model/lookup.ts has lookup and setMember for names that may be any text')
})

t.test('every form of it is found', async t => {
  const wrong = [
    'TABLE[name]',
    'TABLE?.[name]',
    'TABLE[name as keyof typeof TABLE]',
    'TABLE[(name as unknown) as keyof typeof TABLE]',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source
    'record[`${name}.x`]',
    'record[name.toLowerCase()]',
    'record[maybe!]',
    'record[generic]',
    'name in TABLE',
    'delete record[name]',
    '(record[name] = 1)',
    'list[name as never]',
    '(({ [name]: value }) => value)(record)',
  ]
  const right = [
    'TABLE[known]',
    'TABLE.a',
    "'a' in record",
    'list[2]',
    'list[list.length - 1]',
    'record[7]',
    '({ [name]: 1 })',
    'lookup(TABLE, name)',
  ]
  const folder = path.join(root, 'test', `.indexing-${process.pid}`)
  const file = path.join(folder, 'sample.ts')
  mkdirSync(folder)
  t.teardown(() => rmSync(folder, { recursive: true }))
  const lines = [
    "import { lookup } from '../../../src/model/lookup.ts'",
    'const TABLE = { a: 1, b: 2 }',
    'export function sample<Generic extends string>(name: string, maybe: string | undefined, generic: Generic, known: keyof typeof TABLE, record: Record<string, number>, list: number[]) {',
    '  return [',
    ...[...wrong, ...right].map(each => `    ${each},`),
    '  ]',
    '}',
  ]
  writeFileSync(file, lines.join('\n'))
  const places = openIndexes(root, [file]).map(({ line }) => lines[line - 1]?.trim().replace(/,$/, ''))
  t.same([...new Set(places)], wrong)
})

t.test('members have any name', async t => {
  const made: Record<string, number> = {}
  for (const name of ['__proto__', 'constructor', 'a']) {
    t.equal(lookup(made, name), undefined, name)
    setMember(made, name, 1)
    t.equal(lookup(made, name), 1, name)
  }
  t.equal(JSON.stringify(made), '{"__proto__":1,"constructor":1,"a":1}')
  t.equal(lookup({}, 'toString'), undefined)
})

t.test('addresses may have any name in them', async t => {
  const portal = temporaryFolder(t, {
    'portal.yaml': 'title: Test\n',
    data: { made: { 'a.json': '[{"a":1,"b":"x"}]', 'dataset.yaml': 'source: { path: a.json }\n' } },
  })
  const { app } = await servePortal(t, { portal, now: '2026-01-02T03:04:05Z' })
  const records = '/api/explore/v2.1/catalog/datasets/made/records'
  const files = '/api/explore/v2.1/catalog/datasets/made/exports'
  const addresses = (name: string) => [
    `/${name}`,
    `/api/v2/${name}/datasets`,
    `/api/v2/catalog/metadata_templates/${name}`,
    `/api/explore/v2.1/catalog/exports/${name}`,
    `/api/explore/v2.1/catalog/datasets/${name}`,
    `/api/explore/v2.1/catalog/datasets?where=${name}.x=1&refine=${name}:x`,
    `/api/explore/v2.1/catalog/facets?facet=${name}`,
    ...['where', 'order_by', 'select', 'group_by', 'timezone', 'lang', name].map(
      part => `${records}?${part}=${name}`,
    ),
    `${records}?select=${name}(a) as x`,
    `${records}?where=now(${name}=1) > now()`,
    `${records}?where=within_distance(a,geom'POINT(1 1)',1${name})`,
    `${records}?group_by=range(a,1 ${name})`,
    `${files}/${name}`,
    ...['csv', 'json', 'xlsx', 'parquet'].map(format => `${files}/${format}?select=a as ${name}`),
    `/api/odata/made?$format=${name}`,
    `/api/odata/made?$filter=${name}(b) eq cast(b,${name})`,
    `/api/odata/made?$apply=aggregate(a with ${name} as x)`,
    `/api/odata/$vocabularies/${name}`,
    `/api/tpf/made?subject=${name}&${name}=${name}`,
    `/api/sparql?query=${name} {}&format=${name}`,
    `/api/sparql?query=SELECT ?${name} WHERE { VALUES ?${name} { 1 } }&format=${name}`,
    `/explore/?lang=${name}&sort=${name}&refine.${name}=x`,
    `/explore/dataset/made/${name}/?x=${name}&y=${name}`,
    `/explore/dataset/made/analyze/?x=${name}&y=${name}&type=${name}`,
    `/assets/${name}`,
  ]
  for (const name of ['__proto__', 'constructor', 'toString'])
    for (const address of addresses(name))
      for (const headers of [{}, { accept: `application/json;odata=${name}`, 'accept-language': name }]) {
        const { statusCode, body } = await app.http.inject({ url: encodeURI(address), headers })
        t.ok(statusCode < 500 || statusCode === 501, `${statusCode} ${address} ${body.slice(0, 100)}`)
      }
  for (const name of ['__proto__', 'constructor']) {
    const answers = [
      [`${records}?select=a as ${name}`, `{"${name}": 1}`],
      [`${files}/json?select=a as ${name}`, `{"${name}":1}`],
      [`${files}/csv?select=a as ${name}`, `${name}\r\n1\r\n`],
      [`${records}?select=count(*) as n&group_by=b as ${name}`, `{"${name}": "x", "n": 1}`],
      [
        `/api/sparql?query=SELECT ?${name} WHERE { VALUES ?${name} { 7 } }`,
        `{"${name}":{"type":"literal","value":"7"`,
      ],
      [`/api/odata/made?$apply=aggregate(a with sum as ${name})`, `"${name}":1`],
    ] as const
    for (const [address, expected] of answers) {
      const { body } = await app.http.inject({
        url: encodeURI(address),
        headers: { accept: 'application/json, */*' },
      })
      t.ok(body.includes(expected), `${address} ${body.slice(0, 300)}`)
    }
  }
})
