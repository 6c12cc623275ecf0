import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { BAD_REQUEST } from '../errors/errors.ts'

/** Milliseconds for which a client may still read why its connection is closed. */
const LINGER = 1000

/** What was thrown where a connection has no request that can be read; `code` is that of Node. */
type ConnectionError = Error & { readonly code?: string }

/**
 * Answers what is not even HTTP, has headers beyond the limit, or does not arrive in time. Nobody waits for an answer to
 * what was never begun, and an answer that was begun cannot be taken back: there the connection is closed.
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

/** True while an answer is being sent, which Node notes at the connection. */
function isAnswered(socket: Socket & { readonly _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent === true
}

/**
 * Answers on a connection that no request can be read from any more, in the envelope of the REST APIs, and closes it.
 *
 * @param status with its reason, as the status line has it
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
  // A client that goes on sending would otherwise keep its half of the connection for ever.
  const timer = setTimeout(() => socket.destroy(), LINGER).unref()
  socket.once('close', () => clearTimeout(timer))
}
