import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { Builder } from 'flatbuffers'
import Libsql from 'libsql'
import t from 'tap'
import { Fault, faultText } from '../src/errors/errors.ts'
import { wktOf } from '../src/formats/projection.ts'
import { zip } from '../src/formats/zip-stream.ts'
import { parseWkb } from '../src/model/wkb.ts'
import { openSource, type SourceOptions } from '../src/sources/open.ts'
import {
  unprojectorOfCode,
  unprojectorOfProjJson,
  unprojectorOfWkt,
} from '../src/sources/reference-system.ts'
import { temporaryFolder } from './support/folder.ts'
import { understoodIn } from './support/understood.ts'

const folder = temporaryFolder(t, {})
const understood = (name: string, content: string | Buffer | null, options?: SourceOptions) =>
  understoodIn(folder, name, content, options)

async function answerOf(name: string, content: string | Buffer | null): Promise<string> {
  return understood(name, content).then(
    ({ fields }) => `accepted: ${fields.join(', ')}`,
    error => (error instanceof Fault ? faultText(error) : String(error)),
  )
}

/** Bytes of an alphabet with one byte a letter: those that ASCII lacks are given. */
function bytes(text: string, letters: Readonly<Record<string, number>>): Buffer {
  return Buffer.from([...text].map(letter => letters[letter] ?? letter.charCodeAt(0)))
}

type Case = readonly [name: string, content: string | Buffer, fields: readonly string[], records: unknown[][]]

const FEATURE =
  '{"type":"Feature","properties":{"n":1},"geometry":{"type":"Point","coordinates":[8.5,47.5]}}\n'

