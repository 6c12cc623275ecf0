import type { Field } from '../model/field.ts'
import { literalType } from '../rdf/literals.ts'
import { RDF, XSD } from '../rdf/vocab.ts'
import { naturalDatatype } from './columns.ts'
import {
  constantIri,
  constantText,
  type Mapping,
  type ObjectMap,
  type ResourceRule,
  type Segment,
  type StatementRule,
  type TermMap,
  usedClasses,
} from './ir.ts'

/** What is known of the data of a dataset: for each field, whether every record has a value, and whether the values are unique. */
export interface OutlinedData {
  readonly fields: readonly Field[]
  /** Fields with a value in every record. */
  readonly complete: ReadonlySet<string>
  /** Fields whose values each occur in one record only. */
  readonly unique: ReadonlySet<string>
}

/** What a mapping states about one kind of resources, independently of the records. */
export interface ResourceOutline {
  readonly key: string
  /** The classes that select these resources; without classes, each of its properties selects them. */
  readonly classes: readonly string[]
  readonly properties: readonly PropertyOutline[]
}

export interface PropertyOutline {
  readonly iri: string
  /** The alternatives for its values; empty if they may be anything. */
  readonly values: readonly ValueOutline[]
  /** The field of its values, if it is one. */
  readonly field: string | null
  readonly isSingle: boolean
  readonly isRequired: boolean
}

export type ValueOutline =
  | { readonly type: 'iri'; readonly classes: readonly string[] }
  /** As they are stored. A datatype of null means any; the language is null for none, and `*` for any. */
  | { readonly type: 'literal'; readonly datatype: string | null; readonly language: string | null }

/** One statement of a mapping in the direction of its triples, with links resolved. */
interface Emission {
  readonly rule: ResourceRule
  readonly subject: TermMap
  /** Null if it is computed from values. */
  readonly predicate: string | null
  readonly object: TermMap
  /** The classes of its object, if that is another resource. */
  readonly objectClasses: readonly string[]
  readonly isInverse: boolean
  /** False if it may be in no graph, because all of its graphs are made of values. */
  readonly isAlwaysInGraph: boolean
}

/**
 * Outlines what a mapping states about each kind of resource. Resources of two rules may be the same if their subjects may have
 * the same IRI, so that the description of a property covers the statements of both rules.
 */
export function outlineMapping(mapping: Mapping, data: OutlinedData): readonly ResourceOutline[] {
  const emissions = emissionsOf(mapping)
  return mapping.resources.flatMap(rule => outlineRule(rule, emissions, data) ?? [])
}

function outlineRule(
  rule: ResourceRule,
  emissions: readonly Emission[],
  data: OutlinedData,
): ResourceOutline | null {
  const classes = classesOf(rule)
  const own = emissions.filter(each => each.rule === rule && !each.isInverse)
  const properties = unique(own.flatMap(({ predicate }) => predicate ?? [])).filter(iri => iri !== RDF.type)
  if (classes.length === 0 && properties.length === 0) return null
  const finding = emissions.filter(each => finds(each, classes, properties))
  const related = emissions.filter(each => finding.some(({ subject }) => mayMeet(subject, each.subject)))
  const isAlone = finding.every(each => each.rule === rule && !each.isInverse)
  const rules = unique(related.map(each => each.rule))
  const isOneRecord = isAlone && rules.length === 1 && isOfOneRecord(rule.subject, data)
  return {
    key: rule.key,
    classes,
    properties: properties.map(iri => {
      const making = related.filter(({ predicate }) => predicate === null || predicate === iri)
      const [only] = making
      const isAny = making.some(({ predicate }) => predicate === null)
      return {
        iri,
        values: isAny ? [] : distinctValues(making.map(each => valueOutline(each, data))),
        field: only === undefined || making.length > 1 ? null : fieldOf(only.object),
        isSingle: making.length === 1 && isOneRecord && only !== undefined && isOneTerm(only.object, data),
        isRequired:
          isAlone &&
          own.some(
            each => each.predicate === iri && each.isAlwaysInGraph && isAlwaysWritten(each.object, data),
          ),
      }
    }),
  }
}

function emissionsOf(mapping: Mapping): readonly Emission[] {
  return mapping.resources.flatMap(rule =>
    rule.statements.flatMap(statement => {
      const { predicate, object, inverse = false } = statement
      const isAlwaysInGraph = isInGraph(rule, statement)
      const iri = constantIri(predicate)
      return ends(object, mapping).map(({ term, classes }): Emission => {
        const [subject, value] = inverse ? [term, rule.subject] : [rule.subject, term]
        const objectClasses = inverse ? sureClassesOf(rule) : classes
        const isInverse = inverse
        return { rule, subject, predicate: iri, object: value, objectClasses, isInverse, isAlwaysInGraph }
      })
    }),
  )
}

/** The possible objects: a term, or the subjects of the rules that it links to. */
function ends(
  object: ObjectMap,
  { resources }: Mapping,
): readonly { readonly term: TermMap; readonly classes: readonly string[] }[] {
  if (object.type !== 'link') return [{ term: object, classes: [] }]
  return resources
    .filter(({ key }) => key === object.resource)
    .map(rule => ({ term: rule.subject, classes: sureClassesOf(rule) }))
}

