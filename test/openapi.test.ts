import { createHash } from 'node:crypto'
import path from 'node:path'
import t from 'tap'
import { Compile } from 'typebox/schema'
import ts from 'typescript'
import { readExport, readExportPage } from '../src/api/explore/read-parameters.ts'
import { Fault } from '../src/errors/errors.ts'
import { DEFAULT_ROWS, GROUPED_PAGE, PAGE } from '../src/http/parameters.ts'
import { LANGUAGES } from '../src/model/language.ts'
import { temporaryFolder } from './support/folder.ts'
import { servePortal } from './support/portal.ts'

/** The API describes itself: what its documents declare is what it serves. */
const TREES = `id,name,kind,group,planted,seen,alive,where,tags
1,Elm,tree,12.5,1999-04-01,2024-03-31T01:30:00+01:00,true,"48.1,11.5",old;high
2,Oak,tree,,2001-05-02,2024-03-31T03:30:00+02:00,false,,
3,Box,shrub,7,,,true,"-33.9,151.2",low
`
const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Test\n',
  data: {
    trees: {
      'trees.csv': TREES,
      'note.txt': 'Trees.',
      'dataset.yaml': `
source: { path: trees.csv }
fields:
  - { name: tree_id, type: int, from: id, annotations: { id: true } }
  - { name: name, type: text, label: Name, description: What it is called }
  - { name: kind, type: text, annotations: { facet: true } }
  - { name: group, type: double, label: Height, annotations: { unit: [m] } }
  - { name: planted, type: date, annotations: { facet: true } }
  - { name: seen, type: datetime }
  - { name: alive, type: boolean }
  - { name: place, type: geo_point_2d, from: where }
  - { name: tags, type: text, annotations: { multivalued: [';'], facet: true } }
id: [tree_id]
metas: { default: { title: Trees of the town, description: "<p>All <b>trees</b>.</p>", publisher: Town } }
attachments: [{ path: note.txt, title: Note }]
`,
    },
    'a-b': { 'a.json': '[{"a":1}]', 'dataset.yaml': 'source: { path: a.json }\n' },
  },
})
const { app, base } = await servePortal(t, { portal, now: '2026-01-02T03:04:05.678Z' })

interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
}
interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path'
  readonly description: string
  readonly required?: boolean
  readonly example?: string | readonly string[]
  readonly schema: Schema
}
interface Operation {
  readonly operationId: string
  readonly parameters: readonly Parameter[]
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>
}
interface Content {
  readonly schema: unknown
}
interface Document {
  readonly openapi: string
  readonly info: { readonly title: string; readonly description: string }
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>
    readonly responses: Operation['responses']
  }
}

t.test('what is declared of the parameters of exports is what is read', async t => {
  t.match(readExport({}, false), {
    delimiter: ';',
    listSeparator: ',',
    epsg: 4326,
    parquetCompression: 'snappy',
    descriptionFields: null,
    nameField: null,
    withBom: false,
    compressed: false,
  })
  t.match(readExport({}, true), { withBom: true, useExtension: true, useLabels: false })
  t.match(readExport({ with_bom: '', use_extension: 'no' }, true), { withBom: true, useExtension: false })
  const given = {
    delimiter: '%09',
    parquet_compression: 'ZSTD',
    description_field_list: 'a, b',
    epsg: '2056',
  }
  t.match(readExport(given, true), {
    delimiter: '\t',
    parquetCompression: 'zstd',
    descriptionFields: ['a', 'b'],
    epsg: 2056,
  })
  t.same(readExportPage({ offset: '3' }), { limit: null, offset: 3 })
  const refused: readonly (readonly [name: string, found: string, expected: string])[] = [
    ['delimiter', 'x', 'one of ; , | and a tab'],
    ['list_separator', '12345678901', 'at most 10 characters'],
    ['epsg', '12', 'an EPSG code such as 4326'],
    ['parquet_compression', 'lzo', 'snappy or zstd'],
    ['use_labels', 'perhaps', 'true or false'],
  ]
  for (const [parameter, found, expected] of refused)
    t.match(
      refusal(() => readExport({ [parameter]: found }, true)),
      { parameter, found, expected },
    )
  t.match(
    refusal(() => readExportPage({ limit: '-2' })),
    { parameter: 'limit', expected: `-1 <= limit <= ${Number.MAX_SAFE_INTEGER}` },
  )
})

