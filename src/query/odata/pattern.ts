/** Characters that a regular expression may have. */
const MAX_PATTERN = 200

/** A count such as {2,5}: more repetitions than this would grow the automaton of the store beyond reason. */
const MAX_REPEATS = 100

/** What keeps a regular expression from being served. */
export interface PatternFlaw {
  /** False for a text that is no regular expression at all. */
  readonly isValid: boolean
  /** What it has, or, where it is none, what is wrong with it. */
  readonly reason: string
}

/**
 * Why a text is no regular expression that XPath and the store both take (URL Conventions 5.1.1.7.1); null where it
 * is one. References and look-around are none: the store tests in linear time.
 */
export function patternFlaw(text: string): PatternFlaw | null {
  if (text.length > MAX_PATTERN) return unserved(`more than ${MAX_PATTERN} characters`)
  if (!compiles(text)) return { isValid: false, reason: 'cannot be read' }
  if (/\\[1-9]/.test(text)) return unserved('references to groups')
  if (/\(\?(?!:)/.test(text.replace(/\\./gs, ''))) return unserved('groups with ? other than (?:…)')
  if (/\\[^nrtdDwWsSpP\\|.?*+(){}\-[\]^$/#&~"'`,:;<=>@!% ]/.test(text.replace(/\\\\/g, '')))
    return unserved('an escape that not all engines have')
  for (const [, low = '0', high] of text.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    if (Number(low) > MAX_REPEATS || Number(high ?? 0) > MAX_REPEATS)
      return unserved(`a count beyond ${MAX_REPEATS}`)
  if (/[[\]]&&|\[[^\]]*\[|--|~~/.test(text.replace(/\\./gs, ''))) return unserved('operations on classes')
  return null
}

function unserved(reason: string): PatternFlaw {
  return { isValid: true, reason }
}

function compiles(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp
  } catch {
    return false
  }
}
