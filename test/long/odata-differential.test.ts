import t, { type Test } from 'tap'
import { parseFilter } from '../../src/language/odata/parse.ts'
import { temporaryFolder } from '../support/folder.ts'
import { answer, type World } from '../support/odata-evaluator.ts'
import { type Asked, ask, askAbout } from '../support/odata-generator.ts'
import { answerGroups, askGroups, type GroupsQuery } from '../support/odata-groups.ts'
import { asOdsql } from '../support/odata-odsql.ts'
import { between, chance, makeRecords, pick, startFrom, TYPES } from '../support/odata-records.ts'
import { bare } from '../support/odata-tree.ts'
import { momentOf, type Source } from '../support/odata-values.ts'
import { servePortal } from '../support/portal.ts'
import { seedOf } from '../support/seed.ts'
import { publishInto, testConfig } from '../support/stores.ts'

/**
 * Random questions of OData over generated records of every type, answered by the service page by page and by a plain
 * evaluator over the source: both must give the same records in the same order, and so must ODSQL where it can ask the
 * same. SEED=n or SEED=new takes other ones, QUERIES=n says how many.
 */
const seed = seedOf()
const QUERIES = Number(process.env.QUERIES ?? 250)
/** Questions of the kinds that ODSQL can ask too, one to so many of the others. */
const PLAIN = 4
/** Questions for groups. */
const GROUPS = Math.ceil(QUERIES / 5)
/** Differences that are told before a run gives up. */
const MAX_DIFFERENCES = Number(process.env.DIFFERENCES ?? 10)
const RECORDS = 400

const base = 'http://portal.example'
const MANY = new Set(['tags', 'codes'])

