import t from 'tap'
import { checkDataset } from '../src/publishing/check.ts'
import { inspectSource } from '../src/sources/inspect.ts'
import { CsvParser } from '../src/sources/tables/csv-parser.ts'
import { temporaryFolder } from './support/folder.ts'

/** A text, the cells of its rows, and the positions of its stray quotes. */
type Case = readonly [text: string, rows: readonly (readonly string[])[], strays: readonly string[]]

const CASES: readonly Case[] = [
  // Text after a closing quote, up to the delimiter or the line end.
  [
    '"quo,ted" 0,14,"2,9"\n1,a,b\n',
    [
      ['quo,ted 0', '14', '2,9'],
      ['1', 'a', 'b'],
    ],
    ['1:9'],
  ],
  [
    '"a" b,"c" \n1,2\n',
    [
      ['a b', 'c'],
      ['1', '2'],
    ],
    ['1:3'],
  ],
  ['"a"  ,"c" d', [['a', 'c d']], ['1:9']],
  ['"a" b\r"c",2\r', [['a b'], ['c', '2']], ['1:3']],
  [
    '1, "quo,ted" 0, "x"\n2, "y", "z"\n',
    [
      ['1', 'quo,ted 0', 'x'],
      ['2', 'y', 'z'],
    ],
    ['1:12'],
  ],
  // Quotes within quotes that are not doubled.
  [
    '"Le "Grand" Hotel",1\nB,2\n',
    [
      ['Le "Grand" Hotel', '1'],
      ['B', '2'],
    ],
    ['1:5'],
  ],
  [
    '"La "Table"",c\n4,"ok"\n',
    [
      ['La "Table"', 'c'],
      ['4', 'ok'],
    ],
    ['1:5'],
  ],
  [
    '""Le Lyon", rue X",1\n"b",2\n',
    [
      ['"Le Lyon", rue X', '1'],
      ['b', '2'],
    ],
    ['1:2'],
  ],
  [
    '"SARL "BON", 12 rue X",1\r\nB,"2"\r\n',
    [
      ['SARL "BON", 12 rue X', '1'],
      ['B', '2'],
    ],
    ['1:7'],
  ],
  ['"SARL "BON",x,"y"\n', [['SARL "BON', 'x', 'y']], ['1:7']],
  [
    '"A "b, c" d",1\n2,3\n',
    [
      ['A "b, c" d', '1'],
      ['2', '3'],
    ],
    ['1:4'],
  ],
  [
    '"pizza 12" ronde","e"\n6,z\n',
    [
      ['pizza 12" ronde', 'e'],
      ['6', 'z'],
    ],
    ['1:10'],
  ],
  [
    '"x\ny "z" w",b\n2,"c"\n',
    [
      ['x\ny "z" w', 'b'],
      ['2', 'c'],
    ],
    ['2:3'],
  ],
  // Quotes that are never closed.
  [
    '4,"Petit,Lille\n5,"",Brest\n6,"Leroy",Metz\n',
    [
      ['4', '"Petit', 'Lille'],
      ['5', '', 'Brest'],
      ['6', 'Leroy', 'Metz'],
    ],
    ['1:3'],
  ],
  [
    '1;"Petit;"Lille";x\n2;"a";b\n',
    [
      ['1', '"Petit', 'Lille', 'x'],
      ['2', 'a', 'b'],
    ],
    ['1:3'],
  ],
  [
    '"5\'10"",x\n7,"b"\n',
    [
      ['5\'10"', 'x'],
      ['7', 'b'],
    ],
    ['1:1'],
  ],
  ['"a\n"b\n"c\n"d",e\n', [['"a'], ['"b'], ['"c'], ['d', 'e']], ['1:1', '2:1', '3:1']],
  [
    '4,"Petit\n5,tube 12" x\n6,z\n',
    [
      ['4', '"Petit'],
      ['5', 'tube 12" x'],
      ['6', 'z'],
    ],
    ['1:3'],
  ],
  // What is quoted properly.
  [
    '"x ""y"" z",1\n"",""\n"""a""",""""\n',
    [
      ['x "y" z', '1'],
      ['', ''],
      ['"a"', '"'],
    ],
    [],
  ],
  [
    '"two\nlines",1\n"three\r\n""more""\r\n" ,2\n',
    [
      ['two\nlines', '1'],
      ['three\r\n"more"\r\n', '2'],
    ],
    [],
  ],
  ['5" pipe,x"y"\n', [['5" pipe', 'x"y"']], []],
]

