import { exactJson } from '../../model/exact-json.ts'
import type { CompileTarget } from '../compile/target.ts'
import type { Query } from '../plan.ts'
import { findGroups } from './aggregate.ts'
import type { Executor } from './executor.ts'
import { countExport, exportRecords, findRecords } from './find.ts'
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
