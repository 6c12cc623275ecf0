import { lookup } from '../model/lookup.ts'
import {
  compileBoundedGroups,
  compileGroupCount,
  compileGroups,
  isDecodedOrder,
  LOOK_AHEAD,
} from '../query/compile/groups.ts'
import { compileCount } from '../query/compile/records.ts'
import type { CompileTarget } from '../query/compile/scope.ts'
import { decodeCount, type Solution } from '../query/decode.ts'
import { decodeGroups, type GroupRow } from '../query/decode-groups.ts'
import type { GroupQuery } from '../query/plan.ts'
import { technicalName } from '../query/technical.ts'
import type { Asker } from './trace.ts'

/** A page of groups, and the number of all of them; without keys, of the records that were aggregated. */
export interface GroupPage {
  readonly total: number
  readonly rows: readonly GroupRow[]
}

/** Answers a grouped query. */
export async function findGroups(plan: GroupQuery, target: CompileTarget, asker: Asker): Promise<GroupPage> {
  const { solutions, total } =
    plan.limit === 0 ? { solutions: [], total: null } : await readPage(plan, target, asker)
  const rows = asker.watch.time('decode', () => decodeGroups(plan, solutions))
  if (plan.keys.length === 0) return { total: await countRecords(plan, target, asker), rows }
  return { total: total ?? (await countGroups(plan, target, asker)), rows }
}

/** The solutions of the page, and the number of all groups where the store came to their end. */
async function readPage(
  plan: GroupQuery,
  target: CompileTarget,
  asker: Asker,
): Promise<{ readonly solutions: readonly Solution[]; readonly total: number | null }> {
  const bounded = asker.watch.time('compile', () => compileBoundedGroups(plan, target))
  const guessed = bounded === null ? [] : await asker.ask(bounded)
  if (plan.limit !== null && guessed.length >= plan.limit) return { solutions: guessed, total: null }
  const found = await asker.ask(asker.watch.time('compile', () => compileGroups(plan, target)))
  if (isDecodedOrder(plan)) return { solutions: found, total: found.length }
  const isEnd = plan.limit === null || found.length < plan.limit + LOOK_AHEAD
  const isKnown = isEnd && (found.length > 0 || plan.offset === 0)
  return {
    solutions: plan.limit === null ? found : found.slice(0, plan.limit),
    total: isKnown ? plan.offset + found.length : null,
  }
}

async function countRecords(plan: GroupQuery, target: CompileTarget, asker: Asker): Promise<number> {
  const count = asker.watch.time('compile', () => compileCount(plan, target))
  return count.type === 'known' ? count.count : decodeCount(await asker.ask(count.statement))
}

/** A static range alone has all its steps; statistics have the number of the groups of one field, if not very many. */
async function countGroups(plan: GroupQuery, target: CompileTarget, asker: Asker): Promise<number> {
  const [only, ...others] = plan.keys
  if (others.length === 0 && only?.grouping.type === 'steps') return only.grouping.edges.length - 1
  if (others.length === 0 && plan.filter === null && only?.grouping.type === 'value') {
    const { value } = only.grouping
    const known = value.type === 'field' && technicalName(value.field) === undefined
    const statistics = known ? lookup(target.statistics.fields, value.field.name) : undefined
    if (statistics !== undefined && statistics.distinct !== null)
      return statistics.distinct + (plan.nullGroups && statistics.nulls > 0 ? 1 : 0)
  }
  return decodeCount(await asker.ask(compileGroupCount(plan, target)))
}
