import { Fault } from '../../errors/errors.ts'
import type { Expression, KeyPredicate, ODataLiteral, PathSegment } from '../../language/odata/ast.ts'
import { ODATA_ERROR, ODATA_SEGMENT, ODATA_UNSUPPORTED } from '../../language/odata/faults.ts'
import { type EntityProperty, KEY } from '../../model/edm.ts'
import type { Version } from './format/shape.ts'
import {
  VOCABULARIES,
  VOCABULARY_SEGMENT,
  type Vocabulary,
  type VocabularyFormat,
} from './format/vocabulary-documents.ts'
import type { ServedSet } from './sets.ts'

/** The entities of a set that a path selects: all that satisfy its `$filter(…)` segments. */
export interface Entities extends ServedSet {
  readonly filters: readonly Expression[]
}

/** One entity, and the segment that names it. */
export interface Entity extends ServedSet {
  readonly id: string
  readonly segment: string
}

/** What a path addresses (URL Conventions, section 4). */
export type Resource =
  | DocumentResource
  /** `$entity`: which one, the option `$id` says; `cast` is the segment of a type after it. */
  | { readonly type: 'named'; readonly cast: PathSegment | null }
  | RecordResource

/** A document that describes the service and has no records. */
export type DocumentResource =
  | { readonly type: 'service' }
  | { readonly type: 'metadata' }
  | { readonly type: 'vocabulary'; readonly vocabulary: Vocabulary; readonly format: VocabularyFormat }

/** A resource from the records of one dataset. */
export type RecordResource =
  | { readonly type: 'feed'; readonly of: Entities }
  | { readonly type: 'feedReferences'; readonly of: Entities }
  | { readonly type: 'count'; readonly of: Entities }
  | { readonly type: 'entity'; readonly of: Entity }
  | { readonly type: 'reference'; readonly of: Entity }
  | PropertyResource

/** A property of an entity: itself, its raw value, or its number of values. */
export interface PropertyResource {
  readonly type: 'property' | 'value' | 'valueCount'
  readonly of: Entity
  readonly property: EntityProperty
  /** The part of a complex property that is addressed; null for all of it. */
  readonly member: 'latitude' | 'longitude' | null
}

/** The context in which paths are resolved. */
export interface ResourcePathContext {
  /** Faults: NotPublishedYet. */
  readonly set: (name: string) => ServedSet | undefined
  /** The text of a parameter alias that is a string; undefined for no such alias. */
  readonly alias: (name: string) => string | undefined
  /** Before 4.0 clients write a set as `cities()`, and in 2.0 a collection is a string. */
  readonly version: Version
}

/**
 * Returns the resource of a path. Faults: ODataSegment for an unknown segment, ODataError for a wrong key and for `/$value` of
 * a resource without a single value, ODataUnsupported for what this service does not support.
 */
export function resourceAt(segments: readonly PathSegment[], context: ResourcePathContext): Resource {
  // `//` within a path is equivalent to `/`.
  const [first, ...rest] = segments.filter(segment => segment.type !== 'name' || segment.name !== '')
  if (first === undefined) return { type: 'service' }
  switch (first.type) {
    case '$metadata':
      refuse(rest[0])
      return { type: 'metadata' }
    case '$entity':
      refuse(rest[1])
      return { type: 'named', cast: rest[0] ?? null }
    case '$all':
    case '$batch':
    case '$crossjoin':
      throw new Fault(ODATA_UNSUPPORTED, { reason: `${first.type} is not supported.` })
    case 'name':
      if (first.name === VOCABULARY_SEGMENT) return atVocabulary(first, rest)
      return atSet(first, rest, context)
    default:
      throw unknownSegment(first)
  }
}

function atVocabulary(first: NameSegment, [document, beyond]: readonly PathSegment[]): Resource {
  refuse(beyond)
  if (document?.type !== 'name') throw unknownSegment(document ?? first)
  for (const format of ['xml', 'json'] as const)
    for (const vocabulary of VOCABULARIES)
      if (document.name === `${vocabulary.namespace}.${format}`)
        return { type: 'vocabulary', vocabulary, format }
  throw unknownSegment(document)
}

type NameSegment = Extract<PathSegment, { type: 'name' }>

function atSet(segment: NameSegment, rest: readonly PathSegment[], context: ResourcePathContext): Resource {
  const set = context.set(segment.name)
  if (set === undefined) throw unknownSegment(segment)
  const { key } = segment
  if (key === null || (key === 'empty' && context.version !== '4.0')) return atEntities(set, rest)
  if (key === 'empty') throw wrongKey(`the key of ${segment.name} is empty`)
  const id = keyText(key, context)
  return atEntity({ ...set, id, segment: `${segment.name}('${id.slice(0, 100)}')` }, rest, context.version)
}

