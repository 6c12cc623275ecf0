import { LexerBuilder } from '@traqula/core'
import { lex } from '@traqula/rules-sparql-1-2'
import { lookup } from '../model/lookup.ts'

const LETTERS =
  'A-Za-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uDFFF\\uF900-\\uFDCF\\uFDF0-\\uFFFD'
const CHARACTERS = `${LETTERS}_\\-0-9\\u00B7\\u0300-\\u036F\\u203F-\\u2040`
const ESCAPED = "%[0-9A-Fa-f]{2}|\\\\[_~.\\-!$&'()*+,;=/?#@%]"
/** Prefixes are limited in length: the lexer may look for one at each character of a text. */
const PREFIX = `(?:[${LETTERS}](?:[${CHARACTERS}.]{0,254}[${CHARACTERS}])?)?:`
const LOCAL = `(?:[${LETTERS}_:0-9]|${ESCAPED})(?:(?:[${CHARACTERS}:.]|${ESCAPED})*(?:[${CHARACTERS}:]|${ESCAPED}))?`

/**
 * Corrections: tokens of which the library accepts less than the grammar (SPARQL 1.2 Query, section 19.8), tokens whose
 * expressions in the library take quadratic or exponential time, and LATERAL and ADJUST, which engines have in addition: they
 * occur where OPTIONAL and STRDT do.
 */
const CORRECTED: Readonly<Record<string, RegExp>> = {
  PNameNs: new RegExp(PREFIX),
  PNameLn: new RegExp(PREFIX + LOCAL),
  Comment: /#[^\r\n]*/,
  BuiltInNotexists: /not[ \t\r\n]+exists/i,
  Decimal: /\d*\.\d+/,
  DecimalPositive: /\+\d*\.\d+/,
  DecimalNegative: /-\d*\.\d+/,
  DeleteWhereClause: /delete(?:[ \t\r\n]|#[^\r\n]*[\r\n])+where/i,
  DeleteDataClause: /delete(?:[ \t\r\n]|#[^\r\n]*[\r\n])+data/i,
  InsertDataClause: /insert(?:[ \t\r\n]|#[^\r\n]*[\r\n])+data/i,
  Optional: /optional|lateral/i,
  BuiltInStrdt: /strdt|adjust/i,
}

const BY_NAME = new Map(
  lex.sparql12LexerBuilder.tokenVocabulary.map(token => {
    const pattern = lookup(CORRECTED, token.name)
    return [token.name, pattern === undefined ? token : { ...token, PATTERN: pattern }]
  }),
)
const [short, long] = [BY_NAME.get('PNameNs'), BY_NAME.get('PNameLn')]
if (short !== undefined && long !== undefined) short.LONGER_ALT = long

export const VOCABULARY = [...BY_NAME.values()]

function buildLexer() {
  return LexerBuilder.create()
    .add(...VOCABULARY)
    .build({ positionTracking: 'onlyOffset', skipValidations: true })
}

let lexer: ReturnType<typeof buildLexer> | null = null

/** The parser's tokens of a text, without comments. */
export interface SparqlTokens {
  readonly tokens: ReturnType<ReturnType<typeof buildLexer>['tokenize']>['tokens']
  /** The position of the first text that is no token; null where there is none. */
  readonly unread: number | null
}

/** Splits a text into tokens, in linear time. */
export function sparqlTokens(text: string): SparqlTokens {
  lexer ??= buildLexer()
  const { tokens, errors } = lexer.tokenize(text)
  return { tokens, unread: errors[0]?.offset ?? null }
}
