import { memoised } from '../../model/memoised.ts'
import { isLastCharacter, tokens } from '../../model/search.ts'
import { ByteTable, bitsIn, compareBytes, grown, NumberList, sharedBytes, sharedUint32 } from './bytes.ts'
import { Texts } from './dictionary-texts.ts'
import { similarTo, slipsOf } from './similar-words.ts'
import { placesByNumber, sortedPieces } from './sorting.ts'

/** How a word of a search matches a word of a text; both are folded (model/search.ts). */
export type WordSearchMode = 'word' | 'prefix' | 'fuzzy' | 'unfinished'

/** The distinct folded words of some texts, sorted, and the indexes of the texts that contain each. */
export interface WordIndex {
  readonly words: Texts
  /** The first index of each word's places; one entry more than there are words. */
  readonly starts: Uint32Array
  /** Indexes of texts, from 0, ascending within a word. */
  readonly places: Uint32Array
}

/** Builds the index of texts, in memory that all threads share. */
export function indexWords(texts: Texts): readonly SharedArrayBuffer[] {
  const { table, words, owners } = collectWords(texts)
  const order = sortedPieces(table.size, {
    bytes: table.arena.bytes,
    startOf: index => table.startOf(index),
    endOf: index => table.endOf(index),
  })
  const ranks = new Uint32Array(table.size)
  const offsets = sharedUint32(table.size + 1)
  const bytes = sharedBytes(table.arena.length)
  let at = 0
  for (let rank = 0; rank < order.length; rank++) {
    const word = order[rank] as number
    ranks[word] = rank
    at += table.arena.bytes.copy(bytes, at, table.startOf(word), table.endOf(word))
    offsets[rank + 1] = at
  }
  const { starts, places } = placesByNumber(
    words.map(word => ranks[word] as number),
    table.size,
    sharedUint32,
  )
  for (let at = 0; at < places.length; at++) places[at] = owners[places[at] as number] as number
  return [offsets, bytes, starts, places].map(array => array.buffer as SharedArrayBuffer)
}

/** The folded form of an ASCII byte in a word; 0 for a separator. */
const FOLDED = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code).toLowerCase()
  return /[a-z0-9]/.test(character) ? character.charCodeAt(0) : 0
})

/** The distinct words of each text one after another, as numbers in a table, and the text of each. */
function collectWords({ bytes, offsets }: Texts) {
  const table = new ByteTable()
  const count = offsets.length - 1
  const [words, owners] = [new NumberList(), new NumberList()]
  /** One more than the last text in which each word occurred. */
  let last = new Uint32Array(1024)
  let scratch = Buffer.allocUnsafe(2 ** 12)
  const take = (place: number, piece: Uint8Array, end: number) => {
    const word = table.intern(piece, 0, end)
    last = grown(last, word + 1)
    if (last[word] === place + 1) return
    last[word] = place + 1
    words.add(word)
    owners.add(place)
  }
  for (let place = 0; place < count; place++) {
    const [from, to] = [offsets[place] as number, offsets[place + 1] as number]
    if (to - from > scratch.length) scratch = Buffer.allocUnsafe(2 * (to - from))
    let [size, at] = [0, from]
    for (; at < to; at++) {
      const byte = bytes[at] as number
      if (byte > 127) break
      const folded = FOLDED[byte] as number
      if (folded > 0) scratch[size++] = folded
      else if (size > 0) {
        take(place, scratch, size)
        size = 0
      }
    }
    if (at === to) {
      if (size > 0) take(place, scratch, size)
    } else
      for (const word of tokens(bytes.toString('utf8', from, to))) {
        const folded = Buffer.from(word)
        take(place, folded, folded.length)
      }
  }
  return { table, words: words.view(), owners: owners.view() }
}

export function openWordIndex([offsets, bytes, starts, places]: readonly SharedArrayBuffer[]): WordIndex {
  return {
    words: new Texts(Buffer.from(bytes as SharedArrayBuffer), new Uint32Array(offsets as SharedArrayBuffer)),
    starts: new Uint32Array(starts as SharedArrayBuffer),
    places: new Uint32Array(places as SharedArrayBuffer),
  }
}

/**
 * True for an index that an earlier release stored, with whole words of scripts without blanks: it has some of three characters or
 * more, or some of two and none of one, which the tokens of any such word end with.
 */
export function isOutdated({ words }: WordIndex): boolean {
  const { offsets } = words
  let [hasPair, hasLast] = [false, false]
  for (let rank = words.lowerBound(FIRST_UNSPACED, 0); rank < words.count; rank++) {
    // Two characters have at most eight bytes.
    const isLong = (offsets[rank + 1] as number) - (offsets[rank] as number) > 8
    if (hasLast && !isLong) continue
    const word = words.get(rank)
    const [first = ''] = word
    if (!isLastCharacter(first)) continue
    if (isLong) return true
    if (word === first) hasLast = true
    else hasPair = true
  }
  return hasPair && !hasLast
}

