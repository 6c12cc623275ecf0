import { BAD_REQUEST, Fault } from '../../errors/errors.ts'
import { isExtension } from '../../sparql/extensions.ts'
import { sparqlTokens } from '../../sparql/lexer.ts'
import { type ParsedQuery, translateTree } from '../../sparql/parse.ts'
import type { CursorContext } from '../../sparql/row-writer.ts'
import { scopeProblem } from '../../sparql/scope.ts'
import { type AnswerFormat, QueryError, type Store } from '../../store/store.ts'
import type { QueryDataset } from './graphs.ts'
import { beginningOf, type StreamedAnswer } from './pieces.ts'
import { offsetOf, syntaxFault } from './query-size.ts'
import type { QueryText } from './query-text.ts'
import { type InlineRows, inlineParsed, inlineText, type RewrittenQuery, rewriteQuery } from './rewrite.ts'

export interface RunOptions {
  readonly format: AnswerFormat
  readonly base: string
  /** Solutions for placeholder rows of VALUES in the query. */
  readonly inline?: InlineRows
  /** Maximum milliseconds of work; the store's default if absent. */
  readonly deadline?: number
  readonly continuation?: CursorContext | undefined
  /** Called with the cursor of the rest at the end of an answer that was stopped and can be continued. */
  readonly onStopped?: (cursor: string) => void
  readonly signal: AbortSignal
}

/**
 * Runs a query over a dataset and returns the answer as the store writes it.
 * Faults: BadRequest with line, column and a caret, DeadlineExceeded, StoreBusy, StoreUnavailable, UnprocessableEntity; all
 * but the first also while pieces are read.
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
  const operations = operationsOf(query, inline)
  if (operations === null) refuseOutOfScope(query)
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
      throw new Fault(BAD_REQUEST, {
        reason: 'The answer of this query has no continuation: repeat the query without cursor.',
      })
    return await beginningOf(pieces)
  } catch (error) {
    throw error instanceof QueryError ? faultOf(error, query, rewrite()) : error
  }
}

/** The query in the algebra; null if the algebra does not support it. */
function operationsOf({ text, tree, base, flaw }: QueryText, inline: InlineRows): ParsedQuery | null {
  if (flaw !== null) return null
  try {
    return inlineParsed(translateTree(text, tree, base), inline)
  } catch {
    return null
  }
}

/**
 * Refuses a query that violates the rules of scope: before an engine does, for which graphs would be loaded. Faults: BadRequest.
 */
function refuseOutOfScope({ text, tree }: QueryText): void {
  const problem = scopeProblem(text, tree)
  if (problem !== null) throw syntaxFault(text, problem.from, problem.reason)
}

/**
 * The fault of a query that the store refuses, with its message, at the position in the original query.
 */
function faultOf({ message, line, column }: QueryError, query: QueryText, rewritten: RewrittenQuery): Fault {
  refuseOutOfScope(query)
  const { text, flaw } = query
  const at =
    line === undefined || column === undefined
      ? null
      : rewritten.origin(offsetOf(rewritten.text, line, column))
  if (at === null) {
    const described = message
      .replace(/urn:lodestone:[^\s>"]*/g, name => (isExtension(name) ? name : '…'))
      .slice(0, 500)
    return new Fault(BAD_REQUEST, { reason: `The query cannot be evaluated: ${described}` })
  }
  if (message !== '') return syntaxFault(text, at, `${message}.`)
  const token = sparqlTokens(text).tokens.find(({ startOffset, image }) => startOffset + image.length > at)
  if (token === undefined && flaw !== null)
    return new Fault(BAD_REQUEST, { reason: `The query cannot be evaluated: ${flaw.message.slice(0, 300)}` })
  if (token === undefined) return syntaxFault(text, text.trimEnd().length, 'the query ends too early.')
  const { startOffset: from, image } = token
  return syntaxFault(text, Math.max(at, from), `${image.slice(0, 60)} is not expected here.`)
}
