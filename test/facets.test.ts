import t from 'tap'
import { temporaryFolder } from './support/folder.ts'
import { between, chance, pick, startFrom } from './support/odsql-generator.ts'
import { servePortal } from './support/portal.ts'
import { seedOf } from './support/seed.ts'

/**
 * Facets: what they tell, level by level, and that random refinements count as the records that are exported do.
 * SEED=n takes other ones.
 */
const seed = seedOf()
const COMBINATIONS = 200
const ZONE = 'Europe/Paris'
const COUNTRIES = [' ', 'FR', 'IT', "Côte d'Ivoire", 'a:b', 'x "y"', '"z"', ' both ends ', null]
const TAGS = ['red', 'green', 'blue', 'Été', '1']
const PATHS = ['A', 'A/B', 'A/B/C', 'A/D', 'E/B', null]
const TREES = ['x', 'x>y', 'x>z', 'x>y>w', 'v>y']
const two = (value: number) => String(value).padStart(2, '0')

startFrom(seed)
const records = Array.from({ length: 300 }, (_, k) => ({
  k,
  country: pick(COUNTRIES),
  tags: TAGS.filter(() => chance(0.3)),
  path: pick(PATHS),
  tree: TREES.filter(() => chance(0.3)),
  at: chance(0.1)
    ? null
    : `20${two(between(19, 21))}-${two(pick([1, 3, 12]))}-${two(between(28, 31))}T${two(between(0, 23))}:30:00Z`.replace(
        /-02-(29|30|31)/,
        '-02-28',
      ),
  n: between(0, 4),
  flag: chance(0.5),
}))
const portal = temporaryFolder(t, {
  'portal.yaml': 'title: Facets\n',
  data: {
    made: {
      'made.json': JSON.stringify(records),
      'dataset.yaml': `
source: { path: made.json }
fields:
  - { name: k, type: int }
  - { name: country, type: text, annotations: { facet: [] } }
  - { name: tags, type: text, annotations: { multivalued: [], facet: [], disjunctive: [], facetsort: [alphanum] } }
  - { name: path, type: text, annotations: { facet: [], hierarchical: ['/'] } }
  - { name: tree, type: text, annotations: { multivalued: [], facet: [], hierarchical: ['>'] } }
  - { name: at, type: datetime, annotations: { facet: [] } }
  - { name: n, type: int, annotations: { facet: [] } }
  - { name: flag, type: boolean, annotations: { facet: [] } }
metas: { default: { title: Made, theme: [One, Two] } }
`,
    },
    old: {
      'old.csv': `name,day,at
Domitian,0081-09-14,0081-09-14T12:00:00Z
Augustus,0001-01-01,0001-01-01T00:00:00Z
Odoacer,0476-09-04,0476-09-04T12:00:00Z
Otto,0999-12-31,0999-12-31T23:30:00Z
Now,2020-01-01,2020-01-01T12:00:00Z
Last,9999-12-31,9999-12-31T23:30:00Z
`,
      'dataset.yaml': `
source: { path: old.csv }
fields:
  - { name: name, type: text }
  - { name: day, type: date, annotations: { facet: [] } }
  - { name: at, type: datetime, annotations: { facet: [] } }
metas: { default: { title: Old } }
`,
    },
    music: {
      'music.csv': 'path\nAC/DC > Powerage\nAC/DC > Live/1992\nAbba\n',
      'dataset.yaml': `
source: { path: music.csv }
fields: [{ name: path, type: text, annotations: { facet: [], hierarchical: [' > '] } }]
`,
    },
  },
})
const { base, getJson: get } = await servePortal(t, { portal, now: '2026-01-02T03:04:05Z' })

type Query = Readonly<Record<string, string | readonly string[]>>
const CATALOG = '/api/explore/v2.1/catalog'
const MADE = `${CATALOG}/datasets/made`

interface Value {
  readonly name: string
  readonly value: string
  readonly state: string
  readonly count?: number
  readonly facets?: readonly Value[]
}

async function facet(name: string, query: Query = {}, url = MADE): Promise<readonly Value[]> {
  const { status, body } = await get(`${url}/facets`, { ...query, facet: name })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.facets[0].facets
}

/** Every value with its count, also of the levels below. */
const flat = (values: readonly Value[]): readonly Value[] =>
  values.flatMap(value => [value, ...flat(value.facets ?? [])])

t.test('a step may have a slash where the separator is another sign', async t => {
  const music = `${CATALOG}/datasets/music`
  for (const [value, count] of [
    ['AC/DC', 2],
    ['AC/DC/Powerage', 1],
    ['AC/DC > Live/1992', 1],
    ['AC/DC/Live/1992', 1],
    ['AC', 0],
  ] as const) {
    const refine = `path:${value}`
    t.equal((await get(`${music}/records`, { refine })).body.total_count, count, value)
    if (count === 0) continue
    const listed = flat(await facet('path', { refine }, music)).filter(({ state }) => state === 'refined')
    t.match(listed.at(-1), { value: value.replace(' > ', '/'), count })
  }
})

