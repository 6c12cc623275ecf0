import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { inspect } from 'node:util'
import t from 'tap'
import type { InputReport } from '../../src/cli/map/report.ts'
import { findingsOf, type Plan, planMapping, runPlan } from '../../src/cli/map/run.ts'
import type { Mapping } from '../../src/mapping/ir.ts'
import { readYarrrml } from '../../src/mapping/yarrrml/read.ts'
import { JsonBytes } from '../../src/sources/json-bytes.ts'
import { type JsonPath, parseJsonPath } from '../../src/sources/json-path.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'lodestone-bytes-json-'))
t.teardown(() => rmSync(folder, { recursive: true }))

const MAPPING = `prefixes:
  v: http://example.org/ns#
  xsd: http://www.w3.org/2001/XMLSchema#
mappings:
  thing:
    sources: SOURCE
    subject: http://example.org/thing/$(a)
    po:
      - [a, v:Thing]
      - [v:natural, $(b)]
      - [v:number, $(c)]
      - [v:other, $(d)]
      - [v:absent, $(nowhere)]
      - [v:spaced, "$(the name)"]
      - [v:constant, 'say "it"']
      - [v:text, "$(a) and $(b) of \\"it\\""]
      - [v:language, $(b), en~lang]
      - [v:integer, $(c), xsd:integer]
      - [v:double, $(c), xsd:double]
      - [v:boolean, $(d), xsd:boolean]
      - [v:date, $(d), xsd:date]
      - [v:id, $(recordid)]
      - [v:iri, '$(e)~iri']
      - [v:templates, 'http://example.org/$(c)/$(d)#x~iri']
      - [v:part, part]
      - [v:either, both]
      - ["v:$(c)", $(b)]
  part:
    sources: SOURCE
    subject: http://example.org/part/$(c)
    po:
      - [a, v:Part]
      - [v:name, $(d)]
      - [v:of, thing]
  both:
    sources: SOURCE
    subject: $(e)
    po: [[v:name, $(b)]]
  again:
    sources: SOURCE
    subject: http://example.org/part/$(c)
    po: [[v:again, $(c)]]
`

/** A generator of numbers below a bound, the same in every run (Park and Miller). */
function numbers(seed: number): (bound: number) => number {
  let state = seed
  return bound => {
    state = (state * 48271) % 2147483647
    return state % bound
  }
}

const STRINGS = [
  '""|"plain"|"x y"|"Zoë"|"東京"|"😀"|"~._-"|"a/b"|"%20"|"a|b"',
  '"http://example.org/e"|"http://example.org/a b"|"http://example.org/é"|"urn:x"|"relative"',
  '"true"|"1"|"1.5"|"2024-02-28"|"2024-02-30"|"null"',
  String.raw`"say \"it\""|"back\\slash"|"a\/b"|"\b\f\n\r\t"|"\u00e9\u6771"|"\ud83d\ude00 x"|"\uD83D\uDE00"|"\u0041"|"\u0000"`,
  String.raw`"\ud83d"|"\ude00"|"\ud83dx"|"\ud83d\n"|"\ud83d\u0041"|"\ud83d\ud83d\ude00"|"\ufffe"|"x\\"|"\\u0041"`,
].flatMap(texts => texts.split(/(?<=")\|(?=")/))

const NUMBERS =
  '0 -0 1 -1 7 10 100 1.5 -1.5 0.5 -0.5 0.05 1.0 1.50 -0.0 0.0 0.000001 0.0000001 0.0000012 1e5 1E5 1e-5 1.5e+3 12e-1 3875.625 100.5 -120.25 1e21 1e400 12e34567890123456 1e-400 123456789012345 1234567890123456 9007199254740993 12345678901234567890 0.1234567890123456 48.85661400000001 48.856614000000010 123.00003051757812 123.000030517578125 12345678901234567.5 1234567890.12345 0.00000123456789'.split(
    ' ',
  )
