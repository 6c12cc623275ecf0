import { LexerBuilder } from '@traqula/core'
import { sparql12ParserBuilder } from '@traqula/parser-sparql-1-2'
import { completeParseContext, copyParseContext, lex } from '@traqula/rules-sparql-1-2'
import { lookup } from '../model/lookup.ts'
import { nearest } from '../model/nearest.ts'
import { AFTER_QUERY, closingWords, tokenWords } from './expected.ts'

/** Where a text stops being a query of SPARQL 1.2. */
export interface SyntaxProblem {
  /** Character offsets of what was found; both are the length of the text where it ends too early. */
  readonly from: number
  readonly to: number
  /** What is wrong, in a sentence: what was found, and what is expected. */
  readonly reason: string
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

/**
 * Tokens that the library reads less of than the grammar has (SPARQL 1.2 Query, section 19.8), and those for which its
 * expressions take exponential time.
 */
const CORRECTED: Readonly<Record<string, RegExp>> = {
  BuiltInNotexists: /not[ \t\r\n]+exists/i,
  Decimal: /\d*\.\d+/,
  DecimalPositive: /\+\d*\.\d+/,
  DecimalNegative: /-\d*\.\d+/,
  DeleteWhereClause: /delete(?:[ \t\r\n]|#[^\n]*\n)+where/i,
  DeleteDataClause: /delete(?:[ \t\r\n]|#[^\n]*\n)+data/i,
  InsertDataClause: /insert(?:[ \t\r\n]|#[^\n]*\n)+data/i,
}

const VOCABULARY = lex.sparql12LexerBuilder.tokenVocabulary.map(token => {
  const pattern = lookup(CORRECTED, token.name)
  return pattern === undefined ? token : { ...token, PATTERN: pattern }
})
/** Runs of characters of names: from each of them the library looks for a prefix to the end of the run. */
const NAMES = /[\p{L}\p{N}\p{M}_.·-]{64,}/gu
/** Such looks that a text may cost. */
const MAX_LOOKS = 4_000_000
const MAX_FOUND = 60
const MAX_EXPECTED = 12

/** Words that a misspelt one can have been. */
const KEYWORDS = VOCABULARY.flatMap(({ name, LABEL }) =>
  LABEL !== undefined && /^[A-Za-z_]{2,}$/.test(LABEL) && name !== 'LANG_DIR' ? [LABEL] : [],
).concat('ORDER', 'GROUP', 'NOT')

/**
 * The first thing that makes a text no query; null where its grammar is right, and for texts that are not read. Parsing takes some ten milliseconds for a thousand characters, and the first call builds the parser.
 */
export function syntaxProblem(text: string): SyntaxProblem | null {
  if (!isReadable(text)) return null
  lexer ??= buildLexer()
  const { tokens, errors } = lexer.tokenize(text)
  const [error] = errors
  const last = tokens.at(-1)
  const unread = error === undefined ? null : wordStart(text, error.offset, last?.endOffset)
  try {
    parse(unread === null ? text : text.slice(0, unread))
  } catch (thrown) {
    // Escapes that stand for no character are an error of the library that has no place.
    if (!(thrown instanceof Refused)) return null
    const { at, expected } = thrown.refusal
    return problemAt(text, at ?? unread, expected, at === null)
  }
  return unread === null ? undeclared(tokens) : problemAt(text, unread, AFTER_QUERY, true)
}

type Tokens = ReturnType<ReturnType<typeof buildLexer>['tokenize']>['tokens']

function buildLexer() {
  return LexerBuilder.create()
    .add(...VOCABULARY)
    .build({ positionTracking: 'onlyOffset', skipValidations: true })
}

let lexer: ReturnType<typeof buildLexer> | null = null
let parser: ReturnType<typeof buildParser> | null = null

/** Throws {@link Refused}. What a query means is left to those who evaluate it. */
function parse(text: string): void {
  parser ??= buildParser()
  parser.queryUnit(text, copyParseContext(completeParseContext({ skipValidation: true })))
}

/** False for a text with names so long that reading them takes too much time. */
export function isReadable(text: string): boolean {
  let looks = 0
  for (const [{ length }] of text.matchAll(NAMES)) looks += length * length
  return looks <= MAX_LOOKS
}

/**
 * The syntax tree of a query. Throws where the text is none; {@link syntaxProblem} tells what is wrong then.
 *
 * @param base what relative IRIs are resolved against
 */
export function syntaxTree(text: string, base: string | undefined) {
  parser ??= buildParser()
  const context = base === undefined ? {} : { baseIRI: base }
  return parser.queryUnit(text, copyParseContext(completeParseContext(context)))
}

/**
 * True for the error of {@link syntaxTree} about an aggregate within another (SPARQL 1.2 Query, section 19.8, note 15). False
 * where the text has EXISTS: the library does not see that a subquery there has aggregates of its own.
 */
export function isNestedAggregate(error: unknown, text: string): boolean {
  if (!(error instanceof Error) || /\bexists\b/i.test(text)) return false
  return error.message.startsWith('An aggregate function is not allowed within ')
}

/** A parser whose messages are what it expected, as JSON. */
function buildParser() {
  return sparql12ParserBuilder.build({
    tokenVocabulary: VOCABULARY,
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
 * @param isUnread true for what is no token at all
 */
function problemAt(
  text: string,
  at: number | null,
  expected: readonly string[],
  isUnread: boolean,
): SyntaxProblem {
  if (at === null) {
    const end = text.trimEnd().length
    return { from: end, to: end, reason: `the query ends but ${listOf(expected)} is expected.` }
  }
  const found = foundAt(text, at)
  const meant = /^[A-Za-z_]{3,}$/.test(found) ? nearest(found, KEYWORDS) : undefined
  const isOther = meant !== undefined && meant.toLowerCase() !== found.toLowerCase()
  const hint = isOther ? ` Did you mean ${meant}?` : ''
  const shown = found.length > MAX_FOUND ? `${found.slice(0, MAX_FOUND)}…` : found
  const flaw = isUnread || found.startsWith('<') ? flawOf(found) : null
  if (flaw !== null) return { from: at, to: at + found.length, reason: `${shown} ${flaw}` }
  return {
    from: at,
    to: at + found.length,
    reason: `${shown} was found but ${listOf(expected)} is expected.${hint}`,
  }
}

/** The first name with a prefix that the query does not declare. */
function undeclared(tokens: Tokens): SyntaxProblem | null {
  const isDeclared = (index: number) => tokens[index - 1]?.tokenType.name === 'PrefixDecl'
  const declared = new Set(tokens.flatMap(({ image }, index) => (isDeclared(index) ? [image] : [])))
  for (const [index, { image, tokenType, startOffset }] of tokens.entries()) {
    const prefix = image.slice(0, image.indexOf(':') + 1)
    if (!tokenType.name.startsWith('PName') || isDeclared(index) || declared.has(prefix)) continue
    const reason = `the prefix ${prefix} is not declared: PREFIX ${prefix} <…> is expected before the query.`
    return { from: startOffset, to: startOffset + image.length, reason }
  }
  return null
}

/** Why a string or an IRI cannot be read; null for anything else. */
function flawOf(found: string): string | null {
  if (/^<.*>$/s.test(found)) return 'is no IRI: it has characters that no IRI has.'
  if (/^(["']).*\1$/s.test(found) && found.length > 1)
    return 'is no string: a backslash is followed by t, b, n, r, f, a quote, a backslash, or u and four digits.'
  return /^["']/.test(found) ? `is never closed: ${found[0]} is expected.` : null
}

/** A word, a text in quotes, what looks like an IRI, or one character. */
function foundAt(text: string, at: number): string {
  const found =
    /[?$]?[\p{L}_][\p{L}\p{N}_-]*|"[^"\n]*"?|'[^'\n]*'?|<[^<>\s?$][^<>\n]*>?|[\d.]+|&&|\|\||[\s\S]/uy
  found.lastIndex = at
  return found.exec(text)?.[0] ?? ''
}

/** Where the word begins that holds a place: lexers read its first letters as a word that they know. */
function wordStart(text: string, offset: number, lastEnd: number | undefined): number {
  if (lastEnd !== offset - 1 || !/[\p{L}\p{N}_]/u.test(text[offset] ?? '')) return offset
  return (
    offset - (/[\p{L}_][\p{L}\p{N}_]*$/u.exec(text.slice(Math.max(0, offset - 100), offset))?.[0].length ?? 0)
  )
}

function listOf(words: readonly string[]): string {
  const shown = words.slice(0, MAX_EXPECTED)
  const last = shown.pop() ?? 'something else'
  return shown.length === 0 ? last : `${shown.join(', ')} or ${last}`
}
