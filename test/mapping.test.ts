import oxigraph from 'oxigraph'
import t from 'tap'
import { compileMapping, type RecordMapper } from '../src/mapping/compile.ts'
import { directMapping } from '../src/mapping/direct.ts'
import type { Mapping, ObjectMap, ResourceRule, Segment, StatementRule, TermMap } from '../src/mapping/ir.ts'
import { WrittenTriple } from '../src/mapping/triple-text.ts'
import { type FieldType, field } from '../src/model/field.ts'
import type { DatasetRecord, Value } from '../src/model/value.ts'
import { literalType } from '../src/rdf/literals.ts'
import { parseTriples } from '../src/rdf/ntriples-reader.ts'
import { GEO, RDF, XSD } from '../src/rdf/vocab.ts'

const BASE = 'http://localhost:8080'
const ID = 'a'.repeat(40)
const SUBJECT = `${BASE}/ld/resources/x/records/${ID}`
const record = (...values: Value[]): DatasetRecord => ({ id: ID, position: 7, values })

function run(map: RecordMapper, ...records: readonly DatasetRecord[]): string {
  const out = new WrittenTriple()
  for (const one of records) map(one, out)
  return out.take().toString()
}

function stored(text: string): string {
  const store = new oxigraph.Store()
  store.load(text, { format: 'application/n-triples' })
  return store.query('CONSTRUCT WHERE { ?s ?p ?o }', { results_format: 'application/n-triples' }) as string
}

const sorted = (text: string) => text.trimEnd().split('\n').sort()

t.test('the direct mapping writes each value as the store keeps it', async t => {
  const cases: readonly (readonly [FieldType, Value, string | null, string])[] = [
    ['text', 'Zoë "K"\n\u0000\\', 'Zoë "K"\n\u0000\\', XSD.string],
    ['text', '', '', XSD.string],
    ['text', 'x\ud800', 'x\ufffd', XSD.string],
    ['text', null, null, XSD.string],
    ['int', 9007199254740991, '9007199254740991', XSD.integer],
    ['int', -1, '-1', XSD.integer],
    ['int', 0, '0', XSD.integer],
    ['double', 1e21, '1000000000000000000000', XSD.double],
    ['double', 1e-7, '0.0000001', XSD.double],
    ['double', 123 + 2 ** -15, '123.00003051757813', XSD.double],
    ['boolean', false, 'false', XSD.boolean],
    ['date', '0999-02-28', '0999-02-28', XSD.date],
    ['datetime', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z', XSD.dateTime],
    ['datetime', '2024-02-29T23:59:59.123456Z', '2024-02-29T23:59:59.123456Z', XSD.dateTime],
    ['geo_point_2d', { lon: 2.35, lat: 48.8566 }, 'POINT(2.35 48.8566)', GEO.wktLiteral],
    ['geo_shape', { type: 'Point', coordinates: [1, 2, 3] }, 'POINT(1 2)', GEO.wktLiteral],
    [
      'geo_shape',
      {
        type: 'LineString',
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
      'LINESTRING(1 2, 3 4)',
      GEO.wktLiteral,
    ],
    [
      'geo_shape',
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 0],
          ],
        ],
      },
      'POLYGON((0 0, 1 0, 1 1, 0 0))',
      GEO.wktLiteral,
    ],
    ['geo_shape', { type: 'MultiPolygon', coordinates: [] }, 'MULTIPOLYGON EMPTY', GEO.wktLiteral],
    [
      'geo_shape',
      { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [1, 2] }] },
      'GEOMETRYCOLLECTION(POINT(1 2))',
      GEO.wktLiteral,
    ],
  ]
  for (const [type, value, text, datatype] of cases) {
    const fields = [field('2020', type)]
    const lines = run(compileMapping(directMapping(BASE, { id: 'x', fields }), fields).map, record(value))
    const name = `${type} ${JSON.stringify(value)}`
    if (text === null) {
      t.equal(lines, '', `${name} makes no triple`)
      continue
    }
    t.equal(stored(lines), lines, `${name} comes back byte for byte`)
    t.strictSame(
      [...parseTriples(lines)],
      [
        {
          subject: { type: 'iri', value: SUBJECT },
          predicate: { type: 'iri', value: `${BASE}/ld/ontologies/x/_2020` },
          object: { type: 'literal', value: text, datatype, language: '' },
        },
      ],
      name,
    )
  }
})