const OTHERS =
  'true|false|null|null|{}|[]|[1, "b", null, {"c": [true]}]|{"a": {"b": "}\\""}}|[[], {}]|["only"]|[null]'.split(
    '|',
  )
const NAMES = ['a', 'b', 'c', 'd', 'e', 'the name', 'other', 'naïve', 'a\\u0062', '\\u0062', '__proto__', '']
const SPACES = ['', '', '', ' ', '\n', '\r\n', '\t', '  \n\t ']

/** A generator of JSON, much of it odd; `odd` is one in how many members. */
function writer(seed: number, odd: number) {
  const below = numbers(seed)
  const one = (texts: readonly string[]) => texts[below(texts.length)] ?? ''
  const space = () => (seed % 2 === 0 ? '' : one(SPACES))
  const value = () => one(below(odd) === 0 ? OTHERS : below(3) === 0 ? NUMBERS : STRINGS)
  const member = (name: string) => `${space()}"${name}"${space()}:${space()}${value()}${space()}`
  const record = () => {
    if (below(odd) === 0) return value()
    const plain = NAMES.slice(0, 6).filter(() => below(8) > 0)
    const names = below(odd) === 0 ? [...plain, one(NAMES), one(NAMES)] : plain
    return below(20) === 0 ? `{${space()}}` : `{${names.map(member).join(',')}}`
  }
  const list = (length: number, element: () => string) =>
    `[${Array.from({ length }, () => space() + element() + space()).join(',')}]`
  return { list, record, space, value, below }
}

interface Outcome {
  readonly lines: readonly string[]
  readonly report: unknown
  readonly findings: readonly unknown[]
}

async function outcome(plan: Plan): Promise<Outcome> {
  const pieces: Buffer[] = []
  let report: unknown
  try {
    const describe = ({ records, rules }: InputReport) => {
      report = { records, rules }
    }
    for await (const piece of runPlan(plan, describe)) pieces.push(Buffer.from(piece))
  } catch (error) {
    report = String(error)
  }
  const lines = Buffer.concat(pieces).toString().split('\n')
  return { lines: [...new Set(lines)].sort(), report, findings: findingsOf(plan) }
}

type Generation = 'yarrrml' | 'new' | 'old'

/** What comes of a file read as bytes and of the same file read as texts, and whether bytes were enough. */
async function both(text: string | Buffer, iterator: string, generation: Generation = 'yarrrml') {
  const at = path.join(folder, 'file.json')
  writeFileSync(at, text)
  const source = MAPPING.replaceAll('SOURCE', `[['file.json~jsonpath', '${iterator}']]`)
  const own = generation === 'yarrrml' ? source : source.replace(/.*recordid.*\n/, '')
  const { mapping, diagnostics } = readYarrrml(own)
  if (mapping === null) throw new Error(JSON.stringify(diagnostics))
  const ofRml: Mapping = generation === 'yarrrml' ? mapping : { ...mapping, generation }
  const planned = async () => {
    const { plan } = await planMapping(ofRml, generation === 'yarrrml' ? 'yarrrml' : 'rml', [at], undefined)
    if (plan === null) throw new Error('no plan')
    return plan
  }
  let isByBytes = false
  const bytes = await planned()
  const spied = bytes.runs.map(run => ({
    ...run,
    records: {
      ...run.records,
      members: () => {
        isByBytes = true
        return run.records.members()
      },
      records: () => {
        isByBytes = false
        return run.records.records()
      },
    },
  }))
  const texts = await planned()
  const runs = texts.runs.map(run => ({ ...run, records: { ...run.records, members: () => null } }))
  return {
    bytes: await outcome({ ...bytes, runs: spied }),
    texts: await outcome({ ...texts, runs }),
    isByBytes: () => isByBytes,
  }
}

