import { exactJson } from '../../model/exact-json.ts'
import { compileGroups } from '../compile/groups.ts'
import type { CompileTarget } from '../compile/target.ts'
import { decodeGroups, type GroupRow, hasEmptySteps } from '../decode.ts'
import type { GroupQuery, Query } from '../plan.ts'
import type { Executor } from './executor.ts'
import { countExport, countRecords, exportRecords, findRecords } from './find.ts'
import { type JsonStyle, recordObject, rowObject } from './json.ts'

/** A row of an answer as a flat JSON object, with the id of the record if it is a record. */
export interface AnswerRow {
  readonly id: string | null
  /** Characters of the JSON of the record's values. */
  readonly size: number
  readonly object: Record<string, unknown>
}

/** A page of an answer. */
export interface AnswerPage {
  readonly total: number
  readonly rows: readonly AnswerRow[]
}

/** The target of a query. */
export interface AnswerOptions {
  readonly target: CompileTarget
  readonly style: JsonStyle
}

/** Answers a query of either kind with rows that are ready to be written. */
export async function answerQuery(
  plan: Query,
  { target, style }: AnswerOptions,
  executor: Executor,
): Promise<AnswerPage> {
  if (plan.type === 'groups') {
    const { total, rows } = await findGroups(plan, target, executor)
    return { total, rows: rows.map(row => ({ id: null, size: 0, object: rowObject(row, plan, style) })) }
  }
  const { total, rows } = await findRecords(plan, target, executor)
  const { fields } = target.dataset
  const shown = executor.watch.time('present', () =>
    rows.map(row => ({
      id: row.record.id,
      size: [...exactJson(row.record.values)].length,
      object: recordObject(row, plan.select, fields, style),
    })),
  )
  return { total, rows: shown }
}

/** The number of rows that {@link exportObjects} returns; null for groups, which are all computed at once. */
export async function countObjects(
  plan: Query,
  { target }: AnswerOptions,
  executor: Executor,
): Promise<number | null> {
  return plan.type === 'groups' ? null : countExport(plan, target, executor)
}

/** The rows of a query as flat JSON objects, in bounded chunks. */
export async function* exportObjects(
  plan: Query,
  { target, style }: AnswerOptions,
  executor: Executor,
): AsyncGenerator<readonly Record<string, unknown>[]> {
  if (plan.type === 'groups') {
    const { rows } = await findGroups(plan, target, executor)
    yield rows.map(row => rowObject(row, plan, style))
    return
  }
  const { fields } = target.dataset
  for await (const rows of exportRecords(plan, target, executor))
    yield rows.map(row => recordObject(row, plan.select, fields, style))
}

/** Answers a grouped query. */
export async function findGroups(
  plan: GroupQuery,
  target: CompileTarget,
  executor: Executor,
): Promise<{ readonly total: number; readonly rows: readonly GroupRow[] }> {
  // Where there is a row for each step, the page is cut from all rows.
  const requested = hasEmptySteps(plan) ? { ...plan, limit: null, offset: 0 } : plan
  const statement = executor.watch.time('compile', () => compileGroups(requested, target))
  const page = await executor.page(statement, { counted: true })
  const rows = executor.watch.time('decode', () =>
    decodeGroups(plan, { rows: page.rows, term: (variable, row) => page.term(variable, row) }),
  )
  if (plan.keys.length === 0)
    return { total: await countRecords(plan, target, executor), rows: plan.limit === 0 ? [] : rows }
  const [only] = plan.keys
  const total =
    hasEmptySteps(plan) && only?.grouping.type === 'steps' ? only.grouping.edges.length - 1 : page.total
  return { total, rows }
}