t.test('a multivalued field makes a triple for each element, and triples are counted', async t => {
  const fields = [field('tags', 'text', { multivalued: true }), field('n', 'int')]
  const { map, report } = compileMapping(directMapping(BASE, { id: 'x', fields }), fields)
  const out = new WrittenTriple()
  map(record(['a', 'b', 'c'], 1), out)
  map(record(null, 2), out)
  t.equal(out.triples, 5)
  t.strictSame(
    report.map(({ made, nulls }) => [made, nulls]),
    [
      [2, 0],
      [3, 1],
      [2, 0],
    ],
    'the subject, and each field',
  )
  t.equal(out.take().toString().split('\n').length - 1, 5)
  t.equal(out.take().length, 0, 'a piece that was taken is empty')
})

t.test('pieces are bounded and lose nothing', async t => {
  const fields = [field('a', 'text')]
  const { map } = compileMapping(directMapping(BASE, { id: 'x', fields }), fields)
  const out = new WrittenTriple()
  const sizes: number[] = []
  let text = ''
  const take = () => {
    const piece = out.take()
    sizes.push(piece.length)
    text += piece.toString()
  }
  for (let i = 0; i < 60; i++) {
    map(record(i % 2 === 0 ? 'x'.repeat(500_000) : '東'.repeat(300_000)), out)
    if (out.isFull()) take()
  }
  take()
  t.equal(text.split('\n').length - 1, 60)
  t.ok(sizes.length > 3 && sizes.every(size => size < 10 * 2 ** 20), `sizes ${sizes.join(' ')}`)
})

t.test('templates, constants and references of a mapping of its own', async t => {
  const fields = [
    field('name', 'text'),
    field('url', 'text'),
    field('tags', 'text', { multivalued: true }),
    field('n', 'int'),
  ]
  const [name, url, tags, n] = fields.map(known => ({ type: 'field', name: known.name }) as const)
  if (name === undefined || url === undefined || tags === undefined || n === undefined)
    throw new Error('no fields')
  const text = (constant: string) => ({ type: 'constant', text: constant }) as const
  const mapping: Mapping = {
    resources: [
      {
        key: 'city',
        subject: { type: 'iri', segments: [text('http://x/city/'), name] },
        statements: [
          { predicate: RDF.type, object: { type: 'iri', segments: [text('http://x/City')] } },
          { predicate: 'http://x/page', object: { type: 'iri', segments: [url] } },
          {
            predicate: 'http://x/tag',
            object: { type: 'iri', segments: [text('http://x/tag/'), tags, text('/'), n] },
          },
          {
            predicate: 'http://x/label',
            object: { type: 'literal', segments: [text('{a} $& '), name], language: 'fr' },
          },
          { predicate: 'http://x/size', object: { type: 'literal', segments: [n], datatype: XSD.decimal } },
        ],
      },
    ],
  }
  const { map, report } = compileMapping(mapping, fields)
  const expected = [
    `<http://x/city/a%2Fb%20Zo\u00eb> <${RDF.type}> <http://x/City> .`,
    '<http://x/city/a%2Fb%20Zo\u00eb> <http://x/page> <urn:isbn:123> .',
    '<http://x/city/a%2Fb%20Zo\u00eb> <http://x/tag> <http://x/tag/p%20q/5> .',
    '<http://x/city/a%2Fb%20Zo\u00eb> <http://x/tag> <http://x/tag/r/5> .',
    '<http://x/city/a%2Fb%20Zo\u00eb> <http://x/label> "{a} $& a/b Zo\u00eb"@fr .',
    `<http://x/city/a%2Fb%20Zo\u00eb> <http://x/size> "5"^^<${XSD.decimal}> .`,
  ]
  const lines = run(map, record('a/b Zo\u00eb', 'urn:isbn:123', ['p q', 'r'], 5))
  t.strictSame(sorted(lines), expected.toSorted())
  t.strictSame(sorted(stored(lines)), expected.toSorted(), 'the store takes them')
  t.equal(run(map, record(null, 'urn:x:y', null, null)), '', 'without a subject there is nothing')
  t.equal(run(map, record('', 'urn:x:y', null, null)), '', 'nor with an empty one')
  const bad = run(map, record('c', 'http://x/a b', null, null))
  t.notMatch(bad, 'http://x/page', 'an invalid IRI makes no triple')
  t.equal(report.find(({ predicate }) => predicate === 'http://x/page')?.invalidIri, 1, 'and is counted')
  const object = { type: 'literal', segments: [text('two\nlines\n'), name] } as const
  const resources = mapping.resources.map(each => ({
    ...each,
    statements: [{ predicate: 'http://x/note', object }],
  }))
  const described = compileMapping({ ...mapping, resources }, fields).report.at(-1)
  t.equal(described?.term, 'two lines $(name)', 'a rule is told in one line')
})