function atEntities(set: ServedSet, rest: readonly PathSegment[]): Resource {
  const filters: Expression[] = []
  for (const [index, segment] of rest.entries()) {
    if (segment.type === '$filter') filters.push(segment.expression)
    else if (segment.type === '$count' || segment.type === '$ref') {
      refuse(rest[index + 1])
      return { type: segment.type === '$count' ? 'count' : 'feedReferences', of: { ...set, filters } }
    } else if (segment.type === 'name' && segment.name === '$each')
      throw new Fault(ODATA_UNSUPPORTED, { reason: '$each is not supported.' })
    else if (!isOwnType(segment, set)) throw unknownSegment(segment)
  }
  return { type: 'feed', of: { ...set, filters } }
}

function atEntity(of: Entity, path: readonly PathSegment[], version: Version): Resource {
  const [first, ...rest] = path.filter(segment => !isOwnType(segment, of))
  if (first === undefined) return { type: 'entity', of }
  if (first.type === '$ref') {
    refuse(rest[0])
    return { type: 'reference', of }
  }
  if (first.type === '$value') {
    refuse(rest[0])
    throw new Fault(ODATA_ERROR, { reason: 'An entity has no $value: it is no media entity.' })
  }
  if (first.type !== 'name') throw unknownSegment(first)
  const property = of.model.properties.find(({ name }) => name === first.name)
  if (property === undefined || first.key !== null) throw unknownSegment(first)
  return atProperty(of, property, rest, version)
}

function atProperty(
  of: Entity,
  property: EntityProperty,
  path: readonly PathSegment[],
  version: Version,
): Resource {
  const [first, ...others] = path
  const isComplex = property.type === 'Ods.GeoPoint2D'
  const member = isComplex && first?.type === 'name' && first.key === null ? memberNamed(first.name) : null
  const [last, ...beyond] = member === null ? path : others
  if (last === undefined) return { type: 'property', of, property, member }
  refuse(beyond[0])
  if (last.type === '$value') {
    if ((!property.collection || version === '2.0') && (!isComplex || member !== null))
      return { type: 'value', of, property, member }
    throw new Fault(ODATA_ERROR, {
      reason: `${property.name} has no single value that could be written raw.`,
    })
  }
  if (last.type === '$count' && property.collection) return { type: 'valueCount', of, property, member }
  if (last.type === '$filter' && property.collection)
    throw new Fault(ODATA_UNSUPPORTED, {
      reason: `$filter(…) of the values of ${property.name} is not supported.`,
    })
  throw unknownSegment(last)
}

function memberNamed(name: string): 'latitude' | 'longitude' | null {
  return name === 'latitude' || name === 'longitude' ? name : null
}

/** True for a cast to the type that the entities have anyway. */
export function isOwnType(segment: PathSegment, { model }: ServedSet): boolean {
  return (
    segment.type === 'name' && segment.key === null && segment.name === `${model.namespace}.${model.type}`
  )
}

function keyText(key: KeyPredicate, context: ResourcePathContext): string {
  switch (key.type) {
    case 'raw':
      return key.text
    case 'value':
      return stringOf(key.literal)
    case 'alias':
      return aliasText(key.name, context)
    case 'named': {
      const [only, ...others] = key.parts
      if (only === undefined || others.length > 0 || only.name !== KEY)
        throw wrongKey(`the key of an entity is ${KEY}`)
      return only.value.type === 'alias' ? aliasText(only.value.name, context) : stringOf(only.value)
    }
  }
}

function stringOf({ of, value, text }: ODataLiteral): string {
  if (of === 'Edm.String' && typeof value === 'string') return value
  throw wrongKey(`${text.slice(0, 60)} is no string`)
}

function aliasText(name: string, context: ResourcePathContext): string {
  const text = context.alias(name)
  if (text !== undefined) return text
  throw wrongKey(`the value of ${name} is no string`)
}

function wrongKey(reason: string): Fault {
  return new Fault(ODATA_ERROR, { reason: `path: ${reason}.` })
}

/** Refuses a segment after a final one. */
function refuse(segment: PathSegment | undefined): void {
  if (segment !== undefined) throw unknownSegment(segment)
}

/** The fault of an unknown segment. */
export function unknownSegment(segment: PathSegment): Fault {
  const name = segment.type === 'name' ? segment.name : segment.type
  return new Fault(ODATA_SEGMENT, { segment: name.length > 100 ? `${name.slice(0, 100)}…` : name })
}
