import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { Identities } from '../src/catalog/identity.ts'
import { LineSet } from '../src/catalog/line-set.ts'
import { StatisticsGatherer } from '../src/catalog/statistics.ts'
import { RECORDS, rememberRemoved, removedRecords } from '../src/catalog/tombstones.ts'
import { ValueLists } from '../src/mapping/value-lists.ts'
import { WordBuckets } from '../src/mapping/word-buckets.ts'
import { type Field, field } from '../src/model/field.ts'
import { decodeList, decodePositions } from '../src/model/positions.ts'
import { searchWords, tokens, wordBucket } from '../src/model/search.ts'
import { daysInMonth } from '../src/model/time.ts'
import { compileCount } from '../src/query/compile/records.ts'
import type { CompileTarget } from '../src/query/compile/scope.ts'
import type { Constant } from '../src/query/plan.ts'
import { escapeJson, escapeText } from '../src/rdf/ntriples.ts'
import { scaleRecords } from './bench/scale.ts'
import { lodestone } from './support/crash.ts'

/** Publishing many records: what is kept of each is small, exact, and in part on the disk. */
const NAME = [field('name', 'text')]

/** Ids as they are defined: a fingerprint of the values, and of their number where they came before. */
function expectedIds(values: readonly string[]): readonly string[] {
  const seen = new Map<string, number>()
  return values.map(value => {
    const text = JSON.stringify(['name', value])
    const before = seen.get(text) ?? 0
    seen.set(text, before + 1)
    return hash('sha1', before === 0 ? text : `${text}#${before}`)
  })
}

/** Two texts whose fingerprints begin with the same 32 bits. */
function alike(): readonly [string, string] {
  const seen = new Map<string, string>()
  for (let number = 0; ; number++) {
    const value = String(number)
    const head = hash('sha1', JSON.stringify(['name', value])).slice(0, 8)
    const before = seen.get(head)
    if (before !== undefined) return [before, value]
    seen.set(head, value)
  }
}

t.test('identities: repeats are counted, and what is alike is not taken for a repeat', t => {
  const folder = t.testdir({})
  const [one, other] = alike()
  const rows = Array.from({ length: 30_000 }, (_, at) => `row ${(at * 7919) % 21_001}`)
  const cases: readonly (readonly [string, readonly string[], number])[] = [
    ['none', [], 0],
    ['no repeats', rows.slice(0, 20_000), 0],
    ['some repeats', rows, 30_000 - 21_001],
    ['all equal', Array.from({ length: 10_000 }, () => 'same'), 9999],
    ['alike and repeated', [one, ...rows, other, one, other], 30_000 - 21_001 + 2],
  ]
  for (const [name, values, repeated] of cases)
    for (const file of [null, path.join(folder, `${name}.ids`)]) {
      const identities = new Identities(NAME, [], file)
      const expected = expectedIds(values)
      const ids = values.map(value => identities.idOf([value]))
      t.ok(ids.join() === expected.join(), `${name}: ids`)
      t.equal(identities.repeated, repeated, `${name}: repeated`)
      t.equal(identities.ids.length, values.length)
      identities.ids.close()
      if (file !== null) t.ok(readFileSync(file, 'hex') === expected.join(''), `${name}: file`)
    }
  t.end()
})

t.test('records that are gone are found part by part as they are found at once', t => {
  const home = t.testdir({})
  const ids = Array.from({ length: 120_000 }, (_, number) => hash('sha1', String(number)))
  const version = (name: string, ids: readonly string[]) => {
    mkdirSync(path.join(home, name), { recursive: true })
    writeFileSync(path.join(home, name, RECORDS), Buffer.from(ids.join(''), 'hex'))
    return path.join(home, name)
  }
  const range = (from: number, to: number) => ids.slice(from, to)
  const same = (found: string, expected: readonly string[], what: string) =>
    t.ok(found === expected.join(), what)
  const first = version('first', range(0, 40_000))
  const second = version('second', range(1000, 41_000))
  const third = version('third', range(500, 20_000))
  const step = (before: string | null, after: string | null, share: number) => {
    rememberRemoved(home, before, after, share)
    return [...removedRecords(home)].join()
  }
  for (const share of [4000, 2 ** 19]) {
    writeFileSync(path.join(home, 'removed.json'), '[]')
    same(step(null, first, share), [], 'a first version')
    same(step(first, second, share), range(0, 1000), `shares of ${share}: gone`)
    same(step(second, third, share), [...range(0, 500), ...range(20_000, 41_000)], 'gone and back')
    same(
      step(third, null, share),
      [...range(0, 500), ...range(20_000, 41_000), ...range(500, 20_000)],
      'withdrawn',
    )
    same(step(null, first, share), range(40_000, 41_000), 'published again')
  }
  const many = version('many', range(0, 120_000))
  same(step(many, first, 50_000), range(40_000, 120_000).slice(-100_000), 'the rest of many')
  same(
    step(first, null, 50_000),
    [...range(60_000, 120_000), ...range(0, 40_000)],
    'the latest are remembered',
  )
  t.end()
})

