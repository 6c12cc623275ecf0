import { createHash } from 'node:crypto'
import { gunzipSync, inflateRawSync } from 'node:zlib'
import { type GoldenRequest, requestLine } from './request.ts'
import type { GoldenServer, RawAnswer } from './server.ts'

/** A digest of status, headers and body. */
export function shortDigest({ status, headers, body }: GoldenAnswer): string {
  return createHash('sha256')
    .update(JSON.stringify([status, headers, body]))
    .digest('base64url')
    .slice(0, 10)
}

/** What an answer is compared by: all that varies from run to run is out of it. */
export interface GoldenAnswer {
  readonly request: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const HEADERS = [
  'content-type',
  'content-encoding',
  'content-language',
  'content-disposition',
  'etag',
  'vary',
  'cache-control',
  'location',
  'link',
  'allow',
  'www-authenticate',
  'last-modified',
  'memento-datetime',
  'odata-version',
  'dataserviceversion',
  'preference-applied',
  'retry-after',
  'accept-post',
  'content-location',
  'content-security-policy',
  'x-content-type-options',
  'referrer-policy',
  'strict-transport-security',
  'set-cookie',
]
const isShown = (name: string) => HEADERS.includes(name) || name.startsWith('access-control-')
/** Headers of which only the names count. */
const isCounted = (name: string) => /^(?:x-)?rate-?limit/.test(name) || name === 'server-timing'

/** Asks everything in turn. `{etag}` in a request stands for the entity tag that the same request without it is answered with. */
export async function* goldenAnswers(
  { ask, secrets }: GoldenServer,
  requests: readonly GoldenRequest[],
): AsyncGenerator<GoldenAnswer> {
  const normalise = normaliser(secrets)
  for (const request of requests) {
    const asked = { ...request, headers: { ...request.headers } }
    for (const [name, value] of Object.entries(asked.headers))
      if (value === '{etag}') {
        const { [name]: _, ...headers } = asked.headers
        asked.headers = { ...headers, [name]: (await ask({ ...asked, headers })).headers.etag ?? '"none"' }
      }
    const answer = normalised(await ask(asked), normalise)
    yield {
      request: requestLine(request),
      ...(asked.url.startsWith('/api/sparql') ? timeless(answer) : answer),
    }
  }
}

/**
 * An answer of SPARQL is written at once where it is there within some milliseconds, else piece by piece: then it may be compressed,
 * and varies with that, and its JSON-LD has a context before all.
 */
function timeless({
  headers,
  body,
  ...answer
}: Omit<GoldenAnswer, 'request'>): Omit<GoldenAnswer, 'request'> {
  const { vary } = headers
  const isJsonLd = headers['content-type']?.startsWith('application/ld+json') === true
  return {
    ...answer,
    headers: vary === undefined ? headers : { ...headers, vary: vary.replace(', Accept-Encoding', '') },
    body: isJsonLd ? '(JSON-LD)' : body,
  }
}

function normalised({ status, headers, body }: RawAnswer, normalise: (text: string) => string) {
  const text = normalise(textOf(body, headers['content-type'] ?? ''))
  const isPage = (headers['content-type'] ?? '').startsWith('text/html')
  const shown = Object.entries(headers).flatMap(([name, value]): (readonly [string, string])[] => {
    if (isCounted(name)) return [[name, '…']]
    if (!isShown(name)) return []
    // The tags of pages follow from the addresses of their scripts; a 304, which has no type, repeats the tag of the request.
    if (name === 'etag' && (isPage || status === 304)) return [[name, '…']]
    return [[name, normalise([value ?? ''].flat().join('\n'))]]
  })
  return { status, headers: Object.fromEntries(shown.sort(([a], [b]) => (a < b ? -1 : 1))), body: text }
}

const TEXTS = /^text\/|json|xml|jsonl|n-triples|n-quads|trig|turtle|javascript|^$/

/** The body as text: of an archive all its files, of other binary formats their digest. */
function textOf(body: Buffer, type: string): string {
  if (body.subarray(0, 4).equals(Buffer.from('PK\x03\x04'))) return filesOf(body)
  if (body.length > 2 && body[0] === 0x1f && body[1] === 0x8b) return textOf(gunzipSync(body), type)
  if (TEXTS.test(type)) return body.toString('utf8')
  return `${body.length} bytes ${createHash('sha256').update(body).digest('hex')}\n`
}

/** The files of a ZIP archive, by its directory: names and contents without their times. */
function filesOf(bytes: Buffer): string {
  const end = bytes.lastIndexOf('PK\x05\x06')
  let at = bytes.readUInt32LE(end + 16)
  const parts: string[] = []
  for (let number = bytes.readUInt16LE(end + 10); number > 0; number--) {
    const [method, size, length] = [
      bytes.readUInt16LE(at + 10),
      bytes.readUInt32LE(at + 20),
      bytes.readUInt16LE(at + 28),
    ]
    const name = bytes.toString('utf8', at + 46, at + 46 + length)
    const start = bytes.readUInt32LE(at + 42)
    const from = start + 30 + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28)
    const packed = bytes.subarray(from, from + size)
    const content = method === 0 ? packed : inflateRawSync(packed)
    // The header of a dBase table carries the day when it was written.
    const lasting = name.endsWith('.dbf') ? content.subarray(4) : content
    const isText = /\.(?:xml|rels|prj|cpg|txt)$/.test(name)
    parts.push(
      `== ${name}\n${isText ? content.toString('utf8') : createHash('sha256').update(lasting).digest('hex')}`,
    )
    at += 46 + length + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return parts.join('\n')
}

/** Days around the run in which a time is one of the run. */
const NEAR = 3 * 86_400_000
const ISO = /\b20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g
const HTTP = /\b\w{3}, \d\d \w{3} 20\d\d \d\d:\d\d:\d\d GMT/g
const EPOCH = /\b1[789]\d{8}(?:\d{3})?\b/g

/** Placeholders of what is the same in every run. */
const PUBLIC = ['{version}', '{latest}', '{record}']

function normaliser(secrets: ReadonlyMap<string, string>): (text: string) => string {
  const now = Date.now()
  const near = (milliseconds: number) => Math.abs(milliseconds - now) < NEAR
  const given = [...secrets].filter(([name, value]) => value !== '' && !PUBLIC.includes(name))
  return text => {
    let out = text
    for (const [name, value] of given) out = out.replaceAll(value, name)
    return (
      out
        .replaceAll(ISO, found => (near(Date.parse(found.slice(0, 10))) ? '<now>' : found))
        .replaceAll(HTTP, found => (near(Date.parse(found)) ? '<now>' : found))
        .replaceAll(EPOCH, found => (near(Number(found.padEnd(13, '0'))) ? '<now>' : found))
        // Written by the internationalisation of the runtime, whose releases differ.
        .replaceAll(/(<time datetime="[^"]*">)[^<]*/g, '$1')
        .replaceAll(
          /(<code>(?:parse|resolve|compile|store|decode|present)<\/code><\/th><td class="number">)[\d.,]+/g,
          '$1…',
        )
        .replaceAll(
          /(<td class="number">…<\/td><\/tr>\n<tr><th scope="row">[^<]*<\/th><td class="number">)[\d.,]+/g,
          '$1…',
        )
        .replaceAll(/[\d.,]+ ms</g, '… ms<')
        .replaceAll(/<code>[\w-]{6}…<\/code>/g, '<code>…</code>')
        .replaceAll(/(\/assets\/[\w.-]+?)[.-][\w-]{8,}\.(js|css|json|svg|png)/g, '$1.<hash>.$2')
        .replaceAll(/(name="(?:form_token|login|passed)" value=")[^"]*/g, '$1<token>')
        .replaceAll(/((?:lodestone|__Host-)[\w-]*=)[\w-]{16,}/g, '$1<token>')
        .replaceAll(/nonce(?:=")?-?[\w+/=-]{12,}/g, '<nonce>')
        .replaceAll(/[\da-f]{12}-[\da-z]+/g, '<request>')
    )
  }
}
