import { BAD_REQUEST, Fault, UNPROCESSABLE_ENTITY } from '../../errors/errors.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import { continued } from '../../http/pieces.ts'
import { withBoundConstants } from '../../sparql/bound-constants.ts'
import { isExtension } from '../../sparql/extensions.ts'
import { sparqlTokens } from '../../sparql/lexer.ts'
import { type ParsedQuery, translateTree } from '../../sparql/parse.ts'
import type { CursorContext } from '../../sparql/row-writer.ts'
import { scopeProblem } from '../../sparql/scope.ts'
import { type AnswerFormat, QueryError, type Store } from '../../store/store.ts'
import type { QueryDataset } from './endpoint.ts'
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
    const parsed = inlineParsed(translateTree(text, tree, base), inline)
    return { ...parsed, query: withBoundConstants(parsed.query) }
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

/** An answer of the store: whole if it is short, else a stream that is computed while it is read. */
export type StreamedAnswer =
  | { readonly type: 'whole'; readonly text: string }
  | { readonly type: 'pieces'; readonly pieces: AsyncIterableIterator<Uint8Array> }

/** Milliseconds to wait for the end of an answer after its first piece; then it is streamed. */
const TIMEOUT = 15

/** Waits for the first piece of an answer, and a moment for its end. Faults of the first piece are those of the query. */
export async function beginningOf(pieces: AsyncIterable<Uint8Array>): Promise<StreamedAnswer> {
  const iterator = pieces[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done === true) return { type: 'whole', text: '' }
  const second = iterator.next()
  void ignoreRejection(second, 'whoever reads the second piece gets it')
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>(resolve => {
    timer = setTimeout(() => resolve(null), TIMEOUT)
  })
  const maybe = await Promise.race([second, late])
  clearTimeout(timer)
  if (maybe?.done === true) return { type: 'whole', text: Buffer.from(first.value).toString() }
  return { type: 'pieces', pieces: continued([Promise.resolve(first), second], iterator) }
}

/** The whole of an answer. Faults: UnprocessableEntity for one that is longer than some characters. */
export async function pieceText(answer: StreamedAnswer, maxLength: number): Promise<string> {
  if (answer.type === 'whole') return answer.text
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of answer.pieces) {
    text += decoder.decode(piece, { stream: true })
    if (text.length > maxLength)
      throw new Fault(UNPROCESSABLE_ENTITY, {
        reason: `The answer has more than ${maxLength / 1e6} million characters, which no page shows. Ask for less with LIMIT, or for another format.`,
      })
  }
  return text + decoder.decode()
}

/** Whole lines of text, as the pieces arrive. */
export async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let buffered = ''
  for await (const piece of pieces) {
    buffered += decoder.decode(piece, { stream: true })
    const end = buffered.lastIndexOf('\n') + 1
    if (end === 0) continue
    yield buffered.slice(0, end)
    buffered = buffered.slice(end)
  }
  buffered += decoder.decode()
  if (buffered !== '') yield buffered
}

/** Passes pieces on and calls back with their whole text at the end, unless it exceeds a number of bytes. */
export async function* remembered(
  pieces: AsyncIterable<Uint8Array | string>,
  maxLength: number,
  keep: (text: string) => void,
): AsyncGenerator<Uint8Array | string> {
  const buffered: Buffer[] = []
  let bytes = 0
  for await (const piece of pieces) {
    yield piece
    bytes += piece.length
    if (bytes <= maxLength) buffered.push(Buffer.from(piece as Uint8Array))
    else buffered.length = 0
  }
  if (bytes <= maxLength) keep(Buffer.concat(buffered).toString())
}
