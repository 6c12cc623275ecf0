import { RE2JS } from 're2js'
import { lookup } from '../../../../model/lookup.ts'
import { checkTextLength } from '../evaluation-limits.ts'

/** A compiled regular expression of XPath. */
export interface Regex {
  test(text: string): boolean
  /** Null where the expression matches the empty text, where the replacement is invalid, and for a text that grows too long. */
  replace(text: string, replacement: string, check?: Check): string | null
}

/** Called regularly during long work; throws where it must stop. */
type Check = () => void

/** Maximum length of an expression. */
const MAX_LENGTH = 1000

/** Maximum repetitions of a counted quantifier, and their maximum product over nested quantifiers, by which a program grows. */
const MAX_REPEATS = 1000

/**
 * Compiles a regular expression (XPath and XQuery Functions 3.1, section 5.6); null where it is invalid. Expressions come from
 * untrusted clients, so JavaScript's engine only matches those that cannot backtrack for long; RE2 matches all others in linear
 * time.
 *
 * @param dialect the meaning of escapes and of `.`: that of XPath, or that of RE2
 */
export function compileRegex(
  pattern: string,
  flags: string,
  dialect: 'xpath' | 're2' = 'xpath',
): Regex | null {
  if (pattern.length > MAX_LENGTH || !/^[smixq]*$/.test(flags)) return null
  const source = flags.includes('q')
    ? pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    : readable(pattern, flags)
  if (countsTooMuch(source)) return null
  const written = dialect === 're2' ? source : translatedEscapes(source, flags)
  if (written === null) return null
  try {
    // Lines end at more characters in JavaScript.
    const unbounded = flags.includes('m') ? null : unboundedParts(source)
    if (unbounded === null) return linearRegex(written, flags)
    const native = nativeRegex(written, flags)
    return unbounded === 0 ? native : forLength(native, () => linearRegex(written, flags))
  } catch {
    return null
  }
}

/** Flag x: white space outside of classes is ignored. */
function readable(pattern: string, flags: string): string {
  if (!flags.includes('x')) return pattern
  let [plain, inClass] = ['', false]
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] as string
    if (character === '\\') plain += character + (pattern[++at] ?? '')
    else {
      if (character === '[') inClass = true
      if (character === ']') inClass = false
      if (inClass || !/[ \t\n\r]/.test(character)) plain += character
    }
  }
  return plain
}

