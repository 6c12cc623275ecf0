import type { OperationOf, QueryOperation, SparqlOperation } from '../../../sparql/algebra.ts'
import { cellWriter } from '../../../sparql/result-formats.ts'
import { booleanResult, type CursorContext } from '../../../sparql/row-writer.ts'
import type { Evaluation } from '../evaluate/evaluation.ts'
import { EvaluationStopped } from '../evaluate/evaluation-limits.ts'
import { Evaluator } from '../evaluate/evaluator.ts'
import { scanningOperation } from '../evaluate/patterns/operation-parts.ts'
import {
  continuationText,
  dividedShare,
  OutermostScan,
  parseContinuation,
} from '../evaluate/patterns/outermost-scan.ts'
import type { Batch } from '../evaluate/vectors/batch.ts'
import { constructed, describeTerms } from './answer-graph.ts'
import type { PieceBytes } from './piece-bytes.ts'
import type { LastPiece, TextFormat } from './protocol.ts'
import { RowBytes } from './row-bytes.ts'

/** Rows of a batch that are written before the clock is checked. */
const ROWS_AT_A_TIME = 256

/** Bytes of a chunk after which the clock is checked in any case. */
const MUCH = 2 ** 18

/** The progress of a job. */
export interface JobState {
  /** True once a part of its answer was read: from then on it cannot be restarted. */
  isRead: boolean
}

/**
 * Writes the answer of a query in small steps. A stopped answer ends with the results so far if it can be continued.
 *
 * @param piece receives the text: the caller of the steps takes it as soon as it is long enough
 * @param continuation encodes the position at which it continues; null where the answer must be complete
 * @returns the cursor of the rest; null for a complete answer
 */
export function* jobText(
  query: QueryOperation,
  evaluation: Evaluation,
  format: TextFormat,
  piece: PieceBytes,
  continuation: CursorContext | null = null,
  state: JobState = { isRead: true },
): Generator<void, string | null> {
  piece.begin()
  const evaluator = new Evaluator(evaluation)
  switch (query.type) {
    case 'ask': {
      let found = false
      for (const batch of evaluator.solutions(query.input)) {
        found = batch.size > 0
        if (found) break
      }
      piece.text(booleanResult(format === 'nt' ? 'json' : format, found))
      return null
    }
    case 'select': {
      const writer = cellWriter(format === 'nt' ? 'json' : format)
      const rows = new RowBytes(piece, writer, query.variables)
      const write = (batch: Batch) => writtenRows(batch, rows, piece, evaluation)
      piece.text(writer.head(query.variables))
      piece.mark()
      if (
        continuation === null ||
        (continuation.place === null && scanningOperation(sliceOf(query.input).input) === null)
      ) {
        for (const batch of evaluator.solutions(query.input)) for (const _ of write(batch)) yield
        piece.text(writer.end())
        return null
      }
      const { prefix, address } = continuation
      const place = yield* continuedRows(query.input, evaluator, write, piece, continuation.place, state)
      const cursor = place === null ? null : prefix + place
      piece.text(
        writer.end(
          cursor === null ? undefined : { cursor, ...(address === null ? {} : { next: address + cursor }) },
        ),
      )
      return cursor
    }
    case 'construct':
    case 'describe': {
      const parts =
        query.type === 'construct'
          ? constructed(query, evaluator, evaluation)
          : describeTerms(query, evaluator, evaluation)
      for (const text of parts) {
        piece.text(text)
        yield
      }
      return null
    }
    default:
      return query satisfies never
  }
}

/** The outermost slice of an operation. */
function sliceOf(operation: SparqlOperation): Pick<OperationOf<'slice'>, 'input' | 'offset' | 'limit'> {
  return operation.type === 'slice' ? operation : { input: operation, offset: 0, limit: null }
}

/** Bytes of rows of a share that are buffered until it is complete. */
const MAX_BUFFERED = 2 ** 14

/**
 * Writes the rows of an operation until it is stopped.
 *
 * @param write writes some rows, and returns their number
 * @param begin the position of the first row to write; null for the beginning
 * @returns the position of the next row; null where all are written
 */
