import type { IncomingMessage } from 'node:http'

/** Identifiers of others that are taken over: as short as they come, and of nothing that a log would have to quote. */
const WELL_FORMED = /^[\w.:+/=@-]{1,128}$/

export const REQUEST_ID = 'x-request-id'

/**
 * Makes what names requests, by which a line in the log, a trace and what a client saw find each other.
 *
 * @param prefix what names of this process begin with, so that no other makes the same
 * @param isProxied true where a proxy is in front: its X-Request-Id is used where it is well-formed
 */
export function requestIds(
  prefix: string,
  isProxied: boolean,
): (message: Pick<IncomingMessage, 'headers'>) => string {
  let created = 0
  return ({ headers }) => {
    if (isProxied) {
      const given = headers[REQUEST_ID]
      if (typeof given === 'string' && WELL_FORMED.test(given)) return given
    }
    created += 1
    return prefix + created
  }
}
