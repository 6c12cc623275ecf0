import { words } from '../model/words.ts'
import { INITIAL_CONTEXT } from '../rdf/prefixes.ts'

/** Namespaces that mappings use in addition to those of RDFa. */
const MORE_NAMESPACES = [
  'http://www.opengis.net/ont/geosparql#',
  'http://www.opengis.net/ont/sf#',
  'http://www.w3.org/2003/01/geo/wgs84_pos#',
  'http://dbpedia.org/ontology/',
  'http://dbpedia.org/property/',
  'http://dbpedia.org/resource/',
  'http://www.wikidata.org/entity/',
  'http://www.wikidata.org/prop/direct/',
  'http://www.geonames.org/ontology#',
  'http://purl.org/ontology/bibo/',
  'http://www.w3.org/ns/adms#',
]

export const KNOWN_NAMESPACES: readonly string[] = [
  ...new Set([...Object.values(INITIAL_CONTEXT), ...MORE_NAMESPACES]),
]

/** All terms of small vocabularies that do not change. */
const TERMS = new Map<string, readonly string[]>(
  Object.entries({
    'http://www.w3.org/1999/02/22-rdf-syntax-ns#':
      'type subject predicate object Statement Property value first rest nil List Bag Seq Alt langString HTML XMLLiteral JSON ' +
      'PlainLiteral CompoundLiteral language direction dirLangString reifies',
    'http://www.w3.org/2000/01/rdf-schema#':
      'label comment seeAlso isDefinedBy Class subClassOf subPropertyOf domain range Resource Literal Datatype Container ' +
      'member ContainerMembershipProperty',
    'http://www.w3.org/2002/07/owl#':
      'sameAs differentFrom Thing Nothing Class Ontology ObjectProperty DatatypeProperty AnnotationProperty ' +
      'NamedIndividual equivalentClass equivalentProperty inverseOf versionInfo versionIRI imports deprecated ' +
      'disjointWith unionOf intersectionOf complementOf oneOf Restriction onProperty someValuesFrom allValuesFrom hasValue ' +
      'cardinality minCardinality maxCardinality FunctionalProperty InverseFunctionalProperty TransitiveProperty ' +
      'SymmetricProperty hasKey priorVersion backwardCompatibleWith incompatibleWith',
    'http://www.w3.org/2004/02/skos/core#':
      'Concept ConceptScheme Collection OrderedCollection prefLabel altLabel hiddenLabel notation note definition example ' +
      'scopeNote editorialNote historyNote changeNote broader narrower related broaderTransitive narrowerTransitive ' +
      'semanticRelation inScheme topConceptOf hasTopConcept member memberList exactMatch closeMatch broadMatch narrowMatch ' +
      'relatedMatch mappingRelation',
    'http://xmlns.com/foaf/0.1/':
      'Agent Person Organization Group Document Image Project OnlineAccount OnlineChatAccount OnlineEcommerceAccount ' +
      'OnlineGamingAccount PersonalProfileDocument LabelProperty name firstName lastName givenName familyName givenname ' +
      'family_name surname nick title mbox mbox_sha1sum homepage page depiction depicts img knows maker made member ' +
      'interest topic_interest topic primaryTopic isPrimaryTopicOf account accountName accountServiceHomepage age birthday ' +
      'based_near currentProject pastProject dnaChecksum focus fundedBy geekcode gender holdsAccount icqChatID ' +
      'jabberID logo msnChatID myersBriggs openid phone plan publications schoolHomepage sha1 skypeID status theme ' +
      'thumbnail tipjar weblog workInfoHomepage workplaceHomepage yahooChatID aimChatID',
    'http://purl.org/dc/terms/':
      'abstract accessRights accrualMethod accrualPeriodicity accrualPolicy alternative audience available ' +
      'bibliographicCitation conformsTo contributor coverage created creator date dateAccepted dateCopyrighted ' +
      'dateSubmitted description educationLevel extent format hasFormat hasPart hasVersion identifier instructionalMethod ' +
      'isFormatOf isPartOf isReferencedBy isReplacedBy isRequiredBy issued isVersionOf language license mediator medium ' +
      'modified provenance publisher references relation replaces requires rights rightsHolder source spatial subject ' +
      'tableOfContents temporal title type valid Agent AgentClass BibliographicResource Box DCMIType DDC FileFormat ' +
      'Frequency IMT ISO3166 ISO639-2 ISO639-3 Jurisdiction LCC LCSH LicenseDocument LinguisticSystem Location ' +
      'LocationPeriodOrJurisdiction MediaType MediaTypeOrExtent MESH MethodOfAccrual MethodOfInstruction NLM Period ' +
      'PeriodOfTime PhysicalMedium PhysicalResource Point Policy ProvenanceStatement RFC1766 RFC3066 RFC4646 RFC5646 ' +
      'RightsStatement SizeOrDuration Standard TGN UDC URI W3CDTF',
    'http://www.w3.org/2003/01/geo/wgs84_pos#':
      'lat long alt location lat_long Point SpatialThing Event time',
    'http://www.opengis.net/ont/geosparql#':
      'Feature Geometry SpatialObject FeatureCollection GeometryCollection SpatialObjectCollection hasGeometry ' +
      'hasDefaultGeometry defaultGeometry asWKT asGML asGeoJSON asKML asDGGS wktLiteral gmlLiteral geoJSONLiteral kmlLiteral ' +
      'dggsLiteral hasSerialization dimension coordinateDimension spatialDimension isEmpty isSimple hasBoundingBox ' +
      'hasCentroid hasArea hasMetricArea hasLength hasMetricLength hasPerimeterLength hasMetricPerimeterLength hasVolume ' +
      'hasMetricVolume hasSize hasMetricSize hasSpatialResolution hasMetricSpatialResolution hasSpatialAccuracy ' +
      'hasMetricSpatialAccuracy sfContains sfWithin sfIntersects sfTouches sfOverlaps sfCrosses sfEquals sfDisjoint ' +
      'ehContains ehInside ehCovers ehCoveredBy ehMeet ehOverlap ehEquals ehDisjoint rcc8dc rcc8ec rcc8eq rcc8ntpp ' +
      'rcc8ntppi rcc8po rcc8tpp rcc8tppi',
  }).map(([namespace, names]) => [namespace, names.split(' ')]),
)

