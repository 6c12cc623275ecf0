import { isIri } from '../../rdf/iri-syntax.ts'
import { RDF } from '../../rdf/vocab.ts'
import type { ObjectMap, ResourceRule, StatementRule, TermMap } from '../ir.ts'
import { readLink } from './links.ts'
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