const TEXTS: readonly Case[] = [
  ...['lines.geojson', 'lines.geojsonl', 'lines.json', 'sequence.geojsons', 'sequence.json'].map(
    (name): Case => [
      name,
      `${name.startsWith('sequence') ? '\x1e' : ''}${FEATURE}`.repeat(2),
      ['n: int', 'geometry: geo_point_2d'],
      Array.from({ length: 2 }, () => [1, { lat: 47.5, lon: 8.5 }]),
    ],
  ),
  ...(
    [
      ['name\nSmith, John\nCher\nDoe, Jane\n', 'name: text', ['Smith, John', 'Cher', 'Doe, Jane']],
      ['ratio\n1,5\n2\n3,25\n', 'ratio: double ,', [1.5, 2, 3.25]],
      ['amount\n1,234.50\n2,345,678.00\n3.00\n', 'amount: double 1,234.5', [1234.5, 2345678, 3]],
      ['place\n48.85,2.35\n43.70,7.26\n', 'place: text', ['48.85,2.35', '43.70,7.26']],
      [
        'url\nhttp://a.example/1\nhttp://b.example/2\n',
        'url: text',
        ['http://a.example/1', 'http://b.example/2'],
      ],
      ['time\n10:00\n11:30\n12:45\n', 'time: text', ['10:00', '11:30', '12:45']],
      ['day\n2023/01/02\n2023/03/04\n', 'day: date', ['2023-01-02', '2023-03-04']],
      ['full name\nAda Lovelace\nAlan Turing\n', 'full_name: text', ['Ada Lovelace', 'Alan Turing']],
      ['city\nNew York\nParis\n', 'city: text', ['New York', 'Paris']],
      ['city\n""\nParis\n\n""\n', 'city: text', [null, 'Paris', null]],
      ['remark\nGood; slow\nfine\nok\n', 'remark: text', ['Good; slow', 'fine', 'ok']],
    ] as const
  ).map(([text, field, values]): Case => ['one.csv', text, [field], values.map(value => [value])]),
  [
    'titled.csv',
    'Report 2020\nName, Count\nA, 3\nB, 4\n',
    ['name: text', 'count: int'],
    [
      ['A', 3],
      ['B', 4],
    ],
  ],
  [
    'lakh.tsv',
    'n\tp\n12,34,567.89\t₹ 1,23,456\n99,999.00\t₹ 99,999\n',
    ['n: double 1,234.5', 'p: int ₹1,234'],
    [
      [1234567.89, 123456],
      [99999, 99999],
    ],
  ],
  ...(
    [
      ['"columns":["name","h"],"index":[0,1],"data":[["Oak",1.5],["Fir",2]]', ''],
      ['"columns":["name","h"],"index":["a","b"],"data":[["Oak",1.5],["Fir",2]]', 'index: text'],
      ['"fields":[{"name":"name"},{"name":"h"}],"rows":[["Oak",1.5],["Fir",2]]', ''],
      ['"meta":{"view":{"columns":[{"name":"name"},{"name":"h"}]}},"data":[["Oak",1.5],["Fir",2]]', ''],
      ['"name":{"0":"Oak","1":"Fir"},"h":{"0":1.5,"1":2}', ''],
      ['"name":{"3":"Oak","7":"Fir"},"h":{"3":1.5,"7":2}', 'key: int'],
      [
        '"schema":{"fields":[{"name":"name"},{"name":"h"},{"name":"i"}]},"data":[{"name":"Oak","h":1.5},{"name":"Fir","h":2}]',
        '',
      ],
      [
        '"result":{"fields":[{"id":"name"},{"id":"h"},{"id":"i"}],"records":[{"name":"Oak","h":1.5},{"name":"Fir","h":2}]}',
        '',
      ],
      ['"fields":[{"name":"Oak","h":1.5},{"name":"Fir","h":2}],"sources":[{"title":"A"}]', ''],
    ] as const
  ).map(
    ([text, label]): Case => [
      'frame.json',
      `{${text}}`,
      [...(label === '' ? [] : [label]), 'name: text', 'h: double'],
      label === ''
        ? [
            ['Oak', 1.5],
            ['Fir', 2],
          ]
        : label === 'key: int'
          ? [
              [3, 'Oak', 1.5],
              [7, 'Fir', 2],
            ]
          : [
              ['a', 'Oak', 1.5],
              ['b', 'Fir', 2],
            ],
    ],
  ),
  [
    'header-of-two-rows.csv',
    'region,2019,2020\n,men,women\nNorth,1.5,2\nSouth,2.5,3\nEast,3.5,4\n',
    ['region: text', 'men: double', 'women: int'],
    [
      ['North', 1.5, 2],
      ['South', 2.5, 3],
      ['East', 3.5, 4],
    ],
  ],
  [
    'years-below-names.csv',
    'Region;Population;;Area;\n;2020;2021;land;water\nNorth;100;110;5,5;1,1\nSouth;200;210;6,5;2,1\nEast;300;310;7,5;3,1\n',
    [
      'region: text',
      'population_2020: int',
      'population_2021: int',
      'area_land: double ,',
      'area_water: double ,',
    ],
    [
      ['North', 100, 110, 5.5, 1.1],
      ['South', 200, 210, 6.5, 2.1],
      ['East', 300, 310, 7.5, 3.1],
    ],
  ],
  [
    'groups-above-all-names.csv',
    ';2019;;2020;\nRegion;men;women;men;women\nNorth;1;2;3;4\nSouth;5;6;7;8\nEast;9;8;7;6\n',
    ['region: text', '2019_men: int', '2019_women: int', '2020_men: int', '2020_women: int'],
    [
      ['North', 1, 2, 3, 4],
      ['South', 5, 6, 7, 8],
      ['East', 9, 8, 7, 6],
    ],
  ],
  [
    'groups-of-texts.csv',
    'Name,Address,,Phone\n,Street,City,\nA,x,y,p\nB,x,y,p\n',
    ['name: text', 'address_street: text', 'address_city: text', 'phone: text'],
    [
      ['A', 'x', 'y', 'p'],
      ['B', 'x', 'y', 'p'],
    ],
  ],
  [
    'units-below-names.csv',
    'Trees 2020,,,\nstation,height,area,day\n-,[m],in 1000 km²,yyyy-mm-dd\nA,1.5,2,2020-01-01\nB,2.5,3,2020-01-02\n',
    ['station: text', 'height: double', 'area: int', 'day: date'],
    [
      ['A', 1.5, 2, '2020-01-01'],
      ['B', 2.5, 3, '2020-01-02'],
    ],
  ],
  [
    'units-below-groups.csv',
    `Region,Share,,n\n,men,women,\n,%,%,\n${'North,1.5,2,3\n'.repeat(3)}`,
    ['region: text', 'share_men: double', 'share_women: int', 'n: int'],
    Array.from({ length: 3 }, () => ['North', 1.5, 2, 3]),
  ],
  [
    'units-below-years.csv',
    'Kreis;Einwohner;;Land\n;2019;2020;\n;Anzahl;Anzahl;km²\nA;10;4;1,5\nB;11;5;2,5\nC;12;6;3,5\n',
    ['kreis: text', 'einwohner_2019: int', 'einwohner_2020: int', 'land: double ,'],
    [
      ['A', 10, 4, 1.5],
      ['B', 11, 5, 2.5],
      ['C', 12, 6, 3.5],
    ],
  ],
  [
    'units-of-records.csv',
    'unit,n,kind\nm,,x\nkg,2,x\nl,3,y\n',
    ['unit: text', 'n: int', 'kind: text'],
    [
      ['m', null, 'x'],
      ['kg', 2, 'x'],
      ['l', 3, 'y'],
    ],
  ],
  [
    'negative-amounts.csv',
    'debit;credit\n($1,200.00);($3.50)\n$5.00;$6.00\n$7.00;($8.00)\n',
    ['debit: double $1,234.5', 'credit: double $1234.5'],
    [
      [-1200, -3.5],
      [5, 6],
      [7, -8],
    ],
  ],
  [
    'commas-in-values.csv',
    `name;place\n${'A;Paris, France\n'.repeat(30)}`,
    ['name: text', 'place: text'],
    Array.from({ length: 30 }, () => ['A', 'Paris, France']),
  ],
  [
    'commas-in-positions.csv',
    `name;at\n${'A;48.85, -2.35\n'.repeat(30)}`,
    ['name: text', 'at: geo_point_2d lat,lon'],
    Array.from({ length: 30 }, () => ['A', { lat: 48.85, lon: -2.35 }]),
  ],
  [
    'commas-and-blanks.csv',
    `name, at, n\n${'A B, 10:30, 5\n'.repeat(30)}`,
    ['name: text', 'at: text', 'n: int'],
    Array.from({ length: 30 }, () => ['A B', ' 10:30', 5]),
  ],
  [
    'count-of-rows.txt',
    'code|n\nA1|1\nA2|2\nA3|3\n(3 rows)\n',
    ['code: text', 'n: int'],
    [
      ['A1', 1],
      ['A2', 2],
      ['A3', 3],
    ],
  ],
  [
    'years-of-a-record.csv',
    'region,first,last,\n,2019,2020,x\nNorth,1999,2001,y\nSouth,2001,2003,z\nEast,2005,2006,z\n',
    ['region: text', 'first: int', 'last: int', 'column_4: text'],
    [
      [null, 2019, 2020, 'x'],
      ['North', 1999, 2001, 'y'],
      ['South', 2001, 2003, 'z'],
      ['East', 2005, 2006, 'z'],
    ],
  ],
  [
    'series.csv',
    ',value\n2020-01-01,5\n2020-01-02,6\n2020-01-03,7\n',
    ['column_1: date', 'value: int'],
    [
      ['2020-01-01', 5],
      ['2020-01-02', 6],
      ['2020-01-03', 7],
    ],
  ],
  [
    'title-in-the-second-cell.csv',
    ',Trees\nname,n\nA,1\nB,2\nC,3\n',
    ['name: text', 'n: int'],
    [
      ['A', 1],
      ['B', 2],
      ['C', 3],
    ],
  ],
  [
    'titles-in-cells.csv',
    'Lots of,people,,\nsimply,cannot,resist,titles\nName,Age,Born,Note\nA,69,1947-01-08,x\nB,60,1956-10-21,y\nC,90,1926-10-18,z\n',
    ['name: text', 'age: int', 'born: date', 'note: text'],
    [
      ['A', 69, '1947-01-08', 'x'],
      ['B', 60, '1956-10-21', 'y'],
      ['C', 90, '1926-10-18', 'z'],
    ],
  ],
  [
    'notes-in-cells.csv',
    `name,n,m\n${'A,1,2\n'.repeat(12)}at the,,\nbottom,,too\n`,
    ['name: text', 'n: int', 'm: int'],
    Array.from({ length: 12 }, () => ['A', 1, 2]),
  ],
  [
    'aligned.txt',
    'station  name          lat     lon\n-------  ----          ---     ---\n    101  Kew Gardens   51.48  -0.29\n\n    102  Eskdalemuir   55.31  -3.21\r\n    103                56.00  -4.00\n',
    ['station: int', 'name: text', 'lat: double', 'lon: double', 'geo_point: geo_point_2d'],
    [
      [101, 'Kew Gardens', 51.48, -0.29, { lat: 51.48, lon: -0.29 }],
      [102, 'Eskdalemuir', 55.31, -3.21, { lat: 55.31, lon: -3.21 }],
      [103, null, 56, -4, { lat: 56, lon: -4 }],
    ],
  ],
  [
    'header-again.csv',
    'id,name\n1,A\n2,B\nid,name\n3,C\n',
    ['id: int', 'name: text'],
    [
      [1, 'A'],
      [2, 'B'],
      [3, 'C'],
    ],
  ],
  [
    'one-word-among-numbers.csv',
    '0,?,Total,1998,4699,2359\n0,a,0,1998,3390,1788\n0,b,5,1998,3428,1820\n0,c,10,1998,3195,1668\n',
    ['column_1: int', 'column_2: text', 'column_3: text', 'column_4: int', 'column_5: int', 'column_6: int'],
    [],
  ],
  [
    'blanks-before-quotes.csv',
    'name, "city, state", n\n"A", "Rome, IT", 1\n"B" , "Oslo, NO", 2\n',
    ['name: text', 'city_state: text', 'n: int'],
    [
      ['A', 'Rome, IT', 1],
      ['B', 'Oslo, NO', 2],
    ],
  ],
  [
    'commas-in-all-rows.csv',
    'symbol;price\nA;1.234,50\nB;7,25\nC;9,10\n',
    ['symbol: text', 'price: double 1.234,5'],
    [
      ['A', 1234.5],
      ['B', 7.25],
      ['C', 9.1],
    ],
  ],
  [
    'seasons.csv',
    'season,n\n2007/08,1\n2008/09,2\n',
    ['season: text', 'n: int'],
    [
      ['2007/08', 1],
      ['2008/09', 2],
    ],
  ],
  [
    'midnights.csv',
    'day,n\n2020-01-01 00:00:00,1\n2020-01-02T00:00,2\n',
    ['day: date', 'n: int'],
    [
      ['2020-01-01', 1],
      ['2020-01-02', 2],
    ],
  ],
  [
    'xlongitude.csv',
    'n;Xlongitude;Ylatitude\nA;6.9;43.5\n',
    ['n: text', 'xlongitude: double', 'ylatitude: double', 'geo_point: geo_point_2d'],
    [['A', 6.9, 43.5, { lon: 6.9, lat: 43.5 }]],
  ],
  [
    'degrees-in-two.csv',
    `n,lat,lon\n${Array.from({ length: 80 }, (_, i) => `${i},31°${i % 60}'30"N,89°${i % 60}'00"W\n`).join('')}`,
    ['n: int', 'lat: text', 'lon: text', 'geo_point: geo_point_2d'],
    [],
  ],
  [
    'arrays-of-two.json',
    '[{"latlng":[48.5,2.5],"coordinates":[2.5,48.5],"pair":[1,2]},{"latlng":[-33,151],"coordinates":[151,-33],"pair":[3,4]}]',
    ['latlng: geo_point_2d lat,lon', 'coordinates: geo_point_2d lon,lat', 'pair: text'],
    [
      [{ lon: 2.5, lat: 48.5 }, { lon: 2.5, lat: 48.5 }, ['1', '2']],
      [{ lon: 151, lat: -33 }, { lon: 151, lat: -33 }, ['3', '4']],
    ],
  ],
  [
    'latitude-first.json',
    '[{"location":[-33.8,151.2],"coordinates":[95,120]},{"location":[48.1,11.5],"coordinates":[1,2]}]',
    ['location: geo_point_2d lat,lon', 'coordinates: text'],
    [
      [{ lon: 151.2, lat: -33.8 }, ['95', '120']],
      [{ lon: 11.5, lat: 48.1 }, ['1', '2']],
    ],
  ],
  [
    'metres-with-comma.csv',
    'nom;coord_x;coord_y\nA;652381,12;6862047,33\nB;652382,12;6862048,33\n',
    ['nom: text', 'coord_x: double ,', 'coord_y: double ,'],
    [],
  ],
  [
    'no-position.json',
    '[{"p":{"lat":null,"lon":null},"q":{"lat":1,"lon":2}},{"p":{"lat":48.1,"lon":11.5},"q":{"a":{"b":1}}}]',
    ['p: geo_point_2d', 'q: text'],
    [
      [null, '{"lat":1,"lon":2}'],
      [{ lon: 11.5, lat: 48.1 }, '{"a":{"b":1}}'],
    ],
  ],
  [
    'empty-lists.json',
    '[{"n":"A","tags":[],"m":"x"},{"n":"B","tags":[],"m":[]}]',
    ['n: text', 'tags: text', 'm: text'],
    [
      ['A', null, ['x']],
      ['B', null, null],
    ],
  ],
  [
    'long-labels.json',
    '{"name":{"9007199254740993":"a","9007199254740995":"b"},"n":{"9007199254740993":1,"9007199254740995":2}}',
    ['key: int', 'name: text', 'n: int'],
    [
      [9007199254740993n, 'a', 1],
      [9007199254740995n, 'b', 2],
    ],
  ],
  [
    'long-within-rows.json',
    '{"columns":["a","b"],"data":[[1,[12345678901234567890]],[2,[3]]]}',
    ['a: int', 'b: text'],
    [
      [1, '[12345678901234567890]'],
      [2, '[3]'],
    ],
  ],
  [
    'no-positions.json',
    `[{"n":1,"point":[2.5,48.1],"shape":{"type":"Point","coordinates":[2.5,48.1]},"at":{"lat":1,"lon":2},"where":{"lat":1,"lon":2}},
      {"n":[],"point":[null,null],"shape":{"type":"Point","coordinates":[null,null]},"at":{"lat":"","lon":""},"where":{}},
      {"n":3,"point":[],"shape":null,"at":null,"where":[]}]`,
    [
      'n: int',
      'point: geo_point_2d lon,lat',
      'shape: geo_point_2d',
      'at: geo_point_2d',
      'where: geo_point_2d',
    ],
    [
      [1, { lon: 2.5, lat: 48.1 }, { lon: 2.5, lat: 48.1 }, { lon: 2, lat: 1 }, { lon: 2, lat: 1 }],
      [null, null, null, null, null],
      [3, null, null, null, null],
    ],
  ],
  [
    'parts-of-members.json',
    JSON.stringify({
      data: Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map(k => [k, { n: 1, links: [{ u: k }] }])),
    }),
    ['key: text', 'n: int', 'links: text'],
    [],
  ],
  [
    'estonian.csv',
    bytes('nimi;n\nPõlva;1\nTõrva;2\nJõgeva;3\nVõru;4\nRõuge š;5\n', { õ: 0xf5, š: 0xf0 }),
    ['nimi: text', 'n: int'],
    [
      ['Põlva', 1],
      ['Tõrva', 2],
      ['Jõgeva', 3],
      ['Võru', 4],
      ['Rõuge š', 5],
    ],
  ],
]

