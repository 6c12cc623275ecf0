import { syntaxFault } from './faults.ts'

/** A piece of a SPARQL query; `from` and `to` are character offsets into its text. */
export interface SparqlToken {
  readonly type:
    | 'iri'
    | 'string'
    | 'variable'
    /** A keyword, the name of a function, `a`, `true` or `false`. */
    | 'word'
    /** A prefixed name; its value is that text. */
    | 'name'
    | 'blank'
    | 'language'
    | 'number'
    | 'mark'
  /** The text; of an IRI what stands between the brackets, of a variable its name alone. */
  readonly value: string
  readonly from: number
  readonly to: number
}

const LETTER = '\\p{L}_\\u{B7}\\p{Nl}'
const NAME = `[${LETTER}\\p{N}\\p{M}\\u203F\\u2040-]`
const LOCAL = `(?:${NAME}|:|%[0-9A-Fa-f]{2}|\\\\[_~.\\-!$&'()*+,;=/?#@%])`

/** Each begins where the last ended, and none can be matched in two ways: reading is linear, so prefixes are short. */
const LEXEMES = [
  /[ \t\r\n]+|#[^\r\n]*/u,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: IRIREF excludes them (production 139)
  /<(?<iri>(?:[^<>"{}|^`\\\u0000-\u0020]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*)>/u,
  /(?<string>"""(?:"{0,2}(?:[^"\\]|\\[\s\S]))*"""|'''(?:'{0,2}(?:[^'\\]|\\[\s\S]))*'''|"(?:[^"\\\r\n]|\\[^\r\n])*"|'(?:[^'\\\r\n]|\\[^\r\n])*')/u,
  /[?$](?<variable>[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_\u{B7}\u203F\u2040])*)/u,
  new RegExp(`(?<blank>_:[${LETTER}\\p{N}](?:\\.*${NAME})*)`, 'u'),
  new RegExp(`(?<name>(?:\\p{L}(?:\\.{0,255}${NAME}){0,255})?:(?:${LOCAL}(?:\\.*${LOCAL})*)?)`, 'u'),
  /(?<word>[\p{L}_][\p{L}\p{N}_]*)/u,
  /@(?<language>[A-Za-z]+(?:-[A-Za-z0-9]+)*)/u,
  /(?<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)/u,
  /(?<mark>&&|\|\||\^\^|!=|<=|>=|[\s\S])/u,
]

const TYPES = ['variable', 'mark', 'name', 'word', 'iri', 'string', 'number', 'blank', 'language'] as const

const LEXEME = new RegExp(LEXEMES.map(({ source }) => source).join('|'), 'uy')

/**
 * Splits a query into tokens (SPARQL 1.1 Query, section 19.8), without comments. Whatever is not SPARQL becomes marks of
 * one character each: it is the store that says what is wrong with it. Throws for a string that is never closed.
 */
export function sparqlTokens(text: string): readonly SparqlToken[] {
  const tokens: SparqlToken[] = []
  const lexeme = new RegExp(LEXEME)
  for (let at = 0; at < text.length; at = lexeme.lastIndex) {
    const found = lexeme.exec(text)
    if (found === null) throw new Error(`no token at ${at}`)
    const { groups } = found
    const type = TYPES.find(name => groups?.[name] !== undefined)
    const value = type === undefined ? undefined : groups?.[type]
    if (type === undefined || value === undefined) continue
    if (type === 'mark' && (value === '"' || value === "'"))
      throw syntaxFault(text, at, `the string is never closed: ${value} is expected.`)
    tokens.push({ type, value, from: at, to: lexeme.lastIndex })
  }
  return tokens
}

/** True for a keyword, which is read in any case. */
export function isWord(token: SparqlToken | undefined, ...words: readonly string[]): boolean {
  return token?.type === 'word' && words.includes(token.value.toUpperCase())
}

export function isMark(token: SparqlToken | undefined, mark: string): boolean {
  return token?.type === 'mark' && token.value === mark
}
