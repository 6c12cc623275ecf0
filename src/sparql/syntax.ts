import type { SourceLocation } from '@traqula/core'
import { sparql12ParserBuilder } from '@traqula/parser-sparql-1-2'
import { AstFactory, completeParseContext, findPatternBoundedVars } from '@traqula/rules-sparql-1-2'
import { nearest } from '../model/did-you-mean.ts'
import { AFTER_QUERY, afterClauses, closingWords, tokenWords } from './expected.ts'
import { type SparqlTokens, sparqlTokens, VOCABULARY } from './lexer.ts'
import type { SyntaxNode } from './relative.ts'

/** The first syntax error of a query of SPARQL 1.2. */
export interface SyntaxProblem {
  /** Character offsets of the unexpected text; both are the length of the text where it ends too early. */
  readonly from: number
  readonly to: number
  /** The error, in a sentence: what was found, and what is expected. */
  readonly reason: string
  /** What is expected, in words. */
  readonly expected: readonly string[]
}

/** The first token that the parser cannot read. */
interface Refusal {
  /** Offset of the token; null at the end of the text. */
  readonly at: number | null
  readonly expected: readonly string[]
}

class Refused extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super('not SPARQL')
    this.refusal = refusal
  }
}

const MAX_FOUND = 60
const MAX_EXPECTED = 12

/** Keywords that a misspelt word may have been. */
const KEYWORDS = VOCABULARY.flatMap(({ name, LABEL }) =>
  LABEL !== undefined && /^[A-Za-z_]{2,}$/.test(LABEL) && name !== 'LANG_DIR' ? [LABEL] : [],
).concat('ORDER', 'GROUP', 'NOT')

/** The first syntax error of a query; null where its grammar is right, and for an error without a position. */
export function syntaxProblem(text: string): SyntaxProblem | null {
  const { tokens, unread } = sparqlTokens(text)
  try {
    parse(unread === null ? text : text.slice(0, unread), false)
  } catch (thrown) {
    // Escapes that denote no character are an error of the library without a position.
    if (!(thrown instanceof Refused)) return null
    const { at, expected } = thrown.refusal
    if (isEscapeAfter(text, tokens, at, unread)) return problemAt(text, unread, [], true)
    const words = expected.join() === AFTER_QUERY.join() && at !== null ? wordsAt(tokens, at) : expected
    return problemAt(text, at ?? unread, words, at === null)
  }
  return unread === null ? undeclared(tokens) : problemAt(text, unread, AFTER_QUERY, true)
}

/** True for a token that an escape follows at once, as in `?\u0078`: the escape is the error. */
function isEscapeAfter(
  text: string,
  tokens: SparqlTokens['tokens'],
  at: number | null,
  unread: number | null,
): boolean {
  if (at === null || unread === null || text[unread] !== '\\') return false
  const before = tokens.find(({ startOffset }) => startOffset === at)
  return before !== undefined && at + before.image.length === unread
}

/** What is possible at the token after which a query might have ended. */
function wordsAt(tokens: SparqlTokens['tokens'], at: number): readonly string[] {
  const before = tokens.filter(({ startOffset }) => startOffset < at)
  return afterClauses(before.map(({ tokenType }) => tokenType.name))
}

/** The syntax tree of a query. */
export interface SyntaxTree {
  readonly tree: SyntaxNode
  /** Why it is invalid although its grammar is right; null where it is valid. */
  readonly flaw: Error | null
}

/** Parses a query. Throws where the text is invalid; {@link syntaxProblem} then describes the error. */
export function syntaxTree(text: string): SyntaxTree {
  try {
    return { tree: parse(text, true), flaw: null }
  } catch (error) {
    if (error instanceof Refused || !(error instanceof Error)) throw error
    return { tree: unvalidated(text, error), flaw: error }
  }
}

function unvalidated(text: string, flaw: Error): SyntaxNode {
  try {
    return parse(text, false)
  } catch (error) {
    throw error instanceof Refused ? error : flaw
  }
}

let parser: ReturnType<typeof buildParser> | null = null

/** Creates the nodes of a tree, each with its position: the library cuts names at their second colon, and does not unescape them. */
function nodeFactory(text: string): AstFactory {
  const factory = new AstFactory({ tracksSourceLocation: true })
  const named = (loc: SourceLocation, value: string, prefix?: string) => {
    const node = { type: 'term', subType: 'namedNode', value, loc }
    if (prefix === undefined || loc.sourceLocationType !== 'source') return node
    const local = text.slice(loc.start + prefix.length + 1, loc.end).replace(/\\(.)/g, '$1')
    return { ...node, value: local, prefix }
  }
  factory.termNamed = named as AstFactory['termNamed']
  return factory
}

/** Permits aggregates everywhere, for parsing without validation. */
class LenientParseMode<Mode> extends Set<Mode> {
  override has(mode: Mode): boolean {
    return mode === 'canParseAggregate' || (mode !== 'inAggregate' && super.has(mode))
  }
}

/** Throws {@link Refused}, and other errors: with validation, those about the meaning of a query. */
function parse(text: string, isValidated: boolean): SyntaxNode {
  parser ??= buildParser()
  const context = completeParseContext({ skipValidation: !isValidated, astFactory: nodeFactory(text) })
  const parseMode = isValidated ? context.parseMode : new LenientParseMode(context.parseMode)
  return parser.queryUnit(text, { ...context, parseMode }) as unknown as SyntaxNode
}

