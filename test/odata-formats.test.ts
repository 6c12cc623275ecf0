import t from 'tap'
import { errorBody } from '../src/api/odata/faults.ts'
import { entityContext, entityPath, feedContext, propertyContext } from '../src/api/odata/format/links.ts'
import {
  decimalText,
  doubleText,
  durationText,
  type Feed,
  type ODataAnswer,
  type PayloadFormat,
  rawText,
  setSheet,
} from '../src/api/odata/format/shape.ts'
import { writeAnswer } from '../src/api/odata/format/write.ts'
import { metadataJson, metadataXml, serviceDocument } from '../src/api/odata/service.ts'
import { type ColumnType, type EdmValue, type EntityColumn, entityModel } from '../src/model/edm.ts'
import { field } from '../src/model/field.ts'
import { TECHNICAL } from '../src/query/find-field.ts'

const ROOT = 'https://data.example.com/api/odata'
const PLACE = { root: ROOT }
const TYPES = 'com.example.data.odata.types'

const model = entityModel(
  {
    id: 'cities',
    fields: [
      field('name', 'text', { description: 'What it is called', label: 'Name & "more"' }),
      field('population', 'int'),
      field('score', 'double'),
      field('active', 'boolean'),
      field('founded', 'date'),
      field('updated', 'datetime'),
      field('tags', 'text', { multivalued: true }),
      field('location', 'geo_point_2d'),
      field('area', 'geo_shape'),
    ],
  },
  'data.example.com',
  'cities',
  TECHNICAL,
)
const columns = model.properties.map(({ name, type, collection }) => column(name, type, { collection }))

function column(name: string, type: ColumnType, more: Partial<EntityColumn> = {}): EntityColumn {
  return { name, type, collection: false, members: null, dynamic: false, ...more }
}

const FULL: readonly EdmValue[] = [
  'r1',
  '2024-01-02T03:04:05Z',
  ' "Köln" <&>\r\n\u0001',
  5,
  Number.POSITIVE_INFINITY,
  true,
  '1999-01-10',
  '2024-01-02T10:00:00.5Z',
  ['a', ' b'],
  { latitude: 45, longitude: 7.5 },
  '{"type":"Point"}',
]
const NULLS: readonly EdmValue[] = ["o'x/é", null, '', null, -0.5, null, null, null, [], null, null]

const feed: Feed = {
  model,
  columns,
  rows: [
    { id: 'r1', values: FULL },
    { id: "o'x/é", values: NULLS },
  ],
  count: 1500,
  next: `${ROOT}/cities?$count=true&$skiptoken=100`,
  context: 'cities',
  updated: '2024-01-02T03:04:05Z',
  title: 'cities',
}

const JSON4: PayloadFormat = {
  type: 'json',
  version: '4.0',
  level: 'minimal',
  ieee754: false,
  omitNulls: false,
}
const JSON3: PayloadFormat = { ...JSON4, version: '3.0' }
const VERBOSE: PayloadFormat = { ...JSON3, type: 'verbose' }
const VERBOSE2: PayloadFormat = { ...VERBOSE, version: '2.0' }
const ATOM2: PayloadFormat = { ...JSON4, type: 'atom', version: '2.0' }
const ATOM4: PayloadFormat = { ...JSON4, type: 'atom' }
const ATOM3: PayloadFormat = { ...JSON3, type: 'atom' }
const full = (manner: PayloadFormat): PayloadFormat => ({ ...manner, level: 'full' })

const write = (answer: ODataAnswer, manner: PayloadFormat) => writeAnswer(answer, manner, PLACE)
const NAME = '"name":" \\"Köln\\" <&>\\r\\n\\u0001"'
const SECOND = `${ROOT}/cities('o''x%2F%C3%A9')`

