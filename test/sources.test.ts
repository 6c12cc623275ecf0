import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { Fault } from '../src/errors/errors.ts'
import { nearest } from '../src/model/did-you-mean.ts'
import type { FieldType } from '../src/model/field.ts'
import { canonicalMoment, isTimeZone, zoneOffset } from '../src/model/time.ts'
import { inferColumns } from '../src/sources/infer.ts'
import { featureLinesSource, geojsonSource } from '../src/sources/json/geojson.ts'
import { jsonlSource, jsonSource } from '../src/sources/json/json.ts'
import { formatOf, openSource, type SourceSpec, sourceFiles } from '../src/sources/open.ts'
import type { RecordSource, SourceRow } from '../src/sources/source.ts'
import { csvGrid, csvSource } from '../src/sources/tables/csv.ts'
import { regularDelimiter } from '../src/sources/tables/delimiter.ts'
import { columnNames, tableSource } from '../src/sources/tables/grid.ts'
import { EncodingSample } from '../src/sources/text/detect-encoding.ts'
import type { TextFile } from '../src/sources/text/text.ts'
import { compileFields, type FieldSpec, fieldOf } from '../src/sources/typing/fields.ts'
import { safeNames } from '../src/sources/typing/names.ts'
import { formatPointer, parsePointer, valuesAt } from '../src/sources/typing/pointer.ts'
import { conversionErrorsText, typeRecords } from '../src/sources/typing/typed-records.ts'
import { CONVERSIONS, DOES_NOT_FIT } from './support/conversions.ts'
import { temporaryFolder } from './support/folder.ts'

const folder = temporaryFolder(t, {})
let files = 0

function file(content: string | Buffer, suffix = '.txt'): string {
  const path = join(folder, `f${files++}${suffix}`)
  writeFileSync(path, content)
  return path
}

async function rowsOf(source: RecordSource): Promise<SourceRow[]> {
  const rows: SourceRow[] = []
  for await (const batch of source.read()) rows.push(...batch)
  return rows
}

async function dataOf(source: RecordSource): Promise<unknown[]> {
  return (await rowsOf(source)).map(row => row.data)
}

/** What a fault says: `code line:column reason`. */
async function refusal(run: () => unknown): Promise<string> {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { line, column } = error.place
    return `${error.code} ${line ?? '-'}:${column ?? '-'} ${error.message}`
  }
  return 'accepted'
}

/** A source of given rows, as JSON gives them. */
function given(data: readonly Record<string, unknown>[]): RecordSource {
  return {
    name: 'given',
    textual: false,
    async *read() {
      yield data.map((row, index) => ({ row: index + 1, line: undefined, data: row }))
    },
  }
}

type Reader = (file: TextFile, option?: string) => RecordSource

/** Reads a text in chunks of one byte, of seven and whole: the three must agree. */
async function readThrice(t: Tap, reader: Reader, content: string, option?: string): Promise<SourceRow[]> {
  const path = file(content)
  const whole = await rowsOf(reader({ path }, option))
  for (const chunkSize of [1, 7])
    t.strictSame(await rowsOf(reader({ path, chunkSize }, option)), whole, `chunks of ${chunkSize}`)
  return whole
}

async function refuseThrice(t: Tap, reader: Reader, content: string, option?: string): Promise<string> {
  const path = file(content)
  const whole = await refusal(() => rowsOf(reader({ path }, option)))
  for (const chunkSize of [1, 7])
    t.equal(await refusal(() => rowsOf(reader({ path, chunkSize }, option))), whole, `chunks of ${chunkSize}`)
  return whole
}

type Tap = Pick<typeof t, 'strictSame' | 'equal'>

t.test('CSV', async t => {
  const cases: readonly (readonly [string, string, unknown[]])[] = [
    [
      'plain',
      'a,b\n1,2\n3,4\n',
      [
        { a: '1', b: '2' },
        { a: '3', b: '4' },
      ],
    ],
    ['no line end at the end', 'a,b\n1,2', [{ a: '1', b: '2' }]],
    ['CRLF', 'a,b\r\n1,2\r\n', [{ a: '1', b: '2' }]],
    ['CR', 'a,b\r1,2\r', [{ a: '1', b: '2' }]],
    ['byte order mark', '\ufeffa,b\n1,2\n', [{ a: '1', b: '2' }]],
    [
      'blank lines',
      '\n\na,b\n\n1,2\r\n\r\n3,4\n\n',
      [
        { a: '1', b: '2' },
        { a: '3', b: '4' },
      ],
    ],
    ['quotes', 'a,b\n"x, y","say ""hi"""\n', [{ a: 'x, y', b: 'say "hi"' }]],
    ['line ends in quotes', 'a,b\n"x\r\ny\nz",2\n', [{ a: 'x\r\ny\nz', b: '2' }]],
    ['empty quotes', 'a,b\n"",""\n', [{ a: '', b: '' }]],
    ['a quote within a bare cell', 'a,b\n5" pipe,x"y"\n', [{ a: '5" pipe', b: 'x"y"' }]],
    ['blanks are kept', 'a,b\n 1 , 2 \n', [{ a: ' 1 ', b: ' 2 ' }]],
    ['trimmed header', ' a , "b"\n1,2\n', [{ a: '1', '"b"': '2' }]],
    [
      'short rows',
      'a,b,c\n1\n1,2\n',
      [
        { a: '1', b: null, c: null },
        { a: '1', b: '2', c: null },
      ],
    ],
    ['empty last cell', 'a,b\n1,', [{ a: '1', b: '' }]],
    ['header alone', 'a,b\n', []],
    ['repeated and empty names', 'a,a,,a\n1,2,3,4\n', [{ a: '1', a_2: '2', column_3: '3', a_3: '4' }]],
    ['beyond ASCII', 'né,b\n日本,🌲\n', [{ né: '日本', b: '🌲' }]],
  ]
  for (const [name, content, expected] of cases)
    await t.test(name, async t => {
      const rows = await readThrice(t, csvSource, content)
      t.strictSame(
        rows.map(row => ({ ...row.data })),
        expected,
      )
    })
})

t.test('records of CSV have row and line numbers', async t => {
  const rows = await readThrice(t, csvSource, 'a,b\r\n\r\n"x\r\ny",1\r\nz,2\r"p\n\rq",3\nr,4')
  t.strictSame(
    rows.map(({ row, line }) => [row, line]),
    [
      [1, 3],
      [2, 5],
      [3, 6],
      [4, 9],
    ],
  )
})

t.test('malformed CSV is refused', async t => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'SourceUnreadable 1:1 The file is empty: it needs a header row.'],
    ['\n\n', 'SourceUnreadable 1:1 The file is empty: it needs a header row.'],
    ['a,b\n1,2,3\n', 'SourceUnreadable 2:5 The row has more cells than the header, which has 2.'],
    ['a,b\n1,2,', 'SourceUnreadable 2:5 The row has more cells than the header, which has 2.'],
    ['a,b\n"x\ny",2,"3"\n', 'SourceUnreadable 3:6 The row has more cells than the header, which has 2.'],
    ['a,b\r\n1,"2\r\n3,4\r\n', 'SourceUnreadable 2:3 The quote that opens here is never closed.'],
    ['a,b\n1,"2"x\n', 'SourceUnreadable 2:6 Text follows the quote that closes the cell.'],
    ['a,b\n"1\n2" ,3\n', 'SourceUnreadable 3:3 Text follows the quote that closes the cell.'],
  ]
  for (const [content, expected] of cases) t.equal(await refuseThrice(t, csvSource, content), expected)
  t.equal(
    await refusal(() => csvSource({ path: file('') }).columns?.()),
    'SourceUnreadable 1:1 The file is empty: it needs a header row.',
  )
})

