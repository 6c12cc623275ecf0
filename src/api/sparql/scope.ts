import type { QueryText } from './query-text.ts'
import { isMark, isWord, type SparqlToken } from './tokens.ts'

/** The `*` of a query that begins with SELECT *, and what it stands for. */
export interface Star {
  readonly from: number
  readonly to: number
  readonly variables: readonly string[]
}

/**
 * What `SELECT *` of the outermost query stands for: the variables that are in scope (SPARQL 1.1 Query, section 18.2.1), in
 * the order in which they stand. Null for a query that names what it selects, and for one that has no variables.
 */
export function scopeOfStar({ form, tokens }: QueryText): Star | null {
  if (form !== 'select') return null
  const select = tokens.findIndex(token => isWord(token, 'SELECT'))
  const at = isWord(tokens[select + 1], 'DISTINCT', 'REDUCED') ? select + 2 : select + 1
  const star = tokens[at]
  if (star === undefined || !isMark(star, '*')) return null
  const variables = new Set<string>()
  const group = nextMark(tokens, at, '{')
  collect(tokens, group + 1, groupEnd(tokens, group), variables)
  return variables.size === 0 ? null : { from: star.from, to: star.to, variables: [...variables] }
}

function collect(tokens: readonly SparqlToken[], from: number, to: number, variables: Set<string>): void {
  for (let at = from; at < to; at++) {
    const token = tokens[at]
    if (token?.type === 'variable') variables.add(token.value)
    else if (isWord(token, 'MINUS')) at = groupEnd(tokens, nextMark(tokens, at, '{'))
    else if (isWord(token, 'FILTER', 'HAVING')) at = constraintEnd(tokens, at + 1)
    else if (isWord(token, 'BIND')) {
      const end = groupEnd(tokens, nextMark(tokens, at, '('))
      collectAliases(tokens, at, end, variables)
      at = end
    } else if (isWord(token, 'SELECT')) {
      const end = subqueryEnd(tokens, at, to)
      const body = nextMark(tokens, at, '{')
      const isStar = tokens.slice(at, at + 3).some(next => isMark(next, '*'))
      if (isStar) collect(tokens, body + 1, groupEnd(tokens, body), variables)
      else collectProjection(tokens, at + 1, body, variables)
      at = end
    }
  }
}

/** `?x` and the alias of `(… AS ?x)`. */
function collectProjection(
  tokens: readonly SparqlToken[],
  from: number,
  to: number,
  variables: Set<string>,
): void {
  for (let at = from; at < to; at++) {
    const token = tokens[at]
    if (token?.type === 'variable') variables.add(token.value)
    else if (isMark(token, '(')) {
      const end = groupEnd(tokens, at)
      collectAliases(tokens, at, end, variables)
      at = end
    }
  }
}

/** The last variable before the end is what the expression is called. */
function collectAliases(
  tokens: readonly SparqlToken[],
  from: number,
  to: number,
  variables: Set<string>,
): void {
  const alias = tokens[to - 1]
  if (alias?.type === 'variable' && to - 2 > from && isWord(tokens[to - 2], 'AS')) variables.add(alias.value)
}

/** Where a subquery ends: at the bracket that closes the group it stands in. */
function subqueryEnd(tokens: readonly SparqlToken[], from: number, to: number): number {
  let depth = 0
  for (let at = from; at < to; at++) {
    if (isMark(tokens[at], '{')) depth += 1
    else if (isMark(tokens[at], '}') && --depth < 0) return at
  }
  return to
}

/** `( … )`, `name( … )`, `EXISTS { … }` or `NOT EXISTS { … }`: the index of its last token. */
function constraintEnd(tokens: readonly SparqlToken[], from: number): number {
  for (let at = from; at < from + 3; at++)
    if (isMark(tokens[at], '(') || isMark(tokens[at], '{')) return groupEnd(tokens, at)
  return from
}

function nextMark(tokens: readonly SparqlToken[], from: number, mark: string): number {
  for (let at = from; at < tokens.length; at++) if (isMark(tokens[at], mark)) return at
  return tokens.length
}

/** The index of the bracket that closes the one at an index; brackets are known to match. */
function groupEnd(tokens: readonly SparqlToken[], open: number): number {
  let depth = 0
  for (let at = open; at < tokens.length; at++) {
    const token = tokens[at]
    if (token?.type !== 'mark') continue
    if ('{(['.includes(token.value)) depth += 1
    else if ('})]'.includes(token.value) && --depth === 0) return at
  }
  return tokens.length
}
