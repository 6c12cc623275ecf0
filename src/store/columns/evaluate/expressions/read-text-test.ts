import { XSD } from '../../../../rdf/vocab.ts'
import type { AlgebraExpression } from '../../../../sparql/algebra.ts'
import type { Evaluation } from '../evaluation.ts'
import { regexOf } from '../functions/builtins.ts'
import { readLengthTest } from './text-prefixes.ts'

/** A test of texts for a substring. */
export interface TextTest {
  readonly part: Buffer
  readonly anchor: TextAnchor | 'whole'
  /** ASCII letters are compared ignoring case. */
  readonly folded: boolean
  /** Texts with other characters that may become ASCII letters in another case: they are tested individually. */
  readonly unsure: 'none' | 'some' | 'beyond ASCII'
  /** True where the condition is equivalent to containing the substring; else a text that contains it is tested individually. */
  readonly exact: boolean
  /** True where the test applies to the text of any term (STR), not only to literals of text. */
  readonly ofTerms: boolean
}

const ANCHORS: ReadonlyMap<string, TextAnchor> = new Map([
  ['CONTAINS', 'anywhere'],
  ['STRSTARTS', 'start'],
  ['STRENDS', 'end'],
])

/** True for a test whether texts contain a substring, match a regular expression, or have some number of characters. */
export function isByteTest(expression: AlgebraExpression): boolean {
  if (readLengthTest(expression) !== null || readEquality(expression) !== null) return true
  if (expression.type !== 'builtin') return false
  const [operand, argument] = expression.arguments
  const isTest = ANCHORS.has(expression.name) || expression.name === 'REGEX'
  return isTest && operand !== undefined && readText(operand) !== null && argument?.type === 'literal'
}

/** Parses a condition as a test of the text of a variable; null for any other. */
export function readTextTest(expression: AlgebraExpression, evaluation: Evaluation): TextTest | null {
  const equality = readEquality(expression)
  if (equality !== null) {
    const test = partTest(equality.text, equality.value, 'whole')
    // A text keeps its language in another case, and equals no constant without one.
    return test === null || equality.text.ofTerms ? test : { ...test, exact: false }
  }
  if (expression.type !== 'builtin') return null
  const [operand, argument, flags] = expression.arguments
  const text = operand === undefined ? null : readText(operand)
  const value = argument === undefined ? null : plainText(argument)
  if (text === null || value === null) return null
  const anchor = ANCHORS.get(expression.name)
  if (anchor !== undefined) return partTest(text, value, anchor)
  if (expression.name !== 'REGEX' || text.letters !== 'any') return null
  const modes = flags === undefined ? '' : plainText(flags)
  if (modes === null || regexOf(value, modes, evaluation) === null) return null
  const required = requiredText(value, modes)
  if (required === null) return null
  const { text: part, folded } = required
  const { ofTerms } = text
  return { ...required, part: Buffer.from(part), unsure: folded ? 'some' : 'none', ofTerms }
}

/** The text that is compared with a constant: `STR(?x) = "…"`, also in upper or lower case, or `LCASE(?x) = "…"`. */
function readEquality(
  expression: AlgebraExpression,
): { readonly text: TermText; readonly value: string } | null {
  if (expression.type !== 'binary' || expression.operator !== '=') return null
  const { left, right } = expression
  const [operand, constant] = plainText(right) === null ? [right, left] : [left, right]
  const [text, value] = [readText(operand), plainText(constant)]
  const isText = text !== null && (text.ofTerms || text.letters !== 'any')
  return isText && value !== null ? { text, value } : null
}

/** A test for a substring, in the case that a function gives the text. */
function partTest(
  { letters, ofTerms }: TermText,
  value: string,
  anchor: TextTest['anchor'],
): TextTest | null {
  if (letters === 'any')
    return { part: Buffer.from(value), anchor, folded: false, unsure: 'none', exact: true, ofTerms }
  // Letters of another case never occur in the results of the function.
  const isReachable = (letters === 'lower' ? value.toLowerCase() : value.toUpperCase()) === value
  const required = isReachable ? foldedText(value, anchor === 'whole' ? 'anywhere' : anchor, true) : null
  if (required === null) return null
  const unsure = letters === 'lower' ? 'some' : 'beyond ASCII'
  // The ASCII run of a text with other characters occurs somewhere in it.
  const own = required.exact ? anchor : required.anchor
  return { ...required, anchor: own, part: Buffer.from(required.text), unsure, ofTerms }
}

/** The text of a variable: of any term or only of literals of text, and the case of its letters. */
interface TermText {
  readonly letters: 'any' | 'lower' | 'upper'
  readonly ofTerms: boolean
}

/** A variable, or its text, unchanged or in upper or lower case. */
function readText(expression: AlgebraExpression): TermText | null {
  if (expression.type === 'variable') return { letters: 'any', ofTerms: false }
  if (expression.type !== 'builtin') return null
  const [operand] = expression.arguments
  const inner = operand === undefined ? null : readText(operand)
  if (inner === null || inner.letters !== 'any') return null
  const { ofTerms } = inner
  if (expression.name === 'STR') return { letters: 'any', ofTerms: true }
  if (expression.name === 'LCASE') return { letters: 'lower', ofTerms }
  return expression.name === 'UCASE' ? { letters: 'upper', ofTerms } : null
}

/** The text of a constant without a language. */
function plainText(expression: AlgebraExpression): string | null {
  return expression.type === 'literal' && expression.datatype === XSD.string ? expression.value : null
}

/** The bytes of a substring with both cases of each ASCII letter, where the test ignores case. */
export function bothCases({ part, folded }: TextTest): readonly [lower: Uint8Array, upper: Uint8Array] {
  if (!folded) return [part, part]
  return [part, part.map(byte => (byte >= 97 && byte <= 122 ? byte - 32 : byte))]
}

/** Where in a text a part of it must occur. */
export type TextAnchor = 'anywhere' | 'start' | 'end'

/** A substring of every text that a regular expression matches. */
interface RequiredText {
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
function requiredText(pattern: string, flags: string): RequiredText | null {
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
function foldedText(text: string, anchor: TextAnchor, exact: boolean): RequiredText | null {
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
