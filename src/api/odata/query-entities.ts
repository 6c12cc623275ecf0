import { LRUCache } from 'lru-cache'
import type { EntityColumn } from '../../model/edm.ts'
import { exactJson } from '../../model/exact-json.ts'
import type { CompileTarget } from '../../query/compile/target.ts'
import { conjunctionOrNull } from '../../query/conditions.ts'
import type { GroupRow } from '../../query/decode.ts'
import { findGroups, findRecord, findRecords } from '../../query/execute/answer.ts'
import type { Executor } from '../../query/execute/executor.ts'
import { TECHNICAL } from '../../query/find-field.ts'
import {
  type EntitiesPlan,
  type ODataClauses,
  type ODataPlan,
  resolveOData,
} from '../../query/odata/resolve.ts'
import { type ApplyRow, answerRows, pageOf, type RowsPlan } from '../../query/odata/rows.ts'
import { valuesReader } from '../../query/odata/values.ts'
import type { Condition, GroupQuery, RecordQuery } from '../../query/plan.ts'
import type { EntityRow, Version } from './format/shape.ts'
import type { ServedSet } from './sets.ts'

/** A page of entities with their properties, and the total number. */
export interface EntityPage {
  readonly columns: readonly EntityColumn[]
  /** The selected properties in the context; null for all. */
  readonly selected: readonly string[] | null
  readonly rows: readonly EntityRow[]
  /** A lower bound if the count was not requested. */
  readonly total: number
}

/** What a query of entities needs in addition to its clauses. */
export interface ODataExecution {
  readonly executor: Executor
  readonly rowCache: RowCache
  readonly version: Version
  /** The time of the request in milliseconds since 1970. */
  readonly now: number
}

/** A page of the entities of a set, or of the rows that `$apply` computes from them. */
export async function queryEntities(
  set: ServedSet,
  clauses: ODataClauses,
  execution: ODataExecution,
): Promise<EntityPage> {
  const { executor } = execution
  const { target } = set.entry
  const plan = planOf(set, clauses, execution)
  const { columns, selected } = plan
  if (plan.type === 'rows') {
    const rows = await rowsOf(plan, target, execution)
    const page = executor.watch.time('decode', () => pageOf(plan, rows))
    return { columns, selected, rows: page.map(values => ({ id: null, values })), total: rows.length }
  }
  const query = await withCuts(plan, target, execution)
  const page = await findRecords(query, target, executor)
  const read = valuesReader(plan.columns, set.updated)
  const rows = executor.watch.time('decode', () =>
    page.rows.map(row => ({ id: row.record.id, values: read(row) })),
  )
  return { columns, selected, rows, total: cached(page.total, plan) }
}

/** The query of a plan, restricted to the records that its cuts leave. */
async function withCuts<Query extends RecordQuery | GroupQuery>(
  { query, cuts }: { readonly query: Query; readonly cuts: readonly RecordQuery[] },
  target: CompileTarget,
  { executor }: ODataExecution,
): Promise<Query> {
  let left: Condition | null = null
  for (const cut of cuts) {
    const filter = conjunctionOrNull([left, cut.filter])
    const { rows } = await findRecords({ ...cut, filter }, target, executor)
    const values = rows.map(({ record }) => record.id)
    left = { type: 'oneOf', field: TECHNICAL.recordid, values }
  }
  return left === null ? query : { ...query, filter: conjunctionOrNull([left, query.filter]) }
}

/** All rows of `$apply`: cached for requests of the next page if they exceed one page. */
async function rowsOf(
  plan: RowsPlan,
  target: CompileTarget,
  execution: ODataExecution,
): Promise<readonly ApplyRow[]> {
  const { executor, rowCache } = execution
  const name = exactJson([target.graphs.facts, plan.parts, plan.steps])
  const known = rowCache.find(name)
  if (known !== undefined) return known
  const groups: (readonly GroupRow[])[] = []
  for (const part of plan.parts) {
    const query = await withCuts(part, target, execution)
    groups.push((await findGroups(query, target, executor)).rows)
  }
  const rows = executor.watch.time('decode', () => answerRows(plan, groups))
  const { skip, top } = plan.window
  if (top !== null && rows.length > skip + top) rowCache.keep(name, rows)
  return rows
}

/** One entity by its key; null if there is none. Its page has one row. */
export async function queryEntity(
  set: ServedSet,
  id: string,
  clauses: ODataClauses,
  execution: ODataExecution,
): Promise<(EntityPage & { readonly row: EntityRow }) | null> {
  const { target } = set.entry
  const plan = planOf(set, clauses, execution)
  if (plan.type !== 'entities') return null
  const found = await findRecord(id, plan.query, target, execution.executor)
  if (found === null) return null
  const row = { id: found.record.id, values: valuesReader(plan.columns, set.updated)(found) }
  return { columns: plan.columns, selected: plan.selected, rows: [row], total: 1, row }
}

function planOf(
  { model }: ServedSet,
  clauses: ODataClauses,
  { executor, version, now }: ODataExecution,
): ODataPlan {
  const context = { model, now: new Date(now).toISOString(), version }
  return executor.watch.time('resolve', () => resolveOData(clauses, context))
}

/** The number of matching records that `$apply` leaves. */
function cached(total: number, { within: { skip, top } }: EntitiesPlan): number {
  const rest = Math.max(0, total - skip)
  return top === null ? rest : Math.min(rest, top)
}

/** Default maximum of cells of all answers together: some tens of megabytes. */
const MAX_CELLS = 1_000_000

/**
 * The rows of `$apply` by answer, so that its next pages need no grouping. The least recently used are evicted first. A key
 * must contain the version of the data; then a cached answer is never stale.
 */
export class RowCache {
  private readonly answers: LRUCache<string, readonly ApplyRow[]>

  /** @param max cells of all answers together; one answer may have at most a quarter of them */
  constructor(max: number = MAX_CELLS) {
    this.answers = new LRUCache({
      maxSize: max,
      maxEntrySize: Math.floor(max / 4),
      sizeCalculation: (rows, name) => Math.ceil(costOf(name, rows)),
    })
  }

  find(name: string): readonly ApplyRow[] | undefined {
    return this.answers.get(name)
  }

  keep(name: string, rows: readonly ApplyRow[]): void {
    if (!this.answers.has(name)) this.answers.set(name, rows)
  }
}

/** A text costs a cell for every sixteen characters, and each row costs extra as an object. */
function costOf(name: string, rows: readonly ApplyRow[]): number {
  let cells = name.length / 16
  for (const row of rows) {
    cells += 1
    for (const cell of row) cells += typeof cell === 'string' ? 1 + cell.length / 16 : 1
  }
  return cells
}