t.test('facets tell their values, levels and states', async t => {
  const { body } = await get(`${MADE}/facets`)
  t.same(
    body.facets.map(({ name }: Value) => name),
    ['country', 'tags', 'path', 'tree', 'at', 'n', 'flag'],
    'those that the fields declare',
  )
  t.match(body.links, [
    { rel: 'self', href: `${base}${MADE}/facets` },
    { rel: 'dataset', href: `${base}${MADE}` },
  ])
  const catalog = (await get(`${CATALOG}/facets`)).body
  t.match(catalog.links, [{ rel: 'self' }, { rel: 'source', href: `${base}${CATALOG}` }])
  t.match(
    catalog.facets.find(({ name }: Value) => name === 'theme'),
    { facets: [{ name: 'One', count: 1, state: 'displayed', value: 'One' }, { name: 'Two' }] },
  )
  t.match(await facet('modified', { refine: 'modified:2026/01' }, CATALOG), [
    { name: '2026', state: 'refined', facets: [{ name: '01', value: '2026/01', state: 'refined' }] },
  ])
  const years = await facet('at')
  t.ok(
    years.every(({ facets }) => facets === undefined),
    'dates open where they are refined',
  )
  const [open] = await facet('at', { refine: 'at:2020', timezone: ZONE })
  t.match(open, { name: '2020', value: '2020', state: 'refined' })
  t.match(open?.facets?.[0], { name: /^\d\d$/, value: /^2020\/\d\d$/, state: 'displayed' })
  t.equal(
    (open?.facets ?? []).reduce((sum, { count = 0 }) => sum + count, 0),
    open?.count,
  )
  t.match(await facet('country', { exclude: 'country:FR' }), { length: COUNTRIES.length - 1 })
  t.same(
    (await facet('country', { exclude: 'country:FR' })).at(-1),
    { state: 'excluded', name: 'FR', value: 'FR' },
    'an excluded value has no count',
  )
  t.same(
    (await facet('facet(name="tags", sort=-alphanum, limit=2)')).map(({ name }) => name),
    ['Été', 'red'],
  )
  t.same(
    (await facet('tags', { refine: ['tags:red', 'tags:blue'] })).map(({ state }) => state),
    ['displayed', 'refined', 'displayed', 'refined', 'displayed'],
    'beside the refined values of a disjunctive facet the others stay',
  )
  for (const [query, parameter] of [
    [{ facet: 'nme' }, /facet/],
    [{ facet: 'facet(name="tags", sort=up)' }, /sort=up/],
    [{ facet: 'facet(name="tags", limit=0)' }, /limit=0/],
    [{ refine: 'country' }, /refine/],
    [{ exclude: 'nope:1' }, /exclude/],
    [{ facet: 'tags,'.repeat(101).slice(0, -1) }, /facet.*101 values was found but at most 100/],
    [{ facet: 'tags,'.repeat(20_000).slice(0, -1) }, /facet.*20000 values was found but at most 100/],
  ] as const)
    t.match(
      await get(`${MADE}/facets`, query),
      { status: 400, body: { error_code: 'InvalidRESTParameterError', message: parameter } },
      JSON.stringify(query),
    )
})

t.test('refined values stay listed and open where the limit of the facet leaves them out', async t => {
  const whole = (name: string, refine: string) => facet(`facet(name="${name}", disjunctive=true)`, { refine })
  for (const [name, value] of [
    ['country', 'a:b'],
    ['tags', 'red'],
    ['n', '4'],
    ['n', '4.0'],
    ['path', 'E/B'],
    ['tree', 'v/y'],
    ['at', '2021/12'],
  ] as const) {
    const refine = `${name}:${value}`
    const first = (await whole(name, refine)).find(({ state }) => state === 'refined')
    for (const sort of ['alphanum', '-alphanum']) {
      const short = await facet(`facet(name="${name}", disjunctive=true, sort=${sort}, limit=1)`, { refine })
      const refined = short.filter(({ state }) => state === 'refined')
      t.match(refined, [{ value: first?.value, count: first?.count }], `${refine} by ${sort}`)
      t.equal(refined[0]?.facets === undefined, first?.facets === undefined, 'with the next level')
    }
  }
  const none = await facet('facet(name="n", disjunctive=true, limit=1)', { refine: ['n:4', 'n:77'] })
  t.equal(none.length, 2, 'a value that no record has is not listed')
})

t.test('values of dates refine to the records that they count, at the ends of the calendar too', async t => {
  const old = `${CATALOG}/datasets/old`
  const found = (await facet('day', {}, old)).map(({ value }) => value)
  t.same(found.sort(), ['0001', '0081', '0476', '0999', '2020', '9999'])
  t.match(await facet('day', { refine: 'day:0476/09' }, old), [
    { name: '0476', value: '0476', facets: [{ name: '09', facets: [{ name: '04', value: '0476/09/04' }] }] },
  ])
  t.match((await facet('day', { exclude: 'day:0081' }, old)).at(-1), { name: '0081', state: 'excluded' })
  for (const name of ['day', 'at'])
    for (const timezone of ['UTC', ZONE, 'America/New_York']) {
      const years = await facet(name, { timezone }, old)
      for (const { value } of years) {
        const refine = `${name}:${value}`
        const opened = flat(await facet(name, { refine, timezone }, old))
        t.ok(opened.length > 0, `${refine} has records in ${timezone}`)
        for (const each of opened) {
          const query = { refine: `${name}:${each.value}`, timezone, limit: '0' }
          const { body } = await get(`${old}/records`, query)
          t.equal(body.total_count, each.count, `${name}:${each.value} in ${timezone}`)
        }
      }
    }
})