t.test('records that are copied as bytes give what records that are read as texts give', async t => {
  for (const seed of [1, 2, 3, 4, 5, 6])
    for (const generation of ['yarrrml', 'new', 'old'] as const) {
      const { list, record } = writer(seed, seed < 3 ? 1e9 : 12)
      const { bytes, texts, isByBytes } = await both(list(1500, record), '$[*]', generation)
      const name = `seed ${seed}, ${generation}`
      t.ok(isByBytes(), `${name} by bytes`)
      t.ok(bytes.lines.length > 3000, `${name}: ${bytes.lines.length} lines`)
      t.strictSame(bytes.lines, texts.lines, `${name}: the same triples`)
      t.strictSame(bytes.report, texts.report, `${name}: the same report`)
      t.strictSame(bytes.findings, texts.findings, `${name}: the same findings`)
    }
})

t.test('paths to records', async t => {
  const { list, record, value, below } = writer(11, 12)
  const records = (count: number) => list(count, record)
  const wrapped = () =>
    [`{"x": ${value()}, "fields": ${record()}, "y": ${value()}}`, `{"fields":${record()}}`, value(), '{}'][
      below(4)
    ] ?? ''
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['$[*]', '[]', true],
    ['$[*]', ' [ ] \n', true],
    ['$[*]', `\ufeff${records(20)}`, true],
    ['$[*]', '[1, 2.5, "x", null, [1, 2], [], {}]', true],
    ['$[*]', `{"a": {"a": "1"}, "b": {"b": "x"}}`, false],
    ['$.rows[*]', `{"count": ${value()}, "rows" : ${records(50)} , "more": [{"rows": []}], "z": 1}\n`, true],
    ['$.rows[*]', `{"rows": ${records(5)}, "rows": ${records(5)}}`, false],
    ['$.rows[*]', `{"rows": ${records(5)}, "r\\u006fws": ${records(5)}}`, false],
    ['$.rows[*]', '{"none": 1}', false],
    ['$.rows[*]', '{}', false],
    ['$.a.b[*]', `{"x": {"b": [1]}, "a": {"c": [{}], "b": ${records(9)}, "d": {}}, "y": 2}`, true],
    ['$[*].fields', list(60, wrapped), true],
    ['$[*].fields', `[{"fields": ${record()}, "fields": {"a": "2"}}]`, false],
    ['$.records[*].record.fields', `{"records": [{"record": {"id": 1, "fields": ${record()}}}]}`, true],
    ['$[0]', records(3), false],
    ['$[*][*]', `[${records(3)}]`, false],
    ['$[*]', list(300, () => `{"a":"${'x"\\u00e9'.replace('"', '\\"').repeat(3000)}","b":[1]}`), true],
    [
      '$[*]',
      `[{"a": [${Array.from({ length: 20_000 }, (_, i) => i).join()}], "b": "x", "c": 1, "d": 2}]`,
      true,
    ],
    ['$[*]', `[{"a":"${'é'.repeat(2 ** 20)}","b":"${'\\n'.repeat(2 ** 20)}"}]`, true],
  ]
  for (const [iterator, text, expected] of rows) {
    const { bytes, texts, isByBytes } = await both(text, iterator)
    const name = `${iterator} of ${text.slice(0, 60)}`
    t.strictSame(bytes, texts, name)
    t.equal(isByBytes(), expected, `${name}: ${expected ? 'by bytes' : 'as text'}`)
  }
})

