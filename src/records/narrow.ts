import type { CompileTarget } from '../query/compile/scope.ts'
import { bucketsOf, compileBuckets } from '../query/compile/words.ts'
import { decodeBuckets } from '../query/decode.ts'
import type { Question } from '../query/plan.ts'
import type { Asker } from './trace.ts'

/** Looks up which records may have the words that a filter requires, so that no others are looked at. */
export async function narrow(
  plan: Pick<Question, 'filter'>,
  target: CompileTarget,
  asker: Asker,
): Promise<CompileTarget> {
  const buckets = bucketsOf(plan.filter, target)
  if (buckets.length === 0) return target
  const among = decodeBuckets(await asker.ask(compileBuckets(buckets, target)), buckets)
  return among === null ? target : { ...target, among }
}
