import { lookup } from '../../model/lookup.ts'

/** Connecting words in names: English, French, German, Spanish, Italian. */
const JOINERS = new Set(
  'a an and the of for in at to de du des la le les l d un une et der die das den dem von und del el los las y di il'.split(
    ' ',
  ),
)

/** Languages that the last word of a name can indicate: `name_fr`. */
const LANGUAGES = new Set(['en', 'fr', 'de', 'es', 'it', 'pt', 'nl'])

/** Irregular plurals. */
const SINGULARS: Readonly<Record<string, string>> = {
  people: 'person',
  children: 'child',
  men: 'man',
  women: 'woman',
  species: 'species',
  series: 'series',
  news: 'news',
  pays: 'pays',
  buses: 'bus',
  bus: 'bus',
  addresses: 'address',
  address: 'address',
  movies: 'movie',
  personnes: 'personne',
}

/** The words of a name or title, in lower case and without accents. */
export function wordsOf(text: string): readonly string[] {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(word => word !== '')
}

/** The singular of an English plural; good enough to name one resource of many. */
export function singular(word: string): string {
  const known = lookup(SINGULARS, word)
  if (known !== undefined) return known
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (word.length > 4 && /(?:ss|x|ch|sh)es$/.test(word)) return word.slice(0, -2)
  if (word.length > 3 && word.endsWith('s') && !/(?:ss|us|is)$/.test(word)) return word.slice(0, -1)
  return word
}

/** The forms of a field name for look-ups in a table of names, the likeliest first, and the language that the name indicates. */
export interface NameForms {
  readonly forms: readonly string[]
  readonly language: string | null
}

/**
 * Forms of a field name: unchanged, without connecting words and the words of the dataset itself (`nom_de_la_ville` among cities
 * is `nom`), and in the singular.
 *
 * @param own words for the type of the records, in the singular
 */
export function nameForms(name: string, own: ReadonlySet<string>): NameForms {
  const words = wordsOf(name)
  const last = words.at(-1) ?? ''
  const language = words.length > 1 && LANGUAGES.has(last) ? last : null
  const forms = [...formsOf(words, own)]
  if (language !== null) forms.push(...formsOf(words.slice(0, -1), own))
  return { forms: [...new Set(forms)], language }
}

function* formsOf(words: readonly string[], own: ReadonlySet<string>): Generator<string> {
  const bare = words.filter(word => !JOINERS.has(word))
  const rest = bare.filter(word => !own.has(singular(word)))
  for (const form of [words, bare, rest]) {
    if (form.length === 0) continue
    yield form.join('_')
    yield [...form.slice(0, -1), singular(form.at(-1) ?? '')].join('_')
  }
}
