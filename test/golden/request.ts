/** A request whose answer is golden. `{key:reader}` and such in it stand for secrets that differ from run to run. */
export interface GoldenRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body?: string
}

type Headers = Readonly<Record<string, string>>

/** A request for an address, with a query that is encoded already. */
export function get(path: string, query = '', headers: Headers = {}): GoldenRequest {
  const mark = path.includes('?') ? '&' : '?'
  return { method: 'GET', url: query === '' ? path : `${path}${mark}${query}`, headers }
}

/** The query of an address with one parameter. */
export const parameter = (name: string, value: string) => `${name}=${encodeURIComponent(value)}`

/** Requests for an address with other methods. */
export function methods(names: string, path: string, headers: Headers = {}): readonly GoldenRequest[] {
  return names.split(' ').map(method => ({ ...get(path, '', headers), method }))
}

export function post(url: string, type: string, body: string, headers: Headers = {}): GoldenRequest {
  return { method: 'POST', url, headers: { 'content-type': type, ...headers }, body }
}

/** A form in a request body; its fields are encoded already. */
export function form(url: string, fields: string, headers: Headers = {}): GoldenRequest {
  return post(url, 'application/x-www-form-urlencoded', fields, headers)
}

export const accept = (type: string) => ({ accept: type })
export const key = (name: string) => (name === '' ? {} : { authorization: `Apikey {key:${name}}` })
export const session = (name: string) => (name === '' ? {} : { cookie: `{session:${name}}` })
export const page = (language: string) => ({ accept: 'text/html', 'accept-language': language })

/** Is replaced by the entity tag that the same request without it is answered with. */
export const KNOWN = { 'if-none-match': '{etag}' }

/** A request for every combination of two lists. */
export function cross<A, B>(
  left: readonly A[],
  right: readonly B[],
  request: (a: A, b: B) => GoldenRequest,
): readonly GoldenRequest[] {
  return left.flatMap(a => right.map(b => request(a, b)))
}

/** One line of a request, by which it is known in the list of answers. */
export function requestLine({ method, url, headers, body }: GoldenRequest): string {
  const shown = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const sent = body === undefined ? [] : [`body: ${body.replaceAll('\n', ' ')}`]
  return [`${method} ${url}`, ...shown, ...sent].join(' | ')
}
