import { Fault, UNPROCESSABLE_ENTITY } from '../../errors/errors.ts'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'

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

/** Pieces of which the first were requested already. Ending them ends the others, also before any was read: no generator does. */
function continued<Piece>(
  requested: readonly Promise<IteratorResult<Piece>>[],
  iterator: AsyncIterator<Piece>,
): AsyncIterableIterator<Piece> {
  let read = 0
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: () => requested[read++] ?? iterator.next(),
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
  }
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

/**
 * Waits for the first piece, so that an answer that cannot be written at all is reported before the headers are sent. A later
 * fault breaks the connection, which no client takes for a complete answer.
 */
export async function begunAnswer<Piece>(body: AsyncIterable<Piece>): Promise<AsyncIterable<Piece>> {
  const iterator = body[Symbol.asyncIterator]()
  const first = await iterator.next()
  return continued([Promise.resolve(first)], iterator)
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