const constant = (text: string) => ({ type: 'constant', text }) as const
const of = (name: string) => ({ type: 'field', name }) as const
const iri = (...segments: readonly Segment[]) => ({ type: 'iri', segments }) as const
const natural = (name: string) => ({ type: 'natural', field: name }) as const
const EX = 'http://x/'

/** One resource `http://x/s/$(id)` with one statement; the record's values are `id`, then those given. */
function statement(
  object: ObjectMap,
  more: Partial<StatementRule> = {},
  others: readonly ResourceRule[] = [],
) {
  const rule = {
    key: 's',
    subject: iri(constant(`${EX}s/`), of('id')),
    statements: [{ predicate: `${EX}p`, object, ...more }],
  }
  return { resources: [rule, ...others] }
}

const typed = (datatype: string, name = 'a') =>
  ({ type: 'literal', segments: [of(name)], datatype: XSD.string.replace('string', datatype) }) as const
const lang = (language: string | readonly Segment[]) =>
  ({ type: 'literal', segments: [of('a')], language }) as const
const NO_VALUES = { id: '1', a: null, many: null, n: null, where: null, any: null }

/** Object maps and values, the terms that they make, and why there is none. */
const TERMS: readonly (readonly [
  string,
  ObjectMap,
  Partial<Record<keyof typeof NO_VALUES, Value>>,
  string,
  string?,
])[] = [
  ['a template', iri(constant('http://x/'), of('a')), { a: "o'k/é" }, '<http://x/o%27k%2Fé>'],
  [
    'two references',
    iri(constant('http://x/'), of('a'), constant('/'), of('n')),
    { a: 'q', n: 1.5 },
    '<http://x/q/1.5>',
  ],
  [
    'values are no templates',
    iri(constant('http://x/'), of('a'), constant('-'), of('id')),
    { a: '$(id)' },
    '<http://x/%24%28id%29-1>',
  ],
  ['an absent value', iri(constant('http://x/'), of('a')), {}, '', 'null'],
  ['an empty value in an IRI', iri(constant('http://x/'), of('a')), { a: '' }, '', 'null'],
  ['an empty literal', natural('a'), { a: '' }, '""'],
  ['a reference that is an IRI', iri(of('a')), { a: 'mailto:a@b.c' }, '<mailto:a@b.c>'],
  ['a reference that is none', iri(of('a')), { a: 'http://x/a b' }, '', 'invalid-iri'],
  ['a relative one', { ...iri(of('a')), base: 'http://b/' }, { a: 'x/y' }, '<http://b/x/y>'],
  ['a relative one that is none', { ...iri(of('a')), base: 'http://b/' }, { a: 'x y' }, '', 'invalid-iri'],
  [
    'a template for its authority',
    iri(constant('http://'), of('a'), constant('/')),
    { a: 'a b' },
    '<http://a%20b/>',
  ],
  [
    'a template for its port',
    iri(constant('http://x:'), of('a'), constant('/')),
    { a: '8x' },
    '',
    'invalid-iri',
  ],
  ['a template for its scheme', iri(of('a'), constant('://x')), { a: 'ü' }, '', 'invalid-iri'],
  ['a URI', { ...iri(constant('http://x/'), of('a')), encode: 'uri' }, { a: 'é/' }, '<http://x/%C3%A9%2F>'],
  [
    'values as they are',
    { ...iri(constant('http://x/'), of('a')), encode: 'none' },
    { a: 'a/b' },
    '<http://x/a/b>',
  ],
  [
    'values as they are that make none',
    { ...iri(constant('http://x/'), of('a')), encode: 'none' },
    { a: '<>' },
    '',
    'invalid-iri',
  ],
  ['several values', natural('many'), { many: ['x', 'y'] }, '"x" "y"'],
  [
    'several values in a template',
    iri(constant('http://x/'), of('many')),
    { many: ['x', 'y z'] },
    '<http://x/x> <http://x/y%20z>',
  ],
  ['some of several', iri(of('many')), { many: ['u:x', 'y z'] }, '<u:x>', 'invalid-iri'],
  ['a blank node', { type: 'blank', segments: [of('a')] }, { a: 'a b_' }, '_:ba_20_b_5f_'],
  ['a blank node of the record', { type: 'blank', segments: [] }, {}, `_:r${ID}_s`],
  ['the id of the record', natural('recordid'), {}, `"${ID}"`],
  ['the id in a template', iri(constant('http://x/'), { type: 'recordId' }), {}, `<http://x/${ID}>`],
  ['a number with a datatype', typed('decimal', 'n'), { n: 1.5 }, '"1.5"^^xsd:decimal'],
  ['a canonical form', typed('integer'), { a: '+007' }, '"7"^^xsd:integer'],
  ['a datatype that the store widens', typed('int'), { a: '7' }, '"7"^^xsd:integer'],
  ['out of its range', typed('byte'), { a: '300' }, '', 'ill-typed'],
  ['an ill-typed date', typed('date'), { a: '2023-02-29' }, '', 'ill-typed'],
  ['an ill-typed number', typed('double'), { a: 'abc' }, '', 'ill-typed'],
  [
    'an end of the day',
    typed('dateTime'),
    { a: '2023-12-31T24:00:00+00:00' },
    '"2024-01-01T00:00:00Z"^^xsd:dateTime',
  ],
  [
    'a datatype of others',
    { type: 'literal', segments: [of('a')], datatype: 'http://x/d' },
    { a: '?' },
    '"?"^^<http://x/d>',
  ],
  [
    'a datatype that is made',
    { type: 'literal', segments: [of('id')], datatype: [constant('http://x/'), of('a')] },
    { a: 'd' },
    '"1"^^<http://x/d>',
  ],
  [
    'a datatype that is none',
    { type: 'literal', segments: [of('id')], datatype: [of('a')] },
    { a: 'd d' },
    '',
    'invalid-datatype',
  ],
  ['a language', lang('fr-BE'), { a: 'x"' }, '"x\\""@fr-be'],
  ['a language that is made', lang([of('id')]), { id: 'de', a: 'x' }, '"x"@de'],
  ['a language that is none', lang([of('id')]), { id: 'no such', a: 'x' }, '', 'invalid-language'],
  ['a base direction of RDF 1.2', lang([of('id')]), { id: 'en--ltr', a: 'x' }, '', 'invalid-language'],
  ['geometry', natural('where'), { where: { lon: 1, lat: 2 } }, `"POINT(1 2)"^^<${GEO.wktLiteral}>`],
  [
    'geometry in a template',
    iri(constant('http://x/'), of('where')),
    { where: { lon: 1, lat: 2 } },
    '<http://x/POINT%281%202%29>',
  ],
  ['any integer', natural('any'), { any: [7] as never }, '"7"^^xsd:integer'],
  ['any number', natural('any'), { any: 0.5 }, '"5.0E-1"^^xsd:double'],
  ['any of several', natural('any'), { any: ['x', true] as never }, '"x" "true"^^xsd:boolean'],
  ['an object', natural('any'), { any: { lon: 1, lat: 2 } }, '', 'ill-typed'],
  ['a link to itself', { type: 'link', resource: 's' }, {}, '<http://x/s/1>'],
]

