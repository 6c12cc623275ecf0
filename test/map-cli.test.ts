import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { Parser } from 'n3'
import t from 'tap'
import {
  countDataErrors,
  DEFAULT_BASE,
  findingsOf,
  type InputReport,
  planMapping,
  reportText,
  runPlan,
} from '../src/cli/map/run.ts'
import { mappingFileText } from '../src/cli/mapping/check.ts'
import { type Diagnostic, hasErrors } from '../src/mapping/diagnostic.ts'
import { readMapping } from '../src/mapping/read.ts'
import type { CsvDialect } from '../src/model/csv-dialect.ts'
import { exactJson, parseExactly } from '../src/model/exact-json.ts'
import {
  compileReference,
  isPathProblem,
  parseJsonPath,
  readSelected,
  selectJson,
} from '../src/sources/json/json-path.ts'
import { openTable } from '../src/sources/tables/raw-table.ts'
import { commandProcess } from './support/command-lines.ts'
import { temporaryFolder } from './support/folder.ts'

/** `lodestone map`: files through mappings, and how its files are read. */
const BINARY = path.resolve(import.meta.dirname, '../bin/lodestone.js')
const run = commandProcess(t)

t.test('paths of JSON', async t => {
  const document = {
    a: { 'b c': [1, 2, { d: null }] },
    'x.y': 3,
    list: [{ n: 'p' }, { n: 'q' }, 7],
    'caf\u00e9\n': 4,
    '\u{1f600}': 5,
  }
  const found: readonly (readonly [path: string, values: readonly unknown[]])[] = [
    ['$', [document]],
    ['$.a["b c"][0]', [1]],
    ["$['a']['b c'][2].d", [null]],
    ["$.['x.y']", [3]],
    ['$.list[*].n', ['p', 'q']],
    ['$.list.*', document.list],
    ['$.a.*[1]', [2]],
    ['list[1].n', ['q']],
    ['a.b c[1]', [2]],
    ['$.list[9]', []],
    ['$.a[0]', []],
    ['$.a.toString', []],
    ['$.__proto__', []],
    ["$['it\\'s']", []],
    ['.a["b c"][1]', [2]],
    ['.list[*].n', ['p', 'q']],
    ['.["x.y"]', [3]],
    ['$["caf\\u00e9\\n"]', [4]],
    ["$['\\uD83D\\uDE00']", [5]],
  ]
  for (const [text, values] of found) {
    const parsed = parseJsonPath(text)
    if (isPathProblem(parsed)) t.fail(`${text}: ${parsed.reason}`)
    else t.strictSame(selectJson(document, parsed), values, text)
  }
  const refused: readonly (readonly [path: string, index: number, reason: RegExp])[] = [
    ['$..a', 2, /descendants/],
    ['..a', 1, /descendants/],
    ['.', 1, /ends/],
    ['$.a[?(@.b > 1)]', 3, /filters/],
    ['$.a[(process.exit(1))]', 3, /scripts/],
    ['$.a[0:2]', 3, /slices/],
    ['$.a[0,1]', 3, /slices/],
    ['$.a[*]]', 6, /no step/],
    ['$.', 2, /ends/],
    ['', 0, /ends/],
    ['a;b', 1, /no step/],
    ['$.a[b]', 3, /no step/],
    ["$['\\d']", 1, /no step/],
    ["$['\\u12']", 1, /no step/],
    [`$${'.a'.repeat(65)}`, 129, /64 steps/],
  ]
  for (const [text, index, reason] of refused) {
    const parsed = parseJsonPath(text)
    t.match(parsed, { index, reason }, text)
  }
})

t.test('references of mappings', async t => {
  const record = { 'a.b': 1, a: { b: 2 }, 'ISO 3166': 'CH', 'x;y': 3, nothing: null, '.hidden': 4 }
  const rows: readonly (readonly [reference: string, values: readonly unknown[]])[] = [
    ['a.b', [1]],
    ['$.a.b', [2]],
    ['ISO 3166', ['CH']],
    ['.a.b', [2]],
    ['.nothing', [null]],
    ['.hidden', [4]],
    ['..b', []],
    ['x;y', [3]],
    ['nothing', [null]],
    ['absent', []],
    ['constructor', []],
    ['(() => process.exit(1))()', []],
  ]
  for (const [reference, values] of rows) t.strictSame(compileReference(reference)(record), values, reference)
  t.strictSame(compileReference('a')('text'), [])
})

