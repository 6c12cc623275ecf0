import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Parser } from 'n3'
import { isomorphic } from 'rdf-isomorphic'
import t, { type Test } from 'tap'
import { mappingCommand } from '../../src/cli/mapping.ts'
import { compileMapping } from '../../src/mapping/compile.ts'
import { ERRORS, INFORMATION, WARNINGS } from '../../src/mapping/diagnostic.ts'
import { firstMapping } from '../../src/mapping/init.ts'
import { portalPrefixes, readMapping } from '../../src/mapping/read.ts'
import { validateMapping } from '../../src/mapping/validate.ts'
import type { DatasetStatistics } from '../../src/model/dataset.ts'
import { FIELD_TYPES, type Field, type FieldType, field } from '../../src/model/field.ts'
import { inferColumns } from '../../src/sources/infer.ts'
import { openSource } from '../../src/sources/open.ts'
import { fieldOf } from '../../src/sources/typing/fields.ts'
import { typeRecords } from '../../src/sources/typing/typed-records.ts'
import { commandProcess } from '../support/command-lines.ts'
import { lodestone as lodestoneAlone } from '../support/crash.ts'
import { temporaryFolder } from '../support/folder.ts'

/** The commands of mappings, and the first mapping of a dataset. */
const BASE = 'http://localhost:3000'

/** A dataset for a first mapping: its id, its fields as `name:type` (`*` for several texts), what must be written. */
interface InitCase {
  readonly id: string
  readonly fields: string
  readonly identity?: readonly string[]
  readonly language?: string
  readonly statistics?: DatasetStatistics
  readonly lines: readonly string[]
}

const CASES: readonly InitCase[] = [
  {
    id: 'cities',
    fields: 'geonameid:int name alternate_names:text* country_code population:int coordinates:geo_point_2d',
    identity: ['geonameid'],
    lines: [
      'subject: portal:cities/city/$(geonameid)',
      '- [a, schema:City]',
      '- [rdfs:label, $(name)]',
      '- [schema:alternateName, $(alternate_names)]',
      '- [dbo:populationTotal, $(population)]',
      '- [schema:addressCountry, $(country_code)]',
      '- [geo:asWKT, $(coordinates)]',
    ],
  },
  {
    id: 'musees-de-france',
    fields:
      'identifiant nom_du_musee adresse code_postal ville telephone url latitude:double longitude:double date_maj:date description',
    language: 'fr',
    lines: [
      '- [a, schema:Museum]',
      '- [rdfs:label, $(nom_du_musee)]',
      '- [schema:streetAddress, $(adresse)]',
      '- [schema:postalCode, $(code_postal)]',
      '- [schema:addressLocality, $(ville)]',
      '- [dcterms:modified, $(date_maj)]',
      '- [schema:description, $(description), fr~lang]',
      "- [geo:asWKT, 'POINT($(longitude) $(latitude))', geo:wktLiteral]",
    ],
  },
  {
    id: 'veranstaltungen-2024',
    fields: 'titel_de titel_fr beginn:datetime ende:datetime beschreibung preis:double',
    lines: [
      '[rdfs:label, $(titel_de)]',
      '[schema:name, $(titel_de), de~lang]',
      '[schema:name, $(titel_fr), fr~lang]',
      '[field:preis, $(preis)]',
    ],
  },
  {
    id: 'catalogo',
    fields: 'codigo nombre precio:double moneda ean',
    lines: [
      'schema:Product',
      '[schema:price, $(precio)]',
      '[schema:priceCurrency, $(moneda)]',
      'schema:Offer',
    ],
  },
  {
    id: '2024',
    fields: '_2019:int _x 1st:double a__b:boolean',
    lines: ['$(\\_2019)', '$(\\_x)', '[a, field:Record2024]'],
  },
  {
    id: 'people',
    fields: 'first_name last_name birth_date:date',
    lines: ["[rdfs:label, '$(first_name) $(last_name)']", '[schema:birthDate, $(birth_date)]'],
  },
  { id: 'one', fields: 'v:double', lines: ['portal:one/one/$(recordid)', "[rdfs:label, 'One $(recordid)']"] },
  {
    id: 'shapes',
    fields: 'shape:geo_shape point:geo_point_2d',
    lines: ['geo:hasGeometry', '[a, schema:Place]'],
  },
  { id: 'geometry', fields: 'geometry:geo_shape', lines: ['geometry_2:'] },
  { id: 'roles', fields: 'tags:text* words:text*', identity: ['tags'], lines: ['$(recordid)'] },
  {
    id: 'links',
    fields: 'id:int website name_en',
    statistics: {
      records: 20,
      fields: {
        id: { present: 20, nulls: 0, distinct: 20, min: 1, max: 20 },
        website: {
          present: 20,
          nulls: 0,
          distinct: 20,
          min: null,
          max: null,
          quantiles: ['http://a.example/', 'https://b.example/'],
        },
      },
    },
    lines: ['portal:links/link/$(id)', '[schema:url, $(website)~iri]', '[schema:name, $(name_en), en~lang]'],
  },
]

