/** The content codings that answers are sent in, in the order of the house where a client likes them alike. */
export const CODINGS = ['gzip', 'br'] as const

export type Coding = (typeof CODINGS)[number]

/** The coding that an Accept-Encoding header likes best (RFC 9110, section 12.5.3); null for none. */
export function preferredCoding(acceptEncoding: string | undefined): Coding | null {
  if (acceptEncoding === undefined) return null
  let best: Coding | null = null
  let max = qualityOf('identity', acceptEncoding, 0)
  for (const coding of CODINGS) {
    const quality = qualityOf(coding, acceptEncoding, 0)
    if (quality > 0 && (best === null ? quality >= max : quality > max)) {
      best = coding
      max = quality
    }
  }
  return best
}

/** True where an answer in this coding can be read; without the header any can. */
export function acceptsCoding(acceptEncoding: string | undefined, coding: Coding): boolean {
  return acceptEncoding === undefined || qualityOf(coding, acceptEncoding, 0) > 0
}

function qualityOf(coding: string, acceptEncoding: string, unnamed: number): number {
  let quality = unnamed
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map(piece => piece.trim())
    if (name !== coding && name !== '*') continue
    const text = parameters.find(parameter => parameter.startsWith('q='))?.slice(2)
    const value = text === undefined ? 1 : Number(text)
    const known = value >= 0 && value <= 1 ? value : 0
    if (name === coding) return known
    if (coding !== 'identity') quality = known
  }
  return quality
}