t.test('every kind of term, and what is left out and why', async t => {
  const columns = [
    field('id', 'text'),
    field('a', 'text'),
    field('many', 'text', { multivalued: true }),
    field('n', 'double'),
    field('where', 'geo_point_2d'),
    { name: 'any', type: 'any', multivalued: true },
  ] as const
  for (const [name, object, given, expected, reason] of TERMS) {
    const { map, report } = compileMapping(statement(object), columns)
    const { id = '1', a = null, many = null, n = null, where = null, any = null } = { ...NO_VALUES, ...given }
    const lines = run(map, record(id, a, many, n, where, any))
    const objects = lines
      .split('\n')
      .filter(line => line !== '')
      .map(line =>
        line
          .slice(line.indexOf(' <http://x/p> ') + 14, -2)
          .replace(/<http:\/\/www\.w3\.org\/2001\/XMLSchema#(\w+)>/, 'xsd:$1'),
      )
    t.equal(objects.join(' '), expected, name)
    t.strictSame(
      report[1]?.examples.map(example => [example.recordId, example.reason]),
      reason === undefined ? [] : [[ID, reason]],
      `${name}: what is left out`,
    )
    if (lines !== '')
      t.equal(stored(lines).split('\n').length, objects.length + 1, `${name}: the store takes it`)
  }
})

t.test('links join the subjects of one record, cycles too; graphs, inverse and made predicates', async t => {
  const columns = [field('id', 'text'), field('city', 'text'), field('many', 'text', { multivalued: true })]
  const city: ResourceRule = {
    key: 'city',
    subject: iri(constant(`${EX}c/`), of('city')),
    statements: [{ predicate: `${EX}home`, object: { type: 'link', resource: 's' } }],
  }
  const link = { type: 'link', resource: 'city' } as const
  const lines = (mapping: Mapping, ...values: Value[]) =>
    sorted(run(compileMapping(mapping, columns).map, record(...values)))
  t.strictSame(lines(statement(link, {}, [city]), 'a', 'b', null), [
    '<http://x/c/b> <http://x/home> <http://x/s/a> .',
    '<http://x/s/a> <http://x/p> <http://x/c/b> .',
  ])
  t.strictSame(lines(statement(link, {}, [city]), 'a', null, null), [''], 'no city, no link')
  t.strictSame(
    lines(statement(link, { inverse: true }, [city]), 'a', 'b', null)[1],
    '<http://x/c/b> <http://x/p> <http://x/s/a> .',
  )
  const twoSubjects = statement(link, {}, [city, { ...city, subject: iri(constant(`${EX}d/`), of('city')) }])
  t.equal(lines(twoSubjects, 'a', 'b', null).filter(line => line.includes('/p>')).length, 2, 'a link to both')
  const graphs = [iri(constant(`${EX}g/`), of('city')), iri(constant('http://w3id.org/rml/defaultGraph'))]
  t.strictSame(lines(statement(natural('id'), { graphs }), 'a', 'b', null), [
    '<http://x/s/a> <http://x/p> "a" .',
    '<http://x/s/a> <http://x/p> "a" <http://x/g/b> .',
  ])
  t.strictSame(
    lines(statement(natural('id'), { graphs: [graphs[0] as TermMap] }), 'a', null, null),
    [''],
    'no graph, no triple',
  )
  const lacking = compileMapping(statement(natural('city'), { graphs: [graphs[0] as TermMap] }), columns)
  run(lacking.map, record('a', null, null))
  t.match(lacking.report[1], { nulls: 1, examples: [{ reason: 'null' }] }, 'one record, counted once')
  t.equal(lacking.report[1]?.examples.length, 1)
  const predicate = iri(constant(`${EX}q/`), of('many'))
  t.strictSame(lines(statement(natural('id'), { predicate }), 'a', null, ['u', 'v']), [
    '<http://x/s/a> <http://x/q/u> "a" .',
    '<http://x/s/a> <http://x/q/v> "a" .',
  ])
  const product = iri(constant('u:'), of('many'), of('many'), of('many'))
  const many = Array.from({ length: 20 }, (_, i) => String.fromCharCode(97 + i))
  t.equal(lines(statement(product), 'a', null, many).length, 1000, 'products are bounded')
})

t.test('what several values of a record multiply to is bounded, and told once a record', async t => {
  const several = { multivalued: true }
  const columns = [field('id', 'text'), field('a', 'text', several), field('b', 'text', several)]
  const values = (count: number, name: string) => Array.from({ length: count }, (_, i) => `${name}${i}`)
  const link = { type: 'link', resource: 's' } as const
  const other: ResourceRule = {
    key: 'other',
    subject: iri(constant(`${EX}o/`), of('b')),
    statements: [{ predicate: `${EX}p`, object: link }],
  }
  const over = (object: ObjectMap, more: Partial<StatementRule> = {}): Mapping => ({
    resources: [
      {
        key: 's',
        subject: iri(constant(`${EX}s/`), of('a')),
        statements: [{ predicate: `${EX}p`, object, ...more }],
      },
    ],
  })
  const text = (...segments: Segment[]): TermMap => ({ type: 'literal', segments })
  const rows: readonly (readonly [string, Mapping, a: number, b: number, most: number, cut: number])[] = [
    ['subjects and objects', over(natural('b')), 1000, 1000, 1000, 1],
    ['few of both', over(natural('b')), 20, 30, 600, 0],
    ['some of both', over(natural('b')), 300, 300, 1200, 1],
    ['many subjects, one object', over(natural('id')), 5000, 1, 5000, 0],
    ['many subjects, a constant', over(iri(constant('http://x/c'))), 5000, 0, 5000, 0],
    ['one subject, many objects', over(natural('b')), 1, 5000, 5000, 0],
    ['a template of one list', over(text(constant('-'), of('id'), of('b'))), 1, 5000, 5000, 0],
    ['a template of two lists', over(text(of('b'), of('b'))), 1, 100, 1000, 1],
    ['a template of two lists and subjects', over(text(of('b'), of('b'))), 100, 100, 1000, 1],
    ['predicates', over(natural('b'), { predicate: iri(constant(`${EX}q/`), of('b')) }), 1, 200, 1000, 1],
    ['graphs', over(natural('b'), { graphs: [iri(constant(`${EX}g/`), of('b'))] }), 1, 200, 1000, 1],
    ['links', { resources: [other, ...over(natural('id')).resources] }, 500, 500, 1500, 1],
  ]
  for (const [name, mapping, a, b, max, cut] of rows) {
    const { map, report } = compileMapping(mapping, columns)
    for (let n = 1; n <= 3; n++) {
      const lines = run(map, record('1', values(a, 'a'), values(b, 'b')))
      const count = lines.split('\n').length - 1
      t.ok(count <= max && count >= Math.min(max, 500), `${name}: ${count}`)
      t.equal(Math.max(...report.map(rule => rule.cut)), n * cut, `${name}: told`)
    }
  }
})

t.test('a text that makes nothing is an example once, with its count', async t => {
  const { map, report } = compileMapping(statement(iri(of('a'))), [field('id', 'text'), field('a', 'text')])
  for (const [n, a] of ['n/a', '-', 'n/a', null, 'n/a', '-', null].entries()) run(map, record(String(n), a))
  t.match(report[1], { invalidIri: 5, nulls: 2 })
  t.strictSame(
    report[1]?.examples.map(({ reason, text, count }) => [reason, text, count]),
    [
      ['invalid-iri', 'n/a', 3],
      ['invalid-iri', '-', 2],
      ['null', '', 1],
      ['null', '', 1],
    ],
  )
})

t.test('what could never make a term is refused', async t => {
  const columns = [field('id', 'text')]
  for (const mapping of [
    statement(natural('nothing')),
    statement(iri(of('nothing'))),
    statement(iri(constant('no iri'))),
    statement({ type: 'link', resource: 'nobody' }),
    { resources: [{ key: 's', subject: natural('id'), statements: [] }] },
  ])
    t.throws(() => compileMapping(mapping, columns), { code: 'MappingInvalid' })
})

t.test('literals are kept as the store keeps them', async t => {
  const texts = (
    '007 +5 -0 99999999999999999999 300 -5 9223372036854775807 1.10 +.5 5. -0.0 000.500 0.1234567890123456789 1e3 INF +INF -INF NaN ' +
    '1e400 .5 0.1 16777217 1e-10 3.4028236e38 1e22 1.7976931348623157e308 5e-324 1e-46 123456.789 true 1 0 TRUE abc 2020-01-01+00:00 ' +
    '2020-01-01-05:00 2020-02-29 2019-02-29 -0001-01-01 12020-01-01 2020-01-01T00:00:00.000 2020-12-31T24:00:00Z -0001-12-31T24:00:00Z ' +
    '2020-01-01T00:00:00.1230+00:00 2020-01-01T00:00:00-14:00 24:00:00 10:00:00.50+00:00 2020+00:00 2020-01 --05 ---31 --02-29Z --02-30 ' +
    'P12M PT3600S P1Y2M3DT4H5M6.70S -PT0S P0D P0M P1M2D PT36H PT25H -P1D P PT P1YT PT60.0S P400D -P13M 0a YQ== 2020-04-31'
  ).split(' ')
  const types = (
    'integer int byte long decimal double float boolean date dateTime dateTimeStamp time gYear gYearMonth gMonth gDay gMonthDay ' +
    'duration yearMonthDuration dayTimeDuration hexBinary base64Binary'
  ).split(' ')
  for (const name of types) {
    const datatype = XSD.string.replace('string', name)
    const type = literalType(datatype)
    if (type === null) throw new Error(`${name} has no rules`)
    const taken = texts.filter(text => type.canonical(text) !== null)
    t.ok(taken.length > 0 && taken.length < texts.length, `${name} takes ${taken.length} of ${texts.length}`)
    for (const text of taken)
      t.equal(
        stored(`<u:s> <u:p> "${text}"^^<${datatype}> .`).trim(),
        `<u:s> <u:p> "${type.canonical(text)}"^^<${type.stored}> .`,
        `${name} ${text}`,
      )
  }
})
