/** Addresses whose path has no empty segments with a meaning: those of the REST APIs. */
const REST = /^\/+api\/+(?:explore|v2)(?:\/|$)/

/**
 * The request target without the slashes that clients repeat where they join a base address that ends with a slash and a
 * path that begins with one: `//api/explore/v2.1/` is `/api/explore/v2.1/`. Elsewhere only leading ones are removed,
 * for the path of a resource may contain an IRI. The query string stays unchanged.
 */
export function plainTarget(target: string): string {
  if (!target.includes('//')) return target
  const end = target.search(/[?#]|$/)
  const path = target.slice(0, end)
  return (REST.test(path) ? path.replace(/\/{2,}/g, '/') : path.replace(/^\/+/, '/')) + target.slice(end)
}

/** Scheme and host of a request target in absolute form (RFC 9112, section 3.2.2). */
const ABSOLUTE = /^https?:\/\/[^/?#]*/i

/** The path and query of a request target, below the base address of the portal. */
export function localTarget(target: string): string {
  const path = target.replace(ABSOLUTE, '')
  return path.startsWith('/') ? path : `/${path}`
}
