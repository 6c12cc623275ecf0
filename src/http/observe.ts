import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { endpointOf } from './route-config.ts'

export type ObservedRequest = FastifyRequest
export type ObservedReply = FastifyReply

/** What is known of a request once it was answered, or its client left. */
export interface Answered {
  readonly endpoint: string
  /** Pattern of its route; empty where the address belongs to none. */
  readonly route: string
  readonly status: number
  readonly milliseconds: number
  /** Bytes that were sent, headers and all. */
  readonly bytes: number
  /** True where the client left before the end, or was cut off. */
  readonly aborted: boolean
}

/** Watches over requests. What it does of its own accord must not throw. */
export interface RequestObserver {
  /** Runs what comes of a request. */
  readonly around?: (request: FastifyRequest, proceed: () => void) => void
  readonly ended: (request: FastifyRequest, reply: FastifyReply, answered: Answered) => void
  /** Makes what notes a further request that is given the same answer from the cache. */
  readonly repeated: (
    request: FastifyRequest,
    reply: FastifyReply,
  ) => (message: IncomingMessage, id: string) => void
}

/** Has requests watched over from their first hook to the end of their connection's part in them. */
export function observeRequests(http: FastifyInstance, observers: readonly RequestObserver[]): void {
  const around = observers.flatMap(observer => observer.around ?? [])
  http.addHook('onRequest', (request, reply, done) => {
    reply.header(REQUEST_ID, request.id)
    if (observers.length === 0) return done()
    const before = written(request)
    reply.raw.once('close', () => {
      const answered = answeredWith(request, reply, before)
      for (const observer of observers) observer.ended(request, reply, answered)
    })
    around.reduce<() => void>((proceed, run) => () => run(request, proceed), done)()
  })
}

function answeredWith(request: FastifyRequest, reply: FastifyReply, before: number): Answered {
  return {
    endpoint: endpointOf(request),
    route: routeOf(request),
    status: reply.raw.statusCode,
    milliseconds: reply.elapsedTime,
    bytes: written(request) - before,
    aborted: !reply.raw.writableFinished,
  }
}

/** The pattern of the route that a request came to; empty for none. */
export function routeOf({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): string {
  return routeOptions.url ?? ''
}

function written({ raw }: FastifyRequest): number {
  return raw.socket?.bytesWritten ?? 0
}

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