function* continuedRows(
  operation: SparqlOperation,
  evaluator: Evaluator,
  write: (batch: Batch) => Generator<number>,
  piece: PieceBytes,
  begin: string | null,
  state: JobState,
): Generator<void, string | null> {
  const { input, offset, limit } = sliceOf(operation)
  const place = begin === null ? null : parseContinuation(begin)
  const scan = new OutermostScan(scanningOperation(input), place)
  const start = Math.max(offset, place?.reached ?? 0)
  const end = limit === null ? Number.POSITIVE_INFINITY : offset + limit
  let passed = place?.before ?? 0
  let reached = passed
  let [scanned, before] = [scan.share, passed]
  // Rows of a share are sent when it is complete, or when they are many: a share without sent rows can be divided.
  let [bufferedFrom, isBuffered] = [piece.place, false]
  function* send(rows: number): Generator<void> {
    piece.mark()
    yield
    ;[reached, bufferedFrom, isBuffered] = [rows, piece.place, false]
  }
  if (end <= start) return null
  try {
    for (const batch of evaluator.solutions(input, scan)) {
      if (scan.share !== scanned) {
        if (isBuffered) yield* send(passed)
        ;[scanned, before] = [scan.share, passed]
      }
      const [from, to] = [Math.max(0, start - passed), Math.min(batch.size, end - passed)]
      if (to > from)
        for (const rows of write(batch.slice(from, to))) {
          isBuffered = piece.place - bufferedFrom < MAX_BUFFERED
          if (!isBuffered) yield* send(passed + from + rows)
        }
      passed += batch.size
      if (!isBuffered) reached = passed
      if (passed >= end) return null
    }
    return null
  } catch (error) {
    const isInterrupted =
      error instanceof EvaluationStopped &&
      (error.reason === 'deadline' || (error.reason === 'cancelled' && state.isRead))
    if (!isInterrupted || scan.share === null) throw error
    if (scan.share !== scanned) reached = passed
    else piece.backToMark()
    const hasProgress = scan.shares > 1 || reached > (place?.reached ?? 0)
    const stopped = { steps: scan.steps, reached }
    if (scan.share === scanned && reached > before) {
      if (!hasProgress) throw error
      return continuationText({ ...stopped, share: scan.share, before })
    }
    // A continuation without progress would never end.
    const share = hasProgress ? { ...scan.share, to: null } : dividedShare(scan.share)
    if (share === null) throw error
    return continuationText({ ...stopped, share: share, before: reached })
  }
}

/** Writes the rows of a batch; regularly yields the number of rows written. */
function* writtenRows(
  batch: Batch,
  rows: RowBytes,
  piece: PieceBytes,
  evaluation: Evaluation,
): Generator<number> {
  rows.read(batch)
  let reported = 0
  for (let at = 0; at < batch.size; at++) {
    rows.row(at)
    if (at - reported < ROWS_AT_A_TIME - 1 && piece.length < MUCH) continue
    reported = at + 1
    yield reported
    evaluation.check()
  }
  if (reported < batch.size) yield batch.size
}

/** Minimum bytes of the first chunk, doubled for each next one: a client that reads little waits for little. */
const FIRST_PIECE = 8192

/** Milliseconds from its first rows in which a chunk may exceed its minimum: results found by then are in one chunk. */
const PIECE_TIME = 4

/**
 * The answer of a query in chunks.
 *
 * @param written the chunk that the steps write to
 * @param steps write small parts; the last returns the cursor of the rest
 * @param largest maximum bytes of a chunk
 */
export function* textPieces(
  written: PieceBytes,
  steps: Generator<void, string | null>,
  largest: number,
): Generator<Uint8Array, LastPiece> {
  for (let size = FIRST_PIECE; ; size = Math.min(largest, 2 * size)) {
    let end = Number.POSITIVE_INFINITY
    while (written.length < size || (written.length < largest && performance.now() < end)) {
      const { value: cursor, done } = steps.next()
      end = Math.min(end, performance.now() + PIECE_TIME)
      if (done === true) return { piece: written.length > 0 ? written.take() : null, cursor }
    }
    yield written.take()
  }
}