const FIRST_UNSPACED = Buffer.from('\u0e00')

/** The indexes of the texts that have a word matching another. */
export function postingsOfWord(index: WordIndex, word: string, mode: WordSearchMode): Uint32Array {
  const ranks = matchingWords(index, word, mode)
  if (ranks.length === 1) {
    const [rank] = ranks as [number]
    return index.places.subarray(index.starts[rank], index.starts[rank + 1])
  }
  let length = 0
  for (const rank of ranks) length += (index.starts[rank + 1] as number) - (index.starts[rank] as number)
  const all = new Uint32Array(length)
  let at = 0
  for (const rank of ranks) {
    const found = index.places.subarray(index.starts[rank], index.starts[rank + 1])
    all.set(found, at)
    at += found.length
  }
  return all
}

/** The ranks of the words that match. */
function matchingWords(index: WordIndex, word: string, mode: WordSearchMode): readonly number[] {
  const bytes = Buffer.from(word)
  switch (mode) {
    case 'word': {
      const rank = index.words.lowerBound(bytes, 0)
      return rank < index.words.count && index.words.compare(rank, bytes) === 0 ? [rank] : []
    }
    case 'prefix':
      return ranksFrom(index.words, bytes)
    case 'fuzzy':
      return misspelt(index, word)
    case 'unfinished':
      return [...new Set([...misspelt(index, word), ...ranksFrom(index.words, bytes)])]
  }
}

function ranksFrom(words: Texts, start: Buffer): readonly number[] {
  const { offsets, bytes } = words
  const ranks: number[] = []
  for (let rank = words.lowerBound(start, 0); rank < words.count; rank++) {
    const from = offsets[rank] as number
    const to = Math.min(offsets[rank + 1] as number, from + start.length)
    if (compareBytes(bytes, from, to, start, 0, start.length) !== 0) break
    ranks.push(rank)
  }
  return ranks
}

function misspelt(index: WordIndex, word: string): readonly number[] {
  const { offsets, bytes } = index.words
  const slips = slipsOf(word)
  if (slips === 0) return matchingWords(index, word, 'word')
  const isSimilar = similarTo(word, slips)
  const own = Buffer.from(word)
  const signature = signatureOf(own, 0, own.length)
  const signatures = signaturesOf(index)
  const ranks: number[] = []
  for (let rank = 0; rank < signatures.length; rank++) {
    // One error removes at most one character and adds at most one.
    if (bitsIn((signatures[rank] as number) ^ signature) > 2 * slips) continue
    const [from, to] = [offsets[rank] as number, offsets[rank + 1] as number]
    // A character has at most four bytes.
    if (to - from < own.length - 4 * slips || to - from > own.length + 4 * slips) continue
    if (isSimilar(bytes.toString('utf8', from, to))) ranks.push(rank)
  }
  return ranks
}

const SIGNATURES = new WeakMap<WordIndex, Int32Array>()

/** The set of characters of each word: computed on the first fuzzy search. */
function signaturesOf(index: WordIndex): Int32Array {
  return memoised(SIGNATURES, index, () => {
    const { offsets, bytes, count } = index.words
    const signatures = new Int32Array(count)
    for (let rank = 0; rank < count; rank++)
      signatures[rank] = signatureOf(bytes, offsets[rank] as number, offsets[rank + 1] as number)
    return signatures
  })
}

/** A bit for each character; characters beyond ASCII share one. */
function signatureOf(bytes: Uint8Array, from: number, to: number): number {
  let bits = 0
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number
    if (byte < 0x80) bits |= 1 << (byte & 31)
    else if (byte >= 0xc0) bits |= 1
  }
  return bits
}

/** The form of a moment with the words of its day and of its time, which it has as `25T01` and `00Z`. */
export function searchedMoment(form: string): string {
  const [, day, time] = /^(.*)T([\d:.]*)/.exec(form) ?? []
  return day === undefined ? form : `${form} ${day} ${time}`
}

/** True where a text contains the words of a phrase in sequence; for a prefix search only the last word may be incomplete. */
export function hasPhrase(text: string, phrase: readonly string[], mode: WordSearchMode): boolean {
  const words = tokens(text)
  const inner = mode === 'prefix' ? 'word' : mode
  const matches = phrase.map((word, at) => wordTest(word, at === phrase.length - 1 ? mode : inner))
  for (let start = 0; start + phrase.length <= words.length; start++)
    if (matches.every((match, at) => match(words[start + at] as string))) return true
  return false
}

/** A test whether a folded word matches another. */
export function wordTest(word: string, mode: WordSearchMode): (other: string) => boolean {
  switch (mode) {
    case 'word':
      return other => other === word
    case 'prefix':
      return other => other.startsWith(word)
    case 'fuzzy':
      return similarTo(word, slipsOf(word))
    case 'unfinished': {
      const isSimilar = similarTo(word, slipsOf(word))
      return other => other.startsWith(word) || isSimilar(other)
    }
  }
}