t.test('buckets of words are the same from memory and from runs on the disk', t => {
  const folder = t.testdir({})
  const file = path.join(folder, 'words')
  const rows = Array.from({ length: 6000 }, (_, at) => [
    `w${(at * 31) % 977}`,
    `x${at}`,
    'every',
    `w${at % 977}`,
    ...(at % 3 === 0 ? ['third', `x${at}`] : []),
  ])
  for (const lot of [2 ** 20, 2 ** 12])
    for (const buckets of [64, 512, 2 ** 19]) {
      const words = new WordBuckets(file, lot)
      rows.forEach((row, position) => {
        for (const word of row) words.add(word, position)
      })
      t.equal(existsSync(file), lot < 20_000, 'a file where memory is not to hold all')
      const found = new Map<number, readonly number[] | null>()
      for (const line of words.triples(buckets)) {
        const [, bucket, text = ''] = /^<urn:\S+:(\d+)> <\S+> "([^"]*)" \.\n$/.exec(line) ?? []
        if (found.has(Number(bucket))) t.fail(`bucket ${bucket} stands twice`)
        found.set(Number(bucket), decodePositions(text))
      }
      words.close()
      t.notOk(existsSync(file), 'the file is removed')
      const expected = new Map<number, Set<number>>()
      rows.forEach((row, position) => {
        for (const word of row) {
          const bucket = wordBucket(word, buckets)
          expected.set(bucket, (expected.get(bucket) ?? new Set()).add(position))
        }
      })
      t.equal(found.size, expected.size)
      for (const [bucket, positions] of expected) {
        const list = positions.size > 5000 ? null : [...positions]
        if (JSON.stringify(found.get(bucket)) !== JSON.stringify(list))
          t.fail(`${lot}, ${buckets}: bucket ${bucket}`)
      }
    }
  t.end()
})

t.test('lists of values are whole, the same from memory and from runs on the disk', t => {
  const folder = t.testdir({})
  const file = path.join(folder, 'values')
  const fields: readonly Field[] = (
    [
      ['kind', 'text'],
      ['flag', 'boolean'],
      ['names', 'text'],
      ['late', 'int'],
      ['amount', 'double'],
      ['tags', 'text'],
    ] as const
  ).map(([name, type]) => field(name, type, { multivalued: name === 'tags' }))
  const rows = Array.from({ length: 30_000 }, (_, at) => [
    at % 50 === 7 ? null : `kind ${(at * 31) % 977 < 40 ? 'rare' : (at * 7) % 311}`,
    at % 3 === 0,
    at % 6000 === 0 ? 'again' : `name ${at}`,
    at < 25_000 ? Math.floor(at * 0.8) : at < 29_000 ? 1 : 99_999,
    (at % 4) / 4,
    ['x', `y${at % 3}`, 'x'],
  ])
  for (const lot of [2 ** 20, 2 ** 12]) {
    const lists = new ValueLists(fields, file, lot)
    const words = (row: (typeof rows)[number]) => new Set(['every', `w${row[1]}`, String(row[2])])
    for (const [position, row] of rows.entries()) {
      lists.add(row, position)
      lists.addWords(words(row), position)
    }
    const found = new Map<string, { readonly total: number; readonly positions: number[] }>()
    for (const line of lists.triples()) {
      const [, name = '', piece, text = ''] =
        /^<urn:\S+:values:(\S+):(\d+)> <\S+> "([^"]*)" \.\n$/.exec(line) ?? []
      const { total, positions } = decodeList(text)
      const list = found.get(name) ?? { total, positions: [] }
      if (list.positions.length !== Number(piece) * 1000 || list.total !== total) t.fail(`${name} ${piece}`)
      list.positions.push(...positions)
      found.set(name, list)
    }
    lists.close()
    t.notOk(existsSync(file), 'the file is removed')
    t.ok(lists.hasWords())
    t.same(lists.listed(), ['kind', 'flag', 'late', 'amount', 'tags'], 'names have no lists')
    t.notOk(found.has('late:99999'), 'what comes after too many others is not followed')
    const expected = new Map<string, number[]>()
    const expect = (name: string, value: unknown, position: number) => {
      const key = `${name}:${encodeURIComponent(String(value))}`
      const positions = expected.get(key) ?? []
      positions.push(position)
      expected.set(key, positions)
    }
    for (const [position, row] of rows.entries()) {
      for (const word of words(row)) expect('*', word, position)
      for (const [index, value] of row.entries()) {
        const { name = '' } = fields[index] ?? {}
        if (value === null || value === 99_999 || name === 'names') continue
        for (const each of new Set([value].flat())) expect(name, each, position)
      }
    }
    const frequent = [...expected].filter(([, positions]) => positions.length >= 64)
    t.equal(found.size, frequent.length, `${found.size} lists`)
    for (const [key, positions] of frequent) {
      const list = found.get(key)
      if (list?.total !== positions.length || String(list.positions) !== String(positions)) t.fail(key)
    }
  }
  t.end()
})

