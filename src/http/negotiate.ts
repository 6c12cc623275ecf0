/** A media type that an address can be served as. */
export interface Representation {
  readonly type: string
  /** Served only if the header names it: `any type` and `text/*` do not choose it. */
  readonly explicit?: boolean
  /** Factor that the client's quality is multiplied by, above 0 and up to 1: 1 by default. */
  readonly weight?: number
}

/** A media type or range with its parameters (RFC 9110, section 12.5.1), in lower case. */
export interface MediaRange {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  /** 0 to 1; 0 refuses it. */
  readonly quality: number
}

/** What a client accepts that does not say it. */
export const ANYTHING: MediaRange = { type: '*/*', parameters: new Map(), quality: 1 }

/**
 * Chooses by the Accept header (RFC 9110, section 12.5.1): highest quality first, then a type that the header names before
 * those of its ranges, as w3m means `text/html, application/*`, then the order of the offers, which is the server's
 * preference. Without a header the first offer; null if no offer is acceptable.
 */
export function negotiate<O extends Representation>(
  accept: string | undefined,
  representations: readonly O[],
): O | null {
  const read = mediaRanges(accept ?? '')
  const ranges = read.length === 0 ? [ANYTHING] : read
  let best: ({ readonly representation: O } & Judgement) | null = null
  for (const representation of representations) {
    const { quality, isNamed } = judgementOf(representation, ranges)
    const isBetter =
      best === null || quality > best.quality || (quality === best.quality && isNamed && !best.isNamed)
    if (quality > 0 && isBetter) best = { representation, quality, isNamed }
  }
  return best?.representation ?? null
}

/** What a header says of a media type, and whether it names it. */
interface Judgement {
  readonly quality: number
  readonly isNamed: boolean
}

/** Maximum length of an Accept header that is read. */
const MAX_LENGTH = 4000

/** The media ranges of an Accept header; malformed ones are skipped. */
export function mediaRanges(accept: string): readonly MediaRange[] {
  return split(accept.slice(0, MAX_LENGTH), ',').flatMap(part => mediaRangeOf(part) ?? [])
}

/** One media type or range; null if the text is none. */
export function mediaRangeOf(text: string): MediaRange | null {
  const [written = '', ...pieces] = split(text, ';').map(piece => piece.trim().toLowerCase())
  const type = written === '*' ? '*/*' : written
  if (!/^[^\s/]+\/[^\s/]+$/.test(type)) return null
  const parameters = new Map<string, string>()
  let quality = 1
  for (const piece of pieces) {
    if (piece === '') continue
    const at = piece.indexOf('=')
    const name = (at < 0 ? piece : piece.slice(0, at)).trim()
    const value = at < 0 ? '' : piece.slice(at + 1).trim()
    if (name !== 'q') parameters.set(name, value.replace(/^"(.*)"$/, '$1'))
    else quality = value !== '' && Number(value) >= 0 && Number(value) <= 1 ? Number(value) : 0
  }
  return { type, parameters, quality }
}

/** The judgement of the most specific range. */
function judgementOf(representation: Representation, ranges: readonly MediaRange[]): Judgement {
  let [quality, precision] = [0, -1]
  for (const range of ranges) {
    const own = precisionOf(range, representation)
    if (own > precision) [quality, precision] = [range.quality, own]
  }
  return { quality: quality * (representation.weight ?? 1), isNamed: precision === 2 }
}

/** How specific a range is that covers a type: 0 for any type, 1 for all subtypes of a type, 2 for the type; -1 for another. */
function precisionOf(range: MediaRange, { type, explicit = false }: Representation): number {
  if (range.type === type) return 2
  if (explicit || !range.type.endsWith('/*')) return -1
  if (range.type === '*/*') return 0
  return type.startsWith(range.type.slice(0, -1)) ? 1 : -1
}

/** The forms of a JSON-LD document that a client may request (JSON-LD 1.1, sections 5 and 6.2, "IANA considerations"). */
export const JSONLD_FORMS = ['compacted', 'expanded', 'flattened'] as const

type JsonldForm = (typeof JSONLD_FORMS)[number]

export const JSONLD_TYPE = 'application/ld+json'

const PROFILES = 'http://www.w3.org/ns/json-ld#'

/**
 * The form that an Accept header requests with the parameter `profile` of `application/ld+json`: of several ranges that of
 * the highest quality, of several profiles the first known one. Null if none is requested: unknown profiles are ignored
 * (RFC 6906, section 3).
 */
export function jsonldForm(accept: string | undefined): JsonldForm | null {
  let best: { readonly form: JsonldForm | null; readonly quality: number } | null = null
  for (const { type, parameters, quality } of mediaRanges(accept ?? '')) {
    if (type !== JSONLD_TYPE || quality === 0 || (best !== null && quality <= best.quality)) continue
    best = { form: formOf(parameters.get('profile')), quality }
  }
  return best?.form ?? null
}

/** The media type of a document in a form. */
export function jsonldType(form: JsonldForm | null): string {
  return form === null ? JSONLD_TYPE : `${JSONLD_TYPE};profile="${PROFILES}${form}"`
}

function formOf(profile: string | undefined): JsonldForm | null {
  const names = (profile ?? '').split(/\s+/)
  for (const name of names) {
    const form = JSONLD_FORMS.find(known => name === PROFILES + known)
    if (form !== undefined) return form
  }
  return null
}

/** The parts of a header between separators outside of quoted strings (RFC 9110, section 5.6.4). */
function split(text: string, separator: string): readonly string[] {
  if (!text.includes('"')) return text.split(separator)
  const parts: string[] = []
  let begin = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (isQuoted && character === '\\') at += 1
    else if (character === '"') isQuoted = !isQuoted
    else if (character === separator && !isQuoted) {
      parts.push(text.slice(begin, at))
      begin = at + 1
    }
  }
  parts.push(text.slice(begin))
  return parts
}
