import { isMark, isWord, type SparqlToken } from './tokens.ts'

/** A text to put in the place of a part of the query. */
export interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/**
 * What makes GROUP_CONCAT join the texts of all values (SPARQL 1.1 Query, section 18.5.1.7): engines join strings alone, and
 * one number leaves the result unbound. DISTINCT compares terms, so that strings of two languages are two: their languages
 * are taken away after it, where what is joined is a variable.
 */
export function groupConcatEdits(tokens: readonly SparqlToken[]): readonly Edit[] {
  return tokens.flatMap((token, index) =>
    isWord(token, 'GROUP_CONCAT') && isMark(tokens[index + 1], '(') ? editsOf(tokens, index) : [],
  )
}

function editsOf(tokens: readonly SparqlToken[], index: number): readonly Edit[] {
  const isDistinct = isWord(tokens[index + 2], 'DISTINCT')
  const start = index + (isDistinct ? 3 : 2)
  const { last, end } = argumentEnd(tokens, start)
  const [word, first, final, close] = [tokens[index], tokens[start], tokens[last], tokens[end]]
  if (word === undefined || first === undefined || final === undefined || close === undefined) return []
  if (last < start) return []
  if (!isDistinct || last > start || first.type !== 'variable')
    return [insertion(first.from, 'STR('), insertion(final.to, ')')]
  const name = `?${first.value}`
  return [
    insertion(word.from, 'STR('),
    { from: first.from, to: first.to, text: `COALESCE(CONCAT(${name}), STR(${name}))` },
    insertion(close.to, ')'),
  ]
}

/** The last token of what is joined, before a separator, and the bracket that closes the aggregate. */
function argumentEnd(
  tokens: readonly SparqlToken[],
  start: number,
): { readonly last: number; readonly end: number } {
  let depth = 0
  let last = -1
  for (let at = start; at < tokens.length; at++) {
    const token = tokens[at]
    if (token?.type !== 'mark') continue
    if ('{(['.includes(token.value)) depth += 1
    else if ('})]'.includes(token.value)) {
      if (depth === 0) return { last: last < 0 ? at - 1 : last, end: at }
      depth -= 1
    } else if (token.value === ';' && depth === 0 && last < 0) last = at - 1
  }
  return { last: -1, end: -1 }
}

function insertion(at: number, text: string): Edit {
  return { from: at, to: at, text }
}
