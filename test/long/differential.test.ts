import t, { type Test } from 'tap'
import { temporaryFolder } from '../support/folder.ts'
import { type Context, clock, type Row } from '../support/odsql-evaluator.ts'
import {
  type Asked,
  ask,
  between,
  chance,
  makeRecords,
  pick,
  startFrom,
  TYPES,
} from '../support/odsql-generator.ts'
import { servePortal } from '../support/portal.ts'
import { seedOf } from '../support/seed.ts'
import { publishInto, testConfig } from '../support/stores.ts'

/**
 * Random queries of the whole language over generated records of every type, answered by Lodestone through its API and
 * by a plain evaluator over the source: both must give the same rows in the same order. SEED=n takes other ones,
 * QUERIES=n says how many.
 */
const seed = seedOf()
const QUERIES = Number(process.env.QUERIES ?? 1000)
/** Differences that are told before a run gives up. */
const MAX_DIFFERENCES = Number(process.env.DIFFERENCES ?? 10)
const ZONES = ['UTC', 'Europe/Paris', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata']
const CHANGING_ZONES = ['Europe/Paris', 'America/New_York', 'Australia/Lord_Howe']
const HOUR = 3_600_000
/** Answers of columns, which are the same whatever engine keeps the triples. */
const ofColumns = { skip: process.env.LODESTONE_TEST_STORE !== undefined }

const base = 'http://portal.example'

interface Description {
  readonly types: Readonly<Record<string, string>>
  readonly records: readonly unknown[]
  readonly multivalued?: readonly string[]
}

/** Publishes datasets and gives a way to ask the API that serves them. */
async function serve(t: Test, datasets: Readonly<Record<string, Description>>) {
  const data = Object.entries(datasets).map(([id, { types, records, multivalued = [] }]) => {
    const fields = Object.entries(types).map(([name, type]) =>
      multivalued.includes(name) ? { name, type, annotations: { multivalued: [] } } : { name, type },
    )
    const definition = JSON.stringify({ source: { path: 'made.json' }, fields })
    return [id, { 'made.json': JSON.stringify(records), 'dataset.yaml': definition }] as const
  })
  // Answers are compared, not times: a machine that does other work gets them as well.
  const portal = temporaryFolder(t, { 'portal.yaml': 'deadline: 60\n', data: Object.fromEntries(data) })
  const config = testConfig(portal, base)
  await publishInto(config, message => {
    if (message.type === 'published') t.equal(message.report.misfitCount, 0, 'every value fits its type')
  })
  const { app } = await servePortal(t, { portal, base, isPublished: false, config })
  return async (path: string, clauses: Asked['clauses']): Promise<unknown> => {
    const query = Object.fromEntries(
      Object.entries(clauses).flatMap(([name, value]) =>
        value === '' ? [] : [[name, typeof value === 'string' ? value : [...value]] as const],
      ),
    )
    const response = await app.http.inject({ url: `/api/explore/${path}`, query })
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${response.body}`)
    return response.json()
  }
}
type Ask = Awaited<ReturnType<typeof serve>>

interface Page {
  /** Absent where groups are not counted. */
  readonly total: number | undefined
  readonly rows: readonly Row[]
}

/** A page of a list, its records taken out of their wrappers. */
async function page(api: Ask, dataset: string, context: Context, clauses: Asked['clauses']): Promise<Page> {
  const body = (await api(`${context.version}/catalog/datasets/${dataset}/records`, {
    ...clauses,
    timezone: context.timezone,
    lang: context.lang,
  })) as {
    readonly total_count?: number
    readonly records?: readonly Row[]
    readonly results?: readonly Row[]
  }
  const rows = (body.records ?? body.results ?? []).map(row => {
    const record = row.record as { readonly fields: Row } | undefined
    return record?.fields ?? row
  })
  return { total: body.total_count, rows }
}

/** The whole answer: an export, or where there is none the longest page. */
async function whole(api: Ask, { kind, clauses }: Asked, context: Context): Promise<readonly Row[]> {
  if (kind === 'figures') return (await page(api, 'made', context, clauses)).rows
  if (kind === 'groups' && context.version === 'v2.0')
    return (await page(api, 'made', context, { ...clauses, limit: '20000' })).rows
  const { timezone, lang } = context
  const path = `${context.version}/catalog/datasets/made/exports/json`
  return (await api(path, { ...clauses, timezone, lang })) as readonly Row[]
}

/** Numbers may differ by rounding, the keys of an object in their order. */
function same(found: unknown, required: unknown): boolean {
  if (typeof found === 'number' && typeof required === 'number')
    return Math.abs(found - required) <= 1e-9 * Math.max(1, Math.abs(found), Math.abs(required))
  if (typeof found !== 'object' || typeof required !== 'object' || found === null || required === null)
    return found === required
  const [names, others] = [Object.keys(found), Object.keys(required)]
  const values = found as Row
  const expected = required as Row
  return (
    names.length === others.length &&
    others.every(name => name in values && same(values[name], expected[name]))
  )
}

/** Where two answers part, in one line; null where they are the same. */
function difference(found: readonly Row[], required: readonly Row[]): string | null {
  const at = required.findIndex((row, index) => !same(found[index], row))
  if (at < 0 && found.length === required.length) return null
  const index = at < 0 ? required.length : at
  const [got, expected] = [found[index], required[index]].map(row => JSON.stringify(row) ?? 'nothing')
  return `row ${index} of ${required.length}: expected ${expected}, got ${got} (of ${found.length})`
}

/** Asks one question both ways, as a whole and perhaps a page of it, and says what differs. */
async function check(
  api: Ask,
  requested: Asked,
  context: Context,
  tally: { rows: number },
): Promise<string | null> {
  const required = requested.answer(context)
  tally.rows += required.length > 0 ? 1 : 0
  const different = difference(await whole(api, requested, context), required)
  if (different !== null || requested.kind === 'figures' || chance(0.7)) return different
  const [limit, offset] = [between(1, 20), between(0, Math.min(required.length + 2, 9000))]
  const part = await page(api, 'made', context, {
    ...requested.clauses,
    limit: String(limit),
    offset: String(offset),
  })
  const total = requested.kind === 'groups' && context.version === 'v2.1' ? undefined : required.length
  if (part.total !== total) return `total_count ${part.total} instead of ${total}`
  const apart = difference(part.rows, required.slice(offset, offset + limit))
  return apart && `page limit=${limit} offset=${offset}: ${apart}`
}

t.test('the API gives the rows that a plain evaluator gives', async t => {
  t.comment(`SEED=${seed}`)
  startFrom(seed)
  const records = makeRecords(400)
  const api = await serve(t, { made: { types: TYPES, records, multivalued: ['tags', 'codes'] } })
  const tally = { rows: 0 }
  let differences = 0
  for (let query = 0; query < QUERIES && differences < MAX_DIFFERENCES; query++) {
    const context: Context = {
      version: pick(['v2.0', 'v2.1']),
      timezone: pick(ZONES),
      lang: pick(['fr', 'en', 'de', 'es']),
    }
    const requested = ask()
    const different = await check(api, requested, context, tally).catch((error: Error) => error.message)
    if (different === null) continue
    differences += 1
    const clauses = Object.entries({ ...requested.clauses, ...context }).map(
      ([name, text]) => `${name}=${text}`,
    )
    t.fail(`query ${query}: ${different}`, { query: clauses })
  }
  t.equal(differences, 0, `${QUERIES} queries give the same rows`)
  t.ok(tally.rows > QUERIES / 2, `${tally.rows} of ${QUERIES} queries give rows`)

  for (const order of ['random(7)', 'random(8)']) {
    const context: Context = { version: 'v2.1', timezone: 'UTC', lang: 'en' }
    const clauses = { select: 'k', order_by: order }
    const requested: Asked = { kind: 'records', clauses, answer: () => [] }
    const [once, again] = [await whole(api, requested, context), await whole(api, requested, context)]
    t.same(once, again, `${order} gives the same order twice`)
    t.same(new Set(once.map(({ k }) => k)).size, records.length, 'and every record once')
  }
})

/** Moments every 15 minutes of the half day before and after each change of the clocks of a zone. */
function aroundChanges(timezone: string): readonly number[] {
  const shift = (epoch: number) => Date.parse(`${clock(epoch, timezone)}Z`) - epoch
  const moments: number[] = []
  for (let epoch = Date.UTC(2019); epoch < Date.UTC(2023); epoch += HOUR)
    if (shift(epoch) !== shift(epoch + HOUR))
      for (let near = epoch - 14 * HOUR; near <= epoch + 14 * HOUR; near += HOUR / 4) moments.push(near)
  return moments
}

t.test('groups of a moment follow the clocks of the zone around every change', ofColumns, async t => {
  const moments = CHANGING_ZONES.flatMap(aroundChanges)
  const records = moments.map((epoch, k) => ({ k, at: new Date(epoch).toISOString() }))
  const api = await serve(t, { clocks: { types: { k: 'int', at: 'datetime' }, records } })
  const groups: Readonly<Record<string, (shown: string) => number | string>> = {
    'hour(at)': shown => Number(shown.slice(11, 13)),
    'day(at)': shown => Number(shown.slice(8, 10)),
    'month(at)': shown => Number(shown.slice(5, 7)),
    'range(at, 1 day)': shown => shown.slice(0, 10),
  }
  for (const timezone of CHANGING_ZONES)
    for (const [group, read] of Object.entries(groups)) {
      const counts = new Map<number | string, number>()
      for (const epoch of moments) {
        const key = read(clock(epoch, timezone))
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
      const required = [...counts].sort(([left], [right]) => (left < right ? -1 : 1))
      const clauses = { select: 'count(*) as c', group_by: `${group} as g`, limit: '20000' }
      const { rows } = await page(api, 'clocks', { version: 'v2.1', timezone, lang: 'en' }, clauses)
      const found = rows.map(({ g, c }) => [typeof g === 'string' ? g.slice(1, 11) : g, c])
      t.same(found, required, `${group} in ${timezone}`)
    }
})

t.test(
  'ranges within a day have the moments between their ends around every change of clocks',
  ofColumns,
  async t => {
    for (const timezone of CHANGING_ZONES) {
      const moments = aroundChanges(timezone)
      const records = moments.map((epoch, k) => ({ k, at: new Date(epoch).toISOString() }))
      const api = await serve(t, { clocks: { types: { k: 'int', at: 'datetime' }, records } })
      for (const width of ['15 m', '30 m', '45 m', '1 h', '2 h', '5 h', '12 h', '36 h', '1 s']) {
        const clauses = { select: 'count(*) as c', group_by: `range(at, ${width}) as g`, limit: '20000' }
        const { rows } = await page(api, 'clocks', { version: 'v2.1', timezone, lang: 'en' }, clauses)
        const ends = rows.map(({ g }) => String(g).slice(1, -1).split(', ').map(Date.parse))
        const within = ends.map(([from = 0, to = 0]) => moments.filter(each => each >= from && each < to))
        t.same(
          rows.map(({ c }) => c),
          within.map(each => each.length),
          `${width} in ${timezone}`,
        )
        t.ok(
          ends.every(([, to = 0], index) => to <= (ends[index + 1]?.[0] ?? to)),
          'and none overlap',
        )
      }
    }
  },
)
