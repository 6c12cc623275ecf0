import { Fault } from '../../errors/errors.ts'
import { lookup } from '../../model/lookup.ts'
import { iriSafe } from '../../rdf/iri-syntax.ts'
import { RDF } from '../../rdf/vocab.ts'
import type { MappingColumn } from '../columns.ts'
import { MAPPING_INVALID } from '../diagnostic.ts'
import {
  fieldReferences,
  type LogicalSource,
  type Mapping,
  type ResourceRule,
  type Segment,
  type StatementRule,
  statementTerms,
  type TermMap,
} from '../ir.ts'
import { inverseRules } from './inverse.ts'
import { CSVW, QL, R2RML, RML, RML1, RR_DEFAULT_GRAPH } from './vocabulary.ts'
import {
  PrefixedNames,
  type RmlDialect,
  sourceNode,
  subjectText,
  termNode,
  type WrittenNode,
  type WrittenProperty,
  writtenConstant,
} from './write-terms.ts'

/** Options for writing a mapping as RML. */
export interface WriteRmlOptions {
  /** The file with the records, instead of the files that the mapping names. In JSON, references become JSONPath. */
  readonly source?: {
    readonly path: string
    readonly formulation: 'csv' | 'json'
    readonly iterator?: string | null
  }
  /**
   * Base of the document: the names of the triples maps and relative IRIs from records are relative to it. Without it, the names
   * of the triples maps are absolute.
   */
  readonly base?: string
  /** `rml` for the vocabulary of 2024 (the default), `r2rml-era` for that of R2RML with the first RML. */
  readonly vocabulary?: 'rml' | 'r2rml-era'
  /** The fields: text files carry no types, so datatypes are written for all fields that are not text. */
  readonly columns?: readonly MappingColumn[]
  /** Column of the file with the record ids. */
  readonly recordId?: string
}

/** Prefixes that need not be declared in the mapping. */
const CUSTOMARY = {
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  geo: 'http://www.opengis.net/ont/geosparql#',
}

/**
 * Namespace of the triples maps in a document without base. Engines refuse relative IRIs without a base, and a base would change
 * the result for relative IRIs in the data.
 */
const MAPS = 'urn:lodestone:mapping#'

/** The terms that the old vocabulary took from the first RML; all others are of R2RML. */
const FIRST_RML: readonly string[] =
  'logicalSource source referenceFormulation iterator reference languageMap datatypeMap'.split(' ')

/**
 * Writes a mapping as RML in Turtle, for other engines. A link becomes a referencing object map that joins on the references of
 * the other subject, an inverse statement a triples map of its own.
 *
 * Throws MappingInvalid for what RML cannot express, and if neither mapping nor options name the file.
 */
export function writeRml(mapping: Mapping, options: WriteRmlOptions = {}): string {
  const vocabulary = options.vocabulary ?? 'rml'
  const own = vocabulary === 'rml' ? { rml: RML, csvw: CSVW } : { rr: R2RML, rml: RML1, ql: QL, csvw: CSVW }
  const rules = placedRules(inverseRules(mapping.resources), options)
  const bases = new Set(rules.flatMap(({ rule }) => basesOf(rule)))
  const base = options.base ?? (vocabulary === 'rml' ? undefined : oneBase(bases))
  const prefixes = mapping.prefixes ?? {}
  const names = new PrefixedNames(own, base === undefined ? freePrefix(prefixes) : {}, prefixes, CUSTOMARY)
  const dialect: RmlDialect = {
    names,
    vocabulary,
    term: name => names.iri(termIri(name, vocabulary)),
    reference: referenceWriter(options),
    recordId: options.recordId,
    columns: options.columns ?? [],
    name: name => (base === undefined ? names.iri(MAPS + iriSafe(name)) : `<#${iriSafe(name)}>`),
  }
  const blocks = rules.map(placed =>
    subjectText(dialect.name(placed.name), triplesMap(dialect, placed, rules, base)),
  )
  const head = names.declarations() + (base === undefined ? '' : `@base <${base}> .\n`)
  return [head, ...blocks].join('\n')
}

/** A prefix for the names of the triples maps that the mapping itself does not use. */
function freePrefix(taken: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const free = ['map', 'maps', 'triplesmap'].find(
    prefix => !Object.hasOwn(taken, prefix) || lookup(taken, prefix) === MAPS,
  )
  return free === undefined ? {} : { [free]: MAPS }
}

function termIri(name: string, vocabulary: 'rml' | 'r2rml-era'): string {
  if (vocabulary === 'rml') return RML + name
  if (name === 'CSV' || name === 'JSONPath') return QL + name
  return (FIRST_RML.includes(name) ? RML1 : R2RML) + name
}

/** References in the file that the options name; those to the mapping's own files are unchanged. */
function referenceWriter({ source, columns }: WriteRmlOptions): (field: string) => string {
  if (source?.formulation !== 'json') return field => field
  return field => {
    if (field.startsWith('$')) return field
    const path = /^[A-Za-z_]\w*$/.test(field) ? `$.${field}` : `$['${field.replace(/[\\']/g, '\\$&')}']`
    return columns?.find(({ name }) => name === field)?.multivalued === true ? `${path}[*]` : path
  }
}

/** A rule with one of its files and the name of its triples map. */
interface PlacedRule {
  readonly rule: ResourceRule
  readonly source: LogicalSource
  readonly name: string
}

