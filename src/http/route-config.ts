import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Fault } from '../errors/errors.ts'

/** What the hooks that all routes share need to know of a route. Each plugin declares it for its routes. */
export interface RouteConfig {
  /** The part of Lodestone that answers, as metrics and logs name it; `site` where it is left out. */
  readonly endpoint?: string
  /**
   * Who may call: `everybody`, also where the portal is private, or whoever brings what the route itself checks
   * (`signIn`: no access tokens or keys). Where it is left out, whoever the portal is open to.
   */
  readonly access?: 'everybody' | 'signIn'
  /** Methods beside GET and HEAD: POST with `forms` that have fields of their own, or those of programs that edit (`edit`). */
  readonly methods?: 'forms' | 'edit'
  /** True for what counts against quotas. */
  readonly isCounted?: boolean
  /** What a request means whose method is not allowed, where it is no mistake but something that is not there yet. */
  readonly unbuilt?: (request: FastifyRequest) => Fault | null
  /** The API that calls are recorded under (REST 7.3); null, or left out, for none. */
  readonly apiType?: string | null
  /** What a call is recorded as (REST 7.3). */
  readonly operation?: string
  /** The format of an answer, where the address has it as a fixed word. */
  readonly format?: string
  /** False for what is no use of a dataset of this portal, whatever its address names. */
  readonly isUse?: false
}

declare module 'fastify' {
  interface FastifyContextConfig extends RouteConfig {}
}

/** What addresses are that no route has, by where they begin: of each instance with its plugins. */
const unknown = new WeakMap<object, Map<string, RouteConfig>>()

/**
 * Declares what the routes are that an instance gets from now on. What a route declares of itself, or an instance around
 * this one of all its routes, comes first.
 *
 * @param prefixes where addresses begin that are the same where they are no route, or a method is none of their route's
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

/** Declares what addresses are that no route has. */
export function declareUnknown(app: FastifyInstance, config: RouteConfig, prefixes: readonly string[]): void {
  const known = unknown.get(app.server) ?? new Map<string, RouteConfig>()
  for (const prefix of prefixes) known.set(prefix, config)
  unknown.set(app.server, known)
}

/** Answers addresses that no route has; called when all routes are declared. */
export async function answerUnknown(
  http: FastifyInstance,
  answer: (request: FastifyRequest, reply: FastifyReply) => void,
): Promise<void> {
  http.setNotFoundHandler(answer)
  for (const [prefix, config] of unknown.get(http.server) ?? [])
    await http.register(async scope => scope.setNotFoundHandler({ config } as object, answer), { prefix })
}

/** The part of Lodestone that answers a request: `none` where its address belongs to no route. */
export function endpointOf({ routeOptions: { url, config } }: Pick<FastifyRequest, 'routeOptions'>): string {
  return url === undefined ? 'none' : (config.endpoint ?? 'site')
}