t.test('what is wrong with a file is told with its place, as of texts', async t => {
  const { list, record } = writer(21, 12)
  const good = list(400, record)
  const open = good.slice(0, -1)
  const deep = 2000
  const files: readonly (readonly [string, string | Buffer])[] = [
    ['empty', ''],
    ['space', ' \n'],
    ['not closed', open],
    ['text behind', `${good} x`],
    ['a comma too many', `${open},]`],
    ['no comma', `${open} {}]`],
    ['no colon', `${open}, {"a" 1}]`],
    ['no quotes', `${open}, {a: 1}]`],
    ['a comma at the end of a record', `${open}, {"a": 1,}]`],
    ['a zero before a number', `${open}, {"a": 01}]`],
    ['a number with no digit', `${open}, {"a": 1.}]`],
    ['a plus', `${open}, {"a": +1}]`],
    ['a word', `${open}, {"a": nul}]`],
    ['a feed in a string', `${open}, {"a": "x\ny"}]`],
    ['a feed in a name', `${open}, {"x\ny": 1}]`],
    ['an escape that is none', `${open}, {"a": "\\x"}]`],
    ['an escape that is too short', `${open}, {"other": "\\u12"}]`],
    ['half a pair and no escape', `${open}, {"a": "\\ud83d\\u1"}]`],
    ['the other bracket', `${open}, {"a": [1}]}]`],
    ['too deep', `${open}, {"a": ${'['.repeat(deep)}${']'.repeat(deep)}}]`],
    ['a zero byte', `${open}, {"a": "x\0y"}]`],
    ['a zero byte at the end', `${good}\0`],
    ['a mark within', `${open},\ufeff{}]`],
    ['bytes that are no UTF-8', Buffer.concat([Buffer.from(`${open},"`), Buffer.from([0xff, 0x22, 0x5d])])],
    ['half a character at the end', Buffer.concat([Buffer.from(good), Buffer.from([0xc3])])],
    ['UTF-16', Buffer.from('\ufeff[{"a":"1"}', 'utf16le')],
  ]
  for (const [name, text] of files) {
    const { bytes, texts } = await both(text, '$[*]')
    t.type(texts.report, 'string', name)
    t.equal(bytes.report, texts.report, `${name}: ${String(bytes.report)}`)
  }
  const { bytes, texts } = await both(`${open}, {"a": ${'['.repeat(800)}${']'.repeat(800)}}]`, '$[*]')
  t.strictSame(bytes, texts, 'deep, but not too deep')
  for (const seed of [1, 3, 5, 7]) {
    const below = numbers(seed)
    for (let i = 0; i < 60; i++) {
      const { list, record } = writer(seed + i, 12)
      const text = list(4, record)
      const at = below(text.length)
      const put = '"\\{}[],:0-.eEntf\n\0 ub'[below(21)] ?? ''
      const broken = text.slice(0, at) + put + text.slice(at + below(2))
      const { bytes, texts } = await both(broken, '$[*]')
      if (typeof texts.report === 'string') t.equal(bytes.report, texts.report, broken)
      else t.strictSame(bytes, texts, broken)
    }
  }
})

/** All that is told of a file, read in chunks of a size. */
function rowsOf(file: string, iterator: string, chunk: number) {
  const read = (record: unknown) => [inspect(record, { depth: 9 })]
  const names = ['a', 'b', 'c', 'd', 'e', 'recordid']
  const steps = parseJsonPath(iterator) as JsonPath
  const rows = JsonBytes.open(file, steps, { names, numbered: 5, textOnly: false, read }, chunk)
  if (rows === null) throw new Error('cannot be opened')
  const described: unknown[] = []
  let found = rows.next()
  for (; found === 'row'; found = rows.next()) {
    const { bytes, starts, ends } = rows
    const cells = Array.from(starts, (from, cell) =>
      from > 0 ? bytes.toString('utf8', from, ends[cell]) : from,
    )
    described.push([rows.values(), ...(ends[0] === ends[1] && starts[0] === 0 ? [] : cells)])
  }
  rows.close()
  return [...described, found, rows.records, [...rows.found]]
}

t.test('wherever chunks end', async t => {
  const file = path.join(folder, 'chunks.json')
  for (const seed of [31, 32, 33, 34]) {
    const { list, record, value } = writer(seed, 12)
    const text = `{"x": ${value()}, "rows": ${list(60, record)}, "y": ${value()}} `
    for (const cut of [text.length, text.length - 3, 1000]) {
      writeFileSync(file, text.slice(0, cut))
      const whole = rowsOf(file, '$.rows[*]', 2 ** 20)
      t.ok(whole.length > 5)
      for (let chunk = 64; chunk < 300; chunk += 1 + (chunk % 7))
        t.strictSame(rowsOf(file, '$.rows[*]', chunk), whole, `seed ${seed}, chunks of ${chunk}`)
    }
  }
})
