import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import t from 'tap'
import { csv } from '../src/formats/csv.ts'
import { gpx } from '../src/formats/gpx.ts'
import { kml } from '../src/formats/kml.ts'
import { inSheets, sheetName, spreadsheetml } from '../src/formats/spreadsheetml.ts'
import type { ExportOptions, Table, TableColumn, TableRow, TableWriter } from '../src/formats/table.ts'
import { xlsx } from '../src/formats/xlsx.ts'
import { zip } from '../src/formats/zip-stream.ts'
import type { FieldType } from '../src/model/field.ts'
import {
  distinctNames,
  escapeXml,
  isXmlText,
  xmlAttribute,
  xmlDecimal,
  xmlName,
  xmlText,
} from '../src/model/xml.ts'
import { temporaryFolder } from './support/folder.ts'

/** Tables as spreadsheets, KML and GPX, with values that are hard to write, read back here and by other programs. */

const OPTIONS: ExportOptions = {
  useLabels: false,
  delimiter: ';',
  listSeparator: ',',
  quoteAll: false,
  withBom: false,
  epsg: 4326,
  nameField: null,
  descriptionFields: null,
  useExtension: false,
  parquetCompression: 'snappy',
  numericDates: false,
}

function column(key: string, type: FieldType, multivalued = false): TableColumn {
  return { key, label: `The ${key}`, type, multivalued }
}

const COLUMNS = [
  column('title', 'text'),
  column('many', 'text', true),
  column('n', 'int'),
  column('x', 'double'),
  column('ok', 'boolean'),
  column('on', 'date'),
  column('at', 'datetime'),
  column('place', 'geo_point_2d'),
  column('2 <odd>', 'text'),
]
const ROWS: readonly TableRow[] = [
  [
    'Åland "x" & <y> ]]> \'q\'',
    ['a', 'b;c'],
    1,
    0.5,
    true,
    '2020-03-29',
    '2020-03-29T02:30:00.5+02:00',
    [2.25, 48.5],
  ],
  [
    'line\nbreak\ttab',
    null,
    Number.MAX_SAFE_INTEGER,
    1e21,
    false,
    '1899-12-31',
    '1850-01-01T00:00:00Z',
    [180, 1e-7],
  ],
  [
    'שלום עולם 😀',
    ['é', 'ü'],
    -2,
    -1.5e-9,
    null,
    '9999-12-31',
    '2020-12-31T23:59:59+14:00',
    [-180, -90],
    '=1+1',
  ],
  [],
  ['', ['x'], 0, 0, false, null, null, [0, 0], '_x0041_ \u0000\u001b\ufffe \ud800 '],
].map(values => Object.fromEntries(COLUMNS.map(({ key, type }, index) => [key, given(values[index], type)])))

function given(value: unknown, type: FieldType): unknown {
  return type === 'geo_point_2d' && Array.isArray(value) ? { lon: value[0], lat: value[1] } : (value ?? null)
}

function table(rows: readonly TableRow[] = ROWS, columns = COLUMNS, name = 'made', size = 2): Table {
  async function* pieces() {
    yield []
    for (let at = 0; at < rows.length; at += size) yield rows.slice(at, at + size)
  }
  return { name, title: 'Made & <shown>', columns, rows: pieces() }
}

async function written(pieces: AsyncIterable<string | Uint8Array>): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const piece of pieces) parts.push(Buffer.from(piece as string))
  return Buffer.concat(parts)
}

interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: Element[]
  text: string
}