/** Reads a text in chunks of a size. */
function read(text: string, size: number): Case {
  const strays: string[] = []
  const onStrayQuote = (line: number, column: number) => strays.push(`${line}:${column}`)
  const delimiter = text.includes(';') ? ';' : ','
  const parser = new CsvParser('', delimiter, { isTolerant: true, onStrayQuote })
  for (let at = 0; at < text.length; at += size) parser.push(text.slice(at, at + size))
  parser.finish()
  return [text, parser.take().map(({ cells }) => cells), strays]
}

t.test('quoted cells that are not written properly end on their line', t => {
  for (const expected of CASES)
    for (const size of [1, 2, 3, 5, 7, 11, 1000])
      t.strictSame(read(expected[0], size), expected, `${JSON.stringify(expected[0])} by ${size}`)
  t.end()
})

t.test('rows and lines are the same for chunks of any size', t => {
  const signs = ['"', '"', '""', ',', 'a', ' ', '\n', '\r\n']
  let seed = 7
  const text = () =>
    Array.from({ length: 40 }, () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return signs[(seed >> 8) % signs.length]
    }).join('')
  const result = (text: string, size: number) => {
    try {
      return read(text, size)
    } catch (error) {
      return String(error)
    }
  }
  const different = Array.from({ length: 3000 }, text).filter(
    text => new Set([1, 2, 3, 1000].map(size => JSON.stringify(result(text, size)))).size > 1,
  )
  t.strictSame(different, [])
  t.end()
})

t.test('long lines after a stray quote are read in time and memory of their length', t => {
  const long = 'x'.repeat(3_000_000)
  t.strictSame(read(`"a" ${long},"b"\nc\n`, 65_536)[1], [[`a ${long}`, 'b'], ['c']])
  const blanks = ' '.repeat(3_000_000)
  t.strictSame(read(`"a"${blanks}b,c\n`, 65_536)[1], [[`a${blanks}b`, 'c']])
  const open = [...Array.from({ length: 60_000 }, (_, at) => `"${at}`), '"z"']
  t.strictSame(
    read(`${open.join('\n')}\n`, 65_536)[1],
    open.map(cell => [cell === '"z"' ? 'z' : cell]),
  )
  const [line, begun] = ['"a"b,'.repeat(10_000), process.cpuUsage()]
  t.equal(read(`${line}\n`.repeat(20), 65_536)[2].length, 200_000)
  const { user } = process.cpuUsage(begun)
  t.ok(user < 3e6, `${user} µs`)
  t.end()
})

t.test('a large cell full of doubled quotes takes memory of its length', t => {
  const cell = '{""k"":""v""},'.repeat(300_000)
  const before = process.memoryUsage().heapUsed
  const parser = new CsvParser('file', ',', { isTolerant: true })
  let most = 0
  for (let at = 0; at < cell.length; at += 65_536) {
    parser.push(at === 0 ? `a\n"${cell.slice(0, 65_536)}` : cell.slice(at, at + 65_536))
    most = Math.max(most, process.memoryUsage().heapUsed - before)
  }
  parser.push('"\n')
  t.strictSame(parser.take().at(-1)?.cells, [cell.replaceAll('""', '"')])
  t.ok(most < 50_000_000, `${most} bytes`)
  t.end()
})

t.test('import and check report stray quotes with their positions', async t => {
  const folder = temporaryFolder(t, {
    data: {
      a: {
        'a.csv': 'id,name,n\n1,"La "Table"",1\n2,"x" y,2\n3,ok,3\n',
        'dataset.yaml':
          'source: { path: a.csv }\noptions: { header: 1 }\nfields:\n  - { name: id, type: int }\n',
      },
    },
  })
  const message =
    /quotes that are not doubled or not closed in 2 cells \(line 2, column 7; line 3, column 5\): /
  const folders = { datasetFolder: `${folder}/data/a`, portalFolder: folder }
  const { rows, diagnostics } = await inspectSource({ path: 'a.csv' }, folders)
  t.equal(rows, 3)
  t.match(diagnostics, [message])
  t.match(await checkDataset(folder, 'http://localhost', 'a'), [{ severity: 'warning', message }])
})

t.test('a quote that is never closed is a sign where no cell is quoted, which import says', async t => {
  const folder = temporaryFolder(t, { data: { a: { 'a.csv': 'size,n\n"5,1\n7,2\n' } } })
  const folders = { datasetFolder: `${folder}/data/a`, portalFolder: folder }
  const { source, diagnostics } = await inspectSource({ path: 'a.csv' }, folders)
  t.equal(source.options?.quote, '')
  t.match(diagnostics, [/the quote in line 2, column 1 is never closed/])
  t.match(await checkDataset(folder, 'http://localhost', 'a'), [
    { message: /no dataset.yaml/ },
    { severity: 'warning', message: /the quote in line 2, column 1 is never closed/ },
  ])
})