t.test('the delimiter of CSV is detected', async t => {
  const cases: readonly (readonly [string, string])[] = [
    ['a,b\n1,2', ','],
    ['a;b\n1,5;2,5\n1,5;2', ';'],
    ['a\tb\nx, y\tz', '\t'],
    ['a|b|c\n1|2|3', '|'],
    ['"a;b;c",d\n1,2', ','],
    ['name;"x, y";z\n"1\n,,,,";2;3', ';'],
    ['Name;Address, city;Zip\nA;B, C;1\nA;B;1', ';'],
    ['alone\n1\n2', ','],
    ['', ','],
  ]
  for (const [head, expected] of cases) t.equal(regularDelimiter(head), expected, JSON.stringify(head))
  t.strictSame(await dataOf(csvSource({ path: file('a;b\n1,2;3\n') })), [{ a: '1,2', b: '3' }])
  t.strictSame(await dataOf(csvSource({ path: file('a;b,c\n1;2,3\n') }, ',')), [{ 'a;b': '1;2', c: '3' }])
  t.strictSame(await dataOf(csvSource({ path: file('a\tb,c\n1\t2,3\n') }, '\t')), [{ a: '1', 'b,c': '2,3' }])
  const long = `a;b\n${'1,5;2\n'.repeat(400)}`
  t.equal((await readThrice(t, csvSource, long)).length, 400)
  t.strictSame(columnNames(['a', 'a', 'a_2', '', '__proto__']), ['a', 'a_3', 'a_2', 'column_4', 'column_5'])
})

t.test('batches of about a thousand rows, read again and again', async t => {
  const source = csvSource({ path: file(`a\n${'1\n'.repeat(2500)}`) })
  for (let again = 0; again < 2; again++) {
    const sizes: number[] = []
    for await (const batch of source.read()) sizes.push(batch.length)
    t.strictSame(sizes, [1000, 1000, 500])
  }
  t.strictSame(await source.columns?.(), ['a'])
  for await (const batch of source.read()) {
    t.equal(batch.length, 1000, 'may be left early')
    break
  }
})

t.test('batches of large rows have fewer of them', async t => {
  const body = 'word '.repeat(20_000)
  const rows = Array.from({ length: 600 }, (_, id) => ({ id: String(id), body }))
  const lines = rows.map(row => JSON.stringify(row)).join('\n')
  const csv = `id,body\n${rows.map(({ id }) => `${id},${body}\n`).join('')}`
  const sources: readonly (readonly [string, RecordSource])[] = [
    ['csv', tableSource(csvGrid({ path: file(csv) }, {}), { header: 1, footer: 0 })],
    ['csv as a whole', csvSource({ path: file(csv) })],
    ['jsonl', jsonlSource({ path: file(lines) })],
    ['json', jsonSource({ path: file(JSON.stringify(rows)) })],
  ]
  for (const [name, source] of sources) {
    const ids: unknown[] = []
    for await (const batch of source.read()) {
      t.ok(batch.length < 250, `${name}: ${batch.length} rows`)
      ids.push(...batch.map(({ data }) => data.id))
    }
    t.strictSame(
      ids,
      rows.map(({ id }) => id),
      name,
    )
  }
})

t.test('the encoding of a text file is detected or declared', async t => {
  const text = 'a,b\né,€ 🌲\n'
  const latin = Buffer.from([0x61, 0x2c, 0x62, 0x0a, 0xe9, 0x2c, 0x80, 0x92, 0x0a])
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
  for (const chunkSize of [1, 3, 1000]) {
    const all = (path: string, encoding?: TextFile['encoding']) =>
      dataOf(csvSource({ path, chunkSize, ...(encoding === undefined ? {} : { encoding }) }))
    t.strictSame(await all(file(text)), [{ a: 'é', b: '€ 🌲' }])
    t.strictSame(await all(file(utf16)), [{ a: 'é', b: '€ 🌲' }], 'by its byte order mark')
    t.strictSame(await all(file(utf16), 'utf-16le'), [{ a: 'é', b: '€ 🌲' }])
    t.strictSame(await all(file(latin), 'latin-1'), [{ a: 'é', b: '€’' }])
    t.strictSame(await all(file(gzipSync(text), '.csv.gz')), [{ a: 'é', b: '€ 🌲' }], 'gzip')
    const wrong = (content: readonly (string | number[])[], encoding?: TextFile['encoding']) =>
      refusal(() => all(file(Buffer.concat(content.map(part => Buffer.from(part as string)))), encoding))
    t.equal(
      await wrong(['a,b\r\n1,é🌲', [0xe9], ' x\n1,2'], 'utf-8'),
      'SourceUnreadable 2:6 The text is not utf-8 at byte 13.',
    )
    t.equal(
      await wrong(['a,b\n1,🌲', [0xf0, 0x9f]]),
      'SourceUnreadable 2:5 The text is not utf-8 at byte 10.',
    )
    t.equal(await wrong([[0xff], 'a'], 'utf-8'), 'SourceUnreadable 1:1 The text is not utf-8 at byte 0.')
    t.equal(
      await wrong([[0x61, 0, 0x0a, 0, 0x31]], 'utf-16le'),
      'SourceUnreadable 2:1 The text is not utf-16le at byte 4.',
    )
    t.strictSame(await all(file(latin)), [{ a: 'é', b: '€’' }], 'by its bytes')
    const swapped = Buffer.from(utf16).swap16()
    t.strictSame(await all(file(swapped)), [{ a: 'é', b: '€ 🌲' }], 'by its byte order mark')
    t.equal(
      await wrong([`a,b\n${'1,é\n'.repeat(40)}1,`, [0xe9], '\n1,é']),
      'SourceUnreadable 42:3 The text is not utf-8 at byte 206.',
      'one wrong byte does not make another encoding',
    )
  }
  const late = file(
    Buffer.concat([Buffer.from(`a\n${'x\n'.repeat(700_000)}`), Buffer.from([0xe9, 0x74, 0xe9])]),
  )
  t.strictSame((await dataOf(csvSource({ path: late }))).at(-1), { a: 'été' }, 'beyond the first megabyte')
  const wrong = csvSource({ path: file(latin), encoding: 'utf-8' })
  t.match(await rowsOf(wrong).catch((error: Fault) => error), { hint: 'encoding: latin-1' })
})

t.test('files that cannot be read', async t => {
  const read = (path: string) => refusal(() => rowsOf(csvSource({ path })))
  t.equal(
    await read(join(folder, 'none.csv')),
    'SourceUnreadable -:- The file cannot be read: there is no such file.',
  )
  t.equal(await read(folder), 'SourceUnreadable -:- The file cannot be read: it is a folder.')
  t.match(await read(file('no gzip', '.csv.gz')), /^SourceUnreadable .*incorrect header check/)
  t.match(await read(file(gzipSync('a\n1\n').subarray(0, 12), '.csv.gz')), /the gzip data end too soon/)
  t.match(await read(join(folder, 'none.csv.gz')), /there is no such file/)
})

