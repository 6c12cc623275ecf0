import t from 'tap'
import { buildApp } from '../src/app.ts'
import { publishAll } from '../src/catalog/publisher.ts'
import { loadConfig } from '../src/config.ts'

/**
 * Random where and order_by clauses over generated records of every type, answered by Lodestone through its API and by
 * a plain evaluator over the source: both must give the same records in the same order. SEED=n repeats a run.
 */
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
const QUERIES = Number(process.env.QUERIES ?? 400)
let state = seed
const random = () => {
  state = (state * 1664525 + 1013904223) % 2 ** 32
  return state / 2 ** 32
}
const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1))
function pick<T>(values: readonly T[]): T {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) throw new Error('nothing to pick from')
  return value
}

const WORDS =
  'Zoë|zoe|Élan|élan|naïve|O\'Brien|"quoted"|back\\slash|tab\there|line\nbreak|ÅNGSTRÖM|straße|STRASSE|ﬁne|fine|São Paulo|sao-paulo|İstanbul|日本|123|12.5|a|b|c*|Ελλάς|x,y|–dash|😀'.split(
    '|',
  )
const orNull = <T>(value: T): T | null => (random() < 0.2 ? null : value)
const two = (value: number) => String(value).padStart(2, '0')

function makeRecord(k: number) {
  return {
    k,
    title: orNull(Array.from({ length: between(1, 4) }, () => pick(WORDS)).join(pick([' ', ' ', '-', '/']))),
    word: orNull(pick(WORDS)),
    n: orNull(between(-5, 20)),
    big: orNull(between(-1e12, 1e12)),
    x: orNull(pick([0, -0.5, 1.5, 1e6, 0.1 + 0.2, between(-100, 100) / 8, between(0, 9)])),
    flag: orNull(random() < 0.5),
    on: orNull(`${between(1995, 2025)}-${two(between(1, 12))}-${two(between(1, 28))}`),
    at: orNull(
      `2020-0${between(1, 3)}-${two(between(1, 28))}T${two(between(0, 23))}:${pick(['00', '30'])}:${pick(['00', '07'])}${pick(['', '.5', '.123456'])}Z`,
    ),
    tags: orNull([...new Set(Array.from({ length: between(0, 3) }, () => pick(WORDS)))]),
    place: orNull({ lat: between(-90, 90), lon: between(-180, 180) }),
  }
}
type Source = ReturnType<typeof makeRecord>
const records: readonly Source[] = Array.from({ length: 400 }, (_, k) => makeRecord(k))

/** A clause and what it means. */
interface Filter {
  readonly text: string
  readonly holds: (record: Source) => boolean
}

const COMPARE: Readonly<Record<string, (left: string | number, right: string | number) => boolean>> = {
  '=': (left, right) => left === right,
  ':': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
}
const compare = (operator: string, left: string | number | null, right: string | number) =>
  left !== null && COMPARE[operator]?.(left, right) === true

const quote = (text: string) => {
  const mark = pick(['"', "'"])
  return mark + text.replaceAll('\\', '\\\\').replaceAll(mark, `\\${mark}`) + mark
}
const seconds = (text: string | null) =>
  text === null ? null : Date.parse(`${text.slice(0, 19)}Z`) / 1000 + Number(`0${text.slice(19, -1) || '.0'}`)
const tokens = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .match(/[\p{L}\p{N}]+/gu) ?? []
const wordsOf = (record: Source) =>
  [
    record.k,
    record.title,
    record.word,
    record.n,
    record.big,
    record.x,
    record.on,
    record.at,
    ...(record.tags ?? []),
  ].flatMap(value => (value === null ? [] : tokens(String(value))))

