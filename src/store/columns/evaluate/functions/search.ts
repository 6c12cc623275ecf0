import { isLastCharacter, tokens } from '../../../../model/search.ts'
import { LODESTONE } from '../../../../rdf/vocab.ts'
import type { Column } from '../../column.ts'
import type { DictionarySection, OtherPart, TextPart, ValuePart } from '../../dictionary-parts.ts'
import { lowerBound } from '../../dictionary-texts.ts'
import type { GraphColumns } from '../../graph.ts'
import { hasPhrase, postingsOfWord, searchedMoment, type WordSearchMode, wordTest } from '../../words.ts'
import { scratchUint8 } from '../vectors/scratch.ts'
import { stringOf, type TermValue } from '../vectors/value.ts'
import type { ArgumentValue, FunctionContext } from './extension-function.ts'
import { wholeNumbersWith } from './search-numbers.ts'

/** A word, or the words of a phrase, and its match mode. */
interface SearchedWords {
  readonly words: readonly string[]
  readonly mode: WordSearchMode
}

/** Words, or a part of a text as it is. */
export type SearchedWord = SearchedWords | { readonly part: string }

const MODES: readonly string[] = ['word', 'prefix', 'fuzzy', 'unfinished']

/** Parses the arguments of a search: a folded word or phrase, and a mode; null where they are invalid. */
export function searchedWord(word: ArgumentValue, mode: ArgumentValue): SearchedWord | null {
  if (word?.type !== 'text' || mode?.type !== 'text') return null
  if (mode.value === 'part') return { part: word.value }
  if (!MODES.includes(mode.value)) return null
  const words = tokens(word.value)
  const last = words.at(-1) ?? ''
  if (!isLastCharacter(last)) return { words, mode: mode.value as WordSearchMode }
  // The text may go on after the last character; two characters have it already.
  return words.at(-2)?.endsWith(last) === true
    ? { words: words.slice(0, -1), mode: mode.value as WordSearchMode }
    : { words, mode: 'prefix' }
}

/** True where a text has a word, or the words of a phrase in sequence. */
function textMatches(text: string, searched: SearchedWord): boolean {
  if ('part' in searched) return text.includes(searched.part)
  const { words, mode } = searched
  const [only] = words
  if (only === undefined) return false
  if (words.length > 1) return hasPhrase(text, words, mode)
  const matches = wordTest(only, mode)
  return tokens(text).some(matches)
}

/** 1 for each code of a column whose value has a word. */
export function codesWithWord(column: Column, searched: SearchedWord): Uint8Array {
  const found = scratchUint8(column.dictionary.count + 1).fill(0)
  for (const codes of codesFound(column, searched))
    for (let at = 0; at < codes.length; at++) found[codes[at] as number] = 1
  return found
}

/** The codes of the values that have a word or the words of a phrase, possibly with duplicates. */
function codesFound(column: Column, searched: SearchedWord): readonly Uint32Array[] {
  if ('part' in searched) return codesWithPart(column, searched.part)
  const { words, mode } = searched
  const [only = '', ...others] = words
  if (words.length === 0) return []
  return column.dictionary.parts.flatMap(part => {
    if (!isSearched(part) || cannotHave(part, words)) return []
    if (others.length > 0) return [withPhrase(column, part, searched)]
    const places = wholeNumbersWith(part, only, mode) ?? postingsOfWord(column.wordsOf(part), only, mode)
    return [places.map(place => part.first + place)]
  })
}

/** The codes of the texts that contain another. */
function codesWithPart(column: Column, text: string): readonly Uint32Array[] {
  const required = Buffer.from(text)
  return column.dictionary.parts.flatMap(part => {
    if (required.length === 0 || (part.kind !== 'text' && part.kind !== 'other')) return []
    const { bytes, offsets } = part.texts
    const codes: number[] = []
    for (let at = bytes.indexOf(required); at >= 0; at = bytes.indexOf(required, at)) {
      // The first end behind the beginning of the match is that of its text.
      const place = lowerBound(offsets, at + 1) - 1
      const end = offsets[place + 1] as number
      if (at + required.length <= end) codes.push(part.first + place)
      at = Math.max(end, at + 1)
    }
    return [Uint32Array.from(codes)]
  })
}

