import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { openFilesLimit, RESERVED_FILES } from '../runtime/open-files.ts'
import { closeWith } from './broken-requests.ts'
import { addressSubject, clientAddress } from './client-address.ts'

/** How long connections may wait for their client, and how many there may be. */
export interface ConnectionLimits {
  /** Milliseconds in which a whole request must have arrived. */
  readonly requestTimeout: number
  /** Milliseconds for which a connection without a request stays open. */
  readonly idleTimeout: number
  /** Milliseconds after which a client is cut off that reads nothing of its answer. */
  readonly writeTimeout: number
  /** Connections of one address; null where all come from proxies. */
  readonly perAddress: number | null
  /** Called, about once a minute, that connections are refused because the process has no room for them. */
  readonly onFull: (message: string) => void
}

/** Milliseconds in which the headers of a request must have arrived, where a whole request may take longer. */
const HEADERS_TIMEOUT = 20_000

/** Milliseconds that a connection has to send its first request before it may be closed in favour of another. */
const GRACE = 2000

/** Milliseconds between two reports that connections are refused. */
const REPORT_PAUSE = 60_000

interface Connection {
  readonly opened: number
  /** Requests that are being answered. */
  answering: number
  isUsed: boolean
}

/** How often Node looks for requests that take too long, in milliseconds: an option of the server when it is made. */
export function checkingInterval({ requestTimeout, idleTimeout }: Timeouts): number {
  return Math.max(100, Math.min(5000, requestTimeout / 4, idleTimeout / 4))
}

type Timeouts = Pick<ConnectionLimits, 'requestTimeout' | 'idleTimeout'>

/**
 * Ends connections that wait for their client, and keeps one address from having all of them: where it has as many as it
 * may, one of its own that waits is closed for the new one, and where none waits the new one is refused with 429. A client
 * that waits for the server, for the answer to a slow query, is never cut off here.
 *
 * To be called before the server listens.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  const { requestTimeout, idleTimeout, writeTimeout, onFull } = limits
  const perAddress = limits.perAddress === null ? null : shareOfAddress(limits.perAddress)
  const connections = new WeakMap<Socket, Connection>()
  server.requestTimeout = requestTimeout
  server.headersTimeout = Math.min(requestTimeout, idleTimeout, HEADERS_TIMEOUT)
  server.keepAliveTimeout = idleTimeout
  server.setTimeout(writeTimeout, socket => {
    const isAnswering = (connections.get(socket)?.answering ?? 0) > 0
    if (isAnswering && socket.writableLength === 0) socket.setTimeout(writeTimeout)
    else socket.destroy()
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(socket)
    if (connection === undefined) return
    connection.isUsed = true
    connection.answering += 1
    response.once('close', () => {
      connection.answering -= 1
    })
  })
  const byAddress = new Map<string, Set<Socket>>()
  const isWaiting = (socket: Socket) => {
    const { answering = 0, isUsed = false, opened = 0 } = connections.get(socket) ?? {}
    return answering === 0 && (isUsed || Date.now() - opened > GRACE)
  }
  const admit = (socket: Socket): boolean => {
    connections.set(socket, { opened: Date.now(), answering: 0, isUsed: false })
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

/** Refuses connections before the system does, which says nothing about it: files must still be opened. */
function limitAll(server: Server, onFull: (message: string) => void): void {
  const files = openFilesLimit()
  const max = files === null ? null : connectionsOf(files)
  if (max !== null) server.maxConnections = max
  let described = Number.NEGATIVE_INFINITY
  const report = (message: string) => {
    if (Date.now() - described < REPORT_PAUSE) return
    described = Date.now()
    onFull(message)
  }
  const open = `the process may have ${files ?? 'only so many'} files and connections open at once (ulimit -n)`
  server.on('drop', () => report(`connections are refused: ${max} are open, and ${open}`))
  server.on('error', (error: NodeJS.ErrnoException) => {
    if (error.syscall === 'accept') report(`connections cannot be taken: ${error.message}; ${open}`)
  })
}

/** Connections of one address: as many as are wished, and never so many that three addresses have all. */
function shareOfAddress(wished: number): number {
  const files = openFilesLimit()
  return files === null ? wished : Math.max(1, Math.min(wished, Math.floor(connectionsOf(files) / 4)))
}

/** Connections that leave a process descriptors for its files, threads and databases. */
function connectionsOf(files: number): number {
  return Math.max(1, files - Math.min(512, Math.max(RESERVED_FILES, files >> 2)))
}

function refuse(socket: Socket, perAddress: number): void {
  const message = `Your address has ${perAddress} connections open, which is as many as it may have. Close some, or use them again.`
  closeWith(socket, '429 Too Many Requests', 'TooManyConnections', message, ['retry-after: 2'])
  socket.resume()
}

/** How often connections are looked at that may have become idle, in milliseconds. */
const LOOK = 50

/**
 * Lets a server that takes no new connections finish what it is answering: those without an answer under way are ended at
 * once and as they come to be so, all others when the time is up.
 *
 * @param closing what resolves when the server has no connections left
 * @param timeout milliseconds
 * @returns false where answers were cut off
 */
export async function drain(server: Server, closing: Promise<unknown>, timeout: number): Promise<boolean> {
  let isWhole = true
  const looking = setInterval(() => server.closeIdleConnections(), LOOK)
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
