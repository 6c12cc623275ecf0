import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t from 'tap'
import type { InputReport } from '../../src/cli/map/report.ts'
import { type Plan, planMapping, runPlan } from '../../src/cli/map/run.ts'
import { readYarrrml } from '../../src/mapping/yarrrml/read.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-bytes-'))
t.teardown(() => rmSync(folder, { recursive: true }))

const MAPPING = `prefixes:
  v: http://example.org/ns#
  xsd: http://www.w3.org/2001/XMLSchema#
mappings:
  thing:
    subject: http://example.org/thing/$(a)
    po:
      - [a, v:Thing]
      - [v:natural, $(b)]
      - [v:constant, 'say "it"']
      - [v:constant, 'dit "ça"', fr~lang]
      - [v:text, "$(a) and $(b) of \\"it\\""]
      - [v:language, $(b), en~lang]
      - [v:integer, $(c), xsd:integer]
      - [v:decimal, $(c), xsd:decimal]
      - [v:double, $(c), xsd:double]
      - [v:boolean, $(d), xsd:boolean]
      - [v:date, $(d), xsd:date]
      - [v:moment, $(d), xsd:dateTime]
      - [v:other, $(b), v:datatype]
      - [v:year, $(c), xsd:gYear]
      - [v:number, $(recordid)]
      - [v:iri, '$(e)~iri']
      - [v:templates, 'http://example.org/$(c)/$(d)#x~iri']
      - [v:part, part]
      - [v:either, both]
      - ["v:$(c)", $(b)]
  part:
    subject: http://example.org/part/$(c)
    po:
      - [a, v:Part]
      - [v:name, $(d)]
      - [v:of, thing]
  both:
    subject: $(e)
    po: [[v:name, $(b)]]
  again:
    subject: http://example.org/part/$(c)
    po: [[v:again, $(c)]]
`

const CELLS = [
  'a,b,plain,x y,"quoted, and more","a ""double"" quote","""","",,,"line\nfeed","return\r\nfeed",a"b,Zoë,東京,a\tb,\\,%,é/ü,~._-',
  '0,1,-1,+7,007,1.5,.5,5.,1e5,-0,123456789012345678901234567890,1.2.3,-,.,NaN,INF,2024,-2024,02024',
  'true,false,1,0,TRUE,2024-02-28,2024-02-29,2023-02-29,2024-12-31,2024-11-31,0000-01-01,2024-1-1,2024-00-10,2024-10-00,2024-02-28Z',
  '2024-02-28T23:59:59,2024-02-28T23:59:59Z,2024-02-28T24:00:00Z,2024-02-28T23:60:59Z,2024-02-28T23:59:59.5+01:00,2024-02-28 23:59:59Z',
  'http://example.org/e,http://example.org/a b,http://example.org/é,urn:x,relative,https://example.org/"q"',
  '\ufffe,a\uffffb,\ufeffmark,ﬀ,😀,\u0001,\u007f,\u0080,\b',
].flatMap(texts => texts.match(/"(?:[^"]|"")*"|[^,]+|(?<=,)(?=,)/g) ?? [])

/** A generator of numbers below a bound, the same in every run (Park and Miller). */
function numbers(seed: number): (bound: number) => number {
  let state = seed
  return bound => {
    state = (state * 48271) % 2147483647
    return state % bound
  }
}

function table(seed: number, rows: number): string {
  const below = numbers(seed)
  const lineEnd = ['\n', '\r\n', '\r'][seed % 3] ?? '\n'
  const row = () => {
    const width = below(20) === 0 ? 1 + below(5) : 5
    const cells = Array.from({ length: width }, () => CELLS[below(CELLS.length)] ?? '')
    return cells.join(',') + lineEnd + (below(30) === 0 ? lineEnd : '')
  }
  const text = `a,b,c,d,e${lineEnd}${Array.from({ length: rows }, row).join('')}`
  return seed % 2 === 0 ? text : text.slice(0, -lineEnd.length)
}

interface Outcome {
  readonly lines: readonly string[]
  readonly report: InputReport | string | undefined
}

