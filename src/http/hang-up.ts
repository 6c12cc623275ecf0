import type { ServerResponse } from 'node:http'

/** Calls back when a response is closed, at once if it is closed already: its client may leave while something is awaited. */
export function onceClosed(response: ServerResponse, then: () => void): void {
  if (response.destroyed) then()
  else response.once('close', then)
}

/** A signal that is aborted where the client leaves before it has its answer. */
export function hangUpSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  onceClosed(response, () => {
    if (!response.writableFinished) controller.abort()
  })
  return controller.signal
}
