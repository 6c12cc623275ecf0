import { nearest } from '../../model/did-you-mean.ts'
import { RDF } from '../../rdf/vocab.ts'
import { type Diagnostic, type DiagnosticCode, severityOf } from '../diagnostic.ts'
import type { MappingPlace } from '../ir.ts'
import type { TurtleSpan } from './token-tracker.ts'
import type { DocumentNode, DocumentTerm, Property, TurtleDocument } from './turtle.ts'
import { nodeId } from './turtle.ts'
import { CLASSES, type NodeKind, PROPERTIES, rmlName, unsupportedFeature } from './vocabulary.ts'

/** The state of reading a mapping document. */
export interface Reading {
  readonly document: TurtleDocument
  readonly diagnostics: Diagnostic[]
  /** True if the logical sources are not used. */
  readonly ignoresSources: boolean
  /** Number of properties that may still be visited: shared nodes could otherwise be visited again and again. */
  budget: number
}

/** A position, and the path to it: `<#Person>.subjectMap`. */
export interface Location {
  readonly span: TurtleSpan
  readonly path: string
}

/** The role of a term map; it determines the default type and the errors. */
export type Role = 'subject' | 'predicate' | 'object' | 'graph' | 'datatype' | 'language'

/** The context of a term map: its role, its position, and the base for relative IRIs. */
export interface TermContext {
  readonly reading: Reading
  readonly role: Role
  readonly at: Location
  readonly base: string | undefined
}

/** Maximum number of visited properties, counting every visit to a node. */
export const MAX_VISITS = 200_000

/** Maximum number of diagnostics of one document. */
const MAX_DIAGNOSTICS = 500

/** Adds a diagnostic at a position. */
export function reportReading(
  { diagnostics }: Reading,
  code: DiagnosticCode,
  at: Location,
  message: string,
  hint?: string,
): void {
  if (diagnostics.length >= MAX_DIAGNOSTICS) return
  const described = { code, severity: severityOf(code), message, place: turtlePlaceOf(at) }
  diagnostics.push(hint === undefined ? described : { ...described, hint })
}

/** A position for the intermediate representation. */
export function turtlePlaceOf({ span, path }: Location): MappingPlace {
  return { ...span, path }
}

/** The position of a property's value, named after the property. */
export function below(at: Location, property: Property, index?: number): Location {
  const name = rmlName(property.iri) ?? property.written
  return { span: property.span, path: `${at.path}.${name}${index === undefined ? '' : `[${index}]`}` }
}

/** The properties of a node with one of the given RML names, without equal values. */
export function values(
  reading: Reading,
  node: DocumentNode,
  ...names: readonly string[]
): readonly Property[] {
  reading.budget -= node.properties.length
  if (reading.budget < 0) return []
  const found = new Map<string, Property>()
  for (const property of node.properties) {
    const name = rmlName(property.iri)
    if (name === undefined || !names.includes(name)) continue
    const { object } = property
    const text = object.type === 'literal' ? JSON.stringify(object) : nodeId(object)
    const key = `${object.type} ${text} ${names.length > 1 ? name : ''}`
    if (!found.has(key)) found.set(key, property)
  }
  return [...found.values()]
}

/** The only property with one of the names; several are an error, none is undefined. */
export function onlyValue(
  reading: Reading,
  node: DocumentNode,
  at: Location,
  ...names: readonly string[]
): Property | undefined {
  const [first, second] = values(reading, node, ...names)
  if (second !== undefined)
    reportReading(
      reading,
      'key-twice',
      below(at, second),
      `There are several of ${names.join(' and ')}, only one can be`,
    )
  return first
}

/** The node that is the value of a property, with its properties checked; undefined if it is no node or has no properties. */
export function nodeOf(
  reading: Reading,
  object: DocumentTerm,
  kind: NodeKind,
  at: Location,
): DocumentNode | undefined {
  const node = object.type === 'literal' ? undefined : reading.document.nodes.get(nodeId(object))
  if (node !== undefined) checkNode(reading, node, kind, at)
  return node
}

/** Reports properties of RML that a node of its kind cannot have, and features that Lodestone does not support. */
export function checkNode(reading: Reading, node: DocumentNode, kind: NodeKind, at: Location): void {
  reading.budget -= node.properties.length
  if (reading.budget < 0) return
  const known: readonly string[] = PROPERTIES[kind]
  for (const property of node.properties) {
    if (property.iri === RDF.type) checkClass(reading, property, at)
    const name = rmlName(property.iri)
    if (name === undefined || known.includes(name)) continue
    const feature = unsupportedFeature(name)
    const here = below(at, property)
    if (feature !== undefined) {
      reportReading(reading, 'unsupported', here, `${property.written}: ${feature} are not supported`)
      continue
    }
    const meant = nearest(name, known)
    const prefix = property.written.replace(/:.*$/s, '')
    reportReading(
      reading,
      'key-unknown',
      here,
      `${property.written} is no property of a ${kind}`,
      meant === undefined
        ? `A ${kind} may have: ${known.join(', ')}`
        : `Did you mean ${prefix}:${meant.replace('csvw:', '')}?`,
    )
  }
}

function checkClass(reading: Reading, property: Property, at: Location): void {
  const { object } = property
  if (object.type !== 'iri') return
  const name = rmlName(object.value)
  if (name === undefined || name.includes(':') || CLASSES.includes(name)) return
  const feature = unsupportedFeature(name)
  const here = { span: property.objectSpan, path: at.path }
  if (feature !== undefined)
    reportReading(reading, 'unsupported', here, `${object.written}: ${feature} are not supported`)
  else if (!name.endsWith('ReferenceFormulation')) {
    const meant = nearest(name, CLASSES)
    const hint = meant === undefined ? undefined : `Did you mean ${meant}?`
    reportReading(reading, 'key-unknown', here, `${object.written} is no class of RML`, hint)
  }
}

/** A term as shown in messages. */
export function shownTerm(term: DocumentTerm): string {
  if (term.type === 'literal') return JSON.stringify(term.value.slice(0, 80))
  return term.type === 'iri' ? term.written : 'a blank node'
}
