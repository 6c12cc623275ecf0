import { nearName } from '../../model/did-you-mean.ts'
import { isIri } from '../../rdf/iri-syntax.ts'
import { RDF } from '../../rdf/vocab.ts'
import {
  isOfSameRecord,
  type LogicalSource,
  type MappingJoin,
  type ObjectMap,
  type ResourceRule,
  type StatementRule,
  type TermMap,
} from '../ir.ts'
import { below, type Location, type Reading, shownTerm, turtlePlaceOf } from './reading.ts'
import { readTerm, readTermNode } from './terms.ts'
import type { MapsById, TriplesMap } from './triples-maps.ts'
import { type DocumentNode, nodeId, type Property } from './turtle.ts'
import { rmlName } from './vocabulary.ts'

/** Placeholder for the subject of a triples map without one: the document is refused anyway. */
const NO_SUBJECT: TermMap = { type: 'blank', segments: [] }

/**
 * Reads the statements of a triples map: its classes, and each predicate with each object of its predicate-object maps.
 *
 * @param max maximum statements that are read, and one more if there are more
 */
export function readResource(reading: Reading, map: TriplesMap, maps: MapsById, max: number): ResourceRule {
  const { node, key, at, source, subject, subjectAt, subjectMap } = map
  const graphs = subjectMap === undefined ? [] : readGraphs(reading, subjectMap.node, subjectMap.at, map.base)
  const statements: StatementRule[] = []
  if (subjectMap !== undefined)
    for (const property of reading.values(subjectMap.node, 'class')) {
      if (statements.length > max) break
      const statement = classStatement(reading, property, below(subjectMap.at, property), map.base)
      if (statement !== null) statements.push(statement)
    }
  for (const [index, property] of reading.values(node, 'predicateObjectMap').entries()) {
    if (statements.length > max || reading.budget < 0) break
    const here = below(at, property, index)
    for (const statement of readPredicateObjectMap(reading, property, here, map, maps)) {
      if (statements.length > max) break
      statements.push(statement)
    }
  }
  return {
    key,
    subject: subject ?? NO_SUBJECT,
    statements,
    ...(graphs.length === 0 ? {} : { graphs }),
    ...(source === null ? {} : { sources: [source] }),
    place: turtlePlaceOf(at),
    ...(subjectAt === undefined ? {} : { subjectPlace: turtlePlaceOf(subjectAt) }),
  }
}

function classStatement(
  reading: Reading,
  { object }: Property,
  at: Location,
  base: string | undefined,
): StatementRule | null {
  const iri = object.type === 'iri' && !isIri(object.value) ? (base ?? '') + object.value : object.value
  if (object.type !== 'iri' || !isIri(iri))
    return reading.report('class-not-iri', at, `The class ${shownTerm(object)} is no IRI`)
  return {
    predicate: RDF.type,
    object: { type: 'iri', segments: [{ type: 'constant', text: iri }] },
    place: turtlePlaceOf(at),
  }
}

function readGraphs(
  reading: Reading,
  node: DocumentNode,
  at: Location,
  base: string | undefined,
): readonly TermMap[] {
  return reading.values(node, 'graph', 'graphMap').flatMap(property => {
    const context = { reading, role: 'graph', at: below(at, property), base } as const
    return readTerm(context, property, rmlName(property.iri) === 'graph') ?? []
  })
}

/** A generator, because few predicates and objects of a predicate-object map may multiply to many statements. */
function* readPredicateObjectMap(
  reading: Reading,
  property: Property,
  at: Location,
  map: TriplesMap,
  maps: MapsById,
): Generator<StatementRule> {
  const node = reading.nodeOf(property.object, 'predicate-object map', at)
  if (node === undefined) {
    reading.report('po-shape', at, `The predicate-object map ${shownTerm(property.object)} is not described`)
    return
  }
  const predicates = readPredicates(reading, node, at, map.base)
  const objects = readObjects(reading, node, at, map, maps)
  const graphs = readGraphs(reading, node, at, map.base)
  for (const predicate of predicates)
    for (const { object, place } of objects)
      yield { predicate, object, ...(graphs.length === 0 ? {} : { graphs }), place: turtlePlaceOf(place) }
}

function readPredicates(
  reading: Reading,
  node: DocumentNode,
  at: Location,
  base: string | undefined,
): readonly (string | TermMap)[] {
  const properties = reading.values(node, 'predicate', 'predicateMap')
  if (properties.length === 0)
    reading.report('po-shape', at, 'A predicate-object map has no predicate', 'Add rml:predicate')
  return properties.flatMap(property => {
    const context = { reading, role: 'predicate', at: below(at, property), base } as const
    const term = readTerm(context, property, rmlName(property.iri) === 'predicate')
    if (term === null) return []
    const [only, second] = term.type === 'iri' ? term.segments : []
    return only?.type === 'constant' && second === undefined ? only.text : term
  })
}

function readObjects(reading: Reading, node: DocumentNode, at: Location, map: TriplesMap, maps: MapsById) {
  const properties = reading.values(node, 'object', 'objectMap')
  if (properties.length === 0)
    reading.report('po-shape', at, 'A predicate-object map has no object', 'Add rml:object or rml:objectMap')
  return properties.flatMap(property => {
    const place = below(at, property)
    const object = readObject(reading, property, place, map, maps)
    return object === null ? [] : { object, place }
  })
}

