import { lookup } from './lookup.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant
const ASCII = /^[\x00-\x7f]*$/
const ASCII_TOKEN = /[a-z0-9]+/g
const DIACRITICS = /\p{M}+/gu
const TOKEN = /[\p{L}\p{N}]+/gu

/** Letters that Unicode does not decompose, with their usual replacements where a keyboard lacks them; and the final sigma. */
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

/** Folds a text for full-text search: compatibility decomposition, no accents, lower case, ligatures as their letters. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(DIACRITICS, '')
    .toLowerCase()
    .replace(SUBSTITUTED, letter => lookup(SUBSTITUTES, letter) ?? letter)
}

/** The words of a text for full-text search: runs of letters and digits of the folded text. */
export function tokens(text: string): string[] {
  if (ASCII.test(text)) return text.toLowerCase().match(ASCII_TOKEN) ?? []
  return fold(text).match(TOKEN) ?? []
}
