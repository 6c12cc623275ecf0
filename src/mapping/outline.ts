import type { Field } from '../model/field.ts'
import { RDF, XSD } from '../rdf/vocab.ts'
import { naturalDatatype } from './columns.ts'
import type { Mapping, ObjectMap, ResourceRule, Segment, TermMap } from './ir.ts'
import { constantIri, constantText } from './vocabulary.ts'

/** What is known of a dataset beside its mapping: of each field, whether every record has one value that no other has. */
export interface OutlinedData {
  readonly fields: readonly Field[]
  /** Fields that every record has a value of. */
  readonly complete: ReadonlySet<string>
  /** Fields whose values are each that of one record alone. */
  readonly unique: ReadonlySet<string>
}

/** What a mapping says about one kind of resources, whatever the records are. */
export interface ResourceOutline {
  readonly key: string
  /** The classes by which these resources are found; where there are none, each of its properties finds them. */
  readonly classes: readonly string[]
  readonly properties: readonly PropertyOutline[]
}

export interface PropertyOutline {
  readonly iri: string
  /** What its values may be, one or another; empty where they may be anything. */
  readonly values: readonly ValueOutline[]
  /** The field that its values are, where it is one. */
  readonly field: string | null
  /** True where a resource has one value at most. */
  readonly isSingle: boolean
  /** True where each resource has a value. */
  readonly isRequired: boolean
}

export type ValueOutline =
  | { readonly type: 'iri'; readonly classes: readonly string[] }
  /** A datatype of null is any; the language is null where there is none, and `*` where it is any. */
  | { readonly type: 'literal'; readonly datatype: string | null; readonly language: string | null }

/** One statement of a mapping with its ends the way they stand in triples, each link followed. */
interface Emission {
  readonly rule: ResourceRule
  readonly subject: TermMap
  /** Null where it is made of values. */
  readonly predicate: string | null
  readonly object: TermMap
  /** The classes that its object has, where it is another resource. */
  readonly objectClasses: readonly string[]
  readonly isInverse: boolean
}

/**
 * Outlines what a mapping says of each kind of resource. Resources of two rules may be one where their subjects may have the
 * same IRI, so that what is reported of a property holds for the statements of all of them.
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
        isRequired: isAlone && own.some(each => each.predicate === iri && isAlwaysWritten(each.object, data)),
      }
    }),
  }
}

function emissionsOf(mapping: Mapping): readonly Emission[] {
  return mapping.resources.flatMap(rule =>
    rule.statements.flatMap(({ predicate, object, inverse = false }) => {
      const iri = constantIri(predicate)
      return ends(object, mapping).map(({ term, classes }): Emission => {
        const [subject, value] = inverse ? [term, rule.subject] : [rule.subject, term]
        const objectClasses = inverse ? classesOf(rule) : classes
        return { rule, subject, predicate: iri, object: value, objectClasses, isInverse: inverse }
      })
    }),
  )
}

/** What an object may be: a term, or the subjects of the rules that it links to. */
function ends(
  object: ObjectMap,
  { resources }: Mapping,
): readonly { readonly term: TermMap; readonly classes: readonly string[] }[] {
  if (object.type !== 'link') return [{ term: object, classes: [] }]
  return resources
    .filter(({ key }) => key === object.resource)
    .map(rule => ({ term: rule.subject, classes: classesOf(rule) }))
}

/** The classes that every resource of a rule has. */
function classesOf({ statements }: ResourceRule): readonly string[] {
  return unique(
    statements.flatMap(({ predicate, object, inverse }) => {
      if (inverse === true || constantIri(predicate) !== RDF.type || object.type === 'link') return []
      return constantIri(object) ?? []
    }),
  )
}

/** True where the subject of a statement is found by one of some classes, or else properties. */
function finds({ predicate, object }: Emission, classes: readonly string[], properties: readonly string[]) {
  if (predicate === null) return true
  if (classes.length === 0) return properties.includes(predicate)
  if (predicate !== RDF.type) return false
  const constant = constantIri(object)
  return constant === null || classes.includes(constant)
}

/** False where no term of the one map is a term of the other, by how their texts begin and what their paths are like. */
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

/** What stands for a value in the steps of a path: no IRI has it. */
const VALUE = ' '

/** The parts between slashes of a template whose values are escaped, so that they have no slash; null for any other. */
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
    return { type: 'literal', datatype: null, language: tag ?? '*' }
  }
  const type = typeof datatype === 'object' ? constantText(datatype) : (datatype ?? XSD.string)
  return { type: 'literal', datatype: type, language: null }
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

/** True where the resources of two records are never one. */
function isOfOneRecord(subject: TermMap, { unique: known }: OutlinedData): boolean {
  if (subject.type === 'blank' && subject.segments.length === 0) return true
  const references = segmentsOf(subject).filter(({ type }) => type !== 'constant')
  const [only] = references
  if (only === undefined || references.length > 1) return false
  return only.type === 'recordId' || (only.type === 'field' && known.has(only.name))
}

/** True where a record makes one term of it at most. */
function isOneTerm(term: TermMap, { fields }: OutlinedData): boolean {
  if (term.type === 'literal' && (typeof term.datatype === 'object' || typeof term.language === 'object'))
    return false
  return segmentsOf(term).every(
    segment =>
      segment.type !== 'field' || fields.find(({ name }) => name === segment.name)?.multivalued === false,
  )
}

/** True where every record makes a term of it: none of its values is absent, or can fail to be written. */
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
