import { lookup } from '../../model/lookup.ts'

/** Characters that a regular expression may have. */
const MAX_PATTERN = 200

/** Maximum of a count such as {2,5}: more repetitions would make the store's automaton too large. */
const MAX_REPEATS = 100

/** Why a regular expression is not supported. */
export interface PatternFlaw {
  /** False for a text that is not a regular expression at all. */
  readonly isValid: boolean
  /** The unsupported construct or, for an invalid text, the error. */
  readonly reason: string
}

/**
 * Why a text is not a regular expression that both XPath and the store accept (URL Conventions 5.1.1.7.1); null where it is one.
 * References and look-around are not supported: the store matches in linear time.
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

const CLASSES: Readonly<Record<string, string>> = { d: '0-9', w: 'A-Za-z0-9_' }

/** Writes the digits and word characters of ECMAScript as classes: those of XPath have others beyond ASCII. */
export function explicitClasses(text: string): string {
  let inClass = false
  return text.replace(/\\.|[[\]]/gs, found => {
    if (found.length === 1) {
      inClass = found === '['
      return found
    }
    const members = lookup(CLASSES, found[1]?.toLowerCase() ?? '')
    const isComplement = found === '\\D' || found === '\\W'
    if (members === undefined || (inClass && isComplement)) return found
    return inClass ? members : `[${isComplement ? '^' : ''}${members}]`
  })
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