t.test('long integers of JSON', async t => {
  const long = '12345678901234567890'
  t.strictSame(
    parseExactly(
      `[${long},-${long}, 0.${long}, 1e00000000000000001, "${long}", "\\"${long}", 1234567890123456]`,
    ),
    [BigInt(long), -BigInt(long), Number(`0.${long}`), 10, long, `"${long}`, 1234567890123456],
  )
  t.strictSame(parseExactly(`{"a":${long}}`), { a: BigInt(long) })
  const strings = [`"\\u0000integer:${long}"`, `"\\u0000${long}"`]
  t.strictSame(parseExactly(`[${strings.join(',')},${long}]`), [
    `\0integer:${long}`,
    `\0${long}`,
    BigInt(long),
  ])
  for (const text of [`{"a":[${long},-${long},"x"],"b":{"c":null}}`, '[]', '"a"', '{"a":"\\u0000"}'])
    t.equal(exactJson(parseExactly(text)), text)
  t.equal(exactJson({ a: [BigInt(long)] }, 1), `{\n "a": [\n  ${long}\n ]\n}`)
  const large = { a: 9.4e20, b: -(2 ** 63), c: 2 ** 62, d: '9'.repeat(20), e: [1e21, -1e19] }
  const written = `{"a":9.4e+20,"b":-9.223372036854776e+18,"c":4611686018427388000,"d":"${large.d}","e":[1e+21,-1e+19]}`
  t.equal(exactJson(large), written, 'numbers that many readers refuse as integers')
  t.same(JSON.parse(exactJson({ large, exact: BigInt(long) })).large, large)
  t.equal(exactJson(undefined), undefined)
})

t.test('JSON is cut wherever its pieces end', async t => {
  const document = { a: [{ b: [1, 2.5] }, { b: 'x]"' }, { c: 0 }], d: { e: { b: true } } }
  const file = path.join(temporaryFolder(t, { 'x.json': JSON.stringify(document, null, 1) }), 'x.json')
  for (const text of [
    '$',
    '$.a',
    '$.a[*]',
    '$.a[1]',
    '$.a[*].b',
    '$.a[*].b[*]',
    '$.*',
    '$.d.*.b',
    '$.z',
    '$.a.b',
  ]) {
    const parsed = parseJsonPath(text)
    if (isPathProblem(parsed)) throw new Error(parsed.reason)
    for (const chunkSize of [1, 7, 1000]) {
      const found: unknown[] = []
      for await (const values of readSelected({ path: file, chunkSize }, parsed)) found.push(...values)
      t.strictSame(found, selectJson(document, parsed), `${text} by ${chunkSize}`)
    }
  }
})

