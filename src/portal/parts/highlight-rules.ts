/** Kinds of tokens that are highlighted differently. */
export type TokenKind =
  | 'comment'
  | 'string'
  | 'number'
  | 'keyword'
  | 'key'
  | 'iri'
  | 'name'
  | 'variable'
  | 'plain'

/** A kind of token and its pattern; the expression is sticky, and never matches an empty text. */
export type TokenRule = readonly [kind: TokenKind, pattern: RegExp]

/** Languages with highlighting. */
export type SourceLanguage = keyof typeof SOURCE_RULES

const BLANK: TokenRule = ['plain', /\s+/y]
const ANYTHING: TokenRule = ['plain', /[\s\S]/y]
const HASH_COMMENT: TokenRule = ['comment', /#[^\n]*/y]
const DOUBLE_QUOTED: TokenRule = ['string', /"(?:[^"\\\n]|\\.)*"/y]
const SINGLE_QUOTED: TokenRule = ['string', /'(?:[^'\\\n]|\\.)*'/y]
const NUMBER: TokenRule = ['number', /[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?\b/iy]

/** YARRRML is YAML with references to fields in it: `$(name)`. */
const YAML: readonly TokenRule[] = [
  BLANK,
  HASH_COMMENT,
  ['key', /[^\s#'"[\]{},:$-][^\s'"[\]{},:$]*(?=[ \t]*:(?:\s|$))/y],
  ['string', /'(?:[^'\n]|'')*'/y],
  DOUBLE_QUOTED,
  ['variable', /\$\([^)\n]*\)/y],
  ['number', /-?\d+(?:\.\d+)?(?=[\s,\]}]|$)/y],
  ['iri', /https?:[^\s,'"[\]{}$]+/y],
  ['plain', /[^\s'"[\]{},$]+/y],
  ANYTHING,
]

const SPARQL_WORDS =
  /(?:base|prefix|select|construct|ask|describe|distinct|reduced|from|named|where|order|by|group|having|limit|offset|values|optional|union|minus|graph|service|silent|filter|bind|as|not|exists|in|asc|desc|undef|true|false|a|count|sum|avg|min|max|sample|group_concat|separator)\b(?!:)/iy

const TERMS: readonly TokenRule[] = [
  ['iri', /<[^<>\s"{}|^`\\]*>/y],
  ['string', /"""[\s\S]*?"""/y],
  DOUBLE_QUOTED,
  SINGLE_QUOTED,
  ['name', /(?:[A-Za-z][\w-]*)?:(?:[\w%-]|\.(?=\w))*/y],
]

const SPARQL: readonly TokenRule[] = [
  BLANK,
  HASH_COMMENT,
  ['variable', /[?$]\w+/y],
  ...TERMS,
  ['keyword', SPARQL_WORDS],
  NUMBER,
  ['plain', /\w+/y],
  ANYTHING,
]

const TURTLE: readonly TokenRule[] = [
  BLANK,
  HASH_COMMENT,
  ['keyword', /@(?:prefix|base)\b/y],
  ...TERMS,
  ['plain', /@[A-Za-z]+(?:-\w+)*/y],
  ['keyword', /(?:a|true|false)\b/y],
  NUMBER,
  ['plain', /\w+/y],
  ANYTHING,
]

const JSON_RULES: readonly TokenRule[] = [
  BLANK,
  ['key', /"(?:[^"\\\n]|\\.)*"(?=\s*:)/y],
  DOUBLE_QUOTED,
  NUMBER,
  ['keyword', /(?:true|false|null)\b/y],
  ANYTHING,
]

const CODE_WORDS =
  /(?:const|let|in|for|of|await|async|new|import|from|as|def|return|while|if|else|with|library|function|null|None|NULL|print|each|curl|npx)\b/y

/** Enough for the short programs of the pages: the shell, JavaScript, Python, R and Power Query. */
const CODE: readonly TokenRule[] = [
  BLANK,
  HASH_COMMENT,
  ['comment', /\/\/[^\n]*/y],
  DOUBLE_QUOTED,
  ['string', /'(?:[^'\\]|\\.)*'|`[^`]*`/y],
  ['keyword', CODE_WORDS],
  NUMBER,
  ['plain', /[\w.]+/y],
  ANYTHING,
]

/** The token rules of the languages: at each position the first matching rule applies. */
export const SOURCE_RULES = {
  yaml: YAML,
  sparql: SPARQL,
  turtle: TURTLE,
  json: JSON_RULES,
  code: CODE,
} as const satisfies Readonly<Record<string, readonly TokenRule[]>>
