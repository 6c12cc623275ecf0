import { lookup } from '../../../../model/lookup.ts'

/** The members of a class as RE2 writes them within brackets; null for a class that cannot be written so. */
type Members = string | null

/** XML 1.0, productions 4 and 4a: characters that may begin a name, and those that may also occur in one. */
const NAME_START = String.raw`:A-Z_a-z\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}\x{200D}\x{2070}-\x{218F}\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}`
const NAME = String.raw`${NAME_START}0-9.\x{B7}\x{300}-\x{36F}\x{203F}\x{2040}\-`

/**
 * The multi-character escapes (XML Schema 1.1, part 2, appendix G.4.2.5). `\w` is every character but punctuation, separators and
 * others: letters, marks, numbers and symbols.
 */
const CLASSES: Readonly<Record<string, Members>> = {
  d: String.raw`\p{Nd}`,
  D: String.raw`\P{Nd}`,
  w: String.raw`\p{L}\p{M}\p{N}\p{S}`,
  W: String.raw`\p{P}\p{Z}\p{C}`,
  s: String.raw` \t\n\r`,
  S: String.raw`\x00-\x08\x{B}\x{C}\x{E}-\x1F!-\x{10FFFF}`,
  i: NAME_START,
  I: null,
  c: NAME,
  C: null,
}

/** Escapes of one character: those of XPath, and any other punctuation. */
const SINGLE = /^(?:[nrt]|[^\p{L}\p{N}\s])$/u
const CATEGORY = /^[pP]\{\w+\}/

/**
 * Writes an expression of XPath for the engines, whose `.`, `\d`, `\w` and `\s` are others (XPath and XQuery Functions 3.1,
 * section 5.6.1); null for an escape that XPath does not have, such as `\b`, and for operations on classes.
 */
export function translatedEscapes(pattern: string, flags: string): string | null {
  const dot = flags.includes('s') ? '.' : String.raw`[^\n\r]`
  let [written, inClass] = ['', false]
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] as string
    if (character === '\\') {
      const found = escapeAt(pattern, at + 1, inClass)
      if (found === null) return null
      written += found.written
      at += found.length
    } else if (inClass) {
      if (character === '[') return null
      inClass = character !== ']'
      written += character
    } else {
      inClass = character === '['
      // A bracket after the first one, or after its negation, is a member in RE2 and invalid in XPath.
      if (inClass && /^\[\^?\]/.test(pattern.slice(at, at + 3))) return null
      written += character === '.' ? dot : character
    }
  }
  return written
}

/** What is written for the escape whose letter is at a place, and its length without the backslash. */
function escapeAt(
  pattern: string,
  at: number,
  inClass: boolean,
): { readonly written: string; readonly length: number } | null {
  const letter = String.fromCodePoint(pattern.codePointAt(at) ?? 0x20)
  const members = lookup(CLASSES, letter)
  if (members === undefined) {
    const category = CATEGORY.exec(pattern.slice(at, at + 40))?.[0]
    if (category === undefined && !SINGLE.test(letter)) return null
    return { written: `\\${category ?? letter}`, length: category?.length ?? letter.length }
  }
  if (inClass) return members === null ? null : { written: members, length: 1 }
  // The complement is exact where that of a class of categories would lack unassigned characters.
  const isComplement = /[DWSIC]/.test(letter)
  const written = isComplement ? `[^${lookup(CLASSES, letter.toLowerCase())}]` : `[${members}]`
  return { written, length: 1 }
}
