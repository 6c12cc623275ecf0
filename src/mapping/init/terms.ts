import type { FieldType } from '../../model/field.ts'
import { memoised } from '../../model/memoised.ts'
import { words } from '../../model/words.ts'

/** The category of the records of a dataset, as far as it determines the properties. */
export type Category = 'place' | 'event' | 'person' | 'organization' | 'product' | 'work' | 'thing'

/** The resource that a property belongs to: that of the record, or one that describes a part of it. */
export type TermPart = 'main' | 'address' | 'offer'

/** A property of a well-known vocabulary, and the field names that indicate it. */
export interface InitTerm {
  readonly predicate: string
  /** Names in lower case without accents, words joined by `_`: English, French, German, Spanish. */
  readonly names: readonly string[]
  readonly types: readonly FieldType[]
  /** Categories of resources that the property fits; all if absent. */
  readonly categories?: readonly Category[]
  readonly part?: TermPart
  /** True if values that are web addresses are resources. */
  readonly resource?: boolean
  /** True for prose in the language of the dataset. */
  readonly prose?: boolean
}

const TEXT: readonly FieldType[] = ['text']
const CODE: readonly FieldType[] = ['text', 'int']
const NUMBER: readonly FieldType[] = ['int', 'double']
const DAY: readonly FieldType[] = ['date', 'datetime']
const ADDRESSED: readonly Category[] = ['place', 'person', 'organization']

const NAMES =
  'name title label nom titre libelle intitule denomination designation titel bezeichnung nombre titulo denominacion nome denominazione naam'

/** Names of fields with the name of a record. */
export const NAME_WORDS: readonly string[] = words(NAMES)

function term(
  predicate: string,
  types: readonly FieldType[],
  names: string,
  more: Omit<InitTerm, 'predicate' | 'names' | 'types'> = {},
): InitTerm {
  return { predicate, names: words(names), types, ...more }
}

