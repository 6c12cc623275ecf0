import { ExternalTokenizer, type InputStream } from '@lezer/lr'
import { lookup } from '../../model/lookup.ts'
import * as terms from './parser.terms.ts'

const OPEN = '('.charCodeAt(0)
const CLOSE = ')'.charCodeAt(0)
const SEMICOLON = ';'.charCodeAt(0)
const SINGLE = "'".charCodeAt(0)
const DOUBLE = '"'.charCodeAt(0)

/** The search expression in parentheses, up to the closing parenthesis or the next option; an apostrophe is a letter there. */
export const searchText = raw(terms.SearchText, [DOUBLE])

/** The text of an option in parentheses, up to the closing parenthesis or the next option. */
export const optionText = raw(terms.OptionText, [SINGLE, DOUBLE])

function raw(term: number, quotes: readonly number[]): ExternalTokenizer {
  return new ExternalTokenizer(input => {
    let depth = 0
    let length = 0
    while (input.next >= 0) {
      if (quotes.includes(input.next)) length += quotation(input, input.next)
      else {
        if (depth === 0 && (input.next === CLOSE || input.next === SEMICOLON)) break
        if (input.next === OPEN) depth += 1
        if (input.next === CLOSE) depth -= 1
        input.advance()
        length += 1
      }
    }
    if (length > 0 && input.next >= 0) input.acceptToken(term)
  })
}

/** Skips a quoted text including its quotes. */
function quotation(input: InputStream, quote: number): number {
  let length = 0
  do {
    input.advance()
    length += 1
  } while (input.next >= 0 && input.next !== quote)
  if (input.next === quote) input.advance()
  return length + 1
}

const CALLS: Readonly<Record<string, number>> = {
  any: terms.anyOpen,
  all: terms.allOpen,
  case: terms.caseOpen,
  aggregate: terms.aggregateOpen,
}

const TRANSFORMATIONS: Readonly<Record<string, number>> = {
  aggregate: terms.aggregateTrafo,
  filter: terms.filterTrafo,
  search: terms.searchTrafo,
  compute: terms.computeTrafo,
  groupby: terms.groupbyTrafo,
  orderby: terms.orderbyTrafo,
  top: terms.topTrafo,
  skip: terms.skipTrafo,
  topcount: terms.rankingTrafo,
  toppercent: terms.rankingTrafo,
  topsum: terms.rankingTrafo,
  bottomcount: terms.rankingTrafo,
  bottompercent: terms.rankingTrafo,
  bottomsum: terms.rankingTrafo,
  concat: terms.concatTrafo,
  rollup: terms.rollupOpen,
  rolluprecursive: terms.recursiveOpen,
}

/** Token of a function name and its parenthesis that has its own syntax; -1 for any other function. */
export function callWord(text: string, _stack?: unknown): number {
  return lookUp(CALLS, text)
}

/** Token of a transformation name and its parenthesis; -1 for a transformation whose content is not parsed. */
export function trafoWord(text: string, _stack?: unknown): number {
  return lookUp(TRANSFORMATIONS, text)
}

function lookUp(table: Readonly<Record<string, number>>, text: string): number {
  const key = text.slice(0, text.indexOf('(')).toLowerCase()
  return lookup(table, key) ?? -1
}