async function outcome(plan: Plan): Promise<Outcome> {
  const pieces: Buffer[] = []
  let report: InputReport | string | undefined
  try {
    for await (const piece of runPlan(plan, described => {
      report = described
    }))
      pieces.push(Buffer.from(piece))
  } catch (error) {
    report = String(error)
  }
  const lines = Buffer.concat(pieces).toString().split('\n')
  return { lines: [...new Set(lines)].sort(), report }
}

/** What comes of a file read as bytes and of the same file read as texts. */
async function both(file: string, text: string | Buffer, kind: 'yarrrml' | 'rml') {
  const at = path.join(folder, file)
  writeFileSync(at, text)
  const { mapping, diagnostics } = readYarrrml(
    kind === 'rml' ? MAPPING.replace(/.*recordid.*\n/, '') : MAPPING,
  )
  if (mapping === null)
    throw new Error(
      diagnostics
        .filter(d => d.severity === 'error')
        .map(d => d.message)
        .join(),
    )
  const planned = async () => {
    const { plan } = await planMapping(mapping, kind, [at], undefined)
    if (plan === null) throw new Error('no plan')
    return plan
  }
  const texts = await planned()
  const runs = texts.runs.map(run => ({ ...run, records: { ...run.records, bytes: () => null } }))
  return [await outcome(await planned()), await outcome({ ...texts, runs })] as const
}

t.test('rows that are copied as bytes give what rows that are read as texts give', async t => {
  for (const seed of [1, 2, 3, 4, 5, 6])
    for (const kind of ['yarrrml', 'rml'] as const) {
      const [bytes, texts] = await both(`${seed}.csv`, table(seed, 3000), kind)
      t.ok(bytes.lines.length > 10_000, `seed ${seed}: ${bytes.lines.length} lines`)
      t.strictSame(bytes.lines, texts.lines, 'the same triples')
      t.strictSame(rulesOf(bytes), rulesOf(texts), 'the same report')
    }
})

t.test('rows beyond a chunk, cells beyond what is copied, a mark at the beginning', async t => {
  const long = `a,b,c,d,e\n${Array.from({ length: 40 }, (_, i) => `${i},"${'ü"",\n'.repeat(20_000 + i)}",${i},,x\n`).join('')}`
  const [bytes, texts] = await both('long.csv', `\ufeff${long}`, 'yarrrml')
  t.strictSame(bytes.lines, texts.lines)
  t.strictSame(rulesOf(bytes), rulesOf(texts))
})

t.test('a header beyond what is read at a time, a delimiter that many lines tell', async t => {
  const others = Array.from({ length: 4000 }, (_, i) => `column ${i}`).join(';')
  const rows = Array.from({ length: 30 }, (_, i) => `${i};b${i};${i}\n`).join('')
  const [bytes, texts] = await both('wide.csv', `a;b;c;d;e;${others}\n${rows}`, 'yarrrml')
  t.match(bytes.report, { records: 30 })
  t.strictSame(bytes.lines, texts.lines)
  t.strictSame(rulesOf(bytes), rulesOf(texts))
})

t.test('what is wrong with a file is told with its place, as of texts', async t => {
  const good = table(2, 8000)
  const files: readonly (readonly [string, string | Buffer])[] = [
    ['a quote that is not closed', `${good}x,"y\n`],
    ['text after a quote', `${good}x,"y"z,1,2,3\n`],
    ['a row that is too long', `${good}1,2,3,4,5,6\n`],
    ['bytes that are no UTF-8', Buffer.concat([Buffer.from(good), Buffer.from([0x61, 0xff, 0x0a])])],
    ['half a character at the end', Buffer.concat([Buffer.from(good), Buffer.from([0x61, 0xc3])])],
  ]
  for (const [name, text] of files) {
    const [bytes, texts] = await both('broken.csv', text, 'yarrrml')
    t.type(bytes.report, 'string', name)
    t.equal(bytes.report, texts.report, `${name}: ${String(bytes.report)}`)
  }
})

function rulesOf({ report }: Outcome) {
  return typeof report === 'string' ? report : { records: report?.records, rules: report?.rules }
}