const TOKEN = /<\?[^>]*\?>|<(\/?)([^\s/>]+)((?:\s+[^\s=]+="[^"<]*")*)\s*(\/?)>|([^<]+)/y

/** Reads XML; throws for all that is not well-formed. */
function parseXml(bytes: Buffer): Element {
  const xml = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are meant
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(xml))
    throw new Error('a character out of XML')
  const root: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [root]
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < xml.length; ) {
    const at = TOKEN.lastIndex
    const token = TOKEN.exec(xml)
    const parent = open.at(-1)
    if (token === null || parent === undefined) throw new Error(`not well-formed: ${xml.slice(at, at + 80)}`)
    const [, closing, name, attributes = '', empty, text] = token
    if (text !== undefined) parent.text += unescaped(text)
    else if (closing === '/' && open.pop()?.name !== name) throw new Error(`</${name}> closes another`)
    else if (closing === '' && name !== undefined) {
      const element = { name, attributes: attributesOf(attributes), children: [], text: '' }
      parent.children.push(element)
      if (empty === '') open.push(element)
    }
  }
  const [document, ...others] = root.children
  if (open.length !== 1 || document === undefined || others.length > 0) throw new Error('not one element')
  return document
}

function attributesOf(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([^\s=]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [
    name,
    unescaped(value),
  ])
  if (new Set(pairs.map(([name]) => name)).size < pairs.length) throw new Error(`an attribute twice: ${text}`)
  return Object.fromEntries(pairs)
}

function unescaped(text: string): string {
  const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }
  if (text.includes(']]>')) throw new Error(']]> in a text')
  return text.replace(/&(?:#(\d+);|(\w+);)?/g, (all, code, name) => {
    const character = code === undefined ? named[name] : String.fromCodePoint(Number(code))
    if (character === undefined) throw new Error(`unknown reference ${all}`)
    return character
  })
}

function all(element: Element, name: string): Element[] {
  return element.children.flatMap(child => [...(child.name === name ? [child] : []), ...all(child, name)])
}

/** The files of an archive by its directory, each unpacked. */
function unzip(archive: Buffer): ReadonlyMap<string, Buffer> {
  const end = archive.length - 22
  const files = new Map<string, Buffer>()
  let at = archive.readUInt32LE(end + 16)
  for (let count = archive.readUInt16LE(end + 10); count > 0; count--) {
    const length = archive.readUInt16LE(at + 28)
    const from = archive.readUInt32LE(at + 42) + 30 + length
    const packed = archive.subarray(from, from + archive.readUInt32LE(at + 20))
    const content = inflateRawSync(packed)
    if (content.length !== archive.readUInt32LE(at + 24)) throw new Error('another size')
    files.set(archive.toString('utf8', at + 46, at + 46 + length), content)
    at += 46 + length + archive.readUInt16LE(at + 30)
  }
  return files
}

t.test('XML holds every text', async t => {
  for (const text of ['', 'a&b<c>"d"\'', ']]>', ' \t\r\n ', 'é שלום 😀', '&amp;', '\u0085\u2028']) {
    const attribute = parseXml(Buffer.from(`<a b="${xmlAttribute(text)}">${xmlText(text)}</a>`))
    t.strictSame([attribute.attributes.b, attribute.text], [text, text])
    t.equal(parseXml(Buffer.from(`<a>${escapeXml(text)}</a>`)).text, text)
    t.ok(isXmlText(text))
  }
  t.equal(xmlText('\u0000a\u001f\ud800b\uffff'), '\ufffda\ufffd\ufffdb\ufffd')
  t.strictSame(['\u0000', '\ud800', '\ufffe', '\u0000'].map(isXmlText), [false, false, false, false])
  t.strictSame(['a b', '1', '', 'é-ü.1', 'a:b', '😀', '名前×'].map(xmlName), [
    'a_b',
    '_1',
    '_',
    'é-ü.1',
    'a_b',
    '_',
    '名前_',
  ])
  t.strictSame([1, -0.5, 1e-7, -1.2345678901234568e-10].map(xmlDecimal), [
    '1',
    '-0.5',
    '0.0000001',
    '-0.00000000012345678901234568',
  ])
  t.strictSame(distinctNames(['a', 'a', 'a_2', 'a']), ['a', 'a_2', 'a_2_2', 'a_3'])
})