const LEAVES: readonly (() => Filter)[] = [
  () => {
    const field = pick(['title', 'word', 'word'] as const)
    const operator = pick(['=', ':', '!='])
    const value = random() < 0.7 ? (pick(records)[field] ?? 'zz') : pick(WORDS)
    return {
      text: `${field} ${operator} ${quote(value)}`,
      holds: record => compare(operator, record[field], value),
    }
  },
  () => {
    const field = pick(['n', 'n', 'big', 'k', 'x', 'x'] as const)
    const operator = pick(Object.keys(COMPARE))
    const value = random() < 0.8 ? (pick(records)[field] ?? 3) : between(-5, 20) + 0.5
    return { text: `${field}${operator}${value}`, holds: record => compare(operator, record[field], value) }
  },
  () => {
    const [text, holds] = pick<readonly [string, (flag: boolean | null) => boolean]>([
      ['flag', flag => flag === true],
      ['flag is true', flag => flag === true],
      ['flag is false', flag => flag === false],
      ['flag is not true', flag => flag !== true],
      ['flag = FALSE', flag => flag === false],
    ])
    return { text, holds: record => holds(record.flag) }
  },
  () => {
    const field = pick(['title', 'n', 'x', 'flag', 'on', 'at', 'tags', 'place'] as const)
    const negated = random() < 0.5
    const isNull = (record: Source) =>
      record[field] === null || (field === 'tags' && record.tags?.length === 0)
    return { text: `${field} is ${negated ? 'not ' : ''}null`, holds: record => isNull(record) !== negated }
  },
  () => {
    const operator = pick(Object.keys(COMPARE))
    const value = pick(records).on ?? '2001-02-03'
    const literal = random() < 0.3 ? value.replaceAll('-', '/') : value
    return { text: `on ${operator} date'${literal}'`, holds: record => compare(operator, record.on, value) }
  },
  () => {
    const operator = pick(Object.keys(COMPARE))
    const value = pick(records).at ?? '2020-01-02T03:04:05Z'
    return {
      text: `at ${operator} date'${value}'`,
      holds: record => compare(operator, seconds(record.at), seconds(value) ?? 0),
    }
  },
  () => {
    const [year, operator] = [between(1996, 2024), pick(['<', '<=', '>', '>=', '=', '!='])]
    const [start, end] = [`${year}-01-01`, `${year + 1}-01-01`]
    const within = (day: string) => day >= start && day < end
    return {
      text: `on ${operator} date'${year}'`,
      holds: ({ on }) =>
        on !== null &&
        (operator === '=' ? within(on) : operator === '!=' ? !within(on) : compare(operator, on, start)),
    }
  },
  () => {
    const field = pick(['n', 'x', 'k'] as const)
    const [open, close, low, high] = [pick(['[', ']']), pick(['[', ']']), between(-5, 10), between(0, 20)]
    return {
      text: `${field}${pick([' in ', ': '])}${open}${low}${pick(['..', ' TO ', ' .. '])}${high}${close}`,
      holds: record =>
        compare(open === '[' ? '>=' : '>', record[field], low) &&
        compare(close === ']' ? '<=' : '<', record[field], high),
    }
  },
  () => {
    const [operator, value] = [pick(['=', '!=']), pick(WORDS)]
    return {
      text: `tags ${operator} ${quote(value)}`,
      holds: ({ tags }) => tags?.some(tag => compare(operator, tag, value)) === true,
    }
  },
  () => {
    const prefix = random() < 0.4
    const asked = Array.from({ length: between(1, 2) }, () => pick([...wordsOf(pick(records)), 'zo']))
    const text = asked.map((word, index) =>
      prefix && index === asked.length - 1 ? `${word.slice(0, 2)}*` : word,
    )
    return {
      text: quote(text.join(' ')),
      holds: record => {
        const words = wordsOf(record)
        return text.every(word =>
          word.endsWith('*') ? words.some(each => each.startsWith(word.slice(0, -1))) : words.includes(word),
        )
      },
    }
  },
  () => {
    const field = pick(['word', 'n'] as const)
    const values = Array.from({ length: between(1, 3) }, () => pick(records)[field]).filter(
      value => value !== null,
    )
    const list = values.length === 0 ? [field === 'n' ? 1 : 'a'] : values
    const text = list.map(value => (typeof value === 'string' ? quote(value) : value)).join(', ')
    return {
      text: `${field} in (${text})`,
      holds: record => list.some(value => compare('=', record[field], value)),
    }
  },
]

function filter(depth: number): Filter {
  if (depth === 0 || random() < 0.3) return pick(LEAVES)()
  const left = filter(depth - 1)
  if (random() < 0.25) return { text: `NOT (${left.text})`, holds: record => !left.holds(record) }
  const right = filter(depth - 1)
  return pick<() => Filter>([
    () => ({
      text: `(${left.text}) AND (${right.text})`,
      holds: record => left.holds(record) && right.holds(record),
    }),
    () => ({
      text: `(${left.text}) or (${right.text})`,
      holds: record => left.holds(record) || right.holds(record),
    }),
    () => ({
      text: `(${left.text}) and not (${right.text})`,
      holds: record => left.holds(record) && !right.holds(record),
    }),
  ])()
}

