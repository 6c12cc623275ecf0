import { nearest } from '../../model/did-you-mean.ts'
import { RDF } from '../../rdf/vocab.ts'
import { type Diagnostic, type DiagnosticCode, diagnosticOf, isOneTooMany } from '../diagnostic.ts'
import type { MappingPlace } from '../ir.ts'
import type { TurtleSpan } from './token-tracker.ts'
import { type DocumentNode, type DocumentTerm, nodeId, type Property, type TurtleDocument } from './turtle.ts'
import { CLASSES, type NodeKind, PROPERTIES, rmlName, unsupportedFeature } from './vocabulary.ts'

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
const MAX_VISITS = 200_000

/** The state of reading a mapping document. */
export class Reading {
  readonly document: TurtleDocument
  /** True if the logical sources are not used. */
  readonly ignoresSources: boolean
  readonly diagnostics: Diagnostic[] = []
  /** Number of properties that may still be visited: shared nodes could otherwise be visited again and again. */
  budget: number

  constructor(document: TurtleDocument, ignoresSources: boolean, budget = MAX_VISITS) {
    this.document = document
    this.ignoresSources = ignoresSources
    this.budget = budget
  }

  /** Adds a diagnostic at a position; null, for what cannot be read. */
  report(code: DiagnosticCode, at: Location, message: string, hint?: string): null {
    if (!isOneTooMany(code, this.diagnostics))
      this.diagnostics.push(diagnosticOf(code, turtlePlaceOf(at), message, hint))
    return null
  }

  /** The properties of a node with one of the given RML names, without equal values. */
  values(node: DocumentNode, ...names: readonly string[]): readonly Property[] {
    this.budget -= node.properties.length
    if (this.budget < 0) return []
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
  onlyValue(node: DocumentNode, at: Location, ...names: readonly string[]): Property | undefined {
    const [first, second] = this.values(node, ...names)
    if (second !== undefined) {
      const message = `There are several of ${names.join(' and ')}, only one can be`
      this.report('key-twice', below(at, second), message)
    }
    return first
  }

  /** The node that is the value of a property, with its properties checked; undefined if it is no node or has no properties. */
  nodeOf(object: DocumentTerm, kind: NodeKind, at: Location): DocumentNode | undefined {
    const node = object.type === 'literal' ? undefined : this.document.nodes.get(nodeId(object))
    if (node !== undefined) this.checkNode(node, kind, at)
    return node
  }

  /** Reports properties of RML that a node of its kind cannot have, and features that Lodestone does not support. */
  checkNode(node: DocumentNode, kind: NodeKind, at: Location): void {
    this.budget -= node.properties.length
    if (this.budget < 0) return
    const known: readonly string[] = PROPERTIES[kind]
    for (const property of node.properties) {
      if (property.iri === RDF.type) this.checkClass(property, at)
      const name = rmlName(property.iri)
      if (name === undefined || known.includes(name)) continue
      const feature = unsupportedFeature(name)
      const here = below(at, property)
      if (feature !== undefined) {
        this.report('unsupported', here, `${property.written}: ${feature} are not supported`)
        continue
      }
      const meant = nearest(name, known)
      const prefix = property.written.replace(/:.*$/s, '')
      const hint =
        meant === undefined
          ? `A ${kind} may have: ${known.join(', ')}`
          : `Did you mean ${prefix}:${meant.replace('csvw:', '')}?`
      this.report('key-unknown', here, `${property.written} is no property of a ${kind}`, hint)
    }
  }

  private checkClass({ object, objectSpan }: Property, at: Location): void {
    if (object.type !== 'iri') return
    const name = rmlName(object.value)
    if (name === undefined || name.includes(':') || CLASSES.includes(name)) return
    const feature = unsupportedFeature(name)
    const here = { span: objectSpan, path: at.path }
    if (feature !== undefined)
      this.report('unsupported', here, `${object.written}: ${feature} are not supported`)
    else if (!name.endsWith('ReferenceFormulation')) {
      const meant = nearest(name, CLASSES)
      const hint = meant === undefined ? undefined : `Did you mean ${meant}?`
      this.report('key-unknown', here, `${object.written} is no class of RML`, hint)
    }
  }
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

/** A term as shown in messages. */
export function shownTerm(term: DocumentTerm): string {
  if (term.type === 'literal') return JSON.stringify(term.value.slice(0, 80))
  return term.type === 'iri' ? term.written : 'a blank node'
}
