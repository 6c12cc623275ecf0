import { type Field, isGeo } from './field.ts'
import { numberText } from './number.ts'
import type { Value } from './value.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant
const ASCII = /^[\x00-\x7f]*$/
const ASCII_TOKEN = /[a-z0-9]+/g
const MARKS = /\p{M}+/gu
const TOKEN = /[\p{L}\p{N}]+/gu

/**
 * The words of a text as full-text search compares them: runs of letters and digits after compatibility
 * decomposition, without accents, in lower case. Records and queries go through this same function.
 */
export function tokens(text: string): string[] {
  if (ASCII.test(text)) return text.toLowerCase().match(ASCII_TOKEN) ?? []
  const plain = text.normalize('NFKD').replace(MARKS, '').toLowerCase().replaceAll('ς', 'σ')
  return plain.match(TOKEN) ?? []
}

/**
 * What full-text search reads of a record: ` word word … `, each distinct word once, in order of first appearance,
 * with a blank before and after each, so that containing ` word ` is a match of the word and containing ` wor` a match
 * of its beginning. Shapes and booleans are not searched. Empty where the record has no word.
 */
export function searchText(values: readonly Value[], fields: readonly Field[]): string {
  const words = new Set<string>()
  for (let i = 0; i < fields.length; i++) {
    const type = fields[i]?.type
    if (type === undefined || type === 'boolean' || isGeo(type)) continue
    const value = values[i]
    if (typeof value === 'string') addWords(value, words)
    else if (typeof value === 'number') addWords(numberText(value), words)
    else if (Array.isArray(value)) for (const element of value) addWords(String(element), words)
  }
  if (words.size === 0) return ''
  let text = ' '
  for (const word of words) text += `${word} `
  return text
}

function addWords(text: string, words: Set<string>): void {
  for (const word of tokens(text)) words.add(word)
}