function refusal(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    return error instanceof Fault ? error.parts : error
  }
}

interface Odsql {
  readonly 'x-odsql': { readonly fields: readonly { readonly name: string; readonly type: string }[] }
}

const APIS = ['/api/v2', '/api/explore/v2.0', '/api/explore/v2.1'] as const

async function ask(path: string, query = '') {
  const response = await app.http.inject({ url: query === '' ? path : `${path}?${query}` })
  return { status: response.statusCode, headers: response.headers, text: response.body }
}

async function read(path: string): Promise<Document> {
  const { status, text } = await ask(path)
  if (status !== 200) throw new Error(`${status} ${path}: ${text}`)
  return JSON.parse(text)
}

/** JSON Schema has no `nullable`: null is another type there. */
function plain(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plain)
  if (schema === null || typeof schema !== 'object') return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, plain(value)]))
  return copy.nullable === true ? { anyOf: [copy, { type: 'null' }] } : copy
}

/** What a document has against an answer. */
function errorsOf(document: Document, schema: unknown, answer: unknown): readonly unknown[] {
  const whole = { allOf: [plain(schema)], components: plain(document.components) }
  const [isValid, errors] = Compile(whole).Errors(answer)
  return isValid ? [] : errors
}

function schemaNamed(name: string): unknown {
  return { $ref: `#/components/schemas/${name}` }
}

/** A path with the examples of what stands in it. */
function addressOf(path: string, { parameters }: Operation): string {
  return parameters
    .filter(parameter => parameter.in === 'path')
    .reduce((text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(String(example))), path)
}

function queryOf(parameters: readonly Parameter[]): string {
  const pairs = parameters.flatMap(({ name, example, schema }) =>
    [example ?? schema.default ?? []].flat().map(value => [name, String(value)]),
  )
  return new URLSearchParams(pairs).toString()
}

