import type { Store } from '../../store/store.ts'
import type { CompileTarget } from '../compile/target.ts'
import { type OdsqlClauses, planOdsql } from '../pipeline.ts'
import type { Query } from '../plan.ts'
import type { ResolveContext } from '../resolve/context.ts'
import { type AnswerPage, answerQuery } from './answer.ts'
import { type ExecutedStatement, Executor, type Stage, Stopwatch } from './executor.ts'

/** A query at each of its stages. */
export interface Explained {
  readonly plan: Query
  /** The queries sent to the store, in order; empty where the statistics answer. */
  readonly statements: readonly ExecutedStatement[]
  readonly answer: AnswerPage
  readonly milliseconds: Readonly<Partial<Record<Stage, number>>>
}

/**
 * Answers an ODSQL query and reports every stage of it, for `lodestone explain` and the playground. Faults: those of
 * {@link planOdsql} and of the store.
 *
 * @param clock in milliseconds
 */
export async function explainOdsql(
  clauses: OdsqlClauses,
  context: ResolveContext,
  {
    target,
    store,
    clock,
  }: { readonly target: CompileTarget; readonly store: Store; readonly clock: () => number },
): Promise<Explained> {
  const statements: ExecutedStatement[] = []
  const watch = new Stopwatch(clock)
  const executor = new Executor(store, watch, statement => statements.push(statement))
  const plan = planOdsql(clauses, context, watch)
  const { dialect, timezone } = context
  const answer = await answerQuery(plan, { target, style: { dialect, timezone } }, executor)
  return { plan, statements, answer, milliseconds: Object.fromEntries(watch.stages()) }
}
