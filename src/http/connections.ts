import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { BAD_REQUEST } from '../errors/errors.ts'
import { openFilesLimit, RESERVED_FILES } from '../runtime/open-files.ts'
import { addressSubject, clientAddress } from './client-address.ts'

/** Timeouts and the maximum number of connections. */
export interface ConnectionLimits {
  /** Milliseconds within which a whole request must arrive. */
  readonly requestTimeout: number
  /** Milliseconds for which a connection without a request stays open. */
  readonly idleTimeout: number
  /** Milliseconds after which a client that reads nothing of its answer is disconnected. */
  readonly writeTimeout: number
  /** Maximum number of connections of one address; null if all come from proxies. */
  readonly perAddress: number | null
  /** Called at most about once a minute while connections are refused because the process has reached its limit. */
  readonly onFull: (message: string) => void
}

/** Milliseconds within which the headers of a request must arrive, if a whole request may take longer. */
const HEADERS_TIMEOUT = 20_000

/** Milliseconds that a connection has to send its first request before it may be closed in favour of another. */
const GRACE = 2000

/** Milliseconds between two reports that connections are refused. */
const REPORT_PAUSE = 60_000

/** The latest requests whose bodies are files of publishers. */
const uploads = new WeakMap<Socket, IncomingMessage>()

/** Lets the body of a request arrive beyond the time for a whole request, for as long as its client goes on sending. */
export function allowLongUpload(message: IncomingMessage): void {
  uploads.set(message.socket, message)
}

function isUploading(socket: Socket): boolean {
  return uploads.get(socket)?.complete === false
}

interface Connection {
  readonly opened: number
  /** Answers that have not ended. */
  readonly answering: Set<ServerResponse>
  /** The answer to the latest request; null before the first. */
  latest: ServerResponse | null
  /** Called after each answer; null unless the request behind them cannot be read. */
  onAnswered: (() => void) | null
}

const connections = new WeakMap<Socket, Connection>()

/** Interval in milliseconds at which Node checks for requests that take too long: an option of the server's constructor. */
export function checkingInterval({ requestTimeout, idleTimeout }: Timeouts): number {
  return Math.max(100, Math.min(5000, requestTimeout / 4, idleTimeout / 4))
}

type Timeouts = Pick<ConnectionLimits, 'requestTimeout' | 'idleTimeout'>

/**
 * Closes connections whose client is idle, and prevents one address from taking all connections: at its limit, one of its own
 * idle connections is closed for the new one; if none is idle, the new one is refused with 429. A client that waits for the
 * server, for the answer to a slow query, is never disconnected here.
 *
 * To be called before the server listens.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  const { requestTimeout, idleTimeout, writeTimeout, onFull } = limits
  const perAddress = limits.perAddress === null ? null : shareOfAddress(limits.perAddress)
  server.requestTimeout = requestTimeout
  server.headersTimeout = Math.min(requestTimeout, idleTimeout, HEADERS_TIMEOUT)
  server.keepAliveTimeout = idleTimeout
  server.setTimeout(writeTimeout, socket => {
    // Who sends nothing of a file is not waiting for the server.
    const isAnswering = (connections.get(socket)?.answering.size ?? 0) > 0 && !isUploading(socket)
    if (isAnswering && socket.writableLength === 0) socket.setTimeout(writeTimeout)
    else socket.destroy()
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(socket)
    if (connection === undefined) return
    connection.latest = response
    connection.answering.add(response)
    response.once('close', () => {
      connection.answering.delete(response)
      connection.onAnswered?.()
    })
  })
  const byAddress = new Map<string, Set<Socket>>()
  const isWaiting = (socket: Socket) => {
    const { answering, latest = null, opened = 0 } = connections.get(socket) ?? {}
    return (answering?.size ?? 0) === 0 && (latest !== null || performance.now() - opened > GRACE)
  }
  const admit = (socket: Socket): boolean => {
    const answering = new Set<ServerResponse>()
    connections.set(socket, { opened: performance.now(), answering, latest: null, onAnswered: null })
    socket.once('close', () => endUnsent(answering))
    if (perAddress === null) return true
    const address = addressSubject(clientAddress({ headers: {}, socket }, 0))
    const others = byAddress.get(address) ?? new Set()
    if (others.size >= perAddress) {
      const waiting = [...others].find(isWaiting)
      if (waiting === undefined) return false
      others.delete(waiting)
      waiting.destroy()
    }
    byAddress.set(address, others.add(socket))
    socket.once('close', () => {
      others.delete(socket)
      if (others.size === 0 && byAddress.get(address) === others) byAddress.delete(address)
    })
    return true
  }
  const standard = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    if (!admit(socket)) refuse(socket, perAddress ?? 0)
    else for (const listener of standard) listener.call(server, socket)
  })
  limitAll(server, onFull)
}

/** Ends answers that wait for others on a connection that is closed: Node reports its end only to the one that is being sent. */
function endUnsent(answering: ReadonlySet<ServerResponse>): void {
  for (const response of answering) {
    if (response.socket !== null || response.writableFinished) continue
    response.destroy()
    response.emit('close')
  }
}

