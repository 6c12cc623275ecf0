import http from 'node:http'
import https from 'node:https'
import { Authentication, type Credentials } from './authentication.ts'

/** A request to the engine. */
export interface EngineRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Milliseconds for the whole request. */
  readonly deadline: number
  /** Maximum length of the answer, in bytes. */
  readonly maxLength: number
  /** Receives an answer with status 200 in chunks: then its text is empty. An error that it throws ends the request. */
  readonly onPiece?: (piece: Buffer) => void
  /** Ends the request, and its connection. */
  readonly signal?: AbortSignal | undefined
}

export interface EngineResponse {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

/** Why there is no answer: connection refused or broken, timeout, or the answer is too long. */
export class NoAnswer extends Error {
  readonly reason: 'unreachable' | 'broken' | 'late' | 'long'

  constructor(reason: NoAnswer['reason'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'NoAnswer'
    this.reason = reason
  }
}

/** Persistent connections to an engine, and authenticated requests over them. */
export class Connections {
  private readonly agents: { readonly http: http.Agent; readonly https: https.Agent }
  private readonly authentication: Authentication

  /** @param max maximum number of connections */
  constructor(max: number, credentials: Credentials | null = null) {
    this.authentication = new Authentication(credentials)
    const options = { keepAlive: true, maxSockets: max, maxFreeSockets: max, scheduling: 'lifo' } as const
    this.agents = { http: new http.Agent(options), https: new https.Agent(options) }
  }

  /** Sends one request, again with credentials where they are required, and reads the whole answer. Throws {@link NoAnswer}. */
  async request(request: EngineRequest): Promise<EngineResponse> {
    const { method, url, headers } = request
    const end = performance.now() + request.deadline
    for (let isLast = false; ; isLast = true) {
      const authorization = this.authentication.headerOf(method, url)
      const answer = await this.send({
        ...request,
        deadline: end - performance.now(),
        headers: authorization === null ? headers : { ...headers, authorization },
      })
      const required = answer.headers['www-authenticate']
      if (!this.authentication.update(url, authorization, answer.status, required) || isLast) return answer
    }
  }

  private send({
    method,
    url,
    headers,
    body,
    deadline,
    maxLength,
    onPiece,
    signal,
  }: EngineRequest): Promise<EngineResponse> {
    const isSecure = url.protocol === 'https:'
    const open = isSecure ? https.request : http.request
    const agent = isSecure ? this.agents.https : this.agents.http
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
      const request = open(url, { method, agent, headers: { ...headers, ...length }, signal })
      const timer = setTimeout(() => {
        fail(new NoAnswer('late', `no answer within ${Math.round(deadline)} ms`))
      }, deadline)
      const fail = (error: unknown) => {
        clearTimeout(timer)
        reject(signal?.aborted === true ? signal.reason : error)
        request.destroy()
      }
      request.on('error', error => {
        const { code } = error as NodeJS.ErrnoException
        fail(new NoAnswer(isUnreachable(code) ? 'unreachable' : 'broken', code ?? error.message, error))
      })
      request.on('response', response => {
        const pieces: Buffer[] = []
        let length = 0
        response.on('data', (piece: Buffer) => {
          if (onPiece !== undefined && response.statusCode === 200) {
            try {
              onPiece(piece)
            } catch (error) {
              fail(error)
            }
            return
          }
          length += piece.length
          if (length > maxLength) fail(new NoAnswer('long', `the answer has more than ${maxLength} bytes`))
          else pieces.push(piece)
        })
        response.on('end', () => {
          clearTimeout(timer)
          const text = Buffer.concat(pieces).toString('utf8')
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
        })
        response.on('error', error => fail(new NoAnswer('broken', error.message, error)))
        response.on('aborted', () => fail(new NoAnswer('broken', 'the connection broke')))
      })
      // With a string body Node would write the headers in UTF-8, but their characters are bytes.
      request.end(typeof body === 'string' ? Buffer.from(body) : body)
    })
  }

  close(): void {
    this.agents.http.destroy()
    this.agents.https.destroy()
  }
}

function isUnreachable(code: string | undefined): boolean {
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'].includes(code ?? '')
}