t.test('tables among titles, notes and other signs', async t => {
  for (const [name, content, fields, records] of TEXTS) {
    const { fields: found, values, misfits: conversionErrors } = await understood(name, content)
    t.strictSame(found, fields, `${name}: fields`)
    if (records.length > 0) t.strictSame(values, records, `${name}: records`)
    t.equal(conversionErrors, 0, `${name}: what is inferred fits`)
  }
  const units = await understood('units.csv', 'name;height;n\n;(m);\nA;12;1\nB;13;2\n')
  t.strictSame(units.found.fields[1]?.annotations, { unit: ['m'] }, 'units are those of the fields')
  t.match(units.found.diagnostics, ['the row 2 has the units of columns and is no record: m'])
  const exponents = await understood('exponents.csv', `name;height\n;m${'²'.repeat(36)}x\nA;12\nB;13\n`)
  t.equal(exponents.values.length, 3, 'a text that nearly is a unit is read at once')
  const groups = await understood('groups.csv', 'n,share,\n,men,women\nA,1,2\nB,1,2\n')
  t.strictSame(groups.found.diagnostics, ['the names of the columns are those of two rows'])
  const beside = await understood('beside.csv', 'name;n;;city;pop\nA;1;;Rome;100\nB;2;;Oslo;200\nC;3;;;\n')
  t.match(beside.found.diagnostics, [/^an empty column stands before "city", which may begin another table/])
  const { found } = await understood('identifiers.csv', 'fips,n\n01001,1\n31003,2\n')
  t.equal(found.columns[0]?.suggestion, undefined, 'codes are not said to be numbers')
})

t.test('a single row of values is a record, a row of names is none', async t => {
  const cases: readonly (readonly [content: string, fields: readonly string[], records: number])[] = [
    ['1,2,3\n', ['column_1: int', 'column_2: int', 'column_3: int'], 1],
    ['5\n', ['5: text'], 0],
    ['{"a":', ['a: text'], 0],
    ['2024-01-01;2,5;\n', ['column_1: date', 'column_2: double ,'], 1],
    ['year,2019,2020\n', ['year: text', '2019: text', '2020: text'], 0],
    ['name,n\n', ['name: text', 'n: text'], 0],
    ['name\n', ['name: text'], 0],
    ['Jan;2019;2020\n', ['jan: text', '2019: text', '2020: text'], 0],
  ]
  for (const [content, fields, records] of cases) {
    const { fields: found, values, found: inspected } = await understood('single.csv', content)
    t.strictSame([found, values.length], [fields, records], content)
    const note = records === 1 ? /^no header/ : /^there are no records below the row with names; .*header: 0/
    t.match(inspected.diagnostics.at(-1), note, content)
  }
})

t.test('days above other values are names, days above days are values', async t => {
  const days = ['1/22/20', '1/23/20', '1/24/20']
  const cases: readonly (readonly [content: string, header: number, records: number])[] = [
    [`,Country,Lat,Long,${days.join()}\n,A,33.9,67.7,0,1,2\n,B,34,68.1,1,2,3\n`, 1, 2],
    ['Ort;31.12.2020;31.12.2021\nA;1,5;2,5\nB;3,5;-\n', 1, 2],
    ['A;01.01.2020;5\nB;02.01.2020;6\n', 0, 2],
    ['01.01.2020;5\n02.01.2020;6\n', 0, 2],
    ['2020-01-01,5,2021-01-01\n2020-01-02,6,\n2020-01-03,7,\n', 0, 3],
    ['A,2020-01-01,2021-01-01\nB,2020-01-02,\n', 0, 2],
    ['A,1.2.3,5\nB,10,6\nC,11,7\n', 0, 3],
    ['1,2020-01-01\n2,5\n3,6\n', 0, 3],
    ['A,1.2.3,4.5.6,7\nB,10,6,8\nC,11,7,9\n', 0, 3],
  ]
  for (const [content, header, records] of cases) {
    const { found, values } = await understood('days.csv', content)
    t.strictSame([found.source.options?.header, values.length], [header, records], content)
  }
})

t.test('columns of fixed widths', async t => {
  const missing = await understood(
    'missing.txt',
    'a      b     c\n-----  ----  ---\n1      x     2.5\n-      -     -\n3      y     4.5\n',
  )
  t.equal(missing.values.length, 3, 'a line of signs for no value is a record')
  const text = 'city      n\nRome      1\nSan Marino2\n'
  t.match(await answerOf('touching.txt', text), /no blank parts them/)
  const given = await understood('touching.txt', text.replace('Marino2', 'Marin 2'), { widths: '10' })
  t.strictSame(given.values, [
    ['Rome', 1],
    ['San Marin', 2],
  ])
  t.match(
    await understood('touching.txt', text, { widths: '10' }).catch(faultText),
    /touching.txt:3:10: A value reaches from one column into the next at character 11[\s\S]*Correct widths/,
  )
})

