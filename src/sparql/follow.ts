import { ignoreRejection } from '../errors/ignore-rejection.ts'
import type { Rest } from './result-formats.ts'

/** The first lines of the results of a Lodestone endpoint. */
const HEAD = /^\{"head":\{"vars":\[.*\]\},$/
const BINDINGS = '"results":{"bindings":['
const REST = /^"continuation":(\{.*\})\}$/

/** Maximum characters of these lines, which have the variables of a query. */
const MAX_HEAD = 1_000_000

/**
 * Sends requests like `fetch`, and where the answer of a SPARQL endpoint is incomplete also requests the rest, so that the caller
 * reads one complete answer: JSON results that end with a `continuation` (docs/sparql.md). Other answers are passed on unchanged.
 */
export function followContinuations(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const answer = await send(input, init)
    const { body, headers, status, statusText } = answer
    const type = headers.get('content-type') ?? ''
    if (status !== 200 || body === null || !type.startsWith('application/sparql-results+json')) return answer
    const requested = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url
    const { signal = null, redirect } = init ?? (input instanceof Request ? input : {})
    const again = { headers: { accept: type }, signal, ...(redirect === undefined ? {} : { redirect }) }
    const pieces = joined(body, requested, url => send(url, again))
    const whole = new Response(streamOf(pieces), { status, statusText, headers })
    Object.defineProperty(whole, 'url', { value: answer.url })
    return whole
  }
}

/** The text of an answer and of all its continuations, as one answer. */
async function* joined(
  body: ReadableStream<Uint8Array>,
  requested: string,
  send: (url: string) => Promise<Response>,
): AsyncGenerator<string> {
  const first = new LineReader(body)
  const beginning = await first.beginning()
  if (beginning === null) return yield* first.text()
  yield beginning
  let before = '\n'
  for (let reader = first; ; ) {
    let next: string | null = null
    for await (const lines of reader.lines()) {
      let text = ''
      for (const line of lines) {
        const rest = REST.exec(line)?.[1]
        if (rest !== undefined) next = addressOf(JSON.parse(rest) as Rest, requested)
        if (!line.startsWith('{')) continue
        text += before + (line.endsWith(',') ? line.slice(0, -1) : line)
        before = ',\n'
      }
      if (text !== '') yield text
    }
    if (next === null) break
    const answer = await send(next)
    if (answer.status !== 200 || answer.body === null)
      throw new Error(
        `the rest of the answer was refused with ${answer.status}: ${(await answer.text()).slice(0, 500)}`,
      )
    reader = new LineReader(answer.body)
    if ((await reader.beginning()) === null) throw new Error('the rest of the answer cannot be read')
  }
  yield '\n]}}\n'
}

function isBeginning([head = '', bindings]: readonly string[]): boolean {
  return HEAD.test(head) && bindings === BINDINGS
}

/** The URL of the rest, which must be on the endpoint itself. Throws where there is none. */
function addressOf({ next }: Rest, requested: string): string {
  if (next === undefined)
    throw new Error(
      'the answer is not whole, and its query is too long for an address: ask for less at a time',
    )
  const [own, other] = [new URL(requested), new URL(next)]
  if (own.origin !== other.origin || own.pathname !== other.pathname)
    throw new Error(`the answer goes on at ${other.origin}, which is not where it began`)
  return next
}

/** Reads a body line by line, as many lines at a time as have arrived, in linear time also where a line arrives in many pieces. */
class LineReader {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>
  private readonly decoder = new TextDecoder()
  /** What has been read and not returned. */
  private pieces: string[] = []
  private isDone = false

  constructor(body: ReadableStream<Uint8Array>) {
    this.reader = body.getReader()
  }

  /** The first two lines of the results of a Lodestone endpoint; null where the text begins otherwise, of which nothing is lost. */
  async beginning(): Promise<string | null> {
    for (let [ends, length] = [0, 0]; !this.isDone && ends < 2 && length < MAX_HEAD; ) {
      const piece = await this.read()
      this.pieces.push(piece)
      ends += piece.split('\n').length - 1
      length += piece.length
    }
    const text = this.pieces.join('')
    this.pieces = [text]
    const lines = text.split('\n', 2)
    if (!isBeginning(lines)) return null
    const beginning = lines.join('\n')
    this.pieces = [text.slice(beginning.length + 1)]
    return beginning
  }

  /** The remaining lines. */
  async *lines(): AsyncGenerator<readonly string[]> {
    for await (const piece of this.text()) {
      const end = piece.lastIndexOf('\n')
      this.pieces.push(end < 0 ? piece : piece.slice(0, end))
      if (end < 0) continue
      const lines = this.pieces.join('').split('\n')
      this.pieces = [piece.slice(end + 1)]
      yield lines
    }
    yield [this.pieces.join('')]
  }

  /** The remaining text, in pieces. */
  async *text(): AsyncGenerator<string> {
    const read = this.pieces
    this.pieces = []
    try {
      yield* read
      while (!this.isDone) yield await this.read()
    } finally {
      await ignoreRejection(this.reader.cancel(), 'the answer has ended already')
    }
  }

  private async read(): Promise<string> {
    const { value, done } = await this.reader.read()
    this.isDone = done
    return this.decoder.decode(value, { stream: !done })
  }
}

function streamOf(pieces: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    pull: async controller => {
      const { value, done } = await pieces.next()
      if (done === true) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel: async () => {
      await pieces.return(undefined)
    },
  })
}
