import { Fault } from '../../errors/errors.ts'
import { type ParsedQuery, parseQuery } from '../../sparql/parse.ts'
import type { ContinuationFormat } from '../../sparql/results.ts'
import type { AnswerFormat, Store } from '../../store/store.ts'
import { QueryError } from '../../store/store.ts'
import { offsetOf, syntaxFault } from './faults.ts'
import type { QueryDataset } from './graphs.ts'
import { type InlineRows, inlineParsed, inlineText } from './inline.ts'
import { beginningOf, type StreamedAnswer } from './pieces.ts'
import type { QueryText } from './query-text.ts'
import { type RewrittenQuery, rewriteQuery } from './rewrite.ts'

export interface RunOptions {
  readonly format: AnswerFormat
  readonly base: string
  /** Solutions that stand in the query for rows of VALUES. */
  readonly inline?: InlineRows
  /** Milliseconds of work; the store's own default otherwise. */
  readonly deadline?: number
  readonly continuation?: ContinuationFormat | undefined
  /** Called with the cursor of the rest at the end of an answer that was stopped and can go on. */
  readonly onStopped?: (cursor: string) => void
  /** Whoever asked is gone when it is aborted. */
  readonly signal: AbortSignal
}

/**
 * Asks the store a query over a dataset and gives the answer as the store writes it.
 * Faults: BadRequest with line, column and a caret, DeadlineExceeded, StoreBusy, StoreUnavailable, UnprocessableEntity; but
 * for the first also while pieces are read.
 */
export async function runQuery(
  store: Store,
  query: QueryText,
  { defaultGraphs, named }: QueryDataset,
  { format, base, inline = new Map(), deadline, continuation, onStopped, signal }: RunOptions,
): Promise<StreamedAnswer> {
  let rewritten: RewrittenQuery | null = null
  const rewrite = () => {
    rewritten ??= rewriteQuery(query, { defaultGraphs, named })
    return rewritten
  }
  const operations = await parsed(query.text, base, inline)
  try {
    const { pieces, by } = await store.query({
      parsed: operations,
      base,
      format,
      defaultGraphs,
      namedGraphs: named.map(({ iri, graph }) => [iri, graph]),
      engineText: () => inlineText(rewrite().text, inline),
      deadline,
      continuation,
      onStopped,
      signal,
    })
    if (continuation?.place != null && by === 'engine')
      throw new Fault('BadRequest', {
        reason: 'The answer of this query does not go on: ask without cursor.',
      })
    return await beginningOf(pieces)
  } catch (error) {
    throw error instanceof QueryError ? faultOf(error, query, rewrite()) : error
  }
}

/** Where a query goes beyond SPARQL with what engines have in addition, which they are to answer. */
const ENGINE_EXTENSION = /(?:lateral|adjust)\b/iy

/**
 * The query in the algebra; null where the algebra has no place for it. What is no SPARQL is refused here, for engines read more
 * than the recommendation has. Faults: BadRequest.
 */
async function parsed(text: string, base: string, inline: InlineRows): Promise<ParsedQuery | null> {
  try {
    return inlineParsed(parseQuery(text, base), inline)
  } catch (error) {
    const { isNestedAggregate, syntaxProblem } = await import('../../sparql/syntax.ts')
    const problem = syntaxProblem(text)
    if (problem === null) {
      if (isNestedAggregate(error, text))
        throw new Fault('BadRequest', { reason: 'The query has an aggregate within an aggregate.' })
      return null
    }
    ENGINE_EXTENSION.lastIndex = problem.from
    if (ENGINE_EXTENSION.test(text)) return null
    throw syntaxFault(text, problem.from, problem.reason)
  }
}

/**
 * What is wrong with a query that the store refuses, in the words of the store, at the place in the query as it was written.
 */
function faultOf({ message, line, column }: QueryError, query: QueryText, rewritten: RewrittenQuery): Fault {
  const { text, tokens } = query
  const at =
    line === undefined || column === undefined
      ? null
      : rewritten.origin(offsetOf(rewritten.text, line, column))
  if (at === null) {
    const described = message.replace(/urn:lodestone:[^\s>"]*/g, '…').slice(0, 500)
    return new Fault('BadRequest', { reason: `The query cannot be evaluated: ${described}` })
  }
  if (message !== '') return syntaxFault(text, at, `${message}.`)
  const token = tokens.find(({ to }) => to > at)
  if (token === undefined) return syntaxFault(text, text.trimEnd().length, 'the query ends too early.')
  const shown = text.slice(token.from, token.to).slice(0, 60)
  return syntaxFault(text, Math.max(at, token.from), `${shown} is not expected here.`)
}