t.test('fast ways give what the plain ones do', t => {
  const texts = [
    '',
    'Saint-Étienne, 12',
    'ABC abc a1B2',
    '-12.5e3',
    'fin İstanbul ΣΑΣ',
    'a\u0301b c\u0301',
    'tab\tline\n"quote" \\ \u0000\u001f\u007f',
    '\ufffe\uffff \ud800 😀',
    ...Array.from(scaleRecords(200, 7), record => Object.values(record).join(' ')),
  ]
  const all = [field('a', 'text')]
  for (const text of texts) {
    t.same([...searchWords([text], all)], [...new Set(tokens(text))], `words of ${JSON.stringify(text)}`)
    const json = JSON.stringify([text, null, 1.5, [text]])
    t.equal(escapeJson(json), escapeText(json), `JSON of ${JSON.stringify(text)}`)
  }
  for (const year of [4, 1900, 1999, 2000, 2024])
    for (let month = 1; month <= 12; month++) {
      const last = new Date(0)
      last.setUTCFullYear(year, month, 0)
      t.equal(daysInMonth(year, month), last.getUTCDate(), `${year}-${month}`)
    }
  t.end()
})

t.test('a set of lines knows what it has', t => {
  const set = new LineSet()
  for (let at = 0; at < 100_000; at++) if (!set.add(`line ${at}`)) t.fail(`line ${at} was not there`)
  for (let at = 0; at < 100_000; at++) if (set.add(`line ${at}`)) t.fail(`line ${at} was there`)
  t.end()
})

t.test('long distinct values are not counted without end', t => {
  const gatherer = new StatisticsGatherer(NAME)
  for (let at = 0; at < 300; at++) gatherer.add([`${at}${'x'.repeat(5000)}`])
  t.match(gatherer.statistics(), { records: 300, fields: { name: { present: 300, distinct: null } } })
  t.end()
})

t.test('the records of each value are counted where there are few values', t => {
  const fields = [
    field('kind', 'text'),
    field('tags', 'text', { multivalued: true }),
    field('flag', 'boolean'),
  ]
  const numbers = [field('few', 'int'), field('many', 'int'), field('share', 'double')]
  const gatherer = new StatisticsGatherer([...fields, ...numbers])
  for (let at = 0; at < 1200; at++)
    gatherer.add([at === 7 ? null : `k${at % 3}`, ['a', `b${at % 2}`], at % 4 === 0, at % 5, at, at % 2])
  const statistics = gatherer.statistics()
  t.match(statistics.fields, {
    kind: {
      counts: [
        ['k0', 400],
        ['k1', 399],
        ['k2', 400],
      ],
    },
    share: { counts: undefined },
  })
  const dataset = { id: 'd', fields: [...fields, ...numbers] }
  const target = {
    base: 'http://portal.test',
    dataset,
    graphs: { facts: 'urn:f', index: 'urn:i' },
    statistics,
  }
  const [kind, tags, flag] = fields as [Field, Field, Field]
  const [few, many] = numbers as [Field, Field]
  const cases: readonly (readonly [Field, Constant, number | null])[] = [
    [kind, 'k1', 399],
    [kind, 'K1', 0],
    [tags, 'b0', 600],
    [flag, false, 900],
    [few, 3, 240],
    [few, 9, 0],
    [few, '3', null],
    [many, 3, null],
  ]
  for (const [of, value, expected] of cases) {
    const filter = { type: 'compare', field: of, operator: '=', value } as const
    const found = compileCount(
      { filter, timezone: 'UTC', limit: 10, offset: 0 },
      target as unknown as CompileTarget,
    )
    t.equal(found.type === 'known' ? found.count : null, expected, `${of.name} = ${JSON.stringify(value)}`)
  }
  t.end()
})

t.test(
  'publishing many records needs little memory, the first time and again',
  { timeout: 200_000 },
  async t => {
    const rows = Array.from(scaleRecords(100_000, 3), record => Object.values(record).join(','))
    const yaml = 'source: { path: many.csv }\n'
    const portal = t.testdir({
      'portal.yaml': 'title: Many\n',
      data: {
        many: { 'dataset.yaml': yaml, 'many.csv': `name,count,amount,day,category\n${rows.join('\n')}\n` },
      },
    })
    const environment = { NODE_OPTIONS: '--max-old-space-size=68' }
    const run = (command: string) => lodestone([command, 'many', '--portal', portal], { environment })
    for (const command of ['check', 'publish', 'publish']) {
      t.match(await run(command), { code: 0 }, command)
      writeFileSync(path.join(portal, 'data/many/dataset.yaml'), `${yaml}# again\n`)
    }
  },
)
