import type { FieldType } from '../../model/field.ts'
import { memoised } from '../../model/memoised.ts'

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

function names(text: string): readonly string[] {
  return text.split(' ')
}

/** Names of fields with the name of a record. */
export const NAME_WORDS = names(
  'name title label nom titre libelle intitule denomination designation titel bezeichnung nombre titulo denominacion nome denominazione naam',
)

/** The properties in the order in which a name is looked up. */
export const TERMS: readonly InitTerm[] = [
  { predicate: 'schema:name', names: NAME_WORDS, types: TEXT },
  {
    predicate: 'schema:alternateName',
    names: names(
      'alternate_name alternative_name alt_name other_name official_name short_name nom_court nom_officiel autre_nom nom_alternatif alias aka acronym acronyme sigle kurzname nombre_oficial nombre_corto',
    ),
    types: TEXT,
  },
  {
    predicate: 'schema:description',
    names: names(
      'description desc abstract summary comment details presentation resume descriptif commentaire beschreibung zusammenfassung descripcion resumen descrizione',
    ),
    types: TEXT,
    prose: true,
  },
  {
    predicate: 'schema:identifier',
    names: names(
      'id identifier identifiant uid uuid guid gid objectid kennung identificador code ref reference numero numero_id',
    ),
    types: CODE,
  },
  {
    predicate: 'schema:url',
    names: names(
      'url uri homepage website web_site site_web site_internet site web webpage link lien lien_web webseite internetseite pagina_web sitio_web enlace sito_web',
    ),
    types: TEXT,
    resource: true,
  },
  {
    predicate: 'schema:image',
    names: names(
      'image picture photo photograph thumbnail image_url photo_url picture_url url_image url_photo vignette visuel bild foto imagen',
    ),
    types: TEXT,
    resource: true,
  },
  {
    predicate: 'schema:logo',
    names: ['logo'],
    types: TEXT,
    categories: ['organization', 'product'],
    resource: true,
  },
  {
    predicate: 'schema:email',
    names: names(
      'email e_mail mail mail_address email_address courriel adresse_mail adresse_email correo correo_electronico',
    ),
    types: TEXT,
  },
  {
    predicate: 'schema:telephone',
    names: names(
      'telephone phone phone_number telephone_number tel tel_number mobile telefon telefonnummer telefono numero_telephone',
    ),
    types: CODE,
  },
  { predicate: 'schema:faxNumber', names: names('fax fax_number telecopie'), types: CODE },
  {
    predicate: 'schema:keywords',
    names: names('keyword tag mot_cle mots_cles schlagwort stichwort palabra_clave palabras_clave'),
    types: TEXT,
  },
  {
    predicate: 'schema:streetAddress',
    names: names(
      'street_address street address address_1 address1 address_line_1 adresse rue voie adresse_postale strasse anschrift direccion calle indirizzo',
    ),
    types: TEXT,
    categories: ADDRESSED,
    part: 'address',
  },
  {
    predicate: 'schema:postalCode',
    names: names(
      'postal_code postcode post_code zip zip_code zipcode code_postal cp plz postleitzahl codigo_postal cap',
    ),
    types: CODE,
    categories: ADDRESSED,
    part: 'address',
  },
  {
    predicate: 'schema:addressLocality',
    names: names(
      'locality city town municipality ville commune localite stadt ort gemeinde ciudad municipio localidad citta',
    ),
    types: TEXT,
    categories: ADDRESSED,
    part: 'address',
  },
  {
    predicate: 'schema:addressRegion',
    names: names('region state province county departement bundesland kanton provincia estado regione'),
    types: TEXT,
    categories: ADDRESSED,
    part: 'address',
  },
  {
    predicate: 'schema:addressCountry',
    names: names(
      'country country_code country_name country_iso iso_country code_pays pays land laendercode landercode pais codigo_pais paese',
    ),
    types: TEXT,
    categories: ADDRESSED,
    part: 'address',
  },
  {
    predicate: 'skos:notation',
    names: names(
      'cca2 cca3 ccn3 iso iso2 iso3 iso_2 iso_3 alpha_2 alpha_3 iso_code iso_a2 iso_a3 code_iso iso_alpha_2 iso_alpha_3 iata icao iata_code icao_code',
    ),
    types: CODE,
    categories: ['place'],
  },
  {
    predicate: 'dbo:populationTotal',
    names: names(
      'population pop population_total nb_habitants nombre_habitants habitants inhabitants einwohner einwohnerzahl poblacion habitantes popolazione',
    ),
    types: NUMBER,
    categories: ['place'],
  },
  {
    predicate: 'schema:openingHours',
    names: names(
      'opening_hours opening_times horaires heures_ouverture horaires_ouverture oeffnungszeiten offnungszeiten horario',
    ),
    types: TEXT,
    categories: ['place', 'organization'],
  },
  {
    predicate: 'schema:maximumAttendeeCapacity',
    names: names('capacity capacite kapazitat kapazitaet capacidad aforo'),
    types: ['int'],
    categories: ['place', 'event'],
  },
  {
    predicate: 'schema:startDate',
    names: names(
      'start_date start_time start begin begin_date from_date date_start date date_debut debut date_begin startdatum beginn datum fecha_inicio inicio fecha',
    ),
    types: DAY,
    categories: ['event'],
  },
  {
    predicate: 'schema:endDate',
    names: names('end_date end_time end finish to_date date_end date_fin fin enddatum ende fecha_fin final'),
    types: DAY,
    categories: ['event'],
  },
  {
    predicate: 'schema:datePublished',
    names: names(
      'release_date released publication_date date_published date_publication date_sortie parution erscheinungsdatum fecha_publicacion',
    ),
    types: DAY,
    categories: ['work'],
  },
  {
    predicate: 'dcterms:created',
    names: names(
      'created created_at date_created creation_date date_creation erstellt erstellungsdatum fecha_creacion',
    ),
    types: DAY,
  },
  {
    predicate: 'dcterms:modified',
    names: names(
      'modified modified_at updated updated_at last_update last_modified date_modified date_maj maj mise_jour date_mise_jour date_modification geaendert aktualisiert fecha_actualizacion',
    ),
    types: DAY,
  },
  {
    predicate: 'dcterms:issued',
    names: names(
      'issued published published_at publication_date date_publication release_date veroeffentlicht fecha_publicacion',
    ),
    types: DAY,
  },
  {
    predicate: 'dcterms:date',
    names: names('date datum fecha data timestamp time day jour tag dia'),
    types: DAY,
  },
  {
    predicate: 'schema:birthDate',
    names: names(
      'birth_date birthday date_birth born date_naissance naissance geburtsdatum geboren fecha_nacimiento',
    ),
    types: DAY,
    categories: ['person'],
  },
  {
    predicate: 'schema:deathDate',
    names: names('death_date date_death died date_deces deces todesdatum gestorben fecha_muerte'),
    types: DAY,
    categories: ['person'],
  },
  {
    predicate: 'schema:givenName',
    names: names('first_name firstname given_name prenom vorname nombre_pila'),
    types: TEXT,
    categories: ['person'],
  },
  {
    predicate: 'schema:familyName',
    names: names('last_name lastname family_name surname nom_famille nachname familienname apellido'),
    types: TEXT,
    categories: ['person'],
  },
  {
    predicate: 'schema:gender',
    names: names('gender sex sexe genre geschlecht sexo genero'),
    types: TEXT,
    categories: ['person'],
  },
  {
    predicate: 'schema:jobTitle',
    names: names('job job_title position profession occupation poste fonction metier beruf puesto cargo'),
    types: TEXT,
    categories: ['person'],
  },
  {
    predicate: 'schema:price',
    names: names('price unit_price amount cost prix tarif montant preis betrag precio importe prezzo'),
    types: NUMBER,
    categories: ['product'],
    part: 'offer',
  },
  {
    predicate: 'schema:priceCurrency',
    names: names(
      'currency currency_code price_currency devise monnaie waehrung wahrung moneda divisa valuta',
    ),
    types: TEXT,
    categories: ['product'],
    part: 'offer',
  },
  {
    predicate: 'schema:sku',
    names: names('sku article_number artikelnummer'),
    types: CODE,
    categories: ['product'],
  },
  {
    predicate: 'schema:gtin',
    names: names('gtin ean ean13 barcode upc code_barre'),
    types: CODE,
    categories: ['product'],
  },
  {
    predicate: 'schema:category',
    names: names('category categorie kategorie categoria'),
    types: TEXT,
    categories: ['product'],
  },
  { predicate: 'schema:isbn', names: names('isbn isbn13 isbn_13'), types: CODE, categories: ['work'] },
  { predicate: 'schema:genre', names: names('genre genero genere'), types: TEXT, categories: ['work'] },
  {
    predicate: 'schema:inLanguage',
    names: names('language language_code lang langue sprache idioma lingua'),
    types: TEXT,
    categories: ['work', 'event'],
  },
  {
    predicate: 'dc11:language',
    names: names('language language_code lang langue sprache idioma lingua'),
    types: TEXT,
  },
  {
    predicate: 'dc11:creator',
    names: names('author creator auteur autor autora createur autore'),
    types: TEXT,
  },
  {
    predicate: 'dc11:publisher',
    names: names('publisher editeur herausgeber verlag editorial'),
    types: TEXT,
  },
  { predicate: 'dc11:subject', names: names('subject theme topic sujet thema tema'), types: TEXT },
  { predicate: 'dc11:rights', names: names('license licence rights lizenz licencia'), types: TEXT },
  {
    predicate: 'schema:currency',
    names: names('currency currency_code devise monnaie waehrung wahrung moneda divisa valuta'),
    types: TEXT,
  },
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

const LATITUDE = new Set(names('latitude lat y_wgs84 breitengrad latitud geo_lat coord_lat gps_lat'))
const LONGITUDE = new Set(
  names('longitude lon lng long x_wgs84 laengengrad langengrad longitud geo_lon geo_lng coord_lon gps_lon'),
)

/** Namespaces of the prefixes above that are not predefined (RDFa Core Initial Context). */
export const NAMESPACES: Readonly<Record<string, string>> = {
  dbo: 'http://dbpedia.org/ontology/',
  geo: 'http://www.opengis.net/ont/geosparql#',
}
