import { XSD } from '../../../rdf/vocab.ts'
import type { AlgebraExpression } from '../../../sparql/algebra.ts'
import type { Evaluation } from './evaluation.ts'
import { regexOf } from './functions/builtins.ts'
import { foldedText, requiredText, type TextAnchor } from './functions/required-text.ts'
import { readLengthTest } from './text-lengths.ts'

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
  if (equality !== null) return partTest(equality.text, equality.value, 'whole')
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

/** The text of a term that is compared with a constant: `STR(?x) = "…"`, also in upper or lower case. */
function readEquality(
  expression: AlgebraExpression,
): { readonly text: TermText; readonly value: string } | null {
  if (expression.type !== 'binary' || expression.operator !== '=') return null
  const { left, right } = expression
  const [operand, constant] = plainText(right) === null ? [right, left] : [left, right]
  const [text, value] = [readText(operand), plainText(constant)]
  return text?.ofTerms === true && value !== null ? { text, value } : null
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
