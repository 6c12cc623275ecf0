import { words } from '../../model/words.ts'

type Pair = readonly [yes: string, no: string]

/** Pairs of words for true and false, the one for true first, in the languages of publishers. */
const PAIRS = words(
  'true/false yes/no y/n t/f oui/non o/n vrai/faux ja/nein j/n wahr/falsch sí/no sì/no si/no s/n',
  'verdadero/falso verdadeiro/falso vero/falso sim/não sim/nao ja/nee waar/onwaar ja/nej sant/falskt',
  'ja/nei tak/nie prawda/fałsz ano/ne áno/nie igen/nem da/nu da/ne да/нет так/ні ναι/όχι evet/hayır',
  'evet/hayir kyllä/ei jah/ei taip/ne jā/nē да/не bai/ez já/nei نعم/لا 是/否 כן/לא 有/無 有/无 はい/いいえ 예/아니오',
  'có/không ya/tidak ✓/✗ ✔/✘ on/off',
).map(pair => pair.split('/') as [yes: string, no: string])

/**
 * The pair of words that all given words belong to, in their original case; undefined for other words. Both must occur, except for
 * true and false: a single word may mean anything, as NO does for Norway.
 */
export function booleanWords(values: Iterable<string>): Pair | undefined {
  const given = new Map<string, string>()
  for (const value of values) given.set(value.toLowerCase(), value)
  if (given.size === 0 || given.size > 2) return undefined
  for (const [yes, no] of PAIRS) {
    if (![...given.keys()].every(word => word === yes || word === no)) continue
    if (given.size < 2 && yes !== 'true') continue
    return [given.get(yes) ?? yes, given.get(no) ?? no]
  }
  return undefined
}

/** Pairs that are also names or codes: of chemical elements, languages, directions. */
const LIKELY: ReadonlySet<string> = new Set(['si/no', 'da/ne', 'da/nu', 'o/n'])
/** Pairs that more often are something else: south and north. */
const UNLIKELY: ReadonlySet<string> = new Set(['s/n'])

/** How certain it is that a pair of words means true and false. */
export function certaintyOf(pair: Pair): 'certain' | 'likely' | 'unlikely' {
  const text = pair.join('/').toLowerCase()
  return UNLIKELY.has(text) ? 'unlikely' : LIKELY.has(text) ? 'likely' : 'certain'
}

/** Words that publishers use for a missing value. */
const NO_VALUE: ReadonlySet<string> = new Set<string>([
  ...words(
    'na n/a #n/a n.a. n.a nan null <null> (null) none nil nd n.d. n/d nc n.c. nr n.r. s/o k.a. missing',
    'unknown inconnu unbekannt - -- --- – — . .. ... … ? / * x #value! #ref! #div/0! #nom? #name? \\n',
  ),
  'k. a.',
  'non renseigné',
  // What MySQL has for no day.
  '0000-00-00',
  '0000-00-00 00:00:00',
])

/** True for a word for a missing value, in a column whose other values have a type. */
export function meansNothing(text: string): boolean {
  return NO_VALUE.has(text.toLowerCase())
}

/** True for a word for a missing value in any column; `x` or `unknown` may be regular values. */
export function isPlainlyNothing(text: string): boolean {
  return /^(?:#?n\/?a|nan|<?\(?null\)?>?|-{1,3}|–|—|\.{1,3}|…|\\n)$/i.test(text)
}
