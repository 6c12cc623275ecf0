import { createHash, randomBytes } from 'node:crypto'
import http from 'node:http'
import https from 'node:https'

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

export interface Credentials {
  readonly user: string
  readonly password: string
}

/** The challenge of a server (RFC 7616, section 3.3). */
interface Challenge {
  readonly realm: string
  readonly nonce: string
  readonly opaqueText: string | null
  readonly algorithm: keyof typeof HASHES | null
  /** Whether each use of the nonce is counted; not so in RFC 2069. */
  readonly isCounted: boolean
  uses: number
}

const HASHES = { MD5: 'md5', 'SHA-256': 'sha256' } as const

/**
 * Authenticates requests to an engine: by Basic (RFC 7617), or by Digest (RFC 7616) where the engine requires that, so that it is
 * never sent the password itself. What a URL requires is known from its first answer to requests without credentials.
 */
export class Authentication {
  private readonly credentials: Credentials | null
  /** The challenge of each URL: null for Basic; absent before its first answer. */
  private readonly challenges = new Map<string, Challenge | null>()
  /** URLs that have accepted these credentials. */
  private readonly accepted = new Set<string>()

  constructor(credentials: Credentials | null) {
    this.credentials = credentials && {
      user: inBytes(credentials.user),
      password: inBytes(credentials.password),
    }
  }

  /** The header `Authorization` of a request; null where there are no credentials, or none are sent yet. */
  headerOf(method: string, url: URL): string | null {
    if (this.credentials === null) return null
    const challenge = this.challenges.get(url.origin + url.pathname)
    if (challenge === undefined) return null
    const { user, password } = this.credentials
    if (challenge === null) return `Basic ${Buffer.from(`${user}:${password}`, 'latin1').toString('base64')}`
    return digestOf(challenge, { user, password }, method, url.pathname + url.search)
  }

  /**
   * Registers the answer to a request with this header. True where the request was refused and should be retried:
   * with credentials, or with the current nonce.
   */
  update(url: URL, sent: string | null, status: number, required = ''): boolean {
    if (this.credentials === null) return false
    const place = url.origin + url.pathname
    const before = this.challenges.get(place)
    if (status !== 401) {
      if (sent !== null && status < 400) this.accepted.add(place)
      // Any other refusal, such as that of an engine that is not ready, does not show what is required.
      if (before === undefined && (status < 400 || status === 403)) this.challenges.set(place, null)
      return status === 403 && sent === null
    }
    const challenge = challengeOf(required)
    // A URL that has required Digest is never sent the password, whatever it answers later.
    if (challenge === null && before) return false
    this.challenges.set(place, challenge)
    if (sent === null) return true
    // If credentials were accepted before, the nonce has expired; if never, the password is wrong.
    return challenge !== null && (!sent.startsWith('Digest ') || this.accepted.has(place))
  }
}

function digestOf(
  challenge: Challenge,
  { user, password }: Credentials,
  method: string,
  uri: string,
): string {
  const { realm, nonce, opaqueText: encodedLiteral, algorithm, isCounted } = challenge
  const hash = (...parts: readonly string[]) =>
    createHash(HASHES[algorithm ?? 'MD5'])
      .update(parts.join(':'), 'latin1')
      .digest('hex')
  const [secret, what] = [hash(user, realm, password), hash(method, uri)]
  const pairs = [`username=${quoted(user)}`, `realm=${quoted(realm)}`, `nonce=${quoted(nonce)}`]
  pairs.push(`uri=${quoted(uri)}`)
  if (algorithm !== null) pairs.push(`algorithm=${algorithm}`)
  if (isCounted) {
    challenge.uses += 1
    const count = challenge.uses.toString(16).padStart(8, '0')
    const own = randomBytes(8).toString('hex')
    pairs.push(`qop=auth, nc=${count}, cnonce="${own}"`)
    pairs.push(`response="${hash(secret, nonce, count, own, 'auth', what)}"`)
  } else pairs.push(`response="${hash(secret, nonce, what)}"`)
  if (encodedLiteral !== null) pairs.push(`opaque=${quoted(encodedLiteral)}`)
  return `Digest ${pairs.join(', ')}`
}

/** A string in quotes (RFC 9110, section 5.6.4). */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}

/** A text whose characters are its UTF-8 bytes, as in headers. */
function inBytes(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** A parameter of a challenge, after the scheme where it is the first one (RFC 9110, section 11.6.1). */
const PARAMETER = /(?:([\w-]+)\s+)?([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))/g

/** The first challenge of the scheme Digest that can be answered; null where there is none. */
function challengeOf(header: string): Challenge | null {
  const challenges: { readonly scheme: string; readonly parameters: Map<string, string> }[] = []
  for (const [, scheme, name = '', inQuotes, bare = ''] of header.matchAll(PARAMETER)) {
    if (scheme !== undefined) challenges.push({ scheme: scheme.toLowerCase(), parameters: new Map() })
    challenges.at(-1)?.parameters.set(name.toLowerCase(), inQuotes?.replaceAll(/\\(.)/g, '$1') ?? bare)
  }
  for (const { scheme, parameters } of challenges) {
    const [realm, nonce, encodedLiteral = null, named] = ['realm', 'nonce', 'opaque', 'algorithm'].map(name =>
      parameters.get(name),
    )
    const algorithm = named?.toUpperCase() ?? null
    const accessPaths = parameters.get('qop')?.split(/[\s,]+/) ?? []
    const isCounted = accessPaths.includes('auth')
    if (scheme !== 'digest' || realm === undefined || nonce === undefined) continue
    if (isKnown(algorithm) && (isCounted || accessPaths.length === 0))
      return { realm, nonce, opaqueText: encodedLiteral, algorithm, isCounted, uses: 0 }
  }
  return null
}

function isKnown(algorithm: string | null): algorithm is Challenge['algorithm'] {
  return algorithm === null || Object.hasOwn(HASHES, algorithm)
}
