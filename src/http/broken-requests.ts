import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { BAD_REQUEST } from '../errors/errors.ts'

/** Milliseconds for which a client may still read the error before its connection is closed. */
const LINGER = 1000

/** The error of a connection whose request cannot be read; `code` is that of Node. */
type ConnectionError = Error & { readonly code?: string }

/**
 * Answers requests that are not HTTP, have headers beyond the limit, or do not arrive in time. If no request was begun, or an
 * answer is already being sent, it only closes the connection.
 *
 * @param maxHeaderBytes the limit, for the message
 */
export function answerBrokenRequest(error: ConnectionError, socket: Socket, maxHeaderBytes: number): void {
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
  const timer = setTimeout(() => socket.destroy(), LINGER).unref()
  socket.once('close', () => clearTimeout(timer))
}