t.test('what cannot be read ends with the way out', async t => {
  const cases: readonly (readonly [name: string, content: string | Buffer, report: RegExp])[] = [
    [
      'titled.txt',
      'Cities of Europe and their numbers\nname      city     n\nA         Rome     1\nB         Oslo     2\n',
      /aligned with blanks[\s\S]*save it as CSV/,
    ],
    ['words.json', '["a","b"]', /no array of objects[\s\S]*Give each record an object/],
    [
      'late.json',
      `{"type":"Topology","transform":{"scale":[1,1]},"objects":{"land":{"type":"MultiPolygon","arcs":[[[0]]]},"c":{"geometries":[{"id":1}]}},"arcs":[]}`,
      /TopoJSON: save it as GeoJSON/,
    ],
    [
      'appended.csv',
      Buffer.concat([Buffer.from('id,name\n1,Café\n2,Zoë\n3,Straße\n'), Buffer.from('4,Genève\n', 'latin1')]),
      /appended.csv:5:6: The text is not utf-8[\s\S]*Write it as UTF-8 there/,
    ],
    [
      'cube.json',
      '{"version":"2.0","class":"dataset","id":["y"],"size":[2],"dimension":{"y":{"category":{"index":["1","2"]}}},"value":[3,4]}',
      /JSON-stat[\s\S]*as CSV/,
    ],
    [
      'flat.fods',
      '<?xml version="1.0"?>\n<office:document xmlns:office="o"/>',
      /flat OpenDocument[\s\S]*as \.ods/,
    ],
    ['streets.tab', '!table\n!version 300\n\nDefinition Table\n  Type NATIVE\n', /MapInfo[\s\S]*GeoPackage/],
    ['streets.mif', 'Version 300\nCharset "Neutral"\nDelimiter ","\nColumns 1\n', /MapInfo[\s\S]*GeoPackage/],
    ['table.px', 'CHARSET="ANSI";\nAXIS-VERSION="2000";\nTITLE="x";\nDATA=\n1 2;\n', /PC-Axis[\s\S]*as CSV/],
    [
      'graphs.trix',
      '<?xml version="1.0"?>\n<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph/></TriX>',
      /TriX[\s\S]*as TriG/,
    ],
    ['events.ics', 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\n', /iCalendar[\s\S]*as CSV/],
    ['table.csv', '<table><tr><td>1</td></tr></table>', /a web page/],
  ]
  for (const [name, content, report] of cases) t.match(await answerOf(name, content), report, name)
  const gml = await understood(
    'trees.gml',
    '<f:Trees xmlns:f="f" xmlns:gml="http://www.opengis.net/gml/3.2"><f:tree><f:n>1</f:n></f:tree><f:tree><f:n>2</f:n></f:tree></f:Trees>',
  )
  t.match(gml.found.diagnostics, [/^the file is GML, .* save it as GeoJSON or GeoPackage/])
  const positions = await understood('positions.csv', 'name,pos\nA,47.37 8.54\nB,46.2 6.14\n')
  t.match(positions.found.columns.at(-1)?.suggestion, /may be two coordinates: .* format: 'lat,lon'/)
  const { found } = await understood(
    'metres.geojson',
    '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[448262,5411932]}}]}',
  )
  t.match(found.columns.at(-1)?.suggestion, /not in degrees: publish the file with its reference system/)
})

t.test('values as other countries and programs write them', async t => {
  const wkb = '0101000020E6100000CDCCCCCCCCCC0240CDCCCCCCCC6C4840'
  const cases: readonly (readonly [values: readonly string[], field: string, first: unknown])[] = [
    [[wkb, wkb], 'v: geo_point_2d', { lon: 2.35, lat: 48.85 }],
    [['SRID=4258;POINT(2.5 48.5)', 'SRID=4258;POINT(2 48)'], 'v: geo_point_2d', { lon: 2.5, lat: 48.5 }],
    [['2020-01-02', '0000-00-00', '2020-01-03'], 'v: date yyyy-M-d', '2020-01-02'],
    [['5 października 2020', '6 maja 2020'], 'v: date d MMMM yyyy', '2020-10-05'],
    [['5 ИЮНЯ 2020', '6 июля 2020'], 'v: date d MMMM yyyy', '2020-06-05'],
    [['EVET', 'HAYIR'], 'v: boolean EVET/HAYIR', true],
    [['否', '是'], 'v: boolean 是/否', false],
  ]
  for (const [values, field, first] of cases) {
    const {
      fields,
      values: read,
      misfits,
    } = await understood('v.csv', `n,v\n${values.map(v => `A,${v}\n`).join('')}`)
    t.strictSame([fields[1], read[0]?.[1], misfits], [field, first, 0])
  }
  const asked: readonly (readonly [value: string, question: RegExp])[] = [
    ['15/03/2563', /Buddhist calendar/],
    ['1399-01-15', /Persian or Islamic calendar/],
    ['١٢٣', /digits of another script/],
    ['SRID=2154;POINT(652469 6862035)', /not in degrees/],
  ]
  for (const [value, question] of asked) {
    const { found } = await understood('asked.csv', `n,v\nA,${value}\nB,${value}\n`)
    t.match(found.columns[1]?.suggestion, question, value)
  }
})

const features = (crs: unknown, geometries: readonly unknown[], isLast = false) => {
  const list = geometries.map((geometry, at) => ({
    type: 'Feature',
    properties: { n: at, crs: 'x' },
    geometry,
  }))
  const head = { type: 'FeatureCollection' }
  return JSON.stringify(isLast ? { ...head, features: list, crs } : { ...head, crs, features: list })
}
const point = (...coordinates: readonly number[]) => ({ type: 'Point', coordinates })
const named = (name: string) => ({ type: 'name', properties: { name } })

t.test('GeoJSON in other reference systems becomes degrees', async t => {
  const cases: readonly (readonly [crs: unknown, position: readonly number[], lon: number, lat: number])[] = [
    [named('EPSG:2154'), [652469.02, 6862035.26], 2.3522, 48.8566],
    [named('urn:ogc:def:crs:EPSG::3857'), [261848.15, 6250566.72], 2.3522, 48.8566],
    [named('urn:ogc:def:crs:EPSG:9.8:25832'), [691000, 5335000], 11.57, 48.137],
    [named('http://www.opengis.net/def/crs/EPSG/0/27700'), [530000, 180000], -0.128, 51.504],
    [
      { type: 'link', properties: { href: 'http://spatialreference.org/ref/epsg/27700/proj4/' } },
      [530000, 180000],
      -0.128,
      51.504,
    ],
    [{ type: 'EPSG', properties: { code: 3857 } }, [261848.15, 6250566.72], 2.3522, 48.8566],
    [named('urn:ogc:def:crs:OGC:1.3:CRS84'), [7, 50], 7, 50],
    [named('urn:ogc:def:crs:EPSG::4326'), [7, 50], 7, 50],
    [named('EPSG:25832'), [7, 50], 4.511, 0.0005],
    [null, [7, 50], 7, 50],
    [{}, [7, 50], 7, 50],
  ]
  for (const [crs, position, lon, lat] of cases)
    for (const isLast of [false, true]) {
      const content = features(crs, [point(...position), null], isLast)
      const { fields, values } = await understood('crs.geojson', content)
      t.equal(fields.at(-1), 'geometry: geo_point_2d', JSON.stringify(crs))
      const found = values[0]?.at(-1) as { lon: number; lat: number }
      t.ok(
        Math.abs(found.lon - lon) < 0.01 && Math.abs(found.lat - lat) < 0.01,
        `${JSON.stringify(crs)}: ${JSON.stringify(found)}`,
      )
    }
  const single = { type: 'Point', crs: named('EPSG:3857'), coordinates: [261848.15, 6250566.72] }
  t.strictSame((await understood('one.geojson', JSON.stringify(single))).fields, ['geometry: geo_point_2d'])
  const broken = features(named('EPSG:3857'), [point(1), { type: 'GeometryCollection', geometries: 1 }])
  t.equal((await understood('broken.geojson', broken)).fields.at(-1), 'geometry: text')
  const unknown = features(named('urn:ogc:def:crs:EPSG::99999'), [point(7, 50)])
  t.match(
    await answerOf('unknown.geojson', unknown),
    /is not known: urn:ogc:def:crs:EPSG::99999[\s\S]*WGS 84/,
  )
})

t.test('geometries without positions are null', async t => {
  const polygon = { type: 'Polygon', coordinates: [] }
  const ring = [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 0],
    ],
  ]
  const shapes = features(null, [point(1, 2), { type: 'Polygon', coordinates: ring }, polygon])
  const { fields, values, misfits: conversionErrors } = await understood('shapes.geojson', shapes)
  t.equal(fields.at(-1), 'geometry: geo_shape')
  t.equal(values.at(-1)?.at(-1), null)
  t.equal(conversionErrors, 0)
  const points = await understood('points.geojson', features(null, [point(1, 2), polygon]))
  t.equal(points.fields.at(-1), 'geometry: geo_point_2d')
  t.strictSame([points.values.map(row => row.at(-1)), points.misfits], [[{ lon: 1, lat: 2 }, null], 0])
  const wkt = await understood('empty.csv', 'n,geom\n1,POINT (1 2)\n2,POINT EMPTY\n3,POINT (3 4)\n')
  t.strictSame([wkt.fields[1], wkt.values[1], wkt.misfits], ['geom: geo_point_2d', [2, null], 0])
})