t.test('tables as they are', async t => {
  const rows: readonly (readonly [
    content: string | Buffer,
    dialect: CsvDialect,
    columns: readonly string[],
    cells: readonly (readonly (string | null)[])[],
  ])[] = [
    [
      'a,b\n1, x \n\n"","2"\n3\n',
      {},
      ['a', 'b'],
      [
        ['1', ' x '],
        ['', '2'],
        ['3', null],
      ],
    ],
    ['a;b\n1;x\n', {}, ['a', 'b'], [['1', 'x']]],
    ['a;b,c\n1;x,2\n', { delimiter: ';' }, ['a', 'b,c'], [['1', 'x,2']]],
    ["'a','b'\n'it''s',2\n", { quote: "'" }, ['a', 'b'], [["it's", '2']]],
    ['a,b\n"x,2\n', { quote: null }, ['a', 'b'], [['"x', '2']]],
    ['# x, y, z\na,b\n#1,2\n3,#4\n# end', { comment: '#' }, ['a', 'b'], [['3', '#4']]],
    [
      '// x\na,b\n/1,2\n//3,4\n/',
      { comment: '//' },
      ['a', 'b'],
      [
        ['/1', '2'],
        ['/', null],
      ],
    ],
    [
      '1,2\n3,4\n',
      { header: false },
      ['_col.1', '_col.2'],
      [
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    [' a ,b\n 1 , - \n', { trim: true, nulls: ['-'] }, ['a', 'b'], [['1', null]]],
    ['a\nNULL\nnull\n', { nulls: ['NULL'] }, ['a'], [[null], ['null']]],
    ['a\n', {}, ['a'], []],
    [Buffer.from('\ufeffa,b\n1,é', 'utf16le'), { encoding: 'UTF-16' }, ['a', 'b'], [['1', 'é']]],
    [Buffer.from('\ufeffa,b\n1,é', 'utf16le').swap16(), { encoding: 'UTF-16' }, ['a', 'b'], [['1', 'é']]],
    [Buffer.from('a\né', 'latin1'), { encoding: 'ISO-8859-1' }, ['a'], [['é']]],
  ]
  const folder = temporaryFolder(t)
  for (const [content, dialect, columns, cells] of rows) {
    const file = path.join(folder, 'x.csv')
    writeFileSync(file, content)
    for (const chunkSize of [3, 1000]) {
      const table = await openTable({ path: file, chunkSize }, dialect)
      t.strictSame(table.columns, columns)
      const found: (readonly (string | null)[])[] = []
      for await (const batch of table.rows(columns.map((_, index) => index))) found.push(...batch)
      t.strictSame(found, cells, `${JSON.stringify(dialect)} by ${chunkSize}`)
    }
  }
  writeFileSync(path.join(folder, 'x.csv'), '')
  await t.rejects(openTable({ path: path.join(folder, 'x.csv') }), { code: 'SourceUnreadable' })
  await t.rejects(openTable({ path: path.join(folder, 'x.csv') }, { delimiter: '::' }), {
    code: 'ConfigInvalid',
  })
  await t.rejects(openTable({ path: path.join(folder, 'x.csv') }, { encoding: 'EBCDIC' }), {
    code: 'ConfigInvalid',
  })
})

interface Outcome {
  readonly lines: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
  readonly inputs: readonly InputReport[]
  readonly dataErrors: number
}

type Files = Readonly<Record<string, string | Buffer>>

async function mapped(
  folder: string,
  name: string,
  mapping: string,
  files: Files,
  base?: string,
): Promise<Outcome> {
  for (const [file, content] of Object.entries(files)) writeFileSync(path.join(folder, file), content)
  const read = readMapping(mapping, name, { base: base ?? DEFAULT_BASE })
  const failed = { lines: [], inputs: [], dataErrors: 0 }
  if (read.mapping === null) return { ...failed, diagnostics: read.diagnostics }
  const paths = Object.keys(files).map(file => path.join(folder, file))
  const { plan, diagnostics } = await planMapping(read.mapping, read.kind, paths, base)
  if (plan === null) return { ...failed, diagnostics }
  const inputs: InputReport[] = []
  let all = ''
  for await (const piece of runPlan(plan, report => inputs.push(report))) all += piece.toString('utf8')
  const lines = all.split('\n').filter(line => line !== '')
  return {
    lines: lines.sort(),
    diagnostics: [...diagnostics, ...findingsOf(plan)],
    inputs,
    dataErrors: plan.dataErrors ? countDataErrors(inputs) : 0,
  }
}

const OLD = `@prefix rr: <http://www.w3.org/ns/r2rml#> .
@prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> .
@prefix ex: <http://ex.org/> .
@base <http://base.org/> .
`
const NEW = `@prefix rml: <http://w3id.org/rml/> .
@prefix ex: <http://ex.org/> .
`

function oldMap(source: string, formulation: string, subject: string, object: string, name = 'm'): string {
  return `${OLD}<${name}> rml:logicalSource [ rml:source "${source}"; rml:referenceFormulation ql:${formulation} ];
  rr:subjectMap [ ${subject} ];
  rr:predicateObjectMap [ rr:predicate ex:p; rr:objectMap [ ${object} ] ].\n`
}

function newMap(source: string, formulation: string, subject: string, object: string): string {
  return `${NEW}<http://ex.org/m> rml:logicalSource [ rml:source [ a rml:RelativePathSource; rml:path "${source}" ];
    rml:referenceFormulation rml:${formulation} ];
  rml:subjectMap [ ${subject} ];
  rml:predicateObjectMap [ rml:predicate ex:p; rml:objectMap [ ${object} ] ].\n`
}

const JSON_RECORDS = 'JSONPath; rml:iterator "$.rows[*]"'

const yamlMapping = (body: string) => `prefixes:\n  ex: http://ex.org/\nmappings:\n${body}`
const PERSON = yamlMapping('  p:\n    s: ex:$(id)\n    po:\n      - [ex:p, $(name)]\n')
/** Mappings over files, and the sorted lines that they make. */
const MAPPED_FILES: readonly (readonly [
  about: string,
  name: string,
  mapping: string,
  files: Files,
  lines: readonly string[],
])[] = [
  [
    'YARRRML without sources reads the one file',
    'm.yml',
    PERSON,
    { 'x.csv': 'id,name\n1,Ann\n2,\n' },
    ['<http://ex.org/1> <http://ex.org/p> "Ann" .'],
  ],
  [
    'paths that begin with a dot, of records and of values',
    'm.yml',
    yamlMapping(
      "  p:\n    sources: [['x.json~jsonpath', '.rows[*]']]\n    s: ex:$(.id)\n    po:\n      - [ex:p, $(.name)]\n      - [ex:p, $(.in.city)]\n",
    ),
    { 'x.json': '{"rows":[{"id":1,"name":"A","in":{"city":"Bern"}}]}' },
    ['<http://ex.org/1> <http://ex.org/p> "A" .', '<http://ex.org/1> <http://ex.org/p> "Bern" .'],
  ],
  [
    'a triple that several records make, or one makes twice, is written once',
    'm.yml',
    yamlMapping(
      '  p:\n    s: ex:$(city)\n    po:\n      - [ex:p, $(a)]\n      - [ex:p, $(b)]\n      - [ex:in, $(name)~iri]\n',
    ),
    { 'x.csv': `city,a,b,name\n${'X,1,1,u:x\nY,1,2,u:x\nX,1,1,u:y\n'.repeat(50)}` },
    [
      '<http://ex.org/X> <http://ex.org/in> <u:x> .',
      '<http://ex.org/X> <http://ex.org/in> <u:y> .',
      '<http://ex.org/X> <http://ex.org/p> "1" .',
      '<http://ex.org/Y> <http://ex.org/in> <u:x> .',
      '<http://ex.org/Y> <http://ex.org/p> "1" .',
      '<http://ex.org/Y> <http://ex.org/p> "2" .',
    ],
  ],
  [
    'also of JSON and in graphs',
    'm.ttl',
    newMap(
      'x.json',
      'JSONPath; rml:iterator "$[*]"',
      'rml:template "http://ex.org/{a}"; rml:graph ex:g',
      'rml:reference "$.b[*]"',
    ),
    {
      'x.json': JSON.stringify([
        { a: 1, b: ['x', 'x'] },
        { a: 1, b: ['x', 'y'] },
        { a: 1, b: [] },
      ]),
    },
    [
      '<http://ex.org/1> <http://ex.org/p> "x" <http://ex.org/g> .',
      '<http://ex.org/1> <http://ex.org/p> "y" <http://ex.org/g> .',
    ],
  ],
  [
    'a JSON array, by the types of its values',
    'm.yml',
    PERSON,
    {
      'x.json':
        '[{"id":1,"name":"A"},{"id":2,"name":7},{"id":3,"name":[true,null,"x"]},{"id":4,"name":null}]',
    },
    [
      '<http://ex.org/1> <http://ex.org/p> "A" .',
      '<http://ex.org/2> <http://ex.org/p> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .',
      '<http://ex.org/3> <http://ex.org/p> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> .',
      '<http://ex.org/3> <http://ex.org/p> "x" .',
    ],
  ],
  [
    'JSON Lines, an object a line',
    'm.yml',
    PERSON,
    { 'x.jsonl': '{"id":1,"name":"A"}\n\n{"id":2,"name":0.5}\r\n{"id":3}' },
    [
      '<http://ex.org/1> <http://ex.org/p> "A" .',
      '<http://ex.org/2> <http://ex.org/p> "5.0E-1"^^<http://www.w3.org/2001/XMLSchema#double> .',
    ],
  ],
  [
    'JSON Lines, of which each line has several records, or one',
    'm.yml',
    yamlMapping(
      ['$.a.items[*]', '$[*].a.items.*', '$[*]']
        .map(
          (iterator, n) =>
            `  p${n}:\n    sources: [["x.jsonl~jsonpath", "${iterator}"]]\n    s: ex:${n}/$(id)\n    po:\n      - [ex:p, $(name)]\n`,
        )
        .join(''),
    ),
    {
      'x.jsonl':
        '{"id":0,"name":"O","a":{"items":[{"id":1,"name":"A"},{"id":2,"name":"B"}]}}\n{"a":null}\n{"a":{}}',
    },
    [
      '<http://ex.org/0/1> <http://ex.org/p> "A" .',
      '<http://ex.org/0/2> <http://ex.org/p> "B" .',
      '<http://ex.org/1/1> <http://ex.org/p> "A" .',
      '<http://ex.org/1/2> <http://ex.org/p> "B" .',
      '<http://ex.org/2/0> <http://ex.org/p> "O" .',
    ],
  ],
  ...[
    '{"records":[{"recordid":"r","fields":{"id":"1","name":"A"}}]}',
    '[{"recordid":"r","fields":{"id":"1","name":"A"}}]',
    '{"total_count":1,"results":[{"id":"1","name":"A"}]}',
    '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"id":"1","name":"A"}}]}',
    '{"id":"1","name":"A"}',
  ].map(
    content =>
      [
        `the usual shapes of documents: ${content.slice(0, 20)}`,
        'm.yml',
        PERSON,
        { 'x.json': content },
        ['<http://ex.org/1> <http://ex.org/p> "A" .'],
      ] as const,
  ),
  [
    'a dataset of a portal, whatever its file is called',
    'm.yml',
    yamlMapping('  p:\n    sources: s\n    s: ex:$(id)\n    po:\n      - [ex:p, $(name)]\n').replace(
      'mappings:',
      "sources:\n  s: ['d.json~jsonpath', '$.[*].fields']\nmappings:",
    ),
    { 'x.json': '{"records":[{"fields":{"id":"1","name":"A"}}]}' },
    ['<http://ex.org/1> <http://ex.org/p> "A" .'],
  ],
  [
    'links are between resources of one record',
    'm.yml',
    yamlMapping(
      '  p:\n    s: ex:p/$(id)\n    po:\n      - [ex:in, c]\n  c:\n    s: ex:c/$(city)\n    po:\n      - [ex:of, p]\n',
    ),
    { 'x.csv': 'id,city\n1,Bern\n2,\n' },
    [
      '<http://ex.org/c/Bern> <http://ex.org/of> <http://ex.org/p/1> .',
      '<http://ex.org/p/1> <http://ex.org/in> <http://ex.org/c/Bern> .',
    ],
  ],
  [
    'several files, each with its own rules',
    'm.yml',
    yamlMapping(
      "  a:\n    sources:\n      - ['a.csv~csv']\n    s: ex:$(x)\n    po:\n      - [ex:p, $(y)]\n" +
        "  b:\n    sources:\n      - ['b.json~jsonpath', '$.list[*]']\n    s: ex:$(k)\n    po:\n      - [ex:q, $(v.w)]\n",
    ),
    { 'b.json': '{"list":[{"k":"B","v":{"w":"deep"}}]}', 'a.csv': 'x,y\nA,1\n' },
    ['<http://ex.org/A> <http://ex.org/p> "1" .', '<http://ex.org/B> <http://ex.org/q> "deep" .'],
  ],
  [
    'numbers of JSON lose nothing',
    'm.yml',
    PERSON,
    {
      'x.json':
        '[{"id":12345678901234567891,"name":-98765432109876543210},{"id":"1234567890123456789","name":1.5}]',
    },
    [
      '<http://ex.org/12345678901234567891> <http://ex.org/p> "-98765432109876543210"^^<http://www.w3.org/2001/XMLSchema#integer> .',
      '<http://ex.org/1234567890123456789> <http://ex.org/p> "1.5E0"^^<http://www.w3.org/2001/XMLSchema#double> .',
    ],
  ],
  [
    'a whole object is no literal',
    'm.yml',
    PERSON,
    {
      'x.json': '[{"id":1,"name":{"a":12345678901234567891}},{"id":2,"name":[[1],{}]},{"id":3,"name":"C"}]',
    },
    ['<http://ex.org/3> <http://ex.org/p> "C" .'],
  ],
  [
    'the number of a record',
    'm.yml',
    yamlMapping('  p:\n    s: ex:$(recordid)\n    po:\n      - [ex:p, $(x)]\n'),
    { 'x.csv': 'x\na\nb\n' },
    ['<http://ex.org/1> <http://ex.org/p> "a" .', '<http://ex.org/2> <http://ex.org/p> "b" .'],
  ],
  [
    'values of JSON are text in the first RML',
    'm.ttl',
    oldMap('x.json', JSON_RECORDS, 'rr:template "http://ex.org/{id}"', 'rml:reference "$.n"'),
    { 'x.json': '{"rows":[{"id":1,"n":10},{"id":2,"n":false}]}' },
    ['<http://ex.org/1> <http://ex.org/p> "10" .', '<http://ex.org/2> <http://ex.org/p> "false" .'],
  ],
  [
    'and have a type in the new one',
    'm.ttl',
    newMap('x.json', JSON_RECORDS, 'rml:template "http://ex.org/{$.id}"', 'rml:reference "$.n[*]"'),
    { 'x.json': '{"rows":[{"id":1,"n":[10]},{"id":2,"n":[]}]}' },
    ['<http://ex.org/1> <http://ex.org/p> "10"^^<http://www.w3.org/2001/XMLSchema#integer> .'],
  ],
  [
    'what is no IRI is left out by the first RML',
    'm.ttl',
    oldMap('x.csv', 'CSV', 'rml:reference "a"', 'rml:reference "a"'),
    { 'x.csv': 'a\nCarlos\nJuan Daniel\nhttp://ex.org/<x>\n' },
    ['<http://base.org/Carlos> <http://ex.org/p> "Carlos" .'],
  ],
  [
    'text in mappings and data is never run',
    'm.ttl',
    newMap(
      'x.csv',
      'CSV',
      'rml:template "http://ex.org/{a}"',
      'rml:template "$& {b} $1"; rml:termType rml:Literal',
    ),
    { 'x.csv': 'a,b\n{b},"#{process.exit(1)} $& {a} ""\\\n"\n' },
    ['<http://ex.org/%7Bb%7D> <http://ex.org/p> "$& #{process.exit(1)} $& {a} \\"\\\\\\n $1" .'],
  ],
]

t.test('mappings over files', async t => {
  for (const [about, name, mapping, files, lines] of MAPPED_FILES) {
    const outcome = await mapped(temporaryFolder(t), name, mapping, files)
    t.strictSame(
      outcome.diagnostics.filter(({ severity }) => severity !== 'info'),
      [],
      about,
    )
    t.strictSame(outcome.lines, lines, about)
  }
})

t.test('an empty cell is no value, in whatever language the mapping is written', async t => {
  const person =
    'mappings:\n  p:\n    s: http://ex.org/$(id)\n    po: [[http://ex.org/p, $(name)], [http://ex.org/p, $(name), xsd:token], [http://ex.org/p, "-$(name)"]]\n'
  const three = (start: string, ns: 'rr' | 'rml', datatype: string) =>
    `${start.slice(0, start.indexOf(`${ns}:predicateObjectMap`))}${ns}:predicateObjectMap
      [ ${ns}:predicate ex:p; ${ns}:objectMap [ rml:reference "name" ], [ rml:reference "name"; ${ns}:datatype ${datatype} ], [ ${ns}:template "-{name}"; ${ns}:termType ${ns}:Literal ] ] .\n`
  const token = '<http://www.w3.org/2001/XMLSchema#token>'
  const old = three(oldMap('x.csv', 'CSV', 'rr:template "http://ex.org/{id}"', ''), 'rr', token)
  const fresh = three(newMap('x.csv', 'CSV', 'rml:template "http://ex.org/{id}"', ''), 'rml', token)
  const nulls = (mapping: string, ...texts: readonly string[]) =>
    mapping.replace(
      'rml:path "x.csv"',
      `rml:path "x.csv"; ${texts.map(text => `rml:null "${text}"`).join('; ')}`,
    )
  const ann = ['"-Ann"', '"Ann"', `"Ann"^^${token}`].sort()
  const rows: readonly (readonly [
    string,
    string,
    string,
    csv: string,
    objects: readonly string[],
    report: RegExp,
  ])[] = [
    ...(
      [
        ['YARRRML', 'm.yml', person],
        ['the first RML', 'm.ttl', old],
        ['RML', 'm.ttl', fresh],
      ] as const
    ).flatMap(([about, file, mapping]) =>
      ['1,Ann\n2,\n', '1,Ann\n2\n', '1,Ann\n2,\n,\n"3",\n'].map(
        cells =>
          [
            `${about}: ${JSON.stringify(cells)}`,
            file,
            mapping,
            cells,
            ann,
            /; empty cells are no values, "" is an empty text\n/,
          ] as const,
      ),
    ),
    [
      'a source with its own',
      'm.ttl',
      nulls(fresh, '-'),
      '1,Ann\n2,-\n',
      ann,
      /"-" is no value, an empty cell is one\n/,
    ],
    [
      'and both',
      'm.ttl',
      nulls(fresh, '-', ''),
      '1,Ann\n2,-\n3,\n',
      ann,
      /empty cells and "-" are no values\n/,
    ],
    ...(
      [
        ['YARRRML', 'm.yml', person],
        ['RML', 'm.ttl', fresh],
      ] as const
    ).map(
      ([about, file, mapping]) =>
        [
          `${about}: a text that is empty is one`,
          file,
          mapping,
          '1,\n2,""\n"",x\n',
          ['""', `""^^${token}`, '"-"'].sort(),
          /"" is an empty text\n/,
        ] as const,
    ),
    [
      'all that is empty',
      'm.ttl',
      nulls(fresh, ''),
      '1,Ann\n2,""\n3,\n',
      ann,
      /; empty cells are no values\n/,
    ],
    [
      'empty texts on wish',
      'm.ttl',
      nulls(fresh, '-'),
      '2,\n',
      ['""', `""^^${token}`, '"-"'].sort(),
      /an empty cell is one\n/,
    ],
  ]
  for (const [about, file, mapping, cells, objects, report] of rows) {
    const { lines, inputs } = await mapped(temporaryFolder(t), file, mapping, {
      'x.csv': `id,name\n${cells}`,
    })
    // Tables in UTF-16 are read as texts, not as bytes.
    const asTexts = Buffer.from(`\ufeffid,name\n${cells}`, 'utf16le')
    t.strictSame(
      (await mapped(temporaryFolder(t), file, mapping, { 'x.csv': asTexts })).lines,
      lines,
      `${about}: as texts`,
    )
    t.strictSame(lines.map(line => line.split(' ').slice(2, -1).join(' ')).sort(), objects, about)
    const text = reportText({
      mapping: file,
      prefixes: {},
      diagnostics: [],
      inputs,
      triples: 3,
      dataErrors: 0,
    })
    t.match(text, report, about)
  }
})

t.test('a join over several values of JSON is told, for it leads to other records', async t => {
  const folder = temporaryFolder(t)
  const mapping = `sources: {s: [j.json~jsonpath, '$[*]']}
mappings:
  p:
    source: s
    s: http://e.org/$(id)
    po:
      - {p: foaf:knows, o: {mapping: q, condition: {function: equal, parameters: [[str1, $(d)], [str2, $(d)]]}}}
  q: {source: s, s: http://d.org/$(d), po: [[a, foaf:Group]]}
`
  const files = (...values: readonly unknown[]) => ({
    'j.json': JSON.stringify(values.map((d, id) => ({ id, d }))),
  })
  const one = await mapped(folder, 'j.yml', mapping, files('a', ['b'], 'a'))
  t.strictSame([one.lines.length, one.diagnostics], [5, []])
  const { diagnostics } = await mapped(folder, 'j.yml', mapping, files('a', ['a', 'b']))
  t.match(diagnostics, [{ code: 'unsupported', severity: 'error', place: { line: 7, column: 52 } }])
})

t.test('columns of one name are told once', async t => {
  const mapping =
    'mappings:\n  p:\n    s: http://ex.org/$(id)\n    po: [[foaf:name, "$(a) $(a)"], [foaf:nick, $(a)], [foaf:age, $(b)]]\n'
  const { lines, diagnostics } = await mapped(temporaryFolder(t), 'm.yml', mapping, {
    'x.csv': 'id,a,b,a, a,c,c\n1,A,B,C,D,E,F\n',
  })
  t.match(diagnostics, [
    { code: 'column-repeated', severity: 'warning', message: /^x.csv has 3 columns "a"/, place: { line: 4 } },
  ])
  t.equal(diagnostics.length, 1, 'columns that nothing refers to do no harm')
  t.match(lines[1], /"A A"/, 'the first is read')
})

t.test('the base of relative IRIs', async t => {
  const source = 'rml:reference "a"'
  const files = { 'x.csv': 'a\nb\n' }
  const fresh = newMap('x.csv', 'CSV', source, source)
  const based = fresh.replace('rml:logicalSource', 'rml:baseIRI <http://own.org/>; rml:logicalSource')
  const subject = async (mapping: string, base?: string) =>
    (await mapped(temporaryFolder(t), 'm.ttl', mapping, files, base)).lines[0]?.split(' ')[0]
  t.equal(await subject(fresh), '<http://example.com/b>')
  t.equal(await subject(fresh, 'http://given.org/'), '<http://given.org/b>')
  t.equal(await subject(based, 'http://given.org/'), '<http://own.org/b>')
  t.equal(await subject(oldMap('x.csv', 'CSV', source, source)), '<http://base.org/b>')
})

t.test('what is wrong with files and mappings', async t => {
  const csv = { 'x.csv': 'id,name\n1,Ann\n' }
  const json = (content: string) => ({ 'x.json': content })
  const reference = 'rml:reference "name"'
  const subject = 'rml:template "http://ex.org/{id}"'
  const rows: readonly (readonly [
    mapping: string,
    files: Files,
    code: string,
    line: number,
    told: RegExp,
  ])[] = [
    [newMap('x.csv', 'CSV', subject, 'rml:reference "nmae"'), csv, 'reference-unknown-field', 6, /no column/],
    [newMap('y.csv', 'CSV', subject, reference), csv, 'source-unknown', 3, /"y.csv" is none/],
    [
      newMap('x.json', 'JSONPath; rml:iterator "$.rows[*]]"', subject, reference),
      json('{}'),
      'reference-syntax',
      3,
      /character 10/,
    ],
    [
      newMap('x.json', JSON_RECORDS, subject, reference),
      json('{"rows":[{"id":1}]}'),
      'reference-unknown-field',
      6,
      /no value/,
    ],
    [
      newMap('x.json', JSON_RECORDS, subject, reference),
      json('{"rows":[{"id":1,"name":[1]}]}'),
      'value-shape',
      6,
      /whole array/,
    ],
    [
      newMap('x.json', JSON_RECORDS, subject, reference),
      json('{"rows":[{"id":1,"name":{}}]}'),
      'value-shape',
      6,
      /object/,
    ],
  ]
  for (const [mapping, files, code, line, described] of rows) {
    const { diagnostics, lines } = await mapped(temporaryFolder(t), 'm.ttl', mapping, files)
    t.match(diagnostics[0], { code, severity: 'error', message: described, place: { line } })
    if (code !== 'value-shape') t.strictSame(lines, [], code)
  }
  const twoSources = `mappings:
  a:
    sources: [['a.csv~csv']]
    s: http://ex.org/$(x)
    po:
      - [http://ex.org/p, b]
  b:
    sources: [['b.csv~csv']]
    s: http://ex.org/$(x)
    po:
      - [http://ex.org/p, $(x)]
`
  const strange = await mapped(temporaryFolder(t), 'm.yml', twoSources, {
    'a.csv': 'x\n1\n',
    'b.csv': 'x\n1\n',
  })
  t.match(strange.diagnostics, [{ code: 'unsupported', severity: 'error', place: { line: 6 } }])
  const unnamed = 'mappings:\n  a:\n    s: http://ex.org/$(x)\n    po:\n      - [http://ex.org/p, $(x)]\n'
  const several = await mapped(temporaryFolder(t), 'm.yml', unnamed, { 'a.csv': 'x\n', 'b.csv': 'x\n' })
  t.match(several.diagnostics, [{ code: 'source-unknown', message: /2 files/ }])
  const absent = await mapped(temporaryFolder(t), 'm.yml', unnamed, json('[{"y":1}]'))
  t.match(absent.diagnostics, [{ code: 'reference-unknown-field', severity: 'warning' }])
  t.notOk(hasErrors(absent.diagnostics), 'portals leave out what is null')

  const broken: readonly (readonly [formulation: string, files: Files, line: number])[] = [
    ['JSONPath; rml:iterator "$[*]"', json('[{"id":1},\n{"id":2'), 2],
    ['JSONPath; rml:iterator "$[*]"', json('['.repeat(2000)), 1],
    ['CSV', { 'x.csv': 'id,name\n1,"x\n' }, 2],
  ]
  for (const [formulation, files, line] of broken) {
    const [file = ''] = Object.keys(files)
    const run = mapped(temporaryFolder(t), 'm.ttl', newMap(file, formulation, subject, reference), files)
    await t.rejects(run, { code: 'SourceUnreadable', place: { file, line } })
  }
})

t.test('data errors and the report', async t => {
  const fresh = newMap('x.csv', 'CSV', 'rml:reference "a"', 'rml:reference "a"')
  const files = { 'x.csv': 'a\nhttp://ex.org/1\na b\n' }
  const outcome = await mapped(temporaryFolder(t), 'm.ttl', fresh, files)
  t.equal(outcome.dataErrors, 1)
  t.equal(outcome.lines.length, 1, 'the rest is written')
  const report = reportText({
    mapping: 'm.ttl',
    prefixes: { ex: 'http://ex.org/' },
    diagnostics: [],
    inputs: outcome.inputs,
    triples: 1,
    dataErrors: 1,
  })
  t.match(report, /^x\.csv: 2 records, 1 distinct triple; empty cells are no values, "" is an empty text\n/)
  t.match(report, /1 no valid IRI\n {4}no valid IRI: "a b" \(record 2\)\n/)
  t.match(report, /1 distinct triple in all, and 1 data error\n$/)
  const none = await mapped(temporaryFolder(t), 'm.ttl', fresh, { 'x.csv': 'a\n' })
  const empty = {
    mapping: 'm.ttl',
    prefixes: {},
    diagnostics: [],
    inputs: none.inputs,
    triples: 0,
    dataErrors: 0,
  }
  t.match(reportText(empty), /^x\.csv: 0 records, 0 distinct triples[\s\S]*0 distinct triples in all\n$/)
})

async function lodestone(...args: readonly string[]) {
  const child = spawn(process.execPath, [BINARY, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, out, error }
}

t.test('files of other formats are named', async t => {
  const folder = temporaryFolder(t)
  const mapping = (source: string) =>
    `sources:\n  s: ${source}\nmappings:\n  p: {source: s, s: http://e.org/$(id), po: [[a, foaf:Person]]}\n`
  const rows: readonly (readonly [file: string, content: string, reason: RegExp])[] = [
    ['c.xlsx', 'PK\x03\x04\x14', /XLSX/],
    ['c.parquet', 'PAR1\x15', /Parquet/],
    ['c.xml', '<r><p id="1"/></r>', /XML/],
    ['c.csv', '<?xml version="1.0"?><r/>', /XML/],
    ['c.txt', '\ufeff[{"id": 1}]', /JSON, and is read as a table/],
  ]
  for (const [file, content, message] of rows)
    await t.rejects(mapped(folder, 'm.yml', mapping(`[${file}~csv]`), { [file]: content }), {
      code: 'SourceUnreadable',
      message,
    })
  const csv = await mapped(folder, 'm.yml', mapping('[c.csv~csv]'), { 'c.csv': 'id,<a>\n1,2\n' })
  t.equal(csv.lines.length, 1)
  const json = mapping("[j.json~jsonpath, '$.a[0:2]']")
  const { diagnostics } = await mapped(folder, 'm.yml', json, { 'j.json': '{}' })
  t.match(diagnostics, [{ code: 'reference-syntax', place: { line: 2, column: 24 } }])
})

t.test('files that are no mappings', async t => {
  const folder = temporaryFolder(t)
  const file = path.join(folder, 'm.yml')
  const utf16 = Buffer.from('\ufeffmappings:\n', 'utf16le')
  for (const bytes of [utf16, Buffer.from(utf16).swap16()]) {
    writeFileSync(file, bytes)
    t.throws(() => mappingFileText(file), { code: 'MappingInvalid', message: /UTF-16.*UTF-8/ })
  }
  writeFileSync(file, ' '.repeat(2 ** 22 + 1))
  t.throws(() => mappingFileText(file), { code: 'MappingInvalid', message: /4194305 bytes/ })
  t.throws(() => mappingFileText(path.join(folder, 'x')), {
    code: 'SourceUnreadable',
    message: /no such file/,
  })
  for (const command of [
    ['map', folder, file],
    ['mapping', 'check', folder],
  ]) {
    const { code, stderr } = await run(command)
    t.equal(code, 1, command.join(' '))
    t.match(stderr, /it is a folder/)
    t.notMatch(stderr, /EISDIR|readFileSync/)
  }
})

t.test('lodestone map as a process: exit codes and streams', async t => {
  const graphs = newMap(
    'x.csv',
    'CSV',
    'rml:template "http://ex.org/{a}"; rml:graph ex:g',
    'rml:reference "a"',
  )
  const folder = temporaryFolder(t, {
    'm.yml':
      'prefixes:\n  ex: http://ex.org/\nmappings:\n  p:\n    s: ex:$(a)\n    po:\n      - [ex:p, $(a)]\n',
    'bad.yml': 'mappings:\n  p:\n    s: http://ex.org/$(a)\n    po:\n      - [http://ex.org/p, $(b)]\n',
    'broken.yml': 'mappings: [',
    'graphs.ttl': graphs,
    'x.csv': 'a\n1\n2\n',
  })
  const [good, bad, broken, named, data] = ['m.yml', 'bad.yml', 'broken.yml', 'graphs.ttl', 'x.csv'].map(
    name => path.join(folder, name),
  ) as [string, string, string, string, string]
  const [turtle, quads, wrong] = await Promise.all([
    lodestone('map', good, data),
    lodestone('map', named, data, '--format', 'nquads', '--json'),
    lodestone('map', bad, data),
  ])
  const refused = [
    ['map', named, data],
    ['map', broken, data],
    ['map', good, `${data}x`],
    ['map', folder, data],
    ['map', good, data, '--base', 'x'],
  ]
  t.equal(turtle.code, 0, turtle.error)
  t.match(turtle.out, '@prefix ex: <http://ex.org/> .')
  t.equal(new Parser().parse(turtle.out).length, 2)
  t.match(turtle.error, '2 distinct triples in all')
  t.equal(quads.out.split('\n')[0], '<http://ex.org/1> <http://ex.org/p> "1" <http://ex.org/g> .')
  t.match(JSON.parse(quads.error), { triples: 2, inputs: [{ records: 2 }] })
  t.match(wrong, { code: 1, out: '', error: /bad\.yml:5:\d+: error reference-unknown-field/ })
  t.match(await Promise.all(refused.map(run)), [
    { code: 2, stdout: '', stderr: /--format nquads/ },
    { code: 1, stdout: '', stderr: /broken\.yml:1:\d+: error/ },
    { code: 1, stdout: '', stderr: /no such file/ },
    { code: 1, stdout: '', stderr: /folder/ },
    { code: 2, stdout: '', stderr: /--base x/ },
  ])
})