/**
 * Terms of schema.org that mappings often use. The vocabulary is large and grows: other terms are considered correct, unless they
 * are misspellings of these.
 */
export const SCHEMA_TERMS: readonly string[] = (
  'name alternateName description url image identifier sameAs address addressCountry addressLocality addressRegion ' +
  'postalCode streetAddress telephone email faxNumber geo latitude longitude elevation startDate endDate birthDate ' +
  'deathDate birthPlace deathPlace givenName familyName gender nationality jobTitle worksFor memberOf member members ' +
  'location containedInPlace containsPlace author creator publisher datePublished dateCreated dateModified inLanguage ' +
  'keywords license genre director actor actors duration contentRating aggregateRating ratingValue ratingCount ' +
  'reviewCount review reviews price priceCurrency offers brand model color weight height width depth category sku gtin ' +
  'population area capital currenciesAccepted iataCode icaoCode foundingDate founder organizer performer event events ' +
  'subjectOf about mainEntity isPartOf hasPart additionalType disambiguatingDescription value unitCode unitText minValue ' +
  'maxValue legalName logo openingHours openingHoursSpecification department employee numberOfEmployees ' +
  'maximumAttendeeCapacity isAccessibleForFree text headline thumbnailUrl contentUrl encodingFormat hasMap map maps ' +
  'Thing Person Organization Place City Country State Airport Event Product Offer CreativeWork Movie Book Article ' +
  'Dataset PostalAddress GeoCoordinates GeoShape AdministrativeArea LocalBusiness Restaurant Hotel Museum Library School ' +
  'Hospital Park Store TouristAttraction CivicStructure GovernmentOrganization SportsTeam SportsEvent Rating ' +
  'AggregateRating QuantitativeValue PropertyValue ImageObject VideoObject MusicGroup Language Continent Landform ' +
  'BodyOfWater Mountain Observation StatisticalPopulation ParkingFacility BusStop TrainStation Course Recipe Review'
).split(' ')

/** All terms of a completely known vocabulary. */
export function knownTerms(namespace: string): readonly string[] | undefined {
  return TERMS.get(namespace)
}

/** The namespace of an IRI: all up to its last `#`, else `/`. */
export function namespaceOf(iri: string): string {
  const hash = iri.lastIndexOf('#')
  return iri.slice(0, (hash >= 0 ? hash : iri.lastIndexOf('/')) + 1)
}

/** The known namespace that differs in one or two characters at one place; undefined if there is none. */
export function nearNamespace(namespace: string): string | undefined {
  return KNOWN_NAMESPACES.find(known => {
    if (known === namespace || Math.abs(known.length - namespace.length) > 2) return false
    const max = Math.max(known.length, namespace.length)
    const least = Math.min(known.length, namespace.length)
    let head = 0
    while (head < least && known[head] === namespace[head]) head++
    let tail = 0
    while (tail < least - head && known.at(-1 - tail) === namespace.at(-1 - tail)) tail++
    return head + tail >= max - 2
  })
}

/** Datatypes that are suggested for an unknown name. */
export const XSD_NAMES: readonly string[] = words(
  'string integer decimal double float boolean date dateTime time duration gYear gYearMonth gMonth gDay',
  'gMonthDay anyURI int long short byte nonNegativeInteger positiveInteger dateTimeStamp',
  'dayTimeDuration yearMonthDuration hexBinary base64Binary token language normalizedString',
)

/** The codes of ISO 639-1, concatenated. */
const CODES =
  'aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo ' +
  'es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka ' +
  'kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl ' +
  'nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su ' +
  'sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu'

const KNOWN: ReadonlySet<string> = new Set(CODES.split(' '))

/** True for a language code of two letters (ISO 639-1). */
export function isLanguageCode(text: string): boolean {
  return KNOWN.has(text.toLowerCase())
}
