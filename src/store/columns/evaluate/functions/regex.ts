import { RE2JS } from 're2js'
import { checkTextLength } from '../limits.ts'
import { translatedEscapes } from './regex-escapes.ts'

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
  const escaped = source.replace(/\\-/g, '-')
  const tester = new RegExp(escaped, modes)
  const all = new RegExp(escaped, `${modes}g`)
  const groups = (new RegExp(`${escaped}|`, modes).exec('')?.length ?? 1) - 1
  return {
    test: text => tester.test(text),
    replace: (text, replacement, check) => {
      const parts = replacementParts(replacement, groups, flags)
      if (parts === null || tester.test('')) return null
      const joined = new Replaced(text, parts, check)
      for (const match of text.matchAll(all))
        joined.add(match.index, match.index + match[0].length, group => match[group] ?? '')
      return joined.end()
    },
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
    replace: (text, replacement, check) => {
      const parts = replacementParts(replacement, compiled.groupCount(), flags)
      if (parts === null || compiled.matcher('').find()) return null
      const joined = new Replaced(text, parts, check)
      const matcher = compiled.matcher(text)
      while (matcher.find()) joined.add(matcher.start(), matcher.end(), group => matcher.group(group) ?? '')
      return joined.end()
    },
  }
}

const MATCHES_BETWEEN_CHECKS = 4096

/** Builds a text in which matches are replaced one after another. */
class Replaced {
  private readonly text: string
  private readonly parts: readonly (string | number)[]
  private readonly check: Check | undefined
  private output = ''
  private done = 0
  private matches = 0

  constructor(text: string, parts: readonly (string | number)[], check: Check | undefined) {
    this.text = text
    this.parts = parts
    this.check = check
  }

  /** Replaces the match from one position to another. */
  add(from: number, to: number, groupOf: (group: number) => string): void {
    this.output += this.text.slice(this.done, from)
    for (const part of this.parts) this.output += typeof part === 'string' ? part : groupOf(part)
    this.done = to
    checkTextLength(this.output.length)
    if (++this.matches % MATCHES_BETWEEN_CHECKS === 0) this.check?.()
  }

  end(): string {
    return this.output + this.text.slice(this.done)
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
