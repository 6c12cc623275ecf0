import { exactJson } from '../model/exact-json.ts'
import { positionOf } from '../model/positions.ts'
import { compileOrder, compilePositions } from '../query/compile/records.ts'
import type { CompileTarget } from '../query/compile/scope.ts'
import { decodeRow, type RecordRow } from '../query/decode.ts'
import type { RecordQuery } from '../query/plan.ts'
import type { Bookmarks } from './bookmarks.ts'
import { findFirstRecords, findRecords, listedPage } from './find.ts'
import { narrow } from './narrow.ts'
import type { Asker } from './trace.ts'

/** Longest page that is fetched in one statement. */
const FETCHED_AT_A_TIME = 2000

/** A page of records. */
export interface EntityPage {
  readonly rows: readonly RecordRow[]
  /** All that match; where they were not to be counted, at least so many: more than these where more follow. */
  readonly total: number
}

/**
 * A page of the records of a query. The first page is looked for as any other query's; whoever asks for a later one will
 * ask for more, so the order of all records is found once and kept. So it is where the first page cannot be found without
 * reading everything.
 */
export async function findEntities(
  plan: RecordQuery,
  whole: CompileTarget,
  asker: Asker,
  bookmarks: Bookmarks,
  isCounted = true,
): Promise<EntityPage> {
  if (plan.filter === null && plan.orderBy.length === 0) return findRecords(plan, whole, asker)
  const name = nameOf(plan, whole)
  const known = bookmarks.find(name)
  if (known !== undefined) return pageOf(known, plan, whole, asker)
  const listed = await listedPage(plan, whole, asker)
  if (listed !== null) {
    const rows: RecordRow[] = []
    for await (const some of listed.rows()) rows.push(...some)
    return { rows, total: listed.total }
  }
  const target = await narrow(plan, whole, asker)
  if (plan.offset === 0) {
    const first = isCounted ? null : await firstPage(plan, target, asker)
    if (first !== null) return first
    if (isCounted || plan.orderBy.length > 0) return findRecords(plan, target, asker)
  }
  const solutions = await asker.ask(asker.watch.time('compile', () => compileOrder(plan, target)))
  const order = Int32Array.from(solutions, ({ position }) => positionOf(position?.value ?? ''))
  if (plan.orderBy.length === 0) order.sort()
  bookmarks.keep(name, order)
  return pageOf(order, plan, target, asker)
}

/** The first page of records that are not counted; null where it is not found without searching all. */
async function firstPage(plan: RecordQuery, target: CompileTarget, asker: Asker): Promise<EntityPage | null> {
  if (plan.limit === null || plan.limit === 0) return null
  const rows = await findFirstRecords({ ...plan, limit: plan.limit + 1 }, target, asker)
  return rows === null ? null : { rows: rows.slice(0, plan.limit), total: rows.length }
}

async function pageOf(
  order: Int32Array,
  plan: RecordQuery,
  target: CompileTarget,
  asker: Asker,
): Promise<EntityPage> {
  const end = plan.limit === null ? order.length : plan.offset + plan.limit
  const positions = [...order.subarray(plan.offset, end)]
  const rows: RecordRow[] = []
  for (let done = 0; done < positions.length; done += FETCHED_AT_A_TIME) {
    const some = positions.slice(done, done + FETCHED_AT_A_TIME)
    const solutions = await asker.ask(compilePositions(plan.select, some, plan, target))
    const byPosition = new Map(
      solutions.map(solution => [
        positionOf(solution.position?.value ?? ''),
        decodeRow(solution, plan.select),
      ]),
    )
    for (const position of some) {
      const row = byPosition.get(position)
      if (row !== undefined) rows.push(row)
    }
  }
  return { total: order.length, rows }
}

/** Graphs are named after versions, so the name of one names the data. */
function nameOf({ filter, orderBy, timezone }: RecordQuery, { graphs }: CompileTarget): string {
  return exactJson([graphs.index, filter, orderBy, timezone])
}