function readObject(
  reading: Reading,
  property: Property,
  at: Location,
  map: TriplesMap,
  maps: MapsById,
): ObjectMap | null {
  const context = { reading, role: 'object', at, base: map.base } as const
  const isShortcut = rmlName(property.iri) === 'object'
  const { object } = property
  const node =
    isShortcut || object.type === 'literal' ? undefined : reading.document.nodes.get(nodeId(object))
  if (node === undefined) return readTerm(context, property, isShortcut)
  reading.checkNode(node, 'object map', at)
  return reading.values(node, 'parentTriplesMap').length > 0
    ? readLink(reading, node, at, map, maps)
    : readTermNode(context, node)
}

/**
 * Reads a referencing object map. Without a join condition both triples maps have the same source, and the link is to the
 * parent's subject of the same record. With a condition, the result is the same if both sides are equal references of one source
 * and the parent's subject is built from exactly these references: all records that match then have the subject of the record
 * itself. All other joins need other records, which Lodestone does not support.
 */
function readLink(
  reading: Reading,
  node: DocumentNode,
  at: Location,
  child: TriplesMap,
  maps: MapsById,
): MappingJoin | null {
  const property = reading.onlyValue(node, at, 'parentTriplesMap') as Property
  const here = below(at, property)
  const { object } = property
  const parent = object.type === 'literal' ? undefined : maps.get(nodeId(object))
  if (parent === undefined) {
    const meant = nearName(
      shownTerm(object),
      [...maps.values()].map(map => map.at.path),
    )
    const hint = meant === undefined ? undefined : `Did you mean ${meant}?`
    return reading.report('link-unknown', here, `${shownTerm(object)} is no triples map`, hint)
  }
  const link: MappingJoin = { type: 'link', resource: parent.key }
  const conditions = reading.values(node, 'joinCondition')
  // An unreadable source has been reported already.
  if (child.source === null || parent.source === null) return link
  const isSame = JSON.stringify(canonical(child.source)) === JSON.stringify(canonical(parent.source))
  if (conditions.length === 0) {
    if (isSame) return link
    reportNearPaths(reading, child.source, parent.source)
    const message = `A link to ${parent.at.path} joins two sources: joins are not supported`
    return reading.report(
      'unsupported',
      here,
      message,
      'Links are within one source: make the IRI with a template',
    )
  }
  const joined = conditions.map(condition => readJoin(reading, condition, below(at, condition)))
  if (joined.includes(null)) return null
  const fields = joined.flatMap(pair => (pair !== null && pair.child === pair.parent ? [pair.child] : []))
  const [first] = conditions
  const place = first === undefined ? here : below(at, first)
  const isEqual = isSame && fields.length === joined.length
  if (isEqual && parent.subject !== null && isOfSameRecord(parent.subject, fields))
    return { ...link, joined: { fields, place: turtlePlaceOf(place) } }
  const hint = isSame
    ? 'Without rml:joinCondition the link is to the subject of the same record'
    : 'Where the key is in this record too, make the IRI with a template'
  return reading.report(
    'unsupported',
    place,
    `A join with other records of ${parent.at.path}: joins are not supported`,
    hint,
  )
}

/** Two paths that are nearly equal are probably the same, one misspelt. */
function reportNearPaths(reading: Reading, ...[a, b]: readonly [LogicalSource, LogicalSource]): void {
  if (a.path === null || b.path === null || a.path === b.path) return
  if (nearName(a.path, [b.path]) === undefined) return
  for (const { place } of [a, b])
    if (place !== undefined)
      reading.report(
        'source-unknown',
        { span: place, path: place.path },
        `${a.path} and ${b.path} are two files`,
      )
}

function canonical({ path, formulation, iterator, dialect }: LogicalSource): readonly unknown[] {
  return [path, formulation, iterator, Object.entries(dialect ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))]
}

function readJoin(reading: Reading, condition: Property, at: Location) {
  const node = reading.nodeOf(condition.object, 'join condition', at)
  const child = node && side(reading, node, at, 'child')
  const parent = node && side(reading, node, at, 'parent')
  if (typeof child === 'string' && typeof parent === 'string') return { child, parent }
  const missing = typeof child === 'string' ? 'parent' : 'child'
  if (child !== null && parent !== null)
    reading.report('value-shape', at, `The join condition has no ${missing}`, `Add rml:${missing} "FIELD"`)
  return null
}

/** The reference of one side; undefined if it is missing, null if its error is reported. */
function side(
  reading: Reading,
  node: DocumentNode,
  at: Location,
  name: 'child' | 'parent',
): string | null | undefined {
  const property = reading.onlyValue(node, at, name, `${name}Map`)
  if (property === undefined) return undefined
  if (property.object.type === 'literal') return property.object.value
  const here = below(at, property)
  const expression = reading.nodeOf(property.object, 'join expression', here)
  const reference = expression && reading.values(expression, 'reference')[0]?.object
  if (reference?.type === 'literal') return reference.value
  if (expression === undefined) return undefined
  return reading.report('unsupported', here, 'Joins by templates and constants are not supported')
}
