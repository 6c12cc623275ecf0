import type { ServerResponse } from 'node:http'

/** A signal that is aborted where the client leaves before it has its answer. */
export function hangUpSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  const leave = () => {
    if (!response.writableFinished) controller.abort()
  }
  if (response.destroyed) leave()
  else response.once('close', leave)
  return controller.signal
}