function classesOf(rule: ResourceRule): readonly string[] {
  return usedClasses({ resources: [rule] })
}

/** The classes of each resource that a rule makes. */
function sureClassesOf(rule: ResourceRule): readonly string[] {
  return classesOf({ ...rule, statements: rule.statements.filter(each => isInGraph(rule, each)) })
}

/** True if the triples of a statement are in some graph for every record: not if each of its graphs is made of values. */
function isInGraph(rule: ResourceRule, statement: StatementRule): boolean {
  const graphs = [...(rule.graphs ?? []), ...(statement.graphs ?? [])]
  return graphs.length === 0 || graphs.some(graph => constantIri(graph) !== null)
}

/** True if a statement has one of the given classes, or, without classes, one of the properties. */
function finds({ predicate, object }: Emission, classes: readonly string[], properties: readonly string[]) {
  if (predicate === null) return true
  if (classes.length === 0) return properties.includes(predicate)
  if (predicate !== RDF.type) return false
  const constant = constantIri(object)
  return constant === null || classes.includes(constant)
}

/** False if no term of one map can be a term of the other, according to their prefixes and path steps. */
function mayMeet(one: TermMap, other: TermMap): boolean {
  const [a, b] = [beginning(one), beginning(other)]
  if (!a.startsWith(b) && !b.startsWith(a)) return false
  const [steps, others] = [pathSteps(one), pathSteps(other)]
  if (steps === null || others === null) return true
  if (steps.length !== others.length) return false
  return steps.every((step, at) => {
    const found = others[at]
    return step === found || step.includes(VALUE) || found?.includes(VALUE)
  })
}

/** Placeholder for a value in the steps of a path: it never occurs in an IRI. */
const VALUE = ' '

/** The path steps of a template whose values are escaped, so that they contain no slash; null for any other term. */
function pathSteps(term: TermMap): readonly string[] | null {
  if (term.type !== 'iri' || term.base !== undefined || term.encode === 'none') return null
  const isReference = term.segments.length === 1 && term.segments[0]?.type !== 'constant'
  if (isReference) return null
  return term.segments
    .map(segment => (segment.type === 'constant' ? segment.text : VALUE))
    .join('')
    .split('/')
}

function beginning(term: TermMap): string {
  if (term.type !== 'iri' || term.base !== undefined) return ''
  const [first] = term.segments
  return first?.type === 'constant' ? first.text : ''
}

function valueOutline({ object, objectClasses }: Emission, { fields }: OutlinedData): ValueOutline {
  // Blank nodes are published as IRIs (RDF 1.1 Concepts, section 3.5).
  if (object.type === 'iri' || object.type === 'blank') return { type: 'iri', classes: objectClasses }
  if (object.type === 'natural') {
    const field = fields.find(({ name }) => name === object.field)
    const datatype = field === undefined ? XSD.string : naturalDatatype(field.type)
    return { type: 'literal', datatype, language: null }
  }
  const { datatype, language } = object
  if (language !== undefined) {
    const tag = typeof language === 'string' ? language : constantText(language)
    return { type: 'literal', datatype: null, language: tag?.toLowerCase() ?? '*' }
  }
  const type = typeof datatype === 'object' ? constantText(datatype) : (datatype ?? XSD.string)
  const stored = type === null ? null : (literalType(type)?.stored ?? type)
  return { type: 'literal', datatype: stored, language: null }
}

function distinctValues(values: readonly ValueOutline[]): readonly ValueOutline[] {
  const known = new Map(values.map(value => [JSON.stringify(value), value]))
  return [...known.values()]
}

function fieldOf(object: TermMap): string | null {
  if (object.type === 'natural') return object.field
  if (object.type !== 'literal' || object.segments.length !== 1) return null
  const [only] = object.segments
  return only?.type === 'field' ? only.name : null
}

function segmentsOf(term: TermMap): readonly Segment[] {
  return term.type === 'natural' ? [{ type: 'field', name: term.field }] : term.segments
}

/** True if two records never create the same resource. */
function isOfOneRecord(subject: TermMap, { unique: known }: OutlinedData): boolean {
  if (subject.type === 'blank' && subject.segments.length === 0) return true
  const references = segmentsOf(subject).filter(({ type }) => type !== 'constant')
  const [only] = references
  if (only === undefined || references.length > 1) return false
  return only.type === 'recordId' || (only.type === 'field' && known.has(only.name))
}

/** True if a record creates at most one term of it. */
function isOneTerm(term: TermMap, { fields }: OutlinedData): boolean {
  if (term.type === 'literal' && (typeof term.datatype === 'object' || typeof term.language === 'object'))
    return false
  return segmentsOf(term).every(
    segment =>
      segment.type !== 'field' || fields.find(({ name }) => name === segment.name)?.multivalued === false,
  )
}

/** True if every record creates a term of it: no value is absent, and every value can be written. */
function isAlwaysWritten(term: TermMap, data: OutlinedData): boolean {
  if (term.type === 'blank' || !isOneTerm(term, data)) return false
  const segments = segmentsOf(term)
  if (term.type === 'iri') return segments.every(({ type }) => type === 'constant')
  if (term.type === 'literal' && term.datatype !== undefined && term.datatype !== XSD.string) return false
  return segments.every(segment => segment.type !== 'field' || data.complete.has(segment.name))
}

function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)]
}
