import { LRUCache } from 'lru-cache'
import { memoised } from '../../../../model/memoised.ts'
import { XSD } from '../../../../rdf/vocab.ts'
import { valueBound } from '../../dictionary.ts'
import type { DictionarySection } from '../../dictionary-parts.ts'
import { similarTo, slipsOf } from '../../similar-words.ts'
import type { WordSearchMode } from '../../words.ts'

/**
 * Indexes of the integers of a part whose digits match a word, possibly with duplicates; null where an index of words is required:
 * for other values, and for long words with typing errors.
 */
export function wholeNumbersWith(
  part: DictionarySection,
  word: string,
  mode: WordSearchMode,
): Uint32Array | null {
  if (part.kind !== 'number' || !part.exact || part.forms !== null) return null
  if (part.datatypes.length !== 1 || part.datatypes[0] !== XSD.integer) return null
  const { values } = part
  const mayDiffer = mode === 'fuzzy' || mode === 'unfinished'
  const others = mayDiffer ? similarNumbers(word) : NONE
  if (others === null) return null
  const places: number[] = []
  const addRange = (least: number, max: number) => {
    for (
      let place = valueBound(values, least);
      place < values.length && (values[place] as number) <= max;
      place++
    )
      places.push(place)
  }
  addOccurring(values, others, places)
  if (mode === 'fuzzy' || !isCanonical(word)) return Uint32Array.from(places)
  const number = Number(word)
  const isBeginning = mode !== 'word' && number > 0
  for (let scale = 1; scale === 1 || (isBeginning && number * scale < 2 ** 53); scale *= 10) {
    addRange(number * scale, number * scale + scale - 1)
    if (number > 0) addRange(-number * scale - scale + 1, -number * scale)
  }
  return Uint32Array.from(places)
}

/** Digits of a safe integer. */
const MAX_DIGITS = 16

function isCanonical(word: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(word) && Number.isSafeInteger(Number(word))
}

const NONE = new Float64Array(0)

/** Adds the indexes of those of some numbers that are among the values; both are ascending. */
function addOccurring(values: Float64Array, numbers: Float64Array, places: number[]): void {
  const [least = 0, max = 0] = [values[0], values[values.length - 1]]
  const from = valueBound(numbers, least)
  const to = valueBound(numbers, max + 1)
  if (to - from < values.length) {
    for (let at = from; at < to; at++) {
      const place = valueBound(values, numbers[at] as number)
      if (values[place] === numbers[at]) places.push(place)
    }
    return
  }
  for (let place = 0; place < values.length; place++)
    if (numbers[valueBound(numbers, values[place] as number)] === values[place]) places.push(place)
}

/** Maximum length of a word with two typing errors: there are some ten thousand numbers that are similar to it. */
const MAX_TWO_SLIPS = 8

/**
 * The safe integers, positive and negative, whose digits are a word with the typing errors that it may have, ascending; null where
 * there are too many.
 */
function similarNumbers(word: string): Float64Array | null {
  const slips = slipsOf(word)
  // What is no digit is like no digit, whatever it is.
  const plain = word.replace(/[^0-9]/gu, 'x')
  if (plain.length > MAX_DIGITS + slips || plain.replace(/[0-9]/g, '').length > slips) return NONE
  if (slips > 1 && plain.length > MAX_TWO_SLIPS) return null
  return memoised(similar, plain, () => {
    let near = new Set([plain])
    for (let slip = 0; slip < slips; slip++)
      near = new Set([...near].flatMap(each => [each, ...editsOf(each)]))
    const isSimilar = similarTo(plain, slips)
    const numbers = [...near].filter(each => isCanonical(each) && isSimilar(each)).map(Number)
    return Float64Array.from(numbers.flatMap(number => [number, -number])).sort()
  })
}

/** The numbers that are similar to the last words: each is looked up in many columns. */
const similar = new LRUCache<string, Float64Array>({ max: 20 })

/** The texts that one typing error makes of a text, where what it adds is a digit. */
function editsOf(text: string): readonly string[] {
  const edits: string[] = []
  for (let at = 0; at <= text.length; at++) {
    const [before, after] = [text.slice(0, at), text.slice(at)]
    for (let digit = 0; digit < 10; digit++) {
      edits.push(`${before}${digit}${after}`)
      if (after !== '') edits.push(`${before}${digit}${after.slice(1)}`)
    }
    if (after !== '') edits.push(before + after.slice(1))
    if (after.length > 1) edits.push(`${before}${after[1]}${after[0]}${after.slice(2)}`)
  }
  return edits
}