/** The properties in the order in which a name is looked up. */
export const TERMS: readonly InitTerm[] = [
  term('schema:name', TEXT, NAMES),
  term(
    'schema:alternateName',
    TEXT,
    'alternate_name alternative_name alt_name other_name official_name short_name nom_court nom_officiel autre_nom nom_alternatif alias aka acronym acronyme sigle kurzname nombre_oficial nombre_corto',
  ),
  term(
    'schema:description',
    TEXT,
    'description desc abstract summary comment details presentation resume descriptif commentaire beschreibung zusammenfassung descripcion resumen descrizione',
    { prose: true },
  ),
  term(
    'schema:identifier',
    CODE,
    'id identifier identifiant uid uuid guid gid objectid kennung identificador code ref reference numero numero_id',
  ),
  term(
    'schema:url',
    TEXT,
    'url uri homepage website web_site site_web site_internet site web webpage link lien lien_web webseite internetseite pagina_web sitio_web enlace sito_web',
    { resource: true },
  ),
  term(
    'schema:image',
    TEXT,
    'image picture photo photograph thumbnail image_url photo_url picture_url url_image url_photo vignette visuel bild foto imagen',
    { resource: true },
  ),
  term('schema:logo', TEXT, 'logo', { categories: ['organization', 'product'], resource: true }),
  term(
    'schema:email',
    TEXT,
    'email e_mail mail mail_address email_address courriel adresse_mail adresse_email correo correo_electronico',
  ),
  term(
    'schema:telephone',
    CODE,
    'telephone phone phone_number telephone_number tel tel_number mobile telefon telefonnummer telefono numero_telephone',
  ),
  term('schema:faxNumber', CODE, 'fax fax_number telecopie'),
  term(
    'schema:keywords',
    TEXT,
    'keyword tag mot_cle mots_cles schlagwort stichwort palabra_clave palabras_clave',
  ),
  term(
    'schema:streetAddress',
    TEXT,
    'street_address street address address_1 address1 address_line_1 adresse rue voie adresse_postale strasse anschrift direccion calle indirizzo',
    { categories: ADDRESSED, part: 'address' },
  ),
  term(
    'schema:postalCode',
    CODE,
    'postal_code postcode post_code zip zip_code zipcode code_postal cp plz postleitzahl codigo_postal cap',
    { categories: ADDRESSED, part: 'address' },
  ),
  term(
    'schema:addressLocality',
    TEXT,
    'locality city town municipality ville commune localite stadt ort gemeinde ciudad municipio localidad citta',
    { categories: ADDRESSED, part: 'address' },
  ),
  term(
    'schema:addressRegion',
    TEXT,
    'region state province county departement bundesland kanton provincia estado regione',
    { categories: ADDRESSED, part: 'address' },
  ),
  term(
    'schema:addressCountry',
    TEXT,
    'country country_code country_name country_iso iso_country code_pays pays land laendercode landercode pais codigo_pais paese',
    { categories: ADDRESSED, part: 'address' },
  ),
  term(
    'skos:notation',
    CODE,
    'cca2 cca3 ccn3 iso iso2 iso3 iso_2 iso_3 alpha_2 alpha_3 iso_code iso_a2 iso_a3 code_iso iso_alpha_2 iso_alpha_3 iata icao iata_code icao_code',
    { categories: ['place'] },
  ),
  term(
    'dbo:populationTotal',
    NUMBER,
    'population pop population_total nb_habitants nombre_habitants habitants inhabitants einwohner einwohnerzahl poblacion habitantes popolazione',
    { categories: ['place'] },
  ),
  term(
    'schema:openingHours',
    TEXT,
    'opening_hours opening_times horaires heures_ouverture horaires_ouverture oeffnungszeiten offnungszeiten horario',
    { categories: ['place', 'organization'] },
  ),
  term('schema:maximumAttendeeCapacity', ['int'], 'capacity capacite kapazitat kapazitaet capacidad aforo', {
    categories: ['place', 'event'],
  }),
  term(
    'schema:startDate',
    DAY,
    'start_date start_time start begin begin_date from_date date_start date date_debut debut date_begin startdatum beginn datum fecha_inicio inicio fecha',
    { categories: ['event'] },
  ),
  term(
    'schema:endDate',
    DAY,
    'end_date end_time end finish to_date date_end date_fin fin enddatum ende fecha_fin final',
    { categories: ['event'] },
  ),
  term(
    'schema:datePublished',
    DAY,
    'release_date released publication_date date_published date_publication date_sortie parution erscheinungsdatum fecha_publicacion',
    { categories: ['work'] },
  ),
  term(
    'dcterms:created',
    DAY,
    'created created_at date_created creation_date date_creation erstellt erstellungsdatum fecha_creacion',
  ),
  term(
    'dcterms:modified',
    DAY,
    'modified modified_at updated updated_at last_update last_modified date_modified date_maj maj mise_jour date_mise_jour date_modification geaendert aktualisiert fecha_actualizacion',
  ),
  term(
    'dcterms:issued',
    DAY,
    'issued published published_at publication_date date_publication release_date veroeffentlicht fecha_publicacion',
  ),
  term('dcterms:date', DAY, 'date datum fecha data timestamp time day jour tag dia'),
  term(
    'schema:birthDate',
    DAY,
    'birth_date birthday date_birth born date_naissance naissance geburtsdatum geboren fecha_nacimiento',
    { categories: ['person'] },
  ),
  term(
    'schema:deathDate',
    DAY,
    'death_date date_death died date_deces deces todesdatum gestorben fecha_muerte',
    { categories: ['person'] },
  ),
  term('schema:givenName', TEXT, 'first_name firstname given_name prenom vorname nombre_pila', {
    categories: ['person'],
  }),
  term(
    'schema:familyName',
    TEXT,
    'last_name lastname family_name surname nom_famille nachname familienname apellido',
    { categories: ['person'] },
  ),
  term('schema:gender', TEXT, 'gender sex sexe genre geschlecht sexo genero', { categories: ['person'] }),
  term(
    'schema:jobTitle',
    TEXT,
    'job job_title position profession occupation poste fonction metier beruf puesto cargo',
    { categories: ['person'] },
  ),
  term(
    'schema:price',
    NUMBER,
    'price unit_price amount cost prix tarif montant preis betrag precio importe prezzo',
    { categories: ['product'], part: 'offer' },
  ),
  term(
    'schema:priceCurrency',
    TEXT,
    'currency currency_code price_currency devise monnaie waehrung wahrung moneda divisa valuta',
    { categories: ['product'], part: 'offer' },
  ),
  term('schema:sku', CODE, 'sku article_number artikelnummer', { categories: ['product'] }),
  term('schema:gtin', CODE, 'gtin ean ean13 barcode upc code_barre', { categories: ['product'] }),
  term('schema:category', TEXT, 'category categorie kategorie categoria', { categories: ['product'] }),
  term('schema:isbn', CODE, 'isbn isbn13 isbn_13', { categories: ['work'] }),
  term('schema:genre', TEXT, 'genre genero genere', { categories: ['work'] }),
  term('schema:inLanguage', TEXT, 'language language_code lang langue sprache idioma lingua', {
    categories: ['work', 'event'],
  }),
  term('dc11:language', TEXT, 'language language_code lang langue sprache idioma lingua'),
  term('dc11:creator', TEXT, 'author creator auteur autor autora createur autore'),
  term('dc11:publisher', TEXT, 'publisher editeur herausgeber verlag editorial'),
  term('dc11:subject', TEXT, 'subject theme topic sujet thema tema'),
  term('dc11:rights', TEXT, 'license licence rights lizenz licencia'),
  term(
    'schema:currency',
    TEXT,
    'currency currency_code devise monnaie waehrung wahrung moneda divisa valuta',
  ),
]

const BY_NAME = new Map<string, InitTerm[]>()
for (const term of TERMS) for (const name of term.names) memoised(BY_NAME, name, () => []).push(term)

/** The property for a name at a category of resource; undefined if none is known that allows the type. */
export function termNamed(
  forms: readonly string[],
  type: FieldType,
  category: Category,
): InitTerm | undefined {
  for (const form of forms) {
    const found = BY_NAME.get(form)?.find(
      ({ types, categories }) => types.includes(type) && (categories?.includes(category) ?? true),
    )
    if (found !== undefined) return found
  }
  return undefined
}

/** True for a name that indicates a latitude. */
export function isLatitude(forms: readonly string[]): boolean {
  return forms.some(form => LATITUDE.has(form))
}

export function isLongitude(forms: readonly string[]): boolean {
  return forms.some(form => LONGITUDE.has(form))
}

const LATITUDE = new Set<string>(words('latitude lat y_wgs84 breitengrad latitud geo_lat coord_lat gps_lat'))
const LONGITUDE = new Set<string>(
  words('longitude lon lng long x_wgs84 laengengrad langengrad longitud geo_lon geo_lng coord_lon gps_lon'),
)

/** Namespaces of the prefixes above that are not predefined (RDFa Core Initial Context). */
export const NAMESPACES: Readonly<Record<string, string>> = {
  dbo: 'http://dbpedia.org/ontology/',
  geo: 'http://www.opengis.net/ont/geosparql#',
}
