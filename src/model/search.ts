import { lookup } from './lookup.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant
const ASCII = /^[\x00-\x7f]*$/
const ASCII_TOKEN = /[a-z0-9]+/g
/** All marks but the two of kana, which make another letter: が is no か. */
const DIACRITICS = /[^\P{M}\u3099\u309a]+/gu
const WORD = /[\p{L}\p{N}]+/gu

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
    .normalize('NFC')
}

/** The words of a query: runs of letters and digits of the folded text. */
export function searchWords(text: string): string[] {
  if (ASCII.test(text)) return text.toLowerCase().match(ASCII_TOKEN) ?? []
  return fold(text).match(WORD) ?? []
}

/** The signs of a text without words, such as emoji: what stands between blanks, without the signs for any ending. */
export function searchSigns(text: string): string[] {
  return text.split(/\s+/).flatMap(chunk => chunk.replace(/[*%]|\ufe0f(?=[*%]*$)/g, '') || [])
}

/** The scripts that are written without blanks, or, as Hangul, in words of several parts. */
const UNSPACED = ['Han', 'Hira', 'Kana', 'Bopo', 'Hang', 'Thai', 'Laoo', 'Khmr', 'Mymr']
  .map(script => `\\p{Script_Extensions=${script}}`)
  .join('')
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u')
const PARTS = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, 'gu')
const ONE_UNSPACED = new RegExp(`^[${UNSPACED}]$`, 'u')

/** What texts are searched by: words, and in scripts without blanks every two characters that follow one another, and the last. */
export function tokens(text: string): string[] {
  const words = searchWords(text)
  return words.some(word => HAS_UNSPACED.test(word)) ? words.flatMap(tokensOfWord) : words
}

function tokensOfWord(word: string): readonly string[] {
  return (word.match(PARTS) ?? []).flatMap(part => {
    if (!HAS_UNSPACED.test(part)) return [part]
    const characters = [...part]
    return characters.map((character, at) => character + (characters[at + 1] ?? ''))
  })
}

/** True for a token that others of a text may begin with: one character of a script without blanks, the last of a word. */
export function isLastCharacter(token: string): boolean {
  return ONE_UNSPACED.test(token)
}
