import { lookup } from '../model/lookup.ts'
import { isPlainOrder, keyName } from '../query/compile/order.ts'
import {
  compileBeyond,
  compileBoundedPage,
  compileCandidatePage,
  compileCandidates,
  compileCount,
  compileFetch,
  compileFirst,
  compileKeyBound,
  compileKeyedPage,
  compilePositions,
  compileSortedPage,
  compileWindow,
  compileWindowPage,
  estimatedCount,
  MOST_CANDIDATES,
  type Statement,
  wayTo,
} from '../query/compile/records.ts'
import type { CompileTarget } from '../query/compile/scope.ts'
import { decodeCount, decodeRecordIris, decodeRow, type RecordRow } from '../query/decode.ts'
import type { RecordQuery } from '../query/plan.ts'
import type { Literal } from '../rdf/term.ts'
import { findFirstInOrder, findListed } from './listed.ts'
import { narrow } from './narrow.ts'
import type { Asker } from './trace.ts'

/** A page of records and the number of all records that match. */
export interface RecordPage {
  readonly total: number
  readonly rows: readonly RecordRow[]
}

/** Records that are fetched with their contents at a time: some tens of milliseconds of one worker. */
const FETCHED_AT_A_TIME = 1000

/** So many records that a look-up finds are sorted as quickly as a part of them is found. */
const SORTED_AT_ONCE = 20_000

/** Answers a record query: ids and the count first, the contents of the page last. */
export async function findRecords(
  plan: RecordQuery,
  target: CompileTarget,
  asker: Asker,
): Promise<RecordPage> {
  if (plan.filter === null && plan.orderBy.length === 0) {
    const total = target.statistics.records
    const length = Math.min(plan.limit ?? total, total - plan.offset)
    return { total, rows: await collect(positionRows(plan, plan.offset, length, target, asker)) }
  }
  const listed = await listedPage(plan, target, asker)
  if (listed !== null) return { total: listed.total, rows: await collect(listed.rows()) }
  const { total, records } = await findPage(plan, await narrow(plan, target, asker), asker)
  return { total, rows: await collect(fetchRows(records, plan, target, asker)) }
}

/** The records of a query in their order, in bounded pieces; what is not read is not asked. */
export async function* exportRecords(
  plan: RecordQuery,
  target: CompileTarget,
  asker: Asker,
): AsyncGenerator<readonly RecordRow[]> {
  if (plan.filter === null && plan.orderBy.length === 0) {
    const length = Math.min(plan.limit ?? Number.POSITIVE_INFINITY, target.statistics.records - plan.offset)
    yield* positionRows(plan, plan.offset, length, target, asker)
    return
  }
  const listed = await listedPage(plan, target, asker)
  if (listed !== null) {
    yield* listed.rows()
    return
  }
  const { records } = await findPage(plan, await narrow(plan, target, asker), asker)
  yield* fetchRows(records, plan, target, asker)
}

/** The number of records that {@link exportRecords} gives. */
export async function countExport(plan: RecordQuery, target: CompileTarget, asker: Asker): Promise<number> {
  const total = plan.filter === null ? target.statistics.records : await countMatches(plan, target, asker)
  return Math.min(plan.limit ?? Number.POSITIVE_INFINITY, Math.max(0, total - plan.offset))
}

async function countMatches(plan: RecordQuery, target: CompileTarget, asker: Asker): Promise<number> {
  const listed = await findListed(plan, target, asker)
  if (listed !== null) return listed.total
  const among = await narrow(plan, target, asker)
  const count = asker.watch.time('compile', () => compileCount(plan, among))
  return count.type === 'known' ? count.count : decodeCount(await asker.ask(count.statement))
}

/** A page that is read from lists of values: nothing is searched, sorted or counted. */
interface ListedPage {
  readonly total: number
  readonly rows: () => AsyncGenerator<readonly RecordRow[]>
}

/**
 * The page of a query without an order whose filter says nothing but frequent values, or of all records by one field; null
 * for any other.
 */
export async function listedPage(
  plan: RecordQuery,
  target: CompileTarget,
  asker: Asker,
): Promise<ListedPage | null> {
  if (plan.filter === null) {
    const positions = await findFirstInOrder(plan, target, asker)
    if (positions === null) return null
    return {
      total: target.statistics.records,
      rows: async function* () {
        const rows = await collect(rowsAt(at => positions[at] ?? 0, plan, positions.length, target, asker))
        const byPosition = new Map(rows.map(row => [row.record.position, row]))
        yield positions.flatMap(position => byPosition.get(position) ?? [])
      },
    }
  }
  if (plan.orderBy.length > 0) return null
  const listed = await findListed(plan, target, asker)
  if (listed === null) return null
  return {
    total: listed.total,
    rows: async function* () {
      for await (const positions of listed.positions())
        yield* rowsAt(at => positions[at] ?? 0, plan, positions.length, target, asker)
    },
  }
}

/** The IRIs of the records of a query in their order. */
export async function findRecordIris(
  plan: RecordQuery,
  target: CompileTarget,
  asker: Asker,
): Promise<readonly string[]> {
  return (await findPage(plan, await narrow(plan, target, asker), asker)).records
}