function fieldsOf(text: string): readonly Field[] {
  return text.split(' ').map(part => {
    const [name = '', type = 'text'] = part.split(':')
    return field(name, type.replace('*', '') as FieldType, { multivalued: type.endsWith('*') })
  })
}

/** Reads a first mapping back and tells its errors. */
function check(id: string, text: string, fields: readonly Field[], statistics?: DatasetStatistics) {
  const { mapping, diagnostics } = readMapping(text, `${id}.yml`, { prefixes: portalPrefixes(BASE, id) })
  const dataset = { id, base: BASE, fields, ...(statistics === undefined ? {} : { statistics }) }
  const more = mapping === null ? [] : validateMapping(mapping, dataset)
  return { mapping, diagnostics: [...diagnostics, ...more] }
}

t.test('a first mapping says what the names of the fields tell, and has no errors', async t => {
  for (const { id, fields: text, identity = [], language = null, statistics, lines } of CASES) {
    const fields = fieldsOf(text)
    const more = statistics === undefined ? {} : { statistics }
    const written = firstMapping({ id, fields, identity, language, ...more })
    const { mapping, diagnostics } = check(id, written, fields, statistics)
    t.same(
      diagnostics
        .filter(({ severity }) => severity !== 'info')
        .map(({ code, message }) => `${code}: ${message}`),
      [],
      `${id} is in order`,
    )
    for (const line of lines) t.ok(written.includes(line), `${id}: ${line}`)
    if (mapping !== null) t.doesNotThrow(() => compileMapping(mapping, fields), `${id} compiles`)
  }
})

t.test('a first mapping of any dataset has no errors', async t => {
  const words =
    'name nom id code url date start_date end_date lat lon prix email x null true _y a 7 on tel country'.split(
      ' ',
    )
  let seed = 7
  const random = (bound: number) => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * bound)
  }
  const bad: string[] = []
  for (let round = 0; round < 300; round++) {
    const names = new Set<string>()
    const count = [1, 2, 5, 12, 30, 200][round % 6] ?? 1
    while (names.size < count) {
      const parts = Array.from({ length: 1 + random(3) }, () => words[random(words.length)] ?? 'x')
      names.add(parts.join('_') + (names.size > 40 ? String(names.size) : ''))
    }
    const fields = [...names].map(name => {
      const type = FIELD_TYPES[random(FIELD_TYPES.length)] ?? 'text'
      const label = ['a: b', '# {x} [y]', '"\' \n\t$(', name][random(4)] ?? name
      return field(name, type, { label, description: label, multivalued: type === 'text' && random(4) === 0 })
    })
    const identity = random(2) === 0 ? [] : [fields[0]?.name ?? '']
    const id = `${['cities', '9-x', 'events_of_2020', 'null', 'address', 'on'][random(6)]}${random(3) || ''}`
    const text = firstMapping({ id, fields, identity, language: 'en' })
    const { mapping, diagnostics } = check(id, text, fields)
    const errors = diagnostics.filter(({ severity }) => severity === 'error')
    for (const { code, message, place } of errors)
      bad.push(`${id}: ${code}: ${message} ${text.split('\n')[place.line - 1]}`)
    const unused = diagnostics.filter(({ code }) => code === 'field-unused' || code === 'prefix-unused')
    bad.push(...unused.map(({ message }) => message))
    if (mapping !== null) compileMapping(mapping, fields)
  }
  t.same(bad, [])
})

const TREES = `id,name,height,planted,url,place
1,Oak,12,1999-04-01,http://trees.example/1,"48.1,11.5"
2,Elm,7.5,2001-05-02,no address,"48.2,11.6"
3,Yew,,,http://trees.example/3,
`
const MAPPING = `prefixes:
  ex: http://example.org/
mappings:
  tree:
    subject: portal:trees/tree/$(id)
    predicateobjects:
      - [a, ex:Tree]
      - [rdfs:label, $(name)]
      - [ex:height, $(height)]
      - [foaf:page, $(url)~iri]
      - [ex:born, $(name), xsd:date]
      - [ex:at, spot]
  spot:
    subject: portal:trees/spot/$(id)
    predicateobjects:
      - [a, ex:Spot]
      - [rdfs:label, "Spot of $(name)"]
      - [ex:wkt, $(place)]
`