const ROOMS = Array.from({ length: 60 }, (_, at) => `R${at},${at},${at}.5\n`).join('')
const EVENTS = Array.from({ length: 11 }, (_, at) => `Event ${at},2024-01-${at + 10},${at}.5\n`).join('')
const FOUR = 'name,code,n,m\nA,x,10,1\nB,y,20,2\nC,z,30,3\n'

const ENDS: readonly (readonly [name: string, content: string, records: number, last: string | null])[] = [
  [
    'a place called sum',
    'departement,population,surface\nAisne,531345,7369\nNord,2608346,5743\nOise,829419,5860\nSomme,570559,6170\n',
    4,
    'Somme',
  ],
  ['a brand called total', 'brand,stations,city\nAral,1,x\nEsso,2,y\nShell,3,z\nTotal,4,w\n', 4, 'Total'],
  ['a brand without a place', 'brand,stations,city\nAral,1,x\nEsso,2,y\nShell,3,z\nTotal,4,\n', 4, 'Total'],
  ['a kind of music', 'musique,n\nSolo,3\nDuo,2\nEnsemble,4\n', 3, 'Ensemble'],
  ['equal years', 'departement,year,n\nAisne,2020,5\nNord,2020,6\nOise,2020,7\nSomme,2020,8\n', 4, 'Somme'],
  [
    'a long name',
    'name,phone,web\nA,1,http://a\nB,2,http://b\nC,3,http://c\nAssociation des amis du patrimoine,,\n',
    4,
    'Association des amis du patrimoine',
  ],
  [
    'a name that begins as a note',
    'name,phone,web\nA,1,http://a\nB,2,http://b\nC,3,http://c\nExport AG,,\n',
    4,
    'Export AG',
  ],
  [
    'words for a day and a price',
    `event,day,price\n${EVENTS}Open Air,to be announced,free\n`,
    12,
    'Open Air',
  ],
  ['one word for a day', `event,day,price\n${EVENTS}Open Air,to be announced,\n`, 12, 'Open Air'],
  ['words for numbers', `room,floor,fee\n${ROOMS}R60,EG,gratis\nR61,EG,gratis\n`, 62, 'R61'],
  ['sums', 'name,n,m\nA,1,1.5\nB,2,2.5\nC,4,5\nTotal,7,9\n', 3, null],
  ['sums with separators', 'name;n\nA;1.200,5\nB;2.300\nC;4.000,25\nSumme;7.500,75\n', 3, null],
  ['a mean beside a sum', 'name,n,share\nA,1,10\nB,2,20\nC,4,60\nTotal,7,30\n', 3, null],
  ['a mean alone', 'name,n\nA,1\nB,2\nC,3\nTotal,2\n', 4, 'Total'],
  ['few values', `${FOUR}Total,,61,\n`, 3, null],
  ['a total after an empty row', `${FOUR}\nTotal,x,1,1\n`, 3, null],
  ['a note with its word', `${FOUR}Stand: 1.1.2024,,,\n`, 3, null],
  ['a sentence', `${FOUR}All figures of this table are provisional.,,,\n`, 3, null],
  [
    'a total above more than five notes',
    `room,floor,fee\n${ROOMS}Total,1770,1800\n${'Note: provisional,,\n'.repeat(6)}`,
    60,
    null,
  ],
  [
    'what stands below a line of signs',
    `${FOUR}Total,u,60,6\n__________,,,\nKey day 31.12.2021,,,\n© Office,,,\n`,
    3,
    null,
  ],
  ['signs in a column alone', 'name\nA\nB\nC\n---\nD\n', 5, 'D'],
  ['a note after an empty row', `${FOUR}\nprovisional,,,\n`, 3, null],
  ['several after one', `${FOUR}Total,u,60,6\n\n1) provisional,,,\n. = unknown,,,\n© Office,,,\n`, 3, null],
  ['a note in another column', `${FOUR}\n,Source: Office,,\n`, 3, null],
  ['names after an empty row', `${FOUR}\nD,,,\nE,,,\n`, 5, 'E'],
  ['a school in totals', 'k;n;m\nA;10;4\nGesamtschule;5;3\nB;7;2\nInsgesamt;22;9\n', 3, null],
  ['a school at the end', 'k;n\nA;1\nB;2\nGesamtschule;3\n', 3, 'Gesamtschule'],
  ['a total in one word', 'k;n\nA;1\nB;2\nGesamtsumme;3\n', 2, null],
]

t.test('records at the end stay, totals and notes are left out and reported', async t => {
  for (const [name, content, records, last] of ENDS) {
    const { values, found } = await understood('end.csv', content)
    t.equal(values.length, records, `${name}: records`)
    if (last !== null) t.equal(values.at(-1)?.[0], last, `${name}: the last record`)
    t.equal(found.diagnostics.length, last === null ? 1 : 0, `${name}: report`)
  }
})

const SHEET = (rows: string) => `<worksheet><sheetData>${rows}</sheetData></worksheet>`
const row = (number: number, ...cells: readonly (string | number)[]) =>
  `<row r="${number}">${cells
    .map((cell, at) => {
      const place = `${String.fromCharCode(65 + at)}${number}`
      if (cell === '') return ''
      return typeof cell === 'number'
        ? `<c r="${place}"><v>${cell}</v></c>`
        : `<c r="${place}" t="inlineStr"><is><t>${cell}</t></is></c>`
    })
    .join('')}</row>`

function workbook(sheets: Readonly<Record<string, string>>): Promise<Buffer> {
  const names = Object.keys(sheets)
  const files = {
    '[Content_Types].xml': '<Types/>',
    'xl/_rels/workbook.xml.rels': `<Relationships>${names.map((_, at) => `<Relationship Id="r${at}" Target="worksheets/sheet${at}.xml"/>`).join('')}</Relationships>`,
    'xl/workbook.xml': `<workbook xmlns:r="x"><sheets>${names.map((name, at) => `<sheet name="${name}" r:id="r${at}"/>`).join('')}</sheets></workbook>`,
    ...Object.fromEntries(
      Object.values(sheets).map((rows, at) => [`xl/worksheets/sheet${at}.xml`, SHEET(rows)]),
    ),
  }
  return buffer(
    Readable.from(zip(Object.entries(files).map(([name, content]) => ({ name, content: [content] })))),
  )
}

t.test('the sheet with the table is taken, and the others are named', async t => {
  const table = row(1, 'name', 'n') + row(2, 'A', 1) + row(3, 'B', 2)
  const covered = await workbook({ Cover: row(1, 'Trees of the city'), Empty: '', Data: table, More: table })
  const { fields, found } = await understood('covered.xlsx', covered)
  t.strictSame(fields, ['name: text', 'n: int'])
  t.strictSame(found.source.options, { sheet: 'Data', header: 1 })
  t.match(found.diagnostics[0], /the sheet is "Data"; left out: "Cover", "Empty", "More"/)
  t.match(await answerOf('empty.xlsx', await workbook({ One: row(1), Two: '' })), /The table is empty/)
  const wide = await workbook({ Data: row(1, 'name', 'n') + row(2, 'A', 1, '', 'beside') + row(3, 'B', 2) })
  t.strictSame(
    (await understood('wide.xlsx', wide)).fields,
    ['name: text', 'n: int', 'column_4: text'],
    'cells beside the table have a column',
  )
})