const LONG = `${'y'.repeat(32_765)}😀z`
/** What the cells of a spreadsheet hold, of the rows above; moments as their text. */
const CELLS = [
  [
    'Åland "x" & <y> ]]> \'q\'',
    'a,b;c',
    1,
    0.5,
    true,
    '2020-03-29T00:00:00.000',
    '2020-03-29T02:30:00.500',
    '48.5, 2.25',
    null,
  ],
  [
    'line\nbreak\ttab',
    null,
    Number.MAX_SAFE_INTEGER,
    1e21,
    false,
    '1899-12-31',
    '1850-01-01T00:00:00Z',
    '1e-7, 180',
    null,
  ],
  [
    ROWS[2]?.title,
    'é,ü',
    -2,
    -1.5e-9,
    null,
    '9999-12-31T00:00:00.000',
    '2020-12-31T23:59:59.000',
    '-90, -180',
    '=1+1',
  ],
  [null, null, null, null, null, null, null, null, null],
  ['', 'x', 0, 0, false, null, null, '0, 0', '_x0041_ \u0000\u001b\ufffe \ufffd '],
]

/** The cells of each row of a worksheet of SpreadsheetML. */
function spreadsheetCells(sheet: Element): unknown[][] {
  return all(sheet, 'Row').map(row => {
    const cells: unknown[] = COLUMNS.map(() => null)
    let at = 0
    for (const cell of row.children) {
      at = Number(cell.attributes['ss:Index'] ?? at + 1)
      const [data] = cell.children
      const type = data?.attributes['ss:Type']
      const text = data?.text ?? ''
      cells[at - 1] = type === 'Number' ? Number(text) : type === 'Boolean' ? text === '1' : text
    }
    return cells
  })
}

t.test('SpreadsheetML', async t => {
  const book = parseXml(await written(spreadsheetml(table(), OPTIONS)))
  const [sheet, ...others] = all(book, 'Worksheet')
  t.equal(others.length, 0)
  t.equal(sheet?.attributes['ss:Name'], 'made')
  const [head, ...cells] = spreadsheetCells(sheet as Element)
  t.strictSame(
    head,
    COLUMNS.map(({ key }) => key),
  )
  const legible = CELLS.map(row => row.map(cell => (typeof cell === 'string' ? replaced(cell) : cell)))
  t.strictSame(cells, legible)
  const styles = all(book, 'Style').map(({ attributes }) => attributes['ss:ID'])
  t.ok(all(book, 'Cell').every(({ attributes: { 'ss:StyleID': id = 'day' } }) => styles.includes(id)))

  const several = parseXml(await written(spreadsheetml(table(), OPTIONS, 2)))
  const sheets = all(several, 'Worksheet')
  t.strictSame(
    sheets.map(({ attributes }) => attributes['ss:Name']),
    ['made', 'made 2', 'made 3'],
  )
  t.strictSame(
    sheets.flatMap(it => spreadsheetCells(it).slice(1)),
    legible,
  )
})

function replaced(text: string): string {
  return Array.from(text, character => (isXmlText(character) ? character : '\ufffd')).join('')
}

/** The cells of each row of a worksheet of a workbook. */
function workbookCells(sheet: Buffer): unknown[][] {
  return all(parseXml(sheet), 'row').map(row => {
    const cells: unknown[] = COLUMNS.map(() => null)
    for (const cell of row.children) {
      const { r = '', t: type, s: style = '0' } = cell.attributes
      if (r.slice(1) !== row.attributes.r) throw new Error(`cell ${r} in row ${row.attributes.r}`)
      const text = all(cell, type === 'inlineStr' ? 't' : 'v')[0]?.text ?? ''
      cells[r.charCodeAt(0) - 65] =
        type === 'inlineStr'
          ? decoded(text)
          : type === 'b'
            ? text === '1'
            : numberOrMoment(Number(text), style)
    }
    return cells
  })
}