/** The variables that are in scope after a group of the tree (SPARQL 1.1 Query, section 18.2.1). */
export function variablesInScope(group: unknown): ReadonlySet<string> {
  const found = new Set<string>()
  findPatternBoundedVars(group as Parameters<typeof findPatternBoundedVars>[0], found)
  return found
}

/** A parser whose error messages are the expected tokens, as JSON. */
function buildParser() {
  return sparql12ParserBuilder.build({
    tokenVocabulary: VOCABULARY,
    // Offsets alone lack the ends of tokens.
    lexerConfig: { positionTracking: 'full' },
    parserConfig: {
      errorMessageProvider: {
        buildMismatchTokenMessage: ({ expected, previous, ruleName }) =>
          JSON.stringify(closingWords(expected, ruleName, previous.tokenType?.name ?? null)),
        buildNoViableAltMessage: ({ expectedPathsPerAlt }) =>
          JSON.stringify(tokenWords(expectedPathsPerAlt.flat().flatMap(path => path.slice(0, 1)))),
        buildEarlyExitMessage: ({ expectedIterationPaths }) =>
          JSON.stringify(tokenWords(expectedIterationPaths.flatMap(path => path.slice(0, 1)))),
        buildNotAllInputParsedMessage: () => JSON.stringify(AFTER_QUERY),
      },
    },
    errorHandler: ([error]) => {
      const at: number | undefined = error?.token.startOffset
      throw new Refused({
        at: at === undefined || Number.isNaN(at) ? null : at,
        expected: JSON.parse(error?.message ?? '[]') as string[],
      })
    },
  })
}

/**
 * @param at null at the end of the text
 * @param isUnread true for a text that is no token at all
 */
function problemAt(
  text: string,
  at: number | null,
  expected: readonly string[],
  isUnread: boolean,
): SyntaxProblem {
  if (at === null) {
    const end = text.trimEnd().length
    return { from: end, to: end, reason: `the query ends but ${listOf(expected)} is expected.`, expected }
  }
  const found = foundAt(text, at)
  const meant = /^[A-Za-z_]{3,}$/.test(found) ? nearest(found, KEYWORDS) : undefined
  // The lexer takes empty brackets as one token.
  if (expected.includes('(') && /^\(\s*\)/.test(text.slice(at, at + 100))) {
    const reason = 'the brackets are empty: an expression is expected between them.'
    return { from: at, to: at + 1, reason, expected }
  }
  const isOther = meant !== undefined && meant.toLowerCase() !== found.toLowerCase()
  const hint = isOther ? ` Did you mean ${meant}?` : ''
  const shown = found.length > MAX_FOUND ? `${found.slice(0, MAX_FOUND)}…` : found
  const flaw = isUnread || found.startsWith('<') ? flawOf(found, shown) : null
  return {
    from: at,
    to: at + found.length,
    reason: flaw ?? `${shown} was found but ${listOf(expected)} is expected.${hint}`,
    expected,
  }
}

/** The first name with a prefix that the query does not declare. */
function undeclared(tokens: SparqlTokens['tokens']): SyntaxProblem | null {
  const isDeclared = (index: number) => tokens[index - 1]?.tokenType.name === 'PrefixDecl'
  const declared = new Set(tokens.flatMap(({ image }, index) => (isDeclared(index) ? [image] : [])))
  for (const [index, { image, tokenType, startOffset }] of tokens.entries()) {
    const prefix = image.slice(0, image.indexOf(':') + 1)
    if (!tokenType.name.startsWith('PName') || isDeclared(index) || declared.has(prefix)) continue
    const reason = `the prefix ${prefix} is not declared: PREFIX ${prefix} <…> is expected before the query.`
    return { from: startOffset, to: startOffset + image.length, reason, expected: [] }
  }
  return null
}

/** Why a string, an IRI or an escape cannot be parsed; null for any other text. */
function flawOf(found: string, shown: string): string | null {
  if (found === '\\')
    return 'an escape is expected in strings and IRIs alone: the character itself is expected here.'
  if (/^<.*>$/s.test(found)) return `${shown} is no IRI: it has characters that no IRI has.`
  if (isOpenString(found)) return `the string is never closed: ${found[0]} is expected.`
  return /^["']/.test(found)
    ? `${shown} is no string: a backslash is followed by t, b, n, r, f, a quote, a backslash, or u and four digits.`
    : null
}

const isOpenString = (found: string): boolean => /^["']/.test(found) && !/^(["']).*\1$/s.test(found)

/** The error of a text with an unclosed string; null for any other text. */
export function openString(text: string, { unread }: SparqlTokens): SyntaxProblem | null {
  if (unread === null || !isOpenString(foundAt(text, unread))) return null
  return problemAt(text, unread, [], true)
}

/** A word, a quoted text, an IRI-like text, or one character. */
export function foundAt(text: string, at: number): string {
  const found =
    /[?$]?[\p{L}_][\p{L}\p{N}_-]*(?::[\p{L}\p{N}_-]*)?|"[^"\n]*"?|'[^'\n]*'?|<[^<>\s?$][^<>\n]*>?|[\d.]+|&&|\|\||[\s\S]/uy
  found.lastIndex = at
  return found.exec(text)?.[0] ?? ''
}

function listOf(words: readonly string[]): string {
  const shown = words.slice(0, MAX_EXPECTED)
  const last = shown.pop() ?? 'something else'
  return shown.length === 0 ? last : `${shown.join(', ')} or ${last}`
}
