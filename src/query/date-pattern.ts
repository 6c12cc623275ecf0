/** The letters of a date pattern (ODSQL 5.5). */
const PATTERN_LETTERS = 'GCYxweEyDMdaKhHkmsSzZ'

/** A part of a date pattern: literal text, or a symbol with the number of repetitions of its letter. */
export type DatePatternPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'symbol'; readonly letter: string; readonly count: number }

/**
 * Parses a date pattern as Joda-Time does: letters are symbols, a quoted stretch is text, two quotes are one quote. Returns the
 * position of a letter that is no symbol; an unclosed stretch extends to the end.
 */
export function parsePattern(
  text: string,
): readonly DatePatternPart[] | { readonly unknown: string; readonly at: number } {
  const parts: DatePatternPart[] = []
  const add = (piece: string) => {
    const last = parts.at(-1)
    if (last?.type === 'text') parts[parts.length - 1] = { type: 'text', text: last.text + piece }
    else parts.push({ type: 'text', text: piece })
  }
  let at = 0
  while (at < text.length) {
    const rest = text.slice(at)
    const symbol = /^([A-Za-z])\1*/.exec(rest)
    const quoted = /^'((?:[^']|'')+)(?:'|$)/.exec(rest)
    if (symbol !== null) {
      const letter = symbol[1] ?? ''
      if (!PATTERN_LETTERS.includes(letter)) return { unknown: letter, at }
      parts.push({ type: 'symbol', letter, count: symbol[0].length })
      at += symbol[0].length
    } else if (rest.startsWith("''")) {
      add("'")
      at += 2
    } else if (quoted !== null) {
      add((quoted[1] ?? '').replaceAll("''", "'"))
      at += quoted[0].length
    } else {
      if (rest[0] !== "'") add(rest[0] ?? '')
      at += 1
    }
  }
  return parts
}
