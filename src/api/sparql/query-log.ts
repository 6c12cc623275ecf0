import { createHmac, randomBytes } from 'node:crypto'
import { appendFile, type FileHandle, mkdir, open, rename } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import path from 'node:path'
import type { FastifyRequest } from 'fastify'
import { ignoreRejection } from '../../errors/ignore-rejection.ts'
import type { Answered, RequestObserver } from '../../http/observe.ts'
import type { QueryParameters } from '../../http/query-string.ts'
import { SPARQL_PATH } from './endpoint.ts'
import { readGet, readPost } from './request.ts'

export interface QueryLogOptions {
  readonly folder: string
  /** Maximum bytes of all files together. */
  readonly size: number
  /** The address of a client, which is used only for its pseudonym. */
  readonly address: (message: IncomingMessage) => string
  readonly now: () => number
  /** Milliseconds for which lines are buffered, 1,000 by default. */
  readonly interval?: number
}

/** Number of files that share the size: the current one, and earlier ones. */
const FILES = 4
/** Maximum buffered characters; lines beyond are counted and dropped. */
const MAX_WAITING = 2_000_000
const DAY = 86_400_000

/**
 * A log of SPARQL queries for researchers, as JSON Lines with the names of LSQ (Saleem et al., "LSQ: The Linked SPARQL
 * Queries Dataset", ISWC 2015). It contains only queries of callers without credentials, and of a caller only a
 * pseudonym: a hash with a random key that is never written and changes every day.
 */
export class QueryLog {
  private readonly options: QueryLogOptions
  private readonly timer: NodeJS.Timeout
  private waiting = ''
  private dropped = 0
  /** The bytes of the current file; null if they are not known, or its last line may be cut off. */
  private written: number | null = null
  private writing: Promise<void> = Promise.resolve()
  private day = 0
  private key = randomBytes(32)

  constructor(options: QueryLogOptions) {
    this.options = options
    this.timer = setInterval(() => void this.flush(), options.interval ?? 1000)
    this.timer.unref()
  }

  readonly observer: RequestObserver = {
    ended: (request, _, answered) => this.note(request, answered),
    // Answers to queries never come from the cache in front of the routes.
    repeated: () => () => undefined,
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    await this.flush()
  }

  private note(request: FastifyRequest, { endpoint, status, milliseconds, bytes, aborted }: Answered): void {
    if (endpoint !== 'sparql' || request.principal?.type === 'user') return
    if (request.headers.authorization !== undefined) return
    const query = queryOf(request)
    if (query === null) return
    const { dataset } = request.params as { readonly dataset?: string }
    const line = `${JSON.stringify({
      executedAt: new Date(this.options.now()).toISOString(),
      endpoint: dataset === undefined ? SPARQL_PATH : `${SPARQL_PATH}/${encodeURIComponent(dataset)}`,
      host: this.pseudonym(request.raw),
      query,
      queryForm: formOf(query),
      status,
      runTimeMs: Math.round(milliseconds * 10) / 10,
      resultBytes: bytes,
      ...(aborted ? { aborted } : {}),
      ...(this.dropped > 0 ? { dropped: this.dropped } : {}),
    })}\n`
    if (this.waiting.length + line.length > MAX_WAITING) {
      this.dropped += 1
      return
    }
    this.dropped = 0
    this.waiting += line
  }

  /** A pseudonym that changes every day: without the key it cannot be reversed by trying all addresses. */
  private pseudonym(message: IncomingMessage): string {
    const day = Math.floor(this.options.now() / DAY)
    if (day !== this.day) {
      this.day = day
      this.key = randomBytes(32)
    }
    return createHmac('sha256', this.key).update(this.options.address(message)).digest('hex').slice(0, 16)
  }

  private flush(): Promise<void> {
    this.writing = this.writing.then(() => this.write())
    return this.writing
  }

  /** If the disk is full or the folder cannot be written, lines are lost and counted, but requests are still answered. */
  private async write(): Promise<void> {
    const text = this.waiting
    this.waiting = ''
    if (text === '') return
    try {
      await this.append(text)
    } catch {
      this.dropped += linesOf(text)
    }
  }

  private async append(text: string): Promise<void> {
    const { folder, size } = this.options
    const file = path.join(folder, 'queries.jsonl')
    const length = Buffer.byteLength(text)
    const limit = Math.floor(size / FILES)
    if (length > limit) {
      this.dropped += linesOf(text)
      return
    }
    await mkdir(folder, { recursive: true, mode: 0o700 })
    this.written ??= await endOfLines(file)
    if (this.written + length > limit) {
      await this.rotate(file)
      this.written = 0
    }
    const before = this.written
    this.written = null
    await appendFile(file, text, { mode: 0o600 })
    this.written = before + length
  }

  /** Renames each file to the name of the next older one; the oldest is overwritten. */
  private async rotate(file: string): Promise<void> {
    const name = (at: number) => (at === 0 ? file : file.replace(/\.jsonl$/, `.${at}.jsonl`))
    for (let at = FILES - 2; at >= 0; at--)
      await ignoreRejection(rename(name(at), name(at + 1)), 'not all of them are there yet')
  }
}

function linesOf(text: string): number {
  return text.split('\n').length - 1
}

/** Maximum bytes of a line: a character takes at most three. */
const MAX_LINE = 3 * MAX_WAITING

/** The size of a file in bytes, 0 if it is absent. A line at its end that a full disk or a crash cut off is removed. */
async function endOfLines(path: string): Promise<number> {
  let file: FileHandle
  try {
    file = await open(path, 'r+')
  } catch {
    return 0
  }
  try {
    const { size } = await file.stat()
    const from = Math.max(0, size - MAX_LINE)
    const tail = Buffer.alloc(size - from)
    await file.read(tail, 0, tail.length, from)
    const end = from + tail.lastIndexOf('\n') + 1
    if (end < size) await file.truncate(end)
    return end
  } finally {
    await file.close()
  }
}

/** The verbatim query of a request; null if there is none, or it cannot be parsed. */
function queryOf({ method, query, headers, body }: FastifyRequest): string | null {
  try {
    const parameters = query as QueryParameters
    if (method !== 'POST') return readGet(parameters).query
    return readPost(parameters, headers['content-type'], body as Buffer | undefined).query
  } catch {
    return null
  }
}

/** The form of a query, by the first word after its prologue; null if there is none. */
function formOf(query: string): string | null {
  const prologue =
    /^(?:\s+|#[^\n]*|(?:prefix\s+(?:[^\s<]+\s*)?|base\s*)<[^>]*>|version\s+(?:"[^"]*"|'[^']*'))*/i
  const [word = ''] = /^[a-z]+/i.exec(query.slice(0, 20_000).replace(prologue, '')) ?? []
  const form = word.toUpperCase()
  return ['SELECT', 'ASK', 'CONSTRUCT', 'DESCRIBE'].includes(form) ? form : null
}