function decoded(text: string): string {
  return text.replace(/_x([0-9A-F]{4})_/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
}

function numberOrMoment(value: number, style: string): unknown {
  return style === '0'
    ? value
    : new Date(Math.round((value - 25_569) * 86_400_000)).toISOString().slice(0, -1)
}

t.test('Office Open XML workbook', async t => {
  const files = unzip(await written(xlsx(table(), OPTIONS)))
  t.strictSame([...files.keys()].sort(), [
    '[Content_Types].xml',
    '_rels/.rels',
    'xl/_rels/workbook.xml.rels',
    'xl/styles.xml',
    'xl/workbook.xml',
    'xl/worksheets/sheet1.xml',
  ])
  for (const content of files.values()) parseXml(content)
  const [head, ...cells] = workbookCells(files.get('xl/worksheets/sheet1.xml') as Buffer)
  t.strictSame(
    head,
    COLUMNS.map(({ key }) => key),
  )
  t.strictSame(cells, CELLS)

  const extents = async (made: Table, limits?: { rows: number; characters: number }) => {
    const parts = unzip(await written(xlsx(made, OPTIONS, limits)))
    const sheets = [...parts.keys()].filter(name => name.startsWith('xl/worksheets/')).sort()
    return sheets.map(name => {
      const found = all(parseXml(parts.get(name) as Buffer), 'dimension')[0]?.attributes.ref ?? null
      const rows = workbookCells(parts.get(name) as Buffer)
      if (found !== null) t.match(found, new RegExp(`[A-Z]${rows.length}$`), 'as many rows as there are')
      return found
    })
  }
  const many = Array.from({ length: 7 }, () => ROWS[0] as TableRow)
  const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[COLUMNS.length - 1]
  t.strictSame(await extents(table([])), [`A1:${last}1`])
  t.strictSame(await extents(table(many, COLUMNS, 'made', 7)), [`A1:${last}8`], 'rows that come at once')
  t.strictSame(await extents(table(many, COLUMNS, 'made', 1)), [null], 'nobody knows the number')
  const known = () => ({ ...table(many, COLUMNS, 'made', 3), count: async () => 7 })
  t.strictSame(await extents(known()), [`A1:${last}8`])
  t.strictSame(await extents(known(), { rows: 5, characters: 1e9 }), [`A1:${last}6`, `A1:${last}3`])
  t.strictSame(
    await extents(known(), { rows: 7, characters: 1 }),
    [null, null, null],
    'sheets may end before',
  )
  t.strictSame(await extents(table([{ a: 1 }], [])), ['A1:A2'])

  for (const limits of [
    { rows: 2, characters: 1e9 },
    { rows: 100, characters: 1 },
  ]) {
    const several = unzip(await written(xlsx(table(), { ...OPTIONS, useLabels: true }, limits)))
    const sheets = [1, 2, 3].map(number => several.get(`xl/worksheets/sheet${number}.xml`) as Buffer)
    t.strictSame(
      sheets.flatMap(sheet => workbookCells(sheet).slice(1)),
      CELLS,
      'nothing is lost between sheets',
    )
    t.equal(workbookCells(sheets[2] as Buffer)[0]?.[0], 'The title')
    t.equal(several.size, 8)
    const names = all(parseXml(several.get('xl/workbook.xml') as Buffer), 'sheet').map(
      it => it.attributes.name,
    )
    t.strictSame(names, ['made', 'made 2', 'made 3'])
  }
})

t.test('what spreadsheets cannot hold', async t => {
  const columns = Array.from({ length: 703 }, (_, index) => column(`c${index}`, 'text'))
  const files = unzip(await written(xlsx(table([{ c0: LONG, c702: 'z' }], columns), OPTIONS)))
  const [, row] = all(parseXml(files.get('xl/worksheets/sheet1.xml') as Buffer), 'row')
  const [first, last] = row?.children ?? []
  t.equal(all(first as Element, 't')[0]?.text, `${'y'.repeat(32_765)}…`, 'no half of a character is left')
  t.strictSame(
    [first, last].map(cell => cell?.attributes.r),
    ['A2', 'AAA2'],
  )
  const names = [
    ['a/b:c[d]*?\\', 'a_b_c_d____'],
    ["'quoted'", '_quoted_'],
    ['', '_'],
    ['History', '_History'],
    ['x'.repeat(40), 'x'.repeat(31)],
    [`${'x'.repeat(30)}😀`, `${'x'.repeat(30)}\ufffd`],
  ] as const
  for (const [name, expected] of names) t.equal(sheetName(name, 1), expected)
  t.equal(sheetName('x'.repeat(40), 12), `${'x'.repeat(28)} 12`)
})

/** Until a figure stands still for a while, or is beyond what is sensible. */
async function standing(figure: () => number): Promise<number> {
  for (let [before, still] = [figure(), 0]; ; ) {
    await new Promise(resolve => setTimeout(resolve, 20))
    still = figure() === before ? still + 1 : 0
    before = figure()
    if (still === 5 || before > 60_000) return before
  }
}

t.test('rows are taken as they are read, and left where reading stops', async t => {
  for (const [name, writer] of Object.entries({ spreadsheetml, xlsx, kml, gpx }) as [string, TableWriter][]) {
    let requested = 0
    let closed = false
    const endless = async function* () {
      try {
        for (;;)
          yield Array.from({ length: 500 }, () => ({
            title: `row ${requested++}`,
            place: { lon: 1, lat: 2 },
          }))
      } finally {
        closed = true
      }
    }
    const pieces = writer({ ...table(), rows: endless() }, OPTIONS)[Symbol.asyncIterator]()
    t.notOk((await pieces.next()).done)
    t.equal(requested, 0, `${name} begins before the first row`)
    for (let count = 0; count < 3; count++) await pieces.next()
    t.ok((await standing(() => requested)) < 60_000, `${name} waits for its reader`)
    await pieces.return?.()
    for (let tries = 0; !closed && tries < 200; tries++) await new Promise(resolve => setTimeout(resolve, 20))
    t.ok(closed, `${name} closes its rows`)
  }
})

t.test('a failure of the rows is one of the file', async t => {
  const failing = async function* () {
    yield ROWS
    throw new Error('store went away')
  }
  for (const writer of [spreadsheetml, xlsx, kml, gpx] as TableWriter[])
    await t.rejects(written(writer({ ...table(), rows: failing() }, OPTIONS)), { message: 'store went away' })
  await t.rejects(written(zip(failingEntries())), { message: 'no more' })
})

async function* failingEntries() {
  yield { name: 'a', content: ['b'] }
  throw new Error('no more')
}

t.test('tables without rows', async t => {
  for (const writer of [spreadsheetml, kml, gpx] as TableWriter[])
    for (const columns of [COLUMNS, []]) parseXml(await written(writer(table([], columns, ''), OPTIONS)))
  t.equal(
    workbookCells(unzip(await written(xlsx(table([]), OPTIONS))).get('xl/worksheets/sheet1.xml') as Buffer)
      .length,
    1,
  )
  const sheets: unknown[] = []
  for await (const sheet of inSheets(table(ROWS.slice(0, 4)).rows, 2))
    for await (const rows of sheet) sheets.push(rows)
  t.equal(sheets.length, 2, 'no empty sheet follows a full one')
})

function shape(type: string, coordinates: unknown, more = {}): TableRow {
  return { type: 'Feature', geometry: { type, coordinates, ...more }, properties: {} }
}

const RING = [
  [0, 0],
  [4, 0],
  [4, 4],
  [0, 0],
]
const HOLE = [
  [1, 1],
  [2, 1],
  [2, 2],
  [1, 1],
]
/** Shapes, and how KML and GPX write them. */
const SHAPES: readonly (readonly [TableRow | null, kml: string, segments: string])[] = [
  [shape('Point', [1, 2]), 'Point(1,2)', 'wpt 1 2'],
  [shape('Point', [1, 2, 3]), 'Point(1,2,3)', 'wpt 1 2'],
  [null, '', ''],
  [shape('Point', []), '', ''],
  [
    shape('LineString', [
      [0, 0],
      [1e-7, 1],
    ]),
    'LineString(0,0 0.0000001,1)',
    'trk 0 0,0.0000001 1',
  ],
  [
    shape('Polygon', [RING, HOLE]),
    'Polygon(outerBoundaryIs(LinearRing(0,0 4,0 4,4 0,0))innerBoundaryIs(LinearRing(1,1 2,1 2,2 1,1)))',
    'trk 0 0,4 0,4 4,0 0;1 1,2 1,2 2,1 1',
  ],
  [
    shape('MultiPolygon', [[RING], [HOLE]]),
    'MultiGeometry(Polygon(outerBoundaryIs(LinearRing(0,0 4,0 4,4 0,0)))Polygon(outerBoundaryIs(LinearRing(1,1 2,1 2,2 1,1))))',
    'trk 0 0,4 0,4 4,0 0;1 1,2 1,2 2,1 1',
  ],
  [
    shape('MultiPoint', [
      [1, 2],
      [180, 4],
    ]),
    'MultiGeometry(Point(1,2)Point(180,4))',
    'trk 1 2;-180 4',
  ],
  [
    shape('MultiLineString', [
      [
        [0, 0],
        [1, 1],
      ],
      [
        [2, 2],
        [3, 3],
      ],
    ]),
    'MultiGeometry(LineString(0,0 1,1)LineString(2,2 3,3))',
    'trk 0 0,1 1;2 2,3 3',
  ],
  [
    shape('GeometryCollection', undefined, {
      geometries: [
        { type: 'Point', coordinates: [1, 2] },
        {
          type: 'LineString',
          coordinates: [
            [0, 0],
            [1, 1],
          ],
        },
      ],
    }),
    'MultiGeometry(Point(1,2)LineString(0,0 1,1))',
    'trk 1 2;0 0,1 1',
  ],
  [shape('Point', [5, 6]), 'Point(5,6)', 'trk 5 6'],
]
const SHAPE_COLUMNS = [column('title', 'text'), column('area', 'geo_shape'), column('place', 'geo_point_2d')]
const SHAPE_ROWS = SHAPES.map(([area], index) => ({
  title: `r${index}`,
  area,
  place: { lon: index, lat: 0 },
}))

/** A geometry of KML in short: names with what they hold. */
function short({ name, children, text }: Element): string {
  return name === 'coordinates' ? text : `${name}(${children.map(short).join('')})`
}

function simpleData(placemark: Element): Record<string, string> {
  return Object.fromEntries(
    all(placemark, 'SimpleData').map(({ attributes, text }) => [attributes.name, text]),
  )
}

t.test('KML', async t => {
  const file = parseXml(await written(kml(table(), OPTIONS)))
  const placemarks = all(file, 'Placemark')
  t.equal(placemarks.length, ROWS.length)
  t.strictSame(
    all(file, 'SimpleField').map(({ attributes: { name, type } }) => `${name} ${type}`),
    [
      'title string',
      'many string',
      'n double',
      'x double',
      'ok bool',
      'on string',
      'at string',
      '2 <odd> string',
    ],
  )
  t.strictSame(simpleData(placemarks[0] as Element), {
    title: 'Åland "x" & <y> ]]> \'q\'',
    many: 'a,b;c',
    n: '1',
    x: '0.5',
    ok: '1',
    on: '2020-03-29',
    at: '2020-03-29T02:30:00.5+02:00',
  })
  t.equal(simpleData(placemarks[4] as Element)['2 <odd>'], '_x0041_ \ufffd\ufffd\ufffd \ufffd ')
  t.strictSame(placemarks[3]?.children, [], 'a row of nulls')
  t.strictSame(
    placemarks.map(it => it.children.map(({ name }) => name).join()),
    [
      'name,ExtendedData,Point',
      'name,ExtendedData,Point',
      'name,ExtendedData,Point',
      '',
      'ExtendedData,Point',
    ],
  )
  t.strictSame(
    all(file, 'coordinates').map(({ text }) => text),
    ['2.25,48.5', '180,0.0000001', '-180,-90', '0,0'],
  )
  const shapes = all(parseXml(await written(kml(table(SHAPE_ROWS, SHAPE_COLUMNS), OPTIONS))), 'Placemark')
  for (const [index, [, expected]] of SHAPES.entries())
    t.equal(shapes[index]?.children.slice(2).map(short).join(''), expected)
  t.strictSame(simpleData(shapes[1] as Element), { title: 'r1', place: '0, 1' })

  const same = [column('a', 'text'), { ...column('b', 'text'), label: 'The a' }]
  const labelled = await written(kml(table([{ a: '1', b: '2' }], same), { ...OPTIONS, useLabels: true }))
  t.strictSame(simpleData(parseXml(labelled)), { 'The a': '1', 'The a_2': '2' })
})

async function gpxOf(options: Partial<ExportOptions> = {}, made = table()): Promise<Element> {
  return parseXml(await written(gpx(made, { ...OPTIONS, ...options })))
}

/** A waypoint or a track in short: longitude and latitude of each position, lines apart. */
function line(element: Element): string {
  const place = ({ attributes: { lon, lat } }: Element) => `${lon} ${lat}`
  if (element.name === 'wpt') return `wpt ${place(element)}`
  return `trk ${all(element, 'trkseg')
    .map(segment => segment.children.map(place).join())
    .join(';')}`
}

t.test('GPX', async t => {
  const plain = await gpxOf()
  const waypoints = all(plain, 'wpt')
  t.strictSame(waypoints.map(line), ['wpt 2.25 48.5', 'wpt -180 0.0000001', 'wpt -180 -90', 'wpt 0 0'])
  t.strictSame(
    waypoints.map(it => it.children.map(({ name }) => name).join()),
    ['name,desc', 'name,desc', 'name,desc', 'desc'],
  )
  t.equal(
    all(waypoints[0] as Element, 'desc')[0]?.text,
    'title: Åland "x" & <y> ]]> \'q\'\nmany: a,b;c\nn: 1\nx: 0.5\nok: true\non: 2020-03-29\nat: 2020-03-29T02:30:00.5+02:00',
  )
  const chosen = await gpxOf({ nameField: 'n', descriptionFields: ['x', 'none', 'on'], useLabels: true })
  t.strictSame(
    all(chosen, 'wpt')[0]?.children.map(({ text }) => text),
    ['1', 'The x: 0.5\nThe on: 2020-03-29'],
  )
  const extended = all(await gpxOf({ useExtension: true }), 'extensions')
  t.strictSame(
    extended[2]?.children.map(({ name, text }) => [name, text]),
    [
      ['c:title', ROWS[2]?.title],
      ['c:many', 'é,ü'],
      ['c:n', '-2'],
      ['c:x', '-1.5e-9'],
      ['c:on', '9999-12-31'],
      ['c:at', '2020-12-31T23:59:59+14:00'],
      ['c:_2__odd_', '=1+1'],
    ],
  )
  const shapes = await gpxOf({}, table(SHAPE_ROWS, SHAPE_COLUMNS))
  t.strictSame(shapes.children.slice(1).map(line), SHAPES.map(([, , expected]) => expected).filter(Boolean))
  t.strictSame(
    all(shapes, 'trk')[0]?.children.map(({ name }) => name),
    ['name', 'desc', 'trkseg'],
  )
  t.equal(all(shapes, 'ele')[0]?.text, '3')
  const order = shapes.children.map(({ name }) => ['metadata', 'wpt', 'trk'].indexOf(name))
  t.strictSame(order, order.toSorted(), 'waypoints before tracks, as the schema has them')
})

/** Why a program cannot be asked; false where it is there. */
function missing(program: string): string | false {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore', timeout: 60_000 })
    return false
  } catch {
    return `${program} is not installed`
  }
}