t.test('pages in JSON', async t => {
  const cases: readonly (readonly [string, PayloadFormat, string])[] = [
    [
      '4.0 minimal',
      JSON4,
      `{"@odata.context":"${ROOT}/$metadata#cities","@odata.count":1500,"value":[{"recordid":"r1","record_timestamp":"2024-01-02T03:04:05Z",${NAME},"population":5,"score":"INF","active":true,"founded":"1999-01-10","updated":"2024-01-02T10:00:00.5Z","tags":["a"," b"],"location":{"latitude":45,"longitude":7.5},"area":"{\\"type\\":\\"Point\\"}"},{"recordid":"o'x/é","record_timestamp":null,"name":"","population":null,"score":-0.5,"active":null,"founded":null,"updated":null,"tags":[],"location":null,"area":null}],"@odata.nextLink":"${ROOT}/cities?$count=true&$skiptoken=100"}`,
    ],
    [
      '4.0 full',
      full(JSON4),
      `{"@odata.context":"${ROOT}/$metadata#cities","@odata.count":1500,"value":[{"@odata.type":"#com.example.data.cities.cities","@odata.id":"${ROOT}/cities('r1')","@odata.readLink":"${ROOT}/cities('r1')","recordid":"r1","record_timestamp@odata.type":"#DateTimeOffset","record_timestamp":"2024-01-02T03:04:05Z",${NAME},"population@odata.type":"#Int64","population":5,"score@odata.type":"#Double","score":"INF","active":true,"founded@odata.type":"#Date","founded":"1999-01-10","updated@odata.type":"#DateTimeOffset","updated":"2024-01-02T10:00:00.5Z","tags@odata.type":"#Collection(String)","tags":["a"," b"],"location":{"@odata.type":"#${TYPES}.GeoPoint2D","latitude":45,"longitude":7.5},"area":"{\\"type\\":\\"Point\\"}"},{"@odata.type":"#com.example.data.cities.cities","@odata.id":"${SECOND}","@odata.readLink":"${SECOND}","recordid":"o'x/é","record_timestamp":null,"name":"","population":null,"score":-0.5,"active":null,"founded":null,"updated":null,"tags@odata.type":"#Collection(String)","tags":[],"location":null,"area":null}],"@odata.nextLink":"${ROOT}/cities?$count=true&$skiptoken=100"}`,
    ],
    [
      '4.0 with texts for long numbers, without nulls',
      { ...JSON4, ieee754: true, omitNulls: true },
      `{"@odata.context":"${ROOT}/$metadata#cities","@odata.count":"1500","value":[{"recordid":"r1","record_timestamp":"2024-01-02T03:04:05Z",${NAME},"population":"5","score":"INF","active":true,"founded":"1999-01-10","updated":"2024-01-02T10:00:00.5Z","tags":["a"," b"],"location":{"latitude":45,"longitude":7.5},"area":"{\\"type\\":\\"Point\\"}"},{"recordid":"o'x/é","name":"","score":-0.5,"tags":[]}],"@odata.nextLink":"${ROOT}/cities?$count=true&$skiptoken=100"}`,
    ],
    [
      '3.0 minimal',
      JSON3,
      `{"odata.metadata":"${ROOT}/$metadata#cities","odata.count":"1500","value":[{"recordid":"r1","record_timestamp":"2024-01-02T03:04:05Z",${NAME},"population":"5","score":"INF","active":true,"founded":"1999-01-10T00:00:00","updated":"2024-01-02T10:00:00.5Z","tags":["a"," b"],"location":{"latitude":45,"longitude":7.5},"area":"{\\"type\\":\\"Point\\"}"},{"recordid":"o'x/é","record_timestamp":null,"name":"","population":null,"score":-0.5,"active":null,"founded":null,"updated":null,"tags":[],"location":null,"area":null}],"odata.nextLink":"${ROOT}/cities?$count=true&$skiptoken=100"}`,
    ],
    [
      '3.0 full',
      full(JSON3),
      `{"odata.metadata":"${ROOT}/$metadata#cities","odata.count":"1500","value":[{"odata.type":"com.example.data.cities.cities","odata.id":"${ROOT}/cities('r1')","odata.editLink":"cities('r1')","recordid":"r1","record_timestamp@odata.type":"Edm.DateTimeOffset","record_timestamp":"2024-01-02T03:04:05Z",${NAME},"population@odata.type":"Edm.Int64","population":"5","score@odata.type":"Edm.Double","score":"INF","active":true,"founded@odata.type":"Edm.DateTime","founded":"1999-01-10T00:00:00","updated@odata.type":"Edm.DateTimeOffset","updated":"2024-01-02T10:00:00.5Z","tags@odata.type":"Collection(Edm.String)","tags":["a"," b"],"location":{"odata.type":"${TYPES}.GeoPoint2D","latitude":45,"longitude":7.5},"area":"{\\"type\\":\\"Point\\"}"},{"odata.type":"com.example.data.cities.cities","odata.id":"${SECOND}","odata.editLink":"cities('o''x%2F%C3%A9')","recordid":"o'x/é","record_timestamp":null,"name":"","population":null,"score":-0.5,"active":null,"founded":null,"updated":null,"tags@odata.type":"Collection(Edm.String)","tags":[],"location":null,"area":null}],"odata.nextLink":"${ROOT}/cities?$count=true&$skiptoken=100"}`,
    ],
    [
      '3.0 verbose',
      VERBOSE,
      `{"d":{"__count":"1500","results":[{"__metadata":{"id":"${ROOT}/cities('r1')","uri":"${ROOT}/cities('r1')","type":"com.example.data.cities.cities"},"recordid":"r1","record_timestamp":"/Date(1704164645000+0000)/",${NAME},"population":"5","score":"INF","active":true,"founded":"/Date(915926400000)/","updated":"/Date(1704189600500+0000)/","tags":{"__metadata":{"type":"Collection(Edm.String)"},"results":["a"," b"]},"location":{"__metadata":{"type":"${TYPES}.GeoPoint2D"},"latitude":45,"longitude":7.5},"area":"{\\"type\\":\\"Point\\"}"},{"__metadata":{"id":"${SECOND}","uri":"${SECOND}","type":"com.example.data.cities.cities"},"recordid":"o'x/é","record_timestamp":null,"name":"","population":null,"score":-0.5,"active":null,"founded":null,"updated":null,"tags":{"__metadata":{"type":"Collection(Edm.String)"},"results":[]},"location":null,"area":null}],"__next":"${ROOT}/cities?$count=true&$skiptoken=100"}}`,
    ],
  ]
  for (const [name, manner, expected] of cases) t.equal(write({ type: 'feed', feed }, manner), expected, name)
  const none = { ...feed, rows: [], count: null, next: null }
  t.equal(
    write({ type: 'feed', feed: none }, JSON4),
    `{"@odata.context":"${ROOT}/$metadata#cities","value":[]}`,
  )
  t.equal(
    write({ type: 'feed', feed: none }, JSON3),
    `{"odata.metadata":"${ROOT}/$metadata#cities","value":[]}`,
  )
  t.equal(write({ type: 'feed', feed: none }, VERBOSE), '{"d":{"results":[]}}')
})