t.test(
  'a value refines as the answer has it, with its own blanks and quotation marks, and in others',
  async t => {
    for (const { value, count } of await facet('country')) {
      for (const refine of [`country:${value}`, `country:${JSON.stringify(value)}`]) {
        t.match(
          await get(`${MADE}/records`, { refine, limit: '0' }),
          { body: { total_count: count } },
          refine,
        )
        t.match((await facet('country', { refine }))[0], { value, state: 'refined', count }, refine)
      }
      const { body } = await get(`${MADE}/records`, { exclude: `country:${value}`, limit: '0' })
      t.equal(body.total_count, records.length - Number(count), `without ${value}`)
    }
    t.match(await facet('country', { refine: 'country: FR' }), [{ value: 'FR', state: 'refined' }])
  },
)

t.test('numbers and booleans are refined and excluded in any spelling', async t => {
  const spellings = { n: ['3', '03', '3.0', '+3'], flag: ['true', 'True', '1'] }
  for (const [name, texts] of Object.entries(spellings))
    for (const text of texts) {
      const [value = ''] = texts
      t.match(await facet(name, { refine: `${name}:${text}` }), [{ value, state: 'refined' }], text)
      const others = await facet(name, { exclude: `${name}:${text}` })
      t.match(others.at(-1), { name: value, value, state: 'excluded' }, `without ${text}`)
    }
})

t.test('random refinements count as the exported records do', async t => {
  t.comment(`SEED=${seed}`)
  const steps = (value: string | null, separator: string) =>
    value === null ? [] : value.split(separator).map((_, at, all) => all.slice(0, at + 1).join('/'))
  const shown = new Intl.DateTimeFormat('sv-SE', { timeZone: ZONE, dateStyle: 'short' })
  const valuesOf = {
    country: r => (r.country === null ? [] : [r.country]),
    tags: r => r.tags ?? [],
    path: r => steps(r.path, '/'),
    tree: r => (r.tree ?? []).flatMap(each => steps(each, '>')),
    at: r => (r.at === null ? [] : steps(shown.format(Date.parse(r.at)).replaceAll('-', '/'), '/')),
    n: r => [String(r.n)],
    flag: r => [String(r.flag)],
  } satisfies Record<string, (record: (typeof records)[number]) => readonly string[]>
  const names = Object.keys(valuesOf) as (keyof typeof valuesOf)[]
  const some = () => {
    const name = pick(names)
    const values = valuesOf[name](pick(records))
    return values.length === 0 ? null : ([name, pick(values)] as const)
  }
  const text = ([name, value]: readonly [string, string]) =>
    `${pick([name, `\`${name}\``])}:${/["']/.test(value) ? value : pick([value, `"${value}"`])}`
  let differences = 0
  for (let round = 0; round < COMBINATIONS; round++) {
    const refined = Array.from({ length: between(0, 2) }, some).filter(each => each !== null)
    const excluded = Array.from({ length: between(0, 1) }, some).filter(each => each !== null)
    const where = pick(['', '', 'n > 1', 'flag', 'not country = "FR"', 'k < 200 and tags = "red"'])
    const name = pick(names)
    const query = { timezone: ZONE, ...(where && { where }) }
    const refine = refined.map(text)
    const exclude = excluded.map(text)
    const found = flat(await facet(name, { ...query, refine, exclude }))
    const kept =
      name === 'tags' ? refined.flatMap((each, at) => (each[0] === 'tags' ? [] : [refine[at] ?? ''])) : refine
    const exported = (await get(`${MADE}/exports/json`, { ...query, refine: kept, exclude })).body
    const counts = new Map<string, number>()
    for (const record of exported)
      for (const value of new Set(valuesOf[name](record))) counts.set(value, (counts.get(value) ?? 0) + 1)
    const described = found.filter(({ state }) => state !== 'excluded')
    for (const { value, count } of described) {
      const isRight = count === counts.get(value)
      if (!isRight) t.fail(`${value}: ${count}, not ${counts.get(value)}`, { name, where, refine, exclude })
      differences += isRight ? 0 : 1
    }
    const top = [...counts.keys()].filter(value => name === 'country' || !value.includes('/'))
    const missing = top.filter(value => !described.some(each => each.value === value))
    if (missing.length > 0) t.fail(`missing: ${missing}`, { name, where, refine, exclude })
    differences += missing.length
  }
  t.equal(differences, 0, `${COMBINATIONS} combinations count alike`)
})