t.test('GDAL reads KML and GPX', { skip: missing('ogrinfo') }, async t => {
  const folder = temporaryFolder(t, {})
  const read = async (name: string, writer: TableWriter, made: Table) => {
    writeFileSync(join(folder, name), await written(writer(made, OPTIONS)))
    return execFileSync('ogrinfo', ['-q', '-al', join(folder, name)], { encoding: 'utf8' })
  }
  const count = (text: string) => text.match(/^OGRFeature/gm)?.length
  const places = await read('made.kml', kml, table())
  t.equal(count(places), ROWS.length)
  for (const value of ['Åland "x" & <y> ]]> \'q\'', 'line\nbreak\ttab', String(ROWS[2]?.title), 'a,b;c'])
    t.ok(places.includes(`= ${value}\n`), value)
  t.match(places, 'POINT (2.25 48.5)')
  t.equal(count(await read('shapes.kml', kml, table(SHAPE_ROWS, SHAPE_COLUMNS))), SHAPES.length)
  const waypoints = await read('made.gpx', gpx, table())
  t.equal(count(waypoints), 4)
  t.ok(waypoints.includes('name (String) = Åland "x" & <y> ]]> \'q\'\n'))
  t.match(waypoints, 'n: 9007199254740991')
  t.match(
    await read('shapes.gpx', gpx, table(SHAPE_ROWS, SHAPE_COLUMNS)),
    'MULTILINESTRING ((0 0,4 0,4 4,0 0),(1 1,2 1',
  )
})