function countsTooMuch(source: string): boolean {
  for (const [, from, to] of source.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    if (Number(from) > MAX_REPEATS || Number(to ?? 0) > MAX_REPEATS) return true
  return false
}

/** A character, any character, or a class of characters and ranges: constructs with the same meaning in every engine. */
const ONE = String.raw`(?:[\p{L}\p{N} _'",:;/@#%&~=!<>-]|\\[.*+?^$()[\]{}|\\-]|\.|\[\^?(?:[\p{L}\p{N}]-[\p{L}\p{N}]|[\p{L}\p{N} _'",:;/@#%&~=!<>.])+\])`
const PART = new RegExp(
  String.raw`(?:${ONE}(?<quantifier>\{\d{1,2}\}|[?*+])?|\((?<group>${ONE}*(?:\|${ONE}*)+|${ONE}+)\))(?![?*+{])`,
  'uy',
)

/** Maximum number of ways to match from one position of a text, and the maximum in addition to an unbounded quantifier. */
const MAX_WAYS = 64
const MAX_WAYS_BESIDE = 4

/** Maximum length of a text in which an unbounded quantifier is matched by backtracking, which may read the rest from each position. */
const MAX_BACKTRACKED = 500

/** An expression with an unbounded quantifier, which the second one matches in long texts. */
function forLength(native: Regex, linear: () => Regex): Regex {
  let made: Regex | null = null
  const of = ({ length }: string): Regex => {
    if (length <= MAX_BACKTRACKED) return native
    made ??= linear()
    return made
  }
  return {
    test: text => of(text).test(text),
    replace: (text, ...others) => of(text).replace(text, ...others),
  }
}

/**
 * The number of unbounded quantifiers, 0 or 1, of an expression of characters and classes, with alternatives and optional parts
 * that have few combinations, and anchors around the whole: backtracking costs little there. Null for any other.
 */
function unboundedParts(source: string): number | null {
  let [ways, endless] = [1, 0]
  // Alternatives outside of parentheses are only split where none of these characters occurs.
  const alternatives = /[()[\\]/.test(source) ? [source] : source.split('|')
  ways *= alternatives.length
  for (const alternative of alternatives) {
    const inner = alternative.replace(/^\^/, '').replace(/(?<!\\)\$$/, '')
    PART.lastIndex = 0
    while (PART.lastIndex < inner.length) {
      const part = PART.exec(inner)
      if (part === null) return null
      const { quantifier, group = '' } = part.groups as { quantifier?: string; group?: string }
      if (quantifier === '*' || quantifier === '+') endless += 1
      if (quantifier === '?') ways *= 2
      ways *= group.split('|').length
    }
  }
  return endless <= 1 && ways <= (endless === 0 ? MAX_WAYS : MAX_WAYS_BESIDE) ? endless : null
}

function nativeRegex(source: string, flags: string): Regex {
  const modes = `u${flags.includes('i') ? 'i' : ''}${flags.includes('s') ? 's' : ''}`
  const escaped = source.replace(/\\(.)/gsu, (found, letter) => (letter === '-' ? '-' : found))
  const tester = new RegExp(escaped, modes)
  const all = new RegExp(escaped, `${modes}g`)
  const groups = (new RegExp(`${escaped}|`, modes).exec('')?.length ?? 1) - 1
  return {
    test: text => tester.test(text),
    replace: replacing(groups, flags, tester.test(''), (text, add) => {
      for (const match of text.matchAll(all))
        add(match.index, match.index + match[0].length, group => match[group] ?? '')
    }),
  }
}

function linearRegex(source: string, flags: string): Regex {
  let modes = 0
  if (flags.includes('i')) modes |= RE2JS.CASE_INSENSITIVE
  if (flags.includes('s')) modes |= RE2JS.DOTALL
  if (flags.includes('m')) modes |= RE2JS.MULTILINE
  const compiled = RE2JS.compile(source, modes)
  return {
    test: text => compiled.matcher(text).find(),
    replace: replacing(compiled.groupCount(), flags, compiled.matcher('').find(), (text, add) => {
      const matcher = compiled.matcher(text)
      while (matcher.find()) add(matcher.start(), matcher.end(), group => matcher.group(group) ?? '')
    }),
  }
}

const MATCHES_BETWEEN_CHECKS = 4096

type AddMatch = (from: number, to: number, groupOf: (group: number) => string) => void

/** Replaces matches one after another. @param forEachMatch calls back for the bounds and the groups of each match in a text */
function replacing(
  groups: number,
  flags: string,
  matchesEmpty: boolean,
  forEachMatch: (text: string, add: AddMatch) => void,
): Regex['replace'] {
  return (text, replacement, check) => {
    const parts = matchesEmpty ? null : replacementParts(replacement, groups, flags)
    if (parts === null) return null
    let [output, done, matches] = ['', 0, 0]
    forEachMatch(text, (from, to, groupOf) => {
      output += text.slice(done, from)
      for (const part of parts) output += typeof part === 'string' ? part : groupOf(part)
      done = to
      checkTextLength(output.length)
      if (++matches % MATCHES_BETWEEN_CHECKS === 0) check?.()
    })
    return output + text.slice(done)
  }
}

/**
 * The parts of a replacement: texts, and numbers of groups (XPath and XQuery Functions 3.1, section 5.6.4). Digits belong to a
 * group number as long as there is such a group; a single digit without a group is replaced by nothing. With flag q the text
 * stands for itself. Null where it is invalid.
 */
function replacementParts(
  replacement: string,
  groups: number,
  flags: string,
): readonly (string | number)[] | null {
  if (flags.includes('q')) return [replacement]
  const parts: (string | number)[] = []
  for (let at = 0; at < replacement.length; ) {
    const [found, escaped, digits] = /^(?:\\([\\$])|\$(\d+)|[^\\$]+)/.exec(replacement.slice(at)) ?? []
    if (found === undefined) return null
    if (escaped !== undefined) parts.push(escaped)
    else if (digits === undefined) parts.push(found)
    else {
      let [group, length] = [Number(digits[0]), 1]
      for (; length < digits.length; length++) {
        const longer = 10 * group + Number(digits[length])
        if (longer > groups) break
        group = longer
      }
      if (group <= groups) parts.push(group)
      at += 1 + length
      continue
    }
    at += found.length
  }
  return parts
}

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
const QUANTITY = /^\{\d+(?:,\d*)?\}/

/**
 * Writes an expression of XPath for the engines, whose `.`, `\d`, `\w` and `\s` are others (XPath and XQuery Functions 3.1,
 * section 5.6.1); null for an escape that XPath does not have, such as `\b`, and for operations on classes.
 */
function translatedEscapes(pattern: string, flags: string): string | null {
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
      // A brace that begins no quantifier is itself in RE2 and invalid in XPath.
      if (character === '{' && !QUANTITY.test(pattern.slice(at, at + 40))) return null
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