for (const api of APIS) {
  t.test(`${api}: the document names what is there`, async t => {
    const document = await read(`${api}/swagger.json`)
    t.same(await read(`${api}/openapi.json`), document)
    t.equal(document.openapi, '3.0.3')
    t.same(document.servers, [{ url: base + api }])
    const operations = Object.values(document.paths).map(({ get }) => get)
    const ids = operations.map(({ operationId }) => operationId)
    t.equal(new Set(ids).size, ids.length, 'ids are unique')
    for (const id of ['getDatasets', 'getDatasetsFacets', 'getDataset', 'getRecords', 'getRecord'])
      t.ok(ids.includes(id), id)
    t.equal(ids.includes('aggregateRecords'), api !== '/api/explore/v2.1')
    t.same(unresolved(document), [], 'every reference leads somewhere')
    t.same(mapsInChoices(document), [], 'generators of clients can name what is one of several')
    for (const [path, { get: operation }] of Object.entries(document.paths)) {
      const { operationId, parameters, responses } = operation
      const names = parameters.map(parameter => `${parameter.in} ${parameter.name}`)
      t.equal(new Set(names).size, names.length, `${operationId}: parameters are unique`)
      for (const { name, description } of parameters) t.ok(description, `${operationId} ${name}`)
      const isElsewhere = /^\/network\/datasets\/\{\w+\}\/(records|aggregates|facets|exports\/)/.test(path)
      const broken = isElsewhere ? ['502'] : []
      t.same(
        Object.keys(responses),
        ['200', '400', '401', '403', '404', '410', '422', '429', '500', ...broken, '503'],
        path,
      )
    }
  })

  t.test(`${api}: errors are of the declared codes, which are those of this API`, async t => {
    const document = await read(`${api}/swagger.json`)
    const declaredOf = (status: number) =>
      document.components.responses[status]?.content?.['application/json']?.schema
    for (const [query, expected] of [
      ['catalog/datasets/trees/records?limit=x', 400],
      ['catalog/datasets/trees/records?where=nope%20%3D', 400],
      ['catalog/datasets/nope/records', 404],
      ['catalog/datasets/trees/records?version=nope', 404],
      ['catalog/datasets/trees/records?apikey=nope', 401],
    ] as const) {
      const { status, text } = await ask(`${api}/${query}`, '')
      t.equal(status, expected, query)
      t.same(errorsOf(document, declaredOf(status), JSON.parse(text)), [], query)
    }
    const busy = { error_code: 'TooMuchWork', message: 'Your requests have used up …' }
    t.same(errorsOf(document, declaredOf(429), busy), [], 'a budget that is used up')
    for (const code of ['ODataError', 'CrossSiteRequest', 'ShapesInvalid'])
      t.notOk(JSON.stringify(document.components.responses).includes(code), code)
  })

  t.test(`${api}: each path answers its examples as it is declared to`, async t => {
    const document = await read(`${api}/swagger.json`)
    for (const [path, { get: operation }] of Object.entries(document.paths)) {
      const address = api + addressOf(path, operation)
      const requested = operation.parameters.filter(parameter => parameter.in === 'query')
      const together = requested.filter(
        ({ name }) => name !== 'group_by' && name !== 'rows' && name !== 'start',
      )
      const isFigures = operation.operationId.startsWith('aggregate')
      const queries = [
        '',
        ...requested.map(parameter => queryOf([parameter])),
        queryOf(isFigures ? [] : together),
        ...requested.flatMap(({ name }) => (name === 'compressed' ? ['compressed=true'] : [])),
      ]
      for (const query of queries) {
        const { status, text, headers } = await ask(address, query)
        const described = `${address}?${query}`
        t.equal(status, 200, `${described} ${status === 200 ? '' : text}`)
        const type = String(headers['content-type']).replace(/;.*/s, '')
        const content = operation.responses[200]?.content ?? {}
        const declared = content[type] ?? content['*/*']
        t.ok(declared, `${described} is of a type that is declared: ${type}`)
        if (/\bjson$/.test(type))
          t.same(errorsOf(document, declared?.schema, JSON.parse(text)), [], described)
      }
    }
  })

  t.test(`${api}: bounds and enumerations are those that are held`, async t => {
    const document = await read(`${api}/swagger.json`)
    const records = document.paths['/catalog/datasets/{dataset_id}/records']?.get
    if (records === undefined) throw new Error('no records')
    const address = `${api}/catalog/datasets/trees/records`
    const schemaOf = (name: string) => records.parameters.find(known => known.name === name)?.schema ?? {}
    t.match(schemaOf('limit'), { minimum: -1, maximum: GROUPED_PAGE.limit, default: DEFAULT_ROWS })
    t.match(schemaOf('offset'), { minimum: 0, maximum: GROUPED_PAGE.window, default: 0 })
    t.same(schemaOf('lang').enum, LANGUAGES)
    for (const { name, schema, in: place } of records.parameters) {
      if (place === 'path') continue
      for (const [value, group] of outside(schema)) {
        const { status, text } = await ask(address, `${name}=${value}${group}`)
        t.equal(status, 400, `${name}=${value}`)
        t.same(errorsOf(document, schemaNamed('fault'), JSON.parse(text)), [])
      }
      for (const value of schema.enum ?? [])
        t.equal((await ask(address, `${name}=${value}`)).status, 200, `${name}=${value}`)
    }
    t.equal((await ask(address, `limit=${PAGE.limit}`)).status, 200)
    t.equal((await ask(address, `limit=${PAGE.limit + 1}`)).status, 400)
    t.equal((await ask(address, `limit=${GROUPED_PAGE.limit}&group_by=kind`)).status, 200)
    const list = document.paths['/catalog/datasets']?.get.parameters.find(({ name }) => name === 'limit')
    const max = list?.schema.maximum ?? 0
    const groups = max > PAGE.limit ? '&group_by=publisher' : ''
    t.equal((await ask(`${api}/catalog/datasets`, `limit=${max}${groups}`)).status, 200)
    t.equal((await ask(`${api}/catalog/datasets`, `limit=${max + 1}${groups}`)).status, 400)
  })

  t.test(`${api}: formats are those that are listed`, async t => {
    const document = await read(`${api}/catalog/datasets/trees/swagger.json`)
    const exported = document.paths['/catalog/datasets/trees/exports/{format}']?.get
    const [format] = exported?.parameters ?? []
    const { text } = await ask(`${api}/catalog/datasets/trees/exports`)
    const { links } = JSON.parse(text) as { readonly links: readonly { readonly rel: string }[] }
    t.same(
      format?.schema.enum,
      links.map(({ rel }) => rel).filter(rel => rel !== 'self'),
    )
  })

  t.test(`${api}: a dataset has its own document`, async t => {
    const document = await read(`${api}/catalog/datasets/trees/openapi.json`)
    t.match(document.info, { title: 'Trees of the town', description: 'All trees.' })
    t.same(unresolved(document), [])
    for (const [path, { get: operation }] of Object.entries(document.paths)) {
      t.match(path, /^\/catalog\/datasets\/trees(\/|$)/)
      t.notOk(operation.parameters.some(({ name }) => name === 'dataset_id'))
      const { status, text } = await ask(api + addressOf(path, operation))
      t.equal(status, 200, `${path} ${status === 200 ? '' : text}`)
    }
    const isFlat = api === '/api/explore/v2.1'
    const name = isFlat ? 'record' : 'fields'
    t.match(document.components.schemas[name], {
      properties: {
        name: { type: 'string', title: 'Name', description: 'What it is called', nullable: true },
        kind: { type: 'string', enum: ['tree', 'shrub', null], example: 'tree' },
        group: { type: 'number', description: 'Height (m)' },
        planted: { type: 'string', format: 'date' },
        seen: { type: 'string', format: 'date-time' },
        alive: { type: 'boolean' },
        place: { type: 'object', required: ['lon', 'lat'] },
        tags: { type: 'array', items: { type: 'string', enum: ['high', 'low', 'old'] } },
      },
    })
    const { text } = await ask(`${api}/catalog/datasets/trees/records`)
    const body = JSON.parse(text)
    const rows: readonly unknown[] = isFlat ? body.results : body.records
    t.equal(rows.length, 3)
    for (const row of rows) t.same(errorsOf(document, schemaNamed('record'), row), [])
    const [first] = JSON.parse((await ask(`${api}/catalog/datasets/trees/exports/json`)).text)
    t.same(errorsOf(document, schemaNamed(name), first), [])
    t.not(
      errorsOf(document, schemaNamed(name), { ...first, kind: 'moss' }).length,
      0,
      'others are told apart',
    )
    t.not(errorsOf(document, schemaNamed(name), { ...first, group: 'x' }).length, 0)
    const records = document.paths['/catalog/datasets/trees/records']?.get
    const examples = Object.fromEntries((records?.parameters ?? []).map(known => [known.name, known.example]))
    t.match(examples, {
      order_by: '`group` desc',
      group_by: 'kind',
      refine: ['kind:tree'],
      exclude: ['kind:shrub'],
    })
    t.equal((await ask(`${api}/catalog/datasets/nothing/swagger.json`)).status, 404)
    t.equal((await ask(`${api}/catalog/datasets/a-b/swagger.json`)).status, 200)
  })

  t.test(`${api}: the console runs its own program and nothing else`, async t => {
    for (const path of [`${api}/console`, `${api}/catalog/datasets/trees/console`]) {
      const { status, text, headers } = await ask(path)
      t.equal(status, 200)
      t.match(headers['content-type'], /^text\/html/)
      const policy = String(headers['content-security-policy'])
      t.match(policy, /^default-src 'none';/)
      t.notMatch(policy, /unsafe|https?:/)
      for (const tag of ['script', 'style']) {
        const [, content = ''] = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(text) ?? []
        t.ok(content.length > 1000)
        const digest = createHash('sha256').update(content).digest('base64')
        t.ok(policy.includes(`${tag}-src 'sha256-${digest}'`), `${tag} is allowed by its digest`)
      }
      t.notMatch(text, /<(script|link|img)[^>]+(src|href)="(?!data:)/, 'nothing is loaded')
      t.notMatch(text, /innerHTML|insertAdjacentHTML|document\.write|\son\w+=/)
      t.match(
        text,
        /["']combobox["'][^;]{0,200}["']aria-expanded["']/,
        'a combobox says that its list is closed',
      )
    }
    t.equal((await ask(`${api}/catalog/datasets/nothing/console`)).status, 404)
  })
}

t.test('the Search API v2 tells of each source, the Explore API of the catalog', async t => {
  const ids = async (api: string, source: string) => {
    const { paths } = await read(`${api}/swagger.json`)
    return Object.entries(paths)
      .filter(([path]) => path === `/${source}` || path.startsWith(`/${source}/`))
      .map(([path, { get }]) => [path.replace(`/${source}`, ''), get] as const)
  }
  const dataset = '/datasets/{dataset_id}'
  for (const [source, id] of [
    ['monitoring', 'ods-datasets-monitoring'],
    ['network', 'trees@portal.example'],
  ] as const) {
    for (const api of ['/api/explore/v2.0', '/api/explore/v2.1']) t.same(await ids(api, source), [])
    const found = new Map(await ids('/api/v2', source))
    const own = source.charAt(0).toUpperCase() + source.slice(1)
    for (const [path, operationId, schema] of [
      ['', `get${own}`, 'links'],
      ['/datasets', `get${own}Datasets`, 'datasets'],
      ['/aggregates', `aggregate${own}Datasets`, 'aggregations'],
      ['/facets', `get${own}DatasetsFacets`, 'facets'],
      ['/exports', `list${own}ExportFormats`, 'export_formats'],
      ['/exports/{format}', `export${own}Datasets`, null],
      [dataset, `get${own}Dataset`, 'dataset'],
      [`${dataset}/records`, `get${own}Records`, 'records'],
      [`${dataset}/records/{record_id}`, `get${own}Record`, 'record'],
      [`${dataset}/aggregates`, `aggregate${own}Records`, 'aggregations'],
      [`${dataset}/facets`, `get${own}RecordsFacets`, 'facets'],
      [`${dataset}/exports`, `list${own}DatasetExportFormats`, 'export_formats'],
      [`${dataset}/exports/{format}`, `export${own}Records`, 'exported'],
      [`${dataset}/exports/csv`, `export${own}RecordsCSV`, null],
      [`${dataset}/attachments`, `get${own}DatasetAttachments`, 'attachments'],
    ] as const) {
      const operation = found.get(path)
      t.match(operation, { operationId, tags: [own] }, `${source} ${path}`)
      const declared = operation?.responses[200]?.content?.['application/json']?.schema
      if (schema !== null) t.same(declared, schemaNamed(schema), `${source} ${path}`)
      const named = operation?.parameters.find(({ name }) => name === 'dataset_id')
      t.equal(named?.example, path.startsWith(dataset) ? id : undefined)
      found.delete(path)
    }
    t.same([...found.keys()], [], 'and nothing else')
    const { text } = await ask(`/api/v2/${source}/datasets/${id}/exports`)
    for (const { href, rel } of JSON.parse(text).links)
      if (rel !== 'self') t.equal((await ask(href.replace(base, ''))).status, 200, href)
  }
})

t.test('figures of use are named among the fields of the catalog, and their example runs', async t => {
  for (const api of APIS) {
    const { 'x-odsql': odsql, paths } = (await read(`${api}/swagger.json`)) as Document & Odsql
    const named = odsql.fields.filter(({ name }) => name.startsWith('explore.'))
    t.match(named, { 5: { name: 'explore.popularity_score', type: 'double' } })
    t.equal(new Set(odsql.fields.map(({ name }) => name)).size, odsql.fields.length)
    for (const { name } of named)
      t.equal((await ask(`${api}/catalog/datasets`, `order_by=${name}`)).status, 200, name)
    const sort = paths['/catalog/datasets']?.get.parameters.find(({ name }) => name === 'sort')
    t.equal(sort?.example, api === '/api/v2' ? 'explore.popularity_score' : undefined)
  }
})

t.test('a document is conditional', async t => {
  const url = '/api/explore/v2.1/swagger.json'
  const { headers } = await app.http.inject({ url })
  const again = await app.http.inject({ url, headers: { 'if-none-match': String(headers.etag) } })
  t.equal(again.statusCode, 304)
})

t.test('the program of the console uses nothing from outside', async t => {
  const { text } = await ask('/api/explore/v2.1/console')
  const [, program = ''] = /<script>([\s\S]*?)<\/script>/.exec(text) ?? []
  const options = {
    allowJs: true,
    checkJs: true,
    noEmit: true,
    types: [],
    skipLibCheck: true,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
  }
  const unknown = (source: string) => {
    const file = path.join(temporaryFolder(t, { 'program.js': source }), 'program.js')
    const messages = ts.getPreEmitDiagnostics(ts.createProgram([file], options))
    return messages
      .map(({ messageText }) => /^Cannot find name '(\w+)'/.exec(String(messageText))?.[1])
      .filter(Boolean)
  }
  // The loader of a single test file adds a name to functions.
  t.strictSame(
    unknown(program).filter(name => name !== '__name'),
    [],
  )
  t.strictSame(unknown('lookup({})'), ['lookup'])
})

/** References of a document that lead nowhere. */
function unresolved(document: Document): readonly string[] {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
    ([, path = '']) => path,
  )
  return references.filter(path => {
    let at: unknown = document
    for (const key of path.split('/')) at = (at as Readonly<Record<string, unknown>> | undefined)?.[key]
    return at === undefined
  })
}

/** Schemas that `anyOf` lists and that are objects of any members by `additionalProperties` alone: generated clients in Java do not compile. */
function mapsInChoices({ components: { schemas } }: Document): readonly string[] {
  const lists = [...JSON.stringify(schemas).matchAll(/"anyOf":\[(.*?)\]/g)].map(([, list = '']) => list)
  const names = lists.flatMap(list => [...list.matchAll(/schemas\/(\w+)/g)].map(([, name = '']) => name))
  return names.filter(name => {
    const schema = schemas[name] as { readonly properties?: object; readonly additionalProperties?: boolean }
    return schema.additionalProperties === true && Object.keys(schema.properties ?? {}).length === 0
  })
}

/** Values that a schema does not allow, each with what must stand beside it for the bound to be that of the schema. */
function outside({ type, enum: known, minimum, maximum }: Schema): readonly (readonly [string, string])[] {
  if (known !== undefined || type === 'boolean') return [['nonsense', '']]
  if (type !== 'integer') return []
  const low = minimum === undefined ? [] : ([[String(minimum - 1), '']] as const)
  const high = maximum === undefined ? [] : ([[String(maximum + 1), '&group_by=kind']] as const)
  return [...low, ...high, ['1.5', ''], ['many', '']]
}