t.test('LibreOffice reads spreadsheets', { skip: missing('soffice') }, async t => {
  const folder = temporaryFolder(t, {})
  const sheets: readonly (readonly [string, TableWriter])[] = [
    ['made.xlsx', xlsx],
    ['made.xls', spreadsheetml],
  ]
  for (const [name, writer] of sheets) {
    writeFileSync(join(folder, name), await written(writer(table(ROWS.slice(0, 4)), OPTIONS)))
    const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`
    const format = 'csv:Text - txt - csv (StarCalc):59,34,76,1,,0,false,true'
    const place = ['--outdir', join(folder, `of ${name}`), join(folder, name)]
    execFileSync('soffice', ['--headless', profile, '--convert-to', format, ...place], { stdio: 'ignore' })
    const [file = ''] = readdirSync(join(folder, `of ${name}`))
    const text = readFileSync(join(folder, `of ${name}`, file), 'utf8')
    t.equal(
      // The filter for SpreadsheetML of some versions shows booleans as numbers.
      text.replace('0.5;1;', '0.5;TRUE;').replace('1E+021;0;', '1E+021;FALSE;'),
      [
        COLUMNS.map(({ key }) => key).join(';'),
        `"Åland ""x"" & <y> ]]> 'q'";"a,b;c";1;0.5;TRUE;2020-03-29;2020-03-29 02:30:00.500;48.5, 2.25;`,
        `"line\nbreak\ttab";;9007199254740991;1E+021;FALSE;1899-12-31;1850-01-01T00:00:00Z;1e-7, 180;`,
        `${ROWS[2]?.title};é,ü;-2;-0.0000000015;;9999-12-31;2020-12-31 23:59:59;-90, -180;=1+1`,
        '',
      ].join('\n'),
      name,
    )
  }
})

t.test('CSV: texts that a spreadsheet would run are escaped where the portal says so', async t => {
  const rows: readonly TableRow[] = [
    ['=1+1', '+1', '-2', '@a', '\t=x', ' =x', '＝1', 'a=b', "'=1", ''].flatMap(title => [
      { title, n: -5, at: '2020-01-01T00:00:00+00:00' },
    ]),
  ].flat() as never
  const table: Table = {
    name: 'a',
    title: 'a',
    columns: [column('title', 'text'), column('n', 'int')],
    rows: (async function* () {
      yield rows
    })(),
  }
  const described = async (escapesFormulas: boolean) => {
    let text = ''
    const again = {
      ...table,
      rows: (async function* () {
        yield rows
      })(),
    }
    for await (const piece of csv(again, { ...OPTIONS, escapesFormulas })) text += String(piece)
    return text.split('\r\n').slice(1, -1)
  }
  t.same(await described(true), [
    "'=1+1;-5",
    "'+1;-5",
    "'-2;-5",
    "'@a;-5",
    '"\'\t=x";-5'.replaceAll('"', ''),
    "' =x;-5",
    "'＝1;-5",
    'a=b;-5',
    "'=1;-5",
    ';-5',
  ])
  t.equal((await described(false))[0], '=1+1;-5', 'and kept otherwise')
})
