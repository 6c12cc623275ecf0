/** The forms of a JSON-LD document that a client may request (JSON-LD 1.1, sections 5 and 6.2, "IANA considerations"). */
export const JSONLD_FORMS = ['compacted', 'expanded', 'flattened'] as const

export type JsonldForm = (typeof JSONLD_FORMS)[number]

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
