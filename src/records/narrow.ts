import type { CompileTarget } from '../query/compile/scope.ts'
import { bucketsOf, compileBuckets } from '../query/compile/words.ts'
import { decodeBuckets } from '../query/decode.ts'
import type { Question } from '../query/plan.ts'
import { amongListed } from './listed.ts'
import type { Asker } from './trace.ts'

/**
 * Looks up which records may have the words that a filter requires, or all of several frequent values, so that no others
 * are looked at.
 */
export async function narrow(plan: Question, target: CompileTarget, asker: Asker): Promise<CompileTarget> {
  if (target.among !== undefined) return target
  const buckets = bucketsOf(plan.filter, target)
  const having =
    buckets.length === 0 ? null : decodeBuckets(await asker.ask(compileBuckets(buckets, target)), buckets)
  const among = having ?? (await amongListed(plan, target, asker))
  return among === null ? target : { ...target, among }
}
