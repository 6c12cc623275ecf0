import { type Field, isGeo, isTemporal } from '../../model/field.ts'
import { lookup } from '../../model/lookup.ts'
import { type Category, NAME_WORDS } from './terms.ts'

/** The type of the records of a dataset. */
export interface InitKind {
  /** The word for one record, in lower case: the mapping key, and the class in its IRIs. */
  readonly word: string
  /** CURIE of the class. */
  readonly type: string
  readonly category: Category
}

/** Words for classes of schema.org, in the singular: English, French, German, Spanish. */
const CLASSES: readonly (readonly [type: string, category: Category, words: string])[] = [
  ['schema:City', 'place', 'city town village commune ville stadt ciudad municipality municipio gemeinde'],
  ['schema:Country', 'place', 'country pays land pais nation'],
  ['schema:State', 'place', 'state region province departement bundesland canton'],
  ['schema:Airport', 'place', 'airport aeroport flughafen aeropuerto'],
  ['schema:Museum', 'place', 'museum musee museo'],
  ['schema:School', 'place', 'school ecole schule escuela college lycee'],
  ['schema:Hospital', 'place', 'hospital hopital krankenhaus'],
  ['schema:Restaurant', 'place', 'restaurant restaurante'],
  ['schema:Hotel', 'place', 'hotel'],
  ['schema:Library', 'place', 'library bibliotheque mediatheque bibliothek biblioteca'],
  ['schema:Park', 'place', 'park parc parque garden jardin'],
  ['schema:ParkingFacility', 'place', 'parking carpark parkhaus parkplatz aparcamiento'],
  ['schema:Pharmacy', 'place', 'pharmacy pharmacie apotheke farmacia'],
  ['schema:TrainStation', 'place', 'gare bahnhof'],
  ['schema:BusStop', 'place', 'busstop haltestelle'],
  ['schema:LandmarksOrHistoricalBuildings', 'place', 'monument landmark denkmal monumento'],
  [
    'schema:Place',
    'place',
    'place lieu location ort lugar site station equipment equipement building batiment tree arbre baum',
  ],
  [
    'schema:Event',
    'event',
    'event evenement veranstaltung evento agenda concert festival exhibition exposition',
  ],
  [
    'schema:Person',
    'person',
    'person personne people employee staff member author artist politician deputy depute player emperor contact persona empleado mitarbeiter',
  ],
  [
    'schema:Organization',
    'organization',
    'organization organisation company companie entreprise enterprise association business unternehmen firma verein empresa asociacion supplier',
  ],
  ['schema:Product', 'product', 'product produit produkt producto article item'],
  ['schema:Movie', 'work', 'movie film pelicula'],
  ['schema:Book', 'work', 'book livre buch libro'],
]

const BY_WORD = new Map(
  CLASSES.flatMap(([type, category, words]) =>
    words.split(' ').map(word => [word, { type, category }] as const),
  ),
)

/** Guesses the type of the records of a dataset from its id, then from its fields; otherwise it is a class of the dataset's own. */
export function initKindOf(id: string, fields: readonly Field[]): InitKind {
  const words = wordsOf(id)
  const own = words.map(singular)
  for (const index of [words.length - 1, 0]) {
    const word = own[index] ?? ''
    const known = BY_WORD.get(word)
    // `budget-ville` is no list of cities, `villes-de-france` is.
    if (known !== undefined && (words.length === 1 || word !== words[index])) return { word, ...known }
  }
  const names = new Set(fields.map(({ name }) => name))
  const word = ownWord(own)
  const has = (text: string) => text.split(' ').some(name => names.has(name))
  if (
    has('first_name firstname given_name prenom vorname') &&
    has('last_name lastname surname family_name nom nachname name')
  )
    return { word, type: 'schema:Person', category: 'person' }
  if (
    has('start_date date_debut date_start begin_date startdatum fecha_inicio') &&
    has('end_date date_fin date_end enddatum fecha_fin')
  )
    return { word, type: 'schema:Event', category: 'event' }
  if (has('price prix preis precio') && has('sku ean gtin brand marque marke name title product produit'))
    return { word, type: 'schema:Product', category: 'product' }
  const located = fields.some(({ type }) => isGeo(type)) || (has('latitude lat') && has('longitude lon lng'))
  // Records with a moment and without a name are rather observations at a place.
  const named = fields.some(({ name }) => wordsOf(name).some(part => NAME_WORDS.includes(part)))
  if (located && (named || !fields.some(({ type }) => isTemporal(type))))
    return { word, type: 'schema:Place', category: 'place' }
  return { word, type: `field:${className(word)}`, category: 'thing' }
}

/** The dataset's id in the singular, as a word of lower-case letters and digits that begins with a letter. */
function ownWord(words: readonly string[]): string {
  const word = words.join('_')
  return /^[a-z]/.test(word) ? word : `record_${word}`.replace(/_$/, '')
}

function className(word: string): string {
  return word
    .split('_')
    .map(part => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')
}

/** Connecting words in names: English, French, German, Spanish, Italian. */
const JOINERS = new Set(
  'a an and the of for in at to de du des la le les l d un une et der die das den dem von und del el los las y di il'.split(
    ' ',
  ),
)

/** Languages that the last word of a name can indicate: `name_fr`. */
const LANGUAGES = new Set(['en', 'fr', 'de', 'es', 'it', 'pt', 'nl'])

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

/**
 * Forms of a field name: unchanged, without connecting words and the words of the dataset itself (`nom_de_la_ville` among cities
 * is `nom`), and in the singular.
 *
 * @param own words for the type of the records, in the singular
 */
export function nameForms(
  name: string,
  own: ReadonlySet<string>,
): { readonly forms: readonly string[]; readonly language: string | null } {
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