/**
 * The first records of a query without their number, so that no more is read than needed: the few in order, of many what
 * lies beyond a quantile of the first key, or in the order of the source what wider and wider windows of it hold. Null
 * where these ways promise nothing; fewer records than asked for are all that there are.
 *
 * @param target already narrowed
 */
export async function findFirstRecords(
  plan: RecordQuery & { readonly limit: number },
  target: CompileTarget,
  asker: Asker,
): Promise<readonly RecordRow[] | null> {
  const isFew = wayTo(plan, target) !== 'many' || target.among !== undefined
  if (isFew && plan.orderBy.length > 0 && isPlainOrder(plan)) {
    const rows = await firstInOrder(plan, target, asker)
    if (rows !== null) return rows
  }
  const records = await firstRecords(plan, isFew, target, asker)
  return records === null ? null : collect(fetchRows(records, plan, target, asker))
}

async function firstRecords(
  plan: RecordQuery & { readonly limit: number },
  isFew: boolean,
  target: CompileTarget,
  asker: Asker,
): Promise<readonly string[] | null> {
  if (isFew)
    return decodeRecordIris(
      await asker.ask(asker.watch.time('compile', () => compileSortedPage(plan, target))),
    )
  return plan.orderBy.length === 0 ? firstByPosition(plan, target, asker) : firstByKey(plan, target, asker)
}

/**
 * Records in order without the positions of all that match: those of the page are asked for with its contents, and tell
 * which of equal ones come first. Null where the first record beyond the page equals its last.
 */
async function firstInOrder(
  plan: RecordQuery & { readonly limit: number },
  target: CompileTarget,
  asker: Asker,
): Promise<readonly RecordRow[] | null> {
  const keyed = { ...plan, limit: plan.limit + 1 }
  const solutions = await asker.ask(asker.watch.time('compile', () => compileKeyedPage(keyed, target)))
  const keys = solutions.map(solution =>
    plan.orderBy.map((_, index) => lookup(solution, keyName(index))?.value ?? null),
  )
  const same = (a: number, b: number) => keys[a]?.every((key, index) => key === keys[b]?.[index]) ?? false
  if (solutions.length > plan.limit && same(plan.limit - 1, plan.limit)) return null
  const records = decodeRecordIris(solutions.slice(0, plan.limit))
  if (records.length === 0) return []
  const rows = await collect(fetchRows(records, plan, target, asker, true))
  const ranks: number[] = []
  for (let at = 0; at < rows.length; at++) ranks.push(at > 0 && same(at, at - 1) ? (ranks[at - 1] ?? 0) : at)
  return rows
    .map((row, index) => ({ row, rank: ranks[index] ?? 0 }))
    .sort((a, b) => a.rank - b.rank || a.row.record.position - b.row.record.position)
    .map(({ row }) => row)
}

/** Positions that are looked at first, then how many more; further ones where the page is probably among them. */
const WINDOWS = [1000, 4000]
/** From so many positions on all records are searched as quickly. */
const WIDEST_WINDOW = 24_000

async function firstByPosition(
  plan: RecordQuery & { readonly limit: number },
  target: CompileTarget,
  asker: Asker,
): Promise<readonly string[] | null> {
  const { records } = target.statistics
  const found: string[] = []
  let first = 0
  const look = async (length: number) => {
    const window = { first, length: Math.min(length, records - first) }
    const missing = { ...plan, limit: plan.limit - found.length }
    const statement = asker.watch.time('compile', () => compileWindow(missing, window, target))
    found.push(...decodeRecordIris(await asker.ask(statement)))
    first += window.length
    return found.length >= plan.limit || first >= records
  }
  for (const length of WINDOWS) if (await look(length)) return found
  const further = Math.ceil(((plan.limit - found.length) * first * 1.5) / found.length)
  return further <= WIDEST_WINDOW && (await look(further)) ? found : null
}

async function firstByKey(
  plan: RecordQuery & { readonly limit: number },
  target: CompileTarget,
  asker: Asker,
): Promise<readonly string[] | null> {
  const total = Math.round(estimatedCount(plan, target))
  const statement = asker.watch.time('compile', () => compileBoundedPage(plan, total, target))
  if (statement === null) return null
  const records = decodeRecordIris(await asker.ask(statement))
  return records.length < plan.limit ? null : records
}

/** One record by its id; null where the version has none. */
export async function findRecord(
  id: string,
  iri: string,
  plan: RecordQuery,
  target: CompileTarget,
  asker: Asker,
): Promise<RecordRow | null> {
  if (!/^[0-9a-f]{40}$/.test(id)) return null
  const [row] = await collect(fetchRows([iri], plan, target, asker))
  return row ?? null
}