t.test('JSON', async t => {
  const cases: readonly (readonly [string, string | undefined, unknown[]])[] = [
    ['[{"a":1},{"a":[1,{"b":"]"}]}]', undefined, [{ a: 1 }, { a: [1, { b: ']' }] }]],
    ['\ufeff [ ]', undefined, []],
    ['{"x":[{"no":1}],"data":{"rows":[{"a":"\\"}\\u00e9🌲"}]},"y":1}', '/data/rows', [{ a: '"}é🌲' }]],
    ['[[{"no":1}],{"r":[{"a":-1.5e+3}]}]', '/1/r', [{ a: -1500 }]],
    ['{"a/b":{"~":[{"a":true}]}}', '/a~1b/~0', [{ a: true }]],
    ['{"caf\\u00e9":[{"a":null}]}', '/café', [{ a: null }]],
    ['{"other":{"r":[{"no":1}]},"r":[{"a":0}]}', '/r', [{ a: 0 }]],
    ['[{"a":1}]', '', [{ a: 1 }]],
  ]
  for (const [content, records, expected] of cases) {
    const rows = await readThrice(t, jsonSource, content, records)
    t.strictSame(
      rows.map(row => row.data),
      expected,
      content,
    )
  }
  const rows = await readThrice(t, jsonSource, '[\n{"a":1},\r\n\r{\n"a":2}\n,{"a":3}]')
  t.strictSame(
    rows.map(({ row, line }) => [row, line]),
    [
      [1, 2],
      [2, 4],
      [3, 6],
    ],
  )
})

t.test('a malformed JSON document of members is refused with its place', async t => {
  writeFileSync(join(folder, 'members.json'), '{"a":{"n":1},\n"b":{"n":2}')
  const source = openSource(
    { path: 'members.json', options: { records: '/*' } },
    { datasetFolder: folder, portalFolder: folder },
  )
  await t.rejects(dataOf(source), { code: 'SourceUnreadable', place: { line: 2, column: 12 } })
})

t.test('malformed JSON is refused', async t => {
  const malformed = (place: string, reason: string) =>
    `SourceUnreadable ${place} The JSON is malformed: ${reason}`
  const cases: readonly (readonly [string, string | undefined, string])[] = [
    ['', undefined, malformed('1:1', 'a value is expected but the text ends.')],
    ['[{"a":1},\n {"a" 2}]', undefined, malformed('2:7', 'a colon is expected but 2 was found.')],
    ['[{"a":1}\n{"a":2}]', undefined, malformed('2:1', 'a comma or ] is expected but { was found.')],
    ['[{"a":1},]', undefined, malformed('1:10', 'a value is expected but ] was found.')],
    ['[{"a":1,}]', undefined, malformed('1:9', 'a name in double quotes is expected but } was found.')],
    ['[{a:1}]', undefined, malformed('1:3', 'a name in double quotes or } is expected but a was found.')],
    ['[{"a":1]', undefined, malformed('1:8', 'a comma or } is expected but ] was found.')],
    ['[{"a":01}]', undefined, malformed('1:8', 'a comma or } is expected but 1 was found.')],
    ['[{"a":1.}]', undefined, malformed('1:9', 'a digit is expected but } was found.')],
    ['[{"a":1e}]', undefined, malformed('1:9', 'a digit or sign is expected but } was found.')],
    ['[{"a":-x}]', undefined, malformed('1:8', 'a digit is expected but x was found.')],
    ['[{"a":NaN}]', undefined, malformed('1:7', 'a value is expected but N was found.')],
    ['[{"a":nul}]', undefined, malformed('1:10', 'the word null is expected but } was found.')],
    [
      '[{"a":"x\ny"}]',
      undefined,
      malformed('1:9', 'a character or the closing quote is expected but U+000A was found.'),
    ],
    ['[{"a":"\\x"}]', undefined, malformed('1:9', 'one of " \\ / b f n r t u is expected but x was found.')],
    ['[{"a":"\\u00g0"}]', undefined, malformed('1:12', 'a hexadecimal digit is expected but g was found.')],
    [
      '[{"a":"x',
      undefined,
      malformed('1:9', 'a character or the closing quote is expected but the text ends.'),
    ],
    ['[{"a":1}', undefined, malformed('1:9', 'a comma or ] is expected but the text ends.')],
    ['[{"a":1}]\n\n x', undefined, malformed('3:2', 'the end of the text is expected but x was found.')],
    ['[{"a":1}] []', undefined, malformed('1:11', 'the end of the text is expected but [ was found.')],
    ['{"a":1', '/r', malformed('1:7', 'a comma or } is expected but the text ends.')],
    ['[{"a":1},\n 5]', undefined, 'SourceUnreadable 2:2 A record must be an object.'],
    ['{"r":\n {}}', '/r', 'SourceUnreadable 2:2 The value at "/r" is not an array.'],
    ['{"r":[],\n"r":[]}', '/r', 'SourceUnreadable 2:5 There is a second value at "/r".'],
    ['"text"', undefined, 'SourceUnreadable 1:1 There is no array.'],
    [
      '{"box":[1],"a":{"b":[{"c":[{}]}]},"n":[]}',
      undefined,
      'SourceUnreadable 1:1 The records must be an array. Arrays here: /a/b, /box, /n.',
    ],
    ['{"a":[{}]}', '/b', 'SourceUnreadable 1:1 The records must be an array. Arrays here: /a.'],
    ['[{}]', '/b', 'SourceUnreadable 1:1 The records must be an array. Arrays here: "".'],
    [
      `[{"a":${'['.repeat(1001)}`,
      undefined,
      'SourceUnreadable 1:1005 Arrays and objects are nested more than 1000 deep.',
    ],
  ]
  for (const [content, records, expected] of cases)
    t.equal(await refuseThrice(t, jsonSource, content, records), expected, content.slice(0, 40))
  t.equal(await refusal(() => jsonSource({ path: 'x' }, 'a')), 'ConfigInvalid -:- "a" is not a JSON Pointer.')
  const fault = await rowsOf(jsonSource({ path: file('{"r":[{}]}') })).catch((error: Fault) => error)
  t.match(fault, { hint: 'options: { records: /r }' })
})

t.test('the scanner agrees with JSON.parse', async t => {
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"\\n"',
    '1',
    '-0',
    '0.5e1',
    'true',
    'null',
    ' ',
    '\n',
    '0',
    '.',
    'e',
  ]
  let state = 42
  const random = (n: number) => {
    state = (state * 1103515245 + 12345) % 2147483648
    return Math.floor((state / 2147483648) * n)
  }
  const { JsonScanner } = await import('../src/sources/json/json-scanner.ts')
  let accepted = 0
  for (let i = 0; i < 30_000; i++) {
    const text = Array.from({ length: 1 + random(7) }, () => pieces[random(pieces.length)]).join('')
    let parses = true
    try {
      JSON.parse(text)
    } catch {
      parses = false
    }
    let scans = true
    try {
      const scanner = new JsonScanner('x', { depth: 9, start() {}, end() {}, name() {} })
      const cut = random(text.length + 1)
      scanner.push(text.slice(0, cut))
      scanner.push(text.slice(cut))
      scanner.finish()
    } catch {
      scans = false
    }
    if (parses !== scans) t.equal(scans, parses, JSON.stringify(text))
    if (parses) accepted++
  }
  t.ok(accepted > 1000, `${accepted} of them are JSON`)
})

