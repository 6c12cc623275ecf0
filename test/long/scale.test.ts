import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { field } from '../../src/model/field.ts'
import { daysOf } from '../../src/model/time.ts'
import { Identities } from '../../src/publishing/identity.ts'
import { StatisticsGatherer } from '../../src/publishing/statistics.ts'
import { RECORD_IDS_FILE, rememberRemoved, removedRecords } from '../../src/publishing/versions/tombstones.ts'
import { LineSet } from '../../src/rdf/line-set.ts'
import { buildColumnsFile } from '../../src/store/columns/build/columns-file.ts'
import { openColumns } from '../../src/store/columns/graph.ts'
import { sortedPieces } from '../../src/store/columns/sorting.ts'
import { csvRow, SCALE_HEADER, scaleRecords } from '../bench/scale.ts'
import { lodestone } from '../support/crash.ts'
import { temporaryFolder } from '../support/folder.ts'

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
  const folder = temporaryFolder(t, {})
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
  const home = temporaryFolder(t, {})
  const ids = Array.from({ length: 120_000 }, (_, number) => hash('sha1', String(number)))
  const version = (name: string, ids: readonly string[]) => {
    mkdirSync(path.join(home, name), { recursive: true })
    writeFileSync(path.join(home, name, RECORD_IDS_FILE), Buffer.from(ids.join(''), 'hex'))
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

t.test('fast ways give what the plain ones do', t => {
  for (const year of [4, 1900, 1999, 2000, 2024])
    for (let month = 1; month <= 12; month++) {
      const last = new Date(0)
      last.setUTCFullYear(year, month, 0)
      t.equal(daysOf(year, month), last.getUTCDate(), `${year}-${month}`)
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
  t.match(gatherer.statistics().fields, { few: { counts: [[0, 240]] }, many: { counts: undefined } })
  t.end()
})

/** Lexical forms of a datatype, some of them such that their numbers do not give them back. */
const FORMS: Readonly<
  Record<string, { readonly plain: readonly string[]; readonly odd: readonly string[] }>
> = {
  integer: {
    plain: ['0', '7', '-7', '123456789012345'],
    odd: ['-0', '007', '+3', '9007199254740993', '1.5'],
  },
  double: {
    plain: ['0', '0.05', '-1.25', '10', '0.0000001'],
    odd: ['-0', '1.50', 'NaN', 'INF', '5.', '1e5'],
  },
  decimal: { plain: ['0.1', '12.5', '-3'], odd: ['0.10', '.5', '99999999999999999999.5'] },
  boolean: { plain: ['true', 'false'], odd: ['1', 'T'] },
  date: { plain: ['2020-02-29', '1999-12-31'], odd: ['2021-02-29', '-0044-03-15', '2020-01-01Z'] },
  dateTime: {
    plain: ['2020-02-29T23:59:59Z', '2000-01-01T00:00:00.125Z'],
    odd: [
      '2020-01-01T00:00:00',
      '2020-01-01T24:00:00Z',
      '2020-01-01T00:00:00.10Z',
      '1800-01-01T00:00:00.123456Z',
    ],
  },
}

t.test('columns of numbers, days and moments give back every form', async t => {
  const folder = temporaryFolder(t, {})
  for (const [name, { plain, odd }] of Object.entries(FORMS))
    for (const [kind, forms] of [
      ['plain', plain],
      ['odd', odd],
      ['both', [...plain, ...odd, ...plain]],
    ] as const) {
      const text = forms
        .map(
          (form, at) =>
            `<http://s/${at}> <http://p> "${form}"^^<http://www.w3.org/2001/XMLSchema#${name}> .\n`,
        )
        .join('')
      const [triples, columns] = [path.join(folder, 'x.nt.gz'), path.join(folder, 'x.columns')]
      writeFileSync(triples, gzipSync(text))
      await buildColumnsFile(triples, columns)
      t.equal([...openColumns(columns).lines()].join(''), text, `${name}: ${kind}`)
    }
})

t.test('pieces of bytes are sorted as they compare', t => {
  const random = scaleRecords(9000, 5)
  const texts = [
    ...Array.from({ length: 40_000 }, (_, at) => `POINT(${(at * 7919) % 40_009} ${at % 7})`),
    ...Array.from({ length: 9000 }, () => Object.values(random.next().value ?? {}).join('\0')),
    ...['', '\0', '\0\0', 'a', 'a\0', 'a\0\0\0\0', 'a\0\0\0', 'ab', 'é', '\u{10000}', '\uffff'],
  ]
  const bytes = Buffer.from(texts.join(''))
  const ends: number[] = []
  for (const text of texts) ends.push((ends.at(-1) ?? 0) + Buffer.byteLength(text))
  const startOf = (at: number) => ends[at - 1] ?? 0
  const endOf = (at: number) => ends[at] as number
  const order = sortedPieces(texts.length, { bytes, startOf, endOf })
  t.equal(new Set(order).size, texts.length)
  for (let at = 1; at < order.length; at++) {
    const [before, piece] = [order[at - 1] as number, order[at] as number]
    const compared = bytes.compare(bytes, startOf(piece), endOf(piece), startOf(before), endOf(before))
    if (compared > 0) t.fail(`${texts[before]} stands before ${texts[piece]}`)
  }
  t.end()
})

t.test(
  'publishing many records needs little memory, the first time and again',
  { timeout: 200_000 },
  async t => {
    const rows = Array.from(scaleRecords(100_000, 3), csvRow)
    const yaml = 'source: { path: many.csv }\n'
    const portal = temporaryFolder(t, {
      'portal.yaml': 'title: Many\n',
      data: {
        many: { 'dataset.yaml': yaml, 'many.csv': `${SCALE_HEADER}\n${rows.join('\n')}\n` },
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
