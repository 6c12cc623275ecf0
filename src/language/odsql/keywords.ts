import { lookup } from '../../model/lookup.ts'
import * as terms from './parser.terms.ts'
import type { OPEN_WORDS } from './vocabulary.ts'

const RESERVED_TOKENS: Readonly<Record<string, number>> = {
  or: terms.or,
  and: terms.and,
  not: terms.not,
  as: terms.as,
  asc: terms.asc,
  desc: terms.desc,
  null: terms._null,
  true: terms._true,
  false: terms._false,
}

const OPEN_TOKENS: Readonly<Record<(typeof OPEN_WORDS)[number], number>> = {
  in: terms._in,
  is: terms.is,
  like: terms.like,
  to: terms.to,
  distinct: terms.distinct,
}

/** Token of a word that the grammar itself needs and that can never name a field; -1 for any other word. */
export function reservedWord(word: string, _stack?: unknown): number {
  return lookUp(RESERVED_TOKENS, word)
}

/** Token of a word that the grammar needs in some contexts and that names a field in others. */
export function openWord(word: string, _stack?: unknown): number {
  return lookUp(OPEN_TOKENS, word)
}

function lookUp(table: Readonly<Record<string, number>>, word: string): number {
  const key = word.toLowerCase()
  return lookup(table, key) ?? -1
}
