/** What may be an integer that a number does not hold: beyond 15 digits some are rounded. */
const LONG = /\d{16}/

/** A long integer that is no part of another number. */
const LONG_INTEGERS = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g

const MARK = '\0integer:'
const MARKED = /^\0integer:-?\d+$/

/** Reads JSON text as JSON.parse does, but for integers that a number would round: they become bigints. */
export function parseExactly(text: string): unknown {
  if (!LONG.test(text)) return JSON.parse(text) as unknown
  return JSON.parse(marked(text), (_, value: unknown) =>
    typeof value === 'string' && MARKED.test(value) ? BigInt(value.slice(MARK.length)) : value,
  ) as unknown
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