t.test('JSON Lines', async t => {
  const rows = await readThrice(t, jsonlSource, '{"a":1}\r\n\n  \n {"a":"é"}\n{"a":[]}')
  t.strictSame(rows, [
    { row: 1, line: 1, data: { a: 1 } },
    { row: 2, line: 4, data: { a: 'é' } },
    { row: 3, line: 5, data: { a: [] } },
  ])
  const cases: readonly (readonly [string, string])[] = [
    [
      '{"a":1}\n\n{"a":}\n',
      'SourceUnreadable 3:6 The JSON is malformed: a value is expected but } was found.',
    ],
    ['{"a":1', 'SourceUnreadable 1:7 The JSON is malformed: a comma or } is expected but the text ends.'],
    ['{"a":1}\n  [1]\n', 'SourceUnreadable 2:3 A record must be an object.'],
  ]
  for (const [content, expected] of cases) t.equal(await refuseThrice(t, jsonlSource, content), expected)
})

t.test('GeoJSON', async t => {
  const point = { type: 'Point', coordinates: [2, 48] }
  const collection = {
    type: 'FeatureCollection',
    features: [
      { type: 'Feature', id: 7, properties: { name: 'a' }, geometry: point },
      { type: 'Feature', id: 'x', properties: { id: 1, geometry: 'round' }, geometry: null },
      { type: 'Feature', properties: null, geometry: point },
    ],
  }
  const rows = await readThrice(t, geojsonSource, JSON.stringify(collection))
  t.strictSame(
    rows.map(row => row.data),
    [
      { name: 'a', feature_id: 7, geometry: point },
      { id: 1, geometry: null, properties_geometry: 'round', feature_id: 'x' },
      { geometry: point },
    ],
  )
  const all = (root: unknown, records?: string) =>
    dataOf(geojsonSource({ path: file(JSON.stringify(root)) }, records))
  const named = { type: 'Feature', id: 7, properties: { id: 1, feature_id: 'b' }, geometry: point }
  const three = [{ id: 1, feature_id: 'b', feature_id_2: 7, geometry: point }]
  t.strictSame(await all(named), three)
  t.strictSame(await all({ type: 'FeatureCollection', features: [named] }), three)
  t.strictSame(
    (await dataOf(featureLinesSource(jsonlSource({ path: file(JSON.stringify(named)) })))).map(it => ({
      ...(it as object),
    })),
    three,
  )
  t.strictSame(await all(collection.features[0]), [{ name: 'a', id: 7, geometry: point }])
  const features = [collection.features[1], named]
  t.strictSame((await all({ type: 'FeatureCollection', features }))[1], three[0], 'feature_id is seen late')
  const twice = { ...named, properties: { geometry: 'round', properties_geometry: 'flat' } }
  t.strictSame(await all(twice), [
    { geometry: point, properties_geometry: 'flat', properties_geometry_2: 'round', id: 7 },
  ])
  t.strictSame(await all(point), [{ geometry: point }])
  const geometries = { type: 'GeometryCollection', geometries: [point] }
  t.strictSame(await all(geometries), [{ geometry: geometries }])
  t.strictSame(await all({ data: [collection.features[2]] }, '/data'), [{ geometry: point }])
  const cases: readonly (readonly [string, string])[] = [
    [
      '{"features":[\n{"type":"Point"}]}',
      'SourceUnreadable 2:1 A feature must be an object with "type": "Feature".',
    ],
    [
      '{"features":[{"type":"Feature","properties":[]}]}',
      'SourceUnreadable 1:14 The properties of a feature must be an object or null.',
    ],
    [
      '{"type":"Topology","arcs":[]}',
      'SourceUnreadable 1:1 The records must be an array. Arrays here: /arcs.',
    ],
    ['{"features":null}', 'SourceUnreadable 1:13 The value at "/features" is not an array.'],
    [
      '{"type":"Point",}',
      'SourceUnreadable 1:17 The JSON is malformed: a name in double quotes is expected but } was found.',
    ],
  ]
  for (const [content, expected] of cases) t.equal(await refuseThrice(t, geojsonSource, content), expected)
})

t.test(
  'features a line have the columns of features in a document, and fields declared by members',
  async t => {
    const geometry = { type: 'Point', coordinates: [2, 48] }
    const features = [
      { type: 'Feature', id: 7, properties: { n: 1 }, geometry },
      { type: 'Feature', id: 8, properties: { n: 2, id: 'b' }, geometry: null },
    ]
    const lines = featureLinesSource(
      jsonlSource({ path: file(features.map(it => JSON.stringify(it)).join('\n')) }),
    )
    const document = geojsonSource({ path: file(JSON.stringify({ type: 'FeatureCollection', features })) })
    t.same(await dataOf(lines), await dataOf(document))
    const typed = typeRecords(lines, [
      { name: 'type' },
      { name: 'n', type: 'int' },
      { name: 'properties_n', from: '/properties/n', type: 'int' },
    ])
    for await (const { values } of typed.batches())
      t.strictSame(values, [
        ['Feature', 1, 1],
        ['Feature', 2, 2],
      ])
    t.strictSame(typed.report().missing, [])
  },
)

