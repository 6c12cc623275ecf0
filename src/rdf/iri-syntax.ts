/**
 * The syntax of an IRI (RFC 3987, section 2.2), validated as the store does: the store refuses a whole batch for one bad IRI, so
 * it must be found before.
 */

const UCSCHAR =
  '\\u{A0}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFEF}' +
  Array.from({ length: 14 }, (_, i) => i + 1)
    .map(plane => `\\u{${plane.toString(16)}${plane === 14 ? '1' : '0'}000}-\\u{${plane.toString(16)}FFFD}`)
    .join('')
const PRIVATE = '\\u{E000}-\\u{F8FF}\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}'
const UNRESERVED = `A-Za-z0-9\\-._~${UCSCHAR}`
const NAME = `[${UNRESERVED}!$&'()*+,;=]|%[0-9A-Fa-f]{2}`
const PCHAR = `[${UNRESERVED}!$&'()*+,;=:@]|%[0-9A-Fa-f]{2}`
const H16 = '[0-9A-Fa-f]{1,4}'
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const LS32 = `(?:${H16}:${H16}|(?:${OCTET}\\.){3}${OCTET})`
const IPV6 = [
  `(?:${H16}:){6}${LS32}`,
  `::(?:${H16}:){5}${LS32}`,
  `(?:${H16})?::(?:${H16}:){4}${LS32}`,
  `(?:(?:${H16}:){0,1}${H16})?::(?:${H16}:){3}${LS32}`,
  `(?:(?:${H16}:){0,2}${H16})?::(?:${H16}:){2}${LS32}`,
  `(?:(?:${H16}:){0,3}${H16})?::${H16}:${LS32}`,
  `(?:(?:${H16}:){0,4}${H16})?::${LS32}`,
  `(?:(?:${H16}:){0,5}${H16})?::${H16}`,
  `(?:(?:${H16}:){0,6}${H16})?::`,
].join('|')
const FUTURE = "[vV][0-9A-Fa-f]+\\.[A-Za-z0-9\\-._~!$&'()*+,;=:]+"
const AUTHORITY = `(?:(?:${NAME}|:)*@)?(?:\\[(?:${IPV6}|${FUTURE})\\]|(?:${NAME})*)(?::\\d*)?`
const HIERARCHY = `(?://${AUTHORITY}(?:/(?:${PCHAR}|/)*)?|(?!//)(?:${PCHAR}|/)*)`
const TAIL = `(?:\\?(?:${PCHAR}|[/?${PRIVATE}])*)?(?:#(?:${PCHAR}|[/?])*)?`
const IRI = new RegExp(`^[A-Za-z][A-Za-z0-9+.\\-]*:${HIERARCHY}${TAIL}$`, 'u')

/** The plain web address form of nearly every IRI. */
const COMMON =
  /^https?:\/\/[A-Za-z0-9\-._~]+(?::\d*)?(?:\/[A-Za-z0-9\-._~!$&'()*+,;=:@/]*)?(?:#[A-Za-z0-9\-._~]*)?$/

/** True for an absolute IRI that the store accepts. */
export function isIri(text: string): boolean {
  return COMMON.test(text) || IRI.test(text)
}

const NOT_UNRESERVED = new RegExp(`[^${UNRESERVED}]`, 'gu')
const ASCII_UNRESERVED = /^[A-Za-z0-9\-._~]*$/

/**
 * The IRI-safe form of a value in a template: every character outside iunreserved as the percent-encoded octets of its
 * UTF-8 (R2RML, section 7.3; Mapping 2.2). `a/b Zoë` becomes `a%2Fb%20Zoë`.
 */
export function iriSafe(text: string): string {
  return ASCII_UNRESERVED.test(text) ? text : text.replace(NOT_UNRESERVED, percentEncode)
}

/** The octets of a character's UTF-8, percent-encoded; a lone surrogate as U+FFFD. */
export function percentEncode(character: string): string {
  let encoded = ''
  for (const octet of Buffer.from(character))
    encoded += `%${octet.toString(16).toUpperCase().padStart(2, '0')}`
  return encoded
}

const ESCAPED_RUN = /(?:%[0-9A-Fa-f]{2})+/g
const UNRESERVED_CHARACTER = new RegExp(`[${UNRESERVED}]`, 'u')

/**
 * Normalises the escapes of an IRI: percent-encoded iunreserved characters are decoded, the remaining escapes have upper-case
 * digits (RFC 3987, section 5.3.2).
 */
export function normaliseEscapes(iri: string): string {
  return iri.replace(ESCAPED_RUN, run => {
    const octets = Buffer.from(run.replaceAll('%', ''), 'hex')
    let text = ''
    for (let at = 0; at < octets.length; ) {
      const length = sequenceLength(octets, at)
      const character = length === 0 ? '' : octets.toString('utf8', at, at + length)
      const size = length === 0 ? 1 : length
      text += UNRESERVED_CHARACTER.test(character)
        ? character
        : run.slice(3 * at, 3 * (at + size)).toUpperCase()
      at += size
    }
    return text
  })
}

/** Length of the valid UTF-8 sequence at a position in octets, 0 where there is none. */
function sequenceLength(octets: Buffer, at: number): number {
  const lead = octets[at] ?? 0
  const length =
    lead < 0x80
      ? 1
      : lead >= 0xc2 && lead < 0xe0
        ? 2
        : lead >= 0xe0 && lead < 0xf0
          ? 3
          : lead >= 0xf0 && lead < 0xf5
            ? 4
            : 0
  if (length === 0 || at + length > octets.length) return 0
  const sequence = octets.subarray(at, at + length)
  return Buffer.from(sequence.toString('utf8')).equals(sequence) ? length : 0
}
