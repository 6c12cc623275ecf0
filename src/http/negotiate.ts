/** A media type that an address can be served as. */
export interface Representation {
  readonly type: string
  /** Served only if the header names it: `any type` and `text/*` do not choose it. */
  readonly explicit?: boolean
  /** Factor that the client's quality is multiplied by, above 0 and up to 1: 1 by default. */
  readonly weight?: number
}

interface Range {
  readonly type: string
  readonly quality: number
  /** Specificity of the range: 0 for any type, 1 for all subtypes of a type, 2 for one type. */
  readonly precision: number
}

/**
 * Chooses by the Accept header (RFC 9110, section 12.5.1): highest quality first, then the order of the offers, which
 * is the server's preference. Without a header the first offer; null if no offer is acceptable.
 */
export function negotiate<O extends Representation>(
  accept: string | undefined,
  representations: readonly O[],
): O | null {
  const ranges = parseAccept(accept ?? '*/*')
  let best: { readonly representation: O; readonly quality: number } | null = null
  for (const representation of representations) {
    const quality = qualityOf(representation, ranges)
    if (quality > 0 && (best === null || quality > best.quality)) best = { representation, quality }
  }
  return best?.representation ?? null
}

/** The media ranges of an Accept header; malformed ones are skipped. */
function parseAccept(accept: string): readonly Range[] {
  const ranges = accept
    .slice(0, 4000)
    .split(',')
    .flatMap(part => {
      const [type = '', ...parameters] = part.split(';').map(piece => piece.trim().toLowerCase())
      if (!/^[^\s/]+\/[^\s/]+$/.test(type) && type !== '*') return []
      const quality = parameters.find(parameter => parameter.startsWith('q='))?.slice(2)
      const value = quality === undefined ? 1 : Number(quality)
      const precision = type === '*' || type === '*/*' ? 0 : type.endsWith('/*') ? 1 : 2
      return [{ type, quality: value >= 0 && value <= 1 ? value : 0, precision }]
    })
  return ranges.length === 0 ? [{ type: '*/*', quality: 1, precision: 0 }] : ranges
}

function qualityOf(representation: Representation, ranges: readonly Range[]): number {
  let chosen: Range | null = null
  for (const range of ranges) {
    if (!covers(range, representation)) continue
    if (chosen === null || range.precision > chosen.precision) chosen = range
  }
  return (chosen?.quality ?? 0) * (representation.weight ?? 1)
}

function covers(range: Range, representation: Representation): boolean {
  if (range.precision === 2) return range.type === representation.type
  if (representation.explicit === true) return false
  return range.precision === 0 || representation.type.startsWith(range.type.slice(0, -1))
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
  for (const range of split((accept ?? '').slice(0, 4000), ',')) {
    const [type = '', ...parameters] = split(range, ';').map(part => part.trim())
    if (type.toLowerCase() !== JSONLD_TYPE) continue
    const quality = Number(parameterOf(parameters, 'q') ?? 1)
    if (!(quality > 0) || (best !== null && quality <= best.quality)) continue
    best = { form: formOf(parameterOf(parameters, 'profile')), quality }
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

/** The value of a parameter, without quotes. */
function parameterOf(parameters: readonly string[], name: string): string | undefined {
  const found = parameters.find(parameter => parameter.toLowerCase().startsWith(`${name}=`))
  return found?.slice(name.length + 1).replace(/^"(.*)"$/s, '$1')
}

/** The parts of a header between separators outside of quoted strings (RFC 9110, section 5.6.4). */
function split(text: string, separator: string): readonly string[] {
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