t.test('a module, package or file is opened from the portal folder', async t => {
  const portalFolder = join(folder, 'portal')
  const datasetFolder = join(portalFolder, 'data', 'd')
  const packages = join(portalFolder, 'node_modules')
  const write = (path: string, content: string) => {
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, content)
  }
  write(join(datasetFolder, 'in', 'trees.csv'), 'a;b\n1;2\n')
  write(join(datasetFolder, 'trees.csv.gz'), '')
  write(join(portalFolder, 'secret.csv'), 'a\n1\n')
  symlinkSync(join(portalFolder, 'secret.csv'), join(datasetFolder, 'link.csv'))
  write(join(packages, 'cjs', 'package.json'), '{"main":"./lib/main"}')
  write(join(packages, 'cjs', 'lib', 'main.js'), 'module.exports = [{ a: 1 }]')
  write(join(packages, 'cjs', 'data.bin'), 'x')
  write(join(packages, 'esm', 'package.json'), '{"type":"module","exports":{"import":"./m.js"}}')
  write(join(packages, 'esm', 'm.js'), 'export const list = [{ a: 2 }]; export const n = 1')
  write(
    join(packages, '@s', 'both', 'package.json'),
    '{"exports":{".":{"require":null,"default":"./m.mjs"},"./j":"./j.json"}}',
  )
  write(join(packages, '@s', 'both', 'm.mjs'), 'export default { rows: [{ a: 3 }, { a: 4 }] }')
  write(join(packages, '@s', 'both', 'j.json'), '[{"a":5},6]')
  write(join(packages, 'long', 'package.json'), '{"main":"./long.json"}')
  write(join(packages, 'long', 'long.json'), '[{"a":9007199254740993}]')
  write(join(packages, '@s', 'both', 'hidden', 'x.csv'), 'a\n7\n')
  write(join(packages, 'broken', 'package.json'), '{}')
  write(join(packages, 'throws', 'package.json'), '{}')
  write(join(packages, 'throws', 'index.js'), 'throw new Error("no luck")')
  write(join(packages, 'compiled', 'package.json'), '{}')
  write(join(packages, 'compiled', 'index.js'), 'exports.__esModule = true; exports.default = [{ a: 8 }]')
  const from = { datasetFolder, portalFolder }

  const good: readonly (readonly [SourceSpec, unknown[]])[] = [
    [{ path: 'in/trees.csv' }, [{ a: '1', b: '2' }]],
    [{ path: 'in/trees.csv', options: { delimiter: ',' } }, [{ 'a;b': '1;2' }]],
    [{ path: 'in/trees.csv', format: 'tsv', options: { encoding: 'ISO-8859-1' } }, [{ 'a;b': '1;2' }]],
    [{ path: 'in/trees.csv', options: { delimiter: '\\t' } }, [{ 'a;b': '1;2' }]],
    [{ package: '@s/both/hidden/x.csv' }, [{ a: '7' }]],
    [{ module: 'cjs' }, [{ a: 1 }]],
    [{ module: 'compiled' }, [{ a: 8 }]],
    [{ module: 'long' }, [{ a: 9007199254740993n }]],
    [{ module: 'esm', options: { records: '/list' } }, [{ a: 2 }]],
    [{ module: '@s/both', options: { records: '/rows' } }, [{ a: 3 }, { a: 4 }]],
  ]
  for (const [spec, expected] of good)
    t.strictSame(await dataOf(openSource(spec, from)), expected, JSON.stringify(spec))

  const bad: readonly (readonly [SourceSpec, string])[] = [
    [{}, 'ConfigInvalid -:- A source has exactly one of path, package and module.'],
    [
      { path: 'a.csv', module: 'b' },
      'ConfigInvalid -:- A source has exactly one of path, package and module.',
    ],
    [{ path: '../../secret.csv' }, 'ConfigInvalid -:- The path "../../secret.csv" leads out of its folder.'],
    [{ path: join(portalFolder, 'secret.csv') }, 'ConfigInvalid'],
    [{ path: 'link.csv' }, 'ConfigInvalid -:- The path "link.csv" leads out of its folder.'],
    [{ path: 'none.csv' }, 'SourceUnreadable -:- There is no such file.'],
    [{ path: 'in/trees' }, 'SourceUnreadable -:- There is no such file.'],
    [{ path: '.' }, 'SourceUnreadable -:- It is a folder.'],
    [
      { path: 'in/trees.csv', format: 'turtle' as never },
      'ConfigInvalid -:- "turtle" is not a format of records.',
    ],
    [
      { path: 'in/trees.csv', options: { delimeter: ';' } as never },
      'ConfigInvalid -:- The option "delimeter" means nothing for csv.',
    ],
    [
      { path: 'in/trees.csv', options: { delimiter: '::' } },
      'ConfigInvalid -:- A delimiter is one character',
    ],
    [
      { path: 'in/trees.csv', options: { encoding: 'klingon' } },
      'ConfigInvalid -:- The encoding "klingon" is not known.',
    ],
    [{ package: 'cjs/../esm/m.js' }, 'ConfigInvalid'],
    [
      { package: 'cjs', format: 'csv' },
      'ConfigInvalid -:- The path "cjs" names a package but no file in it.',
    ],
    [{ package: '../cjs/data.csv' }, 'ConfigInvalid'],
    [
      { module: 'nowhere-to-be-found' },
      'SourceUnreadable -:- The npm package nowhere-to-be-found is not installed.',
    ],
    [{ module: '/etc/passwd' }, 'ConfigInvalid'],
    [{ module: 'node:fs' }, 'ConfigInvalid'],
    [{ module: 'fs' }, 'SourceUnreadable'],
    [{ module: 'broken' }, 'SourceUnreadable -:- The module has no file to load.'],
    [{ module: '@s/both/other' }, 'SourceUnreadable -:- The package @s/both does not export this.'],
    [{ module: 'throws' }, 'SourceUnreadable -:- The module cannot be loaded: no luck'],
    [{ module: 'esm' }, 'SourceUnreadable 1:1 The records must be an array. Arrays here: /list.'],
    [{ module: '@s/both/j' }, 'SourceUnreadable -:- A record must be an object, which /1 is not.'],
    [{ module: 'cjs', options: { encoding: 'utf-8' } }, 'ConfigInvalid'],
  ]
  for (const [spec, expected] of bad) {
    const described = await refusal(async () => rowsOf(openSource(spec, from)))
    t.equal(described.slice(0, expected.length), expected, JSON.stringify(spec))
  }

  t.strictSame(sourceFiles({ path: 'in/trees.csv' }, from), [join(datasetFolder, 'in', 'trees.csv')])
  const names = sourceFiles({ module: 'cjs' }, from).map(path => path.slice(packages.length))
  t.strictSame(names, ['/cjs/package.json', '/cjs/lib/main.js', '/cjs/data.bin'])
  const formats = ['a.CSV', 'a.tab', 'a.json.gz', 'a.ndjson', 'a.b.geojson', 'a.ttl', 'csv'].map(formatOf)
  t.strictSame(formats, ['csv', 'tsv', 'json', 'jsonl', 'geojson', undefined, undefined])
  t.equal(
    (await rowsOf(openSource({ package: 'vega-datasets/data/airports.csv' }, { ...from, portalFolder: '.' })))
      .length,
    3376,
  )
})

t.test('JSON Pointers', t => {
  for (const text of ['', '/', '/a/0', '/a~1b/~0~1']) t.equal(formatPointer(parsePointer(text)), text)
  for (const text of ['a', '/~', '/~2']) t.throws(() => parsePointer(text), { code: 'ConfigInvalid' }, text)
  const object = { a: { x: { n: 1 }, y: { n: 2 }, z: {} }, l: [[1, 2], [3]] }
  t.strictSame(valuesAt(object, ['a', '*', 'n']), [1, 2])
  t.strictSame(valuesAt(object, ['l', '*', '*']), [1, 2, 3])
  t.strictSame(valuesAt(object, ['l', '*', '1']), [2])
  t.strictSame(valuesAt(object, ['none', '*']), undefined)
  t.strictSame(valuesAt(object, ['constructor']), undefined)
  t.end()
})

for (const [type, more, cases] of CONVERSIONS)
  t.test(`conversion to ${type} ${JSON.stringify(more)}`, async t => {
    const [field] = compileFields([{ name: 'f', type, ...more }])
    for (const [raw, expected] of cases) {
      const value = field?.convert(raw)
      const name = typeof raw === 'bigint' ? String(raw) : JSON.stringify(raw)
      t.strictSame(value === undefined ? DOES_NOT_FIT : value, expected, name)
      if (expected === 0) t.ok(Object.is(value, 0), `${name} is not -0`)
    }
  })

