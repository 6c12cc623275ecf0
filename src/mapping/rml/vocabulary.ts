import { words } from '../../model/words.ts'

/** The vocabularies of RML: that of 2024, and that of R2RML with the first RML, which have equivalent terms. */
export const RML = 'http://w3id.org/rml/'
export const R2RML = 'http://www.w3.org/ns/r2rml#'
export const RML1 = 'http://semweb.mmlab.be/ns/rml#'
export const QL = 'http://semweb.mmlab.be/ns/ql#'
export const CSVW = 'http://www.w3.org/ns/csvw#'
const FNML = 'http://semweb.mmlab.be/ns/fnml#'
const FNO = 'https://w3id.org/function/ontology#'

/** The IRI of a graph map for the default graph; that of R2RML is read as this one. */
export const RR_DEFAULT_GRAPH = `${RML}defaultGraph`

/**
 * The name of a term in RML's vocabularies, old or new, without its namespace: `template` for rr:template and rml:template,
 * `csvw:url` for the dialects of tables, `fnml:…` for functions. Undefined for all others.
 */
export function rmlName(iri: string): string | undefined {
  for (const namespace of [RML, R2RML, RML1, QL])
    if (iri.startsWith(namespace)) return iri.slice(namespace.length)
  if (iri.startsWith(CSVW)) return `csvw:${iri.slice(CSVW.length)}`
  if (iri.startsWith(FNML)) return `fnml:${iri.slice(FNML.length)}`
  if (iri.startsWith(FNO)) return `fno:${iri.slice(FNO.length)}`
  return undefined
}

const TERM_MAP = words('constant template reference termType')
const DIALECT =
  'delimiter encoding commentPrefix quoteChar doubleQuote header headerRowCount lineTerminators skipBlankRows ' +
  'skipColumns skipInitialSpace skipRows trim null'

/** The kinds of nodes of a mapping, and their allowed properties. */
export const PROPERTIES = {
  'triples map': words('logicalSource subjectMap subject predicateObjectMap baseIRI'),
  'logical source': words('source referenceFormulation iterator'),
  source: words('path root null encoding compression csvw:url csvw:dialect csvw:null'),
  dialect: words(DIALECT).map(name => `csvw:${name}`),
  'subject map': [...TERM_MAP, 'class', 'graph', 'graphMap'],
  'predicate-object map': words('predicate predicateMap object objectMap graph graphMap'),
  'predicate map': TERM_MAP,
  'graph map': TERM_MAP,
  'datatype map': TERM_MAP,
  'language map': TERM_MAP,
  'object map': [
    ...TERM_MAP,
    ...words('datatype datatypeMap language languageMap parentTriplesMap joinCondition'),
  ],
  'join condition': words('child parent childMap parentMap'),
  'join expression': words('constant template reference'),
} as const satisfies Readonly<Record<string, readonly string[]>>

export type NodeKind = keyof typeof PROPERTIES

/** Features that Lodestone does not support, with the terms that require them. */
const UNSUPPORTED: readonly (readonly [feature: string, names: readonly string[]])[] = [
  [
    'SQL tables and queries',
    words('logicalTable tableName sqlQuery sqlVersion query column SQL2008Table SQL2008Query'),
  ],
  ['inverse expressions', ['inverseExpression']],
  [
    'functions',
    words(
      'functionExecution function input inputValue inputValueMap parameter parameterMap functionMap return ' +
        'returnMap FunctionExecution functionValue',
    ),
  ],
  ['conditions', words('condition conditionMap if')],
  ['targets', words('logicalTarget target serialization mode LogicalTarget Target')],
  [
    'quoted triples of RML-star',
    words(
      'quotedTriplesMap subjectMapStar starMap StarMap AssertedTriplesMap NonAssertedTriplesMap QuotedTriplesMap',
    ),
  ],
  [
    'collections and containers',
    words('gather gatherAs strategy allowEmptyListAndContainer GatherMap append cartesianProduct'),
  ],
  [
    'logical views',
    words(
      'viewOn field fieldName leftJoin innerJoin parentLogicalView structuralAnnotation LogicalView Field ' +
        'IterableField ExpressionField',
    ),
  ],
  ['class maps', ['classMap']],
]

/** The unsupported feature that a term of RML requires. */
export function unsupportedFeature(name: string): string | undefined {
  if (name.startsWith('fnml:') || name.startsWith('fno:')) return 'functions'
  return UNSUPPORTED.find(([, names]) => names.includes(name))?.[0]
}

/** Allowed classes of nodes. */
export const CLASSES: readonly string[] = words(
  'TriplesMap LogicalSource BaseSource AbstractLogicalSource Source RelativePathSource FilePath SubjectMap ' +
    'PredicateMap ObjectMap GraphMap PredicateObjectMap RefObjectMap TermMap ExpressionMap DatatypeMap ' +
    'LanguageMap Join JoinCondition ChildMap ParentMap ReferenceFormulation Strategy IriSafetyMap',
)

export const TERM_TYPES = ['IRI', 'URI', 'UnsafeIRI', 'UnsafeURI', 'BlankNode', 'Literal'] as const

export type TermTypeName = (typeof TERM_TYPES)[number]