function portalOf(t: Test): string {
  const trees = 'source: { path: trees.csv }\nid: [id]\nfields:\n'
  const fields = [
    'id, type: int',
    'name',
    'height, type: double',
    'planted, type: date',
    'url',
    'place, type: geo_point_2d',
  ]
  return temporaryFolder(t, {
    'portal.yaml': 'title: Small\nworkers: 1\n',
    data: {
      trees: {
        'dataset.yaml': trees + fields.map(text => `  - { name: ${text} }\n`).join(''),
        'trees.csv': TREES,
      },
      stones: { 'dataset.yaml': 'source: { path: s.csv }\n', 's.csv': 'a,b\n1,x\n2,y\n' },
      graphs: { 'dataset.yaml': 'source: { path: g.ttl }\n', 'g.ttl': '<http://a/> <http://b/> 1 .\n' },
    },
    mappings: { 'trees.yml': MAPPING },
    'alone.yml':
      'mappings:\n  x:\n    subject: http://a.example/$(x)\n    predicateobjects:\n      - [a, nope:X]\n',
  })
}

t.jobs = 3

const lodestone = commandProcess(t)

t.test('mapping check tells diagnostics with their place', { buffered: true }, async t => {
  const portal = portalOf(t)
  const at = ['--portal', portal]
  const all = await lodestone(['mapping', 'check', ...at])
  t.equal(all.code, 0, 'warnings do not fail')
  t.match(all.stdout, /trees\.yml:11:\d+: warning field-type-vs-datatype: /)
  t.match(all.stdout, /trees\.yml: 0 errors, \d+ warning/)
  const file = path.join(portal, 'mappings/trees.yml')
  writeFileSync(file, MAPPING.replace('$(height)', '$(hieght)'))
  const wrong = await lodestone(['mapping', 'check', 'trees', ...at])
  t.equal(wrong.code, 1)
  t.match(wrong.stdout, /trees\.yml:9:\d+: error reference-unknown-field: [^\n]*hieght[^\n]*\n(?: .*\n)?/)
  t.match(wrong.stdout, /height/, 'the nearest name')
  const json = await lodestone(['mapping', 'check', file, '--json', ...at])
  t.match(JSON.parse(json.stdout), [
    { dataset: 'trees', code: 'field-unused', place: { line: 4 } },
    { dataset: 'trees', code: 'reference-unknown-field', place: { line: 9 } },
  ])
  const alone = await lodestone(['mapping', 'check', path.join(portal, 'alone.yml'), ...at])
  t.equal(alone.code, 1)
  t.match(alone.stdout, /alone\.yml:5:\d+: error prefix-unknown: /)
  const outside = { folder: path.join(portal, 'mappings') }
  const elsewhere = await lodestoneAlone(['mapping', 'check', '../alone.yml'], outside)
  t.equal(elsewhere.code, 1)
  t.match(elsewhere.stdout, /alone\.yml:5:\d+: error prefix-unknown: /, 'a file needs no portal')
  t.match((await lodestoneAlone(['mapping', 'check', 'trees'], outside)).stderr, /portal\.yaml was not found/)
  t.match((await lodestone(['mapping', 'check', 'stones', ...at])).stdout, /direct mapping is used/)
  t.equal((await lodestone(['mapping', 'check', 'nowhere', ...at])).code, 2)
  writeFileSync(path.join(portal, 'mappings/gone.yml'), MAPPING)
  t.match((await lodestone(['mapping', 'check', ...at])).stdout, /there is no dataset gone/)
  const second = path.join(portal, 'mappings/trees.rml.ttl')
  writeFileSync(second, '')
  const ignored = /trees\.rml\.ttl is ignored: .*trees\.yml is the mapping of the dataset/
  t.match((await lodestone(['mapping', 'check', ...at])).stdout, ignored)
  t.match((await lodestone(['check', 'trees', ...at])).stdout, ignored)
})