t.test('where fields take their values from', async t => {
  const data = {
    a: 'column',
    '/x/y': 'exact',
    x: { y: 'nested', 'z/~': 1 },
    languages: { nld: 'Dutch', pap: 'Papiamento' },
    currencies: { EUR: { name: 'euro' }, USD: { name: 'dollar' }, XXX: {} },
    list: [{ n: 1 }, { n: 2 }, { n: 1 }],
    lat: '48.5',
    lon: 2,
    empty: '',
  }
  const many = { annotations: { multivalued: [] } }
  const cases: readonly (readonly [Omit<FieldSpec, 'name'>, unknown])[] = [
    [{ from: 'a' }, 'column'],
    [{ from: '/x/y' }, 'exact'],
    [{ from: '/x/z~1~0', type: 'int' }, 1],
    [{ from: '/list/1/n' }, '2'],
    [{ from: '/languages/*', ...many }, ['Dutch', 'Papiamento']],
    [{ from: '/currencies', keys: true, ...many }, ['EUR', 'USD', 'XXX']],
    [{ from: '/currencies/*/name', ...many }, ['euro', 'dollar']],
    [{ from: '/list/*/n', ...many }, ['1', '2']],
    [{ from: '/list/*/n' }, '[1,2,1]'],
    [
      { from: ['lat', 'lon'], type: 'geo_point_2d' },
      { lon: 2, lat: 48.5 },
    ],
    [{ from: ['empty', 'none'], type: 'geo_point_2d' }, null],
    [{ from: 'toString' }, null],
  ]
  for (const [spec, expected] of cases) {
    const [field] = compileFields([{ name: 'f', ...spec }])
    t.strictSame(field?.convert(field.extract(data)), expected, JSON.stringify(spec))
  }
  t.strictSame(fieldOf({ name: 'f', label: 'F', ...many }), {
    name: 'f',
    label: 'F',
    type: 'text',
    description: null,
    annotations: { multivalued: [] },
    multivalued: true,
  })
})

t.test('fields that do not make sense', async t => {
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ name: 'A b' }, /cannot be called "A b"/],
    [{ type: 'integer' }, /type "integer", which does not exist/],
    [{ timezone: 'Europe/Pari' }, /time zone "Europe\/Pari", which does not exist/],
    [{ type: 'int', annotations: { multivalued: [','] } }, /only a text field can be/],
    [{ annotations: { multivalued: [3] } }, /separator that is no text/],
    [{ from: ['a', 'b'] }, /cannot be made of a list of columns/],
    [{ type: 'geo_point_2d', from: ['a'] }, /cannot be made of a list of columns/],
    [{ type: 'int', format: ',' }, /format of an int is its decimal sign or an example, not ","/],
    [{ type: 'double', format: ';' }, /decimal sign or an example, not ";"/],
    [{ type: 'date', format: 'yyy' }, /has yyy, which means nothing/],
    [{ type: 'date', format: 'MM dd' }, /lacks the year/],
    [{ type: 'date', format: 'yyyy dd' }, /lacks the month/],
    [{ type: 'date', format: 'x' }, /lacks the year/],
    [{ type: 'date', format: 'yyyy yy' }, /has the year twice/],
    [{ from: '/a~' }, /is not a JSON Pointer/],
  ]
  for (const [spec, message] of cases)
    t.throws(
      () => compileFields([{ name: 'f', ...spec }]),
      { code: 'ConfigInvalid', message },
      JSON.stringify(spec),
    )
  t.throws(() => compileFields([{ name: 'f' }, { name: 'f' }]), { message: 'There are two fields called f.' })
})

t.test('numbers for no value are those of files with types, too', async t => {
  const nulls = ['-999', 'n/a']
  const [number, point, text] = compileFields([
    { name: 'number', type: 'double', nulls },
    { name: 'point', type: 'geo_point_2d', from: ['lat', 'lon'], nulls },
    { name: 'text', nulls },
  ])
  t.strictSame(
    ['-999', -999, -999n, 'n/a', 5].map(raw => number?.convert(raw)),
    [null, null, null, null, 5],
  )
  t.equal(point?.convert([-999, -999]), null)
  t.strictSame(
    [-999, '999'].map(raw => text?.convert(raw)),
    [null, '999'],
  )
})

t.test('inference of types from text', async t => {
  const cases: readonly (readonly [string, readonly string[], FieldType])[] = [
    ['a', ['1', '', '-20', '0'], 'int'],
    ['a', ['1', '2.50'], 'double'],
    ['a', ['.5', '1.', '1e-5', '2.5E3', ' 7 '], 'double'],
    ['a', ['007', '1'], 'text'],
    ['a', ['00.5'], 'text'],
    ['a', ['+33123456789'], 'text'],
    ['a', ['123456789012345'], 'int'],
    ['a', ['1234567890123456'], 'text'],
    ['a', ['5E3', '1'], 'text'],
    ['a', ['1,5'], 'double'],
    ['a', ['1e999.'], 'text'],
    ['a', ['-', '1'], 'int'],
    ['a', ['true', 'FALSE', ''], 'boolean'],
    ['a', ['0', '1'], 'int'],
    ['a', ['y', 'n'], 'boolean'],
    ['a', ['true', '1'], 'text'],
    ['a', ['2024-02-29', '2023/01/01'], 'date'],
    ['a', ['2023-02-29'], 'text'],
    ['a', ['2024-01-01', '2024-01-01 10:00'], 'datetime'],
    ['a', ['2024-01-01T10:00:00Z'], 'datetime'],
    ['a', ['2024-01-01T25:00:00Z'], 'text'],
    ['a', ['2024'], 'int'],
    ['a', ['20240101'], 'int'],
    ['a', ['48.5,2.5'], 'text'],
    ['geo_point_2d', ['48.5, 2.5', '48,2'], 'geo_point_2d'],
    ['geoLocation', ['48.5,2.5'], 'geo_point_2d'],
    ['location', ['1,5'], 'double'],
    ['points', ['48.5,2.5'], 'text'],
    ['location', ['Paris', '48.5,2.5'], 'text'],
    ['location', ['95.5,2.5'], 'geo_point_2d'],
    ['location', ['195.5,2.5'], 'text'],
    ['a', ['{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}', 'POINT(2 1)'], 'geo_shape'],
    ['a', ['POINT(2.5 1)'], 'geo_point_2d'],
    ['a', ['Point taken'], 'text'],
    ['a', ['', ' '], 'text'],
    ['a', [], 'text'],
  ]
  for (const [name, values, expected] of cases) {
    const lines = values.map(value => `"${value.replaceAll('"', '""')}",x`)
    const source = csvSource({ path: file(`${name},z\n${lines.join('\n')}`) }, ',')
    const { fields } = await inferColumns(source)
    t.equal(fields[0]?.type, expected, `${name}: ${values.join(' ')}`)
    const typed = typeRecords(source, fields)
    for await (const batch of typed.batches()) t.ok(batch)
    t.equal(typed.report().misfitCount, 0, 'what is inferred fits')
  }
})

t.test('long integers of JSON keep their digits', async t => {
  const [safe, long, longer] = ['9007199254740991', '9007199254740993', '18446744073709551615']
  const cases: readonly (readonly [values: readonly string[], type: FieldType, found: readonly unknown[]])[] =
    [
      [[safe, '5'], 'int', [2 ** 53 - 1, 5]],
      [[long, '-9223372036854775808', '5'], 'int', [BigInt(long), -(2n ** 63n), 5]],
      [[long, '0.5'], 'double', [2 ** 53, 0.5]],
      [[longer, '5'], 'text', [longer, '5']],
      [['100000000000000000000', '5'], 'double', [1e20, 5]],
      [[longer, '0.5'], 'double', [2 ** 64, 0.5]],
      [[`"${long}"`, long], 'text', [long, long]],
      [['{"b":[18446744073709551615]}', '"x"'], 'text', ['{"b":[18446744073709551615]}', 'x']],
    ]
  for (const [values, type, expected] of cases) {
    const lines = values.map(value => `{"a":${value}}`)
    for (const source of [
      jsonSource({ path: file(`[${lines.join(',')}]`) }),
      jsonlSource({ path: file(lines.join('\n')) }),
    ]) {
      const { fields } = await inferColumns(source)
      t.equal(fields[0]?.type, type, values.join(' '))
      const found: unknown[] = []
      for await (const batch of typeRecords(source, fields).batches())
        found.push(...batch.values.map(([value]) => value))
      t.strictSame(found, expected, values.join(' '))
    }
  }
  const { columns } = await inferColumns(jsonSource({ path: file(`[{"a":${longer}},{"a":5}]`) }))
  t.match(columns[0], { why: /beyond the 64 bits/, suggestion: /say type: double, which rounds/ })
  const typed = typeRecords(jsonSource({ path: file(`[{"a":${longer}}]`) }), [{ name: 'a', type: 'int' }])
  for await (const batch of typed.batches()) t.strictSame(batch.values, [[null]])
  t.equal(typed.report().misfits[0]?.examples[0]?.found, longer)
})

