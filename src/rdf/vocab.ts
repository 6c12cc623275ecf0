import { type WordOf, words } from '../model/words.ts'

/** The vocabularies that Lodestone writes or queries: the only module with their IRIs. */
function vocabulary<const Text extends string>(
  base: string,
  ...names: readonly Text[]
): Readonly<Record<WordOf<Text>, string>> {
  return Object.fromEntries(words(...names).map(name => [name, base + name])) as Record<WordOf<Text>, string>
}

export const RDF = vocabulary(
  'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  'type subject predicate object value langString dirLangString Property JSON first rest nil reifies',
)
export const RDFS = vocabulary(
  'http://www.w3.org/2000/01/rdf-schema#',
  'label comment seeAlso domain range isDefinedBy Resource',
)
export const XSD = vocabulary(
  'http://www.w3.org/2001/XMLSchema#',
  'string integer decimal double float boolean date dateTime dateTimeStamp time gYear gYearMonth gMonth',
  'gMonthDay gDay duration yearMonthDuration dayTimeDuration',
)
export const GEO = vocabulary('http://www.opengis.net/ont/geosparql#', 'wktLiteral')
export const GEOF = vocabulary(
  'http://www.opengis.net/def/function/geosparql/',
  'distance sfEquals sfIntersects sfDisjoint sfTouches sfCrosses sfWithin sfContains sfOverlaps envelope',
  'convexHull boundary intersection union difference symDifference',
)
export const UOM = vocabulary('http://www.opengis.net/def/uom/OGC/1.0/', 'metre')
export const DCAT = vocabulary(
  'http://www.w3.org/ns/dcat#',
  'Catalog Dataset Distribution dataset distribution keyword theme landingPage contactPoint accessURL',
  'downloadURL mediaType',
)
export const DCTERMS = vocabulary(
  'http://purl.org/dc/terms/',
  'title description identifier publisher license language modified issued source isPartOf isVersionOf',
  'requires',
)
export const PROV = vocabulary('http://www.w3.org/ns/prov#', 'generatedAtTime')
export const FOAF = vocabulary(
  'http://xmlns.com/foaf/0.1/',
  'primaryTopic isPrimaryTopicOf name Document homepage Agent',
)
export const VOID = vocabulary(
  'http://rdfs.org/ns/void#',
  'Dataset Linkset linkPredicate objectsTarget subjectsTarget subset triples inDataset uriLookupEndpoint',
  'uriSpace vocabulary sparqlEndpoint',
)
export const HYDRA = vocabulary(
  'http://www.w3.org/ns/hydra/core#',
  'Collection PartialCollectionView ExplicitRepresentation member search template variableRepresentation',
  'mapping variable property totalItems itemsPerPage first previous next last view',
)
export const SKOS = vocabulary('http://www.w3.org/2004/02/skos/core#', 'prefLabel')
export const SCHEMA = vocabulary('http://schema.org/', 'name')
export const OWL = vocabulary('http://www.w3.org/2002/07/owl#', 'Ontology')

export const SD = vocabulary(
  'http://www.w3.org/ns/sparql-service-description#',
  'Service Dataset Graph NamedGraph endpoint supportedLanguage SPARQL10Query SPARQL11Query Language',
  'extensionFunction extensionAggregate Function Aggregate resultFormat feature UnionDefaultGraph',
  'BasicFederatedQuery defaultDataset defaultGraph namedGraph name graph',
)
export const FORMATS = vocabulary(
  'http://www.w3.org/ns/formats/',
  'SPARQL_Results_JSON SPARQL_Results_XML SPARQL_Results_CSV SPARQL_Results_TSV Turtle N-Triples RDF_XML',
  'JSON-LD N-Quads TriG N3',
)

/**
 * Lodestone's own IRIs: the predicate of a record's position, which is never exported (docs/architecture.md, "What is in the
 * store"), and functions that columns have and SPARQL lacks (docs/sparql.md, "Functions").
 */
export const LODESTONE = vocabulary(
  'urn:lodestone:',
  'position search matches near datePart dateFormat interval intervalStart longitude latitude step epoch',
  'secondOfDay fraction least greatest count random trim replace indexOf substring truncate roundAway',
  'quotient ratio modulo remainder recordSize sum average minimum maximum countDistinct percentile hull',
  'boundingBox',
)
