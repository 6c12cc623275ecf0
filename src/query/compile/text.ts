import { fold } from '../../model/search.ts'
import type { Word } from '../plan.ts'

/**
 * Regular expressions for words in texts that are not folded: each letter stands for every character that folds to it
 * (model/search.ts), so that the store compares without case and accents though SPARQL has no function that folds.
 */

const LETTER = String.raw`\p{L}\p{N}\p{M}`
const MARKS = String.raw`\p{M}*`

/** A pattern that finds a word, its beginning, or words in a row within a value of a field. */
export function wordPattern(word: Word): string {
  const { letter } = folding()
  const start = `(?:^|[^${LETTER}${letter}])${MARKS}`
  const end = `(?:$|[^${LETTER}${letter}])`
  switch (word.mode) {
    case 'word':
      return start + spelled(word.text) + end
    case 'prefix':
      return start + group([spelled(word.text), ...cutLigatures(word.text)])
    default:
      throw new Error('a misspelt word is looked for in folded text')
  }
}

/** A pattern that finds a misspelt or unfinished word in folded text, where a blank stands before and after words. */
export function slippedPattern(word: Word): string {
  return ` ${slipped(word)} `
}

/** A step of folding: what matches the pattern becomes the text. */
export interface Replacement {
  readonly pattern: string
  readonly by: string
}

/**
 * What folds a value in lower case as far as some words need: their letters lose accents and other forms, and a blank
 * stands for all that is no letter. To fold in the store takes long; few values should be left to try.
 */
export function foldingSteps(words: readonly Word[]): readonly Replacement[] {
  const { spellings, ligatures } = folding()
  const text = words.map(word => word.text.normalize('NFC')).join(' ')
  const expanded = [...ligatures].filter(([letters]) => text.includes(letters))
  const letters = [...new Set(text)].flatMap(letter => {
    const all = spellings.get(letter)
    return all === undefined || all === classText(letter) ? [] : [[letter, all] as const]
  })
  return [
    { pattern: String.raw`\p{M}+`, by: '' },
    ...[...expanded, ...letters].map(([by, all]) => ({ pattern: `[${all}]`, by })),
    { pattern: String.raw`[^\p{L}\p{N}]+`, by: ' ' },
  ]
}

/** Any letter of folded text. */
const ANY = '[^ ]'
/** Words this long and longer may have one slip, or two (facts on "Where": search). */
const ONE_SLIP = 3
const TWO_SLIPS = 6
/** A word so long is none of a language: it is looked for as it is. */
const TOO_LONG = 64
/** The texts within one or two insertions, deletions or replacements; of an unfinished word any end as well. */
function slipped({ text, mode }: Word): string {
  const letters = [...text]
  const most =
    letters.length > TOO_LONG ? 0 : letters.length >= TWO_SLIPS ? 2 : letters.length >= ONE_SLIP ? 1 : 0
  const exact = letters.map(escapePattern)
  const forms = within(exact, most)
  return group(mode === 'unfinished' ? [...forms, `${exact.join('')}${ANY}*`] : forms)
}

/** Letters up to which all places of a slip are tried in turn. */
const SHORT = 4

/**
 * The forms of a word with a number of slips at most. Those of a long word are the forms of its halves that have so many
 * together: so the pattern grows little faster than the word.
 */
function within(letters: readonly string[], most: number): readonly string[] {
  const plain = letters.join('')
  if (most === 0) return [plain]
  if (letters.length > SHORT) {
    const middle = letters.length >> 1
    const [left, right] = [letters.slice(0, middle), letters.slice(middle)]
    return Array.from(
      { length: most + 1 },
      (_, slips) => group(within(left, slips)) + group(within(right, most - slips)),
    )
  }
  return [
    plain,
    ...Array.from({ length: letters.length + 1 }, (_, at): string[] => {
      const before = letters.slice(0, at).join('')
      const after = (skipped: number) => group(within(letters.slice(at + skipped), most - 1))
      const inserted = before + ANY + after(0)
      return at < letters.length ? [inserted, `${before}${ANY}?${after(1)}`] : [inserted]
    }).flat(),
  ]
}

function group(forms: readonly string[]): string {
  return forms.length === 1 ? (forms[0] ?? '') : `(?:${forms.join('|')})`
}

/** A folded word as every text that folds to it: with any number of ligatures, of those that overlap with one. */
function spelled(text: string): string {
  const words = text.split(' ')
  if (words.length > 1) return words.map(spelled).join(`[^${LETTER}${folding().letter}]+${MARKS}`)
  const letters = [...text.normalize('NFC')]
  const plain = letters.map(letter => (spelledLetter(letter) ?? composed(letter)) + MARKS)
  const apart: Ligature[] = []
  const overlapping: Ligature[] = []
  for (const ligature of ligaturesIn(letters))
    (ligature.at < endOf(apart.at(-1)) ? overlapping : apart).push(ligature)
  return group([withLigatures(plain, apart), ...overlapping.map(one => withLigatures(plain, [one]))])
}

/** A ligature that may stand for some letters of a word. */
interface Ligature {
  readonly at: number
  readonly length: number
  readonly pattern: string
}

function ligaturesIn(letters: readonly string[]): readonly Ligature[] {
  const { ligatures } = folding()
  return letters.flatMap((_, at) =>
    [4, 3, 2].flatMap(length => {
      const found = ligatures.get(letters.slice(at, at + length).join(''))
      const fits = found !== undefined && at + length <= letters.length
      return fits ? [{ at, length, pattern: `[${found}]${MARKS}` }] : []
    }),
  )
}

/** The beginnings of words that end within a ligature: `stra` and `ß` for `stras`. */
function cutLigatures(text: string): readonly string[] {
  const letters = [...text.normalize('NFC')]
  return [1, 2, 3].flatMap(length => {
    const cut = letters.slice(-length).join('')
    const begun = [...folding().ligatures].filter(([all]) => all.length > cut.length && all.startsWith(cut))
    if (length > letters.length || begun.length === 0) return []
    const before = letters.slice(0, -length).join('')
    return [`${before === '' ? '' : spelled(before)}[${begun.map(([, signs]) => signs).join('')}]`]
  })
}

function endOf(ligature: Ligature | undefined): number {
  return ligature === undefined ? 0 : ligature.at + ligature.length
}

/** The letters of a word, where some ligatures that do not overlap may each stand for theirs. */
function withLigatures(plain: readonly string[], ligatures: readonly Ligature[]): string {
  let pattern = ''
  let end = 0
  for (const ligature of ligatures) {
    const { at, pattern: sign } = ligature
    const letters = plain.slice(at, endOf(ligature)).join('')
    pattern += plain.slice(end, at).join('') + group([letters, sign])
    end = endOf(ligature)
  }
  return pattern + plain.slice(end).join('')
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
  for (const [folded, all] of spellings) {
    const own = classText(folded)
    if (!all.includes(own)) spellings.set(folded, own + all)
  }
  known = { spellings, ligatures, letter }
  return known
}

function classText(character: string): string {
  return /[\\\]^[&~|-]/.test(character) ? `\\${character}` : character
}

/** A text as a pattern that matches it alone. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}#&~-]/g, '\\$&')
}
