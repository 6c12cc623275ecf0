/** Characters that a regular expression may have. */
const MOST_PATTERN = 200

/** A count such as {2,5}: more repetitions than this would grow the automaton of the store beyond reason. */
const MOST_REPEATS = 100

/**
 * Why a text is no regular expression that XPath and the store both take (URL Conventions 5.1.1.7.1); null where it
 * is one. References and look-around are none: the store tests in linear time.
 */
export function patternFlaw(text: string): string | null {
  if (text.length > MOST_PATTERN) return `a regular expression has at most ${MOST_PATTERN} characters`
  if (/\\[1-9]/.test(text)) return 'references to groups are not supported'
  if (/\(\?(?!:)/.test(text.replace(/\\./gs, ''))) return 'groups with ? are not supported, but for (?:…)'
  if (/\\[^nrtdDwWsSpP\\|.?*+(){}\-[\]^$/#&~"'`,:;<=>@!% ]/.test(text.replace(/\\\\/g, '')))
    return 'an escape that is unknown'
  for (const [, low = '0', high] of text.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    if (Number(low) > MOST_REPEATS || Number(high ?? 0) > MOST_REPEATS)
      return `a count is at most ${MOST_REPEATS}`
  if (/[[\]]&&|\[[^\]]*\[|--|~~/.test(text.replace(/\\./gs, '')))
    return 'operations on classes are not supported'
  return compiles(text) ? null : 'it cannot be read'
}

function compiles(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp
  } catch {
    return false
  }
}
