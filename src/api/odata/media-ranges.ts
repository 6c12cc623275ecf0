/** A media type or range with its parameters (RFC 9110, section 12.5.1), in lower case. */
export interface MediaRange {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  /** 0 to 1; 0 refuses it. */
  readonly quality: number
}

/** Maximum length of an Accept header, and maximum number of its media ranges, that are parsed. */
const MAX_LENGTH = 4000
const MAX_RANGES = 50

/** The media ranges of an Accept header; malformed ones are ignored, and if none is left everything is accepted. */
export function parseRanges(accept: string): readonly MediaRange[] {
  const parts = accept.slice(0, MAX_LENGTH).split(',').slice(0, MAX_RANGES)
  const ranges = parts.flatMap(part => mediaRangeOf(part) ?? [])
  return ranges.length === 0 && accept.trim() === ''
    ? [{ type: '*/*', parameters: new Map(), quality: 1 }]
    : ranges
}

/** One media type or range; null if the text is none. */
export function mediaRangeOf(text: string): MediaRange | null {
  const [written = '', ...pieces] = text.split(';').map(piece => piece.trim().toLowerCase())
  const type = written === '*' ? '*/*' : written
  if (!/^[^\s/]+\/[^\s/]+$/.test(type)) return null
  const parameters = new Map<string, string>()
  let quality = 1
  for (const piece of pieces) {
    if (piece === '') continue
    const at = piece.indexOf('=')
    const name = (at < 0 ? piece : piece.slice(0, at)).trim()
    const value = at < 0 ? '' : piece.slice(at + 1).trim()
    if (name === 'q') quality = qualityOf(value)
    else parameters.set(name, value.replace(/^"(.*)"$/, '$1'))
  }
  return { type, parameters, quality }
}

function qualityOf(text: string): number {
  const value = Number(text)
  return text !== '' && value >= 0 && value <= 1 ? value : 0
}
