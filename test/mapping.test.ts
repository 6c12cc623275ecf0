import oxigraph from 'oxigraph'
import t from 'tap'
import { compileMapping, type RecordMapper } from '../src/mapping/compile.ts'
import { directMapping } from '../src/mapping/direct.ts'
import { indexMapper } from '../src/mapping/index-graph.ts'
import type { Mapping } from '../src/mapping/ir.ts'
import { TripleText } from '../src/mapping/triple-text.ts'
import { type FieldType, field } from '../src/model/field.ts'
import { storedPosition } from '../src/model/positions.ts'
import type { DatasetRecord, Value } from '../src/model/value.ts'
import { parseTriples } from '../src/rdf/ntriples-reader.ts'
import { GEO, INDEX, RDF, XSD } from '../src/rdf/vocab.ts'

const BASE = 'http://localhost:8080'
const ID = 'a'.repeat(40)
const SUBJECT = `${BASE}/ld/resources/x/records/${ID}`
const record = (...values: Value[]): DatasetRecord => ({ id: ID, position: 7, values })

function run(map: RecordMapper, ...records: readonly DatasetRecord[]): string {
  const out = new TripleText()
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
  const out = new TripleText()
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
  const out = new TripleText()
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
})

t.test('the index has position, values and words of each record', async t => {
  const fields = [
    field('name', 'text'),
    field('n', 'double'),
    field('where', 'geo_point_2d'),
    field('ok', 'boolean'),
    field('day', 'date'),
  ]
  const values: Value[] = [
    'Zo\u00eb "Zoe"\u0000\\\n\u{1f600}',
    1.5e21,
    { lon: 1, lat: 2 },
    true,
    '2024-01-02',
  ]
  const lines = run(indexMapper(BASE, { id: 'x', fields }), record(...values))
  const found = new Map(
    [...parseTriples(stored(lines))].map(({ predicate, object }) => [predicate.value, object]),
  )
  t.strictSame(found.get(INDEX.position), {
    type: 'literal',
    value: String(storedPosition(7)),
    datatype: XSD.integer,
    language: '',
  })
  t.equal(found.get(INDEX.json)?.value, JSON.stringify(values), 'JSON is kept byte for byte')
  t.strictSame(JSON.parse(found.get(INDEX.json)?.value ?? ''), values)
  t.equal(found.get(INDEX.text)?.value, ' zoe 1500000000000000000000 2024 01 02 ')
  t.strictSame(sorted(stored(lines)), sorted(lines))
})