t.test('rows that are no records tell the types that JSON does not', async t => {
  const computed: readonly (readonly [ColumnType, EdmValue])[] = [
    ['Edm.Int64', 3],
    ['Edm.Decimal', 1e-7],
    ['Edm.Double', 0.5],
    ['Edm.Double', Number.NaN],
    ['Edm.String', 'x'],
    ['Edm.Boolean', false],
    ['Edm.Date', '2020-01-02'],
    ['Edm.TimeOfDay', '10:30:00.5'],
    ['Edm.Duration', 93_784.5],
    ['Edm.Int64', null],
  ]
  const rows = {
    ...feed,
    columns: computed.map(([type], i) => column(`c${i}`, type, { dynamic: true })),
    rows: [{ id: null, values: computed.map(([, value]) => value) }],
    count: null,
    next: null,
    context: 'cities(c0)',
  }
  const body = (manner: PayloadFormat) => write({ type: 'feed', feed: rows }, manner)
  t.equal(
    body(JSON4),
    `{"@odata.context":"${ROOT}/$metadata#cities(c0)","value":[{"@odata.id":null,"c0@odata.type":"#Int64","c0":3,"c1@odata.type":"#Decimal","c1":1e-7,"c2":0.5,"c3@odata.type":"#Double","c3":"NaN","c4":"x","c5":false,"c6@odata.type":"#Date","c6":"2020-01-02","c7@odata.type":"#TimeOfDay","c7":"10:30:00.5","c8@odata.type":"#Duration","c8":"P1DT2H3M4.5S","c9":null}]}`,
  )
  t.match(body({ ...JSON4, ieee754: true }), '"c0":"3","c1@odata.type":"#Decimal","c1":"0.0000001"')
  t.match(
    body(JSON3),
    '"c7@odata.type":"Edm.Time","c7":"PT10H30M0.5S","c8@odata.type":"Edm.Time","c8":"P1DT2H3M4.5S"',
  )
  t.match(body(VERBOSE), '{"__metadata":{"type":"com.example.data.cities.cities"},"c0":"3","c1":"0.0000001"')
  t.match(body(ATOM4), '<entry><id>odata:transient:1</id>')
  t.match(
    body(ATOM4),
    '<d:c6 m:type="Date">2020-01-02</d:c6><d:c7 m:type="TimeOfDay">10:30:00.5</d:c7><d:c8 m:type="Duration">P1DT2H3M4.5S</d:c8><d:c9 m:null="true"/>',
  )
})

