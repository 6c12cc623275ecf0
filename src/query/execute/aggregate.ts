import { compileGroups } from '../compile/groups.ts'
import type { CompileTarget } from '../compile/target.ts'
import { decodeGroups, type GroupRow, hasEmptySteps } from '../decode-groups.ts'
import type { GroupQuery } from '../plan.ts'
import type { Executor } from './executor.ts'
import { countRecords } from './find.ts'

/** A page of groups, and their total number; without keys, the number of records that were aggregated. */
export interface GroupsAnswer {
  readonly total: number
  readonly rows: readonly GroupRow[]
}

/** Answers a grouped query. */
export async function findGroups(
  plan: GroupQuery,
  target: CompileTarget,
  executor: Executor,
): Promise<GroupsAnswer> {
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
