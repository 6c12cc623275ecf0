import { type Field, isGeo } from './field.ts'
import { lookup } from './lookup.ts'
import { numberText } from './number.ts'
import type { Value } from './value.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant
const ASCII = /^[\x00-\x7f]*$/
const ASCII_TOKEN = /[a-z0-9]+/g
const MARKS = /\p{M}+/gu
const TOKEN = /[\p{L}\p{N}]+/gu

/** Letters that Unicode does not decompose, by what is typed for them where a keyboard lacks them; and the final sigma. */
const SUBSTITUTES: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ß: 'ss',
  þ: 'th',
  ð: 'd',
  đ: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ŋ: 'n',
  ø: 'o',
  ŧ: 't',
  ƒ: 'f',
  ς: 'σ',
}
const SUBSTITUTED = new RegExp(`[${Object.keys(SUBSTITUTES).join('')}]`, 'g')

/** A text as full-text search compares it: compatibility decomposition, no accents, lower case, ligatures as their letters. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(MARKS, '')
    .toLowerCase()
    .replace(SUBSTITUTED, letter => lookup(SUBSTITUTES, letter) ?? letter)
}

/** The words of a text as full-text search compares them: runs of letters and digits of the folded text. */
export function tokens(text: string): string[] {
  if (ASCII.test(text)) return text.toLowerCase().match(ASCII_TOKEN) ?? []
  return fold(text).match(TOKEN) ?? []
}

/**
 * The distinct words that full-text search reads of a record, in order of first appearance. Shapes and booleans are
 * not searched, nor is what has null in the place of its field.
 */
export function searchWords(
  values: readonly Value[],
  fields: readonly (Field | null)[],
): ReadonlySet<string> {
  const words = new Set<string>()
  for (let i = 0; i < fields.length; i++) {
    const type = fields[i]?.type
    if (type === undefined || type === 'boolean' || isGeo(type)) continue
    const value = values[i]
    if (typeof value === 'string') addWords(value, words)
    else if (typeof value === 'number' || typeof value === 'bigint') addWords(numberText(value), words)
    else if (Array.isArray(value)) for (const element of value) addWords(String(element), words)
  }
  return words
}

/**
 * The words of a record as the store holds them: ` word word … `, with a blank before and after each, so that
 * containing ` word ` is a match of the word and containing ` wor` a match of its beginning. Empty for no words.
 */
export function searchText(words: ReadonlySet<string>): string {
  if (words.size === 0) return ''
  let text = ' '
  for (const word of words) text += `${word} `
  return text
}

/**
 * The bucket in which a word is counted among others, by the FNV-1a hash of its code units: the records of a word are
 * among those of its bucket.
 *
 * @param buckets a power of two; the bucket among fewer is what is left of that among more
 */
export function wordBucket(word: string, buckets: number): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 16)) & (buckets - 1)
}

function addWords(text: string, words: Set<string>): void {
  if (!addAsciiWords(text, words)) for (const word of tokens(text)) words.add(word)
}

const LOWER = 1
const UPPER = 2
/** What the characters of ASCII are: letters in upper case, other letters and digits, or 0 for what parts words. */
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  return /[A-Z]/.test(character) ? UPPER : /[a-z0-9]/.test(character) ? LOWER : 0
})

/**
 * Adds the words of a text of ASCII, as {@link tokens} finds them in three times the time. False for another text, of which
 * at most words before the first other character are added, which are words of it as well.
 */
function addAsciiWords(text: string, words: Set<string>): boolean {
  let start = 0
  let kinds = 0
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? 0 : text.charCodeAt(at)
    if (code > 127) return false
    const kind = KINDS[code] ?? 0
    if (kind === 0) {
      if (kinds !== 0) {
        const word = text.slice(start, at)
        words.add((kinds & UPPER) === 0 ? word : word.toLowerCase())
      }
      start = at + 1
      kinds = 0
    } else kinds |= kind
  }
  return true
}
