/** The vocabularies that Lodestone writes or asks for: the one place where their addresses stand. */
function vocabulary<const N extends string>(
  base: string,
  ...names: readonly N[]
): Readonly<Record<N, string>> {
  return Object.fromEntries(names.map(name => [name, base + name])) as Record<N, string>
}

export const RDF = vocabulary(
  'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  'type',
  'subject',
  'predicate',
  'object',
  'langString',
  'dirLangString',
  'Property',
  'JSON',
  'first',
  'rest',
  'nil',
)
export const RDFS = vocabulary(
  'http://www.w3.org/2000/01/rdf-schema#',
  'label',
  'comment',
  'seeAlso',
  'domain',
  'range',
  'isDefinedBy',
  'Resource',
)
export const XSD = vocabulary(
  'http://www.w3.org/2001/XMLSchema#',
  'string',
  'integer',
  'decimal',
  'double',
  'float',
  'boolean',
  'date',
  'dateTime',
  'dateTimeStamp',
  'time',
  'gYear',
  'gYearMonth',
  'gMonth',
  'gMonthDay',
  'gDay',
  'duration',
  'yearMonthDuration',
  'dayTimeDuration',
)
export const GEO = vocabulary('http://www.opengis.net/ont/geosparql#', 'wktLiteral')
export const GEOF = vocabulary(
  'http://www.opengis.net/def/function/geosparql/',
  'distance',
  'sfIntersects',
  'sfDisjoint',
  'sfWithin',
)
export const UOM = vocabulary('http://www.opengis.net/def/uom/OGC/1.0/', 'metre')
export const DCAT = vocabulary(
  'http://www.w3.org/ns/dcat#',
  'Catalog',
  'Dataset',
  'Distribution',
  'dataset',
  'distribution',
  'keyword',
  'theme',
  'landingPage',
  'accessURL',
  'downloadURL',
  'mediaType',
)
export const DCTERMS = vocabulary(
  'http://purl.org/dc/terms/',
  'title',
  'description',
  'identifier',
  'publisher',
  'license',
  'language',
  'modified',
  'issued',
  'source',
  'isPartOf',
)
export const FOAF = vocabulary(
  'http://xmlns.com/foaf/0.1/',
  'primaryTopic',
  'isPrimaryTopicOf',
  'name',
  'Document',
  'homepage',
  'Agent',
)
export const VOID = vocabulary(
  'http://rdfs.org/ns/void#',
  'Dataset',
  'subset',
  'triples',
  'inDataset',
  'uriLookupEndpoint',
  'uriSpace',
  'vocabulary',
  'sparqlEndpoint',
)
export const HYDRA = vocabulary(
  'http://www.w3.org/ns/hydra/core#',
  'Collection',
  'PartialCollectionView',
  'ExplicitRepresentation',
  'member',
  'search',
  'template',
  'variableRepresentation',
  'mapping',
  'variable',
  'property',
  'totalItems',
  'itemsPerPage',
  'first',
  'previous',
  'next',
  'last',
  'view',
)
export const SKOS = vocabulary('http://www.w3.org/2004/02/skos/core#', 'prefLabel')
export const SCHEMA = vocabulary('http://schema.org/', 'name')
export const OWL = vocabulary('http://www.w3.org/2002/07/owl#', 'Ontology')

export const SD = vocabulary(
  'http://www.w3.org/ns/sparql-service-description#',
  'Service',
  'Dataset',
  'Graph',
  'NamedGraph',
  'endpoint',
  'supportedLanguage',
  'SPARQL11Query',
  'resultFormat',
  'feature',
  'UnionDefaultGraph',
  'defaultDataset',
  'defaultGraph',
  'namedGraph',
  'name',
  'graph',
  'extensionFunction',
)
export const FORMATS = vocabulary(
  'http://www.w3.org/ns/formats/',
  'SPARQL_Results_JSON',
  'SPARQL_Results_XML',
  'SPARQL_Results_CSV',
  'SPARQL_Results_TSV',
  'Turtle',
  'N-Triples',
  'RDF_XML',
  'JSON-LD',
  'N-Quads',
  'TriG',
  'N3',
)

/** Predicates of the index graph: what queries need and nobody exports. See src/README.md, "What is in the store". */
/** What SPARQL cannot say and columns can (docs in src/README.md, "Functions of our own"). */
export const LODESTONE = vocabulary('urn:lodestone:', 'position')
export const INDEX = vocabulary('urn:lodestone:index:', 'position', 'json', 'text', 'positions')
