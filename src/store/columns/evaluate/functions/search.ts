import { tokens } from '../../../../model/search.ts'
import { GEO, LODESTONE } from '../../../../rdf/vocab.ts'
import type { Column } from '../../column.ts'
import { datatypeOf, type OtherPart, type Part, type TextPart, type ValuePart } from '../../dictionary.ts'
import type { GraphColumns } from '../../graph.ts'
import { hasPhrase, placesOfWord, type WordMode, wordTest } from '../../words.ts'
import { stringOf, type Value } from '../value.ts'

/** A word, or the words of a phrase, and how it matches. */
export interface SearchedWord {
  readonly words: readonly string[]
  readonly mode: WordMode
}

const MODES: readonly string[] = ['word', 'prefix', 'fuzzy', 'unfinished']

/** Reads the arguments of a search: a folded word or phrase, and a mode; null where they are none. */
export function searchedWord(word: Value | undefined, mode: Value | undefined): SearchedWord | null {
  if (word?.type !== 'text' || mode?.type !== 'text' || !MODES.includes(mode.value)) return null
  return { words: tokens(word.value), mode: mode.value as WordMode }
}

/** True where a text has a word, or the words of a phrase in a row. */
export function textMatches(text: string, { words, mode }: SearchedWord): boolean {
  const [only] = words
  if (only === undefined) return false
  if (words.length > 1) return hasPhrase(text, words, mode)
  const matches = wordTest(only, mode)
  return tokens(text).some(matches)
}

/** For each code of a column whether its value has a word: 1 where it has. */
export function codesWithWord(column: Column, searched: SearchedWord): Uint8Array {
  const { dictionary } = column
  const found = new Uint8Array(dictionary.count + 1)
  const [only] = searched.words
  if (only === undefined) return found
  for (const part of dictionary.parts) {
    if (part.kind === 'text') markTexts(column, part, searched, found)
    else if (isSearched(part))
      for (let place = 0; place < part.count; place++)
        if (!isShape(part, place) && textMatches(dictionary.form(part.first + place), searched))
          found[part.first + place] = 1
  }
  return found
}

function isSearched(part: Part): part is ValuePart | OtherPart {
  return part.kind === 'number' || part.kind === 'moment' || part.kind === 'other'
}

/** The coordinates of a shape are no words. */
function isShape(part: ValuePart | OtherPart, place: number): boolean {
  return part.kind === 'other' && datatypeOf(part, place) === GEO.wktLiteral
}

/** Every word of a phrase leaves fewer texts, which are then read. */
function markTexts(column: Column, part: TextPart, { words, mode }: SearchedWord, found: Uint8Array): void {
  const index = column.wordsOf(part)
  const [first = '', ...others] = words
  if (others.length === 0) {
    for (const place of placesOfWord(index, first, mode)) found[part.first + place] = 1
    return
  }
  let candidates: Uint32Array | null = null
  for (const word of words) {
    const places = placesOfWord(index, word, mode)
    if (candidates === null || places.length < candidates.length) candidates = places
  }
  for (const place of new Set(candidates ?? []))
    if (hasPhrase(part.texts.get(place), words, mode)) found[part.first + place] = 1
}

/**
 * For each subject of a graph, from 1, whether a value of it has a word: 1 where one has.
 *
 * @param predicates those whose values are searched: all but those of points, shapes and booleans, and the position of a
 * record in its source, where none is named
 */
export function subjectsWithWord(
  graph: GraphColumns,
  searched: SearchedWord,
  predicates: readonly string[],
): Uint8Array {
  const found = new Uint8Array(graph.subjects + 1)
  const columns =
    predicates.length === 0
      ? graph.columns.filter(({ predicate }) => predicate !== LODESTONE.position)
      : predicates.flatMap(predicate => graph.column(predicate) ?? [])
  for (const column of columns) markSubjects(column, codesWithWord(column, searched), found)
  return found
}

/** Codes up to which the subjects of each are looked up, and not those of all codes gone through. */
const FEW_CODES = 64

function markSubjects(column: Column, codes: Uint8Array, found: Uint8Array): void {
  let count = 0
  for (let code = 1; code < codes.length; code++) count += codes[code] as number
  if (count === 0) return
  if (count <= FEW_CODES && column.hasPostings) {
    const { starts, subjects } = column.postings
    for (let code = 1; code < codes.length; code++)
      if (codes[code] === 1)
        for (let at = starts[code] as number; at < (starts[code + 1] as number); at++)
          found[(subjects[at] as number) + 1] = 1
    return
  }
  if (column.isSingle && column.isDense) {
    const own = column.codes
    for (let subject = 0; subject < own.length; subject++)
      if (codes[own[subject] as number] === 1) found[subject + 1] = 1
    return
  }
  for (let row = 0; row < column.rows; row++)
    for (let at = column.startOf(row); at < column.endOf(row); at++)
      if (codes[column.codes[at] as number] === 1) {
        found[column.subjectOf(row) + 1] = 1
        break
      }
}

/** True where a value itself has a word. */
export function valueMatches(value: Value, searched: SearchedWord): boolean {
  const form = stringOf(value)
  return form !== null && textMatches(form, searched)
}