function placedRules(rules: readonly ResourceRule[], { source }: WriteRmlOptions): readonly PlacedRule[] {
  return rules.flatMap(rule => {
    const given = source && {
      path: source.path,
      formulation: source.formulation,
      iterator: source.iterator ?? null,
    }
    const sources = given === undefined ? (rule.sources ?? []) : [given]
    if (sources.length === 0)
      throw new Fault(MAPPING_INVALID, { reason: `RML needs a file for ${rule.key}, and none is named` })
    return sources.map((from, index) => ({
      rule,
      source: from,
      name: index === 0 ? rule.key : `${rule.key}-${index + 1}`,
    }))
  })
}

function oneBase(bases: ReadonlySet<string>): string | undefined {
  const [first, second] = bases
  if (second === undefined) return first
  throw new Fault(MAPPING_INVALID, {
    reason: 'The mapping has several bases, which the old vocabulary of RML cannot express: use the new one',
  })
}

function basesOf({ subject, graphs, statements }: ResourceRule): readonly string[] {
  const terms = [subject, ...(graphs ?? []), ...statements.flatMap(statementTerms)]
  return terms.flatMap(term => (term.type === 'iri' && term.base !== undefined ? [term.base] : []))
}

function triplesMap(
  dialect: RmlDialect,
  { rule, source }: PlacedRule,
  all: readonly PlacedRule[],
  documentBase: string | undefined,
): WrittenNode {
  const { term, names } = dialect
  const own = oneBase(new Set(basesOf(rule)))
  const base =
    own !== undefined && own !== documentBase ? [{ predicate: term('baseIRI'), object: `<${own}>` }] : []
  if (rule.subject.type === 'natural' || rule.subject.type === 'literal')
    throw new Fault(MAPPING_INVALID, { reason: `The subject of ${rule.key} is a literal` })
  const classes = rule.statements.flatMap(statement => classOf(statement) ?? [])
  const others = rule.statements.filter(statement => classOf(statement) === null)
  return [
    { predicate: 'a', object: term('TriplesMap') },
    ...base,
    { predicate: term('logicalSource'), object: sourceNode(dialect, source) },
    {
      predicate: term('subjectMap'),
      object: [
        ...termNode(dialect, rule.subject, false),
        ...classes.map(iri => ({ predicate: term('class'), object: names.iri(iri) })),
        ...graphProperties(dialect, rule.graphs),
      ],
    },
    ...others.map(statement => ({
      predicate: term('predicateObjectMap'),
      object: [
        predicateProperty(dialect, statement),
        objectProperty(dialect, statement, source, all),
        ...graphProperties(dialect, statement.graphs),
      ],
    })),
  ]
}

/** The class of a statement, if a subject map can express it. */
function classOf({ predicate, object, graphs }: StatementRule): string | null {
  if (predicate !== RDF.type || object.type !== 'iri' || (graphs ?? []).length > 0) return null
  const [only, second] = object.segments
  return only?.type === 'constant' && second === undefined ? only.text : null
}

function predicateProperty(dialect: RmlDialect, { predicate }: StatementRule): WrittenProperty {
  const { term, names } = dialect
  return typeof predicate === 'string'
    ? { predicate: term('predicate'), object: names.iri(predicate) }
    : { predicate: term('predicateMap'), object: termNode(dialect, predicate, false) }
}

function objectProperty(
  dialect: RmlDialect,
  { object }: StatementRule,
  source: LogicalSource,
  all: readonly PlacedRule[],
): WrittenProperty {
  const { term } = dialect
  if (object.type !== 'link') {
    const constant = writtenConstant(dialect, object)
    return constant === null
      ? { predicate: term('objectMap'), object: termNode(dialect, object, true) }
      : { predicate: term('object'), object: constant }
  }
  const same = (other: LogicalSource) =>
    other.path === source.path &&
    other.formulation === source.formulation &&
    other.iterator === source.iterator
  const target = all.find(({ rule, source: other }) => rule.key === object.resource && same(other))
  if (target === undefined)
    throw new Fault(MAPPING_INVALID, {
      reason: `The link to ${object.resource} leads to another file: RML needs a join`,
    })
  const references = [...new Set(fieldReferences(target.rule.subject).map(({ name }) => name))]
  const isMany = (name: string) => dialect.columns.some(column => column.name === name && column.multivalued)
  if (references.some(isMany))
    return { predicate: term('objectMap'), object: termNode(dialect, target.rule.subject, true) }
  return {
    predicate: term('objectMap'),
    object: [
      { predicate: term('parentTriplesMap'), object: dialect.name(target.name) },
      ...references.map(name => joinCondition(dialect, name)),
    ],
  }
}

/**
 * Several engines link every record with every other if there is no condition. With one condition for each reference of the
 * parent's subject, all of them link the same record alone.
 */
function joinCondition({ term, names, reference }: RmlDialect, field: string): WrittenProperty {
  const name = names.literal(reference(field))
  return {
    predicate: term('joinCondition'),
    object: [
      { predicate: term('child'), object: name },
      { predicate: term('parent'), object: name },
    ],
  }
}

function graphProperties(
  dialect: RmlDialect,
  graphs: readonly TermMap[] | undefined,
): readonly WrittenProperty[] {
  const { term } = dialect
  return (graphs ?? []).map(graph => {
    const constant = writtenConstant(dialect, graph)
    if (constant === null) return { predicate: term('graphMap'), object: termNode(dialect, graph, false) }
    const isDefault = graph.type === 'iri' && graph.segments.some(isDefaultGraph)
    return { predicate: term('graph'), object: isDefault ? term('defaultGraph') : constant }
  })
}

function isDefaultGraph(segment: Segment): boolean {
  if (segment.type !== 'constant') return false
  return segment.text === RR_DEFAULT_GRAPH || segment.text === `${R2RML}defaultGraph`
}
