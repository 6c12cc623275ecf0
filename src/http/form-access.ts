import type { FastifyInstance, RouteOptions } from 'fastify'
import { acceptForms } from './form.ts'

/**
 * Makes what an instance answers to GET take POST as well, for forms that carry an access token (RFC 6750, section 2.2);
 * the hooks that all routes share see to it that they carry nothing else.
 */
export function answerForms(app: FastifyInstance): void {
  acceptForms(app)
  app.addHook(
    'onRoute',
    function (this: FastifyInstance, route: RouteOptions & { readonly routePath?: string }) {
      const methods = Array.isArray(route.method) ? route.method : [route.method]
      if (!methods.includes('GET')) return
      // The root of a prefix has an empty path, which would stand for the whole address again.
      const { routePath = route.url } = route
      this.route({ ...route, url: routePath === '' ? '/' : routePath, method: 'POST' })
    },
  )
}