/** Publishes the records and gives ways to ask both endpoints for them. */
async function serve(t: Test, records: readonly unknown[]) {
  const fields = Object.entries(TYPES).map(([name, type]) =>
    MANY.has(name)
      ? { name, type: 'text', annotations: { multivalued: [] } }
      : { name, type: type === 'point' ? 'geo_point_2d' : type },
  )
  const definition = JSON.stringify({ source: { path: 'made.json' }, fields })
  const made = { 'made.json': JSON.stringify(records), 'dataset.yaml': definition }
  const portal = temporaryFolder(t, { 'portal.yaml': '', data: { made } })
  const config = testConfig(portal, base)
  await publishInto(config, message => {
    if (message.type === 'published') t.equal(message.report.misfitCount, 0, 'every value fits its type')
  })
  const { app } = await servePortal(t, { portal, base, isPublished: false, config })
  return async (url: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await app.http.inject({ url, headers: { ...headers } })
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${response.body}`)
    return response.body
  }
}
type Ask = Awaited<ReturnType<typeof serve>>

/** A page of either version: 3.0 writes integers and counts as texts. */
interface Page {
  readonly '@odata.count'?: number
  readonly 'odata.count'?: string
  readonly '@odata.nextLink'?: string
  readonly 'odata.nextLink'?: string
  readonly value: readonly { readonly k: number | string }[]
}

/** A query string with its blanks in one of the two spellings. */
function queryOf(options: Readonly<Record<string, string>>): string {
  return Object.entries(options)
    .map(([name, value]) => {
      const encoded = encodeURIComponent(value)
      return `${chance(0.1) ? encodeURIComponent(name) : name}=${chance(0.2) && !value.includes("'") ? encoded.replaceAll('%20', '+') : encoded}`
    })
    .join('&')
}

/** The keys of all pages, and what the first page counted. */
async function allPages(api: Ask, options: Readonly<Record<string, string>>, size: number) {
  const keys: number[] = []
  const old = chance(0.15)
  const query = queryOf({
    ...options,
    $select: 'k',
    ...(old ? { $inlinecount: 'allpages' } : { $count: 'true' }),
  })
  let count: number | undefined
  let next: string | undefined = `/api/odata/made?${query}`
  while (next !== undefined) {
    const version = old ? { maxdataserviceversion: '3.0' } : {}
    const page: Page = JSON.parse(await api(next, { prefer: `odata.maxpagesize=${size}`, ...version }))
    keys.push(...page.value.map(({ k }) => Number(k)))
    count ??= Number(page['@odata.count'] ?? page['odata.count'])
    next = (page['@odata.nextLink'] ?? page['odata.nextLink'])?.replace(base, '')
    if (keys.length > RECORDS || (next !== undefined && page.value.length !== size))
      throw new Error(`a page of ${page.value.length} records after which ${next} is told`)
  }
  return { keys, count }
}

/** Where two lists part, in one line; null where they are the same. */
function difference(found: readonly number[], required: readonly number[]): string | null {
  const at = required.findIndex((key, index) => found[index] !== key)
  if (at < 0 && found.length === required.length) return null
  const [missing, excess] = [
    required.filter(k => !found.includes(k)),
    found.filter(k => !required.includes(k)),
  ]
  const described = [
    missing.length > 0 ? `misses ${missing.slice(0, 5)}` : '',
    excess.length > 0 ? `has ${excess.slice(0, 5)} too many` : '',
  ]
  return `${found.length} instead of ${required.length}: ${described.filter(Boolean).join(', ') || `order parts at ${at}: ${found[at]} instead of ${required[at]}`}`
}

/** Asks one question everywhere and says what differs. */
async function check(
  api: Ask,
  requested: Asked,
  world: World,
  keys: readonly number[],
): Promise<string | null> {
  if (requested.filter !== null) {
    const read = JSON.stringify(bare(parseFilter(requested.options.$filter ?? '')))
    if (read !== JSON.stringify(bare(requested.filter))) return `the filter is read as ${read}`
  }
  const { keys: found, count } = await allPages(api, requested.options, pick([7, 50, 100, 400]))
  const different = difference(found, keys)
  if (different !== null) return different
  if (count !== keys.length) return `@odata.count is ${count} instead of ${keys.length}`
  if (chance(0.2)) {
    const { $orderby, ...rest } = requested.options
    const counted = await api(`/api/odata/made/$count?${queryOf(rest)}`)
    if (counted !== String(keys.length)) return `/$count is ${counted} instead of ${keys.length}`
  }
  if (chance(0.2)) {
    const [top, skip] = [between(0, 60), between(0, keys.length + 1)]
    const part = await allPages(api, { ...requested.options, $top: String(top), $skip: String(skip) }, 25)
    const apart = difference(part.keys, keys.slice(skip, skip + top))
    if (apart !== null) return `$top=${top}&$skip=${skip}: ${apart}`
  }
  return atTheOtherEndpoint(api, requested, world, keys)
}

let bothEndpoints = 0
async function atTheOtherEndpoint(api: Ask, requested: Asked, world: World, keys: readonly number[]) {
  if (requested.filter === null || requested.search !== null) return null
  const where = asOdsql(requested.filter, world.types)
  if (where === null) return null
  bothEndpoints += 1
  const path = '/api/explore/v2.1/catalog/datasets/made/exports/json?select=k&where='
  const rows: Page['value'] = JSON.parse(await api(path + encodeURIComponent(where)))
  const different = difference(
    rows.map(({ k }) => Number(k)),
    [...keys].sort((left, right) => left - right),
  )
  return different && `ODSQL ${where}: ${different}`
}

/** Records small enough to see at a glance what a filter must keep of them. */
const FEW = [
  {
    k: 1,
    n: 7,
    x: 2.5,
    word: 'Zoë',
    flag: true,
    on: '2020-02-29',
    at: '2020-02-29T12:30:45.5Z',
    codes: ['a1', 'zz'],
  },
  { k: 2, n: -7, x: -2.5, word: "O'Brien", flag: false, on: null, at: null, codes: [] },
  {
    k: 3,
    n: null,
    x: null,
    word: null,
    flag: null,
    on: '1999-12-31',
    at: '1999-12-31T23:59:59Z',
    codes: ['a1'],
  },
]
const KEPT: readonly (readonly [filter: string, ...keys: number[]])[] = [
  ['n eq null', 3],
  ['n ne null', 1, 2],
  ['n ne 7', 2, 3],
  ['n gt null'],
  ['not (n gt 5)', 2, 3],
  ['not n gt 5', 2, 3],
  ['not flag', 2],
  ['flag', 1],
  ['flag or n eq null', 1, 3],
  ["not contains(word,'o')", 2],
  ["contains(word,'o') eq null", 3],
  ['null eq null', 1, 2, 3],
  ['n add null eq null', 1, 2, 3],
  ['n div 2 eq 3', 1],
  ['n div 2 eq -3', 2],
  ['n divby 2 eq 3.5', 1],
  ['n mod 3 eq -1', 2],
  ['x div 0 eq INF', 1],
  ['x div 0 lt 0', 2],
  ['x ne NaN', 1, 2, 3],
  ['round(x) eq 3', 1],
  ['round(x) eq -3', 2],
  ['1 add 2 mul 3 eq 7', 1, 2, 3],
  ['n gt 5 eq flag', 1, 2],
  ['-n gt 5', 2],
  ["word eq 'O''Brien'", 2],
  ["indexof(word,'B') eq 2", 2],
  ['length(word) eq 3', 1],
  ["substring(word,-2) eq 'oë'", 1],
  ['on eq 2020-02-29', 1],
  ['at ge 2020-02-29T14:30:45.5+02:00', 1],
  ['fractionalseconds(at) eq 0.5', 1],
  ['time(at) eq 12:30:45.5', 1],
  ["at sub 2020-02-29T12:30:45Z eq duration'PT0.5S'", 1],
  ["codes/any(c:c eq 'zz')", 1],
  ["codes/all(c:c eq 'a1')", 2, 3],
  ['codes/any()', 1, 3],
  ['codes/$count eq 0', 2],
  ["'a1' in codes", 1, 3],
  ['n in (7,8)', 1],
  ['not n in (7,8)', 2, 3],
  ['n in ()'],
  ["cast(n,Edm.String) eq '7'", 1],
  ['@p eq n', 3],
]

t.test('the evaluator knows the rules of OData', async t => {
  const now = momentOf('2026-01-01T00:00:00Z')
  const world: World = { types: TYPES, aliases: new Map(), computed: new Map(), now, silent: new Set() }
  for (const [filter, ...keys] of KEPT) {
    const found = answer({ filter: parseFilter(filter), search: null, orderBy: [] }, FEW, world)
    t.same(
      found.map(({ k }) => k),
      keys,
      filter,
    )
  }
})

/** Asks for groups and says what differs; where nothing is sorted, the order of rows is free. */
async function checkGroups(
  api: Ask,
  requested: GroupsQuery,
  required: readonly Source[],
): Promise<string | null> {
  const url = `/api/odata/made?${queryOf(requested.options)}`
  const body = JSON.parse(await api(url, { prefer: 'maxpagesize=1000' })) as {
    readonly value: readonly Source[]
  }
  const keyOf = (row: Source) => JSON.stringify(requested.keys.map(name => row[name]))
  const inOrder = (rows: readonly Source[]) =>
    requested.orderBy.length > 0
      ? rows
      : [...rows].sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1))
  const [found, expected] = [inOrder(body.value), inOrder(required)]
  const names = [...requested.keys, ...requested.figures.map(({ name }) => name)]
  const at = expected.findIndex((row, index) => !names.every(name => same(found[index]?.[name], row[name])))
  if (at < 0 && found.length === expected.length) return null
  const [got, meant] = [found[at], expected[at]].map(row => JSON.stringify(row))
  return `${found.length} rows instead of ${expected.length}, row ${at}: ${got} instead of ${meant}`
}

/** Sums may differ by the order of their parts. */
function same(found: unknown, required: unknown): boolean {
  if (typeof found !== 'number' || typeof required !== 'number') return found === required
  return Math.abs(found - required) <= 1e-9 * Math.max(1, Math.abs(found), Math.abs(required))
}

t.test('the service gives the records that a plain evaluator gives', async t => {
  t.comment(`SEED=${seed}`)
  startFrom(seed)
  const records = makeRecords(RECORDS)
  askAbout(records)
  const api = await serve(t, records)
  const now = momentOf(new Date().toISOString())
  let [differences, answered] = [0, 0]
  for (let query = 0; query < QUERIES && differences < MAX_DIFFERENCES; query++) {
    const requested = ask(query % PLAIN === PLAIN - 1)
    const { aliases, computed } = requested
    const world: World = { types: TYPES, aliases, computed, now, silent: new Set(['flag', 'place']) }
    const keys = answer(requested, records, world).map(({ k }) => Number(k))
    if (keys.length > 0) answered += 1
    const different = await check(api, requested, world, keys).catch((error: Error) => error.message)
    if (different === null) continue
    differences += 1
    t.fail(`query ${query}: ${different}`, { options: requested.options })
  }
  t.equal(differences, 0, `${QUERIES} questions give the same records`)
  t.ok(answered > QUERIES / 3, `${answered} of ${QUERIES} questions give records`)
  t.ok(bothEndpoints > QUERIES / 8, `${bothEndpoints} of them were asked in ODSQL too`)

  let apart = 0
  for (let query = 0; query < GROUPS && apart < MAX_DIFFERENCES; query++) {
    const requested = askGroups()
    const world: World = { types: TYPES, aliases: new Map(), computed: new Map(), now, silent: new Set() }
    const required = answerGroups(requested, records, world)
    const different = await checkGroups(api, requested, required).catch((error: Error) => error.message)
    if (different === null) continue
    apart += 1
    t.fail(`groups ${query}: ${different}`, { options: requested.options })
  }
  t.equal(apart, 0, `${GROUPS} questions for groups give the same rows`)
})