t.test('integers of 64 bits are times where their size and name say so', async t => {
  const source = given([{ time: 5n, created_at: 1577836800000n, updated_at: 1577836800n, date: 2020n }])
  const { fields } = await inferColumns(source)
  t.strictSame(
    fields.map(({ name, type, format }) => [name, type, format]),
    [
      ['time', 'int', undefined],
      ['created_at', 'datetime', 'epoch-ms'],
      ['updated_at', 'datetime', 'epoch-s'],
      ['date', 'int', undefined],
    ],
  )
})

t.test('inference of JSON', async t => {
  const point = { type: 'Point', coordinates: [2, 1] }
  const wide = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, i]))
  const { fields } = await inferColumns(
    given([
      {
        i: 1,
        d: 1,
        b: true,
        s: null,
        n: { x: { 'y/z': 1 } },
        list: [],
        geo: point,
        pos: { lon: 2, lat: 1 },
        none: null,
      },
      { i: 2 ** 53, d: 1.5, b: false, s: 'x', n: null, list: ['a', 1], geo: point, wide, some: null },
      {
        mixed: { a: 1 },
        shape: {
          type: 'LineString',
          coordinates: [
            [2, 1],
            [3, 1],
          ],
        },
        objects: [{ a: 1 }],
        bare: {},
      },
      {
        mixed: 3,
        shape: point,
        deep: { a: { b: { c: { d: 1 } } } },
        some: { in: 'x' },
        n: { x: 2, 'É t': '2024-01-01' },
      },
    ]),
  )
  t.strictSame(
    fields.map(({ name, type, from, annotations }) => [name, type, from, ...(annotations ? ['list'] : [])]),
    [
      ['i', 'double', 'i'],
      ['d', 'double', 'd'],
      ['b', 'boolean', 'b'],
      ['s', 'text', 's'],
      ['n_x', 'text', '/n/x'],
      ['n_e_t', 'date', '/n/É t'],
      ['list', 'text', 'list', 'list'],
      ['geo', 'geo_point_2d', 'geo'],
      ['pos', 'geo_point_2d', 'pos'],
      ['none', 'text', 'none'],
      ['wide', 'text', 'wide'],
      ['some_in', 'text', '/some/in'],
      ['mixed', 'text', 'mixed'],
      ['shape', 'geo_shape', 'shape'],
      ['objects', 'text', 'objects'],
      ['bare', 'text', 'bare'],
      ['deep_a_b_c', 'text', '/deep/a/b/c'],
    ],
  )
  t.equal(fields[5]?.label, 'n.É t')
  t.strictSame(
    safeNames(['Height (m)', 'Straße', 'Œuvre', '日本', 'height m', 'a', 'A', 'a_2', '2020', '__']),
    ['height_m', 'strasse', 'oeuvre', 'column_4', 'height_m_2', 'a', 'a_3', 'a_2', '2020', 'column_10'],
  )
  const years = csvSource({ path: file('name,2020,2019\nx,1,2\n') })
  t.strictSame(
    (await inferColumns(years)).fields.map(field => field.name),
    ['name', '2020', '2019'],
    'order of the header',
  )
  const long = 'Which of these would you say is the most '.repeat(5)
  const names = safeNames([long, `${long}?`, 'x'.repeat(100), `${'x'.repeat(99)} `, 'y'.repeat(101)])
  t.ok(
    names.every(name => /^[a-z0-9_]{1,100}$/.test(name)),
    'long titles give names that a field can have',
  )
  t.equal(new Set(names).size, names.length)
})

t.test('values become null where they do not fit the type of their field', async t => {
  const source = csvSource({
    path: file(`name,height,lat,lon\nOak,12,1,2\nElm,tall,,\n\nFir,${'9'.repeat(100)},x,3\n`, '.csv'),
  })
  const typed = typeRecords(source, [
    { name: 'name' },
    { name: 'h', type: 'int', from: 'height' },
    { name: 'at', type: 'geo_point_2d', from: ['lat', 'lon'] },
    { name: 'width', type: 'int', from: 'hieght' },
    { name: 'path', from: '/a/b' },
  ])
  const values: unknown[] = []
  for await (const batch of typed.batches()) {
    if (values.length === 0) t.equal(typed.report().missing.length, 2, 'a header tells at once')
    values.push(...batch.values)
    t.equal(batch.rows.length, batch.values.length)
  }
  t.strictSame(values, [
    ['Oak', 12, { lon: 2, lat: 1 }, null, null],
    ['Elm', null, null, null, null],
    ['Fir', null, null, null, null],
  ])
  t.strictSame(typed.report(), {
    rows: 3,
    misfitCount: 3,
    unread: [],
    misfits: [
      {
        field: 'h',
        column: 'height',
        expected: 'an int',
        count: 2,
        examples: [
          { row: 2, line: 3, found: 'tall', count: 1 },
          { row: 3, line: 5, found: `${'9'.repeat(79)}…`, count: 1 },
        ],
      },
      {
        field: 'at',
        column: 'lat, lon',
        expected: 'a geo_point_2d',
        count: 1,
        examples: [{ row: 3, line: 5, found: '["x","3"]', count: 1 }],
      },
    ],
    fields: {
      name: { present: 3, nulls: 0, misfits: 0 },
      h: { present: 1, nulls: 2, misfits: 2 },
      at: { present: 1, nulls: 2, misfits: 1 },
      width: { present: 0, nulls: 3, misfits: 0 },
      path: { present: 0, nulls: 3, misfits: 0 },
    },
    missing: [
      {
        level: 'error',
        field: 'width',
        column: 'hieght',
        message: 'The field width takes its values from "hieght", which the source does not have.',
        nearest: 'height',
        available: ['name', 'height', 'lat', 'lon'],
      },
      {
        level: 'error',
        field: 'path',
        column: '/a/b',
        message: 'The field path takes its values from "/a/b", which the source does not have.',
        nearest: undefined,
        available: ['name', 'height', 'lat', 'lon'],
      },
    ],
  })
  for await (const batch of typed.batches()) t.ok(batch)
  t.equal(typed.report().rows, 3, 'a second reading reports for itself')
})