t.test('rows that a workbook leaves out part its table from notes and other tables', async t => {
  const table = row(1, 'name', 'n') + row(2, 'A', 1) + row(3, 'B', 2) + row(4, 'C', 3)
  const noted = await understood('noted.xlsx', await workbook({ One: `${table}${row(6, 'provisional')}` }))
  t.equal(noted.values.length, 3, 'a note after an empty row is no record')
  const other = await workbook({ One: `${table}${row(6, 'house', 'rooms')}${row(7, 'H', 4)}` })
  const report = /^the row 6 \("house"\) may be the header of another table.*range: A1:F20/
  t.match((await understood('other.xlsx', other)).found.diagnostics[0], report)
  const repeated = await workbook({ One: `${table}${row(6, 'name', 'n')}${row(7, 'D', 4)}` })
  t.strictSame((await understood('repeated.xlsx', repeated)).found.diagnostics, [])
  const { found } = await understood('other.csv', 'name,n\nA,1\nB,2\n\nhouse,2020\nH,4\n')
  t.match(found.diagnostics[0], /^the row 5 \("house"\) may be the header of another table/)
})

/** A geometry as GeoPackage has it: a header without envelope, then well-known binary. */
function blob(code: number, kind: number, ...numbers: readonly number[]): Buffer {
  const header = Buffer.alloc(8)
  header.write('GP')
  header[3] = 1
  header.writeUInt32LE(code, 4)
  const wkb = Buffer.alloc(5 + numbers.length * 8)
  wkb[0] = 1
  wkb.writeUInt32LE(kind, 1)
  numbers.forEach((number, at) => {
    wkb.writeDoubleLE(number, 5 + at * 8)
  })
  return Buffer.concat([header, wkb])
}

function geopackage(
  name: string,
  code: number,
  layers: Readonly<Record<string, readonly Buffer[]>>,
  wkt = '',
): null {
  const path = join(folder, name)
  rmSync(path, { force: true })
  const database = new Libsql(path)
  database.exec(`
    CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT);
    CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, srs_id INTEGER);
    CREATE TABLE gpkg_spatial_ref_sys (srs_id INTEGER, organization TEXT, organization_coordsys_id INTEGER, definition TEXT);
    CREATE TABLE layer_styles (id INTEGER PRIMARY KEY, style TEXT);
    INSERT INTO gpkg_contents VALUES ('layer_styles', 'attributes');
    INSERT INTO layer_styles VALUES (1, 'x');
    INSERT INTO gpkg_spatial_ref_sys VALUES (${code}, 'EPSG', ${code}, '${wkt}');`)
  for (const [layer, shapes] of Object.entries(layers)) {
    database.exec(`CREATE TABLE "${layer}" (fid INTEGER PRIMARY KEY, geom BLOB, name TEXT, open BOOLEAN, height REAL);
      INSERT INTO gpkg_contents VALUES ('${layer}', 'features');
      INSERT INTO gpkg_geometry_columns VALUES ('${layer}', 'geom', ${code});`)
    const insert = database.prepare(`INSERT INTO "${layer}" (geom, name, open, height) VALUES (?, ?, ?, ?)`)
    shapes.forEach((shape, at) => {
      insert.run([shape, `tree ${at}`, at % 2, at + 0.5])
    })
  }
  database.close()
  return null
}

t.test('GeoPackage', async t => {
  const degrees = geopackage('degrees.gpkg', 4326, {
    trees: [blob(4326, 1, 2.35, 48.85), blob(4326, 1, -70, -33)],
  })
  const { fields, values } = await understood('degrees.gpkg', degrees)
  t.strictSame(fields, ['fid: int', 'geom: geo_point_2d', 'name: text', 'open: boolean', 'height: double'])
  t.strictSame(values, [
    [1, { lon: 2.35, lat: 48.85 }, 'tree 0', false, 0.5],
    [2, { lon: -70, lat: -33 }, 'tree 1', true, 1.5],
  ])
  // A code that is not known is read by its WKT.
  for (const [code, wkt] of [
    [3857, ''],
    [32_700, wktOf(3857) ?? ''],
  ] as const) {
    const trees = [blob(code, 1, 261_600.803, 6_250_835.061)]
    const metres = geopackage('metres.gpkg', code, { trees, none: [] }, wkt)
    const [[, point] = []] = (await understood('metres.gpkg', metres)).values
    const { lon, lat } = point as { lon: number; lat: number }
    t.ok(
      Math.abs(lon - 2.35) < 0.01 && Math.abs(lat - 48.85) < 0.01,
      `metres of ${code} become degrees; an empty layer is no choice`,
    )
  }
  const two = geopackage('two.gpkg', 4326, { a: [blob(4326, 1, 1, 2)], b: [blob(4326, 1, 1, 2)] })
  t.match(await answerOf('two.gpkg', two), /has 2 layers[\s\S]*sheet: a/)
  t.equal((await understood('two.gpkg', two, { sheet: 'b' })).values.length, 1)
  const arcs = geopackage('arcs.gpkg', 4326, { trees: [blob(4326, 8, 1, 2)] })
  t.match(await answerOf('arcs.gpkg', arcs), /geometries with arcs[\s\S]*CONVERT_TO_LINEAR/)
})

t.test('GeoPackages in systems without an EPSG code, and binary columns', async t => {
  geopackage('custom.gpkg', 3857, { trees: [blob(3857, 1, 261_600.803, 6_250_835.061)] })
  const database = new Libsql(join(folder, 'custom.gpkg'))
  database.exec(`UPDATE gpkg_spatial_ref_sys SET organization = 'NONE', definition = '${wktOf(3857)}';
    ALTER TABLE trees ADD photo BLOB; UPDATE trees SET photo = x'0001'`)
  database.close()
  const { values, found } = await understood('custom.gpkg', null)
  const [[, point] = []] = values
  const { lon, lat } = point as { lon: number; lat: number }
  t.ok(Math.abs(lon - 2.35) < 0.01 && Math.abs(lat - 48.85) < 0.01, `${lon} ${lat}`)
  t.match(found.diagnostics, [/binary values in the column photo were read as no value: 1/])
})

t.test('a view as the layer of a GeoPackage', async t => {
  geopackage('view.gpkg', 4326, { trees: [blob(4326, 1, 2.35, 48.85), blob(4326, 1, -70, -33)] })
  const database = new Libsql(join(folder, 'view.gpkg'))
  database.exec(`CREATE VIEW seen AS SELECT fid, geom, name FROM trees WHERE height > 1;
    UPDATE gpkg_contents SET table_name = 'seen' WHERE table_name = 'trees';
    UPDATE gpkg_geometry_columns SET table_name = 'seen'`)
  database.close()
  const { values } = await understood('view.gpkg', null, { sheet: 'seen' })
  t.strictSame(values, [[2, { lon: -70, lat: -33 }, 'tree 1']])
})

t.test('tables of SpatiaLite about others, and virtual ones, are no layers', async t => {
  rmSync(join(folder, 'spatial.sqlite'), { force: true })
  const database = new Libsql(join(folder, 'spatial.sqlite'))
  database.exec(`CREATE TABLE trees (name TEXT, geom BLOB); INSERT INTO trees VALUES ('Oak', x'0001');
    CREATE TABLE spatial_ref_sys (srid INT); INSERT INTO spatial_ref_sys VALUES (4326);
    CREATE TABLE geometry_columns (f_table_name TEXT); INSERT INTO geometry_columns VALUES ('trees');
    CREATE VIRTUAL TABLE idx_trees_geom USING rtree(id, x0, x1, y0, y1); INSERT INTO idx_trees_geom VALUES (1, 1, 1, 1, 1);
    PRAGMA writable_schema = ON;
    INSERT INTO sqlite_master VALUES ('table', 'KNN2', 'KNN2', 0, 'CREATE VIRTUAL TABLE KNN2 USING VirtualKNN2()')`)
  database.close()
  const { values, found } = await understood('spatial.sqlite', null)
  t.strictSame(values, [['Oak', null]])
  t.match(found.diagnostics, [/binary values in the column geom were read as no value: 1/])
})

