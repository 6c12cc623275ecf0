import type { ServerResponse } from 'node:http'

/**
 * Calls back once when a response was written whole, or its connection is closed before.
 *
 * @returns what takes that back
 */
export function onceEnded(response: ServerResponse, then: () => void): () => void {
  const end = () => {
    forget()
    then()
  }
  const forget = () => {
    response.off('finish', end)
    response.off('close', end)
  }
  response.once('finish', end)
  response.once('close', end)
  return forget
}