/** Refuses connections before the system does so silently, and leaves descriptors for files. */
function limitAll(server: Server, onFull: (message: string) => void): void {
  const files = openFilesLimit()
  const max = files === null ? null : connectionsOf(files)
  if (max !== null) server.maxConnections = max
  let described = Number.NEGATIVE_INFINITY
  const report = (message: string) => {
    if (performance.now() - described < REPORT_PAUSE) return
    described = performance.now()
    onFull(message)
  }
  const open = `the process may have ${files ?? 'only so many'} files and connections open at once (ulimit -n)`
  server.on('drop', () => report(`connections are refused: ${max} are open, and ${open}`))
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall === 'accept') report(`connections cannot be taken: ${error.message}; ${open}`)
  })
}

/** The limit of one address: as configured, but never so many that three addresses could have all connections. */
function shareOfAddress(wished: number): number {
  const files = openFilesLimit()
  return files === null ? wished : Math.max(1, Math.min(wished, Math.floor(connectionsOf(files) / 4)))
}

/** The number of connections that leaves the process descriptors for its files, threads and databases. */
function connectionsOf(files: number): number {
  return Math.max(1, files - Math.min(512, Math.max(RESERVED_FILES, files >> 2)))
}

function refuse(socket: Socket, perAddress: number): void {
  const message = `Your address has ${perAddress} connections open, which is as many as it may have. Close some, or use them again.`
  closeWith(socket, '429 Too Many Requests', 'TooManyConnections', message, ['retry-after: 2'])
  socket.resume()
}

/** Interval in milliseconds at which connections are checked for having become idle. */
const IDLE_CHECK_INTERVAL = 50

/**
 * Lets a server that takes no new connections finish its answers: connections without an answer in progress are closed
 * as soon as they are idle, all others when the time is up.
 *
 * @param closing resolves when the server has no connections left
 * @param timeout milliseconds
 * @returns false if answers were cut off
 */
export async function drain(server: Server, closing: Promise<unknown>, timeout: number): Promise<boolean> {
  let isWhole = true
  const looking = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_INTERVAL)
  const cutting = setTimeout(() => {
    isWhole = false
    server.closeAllConnections()
  }, timeout)
  try {
    await closing
    return isWhole
  } finally {
    clearInterval(looking)
    clearTimeout(cutting)
  }
}

/** Milliseconds for which a client may still read the error before its connection is closed. */
const CLOSE_DELAY = 1000

/** The error of a connection whose request cannot be read; `code` is that of Node. */
type ConnectionError = Error & { readonly code?: string }

/**
 * Answers requests that are not HTTP, have headers beyond the limit, or do not arrive in time, after the requests before them
 * on the connection. If no request was begun, or its answer is already being sent, it only closes the connection.
 *
 * @param maxHeaderBytes the limit, for the message
 */
export function answerBrokenRequest(error: ConnectionError, socket: Socket, maxHeaderBytes: number): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUploading(socket)) return
  const connection = connections.get(socket)
  const answer = () => answerUnreadable(error, socket, maxHeaderBytes)
  if (connection === undefined || error.code === 'ECONNRESET') answer()
  else if (connection.onAnswered === null) afterOthers(connection, answer, socket)
}

/** Answers the request that a connection ends with once those before it are answered. */
function afterOthers(connection: Connection, answer: () => void, socket: Socket): void {
  const onAnswered = () => {
    const { latest, answering } = connection
    // Of this one the head was read.
    const isHalf = latest !== null && !latest.req.complete
    if (answering.size > (isHalf && !latest.writableEnded ? 1 : 0)) return
    connection.onAnswered = () => undefined
    if (isHalf && latest.writableEnded) socket.destroy()
    else answer()
  }
  connection.onAnswered = onAnswered
  onAnswered()
}

function answerUnreadable(error: ConnectionError, socket: Socket, maxHeaderBytes: number): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0 || isAnswered(socket)) {
    socket.destroy()
    return
  }
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW': {
      const message = `The address and headers of a request may have ${maxHeaderBytes} bytes.`
      closeWith(socket, '431 Request Header Fields Too Large', BAD_REQUEST.code, message)
      break
    }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      closeWith(socket, '408 Request Timeout', 'RequestTimeout', 'The request did not arrive in time.')
      break
    default:
      closeWith(socket, '400 Bad Request', BAD_REQUEST.code, 'The request is not well-formed HTTP.')
  }
}

/** True while an answer is being sent; Node records it on the socket. */
function isAnswered(socket: Socket & { readonly _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent === true
}

/**
 * Answers on a connection whose request cannot be read, in the envelope of the REST APIs, and closes it.
 *
 * @param status code and reason phrase, as in the status line
 */
export function closeWith(
  socket: Socket,
  status: string,
  code: string,
  message: string,
  headers: readonly string[] = [],
): void {
  const body = JSON.stringify({ error_code: code, message }, null, 2)
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    ...headers,
    'connection: close',
  ]
  socket.on('error', () => undefined)
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  // A client that continues to send would otherwise keep its half of the connection open forever.
  const timer = setTimeout(() => socket.destroy(), CLOSE_DELAY).unref()
  socket.once('close', () => clearTimeout(timer))
}