/** The IRIs of a page in order, and the number of all that match. */
async function findPage(
  plan: RecordQuery,
  target: CompileTarget,
  asker: Asker,
): Promise<{ readonly total: number; readonly records: readonly string[] }> {
  const { watch } = asker
  const count = watch.time('compile', () => compileCount(plan, target))
  if (count.type === 'known' && (count.count === 0 || plan.limit === 0 || plan.offset >= count.count))
    return { total: count.count, records: [] }
  const page = async (statement: Statement) => decodeRecordIris(await asker.ask(statement))
  const countOf = async () =>
    count.type === 'known' ? count.count : decodeCount(await asker.ask(count.statement))
  const way = wayTo(plan, target)
  if (way === 'few') {
    const first = await page(watch.time('compile', () => compileFirst(plan, target)))
    const end = plan.limit === null ? Number.POSITIVE_INFINITY : plan.offset + plan.limit
    const isAll = first.length <= MOST_CANDIDATES
    if (isAll || end <= first.length)
      return {
        total: isAll ? first.length : await countOf(),
        records: first.slice(plan.offset, end),
      }
  } else if (way === 'many' && plan.filter !== null) {
    const candidates = await page(watch.time('compile', () => compileCandidates(plan, target)))
    if (candidates.length <= MOST_CANDIDATES) {
      const total = candidates.length
      if (total === 0 || plan.limit === 0 || plan.offset >= total) return { total, records: [] }
      return { total, records: await page(compileCandidatePage(plan, candidates, target)) }
    }
  }
  const total = await countOf()
  if (plan.limit === 0 || plan.offset >= total) return { total, records: [] }
  const wanted = Math.min(plan.limit ?? total, total - plan.offset)
  if (way === 'look-up' && total < SORTED_AT_ONCE)
    return { total, records: await page(compileSortedPage(plan, target)) }
  for (const compile of [compileWindowPage, compileBoundedPage]) {
    const guess = watch.time('compile', () => compile(plan, total, target))
    const records = guess === null ? [] : await page(guess)
    if (records.length === wanted) return { total, records }
  }
  const bound = await keyBound(plan, total, target, asker)
  const sorted = () => (bound === null ? compileSortedPage(plan, target) : compileBeyond(plan, bound, target))
  return { total, records: await page(watch.time('compile', sorted)) }
}

/** The value beyond which no record of the page lies; null where there is none to know. */
async function keyBound(
  plan: RecordQuery,
  total: number,
  target: CompileTarget,
  asker: Asker,
): Promise<Literal | null> {
  const statement = asker.watch.time('compile', () => compileKeyBound(plan, total, target))
  const [solution] = statement === null ? [] : await asker.ask(statement)
  return solution?.bound?.type === 'literal' ? solution.bound : null
}

function positionRows(
  plan: RecordQuery,
  first: number,
  length: number,
  target: CompileTarget,
  asker: Asker,
): AsyncGenerator<readonly RecordRow[]> {
  return rowsAt(at => first + at, plan, length, target, asker)
}

/** The records at so many positions, which rise. */
async function* rowsAt(
  positionAt: (index: number) => number,
  plan: RecordQuery,
  length: number,
  target: CompileTarget,
  asker: Asker,
): AsyncGenerator<readonly RecordRow[]> {
  const pieces = oneAhead(length, (done, size) => {
    const positions = Array.from({ length: size }, (_, index) => positionAt(done + index))
    return asker.ask(compilePositions(plan.select, positions, plan, target))
  })
  for await (const { answer: solutions } of pieces)
    yield asker.watch.time('decode', () =>
      solutions
        .map(solution => decodeRow(solution, plan.select))
        .sort((a, b) => a.record.position - b.record.position),
    )
}

/**
 * Asks for pieces one after another, each while the one before is worked on: the store and the reader of its answers
 * are two threads. One piece more than is read is asked at most.
 */
async function* oneAhead<Answer>(
  length: number,
  ask: (first: number, size: number) => Promise<Answer>,
): AsyncGenerator<{ readonly first: number; readonly size: number; readonly answer: Answer }> {
  const begin = (first: number) => {
    if (first >= length) return null
    const size = Math.min(FETCHED_AT_A_TIME, length - first)
    const answer = ask(first, size)
    // Whoever stops reading does not wait for it; whoever goes on meets its fault.
    answer.catch(() => undefined)
    return { first, size, answer }
  }
  let next = begin(0)
  while (next !== null) {
    const { first, size } = next
    const answer = await next.answer
    next = begin(first + size)
    yield { first, size, answer }
  }
}

async function* fetchRows(
  records: readonly string[],
  plan: RecordQuery,
  target: CompileTarget,
  asker: Asker,
  withPositions = false,
): AsyncGenerator<readonly RecordRow[]> {
  const pieces = oneAhead(records.length, (first, size) =>
    asker.ask(compileFetch(records.slice(first, first + size), plan.select, plan, target, withPositions)),
  )
  for await (const { first, size, answer: contents } of pieces) {
    const iris = records.slice(first, first + size)
    yield asker.watch.time('decode', () => {
      const byIri = new Map(
        contents.map(solution => [solution.record?.value, decodeRow(solution, plan.select)]),
      )
      return iris.flatMap(iri => byIri.get(iri) ?? [])
    })
  }
}

async function collect<Item>(pieces: AsyncIterable<readonly Item[]>): Promise<readonly Item[]> {
  const all: Item[] = []
  for await (const piece of pieces) for (const item of piece) all.push(item)
  return all
}