type SearchedPart = TextPart | ValuePart | OtherPart

function isSearched(part: DictionarySection): part is SearchedPart {
  return part.kind === 'text' || part.kind === 'number' || part.kind === 'moment' || part.kind === 'other'
}

/**
 * True where no value can have one of the words: words of finite numbers and of moments have a digit and at most one letter, and
 * no typing error turns a word of letters into one of them.
 */
function cannotHave(part: SearchedPart, words: readonly string[]): boolean {
  if ((part.kind !== 'number' && part.kind !== 'moment') || part.forms !== null) return false
  const { values, count } = part
  const isBounded = Number.isFinite(values[0]) && Number.isFinite(values[count - 1])
  return isBounded && words.some(word => !/\p{N}/u.test(word))
}

/** Every word of a phrase reduces the values, which are then read. */
function withPhrase(column: Column, part: SearchedPart, { words, mode }: SearchedWords): Uint32Array {
  const index = column.wordsOf(part)
  let candidates: Uint32Array | null = null
  for (const word of words) {
    const places = postingsOfWord(index, word, mode)
    if (candidates === null || places.length < candidates.length) candidates = places
  }
  const codes = [...new Set(candidates ?? [])].map(place => part.first + place)
  const textOf = (code: number) =>
    part.kind === 'moment' ? searchedMoment(column.dictionary.form(code)) : column.dictionary.form(code)
  return Uint32Array.from(codes.filter(code => hasPhrase(textOf(code), words, mode)))
}

/**
 * 1 for each subject of a graph, by number from 1, that has a value with a word.
 *
 * @param predicates the searched predicates; without any, all except those of points, shapes and booleans, and the position of a
 * record in its source
 */
export function subjectsWithWord(
  graph: GraphColumns,
  searched: SearchedWord,
  predicates: readonly string[],
  context: Pick<FunctionContext, 'check'>,
): Uint8Array {
  const found = scratchUint8(graph.subjects + 1).fill(0)
  const columns =
    predicates.length === 0
      ? graph.columns.filter(({ predicate }) => predicate !== LODESTONE.position)
      : predicates.flatMap(predicate => graph.column(predicate) ?? [])
  for (const column of columns) {
    context.check?.()
    markSubjects(column, codesFound(column, searched), found)
  }
  return found
}

/** Codes are looked up in the postings where they are at most one in this many. */
const CODES_PART = 8

function markSubjects(column: Column, lists: readonly Uint32Array[], found: Uint8Array): void {
  const count = lists.reduce((sum, { length }) => sum + length, 0)
  if (count === 0) return
  if (count * CODES_PART <= column.dictionary.count + 64 * CODES_PART) {
    const { starts, subjects } = column.postings
    for (const codes of lists)
      for (let next = 0; next < codes.length; next++) {
        const code = codes[next] as number
        const end = starts[code + 1] as number
        for (let at = starts[code] as number; at < end; at++) found[(subjects[at] as number) + 1] = 1
      }
    return
  }
  const table = scratchUint8(column.dictionary.count + 1).fill(0)
  for (const codes of lists) for (let at = 0; at < codes.length; at++) table[codes[at] as number] = 1
  if (column.isSingle && column.isDense) {
    const own = column.codes
    for (let subject = 0; subject < own.length; subject++)
      if (table[own[subject] as number] === 1) found[subject + 1] = 1
    return
  }
  for (let row = 0; row < column.rows; row++)
    for (let at = column.startOf(row); at < column.endOf(row); at++)
      if (table[column.codes[at] as number] === 1) {
        found[column.subjectOf(row) + 1] = 1
        break
      }
}

/** True where a value itself has a word. */
export function valueMatches(value: TermValue, searched: SearchedWord): boolean {
  const form = stringOf(value)
  return form !== null && textMatches(value.type === 'moment' ? searchedMoment(form) : form, searched)
}