t.test('typing of JSON misses columns over the whole source', async t => {
  const data = [
    ...Array.from({ length: 1500 }, () => ({ name: { common: 'x' }, at: null })),
    { name: { common: 'x' }, late: null },
  ]
  const lines = data.map(row => JSON.stringify(row)).join('\n')
  const typed = typeRecords(jsonlSource({ path: file(lines) }), [
    { name: 'late' },
    { name: 'c', from: '/name/comon' },
    { name: 'n', from: '/name/common', type: 'date' },
    { name: 'never', from: '/never/*', annotations: { multivalued: [] } },
    // Of an object that is null in all records nobody knows the members.
    { name: 'city', from: '/at/city' },
    { name: 'phones', from: '/at/phones/*/n', annotations: { multivalued: [] } },
    { name: 'mistyped', from: '/att/city' },
  ])
  for await (const batch of typed.batches()) t.ok(batch)
  const report = typed.report()
  t.strictSame(
    report.missing.map(({ field, nearest }) => [field, nearest]),
    [
      ['c', '/name/common'],
      ['never', undefined],
      ['mistyped', undefined],
    ],
  )
  t.equal(report.misfitCount, 1501)
  t.equal(report.fields.phones?.nulls, 1501)
  t.match(report.misfits, [{ field: 'n', count: 1501, examples: [{ row: 1, found: 'x', count: 1501 }] }])
  t.strictSame(typeRecords(given([]), [{ name: 'a' }]).report().missing, [])
})

t.test('an integer beyond 64 bits is reported with the reason', async t => {
  const rows = ['9223372036854775807', '9223372036854775808', 'x'].map(
    (n, at) => `{"n":${at < 2 ? n : '"x"'},"m":"x"}`,
  )
  const typed = typeRecords(jsonlSource({ path: file(rows.join('\n')) }), [
    { name: 'n', type: 'int' },
    { name: 'm', type: 'int' },
  ])
  for await (const { values } of typed.batches())
    t.strictSame(values, [
      [9223372036854775807n, null],
      [null, null],
      [null, null],
    ])
  t.strictSame(typed.report().misfits.map(conversionErrorsText), [
    'n: 2 values are not an int: "9223372036854775808" (line 2, record 2), "x" (line 3, record 3); an int has at most 64 bits, text keeps all digits',
    'm: 3 values are not an int: "x" (3 times, first in line 1, record 1)',
  ])
})

t.test('a time zone has one format, however its name is written', async t => {
  const { DateTimeFormat } = Intl
  let made = 0
  class Counted extends DateTimeFormat {
    constructor(...options: ConstructorParameters<typeof DateTimeFormat>) {
      super(...options)
      made++
    }
  }
  Object.assign(Intl, { DateTimeFormat: Counted })
  t.teardown(() => Object.assign(Intl, { DateTimeFormat }))
  for (const zone of ['etc/gmt-9', 'Etc/GMT-9', 'ETC/GMT-9', 'etc/gmT-9']) t.ok(isTimeZone(zone), zone)
  t.equal(zoneOffset('eTC/gmt-9', 0), 9 * 3_600_000)
  t.equal(made, 1)
})

t.test('zones have their offset around the beginning of the year 1', async t => {
  for (const moment of ['0000-06-01T00:00:00Z', '0001-01-01T00:00:00Z', '0001-01-09T00:00:00Z'])
    t.equal(zoneOffset('America/New_York', Date.parse(moment)), -17_762_000, moment)
})

t.test('moments of metadata are those of ISO 8601, in UTC where they have no offset', async t => {
  for (const [text, expected] of [
    ['2026-01-02T03:04:05.678+00:00', '2026-01-02T03:04:05.678Z'],
    ['2026-01-02T03:04:05+0200', '2026-01-02T01:04:05Z'],
    ['2026-01-02 03:04', '2026-01-02T03:04:00Z'],
    ['2026-01-02T03:04:05.120000', '2026-01-02T03:04:05.12Z'],
    ['2026-01-02', '2026-01-02T00:00:00Z'],
    ['2026-01-02Z', '2026-01-02T00:00:00Z'],
    ['2026-01-02+02:00', '2026-01-01T22:00:00Z'],
    ['2026-01-02T03:04:05 +0200', '2026-01-02T01:04:05Z'],
    ['2026-01', '2026-01-01T00:00:00Z'],
    ['2026', '2026-01-01T00:00:00Z'],
    ['-000044-03-15', '-000044-03-15T00:00:00Z'],
    ['spring 2020', null],
    ['5 May 2020', null],
    ['2026-13-02', null],
    ['2024-02-29', '2024-02-29T00:00:00Z'],
    ['2026-02-29', null],
    ['2026-04-31T12:00Z', null],
    ['2019-2020', null],
    ['2019 - 2020', null],
    ['2026-01-0203', null],
  ] as const)
    t.equal(canonicalMoment(text), expected, text)
})

t.test('the nearest name is suggested for a typo', t => {
  const cases: readonly (readonly [string, readonly string[], string | undefined])[] = [
    ['hieght', ['weight', 'height'], 'height'],
    ['Name', ['nom', 'name'], 'name'],
    ['lat', ['lon', 'lot'], 'lot'],
    ['a', ['b'], 'b'],
    ['abc', ['xyz', ''], undefined],
    ['population', ['populaton', 'popluation'], 'populaton'],
  ]
  for (const [name, candidates, expected] of cases) t.equal(nearest(name, candidates), expected, name)
  t.end()
})

t.test('no-break spaces within words of a text', async t => {
  const encodingOf = (text: string) => {
    const sample = new EncodingSample()
    sample.add(Buffer.from(text, 'latin1'))
    return sample.encoding()
  }
  t.equal(
    encodingOf('The Upshot\xcafound that\xcadifferent pollsters differ, or isn\xd5t it\xcaso'),
    'macintosh',
  )
  t.equal(encodingOf('Prix\xa0moyen par\xa0an, 12\xa0000\xa0EUR'), 'latin-1')
})

t.test('signs that are letters in other encodings', t => {
  const texts = [
    'Supplier,Amount\nBT PLC,\xa3512\nHSBC,"\xa323,705"\nBT PLC,\xa3852\nHSBC,\xa35\nHSBC,\xa36\n',
    'Item,Price (\xa3)\nChair,1\n',
    'Item,Total \xa3\nChair,1\n',
    'Item,Law\na,\xa7 5\nb,\xa7 12 Abs. 1\n',
    'n,v\na,5 \xb5g\nb,12\xb0C\n',
    'N\xba,v\n1,2\xaa\n2,1\xba A\n',
  ]
  for (const text of texts) {
    const sample = new EncodingSample()
    sample.add(Buffer.from(text, 'latin1'))
    t.equal(sample.encoding(), 'latin-1', text)
  }
  t.end()
})

t.test('texts of code pages of Windows', async t => {
  const texts = [
    ['windows-1250', 'Korlátozott parancsértelmezőt nem lehet másikra átállítani'],
    ['windows-1255', 'עיר,רחוב\nראשון לציון,הרצל\nאשקלון,בן גוריון\n'],
    ['windows-1256', 'المدينة,الشارع\nالقاهرة,شارع النيل\nالإسكندرية,طريق الحرية\n'],
    ['windows-874', 'จังหวัด,ชื่อ\nเชียงใหม่,โรงเรียน\nขอนแก่น,วันที่\n'],
  ] as const
  for (const [encoding, text] of texts) {
    const letters = [...new TextDecoder(encoding).decode(Uint8Array.from({ length: 256 }, (_, code) => code))]
    const sample = new EncodingSample()
    sample.add(Buffer.from([...text].map(letter => letters.indexOf(letter))))
    t.equal(sample.encoding(), encoding)
  }
})
