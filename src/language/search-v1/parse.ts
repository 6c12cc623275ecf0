import { clauseFault } from '../odsql/faults.ts'

/** A query of the Search API v1: words, comparisons of fields, and their operators. */
export type V1Query =
  | { readonly type: 'and' | 'or'; readonly operands: readonly V1Query[] }
  | { readonly type: 'not'; readonly operand: V1Query }
  /** Words of any field; a word may end with `*`. */
  | { readonly type: 'words'; readonly text: string }
  | V1Comparison
  | { readonly type: 'absent'; readonly field: string }

/** `field:value`, `field >= 2002`, `field:[1950 TO 2000]`. */
export interface V1Comparison {
  readonly type: 'comparison'
  readonly field: string
  /** A colon matches words of a text field and means equality for other fields. */
  readonly operator: ':' | '=' | '<' | '<=' | '>' | '>='
  readonly value: string | { readonly lower: string; readonly upper: string }
  /** The comparison as written: used as words where there is no such field. */
  readonly text: string
}

/** Maximum length of a query, in characters, and maximum depth of parentheses. */
export const MAX_LENGTH = 20_000
export const MAX_DEPTH = 50

const TOKEN =
  /\s*(?:([()])|"((?:\\.|[^"\\])*)"?|(#\w+\s*\([^)]*\)?)|(\[[^\]]*\]?)|(==|<=|>=|[:=<>])|([^\s()":=<>[\]#]+)|(\S))/sy

interface Token {
  readonly type: 'parenthesis' | 'phrase' | 'call' | 'range' | 'operator' | 'word'
  readonly text: string
  readonly from: number
  readonly to: number
}

const KINDS = ['parenthesis', 'phrase', 'call', 'range', 'operator', 'word', 'word'] as const

/**
 * Parses a query of the language of `q` in the Search API v1 and of `qv1` in the Explore API (vendor's documentation of the
 * Search API v1, "Query language"): words and phrases, comparisons, `AND`, `OR`, `NOT` and parentheses; adjacent parts must all
 * hold. People type it, so unmatched parentheses are ignored. Null for an empty query. Throws ODSQLError for a function other
 * than `#null`.
 */
export function parseV1(text: string): V1Query | null {
  if (text.length > MAX_LENGTH)
    throw refused(`the query has ${text.length} characters, at most ${MAX_LENGTH} are read`, {
      from: MAX_LENGTH,
      to: text.length,
    })
  return new Reader(text).whole()
}

function refused(reason: string, span: { readonly from: number; readonly to: number }, hint?: string) {
  return clauseFault('qv1', reason, span, hint)
}

/** Parses one query; it lives for that query. */
class Reader {
  private readonly text: string
  private readonly tokens: readonly Token[]
  private at = 0
  private depth = 0

  constructor(text: string) {
    this.text = text
    this.tokens = tokensOf(text)
  }

  whole(): V1Query | null {
    const read: V1Query[] = []
    while (this.at < this.tokens.length) {
      const query = this.disjunction()
      if (query !== null) read.push(query)
      // Only a parenthesis that was never opened remains.
      this.at += 1
    }
    return join('and', read)
  }

  private disjunction(): V1Query | null {
    const operands: V1Query[] = []
    do {
      const operand = this.conjunction()
      if (operand !== null) operands.push(operand)
    } while (this.takes('OR'))
    return join('or', operands)
  }

  private conjunction(): V1Query | null {
    const operands: V1Query[] = []
    while (this.at < this.tokens.length && !this.isNext(')') && !this.isNext('OR')) {
      if (this.takes('AND')) continue
      const operand = this.negation()
      if (operand !== null) operands.push(operand)
    }
    return join('and', operands)
  }

  private negation(): V1Query | null {
    if (!this.takes('NOT')) return this.primary()
    const operand = this.isNext(')') || this.at >= this.tokens.length ? null : this.negation()
    return operand === null ? null : { type: 'not', operand }
  }

  private primary(): V1Query | null {
    const token = this.tokens[this.at]
    if (token === undefined) return null
    this.at += 1
    if (token.type === 'parenthesis') return this.parenthesis(token)
    if (token.type === 'call') return absent(token)
    return (token.type === 'word' ? this.comparison(token) : null) ?? { type: 'words', text: token.text }
  }

  private parenthesis(token: Token): V1Query | null {
    if (++this.depth > MAX_DEPTH) throw refused(`the query is nested deeper than ${MAX_DEPTH} levels`, token)
    const query = this.disjunction()
    this.takes(')')
    this.depth -= 1
    return query
  }

  /** A comparison, which begins with a field name and an operator; null where no value to compare with follows. */
  private comparison(field: Token): V1Comparison | null {
    const [operator, value] = [this.tokens[this.at], this.tokens[this.at + 1]]
    if (operator?.type !== 'operator' || value === undefined) return null
    if (value.type !== 'word' && value.type !== 'phrase' && value.type !== 'range') return null
    this.at += 2
    const range = value.type === 'range' ? rangeOf(value.text) : null
    const sign = (operator.text === '==' ? '=' : operator.text) as V1Comparison['operator']
    return {
      type: 'comparison',
      field: field.text,
      operator: sign,
      value: range ?? value.text,
      text: this.text.slice(field.from, value.to),
    }
  }

  private isNext(text: string): boolean {
    const token = this.tokens[this.at]
    return token !== undefined && token.type !== 'phrase' && token.text === text
  }

  private takes(text: string): boolean {
    const isThere = this.isNext(text)
    if (isThere) this.at += 1
    return isThere
  }
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const group = match.findIndex((found, index) => index > 0 && found !== undefined)
    const found = match[group] ?? ''
    const type = KINDS[group - 1] ?? 'word'
    const to = TOKEN.lastIndex
    const plain = type === 'phrase' ? found.replace(/\\(.)/gs, '$1') : found
    tokens.push({ type, text: plain, from: to - match[0].trimStart().length, to })
  }
  return tokens
}

/** The ends of `[lower TO upper]`, whose closing bracket may be missing; null for any other text. */
function rangeOf(text: string): { readonly lower: string; readonly upper: string } | null {
  const inner = text.slice(1).replace(/\]$/, '')
  const at = /\sTO\s/i.exec(inner)?.index
  return at === undefined ? null : { lower: inner.slice(0, at).trim(), upper: inner.slice(at + 4).trim() }
}

function absent(token: Token): V1Query {
  const [, field] = /^#null\s*\(\s*([^\s)]+)\s*\)$/.exec(token.text) ?? []
  if (field !== undefined) return { type: 'absent', field }
  throw refused(
    `the function ${token.text.slice(0, 60)} is not served in qv1`,
    token,
    'write it in where, without the sharp sign',
  )
}

function join(type: 'and' | 'or', operands: readonly V1Query[]): V1Query | null {
  return operands.length < 2 ? (operands[0] ?? null) : { type, operands }
}
