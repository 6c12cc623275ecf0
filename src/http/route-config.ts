import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Fault } from '../errors/errors.ts'
import type { QueryParameters } from './query-string.ts'

/** The parts of an address with these parameters in its path, for the types of its requests. */
export interface Route<Name extends string = never> {
  readonly Params: Readonly<Record<Name, string>>
  readonly Querystring: QueryParameters
}

/** What the hooks shared by all routes need to know of a route. Each plugin declares it for its routes. */
export interface RouteConfig {
  /** The part of Lodestone that answers, for metrics and logs; `site` by default. */
  readonly endpoint?: string
  /**
   * Who may call: `everybody`, even if the portal is private, or `signIn`: the route itself checks the credential, and no
   * access tokens or keys are accepted. On a private portal a route with `session` answers those who are not signed in
   * itself, as forms of sessions that have ended. By default, everybody who may use the portal.
   */
  readonly access?: 'everybody' | 'signIn' | 'session'
  /** Methods in addition to GET and HEAD: POST with `forms` that have their own fields, or the methods of editing clients (`edit`). */
  readonly methods?: 'forms' | 'edit'
  /** The methods of the address, where they are not all of `methods`. */
  readonly allow?: string
  /** True if calls count against quotas. */
  readonly isCounted?: boolean
  /** The fault for a method that is not allowed, if it belongs to a feature that is not implemented yet. */
  readonly unbuilt?: (request: FastifyRequest) => Fault | null
  /** The API that calls are recorded under (REST 7.3); null or absent for none. */
  readonly apiType?: string | null
  /** The operation that a call is recorded as (REST 7.3). */
  readonly operation?: string
  /** The format of an answer, if it is a fixed part of the address. */
  readonly format?: string
  /** False if calls are no use of a dataset of this portal, whatever the address contains. */
  readonly isUse?: false
}

declare module 'fastify' {
  interface FastifyContextConfig extends RouteConfig {}
}

/** The configuration of addresses without a route, by prefix, and the instance that declared it: for each server. */
const unknown = new WeakMap<
  object,
  Map<string, { readonly app: FastifyInstance; readonly config: RouteConfig }>
>()

/**
 * Sets the default configuration of the routes that are added to an instance from now on. The configuration of a route
 * itself, or of an enclosing instance, takes precedence.
 *
 * @param prefixes prefixes of addresses that get the same configuration if they, or their method, have no route
 */
export function configureRoutes(
  app: FastifyInstance,
  config: RouteConfig,
  prefixes: readonly string[] = [],
): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    route.config = { ...config, ...route.config }
  })
  declareUnknown(app, config, prefixes)
}

const ALL_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH']

/**
 * Has methods that an address lacks refused as not allowed, with those that it has (RFC 9110, section 15.5.6), rather than as an
 * unknown address: for the routes that are added until the returned function is called.
 */
export function refuseOtherMethods(app: FastifyInstance): () => void {
  const known = new Map<string, readonly string[]>()
  app.addHook('onRoute', ({ method, routePath }: RouteOptions & { readonly routePath: string }) => {
    known.set(routePath, [...(known.get(routePath) ?? []), ...[method].flat()])
  })
  return () => {
    for (const [url, found] of [...known]) {
      const allow = [...ALL_METHODS.filter(method => found.includes(method)), 'OPTIONS'].join(', ')
      const method = [...ALL_METHODS.filter(each => !found.includes(each)), 'OPTIONS']
      app.route({ method, url, config: { allow }, handler: (_, reply) => reply.code(405).send() })
    }
  }
}

/** Sets the configuration of addresses without a route. */
export function declareUnknown(app: FastifyInstance, config: RouteConfig, prefixes: readonly string[]): void {
  const known = unknown.get(app.server) ?? new Map()
  for (const prefix of prefixes) known.set(prefix, { app, config })
  unknown.set(app.server, known)
}

/**
 * Answers addresses without a route; called when all routes are declared. Their errors, as of a method that is not allowed, have
 * the form of the part of Lodestone that declared the prefix.
 */
export async function answerUnknown(
  http: FastifyInstance,
  answer: (request: FastifyRequest, reply: FastifyReply) => void,
): Promise<void> {
  http.setNotFoundHandler(answer)
  for (const [prefix, { app, config }] of unknown.get(http.server) ?? [])
    await http.register(
      async scope => {
        scope.setErrorHandler(app.errorHandler)
        scope.setNotFoundHandler({ config } as object, answer)
      },
      { prefix },
    )
}

/** The part of Lodestone that answers a request: `none` if no route matches. */
export function endpointOf({ routeOptions: { url, config } }: Pick<FastifyRequest, 'routeOptions'>): string {
  return url === undefined ? 'none' : (config.endpoint ?? 'site')
}
