import { type App, buildApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import type { CompileTarget } from '../../src/query/compile/scope.ts'
import type { Solution } from '../../src/store/store.ts'
import { HANDWRITTEN, type HandWritten, type PlainRow, varied } from './handwritten.ts'
import { BASE, type BenchPortal } from './support.ts'
import { percentile, type Row } from './table.ts'

const RUNS = 12
const WARM_UP = 2

/** How much longer than its hand-written SPARQL an answer may take. */
const MOST = 1.1
/** Milliseconds that make no difference: HTTP alone, there and back in one process, takes some three. */
const FLOOR = 5

/** The clauses of a query, made anew for each run so that nothing is asked twice alike. */
type Clauses = (run: number) => {
  readonly dataset?: string
  readonly select?: string
  readonly where?: string
  readonly group_by?: string
  readonly order_by?: string
  readonly limit?: number
  readonly offset?: number
}

/** Rows of a grouped page: more than there are groups, and another number in each run. */
const all = (run: number) => 2000 - run

const QUERIES: Readonly<Record<string, Clauses>> = {
  page: run => ({ offset: run * 20 }),
  'page, deep': run => ({ offset: 9000 + run * 20 }),
  'page, deep, of a range': run => ({ where: `population > ${1000 + run}`, offset: 9000 }),
  equality: run => ({ where: `country_code = "${varied.country(run)}"` }),
  'equality and range': run => ({ where: `country_code = "FR" and population > ${10_000 + run}` }),
  'range, few': run => ({ where: `population > ${1_000_000 + run}` }),
  'range, many': run => ({ where: `population in [${5000 + run}..20000]` }),
  'or of two fields': run => ({ where: `population > ${5_000_000 + run} or feature_code = "PPLC"` }),
  not: run => ({ where: `not country_code = "${varied.country(run)}"` }),
  'not, and range': run => ({ where: `not country_code = "CN" and population > ${500_000 + run}` }),
  'is null': run => ({ where: 'alternate_names is null', offset: run * 20 }),
  'is null, few': () => ({ where: 'admin1_code is null' }),
  like: run => ({ where: `name like "${varied.namePart(run)}"` }),
  'starts with': run => ({ where: `startswith(name, "${varied.beginning(run)}")` }),
  'full text, one word': run => ({ where: `"${varied.word(run)}"` }),
  'full text, prefix': run => ({ where: `"saint ${varied.letter(run)}*"` }),
  distance: run => ({
    where: `within_distance(coordinates, geom'POINT(${varied.lon(run)} 48.85)', 50km)`,
  }),
  'bounding box': run => ({
    where: `in_bbox(coordinates, 48, ${varied.lon(run)}, 49, ${varied.lon(run) + 1})`,
  }),
  'order by a number': run => ({ order_by: 'population desc', offset: run * 20 }),
  'order by a name': run => ({ order_by: 'name', offset: run * 20 }),
  'range, ordered by name': run => ({
    where: `population in [${5000 + run}..20000]`,
    order_by: 'name',
    offset: run * 20,
  }),
  'group by a field': run => ({
    group_by: 'country_code as k',
    select: 'count(*) as n',
    limit: all(run),
  }),
  'group: sum, mean, maximum': run => ({
    group_by: 'country_code as k',
    select: 'sum(population) as s, avg(population) as a, max(population) as m',
    limit: all(run),
  }),
  'group by two fields': run => ({
    group_by: 'country_code as k, feature_code as j',
    select: 'count(*) as n, sum(population) as s, avg(population) as a, max(population) as m',
    limit: all(run),
  }),
  'group: static ranges': run => ({
    group_by: `range(population, *, ${1000 + run}, 10000, 100000, 1000000, *) as k`,
    select: 'count(*) as n',
    limit: all(run),
  }),
  'group: equal ranges': run => ({
    group_by: `range(population, ${50_000 + run}) as k`,
    select: 'count(*) as n',
    limit: all(run),
  }),
  'group: year, month (movies)': run => ({
    dataset: 'movies',
    group_by: 'year(release_date) as y, month(release_date) as m',
    select: 'count(*) as n',
    limit: all(run),
  }),
  'group: hour (earthquakes)': run => ({
    dataset: 'earthquakes',
    group_by: 'hour(time) as h',
    select: 'count(*) as n, max(magnitude) as m',
    limit: all(run),
  }),
  'median by country': run => ({
    group_by: 'country_code as k',
    select: 'median(population) as median',
    limit: all(run),
  }),
  'count distinct': run => ({ select: 'count(distinct name) as n', limit: 1 + run }),
  'count distinct by country': run => ({
    group_by: 'country_code as k',
    select: 'count(distinct admin1_code) as n',
    limit: all(run),
  }),
}

/** ODSQL over HTTP, each query beside the best SPARQL that we know for the same question, on the same store. */
export async function benchQueries({ folder }: BenchPortal): Promise<readonly Row[]> {
  const app = await buildApp({ ...loadConfig({ portal: folder, base: BASE }, {}), log: 'error' })
  try {
    await app.catalog.refresh()
    await app.http.listen({ port: 0, host: '127.0.0.1' })
    await warmUp(app)
    const rows: Row[] = []
    for (const [name, clauses] of Object.entries(QUERIES)) rows.push(await benchQuery(name, clauses, app))
    return rows
  } finally {
    await app.close()
  }
}

/** The first answers of a process are compiled while they are given: without these the first query would pay for all. */
async function warmUp(app: App): Promise<void> {
  for (let run = 0; run < 50; run++) await askHttp({ offset: run, where: 'feature_code = "PPLC"' }, app)
}

async function benchQuery(name: string, clauses: Clauses, app: App): Promise<Row> {
  const handwritten = HANDWRITTEN[name]
  if (handwritten === undefined) throw new Error(`${name}: nobody wrote it by hand`)
  const [whole, bare]: [number[], number[]] = [[], []]
  for (let run = 0; run < WARM_UP + RUNS; run++) {
    const overHttp = () => timed(() => askHttp(clauses(run), app))
    const byHand = () => timed(() => askByHand(handwritten(run), clauses(run).dataset ?? 'cities', run, app))
    // Each goes first in every other run.
    const ahead = run % 2 === 0 ? await overHttp() : null
    const hand = await byHand()
    const http = ahead ?? (await overHttp())
    const difference = differenceOf(http.value, hand.value)
    if (difference !== null) throw new Error(`${name}, run ${run}: ${difference}`)
    if (run < WARM_UP) continue
    whole.push(http.milliseconds)
    bare.push(hand.milliseconds)
  }
  return queryRow(name, percentile(whole, 0.5), percentile(bare, 0.5))
}

interface HttpAnswer {
  /** Absent of groups. */
  readonly total_count?: number
  readonly results: readonly Readonly<Record<string, unknown>>[]
}

let asked = 0

async function askHttp(clauses: ReturnType<Clauses>, app: App): Promise<HttpAnswer> {
  const { dataset = 'cities', limit = 20, ...others } = clauses
  // An address of its own for each run, so that no answer comes from memory.
  asked += 1
  const query = new URLSearchParams({ limit: String(limit), run: String(asked) })
  for (const [key, value] of Object.entries(others)) query.set(key, String(value))
  const address = app.http.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const path = `/api/explore/v2.1/catalog/datasets/${dataset}/records`
  const response = await fetch(`http://127.0.0.1:${port}${path}?${query}`)
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as HttpAnswer
}

interface HandAnswer {
  readonly total: number | null
  /** Values of records in the order of their fields, where whole records were asked for. */
  readonly records: readonly (readonly unknown[])[]
  /** Rows by the names of their columns, where groups were asked for. */
  readonly rows: readonly PlainRow[]
}

async function askByHand(
  { steps, total, read = plainRows }: HandWritten,
  dataset: string,
  run: number,
  app: App,
): Promise<HandAnswer> {
  const head = `${prologue(app.catalog.dataset(dataset).target)}# run ${run}\n`
  const found: (readonly Solution[])[] = []
  for (const step of steps)
    found.push(await app.store.select(head + (typeof step === 'string' ? step : step(found.at(-1) ?? []))))
  const [first = [], last = []] = [found[0], found.at(-1)]
  const records = last.flatMap(({ json }) =>
    json === undefined ? [] : [JSON.parse(json.value) as unknown[]],
  )
  const totals = { count: Number(first[0]?.count?.value), rows: first.length, known: null } as const
  return { total: totals[total], records, rows: records.length > 0 ? [] : read(last) }
}

function prologue({ base, dataset, graphs }: CompileTarget): string {
  return [
    `PREFIX f: <${base}/ld/ontologies/${dataset.id}/>`,
    'PREFIX i: <urn:lodestone:index:>',
    `PREFIX g: <${graphs.facts.replace(/facts$/, '')}>`,
    'PREFIX geo: <http://www.opengis.net/ont/geosparql#>',
    'PREFIX geof: <http://www.opengis.net/def/function/geosparql/>',
    'PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/>\n',
  ].join('\n')
}

function plainRows(rows: readonly Solution[]): readonly PlainRow[] {
  return rows.map(row => Object.fromEntries(Object.entries(row).map(([name, { value }]) => [name, value])))
}

async function timed<Value>(run: () => Promise<Value>) {
  const begun = performance.now()
  const value = await run()
  return { value, milliseconds: performance.now() - begun }
}

/** What two answers to the same question differ in; null where they are the same. */
function differenceOf({ total_count, results }: HttpAnswer, hand: HandAnswer): string | null {
  const { total, records, rows } = hand
  const isTold = total !== null && total_count !== undefined
  if (isTold && total !== total_count) return `${total_count} in all over HTTP, ${total} by hand`
  const length = records.length > 0 ? records.length : rows.length
  if (results.length === 0 || results.length !== length)
    return `${results.length} rows over HTTP, ${length} by hand`
  const place = results.findIndex((result, index) => {
    const record = records[index]
    return record === undefined ? !isSameRow(result, rows[index] ?? {}) : result.geonameid !== record[0]
  })
  if (place === -1) return null
  const byHand = JSON.stringify(records[place] ?? rows[place])
  return `row ${place} is ${JSON.stringify(results[place])} over HTTP, ${byHand} by hand`
}

/** Compares the columns that both have: the ends of ranges are texts over HTTP and left out by hand. */
function isSameRow(result: Readonly<Record<string, unknown>>, row: PlainRow): boolean {
  const shared = Object.keys(row).filter(name => Object.hasOwn(result, name))
  return shared.length > 0 && shared.every(name => isSameValue(result[name], row[name] ?? ''))
}

function isSameValue(value: unknown, text: string): boolean {
  if (typeof value !== 'number') return String(value) === text
  return Math.abs(value - Number(text)) <= 1e-9 * Math.max(1, Math.abs(value))
}

function queryRow(what: string, whole: number, bare: number): Row {
  const ratio = whole / bare
  const value = `p50 ${whole.toFixed(1)}  by hand ${bare.toFixed(1)} ms  ratio ${ratio.toFixed(2).padStart(5)}`
  return { what, value, bar: 'at most 1.1 times hand-written', met: ratio <= MOST || whole - bare < FLOOR }
}
