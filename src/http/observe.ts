import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { endpointOf } from './route-config.ts'

export type ObservedRequest = FastifyRequest
export type ObservedReply = FastifyReply

/** What is known of a request once it was answered or aborted. */
export interface Answered {
  readonly endpoint: string
  /** Pattern of its route; empty if no route matches. */
  readonly route: string
  readonly status: number
  readonly milliseconds: number
  /** Bytes that were sent, including headers. */
  readonly bytes: number
  /** True if the client disconnected before the end, or was disconnected. */
  readonly aborted: boolean
}

/** Observes requests. Its own code must not throw. */
export interface RequestObserver {
  /** Wraps the processing of a request. */
  readonly around?: (request: FastifyRequest, proceed: () => void) => void
  readonly ended: (request: FastifyRequest, reply: FastifyReply, answered: Answered) => void
  /** Returns a function that records a further request that gets the same answer from the cache. */
  readonly repeated: (
    request: FastifyRequest,
    reply: FastifyReply,
  ) => (message: IncomingMessage, id: string) => void
}

/** Observes requests from their first hook until their response is closed. */
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

/** The pattern of the route that a request matches; empty for none. */
export function routeOf({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): string {
  return routeOptions.url ?? ''
}

function written({ raw }: FastifyRequest): number {
  return raw.socket?.bytesWritten ?? 0
}

/** Identifiers of proxies that are accepted: short, and without characters that a log would have to quote. */
const WELL_FORMED = /^[\w.:+/=@-]{1,128}$/

export const REQUEST_ID = 'x-request-id'

/**
 * Returns a generator of request identifiers, which correlate log lines, traces and what a client saw.
 *
 * @param prefix prefix of the identifiers of this process, unique among processes
 * @param isProxied true behind a proxy: its X-Request-Id is used if it is well-formed
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
