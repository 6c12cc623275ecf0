import { EXPLORE_V20 } from '../../src/query/dialect.ts'
import type { ResolveContext } from '../../src/query/resolve/context.ts'

/** The context of a query of the tests: Explore v2.0 in UTC and French, at a fixed moment. */
export function contextFor(
  dataset: ResolveContext['dataset'],
  more: Partial<ResolveContext> = {},
): ResolveContext {
  return {
    dataset,
    technical: true,
    timezone: 'UTC',
    language: 'fr',
    dialect: EXPLORE_V20,
    now: Date.parse('2021-05-06T12:34:55.450Z'),
    ...more,
  }
}