t.test('pages in Atom', async t => {
  const page = (manner: PayloadFormat) => write({ type: 'feed', feed }, manner).split('\n')
  const head = (version: string, rest: string) => [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<feed xml:base="${ROOT}/" xmlns="http://www.w3.org/2005/Atom" ${version}>`,
    `<id>${ROOT}/cities</id>`,
    '<title type="text">cities</title>',
    '<updated>2024-01-02T03:04:05Z</updated>',
    '<link rel="self" title="cities" href="cities"/>',
    '<m:count>1500</m:count>',
    rest,
  ]
  const next = `<link rel="next" href="${ROOT}/cities?$count=true&amp;$skiptoken=100"/>`
  const entry = (id: string, path: string, category: string, properties: string) =>
    `<entry><id>${id}</id><category ${category}/><link rel="self" title="cities" href="${path}"/><title/><updated>2024-01-02T03:04:05Z</updated><author><name/></author><content type="application/xml"><m:properties>${properties}</m:properties></content></entry>`
  const old =
    'term="com.example.data.cities.cities" scheme="http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"'
  t.strictSame(page(ATOM3), [
    ...head(
      'xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"',
      entry(
        `${ROOT}/cities('r1')`,
        "cities('r1')",
        old,
        '<d:recordid>r1</d:recordid><d:record_timestamp m:type="Edm.DateTimeOffset">2024-01-02T03:04:05Z</d:record_timestamp><d:name xml:space="preserve"> "Köln" &lt;&amp;&gt;&#13;\n\ufffd</d:name><d:population m:type="Edm.Int64">5</d:population><d:score m:type="Edm.Double">INF</d:score><d:active m:type="Edm.Boolean">true</d:active><d:founded m:type="Edm.DateTime">1999-01-10T00:00:00</d:founded><d:updated m:type="Edm.DateTimeOffset">2024-01-02T10:00:00.5Z</d:updated><d:tags m:type="Collection(Edm.String)"><d:element>a</d:element><d:element xml:space="preserve"> b</d:element></d:tags><d:location m:type="com.example.data.odata.types.GeoPoint2D"><d:latitude m:type="Edm.Double">45</d:latitude><d:longitude m:type="Edm.Double">7.5</d:longitude></d:location><d:area>{"type":"Point"}</d:area>',
      ),
    )
      .join('\n')
      .split('\n'),
    entry(
      SECOND,
      "cities('o''x%2F%C3%A9')",
      old,
      '<d:recordid>o\'x/é</d:recordid><d:record_timestamp m:null="true"/><d:name></d:name><d:population m:null="true"/><d:score m:type="Edm.Double">-0.5</d:score><d:active m:null="true"/><d:founded m:null="true"/><d:updated m:null="true"/><d:tags m:type="Collection(Edm.String)"></d:tags><d:location m:null="true"/><d:area m:null="true"/>',
    ),
    next,
    '</feed>',
    '',
  ])
  t.strictSame(page({ ...ATOM4, omitNulls: true }), [
    ...head(
      `xmlns:d="http://docs.oasis-open.org/odata/ns/data" xmlns:m="http://docs.oasis-open.org/odata/ns/metadata" m:context="${ROOT}/$metadata#cities"`,
      entry(
        `${ROOT}/cities('r1')`,
        "cities('r1')",
        'term="#com.example.data.cities.cities" scheme="http://docs.oasis-open.org/odata/ns/scheme"',
        '<d:recordid>r1</d:recordid><d:record_timestamp m:type="DateTimeOffset">2024-01-02T03:04:05Z</d:record_timestamp><d:name xml:space="preserve"> "Köln" &lt;&amp;&gt;&#13;\n\ufffd</d:name><d:population m:type="Int64">5</d:population><d:score m:type="Double">INF</d:score><d:active m:type="Boolean">true</d:active><d:founded m:type="Date">1999-01-10</d:founded><d:updated m:type="DateTimeOffset">2024-01-02T10:00:00.5Z</d:updated><d:tags m:type="#Collection(String)"><m:element>a</m:element><m:element xml:space="preserve"> b</m:element></d:tags><d:location m:type="#com.example.data.odata.types.GeoPoint2D"><d:latitude m:type="Double">45</d:latitude><d:longitude m:type="Double">7.5</d:longitude></d:location><d:area>{"type":"Point"}</d:area>',
      ),
    )
      .join('\n')
      .split('\n'),
    entry(
      SECOND,
      "cities('o''x%2F%C3%A9')",
      'term="#com.example.data.cities.cities" scheme="http://docs.oasis-open.org/odata/ns/scheme"',
      '<d:recordid>o\'x/é</d:recordid><d:name></d:name><d:score m:type="Double">-0.5</d:score><d:tags m:type="#Collection(String)"></d:tags>',
    ),
    next,
    '</feed>',
    '',
  ])
})

t.test('single entities', async t => {
  const entity = {
    ...feed,
    columns: [
      column('recordid', 'Edm.String'),
      column('location', 'Ods.GeoPoint2D', { members: ['longitude'] }),
    ],
    row: { id: 'r1', values: ['r1', { latitude: 1, longitude: 2 }] },
    context: 'cities(location/longitude)/$entity',
  }
  const cases: readonly (readonly [PayloadFormat, string])[] = [
    [
      JSON4,
      `{"@odata.context":"${ROOT}/$metadata#cities(location/longitude)/$entity","recordid":"r1","location":{"longitude":2}}`,
    ],
    [
      VERBOSE,
      `{"d":{"__metadata":{"id":"${ROOT}/cities('r1')","uri":"${ROOT}/cities('r1')","type":"com.example.data.cities.cities"},"recordid":"r1","location":{"__metadata":{"type":"${TYPES}.GeoPoint2D"},"longitude":2}}}`,
    ],
    [
      ATOM4,
      `<?xml version="1.0" encoding="UTF-8"?>\n<entry xml:base="${ROOT}/" xmlns="http://www.w3.org/2005/Atom" xmlns:d="http://docs.oasis-open.org/odata/ns/data" xmlns:m="http://docs.oasis-open.org/odata/ns/metadata" m:context="${ROOT}/$metadata#cities(location/longitude)/$entity"><id>${ROOT}/cities('r1')</id><category term="#com.example.data.cities.cities" scheme="http://docs.oasis-open.org/odata/ns/scheme"/><link rel="self" title="cities" href="cities('r1')"/><title/><updated>2024-01-02T03:04:05Z</updated><author><name/></author><content type="application/xml"><m:properties><d:recordid>r1</d:recordid><d:location m:type="#${TYPES}.GeoPoint2D"><d:longitude m:type="Double">2</d:longitude></d:location></m:properties></content></entry>\n`,
    ],
  ]
  for (const [manner, expected] of cases) t.equal(write({ type: 'entity', entity }, manner), expected)
})

t.test('values of properties', async t => {
  const property = (name: string, value: EdmValue, manner: PayloadFormat) => {
    const known = columns.find(({ name: other }) => other === name) ?? column(name, 'Edm.Double')
    const context = propertyContext('cities', 'r1', [name], known, manner.version, PLACE)
    return write({ type: 'property', property: { column: known, value, context } }, manner)
  }
  const at = (name: string) => `"@odata.context":"${ROOT}/$metadata#cities('r1')/${name}"`
  const old = (type: string) => `"odata.metadata":"${ROOT}/$metadata#${type}"`
  const point = { latitude: 1, longitude: 2 }
  const xml4 = (name: string, rest: string) =>
    `<?xml version="1.0" encoding="UTF-8"?>\n<m:value xmlns:d="http://docs.oasis-open.org/odata/ns/data" xmlns:m="http://docs.oasis-open.org/odata/ns/metadata" m:context="${ROOT}/$metadata#cities('r1')/${name}"${rest}\n`
  const xml3 = (name: string, rest: string) =>
    `<?xml version="1.0" encoding="UTF-8"?>\n<d:${name} xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"${rest}\n`
  const cases: readonly (readonly [string, EdmValue, PayloadFormat, string])[] = [
    ['name', 'x', JSON4, `{${at('name')},"value":"x"}`],
    ['name', 'x', full(JSON4), `{${at('name')},"value":"x"}`],
    ['name', null, JSON4, `{${at('name')},"value":null}`],
    ['population', 5, full(JSON4), `{${at('population')},"@odata.type":"#Int64","value":5}`],
    ['population', 5, { ...JSON4, ieee754: true }, `{${at('population')},"value":"5"}`],
    ['tags', ['a'], JSON4, `{${at('tags')},"value":["a"]}`],
    ['location', point, JSON4, `{${at('location')},"latitude":1,"longitude":2}`],
    [
      'location',
      point,
      full(JSON4),
      `{${at('location')},"@odata.type":"#${TYPES}.GeoPoint2D","latitude":1,"longitude":2}`,
    ],
    ['population', 5, JSON3, `{${old('Edm.Int64')},"value":"5"}`],
    ['founded', '2020-01-02', JSON3, `{${old('Edm.DateTime')},"value":"2020-01-02T00:00:00"}`],
    ['name', null, JSON3, `{${old('Edm.String')},"odata.null":true}`],
    ['location', point, JSON3, `{${old(`${TYPES}.GeoPoint2D`)},"latitude":1,"longitude":2}`],
    ['tags', [], JSON3, `{${old('Collection(Edm.String)')},"value":[]}`],
    ['name', 'x', VERBOSE, '{"d":{"name":"x"}}'],
    ['tags', [], VERBOSE, '{"d":{"tags":{"__metadata":{"type":"Collection(Edm.String)"},"results":[]}}}'],
    ['tags', ['a', '"b"'], VERBOSE2, '{"d":{"tags":"[\\"a\\",\\"\\\\\\"b\\\\\\"\\"]"}}'],
    ['tags', [], ATOM2, xml3('tags', '>[]</d:tags>')],
    [
      'updated',
      '2024-01-02T10:00:00.123456Z',
      ATOM2,
      xml3('updated', ' m:type="Edm.DateTimeOffset">2024-01-02T10:00:00.123Z</d:updated>'),
    ],
    [
      'updated',
      '2024-01-02T10:00:00.123456Z',
      ATOM3,
      xml3('updated', ' m:type="Edm.DateTimeOffset">2024-01-02T10:00:00.123456Z</d:updated>'),
    ],
    ['name', 'a<b', ATOM4, xml4('name', '>a&lt;b</m:value>')],
    ['population', 5, ATOM4, xml4('population', ' m:type="Int64">5</m:value>')],
    ['tags', ['a'], ATOM4, xml4('tags', ' m:type="#Collection(String)"><m:element>a</m:element></m:value>')],
    ['name', null, ATOM4, xml4('name', ' m:null="true"/>')],
    [
      'tags',
      ['a'],
      ATOM3,
      xml3('tags', ' m:type="Collection(Edm.String)"><d:element>a</d:element></d:tags>'),
    ],
    ['name', null, ATOM3, xml3('name', ' m:null="true"/>')],
    ['latitude', 1.5, ATOM3, xml3('latitude', ' m:type="Edm.Double">1.5</d:latitude>')],
  ]
  for (const [name, value, manner, expected] of cases)
    t.equal(property(name, value, manner), expected, `${name} ${manner.type} ${manner.version}`)
})

t.test('references', async t => {
  const page = {
    type: 'page',
    set: 'cities',
    ids: ['r1', "o'x/é"],
    count: 2,
    next: 'https://x/?a&b',
  } as const
  const one = { type: 'one', set: 'cities', id: 'r1' } as const
  const first = `${ROOT}/cities('r1')`
  const meta = 'http://docs.oasis-open.org/odata/ns/metadata'
  const xml = '<?xml version="1.0" encoding="UTF-8"?>\n'
  const cases = [
    [one, JSON4, `{"@odata.context":"${ROOT}/$metadata#$ref","@odata.id":"${first}"}`],
    [
      page,
      JSON4,
      `{"@odata.context":"${ROOT}/$metadata#Collection($ref)","@odata.count":2,"value":[{"@odata.id":"${first}"},{"@odata.id":"${SECOND}"}],"@odata.nextLink":"https://x/?a&b"}`,
    ],
    [one, JSON3, `{"odata.metadata":"${ROOT}/$metadata#cities/$links","url":"${first}"}`],
    [one, VERBOSE, `{"d":{"uri":"${first}"}}`],
    [
      page,
      VERBOSE,
      `{"d":{"__count":"2","results":[{"uri":"${first}"},{"uri":"${SECOND}"}],"__next":"https://x/?a&b"}}`,
    ],
    [one, ATOM4, `${xml}<m:ref xmlns:m="${meta}" m:context="${ROOT}/$metadata#$ref" id="${first}"/>\n`],
    [
      page,
      ATOM4,
      `${xml}<feed xmlns="http://www.w3.org/2005/Atom" xmlns:m="${meta}" m:context="${ROOT}/$metadata#Collection($ref)">\n<m:count>2</m:count>\n<m:ref id="${first}"/>\n<m:ref id="${SECOND}"/>\n<link rel="next" href="https://x/?a&amp;b"/>\n</feed>\n`,
    ],
    [one, ATOM3, `${xml}<uri xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices">${first}</uri>\n`],
  ] as const
  for (const [references, manner, expected] of cases)
    t.equal(write({ type: 'references', references }, manner), expected)
})

const METAS = { default: { title: 'Cities & <towns>', publisher: 'City of X', keyword: ['a', 'b'] } }
const sheets = [setSheet(model, METAS, '2024-01-02T03:04:05Z')]

t.test('service documents', async t => {
  const xml = '<?xml version="1.0" encoding="UTF-8"?>\n'
  const cases: readonly (readonly [PayloadFormat, string])[] = [
    [
      JSON4,
      `{"@odata.context":"${ROOT}/$metadata","value":[{"name":"cities","kind":"EntitySet","url":"cities","title":"Cities & <towns>"}]}`,
    ],
    [JSON3, `{"odata.metadata":"${ROOT}/$metadata","value":[{"name":"cities","url":"cities"}]}`],
    [VERBOSE, '{"d":{"EntitySets":["cities"]}}'],
    [
      ATOM4,
      `${xml}<service xml:base="${ROOT}/" xmlns="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:m="http://docs.oasis-open.org/odata/ns/metadata" m:context="${ROOT}/$metadata">\n<workspace>\n<atom:title type="text">Container</atom:title>\n<collection href="cities" m:name="cities"><atom:title type="text">Cities &amp; &lt;towns&gt;</atom:title></collection>\n</workspace>\n</service>\n`,
    ],
    [
      ATOM3,
      `${xml}<service xml:base="${ROOT}/" xmlns="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom">\n<workspace>\n<atom:title type="text">Container</atom:title>\n<collection href="cities"><atom:title type="text">cities</atom:title></collection>\n</workspace>\n</service>\n`,
    ],
  ]
  for (const [manner, expected] of cases) t.equal(serviceDocument(sheets, manner, PLACE), expected)
})

t.test('metadata documents', async t => {
  const text = metadataXml(sheets, PLACE, '4.0')
  for (const part of [
    '<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">',
    // CSDL 4.0, section 3.2, has no attributes here, and the XML schema allows none.
    '<edmx:DataServices>\n',
    `<Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="${TYPES}" Alias="Ods">`,
    '<ComplexType Name="GeoPoint2D">\n<Property Name="latitude" Type="Edm.Double"/>\n',
    '<EntitySet Name="cities" EntityType="com.example.data.cities.cities">\n<Annotation Term="Org.OData.Publication.V1.PublisherName" String="City of X"/>\n<Annotation Term="Org.OData.Publication.V1.LastModified" String="2024-01-02T03:04:05Z"/>\n<Annotation Term="Org.OData.Publication.V1.Keywords" String="a, b"/>\n<Annotation Term="Org.OData.Display.V1.DisplayName" String="Cities &amp; &lt;towns&gt;"/>\n',
    '<Annotation Term="Capabilities.ConformanceLevel" EnumMember="Org.OData.Capabilities.V1.ConformanceLevelType/Intermediate"/>',
    '<Annotation Term="Capabilities.InsertRestrictions"><Record><PropertyValue Property="Insertable" Bool="false"/></Record></Annotation>',
    '<Annotation Term="Capabilities.FilterRestrictions"><Record><PropertyValue Property="NonFilterableProperties"><Collection><PropertyPath>area</PropertyPath></Collection></PropertyValue></Record></Annotation>',
    '<EntityType Name="cities">\n<Key><PropertyRef Name="recordid"/></Key>\n<Property Name="recordid" Type="Edm.String" Nullable="false">',
    '<Property Name="record_timestamp" Type="Edm.DateTimeOffset" Precision="9">',
    '<Property Name="name" Type="Edm.String"><Annotation Term="Core.Description" String="What it is called"/><Annotation Term="Org.OData.Display.V1.DisplayName" String="Name &amp; &quot;more&quot;"/></Property>',
    '<Property Name="population" Type="Edm.Int64"/>\n<Property Name="score" Type="Edm.Double"/>\n<Property Name="active" Type="Edm.Boolean"/>\n<Property Name="founded" Type="Edm.Date"/>\n<Property Name="updated" Type="Edm.DateTimeOffset" Precision="9"/>\n<Property Name="tags" Type="Collection(Edm.String)" Nullable="false"/>\n<Property Name="location" Type="Ods.GeoPoint2D"/>\n<Property Name="area" Type="Edm.String"/>\n',
  ])
    t.ok(text.includes(part), part)
  t.equal(text.split('<EntityContainer').length, 2, 'one container')

  const old = metadataXml(sheets, PLACE, '3.0')
  for (const part of [
    '<edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">',
    'm:DataServiceVersion="3.0" m:MaxDataServiceVersion="3.0">',
    '<EntityContainer Name="Container" m:IsDefaultEntityContainer="true">\n<EntitySet Name="cities" EntityType="com.example.data.cities.cities"/>\n</EntityContainer>',
    `<Annotations Target="${TYPES}.Container/cities">\n<ValueAnnotation Term="Org.OData.Publication.V1.PublisherName" String="City of X"/>`,
    '<Property Name="name" Type="Edm.String"/>\n',
    `<Property Name="location" Type="${TYPES}.GeoPoint2D"/>\n`,
    '<Property Name="tags" Type="Collection(Edm.String)" Nullable="false"/>\n',
    '<Property Name="founded" Type="Edm.DateTime"/>\n<Property Name="updated" Type="Edm.DateTimeOffset"/>\n',
  ])
    t.ok(old.includes(part), part)
  t.notMatch(old, /Documentation|"Ods\./)

  const json = JSON.parse(metadataJson(sheets, PLACE))
  t.match(json, {
    $Version: '4.01',
    $EntityContainer: `${TYPES}.Container`,
    [TYPES]: {
      $Alias: 'Ods',
      GeoPoint2D: { $Kind: 'ComplexType', latitude: { $Type: 'Edm.Double', $Nullable: true } },
      Container: {
        $Kind: 'EntityContainer',
        cities: {
          $Collection: true,
          $Type: 'com.example.data.cities.cities',
          '@Org.OData.Publication.V1.Keywords': 'a, b',
          '@Capabilities.InsertRestrictions': { Insertable: false },
          '@Capabilities.SortRestrictions': { NonSortableProperties: ['area'] },
        },
        '@Capabilities.ConformanceLevel': 'Intermediate',
      },
    },
    'com.example.data.cities': {
      cities: {
        $Kind: 'EntityType',
        $Key: ['recordid'],
        record_timestamp: { $Type: 'Edm.DateTimeOffset', $Nullable: true, $Precision: 9 },
        name: { $Nullable: true, '@Core.Description': 'What it is called' },
      },
    },
  })
  const { tags } = json['com.example.data.cities'].cities
  t.strictSame(tags, { $Collection: true })
  t.match(json['com.example.data.cities'].cities.location, { $Type: 'Ods.GeoPoint2D' })
})

t.test('what is told of a set where its publisher says nothing', async t => {
  const { title, publisher, modified, keywords } = setSheet(model, {}, '2024-01-02T03:04:05Z')
  t.strictSame([title, publisher, modified, keywords], ['cities', null, '2024-01-02T03:04:05Z', []])
})

t.test('errors in JSON and XML', async t => {
  const cases: readonly (readonly [PayloadFormat, string])[] = [
    [JSON4, `{"error":{"message":"No 'x' & <y>","code":404}}`],
    [JSON3, `{"odata.error":{"code":"404","message":{"lang":"en-US","value":"No 'x' & <y>"}}}`],
    [VERBOSE, `{"error":{"code":"404","message":{"lang":"en-US","value":"No 'x' & <y>"}}}`],
    [
      ATOM4,
      `<?xml version="1.0" encoding="UTF-8"?>\n<m:error xmlns:m="http://docs.oasis-open.org/odata/ns/metadata"><m:code>404</m:code><m:message>No 'x' &amp; &lt;y&gt;</m:message></m:error>\n`,
    ],
    [
      ATOM3,
      `<?xml version="1.0" encoding="UTF-8"?>\n<m:error xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><m:code>404</m:code><m:message xml:lang="en-US">No 'x' &amp; &lt;y&gt;</m:message></m:error>\n`,
    ],
  ]
  for (const [manner, expected] of cases) t.equal(errorBody("No 'x' & <y>", 404, manner), expected)
})

t.test('texts of numbers, durations and dates', async t => {
  const cases: readonly (readonly [unknown, string | undefined])[] = [
    [doubleText(Number.NEGATIVE_INFINITY), '-INF'],
    [doubleText(1e300), '1e+300'],
    [doubleText(12_345_678_901_234_567_000), '1.2345678901234567e+19'],
    [doubleText(-0.000012345678901234568), '-1.2345678901234568e-5'],
    [doubleText(12_345.678_901_234_5), '12345.6789012345'],
    [decimalText(12_345_678_901_234_567_000), '12345678901234567000'],
    [decimalText(1e21), '1000000000000000000000'],
    [decimalText(-1.5e-9), '-0.0000000015'],
    [durationText(0), 'PT0S'],
    [durationText(-1), '-PT1S'],
    [durationText(86_400), 'P1D'],
    [durationText(3661.000001), 'PT1H1M1.000001S'],
    [rawText(true, column('x', 'Edm.Boolean'), '4.0'), 'true'],
    [rawText('2020-01-02', column('x', 'Edm.Date'), '3.0'), '2020-01-02T00:00:00'],
    [rawText({ latitude: 1, longitude: 2 }, column('x', 'Ods.GeoPoint2D'), '4.0'), undefined],
    [entityPath('a b', "x'y/ü\ud800"), "a%20b('x''y%2F%C3%BC%EF%BF%BD')"],
    [feedContext('cities', null, '4.0'), 'cities'],
    [feedContext('cities', ['name', 'location/latitude'], '4.0'), 'cities(name,location/latitude)'],
    [feedContext('cities', ['name'], '3.0'), 'cities&$select=name'],
    [entityContext('cities', ['name'], '4.0'), 'cities(name)/$entity'],
    [entityContext('cities', null, '3.0'), 'cities/@Element'],
    [entityContext('cities', ['name'], '3.0'), 'cities/@Element&$select=name'],
  ]
  for (const [found, expected] of cases) t.equal(found, expected)
})
