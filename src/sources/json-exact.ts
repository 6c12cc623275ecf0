/** Digits of what may be an integer that a number does not hold: beyond 15 some are rounded. */
const LONG = 16

/** A long integer that is no part of another number. */
const LONG_INTEGERS = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g

const MARK = '\0integer:'
const MARKED = /^\0integer:-?\d+$/

/** Reads JSON text as JSON.parse does, but for integers that a number would round: they become bigints. */
export function parseExactly(text: string): unknown {
  if (!hasLong(text)) return JSON.parse(text) as unknown
  return JSON.parse(marked(text), (_, value: unknown) =>
    typeof value === 'string' && MARKED.test(value) ? BigInt(value.slice(MARK.length)) : value,
  ) as unknown
}

/** True where so many digits stand together; one of them then stands where only every so manieth character is looked at. */
function hasLong(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isDigit(text, at)) continue
    let from = at
    let to = at + 1
    while (isDigit(text, from - 1)) from--
    while (to - from < LONG && isDigit(text, to)) to++
    if (to - from >= LONG) return true
  }
  return false
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0x30 && code <= 0x39
}

/** The text with strings in the place of such integers; what is within strings stays. */
function marked(text: string): string {
  const parts: string[] = []
  let at = 0
  while (at < text.length) {
    const quote = text.indexOf('"', at)
    const outside = text.slice(at, quote < 0 ? text.length : quote)
    parts.push(outside.replace(LONG_INTEGERS, markInteger))
    if (quote < 0) break
    at = stringEnd(text, quote)
    parts.push(text.slice(quote, at))
  }
  return parts.join('')
}

function markInteger(digits: string): string {
  return Number.isSafeInteger(Number(digits)) ? digits : JSON.stringify(MARK + digits)
}

/** Index behind the string that begins at a quote. */
function stringEnd(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return at + 1
    if (code === 0x5c) at++
  }
  return text.length
}
