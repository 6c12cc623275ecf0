import { nearest } from '../../model/did-you-mean.ts'
import { RDF } from '../../rdf/vocab.ts'
import { type Diagnostic, type DiagnosticCode, severityOf } from '../diagnostic.ts'
import type { MappingPlace } from '../ir.ts'
import type { TurtleSpan } from './token-tracker.ts'
import type { DocumentNode, DocumentTerm, Property, TurtleDocument } from './turtle.ts'
import { nodeId } from './turtle.ts'
import { CLASSES, type NodeKind, PROPERTIES, rmlName, unsupportedFeature } from './vocabulary.ts'

/** A mapping document while it is read. */
export interface Reading {
  readonly document: TurtleDocument
  readonly diagnostics: Diagnostic[]
  /** Properties that may still be looked at: shared nodes could be asked for again and again. */
  budget: number
}

/** Where something stands, and the way to it: `<#Person>.subjectMap`. */
export interface At {
  readonly span: TurtleSpan
  readonly path: string
}

/** What a term map is for; its default type and the errors depend on it. */
export type Role = 'subject' | 'predicate' | 'object' | 'graph' | 'datatype' | 'language'

/** Where a term is made: its role, its place, and what relative IRIs follow. */
export interface TermContext {
  readonly reading: Reading
  readonly role: Role
  readonly at: At
  readonly base: string | undefined
}

/** Most properties that are looked at, all visits to a node counted. */
export const MAX_VISITS = 200_000

/** Most diagnostics of one document. */
const MAX_DIAGNOSTICS = 500

/** Notes what is to be said of a place. */
export function reportReading(
  { diagnostics }: Reading,
  code: DiagnosticCode,
  at: At,
  message: string,
  hint?: string,
): void {
  if (diagnostics.length >= MAX_DIAGNOSTICS) return
  const described = { code, severity: severityOf(code), message, place: turtlePlaceOf(at) }
  diagnostics.push(hint === undefined ? described : { ...described, hint })
}

/** A place of the intermediate form. */
export function turtlePlaceOf({ span, path }: At): MappingPlace {
  return { ...span, path }
}

/** The place of a property's value, named after the property. */
export function below(at: At, property: Property, index?: number): At {
  const name = rmlName(property.iri) ?? property.written
  return { span: property.span, path: `${at.path}.${name}${index === undefined ? '' : `[${index}]`}` }
}

/** The properties of a node under one of some names of RML, equal values once. */
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

/** The one property under some names; several are an error, none is undefined. */
export function onlyValue(
  reading: Reading,
  node: DocumentNode,
  at: At,
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

/** The node that a property points to, with its properties checked; undefined where it is none or has no properties. */
export function nodeOf(
  reading: Reading,
  object: DocumentTerm,
  kind: NodeKind,
  at: At,
): DocumentNode | undefined {
  const node = object.type === 'literal' ? undefined : reading.document.nodes.get(nodeId(object))
  if (node !== undefined) checkNode(reading, node, kind, at)
  return node
}

/** Tells of properties of RML that a node of its kind cannot have, and of what Lodestone does not do. */
export function checkNode(reading: Reading, node: DocumentNode, kind: NodeKind, at: At): void {
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

function checkClass(reading: Reading, property: Property, at: At): void {
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

/** A term as a message shows it. */
export function shownTerm(term: DocumentTerm): string {
  if (term.type === 'literal') return JSON.stringify(term.value.slice(0, 80))
  return term.type === 'iri' ? term.written : 'a blank node'
}
