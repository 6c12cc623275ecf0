import type { Word } from '../plan.ts'

/**
 * Regular expressions for words in texts that are not folded: each letter stands for every character that folds to it
 * (model/search.ts), so that the store compares without case and accents though SPARQL has no function that folds.
 */

const LETTER = String.raw`\p{L}\p{N}\p{M}`
const MARKS = String.raw`\p{M}*`

/** A pattern that finds a word, or its beginning, within a value of a field. */
export function wordPattern(word: Word): string {
  const { letter } = folding()
  const body = variants(word, true)
  const start = `(?:^|[^${LETTER}${letter}])${MARKS}`
  if (word.mode === 'prefix') return start + body
  return `${start}${body}(?:$|[^${LETTER}${letter}])`
}

/** A pattern that finds a misspelt or unfinished word in the folded text of a record, where blanks part words. */
export function indexPattern(word: Word): string {
  const body = variants(word, false)
  return ` ${body} `
}

/** The forms of a word that match it: itself, or what a few slips of the finger make of it. */
function variants(word: Word, folded: boolean): string {
  const one = (text: string) => (folded ? spelled(text) : escapePattern(text))
  const rest = folded ? `[${LETTER}]*` : '[^ ]*'
  switch (word.mode) {
    case 'word':
    case 'prefix':
      return one(word.text)
    case 'fuzzy':
    case 'unfinished': {
      const forms = slips([...word.text], folded)
      if (word.mode === 'unfinished') forms.push(one(word.text) + rest)
      return `(?:${forms.join('|')})`
    }
    default:
      return word.mode satisfies never
  }
}

/** Words this long and longer may have one slip, or two (facts on "Where": search). */
const ONE_SLIP = 3
const TWO_SLIPS = 6
/** Longer words get one slip only: the pattern grows with the square of their length. */
const TOO_LONG_FOR_TWO = 20

/** The texts within one or two insertions, deletions or replacements, as patterns. */
function slips(letters: readonly string[], folded: boolean): string[] {
  const most =
    letters.length >= TWO_SLIPS && letters.length <= TOO_LONG_FOR_TWO ? 2 : letters.length >= ONE_SLIP ? 1 : 0
  const any = folded ? `[\\p{L}\\p{N}]${MARKS}` : '[^ ]'
  const exact = letters.map(letter =>
    folded ? (spelledLetter(letter) ?? '') + MARKS : escapePattern(letter),
  )
  return within(exact, 0, most, any)
}

function within(letters: readonly string[], from: number, most: number, any: string): string[] {
  const rest = letters.slice(from)
  const plain = rest.join('')
  if (most === 0) return [plain]
  const forms: string[] = [plain]
  for (let at = 0; at <= rest.length; at++) {
    const before = rest.slice(0, at).join('')
    const after = (skipped: number) => group(within(letters, from + at + skipped, most - 1, any))
    forms.push(`${before}${any}${after(0)}`)
    if (at < rest.length) forms.push(`${before}${any}?${after(1)}`)
  }
  return forms
}

function group(forms: readonly string[]): string {
  return forms.length === 1 ? (forms[0] ?? '') : `(?:${forms.join('|')})`
}

/** A folded word as every text that folds to it; of ligatures at most one in a word. */
function spelled(text: string): string {
  const letters = [...text.normalize('NFC')]
  const plain = letters.map(letter => (spelledLetter(letter) ?? composed(letter)) + MARKS)
  const forms = [plain.join('')]
  const { ligatures } = folding()
  for (let at = 0; at < letters.length; at++)
    for (const length of [2, 3, 4]) {
      const found = ligatures.get(letters.slice(at, at + length).join(''))
      if (found === undefined || at + length > letters.length) continue
      forms.push(`${plain.slice(0, at).join('')}[${found}]${MARKS}${plain.slice(at + length).join('')}`)
    }
  return group(forms)
}

/** A syllable that folding takes apart, whole or in its parts. */
function composed(letter: string): string {
  const parts = letter.normalize('NFD')
  return parts === letter ? escapePattern(letter) : `(?:${letter}|${parts})`
}

function spelledLetter(letter: string): string | undefined {
  const all = folding().spellings.get(letter)
  return all === undefined ? undefined : `[${all}]`
}

interface Folding {
  /** Folded letter to all characters that fold to it, ready for a class. */
  readonly spellings: ReadonlyMap<string, string>
  /** Several folded letters to the characters that fold to all of them. */
  readonly ligatures: ReadonlyMap<string, string>
  /** Characters that are no letters and fold to letters, ready for a class. */
  readonly letter: string
}

let known: Folding | null = null

/** The blocks with characters that folding changes; the rest of Unicode folds to itself. */
const BLOCKS = [
  [0x41, 0x33ff],
  [0xa640, 0xa7ff],
  [0xab30, 0xabbf],
  [0xf900, 0xffff],
  [0x10400, 0x104ff],
  [0x1d400, 0x1d7ff],
  [0x1f100, 0x1f2ff],
  [0x2f800, 0x2fa1f],
] as const

/** Folding turned round; made once, some ten milliseconds. */
function folding(): Folding {
  if (known !== null) return known
  const spellings = new Map<string, string>()
  const ligatures = new Map<string, string>()
  let letter = ''
  for (const [from, to] of BLOCKS)
    for (let code = from; code <= to; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      const character = String.fromCodePoint(code)
      const folded = fold(character)
      if (folded === '' || (folded === character && !/\p{L}/u.test(character))) continue
      if (!/^[\p{L}\p{N}]+$/u.test(folded)) continue
      const table = [...folded].length === 1 ? spellings : ligatures
      table.set(folded, (table.get(folded) ?? '') + classText(character))
      if (!/[\p{L}\p{N}]/u.test(character)) letter += classText(character)
    }
  for (const digit of '0123456789') spellings.set(digit, digit + (spellings.get(digit) ?? ''))
  known = { spellings, ligatures, letter }
  return known
}

function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('ς', 'σ')
}

function classText(character: string): string {
  return /[\\\]^[&~|-]/.test(character) ? `\\${character}` : character
}

/** A text as a pattern that matches it alone. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}#&~-]/g, '\\$&')
}
