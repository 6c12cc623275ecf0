import { nearName } from '../../model/did-you-mean.ts'
import type { LogicalSource, MappingJoin } from '../ir.ts'
import { isOfSameRecord } from '../ir.ts'
import { below, type Location, type Reading, shownTerm, turtlePlaceOf } from './reading.ts'
import type { MapsById, TriplesMap } from './triples-maps.ts'
import { type DocumentNode, nodeId, type Property } from './turtle.ts'

/**
 * Reads a referencing object map. Without a join condition both triples maps have the same source, and the link is to the
 * parent's subject of the same record. With a condition, the result is the same if both sides are equal references of one source
 * and the parent's subject is built from exactly these references: all records that match then have the subject of the record
 * itself. All other joins need other records, which Lodestone does not support.
 */
export function readLink(
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
