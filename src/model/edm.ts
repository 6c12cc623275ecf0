import type { Dataset } from './dataset.ts'
import type { Field, FieldType } from './field.ts'
import type { WordOf } from './words.ts'

/** Types of properties, with their names in OData 4.0; `Ods.GeoPoint2D` is a complex type of the service. */
export type EdmType = `Edm.${WordOf<'String Boolean Int64 Double Date DateTimeOffset'>}` | 'Ods.GeoPoint2D'

/** One property of the entities of a dataset. */
export interface EntityProperty {
  /** An OData identifier (CSDL 4.0, section 17.2), unique among the properties of its type. */
  readonly name: string
  readonly type: EdmType
  /** True for a collection; only collections of strings occur. */
  readonly collection: boolean
  /** The source field of its values; the technical fields for `recordid` and `record_timestamp`. */
  readonly field: Field
}

/** A dataset in OData: an entity set and the type of its entities. */
export interface EntityModel {
  /** Name of the entity set: the unchanged id of the dataset (OData service 1.2). */
  readonly set: string
  /** The id of the dataset as an identifier: invalid characters become underscores. */
  readonly name: string
  /** Name of the entity type in its namespace: `name`, with underscores after it where a property is named so. */
  readonly type: string
  /** Namespace of the entity type, which ends with `name`. */
  readonly namespace: string
  /** `recordid` first, then `record_timestamp`, then the fields in their order. */
  readonly properties: readonly EntityProperty[]
}

/** The key of every entity (OData service 1.2). */
export const KEY = 'recordid'

/** The OData type of each field type: shapes are texts of GeoJSON. */
const TYPES: Readonly<Record<FieldType, EdmType>> = {
  text: 'Edm.String',
  int: 'Edm.Int64',
  double: 'Edm.Double',
  boolean: 'Edm.Boolean',
  date: 'Edm.Date',
  datetime: 'Edm.DateTimeOffset',
  geo_point_2d: 'Ods.GeoPoint2D',
  geo_shape: 'Edm.String',
}

/** The technical fields that every entity has, in order. */
export interface EntityTechnical {
  readonly recordid: Field
  readonly record_timestamp: Field
}

/** Words of expressions that are no names there (URL Conventions 4.0, section 5.1.1). */
const RESERVED = ['null', 'true', 'false', 'not']

/**
 * The entity set of a dataset. A field whose name is no identifier, is a word of expressions, or is taken by a technical property,
 * gets underscores before its name.
 *
 * @param host host name of the portal: the namespace is its parts in reverse order and the name
 * @param name the id of the dataset as an identifier, see {@link typeNames}
 */
export function entityModel(
  { id, fields }: Pick<Dataset, 'id' | 'fields'>,
  host: string,
  name: string,
  technical: EntityTechnical,
): EntityModel {
  const properties: EntityProperty[] = []
  const taken = new Set(RESERVED)
  for (const known of [technical.recordid, technical.record_timestamp, ...fields]) {
    let property = identifier(known.name)
    while (taken.has(property)) property = `_${property}`
    taken.add(property)
    properties.push({ name: property, type: TYPES[known.type], collection: known.multivalued, field: known })
  }
  return { set: id, name, type: typeOf(name, properties), namespace: `${reversed(host)}.${name}`, properties }
}

/** A type is named otherwise than its properties (CSDL 4.0, section 8). */
function typeOf(name: string, properties: readonly EntityProperty[]): string {
  return properties.some(property => property.name === name) ? typeOf(`${name}_`, properties) : name
}

/** The same set under another name, and with other names of its properties. */
export function renamedModel(
  { namespace, ...model }: EntityModel,
  name: string,
  names: ReadonlyMap<string, string>,
): EntityModel {
  const properties = model.properties.map(each => ({ ...each, name: names.get(each.name) ?? each.name }))
  const start = namespace.slice(0, -model.name.length)
  return { set: name, name, type: typeOf(name, properties), namespace: start + name, properties }
}

/**
 * Names of entity types for the ids of datasets: identifiers, unique, the same for the same ids in the same order. An id that is
 * an identifier is its own name, so that a type name never equals the id of another dataset.
 *
 * @param isTaken true for the id of a dataset that is not among them
 */
export function typeNames(
  ids: readonly string[],
  isTaken: (id: string) => boolean,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const taken = new Set(ids.filter(id => identifier(id) === id))
  for (const id of ids) {
    const plain = identifier(id)
    let name = plain
    if (plain === id) {
      names.set(id, id)
      continue
    }
    for (let number = 2; taken.has(name) || isTaken(name); number++) name = `${plain}_${number}`
    taken.add(name)
    names.set(id, name)
  }
  return names
}

/**
 * The same names with an x before those that do not begin with a letter, which the identifiers of 2.0 do (CSDL 2.0,
 * SimpleIdentifier); all remain distinct.
 */
export function namesWithLetter(names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(names)
  return new Map(
    names.map(name => {
      let lettered = withLetter(name)
      while (lettered !== name && taken.has(lettered)) lettered = `x${lettered}`
      taken.add(lettered)
      return [name, lettered]
    }),
  )
}

function withLetter(name: string): string {
  return /^[\p{L}\p{Nl}]/u.test(name) ? name : `x${name}`
}

/** The namespace of the complex types of a portal, whose alias is `Ods`. */
export function typesNamespace(host: string): string {
  return `${reversed(host)}.odata.types`
}

/** Reverses a host name, so that a namespace begins with the common part: `com.example.data`. */
function reversed(host: string): string {
  return host
    .split('.')
    .reverse()
    .map(part => withLetter(identifier(part)))
    .join('.')
}

/** Converts a text to an OData identifier: up to 128 letters, digits and underscores, no digit first. */
export function identifier(text: string): string {
  const plain = text.replace(/[^\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]/gu, '_').slice(0, 120)
  return /^[\p{L}\p{Nl}_]/u.test(plain) ? plain : `_${plain}`
}

/** Types of values in answers: those of properties, and those of computed values. */
export type ColumnType = EdmType | 'Edm.Int32' | 'Edm.Decimal' | 'Edm.TimeOfDay' | 'Edm.Duration'

/** One property of an answer. */
export interface EntityColumn {
  readonly name: string
  readonly type: ColumnType
  readonly collection: boolean
  /** The selected parts of a complex value; null for all. */
  readonly members: readonly ('latitude' | 'longitude')[] | null
  /** True for properties that the entity type does not declare: computed and aggregated ones. */
  readonly dynamic: boolean
  /** Set where a column is not a property but an annotation of the property of its name: its number of values. */
  readonly annotation?: 'count'
}

/**
 * A value of an answer: dates `YYYY-MM-DD`, moments `YYYY-MM-DDTHH:MM:SS[.f…]Z`, times `HH:MM:SS[.f…]`, durations in seconds,
 * shapes as texts of GeoJSON, numbers including infinity and NaN, a collection as an array, never null.
 */
export type EdmValue =
  | string
  | number
  | bigint
  | boolean
  | readonly string[]
  | { readonly latitude: number; readonly longitude: number }
  | null
