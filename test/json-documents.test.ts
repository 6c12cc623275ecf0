import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseExactly } from '../src/model/exact-json.ts'
import { type JsonPath, parseJsonPath, readSelected, selectJson } from '../src/sources/json/json-path.ts'
import { openSource } from '../src/sources/open.ts'
import { temporaryFolder } from './support/folder.ts'

/** A generator of numbers below a bound, the same in every run (Park and Miller). */
function numbers(seed: number): (bound: number) => number {
  let state = seed
  return bound => {
    state = (state * 48271) % 2147483647
    return state % bound
  }
}

const STRINGS = [
  '""|"plain"|"x y"|"Zoë"|"東京"|"😀"|"a/b"|"a|b"|"http://example.org/e"|"true"|"1.5"|"null"',
  String.raw`"say \"it\""|"back\\slash"|"a\/b"|"\b\f\n\r\t"|"\u00e9\u6771"|"\ud83d\ude00 x"|"\u0041"|"\u0000"`,
  String.raw`"\ud83d"|"\ude00"|"\ud83dx"|"\ud83d\u0041"|"\ud83d\ud83d\ude00"|"\ufffe"|"x\\"|"\\u0041"`,
].flatMap(texts => texts.split(/(?<=")\|(?=")/))

const NUMBERS =
  '0 -0 1 -1 10 1.5 -0.5 0.05 1.50 0.0000001 1e5 1E5 1e-5 1.5e+3 12e-1 1e400 1e-400 1234567890123456 9007199254740993 12345678901234567890 12345678901234567.5'.split(
    ' ',
  )
const OTHERS = [
  'true',
  'false',
  'null',
  '{}',
  '[]',
  '[1, "b", null, {"c": [true]}]',
  '{"a": {"b": "}\\""}}',
  '[[], {}]',
]
const NAMES = ['a', 'b', 'c', 'd', 'the name', 'naïve', 'a\\u0062', '\\u0062', '__proto__', '']
const SPACES = ['', '', '', ' ', '\n', '\r\n', '\t', '  \n\t ']

/** A generator of arrays of records, much of them odd. */
function writer(seed: number): (length: number) => string {
  const below = numbers(seed)
  const one = (texts: readonly string[]) => texts[below(texts.length)] ?? ''
  const space = () => (seed % 2 === 0 ? '' : one(SPACES))
  const value = () => one([OTHERS, NUMBERS, STRINGS][below(3)] ?? [])
  const member = () => `${space()}"${one(NAMES)}"${space()}:${space()}${value()}${space()}`
  const record = () =>
    below(8) === 0 ? value() : `{${Array.from({ length: 1 + below(6) }, member).join(',')}}`
  return length => `[${Array.from({ length }, () => space() + record() + space()).join(',')}]`
}

/** What a path finds in a text that is read in chunks of a size, or the fault that ends the reading. */
async function read(text: string, selected: string, chunkSize: number): Promise<readonly unknown[] | string> {
  const bytes = Buffer.from(text)
  async function* pieces(size: number) {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const found: unknown[] = []
  try {
    const file = { path: 'document.json', chunkSize, pieces }
    for await (const values of readSelected(file, parseJsonPath(selected) as JsonPath)) found.push(...values)
  } catch (error) {
    return `${String(error)} ${JSON.stringify((error as { readonly place?: unknown }).place)}`
  }
  return found
}

t.test('documents are read as JSON.parse reads them, wherever chunks end', async t => {
  for (const seed of [1, 2, 3]) {
    const list = writer(seed)
    const text = `{"x": ${list(2)}, "rows" : ${list(12)} , "more": [{"rows": []}], "z": 1}\n`
    const whole = parseExactly(text)
    for (const selected of ['$.rows[*]', '$.x[1]', '$.*'])
      for (const chunkSize of [1, 64, 2 ** 20])
        t.strictSame(
          await read(text, selected, chunkSize),
          selectJson(whole, parseJsonPath(selected) as JsonPath),
          `seed ${seed}: ${selected} by ${chunkSize}`,
        )
  }
})

t.test('what is wrong with a document has one place, wherever chunks end', async t => {
  let broken = 0
  for (let seed = 1; seed <= 60; seed++) {
    const below = numbers(seed)
    const text = writer(seed)(4)
    const at = below(text.length)
    const put = '"\\{}[],:0-.eEntf\n\0 ub'[below(21)] ?? ''
    const changed = text.slice(0, at) + put + text.slice(at + below(2))
    let isJson = true
    try {
      JSON.parse(changed)
    } catch {
      isJson = false
    }
    const whole = await read(changed, '$[*]', 2 ** 20)
    t.equal(typeof whole === 'string', !isJson, changed)
    for (const chunkSize of [1, 5]) t.strictSame(await read(changed, '$[*]', chunkSize), whole, changed)
    if (!isJson) broken++
  }
  t.ok(broken > 20, `${broken} are broken`)
})

t.test('long digits of a fraction are read once', async t => {
  const digits = '1'.repeat(300_000)
  const begun = performance.now()
  t.strictSame(parseExactly(`[12345678901234567, 0.${digits}, 12345678901234567, "0.${digits}"]`), [
    12345678901234567n,
    Number(`0.${digits}`),
    12345678901234567n,
    `0.${digits}`,
  ])
  t.strictSame(parseExactly(`[0.${digits}, 12345678901234567]`), [Number(`0.${digits}`), 12345678901234567n])
  t.ok(performance.now() - begun < 5000)
})

t.test('names that stand twice in an object are reported with their places', async t => {
  const cases: readonly (readonly [
    text: string,
    format: 'json' | 'jsonl' | 'geojson',
    found: RegExp | null,
  ])[] = [
    ['[{"a":1,"b":2,"a":3}]', 'json', /^a name stands twice.*"a" \(line 1, column 15\)$/],
    ['[{"a":1},\n{"b":{"x":1,\n "x":2}}]', 'json', /"x" \(line 3, column 2\)$/],
    ['{"a":1,"\\u0061":2}\r\n{"a":[{"b":1,"b":2}]}', 'jsonl', /^2 names .*"a" .* column 8\); "b" \(line 2, /],
    ['{"a" : 1, "a" : 2}', 'jsonl', /"a" \(line 1, column 11\)$/],
    [
      '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{"n":1,"n":2}}]}',
      'geojson',
      /"n" \(line 1, column 95\)$/,
    ],
    ['[{"a":"\\"a\\":1","b":{"a":1}},{"a":2,"b":{"a" : 2}}]', 'json', null],
    ['[{"a":[{"a":1},{"a":2}],"b":"x, \\"a\\":"}]', 'json', null],
    ['{"a":"http://a.example/?b=\\"c\\":"}\n{"a":"{\\"a\\":1,\\"a\\":2}"}', 'jsonl', null],
  ]
  for (const [text, format, found] of cases) {
    const folder = temporaryFolder(t, {})
    writeFileSync(join(folder, 'names.json'), text)
    const source = openSource({ path: 'names.json', format }, { datasetFolder: folder, portalFolder: folder })
    for (let time = 0; time < 2; time++) for await (const rows of source.read()) t.ok(rows)
    const warnings = source.warnings?.() ?? []
    t.match(warnings, found === null ? [] : [found], text)
    t.equal(warnings.length, found === null ? 0 : 1, text)
  }
})
