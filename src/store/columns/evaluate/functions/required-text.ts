/** Where in a text a part of it must occur. */
export type TextAnchor = 'anywhere' | 'start' | 'end'

/** A substring of every text that a regular expression matches. */
export interface RequiredText {
  readonly text: string
  readonly anchor: TextAnchor
  /** ASCII letters match in both cases; then there are no other letters. In lower case. */
  readonly folded: boolean
  /** True where every text that contains it matches. */
  readonly exact: boolean
}

/** Escapes that denote one character or a class, and do not affect what follows. */
const CLASS_ESCAPE = /^\\(?:[dDsSwWiIcCnrt]|[pP]\{\w+\})/

/**
 * Finds a substring of all texts that a valid regular expression of XPath matches; null where none is found. Alternatives, and
 * parts in parentheses, are ignored.
 */
export function requiredText(pattern: string, flags: string): RequiredText | null {
  if (!/^[isq]*$/.test(flags)) return null
  const folded = flags.includes('i')
  if (flags.includes('q')) return folded ? foldedText(pattern, 'anywhere', true) : plainPart(pattern)
  const runs = literalRuns(pattern)
  if (runs === null) return null
  const { pieces, startsAnchored, endsAnchored } = runs
  const [only, ...others] = pieces
  const anchors = Number(startsAnchored) + Number(endsAnchored)
  if (only?.whole === true && others.length === 0 && anchors < 2) {
    const anchor = startsAnchored ? 'start' : endsAnchored ? 'end' : 'anywhere'
    return folded ? foldedText(only.text, anchor, true) : { text: only.text, anchor, folded, exact: true }
  }
  const [best] = [...pieces].sort((a, b) => b.text.length - a.text.length)
  if (best === undefined) return null
  const first = startsAnchored && best.isFirst ? 'start' : 'anywhere'
  return folded
    ? foldedText(best.text, first, false)
    : { text: best.text, anchor: first, folded, exact: false }
}

function plainPart(text: string): RequiredText | null {
  return text === '' ? null : { text, anchor: 'anywhere', folded: false, exact: true }
}

/** The substring of a text, ignoring case: its longest run of ASCII, because other characters have more than two cases. */
export function foldedText(text: string, anchor: TextAnchor, exact: boolean): RequiredText | null {
  const lower = text.toLowerCase()
  if (/^[\0-\x7f]+$/.test(lower) && /^[\0-\x7f]+$/.test(text))
    return { text: lower, anchor, folded: true, exact }
  const [best] = (text.match(/[\0-\x7f]+/g) ?? []).sort((a, b) => b.length - a.length)
  if (best === undefined) return null
  return { text: best.toLowerCase(), anchor: 'anywhere', folded: true, exact: false }
}

/** A run of characters that an expression requires literally. */
interface LiteralRun {
  readonly text: string
  /** True where only anchors precede it. */
  readonly isFirst: boolean
  /** True where only anchors surround it. */
  readonly whole: boolean
}

function literalRuns(pattern: string): {
  readonly pieces: readonly LiteralRun[]
  readonly startsAnchored: boolean
  readonly endsAnchored: boolean
} | null {
  if (pattern.includes('|') || pattern.includes('(?')) return null
  const startsAnchored = pattern.startsWith('^')
  const endsAnchored = /(?:^|[^\\])(?:\\\\)*\$$/.test(pattern)
  const inner = pattern.slice(startsAnchored ? 1 : 0, endsAnchored ? -1 : undefined)
  const pieces: { text: string; isFirst: boolean }[] = []
  let [run, runStart, depth, at] = ['', 0, 0, 0]
  let isWhole = true
  const end = () => {
    if (run !== '') pieces.push({ text: run, isFirst: runStart === 0 })
    run = ''
  }
  while (at < inner.length) {
    const begun = at
    const rest = inner.slice(at)
    const character = String.fromCodePoint(inner.codePointAt(at) as number)
    let literal: string | null = null
    if (character === '\\') {
      const escaped = CLASS_ESCAPE.exec(rest)
      if (escaped !== null) at += escaped[0].length
      else if (/^\\[^\w\s]/.test(rest)) {
        literal = inner[at + 1] as string
        at += 2
      } else return null
    } else if (character === '[') {
      const length = classLength(rest)
      if (length === null) return null
      at += length
    } else {
      at += character.length
      if (character === '(') depth += 1
      else if (character === ')') depth -= 1
      else if ('^$*+?{'.includes(character)) return null
      else if (!'.}]'.includes(character)) literal = character
    }
    const quantifier = /^(?:[*+?]|\{[\d,]*\})\??/.exec(inner.slice(at))?.[0] ?? ''
    at += quantifier.length
    if (literal === null || quantifier !== '') isWhole = false
    if (literal === null || depth > 0 || (quantifier !== '' && !quantifier.startsWith('+'))) end()
    else {
      if (run === '') runStart = begun
      run += literal
      if (quantifier !== '') end()
    }
  }
  end()
  return { pieces: pieces.map(piece => ({ ...piece, whole: isWhole })), startsAnchored, endsAnchored }
}

/** Length of a class at the beginning; null for a class with another one in it, or with a bracket as a character. */
function classLength(text: string): number | null {
  const found = /^\[\^?(?:[^\][\\]|\\.)+\]/s.exec(text)
  return found === null ? null : found[0].length
}