t.test('mapping preview shows triples and what was left out', { buffered: true }, async t => {
  const portal = portalOf(t)
  const at = ['--portal', portal]
  const source = await lodestone(['mapping', 'preview', 'trees', ...at])
  t.equal(source.code, 0, source.stderr)
  const quads = new Parser().parse(source.stdout)
  t.equal(quads.length, 21)
  t.match(source.stdout, /@prefix ex: <http:\/\/example\.org\/> \.\n/)
  t.notMatch(source.stdout, /@prefix dcat/, 'prefixes that are not used are left out')
  t.match(source.stderr, /trees\.yml: 3 records, 21 distinct triples; \d+ warning/)
  t.match(
    source.stderr,
    /line 9: tree, ex:height \$\(height\): 2 triples, left out: 1 without a value\n {4}no value: record [0-9a-f]{40}/,
  )
  t.match(
    source.stderr,
    /foaf:page \$\(url\): 2 triples, left out: 1 no valid IRI\n {4}no valid IRI: "no address" \(record [0-9a-f]{40}\)/,
  )
  t.match(
    source.stderr,
    /ex:born \$\(name\): 0 triples, left out: 3 not of the datatype\n {4}not of the datatype: "Oak"/,
  )
  writeFileSync(
    path.join(portal, 'wrong.yml'),
    MAPPING.replace('[rdfs:label, $(name)]', '[rdfs:label, $(height), $(name)]'),
  )
  const comma = await lodestone([
    'mapping',
    'preview',
    'trees',
    '--mapping',
    path.join(portal, 'wrong.yml'),
    ...at,
  ])
  t.match(
    comma.stderr,
    /rdfs:label \$\(height\): 0 triples, left out: 1 without a value, 2 no datatype\n {4}no datatype: "Oak" \(record/,
  )
  t.equal((await lodestone(['publish', 'trees', ...at])).code, 0)
  const published = await lodestone(['mapping', 'preview', 'trees', ...at])
  t.equal(published.stdout, source.stdout, 'the published version gives the same')
  const json = await lodestone(['mapping', 'preview', 'trees', '--records', '1', '--json', ...at])
  t.match(JSON.parse(json.stdout), { records: 1, triples: 8, dataset: 'trees' })
  const other = path.join(portal, 'other.yml')
  const quoted = MAPPING.replace('[ex:at, spot]', '[ex:at, spot]\n    graphs: portal:trees/graph/$(id)')
  writeFileSync(other, quoted)
  const graphs = await lodestone(['mapping', 'preview', 'trees', '--mapping', other, ...at])
  t.match(graphs.stdout, /<http:\/\/localhost:3000\/ld\/resources\/trees\/graph\/1> \{/)
  t.equal(new Parser({ format: 'trig' }).parse(graphs.stdout).length, 21)
  t.match(
    (await lodestone(['mapping', 'preview', 'stones', ...at])).stdout,
    /field:a 1 ;/,
    'the direct mapping',
  )
  writeFileSync(other, MAPPING.replace('subject: portal:trees/tree', 'sbject: portal:trees/tree'))
  const wrong = await lodestone(['mapping', 'preview', 'trees', '--mapping', other, ...at])
  t.equal(wrong.code, 1)
  t.equal(wrong.stdout, '')
  t.match(wrong.stderr, /other\.yml:5:\d+: error key-unknown: /)
  t.equal((await lodestone(['mapping', 'preview', 'graphs', ...at])).code, 2, 'RDF has no records')
  t.equal((await lodestone(['mapping', 'preview', 'trees', '--records', '0', ...at])).code, 2)
})

t.test('mapping init writes a mapping that can be used', { buffered: true }, async t => {
  const portal = portalOf(t)
  const at = ['--portal', portal]
  const file = path.join(portal, 'mappings/stones.yml')
  t.match(
    (await lodestone(['mapping', 'init', 'stones', '--stdout', ...at])).stdout,
    /mappings:\n {2}stone:\n/,
  )
  t.notOk(existsSync(file))
  t.equal((await lodestone(['mapping', 'init', 'stones', ...at])).code, 0)
  const checked = await lodestone(['mapping', 'check', 'stones', ...at])
  t.equal(checked.code, 0, checked.stdout)
  t.match(checked.stdout, /0 errors, 0 warnings/)
  t.match((await lodestone(['mapping', 'preview', 'stones', ...at])).stdout, /rdfs:label "Stone/)
  t.equal((await lodestone(['mapping', 'init', 'trees', ...at])).code, 2, 'a mapping that is there stays')
  t.equal(readFileSync(path.join(portal, 'mappings/trees.yml'), 'utf8'), MAPPING)
  t.equal((await lodestone(['mapping', 'init', 'trees', '--force', ...at])).code, 0)
  t.match(readFileSync(path.join(portal, 'mappings/trees.yml'), 'utf8'), /geo:hasGeometry/)
})

t.test('mapping export writes what other engines run', { buffered: true }, async t => {
  const portal = portalOf(t)
  const at = ['--portal', portal]
  const file = path.join(portal, 'mappings/trees.yml')
  const rml = await lodestone(['mapping', 'export', 'trees', ...at])
  t.equal(rml.code, 0, rml.stderr)
  t.match(rml.stdout, /trees\.json/, 'a point is no column, so the export is taken')
  t.match(rml.stdout, /POINT\(/)
  t.ok(new Parser().parse(rml.stdout).length > 20)
  writeFileSync(file, MAPPING.replace('      - [ex:wkt, $(place)]\n', ''))
  const out = path.join(portal, 'trees.rml.ttl')
  t.equal((await lodestone(['mapping', 'export', 'trees', '--out', out, ...at])).code, 0)
  const nowhere = await lodestone(['mapping', 'export', 'trees', '--out', path.join(out, 'a.ttl'), ...at])
  t.match(nowhere, { code: 2, stderr: /a\.ttl cannot be written: ENOTDIR\n$/ })
  t.match(readFileSync(out, 'utf8'), /"trees\.csv"/, 'its own file where that does')
  const ran = await lodestone(['map', out, path.join(portal, 'data/trees/trees.csv'), '--format', 'nquads'])
  const previewed = await lodestone(['mapping', 'preview', 'trees', '--records', '9', ...at])
  const triples = (text: string) =>
    new Set(
      new Parser()
        .parse(text)
        .map(({ subject, predicate, object }) => `${subject.id} ${predicate.id} ${object.id}`),
    )
  t.same([...triples(ran.stdout)].sort(), [...triples(previewed.stdout)].sort(), 'both roads give the same')
  t.match(rml.stdout, /http:\/\/www\.w3\.org\/ns\/r2rml#/, 'in the vocabulary that all engines read')
  const newer = await lodestone(['mapping', 'export', 'trees', '--new', ...at])
  t.notMatch(newer.stdout, /r2rml#/)
  t.match(newer.stdout, /rml:null ""/, 'in which it can be said that empty cells are no values')
  t.match(
    (await lodestone(['mapping', 'export', 'trees', '--format', 'yarrrml', ...at])).stdout,
    /^prefixes:/,
  )
  const direct = await lodestone(['mapping', 'export', 'stones', '--format', 'yarrrml', ...at])
  const before = await lodestone(['mapping', 'preview', 'stones', ...at])
  writeFileSync(path.join(portal, 'mappings/stones.yml'), direct.stdout)
  const after = await lodestone(['mapping', 'preview', 'stones', ...at])
  t.equal(after.stdout, before.stdout, 'the direct mapping reads back')
  t.match((await lodestone(['mapping', 'export', 'stones', ...at])).stdout, /select=recordid,a,b/)
  rmSync(path.join(portal, 'mappings/stones.yml'))
  writeFileSync(path.join(portal, 'data/stones/s.csv'), '2020,count,a\n1,2,3\n')
  t.match(
    (await lodestone(['mapping', 'export', 'stones', ...at])).stdout,
    /select=recordid,%602020%60,%60count%60,a'/,
    'numbers and words of ODSQL are quoted',
  )
})

const reference = readFileSync(path.resolve(import.meta.dirname, '../../src/mapping/README.md'), 'utf8')
const EXAMPLE = /```yaml\n([\s\S]*?)```[\s\S]*?```csv\n([\s\S]*?)```[\s\S]*?```turtle\n([\s\S]*?)```/g

t.test('the reference of mappings tells every diagnostic and every command', async t => {
  for (const code of [...ERRORS, ...WARNINGS, ...INFORMATION]) t.ok(reference.includes(`\`${code}\``), code)
  for (const command of mappingCommand().commands)
    t.ok(reference.includes(`lodestone mapping ${command.name()}`), command.name())
})

t.test('the examples of the reference make what stands there', async t => {
  const examples = [...reference.matchAll(EXAMPLE)]
  t.equal(examples.length, 2)
  for (const [, yaml = '', csv = '', turtle = ''] of examples) {
    const source = () => openSource({ path: 'a.csv' }, folders)
    const folder = temporaryFolder(t, { 'a.csv': csv })
    const folders = { datasetFolder: folder, portalFolder: folder }
    const { fields: specs } = await inferColumns(source())
    const { mapping, diagnostics } = check('a', yaml, specs.map(fieldOf))
    t.same(
      diagnostics.filter(({ severity }) => severity === 'error'),
      [],
    )
    if (mapping === null) continue
    const { map } = compileMapping(mapping, specs.map(fieldOf))
    let lines = ''
    const out = {
      add: (text: string) => {
        lines += text
      },
    }
    for await (const { values } of typeRecords(source(), specs).batches())
      for (const each of values) map({ id: '0', position: 0, values: each }, out)
    const parsed = (text: string) => new Parser().parse(text)
    const made = [...new Set(lines.split('\n'))].join('\n')
    t.ok(isomorphic(parsed(made), parsed(turtle)), made)
  }
})