t.test('a table of SQLite without row numbers', async t => {
  const database = new Libsql(join(folder, 'keys.sqlite'))
  database.exec(`CREATE TABLE w (k TEXT PRIMARY KEY, n INT) WITHOUT ROWID;
    WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3000)
    INSERT INTO w SELECT printf('k%04d', i), i FROM c`)
  database.close()
  const { values } = await understood('keys.sqlite', null)
  t.equal(values.length, 3000)
  t.strictSame(
    [values[0], values[2999]],
    [
      ['k0001', 1],
      ['k3000', 3000],
    ],
  )
})

t.test('a column with the name of the row numbers of SQLite', async t => {
  const path = join(folder, 'rowid.sqlite')
  const database = new Libsql(path)
  database.exec('CREATE TABLE t (RowId INT, n INT)')
  const insert = database.prepare('INSERT INTO t VALUES (?, ?)')
  database.exec('BEGIN')
  for (let n = 0; n < 2500; n++) insert.run([n % 2 === 0 ? n % 10 : null, n])
  database.exec('COMMIT')
  database.close()
  const { values } = await understood('rowid.sqlite', null)
  t.equal(values.length, 2500)
  t.strictSame(values.slice(0, 2), [
    [0, 0],
    [null, 1],
  ])
})

t.test('well-known binary of any length', async t => {
  const count = 1_000_000
  const bytes = Buffer.alloc(9 + 16 * count)
  bytes[0] = 1
  bytes.writeUInt32LE(2, 1)
  bytes.writeUInt32LE(count, 5)
  const line = parseWkb(bytes)
  t.equal(line !== undefined && 'coordinates' in line && line.coordinates.length, count)
})

type Ring = readonly (readonly [number, number])[]

/** A shapefile of one shape with some rings or lines. */
function shapefileOf(kind: number, rings: readonly Ring[]): Buffer {
  const positions = rings.flat()
  const content = Buffer.alloc(44 + 4 * rings.length + 16 * positions.length)
  content.writeInt32LE(kind, 0)
  content.writeInt32LE(rings.length, 36)
  content.writeInt32LE(positions.length, 40)
  let first = 0
  rings.forEach((ring, at) => {
    content.writeInt32LE(first, 44 + 4 * at)
    first += ring.length
  })
  positions.flat().forEach((number, at) => {
    content.writeDoubleLE(number, 44 + 4 * rings.length + 8 * at)
  })
  const header = Buffer.alloc(108)
  header.writeInt32BE(9994, 0)
  header.writeInt32LE(1000, 28)
  header.writeInt32LE(kind, 32)
  header.writeInt32BE(1, 100)
  header.writeInt32BE(content.length / 2, 104)
  return Buffer.concat([header, content])
}

function square(x: number, y: number, size: number, isClockwise = true): Ring {
  const ring = [
    [x, y],
    [x, y + size],
    [x + size, y + size],
    [x + size, y],
    [x, y],
  ] as const
  return isClockwise ? ring : ring.toReversed()
}

t.test('rings of shapefiles become polygons', async t => {
  const cases: readonly (readonly [name: string, rings: readonly Ring[], corners: unknown])[] = [
    [
      'a pond on an island in a lake',
      [square(4, 4, 2), square(0, 0, 10), square(2, 2, 6, false), square(4.5, 4.5, 1, false)],
      [
        [
          [4, 4],
          [4.5, 4.5],
        ],
        [
          [0, 0],
          [2, 2],
        ],
      ],
    ],
    ['all rings the other way round', [square(0, 0, 1, false), square(5, 5, 1, false)], [[[0, 0]], [[5, 5]]]],
    [
      'the same, one within another',
      [square(1, 1, 1, false), square(0, 0, 3, false)],
      [
        [
          [0, 0],
          [1, 1],
        ],
      ],
    ],
  ]
  for (const [name, rings, corners] of cases) {
    const { values } = await understood('rings.shp', shapefileOf(5, rings))
    const [[shape] = []] = values
    const { type, coordinates } = shape as { type: string; coordinates: number[][][][] }
    const polygons = type === 'Polygon' ? [coordinates as unknown as number[][][]] : coordinates
    t.strictSame(
      polygons.map(polygon => polygon.map(([corner]) => corner)),
      corners,
      name,
    )
  }
})

/** What grows with the square of a file's parts takes minutes here. */
t.test('time and memory do not grow with the square of what a file has', { timeout: 120_000 }, async t => {
  const circle = (x: number, radius: number, turn: number) =>
    Array.from({ length: 100 }, (_, at) => {
      const angle = (turn * 2 * Math.PI * (at % 99)) / 99
      return [x + radius * Math.cos(angle), radius * Math.sin(angle)] as const
    })
  const each = Array.from({ length: 3000 }, (_, at) => at / 100)
  const rings = [...each.map(x => circle(x, 0.004, -1)), ...each.map(x => circle(x, 0.002, 1))]
  const members = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, at]))
  const cases: readonly (readonly [name: string, content: string | Buffer, expected: RegExp])[] = [
    ['lakes.shp', shapefileOf(5, rings), /accepted: geometry/],
    ['vectors.fgb', sharedVectors(), /A feature of the file is damaged/],
    ['colons.txt', `<${':'.repeat(65_000)}`, /malformed/],
    ['note.csv', `a,b\n${'x,1\n'.repeat(9)}"one two three four ${'a'.repeat(60_000)}",\n`, /accepted/],
    ['members.json', JSON.stringify([{ id: 1, members }]), /accepted: id: int, members: text/],
    ['patch.shp', shapefileOf(31, [square(0, 0, 1)]), /MultiPatch[\s\S]*outlines/],
  ]
  for (const [name, content, expected] of cases) t.match(await answerOf(name, content), expected, name)
})

/** A table of FlatBuffers after its size. */
function sized(build: (builder: Builder) => number): Buffer {
  const builder = new Builder(1024)
  builder.finishSizePrefixed(build(builder))
  return Buffer.from(builder.asUint8Array())
}

/** A FlatGeobuf of one feature of a kind, a point of some coordinates, in a system by its owner, code and WKT. */
function flatgeobufOf(kind: number, owner: string, code: number, wkt: string): Buffer {
  const header = sized(builder => {
    const [name, text] = [builder.createString(owner), builder.createString(wkt)]
    builder.startObject(6)
    builder.addFieldOffset(0, name, 0)
    builder.addFieldInt32(1, code, 0)
    if (wkt !== '') builder.addFieldOffset(4, text, 0)
    const crs = builder.endObject()
    builder.startObject(14)
    builder.addFieldInt16(9, 0, 16)
    builder.addFieldOffset(10, crs, 0)
    return builder.endObject()
  })
  const feature = sized(builder => {
    builder.startVector(8, 2, 8)
    for (const coordinate of [6_250_835.061, 261_600.803]) builder.addFloat64(coordinate)
    const position = builder.endVector()
    builder.startObject(8)
    builder.addFieldOffset(1, position, 0)
    builder.addFieldInt8(6, kind, 0)
    const geometry = builder.endObject()
    builder.startObject(3)
    builder.addFieldOffset(0, geometry, 0)
    return builder.endObject()
  })
  return Buffer.concat([Buffer.from('fgb\x03fgb\x01', 'latin1'), header, feature])
}

t.test('rows of an array have no lines', async t => {
  const { found } = await understood('rows.json', '[["a","n"],\n["x",1],["y",2],\n["z",3]]')
  const folders = { datasetFolder: folder, portalFolder: folder }
  for await (const rows of openSource(found.source, folders).read())
    t.strictSame(
      rows.map(({ row, line }) => [row, line]),
      [
        [1, undefined],
        [2, undefined],
        [3, undefined],
      ],
    )
  const rows = Array.from({ length: 20_000 }, (_, at) => ['x', at])
  const wide = JSON.stringify([['a', 'n'], ...rows, ['u', 4, 5]])
  t.match(await answerOf('wide.json', wide), /wide\.json: The row 20002 has more cells/)
})

