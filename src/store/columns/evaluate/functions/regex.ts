import { RE2JS } from 're2js'

/** What a regular expression of XPath can do with a text. */
export interface Regex {
  test(text: string): boolean
  /** Null where the expression matches the empty text, which is an error. */
  replace(text: string, replacement: string): string | null
}

/** Longest expression that is compiled. */
const MAX_LENGTH = 1000

/** Repetitions of a counted quantifier; their product over nested ones is what a program grows by. */
const MAX_REPEATS = 1000

/**
 * Compiles a regular expression (XPath and XQuery Functions 3.1, section 5.6); null where it is none. Expressions come from
 * strangers, so that only those that cannot backtrack for long are matched by the engine of JavaScript; RE2, whose time is
 * linear, matches all others.
 */
export function compileRegex(pattern: string, flags: string): Regex | null {
  if (pattern.length > MAX_LENGTH || !/^[smixq]*$/.test(flags)) return null
  const source = flags.includes('q')
    ? pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    : readable(pattern, flags)
  if (countsTooMuch(source)) return null
  try {
    return isSimple(source) ? nativeRegex(source, flags) : linearRegex(source, flags)
  } catch {
    return null
  }
}

/** Flag x: white space outside of classes means nothing. */
function readable(pattern: string, flags: string): string {
  if (!flags.includes('x')) return pattern
  let [plain, inClass] = ['', false]
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] as string
    if (character === '\\') plain += character + (pattern[++at] ?? '')
    else {
      if (character === '[') inClass = true
      if (character === ']') inClass = false
      if (inClass || !/\s/.test(character)) plain += character
    }
  }
  return plain
}

function countsTooMuch(source: string): boolean {
  for (const [, from, to] of source.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    if (Number(from) > MAX_REPEATS || Number(to ?? 0) > MAX_REPEATS) return true
  return false
}

/** True for an expression of letters, digits, blanks and simple classes with one quantifier at most, and anchors. */
function isSimple(source: string): boolean {
  return /^\^?(?:[\p{L}\p{N} _'",:;/@#%&~=!<>-]|\\[.*+?^$()[\]{}|\\-]|\.(?![*+?{]))*(?:\.[*+](?:[\p{L}\p{N} _-]|\\\.)*)?\$?$/u.test(
    source,
  )
}

function nativeRegex(source: string, flags: string): Regex {
  const modes = `u${flags.includes('i') ? 'i' : ''}${flags.includes('s') ? 's' : ''}${flags.includes('m') ? 'm' : ''}`
  const escaped = source.replace(/\\-/g, '-')
  const tester = new RegExp(escaped, modes)
  const all = new RegExp(escaped, `${modes}g`)
  return {
    test: text => tester.test(text),
    replace: (text, replacement) => (tester.test('') ? null : text.replace(all, replacementOf(replacement))),
  }
}

function linearRegex(source: string, flags: string): Regex {
  let modes = 0
  if (flags.includes('i')) modes |= RE2JS.CASE_INSENSITIVE
  if (flags.includes('s')) modes |= RE2JS.DOTALL
  if (flags.includes('m')) modes |= RE2JS.MULTILINE
  const compiled = RE2JS.compile(
    source.replace(/\\i/g, '[\\p{L}_:]').replace(/\\c/g, '[\\p{L}\\p{N}_:.-]'),
    modes,
  )
  return {
    test: text => compiled.matcher(text).find(),
    replace: (text, replacement) =>
      compiled.matcher('').find()
        ? null
        : compiled.matcher(text).replaceAll(replacement.replace(/\\\\/g, '\\\\')),
  }
}

/** The replacement of XPath in the form of JavaScript: `$1` are groups, `\$` and `\\` themselves. */
function replacementOf(replacement: string): string {
  return replacement.replace(/\\([\\$])|\$(\d)|\$/g, (_, escaped?: string, group?: string) => {
    if (escaped === '$') return '$$'
    if (escaped !== undefined) return escaped
    return group === undefined ? '$$' : group === '0' ? '$&' : `$${group}`
  })
}