const SORTABLE = ['title', 'word', 'n', 'x', 'flag', 'on', 'at', 'big'] as const

interface Key {
  readonly field: (typeof SORTABLE)[number]
  readonly descending: boolean
}

function keys(): readonly Key[] {
  if (random() < 0.6) return []
  const fields = new Set(Array.from({ length: between(1, 2) }, () => pick(SORTABLE)))
  return [...fields].map(field => ({ field, descending: random() < 0.5 }))
}

/** Nulls last in either direction, texts by code point, the order of the source between equals. */
function sorted(found: readonly Source[], order: readonly Key[]): readonly Source[] {
  const value = (record: Source, field: Key['field']) => (field === 'at' ? seconds(record.at) : record[field])
  return [...found].sort((a, b) => {
    for (const { field, descending } of order) {
      const [left, right] = [value(a, field), value(b, field)]
      if (left === right) continue
      if (left === null) return 1
      if (right === null) return -1
      const before =
        typeof left === 'string'
          ? Buffer.compare(Buffer.from(left), Buffer.from(String(right))) < 0
          : left < right
      return before === descending ? 1 : -1
    }
    return a.k - b.k
  })
}

t.test('the API picks the records that a plain evaluator picks', async t => {
  t.comment(`SEED=${seed}`)
  const types = {
    k: 'int',
    title: 'text',
    word: 'text',
    n: 'int',
    big: 'int',
    x: 'double',
    flag: 'boolean',
    on: 'date',
    at: 'datetime',
    tags: 'text',
    place: 'geo_point_2d',
  }
  const fields = Object.entries(types).map(([name, type]) =>
    name === 'tags' ? { name, type, annotations: { multivalued: [] } } : { name, type },
  )
  const portal = t.testdir({
    'portal.yaml': '',
    data: {
      made: {
        'made.json': JSON.stringify(records),
        'dataset.yaml': JSON.stringify({ source: { path: 'made.json' }, fields }),
      },
    },
  })
  const base = 'http://portal.example'
  await publishAll({ portal, base, now: () => new Date() }, null, message => {
    if (message.type === 'failed') throw new Error(message.reason)
    if (message.type === 'published') t.equal(message.report.misfitCount, 0, 'every value fits its type')
  })
  const app = await buildApp({ ...loadConfig({ portal, base }, {}), workers: 1, log: 'silent' })
  t.teardown(() => app.close())
  await app.catalog.refresh()

  async function answer(where: string, orderBy: string): Promise<{ total: number; found: number[] }> {
    const found: number[] = []
    for (let offset = 0; ; offset += 100) {
      const query = { where, order_by: orderBy, select: 'k', limit: '100', offset: String(offset) }
      const response = await app.http.inject({
        url: '/api/explore/v2.0/catalog/datasets/made/records',
        query,
      })
      if (response.statusCode !== 200) throw new Error(`${where}: ${response.body}`)
      const body = response.json() as {
        total_count: number
        records: { record: { fields: { k: number } } }[]
      }
      found.push(...body.records.map(({ record }) => record.fields.k))
      if (offset + 100 >= body.total_count) return { total: body.total_count, found }
    }
  }

  let picked = 0
  for (let query = 0; query < QUERIES; query++) {
    const { text, holds } = filter(between(0, 3))
    const order = keys()
    const orderBy = order
      .map(({ field, descending }) => `${field}${descending ? ' desc' : pick(['', ' asc'])}`)
      .join(', ')
    const wanted = sorted(records.filter(holds), order).map(({ k }) => k)
    const { total, found } = await answer(text, orderBy)
    if (total !== wanted.length || JSON.stringify(found) !== JSON.stringify(wanted))
      t.same({ total, found }, { total: wanted.length, found: wanted }, `where=${text} order_by=${orderBy}`)
    if (wanted.length > 0) picked += 1
  }
  t.ok(picked > QUERIES / 2, `${picked} of ${QUERIES} queries pick records`)
})