t.test('positions in grads become degrees', async t => {
  const wkt =
    'GEOGCS["GCS_NTF_Paris",DATUM["D_NTF",SPHEROID["Clarke_1880_IGN",6378249.2,293.4660212936265]],PRIMEM["Paris",2.337229166666667],UNIT["Grad",0.01570796326794897]]'
  // Notre-Dame is at 48.853 N, 2.350 E.
  for (const move of [unprojectorOfWkt(wkt), unprojectorOfCode(4807)]) {
    const [lon = 0, lat = 0] = move?.([0.0142, 54.281]) ?? []
    t.ok(Math.abs(lon - 2.35) < 0.005 && Math.abs(lat - 48.853) < 0.005, `${lon} ${lat}`)
  }
  const degrees = wkt.replace('"Grad",0.01570796326794897', '"Degree",0.0174532925199433')
  t.ok(Math.abs((unprojectorOfWkt(degrees)?.([0, 48.853])[1] ?? 0) - 48.853) < 0.005)
})

t.test('prime meridians and axes in grads, in WKT 2 and PROJJSON', t => {
  const grads = 'ANGLEUNIT["grad",0.0157079632679489]'
  const datum =
    'DATUM["Nouvelle Triangulation Francaise (Paris)",ELLIPSOID["Clarke 1880 (IGN)",6378249.2,293.466021293627,LENGTHUNIT["metre",1]]]'
  const paris = (geodetic: string) => `${geodetic}["NTF (Paris)",${datum},PRIMEM["Paris",2.5969213,${grads}]`
  const parameters = [
    `PARAMETER["Latitude of natural origin",55,${grads}]`,
    `PARAMETER["Longitude of natural origin",0,${grads}]`,
    'PARAMETER["Scale factor at natural origin",0.999877341,SCALEUNIT["unity",1]]',
    'PARAMETER["False easting",600000,LENGTHUNIT["metre",1]]',
    'PARAMETER["False northing",200000,LENGTHUNIT["metre",1]]',
  ]
  const lambert = (base: string, id = '') =>
    `PROJCRS["p",${paris(base)}],CONVERSION["c",METHOD["Lambert Conic Conformal (1SP)"],${parameters.join()}],` +
    `CS[Cartesian,2],AXIS["x",east],AXIS["y",north],LENGTHUNIT["metre",1]${id}]`
  const axes = `CS[ellipsoidal,2],AXIS["lat",north,${grads}],AXIS["lon",east,${grads}]`
  const unit = { type: 'AngularUnit', name: 'grad', conversion_factor: 0.0157079632679489 }
  const json = {
    type: 'GeographicCRS',
    name: 'NTF (Paris)',
    datum: {
      type: 'GeodeticReferenceFrame',
      name: 'NTF (Paris)',
      ellipsoid: { name: 'Clarke 1880 (IGN)', semi_major_axis: 6378249.2, inverse_flattening: 293.466 },
      prime_meridian: { name: 'Paris', longitude: { value: 2.5969213, unit } },
    },
    coordinate_system: {
      subtype: 'ellipsoidal',
      axis: [
        { direction: 'north', unit },
        { direction: 'east', unit },
      ],
    },
  }
  // Positions of PROJ 9.5; without a code the datum is not shifted, which makes 81 metres.
  for (const [move, position] of [
    [unprojectorOfWkt(lambert('BASEGEOGCRS')), [600_000, 200_000]],
    [unprojectorOfWkt(lambert('BASEGEODCRS')), [600_000, 200_000]],
    [unprojectorOfWkt(lambert('BASEGEOGCRS', ',ID["EPSG",27561]')), [600_000, 200_000]],
    [unprojectorOfWkt(`${paris('GEOGCRS')},${axes}]`), [0, 55]],
    [unprojectorOfWkt(`${paris('GEODCRS')},${axes}]`), [0, 55]],
    [unprojectorOfProjJson(json), [0, 55]],
  ] as const) {
    const [lon = 0, lat = 0] = move?.(position) ?? []
    t.ok(Math.abs(lon - 2.336496) < 0.001 && Math.abs(lat - 49.499927) < 0.001, `${lon} ${lat}`)
  }
  t.end()
})

t.test('FlatGeobuf in systems without an EPSG code or with one that is not known, and with arcs', async t => {
  for (const [owner, code, wkt] of [
    ['EPSG', 3857, ''],
    ['ESRI', 102_100, wktOf(3857) ?? ''],
    ['NONE', 0, wktOf(3857) ?? ''],
    ['EPSG', 32_700, wktOf(3857) ?? ''],
  ] as const) {
    const { values } = await understood('system.fgb', flatgeobufOf(1, owner, code, wkt))
    const [[point] = []] = values
    const { lon, lat } = point as { lon: number; lat: number }
    t.ok(Math.abs(lon - 2.35) < 0.01 && Math.abs(lat - 48.85) < 0.01, `${owner}: ${lon} ${lat}`)
  }
  const unknown = flatgeobufOf(1, 'ESRI', 102_003, '')
  t.match(await answerOf('unknown.fgb', unknown), /The file is in ESRI:102003, which is not known/)
  t.match(await answerOf('arcs.fgb', flatgeobufOf(8, 'EPSG', 4326, '')), /arcs or surfaces[\s\S]*CONVERT_TO/)
})

/** A FlatGeobuf of one point with a spatial index, as GDAL 3.11 writes it. */
const ONE_FEATURE = [
  'ZmdiA2ZnYgGkAAAAIAAAAAAAAAAAABYAIAAIAAwABwAAAAAAAAAAABAAFAAWAAAAAAAAAUgAAAAcAAAAEAAAAAEAAAAAAAAAAAAA',
  'AAEAAABEAAAABAAAAM3MzMzMzAJAzczMzMxsSEDNzMzMzMwCQM3MzMzMbEhAAAAAAAQAAABvbmUyAAAOABAACAAHAAAAAAAMAA4A',
  'AAAAAAALCAAAAAAAAAAEAAAAbmFtZQAAAADNzMzMzMwCQM3MzMzMbEhAzczMzMzMAkDNzMzMzGxIQAEAAAAAAAAAzczMzMzMAkDN',
  'zMzMzGxIQM3MzMzMzAJAzczMzMxsSEAAAAAAAAAAAEwAAAAMAAAACAAMAAQACAAIAAAAIAAAAAQAAAAJAAAAAAADAAAAT2FrAAAA',
  'CAAIAAAABAAIAAAABAAAAAIAAADNzMzMzMwCQM3MzMzMbEhA',
].join('')

t.test('FlatGeobuf of one feature has an index of two nodes', async t => {
  const { fields, values } = await understood('one.fgb', Buffer.from(ONE_FEATURE, 'base64'))
  t.strictSame(fields, ['name: text', 'geometry: geo_point_2d'])
  t.match(values, [['Oak', { lon: 2.35, lat: 48.85 }]])
})

/** A FlatGeobuf whose collections name one part many times, level by level: read part by part, it has 10^12 of them. */
function sharedVectors(): Buffer {
  const header = sized(builder => {
    builder.startObject(14)
    builder.addFieldInt8(2, 7, 0)
    builder.addFieldInt16(9, 0, 16)
    return builder.endObject()
  })
  const feature = sized(builder => {
    let part = 0
    for (let level = 0; level < 7; level++) {
      builder.startVector(4, level === 0 ? 0 : 100, 4)
      for (let at = 0; level > 0 && at < 100; at++) builder.addOffset(part)
      const parts = builder.endVector()
      builder.startObject(8)
      builder.addFieldInt8(6, 7, 0)
      builder.addFieldOffset(7, parts, 0)
      part = builder.endObject()
    }
    builder.startObject(3)
    builder.addFieldOffset(0, part, 0)
    return builder.endObject()
  })
  return Buffer.concat([Buffer.from('fgb\x03fgb\x01', 'latin1'), header, feature])
}

t.test('declarations of namespaces are no columns', async t => {
  const item = (id: number) => `<i xmlns:gml="http://g" xmlns:id="x" id="${id}"><a>1</a></i>`
  const { fields } = await understood('namespaces.xml', `<r xmlns="y">${item(1)}${item(2)}</r>`)
  t.strictSame(fields, ['id: int', 'a: int'])
})

t.test('a web page is no table, whatever a catalog calls it', async t => {
  const page = '<!DOCTYPE html>\n<html><head><title>x, y</title></head></html>\n'
  writeFileSync(join(folder, 'declared.csv'), page)
  const folders = { datasetFolder: folder, portalFolder: folder }
  for (const format of ['csv', 'tsv'] as const)
    t.throws(
      () => openSource({ path: 'declared.csv', format }, folders),
      { message: /is a web page/ },
      format,
    )
})
